"""What is around the nodes: headers, the handles of the design, ghosts and lines while dragging, and the loupe."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from judgenet.ui.canvas import texts
from judgenet.ui.canvas.edge_bundle import add_edge
from judgenet.ui.canvas.layout import ColumnHeader, Rect
from judgenet.ui.canvas.model import LayerState, Place
from judgenet.ui.canvas.node_item import enter_units
from judgenet.ui.canvas.paint import Look, draw_neuron
from judgenet.ui.canvas.paint_ends import (
    PLUS,
    draw_add_chair,
    draw_ghost,
    draw_handle,
    draw_header,
    draw_plus,
    header_room,
    remove_rect,
    stepper_parts,
)

if TYPE_CHECKING:
    from judgenet.ui.canvas.scene import NetworkScene

HeaderPart = Literal["minus", "plus", "remove"]

LOUPE: Final = (176.0, 100.0)
LOUPE_GAP: Final = 13.0


def qt_rect(rect: Rect) -> QRectF:
    """A rectangle of the layout as Qt's."""
    return QRectF(rect.x, rect.y, rect.w, rect.h)


class ChromeItem(QGraphicsItem):
    """Base of the items around the nodes: they keep their size on the screen when zoomed out."""

    def __init__(self, canvas: NetworkScene) -> None:
        super().__init__()
        self.canvas = canvas
        self.hovered = ""

    def refit(self) -> None:
        """Fits the bounding rectangle to the current zoom."""
        self.prepareGeometryChange()

    def hover(self, what: str) -> None:
        """Sets which part of the item is under the mouse."""
        if what != self.hovered:
            self.hovered = what
            self.update()


def _widths(layer: LayerState) -> tuple[str, ...]:
    """The width of an adaptive layer in words, the longest first: n, where no pair tells."""
    return (layer.widths or (texts.ANY_WIDTH,)) if layer.adaptive else ()


class HeaderItem(ChromeItem):
    """A column's header; its origin is the baseline's left end."""

    def __init__(self, canvas: NetworkScene, column: ColumnHeader) -> None:
        super().__init__(canvas)
        self.column = column
        self.setPos(column.x, canvas.layout.head)

    def boundingRect(self) -> QRectF:
        small = self.canvas.small_zoom
        return QRectF(-2, -30 / small, self.column.w + 4, 54 / small)

    @property
    def editable(self) -> bool:
        """Whether the layer's width can be changed here."""
        layer = self.column.layer
        ends = self.canvas.ends
        return layer is not None and ends.mode == "design" and ends.editable and not ends.layers[layer].adaptive

    def part_at(self, x: float, y: float) -> HeaderPart | None:
        """What of the header's buttons is at a point (scene)."""
        small = self.canvas.small_zoom
        w = self.column.w * small
        if not self.editable or not header_room(w, True):
            return None
        at = QPointF((x - self.column.x) * small, (y - self.canvas.layout.head) * small)
        minus, plus = stepper_parts(w, 0)
        if minus.contains(at):
            return "minus"
        if plus.contains(at):
            return "plus"
        box = remove_rect(self.canvas.ink, self.column.title, 0)
        return "remove" if self._removable and box.contains(at) else None

    @property
    def _removable(self) -> bool:
        return self.editable and len(self.canvas.layout.layers) > 1

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        canvas = self.canvas
        small, _ = enter_units(painter, canvas.zoom)
        painter.translate(0, min(0, round(-canvas.layout.head * small) - 10))
        layer = self.column.layer
        design = canvas.ends.mode == "design"
        width = canvas.layout.layers[layer].count if layer is not None and design else None
        draw_header(
            painter,
            canvas.ink,
            self.column.w * small,
            0,
            self.column.title,
            width=width,
            count=canvas.count(layer) if layer is not None and not design else None,
            hovered=self.hovered,
            line=design and small > 0.6,
            varies=_widths(canvas.ends.layers[layer]) if layer is not None else (),
            can_shrink=(width or 0) > 1,
            fixed=not self.editable or canvas.exporting,
            removable=self._removable and bool(self.hovered) and header_room(self.column.w * small, True),
        )


class PlusItem(ChromeItem):
    """The round + between two columns, and the wiring's word below it."""

    def __init__(self, canvas: NetworkScene, index: int, word: str) -> None:
        """``index`` is the place of the layer that it adds."""
        super().__init__(canvas)
        self.index = index
        self.word = word
        left, right = canvas.layout.gaps[index]
        self.gap = right - left
        self.setPos((left + right) / 2, canvas.layout.head)

    def boundingRect(self) -> QRectF:
        small = self.canvas.small_zoom
        return QRectF(-self.gap / 2 / small, -20 / small, self.gap / small, 54 / small)

    @property
    def shown(self) -> bool:
        """Whether there is room for it."""
        return self.gap * self.canvas.small_zoom >= PLUS + 2 and not self.canvas.exporting

    def part_at(self, x: float, y: float) -> str:
        """``add`` on the circle, ``wiring`` on the word, else empty."""
        small = self.canvas.small_zoom
        dx, dy = (x - self.x()) * small, (y - self.y()) * small
        if self.shown and abs(dx) <= 14 and abs(dy + 5) <= 14:
            return "add"
        return "wiring" if self.word and abs(dx) <= 28 and 14 <= dy <= 36 and small > 0.6 else ""

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        small, _ = enter_units(painter, self.canvas.zoom)
        if self.shown:
            draw_plus(painter, self.canvas.ink, 0, -5, self.hovered == "add")
        if self.word and small > 0.6:
            color = "text" if self.hovered == "wiring" else "text3"
            self.canvas.ink.text(painter, 0, 29, self.word, color=color, align="center")


class _RectItem(ChromeItem):
    """A rectangle of the design at 100 % that :meth:`draw` fills."""

    def __init__(self, canvas: NetworkScene, rect: Rect) -> None:
        super().__init__(canvas)
        self.rect = rect
        self.setPos(rect.x, rect.y)

    def boundingRect(self) -> QRectF:
        return QRectF(-1, -1, self.rect.w + 2, self.rect.h + 2)

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        small, pixel = enter_units(painter, self.canvas.zoom)
        w, h = round(self.rect.w * small * pixel) / pixel, round(self.rect.h * small * pixel) / pixel
        self.draw(painter, w, h, small)

    def draw(self, painter: QPainter, w: float, h: float, small: float) -> None:
        """Draws the item ``w`` × ``h`` px large; ``small`` is the zoom, at most 1."""
        raise NotImplementedError


class HandleItem(_RectItem):
    """The handle that changes a layer's width."""

    def __init__(self, canvas: NetworkScene, layer: int, rect: Rect) -> None:
        super().__init__(canvas, rect)
        self.layer = layer

    def draw(self, painter: QPainter, w: float, h: float, small: float) -> None:
        draw_handle(painter, self.canvas.ink, w, h, Look(hovered=bool(self.hovered)))


class WorthItem(_RectItem):
    """What the votes of a layer are worth, a line below it."""

    def __init__(self, canvas: NetworkScene, layer: int, rect: Rect) -> None:
        super().__init__(canvas, rect)
        self.layer = layer

    def draw(self, painter: QPainter, w: float, h: float, small: float) -> None:
        if small > 0.6:
            ink, room = self.canvas.ink, self.rect.w * small
            wordings = self.canvas.ends.layers[self.layer].worth
            text = next((text for text in wordings if ink.width(text, tabular=True) <= room), wordings[-1])
            ink.text(painter, 0, 14 * small, text, color="text2", room=room, tabular=True)


class AddChairItem(_RectItem):
    """The dashed place where a chair is added."""

    def draw(self, painter: QPainter, w: float, h: float, small: float) -> None:
        draw_add_chair(painter, self.canvas.ink, w, h, Look(hovered=bool(self.hovered)))


class StackLines(QGraphicsItem):
    """The short lines between nodes that stand over one another: pair to roles, vote to chair to verdict."""

    def __init__(self, canvas: NetworkScene) -> None:
        super().__init__()
        self.canvas = canvas
        self.setZValue(-2)
        parts = canvas.layout.parts
        stacks = (["pair", "roles"], ["vote", "chair", "verdict"])
        self._lines: list[tuple[QLineF, str]] = []
        for stack in stacks:
            rects = [parts[part] for part in stack if part in parts]
            for upper, lower in pairwise(rects):
                x = upper.x + upper.w / 2
                line = QLineF(x, upper.bottom, x, lower.y)
                self._lines.append((line, "line2" if stack[0] == "pair" else "edge"))

    def boundingRect(self) -> QRectF:
        bounds = self.canvas.layout.bounds
        return QRectF(bounds.x, bounds.y, bounds.w, bounds.h)

    def shape(self) -> QPainterPath:
        return QPainterPath()

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        for line, token in self._lines:
            painter.setPen(QPen(self.canvas.ink.color(token), 1 / self.canvas.zoom))
            painter.drawLine(line)


class DragItem(QGraphicsItem):
    """What is shown while dragging: ghosts of coming neurons, crossed-out ones, a snap line, or a new edge."""

    def __init__(self, canvas: NetworkScene) -> None:
        super().__init__()
        self.canvas = canvas
        self.setZValue(5)
        self._ghosts: list[QRectF] = []
        self._going: list[QRectF] = []
        self._snap: QLineF | None = None
        self._edge: QPainterPath | None = None
        self._band: QRectF | None = None

    def boundingRect(self) -> QRectF:
        rects = [*self._ghosts, *self._going]
        if self._snap is not None:
            rects.append(QRectF(self._snap.p1(), self._snap.p2()).normalized())
        if self._edge is not None:
            rects.append(self._edge.boundingRect())
        if self._band is not None:
            rects.append(self._band)
        bounds = QRectF()
        for rect in rects:
            bounds = bounds.united(rect.adjusted(-8, -8, 8, 8))
        return bounds

    def shape(self) -> QPainterPath:
        return QPainterPath()

    def clear(self) -> None:
        """Shows nothing."""
        self.show_width([], [])

    def show_width(self, ghosts: list[Rect], going: list[Rect]) -> None:
        """Ghosts of neurons that come, and of those that go."""
        self._set(ghosts=[qt_rect(rect) for rect in ghosts], going=[qt_rect(rect) for rect in going])

    def show_snap(self, x0: float, x1: float, y: float) -> None:
        """The line where a dragged neuron will be put."""
        self._set(snap=QLineF(x0, y, x1, y))

    def show_edge(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """An edge from a port to the mouse or to a node."""
        path = QPainterPath()
        add_edge(path, x0, y0, x1, y1)
        self._set(edge=path)

    def show_band(self, band: QRectF) -> None:
        """The rectangle that selects what it touches."""
        self._set(band=band)

    def _set(
        self,
        *,
        ghosts: list[QRectF] | None = None,
        going: list[QRectF] | None = None,
        snap: QLineF | None = None,
        edge: QPainterPath | None = None,
        band: QRectF | None = None,
    ) -> None:
        self.prepareGeometryChange()
        self._ghosts = ghosts or []
        self._going = going or []
        self._snap = snap
        self._edge = edge
        self._band = band
        self.update()

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        ink = self.canvas.ink
        thin = 1 / self.canvas.zoom
        for box in self._ghosts:
            draw_ghost(painter, ink, box)
        painter.setBrush(ink.brush("canvas", 0.75))
        painter.setPen(Qt.PenStyle.NoPen)
        for box in self._going:
            painter.drawRect(box.adjusted(-2, -2, 2, 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(ink.color("accent"), 2 * thin))
        if self._snap is not None:
            painter.drawLine(self._snap)
        if self._edge is not None:
            painter.drawPath(self._edge)
        if self._band is not None:
            painter.setPen(QPen(ink.color("accent"), thin))
            painter.setBrush(ink.brush("accent", 0.08))
            painter.drawRect(self._band)


class Loupe(QGraphicsItem):
    """The full node of a cell, beside it and tied to it by a line, at its full size on the screen."""

    def __init__(self, canvas: NetworkScene) -> None:
        super().__init__()
        self.canvas = canvas
        self.place: Place | None = None
        self.setZValue(4)
        self.setVisible(False)
        self._side = 1

    def show_place(self, place: Place | None, *, right_edge: float) -> None:
        """Shows a neuron, or nothing; left of its cell where the right of it would pass ``right_edge`` (scene)."""
        self.prepareGeometryChange()
        self.place = place
        if place is None:
            self.setVisible(False)
            return
        rect = self.canvas.layout.rect_of(place)
        small = self.canvas.small_zoom
        self._side = 1 if rect.right + (LOUPE_GAP + LOUPE[0]) / small <= right_edge else -1
        self.setPos(rect.right + 2 if self._side > 0 else rect.x - 2, rect.middle)
        self.setVisible(True)
        self.update()

    def boundingRect(self) -> QRectF:
        small = self.canvas.small_zoom
        w, h = (LOUPE[0] + LOUPE_GAP + 8) / small, (LOUPE[1] + 12) / small
        return QRectF(-2 if self._side > 0 else -w + 2, -h / 2, w, h)

    def shape(self) -> QPainterPath:
        return QPainterPath()

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        if self.place is None or not self.canvas.layout.has(self.place):
            return
        ink = self.canvas.ink
        enter_units(painter, self.canvas.zoom)
        painter.setPen(ink.pen("accent", 2))
        painter.drawLine(QPointF(0, 0), QPointF(LOUPE_GAP * self._side, 0))
        painter.translate(LOUPE_GAP if self._side > 0 else -LOUPE_GAP - LOUPE[0], -LOUPE[1] / 2)
        state = self.canvas.timed(self.canvas.state(self.place))
        draw_neuron(painter, ink, *LOUPE, state, Look(selected=True, turn=self.canvas.turn))


def ghost_rects(canvas: NetworkScene, layer: int, width: int) -> tuple[list[Rect], list[Rect]]:
    """The rectangles of neurons that come and that go when a layer gets another width, at most a screenful."""
    plan = canvas.layout.layers[layer]
    if plan.dense:
        if width >= plan.count:
            coming = [plan.rect(i) for i in range(plan.count, min(width, plan.count + 400))]
            return coming, []
        return [], [plan.rect(i) for i in range(width, plan.count)]
    coming = [Rect(plan.x, i * plan.pitch, plan.w, plan.node_h) for i in range(plan.count, min(width, plan.count + 24))]
    return coming, [plan.rect(i) for i in range(width, plan.count)]
