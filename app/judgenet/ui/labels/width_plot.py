"""How the interval of the win rate narrows with the labels: where it stands, and where it will."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf, log

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from judgenet.ui.plotting import subject_pen
from judgenet.ui.theme import current_theme

_HEIGHT = 132


class WidthPlot(QWidget):
    """A curve of half the width of the interval, in points, over the number of labels."""

    def __init__(self) -> None:
        super().__init__()
        self._curve: Sequence[tuple[int, float]] = ()
        self._now: tuple[int, float] | None = None
        self._goal: tuple[int, float] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(current_theme().px(240), current_theme().px(_HEIGHT))

    def show_curve(
        self, curve: Sequence[tuple[int, float]], now: tuple[int, float] | None, goal: tuple[int, float] | None
    ) -> None:
        """``curve`` holds (labels, half the width, 0 to 1) in order; ``now`` and ``goal`` are points on it."""
        self._curve, self._now, self._goal = curve, now, goal
        said = [f"now ± {100 * now[1]:.1f} points with {now[0]:,} labels"] if now else []
        said += [f"± {100 * goal[1]:.1f} points with {goal[0]:,}"] if goal else []
        self.setAccessibleName(f"Interval of the win rate: {'; '.join(said)}")
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if len(self._curve) < 2:
            return
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font(tabular=True))
        line = painter.fontMetrics().height()
        box = QRectF(theme.px(4), line, self.width() - theme.px(12), self.height() - 2.5 * line)
        first, last = self._curve[0][0], self._curve[-1][0]
        top = max(width for _, width in self._curve)
        low = min(width for _, width in self._curve)

        def at(labels: float, width: float) -> QPointF:
            share = log(max(labels, first) / first) / log(last / first)
            return QPointF(box.left() + share * box.width(), box.bottom() - (width - low) / (top - low) * box.height())

        painter.setPen(theme.color("line2"))
        base = round(box.bottom() + theme.px(4)) + 0.5
        painter.drawLine(QPointF(box.left(), base), QPointF(box.right(), base))
        painter.setPen(theme.color("text2"))
        right = -inf
        for tick in _ticks(first, last):
            words = f"{tick:,}"
            wide = painter.fontMetrics().horizontalAdvance(words)
            x = min(max(at(tick, low).x() - wide / 2, 0), self.width() - wide)
            if x > right + theme.px(8):
                painter.drawText(QPointF(x, base + line), words)
                right = x + wide
        painter.setPen(subject_pen())
        path = QPainterPath(at(*self._curve[0]))
        for point in self._curve[1:]:
            path.lineTo(at(*point))
        painter.drawPath(path)
        radius = theme.px(5)
        if self._goal is not None:
            painter.setBrush(theme.color("surface"))
            painter.drawEllipse(at(*self._goal), radius, radius)
        if self._now is not None:
            painter.setBrush(theme.color("accent"))
            painter.drawEllipse(at(*self._now), radius, radius)
            painter.setPen(theme.color("text"))
            painter.setFont(theme.font("node", tabular=True))
            words = f"now ± {100 * self._now[1]:.1f} points"
            wide = painter.fontMetrics().horizontalAdvance(words)
            spot = at(*self._now)
            x = min(spot.x() + theme.px(6), self.width() - wide - theme.px(2))
            # It falls from left to right: what stands over its height at the left end of the words is free.
            over = min(spot.y(), _height([at(*point) for point in self._curve], x))
            painter.drawText(QPointF(x, max(over - theme.px(8), line * 0.8)), words)
        painter.end()


def _height(points: Sequence[QPointF], x: float) -> float:
    """Where a line through points stands at ``x``."""
    for one, two in pairwise(points):
        if one.x() <= x <= two.x() and one.x() < two.x():
            return one.y() + (two.y() - one.y()) * (x - one.x()) / (two.x() - one.x())
    return points[-1].y() if x > points[-1].x() else points[0].y()


def _ticks(first: int, last: int) -> list[int]:
    wanted = [10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000]
    # The last one is how many pairs there are; what stands close to it would run into it.
    return [*(tick for tick in wanted if first <= tick and 1.7 * tick <= last), last]
