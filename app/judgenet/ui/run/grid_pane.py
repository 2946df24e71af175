"""The grid of scores with its header and its legend."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Signal
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from judgenet.core.calls import CallSite
from judgenet.ui.canvas.ink import scaled_painter
from judgenet.ui.canvas.model import Place, Target
from judgenet.ui.canvas.paint import draw_chip
from judgenet.ui.context import Context
from judgenet.ui.elements import icon_button, label
from judgenet.ui.measures import measure
from judgenet.ui.run import texts
from judgenet.ui.run.focus import FocusPair
from judgenet.ui.run.grid import ScoreGrid
from judgenet.ui.run.grid_painting import heat_colors
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import DOCK_HEADER, ICON_TEXT


class GridLegend(QWidget):
    """The legend of the bars and signs, or of the heat map."""

    def __init__(self, grid: ScoreGrid) -> None:
        super().__init__()
        self._grid = grid
        self.setAccessibleName(texts.GRID_LEGEND)
        measure(self, height=36)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, ink = scaled_painter(self)
        room = self.width() / ink.scale - 12
        x = 12.0
        if self._grid.shows_heat:
            draw_chip(painter, ink, QRectF(x, 8, 24, 20), "a")
            for step in range(11):
                color = QColor.fromRgba(int(heat_colors(current_theme())[round((1 - step / 5 + 1) * 126) + 1]))
                painter.fillRect(QRectF(x + 30 + 8 * step, 12, 8, 12), color)
            draw_chip(painter, ink, QRectF(x + 124, 8, 24, 20), "b")
            ink.text(painter, x + 160, 22.5, texts.BLANK_UNSCORED, color="text2", room=max(0.0, room - x - 160))
            return
        for side, word in (("a", texts.UP), ("b", texts.DOWN)):
            draw_chip(painter, ink, QRectF(x, 8, 24, 20), "a" if side == "a" else "b")
            ink.text(painter, x + 30, 22.5, word, color="text2")
            x += 30 + ink.width(word) + 14
        if x + 20 + ink.width(texts.UNSCORED_STATE) <= room:
            painter.setPen(ink.pen("text2", 1.25))
            for dy in (-3, 3):
                painter.drawLine(QPointF(x + 1, 18 - dy), QPointF(x + 7, 18 + dy))
            ink.text(painter, x + 14, 22.5, texts.UNSCORED_STATE, color="text2")


class GridPane(QFrame):
    """The grid with its header and legend.

    Signals:
        call_opened: the pair from 0, layer and neuron from 1 of a cell.
    """

    call_opened = Signal(int, int, int)

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__()
        self.setAccessibleName(texts.SCORE_DIFFERENCE)
        self._context = context
        self._focus = focus
        self._table: object = None
        self.title = label(texts.SCORE_DIFFERENCE, "section")
        self.range = label("", tone="text2")
        self.grid = ScoreGrid(context, focus)
        self.legend = GridLegend(self.grid)
        self.narrower = icon_button("minus", texts.NARROWER)
        self.wider = icon_button("plus", texts.WIDER)
        self.narrower.clicked.connect(self._narrower)
        self.wider.clicked.connect(self._wider)
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
        measure(self._head, margins=(12, 0, 12, 0), spacing=4)
        measure(self._foot, margins=(0, 0, 8, 0), spacing=0)
        measure(self.title, min_height=DOCK_HEADER)
        measure(self.range, font="body", tabular=True)
        for button in (self.narrower, self.wider):
            measure(button, icon=ICON_TEXT)
        self._run_changed()

    def set_narrow(self, narrow: bool) -> None:
        """Hides the title, which the tab then shows, and puts the range beside the legend."""
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
        """Marks the row of the neuron that the inspector shows."""
        if isinstance(target, Place):
            self.grid.select(target.layer + 1, target.neuron + 1)

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self.grid.touch()

    def _range_changed(self, first: int, last: int) -> None:
        self.range.setText("" if first < 0 else texts.pairs_in_view(first + 1, last + 1))

    def _narrower(self) -> None:
        self.grid.widen(-1)
        self.legend.update()

    def _wider(self) -> None:
        self.grid.widen(1)
        self.legend.update()
