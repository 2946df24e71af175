"""The live canvas: the network on the pair in focus, and the strip above it that goes from pair to pair."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from judgenet.core.network import NetworkError
from judgenet.core.wording import duration_range, money_span, plural, span, whole_percent
from judgenet.engine.batches import BatchChoice
from judgenet.engine.preflight import calls_needed, untried_models
from judgenet.engine.session import with_models
from judgenet.ui.canvas.ink import scaled_painter
from judgenet.ui.canvas.model import LayerState, NetworkState, NeuronState, Place, Target
from judgenet.ui.canvas.paint import draw_cell
from judgenet.ui.canvas.scene import NetworkScene
from judgenet.ui.canvas.view import NetworkView
from judgenet.ui.canvas.weights import weights_legend, with_weights
from judgenet.ui.context import Context
from judgenet.ui.elements import ElidedLabel, icon_button, label
from judgenet.ui.empty import EmptyState
from judgenet.ui.icons import icon
from judgenet.ui.limits import batch_words, limits_words, stop_words
from judgenet.ui.measures import measure
from judgenet.ui.run import texts
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
        ("a", texts.STRONG),
        ("a weak", texts.WEAK),
        ("asked", texts.BEING_ASKED),
        ("waiting", texts.WAITING_STATE),
        ("unscored", texts.UNSCORED_STATE),
    ),
    "state": (
        ("scored", texts.SCORED_STATE),
        ("writing", texts.WRITING_STATE),
        ("asked", texts.ASKED_STATE),
        ("waiting", texts.WAITING_STATE),
        ("unscored", texts.UNSCORED_STATE),
    ),
    "changed": (
        ("a", texts.CHANGED_TO_A),
        ("b", texts.CHANGED_TO_B),
        ("quiet", texts.UNCHANGED),
        ("unscored", texts.UNSCORED_STATE),
    ),
    "differ": (
        ("differ", texts.ORDERS_DIFFER_STATE),
        ("quiet", texts.ORDERS_AGREE_STATE),
        ("unscored", texts.UNSCORED_STATE),
    ),
}


class PairStrip(QWidget):
    """The strip that names the pair in focus, goes to the next one, and follows the newest or keeps one pinned."""

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__()
        self.setAccessibleName(texts.PAIR_IN_FOCUS)
        self._context = context
        self._focus = focus
        self.previous = icon_button("chevron-left", texts.PREVIOUS_PAIR, "text")
        self.next = icon_button("chevron-right", texts.NEXT_PAIR, "text")
        context.actions.attach(self.previous, "run.previous_pair")
        context.actions.attach(self.next, "run.next_pair")
        for button, name in ((self.previous, "chevron-left"), (self.next, "chevron-right")):
            set_kind(button, "bordered")
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
            # The action has brought its own icon.
            button.setIcon(icon(name, "text"))
        self.number = label("", "node")
        self.title = ElidedLabel(tone="text2")
        self.segment = Segment(texts.WHICH_PAIR, (("pin", texts.PINNED), ("follow", texts.FOLLOW_NEWEST)))
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
        self.segment.button("follow").setToolTip("" if state.live else texts.NO_RUN_IN_PROGRESS)
        if index is None:
            self.number.setText("")
            self.title.say("")
            return
        self.number.setText(texts.pair_number(index + 1))
        pair = self._focus.pair
        self.title.say("" if pair is None else pair.readable(pair.question or pair.response_a))


class Legend(QWidget):
    """The legend of the cells of dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self._rows = _LEGENDS["verdict"]
        self._describe()
        measure(self, height=36)

    def show_color(self, color: str) -> None:
        """Explains the colours of cells by verdict, state, changes or difference of orders."""
        self._rows = _LEGENDS[color]
        self._describe()
        self.update()

    def _describe(self) -> None:
        self.setAccessibleName(texts.CELLS + ", ".join(words for _, words in self._rows))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, ink = scaled_painter(self)
        x, room = float(PANEL_INSIDE), self.width() / ink.scale - PANEL_INSIDE
        for key, words in self._rows:
            width = 24 + ink.width(words)
            if x + width > room:
                break
            draw_cell(painter, ink, QRectF(x, 8, 18, 18), key)
            ink.text(painter, x + 24, 22, words, color="text2")
            x += width + 20


class DenseBar(QWidget):
    """The bar above a network with dense layers: what cells show, search, zoom.

    Signals:
        color_chosen: what cells show from now on, a key of the legends.
    """

    color_chosen = Signal(str)

    def __init__(self, view: NetworkView) -> None:
        super().__init__()
        self.setAccessibleName(texts.DENSE_LAYERS)
        self._view = view
        self.segment = Segment(
            texts.CELLS_SHOW,
            (
                ("verdict", texts.VERDICT),
                ("state", texts.STATE),
                ("changed", texts.CHANGED_MIND),
                ("differ", texts.ORDERS_DIFFER),
            ),
        )
        self.segment.chosen.connect(self.color_chosen)
        self.search_button = QPushButton(texts.FIND_NEURON)
        self.search_button.setIcon(icon("search", "text2"))
        self.search_button.setAccessibleName(texts.FIND_NEURON)
        self.search_button.setToolTip(texts.FIND_NEURON_TIP)
        self.search_button.clicked.connect(view.open_search)
        self.zoom = label(texts.FULL_ZOOM, tone="text2")
        self.minus = icon_button("minus", texts.ZOOM_OUT)
        self.plus = icon_button("plus", texts.ZOOM_IN)
        self.fit = icon_button("fit", texts.FIT_NETWORK)
        for button, action in ((self.minus, view.zoom_out), (self.plus, view.zoom_in), (self.fit, view.fit)):
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
        self.zoom.setText(whole_percent(zoom))


class CanvasPane(QFrame):
    """The strip, the canvas and its legend; an empty state where there is no run.

    Signals:
        target_selected: the :data:`Target` that was selected, or ``None``.
        target_activated: the node on which Enter was pressed or that was double-clicked.
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
        """Whether there is no run to show."""
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
            self.empty.say(texts.reading_run(state.run.number))
            return
        if runner.running:
            self.empty.say(texts.RUN_BEGINS)
            return
        why = runner.why_not()
        sentence = texts.RUN_TO_WATCH
        if state.run is not None and not state.pair_count:
            sentence = texts.run_without_pairs(state.run.number)
        untried = "" if why else self._untried()
        note = "\n".join(part for part in (self._cost() or why, untried) if part)
        more = texts.TRY_FIRST if untried else ""
        self.empty.say(
            sentence, note, texts.RUN, self._start, primary=True, why_not=why, more=more, do_more=self._try_models
        )

    def _untried(self) -> str:
        """A note on models that have not judged in this project yet; empty without any."""
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
        note = texts.untried_model if len(untried) == 1 else texts.untried_models
        return note(", ".join(untried), calls_needed())

    def _try_models(self) -> None:
        self._context.actions.trigger("models.try")

    def _cost(self) -> str:
        """Pairs, calls, price, time and limits of the run in one line."""
        run_estimate = self._context.figures.estimate
        if run_estimate is None:
            return self._context.figures.problem
        estimate = run_estimate.estimate
        parts = [
            plural(estimate.pairs, "pair"),
            f"{span(*estimate.calls_open, 'whole')} {texts.CALL if estimate.calls_open.high == 1 else texts.CALLS}",
        ]
        by_batch = isinstance(self._context.runner.batch_wish, BatchChoice)
        price = estimate.batch_price if by_batch and estimate.batch_price is not None else estimate.price
        if price is not None:
            parts.append(texts.about(money_span(*price, estimate.currency)) if price.high else texts.FREE)
        if not by_batch:
            parts.append(duration_range(run_estimate.duration.low, run_estimate.duration.high))
        if limits := limits_words(self._context.runner.limits, estimate.currency):
            parts.append(texts.at_most(limits))
        if stop := stop_words(self._context.runner.stop_wish):
            parts.append(stop)
        if batch := batch_words(self._context.runner.batch_wish):
            parts.append(batch)
        return " · ".join(parts)

    def _start(self) -> None:
        self._context.actions.trigger("run.start")
