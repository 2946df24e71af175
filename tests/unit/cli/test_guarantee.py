"""``judgenet guarantee``: which verdicts of a run can be accepted with a bounded error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy.stats import binom

from tests.unit.cli.conftest import Judgenet


@pytest.fixture
def recorded(judgenet: Judgenet, tmp_path: Path) -> Judgenet:
    """200 pairs and one judge. On the first 100 both orders say the same, wrongly on 4; on the others each order
    says another response. Every pair but the last has a label."""
    pairs, judgments = tmp_path / "pairs.jsonl", tmp_path / "judgments.jsonl"
    with pairs.open("w", encoding="utf-8") as out, judgments.open("w", encoding="utf-8") as said:
        for i in range(200):
            human = "ab"[i % 2]
            line = {"id": f"p{i}", "question": f"Why {i}?", "response_a": "So.", "response_b": "Because."}
            out.write(json.dumps(line | ({"human": human} if i < 199 else {})) + "\n")
            wrong = "ba"[i % 2]
            for order in ("ab", "ba"):
                verdict = (wrong if i < 4 else human) if i < 100 else order[0]
                said.write(json.dumps({"pair_id": f"p{i}", "judge": "u", "order": order, "verdict": verdict}) + "\n")
    assert judgenet("import", judgments, "--pairs", pairs, "--out", "out").code == 0
    return judgenet


def test_the_threshold_is_the_loosest_whose_exact_test_passes(recorded: Judgenet, tmp_path: Path) -> None:
    asked = ("guarantee", "out", "--chosen", "random")
    told = recorded(*asked, "--alpha", "0.1", "--out", "people.txt", "--json").json
    assert (told["threshold"], told["accepted"], told["share"]) == (1.0, 100, 0.5)
    strict, loose = told["tested"]
    assert (strict["n"], strict["errors"], loose["n"], loose["errors"]) == (100, 4, 199, 103)
    assert strict["p"] == pytest.approx(binom.cdf(4, 100, 0.1))
    assert told["pairs"] == {"total": 200, "judged": 200, "labelled": 199, "labels_used": 199, "labels_needed": 29}
    assert (tmp_path / "people.txt").read_text(encoding="utf-8").split() == [f"p{i}" for i in range(100, 200)]
    shown = recorded(*asked, "--alpha", "0.1").out
    assert "100 of 200 pairs (50.0%)" in shown
    assert "at most 0.1 of such verdicts are wrong" in shown

    refused = recorded(*asked, "--alpha", "0.1", "--delta", "0.02", "--json").json
    assert (refused["threshold"], refused["accepted"], refused["share"]) == (None, 0, None)
    assert refused["reason"] == "the surest 100 labelled verdicts hold 4 errors: too many for an error of at most 0.1"
    assert len(refused["for_people"]) == 200


def test_labels_of_unknown_origin_promise_nothing(recorded: Judgenet) -> None:
    told = recorded("guarantee", "out", "--json").json
    assert (told["threshold"], told["chosen"], told["pairs"]["labelled"]) == (None, "imported", 0)
    assert told["reason"].endswith("a promise takes labels that were drawn at random")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--alpha", "0"), "--alpha 0: a share between 0 and 1"),
        (("--delta", "1.5"), "--delta 1.5: a share between 0 and 1"),
        (("--confidence", "mood"), "--confidence mood: choose calls, orders or margin."),
    ],
)
def test_bad_options(recorded: Judgenet, options: tuple[str, str], message: str) -> None:
    refused = recorded("guarantee", "out", *options)
    assert refused.code == 2
    assert message in refused.err


def test_where_every_pair_is_labelled_no_sampling_is_claimed(recorded: Judgenet, tmp_path: Path) -> None:
    (tmp_path / "last.csv").write_text("pair_id,label\np199,b\n", encoding="utf-8")
    assert recorded("labels", "out", "--import", "last.csv", "--annotator", "Ada", "--chosen", "random").code == 0
    told = recorded("guarantee", "out", "--json").json
    assert (told["chosen"], told["pairs"]["labelled"]) == ("random", 200)
    assert told["chosen_why"] == "all judged pairs are labelled; no sampling was needed"
    shown = recorded("guarantee", "out").out
    assert "200 of them a label (all judged pairs are labelled; no sampling was needed)" in shown
    report = tmp_path / "report.md"
    assert recorded("report", "out", "-o", report).code == 0
    text = report.read_text(encoding="utf-8")
    assert "All judged pairs are labelled; no sampling was needed." in text
    assert "drawn at random from all pairs" not in text
