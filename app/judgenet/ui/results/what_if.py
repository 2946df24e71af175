"""The panel What if: a smaller network, or other rules of voting, answered at once from the recorded calls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSlider, QWidget

from judgenet.core.acceptance import ACCEPTED
from judgenet.core.learned import LEARNED
from judgenet.core.network import Aggregation
from judgenet.core.pairs import ORDERS, Order
from judgenet.core.wording import MINUS, of, p_value, percent, percent_interval, plural, points, points_interval
from judgenet.ui.elements import ComboBox, label, line, link
from judgenet.ui.measures import measure
from judgenet.ui.results import texts
from judgenet.ui.results.explore import Explorer, WhatIfQuestion, own_question
from judgenet.ui.results.panel import Big, Panel
from judgenet.ui.results.state import Results
from judgenet.ui.widgets import Segment

if TYPE_CHECKING:
    from judgenet.stats.whatif import Subnetwork, VoteRule

MOST_LAYERS: Final = 3
"""A deeper network has one slider for neurons, that of the last layer kept."""
_RULES: Final[tuple[tuple[VoteRule, str], ...]] = (
    ("c2_all", texts.VOTE_OF_ALL),
    ("c2_last", texts.VOTE_OF_LAST),
    ("c1", texts.AVERAGE_OF_ALL),
)


def looked_at(decides: str) -> str:
    """The aggregation that stands for the verdict where rules of voting are compared: averages and the chair do not
    vote."""
    return decides if decides.startswith("c2") else "c2_all"


class Slider(QSlider):
    """A slider for a whole number; the wheel moves it only while it has the focus."""

    def __init__(self, name: str) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setPageStep(1)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def set_range(self, low: int, high: int, value: int, why_not: str = "") -> None:
        """Sets range and value without emitting a signal; ``why_not`` says why it cannot be moved."""
        self.blockSignals(True)
        self.setRange(low, high)
        self.setValue(value)
        self.blockSignals(False)
        self.setEnabled(not why_not)
        self.setToolTip(why_not)
        self.setAccessibleDescription(why_not)


class _SliderRow:
    """A name, a slider and its value."""

    def __init__(self, grid: QGridLayout, row: int, name: str) -> None:
        self.name = label(name, tone="text2")
        self.slider = Slider(name)
        self.value = label("", "strong")
        self.value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.name.setBuddy(self.slider)
        measure(self.value, min_width=24)
        grid.addWidget(self.name, row, 0)
        grid.addWidget(self.slider, row, 1)
        grid.addWidget(self.value, row, 2)

    def show(self, *, shown: bool) -> None:
        for widget in (self.name, self.slider, self.value):
            widget.setVisible(shown)

    def say(self, name: str) -> None:
        self.name.setText(name)
        self.slider.setAccessibleName(name)

    def set_range(self, low: int, high: int, value: int, why_not: str = "") -> None:
        self.slider.set_range(low, high, value, why_not)
        self.value.setText(f"{value:,}")


class WhatIfPanel(Panel):
    """Controls for a smaller network and for other rules, and how they change the run's own verdict.

    Signals:
        rules_chosen: an :class:`Aggregation`, ``None`` for the run's own.
        pairs_wanted: places of pairs in the run, and in words which pairs they are.
        rule_chosen: the chosen aggregation (:data:`judgenet.stats.whatif.VoteRule`).
    """

    rules_chosen = Signal(object)
    pairs_wanted = Signal(object, str)
    rule_chosen = Signal(str)

    def __init__(self, explorer: Explorer, parent: QWidget | None = None) -> None:
        self._explorer = explorer
        self._grid = QGridLayout()
        self._grid.setColumnStretch(1, 1)
        self.layers = _SliderRow(self._grid, 0, texts.LAYERS)
        self.widths = [
            _SliderRow(self._grid, 1 + place, texts.neurons_of_layer(place + 1)) for place in range(MOST_LAYERS)
        ]
        self.samples = _SliderRow(self._grid, 1 + MOST_LAYERS, texts.SAMPLES_PER_CALL)
        self.orders = Segment(texts.ORDERS, [("both", texts.BOTH_ORDERS), ("ab", texts.A_FIRST), ("ba", texts.B_FIRST)])
        self.rule = ComboBox(texts.AGGREGATION)
        for key, text in _RULES:
            self.rule.addItem(text, key)
        self.vote = Segment(texts.WHO_VOTES, [("neuron", texts.EACH_NEURON), ("call", texts.EACH_CALL)])
        self.ties = Segment(texts.TIED_VOTER, [("abstain", texts.ABSTAINS), ("candidate", texts.VOTES_FOR_A_TIE)])
        self.fallback = Segment(texts.EQUAL_VOTES, [("tie", texts.EQUAL_VOTES_TIE), ("c1", texts.AVERAGE_DECIDES)])
        self.accuracy, self.calls, self.gain = Big(), Big(), Big()
        self.words = label("", tone="text2", wrap=True)
        self.note = label("", tone="text2", wrap=True)
        self.show_them = link(texts.SHOW_THEM, texts.SHOW_CHANGED_PAIRS)
        self.back = link(texts.BACK_TO_RUN)
        self.read = link(texts.READ_THEM, texts.READ_CALLS)
        super().__init__(texts.WHAT_IF, parent=parent)
        self.say(texts.FROM_RECORDED_RUN)
        first = 2 + MOST_LAYERS
        rows: tuple[tuple[str, QWidget], ...] = (
            (texts.ORDERS, self.orders),
            (texts.AGGREGATION, self.rule),
            (texts.VOTE, self.vote),
            (texts.TIED_VOTER, self.ties),
            (texts.EQUAL_VOTES, self.fallback),
        )
        self._names: dict[QWidget, QLabel] = {}
        for place, (text, widget) in enumerate(rows):
            self._names[widget] = label(text, tone="text2")
            self._grid.addWidget(self._names[widget], first + place, 0)
            side = Qt.AlignmentFlag(0) if widget is self.rule else Qt.AlignmentFlag.AlignRight
            self._grid.addWidget(widget, first + place, 1, 1, 2, side)
        self._lay_out(explorer)

    def _lay_out(self, explorer: Explorer) -> None:
        figures = QHBoxLayout()
        for big in (self.accuracy, self.calls, self.gain):
            figures.addWidget(big, 1, Qt.AlignmentFlag.AlignTop)
        links = QHBoxLayout()
        for widget in (self.back, self.read):
            links.addWidget(widget)
        links.addStretch(1)
        links.addWidget(self.show_them)
        self.body.addLayout(self._grid)
        self.body.addWidget(self.note)
        self.body.addWidget(line())
        self.body.addLayout(figures)
        self.body.addWidget(self.words)
        self.body.addStretch(1)
        self.body.addLayout(links)
        self._figures = figures
        self._results: Results | None = None
        self._own: Results | None = None
        self._choice: Subnetwork | None = None
        self.layers.slider.valueChanged.connect(self._depth_moved)
        for row in self.widths:
            row.slider.valueChanged.connect(self._moved)
        self.samples.slider.valueChanged.connect(self._moved)
        self.orders.chosen.connect(self._moved)
        self.rule.activated.connect(self._rule_chosen)
        for segment in (self.vote, self.ties, self.fallback):
            segment.chosen.connect(self._rules_chosen)
        self.back.clicked.connect(self._go_back)
        self.read.clicked.connect(explorer.again)
        self.show_them.clicked.connect(self._show)
        explorer.changed.connect(self._fill)
        explorer.answered.connect(self._tell)
        measure(self._grid, down=8, across=12)
        measure(self._figures, spacing=16)

    @property
    def rules(self) -> Aggregation:
        """The rules of voting as the controls have them."""
        vote: Literal["neuron", "call"] = "neuron" if self.vote.current == "neuron" else "call"
        ties: Literal["abstain", "candidate"] = "abstain" if self.ties.current == "abstain" else "candidate"
        own = None if self._own is None else self._own.rules
        learned = None if own is None else own.learned
        rules = Aggregation(vote, ties, "tie" if self.fallback.current == "tie" else "c1", learned)
        # What a rule promises holds for the votes that it was chosen for.
        same = own is not None and replace(own, acceptance=None) == rules
        return own if same and own is not None else rules

    @property
    def choice(self) -> Subnetwork | None:
        """The sub-network as the controls have it, ``None`` while the calls are not read."""
        return self._choice

    def show_results(self, own: Results, results: Results, rules: Aggregation) -> None:
        """Shows the rules in force; ``own`` is the run under its own rules."""
        new = self._own is None or own.run.id != self._own.run.id or own.report.decides != self._own.report.decides
        self._own, self._results = own, results
        self.vote.set_current(rules.vote)
        self.ties.set_current(rules.ties)
        self.fallback.set_current(rules.fallback)
        if new:
            self._choice = None
        self._fill()

    # The sub-network

    def _fill(self) -> None:
        """Sets the controls to what is possible and chosen."""
        explored, own = self._explorer.explored, self._own
        known = explored is not None and bool(explored.names) and own is not None
        if explored is None or own is None or not known:
            self._choice = None
            self.layers.set_range(1, 1, 1, self._explorer.why)
            for place, row in enumerate(self.widths):
                row.show(shown=place == 0)
                row.set_range(1, 1, 1, self._explorer.why)
            self.samples.show(shown=False)
            for widget in (self.orders, self.rule):
                widget.setEnabled(False)
                widget.setToolTip(self._explorer.why)
            self.note.setText(self._explorer.why)
            self.read.setVisible(self._explorer.stopped)
            for big in (self.accuracy, self.calls, self.gain):
                big.say("…" if self._explorer.working else "n/a", "")
            self.words.setText("")
            self.show_them.hide()
            self.back.setVisible(self._results is not None and self._results.rules != self._recorded)
            return
        self.read.hide()
        if self._choice is None:
            question = own_question(explored.calls, own.report.decides, own.report.recorded)
            self._choice = question.choice
            self.rule.setCurrentIndex(self.rule.findData(question.rule))
        self._show_choice()
        self._ask()

    @property
    def _recorded(self) -> Aggregation | None:
        return None if self._own is None else self._own.report.recorded

    def _show_choice(self) -> None:
        from judgenet.stats.whatif import whole_choice

        explored, choice = self._explorer.explored, self._choice
        assert explored is not None
        assert choice is not None
        calls = explored.calls
        whole = whole_choice(calls)
        depth = choice.depth
        one_layer = texts.ONE_LAYER_ONLY if calls.depth == 1 else ""
        self.layers.set_range(1, calls.depth, depth, one_layer)
        sizes = [int((calls.layers == layer).sum()) for layer in range(1, calls.depth + 1)]
        shown = list(range(1, calls.depth + 1)) if calls.depth <= MOST_LAYERS else [depth]
        for place, row in enumerate(self.widths):
            row.show(shown=place < len(shown))
            if place >= len(shown):
                continue
            layer = shown[place]
            row.say(texts.neurons_of_layer(layer))
            if layer > depth:
                row.set_range(0, sizes[layer - 1], 0, texts.layer_left_out(layer))
            elif layer < depth:
                row.set_range(1, sizes[layer - 1], sizes[layer - 1], texts.layer_was_read(layer, layer + 1))
            else:
                alone = texts.layer_of_one(layer) if sizes[layer - 1] == 1 else ""
                row.set_range(1, sizes[layer - 1], choice.width, alone)
        self.samples.show(shown=whole.samples > 1)
        self.samples.set_range(1, whole.samples, choice.samples)
        both = choice.orders == whole.orders
        self.orders.set_current("both" if both else choice.orders[0])
        why = ""
        if len(calls.orders) < len(ORDERS):
            why = texts.ONE_ORDER_SHOWN
        elif depth > 1:
            why = texts.read_both_orders(depth)
        self.orders.setEnabled(not why)
        self.orders.setToolTip(why)
        self.rule.setEnabled(True)
        self.rule.setToolTip("")
        notes = [why] if depth == 1 and why else []
        if depth > 1:
            kept = texts.LAYER_1 if depth == 2 else texts.layers_up_to(depth - 1)
            notes.append(texts.only_last_layer(depth, kept))
        if choice.width < sizes[depth - 1]:
            notes.append(texts.first_neurons_kept(depth, plural(choice.width, "neuron"), sizes[depth - 1]))
        if stood_for(self._own):
            notes.append(texts.VERDICT_OF_WHOLE_NETWORK)
        self.note.setText(" ".join(notes))
        self.note.setVisible(bool(notes))

    def _depth_moved(self, depth: int) -> None:
        explored = self._explorer.explored
        if explored is None or self._choice is None or depth == self._choice.depth:
            return
        from judgenet.stats.whatif import Subnetwork

        calls = explored.calls
        orders: tuple[Order, ...] = self._choice.orders if depth == 1 else calls.orders
        self._choice = Subnetwork(depth, int((calls.layers == depth).sum()), orders, self._choice.samples)
        self._show_choice()
        self._ask()

    def _moved(self, _value: object) -> None:
        explored, choice = self._explorer.explored, self._choice
        if explored is None or choice is None:
            return
        from judgenet.stats.whatif import Subnetwork

        place = choice.depth - 1 if explored.calls.depth <= MOST_LAYERS else 0
        key = self.orders.current
        orders = explored.calls.orders if key == "both" else tuple(order for order in ORDERS if order == key)
        self._choice = Subnetwork(choice.depth, self.widths[place].slider.value(), orders, self.samples.slider.value())
        self._show_choice()
        self._ask()

    def set_choice(self, choice: Subnetwork) -> None:
        """Sets a sub-network, such as that of a mark of the curve."""
        if self._explorer.explored is not None:
            self._choice = choice
            self._show_choice()
            self._ask()

    def _rule_chosen(self, _place: int) -> None:
        self.rule_chosen.emit(self.rule.currentData())
        self._ask()

    def _ask(self) -> None:
        if self._choice is not None and self._results is not None:
            self._explorer.ask(WhatIfQuestion(self._choice, self.rule.currentData(), self.rules))

    def _tell(self) -> None:
        """Shows the answer."""
        reply, explored = self._explorer.reply, self._explorer.explored
        if reply is None or explored is None or self._choice is None:
            return
        answer, own, changed = reply.answer, reply.own, reply.change
        if answer.accuracy is None:
            self.accuracy.say("n/a", texts.NO_ACCURACY)
        else:
            interval = percent_interval(answer.interval)
            self.accuracy.say(
                percent(answer.accuracy), texts.accuracy_on_pairs(interval, of(answer.n_used, answer.n_total))
            )
        calls = f"{answer.calls:.1f}".removesuffix(".0")
        less = round(100 * (answer.calls / own.calls - 1)) if own.calls else 0
        saved = f", {MINUS if less < 0 else '+'}{abs(less)} %" if less else ""
        self.calls.say(calls, texts.calls_per_pair_saved(saved))
        test = changed.test
        assert self._own is not None
        differs = reply.question != own_question(explored.calls, self._own.report.decides, self._own.report.recorded)
        if not differs:
            self.gain.say("–", texts.RUN_AS_IT_WAS)
        elif test.difference is None:
            self.gain.say("n/a", texts.NO_LABEL_TO_COMPARE)
        else:
            self.gain.say(points(test.difference), texts.against_run(points_interval(test.interval)))
        n = len(changed.changed)
        words = texts.verdicts_change(n, plural(changed.n, "verdict"))
        if test.n:
            words += texts.right_and_wrong(changed.to_right, changed.to_wrong, p_value(test.p))
        self.words.setText(f"{words}." if differs else "")
        self.show_them.setVisible(n > 0)
        self.back.setVisible(differs)

    def _rules_chosen(self, _key: str) -> None:
        self.rules_chosen.emit(self.rules)
        self._ask()

    def _go_back(self) -> None:
        self._choice = None
        if self._recorded is not None:
            self.vote.set_current(self._recorded.vote)
            self.ties.set_current(self._recorded.ties)
            self.fallback.set_current(self._recorded.fallback)
        self.rules_chosen.emit(None)
        self._fill()

    def _show(self) -> None:
        reply, explored = self._explorer.reply, self._explorer.explored
        if reply is not None and explored is not None:
            pairs = tuple(explored.pairs[place] for place in reply.change.changed)
            self.pairs_wanted.emit(pairs, texts.CHANGED_BY_WHAT_IF)


def stood_for(own: Results | None) -> bool:
    """Whether the run's verdict is its chair's, a learned one, or left to people where it is not sure: a vote then
    stands for it."""
    return own is not None and own.report.decides in ("chair", LEARNED, ACCEPTED)
