"""The figures of a run as frozen values, computed when they are asked for.

One way leads to each figure; command line, studio, report and the Python package show the same values.
"""
