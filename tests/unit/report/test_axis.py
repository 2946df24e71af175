"""Axes: ticks hold what is drawn, and values stand where they say."""

from __future__ import annotations

import pytest

from judgenet.report.axis import Axis, axis_over, log_ticks, round_ticks, share_ticks, ticks_within


def test_a_value_stands_where_its_share_of_the_axis_is() -> None:
    axis = Axis(0.2, 0.6)
    assert axis.at(0.2, 100, 400) == pytest.approx(100)
    assert axis.at(0.3, 100, 400) == pytest.approx(200)
    assert axis.at(0.6, 100, 400) == pytest.approx(500)
    # Upwards: y falls.
    assert axis.at(0.5, 300, -200) == pytest.approx(150)
    # An axis without length has all at its start.
    assert Axis(1, 1).at(1, 10, 50) == 10


@pytest.mark.parametrize(
    ("low", "high", "steps", "expected"),
    [
        (0.41, 0.68, (0.02, 0.05, 0.1), [0.4, 0.5, 0.6, 0.7]),
        (0.0, 1.0, (0.1, 0.25), [0.0, 0.25, 0.5, 0.75, 1.0]),
        (0.3, 0.3, (0.1,), [0.3, 0.4]),
        (930, 1140, (50, 100, 200), [900, 950, 1000, 1050, 1100, 1150]),
        # No step is long enough: the last is taken.
        (0.0, 10.0, (1,), [float(place) for place in range(11)]),
    ],
)
def test_round_ticks(low: float, high: float, steps: tuple[float, ...], expected: list[float]) -> None:
    most = 5
    assert round_ticks(low, high, steps, most) == pytest.approx(expected)


@pytest.mark.parametrize(
    "shares", [(0.0,), (1.0,), (0.5,), (0.0, 1.0), (0.499, 0.501), (0.97, 1.0), (0.001, 0.03), (), (0.33, 0.34)]
)
def test_ticks_of_shares_hold_them_and_stay_between_0_and_1(shares: tuple[float, ...]) -> None:
    ticks = share_ticks(shares)
    assert 3 <= len(ticks) <= 6
    assert ticks[0] >= -1e-9
    assert ticks[-1] <= 1 + 1e-9
    assert all(ticks[0] - 1e-9 <= share <= ticks[-1] + 1e-9 for share in shares)
    axis = axis_over(ticks)
    assert (axis.low, axis.high) == (ticks[0], ticks[-1])


def test_ticks_within_an_axis_do_not_reach_beyond_it() -> None:
    assert ticks_within(Axis(0.41, 0.68), (0.05, 0.1, 0.2), 4) == pytest.approx([0.5, 0.6])
    assert ticks_within(Axis(0.0, 1.0), (0.05, 0.5), 3) == pytest.approx([0.0, 0.5, 1.0])


@pytest.mark.parametrize(
    ("first", "last", "ticks"),
    [
        (10, 24, [10, 24]),
        # 100 stands too close to 150 to be written beside it.
        (10, 150, [10, 30, 150]),
        (20, 6000, [30, 100, 300, 1000, 3000, 6000]),
        (5, 5, [5]),
    ],
)
def test_ticks_are_round_begin_on_the_axis_and_leave_room_for_the_last(first: int, last: int, ticks: list[int]) -> None:
    assert log_ticks(first, last) == ticks
