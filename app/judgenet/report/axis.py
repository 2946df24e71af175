"""Axes of charts: their ends, their ticks, and where a value stands. For the drawings here and the studio's charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor

SHARE_STEPS = (0.02, 0.05, 0.1, 0.2, 0.25)
"""Distances between the ticks of an axis of shares."""
_LEAST_SPAN = 0.1


@dataclass(frozen=True, slots=True)
class Axis:
    """Values from ``low`` to ``high``."""

    low: float
    high: float

    def at(self, value: float, start: float, length: float) -> float:
        """The place of a value in px: ``low`` is at ``start``, ``high`` at ``start + length``."""
        return start + (value - self.low) / ((self.high - self.low) or 1) * length


def round_ticks(low: float, high: float, steps: Sequence[float], most: float = 5) -> list[float]:
    """Multiples of one step, from the last below ``low`` to the first above ``high``: at least two.

    The step is the first of ``steps`` with which there are at most ``most`` steps, else the last.
    """
    for step in steps:
        first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
        if last - first <= most:
            break
    return [place * step for place in range(first, max(last, first + 1) + 1)]


def ticks_within(axis: Axis, steps: Sequence[float], most: float) -> list[float]:
    """The multiples of one step that lie on the axis. The step is the first of ``steps`` that fits less than ``most``
    times into the axis, else the last."""
    step = next((step for step in steps if (axis.high - axis.low) / step < most), steps[-1])
    return [place * step for place in range(ceil(axis.low / step - 1e-9), floor(axis.high / step + 1e-9) + 1)]


def share_ticks(shares: Iterable[float], most: int = 5) -> list[float]:
    """Ticks of an axis that holds all shares: it begins at the first, ends at the last, and is a tenth long or more."""
    values = list(shares)
    if not values:
        return [0.0, 0.25, 0.5, 0.75, 1.0]
    low, high = min(values), max(values)
    if high - low < _LEAST_SPAN:
        low = min(max(0.0, (low + high - _LEAST_SPAN) / 2), 1 - _LEAST_SPAN)
        high = low + _LEAST_SPAN
    return round_ticks(low, high, SHARE_STEPS, most)


def axis_over(ticks: Sequence[float]) -> Axis:
    """The axis from the first tick to the last."""
    return Axis(ticks[0], ticks[-1])


def log_ticks(first: int, last: int) -> list[int]:
    """Ticks of a logarithmic axis of counts: 10, 30, 100 … from ``first`` on, and ``last``. Ticks whose label would
    touch the last one's are left out."""
    wanted = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
    return [*(tick for tick in wanted if first <= tick and 1.7 * tick <= last), last]
