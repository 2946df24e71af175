"""Networks as files that graph tools read and write: GraphML, node-link JSON, and DOT (written only)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from judgenet.core.documents import DocumentError, Fields, kind_of, parse, to_text
from judgenet.core.network import NetworkError, NetworkSpec
from judgenet.core.network_from_graph import from_graph
from judgenet.core.network_graph import DESIGN, graph

if TYPE_CHECKING:
    import networkx as nx

_FORMS = "Networks are read from GraphML and from node-link JSON (judgenet export --what network)."


def graphml_text(spec: NetworkSpec) -> str:
    """The network's graph as GraphML. The whole design stands in the graph's attribute ``design`` as JSON."""
    import networkx as nx

    net = graph(spec)
    net.graph = {DESIGN: json.dumps(net.graph[DESIGN], sort_keys=True)}
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + "\n".join(nx.generate_graphml(net)) + "\n"


def node_link_text(spec: NetworkSpec) -> str:
    """The network's graph as node-link JSON (``networkx.node_link_graph`` with ``edges="edges"``)."""
    import networkx as nx

    return to_text(nx.node_link_data(graph(spec), edges="edges"))


def dot_text(spec: NetworkSpec) -> str:
    """The network's graph for Graphviz: each column a rank, neurons with their role and model."""
    net = graph(spec)
    columns: dict[int, list[str]] = {}
    lines = [f"digraph {_quoted(spec.name)} {{", "  rankdir=LR;", "  node [shape=box, style=rounded];"]
    for node, data in net.nodes(data=True):
        columns.setdefault(data["column"], []).append(_quoted(node))
        title = f"Neuron {node}" if data["kind"] == "neuron" else str(data["kind"]).capitalize()
        stop = f"unless {data['stop']}" if "stop" in data else None
        label = "\n".join(str(part) for part in (title, data.get("role"), data.get("model"), stop) if part)
        lines.append(f"  {_quoted(node)} [label={_quoted(label)}];")
    lines += [f"  {{ rank=same; {'; '.join(nodes)}; }}" for _, nodes in sorted(columns.items())]
    lines += [f"  {_quoted(source)} -> {_quoted(target)};" for source, target in net.edges]
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def read_network(path: Path) -> NetworkSpec:
    """The network in a file of GraphML or node-link JSON.

    :raises NetworkError: the file cannot be read, or holds no network of judges. The message names file and place.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise NetworkError(f"{path}: cannot be read ({error.strerror or error}).") from None
    except UnicodeDecodeError:
        raise NetworkError(f"{path}: is no text in UTF-8. {_FORMS}") from None
    try:
        net = _graphml(text) if text.lstrip().startswith("<") else _node_link(text)
        return from_graph(net, path.stem)
    except (NetworkError, DocumentError) as error:
        raise NetworkError(f"{path}: {error}") from None


def _graphml(text: str) -> nx.DiGraph[Any]:
    import networkx as nx

    try:
        net: Any = nx.parse_graphml(text, node_type=str)
    except Exception as error:  # It raises whatever its parts do: XML errors, KeyError, ValueError, its own.
        raise NetworkError(f"This is no GraphML that can be read ({error}). {_FORMS}") from None
    return cast("nx.DiGraph[Any]", net)


def _node_link(text: str) -> nx.DiGraph[Any]:
    import networkx as nx

    try:
        fields = Fields(parse(text))
    except DocumentError as error:
        raise NetworkError(f"{error.problem}. {_FORMS}") from None
    if "schema" in fields.members and "network" in fields.members:
        raise NetworkError(f"This is a project, which judgenet opens as it is. {_FORMS}")
    edges = "links" if "edges" not in fields.members and "links" in fields.members else "edges"
    for name in ("nodes", edges):
        value = fields.members.get(name)
        if not isinstance(value, list):
            problem = "is missing" if value is None else f"must be a list, but is {kind_of(value)}"
            raise fields.error(name, f"{problem}. {_FORMS}")
    if fields.members.get("directed") is False:
        raise NetworkError("directed: is false. An edge must lead from what is read to what reads it: write a DiGraph.")
    net: nx.DiGraph[Any] = nx.DiGraph()
    net.graph.update(fields.inner("graph").members)
    for place, record in enumerate(fields.members["nodes"]):
        node = Fields(record, f"nodes[{place}]")
        name = _name(node, "id")
        if name in net:
            raise node.error("id", f"{name!r} is there twice")
        net.add_node(name, **{key: value for key, value in node.members.items() if key != "id"})
    for place, record in enumerate(fields.members[edges]):
        edge = Fields(record, f"{edges}[{place}]")
        ends = [_name(edge, end) for end in ("source", "target")]
        for end, name in zip(("source", "target"), ends, strict=True):
            if name not in net:
                raise edge.error(end, f"{name!r} is no id of a node")
        if net.has_edge(*ends):
            raise DocumentError(edge.path, f"leads from {ends[0]!r} to {ends[1]!r} like an edge before it; remove one")
        net.add_edge(*ends)
    return net


def _name(owner: Fields, member: str) -> str:
    """The id of a node: a text, or a number as text."""
    value = owner.members.get(member)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return owner.text(member)
