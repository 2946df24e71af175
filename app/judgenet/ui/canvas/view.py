"""The view: zoom, pan, fit, mini-map, search and tool tips over a :class:`NetworkScene`."""

from __future__ import annotations

import html
import math
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QInputDevice,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from judgenet.ui.canvas import texts
from judgenet.ui.canvas.accessible import install_accessibility, tell_focus
from judgenet.ui.canvas.descriptions import target_words
from judgenet.ui.canvas.hit_test import Spot
from judgenet.ui.canvas.layout import NodeSize
from judgenet.ui.canvas.minimap import MiniMap
from judgenet.ui.canvas.model import MenuRequest, Place, Target
from judgenet.ui.canvas.scene import NetworkScene
from judgenet.ui.canvas.search import SearchPopup
from judgenet.ui.canvas.zoomed_view import ZoomedView
from judgenet.ui.style import OWN_FOCUS
from judgenet.ui.theme import Theme, ThemeWatch, current_theme

WHEEL: Final = 1.0015
"""Zoom factor for one eighth of a degree of the wheel."""
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
    "minus": texts.ONE_NEURON_FEWER,
    "plus": texts.ONE_NEURON_MORE,
    "remove": texts.REMOVE_THIS_LAYER,
    "add_layer": texts.ADD_A_LAYER_HERE,
    "gate": texts.EDIT_THE_STOP_RULE,
    "wiring": texts.CHOOSE_THE_WIRING,
    "handle": texts.DRAG_TO_CHANGE_THE_NUMBER_OF_NEURONS,
    "add_chair": texts.ADD_A_CHAIR_THAT_DECIDES,
    "rule": texts.CHOOSE_THE_RULE_OF_THE_VOTE,
    "edge": texts.SELECT_THE_EDGE,
}


class NetworkView(ZoomedView):
    """The network canvas as a widget: with its small map, its search, tips, mouse and keys."""

    def __init__(self, scene: NetworkScene, parent: QWidget | None = None) -> None:
        install_accessibility()
        self._theme_watch = ThemeWatch()
        super().__init__(scene, parent)
        self.setProperty(OWN_FOCUS, True)
        self._base: NodeSize | None = None
        self._pan_from: QPoint | None = None
        self._space = False
        self._space_pans = False
        self._focus_before = False
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(texts.JUDGE_NETWORK)
        self._map = MiniMap(scene, self)
        self._map.hide()
        self._map.moved.connect(self.center_at)
        self._search = SearchPopup(self)
        self._search.chosen.connect(self.go_to)
        self._search.closed.connect(self._take_focus)
        scene.rebuilt.connect(self._rebuilt)
        scene.cursor_wanted.connect(self._set_cursor)
        scene.current_changed.connect(self._follow)
        scene.search_requested.connect(self.open_search)
        self.set_theme(scene.theme)

    # Look

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if self._theme_watch.is_new(event):
            self.set_theme(current_theme())

    def set_theme(self, theme: Theme) -> None:
        """Draws in another theme and UI scale."""
        self._theme = theme
        self._canvas.set_theme(theme)
        self.setBackgroundBrush(theme.color("canvas"))
        self._map.restyle()
        self._place_map()
        if self.isVisible():
            self.fit(animate=False) if self._fitted else self._apply(self._zoom, self._center())

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

    def go_to(self, target: Target) -> None:
        """Selects a node and brings it into view."""
        self._canvas.show_focus(True)
        self._canvas.select(target)
        self.show_target(target)
        self._take_focus()

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
            return texts.drag_to_join(target_words(self._canvas.network, spot.target))
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
