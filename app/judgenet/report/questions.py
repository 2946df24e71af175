"""Pairs that share a question: figures over them are resampled by question (statistics, "Clusters")."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from judgenet.core.pairs import Verdict
from judgenet.report.collect import Cells, two_verdicts
from judgenet.stats.agreement import Counts
from judgenet.stats.curves import CODES


class Questions:
    """Which pairs have which question, from a digest of each pair's question."""

    def __init__(self, digests: array[int]) -> None:
        known, places = np.unique(np.asarray(digests, dtype=np.uint64), return_inverse=True)
        self.count = len(known)
        self.repeated = self.count < len(digests)
        self.places = places.astype(np.int64)

    def counts(self, cells: Cells | bytearray, places: Sequence[int] | None = None) -> list[Counts] | None:
        """The counts of (label, verdict) of each question, ``None`` where no question has two pairs.

        ``cells`` are a byte a pair for all pairs, or name their pairs; ``places`` are the pairs that count.
        """
        if not self.repeated:
            return None
        if isinstance(cells, Cells):
            of, codes = self.places[np.asarray(cells.pairs, dtype=np.int64)], cells.codes
        else:
            of, codes = self.places, cells
        said = np.frombuffer(bytes(codes), np.uint8).astype(np.int64)
        if places is not None:
            chosen = np.asarray(places, dtype=np.int64)
            of, said = of[chosen], said[chosen]
        table = np.bincount(of * 16 + said, minlength=16 * self.count).reshape(self.count, 16)
        names = [two_verdicts(code) for code in range(16)]
        return [{names[code]: int(row[code]) for code in np.flatnonzero(row)} for row in table[table.sum(axis=1) > 0]]


def always(cells: bytearray, verdict: Verdict) -> bytearray:
    """The same pairs as if a constant answer had been given wherever there is one."""
    said = CODES.index(verdict)
    return bytearray(code & 12 | said if code & 3 else code & 12 for code in cells)
