"""How the interval of the win rate narrows with more labels: now, and at the target."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf, log
from typing import Final

from PySide6.QtCore import QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from judgenet.report.axis import Axis, log_ticks
from judgenet.report.drawing import BODY_PX, Anchor, Dot, Drawing, Label, Path, Shape, line, text_width
from judgenet.ui.export import UNITS, paint
from judgenet.ui.labels import texts
from judgenet.ui.theme import current_theme

_HEIGHT: Final = 132
_LINE: Final = 19.0
"""Height of a line of words, in px."""
_RADIUS: Final = 5

LabelPoint = tuple[int, float]
"""A number of labels, and half the width of the interval, 0 to 1."""


class WidthPlot(QWidget):
    """A curve of half the width of the interval, in points, over the number of labels."""

    def __init__(self) -> None:
        super().__init__()
        self._curve: Sequence[LabelPoint] = ()
        self._now: LabelPoint | None = None
        self._goal: LabelPoint | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(current_theme().px(240), current_theme().px(_HEIGHT))

    def show_curve(self, curve: Sequence[LabelPoint], now: LabelPoint | None, goal: LabelPoint | None) -> None:
        """``curve`` has points in order of labels; ``now`` and ``goal`` are points on it."""
        self._curve, self._now, self._goal = curve, now, goal
        points = [texts.interval_now_with(f"{100 * now[1]:.1f}", now[0])] if now else []
        points += [texts.interval_goal(f"{100 * goal[1]:.1f}", goal[0])] if goal else []
        self.setAccessibleName(texts.interval_curve("; ".join(points)))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if len(self._curve) < 2:
            return
        scale = current_theme().scale
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(scale / UNITS, scale / UNITS)
        drawing = width_drawing(self.width() / scale, self._curve, self._now, self._goal)
        paint(painter, drawing, current_theme().colors)


def width_drawing(
    width: float, curve: Sequence[LabelPoint], now: LabelPoint | None, goal: LabelPoint | None
) -> Drawing:
    """The curve over a logarithmic axis of labels, ``width`` px wide, with the points of now and of the target."""
    first, last = curve[0][0], curve[-1][0]
    left, length, top, base = 4.0, width - 12, _LINE, _HEIGHT - 1.5 * _LINE
    over, up = Axis(log(first), log(last)), Axis(min(y for _, y in curve), max(y for _, y in curve))

    def at(point: LabelPoint) -> tuple[float, float]:
        return over.at(log(max(point[0], first)), left, length), up.at(point[1], base, top - base)

    points = [at(point) for point in curve]
    axis = round(base + 4) + 0.5
    shapes: list[Shape] = [Path(line(left, axis, left + length, axis), "line2")]
    right = -inf
    for tick in log_ticks(first, last):
        words = f"{tick:,}"
        wide = text_width(words)
        x = min(max(at((tick, up.low))[0] - wide / 2, 0), width - wide)
        if x > right + 8:
            shapes.append(Label(x, axis + _LINE, words, "text2", tabular=True))
            right = x + wide
    shapes.append(Path((("M", points[0]), *(("L", point) for point in points[1:])), "accent", 2))
    if goal is not None:
        shapes.append(Dot(*at(goal), _RADIUS, "surface", "accent", 2))
    if now is not None:
        x, y = at(now)
        shapes.append(Dot(x, y, _RADIUS, "accent", "accent", 2))
        words = texts.interval_now(f"{100 * now[1]:.1f}")
        begin = min(x + 6, width - text_width(words, BODY_PX, 600) - 2)
        # It falls from left to right: what stands over its height at the left end of the words is free.
        y = max(min(y, _height(points, begin)) - 8, 0.8 * _LINE)
        anchor: Anchor = "start" if begin > x else "end"
        x = begin if begin > x else width - 2
        shapes.append(Label(x, y, words, anchor=anchor, weight=600, tabular=True))
    return Drawing(width, _HEIGHT, tuple(shapes), "")


def _height(points: Sequence[tuple[float, float]], x: float) -> float:
    """The height of a line through points at ``x``; beyond its ends, the height of that end."""
    for (x1, y1), (x2, y2) in pairwise(points):
        if x1 <= x <= x2 and x1 < x2:
            return y1 + (y2 - y1) * (x - x1) / (x2 - x1)
    return points[-1][1] if x > points[-1][0] else points[0][1]
