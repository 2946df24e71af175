"""One-click fixes: for a problem of a design the words of a button and the design without the problem."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from judgenet.core import design
from judgenet.core.aggregate import deciding_of_all, most_voters
from judgenet.core.checks import Problem
from judgenet.core.design import DesignPlace
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import (
    DEFAULTS,
    LayerSpec,
    NetworkSpec,
    NeuronSpec,
    Role,
    RolesSpec,
    Settings,
    designed_width,
    neuron_settings,
)
from judgenet.core.network_graph import design_graph
from judgenet.core.roles import library

_NEURON = re.compile(r"layers\[(\d+)\]\.neurons\[(\d+)\]\.?(.*)")
_LAYER = re.compile(r"layers\[(\d+)\]\.?(.*)")


@dataclass(frozen=True, slots=True)
class FixedDesign:
    """What a button says and the design that it makes."""

    words: str
    spec: NetworkSpec


def fix(
    spec: NetworkSpec, problem: Problem, endpoints: Mapping[str, EndpointProfile] | None = None
) -> FixedDesign | None:
    """The fix of a problem that :func:`~judgenet.core.checks.check` found in ``spec``; ``None`` where only a person
    can decide. ``endpoints`` as there."""
    path = problem.path
    neuron = _NEURON.fullmatch(path)
    layer = None if neuron else _LAYER.fullmatch(path)
    field = (neuron[3] if neuron else layer[2] if layer else path).removeprefix("settings.")
    place: DesignPlace
    if neuron:
        place = (int(neuron[1]), int(neuron[2]))
    elif layer:
        place = (int(layer[1]),)
    elif path.startswith("roles."):
        place = "roles"
    elif path.startswith("chair."):
        place = "chair"
    else:
        place = "network"
    if "stand_in[" in path:
        left = () if place != "network" else None
        return FixedDesign("Remove the stand-in", design.override(spec, place, stand_in=left))
    if path.endswith((".endpoint", ".model")) or field in ("endpoint", "model"):
        return _model(spec, place, field.rpartition(".")[2], endpoints)
    value = _values(spec, place, field)
    if value is not None:
        return value
    if isinstance(place, tuple) and len(place) == 2:
        return _of_neuron(spec, place[0], place[1], field)
    if isinstance(place, tuple):
        return _of_layer(spec, place[0], field)
    return _of_network(spec, path)


def _model(
    spec: NetworkSpec, place: DesignPlace, field: str, endpoints: Mapping[str, EndpointProfile] | None
) -> FixedDesign | None:
    """The model that most neurons have; the embedded one where none has."""
    used: Counter[tuple[str, str | None]] = Counter()
    for number, layer_spec in enumerate(spec.layers):
        for neuron in range(len(layer_spec.neurons)):
            settings = neuron_settings(spec, number, neuron)
            if _usable(settings, endpoints):
                used[settings.endpoint or "", settings.model] += 1
    if used:
        endpoint, model = used.most_common(1)[0][0]
    else:
        named = [profile for profile in (endpoints or {}).values() if profile.model and profile.kind != "replay"]
        wanted = design.settings_at(spec, place).over(spec.settings).endpoint if field == "model" else None
        own = [profile for profile in named if profile.name == wanted]
        if own:
            endpoint, model = own[0].name, own[0].model
        elif endpoints is None or "embedded" in endpoints:
            endpoint, model = "embedded", None
        else:
            return None
    words = f"Use {model}" if model else "Use the demo model" if endpoint == "embedded" else f"Use {endpoint}"
    return FixedDesign(words, design.override(spec, place, endpoint=endpoint, model=model))


def _usable(settings: Settings, endpoints: Mapping[str, EndpointProfile] | None) -> bool:
    if not settings.endpoint:
        return False
    if endpoints is None:
        return settings.endpoint == "embedded" or settings.model is not None
    profile = endpoints.get(settings.endpoint)
    if profile is None:
        return False
    return bool(settings.model or profile.model) or profile.kind in ("embedded", "replay")


def _values(spec: NetworkSpec, place: DesignPlace, field: str) -> FixedDesign | None:
    """Settings that no call can have, or that do not fit together."""
    name = field.rpartition(".")[2]
    if name not in ("temperature", "max_tokens", "samples"):
        return None
    if name == "max_tokens":
        limit = DEFAULTS.max_tokens
        return FixedDesign(f"Allow {limit:,} tokens", design.override(spec, place, max_tokens=limit))
    if name == "samples":
        return FixedDesign("Ask once", design.override(spec, place, samples=1))
    given = design.settings_at(spec, place).temperature
    bad = given is not None and given != "default" and not 0 <= given <= 2
    if bad:
        return FixedDesign("Leave it to the endpoint", design.override(spec, place, temperature="default"))
    return FixedDesign("Ask once", design.override(spec, place, samples=1))


def _of_neuron(spec: NetworkSpec, layer: int, place: int, field: str) -> FixedDesign | None:
    neurons = spec.layers[layer].neurons
    neuron = neurons[place] if place < len(neurons) else NeuronSpec()
    if field == "role.name":
        if spec.roles.kind == "fixed" and place >= len(spec.roles.roles):
            named = replace(neuron, role=_new_role(spec))
            return FixedDesign("Take a role of the library", _put_neuron(spec, layer, place, named))
        return FixedDesign("Remove its role", _put_neuron(spec, layer, place, replace(neuron, role=None)))
    if field == "role" and spec.layers[layer].adaptive:
        return FixedDesign("Remove its role", _put_neuron(spec, layer, place, replace(neuron, role=None)))
    if field == "role":
        missing = place + 1 - len(spec.roles.roles)
        words = "Add a role of the library" if missing == 1 else f"Add {missing} roles of the library"
        for _ in range(missing):
            roles = replace(spec.roles, roles=(*spec.roles.roles, _new_role(spec)))
            spec = replace(spec, roles=roles)
        return FixedDesign(words, spec)
    if field == "inputs":
        return _inputs(spec, layer, place, neuron)
    if field == "" and layer + 1 < spec.depth:
        return _connected(spec, layer, place)
    if field == "" and layer > 0:
        return FixedDesign("Read the whole layer before", design.set_wiring(spec, layer, "full"))
    return None


def _inputs(spec: NetworkSpec, layer: int, place: int, neuron: NeuronSpec) -> FixedDesign | None:
    if layer == 0 or spec.layers[layer].wiring.kind != "explicit":
        return FixedDesign("Remove its edges", _put_neuron(spec, layer, place, replace(neuron, inputs=None)))
    before = designed_width(spec, layer - 1)
    there = sorted(set(neuron.inputs or ()) - set(design_graph(spec).dangling(layer, place)))
    if there:
        kept = replace(neuron, inputs=tuple(there))
        return FixedDesign("Remove wrong edges", _put_neuron(spec, layer, place, kept))
    own = place if before is None else min(place, before - 1)
    return FixedDesign("Connect it", _put_neuron(spec, layer, place, replace(neuron, inputs=(own,))))


def _connected(spec: NetworkSpec, layer: int, place: int) -> FixedDesign | None:
    """An edge to the next layer for a neuron that nobody reads."""
    following = spec.layers[layer + 1]
    if following.wiring.kind == "window":
        return FixedDesign("Let all read it", design.set_wiring(spec, layer + 1, "full"))
    if following.adaptive:
        return None
    target = min(place, len(following.neurons) - 1)
    return FixedDesign("Connect it", design.connect(spec, (layer, place), (layer + 1, target)))


def _of_layer(spec: NetworkSpec, layer: int, field: str) -> FixedDesign | None:
    layer_spec = spec.layers[layer]
    if field == "neurons" and not layer_spec.neurons:
        filled = replace(layer_spec, neurons=(NeuronSpec(),))
        return FixedDesign("Add a neuron", _put_layer(spec, layer, filled))
    if field == "neurons" and layer_spec.adaptive:
        return FixedDesign(
            "Keep the first", _put_layer(spec, layer, replace(layer_spec, neurons=layer_spec.neurons[:1]))
        )
    if field == "neurons" and spec.roles.limit is not None:
        return FixedDesign("Ask for more roles", replace(spec, roles=replace(spec.roles, limit=None)))
    if field == "role" and layer_spec.neurons:
        return FixedDesign("Remove its role", _put_neuron(spec, layer, 0, replace(layer_spec.neurons[0], role=None)))
    if field in ("gate", "between"):
        kept = replace(layer_spec, gate=None) if field == "gate" else replace(layer_spec, between=None)
        return FixedDesign("Remove the stop rule", _put_layer(spec, layer, kept))
    if field.startswith("wiring"):
        return FixedDesign("Read the whole layer before", design.set_wiring(spec, layer, "full"))
    return None


def _of_network(spec: NetworkSpec, path: str) -> FixedDesign | None:
    roles = spec.roles
    if path == "chair.gate" and spec.chair is not None:
        return FixedDesign("Remove the stop rule", replace(spec, chair=replace(spec.chair, gate=None)))
    if path == "layers":
        return FixedDesign("Add a layer", replace(spec, layers=(LayerSpec((NeuronSpec(),)),)))
    if path == "evidence":
        return FixedDesign("Ask for evidence", replace(spec, evidence=True))
    if path == "roles.kind":
        return FixedDesign("Let the model name roles", replace(spec, roles=replace(roles, kind="generated")))
    if path == "roles.limit":
        return FixedDesign("Ask for as many as there are neurons", replace(spec, roles=replace(roles, limit=None)))
    if path == "roles.roles" and not roles.roles:
        wide = max((len(layer_spec.neurons) for layer_spec in spec.layers), default=1)
        for _ in range(max(1, wide)):
            added = replace(spec.roles, roles=(*spec.roles.roles, _new_role(spec)))
            spec = replace(spec, roles=added)
        return FixedDesign("Take roles of the library", spec)
    if path == "aggregation.learned":
        rules = replace(spec.aggregation, learned=None)
        return FixedDesign("Remove the learned aggregation", replace(spec, aggregation=rules))
    if path == "aggregation.quorum":
        most = most_voters(spec, deciding_of_all(spec))
        fits = most if most and most < (spec.aggregation.quorum or 0) else None
        words = "Ask for no quorum" if fits is None else f"Lower the quorum to {fits:,}"
        rules = replace(spec.aggregation, quorum=fits)
        return FixedDesign(words, replace(spec, aggregation=rules))
    if path == "aggregation.acceptance":
        rules = replace(spec.aggregation, acceptance=None)
        return FixedDesign("Remove the rule that accepts verdicts", replace(spec, aggregation=rules))
    if path == "roles.roles":
        names = [role.name for role in roles.roles]
        twice = next(place for place, name in enumerate(names) if name in names[:place])
        renamed = _put_role(roles, twice, _new_role(spec))
        return FixedDesign("Take another role of the library", replace(spec, roles=renamed))
    named = re.fullmatch(r"roles\.roles\[(\d+)\]\.name", path)
    if named:
        return FixedDesign(
            "Take a role of the library", replace(spec, roles=_put_role(roles, int(named[1]), _new_role(spec)))
        )
    return None


def with_enough_roles(spec: NetworkSpec, before: NetworkSpec) -> NetworkSpec:
    """The network after an edit that made it wider than ``before``, with roles of the library for what is new.

    Only fixed roles are added to, and only as far as the library goes: what then has none is a problem to be shown.
    """
    roles = spec.roles
    if roles.kind != "fixed" or not roles.roles:
        return spec
    known = library("zh" if spec.language == "zh" else "en")
    lacked = _lacking(before)
    while len(spec.roles.roles) < len(known) and _lacking(spec) > lacked:
        role = _new_role(spec)
        if all(role != entry.role for entry in known):
            break
        spec = replace(spec, roles=replace(spec.roles, roles=(*spec.roles.roles, role)))
    return spec


def _lacking(spec: NetworkSpec) -> int:
    """How many fixed roles are missing."""
    wide = max(
        (
            place + 1
            for layer_spec in spec.layers
            if not layer_spec.adaptive
            for place, neuron in enumerate(layer_spec.neurons)
            if neuron.role is None
        ),
        default=0,
    )
    return max(0, wide - len(spec.roles.roles))


def _new_role(spec: NetworkSpec) -> Role:
    """A role of the library that the network does not have yet; a numbered one where it has all."""
    language = "zh" if spec.language == "zh" else "en"
    taken = {role.name for role in spec.roles.roles}
    taken |= {
        neuron.role.name for layer_spec in spec.layers for neuron in layer_spec.neurons if neuron.role is not None
    }
    for entry in library(language):
        if entry.role.name not in taken:
            return entry.role
    number = len(taken) + 1
    while f"Judge {number}" in taken:
        number += 1
    return Role(f"Judge {number}")


def _put_role(roles: RolesSpec, place: int, role: Role) -> RolesSpec:
    return replace(roles, roles=(*roles.roles[:place], role, *roles.roles[place + 1 :]))


def _put_layer(spec: NetworkSpec, layer: int, layer_spec: LayerSpec) -> NetworkSpec:
    return replace(spec, layers=(*spec.layers[:layer], layer_spec, *spec.layers[layer + 1 :]))


def _put_neuron(spec: NetworkSpec, layer: int, place: int, neuron: NeuronSpec) -> NetworkSpec:
    layer_spec = spec.layers[layer]
    neurons = (*layer_spec.neurons[:place], neuron, *layer_spec.neurons[place + 1 :])
    return _put_layer(spec, layer, replace(layer_spec, neurons=neurons))
