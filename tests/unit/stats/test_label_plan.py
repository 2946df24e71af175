"""Plans for labels: the widths that they promise, and what is said to be impossible."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from judgenet.core.pairs import Verdict, question_key
from judgenet.formats import read_pairs
from judgenet.stats.calibration import prediction_powered, stratified
from judgenet.stats.clustered import rates_over_questions, split_counts
from judgenet.stats.curves import verdict_codes
from judgenet.stats.design_effect import design_effect
from judgenet.stats.intervals import win_rate
from judgenet.stats.label_plan import PLAN_METHODS, plan_labels, plan_two_class
from judgenet.stats.resampling import question_counts

LABELLED: dict[tuple[Verdict, Verdict], int] = {
    ("a", "a"): 58, ("a", "tie"): 5, ("a", "b"): 16, ("tie", "a"): 9, ("tie", "tie"): 12, ("tie", "b"): 11,
    ("b", "a"): 14, ("b", "tie"): 6, ("b", "b"): 69,
}  # fmt: skip
OTHERS: dict[Verdict, int] = {"a": 395, "tie": 160, "b": 445}


def test_the_width_promised_for_the_labels_there_are_is_that_of_the_estimates() -> None:
    """Each estimate of the very labels has about the width that the plan expects of as many."""
    plan = plan_labels(LABELLED, OTHERS, 0.1)
    assert (plan.pairs, plan.labelled, plan.assumed, plan.assumption) == (1200, 200, False, "")
    found = {
        "random": stratified(LABELLED, OTHERS).estimate.interval,
        "ppi": prediction_powered(LABELLED, OTHERS).estimate.interval,
        "human_only": win_rate(81, 96, 23).interval,
    }
    for method, interval in found.items():
        assert interval is not None
        expected = plan.expected_width(method, 200)  # type: ignore[arg-type]
        assert expected == pytest.approx(interval.high - interval.low, rel=0.06), method
    assert plan.expected_width("within_verdict", 200) <= plan.expected_width("random", 200) + 1e-12


@pytest.mark.parametrize("method", PLAN_METHODS)
def test_the_labels_needed_give_the_width_wished(method: str) -> None:
    plan = plan_labels(LABELLED, OTHERS, 0.1)
    needed = plan.needs[method].needed  # type: ignore[index]
    assert needed is not None
    assert plan.expected_width(method, needed) <= 0.1 + 1e-9  # type: ignore[arg-type]
    assert plan.expected_width(method, needed - 1) > 0.1 - 1e-9  # type: ignore[arg-type]
    widths = [width for _, width in plan.curve(method)]  # type: ignore[arg-type]
    assert widths == sorted(widths, reverse=True)


def test_what_no_number_of_labels_gives_is_said() -> None:
    plan = plan_labels(LABELLED, OTHERS, 0.01)
    for method in PLAN_METHODS:
        need = plan.needs[method]
        assert need.labels is None
        assert need.reason.startswith("impossible")


def test_few_labels_are_no_pilot() -> None:
    plan = plan_labels({("a", "a"): 3}, {"a": 50, "b": 47}, 0.2)
    assert plan.assumed
    assert plan.assumption.startswith("3 labels are no pilot")
    assert plan.more["a"] == plan.targets["a"] - 3
    with pytest.raises(ValueError, match="No pair has a verdict"):
        plan_labels({}, {}, 0.2)


def test_powered_labels_count_the_pairs_that_are_left_without_one() -> None:
    """With every pair labelled the plan is that of the same pairs with none labelled yet: not of no pairs beside."""
    everything = plan_labels({cell: 6 * count for cell, count in LABELLED.items()}, {}, 0.1)
    some = plan_labels(LABELLED, OTHERS, 0.1)
    assert everything.pairs == some.pairs == 1200
    assert everything.needs["ppi"].needed == pytest.approx(some.needs["ppi"].needed, abs=4)
    assert everything.needs["ppi"].needed < everything.needs["human_only"].needed  # type: ignore[operator]


def test_corrections_by_error_rates_count_the_pairs_that_are_left_without_a_label() -> None:
    """Of Lee's formula: the fewest m for which an m planned beside N - m other pairs is no larger."""
    labelled: dict[tuple[Verdict, Verdict], int] = {("a", "a"): 45, ("a", "b"): 5, ("b", "a"): 5, ("b", "b"): 45}
    plan = plan_two_class(labelled, {"a": 450, "b": 450}, 0.14)
    assert plan.needs is not None
    needed = plan.needs.at_random.needed
    assert needed is not None
    # q0 = q1 = .9, theta = .5, p = .5: m = .09 / ((w J / 2 z)^2 - .25 / (N - m)).
    target = (0.14 * 0.8 / (2 * 1.959964)) ** 2
    assert 0.09 / (target - 0.25 / (1000 - needed)) <= needed
    assert 0.09 / (target - 0.25 / (1000 - needed + 1)) > needed - 1


def test_the_design_effect_of_equal_questions_is_that_of_kish() -> None:
    """k alike pairs a question have the variance of one: D = 1 + (k - 1) rho with rho = 1."""
    table = np.zeros((40, 4, 4))
    table[:20, 1, 1], table[20:, 3, 3] = 5, 5
    found = design_effect(table)
    assert (found.value, found.questions, found.pairs, found.source) == (pytest.approx(5.0), 40, 200, "labels")
    assert "200 judged pairs are of 40 questions" in found.words
    # Pairs of one question that differ as much as any are independent.
    table[:, :, :] = 0
    rng = np.random.default_rng(3)
    for question in range(40):
        for human in rng.integers(1, 4, 50):
            table[question, 2, human] += 1
    assert design_effect(table).value == pytest.approx(1.0, abs=0.5)
    # Without labels the verdicts tell.
    verdicts = np.zeros((40, 4, 4))
    verdicts[:20, 1, 0], verdicts[20:, 3, 0] = 5, 5
    assert design_effect(verdicts).source == "verdicts"
    # No question twice: nothing to say.
    alone = np.zeros((40, 4, 4))
    alone[:, 1, 1] = 1
    assert (design_effect(alone).value, design_effect(alone).words) == (1.0, "")


def test_a_plan_over_questions_promises_the_width_that_the_estimate_has() -> None:
    """Labels drawn at random from pairs whose questions are hard or easy for all of them."""
    rng = np.random.default_rng(8)
    questions = np.repeat(np.arange(150), 6)
    likes_b = rng.beta(1.5, 1.5, 150)[questions]
    human = np.where(rng.random(900) < likes_b, 3, 1)
    said = np.where(rng.random(900) < 0.8, human, 4 - human)
    everything = question_counts(questions, said, human)
    labelled, others = split_counts(everything)
    plan = plan_labels(labelled, others, 0.13, by_question=everything)
    plain = plan_labels(labelled, others, 0.13)
    for method in ("random", "human_only"):
        needed = plan.needs[method].needed
        assert needed is not None
        assert needed > 1.1 * (plain.needs[method].needed or 0)
        widths = []
        for draw in range(12):
            labels = np.zeros(900, dtype=int)
            places = rng.choice(900, needed, replace=False)
            labels[places] = human[places]
            rates = rates_over_questions(question_counts(questions, said, labels), "random", resamples=600, seed=draw)
            interval = rates.estimates["stratified" if method == "random" else "human_only"].interval
            assert interval is not None
            widths.append(interval.high - interval.low)
        assert np.mean(widths) == pytest.approx(0.13, rel=0.06)


@pytest.mark.data
def test_the_plan_of_pandalm_is_what_its_questions_need(shared_data: Path) -> None:
    """999 pairs of 170 questions: about 343 labels for a width of .1, where 249 were promised over pairs."""
    pairs = read_pairs(shared_data / "pandalm/pairs.jsonl").pairs
    place = {pair.id: number for number, pair in enumerate(pairs)}
    votes = np.zeros(len(pairs))
    for line in (shared_data / "pandalm/judgments.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        votes[place[record["pair_id"]]] += {"a": 1, "b": -1}.get(record["recorded_winner"], 0)
    said = np.where(votes > 0, 1, np.where(votes < 0, 3, 2))
    numbers: dict[bytes, int] = {}
    questions = np.array([numbers.setdefault(question_key(pair.question), len(numbers)) for pair in pairs])
    counts = question_counts(questions, said, verdict_codes(pair.human for pair in pairs))
    labelled, others = split_counts(counts)
    plan = plan_labels(labelled, others, 0.1, by_question=counts)
    assert (plan.pairs, plan.effect.questions) == (999, 170)
    assert plan.needs["random"].needed == pytest.approx(343, abs=5)
    assert plan_labels(labelled, others, 0.1).needs["random"].needed == 249
