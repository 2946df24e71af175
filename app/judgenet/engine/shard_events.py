"""The events of shards that workers judge, brought together in one file where the command runs.

A worker writes the events of an attempt on its own disk and copies that file beside the copies of its store. The
command reads from there what is new, at the end of an attempt the rest.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO

from judgenet.core.events import Event, event_json
from judgenet.core.shards import Shard
from judgenet.engine.broker import AttemptAt
from judgenet.store.local_disk import put_copy

_EVERY_S: Final = 5.0


def _name(attempt: int) -> str:
    return f"events-{attempt}.jsonl"


class ShardEventWriter:
    """Writes the events of an attempt in a folder of the worker, as ``judgenet run --events`` does, with the shard and
    the attempt. ``places`` are the places of the shard's pairs in the whole, by which pairs are told."""

    def __init__(self, folder: Path, at: AttemptAt, places: Sequence[int]) -> None:
        self._path = folder / _name(at[1])
        self._file = open(self._path, "w", encoding="utf-8")  # noqa: SIM115 - as long as the attempt
        self._at = at
        self._places = places

    def write(self, event: Event) -> None:
        """Writes an event. A full disk holds the run, and must not end it."""
        line = event_json(event) | {"shard": self._at[0], "attempt": self._at[1]}
        if "pair" in line:
            line["pair"] = self._places[line["pair"]]
        with suppress(OSError):
            self._file.write(json.dumps(line, allow_nan=False) + "\n")

    def put(self, shared: Path) -> None:
        """Copies what was written to the shared folder of the shard.

        :raises judgenet.store.files.FileError: the folder cannot be written.
        """
        with suppress(OSError):
            self._file.flush()
        put_copy(self._path, shared / self._path.name)

    def close(self) -> None:
        with suppress(OSError):
            self._file.close()


class ShardEventReader:
    """Appends the events of all attempts to a file, where the command runs. ``folder`` is that of ``of`` shards."""

    def __init__(self, log: TextIO, folder: Path, of: int) -> None:
        self._log = log
        self._folder = folder
        self._of = of
        self._read: dict[AttemptAt, int] = {}
        self._next = 0.0
        # Those of an earlier command that was killed.
        for path in folder.glob("*-of-*/events-*.jsonl"):
            path.unlink(missing_ok=True)

    def look(self, under_way: Iterable[AttemptAt]) -> None:
        """Adds the new events of attempts that go on, every few seconds."""
        if time.monotonic() >= self._next:
            for at in under_way:
                self._take(at)
            self._next = time.monotonic() + _EVERY_S

    def end(self, at: AttemptAt) -> None:
        """Adds the rest of an attempt that has ended."""
        self._take(at)
        self._path(at).unlink(missing_ok=True)

    def _path(self, at: AttemptAt) -> Path:
        return self._folder / Shard(self._of, at[0]).folder / _name(at[1])

    def _take(self, at: AttemptAt) -> None:
        # A folder that is away for a while, or a disk that is full, is tried again; the run goes on.
        with suppress(OSError), open(self._path(at), "rb") as file:
            file.seek(self._read.get(at, 0))
            whole, newline, _ = file.read().rpartition(b"\n")
            if newline:
                self._log.write((whole + newline).decode())
                self._log.flush()
                self._read[at] = self._read.get(at, 0) + len(whole) + 1
