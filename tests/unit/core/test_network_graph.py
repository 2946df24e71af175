"""The design as a graph."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from judgenet.core.checks import check
from judgenet.core.design import disconnect, set_role, set_wiring
from judgenet.core.network import (
    LayerSpec,
    NetworkSpec,
    NeuronSpec,
    Role,
    RolesSpec,
    Wiring,
)
from judgenet.core.network_graph import design_graph, graph, network_graph
from judgenet.core.presets import PRESETS, network
from tests.short_forms import with_settings


def in_order(net: nx.DiGraph[str]) -> tuple[str, ...]:
    """The nodes so that each comes after all that it reads: by column, then by place."""
    key = {node: (data["column"], data.get("neuron", 0)) for node, data in net.nodes(data=True)}
    return tuple(nx.lexicographical_topological_sort(net, key=key.__getitem__))


def test_nodes_and_edges_of_a_review_with_a_chair() -> None:
    net = graph(network(2, 2, chair=True))
    assert set(net.edges) == {
        ("pair", "roles"),
        ("roles", "1.1"),
        ("roles", "1.2"),
        *((f"1.{i}", f"2.{j}") for i in (1, 2) for j in (1, 2)),
        *((f"{layer}.{i}", "aggregation") for layer in (1, 2) for i in (1, 2)),
        ("2.1", "chair"),
        ("2.2", "chair"),
        ("aggregation", "verdict"),
        ("chair", "verdict"),
    }
    assert net.nodes["2.1"] == {
        "kind": "neuron",
        "column": 3,
        "layer": 2,
        "neuron": 1,
        "endpoint": "embedded",
        "max_tokens": 1024,
        "samples": 1,
    }
    assert [net.nodes[node]["column"] for node in ("pair", "roles", "aggregation", "chair", "verdict")] == [
        0,
        1,
        4,
        5,
        6,
    ]
    assert in_order(net) == ("pair", "roles", "1.1", "1.2", "2.1", "2.2", "aggregation", "chair", "verdict")


def test_without_roles_the_pair_goes_to_the_first_layer() -> None:
    net = graph(network(2, 1, roles="none"))
    assert "roles" not in net
    assert set(net.successors("pair")) == {"1.1", "1.2"}
    fixed = graph(network(None, 1, roles=[Role("x"), Role("y"), Role("z")]))
    assert set(fixed.successors("pair")) == {"1.1", "1.2", "1.3"}


def test_the_network_of_a_pair_with_other_roles() -> None:
    wide = graph(network(None, 2), 7)
    assert sum(data["kind"] == "neuron" for _, data in wide.nodes(data=True)) == 14
    narrow = graph(set_role(network(3, 2), 0, 2, Role("own")), 1)
    assert [node for node in in_order(narrow) if "." in node] == ["1.1", "1.3", "2.1"]
    assert set(narrow.predecessors("2.1")) == {"1.1", "1.3"}


def test_windows_and_edges_of_their_own() -> None:
    window = set_wiring(network(4, 2), 1, "window", 1)
    assert set(graph(window).predecessors("2.1")) == {"1.1", "1.2"}
    cut = disconnect(window, (0, 1), (1, 0))
    assert set(graph(cut).predecessors("2.1")) == {"1.1"}
    lone = disconnect(cut, (0, 0), (1, 0))
    assert "2.1" not in nx.descendants(graph(lone), "pair")


@given(st.sampled_from(sorted(PRESETS)), st.integers(1, 9), st.sampled_from(["full", "window"]), st.integers(1, 4))
def test_every_network_is_acyclic_and_reached_from_the_pair(key: str, roles: int, wiring: str, depth: int) -> None:
    spec = PRESETS[key].spec
    spec = replace(spec, layers=(spec.layers[0],) * depth)
    for layer in range(1, depth):
        spec = set_wiring(spec, layer, "window" if wiring == "window" else "full")
    net = graph(spec, roles)
    assert nx.is_directed_acyclic_graph(net)
    assert nx.descendants(net, "pair") == set(net) - {"pair"}
    order = {node: place for place, node in enumerate(in_order(net))}
    assert all(order[source] < order[target] for source, target in net.edges)
    assert all(net.nodes[source]["column"] < net.nodes[target]["column"] for source, target in net.edges)


def wired(*layers: LayerSpec, roles: RolesSpec | None = None) -> NetworkSpec:
    return NetworkSpec(layers, roles=roles or RolesSpec("none"))


def by_hand(*inputs: tuple[int, ...]) -> LayerSpec:
    return LayerSpec(tuple(NeuronSpec(inputs=each) for each in inputs), wiring=Wiring("explicit"))


def plain(width: int, wiring: Wiring | None = None) -> LayerSpec:
    return LayerSpec((NeuronSpec(),) * width, wiring=wiring or Wiring())


def test_what_a_neuron_reads_and_who_reads_it() -> None:
    net = network_graph(wired(plain(4), plain(3, Wiring("window", 1)), by_hand((2, 0), (1,))))
    assert net.layers == ((0, 1, 2, 3), (0, 1, 2), (0, 1))
    assert [net.inputs(1, place) for place in range(3)] == [(0, 1), (0, 1, 2), (1, 2, 3)]
    assert [net.inputs(2, place) for place in range(2)] == [(0, 2), (1,)]
    assert [set(net.net.successors(f"1.{place}")) for place in range(1, 5)] == [
        {"2.1", "2.2", "aggregation"},
        {"2.1", "2.2", "2.3", "aggregation"},
        {"2.2", "2.3", "aggregation"},
        {"2.3", "aggregation"},
    ]
    assert (net.inputs(0, 0), net.inputs(2, 7)) == ((), ())


def test_neurons_that_nobody_in_the_next_layer_reads() -> None:
    net = network_graph(wired(plain(4), by_hand((2,), (2, 1)), plain(1)))
    assert (net.unread(0), net.unread(1)) == ((0, 3), ())


def test_layers_are_the_generations_of_a_sound_network() -> None:
    for key, preset in PRESETS.items():
        net = network_graph(preset.spec)
        generations = [
            tuple(sorted(net.net.nodes[node]["neuron"] - 1 for node in nodes))
            for nodes in nx.topological_generations(net.net)
            if net.net.nodes[nodes[0]]["kind"] == "neuron"
        ]
        assert tuple(generations) == net.layers, key


def test_edges_that_lead_nowhere_and_edges_drawn_twice() -> None:
    spec = wired(plain(2), by_hand((0, 5), (-1, 1, 1)))
    net = network_graph(spec)
    assert [net.dangling(1, place) for place in range(2)] == [(5,), (-1,)]
    assert [net.doubled(1, place) for place in range(2)] == [(), (1,)]
    assert [net.inputs(1, place) for place in range(2)] == [(0,), (1,)]
    assert graph(spec).nodes["1.6"]["kind"] == "missing"
    # A neuron that has no role on a pair is no mistake.
    some = replace(wired(plain(3), by_hand((2,), (0,))), roles=RolesSpec("generated"))
    assert network_graph(some, 2).inputs(1, 0) == ()
    assert network_graph(some, 2).dangling(1, 0) == ()
    assert design_graph(some).inputs(1, 0) == (2,)


def test_neurons_that_nothing_leads_to() -> None:
    spec = wired(plain(2), by_hand((), (0,)), by_hand((0,), (1,)))
    assert network_graph(spec).unreached() == ((1, 0), (2, 0))
    found = {problem.path: problem for problem in check(with_settings(spec, model="m"))}
    assert found["layers[1].neurons[0].inputs"].message == "reads nothing of layer 1, which has 2."
    assert (
        found["layers[2].neurons[0].reached"].message == "reads only neurons of layer 2 that read nothing themselves."
    )
    assert "layers[2].neurons[1].reached" not in found


def test_a_window_of_a_layer_as_wide_as_there_are_roles_is_checked_for_its_own_width() -> None:
    adaptive = LayerSpec((NeuronSpec(),), adaptive=True, wiring=Wiring("window", 2))
    wide = wired(plain(3), adaptive, roles=RolesSpec("generated", limit=8))
    (found,) = check(wide)
    assert found.message == "neurons from place 6 on read nothing of layer 1, which has 3."
    assert check(replace(wide, roles=RolesSpec("generated", limit=5))) == ()
    # A limit that no model reaches costs nothing.
    assert check(wired(adaptive, adaptive, roles=RolesSpec("generated", limit=10**9))) == ()


def test_networks_that_differ_in_texts_alone_share_a_graph() -> None:
    one = network(3, 2)
    other = with_settings(replace(one, name="Other"), model="m")
    assert network_graph(one) is network_graph(other)
    assert network_graph(one, 2) is not network_graph(one)
    assert network_graph(set_wiring(one, 1, "window")) is not network_graph(one)


def test_a_graph_for_others_names_roles_and_models_and_may_be_changed() -> None:
    spec = with_settings(network(2, 1, roles=[Role("Truth"), Role("Form")]), endpoint="lab", model="m")
    net = graph(spec)
    assert net.nodes["1.2"] == {
        "kind": "neuron",
        "column": 1,
        "layer": 1,
        "neuron": 2,
        "role": "Form",
        "endpoint": "lab",
        "model": "m",
        "max_tokens": 1024,
        "samples": 1,
    }
    net.remove_node("1.2")
    assert "1.2" in graph(spec)
