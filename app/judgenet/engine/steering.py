"""Which pair a run takes up next, and when it has learned enough to stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from judgenet.core.aggregate import deciding
from judgenet.core.until import FIGURE_WORDS, UntilCondition, UntilError, UntilFigure, UntilRule
from judgenet.core.wording import aggregation_title, plural
from judgenet.engine.pair_choice import Enough, InOrder, Verdicts
from judgenet.stats.anytime import AnytimeRate, RunningBets, UnitTally, anytime_corrected, anytime_rate
from judgenet.store.anytime import anytime_labels
from judgenet.store.columns import DONE_PHASE, VERDICT_CODES
from judgenet.store.frame import RunFrame

_CLOSE_LOOKS: Final = 200
"""A width is checked after each question up to this many, and then after each further hundredth."""


@dataclass(slots=True, eq=False)
class _Figure:
    """The tallies of one figure of one aggregation."""

    name: UntilFigure
    aggregation: str
    scores: UnitTally
    differences: UnitTally
    labels: UnitTally

    def rate(self) -> AnytimeRate:
        if self.name == "corrected":
            return anytime_corrected(self.scores, self.differences, self.labels)
        return anytime_rate(self.scores)


_LEAST_EVIDENCE: Final = 40.0
"""The evidence needed on one side, at a level of .05, half of it for each side."""


@dataclass(slots=True, eq=False)
class _Watched:
    """A condition, its figure, and the bets against its value where it is tested by evidence."""

    condition: UntilCondition
    figure: _Figure
    bets: RunningBets | None

    @property
    def met(self) -> bool:
        test, value = self.condition.test, self.condition.value
        if self.bets is not None:
            evidence = self.bets.evidence
            sides = {"above": evidence.above, "below": evidence.below}
            return sides.get(test, max(evidence.above, evidence.below)) >= _LEAST_EVIDENCE
        interval = self.figure.rate().interval
        if interval is None:
            return False
        match test:
            case "width":
                return interval.high - interval.low <= value
            case "above":
                return interval.low > value
            case "below":
                return interval.high < value
            case _:
                return not interval.low <= value <= interval.high


@dataclass(slots=True, eq=False)
class _Turn:
    """A question whose pairs are not all judged."""

    left: int
    pairs: list[int] = field(default_factory=list)


class UntilWatch:
    """Checks the rule of a run after each question, in the order in which the run asks them.

    Args:
        frame: the run so far, with the pairs that earlier starts finished.
        rule: the rule; its aggregations are those of the network.
        order: the places of the pairs in the order in which the run asks them.

    :raises UntilError: a figure of the rule rests on labels, and there are none.
    """

    def __init__(self, frame: RunFrame, rule: UntilRule, order: Sequence[int]) -> None:
        self.enough: Enough | None = None
        self._rule = rule
        self._order = order
        self._run_pairs = len(frame)
        self._questions: list[int] = frame.questions.tolist()
        self._human: list[int] = frame.human.tolist()
        self._turns = {number: _Turn(count) for number, count in enumerate(np.bincount(frame.questions).tolist())}
        self._codes: dict[int, dict[str, int]] = {}
        self._reached = 0
        self._counted = self._units = 0
        most = max((turn.left for turn in self._turns.values()), default=1)
        decides = deciding(frame.spec)
        self._labels: dict[str, list[int]] = {}
        self._figures: dict[tuple[UntilFigure, str], _Figure] = {}
        self._conditions: list[_Watched] = []
        for condition in rule.conditions:
            name = condition.aggregation or decides
            if condition.figure != "win_rate":
                self._require_labels(frame, condition.figure, name)
            figure = self._figures.setdefault(
                (condition.figure, name),
                _Figure(condition.figure, name, *(UnitTally(most) for _ in range(3))),
            )
            bets = RunningBets(condition.value, most) if _has_evidence(condition) else None
            self._conditions.append(_Watched(condition, figure, bets))
        names = {name for _, name in self._figures}
        for index in np.flatnonzero(frame.states >= DONE_PHASE).tolist():
            self._codes[index] = {name: int(frame.aggregations[name][index]) for name in names}
        self._advance()

    def _require_labels(self, frame: RunFrame, figure: UntilFigure, aggregation: str) -> None:
        """Checks that a figure has the labels that it needs, and keeps those of a corrected rate. A rule about the
        corrected rate implies that the labelled pairs of the data were drawn at random.

        :raises UntilError: there are none.
        """
        if figure == "accuracy" and (frame.human > 0).any():
            return
        if figure == "corrected":
            labels, sample = anytime_labels(frame, aggregation)
            if (labels > 0).any() and sample.chosen in ("random", "imported"):
                self._labels[aggregation] = labels.tolist()
                return
        drawn = " that was drawn at random" if figure == "corrected" else ""
        raise UntilError(
            f"{self._rule.text!r} looks at the {FIGURE_WORDS[figure]}, and no pair has a human label{drawn}. Label "
            "some pairs first, or look at the win rate."
        )

    def take(self, index: int, verdicts: Verdicts) -> None:
        """Records a finished pair. One that is counted already stays as it was when it was counted."""
        self._codes[index] = {name: VERDICT_CODES[verdicts.get(name)] for _, name in self._figures}
        self._advance()

    def _advance(self) -> None:
        while self.enough is None and self._reached < len(self._order):
            index = self._order[self._reached]
            if index not in self._codes:
                return
            self._reached += 1
            turn = self._turns[self._questions[index]]
            turn.pairs.append(index)
            turn.left -= 1
            if not turn.left:
                self._count(turn.pairs)
                self._look()

    def _count(self, pairs: list[int]) -> None:
        """Adds a question to the tallies."""
        self._counted += len(pairs)
        self._units += 1
        for (kind, name), figure in self._figures.items():
            codes = [self._codes[index][name] for index in pairs]
            labels = self._labels[name] if kind == "corrected" else self._human
            mine = [labels[index] for index in pairs]
            scores = _right(codes, mine) if kind == "accuracy" else [_SCORES[code] for code in codes if code]
            n, total = len(scores), sum(scores)
            figure.scores.add(n, total)
            for watched in self._conditions:
                if watched.figure is figure and watched.bets is not None:
                    watched.bets.add(n, total)
            if kind == "corrected":
                both = [
                    (_SCORES[code], _SCORES[label]) for code, label in zip(codes, mine, strict=True) if code and label
                ]
                figure.differences.add(len(both), sum((label - said + 1) / 2 for said, label in both))
                figure.labels.add(len(both), sum(label for _, label in both))

    def _look(self) -> None:
        close = self._units <= _CLOSE_LOOKS or self._units % (self._units // 100) == 0
        for watched in self._conditions:
            if self.enough is None and (close or watched.condition.test != "width") and watched.met:
                self.enough = self._stop(watched)

    def _stop(self, watched: _Watched) -> Enough:
        figure = watched.figure
        rate = figure.rate()
        assert rate.value is not None
        assert rate.interval is not None
        e = None if watched.bets is None else watched.bets.evidence.e_value
        what = f"{FIGURE_WORDS[figure.name]} by {aggregation_title(figure.aggregation)}"
        pairs = f"{self._counted:,} of {plural(self._run_pairs, 'pair')}"
        message = (
            f"Enough is known ({self._rule.text}): {what} {rate.value:.3f}, {rate.interval.low:.3f} to "
            f"{rate.interval.high:.3f}{'' if e is None else f', e = {e:.4g}'}, after {pairs}."
        )
        record = {
            "rule": self._rule.text,
            "met": True,
            "figure": figure.name,
            "aggregation": figure.aggregation,
            "value": rate.value,
            "interval": [rate.interval.low, rate.interval.high],
            "e_value": e,
            "pairs": self._counted,
            "questions": self._units,
            "of": self._run_pairs,
        }
        return Enough(message, {"until": record})


_SCORES: Final = (0.0, 0.0, 0.5, 1.0)
"""The score of B by the code of a verdict; code 0 is no verdict."""


def _right(codes: Sequence[int], human: Sequence[int]) -> list[float]:
    """1 for each verdict that equals the label, else 0, where a pair has both."""
    return [float(code == label) for code, label in zip(codes, human, strict=True) if code and label]


def _has_evidence(condition: UntilCondition) -> bool:
    """Whether a condition is tested by an e-value: a corrected rate combines three intervals and has none, and a width
    needs none."""
    return condition.figure != "corrected" and condition.test != "width"


def in_run_order(frame: RunFrame, rule: UntilRule | None) -> InOrder:
    """All pairs in the order of the run's record, until a rule ends the run.

    :raises judgenet.core.until.UntilError: the rule names an aggregation that the network does not have.
    """
    order: list[int] = frame.order.tolist()
    if rule is None:
        return InOrder(order)
    return InOrder(order, UntilWatch(frame, rule, order))
