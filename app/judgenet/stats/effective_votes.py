"""How many independent votes a panel of judges is worth (Kish's effective number).

Judges that err on the same pairs are copies of one another: n judges whose errors have the mean correlation rho are
worth ``n / (1 + (n - 1) rho)`` independent ones (Kish, Survey Sampling, 1965, 8.2; for panels of LLM judges
arXiv 2605.29800). Errors need human labels. Without labels the correlation of the verdicts themselves stands in: it is
the larger the more judges agree, rightly or wrongly, so that it counts fewer votes than errors do.

Verdicts are codes as in :mod:`judgenet.stats.curves`: 0 none, 1 A, 2 tie, 3 B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgenet.stats.curves import Codes, Floats
from judgenet.stats.intervals import RESAMPLES, Interval
from judgenet.stats.resampling import few_questions, resampled, widening

MANY_JUDGES = 60
"""More judges than this have their interval by a formula: resamples of all twos of them would take gigabytes."""

MANY_JUDGES_WITH_GAPS = 30
"""As :data:`MANY_JUDGES`, where verdicts are missing: each two judges have sums of their own then."""

SIGNS = np.array([np.nan, 1.0, 0.0, -1.0])
"""What a verdict of each code is worth where verdicts are correlated."""


@dataclass(frozen=True, slots=True)
class EffectiveVotes:
    """What a set of judges is worth.

    ``value`` is the effective number of votes of ``judges``, with its 95 % ``interval`` over questions; ``correlation``
    the mean over all pairs of judges that it follows from. Both rest on ``n`` of ``n_total`` pairs, of ``n_questions``
    questions. On these pairs ``missing`` verdicts of the judges are not there: by errors each counts as not right, by
    verdicts it is left out. ``basis`` says what is correlated. What is undefined is ``None`` and has a ``reason``.
    """

    value: float | None
    interval: Interval | None
    correlation: float | None
    judges: int
    basis: str
    n: int
    n_total: int
    n_questions: int
    missing: int = 0
    reason: str = ""


def error_matrix(verdicts: Codes, human: Codes) -> Floats:
    """Of shape (labelled pairs, judges): 1 where a judge is not right, 0 where it is. A judge without a verdict is not
    right. Pairs without a label, or without any verdict, are left out."""
    used = labelled(verdicts, human)
    wrong: Floats = (verdicts[used] != human[used, None]).astype(np.float64)
    return wrong


def labelled(verdicts: Codes, human: Codes) -> NDArray[np.bool_]:
    """The pairs that errors rest on: with a human label and some judge's verdict."""
    used: NDArray[np.bool_] = (human > 0) & (verdicts > 0).any(axis=1)
    return used


def correlations(values: Floats) -> Floats:
    """Pearson's correlations of the columns, over the rows that both have (NaN is missing); NaN where a column does not
    vary. Of shape (columns, columns)."""
    there = ~np.isnan(values)
    filled = np.where(there, values, 0.0)
    mask = there.astype(np.float64)
    n = mask.T @ mask
    with np.errstate(invalid="ignore", divide="ignore"):
        sums = filled.T @ mask
        means, other_means = sums / n, sums.T / n
        covariance = filled.T @ filled / n - means * other_means
        squares = (filled**2).T @ mask / n
        spread = np.maximum(squares - means**2, 0.0)
        matrix: Floats = covariance / np.sqrt(spread * spread.T)
    matrix[(spread < 1e-12) | (spread.T < 1e-12)] = np.nan
    return matrix


FINITE = 1e6
"""More votes than that come of a mean correlation at its least value, where the number has no upper bound."""


def effective(correlation: float, judges: int) -> float:
    """Kish's effective number of ``judges`` with this mean correlation, between 1 and infinity for one of -1/(n-1)."""
    return judges / max(1.0 + (judges - 1) * correlation, 1e-9)


def effective_votes(
    verdicts: Codes,
    human: Codes,
    questions: NDArray[np.int64],
    *,
    columns: Sequence[int] | None = None,
    by_errors: bool = True,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> EffectiveVotes:
    """What the judges of ``columns`` (``None``: all) are worth.

    ``verdicts`` are of shape (pairs, judges), ``human`` and ``questions`` (numbers) have a value a pair. ``by_errors``
    correlates errors against the labels; else verdicts, which needs none. A judge without a verdict on a pair is not
    right there (it does not help the panel), and the result says how often that is so; a judge without any verdict is
    left out of the count, since it casts no vote.
    """
    chosen = verdicts if columns is None else verdicts[:, list(columns)]
    used = labelled(chosen, human) if by_errors else (chosen > 0).sum(axis=1) > 1
    if used.any():
        chosen = chosen[:, (chosen[used] > 0).any(axis=0)]
    judges = chosen.shape[1]
    basis = "errors against human labels" if by_errors else "verdicts"
    values = error_matrix(chosen, human) if by_errors else SIGNS[chosen[used]]
    _, number = np.unique(questions[used], return_inverse=True)
    n, groups = len(number), int(number.max(initial=-1)) + 1
    missing = int((chosen[used] == 0).sum())

    def refused(reason: str) -> EffectiveVotes:
        return EffectiveVotes(None, None, None, judges, basis, n, len(verdicts), groups, missing, reason)

    if judges < 2:
        return refused("one judge is one vote")
    if not n:
        return refused("no pair has both a human label and a verdict" if by_errors else "no pair has two verdicts")
    mean = _mean_correlation(values)
    if mean is None:
        return refused("no two judges both err and are right" if by_errors else "no two judges both vary")
    if effective(mean, judges) > FINITE:
        return refused(
            f"the {'errors' if by_errors else 'verdicts'} cancel out on these pairs: no finite number of votes"
        )
    interval, reason = None, few_questions(groups, n)
    if not reason and resamples:
        gaps = bool(np.isnan(values).any())
        if judges > (MANY_JUDGES_WITH_GAPS if gaps else MANY_JUDGES):
            interval = _normal_interval(values, number, mean, judges)
        elif gaps:
            interval = _interval_with_gaps(values, number, groups, judges, resamples, seed)
        else:
            interval = _interval(values, number, groups, judges, resamples, seed)
        interval, reason = _finite(interval)
    return EffectiveVotes(
        effective(mean, judges), interval, mean, judges, basis, n, len(verdicts), groups, missing, reason
    )


def _mean_correlation(values: Floats) -> float | None:
    matrix = correlations(values)
    rest = matrix[~np.eye(len(matrix), dtype=bool)]
    return None if np.isnan(rest).all() else float(np.nanmean(rest))


def _finite(interval: Interval | None) -> tuple[Interval | None, str]:
    """An interval of effective votes that has an upper end, or why there is none."""
    if interval is None:
        return None, "too few resamples have a correlation"
    if interval.high > FINITE:
        return None, "in some resamples the errors cancel out: the interval has no upper end"
    return interval, ""


def _interval(
    values: Floats, number: NDArray[np.int64], groups: int, judges: int, resamples: int, seed: int
) -> Interval | None:
    """The percentile interval over questions, drawn with replacement: sums of products by question are drawn, so that
    a resample costs no pass over the pairs. No value may be missing."""
    # Correlations are the same; counts that are drawn must not be below 0.
    filled = values - min(0.0, float(values.min()))
    upper = np.triu_indices(judges)
    products = filled[:, upper[0]] * filled[:, upper[1]]
    table = np.zeros((groups, products.shape[1] + judges + 1))
    for column, products_of_pair in enumerate(np.concatenate([products, filled, np.ones((len(filled), 1))], axis=1).T):
        table[:, column] = np.bincount(number, weights=products_of_pair, minlength=groups)
    whole = resampled([table], resamples=resamples, seed=seed)[0]
    drawn: list[float] = []
    for start in range(0, resamples, 200):
        sums = whole[start : start + 200]
        count = len(sums)
        n = sums[:, -1:]
        means = sums[:, -1 - judges : -1] / n
        second = np.zeros((count, judges, judges))
        second[:, upper[0], upper[1]] = second[:, upper[1], upper[0]] = sums[:, : products.shape[1]] / n
        covariance = second - means[:, :, None] * means[:, None, :]
        spread = np.sqrt(np.maximum(np.einsum("rii->ri", covariance), 0.0))
        with np.errstate(invalid="ignore", divide="ignore"):
            matrix = covariance / (spread[:, :, None] * spread[:, None, :])
        matrix[:, np.arange(judges), np.arange(judges)] = np.nan
        matrix[~np.isfinite(matrix)] = np.nan
        some = ~np.isnan(matrix).all(axis=(1, 2))
        drawn += [effective(float(mean), judges) for mean in np.nanmean(matrix[some], axis=(1, 2))]
    return _percentiles(drawn, resamples)


def _interval_with_gaps(
    values: Floats, number: NDArray[np.int64], groups: int, judges: int, resamples: int, seed: int
) -> Interval | None:
    """As :func:`_interval` where values are missing: the correlation of two judges is that over the rows that both
    have, as in :func:`correlations`, so that sums are drawn for each two of them."""
    there = ~np.isnan(values)
    filled = np.where(there, values - min(0.0, float(np.nanmin(values))), 0.0)
    one, other = np.triu_indices(judges, 1)
    x, y = filled[:, one] * there[:, other], filled[:, other] * there[:, one]
    both: Floats = (there[:, one] & there[:, other]).astype(np.float64)
    moments = (both, x, y, x * x, y * y, x * y)
    table = np.zeros((groups, len(moments) * len(one)))
    for place, column in enumerate(np.concatenate(moments, axis=1).T):
        table[:, place] = np.bincount(number, weights=column, minlength=groups)
    whole = resampled([table], resamples=resamples, seed=seed)[0]
    drawn: list[float] = []
    for start in range(0, resamples, 200):
        n, sx, sy, sxx, syy, sxy = np.split(whole[start : start + 200], len(moments), axis=1)
        variances = np.maximum(n * sxx - sx * sx, 0.0) * np.maximum(n * syy - sy * sy, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            matrix = np.where(variances > 1e-12, (n * sxy - sx * sy) / np.sqrt(variances), np.nan)
        some = ~np.isnan(matrix).all(axis=1)
        drawn += [effective(float(mean), judges) for mean in np.nanmean(matrix[some], axis=1)]
    return _percentiles(drawn, resamples)


def _percentiles(drawn: Sequence[float], resamples: int) -> Interval | None:
    """The 95 % interval of drawn numbers of votes; ``None`` where too many resamples have none."""
    if len(drawn) < 0.99 * resamples:
        return None
    low, high = np.percentile(drawn, (2.5, 97.5))
    return Interval(float(low), float(high))


def _normal_interval(values: Floats, number: NDArray[np.int64], mean: float, judges: int) -> Interval | None:
    """The interval over questions for many judges, by linearisation: a pair moves the correlation r of two judges by
    z_j z_k - r (z_j^2 + z_k^2) / 2 over the number of pairs (z are standardised values), and the mean over all twos of
    judges by the mean of that, which takes no sum over the twos. Its variance is that of the sums over questions."""
    filled = np.where(np.isnan(values), np.nanmean(values, axis=0), values)
    spread = filled.std(axis=0)
    z = (filled[:, spread > 1e-6] - filled[:, spread > 1e-6].mean(axis=0)) / spread[spread > 1e-6]
    n, varying = z.shape
    if varying < 2:
        return None
    shared = (z.T @ z / n).sum(axis=0) - 1.0
    moves = (z.sum(axis=1) ** 2 - (z**2).sum(axis=1) - z**2 @ shared) / (varying * (varying - 1))
    sums = np.bincount(number, weights=moves - moves.mean())
    groups = len(sums)
    spread_of_mean = 1.959963984540054 * widening(groups) * float(np.sqrt((sums**2).sum())) / n
    ends = (effective(min(1.0, mean + spread_of_mean), judges), effective(mean - spread_of_mean, judges))
    return Interval(*ends)


@dataclass(frozen=True, slots=True)
class AddedJudge:
    """The judge that is added at a step of :func:`greedy_panel`, with what the panel is worth then."""

    column: int
    votes: float
    accuracy: float | None


def greedy_panel(verdicts: Codes, human: Codes, most: int | None = None) -> list[AddedJudge]:
    """Judges in the order in which each adds most: first the most accurate one, then always the one with which the
    panel is worth the most effective votes; of equal ones the more accurate.

    ``accuracy`` is that of the panel's majority (a tied vote is a tie), chosen on the very pairs it is measured on:
    cross-fit it before it is shown as a figure of new pairs.
    """
    used = labelled(verdicts, human)
    said, truth = verdicts[used], human[used]
    errors = error_matrix(verdicts, human)
    if not len(errors):
        return []
    matrix = np.nan_to_num(correlations(errors), nan=1.0)
    right = 1.0 - errors.mean(axis=0)
    left, chosen = set(range(errors.shape[1])), [int(right.argmax())]
    left -= set(chosen)
    panel = [AddedJudge(chosen[0], 1.0, float(right[chosen[0]]))]
    while left and len(chosen) < (most or len(right)):
        best = max(left, key=lambda judge: (_worth(matrix, [*chosen, judge]), right[judge]))
        chosen.append(best)
        left.discard(best)
        panel.append(AddedJudge(best, _worth(matrix, chosen), _majority_accuracy(said[:, chosen], truth)))
    return panel


def _worth(matrix: Floats, columns: Sequence[int]) -> float:
    part = matrix[np.ix_(columns, columns)]
    return effective(float(part[~np.eye(len(columns), dtype=bool)].mean()), len(columns))


def _majority_accuracy(said: Codes, human: Codes) -> float:
    lead = (said == 1).sum(axis=1) - (said == 3).sum(axis=1)
    votes = np.where(lead > 0, 1, np.where(lead < 0, 3, 2))
    return float((votes == human).mean())
