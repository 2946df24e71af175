"""A design as a directed graph, for order and layout."""

from __future__ import annotations

import networkx as nx

from judgenet.core.network import NetworkSpec, designed_roles, inputs_of, needs_roles, places_of

PAIR, ROLES, AGGREGATION, CHAIR, VERDICT = "pair", "roles", "aggregation", "chair", "verdict"
"""Nodes that are no neurons. A neuron's node is ``"layer.neuron"``, both from 1."""


def neuron_node(layer: int, neuron: int) -> str:
    """The node of a neuron, both counted from 1."""
    return f"{layer}.{neuron}"


def graph(spec: NetworkSpec, roles: int | None = None) -> nx.DiGraph[str]:
    """The network for a pair with so many roles (``None``: as designed).

    Edges are what is handed on: the pair to role generation where there is one and to the first layer, evaluations
    from layer to layer, all neurons to the aggregation, the last layer to the chair, both to the verdict. Every node
    has ``kind`` (pair, roles, neuron, aggregation, chair, verdict) and ``column``, its place from left to right;
    neurons have ``layer`` and ``neuron`` too, from 1 as in records.
    """
    roles = designed_roles(spec) if roles is None else roles
    net: nx.DiGraph[str] = nx.DiGraph()
    net.add_node(PAIR, kind="pair", column=0)
    start = PAIR
    if needs_roles(spec):
        net.add_node(ROLES, kind="roles", column=1)
        net.add_edge(PAIR, ROLES)
        start = ROLES
    first = net.nodes[start]["column"] + 1
    after = first + spec.depth
    net.add_node(AGGREGATION, kind="aggregation", column=after)
    net.add_node(VERDICT, kind="verdict", column=after + 1 + (spec.chair is not None))
    net.add_edge(AGGREGATION, VERDICT)
    before: tuple[int, ...] = ()
    for layer in range(spec.depth):
        places = places_of(spec, layer, roles)
        width_before = max(before, default=-1) + 1
        for place in places:
            node = neuron_node(layer + 1, place + 1)
            net.add_node(node, kind="neuron", column=first + layer, layer=layer + 1, neuron=place + 1)
            net.add_edge(node, AGGREGATION)
            if layer == 0:
                net.add_edge(start, node)
                continue
            for read in inputs_of(spec, layer, place, width_before):
                if read in before:
                    net.add_edge(neuron_node(layer, read + 1), node)
        before = places
    if spec.chair is not None:
        net.add_node(CHAIR, kind="chair", column=after + 1)
        net.add_edges_from((neuron_node(spec.depth, place + 1), CHAIR) for place in before)
        net.add_edge(CHAIR, VERDICT)
    return net


def in_order(net: nx.DiGraph[str]) -> tuple[str, ...]:
    """The nodes so that each comes after all that it reads: by column, then by place."""
    key = {node: (data["column"], data.get("neuron", 0)) for node, data in net.nodes(data=True)}
    return tuple(nx.lexicographical_topological_sort(net, key=key.__getitem__))
