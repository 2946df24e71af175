"""The scene: draws a :class:`NetworkState`, takes single changes cheaply, and says what the user asks for.

The scene never changes the network. Gestures end in signals; the owner changes the network and hands over a new state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGraphicsScene, QGraphicsSceneContextMenuEvent, QGraphicsSceneMouseEvent

from judgenet.ui.canvas.chrome import ChromeItem, DragItem
from judgenet.ui.canvas.gestures import Mouse
from judgenet.ui.canvas.hit_test import Spot, find_spot
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.items import SceneItems
from judgenet.ui.canvas.keys import handle_key
from judgenet.ui.canvas.layout import Layout, NodeSize, compute
from judgenet.ui.canvas.live import LiveStates, timed
from judgenet.ui.canvas.model import (
    CellColor,
    EdgeChange,
    LayerState,
    NetworkState,
    NeuronState,
    Part,
    Place,
    Target,
    VerdictState,
    VoteState,
    VoteTally,
)
from judgenet.ui.canvas.paint import Look
from judgenet.ui.canvas.selection import CanvasSelection
from judgenet.ui.theme import Theme


class NetworkScene(QGraphicsScene):
    """The network as a picture.

    Signals, all about what the user did or asks for (places are 0-based):
        neuron_selected: :class:`Place` or ``None``: the neuron that the inspector shows.
        part_selected: a :data:`Part`: another node was chosen.
        selection_changed: ``frozenset[Place]``.
        node_activated: a :data:`Target`: Enter or double click.
        hovered: a :data:`Target` or ``None``.
        current_changed: a :data:`Target` or ``None``: the node with the keyboard focus.
        width_requested: layer, number of neurons.
        layer_add_requested: the place of the new layer.
        layer_remove_requested: layer.
        neuron_move_requested: layer, from place, to place.
        edge_toggle_requested: :class:`EdgeChange`.
        edge_selected: :class:`EdgeChange` (with ``connect=False``) or ``None``.
        delete_requested: ``frozenset[Place]``.
        fix_requested: a :data:`Target` whose link was clicked.
        gate_chosen: the layer whose stop rule is to be edited.
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
    fix_requested = Signal(object)
    gate_chosen = Signal(int)
    wiring_requested = Signal(int, int, int)
    rule_requested = Signal(int, int)
    chair_add_requested = Signal()
    search_requested = Signal()
    menu_requested = Signal(object)
    rebuilt = Signal()
    """The layout has changed (for views)."""
    repainted = Signal()
    """Neurons have changed (for the mini-map)."""
    cursor_wanted = Signal(object)
    """The shape of the mouse pointer over what is under it (for views)."""

    def __init__(self, theme: Theme, network: NetworkState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.ink = Ink.of(theme)
        self.zoom = 1.0
        self.pixel_ratio = theme.scale
        self.zooming = False
        self.exporting = False
        self.visible_right = float("inf")
        """Scene x of the viewport's right edge, so that the loupe stays in view."""
        self._base: NodeSize = "full"
        self._cell_color: CellColor = "verdict"
        self.ends = network
        """The network without its neurons' newest states: use :attr:`network` for all of it."""
        self._targets: list[Target] | None = None
        self._live = LiveStates(self)
        self._chosen = CanvasSelection(self)
        self._mouse = Mouse(self, self._chosen)
        self.layout: Layout = compute(network, self._base)
        self._live.load(network.layers)
        self.drawn = SceneItems(self)
        """All items of the scene by what they show."""
        self._begin()

    # What the scene shows

    @property
    def theme(self) -> Theme:
        """The theme it is drawn in."""
        return self._theme

    @property
    def network(self) -> NetworkState:
        """Everything that is shown, with the newest states."""
        layers = tuple(
            replace(layer, neurons=tuple(states))
            for layer, states in zip(self.ends.layers, self._live.layers, strict=True)
        )
        return replace(self.ends, layers=layers)

    @property
    def small_zoom(self) -> float:
        """The zoom, at most 1: by so much boxes are smaller than their letters."""
        return min(1.0, self.zoom)

    @property
    def base(self) -> NodeSize:
        """The form of the nodes at 100 %."""
        return self._base

    @property
    def cell_color(self) -> CellColor:
        """What the cells of dense layers are coloured by."""
        return self._cell_color

    @property
    def editable(self) -> bool:
        """Whether the network can be changed here."""
        return self.ends.mode == "design" and self.ends.editable

    @property
    def targets(self) -> list[Target]:
        """All nodes in the order of reading."""
        if self._targets is None:
            self._targets = self.layout.targets()
        return self._targets

    @property
    def chrome(self) -> list[ChromeItem]:
        """The items around the nodes."""
        return self.drawn.chrome

    @property
    def drag_item(self) -> DragItem:
        """What is shown while dragging (for gestures)."""
        return self.drawn.drag

    def spot_at(self, at: QPointF) -> Spot:
        """What is at a point."""
        return find_spot(self, at)

    def state(self, place: Place) -> NeuronState:
        """The state of a neuron."""
        return self._live.state(place)

    def states(self, layer: int) -> list[NeuronState]:
        """The states of a layer."""
        return self._live.layers[layer]

    def layer_state(self, layer: int) -> LayerState:
        """A layer's wiring; its neurons may be older than :meth:`states`."""
        return self.ends.layers[layer]

    def count(self, layer: int) -> VoteTally:
        """How far a layer is."""
        return self._live.counts[layer]

    @property
    def turn(self) -> float:
        """The phase of the spinners, 0 to 1."""
        return self._live.turn

    @staticmethod
    def timed(state: NeuronState) -> NeuronState:
        """A state with its elapsed seconds up to now."""
        return timed(state)

    def look_of(self, target: Target) -> Look:
        """How a node is marked."""
        return Look() if self.exporting else self._chosen.look_of(target, self.turn)

    def marked(self, layer: int) -> list[Place]:
        """The neurons of a layer that are selected, focused or under the mouse."""
        return [] if self.exporting else self._chosen.marked(layer)

    # Changes from outside

    def set_network(self, network: NetworkState) -> None:
        """Shows another state. The layout is computed again only where the shape differs."""
        old, self.ends = self.ends, network
        if network.shape != old.shape:
            self._rebuild()
            return
        self._live.take(
            {
                Place(number, neuron): state
                for number, layer in enumerate(network.layers)
                for neuron, state in enumerate(layer.neurons)
            }
        )
        unchanged: dict[Part, bool] = {
            "pair": network.pair == old.pair,
            "roles": network.roles == old.roles,
            "vote": network.vote == old.vote,
            "verdict": network.verdict == old.verdict,
            "chair": network.chair == old.chair,
        }
        for part, same in unchanged.items():
            if not same:
                self.drawn.repaint_part(part)

    def update_neurons(self, states: Mapping[Place, NeuronState]) -> None:
        """Shows new states of some neurons. The caller collects the changes between two frames."""
        self._live.take(states)

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
        else:
            self.drawn.repaint_part(part)

    # Look

    def set_theme(self, theme: Theme) -> None:
        """Draws in another theme."""
        self._theme = theme
        self.ink = Ink.of(theme)
        self.drawn.recolor()
        self.relight()
        self.drawn.rebuild_edges()
        self.update()

    def set_base(self, base: NodeSize) -> None:
        """Sets the form that nodes have at 100 %."""
        if base != self._base:
            self._base = base
            self.ends = self.network
            self._rebuild()

    def set_cell_color(self, color: CellColor) -> None:
        """Sets what the cells of dense layers are coloured by."""
        self._cell_color = color
        self.drawn.recolor()

    def set_zoom(self, zoom: float, pixel_ratio: float, *, moving: bool = False) -> None:
        """Sets the zoom (1 is 100 %). ``pixel_ratio`` is device pixels per px; ``moving``: it is animated."""
        if zoom == self.zoom and pixel_ratio == self.pixel_ratio and moving == self.zooming:
            return
        self.zoom = zoom
        self.pixel_ratio = pixel_ratio
        self.zooming = moving
        self.drawn.refit()
        if self.drawn.loupe.place is not None:
            self._chosen.show_loupe()

    def set_exporting(self, exporting: bool) -> None:
        """Leaves out marks, handles and buttons, and draws all as lines, while a picture of the network is made."""
        self.exporting = exporting
        self.ink.vector = exporting
        self.drawn.show_marks(not exporting)

    def wake(self) -> None:
        """Starts the animation again when a view becomes visible."""
        self._live.move()

    def relight(self) -> None:
        """Draws the edges again that flow, or that touch a selected node or the one under the mouse."""
        self.drawn.lit.rebuild(self._chosen.touched, self._live.writing)

    def _rebuild(self) -> None:
        self.layout = compute(self.ends, self._base)
        self._chosen.keep_within()
        self._mouse.forget()
        self._targets = None
        self._live.load(self.ends.layers)
        self.drawn.build()
        self._begin()
        self.rebuilt.emit()

    def _begin(self) -> None:
        self.relight()
        bounds = self.layout.bounds.grown(48)
        self.setSceneRect(QRectF(bounds.x, bounds.y, bounds.w, bounds.h))
        self._live.move()

    # Selection and focus

    @property
    def selection(self) -> frozenset[Place]:
        """The selected neurons."""
        return self._chosen.places

    @property
    def current(self) -> Target | None:
        """The node with the keyboard focus."""
        return self._chosen.current

    @property
    def focus_shown(self) -> bool:
        """Whether the ring of the keyboard is shown."""
        return self._chosen.focus_shown

    @property
    def selected_edge(self) -> EdgeChange | None:
        """The edge that was clicked."""
        return self._chosen.edge

    def select(self, target: Target | None, *, add: bool = False, extend: bool = False) -> None:
        """Selects a node as a click would, and emits it. ``add`` toggles it, ``extend`` selects all up to it."""
        self._chosen.select(target, add=add, extend=extend)

    def set_selection(self, places: frozenset[Place]) -> None:
        """Selects these neurons and no others."""
        self._chosen.set_places(places)

    def set_current(self, target: Target | None) -> None:
        """Moves the keyboard focus to a node."""
        self._chosen.set_current(target)

    def show_focus(self, shown: bool) -> None:
        """Shows the ring around the current node, or hides it."""
        self._chosen.show_focus(shown)

    # Mouse and keyboard

    def mousePressEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        self._mouse.press(event)

    def mouseMoveEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        self._mouse.move(event)

    def mouseReleaseEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        self._mouse.release(event)

    def mouseDoubleClickEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        self._mouse.double_click(event)

    def contextMenuEvent(self, event: QGraphicsSceneContextMenuEvent) -> None:
        self._mouse.open_menu(event)

    def cancel_gesture(self) -> bool:
        """Ends what is being dragged without effect; True where something was."""
        return self._mouse.cancel()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self._mouse.leave()
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if handle_key(self, event):
            event.accept()
        else:
            event.ignore()
