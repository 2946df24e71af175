"""The parts of the page on which a network is designed."""
