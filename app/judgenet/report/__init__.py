"""Reports of runs. Reads only the store."""
