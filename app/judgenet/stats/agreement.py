"""How verdicts agree with people, and with themselves when the responses change places.

Everything is computed over pairs: calls, neurons and layers are repeated looks at the same pair and never add to n.
A pair that lacks one of the two verdicts leaves the denominator and is counted. What is undefined is ``None`` with a
reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple

from judgenet.core.pairs import VERDICTS, Verdict
from judgenet.stats.distributions import binomial_test, chi2_tail

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from judgenet.stats.curves import Codes

LabelSet = Literal["occurring", "all"]
"""Which classes macro-F1 averages: those that occur in human or network verdicts, or always a, b and tie."""


Counts = Mapping[tuple[Verdict | None, Verdict | None], int]
"""How many pairs have which two verdicts. Everything here follows from such a table, so that a run can be counted
while it is read."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """A network's verdicts against human labels.

    ``n_used`` of ``n_total`` pairs have both; ``n_unlabelled`` have no label, ``n_unjudged`` have one but no verdict.
    ``labels`` are the classes that macro-F1 averages. ``confusion`` counts pairs by human label (rows) and verdict
    (columns), both in the order a, b, tie. ``majority_baseline`` is the share of the commonest human label: what a
    constant answer reaches. ``reasons`` says for each figure that is ``None`` why.
    """

    accuracy: float | None
    macro_f1: float | None
    kappa: float | None
    majority_baseline: float | None
    n_used: int
    n_total: int
    n_unlabelled: int
    n_unjudged: int
    labels: tuple[Verdict, ...]
    confusion: tuple[tuple[int, int, int], ...]
    reasons: dict[str, str]


def agreement_of(counts: Counts, labels: LabelSet = "occurring") -> Agreement:
    """Accuracy, macro-F1 and Cohen's kappa (unweighted) of verdicts against people, from the counts of (human label,
    verdict).

    Macro-F1 is the mean of the classes' F1 (as scikit-learn's ``average="macro"``), where a class that is never
    predicted has an F1 of 0. Kappa is (po - pe) / (1 - pe) with pe from both marginals (Cohen 1960).
    """
    confusion = tuple(
        (counts.get((row, "a"), 0), counts.get((row, "b"), 0), counts.get((row, "tie"), 0)) for row in VERDICTS
    )
    total = sum(counts.values())
    rows = [sum(row) for row in confusion]
    columns = [sum(column) for column in zip(*confusion, strict=True)]
    n = sum(rows)
    unlabelled = sum(count for (label, _), count in counts.items() if label is None)
    used = tuple(
        label for label, row, column in zip(VERDICTS, rows, columns, strict=True) if labels == "all" or row or column
    )
    reasons: dict[str, str] = {}
    accuracy = macro_f1 = kappa = baseline = None
    if not n:
        why = "no pair has both a human label and a verdict"
        reasons = dict.fromkeys(("accuracy", "macro_f1", "kappa", "majority_baseline"), why)
    else:
        hits = [confusion[place][place] for place in range(len(VERDICTS))]
        accuracy = sum(hits) / n
        baseline = max(rows) / n
        f1 = {
            label: 2 * hit / (row + column) if row + column else 0.0
            for label, hit, row, column in zip(VERDICTS, hits, rows, columns, strict=True)
        }
        macro_f1 = sum(f1[label] for label in used) / len(used)
        by_chance = sum(row * column for row, column in zip(rows, columns, strict=True))
        if by_chance == n * n:
            reasons["kappa"] = "people and network gave one and the same class only"
        else:
            kappa = (n * sum(hits) - by_chance) / (n * n - by_chance)
    return Agreement(
        accuracy=accuracy,
        macro_f1=macro_f1,
        kappa=kappa,
        majority_baseline=baseline,
        n_used=n,
        n_total=total,
        n_unlabelled=unlabelled,
        n_unjudged=total - n - unlabelled,
        labels=used,
        confusion=confusion,
        reasons=reasons,
    )


def macro_precision(agreement: Agreement) -> float | None:
    """The mean over ``agreement.labels`` of the share of a class's verdicts that people agree with; a class that is
    never given scores 0 (scikit-learn's ``precision_score`` with ``average="macro"``). ``None`` where nothing was
    used."""
    return _macro(agreement, [sum(column) for column in zip(*agreement.confusion, strict=True)])


def macro_recall(agreement: Agreement) -> float | None:
    """The mean over ``agreement.labels`` of the share of a class's human labels that the verdicts find; a class without
    a human label scores 0 (``recall_score`` with ``average="macro"``). ``None`` where nothing was used."""
    return _macro(agreement, [sum(row) for row in agreement.confusion])


def _macro(agreement: Agreement, totals: Sequence[int]) -> float | None:
    if not agreement.n_used:
        return None
    shares = {
        label: agreement.confusion[place][place] / totals[place] if totals[place] else 0.0
        for place, label in enumerate(VERDICTS)
    }
    return sum(shares[label] for label in agreement.labels) / len(agreement.labels)


def matthews(agreement: Agreement) -> float | None:
    """Matthews' correlation of label and verdict over all classes (Gorodkin 2004); ``None`` where one of the two has
    one class only."""
    n = agreement.n_used
    rows = [sum(row) for row in agreement.confusion]
    columns = [sum(column) for column in zip(*agreement.confusion, strict=True)]
    hits = sum(agreement.confusion[place][place] for place in range(len(VERDICTS)))
    by_chance = sum(row * column for row, column in zip(rows, columns, strict=True))
    spread = (n * n - sum(row * row for row in rows)) * (n * n - sum(column * column for column in columns))
    return (n * hits - by_chance) / sqrt(spread) if spread else None


# Both orders


@dataclass(frozen=True, slots=True)
class PositionConsistency:
    """Verdicts of the same pairs in both orders.

    ``n`` of ``n_total`` pairs have both. ``consistent`` is the share with equal verdicts, ``flip_rate`` the share of
    the others (FairEval's conflict rate, arXiv 2305.17926). Of these, ``primacy`` preferred the first response shown
    both times, ``recency`` the second, and ``partial`` were a tie in exactly one order. ``net`` is
    (primacy - recency) / n, ``p`` its exact sign test over pairs; ``questions_p`` is that over questions
    (:func:`sign_test_over_questions`), where pairs share them.
    """

    consistent: float | None
    flip_rate: float | None
    primacy: int
    recency: int
    partial: int
    net: float | None
    p: float | None
    n: int
    n_total: int
    reason: str = ""
    questions_p: float | None = None


class Flips(NamedTuple):
    """How many of ``n`` pairs with a verdict in both orders have two that differ."""

    differ: int
    n: int

    @property
    def rate(self) -> float | None:
        """The share of pairs that differ, ``None`` where no pair has both."""
        return self.differ / self.n if self.n else None


def flips_of(counts: Counts) -> Flips:
    """The flips from the counts of (verdict in order AB, verdict in order BA); :func:`position_of` tests them too."""
    n = sum(count for pair, count in counts.items() if None not in pair)
    return Flips(n - sum(counts.get((verdict, verdict), 0) for verdict in VERDICTS), n)


def position_of(counts: Counts) -> PositionConsistency:
    """How verdicts depend on the order of the responses, from the counts of (verdict in order AB, verdict in order BA);
    both verdicts are about responses A and B."""
    total = sum(counts.values())
    differ, n = flips_of(counts)
    primacy, recency = counts.get(("a", "b"), 0), counts.get(("b", "a"), 0)
    if not n:
        why = "no pair has a verdict in both orders"
        return PositionConsistency(None, None, 0, 0, 0, None, None, 0, total, why)
    return PositionConsistency(
        consistent=(n - differ) / n,
        flip_rate=differ / n,
        primacy=primacy,
        recency=recency,
        partial=differ - primacy - recency,
        net=(primacy - recency) / n,
        p=sign_test(primacy, recency),
        n=n,
        n_total=total,
    )


def position_of_codes(ab: Codes, ba: Codes, questions: NDArray[np.int64] | None = None) -> PositionConsistency:
    """:func:`position_of` from codes as in :mod:`judgenet.stats.curves`. ``questions`` numbers that of each pair, where
    some share one."""
    from judgenet.stats.curves import pair_counts

    consistency = position_of(pair_counts(ab, ba))
    both = (ab > 0) & (ba > 0)
    if questions is None or not consistency.n or not _repeated(questions[both]):
        return consistency
    first, last = (ab == 1) & (ba == 3), (ab == 3) & (ba == 1)
    p = sign_test_over_questions(questions[both], first[both].astype(int) - last[both])
    return replace(consistency, questions_p=p)


def _repeated(questions: NDArray[np.int64]) -> bool:
    import numpy as np

    return len(np.unique(questions)) < len(questions)


def sign_test(more: int, less: int) -> float:
    """The exact two-sided p of ``more`` against ``less`` under even odds; 1 where there is neither."""
    if more == less:
        return 1.0
    return binomial_test(more, more + less)


def sign_test_over_questions(questions: NDArray[np.int64], leads: NDArray[np.integer]) -> float:
    """The exact two-sided sign test of the questions that lead one way against those that lead the other;
    ``leads`` are, pair by pair, 1, 0 or -1. It needs no more than that questions are independent of each other."""
    import numpy as np

    _, places = np.unique(questions, return_inverse=True)
    sums = np.rint(np.bincount(places, leads)) if len(leads) else np.zeros(0)
    return sign_test(int((sums > 0).sum()), int((sums < 0).sum()))


def clustered_sign_test(leads: NDArray[np.float64]) -> float | None:
    """The two-sided p of more against less for pairs that share questions (Obuchowski, Statistics in Medicine 1998);
    ``leads`` are, by question, how many more than less. ``None`` where no question leads."""
    square = float((leads * leads).sum())
    if not square:
        return None
    return chi2_tail(float(leads.sum()) ** 2 / square)


# What people must still review


@dataclass(frozen=True, slots=True)
class ReviewShare:
    """How much people must review to reach a target accuracy.

    ``review`` is the share of pairs, picked at random, ``saved`` the rest. ``relative`` is accuracy over target: it
    may exceed 1.
    """

    review: float | None
    saved: float | None
    relative: float | None
    reason: str = ""


def review_share(accuracy: float, target: float, reviewed: float = 1.0) -> ReviewShare:
    """The share of pairs that people must review so that the accuracy of all reaches ``target``.

    Reviewing a random share r gives (1 - r) accuracy + r reviewed, where ``reviewed`` is the accuracy of a reviewed
    pair (WideDeep takes it as 1, although people agree with each other less than that).

    :raises ValueError: a share outside 0 to 1.
    """
    for name, value in (("accuracy", accuracy), ("target", target), ("reviewed", reviewed)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name} is a share from 0 to 1, not {value}.")
    relative = accuracy / target if target else None
    if accuracy >= target:
        return ReviewShare(0.0, 1.0, relative, "" if target else "the target is 0")
    if reviewed < target:
        return ReviewShare(None, None, relative, "target out of reach: reviewed pairs are less accurate than it")
    review = (target - accuracy) / (reviewed - accuracy)
    return ReviewShare(review, 1 - review, relative)


SURE_OF_TARGET = "the network reaches the target at both ends of the interval of its accuracy"
"""Why the share to review has no interval."""


def review_interval(
    low: float, high: float, target: float, reviewed: float = 1.0
) -> tuple[tuple[ReviewShare, ReviewShare] | None, str]:
    """:func:`review_share` at both ends of the interval of the accuracy, the smaller share first; or ``None`` and the
    reason, where both ends need no review: an interval without a width would say that the share is known.

    :raises ValueError: a share outside 0 to 1.
    """
    least, most = (review_share(end, target, reviewed) for end in (high, low))
    return (None, SURE_OF_TARGET) if least.review == most.review == 0 else ((least, most), "")
