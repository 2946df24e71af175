"""The biases of a run that is there already: order, length and own system, from its calls in both orders.

An ordinary run, or one of recorded judgments, asked the plain prompt of a bias lab in both orders. What a part of its
network says in one order is computed from the calls of that order alone, by the network's own rules, and counted as in
a lab. No call is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.core.aggregate import aggregation_names
from judgenet.core.bias.base import BiasError, LabSettings
from judgenet.core.bias.lab import ProbePlan, build_lab
from judgenet.core.evaluation import Choice, Reason
from judgenet.core.network import NetworkSpec, is_recorded
from judgenet.core.pairs import ORDERS, Order, systems_of
from judgenet.stats.bias import COINS, Cell, Judge
from judgenet.stats.lab import LabResult, evaluate
from judgenet.stats.verdicts import verdict_table
from judgenet.store.columns import DONE_PHASE
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.labs import LAB_RECORD, neuron_id, parts_of, positions_of, verdicts_by_part
from judgenet.store.results import network_of, neuron_names
from judgenet.store.runs import RunInfo, run_pairs

RUN_PROBES = ("order", "egocentric", "salience")
"""The probes whose prompts an ordinary run asks."""

DEEPER_LAYERS = (
    "Layers after the first, and what votes over them, read evaluations of both orders: their answers in the two "
    "orders are not two looks that know nothing of each other. judgenet bias --pairs asks each order apart."
)


@dataclass(frozen=True, slots=True)
class RunBias:
    """The biases of a run's parts.

    ``orders`` are those that it asked, ``systems`` the names in its pairs; ``notes`` say how to take the figures.
    """

    result: LabResult
    orders: tuple[Order, ...]
    systems: tuple[str, ...]
    notes: tuple[str, ...]


def run_bias(
    store: Store,
    run: RunInfo,
    settings: LabSettings | None = None,
    probes: Sequence[str] = RUN_PROBES,
    *,
    coins: int = COINS,
) -> RunBias:
    """Order bias, length and own system of each neuron, layer, aggregation and the verdict of a run.

    Recorded judges have no network over them: each of them is measured, and no vote. A pair that a judge was asked in
    one order only is not counted for it.

    :raises BiasError: a probe that a run does not answer, or no finished pair.
    """
    if others := [key for key in probes if key not in RUN_PROBES]:
        raise BiasError(
            f"{', '.join(others)}: a run does not ask the prompts of it. From a run come {', '.join(RUN_PROBES)}."
        )
    if LAB_RECORD in run.record:
        raise BiasError(
            f"{run.id} is part of a bias lab: its result is there already (judgenet report, export --what bias)."
        )
    spec = network_of(run)
    frame = RunFrame.read(store, run)
    done = frame.states >= DONE_PHASE
    # What the run showed besides the texts is no matter of the counting.
    pairs = [replace(run_pair.pair, shown=None) for run_pair in run_pairs(store, run) if done[run_pair.index]]
    if not pairs:
        raise BiasError(f"{run.id} has no finished pair yet.")
    given = _answers(frame, spec, done)
    judges = _judges(spec, given.places)
    lab = build_lab(pairs, probes, settings).lab
    result = evaluate(lab, judges, {judge.id: given.by_judge.get(judge.id, {}) for judge in judges}, coins=coins)
    cells = tuple(_why_nothing(cell, result.plan(cell.probe)) for cell in result.cells)
    notes = tuple(_notes(spec, given.orders))
    return RunBias(replace(result, cells=cells), given.orders, systems_of(pairs), notes)


class _Answers(NamedTuple):
    """The choices of each judge of a run by prompt, the places of its neurons, and the orders that were asked."""

    by_judge: dict[str, dict[str, Choice | None]]
    places: set[tuple[int, int]]
    orders: tuple[Order, ...]


def _answers(frame: RunFrame, spec: NetworkSpec, done: NDArray[np.bool_]) -> _Answers:
    answers: dict[str, dict[str, Choice | None]] = {}
    places: set[tuple[int, int]] = set()
    orders: list[Order] = []
    scores = frame.call_scores(without=Reason.NOT_RECORDED)
    for order in ORDERS:
        calls = scores.of_order(order)
        here = done & calls.asked.any(axis=(1, 2, 3))
        if not here.any():
            continue
        orders.append(order)
        table = verdict_table(calls, aggregation_names(spec), spec.aggregation)
        for part in verdicts_by_part(table, spec, frame.places):
            there = np.flatnonzero(here & part.there)
            if part.place is not None and len(there):
                places.add(part.place)
            of_part = answers.setdefault(part.id, {})
            for index, choice in zip(there, positions_of(part.codes[there], order), strict=True):
                of_part[f"{frame.pairs.ids[index]} · {order}"] = choice
    return _Answers(answers, places, tuple(orders))


def _judges(spec: NetworkSpec, places: set[tuple[int, int]]) -> tuple[Judge, ...]:
    """Neurons, and what votes over them where they belong to one network."""
    names = neuron_names(spec, sorted(places)).items()
    neurons = [Judge(neuron_id(*place), name, "neuron", *place) for place, name in names]
    if is_recorded(spec):
        return tuple(neurons)
    order = {"layer": 0, "aggregation": 1, "network": 2}
    parts = sorted(parts_of(spec).values(), key=lambda part: (order[part.kind], part.layer or 0))
    return (*neurons, *parts)


def _why_nothing(cell: Cell, plan: ProbePlan) -> Cell:
    """Adds the reason to a cell in which nothing is counted: the pairs do not allow it, or it was not asked in both
    orders."""
    if cell.items:
        return cell
    why = "no pair was judged in both orders" if plan.items else "; ".join(plan.left_out)
    return replace(cell, reasons=dict.fromkeys(cell.reasons, why), words=f"n/a – {why}")


def _notes(spec: NetworkSpec, orders: Sequence[Order]) -> list[str]:
    notes = []
    if len(orders) < len(ORDERS):
        shown = {"ab": "response A first", "ba": "response B first"}
        asked = " and ".join(shown[order] for order in orders) or "no order"
        notes.append(f"Asked with {asked} only: order bias needs both orders of a pair.")
    if is_recorded(spec):
        notes.append("Each judge is measured on the pairs that it judged; there is no network over them.")
    elif spec.depth > 1 or spec.chair is not None:
        notes.append(DEEPER_LAYERS)
    return notes
