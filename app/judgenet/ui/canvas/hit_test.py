"""What is at a point of the canvas: nodes and what is on them, the buttons around them, edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QPointF

from judgenet.ui.canvas.chrome import AddChairItem, HandleItem, HeaderItem, PlusItem, WorthItem
from judgenet.ui.canvas.gate_item import GateItem
from judgenet.ui.canvas.layout import edge_at
from judgenet.ui.canvas.model import EdgeChange, Place, Target
from judgenet.ui.canvas.paint import fix_rect
from judgenet.ui.canvas.paint_ends import rule_rect

if TYPE_CHECKING:
    from judgenet.ui.canvas.scene import NetworkScene

SpotKind = Literal[
    "empty",
    "node",
    "fix",
    "rule",
    "port",
    "minus",
    "plus",
    "remove",
    "add_layer",
    "wiring",
    "gate",
    "handle",
    "add_chair",
    "header",
    "worth",
    "edge",
]


@dataclass(frozen=True, slots=True)
class Spot:
    """What is at a point of the canvas. ``index`` is a layer, or the place of a layer to be added."""

    kind: SpotKind
    target: Target | None = None
    index: int | None = None
    edge: EdgeChange | None = None
    outgoing: bool = True


def find_spot(canvas: NetworkScene, at: QPointF) -> Spot:
    """What is at a point."""
    x, y = at.x(), at.y()
    for item in canvas.chrome:
        if isinstance(item, HeaderItem) and item.column.layer is not None:
            part = item.part_at(x, y)
            if part:
                return Spot(part, index=item.column.layer)
            if item.sceneBoundingRect().contains(at) and y < 0:
                return Spot("header", index=item.column.layer)
        elif isinstance(item, PlusItem):
            what = item.part_at(x, y)
            if what:
                return Spot("add_layer" if what == "add" else "wiring", index=item.index)
        elif isinstance(item, GateItem) and canvas.editable and item.hot().contains(at - item.pos()):
            return Spot("gate", index=item.layer)
        elif isinstance(item, HandleItem) and item.rect.contains(x, y):
            return Spot("handle", index=item.layer)
        elif isinstance(item, WorthItem) and item.rect.contains(x, y):
            return Spot("worth", index=item.layer)
        elif isinstance(item, AddChairItem) and item.rect.contains(x, y):
            return Spot("add_chair")
    target = canvas.layout.target_at(x, y)
    if target is not None:
        return _spot_in(canvas, target, x, y)
    if canvas.editable:
        port = _port_near(canvas, x, y)
        if port is not None:
            return port
        for layer in range(1, len(canvas.layout.layers)):
            spot = edge_at(canvas.layout, canvas.ends, layer, x, y, 5 / canvas.zoom)
            if spot is not None:
                return Spot("edge", edge=EdgeChange(layer, *spot, connect=False))
    return Spot("empty")


def _spot_in(canvas: NetworkScene, target: Target, x: float, y: float) -> Spot:
    small, design = canvas.small_zoom, canvas.editable
    rect = canvas.layout.rect_of(target)
    at = QPointF((x - rect.x) * small, (y - rect.y) * small)
    w, h = rect.w * small, rect.h * small
    state = canvas.state(target) if isinstance(target, Place) else canvas.ends.chair if target == "chair" else None
    fixable = state is not None and state.problem is not None and bool(state.problem.fix)
    if fixable and h >= 88 and w >= 150 and fix_rect(w, h).contains(at):
        return Spot("fix", target)
    if target == "vote" and design and h >= 84 and rule_rect(w, h).contains(at):
        return Spot("rule", target)
    if design and isinstance(target, Place) and not canvas.layout.layers[target.layer].dense:
        near = min(10.0, w / 5)
        if abs(at.y() - h / 2) <= 14:
            if at.x() >= w - near and target.layer + 1 < len(canvas.layout.layers):
                return Spot("port", target)
            if at.x() <= near and target.layer > 0:
                return Spot("port", target, outgoing=False)
    return Spot("node", target)


def _port_near(canvas: NetworkScene, x: float, y: float) -> Spot | None:
    reach = 10 / canvas.zoom
    for number, plan in enumerate(canvas.layout.layers):
        if plan.dense:
            continue
        for side, edge in ((True, plan.x + plan.w), (False, plan.x)):
            outward = x - edge if side else edge - x
            if 0 <= outward <= reach and (number + 1 < len(canvas.layout.layers) if side else number > 0):
                row = round((y - plan.node_h / 2) / plan.pitch)
                if 0 <= row < plan.count and abs(plan.port(row) - y) <= reach:
                    return Spot("port", Place(number, row), outgoing=side)
    return None
