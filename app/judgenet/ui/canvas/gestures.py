"""What the mouse does on the canvas: hovering, clicks, and one class a gesture of its left button. Each gesture ends in
a signal of the scene or in nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtWidgets import QGraphicsSceneContextMenuEvent, QGraphicsSceneMouseEvent

from judgenet.ui.canvas.chrome import ghost_rects
from judgenet.ui.canvas.hit_test import Spot
from judgenet.ui.canvas.layout import CELL_COLUMNS, CELL_PITCH
from judgenet.ui.canvas.model import EdgeChange, MenuRequest, Place

if TYPE_CHECKING:
    from judgenet.ui.canvas.scene import NetworkScene
    from judgenet.ui.canvas.selection import CanvasSelection

THRESHOLD: Final = 6.0
"""px that the mouse must move before a press becomes a drag."""

_CURSORS: Final = {
    "fix": Qt.CursorShape.PointingHandCursor,
    "rule": Qt.CursorShape.PointingHandCursor,
    "minus": Qt.CursorShape.PointingHandCursor,
    "plus": Qt.CursorShape.PointingHandCursor,
    "remove": Qt.CursorShape.PointingHandCursor,
    "add_layer": Qt.CursorShape.PointingHandCursor,
    "add_chair": Qt.CursorShape.PointingHandCursor,
    "gate": Qt.CursorShape.PointingHandCursor,
    "wiring": Qt.CursorShape.PointingHandCursor,
    "edge": Qt.CursorShape.PointingHandCursor,
    "handle": Qt.CursorShape.SizeVerCursor,
    "port": Qt.CursorShape.CrossCursor,
}


class Gesture:
    """A press that may become a drag."""

    def __init__(self, canvas: NetworkScene, start: QPointF) -> None:
        self.canvas = canvas
        self.start = start
        self.dragging = False

    def move(self, event: QGraphicsSceneMouseEvent) -> None:
        """The mouse moved with the button down."""
        moved = event.scenePos() - self.start
        if not self.dragging and (abs(moved.x()) + abs(moved.y())) * self.canvas.zoom >= THRESHOLD:
            self.dragging = True
        if self.dragging:
            self.drag(event.scenePos())

    def release(self, event: QGraphicsSceneMouseEvent) -> None:
        """The button came up."""
        self.canvas.drag_item.clear()
        if self.dragging:
            self.drop(event.scenePos())
        else:
            self.click(event)

    def cancel(self) -> None:
        """The gesture ends without effect."""
        self.canvas.drag_item.clear()

    def drag(self, at: QPointF) -> None:
        """Shows where the drag has come to."""

    def drop(self, at: QPointF) -> None:
        """Ends a drag."""

    def click(self, event: QGraphicsSceneMouseEvent) -> None:
        """A press and a release in one place."""


class Click(Gesture):
    """A button of the canvas: acts when the mouse comes up over the same spot."""

    def __init__(self, canvas: NetworkScene, start: QPointF, spot: Spot) -> None:
        super().__init__(canvas, start)
        self.spot = spot

    def drop(self, at: QPointF) -> None:
        if self.canvas.spot_at(at) == self.spot:
            self._act(0, 0)

    def click(self, event: QGraphicsSceneMouseEvent) -> None:
        point = event.screenPos()
        self._act(point.x(), point.y())

    def _act(self, x: int, y: int) -> None:
        canvas, spot = self.canvas, self.spot
        index = spot.index or 0
        if spot.kind in ("minus", "plus"):
            width = canvas.layout.layers[index].count + (1 if spot.kind == "plus" else -1)
            if width >= 1:
                canvas.width_requested.emit(index, width)
        elif spot.kind == "remove":
            canvas.layer_remove_requested.emit(index)
        elif spot.kind == "add_layer":
            canvas.layer_add_requested.emit(index)
        elif spot.kind == "wiring":
            canvas.wiring_requested.emit(index, x, y)
        elif spot.kind == "gate":
            canvas.gate_chosen.emit(index)
        elif spot.kind == "add_chair":
            canvas.chair_add_requested.emit()
        elif spot.kind == "fix" and spot.target is not None:
            canvas.fix_requested.emit(spot.target)
        elif spot.kind == "rule":
            canvas.rule_requested.emit(x, y)


class WidthDrag(Gesture):
    """The handle under a layer: down adds neurons, up removes them."""

    def __init__(self, canvas: NetworkScene, start: QPointF, layer: int) -> None:
        super().__init__(canvas, start)
        self.layer = layer

    def _width(self, at: QPointF) -> int:
        plan = self.canvas.layout.layers[self.layer]
        moved = at.y() - self.start.y()
        steps = round(moved / CELL_PITCH) * CELL_COLUMNS if plan.dense else round(moved / plan.pitch)
        return max(1, plan.count + steps)

    def drag(self, at: QPointF) -> None:
        self.canvas.drag_item.show_width(*ghost_rects(self.canvas, self.layer, self._width(at)))

    def drop(self, at: QPointF) -> None:
        width = self._width(at)
        if width != self.canvas.layout.layers[self.layer].count:
            self.canvas.width_requested.emit(self.layer, width)


class EdgeDrag(Gesture):
    """From a port to a neuron of the next layer, or of the one before: joins the two, or parts them."""

    def __init__(self, canvas: NetworkScene, start: QPointF, place: Place, outgoing: bool) -> None:
        super().__init__(canvas, start)
        self.place = place
        self.outgoing = outgoing

    def _other(self, at: QPointF) -> Place | None:
        target = self.canvas.layout.target_at(at.x(), at.y())
        wanted = self.place.layer + (1 if self.outgoing else -1)
        return target if isinstance(target, Place) and target.layer == wanted else None

    def drag(self, at: QPointF) -> None:
        layers = self.canvas.layout.layers
        own = layers[self.place.layer]
        x, y = (own.right if self.outgoing else own.left), own.port(self.place.neuron)
        end = self._other(at)
        if end is None:
            self.canvas.drag_item.show_edge(x, y, at.x(), at.y())
        else:
            plan = layers[end.layer]
            self.canvas.drag_item.show_edge(x, y, plan.left if self.outgoing else plan.right, plan.port(end.neuron))

    def drop(self, at: QPointF) -> None:
        end = self._other(at)
        if end is None:
            return
        source, target = (self.place, end) if self.outgoing else (end, self.place)
        layer = self.canvas.layer_state(target.layer)
        joined = source.neuron in layer.inputs[target.neuron]
        self.canvas.edge_toggle_requested.emit(EdgeChange(target.layer, source.neuron, target.neuron, not joined))


class Reorder(Gesture):
    """A neuron dragged up or down in its layer; a line shows where it snaps in."""

    def __init__(self, canvas: NetworkScene, start: QPointF, place: Place, keep: bool) -> None:
        """``keep``: a click without a drag selects this neuron alone."""
        super().__init__(canvas, start)
        self.place = place
        self.keep = keep

    def _slot(self, at: QPointF) -> int:
        """The gap that is nearest to the mouse: 0 is above the first neuron."""
        plan = self.canvas.layout.layers[self.place.layer]
        gap = plan.pitch - plan.node_h
        return max(0, min(plan.count, round((at.y() + gap / 2) / plan.pitch)))

    def drag(self, at: QPointF) -> None:
        plan = self.canvas.layout.layers[self.place.layer]
        y = self._slot(at) * plan.pitch - (plan.pitch - plan.node_h) / 2
        self.canvas.drag_item.show_snap(plan.x, plan.x + plan.w, y)

    def drop(self, at: QPointF) -> None:
        slot = self._slot(at)
        to = slot - 1 if slot > self.place.neuron else slot
        if to != self.place.neuron:
            self.canvas.neuron_move_requested.emit(self.place.layer, self.place.neuron, to)

    def click(self, event: QGraphicsSceneMouseEvent) -> None:
        if self.keep:
            self.canvas.select(self.place)


class BandSelect(Gesture):
    """A rectangle over the empty canvas selects the neurons that it touches; a click selects nothing."""

    def __init__(self, canvas: NetworkScene, start: QPointF, add: bool) -> None:
        super().__init__(canvas, start)
        self.before = canvas.selection if add else frozenset()

    def drag(self, at: QPointF) -> None:
        band = QRectF(self.start, at).normalized()
        self.canvas.drag_item.show_band(band)

    def drop(self, at: QPointF) -> None:
        band = QRectF(self.start, at).normalized()
        targets = set()
        for number, plan in enumerate(self.canvas.layout.layers):
            if plan.x > band.right() or plan.x + plan.w < band.left():
                continue
            for neuron in range(plan.count):
                rect = plan.rect(neuron)
                if band.intersects(QRectF(rect.x, rect.y, rect.w, rect.h)):
                    targets.add(Place(number, neuron))
        chosen = self.before | targets
        self.canvas.set_selection(chosen)
        first = min(chosen, default=None)
        self.canvas.set_current(first)
        self.canvas.neuron_selected.emit(first)

    def click(self, event: QGraphicsSceneMouseEvent) -> None:
        if not self.before:
            self.canvas.select(None)


def begin_gesture(canvas: NetworkScene, spot: Spot, event: QGraphicsSceneMouseEvent) -> Gesture | None:
    """The gesture that a press on a spot begins."""
    start = event.scenePos()
    if spot.kind in ("minus", "plus", "remove", "add_layer", "wiring", "gate", "add_chair", "fix", "rule"):
        return Click(canvas, start, spot)
    if spot.kind == "handle" and spot.index is not None:
        return WidthDrag(canvas, start, spot.index)
    if spot.kind == "port" and isinstance(spot.target, Place):
        return EdgeDrag(canvas, start, spot.target, spot.outgoing)
    if spot.kind == "node":
        if canvas.editable and isinstance(spot.target, Place) and not canvas.layout.layers[spot.target.layer].dense:
            plain = not event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
            return Reorder(canvas, start, spot.target, keep=plain and len(canvas.selection) > 1)
        return None
    if spot.kind in ("empty", "header", "worth"):
        return BandSelect(canvas, start, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
    return None


class Mouse:
    """What the mouse does over the scene: it hovers, selects, opens menus, and begins and ends gestures."""

    def __init__(self, canvas: NetworkScene, selection: CanvasSelection) -> None:
        self._canvas = canvas
        self._selection = selection
        self._gesture: Gesture | None = None

    def press(self, event: QGraphicsSceneMouseEvent) -> None:
        """A button went down: selects what is there, and a gesture may begin."""
        event.accept()
        if event.button() != Qt.MouseButton.LeftButton:
            return
        canvas, selection = self._canvas, self._selection
        spot = canvas.spot_at(event.scenePos())
        modifiers = event.modifiers()
        add = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        extend = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        selection.show_focus(False)
        if spot.kind == "edge" and spot.edge is not None:
            selection.select_edge(spot.edge)
            return
        if spot.kind in ("node", "port", "fix", "rule") and not (
            spot.target in selection.places and not add and not extend and len(selection.places) > 1
        ):
            selection.select(spot.target, add=add, extend=extend)
        self._gesture = begin_gesture(canvas, spot, event)

    def move(self, event: QGraphicsSceneMouseEvent) -> None:
        """It moved: the gesture goes on, or other things are under it."""
        if self._gesture is not None:
            self._gesture.move(event)
        else:
            self._hover_at(event.scenePos())
        event.accept()

    def release(self, event: QGraphicsSceneMouseEvent) -> None:
        """A button came up: the gesture ends."""
        gesture, self._gesture = self._gesture, None
        if gesture is not None and event.button() == Qt.MouseButton.LeftButton:
            gesture.release(event)
        event.accept()

    def double_click(self, event: QGraphicsSceneMouseEvent) -> None:
        """Activates a node."""
        spot = self._canvas.spot_at(event.scenePos())
        if spot.kind in ("minus", "plus"):
            # Two quick clicks are two steps.
            self.press(event)
        elif spot.target is not None:
            self._canvas.node_activated.emit(spot.target)
        event.accept()

    def open_menu(self, event: QGraphicsSceneContextMenuEvent) -> None:
        """Asks for the menu of what is there."""
        spot = self._canvas.spot_at(event.scenePos())
        places = self._selection.places
        if isinstance(spot.target, Place) and spot.target not in places:
            self._selection.select(spot.target, add=False, extend=False)
            places = self._selection.places
        point = event.screenPos()
        self._canvas.menu_requested.emit(MenuRequest(point.x(), point.y(), spot.target, places, spot.edge, spot.index))
        event.accept()

    def leave(self) -> None:
        """It left the canvas."""
        self._hover(Spot("empty"))

    def cancel(self) -> bool:
        """Ends the gesture without effect; True where there was one."""
        gesture, self._gesture = self._gesture, None
        if gesture is None:
            return False
        gesture.cancel()
        return True

    def forget(self) -> None:
        """The items that a gesture began on are gone."""
        self._gesture = None

    def _hover_at(self, at: QPointF) -> None:
        spot = self._canvas.spot_at(at)
        self._hover(spot)
        self._canvas.cursor_wanted.emit(_CURSORS.get(spot.kind, Qt.CursorShape.ArrowCursor))

    def _hover(self, spot: Spot) -> None:
        self._selection.set_hover(spot.target)
        self._canvas.drawn.hover_chrome(spot)
        self._selection.hover_edge(spot.edge)
