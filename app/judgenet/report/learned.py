"""Every way to learn how far to trust the neurons of a run, from its labels or without any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from judgenet.core.pairs import question_key
from judgenet.stats.learning import Learned, LearningError, best_single, dawid_skene, logistic, require_labels
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

    Where enough pairs have a label and none is a tie, Dawid-Skene takes no pair to be truly one. ``on_step`` hears how
    many ways of how many are done; what it raises ends the learning.
    """
    labels = [pair.human for pair in found.pairs]
    groups = [question_key(pair.question) for pair in found.pairs]
    try:
        require_labels(labels)
        ties = "tie" in labels
    except LearningError:
        ties = True
    ways: dict[Way, Callable[[], Learned]] = {
        "nonnegative": lambda: logistic(found.votes, labels, groups, seed=seed),
        "any_sign": lambda: logistic(found.votes, labels, groups, nonnegative=False, seed=seed),
        "dawid_skene": lambda: dawid_skene(found.votes, groups, ties=ties, seed=seed),
        "best_single": lambda: best_single(found.votes, labels, groups, seed=seed),
    }
    learned: dict[Way, Learned | str] = {}
    for done, (name, way) in enumerate(ways.items()):
        if on_step is not None:
            on_step(done, len(ways))
        try:
            learned[name] = way()
        except LearningError as error:
            learned[name] = str(error)
    return learned
