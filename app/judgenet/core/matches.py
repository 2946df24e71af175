"""Which two of several responses to a question are judged: all of them, or a sample.

A sample is drawn from rings: the systems stand on a circle in random order, and each is paired with its neighbours,
then with the next but one, and so on. So the sample of every question is connected (each system can be compared with
each other one through others), and systems appear equally often but for one or two matches (a cyclic paired-comparison
design; David 1988, "The Method of Paired Comparisons", chapter 5).
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any, Final

Matches = int | float | None
"""How many matches a question has: a number, a share of all (below 1), or ``None`` for all."""


FEWEST_SYSTEMS: Final = 2
"""With fewer there is nobody to meet."""

MATCHES_RECORD: Final = "matches"
"""Where the record of a run keeps that its matches are chosen as it goes on, and the seed of their order."""


def matches_seed(record: Mapping[str, Any]) -> int | None:
    """The seed of a run whose matches are chosen as it goes on; ``None`` for other runs."""
    kept = record.get(MATCHES_RECORD)
    return int(kept["seed"]) if isinstance(kept, Mapping) and "seed" in kept else None


class MatchesError(ValueError):
    """Matches cannot be chosen; the message says why."""


def matches_of(systems: int, wanted: Matches) -> int:
    """How many matches a question with so many systems gets: never fewer than connect them, never more than there
    are."""
    every = comb(systems, 2)
    if wanted is None or wanted >= every:
        return every
    number = round(wanted * every) if isinstance(wanted, float) else wanted
    return min(every, max(systems - 1, number))


class MatchMaker:
    """Draws the matches of one question after the other.

    ``seed`` decides with each question's id. Systems that had fewer matches so far get one more where a question cannot
    give all of them the same number, so that over many questions they all appear about equally often.
    """

    def __init__(self, wanted: Matches = None, seed: int = 0) -> None:
        self.wanted = wanted
        self.seed = seed
        self.appearances: dict[Hashable, int] = {}

    def draw(self, question: str, systems: Sequence[Hashable]) -> list[tuple[int, int]]:
        """The matches as pairs of 0-based places among ``systems``, the lower one first, in order."""
        count = len(systems)
        number = matches_of(count, self.wanted)
        if number == comb(count, 2):
            return list(combinations(range(count), 2))
        rng = random.Random(_number(f"{self.seed}:{question}"))
        edges = _rings(count, number)
        degrees = [0] * count
        for i, j in edges:
            degrees[i] += 1
            degrees[j] += 1
        places = sorted(range(count), key=lambda place: (-degrees[place], rng.random()))
        waiting = sorted(range(count), key=lambda system: (self.appearances.get(systems[system], 0), rng.random()))
        at = dict(zip(places, waiting, strict=True))
        for place, system in at.items():
            self.appearances[systems[system]] = self.appearances.get(systems[system], 0) + degrees[place]
        return sorted((min(at[i], at[j]), max(at[i], at[j])) for i, j in edges)


def swapped(seed: int, question: str, first: str, second: str) -> bool:
    """Whether the second of two systems is response A: a coin that seed, question and systems decide, so that no
    system is always shown first."""
    return bool(_number(f"{seed}:{question}:{first}:{second}") & 1)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def _rings(count: int, number: int) -> list[tuple[int, int]]:
    """``number`` edges between ``count`` places on a circle, the shortest first; fewer than all."""
    if number < count:
        return [(place, place + 1) for place in range(count - 1)]
    edges: list[tuple[int, int]] = []
    for distance in range(1, count // 2 + 1):
        ring = _ring(count, distance)
        edges += ring[: number - len(edges)]
        if len(edges) == number:
            break
    return edges


def _ring(count: int, distance: int) -> list[tuple[int, int]]:
    """The edges between places so far apart, first those of which no two share a place."""
    apart: list[tuple[int, int]] = []
    others: list[tuple[int, int]] = []
    seen: set[int] = set()
    for start in range(count):
        place, number = start, 0
        while place not in seen:
            seen.add(place)
            after = (place + distance) % count
            last = number > 0 and after == start and number % 2 == 0
            (others if number % 2 or last else apart).append((place, after))
            place, number = after, number + 1
    if 2 * distance == count:
        return apart
    return apart + others
