"""Readings mapped back to responses A and B."""

from __future__ import annotations

import pytest

from judgenet.core.evaluation import ANSWERED, Choice, Evaluation, Reading, Reason, choice_of
from judgenet.core.pairs import Order, Verdict


@pytest.mark.parametrize(
    ("order", "choice", "verdict"),
    [
        ("ab", "first", "a"),
        ("ab", "second", "b"),
        ("ab", "tie", "tie"),
        ("ba", "first", "b"),
        ("ba", "second", "a"),
        ("ba", "tie", "tie"),
    ],
)
def test_a_choice_is_mapped_back_by_the_order_shown(order: Order, choice: Choice, verdict: Verdict) -> None:
    assert Evaluation.from_reading(Reading("why", choice), order) == Evaluation("why", verdict)


def test_scores_are_mapped_back_with_the_order_ab() -> None:
    found = Evaluation.from_reading(Reading("why", "first", 8.0, 6.0), "ab")
    assert (found.score_a, found.score_b, found.verdict, found.difference) == (8.0, 6.0, "a", 2.0)


def test_the_first_score_of_the_order_ba_belongs_to_b() -> None:
    found = Evaluation.from_reading(Reading("why", "first", 8.0, 6.0), "ba")
    assert (found.score_a, found.score_b, found.verdict, found.difference) == (6.0, 8.0, "b", -2.0)


@pytest.mark.parametrize(("verdict", "difference"), [("a", 1.0), ("b", -1.0), ("tie", 0.0)])
def test_a_verdict_without_scores_counts_as_one_point(verdict: Verdict, difference: float) -> None:
    assert Evaluation("", verdict).difference == difference


def test_scores_of_zero_are_scores() -> None:
    assert Evaluation("", "b", 0.0, 3.0).difference == -3.0


@pytest.mark.parametrize(
    ("first", "second", "choice"),
    [(8.0, 6.0, "first"), (6.0, 8.0, "second"), (7.5, 7.5, "tie"), (0.1 + 0.2, 0.3, "tie"), (7.0, 7.001, "second")],
)
def test_the_sign_of_two_scores(first: float, second: float, choice: Choice) -> None:
    assert choice_of(first, second) == choice


def test_only_reasons_that_come_with_an_answer_count_as_answered() -> None:
    answered = {"unparsed", "out_of_range", "contradictory", "truncated", "refused", "filtered", "empty", "too_large"}
    assert {str(reason) for reason in ANSWERED} == answered
    assert not {Reason.TIMEOUT, Reason.RATE_LIMITED, Reason.BUDGET, Reason.CANCELLED} & ANSWERED
