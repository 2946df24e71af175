"""How many calls of a run were scored by token probabilities, and what that changes beside sampled text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from judgenet.core.network import asks_probabilities
from judgenet.core.probabilities import PROBABILITIES, SCORE_SOURCE_WORDS
from judgenet.core.wording import of, percent, plural
from judgenet.figures.base import Keys
from judgenet.figures.parts import AgreementFigures, MeanFigures, agreement_figures, mean_figures
from judgenet.figures.trust import agreements
from judgenet.stats.curves import Floats
from judgenet.stats.means import mean_of
from judgenet.stats.soft_votes import brier, sharpness
from judgenet.stats.verdicts import verdict_table
from judgenet.store.frame import RunFrame
from judgenet.store.likely import sampled_call_scores, score_sources

_NO_LABEL = "no pair has both a human label and a distribution"


SHARPNESS_BINS = ("below_50", "from_50_to_70", "from_70_to_90", "from_90")
"""The bins of :func:`judgenet.stats.soft_votes.sharpness`."""


@dataclass(frozen=True)
class SharpnessFigures:
    """How sharp the distributions of calls over A, tie and B are."""

    calls: Annotated[int, "calls with a distribution"]
    by_largest: Annotated[
        Mapping[str, int],
        Keys(("BIN",)),
        "of them by the largest of the three probabilities, in percent: `below_50`, `from_50_to_70`, `from_70_to_90`, "
        "`from_90`",
    ]
    entropy: Annotated[float | None, "mean entropy over ln 3: 0 where all are certain, 1 where all are even"]
    largest: Annotated[float | None, "mean of the largest probability"]
    reason: str | None


@dataclass(frozen=True)
class ProbabilityFigures:
    """How many calls of a run were scored by token probabilities, and what that changes."""

    calls: Annotated[int, "scored calls that were to be scored by token probabilities"]
    used: Annotated[int, "of these, calls whose scores are expected scores"]
    by_text: Annotated[
        Mapping[str, int],
        Keys(("WHY",)),
        "the others, which have the scores of their text, by reason: `not_applied` (the endpoint gives none), "
        "`not_sent` (the answer came without), `not_found` (the scores have no tokens of their own), `not_seen` (too "
        "little of the probability was on the scale)",
    ]
    sharpness: Annotated[
        Mapping[str, SharpnessFigures], Keys(("NAME",)), "of `all` calls, and of those of each layer: `l1`, `l2` …"
    ]
    sampled: Annotated[
        Mapping[str, AgreementFigures],
        Keys(("NAME",)),
        "`c1`, `c2_l1` … against people by the scores that the texts of the same calls give",
    ]
    brier: Annotated[MeanFigures, "Brier score (0 best, 2 worst) of the neurons' mean distribution against people"]
    brier_sampled: Annotated[MeanFigures, "the same of the shares of neurons by the scores of their texts"]
    brier_difference: Annotated[MeanFigures, "`brier` less `brier_sampled`, on the same pairs"]

    @property
    def line(self) -> str:
        """For how many calls token probabilities were used, and why not for the others."""
        whole = f"Expected scores from token probabilities in {of(self.used, self.calls)} calls"
        counts = ((self.by_text.get(source, 0), words) for source, words in SCORE_SOURCE_WORDS.items())
        whys = [f"{count:,} {words}" for count, words in counts if count]
        return f"{whole}; {'; '.join(whys)}" if whys else whole

    @property
    def sharpness_line(self) -> str:
        """How sharp the distributions of all calls are, in a sentence."""
        of_all = self.sharpness["all"]
        if of_all.entropy is None or of_all.largest is None:
            return f"Sharpness: n/a – {of_all.reason}."
        bins = zip(SHARPNESS_BINS, ("below 50 %", "50 to 70 %", "70 to 90 %", "90 % or more"), strict=True)
        counts = ", ".join(f"{words} {of_all.by_largest[key]:,}" for key, words in bins)
        return (
            f"The largest probability of A, tie and B is {percent(of_all.largest)} on average over "
            f"{plural(of_all.calls, 'call')} ({counts}). Mean entropy: {of_all.entropy:.2f} (0 certain, 1 even)."
        )


def probability_figures(frame: RunFrame, seed: int = 0) -> ProbabilityFigures | None:
    """How many calls were scored by token probabilities, and what that changes; ``None`` for a run that was not to
    be."""
    if not asks_probabilities(frame.spec):
        return None
    sources = score_sources(frame)
    used = sources.pop(PROBABILITIES, 0)
    rules, scores = frame.spec.aggregation, sampled_call_scores(frame)
    names = ("c1", *(f"c2_l{layer}" for layer in range(1, frame.spec.depth + 1)), "c2_all")
    table = verdict_table(scores, names, rules)
    soft, sampled = frame.table.soft, table.soft
    assert soft is not None
    assert sampled is not None
    of_soft, of_sampled = brier(soft, frame.human), brier(sampled, frame.human)
    return ProbabilityFigures(
        calls=used + sources.total(),
        used=used,
        sharpness=_sharpness(frame),
        by_text={str(source): count for source, count in sources.most_common()},
        sampled={
            name: agreement_figures(*figures)
            for name, figures in agreements(frame.questions, frame.human, table.aggregations, seed=seed).items()
        },
        brier=_mean(of_soft, frame, (0.0, 2.0)),
        brier_sampled=_mean(of_sampled, frame, (0.0, 2.0)),
        brier_difference=_mean(of_soft - of_sampled, frame, (-2.0, 2.0)),
    )


def _sharpness(frame: RunFrame) -> dict[str, SharpnessFigures]:
    scores = frame.call_scores()
    assert scores.shares is not None
    layers = np.array([layer for layer, _ in scores.places], np.int64)
    parts = {"all": layers <= frame.spec.depth}
    parts |= {f"l{layer}": layers == layer for layer in range(1, frame.spec.depth + 1) if frame.spec.depth > 1}
    by_part = {}
    for name, neurons in parts.items():
        of_calls = sharpness(scores.shares[:, neurons])
        by_part[name] = SharpnessFigures(
            calls=of_calls.n,
            by_largest=dict(zip(SHARPNESS_BINS, of_calls.counts, strict=True)),
            entropy=of_calls.entropy,
            largest=of_calls.largest,
            reason=None if of_calls.n else "no call has a distribution",
        )
    return by_part


def _mean(values: Floats, frame: RunFrame, bounds: tuple[float, float]) -> MeanFigures:
    return mean_figures(mean_of(np.asarray(values, np.float64), _NO_LABEL, frame.groups, bounds))


def probability_notes(frame: RunFrame) -> tuple[str, ...]:
    """That a part of the scores is those of sampled text, where probabilities were asked for."""
    sources = score_sources(frame)
    total, used = sources.total(), sources.pop(PROBABILITIES, 0)
    if not sources:
        return ()
    whys = ", ".join(
        f"{count:,} {SCORE_SOURCE_WORDS[source].removeprefix('sampled text, ')}"
        for source, count in sources.most_common()
    )
    return (
        f"token probabilities were asked for and used in {of(used, total)} scored calls; the scores of the others are "
        f"those of the sampled text: {whys}",
    )
