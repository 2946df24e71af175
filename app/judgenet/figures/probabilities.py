"""How many calls of a run were scored by token probabilities, and what that changes beside sampled text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from judgenet.core.network import asks_probabilities
from judgenet.core.probabilities import PROBABILITIES, SCORE_SOURCE_WORDS
from judgenet.core.wording import of
from judgenet.figures.base import Keys
from judgenet.figures.parts import AgreementFigures, MeanFigures, agreement_figures, mean_figures
from judgenet.figures.trust import agreements
from judgenet.stats.curves import Floats
from judgenet.stats.means import mean_of
from judgenet.stats.soft_votes import brier
from judgenet.stats.verdicts import verdict_table
from judgenet.store.frame import RunFrame
from judgenet.store.likely import sampled_call_scores, score_sources

_NO_LABEL = "no pair has both a human label and a distribution"


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
        by_text={str(source): count for source, count in sources.most_common()},
        sampled={
            name: agreement_figures(*figures)
            for name, figures in agreements(frame.questions, frame.human, table.aggregations, seed=seed).items()
        },
        brier=_mean(of_soft, frame, (0.0, 2.0)),
        brier_sampled=_mean(of_sampled, frame, (0.0, 2.0)),
        brier_difference=_mean(of_soft - of_sampled, frame, (-2.0, 2.0)),
    )


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
