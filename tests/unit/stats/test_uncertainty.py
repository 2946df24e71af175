"""FairEval's entropy, calibration and human in the loop, against its formulas by hand, scipy and a plain loop."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from math import ceil, log
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import entropy as scipy_entropy  # type: ignore[import-untyped]
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from judgenet.core.aggregate import merged
from judgenet.core.pairs import Verdict
from judgenet.stats.curves import CODES
from judgenet.stats.uncertainty import (
    MOST_ENTROPY,
    conflicts,
    entropies,
    review_curve,
    review_need,
    share_of,
)

LETTERS: dict[str, Verdict | None] = {"W": "a", "L": "b", "T": "tie", "-": None}


def codes(verdicts: Sequence[Verdict | None]) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.array([CODES.index(verdict) for verdict in verdicts], dtype=np.uint8)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((6, 0, 0), 0),
        ((3, 0, 3), 0.693147),
        ((2, 2, 2), 1.098612),
        ((4, 1, 1), 0.867563),
        ((5, 0, 1), 0.450561),
        ((3, 1, 2), 1.011404),
        ((10, 1, 1), 0.566086),
        ((1, 0, 1), 0.693147),
        ((0, 0, 0), None),
    ],
)
def test_the_entropy_of_a_pair(counts: tuple[int, int, int], expected: float | None) -> None:
    (found,) = entropies(np.array([counts]))
    assert np.isnan(found) if expected is None else found == pytest.approx(expected, abs=1e-6)


def test_the_entropy_is_that_of_scipy_and_at_most_ln_3() -> None:
    rng = np.random.default_rng(5)
    table = rng.integers(0, 9, (200, 3)) + np.eye(3, dtype=int)[rng.integers(0, 3, 200)]
    assert entropies(table) == pytest.approx(scipy_entropy(table, axis=1))
    assert entropies(table).max() <= MOST_ENTROPY + 1e-12
    assert not np.signbit(entropies(np.array([[4, 0, 0]]))[0])


def test_counts_of_another_shape() -> None:
    with pytest.raises(ValueError, match="shape"):
        entropies(np.zeros((2, 4), dtype=int))


Scores = tuple[float, float]


def swapped(shown: list[Scores]) -> list[Scores]:
    """Scores as they were shown with B first, mapped back."""
    return [(second, first) for first, second in shown]


@pytest.mark.parametrize(
    ("ab", "ba", "verdict", "labels", "bpde"),
    [
        ([(9, 8), (9, 7), (8, 8)], [(9, 8), (8, 9), (9, 9)], "a", "WWTLWT", 1.011404),
        ([(8, 7)] * 3, [(8, 7)] * 3, "tie", "WWWLLL", 0.693147),
        ([(9, 6), (8, 6), (9, 7)], [(6, 8), (7, 9), (6, 9)], "a", "WWWWWW", 0),
        ([(7.5, 8)], [(8, 7.5)], "b", "LL", 0),
        ([(9, 8), (7, 8)], [(9, 8)], "b", "WLL", 0.636514),
    ],
)
def test_balanced_position_calibration(
    ab: list[Scores], ba: list[Scores], verdict: Verdict, labels: str, bpde: float
) -> None:
    differences = [a - b for a, b in (*ab, *swapped(ba))]
    assert merged(differences) == verdict
    said = Counter(merged([difference]) for difference in differences)
    assert [said["a"], said["tie"], said["b"]] == [labels.count(letter) for letter in "WTL"]
    counts = np.array([[said["a"], said["tie"], said["b"]]])
    assert entropies(counts) == pytest.approx([bpde], abs=1e-6)


@pytest.mark.parametrize(
    ("ab", "ba", "rate"),
    [("WWTLW", "WLTLT", 0.4), ("WWW", "LLL", 1), ("WTL", "WTL", 0), ("-W", "W-", None), ("WW-", "LWW", 0.5)],
)
def test_conflicts(ab: str, ba: str, rate: float | None) -> None:
    found = conflicts(codes([LETTERS[x] for x in ab]), codes([LETTERS[x] for x in ba]))
    assert found.value == (None if rate is None else pytest.approx(rate))
    assert bool(found.reason) == (rate is None)


@pytest.mark.parametrize(("hits", "rate", "ends"), [(37, 0.4625, (0.357, 0.571)), (66, 0.825, (0.727, 0.893))])
def test_the_published_conflicts(hits: int, rate: float, ends: tuple[float, float]) -> None:
    """GPT-4 and ChatGPT as judges of Vicuna against ChatGPT (FairEval, table 1): 46.3 and 82.5 % of 80 pairs."""
    found = share_of(hits, 80, "none")
    assert found.value == rate
    assert found.interval == pytest.approx(ends, abs=5e-4)


def over_questions(table: np.ndarray, draws: int = 4000) -> tuple[float, float]:  # type: ignore[type-arg]
    """The percentile interval of hits over pairs, drawing questions: rows of (hits, pairs) by question."""
    rng = np.random.default_rng(5)
    drawn = table[rng.integers(len(table), size=(draws, len(table)))].sum(axis=1)
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], (2.5, 97.5))
    return float(low), float(high)


def test_intervals_are_over_questions_where_these_repeat() -> None:
    """Thirty questions of eight pairs; on each all pairs are alike, so that there are thirty looks and not 240."""
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(30), 8)
    wrong = np.repeat(rng.random(30) < 0.4, 8)
    human = np.ones(240, np.uint8)
    judged = np.where(wrong, 3, 1).astype(np.uint8)
    table = np.stack([~wrong[::8] * 8, np.full(30, 8)], axis=1)
    flips = conflicts(human, judged, groups)
    assert flips.interval == pytest.approx((1 - over_questions(table)[1], 1 - over_questions(table)[0]), abs=0.04)
    curve = review_curve(human, judged, np.zeros(240), shares=(0, 0.5), groups=groups)
    start = curve.points[0]
    assert start.interval == pytest.approx(over_questions(table), abs=0.04)
    assert start.untouched_interval == pytest.approx(over_questions(table), abs=0.04)
    assert start.untouched.n_used == 240
    need = review_need(human, judged, np.zeros(240), 0.8, groups=groups)
    pairs = review_need(human, judged, np.zeros(240), 0.8)
    assert need.accuracy_interval == pytest.approx(over_questions(table), abs=0.04)
    assert need.interval is not None
    assert pairs.interval is not None
    # Eight equal pairs tell what one tells: the interval is about √8 as wide.
    wider = (need.interval.high - need.interval.low) / (pairs.interval.high - pairs.interval.low)
    assert wider > 1.5
    few = review_need(human, judged, np.zeros(240), 0.8, groups=groups % 4)
    assert (few.accuracy_interval, few.interval, few.random_ends) == (None, None, None)
    assert {"accuracy_ci", "measured_ci", "random_ends"} <= set(few.reasons)
    assert "questions" in conflicts(human, judged, groups % 4).reason


# Human in the loop


def sample(n: int, seed: int = 3) -> tuple[list[Verdict | None], list[Verdict | None], list[float | None]]:
    """Labels, verdicts and entropies in which uncertain pairs are wrong more often; some are missing."""
    rng = random.Random(seed)
    human: list[Verdict | None] = [rng.choice(("a", "b", "tie", None)) for _ in range(n)]
    unsure = [rng.choice((0.0, 0.450561, 0.693147, 1.098612, None)) for _ in range(n)]
    other: dict[Verdict | None, Verdict] = {"a": "b", "b": "tie", "tie": "a", None: "a"}
    judged: list[Verdict | None] = [
        None
        if rng.random() < 0.1
        else other[label]
        if rng.random() < 0.1 + (1.1 if value is None else value) / 2
        else label or "b"
        for label, value in zip(human, unsure, strict=True)
    ]
    return human, judged, unsure


def arrays(n: int, seed: int = 3):  # type: ignore[no-untyped-def]
    human, judged, unsure = sample(n, seed)
    return codes(human), codes(judged), np.array([np.nan if value is None else value for value in unsure])


def test_the_curve_is_that_of_a_plain_loop() -> None:
    human, judged, unsure = sample(300)
    found = review_curve(*arrays(300), shares=(0, 0.2, 0.5, 1), resamples=200)
    used = [(h, j, u) for h, j, u in zip(human, judged, unsure, strict=True) if h and j]
    assert (found.n, found.n_total) == (len(used), 300)
    assert found.unknown == sum(u is None for _, _, u in used)
    assert found.levels == 5
    sure = sorted(used, key=lambda pair: -9 if pair[2] is None else -pair[2])
    assert [point.reviewed for point in found.points] == [ceil(share * len(used)) for share in (0, 0.2, 0.5, 1)]
    for point in found.points:
        level = sure[point.reviewed - 1][2] if point.reviewed else None
        # Within the level that the share cuts, the seed decides: those before it are the same in every order.
        before = [h != j for h, j, u in sure[: point.reviewed] if u != level]
        cut = [h != j for h, j, u in sure if u == level]
        assert sum(before) <= point.mended <= sum(before) + sum(cut)
        assert point.untouched.n_used == len(used) - point.reviewed
        right = sum(point.untouched.confusion[i][i] for i in range(3))
        assert point.accuracy == pytest.approx((right + point.reviewed) / len(used))
        assert point.mended == point.reviewed + right - sum(h == j for h, j, _ in used)
        x = sum(h == j for h, j, _ in used) / len(used)
        assert point.by_chance == pytest.approx(x + (1 - x) * point.share)
        low, high = proportion_confint(right + point.reviewed, len(used), method="wilson")
        assert point.interval == pytest.approx((low, high), abs=1e-9)
    first, last = found.points[0], found.points[-1]
    pairs = [(h, j) for h, j, _ in used]
    assert first.untouched.kappa == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    assert first.untouched_kappa_interval is not None
    assert (last.accuracy, last.untouched.accuracy, last.untouched_interval) == (1, None, None)
    assert last.reasons["accuracy"] == "every pair is reviewed"
    assert found.gain is not None
    assert found.gain > 0


def test_levels_are_cut_by_the_seed_alone() -> None:
    """All pairs are equally uncertain: the most uncertain first is a random review."""
    human, judged, _ = arrays(400)
    same = np.full(400, 0.5)
    shares = (0.3,)
    one, again = (review_curve(human, judged, same, shares=shares, resamples=0, seed=7) for _ in range(2))
    others = [review_curve(human, judged, same, shares=shares, resamples=0, seed=seed) for seed in range(40)]
    assert one == again
    assert len({curve.points[0].mended for curve in others}) > 1
    accuracies = [curve.points[0].accuracy for curve in others]
    assert np.mean(accuracies) == pytest.approx(one.points[0].by_chance, abs=0.01)
    assert one.levels == 1


def test_sums_of_another_order_are_one_level() -> None:
    values = np.array([0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2])
    assert review_curve(codes(["a"] * 4), codes(["a"] * 4), values, resamples=0).levels == 1


def test_a_reviewer_who_errs() -> None:
    """Half of ten pairs right, all reviewed by people who are right in 80 %."""
    human, judged = codes(["a"] * 10), codes(["a"] * 5 + ["b"] * 5)
    unsure = np.array([0.0] * 5 + [1.0] * 5)
    found = review_curve(human, judged, unsure, shares=(0, 0.5, 1), reviewed_right=0.8, resamples=0)
    assert [point.accuracy for point in found.points] == pytest.approx([0.5, 0.9, 0.8])
    assert [point.by_chance for point in found.points] == pytest.approx([0.5, 0.65, 0.8])
    need = review_need(human, judged, unsure, 0.9, reviewed_right=0.8, resamples=0)
    assert (need.measured, need.reviewed) == (0.5, 5)
    assert need.random is not None
    assert need.random.review is None
    assert "out of reach" in need.reasons["random"]


def test_what_must_be_reviewed() -> None:
    """Of 100 pairs 74 are right; the 30 most uncertain hold 20 of the 26 wrong ones: six of them make .80."""
    human = codes(["a"] * 100)
    judged = codes(["b"] * 20 + ["a"] * 10 + ["b"] * 6 + ["a"] * 64)
    unsure = np.array([1.0] * 20 + [0.9] * 10 + [0.0] * 70)
    found = review_need(human, judged, unsure, 0.8)
    assert (found.accuracy, found.measured, found.reviewed) == (0.74, 0.06, 6)
    assert found.random is not None
    assert found.random.review == pytest.approx(0.230769, abs=1e-6)
    low, high = proportion_confint(74, 100, method="wilson")
    assert found.random_ends is not None
    assert found.random_ends[0].review == pytest.approx(max(0, (0.8 - high) / (1 - high)))
    assert found.random_ends[1].review == pytest.approx((0.8 - low) / (1 - low), abs=1e-9)
    assert found.interval is not None
    assert found.interval.low <= 0.06 <= found.interval.high


def test_the_interval_of_the_share_holds_what_it_promises() -> None:
    """200 samples of 150 pairs from a population of which the share is known: 95 % within simulation's error."""
    rng = np.random.default_rng(11)
    levels, wrong = np.array([1.0, 0.5, 0.0]), np.array([0.6, 0.4, 0.1])
    # A third of the pairs each: accuracy .6333; .8 needs all of level 1 (.2 of errors found): (.8 - .6333) / .6.
    truth = (0.8 - (1 - wrong.mean())) / wrong[0]
    assert truth < 1 / 3
    held = 0
    for seed in range(200):
        level = rng.integers(0, 3, 150)
        judged = np.where(rng.random(150) < wrong[level], 3, 1).astype(np.uint8)
        found = review_need(np.ones(150, np.uint8), judged, levels[level], 0.8, resamples=300, seed=seed)
        assert found.interval is not None
        held += found.interval.low <= truth <= found.interval.high
    assert held / 200 == pytest.approx(0.95, abs=0.05)


def test_good_enough_already_and_out_of_reach() -> None:
    human, judged = codes(["a"] * 10), codes(["a"] * 9 + ["b"])
    none_needed = review_need(human, judged, np.zeros(10), 0.8)
    assert (none_needed.measured, none_needed.reviewed) == (0, 0)
    assert none_needed.interval is not None
    impossible = review_need(human, judged, np.zeros(10), 0.99, reviewed_right=0.9)
    assert impossible.measured is None
    assert {"measured", "measured_ci", "random"} <= set(impossible.reasons)


def test_without_a_labelled_pair_there_is_a_reason() -> None:
    nothing = np.zeros(3, np.uint8)
    curve, need = (
        review_curve(nothing, nothing, np.zeros(3)),
        review_need(nothing, nothing, np.zeros(3), 0.8),
    )
    assert (curve.points, curve.n, curve.n_total, curve.gain) == ((), 0, 3, None)
    assert "human label" in curve.reason
    assert need.measured is None
    assert "human label" in need.reasons["measured"]
    one = review_curve(codes(["a"]), codes(["a"]), np.array([np.nan]))
    assert one.few
    assert [point.accuracy for point in one.points] == [1, 1]


def test_bad_input_is_refused() -> None:
    two = codes(["a", "b"])
    with pytest.raises(ValueError, match="do not go together"):
        review_curve(two, two, np.zeros(3))
    with pytest.raises(ValueError, match="share"):
        review_curve(two, two, np.zeros(2), shares=(20,))
    with pytest.raises(ValueError, match="share"):
        review_need(two, two, np.zeros(2), 1.2)


@pytest.mark.data
def test_auto_j_disagrees_with_itself_as_published(shared_data: Path) -> None:
    """A pair judged once in each order has an entropy of ln 2 where the two differ, else 0: its mean over ln 2 is the
    conflict rate, 1 less the published consistency of 83.41 %."""
    verdicts: dict[str, dict[str, Verdict]] = {}
    path = shared_data / "autoj" / "judgments.jsonl"
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line:
            row = json.loads(line)
            verdicts.setdefault(row["pair_id"], {})[row["order"]] = row["recorded_winner"]
    ab, ba = (codes([of[order] for of in verdicts.values()]) for order in ("ab", "ba"))
    differ = conflicts(ab, ba)
    assert (differ.hits, differ.n) == (1392 - 1161, 1392)
    assert 100 * (1 - differ.hits / differ.n) == pytest.approx(83.41, abs=0.005)
    table = np.array([[list(of.values()).count(v) for v in ("a", "tie", "b")] for of in verdicts.values()])
    assert entropies(table).mean() / log(2) == pytest.approx(differ.value)
    # Where both orders agree Auto-J is right on 765 pairs: its published agreement of 54.96 %.
    pairs = (shared_data / "autoj" / "pairs.jsonl").read_text(encoding="utf-8").split("\n")
    human = {row["id"]: row["human"] for row in map(json.loads, filter(None, pairs))}
    truth, judged = (codes([human[key] for key in verdicts]), codes([of["ab"] for of in verdicts.values()]))
    curve = review_curve(truth, judged, entropies(table), shares=(231 / 1392,), resamples=0)
    (point,) = curve.points
    assert point.reviewed == 231
    assert sum(point.untouched.confusion[i][i] for i in range(3)) == 765
    assert point.untouched.accuracy == pytest.approx(765 / 1161)
    assert point.accuracy > point.by_chance
