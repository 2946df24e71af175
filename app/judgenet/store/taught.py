"""Verdicts of a learned aggregation that do not know the labels they are held against.

A rule that was learned from labels of a run's own pairs is right on these more often than on others, so that agreement
and a win rate corrected with them would flatter it. On such pairs figures take the cross-fitted verdict instead: that
of a rule fitted, in the same way, to labelled pairs with other questions (statistics 5.9).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from judgenet.core.aggregate import PairVerdicts
from judgenet.core.learned import LEARNED, taught_by
from judgenet.core.network import Aggregation
from judgenet.core.pairs import Verdict, question_key
from judgenet.stats.curves import CODES
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.results import PairResult, network_of, pair_results
from judgenet.store.runs import RunInfo, run_pairs
from judgenet.store.votes import neuron_votes


@dataclass(frozen=True, slots=True)
class Taught:
    """The pairs of a run, by index, whose labels taught its learned aggregation.

    ``verdicts`` are the cross-fitted ones. Where not all of the labels that taught it are here, its fit cannot be done
    again without a pair: then these pairs have no verdict that could be held against their labels, ``None``, and
    ``reason`` says so. Both are empty where nothing was taught by these pairs.
    """

    verdicts: Mapping[int, Verdict | None] = field(default_factory=dict)
    reason: str = ""

    def fair(self, index: int, found: PairVerdicts | None) -> PairVerdicts | None:
        """The verdicts of a pair with a learned one that its label did not teach."""
        if found is None or index not in self.verdicts:
            return found
        return replace(found, learned=self.verdicts[index])

    def words(self, labelled: int) -> str:
        """What to say beside figures of the learned aggregation; empty where it was learned elsewhere."""
        if not self.verdicts:
            return ""
        of = f"{len(self.verdicts):,} of the {labelled:,} labelled pairs taught the learned aggregation"
        if self.reason:
            return f"{of}: its figures leave them out, as {self.reason}"
        return f"{of}: on these its figures take the cross-fitted verdicts, for which no pair helps to judge itself"


NOTHING_TAUGHT = Taught()


def taught(store: Store, run: RunInfo, rules: Aggregation | None = None) -> Taught:
    """The pairs of a run that taught its learned aggregation, or the one of other ``rules``."""
    rule = (rules or network_of(run).aggregation).learned
    if rule is None or not rule.labels:
        return NOTHING_TAUGHT
    labelled = [of for of in run_pairs(store, run) if of.pair.human is not None]
    known = taught_by(rule, [of.pair for of in labelled])
    teachers = [of for of, own in zip(labelled, known, strict=True) if own]
    if not teachers:
        return NOTHING_TAUGHT
    without: dict[int, Verdict | None] = {of.index: None for of in teachers}
    if len(teachers) < rule.labels:
        why = f"{rule.labels - len(teachers):,} others taught it too and are not labelled here"
        return Taught(without, f"{why}: the fit cannot be done again without each pair")
    # Loads scikit-learn and scipy: only where it is needed.
    from judgenet.stats.learning import LearningError, logistic

    votes = neuron_votes(store, run)
    mine = {of.index for of in teachers}
    places = {index: place for place, index in enumerate(votes.indexes)}
    labels = [pair.human if index in mine else None for index, pair in zip(votes.indexes, votes.pairs, strict=True)]
    groups = [question_key(pair.question) for pair in votes.pairs]
    try:
        fitted = logistic(votes.votes, labels, groups, nonnegative=rule.kind == "nonnegative", seed=rule.seed)
    except LearningError as error:
        return Taught(without, f"the fit cannot be done again without each pair ({str(error).rstrip('.')})")
    return Taught({index: fitted.verdicts[places[index]] if index in places else None for index in mine})


def fair_results(store: Store, run: RunInfo) -> Iterator[PairResult]:
    """:func:`judgenet.store.results.pair_results` with learned verdicts that may be held against the labels."""
    return _fairly(taught(store, run), pair_results(store, run))


def fair_frame(store: Store, frame: RunFrame) -> RunFrame:
    """A run in memory with learned verdicts that may be held against the labels."""
    known = taught(store, frame.run, frame.spec.aggregation)
    if not known.verdicts or LEARNED not in frame.aggregations:
        return frame
    codes = frame.aggregations[LEARNED].copy()
    for index, verdict in known.verdicts.items():
        if frame.judged[index]:
            codes[index] = CODES.index(verdict)
    found = copy.copy(frame)
    found.aggregations = {**frame.aggregations, LEARNED: codes}
    return found


def _fairly(known: Taught, results: Iterable[PairResult]) -> Iterator[PairResult]:
    for result in results:
        yield replace(result, verdicts=known.fair(result.pair.index, result.verdicts)) if known.verdicts else result
