"""Accuracy of a run against the size of the network, from its recorded calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from judgenet.figures.base import Figures
from judgenet.figures.parts import PointFigures, point_figures
from judgenet.stats.intervals import Interval
from judgenet.stats.whatif import ONE_POINT, VoteRule, WhatIf, what_if
from judgenet.store.frame import RunFrame
from judgenet.store.results import network_of

STOPPED = (
    "the run had stop rules, so that not every call of a smaller network is on record (judgenet cascade compares rules)"
)
"""Why there are no smaller networks of a run whose neurons were not asked on every pair."""

NO_SHARED_NEURONS = (
    "each question has criteria of its own, and so neurons of its own: there is no smaller network that all pairs share"
)
"""Why there are no smaller networks of a run whose neurons are the criteria of each pair."""


def why_no_smaller(frame: RunFrame) -> str:
    """Why nothing can be said of smaller networks than that of a run; empty where it can."""
    if frame.spec.roles.kind == "criteria":
        return NO_SHARED_NEURONS
    return "" if frame.early is None else STOPPED


@dataclass(frozen=True)
class CurvePairs:
    """The pairs behind a curve."""

    total: int
    labelled: int


@dataclass(frozen=True)
class BestNeuronFigures:
    """The single neuron that agrees with people most."""

    name: Annotated[str, "the single neuron that agrees with people most"]
    accuracy: float
    accuracy_ci: Interval | None
    n_used: float
    whole_minus_best: float
    whole_minus_best_ci: Interval | None
    chosen: Annotated[str, "on the same pairs: flattering"]


@dataclass(frozen=True)
class CurveFigures:
    """Accuracy of the exact sub-networks of a run by size."""

    aggregation: Annotated[str, "the rule of voting"]
    within: Annotated[float, "how much accuracy the smallest network may lose"]
    questions: int | None
    whole: Annotated[PointFigures | None, "the network itself"]
    curve: Annotated[tuple[PointFigures, ...], "every size of network that is exact"]
    smallest: Annotated[PointFigures | None, "the smallest within that"]
    best_neuron: BestNeuronFigures | None
    reason: str | None


def curve_figures(
    what_if_result: WhatIf | None, rule: VoteRule, names: Sequence[str], within: float = ONE_POINT, why: str = ""
) -> CurveFigures:
    """The sub-networks by size; ``names`` are those of the neurons, ``why`` says why there are none."""
    if what_if_result is None:
        return CurveFigures(
            rule, within, None, None, (), None, None, why or "no pair has both a human label and a verdict"
        )
    neuron, accuracy = what_if_result.best_neuron
    against = what_if_result.best.difference_interval
    return CurveFigures(
        aggregation=rule,
        within=within,
        questions=what_if_result.questions,
        whole=point_figures(what_if_result.whole),
        curve=tuple(point_figures(point) for point in what_if_result.points),
        smallest=point_figures(what_if_result.smallest),
        best_neuron=BestNeuronFigures(
            name=names[neuron],
            accuracy=accuracy,
            accuracy_ci=what_if_result.best.interval,
            n_used=what_if_result.best.n_used,
            whole_minus_best=-what_if_result.best.difference,
            whole_minus_best_ci=None if against is None else Interval(-against.high, -against.low),
            chosen="on the same pairs",
        ),
        reason=f"no interval: {what_if_result.few}" if what_if_result.few else None,
    )


@dataclass(frozen=True, repr=False)
class RunCurve(CurveFigures, Figures):
    """Accuracy of the exact sub-networks of a run by size."""

    _rows = "curve"

    run: str
    seed: int
    pairs: CurvePairs


def run_curve(frame: RunFrame, rule: VoteRule, within: float, *, seed: int = 0) -> RunCurve:
    """Accuracy of the exact sub-networks of a run by size; without labels everything is ``None`` with a reason.

    ``within`` is how much accuracy the smallest network may lose; ``seed`` draws the choices of neurons where not all
    are tried.
    """
    calls, names = frame.what_if_calls(), frame.names
    pairs = CurvePairs(len(calls.human), int((calls.human > 0).sum()))
    curve: WhatIf | None = None
    why = why_no_smaller(frame)
    if names and not why:
        curve = what_if(calls, network_of(frame.run).aggregation, rule, tolerance=within, seed=seed)
    return RunCurve(**vars(curve_figures(curve, rule, names, within, why)), run=frame.run.id, seed=seed, pairs=pairs)
