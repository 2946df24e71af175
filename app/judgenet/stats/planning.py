"""How many pairs people must label for an interval of a given width, and which.

A width is that of the whole 95 % interval of the win rate. What no number of labels reaches is said to be impossible.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import TypeVar

from judgenet.core.pairs import Verdict
from judgenet.stats.intervals import Z

T = TypeVar("T")

FEWEST_PLANNED = 30
"""Fewer labels than these are never advised, whatever the formula says."""
FEWEST_PER_VERDICT = 5
FEWEST_PER_SIDE = 10
ASSUMED_RATE = 0.8
"""How often a judge is assumed to be right on each class where there are no labels."""


@dataclass(frozen=True, slots=True)
class Need:
    """How many labels a method needs, or ``None`` with a ``reason``.

    ``needed`` is what the formula says, ``labels`` what is advised: at least :data:`FEWEST_PLANNED`. ``floor`` is the
    width that no number of labels gets below.
    """

    needed: int | None
    floor: float
    reason: str = ""

    @property
    def labels(self) -> int | None:
        return None if self.needed is None else max(FEWEST_PLANNED, self.needed)


@dataclass(frozen=True, slots=True)
class PlannedStratum:
    """The pairs with one verdict: their share of all, and mean and standard deviation of people's score for B."""

    share: float
    mean: float
    sd: float


def _up(value: float) -> int:
    # A whole number that arithmetic made a hair larger is not the next one.
    return ceil(value - 1e-9)


def _variance(width: float) -> float:
    if not 0 < width <= 1:
        raise ValueError(f"A width is a number above 0 and up to 1, not {width}.")
    return (width / (2 * Z)) ** 2


def _spread(strata: Sequence[PlannedStratum]) -> tuple[float, float]:
    """The variance of the score within the verdicts, and between their means."""
    mean = sum(part.share * part.mean for part in strata)
    within = sum(part.share * part.sd**2 for part in strata)
    return within, sum(part.share * (part.mean - mean) ** 2 for part in strata)


def stratified_width(strata: Sequence[PlannedStratum], pairs: int, labels: int, effect: float = 1.0) -> float:
    """The width to expect of the stratified estimate with ``labels`` random labels among ``pairs`` judged pairs.

    The labels are a second draw from the pairs: with EV the variance within verdicts and VE the one between them,
    Var = EV (1/m - 1/N) + ``effect`` (EV + VE) / N. ``effect`` is the design effect of questions with several pairs
    (:mod:`judgenet.stats.design_effect`). It widens what all N labels would give; the second draw takes pairs from many
    questions and adds no more than independent pairs would. Without repeated questions it is EV / m + VE / N.
    """
    within, between = _spread(strata)
    return 2 * Z * sqrt(within / labels + _fixed(within, between, effect) / pairs)


def _fixed(drawn: float, rest: float, effect: float) -> float:
    """N times the variance that no number of labels takes away, where labels divide ``drawn``."""
    return effect * (drawn + rest) - drawn


def stratified_labels(
    strata: Sequence[PlannedStratum], pairs: int, width: float, *, within_verdict: bool = False, effect: float = 1.0
) -> Need:
    """The labels that the stratified estimate needs, chosen at random from all ``pairs``, or within each verdict in the
    best proportions (Neyman 1934); ``effect`` as in :func:`stratified_width`.

    :raises ValueError: ``width`` is not in (0, 1], or there are no pairs.
    """
    within, between = _spread(strata)
    drawn = sum(part.share * part.sd for part in strata) ** 2 if within_verdict else within
    return _labels(drawn, _fixed(within, between, effect), pairs, width)


def human_labels(strata: Sequence[PlannedStratum], pairs: int, width: float, effect: float = 1.0) -> Need:
    """The labels needed without the network, chosen at random; ``effect`` as in :func:`stratified_width`.

    :raises ValueError: ``width`` is not in (0, 1], or there are no pairs.
    """
    variance = sum(_spread(strata))
    return _labels(variance, _fixed(variance, 0.0, effect), pairs, width)


def powered_labels(variance: float, correlation: float, pairs: int, width: float, effect: float = 1.0) -> Need:
    """The labels that PPI++ needs among ``pairs``, of which those that get none are left unlabelled.

    ``variance`` is that of people's score, ``correlation`` that of people's and network's scores. With m labels it
    leaves variance / m (1 - rho² (N - m) / N); ``effect`` as in :func:`stratified_width`.

    :raises ValueError: ``width`` is not in (0, 1], or there are no pairs.
    """
    explained = variance * correlation * correlation if correlation > 0 else 0.0
    return _labels(variance - explained, _fixed(variance - explained, explained, effect), pairs, width)


def _labels(drawn: float, fixed: float, pairs: int, width: float) -> Need:
    """The m of ``drawn`` / m + ``fixed`` / N = V."""
    if pairs < 1:
        raise ValueError("There are no pairs to plan for.")
    floor = 2 * Z * sqrt(max(0.0, fixed) / pairs)
    left = _variance(width) - fixed / pairs
    if left <= 0:
        return Need(None, floor, _floor_reason(width, floor, f"{pairs:,} judged pairs"))
    return of_pairs(Need(_up(drawn / left), floor), pairs, 2 * Z * sqrt((drawn + fixed) / pairs))


def of_pairs(need: Need, pairs: int, narrowest: float) -> Need:
    """``need``, which cannot be met where it is more labels than there are ``pairs``.

    ``narrowest`` is the width of the interval when all pairs are labelled.
    """
    if need.needed is None or need.needed <= pairs:
        return need
    why = f"impossible: {need.needed:,} labels would be needed of {pairs:,} judged pairs"
    return Need(None, need.floor, f"{why}, which all together give a width of {100 * narrowest:.1f} points")


def beside_the_rest(pairs: int, need_of: Callable[[int], Need]) -> Need:
    """The labels needed among ``pairs`` where those without a label are the other pairs of a correction: the fewest m
    for which ``need_of(pairs - m)`` is at most m."""
    need = need_of(pairs)
    while need.needed is not None and need.needed < pairs:
        again = need_of(pairs - need.needed)
        if again.needed is not None and again.needed <= need.needed:
            return need
        # Fewer other pairs need more labels, so that this climbs to the answer or out of reach.
        need = again
    if need.needed is None:
        return need
    why = f"impossible: of {pairs:,} judged pairs too few would be left without a label"
    return Need(None, need.floor, why)


def _floor_reason(width: float, floor: float, what: str) -> str:
    return (
        f"impossible: {what} give no interval narrower than {100 * floor:.1f} points, however many are labelled "
        f"(target {100 * width:g})"
    )


# Labels for a correction by error rates


@dataclass(frozen=True, slots=True)
class TwoClassNeed:
    """The labels that Lee et al.'s correction needs: in the best proportions of the two true classes, as many of each,
    and at random."""

    optimal: Need
    equal: Need
    at_random: Need


def two_class_labels(
    theta: float, specificity: float, sensitivity: float, unlabelled: int, width: float
) -> TwoClassNeed:
    """The labels for a correction of the rate on ``unlabelled`` pairs, of which ``theta`` are truly positive.

    :raises ValueError: ``width`` is not in (0, 1], or a share outside 0 to 1.
    """
    _shares(theta, specificity, sensitivity)
    target = _variance(width)
    judge = specificity + sensitivity - 1
    if judge <= 1e-12 or unlabelled < 1:
        why = "impossible: the judge is no better than chance" if unlabelled else "impossible: there is no other pair"
        return TwoClassNeed(*(Need(None, 1.0, why),) * 3)
    p = theta * sensitivity + (1 - theta) * (1 - specificity)
    noise = p * (1 - p) / unlabelled
    floor = 2 * Z * sqrt(noise) / judge
    left = target * judge * judge - noise
    if left <= 0:
        return TwoClassNeed(*(Need(None, floor, _floor_reason(width, floor, f"{unlabelled:,} other pairs")),) * 3)
    error_0, error_1 = specificity * (1 - specificity), sensitivity * (1 - sensitivity)
    part_0, part_1 = (1 - theta) ** 2 * error_0, theta**2 * error_1
    return TwoClassNeed(
        Need(_up((sqrt(part_0) + sqrt(part_1)) ** 2 / left), floor),
        Need(_up(2 * (part_0 + part_1) / left), floor),
        Need(_up(((1 - theta) * error_0 + theta * error_1) / left), floor),
    )


@dataclass(frozen=True, slots=True)
class ClassNeed:
    """The labels that the K-class correction needs: in the best proportions of the true classes (``allocation``, as
    shares), and as many of each."""

    optimal: Need
    equal: Need
    allocation: tuple[float, ...]


def k_class_labels(
    errors: Sequence[Sequence[float]], people: Sequence[float], scores: Sequence[float], unlabelled: int, width: float
) -> ClassNeed:
    """The labels for a K-class correction of the rate on ``unlabelled`` pairs.

    ``errors`` are the shares of verdicts (rows) by true class (columns), ``people`` the shares of the true classes. By
    the delta method of the K-class estimate, without its smoothing; with two classes it is :func:`two_class_labels`.

    :raises ValueError: ``width`` is not in (0, 1], or a share outside 0 to 1.
    """
    import numpy as np

    _shares(*people, *(share for row in errors for share in row))
    target = _variance(width)
    matrix, shares, score = (np.asarray(values, dtype=float) for values in (errors, people, scores))
    k = len(score)
    even = (1 / k,) * k
    if unlabelled < 1 or np.linalg.svd(matrix, compute_uv=False)[-1] < 1e-9:
        why = (
            "impossible: there is no other pair"
            if unlabelled < 1
            else "impossible: the judge's errors hide the classes"
        )
        return ClassNeed(*(Need(None, 1.0, why),) * 2, even)
    weights = np.linalg.solve(matrix.T, score)
    # Of the score that a verdict stands for: the variance among all verdicts, and given each true class.
    verdicts = matrix @ shares
    noise = float(verdicts @ weights**2 - (verdicts @ weights) ** 2) / unlabelled
    within = np.maximum(weights**2 @ matrix - (weights @ matrix) ** 2, 0.0)
    parts = shares * np.sqrt(within)
    floor = 2 * Z * sqrt(max(noise, 0.0))
    allocation = tuple(float(part) for part in parts / parts.sum()) if parts.sum() else even
    left = target - noise
    if left <= 0:
        why = _floor_reason(width, floor, f"{unlabelled:,} other pairs")
        return ClassNeed(*(Need(None, floor, why),) * 2, allocation)
    return ClassNeed(
        Need(_up(float(parts.sum()) ** 2 / left), floor),
        Need(_up(k * float((parts**2).sum()) / left), floor),
        allocation,
    )


def published_allocation(
    labels: int, positive: float, specificity: float, sensitivity: float, pilot: int = FEWEST_PER_SIDE
) -> tuple[int, int]:
    """The negative and positive labels by Lee et al.'s rule (arXiv 2511.21140), from the share that the judge finds
    positive and a pilot of ``pilot`` labels a side.

    An approximation for a sensitivity near 1, with its limits mended: without positives all but the pilot are negative,
    and too few labels are halved.

    :raises ValueError: a share outside 0 to 1.
    """
    _shares(positive, specificity, sensitivity)
    if labels < 2 * pilot:
        return labels - labels // 2, labels // 2
    upper, lower = pilot * (1 - specificity) + 1, pilot * (1 - sensitivity) + 1
    if not pilot:
        upper, lower = 1 - specificity, 1 - sensitivity
    if positive <= 0:
        wished = 0.0
    elif not lower:
        wished = 0.0 if upper and positive < 1 else labels / 2
    else:
        wished = labels / (1 + (1 / positive - 1) * sqrt(upper / lower))
    of_positive = min(labels - pilot, max(pilot, round(wished)))
    return labels - of_positive, of_positive


def _shares(*values: float) -> None:
    for value in values:
        if not 0 <= value <= 1:
            raise ValueError(f"{value} is no share from 0 to 1.")


# Which to label next


def neyman(shares: Sequence[float], sds: Sequence[float], labels: float) -> list[float]:
    """``labels`` in proportion to share times standard deviation (Neyman 1934), not yet rounded; in proportion to the
    shares where no stratum varies."""
    sizes = [share * sd for share, sd in zip(shares, sds, strict=True)]
    if not sum(sizes):
        sizes = list(shares)
    total = sum(sizes)
    return [labels * size / total if total else 0.0 for size in sizes]


def label_targets(
    strata: Mapping[Verdict, PlannedStratum], pairs: Mapping[Verdict, int], labels: int
) -> dict[Verdict, int]:
    """How many pairs of each verdict should be labelled, of ``labels`` in all: Neyman's proportions, at least
    :data:`FEWEST_PER_VERDICT` of each verdict that occurs, never more than there are, each rounded up."""
    names = [verdict for verdict in strata if pairs.get(verdict, 0)]
    left = float(min(labels, sum(pairs[name] for name in names)))
    fixed: dict[Verdict, int] = {}
    # What one stratum cannot take, or must have, changes what the others get.
    while True:
        free = [name for name in names if name not in fixed]
        wished = dict(
            zip(free, neyman([strata[n].share for n in free], [strata[n].sd for n in free], left), strict=True)
        )
        over = {name: pairs[name] for name in free if wished[name] > pairs[name]}
        under = {name: min(FEWEST_PER_VERDICT, pairs[name]) for name in free}
        under = {name: least for name, least in under.items() if wished[name] < least}
        changed = over or under
        if not changed:
            return fixed | {name: _up(wish) for name, wish in wished.items()}
        fixed |= changed
        left = max(0.0, left - sum(changed.values()))


def draw_labels(unlabelled: Mapping[Verdict, Sequence[T]], more: Mapping[Verdict, int], seed: int = 0) -> list[T]:
    """The pairs to label next, of those given by verdict: ``more`` of each, drawn at random within it and shuffled, so
    that their order tells nothing of the verdict."""
    rng = random.Random(seed)
    drawn: list[T] = []
    for verdict, ids in sorted(unlabelled.items()):
        drawn += rng.sample(list(ids), min(len(ids), max(0, more.get(verdict, 0))))
    rng.shuffle(drawn)
    return drawn


def assumed_strata(shares: Mapping[Verdict, float]) -> dict[Verdict, PlannedStratum]:
    """What to plan with before there are labels: people agree with 80 % of the decided verdicts, and where the network
    ties they are evenly spread."""
    assumed = {"a": (0.2, 0.4), "tie": (0.5, sqrt(1 / 6)), "b": (0.8, 0.4)}
    return {verdict: PlannedStratum(share, *assumed[verdict]) for verdict, share in shares.items() if share}
