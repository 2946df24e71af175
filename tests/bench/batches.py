"""A large run by batches: memory, time and counts, with the judge in a process of its own.

``python -m tests.bench.batches --pairs 10000`` prints a line of JSON for a tenth of the pairs and one for all of them:
the peak memory must not grow with the pairs, and nothing may be paid for twice.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import Role, Settings
from judgenet.core.pairs import Pair
from judgenet.core.plan import PriceTable
from judgenet.core.presets import network
from judgenet.core.prompts import PromptBook
from judgenet.engine.batches import BatchChoice
from judgenet.engine.session import Engine, Start, with_models
from judgenet.store.db import Store
from tests.e2e.command import ask
from tests.fakes.judge_server import judge_process

_WORDS = "The response names the cause, weighs two ways to mend it, and says which of them it would take, and why. "


class Memory:
    """How much the process's own memory grows at most, in MB; the store's file that is mapped into it apart."""

    def __init__(self) -> None:
        self._first = self._most = self._now()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    @staticmethod
    def _now() -> float:
        found = re.search(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text())
        assert found is not None
        return int(found[1]) / 1024

    def _look(self) -> None:
        while not self._ended.wait(0.05):
            self._most = max(self._most, self._now())

    def stop(self) -> float:
        self._ended.set()
        self._thread.join()
        return self._most - self._first


def judged(url: str, count: int, size: int) -> dict[str, float]:
    """Runs so many layers of as many neurons over ``count`` pairs in this process."""
    roles = (Role("Correctness", "Is it right?"), Role("Clarity", "Is it clear?"))[:size]
    profile = EndpointProfile("lab", base_url=f"{url}/v1", model="judge")
    settings = Settings(endpoint="lab", temperature=0.0)
    spec = with_models(network(size, size, roles=roles, settings=settings), {"lab": profile})
    pairs = [Pair(f"p{i}", f"Question {i}?", f"{i}. {_WORDS * 5}", f"{_WORDS * 4} {i}") for i in range(count)]
    start = Start(spec, pairs, PromptBook.default(), PriceTable(), {"lab": profile}, "salt", batch=BatchChoice())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.judgenet.db"
        memory = Memory()
        began, cpu = time.perf_counter(), time.process_time()
        with Store.open(path) as store, Engine() as engine:
            finished = engine.start(store, start, lambda event: None).future.result()
        assert finished.state == "done", finished.message
        seconds, used = time.perf_counter() - began, time.process_time() - cpu
        store_mb = path.stat().st_size / 1e6
    grown = memory.stop()
    calls = 2 * size * size * count
    return {
        "pairs": count,
        "calls": calls,
        "seconds": round(seconds, 1),
        "cpu_ms_a_call": round(1e3 * used / calls, 2),
        "grown_mb": round(grown),
        "store_mb": round(store_mb),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="A large run by batches.")
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--size", type=int, choices=(1, 2), default=2, help="layers, and neurons of each")
    parser.add_argument("--child", metavar="URL", help="run in this process against this judge")
    given = parser.parse_args()
    if given.child:
        print(json.dumps(judged(given.child, given.pairs, given.size)))
        return
    for count in (given.pairs // 10, given.pairs):
        with judge_process("--keep", "none") as url:
            command = [sys.executable, "-m", "tests.bench.batches", "--child", url, "--pairs", str(count)]
            command += ["--size", str(given.size)]
            found = json.loads(
                subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ).stdout
            )
            stats = ask(url, "stats")
        found |= {name: stats[name] for name in ("batches", "batch_answers", "paid", "paid_again")}
        print(json.dumps(found))
        assert (found["paid"], found["paid_again"]) == (found["calls"], 0)


if __name__ == "__main__":
    main()
