"""``judgenet calibration``."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from sklearn.metrics import brier_score_loss  # type: ignore[import-untyped]

from tests.unit.cli.conftest import Judgenet


def test_the_share_of_calls_and_cross_fitted_scores_are_held_against_people(judgenet: Judgenet, tmp_path: Path) -> None:
    rng = random.Random(3)
    shares, truths = [], []
    pairs, judgments = tmp_path / "pairs.jsonl", tmp_path / "judgments.jsonl"
    with pairs.open("w", encoding="utf-8") as out, judgments.open("w", encoding="utf-8") as said:
        for i in range(80):
            human = rng.choice(("a", "b")) if i % 8 else "tie"
            pair = {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"So {i}.", "response_b": "Because."}
            out.write(json.dumps({**pair, "human": human}) + "\n")
            wins = 0.0
            for judge in "uvw":
                better = human if rng.random() < 0.7 else rng.choice(("a", "b"))
                scores = (8, 5) if better == "a" else (5, 8) if better == "b" else (6, 6)
                wins += {"a": 0.0, "b": 1.0}.get(better, 0.5)
                line = {"pair_id": f"p{i}", "judge": judge, "order": "ab", "score_a": scores[0], "score_b": scores[1]}
                said.write(json.dumps(line) + "\n")
            if human != "tie":
                shares.append(wins / 3)
                truths.append(human == "b")
    assert judgenet("import", judgments, "--pairs", pairs, "--out", "out").code == 0
    shown = judgenet("calibration", "out", "--bins", "5", "--json").json
    votes, scores = shown["sources"]["votes"], shown["sources"]["scores"]
    assert (votes["n"], votes["n_ties"], votes["n_total"]) == (70, 10, 80)
    assert votes["brier"]["value"] == pytest.approx(brier_score_loss(truths, shares))
    assert scores["n"] == 70
    assert scores["brier"]["value"] < 0.25
    assert set(shown["sources"]) == {"votes", "scores", "learned"}
    text = judgenet("calibration", "out", "--bins", "5").out
    assert "10 pairs that people call a tie are left out" in " ".join(text.split())
    assert "5 bins of equal width" in text
    wrong = judgenet("calibration", "out", "--binning", "odd")
    assert (wrong.code, "--binning odd" in wrong.err) == (2, True)
