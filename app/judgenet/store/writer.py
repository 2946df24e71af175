"""The thread that writes a store: it commits what has piled up, and notifies who waits for it when it is on disk."""

from __future__ import annotations

import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from judgenet.store.connection import remedy
from judgenet.store.opened_file import OpenedFile, Trouble

log = logging.getLogger(__name__)

_RETRY_SECONDS = 1.0
_JOIN_S: Final = 0.01
_GATHER_S: Final = 0.005
"""A commit waits this long for more to come: one for many calls costs a fraction of many for one."""

Write = Callable[[sqlite3.Connection], object]
OnCommit = Callable[[Sequence[Any]], None]
OnTrouble = Callable[[str], None]
_Item = tuple[Write, Any, OnCommit | None]
"""A write, with who is notified of it and by which token."""


class StoreWriter:
    """Writes queued entries in batches, on a thread of its own.

    Attributes:
        trouble: what keeps the store from being written, known once a write has failed.
        on_trouble: is called (on the writer's thread) when writing fails; an empty message says it works again.
        on_failure: is called (on the writer's thread) with a write that can never succeed, and was left out.
    """

    def __init__(
        self, path: Path, file: OpenedFile, connect: Callable[[], sqlite3.Connection], on_rollback: Callable[[], None]
    ) -> None:
        self._path = path
        self._file = file
        self._connect = connect
        self._on_rollback = on_rollback
        self._queue: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._giving_up = threading.Event()
        self._unconfirmed: list[_Item] = []
        self.trouble: Trouble | None = None
        self.on_trouble: OnTrouble = lambda message: None
        self.on_failure: OnTrouble = lambda message: None

    def start(self) -> None:
        """Starts the thread."""
        self._thread = threading.Thread(target=self._write_all, name="judgenet-store", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread is not None and self._thread.is_alive()

    def put(self, write: Write, token: Any = None, on_commit: OnCommit | None = None) -> None:
        """Queues a write. ``on_commit`` gets the tokens of a batch, in order, on the writer's thread."""
        self._queue.put((write, token, on_commit))

    def flush(self, patience: float) -> bool:
        """True when all that was put before is on disk; false where writing fails for ``patience`` seconds."""
        if not self.alive:
            return False
        done = threading.Event()
        self._queue.put((lambda db: None, None, lambda tokens: done.set()))
        until = time.monotonic() + patience
        while not done.wait(0.1):
            if not self.alive or (self.trouble is not None and time.monotonic() > until):
                return False
        return True

    def close(self, patience: float) -> None:
        """Writes what is queued and ends. Gives up at once where writing fails, and where it does not end after
        ``patience`` seconds."""
        if self._thread is None or not self._thread.is_alive():
            return
        self._queue.put(None)
        until = time.monotonic() + patience
        while self._thread.is_alive() and self.trouble is None and time.monotonic() < until:
            self._thread.join(_JOIN_S)
        self._giving_up.set()
        self._thread.join()

    def _write_all(self) -> None:
        db = self._connect()
        ending = False
        while not ending:
            try:
                batch = [self._queue.get(timeout=_RETRY_SECONDS if self._unconfirmed else None)]
            except queue.Empty:
                self._confirm()
                continue
            if batch[-1] is not None:
                time.sleep(_GATHER_S)
            while not self._queue.empty():
                batch.append(self._queue.get())
            if batch[-1] is None:
                ending = True
            items = [item for item in batch if item is not None]
            if items and not self._commit(db, items):
                return

    def _commit(self, db: sqlite3.Connection, items: list[_Item]) -> bool:
        """Commits writes, however long that takes; false where the store is closed before it could be written."""
        while True:
            try:
                db.execute("BEGIN IMMEDIATE")
                for write, _, _ in items:
                    write(db)
                db.execute("COMMIT")
                break
            except sqlite3.OperationalError as error:
                # Full disk or a locked file: the answers are paid for, so they wait here until they can be kept.
                self._roll_back(db)
                what, action = f"{self._path}: cannot be written ({error}).", remedy(error)
                afterwards = f"{action}, then the same command goes on from here."
                if not self._wait_out(Trouble(what, f"{action}, and the run goes on.", afterwards)):
                    return False
            except Exception as error:
                self._roll_back(db)
                if len(items) > 1:
                    kept = [self._commit(db, [item]) for item in items]
                    return all(kept)
                # A fault of ours: this write can never succeed, and must not hold up all others.
                log.exception("a write to %s failed", self._path)
                self.on_failure(f"{self._path}: an entry cannot be kept ({type(error).__name__}: {error}).")
                return True
        self._unconfirmed += items
        self._confirm()
        return True

    def _confirm(self) -> None:
        """Notifies those who wait for writes that are on disk now; where the file has meanwhile gone from its place, it
        notifies of that trouble instead."""
        if (gone := self._file.gone()) is not None:
            if gone != self.trouble:
                self.trouble = gone
                self.on_trouble(gone.message)
            return
        if self.trouble is not None:
            self.trouble = None
            self.on_trouble("")
        items, self._unconfirmed = self._unconfirmed, []
        waiting: dict[OnCommit, list[Any]] = {}
        for _, token, on_commit in items:
            if on_commit is not None:
                waiting.setdefault(on_commit, []).append(token)
        for on_commit, tokens in waiting.items():
            on_commit(tokens)

    def _wait_out(self, trouble: Trouble) -> bool:
        """Reports trouble and waits a while; false where the store is about to be closed."""
        self.trouble = trouble
        self.on_trouble(trouble.message)
        return not self._giving_up.wait(_RETRY_SECONDS)

    def _roll_back(self, db: sqlite3.Connection) -> None:
        if db.in_transaction:
            db.execute("ROLLBACK")
        self._on_rollback()
