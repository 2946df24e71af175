"""Two runs on the pairs that both judged, from what each said of them and from what people said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.core.labels import Chosen, People
from judgenet.core.pairs import Verdict
from judgenet.stats.comparison import Comparison, Difference, compare, rate_difference
from judgenet.stats.curves import verdict_codes
from judgenet.stats.provenance import LabelTally, Sample
from judgenet.stats.resampling import question_counts
from judgenet.store.frame import RunFrame


class Both(NamedTuple):
    """A pair that both runs judged: the number of its question, its label and where that comes from, whether the user
    asked for its label, and both verdicts."""

    question: int
    label: Verdict | None
    people: People
    asked: bool
    first: Verdict
    second: Verdict


@dataclass(frozen=True, slots=True)
class Compared:
    """``figures`` are about agreement with people, ``rate`` about the corrected win rates, which rest on the labels of
    ``sample``. The pairs have ``questions`` different questions."""

    figures: Comparison
    rate: Difference
    sample: Sample
    questions: int


def both_judged(
    first: RunFrame,
    second: RunFrame,
    aggregations: tuple[str, str],
    common: Sequence[tuple[int, int]],
    used: NDArray[np.bool_] | None = None,
) -> tuple[list[Both], int]:
    """The pairs on which both runs have a verdict, of the ``common`` ones (places in the first and in the second); and
    how many common pairs have different labels in the two, which count as none.

    ``used`` says of the first run's pairs whose labels the user asked for; ``None``: of all.
    """
    both, clashes = [], 0
    for mine, theirs in common:
        human, other_human = first.human_label(mine), second.human_label(theirs)
        clash = human is not None and other_human is not None and human != other_human
        clashes += clash
        said, other_said = first.verdict(aggregations[0], mine), second.verdict(aggregations[1], theirs)
        if said is not None and other_said is not None:
            people = first.people(mine)
            label = None if clash else human or other_human
            source = people if people.chosen else second.people(theirs)
            asked = used is None or bool(used[mine])
            both.append(Both(int(first.pairs.questions[mine]), label, source, asked, said, other_said))
    return both, clashes


def compare_pairs(
    both: Sequence[Both],
    within: str,
    chosen: Chosen | None = None,
    seed: int = 0,
    runs: tuple[str, str] = ("the first run", "the second run"),
) -> Compared:
    """Compares two runs, the first less the second; ``runs`` is what reasons call them.

    ``within`` names the verdicts of the first (:func:`judgenet.store.results.within_name`). Only labels chosen at
    random from all pairs tell the difference of the rates, since those drawn within the verdicts of one run are not so
    drawn for the other.
    """
    tally = LabelTally(within)
    for of in both:
        tally.add(of.first, of.label, of.people, asked=of.asked)
    sample = tally.sample(chosen, only_random=True)
    counting = [of.label if of.asked and tally.counts(of.people, sample) else None for of in both]
    _, questions = np.unique(np.array([of.question for of in both], dtype=np.int64), return_inverse=True)
    firsts, seconds = verdict_codes(of.first for of in both), verdict_codes(of.second for of in both)
    return Compared(
        figures=compare(
            Counter((of.label, of.first, of.second) for of in both),
            by_question=question_counts(questions, verdict_codes(of.label for of in both), firsts, seconds),
            seed=seed,
        ),
        rate=rate_difference(
            Counter((label, of.first, of.second) for of, label in zip(both, counting, strict=True)),
            sample.chosen,
            by_question=question_counts(questions, verdict_codes(counting), firsts, seconds),
            seed=seed,
            names=runs,
        ),
        sample=sample,
        questions=len({of.question for of in both}),
    )
