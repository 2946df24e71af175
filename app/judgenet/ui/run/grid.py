"""Neurons by pairs: how far apart each neuron scored the two responses of each pair. It fills as calls finish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QFocusEvent,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QHBoxLayout, QToolButton, QToolTip, QVBoxLayout, QWidget

from judgenet.core.calls import CallSite
from judgenet.core.evaluation import REASON_WORDS
from judgenet.core.wording import score_text
from judgenet.engine.work import role_at
from judgenet.store.columns import RUNNING, UNSCORED, NeuronStrip
from judgenet.store.frame import RunFrame
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.model import DENSE, Place, Target
from judgenet.ui.canvas.paint import draw_chip
from judgenet.ui.context import Context
from judgenet.ui.icons import icon
from judgenet.ui.parts import label
from judgenet.ui.run.focus import FocusPair
from judgenet.ui.run.refresh import Refresh
from judgenet.ui.style import OWN_FOCUS
from judgenet.ui.text_view import one_line, plain_tip
from judgenet.ui.theme import Theme
from judgenet.ui.tokens import DOCK_HEADER, ICON_TEXT

REFRESH_MS: Final = 200
WIDTHS: Final = (1, 2, 3, 4, 6, 8, 12, 16)
"""Widths of a column in px at 100 %."""
HEAT_BELOW: Final = 4
"""Narrower columns are a heat map."""
FULL: Final = 5.0
"""A difference of so many points, or more, fills the height."""
ROW: Final = 20
DENSE_ROW: Final = 4
LABELS: Final = 112


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the grid: a neuron, or the title of a layer (``neuron`` is then 0). px at 100 %."""

    layer: int
    neuron: int
    name: str
    y: float
    h: float

    @property
    def dense(self) -> bool:
        return self.h < ROW


def rows_of(table: RunFrame, names: dict[int, list[str]]) -> list[Row]:
    """The lines of a run's grid. ``names`` are the neurons' names by layer, as far as they are known."""
    found: list[Row] = []
    y = 0.0
    depth = table.spec.depth
    for layer in range(1, depth + 1):
        width = table.width(layer)
        found.append(Row(layer, 0, f"Layer {layer}", y, ROW))
        y += ROW
        height = DENSE_ROW if width > DENSE else ROW
        known = names.get(layer, [])
        for neuron in range(1, width + 1):
            name = known[neuron - 1] if neuron <= len(known) else f"Judge {neuron}"
            found.append(Row(layer, neuron, name, y, height))
            y += height
    if table.spec.chair is not None:
        found.append(Row(depth + 1, 1, "Chair", y, ROW))
    return found


class ScoreGrid(QAbstractScrollArea):
    """The grid itself. Columns are pairs, the newest at the right; rows are neurons.

    Signals:
        call_opened: (pair, layer, neuron) that the user clicked or entered.
        range_changed: first and last pair in view, 0-based; -1, -1 for none.
    """

    call_opened = Signal(int, int, int)
    range_changed = Signal(int, int)

    def __init__(self, context: Context, focus: FocusPair, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName("Score differences, neurons by pairs")
        self.setProperty(OWN_FOCUS, True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self._context = context
        self._focus_pair = focus
        self._theme = theme
        self._width = WIDTHS.index(6)
        self._rows: list[Row] = []
        self._table: RunFrame | None = None
        self._extent = 0
        self._at_end = True
        self._hover: tuple[int, int] | None = None
        self._current: tuple[int, int] | None = None
        self._selected: tuple[int, int] | None = None
        self._heat: NDArray[np.uint32] = np.zeros(256, np.uint32)
        self._refresher = Refresh(context.run_state, self._refresh, REFRESH_MS, self)
        self.horizontalScrollBar().valueChanged.connect(self._scrolled)
        self.verticalScrollBar().valueChanged.connect(self.viewport().update)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Takes on a theme."""
        self._theme = theme
        self._heat = _heat_colors(theme)
        self._fit()
        self.viewport().update()

    # What is shown

    def show_table(self, table: RunFrame | None) -> None:
        """Shows a run."""
        self._table = table
        self._at_end = True
        self._hover = self._current = None
        self.rename()

    def rename(self) -> None:
        """Takes the neurons' names anew."""
        table = self._table
        self._rows = [] if table is None else rows_of(table, self._names(table))
        self._refresh()

    def _names(self, table: RunFrame) -> dict[int, list[str]]:
        """The neurons' names by layer, as the network above the grid has them: on the pair in view, where a model
        names roles for each pair."""
        return {layer: self._focus_pair.names(layer) for layer in range(1, table.spec.depth + 1)}

    def touch(self) -> None:
        """Something changed: it is shown soon."""
        self._refresher.touch()

    def select(self, layer: int, neuron: int) -> None:
        """Marks the neuron that the inspector shows."""
        if (layer, neuron) != self._selected:
            self._selected = (layer, neuron)
            self.viewport().update()

    def _refresh(self) -> None:
        table = self._table
        if table is not None and len(self._rows) != self._row_count(table):
            self.rename()
            return
        begun = np.flatnonzero(table.states) if table is not None else np.zeros(0, np.int64)
        live = self._context.run_state.live
        self._extent = 0 if table is None else int(begun[-1]) + 1 if live and len(begun) else len(table)
        self._fit()
        self.viewport().update()

    @staticmethod
    def _row_count(table: RunFrame) -> int:
        depth = table.spec.depth
        chair = table.spec.chair is not None
        return depth + chair + sum(table.width(layer) for layer in range(1, depth + 1))

    # Measures

    @property
    def column_width(self) -> float:
        """Width of a column in px."""
        return max(1.0, float(round(WIDTHS[self._width] * self._theme.scale)))

    @property
    def heat(self) -> bool:
        """Columns are too narrow for bars."""
        return WIDTHS[self._width] < HEAT_BELOW

    @property
    def shows_heat(self) -> bool:
        """Some of it is a heat map."""
        return self.heat or any(row.dense for row in self._rows)

    @property
    def _left(self) -> int:
        return self._theme.px(LABELS)

    @property
    def _visible_columns(self) -> int:
        return max(1, int((self.viewport().width() - self._left) // self.column_width))

    @property
    def pairs_in_view(self) -> tuple[int, int]:
        """The first pair in view and the one after the last."""
        first = self.horizontalScrollBar().value()
        return first, min(self._extent, first + self._visible_columns)

    def _fit(self) -> None:
        bar = self.horizontalScrollBar()
        bar.blockSignals(True)
        most = max(0, self._extent - self._visible_columns)
        bar.setRange(0, most)
        bar.setPageStep(self._visible_columns)
        if self._at_end:
            bar.setValue(most)
        bar.blockSignals(False)
        height = round((self._rows[-1].y + self._rows[-1].h) * self._theme.scale) if self._rows else 0
        vertical = self.verticalScrollBar()
        vertical.setRange(0, max(0, height - self.viewport().height()))
        vertical.setPageStep(self.viewport().height())
        vertical.setSingleStep(self._theme.px(ROW))
        self._tell_range()

    def _tell_range(self) -> None:
        first, stop = self.pairs_in_view
        self.range_changed.emit(*((first, stop - 1) if stop > first and self._rows else (-1, -1)))

    def _scrolled(self, value: int) -> None:
        self._at_end = value >= self.horizontalScrollBar().maximum()
        self._tell_range()
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def widen(self, steps: int) -> None:
        """Makes columns wider or narrower; the right edge stays."""
        last = self.horizontalScrollBar().value() + self._visible_columns
        self._width = min(len(WIDTHS) - 1, max(0, self._width + steps))
        self._fit()
        if not self._at_end:
            self.horizontalScrollBar().setValue(last - self._visible_columns)
        self.viewport().update()

    # Painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        table = self._table
        if table is None or not self._rows:
            return
        first, stop = self.pairs_in_view
        self._draw_focus_column(painter, first, stop)
        dense: list[Row] = []
        for row in self._visible_rows():
            if dense and (not row.dense or row.layer != dense[0].layer):
                self._draw_dense(painter, table, dense, first, stop)
                dense = []
            if row.dense:
                dense.append(row)
                continue
            self._draw_name(painter, row)
            if row.neuron:
                strip = table.strip(row.layer, row.neuron, first, stop)
                top, height = self._span(row)
                if self.heat:
                    self._draw_heat(painter, strip, top, height)
                else:
                    self._draw_bars(painter, strip, top, height)
        if dense:
            self._draw_dense(painter, table, dense, first, stop)
        self._draw_marks(painter, first)

    def _visible_rows(self) -> list[Row]:
        scale, offset = self._theme.scale, self.verticalScrollBar().value()
        low, high = offset / scale, (offset + self.viewport().height()) / scale
        return [row for row in self._rows if row.y + row.h >= low and row.y <= high]

    def _span(self, row: Row) -> tuple[int, int]:
        """Top and height of a line in px of the viewport."""
        scale, offset = self._theme.scale, self.verticalScrollBar().value()
        top = round(row.y * scale) - offset
        return top, round((row.y + row.h) * scale) - offset - top

    def _draw_name(self, painter: QPainter, row: Row) -> None:
        ink = Ink.of(self._theme)
        top, _ = self._span(row)
        painter.save()
        painter.translate(0, top)
        painter.scale(self._theme.scale, self._theme.scale)
        if row.neuron:
            mine = self._selected == (row.layer, row.neuron)
            ink.text(painter, 12, 14.5, row.name, "node" if mine else "body", room=LABELS - 16)
        else:
            ink.text(painter, 12, 14.5, row.name, color="text2", room=LABELS - 16)
        painter.restore()

    def _draw_dense(self, painter: QPainter, table: RunFrame, rows: list[Row], first: int, stop: int) -> None:
        """Lines of a dense layer, all in one picture."""
        strips = table.strips(rows[0].layer, rows[0].neuron, rows[-1].neuron, first, stop)
        top, _ = self._span(rows[0])
        end, last = self._span(rows[-1])
        self._draw_heat(painter, strips, top, end + last - top)
        for row in rows:
            if self._selected == (row.layer, row.neuron):
                at, height = self._span(row)
                painter.fillRect(
                    self._left - self._theme.px(8), at, self._theme.px(5), height, self._theme.color("accent")
                )

    def _draw_focus_column(self, painter: QPainter, first: int, stop: int) -> None:
        focus = self._focus_pair.index
        if focus is not None and first <= focus < stop and not self.heat:
            x = self._left + (focus - first) * self.column_width
            painter.fillRect(QRectF(x, 0, self.column_width, self.viewport().height()), self._theme.color("accentTint"))

    def _draw_bars(self, painter: QPainter, strip: NeuronStrip, top: int, height: int) -> None:
        theme, width = self._theme, self.column_width
        middle = top + height // 2
        reach = height / 2 - 1
        line = max(1, round(theme.scale))
        count = len(strip.state)
        painter.fillRect(QRectF(self._left, middle, count * width, line), theme.color("line"))
        bar = width - (2 if width >= 6 else 1)
        a, b, quiet = theme.color("a"), theme.color("b"), theme.color("text3")
        for place in range(count):
            x = self._left + place * width
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
        """One line or several as a heat map."""
        count = strips.state.shape[-1]
        if not count:
            return
        lines = 1 if strips.state.ndim == 1 else len(strips.state)
        levels = np.clip(np.nan_to_num(strips.difference) / FULL, -1, 1)
        places = np.round((levels + 1) * 126).astype(np.int64) + 1
        places[np.isnan(strips.difference)] = 0
        places[(strips.state & RUNNING) > 0] = 255
        pixels = np.ascontiguousarray(self._heat[places])
        picture = QImage(pixels.data, count, lines, count * 4, QImage.Format.Format_ARGB32)
        gap = 1 if height >= self._theme.px(ROW) and lines == 1 else 0
        box = QRectF(self._left, top + gap, count * self.column_width, height - 2 * gap)
        painter.drawImage(box, picture, QRectF(0, 0, count, lines))

    def _draw_marks(self, painter: QPainter, first: int) -> None:
        """Outlines the cell under the mouse, and that of the keyboard, and in a heat map the pair in focus."""
        focus = self._focus_pair.index
        if focus is not None and self.shows_heat and first <= focus < self._extent:
            x = self._left + (focus - first) * self.column_width
            for edge in (x - 1, x + self.column_width):
                painter.fillRect(QRectF(edge, 0, 1, self.viewport().height()), self._theme.color("accent"))
        for cell, token, width in (
            (self._hover, "text2", 1.0),
            (self._current if self.hasFocus() else None, "accent", 2.0),
        ):
            if cell is None:
                continue
            line, pair = cell
            if not 0 <= line < len(self._rows):
                continue
            row = self._rows[line]
            scale = self._theme.scale
            x = self._left + (pair - first) * self.column_width
            if x < self._left:
                continue
            top, _ = self._span(row)
            box = QRectF(x - 1.5, top + 0.5, self.column_width + 2, max(4.0, row.h * scale - 1))
            painter.setPen(QPen(self._theme.color(token), width))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box)

    # Cells

    def cell_at(self, at: QPoint) -> tuple[int, int] | None:
        """The line and the pair under a point of the viewport."""
        first, stop = self.pairs_in_view
        pair = first + int((at.x() - self._left) // self.column_width)
        if at.x() < self._left or not first <= pair < stop:
            return None
        y = (at.y() + self.verticalScrollBar().value()) / self._theme.scale
        for line, row in enumerate(self._rows):
            if row.neuron and row.y <= y < row.y + row.h:
                return line, pair
        return None

    def cell_rect(self, layer: int, neuron: int, pair: int) -> QRect:
        """Where a cell is in the viewport; it may be out of view."""
        row = next(row for row in self._rows if (row.layer, row.neuron) == (layer, neuron))
        first, _ = self.pairs_in_view
        x = self._left + (pair - first) * self.column_width
        top = round(row.y * self._theme.scale) - self.verticalScrollBar().value()
        return QRect(round(x), top, max(1, round(self.column_width)), max(1, round(row.h * self._theme.scale)))

    def words(self, cell: tuple[int, int]) -> str:
        """A cell in words."""
        table = self._table
        line, pair = cell
        if table is None or not 0 <= line < len(self._rows):
            return ""
        row = self._rows[line]
        parts = []
        for site, state in table.neuron(pair, row.layer, row.neuron):
            order = (site.order or "").upper()
            if state.phase == "scored" and state.score_a is not None:
                parts.append(f"{order} {score_text(state.score_a)} to {score_text(state.score_b)}")
            elif state.phase == "scored":
                parts.append(f"{order} {'tie' if state.verdict == 'tie' else (state.verdict or '').upper()}")
            elif state.phase == "unscored":
                reason = REASON_WORDS[state.reason].lower() if state.reason is not None else "no evaluation"
                parts.append(f"{order} unscored: {reason}")
            else:
                parts.append(f"{order} {state.phase}")
        difference = table.difference(pair, row.layer, row.neuron)
        if difference is not None:
            side = "A" if difference > 0 else "B" if difference < 0 else ""
            parts.append(f"{side} by {score_text(abs(difference))}" if side else "a tie")
        where = f"layer {row.layer}" if row.layer <= table.spec.depth else "decides"
        name = self._name_on(table, row, pair)
        return f"{name}, {where}, pair {pair + 1:,}: {', '.join(parts) or 'not asked yet'}"

    def _name_on(self, table: RunFrame, row: Row, pair: int) -> str:
        """What a neuron is called on a pair, whose roles may be others than those of the pair in view."""
        spec = table.spec
        if row.layer > spec.depth or spec.roles.kind != "generated":
            return row.name
        role = role_at(spec, row.layer - 1, row.neuron - 1, self._context.run_state.roles(pair) or ())
        return one_line(role.name) if role is not None and role.name.strip() else f"Judge {row.neuron}"

    # Mouse and keyboard

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position().toPoint())
        if cell != self._hover:
            self._hover = cell
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if cell else Qt.CursorShape.ArrowCursor)
            self.viewport().update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover = None
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        cell = self.cell_at(event.position().toPoint())
        if cell is not None:
            self._current = cell
            self._open(cell)
            self.viewport().update()

    def _open(self, cell: tuple[int, int]) -> None:
        row = self._rows[cell[0]]
        self.call_opened.emit(cell[1], row.layer, row.neuron)

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.widen(1 if delta.y() > 0 else -1)
        elif delta.x() or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            bar = self.horizontalScrollBar()
            steps = delta.x() or delta.y()
            bar.setValue(bar.value() - round(steps / 120 * max(1, self._visible_columns / 8)))
        else:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() - round(delta.y() / 120 * 3 * bar.singleStep()))
        event.accept()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            cell = self.cell_at(event.pos())
            QToolTip.showText(event.globalPos(), plain_tip(self.words(cell)) if cell else "", self.viewport())
            return True
        if event.type() == QEvent.Type.Leave:
            self._hover = None
            self.viewport().update()
        return super().viewportEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self._current is None and self._rows:
            first, stop = self.pairs_in_view
            focus = self._focus_pair.index
            pair = focus if focus is not None and first <= focus < stop else stop - 1
            line = next((line for line, row in enumerate(self._rows) if (row.layer, row.neuron) == self._selected), -1)
            if line < 0:
                line = next((line for line, row in enumerate(self._rows) if row.neuron), 0)
            if stop > first:
                self._set_current(line, pair)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        steps = {
            Qt.Key.Key_Left: (0, -1),
            Qt.Key.Key_Right: (0, 1),
            Qt.Key.Key_Up: (-1, 0),
            Qt.Key.Key_Down: (1, 0),
            Qt.Key.Key_PageUp: (0, -self._visible_columns),
            Qt.Key.Key_PageDown: (0, self._visible_columns),
        }
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        if self._current is not None and key in steps and plain:
            self._step(*steps[Qt.Key(key)])
        elif self._current is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._open(self._current)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.widen(1)
        elif key == Qt.Key.Key_Minus:
            self.widen(-1)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End) and self._current is not None and self._extent:
            self._set_current(self._current[0], 0 if key == Qt.Key.Key_Home else self._extent - 1)
        else:
            super().keyPressEvent(event)

    def _step(self, lines: int, pairs: int) -> None:
        assert self._current is not None
        line, pair = self._current
        wanted = line + lines
        while lines and 0 <= wanted < len(self._rows) and not self._rows[wanted].neuron:
            wanted += lines
        if not 0 <= wanted < len(self._rows):
            wanted = line
        self._set_current(wanted, min(max(0, pair + pairs), max(0, self._extent - 1)))

    def _set_current(self, line: int, pair: int) -> None:
        self._current = (line, pair)
        first, _ = self.pairs_in_view
        bar = self.horizontalScrollBar()
        if pair < first:
            bar.setValue(pair)
        elif pair >= first + self._visible_columns:
            bar.setValue(pair - self._visible_columns + 1)
        row = self._rows[line]
        vertical, scale = self.verticalScrollBar(), self._theme.scale
        if row.y * scale < vertical.value():
            vertical.setValue(int(row.y * scale))
        elif (row.y + row.h) * scale > vertical.value() + self.viewport().height():
            vertical.setValue(round((row.y + row.h) * scale) - self.viewport().height())
        words = self.words(self._current)
        self.setAccessibleDescription(words)
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))
        self.viewport().update()


def _heat_colors(theme: Theme) -> NDArray[np.uint32]:
    """Colours by place: 0 nothing, 1 to 253 from B over the tie to A, 255 on its way."""
    found = np.zeros(256, np.uint32)
    b, tie, a = (theme.color(token) for token in ("b", "tieTint", "a"))
    for place in range(1, 254):
        level = (place - 1) / 126 - 1
        end = a if level > 0 else b
        # The smallest difference is told apart from a tie.
        share = 0.0 if level == 0 else 0.25 + 0.75 * abs(level)
        found[place] = _mixed(tie, end, share)
    found[255] = theme.color("accentTint").rgba()
    return found


def _mixed(one: QColor, other: QColor, share: float) -> int:
    red, green, blue = (
        round(first + (second - first) * share)
        for first, second in zip(one.getRgb()[:3], other.getRgb()[:3], strict=True)  # type: ignore[index]
    )
    return int(QColor(red, green, blue).rgba())


class GridLegend(QWidget):
    """What bars and signs mean."""

    def __init__(self, grid: ScoreGrid, theme: Theme) -> None:
        super().__init__()
        self._grid = grid
        self._theme = theme
        self.setAccessibleName("A up, B down, a dash for a tie, a cross for unscored")

    def set_theme(self, theme: Theme) -> None:
        """Draws in another theme."""
        self._theme = theme
        self.setFixedHeight(theme.px(36))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scale = self._theme.scale
        painter.scale(scale, scale)
        ink = Ink.of(self._theme)
        room = self.width() / scale - 12
        x = 12.0
        if self._grid.shows_heat:
            draw_chip(painter, ink, QRectF(x, 8, 24, 20), "a")
            for step in range(11):
                color = QColor.fromRgba(int(self._grid._heat[round((1 - step / 5 + 1) * 126) + 1]))
                painter.fillRect(QRectF(x + 30 + 8 * step, 12, 8, 12), color)
            draw_chip(painter, ink, QRectF(x + 124, 8, 24, 20), "b")
            ink.text(painter, x + 160, 22.5, "blank: unscored", color="text2", room=max(0.0, room - x - 160))
            return
        for side, word in (("a", "up"), ("b", "down")):
            draw_chip(painter, ink, QRectF(x, 8, 24, 20), "a" if side == "a" else "b")
            ink.text(painter, x + 30, 22.5, word, color="text2")
            x += 30 + ink.width(word) + 14
        if x + 20 + ink.width("unscored") <= room:
            painter.setPen(ink.pen("text2", 1.25))
            for dy in (-3, 3):
                painter.drawLine(QPointF(x + 1, 18 - dy), QPointF(x + 7, 18 + dy))
            ink.text(painter, x + 14, 22.5, "unscored", color="text2")


class GridPane(QFrame):
    """The grid with its header and legend.

    Signals:
        call_opened: (pair, layer, neuron).
    """

    call_opened = Signal(int, int, int)

    def __init__(self, context: Context, focus: FocusPair, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName("Score difference")
        self._context = context
        self._focus = focus
        self._table: object = None
        self.title = label("Score difference", "section")
        self.range = label("", tone="text2")
        self.grid = ScoreGrid(context, focus, theme)
        self.legend = GridLegend(self.grid, theme)
        self.narrower, self.wider = QToolButton(), QToolButton()
        for button, name, words, action in (
            (self.narrower, "minus", "Narrower columns, more pairs", self._narrower),
            (self.wider, "plus", "Wider columns, fewer pairs", self._wider),
        ):
            button.setIcon(icon(name, "text2"))
            button.setAccessibleName(words)
            button.setToolTip(words)
            button.clicked.connect(action)
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addStretch(1)
        head.addWidget(self.range)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.grid, stretch=1)
        foot = QHBoxLayout()
        foot.addWidget(self.legend, stretch=1)
        foot.addWidget(self.narrower)
        foot.addWidget(self.wider)
        column.addLayout(foot)
        self._head, self._foot = head, foot
        self.grid.call_opened.connect(self.call_opened)
        self.grid.range_changed.connect(self._range_changed)
        state = context.run_state
        state.run_changed.connect(self._run_changed)
        state.calls_changed.connect(self._changed)
        state.pairs_changed.connect(self._changed)
        focus.replaced.connect(self._focus_changed)
        self.set_theme(theme)
        self._run_changed()

    def set_theme(self, theme: Theme) -> None:
        """Takes on a theme."""
        self._head.setContentsMargins(theme.px(12), 0, theme.px(12), 0)
        self._head.setSpacing(theme.px(4))
        self._foot.setContentsMargins(0, 0, theme.px(8), 0)
        self._foot.setSpacing(0)
        self.title.setMinimumHeight(theme.px(DOCK_HEADER))
        self.range.setFont(theme.font(tabular=True))
        for button in (self.narrower, self.wider):
            button.setIconSize(QSize(theme.px(ICON_TEXT), theme.px(ICON_TEXT)))
        self.grid.set_theme(theme)
        self.legend.set_theme(theme)

    def set_narrow(self, narrow: bool) -> None:
        """Leaves the header out, whose words stand on the tab then."""
        self.title.setVisible(not narrow)
        if narrow:
            self._head.removeWidget(self.range)
            self._foot.insertWidget(1, self.range)
        else:
            self._foot.removeWidget(self.range)
            self._head.addWidget(self.range)

    def _run_changed(self) -> None:
        table = self._context.run_state.table
        if table is not self._table:
            self._table = table
            self.grid.show_table(table)

    def _changed(self, _what: set[CallSite] | set[int]) -> None:
        if self.isVisible():
            self.grid.touch()

    def _focus_changed(self) -> None:
        self.grid.rename()

    def show_target(self, target: Target | None) -> None:
        """Marks the row of a neuron."""
        if isinstance(target, Place):
            self.grid.select(target.layer + 1, target.neuron + 1)

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self.grid.touch()

    def _range_changed(self, first: int, last: int) -> None:
        self.range.setText("" if first < 0 else f"{first + 1:,} – {last + 1:,}")

    def _narrower(self) -> None:
        self.grid.widen(-1)
        self.legend.update()

    def _wider(self) -> None:
        self.grid.widen(1)
        self.legend.update()
