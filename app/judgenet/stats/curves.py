"""How agreement with people develops while pairs come in.

Verdicts are codes in arrays here: 0 none, 1 A, 2 tie, 3 B. The figures are those of :mod:`judgenet.stats.agreement`,
for many beginnings of a run at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.core.pairs import Verdict
from judgenet.stats.agreement import Agreement, Counts, agreement_of
from judgenet.stats.intervals import Z

POINTS = 256
"""A curve has at most twice so many points, however many pairs there are."""

CODES: tuple[Verdict | None, ...] = (None, "a", "tie", "b")
"""Verdicts by their code."""

Codes = NDArray[np.uint8]
Floats = NDArray[np.float64]


class RightByOrder(NamedTuple):
    """How often the verdicts of each order equal the human label, and those of both: ``right_ab`` of ``n_ab`` pairs
    with a label and a verdict in order AB, ``right_ba`` of ``n_ba``, ``right_both`` of ``n_both`` with both verdicts.

    ``right_both`` over the labelled pairs is what Auto-J (arXiv 2310.05470) calls agreement; the mean of the two orders
    is LLMBar's accuracy (arXiv 2310.07641).
    """

    right_ab: int
    n_ab: int
    right_ba: int
    n_ba: int
    right_both: int
    n_both: int


def right_by_order(human: Codes, order_ab: Codes, order_ba: Codes) -> RightByOrder:
    """The verdicts of each order against people's; all three by pair, and about responses A and B.

    :raises ValueError: the three differ in length.
    """
    if not len(human) == len(order_ab) == len(order_ba):
        raise ValueError(f"{len(human)} labels cannot be compared with {len(order_ab)} and {len(order_ba)} verdicts.")
    labelled = human > 0
    has_ab, has_ba = labelled & (order_ab > 0), labelled & (order_ba > 0)
    right_ab, right_ba = has_ab & (order_ab == human), has_ba & (order_ba == human)
    counted = (right_ab, has_ab, right_ba, has_ba, right_ab & right_ba, has_ab & has_ba)
    return RightByOrder(*(int(right.sum()) for right in counted))


class Curve(NamedTuple):
    """A figure over finished pairs: after ``pairs`` labelled pairs it was ``values``. Points where it is undefined are
    left out."""

    pairs: NDArray[np.int64]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AgreementCurves:
    """Agreement with people as pairs finish.

    ``low`` and ``high`` are the ends of Wilson's 95 % interval at the points of ``accuracy``. ``last`` is the agreement
    over all pairs.
    """

    accuracy: Curve
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    macro_f1: Curve
    kappa: Curve
    last: Agreement


def agreement_curves(human: Codes, judged: Codes, points: int = POINTS) -> AgreementCurves:
    """The curves of verdicts against human labels, both in the order in which pairs finished.

    The last point stands for all pairs, the others are evenly spaced; pairs without a label make none.

    :raises ValueError: the two differ in length.
    """
    if len(human) != len(judged):
        raise ValueError(f"{len(human)} labels cannot be compared with {len(judged)} verdicts.")
    last = agreement_of(pair_counts(human, judged))
    labelled = human > 0
    cells = (human[labelled].astype(np.int64) << 2) | judged[labelled]
    total = len(cells)
    stride = 1
    while total > 2 * points * stride:
        stride *= 2
    segments = -(-total // stride)
    at = np.arange(total) // stride
    counts = np.bincount(at * 16 + cells, minlength=segments * 16).reshape(segments, 4, 4).cumsum(axis=0)
    pairs = np.minimum((np.arange(segments) + 1) * stride, total)
    tables = counts[:, 1:, 1:].astype(float)
    n = tables.sum(axis=(1, 2))
    right = np.diagonal(tables, axis1=1, axis2=2)
    hits = right.sum(axis=1)
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    used = n > 0
    accuracy = Curve(pairs[used], hits[used] / n[used])
    low, high = _wilson(hits[used], n[used])
    both = rows + columns
    f1 = np.divide(2 * right, both, out=np.zeros_like(right), where=both > 0).sum(axis=1)
    macro_f1 = Curve(pairs[used], f1[used] / (both > 0).sum(axis=1)[used])
    by_chance = (rows * columns).sum(axis=1)
    defined = used & (by_chance < n * n)
    expected = by_chance[defined]
    kappa = Curve(pairs[defined], (n[defined] * hits[defined] - expected) / (n[defined] ** 2 - expected))
    return AgreementCurves(accuracy, low, high, macro_f1, kappa, last)


_CODE = {verdict: code for code, verdict in enumerate(CODES)}


def verdict_codes(verdicts: Iterable[Verdict | None]) -> Codes:
    """The codes of verdicts."""
    return np.fromiter((_CODE[verdict] for verdict in verdicts), dtype=np.uint8)


def pair_counts(first: Codes, second: Codes) -> Counts:
    """How many pairs have which two verdicts."""
    table = np.bincount((first.astype(np.int64) << 2) | second, minlength=16)
    return {(CODES[code >> 2], CODES[code & 3]): int(count) for code, count in enumerate(table) if count}


def _wilson(hits: NDArray[np.float64], n: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """:func:`judgenet.stats.intervals.wilson` for many shares at once; ``n`` is never 0."""
    share = hits / n
    spread = Z * np.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    middle, scale = share + Z * Z / (2 * n), 1 + Z * Z / n
    low, high = np.minimum(share, (middle - spread) / scale), np.maximum(share, (middle + spread) / scale)
    return np.maximum(0.0, low), np.minimum(1.0, high)
