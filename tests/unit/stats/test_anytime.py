"""Confidence sequences: against an outside implementation, by their proof's steps, and under a look at every pair."""

from __future__ import annotations

import itertools
from dataclasses import replace
from math import log

import numpy as np
import pytest

from judgenet.stats.anytime import (
    ALPHA,
    BETS,
    LABEL_ALPHA,
    VERDICT_ALPHA,
    RunningBets,
    UnitTally,
    anytime_corrected,
    anytime_curve,
    anytime_rate,
    tally_units,
    win_rate_curve,
)
from judgenet.stats.intervals import win_rate, win_rate_ends
from judgenet.stats.simulation_anytime import anytime_failures, simulate_anytime


def tally(wins: int, ties: int, losses: int) -> UnitTally:
    found = UnitTally()
    for score, count in ((1.0, wins), (0.5, ties), (0.0, losses)):
        if count:
            found.add(1, score, count)
    return found


@pytest.mark.parametrize(
    ("counts", "above", "below", "low", "high"),
    [
        ((30, 5, 15), 4.64187454, 0.21018065, 0.43556525313119854, 0.825585630953068),
        ((8, 2, 0), 22.25310828, 0.33057618, 0.4652614553243308, 0.9955275032101062),
        ((100, 40, 60), 36.80941044, 0.09981383, 0.4990573996029754, 0.6946975125816525),
        ((3, 0, 0), 2.31477643, 0.5264379, 0.1446701111360095, 1.0),
        ((950, 0, 50), 4.63616181e213, 8.59935440e-4, 0.9244981515890262, 0.9712856250953612),
    ],
)
def test_capital_and_interval_are_those_of_the_authors_package(
    counts: tuple[int, int, int], above: float, below: float, low: float, high: float
) -> None:
    """Computed with `betting_mart` of confseq 0.0.11, the package of the paper's authors: each bet of the mixture as a
    constant bet of its own, averaged by weight; the ends by scipy's brentq on its capital."""
    found = tally(*counts)
    evidence, interval = found.evidence(0.5), found.interval()
    assert evidence.above == pytest.approx(above, rel=1e-8)
    assert evidence.below == pytest.approx(below, rel=1e-7)
    assert interval == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize("mean", [0.2, 0.5, 0.7])
def test_the_capital_is_a_martingale_whatever_the_scores_are(mean: float) -> None:
    """Its expectation over all sequences of four units is 1 where the mean is true, also where questions have
    different numbers of pairs and larger ones other means."""
    # (pairs, sum, probability): questions of one pair have the mean .58, those of three .43.
    kinds = [
        (1, 1.0, 0.3),
        (1, 0.5, 0.1),
        (1, 0.0, 0.2),
        (3, 0.5, 0.15),
        (3, 3.0, 0.05),
        (3, 2.0, 0.05),
        (3, 1.5, 0.15),
    ]
    if mean != 0.5:
        kinds = [(1, 1.0, mean), (1, 0.0, 1 - mean)]
    assert sum(p * (total - pairs * mean) for pairs, total, p in kinds) == pytest.approx(0.0)
    assert sum(p for *_, p in kinds) == pytest.approx(1.0)
    expected = np.zeros(2)
    for drawn in itertools.product(kinds, repeat=4):
        found = UnitTally(3)
        for pairs, total, _ in drawn:
            found.add(pairs, total)
        evidence = found.evidence(mean)
        expected += np.prod([p for *_, p in drawn]) * np.array([evidence.above, evidence.below])
    assert expected == pytest.approx([1.0, 1.0])


def test_running_bets_come_to_the_same() -> None:
    rng = np.random.default_rng(4)
    found, running = UnitTally(3), RunningBets(0.4, 3)
    for _ in range(60):
        pairs = int(rng.integers(0, 4))
        total = float(rng.integers(0, 2 * pairs + 1)) / 2
        found.add(pairs, total)
        running.add(pairs, total)
        for side in ("above", "below"):
            assert getattr(running.evidence, side) == pytest.approx(getattr(found.evidence(0.4), side))
    with pytest.raises(ValueError, match="between 0 and 1"):
        RunningBets(0.0, 1)


def test_the_interval_holds_what_is_not_excluded() -> None:
    found = tally(40, 10, 12)
    interval = found.interval()
    assert interval is not None
    for end, inside in ((interval.low, 1e-6), (interval.high, -1e-6)):
        assert found.evidence(end - inside).e_value > 1 / ALPHA
        assert found.evidence(end + inside).e_value < 1 / ALPHA
    assert found.evidence(0.5).p == pytest.approx(1 / found.evidence(0.5).e_value)
    assert tally(1, 0, 1).evidence(0.5).p == 1.0


def test_many_pairs_make_it_narrow() -> None:
    """Near the law of the iterated logarithm: at most three times as wide as the normal interval, of 30 pairs as of a
    million."""
    for n in (30, 300, 3_000, 30_000, 1_000_000):
        interval = tally(n // 2, 0, n // 2).interval()
        assert interval is not None
        width = 2 * 1.959964 * 0.5 / n**0.5
        assert width < interval.high - interval.low < 3 * width


def test_a_question_of_several_pairs_is_one_unit_and_each_pair_weighs_the_same() -> None:
    units = np.array([0, 0, 0, 1, 2, 2])
    scores = np.array([1.0, 0.5, np.nan, 0.0, 1.0, 1.0])
    found = anytime_rate(tally_units(units, scores, 3), 0.5)
    assert (found.value, found.n, found.units) == (pytest.approx(3.5 / 5), 5, 3)
    # By hand: the factors of the three questions at 1/2, with at most 3 pairs a question.
    weights = np.repeat([0.85 / 12, 0.15 / 10], [12, 10])
    gains = [(1.5 - 2 * 0.5) / (3 * 0.5), (0.0 - 0.5) / (3 * 0.5), (2.0 - 2 * 0.5) / (3 * 0.5)]
    by_hand = sum(w * np.prod([1 + b * gain for gain in gains]) for w, b in zip(weights, BETS, strict=True))
    assert found.evidence is not None
    assert found.evidence.above == pytest.approx(by_hand)
    with pytest.raises(ValueError, match="4 pairs, at most 3"):
        UnitTally(3).add(4, 1.0)


def test_without_a_score_there_is_a_reason() -> None:
    found = anytime_rate(UnitTally(), 0.5)
    assert (found.value, found.interval, found.n) == (None, None, 0)
    assert found.reason
    assert UnitTally().evidence(0.5).e_value == 0.5
    with pytest.raises(ValueError, match="between 0 and 1"):
        tally(1, 0, 0).evidence(1.0)


def test_the_corrected_rate_is_what_verdicts_with_labels_and_labels_alone_have_in_common() -> None:
    # 200 labelled pairs, 114 of them won by B; people say A on 14 that the verdicts gave to B.
    verdicts, differences, labels = tally(6000, 800, 3200), UnitTally(), tally(114, 0, 86)
    differences.add(1, 0.5, 186)
    differences.add(1, 0.0, 14)
    found = anytime_corrected(verdicts, differences, labels)
    assert found.value == pytest.approx(0.64 - 14 / 200)
    mine, moved = verdicts.interval(0.005), differences.interval(0.0225)
    alone = labels.interval(0.0225)
    assert mine is not None
    assert moved is not None
    assert alone is not None
    sums = (mine.low + 2 * moved.low - 1, mine.high + 2 * moved.high - 1)
    assert found.interval == pytest.approx((max(sums[0], alone.low), min(sums[1], alone.high)))
    assert (found.n, found.units) == (200, 200)
    assert abs(VERDICT_ALPHA + 2 * LABEL_ALPHA - ALPHA) < 1e-12
    assert anytime_corrected(verdicts, UnitTally(), UnitTally()).reason == "no labelled pair has a verdict"
    # Where the verdicts say nothing of the labels, these alone count.
    noise = UnitTally()
    noise.add(1, 1.0, 114)
    noise.add(1, 0.0, 86)
    assert anytime_corrected(tally(30, 0, 30), noise, labels).interval == pytest.approx(alone)
    assert anytime_corrected(tally(30, 0, 30), noise, labels).value == pytest.approx(0.57)


def test_a_curve_ends_with_the_interval_of_all() -> None:
    rng = np.random.default_rng(3)
    units = np.repeat(np.arange(400), rng.integers(1, 4, 400))
    scores = rng.choice([0.0, 0.5, 1.0, np.nan], len(units))
    curve = anytime_curve(units, scores, 3, points=20)
    assert len(curve.pairs) == 20
    whole = anytime_rate(tally_units(units, scores, 3))
    assert whole.interval == pytest.approx((curve.low[-1], curve.high[-1]))
    assert (whole.value, whole.n) == (pytest.approx(curve.values[-1]), curve.pairs[-1])
    part = int(np.flatnonzero(np.cumsum(~np.isnan(scores)) == curve.pairs[7])[0])
    stop = int(np.searchsorted(units, units[part], side="right"))
    earlier = tally_units(units[:stop], scores[:stop], 3).interval()
    assert earlier == pytest.approx((curve.low[7], curve.high[7]))
    assert not len(anytime_curve(units[:0], scores[:0], 1).pairs)


def test_the_curve_of_one_look_has_the_ordinary_intervals() -> None:
    codes = np.array([3, 0, 1, 2, 3, 3, 0, 2], dtype=np.uint8)
    curve = win_rate_curve(codes)
    assert curve.pairs.tolist() == [1, 2, 3, 4, 5, 6]
    last = win_rate(1, 3, 2, pseudo=3)
    assert (curve.values[-1], curve.low[-1], curve.high[-1]) == pytest.approx((last.value, *(last.interval or ())))
    assert not len(win_rate_curve(np.zeros(3, np.uint8)).pairs)


def test_a_look_at_every_pair_excludes_the_truth_in_at_most_five_of_a_hundred_runs() -> None:
    """400 runs of 300 pairs by the functions that a run uses; the ordinary interval excludes it four times as often."""
    rng = np.random.default_rng(11)
    wrong = peeked = 0
    for _ in range(400):
        scores = rng.choice([0.0, 0.5, 1.0], 300, p=[0.4, 0.2, 0.4])
        found = UnitTally()
        excluded = False
        for score in scores.tolist():
            found.add(1, score)
            excluded = excluded or found.evidence(0.5).e_value >= 1 / ALPHA
        wrong += excluded
        n = np.arange(1, 301)
        mean = scores.cumsum() / n
        spread = 1.96 * np.sqrt(np.maximum((scores**2).cumsum() / n - mean**2, 1e-12) / n)
        peeked += bool((abs(mean - 0.5) > spread)[20:].any())
    assert wrong <= 0.05 * 400
    assert peeked > 4 * wrong
    assert log(1 / ALPHA) == pytest.approx(2.9957, abs=1e-4)


def test_the_simulation_looks_with_the_intervals_that_are_shown() -> None:
    """Its vectorised ends are those of the functions that a run uses, and its truths are true."""
    rng = np.random.default_rng(5)
    for wins, ties, losses in rng.integers(0, 30, (20, 3)).tolist():
        shown = win_rate(losses, wins, ties, pseudo=3).interval
        if shown is not None:
            n = float(wins + ties + losses)
            low, high = win_rate_ends(np.array([float(wins)]), np.array([float(ties)]), np.array([n]))
            assert (low[0], high[0]) == pytest.approx(shown)


def test_a_short_version_of_the_grid() -> None:
    """300 runs a setting: no interval excludes its truth too often, ordinary ones do under peeking, and at a true
    difference of .1 a run of 1,000 pairs asks less than 60 % of them."""
    looks, savings, rankings = simulate_anytime(300, seed=1)
    assert anytime_failures(looks, rankings) == []
    assert [of.runs for of in rankings] == [15] * 5
    # Equal systems are never all separated, clear ones are, by a share of the matches.
    assert rankings[0].separated == 0
    assert rankings[2].separated > 0.8
    assert rankings[2].played < 0.3
    assert len(looks) == 10
    assert all(of.ordinary > 0.3 for of in looks if of.ordinary is not None)
    of_thousand = [of for of in savings if of.setting.mean == 0.6 and of.setting.pairs == 1000]
    assert all(of.asked < 0.6 and of.stopped > 0.95 for of in of_thousand)
    worse = [replace(looks[0], at_any_time=0.2)]
    assert anytime_failures(worse) == ["win rate 0.5, 0% ties: excluded in 0.2000 of 300 runs"]
    wrong = [replace(rankings[0], runs=300, wrong=0.2)]
    assert anytime_failures([], wrong) == ["4 systems, gap 0: wrongly separated in 0.2000 of 300 runs"]
