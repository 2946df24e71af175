"""Which judges of a panel are alike: the correlations of their errors, or of their verdicts, and a dendrogram.

Verdicts are codes as in :mod:`judgenet.stats.curves`: 0 none, 1 A, 2 tie, 3 B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.stats.curves import Codes, Floats
from judgenet.stats.effective_votes import SIGNS, correlations, error_matrix, labelled

_OPTIMAL = 60
"""Up to so many judges the branches are turned so that neighbours are as alike as they can be: the time that takes
grows with the cube of their number."""


class Merge(NamedTuple):
    """Two branches that the dendrogram joins, the closest first. ``left`` and ``right`` are judges, or, from the number
    of judges on, earlier merges; ``distance`` is 1 - r, the mean over the pairs of judges of the two branches."""

    left: int
    right: int
    distance: float


@dataclass(frozen=True, slots=True)
class CorrelationMap:
    """How alike judges err, or decide.

    ``r`` are Pearson's correlations, of shape (judges, judges), NaN where one of the two does not vary; ``n`` the pairs
    that each rests on. ``order`` are the judges so that those that are alike stand together, ``merges`` the dendrogram.
    Both rest on ``pairs`` of ``pairs_total``. Without them there is a ``reason``.
    """

    by_errors: bool
    r: Floats
    n: NDArray[np.int64]
    order: tuple[int, ...]
    merges: tuple[Merge, ...]
    pairs: int
    pairs_total: int
    reason: str = ""


def correlation_map(verdicts: Codes, human: Codes, *, by_errors: bool = True) -> CorrelationMap:
    """The correlations of all judges with each other, of ``verdicts`` of shape (pairs, judges).

    ``by_errors`` correlates errors against the labels (:func:`judgenet.stats.effective_votes.error_matrix`); else
    verdicts, over the pairs that both judge.
    """
    used = labelled(verdicts, human) if by_errors else (verdicts > 0).sum(axis=1) > 1
    values = error_matrix(verdicts, human) if by_errors else SIGNS[verdicts[used]]
    there = (~np.isnan(values)).astype(np.int64)
    judges = verdicts.shape[1]
    r = correlations(values) if len(values) else np.full((judges, judges), np.nan)
    reason = ""
    if judges < 2:
        reason = "there is one judge"
    elif not len(values):
        reason = "no pair has both a human label and a verdict" if by_errors else "no pair has two verdicts"
    elif np.isnan(r[~np.eye(judges, dtype=bool)]).all():
        reason = "no two judges both err and are right" if by_errors else "no two judges both vary"
    order, merges = dendrogram(r)
    return CorrelationMap(by_errors, r, there.T @ there, order, merges, int(used.sum()), len(verdicts), reason)


def dendrogram(r: Floats) -> tuple[tuple[int, ...], tuple[Merge, ...]]:
    """The order and the merges of judges by average linkage of the distance 1 - r (Sokal and Michener 1958; scipy).

    A correlation that is undefined counts as none. The order is the judges' own where there are fewer than two.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage  # type: ignore[import-untyped]
    from scipy.spatial.distance import squareform  # type: ignore[import-untyped]

    judges = len(r)
    if judges < 2:
        return tuple(range(judges)), ()
    distance = 1.0 - np.nan_to_num(r, nan=0.0)
    distance = np.maximum((distance + distance.T) / 2, 0.0)
    np.fill_diagonal(distance, 0.0)
    joined = linkage(squareform(distance, checks=False), "average", optimal_ordering=judges <= _OPTIMAL)
    merges = tuple(Merge(int(left), int(right), float(height)) for left, right, height, _ in joined)
    return tuple(int(place) for place in leaves_list(joined)), merges


def merged(merges: Sequence[Merge], judges: int) -> list[tuple[int, ...]]:
    """The judges of each merge, in its order from left to right."""
    groups: list[tuple[int, ...]] = []
    for left, right, _ in merges:
        both = [(side,) if side < judges else groups[side - judges] for side in (left, right)]
        groups.append(both[0] + both[1])
    return groups
