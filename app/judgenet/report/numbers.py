"""What can be said of a run beyond counting its verdicts: the win rate corrected by labels, and the people behind them.

Everything comes from the run in memory (:class:`~judgenet.store.frame.RunFrame`): the store is not read
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import repeat

from judgenet.core.labels import Chosen
from judgenet.core.pairs import Verdict
from judgenet.figures.rates import corrected_rates
from judgenet.stats.agreement import ReviewShare, review_share
from judgenet.stats.calibration import Labelled, Method, Rates
from judgenet.stats.panel import PanelAgreement, panel_agreement
from judgenet.stats.provenance import Sample
from judgenet.store.frame import RunFrame

_CORRECTED: tuple[Method, ...] = ("stratified", "lee", "k_class")


@dataclass(frozen=True, slots=True)
class Review:
    """How much people must review to be as right as they are among themselves (``target``). ``reason`` says why there
    is none."""

    accuracy: float | None
    target: float | None
    share: ReviewShare | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The win rates by one aggregation of a run, and what they rest on.

    ``labelled`` counts the judged pairs with a label by (verdict, label), ``others`` the judged ones without by
    verdict; ``pairs`` are all pairs of the run. ``rates`` rest on the labels of ``sample``. ``assumed`` says that
    nobody told how they were chosen: they came with the data. ``panel`` is ``None`` where no pair has annotators by
    name.
    """

    aggregation: str
    pairs: int
    labelled: Labelled
    others: Mapping[Verdict, int]
    rates: Rates
    sample: Sample
    assumed: bool
    panel: PanelAgreement | None
    review: Review

    @property
    def headline(self) -> Method | None:
        """The estimate to show first: the stratified one, else a correction by error rates; ``None`` where every
        correction is refused."""
        return next((method for method in _CORRECTED if self.rates.estimates[method].value is not None), None)

    @property
    def counting(self) -> bool:
        """The labels of the sample stand for the other pairs, so that a plan for more goes on from them."""
        return self.sample.chosen in ("random", "within-verdict")

    @property
    def judged(self) -> int:
        """Pairs with a verdict."""
        return self.labels + sum(self.others.values())

    @property
    def labels(self) -> int:
        """Pairs with a verdict and a label."""
        return sum(self.labelled.values())


def numbers(frame: RunFrame, aggregation: str, chosen: Chosen | None = None, seed: int = 0) -> Numbers:
    """The numbers of a run.

    :raises KeyError: the run has no such aggregation.
    """
    labelled, others = frame.labelled_counts(aggregation)
    corrected = corrected_rates(frame, aggregation, chosen, seed=seed)
    panel = None
    if frame.panels:
        panel = panel_agreement(dict(said) for said, count in frame.panel_counts.items() for _ in repeat(None, count))
    return Numbers(
        aggregation=aggregation,
        pairs=len(frame),
        labelled=labelled,
        others=others,
        rates=corrected.rates,
        sample=corrected.sample,
        assumed=corrected.assumed,
        panel=panel,
        review=_review(labelled, panel),
    )


def _review(labelled: Labelled, panel: PanelAgreement | None) -> Review:
    n = sum(labelled.values())
    target = None if panel is None else panel.h.value
    if not n:
        return Review(None, target, None, "no pair has both a human label and a verdict")
    hits = sum(count for (verdict, human), count in labelled.items() if verdict == human)
    accuracy = hits / n
    if target is None:
        why = "no pair has two annotators by name, so that people's own agreement is unknown"
        return Review(accuracy, None, None, why)
    share = review_share(accuracy, target)
    return Review(accuracy, target, share, share.reason)
