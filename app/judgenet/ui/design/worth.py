"""How many independent votes each layer was worth in the run in focus, shown below the layers of the design."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from judgenet.core.cascade import has_stop_rules
from judgenet.core.network import NetworkSpec
from judgenet.core.network_changes import changed_layers
from judgenet.core.wording import of, plural, ratio, ratio_interval
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo
from judgenet.ui.canvas.model import NetworkState
from judgenet.ui.context import Context
from judgenet.ui.design import texts

if TYPE_CHECKING:
    from judgenet.figures.panel_worth import VotesFigures
    from judgenet.store.frame import RunFrame

_KEPT: Final = 8
"""How many runs the figures are kept of."""


@dataclass(frozen=True, slots=True)
class _Worth:
    """A run, the network that it recorded, and the worth of its layers: what the votes were compared on, and the
    figures, by layer from 1."""

    run: RunInfo
    spec: NetworkSpec
    layers: Mapping[int, tuple[str, VotesFigures]]


class LayerWorth(QObject):
    """Calculates the worth of the layers in a thread while the page is in view, once for each run and its labels.

    Signals:
        changed: the worth is known, or another run is in focus.
    """

    changed = Signal()

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._watched = False
        self._number = 0
        self._key: object = None
        self._worths: OrderedDict[object, _Worth] = OrderedDict()
        context.run_state.run_changed.connect(self._follow_run)
        context.run_state.loading_changed.connect(self._follow_run)
        context.document.opened.connect(self._forget)

    def watch(self, watched: bool) -> None:
        """Says whether the page is in view."""
        self._watched = watched
        self._follow_run()

    def _forget(self) -> None:
        self._number += 1
        self._key = None
        self._worths.clear()
        self.changed.emit()

    def _follow_run(self) -> None:
        state = self._context.run_state
        run, table = state.run, state.table
        key: object = None
        if run is not None and table is not None and not state.live and not state.loading:
            key = (run.id, run.finished_at, hash(table.human.tobytes()))
        if not self._watched or key == self._key:
            return
        self._number += 1
        self._key = key
        if key is not None and key not in self._worths and run is not None and table is not None:
            self._context.tasks.start(self._value(key, run, table, self._number), texts.CALCULATE_WORTH)
        self.changed.emit()

    async def _value(self, key: object, run: RunInfo, table: RunFrame, number: int) -> None:
        from judgenet.figures.panel_worth import layers_worth

        worth = await self._context.tasks.off_thread(layers_worth, table)
        if number == self._number:
            self._worths[key] = _Worth(run, network_of(run), worth)
            while len(self._worths) > _KEPT:
                self._worths.popitem(last=False)
            self.changed.emit()

    def below_layers(self, network: NetworkState, spec: NetworkSpec) -> NetworkState:
        """The network on the canvas with the worth of its layers; of a layer edited since the run, its worth before."""
        worth = self._worths.get(self._key)
        if worth is None or has_stop_rules(worth.spec):
            # Behind a stop rule, neurons judged only the hard pairs: that is no figure of the layer.
            return network
        edited = changed_layers(worth.spec, spec)
        layers = list(network.layers)
        for number, (basis, votes) in worth.layers.items():
            if number <= len(layers):
                words, tip = _words(worth.run, number, basis, votes, edited=number in edited)
                layers[number - 1] = replace(layers[number - 1], worth=words, worth_tip=tip)
        return replace(network, layers=tuple(layers))


def _words(run: RunInfo, layer: int, basis: str, votes: VotesFigures, *, edited: bool) -> tuple[tuple[str, ...], str]:
    """The texts below a layer, the longest first, and the tooltip."""
    assert votes.value is not None
    worth = texts.votes(f"{votes.value:.1f}")
    words = (texts.neurons_worth(plural(votes.neurons, "neuron"), worth), texts.worth(worth))
    if edited:
        words = (texts.worth_before_edit(worth), texts.worth_before(worth))
    tip = (
        texts.worth_tip(
            run.number,
            plural(votes.neurons, "neuron"),
            layer,
            ratio(votes.value),
            ratio_interval(votes.ci),
            basis,
            ratio(votes.correlation),
            of(votes.n, votes.n_total),
        )
    ).replace("  ", " ")
    if edited:
        tip += texts.EDITED_SINCE
    return words, tip
