"""What is known of a recorded run by its record and its pairs: network, names of its neurons, questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from judgenet.core.learned import fixed_role
from judgenet.core.network import NetworkSpec
from judgenet.core.network_json import from_json
from judgenet.core.pairs import Pair, question_key
from judgenet.store.db import Store
from judgenet.store.runs import RunInfo, pair_states, run_pairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def network_of(run: RunInfo) -> NetworkSpec:
    """The network that a run recorded."""
    return from_json(run.record["network"])


def within_name(run: RunInfo, aggregation: str) -> str:
    """The name of the verdicts of an aggregation of a run, within which pairs are drawn: ``run-1/c1``."""
    return f"{run.id}/{aggregation}"


def neuron_names(spec: NetworkSpec, places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """A name for each neuron, given as (layer, neuron) from 1: the role that it has on every pair, with its layer
    before it where there are several (``l2.Accuracy``), else its place (``l1.n2``). Names are unique."""
    names: dict[tuple[int, int], str] = {}
    for layer, neuron in places:
        role = fixed_role(spec, layer, neuron)
        if role is None:
            names[layer, neuron] = f"l{layer}.n{neuron}"
        else:
            names[layer, neuron] = role if spec.depth == 1 else f"l{layer}.{role}"
    often = Counter(names.values())
    return {
        (layer, neuron): name if often[name] == 1 else f"{name} (l{layer}.n{neuron})"
        for (layer, neuron), name in names.items()
    }


def question_numbers(pairs: Iterable[Pair]) -> NDArray[np.int64]:
    """A number for the question of each pair, from 0 in the order in which questions come: what
    :func:`judgenet.stats.resampling.question_counts` counts by."""
    import numpy as np

    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(question_key(pair.question), len(numbers)) for pair in pairs], dtype=np.int64)


def common_pairs(first: tuple[Store, RunInfo], second: tuple[Store, RunInfo]) -> list[tuple[int, int]]:
    """The places in the first and in the second run of the pairs that both have: with the same id and the same content
    for a judge; in the order of the second."""
    (first_store, first_run), (second_store, second_run) = first, second
    if first_run.record.get("data_hash") and first_run.record.get("data_hash") == second_run.record.get("data_hash"):
        return [(index, index) for index in range(len(pair_states(first_store, first_run)))]
    mine = {
        run_pair.pair.id: (run_pair.index, bytes.fromhex(run_pair.pair.content_hash)[:16])
        for run_pair in run_pairs(first_store, first_run)
    }
    pairs = []
    for run_pair in run_pairs(second_store, second_run):
        index, content = mine.get(run_pair.pair.id, (-1, b""))
        if content == bytes.fromhex(run_pair.pair.content_hash)[:16]:
            pairs.append((index, run_pair.index))
    return pairs
