"""The newest states of a network's neurons, and the motion of what is on its way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QTimer

from judgenet.ui.canvas.edge_bundle import FLOW_STEP
from judgenet.ui.canvas.model import LayerState, NeuronState, Place, VoteTally, tally
from judgenet.ui.clock import monotonic
from judgenet.ui.tokens import MOTION_SPIN, MOTION_WRITE

if TYPE_CHECKING:
    from judgenet.ui.canvas.scene import NetworkScene

TICK: Final = 40
"""ms between two frames of spinners and flowing edges."""
COUNT_TICKS: Final = 5
"""Elapsed seconds are updated every so many ticks."""


class LiveStates:
    """The one place of a scene where the neurons' states are. Items read them when they are painted.

    Attributes:
        layers: the states of each layer.
        counts: how far each layer is.
        turn: the phase of the spinners, 0 to 1.
    """

    def __init__(self, canvas: NetworkScene) -> None:
        self._canvas = canvas
        self.layers: list[list[NeuronState]] = []
        self.counts: list[VoteTally] = []
        self.turn = 0.0
        self._on_way: set[Place] = set()
        self._fading: set[Place] = set()
        self._ticks = 0
        self._ticker = QTimer(canvas)
        self._ticker.setObjectName("canvas ticker")
        self._ticker.setInterval(TICK)
        self._ticker.timeout.connect(self._tick)

    def load(self, layers: tuple[LayerState, ...]) -> None:
        """Takes the states of another network; its items are built afterwards."""
        self.layers = [list(layer.neurons) for layer in layers]
        self.counts = [tally([state.box for state in states]) for states in self.layers]
        self._on_way = {
            Place(number, neuron)
            for number, states in enumerate(self.layers)
            for neuron, state in enumerate(states)
            if state.phase in ("asked", "writing")
        }
        self._fading = set()

    def state(self, place: Place) -> NeuronState:
        """The state of a neuron."""
        return self.layers[place.layer][place.neuron]

    @property
    def writing(self) -> set[Place]:
        """The neurons whose answers are being written."""
        return {place for place in self._on_way if self.state(place).phase == "writing"}

    def take(self, states: Mapping[Place, NeuronState]) -> None:
        """Stores new states and repaints what they change. Neurons that the network does not have are skipped."""
        canvas = self._canvas
        changed: list[Place] = []
        moved: set[int] = set()
        for place, state in states.items():
            if not canvas.layout.has(place):
                continue
            old = self.state(place)
            if state is old or state == old:
                continue
            self.layers[place.layer][place.neuron] = state
            changed.append(place)
            if canvas.drawn.show_state(place, old, state):
                self._fading.add(place)
            if state.phase in ("asked", "writing"):
                self._on_way.add(place)
            else:
                self._on_way.discard(place)
            if state.phase != old.phase:
                moved.add(place.layer)
        if not changed:
            return
        for layer in {place.layer for place in changed}:
            self._recount(layer)
        if canvas.drawn.loupe.place in changed:
            canvas.drawn.loupe.update()
        if moved:
            canvas.drawn.rebuild_edges(moved)
            canvas.relight()
        self.move()
        canvas.repainted.emit()

    def _recount(self, layer: int) -> None:
        count = tally([state.box for state in self.layers[layer]])
        if count != self.counts[layer]:
            self.counts[layer] = count
            self._canvas.drawn.show_count(layer)

    # Motion

    def move(self) -> None:
        """Advances spinners, flowing edges and fades by one step; stops the ticker where there are none."""
        moving = bool(self._fading) or self._canvas.drawn.lit.moving or bool(self._on_way)
        if moving and not self._ticker.isActive():
            self._ticker.start()
        elif not moving and self._ticker.isActive():
            self._ticker.stop()

    def _tick(self) -> None:
        canvas = self._canvas
        if not any(view.isVisible() for view in canvas.views()):
            self._ticker.stop()
            return
        self._ticks += 1
        if not canvas.theme.reduce_motion:
            self._turn()
        if self._ticks % COUNT_TICKS == 0:
            self._count_seconds()
        self.move()

    def _turn(self) -> None:
        canvas, items = self._canvas, self._canvas.drawn
        now = self._ticks * TICK
        self.turn = (now % MOTION_SPIN) / MOTION_SPIN
        for place in self._on_way:
            item = items.neurons.get(place)
            if item is not None and canvas.zoom >= 0.55:
                item.update_slot()
        for place in list(self._fading):
            faded = items.neurons.get(place)
            if faded is not None:
                faded.update()
            if faded is None or not faded.fading:
                self._fading.discard(place)
        if items.lit.moving:
            items.lit.offset = (now % MOTION_WRITE) / MOTION_WRITE * FLOW_STEP
            items.lit.update()

    def _count_seconds(self) -> None:
        items = self._canvas.drawn
        for place in self._on_way:
            counting = items.neurons.get(place)
            if counting is not None and counting.state.since is not None:
                counting.update()
        if items.loupe.place in self._on_way:
            items.loupe.update()


def timed(state: NeuronState) -> NeuronState:
    """A state with its elapsed seconds up to now."""
    if state.since is None or state.phase not in ("asked", "writing"):
        return state
    return replace(state, seconds=max(0.0, monotonic() - state.since))
