"""Compares two runs on the pairs that both judged, by their verdicts and by human labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.core.labels import Chosen, People
from judgenet.core.network_changes import Change
from judgenet.core.pairs import Verdict
from judgenet.figures.base import Figures, Keys
from judgenet.figures.errors import FiguresError
from judgenet.figures.judges import Differing, changes_between, judges_warning, network_words, what_differs
from judgenet.figures.parts import DifferenceFigures, Reasons, SampleFigures, difference_figures, sample_figures
from judgenet.figures.power import PowerFigures, power_figures
from judgenet.stats.comparison import Comparison, Difference, compare, known_difference, rate_difference
from judgenet.stats.curves import verdict_codes
from judgenet.stats.intervals import Interval
from judgenet.stats.power import Discordance, measured_discordance, plan_comparison
from judgenet.stats.provenance import LabelTally, Sample, left_words
from judgenet.stats.resampling import question_counts
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.results import common_pairs, within_name
from judgenet.store.runs import RunInfo


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
    ``sample``. The pairs have ``questions`` different questions. ``discordance`` is what the next comparison of such
    networks can be planned with."""

    figures: Comparison
    rate: Difference
    sample: Sample
    questions: int
    discordance: Discordance


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
    random from all pairs allow a difference of the rates, since those drawn within the verdicts of one run are not so
    drawn for the other.
    """
    tally = LabelTally(within)
    for both_pair in both:
        tally.add(both_pair.first, both_pair.label, both_pair.people, asked=both_pair.asked)
    sample = tally.sample(chosen, only_random=True)
    counting = [
        both_pair.label if both_pair.asked and tally.counts(both_pair.people, sample) else None for both_pair in both
    ]
    _, questions = np.unique(np.array([both_pair.question for both_pair in both], dtype=np.int64), return_inverse=True)
    firsts, seconds = (
        verdict_codes(both_pair.first for both_pair in both),
        verdict_codes(both_pair.second for both_pair in both),
    )
    by_question = question_counts(questions, verdict_codes(both_pair.label for both_pair in both), firsts, seconds)
    figures = compare(
        Counter((both_pair.label, both_pair.first, both_pair.second) for both_pair in both),
        by_question=by_question,
        seed=seed,
    )
    test = figures.test
    return Compared(
        figures=figures,
        rate=rate_difference(
            Counter(
                (label, both_pair.first, both_pair.second) for both_pair, label in zip(both, counting, strict=True)
            ),
            sample.chosen,
            by_question=question_counts(questions, verdict_codes(counting), firsts, seconds),
            seed=seed,
            names=runs,
        ),
        sample=sample,
        questions=len({both_pair.question for both_pair in both}),
        discordance=measured_discordance(test.only_first, test.only_second, test.n, by_question),
    )


@dataclass(frozen=True)
class TwoRuns:
    """Two runs, the first less the second, on the pairs that both judged.

    ``common`` are the places of the pairs that both have (the same id and the same texts) in the first and in the
    second; on ``labels_differ`` of them the labels differ and count as none. ``differing`` is what makes the two
    different judges.
    """

    first: RunFrame
    second: RunFrame
    aggregations: tuple[str, str]
    common: tuple[tuple[int, int], ...]
    labels_differ: int
    compared: Compared
    differing: Differing


def two_runs(
    first: tuple[Store, RunFrame],
    second: tuple[Store, RunFrame],
    aggregations: tuple[str, str],
    chosen: Chosen | None = None,
    *,
    used: NDArray[np.bool_] | None = None,
    seed: int = 0,
    names: tuple[str, str] = ("the first run", "the second run"),
) -> TwoRuns:
    """Compares two runs by their frames (:func:`judgenet.store.taught.fair_frame`). Every face of the program compares
    them here.

    ``used`` says which labels of the first may be used (``None``: all), ``names`` is what reasons call the two.
    """
    first_frame, second_frame = first[1], second[1]
    runs = (first[0], first_frame.run), (second[0], second_frame.run)
    common = tuple(sorted(common_pairs(*runs)))
    both, labels_differ = both_judged(first_frame, second_frame, aggregations, common, used)
    compared = compare_pairs(both, within_name(first_frame.run, aggregations[0]), chosen, seed, names)
    if aggregations[0] == aggregations[1] and (first[0].path, first_frame.run.id) == (
        second[0].path,
        second_frame.run.id,
    ):
        compared = _known(compared)
    differing = what_differs(*runs, aggregations)
    return TwoRuns(first_frame, second_frame, aggregations, common, labels_differ, compared, differing)


def _known(compared: Compared) -> Compared:
    """The comparison of a run to itself, which is no estimate."""
    comparison = compared.figures
    differences = {name: known_difference(difference) for name, difference in comparison.differences.items()}
    test = replace(comparison.test, interval=differences["accuracy"].interval)
    figures = replace(comparison, differences=differences, test=test)
    return replace(compared, figures=figures, rate=known_difference(compared.rate))


# Figures


@dataclass(frozen=True)
class ComparedRun:
    """One of two runs."""

    run: str
    name: Annotated[str, "what somebody called it"]
    note: str
    aggregation: str
    network: str


@dataclass(frozen=True)
class ComparedPairs:
    """The pairs of two runs."""

    first: int
    second: int
    common: Annotated[int, "same id, same texts"]
    both_judged: int
    labelled: int
    labels_differ: int
    questions: int


@dataclass(frozen=True)
class McNemarFigures:
    """The pairs that one of two networks alone gets right."""

    only_first_right: int
    only_second_right: int
    n: int
    p: Annotated[float | None, "exact, two-sided"]
    chi2_p: Annotated[float | None, "with continuity correction"]
    questions_p: Annotated[float | None, "over questions, where these repeat"]
    difference: Annotated[float | None, "of the accuracies"]
    ci: Annotated[
        Interval | None, "Wald's; Tango's score interval below 10 pairs that one alone gets right; or over questions"
    ]
    reason: str | None
    reasons: Reasons


def mcnemar_figures(comparison: Comparison) -> McNemarFigures:
    """McNemar's test of two networks."""
    test = comparison.test
    reasons: Reasons = {}
    if test.chi2_p is None:
        reasons["chi2_p"] = "on no pair one alone of the two is right"
    if comparison.questions_p is None:
        reasons["questions_p"] = "every question has one pair, or the questions are too few"
    if test.interval is None:
        reasons["ci"] = comparison.differences["accuracy"].reason
    return McNemarFigures(
        only_first_right=test.only_first,
        only_second_right=test.only_second,
        n=test.n,
        p=test.p if test.n else None,
        chi2_p=test.chi2_p,
        questions_p=comparison.questions_p,
        difference=test.difference,
        ci=test.interval,
        reason=None if test.n else "no pair with both verdicts has a human label",
        reasons=reasons,
    )


@dataclass(frozen=True)
class AgreeFigures:
    """How often two networks say the same."""

    value: Annotated[float | None, "how often the two say the same"]
    n: int
    reason: str | None


def agree_figures(comparison: Comparison) -> AgreeFigures:
    """How often two networks say the same."""
    why = None if comparison.n else "no pair has a verdict of both"
    return AgreeFigures(comparison.agree / comparison.n if comparison.n else None, comparison.n, why)


@dataclass(frozen=True, repr=False)
class RunComparison(Figures):
    """All differences of two runs, the first less the second, on the pairs that both judged."""

    _rows = "differences"

    first: ComparedRun
    second: ComparedRun
    pairs: ComparedPairs
    mcnemar: McNemarFigures
    differences: Annotated[
        Mapping[str, DifferenceFigures], Keys(("FIGURE",)), "accuracy, macro_f1, kappa by paired bootstrap"
    ]
    rate: Annotated[DifferenceFigures, "of the corrected win rates"]
    agree: AgreeFigures
    power: Annotated[PowerFigures, "the labelled pairs that show a difference of 3 points"]
    chosen: Chosen
    chosen_assumed: bool
    labels: SampleFigures
    judges_differ: Annotated[
        Mapping[str, tuple[str, str]],
        Keys(("WHAT",)),
        "network, prompts, model …: of the first and of the second",
    ]
    network_changes: Annotated[
        tuple[Change, ...], "a difference of the two networks: role of neuron 2 of layer 1 …; as each of them has it"
    ]
    notes: tuple[str, ...]


def run_comparison(
    first: tuple[Store, RunFrame],
    second: tuple[Store, RunFrame],
    aggregations: tuple[str, str],
    chosen: Chosen | None = None,
    *,
    used: NDArray[np.bool_] | None = None,
    seed: int = 0,
) -> RunComparison:
    """The figures of :func:`two_runs`.

    :raises FiguresError: they have no pair in common.
    """
    two = two_runs(first, second, aggregations, chosen, used=used, seed=seed)
    first_run, second_run = two.first.run, two.second.run
    if not two.common:
        raise FiguresError(
            f"{first_run.id} and {second_run.id}: no pair is in both (the same id and the same texts). "
            "Compare runs of the same pairs."
        )
    comparison, sample = two.compared.figures, two.compared.sample
    return RunComparison(
        first=_who(first_run, aggregations[0]),
        second=_who(second_run, aggregations[1]),
        pairs=ComparedPairs(
            first=len(two.first),
            second=len(two.second),
            common=len(two.common),
            both_judged=comparison.n,
            labelled=comparison.test.n,
            labels_differ=two.labels_differ,
            questions=two.compared.questions,
        ),
        mcnemar=mcnemar_figures(comparison),
        differences={name: difference_figures(difference) for name, difference in comparison.differences.items()},
        rate=difference_figures(two.compared.rate),
        agree=agree_figures(comparison),
        power=power_figures(plan_comparison(two.compared.discordance, n=comparison.test.n)),
        chosen=sample.chosen,
        chosen_assumed=chosen is None and sample.chosen == "imported",
        labels=sample_figures(sample),
        judges_differ=two.differing,
        network_changes=changes_between(first_run, second_run, two.differing),
        notes=tuple(_notes(two.differing, two.labels_differ, sample)),
    )


def _who(run: RunInfo, aggregation: str) -> ComparedRun:
    return ComparedRun(run.id, run.name, run.note, aggregation, network_words(run))


def _notes(differing: Differing, conflicting: int, sample: Sample) -> list[str]:
    notes = [judges_warning(differing)] if differing else []
    if conflicting:
        notes.append(f"{conflicting:,} pairs have different human labels in the two runs and count as unlabelled")
    if left := left_words(sample.left_out):
        notes.append(f"labelled pairs that the difference of win rates leaves out: {left}")
    if sample.chosen == "targeted":
        notes.append(
            "the labelled pairs were chosen for a property of theirs: accuracy, macro-F1 and kappa are of these pairs "
            "and do not stand for the others"
        )
    return notes
