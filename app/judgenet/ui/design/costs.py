"""The strip below the canvas that says what the design costs."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from judgenet.core.batches import USUAL_HOURS, stages_of
from judgenet.core.checks import Problem
from judgenet.core.plan import RunTotals
from judgenet.core.wording import capitalized, duration_range, money, money_span, plural, span
from judgenet.engine.batches import BatchChoice
from judgenet.engine.estimate import USUAL_LATENCY_S, RunEstimate
from judgenet.ui.context import Context
from judgenet.ui.design import texts
from judgenet.ui.elements import label, set_tone, upright
from judgenet.ui.icons import icon
from judgenet.ui.limits import batch_words, limits_words, stop_words
from judgenet.ui.measures import measure
from judgenet.ui.widgets import set_kind

STRIP: Final = 72
_SHORT: Final = {"evidence": texts.SCORES_ALONE}
"""Problems of the whole network in the few words that fit into the strip."""


class _Figure(QWidget):
    """A figure with its name below it."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self.figure = label("–", "figure")
        self.word = label(word, tone="text2")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.figure)
        column.addWidget(self.word)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def say(self, figure: str, word: str, tip: str = "") -> None:
        """Shows a figure."""
        self.figure.setText(figure)
        self.word.setText(word)
        self.setAccessibleName(f"{figure} {word}")
        self.setToolTip(tip)
        # At once, not at the next layout: the strip measures its figures right after this.
        self.updateGeometry()


def _expected_words(estimate: RunTotals) -> str:
    """The expected number of calls of a network with stop rules; empty where it has none, or no run tells."""
    expected = estimate.expected
    if expected is None:
        return ""
    return texts.expected_calls(f"{expected.calls:,.0f}", plural(expected.pairs, texts.RECORDED_PAIR))


class CostStrip(QFrame):
    """Calls, tokens, calls already paid, price and time of the design on the loaded pairs; its problems at the right.

    Signals:
        problem_wanted: the tag of the problems was clicked.
    """

    problem_wanted = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self.setProperty("part", "foot")
        self.setAccessibleName(texts.COSTS)
        self.calls = _Figure(texts.CALLS)
        self.tokens = _Figure(texts.TOKENS)
        self.paid = _Figure(texts.ALREADY_PAID)
        self.open = _Figure(texts.NEW_CALLS)
        self.price = _Figure(texts.PRICE)
        self.time = _Figure(texts.TIME)
        self.note = label("", tone="text2", wrap=True)
        self._shown_for: BatchChoice | bool | None = None
        self._problem = texts.NO_PROBLEM
        self.problems = QPushButton(self._problem)
        self.problems.setProperty("kind", "problem")
        self.problems.clicked.connect(self.problem_wanted)
        self.try_models = QPushButton(texts.TEST_MODELS)
        set_kind(self.try_models, "flat")
        context.actions.attach(self.try_models, "models.try")
        self.limits = QPushButton(texts.LIMITS)
        set_kind(self.limits, "flat")
        context.actions.attach(self.limits, "run.limits")
        self.experiments = QPushButton(texts.EXPERIMENTS)
        set_kind(self.experiments, "flat")
        context.actions.attach(self.experiments, "experiments.open")
        row = QHBoxLayout(self)
        row.addWidget(self.calls)
        row.addWidget(self.tokens)
        self._line = upright()
        row.addWidget(self._line)
        for figure in (self.paid, self.open, self.price, self.time):
            row.addWidget(figure)
        row.addWidget(self.note, stretch=3)
        row.addStretch(1)
        row.addWidget(self.problems)
        row.addWidget(self.limits)
        row.addWidget(self.try_models)
        row.addWidget(self.experiments)
        self._row = row
        context.figures.changed.connect(self.refresh)
        context.document.pairs_changed.connect(self.refresh)
        context.runner.changed.connect(self._wishes_changed)
        self.show_problems(())
        measure(self, height=STRIP)
        measure(self._line, height=40)
        measure(self.problems, icon=16)
        self._fit()
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        width = self.width() / self._context.theme.theme.scale
        theme = self._context.theme.theme
        side = 32 if width > 640 else 16
        self._row.setContentsMargins(theme.px(side), 0, theme.px(min(side, 24)), 0)
        spaces = (36, 20) if width > 920 else (20,) if width > 400 else (12,)
        self._row.setSpacing(theme.px(spaces[0]))
        self.note.setMinimumWidth(theme.px(120))
        self._elide_problems()
        estimate = self._context.figures.estimate
        counted = estimate is not None and estimate.estimate.pairs > 0
        self.tokens.setVisible(counted and width > 560)
        self.open.setVisible(counted and width > 760)
        self.paid.setVisible(counted and width > 480)
        self.time.setVisible(counted and width > 360)
        for button in (self.experiments, self.try_models, self.limits):
            button.show()
        # Where room is short, spaces shrink first; then buttons that the menu has too go, then figures others imply.
        if self._needed() > self.width():
            self._row.setSpacing(theme.px(spaces[-1]))
        for widget in (self.experiments, self.try_models, self.tokens, self.limits, self.open, self.paid, self.time):
            if self._needed() <= self.width():
                return
            widget.hide()
        if self._needed() > self.width():
            # The tooltip and the inspector name the problem too.
            self.note.setMinimumWidth(0)

    def _needed(self) -> int:
        """The width in px that all visible parts need."""
        items = [self._row.itemAt(place) for place in range(self._row.count())]
        widths = [
            max(item.minimumSize().width(), item.sizeHint().width() if item.widget() is not self.note else 0)
            for item in items
            if item is not None and not item.isEmpty()
        ]
        margins = self._row.contentsMargins()
        return sum(widths) + self._row.spacing() * max(0, len(widths) - 1) + margins.left() + margins.right()

    def show_problems(self, problems: tuple[Problem, ...]) -> None:
        """Shows how many problems the design has; a single one is named."""
        errors = [problem for problem in problems if problem.severity == "error"]
        shown = errors or list(problems)
        self.problems.setVisible(bool(shown))
        self._fit()
        if not shown:
            return
        models = [problem for problem in shown if problem.path.endswith(".model")]
        if len(models) == len(shown) and all(problem.neuron is not None for problem in models):
            neurons = plural(len(models), texts.NEURON_HAS, texts.NEURONS_HAVE)
            text = texts.neurons_without_model(neurons)
        elif all(problem.path.endswith(".copy") for problem in shown):
            text = plural(len(shown), texts.NEURON_IS_COPY, texts.NEURONS_ARE_COPIES)
        elif len(shown) == 1 and shown[0].path in _SHORT:
            text = _SHORT[shown[0].path]
        elif len(shown) == 1:
            text = shown[0].message.rstrip(".") if shown[0].layer is None else str(shown[0]).partition(". ")[0]
        else:
            text = plural(len(shown), "problem")
        self._problem = text
        self._elide_problems()
        self.problems.setIcon(icon("warning", "warn"))
        self.problems.setAccessibleName(texts.show_problem(text))
        self.problems.setToolTip("\n".join(str(problem) for problem in shown[:12]))

    def _elide_problems(self) -> None:
        theme = self._context.theme.theme
        width = self.width() / theme.scale
        room = theme.px(320 if width > 860 else 200 if width > 640 else 100)
        shown = self.problems.fontMetrics().elidedText(self._problem, Qt.TextElideMode.ElideRight, room)
        if shown != self.problems.text():
            self.problems.setText(shown)

    def _show_limits(self) -> None:
        """Shows the limits in force; asks for the price where it is unknown, since money can then not be limited."""
        limits, estimate = self._context.runner.limits, self._context.figures.estimate
        named = limits_words(limits)
        unknown = estimate is not None and estimate.estimate.pairs > 0 and estimate.estimate.price is None
        wish = self._context.runner.stop_wish
        words = stop_words(wish)
        stop = texts.UNTIL_ENOUGH if wish.until else capitalized(words)
        batch = batch_words(self._context.runner.batch_wish)
        text = (
            texts.at_most(named)
            if named
            else texts.ENTER_PRICE
            if unknown
            else stop or capitalized(batch) or texts.LIMITS
        )
        limits_text = ", ".join(part for part in (named, words, batch) if part)
        name = texts.limits_of_run(limits_text) if limits_text else text
        if (text, name) != (self.limits.text(), self.limits.accessibleName()):
            self.limits.setText(text)
            self.limits.setAccessibleName(name)
            self._fit()

    def _wishes_changed(self) -> None:
        """Shows the limits; also price and time where the choice of batches changed."""
        if self._shown_for != self._context.runner.batch_wish:
            self.refresh()
        else:
            self._show_limits()

    def refresh(self) -> None:
        """Shows the latest estimate."""
        self._shown_for = self._context.runner.batch_wish
        self._show_limits()
        figures = self._context.figures
        shown = figures.estimate is not None
        for figure in (self.calls, self.paid, self.price, self.time):
            figure.setVisible(shown)
        self._line.setVisible(shown)
        self.note.setVisible(not shown)
        if figures.estimate is None:
            self.tokens.hide()
            self.open.hide()
            self.note.setText(figures.problem or texts.CALCULATING)
            return
        self._show(figures.estimate)
        self._fit()
        for figure in (self.calls, self.tokens, self.paid, self.open, self.price, self.time):
            set_tone(figure.figure, "text3" if figures.stale else "")

    def _show(self, run_estimate: RunEstimate) -> None:
        estimate = run_estimate.estimate
        pairs = estimate.pairs
        if not pairs:
            self._show_calls_per_pair(estimate)
            return
        self.calls.say(
            span(*estimate.calls, form="whole" if estimate.calls.high < 1e6 else "short"),
            texts.calls_for(plural(pairs, "pair")),
            _expected_words(estimate),
        )
        tokens_in, tokens_out = estimate.tokens_in, estimate.tokens_out
        low, high = tokens_in.low + tokens_out.low, tokens_in.high + tokens_out.high
        tip = texts.tokens_tip(span(*tokens_in), span(*tokens_out))
        if run_estimate.thinking:
            tip += texts.thinking_tip(run_estimate.thinking_words())
        self.tokens.say(span(low, high), texts.NEW_TOKENS if estimate.calls_recorded else texts.TOKENS, tip)
        sample = "" if run_estimate.pairs_looked_at >= pairs else texts.counted_on(run_estimate.pairs_looked_at)
        self.paid.say(f"{estimate.calls_recorded:,}", texts.ALREADY_PAID, sample or texts.ALREADY_PAID_TIP)
        new = estimate.calls_open
        self.open.say(span(*new, form="whole" if new.high < 1e6 else "short"), texts.NEW_CALLS)
        self._show_price(run_estimate)
        self._show_time(run_estimate)

    def _show_calls_per_pair(self, estimate: RunTotals) -> None:
        """Shows all that is known before pairs are loaded."""
        low, high = estimate.per_pair[0].total, estimate.per_pair[1].total
        self.calls.say(span(low, high), texts.CALL_PER_PAIR if low == high == 1 else texts.CALLS_PER_PAIR)
        for figure in (self.paid, self.price, self.time):
            figure.hide()
        self._line.hide()
        self.note.setText(texts.LOAD_PAIRS_FOR_COSTS)
        self.note.show()

    def _show_time(self, run_estimate: RunEstimate) -> None:
        seconds = run_estimate.duration
        if not seconds.high:
            self.time.say("–", texts.TIME)
        elif self._by_batch(run_estimate.estimate):
            batches = len(stages_of(self._context.document.spec))
            self.time.say(plural(batches, "batch", "batches"), texts.each_within(USUAL_HOURS), texts.ONE_AFTER_OTHER)
        else:
            basis = texts.TIME_MEASURED if seconds.measured else texts.time_assumed(USUAL_LATENCY_S)
            self.time.say(f"≈ {duration_range(seconds.low, seconds.high)}", texts.TIME, basis)

    def _show_price(self, run_estimate: RunEstimate) -> None:
        estimate = run_estimate.estimate
        if estimate.price is None:
            self.price.say(texts.UNKNOWN_PRICE, texts.PRICE, estimate.reason)
        elif not estimate.price.high and not estimate.calls_open.high:
            self.price.say(money(0.0, estimate.currency), texts.PRICE, texts.ALL_PAID)
        elif not estimate.price.high:
            self.price.say(texts.FREE, texts.PRICE, texts.ON_THIS_COMPUTER)
        else:
            live = money_span(*estimate.price, estimate.currency)
            tip = texts.prices_of(estimate.price_date)
            batch = run_estimate.batch_words()
            if batch and self._by_batch(estimate):
                self.price.say(batch, texts.by_batches_or_live(live), tip)
            else:
                self.price.say(live, texts.PRICE, texts.price_tip(tip, batch) if batch else tip)

    def _by_batch(self, estimate: RunTotals) -> bool:
        return isinstance(self._context.runner.batch_wish, BatchChoice) and estimate.batch_price is not None
