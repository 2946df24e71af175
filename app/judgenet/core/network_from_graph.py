"""The network that a graph describes: the way back from :func:`judgenet.core.network_graph.graph`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, get_args

from judgenet.core.documents import DocumentError, Fields, parse
from judgenet.core.extra_fields import parse_extra
from judgenet.core.network import (
    ChairSpec,
    LayerSpec,
    NetworkError,
    NetworkSpec,
    NeuronSpec,
    Role,
    RolesSpec,
    ScoresSetting,
    Wiring,
)
from judgenet.core.network_graph import (
    DESIGN,
    NEURON_ATTRIBUTES,
    NodeKind,
    design_graph,
    neuron_attributes,
    neuron_node,
)
from judgenet.core.network_json import from_json
from judgenet.core.reasoning import read_reasoning_text

if TYPE_CHECKING:
    import networkx as nx

_KINDS: tuple[str, ...] = get_args(NodeKind)


def from_graph(net: nx.DiGraph[Any], name: str = "Network") -> NetworkSpec:
    """The network of a directed graph whose edges lead from what is read to what reads it.

    Nodes are neurons unless their attribute ``kind`` says otherwise (pair, roles, aggregation, chair, verdict). A
    neuron's ``layer`` and ``neuron`` (from 1) say where it stands; without them layers are the graph's topological
    generations, and neurons stand in the order of the nodes. ``role``, ``description``, ``endpoint``, ``model``,
    ``temperature``, ``max_tokens``, ``samples``, ``reasoning``, ``scores`` and ``extra`` (JSON) are its own. The
    graph's attribute ``design`` holds the whole network where this program wrote the graph: then only what differs from
    it is taken from nodes and edges.

    ``name`` is the network's where the graph has none. Whether the design is sound is for
    :func:`~judgenet.core.checks.check` to say.

    :raises NetworkError: the graph is no network of judges. The message says which node or edge, and how to mend it.
    """
    if not net.is_directed():
        problem = "The edges have no direction. Write a directed graph: an edge leads to the neuron that reads."
        raise NetworkError(problem)
    if net.is_multigraph():
        _refuse_doubled(net)
    kinds = _kinds(net)
    neurons = [node for node in net if kinds[node] == "neuron"]
    if not neurons:
        raise NetworkError("There is no neuron in the graph. Give the nodes that judge the attribute kind = neuron.")
    _refuse_cycles(net)
    layers = _layers(net, neurons)
    base = _design(net, name)
    spec = replace(base, layers=tuple(_layer(net, base, number, layers) for number in range(len(layers))))
    has_chair = "chair" in kinds.values()
    if has_chair != (base.chair is not None):
        spec = replace(spec, chair=ChairSpec() if has_chair else None)
    if DESIGN not in net.graph and "roles" in kinds.values():
        spec = replace(spec, roles=RolesSpec("generated"))
    return spec


def _refuse_doubled(net: nx.DiGraph[Any]) -> None:
    seen: set[tuple[Any, Any]] = set()
    for edge in net.edges():
        if edge in seen:
            raise NetworkError(f"Two edges lead from {edge[0]!r} to {edge[1]!r}. Remove one of the two.")
        seen.add(edge)


def _kinds(net: nx.DiGraph[Any]) -> dict[Any, str]:
    given = {node: data.get("kind") for node, data in net.nodes(data=True)}
    if all(kind is None for kind in given.values()):
        return dict.fromkeys(given, "neuron")
    for node, kind in given.items():
        if kind not in _KINDS:
            problem = "has no kind" if kind is None else f"has the kind {kind!r}"
            raise NetworkError(f"The node {node!r} {problem}. Kinds are {', '.join(_KINDS)}.")
    return {node: str(kind) for node, kind in given.items()}


def _refuse_cycles(net: nx.DiGraph[Any]) -> None:
    import networkx as nx

    try:
        cycle = nx.find_cycle(net)
    except nx.NetworkXNoCycle:
        return
    shown = " → ".join(str(edge[0]) for edge in [*cycle, cycle[0]])
    raise NetworkError(f"Edges lead in a circle: {shown}. A neuron reads earlier layers only: remove one of the edges.")


def _layers(net: nx.DiGraph[Any], neurons: list[Any]) -> list[list[Any]]:
    """The nodes of each layer in the order of their places."""
    import networkx as nx

    own = net.subgraph(neurons)
    layer = {node: _whole(net, node, "layer") for node in neurons}
    if any(number is None for number in layer.values()):
        layer = {node: number for number, nodes in enumerate(nx.topological_generations(own)) for node in nodes}
    place = {node: _whole(net, node, "neuron") for node in neurons}
    order = {node: number for number, node in enumerate(neurons)}
    ranked = sorted(neurons, key=lambda node: (layer[node], place[node] or 0, order[node]))
    layers = [list(nodes) for _, nodes in groupby(ranked, key=lambda node: layer[node])]
    at = {node: number for number, nodes in enumerate(layers) for node in nodes}
    for source, target in own.edges():
        if at[source] + 1 != at[target]:
            raise NetworkError(
                f"The edge from {source!r} to {target!r} leads from layer {at[source] + 1} to layer {at[target] + 1}. "
                "A neuron reads the layer before its own: remove the edge, or move one of the two."
            )
    return layers


def _whole(net: nx.DiGraph[Any], node: Any, name: str) -> int | None:
    value = net.nodes[node].get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise NetworkError(f"The node {node!r} has the {name} {value!r}. It must be a whole number that counts from 1.")
    return value


def _design(net: nx.DiGraph[Any], name: str) -> NetworkSpec:
    given = net.graph.get(DESIGN)
    if given is None:
        own = net.graph.get("name")
        return NetworkSpec((), roles=RolesSpec("none"), name=own if isinstance(own, str) and own else name)
    try:
        return from_json(parse(given) if isinstance(given, str) else given, f"graph.{DESIGN}")
    except DocumentError as error:
        raise NetworkError(f"graph.{DESIGN}: {error}") from None


def _layer(net: nx.DiGraph[Any], base: NetworkSpec, number: int, layers: list[list[Any]]) -> LayerSpec:
    """A layer of the network: that of the design where the graph says the same, else made from nodes and edges."""
    nodes = layers[number]
    before = {node: place for place, node in enumerate(layers[number - 1])} if number else {}
    reads = [tuple(sorted(before[source] for source in net.predecessors(node) if source in before)) for node in nodes]
    if number >= base.depth:
        neurons = tuple(_neuron(NeuronSpec(), node, _changes(net, node, {})) for node in nodes)
        return _wired(LayerSpec(neurons), reads, len(before))
    designed = base.layers[number]
    wired = design_graph(base)
    names = {neuron_node(number + 1, place + 1): place for place in wired.layers[number]}
    known = {node: neuron_attributes(base, number, place) for node, place in names.items()}
    changes = [_changes(net, node, known.get(node, {})) for node in nodes]
    earlier = wired.layers[number - 1] if number else ()
    same = nodes == list(names) and list(before) == [neuron_node(number, place + 1) for place in earlier]
    same = same and reads == [wired.inputs(number, place) for place in names.values()]
    if same and not any(changes):
        return designed
    patterns = designed.neurons * len(names) if designed.adaptive else designed.neurons
    kept = [patterns[names[node]] if node in names else NeuronSpec() for node in nodes]
    neurons = tuple(_neuron(*of) for of in zip(kept, nodes, changes, strict=True))
    changed = replace(designed, neurons=neurons, adaptive=False)
    return changed if same else _wired(changed, reads, len(before))


def _wired(layer_spec: LayerSpec, reads: list[tuple[int, ...]], before: int) -> LayerSpec:
    """The layer with a wiring by which its neurons read these places."""
    window = layer_spec.wiring.window
    neurons = tuple(replace(neuron, inputs=None) for neuron in layer_spec.neurons)
    if not before:
        return replace(layer_spec, neurons=neurons, wiring=Wiring("full", window))
    earlier = LayerSpec((NeuronSpec(),) * before)
    for kind in ("full", "window"):
        layer = replace(layer_spec, neurons=neurons, wiring=Wiring(kind, window))
        wired = design_graph(NetworkSpec((earlier, layer)))
        if reads == [wired.inputs(1, place) for place in range(len(neurons))]:
            return layer
    neurons = tuple(replace(neuron, inputs=each) for neuron, each in zip(neurons, reads, strict=True))
    return replace(layer_spec, neurons=neurons, wiring=Wiring("explicit", window))


def _changes(net: nx.DiGraph[Any], node: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    """What a node says of its neuron that the design does not say."""
    data = net.nodes[node]
    return {name: data[name] for name in NEURON_ATTRIBUTES if data.get(name) not in (None, "", known.get(name))}


def _scores(given: Fields) -> str | None:
    """Where scores come from.

    :raises DocumentError: that is no such choice.
    """
    value = given.optional_text("scores")
    if value not in (None, *get_args(ScoresSetting)):
        raise DocumentError(given.at("scores"), f"must be {' or '.join(get_args(ScoresSetting))}, but is {value!r}")
    return value


def _neuron(neuron: NeuronSpec, node: Any, changes: Mapping[str, Any]) -> NeuronSpec:
    given = Fields(dict(changes), f"nodes[{node!r}]")
    try:
        role = neuron.role
        if "role" in changes:
            role = Role(given.text("role"), given.text("description", ""))
        elif "description" in changes and role is not None:
            role = replace(role, description=given.text("description"))
        read: dict[str, Any] = {
            "endpoint": given.optional_text("endpoint"),
            "model": given.optional_text("model"),
            "temperature": given.number("temperature"),
            "max_tokens": given.whole("max_tokens"),
            "samples": given.whole("samples"),
            "reasoning": read_reasoning_text(given.at("reasoning"), changes.get("reasoning")),
            "scores": _scores(given),
            "extra": None if "extra" not in changes else parse_extra(given.text("extra"), given.at("extra")),
        }
    except DocumentError as error:
        raise NetworkError(str(error)) from None
    settings = replace(neuron.settings, **{name: value for name, value in read.items() if value is not None})
    return replace(neuron, role=role, settings=settings)
