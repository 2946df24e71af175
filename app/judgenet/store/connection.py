"""Connections to the file of a store, and what its errors call for."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Final

_INTERRUPT_S: Final = 0.01
_ROWS: Final = 256
"""Rows that are read at a time."""

_REMEDIES: Final = (
    ("full", "Free some space"),
    ("readonly", "Make it and its folder writable"),
    ("locked", "Close the other program that has it open"),
)


def remedy(error: Exception) -> str:
    """What to do about an error of SQLite's, as the beginning of a sentence."""
    known = (action for word, action in _REMEDIES if word in str(error))
    return next(known, "See that its disk is there and can be written")


class _Cursor(sqlite3.Cursor):
    """Rows of a :class:`StoreConnection`; closing it waits for each read."""

    connection: StoreConnection

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        while True:
            with self.connection.reading():
                rows = self.fetchmany(_ROWS)
            if not rows:
                return
            yield from rows

    def fetchone(self) -> Any:
        with self.connection.reading():
            return super().fetchone()

    def fetchall(self) -> list[Any]:
        with self.connection.reading():
            return super().fetchall()


class StoreConnection(sqlite3.Connection):
    """A connection that another thread may close while its own one reads.

    A plain connection of Python's crashes the program then, because its thread goes on with freed memory. Here closing
    interrupts the query and waits until its thread has let go; reading afterwards raises ``ProgrammingError``.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._busy = threading.RLock()
        self._closing = False

    def reading(self) -> AbstractContextManager[object]:
        """What is held while something is read.

        :raises sqlite3.ProgrammingError: the connection is being closed. A thread that asks again and again would
            otherwise take the lock each time before the one that closes.
        """
        if self._closing:
            raise sqlite3.ProgrammingError("Cannot operate on a closed database.")
        return self._busy

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        with self.reading():
            return self.cursor(_Cursor).execute(sql, parameters)

    def close(self) -> None:
        self._closing = True
        while not self._busy.acquire(timeout=_INTERRUPT_S):
            self.interrupt()
        try:
            super().close()
        finally:
            self._busy.release()
