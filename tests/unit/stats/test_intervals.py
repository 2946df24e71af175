"""Intervals against published and worked figures, SciPy, and a plain resampling of pairs with scikit-learn."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest  # type: ignore[import-untyped]
from sklearn.metrics import cohen_kappa_score, f1_score  # type: ignore[import-untyped]

from judgenet.core.pairs import VERDICTS, Verdict
from judgenet.stats.agreement import (
    agreement_of,
)
from judgenet.stats.intervals import FEW_PAIRS, agreement_intervals, decided_win_rate, wilson, win_rate
from judgenet.stats.resampling import few_note, widening
from tests.short_forms import agreement


def pairs_of(table: list[list[int]]) -> tuple[list[Verdict], list[Verdict]]:
    cells = [
        (human, judged)
        for human, row in zip(VERDICTS, table, strict=True)
        for judged, count in zip(VERDICTS, row, strict=True)
        for _ in range(count)
    ]
    return [human for human, _ in cells], [judged for _, judged in cells]


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (0, 20, 0, 0.161125),
        (10, 20, 0.299298, 0.700702),
        (20, 20, 0.838875, 1),
        (41, 80, 0.404933, 0.618921),
        (60, 80, 0.645153, 0.831938),
    ],
)
def test_wilson(hits: int, n: int, low: float, high: float) -> None:
    assert wilson(hits, n) == pytest.approx((low, high), abs=1e-6)


def test_wilson_is_scipys() -> None:
    for n in (1, 7, 33, 250):
        for hits in range(0, n + 1, max(1, n // 9)):
            theirs = binomtest(hits, n).proportion_ci(0.95, "wilson")
            assert wilson(hits, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_no_share_has_no_interval() -> None:
    assert wilson(0, 0) is None
    for hits, n in ((3, 2), (-1, 2), (1, 0)):
        with pytest.raises(ValueError, match="is no share"):
            wilson(hits, n)


TABLE = [[30, 3, 2], [4, 10, 6], [1, 2, 42]]


def test_bootstrap_of_the_worked_table() -> None:
    table = agreement(*pairs_of(TABLE))
    assert (table.accuracy, table.macro_f1, table.kappa) == pytest.approx((0.82, 0.770927, 0.710843), abs=1e-6)
    found = agreement_intervals(table)
    assert found.macro_f1 == pytest.approx((0.674, 0.858), abs=0.01)
    assert found.kappa == pytest.approx((0.590, 0.825), abs=0.01)
    assert found.accuracy == pytest.approx((0.7333, 0.8830), abs=1e-4)  # Wilson of 82 of 100
    assert (found.resamples, found.few, found.reasons) == (5000, False, {})


def test_bootstrap_is_what_drawing_pairs_gives() -> None:
    human, judged = pairs_of([[12, 5, 1], [6, 14, 2], [3, 2, 5]])
    draw = random.Random(1)
    f1s, kappas = [], []
    for _ in range(600):
        chosen = [draw.randrange(len(human)) for _ in human]
        h, j = [human[i] for i in chosen], [judged[i] for i in chosen]
        f1s.append(f1_score(h, j, average="macro", labels=list(VERDICTS), zero_division=0))
        kappas.append(cohen_kappa_score(h, j))
    found = agreement_intervals(agreement(human, judged))
    for values, interval in ((f1s, found.macro_f1), (kappas, found.kappa)):
        values.sort()
        assert interval == pytest.approx((values[15], values[584]), abs=0.04)


def test_the_seed_decides() -> None:
    table = agreement(*pairs_of(TABLE))
    assert agreement_intervals(table, seed=3) == agreement_intervals(table, seed=3)
    assert agreement_intervals(table, seed=3).kappa != agreement_intervals(table, seed=4).kappa


def test_undefined_says_why() -> None:
    one_class = agreement_intervals(agreement(["a"] * 4, ["a"] * 4))
    assert one_class.kappa is None
    assert one_class.reasons == {"kappa": "people and network gave one and the same class only"}
    assert one_class.accuracy == pytest.approx((0.5101, 1), abs=1e-4)
    assert one_class.few

    empty = agreement_intervals(agreement(["a", None], [None, "b"]))
    assert (empty.accuracy, empty.macro_f1, empty.kappa) == (None, None, None)
    assert set(empty.reasons) == {"accuracy", "macro_f1", "kappa"}

    # One pair apart from one class: a third of the resamples have no kappa.
    rare = agreement_intervals(agreement(["a"] * 29 + ["b"], ["a"] * 29 + ["b"]))
    assert rare.kappa is None
    assert "of 5,000 resamples" in rare.reasons["kappa"]


def test_without_resamples_there_is_wilsons_alone() -> None:
    found = agreement_intervals(agreement(*pairs_of(TABLE)), resamples=0)
    assert found.accuracy == pytest.approx((0.7333, 0.8830), abs=1e-4)
    assert (found.macro_f1, found.kappa) == (None, None)
    assert found.reasons == dict.fromkeys(("macro_f1", "kappa"), "no resamples were asked for")


def test_few_pairs_are_told() -> None:
    for n in (FEW_PAIRS - 1, FEW_PAIRS):
        found = agreement_intervals(agreement((["a", "b"] * n)[:n], (["a", "a"] * n)[:n]))
        assert found.few == (n < FEW_PAIRS)


@pytest.mark.parametrize(
    ("b", "tie", "a", "value", "low", "high"),
    [
        (60, 0, 40, 0.6, 0.503593, 0.694427),
        (45, 20, 35, 0.55, 0.462896, 0.636114),
        (0, 0, 20, 0, 0, 0.083188),
        (10, 0, 0, 1, 0.842712, 1),
        (0, 10, 0, 0.5, 0.427259, 0.572741),
        (3, 1, 2, 0.583333, 0.242396, 0.900462),
    ],
)
def test_win_rate(b: int, tie: int, a: int, value: float, low: float, high: float) -> None:
    found = win_rate(a, b, tie)
    assert found.value == pytest.approx(value, abs=1e-6)
    assert found.interval == pytest.approx((low, high), abs=1e-6)
    assert found.n == a + b + tie


@pytest.mark.parametrize(
    ("b", "a", "value", "low", "high", "p"),
    [
        (60, 40, 0.6, 0.502003, 0.690599, 0.056888),
        (45, 35, 0.5625, 0.453411, 0.665861, 0.314307),
        (0, 20, 0, 0, 0.161125, 1.907e-06),
        (10, 0, 1, 0.722467, 1, 0.001953),
        (3, 2, 0.6, 0.230724, 0.882379, 1),
    ],
)
def test_the_win_rate_of_the_decided(b: int, a: int, value: float, low: float, high: float, p: float) -> None:
    found = decided_win_rate(a, b)
    assert found.value == pytest.approx(value)
    assert found.interval == pytest.approx((low, high), abs=1e-6)
    assert found.p == pytest.approx(p, rel=1e-3, abs=1e-9)
    assert found.n == a + b


def test_ties_alone_decide_nothing() -> None:
    found = decided_win_rate(0, 0)
    assert (found.value, found.interval, found.p, found.n) == (None, None, None, 0)


def test_no_verdict_has_no_win_rate() -> None:
    found = win_rate(0, 0, 0)
    assert (found.value, found.interval, found.n) == (None, None, 0)


def _by_question(copies: int) -> list[dict[tuple[Verdict | None, Verdict | None], int]]:
    """Fifty questions, 30 right and 20 wrong, each with ``copies`` pairs that are alike."""
    said: list[tuple[Verdict, Verdict]] = [("a", "a"), ("b", "b"), ("a", "a"), ("a", "b"), ("b", "a")] * 10
    return [{cell: copies} for cell in said]


def test_pairs_of_one_question_are_no_new_evidence() -> None:
    """Five copies of each pair: over pairs the interval shrinks by sqrt(5), over questions it does not."""
    once, again = ([*_by_question(copies)] for copies in (1, 5))
    total: dict[tuple[Verdict | None, Verdict | None], int] = {}
    for question in again:
        for cell, count in question.items():
            total[cell] = total.get(cell, 0) + count
    found = agreement_intervals(agreement_of(total), questions=again)
    single = agreement_intervals(agreement_of({cell: count // 5 for cell, count in total.items()}), questions=once)
    assert found.accuracy is not None
    assert single.accuracy == wilson(30, 50)
    assert found.accuracy.high - found.accuracy.low == pytest.approx(2 * 1.96 * (0.6 * 0.4 / 50) ** 0.5, rel=0.06)
    assert found.kappa is not None
    assert single.kappa is not None
    assert found.kappa.high - found.kappa.low == pytest.approx(single.kappa.high - single.kappa.low, rel=0.06)


def test_few_questions_with_several_pairs_have_no_interval() -> None:
    questions = _by_question(3)[:9]
    total: dict[tuple[Verdict | None, Verdict | None], int] = {}
    for question in questions:
        for cell, count in question.items():
            total[cell] = total.get(cell, 0) + count
    found = agreement_intervals(agreement_of(total), questions=questions)
    assert (found.accuracy, found.macro_f1, found.kappa) == (None, None, None)
    assert "9 questions" in found.reasons["accuracy"]


def test_few_questions_take_students_quantile() -> None:
    """Quantiles of t from a table: 2.2622 for 9 degrees of freedom, 2.0452 for 29."""
    assert widening(10) == pytest.approx(2.2622 / 1.95996 * (10 / 9) ** 0.5, abs=1e-4)
    assert widening(30) == pytest.approx(2.0452 / 1.95996 * (30 / 29) ** 0.5, abs=1e-4)
    assert "few questions (29)" in few_note(29)
    assert few_note(30) == ""


def test_decided_verdicts_over_questions() -> None:
    """Twelve questions of five verdicts, ten for B throughout and two for A: the sign test is of 10 against 2."""
    table = np.array([[0, 5]] * 10 + [[5, 0]] * 2, dtype=float)
    found = decided_win_rate(10, 50, table)
    assert (found.value, found.n, found.questions) == (50 / 60, 60, 12)
    assert found.questions_p == pytest.approx(2 * (1 + 12 + 66) / 2**12)
    alone = decided_win_rate(10, 50)
    assert found.interval is not None
    assert alone.interval is not None
    assert found.interval.high - found.interval.low > alone.interval.high - alone.interval.low
    apart = np.array([[1, 0]] * 2 + [[0, 1]] * 10, dtype=float)
    assert decided_win_rate(2, 10, apart) == replace(decided_win_rate(2, 10), questions=12)
