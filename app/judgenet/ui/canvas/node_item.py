"""Items of the scene that are nodes: neurons one by one, dense layers as one block, and the ends of the network."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from judgenet.core.pairs import Order
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.layout import BAR_ABOVE, BAR_HEIGHT, CELL, CELL_COLUMNS, CELL_PITCH, FOOT_BELOW, LayerPlan
from judgenet.ui.canvas.model import NeuronState, Part, Place
from judgenet.ui.canvas.paint import (
    Look,
    border_of,
    cell_key,
    draw_cell,
    draw_neuron,
    draw_slot,
    slot_rect,
)
from judgenet.ui.canvas.paint_ends import (
    draw_layer_bar,
    draw_layer_counts,
    draw_pair,
    draw_roles,
    draw_verdict,
    draw_vote,
)
from judgenet.ui.tokens import MOTION_NODE

if TYPE_CHECKING:
    from judgenet.ui.canvas.scene import NetworkScene

_CELL_MARGIN: Final = 3
"""Space around a cell's picture, in px."""


def enter_units(painter: QPainter, zoom: float) -> tuple[float, float]:
    """Sets the painter to px at 100 % with the item's origin on a whole device pixel.

    Zoomed out, letters keep their size and the boxes shrink. Returns (units a scene unit, device pixels a unit).
    """
    transform = painter.worldTransform()
    small = min(zoom, 1.0)
    unit = transform.m11() / small
    device = painter.device()
    ratio = device.devicePixelRatio() if device is not None else 1.0
    dx, dy = round(transform.dx() * ratio) / ratio, round(transform.dy() * ratio) / ratio
    painter.setWorldTransform(QTransform(unit, 0, 0, unit, dx, dy))
    return small, unit * ratio


class NodeItem(QGraphicsItem):
    """Common to all nodes: where it stands, and a bounding rectangle with room for the focus ring at each zoom."""

    def __init__(self, canvas: NetworkScene, w: float, h: float) -> None:
        super().__init__()
        self.canvas = canvas
        self.w = w
        self.h = h
        self._bounds = QRectF()
        self.refit()

    def refit(self) -> None:
        """Fits the bounding rectangle to the current zoom."""
        margin = 6 / self.canvas.small_zoom
        above = 14 / self.canvas.small_zoom
        bounds = QRectF(-margin, -above, self.w + 2 * margin, self.h + margin + 2 * above)
        if bounds != self._bounds:
            self.prepareGeometryChange()
            self._bounds = bounds

    def boundingRect(self) -> QRectF:
        return self._bounds

    def size(self, small: float, pixel: float) -> tuple[float, float]:
        """The box in px at 100 %, its far edges on whole device pixels."""
        return round(self.w * small * pixel) / pixel, round(self.h * small * pixel) / pixel


class NeuronItem(NodeItem):
    """One neuron of a layer that is not dense."""

    def __init__(self, canvas: NetworkScene, place: Place, w: float, h: float) -> None:
        super().__init__(canvas, w, h)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.place = place
        self._changed_at = 0.0
        self._was = border_of(self.state)
        self._fresh: frozenset[Order] = frozenset()

    @property
    def state(self) -> NeuronState:
        """What is painted."""
        return self.canvas.state(self.place)

    def change(self, old: NeuronState, state: NeuronState) -> bool:
        """Sets another state and repaints it; returns True where the change fades in."""
        self.update()
        if state.phase == old.phase and state.ab == old.ab and state.ba == old.ba:
            return False
        self._was = border_of(old)
        self._fresh = frozenset(order for order in state.orders if state.order(order) and not old.order(order))
        self._changed_at = time.monotonic()
        return not self.canvas.theme.reduce_motion

    @property
    def fading(self) -> bool:
        """Whether a change is still fading in."""
        return time.monotonic() - self._changed_at < MOTION_NODE / 1000

    def update_slot(self) -> None:
        """Repaints the spinner or the writing bars."""
        small = self.canvas.small_zoom
        slot = slot_rect(self.w * small, self.h * small)
        self.update(QRectF(slot.x() / small, slot.y() / small, slot.width() / small, slot.height() / small))

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        canvas = self.canvas
        exposed = option.exposedRect
        small, pixel = enter_units(painter, canvas.zoom)
        w, h = self.size(small, pixel)
        state = canvas.timed(self.state)
        look = canvas.look_of(self.place)
        if exposed.width() * small <= 28 and h >= 28:
            slot = slot_rect(w, h)
            if slot.adjusted(-2, -2, 2, 2).contains(
                QRectF(exposed.x() * small, exposed.y() * small, exposed.width() * small, exposed.height() * small)
            ):
                painter.fillRect(slot, canvas.ink.brush("surface"))
                draw_slot(painter, canvas.ink, slot, state, look)
                return
        if not canvas.theme.reduce_motion and self.fading:
            grown = (time.monotonic() - self._changed_at) * 1000 / MOTION_NODE
            look = Look(look.selected, look.focused, look.hovered, look.turn, min(1.0, grown), self._was, self._fresh)
        if canvas.zoom < 0.55:
            draw_cell(painter, canvas.ink, QRectF(0, 0, w, h), cell_key(state, canvas.cell_color), look)
            if state.phase == "idle" and w >= 44 and h >= 16:
                canvas.ink.text(painter, 6, h / 2 + 5, state.role, room=w - 12)
        else:
            draw_neuron(painter, canvas.ink, w, h, state, look)


class PartItem(NodeItem):
    """Pair, roles, vote, chair or verdict."""

    def __init__(self, canvas: NetworkScene, part: Part, w: float, h: float) -> None:
        super().__init__(canvas, w, h)
        self.part = part

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        canvas = self.canvas
        network = canvas.ends
        ink = canvas.ink
        small, pixel = enter_units(painter, canvas.zoom)
        w, h = self.size(small, pixel)
        look = canvas.look_of(self.part)
        if self.part == "pair":
            draw_pair(painter, ink, w, h, network, look)
        elif self.part == "roles" and network.roles is not None:
            draw_roles(painter, ink, w, h, network.roles, look)
        elif self.part == "vote":
            draw_vote(painter, ink, w, h, network, look)
        elif self.part == "chair" and network.chair is not None:
            draw_neuron(painter, ink, w, h, canvas.timed(network.chair), look)
        elif self.part == "verdict":
            draw_verdict(painter, ink, w, h, network, look)


class BlockItem(QGraphicsItem):
    """A dense layer: all its cells, the stacked bar above them and the counts below, in one item."""

    def __init__(self, canvas: NetworkScene, layer: int, plan: LayerPlan) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.canvas = canvas
        self.layer = layer
        self.plan = plan
        self._keys = [cell_key(state, canvas.cell_color) for state in canvas.states(layer)]
        self._strips: dict[str, QPixmap] = {}
        self._strip_of: tuple[object, ...] = ()

    def boundingRect(self) -> QRectF:
        return QRectF(-6, -BAR_ABOVE - 4, self.plan.w + 12, BAR_ABOVE + self.plan.bottom + 4 + FOOT_BELOW)

    def recolor(self) -> None:
        """Draws the cells again after a change of the theme or of what they are coloured by."""
        self._keys = [cell_key(state, self.canvas.cell_color) for state in self.canvas.states(self.layer)]
        self._strip_of = ()
        self.update()

    def update_count(self) -> None:
        """Repaints the bar and the counts below."""
        self.update(QRectF(-1, -BAR_ABOVE - 2, self.plan.w + 2, BAR_HEIGHT + 4))
        self.update(QRectF(-1, self.plan.bottom + 2, self.plan.w + 8, FOOT_BELOW))

    def change(self, neuron: int) -> None:
        """Repaints the cell of a neuron whose state changed, where it looks different."""
        key = cell_key(self.canvas.states(self.layer)[neuron], self.canvas.cell_color)
        if key != self._keys[neuron]:
            self._keys[neuron] = key
            self.update_cell(neuron)

    def update_cell(self, neuron: int) -> None:
        """Repaints a cell with its ring."""
        rect = self.plan.rect(neuron)
        self.update(QRectF(rect.x - self.plan.x - 4, rect.y - 4, CELL + 8, CELL + 8))

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        canvas = self.canvas
        exposed: QRectF = option.exposedRect
        small, pixel = enter_units(painter, canvas.zoom)
        side = round(CELL * small * pixel) / pixel
        first = max(0, int((exposed.y() - 4) // CELL_PITCH))
        last = min(self.plan.rows - 1, int((exposed.bottom() + 4) // CELL_PITCH))
        left = max(0, int((exposed.x() - 4) // CELL_PITCH))
        right = min(CELL_COLUMNS - 1, int((exposed.right() + 4) // CELL_PITCH))
        pitch = CELL_PITCH * small
        keys = self._keys
        vector = canvas.ink.vector
        strips = self._pictures(side, pixel)
        xs = [round(column * pitch * pixel) / pixel for column in range(CELL_COLUMNS)]
        for row in range(first, last + 1):
            y = round(row * pitch * pixel) / pixel
            start = row * CELL_COLUMNS
            for column in range(left, min(right, len(keys) - start - 1) + 1):
                key = keys[start + column]
                if vector:
                    draw_cell(painter, canvas.ink, QRectF(xs[column], y, side, side), key)
                else:
                    painter.drawPixmap(QPointF(xs[column] - _CELL_MARGIN, y - _CELL_MARGIN), strips[key])
        self._draw_marks(painter, canvas.ink, side, pitch, pixel)
        if canvas.ends.mode == "design":
            return
        count = canvas.count(self.layer)
        if exposed.y() < -BAR_ABOVE + BAR_HEIGHT:
            height = BAR_HEIGHT * small
            draw_layer_bar(painter, canvas.ink, QRectF(0, -BAR_ABOVE * small, self.plan.w * small, height), count)
        if exposed.bottom() > self.plan.bottom + 4 and self.plan.w * small >= 140:
            painter.translate(0, round((self.plan.bottom + 8) * small * pixel) / pixel)
            draw_layer_counts(painter, canvas.ink, self.plan.w * small, count)

    def _draw_marks(self, painter: QPainter, ink: Ink, side: float, pitch: float, pixel: float) -> None:
        for place in self.canvas.marked(self.layer):
            look = self.canvas.look_of(place)
            row, column = divmod(place.neuron, CELL_COLUMNS)
            x, y = round(column * pitch * pixel) / pixel, round(row * pitch * pixel) / pixel
            token = "accent" if look.selected or look.focused else "text2"
            painter.setPen(ink.pen(token, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(x - 2, y - 2, side + 4, side + 4), 5, 5)

    def _pictures(self, side: float, pixel: float) -> dict[str, QPixmap]:
        made_for = (side, pixel, self.canvas.theme)
        if made_for != self._strip_of:
            self._strip_of = made_for
            self._strips = {}
        for key in set(self._keys) - self._strips.keys():
            self._strips[key] = self._picture(key, side, pixel)
        return self._strips

    def _picture(self, key: str, side: float, pixel: float) -> QPixmap:
        size = round((side + 2 * _CELL_MARGIN) * pixel)
        picture = QPixmap(size, size)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(pixel, pixel)
        draw_cell(painter, self.canvas.ink, QRectF(_CELL_MARGIN, _CELL_MARGIN, side, side), key)
        painter.end()
        picture.setDevicePixelRatio(pixel)
        return picture
