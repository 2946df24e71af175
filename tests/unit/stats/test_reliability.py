"""Reliability curves against scikit-learn's, their errors by hand, and the interval of the error by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.calibration import calibration_curve  # type: ignore[import-untyped]
from sklearn.metrics import brier_score_loss  # type: ignore[import-untyped]
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from judgenet.figures.reliability import run_reliability
from judgenet.stats.reliability import Binning, reliability
from judgenet.store.frame import RunFrame


def _data(n: int, slope: float = 1.0, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Probabilities, and labels whose log odds of B are ``slope`` times those."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.8, 0.8, n)
    truth = 1 / (1 + ((1 - p) / p) ** slope)
    return p, np.where(rng.random(n) < truth, 3, 1).astype(np.uint8)


@pytest.mark.parametrize(("bins", "binning"), [(10, "uniform"), (5, "uniform"), (10, "quantile"), (4, "quantile")])
def test_the_curve_is_that_of_scikit_learn(bins: int, binning: Binning) -> None:
    p, human = _data(300, 0.5)
    p[:12] = 0.5
    p[12:20] = (0.0, 1.0, 0.1, 0.2, 0.3, 0.9, 0.25, 0.75)
    human[40:60], p[60:65] = 2, np.nan
    found = reliability(p, human, np.arange(300), bins=bins, binning=binning, draws=50)
    decided = (human != 2) & ~np.isnan(p)
    observed, predicted = calibration_curve(human[decided] == 3, p[decided], n_bins=bins, strategy=binning)
    assert [of.observed for of in found.bins] == pytest.approx(observed.tolist())
    assert [of.predicted for of in found.bins] == pytest.approx(predicted.tolist())
    assert found.brier.value == pytest.approx(brier_score_loss(human[decided] == 3, p[decided]))
    assert (found.n, found.ties, found.n_total) == (275, 20, 300)
    sizes = np.array([of.n for of in found.bins])
    assert sizes.sum() == 275
    assert found.ece == pytest.approx((sizes * np.abs(observed - predicted)).sum() / 275)
    for of in found.bins:
        assert of.interval == pytest.approx(proportion_confint(round(of.observed * of.n), of.n, method="wilson"))
        assert of.low <= of.predicted <= of.high


def test_an_error_by_hand() -> None:
    """.1 says that B wins 1 in 10 of ten pairs, but B wins 3; .9 says 9 in 10, and B wins 8: (.2 + .1) / 2."""
    p = np.repeat([0.1, 0.9], 10)
    human = np.array([3] * 3 + [1] * 7 + [3] * 8 + [1] * 2, np.uint8)
    found = reliability(p, human, np.arange(20), draws=100)
    assert found.ece == pytest.approx(0.15)
    assert found.brier.value == pytest.approx((3 * 0.81 + 7 * 0.01 + 8 * 0.01 + 2 * 0.81) / 20)
    assert found.brier_base == pytest.approx(0.55 * 0.45)


def test_calibrated_probabilities_are_told_from_others_and_the_interval_holds_the_error() -> None:
    """The error of the bins by simulation of a million pairs; 200 samples of 200 pairs."""
    held, rejected = {}, {}
    for slope in (1.0, 0.4):
        p, human = _data(1_000_000, slope, 99)
        edges = np.linspace(0, 1, 11)[1:-1]
        place = np.searchsorted(edges, p)
        truth = np.abs(np.bincount(place, p) - np.bincount(place, human == 3)).sum() / len(p)
        samples = [reliability(*_data(200, slope, seed), np.arange(200), draws=200) for seed in range(200)]
        held[slope] = np.mean([of.interval.low <= truth <= of.interval.high for of in samples if of.interval])
        rejected[slope] = np.mean([(of.p or 1) <= 0.05 for of in samples])
        assert all(of.interval and of.interval.low <= (of.ece or 0) <= of.interval.high for of in samples)
    assert min(held.values()) >= 0.87, held
    assert rejected[1.0] <= 0.09, rejected
    assert rejected[0.4] >= 0.7, rejected


def test_what_chance_makes_is_the_mean_error_of_calibrated_probabilities() -> None:
    found = [reliability(*_data(150, 1.0, seed), np.arange(150), draws=200) for seed in range(100)]
    assert np.mean([of.by_chance for of in found if of.by_chance]) == pytest.approx(
        np.mean([of.ece for of in found if of.ece]), rel=0.06
    )


def test_pairs_of_one_question_count_once() -> None:
    """Each pair ten times: the error is the same, and the interval that of the pairs themselves, but for few draws."""
    p, human = _data(100, 0.3, 4)
    one = reliability(p, human, np.arange(100))
    ten = reliability(np.repeat(p, 10), np.repeat(human, 10), np.repeat(np.arange(100), 10))
    assert ten.ece == pytest.approx(one.ece)
    assert (ten.n, ten.questions) == (1000, 100)
    assert ten.interval == pytest.approx(one.interval, abs=0.02)
    assert ten.p == pytest.approx(one.p, abs=0.02)


def test_what_cannot_be_told_has_a_reason() -> None:
    p, human = _data(40)
    few = reliability(p[:19], human[:19], np.arange(19))
    assert (few.ece, few.bins) == (None, ())
    assert "19 pairs" in few.reason
    assert few.brier.value is not None
    same_question = reliability(p, human, np.zeros(40, np.int64))
    assert same_question.ece is not None
    assert (same_question.interval, same_question.p) == (None, None)
    assert "questions" in same_question.reason
    with pytest.raises(ValueError, match="at least 2"):
        reliability(p, human, np.arange(40), bins=1)
    with pytest.raises(ValueError, match="from 0 to 1"):
        reliability(p * 2, human, np.arange(40))


def test_the_recorded_judges_of_llmbar(llmbar: RunFrame) -> None:
    """18 recorded neurons: the share of calls is far from calibrated (a vote of mostly weak judges), the cross-fitted
    weights are nearly so; recorded verdicts have no scores."""
    found = run_reliability(llmbar)
    votes, learned = found.sources["votes"], found.sources["learned"]
    assert (votes.n, votes.n_ties, votes.n_total) == (419, 0, 419)
    counts = llmbar.calls.sum(axis=(1, 2), dtype=np.int64)
    p = (counts[:, 2] + counts[:, 1] / 2) / counts.sum(axis=1)
    observed, predicted = calibration_curve(llmbar.human == 3, p, n_bins=10)
    assert [of.observed for of in votes.curve] == pytest.approx(observed.tolist())
    assert [of.predicted for of in votes.curve] == pytest.approx(predicted.tolist())
    assert votes.brier.value == pytest.approx(brier_score_loss(llmbar.human == 3, p))
    assert votes.ece is not None
    assert learned.ece is not None
    assert learned.ece < votes.ece
    assert (votes.p or 1) < 0.01
    assert found.sources["scores"].ece is None
    assert found.sources["scores"].reason == "no call gave scores"
