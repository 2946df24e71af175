"""The grid of shards: one cell for each shard, by index, row by row. Only cells that changed are drawn again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip

from judgenet.ui.canvas.ink import Ink
from judgenet.ui.shards.stamps import ICONED, LETTERED, Stamps, draw_stamp
from judgenet.ui.style import OWN_FOCUS
from judgenet.ui.theme import current_theme

_LARGEST: Final = 48
_SMALLEST: Final = 8
_INSIDE: Final = 16
_STEPS: Final = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class _Layout(NamedTuple):
    """The side of a cell and the distance from one cell to the next, both in px, and the cells in a row."""

    side: int
    pitch: int
    across: int


class ShardGrid(QAbstractScrollArea):
    """All shards at once; arrow keys, Home and End move between them.

    Signals:
        selected: the index of a shard, from 1.
        activated: the index of a shard on which Enter was pressed or that was double-clicked.
    """

    selected = Signal(int)
    activated = Signal(int)

    def __init__(self, describe: Callable[[int], str]) -> None:
        """``describe`` gives the state of a shard, by index from 1, in one line."""
        super().__init__()
        self._describe = describe
        self._stamps: Stamps = np.zeros(0, np.uint8)
        self._layout = _Layout(_SMALLEST, _SMALLEST + 1, 1)
        self._drawn: QPixmap | None = None
        self._look_drawn: object = None
        self._cells: dict[int, QPixmap] = {}
        self.current = 0
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty(OWN_FOCUS, True)
        self.viewport().setProperty("part", "canvas")
        self.verticalScrollBar().valueChanged.connect(self._redraw)

    def show_stamps(self, stamps: Stamps) -> None:
        """Shows new states; cells that did not change are not drawn again."""
        before, self._stamps = self._stamps, stamps
        if len(before) != len(stamps):
            self.current = min(self.current, len(stamps))
            self._arrange()
            return
        changed = np.flatnonzero(before != stamps)
        if len(changed) and self._drawn is not None:
            self._paint_cells(self._drawn, changed.tolist())
            self.viewport().update()

    @property
    def large(self) -> bool:
        """Whether cells have room for an icon."""
        return self._layout.side >= current_theme().px(ICONED)

    def select(self, index: int) -> None:
        """Puts the ring around a shard, by index from 1 (0 for none), and scrolls it into view."""
        if index == self.current:
            return
        self.current = index
        if index:
            bar, box = self.verticalScrollBar(), self._box(index - 1)
            if box.top() < 0:
                bar.setValue(int(bar.value() + box.top()) - self._layout.pitch)
            elif box.bottom() > self.viewport().height():
                bar.setValue(int(bar.value() + box.bottom() - self.viewport().height()) + self._layout.pitch)
        self.setAccessibleDescription(self._describe(index) if index else "")
        self.viewport().update()

    # Layout

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Chooses the largest cells with which all shards fit; with the smallest ones the grid scrolls."""
        theme, count = current_theme(), max(1, len(self._stamps))
        inside = theme.px(_INSIDE)
        width, height = self.viewport().width() - 2 * inside, self.viewport().height() - 2 * inside
        for size in range(_LARGEST, _SMALLEST - 1, -1):
            side = theme.px(size)
            pitch = side + theme.px(4 if size >= LETTERED else 2 if size > _SMALLEST + 3 else 1)
            across = max(1, width // pitch)
            rows = -(-count // across)
            self._layout = _Layout(side, pitch, across)
            if rows * pitch <= height:
                break
        rows = -(-count // self._layout.across)
        high = rows * self._layout.pitch + 2 * inside
        bar = self.verticalScrollBar()
        bar.setPageStep(self.viewport().height())
        bar.setSingleStep(self._layout.pitch)
        bar.setRange(0, max(0, high - self.viewport().height()))
        self._redraw()

    def _redraw(self) -> None:
        self._drawn = None
        self.viewport().update()

    def _box(self, place: int) -> QRectF:
        """The cell of a shard, by index less 1, in the viewport."""
        side, pitch, across = self._layout
        inside = current_theme().px(_INSIDE)
        row, column = divmod(place, across)
        return QRectF(inside + column * pitch, inside + row * pitch - self.verticalScrollBar().value(), side, side)

    def shard_at(self, point: QPoint) -> int:
        """The shard at a point of the viewport, 0 where there is none."""
        _, pitch, across = self._layout
        inside = current_theme().px(_INSIDE)
        column, row = (point.x() - inside) // pitch, (point.y() - inside + self.verticalScrollBar().value()) // pitch
        place = row * across + column
        return place + 1 if 0 <= column < across and row >= 0 and place < len(self._stamps) else 0

    # Painting

    def _in_view(self) -> range:
        _, pitch, across = self._layout
        top = self.verticalScrollBar().value() - current_theme().px(_INSIDE)
        first = max(0, top // pitch) * across
        return range(first, min(len(self._stamps), first + (self.viewport().height() // pitch + 2) * across))

    def _stamp(self, stamp: int) -> QPixmap:
        cell = self._cells.get(stamp)
        if cell is None:
            theme, ratio = current_theme(), self.devicePixelRatioF()
            side = self._layout.side
            cell = QPixmap(round(side * ratio), round(side * ratio))
            cell.setDevicePixelRatio(ratio)
            cell.fill(theme.color("canvas"))
            painter = QPainter(cell)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.scale(theme.scale, theme.scale)
            draw_stamp(painter, Ink.of(theme), QRectF(0, 0, side / theme.scale, side / theme.scale), stamp)
            painter.end()
            self._cells[stamp] = cell
        return cell

    def _paint_cells(self, target: QPixmap, places: list[int] | range) -> None:
        theme = current_theme()
        side, pitch, across = self._layout
        inside, scrolled = theme.px(_INSIDE), self.verticalScrollBar().value()
        view = self._in_view()
        painter = QPainter(target)
        numbered = side >= theme.px(LETTERED)
        ink = Ink.of(theme)
        for place in places:
            if place not in view:
                continue
            row, column = divmod(place, across)
            x, y = inside + column * pitch, inside + row * pitch - scrolled
            painter.drawPixmap(x, y, self._stamp(int(self._stamps[place])))
            if numbered:
                painter.save()
                painter.translate(x, y)
                painter.scale(theme.scale, theme.scale)
                size = side / theme.scale
                ink.text(painter, size / 2, size - 6, f"{place + 1}", align="center", room=size)
                painter.restore()
        painter.end()

    def _whole(self) -> QPixmap:
        theme = current_theme()
        look = (theme, self._layout, self.devicePixelRatioF())
        if look != self._look_drawn:
            self._look_drawn = look
            self._cells.clear()
            self._drawn = None
        if self._drawn is None:
            ratio = self.devicePixelRatioF()
            self._drawn = QPixmap(round(self.viewport().width() * ratio), round(self.viewport().height() * ratio))
            self._drawn.setDevicePixelRatio(ratio)
            self._drawn.fill(theme.color("canvas"))
            self._paint_cells(self._drawn, self._in_view())
        return self._drawn

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.drawPixmap(0, 0, self._whole())
        if self.current:
            theme = current_theme()
            box = self._box(self.current - 1).adjusted(-1.5, -1.5, 1.5, 1.5)
            painter.setPen(QPen(theme.color("surface"), 4 * theme.scale))
            painter.drawRect(box)
            painter.setPen(QPen(QColor(theme.color("text" if self.hasFocus() else "accent")), 2 * theme.scale))
            painter.drawRect(box)

    # What the user does

    def mousePressEvent(self, event: QMouseEvent) -> None:
        shard = self.shard_at(event.position().toPoint())
        if shard:
            self._choose(shard)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        shard = self.shard_at(event.position().toPoint())
        if shard:
            self.activated.emit(shard)

    def _choose(self, index: int) -> None:
        self.select(index)
        self.selected.emit(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        last, across = len(self._stamps), self._layout.across
        steps = {**_STEPS, Qt.Key.Key_Up: -across, Qt.Key.Key_Down: across}
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current:
            self.activated.emit(self.current)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End) and last:
            self._choose(1 if key == Qt.Key.Key_Home else last)
        elif key in steps and last:
            wanted = self.current + steps[key] if self.current else 1
            if 1 <= wanted <= last:
                self._choose(wanted)
        else:
            super().keyPressEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            shard = self.shard_at(event.pos())
            QToolTip.showText(event.globalPos(), self._describe(shard) if shard else "", self.viewport())
            return True
        return super().viewportEvent(event)

    def focusInEvent(self, event: object) -> None:
        self.viewport().update()

    def focusOutEvent(self, event: object) -> None:
        self.viewport().update()
