"""Power and sample size of McNemar's test, against published examples, scipy's own test and a simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest  # type: ignore[import-untyped]
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from judgenet.stats.comparison import mcnemar
from judgenet.stats.power import (
    FEWEST_PILOT,
    connor_pairs,
    detectable,
    difference_effect,
    given_discordance,
    independent_discordance,
    mcnemar_power,
    measured_discordance,
    pairs_needed,
    plan_comparison,
)
from judgenet.stats.resampling import question_counts


@pytest.mark.parametrize(
    ("first", "second", "pairs"),
    [
        # Connor (1987), p. 209, as programs that cite that page have it.
        (0.45, 0.05, 23),
        # Chow, Shao and Wang, Sample Size Calculations in Clinical Research, example 6.4.3.
        (0.2, 0.5, 59),
    ],
)
def test_the_formula_gives_the_published_pairs(first: float, second: float, pairs: int) -> None:
    assert connor_pairs(abs(first - second), first + second) == pairs


def test_the_power_is_that_of_the_manual_of_g_power() -> None:
    """O'Brien (2002) by G*Power's manual: odds ratio .25, 50 pairs, .4 of them discordant, one-sided .05: .839343.
    Two-sided at .1 adds the far tail, which is below .0001 here."""
    assert mcnemar_power(50, 0.32 - 0.08, 0.4, alpha=0.1) == pytest.approx(0.839343, abs=1e-4)


@pytest.mark.parametrize(
    ("n", "difference", "discordance", "alpha"),
    [(30, 0.1, 0.3, 0.05), (60, 0.1, 0.2, 0.05), (25, 0.2, 0.2, 0.1), (40, 0.05, 0.9, 0.01), (5, 0.1, 0.3, 0.05)],
)
def test_the_power_is_the_sum_over_all_outcomes_of_scipys_test(
    n: int, difference: float, discordance: float, alpha: float
) -> None:
    better = (1 + difference / discordance) / 2
    expected = sum(
        binom.pmf(m, n, discordance) * binom.pmf(b, m, better)
        for m in range(1, n + 1)
        for b in range(m + 1)
        if binomtest(b, m, 0.5).pvalue <= alpha
    )
    assert mcnemar_power(n, difference, discordance, alpha) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("difference", "discordance"), [(0.05, 0.2), (0.1, 0.3), (0.2, 0.25)])
def test_simulated_comparisons_find_the_difference_as_often_as_planned(difference: float, discordance: float) -> None:
    pairs = pairs_needed(difference, discordance)
    assert pairs is not None
    rng = np.random.default_rng(5)
    shares = [(discordance + difference) / 2, (discordance - difference) / 2, 1 - discordance]
    drawn = rng.multinomial(pairs, shares, size=4000)
    found = np.mean([mcnemar(int(b), int(c), pairs).p <= 0.05 for b, c, _ in drawn])
    assert found == pytest.approx(0.8, abs=0.02)
    assert mcnemar_power(pairs, difference, discordance) >= 0.8
    assert mcnemar_power(pairs - 1, difference, discordance) < 0.8


def test_the_exact_test_needs_a_few_pairs_more_than_the_formula() -> None:
    for difference, discordance in ((0.03, 0.142), (0.05, 0.2), (0.1, 0.4)):
        pairs, formula = pairs_needed(difference, discordance), connor_pairs(difference, discordance)
        assert pairs is not None
        assert formula <= pairs <= formula + 2.5 / difference


def test_the_smallest_difference_is_the_one_that_has_the_power() -> None:
    smallest = detectable(419, 0.2)
    assert smallest is not None
    assert mcnemar_power(419, smallest, 0.2) == pytest.approx(0.8, abs=1e-6)
    assert detectable(4, 0.2) is None


@pytest.mark.parametrize(
    ("difference", "discordance", "said"),
    [(0.3, 0.2, "at most 20 points"), (0.0, 0.2, "more than 0"), (0.1, 0.0, "above 0"), (0.1, 1.2, "up to 1")],
)
def test_what_cannot_be_is_refused(difference: float, discordance: float, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        pairs_needed(difference, discordance)


def test_two_recorded_runs_say_how_often_one_alone_is_right() -> None:
    found = measured_discordance(30, 18, 300)
    assert (found.share, found.count, found.n) == (0.16, 48, 300)
    assert found.interval == pytest.approx(proportion_confint(48, 300, method="wilson"))
    few = measured_discordance(3, 2, FEWEST_PILOT - 1)
    assert few.share is None
    assert "29 pairs" in few.reason
    same = measured_discordance(0, 0, 80)
    assert same.share is None
    assert "the same pairs" in same.reason


def test_independent_errors_follow_from_one_accuracy() -> None:
    found = independent_discordance(80, 100, 0.05)
    assert found.share == pytest.approx(0.8 * 0.15 + 0.85 * 0.2)
    assert independent_discordance(5, 10).share is None


def test_questions_that_repeat_multiply_the_pairs() -> None:
    """Ten pairs of each question, all decided alike: every question is worth one pair."""
    rng = np.random.default_rng(1)
    questions = np.repeat(np.arange(40), 10)
    kind = np.repeat(rng.integers(0, 3, 40), 10)
    human = np.ones(400, np.uint8)
    first, second = np.where(kind == 0, 3, 1).astype(np.uint8), np.where(kind == 1, 3, 1).astype(np.uint8)
    table = question_counts(questions, human, first, second)
    assert difference_effect(table) == pytest.approx(10, abs=1e-9)
    found = measured_discordance(int((kind == 1).sum()), int((kind == 0).sum()), 400, table)
    plan = plan_comparison(found, 0.2, n=400)
    alone = pairs_needed(0.2, found.share or 0)
    assert alone is not None
    assert plan.pairs == 10 * alone
    assert plan.power_at == pytest.approx(mcnemar_power(40, 0.2, found.share or 0))
    one_each = question_counts(np.arange(400), human, first, second)
    assert difference_effect(one_each) == 1


def test_questions_that_repeat_multiply_the_pairs_of_one_run_too() -> None:
    rng = np.random.default_rng(2)
    human = np.ones(400, np.uint8)
    said = np.repeat(rng.choice(np.array([1, 3], np.uint8), 40), 10)
    by_question = question_counts(np.repeat(np.arange(40), 10), human, said)
    found = independent_discordance(int((said == 1).sum()), 400, by_question=by_question)
    assert found.effect == pytest.approx(10)
    one_each = question_counts(np.arange(400), human, said)
    assert independent_discordance(200, 400, by_question=one_each).effect == 1


def test_a_plan_says_why_it_has_no_number() -> None:
    assert "cannot differ by 30 points" in plan_comparison(given_discordance(0.2), 0.3).reason
    plan = plan_comparison(given_discordance(0.2), 0.05, n=0)
    assert plan.pairs == pairs_needed(0.05, 0.2)
    assert plan.power_at is None
    assert plan.smallest_reason
