"""Shards on Ray with workers and broker killed again and again: ``python -m tests.bench.cluster``.

Every call goes to a simulated endpoint in the worker's own process, which notes in a log of the process that it was
asked (and paid) before it answers; so that nothing but JudgeNet is measured, and the log knows what was paid whoever
died. Printed are calls lost, paid twice, the limit, figures against those of the undivided run, calls a second and CPU
of one and two workers, and the memory of the workers over time. ``--calls`` makes it smaller.

``--bookkeeping`` simulates the books of 10⁸ calls: leases, manifests and matrices, without texts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import Settings
from judgenet.core.pairs import Pair
from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.core.roles import roles_for
from judgenet.core.schemas import ReplyForm
from judgenet.engine.budget import Limits
from judgenet.engine.divided_run import ClusterOptions, DividedRun
from judgenet.engine.options import RunOptions
from judgenet.engine.ports import ChatReply, ChatRequest, Endpoint, EndpointState, OnText, Usage
from judgenet.engine.prepare import Setup, prepare
from judgenet.engine.ray_shards import RayRun, RayShards, joined
from judgenet.engine.session import Engine
from judgenet.figures.metrics import run_metrics
from judgenet.formats import write_pairs
from judgenet.store.db import Store
from judgenet.store.files import save_project
from judgenet.store.locate import find_store
from judgenet.store.runs import run_info
from judgenet.store.shard_states import ShardReports, ShardsReport
from judgenet.store.shards import read_shards
from judgenet.store.taught import fair_frame
from tests.bench.bookkeeping import bookkeeping

WIDTH, DEPTH = 4, 2
CALLS_A_PAIR = WIDTH * DEPTH * 2
UNLIMITED = Limits()
_LOG = "JUDGENET_BENCH_LOG"
_LATENCY = "JUDGENET_BENCH_LATENCY"
_TEXT = "The first response answers the question in plain words and gives a reason; the second leaves half of it out. "
_KEY_BYTES = 16


# The endpoint


class Simulated:
    """An endpoint that answers by the key of the request, after noting it in the log of this process."""

    away_for = 0.0

    def __init__(self, name: str, concurrency: int) -> None:
        self.name = name
        self.concurrency = concurrency
        self._latency = float(os.environ.get(_LATENCY, "0.01"))
        folder = os.environ.get(_LOG)
        self._log = (
            None if folder is None else os.open(f"{folder}/{os.getpid()}.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        )

    def form(self, model: str) -> ReplyForm:
        return "json"

    def known(self, model: str) -> bool:
        return True

    async def chat(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        key = bytes.fromhex(request.key)[:_KEY_BYTES]
        if self._log is not None:
            os.write(self._log, key)
        await asyncio.sleep(self._latency)
        mark = zlib.crc32(key)
        text = json.dumps({"evidence": f"{_TEXT}{mark:08x}", "score_1": 1 + mark % 10, "score_2": 1 + mark // 16 % 10})
        return ChatReply(text, "stop", "stop", "simulated", usage=Usage(686, 60), latency_s=self._latency)

    def learned(self, model: str) -> dict[str, Any]:
        return {}

    def pause(self) -> None:
        pass

    def resume(self) -> None:
        pass

    async def close(self) -> None:
        if self._log is not None:
            os.close(self._log)


def open_simulated(
    names: Iterable[str],
    profiles: Mapping[str, EndpointProfile],
    store: Store,
    folder: Path | None,
    on_state: Callable[[EndpointState], None],
) -> dict[str, Endpoint]:
    """As :data:`judgenet.engine.session.OpenEndpoints`."""
    return {name: Simulated(name, profiles[name].concurrency) for name in names}


# The study


def make_study(folder: Path, pairs: int, in_flight: int) -> Path:
    """A project of a network of 4 × 2 with fixed roles on so many pairs, two to a question, a tenth labelled."""
    folder.mkdir(parents=True)
    made = [
        Pair(
            f"p{i}",
            f"Question {i // 2}: why?",
            f"{i} " + _TEXT * 3,
            f"{i} other " + _TEXT * 3,
            human=("a", "b", "tie")[i % 3] if i % 10 == 0 else None,  # type: ignore[arg-type]
        )
        for i in range(pairs)
    ]
    write_pairs(made, folder / "pairs.jsonl", "jsonl")
    profile = EndpointProfile("bench", base_url="http://127.0.0.1:9/v1", model="bench", concurrency=in_flight)
    spec = network(WIDTH, DEPTH, roles=roles_for("general", WIDTH, "en"), settings=Settings("bench", "bench", 0.0))
    project = Project(
        name="study", network=spec, salt="5a" * 16, pairs=PairsSource(("pairs.jsonl",)), endpoints=(profile,)
    )
    save_project(project, folder / "study.judgenet")
    return folder / "study.judgenet"


def setup_of(project: Path, limits: Limits = UNLIMITED) -> Setup:
    setup = prepare(RunOptions(project=project))
    return replace(setup, start=replace(setup.start, limits=limits))


def figures_of(place: Path) -> dict[str, Any]:
    """The figures of a run without what tells when it was made, and at what price in time."""
    with Store.open(find_store(place), readonly=True) as store:
        found = run_metrics(store, fair_frame(store, run_info(store))).to_dict()
    return {name: value for name, value in found.items() if name not in ("run", "name", "note", "cost")}


def run_whole(project: Path) -> dict[str, float]:
    """The undivided run in this process: seconds, CPU seconds, and the most memory."""
    setup = setup_of(project)
    began, cpu = time.perf_counter(), time.process_time()
    with Store.open(setup.store_path) as store, Engine(open_simulated) as engine:
        handle = engine.start(store, setup.start, lambda event: None)
        state = handle.future.result().state
        if state != "done":
            raise RuntimeError(state)
    return {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - cpu,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


# Killing


def resident(pid: int) -> float:
    """Memory of a process in MB, 0 where it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        return 0.0


def cpu_of(pid: int) -> float:
    """CPU seconds of a process, 0 where it is gone."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Killer:
    """Kills workers (and once the broker) as the run goes on, and watches the memory of the workers. ``lost`` of the
    kills take the worker's disk along, as where a machine is gone."""

    folder: Path
    calls: int
    kills: int
    lost: int
    broker: bool
    done: int = 0
    broker_killed: bool = False
    memory: dict[int, list[float]] = field(default_factory=dict)
    cpu: dict[int, float] = field(default_factory=dict)
    looked: float = 0.0

    def __post_init__(self) -> None:
        self.reports = ShardReports(self.folder)
        self.rng = random.Random(1)

    def workers(self, most_attempts: int = 99) -> list[int]:
        """The processes of the workers whose shards have had no more attempts than this."""
        self.reports.look()
        running = [of for of in self.reports.by_shard.values() if of.state == "running" and of.attempt <= most_attempts]
        found = {int(of.worker.rpartition(":")[2]) for of in running}
        return [pid for pid in sorted(found) if resident(pid)]

    def step(self, shards: RayShards, report: ShardsReport) -> None:
        if time.monotonic() - self.looked > 2.0:
            self.looked = time.monotonic()
            for pid in self.workers():
                self.memory.setdefault(pid, []).append(resident(pid))
                self.cpu[pid] = cpu_of(pid)
        if self.broker and not self.broker_killed and report.calls > self.calls / 2:
            self.broker_killed = True
            os.kill(shards._ask("pid"), signal.SIGKILL)
        if self.done < self.kills and report.calls > (self.done + 1) * self.calls / (self.kills + 1):
            # A shard that was killed twice is left alone: a third time it is given up.
            pids = self.workers(2)
            if pids:
                pid = self.rng.choice(pids)
                os.kill(pid, signal.SIGKILL)
                self.done += 1
                if self.done <= self.lost:
                    for path in Path(tempfile.gettempdir()).glob("judgenet-*/run.judgenet.db*"):
                        # Only where nobody has it open: the one whose worker was killed.
                        if not _open_by(path, set(pids) - {pid}):
                            path.unlink(missing_ok=True)


def _open_by(path: Path, pids: set[int]) -> bool:
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                if Path(os.readlink(link)) == path:
                    return True
            except OSError:
                continue
    return False


@dataclass
class Measured:
    """What a run on Ray came to."""

    report: ShardsReport
    seconds: float
    killer: Killer
    asked: Counter[bytes]

    @property
    def sent(self) -> int:
        return self.asked.total()


def run_divided(
    project: Path,
    workers: int,
    *,
    shards: int,
    limits: Limits = UNLIMITED,
    kills: int = 0,
    lost: int = 0,
    broker: bool = False,
    copy_every: float = 60.0,
    latency: float = 0.01,
) -> Measured:
    """The run on a local Ray of so many workers."""
    log = project.parent / "log"
    log.mkdir()
    os.environ |= {_LOG: str(log), _LATENCY: str(latency)}
    # Workers find this module as this process does.
    os.environ["PYTHONPATH"] = os.pathsep.join([os.getcwd(), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    setup = setup_of(project, limits)
    divided = DividedRun(
        setup.start, setup.project, setup.project_path, ClusterOptions(workers, shards, copy_every, open_simulated)
    )
    planned = len(setup.start.pairs) * CALLS_A_PAIR
    killer = Killer(divided.folder, planned, kills, lost, broker)
    told: list[ShardsReport] = []
    with joined(None, workers) as ray:
        running = RayShards(ray, RayRun(divided.plan(), divided.of, divided.folder, divided.job), told.append)
        began = time.perf_counter()
        first: float | None = None
        shown = 0.0
        while (report := running.step()) is None:
            killer.step(running, told[-1])
            if first is None and told[-1].calls:
                first = time.perf_counter()
            if time.monotonic() - shown > 30:
                shown = time.monotonic()
                last = told[-1]
                print(
                    f"  {time.perf_counter() - began:6.0f} s  {last.calls:>9,} calls  {last.calls_per_second:6.0f}/s  "
                    f"{last.by_state}  killed {killer.done}",
                    flush=True,
                )
            del told[:-1]
        seconds = time.perf_counter() - (first or began)
        running.end()
    asked: Counter[bytes] = Counter()
    for path in log.iterdir():
        data = path.read_bytes()
        asked.update(data[at : at + _KEY_BYTES] for at in range(0, len(data) - _KEY_BYTES + 1, _KEY_BYTES))
    return Measured(report, seconds, killer, asked)


# What is printed


def proof(root: Path, calls: int, kills: int, lost: int, copy_every: float, in_flight: int) -> None:
    """Kills, and what they cost."""
    pairs = calls // CALLS_A_PAIR
    project = make_study(root / "divided", pairs, in_flight)
    make_study(root / "whole", pairs, in_flight)
    planned = pairs * CALLS_A_PAIR
    # With room for what is paid twice, and for what dead workers were allowed.
    limit = int(planned * 1.1) + 2000 + int(lost * copy_every * 1500)
    shards = max(2 * kills, pairs // 1000)
    print(
        f"{planned:,} calls, {pairs:,} pairs, {shards} shards, 2 workers, {in_flight} in flight, limit {limit:,} calls"
    )
    print(f"load at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    ran = run_divided(
        project, 2, shards=shards, limits=Limits(max_calls=limit), kills=kills, lost=lost, broker=True,
        copy_every=copy_every,
    )  # fmt: skip
    unique = len(ran.asked)
    killer = ran.killer
    state = read_shards(project.parent / "study.shards")
    kept = sum(shard.manifest.calls for shard in state.shards if shard.manifest is not None)
    print(f"ended: {ran.report.state} {ran.report.message}")
    broker = "once" if killer.broker_killed else "not"
    print(f"killed: {killer.done} workers ({lost} with their disk), the broker {broker}")
    print(f"{'lost' if state.complete else 'not done'}: {planned - kept:,} of {planned:,} calls")
    bound = (kills - lost) * 2 * in_flight
    print(
        f"paid twice: {ran.sent - unique:,} (in flight or not yet on disk at the kills: at most {bound:,}"
        + (f", and {lost} × {copy_every:.0f} s of calls of lost disks)" if lost else ")")
    )
    print(f"limit: {ran.sent:,} asked of {limit:,}: {'EXCEEDED' if ran.sent > limit else 'not exceeded'}")
    print(f"{planned / ran.seconds:,.0f} calls a second over all, {ran.seconds:,.0f} s")
    print(f"CPU of the workers: {1000 * sum(killer.cpu.values()) / max(1, ran.sent):.2f} ms a call, as far as seen")
    for pid, seen in killer.memory.items():
        if len(seen) >= 20:
            quarter = len(seen) // 4
            parts = [max(seen[at * quarter : (at + 1) * quarter]) for at in range(4)]
            told = ", ".join(f"{part:.0f}" for part in parts)
            print(f"memory of worker {pid} by quarters of {2 * len(seen)} s: {told} MB")
    compare(root, planned, kept)
    print(f"load at the end: {os.getloadavg()[0]:.1f}")


def compare(root: Path, planned: int, kept: int) -> None:
    """The shards beside the undivided run."""
    whole = json.loads(
        subprocess.run(
            [sys.executable, "-m", "tests.bench.cluster", "--whole", str(root / "whole" / "study.judgenet")],
            check=True, capture_output=True, text=True, env={**os.environ, _LATENCY: "0.01"},
        ).stdout
    )  # fmt: skip
    print(
        f"undivided: {planned / whole['seconds']:,.0f} calls a second, {1000 * whole['cpu'] / planned:.2f} ms CPU "
        f"a call, {whole['memory']:.0f} MB"
    )
    sizes = [sum(path.stat().st_size for path in (root / "divided" / "study.shards").glob(f"*-of-*/{name}")) for name in
             ("run.judgenet.db", "matrix.parquet", "pairs.parquet")]  # fmt: skip
    print(f"bytes a call: store {sizes[0] / kept:.0f}, matrix {sizes[1] / kept:.1f}, pairs {sizes[2] / kept:.1f}")
    began = time.perf_counter()
    found = figures_of(root / "divided" / "study.shards")
    print(f"index and figures of the shards: {time.perf_counter() - began:.0f} s")
    wanted = figures_of(root / "whole")
    different = [name for name in wanted if found.get(name) != wanted[name]]
    print(f"figures: {'equal to the undivided run in every value' if not different else f'DIFFERENT: {different}'}")


def short_budget(root: Path, calls: int) -> None:
    """Half of what is needed, under kills: the endpoint is never asked for more."""
    pairs = calls // CALLS_A_PAIR
    limit = pairs * CALLS_A_PAIR // 2
    project = make_study(root / "short", pairs, 32)
    ran = run_divided(project, 2, shards=6, limits=Limits(max_calls=limit), kills=5, copy_every=2.0)
    print(
        f"a limit of {limit:,} calls, 5 kills: {ran.sent:,} asked: "
        f"{'EXCEEDED' if ran.sent > limit else 'not exceeded'}; {ran.report.state}: {ran.report.message}"
    )


def speed(root: Path, calls: int) -> None:
    """One and two workers where neither the endpoint nor this machine's CPU is the limit: 32 calls in flight at each
    worker, 0.25 s a call."""
    pairs = calls // CALLS_A_PAIR
    rates, cpus = [], []
    for workers in (1, 2):
        project = make_study(root / f"speed{workers}", pairs * workers, 32 * workers)
        ran = run_divided(project, workers, shards=2 * workers, latency=0.25)
        rates.append(pairs * workers * CALLS_A_PAIR / ran.seconds)
        cpus.append(1000 * sum(ran.killer.cpu.values()) / ran.sent)
    print(
        f"1 worker {rates[0]:.0f} calls/s, 2 workers {rates[1]:.0f} calls/s: {rates[1] / rates[0]:.2f} times "
        f"(at most {32 / 0.25:.0f} a worker); CPU a call {cpus[0]:.2f} and {cpus[1]:.2f} ms; "
        f"load {os.getloadavg()[0]:.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--lost", type=int, default=0, help="how many of the kills take the worker's disk along")
    parser.add_argument("--copy-every", type=float, default=60.0)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--only", choices=("proof", "budget", "speed"))
    parser.add_argument("--bookkeeping", action="store_true")
    parser.add_argument("--whole", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.whole is not None:
        print(json.dumps(run_whole(given.whole)))
        return
    if given.bookkeeping:
        bookkeeping()
        return
    root = Path(tempfile.mkdtemp(prefix="jn-bench-"))
    try:
        if given.only in (None, "speed"):
            speed(root, min(given.calls, 8_000))
        if given.only in (None, "budget"):
            shutil.rmtree(root / "speed1", ignore_errors=True)
            short_budget(root, min(given.calls, 20_000))
        if given.only in (None, "proof"):
            proof(root, given.calls, given.kills, given.lost, given.copy_every, given.in_flight)
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
