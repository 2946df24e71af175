"""The scene: draws a :class:`NetworkState`, takes single changes cheaply, and says what the user asks for.

The scene never changes the network. Gestures end in signals; the owner changes the network and hands over a new state.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QGraphicsItem,
    QGraphicsScene,
    QGraphicsSceneContextMenuEvent,
    QGraphicsSceneMouseEvent,
)

from judgenet.ui.canvas.chrome import (
    AddChairItem,
    ChromeItem,
    DragItem,
    HandleItem,
    HeaderItem,
    Loupe,
    PlusItem,
    StackLines,
)
from judgenet.ui.canvas.edge_bundle import FLOW_STEP, EdgeBundle, LitEdges
from judgenet.ui.canvas.gestures import Gesture, begin_gesture
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.keys import handle_key
from judgenet.ui.canvas.layout import Base, Layout, compute
from judgenet.ui.canvas.model import (
    CellColor,
    EdgeChange,
    LayerState,
    MenuRequest,
    NetworkState,
    NeuronState,
    PairState,
    Part,
    Place,
    RolesState,
    Tally,
    Target,
    VerdictState,
    VoteState,
    tally,
)
from judgenet.ui.canvas.node_item import BlockItem, NeuronItem, NodeItem, PartItem
from judgenet.ui.canvas.paint import Look
from judgenet.ui.canvas.spots import Spot, find_spot
from judgenet.ui.clock import monotonic
from judgenet.ui.theme import Theme
from judgenet.ui.tokens import MOTION_SPIN, MOTION_WRITE

FRAME: Final = 33
"""Changes are painted at most once in so many ms (30 Hz)."""
TICK: Final = 40
"""ms between two pictures of what turns or flows."""
COUNT_TICKS: Final = 5
"""Running seconds are written anew every so many ticks."""

_IN_HEADER: Final = frozenset({"header", "minus", "plus", "remove"})


class NetworkScene(QGraphicsScene):
    """The network as a picture.

    Signals, all about what the user did or asks for (places are 0-based):
        neuron_selected: :class:`Place` or ``None``: the neuron that the inspector shows.
        part_selected: a :data:`Part`: another node was chosen.
        selection_changed: ``frozenset[Place]``.
        node_activated: a :data:`Target`: Enter or double click.
        hovered: a :data:`Target` or ``None``.
        current_changed: a :data:`Target` or ``None``: where the keyboard is.
        width_requested: layer, number of neurons.
        layer_add_requested: the place of the new layer.
        layer_remove_requested: layer.
        neuron_move_requested: layer, from place, to place.
        edge_toggle_requested: :class:`EdgeChange`.
        edge_selected: :class:`EdgeChange` (with ``connect=False``) or ``None``.
        delete_requested: ``frozenset[Place]``.
        mend_requested: a :data:`Target` whose link was clicked.
        wiring_requested: layer whose wiring is to be chosen, x and y on the screen.
        rule_requested: x and y on the screen where the rules are to be shown.
        chair_add_requested, search_requested: no value.
        menu_requested: :class:`MenuRequest`.
    """

    neuron_selected = Signal(object)
    part_selected = Signal(object)
    selection_changed = Signal(object)
    node_activated = Signal(object)
    hovered = Signal(object)
    current_changed = Signal(object)
    width_requested = Signal(int, int)
    layer_add_requested = Signal(int)
    layer_remove_requested = Signal(int)
    neuron_move_requested = Signal(int, int, int)
    edge_toggle_requested = Signal(object)
    edge_selected = Signal(object)
    delete_requested = Signal(object)
    mend_requested = Signal(object)
    wiring_requested = Signal(int, int, int)
    rule_requested = Signal(int, int)
    chair_add_requested = Signal()
    search_requested = Signal()
    menu_requested = Signal(object)
    rebuilt = Signal()
    """The nodes stand elsewhere now (for views)."""
    repainted = Signal()
    """Neurons have changed (for the mini-map)."""
    cursor_wanted = Signal(object)
    """The mouse's shape over what is under it (for views)."""

    def __init__(self, theme: Theme, network: NetworkState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.ink = Ink.of(theme)
        self.zoom = 1.0
        self.pixel_ratio = theme.scale
        self.zooming = False
        self.exporting = False
        self.turn = 0.0
        self.visible_right = float("inf")
        """Scene x of the viewport's right edge, so that the loupe stays in view."""
        self._base: Base = "full"
        self._cell_color: CellColor = "verdict"
        self.ends = network
        """The network without its neurons' newest states: use :attr:`network` for all of it."""
        self._states: list[list[NeuronState]] = []
        self._counts: list[Tally] = []
        self._selection: frozenset[Place] = frozenset()
        self._current: Target | None = None
        self._hover: Target | None = None
        self._edge: EdgeChange | None = None
        self._hovered_edge: EdgeChange | None = None
        self._focus_shown = False
        self._anchor: Place | None = None
        self._gesture: Gesture | None = None
        self._pending: dict[Place, NeuronState] = {}
        self._flushed_at = 0.0
        self._timer = QTimer(self)
        self._timer.setObjectName("canvas flush")
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.flush)
        self._ticker = QTimer(self)
        self._ticker.setObjectName("canvas ticker")
        self._ticker.setInterval(TICK)
        self._ticker.timeout.connect(self._tick)
        self._ticks = 0
        self._live: set[Place] = set()
        self._fading: set[Place] = set()
        self._stale_edges: set[Place] = set()
        self._neurons: dict[Place, NeuronItem] = {}
        self._blocks: dict[int, BlockItem] = {}
        self._parts: dict[Part, PartItem] = {}
        self._bundles: list[EdgeBundle] = []
        self._headers: dict[int | str | None, HeaderItem] = {}
        self._chrome: list[ChromeItem] = []
        self._kept: list[QGraphicsItem] = []
        self._targets: list[Target] | None = None
        self.layout: Layout = compute(network, self._base)
        self._build()

    # What the scene shows

    @property
    def theme(self) -> Theme:
        """The theme it is drawn in."""
        return self._theme

    @property
    def network(self) -> NetworkState:
        """Everything that is shown, with the newest states."""
        layers = tuple(
            replace(layer, neurons=tuple(states)) for layer, states in zip(self.ends.layers, self._states, strict=True)
        )
        return replace(self.ends, layers=layers)

    @property
    def small_zoom(self) -> float:
        """The zoom, at most 1: by so much boxes are smaller than their letters."""
        return min(1.0, self.zoom)

    @property
    def base(self) -> Base:
        """The form of the nodes at 100 %."""
        return self._base

    @property
    def cell_color(self) -> CellColor:
        """What the cells of dense layers are coloured by."""
        return self._cell_color

    @property
    def selection(self) -> frozenset[Place]:
        """The selected neurons."""
        return self._selection

    @property
    def current(self) -> Target | None:
        """Where the keyboard is."""
        return self._current

    @property
    def focus_shown(self) -> bool:
        """Whether the ring of the keyboard is shown."""
        return self._focus_shown

    @property
    def selected_edge(self) -> EdgeChange | None:
        """The edge that was clicked."""
        return self._edge

    @property
    def targets(self) -> list[Target]:
        """All nodes in the order of reading."""
        if self._targets is None:
            self._targets = self.layout.targets()
        return self._targets

    def state(self, place: Place) -> NeuronState:
        """The newest painted state of a neuron."""
        return self._states[place.layer][place.neuron]

    def states(self, layer: int) -> list[NeuronState]:
        """The newest painted states of a layer."""
        return self._states[layer]

    def layer_state(self, layer: int) -> LayerState:
        """A layer's wiring; its neurons may be older than :meth:`states`."""
        return self.ends.layers[layer]

    def count(self, layer: int) -> Tally:
        """How far a layer is."""
        return self._counts[layer]

    def timed(self, state: NeuronState) -> NeuronState:
        """A state with its running seconds up to now."""
        if state.since is None or state.phase not in ("asked", "writing"):
            return state
        return replace(state, seconds=max(0.0, monotonic() - state.since))

    def look_of(self, target: Target) -> Look:
        """How a node is marked."""
        if self.exporting:
            return Look()
        if isinstance(target, Place):
            selected = target in self._selection
            turn = self.turn
        else:
            selected = not self._selection and target == self._current and self._edge is None
            turn = 0.0
        focused = self._focus_shown and target == self._current
        return Look(selected, focused, target == self._hover, turn)

    def marked(self, layer: int) -> list[Place]:
        """The neurons of a layer that are selected, focused or under the mouse."""
        if self.exporting:
            return []
        places = {place for place in self._selection if place.layer == layer}
        for target in (self._hover, self._current if self._focus_shown else None):
            if isinstance(target, Place) and target.layer == layer:
                places.add(target)
        return sorted(places)

    # Changes from outside

    def set_network(self, network: NetworkState) -> None:
        """Shows another state. Nodes are placed anew only where the shape differs."""
        self._pending.clear()
        if network.shape != self.ends.shape:
            self.ends = network
            self._rebuild()
            return
        old = self.ends
        self.ends = network
        changed: list[Place] = []
        for number, layer in enumerate(network.layers):
            for place, state in enumerate(layer.neurons):
                if state is not self._states[number][place] and state != self._states[number][place]:
                    self._set_state(Place(number, place), state)
                    changed.append(Place(number, place))
        self._after(changed)
        for part, same in (
            ("pair", network.pair == old.pair),
            ("roles", network.roles == old.roles),
            ("vote", network.vote == old.vote),
            ("verdict", network.verdict == old.verdict),
            ("chair", network.chair == old.chair),
        ):
            if not same and part in self._parts:
                self._parts[part].update()

    def update_neuron(self, layer: int, neuron: int, state: NeuronState) -> None:
        """Takes one neuron's new state. Painted together with others, at most 30 times a second."""
        self._pending[Place(layer, neuron)] = state
        if not self._timer.isActive():
            since = (time.monotonic() - self._flushed_at) * 1000
            self._timer.start(max(0, round(FRAME - since)))

    def update_pair(self, pair: PairState) -> None:
        """Shows another pair."""
        self._update_end("pair", replace(self.ends, pair=pair))

    def update_roles(self, roles: RolesState) -> None:
        """Shows other roles; the number of lines must stay."""
        self._update_end("roles", replace(self.ends, roles=roles))

    def update_vote(self, vote: VoteState) -> None:
        """Shows another state of the vote."""
        self._update_end("vote", replace(self.ends, vote=vote))

    def update_verdict(self, verdict: VerdictState) -> None:
        """Shows another verdict."""
        self._update_end("verdict", replace(self.ends, verdict=verdict))

    def update_chair(self, chair: NeuronState) -> None:
        """Shows another state of the chair; there must be one."""
        self._update_end("chair", replace(self.ends, chair=chair))

    def _update_end(self, part: Part, network: NetworkState) -> None:
        moved = network.shape != self.ends.shape
        self.ends = network
        if moved:
            self.ends = self.network
            self._rebuild()
        elif part in self._parts:
            self._parts[part].update()

    def flush(self) -> None:
        """Takes over all waiting changes now."""
        self._timer.stop()
        self._flushed_at = time.monotonic()
        pending, self._pending = self._pending, {}
        changed = []
        for place, state in pending.items():
            if self.layout.has(place) and state != self.state(place):
                self._set_state(place, state)
                changed.append(place)
        self._after(changed)

    def _set_state(self, place: Place, state: NeuronState) -> None:
        old = self._states[place.layer][place.neuron]
        self._states[place.layer][place.neuron] = state
        item = self._neurons.get(place)
        if item is not None:
            if item.set_state(state):
                self._fading.add(place)
        else:
            self._blocks[place.layer].set_state(place.neuron, state)
        if state.phase in ("asked", "writing"):
            self._live.add(place)
        else:
            self._live.discard(place)
        if state.phase != old.phase:
            self._stale_edges.add(place)

    def _after(self, changed: list[Place]) -> None:
        if not changed:
            return
        for layer in {place.layer for place in changed}:
            self._recount(layer)
        if self._loupe.place in changed:
            self._loupe.update()
        stale, self._stale_edges = self._stale_edges, set()
        if stale:
            layers = {place.layer for place in stale}
            for bundle in self._bundles:
                before = bundle.layer - 1 if bundle.kind == "layers" else bundle.layer
                if not bundle.band and layers & {before, bundle.layer}:
                    bundle.rebuild()
            self._relight()
        self._run_ticker()
        self.repainted.emit()

    def _recount(self, layer: int) -> None:
        count = tally([state.box for state in self._states[layer]])
        if count == self._counts[layer]:
            return
        self._counts[layer] = count
        if layer in self._headers and self.ends.mode == "run":
            self._headers[layer].update()
        if layer in self._blocks:
            self._blocks[layer].set_count(count)

    def set_theme(self, theme: Theme) -> None:
        """Draws in another theme."""
        self._theme = theme
        self.ink = Ink.of(theme)
        for block in self._blocks.values():
            block.recolor()
        self._relight()
        for bundle in self._bundles:
            bundle.rebuild()
        self.update()

    def set_base(self, base: Base) -> None:
        """Sets the form that nodes have at 100 %."""
        if base != self._base:
            self._base = base
            self.ends = self.network
            self._rebuild()

    def set_cell_color(self, color: CellColor) -> None:
        """Sets what the cells of dense layers are coloured by."""
        self._cell_color = color
        for block in self._blocks.values():
            block.recolor()
        for item in self._neurons.values():
            item.update()

    def set_zoom(self, zoom: float, pixel_ratio: float, *, moving: bool = False) -> None:
        """Tells the scene its scale, 1 is 100 %; ``pixel_ratio``: device pixels a px; ``moving``: it animates."""
        if zoom == self.zoom and pixel_ratio == self.pixel_ratio and moving == self.zooming:
            return
        self.zoom = zoom
        self.pixel_ratio = pixel_ratio
        self.zooming = moving
        items: list[NodeItem] = [*self._neurons.values(), *self._parts.values()]
        for item in items:
            item.refit()
        for chrome in self._chrome:
            chrome.refit()
        for bundle in self._bundles:
            bundle.fit_cache()
        if self._loupe.place is not None:
            self._show_loupe()

    def set_exporting(self, exporting: bool) -> None:
        """Leaves out marks, handles and buttons, and draws all as lines, while a picture of the network is made."""
        self.exporting = exporting
        self.ink.vector = exporting
        for item in self._chrome:
            if not isinstance(item, HeaderItem):
                item.setVisible(not exporting or (isinstance(item, PlusItem) and bool(item.word)))
        for marked in (self._lit, self._drag):
            marked.setVisible(not exporting)
        self._loupe.setVisible(not exporting and self._loupe.place is not None)

    # Building

    def _rebuild(self) -> None:
        self.layout = compute(self.ends, self._base)
        self._selection = frozenset(place for place in self._selection if self.layout.has(place))
        if self._current is not None and not self.layout.has(self._current):
            self._current = self._clamped(self._current)
        self._targets = None
        self._hover = None
        self._edge = None
        self._hovered_edge = None
        self._gesture = None
        self._build()
        self.rebuilt.emit()

    def _clamped(self, target: Target) -> Target | None:
        if not isinstance(target, Place):
            return None
        layer = min(target.layer, len(self.layout.layers) - 1)
        return Place(layer, max(0, min(target.neuron, self.layout.layers[layer].count - 1)))

    def _build(self) -> None:
        # Items leave the scene before their references go: Qt must not keep an item that Python forgot.
        for item in self._kept:
            self.removeItem(item)
        self._kept = []
        layout, network = self.layout, self.ends
        self._states = [list(layer.neurons) for layer in network.layers]
        self._counts = [tally([state.box for state in states]) for states in self._states]
        self._live = {
            Place(number, place)
            for number, states in enumerate(self._states)
            for place, state in enumerate(states)
            if state.phase in ("asked", "writing")
        }
        self._fading = set()
        self._stale_edges = set()
        self._neurons = {}
        self._blocks = {}
        self._build_edges()
        for number, plan in enumerate(layout.layers):
            if plan.dense:
                block = self._blocks[number] = BlockItem(self, number, plan, list(self._states[number]))
                block.count = self._counts[number]
                block.setPos(plan.x, 0)
                self._keep(block)
                continue
            for neuron, state in enumerate(self._states[number]):
                place = Place(number, neuron)
                item = self._neurons[place] = NeuronItem(self, place, plan.w, plan.node_h, state)
                item.setPos(plan.x, neuron * plan.pitch)
                self._keep(item)
        self._parts = {}
        for part, rect in layout.parts.items():
            node = self._parts[part] = PartItem(self, part, rect.w, rect.h)
            node.setPos(rect.x, rect.y)
            self._keep(node)
        self._build_chrome()
        self._drag = DragItem(self)
        self._loupe = Loupe(self)
        self._keep(self._drag)
        self._keep(self._loupe)
        self._relight()
        bounds = layout.bounds.grown(48)
        self.setSceneRect(QRectF(bounds.x, bounds.y, bounds.w, bounds.h))
        self._run_ticker()

    def _build_edges(self) -> None:
        last = len(self.layout.layers) - 1
        self._bundles = [EdgeBundle(self, "input", 0)]
        self._bundles += [EdgeBundle(self, "layers", layer) for layer in range(1, last + 1)]
        self._bundles.append(EdgeBundle(self, "vote", last))
        if "chair" in self.layout.parts:
            self._bundles.append(EdgeBundle(self, "chair", last))
        for bundle in self._bundles:
            self._keep(bundle)
        self._keep(StackLines(self))
        self._lit = LitEdges(self)
        self._keep(self._lit)

    def _build_chrome(self) -> None:
        layout, network = self.layout, self.ends
        self._headers = {}
        self._chrome = []
        for column in layout.columns:
            header = HeaderItem(self, column)
            self._headers[column.title if column.layer is None else column.layer] = header
            self._chrome.append(header)
        if network.mode == "design":
            for index in range(len(layout.gaps)):
                between = 0 < index < len(layout.layers)
                word = network.layers[index].wiring_word if between else ""
                if network.editable or word:
                    self._chrome.append(PlusItem(self, index, word))
            for number, rect in enumerate(layout.handles):
                if rect is not None:
                    self._chrome.append(HandleItem(self, number, rect))
            if layout.add_chair is not None:
                self._chrome.append(AddChairItem(self, layout.add_chair))
        for item in self._chrome:
            self._keep(item)

    def _keep(self, item: QGraphicsItem) -> None:
        self.addItem(item)
        self._kept.append(item)

    # Motion

    def _run_ticker(self) -> None:
        moving = bool(self._fading) or self._lit.moving or bool(self._live)
        if moving and not self._ticker.isActive():
            self._ticker.start()
        elif not moving and self._ticker.isActive():
            self._ticker.stop()

    def wake(self) -> None:
        """Lets what turns and flows go on: a view is seen again."""
        self._run_ticker()

    def _tick(self) -> None:
        if not any(view.isVisible() for view in self.views()):
            self._ticker.stop()
            return
        self._ticks += 1
        still = self._theme.reduce_motion
        if not still:
            now = self._ticks * TICK
            self.turn = (now % MOTION_SPIN) / MOTION_SPIN
            for place in self._live:
                item = self._neurons.get(place)
                if item is not None and self.zoom >= 0.55:
                    item.update_slot()
            for place in list(self._fading):
                faded = self._neurons.get(place)
                if faded is not None:
                    faded.update()
                if faded is None or not faded.fading:
                    self._fading.discard(place)
            if self._lit.moving:
                self._lit.offset = (now % MOTION_WRITE) / MOTION_WRITE * FLOW_STEP
                self._lit.update()
        if self._ticks % COUNT_TICKS == 0:
            for place in self._live:
                counting = self._neurons.get(place)
                if counting is not None and counting.state.since is not None:
                    counting.update()
            if self._loupe.place in self._live:
                self._loupe.update()
        self._run_ticker()

    def _relight(self) -> None:
        touched = set(self._selection)
        for target in (self._hover, self._current if self._focus_shown else None):
            if isinstance(target, Place):
                touched.add(target)
        flowing = {place for place in self._live if self.state(place).phase == "writing"}
        self._lit.rebuild(touched, flowing)

    # Selection and focus

    def select(self, target: Target | None, *, add: bool = False, extend: bool = False) -> None:
        """Selects a node as the user would, and tells it. ``add`` toggles it, ``extend`` takes all up to it."""
        if isinstance(target, Place):
            if add:
                chosen = self._selection ^ {target}
            elif extend and self._anchor is not None and self._anchor.layer == target.layer:
                low, high = sorted((self._anchor.neuron, target.neuron))
                chosen = self._selection | {Place(target.layer, i) for i in range(low, high + 1)}
            else:
                chosen = frozenset({target})
            if not extend:
                self._anchor = target
            self.set_selection(chosen)
            self.set_current(target)
            self.neuron_selected.emit(target if target in chosen else None)
            return
        self.set_selection(frozenset())
        self.set_current(target)
        if target is None:
            self.neuron_selected.emit(None)
        else:
            self.part_selected.emit(target)

    def set_selection(self, places: frozenset[Place]) -> None:
        """Selects these neurons and no others."""
        self._edge_off()
        places = frozenset(place for place in places if self.layout.has(place))
        if places == self._selection:
            return
        touched = places ^ self._selection
        self._selection = places
        for place in touched:
            self._repaint(place)
        self._repaint_parts()
        self._relight()
        self.selection_changed.emit(places)

    def set_current(self, target: Target | None) -> None:
        """Moves the keyboard's place."""
        if target == self._current:
            return
        old, self._current = self._current, target
        for node in (old, target):
            if node is not None and self.layout.has(node):
                self._repaint(node)
        self._show_loupe()
        if self._focus_shown:
            self._relight()
        self.current_changed.emit(target)

    def show_focus(self, shown: bool) -> None:
        """Shows the ring around the current node, or hides it."""
        if shown != self._focus_shown:
            self._focus_shown = shown
            if self._current is not None and self.layout.has(self._current):
                self._repaint(self._current)
            self._relight()
            self._show_loupe()

    def _repaint(self, target: Target) -> None:
        if not isinstance(target, Place):
            if target in self._parts:
                self._parts[target].update()
            return
        item = self._neurons.get(target)
        if item is not None:
            item.update()
        elif target.layer in self._blocks:
            self._blocks[target.layer].update_cell(target.neuron)

    def _repaint_parts(self) -> None:
        for item in self._parts.values():
            item.update()

    def _edge_off(self) -> None:
        if self._edge is not None:
            self._edge = None
            self._drag.clear()
            self.edge_selected.emit(None)

    def _select_edge(self, edge: EdgeChange) -> None:
        self.set_selection(frozenset())
        self._edge = edge
        self._hovered_edge = None
        self._show_edge(edge)
        self.edge_selected.emit(edge)

    def _show_edge(self, edge: EdgeChange) -> None:
        before, after = self.layout.layers[edge.layer - 1], self.layout.layers[edge.layer]
        self._drag.show_edge(before.right, before.port(edge.source), after.left, after.port(edge.target))

    @property
    def chrome(self) -> list[ChromeItem]:
        """The items around the nodes."""
        return self._chrome

    @property
    def drag_item(self) -> DragItem:
        """What is shown while dragging (for gestures)."""
        return self._drag

    # The mouse

    def spot_at(self, at: QPointF) -> Spot:
        """What is at a point."""
        return find_spot(self, at)

    def mousePressEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        event.accept()
        if event.button() != Qt.MouseButton.LeftButton:
            return
        spot = self.spot_at(event.scenePos())
        modifiers = event.modifiers()
        add = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        extend = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        self.show_focus(False)
        if spot.kind == "edge" and spot.edge is not None:
            self._select_edge(spot.edge)
            return
        if spot.kind in ("node", "port", "mend", "rule") and not (
            spot.target in self._selection and not add and not extend and len(self._selection) > 1
        ):
            self.select(spot.target, add=add, extend=extend)
        self._gesture = begin_gesture(self, spot, event)

    def mouseMoveEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        if self._gesture is not None:
            self._gesture.move(event)
        else:
            self._hover_at(event.scenePos())
        event.accept()

    def mouseReleaseEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        gesture, self._gesture = self._gesture, None
        if gesture is not None and event.button() == Qt.MouseButton.LeftButton:
            gesture.release(event)
        event.accept()

    def mouseDoubleClickEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        spot = self.spot_at(event.scenePos())
        if spot.kind in ("minus", "plus"):
            # Two quick clicks are two steps.
            self.mousePressEvent(event)
        elif spot.target is not None:
            self.node_activated.emit(spot.target)
        event.accept()

    def contextMenuEvent(self, event: QGraphicsSceneContextMenuEvent) -> None:
        spot = self.spot_at(event.scenePos())
        if isinstance(spot.target, Place) and spot.target not in self._selection:
            self.select(spot.target)
        point = event.screenPos()
        request = MenuRequest(point.x(), point.y(), spot.target, self._selection, spot.edge, spot.index)
        self.menu_requested.emit(request)
        event.accept()

    def cancel_gesture(self) -> bool:
        """Ends what is being dragged without effect; True where something was."""
        gesture, self._gesture = self._gesture, None
        if gesture is None:
            return False
        gesture.cancel()
        return True

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self._set_hover(None)
            self._hover_chrome(Spot("empty"))
            self._hover_edge(None)
        return super().event(event)

    def _hover_at(self, at: QPointF) -> None:
        spot = self.spot_at(at)
        self._set_hover(spot.target)
        self._hover_chrome(spot)
        self._hover_edge(spot.edge)
        shapes = {
            "mend": Qt.CursorShape.PointingHandCursor,
            "rule": Qt.CursorShape.PointingHandCursor,
            "minus": Qt.CursorShape.PointingHandCursor,
            "plus": Qt.CursorShape.PointingHandCursor,
            "remove": Qt.CursorShape.PointingHandCursor,
            "add_layer": Qt.CursorShape.PointingHandCursor,
            "add_chair": Qt.CursorShape.PointingHandCursor,
            "wiring": Qt.CursorShape.PointingHandCursor,
            "edge": Qt.CursorShape.PointingHandCursor,
            "handle": Qt.CursorShape.SizeVerCursor,
            "port": Qt.CursorShape.CrossCursor,
        }
        self.cursor_wanted.emit(shapes.get(spot.kind, Qt.CursorShape.ArrowCursor))

    def _hover_edge(self, edge: EdgeChange | None) -> None:
        if self._edge is not None or edge == self._hovered_edge:
            return
        self._hovered_edge = edge
        if edge is None:
            self._drag.clear()
        else:
            self._show_edge(edge)

    def _hover_chrome(self, spot: Spot) -> None:
        for item in self._chrome:
            what = ""
            if isinstance(item, HeaderItem) and item.column.layer == spot.index and spot.kind in _IN_HEADER:
                what = spot.kind
            elif isinstance(item, PlusItem) and item.index == spot.index and spot.kind in ("add_layer", "wiring"):
                what = "add" if spot.kind == "add_layer" else "wiring"
            elif isinstance(item, HandleItem) and item.layer == spot.index and spot.kind == "handle":
                what = "handle"
            elif isinstance(item, AddChairItem) and spot.kind == "add_chair":
                what = "add"
            item.hover(what)

    def _set_hover(self, target: Target | None) -> None:
        if target == self._hover:
            return
        old, self._hover = self._hover, target
        for node in (old, target):
            if node is not None and self.layout.has(node):
                self._repaint(node)
        self._show_loupe()
        if isinstance(old, Place) or isinstance(target, Place):
            self._relight()
        self.hovered.emit(target)

    def _show_loupe(self) -> None:
        for target in (self._hover, self._current if self._focus_shown else None):
            if not isinstance(target, Place) or not self.layout.has(target):
                continue
            if self.layout.layers[target.layer].dense or self.zoom < 0.55:
                self._loupe.show_place(target, right_edge=self.visible_right)
                return
        self._loupe.show_place(None, right_edge=self.visible_right)

    # The keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if handle_key(self, event):
            event.accept()
        else:
            event.ignore()

    @property
    def editable(self) -> bool:
        """Whether the network can be changed here."""
        return self.ends.mode == "design" and self.ends.editable
