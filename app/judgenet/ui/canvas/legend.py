"""What the cells of a dense layer mean, in one line below the canvas."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.model import CellColor
from judgenet.ui.canvas.paint import draw_cell
from judgenet.ui.theme import Theme

_WORKING: Final = (("asked", "being asked"), ("waiting", "waiting"), ("unscored", "unscored"))
ROWS: Final[dict[CellColor, tuple[tuple[str, str], ...]]] = {
    "verdict": (("a", "by 2 points or more"), ("a weak", "by less"), ("tie", "tie"), *_WORKING),
    "state": (("scored", "scored"), ("writing", "writing"), *_WORKING),
    "changed": (("b", "changed to B"), ("a", "changed to A"), ("quiet", "kept its verdict"), *_WORKING),
    "differ": (("differ", "orders differ"), ("quiet", "orders agree"), *_WORKING),
}
"""The looks of cells and their words, by what the cells are coloured by."""

_CELL: Final = 16
_GAP: Final = 20


class CellLegend(QWidget):
    """The legend of the cells; it follows what they are coloured by."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ink = Ink.of(theme)
        self._color: CellColor = "verdict"
        self.set_cell_color("verdict")

    def set_theme(self, theme: Theme) -> None:
        """Draws in another theme."""
        self._ink = Ink.of(theme)
        self.updateGeometry()
        self.update()

    def set_cell_color(self, color: CellColor) -> None:
        """Sets what the cells are coloured by."""
        self._color = color
        self.setAccessibleName("Legend: " + ", ".join(words for _, words in ROWS[color]))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        width = sum(_CELL + 6 + self._ink.width(words) + _GAP for _, words in ROWS[self._color])
        return QSize(round(width * self._ink.scale), round(24 * self._ink.scale))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(self._ink.scale, self._ink.scale)
        room = self.width() / self._ink.scale
        x = 0.0
        for key, words in ROWS[self._color]:
            if x + _CELL + 6 + self._ink.width(words) > room:
                return
            draw_cell(painter, self._ink, QRectF(x, 4, _CELL, _CELL), key)
            x += _CELL + 6
            self._ink.text(painter, x, 17, words, color="text2")
            x += self._ink.width(words) + _GAP
