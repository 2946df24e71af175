"""Networks as files of graphs: what comes back, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgenet.assets import example
from judgenet.core.design import connect, disconnect, set_role, set_settings, set_wiring
from judgenet.core.network import (
    Aggregation,
    LayerSpec,
    LearnedRule,
    NetworkError,
    NetworkSpec,
    NeuronSpec,
    NeuronWeight,
    Role,
    Settings,
    Wiring,
)
from judgenet.core.network_from_graph import from_graph
from judgenet.core.network_graph import graph
from judgenet.core.network_json import digest
from judgenet.core.presets import PRESETS, network
from judgenet.formats.network_files import dot_text, graphml_text, node_link_text, read_network
from judgenet.store.files import load_project

WRITERS = {"graphml": graphml_text, "json": node_link_text}
HAND = disconnect(set_wiring(network(3, 3, chair=True), 1, "window"), (0, 1), (1, 0))
OWN = set_settings(
    set_role(HAND, 0, 1, Role("Tone \r\n & <style>", "Rude?\x07 \ud83d")), (0, 1), Settings(temperature=0.5, samples=3)
)
RULE = LearnedRule("nonnegative", (NeuronWeight(1, 1, None, 0.25),), (2,), labels=7, decides=True)
LEARNED = replace(network(2, 1), aggregation=Aggregation(learned=RULE))
BROKEN = NetworkSpec(
    (LayerSpec((NeuronSpec(),)), LayerSpec((NeuronSpec(inputs=(0, 0, 9)),), wiring=Wiring("explicit")))
)
THINKING = set_settings(
    network(2, 2, settings=Settings(reasoning=2048, extra='{"top_k":20}')),
    (1, 1),
    Settings(reasoning="high", extra="{}"),
)
SPECS = {
    **{key: preset.spec for key, preset in PRESETS.items()},
    **{path.name: load_project(path).network for path in example("").glob("*.judgenet")},
    "by hand": HAND,
    "own": OWN,
    "thinking": THINKING,
    "learned": LEARNED,
    "criteria": network(None, 2, roles="criteria", chair=True),
    "broken": BROKEN,
}


def written(folder: Path, text: str, ending: str = "json") -> Path:
    path = folder / f"net.{ending}"
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("name", SPECS)
def test_a_network_comes_back_as_it_was(name: str, ending: str, tmp_path: Path) -> None:
    back = read_network(written(tmp_path, WRITERS[ending](SPECS[name]), ending))
    assert back == SPECS[name]
    assert digest(back) == digest(SPECS[name])


def test_the_examples_are_among_them() -> None:
    assert {"fixed-roles.judgenet", "widedeep-2x3.judgenet"} <= SPECS.keys()


def test_others_read_the_same_graph(tmp_path: Path) -> None:
    net = graph(HAND)
    by_xml = nx.read_graphml(written(tmp_path, graphml_text(HAND), "graphml"))
    by_json = nx.node_link_graph(json.loads(node_link_text(HAND)), edges="edges")
    assert set(by_xml.edges) == set(by_json.edges) == set(net.edges)
    assert dict(by_json.nodes(data=True)) == dict(net.nodes(data=True)) == dict(by_xml.nodes(data=True))


def test_dot_names_every_node_and_edge() -> None:
    text = dot_text(set_role(network(2, 2), 0, 0, Role('The "first"')))
    assert '"1.1" [label="Neuron 1.1\\nThe \\"first\\""];' in text
    assert '"1.2" -> "2.1";' in text
    assert text.count(" -> ") == graph(network(2, 2)).number_of_edges()


# Edited elsewhere


def test_edges_and_attributes_that_were_edited_count() -> None:
    net = graph(network(3, 2, name="Mine"))
    net.remove_edge("1.3", "2.1")
    net.nodes["2.2"].update(role="Safety", model="big", temperature=0)
    net.nodes["2.1"].update(reasoning="4000", extra='{"top_k": 20}')
    back = from_graph(net)
    assert back.layers[0] == network(3, 2).layers[0]
    assert [neuron.inputs for neuron in back.layers[1].neurons] == [(0, 1), (0, 1, 2), (0, 1, 2)]
    assert back.layers[1].neurons[1].role == Role("Safety")
    assert back.layers[1].neurons[1].settings == Settings(model="big", temperature=0)
    assert back.layers[1].neurons[0].settings == Settings(reasoning=4000, extra='{"top_k":20}')
    net.nodes["2.1"]["reasoning"] = "much"
    with pytest.raises(NetworkError, match=r"nodes\['2\.1'\]\.reasoning: must be one of none, minimal"):
        from_graph(net)
    assert (back.name, back.roles) == ("Mine", network(3, 2).roles)
    edited = connect(disconnect(network(3, 2), (0, 2), (1, 0)), (0, 2), (1, 0))
    net = graph(network(3, 2))
    net.nodes["1.1"]["kind"] = "neuron"
    assert from_graph(net) == replace(network(3, 2), layers=(edited.layers[0], network(3, 2).layers[1]))


def test_neurons_that_came_and_went_count() -> None:
    net = graph(network(3, 2))
    net.remove_node("1.2")
    back = from_graph(net)
    assert [len(of.neurons) for of in back.layers] == [2, 3]
    assert back.layers[1].wiring.kind == "full"
    net.add_node("extra", kind="neuron", layer=2, neuron=4)
    net.add_edge("1.3", "extra")
    more = from_graph(net)
    assert [neuron.inputs for neuron in more.layers[1].neurons] == [(0, 1), (0, 1), (0, 1), (1,)]
    net.remove_node("aggregation")
    net.add_node("chair", kind="chair")
    assert from_graph(net).chair is not None


def test_a_layer_as_wide_as_the_roles_becomes_a_fixed_one_where_it_was_edited() -> None:
    spec = network(None, 2)
    net = graph(spec)
    assert from_graph(net) == spec
    net.remove_node("2.4")
    back = from_graph(net)
    assert back.layers[0] == spec.layers[0]
    assert (back.layers[1].adaptive, len(back.layers[1].neurons)) == (False, 3)


@given(st.sampled_from(sorted(SPECS.keys() - {"broken"})), st.data())
def test_any_edge_between_layers_can_be_taken_out(name: str, data: st.DataObject) -> None:
    net = graph(SPECS[name])
    inner = [edge for edge in net.edges if all(net.nodes[end]["kind"] == "neuron" for end in edge)]
    if not inner:
        return
    edge = data.draw(st.sampled_from(inner))
    net.remove_edge(*edge)
    back = graph(from_graph(net))
    assert set(back.edges) == set(net.edges)


# Drawn elsewhere


def test_a_plain_graph_is_a_network_by_its_generations() -> None:
    net = nx.DiGraph([("truth", "judge"), ("style", "judge"), ("style", "editor")], name="Panel")
    net.nodes["truth"]["role"] = "Truth"
    back = from_graph(net)
    assert back.name == "Panel"
    assert back.roles.kind == "none"
    assert [len(of.neurons) for of in back.layers] == [2, 2]
    assert back.layers[0].neurons[0].role == Role("Truth")
    assert [neuron.inputs for neuron in back.layers[1].neurons] == [(0, 1), (1,)]
    window = nx.DiGraph([(f"a{i}", f"b{j}") for i in range(4) for j in range(4) if abs(i - j) <= 1])
    assert from_graph(window).layers[1].wiring == Wiring("window", 1)
    full = nx.DiGraph([(i, j) for i in (1, 2) for j in (3, 4)])
    assert from_graph(full) == replace(network(2, 2, roles="none"), name="Network")


def test_names_and_numbers_of_older_node_link_files(tmp_path: Path) -> None:
    record = {"directed": True, "nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}]}
    assert read_network(written(tmp_path, json.dumps(record))).depth == 2
    assert read_network(written(tmp_path, json.dumps(record))).name == "net"


GRAPH: dict[str, Any] = {"directed": True, "nodes": [{"id": "a"}, {"id": "b"}], "edges": []}


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"edges": []}, "nodes: is missing. Networks are read from GraphML and from node-link JSON"),
        ({"nodes": {}, "edges": []}, "nodes: must be a list, but is an object"),
        ({"nodes": []}, "edges: is missing"),
        ({"nodes": [], "edges": []}, "There is no neuron in the graph."),
        ({**GRAPH, "directed": False}, "directed: is false."),
        ({**GRAPH, "nodes": [{"id": "a"}, {}]}, "nodes[1].id: is missing"),
        ({**GRAPH, "nodes": [{"id": "a"}, {"id": "a"}]}, "nodes[1].id: 'a' is there twice"),
        ({**GRAPH, "nodes": ["a"]}, "nodes[0]: must be an object, but is a text"),
        ({**GRAPH, "edges": [{"source": "a", "target": "x"}]}, "edges[0].target: 'x' is no id of a node"),
        ({**GRAPH, "edges": [{"source": "a", "target": "b"}] * 2}, "edges[1]: leads from 'a' to 'b' like an edge"),
        (
            {**GRAPH, "edges": [{"source": "a", "target": "a"}]},
            "in a circle: a → a. A neuron reads earlier layers only",
        ),
        (
            {**GRAPH, "edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "a"}]},
            "Edges lead in a circle: a → b → a.",
        ),
        (
            {
                "nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}],
                "edges": [{"source": s, "target": t} for s, t in ("ab", "bc", "ac")],
            },
            "The edge from 'a' to 'c' leads from layer 1 to layer 3.",
        ),
        ({**GRAPH, "nodes": [{"id": "a", "kind": "neuron"}, {"id": "b"}]}, "The node 'b' has no kind. Kinds are pair,"),
        ({**GRAPH, "nodes": [{"id": "a", "kind": "person"}]}, "The node 'a' has the kind 'person'."),
        ({**GRAPH, "nodes": [{"id": "a", "layer": "one"}]}, "The node 'a' has the layer 'one'."),
        ({**GRAPH, "nodes": [{"id": "a", "role": 7}]}, "nodes['a'].role: must be a text, but is a number"),
        ({**GRAPH, "nodes": [{"id": "a", "samples": 1.5}]}, "nodes['a'].samples: must be a whole number"),
        ({**GRAPH, "graph": {"design": {"layers": 3}}}, "graph.design.layers: must be a list, but is a number"),
        ({**GRAPH, "graph": {"design": "{"}}, "graph.design: not JSON"),
        ({"schema": 1, "network": {}}, "This is a project, which judgenet opens as it is."),
        ([], "must be an object, but is a list"),
    ],
)
def test_what_is_no_network_is_refused_with_its_place(record: Any, words: str, tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps(record))
    with pytest.raises(NetworkError) as refused:
        read_network(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<svg xmlns='http://www.w3.org/2000/svg'/>", "This is no GraphML that can be read"),
        ("<graphml", "This is no GraphML that can be read"),
        ("digraph {}", "not JSON"),
        ("", "not JSON"),
    ],
)
def test_other_files_are_refused_with_what_can_be_read(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=words) as refused:
        read_network(written(tmp_path, text))
    assert "Networks are read from GraphML and from node-link JSON" in str(refused.value)


def test_graphml_without_directions_and_with_edges_drawn_twice(tmp_path: Path) -> None:
    plain = "\n".join(nx.generate_graphml(nx.Graph([("a", "b")])))
    with pytest.raises(NetworkError, match="The edges have no direction"):
        read_network(written(tmp_path, plain, "graphml"))
    twice = "\n".join(nx.generate_graphml(nx.MultiDiGraph([("a", "b"), ("a", "b")])))
    with pytest.raises(NetworkError, match="Two edges lead from 'a' to 'b'"):
        read_network(written(tmp_path, twice, "graphml"))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="cannot be read"):
        read_network(tmp_path / "none.json")
    (tmp_path / "net.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(NetworkError, match="is no text in UTF-8"):
        read_network(tmp_path / "net.json")
