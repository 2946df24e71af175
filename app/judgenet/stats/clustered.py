"""Corrected win rates of pairs that share questions: the estimates of :mod:`judgenet.stats.calibration`, with intervals
by a bootstrap over questions.

The estimates are the same; only what they may be off by is not, since pairs with one question depend on each other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.core.labels import Chosen
from judgenet.core.pairs import Verdict
from judgenet.stats import formulas
from judgenet.stats.calibration import (
    ORDER,
    SCORES,
    Estimate,
    Rates,
    Stratified,
    clipped,
    decided_share,
    inverted,
    rates,
)
from judgenet.stats.intervals import RESAMPLES, Interval, Z
from judgenet.stats.resampling import few_questions, resampled

Array = NDArray[np.float64]

_MOST_UNUSABLE = 0.01


class _Draws(NamedTuple):
    """Counts in each resample: labelled pairs by verdict and label (resamples, k, k), others by verdict (resamples, k),
    for the k classes in use."""

    labelled: Array
    others: Array


def split_counts(counts: Array) -> tuple[Counter[tuple[Verdict, Verdict]], Counter[Verdict]]:
    """(labelled pairs by verdict and label, the others by verdict) of an array (..., 4, 4) by verdict and label, codes
    as in :mod:`judgenet.stats.curves`. Pairs without a verdict are left out."""
    whole = counts.reshape(-1, 4, 4).sum(axis=0)
    labelled = {
        (said, human): int(whole[row, column])
        for row, said in enumerate(ORDER, 1)
        for column, human in enumerate(ORDER, 1)
        if whole[row, column]
    }
    return Counter(labelled), Counter({said: int(whole[row, 0]) for row, said in enumerate(ORDER, 1) if whole[row, 0]})


def rates_over_questions(counts: Array, chosen: Chosen, *, resamples: int = RESAMPLES, seed: int = 0) -> Rates:
    """:func:`judgenet.stats.calibration.rates` from counts by question, with intervals over questions where a question
    has several pairs.

    ``counts`` has the shape (questions, 4, 4): by verdict and by the label that is used, as
    :func:`judgenet.stats.resampling.question_counts` gives it. Estimates of means take the standard deviation over the
    resamples in place of their standard error; corrections by error rates and the rate of decided pairs take
    percentiles, and have no interval where more than 1 % of the resamples have no value. As the formulas add one even
    pseudo-label, each resample adds one even pseudo-question drawn like the others, so that there is a width where all
    labels agree. Below 10 questions there is no interval.
    """
    tables = counts[:, 1:, :]
    tables = tables[tables.any(axis=(1, 2))]
    labelled, others = split_counts(counts)
    found = rates(labelled, others, chosen, seed=seed)
    questions, pairs = len(tables), int(tables.sum())
    with_label = int(tables[:, :, 1:].any(axis=(1, 2)).sum())
    estimates = {
        method: replace(estimate, questions=questions if method == "naive" else with_label)
        for method, estimate in found.estimates.items()
    }
    found = replace(found, estimates=estimates, decided=replace(found.decided, questions=with_label))
    if questions == pairs:
        return replace(found, stratified=replace(found.stratified, estimate=estimates["stratified"]))
    few = few_questions(with_label, sum(labelled.values()))
    few_all = few_questions(questions, pairs)
    places = [ORDER.index(verdict) for verdict in found.classes]
    drawn = resampled([tables.reshape(questions, -1)], resamples=resamples, seed=seed)[0].reshape(-1, 3, 4)[:, places]
    draws = _Draws(drawn[:, :, [1 + place for place in places]], drawn[:, :, 0])
    scores = np.array([SCORES[verdict] for verdict in found.classes])
    rng = np.random.default_rng((seed, 1))
    own = tables[:, places]
    by_label = own[:, :, [1 + place for place in places]]
    se = None if few else _stratified_se(draws, by_label, scores, rng)
    for method, estimate in found.estimates.items():
        if estimate.value is None:
            continue
        why = few_all if method == "naive" else few
        interval: Interval | None = None
        if not why:
            match method:
                case "naive":
                    interval = _mean(draws.labelled.sum(axis=2) + draws.others, own.sum(axis=2), scores, rng)
                case "human_only":
                    interval = _mean(draws.labelled.sum(axis=1), by_label.sum(axis=1), scores, rng)
                case "stratified":
                    assert se is not None
                    interval = clipped(_center(own, by_label, scores), Z * se)
                case "ppi":
                    interval = _powered(draws, scores, estimate.value)
                case "lee":
                    interval, why = _percentiles(*_two_class(draws))
                case "k_class":
                    interval, why = _percentiles(*inverted(draws.labelled, draws.others, scores))
        estimates[method] = _with(estimate, interval, why)
        if method == "ppi":
            estimates[method] = estimates[method].width_noted()
    decided = found.decided
    if decided.value is not None:
        interval = None if few else _ends(decided_share(draws.labelled, draws.others))
        decided = _with(decided, interval, few)
    headline = _headline(found.stratified, estimates["stratified"], se)
    return replace(found, estimates=estimates, decided=decided, stratified=headline)


def _with(estimate: Estimate, interval: Interval | None, why: str) -> Estimate:
    return replace(estimate, interval=interval, reason=f"no interval: {why}" if why else "")


def _headline(found: Stratified, estimate: Estimate, se: float | None) -> Stratified:
    if estimate.value is None:
        return replace(found, estimate=estimate)
    if se is None or not found.se or found.se_these_pairs is None:
        return replace(found, estimate=estimate, these_pairs=None, se=se, se_these_pairs=None)
    # What the questions widen the one interval by, they widen the other by.
    these = found.se_these_pairs * se / found.se
    return replace(
        found, estimate=estimate, these_pairs=clipped(estimate.value, Z * these), se=se, se_these_pairs=these
    )


def _weight(table: Array) -> float:
    """Pairs of each question that has some, in a table (questions, classes)."""
    per_question = table.sum(axis=1)
    there = per_question > 0
    return float(per_question[there].mean()) if there.any() else 1.0


def _pseudo(rng: np.random.Generator, resamples: int, classes: int, weight: float) -> Array:
    """A question of ``weight`` pairs spread over the classes, as often as it is drawn in each resample."""
    drawn: Array = weight * rng.poisson(1 / classes, size=(resamples, classes)).astype(np.float64)
    return drawn


def _mean(drawn: Array, table: Array, scores: Array, rng: np.random.Generator) -> Interval:
    """The interval of a mean score, from counts by class."""
    weight, k = _weight(table), len(scores)
    counts = drawn + _pseudo(rng, len(drawn), k, weight)
    sizes = counts.sum(axis=1)
    means = (counts @ scores)[sizes > 0] / sizes[sizes > 0]
    whole = table.sum(axis=0) + weight / k
    return clipped(float(whole @ scores / whole.sum()), Z * float(means.std()))


def _center(own: Array, by_label: Array, scores: Array) -> float:
    """The stratified estimate with a pseudo-question in the place of the pseudo-label."""
    totals = own.sum(axis=(0, 2))
    value = 0.0
    for place, total in enumerate(totals):
        weight = _weight(by_label[:, place])
        counts = by_label[:, place].sum(axis=0) + weight / len(scores)
        value += float(total / totals.sum() * (counts @ scores) / counts.sum())
    return value


def _stratified_se(draws: _Draws, by_label: Array, scores: Array, rng: np.random.Generator) -> float:
    k = len(scores)
    totals = draws.labelled.sum(axis=2) + draws.others
    value = np.zeros(len(totals))
    for place in range(k):
        counts = draws.labelled[:, place] + _pseudo(rng, len(totals), k, _weight(by_label[:, place]))
        sizes = counts.sum(axis=1)
        means = np.divide(counts @ scores, sizes, out=np.full(len(sizes), 0.5), where=sizes > 0)
        value += totals[:, place] * means
    return float((value / totals.sum(axis=1)).std())


def _powered(draws: _Draws, scores: Array, value: float) -> Interval:
    m, n = draws.labelled.sum(axis=(1, 2)), draws.others.sum(axis=1)
    usable = (m > 0) & (n > 0)
    table = [[row[usable] for row in column] for column in draws.labelled.transpose(1, 2, 0)]
    of = formulas.moments(table, list(draws.others[usable].T), tuple(scores))
    spread = np.asarray(of.spread)
    best = np.divide(of.cov, (1 + m / np.maximum(n, 1))[usable] * spread, out=np.zeros(len(spread)), where=spread > 0)
    means = np.asarray(formulas.powered(of, np.clip(best, 0.0, 1.0))[0])
    return clipped(value, Z * float(means.std()))


def _two_class(draws: _Draws) -> tuple[Array, NDArray[np.bool_]]:
    """The share of B by Lee et al.'s smoothed rates in each resample, and where it is defined."""
    right_0, wrong_0 = draws.labelled[:, 0, 0], draws.labelled[:, -1, 0]
    right_1, wrong_1 = draws.labelled[:, -1, -1], draws.labelled[:, 0, -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = formulas.adjusted(
            draws.others[:, -1], draws.others.sum(axis=1), right_0, right_0 + wrong_0, right_1, right_1 + wrong_1
        )
    return np.asarray(found.theta, dtype=np.float64), np.asarray(found.judge) > 1e-12


def _percentiles(values: Array, usable: NDArray[np.bool_]) -> tuple[Interval | None, str]:
    dropped = int((~usable).sum())
    if dropped > _MOST_UNUSABLE * len(values):
        return None, f"the judge's errors cannot be inverted in {dropped:,} of {len(values):,} resamples"
    return _ends(values[usable]), ""


def _ends(values: Array) -> Interval:
    low, high = np.clip(np.percentile(values, (2.5, 97.5)), 0.0, 1.0)
    return Interval(float(low), float(high))
