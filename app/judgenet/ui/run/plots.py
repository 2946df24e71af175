"""Live plots: agreement with people over finished pairs, and speed and price over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from judgenet.core.aggregate import deciding
from judgenet.core.calls import CallSite
from judgenet.core.wording import MINUS, aggregation_title, duration, money, short
from judgenet.stats.curves import AgreementCurves, Curve
from judgenet.stats.intervals import Interval, agreement_intervals
from judgenet.store.frame import RunFrame
from judgenet.store.pace import Pace
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.clock import monotonic
from judgenet.ui.context import Context
from judgenet.ui.elements import label, line, link
from judgenet.ui.measures import measure
from judgenet.ui.plotting import apply_to_pyqtgraph, baseline_pen, other_pen, restyle_axes, subject_band, subject_pen
from judgenet.ui.run.focus import FocusPair
from judgenet.ui.run.refresh import Refresh
from judgenet.ui.theme import Theme
from judgenet.ui.tokens import DOCK_HEADER

REFRESH_MS: Final = 1000
FROM_PAIRS: Final = 10
"""The first pairs say too little: from twice so many on, curves begin here."""
RESAMPLES: Final = 1000
"""For the live intervals of macro-F1 and kappa; the page Results takes more."""
LABEL_STEP: Final = 19.0
MOST_OTHERS: Final = 6

PlottedFigure = Literal["accuracy", "macro_f1", "kappa"]
Speed = Literal["calls", "tokens", "price"]
FIGURES: Final[dict[PlottedFigure, str]] = {
    "accuracy": "Accuracy against people",
    "macro_f1": "Macro-F1 against people",
    "kappa": "Kappa against people",
}
SHORT_NAMES: Final = {"accuracy": "Accuracy", "macro_f1": "Macro-F1", "kappa": "Kappa"}
SPEEDS: Final[dict[Speed, str]] = {"calls": "Calls a second", "tokens": "Tokens a second", "price": "Price"}


@dataclass(frozen=True, slots=True)
class ChartCurve:
    """A curve with its name and value at its end. ``place`` tells other curves apart; -1 is the subject, which may have
    a band (``low`` to ``high``) or the interval of its last value."""

    name: str
    value: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    place: int = -1
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """A horizontal line that others are compared with."""

    name: str
    value: str
    y: float


class Chart(QWidget):
    """A plot whose curves are labelled at their ends. Its items are made once and used again."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._theme = theme
        self._lines: tuple[ChartCurve, ...] = ()
        self._base: ReferenceLine | None = None
        self._word = ""
        self._range: tuple[float, float] | None = None
        self._ticks: list[tuple[float, str]] = []
        self._axis_width = 0
        self._labels: list[tuple[float, float, str, str, bool]] = []
        apply_to_pyqtgraph(theme)
        self.plot = pg.PlotWidget()
        self.plot.setAccessibleName(name)
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot.setFrameShape(QFrame.Shape.NoFrame)
        self.item = self.plot.getPlotItem()
        self.item.setMenuEnabled(False)
        self.item.hideButtons()
        self.item.setMouseEnabled(x=False, y=False)
        self.plot.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._curves: list[pg.PlotDataItem] = []
        self._low = pg.PlotCurveItem()
        self._high = pg.PlotCurveItem()
        self._band = pg.FillBetweenItem(self._low, self._high)
        self._band.setZValue(-10)
        for hidden in (self._low, self._high):
            hidden.setPen(pg.mkPen(None))
            self.item.addItem(hidden, ignoreBounds=True)
        self.item.addItem(self._band, ignoreBounds=True)
        self._bar = pg.ErrorBarItem(x=np.zeros(1), y=np.zeros(1), top=np.zeros(1), bottom=np.zeros(1))
        self.item.addItem(self._bar, ignoreBounds=True)
        self._base_line = pg.InfiniteLine(angle=0, movable=False)
        self.item.addItem(self._base_line, ignoreBounds=True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.plot, stretch=1)
        self.ends = EndLabels(self, self)
        row.addWidget(self.ends)
        self.item.getViewBox().sigResized.connect(self._place_labels)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Takes on a theme."""
        self._theme = theme
        apply_to_pyqtgraph(theme)
        self.plot.setBackground(theme.colors.surface)
        restyle_axes(self.item, theme)
        for side in ("left", "bottom"):
            self.item.getAxis(side).setStyle(hideOverlappingLabels=False)
        self.item.getAxis("bottom").setHeight(theme.px(28))
        self.item.layout.setContentsMargins(theme.px(4), theme.px(6), theme.px(8), 0)
        self._base_line.setPen(baseline_pen(theme))
        self._band.setBrush(subject_band(theme))
        self.show_lines(self._lines, self._base, self._word, y_range=None)

    def show_lines(
        self,
        lines: Sequence[ChartCurve],
        base: ReferenceLine | None,
        word: str,
        *,
        y_range: tuple[float, float] | None,
        y_ticks: Sequence[tuple[float, str]] | None = None,
    ) -> None:
        """Shows curves, the subject last so that it lies on top. ``word`` names the x axis."""
        self._lines, self._base, self._word = tuple(lines), base, word
        while len(self._curves) < len(lines):
            curve = pg.PlotDataItem()
            self.item.addItem(curve)
            self._curves.append(curve)
        for curve, one in zip(self._curves, lines, strict=False):
            curve.setPen(subject_pen(self._theme) if one.place < 0 else other_pen(self._theme, one.place))
            curve.setZValue(5 if one.place < 0 else 0)
            curve.setData(one.x, one.y)
        for curve in self._curves[len(lines) :]:
            curve.setData([], [])
        banded = next((one for one in lines if one.low is not None and len(one.x)), None)
        self._band.setVisible(banded is not None)
        if banded is not None:
            self._low.setData(banded.x, banded.low)
            self._high.setData(banded.x, banded.high)
        self._show_bar(next((one for one in lines if one.interval is not None and len(one.x)), None))
        self._base_line.setVisible(base is not None)
        if base is not None:
            self._base_line.setValue(base.y)
        if y_range is not None:
            self._range = y_range
        self._fit_range()
        if y_ticks is not None:
            self._ticks = list(y_ticks)
            self.item.getAxis("left").setTicks([self._ticks])
        self._fit_widths(self._ticks)
        ends = [float(one.x[-1]) for one in lines if len(one.x)]
        if ends:
            most = max(ends)
            self.item.setXRange(0, max(most, 1e-9), padding=0.01 if self._bar.isVisible() else 0)
            self.item.getAxis("bottom").setTicks([_x_ticks(most, self.plot.width() / self._theme.scale)])
        self._place_labels()
        self._tell()

    def _fit_range(self) -> None:
        """Leaves room for the labels of the highest and the lowest tick."""
        if self._range is None:
            return
        low, high = self._range
        height = max(4 * LABEL_STEP, self.item.getViewBox().height() / self._theme.scale)
        pad = (high - low) * min(0.2, 9 / height)
        self.item.setYRange(low - pad, high + pad, padding=0)

    def _show_bar(self, one: ChartCurve | None) -> None:
        """The interval of a curve's last value, with caps."""
        self._bar.setVisible(one is not None)
        if one is None or one.interval is None:
            return
        x, y = one.x[-1:], one.y[-1:]
        pen = subject_pen(self._theme)
        pen.setWidthF(1.5 * self._theme.scale)
        self._bar.setData(
            x=x, y=y, top=one.interval.high - y, bottom=y - one.interval.low, beam=float(x[0]) / 60, pen=pen
        )

    def _tell(self) -> None:
        said = [f"{one.name} {one.value}".strip() for one in self._lines]
        if self._base is not None:
            said.append(f"{self._base.name} {self._base.value}")
        self.setAccessibleDescription(", ".join(said))

    def _fit_widths(self, y_ticks: Sequence[tuple[float, str]]) -> None:
        """Gives the y axis and the labels at the ends as much width as their words need."""
        ink = Ink.of(self._theme)
        widest = max((ink.width(text, tabular=True) for _, text in y_ticks), default=0.0)
        width = self._theme.px(max(34, widest + 12))
        if width != self._axis_width:
            self._axis_width = width
            self.item.getAxis("left").setWidth(width)
        named = [(one.name, one.value) for one in self._lines] + (
            [(self._base.name, self._base.value)] if self._base else []
        )
        words = max(
            (
                ink.width(name, "node") + ink.width(value, "node", tabular=True) + (8 if name else 0)
                for name, value in named
            ),
            default=0.0,
        )
        self.ends.setFixedWidth(self._theme.px(min(150, 18 + words + 14)))

    def _place_labels(self) -> None:
        """Spreads the labels at the curves' ends so that none hides another."""
        box = self.item.getViewBox()
        found: list[tuple[float, str, str, bool]] = []
        for one in self._lines:
            if len(one.x):
                found.append((self._y_of(float(one.y[-1])), one.name, one.value, one.place < 0))
        if self._base is not None:
            found.append((self._y_of(self._base.y), self._base.name, self._base.value, False))
        if not found or not box.height():
            self._labels = []
            self.ends.update()
            return
        found.sort(key=lambda row: row[0])
        step = LABEL_STEP * self._theme.scale
        places = spread([row[0] for row in found], step, step / 2, self.height() - step / 2)
        self._labels = [(row[0], place, *row[1:]) for row, place in zip(found, places, strict=True)]
        self.ends.update()

    def _y_of(self, value: float) -> float:
        """Where a value lies, in px from this widget's top."""
        scene = self.item.getViewBox().mapViewToScene(QPointF(0, value))
        return float(self.plot.mapFromScene(scene).y())

    @property
    def labels(self) -> list[tuple[float, float, str, str, bool]]:
        """The labels: y of the curve's end, y of the label, name, value, whether it is the subject."""
        return self._labels

    @property
    def theme(self) -> Theme:
        return self._theme

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._lines:
            ends = [float(one.x[-1]) for one in self._lines if len(one.x)]
            if ends:
                self.item.getAxis("bottom").setTicks([_x_ticks(max(ends), self.plot.width() / self._theme.scale)])
        self._fit_range()
        self._place_labels()

    @property
    def axis_height(self) -> float:
        """Height of the y axis in px at 100 %."""
        return float(self.item.getViewBox().height()) / self._theme.scale

    @property
    def word(self) -> str:
        """What the x axis counts."""
        return self._word


def spread(wanted: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Places near those wanted (ascending), at least ``step`` apart; within ``low`` to ``high`` as far as possible."""
    places = list(wanted)
    for place in range(len(places)):
        floor = low if place == 0 else places[place - 1] + step
        places[place] = max(places[place], floor)
    ceiling = high
    for place in reversed(range(len(places))):
        places[place] = min(places[place], ceiling)
        ceiling = places[place] - step
    return places


class LabelledChart(Protocol):
    """A chart whose curves have labels at their ends."""

    @property
    def theme(self) -> Theme: ...

    @property
    def labels(self) -> list[tuple[float, float, str, str, bool]]: ...


class EndLabels(QWidget):
    """Names and values at the ends of the curves, with leaders to them."""

    def __init__(self, chart: LabelledChart, parent: QWidget) -> None:
        super().__init__(parent)
        self._chart = chart

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = self._chart.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scale = theme.scale
        ink = Ink.of(theme)
        lead = 16 * scale
        for at, place, _name, _value, subject in self._chart.labels:
            painter.setPen(QPen(theme.color("accent" if subject else "line2"), scale))
            painter.drawLine(QPointF(-6 * scale, at), QPointF(lead - 2 * scale, place))
        painter.scale(scale, scale)
        right = self.width() / scale - 12
        for _at, place, name, value, subject in self._chart.labels:
            baseline = place / scale + 4.8
            color = "accent" if subject else "text2"
            width = ink.width(value, tabular=True)
            ink.text(painter, right, baseline, value, "node" if subject else "body", color, align="right", tabular=True)
            room = right - width - 6 - lead / scale
            ink.text(painter, lead / scale + 2, baseline, name, "node" if subject else "body", color, room=room)


def _x_ticks(most: float, width: float) -> list[tuple[float, str]]:
    """Ticks from 0 on, as many as have room."""
    if most <= 0:
        return [(0.0, "0")]
    wanted = max(1.0, min(6.0, width / 60))
    step = max(1.0, _nice(most / wanted))
    return [(place * step, short(place * step)) for place in range(int(most / step) + 1)]


def _nice(step: float) -> float:
    """The next round number of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(step))
    for factor in (1, 2, 5, 10):
        if factor * power >= step * (1 - 1e-9):
            return float(factor * power)
    return float(10 * power)


def share_text(value: float) -> str:
    """A share or kappa in two decimals: ".73", "1.0", "−.05"."""
    text = f"{abs(value):.2f}"
    text = "1.0" if text == "1.00" else text.removeprefix("0")
    return f"{MINUS}{text}" if value < 0 and text != ".00" else text


def _y_axis(
    low: float, high: float, height: float, least: float
) -> tuple[tuple[float, float], list[tuple[float, str]]]:
    """Range and ticks for figures that lie between these and can be from ``least`` to 1, on an axis of so many px at
    100 %."""
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
    """A figure with its words: "14.6 % orders differ"."""

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
        """Shows a figure; nothing for an empty one without words."""
        self._figure.setText(figure)
        self._figure.setVisible(bool(figure))
        self._words.setText(words)
        self.setToolTip(tip)
        self.setAccessibleName(f"{figure} {words}".strip() or "Nothing yet")

    @property
    def text(self) -> str:
        """What it says."""
        return f"{self._figure.text()} {self._words.text()}".strip()


class Foot(QWidget):
    """A line of facts below a chart."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = Fact(), Fact()
        self.in_head = False
        row = QHBoxLayout(self)
        row.addWidget(self.left)
        row.addStretch(1)
        row.addWidget(self.right)
        self._row = row
        measure(self._row, spacing=12)
        measure(self, height=36)

    def set_theme(self, theme: Theme) -> None:
        inside = 0 if self.in_head else theme.px(12)
        self._row.setContentsMargins(inside, 0, theme.px(12), 0)


class SlowLink(QWidget):
    """Names the call that is longest under way, so that a stuck one is found; a click leads there.

    Signals:
        call_wanted: its :class:`CallSite`.
    """

    call_wanted = Signal(object)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._site: CallSite | None = None
        self.words = label("Longest under way:", tone="text2")
        self.link = link("", "The call that is longest under way")
        self.link.clicked.connect(self._clicked)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.words)
        row.addWidget(self.link)
        row.addStretch(1)
        self.hide()

    def refresh(self, *, shown: bool = True) -> None:
        """Shows the call of the moment."""
        under_way = self._context.run_state.in_flight
        self._site = None
        self.setVisible(shown and bool(under_way))
        if not under_way:
            return
        site, since = min(under_way.items(), key=lambda item: item[1])
        self._site = site
        waited = duration(max(0.0, monotonic() - since))
        where = "roles" if site.layer == 0 else f"neuron {site.layer}.{site.neuron}"
        self.words.setVisible(self.width() >= 300)
        self.link.setText(f"Pair {site.pair + 1:,}, {where}, {waited}")
        self.link.setAccessibleName(f"Longest under way: pair {site.pair + 1:,}, {where}, {waited}")

    def _clicked(self) -> None:
        if self._site is not None:
            self.call_wanted.emit(self._site)


class ChartPane(QFrame):
    """One chart of the run, chosen in its header.

    Signals:
        call_wanted: the :class:`CallSite` of the call that is longest under way, when it was clicked.
    """

    call_wanted = Signal(object)

    def __init__(self, context: Context, focus: FocusPair, theme: Theme, kinds: Sequence[str]) -> None:
        """``kinds`` are the charts offered: figures and speeds; with one there is no choice, and no foot."""
        super().__init__()
        self._alone = len(kinds) > 1
        self._context = context
        self._focus = focus
        self._theme = theme
        self._names = names = {str(key): words for key, words in (*FIGURES.items(), *SPEEDS.items())}
        self._is_narrow = False
        self._is_tight = False
        # With a parent from the start: what is shown without one is a window of its own for a moment.
        self.choice = QComboBox(self)
        self.choice.setAccessibleName("Which chart")
        for kind in kinds:
            self.choice.addItem(names[kind], kind)
        self.choice.setProperty("kind", "title")
        self.title = label(names[kinds[0]], "section")
        self.title.setParent(self)
        self.choice.setVisible(len(kinds) > 1)
        self.title.setVisible(len(kinds) == 1)
        self.fact = label("", tone="text2")
        self.chart = Chart(theme, names[kinds[0]])
        self.nothing = label("", tone="text2", wrap=True)
        self.nothing.setParent(self)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.axis = label("", tone="text2")
        self.foot = Foot()
        self.slow = SlowLink(context)
        self.slow.call_wanted.connect(self.call_wanted)
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
        inner.addWidget(self.axis)
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
        state = context.run_state
        state.run_changed.connect(self._run_changed)
        state.pairs_changed.connect(self._pairs_changed)
        state.progress_changed.connect(self.touch)
        self._table: object = None
        measure(self.title, min_height=DOCK_HEADER)
        measure(self._slow_row, margins=(12, 0, 12, 4))
        measure(self.choice, height=DOCK_HEADER - 4)
        measure(self.nothing, margins=(12, 8, 12, 12))
        measure(self.axis, margins=(12, 0, 24, 4))
        measure(self.fact, font="body", tabular=True)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Takes on a theme."""
        self._theme = theme
        inside = theme.px(12)
        self._head.setContentsMargins(theme.px(4) if self.choice.isVisibleTo(self) else inside, 0, inside, 0)
        self.foot.setVisible(self._foot_wanted)
        self._line.setVisible(self._alone and not self._is_narrow)
        self.foot.set_theme(theme)
        self.axis.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.refresh()

    def set_narrow(self, narrow: bool) -> None:
        """Puts the facts of the foot into the header, where height is dear."""
        self._is_narrow = narrow
        self._line.setVisible(not narrow)
        for place in range(self.choice.count()):
            key = str(self.choice.itemData(place))
            self.choice.setItemText(place, SHORT_NAMES.get(key, self._names[key]) if narrow else self._names[key])
        self._fit_choice()
        self._head.setSpacing(self._theme.px(12))
        self.foot.in_head = narrow
        self.foot.set_theme(self._theme)
        if narrow:
            self._column.removeWidget(self.foot)
            self._head.insertWidget(3, self.foot)
        else:
            self._head.removeWidget(self.foot)
            self._column.addWidget(self.foot)
        self.foot.setVisible(self._foot_wanted)
        self.refresh()

    def set_tight(self, tight: bool) -> None:
        """Leaves the facts out of the narrow header, where it has no room for them; other pages have them as well."""
        self._is_tight = tight
        self.foot.setVisible(self._foot_wanted)

    @property
    def _foot_wanted(self) -> bool:
        return self._alone and not (self._is_narrow and self._is_tight)

    def _fit_choice(self) -> None:
        """The choice is as wide as its words."""
        metrics = QFontMetrics(self._theme.font("section"))
        width = metrics.horizontalAdvance(self.choice.currentText())
        self.choice.setFixedWidth(width + self._theme.px(42))

    @property
    def kind(self) -> str:
        """The chart that is shown."""
        return str(self.choice.currentData())

    def choose(self, kind: str) -> None:
        """Shows another chart."""
        self.choice.setCurrentIndex(self.choice.findData(kind))
        self.refresh()

    def _pairs_changed(self, _pairs: set[int]) -> None:
        self.touch()

    def _run_changed(self) -> None:
        """A run that begins, stands still or ends is shown at once."""
        if self.isVisible():
            self.refresh()

    def touch(self) -> None:
        """Something changed: it is shown soon, at once for another run."""
        if self._context.run_state.table is not self._table:
            self.refresh()
        elif self.isVisible():
            self._refresher.touch()

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self.refresh()

    def refresh(self) -> None:
        """Draws the chart anew."""
        self._fit_choice()
        self._table = self._context.run_state.table
        kind = self.kind
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
            self._empty("There is no run yet.")
            self._say_rates(None)
            return
        subject = deciding(table.spec)
        curves = table.curves(subject)
        self._say_rates(table)
        found = curves.last
        labelled = found.n_total - found.n_unlabelled
        if not found.n_used:
            people = int((table.pairs.human > 0).sum())
            if not people:
                words = "The pairs have no human labels: there is nothing to compare with."
            else:
                words = "No labelled pair is finished yet." if not labelled else "No labelled pair has a verdict."
            self._empty(words)
            return
        self.fact.setText(f"{found.n_used:,} of {labelled:,}")
        self.fact.setToolTip(f"{found.n_used:,} of {labelled:,} finished pairs with a human label have a verdict")
        others = [name for name in table.aggregations if name != subject][:MOST_OTHERS]
        lines = [_line(table.curves(name), figure, aggregation_title(name), place) for place, name in enumerate(others)]
        lines = [one for one in lines if len(one.x)]
        lines.append(_line(curves, figure, aggregation_title(subject), -1))
        if not len(lines[-1].x):
            self._empty(f"Kappa is undefined: {found.reasons.get('kappa', 'one class only')}.")
            return
        if figure != "accuracy":
            intervals = agreement_intervals(found, resamples=RESAMPLES)
            lines[-1] = replace(lines[-1], interval=intervals.kappa if figure == "kappa" else intervals.macro_f1)
        base = None
        if figure == "accuracy" and found.majority_baseline is not None:
            base = ReferenceLine("majority", share_text(found.majority_baseline), found.majority_baseline)
        elif figure == "kappa":
            base = ReferenceLine("chance", "0", 0.0)
        values = [value for one in lines for value in (one.y.min(), one.y.max())] + ([base.y] if base else [])
        # Kappa alone can be below 0.
        least = -1.0 if figure == "kappa" else 0.0
        lowest = max(least, float(min(values)) - 0.02)
        y_range, ticks = _y_axis(lowest, float(max(values)) + 0.02, self.chart.axis_height, least)
        self._stack.setCurrentIndex(0)
        self.axis.setText("labelled pairs finished")
        self.chart.show_lines(lines, base, "labelled pairs finished", y_range=y_range, y_ticks=ticks)

    def _say_rates(self, table: RunFrame | None) -> None:
        """How often the orders differ, and how much is unscored."""
        if table is None or not table.calls_in:
            self.foot.left.say("")
            self.foot.right.say("")
            return
        flips = table.flips()
        if flips.rate is not None:
            tip = f"The average’s verdict differs between the two orders; {flips.n:,} pairs have both"
            words = "differ" if self._is_narrow else "orders differ"
            self.foot.left.say(f"{100 * flips.rate:.1f} %", words, tip)
        else:
            self.foot.left.say("", "one order only" if table.finished else "")
        unscored = f"{100 * table.calls_unscored / table.calls_in:.1f} %"
        self.foot.right.say(unscored, "unscored", f"{table.calls_unscored:,} of {table.calls_in:,} calls")

    def _empty(self, words: str) -> None:
        self.fact.setText("")
        self.nothing.setText(words)
        self._stack.setCurrentIndex(1)

    # Speed and price

    def _show_speed(self, speed: Speed) -> None:
        state = self._context.run_state
        pace = state.pace
        self.slow.refresh(shown=self._alone)
        progress = state.progress
        self.foot.left.say(short(progress.tokens_in), "tokens in")
        self.foot.right.say(short(progress.tokens_out), "out")
        if len(pace) < 2:
            self._empty("Shown once the run has gone on for some seconds.")
            return
        if speed == "price" and progress.unpriced and not progress.price:
            self._empty("The price of the models is unknown. Prices can be given in the settings.")
            return
        minutes = pace[-1].at > 180
        unit = 60.0 if minutes else 1.0
        x = np.array([one.at / unit for one in pace])
        y, value = self._speed(speed, pace)
        self.fact.setText("")
        steps = max(2, min(4, int(self.chart.height() / self._theme.scale / 40)))
        step = _nice(float(y.max()) / steps) if y.max() > 0 else 1.0
        top = step * max(1, np.ceil(float(y.max()) / step - 1e-9))
        ticks = [(step * place, self._amount(speed, step * place)) for place in range(round(top / step) + 1)]
        lines = [ChartCurve("", value, x, y)]
        self._stack.setCurrentIndex(0)
        word = "minutes" if minutes else "seconds"
        self.axis.setText(word)
        self.chart.show_lines(lines, None, word, y_range=(0.0, top), y_ticks=ticks)

    def _speed(self, speed: Speed, pace: Sequence[Pace]) -> tuple[NDArray[np.float64], str]:
        if speed == "price":
            return np.array([one.price for one in pace]), money(pace[-1].price, self._currency())
        if speed == "calls":
            return np.array([one.calls_s for one in pace]), self._amount(speed, pace[-1].calls_s)
        return np.array([one.tokens_s for one in pace]), self._amount(speed, pace[-1].tokens_s)

    def _amount(self, speed: Speed, value: float) -> str:
        if speed == "price":
            return money(value, self._currency()) if value else "0"
        return short(value) if value >= 10 or value == 0 else f"{value:.1f}"

    def _currency(self) -> str:
        known = self._context.figures.estimate
        return "USD" if known is None else known.estimate.currency


def _line(curves: AgreementCurves, figure: PlottedFigure, name: str, place: int) -> ChartCurve:
    curve: Curve = getattr(curves, figure)
    total = int(curve.pairs[-1]) if len(curve.pairs) else 0
    start = int(np.searchsorted(curve.pairs, FROM_PAIRS)) if total >= 2 * FROM_PAIRS else 0
    x, y = curve.pairs[start:].astype(float), curve.values[start:]
    value = share_text(float(curve.values[-1])) if total else ""
    banded = figure == "accuracy" and place < 0
    low = curves.low[start:] if banded else None
    high = curves.high[start:] if banded else None
    return ChartCurve(name, value, x, y, place, low, high)


class SpeedPane(QFrame):
    """Calls, tokens and price side by side: the third tab of the narrow dock.

    Signals:
        call_wanted: a :class:`CallSite`.
    """

    call_wanted = Signal(object)

    def __init__(self, context: Context, focus: FocusPair, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName("Speed and price")
        self.panes = [ChartPane(context, focus, theme, (kind,)) for kind in SPEEDS]
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
