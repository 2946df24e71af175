"""How a shard looks in the grid: each state has a shape of its own, so that colour is not needed."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from judgenet.store.shard_watch import CELL_STATES, CellState, ShardSetLook
from judgenet.ui.canvas.ink import Ink

LEVELS: Final = 8
"""The number of steps in which a running shard fills."""
LETTERED: Final = 36.0
"""Cells with at least this side, in px at 100 %, show their number."""
ICONED: Final = 20.0
"""Cells with at least this side, in px at 100 %, show an icon."""
_MARKS: Final[dict[CellState, tuple[str, str, str]]] = {
    "done": ("tick", "good", "goodTint"),
    "failed": ("close", "bad", "badTint"),
    "silent": ("help", "warn", "warnTint"),
    "paused": ("pause", "text2", "sunken"),
    "running": ("run", "accent", "surface"),
    "waiting": ("", "line2", "surface"),
}
"""Icon, colour of the icon and the border, and ground of a large cell."""

Stamps = NDArray[np.uint8]
"""What each shard shows, by its index less 1: 16 times the place of its state in ``CELL_STATES``, plus the level to
which it is filled, 0 to :data:`LEVELS`."""


def stamps_of(look: ShardSetLook | None) -> Stamps:
    """What the shards show; empty without any. For thousands of shards, call it in a thread."""
    if look is None:
        return np.zeros(0, np.uint8)
    stamps = np.frombuffer(look.cells, np.uint8) * np.uint8(16)
    running = CELL_STATES.index("running")
    for index, report in look.reports.items():
        if look.cells[index - 1] == running and report.pairs:
            stamps[index - 1] += min(LEVELS, LEVELS * report.pairs_done // report.pairs)
    return stamps


def draw_stamp(painter: QPainter, ink: Ink, box: QRectF, stamp: int) -> None:
    """Draws a cell without its number.

    Waiting is an empty outline; running an outline filled from below by what is done; paused two bars; done a full
    square, with a tick where it has room; failed a cross; no news a dashed outline with a dot or a question mark.
    """
    state, level = CELL_STATES[stamp // 16], stamp % 16
    side = box.width()
    if side >= ICONED:
        _draw_large(painter, ink, box, state, level)
    else:
        _draw_small(painter, ink, box, state, level)


def _draw_large(painter: QPainter, ink: Ink, box: QRectF, state: CellState, level: int) -> None:
    name, color, ground = _MARKS[state]
    inner = box.adjusted(0.5, 0.5, -0.5, -0.5)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink.brush(ground))
    painter.drawRoundedRect(inner, 4, 4)
    if level:
        high = inner.height() * level / LEVELS
        painter.setBrush(ink.brush("accentTint"))
        painter.drawRoundedRect(QRectF(inner.left(), inner.bottom() - high, inner.width(), high), 4, 4)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(ink.pen(color, 1, (3, 2) if state == "silent" else ()))
    painter.drawRoundedRect(inner, 4, 4)
    if name:
        lifted = 7 if box.width() >= LETTERED else 0
        ink.icon(painter, name, box.center().x() - 8, box.center().y() - 8 - lifted, 16, color)


def _draw_small(painter: QPainter, ink: Ink, box: QRectF, state: CellState, level: int) -> None:
    inner = box.adjusted(0.5, 0.5, -0.5, -0.5)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if state == "done":
        painter.setBrush(ink.brush("good"))
        painter.drawRect(box)
        return
    if state == "failed":
        painter.setBrush(ink.brush("badTint"))
        painter.drawRect(box)
        painter.setPen(ink.pen("bad", max(1.5, box.width() / 7)))
        arm = box.adjusted(1.5, 1.5, -1.5, -1.5)
        painter.drawLine(arm.topLeft(), arm.bottomRight())
        painter.drawLine(arm.topRight(), arm.bottomLeft())
        return
    if state == "paused":
        painter.setBrush(ink.brush("text2"))
        bar = max(1.5, box.width() / 4)
        for left in (box.left() + 0.5, box.right() - 0.5 - bar):
            painter.drawRect(QRectF(left, box.top() + 0.5, bar, box.height() - 1))
        return
    if state == "silent":
        painter.setPen(ink.pen("warn", 1, (2, 1.5)))
        painter.drawRect(inner)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink.brush("warn"))
        radius = box.width() / 5
        painter.drawEllipse(QPointF(box.center()), radius, radius)
        return
    if level:
        high = box.height() * level / LEVELS
        painter.setBrush(ink.brush("accent"))
        painter.drawRect(QRectF(box.left(), box.bottom() - high, box.width(), high))
        painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(ink.pen("accent" if state == "running" else "line2", 1))
    painter.drawRect(inner)
