"""Replays a cascade on the calls of a run that asked more, to see which verdicts it would have given: no call is made.

The stop rules are those of :mod:`judgenet.core.cascade`, which states them for one pair; here they are for all pairs at
once. A pair goes on from stage to stage until a rule decides it. Its verdict is that of what was asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.core.cascade import Stage
from judgenet.core.evaluation import TIE_TOLERANCE
from judgenet.core.network import Aggregation, StopRule
from judgenet.stats.curves import Codes
from judgenet.stats.intervals import Interval, share_interval, wilson
from judgenet.stats.verdicts import Flags, IntArray
from judgenet.stats.whatif import Calls, VoteRule, verdict_codes


class ReplayStage(NamedTuple):
    """Neurons that are asked side by side: their columns in the calls. ``rule`` is looked at before; ``None`` asks."""

    columns: tuple[int, ...]
    rule: StopRule | None


@dataclass(frozen=True, slots=True)
class CascadeReplay:
    """How far each pair would have gone, and what a cascade would have said.

    Attributes:
        codes: its verdicts by pair, 0 where there is none.
        known: whether all calls are recorded that the pair would have needed; where not, it has no verdict.
        reached: how many stages the pair would have been asked.
        calls: of shape (pairs, stages): the calls of each stage that it would have been asked.
        calls_most: of the same shape: the calls of each stage if every pair were asked it; NaN where unknown.
        accuracy, interval: over the ``n_used`` pairs with a verdict and a label, of ``n_total``; intervals as in
            :func:`judgenet.stats.intervals.share_interval` where pairs share questions, else Wilson's.
    """

    codes: Codes
    known: Flags
    reached: IntArray
    calls: IntArray
    calls_most: NDArray[np.float64]
    accuracy: float | None
    interval: Interval | None
    n_used: int
    n_total: int


def replay_stages(stages: Sequence[Stage], places: Sequence[tuple[int, int]]) -> tuple[ReplayStage, ...]:
    """The stages of a network by the columns of its neurons (``places``: layer and number of each, from 1), without the
    chair."""
    column = {place: number for number, place in enumerate(places)}
    replayed = [
        (tuple(column[stage.layer, neuron] for neuron in stage.neurons if (stage.layer, neuron) in column), stage.rule)
        for stage in stages
    ]
    return tuple(ReplayStage(columns, rule) for columns, rule in replayed if columns)


def replay(calls: Calls, stages: Sequence[ReplayStage], rules: Aggregation, rule: VoteRule = "c2_all") -> CascadeReplay:
    """What a cascade through these stages would have said.

    A pair of which a stage that it reaches has no call (valid or not) on record is not known, and has no verdict.

    :raises ValueError: there is no stage, or a neuron is in two of them.
    """
    columns = [column for stage in stages for column in stage.columns]
    if not columns or len(set(columns)) < len(columns):
        raise ValueError("A cascade has a stage or more, and each neuron is in one of them.")
    pairs = len(calls.human)
    asked = calls.asked.sum(axis=(2, 3))
    there = np.stack([(asked[:, list(stage.columns)] > 0).any(axis=1) for stage in stages], axis=1)
    of_stage = np.stack([asked[:, list(stage.columns)].sum(axis=1) for stage in stages], axis=1)
    voters = _voters(calls, asked, stages, there, rules)
    known = there[:, 0].copy()
    reached = np.ones(pairs, np.int64)
    going = known.copy()
    for place, stage in enumerate(stages[1:], 1):
        if stage.rule is not None:
            so_far = [column for earlier in stages[:place] for column in earlier.columns]
            last = [column for column in so_far if calls.layers[column] == calls.layers[so_far[-1]]]
            going &= ~holds(stage.rule, calls, so_far, last, voters[:, place:].sum(axis=1), rules)
        reached += going
        known &= there[:, place] | ~going
        going &= there[:, place]
    passed = np.arange(len(stages)) < reached[:, None]
    codes = _verdicts(calls, stages, np.where(known, reached, 0), rules, rule)
    judged = (codes > 0) & (calls.human > 0)
    n, hits = int(judged.sum()), int((judged & (codes == calls.human)).sum())
    interval = wilson(hits, n)
    if calls.questions is not None and n:
        interval = share_interval(calls.questions[judged], (codes == calls.human)[judged])
    return CascadeReplay(
        codes=codes,
        known=known,
        reached=reached,
        calls=np.where(passed & known[:, None], of_stage, 0),
        calls_most=np.where(there, of_stage, np.nan),
        accuracy=hits / n if n else None,
        interval=interval,
        n_used=n,
        n_total=pairs,
    )


def _verdicts(
    calls: Calls, stages: Sequence[ReplayStage], reached: IntArray, rules: Aggregation, rule: VoteRule
) -> Codes:
    """The verdict on each pair of the stages that it ``reached``; 0 for pairs that reached none."""
    codes = np.zeros(len(reached), np.uint8)
    for count in np.unique(reached[reached > 0]).tolist():
        mine = reached == count
        kept = np.zeros((1, len(calls.layers)), bool)
        kept[0, [column for stage in stages[:count] for column in stage.columns]] = True
        weights = None if calls.weights is None else calls.weights[mine]
        codes[mine] = verdict_codes(calls.differences[mine], calls.layers, kept, rules, rule, weights)[0]
    return codes


def _voters(
    calls: Calls, asked: IntArray, stages: Sequence[ReplayStage], there: Flags, rules: Aggregation
) -> NDArray[np.number]:
    """The votes that each stage has on each pair; where none of it is recorded, as many as it can have."""
    voters = []
    for place, stage in enumerate(stages):
        mine = asked[:, list(stage.columns)]
        votes = mine if rules.vote == "call" else (mine > 0).astype(np.int64)
        counts = (votes if calls.weights is None else votes * calls.weights[:, list(stage.columns)]).sum(axis=1)
        voters.append(np.where(there[:, place], counts, counts.max(initial=0)))
    return np.stack(voters, axis=1)


def holds(
    rule: StopRule,
    calls: Calls,
    so_far: Sequence[int],
    last: Sequence[int],
    unasked: NDArray[np.number],
    rules: Aggregation,
) -> Flags:
    """By pair, whether a stop rule holds, as :func:`judgenet.core.cascade.look`.

    ``so_far`` are the columns of the neurons that were asked, ``last`` those of them in the layer that was asked last;
    ``unasked`` are the voters that are left.
    """
    fulfilled = _holds(rule, calls, so_far, last, unasked, rules)
    if rules.quorum is None:
        return fulfilled
    valid = np.any(~np.isnan(calls.differences[:, so_far]), axis=(2, 3)).sum(axis=1)
    return np.asarray(fulfilled & (valid >= rules.quorum))


def _holds(
    rule: StopRule,
    calls: Calls,
    so_far: Sequence[int],
    last: Sequence[int],
    unasked: NDArray[np.number],
    rules: Aggregation,
) -> Flags:
    if rule.when == "decided":
        votes, missing = _votes(calls, so_far, rules)
        return _decided(votes, missing + unasked, rules)
    if rule.when == "margin":
        votes, missing = _votes(calls, last, rules)
        top = np.sort(votes, axis=1) if rules.ties == "candidate" else np.sort(votes[:, :2], axis=1)
        return np.asarray(top[:, -1] - top[:, -2] - missing >= (rule.at_least or 0) - TIE_TOLERANCE)
    difference, asked = calls.differences[:, last], calls.asked[:, last]
    valid = ~np.isnan(difference)
    in_order: Flags = np.any(asked, axis=3)
    works: Flags = np.any(in_order, axis=2)
    rests = ~works
    complete = np.all(_complete(difference, asked) | rests, axis=1) & np.any(works, axis=1)
    filled = np.where(valid, difference, 0.0)
    weights = np.ones(works.shape) if calls.weights is None else calls.weights[:, last]
    counting = complete & ((works * weights).sum(axis=1) > 0)
    weighted = filled * weights[:, :, None, None]
    if rule.when == "orders_agree":
        both = np.all(np.all(in_order, axis=2) | rests, axis=1)
        signs = _sign(weighted.sum(axis=(1, 3)))
        return np.asarray(counting & both & (signs[:, 0] == signs[:, 1]))
    if rule.when == "neurons_agree":
        signs = np.where(works, _sign(filled.sum(axis=(2, 3))), 2)
        most, least = np.where(works, signs, -2).max(axis=1), np.where(works, signs, 2).min(axis=1)
        return np.asarray(complete & (works.sum(axis=1) >= 2) & (most == least))
    count = (valid * weights[:, :, None, None]).sum(axis=(1, 2, 3))
    mean = np.divide(weighted.sum(axis=(1, 2, 3)), count, out=np.zeros(len(count)), where=count > 0)
    return np.asarray(counting & (np.abs(mean) >= (rule.at_least or 0) - TIE_TOLERANCE))


def _complete(difference: NDArray[np.float64], asked: Flags) -> Flags:
    """By pair and neuron: each order in which it was asked has a valid call, and it was asked."""
    in_order: Flags = np.any(asked, axis=3)
    valid: Flags = np.any(~np.isnan(difference), axis=3)
    return np.asarray(np.all(valid | ~in_order, axis=2) & np.any(in_order, axis=2))


def _votes(calls: Calls, columns: Sequence[int], rules: Aggregation) -> tuple[NDArray[np.number], NDArray[np.number]]:
    """The sure votes for A, B and a tie, of shape (pairs, 3), and how many votes are missing."""
    difference, asked = calls.differences[:, columns], calls.asked[:, columns]
    valid = ~np.isnan(difference)
    filled = np.where(valid, difference, 0.0)
    if rules.vote == "call":
        signs, sure = _sign(filled), valid
        lacking = (asked & ~valid).sum(axis=(2, 3))
        cast = [(sure & (signs == sign)).sum(axis=(2, 3)) for sign in (1, -1, 0)]
    else:
        signs, sure = _sign(filled.sum(axis=(2, 3))), _complete(difference, asked)
        lacking = (asked.any(axis=(2, 3)) & ~sure).astype(np.int64)
        cast = [(sure & (signs == sign)).astype(np.int64) for sign in (1, -1, 0)]
    weights = 1 if calls.weights is None else calls.weights[:, columns]
    votes = np.stack([(cast_votes * weights).sum(axis=1) for cast_votes in cast], axis=1)
    return votes, (lacking * weights).sum(axis=1)


def _decided(votes: NDArray[np.number], left: NDArray[np.number], rules: Aggregation) -> Flags:
    """As :func:`judgenet.core.aggregate.decided`: whether those who are left cannot change the vote."""
    a, b, tie = votes.T
    if rules.ties == "abstain":
        sure = np.abs(a - b) > left + TIE_TOLERANCE
    else:
        top = np.sort(votes, axis=1)
        sure = top[:, -1] - top[:, -2] > left + TIE_TOLERANCE
    voted = a + b + tie > 0
    candidate = rules.ties == "candidate"
    level = np.maximum(a, b) <= tie + TIE_TOLERANCE if candidate else np.abs(a - b) <= TIE_TOLERANCE
    # With nobody left the vote is what it is, but for a tied one that the average would have to break.
    whole = (left == 0) & voted
    if rules.fallback == "c1":
        whole &= ~(level & ~sure)
    return np.asarray(sure | whole)


def _sign(values: NDArray[np.float64]) -> IntArray:
    return np.where(values > TIE_TOLERANCE, 1, np.where(values < -TIE_TOLERANCE, -1, 0))
