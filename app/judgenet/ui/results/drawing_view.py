"""A chart of the report on the page, in the theme's colours and at its scale."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from judgenet.report.drawing import Drawing
from judgenet.ui.export import UNITS, paint
from judgenet.ui.theme import current_theme


class DrawingView(QWidget):
    """Shows a drawing at its size, smaller where there is less room; what it shows is its accessible name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drawing: Drawing | None = None
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_drawing(self, drawing: Drawing | None) -> None:
        """Sets the drawing."""
        self._drawing = drawing
        self.setAccessibleName(drawing.words if drawing is not None else "")
        self.updateGeometry()
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if self._drawing is None:
            return 0
        return round(self._drawing.height * min(current_theme().scale, width / self._drawing.width))

    def sizeHint(self) -> QSize:
        if self._drawing is None:
            return QSize(0, 0)
        scale = current_theme().scale
        return QSize(round(self._drawing.width * scale), round(self._drawing.height * scale))

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._drawing is None:
            return
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        scale = min(current_theme().scale, self.width() / self._drawing.width)
        painter.scale(scale / UNITS, scale / UNITS)
        paint(painter, self._drawing, current_theme().colors)
