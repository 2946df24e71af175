"""The bias lab of the open project: its settings, its estimate, its run, and its results."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from judgenet.core.bias import PROBES
from judgenet.core.bias.base import BiasError, LabSettings
from judgenet.core.bias.lab import BuiltLab, Item, build_lab
from judgenet.core.bias.nwise import Groups, groups_of
from judgenet.core.network import NetworkError, is_recorded
from judgenet.core.pairs import Pair, systems_of
from judgenet.core.plan import PriceError
from judgenet.core.prompts import PromptError
from judgenet.core.tally import Tally
from judgenet.engine.bias import (
    USUAL_JUDGES,
    LabEstimate,
    LabFinished,
    LabHandle,
    asked_of,
    estimate_lab,
    lab_of,
    lab_starts,
    start_lab,
)
from judgenet.engine.endpoints import EndpointError
from judgenet.engine.nwise import OrdersEstimate, ask_orders, estimate_orders
from judgenet.engine.session import Start, profiles_of
from judgenet.engine.setup import start_of
from judgenet.stats.bias import Judge
from judgenet.stats.lab import LabResult
from judgenet.store.db import Store, StoreError
from judgenet.store.labs import (
    LabInfo,
    LabJudge,
    OrderAnswers,
    keep_orders,
    lab_calls,
    lab_info,
    lab_network,
    lab_orders,
    lab_result,
    labs,
)
from judgenet.store.runs import FullCall
from judgenet.ui.bias import texts
from judgenet.ui.document import Document
from judgenet.ui.errors import ErrorPort
from judgenet.ui.runner import Runner
from judgenet.ui.tasks import Job, JobCancelled, Tasks

DEFAULT_INSTRUCTIONS: Final = 50
"""As many instructions as CoBBLEr asked about."""

_WAIT_MS: Final = 250
_LOOK_S: Final = 0.1
_LIVE_S: Final = 2.0
_LIVE_SHARE: Final = 5
"""While a lab is running, its figures are computed at most every so many seconds, and for at most a fifth of the
time."""


@dataclass(frozen=True, slots=True)
class BiasSettings:
    """What the user has chosen to measure. ``nwise`` responses are ranked in one call; ``None``: no rankings."""

    judges: tuple[LabJudge, ...] = USUAL_JUDGES
    probes: tuple[str, ...] = tuple(PROBES)
    settings: LabSettings = field(default_factory=lambda: LabSettings(instructions=DEFAULT_INSTRUCTIONS))
    nwise: int | None = None


@dataclass(frozen=True, slots=True)
class BiasPlan:
    """The prompts of the chosen lab and their estimate, or why there are none."""

    built: BuiltLab | None = None
    estimate: LabEstimate | None = None
    start: Start | None = None
    why_not: str = ""
    groups: Groups | None = None
    orders: OrdersEstimate | None = None


@dataclass(frozen=True, slots=True)
class PairDetails:
    """A pair behind a bar: the judge, what is counted, and the calls of each prompt (``None``: they are being read)."""

    judge: str
    item: Item
    calls: tuple[tuple[FullCall, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class LabProgress:
    """The progress of a running lab, in calls."""

    calls: int
    planned: int

    @property
    def share(self) -> float:
        return min(1.0, self.calls / self.planned) if self.planned else 0.0


class BiasState(QObject):
    """The lab of the open project. Everything is computed in threads; signals come on the interface's thread.

    Signals:
        plan_changed: :attr:`plan` or :attr:`choice` changed, or the plan is being computed.
        result_changed: :attr:`result` or :attr:`lab` changed.
        going_changed: a lab began or ended.
        progressed: :attr:`progress` changed.
        look_changed: :attr:`look` changed.
    """

    plan_changed = Signal()
    result_changed = Signal()
    going_changed = Signal()
    progressed = Signal()
    look_changed = Signal()

    def __init__(
        self, document: Document, runner: Runner, tasks: Tasks, errors: ErrorPort, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._runner = runner
        self._tasks = tasks
        self._errors = errors
        self.choice = BiasSettings()
        self.plan = BiasPlan(why_not=texts.OPEN_A_PROJECT)
        self.planning = False
        self.lab: LabInfo | None = None
        self.result: LabResult | None = None
        self.labs: tuple[LabInfo, ...] = ()
        self.going = False
        self.progress: LabProgress | None = None
        self.ended: LabFinished | None = None
        self.orders: OrderAnswers | None = None
        self.network: str | None = None
        """The digest of the network that the lab in view measured."""
        self.look: PairDetails | None = None
        self._named: tuple[tuple[Pair, ...], tuple[str, ...]] = ((), ())
        self._watched = False
        self._stale = True
        self._stop_asked = False
        self._wanted = 0
        self.reading = False
        self._reads = 0
        self._tally = Tally()
        self._planned = 0
        self._took_s = self._looked = 0.0
        self._task: asyncio.Task[None] | None = None
        self._reader: asyncio.Task[None] | None = None
        self._looker: asyncio.Task[None] | None = None
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_WAIT_MS)
        self._soon.timeout.connect(self._start_plan)
        self._pulse = QTimer(self)
        self._pulse.setInterval(200)
        self._pulse.timeout.connect(self._pulsed)
        document.opened.connect(self._opened)
        for signal in (document.project_changed, document.pairs_changed, document.profiles_changed):
            signal.connect(self._changed)
        runner.changed.connect(self.going_changed)

    # What is looked at

    def watch(self, on: bool) -> None:
        """Computes the plan while the page is in view."""
        self._watched = on
        if on and self._stale:
            self._soon.start(0)

    def choose(self, choice: BiasSettings) -> None:
        """Sets other settings."""
        if choice != self.choice:
            self.choice = choice
            self._changed()

    @property
    def names(self) -> tuple[str, ...]:
        """The systems whose responses the pairs hold; found once for each set of pairs."""
        pairs = self._document.pairs
        if self._named[0] is not pairs:
            self._named = (pairs, systems_of(pairs))
        return self._named[1]

    def _opened(self) -> None:
        self.choice = BiasSettings()
        self.lab = self.result = self.ended = self.look = None
        self.refresh_labs()
        self._changed()

    def refresh_labs(self) -> None:
        """Reads which labs there are, and shows the newest where none is in view."""
        store = self._document.own_store
        try:
            self.labs = () if store is None else tuple(lab_info(store, lab) for lab in labs(store))
        except (StoreError, sqlite3.Error) as error:
            self._errors.post_exception(error)
            self.labs = ()
        if self.lab is None and self.labs:
            self.show_lab(self.labs[-1].id)
        else:
            self.result_changed.emit()

    def show_lab(self, lab: str) -> None:
        """Shows another lab."""
        info = next((known for known in self.labs if known.id == lab), None)
        if info is not None:
            self.lab, self.result = info, None
            self.result_changed.emit()
            self._read()

    @property
    def read_only(self) -> str:
        """Why nothing can be asked in this project; an empty text where it can."""
        return self._document.read_only

    @property
    def of_another_network(self) -> bool:
        """Whether the lab in view measured another network than the current design."""
        start = self.plan.start
        return start is not None and self.network not in (None, asked_of(start.spec))

    # The plan

    def _changed(self) -> None:
        self._stale = True
        self.planning = True
        self._wanted += 1
        self.plan_changed.emit()
        if self._watched:
            self._soon.start(_WAIT_MS)

    def _start_plan(self) -> None:
        self._stale = False
        why = self._why_not()
        if why:
            self._set_plan(BiasPlan(why_not=why))
            return
        document = self._document
        try:
            start = start_of(
                document.project, document.pairs, document.profiles, folder=document.folder, dataset=document.dataset
            )
        except (NetworkError, PriceError, PromptError) as error:
            self._set_plan(BiasPlan(why_not=str(error)))
            return
        self._task = self._tasks.start(self._compute_plan(self._wanted, start), texts.ESTIMATE_LAB)

    def _why_not(self) -> str:
        document = self._document
        if not document.is_open:
            return texts.OPEN_A_PROJECT
        if document.loading:
            return texts.PAIRS_ARE_LOADING
        if not document.pairs:
            return texts.NO_PAIRS
        if is_recorded(document.spec):
            return texts.JUDGES_CANNOT_BE_ASKED
        if not self.choice.judges:
            return texts.CHOOSE_A_JUDGE
        if not self.choice.probes:
            return texts.CHOOSE_A_PROBE
        return ""

    async def _compute_plan(self, wanted: int, start: Start) -> None:
        choice, store, pairs = self.choice, self._document.own_store, self._document.pairs
        try:
            plan = await self._tasks.off_thread(_plan, choice, start, pairs, store)
        except (BiasError, NetworkError, StoreError, sqlite3.Error) as error:
            plan = BiasPlan(why_not=str(error))
        if wanted == self._wanted:
            self._set_plan(plan)

    def _set_plan(self, plan: BiasPlan) -> None:
        self.plan, self.planning = plan, False
        self.plan_changed.emit()

    # The run of it

    def why_not(self) -> str:
        """Why no lab can be started now; empty where one can."""
        if self.going:
            return texts.LAB_IS_RUNNING
        if self._document.read_only:
            return self._document.read_only
        why = self._runner.why_not()
        if why:
            return why
        if self.plan.why_not:
            return self.plan.why_not
        return "" if self.plan.built is not None and not self.planning else texts.COST_IS_CALCULATED

    def start(self) -> None:
        """Runs the chosen lab, or resumes it; no call is paid for twice."""
        built, start, estimate = self.plan.built, self.plan.start, self.plan.estimate
        if self.why_not() or built is None or start is None or estimate is None:
            return
        self._task = self._tasks.start(self._run(built, start, estimate.calls.high, self.plan.groups), texts.RUN_LAB)

    def stop(self) -> None:
        """Ends the lab within a second; what is finished is kept."""
        self._stop_asked = True

    async def _run(self, built: BuiltLab, start: Start, planned: int, groups: Groups | None) -> None:
        store, judges = self._document.own_store, self.choice.judges
        assert store is not None
        allowed = await self._document.approvals.may_send(profiles_of(start))
        # The user may have opened another project, or begun a run, while the question was open.
        if not allowed or store is not self._document.own_store or self.why_not():
            return
        self._document.save()
        engine = self._runner.engine()
        self.going, self._stop_asked, self.ended = True, False, None
        tally = Tally()
        self.progress = LabProgress(0, planned)
        self._tally, self._planned = tally, planned
        self._runner.occupy(texts.THE_LAB, self.stop)
        ended = threading.Event()

        def work(job: Job) -> LabFinished:
            try:
                finished = self._wait(start_lab(engine, store, start, built, judges, tally.take), job, planned)
                if finished.state == "done" and groups is not None:
                    self._ask_orders(store, replace(start, limits=finished.left), groups, finished.lab, job)
                return finished
            finally:
                ended.set()

        self._pulse.start()
        self.going_changed.emit()
        try:
            self.ended = await self._tasks.job(texts.LAB, work)
        except JobCancelled:
            # The thread ends within a second; until then nothing else may begin.
            await self._tasks.off_thread(ended.wait)
        except (EndpointError, NetworkError, StoreError, OSError) as error:
            self._errors.post_exception(error, texts.THE_LAB)
        finally:
            self._pulse.stop()
            self.going, self.progress = False, None
            self._runner.vacate()
            self.going_changed.emit()
        self._show_newest(lab_of(start, built))
        if self.ended is not None and self.ended.state in ("halted", "failed"):
            self._errors.post(self.ended.message, texts.THE_LAB)
        self._changed()

    def _wait(self, handle: LabHandle, job: Job, planned: int) -> LabFinished:
        """Waits for a lab, in its thread: tells the job how far it is, and ends it when the user stops it."""
        while True:
            try:
                return handle.future.result(_LOOK_S)
            except TimeoutError:
                calls = self._tally.calls
                job.share = min(1.0, calls / planned) if planned else None
                job.text = texts.calls_of_planned(calls, planned)
                if self._stop_asked or job.cancelled:
                    handle.cancel()

    def _ask_orders(self, store: Store, start: Start, groups: Groups, lab: str, job: Job) -> None:
        """Asks for rankings of several responses in one call; in a thread, until all are in or the user stops the
        lab."""
        total = len(groups.groups)
        job.share, job.text = None, texts.ranking_calls(groups.size, total)
        handle = ask_orders(store, start, groups)
        try:
            while True:
                try:
                    keep_orders(store, lab, handle.future.result(_LOOK_S))
                    return
                except TimeoutError:
                    if self._stop_asked or job.cancelled:
                        return
        finally:
            handle.close()

    def _show_newest(self, lab: str) -> None:
        self.refresh_labs()
        self.show_lab(lab)

    def _pulsed(self) -> None:
        """Shows the progress of the lab, and its figures so far."""
        self.progress = LabProgress(self._tally.calls, self._planned)
        self.progressed.emit()
        if self.lab is None or self.lab.id not in {known.id for known in self.labs}:
            self.refresh_labs()
        due = max(_LIVE_S, _LIVE_SHARE * self._took_s)
        if self._watched and not self.reading and time.monotonic() - self._looked > due:
            self._reread()

    # What was found

    def _reread(self) -> None:
        """Reads the newest lab again, which has further runs."""
        store = self._document.own_store
        newest = labs(store)[-1:] if store is not None else []
        if store is not None and newest:
            self.lab = lab_info(store, newest[0])
            self._read()

    def _read(self) -> None:
        store, info = self._document.own_store, self.lab
        if store is None or info is None:
            return
        self._looked = time.monotonic()
        self.reading = True
        self._reads += 1
        self._reader = self._tasks.start(self._read_now(store, info, self._reads), texts.read_lab(info.title))

    async def _read_now(self, store: Store, info: LabInfo, number: int) -> None:
        began = time.monotonic()
        try:
            result = await self._tasks.job(
                texts.read_lab(info.title), lambda job: lab_result(store, info.id, watch=job.check)
            )
            orders, network = lab_orders(store, info.id), lab_network(store, info)
        except JobCancelled:
            return
        except (StoreError, sqlite3.Error) as error:
            self._errors.post_exception(error, info.title)
            return
        finally:
            # An older reading may end after a newer one: it says nothing of whether that one goes on.
            if number == self._reads:
                self.reading = False
        self._took_s = time.monotonic() - began
        # What was read meanwhile is newer.
        if number == self._reads:
            self.result, self.orders, self.network = result, orders, network
            self.result_changed.emit()

    # A pair behind a bar

    def look_at(self, judge: Judge, item: Item) -> None:
        """Reads what a judge was asked about a pair, and what it said."""
        store, info = self._document.own_store, self.lab
        if store is None or info is None:
            return
        look = self.look = PairDetails(judge.id, item)
        self.look_changed.emit()
        self._looker = self._tasks.start(self._look_now(store, info, judge, look), texts.READ_ANSWERS)

    async def _look_now(self, store: Store, info: LabInfo, judge: Judge, look: PairDetails) -> None:
        try:
            calls = await self._tasks.off_thread(lab_calls, store, info, judge, look.item.prompts)
        except (StoreError, sqlite3.Error) as error:
            self._errors.post_exception(error, info.title)
            return
        # Another pair may have been chosen meanwhile.
        if self.look is look:
            self.look = replace(look, calls=tuple(calls))
            self.look_changed.emit()


def _plan(choice: BiasSettings, start: Start, pairs: Sequence[Pair], store: Store | None) -> BiasPlan:
    """Builds the prompts of a lab and estimates them, in a thread."""
    built = build_lab(pairs, choice.probes, choice.settings)
    estimate = estimate_lab(lab_starts(start, built, choice.judges), store)
    if choice.nwise is None:
        return BiasPlan(built, estimate, start)
    groups = groups_of(pairs, choice.nwise, choice.settings)
    return BiasPlan(built, estimate, start, groups=groups, orders=estimate_orders(start, groups, store))
