"""One attempt at a shard, on the worker's own disk: an ordinary engine, with a broker for what all workers share.

The store lies in a temporary folder of the worker. Every minute, and at the end, a copy of it replaces the one in the
shared folder, which is all that other workers, the next attempt, and figures read. So SQLite's journal never lies on a
network file system.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from judgenet.core.events import CallFinished, Event, PairFinished, RunFinished, RunStarted
from judgenet.core.project import Project
from judgenet.core.shards import SHARD_RECORD, Shard
from judgenet.engine.broker import AttemptAt, AttemptEnd, Beat, ModelAt, Orders
from judgenet.engine.budget import LeasedBudget, Used
from judgenet.engine.endpoints import open_approved
from judgenet.engine.session import Engine, OpenEndpoints, RunHandle, Start
from judgenet.engine.shard_desk import COPY_EVERY_S
from judgenet.engine.shard_disk import own_disk, put_end, put_store
from judgenet.engine.shard_events import ShardEventWriter
from judgenet.engine.shared_endpoints import SharedEndpoints
from judgenet.store.backup import store_sums
from judgenet.store.db import Store, StoreError
from judgenet.store.files import FileError, save_project, store_path
from judgenet.store.locate import RUN_PROJECT
from judgenet.store.runs import RunInfo, run_info, spent
from judgenet.store.secrets import scrub
from judgenet.store.shard_states import CONTROL, ShardReport, ShardStatus, read_shard_report, write_shard_report
from judgenet.version import __version__

_BEAT_EVERY_S: Final = 0.8
_BEAT_LEAST_S: Final = 0.02
_TELL_EVERY_S: Final = 2.0
_AHEAD_S: Final = 2.0
"""How many seconds' worth of calls a worker may begin before its next beat is answered, where there are limits."""
_AHEAD_LEAST, _AHEAD_MOST = 32, 1000

STATUS_OF_END: Final[dict[AttemptEnd, ShardStatus]] = {
    "done": "done",
    "budget": "waiting",
    "stopped": "waiting",
    "held": "waiting",
    "failed": "failed",
}
"""The state of a shard after its attempt ended."""

ENDS: Final[dict[str, AttemptEnd]] = {"done": "done", "budget": "budget", "cancelled": "stopped", "halted": "held"}
"""How an attempt ended, by the state of its run; any other has failed."""


class BrokerLink(Protocol):
    """The broker as a worker reaches it. A message that cannot be sent now is sent again until it can: each call
    waits."""

    def beat(self, beat: Beat) -> Orders: ...

    def kept(self, at: AttemptAt, sums: Used) -> bool: ...


@dataclass(frozen=True, slots=True)
class ShardJob:
    """What a worker needs to know of a shard. ``start`` and ``project`` are the shard's own; ``folder`` is its shared
    folder; ``models`` are all that the run asks, ``stood_in_for`` those that a stand-in follows. ``open_with`` opens
    the endpoints in place of the usual way. With ``events`` all events are written down."""

    shard: Shard
    start: Start
    project: Project
    folder: Path
    models: tuple[ModelAt, ...]
    workers: int
    stood_in_for: frozenset[ModelAt] = frozenset()
    copy_every_s: float = COPY_EVERY_S
    open_with: OpenEndpoints | None = None
    events: bool = False
    version: str = __version__


@dataclass(frozen=True, slots=True)
class ShardEnd:
    """How an attempt ended, what it used, and its message."""

    end: AttemptEnd
    used: Used
    message: str = ""


class UnfitMachine(StoreError):
    """This machine cannot judge shards of the run; others may."""


def machine_name() -> str:
    """The name of this machine and the number of this process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def work_shard(job: ShardJob, at: AttemptAt, link: BrokerLink) -> ShardEnd:
    """Judges a shard, continuing from what earlier attempts kept.

    :raises UnfitMachine: the machine has another JudgeNet, or does not share the folder of the shards.

    :raises StoreError: nothing can be kept on this machine.

    :raises FileError: nothing can be kept in the shared folder.
    """
    if job.version != __version__:
        raise UnfitMachine(
            f"{machine_name()}: JudgeNet {__version__} is installed here, {job.version} where the run was begun. "
            "Install the same on all machines."
        )
    require_shared(job.folder.parent)
    job.folder.mkdir(exist_ok=True)
    say_begun(job.folder, at)
    with own_disk(job.folder, job.start.salt) as folder:
        path = store_path(folder / RUN_PROJECT)
        save_project(job.project, folder / RUN_PROJECT, backup=False)
        with Store.open(path) as store:
            attempt = _Attempt(job, at, link, store)
            try:
                return attempt.run()
            finally:
                attempt.close()


class _Attempt:
    """An attempt under way, on the thread that talks with the broker."""

    def __init__(self, job: ShardJob, at: AttemptAt, link: BrokerLink, store: Store) -> None:
        self._job = job
        self._at = at
        self._link = link
        self._store = store
        self._wake = threading.Event()
        self._budget = LeasedBudget(job.start.limits, self._wake.set)
        self._endpoints = SharedEndpoints(
            job.open_with or open_approved, job.models, job.workers, self._wake.set, self._hold, job.stood_in_for
        )
        places = job.start.record[SHARD_RECORD]["places"]
        self._events = ShardEventWriter(store.path.parent, at, places) if job.events else None
        self._handle: RunHandle | None = None
        self._lost = False
        self._paused = False
        self._report = ShardReport("running", at[1], machine_name(), pairs=len(job.start.pairs))
        self._pairs_done = self._calls = self._unscored = 0
        self._price = 0.0
        self._unpriced = 0
        self._new = 0
        self._rate = 0.0

    def run(self) -> ShardEnd:
        """Runs the shard to its end, and keeps what it came to."""
        start = self._job.start
        with Engine(self._endpoints.open, self._budget) as engine:
            # What is there already was paid for before.
            self._link.kept(self._at, Used(*store_sums(self._store.path)))
            handle = self._handle = engine.start(self._store, start, self._hear)
            self._count(handle.run)
            self._follow(handle)
            finished: RunFinished = handle.future.result()
        self._store.flush()
        end = ENDS.get(finished.state, "failed")
        if self._lost or not self._keep(run_info(self._store, handle.run.id), end, scrub(finished.message)):
            return ShardEnd("failed", handle.used, "Another attempt took its place.")
        return ShardEnd(end, handle.used, scrub(finished.message))

    def close(self) -> None:
        """Ends what is written beside the store."""
        if self._events is not None:
            self._events.close()

    def _keep(self, run: RunInfo, end: AttemptEnd, message: str) -> bool:
        """Keeps the results of the shard; false where the attempt does not count any more."""
        self._publish(run, ended=True)
        if self._lost:
            return False
        self._count(run)
        self._say(0)
        self._tell(STATUS_OF_END[end], message if end != "done" else "")
        return True

    def _follow(self, handle: RunHandle) -> None:
        now = time.monotonic()
        last_beat = last_report = -1e9
        copied = counted_at = now
        counted = self._new
        while not handle.future.done():
            now = time.monotonic()
            if self._wake.is_set() or now - last_beat >= _BEAT_EVERY_S:
                self._wake.clear()
                last_beat = now
                self._beat(handle)
            if now - counted_at >= 1.0:
                self._rate = (self._new - counted) / (now - counted_at)
                counted, counted_at = self._new, now
            if now - last_report >= _TELL_EVERY_S:
                last_report = now
                self._tell("paused" if self._paused else "running")
            if now - copied >= self._job.copy_every_s and not self._lost:
                self._publish(handle.run, ended=False)
                self._count(handle.run)
                copied = time.monotonic()
            time.sleep(_BEAT_LEAST_S)
            self._wake.wait(_BEAT_EVERY_S / 4)

    def _beat(self, handle: RunHandle) -> None:
        in_flight = self._endpoints.in_flight
        short = self._budget.refused and in_flight == 0
        ahead = max(_AHEAD_LEAST, min(_AHEAD_MOST, int(self._rate * _AHEAD_S)))
        orders = self._say(ahead, short=short)
        if not orders.current:
            self._lost = True
            handle.cancel()
            return
        grown = self._endpoints.obey(orders.shares)
        if orders.allowed is not None:
            grown = self._budget.allow(orders.allowed) or grown
        if orders.exhausted and self._budget.waits:
            self._budget.exhaust(orders.exhausted)
            grown = True
        if orders.want == "stop":
            handle.cancel()
        elif orders.want == "pause" and not self._paused:
            self._paused = True
            handle.pause()
        elif orders.want == "run" and self._paused:
            self._paused = False
            handle.resume()
        if grown:
            handle.look_again()

    def _say(self, ahead: int, *, short: bool = False) -> Orders:
        begun, wants, single = self._budget.ask(ahead)
        figures = (self._pairs_done, self._calls, self._unscored, self._price, self._unpriced)
        return self._link.beat(Beat(self._at, begun, wants, single, short, *figures, self._endpoints.beats()))

    def _hold(self) -> None:
        """Holds the run where an endpoint stopped, until the broker says how to continue. On the engine's loop."""
        if self._handle is not None:
            self._paused = True
            self._handle.pause()

    # Counts

    def _hear(self, event: Event) -> None:
        """Counts the events since the store was counted. On the engine's loop."""
        if self._events is not None:
            self._events.write(event)
        if isinstance(event, CallFinished):
            if not event.cached:
                self._new += 1
                self._calls += 1
                self._unscored += event.status == "unscored"
                self._price += event.price or 0.0
                self._unpriced += event.price is None and event.attempts > 0
        elif isinstance(event, RunStarted):
            self._pairs_done = event.pairs_done
        elif isinstance(event, PairFinished):
            self._pairs_done += 1

    def _count(self, run: RunInfo) -> None:
        sums = spent(self._store, run)
        self._calls, self._unscored = sums.calls, sum(sums.unscored.values())
        self._price, self._unpriced = sums.price, sums.unpriced

    def _tell(self, state: ShardStatus, error: str = "") -> None:
        if self._lost:
            return
        if self._job.start.scope == "unscored" and self._handle is not None:
            # A call that is asked again takes the place of another.
            self._count(self._handle.run)
        report = replace(
            self._report,
            state=state,
            pairs_done=self._pairs_done,
            calls=self._calls,
            unscored=self._unscored,
            price=self._price,
            unpriced=self._unpriced,
            error=error,
            updated=time.time(),
        )
        # What cannot be told now is told again in two seconds.
        with contextlib.suppress(FileError):
            write_shard_report(self._job.folder, report)

    # Copies

    def _publish(self, run: RunInfo, *, ended: bool) -> None:
        """Replaces the copy of the store in the shared folder, at the end with the shard's matrix and manifest, and
        reports its content to the broker. An attempt that does not count any more keeps nothing."""
        if self._events is not None:
            self._events.put(self._job.folder)
        if not put_store(self._store, self._job.folder, self._proves):
            self._lost = True
        elif ended:
            put_end(self._store, run, self._job.folder)

    def _proves(self, copy: Path) -> bool:
        """Reports to the broker what a copy holds; true while the attempt still counts."""
        return self._link.kept(self._at, Used(*store_sums(copy)))


def require_shared(folder: Path) -> None:
    """Sees that the folder of the shards on this machine is the one that the run was begun in: what a worker kept in
    another would be lost.

    :raises UnfitMachine: it is not there, or is another.
    """
    if not (folder / CONTROL).exists():
        raise UnfitMachine(
            f"{machine_name()}: {folder} is not there, or not the one of the run. All machines must share it at the "
            "same path: put the project on a shared disk."
        )


def say_begun(folder: Path, at: AttemptAt) -> None:
    """Reports which machine has taken a shard, before anything there can fail."""
    known = read_shard_report(folder) or ShardReport("waiting")
    begun = replace(known, state="running", attempt=at[1], worker=machine_name(), error="", updated=time.time())
    with contextlib.suppress(FileError):
        write_shard_report(folder, begun)


def say_failed(folder: Path, state: ShardStatus, attempt: int, error: str) -> None:
    """Reports the failure of a shard whose worker cannot do so any more."""
    known = read_shard_report(folder) or ShardReport("waiting")
    with contextlib.suppress(OSError, FileError):
        folder.mkdir(parents=True, exist_ok=True)
        write_shard_report(folder, replace(known, state=state, attempt=attempt, error=error, updated=time.time()))
