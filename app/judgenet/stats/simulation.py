"""Do the 95 % intervals hold what they promise? Simulated judges, rates and labels, with the very formulas in use.

Two classes. Of each simulated run the truth is known: coverage is the share of runs whose interval holds it. It is to
be 95 %, up to the error of the simulation, sqrt(.95 x .05 / runs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from judgenet.stats import formulas
from judgenet.stats.calibration import Method
from judgenet.stats.intervals import Z

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.floating]


class Setting(NamedTuple):
    """A judge (its specificity and sensitivity), the true share of B, and how many pairs are labelled at random."""

    specificity: float
    sensitivity: float
    theta: float
    labels: int


@dataclass(frozen=True, slots=True)
class Covered:
    """Of one method in one setting: the share of intervals that hold the truth, and their mean width."""

    coverage: float
    width: float


_JUDGES = ((0.6, 0.7), (0.8, 0.8), (0.7, 0.9), (0.9, 0.9))
GRID: tuple[Setting, ...] = tuple(
    Setting(*judge, theta, labels) for judge in _JUDGES for theta in (0.5, 0.7, 0.9) for labels in (50, 100, 200, 400)
)
"""Weak to strong judges, even to one-sided rates, few to many labels."""


def simulate(setting: Setting, *, unlabelled: int = 1000, runs: int = 4000, seed: int = 0) -> dict[Method, Covered]:
    """Coverage and width of each method's interval over ``runs`` simulated runs of a setting.

    Widths are of intervals that may reach beyond 0 and 1, but for Lee et al.'s, which has no mean width otherwise.
    Where that method finds the judge no better than chance, its interval counts as 0 to 1.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    q_0, q_1, theta, m = setting
    # By verdict (rows) and truth (columns), A before B.
    cells = [(1 - theta) * q_0, theta * (1 - q_1), (1 - theta) * (1 - q_0), theta * q_1]
    aa, ab, ba, bb = rng.multinomial(m, cells, size=runs).T.astype(float)
    share = cells[2] + cells[3]
    positive = rng.binomial(unlabelled, share, size=runs).astype(float)
    others = [unlabelled - positive, positive]
    table = [[aa, ab], [ba, bb]]

    parts = [formulas.stratum(row, (0.0, 1.0)) for row in table]
    counts: list[Array] = [aa + ab, ba + bb]
    totals = [count + rest for count, rest in zip(counts, others, strict=True)]
    headline = formulas.weighted(parts, counts, totals)

    of = formulas.moments(table, others, (0.0, 1.0))
    spread = np.asarray(of.spread)
    best = np.divide(of.cov, (1 + m / unlabelled) * spread, out=np.zeros(runs), where=spread > 0)
    powered = formulas.powered(of, np.clip(best, 0.0, 1.0))

    # A judge at chance divides by 0; what comes of it is replaced.
    with np.errstate(divide="ignore", invalid="ignore"):
        lee = formulas.adjusted(positive, unlabelled, aa, aa + ba, bb, bb + ab)
        middle, half = np.asarray(lee.theta) + lee.shift, Z * np.asarray(lee.se)
        usable = np.asarray(lee.judge) > 1e-12
        low = np.where(usable, np.clip(middle - half, 0.0, 1.0), 0.0)
        high = np.where(usable, np.clip(middle + half, 0.0, 1.0), 1.0)
    return {
        "naive": _wilson(positive, unlabelled, theta),
        "lee": _covered((low + high) / 2, (high - low) / 2, theta),
        "ppi": _covered(np.asarray(powered[0]), Z * np.asarray(powered[1]), theta),
        "stratified": _covered(np.asarray(headline.value), Z * np.asarray(headline.se), theta),
        "human_only": _wilson(ab + bb, m, theta),
    }


def _covered(middle: Array, half: Array, truth: float) -> Covered:
    inside = abs(middle - truth) <= half
    return Covered(float(inside.mean()), float(2 * half.mean()))


def _wilson(hits: Array, n: int, truth: float) -> Covered:
    share = hits / n
    scale = 1 + Z * Z / n
    half = Z * (share * (1 - share) / n + Z * Z / (4 * n * n)) ** 0.5 / scale
    return _covered((share + Z * Z / (2 * n)) / scale, half, truth)


LEAST_COVERAGE = 0.94
"""What the stratified interval must cover at least, before the error of the simulation."""


def simulation_error(coverage: float, runs: int) -> float:
    """The standard error of a simulated coverage."""
    return sqrt(coverage * (1 - coverage) / runs)


def shortfalls(found: Sequence[tuple[Setting, dict[Method, Covered]]], runs: int) -> list[str]:
    """What is not as it should be: a stratified interval that covers less than 94 % by more than three standard errors,
    or is wider than the human labels alone by more than 2 %."""
    least = LEAST_COVERAGE - 3 * simulation_error(LEAST_COVERAGE, runs)
    told = []
    for setting, methods in found:
        headline = methods["stratified"]
        where = (
            f"judge {setting.specificity:g}/{setting.sensitivity:g}, rate {setting.theta:g}, {setting.labels} labels"
        )
        if headline.coverage < least:
            told.append(f"{where}: the stratified interval covers {headline.coverage:.3f}")
        if headline.width > 1.02 * methods["human_only"].width:
            told.append(f"{where}: the stratified interval is wider than the human labels alone")
    return told
