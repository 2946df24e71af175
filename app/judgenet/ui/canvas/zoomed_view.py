"""A view of the canvas that zooms and pans, with movements that can be watched."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEasingCurve, QPointF, QRectF, Qt, QVariantAnimation, Signal
from PySide6.QtGui import (
    QPainter,
    QTransform,
)
from PySide6.QtWidgets import QFrame, QGraphicsView, QWidget

from judgenet.ui.canvas.model import Target
from judgenet.ui.canvas.scene import NetworkScene
from judgenet.ui.tokens import MOTION_ZOOM

ZOOM_RANGE: Final = (0.1, 2.0)
ZOOM_STEP: Final = 1.2
MARGIN: Final = 16
"""px that stay free around the network when it is fitted."""


class ZoomedView(QGraphicsView):
    """Shows the canvas at a zoom.

    Signals:
        zoom_changed: the zoom, 1 is 100 %.
    """

    zoom_changed = Signal(float)

    def __init__(self, scene: NetworkScene, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._canvas = scene
        self._theme = scene.theme
        self._zoom = 1.0
        self._fitted = True
        self._from: tuple[float, QPointF] = (1.0, QPointF())
        self._to: tuple[float, QPointF] = (1.0, QPointF())
        self.setScene(scene)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.MinimalViewportUpdate)
        self.setOptimizationFlags(
            QGraphicsView.OptimizationFlag.DontSavePainterState
            | QGraphicsView.OptimizationFlag.DontAdjustForAntialiasing
        )
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setResizeAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self._animation = QVariantAnimation(self)
        self._animation.setStartValue(0.0)
        self._animation.setEndValue(1.0)
        self._animation.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._animation.valueChanged.connect(self._animate)
        self._animation.finished.connect(self._settle)

    def _moved(self) -> None:
        """Another part of the canvas is in view."""

    @property
    def zoom(self) -> float:
        """The zoom; 1 is 100 %."""
        return self._zoom

    @property
    def canvas(self) -> NetworkScene:
        """The scene."""
        return self._canvas

    @property
    def _scale(self) -> float:
        return self._zoom * self._theme.scale

    def _middle(self) -> QPointF:
        return QPointF(self.viewport().width() / 2, self.viewport().height() / 2)

    def _center(self) -> QPointF:
        return self._map_to_scene(self._middle())

    def fit(self, *, animate: bool = True) -> None:
        """Shows the whole network, at most at 100 %."""
        self._fitted = True
        zoom, center = self._fitting()
        self._go(zoom, center, animate=animate)

    def _fitting(self) -> tuple[float, QPointF]:
        bounds = self._canvas.layout.bounds
        scale = self._theme.scale
        w, h = self.viewport().width() / scale, self.viewport().height() / scale
        zoom = min(1.0, (w - 2 * MARGIN) / bounds.w, (h - 2 * MARGIN) / bounds.h)
        zoom = max(0.02, zoom)
        x = bounds.x + bounds.w / 2
        # What is lower than the view stands at its top, where reading begins.
        y = bounds.y - MARGIN / zoom + h / zoom / 2
        return zoom, QPointF(x, y)

    def set_zoom(self, zoom: float, at: QPointF | None = None, *, animate: bool = True) -> None:
        """Zooms, keeping the point ``at`` (viewport px; the middle by default) where it is."""
        self._fitted = False
        low = min(ZOOM_RANGE[0], self._fitting()[0])
        zoom = min(ZOOM_RANGE[1], max(low, zoom))
        middle = self._middle()
        anchor = middle if at is None else at
        fixed = self._map_to_scene(anchor)
        scale = zoom * self._theme.scale
        center = QPointF(fixed.x() - (anchor.x() - middle.x()) / scale, fixed.y() - (anchor.y() - middle.y()) / scale)
        self._go(zoom, center, animate=animate)

    def zoom_in(self) -> None:
        """Zooms in by one step."""
        self.set_zoom(self._target_zoom() * ZOOM_STEP)

    def zoom_out(self) -> None:
        """Zooms out by one step."""
        self.set_zoom(self._target_zoom() / ZOOM_STEP)

    def zoom_to_full(self) -> None:
        """Zooms to 100 %."""
        self.set_zoom(1.0)

    def center_at(self, point: QPointF) -> None:
        """Moves a scene point to the middle."""
        self._fitted = False
        self._apply(self._zoom, point)

    def show_target(self, target: Target) -> None:
        """Brings a node into view, moving no more than needed."""
        rect = self._canvas.layout.rect_of(target)
        view = self.visible_rect()
        margin = 24 / self._zoom
        dx = min(0.0, rect.x - margin - view.x()) or max(0.0, rect.right + margin - view.right())
        dy = min(0.0, rect.y - margin - view.y()) or max(0.0, rect.bottom + margin - view.bottom())
        if dx or dy:
            center = self._center()
            self._fitted = False
            self._go(self._zoom, QPointF(center.x() + dx, center.y() + dy))

    def visible_rect(self) -> QRectF:
        """What is in view, in scene coordinates."""
        return self.mapToScene(self.viewport().rect()).boundingRect()

    def _map_to_scene(self, at: QPointF) -> QPointF:
        inverse, _ = self.viewportTransform().inverted()
        return inverse.map(at)

    def _target_zoom(self) -> float:
        moving = self._animation.state() == QVariantAnimation.State.Running
        return self._to[0] if moving else self._zoom

    def _go(self, zoom: float, center: QPointF, *, animate: bool = True) -> None:
        self._animation.stop()
        duration = self._theme.duration(MOTION_ZOOM)
        if not animate or not duration or not self.isVisible():
            self._apply(zoom, center)
            return
        self._from = (self._zoom, self._center())
        self._to = (zoom, center)
        self._animation.setDuration(duration)
        self._animation.start()

    def _animate(self, share: float) -> None:
        (z0, c0), (z1, c1) = self._from, self._to
        zoom = z0 * (z1 / z0) ** share
        # The middle moves so that the point that the zoom keeps stays on the spot.
        way = share if abs(z1 - z0) < 1e-9 else (1 / zoom - 1 / z0) / (1 / z1 - 1 / z0)
        center = QPointF(c0.x() + (c1.x() - c0.x()) * way, c0.y() + (c1.y() - c0.y()) * way)
        self._apply(zoom, center, moving=share < 1)

    def _settle(self) -> None:
        self._apply(*self._to)

    def _apply(self, zoom: float, center: QPointF, *, moving: bool = False) -> None:
        changed = zoom != self._zoom
        self._zoom = zoom
        scale = self._scale
        self._canvas.set_zoom(zoom, self._theme.scale * self.devicePixelRatioF(), moving=moving)
        bounds = self._canvas.layout.bounds
        w, h = self.viewport().width(), self.viewport().height()
        room = QRectF(bounds.x, bounds.y, bounds.w, bounds.h).adjusted(-w / scale, -h / scale, w / scale, h / scale)
        wanted = QRectF(center.x() - w / scale / 2, center.y() - h / scale / 2, w / scale, h / scale)
        self.setSceneRect(room.united(wanted))
        if self.transform().m11() != scale:
            self.setTransform(QTransform.fromScale(scale, scale))
        self.horizontalScrollBar().setValue(round(center.x() * scale - w / 2))
        self.verticalScrollBar().setValue(round(center.y() * scale - h / 2))
        self._moved()
        if changed:
            self.zoom_changed.emit(zoom)

    def _pan(self, dx: float, dy: float) -> None:
        self._fitted = False
        self._animation.stop()
        bar = self.horizontalScrollBar()
        bar.setValue(round(bar.value() - dx))
        bar = self.verticalScrollBar()
        bar.setValue(round(bar.value() - dy))
        self._moved()
