"""The grid of scores with its header and its legend."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from judgenet.core.calls import CallSite
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.model import Place, Target
from judgenet.ui.canvas.paint import draw_chip
from judgenet.ui.context import Context
from judgenet.ui.elements import label
from judgenet.ui.icons import icon
from judgenet.ui.measures import measure
from judgenet.ui.run.focus import FocusPair
from judgenet.ui.run.grid import ScoreGrid
from judgenet.ui.run.grid_painting import heat_colors
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import DOCK_HEADER, ICON_TEXT


class GridLegend(QWidget):
    """What bars and signs mean."""

    def __init__(self, grid: ScoreGrid) -> None:
        super().__init__()
        self._grid = grid
        self.setAccessibleName("A up, B down, a dash for a tie, a cross for unscored")
        measure(self, height=36)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scale = current_theme().scale
        painter.scale(scale, scale)
        ink = Ink.of(current_theme())
        room = self.width() / scale - 12
        x = 12.0
        if self._grid.shows_heat:
            draw_chip(painter, ink, QRectF(x, 8, 24, 20), "a")
            for step in range(11):
                color = QColor.fromRgba(int(heat_colors(current_theme())[round((1 - step / 5 + 1) * 126) + 1]))
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

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__()
        self.setAccessibleName("Score difference")
        self._context = context
        self._focus = focus
        self._table: object = None
        self.title = label("Score difference", "section")
        self.range = label("", tone="text2")
        self.grid = ScoreGrid(context, focus)
        self.legend = GridLegend(self.grid)
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
        measure(self._head, margins=(12, 0, 12, 0), spacing=4)
        measure(self._foot, margins=(0, 0, 8, 0), spacing=0)
        measure(self.title, min_height=DOCK_HEADER)
        measure(self.range, font="body", tabular=True)
        for button in (self.narrower, self.wider):
            measure(button, icon=ICON_TEXT)
        self._run_changed()

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
        self.range.setText("" if first < 0 else f"{first + 1:,} to {last + 1:,}")

    def _narrower(self) -> None:
        self.grid.widen(-1)
        self.legend.update()

    def _wider(self) -> None:
        self.grid.widen(1)
        self.legend.update()
