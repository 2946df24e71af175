"""How many pairs of a run to label for an interval of a target width, and which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from judgenet.core.labels import Chosen
from judgenet.figures.base import Figures, Keys, figures_of, taken_over
from judgenet.figures.errors import FiguresError
from judgenet.figures.parts import NeedFigures, Reasons, SampleFigures, need_figures, sample_figures
from judgenet.stats.design_effect import DesignEffect
from judgenet.stats.label_plan import (
    KClassPlan,
    LabelPlan,
    TwoClassPlan,
    plan_k_class,
    plan_labels,
    plan_two_class,
)
from judgenet.stats.planning import draw_labels
from judgenet.stats.provenance import Sample
from judgenet.store.frame import RunFrame


@dataclass(frozen=True)
class DesignEffectFigures:
    """What questions with several pairs do to a plan."""

    value: Annotated[
        float,
        "how often the variance of independent pairs the plan reckons with, as pairs of one question are alike; 1 "
        "where none repeats",
    ]
    source: Annotated[str | None, "what it is estimated from: `labels` or `verdicts`"]
    words: Annotated[str, "the same in words; empty where no question has two pairs"]
    reasons: Reasons


def design_effect_figures(effect: DesignEffect) -> DesignEffectFigures:
    """What questions with several pairs do to a plan."""
    reasons = {} if effect.source else {"source": "no two judged pairs have the same question"}
    return DesignEffectFigures(effect.value, effect.source or None, effect.words, reasons)


@dataclass(frozen=True)
class TwoClassPlanFigures:
    """Labels for the correction by error rates."""

    assumed: Annotated[bool, "there are too few labels, and a judge right on 80 % of each class is assumed"]
    rate: Annotated[float | None, "the win rate that is reckoned with"]
    specificity: float | None
    sensitivity: float | None
    optimal: Annotated[NeedFigures | None, "labels for the correction by error rates, best divided"]
    equal: Annotated[NeedFigures | None, "divided evenly"]
    random: Annotated[NeedFigures | None, "labels at random"]
    published_allocation: Annotated[Mapping[str, int] | None, Keys(("CLASS",)), "how the published rule divides them"]
    reason: str | None
    reasons: Reasons


def _two_class(plan: TwoClassPlan) -> TwoClassPlanFigures:
    needs = plan.needs
    if needs is None:
        return TwoClassPlanFigures(False, None, None, None, None, None, None, None, plan.reason, {})
    allocation = plan.allocation
    return taken_over(
        TwoClassPlanFigures,
        plan,
        optimal=need_figures(needs.optimal),
        equal=need_figures(needs.equal),
        random=need_figures(needs.at_random),
        published_allocation=None if allocation is None else dict(zip("ab", allocation, strict=True)),
        reason=None,
        reasons={} if allocation is not None else {"published_allocation": needs.optimal.reason},
    )


@dataclass(frozen=True)
class KClassPlanFigures:
    """Labels for the correction of three classes."""

    optimal: Annotated[NeedFigures | None, "labels for the correction of three classes, best divided"]
    equal: Annotated[NeedFigures | None, "divided evenly"]
    allocation: Annotated[Mapping[str, float] | None, Keys(("CLASS",)), "how the best division divides them"]
    reason: str | None


def _k_class(plan: KClassPlan) -> KClassPlanFigures:
    if plan.needs is None:
        return KClassPlanFigures(None, None, None, plan.reason)
    return KClassPlanFigures(
        optimal=need_figures(plan.needs.optimal),
        equal=need_figures(plan.needs.equal),
        allocation=dict(zip(plan.classes, plan.needs.allocation, strict=True)),
        reason=None,
    )


@dataclass(frozen=True)
class PlannedVerdict:
    """The pairs with one verdict, and how many of them to label."""

    share: float
    mean: float
    sd: float
    pairs: int
    labels: Annotated[int, "labels there are"]
    target: Annotated[int, "labels there should be"]


@dataclass(frozen=True)
class ExpectedWidth:
    """The width to expect with so many labels."""

    labels: int
    width: Annotated[float, "the expected width with so many labels"]


@dataclass(frozen=True)
class LabelPlanFigures:
    """How many labels an interval of a target width needs."""

    width: Annotated[float, "the target width of the interval"]
    pairs: Annotated[int, "judged pairs"]
    labelled: Annotated[int, "of them with a label that counts"]
    pilot: Annotated[int, "labels from which the plan is reckoned"]
    assumed: Annotated[bool, "there are too few labels, and agreement is assumed"]
    assumption: Annotated[str, "what is assumed; empty where nothing is"]
    n_questions: Annotated[int, "different questions of the judged pairs"]
    design_effect: DesignEffectFigures
    needs: Annotated[Mapping[str, NeedFigures], Keys(("METHOD",)), "`random`, `within_verdict`, `ppi`, `human_only`"]
    strata: Annotated[Mapping[str, PlannedVerdict], Keys(("VERDICT",))]
    curve: tuple[ExpectedWidth, ...]


@figures_of.register(LabelPlan)
def label_plan_figures(plan: LabelPlan) -> LabelPlanFigures:
    """How many labels an interval of a target width needs."""
    return taken_over(
        LabelPlanFigures,
        plan,
        labelled=sum(plan.have.values()),
        pilot=plan.labelled,
        n_questions=plan.effect.questions,
        design_effect=design_effect_figures(plan.effect),
        needs={method: need_figures(need) for method, need in plan.needs.items()},
        strata={
            verdict: PlannedVerdict(
                part.share,
                part.mean,
                part.sd,
                pairs=plan.totals[verdict],
                labels=plan.have.get(verdict, 0),
                target=plan.targets[verdict],
            )
            for verdict, part in plan.strata.items()
        },
        curve=tuple(ExpectedWidth(count, expected) for count, expected in plan.curve("random")),
    )


@dataclass(frozen=True, repr=False)
class RunLabelPlan(LabelPlanFigures, Figures):
    """How many pairs of a run to label for an interval of a target width, and which."""

    _rows = "needs"

    run: str
    aggregation: str
    chosen: Annotated[Chosen, "how the labels count"]
    label_sources: Annotated[SampleFigures, "which labels are used"]
    two_class: TwoClassPlanFigures
    k_class: KClassPlanFigures
    next: Annotated[tuple[str, ...], "ids of the pairs to label next"]
    next_seed: int
    next_chosen: Annotated[str, "how their labels will count"]


@dataclass(frozen=True)
class SamplePlan:
    """A label plan and the labels that it rests on. Every face of the program plans here."""

    sample: Sample
    counting: bool
    plan: LabelPlan


def sample_plan(
    frame: RunFrame,
    aggregation: str,
    width: float,
    chosen: Chosen | None = None,
    *,
    used: NDArray[np.bool_] | None = None,
) -> SamplePlan:
    """The plan for a run, from its frame (:func:`judgenet.store.taught.fair_frame`); ``chosen`` and ``used`` are those
    of :func:`judgenet.figures.rates.corrected_rates`.

    :raises ValueError: no pair has a verdict yet, or ``width`` is not in (0, 1].
    """
    sample = frame.label_sample(aggregation, chosen, used)
    counting = sample.chosen in ("random", "within-verdict")
    by_question = frame.by_question(aggregation, sample, used)
    plan = plan_labels(sample.labelled, sample.others, width, counting=counting, by_question=by_question)
    return SamplePlan(sample, counting, plan)


def run_label_plan(
    frame: RunFrame,
    aggregation: str,
    width: float,
    chosen: Chosen | None = None,
    *,
    used: NDArray[np.bool_] | None = None,
    seed: int = 0,
) -> RunLabelPlan:
    """The figures of :func:`sample_plan`, and the pairs to label next, drawn by ``seed``.

    :raises FiguresError: no pair has a verdict yet.
    """
    if not frame.aggregations[aggregation].any():
        raise FiguresError(
            f"{frame.run.id}: no pair has a verdict of {aggregation} yet, so that nothing can be planned."
        )
    stratified_plan = sample_plan(frame, aggregation, width, chosen, used=used)
    sample, plan = stratified_plan.sample, stratified_plan.plan
    possible = plan.needs["within_verdict"].labels is not None
    unlabelled = {
        verdict: [frame.pairs.ids[index] for index in indexes]
        for verdict, indexes in frame.unlabelled(aggregation, counting=stratified_plan.counting).items()
    }
    return RunLabelPlan(
        **vars(label_plan_figures(plan)),
        run=frame.run.id,
        aggregation=aggregation,
        chosen=sample.chosen,
        label_sources=sample_figures(sample),
        two_class=_two_class(plan_two_class(sample.labelled, sample.others, width, plan.effect)),
        k_class=_k_class(plan_k_class(sample.labelled, sample.others, width, plan.effect)),
        next=tuple(draw_labels(unlabelled, plan.more, seed)) if possible else (),
        next_seed=seed,
        next_chosen="within-verdict",
    )
