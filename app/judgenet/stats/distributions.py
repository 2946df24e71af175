"""Tail probabilities and quantiles of the distributions that the tests need.

``scipy.stats`` takes longer to load than all figures of a run to be computed: what is needed of it follows from the
standard library and ``scipy.special``. The tests hold these against ``scipy.stats``.
"""

from __future__ import annotations

from math import erfc, sqrt
from statistics import NormalDist

_NORMAL = NormalDist()
_ALMOST_EQUAL = 1 + 1e-7
"""Probabilities that differ by less count as equal, as in scipy's exact test."""


def normal_tail(z: float) -> float:
    """P(Z > z) of the standard normal."""
    return erfc(z / sqrt(2)) / 2


def normal_quantile(level: float) -> float:
    """The z with P(Z <= z) = level."""
    return _NORMAL.inv_cdf(level)


def chi2_tail(value: float) -> float:
    """P(X > value) of chi squared with one degree of freedom, which is the square of a standard normal."""
    return erfc(sqrt(value / 2))


def t_quantile(level: float, degrees: float) -> float:
    """The t with P(T <= t) = level of Student's distribution."""
    from scipy.special import stdtrit  # type: ignore[import-untyped]

    return float(stdtrit(degrees, level))


def binomial_test(hits: int, n: int, chance: float = 0.5) -> float:
    """The exact two-sided p of ``hits`` of ``n``: the probability of all counts that are at most as likely as it."""
    import numpy as np
    from scipy.special import bdtr, gammaln, xlog1py, xlogy

    if chance == 0.5:
        low = min(hits, n - hits)
        return 1.0 if 2 * low == n else min(1.0, 2 * float(bdtr(low, n, 0.5)))
    counts = np.arange(n + 1)
    logs = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
    likely = np.exp(logs + xlogy(counts, chance) + xlog1py(n - counts, -chance))
    return min(1.0, float(likely[likely <= likely[hits] * _ALMOST_EQUAL].sum()))


def t_below(value: float, degrees: float) -> float:
    """P(T <= value) of Student's distribution."""
    from scipy.special import stdtr

    return float(stdtr(degrees, value))
