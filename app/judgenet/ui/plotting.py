"""pyqtgraph in the theme: its settings, and the pens of the charts."""

from __future__ import annotations

from typing import Final

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QPen

from judgenet.ui.theme import Theme

OTHER_DASHES: Final[tuple[tuple[float, ...], ...]] = ((), (6.0, 3.0), (2.0, 3.0))
"""What is not the subject is told apart by its dash: solid, 6-3, 2-3 px."""


def apply_to_pyqtgraph(theme: Theme) -> None:
    """Sets colours and smoothing for plots made from now on; call it before the first plot and at each new theme."""
    pg.setConfigOptions(
        background=theme.colors.surface, foreground=theme.colors.text2, antialias=True, imageAxisOrder="row-major"
    )


def restyle_axes(plot: pg.PlotItem, theme: Theme) -> None:
    """The design's axes on a plot: grid in ``line`` across only, x axis in ``line2`` with ticks outside, no frame."""
    # The grid is drawn by the axis: it lies below the marks, and shows through the view.
    plot.getViewBox().setBackgroundColor(None)
    plot.getAxis("left").setZValue(plot.getViewBox().zValue() - 1)
    plot.getViewBox().setBorder(None)
    for side in ("top", "right"):
        plot.hideAxis(side)
    font = theme.font(tabular=True)
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setTextPen(theme.color("text2"))
        axis.setTickFont(font)
        axis.setStyle(tickLength=theme.px(4) if side == "bottom" else 0, tickTextOffset=theme.px(6), maxTickLevel=0)
    plot.getAxis("bottom").setPen(pg.mkPen(theme.color("line2"), width=theme.scale))
    plot.getAxis("left").setPen(pg.mkPen(None))
    plot.getAxis("left").setTickPen(pg.mkPen(theme.color("line"), width=theme.scale))
    # An opaque grid: pyqtgraph multiplies the pen's alpha by this.
    plot.showGrid(x=False, y=True, alpha=1.0)


def subject_pen(theme: Theme) -> QPen:
    """The subject of a chart: accent, 2 px."""
    return _pen(theme, "accent", 2.0)


def subject_band(theme: Theme) -> QBrush:
    """The subject's 95 % band."""
    return QBrush(theme.color("accent", 0.14))


def other_pen(theme: Theme, place: int) -> QPen:
    """The pen of the ``place``-th other curve (0-based)."""
    return _pen(theme, "text3", 1.25, OTHER_DASHES[place % len(OTHER_DASHES)])


def baseline_pen(theme: Theme) -> QPen:
    """Majority, 50 %, RANDOM: dashed 6-4."""
    return _pen(theme, "text", 1.0, (6.0, 4.0))


def _pen(theme: Theme, token: str, width: float, dash: tuple[float, ...] = ()) -> QPen:
    pen = QPen(theme.color(token), width * theme.scale)
    pen.setCosmetic(True)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if dash:
        pen.setDashPattern([length / width for length in dash])
    return pen
