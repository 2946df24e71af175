"""Verdicts with a guarantee: which verdicts may be accepted so that at most a share alpha of them is wrong.

From labelled pairs a threshold on a confidence is chosen such that, with probability 1 - delta over the labels, the
error among the accepted verdicts of new pairs is at most alpha (Learn then Test, Angelopoulos et al.,
arXiv 2110.01052: exact binomial tests of a fixed sequence of thresholds, from the strictest to the loosest). A plug-in
threshold, whose error is alpha on the labels themselves, promises nothing: it is exceeded about half the time.

Pairs of one question are no independent evidence, so that one pair a question is used, drawn by the seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgenet.stats.curves import Codes, Floats

Confidence = Literal["calls", "orders", "margin"]
"""What tells how sure a verdict is: the share of the valid calls that say it; whether both orders say it, then that
share; or how far apart the mean scores are."""


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
    (``share``). ``labels`` is how many labelled pairs it rests on, of ``labels_total`` (one a question is used).
    ``tested`` are the thresholds in the order in which they were tested. Where nothing can be promised ``threshold`` is
    ``None``, ``reason`` says why, and ``labels_needed`` is the least number of accepted labels without an error that
    would do.
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


def least_labels(alpha: float, delta: float) -> int:
    """How many accepted labels, all of them right, the promise takes: the least n with (1 - alpha)^n <= delta."""
    return ceil(log(delta) / log(1 - alpha))


def guarantee(
    confidence: Floats,
    verdicts: Codes,
    human: Codes,
    questions: NDArray[np.int64],
    *,
    alpha: float,
    delta: float = 0.05,
    seed: int = 0,
) -> Guarantee:
    """The loosest threshold that is promised.

    All arguments have a value a pair; pairs without a verdict are left out, and those with a label calibrate.
    ``confidence`` is NaN where there is none.

    :raises ValueError: ``alpha`` or ``delta`` is not between 0 and 1.
    """
    if not 0 < alpha < 1 or not 0 < delta < 1:
        raise ValueError("alpha and delta are shares between 0 and 1.")
    judged = (verdicts > 0) & ~np.isnan(confidence)
    labelled = np.flatnonzero(judged & (human > 0))
    used = one_a_question(labelled, questions, seed)
    needed = least_labels(alpha, delta)
    sure, wrong = confidence[used], verdicts[used] != human[used]
    # Where fewer labels than needed lie above a threshold, no result could pass the test: the sequence begins below.
    # Which thresholds those are does not depend on the labels.
    tested: list[Threshold] = []
    best: Threshold | None = None
    for level in np.unique(sure)[::-1]:
        accepted = sure >= level
        n, errors = int(accepted.sum()), int(wrong[accepted].sum())
        if n < needed:
            continue
        found = Threshold(float(level), n, errors, binomial_tail(errors, n, alpha))
        tested.append(found)
        if found.p > delta:
            break
        best = found
    decided = 0 if best is None else int((judged & (confidence >= best.confidence)).sum())
    reason = ""
    if best is None:
        most = len(used)
        reason = (
            f"{most:,} labelled questions have a verdict, and {needed:,} accepted ones without an error are needed"
            if most < needed
            else f"the surest {tested[0].n:,} labelled verdicts hold {tested[0].errors:,} errors: too many for "
            f"an error of at most {alpha:g}"
            if tested
            else f"no threshold leaves {needed:,} labelled verdicts"
        )
    pairs = int(judged.sum())
    return Guarantee(
        alpha=alpha,
        delta=delta,
        threshold=None if best is None else best.confidence,
        share=decided / pairs if pairs else 0.0,
        decided=decided,
        pairs=pairs,
        errors=0 if best is None else best.errors,
        accepted_labels=0 if best is None else best.n,
        labels=len(used),
        labels_total=len(labelled),
        labels_needed=needed,
        tested=tuple(tested),
        reason=reason,
    )


def binomial_tail(errors: int, n: int, alpha: float) -> float:
    """The probability of at most ``errors`` of ``n`` where each is wrong with probability ``alpha``: the p of the
    hypothesis that the error is above alpha."""
    from scipy.stats import binom  # type: ignore[import-untyped]

    return float(binom.cdf(errors, n, alpha))


def one_a_question(indexes: NDArray[np.int64], questions: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Of these pairs one of each question, drawn by the seed, in order."""
    shuffled = np.random.default_rng(seed).permutation(indexes)
    _, first = np.unique(questions[shuffled], return_index=True)
    return np.sort(shuffled[first])


def confidences(kind: Confidence, verdicts: Codes, calls: NDArray[np.uint8], margin: Floats) -> Floats:
    """How sure each verdict is, a value a pair, NaN without a valid call.

    ``calls`` are of shape (pairs, neurons, 2, 3): how many calls of each order said A, a tie, B. ``margin`` is the
    absolute difference of the mean scores, NaN where there are none.
    """
    by_order = calls.sum(axis=1, dtype=np.int64)
    total = by_order.sum(axis=(1, 2))
    said = np.take_along_axis(by_order.sum(axis=1), np.maximum(verdicts[:, None].astype(np.int64) - 1, 0), axis=1)[:, 0]
    share: Floats = np.divide(said, total, out=np.full(len(total), np.nan), where=(total > 0) & (verdicts > 0))
    if kind == "calls":
        return share
    if kind == "margin":
        of_margin: Floats = np.where(verdicts > 0, margin, np.nan)
        return of_margin
    lead = by_order[:, :, 0] - by_order[:, :, 2]
    of_order = np.where(lead > 0, 1, np.where(lead < 0, 3, 2))
    both = (by_order.sum(axis=2) > 0).all(axis=1) & (of_order == verdicts[:, None]).all(axis=1)
    with_orders: Floats = share + both
    return with_orders
