"""Intervals that stay valid however often one looks: confidence sequences for means of bounded scores.

An ordinary 95 % interval holds at one look. Whoever looks after every pair, and stops when it excludes something, is
wrong far more often than in 5 % of the runs. Here all intervals of a run, one after every pair, hold together with a
probability of at least 95 %, so that a run may be stopped by them.

By betting (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86, 2024,
arXiv 2010.09686, 4 and their "diversified" bets of 5): who bets the share b of the capital at fair odds on scores
above m has after the units 1 to t

    K+_t(m) = mean over b of prod_i (1 + b (S_i - n_i m) / (N m)),

and K-_t(m) likewise on scores below m, with (1 - m) in the denominator and the opposite sign. A unit is a question:
S_i is the sum of the scores of its n_i pairs, and N the most pairs that a question of the run has, so that each factor
is at least 1 - b. With E[S_i - n_i m] = 0, that is where m is the mean over pairs, both are martingales that start at
1, and by Ville's inequality neither ever reaches 2 / alpha but with a probability of alpha / 2. The interval after t
units holds the m at which both are below that. K+ falls in m and K- rises, so that it is an interval, and both depend
on the units that are in and not on their order. No approximation is involved: it holds for 3 units as for 3,000.

What it takes: units are independent draws from one population, and which ones are in does not depend on their scores.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import exp, log
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from judgenet.stats.curves import Codes, Floats
from judgenet.stats.intervals import Interval, win_rate_ends

ALPHA: Final = 0.05
VERDICT_ALPHA, LABEL_ALPHA = 0.005, 0.0225
"""Of a corrected rate, the parts of alpha that the verdicts have, of which there are many, and each of the two ways in
which the labels are used: with the verdicts, and alone."""
_LARGEST, _RATIO, _MAIN, _SMALL, _MAIN_SHARE = 0.9, 0.769, 12, 10, 0.85
BETS: Final[Floats] = np.array([_LARGEST * _RATIO**place for place in range(_MAIN + _SMALL)])
"""The shares of the capital that are bet: from .9, for few units far from m, to .0036, for a million near it."""
LOG_WEIGHTS: Final[Floats] = np.log(np.repeat([_MAIN_SHARE / _MAIN, (1 - _MAIN_SHARE) / _SMALL], [_MAIN, _SMALL]))
"""The logarithms of the bets' weights in the mixture, which sum to 1."""
BetSide = Literal["above", "below"]
"""Whether bets are on scores above a mean, K+, or below it, K-."""
SIDES: Final[tuple[BetSide, ...]] = get_args(BetSide)
_HALVINGS: Final = 40
_MOST_LOG: Final = 700.0
"""Evidence beyond exp(700) is reported as that: a larger number is no float any more."""


@dataclass(slots=True)
class UnitTally:
    """Units that are in, by their kind.

    ``most`` is the most pairs that a unit may have, known before any score is; ``kinds`` counts the units by number of
    pairs with a score and sum of their scores, each from 0 to 1.
    """

    most: int = 1
    kinds: dict[tuple[int, float], int] = field(default_factory=dict)

    def add(self, pairs: int, total: float, units: int = 1) -> None:
        """Takes units in whose ``pairs`` scored pairs have scores that sum to ``total``. One without any changes
        nothing.

        :raises ValueError: more pairs than ``most``, or a sum that they cannot have.
        """
        if not 0 <= pairs <= self.most or not -1e-9 <= total <= pairs + 1e-9:
            raise ValueError(f"A unit of {pairs} pairs, at most {self.most}, cannot have the sum {total:g}.")
        if pairs:
            self.kinds[pairs, total] = self.kinds.get((pairs, total), 0) + units

    @property
    def units(self) -> int:
        """Units with a score."""
        return sum(self.kinds.values())

    @property
    def pairs(self) -> int:
        """Pairs with a score."""
        return sum(pairs * count for (pairs, _), count in self.kinds.items())

    @property
    def mean(self) -> float | None:
        """The mean score over pairs; ``None`` without one."""
        pairs = self.pairs
        return sum(total * count for (_, total), count in self.kinds.items()) / pairs if pairs else None

    def _arrays(self) -> tuple[Floats, Floats, Floats]:
        sizes = np.array([pairs for pairs, _ in self.kinds], dtype=float)
        totals = np.array([total for _, total in self.kinds], dtype=float)
        return sizes, totals, np.array([list(self.kinds.values())], dtype=float)

    def interval(self, alpha: float = ALPHA) -> Interval | None:
        """The means that are not excluded; ``None`` without a score."""
        if not self.kinds:
            return None
        low, high = interval_ends(*self._arrays(), self.most, alpha)
        return Interval(float(low[0]), float(high[0]))

    def evidence(self, mean: float) -> BetEvidence:
        """The evidence against this mean.

        :raises ValueError: it is not between 0 and 1.
        """
        if not 0 < mean < 1:
            raise ValueError(f"A mean between 0 and 1 can be excluded, not {mean:g}.")
        if not self.kinds:
            return BetEvidence(1.0, 1.0)
        capital = {side: log_capital(side, *self._arrays(), self.most, np.array([mean])) for side in SIDES}
        return BetEvidence(*(exp(min(_MOST_LOG, float(capital[side][0]))) for side in SIDES))


@dataclass(frozen=True, slots=True)
class BetEvidence:
    """The capital that the bets against a mean made of 1: ``above`` that of those on a larger one, ``below`` that of
    the others. Each is an e-value: its expectation is at most 1 where the mean is true, at whatever unit one stops."""

    above: float
    below: float

    @property
    def e_value(self) -> float:
        """The e-value of both sides, half of the capital being bet on each. The interval excludes the mean where it is
        1 / alpha or more: 20 for 95 %."""
        return max(self.above, self.below) / 2

    @property
    def p(self) -> float:
        """A p value that is valid at whatever unit one stops: 1 / e."""
        return min(1.0, 1 / self.e_value)


class RunningBets:
    """The bets against one mean, kept up while units come in: what :meth:`UnitTally.evidence` makes of all of them.

    :raises ValueError: the mean is not between 0 and 1.
    """

    def __init__(self, mean: float, most: int) -> None:
        if not 0 < mean < 1:
            raise ValueError(f"A mean between 0 and 1 can be excluded, not {mean:g}.")
        self._mean = np.array([mean])
        self._most = most
        self._logs: list[Floats] = [LOG_WEIGHTS.copy(), LOG_WEIGHTS.copy()]
        self._factors: dict[tuple[int, float], list[Floats]] = {}

    def add(self, pairs: int, total: float) -> None:
        """Takes in a unit whose ``pairs`` scored pairs have scores that sum to ``total``."""
        factors = self._factors.get((pairs, total))
        if factors is None:
            kind = (np.array([float(pairs)]), np.array([total]))
            factors = [log_factors(side, *kind, self._most, self._mean)[:, 0, 0] for side in SIDES]
            self._factors[pairs, total] = factors
        for logs, side in zip(self._logs, factors, strict=True):
            logs += side

    @property
    def evidence(self) -> BetEvidence:
        """The evidence of the bets so far."""
        above, below = (float(np.logaddexp.reduce(logs)) for logs in self._logs)
        return BetEvidence(exp(min(_MOST_LOG, above)), exp(min(_MOST_LOG, below)))


def log_capital(side: BetSide, sizes: Floats, totals: Floats, counts: Floats, most: int, means: Floats) -> Floats:
    """The logarithm of K+ or K- of many tallies at a mean each.

    ``sizes`` and ``totals`` are of the kinds of units, ``counts`` of shape (tallies, kinds), ``means`` of shape
    (tallies,) or (1,), each between 0 and 1.
    """
    logs = (counts * log_factors(side, sizes, totals, most, means)).sum(axis=2)
    capital: Floats = np.logaddexp.reduce(LOG_WEIGHTS[:, None] + logs, axis=0)
    return capital


def log_factors(side: BetSide, sizes: Floats, totals: Floats, most: int, means: Floats) -> Floats:
    """The logarithm of what a unit of each kind multiplies K+ or K- by, of shape (bets, means, kinds)."""
    off = (totals - sizes * means[:, None]) / most
    gain = off / means[:, None] if side == "above" else -off / (1 - means[:, None])
    # Rounding must not take a factor below what the bet can lose.
    factors: Floats = np.log1p(BETS[:, None, None] * np.maximum(gain, -1.0))
    return factors


def interval_ends(
    sizes: Floats, totals: Floats, counts: Floats, most: int, alpha: float = ALPHA
) -> tuple[Floats, Floats]:
    """The ends of the intervals of many tallies, as :func:`log_capital` takes them, each of shape (tallies,)."""
    limit = log(2 / alpha)

    def end(side: BetSide, outside: float) -> Floats:
        # The one place is excluded, or the end of the scale; the other is not.
        out, within = np.full(len(counts), outside), np.full(len(counts), 1.0 - outside)
        for _ in range(_HALVINGS):
            middle = (out + within) / 2
            excluded = log_capital(side, sizes, totals, counts, most, middle) >= limit
            out, within = np.where(excluded, middle, out), np.where(excluded, within, middle)
        return out

    return end("above", 0.0), end("below", 1.0)


@dataclass(frozen=True, slots=True)
class AnytimeRate:
    """A mean with an interval that is valid at any time.

    ``n`` pairs have a score, in ``units`` questions. ``evidence`` is that against 1/2 where it is asked for.
    ``value`` and ``interval`` are ``None`` with a ``reason`` where there is no score.
    """

    value: float | None
    interval: Interval | None
    n: int
    units: int
    evidence: BetEvidence | None = None
    reason: str = ""


def anytime_rate(tally: UnitTally, null: float | None = None, alpha: float = ALPHA) -> AnytimeRate:
    """The mean of a tally, with its interval and, where a ``null`` is given, the evidence against that."""
    if not tally.kinds:
        return AnytimeRate(None, None, 0, 0, reason="no question has all its pairs in, with a verdict")
    evidence = None if null is None else tally.evidence(null)
    return AnytimeRate(tally.mean, tally.interval(alpha), tally.pairs, tally.units, evidence)


def anytime_corrected(verdicts: UnitTally, differences: UnitTally, labels: UnitTally) -> AnytimeRate:
    """The win rate corrected by labels of pairs drawn at random, with an interval that is valid at any time.

    W = E[v] + E[y - v]: the mean score v of the verdicts and, over the labelled pairs, the mean difference between
    label and verdict (the difference estimator; as prediction-powered inference, Angelopoulos et al. 2023, does). It is
    also E[y], the mean of the labels alone. ``differences`` tallies (y - v + 1) / 2, which is from 0 to 1, ``labels``
    y. The intervals of the three means hold together with a probability of 1 - .05 (union bound: .005 for the
    verdicts, .0225 each for differences and labels). W then lies between the sums of the ends of the first two, and
    between the ends of the third: the interval is what both have in common, so that a poor judge costs little and a
    good one helps. This holds for any number of labels, without approximation. The value is that of the narrower of the
    two; it is not that of the stratified estimate, which weighs the labels of each verdict by the verdict's share.
    """
    if verdicts.mean is None:
        return AnytimeRate(None, None, 0, 0, reason="no question has all its pairs in, with a verdict")
    if differences.mean is None or labels.mean is None:
        return AnytimeRate(None, None, 0, 0, reason="no labelled pair has a verdict")
    mine, moved, alone = (
        verdicts.interval(VERDICT_ALPHA),
        differences.interval(LABEL_ALPHA),
        labels.interval(LABEL_ALPHA),
    )
    assert mine is not None
    assert moved is not None
    assert alone is not None
    low, high = max(0.0, mine.low + 2 * moved.low - 1), min(1.0, mine.high + 2 * moved.high - 1)
    value = labels.mean if alone.high - alone.low < high - low else verdicts.mean + 2 * differences.mean - 1
    low, high = max(low, alone.low), min(high, alone.high)
    if low > high:
        # One of the three does not hold its mean, which happens in less than 5 of 100 runs: the labels are people's.
        low, high, value = alone.low, alone.high, labels.mean
    return AnytimeRate(min(high, max(low, value)), Interval(low, high), labels.pairs, labels.units)


def tally_units(units: NDArray[np.int64], scores: Floats, most: int) -> UnitTally:
    """The tally of pairs with these unit numbers and scores; pairs with the score NaN have none."""
    tally = UnitTally(max(1, most))
    there = ~np.isnan(scores)
    if there.any():
        _, number = np.unique(units[there], return_inverse=True)
        sizes, totals = np.bincount(number), np.bincount(number, weights=scores[there])
        for (pairs, total), count in _counted(zip(sizes.tolist(), totals.tolist(), strict=True)).items():
            tally.add(pairs, total, count)
    return tally


def _counted(kinds: Iterable[tuple[int, float]]) -> dict[tuple[int, float], int]:
    counts: dict[tuple[int, float], int] = {}
    for kind in kinds:
        counts[kind] = counts.get(kind, 0) + 1
    return counts


@dataclass(frozen=True, slots=True)
class AnytimeCurve:
    """A mean as units come in: after ``pairs`` pairs it was ``values``, with an interval from ``low`` to ``high``."""

    pairs: NDArray[np.int64]
    values: Floats
    low: Floats
    high: Floats


def anytime_curve(
    units: NDArray[np.int64], scores: Floats, most: int, points: int = 128, alpha: float = ALPHA
) -> AnytimeCurve:
    """The curve of pairs in the order in which they count; pairs of a unit follow each other, and count when its last
    one is in. Pairs with the score NaN have none. At most ``points`` points, the last of them for all pairs."""
    there = ~np.isnan(scores)
    starts = np.flatnonzero(np.diff(units, prepend=units[:1] - 1))
    sizes = np.add.reduceat(there.astype(float), starts) if len(starts) else np.zeros(0)
    totals = np.add.reduceat(np.where(there, scores, 0.0), starts) if len(starts) else np.zeros(0)
    scored = np.flatnonzero(sizes > 0)
    if not len(scored):
        none = np.zeros(0)
        return AnytimeCurve(np.zeros(0, np.int64), none, none, none)
    sizes, totals = sizes[scored], totals[scored]
    at = np.unique(np.linspace(0, len(scored) - 1, min(points, len(scored))).round().astype(np.int64))
    kinds, number = np.unique(np.stack([sizes, totals]), axis=1, return_inverse=True)
    segment = np.searchsorted(at, np.arange(len(scored)))
    counts = np.zeros((len(at), kinds.shape[1]))
    np.add.at(counts, (segment, number.ravel()), 1.0)
    low, high = interval_ends(kinds[0], kinds[1], counts.cumsum(axis=0), max(1, most), alpha)
    pairs = sizes.cumsum()[at]
    return AnytimeCurve(pairs.astype(np.int64), totals.cumsum()[at] / pairs, low, high)


def win_rate_curve(codes: Codes, points: int = 256) -> AnytimeCurve:
    """The win rate of B over verdicts (codes as in :mod:`judgenet.stats.curves`) as they come in, with the ordinary
    interval of one look at each point (:func:`judgenet.stats.intervals.win_rate` with three pseudo-pairs)."""
    judged = codes[codes > 0]
    n = np.arange(1, len(judged) + 1, dtype=float)
    wins, ties = (judged == 3).cumsum().astype(float), (judged == 2).cumsum().astype(float)
    at = np.unique(np.linspace(0, len(judged) - 1, min(points, len(judged))).round().astype(np.int64))
    low, high = win_rate_ends(wins[at], ties[at], n[at])
    return AnytimeCurve(n[at].astype(np.int64), (wins + ties / 2)[at] / n[at], low, high)
