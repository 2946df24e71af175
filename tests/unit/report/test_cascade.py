"""A network with stop rules as a picture and as files of other programs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.core.cascade import put_rule, without_stop_rules
from judgenet.core.network import ChairSpec, NetworkSpec, StopRule
from judgenet.core.presets import network
from judgenet.formats.network_files import read_network
from judgenet.report.drawing import Path as DrawnPath
from judgenet.report.network_files import write_network
from judgenet.report.network_picture import network_picture, network_words


@pytest.fixture
def spec() -> NetworkSpec:
    """A rule before layer 2, one between the three neurons of layer 2, and one before the chair."""
    found = replace(network(3, 2, roles="none"), chair=ChairSpec())
    found = put_rule(found, ("before", 1), StopRule("orders_agree"))
    found = put_rule(found, ("within", 1), StopRule("margin", 2))
    return put_rule(found, ("before", 2), StopRule("decided"))


@pytest.mark.parametrize("ending", ["graphml", "json"])
def test_files_of_graph_tools_keep_stop_rules(spec: NetworkSpec, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"net.{ending}"
    write_network(spec, path)
    assert read_network(path) == spec
    assert path.read_text(encoding="utf-8").count("orders-agree") >= 1


def test_graphviz_and_svg_say_them(spec: NetworkSpec, tmp_path: Path) -> None:
    for ending in ("dot", "svg"):
        write_network(spec, tmp_path / f"net.{ending}")
        write_network(without_stop_rules(spec), tmp_path / f"bare.{ending}")
    dot = (tmp_path / "net.dot").read_text(encoding="utf-8")
    assert (dot.count("unless orders-agree"), dot.count("unless margin>=2"), dot.count("unless decided")) == (1, 2, 1)
    assert "unless" not in (tmp_path / "bare.dot").read_text(encoding="utf-8")
    assert "where both orders agree" in (tmp_path / "net.svg").read_text(encoding="utf-8")


def test_the_picture_has_a_gate_where_a_rule_stands(spec: NetworkSpec) -> None:
    def dashed(of: NetworkSpec) -> int:
        shapes = network_picture(of, "chair", 720).shapes
        return sum(isinstance(shape, DrawnPath) and shape.dash is not None for shape in shapes)

    # One line before the layer, and one between each two of its three neurons.
    assert dashed(spec) - dashed(without_stop_rules(spec)) == 3
    words = network_words(spec, "chair")
    assert "a pair is not asked further before layer 2 where both orders agree" in words
    assert "between the neurons of layer 2 where the lead is 2 votes or more" in words
    assert "before the chair where the vote can no longer change" in words
