"""The parts of the page Run."""
