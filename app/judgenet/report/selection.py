"""From a figure back to the pairs that it counts: selections of pairs, and the comparison of two verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from judgenet.core.acceptance import ACCEPTED
from judgenet.core.pairs import Verdict
from judgenet.report.model import Left
from judgenet.stats.curves import Codes
from judgenet.stats.discussion import Overturns, change_counts, overturns_of
from judgenet.store.columns import DONE_PHASE, PAIR_PHASES, VERDICT_CODES
from judgenet.store.frame import RunFrame, role_key
from judgenet.store.quorum import without_quorum

_Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ConfusionCell:
    """Pairs on which an aggregation said one thing and people another, or the same."""

    aggregation: str
    said: Verdict
    human: Verdict


Swayed = Literal["all", "first", "last", "partial"]


@dataclass(frozen=True, slots=True)
class OrdersDiffer:
    """Pairs whose verdict depends on the order: all of them, or those on which the response shown first (last) won
    both times, or those with a tie in one order (``partial``)."""

    kind: Swayed = "all"


Turn = Literal["all", "right", "wrong", "between"]


@dataclass(frozen=True, slots=True)
class Overturned:
    """Pairs on which the vote of layer ``after`` differs from that of layer ``before`` (both from 1).

    ``turn`` keeps those that became right or wrong by people's label, or stayed wrong (``between``).
    """

    before: int
    after: int
    turn: Turn = "all"


@dataclass(frozen=True, slots=True)
class Turned:
    """Pairs of which layer ``before`` said ``was`` and layer ``after`` says ``now`` (layers from 1)."""

    before: int
    after: int
    was: Verdict
    now: Verdict


@dataclass(frozen=True, slots=True)
class OfAggregation:
    """Pairs that have a label and an aggregation's verdict; ``right`` where both are the same."""

    aggregation: str
    right: bool


@dataclass(frozen=True, slots=True)
class OfTask:
    """Pairs of a task on which an aggregation was right or wrong."""

    task: str | None
    aggregation: str
    right: bool


@dataclass(frozen=True, slots=True)
class OfNeuron:
    """Pairs on which a neuron (layer and neuron from 1) was right or wrong."""

    layer: int
    neuron: int
    right: bool


@dataclass(frozen=True, slots=True)
class OfRole:
    """Pairs on which a role was right or wrong."""

    role: str
    right: bool


@dataclass(frozen=True, slots=True)
class OfLeftOut:
    """Pairs that figures leave out; ``unscored`` are pairs with a call that has no evaluation."""

    what: Left
    aggregation: str


PairSelection = (
    ConfusionCell | OrdersDiffer | Overturned | Turned | OfAggregation | OfTask | OfNeuron | OfRole | OfLeftOut
)  # fmt: skip

LISTED: Final[frozenset[Left]] = frozenset(
    {
        "not judged",
        "calls missing",
        "for people",
        "no quorum",
        "no verdict",
        "no label",
        "label without verdict",
        "unscored",
    }
)
"""The left-out counts whose pairs can be listed."""


def selected(frame: RunFrame, wanted: PairSelection) -> tuple[int, ...]:
    """The indexes of the pairs of a selection, in order.

    :raises KeyError: this network has no such aggregation.
    """
    return tuple(int(index) for index in np.flatnonzero(_mask(frame, wanted)))


def _mask(frame: RunFrame, wanted: PairSelection) -> _Mask:
    human = frame.human
    match wanted:
        case ConfusionCell(name, said, meant):
            return _is(frame.aggregations[name], said) & _is(human, meant)
        case OrdersDiffer(kind):
            return _orders_mask(frame, kind)
        case Overturned(before, after, turn):
            return _turned(frame.aggregations[f"c2_l{before}"], frame.aggregations[f"c2_l{after}"], human, turn)
        case Turned(before, after, was, now):
            return _is(frame.aggregations[f"c2_l{before}"], was) & _is(frame.aggregations[f"c2_l{after}"], now)
        case OfAggregation(name, right):
            return _right(frame.aggregations[name], human, right)
        case OfTask(task, name, right):
            names = frame.pairs.task_names
            of_this_task: _Mask = frame.pairs.tasks == (names.index(task) if task in names else len(names))
            return _right(frame.aggregations[name], human, right) & of_this_task
        case OfNeuron(layer, neuron, right):
            if (layer, neuron) not in frame.voters:
                return np.zeros(len(frame), np.bool_)
            return _right(frame.table.neurons[:, frame.voters.index((layer, neuron))], human, right)
        case OfRole(role, right):
            mask = np.zeros(len(frame), np.uint8)
            if (judged_role := frame.role_verdicts().get(role_key(role))) is not None:
                mask[judged_role.pairs] = judged_role.codes
            return _right(mask, human, right)
        case OfLeftOut(what, name):
            return _left_mask(frame, what, name)


def _orders_mask(frame: RunFrame, kind: Swayed) -> _Mask:
    ab, ba = frame.table.c1_ab, frame.table.c1_ba
    differ = ~_same(ab, ba) & ~_is(ab, None) & ~_is(ba, None)
    match kind:
        case "all":
            return differ
        case "first":
            return _is(ab, "a") & _is(ba, "b")
        case "last":
            return _is(ab, "b") & _is(ba, "a")
        case "partial":
            return differ & (_is(ab, "tie") | _is(ba, "tie"))


def _left_mask(frame: RunFrame, what: Left, name: str) -> _Mask:
    said, human = frame.aggregations[name], frame.human
    # An abstention is no missing verdict.
    people: _Mask = frame.for_people if name == ACCEPTED else np.zeros(len(frame), np.bool_)
    short = without_quorum(frame, name)
    match what:
        case "not judged":
            return ~frame.judged
        case "calls missing":
            missing: _Mask = frame.judged & (frame.states == PAIR_PHASES.index("failed"))
            return missing
        case "no verdict":
            return frame.judged & _is(said, None) & ~people & ~short
        case "no quorum":
            return short
        case "for people":
            return people
        case "no label":
            return _is(human, None)
        case "label without verdict":
            return ~_is(human, None) & _is(said, None) & ~people
        case "unscored":
            table = frame.table
            unscored: _Mask = (frame.states >= DONE_PHASE) & (table.used < table.total)
            return unscored
        case "unread inputs":
            return np.zeros(len(frame), np.bool_)


@dataclass(frozen=True, slots=True)
class VerdictChanges:
    """The differences of two verdicts of the same pairs: under other rules, or by another run. ``pairs`` holds, by
    :data:`Turn`, the indexes in the second of the two."""

    overturns: Overturns
    pairs: Mapping[Turn, tuple[int, ...]]


def compare(
    before: RunFrame,
    after: RunFrame,
    aggregations: tuple[str, str],
    common: Sequence[tuple[int, int]] | None = None,
) -> VerdictChanges:
    """Compares an aggregation of one run with one of another. Labels are those of ``after``.

    ``common`` holds the places of the same pairs in both; without it both hold the same pairs in the same order.
    """
    mine: NDArray[np.intp] = np.arange(len(after))
    theirs = mine
    if common is not None:
        theirs, mine = np.array(common, np.intp).reshape(-1, 2).T
    was, now = before.aggregations[aggregations[0]][theirs], after.aggregations[aggregations[1]][mine]
    human = after.human[mine]
    turns: tuple[Turn, ...] = get_args(Turn)
    return VerdictChanges(
        overturns_of(change_counts(was, now, human)),
        {turn: tuple(int(pair) for pair in mine[_turned(was, now, human, turn)]) for turn in turns},
    )


def _turned(was: Codes, now: Codes, human: Codes, turn: Turn) -> _Mask:
    """Where two verdicts differ, and which of the two agrees with people."""
    overturned = ~_same(was, now) & ~_is(was, None) & ~_is(now, None)
    match turn:
        case "all":
            return overturned
        case "right":
            return overturned & _same(now, human)
        case "wrong":
            return overturned & _same(was, human)
        case "between":
            return overturned & ~_same(now, human) & ~_same(was, human) & ~_is(human, None)


def _is(codes: Codes, verdict: Verdict | None) -> _Mask:
    mask: _Mask = codes == VERDICT_CODES[verdict]
    return mask


def _same(first: Codes, second: Codes) -> _Mask:
    mask: _Mask = first == second
    return mask


def _right(said: Codes, human: Codes, right: bool) -> _Mask:
    """Where verdict and label are both there and equal (``right``) or different."""
    both = ~_is(said, None) & ~_is(human, None)
    return both & (_same(said, human) if right else ~_same(said, human))
