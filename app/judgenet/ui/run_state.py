"""The run in focus, as the interface shows it: a cache that can be rebuilt from the store at any time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QObject, Signal

from judgenet.core.calls import CallSite
from judgenet.core.events import (
    BatchesChanged,
    CallFinished,
    CallStarted,
    CallText,
    EndpointChanged,
    Event,
    PairFinished,
    RolesFound,
    RunChanged,
    RunFinished,
    RunStarted,
    StoreTrouble,
)
from judgenet.core.events import RunStatus as RunPhase
from judgenet.core.network import NetworkSpec, Role
from judgenet.core.pairs import Pair
from judgenet.store.db import Store, StoreError
from judgenet.store.frame import RunFrame
from judgenet.store.labels import has_labels
from judgenet.store.pace import Pace, pace
from judgenet.store.runs import (
    RunInfo,
    Spent,
    name_run,
    pair_heads,
    run_info,
    runs,
    spent,
)
from judgenet.ui import texts
from judgenet.ui.bridge import Bridge
from judgenet.ui.clock import monotonic
from judgenet.ui.document import Document
from judgenet.ui.errors import ErrorPort
from judgenet.ui.run_progress import Progress, ProgressLog, ProgressSample
from judgenet.ui.run_queries import RunQueries
from judgenet.ui.tasks import JobCancelled, Tasks

_TEXT_EVERY_S: Final = 1 / 15
_DWELL_S: Final = 0.8
"""Seconds that a finished pair stays in view before the newest takes its place, while following."""


class RunState(RunQueries):
    """What the interface knows of the run in focus.

    Signals (at most 30 times a second each):
        run_changed: another run is in focus, or its state (running, paused, done …) changed.
        runs_changed: :attr:`runs` changed.
        loading_changed: a recorded run begins or ends to be read.
        calls_changed: a set of :class:`CallSite` whose state changed.
        pairs_changed: a set of pair indexes whose state, verdicts or roles changed; all of them after loading.
        focus_changed: the pair in focus, an index or ``None``.
        progress_changed: :attr:`progress` changed; at most 15 times a second.
        text_changed: a set of sites whose answers grew; at most 15 times a second.
        endpoint_changed: an :class:`EndpointChanged` event.
        batches_changed: a :class:`BatchesChanged` event.
        beat: see :class:`~judgenet.ui.bridge.Bridge`; overviews are drawn anew with it.
    """

    run_changed = Signal()
    runs_changed = Signal()
    loading_changed = Signal()
    calls_changed = Signal(object)
    pairs_changed = Signal(object)
    focus_changed = Signal(object)
    progress_changed = Signal()
    text_changed = Signal(object)
    endpoint_changed = Signal(object)
    batches_changed = Signal(object)
    beat = Signal(int)

    def __init__(
        self,
        document: Document,
        bridge: Bridge,
        tasks: Tasks,
        errors: ErrorPort,
        parent: QObject | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(document, parent)
        self._tasks = tasks
        self._errors = errors
        self._clock = clock
        self.state: RunPhase | None = None
        self.message = ""
        self._log = ProgressLog(clock)
        self._runs: tuple[RunInfo, ...] = ()
        self._held: list[Event] | None = None
        self._wanted = 0
        self._loading = False
        self._focus: int | None = None
        self._follow = True
        self._focus_settled = 0.0
        self._grown: set[CallSite] = set()
        self._texts_emitted = 0.0
        self._progress_emitted = 0.0
        bridge.drained.connect(self._take)
        bridge.ticked.connect(self._tick)
        bridge.beat.connect(self.beat)
        document.opened.connect(self._opened)

    # Which run

    @property
    def runs(self) -> tuple[RunInfo, ...]:
        """All runs of the project's store, oldest first."""
        return self._runs

    @property
    def newest(self) -> RunInfo | None:
        """The newest run that the design of the project made; an experiment makes runs of networks of its own."""
        return next((run for run in reversed(self._runs) if "experiment" not in run.record), None)

    @property
    def loading(self) -> bool:
        """A recorded run is being read."""
        return self._loading

    def refresh_runs(self) -> None:
        """Reads the list of runs anew."""
        store = self._document.store
        try:
            self._runs = () if store is None else tuple(runs(store))
        except StoreError as error:
            self._errors.post_exception(error)
        self.runs_changed.emit()

    def name_run(self, name: str, note: str) -> None:
        """Names the run in focus and keeps a note on it.

        :raises StoreError: it cannot be kept.
        """
        store, run = self._document.store, self.run
        if store is None or run is None:
            return
        name_run(store, run.id, name, note)
        self.refresh_runs()
        self._set_run(run_info(store, run.id))
        self.run_changed.emit()

    def _set_run(self, run: RunInfo | None) -> None:
        self.run = self._reader.run = run

    def show_run(self, run_id: str | None) -> None:
        """Puts a recorded run into focus; ``None`` shows none."""
        store = self._document.store
        self._wanted += 1
        if run_id is None or store is None:
            self._put(None, None)
            return
        try:
            run = run_info(store, run_id)
        except StoreError as error:
            self._errors.post_exception(error)
            return
        self._put(run, None)
        self._held = [] if run.id == self._live_id else None
        self._tasks.start(self._read(run, self._wanted), texts.read(run.id))

    def begin(self, run: RunInfo, spec: NetworkSpec, pairs: tuple[Pair, ...], *, resumes: bool) -> None:
        """A run begins, or goes on, in this window: it comes into focus. Its events follow through the bridge."""
        self._wanted += 1
        self._live_id = run.id
        self._log.begin()
        if resumes:
            self._put(run, None)
            self._held = []
            self._tasks.start(self._read(run, self._wanted), texts.read(run.id))
        else:
            self._held = None
            self._put(run, RunFrame.fresh(run, spec, pairs))
            if self._document.store is not None and has_labels(self._document.store):
                self.labels_changed()
        self.state = "running"
        self._follow = True
        self.refresh_runs()
        self.run_changed.emit()

    def labels_changed(self) -> None:
        """People labelled pairs: their labels are read anew."""
        store, run, table = self._document.store, self.run, self._table
        if store is not None and run is not None and table is not None:
            self._tasks.start(self._read_labels(store, run, table), texts.READ_THE_LABELS)

    async def _read_labels(self, store: Store, run: RunInfo, table: RunFrame) -> None:
        human = await self._tasks.off_thread(lambda: [head.human for head in pair_heads(store, run)])
        if table is self._table and len(human) == len(table):
            table.set_labels(human)
            self._reader.forget_pairs()
            self.run_changed.emit()

    async def _read(self, run: RunInfo, wanted: int) -> None:
        store = self._document.store
        if store is None:
            return
        self._set_loading(True)
        try:
            table, totals, before, paces = await self._tasks.job(
                texts.read_run(run.number),
                lambda job: (
                    RunFrame.read(store, run, on_progress=lambda *_: job.check()),
                    spent(store, run),
                    spent(store, run, _last_start(run)),
                    pace(store, run),
                ),
            )
        except JobCancelled:
            if wanted == self._wanted and not self.live:
                self._put(None, None)
            return
        finally:
            if wanted == self._wanted:
                self._set_loading(False)
        if wanted != self._wanted:
            return
        held, self._held = self._held, None
        if self.live:
            self._log.set_before(before)
        self._put(run, table, totals, paces)
        if held:
            self._apply(held)

    def _put(
        self,
        run: RunInfo | None,
        table: RunFrame | None,
        totals: Spent | None = None,
        paces: Sequence[Pace] = (),
    ) -> None:
        self._set_run(run)
        self._log.load_pace(paces)
        if run is None or run.id != self._live_id:
            self.state = None if run is None else run.state
            self.message = "" if run is None else run.message
        self._table = table
        self._reader.clear()
        self._roles.clear()
        self._texts.clear()
        self._began.clear()
        if run is None or run.id != self._live_id:
            self._log.load(table, totals)
        before = self._focus
        if table is None or not len(table):
            self._focus = None
        elif self._focus is None or self._focus >= len(table) or self._follow:
            self._focus = table.finished[-1] if table.finished else 0
        self.run_changed.emit()
        self.pairs_changed.emit(set(range(self.pair_count)))
        if self._focus != before or table is not None:
            self.focus_changed.emit(self._focus)
        self.progress_changed.emit()

    def _set_loading(self, loading: bool) -> None:
        if loading != self._loading:
            self._loading = loading
            self.loading_changed.emit()

    def _opened(self) -> None:
        self._live_id = None
        self._focus = None
        self._follow = True
        self._log.forget_history()
        self.refresh_runs()
        shown = self.newest or (self._runs[-1] if self._runs else None)
        self.show_run(None if shown is None else shown.id)

    # Events

    def _take(self, events: list[Event]) -> None:
        own = [event for event in events if event.run_id == self._live_id]
        for event in own:
            self._log.take(event)
            if isinstance(event, EndpointChanged):
                self.endpoint_changed.emit(event)
            elif isinstance(event, BatchesChanged):
                self.batches_changed.emit(event)
            elif isinstance(event, StoreTrouble) and event.message:
                self._errors.post(event.message, level="warning")
        if self._held is not None:
            self._held += own
        elif self.live:
            self._apply(own)
        self._end_of(own)

    def _apply(self, events: list[Event]) -> None:
        """Applies events of the run in focus."""
        table = self._table
        if table is None:
            return
        sites: set[CallSite] = set()
        pairs: set[int] = set()
        phase = self.state
        for event in events:
            changed = table.take(event)
            if isinstance(changed, CallSite):
                sites.add(changed)
            elif changed is not None:
                pairs.add(changed)
            if isinstance(event, CallStarted | CallText | CallFinished):
                self._apply_call(event)
                if isinstance(event, CallFinished):
                    pairs.add(event.pair)
            elif isinstance(event, RolesFound):
                roles = tuple(Role(name, text) for name, text in event.roles)
                self._roles[event.pair] = (roles, event.note)
            elif isinstance(event, PairFinished):
                self._roles.pop(event.pair, None)
                self._reader.forget_pair(event.pair)
                if event.pair == self._focus:
                    self._focus_settled = self._clock()
            elif isinstance(event, RunStarted):
                self.state = "running"
            elif isinstance(event, RunChanged):
                self.state = event.state
            elif isinstance(event, RunFinished):
                self.state, self.message = event.state, event.message
                table.interrupted()
                sites |= self._began.keys()
                pairs |= {site.pair for site in self._began}
                self._began.clear()
                self._texts.clear()
        if self.state != phase:
            self.run_changed.emit()
        if sites:
            self.calls_changed.emit(sites)
        if pairs:
            self.pairs_changed.emit(pairs)

    def _apply_call(self, event: CallStarted | CallText | CallFinished) -> None:
        """Keeps when a call was sent and what it has written so far, until it is finished."""
        site = event.site
        if isinstance(event, CallStarted):
            self._began[site] = self._clock()
        elif isinstance(event, CallText):
            self._texts[site] = self._texts.get(site, "") + event.text
            self._grown.add(site)
        else:
            self._began.pop(site, None)
            self._texts.pop(site, None)
            self._grown.discard(site)
            self._reader.forget_call(site)

    def _end_of(self, events: list[Event]) -> None:
        if any(isinstance(event, RunFinished) for event in events):
            self._tick(force=True)
            self._log.stand_still()
            self.progress_changed.emit()
            self._live_id = None
            self.refresh_runs()
            if self.run is not None and (listed := next((r for r in self._runs if r.id == self.run.id), None)):
                self._set_run(listed)
            self.run_changed.emit()

    def _tick(self, *, force: bool = False) -> None:
        now = self._clock()
        self._follow_newest(now)
        if self._grown and (force or now - self._texts_emitted >= _TEXT_EVERY_S):
            self._texts_emitted = now
            grown, self._grown = self._grown, set()
            self.text_changed.emit(grown)
        if self._live_id is None or not (force or now - self._progress_emitted >= _TEXT_EVERY_S):
            return
        self._progress_emitted = now
        if self._log.look(self._table, force=force):
            self.progress_changed.emit()

    def _follow_newest(self, now: float) -> None:
        """While following, moves the focus from a finished pair to the newest one, after it was in view long enough."""
        if not self._follow or not self.live or not self._began or now - self._focus_settled < _DWELL_S:
            return
        newest = max(site.pair for site in self._began)
        if newest != self._focus and (self._focus is None or self.pair_state(self._focus) != "working"):
            self._focus = newest
            self._focus_settled = now
            self.focus_changed.emit(newest)

    @property
    def progress(self) -> Progress:
        """How the run goes."""
        return self._log.now

    @property
    def history(self) -> list[ProgressSample]:
        """The progress second by second since the run was started in this window."""
        return self._log.history

    @property
    def pace(self) -> list[Pace]:
        """How fast the run went and what it cost by when: of the run that goes on since its start, of a recorded one
        over all of its running time."""
        return self._log.pace(live=self.live)

    # Pairs

    # Calls

    # Focus

    @property
    def focus(self) -> int | None:
        """The pair in focus."""
        return self._focus

    @property
    def follow(self) -> bool:
        """The focus follows the newest pair."""
        return self._follow

    def set_focus(self, index: int | None) -> None:
        """Pins a pair."""
        if index is not None and not 0 <= index < self.pair_count:
            return
        changed = index != self._focus or self._follow
        self._follow = False
        self._focus = index
        if changed:
            self.focus_changed.emit(index)

    def set_follow(self, follow: bool) -> None:
        """Follows the newest pair, or pins the one in focus."""
        if follow != self._follow:
            self._follow = follow
            if follow and self._began:
                self._focus = max(site.pair for site in self._began)
            self.focus_changed.emit(self._focus)


def _last_start(run: RunInfo) -> float:
    """When the newest start of a run began, in seconds since the epoch."""
    starts = run.record.get("starts") or [{}]
    return float(starts[-1].get("at", run.created_at))
