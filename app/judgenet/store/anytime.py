"""Which pairs of a run count in intervals that are valid at any time, and with which scores.

Which pairs count while a run goes on must not depend on their verdicts. A pair therefore counts when its turn
has come: all pairs before it, in the order in which the run asks, are finished, and so are all of its question. Pairs
that are fast do not jump the queue.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgenet.core.asking_order import order_seed
from judgenet.core.labels import Chosen
from judgenet.core.learned import LEARNED
from judgenet.core.matches import matches_seed
from judgenet.stats.anytime import (
    AnytimeCurve,
    AnytimeRate,
    anytime_corrected,
    anytime_curve,
    anytime_rate,
    tally_units,
    win_rate_curve,
)
from judgenet.stats.curves import CODES, Codes, Floats
from judgenet.stats.provenance import LabelTally, Sample
from judgenet.store.columns import DONE_PHASE
from judgenet.store.frame import RunFrame
from judgenet.store.results import within_name

_SCORE: Final[Floats] = np.array([np.nan, 0.0, 0.5, 1.0])
"""The score of B by the code of a verdict."""


@dataclass(frozen=True, slots=True)
class TurnPairs:
    """The pairs that count: their places in ``pairs``, the number of each one's question in ``units`` (pairs of a
    question follow each other), both in the order in which they count. ``most`` is the most pairs that a question of
    the run has. ``waiting`` finished pairs do not count yet. ``drawn`` says that the order is drawn by a seed.

    Where a run chose its pairs by their verdicts and did not judge all of them, none counts, and ``chosen`` is true.
    """

    pairs: NDArray[np.int64]
    units: NDArray[np.int64]
    most: int
    waiting: int
    drawn: bool
    chosen: bool = False


def turn_pairs(frame: RunFrame) -> TurnPairs:
    """The pairs of a run that count now."""
    order, questions = frame.order, frame.questions
    drawn = order_seed(frame.run.record) is not None
    if not len(order):
        return TurnPairs(order, order, 1, 0, drawn)
    finished = frame.states >= DONE_PHASE
    if matches_seed(frame.run.record) is not None and not finished.all():
        return TurnPairs(order[:0], order[:0], 1, int(finished.sum()), drawn, chosen=True)
    behind = np.flatnonzero(~finished[order])
    reached = int(behind[0]) if len(behind) else len(order)
    last = np.zeros(frame.question_count, np.int64)
    np.maximum.at(last, questions[order], np.arange(len(order)))
    within = order[last[questions[order]] < reached]
    # By the place of its question's last pair: then it counts.
    within = within[np.argsort(last[questions[within]], kind="stable")]
    most = int(np.bincount(questions).max())
    return TurnPairs(within, questions[within], most, int(finished.sum()) - len(within), drawn)


def win_scores(codes: Codes) -> Floats:
    """The scores of B, NaN without a verdict."""
    scores: Floats = _SCORE[codes]
    return scores


def right_scores(codes: Codes, human: Codes) -> Floats:
    """1 where the verdict is the label, else 0; NaN where one of the two is missing."""
    scores: Floats = np.where((codes > 0) & (human > 0), (codes == human).astype(float), np.nan)
    return scores


def difference_scores(codes: Codes, labels: Codes) -> Floats:
    """(label - verdict + 1) / 2 of the scores of B: from 0 to 1, NaN where one of the two is missing."""
    scores: Floats = (_SCORE[labels] - _SCORE[codes] + 1) / 2
    return scores


def anytime_labels(
    frame: RunFrame, aggregation: str, chosen: Chosen | None = None, used: NDArray[np.bool_] | None = None
) -> tuple[Codes, Sample]:
    """The labels that a corrected rate may rest on at any time, codes by pair, and how they were chosen: as ``chosen``
    says, else as is kept of each; of pairs that are not ``used`` none.

    Which ones these are must not depend on the verdicts: all pairs of the run are taken for judged.
    """
    tally = LabelTally(within_name(frame.run, aggregation))
    asked = [True] * len(frame) if used is None else used.tolist()
    kinds = Counter(zip(frame.human.tolist(), frame.pairs.people.tolist(), asked, strict=True))
    for (human, people, wanted), count in kinds.items():
        tally.add("tie", CODES[human], frame.pairs.people_kinds[people], asked=wanted, count=count)
    sample = tally.sample(chosen, only_random=True)
    return frame.sampled_labels(aggregation, sample, used), sample


def anytime_win_rate(frame: RunFrame, aggregation: str, turn: TurnPairs) -> AnytimeRate:
    """The win rate of B, ties as half, by an aggregation's verdicts as they are, with the evidence against 1/2."""
    scores = win_scores(frame.verdict_codes(aggregation)[turn.pairs])
    return anytime_rate(tally_units(turn.units, scores, turn.most), 0.5)


def anytime_accuracy(frame: RunFrame, aggregation: str, turn: TurnPairs) -> AnytimeRate:
    """The share of labelled pairs whose verdict is the label."""
    codes, human = frame.verdict_codes(aggregation)[turn.pairs], frame.human[turn.pairs]
    rate = anytime_rate(tally_units(turn.units, right_scores(codes, human), turn.most))
    if rate.value is None and len(turn.pairs):
        return AnytimeRate(None, None, 0, 0, reason="no labelled pair has a verdict")
    return rate


def anytime_human_rate(
    frame: RunFrame,
    aggregation: str,
    turn: TurnPairs,
    chosen: Chosen | None = None,
    used: NDArray[np.bool_] | None = None,
) -> AnytimeRate:
    """The win rate of B by the labels alone, over the judged pairs that count; refused as the corrected rate is."""
    labels, sample = anytime_labels(frame, aggregation, chosen, used)
    if (refused := _refused(sample)) is not None:
        return refused
    judged = frame.verdict_codes(aggregation)[turn.pairs] > 0
    rate = anytime_rate(tally_units(turn.units, win_scores(np.where(judged, labels[turn.pairs], 0)), turn.most), 0.5)
    return rate if rate.value is not None else AnytimeRate(None, None, 0, 0, reason="no labelled pair has a verdict")


def _refused(sample: Sample) -> AnytimeRate | None:
    """A rate with the reason why there is none, where the labels were not drawn at random; else ``None``."""
    if sample.chosen == "random":
        return None
    why = f"{sample.why}; " if sample.chosen == "imported" and sample.labelled else ""
    reason = f"{why}it takes labels of pairs that were drawn at random from all pairs"
    return AnytimeRate(None, None, 0, 0, reason=reason)


def anytime_corrected_rate(
    frame: RunFrame,
    aggregation: str,
    turn: TurnPairs,
    chosen: Chosen | None = None,
    used: NDArray[np.bool_] | None = None,
) -> AnytimeRate:
    """The win rate of B corrected by labels of pairs that were drawn at random; refused where they were not."""
    labels, sample = anytime_labels(frame, aggregation, chosen, used)
    if (refused := _refused(sample)) is not None:
        return refused
    codes = frame.verdict_codes(aggregation)[turn.pairs]
    verdicts = tally_units(turn.units, win_scores(codes), turn.most)
    moved, alone = difference_scores(codes, labels[turn.pairs]), win_scores(labels[turn.pairs])
    return anytime_corrected(
        verdicts,
        tally_units(turn.units, moved, turn.most),
        tally_units(turn.units, np.where(codes > 0, alone, np.nan), turn.most),
    )


def rate_curve(frame: RunFrame, aggregation: str, *, at_any_time: bool) -> AnytimeCurve:
    """The win rate of B by an aggregation's verdicts as pairs finish, with the interval for one look, or as their turn
    comes, with the one that is valid at any time."""
    codes = frame.verdict_codes(aggregation)
    if at_any_time:
        turn = turn_pairs(frame)
        return anytime_curve(turn.units, win_scores(codes[turn.pairs]), turn.most)
    return win_rate_curve(codes[np.asarray(frame.finished, np.int64)])


def accuracy_curve(frame: RunFrame, aggregation: str) -> AnytimeCurve:
    """The accuracy of an aggregation as the turn of pairs comes, with the interval that is valid at any time."""
    turn = turn_pairs(frame)
    human = frame.human[turn.pairs]
    if aggregation == LEARNED:
        human = np.where(frame.pairs.taught[turn.pairs], 0, human).astype(np.uint8)
    return anytime_curve(turn.units, right_scores(frame.verdict_codes(aggregation)[turn.pairs], human), turn.most)
