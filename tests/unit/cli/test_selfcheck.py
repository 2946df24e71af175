"""``judgenet selfcheck``."""

from __future__ import annotations

import pytest

from judgenet.cli import selfcheck
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
    assert "As it should be" in told.out
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
