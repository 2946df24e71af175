"""Corrected win rates of pairs that share questions: the estimates of :mod:`judgenet.stats.calibration`, with intervals
by a bootstrap over questions.

The estimates are the same; only their errors differ, since pairs with one question depend on each other.
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
    Method,
    Rates,
    Stratified,
    clipped,
    inverted,
    one_verdict,
    rates,
)
from judgenet.stats.curves import Floats
from judgenet.stats.intervals import RESAMPLES, Interval, Z, bootstrap_interval
from judgenet.stats.resampling import few_note, few_questions, resampled, widening

_MOST_UNUSABLE = 0.01


class _Draws(NamedTuple):
    """Counts in each resample: labelled pairs by verdict and label (resamples, k, k), others by verdict (resamples, k),
    for the k classes in use."""

    labelled: Floats
    others: Floats


def split_counts(counts: Floats) -> tuple[Counter[tuple[Verdict, Verdict]], Counter[Verdict]]:
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


def rates_over_questions(counts: Floats, chosen: Chosen, *, resamples: int = RESAMPLES, seed: int = 0) -> Rates:
    """:func:`judgenet.stats.calibration.rates` from counts by question, with intervals over questions where a question
    has several pairs.

    ``counts`` has the shape (questions, 4, 4): by verdict and by the label that is used, as
    :func:`judgenet.stats.resampling.question_counts` gives it. Estimates of means and the rate of decided pairs take
    the standard deviation over the resamples in place of their standard error; corrections by error rates take
    percentiles, and have no interval where more than 1 % of the resamples have no value. All are widened by Student's
    quantile for the number of questions. As the formulas add one even pseudo-label, each resample adds one even
    pseudo-question drawn like the others, so that there is a width where all labels agree. Below 10 questions there is
    no interval, and below 30 a note says that they are few.
    """
    tables = counts[:, 1:, :]
    tables = tables[tables.any(axis=(1, 2))]
    labelled, others = split_counts(counts)
    by_method = rates(labelled, others, chosen)
    questions, pairs = len(tables), int(tables.sum())
    with_label = int(tables[:, :, 1:].any(axis=(1, 2)).sum())
    by_method = _with_questions(by_method, questions, with_label)
    estimates = dict(by_method.estimates)
    if questions == pairs:
        return by_method
    few = few_questions(with_label, sum(labelled.values()))
    few_strata = few or one_verdict(labelled, others)
    few_all = few_questions(questions, pairs)
    places = [ORDER.index(verdict) for verdict in by_method.classes]
    drawn = resampled([tables.reshape(questions, -1)], resamples=resamples, seed=seed)[0].reshape(-1, 3, 4)[:, places]
    draws = _Draws(drawn[:, :, [1 + place for place in places]], drawn[:, :, 0])
    scores = np.array([SCORES[verdict] for verdict in by_method.classes])
    rng = np.random.default_rng((seed, 1))
    own = tables[:, places]
    by_label = own[:, :, [1 + place for place in places]]
    # One label alone has no estimate over questions: its interval is that of a pair, below.
    z = 0.0 if few or with_label < 2 else Z * widening(with_label)
    strata = None if few_strata or with_label < 2 else _by_verdict(draws, own, by_label, rng)
    for method, estimate in by_method.estimates.items():
        if estimate.value is None:
            continue
        why = few_all if method == "naive" else few_strata if method == "stratified" else few
        interval: Interval | None = None
        if not why:
            if method == "naive":
                counted, said = draws.labelled.sum(axis=2) + draws.others, own.sum(axis=2)
                interval = _mean(counted, said, scores, Z * widening(questions), rng)
            elif method == "human_only" and with_label != estimate.n:
                interval = _mean(draws.labelled.sum(axis=1), by_label.sum(axis=1), scores, z, rng)
            else:
                interval, why = _interval_of(method, estimate, estimate.value, draws, strata, scores, z, with_label)
        estimates[method] = _with(estimate, interval, why)
    decided = by_method.decided
    if decided.value is not None:
        decided = _with(decided, None if strata is None else _decided_interval(strata, z), few_strata)
    se = None if strata is None else float((strata.draws @ scores).std()) * widening(with_label)
    headline = _headline(by_method.stratified, estimates["stratified"], se, few_strata)
    return replace(by_method, estimates=estimates, decided=decided, stratified=headline)


def _with_questions(by_method: Rates, questions: int, with_label: int) -> Rates:
    """The estimates with how many questions each rests on: all, or those with a label."""
    estimates = {
        method: replace(estimate, questions=questions if method == "naive" else with_label)
        for method, estimate in by_method.estimates.items()
    }
    of_these = replace(by_method.stratified.these_pairs, questions=with_label)
    return replace(
        by_method,
        estimates=estimates,
        decided=replace(by_method.decided, questions=with_label),
        stratified=replace(by_method.stratified, estimate=estimates["stratified"], these_pairs=of_these),
    )


def _decided_interval(strata: _Strata, z: float) -> Interval:
    """The interval of the share of B over that of A and B."""
    shares = strata.draws[:, -1] / (strata.draws[:, 0] + strata.draws[:, -1])
    middle = strata.whole[-1] / (strata.whole[0] + strata.whole[-1])
    return clipped(float(middle), z * float(shares.std()))


def _interval_of(
    method: Method,
    estimate: Estimate,
    value: float,
    draws: _Draws,
    strata: _Strata | None,
    scores: Floats,
    z: float,
    with_label: int,
) -> tuple[Interval | None, str]:
    """The interval of an estimate that rests on labels, or why it has none."""
    match method:
        case "stratified":
            assert strata is not None
            return clipped(float(strata.whole @ scores), z * float((strata.draws @ scores).std())), ""
        case "ppi":
            return _powered(draws, scores, value, z), ""
        case "lee":
            return _percentiles(*_two_class(draws), value, with_label)
        case "k_class":
            return _percentiles(*inverted(draws.labelled, draws.others, scores), value, with_label)
    # Human labels alone, no two of which share a question.
    return estimate.interval, ""


def _with(estimate: Estimate, interval: Interval | None, why: str) -> Estimate:
    """The estimate with its interval over questions, which holds it."""
    if interval is None or estimate.value is None:
        return replace(estimate, interval=None, reason=f"no interval: {why}" if why else "")
    held = Interval(min(interval.low, estimate.value), max(interval.high, estimate.value))
    note = few_note(estimate.questions) if estimate.questions is not None else ""
    return replace(estimate, interval=held, reason="", notes=(*estimate.notes, note) if note else estimate.notes)


def _headline(stratified: Stratified, estimate: Estimate, se: float | None, few: str) -> Stratified:
    these = stratified.these_pairs
    if estimate.value is None or these.value is None:
        return replace(stratified, estimate=estimate)
    known = these.n == these.labels
    if se is None or not stratified.se or stratified.se_these_pairs is None:
        without = these if known else _with(these, None, few)
        return replace(stratified, estimate=estimate, these_pairs=without, se=se, se_these_pairs=None)
    # What the questions widen the one interval by, they widen the other by.
    se_these = stratified.se_these_pairs * se / stratified.se
    if not known:
        these = _with(these, clipped(these.value, Z * se_these), "")
    return replace(stratified, estimate=estimate, these_pairs=these, se=se, se_these_pairs=se_these)


class _Strata(NamedTuple):
    """Shares of the classes among people by the verdict-stratified estimate, with a pseudo-question a verdict: in each
    resample (resamples, k), and of the whole (k)."""

    draws: Floats
    whole: Floats


def _by_verdict(draws: _Draws, own: Floats, by_label: Floats, rng: np.random.Generator) -> _Strata:
    resamples, k = draws.others.shape
    totals = draws.labelled.sum(axis=2) + draws.others
    all_totals = own.sum(axis=(0, 2))
    shares, whole = np.zeros((resamples, k)), np.zeros(k)
    for place in range(k):
        weight = _weight(by_label[:, place])
        counts = draws.labelled[:, place] + _pseudo(rng, resamples, k, weight)
        sizes = counts.sum(axis=1, keepdims=True)
        shares += totals[:, [place]] * np.divide(counts, sizes, out=np.full(counts.shape, 1 / k), where=sizes > 0)
        own_counts = by_label[:, place].sum(axis=0) + weight / k
        whole += all_totals[place] * own_counts / own_counts.sum()
    return _Strata(shares / totals.sum(axis=1, keepdims=True), whole / all_totals.sum())


def _weight(table: Floats) -> float:
    """Pairs of each question that has some, in a table (questions, classes)."""
    per_question = table.sum(axis=1)
    there = per_question > 0
    return float(per_question[there].mean()) if there.any() else 1.0


def _pseudo(rng: np.random.Generator, resamples: int, classes: int, weight: float) -> Floats:
    """A question of ``weight`` pairs spread over the classes, as often as it is drawn in each resample."""
    drawn: Floats = weight * rng.poisson(1 / classes, size=(resamples, classes)).astype(np.float64)
    return drawn


def _mean(drawn: Floats, table: Floats, scores: Floats, z: float, rng: np.random.Generator) -> Interval:
    """The interval of a mean score, from counts by class: as many standard deviations as ``z`` to both sides."""
    weight, k = _weight(table), len(scores)
    counts = drawn + _pseudo(rng, len(drawn), k, weight)
    sizes = counts.sum(axis=1)
    means = (counts @ scores)[sizes > 0] / sizes[sizes > 0]
    whole = table.sum(axis=0) + weight / k
    return clipped(float(whole @ scores / whole.sum()), z * float(means.std()))


def _powered(draws: _Draws, scores: Floats, value: float, z: float) -> Interval:
    m, n = draws.labelled.sum(axis=(1, 2)), draws.others.sum(axis=1)
    usable = (m > 0) & (n > 0)
    table = [[row[usable] for row in column] for column in draws.labelled.transpose(1, 2, 0)]
    moments = formulas.moments(table, list(draws.others[usable].T), tuple(scores))
    spread = np.asarray(moments.spread)
    best = np.divide(
        moments.cov, (1 + m / np.maximum(n, 1))[usable] * spread, out=np.zeros(len(spread)), where=spread > 0
    )
    means = np.asarray(formulas.powered(moments, np.clip(best, 0.0, 1.0))[0])
    return clipped(value, z * float(means.std()))


def _two_class(draws: _Draws) -> tuple[Floats, NDArray[np.bool_]]:
    """The share of B by Lee et al.'s smoothed rates in each resample, and where it is defined."""
    right_0, wrong_0 = draws.labelled[:, 0, 0], draws.labelled[:, -1, 0]
    right_1, wrong_1 = draws.labelled[:, -1, -1], draws.labelled[:, 0, -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        adjusted = formulas.adjusted(
            draws.others[:, -1], draws.others.sum(axis=1), right_0, right_0 + wrong_0, right_1, right_1 + wrong_1
        )
    return np.asarray(adjusted.theta, dtype=np.float64), np.asarray(adjusted.judge) > 1e-12


def _percentiles(
    values: Floats, usable: NDArray[np.bool_], value: float, questions: int
) -> tuple[Interval | None, str]:
    dropped = int((~usable).sum())
    if dropped > _MOST_UNUSABLE * len(values):
        return None, f"the judge's errors cannot be inverted in {dropped:,} of {len(values):,} resamples"
    return bootstrap_interval(np.clip(values[usable], 0.0, 1.0), value, questions), ""
