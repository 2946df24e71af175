"""Every way to learn how far to trust the neurons of a run, from its labels or without any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

from judgenet.core.learned import designed_widths, fingerprint, fixed_role
from judgenet.core.network import LearnedKind, LearnedRule, NetworkSpec, NeuronWeight
from judgenet.core.network_json import digest
from judgenet.core.pairs import question_key
from judgenet.stats.learning import (
    Labels,
    Learned,
    LearningError,
    Votes,
    best_single,
    dawid_skene,
    logistic,
    require_labels,
)
from judgenet.store.db import Store
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo, run_pairs
from judgenet.store.taught import Taught, taught
from judgenet.store.votes import NeuronVotes

Way = Literal["nonnegative", "any_sign", "dawid_skene", "best_single"]

WAY_TITLES: Final[dict[Way, str]] = {
    "nonnegative": "Learned, weights of 0 or more",
    "any_sign": "Learned, weights of any sign",
    "dawid_skene": "Dawid–Skene (no labels)",
    "best_single": "Best single neuron",
}
WARNINGS: Final[dict[Way, str]] = {
    "any_sign": "Negative weights learn in which questions a judge is fooled; on other data they may do worse than a "
    "coin.",
    "dawid_skene": "Takes the neurons as independent; several prompts of one model are not, and a common error counts "
    "as truth.",
}


def learned_ways(
    found: NeuronVotes, seed: int = 0, on_step: Callable[[int, int], None] | None = None
) -> dict[Way, Learned | str]:
    """What each way learns, cross-fitted over questions; why not where it is refused.

    ``on_step`` hears how many ways of how many are done; what it raises ends the learning.
    """
    learned: dict[Way, Learned | str] = {}
    for done, name in enumerate(WAY_TITLES):
        if on_step is not None:
            on_step(done, len(WAY_TITLES))
        learned[name] = learn_way(found, name, seed)
    return learned


def learn_way(found: NeuronVotes, way: Way, seed: int = 0) -> Learned | str:
    """What one way learns, or why it does not.

    Where enough pairs have a label and none is a tie, Dawid-Skene takes no pair to be truly one.
    """
    labels = [pair.human for pair in found.pairs]
    groups = [question_key(pair.question) for pair in found.pairs]
    return learn_from(found.votes, labels, groups, way, seed)


def learn_from(votes: Votes, labels: Labels, groups: Sequence[object], way: Way, seed: int = 0) -> Learned | str:
    """:func:`learn_way` of votes with a label and a question (``groups``) a pair."""
    try:
        match way:
            case "dawid_skene":
                return dawid_skene(votes, groups, ties=_has_ties(labels), seed=seed)
            case "best_single":
                return best_single(votes, labels, groups, seed=seed)
            case "nonnegative" | "any_sign":
                return logistic(votes, labels, groups, nonnegative=way == "nonnegative", seed=seed)
    except LearningError as error:
        return str(error)


def _has_ties(labels: Labels) -> bool:
    try:
        require_labels(labels)
    except LearningError:
        return True
    return "tie" in labels


def learned_rule(
    found: NeuronVotes,
    learned: Learned,
    kind: LearnedKind,
    run: RunInfo,
    made: str,
    seed: int = 0,
    decides: bool = False,
) -> LearnedRule:
    """What was learned from a run (fitted to all of its labelled pairs), in the form that a network keeps.

    ``made`` is the date that is written down.
    """
    spec = network_of(run)
    used = [pair for pair in found.pairs if pair.human is not None or kind == "dawid_skene"]
    tables = learned.tables or ((),) * len(found.places)
    return LearnedRule(
        kind=kind,
        neurons=tuple(
            NeuronWeight(layer, neuron, fixed_role(spec, layer, neuron), weight, table)
            for (layer, neuron), weight, table in zip(found.places, learned.weights, tables, strict=True)
        ),
        widths=designed_widths(spec),
        prior=learned.prior,
        run=run.id,
        data=str(run.record.get("data_hash", "")),
        network=digest(spec),
        labels=0 if kind == "dawid_skene" else len(used),
        seed=seed,
        penalty=learned.penalty,
        made=made,
        pairs=fingerprint(used),
        decides=decides,
    )


def run_learned_notes(store: Store, run: RunInfo) -> list[str]:
    """:func:`learned_notes` of a run; empty where its network has no learned aggregation."""
    spec = network_of(run)
    if spec.aggregation.learned is None:
        return []
    labelled = sum(of.pair.human is not None for of in run_pairs(store, run))
    return learned_notes(spec, taught(store, run), labelled)


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
