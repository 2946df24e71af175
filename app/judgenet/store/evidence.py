"""A random sample of what neurons wrote, to compare their texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from judgenet.core.evaluation import Evaluation
from judgenet.stats.diversity import Evidence
from judgenet.store.columns import NeuronPlace
from judgenet.store.db import Store
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo, pair_call_rows, pair_states

SAMPLED_PAIRS = 100
SAMPLED_NEURONS = 8


@dataclass(frozen=True, slots=True)
class Sampled:
    """Which pairs' evidence is read: ``pairs`` (places in the run) of ``n_total`` finished ones, and in each layer the
    neurons at ``neurons`` (from 1), in one order a pair."""

    pairs: tuple[int, ...]
    n_total: int
    neurons: tuple[int, ...]
    seed: int


def sample_evidence(
    store: Store,
    run: RunInfo,
    pairs: int = SAMPLED_PAIRS,
    neurons: int = SAMPLED_NEURONS,
    seed: int = 0,
) -> Sampled:
    """A random sample of finished pairs and of places of neurons. The places are the same in all layers, so that a
    neuron can be compared with itself."""
    rng = np.random.default_rng(seed)
    finished = [index for index, state in enumerate(pair_states(store, run)) if state != "open"]
    chosen = rng.permutation(len(finished))[:pairs]
    (width,) = store.reader.execute(
        "SELECT coalesce(max(neuron), 0) FROM run_calls WHERE run=? AND layer BETWEEN 1 AND ?",
        (run.number, network_of(run).depth),
    ).fetchone()
    places = rng.permutation(width)[:neurons] + 1
    return Sampled(
        tuple(sorted(finished[int(place)] for place in chosen)),
        len(finished),
        tuple(sorted(int(place) for place in places)),
        seed,
    )


def evidence_of(store: Store, run: RunInfo, sampled: Sampled) -> Iterator[Evidence]:
    """What the sampled neurons wrote of the sampled pairs, pair by pair: of each pair in one order, drawn by the
    seed, and of each neuron its first valid sample."""
    rng = np.random.default_rng(sampled.seed)
    neurons, depth = frozenset(sampled.neurons), network_of(run).depth
    for pair in sampled.pairs:
        rows = [
            row
            for row in pair_call_rows(store, run, pair)
            if row.site.order is not None
            and 1 <= row.site.layer <= depth
            and row.site.neuron in neurons
            and isinstance(row.result, Evaluation)
        ]
        orders = sorted({row.site.order for row in rows if row.site.order is not None})
        if not orders:
            continue
        order = orders[int(rng.integers(len(orders)))]
        taken: set[NeuronPlace] = set()
        for row in rows:
            place = (row.site.layer, row.site.neuron)
            if row.site.order == order and place not in taken and isinstance(row.result, Evaluation):
                taken.add(place)
                yield Evidence(pair, *place, order, row.result.evidence)
