"""The parts of the page Data, on which pairs are imported, searched and chosen."""
