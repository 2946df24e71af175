"""Whether a judge may stand in for people: the Alternative Annotator Test (Calderon, Reichart and Dror, ACL 2025,
arXiv 2501.10970).

Each annotator is left out in turn. On every pair, the judge and the annotator are compared with the other annotators:
the score of either is the share of them that say the same. The judge is at least as good as the annotator on a pair
where its score is no lower (an advantage of the judge), and the annotator where its own is no lower. With d the mean
difference of the two (annotator less judge), the judge wins against the annotator where a one-sided t test finds
d < epsilon, the false discovery rate over the annotators held at .05 (Benjamini and Yekutieli 2001). A judge that wins
against at least half of them may replace people.

Verdicts are codes as in :mod:`judgenet.stats.curves`: 0 none, 1 A, 2 tie, 3 B. Where questions have several pairs, the
standard error is that of the sums over questions; with one pair a question it is the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from judgenet.core.wording import plural
from judgenet.stats.curves import Codes, Floats
from judgenet.stats.distributions import t_below
from judgenet.stats.means import Mean, mean_of
from judgenet.stats.multiple import benjamini_yekutieli
from judgenet.stats.resampling import few_questions

if TYPE_CHECKING:
    from judgenet.stats.means import Groups

EPSILON: Final = 0.2
"""What a judge's lower price is worth, as a share of pairs: .2 where annotators are experts, .15 where they are
skilled, .1 where they are crowd workers (the paper's section 3.3)."""
LEVEL: Final = 0.05
WINS: Final = 0.5
"""A judge that wins against this share of the annotators may replace them."""
FEWEST_ANNOTATORS: Final = 3
FEWEST_PAIRS: Final = 30
"""Fewer pairs of an annotator do not carry a t test."""


@dataclass(frozen=True, slots=True)
class AnnotatorLeftOut:
    """A judge against one annotator.

    ``judge`` and ``annotator`` are how often each is at least as close to the other annotators, over ``n`` pairs of
    ``n_total`` that the annotator labelled: those with another annotator's label and the judge's verdict.
    ``difference`` is the annotator's less the judge's, ``p`` that of a difference below epsilon, ``p_adjusted`` held
    over all annotators. ``won`` is ``None`` where there are too few pairs, and ``reason`` says so.
    """

    name: str
    judge: float | None
    annotator: float | None
    difference: float | None
    p: float | None
    p_adjusted: float | None
    won: bool | None
    n: int
    n_total: int
    questions: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AltTest:
    """A judge against all annotators. ``winning_rate`` is the share of those tested that it wins against, ``advantage``
    the mean of how often it is at least as close to the others as the annotator. ``passes`` says that it may replace
    them; it and the winning rate are ``None`` where nothing is tested, and ``reason`` says why."""

    winning_rate: float | None
    won: int
    tested: int
    advantage: Mean
    passes: bool | None
    annotators: tuple[AnnotatorLeftOut, ...]
    reason: str = ""


def alt_test(
    judge: Codes,
    annotators: Sequence[str],
    labels: Codes,
    groups: Groups | None = None,
    *,
    epsilon: float = EPSILON,
) -> AltTest:
    """Tests whether ``judge`` (a code a pair) may replace the ``annotators``, whose ``labels`` are of shape (pairs,
    annotators). ``groups`` numbers the question of each pair where questions repeat.

    :raises ValueError: ``epsilon`` is not from 0 to 1.
    """
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon {epsilon:g} is not from 0 to 1.")
    counts = np.stack([(labels == code).sum(axis=1) for code in range(4)], axis=1)
    annotators_left_out: list[AnnotatorLeftOut] = []
    wins: list[Floats] = []
    for place, name in enumerate(annotators):
        left_out, judge_wins = _against(name, judge, labels[:, place], counts, groups, epsilon)
        annotators_left_out.append(left_out)
        wins.append(judge_wins)
    adjusted = benjamini_yekutieli([without_one.p for without_one in annotators_left_out])
    annotators_left_out = [
        replace(without_one, p_adjusted=p, won=None if p is None else p <= LEVEL)
        for without_one, p in zip(annotators_left_out, adjusted, strict=True)
    ]
    tested = [place for place, without_one in enumerate(annotators_left_out) if without_one.won is not None]
    advantage = _advantage([wins[place] for place in tested], groups)
    reason = _refusal(len(annotators), annotators_left_out, len(tested))
    if reason:
        return AltTest(
            None,
            0,
            len(tested),
            replace(advantage, reason=advantage.reason or reason),
            None,
            tuple(annotators_left_out),
            reason,
        )
    won = sum(bool(without_one.won) for without_one in annotators_left_out)
    rate = won / len(tested)
    return AltTest(rate, won, len(tested), advantage, rate >= WINS, tuple(annotators_left_out))


def _refusal(annotators: int, annotator_left_outs: Sequence[AnnotatorLeftOut], tested: int) -> str:
    if annotators < FEWEST_ANNOTATORS:
        have = {0: "no pair has annotators by name", 1: "one annotator labelled pairs"}.get(
            annotators, "there are two annotators"
        )
        return f"{have}; the test takes at least {FEWEST_ANNOTATORS}"
    if tested < FEWEST_ANNOTATORS:
        most = max(left_out.n for left_out in annotator_left_outs)
        return (
            f"{tested} of {annotators} annotators have at least {FEWEST_PAIRS} pairs with a verdict and another's "
            f"label (the most is {most:,}); the test takes at least {FEWEST_ANNOTATORS} such annotators"
        )
    return ""


def _against(
    name: str, judge: Codes, own: Codes, counts: NDArray[np.intp], groups: Groups | None, epsilon: float
) -> tuple[AnnotatorLeftOut, Floats]:
    """The judge against one annotator, and where it is at least as close to the others (1, 0, NaN: pair not used)."""
    mine = own > 0
    others = counts.copy()
    others[np.arange(len(own)), own] -= 1
    there = mine & (judge > 0) & (others[:, 1:].sum(axis=1) > 0)
    rows = np.flatnonzero(there)
    # The share of the others that agree: both shares have the same denominator.
    of_judge, of_own = others[rows, judge[rows]], others[rows, own[rows]]
    wins = np.full(len(own), np.nan)
    wins[rows] = of_judge >= of_own
    own_wins = (of_own >= of_judge).astype(np.float64)
    n, total = len(rows), int(mine.sum())
    used = np.arange(n) if groups is None else groups[rows]
    _, question = np.unique(used, return_inverse=True)
    questions = int(question.max(initial=-1)) + 1
    reason = (
        few_questions(questions, n)
        if n >= FEWEST_PAIRS
        else f"{plural(n, 'pair')}; the test takes at least {FEWEST_PAIRS}"
    )
    if not n:
        return AnnotatorLeftOut(name, None, None, None, None, None, None, 0, total, 0, reason), wins
    differences = own_wins - wins[rows]
    p = None if reason else _p_below(differences, question, questions, epsilon)
    left_out = AnnotatorLeftOut(
        name,
        float(wins[rows].mean()),
        float(own_wins.mean()),
        float(differences.mean()),
        p,
        None,
        None,
        n,
        total,
        questions,
        reason,
    )
    return left_out, wins


def _p_below(values: Floats, question: NDArray[np.intp], questions: int, least: float) -> float:
    """The p of a mean of ``values`` that is below ``least``: the one-sided t test, over the sums of questions."""
    mean = float(values.mean())
    sums = np.bincount(question, values - mean, minlength=questions)
    error = sqrt(questions / (questions - 1) * float((sums**2).sum())) / len(values)
    if error < 1e-12:
        # All pairs say the same: the mean is known, as far as these pairs go.
        return 0.0 if mean < least else 1.0
    return t_below((mean - least) / error, questions - 1)


def _advantage(wins: Sequence[Floats], groups: Groups | None) -> Mean:
    """The mean over annotators of how often the judge is at least as close, with its interval over pairs, or over
    questions: of what each pair adds to it."""
    if not wins:
        return Mean(None, None, 0, "no annotator has enough pairs")
    table = np.stack(wins, axis=1)
    there = ~np.isnan(table)
    used = there.any(axis=1)
    weights = used.sum() / (len(wins) * there.sum(axis=0))
    terms = np.where(used, (np.nan_to_num(table) * weights).sum(axis=1), np.nan)
    return mean_of(terms, "no annotator has enough pairs", groups)
