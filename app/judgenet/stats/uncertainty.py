"""How sure a network is of a pair, and how much accuracy rises when people review the pairs that it is least sure of.

After FairEval (Wang et al., arXiv 2305.17926): evidence and scores are asked several times and in both orders, scores
are averaged (MEC and BPC), and the entropy of the verdicts of the single calls (BPDE) says which pairs a person should
see (HITLC). Verdicts in arrays are codes as in :mod:`judgenet.stats.curves`: 0 none, 1 A, 2 tie, 3 B.

Pairs chosen by their uncertainty are no sample of all pairs: their labels must never serve to calibrate a rate or to
measure agreement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log
from typing import TYPE_CHECKING, NamedTuple

from judgenet.core.evaluation import TIE_TOLERANCE
from judgenet.stats.agreement import Agreement, ReviewShare, agreement_of, review_interval, review_share
from judgenet.stats.intervals import (
    FEW_PAIRS,
    AgreementIntervals,
    Interval,
    agreement_intervals,
    agreements_intervals,
    bootstrap_interval,
    pseudo_weight,
    share_interval,
    wilson,
)
from judgenet.stats.resampling import few_groups, label_table, pseudo_cells

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from judgenet.stats.curves import Codes
    from judgenet.stats.means import Groups

    Numbers = NDArray[np.float64]

MOST_ENTROPY = log(3)
"""The entropy of three verdicts that are equally frequent, in nats."""


RESAMPLES = 1000
SHARES = tuple(step / 20 for step in range(21))
"""The shares reviewed at which a curve has its points, unless others are asked for."""

_MOST_UNREACHED = 0.01


# Entropy


def entropies(counts: NDArray[np.integer]) -> Numbers:
    """FairEval's balanced position diversity entropy (BPDE) in nats, from 0 to ln 3: that of the verdicts of a pair's
    calls in both orders. From the calls of one order it is the plain diversity entropy.

    ``counts`` has a pair a row, and how many of its calls say that A wins, that it is a tie, that A loses; NaN where a
    row has no call.

    :raises ValueError: the counts have another shape.
    """
    import numpy as np

    if counts.ndim != 2 or counts.shape[1] != 3:
        raise ValueError(f"The counts have the shape {counts.shape}, not (pairs, 3).")
    n = counts.sum(axis=1, dtype=np.float64)
    shares = np.divide(counts, n[:, None], out=np.zeros(counts.shape), where=n[:, None] > 0)
    logs = np.log(shares, out=np.zeros(shares.shape), where=shares > 0)
    # The sum is -0.0 where all calls agree.
    values: Numbers = np.abs((shares * logs).sum(axis=1))
    values[n == 0] = np.nan
    return values


# Conflicts


@dataclass(frozen=True, slots=True)
class Share:
    """``hits`` of ``n`` as a share with Wilson's 95 % interval, or over questions where these repeat; ``None`` with a
    ``reason`` where ``n`` is 0, or questions are too few for an interval."""

    value: float | None
    interval: Interval | None
    hits: int
    n: int
    reason: str = ""


def share_of(hits: int, n: int, reason: str) -> Share:
    """``hits / n``; ``reason`` says why there is none where ``n`` is 0."""
    return Share(hits / n, wilson(hits, n), hits, n) if n else Share(None, None, 0, 0, reason)


_NOT_BOTH = "no pair has a verdict in both orders"


def conflicts(ab: Codes, ba: Codes, groups: Groups | None = None, *, seed: int = 0) -> Share:
    """FairEval's conflict rate: the share of pairs whose verdicts in orders AB and BA differ in three classes, of those
    that have both. Where questions repeat (``groups`` numbers that of each pair) the interval is over questions."""
    both = (ab > 0) & (ba > 0)
    differ = ab[both] != ba[both]
    conflicting = share_of(int(differ.sum()), int(both.sum()), _NOT_BOTH)
    if groups is None or not conflicting.n:
        return conflicting
    within = share_interval(groups[both], differ, seed=seed)
    return replace(conflicting, interval=within, reason="" if within else few_groups(groups[both]))


# Human in the loop


@dataclass(frozen=True, slots=True)
class ReviewPoint:
    """What people reach who review ``reviewed`` pairs, the most uncertain first.

    ``accuracy`` is that of all pairs afterwards, partly true by construction since reviewed pairs count as right.
    ``untouched`` is the agreement of the network alone on the pairs that nobody reviewed, with the intervals of its
    accuracy and kappa. ``mended`` of the reviewed pairs were wrong. ``by_chance`` is the accuracy after a review of as
    many pairs picked at random. ``reasons`` says for each figure that is ``None`` why.
    """

    reviewed: int
    share: float
    accuracy: float
    interval: Interval | None
    by_chance: float
    mended: int
    untouched: Agreement
    untouched_interval: Interval | None
    untouched_kappa_interval: Interval | None
    reasons: dict[str, str]


@dataclass(frozen=True, slots=True)
class ReviewCurve:
    """Accuracy against the share of pairs that people review, the most uncertain first.

    It rests on the ``n`` of ``n_total`` pairs that have label and verdict. ``unknown`` of them have no entropy, since
    no call in its scope is valid; they count as the most uncertain. ``levels`` is how many values the entropy has:
    pairs of one value are in an order that ``seed`` shuffled. ``gain`` is how much accuracy lies above that of a random
    review, as a mean over all shares. ``points`` is empty and ``reason`` says why where there is no pair.
    """

    points: tuple[ReviewPoint, ...]
    n: int
    n_total: int
    unknown: int
    levels: int
    seed: int
    reviewed_right: float
    gain: float | None
    few: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReviewNeed:
    """The smallest share that people must review so that the accuracy of all pairs reaches ``target``.

    ``measured`` is for the most uncertain first, as the labelled pairs have it: ``reviewed`` of ``n`` of them, with a
    bootstrap interval over pairs that averages over the order within one level of uncertainty. ``random`` is for pairs
    picked at random, by the formula of :func:`judgenet.stats.agreement.review_share`, and ``random_ends`` the same at
    the upper and the lower end of the interval of the ``accuracy``. What cannot be reached is ``None`` with a reason.
    """

    target: float
    accuracy: float | None
    accuracy_interval: Interval | None
    measured: float | None
    reviewed: int | None
    interval: Interval | None
    random: ReviewShare | None
    random_ends: tuple[ReviewShare, ReviewShare] | None
    n: int
    seed: int
    reasons: dict[str, str]


_NO_PAIR = "no pair has both a human label and a verdict"


class _Reviewed(NamedTuple):
    """Labelled and judged pairs, the most uncertain first: codes, whether right, and the level of their uncertainty."""

    human: Codes
    judged: Codes
    right: NDArray[np.bool_]
    level: NDArray[np.int64]
    unknown: int
    question: Groups | None


def _in_order(human: Codes, judged: Codes, uncertainty: Numbers, seed: int, groups: Groups | None = None) -> _Reviewed:
    import numpy as np

    if not len(human) == len(judged) == len(uncertainty):
        raise ValueError(
            f"{len(human)} labels, {len(judged)} verdicts and {len(uncertainty)} uncertainties do not go together."
        )
    used = np.flatnonzero((human > 0) & (judged > 0))
    values: Numbers = uncertainty[used]
    unknown = np.isnan(values)
    # Sums of the same terms in another order differ in their last digits: these are one level.
    values = np.where(unknown, np.nanmax(values, initial=0.0) + 1, values).round(9)
    shuffled = np.random.default_rng(seed).permutation(len(used))
    order = shuffled[np.argsort(-values[shuffled], kind="stable")]
    places, values = used[order], values[order]
    level = np.cumsum(np.concatenate(([0], np.diff(-values) > 0)))[: len(values)] if len(values) else np.zeros(0, int)
    return _Reviewed(
        human[places],
        judged[places],
        human[places] == judged[places],
        level.astype(np.int64),
        int(unknown.sum()),
        _repeated(groups, places),
    )


def _repeated(groups: Groups | None, places: NDArray[np.intp]) -> Groups | None:
    """The number, from 0, of the question of each of the pairs at ``places``; ``None`` where none has two of them."""
    import numpy as np

    if groups is None:
        return None
    there, numbers = np.unique(groups[places], return_inverse=True)
    return numbers.astype(np.int64) if len(there) < len(places) else None


def review_curve(
    human: Codes,
    judged: Codes,
    uncertainty: Numbers,
    *,
    shares: Sequence[float] = SHARES,
    reviewed_right: float = 1.0,
    groups: Groups | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> ReviewCurve:
    """The human-in-the-loop curve (HITLC): at each share the ``ceil(share n)`` most uncertain pairs are reviewed.

    ``human`` and ``judged`` are codes by pair, ``uncertainty`` the entropy of each pair (NaN where it is unknown).
    ``reviewed_right`` is the accuracy of a reviewed pair: 1 where a person's label is the truth. ``groups`` numbers the
    question of each pair: where questions repeat, intervals are over them. ``resamples`` are for the interval of the
    untouched part's kappa, and for all of those over questions; with 0 there is none.

    :raises ValueError: lengths differ, or a share is outside 0 to 1.
    """
    import numpy as np

    for share in (*shares, reviewed_right):
        if not 0 <= share <= 1:
            raise ValueError(f"A share is from 0 to 1, not {share}.")
    ordered = _in_order(human, judged, uncertainty, seed, groups)
    n, total = len(ordered.right), len(human)
    if not n:
        return ReviewCurve((), 0, total, 0, 0, seed, reviewed_right, None, True, _NO_PAIR)
    hits = np.concatenate(([0], np.cumsum(ordered.right)))
    whole = int(hits[-1])
    points = [
        _review_point(ordered, reviewed, reviewed_right, resamples, seed)
        for reviewed in sorted({ceil(round(share * n, 9)) for share in shares})
    ]
    after = (whole - hits + reviewed_right * np.arange(n + 1)) / n
    by_chance = np.linspace(whole / n, reviewed_right, n + 1)
    gain = float(np.trapezoid(after - by_chance, dx=1 / n))
    levels = int(ordered.level[-1]) + 1
    return ReviewCurve(tuple(points), n, total, ordered.unknown, levels, seed, reviewed_right, gain, n < FEW_PAIRS)


def _review_point(ordered: _Reviewed, reviewed: int, reviewed_right: float, resamples: int, seed: int) -> ReviewPoint:
    """The curve after the review of so many pairs."""
    from judgenet.stats.curves import pair_counts

    n, whole, hits = len(ordered.right), int(ordered.right.sum()), int(ordered.right[:reviewed].sum())
    rest = slice(reviewed, None)
    untouched = agreement_of(pair_counts(ordered.human[rest], ordered.judged[rest]))
    within = _untouched_intervals(ordered, untouched, reviewed, resamples, seed)
    return ReviewPoint(
        reviewed=reviewed,
        share=reviewed / n,
        accuracy=(whole - hits + reviewed_right * reviewed) / n,
        interval=_reviewed_interval(ordered, reviewed, reviewed_right, resamples, seed),
        by_chance=(whole / n) * (1 - reviewed / n) + reviewed_right * reviewed / n,
        mended=reviewed - hits,
        untouched=untouched,
        untouched_interval=within.accuracy,
        untouched_kappa_interval=within.kappa,
        reasons=_untouched_reasons(untouched, within),
    )


def _untouched_intervals(
    ordered: _Reviewed, untouched: Agreement, reviewed: int, resamples: int, seed: int
) -> AgreementIntervals:
    import numpy as np

    if ordered.question is None or reviewed == len(ordered.right):
        return agreement_intervals(untouched, resamples=resamples, seed=seed)
    _, numbers = np.unique(ordered.question[reviewed:], return_inverse=True)
    table = label_table(numbers, ordered.human[reviewed:], ordered.judged[reviewed:])
    return agreements_intervals([untouched], [table.astype(float)], resamples=resamples, seed=seed)[0]


def _untouched_reasons(untouched: Agreement, intervals: AgreementIntervals) -> dict[str, str]:
    """Why figures of the pairs that nobody reviewed, and their intervals, are missing."""
    if untouched.accuracy is None:
        figures = ("accuracy", "macro_f1", "kappa")
        return dict.fromkeys((*figures, *(f"{name}_ci" for name in figures)), "every pair is reviewed")
    return dict(untouched.reasons) | {f"{name}_ci": why for name, why in intervals.reasons.items()}


def _reviewed_interval(
    ordered: _Reviewed, reviewed: int, reviewed_right: float, resamples: int, seed: int
) -> Interval | None:
    """The interval of the accuracy of all pairs after a review; reviewers who err are taken to err on their last
    pairs."""
    right = ordered.right.copy()
    surely = round(reviewed_right * reviewed)
    right[:surely], right[surely:reviewed] = True, False
    if ordered.question is None:
        return wilson(int(right.sum()), len(right))
    return share_interval(ordered.question, right, resamples=resamples, seed=seed) if resamples else None


def review_need(
    human: Codes,
    judged: Codes,
    uncertainty: Numbers,
    target: float,
    *,
    reviewed_right: float = 1.0,
    groups: Groups | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> ReviewNeed:
    """The smallest reviewed share that reaches ``target``, measured and by the formula.

    The measured one is the smallest r with x + (errors found among the r n most uncertain) / n >= target, on the pairs
    that have label and verdict; x is the accuracy. ``groups`` numbers the question of each pair: intervals are over
    questions where these repeat.

    :raises ValueError: lengths differ, or a share is outside 0 to 1.
    """
    import numpy as np

    ordered = _in_order(human, judged, uncertainty, seed, groups)
    n = len(ordered.right)
    if not n:
        none = dict.fromkeys(("accuracy", "accuracy_ci", "measured", "measured_ci", "random", "random_ends"), _NO_PAIR)
        return ReviewNeed(target, None, None, None, None, None, None, None, 0, seed, none)
    hits = np.concatenate(([0], np.cumsum(ordered.right)))
    accuracy = float(hits[-1] / n)
    ends = _reviewed_interval(ordered, 0, reviewed_right, resamples, seed)
    formula = review_share(accuracy, target, reviewed_right)
    at_ends, known = None, ""
    if ends is not None:
        at_ends, known = review_interval(ends.low, ends.high, target, reviewed_right)
    after = hits[-1] - hits + reviewed_right * np.arange(n + 1)
    reached = np.flatnonzero(after >= target * n - TIE_TOLERANCE)
    reasons: dict[str, str] = {}
    if ends is None and ordered.question is not None:
        why = few_groups(ordered.question) or "no resamples were asked for"
        reasons |= dict.fromkeys(("accuracy_ci", "random_ends"), why)
    if known:
        reasons["random_ends"] = known
    if formula.review is None:
        reasons["random"] = formula.reason
    if not len(reached):
        why = "target out of reach: reviewed pairs are less accurate than it"
        reasons |= dict.fromkeys(("measured", "measured_ci"), why)
        return ReviewNeed(target, accuracy, ends, None, None, None, formula, at_ends, n, seed, reasons)
    reviewed = int(reached[0])
    interval, why = _need_interval(ordered, reviewed / n, target, reviewed_right, resamples, seed)
    if why:
        reasons["measured_ci"] = why
    return ReviewNeed(target, accuracy, ends, reviewed / n, reviewed, interval, formula, at_ends, n, seed, reasons)


def _need_interval(
    ordered: _Reviewed, measured: float, target: float, reviewed_right: float, resamples: int, seed: int
) -> tuple[Interval | None, str]:
    """A percentile interval over pairs of the smallest share (``measured`` in the pairs as they are): drawing pairs is
    drawing (level, right or wrong). Where questions repeat, whole questions are drawn."""
    import numpy as np

    n = len(ordered.right)
    if not resamples:
        return None, "no resamples were asked for"
    if ordered.question is not None and (why := few_groups(ordered.question)):
        return None, why
    levels = int(ordered.level[-1]) + 1
    cells = ordered.level * 2 + ordered.right
    random = np.random.default_rng(seed)
    if ordered.question is None:
        drawn = random.multinomial(n, np.bincount(cells, minlength=2 * levels) / n, size=resamples)
    else:
        drawn = np.empty((resamples, 2 * levels), np.int64)
        questions = int(ordered.question.max()) + 1
        for row in drawn:
            often = np.bincount(random.integers(questions, size=questions), minlength=questions)
            row[:] = np.bincount(cells, often[ordered.question], minlength=2 * levels)
    # A right and a wrong pseudo-pair of any level, so that resamples vary where all pairs are equal.
    count = n if ordered.question is None else int(ordered.question.max()) + 1
    extra = pseudo_cells((resamples,), pseudo_weight(count) * np.full(2 * levels, 1 / levels), n / count, seed)
    sums = (drawn + extra).reshape(resamples, levels, 2)
    sizes = np.concatenate((np.zeros((resamples, 1)), sums.sum(axis=2).cumsum(axis=1)), axis=1)
    hits = np.concatenate((np.zeros((resamples, 1)), sums[:, :, 1].cumsum(axis=1)), axis=1)
    after = hits[:, -1:] - hits + reviewed_right * sizes
    goal = target * sizes[:, -1]
    enough = after >= goal[:, None] - TIE_TOLERANCE
    first = enough.argmax(axis=1)
    at = np.arange(resamples)
    before = np.maximum(first - 1, 0)
    rise = after[at, first] - after[at, before]
    part = np.divide(goal - after[at, before], rise, out=np.zeros(resamples), where=(first > 0) & (rise > 0))
    needed = sizes[at, before] + part * (sizes[at, first] - sizes[at, before])
    there = enough.any(axis=1)
    missed = int((~there).sum())
    if missed > _MOST_UNREACHED * resamples:
        return None, f"out of reach in {missed:,} of {resamples:,} resamples"
    shares = needed[there] / sizes[there, -1]
    within = bootstrap_interval(shares, measured, None if ordered.question is None else count)
    if within.high - within.low < 1e-9:
        return None, f"the same share in nearly all of {resamples:,} resamples"
    return within, ""
