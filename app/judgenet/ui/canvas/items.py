"""The items of a scene: nodes, edges, and what is around them, built anew whenever the layout changes."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QGraphicsItem

from judgenet.ui.canvas.chrome import (
    AddChairItem,
    ChromeItem,
    DragItem,
    HandleItem,
    HeaderItem,
    Loupe,
    PlusItem,
    StackLines,
    WorthItem,
)
from judgenet.ui.canvas.edge_bundle import EdgeBundle, LitEdges
from judgenet.ui.canvas.gate_item import GateItem, gate_items, turn_items
from judgenet.ui.canvas.model import NeuronState, Part, Place, Target
from judgenet.ui.canvas.node_item import BlockItem, NeuronItem, NodeItem, PartItem

if TYPE_CHECKING:
    from judgenet.ui.canvas.hit_test import Spot
    from judgenet.ui.canvas.scene import NetworkScene

_IN_HEADER: Final = frozenset({"header", "minus", "plus", "remove"})


class SceneItems:
    """Builds the items of a scene's layout, and finds and repaints them.

    Attributes:
        neurons: the nodes of layers that are not dense.
        blocks: dense layers by number.
        parts: pair, roles, vote, chair and verdict.
        chrome: headers, and the buttons and handles of the design.
        lit: the edges that flow or touch the selection.
        drag: what is shown while dragging.
        loupe: the full node beside a cell.
    """

    def __init__(self, canvas: NetworkScene) -> None:
        self._canvas = canvas
        self._all: list[QGraphicsItem] = []
        self.neurons: dict[Place, NeuronItem] = {}
        self.blocks: dict[int, BlockItem] = {}
        self.parts: dict[Part, PartItem] = {}
        self.chrome: list[ChromeItem] = []
        self._headers: dict[int | str | None, HeaderItem] = {}
        self._bundles: list[EdgeBundle] = []
        self.build()

    # Building

    def build(self) -> None:
        """Removes all items and makes those of the scene's layout."""
        # Items leave the scene before their references go: Qt must not keep an item that Python forgot.
        for item in self._all:
            self._canvas.removeItem(item)
        self._all = []
        self._build_edges()
        self._build_nodes()
        self._build_chrome()
        self.drag = DragItem(self._canvas)
        self.loupe = Loupe(self._canvas)
        self._add(self.drag)
        self._add(self.loupe)

    def _build_edges(self) -> None:
        canvas = self._canvas
        last = len(canvas.layout.layers) - 1
        self._bundles = [EdgeBundle(canvas, "input", 0)]
        self._bundles += [EdgeBundle(canvas, "layers", layer) for layer in range(1, last + 1)]
        self._bundles.append(EdgeBundle(canvas, "vote", last))
        if "chair" in canvas.layout.parts:
            self._bundles.append(EdgeBundle(canvas, "chair", last))
        for bundle in self._bundles:
            self._add(bundle)
        self._add(StackLines(canvas))
        self.lit = LitEdges(canvas)
        self._add(self.lit)

    def _build_nodes(self) -> None:
        canvas = self._canvas
        self.neurons = {}
        self.blocks = {}
        self.parts = {}
        for number, plan in enumerate(canvas.layout.layers):
            if plan.dense:
                block = self.blocks[number] = BlockItem(canvas, number, plan)
                block.setPos(plan.x, 0)
                self._add(block)
                continue
            for neuron in range(plan.count):
                place = Place(number, neuron)
                item = self.neurons[place] = NeuronItem(canvas, place, plan.w, plan.node_h)
                item.setPos(plan.x, neuron * plan.pitch)
                self._add(item)
        for part, rect in canvas.layout.parts.items():
            node = self.parts[part] = PartItem(canvas, part, rect.w, rect.h)
            node.setPos(rect.x, rect.y)
            self._add(node)

    def _build_chrome(self) -> None:
        canvas, layout, network = self._canvas, self._canvas.layout, self._canvas.ends
        self._headers = {}
        self.chrome = []
        for column in layout.columns:
            header = HeaderItem(canvas, column)
            self._headers[column.title if column.layer is None else column.layer] = header
            self.chrome.append(header)
        if network.mode == "design":
            for index in range(len(layout.gaps)):
                between = 0 < index < len(layout.layers)
                word = network.layers[index].wiring_word if between else ""
                if network.editable or word:
                    self.chrome.append(PlusItem(canvas, index, word))
            for number, rect in enumerate(layout.handles):
                if rect is not None:
                    self.chrome.append(HandleItem(canvas, number, rect))
            for number, rect in enumerate(layout.worths):
                if rect is not None:
                    self.chrome.append(WorthItem(canvas, number, rect))
            if layout.add_chair is not None:
                self.chrome.append(AddChairItem(canvas, layout.add_chair))
        self.chrome += gate_items(canvas, network)
        for item in self.chrome:
            self._add(item)
        for turn in turn_items(canvas, network, layout):
            self._add(turn)

    def _add(self, item: QGraphicsItem) -> None:
        self._canvas.addItem(item)
        self._all.append(item)

    # Changes

    def show_state(self, place: Place, old: NeuronState, new: NeuronState) -> bool:
        """Repaints a neuron whose state changed; True where the change is to fade in."""
        item = self.neurons.get(place)
        if item is not None:
            return item.change(old, new)
        self.blocks[place.layer].change(place.neuron)
        return False

    def show_count(self, layer: int) -> None:
        """Repaints how far a layer is."""
        if layer in self._headers and self._canvas.ends.mode == "run":
            self._headers[layer].update()
        if layer in self.blocks:
            self.blocks[layer].update_count()

    def rebuild_edges(self, layers: Set[int] | None = None) -> None:
        """Draws edges again: all of them, or only those into and out of the given layers."""
        for bundle in self._bundles:
            before = bundle.layer - 1 if bundle.kind == "layers" else bundle.layer
            if layers is None or (not bundle.band and layers & {before, bundle.layer}):
                bundle.rebuild()

    def repaint(self, target: Target) -> None:
        """Repaints a node, if it is there."""
        if not isinstance(target, Place):
            self.repaint_part(target)
            return
        item = self.neurons.get(target)
        if item is not None:
            item.update()
        elif target.layer in self.blocks and self._canvas.layout.has(target):
            self.blocks[target.layer].update_cell(target.neuron)

    def repaint_part(self, part: Part) -> None:
        """Repaints an end of the network, if it is there."""
        if part in self.parts:
            self.parts[part].update()

    def repaint_parts(self) -> None:
        """Repaints pair, roles, vote, chair and verdict."""
        for item in self.parts.values():
            item.update()

    def recolor(self) -> None:
        """Draws the cells again after a change of the theme or of what they are coloured by."""
        for block in self.blocks.values():
            block.recolor()
        for item in self.neurons.values():
            item.update()

    def refit(self) -> None:
        """Fits everything that depends on the zoom to the current one."""
        nodes: list[NodeItem] = [*self.neurons.values(), *self.parts.values()]
        for item in nodes:
            item.refit()
        for chrome in self.chrome:
            chrome.refit()
        for bundle in self._bundles:
            bundle.fit_cache()

    def show_marks(self, shown: bool) -> None:
        """Shows handles, buttons and marks, or leaves them out of a picture of the network."""
        for item in self.chrome:
            if not isinstance(item, HeaderItem | GateItem):
                item.setVisible(shown or (isinstance(item, PlusItem) and bool(item.word)))
        for marked in (self.lit, self.drag):
            marked.setVisible(shown)
        self.loupe.setVisible(shown and self.loupe.place is not None)

    def hover_chrome(self, spot: Spot) -> None:
        """Lights the button or the handle under the mouse, and no other."""
        for item in self.chrome:
            what = ""
            if isinstance(item, HeaderItem) and item.column.layer == spot.index and spot.kind in _IN_HEADER:
                what = spot.kind
            elif isinstance(item, PlusItem) and item.index == spot.index and spot.kind in ("add_layer", "wiring"):
                what = "add" if spot.kind == "add_layer" else "wiring"
            elif isinstance(item, HandleItem) and item.layer == spot.index and spot.kind == "handle":
                what = "handle"
            elif isinstance(item, GateItem) and item.layer == spot.index and spot.kind == "gate":
                what = "gate"
            elif isinstance(item, AddChairItem) and spot.kind == "add_chair":
                what = "add"
            item.hover(what)
