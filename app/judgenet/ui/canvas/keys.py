"""What keys do on the canvas: arrows walk, Enter opens, Space selects, Ctrl with + or - changes a layer's width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from judgenet.ui.canvas.model import Place, Target

if TYPE_CHECKING:
    from judgenet.ui.canvas.scene import NetworkScene


def handle_key(canvas: NetworkScene, event: QKeyEvent) -> bool:
    """Acts on a key press; returns False for a key without a meaning on the canvas."""
    key = event.key()
    modifiers = event.modifiers()
    control = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
    shift = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
    steps = {
        Qt.Key.Key_Left: (-1, 0),
        Qt.Key.Key_Right: (1, 0),
        Qt.Key.Key_Up: (0, -1),
        Qt.Key.Key_Down: (0, 1),
    }
    if key == Qt.Key.Key_Escape:
        if not canvas.cancel_gesture():
            canvas.select(None)
        return True
    if key in steps:
        if modifiers & Qt.KeyboardModifier.AltModifier:
            return _move_by_key(canvas, steps[Qt.Key(key)][1])
        _step(canvas, *steps[Qt.Key(key)], extend=shift)
        return True
    if control and key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
        return _width_by_key(canvas, -1 if key == Qt.Key.Key_Minus else 1)
    if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and canvas.current is not None:
        canvas.node_activated.emit(canvas.current)
        return True
    if key == Qt.Key.Key_Space and isinstance(canvas.current, Place):
        canvas.select(canvas.current, add=True)
        return True
    if key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and canvas.editable:
        if canvas.selected_edge is not None:
            canvas.edge_toggle_requested.emit(canvas.selected_edge)
        elif canvas.selection:
            canvas.delete_requested.emit(canvas.selection)
        return True
    return False


def _step(canvas: NetworkScene, dx: int, dy: int, *, extend: bool) -> None:
    canvas.show_focus(True)
    target: Target = Place(0, 0) if canvas.current is None else canvas.layout.step(canvas.current, dx, dy)
    canvas.select(target, extend=extend)


def _move_by_key(canvas: NetworkScene, dy: int) -> bool:
    place = canvas.current
    if not dy or not isinstance(place, Place) or not canvas.editable:
        return False
    to = place.neuron + dy
    if 0 <= to < canvas.layout.layers[place.layer].count:
        canvas.neuron_move_requested.emit(place.layer, place.neuron, to)
    return True


def _width_by_key(canvas: NetworkScene, by: int) -> bool:
    place = canvas.current
    if not isinstance(place, Place) or not canvas.editable or canvas.ends.layers[place.layer].adaptive:
        return False
    width = canvas.layout.layers[place.layer].count + by
    if width >= 1:
        canvas.width_requested.emit(place.layer, width)
    return True
