"""The grid of scores: for each neuron and pair, the difference of the scores of the two responses."""

from __future__ import annotations

from typing import Final

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip

from judgenet.store.frame import RunFrame
from judgenet.ui.context import Context
from judgenet.ui.run import texts
from judgenet.ui.run.focus import FocusPair
from judgenet.ui.run.grid_painting import GridPainter, heat_colors
from judgenet.ui.run.grid_rows import LABELS, ROW, GridRow, cell_words, rows_of
from judgenet.ui.run.refresh import Refresh
from judgenet.ui.style import OWN_FOCUS
from judgenet.ui.text_view import plain_tip
from judgenet.ui.theme import current_theme

REFRESH_MS: Final = 200
WIDTHS: Final = (1, 2, 3, 4, 6, 8, 12, 16)
"""The possible widths of a column, in px at 100 %."""
HEAT_BELOW: Final = 4
"""Columns narrower than this, in px at 100 %, are drawn as a heat map."""


class ScoreGrid(QAbstractScrollArea):
    """The grid. Columns are pairs, the newest at the right; rows are neurons. It fills as calls finish.

    Signals:
        call_opened: the pair from 0, layer and neuron from 1 of a cell that was clicked or entered.
        range_changed: first and last pair in view, from 0; -1, -1 for none.
    """

    call_opened = Signal(int, int, int)
    range_changed = Signal(int, int)

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__()
        self.setAccessibleName(texts.SCORE_GRID)
        self.setProperty(OWN_FOCUS, True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self._context = context
        self._focus_pair = focus
        self._width = WIDTHS.index(6)
        self._rows: list[GridRow] = []
        self._table: RunFrame | None = None
        self._extent = 0
        self._at_end = True
        self._hover: tuple[int, int] | None = None
        self._current: tuple[int, int] | None = None
        self._selected: tuple[int, int] | None = None
        self._refresher = Refresh(context.run_state, self._refresh, "grid", REFRESH_MS, self)
        self.horizontalScrollBar().valueChanged.connect(self._scrolled)
        self.verticalScrollBar().valueChanged.connect(self.viewport().update)

    # What is shown

    def show_table(self, table: RunFrame | None) -> None:
        """Shows a run; ``None`` for none."""
        self._table = table
        self._at_end = True
        self._hover = self._current = None
        self.rename()

    def rename(self) -> None:
        """Reads the names of the neurons again."""
        table = self._table
        self._rows = [] if table is None else rows_of(table, self._names(table))
        self._refresh()

    def _names(self, table: RunFrame) -> dict[int, list[str]]:
        """The names of the neurons by layer, as on the canvas: where a model names roles for each pair, those of the
        pair in focus."""
        return {layer: self._focus_pair.names(layer) for layer in range(1, table.spec.depth + 1)}

    def touch(self) -> None:
        """Says that something changed; the grid is drawn again soon."""
        self._refresher.touch()

    def select(self, layer: int, neuron: int) -> None:
        """Marks the row of the neuron that the inspector shows; both count from 1."""
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
        """The width of a column in px."""
        return max(1.0, float(round(WIDTHS[self._width] * current_theme().scale)))

    @property
    def heat(self) -> bool:
        """Whether columns are too narrow for bars."""
        return WIDTHS[self._width] < HEAT_BELOW

    @property
    def shows_heat(self) -> bool:
        """Whether some rows are drawn as a heat map."""
        return self.heat or any(row.dense for row in self._rows)

    @property
    def _left(self) -> int:
        return current_theme().px(LABELS)

    @property
    def _visible_columns(self) -> int:
        return max(1, int((self.viewport().width() - self._left) // self.column_width))

    @property
    def pairs_in_view(self) -> tuple[int, int]:
        """The first pair in view, from 0, and the one after the last."""
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
        height = round((self._rows[-1].y + self._rows[-1].h) * current_theme().scale) if self._rows else 0
        vertical = self.verticalScrollBar()
        vertical.setRange(0, max(0, height - self.viewport().height()))
        vertical.setPageStep(self.viewport().height())
        vertical.setSingleStep(current_theme().px(ROW))
        self._emit_range()

    def _emit_range(self) -> None:
        first, stop = self.pairs_in_view
        self.range_changed.emit(*((first, stop - 1) if stop > first and self._rows else (-1, -1)))

    def _scrolled(self, value: int) -> None:
        self._at_end = value >= self.horizontalScrollBar().maximum()
        self._emit_range()
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def widen(self, steps: int) -> None:
        """Makes columns wider or narrower by so many steps of :data:`WIDTHS`; the right edge stays."""
        last = self.horizontalScrollBar().value() + self._visible_columns
        self._width = min(len(WIDTHS) - 1, max(0, self._width + steps))
        self._fit()
        if not self._at_end:
            self.horizontalScrollBar().setValue(last - self._visible_columns)
        self.viewport().update()

    # Painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        table = self._table
        if table is None or not self._rows:
            return
        painter = QPainter(self.viewport())
        first, stop = self.pairs_in_view
        grid_painter = GridPainter(
            current_theme(),
            heat_colors(current_theme()),
            self._visible_rows(),
            first,
            stop,
            self._left,
            self.column_width,
            self.verticalScrollBar().value(),
            self.viewport().height(),
            self.heat,
            self._selected,
            self._focus_pair.index,
        )
        grid_painter.draw(painter, table)
        focus = grid_painter.focus
        if self.shows_heat and focus is not None and focus < self._extent:
            grid_painter.outline_focus(painter)
        current = self._current if self.hasFocus() else None
        for cell, color, width in ((self._hover, "text2", 1.0), (current, "accent", 2.0)):
            if cell is not None and 0 <= cell[0] < len(self._rows):
                grid_painter.outline_cell(painter, self._rows[cell[0]], cell[1], color, width)

    def _visible_rows(self) -> list[GridRow]:
        scale, offset = current_theme().scale, self.verticalScrollBar().value()
        low, high = offset / scale, (offset + self.viewport().height()) / scale
        return [row for row in self._rows if row.y + row.h >= low and row.y <= high]

    # Cells

    def cell_at(self, at: QPoint) -> tuple[int, int] | None:
        """The row and the pair, both from 0, at a point of the viewport; ``None`` beside the cells."""
        first, stop = self.pairs_in_view
        pair = first + int((at.x() - self._left) // self.column_width)
        if at.x() < self._left or not first <= pair < stop:
            return None
        y = (at.y() + self.verticalScrollBar().value()) / current_theme().scale
        for line, row in enumerate(self._rows):
            if row.neuron and row.y <= y < row.y + row.h:
                return line, pair
        return None

    def cell_rect(self, layer: int, neuron: int, pair: int) -> QRect:
        """The rectangle of a cell in the viewport; it may be out of view."""
        row = next(row for row in self._rows if (row.layer, row.neuron) == (layer, neuron))
        first, _ = self.pairs_in_view
        x = self._left + (pair - first) * self.column_width
        top = round(row.y * current_theme().scale) - self.verticalScrollBar().value()
        return QRect(round(x), top, max(1, round(self.column_width)), max(1, round(row.h * current_theme().scale)))

    def words(self, cell: tuple[int, int]) -> str:
        """A cell (row and pair, from 0) in words; empty where there is no such row."""
        line, pair = cell
        if self._table is None or not 0 <= line < len(self._rows):
            return ""
        return cell_words(self._table, self._rows[line], pair, self._context.run_state.roles(pair) or ())

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
        vertical, scale = self.verticalScrollBar(), current_theme().scale
        if row.y * scale < vertical.value():
            vertical.setValue(int(row.y * scale))
        elif (row.y + row.h) * scale > vertical.value() + self.viewport().height():
            vertical.setValue(round((row.y + row.h) * scale) - self.viewport().height())
        words = self.words(self._current)
        self.setAccessibleDescription(words)
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))
        self.viewport().update()
