"""How sure the verdicts of a run are by its own acceptance rule."""

from __future__ import annotations

from typing import Literal

import numpy as np

from judgenet.core.acceptance import ACCEPTED
from judgenet.core.pairs import Verdict
from judgenet.stats.confidence import confidences
from judgenet.stats.curves import Floats
from judgenet.stats.verdicts import learned_probability
from judgenet.store.columns import DONE_PHASE
from judgenet.store.frame import RunFrame


def rule_confidence(frame: RunFrame) -> Floats:
    """By pair, the confidence that the run's acceptance rule compares with its threshold; NaN without a verdict, or
    without such a rule."""
    rule = frame.spec.aggregation.acceptance
    if rule is None or rule.aggregation not in frame.aggregations:
        return np.full(len(frame), np.nan)
    probability = (
        np.full(len(frame), np.nan)
        if rule.learned is None
        else learned_probability(rule.learned, frame.votes, frame.places)
    )
    neurons, codes = frame.table.neurons[:, : len(frame.places)], frame.verdict_codes(rule.aggregation)
    return confidences(rule.confidence, codes, frame.calls, neurons, frame.table.margin, probability, frame.table.soft)


def final_verdict(frame: RunFrame, index: int) -> tuple[Verdict | None, Literal["people", "network"] | None]:
    """The final verdict of a pair where a rule accepts verdicts, and whose it is: the human label, also in a review of
    the pairs that were left to them, else the accepted verdict. Both ``None`` while it waits for people."""
    said = frame.human_label(index) or frame.people(index).targeted
    if said is not None:
        return said, "people"
    accepted = frame.verdict(ACCEPTED, index)
    return accepted, None if accepted is None else "network"


def left_to_people(frame: RunFrame, index: int) -> bool:
    """Whether a pair is finished and its verdict not sure enough to be accepted: :attr:`RunFrame.for_people` of one
    pair."""
    rule = frame.spec.aggregation.acceptance
    if rule is None or rule.aggregation not in frame.aggregations or frame.states[index] < DONE_PHASE:
        return False
    return bool(frame.aggregations[rule.aggregation][index]) and not frame.aggregations[ACCEPTED][index]
