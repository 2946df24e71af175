"""Counts of pairs by two verdicts, three by three. Each count is a button that leads to its pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from judgenet.core.pairs import Verdict
from judgenet.core.wording import SPOKEN, plural
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.paint import draw_chip
from judgenet.ui.results import texts
from judgenet.ui.theme import current_theme

SHOWN: Final[tuple[Verdict, ...]] = ("a", "tie", "b")
"""A at the left and the top, B at the right and the bottom, the tie between them."""

_ROWS_W, _CHIPS_H, _CELL_H, _GAP = 92, 54, 38, 2
_RIGHT_W = 96
_CELL_LEAST, _CELL_MOST = 44, 84

GridCell = tuple[Verdict, Verdict]
"""The verdict of the row and that of the column."""


class _Cell(QAbstractButton):
    """One count."""

    def __init__(self, grid: VerdictGrid, place: GridCell) -> None:
        super().__init__(grid)
        self.place = place
        self.count = 0
        self._grid = grid
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_count(self, count: int) -> None:
        """Sets the count."""
        self.count = count
        self.setEnabled(count > 0)
        self.setCursor(Qt.CursorShape.PointingHandCursor if count else Qt.CursorShape.ArrowCursor)
        row, column = self.place
        words = f"{self._grid.rows} {SPOKEN[row]}, {self._grid.columns} {SPOKEN[column]}: {plural(count, 'pair')}"
        self.setAccessibleName(words)
        self.setToolTip(words)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {
            Qt.Key.Key_Left: (0, -1),
            Qt.Key.Key_Right: (0, 1),
            Qt.Key.Key_Up: (-1, 0),
            Qt.Key.Key_Down: (1, 0),
        }
        if event.key() in steps:
            self._grid.step(self, *steps[Qt.Key(event.key())])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme, same = current_theme(), self.place[0] == self.place[1]
        share = self.count / self._grid.most
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        radius = 3 * theme.scale
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("hover" if self.underMouse() and self.count else "sunken"))
        painter.drawRoundedRect(box, radius, radius)
        # In the contrast theme accent is white: a strong ground would take the letters with it.
        strength = 0.24 if theme.name == "contrast" else 0.42
        painter.setBrush(theme.color("accent" if same else "text3", (strength if same else 0.26) * share))
        painter.drawRoundedRect(box, radius, radius)
        painter.setFont(theme.font("node" if same else "strong", tabular=True))
        painter.setPen(theme.color("text" if self.count else "text3"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, f"{self.count:,}")
        if self.isChecked():
            width = theme.focus_width
            painter.setPen(QPen(theme.color("accent"), width))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            inside = box.adjusted(width / 2, width / 2, -width / 2, -width / 2)
            painter.drawRoundedRect(inside, radius, radius)


class VerdictGrid(QWidget):
    """A table of counts by two verdicts, equal ones on the diagonal.

    Signals:
        chosen: the (row, column) verdicts of the clicked count; ``None`` where it was clicked again.
    """

    chosen = Signal(object)

    def __init__(self, rows: str, columns: str, right: str = "right", parent: QWidget | None = None) -> None:
        """``rows`` and ``columns`` say whose verdicts they are ("Network said", "People said"); ``right`` names the
        share of a row on the diagonal, which is left out where ``right`` is empty."""
        super().__init__(parent)
        self.rows = rows
        self.columns = columns
        self.most = 1
        self._right = right
        self._cells = {(row, column): _Cell(self, (row, column)) for row in SHOWN for column in SHOWN}
        for cell in self._cells.values():
            cell.clicked.connect(self._clicked)
        self.setAccessibleName(texts.rows_by_columns(rows, columns.lower()))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_names(self, rows: str, columns: str) -> None:
        """Sets whose verdicts rows and columns are."""
        self.rows, self.columns = rows, columns
        self.setAccessibleName(texts.rows_by_columns(rows, columns.lower()))
        self.show_counts({place: cell.count for place, cell in self._cells.items()})

    def show_counts(self, counts: Mapping[GridCell, int]) -> None:
        """Sets the counts by (row, column)."""
        self.most = max(1, *(counts.get(place, 0) for place in self._cells))
        for place, cell in self._cells.items():
            cell.show_count(counts.get(place, 0))
        self.update()

    def select(self, place: GridCell | None) -> None:
        """Marks a count without emitting ``chosen``; ``None`` marks none."""
        for mine, cell in self._cells.items():
            cell.setChecked(mine == place)

    def cell(self, row: Verdict, column: Verdict) -> QAbstractButton:
        """The button of a count."""
        return self._cells[row, column]

    def step(self, cell: _Cell, down: int, right: int) -> None:
        """Moves the focus by rows and columns, past counts of zero."""
        row, column = SHOWN.index(cell.place[0]) + down, SHOWN.index(cell.place[1]) + right
        while 0 <= row < 3 and 0 <= column < 3:
            neighbour = self._cells[SHOWN[row], SHOWN[column]]
            if neighbour.isEnabled():
                neighbour.setFocus(Qt.FocusReason.TabFocusReason)
                return
            row, column = row + down, column + right

    def _clicked(self, checked: bool) -> None:
        sender = self.sender()
        for place, cell in self._cells.items():
            if cell is sender:
                self.select(place if checked else None)
                self.chosen.emit(place if checked else None)

    # Geometry

    def _cell_width(self) -> int:
        px = current_theme().px
        room = self.width() - px(_ROWS_W) - (px(_RIGHT_W) if self._right else 0) - 2 * px(_GAP)
        return max(px(_CELL_LEAST), min(px(_CELL_MOST), room // 3))

    def sizeHint(self) -> QSize:
        px = current_theme().px
        right = px(_RIGHT_W) if self._right else 0
        return QSize(px(_ROWS_W) + 3 * px(70) + 2 * px(_GAP) + right, self._height())

    def minimumSizeHint(self) -> QSize:
        px = current_theme().px
        right = px(_RIGHT_W) if self._right else 0
        return QSize(px(_ROWS_W) + 3 * px(_CELL_LEAST) + 2 * px(_GAP) + right, self._height())

    def _height(self) -> int:
        px = current_theme().px
        return px(_CHIPS_H) + 3 * px(_CELL_H) + 2 * px(_GAP) + px(2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        px, width = current_theme().px, self._cell_width()
        for line, row in enumerate(SHOWN):
            for place, column in enumerate(SHOWN):
                self._cells[row, column].setGeometry(
                    px(_ROWS_W) + place * (width + px(_GAP)),
                    px(_CHIPS_H) + line * (px(_CELL_H) + px(_GAP)),
                    width,
                    px(_CELL_H),
                )

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme, px, width = current_theme(), current_theme().px, self._cell_width()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font())
        painter.setPen(theme.color("text2"))
        across = 3 * width + 2 * px(_GAP)
        painter.drawText(QRect(px(_ROWS_W), 0, across, px(20)), Qt.AlignmentFlag.AlignCenter, self.columns)
        first, _, rest = self.rows.partition(" ")
        middle = px(_CHIPS_H) + (3 * px(_CELL_H) + 2 * px(_GAP)) // 2
        left = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(QRect(0, middle - px(19), px(60), px(19)), left, first)
        painter.drawText(QRect(0, middle, px(60), px(19)), left, rest)
        ink = Ink.of(theme)
        for place, verdict in enumerate(SHOWN):
            x = px(_ROWS_W) + place * (width + px(_GAP)) + width / 2 - 12 * theme.scale
            y = px(_CHIPS_H) + place * (px(_CELL_H) + px(_GAP)) + px(_CELL_H) / 2 - 10 * theme.scale
            for corner in (QPointF(x, px(26)), QPointF(px(62), y)):
                painter.save()
                painter.translate(corner)
                painter.scale(theme.scale, theme.scale)
                draw_chip(painter, ink, QRectF(0, 0, 24, 20), verdict)
                painter.restore()
        if not self._right:
            return
        painter.setFont(theme.font(tabular=True))
        painter.setPen(theme.color("text2"))
        for line, row in enumerate(SHOWN):
            total = sum(self._cells[row, column].count for column in SHOWN)
            if total:
                share = self._cells[row, row].count / total
                room = QRect(
                    px(_ROWS_W) + across + px(12),
                    px(_CHIPS_H) + line * (px(_CELL_H) + px(_GAP)),
                    px(_RIGHT_W),
                    px(_CELL_H),
                )
                painter.drawText(room, left, f"{100 * share:.0f} % {self._right}")
