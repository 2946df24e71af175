"""The criteria of a run's pairs, and how the neurons of each criterion agree with people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

import numpy as np

from judgenet.core.wording import of
from judgenet.figures.base import Keys
from judgenet.figures.parts import AgreementFigures, agreement_figures
from judgenet.figures.trust import agreements
from judgenet.store.frame import RunFrame

FEWEST_PAIRS: Final = 2
"""A criterion that fewer pairs have gets no figures of its own."""


@dataclass(frozen=True)
class CriterionFigures:
    """The neurons that judged by one criterion, identified by its name, on all pairs that have it."""

    pairs: Annotated[int, "pairs that have the criterion"]
    agreement: Annotated[AgreementFigures, "the verdict of its neurons, all their calls merged, against people"]


@dataclass(frozen=True)
class CriteriaFigures:
    """The criteria of a run's pairs."""

    pairs: Annotated[int, "pairs with criteria"]
    pairs_total: Annotated[int, "pairs of the run"]
    weighted: Annotated[int, "pairs whose criteria have weights that differ"]
    fewest: Annotated[int, "criteria of the pair that has the fewest, of those with some"]
    most: Annotated[int, "criteria of the pair that has the most"]
    neurons: Annotated[bool, "each criterion is a neuron; else every neuron was shown all of them"]
    by_name: Annotated[
        Mapping[str, CriterionFigures],
        Keys(("CRITERION",)),
        "where criteria are the neurons: those that two pairs or more have",
    ]
    on_one_pair: Annotated[int, "criteria that one pair alone has, where criteria are the neurons"]


class CriteriaCounts(NamedTuple):
    """``pairs`` of ``total`` have criteria, from ``fewest`` to ``most`` each; those of ``weighted`` pairs have weights
    that differ."""

    pairs: int
    total: int
    weighted: int
    fewest: int
    most: int

    @property
    def words(self) -> str:
        """``38 of 40 pairs have criteria, 2 to 5 each, 30 of them with weights that differ``; empty without any."""
        if not self.pairs:
            return ""
        each = f"{self.fewest:,}" if self.fewest == self.most else f"{self.fewest:,} to {self.most:,}"
        weighted = f", {self.weighted:,} of them with weights that differ" if self.weighted else ""
        return f"{of(self.pairs, self.total)} pairs have criteria, {each} each{weighted}"


def counted_criteria(frame: RunFrame) -> CriteriaCounts:
    """How many pairs of a run have criteria."""
    counts = frame.pairs.criteria_counts
    there = counts[counts > 0]
    differ = np.array([len(set(weights)) > 1 for weights in frame.pairs.criteria_weights])[frame.pairs.criteria]
    least = int(there.min()) if len(there) else 0
    return CriteriaCounts(len(there), len(frame), int(differ.sum()), least, int(counts.max(initial=0)))


def criteria_figures(frame: RunFrame, *, seed: int = 0) -> CriteriaFigures | None:
    """The criteria of a run; ``None`` where no pair has any."""
    counted = counted_criteria(frame)
    if not counted.pairs:
        return None
    by_criteria = frame.spec.roles.kind == "criteria"
    named = frame.role_verdicts() if by_criteria else {}
    by_name = {}
    for verdicts in sorted(named.values(), key=lambda verdicts: (-len(verdicts.pairs), verdicts.name)):
        if len(verdicts.pairs) < FEWEST_PAIRS:
            continue
        questions = np.unique(frame.questions[verdicts.pairs], return_inverse=True)[1]
        said = {verdicts.name: verdicts.codes}
        agreement = agreements(questions, frame.human[verdicts.pairs], said, seed=seed)[verdicts.name]
        by_name[verdicts.name] = CriterionFigures(len(verdicts.pairs), agreement_figures(*agreement))
    return CriteriaFigures(
        pairs=counted.pairs,
        pairs_total=counted.total,
        weighted=counted.weighted,
        fewest=counted.fewest,
        most=counted.most,
        neurons=by_criteria,
        by_name=by_name,
        on_one_pair=len(named) - len(by_name),
    )
