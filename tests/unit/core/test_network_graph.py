"""The design as a graph."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from judgenet.core.design import disconnect, set_role, set_wiring
from judgenet.core.network import Role
from judgenet.core.network_graph import graph, in_order
from judgenet.core.presets import PRESETS, network


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
    assert net.nodes["2.1"] == {"kind": "neuron", "column": 3, "layer": 2, "neuron": 1}
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
