"""A report as a file: one writer for each format, from the blocks of :mod:`judgenet.report.blocks`."""
