"""Shards: how late the window's ticks are while it watches thousands of them, and what a set costs at 10^6 calls.

    python -m tests.bench.shards [--only ticks|set] [--shards 3000] [--changing 300] [--seconds 30] [--calls 1000000]

Ticks: a precise timer of 16 ms on the interface's thread, with the window on the page Run of a project without
shards, and of one with shards, of which so many change their state or their progress each second, in turns. A process
of its own writes as much for both. Busy is the CPU time of the interface's thread between two ticks. Set: a run of so
many calls in one store, and the same calls in shards of 2,000 pairs, each ended with its matrix: time and memory of
making the index of the matrices, of all agreement figures from it and from the one store, and of merging. Figures of
both must be equal in every value. Stores are written directly: no judge is asked.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.bench.window import GOAL_P99_MS, TICK_MS, _environment, _late

PAIRS_A_SHARD: Final = 2000
CALLS_A_PAIR: Final = 16
EVERY_S: Final = 1.0
ROUNDS: Final = 3
"""Both windows are measured in turns, since the machine has other work too."""


# Ticks


def write_process(folder: str, shards: int, changing: int, seconds: float) -> None:
    """The process that lets shards change: so many tell something new each second, some of which end."""
    from judgenet.core.shards import Shard

    draw = random.Random(1)
    done = dict.fromkeys(range(1, shards + 1), 0)
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        began = time.monotonic()
        for index in draw.sample(range(1, shards + 1), changing):
            done[index] = min(2000, done[index] + draw.randrange(200))
            place = Path(folder) / Shard(shards, index).folder
            failed = draw.random() < 0.01
            state = "done" if done[index] == 2000 else "failed" if failed else "running"
            report = {
                "format": 1,
                "state": state,
                "attempt": 1,
                "worker": f"node-{index % 40}",
                "pairs_done": done[index],
                "pairs": 2000,
                "calls": 17 * done[index],
                "unscored": 3,
                "price": 0.01 * done[index],
                "error": "The endpoint is gone." if failed else "",
                "updated": time.time(),
            }
            draft = place / ".state.json"
            draft.write_text(json.dumps(report), encoding="utf-8")
            draft.replace(place / "state.json")
        time.sleep(max(0.0, EVERY_S - (time.monotonic() - began)))


def window_process(place: str, shards: int, changing: int, seconds: float) -> None:
    """The process with the window: prints one line of JSON."""
    import qasync
    from PySide6.QtCore import QObject, Qt, QTimer

    from judgenet.core.network import Settings
    from judgenet.core.presets import network
    from judgenet.core.project import PairsSource, Project
    from judgenet.core.shards import Shard
    from judgenet.store.files import save_project
    from judgenet.store.shard_states import ShardReport, write_shard_report
    from judgenet.ui.app import Studio, make_app

    class Ticks(QObject):
        """A precise timer that writes down how late it was, in ms."""

        def __init__(self) -> None:
            super().__init__()
            self.late: list[float] = []
            self.busy: list[float] = []
            self._next = self._used = 0.0
            self.timer = QTimer(self)
            self.timer.setTimerType(Qt.TimerType.PreciseTimer)
            self.timer.setInterval(TICK_MS)
            self.timer.timeout.connect(self._tick)

        async def measured(self, of: float) -> None:
            self._next, self._used = time.perf_counter() + TICK_MS / 1000, time.thread_time()
            self.timer.start()
            await asyncio.sleep(of)
            self.timer.stop()

        def _tick(self) -> None:
            now, used = time.perf_counter(), time.thread_time()
            self.busy.append((used - self._used) * 1000)
            self._used = used
            late = (now - self._next) * 1000
            self.late.append(max(0.0, late))
            # A tick that is missed is one late tick, not many.
            self._next = (self._next if late < TICK_MS else now) + TICK_MS / 1000

    (Path(place) / "pairs.jsonl").write_text(
        "".join(
            json.dumps({"id": f"p{i}", "question": f"q{i}", "response_a": "a", "response_b": "b"}) + "\n"
            for i in range(100)
        ),
        encoding="utf-8",
    )
    project = Project.new("Bench", network(4, 2, settings=Settings(model="m")), PairsSource(("pairs.jsonl",)))
    for name in ("plain", "study"):
        save_project(project, Path(place) / f"{name}.judgenet")
    # The other folder is written too while nobody looks at it: both windows have the same machine.
    for name in ("study.shards", "elsewhere"):
        for index in range(1, shards + 1):
            of = Path(place) / name / Shard(shards, index).folder
            of.mkdir(parents=True)
            if index % 3:
                write_shard_report(of, ShardReport("running", 1, "node-1", 1, 2000, 17, 0, 0.01, "", time.time()))
    app = make_app()
    app.setQuitOnLastWindowClosed(False)
    loop = qasync.QEventLoop(app)
    asyncio.set_event_loop(loop)
    told: dict[str, Any] = {}

    async def live() -> None:
        studio = Studio(app)
        window = studio.window
        window.resize(1440, 900)
        context = window.context
        found = {name: Ticks() for name in ("plain", "study")}
        used = dict.fromkeys(found, 0.0)
        for _ in range(ROUNDS):
            for name, folder in (("plain", "elsewhere"), ("study", "study.shards")):
                studio.show(Path(place) / f"{name}.judgenet")
                while not context.document.pairs or context.figures.stale:
                    await asyncio.sleep(0.05)
                context.navigator.go("run")
                arguments = ["--write", f"{place}/{folder}", str(shards), str(changing), str(seconds / ROUNDS + 6)]
                writer = await asyncio.create_subprocess_exec(sys.executable, "-m", "tests.bench.shards", *arguments)
                await asyncio.sleep(4)
                assert (context.shards.look is not None) == (name == "study")
                cpu = time.process_time()
                await found[name].measured(seconds / ROUNDS)
                used[name] += time.process_time() - cpu
                await writer.wait()
        for name, ticks in found.items():
            told[name] = {**_late(ticks.late), "busy": _late(ticks.busy)["p99"], "cpu": 100 * used[name] / seconds}
        await window.shut_down()

    loop.run_until_complete(live())
    print(json.dumps(told), flush=True)


def measure_ticks(shards: int, changing: int, seconds: float) -> None:
    """Runs the window in a process of its own and prints how late its ticks were."""
    with tempfile.TemporaryDirectory() as place:
        arguments = ["--window", place, str(shards), str(changing), str(seconds)]
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.shards", *arguments],
            env=_environment(Path(place)),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(done.stderr)
    told = json.loads(done.stdout.splitlines()[-1])
    print(f"\nlateness of a tick of {TICK_MS} ms, ms; {shards:,} shards, {changing:,} of them change each second")
    print(f"{'':<24}" + "".join(f"{head:>10}" for head in ("p50", "p99", "max", "busy p99", "ticks", "CPU %")))
    for name, title in (("plain", "no shards"), ("study", "shards")):
        row = told[name]
        print(
            f"{title:<24}{row['p50']:>10.1f}{row['p99']:>10.1f}{row['max']:>10.1f}{row['busy']:>10.1f}{row['ticks']:>10,}"
            f"{row['cpu']:>10.0f}"
        )
    print(f"goal: p99 <= {GOAL_P99_MS:.0f} with shards. Load of the machine: {os.getloadavg()[0]:.1f}")


# A set at scale


def make_store(path: Path, places: Sequence[int], pairs: Sequence[Any], whole: str, shard: Any) -> None:
    """A store with a run of some of the pairs, 16 calls each, drawn by the place of the pair in the whole."""
    from judgenet.core import network_json
    from judgenet.core.pairs import data_hash
    from judgenet.core.presets import network
    from judgenet.core.shards import SHARD_RECORD
    from judgenet.store.db import Store
    from judgenet.store.runs import start_run

    spec = network(4, 2)
    record: dict[str, Any] = {"network": network_json.to_json(spec), "pairs": len(pairs)}
    if shard is not None:
        about = {"whole": whole, "data_hash": data_hash(pairs), "pairs": len(pairs)}
        record[SHARD_RECORD] = {"index": shard.index, "of": shard.of, "places": list(places), **about}
    with Store.open(path) as store:
        run = start_run(store, whole if shard is None else str(shard), record, [pairs[place] for place in places])
        store.run_now(lambda db: _fill(db, run.number, places, shard))
        store.reader.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _fill(db: sqlite3.Connection, run: int, places: Sequence[int], shard: Any) -> None:
    db.execute("INSERT INTO texts (id, hash, body) VALUES (1, x'00', 'judge')")
    answers, calls, number = [], [], 0
    for local, place in enumerate(places):
        draw = random.Random(place)
        for layer in (1, 2):
            for neuron in (1, 2, 3, 4):
                for order in ("ab", "ba"):
                    number += 1
                    a, b = draw.randint(1, 10), draw.randint(1, 10)
                    verdict = "a" if a > b else "b" if b > a else "tie"
                    key = (place * CALLS_A_PAIR + number % CALLS_A_PAIR).to_bytes(32, "big")
                    answers.append((number, key, 900, 120, draw.random() / 100, draw.random() * 5, place))
                    calls.append((run, local, layer, neuron, order, number, verdict, float(a), float(b), place))
    db.executemany(
        "INSERT INTO calls (id, key, endpoint, model, form, parameters, system_id, shared_id, own, raw_text, "
        "finish_reason, tokens_in, tokens_out, tokens_cached, tokens_reasoning, tokens_estimated, price, latency_s, "
        "attempts, started_at) VALUES (?,?,'lab','m','json','[\"m\",0.0,1024,null]',1,1,'','The evidence of a judge, "
        "which says why it prefers one of the two responses.','stop',?,?,0,0,0,?,?,1,?)",
        answers,
    )
    db.executemany(
        "INSERT INTO run_calls (run, pair, layer, neuron, ord, sample, call_id, cached, status, verdict, score_a, "
        "score_b, evidence, endpoint, model, attempts, started_at) VALUES (?,?,?,?,?,1,?,0,'scored',?,?,?,'The "
        "evidence of a judge, which says why it prefers one of the two responses.','lab','m',1,?)",
        calls,
    )
    db.execute("UPDATE run_pairs SET state='done', calls_total=? WHERE run=?", (CALLS_A_PAIR, run))
    db.execute("UPDATE runs SET state='done', finished_at=1 WHERE number=?", (run,))


def made_set(place: Path, calls: int) -> None:
    """The run in one store, and in shards with their matrices."""
    from judgenet.core.pairs import Pair
    from judgenet.core.presets import network
    from judgenet.core.project import Project
    from judgenet.core.shards import Shard
    from judgenet.store.db import Store
    from judgenet.store.files import save_project
    from judgenet.store.runs import run_info
    from judgenet.store.shards import end_shard

    draw = random.Random(1)
    count = calls // CALLS_A_PAIR
    text = "A response of some sentences, as people write them. " * 4
    pairs = [
        Pair(f"p{i}", f"Question {i} of the benchmark?", text, text, human=draw.choice(("a", "b", "tie")))
        for i in range(count)
    ]
    make_store(place / "whole.judgenet.db", range(count), pairs, "bench", None)
    of = max(2, round(count / PAIRS_A_SHARD))
    project = Project.new("study", network(4, 2))
    save_project(project, place / "study.judgenet")
    took, ended = 0.0, 0
    for index in range(1, of + 1):
        shard = Shard(of, index)
        folder = place / "study.shards" / shard.folder
        folder.mkdir(parents=True)
        save_project(project, folder / "run.judgenet")
        places = shard.places(pairs)
        make_store(folder / "run.judgenet.db", places, pairs, "bench", shard)
        with Store.open(folder / "run.judgenet.db") as store:
            began = time.process_time()
            end_shard(store, run_info(store))
            took += time.process_time() - began
        ended += len(places) * CALLS_A_PAIR
    size = sum(path.stat().st_size for path in (place / "study.shards").glob("*/matrix.parquet"))
    print(
        f"\n{ended:,} calls in {of:,} shards: {1e6 * took / ended:.1f} µs of CPU a call to end a shard, "
        f"{size / ended:.1f} bytes a call in the matrix"
    )


def step_process(place: str, step: str) -> None:
    """One step in a process of its own: prints one line of JSON."""
    from judgenet.figures.metrics import run_metrics
    from judgenet.store.db import Store
    from judgenet.store.locate import find_store
    from judgenet.store.runs import run_info
    from judgenet.store.shards import merge_shards, read_shards
    from judgenet.store.taught import fair_frame

    def resident() -> float:
        # What getrusage tells holds the process that started this one.
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

    folder = Path(place)
    before, cpu, began = resident(), time.process_time(), time.perf_counter()
    figures: dict[str, Any] = {}
    if step == "index":
        find_store(folder / "study.judgenet")
    elif step == "merge":
        with Store.open(folder / "merged.judgenet.db") as into:
            merge_shards(read_shards(folder / "study.shards"), into)
    else:
        with Store.open(find_store(folder / f"{step}.judgenet"), readonly=True) as store:
            figures = run_metrics(store, fair_frame(store, run_info(store))).to_dict()
    told = {
        "cpu": time.process_time() - cpu,
        "s": time.perf_counter() - began,
        "mb": resident() - before,
        "figures": {name: value for name, value in figures.items() if name not in ("run", "name", "note")},
    }
    print(json.dumps(told), flush=True)


def measure_set(calls: int) -> None:
    """Prints time and memory of each step; ends with 1 where the figures differ."""
    with tempfile.TemporaryDirectory() as place:
        made_set(Path(place), calls)
        told: dict[str, Any] = {}
        steps = {
            "index": "index of the matrices",
            "study": "metrics from the index",
            "whole": "metrics of the one store",
            "merge": "merge into one store",
            "merged": "metrics of the merged store",
        }
        print(f"{'':<32}{'CPU s':>10}{'s':>10}{'MB':>10}{'µs a call':>12}")
        for step, title in steps.items():
            done = subprocess.run(
                [sys.executable, "-m", "tests.bench.shards", "--step", place, step],
                env=_environment(Path(place)),
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                sys.exit(done.stderr)
            row = told[step] = json.loads(done.stdout.splitlines()[-1])
            print(f"{title:<32}{row['cpu']:>10.1f}{row['s']:>10.1f}{row['mb']:>10.0f}{1e6 * row['cpu'] / calls:>12.1f}")
    ratio = told["study"]["cpu"] / told["whole"]["cpu"]
    again = (told["index"]["cpu"] + told["study"]["cpu"]) / told["whole"]["cpu"]
    print(f"metrics, set against one store: {ratio:.2f} × the CPU; {again:.2f} × where the index is made first")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    for step in ("study", "merged"):
        if told[step]["figures"] != told["whole"]["figures"]:
            sys.exit(f"the figures of {step} are not those of the one store")
    print("figures of the set, of the merged store and of the one store: equal in every value")


def main() -> None:
    given = sys.argv[1:2]
    if given == ["--write"]:
        folder, shards, changing, seconds = sys.argv[2:]
        write_process(folder, int(shards), int(changing), float(seconds))
        return
    if given == ["--window"]:
        place, shards, changing, seconds = sys.argv[2:]
        window_process(place, int(shards), int(changing), float(seconds))
        return
    if given == ["--step"]:
        step_process(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("ticks", "set"))
    parser.add_argument("--shards", type=int, default=3000)
    parser.add_argument("--changing", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--calls", type=int, default=1_000_000)
    options = parser.parse_args()
    if options.only in (None, "ticks"):
        measure_ticks(options.shards, options.changing, options.seconds)
    if options.only in (None, "set"):
        measure_set(options.calls)


if __name__ == "__main__":
    main()
