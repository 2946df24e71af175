"""Means over pairs with 95 % intervals, for figures that are a number between two bounds on each pair."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from judgenet.stats.intervals import Interval, Z, share_interval
from judgenet.stats.resampling import few_questions, resampled, widening

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Groups = NDArray[np.int64]
    """A number for each pair; pairs of one number have the same question."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over ``n`` pairs with its interval. What is ``None`` has its ``reason``."""

    value: float | None
    interval: Interval | None
    n: int
    reason: str = ""


def mean_of(
    values: Numbers,
    why_none: str,
    groups: Groups | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Mean:
    """The mean of ``values`` (one a pair, NaN where it has none), with the normal interval over pairs.

    One pair is added that is spread evenly over the lower bound, the middle and the upper bound, so that the interval
    has a width where all values are equal. Where questions repeat (``groups``) the variance is that of the sums over
    questions (cluster-robust, with Student's quantile), and half a question is added; below 10 of them there is no
    interval. Where all values are 0 or 1, :func:`share_of_pairs` holds better at the ends.
    """
    import numpy as np

    there = ~np.isnan(values)
    used = values[there]
    n = len(used)
    if not n:
        return Mean(None, None, 0, why_none)
    mean = float(used.mean())
    low, high = bounds
    extra = np.array([low, (low + high) / 2, high])
    sums, sizes = used, np.ones(n)
    weight, z = 1.0, Z
    if groups is not None:
        mine = groups[there]
        codes, questions = np.unique(mine, return_inverse=True)
        if len(codes) < n:
            if why := few_questions(len(codes), n):
                return Mean(mean, None, n, why)
            sums, sizes = (np.bincount(questions, weights).astype(np.float64) for weights in (used, np.ones(n)))
            weight, z = n / len(codes) / 2, Z * widening(len(codes))
    total = n + weight
    smooth = (float(used.sum()) + weight * float(extra.mean())) / total
    variance = float(((sums - sizes * smooth) ** 2).sum()) + weight**2 * float(((extra - smooth) ** 2).mean())
    spread = z * sqrt(variance) / total
    return Mean(mean, Interval(max(low, smooth - spread), min(high, smooth + spread)), n)


def share_of_pairs(values: Numbers, why_none: str, groups: Groups | None = None) -> Mean:
    """The mean of ``values`` that are 0 or 1 (NaN where a pair has none), with the interval of a share: Wilson's, or
    over questions where these repeat (:func:`judgenet.stats.intervals.share_interval`)."""
    import numpy as np

    there = ~np.isnan(values)
    hits = values[there] == 1
    n = len(hits)
    if not n:
        return Mean(None, None, 0, why_none)
    questions = np.arange(n) if groups is None else groups[there]
    within = share_interval(questions, hits)
    return Mean(float(hits.mean()), within, n, "" if within else few_questions(len(np.unique(questions)), n))


def resampled_sums(terms: Numbers, resamples: int, seed: int, groups: Groups | None = None) -> Numbers:
    """Sums of ``terms`` (pairs, columns) over resamples of the pairs, or of whole questions: (resamples, columns)."""
    import numpy as np

    if groups is not None:
        _, places = np.unique(groups, return_inverse=True)
        summed = np.zeros((int(places.max(initial=-1)) + 1, terms.shape[1]))
        np.add.at(summed, places, terms)
        terms = summed
    return resampled([terms], resamples=resamples, seed=seed)[0]
