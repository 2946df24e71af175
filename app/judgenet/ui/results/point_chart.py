"""Charts whose marks can be pointed at, reached by keys and chosen. Each mark says its values and leads to its
pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from judgenet.core.wording import SPOKEN, clean
from judgenet.report import axis
from judgenet.report.model import Report
from judgenet.stats.intervals import Interval
from judgenet.ui.elements import label
from judgenet.ui.measures import measure
from judgenet.ui.plotting import (
    LABEL_STEP,
    EndLabel,
    EndLabels,
    Plot,
    ReferenceLine,
    baseline_pen,
    mark_pen,
    other_pen,
    subject_band,
    subject_pen,
    upright_pen,
)
from judgenet.ui.results import texts
from judgenet.ui.style import OWN_FOCUS
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import TYPE

REACH: Final = 22
"""A mark is pointed at within so many px at 100 %."""
_DOT: Final = 9
_MOST_END: Final = 190

Tick = tuple[float, str]


@dataclass(frozen=True, slots=True)
class PointMark:
    """A mark. ``words`` say its values and n; ``key`` is what the chart emits when it is chosen, ``None`` where it
    leads nowhere."""

    x: float
    y: float
    words: str
    interval: Interval | None = None
    key: object = None


@dataclass(frozen=True, slots=True)
class Series:
    """Marks of one kind, ``joined`` by a line or not. ``spread`` draws their intervals as one band, or as a bar each.

    ``place`` picks the look of the series, -1 that of the subject. ``value`` stands after the name at the end of the
    line; ``marked``: whether the marks themselves are drawn.
    """

    name: str
    spots: tuple[PointMark, ...]
    place: int = -1
    value: str = ""
    joined: bool = True
    spread: Literal["", "band", "bars"] = ""
    marked: bool = True


@dataclass(frozen=True, slots=True)
class Upright:
    """A dotted vertical line with words at its sides."""

    x: float
    left: str = ""
    right: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """What a chart shows. ``ring`` singles out a mark, as (series, mark); ``word`` names the x axis."""

    series: tuple[Series, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    word: str
    base: ReferenceLine | None = None
    uprights: tuple[Upright, ...] = ()
    ring: tuple[int, int] | None = None


def share_ticks(shares: Sequence[float], *, from_zero: bool = False) -> tuple[Tick, ...]:
    """4 to 6 ticks in per cent that hold all shares; the unit stands on the top one."""
    ticks = axis.share_ticks((0.0, *shares) if from_zero else shares)
    return tuple((tick, f"{100 * tick:.0f}{' %' if tick == ticks[-1] else ''}") for tick in ticks)


def share_series(
    lines: Iterable[tuple[str, Sequence[PointMark]]], spread: Literal["", "band", "bars"]
) -> tuple[Series, ...]:
    """Lines of shares by name, each with its last share in per cent at its end; the first one is the subject, and has
    its intervals as ``spread``. Lines without a mark are left out."""
    return tuple(
        Series(name, tuple(spots), place - 1, f"{100 * spots[-1].y:.1f}", spread="" if place else spread)
        for place, (name, spots) in enumerate(lines)
        if spots
    )


def shares_of(series: Iterable[Series]) -> list[float]:
    """All shares of some series, with the ends of their intervals."""
    return [share for line in series for spot in line.spots for share in (spot.y, *(spot.interval or ()))]


def baseline_line(report: Report) -> ReferenceLine | None:
    """The accuracy of always giving the most common label, as a line; ``None`` without labels."""
    if report.baseline is None or report.baseline.figures.agreement.accuracy is None:
        return None
    share = report.baseline.figures.agreement.accuracy
    return ReferenceLine(texts.always(SPOKEN[report.baseline.label]), f"{100 * share:.1f}", share)


class PointChart(QWidget):
    """A chart with marks to point at. Below it stands what the mark says that is under the pointer or was reached by
    keys.

    Left and right move along a series, up and down to another one; Enter chooses.

    Signals:
        chosen: the key of the mark that was clicked or confirmed.
    """

    chosen = Signal(object)

    def __init__(self, name: str, hint: str = "", parent: QWidget | None = None) -> None:
        """``hint`` is shown below while no mark is pointed at."""
        super().__init__(parent)
        self._name = name
        self._hint = hint
        self._picture = Picture((), (), (), "")
        self.current: tuple[int, int] | None = None
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty(OWN_FOCUS, True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        self.plot = Plot(name, margins=(4, 8, 10, 0), foot=46)
        # It takes the room that there is. By itself it would ask for 480 px.
        self.plot.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.item = self.plot.item
        self.plot.viewport().setMouseTracking(True)
        self.plot.viewport().installEventFilter(self)
        self._items: list[Any] = []
        self.ends = EndLabels(self)
        self.readout = label(hint, tone="text2", wrap=True)
        self.readout.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._over = _Over(self)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.plot, stretch=1)
        row.addWidget(self.ends)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row, 1)
        column.addWidget(self.readout)
        self.item.getViewBox().sigResized.connect(self._settle)
        measure(self.plot, min_height=220)
        measure(self.readout, font="body", tabular=True, min_height=TYPE["body"].line)
        self.plot.restyled.connect(self._draw)
        self._draw()

    @property
    def picture(self) -> Picture:
        """What the chart shows."""
        return self._picture

    def minimumSizeHint(self) -> QSize:
        return QSize(current_theme().px(260), current_theme().px(220))

    def sizeHint(self) -> QSize:
        return QSize(current_theme().px(480), current_theme().px(260))

    def show_picture(self, picture: Picture) -> None:
        """Shows marks; the one reached by keys is kept where it still exists."""
        self._picture = picture
        self._draw()

    def _draw(self) -> None:
        picture = self._picture
        if self.current is not None and self._spot(self.current) is None:
            self.current = None
        for item in self._items:
            self.item.removeItem(item)
        self._items.clear()
        for line in picture.series:
            self._draw_series(line)
        if picture.base is not None:
            self._add(pg.InfiniteLine(pos=picture.base.y, angle=0, pen=baseline_pen()), z=-5)
        for upright in picture.uprights:
            self._add(pg.InfiniteLine(pos=upright.x, angle=90, pen=upright_pen()), z=-5)
        self.plot.set_y_ticks(picture.y_ticks)
        self.item.getAxis("bottom").setTicks([list(picture.x_ticks)])
        self._fit()
        self._tell()

    def _add(self, item: Any, z: float = 0.0) -> None:
        item.setZValue(z)
        self.item.addItem(item, ignoreBounds=True)
        self._items.append(item)

    def _draw_series(self, line: Series) -> None:
        theme, subject = current_theme(), line.place < 0
        pen = subject_pen() if subject else other_pen(line.place)
        x = np.array([spot.x for spot in line.spots], dtype=float)
        y = np.array([spot.y for spot in line.spots], dtype=float)
        low = np.array([spot.interval.low if spot.interval else spot.y for spot in line.spots], dtype=float)
        high = np.array([spot.interval.high if spot.interval else spot.y for spot in line.spots], dtype=float)
        if line.spread == "band" and len(x):
            edges = pg.PlotCurveItem(x, low), pg.PlotCurveItem(x, high)
            for edge in edges:
                edge.setPen(pg.mkPen(None))
                self._add(edge, -10)
            band = pg.FillBetweenItem(*edges)
            band.setBrush(subject_band())
            self._add(band, -10)
        if line.spread == "bars":
            bar = pg.ErrorBarItem(x=x, y=y, top=high - y, bottom=y - low, pen=mark_pen(subject=subject))
            self._add(bar, 1)
        if line.joined:
            self._add(pg.PlotCurveItem(x, y, pen=pen, antialias=True), 5 if subject else 2)
        if line.marked and len(x):
            dots = pg.ScatterPlotItem(
                x,
                y,
                size=(_DOT if subject else _DOT - 2) * theme.scale,
                symbol="o" if subject else "s",
                pen=mark_pen(subject=subject),
                brush=theme.color("accent" if subject else "surface"),
                antialias=True,
            )
            self._add(dots, 6 if subject else 3)

    # Places

    def _fit(self) -> None:
        """Gives the axis, the labels and the range the room that they need."""
        picture, (wide, tall) = self._picture, self.plot.view_size
        named = [(line.name, line.value) for line in picture.series if line.joined and line.name]
        named += [] if picture.base is None else [(picture.base.name, picture.base.value)]
        self.ends.fit(named, _MOST_END, 34)
        if picture.y_ticks:
            low, high = picture.y_ticks[0][0], picture.y_ticks[-1][0]
            pad = (high - low) * min(0.2, 8 / max(80.0, tall))
            self.item.setYRange(low - pad, high + pad, padding=0)
        xs = [spot.x for line in picture.series for spot in line.spots]
        if xs:
            left, right = min(xs), max(xs)
            # A mark at an end of a line is seen whole.
            joined = any(line.joined for line in picture.series)
            room = (right - left or 1.0) * min(0.2, max(0.02, _DOT / max(80.0, wide))) if joined else 0.6
            self.item.setXRange(left - room, right + room, padding=0)
        self._settle()

    def _settle(self) -> None:
        """Spreads the labels at the lines' ends so that none hides another."""
        labels = [
            EndLabel(self.plot.place(line.spots[-1].x, line.spots[-1].y).y(), line.name, line.value, line.place < 0)
            for line in self._picture.series
            if line.joined and line.name and line.spots
        ]
        base = self._picture.base
        if base is not None:
            labels.append(EndLabel(self.plot.place(0, base.y).y(), base.name, base.value, False))
        step = LABEL_STEP * current_theme().scale
        self.ends.show_labels(labels, 0, max(1.5 * step, self.plot.height() - step))
        self._over.setGeometry(self.plot.rect())
        self._over.update()

    def place_of(self, series: int, spot: int) -> QPointF:
        """Where a mark lies on the plot, in px."""
        mark = self._picture.series[series].spots[spot]
        return self.plot.place(mark.x, mark.y)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()

    # Pointing and choosing

    def _spot(self, at: tuple[int, int] | None) -> PointMark | None:
        if at is None:
            return None
        series, spot = at
        if series >= len(self._picture.series) or spot >= len(self._picture.series[series].spots):
            return None
        return self._picture.series[series].spots[spot]

    def go_to(self, at: tuple[int, int] | None) -> None:
        """Points at a mark, ``None`` at none; what it says is shown below."""
        self.current = at if self._spot(at) is not None else None
        self._over.update()
        self._tell()

    def _tell(self) -> None:
        spot = self._spot(self.current)
        self.readout.setText(clean(spot.words) if spot is not None else self._hint)
        ends = [f"{line.name} {line.value}".strip() for line in self._picture.series if line.name]
        if self._picture.base is not None:
            ends.append(f"{self._picture.base.name} {self._picture.base.value}")
        self.setAccessibleDescription(clean(spot.words) if spot is not None else ", ".join(ends))

    def _nearest(self, at: QPointF) -> tuple[int, int] | None:
        best, nearest = REACH * current_theme().scale, None
        for series, line in enumerate(self._picture.series):
            if not line.marked:
                continue
            for place in range(len(line.spots)):
                apart = self.place_of(series, place) - at
                far = (apart.x() ** 2 + apart.y() ** 2) ** 0.5
                # The subject lies on top.
                if far < best - (0.5 if line.place >= 0 else -0.5):
                    best, nearest = far, (series, place)
        return nearest

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent):
            at = self._nearest(event.position())
            if event.type() == QEvent.Type.MouseMove and not event.buttons():
                self.go_to(at)
                spot = self._spot(at)
                leads = spot is not None and spot.key is not None
                self.plot.viewport().setCursor(
                    Qt.CursorShape.PointingHandCursor if leads else Qt.CursorShape.ArrowCursor
                )
            elif event.type() == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton:
                self.setFocus(Qt.FocusReason.MouseFocusReason)
                self.go_to(at)
                self._choose()
            return True
        if event.type() == QEvent.Type.Leave and not self.hasFocus():
            self.go_to(None)
        if event.type() == QEvent.Type.Wheel:
            # The page scrolls, the chart does not zoom.
            event.ignore()
            return True
        return super().eventFilter(watched, event)

    def _choose(self) -> None:
        spot = self._spot(self.current)
        if spot is not None and spot.key is not None:
            self.chosen.emit(spot.key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        marked = [place for place, line in enumerate(self._picture.series) if line.marked and line.spots]
        if not marked:
            super().keyPressEvent(event)
            return
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._choose()
            return
        steps = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}
        ends = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: -1}
        if key not in steps and key not in ends:
            super().keyPressEvent(event)
            return
        series, spot = self.current or (marked[0], 0)
        if self.current is not None and key in steps:
            down, right = steps[Qt.Key(key)]
            series = marked[(marked.index(series) + down) % len(marked)]
            spot = max(0, min(len(self._picture.series[series].spots) - 1, spot + right))
        elif key in ends:
            spot = len(self._picture.series[series].spots) - 1 if ends[Qt.Key(key)] else 0
        self.go_to((series, spot))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._over.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._over.update()


class _Over(QWidget):
    """What is drawn over the plot: the words of vertical lines, the ring, the mark that is pointed at, the focus frame,
    and the name of the x axis."""

    def __init__(self, chart: PointChart) -> None:
        super().__init__(chart.plot)
        self._chart = chart
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def paintEvent(self, _event: QPaintEvent) -> None:
        chart = self._chart
        theme, picture = current_theme(), chart.picture
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = chart.item.getViewBox().sceneBoundingRect()
        painter.setFont(theme.font())
        painter.setPen(theme.color("text2"))
        metrics = painter.fontMetrics()
        for upright in picture.uprights:
            x = chart.plot.place(upright.x, picture.y_ticks[0][0] if picture.y_ticks else 0).x()
            y = box.top() + metrics.ascent() + theme.px(2)
            left = metrics.horizontalAdvance(upright.left)
            if upright.left and x - theme.px(8) - left > box.left():
                painter.drawText(QPointF(x - theme.px(8) - left, y), upright.left)
            if upright.right and x + theme.px(8) + metrics.horizontalAdvance(upright.right) < box.right():
                painter.drawText(QPointF(x + theme.px(8), y), upright.right)
        if picture.word:
            y = box.bottom() + theme.px(44) - metrics.descent()
            painter.drawText(QPointF(box.right() - metrics.horizontalAdvance(picture.word), y), picture.word)
        if picture.ring is not None and chart._spot(picture.ring) is not None:
            painter.setPen(QPen(theme.color("accent"), 1.5 * theme.scale))
            radius = 8 * theme.scale
            painter.drawEllipse(chart.place_of(*picture.ring), radius, radius)
        if chart._spot(chart.current) is not None and chart.current is not None:
            at = chart.place_of(*chart.current)
            painter.setPen(QPen(theme.color("text"), 1.5 * theme.scale))
            side = 7 * theme.scale
            painter.drawRect(QRectF(at.x() - side, at.y() - side, 2 * side, 2 * side))
        if chart.hasFocus():
            half = theme.focus_width / 2
            painter.setPen(QPen(theme.color("accent"), theme.focus_width))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(half, half, -half, -half), 4, 4)
