"""What is selected on the canvas, where the keyboard is, and what is under the mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgenet.ui.canvas.model import EdgeChange, Place, Target
from judgenet.ui.canvas.paint import Look

if TYPE_CHECKING:
    from judgenet.ui.canvas.scene import NetworkScene


class CanvasSelection:
    """The selected neurons or edge, the keyboard's place and the node under the mouse. Each change is repainted and
    emitted as a signal of the scene.

    Attributes:
        places: the selected neurons.
        current: the node with the keyboard focus.
        hover: the node under the mouse.
        edge: the edge that was clicked.
        focus_shown: whether the ring of the keyboard is shown.
    """

    def __init__(self, canvas: NetworkScene) -> None:
        self._canvas = canvas
        self.places: frozenset[Place] = frozenset()
        self.current: Target | None = None
        self.hover: Target | None = None
        self.edge: EdgeChange | None = None
        self.focus_shown = False
        self._hovered_edge: EdgeChange | None = None
        self._anchor: Place | None = None

    def keep_within(self) -> None:
        """Drops everything that the scene's new layout does not have."""
        layout = self._canvas.layout
        self.places = frozenset(place for place in self.places if layout.has(place))
        if self.current is not None and not layout.has(self.current):
            self.current = self._clamped(self.current)
        self.hover = None
        self.edge = None
        self._hovered_edge = None

    def _clamped(self, target: Target) -> Target | None:
        if not isinstance(target, Place):
            return None
        layers = self._canvas.layout.layers
        layer = min(target.layer, len(layers) - 1)
        return Place(layer, max(0, min(target.neuron, layers[layer].count - 1)))

    # What it looks like

    @property
    def _pointed(self) -> list[Place]:
        """The neurons under the mouse and under the keyboard's ring."""
        targets = (self.hover, self.current if self.focus_shown else None)
        return [target for target in targets if isinstance(target, Place)]

    @property
    def touched(self) -> set[Place]:
        """The neurons whose edges are lit."""
        return {*self.places, *self._pointed}

    def look_of(self, target: Target, turn: float) -> Look:
        """How a node is marked. ``turn`` is the phase of the spinners."""
        if isinstance(target, Place):
            selected = target in self.places
        else:
            selected = not self.places and target == self.current and self.edge is None
            turn = 0.0
        focused = self.focus_shown and target == self.current
        return Look(selected, focused, target == self.hover, turn)

    def marked(self, layer: int) -> list[Place]:
        """The neurons of a layer that are selected, focused or under the mouse."""
        return sorted(place for place in self.touched if place.layer == layer)

    # Changes

    def select(self, target: Target | None, *, add: bool, extend: bool) -> None:
        """Selects a node as a click would. ``add`` toggles it, ``extend`` selects all neurons up to it."""
        canvas = self._canvas
        if isinstance(target, Place):
            if add:
                chosen = self.places ^ {target}
            elif extend and self._anchor is not None and self._anchor.layer == target.layer:
                low, high = sorted((self._anchor.neuron, target.neuron))
                chosen = self.places | {Place(target.layer, i) for i in range(low, high + 1)}
            else:
                chosen = frozenset({target})
            if not extend:
                self._anchor = target
            self.set_places(chosen)
            self.set_current(target)
            canvas.neuron_selected.emit(target if target in chosen else None)
            return
        self.set_places(frozenset())
        self.set_current(target)
        if target is None:
            canvas.neuron_selected.emit(None)
        else:
            canvas.part_selected.emit(target)

    def set_places(self, places: frozenset[Place]) -> None:
        """Selects these neurons and no others."""
        canvas = self._canvas
        self._deselect_edge()
        places = frozenset(place for place in places if canvas.layout.has(place))
        if places == self.places:
            return
        touched = places ^ self.places
        self.places = places
        for place in touched:
            canvas.drawn.repaint(place)
        canvas.drawn.repaint_parts()
        canvas.relight()
        canvas.selection_changed.emit(places)

    def set_current(self, target: Target | None) -> None:
        """Moves the keyboard focus to a node."""
        if target == self.current:
            return
        old, self.current = self.current, target
        self._repaint(old, target)
        self.show_loupe()
        if self.focus_shown:
            self._canvas.relight()
        self._canvas.current_changed.emit(target)

    def show_focus(self, shown: bool) -> None:
        """Shows the ring around the current node, or hides it."""
        if shown == self.focus_shown:
            return
        self.focus_shown = shown
        self._repaint(self.current)
        self._canvas.relight()
        self.show_loupe()

    def set_hover(self, target: Target | None) -> None:
        """Moves what is under the mouse."""
        if target == self.hover:
            return
        old, self.hover = self.hover, target
        self._repaint(old, target)
        self.show_loupe()
        if isinstance(old, Place) or isinstance(target, Place):
            self._canvas.relight()
        self._canvas.hovered.emit(target)

    def _repaint(self, *targets: Target | None) -> None:
        for target in targets:
            if target is not None and self._canvas.layout.has(target):
                self._canvas.drawn.repaint(target)

    def show_loupe(self) -> None:
        """Shows the full node beside a cell or a small node that is pointed at, or nothing."""
        canvas, loupe = self._canvas, self._canvas.drawn.loupe
        for target in self._pointed:
            if canvas.layout.has(target) and (canvas.layout.layers[target.layer].dense or canvas.zoom < 0.55):
                loupe.show_place(target, right_edge=canvas.visible_right)
                return
        loupe.show_place(None, right_edge=canvas.visible_right)

    # Edges

    def select_edge(self, edge: EdgeChange) -> None:
        """Selects an edge in place of neurons."""
        self.set_places(frozenset())
        self.edge = edge
        self._hovered_edge = None
        self._show_edge(edge)
        self._canvas.edge_selected.emit(edge)

    def _deselect_edge(self) -> None:
        if self.edge is not None:
            self.edge = None
            self._canvas.drag_item.clear()
            self._canvas.edge_selected.emit(None)

    def hover_edge(self, edge: EdgeChange | None) -> None:
        """Shows the edge under the mouse, unless one is selected."""
        if self.edge is not None or edge == self._hovered_edge:
            return
        self._hovered_edge = edge
        if edge is None:
            self._canvas.drag_item.clear()
        else:
            self._show_edge(edge)

    def _show_edge(self, edge: EdgeChange) -> None:
        layers = self._canvas.layout.layers
        before, after = layers[edge.layer - 1], layers[edge.layer]
        self._canvas.drag_item.show_edge(before.right, before.port(edge.source), after.left, after.port(edge.target))
