"""Verdicts with a guarantee: which verdicts may be accepted so that at most a share alpha of them is wrong.

From labelled pairs a threshold on a confidence is chosen such that, with probability 1 - delta over the labels, the
error among the accepted verdicts is at most alpha (Learn then Test, Angelopoulos et al., arXiv 2110.01052: a fixed
sequence of thresholds, from the strictest to the loosest, each tested at delta, to the first that fails; a sequence
needs no correction for the number of tests). A plug-in threshold, whose error is alpha on the labels themselves,
promises nothing: it is exceeded about half the time.

What the sequence is may not depend on the labels. Its thresholds are values of the confidence over all judged pairs,
labelled or not, and it begins at the strictest that is likely to leave enough labels for the promise.

The error that is promised is that of all pairs like these, and of all accepted pairs of the run from which the labels
were drawn at random (drawn without replacement, so many errors are rarer still). The error seen in some accepted pairs
alone, such as those without a label, varies about it.

The number of labels must be chosen beforehand too: whoever looks after every few labels, and stops when something can
be promised, breaks promises more often.

Pairs of one question are no independent evidence, so that one pair a question is used, drawn by the seed: where
questions have several pairs, all questions weigh alike in the promise.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log

import numpy as np
from numpy.typing import NDArray

from judgenet.stats.curves import Codes, Floats

IntCounts = NDArray[np.int64]

MOST_LEVELS = 20
"""So many thresholds are tested at most: with finer steps one of them fails sooner by chance."""
MOST_LABELS = 20_000
"""Larger numbers of labels are no advice."""
_LIKELY = 0.1
"""The sequence begins where in nine of ten draws enough labels are accepted."""
_FEWEST_TO_PROJECT = 10
_DRAWS = 400


@dataclass(frozen=True, slots=True)
class LevelCounts:
    """The labels and pairs at each threshold, from the strictest to the loosest; arrays of one length.

    At ``confidence`` or above are ``labels``, of which ``errors`` are wrong, and ``pairs`` judged pairs.
    ``labels_used`` is one label a question of ``labels_total``; ``judged`` counts the pairs with a verdict,
    ``questions`` theirs.
    """

    confidence: Floats
    labels: IntCounts
    errors: IntCounts
    pairs: IntCounts
    labels_used: int
    labels_total: int
    judged: int
    questions: int


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold that was tested: of ``n`` labelled pairs with at least this ``confidence``, ``errors`` were wrong,
    and ``p`` is that of the hypothesis that the error is above alpha."""

    confidence: float
    n: int
    errors: int
    p: float


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What can be promised.

    ``threshold`` is the least confidence of an accepted verdict; ``decided`` of ``pairs`` pairs with a verdict reach it
    (``share``). It rests on ``labels`` labelled pairs, of ``labels_total`` (one a question is used). ``tested`` are the
    thresholds in the order in which they were tested. Where nothing can be promised ``threshold`` is ``None`` and
    ``reason`` says why. ``labels_needed`` is the least number of accepted labels, all of them right, that any promise
    takes.
    """

    alpha: float
    delta: float
    threshold: float | None
    share: float
    decided: int
    pairs: int
    errors: int
    accepted_labels: int
    labels: int
    labels_total: int
    labels_needed: int
    tested: tuple[Threshold, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AlphaShare:
    """What can be promised for an ``alpha``: the threshold, ``None`` where nothing can, and the share of verdicts that
    reach it."""

    alpha: float
    threshold: float | None
    decided: int
    share: float


@dataclass(frozen=True, slots=True)
class LabelsWorth:
    """What so many ``labels`` (one a question) are likely to bring: the probability that something can be promised,
    and the mean share of verdicts that are then accepted (0 where nothing can be promised)."""

    labels: int
    promised: float
    share: float


def least_labels(alpha: float, delta: float) -> int:
    """How many accepted labels, all of them right, the promise takes: the least n with (1 - alpha)^n <= delta."""
    return ceil(log(delta) / log(1 - alpha))


def binomial_tail(errors: IntCounts | int, n: IntCounts | int, alpha: float) -> Floats:
    """The probability of at most ``errors`` of ``n`` where each is wrong with probability ``alpha``: the p of the
    hypothesis that the error of pairs like these is above alpha."""
    from scipy.stats import binom  # type: ignore[import-untyped]

    tail: Floats = np.asarray(binom.cdf(errors, n, alpha), dtype=np.float64)
    return tail


def one_a_question(indexes: IntCounts, questions: IntCounts, seed: int) -> IntCounts:
    """Of these pairs one of each question, drawn by the seed, in order."""
    shuffled = np.random.default_rng(seed).permutation(indexes)
    _, first = np.unique(questions[shuffled], return_index=True)
    return np.sort(shuffled[first])


def count_levels(confidence: Floats, verdicts: Codes, human: Codes, questions: IntCounts, seed: int = 0) -> LevelCounts:
    """The labels and pairs at each threshold.

    All arguments have a value a pair. Pairs without a verdict, or whose ``confidence`` is NaN, are left out, and those
    with a label calibrate.
    """
    judged = (verdicts > 0) & ~np.isnan(confidence)
    labelled = np.flatnonzero(judged & (human > 0))
    used = one_a_question(labelled, questions, seed)
    sure, wrong = confidence[used], verdicts[used] != human[used]
    of_all = np.sort(confidence[judged])
    levels = np.unique(of_all)[::-1]
    if len(levels) > MOST_LEVELS:
        at = len(of_all) * np.arange(MOST_LEVELS) // MOST_LEVELS
        levels = np.unique(of_all[at])[::-1]

    def reached(values: Floats) -> IntCounts:
        counts_at: IntCounts = (values[None, :] >= levels[:, None]).sum(axis=1)
        return counts_at

    return LevelCounts(
        confidence=levels,
        labels=reached(sure),
        errors=reached(sure[wrong]),
        pairs=reached(of_all),
        labels_used=len(used),
        labels_total=len(labelled),
        judged=int(judged.sum()),
        questions=len(np.unique(questions[judged])),
    )


def guarantee(
    confidence: Floats,
    verdicts: Codes,
    human: Codes,
    questions: IntCounts,
    *,
    alpha: float,
    delta: float = 0.05,
    seed: int = 0,
) -> Guarantee:
    """The loosest threshold that is promised, for arguments as :func:`count_levels` takes them.

    :raises ValueError: ``alpha`` or ``delta`` is not between 0 and 1.
    """
    return promise(count_levels(confidence, verdicts, human, questions, seed), alpha, delta)


def promise(counts: LevelCounts, alpha: float, delta: float) -> Guarantee:
    """The loosest threshold that is promised.

    :raises ValueError: ``alpha`` or ``delta`` is not between 0 and 1.
    """
    if not 0 < alpha < 1 or not 0 < delta < 1:
        raise ValueError("alpha and delta are shares between 0 and 1.")
    needed = least_labels(alpha, delta)
    begin = _beginning(counts, counts.labels_used, needed)
    p = binomial_tail(counts.errors, counts.labels, alpha)
    failed = np.flatnonzero(p[begin:] > delta)
    passed = int(failed[0]) if len(failed) else len(p) - begin
    best = begin + passed - 1 if passed else None
    shown = slice(begin, begin + passed + 1) if counts.labels_used >= needed else slice(0, 0)
    columns = (counts.confidence[shown], counts.labels[shown], counts.errors[shown], p[shown])
    tested = tuple(
        Threshold(float(level), int(n), int(errors), float(share))
        for level, n, errors, share in zip(*columns, strict=True)
    )
    decided = 0 if best is None else int(counts.pairs[best])
    return Guarantee(
        alpha=alpha,
        delta=delta,
        threshold=None if best is None else float(counts.confidence[best]),
        share=decided / counts.judged if counts.judged else 0.0,
        decided=decided,
        pairs=counts.judged,
        errors=0 if best is None else int(counts.errors[best]),
        accepted_labels=0 if best is None else int(counts.labels[best]),
        labels=counts.labels_used,
        labels_total=counts.labels_total,
        labels_needed=needed,
        tested=tested,
        reason="" if best is not None else _why_nothing(counts, alpha, needed, tested),
    )


def _beginning(counts: LevelCounts, labels: int, needed: int) -> int:
    """The threshold that is tested first, known without the labels: the strictest that is likely to leave twice the
    needed number of so many labels, so that a few may be wrong; else that number; else the loosest."""
    from scipy.stats import binom

    if not len(counts.pairs):
        return 0
    left = binom.ppf(_LIKELY, labels, counts.pairs / counts.judged)
    for enough in (2 * needed, needed):
        if left[-1] >= enough:
            return int(np.argmax(left >= enough))
    return len(left) - 1


def _why_nothing(counts: LevelCounts, alpha: float, needed: int, tested: tuple[Threshold, ...]) -> str:
    if counts.labels_used < needed:
        return (
            f"{counts.labels_used:,} labelled questions have a verdict, and {needed:,} accepted ones without an error "
            "are needed"
        )
    first = tested[0]
    if first.n < needed:
        return f"no threshold leaves {needed:,} labelled verdicts"
    if first.errors <= alpha * first.n:
        return (
            f"of the surest {first.n:,} labelled verdicts {first.errors:,} are wrong: an error of more than {alpha:g} "
            f"is still possible (p = {first.p:.3f})"
        )
    return (
        f"the surest {first.n:,} labelled verdicts hold {first.errors:,} errors: too many for an error of at most "
        f"{alpha:g}"
    )


def shares_decided(counts: LevelCounts, alphas: tuple[float, ...], delta: float) -> tuple[AlphaShare, ...]:
    """What can be promised for each alpha. Each holds by itself, where it was chosen before the labels were seen."""
    promises = (promise(counts, alpha, delta) for alpha in alphas)
    return tuple(AlphaShare(level.alpha, level.threshold, level.decided, level.share) for level in promises)


def labels_worth(
    counts: LevelCounts,
    alpha: float,
    delta: float,
    *,
    sizes: tuple[int, ...] = (),
    draws: int = _DRAWS,
    seed: int = 0,
) -> tuple[LabelsWorth, ...]:
    """What other numbers of labels are likely to bring, if verdicts err as often as on the labels there are.

    Labels are drawn anew, ``draws`` times a size: how many fall between two thresholds from the pairs' shares, and how
    many of these are wrong from the errors seen there, half an error and one label added, so that errors that were not
    seen by chance are allowed for. Empty with fewer than ten labels: they say nothing about the errors. Without
    ``sizes`` these are steps up to the number of questions.
    """
    if counts.labels_used < _FEWEST_TO_PROJECT or not counts.questions:
        return ()
    rng = np.random.default_rng(seed)
    needed = least_labels(alpha, delta)
    pairs = np.diff(counts.pairs, prepend=0)
    n, errors = np.diff(counts.labels, prepend=0), np.diff(counts.errors, prepend=0)
    rates = (errors + 0.5) / (n + 1)
    share, above = pairs / pairs.sum(), counts.pairs / counts.judged
    rows = []
    for size in sizes or label_sizes(counts, needed):
        drawn = rng.multinomial(size, share, draws)
        labels, wrong = drawn.cumsum(axis=1), rng.binomial(drawn, rates).cumsum(axis=1)
        p = binomial_tail(wrong, labels, alpha)
        passed = np.logical_and.accumulate(p[:, _beginning(counts, size, needed) :] <= delta, axis=1).sum(axis=1)
        last = _beginning(counts, size, needed) + passed - 1
        decided = np.where(passed > 0, above[np.maximum(last, 0)], 0.0)
        rows.append(LabelsWorth(size, float((passed > 0).mean()), float(decided.mean())))
    return tuple(rows)


def label_sizes(counts: LevelCounts, needed: int) -> tuple[int, ...]:
    """Numbers of labels to ask about: from what any promise takes, in steps of about a quarter more, to all."""
    return tuple(dict.fromkeys([*_steps(needed, counts.questions), counts.questions]))


def _steps(begin: int, end: int) -> list[int]:
    """Numbers from ``begin`` to below ``end``, each about a quarter more; of two digits, so that nobody takes them for
    exact."""
    steps, size = [], float(begin)
    while size < end:
        step = 10 ** max(0, floor(log(size, 10)) - 1)
        steps.append(ceil(size / step) * step)
        size *= 1.25
    return [at for at in steps if at < end]


def labels_likely(
    counts: LevelCounts, worth: tuple[LabelsWorth, ...], alpha: float, delta: float, probability: float = 0.8
) -> int | None:
    """The least number of labels with which something can be promised in so many of the draws: of those of ``worth``,
    else of larger ones, which take more pairs than the run has. ``None`` where none does up to :data:`MOST_LABELS`."""
    known = next((chance.labels for chance in worth if chance.promised >= probability), None)
    if known is not None or not worth:
        return known
    for size in _steps(worth[-1].labels + 1, MOST_LABELS):
        if labels_worth(counts, alpha, delta, sizes=(size,))[0].promised >= probability:
            return size
    return None
