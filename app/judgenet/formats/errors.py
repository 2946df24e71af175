"""The one error that reading and writing pairs raises."""

from __future__ import annotations

import json
from collections.abc import Sequence

from judgenet.core.documents import json_words


class DataError(ValueError):
    """A file that cannot be read or written as asked.

    The attributes say where (``file``, 1-based ``row``, ``column``, each ``None`` where it has no meaning), what
    (``problem``) and what to do (``mend``); ``str()`` holds them all. Rows are lines in JSON Lines, records in a
    JSON list and in Parquet, and rows as a spreadsheet counts them (header = 1) in CSV, TSV and XLSX.
    """

    def __init__(
        self, problem: str, mend: str, *, file: str | None = None, row: int | None = None, column: str | None = None
    ) -> None:
        place = (file, None if row is None else f"row {row}", None if column is None else f"column '{column}'")
        where = ", ".join(part for part in place if part)
        super().__init__(f"{where}: {problem} {mend}" if where else f"{problem} {mend}")
        self.file = file
        self.row = row
        self.column = column
        self.problem = problem
        self.mend = mend


class EncodingError(DataError):
    """A text that is not UTF-8; it can be read where its encoding is named."""


class EmptyError(DataError):
    """A file without any record; ``what`` it should hold, in the singular."""

    def __init__(self, file: str | None, what: str = "pair") -> None:
        super().__init__(f"The file holds no {what}s.", f"Give a file with at least one {what}.", file=file)


class CodingError(DataError):
    """Label values whose meaning is not known."""


def shown(value: object, limit: int = 60) -> str:
    """A value for a message, on one line, and cut: texts between quotes, everything else as JSON writes it."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if value is None or isinstance(value, bool | list | dict):
        quoted = json.dumps(value, ensure_ascii=False, default=str)
    else:
        quoted = repr(value) if isinstance(value, str | int | float) else str(value)
    return quoted if len(quoted) <= limit else f"{quoted[: limit - 1]}…"


def json_problem(error: Exception) -> str:
    """What is wrong with a JSON text, to stand inside a sentence: the place in the line, where it is known."""
    if isinstance(error, json.JSONDecodeError):
        return f"{json_words(error)} (column {error.colno})"
    if isinstance(error, RecursionError):
        return "its lists and objects are nested too deeply"
    return "a number has too many digits" if "digits" in str(error) else "it cannot be read"


def listed(items: Sequence[str], limit: int = 12) -> str:
    """The first of many items for a message, and how many more there are."""
    head = ", ".join(items[:limit])
    return head if len(items) <= limit else f"{head} and {len(items) - limit} more"
