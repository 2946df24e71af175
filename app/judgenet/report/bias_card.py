"""The bias card: a row for each bias of a lab, as the page Bias and the report show it."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

from judgenet.core.bias import PROBES
from judgenet.core.wording import of, ratio, ratio_interval
from judgenet.stats.bias import Judge, Mood
from judgenet.stats.bias_conclusions import signed
from judgenet.stats.intervals import Interval
from judgenet.stats.lab import LabResult
from judgenet.stats.people_bias import PEOPLE_JUDGE

MarkShape = Literal["circle", "triangle", "square", "diamond", "dot", "cross"]
"""How a judge is marked: the single judge, the layers in turn, the network, which is the subject, and people."""

LAYER_SHAPES: Final[tuple[MarkShape, ...]] = ("triangle", "square", "diamond")
_STEP: Final = 0.2


@dataclass(frozen=True, slots=True)
class Mark:
    """A judge's share of a bias; ``None`` where there is none."""

    judge: str
    title: str
    shape: MarkShape
    share: float | None


@dataclass(frozen=True, slots=True)
class BiasRow:
    """A bias of the judge in view.

    ``random`` is the share of a judge that answers at random on the same items (the mean of many), ``None`` where
    chance is no meaningful reference. ``net`` with its interval is the net effect, on which ``words`` rest; ``None``
    where the probe has no control of the opposite direction. ``n`` of ``items`` pairs count. ``marks`` go from the
    single judge by the layers to the network, with people at the end where some answered; ``people`` is their figure in
    words.
    """

    probe: str
    title: str
    tells: str
    share: float | None
    interval: Interval | None
    random: float | None
    net: float | None
    net_ci: Interval | None
    hits: int
    n: int
    items: int
    words: str
    mood: Mood
    marks: tuple[Mark, ...]
    people: str = ""

    @property
    def joined(self) -> tuple[Mark, ...]:
        """The marks that are one way, from judge to judge: without people."""
        return tuple(mark for mark in self.marks if mark.shape != "cross")

    @property
    def net_text(self) -> str:
        """The net effect with its interval: ``net +0.21 [0.17, 0.26]``; empty where there is none."""
        if self.net is None:
            return ""
        ends = "" if self.net_ci is None else f" [{signed(self.net_ci.low)}, {signed(self.net_ci.high)}]"
        return f"net {signed(self.net)}{ends}"


@dataclass(frozen=True, slots=True)
class BiasCard:
    """All rows, and the end of their common axis (a share)."""

    subject: Judge
    rows: tuple[BiasRow, ...]
    legend: tuple[Mark, ...]
    end: float


def subjects(result: LabResult) -> tuple[Judge, ...]:
    """The judges whose bars can be shown: the network and the single judge first, then its parts, then people."""
    order = {"network": 0, "single": 1, "baseline": 2, "layer": 3, "aggregation": 4, "neuron": 5}
    judges = sorted(result.judges, key=lambda judge: order[judge.kind])
    return tuple(judges) if result.people is None else (*judges, PEOPLE_JUDGE)


def bias_card(result: LabResult, subject: str | None = None) -> BiasCard | None:
    """The card of a judge, of the first of :func:`subjects` where none is named; ``None`` without any judge."""
    known = subjects(result)
    chosen = next((judge for judge in known if judge.id == subject), known[0] if known else None)
    if chosen is None:
        return None
    way = _way(result)
    rows = []
    for plan in result.lab.probes:
        cell, probe, chance = result.cell(plan.key, chosen.id), PROBES[plan.key], result.chances[plan.key]
        rows.append(
            BiasRow(
                probe=plan.key,
                title=probe.title,
                tells=probe.tells,
                share=cell.share,
                interval=cell.interval,
                random=chance.analytic if chance.mean is None else chance.mean,
                net=cell.net if probe.has_rival else None,
                net_ci=cell.net_ci if probe.has_rival else None,
                hits=cell.hits,
                n=cell.n,
                items=cell.items,
                words=cell.words,
                mood=cell.mood,
                marks=tuple(
                    Mark(judge.id, title, shape, result.cell(plan.key, judge.id).share) for judge, title, shape in way
                ),
                people="" if chosen == PEOPLE_JUDGE else people_text(result, plan.key),
            )
        )
    legend = tuple(Mark(judge.id, title, shape, None) for judge, title, shape in way)
    return BiasCard(chosen, tuple(rows), legend, _end(rows))


def _way(result: LabResult) -> list[tuple[Judge, str, MarkShape]]:
    """The judges from the single one to the network, each with a short title and its mark."""
    way: list[tuple[Judge, str, MarkShape]] = []
    for judge in result.judges:
        if judge.kind == "single":
            way.append((judge, "single", "circle"))
    layers = sorted((judge for judge in result.judges if judge.kind == "layer"), key=lambda judge: judge.layer or 0)
    for place, judge in enumerate(layers):
        way.append((judge, f"layer {judge.layer}", LAYER_SHAPES[place % len(LAYER_SHAPES)]))
    way += [(judge, "network", "dot") for judge in result.judges if judge.kind == "network"]
    if result.people is not None:
        way.append((PEOPLE_JUDGE, "people", "cross"))
    return way


def people_text(result: LabResult, probe: str) -> str:
    """The figure of people: ``People 0.25 [0.11, 0.47], net +0.05, n 20 of 20``; empty where nobody answered."""
    if result.people is None:
        return ""
    cell = result.cell(probe, PEOPLE_JUDGE.id)
    if cell.share is None:
        return f"People: n/a – {cell.reasons.get('share', 'nobody answered')}"
    net = "" if cell.net is None or not PROBES[probe].has_rival else f", net {signed(cell.net)}"
    return f"People {ratio(cell.share)} {ratio_interval(cell.interval)}{net}, n {of(cell.n, cell.items)}"


def _end(rows: list[BiasRow]) -> float:
    """The end of an axis in steps of a fifth that holds all that is drawn."""
    shown = [
        value
        for row in rows
        for value in (
            row.share,
            row.random,
            None if row.interval is None else row.interval.high,
            *(mark.share for mark in row.marks),
        )
        if value is not None
    ]
    return min(1.0, max(_STEP, _STEP * ceil(max(shown, default=_STEP) / _STEP - 1e-9)))
