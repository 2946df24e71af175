"""Ticks of a logarithmic axis of counts."""

from __future__ import annotations

import pytest

from judgenet.report.axis import log_ticks


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
