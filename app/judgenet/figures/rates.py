"""The win rate of B over A in a run, corrected for the network's errors by labelled pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from judgenet.core.acceptance import ACCEPTED
from judgenet.core.labels import Chosen
from judgenet.core.learned import LEARNED
from judgenet.core.pairs import Verdict
from judgenet.core.wording import plural
from judgenet.figures.anytime import RunAnytime, chosen_pairs_notes, run_anytime
from judgenet.figures.base import ASKED, Figures, figures_of, taken_over
from judgenet.figures.learned import run_learned_notes
from judgenet.figures.parts import (
    EstimateFigures,
    GivenFigures,
    LengthFigures,
    Reasons,
    SampleFigures,
    estimate_figures,
    given_figures,
    sample_figures,
)
from judgenet.stats.calibration import SCORES, Estimate, Method, Rates, Worth, k_class_bootstrap, rates
from judgenet.stats.clustered import rates_over_questions
from judgenet.stats.curves import CODES
from judgenet.stats.intervals import RESAMPLES, Interval
from judgenet.stats.length import LengthAdjusted, length_adjusted
from judgenet.stats.provenance import Sample, left_words
from judgenet.store.frame import RunFrame

_CORRECTED: Final[tuple[Method, ...]] = ("stratified", "lee", "k_class")


@dataclass(frozen=True)
class CorrectedRates(Rates):
    """The win rates of B over A by one aggregation of a run, and what they rest on. Every face of the program computes
    them here.

    They rest on the labels of ``sample``; ``assumed`` says that it is not recorded how these were chosen: they came
    with the data. ``counts`` are the pairs by question, verdict and label that counts, of shape (questions, 4, 4).
    ``seed`` is that of the bootstraps."""

    frame: RunFrame = field(compare=False, repr=False)
    aggregation: str
    sample: Sample
    counts: NDArray[np.float64] = field(compare=False, repr=False)
    assumed: bool
    seed: int

    @property
    def corrected(self) -> Estimate:
        """The headline: stratified by verdict."""
        return self.estimates["stratified"]

    @property
    def headline(self) -> Method | None:
        """The estimate to show first: the stratified one, else a correction by error rates; ``None`` where every
        correction is refused."""
        return next((method for method in _CORRECTED if self.estimates[method].value is not None), None)

    @property
    def counting(self) -> bool:
        """Whether the labels of the sample stand for the other pairs, so that a plan for more goes on from them."""
        return self.sample.chosen in ("random", "within-verdict")

    @property
    def labelled(self) -> int:
        """Judged pairs whose label is used."""
        return self.sample.labelled.total()

    @property
    def judged(self) -> int:
        """Pairs with a verdict."""
        return self.labelled + self.sample.others.total()

    @cached_property
    def with_label(self) -> int:
        """Pairs with a verdict and a human label, whether it is used or not."""
        return int(((self.frame.aggregations[self.aggregation] > 0) & (self.frame.human > 0)).sum())

    @cached_property
    def length_adjusted(self) -> LengthAdjusted:
        """The verdicts' win rate where both responses are equally long."""
        said = self.frame.aggregations[self.aggregation]
        judged = np.flatnonzero(said)
        scores = [SCORES[verdict] for code in said[judged] if (verdict := CODES[code]) is not None]
        longer, questions = self.frame.longer_b[judged].tolist(), self.frame.questions[judged].tolist()
        return length_adjusted(scores, longer, questions)


def corrected_rates(
    frame: RunFrame,
    aggregation: str,
    chosen: Chosen | None = None,
    *,
    used: NDArray[np.bool_] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> CorrectedRates:
    """The win rates of a run's aggregation, from its frame (:func:`judgenet.store.taught.fair_frame`).

    ``chosen`` says how the labelled pairs were chosen (``None``: as is kept of each label), ``used`` which labels may
    be used, a value a pair (``None``: all). Without ``resamples`` intervals are over pairs, whether questions repeat or
    not.

    :raises KeyError: the run has no such aggregation.
    """
    sample = frame.label_sample(aggregation, chosen, used)
    counts = frame.by_question(aggregation, sample, used)
    if resamples:
        estimates = rates_over_questions(counts, sample.chosen, resamples=resamples, seed=seed)
    else:
        estimates = rates(sample.labelled, sample.others, sample.chosen)
    return CorrectedRates(
        **{estimate.name: getattr(estimates, estimate.name) for estimate in fields(Rates)},
        frame=frame,
        aggregation=aggregation,
        sample=sample,
        counts=counts,
        assumed=chosen is None and sample.chosen == "imported",
        seed=seed,
    )


@dataclass(frozen=True)
class BootstrapFigures:
    """The interval of the K-class estimate by resampling pairs."""

    refused: Annotated[int | None, "resamples without a value"]
    ci: Annotated[Interval | None, "of `k_class`, by resampling"]
    resamples: int | None
    seed: int | None
    reason: str | None


@dataclass(frozen=True)
class LengthAdjustedFigures(LengthFigures):
    """The verdicts' win rate at equal length."""

    labels: Annotated[int, "always 0: no label is used"]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class RatePairs:
    """The pairs behind a win rate."""

    total: int
    judged: Annotated[int, "pairs with a verdict"]
    not_judged: int
    labelled: Annotated[int, "judged pairs whose label is used"]
    labelled_not_judged: int


@dataclass(frozen=True)
class StratumFigures:
    """The pairs with one verdict of the network."""

    verdict: Annotated[Verdict, "a verdict of the network"]
    share: Annotated[float, "its share of the judged pairs"]
    n: Annotated[int, "pairs with it"]
    labels: Annotated[int, "of them with a label"]
    mean: Annotated[float, "people's mean score for B there, one even pseudo-label added"]
    sd: float


@dataclass(frozen=True)
class WorthFigures:
    """What the verdicts are worth in labels."""

    multiplier: Annotated[float | None, "with the verdicts a label counts as so many"]
    per_verdict: Annotated[float | None, "what one verdict is worth in labels"]
    correlation: Annotated[float | None, "of human and network scores"]
    reason: str | None
    reasons: Reasons


@figures_of.register(Worth)
def worth_figures(worth: Worth) -> WorthFigures:
    """What the verdicts are worth in labels."""
    why = worth.reason or "every judged pair has a human label"
    return taken_over(
        WorthFigures,
        worth,
        reasons={"per_verdict": why} if worth.per_verdict is None else {},
    )


@dataclass(frozen=True, repr=False)
class RunRates(Figures):
    """Every estimate of the win rate of B over A in a run, and what they rest on."""

    run: str
    aggregation: Annotated[str, "whose verdicts"]
    stratified: Annotated[EstimateFigures, "the win rate of B corrected within verdicts: the headline"]
    ppi: Annotated[EstimateFigures, "PPI++; refused while fewer than 5 labels differ from the commonest"]
    human_only: Annotated[EstimateFigures, "the human labels alone"]
    lee: Annotated[EstimateFigures, "Lee et al., two classes"]
    k_class: Annotated[EstimateFigures, "the same for three classes"]
    k_class_bootstrap: BootstrapFigures
    naive: Annotated[EstimateFigures, "the verdicts, uncorrected"]
    decided: Annotated[EstimateFigures, "corrected, among decided pairs; refused below 5 labels that decide"]
    verdicts: Annotated[GivenFigures, "the verdicts as they are"]
    people: Annotated[GivenFigures, "the labels that are used"]
    these_pairs: Annotated[
        EstimateFigures,
        "the headline where the rate of just these pairs is meant: labelled ones count as they are; known where all "
        "are labelled",
    ]
    stratified_these_pairs: Annotated[Interval | None, "its interval"]
    length_adjusted: LengthAdjustedFigures
    pairs: RatePairs
    chosen: Annotated[Chosen, "how the labels count: random, within-verdict, targeted, imported"]
    chosen_assumed: Annotated[bool, "nobody said how the labels were chosen"]
    labels: Annotated[SampleFigures, "which labels are used"]
    classes: Annotated[tuple[Verdict, ...], "verdicts that occur"]
    strata: tuple[StratumFigures, ...]
    worth: WorthFigures
    reasons: Reasons
    notes: tuple[str, ...]
    anytime: Annotated[RunAnytime | None, ASKED, "intervals that are valid at any time (`--anytime`)"]

    @property
    def estimates(self) -> Mapping[Method, EstimateFigures]:
        """The estimates by method, the headline first."""
        return {
            "stratified": self.stratified,
            "ppi": self.ppi,
            "human_only": self.human_only,
            "lee": self.lee,
            "k_class": self.k_class,
            "naive": self.naive,
        }


def run_rates(
    frame: RunFrame,
    aggregation: str,
    chosen: Chosen | None = None,
    *,
    used: NDArray[np.bool_] | None = None,
    anytime: bool = False,
    seed: int = 0,
) -> RunRates:
    """Every estimate of the win rate of B over A in a run; the arguments are those of :func:`corrected_rates`. With
    ``anytime`` intervals that are valid at any time, too.

    :raises KeyError: the run has no such aggregation.
    """
    corrected = corrected_rates(frame, aggregation, chosen, used=used, seed=seed)
    sample, counts = corrected.sample, corrected.counts
    these = corrected.stratified.these_pairs
    notes = [*_notes(frame, sample, assumed=corrected.assumed), *chosen_pairs_notes(frame)]
    learned = run_learned_notes(frame) if aggregation == LEARNED else ()
    return RunRates(
        run=frame.run.id,
        aggregation=aggregation,
        **{method: estimate_figures(estimate) for method, estimate in corrected.estimates.items()},
        k_class_bootstrap=_bootstrap(corrected, sample, seed),
        decided=estimate_figures(corrected.decided),
        verdicts=given_figures(counts[:, 1:].sum(axis=2), seed),
        people=given_figures(counts[:, 1:, 1:].sum(axis=1), seed),
        these_pairs=estimate_figures(these),
        stratified_these_pairs=these.interval,
        length_adjusted=_length(corrected.length_adjusted),
        pairs=RatePairs(
            total=len(frame),
            judged=corrected.judged,
            not_judged=len(frame) - corrected.judged,
            labelled=corrected.labelled,
            labelled_not_judged=sample.left_out.get("no verdict", 0),
        ),
        chosen=corrected.chosen,
        chosen_assumed=corrected.assumed,
        labels=sample_figures(sample),
        classes=corrected.classes,
        strata=tuple(
            StratumFigures(part.verdict, part.share, part.n, part.labels, part.mean, part.sd)
            for part in corrected.stratified.strata
        ),
        worth=worth_figures(corrected.worth),
        reasons={"stratified_these_pairs": these.reason} if these.interval is None else {},
        notes=(*notes, *learned, *_people_note(frame, aggregation)),
        anytime=run_anytime(frame, (aggregation,), chosen, used) if anytime else None,
    )


def _bootstrap(estimates: Rates, sample: Sample, seed: int) -> BootstrapFigures:
    """The K-class interval by resampling pairs, beside that of the delta method, where the estimate is shown."""
    shown = estimates.estimates["k_class"]
    if shown.value is None:
        return BootstrapFigures(None, None, None, None, shown.reason)
    spread = k_class_bootstrap(sample.labelled, sample.others, seed=seed)
    return BootstrapFigures(spread.refused, spread.interval, spread.resamples, spread.seed, spread.reason or None)


def _length(adjusted: LengthAdjusted) -> LengthAdjustedFigures:
    return taken_over(
        LengthAdjustedFigures,
        adjusted,
        reasons={"slope": adjusted.reason or "all responses differ equally in length"}
        if adjusted.slope is None
        else {},
        labels=0,
        notes=("uncorrected; where longer answers are truly better, this takes away real quality",),
    )


def _notes(frame: RunFrame, sample: Sample, *, assumed: bool) -> list[str]:
    notes = ["the truth is what these people say: their own errors are not corrected"]
    if assumed:
        notes.append(
            "the labels came with the data: they do not count as chosen at random. Where they were, say so with "
            "--chosen random, or once for this store with: judgenet labels RUN --file-labels random"
        )
    if left := left_words(sample.left_out):
        notes.append(f"labelled pairs that are left out: {left}")
    if sample.population is not None and sample.population < len(frame):
        notes.append(
            f"labels were drawn from {plural(sample.population, 'pair')}, the run has {len(frame):,}: "
            "they stand for the other pairs only if those are like these"
        )
    questions = frame.question_count
    if questions < len(frame):
        notes.append(f"the {len(frame):,} pairs hold {questions:,} different questions: intervals are over questions")
    return notes


def _people_note(frame: RunFrame, aggregation: str) -> tuple[str, ...]:
    """That an abstention has no part in a rate of the accepted verdicts."""
    left = int(frame.for_people.sum()) if aggregation == ACCEPTED else 0
    if not left:
        return ()
    return (
        f"{plural(left, 'pair')} of {len(frame):,} are for people: their verdict is not sure enough to be accepted, "
        "and has no part in this rate",
    )
