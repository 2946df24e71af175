"""Mends: what a button says, and a design without the problem."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judgenet.core.checks import check
from judgenet.core.design import set_width
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.fixes import fix, with_enough_roles
from judgenet.core.network import (
    ChairSpec,
    LayerSpec,
    NetworkSpec,
    NeuronSpec,
    Role,
    RolesSpec,
    Settings,
    Wiring,
    neuron_settings,
)
from judgenet.core.presets import network

ROLES = (Role("One", "first"), Role("Two", "second"), Role("Three", "third"))
ENDPOINTS = {
    "embedded": EndpointProfile("embedded", kind="embedded"),
    "lab": EndpointProfile("lab", base_url="http://localhost:1/v1"),
    "named": EndpointProfile("named", base_url="http://localhost:2/v1", model="own-model"),
}
PLAIN = network(3, 2)
FIXED = network(3, 2, roles=ROLES)


def neuron(spec: NetworkSpec, layer: int, place: int, changed: NeuronSpec) -> NetworkSpec:
    of = spec.layers[layer]
    of = replace(of, neurons=(*of.neurons[:place], changed, *of.neurons[place + 1 :]))
    return replace(spec, layers=(*spec.layers[:layer], of, *spec.layers[layer + 1 :]))


def deeper(*inputs: tuple[int, ...]) -> NetworkSpec:
    of = LayerSpec(tuple(NeuronSpec(inputs=each) for each in inputs), wiring=Wiring("explicit"))
    return replace(PLAIN, layers=(PLAIN.layers[0], of))


def _one_without_model() -> NetworkSpec:
    spec = network(3, 2, settings=Settings(endpoint="lab"))
    for layer, place in ((0, 0), (0, 1), (1, 0), (1, 1), (1, 2)):
        spec = neuron(spec, layer, place, NeuronSpec(settings=Settings(model="big")))
    return spec


ADAPTIVE = network(None, 1).layers[0]

BROKEN: dict[str, NetworkSpec] = {
    "no model, one neuron": _one_without_model(),
    "no model anywhere": network(2, 1, settings=Settings(endpoint="lab")),
    "unknown endpoint": network(2, 1, settings=Settings(endpoint="gone", model="m")),
    "unknown endpoint of a layer": replace(
        PLAIN, layers=(replace(PLAIN.layers[0], settings=Settings(endpoint="gone")), PLAIN.layers[1])
    ),
    "no model for roles": replace(PLAIN, roles=replace(PLAIN.roles, settings=Settings(endpoint="lab"))),
    "no model for the chair": replace(PLAIN, chair=ChairSpec(Settings(endpoint="lab"))),
    "empty role": neuron(PLAIN, 0, 1, NeuronSpec(role=Role(" "))),
    "empty role beyond the fixed": neuron(network(4, 1, roles=(*ROLES, Role("Four"))), 0, 3, NeuronSpec(role=Role(""))),
    "too few roles": replace(FIXED, roles=replace(FIXED.roles, roles=ROLES[:1])),
    "no roles": replace(FIXED, roles=RolesSpec("fixed")),
    "a role twice": replace(FIXED, roles=replace(FIXED.roles, roles=(ROLES[0], ROLES[1], ROLES[0]))),
    "a role without name": replace(FIXED, roles=replace(FIXED.roles, roles=(ROLES[0], Role(""), ROLES[2]))),
    "few roles asked": replace(PLAIN, roles=replace(PLAIN.roles, limit=2)),
    "no role asked": replace(PLAIN, roles=replace(PLAIN.roles, limit=0)),
    "adaptive without roles": replace(network(None, 2), roles=RolesSpec("none")),
    "adaptive with a role": neuron(network(None, 2), 0, 0, NeuronSpec(role=Role("Own"))),
    "adaptive with edges": replace(
        network(None, 2), layers=(ADAPTIVE, replace(ADAPTIVE, wiring=Wiring("explicit")))
    ),
    "reads nothing": deeper((0, 1, 2), (), (2,)),
    "reads what is not there": deeper((0, 1), (1, 7), (2,)),
    "reads twice": deeper((0, 1), (1, 1), (2,)),
    "reads only what is not there": deeper((0, 1, 2), (9,), (2,)),
    "read by nobody": deeper((0,), (1,)),
    "narrow window": replace(
        PLAIN, layers=(LayerSpec((NeuronSpec(),)), LayerSpec((NeuronSpec(),) * 4, wiring=Wiring("window", 1)))
    ),
    "edges of the first layer": neuron(PLAIN, 0, 0, NeuronSpec(inputs=(1,))),
    "edges that are not used": neuron(PLAIN, 1, 0, NeuronSpec(inputs=(1,))),
    "temperature": network(2, 1, settings=Settings(temperature=3.0)),
    "temperature of a neuron": neuron(PLAIN, 0, 1, NeuronSpec(settings=Settings(temperature=-1.0))),
    "samples": network(2, 1, samples=0),
    "samples at 0": network(2, 1, samples=3, settings=Settings(temperature=0.0)),
    "no room": network(2, 1, settings=Settings(max_tokens=0)),
    "little room": neuron(PLAIN, 0, 1, NeuronSpec(settings=Settings(max_tokens=10))),
    "no evidence": network(2, 2, evidence=False),
    "no layer": replace(PLAIN, layers=()),
    "empty layer": replace(PLAIN, layers=(LayerSpec(()),)),
    "no window": replace(PLAIN, layers=(PLAIN.layers[0], replace(PLAIN.layers[1], wiring=Wiring("window", 0)))),
}  # fmt: skip


@pytest.mark.parametrize("spec", BROKEN.values(), ids=BROKEN)
def test_mending_all_leaves_a_sound_design(spec: NetworkSpec) -> None:
    assert check(spec, ENDPOINTS)
    for _ in range(12):
        found = check(spec, ENDPOINTS)
        if not found:
            break
        mended = fix(spec, found[0], ENDPOINTS)
        assert mended is not None, str(found[0])
        assert mended.words
        assert str(found[0]) not in [str(problem) for problem in check(mended.spec, ENDPOINTS)]
        spec = mended.spec
    assert check(spec, ENDPOINTS) == ()


def test_a_neuron_without_a_model_gets_the_one_that_most_have() -> None:
    spec = BROKEN["no model, one neuron"]
    mended = fix(spec, check(spec, ENDPOINTS)[0], ENDPOINTS)
    assert mended is not None
    assert mended.words == "Use big"
    assert neuron_settings(mended.spec, 0, 2).model == "big"


def test_without_any_model_the_endpoints_own_or_the_demo_model_is_offered() -> None:
    spec = network(2, 1, settings=Settings(endpoint="gone"))
    mended = fix(spec, check(spec, ENDPOINTS)[0], ENDPOINTS)
    assert mended is not None
    assert mended.words == "Use the demo model"
    assert mended.spec.settings.endpoint == "embedded"


def test_a_wider_layer_gets_roles_of_the_library() -> None:
    wider = with_enough_roles(set_width(FIXED, 0, 5), FIXED)
    assert wider.roles.roles[:3] == ROLES
    assert len({role.name for role in wider.roles.roles}) == 5
    assert check(wider, ENDPOINTS) == ()
    narrower = with_enough_roles(set_width(FIXED, 0, 2), FIXED)
    assert narrower.roles == FIXED.roles
    assert with_enough_roles(set_width(PLAIN, 0, 9), PLAIN).roles == PLAIN.roles
    vast = with_enough_roles(set_width(FIXED, 0, 200), FIXED)
    assert 3 < len(vast.roles.roles) < 200
    lacking = replace(FIXED, roles=replace(FIXED.roles, roles=ROLES[:1]))
    assert with_enough_roles(replace(lacking, orders="ab"), lacking).roles == lacking.roles
