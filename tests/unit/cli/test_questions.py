"""Pairs that share questions: every command takes whole questions for its intervals, and says so."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import Judgenet

EACH = 4


def _write(folder: Path, questions: int) -> None:
    """``EACH`` pairs a question, in two spellings of its white space; two judges that err on whole questions."""
    rng = random.Random(3)
    pairs: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for number in range(questions):
        truth = rng.choice("ab")
        said = {
            judge: truth if rng.random() < right else "ab"[truth == "a"] for judge, right in (("x", 0.8), ("y", 0.6))
        }
        for place in range(EACH):
            name = f"q{number}.{place}"
            question = f"Why {number}?" if place % 2 else f"  Why\n{number}? "
            pairs.append(
                {"id": name, "question": question, "response_a": "x" * place, "response_b": "yes", "human": truth}
            )
            rows += [
                {"pair_id": name, "judge": judge, "order": order, "verdict": verdict}
                for judge, verdict in said.items()
                for order in ("ab", "ba")
            ]
    for name, records in (("pairs", pairs), ("judgments", rows)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")


def _run(judgenet: Judgenet, folder: Path, questions: int) -> None:
    _write(folder, questions)
    for name in ("x", "y"):
        where = f"judge={name}"
        told = judgenet("import", "judgments.jsonl", "--pairs", "pairs.jsonl", "--where", where, "--out", name)
        assert told.code == 0
    assert judgenet("import", "judgments.jsonl", "--pairs", "pairs.jsonl", "--out", "both").code == 0


def _figures(judgenet: Judgenet) -> list[dict[str, Any]]:
    """Every figure with an interval that the commands tell, as {value, ci, n, n_questions, reason}."""
    told: list[dict[str, Any]] = []
    agreements = [judgenet("metrics", "x", "--json").json["aggregations"]["c1"]]
    learned = judgenet("learn", "both", "--json").json["learned"]
    agreements += [of for of in learned.values() if of["accuracy"] is not None]
    for of in agreements:
        told += [
            {"ci": of[f"{name}_ci"], "reason": of["reasons"].get(f"{name}_ci"), "questions": of["n_questions"]}
            for name in ("accuracy", "macro_f1")
        ]
    rates = judgenet("rate", "x", "--labels", "every:2", "--json").json
    told += [
        {"ci": rates[name]["ci"], "reason": rates[name]["reason"], "questions": rates[name]["n_questions"]}
        for name in ("naive", "stratified", "ppi", "human_only")
    ]
    compared = judgenet("compare", "x", "y", "--json").json
    told += [
        {"ci": of["ci"], "reason": of["reason"], "questions": of["n_questions"]}
        for of in (*compared["differences"].values(), compared["rate"])
    ]
    curve = judgenet("curve", "both", "--json").json
    told += [
        {"ci": point["accuracy_ci"], "reason": curve["reason"], "questions": curve["questions"]}
        for point in curve["curve"]
    ]
    return told


def test_intervals_are_over_questions(judgenet: Judgenet, tmp_path: Path) -> None:
    """All pairs of a question are alike: an accuracy is as sure as one of 40 pairs, not of 160."""
    _run(judgenet, tmp_path, 40)
    for of in _figures(judgenet):
        assert of["questions"] == 40
        assert of["ci"] is not None, of
    shown = judgenet("metrics", "x", "--json").json
    found = shown["aggregations"]["c1"]
    assert (found["n_used"], shown["questions"]) == (160, 40)
    share = found["accuracy"]
    width = 2 * 1.96 * (share * (1 - share) / 40) ** 0.5
    assert found["accuracy_ci"][1] - found["accuracy_ci"][0] == pytest.approx(width, rel=0.15)
    compared = judgenet("compare", "x", "y", "--json").json
    lead = compared["mcnemar"]["difference"]
    assert compared["mcnemar"]["ci"] == compared["differences"]["accuracy"]["ci"]
    # Each question counts once: (b - c)² / (b + c) of the questions.
    only = (compared["mcnemar"]["only_first_right"] / EACH, compared["mcnemar"]["only_second_right"] / EACH)
    assert lead == (only[0] - only[1]) / 40
    from scipy.stats import chi2  # type: ignore[import-untyped]

    assert compared["mcnemar"]["questions_p"] == pytest.approx(chi2.sf((only[0] - only[1]) ** 2 / sum(only), 1))
    for command in (("rate", "x"), ("compare", "x", "y"), ("metrics", "x"), ("curve", "both")):
        assert "intervals are over questions" in judgenet(*command).out


def test_flips_and_reviews_are_over_questions(judgenet: Judgenet, tmp_path: Path) -> None:
    """All pairs of a question are alike: a share is as sure as one of 40 pairs, not of 160."""
    _run(judgenet, tmp_path, 40)
    shown = judgenet("metrics", "both", "--evidence", "0", "--json").json
    points = shown["uncertainty"]["review"]["points"]
    start = points[0]
    share = start["accuracy"]
    width = 2 * 1.96 * (share * (1 - share) / 40) ** 0.5
    for ci in (start["accuracy_ci"], start["untouched"]["accuracy_ci"]):
        assert ci[1] - ci[0] == pytest.approx(width, rel=0.15)
    # No verdict changes with the order: forty questions say so.
    high = shown["position"]["x"]["flip_rate_ci"][1]
    assert high == shown["uncertainty"]["conflict"]["ci"][1] == pytest.approx(1.96**2 / (40 + 1.96**2), abs=1e-3)


def test_nine_questions_have_no_interval_and_the_reason(judgenet: Judgenet, tmp_path: Path) -> None:
    _run(judgenet, tmp_path, 9)
    for of in _figures(judgenet):
        assert of["ci"] is None, of
        assert "9 questions" in of["reason"], of
    metrics = judgenet("metrics", "x", "--evidence", "0", "--json").json
    assert metrics["position"]["c1"]["flip_rate_ci"] is None
    assert "9 questions" in metrics["position"]["c1"]["reason"]
    assert "questions" in metrics["uncertainty"]["review"]["points"][0]["reasons"]["accuracy_ci"]
    shown = judgenet("rate", "x", "--json").json
    assert shown["stratified"]["value"] is not None
    assert shown["length_adjusted"]["ci"] is None
    assert judgenet("curve", "both").code == judgenet("compare", "x", "y").code == judgenet("rate", "x").code == 0
