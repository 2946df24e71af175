"""The overview in the corner: the whole network small, and what of it is in view. Shown only when something is not."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QWidget

from judgenet.ui.canvas import texts
from judgenet.ui.canvas.layout import Rect
from judgenet.ui.canvas.scene import NetworkScene

SIZE: Final = (152, 92)
_MARGIN: Final = 8
_REFRESH: Final = 250
"""ms between two drawings of the neurons' states."""


def _small(rect: Rect, scale: float, dx: float, dy: float) -> QRectF:
    return QRectF(rect.x * scale + dx, rect.y * scale + dy, max(1.0, rect.w * scale), max(1.0, rect.h * scale))


class MiniMap(QWidget):
    """A small picture of the canvas; a press or a drag on it moves the view there.

    Signals:
        moved: the scene point (``QPointF``) that is to be in the middle.
    """

    moved = Signal(object)

    def __init__(self, scene: NetworkScene, parent: QWidget) -> None:
        super().__init__(parent)
        self._scene = scene
        self._view = QRectF()
        self._picture: QPixmap | None = None
        self.setAccessibleName(texts.OVERVIEW_OF_THE_NETWORK)
        self.setToolTip(texts.OVERVIEW_TIP)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._timer = QTimer(self)
        self._timer.setObjectName("mini-map refresh")
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REFRESH)
        self._timer.timeout.connect(self._redraw)
        scene.repainted.connect(self._later)
        scene.rebuilt.connect(self._redraw)
        self.restyle()

    def sizeHint(self) -> QSize:
        theme = self._scene.theme
        return QSize(theme.px(SIZE[0]), theme.px(SIZE[1]))

    def restyle(self) -> None:
        """Draws the map again in the theme and the UI scale of the scene."""
        self.resize(self.sizeHint())
        self._redraw()

    def show_view(self, view: QRectF) -> None:
        """Sets what is in view, in scene coordinates."""
        if view != self._view:
            self._view = view
            self.update()

    def _later(self) -> None:
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def _redraw(self) -> None:
        self._picture = None
        self.update()

    def _fit(self) -> tuple[float, float, float]:
        """Scale and offset from the scene to this widget."""
        bounds = self._scene.layout.bounds
        w, h = self.width() - 2 * _MARGIN, self.height() - 2 * _MARGIN
        scale = min(w / bounds.w, h / bounds.h)
        return (
            scale,
            _MARGIN + (w - bounds.w * scale) / 2 - bounds.x * scale,
            _MARGIN + (h - bounds.h * scale) / 2 - bounds.y * scale,
        )

    def _draw(self) -> QPixmap:
        theme = self._scene.theme
        ratio = self.devicePixelRatioF()
        picture = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("line2"), theme.scale))
        painter.setBrush(theme.color("surface"))
        frame = QRectF(0.5, 0.5, self.width() - 1, self.height() - 1)
        painter.drawRoundedRect(frame, theme.px(8), theme.px(8))
        painter.setPen(Qt.PenStyle.NoPen)
        scale, dx, dy = self._fit()
        layout = self._scene.layout
        tokens = {"a": "a", "b": "b", "tie": "tie", "unscored": "line", "pending": "line2"}
        for number, plan in enumerate(layout.layers):
            for neuron, state in enumerate(self._scene.states(number)):
                rect = plan.rect(neuron)
                color = QColor(theme.color(tokens[state.box]))
                if state.box == "pending":
                    color.setAlphaF(0.45)
                painter.fillRect(_small(rect, scale, dx, dy), color)
        for rect in layout.parts.values():
            painter.fillRect(_small(rect, scale, dx, dy), theme.color("line2"))
        painter.end()
        return picture

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._picture is None:
            self._picture = self._draw()
        theme = self._scene.theme
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._picture)
        scale, dx, dy = self._fit()
        seen = self._view
        view = QRectF(seen.x() * scale + dx, seen.y() * scale + dy, seen.width() * scale, seen.height() * scale)
        frame = QRectF(2, 2, self.width() - 4, self.height() - 4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("accent"), 1.5 * theme.scale))
        painter.setBrush(theme.color("accent", 0.1))
        painter.drawRoundedRect(view.intersected(frame), 2, 2)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._move_to(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._move_to(event.position())

    def _move_to(self, at: QPointF) -> None:
        scale, dx, dy = self._fit()
        self.moved.emit(QPointF((at.x() - dx) / scale, (at.y() - dy) / scale))
