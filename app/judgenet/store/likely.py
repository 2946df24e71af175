"""What a run that was scored by token probabilities says by the scores of its texts, for comparison."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from judgenet.core.evaluation import ScoreSource
from judgenet.core.network import asks_probabilities
from judgenet.core.pairs import ORDERS
from judgenet.stats.verdicts import CallScores
from judgenet.store.columns import SCORED_PHASE, SOURCES
from judgenet.store.frame import RunFrame


def score_sources(frame: RunFrame) -> Counter[ScoreSource]:
    """Where the scores of the scored calls come from that were to be scored by token probabilities."""
    sources: Counter[ScoreSource] = Counter()
    if asks_probabilities(frame.spec):
        for column in list(frame.columns.values()):
            if column.likely is not None:
                codes = column.likely.source[column.phase == SCORED_PHASE]
                counts = np.bincount(codes, minlength=len(SOURCES)).tolist()
                sources.update(
                    {source: count for source, count in zip(SOURCES, counts, strict=True) if source and count}
                )
    return sources


def sampled_call_scores(frame: RunFrame) -> CallScores:
    """The calls of the finished pairs with the scores that their texts give, in place of expected ones."""
    scores = frame.call_scores()
    difference, at = scores.difference.copy(), {place: column for column, place in enumerate(scores.places)}
    for (layer, neuron, order, sample), column in list(frame.columns.items()):
        if column.likely is not None and order is not None and (layer, neuron) in at:
            site = (slice(None), at[layer, neuron], ORDERS.index(order), sample - 1)
            sampled = column.likely.sampled[:, 0] - column.likely.sampled[:, 1]
            known = ~np.isnan(sampled) & ~np.isnan(difference[site])
            difference[site] = np.where(known, sampled, difference[site])
    return replace(scores, difference=difference, shares=np.full((*difference.shape, 3), np.nan))
