"""The parts of the page Design."""
