"""Curves over finished pairs give, at each point, what the figures over that beginning of the run are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgenet.stats.curves import CODES, agreement_curves, pair_counts, right_by_order
from judgenet.stats.intervals import wilson
from tests.short_forms import agreement

codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=60)


def _arrays(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    human = np.array([one for one, _ in pairs], np.uint8)
    judged = np.array([other for _, other in pairs], np.uint8)
    return human, judged


@given(codes)
@settings(max_examples=60, deadline=None)
def test_each_point_is_the_figure_over_its_beginning(pairs: list[tuple[int, int]]) -> None:
    curves = agreement_curves(*_arrays(pairs))
    labelled = [pair for pair in pairs if pair[0]]
    wanted: dict[str, list[tuple[int, float]]] = {"accuracy": [], "macro_f1": [], "kappa": []}
    ends = []
    for count in range(1, len(labelled) + 1):
        found = agreement([CODES[one] for one, _ in labelled[:count]], [CODES[other] for _, other in labelled[:count]])
        for name, points in wanted.items():
            value = getattr(found, name)
            if value is not None:
                points.append((count, value))
        if found.n_used:
            ends.append(wilson(round(found.n_used * (found.accuracy or 0)), found.n_used))
    for name, points in wanted.items():
        curve = getattr(curves, name)
        assert curve.pairs.tolist() == [count for count, _ in points]
        assert curve.values == pytest.approx([value for _, value in points])
    assert list(zip(curves.low, curves.high, strict=True)) == [pytest.approx(end) for end in ends]
    assert curves.last == agreement([CODES[one] for one, _ in pairs], [CODES[other] for _, other in pairs])


def test_a_long_run_has_few_points_and_the_last_stands_for_all() -> None:
    dice = np.random.default_rng(5)
    human = dice.integers(0, 4, 100_000).astype(np.uint8)
    judged = np.where(dice.random(100_000) < 0.6, human, dice.integers(0, 4, 100_000)).astype(np.uint8)
    curves = agreement_curves(human, judged)
    assert len(curves.accuracy.pairs) <= 512
    assert curves.accuracy.pairs[-1] == int((human > 0).sum())
    assert curves.accuracy.values[-1] == pytest.approx(curves.last.accuracy)
    assert curves.macro_f1.values[-1] == pytest.approx(curves.last.macro_f1)
    assert curves.kappa.values[-1] == pytest.approx(curves.last.kappa)


def test_nothing_finished_gives_empty_curves_and_a_reason() -> None:
    empty = np.array([], np.uint8)
    curves = agreement_curves(empty, empty)
    assert len(curves.accuracy.pairs) == len(curves.kappa.pairs) == 0
    assert curves.last.accuracy is None
    assert curves.last.reasons["accuracy"]


def test_counts_name_the_verdicts() -> None:
    human = np.array([1, 1, 0, 3], np.uint8)
    judged = np.array([1, 1, 2, 0], np.uint8)
    assert pair_counts(human, judged) == {("a", "a"): 2, (None, "tie"): 1, ("b", None): 1}


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be compared"):
        agreement_curves(np.zeros(2, np.uint8), np.zeros(3, np.uint8))


def test_right_in_each_order_and_in_both() -> None:
    """Seven pairs: right in both, in AB, in BA, in neither; one order missing, both missing, no label."""
    human = np.array([1, 1, 3, 2, 3, 1, 0], np.uint8)
    ab = np.array([1, 1, 1, 3, 3, 0, 1], np.uint8)
    ba = np.array([1, 3, 3, 1, 0, 0, 1], np.uint8)
    assert right_by_order(human, ab, ba) == (3, 5, 2, 4, 1, 4)
    with pytest.raises(ValueError, match="compared"):
        right_by_order(human, ab, ba[:3])
