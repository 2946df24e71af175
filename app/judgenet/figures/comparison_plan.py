"""How many labelled pairs a comparison of two networks needs, from recorded runs or an assumed discordance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from judgenet.core.aggregate import deciding
from judgenet.core.labels import Chosen
from judgenet.figures.base import Figures
from judgenet.figures.comparison import two_runs
from judgenet.figures.power import PowerFigures, power_figures
from judgenet.stats.power import (
    ALPHA,
    DIFFERENCE,
    POWER,
    ComparisonPlan,
    Discordance,
    given_discordance,
    independent_discordance,
    plan_comparison,
)
from judgenet.stats.resampling import question_counts
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.runs import RunInfo
from judgenet.store.taught import fair_frame

DIFFERENCES = (0.01, 0.02, 0.03, 0.05, 0.1)
"""The differences that the table of a plan has."""


@dataclass(frozen=True)
class PairsForFigures:
    """The pairs that a difference needs."""

    difference: Annotated[float, "a difference of the accuracies"]
    pairs: Annotated[int | None, "labelled pairs that show it"]
    reason: str | None


@dataclass(frozen=True, repr=False)
class RunPower(PowerFigures, Figures):
    """How many labelled pairs a comparison needs, from recorded runs or an assumed discordance."""

    _rows = "table"

    run: Annotated[str | None, "the recorded run that the plan starts from"]
    other: Annotated[str | None, "the run that it was compared with"]
    aggregation: Annotated[str | None, "whose verdicts"]
    table: tuple[PairsForFigures, ...]


def run_power(
    first: tuple[Store, RunFrame] | None = None,
    second: tuple[Store, RunFrame] | None = None,
    *,
    difference: float = DIFFERENCE,
    power: float = POWER,
    alpha: float = ALPHA,
    discordance: float | None = None,
    aggregations: tuple[str, str] | None = None,
    chosen: Chosen | None = None,
    used: NDArray[np.bool_] | None = None,
) -> RunPower:
    """Plans a comparison of two networks.

    The discordance is that of two recorded runs (``first`` and ``second``, by their frames), or follows from the
    accuracy of ``first`` alone, or is ``discordance``, or is assumed. ``aggregations`` are those of the two runs
    (``None``: those that decide).

    :raises ValueError: a difference, power, alpha or discordance outside its range.
    """
    pilot, n = given_discordance(discordance), None
    names = aggregations
    if first is not None:
        names = names or (deciding(first[1].spec), deciding((second or first)[1].spec))
        labelled, right = _agreed(first[1], names[0], used)
        n = labelled
        if second is not None:
            compared = two_runs(first, second, names, chosen, used=used).compared
            n = compared.figures.test.n
            pilot = pilot if discordance is not None else compared.discordance
        elif discordance is None:
            pilot = independent_discordance(right, labelled, difference, _by_question(first[1], names[0], used))
    plan = plan_comparison(pilot, difference, power, alpha, n)
    reasons = power_figures(plan).reasons
    if first is None:
        reasons |= dict.fromkeys(("run", "aggregation"), "the plan starts from no run")
    if second is None:
        reasons["other"] = "no second run was named"
    return RunPower(
        **{**vars(power_figures(plan)), "reasons": reasons},
        run=None if first is None else first[1].run.id,
        other=None if second is None else second[1].run.id,
        aggregation=None if names is None else names[0],
        table=tuple(_pairs_for(pilot, size, power, alpha) for size in DIFFERENCES),
    )


def _agreed(frame: RunFrame, aggregation: str, used: NDArray[np.bool_] | None) -> tuple[int, int]:
    """Pairs with a label and a verdict, and those of them where both are the same."""
    verdicts, human = frame.verdict_codes(aggregation), frame.human
    there = (verdicts > 0) & (human > 0)
    if used is not None:
        there &= used
    return int(there.sum()), int((there & (verdicts == human)).sum())


def _by_question(frame: RunFrame, aggregation: str, used: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    human = frame.human if used is None else np.where(used, frame.human, 0).astype(np.uint8)
    return question_counts(frame.questions, human, frame.verdict_codes(aggregation))


def _pairs_for(pilot: Discordance, difference: float, power: float, alpha: float) -> PairsForFigures:
    plan = plan_comparison(pilot, difference, power, alpha)
    return PairsForFigures(difference, plan.pairs, plan.reason or None)


def project_plan(store: Store | None, runs: Sequence[RunInfo], difference: float = DIFFERENCE) -> ComparisonPlan:
    """How many labels a comparison takes, planned from the recorded runs of a project: the two newest finished ones
    that differ as judges, or the newest one; with an assumed discordance where neither has enough labelled pairs."""
    done = [run for run in sorted(runs, key=lambda run: run.number, reverse=True) if run.state == "done"][:2]
    frames = [] if store is None else [(store, fair_frame(store, run)) for run in done]
    if len(frames) == 2:
        names = deciding(frames[0][1].spec), deciding(frames[1][1].spec)
        two = two_runs(frames[0], frames[1], names)
        plan = plan_comparison(two.compared.discordance, difference, n=two.compared.figures.test.n)
        if two.differing and plan.pairs is not None:
            return plan
    if frames:
        frame = frames[0][1]
        n, right = _agreed(frame, deciding(frame.spec), None)
        pilot = independent_discordance(right, n, difference, _by_question(frame, deciding(frame.spec), None))
        plan = plan_comparison(pilot, difference, n=n)
        if plan.pairs is not None:
            return plan
    return plan_comparison(given_discordance(), difference)
