"""Figures that several answers share, made from the values of the statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from judgenet.core.labels import Chosen
from judgenet.core.pairs import Verdict
from judgenet.figures.base import Keys, figures_of, taken_over
from judgenet.stats.agreement import (
    Agreement,
    PositionConsistency,
    macro_precision,
    macro_recall,
    matthews,
)
from judgenet.stats.calibration import Estimate
from judgenet.stats.comparison import Difference
from judgenet.stats.curves import RightByOrder
from judgenet.stats.intervals import AgreementIntervals, Interval, WinRate, decided_win_rate, wilson
from judgenet.stats.length import LengthAdjusted
from judgenet.stats.means import Mean
from judgenet.stats.panel import kappa_interval
from judgenet.stats.planning import Need
from judgenet.stats.provenance import Sample
from judgenet.stats.ranking_overlap import Overlap
from judgenet.stats.uncertainty import Share
from judgenet.stats.whatif import Point

Reasons = dict[str, str]
"""Why a figure is undefined, by its key."""


# Agreement with people


@dataclass(frozen=True)
class AgreementFigures:
    """How verdicts agree with human labels, with 95 % intervals."""

    accuracy: Annotated[float | None, "share of pairs on which verdict and label are equal"]
    accuracy_ci: Annotated[Interval | None, "Wilson's, or over questions"]
    macro_f1: Annotated[float | None, "mean F1 over the classes in `labels`"]
    macro_f1_ci: Interval | None
    kappa: Annotated[float | None, "Cohen's, unweighted"]
    kappa_ci: Interval | None
    macro_precision: Annotated[
        float | None, "mean over the classes in `labels` of the share of a class's verdicts that people agree with"
    ]
    macro_recall: Annotated[float | None, "the same of the share of a class's human labels that the verdicts find"]
    mcc: Annotated[float | None, "Matthews' correlation over all classes"]
    n_used: Annotated[int, "pairs with label and verdict: the denominator"]
    n_total: Annotated[int, "all pairs"]
    n_questions: Annotated[int | None, "questions of the pairs used: the effective n where they are fewer"]
    n_unlabelled: Annotated[int, "pairs without a label"]
    n_unjudged: Annotated[int, "labelled pairs without a verdict"]
    labels: Annotated[tuple[Verdict, ...], "the classes that occur, which macro-F1 averages"]
    confusion: Annotated[
        tuple[tuple[int, ...], ...], "pairs by human label (rows) and verdict (columns), in the order a, b, tie"
    ]
    majority_baseline: Annotated[float | None, "share of the commonest human label: what a constant answer reaches"]
    reasons: Reasons
    resamples: int
    seed: int
    few: Annotated[bool, "below 20 pairs, or 30 questions where these repeat: intervals are rough"]


def agreement_figures(agreement: Agreement, within: AgreementIntervals) -> AgreementFigures:
    """Agreement with people and its intervals."""
    correlation = matthews(agreement)
    reasons = dict(agreement.reasons) | {f"{figure}_ci": reason for figure, reason in within.reasons.items()}
    if within.questions is None:
        reasons["n_questions"] = agreement.reasons.get("accuracy", "not counted")
    if not agreement.n_used:
        reasons |= dict.fromkeys(("macro_precision", "macro_recall"), agreement.reasons["accuracy"])
    if correlation is None:
        reasons["mcc"] = agreement.reasons.get("accuracy", "people or network gave one class only")
    return taken_over(
        AgreementFigures,
        agreement,
        accuracy_ci=within.accuracy,
        macro_f1_ci=within.macro_f1,
        kappa_ci=within.kappa,
        macro_precision=macro_precision(agreement),
        macro_recall=macro_recall(agreement),
        mcc=correlation,
        n_questions=within.questions,
        reasons=reasons,
        resamples=within.resamples,
        seed=within.seed,
        few=within.few,
    )


@dataclass(frozen=True)
class ShortFigures:
    """Agreement of few words: accuracy and kappa alone."""

    accuracy: float | None
    accuracy_ci: Annotated[Interval | None, "Wilson's; of people none where questions repeat"]
    kappa: float | None
    kappa_ci: Annotated[Interval | None, "asymptotic (Fleiss, Cohen and Everitt 1969)"]
    n: int
    reasons: Reasons


def short_figures(agreement: Agreement, *, repeated: bool) -> ShortFigures:
    """Accuracy with Wilson's interval, kappa with its asymptotic one; neither where questions are ``repeated``, since
    both are over pairs."""
    hits = sum(agreement.confusion[place][place] for place in range(len(agreement.confusion)))
    within, asymptotic = wilson(hits, agreement.n_used), kappa_interval(agreement)
    reasons = {name: why for name, why in agreement.reasons.items() if name in ("accuracy", "kappa")}
    if asymptotic is None:
        reasons["kappa_ci"] = reasons.get("kappa", "the verdicts do not vary enough for an interval")
    if "accuracy" in reasons:
        reasons["accuracy_ci"] = reasons["accuracy"]
    elif repeated:
        within = asymptotic = None
        reasons |= dict.fromkeys(("accuracy_ci", "kappa_ci"), "questions repeat: an interval over pairs is too narrow")
    return ShortFigures(
        accuracy=agreement.accuracy,
        accuracy_ci=within,
        kappa=agreement.kappa,
        kappa_ci=None if asymptotic is None else asymptotic[1],
        n=agreement.n_used,
        reasons=reasons,
    )


@dataclass(frozen=True)
class OrdersFigures:
    """Verdicts in both orders."""

    first_first: Annotated[int, "pairs on which the response shown first won in both orders (primacy)"]
    last_last: Annotated[int, "the one shown last (recency)"]
    partial: Annotated[int, "a tie in exactly one order"]
    valid_both: Annotated[int, "pairs with a verdict in both orders: the denominator"]
    n_total: int
    consistent: Annotated[float | None, "share with equal verdicts"]
    flip_rate: Annotated[float | None, "the others: FairEval's conflict rate"]
    net: Annotated[float | None, "(primacy - recency) / valid_both"]
    p: Annotated[float | None, "exact sign test of the two, over pairs"]
    questions_p: Annotated[float | None, "the same over questions, where pairs share them: the one to read then"]
    reason: str | None
    reasons: Reasons


NO_REPEATS = "every question has one pair, so that p is over questions already"


@figures_of.register(PositionConsistency)
def orders_figures(consistency: PositionConsistency) -> OrdersFigures:
    """Verdicts in both orders."""
    return taken_over(
        OrdersFigures,
        consistency,
        first_first=consistency.primacy,
        last_last=consistency.recency,
        valid_both=consistency.n,
        reasons={"questions_p": consistency.reason or NO_REPEATS} if consistency.questions_p is None else {},
    )


@dataclass(frozen=True)
class PositionFigures(OrdersFigures):
    """Verdicts in both orders with the interval of the flip rate, and each order against people."""

    flip_rate_ci: Annotated[Interval | None, "Wilson's, or over questions"]
    right_ab: Annotated[int, "pairs on which the verdict with A shown first equals the human label"]
    n_ab: Annotated[int, "of so many with a label and a verdict in that order"]
    right_ba: Annotated[int, "the same with B shown first"]
    n_ba: int
    right_both: Annotated[
        int, "pairs on which both verdicts equal the label: over the labelled pairs Auto-J's agreement"
    ]
    n_both: Annotated[int, "of so many with a label and both verdicts"]


def position_figures(consistency: PositionConsistency, flips: Share, right: RightByOrder) -> PositionFigures:
    """Verdicts in both orders with the interval of the flip rate, and each order against people."""
    orders = vars(orders_figures(consistency))
    return PositionFigures(
        **orders | {"reason": consistency.reason or flips.reason or None},
        flip_rate_ci=flips.interval,
        right_ab=right.right_ab,
        n_ab=right.n_ab,
        right_ba=right.right_ba,
        n_ba=right.n_ba,
        right_both=right.right_both,
        n_both=right.n_both,
    )


@dataclass(frozen=True)
class MeanFigures:
    """A mean over pairs."""

    value: Annotated[float | None, "a mean over pairs"]
    ci: Interval | None
    n: Annotated[int, "pairs that it is over"]
    reason: str | None


@figures_of.register(Mean)
def mean_figures(mean: Mean) -> MeanFigures:
    """A mean over pairs with its interval."""
    return MeanFigures(mean.value, mean.interval, mean.n, mean.reason or None)


# Win rates


@dataclass(frozen=True)
class EstimateFigures:
    """An estimate of a win rate. Too few questions leave ``value`` and take ``ci`` alone."""

    value: float | None
    ci: Interval | None
    n: Annotated[int, "pairs that it rests on"]
    labels: Annotated[int, "labels that it rests on"]
    n_questions: Annotated[int | None, "questions of these pairs: the effective n where they are fewer"]
    reason: Annotated[str | None, "why it is refused"]
    notes: tuple[str, ...]


@figures_of.register(Estimate)
def estimate_figures(estimate: Estimate) -> EstimateFigures:
    """An estimate of a win rate with what it rests on."""
    return taken_over(
        EstimateFigures,
        estimate,
        n_questions=estimate.questions,
    )


@dataclass(frozen=True)
class DecidedFigures:
    """The verdicts that decide for one of the two responses."""

    value: Annotated[float | None, "win rate of B among those that decide"]
    ci: Annotated[Interval | None, "Wilson's, or over questions"]
    n: int
    n_questions: int | None
    p: Annotated[float | None, "exact sign test, over pairs"]
    questions_p: Annotated[float | None, "the same over questions, where pairs share them: the one to read then"]
    reason: str | None
    reasons: Reasons


@dataclass(frozen=True)
class GivenFigures:
    """How often A, tie and B were given."""

    a: int
    b: int
    tie: int
    n: int
    tie_share: float | None
    reason: str | None
    decided: DecidedFigures


def given_figures(by_question: NDArray[np.float64], seed: int = 0) -> GivenFigures:
    """How often A, tie and B were given, from counts by question (questions, 3); the share of ties, and the win rate of
    B among the decided, uncorrected: Wilson's interval and the exact sign test, over questions where these repeat."""
    a, tie, b = (int(count) for count in by_question.sum(axis=0))
    n = a + tie + b
    rate = decided_win_rate(a, b, by_question[:, [0, 2]], seed=seed)
    decided = DecidedFigures(
        value=rate.value,
        ci=rate.interval,
        n=rate.n,
        n_questions=rate.questions,
        p=rate.p,
        questions_p=rate.questions_p,
        reason=rate.reason or None,
        reasons={"questions_p": NO_REPEATS} if rate.n and rate.questions_p is None else {},
    )
    return GivenFigures(a, b, tie, n, tie / n if n else None, None if n else "there is none", decided)


@dataclass(frozen=True)
class WinRateFigures:
    """The win rate of B by verdicts as they are, ties counting half."""

    value: float | None
    ci: Interval | None
    a: int
    b: int
    tie: int
    n: int
    reason: str | None


@figures_of.register(WinRate)
def win_rate_figures(win_rate: WinRate) -> WinRateFigures:
    """A win rate of verdicts as they are."""
    why = None if win_rate.n else "there is no verdict"
    return WinRateFigures(win_rate.value, win_rate.interval, win_rate.a, win_rate.b, win_rate.tie, win_rate.n, why)


@dataclass(frozen=True)
class LengthFigures:
    """The win rate where both responses are equally long."""

    value: Annotated[float | None, "win rate at equal length"]
    ci: Interval | None
    n: int
    slope: Annotated[float | None, "log odds per unit of tanh(difference of lengths / its standard deviation)"]
    reason: str | None
    reasons: Reasons


@figures_of.register(LengthAdjusted)
def length_figures(adjusted: LengthAdjusted) -> LengthFigures:
    """A win rate at equal length."""
    reasons = (
        {"slope": "all responses differ equally in length"} if adjusted.slope is None and not adjusted.reason else {}
    )
    return LengthFigures(
        adjusted.value, adjusted.interval, adjusted.n, adjusted.slope, adjusted.reason or None, reasons
    )


@dataclass(frozen=True)
class SampleFigures:
    """Which human labels an estimate rests on."""

    chosen: Annotated[Chosen, "how the labels count"]
    why: Annotated[str, "for what reason"]
    used: Annotated[Mapping[str, int], Keys(("CHOSEN",)), "labels used, by how they were chosen"]
    n_used: int
    left_out: Annotated[Mapping[str, int], Keys(("WHY",)), "labelled pairs that are not used, by reason"]
    n_left_out: int
    drawn_from: Annotated[int | None, "smallest number of pairs from which a label was drawn"]
    reasons: Reasons


@figures_of.register(Sample)
def sample_figures(sample: Sample) -> SampleFigures:
    """Which labels were used and which not: counts of pairs by how they were chosen, and by reason."""
    return SampleFigures(
        chosen=sample.chosen,
        why=sample.why,
        used={str(name): count for name, count in sample.used.items()},
        n_used=sample.labelled.total(),
        left_out={str(name): count for name, count in sample.left_out.items()},
        n_left_out=sum(sample.left_out.values()),
        drawn_from=sample.population,
        reasons={} if sample.population else {"drawn_from": "it is not kept from how many pairs they were drawn"},
    )


@dataclass(frozen=True)
class NeedFigures:
    """How many labels a method needs."""

    needed: Annotated[int | None, "by the formula"]
    labels: Annotated[int | None, "as advised"]
    floor: Annotated[float, "the narrowest width that labels can reach"]
    reason: str | None


@figures_of.register(Need)
def need_figures(need: Need) -> NeedFigures:
    """A number of labels: ``needed`` by the formula, ``labels`` as advised."""
    return NeedFigures(need.needed, need.labels, need.floor, need.reason or None)


# Two networks, and sizes


@dataclass(frozen=True)
class DifferenceFigures:
    """A figure of two networks, and the first less the second."""

    first: float | None
    second: float | None
    difference: Annotated[float | None, "first less second"]
    ci: Interval | None
    n: int
    n_questions: int | None
    reason: str | None
    note: Annotated[str, "few questions, or that the difference is known"]


@figures_of.register(Difference)
def difference_figures(difference: Difference) -> DifferenceFigures:
    """A difference with its interval and what it rests on."""
    return taken_over(
        DifferenceFigures,
        difference,
        n_questions=difference.questions,
    )


@dataclass(frozen=True)
class PointFigures:
    """A size of network."""

    depth: Annotated[int, "layers"]
    width: Annotated[int, "neurons kept of the last of them"]
    of_width: Annotated[int, "of so many"]
    neurons: Annotated[int, "in all"]
    orders: tuple[str, ...]
    samples: int
    calls_per_pair: float
    subsets: Annotated[int, "choices of neurons averaged"]
    all_subsets: Annotated[bool, "all there are"]
    accuracy: float
    accuracy_ci: Interval | None
    lowest: Annotated[float, "of single choices"]
    highest: float
    n_used: float
    difference: Annotated[float, "to the whole network, on the same pairs"]
    difference_ci: Interval | None


@figures_of.register(Point)
def point_figures(point: Point) -> PointFigures:
    """The accuracy of the sub-networks of one size."""
    return taken_over(
        PointFigures,
        point,
        calls_per_pair=point.calls,
        all_subsets=point.every,
        accuracy_ci=point.interval,
        difference_ci=point.difference_interval,
    )


@dataclass(frozen=True)
class OverlapFigures:
    """How alike two raters rank systems (rank-biased overlap), over questions."""

    value: Annotated[float | None, "mean over instructions"]
    sd: Annotated[float | None, "over instructions"]
    questions: Annotated[int, "instructions that both ranked"]
    total: Annotated[int, "that either of them ranked"]
    reason: str | None
    reasons: Reasons


@figures_of.register(Overlap)
def overlap_figures(overlap: Overlap) -> OverlapFigures:
    """The overlap of two raters."""
    reasons = {} if overlap.sd is not None else {"sd": overlap.reason or "fewer than two instructions"}
    return OverlapFigures(overlap.value, overlap.sd, overlap.questions, overlap.total, overlap.reason or None, reasons)
