"""The figures of the run in focus, computed in a thread under the run's own rules or others."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Signal

from judgenet.core.aggregate import aggregation_names, deciding
from judgenet.core.network import Aggregation
from judgenet.core.network_changes import Change
from judgenet.store.db import Store, StoreError
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo, run_info
from judgenet.ui.project_state import ProjectParts, ProjectState
from judgenet.ui.results import texts
from judgenet.ui.tasks import JobCancelled

if TYPE_CHECKING:
    from judgenet.figures.comparison import Compared
    from judgenet.figures.judges import Differing
    from judgenet.figures.people import AmongPeople
    from judgenet.report.model import Report
    from judgenet.report.selection import VerdictChanges
    from judgenet.stats.power import ComparisonPlan
    from judgenet.store.frame import RunFrame

WAIT_MS: Final = 30
"""Changes that follow each other within so many ms are computed once."""
LIVE_S: Final = 2.0
"""While a run is running, its figures are computed at most every so many seconds, and for at most a fifth of the
time."""
_LIVE_SHARE: Final = 5
_KEPT: Final = 12
STUDIES: Final = 3
"""So many pairs of each kind are read closely, unless the user chooses otherwise."""


@dataclass(frozen=True, slots=True)
class FiguresRequest:
    """How to look at a run: the rules of voting, the aggregation that gives the verdict, and the number of pairs of
    each kind that are read closely."""

    rules: Aggregation
    decides: str
    studies: int


class _Work:
    """A computation in a thread; the interface reads its progress."""

    def __init__(self, chosen: FiguresRequest, other: str | None) -> None:
        self.chosen = chosen
        self.other = other
        self.share: float | None = None
        self._stop = threading.Event()

    def report(self, done: int, total: int) -> None:
        """Notes how many pairs are read, and ends the work where it was cancelled."""
        self.share = done / total if total else None
        if self._stop.is_set():
            raise JobCancelled

    def cancel(self) -> None:
        """Ends the work at its next pair."""
        self._stop.set()


@dataclass(frozen=True, slots=True)
class Results:
    """A run under some rules: its figures, the pairs behind them, and how annotators agree with each other."""

    run: RunInfo
    report: Report
    frame: RunFrame
    people: AmongPeople

    @property
    def labels_key(self) -> int:
        """A number that changes with the labels."""
        return hash(self.frame.human.tobytes())

    @property
    def rules(self) -> Aggregation:
        return self.report.spec.aggregation


def compute_results(store: Store, run: RunInfo, request: FiguresRequest, work: _Work) -> Results:
    """Reads a run once: its figures, and its verdicts by pair."""
    # The window opens before these modules are loaded.
    from judgenet.figures.parts import agreement_figures
    from judgenet.figures.people import people_among_themselves
    from judgenet.report.build import build
    from judgenet.store.taught import fair_frame

    frame = fair_frame(store, run, request.rules, work.report)
    report = build(store, frame, recorded=network_of(run).aggregation, decides=request.decides, each=request.studies)
    agreement = agreement_figures(report.headline.agreement, report.headline.intervals)
    return Results(run, report, frame, people_among_themselves(frame, request.decides, agreement, intervals=False))


def decided_by(run: RunInfo, rule: str) -> str:
    """The aggregation that gives a run's verdict: the project's rule where the run's network has it."""
    spec = network_of(run)
    return rule if rule in aggregation_names(spec) else deciding(spec)


@dataclass(frozen=True, slots=True)
class OtherRun:
    """Another run, and how its verdict and that of the run in focus differ on the pairs that both have.

    ``comparison`` goes from the other run to the one in focus; ``compared`` is the one in focus less the other.
    ``differing`` is what makes them different judges, the one in focus first; ``changes`` are the differences of the
    networks, from the older run to the newer. ``plan`` is how many labelled pairs show a difference of 3 points.
    """

    other: Results
    common: int
    comparison: VerdictChanges
    compared: Compared
    differing: Differing
    changes: tuple[Change, ...]
    plan: ComparisonPlan


def compare_results(store: Store, mine: Results, other: Results) -> OtherRun:
    """Compares ``mine``, the run in focus, with another run."""
    from judgenet.figures.comparison import two_runs
    from judgenet.figures.judges import changes_between
    from judgenet.report.selection import compare
    from judgenet.stats.power import plan_comparison

    names = other.report.decides, mine.report.decides
    called = texts.run_in_text(mine.run.number), texts.run_in_text(other.run.number)
    two = two_runs((store, mine.frame), (store, other.frame), (names[1], names[0]), names=called)
    common = [(theirs, place) for place, theirs in two.common]
    older, newer = sorted((mine.run, other.run), key=lambda run: run.number)
    return OtherRun(
        other,
        len(common),
        compare(other.frame, mine.frame, names, common),
        two.compared,
        two.differing,
        changes_between(older, newer, two.differing),
        plan_comparison(two.compared.discordance, n=two.compared.figures.test.n),
    )


class ResultsState(ProjectState):
    """What the pages Results and Report show. It computes only while one of them is in view (:meth:`watch`).

    Attributes:
        results: the figures under the chosen rules; the last ones while others are computed, ``None`` at first.
        own: the figures under the run's own rules; the same as ``results`` where no others are chosen.
        beside: the run that it is compared with, ``None`` where none is chosen (:meth:`compare_with`) or it is not read
            yet.
        working: figures are being computed.
        stopped: the user stopped the computation; :meth:`again` resumes.

    Signals:
        changed: any of these changed.
    """

    changed = Signal()

    def __init__(self, parts: ProjectParts, parent: QObject | None = None) -> None:
        super().__init__(parts, parent)
        self.results: Results | None = None
        self.own: Results | None = None
        self.beside: OtherRun | None = None
        self.working = False
        self.stopped = False
        self._rules: Aggregation | None = None
        self._studies = STUDIES
        self._rule = self._document.rule
        self._other_id: str | None = None
        self._run_id: str | None = None
        self._watchers: set[Hashable] = set()
        self._kept: OrderedDict[Hashable, Results] = OrderedDict()
        self._work: _Work | None = None
        self._task: asyncio.Task[None] | None = None
        self._wanted = 0
        self._took = 0.0
        self._last = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._begin)
        self._document.opened.connect(self._opened)
        self._document.project_changed.connect(self._project_changed)
        self._run_state.run_changed.connect(self._run_changed)
        self._run_state.loading_changed.connect(self._run_changed)
        self._run_state.progress_changed.connect(self._progressed)

    # What is looked at

    def watch(self, who: Hashable) -> None:
        """Keeps the figures up to date from now on, for ``who`` shows them."""
        self._watchers.add(who)
        self._soon()

    def unwatch(self, who: Hashable) -> None:
        """``who`` shows the figures no longer; when nobody does, the computation ends."""
        self._watchers.discard(who)
        if not self._watchers:
            self._end()

    @property
    def run(self) -> RunInfo | None:
        """The run in focus."""
        return self._run_state.run

    @property
    def share(self) -> float | None:
        """How far the computation is, 0 to 1; ``None`` where that is unknown."""
        return None if self._work is None else self._work.share

    # Rules

    @property
    def own_rules(self) -> Aggregation | None:
        """The rules that the run in focus recorded."""
        return None if self.run is None else network_of(self.run).aggregation

    @property
    def rules(self) -> Aggregation | None:
        """The rules in force: those chosen, else the run's own."""
        return self._rules or self.own_rules

    @property
    def other_rules(self) -> bool:
        """Other rules than the run's own are chosen."""
        return self._rules is not None and self._rules != self.own_rules

    def choose_rules(self, rules: Aggregation | None) -> None:
        """Chooses rules; ``None`` goes back to the run's own. Costs no call."""
        self._rules = None if rules == self.own_rules else rules
        self._soon(now=True)

    @property
    def studies(self) -> int:
        """How many pairs of each kind the report reads closely."""
        return self._studies

    def choose_studies(self, each: int) -> None:
        """Sets how many pairs of each kind the report reads closely."""
        if each != self._studies:
            self._studies = each
            self._soon(now=True)

    def labels_changed(self) -> None:
        """Computes the figures anew: labels came, went, or count differently."""
        self._kept.clear()
        self._soon(now=True)

    # Another run

    @property
    def other_id(self) -> str | None:
        """The run to compare with, which may not be read yet; ``None`` without one."""
        return self._other_id

    def compare_with(self, run_id: str | None) -> None:
        """Compares the run in focus with another one; ``None`` ends the comparison."""
        self._other_id = run_id
        if run_id is None:
            self.beside = None
            self.changed.emit()
        self._soon(now=True)

    # Computing

    def cancel(self) -> None:
        """Stops the computation, for the user."""
        if self.working:
            self.stopped = True
            self._end()

    def again(self) -> None:
        """Computes again after the user had stopped it."""
        self.stopped = False
        self._soon(now=True)

    def _opened(self) -> None:
        self._end()
        self._kept.clear()
        self.results = self.own = self.beside = None
        self._rules = self._other_id = None
        self._run_id = None
        self.stopped = False
        self.changed.emit()

    def _project_changed(self) -> None:
        if self._document.rule != self._rule:
            self._rule = self._document.rule
            self._soon(now=True)

    def _run_changed(self) -> None:
        run = self.run
        if (run.id if run else None) != self._run_id:
            self._run_id = run.id if run else None
            self._rules = self._other_id = None
            self.stopped = False
            self.results = self.own = self.beside = None
            self.changed.emit()
        self._soon(now=True)

    def _progressed(self) -> None:
        if self._run_state.live:
            self._soon()

    def _soon(self, *, now: bool = False) -> None:
        """Computes soon, where a page shows the figures."""
        if not self._watchers or (self._timer.isActive() and not now):
            return
        wait = 0.0
        if self._run_state.live and not now:
            wait = self._last + max(LIVE_S, _LIVE_SHARE * self._took) - time.monotonic()
        self._timer.start(max(WAIT_MS, round(1000 * wait)))

    def _end(self) -> None:
        self._timer.stop()
        self._wanted += 1
        if self._work is not None:
            self._work.cancel()
            self._work = None
        self._set_working(False)

    def _set_working(self, working: bool) -> None:
        if working != self.working:
            self.working = working
            self.changed.emit()

    def _stamp(self) -> Hashable:
        """What the figures depend on besides the rules."""
        run = self.run
        if run is None:
            return None
        return (run.id, self._run_state.state, run.finished_at, run.name, run.note, self._pairs_done())

    def _pairs_done(self) -> int:
        table = self._run_state.table
        return 0 if table is None else len(table.finished)

    def _begin(self) -> None:
        store, run = self._document.store, self.run
        if store is None or run is None or self._run_state.loading or self.stopped or not self._watchers:
            return
        rules = self.rules
        assert rules is not None
        own = FiguresRequest(network_of(run).aggregation, decided_by(run, self._document.rule), self._studies)
        chosen = replace(own, rules=rules)
        stamp = self._stamp()
        wanted = [request for request in dict.fromkeys((own, chosen)) if (stamp, request) not in self._kept]
        other = self._other_id
        known = other is None or (
            self.beside is not None
            and self.beside.other.run.id == other
            and self.results is not None
            and self._kept.get((stamp, chosen)) is self.results
        )
        if not wanted and known:
            self._take(stamp, own, chosen, self.beside)
            return
        work = self._work
        if work is not None and self._run_state.live and (work.chosen, work.other) == (chosen, other):
            # While a run goes on each answer is soon overtaken: the one on its way is good enough.
            self._timer.start(round(1000 * LIVE_S))
            return
        self._wanted += 1
        if self._work is not None:
            self._work.cancel()
        work = self._work = _Work(chosen, other)
        self._set_working(True)
        self._task = self._tasks.start(
            self._compute(store, run, stamp, own, chosen, wanted, other, work, self._wanted), texts.CALCULATE_RESULTS
        )

    async def _compute(
        self,
        store: Store,
        run: RunInfo,
        stamp: Hashable,
        own: FiguresRequest,
        chosen: FiguresRequest,
        wanted: list[FiguresRequest],
        other: str | None,
        work: _Work,
        number: int,
    ) -> None:
        began = time.monotonic()
        try:
            # A run that ended meanwhile has its end in the store only.
            fresh = await self._tasks.off_thread(run_info, store, run.id)
            for request in wanted:
                self._keep((stamp, request), await self._tasks.off_thread(compute_results, store, fresh, request, work))
            comparison = None
            if other is not None:
                info = await self._tasks.off_thread(run_info, store, other)
                key = (info.id, info.state, info.finished_at, own.decides)
                if key not in self._kept:
                    request = FiguresRequest(network_of(info).aggregation, decided_by(info, own.decides), 0)
                    self._keep(key, await self._tasks.off_thread(compute_results, store, info, request, work))
                mine = self._kept[stamp, chosen]
                comparison = await self._tasks.off_thread(compare_results, store, mine, self._kept[key])
        except JobCancelled:
            return
        except (StoreError, sqlite3.Error) as error:
            # Another project was opened meanwhile, and the store of the one before is closed.
            if number == self._wanted and self._document.store is store:
                self._errors.post_exception(error, run.id)
                self._work = None
                self._set_working(False)
            return
        if number != self._wanted:
            return
        self._took, self._last = time.monotonic() - began, time.monotonic()
        self._work = None
        self.working = False
        self._take(stamp, own, chosen, comparison)
        if self._stamp() != stamp:
            self._soon()

    def _keep(self, key: Hashable, results: Results) -> None:
        self._kept[key] = results
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def _take(self, stamp: Hashable, own: FiguresRequest, chosen: FiguresRequest, other: OtherRun | None) -> None:
        self.own, self.results, self.beside = self._kept[stamp, own], self._kept[stamp, chosen], other
        self.changed.emit()
