"""The parts of the page on which pairs are imported, looked through and chosen."""
