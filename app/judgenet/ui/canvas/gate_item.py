"""Stop rules on the canvas: a gate between two columns, and a note between neurons that are asked in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QPainter, QPainterPath
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from judgenet.ui.canvas import texts
from judgenet.ui.canvas.chrome import ChromeItem
from judgenet.ui.canvas.layout import Layout, Rect
from judgenet.ui.canvas.model import GateState, NetworkState
from judgenet.ui.canvas.node_item import enter_units
from judgenet.ui.canvas.paint_ends import PLUS

if TYPE_CHECKING:
    from judgenet.ui.canvas.ink import Ink
    from judgenet.ui.canvas.scene import NetworkScene

_LINE: Final = 18.0
_PAD: Final = 6.0
_NARROW: Final = 64.0
"""A gap of fewer px has no room for words: a diamond stands for them."""
_DASH: Final = (3.0, 3.0)


class GateItem(ChromeItem):
    """The stop rule before a layer: a dashed line across the gap, and on it what must not hold for a pair to go on."""

    def __init__(self, canvas: NetworkScene, layer: int, gate: GateState) -> None:
        super().__init__(canvas)
        self.layer = layer
        self.gate = gate
        left, right = canvas.layout.gaps[layer]
        self.gap = right - left
        self.foot = max(canvas.layout.layers[number].bottom for number in (layer - 1, layer))
        self.setPos((left + right) / 2, 0)
        self.setZValue(1)
        self.setToolTip(gate.words)

    def boundingRect(self) -> QRectF:
        room = max(self.gap, PLUS) / 2
        high = self._words_rect().height() / self.canvas.small_zoom
        return QRectF(-room, min(-2.0, self.foot / 2 - high), 2 * room, max(self.foot + 4, 2 * high))

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.addRect(self.hot())
        return path

    def hot(self) -> QRectF:
        """What of it can be clicked (scene units, from its origin)."""
        box, small = self._words_rect(), self.canvas.small_zoom
        return QRectF(box.x() / small, self.foot / 2 + box.y() / small, box.width() / small, box.height() / small)

    def lines(self) -> tuple[str, ...]:
        """Its words, a line each; none where there is no room."""
        room = self.gap * self.canvas.small_zoom - 2 * _PAD
        if room + 2 * _PAD < _NARROW:
            return ()
        share = (self.gate.share,) if self.gate.share else ()
        return (*self.canvas.ink.wrap(texts.stop(self.gate.rule), "body", room, 4), *share)

    def _words_rect(self) -> QRectF:
        """The box of the words around the middle of the line, in px at 100 %."""
        lines = self.lines()
        if not lines:
            return QRectF(-10, -10, 20, 20)
        wide = self.gap * self.canvas.small_zoom - 4
        high = _LINE * len(lines) + 2 * _PAD
        return QRectF(-wide / 2, -high / 2, wide, high)

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        ink = self.canvas.ink
        small, _ = enter_units(painter, self.canvas.zoom)
        color = "accent" if self.hovered else "text3"
        painter.setPen(ink.pen(color, 1.5, _DASH))
        painter.drawLine(QLineF(0, 6, 0, self.foot * small))
        painter.translate(0, self.foot * small / 2)
        lines = self.lines()
        if not lines:
            _draw_diamond(painter, ink, color)
            if self.gate.share:
                wide = ink.width(self.gate.share, "body") + 4
                painter.fillRect(QRectF(-wide / 2, 9, wide, _LINE), ink.brush("canvas"))
                ink.text(painter, 0, 22, self.gate.share, color="text2", align="center")
            return
        box = self._words_rect()
        painter.setPen(ink.pen("accent" if self.hovered else "line2", 1))
        painter.setBrush(ink.brush("surface"))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        y = box.y() + _PAD + 12
        for line in lines:
            strong = bool(self.gate.share) and line is lines[-1]
            ink.text(painter, 0, y, line, "body", color="text" if strong else "text2", align="center")
            y += _LINE


def _draw_diamond(painter: QPainter, ink: Ink, color: str) -> None:
    painter.setPen(ink.pen(color, 1.5))
    painter.setBrush(ink.brush("surface"))
    painter.drawPolygon([QPointF(0, -7), QPointF(7, 0), QPointF(0, 7), QPointF(-7, 0)])


class TurnItem(QGraphicsItem):
    """The stop rule between two nodes that stand over one another: a short line, and the rule beside it."""

    def __init__(self, canvas: NetworkScene, space: Rect, gate: GateState, share: str) -> None:
        """``space`` is the one between the nodes, ``share`` how many pairs go on here."""
        super().__init__()
        self.canvas = canvas
        self.w, self.h = space.w, space.h
        self.gate = gate
        self.share = share
        self.setPos(space.x, space.y)
        self.setZValue(1)
        self.setToolTip(gate.words)

    def boundingRect(self) -> QRectF:
        return QRectF(0, -2, self.w, self.h + 4)

    def shape(self) -> QPainterPath:
        return QPainterPath()

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        ink = self.canvas.ink
        small, _ = enter_units(painter, self.canvas.zoom)
        w, h = self.w * small, self.h * small
        painter.setPen(ink.pen("text3", 1.5, _DASH))
        painter.drawLine(QLineF(12, h / 2, w - 12, h / 2))
        if h < 11:
            return
        share = f", {self.share}" if self.share else ""
        room = w - 24
        full = f"{texts.stop(self.gate.rule)}{share}"
        text = full if ink.width(full, "body") <= room else ink.elide(texts.stop(self.gate.rule), "body", room)
        wide = ink.width(text, "body") + 12
        painter.setPen(ink.pen("line2", 0))
        painter.fillRect(QRectF((w - wide) / 2, 0, wide, h), ink.brush("canvas"))
        ink.text(painter, w / 2, h / 2 + 4, text, "body", color="text2", align="center")


def gate_items(canvas: NetworkScene, network: NetworkState) -> list[ChromeItem]:
    """The gates between the columns of a network."""
    return [
        GateItem(canvas, number, layer.gate)
        for number, layer in enumerate(network.layers)
        if layer.gate is not None and number
    ]


def turn_items(canvas: NetworkScene, network: NetworkState, layout: Layout) -> list[QGraphicsItem]:
    """The notes between neurons that are asked in turn, and before the chair."""
    items: list[QGraphicsItem] = []
    for layer, plan in zip(network.layers, layout.layers, strict=True):
        if layer.between is None:
            continue
        rule = layer.between
        if plan.dense:
            below = Rect(plan.x, plan.bottom + 2, plan.block.w, 16)
            items.append(TurnItem(canvas, below, rule, rule.share))
        for row in range(0 if plan.dense else plan.count - 1):
            space = Rect(plan.x, row * plan.pitch + plan.node_h, plan.w, plan.pitch - plan.node_h)
            items.append(TurnItem(canvas, space, rule, rule.shares[row] if row < len(rule.shares) else ""))
    if network.chair_gate is not None and "chair" in layout.parts:
        vote, chair = layout.parts["vote"], layout.parts["chair"]
        space = Rect(chair.x, vote.bottom, chair.w, chair.y - vote.bottom)
        items.append(TurnItem(canvas, space, network.chair_gate, network.chair_gate.share))
    return items
