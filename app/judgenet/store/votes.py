"""What each neuron of a recorded run said of each pair, as an array."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgenet.core.calls import ROLES_LAYER
from judgenet.core.network import NetworkSpec
from judgenet.core.pairs import Pair
from judgenet.store.db import Store
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo, call_heads, run_pairs

_SIGN = {"a": 1.0, "b": -1.0, "tie": 0.0}


@dataclass(frozen=True, slots=True)
class NeuronVotes:
    """``votes[pair, neuron]`` is the mean over the valid calls of +1 (A), -1 (B) and 0 (tie), NaN without one.

    ``names`` are unique; ``places`` say each neuron's layer and number, both from 1. ``pairs`` are those whose calls
    are in.
    """

    pairs: tuple[Pair, ...]
    names: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    votes: NDArray[np.float64]


def neuron_name(spec: NetworkSpec, layer: int, neuron: int) -> str:
    """The name of a neuron, both counted from 1: the role that it has on every pair, else ``l1.n2``. In a network of
    several layers a role is preceded by the layer: ``l2.Accuracy``."""
    of = spec.layers[layer - 1]
    role = None if of.adaptive or neuron > len(of.neurons) else of.neurons[neuron - 1].role
    if role is None and spec.roles.kind == "fixed" and neuron <= len(spec.roles.roles):
        role = spec.roles.roles[neuron - 1]
    if role is None:
        return f"l{layer}.n{neuron}"
    return role.name if spec.depth == 1 else f"l{layer}.{role.name}"


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
    names = [neuron_name(spec, *place) for place in places]
    twice = {name for name in names if names.count(name) > 1}
    unique = tuple(
        f"{name} (l{layer}.n{neuron})" if name in twice else name
        for name, (layer, neuron) in zip(names, places, strict=True)
    )
    return NeuronVotes(tuple(of.pair for of in finished), unique, places, votes)
