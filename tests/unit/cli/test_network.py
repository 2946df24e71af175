"""``judgenet export --what network`` and ``judgenet network import``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from judgenet.assets import example
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.presets import network
from judgenet.core.project import Project
from judgenet.store.files import load_project, save_project
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

FIXED = example("fixed-roles.judgenet")


@pytest.mark.parametrize("ending", ["graphml", "json"])
def test_a_project_goes_out_and_comes_back(judgenet: Judgenet, tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"deep/net.{ending}"
    ran = judgenet("export", FIXED, "--what", "network", "--format", ending, "-o", file)
    assert (ran.code, ran.out, ran.err) == (0, "", f"{file}: the network\n")
    ran = judgenet("network", "import", file, "--out", "new.judgenet")
    assert ran.code == 0
    assert ran.out == "new.judgenet: Fixed roles: 2 layers × 3 neurons, 2 layers (3 neurons, 3 neurons)\n"
    made = load_project(Path("new.judgenet"))
    assert (made.name, made.network) == ("new", load_project(FIXED).network)


def test_pictures_and_graphviz(judgenet: Judgenet) -> None:
    picture = ElementTree.fromstring(judgenet("export", FIXED, "--what", "network", "--format", "svg").out)
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert judgenet("export", FIXED, "--what", "network", "--format", "dot").out.startswith("digraph ")


def test_the_network_of_a_run(judgenet: Judgenet, server: JudgeServer, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(json.dumps({"question": "q", "response_a": "a", "response_b": "b"}) + "\n", encoding="utf-8")
    at = ("--base-url", server.url, "--model", "judge")
    assert judgenet("run", "--pairs", pairs, *at, "--width", "2", "--depth", "2", "--out", "out").code == 0
    ran = judgenet("export", "out", "--what", "network")
    assert ran.code == 0
    ids = {node["id"] for node in json.loads(ran.out)["nodes"]}
    assert {"1.1", "1.2", "2.1", "2.2"} <= ids


def test_a_network_is_put_into_a_project(judgenet: Judgenet, tmp_path: Path) -> None:
    judgenet("export", FIXED, "--what", "network", "-o", "net.json")
    own = EndpointProfile("lab", base_url="http://lab:8000/v1", model="m")
    project = replace(Project.new("Study", network(2, 1)), endpoints=(own,))
    save_project(project, Path("study.judgenet"))
    assert judgenet("network", "import", "net.json", "--project", "study.judgenet", "-o", "copy.judgenet").code == 0
    assert load_project(Path("study.judgenet")).network == project.network
    copy = load_project(Path("copy.judgenet"))
    assert (copy.network, copy.endpoints, copy.salt) == (load_project(FIXED).network, (own,), project.salt)
    assert judgenet("network", "import", "net.json", "--project", "study.judgenet").code == 0
    assert load_project(Path("study.judgenet")).network == copy.network


def test_problems_of_an_imported_network_are_told(judgenet: Judgenet) -> None:
    record = {"nodes": [{"id": node, "layer": layer} for node, layer in (("a", 1), ("b", 2))], "edges": []}
    Path("net.json").write_text(json.dumps(record), encoding="utf-8")
    ran = judgenet("network", "import", "net.json", "--out", "new.judgenet")
    assert ran.code == 0
    assert "Error: Layer 2, neuron 1: reads nothing of layer 1, which has 1. Connect it.\n" in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("export", FIXED, "--what", "network", "--format", "csv"), "is written as graphml, json, dot, svg."),
        (("export", "out", "--what", "calls", "--format", "svg"), "--what calls is written as jsonl, csv, parquet."),
        (("export", "none.judgenet", "--what", "network"), "none.judgenet"),
        (("network", "import", "net.json"), "--out is missing."),
        (("network", "import", "net.json", "--out", "new.json"), "--out new.json: the name of a project ends in"),
        (("network", "import", "net.json", "--out", "old.judgenet"), "replace its network with --project old.judgenet"),
        (("network", "import", "none.json", "--out", "new.judgenet"), "none.json: cannot be read"),
        (("network", "import", "net.json", "--out", "new.judgenet"), "net.json: There is no neuron in the graph."),
    ],
)
def test_what_cannot_be_done_is_told(judgenet: Judgenet, arguments: tuple[object, ...], words: str) -> None:
    Path("net.json").write_text('{"nodes": [], "edges": []}', encoding="utf-8")
    Path("old.judgenet").write_text("{}", encoding="utf-8")
    ran = judgenet(*arguments)
    assert ran.code == 2
    assert words in ran.err
    assert not Path("new.judgenet").exists()
