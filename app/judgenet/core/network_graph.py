"""A network as a directed graph: which neuron reads which. All else that asks who reads whom asks this graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
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
        net: the graph, frozen; see :func:`graph`.
        layers: the places of the neurons that work, layer by layer, in ascending order.
    """

    def __init__(self, net: nx.DiGraph[str], layers: tuple[tuple[int, ...], ...]) -> None:
        self.net = net
        self.layers = layers
        self._inputs: dict[tuple[int, int], tuple[int, ...]] = {}
        self._readers: dict[tuple[int, int], list[int]] = {}
        self._dangling: dict[tuple[int, int], list[int]] = {}
        self._doubled: dict[tuple[int, int], list[int]] = {}
        at = {neuron_node(layer + 1, of + 1): (layer, of) for layer, places in enumerate(layers) for of in places}
        neurons: Mapping[str, int | None] = dict(net.nodes(data="neuron"))  # type: ignore[arg-type]
        missing = {node: number - 1 for node, number in neurons.items() if number is not None and node not in at}
        read: dict[tuple[int, int], list[int]] = {place: [] for place in at.values()}
        edges: Iterable[tuple[str, str, int | None]] = net.edges(data="times")
        for source, target, times in edges:
            reader = at.get(target)
            if reader is None:
                continue
            if source in at:
                place = at[source][1]
                read[reader].append(place)
                self._readers.setdefault(at[source], []).append(reader[1])
            elif source in missing:
                place = missing[source]
                self._dangling.setdefault(reader, []).append(place)
            if times:
                self._doubled.setdefault(reader, []).append(place)
        same: dict[tuple[int, ...], tuple[int, ...]] = {}
        for reader, places in read.items():
            inputs = tuple(sorted(places))
            self._inputs[reader] = same.setdefault(inputs, inputs)

    def inputs(self, layer: int, place: int) -> tuple[int, ...]:
        """The places in the layer before that a neuron reads, in ascending order, its own included. Nothing for a
        neuron that does not work on such a pair."""
        return self._inputs.get((layer, place), ())

    def readers(self, layer: int, place: int) -> tuple[int, ...]:
        """The places in the next layer whose neurons read this one, in ascending order."""
        return tuple(sorted(self._readers.get((layer, place), ())))

    def dangling(self, layer: int, place: int) -> tuple[int, ...]:
        """The places that a neuron's own edges name and that the layer before does not have by the design."""
        return tuple(sorted(self._dangling.get((layer, place), ())))

    def doubled(self, layer: int, place: int) -> tuple[int, ...]:
        """The places that a neuron's own edges name more than once."""
        return tuple(sorted(self._doubled.get((layer, place), ())))

    def unreached(self) -> tuple[tuple[int, int], ...]:
        """The neurons (layer, place) to which nothing leads from the pair, in order."""
        import networkx as nx

        if all(read for (layer, _), read in self._inputs.items() if layer):
            return ()
        reached = nx.descendants(self.net, PAIR)
        every = ((layer, place) for layer, places in enumerate(self.layers) for place in places)
        return tuple(at for at in every if neuron_node(at[0] + 1, at[1] + 1) not in reached)


def network_graph(spec: NetworkSpec, roles: int | None = None) -> NetworkGraph:
    """Who reads whom on a pair with so many roles (``None``: as designed). Networks that differ in texts or models
    alone share one; it is made once."""
    roles = designed_roles(spec) if roles is None else roles
    return _made(_shape(spec, [places_of(spec, layer, roles) for layer in range(spec.depth)]))


def design_graph(spec: NetworkSpec, usual: int = USUAL_ROLES) -> NetworkGraph:
    """Who reads whom among all neurons of a design, whether or not every pair has a role for each of them.

    ``usual`` is the width of a layer that is as wide as the model names roles.
    """
    places = []
    for layer, of in enumerate(spec.layers):
        wide = designed_width(spec, layer) if of.adaptive else len(of.neurons)
        places.append(tuple(range(usual if wide is None else min(wide, MOST_ROLES) if of.adaptive else wide)))
    return _made(_shape(spec, places))


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
    made = network_graph(spec, roles)
    net = made.net.copy()
    net.graph.update({"name": spec.name, DESIGN: to_json(spec)})
    for layer, places in enumerate(made.layers):
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
    for layer, (of, places) in enumerate(zip(spec.layers, working, strict=True)):
        kind = of.wiring.kind
        layers.append(
            _LayerShape(
                places,
                designed_width(spec, layer),
                of.wiring.window if kind == "window" else None,
                tuple(tuple(neuron.inputs or ()) for neuron in of.neurons) if kind == "explicit" else None,
            )
        )
    return _Shape(needs_roles(spec), spec.chair is not None, tuple(layers))


@lru_cache(maxsize=_KEPT)
def _made(shape: _Shape) -> NetworkGraph:
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
    nodes: dict[int, str] = {}
    for layer, of in enumerate(shape.layers):
        before, nodes = nodes, {place: neuron_node(layer + 1, place + 1) for place in of.places}
        for place, node in nodes.items():
            net.add_node(node, kind="neuron", column=first + layer, layer=layer + 1, neuron=place + 1)
            if layer:
                _wire(net, shape.layers[layer - 1], before, of, layer, place)
        if not layer:
            net.add_edges_from((start, node) for node in nodes.values())
        net.add_edges_from((node, AGGREGATION) for node in nodes.values())
    if shape.chair:
        net.add_node(CHAIR, kind="chair", column=after + 1)
        net.add_edges_from((node, CHAIR) for node in nodes.values())
        net.add_edge(CHAIR, VERDICT)
    return NetworkGraph(nx.freeze(net), tuple(of.places for of in shape.layers))


def _wire(
    net: nx.DiGraph[str], before: _LayerShape, nodes: Mapping[int, str], of: _LayerShape, layer: int, place: int
) -> None:
    """The edges into a neuron from the layer before it, whose working neurons are ``nodes`` by their place."""
    node = neuron_node(layer + 1, place + 1)
    if of.wires is None:
        near = of.window
        net.add_edges_from(
            (source, node) for read, source in nodes.items() if near is None or abs(read - place) <= near
        )
        return
    wires = of.wires[place] if place < len(of.wires) else ()
    for read in dict.fromkeys(wires):
        source = nodes.get(read)
        # A neuron that only has no role on such a pair is no mistake: its edge is left out.
        if source is None and read >= 0 and (before.designed is None or read < before.designed):
            continue
        if source is None:
            source = neuron_node(layer, read + 1)
            data: dict[str, Any] = {"layer": layer, "neuron": read + 1, "column": net.nodes[node]["column"] - 1}
            net.add_node(source, kind="missing", **data)
        times = wires.count(read)
        net.add_edge(source, node, **({"times": times} if times > 1 else {}))
