"""A report as a file: one writer for each form, from the blocks of :mod:`judgenet.report.blocks`."""
