"""95 % intervals of figures over pairs.

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
from judgenet.stats.resampling import FEW_QUESTIONS, few_questions, pseudo_cells, resampled, widening

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
    # Where all or none are hits the end is the share itself, which rounding must not leave outside.
    return Interval(max(0.0, min(share, (middle - spread) / scale)), min(1.0, max(share, (middle + spread) / scale)))


def bootstrap_interval(
    drawn: NDArray[np.float64], value: float, questions: int | None, bounds: tuple[float, float] = (0.0, 1.0)
) -> Interval:
    """The percentile interval of resampled figures, which holds the figure itself and stays within ``bounds``.

    Where ``questions`` were drawn, both ends are moved away from ``value`` as Student's quantile asks for
    (:func:`judgenet.stats.resampling.widening`).
    """
    import numpy as np

    low, high = (float(end) for end in np.percentile(drawn, (2.5, 97.5)))
    if questions is not None:
        by = widening(questions)
        low, high = value + (low - value) * by, value + (high - value) * by
    return Interval(max(bounds[0], min(low, value)), min(bounds[1], max(high, value)))


def share_interval(
    questions: NDArray[np.int64], right: NDArray[np.bool_], *, resamples: int = RESAMPLES, seed: int = 0
) -> Interval | None:
    """The interval of a share over pairs: Wilson's, or where a question (of which each pair has the number) has several
    pairs a percentile bootstrap over questions; ``None`` where there is no pair, or questions are too few."""
    import numpy as np

    n = len(right)
    _, number = np.unique(questions, return_inverse=True)
    there = int(number.max(initial=-1)) + 1
    if there == n:
        return wilson(int(right.sum()), n)
    if few_questions(there, n):
        return None
    table = np.stack([np.bincount(number, weights=flags) for flags in (~right, right)], axis=1).astype(float)
    return shares_over_questions(table, resamples=resamples, seed=seed)


def shares_over_questions(table: NDArray[np.float64], *, resamples: int = RESAMPLES, seed: int = 0) -> Interval:
    """The interval of the share of hits over questions, from misses and hits by question: shape (questions, 2).

    Each resample has a pseudo-question of each kind drawn with it (:func:`judgenet.stats.resampling.pseudo_cells`);
    where all pairs are equal, each question counts as one pair.
    """
    import numpy as np

    table = table[table.any(axis=1)]
    there, sums = len(table), table.sum(axis=0)
    if not sums.all() and (within := wilson(there if sums[1] else 0, there)):
        return within
    [drawn] = resampled([table], resamples=resamples, seed=seed)
    drawn = drawn + pseudo_cells((resamples,), np.ones(2), sums.sum() / there, seed)
    return bootstrap_interval(drawn[:, 1] / drawn.sum(axis=1), float(sums[1] / sums.sum()), there)


@dataclass(frozen=True, slots=True)
class AgreementIntervals:
    """The 95 % intervals of the figures of an :class:`~judgenet.stats.agreement.Agreement`.

    ``reasons`` says for each that is ``None`` why. ``few`` is true below :data:`FEW_PAIRS` pairs, or below
    :data:`~judgenet.stats.resampling.FEW_QUESTIONS` questions where these repeat. ``questions`` is how many questions
    the pairs have, the effective n where they are fewer than the pairs; ``None`` where it is not known.
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
    agreement: Agreement, *, resamples: int = RESAMPLES, seed: int = 0, questions: Sequence[Counts] | None = None
) -> AgreementIntervals:
    """Wilson's interval of accuracy, percentile bootstrap intervals over pairs of macro-F1 and kappa.

    Drawing pairs with their two verdicts is the same as drawing the nine cells of their table, so that the time does
    not grow with the number of pairs. Each resample has about one right and one wrong pseudo-pair drawn with it, spread
    over the classes in use, so that the intervals have a width where all pairs are equal. Macro-F1 averages the same
    classes in each resample (``agreement.labels``). Without the pseudo-pairs resamples of one class would have no
    kappa; where they are more than 1 % there is no interval. With ``resamples=0`` there is Wilson's alone.

    ``questions`` are the counts of (human label, verdict) question by question, and add up to those of ``agreement``.
    Where a question has several pairs, whole questions are drawn, for accuracy too; below 10 questions
    there are no intervals then. For several agreements over the same pairs :func:`agreements_intervals` is faster.
    """
    if questions is None:
        return _over_pairs(agreement, resamples, seed)
    import numpy as np

    rows = [[counts.get((human, said), 0) for human in VERDICTS for said in VERDICTS] for counts in questions]
    table = np.asarray(rows, dtype=float).reshape(-1, len(VERDICTS) ** 2)
    return agreements_intervals([agreement], [table], resamples=resamples, seed=seed)[0]


def agreements_intervals(
    agreements: Sequence[Agreement], tables: Sequence[NDArray[np.float64]], *, resamples: int = RESAMPLES, seed: int = 0
) -> list[AgreementIntervals]:
    """:func:`agreement_intervals` of several agreements; drawings of questions are shared where that changes nothing.

    ``tables`` has for each the counts by question: shape (questions, 9), the cells by human label and then by verdict,
    both in the order a, b, tie. Questions without a pair that counts are zeros, and are not drawn: the interval of an
    agreement depends neither on them nor on the agreements beside it.
    """
    apart: dict[int, NDArray[np.float64]] = {}
    within: dict[int, AgreementIntervals] = {}
    for place, (agreement, table) in enumerate(zip(agreements, tables, strict=True)):
        there = int(table.any(axis=1).sum())
        why = few_questions(there, agreement.n_used)
        if there == agreement.n_used or not agreement.n_used:
            within[place] = replace(_over_pairs(agreement, resamples, seed), questions=there)
        elif why or not resamples:
            reasons = dict.fromkeys(_NAMES, why or "no resamples were asked for")
            within[place] = AgreementIntervals(None, None, None, 0, seed, True, reasons, there)
        else:
            apart[place] = table[table.any(axis=1)]
    for questions in {len(table) for table in apart.values()}:
        alike = {place: table for place, table in apart.items() if len(table) == questions}
        for place, drawn in zip(alike, resampled(list(alike.values()), resamples=resamples, seed=seed), strict=True):
            within[place] = _bootstrap(agreements[place], drawn, seed, questions)
    return [within[place] for place in range(len(agreements))]


def _over_pairs(agreement: Agreement, resamples: int, seed: int) -> AgreementIntervals:
    n = agreement.n_used
    if not n:
        reasons = dict.fromkeys(_NAMES, agreement.reasons.get("accuracy", "no pair has both verdicts"))
        return AgreementIntervals(None, None, None, 0, seed, True, reasons)
    hits = sum(agreement.confusion[place][place] for place in range(len(VERDICTS)))
    if not resamples:
        reasons = dict.fromkeys(("macro_f1", "kappa"), "no resamples were asked for")
        return AgreementIntervals(wilson(hits, n), None, None, 0, seed, n < FEW_PAIRS, reasons)
    import numpy as np

    shares = np.asarray(agreement.confusion, dtype=float).ravel() / n
    drawn = np.random.default_rng(seed).multinomial(n, shares, size=resamples).astype(float)
    return replace(_bootstrap(agreement, drawn, seed, None), accuracy=wilson(hits, n))


def _bootstrap(
    agreement: Agreement, drawn: NDArray[np.float64], seed: int, questions: int | None
) -> AgreementIntervals:
    import numpy as np

    resamples = len(drawn)
    undefined = int(one_class(drawn.reshape(resamples, 3, 3)).sum())
    of_labels = [VERDICTS.index(label) for label in agreement.labels]
    n = questions or agreement.n_used
    drawn = drawn + pseudo_cells((resamples,), pseudo_weight(n) * pseudo_table(of_labels), agreement.n_used / n, seed)
    tables = drawn.reshape(resamples, 3, 3)
    sizes = tables.sum(axis=(1, 2))
    right = np.diagonal(tables, axis1=1, axis2=2)
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    marginals = rows + columns
    f1 = np.divide(2 * right, marginals, out=np.zeros_like(right), where=marginals > 0)[:, of_labels].mean(axis=1)
    by_chance = (rows * columns).sum(axis=1)
    reasons = {}
    kappa = None
    if agreement.kappa is None:
        reasons["kappa"] = agreement.reasons.get("kappa", "kappa is undefined")
    elif undefined > _MOST_DROPPED * resamples:
        reasons["kappa"] = f"undefined in {undefined:,} of {resamples:,} resamples"
    else:
        kappas = (sizes * right.sum(axis=1) - by_chance) / (sizes * sizes - by_chance)
        kappa = bootstrap_interval(kappas, agreement.kappa, questions, (-1.0, 1.0))
    assert agreement.accuracy is not None
    assert agreement.macro_f1 is not None
    accuracy = bootstrap_interval(right.sum(axis=1) / sizes, agreement.accuracy, questions)
    if questions and agreement.accuracy in (0, 1):
        # Each question counts as one pair.
        accuracy = wilson(questions if agreement.accuracy else 0, questions) or accuracy
    macro_f1 = bootstrap_interval(f1, agreement.macro_f1, questions)
    few = agreement.n_used < FEW_PAIRS if questions is None else questions < FEW_QUESTIONS
    return AgreementIntervals(accuracy, macro_f1, kappa, resamples, seed, few, reasons, questions)


def one_class(tables: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which tables of label by verdict (tables, 3, 3) have one class only, the same on both sides: their kappa is
    undefined."""
    import numpy as np

    right = np.diagonal(tables, axis1=1, axis2=2)
    alone: NDArray[np.bool_] = right.max(axis=1) >= tables.sum(axis=(1, 2))
    return alone


def pseudo_table(classes: Sequence[int]) -> NDArray[np.float64]:
    """A right pseudo-pair and a wrong one, spread over the cells of label by verdict (9 in a row) of the classes in
    use; with one class in use the wrong one is an error into either of the others."""
    import numpy as np

    own = np.isin(np.arange(3), classes)
    used = own[:, None] & own if len(classes) > 1 else own[:, None] | own
    wrong = used & ~np.eye(3, dtype=bool)
    table: NDArray[np.float64] = np.diag(own / own.sum()) + wrong / wrong.sum()
    return table.ravel()


def pseudo_weight(n: int) -> float:
    """How much the pseudo-pairs count beside ``n`` pairs or questions: whole beside 20 or fewer, where half ones cover
    too little if nearly all pairs are right; half from 120 on, where whole ones would move the ends for nothing."""
    return max(0.5, min(1.0, 1.1 - n / 200))


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
    two-sided sign test of A against B. All are ``None`` where no verdict decides.

    Where verdicts share questions the interval is over questions, and ``questions_p`` is the exact sign test of the
    questions with more for A against those with more for B; ``questions`` is how many they are. ``reason`` says why
    there is no interval.
    """

    value: float | None
    interval: Interval | None
    p: float | None
    n: int
    questions_p: float | None = None
    questions: int | None = None
    reason: str = ""


def decided_win_rate(a: int, b: int, by_question: NDArray[np.float64] | None = None, *, seed: int = 0) -> Decided:
    """The win rate of B over ``a + b`` verdicts that are no ties; ``by_question`` counts A and B by question, of shape
    (questions, 2).

    :raises ValueError: a count is negative.
    """
    n = a + b
    within = wilson(b, n)
    if not n:
        return Decided(None, None, None, 0, reason="no verdict decides for one of the two")
    rate = Decided(b / n, within, sign_test(a, b), n)
    if by_question is None:
        return rate
    table = by_question[by_question.any(axis=1)]
    if len(table) == n:
        return replace(rate, questions=n)
    why = few_questions(len(table), n)
    more, less = (int((table[:, winner] > table[:, loser]).sum()) for winner, loser in ((0, 1), (1, 0)))
    return replace(
        rate,
        interval=None if why else shares_over_questions(table, seed=seed),
        questions_p=sign_test(more, less),
        questions=len(table),
        reason=f"no interval: {why}" if why else "",
    )


def shown_rate(a: int, b: int, tie: int) -> WinRate:
    """The win rate of B over ``a + b + tie`` verdicts, with an interval that holds for few and one-sided verdicts too:
    Wilson's where none is a tie, else that of :func:`win_rate` with a pseudo-pair for each of the three classes."""
    rate = win_rate(a, b, tie, pseudo=3)
    return rate if tie else replace(rate, interval=wilson(b, a + b))


def win_rate(a: int, b: int, tie: int, *, pseudo: int = 1) -> WinRate:
    """The win rate of B over ``a + b + tie`` verdicts.

    The interval adds ``pseudo`` pairs spread evenly over the three verdicts, so that it has a width where all agree,
    and is held within 0 to 1 (after Agresti and Caffo's smoothing, for a score of 0, 1/2 and 1).
    """
    n = a + b + tie
    if not n:
        return WinRate(None, None, a, b, tie)
    share_b, share_tie = (b + pseudo / 3) / (n + pseudo), (tie + pseudo / 3) / (n + pseudo)
    mean = share_b + share_tie / 2
    spread = Z * sqrt((share_b + share_tie / 4 - mean * mean) / (n + pseudo))
    return WinRate((b + tie / 2) / n, Interval(max(0.0, mean - spread), min(1.0, mean + spread)), a, b, tie)


def win_rate_ends(
    wins: NDArray[np.float64], ties: NDArray[np.float64], n: NDArray[np.float64], pseudo: int = 3
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends of the interval of :func:`win_rate` for many counts at once: of ``n`` verdicts B won ``wins``."""
    import numpy as np

    share_b, share_tie = (wins + pseudo / 3) / (n + pseudo), (ties + pseudo / 3) / (n + pseudo)
    mean = share_b + share_tie / 2
    spread = Z * np.sqrt((share_b + share_tie / 4 - mean * mean) / (n + pseudo))
    return np.maximum(0.0, mean - spread), np.minimum(1.0, mean + spread)
