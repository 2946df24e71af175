"""The verdicts of a recorded run pair by pair, through :func:`judgenet.core.aggregate.aggregate`: what the frame of a
run, which computes all pairs at once, is held against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from judgenet.core.aggregate import Opinion, PairVerdicts, aggregate
from judgenet.core.network import Aggregation
from judgenet.store.db import Store
from judgenet.store.results import network_of
from judgenet.store.runs import CallRow, RunInfo, RunPair, call_rows, run_pairs


@dataclass(frozen=True, slots=True)
class PairResult:
    """A pair of a run with its verdicts; ``verdicts`` is ``None`` while calls of the pair are outstanding."""

    pair: RunPair
    verdicts: PairVerdicts | None


def pair_calls(store: Store, run: RunInfo) -> Iterator[tuple[RunPair, list[CallRow]]]:
    """The pairs of a run in order with their calls, without evidence. Memory does not grow with the run."""
    calls = groupby(call_rows(store, run, evidence=False), key=lambda row: row.site.pair)
    index, rows = next(calls, (None, None))
    for pair in run_pairs(store, run):
        mine: list[CallRow] = []
        if index == pair.index and rows is not None:
            mine = list(rows)
            index, rows = next(calls, (None, None))
        yield pair, mine


def verdicts_of(pair: RunPair, calls: Sequence[CallRow], depth: int, rules: Aggregation) -> PairVerdicts | None:
    """The verdicts of a pair, ``None`` while calls of it are outstanding."""
    if pair.state == "open" or not calls:
        return None
    opinions = [
        Opinion(row.site.layer, row.site.neuron, row.site.order, row.site.sample, row.result)
        for row in calls
        if row.site.order is not None and row.result is not None
    ]
    return aggregate(opinions, depth, rules)


def pair_results(store: Store, run: RunInfo, rules: Aggregation | None = None) -> Iterator[PairResult]:
    """The pairs of a run in order with their verdicts, under the run's own aggregation rules or others."""
    spec = network_of(run)
    rules = rules or spec.aggregation
    for pair, calls in pair_calls(store, run):
        yield PairResult(pair, verdicts_of(pair, calls, spec.depth, rules))
