"""The studio: the window in which networks are designed, run and read. Only this package knows Qt."""
