"""Pairs that share a question: figures over them are resampled by question, since such pairs depend on each other."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from judgenet.core.pairs import Verdict
from judgenet.report.collect import Cells
from judgenet.stats.agreement import PositionConsistency, position_of_codes
from judgenet.stats.curves import CODES
from judgenet.stats.resampling import question_counts

_SHOWN = np.array([1, 3, 2])
"""Codes in the order a, b, tie."""


class Questions:
    """Which pairs have which question, from a digest of each pair's question."""

    def __init__(self, digests: array[int]) -> None:
        known, numbers = np.unique(np.asarray(digests, dtype=np.uint64), return_inverse=True)
        self.count = len(known)
        self.repeated = self.count < len(digests)
        self.numbers: NDArray[np.int64] = numbers.astype(np.int64)

    def table(self, cells: Cells | bytearray, places: Sequence[int] | None = None) -> NDArray[np.float64] | None:
        """Counts by question, human label and verdict, of shape (questions, 9); ``None`` where no question has two
        pairs.

        ``cells`` are a byte a pair for all pairs, or name their pairs; ``places`` are the pairs that count.
        """
        if not self.repeated:
            return None
        if isinstance(cells, Cells):
            of, codes = self.numbers[np.asarray(cells.pairs, dtype=np.int64)], cells.codes
        else:
            of, codes = self.numbers, cells
        said = np.frombuffer(bytes(codes), np.uint8)
        if places is not None:
            chosen = np.asarray(places, dtype=np.int64)
            of, said = of[chosen], said[chosen]
        _, own = np.unique(of, return_inverse=True)
        counts = question_counts(own, said >> 2, said & 3)
        return counts[:, _SHOWN][:, :, _SHOWN].reshape(-1, 9)

    def by_verdict(self, cells: bytearray) -> NDArray[np.float64]:
        """Counts by question, verdict and label, of shape (questions, 4, 4)."""
        said = np.frombuffer(bytes(cells), np.uint8)
        return question_counts(self.numbers, said & 3, said >> 2)

    def orders(self, cells: bytearray) -> PositionConsistency:
        """The verdicts in both orders, from a byte a pair: tested over questions too where these repeat."""
        said = np.frombuffer(bytes(cells), np.uint8)
        return position_of_codes(
            (said >> 2).astype(np.uint8), (said & 3).astype(np.uint8), self.numbers if self.repeated else None
        )


def always(cells: bytearray, verdict: Verdict) -> bytearray:
    """The same pairs as if a constant answer had been given wherever there is one."""
    said = CODES.index(verdict)
    return bytearray(code & 12 | said if code & 3 else code & 12 for code in cells)
