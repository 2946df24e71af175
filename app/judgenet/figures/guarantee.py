"""Which verdicts of a run can be accepted with a bounded error, and the rule that accepts them in new runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from judgenet.core.acceptance import ACCEPTED, weights_hash
from judgenet.core.labels import Chosen
from judgenet.core.learned import LEARNED, designed_widths, fixed_role
from judgenet.core.network import AcceptanceRule, Confidence, LearnedRule, NeuronWeight
from judgenet.core.network_json import digest
from judgenet.core.wording import plural
from judgenet.figures.acceptance import without_label
from judgenet.figures.base import OPTIONAL, Figures
from judgenet.stats.confidence import confidences
from judgenet.stats.curves import CODES, Codes, Floats
from judgenet.stats.guarantee import (
    MOST_LABELS,
    Guarantee,
    LabelsWorth,
    LevelCounts,
    count_levels,
    labels_likely,
    labels_worth,
    promise,
    shares_decided,
)
from judgenet.stats.learning import LearningError, cross_fitted_scores
from judgenet.store.frame import RunFrame
from judgenet.store.results import network_of

ALPHAS: Final = tuple(round(0.01 * step, 2) for step in range(1, 51))
"""The errors for which the share of accepted verdicts is given."""

ALPHA: Final = 0.1
DELTA: Final = 0.05
"""What is asked unless somebody says otherwise."""

LIKELY: Final = 0.8
"""A number of labels might do where something can be promised with this probability."""


@dataclass(frozen=True)
class ThresholdFigures:
    """A threshold that was tested."""

    confidence: Annotated[float, "a threshold that was tested, from the strictest to the loosest"]
    n: Annotated[int, "labelled pairs with at least this confidence"]
    errors: Annotated[int, "of them, verdicts that people disagree with"]
    p: Annotated[float, "of an error above alpha, by the exact test"]


@dataclass(frozen=True)
class PromisePairs:
    """The pairs behind a promise."""

    total: int
    judged: Annotated[int, "pairs with a verdict, and a confidence in it"]
    labelled: Annotated[int, "of these, pairs with a human label that the promise may rest on"]
    labels_used: Annotated[int, "of these, one a question"]
    labels_needed: Annotated[int, "accepted labels, all of them right, that any promise takes"]
    labels_likely: Annotated[
        int | None,
        "labels with which something could be promised in 4 of 5 draws, if verdicts err as the labels there are say",
    ]
    reason: Annotated[str | None, "why that is unknown"]


@dataclass(frozen=True)
class AlphaFigures:
    """What can be promised for another alpha; there are those for which something can."""

    alpha: Annotated[float, "another alpha, that had to be chosen before the labels were seen"]
    threshold: Annotated[float, "verdicts that are at least so sure would be accepted"]
    accepted: Annotated[int, "pairs whose verdict would be accepted"]
    share: Annotated[float, "of the pairs with a verdict"]


@dataclass(frozen=True)
class LabelsFigures:
    """What another number of labels is likely to bring."""

    labels: Annotated[int, "another number of labels, one a question"]
    promised: Annotated[float, "the probability that something can be promised, by simulation"]
    share: Annotated[float, "the mean share of verdicts that are then accepted; 0 where nothing can be promised"]


@dataclass(frozen=True, repr=False)
class RunGuarantee(Figures):
    """A threshold on the confidence of verdicts whose promise holds."""

    _rows = "tested"

    run: str
    aggregation: Annotated[str, "whose verdicts"]
    chosen: Annotated[Chosen, "how the labels count: random, within-verdict, targeted, imported"]
    chosen_why: Annotated[str, "for what reason"]
    confidence: Annotated[
        Confidence,
        "what tells how sure a verdict is: `calls`, `orders`, `neurons`, `samples`, `margin`, `learned` or `entropy`",
    ]
    alpha: Annotated[float, "the most error that accepted verdicts may have"]
    delta: Annotated[float, "the probability, over the labels, that they have more"]
    seed: Annotated[int, "draws the pair of each question that is used"]
    pairs: PromisePairs
    threshold: Annotated[float | None, "verdicts that are at least so sure are accepted"]
    accepted: Annotated[int, "pairs whose verdict is accepted"]
    accepted_labels: Annotated[int, "labels among them that the promise rests on"]
    errors: Annotated[int, "of these, verdicts that people disagree with"]
    share: Annotated[float | None, "accepted of the pairs with a verdict"]
    for_people: Annotated[tuple[str, ...], "ids of the other pairs, the least sure first"]
    queue: Annotated[tuple[str, ...], "ids of those of them that nobody has labelled"]
    tested: tuple[ThresholdFigures, ...]
    by_alpha: tuple[AlphaFigures, ...]
    by_labels: tuple[LabelsFigures, ...]
    notes: Annotated[tuple[str, ...], "what to know when reading these figures"]
    reason: Annotated[str | None, "why nothing can be promised"]
    saved: Annotated[str | None, OPTIONAL, "with `--save`: what was written into the project"] = None


@dataclass(frozen=True)
class ConfidentVerdicts:
    """The verdicts of a run with how sure each is, and the labels that a promise may rest on.

    ``confidence`` has a value a pair, NaN where there is none; ``human`` has the codes of the labels, all 0 where none
    of them was drawn at random; ``why`` says then why nothing can be promised. ``learned`` holds the weights of a
    learned confidence, fitted to all of these labels.
    """

    aggregation: str
    kind: Confidence
    verdicts: Codes
    confidence: Floats
    human: Codes
    chosen: Chosen
    chosen_why: str
    why: str = ""
    learned: LearnedRule | None = None


NO_CONFIDENCE: Final[dict[Confidence, str]] = {
    "samples": "no call of the run has a second sample: the confidence samples takes two or more",
    "orders": "no pair was asked in both orders",
    "entropy": "the run was not scored by token probabilities: the confidence entropy takes scores: probabilities",
}
"""Why a confidence cannot tell verdicts apart, where its values are missing or all the same."""


def confident_verdicts(
    frame: RunFrame, aggregation: str, kind: Confidence, chosen: Chosen | None = None, seed: int = 0
) -> ConfidentVerdicts:
    """The verdicts of an aggregation with their confidence; of the accepted ones those that their rule is about.

    :raises KeyError: the run has no such aggregation.
    """
    rule = frame.spec.aggregation.acceptance
    name = rule.aggregation if aggregation == ACCEPTED and rule is not None else aggregation
    verdicts = frame.verdict_codes(name)
    sample = frame.label_sample(name, chosen, only_random=True)
    drawn = sample.chosen == "random"
    human = frame.sampled_labels(name, sample) if drawn else np.zeros(len(frame), np.uint8)
    why = "" if drawn else f"{sample.why}: a promise takes labels that were drawn at random"
    probability, learned = np.full(len(frame), np.nan), None
    if kind == "learned" and drawn:
        try:
            probability, learned = _learned(frame, human, seed)
        except LearningError as error:
            why = f"no confidence was learned. {error}"
    places = len(frame.places)
    sure = confidences(
        kind, verdicts, frame.calls, frame.table.neurons[:, :places], frame.table.margin, probability, frame.table.soft
    )
    if not why and not bool((~np.isnan(sure)).any()):
        why = NO_CONFIDENCE.get(kind, "no pair has a verdict")
    # Sums in another order must give the same threshold.
    return ConfidentVerdicts(name, kind, verdicts, np.round(sure, 9), human, sample.chosen, sample.why, why, learned)


def _learned(frame: RunFrame, human: Codes, seed: int) -> tuple[Floats, LearnedRule]:
    done, spec = frame.done, network_of(frame.run)
    labels = [CODES[code] for code in human[done]]
    scores, weights, penalty = cross_fitted_scores(frame.votes[done], labels, frame.questions[done].tolist(), seed=seed)
    probability = np.full(len(frame), np.nan)
    probability[done] = 1 / (1 + np.exp(-np.clip(scores, -500, 500)))
    neurons = tuple(
        NeuronWeight(layer, neuron, fixed_role(spec, layer, neuron), float(weight))
        for (layer, neuron), weight in zip(frame.places, weights, strict=True)
    )
    rule = LearnedRule(
        "nonnegative",
        neurons,
        designed_widths(spec),
        run=frame.run.id,
        data=str(frame.run.record.get("data_hash", "")),
        network=digest(spec),
        labels=int((human > 0).sum()),
        seed=seed,
        penalty=penalty,
    )
    return probability, rule


def level_counts(frame: RunFrame, verdicts: ConfidentVerdicts, seed: int = 0) -> LevelCounts:
    """The labels and pairs of a run at each threshold."""
    return count_levels(verdicts.confidence, verdicts.verdicts, verdicts.human, frame.questions, seed)


def for_people(verdicts: ConfidentVerdicts, threshold: float | None) -> NDArray[np.int64]:
    """The indexes of the pairs that are not accepted, the least sure first; pairs without a verdict before them."""
    sure = np.where(verdicts.verdicts > 0, np.nan_to_num(verdicts.confidence, nan=-np.inf), -np.inf)
    rest = np.flatnonzero(sure < (np.inf if threshold is None else threshold))
    return rest[np.argsort(sure[rest], kind="stable")]


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
    verdicts = confident_verdicts(frame, aggregation, confidence, chosen, seed)
    return guarantee_of(frame, verdicts, alpha, delta, seed)


def guarantee_of(
    frame: RunFrame, verdicts: ConfidentVerdicts, alpha: float, delta: float, seed: int = 0
) -> RunGuarantee:
    """The figures of :func:`run_guarantee` for verdicts whose confidence is known."""
    counts = level_counts(frame, verdicts, seed)
    promised = promise(counts, alpha, delta)
    threshold = None if verdicts.why else promised.threshold
    people = for_people(verdicts, threshold)
    worth = labels_worth(counts, alpha, delta, seed=seed)
    likely = None if verdicts.why else labels_likely(counts, worth, alpha, delta, LIKELY)
    ids = frame.pairs.ids
    return RunGuarantee(
        run=frame.run.id,
        aggregation=verdicts.aggregation,
        chosen=verdicts.chosen,
        chosen_why=verdicts.chosen_why,
        confidence=verdicts.kind,
        alpha=alpha,
        delta=delta,
        seed=seed,
        pairs=PromisePairs(
            len(frame),
            promised.pairs,
            promised.labels_total,
            promised.labels,
            promised.labels_needed,
            likely,
            None if likely is not None else verdicts.why or _why_unlikely(worth),
        ),
        threshold=threshold,
        accepted=promised.decided,
        accepted_labels=promised.accepted_labels,
        errors=promised.errors,
        share=None if threshold is None else promised.share,
        for_people=tuple(ids[at] for at in people.tolist()),
        queue=tuple(ids[at] for at in people[without_label(frame)[people]].tolist()),
        tested=tuple(
            ThresholdFigures(tested.confidence, tested.n, tested.errors, tested.p) for tested in promised.tested
        ),
        by_alpha=tuple(
            AlphaFigures(tested.alpha, tested.threshold, tested.decided, tested.share)
            for tested in shares_decided(counts, ALPHAS, delta)
            if tested.threshold is not None and not verdicts.why
        ),
        by_labels=tuple(LabelsFigures(tested.labels, tested.promised, tested.share) for tested in worth),
        notes=_notes(verdicts, promised),
        reason=verdicts.why or promised.reason or None,
    )


def _why_unlikely(worth: tuple[LabelsWorth, ...]) -> str:
    if not worth:
        return "fewer than 10 labels say nothing about the errors"
    return f"even with {MOST_LABELS:,} labels a promise is unlikely, if verdicts err as the labels say"


def _notes(verdicts: ConfidentVerdicts, guarantee: Guarantee) -> tuple[str, ...]:
    notes = []
    if verdicts.kind == "learned":
        notes.append(
            "the learned probability is cross-fitted: no label tells how sure its own pair is, but the fits share "
            "labels, so that the promise is not exact; in the benchmark it held"
        )
    if guarantee.labels < guarantee.labels_total:
        notes.append(
            f"{guarantee.labels_total:,} labelled pairs ask {plural(guarantee.labels, 'question')}: one pair per "
            "question is used, and all questions weigh alike in the promise"
        )
    return tuple(notes)


def promise_sentences(figures: RunGuarantee) -> list[str]:
    """The promise in sentences; or why nothing can be promised, and how many labels might be enough."""
    pairs = figures.pairs
    if figures.threshold is None or figures.share is None:
        return [f"Nothing can be promised: {figures.reason}.", labels_sentence(figures)]
    return [
        f"Verdicts with a confidence of at least {figures.threshold:.4g} can be accepted: those of "
        f"{figures.accepted:,} of {pairs.judged:,} pairs ({figures.share:.1%}). With a probability of "
        f"{1 - figures.delta:.4g}, over the choice of the labels, at most {figures.alpha:.4g} of such verdicts are "
        "wrong.",
        f"The other {plural(len(figures.for_people), 'pair')} of {pairs.total:,} are for people; "
        f"{len(figures.queue):,} of them nobody has labelled yet.",
    ]


def labels_sentence(figures: RunGuarantee) -> str:
    """How many labels might be enough where nothing can be promised."""
    pairs = figures.pairs
    least = f"Any promise needs at least {pairs.labels_needed:,} accepted verdicts with a label that are all right"
    if figures.chosen != "random":
        return f"{least}, of pairs that were drawn at random."
    if not figures.by_labels:
        return f"{least}; how many are likely to be needed is shown once there are 10 labels."
    likely, all_questions = pairs.labels_likely, figures.by_labels[-1].labels
    if likely is None:
        return (
            f"{least}. Even {MOST_LABELS:,} labels are unlikely to be enough if verdicts err as "
            f"often as on the {plural(pairs.labels_used, 'label')}: choose a larger alpha, another confidence, or a "
            "better network."
        )
    more = f", more than the {plural(all_questions, 'question')} of this run," if likely > all_questions else ""
    return (
        f"{least}. About {likely:,} labels{more} might be enough: with so many, something can be promised in 4 of 5 "
        f"simulated draws if verdicts err as often as on the {plural(pairs.labels_used, 'label')}."
    )


def acceptance_rule(frame: RunFrame, figures: RunGuarantee, verdicts: ConfidentVerdicts, date: str) -> AcceptanceRule:
    """The rule that accepts verdicts of new runs as these figures promise. ``date`` is the date that is written down.

    :raises ValueError: nothing can be promised.
    """
    if figures.threshold is None:
        raise ValueError(f"Nothing can be promised: {figures.reason}")
    return AcceptanceRule(
        aggregation=figures.aggregation,
        confidence=figures.confidence,
        threshold=figures.threshold,
        alpha=figures.alpha,
        delta=figures.delta,
        labels=figures.pairs.labels_used,
        accepted=figures.accepted_labels,
        errors=figures.errors,
        run=frame.run.id,
        data=str(frame.run.record.get("data_hash", "")),
        network=digest(network_of(frame.run)),
        made=date,
        vote=frame.spec.aggregation.vote,
        ties=frame.spec.aggregation.ties,
        fallback=frame.spec.aggregation.fallback,
        quorum=frame.spec.aggregation.quorum,
        weights=weights_hash(frame.spec.aggregation.learned) if figures.aggregation == LEARNED else "",
        learned=verdicts.learned,
    )
