"""Selections of pairs in words, for the lists that they lead to."""

from __future__ import annotations

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
    Turned,
)

_SWAYED = {
    "all": "the two orders differ",
    "first": "the response shown first won both times",
    "last": "the response shown last won both times",
    "partial": "a tie in one of the two orders",
}
_TURNS = {
    "all": "overturned by layer {after}",
    "right": "layer {after} made it right",
    "wrong": "layer {after} made it wrong",
    "between": "wrong before and after layer {after}",
}
_LEFT = {
    "not judged": "not judged yet",
    "calls missing": "calls without an answer",
    "for people": "for people",
    "no quorum": "no quorum",
    "no verdict": "no verdict",
    "no label": "no human label",
    "label without verdict": "a label and no verdict",
    "unscored": "with an unscored call",
    "unread inputs": "an evaluation could not be read",
}


def selection_words(chosen: PairSelection, report: Report) -> str:
    """A selection in words that go after "16 pairs: "."""
    spec = report.spec
    match chosen:
        case ConfusionCell(name, said, human):
            who = "network" if name == report.decides else aggregation_title(name)
            return f"{who} {SPOKEN[said]}, people {SPOKEN[human]}"
        case OrdersDiffer(kind):
            return _SWAYED[kind]
        case Overturned(_, after, turn):
            return _TURNS[turn].format(after=after)
        case Turned(before, after, was, now):
            return f"layer {before} {SPOKEN[was]}, layer {after} {SPOKEN[now]}"
        case OfAggregation(name, right):
            return f"{aggregation_title(name)} {_right(right)}"
        case OfTask(task, name, right):
            return f"{task or 'no task'}, {aggregation_title(name)} {_right(right)}"
        case OfNeuron(layer, neuron, right):
            return f"{neuron_words(spec, layer, neuron)} {_right(right)}"
        case OfRole(role, right):
            return f"{role} {_right(right)}"
        case OfLeftOut(what, _):
            return _LEFT[what]


def _right(right: bool) -> str:
    return "right" if right else "wrong"


def neuron_words(spec: NetworkSpec, layer: int, neuron: int) -> str:
    """A neuron by its place: "layer 1, neuron 2", "chair"."""
    return "chair" if layer > spec.depth else f"layer {layer}, neuron {neuron}"
