"""Every way to learn weights for the neurons of a run, from its labels or without any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from judgenet.core.learned import Taught, designed_widths, fingerprint, fixed_role
from judgenet.core.network import LearnedKind, LearnedRule, NetworkSpec, NeuronWeight
from judgenet.core.network_json import digest
from judgenet.core.pairs import Verdict
from judgenet.core.wording import aggregation_title
from judgenet.figures.trust import agreements
from judgenet.stats.agreement import Agreement
from judgenet.stats.comparison import Comparison, Difference, compare
from judgenet.stats.curves import CODES, Codes, verdict_codes
from judgenet.stats.diversity import verdict_diversity
from judgenet.stats.intervals import RESAMPLES, AgreementIntervals
from judgenet.stats.learning import (
    Labels,
    Learned,
    LearningError,
    VoteMatrix,
    best_single,
    dawid_skene,
    ising,
    logistic,
    require_labels,
)
from judgenet.stats.resampling import question_counts
from judgenet.stats.verdicts import sign_codes
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.results import network_of
from judgenet.store.runs import run_pairs

Way = Literal["nonnegative", "any_sign", "ising", "dawid_skene", "best_single"]

WAY_TITLES: Final[dict[Way, str]] = {
    "nonnegative": "Learned, weights of 0 or more",
    "any_sign": "Learned, weights of any sign",
    "ising": "Ising (neurons depend on one another)",
    "dawid_skene": "Dawid–Skene (no labels)",
    "best_single": "Best single neuron",
}
WARNINGS: Final[dict[Way, str]] = {
    "any_sign": "Negative weights learn in which questions a judge is fooled; on other data they may do worse than a "
    "coin.",
    "ising": "Allows for neurons that err together. On recorded judges (LLMBar, PandaLM, JudgeBench) it was as good as "
    "weights of any sign, not better. Negative weights learn in which questions a judge is fooled.",
    "dawid_skene": "Takes the neurons as independent; several prompts of one model are not, and a common error counts "
    "as truth.",
}


OF_CRITERIA: Final = (
    "A neuron judges by another criterion on each question, so that it has no weight of its own: give the criteria "
    "weights."
)
"""Why nothing is learned of a run whose neurons are the criteria of each pair."""


def learned_ways(
    frame: RunFrame, seed: int = 0, on_step: Callable[[int, int], None] | None = None
) -> dict[Way, Learned | str]:
    """The result of each way, cross-fitted over questions, or the reason why it is refused.

    ``on_step`` is called with how many ways of how many are done; what it raises ends the learning.
    """
    learned: dict[Way, Learned | str] = {}
    for done, name in enumerate(WAY_TITLES):
        if on_step is not None:
            on_step(done, len(WAY_TITLES))
        learned[name] = learn_way(frame, name, seed)
    return learned


def learn_way(frame: RunFrame, way: Way, seed: int = 0) -> Learned | str:
    """What one way learns, or why it does not.

    Where enough pairs have a label and none is a tie, Dawid-Skene takes no pair to be truly one.
    """
    if frame.spec.roles.kind == "criteria":
        return OF_CRITERIA
    done = frame.done
    labels = [CODES[code] for code in frame.human[done]]
    return learn_from(frame.votes[done], labels, frame.questions[done].tolist(), way, seed)


def learn_from(votes: VoteMatrix, labels: Labels, groups: Sequence[object], way: Way, seed: int = 0) -> Learned | str:
    """:func:`learn_way` of votes with a label and a question (``groups``) a pair."""
    try:
        match way:
            case "dawid_skene":
                return dawid_skene(votes, groups, ties=_has_ties(labels), seed=seed)
            case "best_single":
                return best_single(votes, labels, groups, seed=seed)
            case "ising":
                return ising(votes, labels, groups, seed=seed)
            case "nonnegative" | "any_sign":
                return logistic(votes, labels, groups, nonnegative=way == "nonnegative", seed=seed)
    except LearningError as error:
        return str(error)


@dataclass(frozen=True, slots=True)
class LessOther:
    """A learned way less another verdict, on the labelled pairs that both judge. ``other`` is the best single neuron or
    an aggregation by name."""

    other: str
    comparison: Comparison

    @property
    def title(self) -> str:
        """The other verdict in words."""
        return WAY_TITLES["best_single"] if self.other == "best_single" else aggregation_title(self.other)

    @property
    def accuracy(self) -> Difference:
        """The difference of the accuracies."""
        return self.comparison.differences["accuracy"]

    @property
    def p(self) -> float | None:
        """McNemar's p: over questions where pairs share them, else exact; ``None`` without a pair."""
        test = self.comparison.test
        return self.comparison.questions_p if self.comparison.questions_p is not None else test.p if test.n else None


def less_others(
    questions: NDArray[np.int64],
    human: Codes,
    said: Mapping[Way, Codes],
    votes: Mapping[str, Codes],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[Way, tuple[LessOther, ...]]:
    """Each way to learn less the best single neuron and less each of ``votes``, from codes by pair
    (:mod:`judgenet.stats.curves`): a learned rule is worth its labels where it beats these on the same pairs."""
    others: dict[str, Codes] = {name: said[name] for name in said if name == "best_single"}
    others |= votes
    less: dict[Way, tuple[LessOther, ...]] = {}
    for way, mine in said.items():
        if way == "best_single":
            continue
        less[way] = tuple(
            LessOther(name, _compared(questions, human, mine, codes, resamples, seed)) for name, codes in others.items()
        )
    return less


@dataclass(frozen=True, slots=True)
class WayAgainstPeople:
    """A way to join the neurons of a run, cross-fitted, against people: on the pairs whose calls are all in.

    ``codes`` are its verdicts on these pairs (:mod:`judgenet.stats.curves`). ``less`` is what it gains over the best
    single neuron and the votes on the same pairs, ``below_baseline`` says that people's commonest label beats it and
    why, empty where it does not.
    """

    way: Way
    learned: Learned
    codes: Codes
    agreement: Agreement
    intervals: AgreementIntervals
    less: tuple[LessOther, ...]
    below_baseline: str


def ways_against_people(
    frame: RunFrame,
    votes: Iterable[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    on_step: Callable[[int, int], None] | None = None,
) -> dict[Way, WayAgainstPeople | str]:
    """Each way of :func:`learned_ways` against people and less each of ``votes`` (names of aggregations), or why it is
    refused. Every face of the program learns here."""
    done = frame.done
    human, questions = frame.human[done], frame.questions[done]
    ways = learned_ways(frame, seed, on_step)
    learned = {way: way_verdicts for way, way_verdicts in ways.items() if not isinstance(way_verdicts, str)}
    codes = {way: verdict_codes(way_verdicts.verdicts) for way, way_verdicts in learned.items()}
    beside = {name: frame.aggregations[name][done] for name in votes}
    less = less_others(questions, human, codes, beside, resamples=resamples, seed=seed) if resamples else {}
    own = np.unique(questions, return_inverse=True)[1]
    figures = agreements(
        own, human, {str(way): way_verdicts for way, way_verdicts in codes.items()}, resamples=resamples, seed=seed
    )
    alike = neuron_likeness(frame)
    return {
        way: way_verdicts
        if isinstance(way_verdicts, str)
        else WayAgainstPeople(
            way=way,
            learned=way_verdicts,
            codes=codes[way],
            agreement=figures[way][0],
            intervals=figures[way][1],
            less=less.get(way, ()),
            below_baseline=below_baseline(way, figures[way][0], alike),
        )
        for way, way_verdicts in ways.items()
    }


def compared_votes(decides: str) -> list[str]:
    """The votes with which a report compares learned ways: the network's verdict, and c1 and c2_all."""
    return list(dict.fromkeys((decides, "c1", "c2_all")))


def _compared(
    questions: NDArray[np.int64], human: Codes, mine: Codes, theirs: Codes, resamples: int, seed: int
) -> Comparison:
    both = (mine > 0) & (theirs > 0)
    counts: Counter[tuple[Verdict | None, Verdict, Verdict]] = Counter()
    cells = np.bincount(human[both].astype(np.int64) * 16 + mine[both] * 4 + theirs[both], minlength=64).reshape(
        4, 4, 4
    )
    for label, first, second in zip(*cells.nonzero(), strict=True):
        first_code, second_code = CODES[first], CODES[second]
        assert first_code is not None
        assert second_code is not None
        counts[CODES[label], first_code, second_code] = int(cells[label, first, second])
    _, own = np.unique(questions[both], return_inverse=True)
    by_question = question_counts(own, human[both], mine[both], theirs[both])
    return compare(counts, by_question=by_question, resamples=resamples, seed=seed)


def below_baseline(way: Way, agreement: Agreement, alike: float | None) -> str:
    """The note on a way that people's commonest label beats, and why it does; empty where it does not.

    ``alike`` is Yule's Q of two neurons being right (:class:`judgenet.stats.diversity.VerdictDiversity`).
    """
    accuracy, baseline, kappa = agreement.accuracy, agreement.majority_baseline, agreement.kappa
    if accuracy is None or baseline is None or (accuracy >= baseline and (kappa is None or kappa >= 0)):
        return ""
    of_kappa = "" if kappa is None else f" (kappa {kappa:z.2f})".replace("-", "−")
    than = "below" if accuracy < baseline else "no better than"
    words = (
        f"{than} the baseline: right on {100 * accuracy:.1f} % of {agreement.n_used:,} pairs{of_kappa}, where always "
        f"giving the commonest label is right on {100 * baseline:.1f} %"
    )
    if way != "dawid_skene":
        return words
    shown = "" if alike is None else f" (Yule's Q of being right {alike:.2f}; independent neurons have 0)"
    return (
        f"{words}. It takes the neurons as independent, and these err on the same pairs{shown}, as copies of one judge "
        "do: an error that most of them share counts as truth. Learn from labels instead, or use different judges"
    )


def _has_ties(labels: Labels) -> bool:
    try:
        require_labels(labels)
    except LearningError:
        return True
    return "tie" in labels


def neuron_likeness(frame: RunFrame) -> float | None:
    """Yule's Q of two neurons being right on the labelled pairs, the mean over all twos; ``None`` where undefined."""
    codes = sign_codes(np.nan_to_num(frame.votes), ~np.isnan(frame.votes))
    return verdict_diversity(codes[frame.done], frame.human[frame.done]).q.value


def learned_rule(
    store: Store,
    frame: RunFrame,
    learned: Learned,
    kind: LearnedKind,
    date: str,
    seed: int = 0,
    decides: bool = False,
) -> LearnedRule:
    """What was learned from a run (fitted to all of its labelled pairs), in the form that a network keeps.

    ``date`` is the date that is written down.
    """
    run, spec, done = frame.run, network_of(frame.run), set(frame.done.tolist())
    used = [
        pair.pair
        for pair in run_pairs(store, run)
        if pair.index in done and (pair.pair.human is not None or kind == "dawid_skene")
    ]
    tables = learned.tables or ((),) * len(frame.places)
    tie_weights = learned.tie_weights or (0.0,) * len(frame.places)
    return LearnedRule(
        kind=kind,
        neurons=tuple(
            NeuronWeight(layer, neuron, fixed_role(spec, layer, neuron), weight, table, tie_weight)
            for (layer, neuron), weight, table, tie_weight in zip(
                frame.places, learned.weights, tables, tie_weights, strict=True
            )
        ),
        widths=designed_widths(spec),
        prior=learned.prior,
        tie_odds=learned.tie_odds,
        run=run.id,
        data=str(run.record.get("data_hash", "")),
        network=digest(spec),
        labels=0 if kind == "dawid_skene" else len(used),
        seed=seed,
        penalty=learned.penalty,
        made=date,
        pairs=fingerprint(used),
        decides=decides,
    )


def run_learned_notes(frame: RunFrame) -> list[str]:
    """:func:`learned_notes` of a run; empty where its network has no learned aggregation."""
    return learned_notes(frame.spec, frame.taught, int((frame.human > 0).sum()))


def learned_notes(spec: NetworkSpec, known: Taught, labelled: int) -> list[str]:
    """What to know beside the figures of a network's learned aggregation on pairs, ``labelled`` of which have a label:
    that some of them taught it, or that it comes from another network."""
    rule = spec.aggregation.learned
    if rule is None:
        return []
    notes = [words] if (words := known.words(labelled)) else []
    if rule.network != digest(spec):
        notes.append(
            "the learned aggregation comes from a network that asked otherwise (models, prompts or settings): its "
            "weights may not fit"
        )
    if rule.kind in WARNINGS:
        notes.append(f"learned aggregation: {WARNINGS[rule.kind]}")
    return notes
