"""Copies of stores that travel: one file without a journal, to be read on any file system."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path


def drop_journal(path: Path) -> None:
    """Makes a copy of a store (:meth:`judgenet.store.db.Store.copy_to`) one file that can be read wherever it lies."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=DELETE")


def use_journal(path: Path) -> None:
    """Makes a copy a store as any is, with its journal beside it."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=WAL")


def store_sums(path: Path) -> tuple[int, int, float]:
    """How many answers a store holds, with their tokens in and out and their price: all that was paid for and kept.

    :raises sqlite3.Error: it cannot be read.
    """
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        calls, tokens, price = db.execute(
            "SELECT count(*), coalesce(sum(coalesce(tokens_in, 0) + coalesce(tokens_out, 0)), 0), "
            "coalesce(sum(price), 0.0) FROM calls"
        ).fetchone()
    return int(calls), int(tokens), float(price)
