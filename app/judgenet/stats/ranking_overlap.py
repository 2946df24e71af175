"""How alike two rankings of the same systems are: rank-biased overlap (Webber, Moffat and Zobel 2010).

``A_d`` is the share of the first ``d`` ranks that two rankings have in common. Rank-biased overlap weighs it by
``p ** (d - 1)``, so that the top counts most: with p = 0.8 and extrapolation the first five ranks have 86 % of the
weight. CoBBLEr (Koo et al. 2023) compares people and judges by it, question by question.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

P = 0.8
"""How fast weights fall with the rank."""
TIE_BREAKS = 100
"""Random orders of equal systems that a comparison is averaged over."""

RankScores = Mapping[str, float]
"""A ranking as scores by system; the highest is the best, equal ones are tied."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """The mean overlap of two raters over the questions that both ranked.

    ``value`` is ``None`` where there is no such question; ``reason`` says so. ``questions`` were compared, of ``total``
    that either of them has. ``sd`` is the standard deviation over them (dividing by n - 1), ``None`` below two.
    """

    value: float | None
    sd: float | None
    questions: int
    total: int
    reason: str = ""


def scores_of(ranking: Sequence[str]) -> dict[str, float]:
    """A ranking without ties, best first, as scores."""
    return {name: float(len(ranking) - place) for place, name in enumerate(ranking)}


def win_shares(games: Iterable[tuple[str, str, float]]) -> dict[str, float]:
    """Scores of systems from games (first system, second system, what the first won: 1, 0.5 or 0): wins divided by
    appearances, so that a system that was judged more often is not ahead for that."""
    won: dict[str, float] = {}
    games_of: dict[str, int] = {}
    for first, second, share in games:
        for name, part in ((first, share), (second, 1 - share)):
            won[name] = won.get(name, 0.0) + part
            games_of[name] = games_of.get(name, 0) + 1
    return {name: won[name] / games_of[name] for name in won}


def overlap_of_scores(
    first: RankScores,
    second: RankScores,
    *,
    p: float = P,
    extrapolated: bool = True,
    tie_breaks: int = TIE_BREAKS,
    seed: int = 0,
) -> float | None:
    """The overlap of two rankings in which systems may be tied: the mean over ``tie_breaks`` random orders of the tied
    ones. ``None`` where both are empty.

    :raises ValueError: the rankings are of different systems, or there is no tie-break.
    """
    if first.keys() != second.keys():
        raise ValueError("The rankings are of different systems.")
    if tie_breaks < 1:
        raise ValueError("At least one order of tied systems is needed.")
    if not first:
        return None
    import numpy as np

    names = list(first)
    rng = np.random.default_rng(seed)
    ranks = [_ranks(np.array([scores[name] for name in names]), tie_breaks, rng) for scores in (first, second)]
    return float(_overlaps(ranks[0], ranks[1], p, extrapolated).mean())


def mean_overlap(
    first: Mapping[Hashable, RankScores],
    second: Mapping[Hashable, RankScores],
    *,
    p: float = P,
    extrapolated: bool = True,
    tie_breaks: int = TIE_BREAKS,
    seed: int = 0,
) -> Overlap:
    """The mean overlap of two raters, each a ranking by question. On each question the systems that both ranked are
    compared; below two there is nothing to compare."""
    both = []
    for place, question in enumerate(first):
        if question not in second:
            continue
        first_order, second_order = first[question], second[question]
        names = [name for name in first_order if name in second_order]
        if len(names) < 2:
            continue
        overlap = overlap_of_scores(
            {name: first_order[name] for name in names},
            {name: second_order[name] for name in names},
            p=p,
            extrapolated=extrapolated,
            tie_breaks=tie_breaks,
            # Each question has its own orders, whatever the others are.
            seed=seed + place,
        )
        assert overlap is not None
        both.append(overlap)
    total = len(first.keys() | second.keys())
    if not both:
        return Overlap(None, None, 0, total, "no question has a ranking of at least two systems by both")
    mean = sum(both) / len(both)
    sd = (sum((value - mean) ** 2 for value in both) / (len(both) - 1)) ** 0.5 if len(both) > 1 else None
    return Overlap(mean, sd, len(both), total)


def overlap_among(
    raters: Sequence[Mapping[Hashable, RankScores]], *, p: float = P, extrapolated: bool = True, seed: int = 0
) -> Overlap:
    """The mean overlap of each two raters, such as the people of a panel; ``questions`` counts comparisons, and ``sd``
    is over pairs of raters."""
    overlaps = [
        mean_overlap(first_rater, second_rater, p=p, extrapolated=extrapolated, seed=seed)
        for first_rater, second_rater in combinations(raters, 2)
    ]
    return overlap_of_means(overlaps)


def overlap_of_means(overlaps: Iterable[Overlap]) -> Overlap:
    """The mean of several overlaps, such as those of a judge with each of several people; ``questions`` and ``total``
    are summed, and ``sd`` is over the overlaps."""
    overlaps = list(overlaps)
    values = [each.value for each in overlaps if each.value is not None]
    questions, total = sum(each.questions for each in overlaps), sum(each.total for each in overlaps)
    if not values:
        return Overlap(None, None, 0, total, "no two raters ranked the same question")
    mean = sum(values) / len(values)
    sd = (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5 if len(values) > 1 else None
    return Overlap(mean, sd, questions, total)


def _ranks(scores: NDArray[np.float64], tie_breaks: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """0-based ranks of the systems, (orders, systems); one order where no systems are tied."""
    import numpy as np

    count = len(scores)
    orders = 1 if len(np.unique(scores)) == count else tie_breaks
    sorted_places = np.lexsort((rng.random((orders, count)), np.broadcast_to(-scores, (orders, count))), axis=-1)
    ranks = np.empty_like(sorted_places)
    np.put_along_axis(ranks, sorted_places, np.broadcast_to(np.arange(count), (orders, count)), axis=-1)
    return ranks


def _overlaps(first: NDArray[np.int64], second: NDArray[np.int64], p: float, extrapolated: bool) -> NDArray[np.float64]:
    """The overlap in each order. A system is common to the first d ranks once both its ranks are below d."""
    import numpy as np

    later = np.sort(np.maximum(first, second), axis=-1)
    count = later.shape[-1]
    depths = np.arange(1, count + 1)
    # Of the sorted later ranks, those below d.
    common = (later[:, None, :] < depths[None, :, None]).sum(axis=-1)
    shares = common / depths
    overlaps: NDArray[np.float64] = (1 - p) * (shares * p ** (depths - 1)).sum(axis=-1)
    return overlaps + shares[:, -1] * p**count if extrapolated else overlaps
