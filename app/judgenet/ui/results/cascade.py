"""The panel Ask only where it matters: a stop rule, replayed at once on the recorded calls of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from judgenet.core.cascade import NEVER, read_stop_rule, stop_rule_text, stop_rule_words, with_rule
from judgenet.core.network import NetworkError, StopRule, StopWhen, is_recorded
from judgenet.core.wording import capitalized, money, of, percent, percent_interval, points, points_interval
from judgenet.store.db import Store
from judgenet.ui.context import Context
from judgenet.ui.elements import ComboBox, label, line, link
from judgenet.ui.measures import measure
from judgenet.ui.results import texts
from judgenet.ui.results.latest import LatestComputation
from judgenet.ui.results.panel import Big, Panel, clear_layout
from judgenet.ui.results.state import Results
from judgenet.ui.results.what_if import Slider, stood_for

if TYPE_CHECKING:
    from judgenet.figures.cascade import RunCascade

_WAIT_MS: Final = 30
_RULES: Final[dict[StopWhen, str]] = {
    "orders_agree": texts.ORDERS_AGREE,
    "neurons_agree": texts.NEURONS_AGREE,
    "decided": texts.VOTE_IS_DECIDED,
    "margin": texts.LEAD_IN_VOTES,
    "difference": texts.DIFFERENCE_OF_SCORES,
}
_STEPS: Final[dict[StopWhen, tuple[int, float]]] = {"margin": (9, 1.0), "difference": (18, 0.5)}
"""By rule with a number: the last position of the slider, and the number that one step of it stands for."""


@dataclass(frozen=True, slots=True)
class CascadeQuestion:
    """A stop rule and its stages. ``groups`` names the neurons of each stage; without groups, ``after`` says where the
    rule stands, as in ``--stop-when``."""

    rule: StopRule
    groups: tuple[tuple[str, ...], ...] = ()
    after: str = ""


def cascade_of(store: Store, results: Results, question: CascadeQuestion) -> RunCascade:
    """What the run in view would have said under a stop rule.

    :raises FiguresError: the stages cannot be asked in this order.
    """
    from judgenet.figures.cascade import run_cascade

    return run_cascade(
        store,
        results.frame,
        stop_rule_text(question.rule),
        question.groups,
        after=question.after,
        aggregation="c1" if results.report.decides == "c1" else "c2_all",
    )


class CascadePanel(Panel):
    """Controls for a stop rule, its accuracy and calls compared with asking everything, and a table of other rules."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        self.stages = ComboBox(texts.STAGES)
        self.first, self.then = ComboBox(texts.FIRST_STAGE), ComboBox(texts.NEXT_STAGE)
        self.rule = ComboBox(texts.PAIR_DECIDED_WHERE)
        for when, text in _RULES.items():
            self.rule.addItem(text, when)
        self.number = Slider(texts.AT_LEAST)
        self.value = label("", "strong")
        self.accuracy, self.calls, self.gain = Big(), Big(), Big()
        self.words = label("", tone="text2", wrap=True)
        self.ran = label("", wrap=True)
        self.use = link(texts.USE_RULE, texts.USE_RULE_TIP)
        super().__init__(texts.ASK_WHERE_IT_MATTERS, parent=parent)
        self.say(texts.FROM_RECORDED_RUN)
        self._context = context
        self._results: Results | None = None
        self._latest = LatestComputation(context)
        self.cascade: RunCascade | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_WAIT_MS)
        self._timer.timeout.connect(self._ask)
        self._names: dict[QWidget, QLabel] = {}
        self._grid, self._table = QGridLayout(), QGridLayout()
        self._lay_out()
        for box in (self.stages, self.first, self.then, self.rule):
            box.activated.connect(self._chosen)
        self.number.valueChanged.connect(self._moved)
        self.use.clicked.connect(self._use)
        self._show_number()

    def _lay_out(self) -> None:
        """Puts the rule and its figures at the left, the table of other rules at the right."""
        rows: tuple[tuple[str, QWidget], ...] = (
            (texts.STAGES, self.stages),
            (texts.FIRST, self.first),
            (texts.NEXT_STAGE_SHORT, self.then),
            (texts.DECIDED_WHERE, self.rule),
            (texts.AT_LEAST, self.number),
        )
        for place, (text, widget) in enumerate(rows):
            self._names[widget] = label(text, tone="text2")
            self._grid.addWidget(self._names[widget], place, 0)
            self._grid.addWidget(widget, place, 1)
        self._grid.setColumnStretch(1, 1)
        self._grid.addWidget(self.value, len(rows) - 1, 2)
        self.value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        figures = QHBoxLayout()
        for big in (self.accuracy, self.calls, self.gain):
            figures.addWidget(big, 1, Qt.AlignmentFlag.AlignTop)
        left, right = QWidget(), QWidget()
        column = _column(left)
        column.addLayout(self._grid)
        column.addWidget(line())
        column.addLayout(figures)
        column.addWidget(self.words)
        column.addWidget(self.use, alignment=Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        self._table.setColumnStretch(0, 1)
        beside = _column(right)
        beside.addLayout(self._table)
        beside.addWidget(label(texts.RULE_LOOKS_BETTER, tone="text2", wrap=True))
        beside.addStretch(1)
        both = QHBoxLayout()
        both.addWidget(left, 46)
        both.addWidget(right, 54)
        self.body.addWidget(self.ran)
        self.body.addLayout(both)
        measure(self._grid, down=8, across=12)
        measure(self._table, down=6, across=16)
        measure(figures, spacing=16)
        measure(both, spacing=32)
        measure(self.value, min_width=24)

    # What is asked

    def look(self, results: Results, *, live: bool) -> None:
        """Shows a run. While it is running, the panel is hidden."""
        new = self._results is None or self._results.run.id != results.run.id
        self._results = results
        frame = results.frame
        shown = len(frame.places) > 1 and not live
        self.setVisible(shown)
        if not shown:
            # What is still being computed is of another run.
            self._latest.forget()
            self.cascade = None
            return
        if new:
            self._fill_stages(frame.spec.depth, frame.names)
        ran = results.report.cascade
        self.ran.setVisible(ran is not None)
        if ran is not None:
            saved = "" if ran.price_saved is None else f", {money(ran.price_saved)}"
            went = ", ".join(f"{stage.name} {of(stage.asked, stage.n_total)}" for stage in ran.stages)
            self.ran.setText(
                texts.as_it_ran(
                    of(ran.decided_early, ran.n_total),
                    of(ran.calls, ran.calls_most),
                    percent(ran.calls_saved),
                    saved,
                    went,
                )
            )
        self._timer.start()

    def _fill_stages(self, depth: int, names: Sequence[str]) -> None:
        self.stages.clear()
        if depth > 1:
            self.stages.addItem(texts.LAYER_BY_LAYER, "")
        self.stages.addItem(texts.NEURON_BY_NEURON, "neurons")
        self.stages.addItem(texts.TWO_NEURONS, "two")
        for box, place in ((self.first, 0), (self.then, 1)):
            box.clear()
            for name in names:
                box.addItem(name)
            box.setCurrentIndex(place)
        self._show_choices()

    def _show_choices(self) -> None:
        for box in (self.first, self.then):
            shown = self.stages.currentData() == "two"
            box.setVisible(shown)
            self._names[box].setVisible(shown)
        self._show_number()

    def _show_number(self) -> None:
        when: StopWhen = self.rule.currentData()
        steps = _STEPS.get(when)
        for widget in (self.number, self.value, self._names[self.number]):
            widget.setVisible(steps is not None)
        if steps is not None:
            last, step = steps
            self.number.set_range(1, last, min(self.number.value(), last))
            number = self.number.value() * step
            self.value.setText(texts.lead(f"{number:g}") if when == "margin" else texts.points(f"{number:g}"))

    @property
    def question(self) -> CascadeQuestion:
        """The rule and the stages as the controls have them."""
        when: StopWhen = self.rule.currentData()
        steps = _STEPS.get(when)
        rule = StopRule(when, None if steps is None else self.number.value() * steps[1])
        kind = self.stages.currentData()
        if kind == "two":
            return CascadeQuestion(rule, ((self.first.currentText(),), (self.then.currentText(),)))
        return CascadeQuestion(rule, after=kind or "")

    def _chosen(self, _index: int) -> None:
        self._show_choices()
        self._timer.start()

    def _moved(self, _value: int) -> None:
        self._show_number()
        self._timer.start()

    # The answer

    def _ask(self) -> None:
        results, store = self._results, self._context.document.store
        if results is None or store is None:
            return
        if self._latest.is_new((results, self.question)):
            work = partial(cascade_of, store, results, self.question)
            self._latest.start(texts.REPLAY_RULE, work, self._show, about=results.run.id, refuse=self._refuse)

    def _refuse(self, problem: str) -> None:
        """Says why the rule cannot be replayed."""
        self.cascade = None
        self.use.hide()
        clear_layout(self._table)
        for big in (self.accuracy, self.calls, self.gain):
            big.say("n/a", "")
        self.words.setText(problem)

    def _show(self, cascade: RunCascade) -> None:
        self.cascade = cascade
        self.use.setVisible(self._usable())
        clear_layout(self._table)
        mine = next(row for row in cascade.variants if row.rule == cascade.rule)
        n = texts.accuracy_on(percent_interval(cascade.accuracy_ci), of(cascade.n_used, cascade.labelled))
        self.accuracy.say(percent(cascade.accuracy), n)
        self.calls.say(percent(mine.calls_share), texts.of_the_calls(of(cascade.calls, cascade.calls_most)))
        ends = points_interval(mine.difference_ci)
        self.gain.say("n/a" if mine.difference is None else points(mine.difference), texts.against_everything(ends))
        # The name of a stage may be that of a model, which keeps its small letter.
        went = ", ".join(texts.stage_on(stage.name, of(stage.asked, stage.n_total)) for stage in cascade.stages)
        sentences = [texts.asked(went)]
        if len(cascade.stages) > 1:
            sentences.append(texts.last_stage_alone(percent(cascade.last_accuracy)))
        if cascade.unknown:
            sentences.append(texts.pairs_unknown(cascade.unknown))
        if stood_for(self._results):
            sentences.append(texts.WHOLE_NETWORK_STAND_IN)
        self.words.setText(" ".join(sentences))
        self._fill_table(cascade)

    def _fill_table(self, cascade: RunCascade) -> None:
        for place, text in enumerate((texts.DECIDED_WHERE, texts.ACCURACY, texts.CALLS, texts.DIFFERENCE)):
            self._cell(0, place, text, tone="text2")
        for row, of_rule in enumerate(cascade.variants, 1):
            strong = of_rule.rule == cascade.rule
            name = texts.EVERY_CALL if of_rule.rule == NEVER else _sentence(of_rule.rule)
            gain = "n/a" if of_rule.difference is None else points(of_rule.difference)
            cells = (name, percent(of_rule.accuracy), percent(of_rule.calls_share), "" if row == 1 else gain)
            for place, text in enumerate(cells):
                self._cell(row, place, text, strong=strong)

    def _cell(self, row: int, place: int, text: str, *, tone: str = "", strong: bool = False) -> None:
        cell = label(text, "strong" if strong else "", tone=tone)
        if place:
            cell.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            measure(cell, font="strong" if strong else "body", tabular=True)
        self._table.addWidget(cell, row, place)

    # Into the design

    def _usable(self) -> bool:
        document = self._context.document
        return (
            document.is_open
            and not document.read_only
            and self.stages.currentData() != "two"
            and not is_recorded(document.spec)
        )

    def _use(self) -> None:
        document, question = self._context.document, self.question
        text = stop_rule_text(question.rule) + (f" after={question.after}" if question.after else "")
        try:
            spec = with_rule(document.spec, text)
        except NetworkError as error:
            self._context.errors.post(str(error), texts.CHANGE_RULES, level="warning")
            return
        document.edit_network(texts.CHANGE_RULES, spec)
        self._context.navigator.go("design")


def _column(widget: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    measure(column, spacing=12)
    return column


def _sentence(text: str) -> str:
    rule = read_stop_rule(text)
    words = text if rule is None else stop_rule_words(rule)
    return capitalized(words)
