"""How long a report takes and how much memory, for runs of 1,000 and 10,000 pairs.

``python -m tests.bench.report`` prints, for each size: seconds of CPU to build, to reckon panels, weights and smaller
networks, to write HTML and PDF; and the peak of Python's memory while it builds, while it does all of that, and what
the texts of the run's pairs and calls weigh. Then the ratios of the last size to the first. Texts are read one pair at
a time: memory grows by the few numbers that are kept of a pair and of a call, and by nothing else.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from judgenet.core import network_json
from judgenet.core.calls import CallSite
from judgenet.core.evaluation import Evaluation, Reason, Unscored
from judgenet.core.network import LayerSpec, NetworkSpec, NeuronSpec, Role, RolesSpec, Settings
from judgenet.core.pairs import ORDERS, Pair, Verdict
from judgenet.store.db import Store
from judgenet.store.runs import Answer, Outcome, start_run, write_outcome, write_pair

WIDTH, DEPTH = 4, 2
LABELS: tuple[Verdict | None, ...] = ("a", "b", "tie", None)


def same_text(sentences: int = 12) -> Callable[[str], str]:
    """Texts that are all the same: so many sentences."""
    text = "A sentence of an answer that is neither long nor short. " * sentences
    return lambda _of: text


def make(path: Path, count: int, text: Callable[[str], str] | None = None) -> None:
    """A recorded run of ``count`` pairs, 16 calls each, written straight into a store; ``text`` makes each text, of a
    question, a response or an evaluation."""
    text = text or same_text()
    draw = random.Random(count)
    roles = tuple(Role(name) for name in ("Accuracy", "Clarity", "Completeness", "Safety"))
    spec = NetworkSpec(
        layers=tuple(LayerSpec(tuple(NeuronSpec() for _ in range(WIDTH))) for _ in range(DEPTH)),
        roles=RolesSpec(kind="fixed", roles=roles),
        settings=Settings(endpoint="fake", model="judge", temperature=0.0),
    )
    pairs = [
        Pair(
            f"p{i}",
            f"question {i}: {text('question')}",
            text("response"),
            text("response"),
            task=f"task {i % 15}",
            human=draw.choice(LABELS),
        )
        for i in range(count)
    ]
    with Store.open(path) as store:
        run = start_run(store, "bench", {"network": network_json.to_json(spec), "data_hash": "0" * 64}, pairs)

        def write(db: sqlite3.Connection) -> None:
            for index in range(count):
                for layer in range(1, DEPTH + 1):
                    for neuron in range(1, WIDTH + 1):
                        for order in ORDERS:
                            site = CallSite(index, layer, neuron, order, 1)
                            a, b = draw.randint(1, 10), draw.randint(1, 10)
                            verdict: Verdict = "a" if a > b else "b" if b > a else "tie"
                            said = text("evaluation")
                            result = (
                                Evaluation(said, verdict, a, b) if draw.random() > 0.01 else Unscored(Reason.TRUNCATED)
                            )
                            key = repr(site).encode()
                            answer = Answer(
                                key, "fake", "judge", "json", '["judge", 0.0, 1024, null]', "", said, "", said, "stop"
                            )
                            outcome = Outcome(site, result, "fake", "judge", roles[neuron - 1].name)
                            write_outcome(db, store, run.number, outcome, answer)
                write_pair(db, run.number, index, "done", roles, "", WIDTH * DEPTH * 2)

        store.put(write)
        store.flush()


_MEASURE = """
import sys, time, tracemalloc
from pathlib import Path
from judgenet.report.build import build
from judgenet.report.outline import outline
from judgenet.report.writers.html import html
from judgenet.report.writers.pdf import pdf
from judgenet.report.judge_analysis import deepen
from judgenet.store.db import Store
from judgenet.store.runs import run_info
from judgenet.store.taught import fair_frame

def whole(store):
    frame = fair_frame(store, run_info(store))
    return deepen(store, build(store, frame), frame)

with Store.open(Path(sys.argv[1]), readonly=True) as store:
    at = time.process_time()
    report = build(store, fair_frame(store, run_info(store)))
    built = time.process_time() - at
    at = time.process_time()
    report = whole(store)
    deep = time.process_time() - at
    at = time.process_time()
    page = html(outline(report))
    written = time.process_time() - at
    at = time.process_time()
    pages = pdf(outline(report))
    drawn = time.process_time() - at
    # The store is mapped into memory, which counts as the process's own: so what Python took is counted instead.
    tracemalloc.start()
    build(store, fair_frame(store, run_info(store)))
    memory = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.reset_peak()
    html(outline(whole(store)))
    most = tracemalloc.get_traced_memory()[1] / 1e6
    (pairs,) = store.reader.execute("SELECT sum(length(body)) FROM run_pairs JOIN pairs ON pair_row=id").fetchone()
    (calls,) = store.reader.execute("SELECT sum(length(own) + length(raw_text)) FROM calls").fetchone()
    texts = ((pairs or 0) + (calls or 0)) / 1e6
    print(f"{built:.2f} {deep:.2f} {written:.2f} {drawn:.2f} {memory:.1f} {most:.1f} {texts:.1f} "
          f"{len(page)} {len(pages)}")
"""


def main() -> None:
    """Makes runs in a temporary folder and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[1_000, 10_000])
    print("pairs    build s   all s     html s    pdf s     MB build  MB all    MB texts  html B    pdf B")
    found: list[list[float]] = []
    with tempfile.TemporaryDirectory() as folder:
        for size in parser.parse_args().sizes:
            path = Path(folder) / f"{size}.judgenet.db"
            at = time.monotonic()
            make(path, size)
            print(f"(run of {size:,} pairs made in {time.monotonic() - at:.0f} s)", file=sys.stderr)
            done = subprocess.run(
                [sys.executable, "-c", _MEASURE, str(path)], capture_output=True, text=True, check=True
            )
            found.append([float(value) for value in done.stdout.split()])
            print(f"{size:<8,}", *(f"{value:>9}" for value in done.stdout.split()))
    if len(found) > 1:
        ratios = (last / first if first else 0.0 for first, last in zip(found[0], found[-1], strict=True))
        print("ratio   ", *(f"{ratio:>9.2f}" for ratio in ratios))


if __name__ == "__main__":
    main()
