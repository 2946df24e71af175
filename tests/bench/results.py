"""How long the figures of the page Results take, against plain loops over scikit-learn on the same data.

``python -m tests.bench.results`` prints ratios of CPU time within one run. The loop draws pairs and asks scikit-learn
for each resample; a few resamples are timed, and 5,000 are reckoned from them.

``python -m tests.bench.results --store [--against TREE]`` makes a store of as many pairs of 8 neurons in 2 orders,
opens it, and makes all figures of the page Results at once: CPU seconds, and what the run takes in memory. With
``--against`` the same by the code of another tree (a git worktree), in turns, and the ratios.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score  # type: ignore[import-untyped]

from judgenet.core.network import Aggregation
from judgenet.core.pairs import ORDERS
from judgenet.stats.agreement import agreement_of, position_of
from judgenet.stats.clustered import rates_over_questions
from judgenet.stats.comparison import compare, rate_difference
from judgenet.stats.curves import CODES, Codes, pair_counts
from judgenet.stats.intervals import RESAMPLES, agreements_intervals
from judgenet.stats.resampling import label_table, question_counts
from judgenet.stats.whatif import Calls, Subnetwork, answer
from tests.bench.report import make, same_text

LAYERS, NEURONS = 2, 4
SUBJECTS = 2 + LAYERS + LAYERS * NEURONS
"""The aggregations c1, c2 by layer and c2 of all, and the neurons."""
LOOP_RESAMPLES = 3
ROUNDS = 3
LEAST_RATIO = 100
PLAIN_CALLS = 10
WHAT_IF_MS = 100

METRICS: tuple[Callable[[Codes, Codes], float], ...] = (
    accuracy_score,
    lambda human, said: float(f1_score(human, said, average="macro")),
    cohen_kappa_score,
)


def made(pairs: int) -> tuple[Codes, list[Codes]]:
    """Labels and the verdicts of each subject, right on 60 to 80 %."""
    rng = np.random.default_rng(1)
    human = rng.choice([1, 2, 3], p=[0.45, 0.15, 0.4], size=pairs).astype(np.uint8)
    said = []
    for subject in range(SUBJECTS):
        right = rng.random(pairs) < 0.6 + 0.2 * subject / SUBJECTS
        said.append(np.where(right, human, rng.choice([1, 2, 3], size=pairs)).astype(np.uint8))
    return human, said


def page(questions: NDArray[np.int64], human: Codes, said: list[Codes]) -> None:
    """All figures of the page: agreement with intervals for every subject, position, corrected win rates of one in ten
    labels, and the comparison of two aggregations."""
    found = [agreement_of(pair_counts(human, codes)) for codes in said]
    agreements_intervals(found, [label_table(questions, human, codes) for codes in said])
    for codes in said:
        position_of(pair_counts(codes, said[0]))
    label = np.where(np.arange(len(human)) % 10 == 0, human, 0).astype(np.uint8)
    rates_over_questions(question_counts(questions, said[0], label), "random")
    by_question = question_counts(questions, human, said[0], said[1])
    cells = {
        (CODES[h], CODES[one], CODES[other]): int(count)
        for (h, one, other), count in np.ndenumerate(by_question.sum(axis=0))
        if count
    }
    compare(cells, by_question=by_question)  # type: ignore[arg-type]
    rate_difference(cells, "random", by_question=by_question)  # type: ignore[arg-type]


def cpu(work: Callable[[], object]) -> float:
    """Seconds of CPU, of all threads."""
    before = time.process_time()
    work()
    return time.process_time() - before


def loop_once(human: Codes, said: list[Codes], rng: np.random.Generator) -> None:
    """One resample of the plain loop."""
    drawn = rng.integers(len(human), size=len(human))
    for codes in said:
        for metric in METRICS:
            metric(human[drawn], codes[drawn])


def results(pairs: int) -> bool:
    """Prints the ratios for so many pairs; false where a goal is missed."""
    human, said = made(pairs)
    rng = np.random.default_rng(2)
    loop = cpu(lambda: [loop_once(human, said, rng) for _ in range(LOOP_RESAMPLES)]) / LOOP_RESAMPLES * RESAMPLES
    plain = PLAIN_CALLS * cpu(lambda: [metric(human, codes) for codes in said for metric in METRICS])
    good = True
    for each in (1, 5):
        questions = np.arange(pairs) // each
        page(questions, human, said)
        mine = median(cpu(partial(page, questions, human, said)) for _ in range(3))
        words = "a question each" if each == 1 else f"{each} pairs a question"
        print(
            f"{pairs:,} pairs, {words}: {mine:.2f} s of CPU for {SUBJECTS} subjects; the loop {loop / mine:,.0f} times "
            f"that (reckoned from {LOOP_RESAMPLES} of {RESAMPLES:,} resamples); "
            f"{PLAIN_CALLS} plain calls a metric {plain / mine:.1f} times"
        )
        good &= loop / mine >= LEAST_RATIO and plain > mine
    return good


def what_if(pairs: int, neurons: int) -> bool:
    """Prints what an answer about a smaller network takes; false where it is too slow."""
    rng = np.random.default_rng(3)
    shape = (pairs, neurons, len(ORDERS), 1)
    differences = rng.integers(-4, 5, size=shape).astype(float)
    differences[rng.random(shape) < 0.02] = np.nan
    layers = np.repeat([1, 2], neurons // 2).astype(np.int64)
    human = rng.choice([0, 1, 2, 3], size=pairs).astype(np.uint8)
    good = True
    for each in (1, 5):
        calls = Calls(differences, np.ones(shape, dtype=bool), layers, human, np.arange(pairs) // each)
        for choice in (Subnetwork(2, neurons // 2, ORDERS, 1), Subnetwork(1, neurons // 4, ("ab",), 1)):
            for rule in ("c1", "c2_all"):
                answer(calls, choice, Aggregation(), rule)  # type: ignore[arg-type]
                took = 1000 * median(cpu(partial(answer, calls, choice, Aggregation(), rule)) for _ in range(5))
                print(
                    f"{pairs:,} pairs x {neurons} neurons, {each} a question, {choice.width} neurons of layer "
                    f"{choice.depth}, {rule}: {took:.0f} ms of CPU"
                )
                good &= took < WHAT_IF_MS
    return good


# Both trees run the same text: the figures by what the page calls, the others by the command that shows them. Trees of
# before the frame have none to be measured.
_OPENED = """
import contextlib, io, sys, time, tracemalloc
from pathlib import Path
from judgenet.cli.main import main
from judgenet.store.db import Store
from judgenet.store.results import network_of
from judgenet.store.runs import run_info
from judgenet.ui.results.state import FiguresRequest, _Work, compute_results

place = Path(sys.argv[1])
with Store.open(place, readonly=True) as store:
    run = run_info(store)
    request = FiguresRequest(network_of(run).aggregation, "c2_all", 5)
    at = time.process_time()
    compute_results(store, run, request, _Work(request, None))
    page = time.process_time() - at
    at = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        main(["metrics", str(place), "--json"])
    told = time.process_time() - at
    python = 0.0
    try:
        from judgenet.store.frame import RunFrame
    except ImportError:
        pass
    else:
        tracemalloc.start()
        frame = RunFrame.read(store, run)
        frame.table
        python = tracemalloc.get_traced_memory()[0] / len(frame)
print(f"{page:.2f} {told:.2f} {python:.0f}")
"""


def opened(pairs: int, against: Path | None) -> bool:
    """Prints what it takes to open a store and make all figures; false where a goal is missed."""
    here = Path(__file__).resolve().parents[2]
    trees = [here] if against is None else [against, here]
    took: dict[Path, list[list[float]]] = {tree: [] for tree in trees}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.judgenet.db"
        make(path, pairs, same_text(1))
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            # As version 0.1 wrote them, so that trees of before read them too.
            db.execute("UPDATE calls SET parameters=?", ('["judge", 0.0, 1024, null]',))
        for _ in range(ROUNDS):
            for tree in trees:
                place = Path(folder) / f"{len(took[tree])}.judgenet.db"
                shutil.copy(path, place)
                command = [sys.executable, "-c", _OPENED, str(place)]
                environment = os.environ | {"PYTHONPATH": str(tree / "app")}
                ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                took[tree].append([float(word) for word in ran.stdout.split()])
                place.unlink()
    middle = {tree: [median(column) for column in zip(*rows, strict=True)] for tree, rows in took.items()}
    page, told, python = middle[here]
    print(
        f"{pairs:,} pairs x 8 neurons x 2 orders: the page's figures {page:.2f} s, all of metrics {told:.2f} s of CPU; "
        f"the run in memory {python:.0f} bytes a pair with its ids and lists"
    )
    if against is None:
        return True
    before = middle[against]
    print(f"against {against.name}: page {page / before[0]:.2f} times, metrics {told / before[1]:.2f} times")
    return page <= before[0] and told <= before[1]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--store", action="store_true", help="open a store and make all figures of Results")
    options.add_argument("--against", type=Path, help="with --store: another tree, side by side")
    options.add_argument("--pairs", type=int, default=100_000)
    given = options.parse_args()
    if given.store:
        good = opened(given.pairs, given.against)
    else:
        good = results(given.pairs)
        good &= what_if(10_000, 32)
    print("All goals are reached." if good else "A goal is missed.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
