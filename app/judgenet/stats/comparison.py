"""Two networks on the same pairs: whose verdicts are better, and what differs in the win rates they imply.

All differences are the first less the second, with 95 % intervals over pairs; over questions, where the counts by
question are given and questions have several pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from judgenet.core.labels import Chosen
from judgenet.core.pairs import VERDICTS, Verdict
from judgenet.stats import formulas
from judgenet.stats.agreement import Agreement, agreement_of, clustered_sign_test, sign_test
from judgenet.stats.calibration import SCORES, stratified, too_few
from judgenet.stats.distributions import chi2_tail
from judgenet.stats.intervals import RESAMPLES, Interval, Z, bootstrap_interval, one_class, pseudo_weight
from judgenet.stats.resampling import few_note, few_questions, pseudo_cells, resampled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

TwoVerdicts = Mapping[tuple[Verdict | None, Verdict, Verdict], int]
"""How many pairs have which human label, verdict of the first and verdict of the second."""

_MOST_DROPPED = 0.01


@dataclass(frozen=True, slots=True)
class McNemar:
    """The pairs that only one of two networks gets right.

    ``p`` is exact and two-sided. ``chi2_p`` is that of the statistic with continuity correction,
    (abs(b - c) - 1)² / (b + c); it is ``None`` where there is no such pair. ``difference`` is that of the accuracies,
    ``None`` where ``n`` is 0.
    """

    only_first: int
    only_second: int
    n: int
    p: float
    chi2_p: float | None
    difference: float | None
    interval: Interval | None


FEW_DISCORDANT = 10
"""Below so many pairs that only one gets right the Wald interval of the difference is too narrow."""


def mcnemar(only_first: int, only_second: int, n: int) -> McNemar:
    """McNemar's test (1947) of two accuracies over the same ``n`` pairs, with the interval of their difference.

    It is Wald's; while fewer than 10 pairs are right by one network only, it is Tango's (Statistics in Medicine 1998),
    which has a width even where there is none.

    :raises ValueError: there are more pairs that only one gets right than pairs.
    """
    b, c = only_first, only_second
    if min(b, c) < 0 or b + c > n:
        raise ValueError(f"{b} and {c} pairs that only one gets right are no part of {n} pairs.")
    chi2_p = difference = interval = None
    if b + c:
        chi2_p = chi2_tail((abs(b - c) - 1) ** 2 / (b + c))
    if n:
        difference = (b - c) / n
        if b + c < FEW_DISCORDANT:
            interval = tango(b, c, n)
        else:
            spread = Z * sqrt(max(0.0, b + c - (b - c) ** 2 / n)) / n
            interval = Interval(max(-1.0, difference - spread), min(1.0, difference + spread))
    return McNemar(b, c, n, sign_test(b, c), chi2_p, difference, interval)


def tango(only_first: float, only_second: float, n: float, quantile: float = Z) -> Interval:
    """Tango's score interval of the difference (b - c) / n of two shares over the same ``n`` pairs: the differences d
    that lie within ``quantile`` standard errors, with the error that d itself implies. Counts need not be whole, for
    pairs that are worth fewer independent ones."""

    def apart(d: float) -> float:
        """z of the observed difference under d."""
        linear = -b - c + (2 * n - b + c) * d
        p = (sqrt(max(0.0, linear * linear + 8 * n * c * d * (1 - d))) - linear) / (4 * n)
        variance = n * (2 * p + d * (1 - d))
        lead = b - c - n * d
        if variance <= 0:
            return 0.0 if abs(lead) < 1e-12 else float("inf") * lead
        return lead / sqrt(variance)

    b, c = only_first, only_second
    ends = []
    for inner, outer, sign in ((b - c) / n, -1.0, 1), ((b - c) / n, 1.0, -1):
        # The z grows from the observed difference outwards: halve until the end is known.
        for _ in range(60):
            middle = (inner + outer) / 2
            if sign * apart(middle) > quantile:
                outer = middle
            else:
                inner = middle
        ends.append(inner)
    return Interval(*ends)


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of the first and of the second network, and the first less the second.

    ``n`` is the number of pairs, ``questions`` that of their questions where it is known: the effective n where it is
    smaller. ``reason`` says why there is no difference or no interval, ``note`` what to know beside it.
    """

    first: float | None
    second: float | None
    difference: float | None
    interval: Interval | None
    n: int
    reason: str = ""
    questions: int | None = None
    note: str = ""


def known_difference(difference: Difference) -> Difference:
    """The difference of a run to itself, which is no estimate."""
    if difference.difference is None:
        return difference
    return replace(difference, interval=Interval(0.0, 0.0), reason="", note="known: both are the same verdicts")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two networks against the same people. ``differences`` has macro_f1 and kappa by paired bootstrap, and accuracy
    with the interval of ``test``.

    Where questions have several pairs, the interval of ``test`` is over questions too; its ``p`` is not, and
    ``questions_p`` is: ``None`` otherwise, and below 10 questions.
    """

    first: Agreement
    second: Agreement
    test: McNemar
    differences: dict[str, Difference]
    agree: int
    n: int
    resamples: int
    seed: int
    questions_p: float | None = None


def compare(
    counts: TwoVerdicts, *, by_question: Array | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> Comparison:
    """Compares two networks on pairs that both judged: agreement with people on those that have a label, and how often
    the two agree on all.

    ``by_question`` holds the same counts by question, of shape (questions, 4, 4, 4): label, first and second verdict
    (:func:`judgenet.stats.resampling.question_counts`). Where a question has several pairs, whole questions are drawn.
    """
    first, second = (agreement_of(_marginal(counts, place)) for place in (1, 2))
    only_first = sum(count for (human, said, also_said), count in counts.items() if said == human != also_said)
    only_second = sum(count for (human, said, also_said), count in counts.items() if said != human == also_said)
    test = mcnemar(only_first, only_second, first.n_used)
    sample = _Sample.of(counts, by_question, VERDICTS)
    differences = _differences(sample, first, second, resamples, seed)
    questions_p = None
    if sample.table is None:
        differences["accuracy"] = replace(differences["accuracy"], interval=test.interval)
    else:
        test = replace(test, interval=differences["accuracy"].interval)
        questions_p = None if sample.few else _questions_p(sample.table)
    return Comparison(
        first=first,
        second=second,
        test=test,
        differences=differences,
        agree=sum(count for (_, said, also_said), count in counts.items() if said == also_said),
        n=sum(counts.values()),
        resamples=resamples,
        seed=seed,
        questions_p=questions_p,
    )


def _questions_p(table: Array) -> float | None:
    """The p of McNemar's test for pairs that share questions (Obuchowski, Statistics in Medicine 1998): by how much
    more pairs of each question only one network gets right."""
    cells = table.reshape(-1, 3, 3, 3)
    same = range(3)
    ones, others = cells.sum(axis=3)[:, same, same], cells.sum(axis=2)[:, same, same]
    lead = ones.sum(axis=1) - others.sum(axis=1)
    return clustered_sign_test(lead)


def _marginal(counts: TwoVerdicts, place: int) -> dict[tuple[Verdict | None, Verdict | None], int]:
    sums: dict[tuple[Verdict | None, Verdict | None], int] = {}
    for cell, count in counts.items():
        key = (cell[0], cell[place])
        sums[key] = sums.get(key, 0) + count
    return sums


class _Sample(NamedTuple):
    """What is drawn from: cells of label, first and second verdict over all pairs, and by question where a question has
    several pairs (``table``, else ``None``). ``few`` says why so few questions have no interval."""

    cells: Array
    table: Array | None
    questions: int | None
    few: str

    @classmethod
    def of(cls, counts: TwoVerdicts, by_question: Array | None, humans: tuple[Verdict | None, ...]) -> _Sample:
        import numpy as np

        from judgenet.stats.curves import CODES

        cells = np.asarray(
            [counts.get((human, first, second), 0) for human in humans for first in VERDICTS for second in VERDICTS],
            dtype=float,
        )
        if by_question is None:
            return cls(cells, None, None, "")
        codes = [CODES.index(verdict) for verdict in VERDICTS]
        table = by_question[:, [CODES.index(human) for human in humans]][:, :, codes][:, :, :, codes]
        table = table.reshape(len(table), len(cells))
        table = table[table.any(axis=1)]
        questions, pairs = len(table), int(cells.sum())
        if questions == pairs:
            return cls(cells, None, questions, "")
        return cls(cells, table, questions, few_questions(questions, pairs))

    @property
    def effective(self) -> int | None:
        """How many questions are drawn; ``None`` where pairs are."""
        return None if self.table is None else self.questions

    def drawn(self, resamples: int, seed: int) -> Array:
        """Tables of label, first and second verdict, drawn with the frequencies of the pairs or questions."""
        import numpy as np

        if self.table is not None:
            return resampled([self.table], resamples=resamples, seed=seed)[0].reshape(resamples, -1, 3, 3)
        total = int(self.cells.sum())
        draws = np.random.default_rng(seed).multinomial(total, self.cells / total, size=resamples)
        return draws.reshape(resamples, -1, 3, 3).astype(float)


def _differences(
    sample: _Sample, first: Agreement, second: Agreement, resamples: int, seed: int
) -> dict[str, Difference]:
    names = ("accuracy", "macro_f1", "kappa")
    n = first.n_used
    if not n:
        why = "no pair with both verdicts has a human label"
        return {name: Difference(None, None, None, None, 0, why) for name in names}
    if sample.few:
        return {name: _without(getattr(first, name), getattr(second, name), n, name, sample) for name in names}
    plain = sample.drawn(resamples, seed)
    count = sample.effective or n
    extra = pseudo_weight(count) * _pseudo_pairs([VERDICTS.index(label) for label in {*first.labels, *second.labels}])
    drawn = plain + pseudo_cells((resamples,), extra, n / count, seed).reshape(-1, 3, 3, 3)
    undefined = one_class(plain.sum(axis=3)) | one_class(plain.sum(axis=2))
    ones, others = _figures(drawn.sum(axis=3), first), _figures(drawn.sum(axis=2), second)
    ones["kappa"][undefined] = float("nan")
    return {
        name: _difference(getattr(first, name), getattr(second, name), ones[name] - others[name], n, name, sample)
        for name in names
    }


def _pseudo_pairs(classes: list[int]) -> Array:
    """A pseudo-pair that only the first gets right, one that only the second does, half a pair that both and half that
    neither: spread over the cells of label, first and second verdict (27 in a row) of the classes in use."""
    import numpy as np

    human, first, second = np.indices((3, 3, 3))
    used = np.isin(human, classes) & np.isin(first, classes) & np.isin(second, classes)
    if len(classes) == 1:
        used = np.isin(human, classes)
    cells = np.zeros((3, 3, 3))
    for first_right, second_right, count in (
        (True, False, 1.0),
        (False, True, 1.0),
        (True, True, 0.5),
        (False, False, 0.5),
    ):
        kind = used & ((human == first) == first_right) & ((human == second) == second_right)
        cells += count * kind / kind.sum()
    return cells.ravel()


def _without(first: float | None, second: float | None, n: int, name: str, sample: _Sample) -> Difference:
    """A difference without an interval, for too few questions."""
    if first is None or second is None:
        return Difference(first, second, None, None, n, f"{name} of one of the two is undefined", sample.questions)
    return Difference(first, second, first - second, None, n, f"no interval: {sample.few}", sample.questions)


def _difference(
    first: float | None, second: float | None, drawn: Array, n: int, name: str, sample: _Sample
) -> Difference:
    import numpy as np

    if first is None or second is None:
        return Difference(first, second, None, None, n, f"{name} of one of the two is undefined", sample.questions)
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < (1 - _MOST_DROPPED) * len(drawn):
        why = f"no interval: undefined in {len(drawn) - len(defined):,} of {len(drawn):,} resamples"
        return Difference(first, second, first - second, None, n, why, sample.questions)
    within = bootstrap_interval(
        defined, first - second, sample.effective, (-2.0, 2.0) if name == "kappa" else (-1.0, 1.0)
    )
    note = few_note(sample.effective) if sample.effective else ""
    return Difference(first, second, first - second, within, n, "", sample.questions, note)


def _figures(tables: Array, agreement: Agreement) -> dict[str, Array]:
    """Accuracy, macro-F1 and kappa of tables of label by verdict; kappa is NaN where it is undefined."""
    import numpy as np

    n = tables.sum(axis=(1, 2))
    right = np.diagonal(tables, axis1=1, axis2=2)
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    marginals = rows + columns
    places = [VERDICTS.index(label) for label in agreement.labels]
    f1 = np.divide(2 * right, marginals, out=np.zeros_like(right), where=marginals > 0)[:, places].mean(axis=1)
    by_chance = (rows * columns).sum(axis=1)
    kappa = np.full(len(tables), np.nan)
    np.divide(n * right.sum(axis=1) - by_chance, n * n - by_chance, out=kappa, where=by_chance < n * n)
    return {"accuracy": right.sum(axis=1) / n, "macro_f1": f1, "kappa": kappa}


def rate_difference(
    counts: TwoVerdicts,
    chosen: Chosen,
    *,
    by_question: Array | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    names: tuple[str, str] = ("the first", "the second"),
) -> Difference:
    """The difference of the stratified win rates by two networks, with a bootstrap over pairs, or over questions where
    ``by_question`` (as in :func:`compare`) has several pairs of one.

    Both estimate the same truth on the same pairs, so that the difference shows how far the corrections themselves
    differ. It is refused where the labels were not chosen at random from all pairs: those chosen within the verdicts of
    one network are not random within those of the other. Where one of the rates is refused, the other is given all the
    same, and the reason names the one by ``names``.
    """
    n = sum(counts.values())
    if not n:
        return Difference(None, None, None, None, 0, "no pair has a verdict of both")
    if chosen != "random":
        return Difference(None, None, None, None, n, "needs labels chosen at random from all pairs")
    labels = sum(count for cell, count in counts.items() if cell[0] is not None)
    (first, few_first), (second, few_second) = _stratified_rate(counts, 1), _stratified_rate(counts, 2)
    if first is None or second is None:
        reasons = [f"{name}: {few}" for name, few in zip(names, (few_first, few_second), strict=True) if few]
        return Difference(first, second, None, None, n, "; ".join(reasons))
    sample = _Sample.of(counts, by_question, (*VERDICTS, None))
    if sample.table is not None:
        with_label = int(sample.table[:, : len(VERDICTS) ** 3].any(axis=1).sum())
        sample = sample._replace(questions=with_label, few=few_questions(with_label, labels))
    if sample.few:
        return _without(first, second, n, "rate", sample)
    drawn = sample.drawn(resamples, seed)
    count = sample.effective or labels
    extra = pseudo_weight(count) * _pseudo_pairs([0, 1, 2])
    drawn = drawn.copy()
    drawn[:, :3] += pseudo_cells((resamples,), extra, labels / count, seed).reshape(-1, 3, 3, 3)
    return _difference(first, second, _stratified_difference(drawn), n, "rate", sample)


def _stratified_rate(counts: TwoVerdicts, place: Literal[1, 2]) -> tuple[float | None, str]:
    """The stratified win rate by the verdicts of the first or the second network, or why there are too few labels."""
    labelled: Counter[tuple[Verdict, Verdict]] = Counter()
    others: Counter[Verdict] = Counter()
    for cell, count in counts.items():
        if cell[0] is None:
            others[cell[place]] += count
        else:
            labelled[cell[place], cell[0]] += count
    few = too_few(labelled, others)
    return (None, few) if few else (stratified(labelled, others).estimate.value, "")


def _stratified_difference(drawn: Array) -> Array:
    import numpy as np

    scores = [SCORES[verdict] for verdict in VERDICTS]
    values = []
    for axis in (3, 2):
        tables = drawn.sum(axis=axis)
        parts = [formulas.stratum([tables[:, human, verdict] for human in range(3)], scores) for verdict in range(3)]
        counts = [tables[:, :3, verdict].sum(axis=1) for verdict in range(3)]
        totals = [tables[:, :, verdict].sum(axis=1) for verdict in range(3)]
        values.append(formulas.weighted(parts, counts, totals).value)
    return np.asarray(values[0] - values[1])
