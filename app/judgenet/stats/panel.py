"""How several raters agree with each other: people of a panel, neurons of a layer, networks.

What is undefined is ``None`` with a reason. A rater that says nothing of a pair is missing there, and never a tie.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from judgenet.core.pairs import Verdict
from judgenet.stats.agreement import Agreement, agreement_of

Ratings = Mapping[str, Verdict]
"""What each rater said of one pair."""

_ORDER: tuple[Verdict, ...] = ("a", "tie", "b")
"""From one response to the other: the order of ordinal alpha."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient over ``n`` pairs, or ``None`` with a ``reason``."""

    value: float | None
    n: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PanelAgreement:
    """A panel's agreement with itself.

    ``h`` is the mean pairwise agreement: for each pair with two raters or more, the share of pairs of raters that
    agree, averaged over pairs. ``pairwise`` has Cohen's kappa (and all else) of each two raters.
    """

    raters: tuple[str, ...]
    h: Coefficient
    alpha_nominal: Coefficient
    alpha_ordinal: Coefficient
    fleiss: Coefficient
    pairwise: dict[tuple[str, str], Agreement]


def panel_agreement(units: Iterable[Ratings]) -> PanelAgreement:
    """All coefficients of a panel, from what it said pair by pair."""
    profiles = Counter(tuple(sorted(unit.items())) for unit in units if unit)
    raters = tuple(sorted({rater for profile in profiles for rater, _ in profile}))
    table: list[tuple[tuple[int, ...], int]] = [
        (category_counts((said for _, said in profile), _ORDER), count) for profile, count in profiles.items()
    ]
    counts = [row for row, times in table for _ in range(times)]
    pairwise: dict[tuple[str, str], Counter[tuple[Verdict | None, Verdict | None]]] = {
        two: Counter() for two in combinations(raters, 2)
    }
    for profile, times in profiles.items():
        for (one, said), (other, other_said) in combinations(profile, 2):
            pairwise[one, other][said, other_said] += times
    return PanelAgreement(
        raters=raters,
        h=percent_agreement(counts),
        alpha_nominal=krippendorff_alpha(counts, "nominal"),
        alpha_ordinal=krippendorff_alpha(counts, "ordinal"),
        fleiss=fleiss_kappa(counts),
        pairwise={two: agreement_of(cells) for two, cells in pairwise.items()},
    )


def category_counts(said: Iterable[object], categories: Sequence[object]) -> tuple[int, ...]:
    """How often each of the categories was said."""
    counted = Counter(said)
    return tuple(counted[category] for category in categories)


def percent_agreement(counts: Sequence[Sequence[int]]) -> Coefficient:
    """The mean share of agreeing pairs of raters, over the units (counts by category) that two or more rated."""
    shares = []
    for row in counts:
        raters = sum(row)
        if raters > 1:
            shares.append(sum(count * (count - 1) for count in row) / (raters * (raters - 1)))
    if not shares:
        return Coefficient(None, 0, "no pair has two annotators")
    return Coefficient(sum(shares) / len(shares), len(shares))


def krippendorff_alpha(counts: Sequence[Sequence[int]], level: Literal["nominal", "ordinal"]) -> Coefficient:
    """Krippendorff's alpha, ``nominal`` or ``ordinal`` (in the order of the categories); raters may be missing.

    ``counts`` has a unit a row and a category a column.
    """
    rated = [list(row) for row in counts if sum(row) > 1]
    if not rated:
        return Coefficient(None, 0, "no pair has two annotators")
    if sum(1 for column in zip(*rated, strict=True) if any(column)) < 2:
        return Coefficient(None, len(rated), "all annotators gave one and the same class")
    import krippendorff
    import numpy as np

    alpha = krippendorff.alpha(
        value_counts=np.asarray(rated), value_domain=list(range(len(rated[0]))), level_of_measurement=level
    )
    return Coefficient(float(alpha), len(rated))


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> Coefficient:
    """Fleiss' kappa (1971) over units that all have the same number of raters; refused where they have not."""
    rated = [list(row) for row in counts if sum(row)]
    raters = {sum(row) for row in rated}
    if not rated or raters == {1}:
        return Coefficient(None, 0, "no pair has two annotators")
    if len(raters) > 1:
        said = f"{min(raters)} to {max(raters)} annotators a pair"
        return Coefficient(None, len(rated), f"made for equally many annotators a pair, here {said}; use alpha")
    if sum(1 for column in zip(*rated, strict=True) if any(column)) < 2:
        return Coefficient(None, len(rated), "all annotators gave one and the same class")
    n, each = len(rated), raters.pop()
    agreeing = sum(sum(count * (count - 1) for count in row) for row in rated) / (n * each * (each - 1))
    by_chance = sum((sum(column) / (n * each)) ** 2 for column in zip(*rated, strict=True))
    return Coefficient((agreeing - by_chance) / (1 - by_chance), n)
