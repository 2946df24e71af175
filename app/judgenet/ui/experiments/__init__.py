"""The experiments of the paper in the studio."""
