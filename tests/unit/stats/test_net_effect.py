"""Net effects against the specification's vectors, scipy, statsmodels, and simulated judges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from judgenet.stats.comparison import tango
from judgenet.stats.net_effect import difference_interval, net_effect, rate

Z95 = float(norm.ppf(0.975))
MARGIN = 0.05


def leads(plus: int, minus: int, n: int) -> np.ndarray:
    return np.array([1] * plus + [-1] * minus + [0] * (n - plus - minus), dtype=np.int64)


def apart(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.int64)


def score_limit(b: int, c: int, n: int, quantile: float, side: int) -> float:
    """An end of Tango's interval from its definition: the score statistic with the constrained maximum of the
    multinomial likelihood, found numerically."""

    def statistic(delta: float) -> float:
        low, high = max(0.0, -delta), (1 - delta) / 2

        def lost(q: float) -> float:
            cells = ((b, q + delta), (c, q), (n - b - c, 1 - 2 * q - delta))
            return -sum(count * np.log(max(p, 1e-300)) for count, p in cells if count)

        q = minimize_scalar(lost, bounds=(low, high), method="bounded", options={"xatol": 1e-13}).x
        return (b - c - n * delta) / np.sqrt(n * (2 * q + delta * (1 - delta))) + side * quantile

    value = (b - c) / n
    return float(brentq(statistic, value + side * 1e-6, side * (1 - 1e-9)))


@pytest.mark.parametrize(
    ("b", "c", "n"), [(63, 0, 300), (31, 0, 300), (12, 30, 200), (5, 5, 80), (3, 0, 40), (1, 9, 20)]
)
def test_the_interval_is_tangos(b: int, c: int, n: int) -> None:
    found = tango(b, c, n, Z95)
    assert found.low == pytest.approx(score_limit(b, c, n, Z95, -1), abs=2e-5)
    assert found.high == pytest.approx(score_limit(b, c, n, Z95, 1), abs=2e-5)
    assert found.low < (b - c) / n < found.high


@pytest.mark.parametrize("n", [6, 52, 300])
def test_an_interval_without_a_one_sided_pair_is_wilsons_to_both_sides(n: int) -> None:
    found = tango(0, 0, n, Z95)
    assert found.high == pytest.approx(proportion_confint(0, n, method="wilson")[1], abs=1e-9)
    assert found.low == pytest.approx(-found.high)


@pytest.mark.parametrize(("b", "c", "p"), [(40, 10, 2.386e-05), (5, 5, 1), (0, 0, 1), (3, 0, 0.25), (12, 30, 0.007916)])
def test_the_sign_test_of_the_specification(b: int, c: int, p: float) -> None:
    found = net_effect(leads(b, c, 100), apart(100), MARGIN)
    assert found.value == pytest.approx((b - c) / 100)
    assert found.p == pytest.approx(p, rel=1e-3)
    assert found.over == "pairs"


def test_a_judge_that_is_biased_on_one_pair_in_five() -> None:
    found = net_effect(leads(63, 0, 300), apart(300), MARGIN)
    assert found.value == pytest.approx(0.21)
    assert found.p == pytest.approx(2e-19, rel=0.1)
    assert not found.equivalent


@pytest.mark.parametrize(
    ("b", "c", "n"), [(20, 18, 2000), (60, 50, 1000), (90, 88, 700), (400, 380, 4000), (150, 60, 3000), (30, 30, 90)]
)
def test_equivalence_is_that_of_two_one_sided_tests(b: int, c: int, n: int) -> None:
    # Schuirmann's tests of the mean, by statsmodels; with so many pairs the two variances are alike.
    p = DescrStatsW(leads(b, c, n).astype(float)).ttost_mean(-MARGIN, MARGIN)[0]
    found = net_effect(leads(b, c, n), apart(n), MARGIN)
    assert found.equivalent == (p < 0.05)
    low, high = DescrStatsW(leads(b, c, n).astype(float)).tconfint_mean(0.1)
    assert found.interval_90 == pytest.approx((low, high), abs=0.006)


def test_no_bias_takes_enough_pairs() -> None:
    assert not net_effect(leads(0, 0, 6), apart(6), MARGIN).equivalent
    # The upper end of Wilson's 90 % interval of 0 of n is z² / (n + z²): below .05 from n = 52.
    assert not net_effect(leads(0, 0, 51), apart(51), MARGIN).equivalent
    assert net_effect(leads(0, 0, 52), apart(52), MARGIN).equivalent
    assert net_effect(leads(0, 0, 52), apart(52), MARGIN).pairs_needed is None
    assert not net_effect(leads(0, 0, 52), apart(52), 0.01).equivalent


def test_as_many_pairs_as_planned_show_that_there_is_no_bias() -> None:
    planned = net_effect(leads(10, 10, 100), apart(100), MARGIN).pairs_needed
    assert planned is not None
    rng = np.random.default_rng(4)
    shown = 0
    for _ in range(400):
        drawn = rng.choice([1, -1, 0], p=[0.1, 0.1, 0.8], size=planned)
        shown += net_effect(drawn, apart(planned), MARGIN).equivalent
    # Power .8; three standard errors are .06.
    assert shown / 400 == pytest.approx(0.8, abs=0.07)


def test_more_pairs_are_planned_than_there_are() -> None:
    for b, c, n in ((0, 0, 6), (6, 6, 30), (40, 20, 900), (8, 0, 24), (3, 1, 51)):
        found = net_effect(leads(b, c, n), apart(n), MARGIN, tests=9)
        assert found.equivalent or (found.pairs_needed or 0) > n


@pytest.mark.parametrize(("b", "c", "n"), [(0.05, 0.0, 60), (0.1, 0.05, 120), (0.2, 0.15, 300)])
def test_a_net_effect_at_the_margin_is_seldom_ruled_out(b: float, c: float, n: int) -> None:
    rng = np.random.default_rng(7)
    covered = wrong = 0
    for _ in range(300):
        found = net_effect(rng.choice([1, -1, 0], p=[b, c, 1 - b - c], size=n), apart(n), MARGIN)
        assert found.interval is not None
        covered += found.interval.low <= b - c <= found.interval.high
        wrong += found.equivalent
    # Level .05 and 95 %; three standard errors are .038.
    assert wrong / 300 <= 0.088
    assert covered / 300 >= 0.912


def test_pairs_that_share_questions_count_by_question() -> None:
    # Ten pairs of each of 20 questions that all say the same: worth 20 pairs, and p that of 12 questions of 12.
    one = np.repeat(leads(12, 0, 20), 10)
    found = net_effect(one, np.repeat(apart(20), 10), MARGIN)
    assert found.over == "questions"
    assert found.value == pytest.approx(0.6)
    assert found.p == pytest.approx(2 * 0.5**12)
    alone = net_effect(leads(12, 0, 20), apart(20), MARGIN)
    assert found.interval is not None
    assert alone.interval is not None
    assert found.interval.high - found.interval.low >= alone.interval.high - alone.interval.low
    # Without spread too: 0 of 200 pairs of 20 questions is not 0 of 200 pairs.
    none = net_effect(np.zeros(200, dtype=np.int64), np.repeat(apart(20), 10), MARGIN)
    assert not none.equivalent


def test_coverage_over_questions() -> None:
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(300):
        base = rng.choice([1, -1, 0], p=[0.25, 0.1, 0.65], size=(20, 1))
        own = rng.choice([1, -1, 0], p=[0.25, 0.1, 0.65], size=(20, 4))
        drawn = np.where(rng.random((20, 4)) < 0.6, base, own).ravel()
        found = net_effect(drawn, np.repeat(apart(20), 4), MARGIN)
        assert found.interval is not None
        covered += found.interval.low <= 0.15 <= found.interval.high
    assert covered / 300 >= 0.91


def test_few_questions_have_no_interval_and_rule_out_nothing() -> None:
    found = net_effect(np.zeros(90, dtype=np.int64), np.repeat(apart(9), 10), MARGIN)
    assert (found.interval, found.interval_90, found.equivalent, found.pairs_needed) == (None, None, False, None)
    assert "9 questions" in found.reason


def test_every_interval_holds_its_estimate_and_has_a_width() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        n = int(rng.integers(1, 40))
        questions = apart(n) if rng.random() < 0.5 else rng.integers(0, max(1, n // 2), size=n)
        p = rng.dirichlet([0.3, 0.3, 0.3])
        drawn = rng.choice([1, -1, 0], p=p, size=n)
        found = net_effect(drawn, questions, MARGIN)
        for interval in (found.interval, found.interval_90, difference_interval(drawn * 2, questions)):
            assert interval is None or interval.low < interval.high
        if found.interval is not None:
            assert found.interval.low <= found.value <= found.interval.high
        if (within := difference_interval(drawn * 2, questions)) is not None:
            assert within.low <= 2 * found.value <= within.high


@pytest.mark.parametrize(
    ("hits", "n", "small"), [(0, 6, False), (0, 51, False), (0, 52, True), (1, 80, False), (1, 200, True)]
)
def test_a_share_that_should_be_0_is_small_only_with_enough_pairs(hits: int, n: int, small: bool) -> None:
    found = rate(np.array([True] * hits + [False] * (n - hits)), apart(n), MARGIN)
    high = proportion_confint(hits, n, alpha=0.1, method="wilson")[1]
    assert found.interval_90 is not None
    assert found.interval_90.high == pytest.approx(high)
    assert found.small == small == (high <= MARGIN)
    assert (found.pairs_needed is None) == small
