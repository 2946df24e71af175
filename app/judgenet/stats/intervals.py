"""How far figures computed over pairs may be off: 95 % intervals.

Pairs count as drawn independently, unless the questions are given: where questions repeat (several pairs of systems a
question), intervals over pairs are too narrow, and those over questions are what is to be shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from judgenet.core.pairs import VERDICTS
from judgenet.stats.agreement import Agreement, Counts, sign_test
from judgenet.stats.resampling import few_questions, resampled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Z = 1.959963984540054
"""The normal quantile of 95 %."""

RESAMPLES = 5000
FEW_PAIRS = 20
"""Below this many pairs a bootstrap interval is not to be trusted."""
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


def share_interval(
    questions: NDArray[np.int64], right: NDArray[np.bool_], *, resamples: int = RESAMPLES, seed: int = 0
) -> Interval | None:
    """The interval of a share over pairs: Wilson's, or where a question (of which each pair has the number) has several
    pairs a percentile bootstrap over questions; ``None`` where there is no pair, or questions are too few."""
    import numpy as np

    n, hits = len(right), int(right.sum())
    _, number = np.unique(questions, return_inverse=True)
    there = int(number.max(initial=-1)) + 1
    if there == n:
        return wilson(hits, n)
    if few_questions(there, n):
        return None
    if hits in (0, n):
        # Resamples of equal pairs do not vary; each question then counts as one pair.
        return wilson(there if hits else 0, there)
    table = np.stack([np.bincount(number, weights=of) for of in (right, np.ones(n))], axis=1).astype(float)
    [drawn] = resampled([table], resamples=resamples, seed=seed)
    return _middle(drawn[:, 0] / drawn[:, 1])


@dataclass(frozen=True, slots=True)
class AgreementIntervals:
    """The 95 % intervals of the figures of an :class:`~judgenet.stats.agreement.Agreement`.

    ``reasons`` says for each that is ``None`` why. ``few`` is true below :data:`FEW_PAIRS` pairs. ``questions`` is how
    many questions the pairs have, the effective n where they are fewer than the pairs; ``None`` where it is not known.
    """

    accuracy: Interval | None
    macro_f1: Interval | None
    kappa: Interval | None
    resamples: int
    seed: int
    few: bool
    reasons: dict[str, str]
    questions: int | None = None


_NAMES = ("accuracy", "macro_f1", "kappa")


def agreement_intervals(
    found: Agreement, *, resamples: int = RESAMPLES, seed: int = 0, questions: Sequence[Counts] | None = None
) -> AgreementIntervals:
    """Wilson's interval of accuracy, percentile bootstrap intervals over pairs of macro-F1 and kappa.

    Drawing pairs with their two verdicts is the same as drawing the nine cells of their table, so that the time does
    not grow with the number of pairs. Macro-F1 averages the same classes in each resample (``found.labels``). Resamples
    with one class only have no kappa; they are dropped, and where they are more than 1 % there is no interval. With
    ``resamples=0`` there is Wilson's alone.

    ``questions`` are the counts of (human label, verdict) question by question, and add up to those of ``found``. Where
    a question has several pairs, whole questions are drawn, for accuracy too; below 10 questions
    there are no intervals then. For several agreements over the same pairs :func:`agreements_intervals` is faster.
    """
    if questions is None:
        return _over_pairs(found, resamples, seed)
    import numpy as np

    rows = [[counts.get((human, said), 0) for human in VERDICTS for said in VERDICTS] for counts in questions]
    table = np.asarray(rows, dtype=float).reshape(-1, len(VERDICTS) ** 2)
    return agreements_intervals([found], [table], resamples=resamples, seed=seed)[0]


def agreements_intervals(
    found: Sequence[Agreement], tables: Sequence[NDArray[np.float64]], *, resamples: int = RESAMPLES, seed: int = 0
) -> list[AgreementIntervals]:
    """:func:`agreement_intervals` of several agreements, whose questions are drawn once for all.

    ``tables`` has for each the counts by question: shape (questions, 9), the cells by human label and then by verdict,
    both in the order a, b, tie. All have the same number of questions; those without a pair that counts are zeros.
    """
    apart: dict[int, NDArray[np.float64]] = {}
    within: dict[int, AgreementIntervals] = {}
    for place, (one, table) in enumerate(zip(found, tables, strict=True)):
        there = int(table.any(axis=1).sum())
        why = few_questions(there, one.n_used)
        if there == one.n_used or not one.n_used:
            within[place] = replace(_over_pairs(one, resamples, seed), questions=there)
        elif why or not resamples:
            reasons = dict.fromkeys(_NAMES, why or "no resamples were asked for")
            within[place] = AgreementIntervals(None, None, None, 0, seed, True, reasons, there)
        else:
            apart[place] = table[table.any(axis=1)] if len(tables) == 1 else table
    if apart:
        for place, drawn in zip(apart, resampled(list(apart.values()), resamples=resamples, seed=seed), strict=True):
            there = int(tables[place].any(axis=1).sum())
            within[place] = _bootstrap(found[place], drawn, seed, there)
    return [within[place] for place in range(len(found))]


def _over_pairs(found: Agreement, resamples: int, seed: int) -> AgreementIntervals:
    n = found.n_used
    if not n:
        reasons = dict.fromkeys(_NAMES, found.reasons.get("accuracy", "no pair has both verdicts"))
        return AgreementIntervals(None, None, None, 0, seed, True, reasons)
    hits = sum(found.confusion[place][place] for place in range(len(VERDICTS)))
    if not resamples:
        reasons = dict.fromkeys(("macro_f1", "kappa"), "no resamples were asked for")
        return AgreementIntervals(wilson(hits, n), None, None, 0, seed, n < FEW_PAIRS, reasons)
    import numpy as np

    shares = np.asarray(found.confusion, dtype=float).ravel() / n
    drawn = np.random.default_rng(seed).multinomial(n, shares, size=resamples).astype(float)
    return replace(_bootstrap(found, drawn, seed, None), accuracy=wilson(hits, n))


def _bootstrap(found: Agreement, drawn: NDArray[np.float64], seed: int, questions: int | None) -> AgreementIntervals:
    import numpy as np

    resamples = len(drawn)
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
    # A resample may hold no pair with both, where many questions have none.
    there = sizes > 0
    hits = sum(found.confusion[place][place] for place in range(len(VERDICTS)))
    accuracy = _middle(right.sum(axis=1)[there] / sizes[there])
    if hits in (0, found.n_used) and questions:
        # Resamples of equal pairs do not vary; each question then counts as one pair.
        accuracy = wilson(questions if hits else 0, questions) or accuracy
    few = found.n_used < FEW_PAIRS if questions is None else questions < FEW_PAIRS
    return AgreementIntervals(accuracy, _middle(f1[there]), kappa, resamples, seed, few, reasons, questions)


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


@dataclass(frozen=True, slots=True)
class Decided:
    """How often B is better among the verdicts that decide for one of the two, with Wilson's interval, and the exact
    two-sided sign test of A against B. All are ``None`` where no verdict decides."""

    value: float | None
    interval: Interval | None
    p: float | None
    n: int


def decided_win_rate(a: int, b: int) -> Decided:
    """The win rate of B over ``a + b`` verdicts that are no ties.

    :raises ValueError: a count is negative.
    """
    n = a + b
    within = wilson(b, n)
    return Decided(b / n, within, sign_test(a, b), n) if n else Decided(None, None, None, 0)


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
