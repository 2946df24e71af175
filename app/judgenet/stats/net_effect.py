"""The net effect of a bias: target twice less rival twice, over valid pairs, and what can be concluded from it.

A share of biased pairs does not distinguish a noisy judge from a biased one: a coin reaches a quarter. The net effect
of a judge without the bias is 0 whatever its noise, so that verdicts rest on it (statistics 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING, Literal

from judgenet.stats.agreement import sign_test
from judgenet.stats.comparison import tango
from judgenet.stats.distributions import normal_quantile, t_quantile
from judgenet.stats.intervals import Interval
from judgenet.stats.resampling import FEWEST_QUESTIONS, few_questions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Leads = NDArray[np.int64]
    Numbers = NDArray[np.int64]

Over = Literal["pairs", "questions"]

CONFIDENCE = 0.95
EQUIVALENCE_CONFIDENCE = 0.90
"""Two one-sided tests of .05 are the same as a 90 % interval within the margin (Schuirmann 1987)."""

LEVEL = 0.05
_Z_95, _Z_80, _Z_90 = 1.644853626951472, 0.841621233572914, 1.281551565544600
"""One-sided normal quantiles: of a test of .05, of a power of .8, and of a power of .8 against two sides."""


@dataclass(frozen=True, slots=True)
class NetEffect:
    """A net effect, in shares of the valid pairs.

    ``interval`` is the 95 % interval, ``interval_90`` the one that the equivalence test looks at. ``p`` is the exact
    two-sided sign test ``over`` pairs, or over questions where pairs share them. ``equivalent`` says whether the
    90 % interval lies within the margin on both sides. Where it does not, ``pairs_needed`` is how many pairs would tell
    (:meth:`NetSample.pairs_needed`). ``reason`` says why there are no intervals.
    """

    value: float
    interval: Interval | None
    interval_90: Interval | None
    p: float
    over: Over
    equivalent: bool
    pairs_needed: int | None
    reason: str = ""


def net_effect(leads: Leads, questions: Numbers, margin: float, tests: int = 1) -> NetEffect:
    """The net effect of pairs: 1 where the target was chosen throughout, -1 where its rival was, else 0; ``questions``
    numbers the question of each. ``tests`` is how many are corrected for, which counts for the pairs needed.

    :raises ValueError: there is no pair.
    """
    sample = NetSample.of(leads, questions)
    more, less = sample.ahead
    intervals = sample.interval(), sample.interval(EQUIVALENCE_CONFIDENCE)
    equivalent = intervals[1] is not None and -margin <= intervals[1].low and intervals[1].high <= margin
    return NetEffect(
        value=sample.value,
        interval=intervals[0],
        interval_90=intervals[1],
        p=sign_test(more, less),
        over=sample.over,
        equivalent=equivalent,
        pairs_needed=None if equivalent or intervals[1] is None else sample.pairs_needed(margin, tests),
        reason=sample.reason,
    )


@dataclass(frozen=True, slots=True)
class NetSample:
    """Leads of pairs counted: ``plus`` and ``minus`` of ``n`` pairs, of so many ``questions``.

    ``ahead`` are the units (pairs, or questions where pairs share them) with a lead to either side. ``design`` is how
    many times as large the variance is as that of independent pairs (Kish's design effect), at least 1.
    """

    plus: int
    minus: int
    n: int
    questions: int
    ahead: tuple[int, int]
    design: float

    @classmethod
    def of(cls, leads: Leads, questions: Numbers) -> NetSample:
        """Counts leads of 1, 0 and -1."""
        import numpy as np

        n = len(leads)
        if not n:
            raise ValueError("A net effect needs a pair.")
        plus, minus = int((leads > 0).sum()), int((leads < 0).sum())
        _, places = np.unique(questions, return_inverse=True)
        sizes = np.bincount(places).astype(np.float64)
        there = len(sizes)
        if there == n:
            return cls(plus, minus, n, n, (plus, minus), 1.0)
        sums = np.bincount(places, weights=leads).astype(np.float64)
        ahead = int((sums > 0).sum()), int((sums < 0).sum())
        one_sided = len(np.unique(places[leads != 0]))
        return cls(plus, minus, n, there, ahead, _design(sums, sizes, plus + minus, one_sided))

    @property
    def value(self) -> float:
        return (self.plus - self.minus) / self.n

    @property
    def over(self) -> Over:
        return "pairs" if self.questions == self.n else "questions"

    @property
    def reason(self) -> str:
        """Why there is no interval; empty where there is one."""
        return few_questions(self.questions, self.n)

    def interval(self, confidence: float = CONFIDENCE) -> Interval | None:
        """Tango's interval of as many independent pairs as these are worth; ``None`` for too few questions."""
        if self.reason:
            return None
        worth = 1 / self.design
        return tango(self.plus * worth, self.minus * worth, self.n * worth, self.quantile(confidence))

    def quantile(self, confidence: float) -> float:
        """The two-sided quantile: of the normal over pairs, of Student's t over questions."""
        level = (1 + confidence) / 2
        return normal_quantile(level) if self.over == "pairs" else t_quantile(level, self.questions - 1)

    def pairs_needed(self, margin: float, tests: int = 1) -> int:
        """How many pairs, more than there are, would decide in four of five labs, assuming the same share of one-sided
        pairs as here and a pseudo-pair to each side.

        Where the sign test shows nothing: to rule out a net effect above the margin, if there is none. Where it does
        but for the correction for several ``tests``, or the net effect seen is what keeps the interval off the middle:
        to show the net effect that was seen, or that it is below the margin, whichever takes fewer.
        """
        sided = (self.plus + self.minus + 1) / (self.n + 2)
        # Without a one-sided pair the interval ends at z² / (n + z²).
        least = _Z_95**2 * (1 - margin) / margin
        needed = self.design * max((_Z_95 + _Z_90) ** 2 * sided / margin**2, least)
        if sign_test(*self.ahead) < LEVEL or needed <= self.n:
            off = abs(self.value)
            rest = max(sided - off * off, 0.0)
            level = -normal_quantile(LEVEL / 2 / tests)
            tells = [rest * ((level + _Z_80) / off) ** 2] if off else []
            tells += [rest * ((_Z_95 + _Z_80) / (margin - off)) ** 2] if off < margin else []
            needed = self.design * min(tells, default=needed)
        return max(self.n + 1, ceil(needed))


def _design(sums: NDArray[np.float64], sizes: NDArray[np.float64], sided: int, one_sided: int) -> float:
    """The design effect of leads summed by question. Where few questions have a one-sided pair it is not known, and
    each question counts as one pair."""
    n, there = float(sizes.sum()), len(sizes)
    whole = n / there
    net = float(sums.sum()) / n
    independent = sided - n * net * net
    if there < 2 or independent <= 0:
        return whole
    rest = sums - net * sizes
    design = max(1.0, float((rest * rest).sum()) * there / (there - 1) / independent)
    return max(design, whole) if one_sided < FEWEST_QUESTIONS else design


def difference_interval(leads: Leads, questions: Numbers) -> Interval | None:
    """The 95 % interval of the mean of paired differences, each from -2 to 2, with a pseudo-pair to each side, so that
    it has a width where all are equal (Agresti and Min, Statistics in Medicine 2005, who add them to differences from
    -1 to 1). Over questions where pairs share them; ``None`` for too few of these."""
    import numpy as np

    n = len(leads)
    _, places = np.unique(questions, return_inverse=True)
    sizes = np.bincount(places)
    there = len(sizes)
    if not n or few_questions(there, n):
        return None
    total, square = float(leads.sum()), float((leads * leads).sum())
    design = 1.0
    if there < n:
        rest = np.bincount(places, weights=leads) - total / n * sizes
        independent = square - total * total / n
        design = max(1.0, float((rest * rest).sum()) / independent) if independent > 0 else n / there
        if len(np.unique(places[leads != 0])) < FEWEST_QUESTIONS:
            design = max(design, n / there)
    worth = n / design
    middle = total / design / (worth + 2)
    variance = (square / design + 2) / (worth + 2) - middle * middle
    quantile = normal_quantile(0.975) if there == n else t_quantile(0.975, there - 1)
    half = quantile * sqrt(variance / (worth + 2))
    value = total / n
    return Interval(max(-2.0, min(value, middle - half)), min(2.0, max(value, middle + half)))


@dataclass(frozen=True, slots=True)
class Rate:
    """The test of a share that should be 0: ``small`` where the 90 % interval (``interval_90``) lies within the margin;
    else ``pairs_needed`` is the number of pairs that would decide."""

    interval_90: Interval | None
    small: bool
    pairs_needed: int | None


def rate(hits: NDArray[np.bool_], questions: Numbers, margin: float) -> Rate:
    """Whether a share, of which any size is a fault, is shown to be below the margin.

    :raises ValueError: there is no pair.
    """
    sample = NetSample.of(hits.astype("int64"), questions)
    if sample.reason:
        return Rate(None, False, None)
    interval = wilson_of(sample.value, sample.n / sample.design, sample.quantile(EQUIVALENCE_CONFIDENCE))
    if interval.high <= margin:
        return Rate(interval, True, None)
    share = sample.value
    needed = _Z_95**2 * (1 - margin) / margin
    if share and share != margin:
        needed = max(needed, share * (1 - share) * ((_Z_95 + _Z_80) / (share - margin)) ** 2)
    return Rate(interval, False, max(sample.n + 1, ceil(sample.design * needed)))


def wilson_of(share: float, n: float, quantile: float) -> Interval:
    """Wilson's score interval (1927) of a share of ``n`` pairs, which need not be a whole number."""
    square = quantile * quantile
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = quantile * sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))
