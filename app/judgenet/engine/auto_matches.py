"""A run that chooses its matches: two systems meet until their ranks are separated."""

from __future__ import annotations

import numpy as np

from judgenet.core.aggregate import deciding
from judgenet.core.matches import FEWEST_SYSTEMS, MATCHES_RECORD, MatchesError, matches_seed
from judgenet.core.pairs import Verdict
from judgenet.core.wording import plural
from judgenet.engine.pair_choice import Enough, Verdicts
from judgenet.stats.adaptive_matches import AdaptiveMatches
from judgenet.stats.calibration import SCORES
from judgenet.store.columns import DONE_PHASE
from judgenet.store.frame import RunFrame
from judgenet.store.system_matches import system_matches


def _score(verdict: Verdict | None) -> float | None:
    return None if verdict is None else SCORES[verdict]


class AutoMatches:
    """Takes up pairs in rounds, next those whose systems' ranks are least separated.

    :raises MatchesError: the pairs do not name two systems.
    """

    def __init__(self, frame: RunFrame) -> None:
        self._matches = system_matches(frame)
        if len(self._matches.names) < FEWEST_SYSTEMS:
            raise MatchesError(
                "The pairs do not name two systems (columns model_a and model_b), so there are no matches to choose."
            )
        self._decides = deciding(frame.spec)
        self._seed = matches_seed(frame.run.record)
        self._plan = AdaptiveMatches(len(self._matches.names), self._matches.groups)
        # Pairs that lack answers are asked again.
        done = np.flatnonzero(frame.states == DONE_PHASE).tolist()
        self._known = {index: _score(frame.verdict(self._decides, index)) for index in done}
        self._enough: Enough | None = None

    @property
    def enough(self) -> Enough | None:
        if self._enough is None and self._plan.finished:
            self._enough = self._stop()
        return self._enough

    def next_pair(self) -> int | None:
        while (index := self._plan.next_match()) is not None:
            if index not in self._known:
                return index
            # An earlier start finished it: the round goes on as it did then.
            self._take(index, self._known[index])
        return None

    def take(self, index: int, verdicts: Verdicts) -> None:
        self._take(index, _score(verdicts.get(self._decides)))

    def _take(self, index: int, of_b: float | None) -> None:
        self._plan.take(index, None if of_b is None else self._matches.score(index, of_b))

    def _stop(self) -> Enough:
        plan, names = self._plan, self._matches.names
        apart = sum(neighbour.separated for neighbour in plan.neighbours)
        message = (
            f"The ranks are separated (--matches auto): each of {plural(len(names), 'system')} from the next"
            if plan.separated
            else f"No match is left that could separate ranks further (--matches auto): {apart:,} of "
            f"{plural(len(plan.neighbours), 'system')} are separated from the next"
        )
        order = [names[neighbour] for neighbour in plan.order]
        return Enough(
            f"{message}, after {plan.played:,} of {plural(self._matches.pairs, 'match', 'matches')} in "
            f"{plural(plan.rounds, 'round')}.",
            {
                MATCHES_RECORD: {
                    "kind": "auto",
                    "seed": self._seed,
                    "separated": plan.separated,
                    "order": order,
                    "played": plan.played,
                    "rounds": plan.rounds,
                }
            },
        )
