"""How far figures computed over pairs may be off: 95 % intervals.

Pairs count as drawn independently, unless the questions are given: where questions repeat (several pairs of systems a
question), intervals over pairs are too narrow, and whoever shows them must say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from judgenet.core.pairs import VERDICTS
from judgenet.stats.agreement import Agreement, Counts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Z = 1.959963984540054
"""The normal quantile of 95 %."""

RESAMPLES = 5000
FEW_PAIRS = 20
"""Below this many pairs a bootstrap interval is not to be trusted."""
FEWEST_QUESTIONS = 10
"""Below this many questions with several pairs there is no interval."""
_MOST_DROPPED = 0.01


class Interval(NamedTuple):
    """The ends of a 95 % interval."""

    low: float
    high: float


def wilson(hits: int, n: int) -> Interval | None:
    """Wilson's score interval of the share ``hits / n`` (Wilson 1927); ``None`` where ``n`` is 0.

    :raises ValueError: ``hits`` is not between 0 and ``n``.
    """
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is no share.")
    if not n:
        return None
    share = hits / n
    spread = Z * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    middle, scale = share + Z * Z / (2 * n), 1 + Z * Z / n
    return Interval(max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale))


@dataclass(frozen=True, slots=True)
class AgreementIntervals:
    """The 95 % intervals of the figures of an :class:`~judgenet.stats.agreement.Agreement`.

    ``reasons`` says for each that is ``None`` why. ``few`` is true below :data:`FEW_PAIRS` pairs.
    """

    accuracy: Interval | None
    macro_f1: Interval | None
    kappa: Interval | None
    resamples: int
    seed: int
    few: bool
    reasons: dict[str, str]


def agreement_intervals(
    found: Agreement, *, resamples: int = RESAMPLES, seed: int = 0, questions: Sequence[Counts] | None = None
) -> AgreementIntervals:
    """Wilson's interval of accuracy, percentile bootstrap intervals over pairs of macro-F1 and kappa.

    Drawing pairs with their two verdicts is the same as drawing the nine cells of their table, so that the time does
    not grow with the number of pairs. Macro-F1 averages the same classes in each resample (``found.labels``). Resamples
    with one class only have no kappa; they are dropped, and where they are more than 1 % there is no interval. With
    ``resamples=0`` there is Wilson's alone.

    ``questions`` are the counts of (human label, verdict) question by question, and add up to those of ``found``. Where
    a question has several pairs, whole questions are drawn, for accuracy too; below :data:`FEWEST_QUESTIONS` questions
    there are no intervals then.
    """
    n = found.n_used
    if not n:
        why = found.reasons.get("accuracy", "no pair has both verdicts")
        reasons = dict.fromkeys(("accuracy", "macro_f1", "kappa"), why)
        return AgreementIntervals(None, None, None, 0, seed, True, reasons)
    hits = sum(found.confusion[place][place] for place in range(len(VERDICTS)))
    if not resamples:
        reasons = dict.fromkeys(("macro_f1", "kappa"), "no resamples were asked for")
        return AgreementIntervals(wilson(hits, n), None, None, 0, seed, n < FEW_PAIRS, reasons)
    import numpy as np

    rng = np.random.default_rng(seed)
    of_each = _tables(questions)
    repeated = 0 < len(of_each) < n
    if repeated and len(of_each) < FEWEST_QUESTIONS:
        why = f"the {n:,} pairs are of {len(of_each):,} questions only; {FEWEST_QUESTIONS} are needed for an interval"
        reasons = dict.fromkeys(("accuracy", "macro_f1", "kappa"), why)
        return AgreementIntervals(None, None, None, 0, seed, True, reasons)
    if repeated:
        even = np.full(len(of_each), 1 / len(of_each))
        drawn = np.stack([rng.multinomial(len(of_each), even) @ of_each for _ in range(resamples)])
    else:
        drawn = rng.multinomial(n, np.asarray(found.confusion, dtype=float).ravel() / n, size=resamples).astype(float)
    tables = drawn.reshape(resamples, 3, 3)
    sizes = tables.sum(axis=(1, 2))
    right = np.diagonal(tables, axis1=1, axis2=2)
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    of_labels = [VERDICTS.index(label) for label in found.labels]
    marginals = rows + columns
    f1 = np.divide(2 * right, marginals, out=np.zeros_like(right), where=marginals > 0)[:, of_labels].mean(axis=1)
    by_chance = (rows * columns).sum(axis=1)
    defined = by_chance < sizes * sizes
    kappas = (sizes * right.sum(axis=1) - by_chance)[defined] / (sizes * sizes - by_chance)[defined]
    reasons = {}
    kappa = None
    if found.kappa is None:
        reasons["kappa"] = found.reasons.get("kappa", "kappa is undefined")
    elif len(kappas) < (1 - _MOST_DROPPED) * resamples:
        reasons["kappa"] = f"undefined in {resamples - len(kappas):,} of {resamples:,} resamples"
    else:
        kappa = _middle(kappas)
    accuracy = _middle(right.sum(axis=1) / sizes) if repeated else wilson(hits, n)
    return AgreementIntervals(accuracy, _middle(f1), kappa, resamples, seed, n < FEW_PAIRS, reasons)


def _tables(questions: Sequence[Counts] | None) -> NDArray[np.float64]:
    """The nine cells of each question that has a pair with label and verdict."""
    import numpy as np

    rows = [[counts.get((human, said), 0) for human in VERDICTS for said in VERDICTS] for counts in questions or ()]
    return np.asarray([row for row in rows if any(row)], dtype=float).reshape(-1, len(VERDICTS) ** 2)


def _middle(values: NDArray[np.float64]) -> Interval:
    import numpy as np

    low, high = np.percentile(values, (2.5, 97.5))
    return Interval(float(low), float(high))


@dataclass(frozen=True, slots=True)
class WinRate:
    """How often B is better than A, a tie counting half: of verdicts as they are, uncorrected for their errors.

    ``value`` and ``interval`` are ``None`` where there is no verdict at all.
    """

    value: float | None
    interval: Interval | None
    a: int
    b: int
    tie: int

    @property
    def n(self) -> int:
        return self.a + self.b + self.tie


def win_rate(a: int, b: int, tie: int) -> WinRate:
    """The win rate of B over ``a + b + tie`` verdicts.

    The interval adds one pair spread evenly over the three verdicts, so that it has a width where all agree, and is
    held within 0 to 1 (after Agresti and Caffo's smoothing, for a score of 0, 1/2 and 1).
    """
    n = a + b + tie
    if not n:
        return WinRate(None, None, a, b, tie)
    share_b, share_tie = (b + 1 / 3) / (n + 1), (tie + 1 / 3) / (n + 1)
    mean = share_b + share_tie / 2
    spread = Z * sqrt((share_b + share_tie / 4 - mean * mean) / (n + 1))
    return WinRate((b + tie / 2) / n, Interval(max(0.0, mean - spread), min(1.0, mean + spread)), a, b, tie)
