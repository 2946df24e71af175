"""The live canvas: the network on the pair in focus, and the strip above it that steps through pairs."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from judgenet.core.network import NetworkError
from judgenet.core.wording import duration_range, money_span, plural, span
from judgenet.engine.batches import BatchChoice
from judgenet.engine.preflight import calls_needed, untried_models
from judgenet.engine.session import with_models
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.model import LayerState, NetworkState, NeuronState, Place, Target
from judgenet.ui.canvas.paint import draw_cell
from judgenet.ui.canvas.scene import NetworkScene
from judgenet.ui.canvas.view import NetworkView
from judgenet.ui.canvas.weights import weights_legend, with_weights
from judgenet.ui.context import Context
from judgenet.ui.elements import ElidedLabel, label
from judgenet.ui.empty import EmptyState
from judgenet.ui.icons import icon
from judgenet.ui.limits import batch_words, limits_words, stop_words
from judgenet.ui.measures import measure
from judgenet.ui.run.focus import FocusPair
from judgenet.ui.run.picture import (
    network_state,
    neuron_state,
    verdict_state,
    vote_state,
)
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import ICON_TEXT, PANEL_INSIDE
from judgenet.ui.widgets import Segment, set_kind

_NOTHING: Final = NetworkState((LayerState((NeuronState(""),)),), mode="run", editable=False)

_LEGENDS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "verdict": (
        ("a", "by 2 points or more"),
        ("a weak", "by less"),
        ("asked", "being asked"),
        ("waiting", "waiting"),
        ("unscored", "unscored"),
    ),
    "state": (
        ("scored", "scored"),
        ("writing", "writing"),
        ("asked", "asked"),
        ("waiting", "waiting"),
        ("unscored", "unscored"),
    ),
    "changed": (("a", "changed to A"), ("b", "changed to B"), ("quiet", "as before"), ("unscored", "unscored")),
    "differ": (("differ", "orders differ"), ("quiet", "orders agree"), ("unscored", "unscored")),
}


class PairStrip(QWidget):
    """Steps through pairs, says which one is in focus, and follows the newest or pins one."""

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__()
        self.setAccessibleName("Pair in focus")
        self._context = context
        self._focus = focus
        self.previous = _step_button("Previous pair", "chevron-left")
        self.next = _step_button("Next pair", "chevron-right")
        context.actions.attach(self.previous, "run.previous_pair")
        context.actions.attach(self.next, "run.next_pair")
        for button, name in ((self.previous, "chevron-left"), (self.next, "chevron-right")):
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
            button.setIcon(icon(name, "text"))
        self.number = label("", "node")
        self.title = ElidedLabel(tone="text2")
        self.segment = Segment("Which pair", (("pin", "Pinned"), ("follow", "Follow newest")))
        pin = self.segment.button("pin")
        assert isinstance(pin, QToolButton)
        pin.setIcon(icon("pin", "text2", on="accent"))
        pin.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.segment.chosen.connect(self._chosen)
        self.dock = QToolButton()
        context.actions.attach(self.dock, "run.dock")
        self.dock.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        self.dock.setIcon(icon("dock", "text2", on="accent"))
        row = QHBoxLayout(self)
        for widget in (self.previous, self.next, self.number):
            row.addWidget(widget)
        row.addWidget(self.title, stretch=1)
        row.addWidget(self.segment)
        row.addWidget(self.dock)
        self._row = row
        context.run_state.focus_changed.connect(self._refresh)
        context.run_state.run_changed.connect(self._refresh)
        focus.replaced.connect(self._refresh)
        measure(self._row, margins=(PANEL_INSIDE, 12, PANEL_INSIDE, 4), spacing=8)
        for button in (self.previous, self.next):
            measure(button, width=32, height=32, icon=ICON_TEXT)
        measure(self.dock, icon=ICON_TEXT)
        measure(self.number, font="node", tabular=True)
        measure(pin, icon=ICON_TEXT)
        self._refresh()

    def _chosen(self, key: str) -> None:
        self._context.run_state.set_follow(key == "follow")

    def _refresh(self) -> None:
        state, index = self._context.run_state, self._focus.index
        self.setEnabled(index is not None)
        self.segment.set_current("follow" if state.follow and state.live else "pin")
        self.segment.button("follow").setEnabled(state.live)
        self.segment.button("follow").setToolTip("" if state.live else "No run goes on")
        if index is None:
            self.number.setText("")
            self.title.say("")
            return
        self.number.setText(f"Pair {index + 1:,}")
        pair = self._focus.pair
        self.title.say("" if pair is None else pair.told(pair.question or pair.response_a))


def _step_button(name: str, icon_name: str) -> QToolButton:
    button = QToolButton()
    set_kind(button, "bordered")
    button.setAccessibleName(name)
    button.setIcon(icon(icon_name, "text"))
    return button


class Legend(QWidget):
    """What the cells of dense layers mean."""

    def __init__(self) -> None:
        super().__init__()
        self._rows = _LEGENDS["verdict"]
        self._tell()
        measure(self, height=36)

    def show_color(self, color: str) -> None:
        """Explains what cells are coloured by."""
        self._rows = _LEGENDS[color]
        self._tell()
        self.update()

    def _tell(self) -> None:
        self.setAccessibleName("Cells: " + ", ".join(words for _, words in self._rows))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scale = current_theme().scale
        painter.scale(scale, scale)
        ink = Ink.of(current_theme())
        x, room = float(PANEL_INSIDE), self.width() / scale - PANEL_INSIDE
        for key, words in self._rows:
            width = 24 + ink.width(words)
            if x + width > room:
                break
            draw_cell(painter, ink, QRectF(x, 8, 18, 18), key)
            ink.text(painter, x + 24, 22, words, color="text2")
            x += width + 20


class DenseBar(QWidget):
    """What a network of dense layers needs above it: how cells are coloured, the search, the zoom."""

    color_chosen = Signal(str)

    def __init__(self, view: NetworkView) -> None:
        super().__init__()
        self.setAccessibleName("Dense layers")
        self._view = view
        self.segment = Segment(
            "Cells show",
            (("verdict", "Verdict"), ("state", "State"), ("changed", "Changed mind"), ("differ", "Orders differ")),
        )
        self.segment.chosen.connect(self.color_chosen)
        self.search_button = QPushButton("Find a neuron")
        self.search_button.setIcon(icon("search", "text2"))
        self.search_button.setAccessibleName("Find a neuron")
        self.search_button.setToolTip("Find a neuron (Tab on the canvas)")
        self.search_button.clicked.connect(view.open_search)
        self.zoom = label("100 %", tone="text2")
        self.minus, self.plus, self.fit = QToolButton(), QToolButton(), QToolButton()
        for button, name, words, action in (
            (self.minus, "minus", "Zoom out", view.zoom_out),
            (self.plus, "plus", "Zoom in", view.zoom_in),
            (self.fit, "fit", "Fit the network into view", view.fit),
        ):
            button.setIcon(icon(name, "text2"))
            button.setAccessibleName(words)
            button.setToolTip(words)
            button.clicked.connect(action)
        row = QHBoxLayout(self)
        row.addWidget(self.segment)
        row.addWidget(self.search_button)
        row.addStretch(1)
        for widget in (self.minus, self.zoom, self.plus, self.fit):
            row.addWidget(widget)
        self._row = row
        view.zoom_changed.connect(self._zoomed)
        measure(self._row, margins=(PANEL_INSIDE, 4, PANEL_INSIDE, 0), spacing=8)
        measure(self.search_button, icon=ICON_TEXT)
        measure(self.zoom, font="body", tabular=True)

    def _zoomed(self, zoom: float) -> None:
        self.zoom.setText(f"{100 * zoom:.0f} %")


class CanvasPane(QFrame):
    """The strip, the canvas, and an empty state where there is no run.

    Signals:
        target_selected: the :data:`Target` to be inspected, or ``None``.
        target_activated: Enter or a double click on a node.
    """

    target_selected = Signal(object)
    target_activated = Signal(object)

    def __init__(self, context: Context, focus: FocusPair) -> None:
        theme = current_theme()
        super().__init__()
        self.setProperty("part", "canvas")
        self._context = context
        self._focus = focus
        self.scene = NetworkScene(theme, _NOTHING, self)
        self.view = NetworkView(self.scene)
        self.strip = PairStrip(context, focus)
        self.dense = DenseBar(self.view)
        self.legend = Legend()
        self.empty = EmptyState("run")
        live = QWidget()
        column = QVBoxLayout(live)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self.strip, self.dense):
            column.addWidget(widget)
        column.addWidget(self.view, stretch=1)
        column.addWidget(self.legend)
        self.weights = ElidedLabel(tone="text2")
        self.weights.hide()
        column.addWidget(self.weights)
        self._stack = QStackedWidget()
        self._stack.addWidget(live)
        self._stack.addWidget(self.empty)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._stack)
        self.dense.color_chosen.connect(self._color_chosen)
        self.scene.neuron_selected.connect(self.target_selected)
        self.scene.part_selected.connect(self.target_selected)
        self.scene.node_activated.connect(self.target_activated)
        focus.replaced.connect(self._replaced)
        context.learning.changed.connect(self._replaced)
        focus.neurons_changed.connect(self._neurons_changed)
        for signal in (
            context.run_state.run_changed,
            context.run_state.loading_changed,
            context.runner.changed,
            context.figures.changed,
        ):
            signal.connect(self._refresh_empty)
        measure(self.weights, margins=(16, 4, 16, 4))
        self._replaced()

    # What is shown

    @property
    def is_empty(self) -> bool:
        """There is no run to show."""
        return self._focus.now is None

    def _replaced(self) -> None:
        now, state = self._focus.now, self._context.run_state
        if now is not None:
            note = state.roles_note(now.pair)
            shown = network_state(now, self._focus.pair, note, state.human(now.pair), state.since)
            rule = self._context.learning.rule_of_run(now.spec, state.run)
            self.scene.set_network(with_weights(shown, rule))
            self.weights.say(weights_legend(rule))
            self.weights.setVisible(rule is not None)
            dense = any(layer.dense for layer in self.scene.ends.layers)
            self.dense.setVisible(dense)
            self.legend.setVisible(dense)
        self._refresh_empty()

    def _neurons_changed(self, changed: set[tuple[int, int]]) -> None:
        now, since = self._focus.now, self._context.run_state.since
        if now is None:
            return
        states: dict[Place, NeuronState] = {}
        for layer, neuron in changed:
            drawn = neuron_state(now[layer, neuron], now.spec, since)
            if layer > now.spec.depth:
                self.scene.update_chair(drawn)
            else:
                place = Place(layer - 1, neuron - 1)
                states[place] = replace(drawn, weight=self.scene.state(place).weight)
        self.scene.update_neurons(states)
        vote = vote_state(now)
        if vote != self.scene.ends.vote:
            self.scene.update_vote(vote)
        verdict = verdict_state(now, self._context.run_state.human(now.pair))
        if verdict != self.scene.ends.verdict:
            self.scene.update_verdict(verdict)

    def _color_chosen(self, color: str) -> None:
        if color in ("verdict", "state", "changed", "differ"):
            self.scene.set_cell_color(color)  # type: ignore[arg-type]
            self.legend.show_color(color)

    def select(self, target: Target | None) -> None:
        """Selects a node as a click would."""
        if isinstance(target, Place) and not self.scene.layout.has(target):
            return
        self.scene.select(target)

    def _refresh_empty(self) -> None:
        state, runner = self._context.run_state, self._context.runner
        self._stack.setCurrentIndex(1 if self.is_empty else 0)
        if not self.is_empty:
            return
        if state.loading and state.run is not None:
            self.empty.say(f"Reading run {state.run.number:,}…")
            return
        if runner.running:
            self.empty.say("The run begins…")
            return
        why = runner.why_not()
        sentence = "Run the network to watch every neuron judge, pair by pair."
        if state.run is not None and not state.pair_count:
            sentence = f"Run {state.run.number:,} has no pairs."
        untried = "" if why else self._untried()
        note = "\n".join(part for part in (self._cost() or why, untried) if part)
        more = "Try it first…" if untried else ""
        self.empty.say(
            sentence, note, "Run", self._start, primary=True, why_not=why, more=more, do_more=self._try_models
        )

    def _untried(self) -> str:
        """Which models judge for the first time in this project; an empty text for none."""
        document = self._context.document
        if document.own_store is None:
            return ""
        try:
            spec = with_models(document.spec, document.profiles)
            untried = untried_models(spec, document.profiles, document.own_store)
        except (NetworkError, sqlite3.Error):
            return ""
        if not untried:
            return ""
        judge = "has" if len(untried) == 1 else "have"
        return (
            f"{', '.join(untried)} {judge} not judged in this project yet. Ten built-in pairs show whether it can, "
            f"in at most {calls_needed()} calls."
        )

    def _try_models(self) -> None:
        self._context.actions.trigger("models.try")

    def _cost(self) -> str:
        """What it takes, in one line."""
        known = self._context.figures.estimate
        if known is None:
            return self._context.figures.problem
        estimate = known.estimate
        parts = [
            plural(estimate.pairs, "pair"),
            f"{span(*estimate.calls_open, 'whole')} {'call' if estimate.calls_open.high == 1 else 'calls'}",
        ]
        by_batch = isinstance(self._context.runner.batch_wish, BatchChoice)
        price = estimate.batch_price if by_batch and estimate.batch_price is not None else estimate.price
        if price is not None:
            parts.append(f"about {money_span(*price, estimate.currency)}" if price.high else "free")
        if not by_batch:
            parts.append(duration_range(known.duration.low, known.duration.high))
        if limits := limits_words(self._context.runner.limits, estimate.currency):
            parts.append(f"at most {limits}")
        if stop := stop_words(self._context.runner.stop_wish):
            parts.append(stop)
        if batch := batch_words(self._context.runner.batch_wish):
            parts.append(batch)
        return " · ".join(parts)

    def _start(self) -> None:
        self._context.actions.trigger("run.start")
