"""Agreement and position consistency against worked vectors, scikit-learn and published figures."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (  # type: ignore[import-untyped]
    accuracy_score,
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
    precision_score,
    recall_score,
)

from judgenet.core.pairs import VERDICTS, Verdict
from judgenet.stats.agreement import (
    SURE_OF_TARGET,
    clustered_sign_test,
    macro_precision,
    macro_recall,
    position_of_codes,
    review_interval,
    review_share,
    sign_test_over_questions,
)
from tests.short_forms import agreement, position

NAMES: dict[str, Verdict] = {"1": "a", "2": "b", "T": "tie", "W": "a", "L": "b"}


def verdicts(text: str) -> list[Verdict]:
    return [NAMES[letter] for letter in text]


def table(rows: list[list[int]]) -> tuple[list[Verdict], list[Verdict]]:
    """Human and judged verdicts with this confusion matrix."""
    cells = [
        (h, j, count) for h, row in zip(VERDICTS, rows, strict=False) for j, count in zip(VERDICTS, row, strict=False)
    ]
    return [h for h, _, count in cells for _ in range(count)], [j for _, j, count in cells for _ in range(count)]


M7 = "1" * 41 + "T" * 14 + "2" * 25


@pytest.mark.parametrize(
    ("human", "network", "accuracy", "macro_f1", "fixed_macro_f1", "kappa"),
    [
        ("1122TT12T1", "1222T112T1", 0.8, 0.802381, 0.802381, 0.696970),
        ("111222TTT", "111222TTT", 1, 1, 1, 1),
        ("111222TTT", "111111111", 0.333333, 0.166667, 0.166667, 0),
        ("1111122222", "1112122221", 0.8, 0.8, 0.533333, 0.6),
        ("1111122222", "1112T22221", 0.7, 0.488889, 0.488889, 0.454545),
        ("1111", "1111", 1, 1, 0.333333, None),
        (M7, "1" * 80, 0.5125, 0.225895, 0.225895, 0),
    ],
    ids=["M1", "M2", "M3", "M4", "M5", "M6", "M7"],
)
def test_worked_vectors(
    human: str, network: str, accuracy: float, macro_f1: float, fixed_macro_f1: float, kappa: float | None
) -> None:
    found = agreement(verdicts(human), verdicts(network))
    assert found.accuracy == pytest.approx(accuracy, abs=5e-7)
    assert found.macro_f1 == pytest.approx(macro_f1, abs=5e-7)
    assert agreement(verdicts(human), verdicts(network), "all").macro_f1 == pytest.approx(fixed_macro_f1, abs=5e-7)
    if kappa is None:
        assert found.kappa is None
        assert "same class" in found.reasons["kappa"]
    else:
        assert found.kappa == pytest.approx(kappa, abs=5e-7)
        assert found.reasons == {}


@pytest.mark.parametrize(
    ("rows", "kappa"),
    [
        ([[20, 5], [10, 15]], 0.4),
        ([[30, 3, 2], [4, 10, 6], [1, 2, 42]], 0.710843),
        ([[0, 10], [10, 0]], -1),
        ([[10, 0], [0, 0]], None),
        ([[41, 0, 0], [14, 0, 0], [25, 0, 0]], 0),
    ],
)
def test_kappa_of_tables(rows: list[list[int]], kappa: float | None) -> None:
    found = agreement(*table(rows))
    assert found.kappa == (None if kappa is None else pytest.approx(kappa, abs=5e-7))
    assert [list(row[: len(rows)]) for row in found.confusion[: len(rows)]] == rows


def test_classes_baseline_and_counts() -> None:
    human: list[Verdict | None] = ["a", "a", "b", None, "tie", None]
    found = agreement(human, ["a", "b", "b", "a", None, None])
    assert (found.n_used, found.n_total, found.n_unlabelled, found.n_unjudged) == (3, 6, 2, 1)
    assert found.labels == ("a", "b")
    assert found.majority_baseline == pytest.approx(2 / 3)
    assert found.confusion == ((1, 1, 0), (0, 1, 0), (0, 0, 0))
    assert agreement(human, human, "all").labels == VERDICTS


@pytest.mark.parametrize(("human", "judged"), [([], []), ([None, "a"], ["a", None])])
def test_nothing_to_compare_is_undefined_with_a_reason(
    human: list[Verdict | None], judged: list[Verdict | None]
) -> None:
    found = agreement(human, judged)
    assert (found.accuracy, found.macro_f1, found.kappa, found.majority_baseline) == (None, None, None, None)
    assert set(found.reasons) == {"accuracy", "macro_f1", "kappa", "majority_baseline"}
    assert found.n_used == 0


labels = st.sampled_from(VERDICTS)


@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=60))
def test_as_scikit_learn_has_it(pairs: list[tuple[Verdict, Verdict]]) -> None:
    human, judged = [h for h, _ in pairs], [j for _, j in pairs]
    found = agreement(human, judged)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kappa = cohen_kappa_score(human, judged)
    assert found.accuracy == pytest.approx(accuracy_score(human, judged))
    assert found.macro_f1 == pytest.approx(f1_score(human, judged, average="macro"))
    assert agreement(human, judged, "all").macro_f1 == pytest.approx(
        f1_score(human, judged, average="macro", labels=VERDICTS, zero_division=0)
    )
    assert found.kappa == (None if math.isnan(kappa) else pytest.approx(kappa, abs=1e-12))
    named = {"average": "macro", "zero_division": 0}
    assert macro_precision(found) == pytest.approx(precision_score(human, judged, **named))
    assert macro_recall(found) == pytest.approx(recall_score(human, judged, **named))
    assert [list(row) for row in found.confusion] == confusion_matrix(human, judged, labels=VERDICTS).tolist()


@pytest.mark.data
@pytest.mark.parametrize(
    ("judge", "accuracy", "precision", "recall", "macro_f1", "kappa"),
    [("gpt-3.5-turbo", 71.07, 58.79, 57.36, 57.55, 0.4958), ("pandalm-7b", 66.77, 57.38, 57.50, 57.43, 0.4354)],
)
def test_the_published_figures_of_pandalm(
    shared_data: Path, judge: str, accuracy: float, precision: float, recall: float, macro_f1: float, kappa: float
) -> None:
    """Published in the PandaLM repository's table, where an unread answer counts as a tie."""
    folder = shared_data / "pandalm"
    human = {}
    for line in (folder / "pairs.jsonl").read_text(encoding="utf-8").split("\n"):
        if line:
            pair = json.loads(line)
            human[pair["id"]] = pair["human"]
    judged: dict[str, Verdict | None] = dict.fromkeys(human)
    for line in (folder / "judgments.jsonl").read_text(encoding="utf-8").split("\n"):
        if line:
            judgment = json.loads(line)
            if judgment["judge"] == judge:
                judged[judgment["pair_id"]] = judgment["recorded_winner"] or "tie"
    found = agreement(list(human.values()), list(judged.values()))
    shares = (macro_precision(found) or 0, macro_recall(found) or 0)
    assert [100 * share for share in shares] == pytest.approx([precision, recall], abs=0.005)
    assert found.n_used == 999
    assert found.accuracy is not None
    assert round(100 * found.accuracy, 2) == accuracy
    assert found.macro_f1 is not None
    assert found.macro_f1 == pytest.approx(macro_f1 / 100, abs=6e-5)
    assert found.kappa == pytest.approx(kappa, abs=5e-5)


@pytest.mark.parametrize(
    ("first", "second", "consistent", "primacy", "recency", "partial", "net", "p"),
    [
        ("1121T21", "2121T1T", 0.571429, 1, 1, 1, 0, 1),
        ("1111", "2222", 0, 4, 0, 0, 1, 0.125),
        ("12T", "12T", 1, 0, 0, 0, 0, 1),
        ("1212121212", "2212121222", 0.8, 2, 0, 0, 0.2, 0.5),
    ],
)
def test_position_consistency(
    first: str,
    second: str,
    consistent: float,
    primacy: int,
    recency: int,
    partial: int,
    net: float,
    p: float,
) -> None:
    found = position(verdicts(first), verdicts(second))
    assert found.consistent == pytest.approx(consistent, abs=5e-7)
    assert (found.primacy, found.recency, found.partial) == (primacy, recency, partial)
    assert found.net == pytest.approx(net)
    assert found.p == pytest.approx(p)


@pytest.mark.parametrize(
    ("first", "second", "rate"),
    [
        ("WWTLW", "WLTLT", 0.4),
        ("WWW", "LLL", 1),
        ("WTL", "WTL", 0),
        ("W" * 37 + "L" * 43, "L" * 80, 0.4625),
        ("W" * 66 + "T" * 14, "L" * 66 + "T" * 14, 0.825),
    ],
)
def test_flip_rate(first: str, second: str, rate: float) -> None:
    assert position(verdicts(first), verdicts(second)).flip_rate == pytest.approx(rate, abs=1e-12)


def test_pairs_without_both_orders_leave_the_denominator() -> None:
    found = position(["a", None, "b", "tie"], ["b", "a", None, "tie"])
    assert (found.n, found.n_total, found.consistent, found.flip_rate) == (2, 4, 0.5, 0.5)
    nothing = position(["a", None], [None, "b"])
    assert (nothing.consistent, nothing.flip_rate, nothing.net, nothing.p, nothing.n) == (None, None, None, None, 0)
    assert "both orders" in nothing.reason


@pytest.mark.parametrize(
    ("x", "h", "a", "review", "saved", "relative"),
    [
        (0.74, 0.8, 1, 0.230769, 0.769231, 0.925),
        (0.68, 0.8, 1, 0.375, 0.625, 0.85),
        (0.67, 0.8, 1, 0.393939, 0.606061, 0.8375),
        (0.80, 0.8, 1, 0, 1, 1),
        (0.90, 0.8, 1, 0, 1, 1.125),
        (0, 0.8, 1, 0.8, 0.2, 0),
        (0.5, 1, 1, 1, 0, 0.5),
        (0.60, 0.717, 1, 0.2925, 0.7075, 0.836820),
        (0.74, 0.8, 0.95, 0.285714, 0.714286, 0.925),
        (0.74, 0.8, 0.80, 1, 0, 0.925),
    ],
)
def test_review_share(x: float, h: float, a: float, review: float, saved: float, relative: float) -> None:
    found = review_share(x, h, a)
    assert found.review == pytest.approx(review, abs=5e-7)
    assert found.saved == pytest.approx(saved, abs=5e-7)
    assert found.relative == pytest.approx(relative, abs=5e-7)
    assert found.reason == ""


def test_a_target_out_of_reach() -> None:
    found = review_share(0.74, 0.8, 0.75)
    assert (found.review, found.saved) == (None, None)
    assert found.relative == pytest.approx(0.925)
    assert "out of reach" in found.reason
    assert review_share(0.0, 0.0).relative is None
    with pytest.raises(ValueError, match="target is a share"):
        review_share(0.5, 80)


def test_the_sign_test_over_questions() -> None:
    """Leads of 2, -1, 1 and 3: 5² / 15 under chi² of one degree of freedom, from a table of the normal distribution."""
    assert clustered_sign_test(np.array([2.0, -1.0, 1.0, 3.0])) == pytest.approx(0.1967, abs=5e-5)
    assert clustered_sign_test(np.zeros(4)) is None


def test_the_exact_sign_test_over_questions() -> None:
    """Seven questions: five lead one way, one the other, one is even, whatever the number of their pairs: 5 of 6 of
    even odds, 2 (1 + 6) / 64."""
    questions = np.array([0, 0, 0, 1, 2, 3, 4, 4, 5, 6, 6])
    leads = np.array([1, 1, 0, 1, 1, 1, 1, 0, -1, 1, -1])
    assert sign_test_over_questions(questions, leads) == pytest.approx(14 / 64)
    assert sign_test_over_questions(questions[:0], leads[:0]) == 1


def test_position_over_questions() -> None:
    """Ten questions of four pairs, on each of which the first shown wins: ten looks and not forty."""
    ab, ba = np.full(40, 1, np.uint8), np.full(40, 3, np.uint8)
    found = position_of_codes(ab, ba, np.repeat(np.arange(10), 4))
    assert (found.primacy, found.recency, found.net) == (40, 0, 1)
    assert found.p == pytest.approx(2 / 2**40)
    assert found.questions_p == pytest.approx(2 / 2**10)
    apart = position_of_codes(ab, ba, np.arange(40))
    assert apart.questions_p is None
    assert position_of_codes(ab, ba).p == found.p


def test_the_share_to_review_has_no_interval_without_a_width() -> None:
    assert review_interval(0.9, 0.95, 0.8) == (None, SURE_OF_TARGET)
    ends, why = review_interval(0.6, 0.9, 0.8)
    assert why == ""
    assert ends is not None
    assert [end.review for end in ends] == [0.0, pytest.approx(0.5)]
