"""Starts, pauses and stops the document's run. The engine has a thread of its own; its events come by the bridge."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QObject, Signal

from judgenet.core.checks import check
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.events import BatchesChanged, EndpointChanged, RunFinished
from judgenet.core.matches import MatchesError
from judgenet.core.network import NetworkError, NetworkSpec
from judgenet.core.plan import PriceError
from judgenet.core.project import BATCH, LIMITS, STOP
from judgenet.core.prompts import PromptError
from judgenet.core.until import StopWish, UntilError
from judgenet.core.wording import plural
from judgenet.engine.batches import BatchChoice, wish_from_json, wish_to_json
from judgenet.engine.budget import Limits
from judgenet.engine.endpoints import EndpointError
from judgenet.engine.session import Engine, RunHandle, Scope, profiles_of
from judgenet.engine.setup import no_price_words, start_of, unpriced_models
from judgenet.formats.errors import DataError
from judgenet.store.db import StoreError
from judgenet.store.prices import load_prices
from judgenet.store.runs import set_run_state
from judgenet.ui import texts
from judgenet.ui.bridge import Bridge
from judgenet.ui.errors import MessageButton
from judgenet.ui.project_state import ProjectParts, ProjectState

STOP_PATIENCE_S: Final = 5.0
"""How long closing waits for a run that was told to stop; it needs less than one."""


_NO_START: Final = (
    DataError,
    EndpointError,
    MatchesError,
    NetworkError,
    PriceError,
    PromptError,
    StoreError,
    UntilError,
)
"""Why a run cannot be started, in words for people."""


class Runner(ProjectState):
    """The run that goes on in this window, if any. Its events reach :class:`~judgenet.ui.run_state.RunState`.

    Attributes:
        limits: what the next start must not exceed.
        stop_wish: how it may end before its last pair.
        batch_wish: whether it goes by batches; ``None``: as the same run was begun.

    Signals:
        changed: any of the properties changed.
        limits_wanted: the user wants to change the limits, or to enter a price that they need.
    """

    changed = Signal()
    limits_wanted = Signal()

    def __init__(self, parts: ProjectParts, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parts, parent)
        self._bridge = bridge
        self._engine: Engine | None = None
        self._handle: RunHandle | None = None
        self._away: dict[str, str] = {}
        self._batches: dict[str, str] = {}
        self._task: asyncio.Task[None] | None = None
        self._starting = False
        self._stopping = False
        self._ended = asyncio.Event()
        self._other = ""
        self._stop_other: Callable[[], None] = lambda: None
        self.limits = Limits()
        self.stop_wish = StopWish()
        self.batch_wish: BatchChoice | bool | None = None
        self._kept_limits: tuple[object, ...] = ()
        self._checked: tuple[NetworkSpec, Mapping[str, EndpointProfile], str] | None = None
        self._run_state.run_changed.connect(self.changed)
        self._run_state.endpoint_changed.connect(self._endpoint_changed)
        self._run_state.batches_changed.connect(self._batches_changed)
        self._document.project_changed.connect(self._project_changed)
        self._document.loading_changed.connect(self.changed)
        self._document.read_only_changed.connect(self.changed)

    def set_limits(self, limits: Limits, stop: StopWish | None = None, batch: BatchChoice | bool | None = None) -> None:
        """Sets what the next starts must not exceed, whether they go by batches and, where it is given, how they may
        end before the last pair; all are kept with the project."""
        stop = self.stop_wish if stop is None else stop
        project = self._document.project
        records = {LIMITS: limits.to_json(), STOP: stop.to_json(), BATCH: wish_to_json(batch)}
        metadata = {name: value for name, value in project.metadata.items() if name not in records}
        metadata |= {name: record for name, record in records.items() if record}
        self._document.edit_project(texts.CHANGE_THE_LIMITS_OF_A_RUN, replace(project, metadata=metadata))
        self.limits, self.stop_wish, self.batch_wish = limits, stop, batch
        self.changed.emit()

    def _project_changed(self) -> None:
        """Takes over limits that were opened, undone or redone with the project."""
        metadata = self._document.project.metadata
        kept = (metadata.get(LIMITS), metadata.get(STOP), metadata.get(BATCH))
        if kept != self._kept_limits:
            self._kept_limits = kept
            self.limits, self.stop_wish = Limits.from_json(kept[0]), StopWish.from_json(kept[1])
            self.batch_wish = wish_from_json(kept[2])
        self.changed.emit()

    def use(self, engine: Engine) -> None:
        """Takes another engine for the next runs; it is closed with this."""
        self.close()
        self._engine = engine

    def engine(self) -> Engine:
        """The engine of this window, on its own thread."""
        if self._engine is None:
            self._engine = Engine()
        return self._engine

    @property
    def running(self) -> bool:
        """A run goes on, paused or not."""
        return self._starting or self._handle is not None

    @property
    def busy(self) -> bool:
        """A run goes on, or something else that asks judges and keeps their answers in the project's store."""
        return self.running or bool(self._other)

    def occupy(self, what: str, stop: Callable[[], None]) -> None:
        """Other work asks judges from now on; until it ends no run can start and the project stays open. ``what``
        names it ("The bias lab"); ``stop`` ends it soon, upon which it calls :meth:`vacate`."""
        self._other, self._stop_other = what, stop
        self._ended.clear()
        self.changed.emit()

    def vacate(self) -> None:
        """The work that :meth:`occupy` announced has ended."""
        self._other = ""
        self._ended.set()
        self.changed.emit()

    @property
    def paused(self) -> bool:
        return self.running and self._run_state.live and self._run_state.state == "paused"

    @property
    def away(self) -> str:
        """What is said of endpoints that are not reached any more, for which the run pauses."""
        return " ".join(message for message in self._away.values() if message)

    @property
    def batches(self) -> str:
        """Where the batches stand that the run waits for; empty where it waits for none."""
        return "; ".join(self._batches.values())

    @property
    def stopping(self) -> bool:
        """The run was told to stop and has not ended yet."""
        return self._stopping

    def why_not(self) -> str:
        """Why no run can be started now, in words; empty where one can."""
        document = self._document
        if not document.is_open:
            return texts.OPEN_A_PROJECT_FIRST
        if self.running:
            return texts.RUN_IN_PROGRESS
        if self._other:
            return texts.other_work_in_progress(self._other)
        if document.read_only:
            return document.read_only
        if document.looks_elsewhere:
            return texts.JUDGED_IN_SHARDS
        if document.loading:
            return texts.PAIRS_STILL_LOADING
        if not document.pairs:
            return texts.NO_PAIRS_TO_JUDGE
        return self._mistake()

    def _mistake(self) -> str:
        """The first error of the design; looked for once for each design."""
        spec, profiles = self._document.spec, self._document.profiles
        if self._checked is None or self._checked[0] is not spec or self._checked[1] is not profiles:
            errors = (str(problem) for problem in check(spec, profiles) if problem.severity == "error")
            self._checked = (spec, profiles, next(errors, ""))
        return self._checked[2]

    def start(self, scope: Scope = "all") -> None:
        """Starts the document's network on its pairs, or goes on with the same run where it stopped: pairs that are
        done are not asked again, calls without an answer are. ``scope`` chooses among the pairs that are left."""
        why = self.why_not()
        if why:
            self._errors.post(why, texts.NO_RUN_WAS_STARTED, level="warning")
            return
        if unheld := self._unheld():
            self._errors.post(
                unheld, texts.NO_RUN_WAS_STARTED, MessageButton(texts.ENTER_THE_PRICE, self.limits_wanted.emit)
            )
            return
        self._starting = True
        self.changed.emit()
        self._task = self._tasks.start(self._start(scope), texts.START_THE_RUN)

    def _unheld(self) -> str:
        """Why a limit of money could not be held, in words; empty where it can."""
        if self.limits.max_price is None:
            return ""
        document = self._document
        try:
            models = unpriced_models(document.spec, load_prices(document.project.prices), document.profiles)
        except PriceError:
            return ""  # The start says so.
        if not models:
            return ""
        return texts.limit_not_held(no_price_words(models)[:-1], f"{self.limits.max_price:g} USD")

    async def _start(self, scope: Scope) -> None:
        document = self._document
        try:
            store = document.own_store
            assert store is not None
            document.save()
            start = start_of(
                document.project,
                document.pairs,
                document.profiles,
                folder=document.folder,
                dataset=document.dataset,
                limits=self.limits,
                stream=True,
                scope=scope,
                until=self.stop_wish.rule,
                auto_matches=self.stop_wish.auto_matches,
                batch=self.batch_wish,
            )
            if not await document.approvals.may_send(profiles_of(start)) or store is not document.own_store:
                return
            handle = await self._tasks.off_thread(self.engine().start, store, start, self._bridge.put)
        except _NO_START as error:
            self._errors.post_exception(error, texts.NO_RUN_WAS_STARTED)
            return
        finally:
            self._starting = False
            self.changed.emit()
        self._handle = handle
        self._forget_standing()
        resumes = any(state != "open" for state in handle.plan.states)
        self._run_state.begin(handle.run, start.spec, document.pairs, resumes=resumes)
        self._bridge.open()
        self.changed.emit()
        if self._stopping:
            handle.cancel()
        try:
            finished = await asyncio.wrap_future(handle.future)
        except Exception as error:
            finished = RunFinished(handle.run.id, "failed", str(error), 0, len(document.pairs))
            set_run_state(store, handle.run.id, "failed", finished.message)
            await self._tasks.off_thread(store.flush)
            self._bridge.put(finished)
        self._handle = None
        self._stopping = False
        self._forget_standing()
        self._bridge.close()
        self._say_end(finished, handle)
        self.changed.emit()

    def _forget_standing(self) -> None:
        """Clears the messages about endpoints and batches of another run."""
        self._away.clear()
        self._batches.clear()

    def _say_end(self, finished: RunFinished, handle: RunHandle) -> None:
        where = texts.run(handle.run.number)
        if finished.state in ("halted", "failed"):
            self._errors.post(finished.message, where, MessageButton(texts.RESUME, self.start))
        elif finished.state == "enough":
            self._errors.post(
                texts.to_judge_the_others(finished.message),
                where,
                MessageButton(texts.CHANGE_THE_RULE, self.limits_wanted.emit),
                level="note",
            )
        elif finished.state == "budget":
            left = texts.pairs_judged_and_kept(f"{finished.pairs_done:,}", plural(finished.pairs, "pair"))
            self._errors.post(
                texts.run_goes_on_with_as_much(finished.message, left),
                where,
                MessageButton(texts.CHANGE_THE_LIMITS, self.limits_wanted.emit),
                level="warning",
            )

    def pause(self) -> None:
        """Sends no further call; those on their way come in."""
        if self._handle is not None:
            self._handle.pause()

    def resume(self) -> None:
        """Goes on, and tries stopped endpoints again."""
        if self._handle is not None:
            self._handle.resume()

    def stop(self) -> None:
        """Ends the run within a second; what is finished is kept."""
        if self.running and not self._stopping:
            self._stopping = True
            if self._handle is not None:
                self._handle.cancel()
            self.changed.emit()

    async def stop_and_wait(self) -> None:
        """Ends the run and returns when it has ended, or after some patience."""
        self.stop()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=STOP_PATIENCE_S)
        if self._other:
            self._stop_other()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), STOP_PATIENCE_S)

    def close(self) -> None:
        """Ends the engine's thread."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _batches_changed(self, event: BatchesChanged) -> None:
        self._batches.pop(event.endpoint, None)
        if event.batches:
            self._batches[event.endpoint] = event.message
        self.changed.emit()

    def _endpoint_changed(self, event: EndpointChanged) -> None:
        # Most messages name their endpoint already.
        where = "" if event.message.startswith(event.endpoint) else event.endpoint
        if event.state == "stopped":
            self._errors.post(event.message, where, MessageButton(texts.TRY_AGAIN, self.resume))
        elif event.state == "failing":
            self._errors.post(event.message, where, level="warning")
        away = event.message if event.state == "away" else ""
        if away or event.state in ("open", "stopped"):
            self._away[event.endpoint] = away
            self.changed.emit()
