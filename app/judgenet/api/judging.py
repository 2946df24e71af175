"""Judging pairs from Python: nothing finished is lost, and nothing is paid for twice."""

from __future__ import annotations

import asyncio
import queue
import warnings
from collections.abc import AsyncIterator, Callable, Generator, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from judgenet.api.networks import Network
from judgenet.api.pairs import Pairs, PairsSourceLike, as_pairs
from judgenet.api.runs import Run, open_run
from judgenet.core.aggregate import aggregation_names
from judgenet.core.batches import parse_live_after
from judgenet.core.events import Event, RunFinished
from judgenet.core.network import NetworkSpec
from judgenet.core.pairs import Pair
from judgenet.core.project import PairsSource, new_salt
from judgenet.core.until import StopWish
from judgenet.engine.batches import BatchChoice
from judgenet.engine.budget import Limits
from judgenet.engine.endpoints import require_approved
from judgenet.engine.options import OptionError
from judgenet.engine.prepare import allow, ready_network, require_others_approved, run_project
from judgenet.engine.session import Engine, RunHandle, Start, endpoints_of
from judgenet.engine.setup import no_price_words, start_of, unpriced_models
from judgenet.formats import write_pairs
from judgenet.store.db import Store
from judgenet.store.files import load_project, save_project, store_path
from judgenet.store.locate import RUN_PROJECT
from judgenet.store.settings import SettingsError, profiles

if TYPE_CHECKING:
    import pandas as pd

    from judgenet.cli.progress import Reporter
    from judgenet.engine.bias import LabHandle

PAIRS_FILE = "pairs.jsonl"
"""The pairs of a run, written into its folder so that it can be opened and run again anywhere."""

_TICK_S = 0.1

PairsLike = Pairs | PairsSourceLike | Iterable[Pair]


class JudgingRequest(NamedTuple):
    """What is to be judged, into which folder, and when to stop."""

    pairs: PairsLike | pd.DataFrame
    network: Network | NetworkSpec
    out: Path
    limits: Limits
    limit: int | None
    stop: StopWish
    batch: BatchChoice | bool | None = None


def judge(
    pairs: PairsLike | pd.DataFrame,
    network: Network | NetworkSpec,
    *,
    out: str | Path,
    budget: float | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    limit: int | None = None,
    until: str | None = None,
    auto_matches: bool = False,
    batch: bool | None = None,
    live_after: str | None = None,
    engine: Literal["ray"] | None = None,
    workers: int | None = None,
    shards: int | None = None,
    address: str | None = None,
    progress: bool = True,
    on_event: Callable[[Event], object] | None = None,
) -> Run:
    """Judges pairs with a network, waits until that is done, and returns the run.

    The same call made again goes on where the run stopped. Ctrl+C (or the notebook's stop button) ends the run within a
    second, keeps what is finished, and returns the run as it stands. It also works inside a running event loop.

    Args:
        pairs: what :func:`judgenet.read_pairs` returns or accepts.
        network: what :meth:`Network.layers` or :func:`judgenet.load` returns.
        out: the folder of the run; it is made where it is missing.
        budget: stop before more money than this is spent (US dollars); the prices of all models must be known.
        max_calls: stop before more new calls than this.
        max_tokens: stop before more tokens (in and out) than this.
        limit: judge only this many pairs, the first ones.
        until: stop when enough is known, such as ``"c2_all excludes 50%"`` or ``"width <= 0.1"``, by intervals that are
            valid at any time. Pairs are then asked in drawn order; the others stay unasked, and a later call asks them.
        auto_matches: choose pairs as the run goes on, where the ranks of the systems that they name are least
            separated, and stop when they are.
        batch: ask by the endpoint's batches, at about half the price and within a day. A run that is stopped meanwhile
            (Ctrl+C, or the program ended) goes on with the same call. ``False`` asks live, and cancels batches that are
            still out; without it the run goes on as it was begun.
        live_after: with batches, when to cancel what is not back and ask it live: ``"18:00"``, ``"6h"`` or
            ``"2026-12-01T06:00"``.
        engine: ``"ray"`` divides the pairs into shards and judges them on the workers of a Ray cluster, or of this
            machine (``pip install 'judgenet[ray]'``). The run that is returned is that of the shards that have ended.
        workers: with Ray, shards that are judged side by side; all cores without it.
        shards: with Ray, into how many parts the questions are divided; about 2,000 pairs each without it.
        address: with Ray, a running one to join: ``"auto"``, ``"HOST:PORT"`` or ``"ray://…"``.
        progress: whether to show a live line on the terminal or in the notebook.
        on_event: is called with every event of the run (:mod:`judgenet.core.events`), on this thread; not with Ray.

    Raises:
        judgenet.core.network.NetworkError: the design cannot run.
        judgenet.engine.options.OptionError: options do not go together, or Ray cannot be used.
        judgenet.store.settings.SettingsError: an endpoint is not known, or lacks an address, a key or a price.
        judgenet.engine.endpoints.NotApproved: the network comes from a project file that wants to send a key, or pairs,
            to an address that you have not approved; nothing was sent.
        judgenet.formats.DataError: the pairs cannot be read.
        judgenet.core.until.UntilError: ``until`` cannot be used.
        judgenet.core.batches.BatchError: ``live_after`` cannot be read.
    """
    limits, stop = Limits(max_calls, max_tokens, budget), StopWish(until or "", auto_matches)
    asked = JudgingRequest(pairs, network, Path(out), limits, limit, stop, by_batch(batch, live_after))
    if engine is not None:
        if on_event is not None:
            raise OptionError("on_event: the events of a run on Ray stay with its workers. Leave it out.")
        return _judge_on_ray(JudgingFolder(asked), (address, workers, shards), progress)
    if (workers, shards, address) != (None, None, None):
        raise OptionError('workers, shards and address go with engine="ray".')
    with JudgingSession(asked) as session:
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        handle = session.start(events.put)
        with live_progress(session.start_value.pairs, progress) as reporter:
            if not follow_run(handle, events, reporter, on_event):
                handle.future.result()
        return session.finish(handle)


def _judge_on_ray(folder: JudgingFolder, options: tuple[str | None, int | None, int | None], progress: bool) -> Run:
    # Who judges on one machine needs none of it.
    from judgenet.cli.run_ray import RayOptions, judge_on_ray

    report, shards = judge_on_ray(
        folder.start_value, folder.project, folder.project_path, RayOptions(*options), quiet=not progress
    )
    if report.message:
        warnings.warn(f"{report.state}: {report.message}", stacklevel=3)
    return open_run(shards)


def by_batch(batch: bool | None, live_after: str | None) -> BatchChoice | bool | None:
    """Whether and how a run goes by batches.

    Raises:
        judgenet.core.batches.BatchError: the deadline cannot be read.
    """
    if batch is None and live_after is None:
        return None
    if batch is False:
        return False
    if live_after is not None:
        parse_live_after(live_after)
    return BatchChoice(live_after or "")


def follow_run(
    handle: RunHandle | LabHandle,
    events: queue.SimpleQueue[Event],
    reporter: Reporter,
    on_event: Callable[[Event], object] | None,
) -> bool:
    """Passes on the events of a run until it ends; false where no further event comes and the handle's future is done.
    The first Ctrl+C ends the run, a second one is raised."""
    stopping = False
    while True:
        try:
            try:
                event = events.get(timeout=_TICK_S)
            except queue.Empty:
                reporter.refresh()
                if handle.future.done() and events.empty():
                    return False
                continue
            reporter.take(event)
            if on_event is not None:
                on_event(event)
            if isinstance(event, RunFinished):
                return True
        except KeyboardInterrupt:
            if stopping:
                raise
            stopping = True
            handle.cancel()


def judge_async(
    pairs: PairsLike | pd.DataFrame,
    network: Network | NetworkSpec,
    *,
    out: str | Path,
    budget: float | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    limit: int | None = None,
    until: str | None = None,
    auto_matches: bool = False,
    batch: bool | None = None,
    live_after: str | None = None,
) -> LiveRun:
    """Like :func:`judge`, but without waiting: ``async for event in live`` yields the events, ``await live`` the run.

    The run begins when it is first awaited or iterated over. Cancelling the task that waits ends the run; what is
    finished is kept.
    """
    limits, stop = Limits(max_calls, max_tokens, budget), StopWish(until or "", auto_matches)
    choice = by_batch(batch, live_after)
    return LiveRun(JudgingRequest(pairs, network, Path(out), limits, limit, stop, choice))


class LiveRun:
    """A run in progress: an async iterator of its events, and awaitable for the finished :class:`Run`."""

    def __init__(self, asked: JudgingRequest) -> None:
        self._session = JudgingSession(asked)
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._handle: RunHandle | None = None
        self._run: Run | None = None

    def __await__(self) -> Generator[Any, None, Run]:
        return self._finished().__await__()

    async def _finished(self) -> Run:
        async for _ in self:
            pass
        assert self._run is not None
        return self._run

    async def __aiter__(self) -> AsyncIterator[Event]:
        if self._run is not None:
            return
        loop = asyncio.get_running_loop()

        def emit(event: Event) -> None:
            loop.call_soon_threadsafe(self._events.put_nowait, event)

        handle = self._handle = self._session.start(emit)
        try:
            ended = asyncio.wrap_future(handle.future)
            while True:
                waiting = asyncio.ensure_future(self._events.get())
                await asyncio.wait((waiting, ended), return_when=asyncio.FIRST_COMPLETED)
                if not waiting.done():
                    waiting.cancel()
                    ended.result()
                    break
                event = waiting.result()
                yield event
                if isinstance(event, RunFinished):
                    break
        finally:
            handle.cancel()
            with suppress(Exception):
                await asyncio.shield(asyncio.wrap_future(handle.future))
            self._run = self._session.finish(handle)
            self._session.close()

    def pause(self) -> None:
        """Pauses the run: no further call is sent."""
        if self._handle is not None:
            self._handle.pause()

    def resume(self) -> None:
        """Goes on after a pause, and tries endpoints that were stopped again."""
        if self._handle is not None:
            self._handle.resume()

    def cancel(self) -> None:
        """Ends the run within a second; what is finished is kept."""
        if self._handle is not None:
            self._handle.cancel()


class JudgingFolder:
    """A run's folder with its project and its pairs, and what the run is started with."""

    def __init__(self, asked: JudgingRequest) -> None:
        pairs, network, out, limits, limit, stop, batch = asked
        rule = stop.rule
        given = network if isinstance(network, Network) else Network(network)
        chosen = as_pairs(pairs)[:limit]
        self.project_path = out / RUN_PROJECT
        earlier = load_project(self.project_path) if self.project_path.exists() else None
        study = given.study
        known = profiles(given.endpoints, out if study is None else study.folder)
        spec = ready_network(given.spec, known, "model=…")
        self.project = run_project(
            out.absolute().name,
            spec,
            new_salt() if earlier is None else earlier.salt,
            PairsSource((PAIRS_FILE,)),
            known,
            prompts=dict(given.prompts),
        )
        self.start_value: Start = start_of(
            self.project,
            list(chosen),
            known,
            folder=out,
            dataset=chosen.dataset,
            limits=limits,
            until=rule,
            auto_matches=stop.auto_matches,
            batch=batch,
        )
        if rule is not None:
            rule.require_known(aggregation_names(spec))
        if limits.max_price is not None and (unknown := unpriced_models(spec, self.start_value.prices, known)):
            raise SettingsError(f"{no_price_words(unknown)} A budget in money cannot be held without it.")
        if study is not None:
            require_approved(endpoints_of(spec), known, study.folder, study.project.salt, study.path)
        else:
            # What the program itself describes is approved by that; what a .env in the folder says is not.
            require_others_approved(self.start_value, given.endpoints)
        allow([known[name] for name in endpoints_of(spec)], out, self.project.salt)
        out.mkdir(parents=True, exist_ok=True)
        write_pairs(self.start_value.pairs, out / PAIRS_FILE, "jsonl")
        save_project(self.project, self.project_path)


class JudgingSession(JudgingFolder):
    """A run's folder with its store open, and the engine."""

    def __init__(self, asked: JudgingRequest) -> None:
        super().__init__(asked)
        self.store = Store.open(store_path(self.project_path))
        self.engine = Engine()

    def start(self, emit: Callable[[Event], None]) -> RunHandle:
        """Starts the run, or goes on with it; ``emit`` is called on the engine's thread."""
        return self.engine.start(self.store, self.start_value, emit)

    def finish(self, handle: RunHandle) -> Run:
        """The run as it is kept."""
        self.store.flush()
        return Run(store_path(self.project_path), handle.run.id)

    def close(self) -> None:
        """Ends the engine and closes the store."""
        self.engine.close()
        self.store.close()

    def __enter__(self) -> JudgingSession:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def live_progress(pairs: Iterable[Pair], shown: bool) -> Reporter:
    """The live line of a run on these pairs, which says nothing where it is not ``shown``."""
    from judgenet.cli.progress import Reporter
    from judgenet.cli.terminal import Terminal

    return Reporter(Terminal(stderr=True), [pair.id for pair in pairs], quiet=not shown, each_pair=False)
