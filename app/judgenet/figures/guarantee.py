"""Which verdicts of a run can be accepted with a bounded error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from judgenet.core.labels import Chosen
from judgenet.figures.base import Figures
from judgenet.stats.guarantee import Confidence, confidences, guarantee
from judgenet.store.frame import RunFrame


@dataclass(frozen=True)
class ThresholdFigures:
    """A threshold that was tested."""

    confidence: Annotated[float, "a threshold that was tested, from the strictest to the loosest"]
    n: Annotated[int, "labelled pairs with at least this confidence"]
    errors: Annotated[int, "of them, verdicts that people disagree with"]
    p: Annotated[float, "of an error above alpha, by the exact binomial test"]


@dataclass(frozen=True)
class PromisePairs:
    """The pairs behind a promise."""

    total: int
    judged: Annotated[int, "pairs with a verdict"]
    labelled: Annotated[int, "of these, pairs with a human label that the promise may rest on"]
    labels_used: Annotated[int, "of these, one a question"]
    labels_needed: Annotated[int, "accepted labels, all of them right, that any promise takes"]


@dataclass(frozen=True, repr=False)
class RunGuarantee(Figures):
    """A threshold on the confidence of verdicts whose promise holds."""

    _rows = "tested"

    run: str
    aggregation: Annotated[str, "whose verdicts"]
    chosen: Annotated[Chosen, "how the labels count: random, within-verdict, targeted, imported"]
    chosen_why: Annotated[str, "for what reason"]
    confidence: Annotated[Confidence, "what tells how sure a verdict is: `calls`, `orders` or `margin`"]
    alpha: Annotated[float, "the most error that accepted verdicts may have"]
    delta: Annotated[float, "the probability, over the labels, that they have more"]
    seed: Annotated[int, "draws the pair of each question that is used"]
    pairs: PromisePairs
    threshold: Annotated[float | None, "verdicts that are at least so sure are accepted"]
    accepted: Annotated[int, "pairs whose verdict is accepted"]
    share: Annotated[float | None, "of the pairs with a verdict"]
    for_people: Annotated[tuple[str, ...], "ids of the other pairs, the least sure first"]
    tested: tuple[ThresholdFigures, ...]
    reason: Annotated[str | None, "why nothing can be promised"]


def run_guarantee(
    frame: RunFrame,
    aggregation: str,
    confidence: Confidence,
    alpha: float,
    delta: float,
    *,
    chosen: Chosen | None = None,
    seed: int = 0,
) -> RunGuarantee:
    """Which verdicts of an aggregation can be accepted so that at most ``alpha`` of them are wrong, with probability
    1 - ``delta`` over the labels.

    These must be drawn at random from all pairs, as is kept of each label or as ``chosen`` says of all.

    :raises KeyError: the run has no such aggregation.
    :raises ValueError: ``alpha`` or ``delta`` is not between 0 and 1.
    """
    verdicts = frame.verdict_codes(aggregation)
    sure = _confidence(frame, confidence, verdicts)
    sample = frame.label_sample(aggregation, chosen, only_random=True)
    drawn = sample.chosen == "random"
    human = frame.sampled_labels(aggregation, sample) if drawn else np.zeros(len(frame), np.uint8)
    found = guarantee(sure, verdicts, human, frame.questions, alpha=alpha, delta=delta, seed=seed)
    accepted = np.zeros(len(frame), np.bool_)
    if found.threshold is not None:
        accepted = (verdicts > 0) & (np.nan_to_num(sure, nan=-np.inf) >= found.threshold)
    rest = np.flatnonzero(~accepted)
    rest = rest[np.argsort(np.nan_to_num(sure[rest], nan=-np.inf), kind="stable")]
    return RunGuarantee(
        run=frame.run.id,
        aggregation=aggregation,
        chosen=sample.chosen,
        chosen_why=sample.why,
        confidence=confidence,
        alpha=alpha,
        delta=delta,
        seed=seed,
        pairs=PromisePairs(len(frame), found.pairs, found.labels_total, found.labels, found.labels_needed),
        threshold=found.threshold,
        accepted=found.decided,
        share=None if found.threshold is None else found.share,
        for_people=tuple(frame.pairs.ids[at] for at in rest.tolist()),
        tested=tuple(ThresholdFigures(of.confidence, of.n, of.errors, of.p) for of in found.tested),
        reason=(found.reason or None) if drawn else f"{sample.why}: a promise takes labels that were drawn at random",
    )


def _confidence(frame: RunFrame, kind: Confidence, verdicts: NDArray[np.uint8]) -> NDArray[np.float64]:
    mean_a, mean_b = frame.mean_scores()
    return confidences(kind, verdicts, frame.calls, np.abs(mean_a - mean_b))
