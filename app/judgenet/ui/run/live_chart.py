"""A live chart: curves with their names and values at their ends. Its items are made once and drawn again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from judgenet.core.wording import short
from judgenet.stats.intervals import Interval
from judgenet.ui.plotting import (
    LABEL_STEP,
    EndLabel,
    EndLabels,
    Plot,
    ReferenceLine,
    baseline_pen,
    other_pen,
    subject_band,
    subject_pen,
)
from judgenet.ui.theme import current_theme


@dataclass(frozen=True, slots=True)
class ChartCurve:
    """A curve with its name and value at its end. ``place`` chooses the look of a curve among the others; -1 is the
    subject, which may have a band (``low`` to ``high``) or the interval of its last value."""

    name: str
    value: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    place: int = -1
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    interval: Interval | None = None


class Chart(QWidget):
    """A plot whose curves are labelled at their ends."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._lines: tuple[ChartCurve, ...] = ()
        self._base: ReferenceLine | None = None
        self._word = ""
        self._range: tuple[float, float] | None = None
        self._ticks: list[tuple[float, str]] = []
        self.plot = Plot(name, margins=(4, 6, 8, 0), foot=28)
        self.plot.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.item = self.plot.item
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
        self.ends = EndLabels(self)
        row.addWidget(self.ends)
        self.item.getViewBox().sigResized.connect(self._place_labels)
        self.plot.restyled.connect(self._draw)
        self._draw()

    def show_lines(
        self,
        lines: Sequence[ChartCurve],
        base: ReferenceLine | None,
        word: str,
        *,
        y_range: tuple[float, float],
        y_ticks: Sequence[tuple[float, str]],
    ) -> None:
        """Shows curves, the subject last so that it is on top. ``word`` is what the x axis counts."""
        self._lines, self._base, self._word = tuple(lines), base, word
        self._range, self._ticks = y_range, list(y_ticks)
        self._draw()

    def _draw(self) -> None:
        lines, base = self._lines, self._base
        while len(self._curves) < len(lines):
            curve = pg.PlotDataItem()
            self.item.addItem(curve)
            self._curves.append(curve)
        for curve, shown in zip(self._curves, lines, strict=False):
            curve.setPen(subject_pen() if shown.place < 0 else other_pen(shown.place))
            curve.setZValue(5 if shown.place < 0 else 0)
            curve.setData(shown.x, shown.y)
        for curve in self._curves[len(lines) :]:
            curve.setData([], [])
        banded = next((line for line in lines if line.low is not None and len(line.x)), None)
        self._band.setVisible(banded is not None)
        self._band.setBrush(subject_band())
        if banded is not None:
            self._low.setData(banded.x, banded.low)
            self._high.setData(banded.x, banded.high)
        self._show_bar(next((line for line in lines if line.interval is not None and len(line.x)), None))
        self._base_line.setVisible(base is not None)
        self._base_line.setPen(baseline_pen())
        if base is not None:
            self._base_line.setValue(base.y)
        self.plot.set_y_ticks(self._ticks)
        named = [(line.name, line.value) for line in lines] + ([(base.name, base.value)] if base else [])
        self.ends.fit(named, 150, 32)
        self._fit()
        self._describe()

    def _fit(self) -> None:
        """Fits ranges and ticks to the size, with room for the labels of the highest and the lowest tick."""
        if self._range is not None:
            low, high = self._range
            pad = (high - low) * min(0.2, 9 / max(4 * LABEL_STEP, self.plot.view_size[1]))
            self.item.setYRange(low - pad, high + pad, padding=0)
        ends = [float(line.x[-1]) for line in self._lines if len(line.x)]
        if ends:
            most = max(ends)
            self.item.setXRange(0, max(most, 1e-9), padding=0.01 if self._bar.isVisible() else 0)
            self.item.getAxis("bottom").setTicks([_x_ticks(most, self.plot.width() / current_theme().scale)])
        self._place_labels()

    def _show_bar(self, line: ChartCurve | None) -> None:
        """Draws the interval of a curve's last value as a bar with caps."""
        self._bar.setVisible(line is not None)
        if line is None or line.interval is None:
            return
        x, y = line.x[-1:], line.y[-1:]
        top, bottom = line.interval.high - y, y - line.interval.low
        self._bar.setData(x=x, y=y, top=top, bottom=bottom, beam=float(x[0]) / 60, pen=subject_pen(1.5))

    def _describe(self) -> None:
        values = [f"{line.name} {line.value}".strip() for line in self._lines]
        if self._base is not None:
            values.append(f"{self._base.name} {self._base.value}")
        self.setAccessibleDescription(", ".join(values))

    def _place_labels(self) -> None:
        labels = [
            EndLabel(self.plot.place(0, float(line.y[-1])).y(), line.name, line.value, line.place < 0)
            for line in self._lines
            if len(line.x)
        ]
        if self._base is not None:
            labels.append(EndLabel(self.plot.place(0, self._base.y).y(), self._base.name, self._base.value, False))
        self.ends.show_labels(labels if self.plot.view_size[1] else (), 0, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @property
    def word(self) -> str:
        """What the x axis counts."""
        return self._word


def _x_ticks(most: float, width: float) -> list[tuple[float, str]]:
    """Ticks from 0 to ``most``, as many as fit into ``width`` px at 100 %."""
    if most <= 0:
        return [(0.0, "0")]
    wanted = max(1.0, min(6.0, width / 60))
    step = max(1.0, nice_step(most / wanted))
    return [(place * step, short(place * step)) for place in range(int(most / step) + 1)]


def nice_step(step: float) -> float:
    """The smallest of 1, 2 or 5 times a power of ten that is not below ``step``."""
    power = 10.0 ** np.floor(np.log10(step))
    for factor in (1, 2, 5, 10):
        if factor * power >= step * (1 - 1e-9):
            return float(factor * power)
    return float(10 * power)
