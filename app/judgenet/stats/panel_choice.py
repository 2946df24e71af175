"""Which judge adds most: panels chosen step by step on one part of the questions and measured on the other.

Verdicts are codes as in :mod:`judgenet.stats.curves`: 0 none, 1 A, 2 tie, 3 B. A panel's verdict is the majority of
those of its judges that say A or B; a tied vote is a tie, and a panel without any verdict is not right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgenet.stats.curves import Codes, Floats
from judgenet.stats.effective_votes import effective, effective_votes, greedy_panel, labelled
from judgenet.stats.learning import FEWEST, FOLDS, LearningError, splits
from judgenet.stats.means import Mean, mean_of, share_of_pairs

ChoiceRule = Literal["votes", "labels"]
"""By what the next judge is chosen: by the effective votes of the panel, or by its accuracy."""

LARGEST = 8
"""A panel is chosen up to so many judges unless asked otherwise."""
_SIGN = np.array([0, 1, 0, -1])


@dataclass(frozen=True, slots=True)
class PanelStep:
    """A panel of ``size`` judges. ``column`` is the judge that is added at this step by all labelled pairs.

    Everything else is cross-fitted over questions, on the same pairs: ``accuracy`` of the panel's majority, ``tied``
    the share of tied votes, ``votes`` the effective votes by the mean correlation on the held-out pairs of each fold.
    ``random`` is the mean accuracy of all panels of this size, ``with_first`` of those that hold the judge that was
    chosen first: a panel that beats the former but not the latter owes it to its first judge alone. ``gain`` and
    ``gain_over_first`` are what the chosen panel has more.
    """

    size: int
    column: int
    accuracy: Mean
    tied: float
    votes: float | None
    random: float
    gain: Mean
    with_first: float
    gain_over_first: Mean


@dataclass(frozen=True, slots=True)
class PanelChoice:
    """Panels chosen by a rule, by size. Without ``steps`` there is a ``reason``."""

    rule: ChoiceRule
    steps: tuple[PanelStep, ...]
    n: int
    n_total: int
    folds: int
    reason: str = ""


def choose_panels(
    verdicts: Codes,
    human: Codes,
    questions: NDArray[np.int64],
    rule: ChoiceRule,
    *,
    most: int = LARGEST,
    folds: int = FOLDS,
    seed: int = 0,
) -> PanelChoice:
    """Panels of 1 to ``most`` judges, chosen greedily by ``rule`` from ``verdicts`` of shape (pairs, judges).

    ``votes`` begins with the judge that is right most often and adds the one with which the panel is worth most
    effective votes (:func:`judgenet.stats.effective_votes.greedy_panel`); ``labels`` adds the one with which the
    majority is right most often, a tied vote counting a half. ``seed`` makes the folds.
    """
    used = labelled(verdicts, human)
    said, truth, asked = verdicts[used], human[used], questions[used]
    judges, n = verdicts.shape[1], len(truth)

    def refused(reason: str) -> PanelChoice:
        return PanelChoice(rule, (), n, len(human), folds, reason)

    if judges < 2:
        return refused("there is one judge")
    if n < FEWEST:
        return refused(f"{n:,} pairs have a human label and a verdict; a panel is chosen from {FEWEST} or more")
    try:
        parts = list(splits(asked.tolist(), folds, seed))
    except LearningError as error:
        return refused(str(error).rstrip("."))
    most = min(most, judges)
    orders = [greedy_order(said[train], truth[train], rule, most) for train, _ in parts]
    final = greedy_order(said, truth, rule, most)
    steps = []
    for size in range(1, most + 1):
        chosen = [order[:size] for order in orders]
        steps.append(_step(said, truth, asked, parts, chosen, final[size - 1]))
    return PanelChoice(rule, tuple(steps), n, len(human), len(parts))


def greedy_order(said: Codes, human: Codes, rule: ChoiceRule, most: int) -> list[int]:
    """The judges in the order in which a rule adds them, at most so many; every pair has a label."""
    if rule == "votes":
        return [step.column for step in greedy_panel(said, human, most)]
    alone = (said == human[:, None]).mean(axis=0)
    signs, voted = _SIGN[said], said > 0
    lead, any_voted = np.zeros(len(said), np.int64), np.zeros(len(said), np.bool_)
    left, chosen = list(range(said.shape[1])), list[int]()
    while left and len(chosen) < most:
        lead_with, voted_with = lead[:, None] + signs[:, left], any_voted[:, None] | voted[:, left]
        right = _right(lead_with, voted_with, human[:, None], tied=0.5).mean(axis=0)
        best = max(range(len(left)), key=lambda place: (right[place], alone[left[place]]))
        chosen.append(left.pop(best))
        lead, any_voted = lead_with[:, best], voted_with[:, best]
    return chosen


def _right(lead: NDArray[np.int64], voted: NDArray[np.bool_] | bool, human: Codes, tied: float = 0.0) -> Floats:
    """1 where the majority, the sign of ``lead``, is the label; ``tied`` where the vote is tied and the label is not; 0
    where nobody ``voted``."""
    votes = np.where(lead > 0, 1, np.where(lead < 0, 3, 2))
    right: Floats = ((votes == human) + tied * ((votes == 2) & (human != 2))) * voted
    return right


def _step(
    said: Codes,
    human: Codes,
    questions: NDArray[np.int64],
    parts: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]],
    chosen: Sequence[Sequence[int]],
    column: int,
) -> PanelStep:
    size = len(chosen[0])
    lead, first_of = np.zeros(len(said), np.int64), np.zeros(len(said))
    voted, shared, pairs = np.zeros(len(said), np.bool_), 0.0, 0
    for (_, test), panel in zip(parts, chosen, strict=True):
        mine = said[test][:, list(panel)]
        lead[test], voted[test] = _SIGN[mine].sum(axis=1), (mine > 0).any(axis=1)
        first_of[test] = _mean_right(said[test], human[test], size, panel[0])
        worth = effective_votes(said[test], human[test], questions[test], columns=panel, resamples=0)
        if worth.correlation is not None:
            shared, pairs = shared + worth.correlation * len(test), pairs + len(test)
    right = _right(lead, voted, human)
    random_of = _mean_right(said, human, size)
    why = "no pair has both a human label and a verdict"
    return PanelStep(
        size=size,
        column=column,
        accuracy=share_of_pairs(right, why, questions),
        tied=float(((lead == 0) & voted).mean()),
        votes=1.0 if size == 1 else effective(shared / pairs, size) if pairs else None,
        random=float(random_of.mean()),
        gain=mean_of(right - random_of, why, questions, (-1.0, 1.0)),
        with_first=float(first_of.mean()),
        gain_over_first=mean_of(right - first_of, why, questions, (-1.0, 1.0)),
    )


def _mean_right(said: Codes, human: Codes, size: int, first: int | None = None) -> Floats:
    """On each pair the share of all panels of ``size`` judges whose majority is right; of those with a ``first`` judge
    where one is given.

    Of k judges drawn from the m of a pair, i say A, j say B and the others neither with the probability
    C(a, i) C(b, j) C(m - a - b, k - i - j) / C(m, k) (multivariate hypergeometric).
    """
    lead, silent = np.zeros(len(said), np.int64), np.ones(len(said), np.bool_)
    if first is not None:
        lead, silent = _SIGN[said[:, first]], said[:, first] == 0
        said, size = np.delete(said, first, axis=1), size - 1
    judges = said.shape[1]
    ways = np.array([[comb(right, drawn) for drawn in range(size + 1)] for right in range(judges + 1)], np.float64)
    a, b, none = ((said == code).sum(axis=1) for code in (1, 3, 0))
    # Where none of those drawn has a verdict the panel has none: that is no tie.
    expected = -ways[none, size] * silent * (human == 2)
    for i in range(size + 1):
        for j in range(size + 1 - i):
            share = ways[a, i] * ways[b, j] * ways[judges - a - b, size - i - j]
            expected += share * _right(lead + i - j, True, human)
    mean: Floats = expected / comb(judges, size)
    return mean
