"""The win rate at equal length: how much of a preference goes with the length of the responses."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import exp, isfinite

from judgenet.stats.intervals import Interval, Z
from judgenet.stats.resampling import few_questions, widening

_STEEPEST = 10.0


@dataclass(frozen=True, slots=True)
class LengthAdjusted:
    """The win rate of B where both responses are equally long, and the slope by length; what is ``None`` has a
    ``reason``.

    It adjusts for association alone: where longer answers are truly better, it takes away real quality.
    """

    value: float | None
    interval: Interval | None
    slope: float | None
    n: int
    reason: str = ""


def length_adjusted(
    scores: Sequence[float], longer_b: Sequence[float], questions: Sequence[int] | None = None
) -> LengthAdjusted:
    """A logistic regression of scores for B (0, 1/2, 1) on tanh of the standardised difference of lengths, B minus A,
    with robust errors (HC0).

    A simple form of AlpacaEval's length-controlled win rate (Dubois et al., arXiv 2404.04475), without its terms for
    the difficulty of instructions. ``questions`` numbers the question of each pair: where one has several pairs, errors
    are robust to that (Liang and Zeger 1986), and below 10 questions there is no interval.

    :raises ValueError: the two differ in length.
    """
    if len(scores) != len(longer_b):
        raise ValueError(f"{len(scores)} scores do not go with {len(longer_b)} lengths.")
    n = len(scores)
    if not n:
        return LengthAdjusted(None, None, None, 0, "no pair has a verdict")
    if min(scores) == max(scores) != 0.5:
        return LengthAdjusted(None, None, None, n, "one response won every pair: the regression has no finite solution")
    import warnings

    import numpy as np
    import statsmodels.api as sm  # type: ignore[import-untyped]

    there = len(set(questions)) if questions is not None else n
    repeated, few = there < n, few_questions(there, n)
    lengths = np.asarray(longer_b, dtype=float)
    spread = float(lengths.std())
    columns = [np.ones(n)]
    if spread > 0:
        columns.append(np.tanh(lengths / spread))
    separated = "length alone separates the verdicts: the regression has no finite solution"
    with warnings.catch_warnings(), suppress(np.linalg.LinAlgError):
        # What it warns of is judged by its result below.
        warnings.simplefilter("ignore")
        fitted = None
        model = sm.GLM(np.asarray(scores, dtype=float), np.column_stack(columns), family=sm.families.Binomial())
        # Below the number of questions that an interval takes, no error is asked for: with one question it has none.
        if repeated and not few:
            fitted = model.fit(cov_type="cluster", cov_kwds={"groups": np.asarray(questions)})
        else:
            fitted = model.fit(cov_type="HC0")
    if fitted is None:
        return LengthAdjusted(None, None, None, n, separated)
    intercept, error = float(fitted.params[0]), float(fitted.bse[0])
    slope = float(fitted.params[1]) if spread > 0 else None
    if not (isfinite(intercept) and isfinite(error)) or abs(intercept) > _STEEPEST or abs(slope or 0.0) > _STEEPEST:
        return LengthAdjusted(None, None, None, n, separated)
    if few:
        return LengthAdjusted(_logistic(intercept), None, slope, n, f"no interval: {few}")
    if error <= 1e-12:
        return LengthAdjusted(
            _logistic(intercept), None, slope, n, "no interval: all verdicts are ties, so that nothing varies"
        )
    error *= Z * widening(there) if repeated else Z
    ends = Interval(_logistic(intercept - error), _logistic(intercept + error))
    return LengthAdjusted(_logistic(intercept), ends, slope, n)


def _logistic(value: float) -> float:
    # The end of an interval may lie so far out that its exponential is no float.
    return 1 / (1 + exp(-value)) if value > 0 else exp(value) / (1 + exp(value))
