"""Accuracy against the size of the network, and the smallest network that is nearly as accurate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from judgenet.core.wording import percent, percent_interval, plural, points, points_interval
from judgenet.report.model import Report
from judgenet.ui.elements import label
from judgenet.ui.measures import measure
from judgenet.ui.plotting import ReferenceLine
from judgenet.ui.results import texts
from judgenet.ui.results.explore import Explorer
from judgenet.ui.results.panel import Panel
from judgenet.ui.results.point_chart import (
    Picture,
    PointChart,
    PointMark,
    Series,
    Tick,
    Upright,
    baseline_line,
    share_ticks,
    shares_of,
)
from judgenet.ui.theme import current_theme
from judgenet.ui.widgets import Segment

if TYPE_CHECKING:
    from judgenet.stats.whatif import Point, WhatIf

_MOST_TICKS = 8
_WITH_FACT = 800
"""In a panel narrower than this many px at 100 % the fact beside the title is hidden: the words below the chart say the
same."""


class CurvePanel(Panel):
    """The accuracy of sub-networks whose verdicts are exact, by neurons or by calls.

    Signals:
        chosen: the :class:`~judgenet.stats.whatif.Subnetwork` of the size that was clicked.
    """

    chosen = Signal(object)

    def __init__(self, explorer: Explorer, parent: QWidget | None = None) -> None:
        self._explorer = explorer
        self.by = Segment(texts.ACCURACY_AGAINST, [("neurons", texts.NEURONS_CHOICE), ("calls", texts.CALLS)])
        self.chart = PointChart(texts.ACCURACY_BY_NEURONS)
        self.words = label("", tone="text2", wrap=True)
        super().__init__(texts.ACCURACY_BY_NEURONS, parent=parent)
        self.head.insertWidget(1, self.by)
        self.body.addWidget(self.chart, 1)
        self.body.addWidget(self.words)
        self._report: Report | None = None
        self.by.chosen.connect(self._turned)
        self.chart.chosen.connect(self.chosen)
        explorer.changed.connect(self._fill)
        measure(self.words, font="body", tabular=True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fact.setVisible(self.width() >= current_theme().px(_WITH_FACT))

    def show_report(self, report: Report) -> None:
        """Takes the baseline from a report."""
        self._report = report
        self._fill()

    def _turned(self, key: str) -> None:
        self.title.setText(texts.ACCURACY_BY_NEURONS if key == "neurons" else texts.ACCURACY_BY_CALLS)
        self.chart.go_to(None)
        self._fill()

    def _fill(self) -> None:
        curve, explored = self._explorer.curve, self._explorer.explored
        if curve is None or explored is None:
            self.chart.setVisible(False)
            self.by.setVisible(False)
            why = self._explorer.why
            if explored is not None and not why:
                why = texts.NO_CURVE
            self.words.setText(why)
            self.say("")
            return
        self.chart.setVisible(True)
        self.by.setVisible(True)
        self.chart.setAccessibleName(self.title.text())
        self.chart.show_picture(
            curve_picture(
                curve,
                None if self._report is None else baseline_line(self._report),
                by_calls=self.by.current == "calls",
            )
        )
        smallest, whole = curve.smallest, curve.whole
        near = smallest != whole
        self.say(texts.smallest(plural(smallest.neurons, "neuron")))
        if near:
            self.words.setText(
                texts.smallest_instead_of(
                    _size_words(smallest),
                    f"{whole.calls:.1f}",
                    percent(smallest.accuracy),
                    points(smallest.difference),
                    points_interval(smallest.difference_interval),
                )
            )
        else:
            self.words.setText(texts.NO_SMALLER_NETWORK)


def curve_picture(curve: WhatIf, base: ReferenceLine | None, *, by_calls: bool) -> Picture:
    """The chart of the curve: sub-networks with all orders and samples as the subject, and beside them those with one
    order and those with fewer samples."""
    kinds = _kinds(curve, by_calls=by_calls)

    def x_of(point: Point) -> float:
        return point.calls if by_calls else float(point.neurons)

    series = []
    for place, (name, sizes) in enumerate(kinds.items()):
        if not sizes:
            continue
        sizes.sort(key=lambda point: (x_of(point), point.neurons))
        spots = tuple(
            PointMark(x_of(point), point.accuracy, _words(point), point.interval if not name else None, _choice(point))
            for point in sizes
        )
        title = name or texts.network_of(" + ".join(map(str, _widths(curve))))
        series.append(
            Series(
                title,
                spots,
                place - 1,
                f"{100 * spots[-1].y:.1f}",
                spread="" if name else "band",
                marked=len(spots) <= 80,
            )
        )
    shares = shares_of(series) + ([] if base is None else [base.y])
    ring = next(
        (
            (at, place)
            for at, line in enumerate(series)
            for place, spot in enumerate(line.spots)
            if spot.key == _choice(curve.smallest)
        ),
        None,
    )
    xs = sorted({spot.x for line in series for spot in line.spots})
    return Picture(
        tuple(series),
        x_ticks(xs),
        share_ticks(shares),
        texts.CALLS_PER_PAIR if by_calls else texts.NEURONS_AXIS,
        base,
        () if by_calls else _uprights(curve),
        ring,
    )


def _kinds(curve: WhatIf, *, by_calls: bool) -> dict[str, list[Point]]:
    """The sizes by what they leave out besides neurons: nothing, one of the orders, or samples. The keys are the names
    of the lines."""
    whole = curve.whole
    kinds: dict[str, list[Point]] = {"": [], texts.ONE_ORDER: [], texts.FEWER_SAMPLES: []}
    for point in curve.points:
        if point.orders == whole.orders and point.samples == whole.samples:
            kinds[""].append(point)
        elif point.samples == whole.samples and point.orders == whole.orders[:1]:
            kinds[texts.ONE_ORDER].append(point)
        elif by_calls and point.orders == whole.orders and (point.depth, point.width) == (whole.depth, whole.width):
            kinds[texts.FEWER_SAMPLES].append(point)
    if kinds[texts.FEWER_SAMPLES]:
        kinds[texts.FEWER_SAMPLES].append(whole)
    return kinds


def _uprights(curve: WhatIf) -> tuple[Upright, ...]:
    """Lines where the next layer begins, for the first three that join."""
    uprights = []
    last = 0
    for depth, width in enumerate(_widths(curve)[:-1], 1):
        last += width
        left = texts.LAYER_1_ONLY if depth == 1 else ""
        uprights.append(Upright(last + 0.5, left, texts.layer_joins(depth + 1)))
    return tuple(uprights[:3])


def x_ticks(values: Sequence[float], most: int = _MOST_TICKS) -> tuple[Tick, ...]:
    """Ticks at the values themselves, evenly thinned where there are many."""
    if len(values) > most:
        step = -(-len(values) // (most - 1))
        values = [*values[:-1:step], values[-1]]
        if len(values) > 2 and values[-1] - values[-2] < 0.6 * (values[1] - values[0]):
            values = [*values[:-2], values[-1]]
    return tuple((value, f"{value:,.1f}".removesuffix(".0")) for value in values)


def _widths(curve: WhatIf) -> list[int]:
    sizes: dict[int, int] = {}
    for point in curve.points:
        sizes[point.depth] = point.of_width
    return [sizes[depth] for depth in sorted(sizes)]


def _size_words(point: Point) -> str:
    layers = plural(point.depth, "layer")
    orders = texts.IN_BOTH_ORDERS if len(point.orders) == 2 else texts.in_one_order(point.orders[0].upper())
    samples = f", {plural(point.samples, 'sample')}" if point.samples > 1 else ""
    return texts.network_size(plural(point.neurons, "neuron"), layers, orders, samples, f"{point.calls:.1f}")


def _words(point: Point) -> str:
    accuracy, interval = percent(point.accuracy), percent_interval(point.interval)
    words = texts.size_accuracy(_size_words(point), accuracy, interval, f"{point.n_used:,.0f}")
    if point.subsets > 1:
        lowest, highest = f"{100 * point.lowest:.1f}", f"{100 * point.highest:.1f}"
        words += texts.mean_over_choices(point.subsets, lowest, highest)
    return f"{words}."


def _choice(point: Point) -> object:
    from judgenet.stats.whatif import Subnetwork

    return Subnetwork(point.depth, point.width, point.orders, point.samples)
