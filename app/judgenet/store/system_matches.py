"""The matches of a run's systems: which pairs are between which two, in the order in which they count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from judgenet.core.asking_order import asking_order
from judgenet.core.matches import matches_seed
from judgenet.stats.adaptive_matches import SystemPair
from judgenet.stats.anytime import UnitTally
from judgenet.stats.curves import Codes
from judgenet.store.anytime import win_scores
from judgenet.store.columns import DONE_PHASE
from judgenet.store.frame import RunFrame


@dataclass(frozen=True, slots=True)
class SystemMatches:
    """The systems by name, and of each two of them the pairs of the run in which they meet: a group for each question,
    in the order in which they count. ``first_is_a`` says by pair whether the first of the two systems is A."""

    names: tuple[str, ...]
    groups: Mapping[SystemPair, tuple[tuple[int, ...], ...]]
    first_is_a: Mapping[int, bool]

    @property
    def pairs(self) -> int:
        """Pairs of two named systems."""
        return len(self.first_is_a)

    def score(self, index: int, of_b: float) -> float:
        """The score of the first system of a pair, from that of B."""
        return 1 - of_b if self.first_is_a[index] else of_b


def system_matches(frame: RunFrame) -> SystemMatches:
    """The matches of a run, in drawn order where they are chosen as it goes on, else as they come."""
    known, sides = frame.pairs.system_names, frame.pairs.systems.tolist()
    plays = [known[a] and known[b] and known[a] != known[b] for a, b in sides]
    # A system that is named on one side alone plays no match.
    playing = {side for there, pair in zip(plays, sides, strict=True) if there for side in pair}
    names = sorted(known[side] or "" for side in playing)
    number = {name: place for place, name in enumerate(names)}
    questions: list[int] = frame.questions.tolist()
    seed = matches_seed(frame.run.record)
    order = range(len(frame)) if seed is None else asking_order(seed, questions)
    matches: dict[SystemPair, dict[int, list[int]]] = {}
    first_is_a: dict[int, bool] = {}
    for index in order:
        if plays[index]:
            a, b = (number[known[side] or ""] for side in sides[index])
            first_is_a[index] = a < b
            matches.setdefault((min(a, b), max(a, b)), {}).setdefault(questions[index], []).append(index)
    groups = {pair: tuple(map(tuple, by_question.values())) for pair, by_question in sorted(matches.items())}
    return SystemMatches(tuple(names), groups, first_is_a)


def match_tallies(frame: RunFrame, matches: SystemMatches, codes: Codes) -> dict[SystemPair, UnitTally]:
    """The scores of the first of each two systems over the matches that count: those of a question count when all of
    it, and all questions before it, are finished."""
    finished = frame.states >= DONE_PHASE
    scores = win_scores(codes)
    tallies = {}
    for pair, groups in matches.groups.items():
        tally = tallies[pair] = UnitTally(max(map(len, groups)))
        for group in groups:
            if not finished[list(group)].all():
                break
            known = [matches.score(index, float(scores[index])) for index in group if not np.isnan(scores[index])]
            tally.add(len(known), sum(known))
    return tallies
