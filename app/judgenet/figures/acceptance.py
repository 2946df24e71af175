"""What the acceptance rule of a run decided, and what it left to people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from judgenet.core.acceptance import acceptance_words, asks_otherwise
from judgenet.core.network import AcceptanceRule, Confidence
from judgenet.core.wording import plural
from judgenet.store.acceptance import rule_confidence
from judgenet.store.frame import RunFrame


@dataclass(frozen=True)
class AcceptanceFigures:
    """The accepted verdicts of a run, and the abstentions."""

    aggregation: Annotated[str, "the verdicts that are accepted or left to people"]
    confidence: Annotated[Confidence, "what tells how sure a verdict is"]
    threshold: Annotated[float, "verdicts that are at least so sure are accepted"]
    alpha: Annotated[float, "the most error that was promised"]
    delta: Annotated[float, "the probability that it is more"]
    labels: Annotated[int, "labels that the threshold was chosen from"]
    source: Annotated[str, "the run that these labels are of"]
    accepted: Annotated[int, "pairs whose verdict is accepted"]
    for_people: Annotated[int, "pairs with a verdict that is not sure enough: abstentions"]
    for_people_labelled: Annotated[int, "of these, pairs that somebody has labelled"]
    no_verdict: Annotated[int, "finished pairs without a verdict, for want of valid calls"]
    n_total: Annotated[int, "finished pairs"]
    words: Annotated[str, "the rule in a sentence"]
    notes: Annotated[tuple[str, ...], "what to know when reading these figures"]

    @property
    def line(self) -> str:
        """How many pairs were decided, are for people, and have no verdict."""
        missing = f", {self.no_verdict:,} without a verdict" if self.no_verdict else ""
        return (
            f"Decided: {self.accepted:,} of {plural(self.n_total, 'pair')}; {self.for_people:,} for people "
            f"({self.for_people_labelled:,} of them labelled){missing}"
        )


def acceptance_figures(frame: RunFrame) -> AcceptanceFigures | None:
    """What the acceptance rule of a run decided; ``None`` where it has none."""
    rule = frame.spec.aggregation.acceptance
    if rule is None:
        return None
    judged, people = frame.judged, frame.for_people
    labelled = ~without_label(frame)
    total, left = int(judged.sum()), int(people.sum())
    there = int((judged & (frame.verdict_codes(rule.aggregation) > 0)).sum())
    return AcceptanceFigures(
        aggregation=rule.aggregation,
        confidence=rule.confidence,
        threshold=rule.threshold,
        alpha=rule.alpha,
        delta=rule.delta,
        labels=rule.labels,
        source=rule.run,
        accepted=there - left,
        for_people=left,
        for_people_labelled=int((people & labelled).sum()),
        no_verdict=total - there,
        n_total=total,
        words=acceptance_words(rule),
        notes=tuple(acceptance_notes(frame, rule)),
    )


def without_label(frame: RunFrame) -> NDArray[np.bool_]:
    """By pair, whether nobody has labelled it: it has neither a label that counts nor one of a targeted review."""
    targeted = np.array([kind.targeted is not None for kind in frame.pairs.people_kinds], dtype=bool)
    unlabelled: NDArray[np.bool_] = (frame.human == 0) & ~targeted[frame.pairs.people]
    return unlabelled


def people_queue(frame: RunFrame) -> tuple[int, ...]:
    """The pairs that the run's acceptance rule left to people and nobody has labelled, by index, the least sure
    first."""
    waiting = np.flatnonzero(frame.for_people & without_label(frame))
    return tuple(waiting[np.argsort(rule_confidence(frame)[waiting], kind="stable")].tolist())


def acceptance_notes(frame: RunFrame, rule: AcceptanceRule) -> list[str]:
    """What to know beside the accepted verdicts of a run: that its own labels chose the threshold, or that the network
    asked otherwise then."""
    notes = []
    if rule.data and rule.data == str(frame.run.record.get("data_hash", "")):
        notes.append(
            f"the threshold of the accepted verdicts was chosen on labels of these pairs ({rule.run}): their accuracy "
            "here is no further evidence for it"
        )
    if asks_otherwise(frame.spec):
        notes.append(
            "the rule that accepts verdicts comes from a network that asked otherwise (models, prompts or settings): "
            "what it promises need not hold"
        )
    return notes
