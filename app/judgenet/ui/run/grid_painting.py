"""Drawing of the grid of scores: bars or a heat map, with the names of the neurons at the left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from judgenet.store.columns import RUNNING, UNSCORED, NeuronStrip
from judgenet.store.frame import RunFrame
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.run.grid_rows import FULL, LABELS, ROW, GridRow
from judgenet.ui.theme import Theme


@dataclass(frozen=True, slots=True)
class GridPainter:
    """Draws the part of the grid that is in view.

    Attributes:
        colors: the colours of a heat map, see :func:`heat_colors`.
        rows: the rows in view, from top to bottom.
        first, stop: the first pair in view, from 0, and the one after the last.
        left: the width of the names, in px.
        column: the width of a column, in px.
        offset: how far the grid is scrolled down, in px.
        height: the height of the viewport, in px.
        heat: whether columns are too narrow for bars.
        selected: layer and neuron that the inspector shows, from 1.
        focus: the pair in focus, from 0.
    """

    theme: Theme
    colors: NDArray[np.uint32]
    rows: Sequence[GridRow]
    first: int
    stop: int
    left: int
    column: float
    offset: int
    height: int
    heat: bool
    selected: tuple[int, int] | None
    focus: int | None

    def draw(self, painter: QPainter, table: RunFrame) -> None:
        """Draws the column of the pair in focus, the names and the scores."""
        self._draw_focus_column(painter)
        dense: list[GridRow] = []
        for row in self.rows:
            if dense and (not row.dense or row.layer != dense[0].layer):
                self._draw_dense(painter, table, dense)
                dense = []
            if row.dense:
                dense.append(row)
                continue
            self._draw_name(painter, row)
            if row.neuron:
                strip = table.strip(row.layer, row.neuron, self.first, self.stop)
                top, height = self.span(row)
                if self.heat:
                    self._draw_heat(painter, strip, top, height)
                else:
                    self._draw_bars(painter, strip, top, height)
        if dense:
            self._draw_dense(painter, table, dense)

    def span(self, row: GridRow) -> tuple[int, int]:
        """Top and height of a row, in px of the viewport."""
        scale = self.theme.scale
        top = round(row.y * scale) - self.offset
        return top, round((row.y + row.h) * scale) - self.offset - top

    def outline_focus(self, painter: QPainter) -> None:
        """Draws lines left and right of the pair in focus, for a heat map."""
        if self.focus is not None and self.first <= self.focus:
            x = self.left + (self.focus - self.first) * self.column
            for edge in (x - 1, x + self.column):
                painter.fillRect(QRectF(edge, 0, 1, self.height), self.theme.color("accent"))

    def outline_cell(self, painter: QPainter, row: GridRow, pair: int, color: str, width: float) -> None:
        """Draws a frame around a cell, unless it is scrolled out at the left. ``color`` is a colour of the theme."""
        x = self.left + (pair - self.first) * self.column
        if x < self.left:
            return
        top, _ = self.span(row)
        painter.setPen(QPen(self.theme.color(color), width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(x - 1.5, top + 0.5, self.column + 2, max(4.0, row.h * self.theme.scale - 1)))

    def _draw_name(self, painter: QPainter, row: GridRow) -> None:
        ink = Ink.of(self.theme)
        top, _ = self.span(row)
        painter.save()
        painter.translate(0, top)
        painter.scale(self.theme.scale, self.theme.scale)
        if row.neuron:
            mine = self.selected == (row.layer, row.neuron)
            ink.text(painter, 12, 14.5, row.name, "node" if mine else "body", room=LABELS - 16)
        else:
            ink.text(painter, 12, 14.5, row.name, color="text2", room=LABELS - 16)
        painter.restore()

    def _draw_dense(self, painter: QPainter, table: RunFrame, rows: list[GridRow]) -> None:
        """Draws all rows of a dense layer as one picture."""
        strips = table.strips(rows[0].layer, rows[0].neuron, rows[-1].neuron, self.first, self.stop)
        top, _ = self.span(rows[0])
        end, last = self.span(rows[-1])
        self._draw_heat(painter, strips, top, end + last - top)
        for row in rows:
            if self.selected == (row.layer, row.neuron):
                at, height = self.span(row)
                painter.fillRect(self.left - self.theme.px(8), at, self.theme.px(5), height, self.theme.color("accent"))

    def _draw_focus_column(self, painter: QPainter) -> None:
        focus = self.focus
        if focus is not None and self.first <= focus < self.stop and not self.heat:
            x = self.left + (focus - self.first) * self.column
            painter.fillRect(QRectF(x, 0, self.column, self.height), self.theme.color("accentTint"))

    def _draw_bars(self, painter: QPainter, strip: NeuronStrip, top: int, height: int) -> None:
        theme, width = self.theme, self.column
        middle = top + height // 2
        reach = height / 2 - 1
        line = max(1, round(theme.scale))
        count = len(strip.state)
        painter.fillRect(QRectF(self.left, middle, count * width, line), theme.color("line"))
        bar = width - (2 if width >= 6 else 1)
        a, b, quiet = theme.color("a"), theme.color("b"), theme.color("text3")
        for place in range(count):
            x = self.left + place * width
            state, difference = int(strip.state[place]), float(strip.difference[place])
            if difference == difference:
                size = max(2.0, min(1.0, abs(difference) / FULL) * reach)
                if abs(difference) < 1e-6:
                    painter.fillRect(QRectF(x, middle, bar, line), quiet)
                elif difference > 0:
                    painter.fillRect(QRectF(x, middle - size, bar, size), a)
                else:
                    painter.fillRect(QRectF(x, middle + line, bar, size), b)
            if state & RUNNING:
                painter.setPen(QPen(theme.color("accent"), 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(QRectF(x + 0.5, middle - 4 * theme.scale + 0.5, max(2.0, bar - 1), 8 * theme.scale))
            elif state & UNSCORED:
                painter.setPen(QPen(theme.color("text2"), 1.25 * theme.scale))
                arm = min(bar / 2, 2.5 * theme.scale)
                center = QPointF(x + bar / 2, middle + 0.5)
                painter.drawLine(center + QPointF(-arm, -arm), center + QPointF(arm, arm))
                painter.drawLine(center + QPointF(-arm, arm), center + QPointF(arm, -arm))

    def _draw_heat(self, painter: QPainter, strips: NeuronStrip, top: int, height: int) -> None:
        """Draws one row or several as a heat map."""
        count = strips.state.shape[-1]
        if not count:
            return
        lines = 1 if strips.state.ndim == 1 else len(strips.state)
        levels = np.clip(np.nan_to_num(strips.difference) / FULL, -1, 1)
        places = np.round((levels + 1) * 126).astype(np.int64) + 1
        places[np.isnan(strips.difference)] = 0
        places[(strips.state & RUNNING) > 0] = 255
        pixels = np.ascontiguousarray(self.colors[places])
        picture = QImage(pixels.data, count, lines, count * 4, QImage.Format.Format_ARGB32)
        gap = 1 if height >= self.theme.px(ROW) and lines == 1 else 0
        box = QRectF(self.left, top + gap, count * self.column, height - 2 * gap)
        painter.drawImage(box, picture, QRectF(0, 0, count, lines))


@lru_cache(maxsize=4)
def heat_colors(theme: Theme) -> NDArray[np.uint32]:
    """The 256 colours of a heat map, as ARGB: 0 is blank, 1 to 253 go from B over the tie to A, 255 is being asked."""
    colors = np.zeros(256, np.uint32)
    b, tie, a = (theme.color(token) for token in ("b", "tieTint", "a"))
    for place in range(1, 254):
        level = (place - 1) / 126 - 1
        end = a if level > 0 else b
        # Even the smallest difference looks different from a tie.
        share = 0.0 if level == 0 else 0.25 + 0.75 * abs(level)
        colors[place] = _mixed(tie, end, share)
    colors[255] = theme.color("accentTint").rgba()
    return colors


def _mixed(start: QColor, end: QColor, share: float) -> int:
    """A colour between two, as ARGB: 0 is the first, 1 the second."""
    red, green, blue = (
        round(first + (second - first) * share)
        for first, second in zip(start.getRgb()[:3], end.getRgb()[:3], strict=True)  # type: ignore[index]
    )
    return int(QColor(red, green, blue).rgba())
