"""Verdicts of a learned aggregation that were learned without the labels they are compared with.

A rule that was learned from labels of a run's own pairs is right on these more often than on others, so that agreement
and a win rate corrected with them would flatter it. On such pairs figures take the cross-fitted verdict instead: that
of a rule fitted, in the same way, to labelled pairs with other questions (statistics 5.9).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from judgenet.core.acceptance import ACCEPTED
from judgenet.core.learned import LEARNED, NOTHING_TAUGHT, Taught
from judgenet.core.network import Aggregation
from judgenet.core.pairs import Verdict
from judgenet.stats.curves import CODES
from judgenet.store.columns import DONE_PHASE, VERDICT_CODES
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.runs import RunInfo


def fair_frame(
    store: Store,
    run: RunInfo,
    rules: Aggregation | None = None,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
) -> RunFrame:
    """:meth:`RunFrame.read` for figures: with learned verdicts that may be compared with the labels."""
    frame = RunFrame.read(store, run, rules, on_progress)
    known = frame.taught = taught(frame)
    if known.verdicts:
        before = frame.for_people
        codes = frame.aggregations[LEARNED].copy()
        for index, verdict in known.verdicts.items():
            if frame.judged[index]:
                codes[index] = VERDICT_CODES[verdict]
        frame.aggregations[LEARNED] = codes
        rule = frame.spec.aggregation.acceptance
        if rule is not None and rule.aggregation == LEARNED:
            frame.aggregations[ACCEPTED] = np.where(before, 0, codes).astype(np.uint8)
    return frame


def taught(frame: RunFrame) -> Taught:
    """The pairs of a run that taught its learned aggregation."""
    rule = frame.spec.aggregation.learned
    if rule is None or not rule.labels:
        return NOTHING_TAUGHT
    places: list[int] = np.flatnonzero(frame.pairs.taught & (frame.human > 0)).tolist()
    if not places:
        return NOTHING_TAUGHT
    without: dict[int, Verdict | None] = dict.fromkeys(places)
    if len(places) < rule.labels:
        why = f"{rule.labels - len(places):,} others taught it too and are not labelled here"
        return Taught(without, f"{why}: the fit cannot be done again without each pair")
    # Loads scikit-learn and scipy: only where it is needed.
    from judgenet.stats.learning import LearningError, ising, logistic

    done = np.flatnonzero(frame.states >= DONE_PHASE)
    own = set(places)
    labels = [CODES[frame.human[index]] if index in own else None for index in done.tolist()]
    try:
        votes, questions = frame.votes[done], frame.questions[done].tolist()
        if rule.kind == "ising":
            fitted = ising(votes, labels, questions, seed=rule.seed)
        else:
            fitted = logistic(votes, labels, questions, nonnegative=rule.kind == "nonnegative", seed=rule.seed)
    except LearningError as error:
        return Taught(without, f"the fit cannot be done again without each pair ({str(error).rstrip('.')})")
    verdicts = dict(zip(done.tolist(), fitted.verdicts, strict=True))
    return Taught({index: verdicts.get(index) for index in places})
