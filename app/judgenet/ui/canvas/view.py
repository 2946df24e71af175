"""The view: zoom, pan, fit, mini-map, search and tool tips over a :class:`NetworkScene`."""

from __future__ import annotations

import html
import math
from typing import Final

from PySide6.QtCore import QEasingCurve, QEvent, QPoint, QPointF, QRectF, Qt, QVariantAnimation, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QInputDevice,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QResizeEvent,
    QShowEvent,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QGraphicsView, QToolTip, QWidget

from judgenet.ui.canvas.accessible import install_accessibility, tell_focus
from judgenet.ui.canvas.descriptions import target_words
from judgenet.ui.canvas.hit_test import Spot
from judgenet.ui.canvas.layout import NodeSize
from judgenet.ui.canvas.minimap import MiniMap
from judgenet.ui.canvas.model import MenuRequest, Place, Target
from judgenet.ui.canvas.scene import NetworkScene
from judgenet.ui.canvas.search import SearchPopup
from judgenet.ui.style import OWN_FOCUS
from judgenet.ui.theme import Theme
from judgenet.ui.tokens import MOTION_ZOOM

ZOOM_RANGE: Final = (0.1, 2.0)
ZOOM_STEP: Final = 1.2
WHEEL: Final = 1.0015
"""Zoom factor for one eighth of a degree of the wheel."""
MARGIN: Final = 16
"""px that stay free around the network when it is fitted."""
SMALL_WINDOW: Final = (860, 400)
"""In a smaller view (px at 100 %) nodes are compact."""

_BY_KEYBOARD: Final = frozenset(
    {
        Qt.FocusReason.TabFocusReason,
        Qt.FocusReason.BacktabFocusReason,
        Qt.FocusReason.ShortcutFocusReason,
        Qt.FocusReason.OtherFocusReason,
    }
)
_BY_WINDOW: Final = frozenset({Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason})

_CHROME_TIPS: Final = {
    "minus": "One neuron fewer",
    "plus": "One neuron more",
    "remove": "Remove this layer",
    "add_layer": "Add a layer here",
    "gate": "Edit the stop rule",
    "wiring": "Choose the wiring",
    "handle": "Drag to change the number of neurons",
    "add_chair": "Add a chair that reads the last layer and decides",
    "rule": "Choose the rule of the vote",
    "edge": "Select the edge; Delete removes it",
}


class NetworkView(QGraphicsView):
    """The network canvas as a widget.

    Signals:
        zoom_changed: the zoom, 1 is 100 %.
    """

    zoom_changed = Signal(float)

    def __init__(self, scene: NetworkScene, parent: QWidget | None = None) -> None:
        install_accessibility()
        super().__init__(parent)
        self.setProperty(OWN_FOCUS, True)
        self._canvas = scene
        self._theme = scene.theme
        self._zoom = 1.0
        self._fitted = True
        self._base: NodeSize | None = None
        self._pan_from: QPoint | None = None
        self._space = False
        self._space_pans = False
        self._focus_before = False
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
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Judge network")
        self._map = MiniMap(scene, self)
        self._map.hide()
        self._map.moved.connect(self.center_at)
        self._search = SearchPopup(self)
        self._search.chosen.connect(self.go_to)
        self._search.closed.connect(self._take_focus)
        self._animation = QVariantAnimation(self)
        self._animation.setStartValue(0.0)
        self._animation.setEndValue(1.0)
        self._animation.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._animation.valueChanged.connect(self._animate)
        self._animation.finished.connect(self._settle)
        scene.rebuilt.connect(self._rebuilt)
        scene.cursor_wanted.connect(self._set_cursor)
        scene.current_changed.connect(self._follow)
        scene.search_requested.connect(self.open_search)
        self.set_theme(scene.theme)

    # Look

    def set_theme(self, theme: Theme) -> None:
        """Draws in another theme and UI scale."""
        self._theme = theme
        self._canvas.set_theme(theme)
        self.setBackgroundBrush(theme.color("canvas"))
        self._map.set_theme(theme)
        self._place_map()
        if self.isVisible():
            self.fit(animate=False) if self._fitted else self._apply(self._zoom, self._center())

    @property
    def zoom(self) -> float:
        """The zoom; 1 is 100 %."""
        return self._zoom

    @property
    def canvas(self) -> NetworkScene:
        """The scene."""
        return self._canvas

    def set_base(self, base: NodeSize | None) -> None:
        """Sets the form of nodes at 100 %; ``None``: compact in a small view."""
        self._base = base
        self._choose_base()

    def _choose_base(self) -> None:
        base = self._base
        if base is None:
            w, h = self.viewport().width() / self._theme.scale, self.viewport().height() / self._theme.scale
            base = "compact" if w < SMALL_WINDOW[0] or h < SMALL_WINDOW[1] else "full"
        self._canvas.set_base(base)

    # Zoom and pan

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
        """One step closer."""
        self.set_zoom(self._target_zoom() * ZOOM_STEP)

    def zoom_out(self) -> None:
        """One step away."""
        self.set_zoom(self._target_zoom() / ZOOM_STEP)

    def zoom_to_full(self) -> None:
        """To 100 %."""
        self.set_zoom(1.0)

    def center_at(self, point: QPointF) -> None:
        """Moves a scene point to the middle."""
        self._fitted = False
        self._apply(self._zoom, point)

    def go_to(self, target: Target) -> None:
        """Selects a node and brings it into view."""
        self._canvas.show_focus(True)
        self._canvas.select(target)
        self.show_target(target)
        self._take_focus()

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

    def _moved(self) -> None:
        view = self.visible_rect()
        self._canvas.visible_right = view.right()
        bounds = self._canvas.layout.bounds
        slack = 2 / self._scale
        whole = view.adjusted(-slack, -slack, slack, slack).contains(QRectF(bounds.x, bounds.y, bounds.w, bounds.h))
        self._map.setVisible(not whole and self.viewport().width() > 2.5 * self._map.width())
        self._map.show_view(view)

    def _place_map(self) -> None:
        gap = self._theme.px(12)
        self._map.move(gap, self.height() - self._map.height() - gap)

    def _pan(self, dx: float, dy: float) -> None:
        self._fitted = False
        self._animation.stop()
        bar = self.horizontalScrollBar()
        bar.setValue(round(bar.value() - dx))
        bar = self.verticalScrollBar()
        bar.setValue(round(bar.value() - dy))
        self._moved()

    # Events

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._canvas.wake()
        self._choose_base()
        if self._fitted:
            self.fit(animate=False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        center = self._center()
        super().resizeEvent(event)
        self._place_map()
        self._choose_base()
        if self._fitted:
            self.fit(animate=False)
        else:
            self._apply(self._zoom, center)

    def _rebuilt(self) -> None:
        if self._fitted:
            self.fit(animate=False)
        else:
            self._apply(self._zoom, self._center())

    def wheelEvent(self, event: QWheelEvent) -> None:
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        touch = event.phase() != Qt.ScrollPhase.NoScrollPhase or (
            event.pointingDevice() is not None and event.pointingDevice().type() == QInputDevice.DeviceType.TouchPad
        )
        if touch and not control:
            delta = event.pixelDelta() if not event.pixelDelta().isNull() else event.angleDelta() / 2
            self._pan(delta.x(), delta.y())
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._pan(event.angleDelta().y() / 2 or event.angleDelta().x() / 2, 0)
        else:
            steps = event.angleDelta().y() or event.angleDelta().x()
            self.set_zoom(self._target_zoom() * WHEEL**steps, event.position(), animate=not touch)
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        current = self._canvas.current
        if event.reason() != QContextMenuEvent.Reason.Keyboard or current is None:
            super().contextMenuEvent(event)
            return
        rect = self._canvas.layout.rect_of(current)
        at = self.viewport().mapToGlobal(self.mapFromScene(QPointF(*rect.center)))
        self._canvas.menu_requested.emit(MenuRequest(at.x(), at.y(), current, self._canvas.selection))
        event.accept()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QNativeGestureEvent):
            if event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
                self.set_zoom(self._zoom * math.exp(event.value()), event.position(), animate=False)
                return True
            if event.gestureType() == Qt.NativeGestureType.SmartZoomNativeGesture:
                self.fit() if self._zoom > 0.99 else self.zoom_to_full()
                return True
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self._show_tip(event)
            return True
        return super().viewportEvent(event)

    def _show_tip(self, event: QHelpEvent) -> None:
        spot = self._canvas.spot_at(self.mapToScene(event.pos()))
        text = self.tip(spot)
        if text:
            # Roles and texts are the user's: shown as they are, never as HTML.
            QToolTip.showText(event.globalPos(), f"<span>{html.escape(text)}</span>", self.viewport())
        else:
            QToolTip.hideText()
            event.ignore()

    def tip(self, spot: Spot) -> str:
        """The tool tip over a spot, as plain text."""
        if spot.kind in _CHROME_TIPS:
            return _CHROME_TIPS[spot.kind]
        if spot.kind == "worth" and spot.index is not None:
            return self._canvas.ends.layers[spot.index].worth_tip
        if spot.target is None:
            return ""
        if spot.kind == "port":
            return f"{target_words(self._canvas.network, spot.target)}. Drag to join it with a neuron"
        return target_words(self._canvas.network, spot.target)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        middle = event.button() == Qt.MouseButton.MiddleButton
        if middle or (event.button() == Qt.MouseButton.LeftButton and self._space):
            self._pan_from = event.position().toPoint()
            self._space_pans = self._space
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            event.accept()
            return
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pan_from is not None:
            at = event.position().toPoint()
            self._pan(at.x() - self._pan_from.x(), at.y() - self._pan_from.y())
            self._pan_from = at
            event.accept()
            return
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pan_from is not None and event.button() in (Qt.MouseButton.MiddleButton, Qt.MouseButton.LeftButton):
            self._pan_from = None
            self.viewport().setCursor(Qt.CursorShape.OpenHandCursor if self._space else Qt.CursorShape.ArrowCursor)
            event.accept()
            return
        super().mouseReleaseEvent(event)

    def _set_cursor(self, shape: Qt.CursorShape) -> None:
        if self._pan_from is None and not self._space and self.viewport().cursor().shape() != shape:
            self.viewport().setCursor(shape)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if key == Qt.Key.Key_Space and not event.isAutoRepeat():
            # Space pans while it is held down with the mouse, and selects when it is only struck.
            self._space = True
            self._space_pans = False
            self.viewport().setCursor(Qt.CursorShape.OpenHandCursor)
            event.accept()
        elif key == Qt.Key.Key_Tab:
            self.open_search()
        elif not control and key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom_in()
        elif not control and key == Qt.Key.Key_Minus:
            self.zoom_out()
        elif not control and key == Qt.Key.Key_0:
            self.fit()
        elif not control and key == Qt.Key.Key_1:
            self.zoom_to_full()
        else:
            self._canvas.keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            struck = self._space and not self._space_pans
            self._space = False
            self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
            if struck:
                press = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier)
                self._canvas.keyPressEvent(press)
            event.accept()
            return
        super().keyReleaseEvent(event)

    def focusNextPrevChild(self, next: bool) -> bool:
        # Tab searches; Shift+Tab and F6 leave the canvas.
        return False if next else super().focusNextPrevChild(next)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in _BY_KEYBOARD or (event.reason() in _BY_WINDOW and self._focus_before):
            if self._canvas.current is None:
                self._canvas.set_current(Place(0, 0))
            self._canvas.show_focus(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._space = False
        self._focus_before = self._canvas.focus_shown
        self._canvas.show_focus(False)

    # Search and access

    def open_search(self) -> None:
        """Opens the search over the canvas."""
        self._search.open(self._canvas.network, self._theme)

    def _take_focus(self) -> None:
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _follow(self, target: Target | None) -> None:
        words = "" if target is None else target_words(self._canvas.network, target)
        self.setAccessibleDescription(words)
        if target is not None and self.hasFocus():
            self.show_target(target)
            tell_focus(self, target)
