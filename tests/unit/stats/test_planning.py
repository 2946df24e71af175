"""Planning of labels, against figures computed by independent scripts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from judgenet.core.pairs import Verdict
from judgenet.stats.planning import (
    PlannedStratum,
    assumed_strata,
    draw_labels,
    human_labels,
    k_class_labels,
    label_targets,
    neyman,
    powered_labels,
    published_allocation,
    stratified_labels,
    stratified_width,
    two_class_labels,
)


def _strata(table: Sequence[Sequence[float]], scores: Sequence[float]) -> list[PlannedStratum]:
    """The strata of a joint table of verdicts (rows) and labels, without a pseudo-label."""
    total = sum(sum(row) for row in table)
    found = []
    for row in table:
        n = sum(row)
        mean = sum(count * score for count, score in zip(row, scores, strict=True)) / n
        square = sum(count * score * score for count, score in zip(row, scores, strict=True)) / n
        found.append(PlannedStratum(n / total, mean, (square - mean * mean) ** 0.5))
    return found


TWO = _strata(((0.4, 0.1), (0.1, 0.4)), (0, 1))
T1 = _strata(((34, 3, 1), (5, 14, 5), (1, 3, 34)), (0, 0.5, 1))
T2 = _strata(((28, 7, 8), (4, 5, 4), (8, 8, 28)), (0, 0.5, 1))
USELESS = _strata(((0.25, 0.25), (0.25, 0.25)), (0, 1))
PERFECT = _strata(((0.5, 0), (0, 0.5)), (0, 1))


@pytest.mark.parametrize(
    ("strata", "pairs", "width", "at_random", "best", "alone"),
    [
        (TWO, 1000, 0.1, 286, 286, 385),
        (TWO, 1000, 0.05, None, None, None),
        (T2, 1000, 0.1, 255, 255, 308),
        (T1, 500, 0.1, 156, 149, 308),
        (USELESS, 1000, 0.1, 385, 385, 385),
        (PERFECT, 1000, 0.1, 0, 0, 385),
    ],
)
def test_stratified(
    strata: list[PlannedStratum], pairs: int, width: float, at_random: int | None, best: int | None, alone: int | None
) -> None:
    assert stratified_labels(strata, pairs, width).needed == at_random
    assert stratified_labels(strata, pairs, width, within_verdict=True).needed == best
    assert human_labels(strata, pairs, width).needed == alone


@pytest.mark.parametrize(("strata", "within", "between"), [(TWO, 0.16, 0.09), (T2, 0.154017, 0.045983)])
def test_the_variance_within_and_between_verdicts(strata: list[PlannedStratum], within: float, between: float) -> None:
    """The width of 100 labels of 1,000 pairs is 2 z sqrt(EV / 100 + VE / 1,000)."""
    wide = 2 * 1.959963984540054 * (within / 100 + between / 1000) ** 0.5
    assert stratified_width(strata, 1000, 100) == pytest.approx(wide, abs=1e-5)
    assert human_labels(strata, 10**6, 0.1).needed == -(-(within + between) // (0.1 / 2 / 1.959963984540054) ** 2)


def test_what_is_impossible_says_why() -> None:
    need = stratified_labels(TWO, 1000, 0.05)
    assert (need.needed, need.labels) == (None, None)
    assert "2,201 labels would be needed of 1,000" in need.reason
    narrowest = stratified_width(TWO, 1000, 1000)
    assert f"which all together give a width of {100 * narrowest:.1f} points" in need.reason
    assert "1,537" in human_labels(TWO, 1000, 0.05).reason
    below = stratified_labels(PERFECT, 1000, 0.05)
    assert below.needed is None
    assert below.floor == pytest.approx(0.0620, abs=5e-5)
    assert "6.2 points" in below.reason


def test_thirty_labels_are_the_fewest_advised() -> None:
    assert stratified_labels(PERFECT, 1000, 0.1).labels == 30
    assert stratified_labels(TWO, 1000, 0.1).labels == 286


def test_the_planned_number_gives_the_width() -> None:
    assert stratified_width(TWO, 1000, 286) <= 0.1 < stratified_width(TWO, 1000, 285)


@pytest.mark.parametrize(
    ("theta", "q0", "q1", "n", "width", "floor", "needs"),
    [
        (0.5, 0.8, 0.8, 1000, 0.1, 0.1033, (None, None, None)),
        (0.5, 0.8, 0.8, 1000, 0.2, 0.1033, (233, 233, 233)),
        (0.5, 0.9, 0.9, 1000, 0.1, 0.0775, (541, 541, 541)),
        (0.7, 0.7, 0.9, 1000, 0.1, 0.0928, (3694, 3855, 3855)),
        (0.7, 0.7, 0.9, 100_000, 0.1, 0.0093, (520, 543, 543)),
        (0.9, 0.95, 0.95, 2000, 0.05, 0.0338, (664, 1089, 664)),
        (0.5, 0.6, 0.7, 1000, 0.2, 0.2056, (None, None, None)),
        (0.5, 0.95, 0.95, 1000, 0.1, 0.0689, (172, 172, 172)),
        (0.5, 1, 1, 1000, 0.1, 0.0620, (0, 0, 0)),
    ],
)
def test_two_classes(
    theta: float, q0: float, q1: float, n: int, width: float, floor: float, needs: tuple[int | None, ...]
) -> None:
    found = two_class_labels(theta, q0, q1, n, width)
    assert (found.optimal.needed, found.equal.needed, found.at_random.needed) == needs
    assert found.optimal.floor == pytest.approx(floor, abs=5e-5)
    assert bool(found.optimal.reason) == (needs[0] is None)


@pytest.mark.parametrize(
    ("theta", "q0", "q1", "n", "width", "alone", "powered"),
    [
        (0.5, 0.8, 0.8, 1000, 0.1, 385, 276),
        (0.5, 0.8, 0.8, 1000, 0.2, 97, 64),
        (0.5, 0.9, 0.9, 1000, 0.1, 385, 175),
        (0.7, 0.7, 0.9, 1000, 0.1, 323, 224),
        (0.7, 0.7, 0.9, 100_000, 0.1, 323, 202),
        (0.9, 0.95, 0.95, 2000, 0.05, 554, 257),
        (0.5, 0.6, 0.7, 1000, 0.2, 97, 89),
        (0.5, 0.95, 0.95, 1000, 0.1, 385, 102),
        (0.5, 1, 1, 1000, 0.1, 385, 0),
    ],
)
def test_prediction_powered_and_people_alone(
    theta: float, q0: float, q1: float, n: int, width: float, alone: int, powered: int
) -> None:
    p = theta * q1 + (1 - theta) * (1 - q0)
    correlation = (theta * q1 - theta * p) / (theta * (1 - theta) * p * (1 - p)) ** 0.5
    # The published figures have n unlabelled pairs beside the labels.
    assert powered_labels(theta * (1 - theta), correlation, n + powered, width).needed == powered
    table = ((q0 * (1 - theta), (1 - q1) * theta), ((1 - q0) * (1 - theta), q1 * theta))
    assert human_labels(_strata(table, (0, 1)), 10**6, width).needed == alone


@pytest.mark.parametrize(
    ("theta", "q0", "q1", "n", "width"),
    [(0.5, 0.8, 0.8, 1000, 0.2), (0.7, 0.7, 0.9, 1000, 0.1), (0.9, 0.95, 0.95, 2000, 0.05), (0.5, 0.6, 0.7, 1000, 0.2)],
)
def test_two_of_k_classes_are_planned_as_two(theta: float, q0: float, q1: float, n: int, width: float) -> None:
    found = k_class_labels(((q0, 1 - q1), (1 - q0, q1)), (1 - theta, theta), (0, 1), n, width)
    two = two_class_labels(theta, q0, q1, n, width)
    assert (found.optimal.needed, found.equal.needed) == (two.optimal.needed, two.equal.needed)
    assert found.optimal.floor == pytest.approx(two.optimal.floor)
    parts = (1 - theta) * (q0 * (1 - q0)) ** 0.5, theta * (q1 * (1 - q1)) ** 0.5
    assert found.allocation == pytest.approx([part / sum(parts) for part in parts])


def test_the_planned_labels_of_three_classes_give_the_width() -> None:
    """By simulation of the plain estimate with the labels spread as advised: 2 x 1.96 standard deviations."""
    errors = np.array(((0.8, 0.15, 0.05), (0.15, 0.7, 0.15), (0.05, 0.15, 0.8)))
    people, scores, width = np.array((0.3, 0.2, 0.5)), np.array((0, 0.5, 1)), 0.1
    found = k_class_labels(errors.tolist(), people.tolist(), scores.tolist(), 2000, width)
    assert found.optimal.needed is not None
    assert found.equal.needed is not None
    assert found.optimal.needed <= found.equal.needed
    rng = np.random.default_rng(3)
    counts = [round(found.optimal.needed * share) for share in found.allocation]
    values = []
    for _ in range(3000):
        matrix = np.stack([rng.multinomial(m, errors[:, k]) / m for k, m in enumerate(counts)], axis=1)
        shares = rng.multinomial(2000, errors @ people) / 2000
        values.append(scores @ np.linalg.solve(matrix, shares))
    assert 2 * 1.96 * np.std(values) == pytest.approx(width, rel=0.06)


def test_three_classes_that_cannot_be_planned() -> None:
    same = ((0.4, 0.4, 0.4), (0.2, 0.2, 0.2), (0.4, 0.4, 0.4))
    assert "hide the classes" in k_class_labels(same, (0.4, 0.2, 0.4), (0, 0.5, 1), 1000, 0.1).optimal.reason
    errors = ((0.8, 0.15, 0.05), (0.15, 0.7, 0.15), (0.05, 0.15, 0.8))
    found = k_class_labels(errors, (0.3, 0.2, 0.5), (0, 0.5, 1), 100, 0.05)
    assert found.equal.needed is None
    assert "100 other pairs give no interval narrower" in found.equal.reason
    assert "no other pair" in k_class_labels(errors, (0.3, 0.2, 0.5), (0, 0.5, 1), 0, 0.05).optimal.reason


def test_a_judge_at_chance_corrects_nothing() -> None:
    assert "chance" in two_class_labels(0.5, 0.5, 0.5, 1000, 0.1).optimal.reason
    assert "no other pair" in two_class_labels(0.5, 0.9, 0.9, 0, 0.1).optimal.reason


@pytest.mark.parametrize("width", [0, -0.1, 1.5])
def test_a_width_that_is_none(width: float) -> None:
    with pytest.raises(ValueError, match="width"):
        stratified_labels(TWO, 1000, width)


@pytest.mark.parametrize(
    ("p", "q0", "q1", "theta", "exact", "published", "variances"),
    [
        (0.4, 0.7, 0.9, 0.1667, (176.8, 23.2), (136, 64), (9.326, 11.114, 14.833, 9.500)),
        (0.7, 0.7, 0.9, 0.6667, (86.6, 113.4), (75, 125), (6.222, 6.311, 6.333, 6.500)),
        (0.5, 0.8, 0.8, 0.5, (100, 100), (100, 100), (8, 8, 8, 8)),
        (0.8, 0.9, 0.95, 0.8235, (45.6, 154.4), (45, 155), (2.701, 2.701, 3.502, 2.750)),
        (0.35, 0.7, 0.9, 0.0833, (188.8, 11.2), (145, 55), (9.904, 12.283, 17.708, 10.000)),
    ],
)
def test_allocation(
    p: float, q0: float, q1: float, theta: float, exact: tuple[float, float], published: tuple[int, int],
    variances: tuple[float, float, float, float],
) -> None:  # fmt: skip
    theta = (p + q0 - 1) / (q0 + q1 - 1)
    shares = k_class_labels(((q0, 1 - q1), (1 - q0, q1)), (1 - theta, theta), (0, 1), 1000, 0.2).allocation
    found = 200 * shares[0], 200 * shares[1]
    assert found == pytest.approx(exact, abs=0.05)
    assert published_allocation(200, p, q0, q1) == published
    at_random = 200 * (1 - theta), 200 * theta
    for (m0, m1), variance in zip((found, published, (100, 100), at_random), variances, strict=True):
        error = (1 - theta) ** 2 * q0 * (1 - q0) / m0 + theta**2 * q1 * (1 - q1) / m1
        assert error * 1e4 == pytest.approx(variance, abs=1e-3)


def test_the_limits_of_the_published_allocation() -> None:
    """The reference code turns the first round, and gives 5 and 10, and 0 on a side, in the others."""
    assert published_allocation(200, 0, 0.7, 0.9) == published_allocation(200, 2e-6, 0.7, 0.9) == (190, 10)
    assert published_allocation(15, 0.5, 0.7, 0.9) == (8, 7)
    assert published_allocation(20, 0.5, 0.7, 1, pilot=0) == (20, 0)
    assert published_allocation(20, 0.5, 1, 1, pilot=0) == (10, 10)


@pytest.mark.parametrize(
    ("shares", "sds", "labels", "expected"),
    [
        ((0.4, 0.2, 0.4), (0.3, 0.45, 0.3), 100, (36.364, 27.273, 36.364)),
        ((0.5, 0, 0.5), (0.4, 0, 0.4), 60, (30, 0, 30)),
        ((0.6, 0.1, 0.3), (0.2, 0.5, 0.4), 200, (82.759, 34.483, 82.759)),
        ((0.25, 0.75), (0, 0), 8, (2, 6)),
    ],
)
def test_neyman(shares: list[float], sds: list[float], labels: int, expected: list[float]) -> None:
    assert neyman(shares, sds, labels) == pytest.approx(expected, abs=1e-3)


def test_targets_have_five_of_each_verdict_and_no_more_than_there_are() -> None:
    strata: dict[Verdict, PlannedStratum] = {
        "a": PlannedStratum(0.9, 0.1, 0.3),
        "tie": PlannedStratum(0.006, 0.5, 0.4),
        "b": PlannedStratum(0.094, 0.9, 0.3),
    }
    # The tie's five leave 95, in proportion to .9 and .094: 86.02 and 8.98, rounded up.
    found = label_targets(strata, {"a": 900, "tie": 6, "b": 94}, 100)
    assert found == {"a": 87, "tie": 5, "b": 9}
    assert label_targets(strata, {"a": 40, "tie": 3, "b": 900}, 100) == {"a": 40, "tie": 3, "b": 57}
    assert label_targets(strata, {"a": 4, "tie": 0, "b": 3}, 100) == {"a": 4, "b": 3}
    assert label_targets(strata, {}, 100) == {}


def test_pairs_are_drawn_within_their_verdict_by_seed() -> None:
    ids: dict[Verdict, list[str]] = {"a": [f"a{i}" for i in range(50)], "b": [f"b{i}" for i in range(5)]}
    drawn = draw_labels(ids, {"a": 10, "b": 9, "tie": 3}, seed=1)
    assert sorted(name[0] for name in drawn) == ["a"] * 10 + ["b"] * 5
    assert len(set(drawn)) == 15
    assert drawn == draw_labels(ids, {"a": 10, "b": 9, "tie": 3}, seed=1)
    assert drawn != draw_labels(ids, {"a": 10, "b": 9, "tie": 3}, seed=2)
    assert draw_labels(ids, {"a": -3}) == []


def test_the_assumption_is_a_judge_of_80_per_cent() -> None:
    """Two classes, half and half: the plan is that of the table .4 .1 / .1 .4."""
    assert stratified_labels(list(assumed_strata({"a": 0.5, "b": 0.5, "tie": 0}).values()), 1000, 0.1).needed == 286
