"""What each neuron of a recorded run said of each pair, as arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgenet.core.calls import ROLES_LAYER
from judgenet.core.evaluation import Reason
from judgenet.core.pairs import ORDERS, Pair
from judgenet.stats.curves import CODES
from judgenet.stats.whatif import Calls
from judgenet.store.db import Store
from judgenet.store.results import network_of, neuron_names, question_numbers
from judgenet.store.runs import RunInfo, call_heads, run_pairs

_TELL_EVERY = 5000
_SIGN = {"a": 1.0, "b": -1.0, "tie": 0.0}


@dataclass(frozen=True, slots=True)
class NeuronVotes:
    """``votes[pair, neuron]`` is the mean over the valid calls of +1 (A), -1 (B) and 0 (tie), NaN without one.

    ``names`` are unique; ``places`` say each neuron's layer and number, both from 1. ``pairs`` are those whose calls
    are in, ``indexes`` their places in the run.
    """

    pairs: tuple[Pair, ...]
    indexes: tuple[int, ...]
    names: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    votes: NDArray[np.float64]


def neuron_votes(store: Store, run: RunInfo) -> NeuronVotes:
    """The votes of a run's neurons on its finished pairs, without the chair's."""
    spec = network_of(run)
    finished = [of for of in run_pairs(store, run) if of.state != "open"]
    row = {of.index: place for place, of in enumerate(finished)}
    sums: dict[tuple[int, int, int], list[float]] = {}
    seen: set[tuple[int, int]] = set()
    for call in call_heads(store, run):
        if call.layer == ROLES_LAYER or call.layer > spec.depth or call.pair not in row:
            continue
        seen.add((call.layer, call.neuron))
        if call.verdict is not None:
            sums.setdefault((row[call.pair], call.layer, call.neuron), []).append(_SIGN[call.verdict])
    places = tuple(sorted(seen))
    column = {place: index for index, place in enumerate(places)}
    votes = np.full((len(finished), len(places)), np.nan)
    for (pair, layer, neuron), said in sums.items():
        votes[pair, column[layer, neuron]] = sum(said) / len(said)
    return NeuronVotes(
        tuple(of.pair for of in finished),
        tuple(of.index for of in finished),
        tuple(neuron_names(spec, places).values()),
        places,
        votes,
    )


def run_calls(
    store: Store, run: RunInfo, on_progress: Callable[[int, int], None] | None = None
) -> tuple[Calls, tuple[str, ...]]:
    """The calls of a run's neurons on its finished pairs, for questions about smaller networks; and their names.

    ``on_progress`` hears of how many pairs of how many the calls are read; what it raises ends the reading.
    """
    spec = network_of(run)
    finished = [of for of in run_pairs(store, run) if of.state != "open"]
    row = {of.index: place for place, of in enumerate(finished)}
    heads = []
    for number, call in enumerate(call_heads(store, run)):
        if on_progress is not None and number % _TELL_EVERY == 0:
            on_progress(row.get(call.pair, 0), len(finished))
        if call.order is not None and 1 <= call.layer <= spec.depth and call.pair in row:
            heads.append(call)
    places = tuple(sorted({(call.layer, call.neuron) for call in heads}))
    column = {place: index for index, place in enumerate(places)}
    samples = max((call.sample for call in heads), default=1)
    differences = np.full((len(finished), len(places), len(ORDERS), samples), np.nan)
    asked = np.zeros(differences.shape, dtype=bool)
    for call in heads:
        if call.order is None or call.reason == Reason.NOT_RECORDED:
            continue
        site = (row[call.pair], column[call.layer, call.neuron], ORDERS.index(call.order), call.sample - 1)
        asked[site] = True
        if call.score_a is not None and call.score_b is not None:
            differences[site] = call.score_a - call.score_b
        elif call.verdict is not None:
            differences[site] = _SIGN[call.verdict]
    human = np.array([CODES.index(of.pair.human) for of in finished], dtype=np.uint8)
    layers = np.array([layer for layer, _ in places], dtype=np.int64)
    questions = question_numbers(of.pair for of in finished)
    return Calls(differences, asked, layers, human, questions), tuple(neuron_names(spec, places).values())
