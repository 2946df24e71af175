"""Live charts: agreement with people over finished pairs, and speed and price over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from judgenet.core.aggregate import deciding
from judgenet.core.calls import CallSite
from judgenet.core.wording import MINUS, aggregation_title, duration, money, of, percent, short
from judgenet.stats.anytime import AnytimeCurve
from judgenet.stats.curves import AgreementCurves, Curve
from judgenet.stats.intervals import agreement_intervals
from judgenet.store.anytime import accuracy_curve, anytime_win_rate, rate_curve, turn_pairs
from judgenet.store.frame import RunFrame
from judgenet.store.pace import Pace
from judgenet.ui.clock import monotonic
from judgenet.ui.context import Context
from judgenet.ui.elements import label, line, link
from judgenet.ui.interval_switch import interval_link
from judgenet.ui.measures import measure
from judgenet.ui.plotting import ReferenceLine
from judgenet.ui.run import texts
from judgenet.ui.run.focus import FocusPair
from judgenet.ui.run.live_chart import Chart, ChartCurve, nice_step
from judgenet.ui.run.refresh import Refresh
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import DOCK_HEADER

REFRESH_MS: Final = 1000
FROM_PAIRS: Final = 10
"""Where curves begin once there are twice so many pairs: the figures of the first pairs vary too much."""
RESAMPLES: Final = 1000
"""For the live intervals of macro-F1 and kappa; the page Results uses more."""
MOST_OTHERS: Final = 6
"""At most so many other aggregations are drawn beside the one that decides."""

PlottedFigure = Literal["accuracy", "macro_f1", "kappa", "win_rate"]
Speed = Literal["calls", "tokens", "price"]
FIGURES: Final[dict[PlottedFigure, str]] = {
    "accuracy": texts.ACCURACY_TITLE,
    "macro_f1": texts.MACRO_F1_TITLE,
    "kappa": texts.KAPPA_TITLE,
    "win_rate": texts.WIN_RATE_TITLE,
}
SHORT_NAMES: Final = {
    "accuracy": texts.ACCURACY,
    "macro_f1": texts.MACRO_F1,
    "kappa": texts.KAPPA,
    "win_rate": texts.WIN_RATE,
}
SPEEDS: Final[dict[Speed, str]] = {
    "calls": texts.CALLS_PER_SECOND,
    "tokens": texts.TOKENS_PER_SECOND,
    "price": texts.PRICE,
}


def share_text(value: float) -> str:
    """A share or kappa with two decimals: ``.73``, ``1.0``, ``−.05``."""
    text = f"{abs(value):.2f}"
    text = "1.0" if text == "1.00" else text.removeprefix("0")
    return f"{MINUS}{text}" if value < 0 and text != ".00" else text


def _y_axis(
    low: float, high: float, height: float, least: float
) -> tuple[tuple[float, float], list[tuple[float, str]]]:
    """The range of a y axis, and its ticks with their labels.

    Args:
        low, high: the smallest and the largest figure that is drawn.
        height: the length of the axis, in px at 100 %.
        least: the smallest possible figure; the largest is 1.
    """
    low, high = max(least, low), min(1.0, high)
    most = max(3.0, min(7.0, height / 18))
    step = next((step for step in (0.1, 0.2) if (high - low) / step < most), 0.5)
    first = np.floor(low / step + 1e-9) * step
    last = np.ceil(high / step - 1e-9) * step
    if last - first < 3 * step:
        first = max(least, last - 3 * step)
        last = min(1.0, max(last, first + 3 * step))
    count = round((last - first) / step)
    ticks = [(first + place * step, _tick(first + place * step)) for place in range(count + 1)]
    return (float(first), float(last)), ticks


def _tick(value: float) -> str:
    value = round(value, 3)
    text = "1" if abs(value) == 1 else "0" if value == 0 else f"{abs(value):.1f}".removeprefix("0")
    return f"{MINUS}{text}" if value < 0 else text


class Fact(QWidget):
    """A figure followed by its name: ``14.6 % orders differ``."""

    def __init__(self) -> None:
        super().__init__()
        self._figure = label("", "node")
        self._words = label("", tone="text2")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.addWidget(self._figure)
        self._row.addWidget(self._words)
        measure(self._row, spacing=4)
        measure(self._figure, font="node", tabular=True)
        measure(self._words, font="body", tabular=True)

    def say(self, figure: str, words: str = "", tip: str = "") -> None:
        """Shows a figure and its name; empty ones show nothing."""
        self._figure.setText(figure)
        self._figure.setVisible(bool(figure))
        self._words.setText(words)
        self.setToolTip(tip)
        self.setAccessibleName(f"{figure} {words}".strip() or texts.NOTHING_YET)

    @property
    def text(self) -> str:
        """The figure and its name as shown."""
        return f"{self._figure.text()} {self._words.text()}".strip()


class Foot(QWidget):
    """The line of figures below a chart."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = Fact(), Fact()
        row = QHBoxLayout(self)
        row.addWidget(self.left)
        row.addStretch(1)
        row.addWidget(self.right)
        self._row = row
        measure(self, height=36)
        measure(row, margins=(12, 0, 12, 0), spacing=12)

    def set_in_head(self, in_head: bool) -> None:
        """Fits the margins to its place: in the header (``in_head``), or below the chart."""
        measure(self._row, margins=(0 if in_head else 12, 0, 12, 0))


class SlowLink(QWidget):
    """A link to the call that has been running longest, so that a stuck one is noticed.

    Signals:
        call_wanted: the :class:`CallSite` of the call, when it was clicked.
    """

    call_wanted = Signal(object)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._site: CallSite | None = None
        self.words = label(texts.LONGEST, tone="text2")
        self.link = link("", texts.LONGEST_NAME)
        self.link.clicked.connect(self._clicked)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.words)
        row.addWidget(self.link)
        row.addStretch(1)
        self.hide()

    def refresh(self, *, shown: bool = True) -> None:
        """Shows the call that has been running longest now; ``shown=False`` hides the link."""
        running = self._context.run_state.in_flight
        self._site = None
        self.setVisible(shown and bool(running))
        if not running:
            return
        site, since = min(running.items(), key=lambda item: item[1])
        self._site = site
        waited = duration(max(0.0, monotonic() - since))
        where = texts.ROLES_CALL if site.layer == 0 else texts.neuron(site.layer, site.neuron)
        self.words.setVisible(self.width() >= 300)
        self.link.setText(texts.longest_call(site.pair + 1, where, waited))
        self.link.setAccessibleName(texts.longest_call_name(site.pair + 1, where, waited))

    def _clicked(self) -> None:
        if self._site is not None:
            self.call_wanted.emit(self._site)


class ChartPane(QFrame):
    """One chart of the run, chosen in its header.

    Signals:
        call_wanted: the :class:`CallSite` of the call that has been running longest, when it was clicked.
    """

    call_wanted = Signal(object)

    def __init__(self, context: Context, focus: FocusPair, kinds: Sequence[str]) -> None:
        """``kinds`` are the charts offered, keys of :data:`FIGURES` and :data:`SPEEDS`; with a single one there is
        neither a choice nor a line below."""
        super().__init__()
        self._has_choice = len(kinds) > 1
        self._context = context
        self._focus = focus
        self._names = names = {str(key): words for key, words in (*FIGURES.items(), *SPEEDS.items())}
        self._is_narrow = False
        self._is_tight = False
        # With a parent from the start: a widget shown without one is a window of its own for a moment.
        self.choice = QComboBox(self)
        self.choice.setAccessibleName(texts.WHICH_CHART)
        for kind in kinds:
            self.choice.addItem(names[kind], kind)
        self.choice.setProperty("kind", "title")
        self.title = label(names[kinds[0]], "section")
        self.title.setParent(self)
        self.choice.setVisible(len(kinds) > 1)
        self.title.setVisible(len(kinds) == 1)
        self.fact = label("", tone="text2")
        self.chart = Chart(names[kinds[0]])
        self.nothing = label("", tone="text2", wrap=True)
        self.nothing.setParent(self)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.axis = label("", tone="text2")
        self.interval = interval_link(context.settings, self)
        self.foot = Foot()
        self.slow = SlowLink(context)
        self.slow.call_wanted.connect(self.call_wanted)
        self._lay_out(context)

    def _lay_out(self, context: Context) -> None:
        head = QHBoxLayout()
        head.addWidget(self.choice)
        head.addWidget(self.title)
        head.addStretch(1)
        head.addWidget(self.fact)
        self._stack = QStackedLayout()
        whole = QWidget(self)
        inner = QVBoxLayout(whole)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        inner.addWidget(self.chart, stretch=1)
        below = QHBoxLayout()
        below.addWidget(self.interval)
        below.addWidget(self.axis, stretch=1)
        inner.addLayout(below)
        self._stack.addWidget(whole)
        self._stack.addWidget(self.nothing)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addLayout(self._stack, stretch=1)
        self._slow_row = QHBoxLayout()
        self._slow_row.addWidget(self.slow)
        column.addLayout(self._slow_row)
        self._line = line()
        column.addWidget(self._line)
        column.addWidget(self.foot)
        self._head, self._column = head, column
        self._refresher = Refresh(context.run_state, self.refresh, "chart", REFRESH_MS, self)
        self.choice.activated.connect(self.refresh)
        context.settings.changed.connect(self._run_changed)
        state = context.run_state
        state.run_changed.connect(self._run_changed)
        state.pairs_changed.connect(self._pairs_changed)
        state.progress_changed.connect(self.touch)
        self._table: object = None
        measure(self.title, min_height=DOCK_HEADER)
        measure(self._slow_row, margins=(12, 0, 12, 4))
        measure(self.choice, height=DOCK_HEADER - 4)
        measure(self.nothing, margins=(12, 8, 12, 12))
        measure(below, margins=(12, 0, 24, 4), spacing=12)
        measure(self.fact, font="body", tabular=True)
        measure(self._head, margins=(4 if self._has_choice else 12, 0, 12, 0))
        self.axis.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.foot.setVisible(self._foot_wanted)
        self._line.setVisible(self._has_choice)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_choice()

    def set_narrow(self, narrow: bool) -> None:
        """Puts the line of figures into the header (``narrow``), or below the chart."""
        self._is_narrow = narrow
        self._line.setVisible(not narrow)
        for place in range(self.choice.count()):
            key = str(self.choice.itemData(place))
            self.choice.setItemText(place, SHORT_NAMES.get(key, self._names[key]) if narrow else self._names[key])
        self._fit_choice()
        measure(self._head, spacing=12)
        self.foot.set_in_head(narrow)
        if narrow:
            self._column.removeWidget(self.foot)
            self._head.insertWidget(3, self.foot)
        else:
            self._head.removeWidget(self.foot)
            self._column.addWidget(self.foot)
        self.foot.setVisible(self._foot_wanted)
        self.refresh()

    def set_tight(self, tight: bool) -> None:
        """Hides the line of figures in a header without room for it; other pages show the figures too."""
        self._is_tight = tight
        self.foot.setVisible(self._foot_wanted)

    @property
    def _foot_wanted(self) -> bool:
        return self._has_choice and not (self._is_narrow and self._is_tight)

    def _fit_choice(self) -> None:
        """Makes the choice as wide as its text."""
        metrics = QFontMetrics(current_theme().font("section"))
        width = metrics.horizontalAdvance(self.choice.currentText())
        self.choice.setFixedWidth(width + current_theme().px(42))

    @property
    def kind(self) -> str:
        """The key of the chart that is shown."""
        return str(self.choice.currentData())

    def choose(self, kind: str) -> None:
        """Shows a chart by its key."""
        self.choice.setCurrentIndex(self.choice.findData(kind))
        self.refresh()

    def _pairs_changed(self, _pairs: set[int]) -> None:
        self.touch()

    def _run_changed(self) -> None:
        """Shows a run that begins, pauses or ends at once."""
        if self.isVisible():
            self.refresh()

    def touch(self) -> None:
        """Says that something changed; it is drawn soon, and at once for another run."""
        if self._context.run_state.table is not self._table:
            self.refresh()
        elif self.isVisible():
            self._refresher.touch()

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self.refresh()

    def refresh(self) -> None:
        """Draws the chart."""
        self._fit_choice()
        self._table = self._context.run_state.table
        kind = self.kind
        self.interval.setVisible(kind in ("accuracy", "win_rate"))
        for figure in FIGURES:
            if kind == figure:
                self._show_figure(figure)
        for speed in SPEEDS:
            if kind == speed:
                self._show_speed(speed)

    # Agreement

    def _show_figure(self, figure: PlottedFigure) -> None:
        table = self._context.run_state.table
        self.slow.hide()
        if table is None:
            self._empty(texts.NO_RUN)
            self._show_rates(None)
            return
        subject = deciding(table.spec)
        self._show_rates(table)
        if figure == "win_rate":
            self._show_win_rate(table, subject)
            return
        curves = table.curves(subject)
        last = curves.last
        labelled = last.n_total - last.n_unlabelled
        if not last.n_used:
            people = int((table.pairs.human > 0).sum())
            if not people:
                words = texts.NO_LABELS
            else:
                words = texts.NO_LABELLED_FINISHED if not labelled else texts.NO_LABELLED_VERDICT
            self._empty(words)
            return
        used = of(last.n_used, labelled)
        self.fact.setText(used)
        self.fact.setToolTip(texts.labelled_with_verdict(used))
        lines = self._agreement_lines(table, figure, curves)
        if not len(lines[-1].x):
            undefined = texts.kappa_undefined(last.reasons.get("kappa", texts.ONE_CLASS))
            self._empty(texts.NO_TURN if figure == "accuracy" else undefined)
            return
        base = None
        if figure == "accuracy" and last.majority_baseline is not None:
            base = ReferenceLine(texts.MAJORITY, share_text(last.majority_baseline), last.majority_baseline)
        elif figure == "kappa":
            base = ReferenceLine(texts.CHANCE, "0", 0.0)
        values = [value for curve in lines for value in (curve.y.min(), curve.y.max())] + ([base.y] if base else [])
        # Kappa alone can be below 0.
        least = -1.0 if figure == "kappa" else 0.0
        lowest = max(least, float(min(values)) - 0.02)
        y_range, ticks = _y_axis(lowest, float(max(values)) + 0.02, self.chart.plot.view_size[1], least)
        self._stack.setCurrentIndex(0)
        self.axis.setText(texts.LABELLED_PAIRS)
        self.axis.setToolTip("")
        self.chart.show_lines(lines, base, texts.LABELLED_PAIRS, y_range=y_range, y_ticks=ticks)

    def _agreement_lines(self, table: RunFrame, figure: PlottedFigure, curves: AgreementCurves) -> list[ChartCurve]:
        """The curves of a figure for all aggregations; the deciding one is last and has an interval."""
        subject = deciding(table.spec)
        others = [name for name in table.aggregations if name != subject][:MOST_OTHERS]
        lines = [_line(table.curves(name), figure, aggregation_title(name), place) for place, name in enumerate(others)]
        lines = [curve for curve in lines if len(curve.x)]
        if figure == "accuracy" and self._at_any_time:
            return [*lines, _rate_line(accuracy_curve(table, subject), aggregation_title(subject))]
        lines.append(_line(curves, figure, aggregation_title(subject), -1))
        if figure != "accuracy" and len(lines[-1].x):
            intervals = agreement_intervals(curves.last, resamples=RESAMPLES)
            lines[-1] = replace(lines[-1], interval=intervals.kappa if figure == "kappa" else intervals.macro_f1)
        return lines

    @property
    def _at_any_time(self) -> bool:
        return self._context.settings.preferences.intervals == "anytime"

    def _show_win_rate(self, table: RunFrame, subject: str) -> None:
        """Shows how often B wins by the deciding aggregation, with its interval, and by the others."""
        always = self._at_any_time
        others = [name for name in table.aggregations if name != subject][:MOST_OTHERS]
        lines = [
            _rate_line(rate_curve(table, name, at_any_time=always), aggregation_title(name), place)
            for place, name in enumerate(others)
        ]
        lines = [other for other in lines if len(other.x)]
        curve = rate_curve(table, subject, at_any_time=always)
        if not len(curve.pairs):
            self._empty(texts.NO_TURN if always and len(table.finished) else texts.NO_VERDICT_YET)
            return
        lines.append(_rate_line(curve, aggregation_title(subject)))
        judged = of(int(curve.pairs[-1]), len(table.finished))
        self.fact.setText(judged)
        self.fact.setToolTip((texts.finished_that_count if always else texts.finished_with_verdict)(judged))
        base = ReferenceLine(texts.EVEN, share_text(0.5), 0.5)
        values = [float(value) for value in (curve.values[-1], curve.low[-1], curve.high[-1], 0.5)]
        values += [float(value) for drawn in lines for value in (drawn.y.min(), drawn.y.max())]
        y_range, ticks = _y_axis(max(0.0, min(values) - 0.02), max(values) + 0.02, self.chart.plot.view_size[1], 0.0)
        self._stack.setCurrentIndex(0)
        evidence = anytime_win_rate(table, subject, turn_pairs(table)).evidence if always else None
        self.axis.setText(texts.JUDGED_PAIRS if evidence is None else texts.e_value(evidence.e_value))
        self.axis.setToolTip("" if evidence is None else texts.E_VALUE_TIP)
        self.chart.show_lines(lines, base, texts.JUDGED_PAIRS, y_range=y_range, y_ticks=ticks)

    def _show_rates(self, table: RunFrame | None) -> None:
        """Shows how often the orders differ, and the share of unscored calls."""
        if table is None or not table.calls_in:
            self.foot.left.say("")
            self.foot.right.say("")
            return
        flips = table.flips()
        if flips.rate is not None:
            tip = texts.orders_differ_tip(flips.n)
            words = texts.DIFFER if self._is_narrow else texts.ORDERS_DIFFER_STATE
            self.foot.left.say(percent(flips.rate), words, tip)
        else:
            self.foot.left.say("", texts.ONE_ORDER if table.finished else "")
        unscored = percent(table.calls_unscored / table.calls_in)
        self.foot.right.say(
            unscored, texts.UNSCORED_STATE, texts.unscored_calls(of(table.calls_unscored, table.calls_in))
        )

    def _empty(self, words: str) -> None:
        self.fact.setText("")
        self.nothing.setText(words)
        self._stack.setCurrentIndex(1)

    # Speed and price

    def _show_speed(self, speed: Speed) -> None:
        state = self._context.run_state
        pace = state.pace
        self.slow.refresh(shown=self._has_choice)
        progress = state.progress
        self.foot.left.say(short(progress.tokens_in), texts.TOKENS_IN_FOOT)
        self.foot.right.say(short(progress.tokens_out), texts.TOKENS_OUT_FOOT)
        if len(pace) < 2:
            self._empty(texts.SPEED_LATER)
            return
        if speed == "price" and progress.unpriced and not progress.price:
            self._empty(texts.PRICES_UNKNOWN)
            return
        minutes = pace[-1].at > 180
        unit = 60.0 if minutes else 1.0
        x = np.array([moment.at / unit for moment in pace])
        y, value = self._speed(speed, pace)
        self.fact.setText("")
        steps = max(2, min(4, int(self.chart.height() / current_theme().scale / 40)))
        step = nice_step(float(y.max()) / steps) if y.max() > 0 else 1.0
        top = step * max(1, np.ceil(float(y.max()) / step - 1e-9))
        ticks = [(step * place, self._amount(speed, step * place)) for place in range(round(top / step) + 1)]
        lines = [ChartCurve("", value, x, y)]
        self._stack.setCurrentIndex(0)
        word = texts.MINUTES if minutes else texts.SECONDS
        self.axis.setText(word)
        self.chart.show_lines(lines, None, word, y_range=(0.0, top), y_ticks=ticks)

    def _speed(self, speed: Speed, pace: Sequence[Pace]) -> tuple[NDArray[np.float64], str]:
        """The values of a speed over time, and the last one in words."""
        if speed == "price":
            return np.array([moment.price for moment in pace]), money(pace[-1].price, self._context.figures.currency)
        if speed == "calls":
            return np.array([moment.calls_s for moment in pace]), self._amount(speed, pace[-1].calls_s)
        return np.array([moment.tokens_s for moment in pace]), self._amount(speed, pace[-1].tokens_s)

    def _amount(self, speed: Speed, value: float) -> str:
        if speed == "price":
            return money(value, self._context.figures.currency) if value else "0"
        return short(value) if value >= 10 or value == 0 else f"{value:.1f}"


def _first_drawn(pairs: NDArray[np.int64]) -> int:
    """The place of the first point of a curve that is drawn, from how many pairs each point rests on."""
    return int(np.searchsorted(pairs, FROM_PAIRS)) if len(pairs) and pairs[-1] >= 2 * FROM_PAIRS else 0


def _rate_line(curve: AnytimeCurve, name: str, place: int = -1) -> ChartCurve:
    """A rate over pairs, with its interval where it is the subject (``place`` is -1)."""
    start = _first_drawn(curve.pairs)
    value = share_text(float(curve.values[-1])) if len(curve.pairs) else ""
    low, high = (curve.low[start:], curve.high[start:]) if place < 0 else (None, None)
    return ChartCurve(name, value, curve.pairs[start:].astype(float), curve.values[start:], place, low, high)


def _line(curves: AgreementCurves, figure: PlottedFigure, name: str, place: int) -> ChartCurve:
    """A figure of agreement over labelled pairs; the accuracy of the subject (``place`` is -1) has an interval."""
    curve: Curve = getattr(curves, figure)
    start = _first_drawn(curve.pairs)
    value = share_text(float(curve.values[-1])) if len(curve.pairs) else ""
    banded = figure == "accuracy" and place < 0
    low, high = (curves.low[start:], curves.high[start:]) if banded else (None, None)
    return ChartCurve(name, value, curve.pairs[start:].astype(float), curve.values[start:], place, low, high)


class SpeedPane(QFrame):
    """Calls, tokens and price side by side: the third tab of the narrow dock.

    Signals:
        call_wanted: the :class:`CallSite` of the call that has been running longest, when it was clicked.
    """

    call_wanted = Signal(object)

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__()
        self.setAccessibleName(texts.SPEED_AND_PRICE)
        self.panes = [ChartPane(context, focus, (kind,)) for kind in SPEEDS]
        self.slow = SlowLink(context)
        self.slow.call_wanted.connect(self.call_wanted)
        context.run_state.progress_changed.connect(self._refresh)
        charts = QHBoxLayout()
        charts.setContentsMargins(0, 0, 0, 0)
        charts.setSpacing(0)
        for pane in self.panes:
            charts.addWidget(pane)
        self._foot = QHBoxLayout()
        self._foot.addWidget(self.slow)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(charts, stretch=1)
        column.addLayout(self._foot)
        measure(self._foot, margins=(12, 4, 12, 8))

    def _refresh(self) -> None:
        if self.isVisible():
            self.slow.refresh()
