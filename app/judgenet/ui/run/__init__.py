"""The parts of the page on which a run is watched."""
