"""``judgenet curve``: smaller networks of a run, beside what its metrics say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]


def test_whole_layers_are_what_metrics_say_and_no_call_is_made(
    judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer
) -> None:
    options = ("--width", 3, "--depth", 2, "--roles", "none", "--out", "out", "-q")
    assert judgenet("run", "--pairs", pairs, *at, *options).code == 0
    asked = server.requests
    metrics = judgenet("metrics", "out", "--json").json["aggregations"]
    told = judgenet("curve", "out", "--json").json
    assert server.requests == asked
    by_size = {(p["depth"], p["width"], len(p["orders"])): p for p in told["curve"]}
    assert told["whole"]["accuracy"] == pytest.approx(metrics["c2_all"]["accuracy"])
    assert by_size[2, 3, 2]["accuracy"] == pytest.approx(metrics["c2_all"]["accuracy"])
    assert by_size[1, 3, 2]["accuracy"] == pytest.approx(metrics["c2_l1"]["accuracy"])
    assert (by_size[1, 3, 2]["calls_per_pair"], by_size[2, 3, 2]["calls_per_pair"]) == (6.0, 12.0)
    assert (2, 3, 1) not in by_size
    assert told["smallest"]["difference"] >= -0.01
    assert "Smallest network within 1 point" in judgenet("curve", "out").out


def test_without_labels_it_says_why(judgenet: Judgenet, tmp_path: Path, at: At) -> None:
    path = tmp_path / "bare.jsonl"
    path.write_text('{"id": "1", "question": "q", "response_a": "x", "response_b": "y"}\n', encoding="utf-8")
    assert judgenet("run", "--pairs", path, *at, "--roles", "none", "--width", 1, "--out", "bare", "-q").code == 0
    told = judgenet("curve", "bare", "--json").json
    assert (told["whole"], told["reason"]) == (None, "no pair has both a human label and a verdict")
    refused = judgenet("curve", "bare", "--within", "5")
    assert refused.code == 2
    assert "a share from 0 to 1" in refused.err
