"""The formulas of corrected win rates, from counts. Each works on numbers and, element by element, on arrays of them,
so that the simulation of coverage checks the very formulas whose results are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from judgenet.stats.intervals import Z

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = float | NDArray[np.floating[Any]]


class Stratum(NamedTuple):
    """What people say of the pairs that got one verdict: mean score, variance of the score and the number of labels,
    a pseudo-label included; and the sum of the scores of the labels alone."""

    mean: Numbers
    variance: Numbers
    n: Numbers
    total: Numbers


def stratum(labels: Sequence[Numbers], scores: Sequence[Numbers]) -> Stratum:
    """The labels of one verdict by class (in the order of ``scores``), with one more spread evenly over the classes."""
    even = 1 / len(scores)
    n: Numbers = sum(labels, start=0.0) + 1
    mean: Numbers = sum(((count + even) * score for count, score in zip(labels, scores, strict=True)), start=0.0) / n
    square: Numbers = sum(
        ((count + even) * score * score for count, score in zip(labels, scores, strict=True)), start=0.0
    )
    total: Numbers = sum((count * score for count, score in zip(labels, scores, strict=True)), start=0.0)
    return Stratum(mean, square / n - mean * mean, n, total)


class Weighted(NamedTuple):
    """A mean over strata and its standard error; both again where only these pairs are meant."""

    value: Numbers
    se: Numbers
    value_these: Numbers
    se_these: Numbers


def weighted(strata: Sequence[Stratum], labelled: Sequence[Numbers], totals: Sequence[Numbers]) -> Weighted:
    """The post-stratified mean (Cochran, Sampling Techniques, 5A.9) and its error.

    ``labelled`` of ``totals`` pairs of each stratum have labels. The error has a part for the labels within the strata
    and one for the shares of the strata. For these pairs only, the labelled ones are known and the others predicted:
    the pseudo-label counts for the others alone, and where all are labelled nothing is left to err in.
    """
    n: Numbers = sum(totals, start=0.0)
    mean: Numbers = 0.0
    square: Numbers = 0.0
    within: Numbers = 0.0
    value_these: Numbers = 0.0
    these: Numbers = 0.0
    for part, count, total in zip(strata, labelled, totals, strict=True):
        weight = total / n
        mean = mean + weight * part.mean
        square = square + weight * part.mean * part.mean
        within = within + weight * weight * part.variance / part.n
        others = total - count
        value_these = value_these + (part.total + others * part.mean) / n
        # Where none is left, its share of 0 makes the term 0 whatever the denominator.
        these = these + (others / n) ** 2 * part.variance * (1 / part.n + 1 / (others + (others == 0)))
    return Weighted(mean, (within + (square - mean * mean) / n) ** 0.5, value_these, these**0.5)


class DecidedShare(NamedTuple):
    """The share of the last class among those of the first and the last, and its standard error."""

    value: Numbers
    se: Numbers


def decided(labels: Sequence[Sequence[Numbers]], totals: Sequence[Numbers]) -> DecidedShare:
    """The post-stratified share of B over that of A and B, from labels by verdict and class (A first, B last) and all
    pairs by verdict; the error by the delta method, on the same table with one even pseudo-label a verdict."""
    k = len(labels)
    first: Numbers = 0.0
    last: Numbers = 0.0
    counts: list[Numbers] = []
    for row, total in zip(labels, totals, strict=True):
        count: Numbers = sum(row, start=0.0)
        first = first + total * (row[0] + 1 / k) / (count + 1)
        last = last + total * (row[-1] + 1 / k) / (count + 1)
        counts.append(count)
    share = last / (first + last)
    # The ratio moves with b - share (a + b): B counts 1 - share, A -share, a tie nothing.
    scores: list[Numbers] = [-1 * share, *[0.0] * (k - 2), 1 - share]
    weighted_share = weighted([stratum(row, scores) for row in labels], counts, totals)
    n: Numbers = sum(totals, start=0.0)
    return DecidedShare(share, weighted_share.se * n / (first + last))


class Moments(NamedTuple):
    """Moments of the scores by people (y) and network (f): over the labelled pairs, and of the network's on the
    others. ``spread`` is the variance of the network's over all pairs, with n - 1."""

    m: Numbers
    n: Numbers
    mean_y: Numbers
    mean_f: Numbers
    mean_u: Numbers
    var_y: Numbers
    var_f: Numbers
    var_u: Numbers
    cov: Numbers
    spread: Numbers


def moments(labelled: Sequence[Sequence[Numbers]], unlabelled: Sequence[Numbers], scores: Sequence[float]) -> Moments:
    """The moments of counts by verdict (rows) and label (columns) and of counts by verdict."""
    cells = [
        (count, score_f, score_y)
        for row, score_f in zip(labelled, scores, strict=True)
        for count, score_y in zip(row, scores, strict=True)
    ]
    others = list(zip(unlabelled, scores, strict=True))
    m: Numbers = sum((count for count, _, _ in cells), start=0.0)
    n: Numbers = sum((count for count, _ in others), start=0.0)
    mean_y: Numbers = sum((count * y for count, _, y in cells), start=0.0) / m
    mean_f: Numbers = sum((count * f for count, f, _ in cells), start=0.0) / m
    mean_u: Numbers = sum((count * f for count, f in others), start=0.0) / n
    # Deviations, not squares less the square of the mean: equal scores must have a variance of exactly 0.
    var_y: Numbers = sum((count * (y - mean_y) ** 2 for count, _, y in cells), start=0.0) / m
    var_f: Numbers = sum((count * (f - mean_f) ** 2 for count, f, _ in cells), start=0.0) / m
    var_u: Numbers = sum((count * (f - mean_u) ** 2 for count, f in others), start=0.0) / n
    cov: Numbers = sum((count * (f - mean_f) * (y - mean_y) for count, f, y in cells), start=0.0) / m
    pooled = (m * mean_f + n * mean_u) / (m + n)
    squares = m * var_f + n * var_u + m * (mean_f - pooled) ** 2 + n * (mean_u - pooled) ** 2
    return Moments(m, n, mean_y, mean_f, mean_u, var_y, var_f, var_u, cov, squares / (m + n - 1))


def powered(moments: Moments, weight: Numbers) -> tuple[Numbers, Numbers]:
    """The prediction-powered mean and its standard error, with ``weight`` (lambda) on the network's verdicts."""
    value = moments.mean_y - weight * moments.mean_f + weight * moments.mean_u
    variance = moments.var_y - 2 * weight * moments.cov + weight * weight * moments.var_f
    # Where people and network agree on every pair the variance is 0, up to rounding.
    variance = variance * (variance > 0)
    return value, (variance / moments.m + weight * weight * moments.var_u / moments.n) ** 0.5


class Adjusted(NamedTuple):
    """Lee et al.'s interval before it is clipped: J of the smoothed rates, theta, shift, standard error, and the
    variance of J."""

    judge: Numbers
    theta: Numbers
    shift: Numbers
    se: Numbers
    judge_variance: Numbers


def adjusted(positive: Numbers, n: Numbers, right_0: Numbers, m_0: Numbers, right_1: Numbers, m_1: Numbers) -> Adjusted:
    """The parts of Lee et al.'s interval for the share of positives (adjusted as by Lang and Reiczigel 2014).

    The share that the judge finds positive gets z² pseudo-pairs, specificity and sensitivity get two each.
    """
    z2 = Z * Z
    p = (positive + z2 / 2) / (n + z2)
    q_0 = (right_0 + 1) / (m_0 + 2)
    q_1 = (right_1 + 1) / (m_1 + 2)
    judge = q_0 + q_1 - 1
    error_0, error_1 = q_0 * (1 - q_0) / (m_0 + 2), q_1 * (1 - q_1) / (m_1 + 2)
    theta = (p + q_0 - 1) / judge
    shift = 2 * z2 * (theta * error_1 - (1 - theta) * error_0)
    variance = p * (1 - p) / (n + z2) + (1 - theta) ** 2 * error_0 + theta**2 * error_1
    return Adjusted(judge, theta, shift, variance**0.5 / judge, error_0 + error_1)
