"""What to tell somebody who is about to label pairs: how many for an interval of a wished width, how the interval
narrows, and how many of each verdict.

It plans with what the labels there are say of each verdict; with too few of them, with an assumed judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Final, Literal, get_args

from judgenet.core.pairs import Verdict
from judgenet.stats.calibration import FEWEST_LABELS, Labelled, stratified, worth
from judgenet.stats.intervals import Z
from judgenet.stats.planning import (
    Need,
    PlannedStratum,
    assumed_strata,
    human_labels,
    label_targets,
    of_pairs,
    powered_labels,
    stratified_labels,
    stratified_width,
)

PlanMethod = Literal["random", "within_verdict", "human_only", "ppi"]
"""The stratified estimate with labels at random from all pairs, or within each verdict; the human labels alone; PPI++
with labels at random."""
PLAN_METHODS: Final[tuple[PlanMethod, ...]] = get_args(PlanMethod)

CURVE: Final = (10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 10_000)
ASSUMED_CORRELATION: Final = 0.6
"""Of a judge that is right on 80 % of each class, for even classes."""


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """A plan for an interval of ``width``. ``pairs`` have a verdict, ``labelled`` of them a label too.

    ``needs`` are labels in all by method. ``strata``, ``totals`` (pairs), ``have`` (labels) and ``targets`` (labels
    wished) are by verdict. ``assumed`` says that the labels are too few to plan with.
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
        """The width to expect with ``labels`` labels in all."""
        parts = list(self.strata.values())
        match method:
            case "random":
                return stratified_width(parts, self.pairs, labels)
            case "within_verdict":
                within = sum(part.share * part.sd for part in parts) ** 2
                between = self.variance - sum(part.share * part.sd**2 for part in parts)
                return 2 * Z * sqrt(within / labels + max(0.0, between) / self.pairs)
            case "human_only":
                return 2 * Z * sqrt(self.variance / labels)
            case "ppi":
                explained = self.correlation**2 if self.correlation > 0 else 0.0
                others = max(0, self.pairs - labels)
                return 2 * Z * sqrt(self.variance / labels * (1 - explained * others / (others + labels)))

    def curve(self, method: PlanMethod) -> tuple[tuple[int, float], ...]:
        """(labels, width to expect), as far as there are pairs to label."""
        counts = sorted({count for count in (*CURVE, self.pairs) if count <= self.pairs})
        return tuple((count, self.expected_width(method, count)) for count in counts)


def plan_labels(labelled: Labelled, others: Mapping[Verdict, int], width: float, *, counting: bool = True) -> LabelPlan:
    """The plan for counts of labelled pairs by (verdict, label) and of the others by verdict.

    Labels that are not ``counting``, such as those that came with the data, tell how often people and network agree and
    are no part of the labels there are.

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
    strata = (
        assumed_strata({verdict: count / n for verdict, count in totals.items()})
        if assumed
        else {
            part.verdict: PlannedStratum(part.share, part.mean, part.sd) for part in stratified(labelled, others).strata
        }
    )
    parts = list(strata.values())
    best = stratified_labels(parts, n, width, within_verdict=True)
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
            "random": stratified_labels(parts, n, width),
            "within_verdict": best,
            "human_only": human_labels(parts, n, width),
            "ppi": of_pairs(powered_labels(variance, correlation, n - m, width), n, 2 * Z * sqrt(variance / n)),
        },
        strata=strata,
        totals=totals,
        have=have if counting else {},
        targets=label_targets(strata, totals, min(n, target)),
        variance=variance,
        correlation=correlation,
    )
