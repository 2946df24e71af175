"""How many calls of a run stand-ins answered, from the record of each call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from judgenet.core.calls import ROLES_LAYER, CallSite
from judgenet.core.network import (
    NetworkSpec,
    Settings,
    asked_settings,
    chair_settings,
    neuron_settings,
    role_settings,
    stand_ins,
)
from judgenet.store.db import Store
from judgenet.store.runs import RunInfo, stood_in_calls


class StoodIn(NamedTuple):
    """A neuron and a model that answered in its place: ``calls`` of the ``answered`` ones. Layer 0 generates roles, the
    layer after the last is the chair."""

    layer: int
    neuron: int
    endpoint: str
    model: str
    calls: int
    answered: int


def stood_in_counts(store: Store, run: RunInfo, spec: NetworkSpec) -> tuple[tuple[StoodIn, ...], int]:
    """The neurons for which stand-ins answered calls, by layer, neuron, endpoint and model; and how many calls of the
    run were answered, by whomever. Nothing is counted in a network that names no stand-in."""
    if not any(settings.stand_in for settings in asked_settings(spec)):
        return (), 0
    rows = store.reader.execute(
        "SELECT layer, neuron, endpoint, model, count(*) FROM run_calls WHERE run=? AND call_id IS NOT NULL "
        "GROUP BY layer, neuron, endpoint, model ORDER BY layer, neuron, endpoint, model",
        (run.number,),
    ).fetchall()
    answered: Counter[tuple[int, int]] = Counter()
    for layer, neuron, _, _, calls in rows:
        answered[layer, neuron] += calls
    stood_in = tuple(
        StoodIn(layer, neuron, endpoint, model, calls, answered[layer, neuron])
        for layer, neuron, endpoint, model, calls in rows
        if stands_in(settings_at(spec, layer, neuron), endpoint, model)
    )
    return stood_in, answered.total()


def stood_in_sites(store: Store, run: RunInfo, spec: NetworkSpec) -> Iterator[CallSite]:
    """The calls of a run that stand-ins answered."""
    models = {
        (stand_in.endpoint or "", stand_in.model or "") for own in asked_settings(spec) for stand_in in stand_ins(own)
    }
    if models:
        for site, by in stood_in_calls(store, run, models).items():
            if stands_in(settings_at(spec, site.layer, site.neuron), *by):
                yield site


def settings_at(spec: NetworkSpec, layer: int, neuron: int) -> Settings:
    """The settings in force for a call by layer and neuron as in its site."""
    if layer == ROLES_LAYER:
        return role_settings(spec)
    if layer > spec.depth:
        return chair_settings(spec)
    return neuron_settings(spec, layer - 1, neuron - 1)


def stands_in(settings: Settings, endpoint: str, model: str) -> bool:
    """Whether a call with these settings was answered by one of its stand-ins."""
    own = (settings.endpoint, settings.model) == (endpoint, model)
    return not own and any(
        (stand_in.endpoint, stand_in.model) == (endpoint, model) for stand_in in settings.stand_in or ()
    )
