"""Chooses which systems meet next: those whose ranks are least separated, until each system is separated from the next.

Two systems are separated when their matches exclude an even rate at any time (:mod:`judgenet.stats.anytime`), by p
values adjusted after Holm over all pairs of systems. The matches of two systems are played in an order that no result
chooses; which two systems play on may then depend on all results: a false separation somewhere needs some sequence of
matches that would cross its limit if all of it were played, and the chance of that is at most .05 (union bound). The
idea of ranking by e-values with chosen matches is that of SERPANT (Gu et al., ICML 2026); here each comparison is
direct, so that no model of the strengths is assumed. The order itself is that of Bradley and Terry. That a system which
beats its neighbour also beats those further down is not tested, but taken from the order (stochastic transitivity).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final

import numpy as np

from judgenet.stats.anytime import ALPHA, UnitTally
from judgenet.stats.multiple import holm
from judgenet.stats.ranking import PRIOR, bradley_terry, connected

FIRST: Final = 6
"""Questions of each two systems that stand side by side on the ring with which it begins."""
EACH: Final = 6
"""Questions of each two neighbours in a later round."""

SystemPair = tuple[int, int]
"""Two systems by their number, the lower one first."""


@dataclass(frozen=True, slots=True)
class NeighbourSeparation:
    """Two systems next to each other in the ranking, by number.

    ``n`` matches between them have a verdict; ``rate`` is the share that the better one won, ties as half. ``e_value``
    is against an even rate and ``p`` its p value after Holm, of all pairs of systems. ``separated`` says that p is at
    most .05.
    """

    better: int
    worse: int
    n: int
    rate: float | None
    e_value: float
    p: float

    @property
    def separated(self) -> bool:
        return self.p <= ALPHA


def neighbour_separations(
    order: Sequence[int], tallies: Mapping[SystemPair, UnitTally]
) -> tuple[NeighbourSeparation, ...]:
    """How far each system is separated from the next one of ``order``. ``tallies`` hold the scores of the first of two
    systems; two that are not in it never met."""
    every = list(combinations(sorted(order), 2))
    e_values = {pair: tallies[pair].evidence(0.5).e_value if pair in tallies else 0.5 for pair in every}
    adjusted = dict(zip(every, holm([min(1.0, 1 / e_values[pair]) for pair in every]), strict=True))
    separations = []
    for better, worse in pairwise(order):
        pair = (min(better, worse), max(better, worse))
        tally = tallies.get(pair, UnitTally())
        mean = tally.mean
        # Only in the direction of the ranking: who lost against the next one is not above it.
        rate = None if mean is None else mean if pair[0] == better else 1 - mean
        right = rate is not None and rate > 0.5
        p = adjusted[pair] if right else 1.0
        separations.append(NeighbourSeparation(better, worse, tally.pairs, rate, e_values[pair], p))
    return tuple(separations)


def strength_order(systems: int, tallies: Mapping[SystemPair, UnitTally]) -> list[int]:
    """The systems from the strongest to the weakest by Bradley and Terry, equal ones by their number."""
    wins = np.zeros((systems, systems))
    for (i, j), tally in tallies.items():
        if tally.mean is not None:
            wins[i, j], wins[j, i] = tally.mean * tally.pairs, (1 - tally.mean) * tally.pairs
    strengths = bradley_terry(wins, 0.0 if connected(wins) else PRIOR)
    if strengths is None:
        return list(range(systems))
    return sorted(range(systems), key=lambda system: (-round(float(strengths[system]), 9), system))


class AdaptiveMatches:
    """Chooses matches in rounds. A round follows from the results of those before it alone, so that a run that is
    resumed or replayed plays the same matches.

    Args:
        systems: how many systems there are.
        matches: of each two systems the matches that can be played, in the order in which they are: a group for each
            question (usually of one match), by whatever number a match has.
    """

    def __init__(self, systems: int, matches: Mapping[SystemPair, Sequence[Sequence[int]]]) -> None:
        self.systems = systems
        self._matches = matches
        self._played = dict.fromkeys(matches, 0)
        self.tallies = {
            pair: UnitTally(max((len(group) for group in groups), default=1)) for pair, groups in matches.items()
        }
        self._round: dict[SystemPair, list[Sequence[int]]] = {}
        self._queue: deque[int] = deque()
        self._waiting: set[int] = set()
        self._scores: dict[int, float | None] = {}
        self.order: list[int] = list(range(systems))
        self.neighbours: tuple[NeighbourSeparation, ...] = ()
        self.rounds = 0
        self.finished = False
        ring = ((system, (system + 1) % systems) for system in range(systems))
        self._begin(sorted({(min(pair), max(pair)) for pair in ring if pair[0] != pair[1]}), FIRST)

    @property
    def separated(self) -> bool:
        """Whether each system is separated from the next."""
        return bool(self.neighbours) and all(pair.separated for pair in self.neighbours)

    @property
    def played(self) -> int:
        """Matches that were chosen so far."""
        return sum(sum(map(len, groups[: self._played[pair]])) for pair, groups in self._matches.items())

    def next_match(self) -> int | None:
        """The number of the match to play next; ``None`` while results of the round are awaited, and at the end."""
        return self._queue.popleft() if self._queue else None

    def take(self, match: int, score: float | None) -> None:
        """Takes in the score of the first system of a match (1 won, 1/2 a tie), ``None`` without a verdict."""
        if match not in self._waiting:
            return
        self._waiting.remove(match)
        self._scores[match] = score
        if not self._waiting:
            self._end_round()

    def _begin(self, pairs: Sequence[SystemPair], questions: int) -> None:
        """Begins a round with so many questions of each of these pairs of systems, as far as there are."""
        self._round = {}
        for pair in pairs:
            groups = self._matches.get(pair, ())
            start = self._played.get(pair, 0)
            if chosen := list(groups[start : start + questions]):
                self._round[pair] = chosen
                self._played[pair] = start + len(chosen)
        # Question after question, so that all pairs of systems go on side by side.
        for place in range(questions):
            for chosen in self._round.values():
                self._queue.extend(chosen[place] if place < len(chosen) else ())
        self._waiting = set(self._queue)
        self.rounds += 1
        if not self._waiting:
            self._end_round()

    def _end_round(self) -> None:
        for pair, groups in self._round.items():
            for group in groups:
                scores = [score for match in group if (score := self._scores[match]) is not None]
                self.tallies[pair].add(len(scores), sum(scores))
        self._round = {}
        self.order = strength_order(self.systems, self.tallies)
        self.neighbours = neighbour_separations(self.order, self.tallies)
        open_ones = [
            (neighbours.e_value, (min(neighbours.better, neighbours.worse), max(neighbours.better, neighbours.worse)))
            for neighbours in self.neighbours
            if not neighbours.separated
        ]
        left = [pair for _, pair in sorted(open_ones) if self._played.get(pair, 0) < len(self._matches.get(pair, ()))]
        if left:
            self._begin(left, EACH)
        else:
            self.finished = True
