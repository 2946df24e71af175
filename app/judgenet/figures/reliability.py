"""Whether the probabilities that a run implies mean what they say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np

from judgenet.core.wording import p_value, percent, percent_interval, plural
from judgenet.figures.base import Figures, Keys, figures_of
from judgenet.figures.parts import MeanFigures, mean_figures
from judgenet.stats.curves import CODES, Floats
from judgenet.stats.intervals import Interval
from judgenet.stats.learning import LearningError, cross_fitted_scores
from judgenet.stats.reliability import BINS, Binning, Reliability, ReliabilityBin, no_reliability, reliability
from judgenet.store.frame import RunFrame

ProbabilitySource = Literal["votes", "scores", "learned"]

SOURCE_TITLES: Final[dict[ProbabilitySource, str]] = {
    "votes": "Share of calls",
    "scores": "Score difference, fitted",
    "learned": "Learned weights",
}
SOURCE_WORDS: Final[dict[ProbabilitySource, str]] = {
    "votes": "the share of a pair's valid calls that say B, ties half; nothing is fitted",
    "scores": "the mean score of B less that of A, through a logistic curve that is fitted to other questions' labels",
    "learned": "the logistic sum of the neurons' votes by weights (0 or more) fitted to other questions' labels",
}


@dataclass(frozen=True)
class ReliabilityBinFigures:
    """A bin of a reliability curve."""

    low: Annotated[float, "probabilities above this (in the first bin also this)"]
    high: Annotated[float, "up to this"]
    n: Annotated[int, "pairs of the bin"]
    predicted: Annotated[float, "their mean probability that B is better"]
    observed: Annotated[float, "the share of them where people prefer B"]
    ci: Annotated[Interval | None, "Wilson's; over questions where pairs share them"]
    reason: str | None


@figures_of.register(ReliabilityBin)
def reliability_bin_figures(reliability_bin: ReliabilityBin) -> ReliabilityBinFigures:
    """A bin of a reliability curve."""
    why = None if reliability_bin.interval is not None else "the pairs of the bin are of too few questions"
    return ReliabilityBinFigures(
        reliability_bin.low,
        reliability_bin.high,
        reliability_bin.n,
        reliability_bin.predicted,
        reliability_bin.observed,
        reliability_bin.interval,
        why,
    )


@dataclass(frozen=True)
class ReliabilityFigures:
    """How well calibrated probabilities are."""

    ece: Annotated[float | None, "expected calibration error: the mean distance of predicted and observed over pairs"]
    ece_ci: Annotated[
        Interval | None, "over questions, less the bias of the bootstrap; from 0 unless p is at most .025"
    ]
    ece_by_chance: Annotated[
        float | None, "the mean of calibrated probabilities in these bins: the bias of an ECE, which is never below 0"
    ]
    p: Annotated[
        float | None, "of an ECE as large, if the probabilities are calibrated (wild bootstrap over questions)"
    ]
    brier: Annotated[MeanFigures, "the mean squared distance of the probability from 0 or 1"]
    brier_base: Annotated[float | None, "that of always giving the share of B"]
    n: Annotated[int, "pairs with a probability and a label that is no tie"]
    n_total: Annotated[int, "all pairs"]
    n_ties: Annotated[int, "pairs left out because people call them a tie"]
    n_questions: int
    curve: tuple[ReliabilityBinFigures, ...]
    reason: str | None


@figures_of.register(Reliability)
def reliability_figures(measured: Reliability) -> ReliabilityFigures:
    """How well calibrated probabilities are."""
    return ReliabilityFigures(
        ece=measured.ece,
        ece_ci=measured.interval,
        ece_by_chance=measured.by_chance,
        p=measured.p,
        brier=mean_figures(measured.brier),
        brier_base=measured.brier_base,
        n=measured.n,
        n_total=measured.n_total,
        n_ties=measured.ties,
        n_questions=measured.questions,
        curve=tuple(reliability_bin_figures(measured_bin) for measured_bin in measured.bins),
        reason=measured.reason or None,
    )


@dataclass(frozen=True, repr=False)
class RunReliability(Figures):
    """The reliability of the probabilities that a run implies."""

    _rows = "sources"

    run: str
    bins: Annotated[int, "bins of the curve; those without a pair are left out"]
    binning: Annotated[Binning, "`uniform`: bins of equal width; `quantile`: of about equally many pairs"]
    seed: Annotated[int, "of the folds and of the resamples"]
    sources: Annotated[
        Mapping[str, ReliabilityFigures],
        Keys(("SOURCE",)),
        "where the probability that B is better comes from: `votes`, the share of a pair's valid calls that say B; "
        "`scores`, the score difference through a cross-fitted logistic curve; `learned`, the learned weights, "
        "cross-fitted",
    ]


def run_reliability(
    frame: RunFrame, bins: int = BINS, binning: Binning = "uniform", *, seed: int = 0
) -> RunReliability:
    """The reliability of each kind of probability of a run.

    :raises ValueError: there are fewer than 2 bins.
    """
    sources: dict[str, ReliabilityFigures] = {}
    for source in SOURCE_TITLES:
        values = _probabilities(frame, source, seed)
        if isinstance(values, str):
            sources[source] = reliability_figures(no_reliability(len(frame), values))
        else:
            sources[source] = reliability_figures(
                reliability(values, frame.human, frame.questions, bins=bins, binning=binning, seed=seed)
            )
    return RunReliability(frame.run.id, bins, binning, seed, sources)


def _probabilities(frame: RunFrame, source: ProbabilitySource, seed: int) -> Floats | str:
    """The probability that B is better of each pair (NaN where it has none), or why there are none."""
    if source == "votes":
        counts = frame.calls[frame.done].sum(axis=(1, 2), dtype=np.int64)
        calls = counts.sum(axis=1)
        probabilities: Floats = np.full(len(frame), np.nan)
        probabilities[frame.done[calls > 0]] = (counts[:, 2] + counts[:, 1] / 2)[calls > 0] / calls[calls > 0]
        return probabilities
    if source == "scores":
        mean_a, mean_b = frame.mean_scores()
        difference = mean_a - mean_b
        if np.isnan(difference).all():
            return "no call gave scores"
        spread = float(np.nanstd(difference))
        if not spread:
            return "all score differences are equal"
        return _cross_fitted(frame, (difference / spread)[:, None], seed)
    return _cross_fitted(frame, frame.votes, seed)


def _cross_fitted(frame: RunFrame, features: Floats, seed: int) -> Floats | str:
    done = frame.done
    labels = [CODES[code] for code in frame.human[done]]
    try:
        odds_of_a, _, _ = cross_fitted_scores(features[done], labels, frame.questions[done].tolist(), seed=seed)
    except LearningError as error:
        return str(error).rstrip(".")
    probabilities = np.full(len(frame), np.nan)
    probabilities[done] = 1 / (1 + np.exp(np.clip(odds_of_a, -500, 500)))
    return probabilities


def reliability_words(figures: ReliabilityFigures) -> str:
    """The calibration of a source in a sentence without its full stop."""
    if figures.ece is None:
        return f"n/a – {figures.reason}"
    text = (
        f"expected calibration error {percent(figures.ece)} {percent_interval(figures.ece_ci)}, on "
        f"{plural(figures.n, 'decided pair')} of {figures.n_total:,}"
    )
    if figures.p is not None and figures.ece_by_chance is not None:
        calibrated = f"calibrated ones would show {percent(figures.ece_by_chance)} by chance ({p_value(figures.p)})"
        text = f"{text}; {calibrated}"
    return text
