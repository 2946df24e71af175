"""Shards of a run as tasks of Ray, with the broker as an actor: the only module that uses Ray.

A task judges one attempt at a shard with an ordinary engine (:mod:`judgenet.engine.shard_worker`). The broker writes
its journal and its reports beside the shards; where it is killed, Ray starts another, which continues from the journal.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from judgenet.core.shards import Shard
from judgenet.engine.broker import AttemptAt, Beat, Broker, BrokerPlan, Orders
from judgenet.engine.budget import Used
from judgenet.engine.options import OptionError
from judgenet.engine.shard_events import ShardEventReader
from judgenet.engine.shard_worker import (
    ShardEnd,
    ShardJob,
    UnfitMachine,
    require_shared,
    say_failed,
    work_shard,
)
from judgenet.store.db import StoreError
from judgenet.store.files import FileError
from judgenet.store.shard_states import (
    ShardsCommand,
    ShardsReport,
    Want,
    read_command,
    write_command,
    write_shards_report,
)

JOURNAL: Final = "broker.jsonl"
_LOCK: Final = "ray.lock"
_TICK_S: Final = 0.5
_KNOCK_S: Final = 10.0
_SHORT: Final = "/tmp"
_STORE_BYTES: Final = 200_000_000
"""Memory of a local Ray for what passes between processes: the pairs of the shards under way."""


class RayMissing(OptionError):
    """Ray cannot be used; the message says what to do."""


@dataclass(frozen=True, slots=True)
class RayRun:
    """A run on Ray. ``folder`` is the shared folder of its shards; ``job`` makes what a worker needs of a shard, by its
    number. ``begun_at`` tells it from earlier runs of the same shards; ``events`` takes in what the workers write
    down."""

    plan: BrokerPlan
    of: int
    folder: Path
    job: Callable[[int], ShardJob]
    begun_at: float = field(default_factory=time.time)
    events: ShardEventReader | None = None


class BrokerDesk:
    """The broker with its files: the journal, its reports, and the user's commands. It runs in a process of its own, as
    an actor of Ray, and is made again with the same values where it was killed."""

    def __init__(self, plan: BrokerPlan, folder: Path, of: int, begun_at: float) -> None:
        self._folder = folder
        self._of = of
        self._begun_at = begun_at
        require_shared(folder)
        path = folder / JOURNAL
        entries = _read_journal(path, begun_at)
        self._journal = open(path, "a" if entries is not None else "w", encoding="utf-8")  # noqa: SIM115 - as long as it
        if entries is None:
            self._record({"made": begun_at})
        self._broker = Broker(plan, self._record, entries or ())
        self._command: ShardsCommand | None = None

    def _record(self, entry: Mapping[str, Any]) -> None:
        # What was handed to the system survives a killed process: an entry is there before its answer is.
        self._journal.write(json.dumps(entry) + "\n")
        self._journal.flush()

    def pid(self) -> int:
        """The number of its process."""
        return os.getpid()

    def take(self, ticket: int) -> AttemptAt | None:
        return self._broker.take(ticket=ticket)

    def beat(self, beat: Beat) -> Orders:
        return self._broker.beat(beat)

    def kept(self, at: AttemptAt, sums: Used) -> bool:
        return self._broker.kept(at, sums)

    def ended(self, at: AttemptAt, end: ShardEnd) -> None:
        self._broker.ended(at, end.end, end.used, end.message)
        if end.end == "failed":
            self._say(at)

    def died(self, at: AttemptAt, why: str) -> None:
        self._broker.died(at, why)
        self._say(at)

    def _say(self, at: AttemptAt) -> None:
        state, attempt, error = self._broker.shard(at[0])
        say_failed(self._folder / Shard(self._of, at[0]).folder, state, attempt, error)

    def want(self, want: Want) -> None:
        self._broker.command(want)

    def tick(self) -> tuple[ShardsReport, bool]:
        """Takes in commands and what time brings; tells how all shards are, and whether nothing goes on any more."""
        command = read_command(self._folder)
        if command != self._command:
            if self._command is not None or command.want != "run":
                self._broker.command(command.want)
            self._command = command
        self._broker.tick()
        report = self._broker.report(self._begun_at)
        # The folder may be away for a while; it is told again in half a second.
        with suppress(FileError):
            write_shards_report(self._folder, report)
        return report, self._broker.over


def _read_journal(path: Path, begun_at: float) -> list[dict[str, Any]] | None:
    """The entries of the journal of the run that was begun at a time, ``None`` where there is none. Of an entry that
    was not written to its end nothing was said to anybody."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except OSError:
        return None
    entries = [json.loads(line) for line in lines if line.endswith("\n")]
    if not entries or entries[0].get("made") != begun_at:
        return None
    if lines and not lines[-1].endswith("\n"):
        path.write_text("".join(lines[:-1]), encoding="utf-8")
    return entries[1:]


class _ActorLink:
    """The broker as a worker reaches it: each call waits until a broker answers, this one or the next."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def _ask(self, name: str, *values: Any) -> Any:
        import ray

        while True:
            try:
                return ray.get(getattr(self._actor, name).remote(*values))
            except ray.exceptions.ActorUnavailableError:
                time.sleep(_TICK_S)

    def beat(self, beat: Beat) -> Orders:
        orders: Orders = self._ask("beat", beat)
        return orders

    def kept(self, at: AttemptAt, sums: Used) -> bool:
        return bool(self._ask("kept", at, sums))


@dataclass(frozen=True, slots=True)
class UnfitNode:
    """A node of Ray that cannot judge shards of the run, and why."""

    node: str
    why: str


def _task(job: ShardJob, at: AttemptAt, actor: Any) -> ShardEnd | UnfitNode:
    """A task of Ray: one attempt."""
    try:
        return work_shard(job, at, _ActorLink(actor))
    except UnfitMachine as error:
        import ray

        return UnfitNode(ray.get_runtime_context().get_node_id(), str(error))


def load_ray() -> Any:
    """Imports Ray, which only this module needs, without its usage statistics.

    :raises RayMissing: it is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise RayMissing(
            "--engine ray needs Ray, which is not installed. Install it with: pip install 'judgenet[ray]'. Without it, "
            "--shard K/N runs the parts of a study by Slurm, Kubernetes or GNU parallel."
        ) from None
    return ray


@contextmanager
def joined(address: str | None, workers: int) -> Iterator[Any]:
    """Ray, joined at an address, or a Ray of its own on this machine, which ends with it and leaves nothing behind.

    A Ray that the program has joined already is used as it is.

    :raises RayMissing: Ray is not installed, or nothing answers at the address.
    """
    if "ray" in sys.modules and load_ray().is_initialized():
        yield load_ray()
        return
    own = address is None and "RAY_ADDRESS" not in os.environ
    if own and "RAY_AUTH_MODE" not in os.environ:
        # Its ports are open to the network: who does not know the token gets no answer. Ray would keep one in the home.
        # It stays for the process, since Ray reads it once.
        os.environ["RAY_AUTH_MODE"], os.environ["RAY_AUTH_TOKEN"] = "token", secrets.token_hex(32)
    ray = load_ray()
    quiet = {"log_to_driver": False, "configure_logging": False}
    folder = None
    try:
        if own:
            # Short, as Ray's sockets lie in it: a temporary folder of macOS is too long for them.
            folder = tempfile.mkdtemp(prefix="jn-ray-", dir=_SHORT if os.path.isdir(_SHORT) else None)
            ray.init(
                num_cpus=workers, include_dashboard=False, _temp_dir=folder, object_store_memory=_STORE_BYTES, **quiet
            )
        else:
            named = address or os.environ["RAY_ADDRESS"]
            try:
                _knock(named)
                ray.init(address=named, **quiet)
            except (OSError, ValueError, ImportError, RuntimeError) as error:
                raise RayMissing(_no_cluster(named, error)) from None
        # Ray prints what befalls its processes on standard output, where figures go, and has no setting against that.
        ray._private.worker._worker_logs_enabled = False
        yield ray
    finally:
        ray.shutdown()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _knock(address: str) -> None:
    """Checks that something answers at the address of a machine: Ray itself tries for minutes.

    :raises OSError: nothing does.
    """
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_S).close()


def _no_cluster(address: str, error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    # Of a failure on the cluster's side the last line says what it was.
    words = f"{lines[0]} {lines[-1]}" if lines[0].endswith(":") and len(lines) > 1 else lines[0]
    absent = isinstance(error, ImportError) and "://" in address
    client = " An address that begins with ray:// needs pip install 'ray[client]'." if absent else ""
    return (
        f"--address {address}: no Ray can be joined there ({words}).{client} "
        "Start one with: ray start --head. Without --address one starts by itself."
    )


def workers_of(ray: Any) -> int:
    """How many tasks run in parallel."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


class RayShards:
    """A run on Ray. ``on_report`` gets the state of all shards, twice a second.

    :raises OptionError: another program is running these shards.

    :raises StoreError: the broker cannot write into their folder.
    """

    def __init__(self, ray: Any, run: RayRun, on_report: Callable[[ShardsReport], None]) -> None:
        self._ray = ray
        self._run = run
        self._on_report = on_report
        self._task = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(_task)
        run.folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(run.folder / _LOCK)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise OptionError(
                f"{run.folder}: another JudgeNet runs these shards. Watch it with judgenet status, or stop it first."
            ) from None
        write_command(run.folder, "run")
        # The shared folder is sure to be here or, through ray://, on the head; without that node the run ends anyway.
        here = {"ray.io/node-id": ray.get_runtime_context().get_node_id()}
        actor = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1, label_selector=here)(BrokerDesk)
        self.broker = actor.remote(run.plan, run.folder, run.of, run.begun_at)
        self.tasks: dict[Any, AttemptAt] = {}
        self._unfit: dict[str, str] = {}
        self._ticket = 0

    def _ask(self, name: str, *values: Any) -> Any:
        try:
            return self._ray.get(getattr(self.broker, name).remote(*values))
        except self._ray.exceptions.ActorDiedError as error:
            # A broker that was killed is replaced; one that cannot begin is not.
            words = _death_words(error)
            raise StoreError(
                f"{self._run.folder}: the broker of the run cannot go on ({words}). See that all machines can write "
                "there; the same command goes on from here."
            ) from None

    def _take(self) -> AttemptAt | None:
        # The broker may be killed when it has noted an attempt and not said so: the same ticket has the same answer.
        self._ticket += 1
        at: AttemptAt | None = self._ask("take", self._ticket)
        return at

    def stop(self) -> None:
        """Ends the run: workers keep what they have."""
        self._ask("want", "stop")

    def follow(self) -> ShardsReport:
        """Waits until all has ended. The first interrupt stops all workers cleanly, a second one leaves at once."""
        stopping = False
        while True:
            try:
                if (report := self.step()) is not None:
                    return report
            except KeyboardInterrupt:
                if stopping:
                    raise
                stopping = True
                self.stop()

    def step(self) -> ShardsReport | None:
        """Starts what can start, and handles what has ended; the last report where all has ended."""
        report, over = self._ask("tick")
        if self._unfit and not report.message:
            report = replace(report, message=f"Not used: {' '.join(self._unfit.values())}")
        self._on_report(report)
        if self._run.events is not None:
            self._run.events.look(self.tasks.values())
        if over and not self.tasks:
            return report  # type: ignore[no-any-return]
        while len(self.tasks) < self._run.plan.workers and (at := self._take()) is not None:
            self.tasks[self._task_elsewhere().remote(self._run.job(at[0]), at, self.broker)] = at
        if not self.tasks:
            time.sleep(_TICK_S)
            return None
        ended, _ = self._ray.wait(list(self.tasks), timeout=_TICK_S)
        for task in ended:
            at = self.tasks.pop(task)
            try:
                self._take_in(at, self._ray.get(task))
            except Exception as error:  # whatever a worker may die of
                self._ask("died", at, _death_words(error))
            if self._run.events is not None:
                self._run.events.end(at)
        return None

    def _take_in(self, at: AttemptAt, end: ShardEnd | UnfitNode) -> None:
        """Takes in how an attempt ended. A machine that is unfit gets no more shards and costs no shard a try, as long
        as there are others: it would take all of them, being free at once."""
        if isinstance(end, ShardEnd):
            self._ask("ended", at, end)
            return
        self._unfit[end.node] = end.why
        nodes = {node["NodeID"] for node in self._ray.nodes() if node["Alive"] and node["Resources"].get("CPU")}
        if nodes - set(self._unfit):
            self._ask("ended", at, ShardEnd("stopped", Used(0, 0, 0.0)))
        else:
            self._ask("died", at, end.why)

    def _task_elsewhere(self) -> Any:
        """The task, to be started on no machine that is unfit."""
        if not self._unfit:
            return self._task
        return self._task.options(label_selector={"ray.io/node-id": f"!in({','.join(self._unfit)})"})

    def end(self) -> None:
        """Ends the broker, and lets others run these shards."""
        self._ray.kill(self.broker)
        self._lock.release()


def _death_words(error: Exception) -> str:
    """Why an attempt ended without a report of its own, in a line."""
    cause = getattr(error, "cause", None)
    if cause is not None:
        error = cause
    if type(error).__name__ in ("WorkerCrashedError", "NodeDiedError", "OutOfMemoryError", "LocalRayletDiedError"):
        return {
            "WorkerCrashedError": "The worker's process was killed.",
            "OutOfMemoryError": "The worker's machine ran out of memory.",
        }.get(type(error).__name__, "The worker's machine is gone.")
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    words = lines[-1].strip() if lines else ""
    # What the program itself raises is whole sentences.
    return words if isinstance(error, StoreError | FileError) else f"{type(error).__name__}: {words}"
