"""Means with intervals, against the win rate's own vectors, a simulation and a plain bootstrap."""

from __future__ import annotations

import numpy as np
import pytest

from judgenet.stats.means import mean_of, resampled_sums


@pytest.mark.parametrize(
    ("win", "tie", "lose", "ends"),
    [
        (60, 0, 40, (0.503593, 0.694427)),
        (45, 20, 35, (0.462896, 0.636114)),
        (0, 0, 20, (0, 0.083188)),
        (10, 0, 0, (0.842712, 1)),
        (0, 10, 0, (0.427259, 0.572741)),
        (3, 1, 2, (0.242396, 0.900462)),
    ],
)
def test_scores_of_a_win_rate_have_its_interval(win: int, tie: int, lose: int, ends: tuple[float, float]) -> None:
    found = mean_of(np.array([1.0] * win + [0.5] * tie + [0.0] * lose), "none")
    assert found.value == pytest.approx((win + tie / 2) / (win + tie + lose))
    assert found.interval == pytest.approx(ends, abs=1e-6)


def test_the_interval_holds_what_it_promises_with_and_without_repeated_questions() -> None:
    """2,000 samples of 60 pairs: Beta values apart, and 30 questions of two pairs that are the same."""
    rng = np.random.default_rng(3)
    truth, held = 0.25, [0, 0]
    for _ in range(2000):
        apart = mean_of(rng.beta(1, 3, 60), "none").interval
        together = mean_of(np.tile(rng.beta(1, 3, 30), 2), "none", np.tile(np.arange(30), 2)).interval
        for place, interval in enumerate((apart, together)):
            assert interval is not None
            held[place] += interval.low <= truth <= interval.high
    assert held[0] / 2000 == pytest.approx(0.95, abs=0.015)
    assert held[1] / 2000 == pytest.approx(0.94, abs=0.02)


def test_what_is_missing_leaves_the_mean() -> None:
    found = mean_of(np.array([np.nan, 1.0, 0.0, np.nan]), "none")
    assert (found.value, found.n) == (0.5, 2)
    nothing = mean_of(np.full(3, np.nan), "nobody said anything")
    assert (nothing.value, nothing.interval, nothing.n, nothing.reason) == (None, None, 0, "nobody said anything")


def test_few_questions_have_no_interval() -> None:
    found = mean_of(np.arange(20) / 20, "none", np.arange(20) % 9)
    assert found.value == pytest.approx(0.475)
    assert found.interval is None
    assert "9 questions" in found.reason
    assert mean_of(np.arange(9) / 9, "none", np.arange(9)).interval is not None


def test_bounds_below_0() -> None:
    found = mean_of(np.full(5, -1.0), "none", bounds=(-1.0, 1.0))
    assert found.value == -1
    assert found.interval is not None
    assert found.interval.low == -1 < found.interval.high < 0


@pytest.mark.parametrize("questions", [None, 25])
def test_resampled_sums_vary_as_drawn_pairs_do(questions: int | None) -> None:
    rng = np.random.default_rng(5)
    terms = np.stack([rng.integers(0, 3, 100), np.ones(100)], axis=1).astype(float)
    groups = None if questions is None else np.arange(100) % questions
    drawn = resampled_sums(terms, 4000, 1, groups)
    assert drawn.shape == (4000, 2)
    parts = terms if groups is None else np.array([terms[groups == group].sum(axis=0) for group in range(25)])
    plain = np.array([parts[rng.integers(0, len(parts), len(parts))].sum(axis=0) for _ in range(4000)])
    assert drawn[:, 1].tolist() == plain[:, 1].tolist() == [100] * 4000
    assert drawn[:, 0].mean() == pytest.approx(terms[:, 0].sum(), abs=1)
    assert drawn[:, 0].std() == pytest.approx(plain[:, 0].std(), rel=0.06)
