"""A set of shards as it is now, from the reports of the shards and the manifests of those that have ended. Files are
read again only where they have changed, so that thousands of shards can be looked at every second."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from judgenet.core.pairs import Verdict
from judgenet.core.shards import Shard
from judgenet.store.db import StoreError
from judgenet.store.shard_states import (
    ShardReport,
    ShardReports,
    ShardsCommand,
    ShardsReport,
    ShardsStatus,
    read_command,
    read_shards_report,
)
from judgenet.store.shards import MANIFEST, LabelledCounts, Manifest

CellState = Literal["waiting", "running", "paused", "done", "failed", "silent"]
"""The state of a shard seen from outside: as it reports, or ``silent`` where it said that it runs and has reported
nothing for
:data:`~judgenet.store.shard_states.STALE_S` seconds."""
CELL_STATES: Final[tuple[CellState, ...]] = ("waiting", "running", "paused", "done", "failed", "silent")

_SELDOM: Final = 10
"""Manifests that are known are looked for at every so many looks."""
_RATE_S: Final = 60.0
"""Rates are over so many seconds."""


@dataclass(frozen=True, slots=True)
class ShardSetLook:
    """A set of shards at one time (POSIX time ``at``). ``cells`` has the state of each shard by index less 1, as its
    place in :data:`CELL_STATES`; ``reports`` the report of each that has begun. ``set_report`` is the report on all,
    ``None`` where nobody does (array jobs); ``command`` the last command.

    Sums are over the shards that have begun; ``pairs`` is ``None`` where it is not known of all. Rates are ``None``
    until they are known. ``agreement`` is that of the ended shards that counted it, which are ``agreement_shards``.
    """

    at: float
    folder: Path
    of: int
    cells: bytes
    reports: Mapping[int, ShardReport]
    set_report: ShardsReport | None
    command: ShardsCommand
    ended: int
    pairs_done: int
    pairs: int | None
    calls: int
    unscored: int
    price: float
    unpriced: int
    pairs_per_second: float | None
    calls_per_second: float | None
    agreement: LabelledCounts
    agreement_shards: int

    def state_of(self, shard: int) -> CellState:
        """The state of a shard by index, from 1."""
        return CELL_STATES[self.cells[shard - 1]]

    def count(self, state: CellState) -> int:
        """How many shards are in a state."""
        return self.cells.count(CELL_STATES.index(state))

    def in_state(self, state: CellState) -> tuple[int, ...]:
        """The shards in a state, by index."""
        code = CELL_STATES.index(state)
        return tuple(index for index, cell in enumerate(self.cells, 1) if cell == code)

    @property
    def state(self) -> ShardsStatus | Literal["waiting", "silent"]:
        """The state of the set: as reported while somebody reports on it, else as it follows from the shards."""
        if self.count("done") == self.of:
            return "done"
        if self.set_report is not None and not self.set_report.stale(self.at):
            return self.set_report.state
        for state in ("running", "paused", "silent", "failed"):
            if self.count(state):
                return state
        return "stopped" if self.command.want == "stop" else "waiting"

    @property
    def goes_on(self) -> bool:
        """Whether any shard is at work, or somebody leads them."""
        report = self.set_report
        led = report is not None and report.state in ("running", "paused") and not report.stale(self.at)
        return led or self.count("running") + self.count("paused") > 0


class ShardWatch:
    """Looks at the shards in a folder again and again.

    Not for several threads at a time. ``rest`` is called between files, for whoever must not be kept from its work.
    """

    def __init__(self, folder: Path, rest: Callable[[], object] = lambda: None) -> None:
        self.folder = folder
        self._reports = ShardReports(folder, rest)
        self._rest = rest
        self._manifests: dict[int, tuple[int, Manifest]] = {}
        self._known: dict[int, ShardReport] = {}
        self._turn = 0
        self._history: deque[tuple[float, int, int]] = deque()

    def look(self, now: float | None = None) -> ShardSetLook | None:
        """The set as it is now, ``None`` where there are no shards.

        :raises StoreError: the folder holds shards of different divisions, or a manifest cannot be read.
        """
        at = time.time() if now is None else now
        set_report = read_shards_report(self.folder)
        changed = self._reports.look()
        folders = self._reports.folders
        divisions = {shard.of for shard in folders.values()} | (
            {set_report.shards} if set_report is not None else set()
        )
        if len(divisions) > 1:
            raise StoreError(
                f"{self.folder}: holds shards of different divisions (of {', '.join(map(str, sorted(divisions)))}). "
                "Keep those of one, and put the others elsewhere."
            )
        if not divisions:
            return None
        (count,) = divisions
        self._renew(folders, changed)
        reports = dict(self._known)
        cells = bytearray(count)
        for index, report in reports.items():
            cells[index - 1] = CELL_STATES.index("silent" if report.stale(at) else report.state)
        return self._look(at, count, bytes(cells), reports, set_report)

    def _renew(self, folders: Mapping[str, Shard], changed: frozenset[Shard]) -> None:
        """Brings what is known of each shard up to date from its report, or from the manifest of one that ended and
        reports nothing. Manifests that are known are looked for less often."""
        every = self._turn % _SELDOM == 0
        self._turn += 1
        for name, shard in folders.items():
            report = self._reports.by_shard.get(shard)
            runs = report is not None and report.state in ("running", "paused")
            there = shard.index in self._manifests
            if shard in changed or every or not (there or runs):
                manifest = None if runs and not there else self._manifest(name, shard.index)
                if report is None or (manifest is not None and report.state == "done" and not report.pairs):
                    report = None if manifest is None else _report_of(manifest)
                if report is not None:
                    self._known[shard.index] = report

    def _manifest(self, name: str, index: int) -> Manifest | None:
        folder = self.folder / name
        try:
            mark = os.stat(f"{folder}/{MANIFEST}").st_mtime_ns  # a third of the time of Path.stat
        except OSError:
            return None
        known = self._manifests.get(index)
        if known is None or known[0] != mark:
            manifest = Manifest.read(folder)
            if manifest is None:
                return None
            known = self._manifests[index] = (mark, manifest)
            self._rest()
        return known[1]

    def _look(
        self, at: float, count: int, cells: bytes, reports: Mapping[int, ShardReport], set_report: ShardsReport | None
    ) -> ShardSetLook:
        done = sum(report.pairs_done for report in reports.values())
        calls = sum(report.calls for report in reports.values())
        self._history.append((at, done, calls))
        # The last look before the minute is kept: also who looks seldom hears of a rate.
        while len(self._history) > 2 and self._history[1][0] <= at - _RATE_S:
            self._history.popleft()
        then, before, calls_before = self._history[0]
        span = at - then
        pairs_rate = max(0, done - before) / span if span >= 1 else None
        calls_rate = max(0, calls - calls_before) / span if span >= 1 else None
        if set_report is not None and not set_report.stale(at):
            calls_rate = set_report.calls_per_second
        total = (set_report.pairs.get("total") if set_report is not None else None) or (
            sum(report.pairs for report in reports.values()) if len(reports) == count else None
        )
        agreement, shards = self._agreement()
        return ShardSetLook(
            at=at,
            folder=self.folder,
            of=count,
            cells=cells,
            reports=reports,
            set_report=set_report,
            command=read_command(self.folder),
            ended=len(self._manifests),
            pairs_done=done,
            pairs=total,
            calls=calls,
            unscored=sum(report.unscored for report in reports.values()),
            price=sum(report.price for report in reports.values()),
            unpriced=sum(report.unpriced for report in reports.values()),
            pairs_per_second=pairs_rate,
            calls_per_second=calls_rate,
            agreement=agreement,
            agreement_shards=shards,
        )

    def _agreement(self) -> tuple[LabelledCounts, int]:
        """The labelled pairs of the shards that have ended, and how many shards counted them."""
        counts: Counter[tuple[Verdict | None, Verdict | None]] = Counter()
        rule, questions, shards = "", 0, 0
        for _, manifest in self._manifests.values():
            agreement = manifest.agreement
            if agreement is None or (rule and agreement.rule != rule):
                continue
            rule, shards, questions = agreement.rule, shards + 1, questions + agreement.questions
            counts.update(agreement.counts)
        return LabelledCounts(rule, counts, questions), shards


def _report_of(manifest: Manifest) -> ShardReport:
    """The report that a shard that has ended would write."""
    return ShardReport(
        "done" if manifest.state == "done" else "failed",
        pairs_done=manifest.finished,
        pairs=manifest.pairs,
        calls=manifest.calls,
        unscored=manifest.unscored or 0,
        price=manifest.price,
        unpriced=manifest.unpriced,
        error="" if manifest.state == "done" else manifest.message or manifest.state,
    )
