"""Exit codes, and errors that the user can fix."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the program."""

    DONE = 0
    FAILED = 1
    BAD_INPUT = 2
    BUDGET = 3
    NOT_MET = 4
    INTERRUPTED = 130


class InputError(Exception):
    """Bad usage or input; the message says what is wrong, where, and how to fix it."""
