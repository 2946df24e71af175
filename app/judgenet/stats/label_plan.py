"""Plans labelling: how many pairs to label for an interval of a given width, how the interval narrows, and how many
pairs of each verdict.

Plans follow from the human labels there are of each verdict; with too few of them, from an assumed judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Final, Literal, get_args

from judgenet.core.pairs import Verdict
from judgenet.stats.calibration import FEWEST_LABELS, SCORES, Labelled, classes_of, k_class, lee, stratified, worth
from judgenet.stats.design_effect import DesignEffect, design_effect
from judgenet.stats.intervals import Z
from judgenet.stats.planning import (
    ASSUMED_RATE,
    FEWEST_PER_SIDE,
    ClassNeed,
    Need,
    PlannedStratum,
    TwoClassNeed,
    assumed_strata,
    beside_the_rest,
    human_labels,
    k_class_labels,
    label_targets,
    powered_labels,
    published_allocation,
    stratified_labels,
    stratified_width,
    two_class_labels,
)

if TYPE_CHECKING:
    from judgenet.stats.design_effect import Array

PlanMethod = Literal["random", "within_verdict", "human_only", "ppi"]
"""The stratified estimate with labels at random from all pairs, or within each verdict; the human labels alone; PPI++
with labels at random."""
PLAN_METHODS: Final[tuple[PlanMethod, ...]] = get_args(PlanMethod)

CURVE: Final = (10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 10_000)
ASSUMED_CORRELATION: Final = 0.6
"""Of a judge that is right on 80 % of each class, for even classes."""

_NOTHING_LEFT: Final = "every judged pair is labelled: no pair is left to correct"


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """A plan for an interval of ``width``. ``pairs`` have a verdict, ``labelled`` of them a label too.

    ``needs`` are labels in all by method. ``strata``, ``totals`` (pairs), ``have`` (labels) and ``targets`` (labels
    to reach) are by verdict. ``assumed`` says that the labels are too few to plan with. ``effect`` is that of questions
    with several pairs.
    """

    width: float
    pairs: int
    labelled: int
    assumed: bool
    needs: Mapping[PlanMethod, Need]
    strata: Mapping[Verdict, PlannedStratum]
    totals: Mapping[Verdict, int]
    have: Mapping[Verdict, int]
    targets: Mapping[Verdict, int]
    variance: float
    correlation: float
    effect: DesignEffect

    @property
    def assumption(self) -> str:
        """What was assumed, in words; empty where nothing was."""
        if not self.assumed:
            return ""
        return (
            f"{self.labelled} labels are no pilot: planned for a judge that people agree with on 80 % of its decided "
            "verdicts"
        )

    @property
    def more(self) -> dict[Verdict, int]:
        """How many more pairs of each verdict to label."""
        return {verdict: max(0, wished - self.have.get(verdict, 0)) for verdict, wished in self.targets.items()}

    def expected_width(self, method: PlanMethod, labels: int) -> float:
        """The width to expect with ``labels`` labels in all (:func:`judgenet.stats.planning.stratified_width`)."""
        parts = list(self.strata.values())
        within = sum(part.share * part.sd**2 for part in parts)
        match method:
            case "random":
                return stratified_width(parts, self.pairs, labels, self.effect.value)
            case "within_verdict":
                drawn = sum(part.share * part.sd for part in parts) ** 2
            case "human_only":
                drawn = within = self.variance
            case "ppi":
                drawn = within = self.variance * (1 - max(0.0, self.correlation) ** 2)
        fixed = self.effect.value * self.variance - within
        return 2 * Z * sqrt(max(0.0, drawn / labels + fixed / self.pairs))

    def curve(self, method: PlanMethod) -> tuple[tuple[int, float], ...]:
        """(labels, width to expect), as far as there are pairs to label."""
        counts = sorted({count for count in (*CURVE, self.pairs) if count <= self.pairs})
        return tuple((count, self.expected_width(method, count)) for count in counts)


def plan_labels(
    labelled: Labelled,
    others: Mapping[Verdict, int],
    width: float,
    *,
    counting: bool = True,
    by_question: Array | None = None,
) -> LabelPlan:
    """The plan for counts of labelled pairs by (verdict, label) and of the others by verdict.

    Labels that are not ``counting``, such as those that came with the data, tell how often people and network agree and
    are no part of the labels there are. ``by_question`` has the same counts by question, of shape (questions, 4, 4) as
    in :func:`judgenet.stats.design_effect.design_effect`; without it no two pairs are taken to share a question.

    :raises ValueError: ``width`` is not in (0, 1], or no pair has a verdict.
    """
    totals, have = Counter(dict(others)), Counter[Verdict]()
    for (verdict, _), count in labelled.items():
        totals[verdict] += count
        have[verdict] += count
    n, m = totals.total(), have.total()
    if not n:
        raise ValueError("No pair has a verdict yet, so that nothing can be planned.")
    assumed = m < FEWEST_LABELS
    if assumed:
        strata = assumed_strata({verdict: count / n for verdict, count in totals.items()})
    else:
        parts_there = stratified(labelled, others).strata
        strata = {part.verdict: PlannedStratum(part.share, part.mean, part.sd) for part in parts_there}
    parts = list(strata.values())
    effect = DesignEffect() if by_question is None else design_effect(by_question)
    best = stratified_labels(parts, n, width, within_verdict=True, effect=effect.value)
    mean = sum(part.share * part.mean for part in parts)
    variance = sum(part.share * (part.sd**2 + (part.mean - mean) ** 2) for part in parts)
    correlation = ASSUMED_CORRELATION if assumed else worth(labelled, 0).correlation or 0.0
    target = best.labels if best.labels is not None else n
    return LabelPlan(
        width=width,
        pairs=n,
        labelled=m,
        assumed=assumed,
        needs={
            "random": stratified_labels(parts, n, width, effect=effect.value),
            "within_verdict": best,
            "human_only": human_labels(parts, n, width, effect.value),
            "ppi": powered_labels(variance, correlation, n, width, effect.value),
        },
        strata=strata,
        totals=totals,
        have=have if counting else {},
        targets=label_targets(strata, totals, min(n, target)),
        variance=variance,
        correlation=correlation,
        effect=effect,
    )


# Corrections by error rates


@dataclass(frozen=True, slots=True)
class TwoClassPlan:
    """Labels for the correction by error rates (Lee et al.), assuming a win ``rate`` and how often the judge is
    right on the pairs that people give A (``specificity``) and B (``sensitivity``).

    ``assumed`` says that these two are assumed, as there are too few labels. ``allocation`` are the labels of A and B
    by the published rule. All of them are ``None`` where nothing can be planned, and ``reason`` says why; where
    ``allocation`` alone is, ``needs.optimal.reason`` does.
    """

    needs: TwoClassNeed | None
    assumed: bool = False
    rate: float | None = None
    specificity: float | None = None
    sensitivity: float | None = None
    allocation: tuple[int, int] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KClassPlan:
    """Labels for the K-class correction over the ``classes`` that occur. ``needs`` is ``None`` where nothing can be
    planned, and ``reason`` says why."""

    needs: ClassNeed | None
    classes: tuple[Verdict, ...]
    reason: str = ""


def plan_two_class(
    labelled: Labelled, others: Mapping[Verdict, int], width: float, effect: DesignEffect | None = None
) -> TwoClassPlan:
    """Labels for the correction by error rates, from the judge's rates on the labels there are; with too few of them,
    of a judge that is assumed to be right on 80 % of each class.

    The counts are those of :func:`plan_labels`; the pairs that get no label are the ones that are corrected. ``effect``
    multiplies the whole variance, which is more than a draw from many questions needs.
    """
    n = sum(others.values())
    if "tie" in classes_of(labelled, others):
        return TwoClassPlan(None, reason="made for two classes, but there are ties; see k_class")
    if not n:
        return TwoClassPlan(None, reason=_NOTHING_LEFT)
    share = others.get("b", 0) / n
    assumed = sum(labelled.values()) < FEWEST_LABELS
    if assumed:
        specificity = sensitivity = ASSUMED_RATE
        rate = min(1.0, max(0.0, (share + specificity - 1) / (specificity + sensitivity - 1)))
    else:
        estimate = lee(labelled, others).estimate
        if estimate.value is None:
            return TwoClassPlan(None, reason=estimate.reason)
        specificity = labelled.get(("a", "a"), 0) / _of_class(labelled, "a")
        sensitivity = labelled.get(("b", "b"), 0) / _of_class(labelled, "b")
        rate = estimate.value
    pairs, wanted = n + sum(labelled.values()), _independent(width, effect)

    def need(kind: Literal["optimal", "equal", "at_random"]) -> Need:
        return beside_the_rest(
            pairs, lambda left: getattr(two_class_labels(rate, specificity, sensitivity, left, wanted), kind)
        )

    needs = TwoClassNeed(need("optimal"), need("equal"), need("at_random"))
    pilot = 0 if assumed else min(FEWEST_PER_SIDE, _of_class(labelled, "a"), _of_class(labelled, "b"))
    allocation = None
    if needs.optimal.labels is not None:
        allocation = published_allocation(needs.optimal.labels, share, specificity, sensitivity, pilot)
    return TwoClassPlan(needs, assumed, rate, specificity, sensitivity, allocation)


def plan_k_class(
    labelled: Labelled, others: Mapping[Verdict, int], width: float, effect: DesignEffect | None = None
) -> KClassPlan:
    """Labels for the K-class correction, from the judge's errors on the labels there are. All is as in
    :func:`plan_two_class`."""
    classes = classes_of(labelled, others)
    if sum(labelled.values()) < FEWEST_LABELS:
        return KClassPlan(None, classes, f"at least {FEWEST_LABELS} labels must show the judge's errors first")
    estimate = k_class(labelled, others)
    if estimate.value is None or estimate.shares is None or estimate.estimate.value is None:
        return KClassPlan(None, classes, estimate.estimate.reason or _NOTHING_LEFT)
    per_class = [_of_class(labelled, human) for human in classes]
    errors = [
        [
            (labelled.get((said, human), 0) + 1) / (count + len(classes))
            for human, count in zip(classes, per_class, strict=True)
        ]
        for said in classes
    ]
    people = [min(1.0, max(0.0, share)) for share in estimate.shares]
    scores = [SCORES[verdict] for verdict in classes]
    pairs, wanted = sum(others.values()) + sum(labelled.values()), _independent(width, effect)

    def need(kind: Literal["optimal", "equal"]) -> Need:
        return beside_the_rest(pairs, lambda left: getattr(k_class_labels(errors, people, scores, left, wanted), kind))

    allocation = k_class_labels(errors, people, scores, pairs, wanted).allocation
    return KClassPlan(ClassNeed(need("optimal"), need("equal"), allocation), classes)


def _independent(width: float, effect: DesignEffect | None) -> float:
    """The width that independent pairs must give for one of ``width`` with this design effect."""
    return width if effect is None else width / sqrt(effect.value)


def _of_class(labelled: Labelled, human: Verdict) -> int:
    return sum(count for (_, label), count in labelled.items() if label == human)
