"""``judgenet selfcheck``."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgenet.cli import selfcheck
from judgenet.stats.simulation_edges import CoverageTally, Edge, judged
from tests.unit.cli.conftest import Judgenet


def test_statistics(judgenet: Judgenet) -> None:
    ran = judgenet("selfcheck", "statistics", "--runs", 500, "--json")
    assert ran.code == 0
    shown = ran.json
    assert (len(shown["cells"]), shown["runs"], shown["shortfalls"]) == (48, 500, [])
    for cell in shown["cells"]:
        assert set(cell["methods"]) == {"naive", "lee", "ppi", "stratified", "human_only"}
        assert 0.9 < cell["methods"]["stratified"]["coverage"] <= 1
    told = judgenet("selfcheck", "statistics", "--runs", 500)
    assert told.code == 0
    assert "As expected, in what was simulated here (the corrected rates" in told.out
    assert "Not simulated here: decided pairs, these pairs only, accuracy" in told.out
    assert [cell["judge"] for cell in shown["three_classes"]["cells"]][:3] == ["strong", "strong", "typical"]
    assert set(shown["three_classes"]["cells"][0]["methods"]) >= {"k_class", "k_class_bootstrap", "stratified"}
    assert len(shown["origins"]["cells"]) == 4
    assert [cell["pick"] for cell in shown["picks"]["cells"]] == ["random", "within_verdict", "hardest", "easiest"]
    assert shown["picks"]["cells"][2]["methods"]["stratified"]["bias"] < -0.05


def test_what_does_not_hold_is_a_failure(judgenet: Judgenet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfcheck, "shortfalls", lambda found, runs: ["one: it does not"])
    ran = judgenet("selfcheck", "statistics", "--runs", 100)
    assert ran.code == 1
    assert "one: it does not" in ran.out


def test_the_edges(judgenet: Judgenet, tmp_path: Path) -> None:
    """Every figure with an interval, and the page as the program keeps it."""
    page = tmp_path / "coverage.md"
    ran = judgenet("selfcheck", "statistics", "--grid", "edges", "--runs", 10, "--page", page, "--json")
    shown = ran.json
    figures = {name for edge in shown["edges"] for name in edge["figures"]}
    rates = {"stratified", "these_pairs", "decided", "ppi", "human_only", "lee", "k_class", "naive"}
    agreement = {"accuracy", "macro_f1", "kappa"}
    assert figures == rates | agreement | {f"{name}_difference" for name in agreement} | {"rating"}
    assert {edge["part"] for edge in shown["edges"]} == {
        "labels", "agreement", "differences", "question_rates", "question_agreement", "ranking",
    }  # fmt: skip
    text = page.read_text(encoding="utf-8")
    assert "judgenet selfcheck statistics --grid edges --runs 10" in text
    assert text.count("judge right") > 20


def test_a_look_at_every_pair(judgenet: Judgenet, tmp_path: Path) -> None:
    page = tmp_path / "anytime.md"
    ran = judgenet("selfcheck", "statistics", "--grid", "anytime", "--runs", 60, "--page", page, "--json")
    shown = ran.json
    assert (ran.code, shown["shortfalls"], len(shown["looks"]), len(shown["savings"])) == (0, [], 10, 12)
    text = page.read_text(encoding="utf-8")
    assert "judgenet selfcheck statistics --grid anytime --runs 60" in text
    assert "| win rate 0.5, 20% ties | 0.0" in text


def test_which_edges_fall_short() -> None:
    """400 of 500 are .80, 460 are .92 (within three errors of .93); 5 runs of 500 that show an interval say nothing."""
    tallies = {
        "decided": CoverageTally(500, 500, 400, 50.0),
        "ppi": CoverageTally(500, 500, 460, 50.0),
        "lee": CoverageTally(500, 5, 1, 1.0),
        "human_only": CoverageTally(500, 500, 400, 50.0),
        "k_class": CoverageTally(500, 0, 0, 0.0),
    }
    found = judged([Edge("labels", "here", tallies)])
    assert [[words.split(":")[0] for words in one] for one in found] == [
        ["decided pairs only"],
        ["human labels alone"],
        ["Lee et al."],
    ]


def test_pages_and_few_runs_are_of_the_edges(judgenet: Judgenet, tmp_path: Path) -> None:
    assert "--grid edges" in judgenet("selfcheck", "statistics", "--page", tmp_path / "x.md").err
    assert "100 runs or more" in judgenet("selfcheck", "statistics", "--runs", 10).err
