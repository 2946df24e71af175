"""Selections of pairs in words, for the lists that they lead to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from judgenet.core.network import NetworkSpec
from judgenet.core.wording import SPOKEN, aggregation_title
from judgenet.report.model import Report
from judgenet.report.selection import (
    ConfusionCell,
    OfAggregation,
    OfLeftOut,
    OfNeuron,
    OfRole,
    OfTask,
    OrdersDiffer,
    Overturned,
    PairSelection,
    Turn,
    Turned,
)
from judgenet.ui.results import texts

_SWAYED = {
    "all": texts.ORDERS_DIFFER_SELECTION,
    "first": texts.FIRST_WON_BOTH,
    "last": texts.LAST_WON_BOTH,
    "partial": texts.TIE_IN_ONE_ORDER,
}
_TURNS: Final[dict[Turn, Callable[[int], str]]] = {
    "all": texts.overturned,
    "right": texts.layer_made_right,
    "wrong": texts.layer_made_wrong,
    "between": texts.stayed_wrong,
}
_LEFT = {
    "not judged": texts.NOT_JUDGED_YET,
    "calls missing": texts.CALLS_MISSING,
    "for people": texts.FOR_PEOPLE,
    "no quorum": texts.NO_QUORUM,
    "no verdict": texts.NO_VERDICT,
    "no label": texts.NO_LABEL,
    "label without verdict": texts.LABEL_WITHOUT_VERDICT,
    "unscored": texts.UNSCORED,
    "unread inputs": texts.UNREAD,
}


def selection_words(chosen: PairSelection, report: Report) -> str:
    """A selection in words that go after "16 pairs: "."""
    spec = report.spec
    match chosen:
        case ConfusionCell(name, said, human):
            who = texts.THE_VERDICT if name == report.decides else aggregation_title(name)
            return texts.verdict_and_label(who, SPOKEN[said], SPOKEN[human])
        case OrdersDiffer(kind):
            return _SWAYED[kind]
        case Overturned(_, after, turn):
            return _TURNS[turn](after)
        case Turned(before, after, was, now):
            return texts.turned(before, SPOKEN[was], after, SPOKEN[now])
        case OfAggregation(name, right):
            return f"{aggregation_title(name)} {_right(right)}"
        case OfTask(task, name, right):
            return f"{task or texts.WITHOUT_TASK}, {aggregation_title(name)} {_right(right)}"
        case OfNeuron(layer, neuron, right):
            return f"{neuron_words(spec, layer, neuron)} {_right(right)}"
        case OfRole(role, right):
            return f"{role} {_right(right)}"
        case OfLeftOut(what, _):
            return _LEFT[what]


def _right(right: bool) -> str:
    return texts.RIGHT if right else texts.WRONG


def neuron_words(spec: NetworkSpec, layer: int, neuron: int) -> str:
    """A neuron by its place: "layer 1, neuron 2", "chair"."""
    return texts.CHAIR if layer > spec.depth else texts.neuron_at(layer, neuron)
