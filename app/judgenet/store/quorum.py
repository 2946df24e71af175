"""Pairs without a verdict because too few neurons have a valid answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judgenet.core.aggregate import aggregate
from judgenet.core.network import asks_probabilities
from judgenet.store.columns import DONE_PHASE
from judgenet.store.frame import RunFrame


def without_quorum(frame: RunFrame, name: str) -> NDArray[np.bool_]:
    """By pair, whether it is finished and an aggregation has no verdict for want of a quorum."""
    missing = frame.table.no_quorum.get(name)
    return np.zeros(len(frame), np.bool_) if missing is None else missing


def quorum_words(frame: RunFrame) -> list[str | None]:
    """By pair, the aggregations that lack a quorum, joined by blanks; ``None`` where none does."""
    missing = {name: without_quorum(frame, name).tolist() for name in frame.aggregations}
    return [
        " ".join(name for name, lacking in missing.items() if lacking[place]) or None for place in range(len(frame))
    ]


def lacks_quorum(frame: RunFrame, name: str, index: int) -> bool:
    """:func:`without_quorum` of one pair, without a look at the others."""
    rules = frame.spec.aggregation
    if rules.quorum is None or frame.states[index] < DONE_PHASE or frame.aggregations[name][index]:
        return False
    stop = frame.stop(index)
    early = frame.spec.chair is not None and stop is not None
    aggregated = aggregate(
        frame.opinions(index),
        frame.spec.depth,
        rules,
        last_asked=None if stop is None else stop.layer,
        chair_left_out=early,
        soft=asks_probabilities(frame.spec),
    )
    return name in aggregated.no_quorum
