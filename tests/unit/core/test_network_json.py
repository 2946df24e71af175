"""The JSON form of a design: lossless, readable, with errors that name their place."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgenet.core.design import set_settings, set_wiring
from judgenet.core.network import (
    DEFAULTS,
    Aggregation,
    ChairSpec,
    LayerSpec,
    NetworkError,
    NetworkSpec,
    NeuronSpec,
    Role,
    RolesSpec,
    Settings,
    Wiring,
)
from judgenet.core.network_json import digest, from_json, neurons_from_json, neurons_to_json, to_json
from judgenet.core.presets import PRESETS, network

texts = st.text(max_size=8)
settings = st.builds(
    Settings,
    st.none() | texts,
    st.none() | texts,
    st.none() | st.just("default") | st.floats(0, 2) | st.integers(0, 2),
    st.none() | st.integers(1, 9999),
    st.none() | st.integers(1, 9),
)
roles = st.builds(Role, texts, texts)
neurons = st.builds(
    NeuronSpec, st.none() | roles, settings, st.none() | st.lists(st.integers(0, 9), max_size=3).map(tuple)
)
layers = st.builds(
    LayerSpec,
    st.lists(neurons, max_size=3).map(tuple),
    st.booleans(),
    st.builds(Wiring, st.sampled_from(["full", "window", "explicit"]), st.integers(-1, 9)),
    settings,
)
specs = st.builds(
    NetworkSpec,
    layers=st.lists(layers, max_size=3).map(tuple),
    roles=st.builds(
        RolesSpec,
        st.sampled_from(["generated", "fixed", "none"]),
        st.none() | st.integers(0, 9),
        st.lists(roles, max_size=3).map(tuple),
        settings,
    ),
    orders=st.sampled_from(["both", "ab", "ba", "random"]),
    seed=st.integers(),
    settings=settings,
    chair=st.none() | st.builds(ChairSpec, settings),
    aggregation=st.builds(
        Aggregation,
        st.sampled_from(["neuron", "call"]),
        st.sampled_from(["abstain", "candidate"]),
        st.sampled_from(["tie", "c1"]),
    ),
    language=st.sampled_from(["auto", "en", "zh"]),
    family=texts,
    evidence=st.booleans(),
    name=texts,
)


@given(specs)
def test_designs_survive_the_round_trip(spec: NetworkSpec) -> None:
    record = to_json(spec)
    assert from_json(record) == spec
    text = json.dumps(record, allow_nan=False)
    assert from_json(json.loads(text)) == spec
    assert text == json.dumps(record, sort_keys=True)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_presets_survive_the_round_trip(preset: Any) -> None:
    assert from_json(to_json(preset.spec)) == preset.spec


def test_what_is_left_out_has_its_default() -> None:
    spec = from_json({"layers": [{"neurons": [{}, {"role": {"name": "Truth"}}]}], "settings": {"model": "m"}})
    assert spec.settings == replace(DEFAULTS, model="m")
    assert spec.layers == (LayerSpec((NeuronSpec(), NeuronSpec(role=Role("Truth")))),)
    assert (spec.roles, spec.orders, spec.chair) == (RolesSpec(), "both", None)
    assert from_json({"layers": [], "settings": {"endpoint": None}}).settings.endpoint is None
    assert from_json({"layers": [], "chair": {}}).chair == ChairSpec()


def test_the_form_is_plain_to_read() -> None:
    record = to_json(set_wiring(network(1, 2, name="Small"), 1, "explicit"))
    assert record["network"] == 1
    assert record["layers"] == [
        {"adaptive": False, "neurons": [{}], "settings": {}, "wiring": {"kind": "full", "window": 1}},
        {"adaptive": False, "neurons": [{"inputs": [0]}], "settings": {}, "wiring": {"kind": "explicit", "window": 1}},
    ]
    assert record["roles"] == {"kind": "generated", "roles": [], "settings": {"temperature": 0.0}}
    assert list(record) == sorted(record)


def changed(*path: str | int, to: Any) -> dict[str, Any]:
    record: Any = json.loads(json.dumps(to_json(set_wiring(network(2, 2, chair=True), 1, "explicit"))))
    owner = record
    for step in path[:-1]:
        owner = owner[step]
    owner[path[-1]] = to
    result: dict[str, Any] = record
    return result


@pytest.mark.parametrize(
    ("record", "complaint"),
    [
        ([], "must be an object, but is a list"),
        ({"network": 1}, "^layers: is missing"),
        (changed("network", to=2), "^network: the form has version 2, and this program reads version 1"),
        (changed("network", to="1"), "^network: must be a whole number, but is a text"),
        (changed("layrs", to=[]), "^layrs: is not known; did you mean 'layers'"),
        (changed("orders", to="AB"), "^orders: must be one of both, ab, ba, random, but is 'AB'"),
        (changed("seed", to=True), "^seed: must be a whole number"),
        (changed("evidence", to="yes"), "^evidence: must be true or false, but is a text"),
        (changed("layers", to={}), "^layers: must be a list, but is an object"),
        (changed("layers", 1, to=3), r"^layers\[1\]: must be an object, but is a number"),
        (changed("layers", 1, "neurons", to=None), r"^layers\[1\]\.neurons: is missing"),
        (changed("layers", 1, "wiring", "kind", to="ring"), r"^layers\[1\]\.wiring\.kind: must be one of full"),
        (
            changed("layers", 1, "neurons", 0, "inputs", to=[0, "1"]),
            r"^layers\[1\]\.neurons\[0\]\.inputs\[1\]: must be",
        ),
        (changed("layers", 1, "neurons", 0, "inputs", to=[-1]), r"inputs\[0\]: must be the place .* but is -1"),
        (changed("layers", 1, "neurons", 0, "inputs", to=[[2, 0]]), "edges lead from a layer to the next one only"),
        (changed("layers", 1, "neurons", 0, "role", to="Truth"), r"^layers\[1\]\.neurons\[0\]\.role: must be an obj"),
        (changed("layers", 1, "neurons", 0, "role", to={}), r"^layers\[1\]\.neurons\[0\]\.role\.name: is missing"),
        (changed("layers", 0, "settings", to={"temprature": 1}), r"^layers\[0\]\.settings\.temprature: is not known"),
        (changed("settings", "temperature", to="hot"), r"^settings\.temperature: must be a number, but is a text"),
        (changed("settings", "samples", to=1.5), r"^settings\.samples: must be a whole number"),
        (changed("chair", "settings", to=[]), r"^chair\.settings: must be an object"),
        (changed("aggregation", "ties", to="win"), r"^aggregation\.ties: must be one of abstain, candidate"),
        (changed("roles", "roles", to=[{"name": 1}]), r"^roles\.roles\[0\]\.name: must be a text"),
    ],
)
def test_errors_name_their_place(record: Any, complaint: str) -> None:
    with pytest.raises(NetworkError, match=complaint):
        from_json(record)


def test_a_path_in_front_and_unknown_names_let_pass() -> None:
    with pytest.raises(NetworkError, match=r"^network\.layers\[0\]: must be an object"):
        from_json({"layers": [1]}, "network")
    assert from_json(changed("later", to=1), refuse_unknown=False).depth == 2
    with pytest.raises(NetworkError, match="version 2"):
        from_json(changed("network", to=2), refuse_unknown=False)


def test_the_digest_covers_what_determines_the_answers() -> None:
    spec = network(3, 2, chair=True)
    wired = set_wiring(spec, 1, "explicit")
    others = [
        set_wiring(spec, 1, "window"),
        wired,
        network(3, 2),
        network(3, 1, chair=True),
        network(4, 2, chair=True),
        replace(spec, seed=1),
        replace(spec, orders="ab"),
        replace(spec, language="zh"),
        replace(spec, family="code"),
        replace(spec, evidence=False),
        replace(spec, roles=RolesSpec("none")),
        replace(spec, roles=RolesSpec(limit=2)),
        replace(spec, roles=RolesSpec(roles=(Role("fallback"),))),
        set_settings(spec, "network", replace(spec.settings, temperature=0.0)),
        set_settings(spec, "roles", Settings(temperature=0.5)),
        set_settings(spec, "chair", Settings(samples=2)),
        set_settings(spec, (1, 2), Settings(model="m")),
    ]
    assert len({digest(other) for other in [spec, *others]}) == len(others) + 1


def test_the_digest_leaves_out_what_costs_no_call() -> None:
    spec = network(3, 2)
    same = [
        replace(spec, name="Another"),
        replace(spec, aggregation=Aggregation("call", "candidate", "c1")),
        set_settings(spec, (1,), Settings(endpoint="embedded", samples=1)),
        replace(spec, roles=RolesSpec(limit=3)),
        set_settings(spec, "network", Settings()),
        set_wiring(set_wiring(spec, 1, "window", 2), 1, "full"),
    ]
    assert {digest(other) for other in same} == {digest(spec)}
    whole = set_settings(spec, "network", replace(spec.settings, temperature=1))
    assert digest(whole) == digest(set_settings(spec, "network", replace(spec.settings, temperature=1.0)))


def test_neurons_travel_without_their_edges() -> None:
    neurons = (
        NeuronSpec(role=Role("Clarity", "Is it clear?"), settings=Settings(model="m", samples=2), inputs=(0, 1)),
        NeuronSpec(),
    )
    record = json.loads(json.dumps(neurons_to_json(neurons)))
    assert neurons_from_json(record) == tuple(replace(one, inputs=None) for one in neurons)


@pytest.mark.parametrize("record", [None, [], {}, {"judgenet_neurons": 1}, {"judgenet_neurons": 2, "neurons": []}])
def test_what_is_no_neurons_is_refused(record: object) -> None:
    with pytest.raises(NetworkError):
        neurons_from_json(record)
