"""pyqtgraph in the theme: one plot without menus and zooming, the pens of the charts, and the labels at their ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QBrush, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QWidget

from judgenet.ui.canvas.ink import Ink
from judgenet.ui.measures import Sides
from judgenet.ui.theme import ThemeWatch, current_theme
from judgenet.ui.tokens import TypeRole

OTHER_DASHES: Final[tuple[tuple[float, ...], ...]] = ((), (6.0, 3.0), (2.0, 3.0))
"""Dashes of the curves other than the subject's: solid, 6-3, 2-3 px."""
LABEL_STEP: Final = 19.0
"""Labels at the ends of curves are at least so many px at 100 % apart."""
_LEAST_AXIS: Final = 34
_LABELS: Final[dict[bool, tuple[str, TypeRole]]] = {True: ("accent", "node"), False: ("text2", "body")}
"""Colour and letters of a label, by whether it is of the subject."""


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """A horizontal line that others are compared with."""

    name: str
    value: str
    y: float


@dataclass(frozen=True, slots=True)
class EndLabel:
    """A curve's name and value, and the height of its end in px of the plot."""

    y: float
    name: str
    value: str
    subject: bool


class Plot(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """A plot with the design's axes: grid in ``line`` across only, x axis in ``line2`` with ticks outside, no frame.

    Signals:
        restyled: the theme has changed; items with a colour of their own must be drawn again.
    """

    restyled = Signal()

    def __init__(self, name: str, *, margins: Sides, foot: float) -> None:
        """``margins`` in px at 100 %; ``foot`` is the height of the x axis with its words."""
        self._margins, self._foot = margins, foot
        _settings()
        self._theme_watch = ThemeWatch()
        super().__init__()
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.item = self.getPlotItem()
        self.item.setMenuEnabled(False)
        self.item.hideButtons()
        self.item.setMouseEnabled(x=False, y=False)
        self._restyle()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if self._theme_watch.is_new(event):
            self._restyle()
            self.restyled.emit()

    def _restyle(self) -> None:
        _settings()
        theme, box = current_theme(), self.item.getViewBox()
        self.setBackground(theme.colors.surface)
        # The grid is drawn by the axis: it lies below the marks, and shows through the view.
        box.setBackgroundColor(None)
        box.setBorder(None)
        self.item.getAxis("left").setZValue(box.zValue() - 1)
        for side in ("top", "right"):
            self.item.hideAxis(side)
        font = theme.font(tabular=True)
        for side in ("left", "bottom"):
            axis = self.item.getAxis(side)
            axis.setTextPen(theme.color("text2"))
            axis.setTickFont(font)
            axis.setStyle(
                tickLength=theme.px(4) if side == "bottom" else 0,
                tickTextOffset=theme.px(6),
                maxTickLevel=0,
                hideOverlappingLabels=False,
            )
        self.item.getAxis("bottom").setPen(pg.mkPen(theme.color("line2"), width=theme.scale))
        self.item.getAxis("bottom").setHeight(theme.px(self._foot))
        self.item.getAxis("left").setPen(pg.mkPen(None))
        self.item.getAxis("left").setTickPen(pg.mkPen(theme.color("line"), width=theme.scale))
        # An opaque grid: pyqtgraph multiplies the pen's alpha by this.
        self.item.showGrid(x=False, y=True, alpha=1.0)
        self.item.layout.setContentsMargins(*(theme.px(side) if side else 0 for side in self._margins))

    def set_y_ticks(self, ticks: Sequence[tuple[float, str]]) -> None:
        """Sets the ticks of the y axis, which is as wide as their words need."""
        axis, ink = self.item.getAxis("left"), Ink.of(current_theme())
        axis.setTicks([list(ticks)])
        widest = max((ink.width(text, tabular=True) for _, text in ticks), default=0.0)
        width = current_theme().px(max(_LEAST_AXIS, widest + 12))
        if width != axis.fixedWidth:
            axis.setWidth(width)

    @property
    def view_size(self) -> tuple[float, float]:
        """Width and height of what the axes enclose, in px at 100 %."""
        box = self.item.getViewBox()
        return float(box.width()) / current_theme().scale, float(box.height()) / current_theme().scale

    def place(self, x: float, y: float) -> QPointF:
        """Where values lie, in px of this widget."""
        return QPointF(self.mapFromScene(self.item.getViewBox().mapViewToScene(QPointF(x, y))))


class EndLabels(QWidget):
    """Names and values at the ends of the curves of a plot, with leaders to them."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.labels: tuple[tuple[float, EndLabel], ...] = ()
        """The height of each label in px, and what it says."""

    def fit(self, names_and_values: Sequence[tuple[str, str]], most: float, beside: float) -> None:
        """Is as wide as these names and values need, up to ``most``, with ``beside`` px for what is around them."""
        ink = Ink.of(current_theme())
        widths = [
            ink.width(name, "node") + ink.width(value, "node", tabular=True) + (8 if name else 0)
            for name, value in names_and_values
        ]
        self.setFixedWidth(current_theme().px(min(most, max(widths) + beside)) if widths else 0)

    def show_labels(self, labels: Sequence[EndLabel], low: float, high: float) -> None:
        """Shows labels, spread between two heights so that none hides another."""
        ordered = sorted(labels, key=lambda label: label.y)
        step = LABEL_STEP * current_theme().scale
        places = spread([label.y for label in ordered], step, low + step / 2, high - step / 2)
        self.labels = tuple(zip(places, ordered, strict=True))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scale, ink = theme.scale, Ink.of(theme)
        lead = 16 * scale
        for place, label in self.labels:
            painter.setPen(QPen(theme.color("accent" if label.subject else "line2"), scale))
            painter.drawLine(QPointF(-6 * scale, label.y), QPointF(lead - 2 * scale, place))
        painter.scale(scale, scale)
        right = self.width() / scale - 12
        for place, label in self.labels:
            baseline = place / scale + 4.8
            color, role = _LABELS[label.subject]
            width = ink.width(label.value, tabular=True)
            ink.text(painter, right, baseline, label.value, role, color, align="right", tabular=True)
            room = right - width - 6 - lead / scale
            ink.text(painter, lead / scale + 2, baseline, label.name, role, color, room=room)


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


def _settings() -> None:
    """Colours and smoothing for items made from now on."""
    colors = current_theme().colors
    pg.setConfigOptions(background=colors.surface, foreground=colors.text2, antialias=True, imageAxisOrder="row-major")


def subject_pen(width: float = 2.0) -> QPen:
    """The subject of a chart: accent, 2 px."""
    return _pen("accent", width)


def subject_band() -> QBrush:
    """The subject's 95 % band."""
    return QBrush(current_theme().color("accent", 0.14))


def other_pen(place: int) -> QPen:
    """The pen of the ``place``-th other curve (0-based)."""
    return _pen("text3", 1.25, OTHER_DASHES[place % len(OTHER_DASHES)])


def mark_pen(*, subject: bool) -> QPen:
    """The edge of a mark, or the bar of its interval."""
    return _pen("accent" if subject else "text2", 1.5)


def upright_pen() -> QPen:
    """A dotted upright line."""
    return _pen("line2", 1.0, (1.0, 3.0))


def baseline_pen() -> QPen:
    """Majority, 50 %, RANDOM: dashed 6-4."""
    return _pen("text", 1.0, (6.0, 4.0))


def _pen(token: str, width: float, dash: tuple[float, ...] = ()) -> QPen:
    theme = current_theme()
    pen = QPen(theme.color(token), width * theme.scale)
    pen.setCosmetic(True)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if dash:
        pen.setDashPattern([length / width for length in dash])
    return pen
