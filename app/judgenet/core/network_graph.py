"""A network as a directed graph: which neuron reads which. Everything that needs to know who reads whom asks this
module."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from judgenet.core.documents import well_formed
from judgenet.core.network import (
    USUAL_ROLES,
    NetworkSpec,
    designed_role,
    designed_roles,
    designed_width,
    needs_roles,
    neuron_settings,
    places_of,
)
from judgenet.core.network_json import to_json

if TYPE_CHECKING:
    import networkx as nx

NodeKind = Literal["pair", "roles", "neuron", "aggregation", "chair", "verdict", "missing"]
"""What a node is; ``missing`` is one that an edge of the design names and that the network does not have."""

NEURON_ATTRIBUTES = (
    "role",
    "description",
    "endpoint",
    "model",
    "temperature",
    "max_tokens",
    "samples",
    "reasoning",
    "scores",
    "extra",
)
"""What a neuron's node says of it."""

DESIGN = "design"
"""The attribute of a graph that holds the whole design in its JSON form."""

PAIR, ROLES, AGGREGATION, CHAIR, VERDICT = "pair", "roles", "aggregation", "chair", "verdict"
"""Nodes that are no neurons. A neuron's node is ``"layer.neuron"``, both from 1."""

MOST_ROLES = 1000
"""A layer as wide as there are roles has at most so many neurons in the graph of a design."""

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")

_KEPT = 32
"""So many graphs are kept: a run has one for each number of roles, an editor one for each recent design."""


def neuron_node(layer: int, neuron: int) -> str:
    """The node of a neuron, both counted from 1."""
    return f"{layer}.{neuron}"


class NetworkGraph:
    """Who reads whom in a network, on a pair with so many roles. Layers and places are 0-based, as in a design.

    Attributes:
        layers: the places of the neurons that work, layer by layer, in ascending order.
    """

    def __init__(self, shape: _Shape) -> None:
        self.layers = tuple(layer.places for layer in shape.layers)
        self._shape = shape
        self._edges: dict[tuple[int, int], _EdgesIn] = {}
        for layer, this in enumerate(shape.layers):
            edges = _layer_edges(shape.layers[layer - 1], this) if layer else [_NO_EDGES] * len(this.places)
            self._edges.update(((layer, place), into) for place, into in zip(this.places, edges, strict=True))

    @cached_property
    def net(self) -> nx.DiGraph[str]:
        """The graph, frozen; see :func:`graph`. It is built when first asked for: a design under edit is checked
        after each change, and the checks need only the edges."""
        return _built(self._shape, self._edges)

    def inputs(self, layer: int, place: int) -> tuple[int, ...]:
        """The places in the layer before that a neuron reads, in ascending order, its own included. Nothing for a
        neuron that does not work on such a pair."""
        return self._edges.get((layer, place), _NO_EDGES).inputs

    def unread(self, layer: int) -> tuple[int, ...]:
        """The places of a layer, not the last one, that no neuron of the next layer reads, in ascending order."""
        read = set().union(*(self._edges[layer + 1, place].inputs for place in self.layers[layer + 1]))
        return tuple(place for place in self.layers[layer] if place not in read)

    def dangling(self, layer: int, place: int) -> tuple[int, ...]:
        """The places that a neuron's own edges name and that the layer before does not have by the design, in
        ascending order."""
        return self._edges.get((layer, place), _NO_EDGES).dangling

    def doubled(self, layer: int, place: int) -> tuple[int, ...]:
        """The places that a neuron's own edges name more than once, in ascending order."""
        return tuple(doubled for doubled, _ in self._edges.get((layer, place), _NO_EDGES).repeated)

    def unreached(self) -> tuple[tuple[int, int], ...]:
        """The neurons (layer, place) to which nothing leads from the pair, in order."""
        missing: list[tuple[int, int]] = []
        reached: set[int] = set()
        for layer, places in enumerate(self.layers):
            # The pair leads to the whole first layer.
            reached = {place for place in places if not layer or not reached.isdisjoint(self.inputs(layer, place))}
            missing += [(layer, place) for place in places if place not in reached]
        return tuple(missing)


def network_graph(spec: NetworkSpec, roles: int | None = None) -> NetworkGraph:
    """Who reads whom on a pair with so many roles (``None``: as designed). Networks that differ in texts or models
    alone share one; it is made once."""
    roles = designed_roles(spec) if roles is None else roles
    return _kept_graph(_shape(spec, [places_of(spec, layer, roles) for layer in range(spec.depth)]))


def design_graph(spec: NetworkSpec, usual: int = USUAL_ROLES) -> NetworkGraph:
    """Who reads whom among all neurons of a design, whether or not every pair has a role for each of them.

    ``usual`` is the width of a layer that is as wide as the model names roles.
    """
    places = []
    for layer, layer_spec in enumerate(spec.layers):
        wide = designed_width(spec, layer) if layer_spec.adaptive else len(layer_spec.neurons)
        places.append(tuple(range(usual if wide is None else min(wide, MOST_ROLES) if layer_spec.adaptive else wide)))
    return _kept_graph(_shape(spec, places))


def graph(spec: NetworkSpec, roles: int | None = None) -> nx.DiGraph[str]:
    """The network for a pair with so many roles (``None``: as designed), as a graph of its own that may be changed.

    Edges are what is handed on: the pair to role generation where there is one and to the first layer, evaluations
    from layer to layer, all neurons to the aggregation, the last layer to the chair, both to the verdict. Every node
    has ``kind`` (pair, roles, neuron, aggregation, chair, verdict) and ``column``, its place from left to right;
    neurons have ``layer`` and ``neuron`` too, from 1 as in records, and their :func:`neuron_attributes`; ``stop`` is
    the stop rule that stands before a neuron or the chair, where there is one. The graph's
    attribute ``design`` is the whole network in its JSON form. In a design that
    :func:`~judgenet.core.checks.check` refuses there may be nodes of the kind ``missing``, which an edge names and
    which do not exist. :func:`judgenet.core.network_from_graph.from_graph` is the way back.
    """
    known_graph = network_graph(spec, roles)
    net = known_graph.net.copy()
    net.graph.update({"name": spec.name, DESIGN: to_json(spec)})
    for layer, places in enumerate(known_graph.layers):
        for place in places:
            net.nodes[neuron_node(layer + 1, place + 1)].update(neuron_attributes(spec, layer, place))
            in_turn = spec.layers[layer].between if place > places[0] else None
            rule = in_turn or spec.layers[layer].gate
            if rule is not None:
                net.nodes[neuron_node(layer + 1, place + 1)]["stop"] = rule.text
    if spec.chair is not None and spec.chair.gate is not None:
        net.nodes[CHAIR]["stop"] = spec.chair.gate.text
    return net


def neuron_attributes(spec: NetworkSpec, layer: int, place: int) -> dict[str, Any]:
    """What a neuron's node says of it: its role where the design gives one, and the settings in force."""
    role = designed_role(spec, layer, place)
    settings = neuron_settings(spec, layer, place)
    given: dict[str, Any] = {
        "role": role and _plain(role.name),
        "description": role and _plain(role.description),
        "endpoint": settings.endpoint and _plain(settings.endpoint),
        "model": settings.model and _plain(settings.model),
        "temperature": None if settings.temperature == "default" else settings.temperature,
        "max_tokens": settings.max_tokens,
        "samples": settings.samples,
        # Always a text: formats of files want one type for all nodes.
        "reasoning": None if settings.reasoning is None else str(settings.reasoning),
        "scores": settings.scores,
        "extra": settings.extra,
    }
    return {name: value for name, value in given.items() if value not in (None, "")}


def _plain(text: str) -> str:
    """The text as every form of file can hold it, XML too. The design itself keeps it as it is."""
    return _CONTROL.sub("\ufffd", well_formed(text).replace("\r\n", "\n").replace("\r", "\n"))


class _LayerShape(NamedTuple):
    """What of a layer decides who reads whom: who works, how many there are by the design (``None``: as many as the
    model names roles), and the wiring. ``window`` is ``None`` where all read all; ``wires`` are edges of their own."""

    places: tuple[int, ...]
    designed: int | None
    window: int | None
    wires: tuple[tuple[int, ...], ...] | None


class _Shape(NamedTuple):
    generates_roles: bool
    chair: bool
    layers: tuple[_LayerShape, ...]


def _shape(spec: NetworkSpec, working: Sequence[tuple[int, ...]]) -> _Shape:
    layers = []
    for layer, (layer_spec, places) in enumerate(zip(spec.layers, working, strict=True)):
        kind = layer_spec.wiring.kind
        layers.append(
            _LayerShape(
                places,
                designed_width(spec, layer),
                layer_spec.wiring.window if kind == "window" else None,
                tuple(tuple(neuron.inputs or ()) for neuron in layer_spec.neurons) if kind == "explicit" else None,
            )
        )
    return _Shape(needs_roles(spec), spec.chair is not None, tuple(layers))


class _EdgesIn(NamedTuple):
    """The edges into a neuron, as places of the layer before in ascending order: those that it reads, those that the
    layer does not have by the design, and those that are named more than once, each with how often."""

    inputs: tuple[int, ...] = ()
    dangling: tuple[int, ...] = ()
    repeated: tuple[tuple[int, int], ...] = ()


_NO_EDGES = _EdgesIn()


def _layer_edges(before: _LayerShape, layer: _LayerShape) -> list[_EdgesIn]:
    """The edges into each working neuron of a layer from the layer before it."""
    if layer.wires is not None:
        wires = layer.wires
        return [_own_edges(before, wires[place] if place < len(wires) else ()) for place in layer.places]
    if layer.window is None:
        return [_EdgesIn(before.places)] * len(layer.places)
    reach = layer.window
    return [_EdgesIn(tuple(read for read in before.places if abs(read - place) <= reach)) for place in layer.places]


def _own_edges(before: _LayerShape, wires: tuple[int, ...]) -> _EdgesIn:
    named = set(wires)
    inputs = named.intersection(before.places)
    # A neuron that only has no role on such a pair is no mistake: its edge is left out.
    dangling = {
        read for read in named - inputs if read < 0 or (before.designed is not None and read >= before.designed)
    }
    repeated = []
    if len(named) < len(wires):
        repeated = [(read, times) for read in sorted(inputs | dangling) if (times := wires.count(read)) > 1]
    return _EdgesIn(tuple(sorted(inputs)), tuple(sorted(dangling)), tuple(repeated))


@lru_cache(maxsize=_KEPT)
def _kept_graph(shape: _Shape) -> NetworkGraph:
    return NetworkGraph(shape)


def _built(shape: _Shape, edges: Mapping[tuple[int, int], _EdgesIn]) -> nx.DiGraph[str]:
    """The graph of a network with its nodes and their places, frozen."""
    # Commands that need no graph start without it.
    import networkx as nx

    net: nx.DiGraph[str] = nx.DiGraph()
    net.add_node(PAIR, kind="pair", column=0)
    start = PAIR
    if shape.generates_roles:
        net.add_node(ROLES, kind="roles", column=1)
        net.add_edge(PAIR, ROLES)
        start = ROLES
    first = net.nodes[start]["column"] + 1
    after = first + len(shape.layers)
    net.add_node(AGGREGATION, kind="aggregation", column=after)
    net.add_node(VERDICT, kind="verdict", column=after + 1 + shape.chair)
    net.add_edge(AGGREGATION, VERDICT)
    nodes: list[str] = []
    for layer, this in enumerate(shape.layers):
        nodes = [neuron_node(layer + 1, place + 1) for place in this.places]
        for place, node in zip(this.places, nodes, strict=True):
            net.add_node(node, kind="neuron", column=first + layer, layer=layer + 1, neuron=place + 1)
            _add_edges(net, node, layer, edges[layer, place])
        if not layer:
            net.add_edges_from((start, node) for node in nodes)
        net.add_edges_from((node, AGGREGATION) for node in nodes)
    if shape.chair:
        net.add_node(CHAIR, kind="chair", column=after + 1)
        net.add_edges_from((node, CHAIR) for node in nodes)
        net.add_edge(CHAIR, VERDICT)
    nx.freeze(net)
    return net


def _add_edges(net: nx.DiGraph[str], node: str, layer: int, edges: _EdgesIn) -> None:
    """Adds the edges into a neuron; ``layer`` counts from 0."""
    column = net.nodes[node]["column"] - 1
    for place in edges.dangling:
        net.add_node(neuron_node(layer, place + 1), kind="missing", layer=layer, neuron=place + 1, column=column)
    for place in (*edges.inputs, *edges.dangling):
        net.add_edge(neuron_node(layer, place + 1), node)
    for place, times in edges.repeated:
        net.edges[neuron_node(layer, place + 1), node]["times"] = times
