"""``judgenet alt-test``."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from scipy.stats import ttest_1samp  # type: ignore[import-untyped]

from tests.unit.cli.conftest import Judgenet

CLASSES = ("a", "b", "tie")


@pytest.fixture
def recorded(judgenet: Judgenet, tmp_path: Path) -> Judgenet:
    """A run of two recorded judges, a good and a poor one, on 60 pairs of three annotators and 10 of one."""
    rng = random.Random(4)
    pairs, judgments = tmp_path / "pairs.jsonl", tmp_path / "judgments.jsonl"
    with pairs.open("w", encoding="utf-8") as out, judgments.open("w", encoding="utf-8") as said:
        for i in range(70):
            truth = rng.choice(CLASSES)
            people = {
                name: truth if rng.random() < share else rng.choice(CLASSES)
                for name, share in (("x", 0.7), ("y", 0.8), ("z", 0.75))
            }
            if i >= 60:
                people = {"x": people["x"]}
            pair = {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"So {i}.", "response_b": "Because."}
            out.write(json.dumps({**pair, "human": truth, "annotators": people}) + "\n")
            for judge, verdict in (("good", truth), ("poor", rng.choice(CLASSES))):
                said.write(json.dumps({"pair_id": f"p{i}", "judge": judge, "order": "ab", "verdict": verdict}) + "\n")
    assert judgenet("import", judgments, "--pairs", pairs, "--out", "out").code == 0
    return judgenet


def test_a_good_judge_may_replace_people_and_a_poor_one_may_not(recorded: Judgenet, tmp_path: Path) -> None:
    shown = recorded("alt-test", "out", "--epsilon", "0.15", "--json").json
    assert (shown["epsilon"], shown["pairs"], shown["pairs_annotated"]) == (0.15, 70, 60)
    assert shown["annotators"] == ["x", "y", "z"]
    good, poor = shown["neurons"]["good"], shown["neurons"]["poor"]
    assert (good["passes"], good["winning_rate"], good["won"], good["tested"]) == (True, 1.0, 3, 3)
    assert (poor["passes"], poor["won"]) == (False, 0)
    against = good["annotators"]["x"]
    assert (against["n"], against["n_total"]) == (60, 70)
    pairs = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").splitlines()[:60]]
    of_judge, of_x = (
        [sum(pair["annotators"][other] == said(pair) for other in "yz") for pair in pairs]
        for said in (lambda pair: pair["human"], lambda pair: pair["annotators"]["x"])
    )
    differences = [(x >= judge) - (judge >= x) for judge, x in zip(of_judge, of_x, strict=True)]
    assert against["p"] == pytest.approx(ttest_1samp(differences, 0.15, alternative="less").pvalue)
    text = recorded("alt-test", "out", "--epsilon", "0.15").out
    assert "60 of 70 pairs have two annotators or more" in text
    assert "3 of 3" in text


def test_it_says_why_it_cannot_be_done(judgenet: Judgenet, recorded: Judgenet) -> None:
    wrong = recorded("alt-test", "out", "--epsilon", "2")
    assert (wrong.code, "--epsilon 2" in wrong.err) == (2, True)
