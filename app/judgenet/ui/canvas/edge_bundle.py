"""Edges: one item for each space between two columns, however many edges it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from judgenet.ui.canvas.layout import is_band
from judgenet.ui.canvas.model import Place
from judgenet.ui.canvas.node_item import enter_units

if TYPE_CHECKING:
    from judgenet.ui.canvas.scene import NetworkScene

BundleKind = Literal["input", "layers", "vote", "chair"]

SAMPLE: Final = 8
"""In a band, every eighth edge is drawn for the neuron under the mouse."""
SAMPLE_LIMIT: Final = 60
SAMPLE_ALPHA: Final = 0.28

CROWDED: Final = 36
"""With more edges in a bundle, what is delivered is drawn as lightly as the rest."""

FLOW_LIMIT: Final = 60
"""More flowing edges than these are lit, but do not move."""
FLOW_DASH: Final = (8.0, 4.0)
FLOW_STEP: Final = 24.0
"""px that the dashes move in one period."""


def add_edge(path: QPainterPath, x0: float, y0: float, x1: float, y1: float) -> None:
    """A cubic curve with its control points at half the gap; a straight line where both ends are level."""
    path.moveTo(x0, y0)
    if y0 == y1:
        path.lineTo(x1, y1)
    else:
        middle = (x0 + x1) / 2
        path.cubicTo(middle, y0, middle, y1, x1, y1)


class EdgeBundle(QGraphicsItem):
    """All edges between two columns, in their quiet state. Lit edges are drawn over it by :class:`LitEdges`."""

    def __init__(self, canvas: NetworkScene, kind: BundleKind, layer: int) -> None:
        """``layer`` is the layer that the edges lead to, or from for ``vote`` and ``chair``."""
        super().__init__()
        self.canvas = canvas
        self.kind = kind
        self.layer = layer
        self.band = False
        self.count = 0
        self._paths: dict[tuple[str, float], QPainterPath] = {}
        self._bounds = QRectF()
        self._corners: list[QPointF] = []
        self.setZValue(-2)
        self.rebuild()

    def boundingRect(self) -> QRectF:
        return self._bounds

    def shape(self) -> QPainterPath:
        return QPainterPath()

    def rebuild(self) -> None:
        """Reads the neurons' states again: which edges have delivered an answer and which lack one."""
        layout = self.canvas.layout
        plan = layout.layers[self.layer]
        self.prepareGeometryChange()
        self._paths = {}
        if self.kind == "input":
            x0, y0 = layout.input_port()
            self._fan(x0, y0, plan.left, into=True)
            self._bounds = QRectF(x0, min(y0, 0), plan.left - x0, max(plan.bottom, y0) - min(y0, 0))
        elif self.kind in ("vote", "chair"):
            rect = layout.parts["vote" if self.kind == "vote" else "chair"]
            self._fan(rect.x, rect.middle, plan.right, into=False)
            bottom = max(plan.bottom, rect.middle)
            self._bounds = QRectF(plan.right, 0, rect.x - plan.right, bottom)
        else:
            self._between()
        self._bounds.adjust(-2, -3, 2, 3)
        self.fit_cache()
        self.update()

    def fit_cache(self) -> None:
        """Caches the drawn edges as a picture where that saves time and memory allows it."""
        scale = self.canvas.zoom * self.canvas.pixel_ratio
        size = self._bounds.width() * self._bounds.height() * scale * scale
        cached = not self.band and self.count > 12 and size < 8e6 and not self.canvas.ink.vector
        mode = QGraphicsItem.CacheMode.DeviceCoordinateCache if cached else QGraphicsItem.CacheMode.NoCache
        if self.cacheMode() != mode:
            self.setCacheMode(mode)

    def _path(self, token: str, width: float) -> QPainterPath:
        key = (token, width)
        if key not in self._paths:
            self._paths[key] = QPainterPath()
        return self._paths[key]

    def _fan(self, x: float, y: float, layer_x: float, *, into: bool) -> None:
        plan = self.canvas.layout.layers[self.layer]
        states = self.canvas.states(self.layer)
        if plan.dense:
            phases = {state.phase for state in states}
            done = bool(phases - {"idle", "waiting"}) if into else phases <= {"scored", "unscored"}
            self._add(self._path("line2" if done else "edge", 1), x, y, layer_x, plan.bottom / 2, into)
            self.count = 1
            return
        self.count = plan.count
        for neuron, state in enumerate(states):
            if into:
                token = "edge" if state.phase in ("idle", "waiting") else "line2"
            elif state.phase == "unscored":
                continue
            else:
                token = "line2" if state.phase == "scored" else "edge"
            self._add(self._path(token, 1), x, y, layer_x, plan.port(neuron), into)

    @staticmethod
    def _add(path: QPainterPath, x: float, y: float, layer_x: float, port: float, into: bool) -> None:
        if into:
            add_edge(path, x, y, layer_x, port)
        else:
            add_edge(path, layer_x, port, x, y)

    def _between(self) -> None:
        canvas = self.canvas
        before, after = canvas.layout.layers[self.layer - 1], canvas.layout.layers[self.layer]
        wired = canvas.layer_state(self.layer)
        self.count = wired.edge_count
        self.band = is_band(wired)
        x0, x1 = before.right, after.left
        if self.band:
            left = x0 if before.dense else x0 + 4
            right = x1 if after.dense else x1 - 4
            corners = ((left, 0.0), (right, 0.0), (right, after.bottom), (left, before.bottom))
            self._corners = [QPointF(x, y) for x, y in corners]
            self._bounds = QRectF(left, 0, right - left, max(before.bottom, after.bottom))
            return
        self._bounds = QRectF(x0, 0, x1 - x0, max(before.bottom, after.bottom))
        sources = canvas.states(self.layer - 1)
        delivered = "line2" if self.count <= CROWDED else "edge"
        for target, state in enumerate(canvas.states(self.layer)):
            token = delivered if state.phase == "scored" else "edge"
            y1 = after.port(target)
            for source in wired.inputs[target]:
                if sources[source].phase == "unscored":
                    continue
                own = source == target
                add_edge(self._path(token, 2 if own else 1), x0, before.port(source), x1, y1)

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        canvas = self.canvas
        if self.band:
            self._paint_band(painter)
            return
        # Many thin lines on little room would become a wall.
        thin = (1.0 if self.count <= CROWDED else min(1.0, max(0.5, canvas.zoom))) / canvas.zoom
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if canvas.zooming and self.count > 200:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        # What is delivered lies over what is not, own edges over those of others.
        quiet = min(1.0, max(0.35, 60 / self.count)) if self.count else 1.0
        for (token, width), path in sorted(self._paths.items(), key=lambda item: (item[0][1], item[0][0])):
            painter.setPen(QPen(canvas.ink.mixed(token, quiet if width == 1 else 1.0), width * thin))
            painter.drawPath(path)

    def _paint_band(self, painter: QPainter) -> None:
        canvas = self.canvas
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(canvas.ink.brush("band"))
        top_left, top_right, bottom_right, bottom_left = self._corners
        painter.drawPolygon(QPolygonF(self._corners))
        painter.setPen(QPen(canvas.ink.color("line"), 1 / canvas.zoom))
        painter.drawLine(top_left, top_right)
        painter.drawLine(bottom_left, bottom_right)
        painter.translate((top_left.x() + top_right.x()) / 2, min(bottom_left.y(), bottom_right.y()))
        enter_units(painter, canvas.zoom)
        room = (top_right.x() - top_left.x()) * min(1.0, canvas.zoom)
        count = f"{self.count:,}"
        if room >= canvas.ink.width(count) + 8:
            word = canvas.layer_state(self.layer).wiring_word
            canvas.ink.text(painter, 0, -30, word, "strong", align="center")
            canvas.ink.text(painter, 0, -10, count, color="text2", align="center", tabular=True)


class LitEdges(QGraphicsItem):
    """The edges that flow or that touch the selection or the node under the mouse, over all bundles."""

    def __init__(self, canvas: NetworkScene) -> None:
        super().__init__()
        self.canvas = canvas
        self.setZValue(-1)
        self._still: dict[tuple[float, float], QPainterPath] = {}
        self._moving: dict[float, QPainterPath] = {}
        self._bounds = QRectF()
        self.offset = 0.0
        self.moving = False
        self.lit_targets: set[Place] = set()

    def boundingRect(self) -> QRectF:
        return self._bounds

    def shape(self) -> QPainterPath:
        return QPainterPath()

    def rebuild(self, touched: set[Place], flowing: set[Place]) -> None:
        """Lights the edges of the touched neurons, and those into the neurons that are writing."""
        self.prepareGeometryChange()
        self._still = {}
        self._moving = {}
        flow: list[tuple[Place, int]] = []
        done: set[tuple[int, int, int]] = set()
        for place in flowing:
            if place.layer and not self._banded(place.layer):
                flow += [(place, source) for source in self._sources(place)]
        moves = 0 < len(flow) <= FLOW_LIMIT and not self.canvas.theme.reduce_motion
        for place, source in flow:
            own = source == place.neuron
            path = self._moving_path(2.5 if own else 1.5) if moves else self._still_path(2.5 if own else 1.5)
            self._edge(path, place.layer, source, place.neuron)
            done.add((place.layer, source, place.neuron))
        for place in touched:
            self._touch(place, done)
        self.moving = bool(self._moving)
        bounds = QRectF()
        for path in [*self._still.values(), *self._moving.values()]:
            bounds = bounds.united(path.boundingRect())
        self._bounds = bounds.adjusted(-4, -4, 4, 4) if not bounds.isNull() else bounds
        self.update()

    def _sources(self, place: Place) -> list[int]:
        before = self.canvas.states(place.layer - 1)
        reads = self.canvas.layer_state(place.layer).inputs[place.neuron]
        return [source for source in reads if before[source].phase != "unscored"]

    def _banded(self, layer: int) -> bool:
        return is_band(self.canvas.layer_state(layer))

    def _touch(self, place: Place, done: set[tuple[int, int, int]]) -> None:
        layers = self.canvas.layout.layers
        if place.layer > 0:
            edges = [(source, place.neuron) for source in self._sources(place)]
            self._light(place.layer, edges, done)
        if place.layer + 1 < len(layers) and self.canvas.state(place).phase != "unscored":
            following = self.canvas.layer_state(place.layer + 1)
            edges = [(place.neuron, target) for target, reads in enumerate(following.inputs) if place.neuron in reads]
            self._light(place.layer + 1, edges, done)

    def _light(self, layer: int, edges: list[tuple[int, int]], done: set[tuple[int, int, int]]) -> None:
        banded = self._banded(layer)
        others = [edge for edge in edges if edge[0] != edge[1]]
        if banded:
            step = max(SAMPLE, -(-len(others) // SAMPLE_LIMIT))
            others = others[::step]
        for source, target in others:
            if (layer, source, target) not in done:
                path = self._still_path(1.0, SAMPLE_ALPHA) if banded else self._still_path(1.5)
                self._edge(path, layer, source, target)
        for source, target in edges:
            if source == target and (layer, source, target) not in done:
                self._edge(self._still_path(2.5), layer, source, target)

    def _edge(self, path: QPainterPath, layer: int, source: int, target: int) -> None:
        before, after = self.canvas.layout.layers[layer - 1], self.canvas.layout.layers[layer]
        add_edge(path, before.right, before.port(source), after.left, after.port(target))

    def _still_path(self, width: float, alpha: float = 1.0) -> QPainterPath:
        return self._still.setdefault((width, alpha), QPainterPath())

    def _moving_path(self, width: float) -> QPainterPath:
        return self._moving.setdefault(width, QPainterPath())

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        thin = 1 / self.canvas.zoom
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for (width, alpha), path in self._still.items():
            painter.setPen(QPen(self.canvas.ink.color("edgeLit", alpha), width * thin))
            painter.drawPath(path)
        for width, path in self._moving.items():
            pen = QPen(self.canvas.ink.color("edgeLit"), width * thin)
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            pen.setDashPattern([length / width for length in FLOW_DASH])
            pen.setDashOffset(-self.offset / width)
            painter.setPen(pen)
            painter.drawPath(path)
