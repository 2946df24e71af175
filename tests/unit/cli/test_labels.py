"""``judgenet labels``: what it advises, and that the advice gives the width."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]


def _pairs(path: Path, n: int, every: int | None) -> Path:
    rng = random.Random(6)
    with path.open("w", encoding="utf-8") as out:
        for i in range(n):
            record = {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"So {i}.", "response_b": "Because."}
            if every is not None and i % every == 0:
                record["human"] = rng.choice(("a", "b", "tie"))
            out.write(json.dumps(record) + "\n")
    return path


@pytest.fixture
def ran(judgenet: Judgenet, at: At, tmp_path: Path) -> Judgenet:
    pairs = _pairs(tmp_path / "pairs.jsonl", 200, 4)
    judgenet("run", "--pairs", pairs, *at, "--out", "out", "--width", 1, "--depth", 1, "--roles", "none")
    return judgenet


def test_the_plan_is_that_of_the_strata(ran: Judgenet) -> None:
    """n = (sum of w sd²) / (V - VE / N), from what ``rate`` says of the same strata."""
    plan = ran("labels", "out", "--width", 0.2, "--json").json
    strata = ran("rate", "out", "--json").json["strata"]
    assert (plan["pairs"], plan["labelled"], plan["assumed"]) == (200, 50, False)
    within = sum(part["share"] * part["sd"] ** 2 for part in strata)
    mean = sum(part["share"] * part["mean"] for part in strata)
    between = sum(part["share"] * (part["mean"] - mean) ** 2 for part in strata)
    labels = within / ((0.2 / (2 * 1.959964)) ** 2 - between / 200)
    assert plan["needs"]["random"]["needed"] == pytest.approx(labels, abs=1)
    assert plan["needs"]["random"]["labels"] >= 30
    widths = [point["width"] for point in plan["curve"]]
    assert widths == sorted(widths, reverse=True)
    assert "ties" in plan["two_class"]["reason"] or "tie" in plan["two_class"]["reason"]


def test_the_next_pairs_have_a_verdict_and_no_label(ran: Judgenet) -> None:
    plan = ran("labels", "out", "--width", 0.2, "--next", "next.txt", "--json").json
    verdicts = {line["pair_id"]: line for line in ran("export", "out", "--what", "verdicts").lines}
    ids = Path("next.txt").read_text(encoding="utf-8").splitlines()
    assert ids == plan["next"]
    assert len(ids) == len(set(ids)) > 0
    for verdict, part in plan["strata"].items():
        mine = [name for name in ids if verdicts[name]["c2_all"] == verdict]
        assert len(mine) == min(part["pairs"] - part["labels"], max(0, part["target"] - part["labels"]))
    assert all(verdicts[name]["human"] is None for name in ids)
    assert plan["next_chosen"] == "within-verdict"
    assert ran("labels", "out", "--width", 0.2, "--seed", 1, "--json").json["next"] != ids


def test_impossible_is_said(ran: Judgenet) -> None:
    told = ran("labels", "out", "--width", 0.01)
    assert told.code == 0
    assert "impossible" in told.out
    shown = ran("labels", "out", "--width", 0.01, "--json").json
    assert shown["needs"]["random"]["labels"] is None
    assert "impossible" in shown["needs"]["random"]["reason"]
    assert shown["next"] == []


def test_without_labels_the_judge_is_assumed(judgenet: Judgenet, at: At, tmp_path: Path) -> None:
    pairs = _pairs(tmp_path / "pairs.jsonl", 40, None)
    judgenet("run", "--pairs", pairs, *at, "--out", "out", "--width", 1, "--depth", 1, "--roles", "none")
    shown = judgenet("labels", "out", "--width", 0.4, "--json").json
    assert shown["assumed"] is True
    assert "80 %" in shown["assumption"]
    assert shown["needs"]["random"]["labels"] == 30
    assert "Assumed" in judgenet("labels", "out", "--width", 0.4).out


@pytest.mark.parametrize("width", ["0", "-0.1", "1.2"])
def test_a_width_that_is_none(ran: Judgenet, width: str) -> None:
    told = ran("labels", "out", f"--width={width}")
    assert (told.code, told.out) == (2, "")
    assert "--width" in told.err
