"""Corrected win rates, against vectors computed by independent scripts (and, where one exists, a library)."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from math import inf
from typing import get_args

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from judgenet.core.labels import CHOSEN, Chosen
from judgenet.core.pairs import Verdict
from judgenet.stats.calibration import (
    Labelled,
    Method,
    decided_rate,
    human_only,
    k_class,
    k_class_bootstrap,
    lee,
    naive,
    prediction_powered,
    rates,
    stratified,
    too_few,
    two_class,
    worth,
)
from judgenet.stats.clustered import rates_over_questions
from judgenet.stats.intervals import win_rate

ATB: tuple[Verdict, ...] = ("a", "tie", "b")
Rows = tuple[tuple[int, ...], ...]


def _labelled(rows: Rows) -> dict[tuple[Verdict, Verdict], int]:
    classes: tuple[Verdict, ...] = ATB if len(rows) == 3 else ("a", "b")
    return {
        (verdict, human): count
        for verdict, row in zip(classes, rows, strict=True)
        for human, count in zip(classes, row, strict=True)
    }


def _others(counts: tuple[int, ...]) -> dict[Verdict, int]:
    classes: tuple[Verdict, ...] = ATB if len(counts) == 3 else ("a", "b")
    return dict(zip(classes, counts, strict=True))


THREE: dict[str, tuple[Rows, tuple[int, ...]]] = {
    "T1": (((34, 3, 1), (5, 14, 5), (1, 3, 34)), (380, 230, 390)),
    "T2": (((28, 7, 8), (4, 5, 4), (8, 8, 28)), (420, 140, 440)),
    "T3": (((30, 10, 10), (0, 0, 0), (10, 10, 30)), (480, 0, 520)),
    "T4": (((3, 1, 0), (1, 1, 1), (0, 1, 3)), (40, 20, 40)),
    "T5": (((40, 0, 0), (0, 20, 0), (0, 0, 40)), (400, 200, 400)),
    "T6": (((20, 0, 5), (5, 0, 3), (5, 0, 22)), (200, 50, 250)),
}


# Lee et al.


@pytest.mark.parametrize(
    ("x", "n", "k0", "m0", "k1", "m1", "point", "theta", "shift", "se", "low", "high"),
    [
        (400, 1000, 140, 200, 180, 200, 0.166667, 0.165644, -0.006102, 0.052650, 0.056351, 0.262733),
        (500, 1000, 80, 100, 80, 100, 0.5, 0.5, 0, 0.055099, 0.392008, 0.607992),
        (60, 100, 9, 10, 10, 10, 0.555556, 0.572845, -0.009967, 0.107653, 0.351881, 0.773875),
        (0, 50, 20, 20, 20, 20, 0, -0.010759, -0.015478, 0.056669, 0, 0.084832),
        (100, 100, 5, 5, 5, 5, 1, 1.174105, 0.181193, 0.220557, 0.923013, 1),
        (520, 1000, 30, 50, 26, 50, 1, 1.006003, 0.037317, 0.619361, 0, 1),
    ],
)
def test_two_classes(
    x: int, n: int, k0: int, m0: int, k1: int, m1: int, point: float, theta: float, shift: float, se: float,
    low: float, high: float,
) -> None:  # fmt: skip
    found = two_class(x, n, k0, m0, k1, m1)
    assert found.estimate.value == pytest.approx(point, abs=1e-6)
    assert (found.theta, found.shift, found.se) == pytest.approx((theta, shift, se), abs=1e-6)
    assert found.estimate.interval == pytest.approx((low, high), abs=1e-6)
    assert (found.estimate.n, found.estimate.labels) == (n, m0 + m1)


@pytest.mark.parametrize(
    ("x", "theta", "shift", "se", "low", "high"),
    [
        (10, -0.488344, -0.013662, 0.083035, -0.664751, -0.339261),
        (950, 1.087935, 0.004560, 0.041327, 1.011494, 1.173494),
    ],
)
def test_an_interval_outside_0_to_1_is_a_contradiction(
    x: int, theta: float, shift: float, se: float, low: float, high: float
) -> None:
    found = two_class(x, 1000, 140, 200, 180, 200)
    assert found.theta is not None
    assert found.shift is not None
    assert found.se is not None
    ends = [found.theta + found.shift + sign * 1.959963984540054 * found.se for sign in (-1, 1)]
    assert ends == pytest.approx([low, high], abs=1e-6)
    assert (found.theta, found.shift, found.se) == pytest.approx((theta, shift, se), abs=1e-6)
    assert (found.estimate.value, found.estimate.interval) == (None, None)
    assert "disagree" in found.estimate.reason


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((500, 1000, 20, 50, 25, 50), "no better than chance"),
        ((500, 1000, 25, 50, 25, 50), "no better than chance"),
        ((500, 1000, 0, 0, 25, 50), "one class only"),
        ((500, 1000, 25, 50, 0, 0), "one class only"),
        ((0, 0, 25, 50, 45, 50), "no pair is left"),
    ],
)
def test_what_two_classes_cannot_tell(counts: tuple[int, int, int, int, int, int], words: str) -> None:
    estimate = two_class(*counts).estimate
    assert (estimate.value, estimate.interval) == (None, None)
    assert words in estimate.reason


def test_a_judge_that_may_be_no_better_than_chance_is_called_doubtful() -> None:
    """J is .12 of 50 and 50 labels: its one-sided bound is .12 (smoothed .115) - 1.645 x .097 < 0."""
    doubtful = two_class(520, 1000, 30, 50, 26, 50)
    assert not doubtful.established
    assert "not established" in doubtful.estimate.notes[0]
    sure = two_class(400, 1000, 140, 200, 180, 200)
    assert sure.established
    assert sure.estimate.notes == ()


def test_a_share_of_more_than_there_is_is_no_share() -> None:
    with pytest.raises(ValueError, match="3 of 2"):
        two_class(1, 2, 3, 2, 1, 2)


def test_the_announced_judge_of_80_per_cent() -> None:
    """q = .2 + .6 p."""
    for q, p in ((200, 0), (350, 0.25), (500, 0.5), (800, 1)):
        assert two_class(q, 1000, 80, 100, 80, 100).estimate.value == pytest.approx(p)


def test_the_point_lies_inside_its_interval() -> None:
    """For judges that are right on 60 % or more of each class; point and interval smooth the rates differently."""
    rng = random.Random(3)
    seen = 0
    for _ in range(2000):
        m0, m1, n = rng.randint(10, 200), rng.randint(10, 200), rng.randint(50, 2000)
        k0, k1 = rng.randint(-(-3 * m0 // 5), m0), rng.randint(-(-3 * m1 // 5), m1)
        found = two_class(rng.randint(0, n), n, k0, m0, k1, m1).estimate
        if found.value is not None and found.interval is not None:
            seen += 1
            assert found.interval.low - 1e-12 <= found.value <= found.interval.high + 1e-12
    assert seen > 500


@pytest.mark.parametrize(
    ("counts", "point", "low", "high"),
    [
        ((206, 418, 181, 223, 170, 208), 0.484099, 0.387575, 0.580855),
        ((192, 399, 168, 221, 153, 199), 0.456281, 0.335106, 0.577337),
    ],
)
def test_pandalms_judges(counts: tuple[int, int, int, int, int, int], point: float, low: float, high: float) -> None:
    """GPT-3.5 and PandaLM-7B on PandaLM's pairs that both sides decide, half of them for calibration."""
    found = two_class(*counts).estimate
    assert found.value == pytest.approx(point, abs=1e-6)
    assert found.interval == pytest.approx((low, high), abs=1e-6)


def test_lee_counts_b_as_positive_and_refuses_ties() -> None:
    # Of 200 pairs that people give to A the judge gives 140 to A; of 200 that they give to B, 180 to B.
    labelled = _labelled(((140, 20), (60, 180)))
    assert lee(labelled, {"a": 600, "b": 400}).estimate.value == pytest.approx(0.166667, abs=1e-6)
    refused = lee(labelled, {"a": 600, "b": 400, "tie": 7}).estimate
    assert refused.value is None
    assert "7 pairs have a tie" in refused.reason


# K classes


@pytest.mark.parametrize(
    ("vector", "people", "value", "se", "smallest"),
    [
        ("T1", (0.4049, 0.1772, 0.4179), 0.506490, 0.037873, 0.512),
        ("T2", (0.4019, 0.1692, 0.4289), 0.513511, 0.091658, 0.136),
        ("T3", (1.0006, -1.0869, 1.0863), 0.542835, 0.320161, 0.017),
        ("T4", (1.35, -1.70, 1.35), 0.5, 0.905938, 0.048),
        ("T5", (0.4004, 0.1992, 0.4004), 0.5, 0.022659, 0.888),
        ("T6", None, 0.563199, 0.182938, 0.173),
    ],
)
def test_k_classes(vector: str, people: tuple[float, ...] | None, value: float, se: float, smallest: float) -> None:
    rows, others = THREE[vector]
    found = k_class(_labelled(rows), _others(others))
    if people is not None:
        assert found.shares == pytest.approx(people, abs=5e-3 if vector == "T4" else 1e-4)
    assert (found.value, found.se) == pytest.approx((value, se), abs=1e-6)
    assert found.smallest == pytest.approx(smallest, abs=6e-4)


@pytest.mark.parametrize(("vector", "low", "high"), [("T1", 0.432260, 0.580720), ("T5", 0.455588, 0.544412)])
def test_k_classes_that_are_shown(vector: str, low: float, high: float) -> None:
    rows, others = THREE[vector]
    assert k_class(_labelled(rows), _others(others)).estimate.interval == pytest.approx((low, high), abs=1e-6)


@pytest.mark.parametrize(("vector", "low", "high"), [("T2", 0.333865, 0.693156), ("T3", -0.08, 1.17)])
def test_intervals_of_refused_k_classes(vector: str, low: float, high: float) -> None:
    rows, others = THREE[vector]
    found = k_class(_labelled(rows), _others(others))
    assert found.value is not None
    assert found.se is not None
    ends = (found.value - 1.959963984540054 * found.se, found.value + 1.959963984540054 * found.se)
    assert ends == pytest.approx((low, high), abs=1e-6 if vector == "T2" else 5e-3)


def test_the_k_class_bootstrap_counts_what_it_refuses() -> None:
    """T1 and T5 near the delta method's ends; T6 has no label of a tie, and T3 no verdict of it."""
    for vector, low, high in (("T1", 0.432260, 0.580720), ("T5", 0.455588, 0.544412)):
        rows, others = THREE[vector]
        found = k_class_bootstrap(_labelled(rows), _others(others))
        assert (found.refused, found.resamples, found.reason) == (0, 5000, "")
        assert found.interval == pytest.approx((low, high), abs=0.02)
    for vector in ("T3", "T6"):
        rows, others = THREE[vector]
        found = k_class_bootstrap(_labelled(rows), _others(others), resamples=200)
        assert (found.interval, found.refused) == (None, 200)
        assert "200 of 200" in found.reason


@pytest.mark.parametrize("vector", ["T2", "T3", "T4", "T6"])
def test_k_classes_that_are_refused(vector: str) -> None:
    rows, others = THREE[vector]
    estimate = k_class(_labelled(rows), _others(others)).estimate
    assert (estimate.value, estimate.interval) == (None, None)
    assert "ties cannot be separated" in estimate.reason


def test_two_of_k_classes_are_lees_without_the_shift() -> None:
    found = k_class(_labelled(((140, 20), (60, 180))), {"a": 600, "b": 400})
    assert (found.value, found.se) == pytest.approx((0.165644, 0.052650), abs=1e-6)


# The verdict-stratified estimate


@pytest.mark.parametrize(
    ("vector", "shares", "means", "value", "se", "low", "high"),
    [
        ("T1", (0.38, 0.230909, 0.389091), (0.076923, 0.5, 0.923077), 0.503846, 0.027002, 0.450923, 0.556769),
        ("T2", (0.420909, 0.139091, 0.44), (0.272727, 0.5, 0.722222), 0.502117, 0.039347, 0.424998, 0.579235),
        ("T3", (0.481818, 0.518182), (0.303922, 0.696078), 0.507130, 0.040180, 0.428379, 0.585882),
        ("T4", (0.396396, 0.207207, 0.396396), (0.2, 0.5, 0.8), 0.5, 0.091093, 0.321461, 0.678539),
        ("T5", (0.4, 0.2, 0.4), (0.012195, 0.5, 0.987805), 0.5, 0.016320, 0.468014, 0.531986),
        ("T6", (0.401786, 0.103571, 0.494643), (0.211538, 0.388889, 0.803571), 0.522752, 0.052760, 0.419344, 0.626160),
        (((40, 8), (10, 42), (420, 480)), (0.468, 0.532), (0.173469, 0.801887), 0.507787, 0.039844, 0.429694, 0.585880),
        (((5, 0), (0, 45), (100, 900)), (0.1, 0.9), (0.083333, 0.989130), 0.898551, 0.019671, 0.859996, 0.937106),
        (((20, 0), (30, 0), (250, 250)), (0.490909, 0.509091), (0.02381, 0.016129), 0.019899, 0.019986, 0, 0.059071),
        (((0, 0), (20, 30), (0, 500)), (1.0,), (0.598039,), 0.598039, 0.068655, 0.463478, 0.732600),
    ],
)  # fmt: skip
def test_stratified(
    vector: str | tuple[tuple[int, ...], ...], shares: tuple[float, ...], means: tuple[float, ...], value: float,
    se: float, low: float, high: float,
) -> None:  # fmt: skip
    rows, others = THREE[vector] if isinstance(vector, str) else (vector[:-1], vector[-1])
    found = stratified(_labelled(rows), _others(others))
    assert [part.share for part in found.strata] == pytest.approx(shares, abs=1e-6)
    assert [part.mean for part in found.strata] == pytest.approx(means, abs=1e-6)
    assert (found.estimate.value, found.se) == pytest.approx((value, se), abs=1e-6)
    assert found.estimate.interval == pytest.approx((low, high), abs=1e-6)


def test_these_pairs_only() -> None:
    """The formula of the specification, written out: labelled pairs count as they are, the others as predicted."""
    rows, others = THREE["T2"]
    found = stratified(_labelled(rows), _others(others))
    n = sum(map(sum, rows)) + sum(others)
    value = square = 0.0
    for row, rest in zip(rows, others, strict=True):
        m = sum(row)
        scores = np.repeat([0, 0.5, 1], row).tolist()
        padded = np.array([*scores, *[0.5] * 3])
        weights = np.array([*[1.0] * m, *[1 / 3] * 3])
        padded[m:] = (0, 0.5, 1)
        mean = np.average(padded, weights=weights)
        variance = np.average((padded - mean) ** 2, weights=weights)
        value += (sum(scores) + rest * mean) / n
        square += (rest / n) ** 2 * variance * (1 / (m + 1) + 1 / rest)
    assert found.these_pairs.value == pytest.approx(value)
    assert found.se_these_pairs == pytest.approx(square**0.5)
    assert found.these_pairs.interval == pytest.approx((value - 1.959964 * square**0.5, value + 1.959964 * square**0.5))


def test_the_rate_of_pairs_that_are_all_labelled_is_known() -> None:
    """34 labels of A, 24 of a tie and 42 of B (of the pairs that got each verdict): (24 / 2 + 42) / 100."""
    found = stratified(_labelled(((30, 2, 8), (2, 20, 2), (2, 2, 32))), {})
    assert found.se_these_pairs == 0
    assert found.these_pairs.value == pytest.approx(0.54)
    assert found.these_pairs.interval == pytest.approx((0.54, 0.54))
    assert "known" in found.these_pairs.notes[0]


@pytest.mark.parametrize("labelled", [54, 108])
def test_these_pairs_are_covered_where_most_are_labelled_and_labels_are_one_sided(labelled: int) -> None:
    """120 pairs, 97 % B: the pseudo-label of a finished stratum used to pull the rate out of its interval."""
    rng = np.random.default_rng(labelled)
    held = 0
    for _ in range(500):
        human = rng.choice(3, size=120, p=(0.02, 0.01, 0.97))
        said = np.where(rng.random(120) < 0.85, human, rng.integers(3, size=120))
        cells = Counter(zip(said[:labelled].tolist(), human[:labelled].tolist(), strict=True))
        rest = Counter(said[labelled:].tolist())
        names: tuple[Verdict, ...] = ("a", "tie", "b")
        found = stratified(
            {(names[v], names[h]): count for (v, h), count in cells.items()},
            {names[v]: count for v, count in rest.items()},
        ).these_pairs
        assert found.interval is not None
        held += found.interval.low <= human.mean() / 2 <= found.interval.high
    assert held / 500 >= 0.93


def test_a_verdict_without_labels_counts_as_even_and_is_named() -> None:
    """A tenth of the pairs tie, and none of them is labelled: 0.45 x 0.5/21 + 0.1 x 0.5 + 0.45 x 20.5/21."""
    found = stratified(_labelled(((20, 0, 0), (0, 0, 0), (0, 0, 20))), {"a": 205, "tie": 50, "b": 205})
    assert found.estimate.value == pytest.approx(0.5)
    assert [part.mean for part in found.strata] == pytest.approx([0.5 / 21, 0.5, 20.5 / 21])
    assert "no pair with the verdict tie is labelled" in found.estimate.notes[0]


def test_no_pairs_no_stratified_estimate() -> None:
    assert stratified({}, {}).estimate.value is None
    assert stratified({}, {}).estimate.reason


def test_decided_rate_covers_the_point_and_takes_the_ties_out() -> None:
    """A judge that is always right: A 400, tie 200, B 600 of people: 600 of 1,000 decided."""
    rows: Rows = ((40, 0, 0), (0, 20, 0), (0, 0, 60))
    found = decided_rate(_labelled(rows), {"a": 360, "tie": 180, "b": 540})
    assert found.value == pytest.approx(0.6, abs=0.01)
    assert found.interval is not None
    assert found.interval.low < 0.6 < found.interval.high
    # Labels of verdicts that are all alike leave only the verdicts to vary: about 1.96 sqrt(.24 / 1000) each side.
    assert found.interval.high - found.interval.low == pytest.approx(2 * 1.96 * (0.24 / 1000) ** 0.5, rel=0.25)
    assert decided_rate({}, {"a": 3}).value is None


def test_decided_rate_without_ties_is_the_headline() -> None:
    rows: Rows = ((40, 0, 8), (0, 0, 0), (10, 0, 42))
    labelled, others = _labelled(rows), {"a": 420, "b": 480}
    found, headline = decided_rate(labelled, others), stratified(labelled, others).estimate  # type: ignore[arg-type]
    assert found.value == pytest.approx(headline.value)
    assert found.interval == pytest.approx(headline.interval)


def test_decided_rate_of_few_decided_labels_is_refused() -> None:
    few = decided_rate({("a", "a"): 2, ("b", "b"): 2, ("tie", "tie"): 30}, {"tie": 60})
    assert (few.value, few.interval) == (None, None)
    assert "4 of 34 labels decide" in few.reason
    assert decided_rate({("a", "a"): 2, ("b", "b"): 3, ("tie", "tie"): 30}, {"tie": 60}).value is not None


def test_decided_rate_of_one_sided_labels_covers_the_truth() -> None:
    """98 % B of those that decide, 50 labels: a bootstrap of the smoothed share held it in .57 to .95 of the runs."""
    rng = np.random.default_rng(1)
    names: tuple[Verdict, ...] = ("a", "tie", "b")
    held = shown = 0
    for _ in range(600):
        human = rng.choice(3, size=500, p=(0.018, 0.1, 0.882))
        said = np.where(rng.random(500) < 0.8, human, rng.integers(3, size=500))
        cells = Counter(zip(said[:50].tolist(), human[:50].tolist(), strict=True))
        found = decided_rate(
            {(names[v], names[h]): count for (v, h), count in cells.items()},
            {names[v]: count for v, count in Counter(said[50:].tolist()).items()},
        )
        if found.interval is not None:
            shown += 1
            held += found.interval.low <= 0.98 <= found.interval.high
    assert shown == 600
    assert held / shown >= 0.93


# PPI++


@pytest.mark.parametrize(
    ("labels", "others", "weight", "value", "low", "high", "plain_low", "plain_high"),
    [
        ((60, 15, 10, 15), (440, 560), 0.278369, 0.711028, 0.631674, 0.790383, 0.507754, 0.712246),
        ((45, 0, 0, 5), (100, 900), 0.951474, 0.9, 0.881854, 0.918146, 0.881406, 0.918594),
        ((40, 10, 8, 42), (420, 480), 0.577234, 0.530786, 0.452961, 0.608610, 0.464106, 0.642561),
        ((10, 10, 10, 10), (50, 50), 0, 0.5, 0.345051, 0.654949, 0.259954, 0.740046),
        ((0, 30, 0, 20), (500, 0), 0, 0.6, 0.464210, 0.735790, 0.464210, 0.735790),
    ],
)
def test_prediction_powered(
    labels: tuple[int, int, int, int], others: tuple[int, int], weight: float, value: float, low: float, high: float,
    plain_low: float, plain_high: float,
) -> None:  # fmt: skip
    """Labels are counts of (people, network) = 11, 10, 01, 00."""
    labelled: Labelled = dict(zip((("b", "b"), ("a", "b"), ("b", "a"), ("a", "a")), labels, strict=True))
    found = prediction_powered(labelled, _others(others))
    assert found.weight == pytest.approx(weight, abs=1e-6)
    assert found.estimate.value == pytest.approx(value, abs=1e-6)
    assert found.estimate.interval == pytest.approx((low, high), abs=1e-6)
    plain = prediction_powered(labelled, _others(others), 1.0).estimate
    assert plain.interval == pytest.approx((plain_low, plain_high), abs=1e-6)


def test_labels_that_hardly_vary_have_no_prediction_powered_estimate() -> None:
    """People said B each time, or nearly: the formula's error is 0, or too small."""
    for others in range(5):
        found = prediction_powered({("b", "b"): 20, ("a", "a"): others}, {"a": 30, "b": 70}).estimate
        assert (found.value, found.interval) == (None, None)
        assert f"{5 - others} more of the rarer labels" in found.reason
    found = prediction_powered({("b", "b"): 20, ("a", "a"): 5}, {"a": 30, "b": 70}).estimate
    assert found.interval is not None
    assert found.interval.low < found.interval.high


def test_prediction_powered_needs_both() -> None:
    assert "no judged pair has a human label" in prediction_powered({}, {"a": 3}).estimate.reason
    alone = prediction_powered({("a", "a"): 3, ("b", "a"): 2}, {}).estimate
    assert (alone.value, alone.interval) == (None, None)
    assert "every judged pair is labelled" in alone.reason


@pytest.mark.parametrize(("rho2", "value"), [(0.04, 1.04), (0.16, 1.19), (0.36, 1.56), (0.64, 2.78)])
def test_worth(rho2: float, value: float) -> None:
    """Even classes and equal errors: the correlation is right - wrong, with right + wrong = 1."""
    right = round(1000 * (1 + rho2**0.5) / 2)
    labelled = _labelled(((right, 1000 - right), (1000 - right, right)))
    found = worth(labelled, inf)
    assert found.correlation == pytest.approx(rho2**0.5)
    assert found.multiplier == pytest.approx(value, abs=5e-3)


def test_worth_of_a_verdict_in_labels() -> None:
    """80 % right on 100 labelled pairs, 900 others: 1 / (1 - .36 x .9) = 1.479290; 47.929 labels more by 900."""
    found = worth(_labelled(((40, 10), (10, 40))), 900)
    assert found.multiplier == pytest.approx(1.479290, abs=1e-6)
    assert found.per_verdict == pytest.approx(0.0532544, abs=1e-6)


def test_worth_of_a_bad_judge_is_a_label_a_label_and_of_a_constant_one_undefined() -> None:
    assert worth(_labelled(((10, 40), (40, 10))), 900).multiplier == 1
    for rows, who in ((((0, 0), (20, 30)), "network"), (((20, 0), (30, 0)), "people")):
        found = worth(_labelled(rows), 500)
        assert found.multiplier is None
        assert who in found.reason
    assert worth({}, 5).multiplier is None
    assert worth(_labelled(((10, 0), (0, 10))), inf).multiplier is None


# Uncorrected


@pytest.mark.parametrize(
    ("win", "tie", "loss", "value", "low", "high"),
    [
        (60, 0, 40, 0.6, 0.503593, 0.694427),
        (45, 20, 35, 0.55, 0.462896, 0.636114),
        (0, 0, 20, 0, 0, 0.083188),
        (10, 0, 0, 1, 0.842712, 1),
        (0, 10, 0, 0.5, 0.427259, 0.572741),
        (3, 1, 2, 0.583333, 0.242396, 0.900462),
    ],
)
def test_naive_and_human(win: int, tie: int, loss: int, value: float, low: float, high: float) -> None:
    """The published form is in :func:`win_rate`; what is shown holds for few and one-sided verdicts too: Wilson's
    interval where none is a tie, else that form with a pseudo-pair for each class."""
    others: dict[Verdict, int] = {"b": win, "tie": tie, "a": loss}
    published = win_rate(loss, win, tie)
    assert published.value == pytest.approx(value, abs=1e-6)
    assert published.interval == pytest.approx((low, high), abs=1e-6)
    found = naive({}, others)
    people = human_only({("a", human): count for human, count in others.items()})
    n = win + tie + loss
    shares = np.array([loss + 1, tie + 1, win + 1]) / (n + 3)
    mean = float(shares @ (0, 0.5, 1))
    half = 1.959964 * float((shares @ (0, 0.25, 1) - mean**2) / (n + 3)) ** 0.5
    ends = (max(0, mean - half), min(1, mean + half)) if tie else proportion_confint(win, n, method="wilson")
    for estimate in (found, people):
        assert estimate.value == pytest.approx(value, abs=1e-6)
        assert estimate.interval == pytest.approx(ends, abs=1e-6)
        assert estimate.n == n
    assert found.notes == ("uncorrected",)


# What may be shown

TWO = _labelled(((40, 8), (10, 42)))
OTHERS: dict[Verdict, int] = {"a": 420, "b": 480}


@pytest.mark.parametrize(
    ("chosen", "shown"),
    [
        ("random", {"naive", "stratified", "ppi", "human_only", "lee"}),
        ("within-verdict", {"naive", "stratified"}),
        ("imported", {"naive", "lee", "k_class"}),
        ("targeted", {"naive"}),
    ],
)
def test_how_labels_were_chosen_decides(chosen: Chosen, shown: set[Method]) -> None:
    found = rates(TWO, OTHERS, chosen)
    assert tuple(found.estimates) == get_args(Method)
    assert {method for method, estimate in found.estimates.items() if estimate.value is not None} == shown
    for method in set(get_args(Method)) - shown:
        assert found.estimates[method].reason
        assert found.estimates[method].interval is None
    assert (found.decided.value is None) == ("stratified" not in shown)
    assert (found.worth.multiplier is None) == (chosen != "random")


def test_lee_on_random_labels_comes_with_its_caveat() -> None:
    assert "wider than the human labels alone" in rates(TWO, OTHERS, "random").estimates["lee"].notes[0]
    assert rates(TWO, OTHERS, "imported").estimates["lee"].notes == ()


def test_too_few_labels_say_how_many_more() -> None:
    few = _labelled(((4, 0), (0, 5)))
    assert too_few(few, OTHERS) == "9 labels are too few: 1 more are needed"
    found = rates(few, OTHERS, "random").estimates
    assert {method for method, estimate in found.items() if estimate.value is not None} == {"naive", "human_only"}
    assert "1 more" in found["stratified"].reason


def test_one_verdict_on_every_pair_needs_20_labels_for_an_interval() -> None:
    """Simulated, the normal interval of the one stratum holds the truth in .904 of the runs with 10 labels."""
    for labels in (10, 19, 20):
        few = {("b", "b"): labels - 2, ("b", "a"): 2}
        found = rates(few, {"b": 180}, "random")
        for estimate in (found.estimates["stratified"], found.decided, found.stratified.these_pairs):
            assert estimate.value is not None
            assert (estimate.interval is None) == (labels < 20)
            assert labels == 20 or f"{20 - labels} more are needed" in estimate.reason
        assert found.estimates["human_only"].interval is not None
    # Where every pair is labelled the rate of these pairs is known, and no label can be added.
    assert rates({("b", "b"): 8, ("b", "a"): 4}, {}, "random").stratified.these_pairs.interval is not None
    # Two verdicts are two strata.
    assert rates({("b", "b"): 8, ("a", "a"): 4}, {"b": 180}, "random").estimates["stratified"].interval is not None


def test_one_verdict_on_repeated_questions_needs_20_labels_too() -> None:
    counts = np.zeros((40, 4, 4))
    counts[:, 3, 0] = 3
    counts[:12, 3, 3] = 1
    counts[12:15, 3, 1] = 1
    found = rates_over_questions(counts, "random", resamples=200)
    assert found.estimates["stratified"].value is not None
    for estimate in (found.estimates["stratified"], found.decided, found.stratified.these_pairs):
        assert estimate.interval is None
        assert "5 more are needed" in estimate.reason
    counts[15:20, 3, 3] = 1
    found = rates_over_questions(counts, "random", resamples=200)
    assert found.estimates["stratified"].interval is not None
    assert found.decided.interval is not None


def test_a_large_verdict_without_labels_is_too_few_a_small_one_is_not() -> None:
    labelled = _labelled(((20, 0, 0), (0, 1, 0), (0, 0, 20)))
    large = too_few(labelled, {"a": 400, "tie": 100, "b": 400})
    assert "verdict tie" in large
    assert "1 more" in large
    assert too_few(labelled, {"a": 430, "tie": 60, "b": 430}) == ""


def test_nothing_is_ever_nan_or_an_exception() -> None:
    """Every small table of labels, with every small table of others."""
    cells: list[tuple[Verdict, Verdict]] = [("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]
    cases: list[tuple[dict[tuple[Verdict, Verdict], int], dict[Verdict, int]]] = []
    for counts in itertools.product((0, 1, 12), repeat=4):
        for rest in ((0, 0), (0, 30), (1, 0), (20, 30)):
            labelled = {cell: count for cell, count in zip(cells, counts, strict=True) if count}
            cases.append((labelled, {"a": rest[0], "b": rest[1], "tie": sum(counts) % 2}))
    for labelled, others in cases:
        for chosen in CHOSEN:
            if chosen in ("within-verdict", "targeted") and sum(labelled.values()) % 5:
                continue
            for estimate in rates(labelled, others, chosen).estimates.values():
                assert (estimate.interval is None) == bool(estimate.reason)
                assert estimate.value is not None or estimate.interval is None
                if estimate.value is not None and estimate.interval is not None:
                    assert 0 <= estimate.value <= 1
                    assert 0 <= estimate.interval.low <= estimate.interval.high <= 1


def test_the_ways_of_choosing_are_those_that_the_store_keeps() -> None:
    assert get_args(Chosen) == ("random", "within-verdict", "targeted", "imported")
