"""Edits of a design: what they change, what they leave, and that they keep a design sound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgenet.core import design
from judgenet.core.checks import check
from judgenet.core.design import (
    DesignPlace,
    add_layer,
    add_neuron,
    connect,
    disconnect,
    duplicate_neuron,
    move_neuron,
    remove_layer,
    remove_neuron,
    set_depth,
    set_role,
    set_settings,
    set_width,
    set_wiring,
    settings_at,
)
from judgenet.core.network import (
    LayerSpec,
    NetworkError,
    NetworkSpec,
    NeuronSpec,
    Role,
    RolesSpec,
    Settings,
    Wiring,
    WiringKind,
    designed_width,
    neuron_settings,
    places_of,
    role_limit,
)
from judgenet.core.network_graph import design_graph
from judgenet.core.presets import network

NAMED = tuple(NeuronSpec(role=Role(name)) for name in "abcd")


def named(width: int, depth: int, *inputs: tuple[int, ...]) -> NetworkSpec:
    """Neurons with roles a, b, c, d in each layer; ``inputs`` are the explicit edges of layer 2."""
    spec = network(width, depth)
    layers = [replace(layer, neurons=NAMED[:width]) for layer in spec.layers]
    if inputs:
        neurons = tuple(replace(NAMED[place], inputs=read) for place, read in enumerate(inputs))
        layers[1] = LayerSpec(neurons, wiring=Wiring("explicit"))
    return replace(spec, layers=tuple(layers))


def edges(spec: NetworkSpec, layer: int = 1) -> list[tuple[int, ...] | None]:
    return [neuron.inputs for neuron in spec.layers[layer].neurons]


def names(spec: NetworkSpec, layer: int = 0) -> str:
    return "".join(neuron.role.name if neuron.role else "-" for neuron in spec.layers[layer].neurons)


def test_widths() -> None:
    spec = set_width(named(2, 1), 0, 4)
    assert names(spec) == "ab--"
    assert names(set_width(spec, 0, 1)) == "a"
    adaptive = set_width(set_settings(spec, (0, 0), Settings(model="m")), 0, None)
    assert adaptive.layers[0] == LayerSpec((NeuronSpec(settings=Settings(model="m")),), adaptive=True)
    assert set_width(adaptive, 0, 3).layers[0].neurons == (NeuronSpec(settings=Settings(model="m")),) * 3


def test_edges_follow_a_narrower_layer() -> None:
    spec = named(4, 2, (0, 3), (1, 2), (2, 3), (3,))
    assert edges(set_width(spec, 0, 2)) == [(0,), (1,), (1,), (1,)]
    assert edges(set_width(spec, 1, 5)) == [(0, 3), (1, 2), (2, 3), (3,), (3,)]


def test_a_window_reaches_a_narrower_layer() -> None:
    spec = set_wiring(network(4, 2), 1, "window", 1)
    assert set_width(spec, 0, 1).layers[1].wiring == Wiring("window", 3)
    assert set_width(spec, 1, 7).layers[1].wiring == Wiring("window", 3)
    assert set_width(spec, 0, 3).layers[1].wiring == Wiring("window", 1)


def test_depths_and_layers() -> None:
    spec = set_wiring(named(3, 2), 1, "window", 1)
    deeper = set_depth(spec, 4)
    assert deeper.depth == 4
    assert deeper.layers[3] == spec.layers[1]
    assert set_depth(deeper, 2) == spec
    assert set_depth(spec, 1).layers == spec.layers[:1]
    put = LayerSpec(NAMED[:1])
    assert [layer.width for layer in add_layer(spec, 1, put).layers] == [3, 1, 3]
    assert [names(add_layer(spec, 0, put), layer) for layer in range(3)] == ["a", "abc", "abc"]
    assert remove_layer(add_layer(spec, 0, put), 0) == spec


def test_edges_of_layers_that_come_and_go() -> None:
    spec = named(3, 2, (0,), (1, 2), (2,))
    first = remove_layer(spec, 0)
    assert first.layers[0] == replace(spec.layers[1], neurons=NAMED[:3], wiring=Wiring())
    narrow = add_layer(spec, 1, LayerSpec(NAMED[:2]))
    assert edges(narrow, 2) == [(0,), (1,), (1,)]
    assert edges(set_depth(spec, 3), 2) == [(0,), (1, 2), (2,)]


def test_neurons_come_and_go_with_their_edges() -> None:
    spec = named(3, 2, (0, 1), (1,), (2,))
    more = add_neuron(spec, 0, NeuronSpec(role=Role("x")), 1)
    assert names(more) == "axbc"
    assert edges(more) == [(0, 2), (2,), (3,)]
    fewer = remove_neuron(spec, 0, 1)
    assert names(fewer) == "ac"
    assert edges(fewer) == [(0,), (1,), (1,)]
    moved = move_neuron(spec, 0, 0, 2)
    assert names(moved) == "bca"
    assert edges(moved) == [(0, 2), (0,), (1,)]
    twice = duplicate_neuron(spec, 0, 1)
    assert names(twice) == "abbc"
    assert edges(twice) == [(0, 1, 2), (1, 2), (3,)]
    assert edges(duplicate_neuron(spec, 1, 0)) == [(0, 1), (0, 1), (1,), (2,)]
    assert edges(add_neuron(spec, 1)) == [(0, 1), (1,), (2,), (2,)]


def test_roles_and_settings_of_one_neuron() -> None:
    spec = set_role(named(3, 2), 1, 2, None)
    assert (names(spec, 0), names(spec, 1)) == ("abc", "ab-")
    places: dict[Any, DesignPlace] = {"n": "network", "r": "roles", "l": (1,), "u": (1, 0)}
    for place in places.values():
        changed = set_settings(spec, place, Settings(model="m", temperature=0.5))
        assert settings_at(changed, place) == Settings(model="m", temperature=0.5)
        assert set_settings(changed, place, settings_at(spec, place)) == spec
    chaired = network(2, 1, chair=True)
    assert settings_at(set_settings(chaired, "chair", Settings(samples=2)), "chair") == Settings(samples=2)


def test_explicit_wiring_starts_with_the_edges_there_are() -> None:
    spec = network(4, 2)
    assert edges(set_wiring(spec, 1, "explicit")) == [(0, 1, 2, 3)] * 4
    window = set_wiring(spec, 1, "window", 1)
    assert edges(set_wiring(window, 1, "explicit")) == [(0, 1), (0, 1, 2), (1, 2, 3), (2, 3)]
    assert set_wiring(set_wiring(window, 1, "explicit"), 1, "full") == spec


def test_connecting_and_disconnecting() -> None:
    window = set_wiring(network(4, 2), 1, "window", 1)
    spec = connect(window, (0, 3), (1, 0))
    assert edges(spec) == [(0, 1, 3), (0, 1, 2), (1, 2, 3), (2, 3)]
    assert connect(spec, (0, 3), (1, 0)) == spec
    assert edges(disconnect(spec, (0, 1), (1, 1)))[1] == (0, 2)
    assert disconnect(spec, (0, 2), (1, 0)) == spec
    bare = disconnect(named(2, 2, (0,), (1,)), (0, 0), (1, 0))
    assert edges(bare) == [(), (1,)]
    assert [problem.path for problem in check(bare) if problem.severity == "error"] == ["layers[1].neurons[0].inputs"]


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        (lambda spec: set_depth(spec, 0), "one layer or more, not 0"),
        (lambda spec: set_width(spec, 0, 0), "one neuron or more, not 0"),
        (lambda spec: set_width(spec, 5, 2), "no layer 6: the network has 2"),
        (lambda spec: set_width(spec, -1, 2), "no layer 0"),
        (lambda spec: remove_layer(set_depth(spec, 1), 0), "only layer"),
        (lambda spec: add_layer(spec, 4), "place 5 of 2"),
        (lambda spec: remove_neuron(set_width(spec, 0, 1), 0, 0), "only neuron of layer 1"),
        (lambda spec: remove_neuron(spec, 1, 3), "no neuron 4 in layer 2, which has 3"),
        (lambda spec: move_neuron(spec, 0, 0, 3), "no neuron 4"),
        (lambda spec: add_neuron(spec, 0, None, 9), "none can be added at place 10"),
        (lambda spec: set_role(spec, 0, 0, Role(" ")), "has a name"),
        (lambda spec: set_wiring(spec, 0, "full"), "first layer"),
        (lambda spec: set_wiring(spec, 1, "window", 0), "1 place or more"),
        (lambda spec: connect(spec, (0, 0), (0, 1)), "from layer 1 to layer 1"),
        (lambda spec: connect(spec, (1, 0), (0, 1)), "from layer 2 to layer 1"),
        (lambda spec: connect(set_depth(spec, 3), (0, 0), (2, 1)), "from layer 1 to layer 3"),
        (lambda spec: connect(spec, (0, 3), (1, 0)), "no neuron 4 in layer 1"),
        (lambda spec: connect(spec, (0, 0), (1, 3)), "no neuron 4 in layer 2"),
        (lambda spec: connect(set_width(spec, 0, None), (0, 0), (1, 0)), "Layer 1 is adaptive"),
        (lambda spec: add_neuron(set_width(spec, 1, None), 1), "as wide as there are roles"),
        (lambda spec: set_width(replace(spec, roles=RolesSpec("none")), 0, None), "needs roles"),
        (lambda spec: settings_at(spec, "chair"), "no chair"),
    ],
)
def test_edits_that_cannot_be(edit: Callable[[NetworkSpec], object], complaint: str) -> None:
    with pytest.raises(NetworkError, match=complaint):
        edit(network(3, 2))


def test_roles_decide_widths() -> None:
    spec = network(4, 2)
    assert role_limit(spec) == 4
    assert role_limit(set_width(spec, 0, 6)) == 6
    assert role_limit(set_width(spec, 0, None)) is None
    assert role_limit(replace(spec, roles=RolesSpec(limit=2))) == 2
    assert (places_of(spec, 0, 2), places_of(spec, 0, 9)) == ((0, 1), (0, 1, 2, 3))
    own = set_role(spec, 0, 3, Role("x"))
    assert places_of(own, 0, 2) == (0, 1, 3)
    adaptive = set_width(spec, 0, None)
    assert places_of(adaptive, 0, 7) == tuple(range(7))
    assert (designed_width(adaptive, 0), designed_width(adaptive, 1)) == (None, 4)
    fixed = network(None, 1, roles=[Role("x"), Role("y")])
    assert designed_width(fixed, 0) == 2
    assert places_of(network(3, 1, roles="none"), 0, 0) == (0, 1, 2)


# Any edit of a sound design

Edit = Callable[[NetworkSpec, st.DataObject], NetworkSpec]


def _layer(spec: NetworkSpec, data: st.DataObject, least: int = 0) -> int:
    return data.draw(st.integers(least, max(least, spec.depth - 1)))


def _neuron(spec: NetworkSpec, layer: int, data: st.DataObject) -> int:
    return data.draw(st.integers(0, len(spec.layers[layer].neurons) - 1 if layer < spec.depth else 0))


def _set_width(spec: NetworkSpec, data: st.DataObject) -> NetworkSpec:
    return set_width(spec, _layer(spec, data), data.draw(st.none() | st.integers(1, 5)))


def _set_depth(spec: NetworkSpec, data: st.DataObject) -> NetworkSpec:
    return set_depth(spec, data.draw(st.integers(1, 4)))


def _add_layer(spec: NetworkSpec, data: st.DataObject) -> NetworkSpec:
    layer = LayerSpec((NeuronSpec(),) * data.draw(st.integers(1, 4))) if data.draw(st.booleans()) else None
    return add_layer(spec, data.draw(st.integers(0, spec.depth)), layer)


def _remove_layer(spec: NetworkSpec, data: st.DataObject) -> NetworkSpec:
    return remove_layer(spec, _layer(spec, data))


def _on_neuron(edit: Callable[[NetworkSpec, int, int], NetworkSpec]) -> Edit:
    def apply(spec: NetworkSpec, data: st.DataObject) -> NetworkSpec:
        layer = _layer(spec, data)
        return edit(spec, layer, _neuron(spec, layer, data))

    return apply


def _move(spec: NetworkSpec, data: st.DataObject) -> NetworkSpec:
    layer = _layer(spec, data)
    return move_neuron(spec, layer, _neuron(spec, layer, data), _neuron(spec, layer, data))


def _wire(spec: NetworkSpec, data: st.DataObject) -> NetworkSpec:
    kind: WiringKind = data.draw(st.sampled_from(["full", "window", "explicit"]))
    return set_wiring(spec, _layer(spec, data, 1), kind, data.draw(st.integers(1, 3)))


def _connect(spec: NetworkSpec, data: st.DataObject) -> NetworkSpec:
    layer = _layer(spec, data, 1)
    return connect(spec, (layer - 1, _neuron(spec, layer - 1, data)), (layer, _neuron(spec, layer, data)))


EDITS: list[Edit] = [
    _set_width,
    _set_depth,
    _add_layer,
    _remove_layer,
    _move,
    _wire,
    _connect,
    _on_neuron(lambda spec, layer, place: add_neuron(spec, layer, None, place)),
    _on_neuron(remove_neuron),
    _on_neuron(duplicate_neuron),
    _on_neuron(lambda spec, layer, place: set_role(spec, layer, place, Role("x"))),
]

ROLES = st.sampled_from(
    [
        RolesSpec(),
        RolesSpec(limit=2),
        RolesSpec("none"),
        RolesSpec("fixed", roles=tuple(Role(f"role {place}") for place in range(40))),
    ]
)


@given(st.integers(1, 4), st.integers(1, 3), ROLES, st.lists(st.sampled_from(EDITS), max_size=12), st.data())
def test_edits_keep_a_design_sound(
    width: int, depth: int, roles: RolesSpec, edits: list[Edit], data: st.DataObject
) -> None:
    spec = replace(network(width, depth), roles=roles)
    for edit in edits:
        try:
            spec = edit(spec, data)
        except NetworkError:
            continue
        errors = [str(problem) for problem in check(spec) if problem.severity == "error"]
        assert errors == []
        for layer in range(1, spec.depth):
            if not spec.layers[layer].adaptive and not spec.layers[layer - 1].adaptive:
                for place in range(len(spec.layers[layer].neurons)):
                    assert design_graph(spec).inputs(layer, place)


def test_settings_at_a_place_hold_for_all_below_it() -> None:
    spec = network(2, 2, settings=Settings(endpoint="a", model="m"))
    spec = design.set_settings(spec, (0, 1), Settings(model="own", temperature=0.5))
    spec = design.set_settings(spec, (0,), Settings(model="layer"))
    assert [neuron_settings(spec, 0, place).model for place in (0, 1)] == ["layer", "own"]
    of_layer = design.override(spec, (0,), model="new")
    assert [neuron_settings(of_layer, 0, place).model for place in (0, 1)] == ["new", "new"]
    assert neuron_settings(of_layer, 0, 1).temperature == 0.5
    assert neuron_settings(of_layer, 1, 0).model == "m"
    of_all = design.override(spec, "network", model="new")
    assert {neuron_settings(of_all, layer, place).model for layer in (0, 1) for place in (0, 1)} == {"new"}
    of_one = design.override(spec, (0, 1), model=None)
    assert neuron_settings(of_one, 0, 1).model == "layer"


def test_many_neurons_go_at_once() -> None:
    spec = network(3, 2)
    left = design.remove_neurons(spec, [(0, 0), (0, 2)])
    assert [len(of.neurons) for of in left.layers] == [1, 3]
    gone = design.remove_neurons(spec, [(1, place) for place in range(3)])
    assert gone.depth == 1
    last = design.remove_neurons(network(3, 1), [(0, place) for place in range(3)])
    assert [len(of.neurons) for of in last.layers] == [1]


def test_a_size_is_set_for_all_layers() -> None:
    spec = design.set_size(replace(network(2, 3), roles=RolesSpec(limit=2)), 5, 2)
    assert [len(of.neurons) for of in spec.layers] == [5, 5]
    assert spec.roles.limit is None
    assert all(of.adaptive for of in design.set_size(spec, None, 1).layers)
