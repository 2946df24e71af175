"""``judgenet rank``."""

from __future__ import annotations

import json
import random
from math import exp
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]
SYSTEMS = ("[x]", "y", "z")


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Thirty questions with a pair of each two of three systems, labelled."""
    rng = random.Random(8)
    path = tmp_path / "three.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for i in range(30):
            for a, b in ((0, 1), (1, 2), (2, 0)):
                record = {"id": f"{i}-{a}{b}", "question": f"Why {i}?", "model_a": SYSTEMS[a], "model_b": SYSTEMS[b]}
                record |= {"response_a": f"So says {SYSTEMS[a]}.", "response_b": f"So says {SYSTEMS[b]}."}
                out.write(json.dumps({**record, "human": rng.choice(("a", "b", "tie"))}) + "\n")
    return path


def test_strengths_give_back_the_wins(judgenet: Judgenet, three: Path, at: At) -> None:
    """At the greatest likelihood the wins expected of each system are those it has, a tie counting half."""
    judgenet("run", "--pairs", three, *at, "--out", "out", "--width", 1, "--depth", 1, "--roles", "none")
    shown = judgenet("rank", "out", "--resamples", 200, "--json").json
    lines = judgenet("export", "out", "--what", "verdicts").lines
    judged = [line for line in lines if line["c2_all"]]
    assert (shown["n"], shown["questions"], shown["pairs"], shown["prior"]) == (len(judged), 30, 90, False)
    strengths = {system["name"]: system["b"] for system in shown["systems"]}
    assert set(strengths) == set(SYSTEMS)
    assert sum(strengths.values()) == pytest.approx(0, abs=1e-9)
    for system in shown["systems"]:
        wins = expected = 0.0
        for line in judged:
            i, a, b = line["pair_id"].partition("-")[0], *(int(x) for x in line["pair_id"].partition("-")[2])
            assert i.isdecimal()
            for mine, other, side in ((a, b, "a"), (b, a, "b")):
                if SYSTEMS[mine] == system["name"]:
                    wins += {side: 1.0, "tie": 0.5}.get(line["c2_all"], 0.0)
                    expected += 1 / (1 + exp(strengths[SYSTEMS[other]] - strengths[SYSTEMS[mine]]))
        assert wins == pytest.approx(expected)
        assert system["wins"] + system["ties"] / 2 == pytest.approx(wins)
        assert system["ci"][0] < system["rating"] < system["ci"][1]
    assert [system["rating"] for system in shown["human"]["systems"]] != []
    told = judgenet("rank", "out", "--resamples", 200)
    assert told.code == 0
    assert "[x]" in told.out
    assert "by people" in told.out


def test_without_systems_there_is_no_ranking(judgenet: Judgenet, pairs: Path, at: At) -> None:
    judgenet("run", "--pairs", pairs, *at, "--out", "out", "--width", 1, "--depth", 1, "--roles", "none")
    told = judgenet("rank", "out")
    assert (told.code, told.out) == (2, "")
    assert "model_a and model_b" in told.err
