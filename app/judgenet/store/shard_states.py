"""The reports of a project's shards while they run, and the commands to them: small JSON files in the folder of the
shards, each written whole or not at all, so that they can be read at any time and from any machine.

``state.json`` in the folder of the shards reports on all of them, the one in a shard's folder on that shard;
``control.json`` has the last command.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from judgenet.core import documents
from judgenet.core.shards import Shard
from judgenet.core.values import member, read, write
from judgenet.store.files import atomic_write

STATES_FORMAT: Final = 1
STATE: Final = "state.json"
CONTROL: Final = "control.json"

STALE_S: Final = 90.0
"""A shard that has reported nothing for so many seconds is not running any more, whatever it reported last."""

ShardStatus = Literal["waiting", "running", "paused", "done", "failed"]
"""The state of a shard: it has not begun (or begins again); its run goes on; it is paused; all its pairs are done; or
it ended before that."""

ShardsStatus = Literal["running", "paused", "stopped", "done", "failed"]
"""The state of the set of shards: ``stopped`` by a command or a limit, so that the same command goes on; ``failed``
where a shard was given up, or the endpoint stopped."""

Want = Literal["run", "pause", "stop"]
"""The commands that can be given to all shards."""

_SELDOM: Final = 10
"""The file of a shard that is done is looked for at every so many looks."""
_REST_EVERY: Final = 50
_FOLDER: Final = re.compile(r"([0-9]+)-of-([0-9]+)")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ShardReport:
    """The report of a shard. ``attempt`` counts from 1, 0 before the first; ``worker`` is the machine that it runs on.

    ``calls`` are those of its run with an outcome, ``unscored`` those of them without a verdict, ``price`` is what they
    cost in USD, but for ``unpriced`` calls whose price is unknown. ``updated`` is POSIX time.
    """

    state: ShardStatus
    attempt: int = member(0, at_least=0)
    worker: str = ""
    pairs_done: int = member(0, at_least=0)
    pairs: int = member(0, at_least=0)
    calls: int = member(0, at_least=0)
    unscored: int = member(0, at_least=0)
    price: float = member(0.0, at_least=0.0)
    error: str = ""
    updated: float = 0.0
    unpriced: int = member(0, at_least=0)

    def stale(self, now: float | None = None) -> bool:
        """Whether the shard said that it runs and has reported nothing for :data:`STALE_S` seconds."""
        held = self.state in ("running", "paused")
        return held and (time.time() if now is None else now) - self.updated > STALE_S


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """The share of an endpoint's model over all workers: how many calls may be in flight, how many are, and whether it
    is ``open``, slowed down (``slow``), or stopped (``stopped``, with the reason in ``message``)."""

    name: str
    model: str
    window: int = member(0, at_least=0)
    in_flight: int = member(0, at_least=0)
    state: Literal["open", "slow", "stopped"] = "open"
    message: str = ""


@dataclass(frozen=True, slots=True)
class ShardsReport:
    """The report on all shards of a project. ``made`` is when they were begun, ``updated`` when this was written (POSIX
    time).

    ``pairs`` has ``total`` and ``done``, and ``by_state`` the number of shards in each state.
    """

    engine: str
    shards: int
    state: ShardsStatus
    message: str = ""
    made: float = 0.0
    pairs: Mapping[str, int] = field(default_factory=dict)
    by_state: Mapping[str, int] = field(default_factory=dict)
    calls: int = member(0, at_least=0)
    unscored: int = member(0, at_least=0)
    price: float = member(0.0, at_least=0.0)
    calls_per_second: float = member(0.0, at_least=0.0)
    endpoints: tuple[EndpointReport, ...] = ()
    updated: float = 0.0
    unpriced: int = member(0, at_least=0)

    def stale(self, now: float | None = None) -> bool:
        """Whether nobody reports on the shards any more, although they did not end."""
        held = self.state in ("running", "paused")
        return held and (time.time() if now is None else now) - self.updated > STALE_S


@dataclass(frozen=True, slots=True)
class ShardsCommand:
    """The last command to all shards, and when it was given (POSIX time)."""

    want: Want = "run"
    at: float = 0.0


def _read(cls: type[T], path: Path) -> T | None:
    """The content of a file; ``None`` where it is absent, of a newer form, or damaged: it will be written again."""
    try:
        given = documents.parse(path.read_text(encoding="utf-8"))
        if not isinstance(given, dict) or given.get("format", STATES_FORMAT) != STATES_FORMAT:
            return None
        return read(cls, given, refuse_unknown=False)
    except (OSError, ValueError):
        return None


def _write(path: Path, value: Any) -> None:
    atomic_write(path, json.dumps({"format": STATES_FORMAT, **write(value)}, allow_nan=False) + "\n")


def read_shards_report(folder: Path) -> ShardsReport | None:
    """The report on all shards in a folder, ``None`` where nobody writes one (such as with array jobs)."""
    return _read(ShardsReport, folder / STATE)


def write_shards_report(folder: Path, report: ShardsReport) -> None:
    """Writes the report on all shards.

    :raises FileError: it cannot be written.
    """
    _write(folder / STATE, report)


def read_shard_report(folder: Path) -> ShardReport | None:
    """The report of a shard in its folder, ``None`` where it has not begun."""
    return _read(ShardReport, folder / STATE)


def write_shard_report(folder: Path, report: ShardReport) -> None:
    """Writes the report of one shard.

    :raises FileError: it cannot be written.
    """
    _write(folder / STATE, report)


def read_command(folder: Path) -> ShardsCommand:
    """The last command to the shards of a folder; to go on, where none was given."""
    return _read(ShardsCommand, folder / CONTROL) or ShardsCommand()


def write_command(folder: Path, want: Want, at: float | None = None) -> None:
    """Gives a command to all shards of a folder, which they obey within two seconds.

    :raises FileError: it cannot be written.
    """
    _write(folder / CONTROL, ShardsCommand(want, time.time() if at is None else at))


class ShardReports:
    """The reports of the shards of a folder, each read again only where it has changed, so that they can be looked at
    once a second.

    Attributes:
        by_shard: the report of each shard that has begun.
        folders: the shards whose folders are there, by the names of these.
    """

    def __init__(self, folder: Path, rest: Callable[[], object] = lambda: None) -> None:
        """``rest`` is called after every few files: for a thread that must not keep others from their work."""
        self.folder = folder
        self.by_shard: dict[Shard, ShardReport] = {}
        self.folders: dict[str, Shard] = {}
        self._rest = rest
        self._names: list[str] = []
        self._paths: list[tuple[Shard, str]] = []
        self._seen: dict[Shard, tuple[int, int]] = {}
        self._ended: set[Shard] = set()
        self._turn = 0

    def look(self) -> frozenset[Shard]:
        """Reads what has changed since the last look, and says which shards that concerns. Of shards that are done the
        files are looked for less often."""
        changed = set()
        self._find_folders()
        every = self._turn % _SELDOM == 0
        self._turn += 1
        for number, (shard, path) in enumerate(self._paths):
            if number % _REST_EVERY == 0:
                self._rest()
            if shard in self._ended and not every:
                continue
            try:
                status = os.stat(path)  # a third of the time of Path.stat
            except OSError:
                continue
            mark = (status.st_mtime_ns, status.st_ino)
            if self._seen.get(shard) == mark or (report := read_shard_report(Path(path).parent)) is None:
                continue
            self._seen[shard] = mark
            self.by_shard[shard] = report
            if report.state == "done":
                self._ended.add(shard)
            else:
                self._ended.discard(shard)
            changed.add(shard)
        return frozenset(changed)

    def _find_folders(self) -> None:
        try:
            names = sorted(os.listdir(self.folder))
        except OSError:
            names = []
        if names == self._names:
            return
        self._names = names
        parts = (match for name in names if (match := _FOLDER.fullmatch(name)))
        self.folders = {match[0]: Shard(int(match[2]), int(match[1])) for match in parts}
        self._paths = [(shard, f"{self.folder / name / STATE}") for name, shard in self.folders.items()]
