"""A heat map of the correlations between neurons beside their dendrogram. Cells can be pointed at, reached by keys and
chosen."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from judgenet.core.wording import plural, ratio
from judgenet.ui.export import UNITS, paint
from judgenet.ui.results import texts
from judgenet.ui.style import OWN_FOCUS
from judgenet.ui.theme import current_theme

if TYPE_CHECKING:
    from judgenet.figures.panel import CorrelationFigures
    from judgenet.report.correlation_chart import CorrelationLayout

_LEAST_WIDTH: Final = 320
_WIDEST: Final = 920
"""The map gets no wider than this many px at 100 %: its cells have their full size then."""


class CorrelationView(QWidget):
    """The correlations of all neurons with each other; the chosen neurons are marked.

    The arrow keys move from cell to cell; Space or Enter chooses the two neurons of a cell, or releases them.

    Signals:
        pointed: what the cell, name or branch under the pointer, or reached by keys, says; empty where there is none.
        chosen: the neurons that are now chosen, as places in the names.
    """

    pointed = Signal(str)
    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._correlations: CorrelationFigures | None = None
        self._names: tuple[str, ...] = ()
        self._basis = ""
        self._marked: tuple[int, ...] = ()
        self._layout: CorrelationLayout | None = None
        self._picture: QPixmap | None = None
        self.current: tuple[int, int] | None = None
        """The cell that is pointed at, as row and column from the top left."""
        self._branch: tuple[str, ...] | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty(OWN_FOCUS, True)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_map(self, correlations: CorrelationFigures | None, names: tuple[str, ...], basis: str) -> None:
        """Sets the correlations; ``basis`` says what is correlated (``errors`` or ``verdicts``)."""
        self._correlations, self._names, self._basis = correlations, names, basis
        self.current = self._branch = None
        count = plural(len(names), "neuron")
        self.setAccessibleName(texts.correlations(basis, count))
        self._layout = None
        self._draw_anew()

    def mark(self, places: Collection[int]) -> None:
        """Marks the chosen neurons, without emitting ``chosen``."""
        self._marked = tuple(sorted(places))
        self._picture = None
        self.update()

    def _draw_anew(self) -> None:
        self._picture = None
        self.updateGeometry()
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        # A new theme, scale or density comes with a new style sheet.
        if event.type() == QEvent.Type.StyleChange:
            self._draw_anew()

    # Geometry

    def _laid_out(self, width: int) -> CorrelationLayout | None:
        """The layout of the map for a width in px; it is made anew only where the width changes."""
        from judgenet.report.correlation_chart import CorrelationLayout

        if self._correlations is None:
            return None
        wide = min(_WIDEST, max(_LEAST_WIDTH, round(width / current_theme().scale)))
        if self._layout is None or self._layout.width != wide:
            self._layout = CorrelationLayout(self._correlations, self._names, wide)
            self._picture = None
        return self._layout

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        layout = self._laid_out(width)
        return 0 if layout is None else round((layout.bottom + layout.foot) * current_theme().scale)

    def sizeHint(self) -> QSize:
        width = self.width() if self.width() > 0 else current_theme().px(_LEAST_WIDTH)
        return QSize(current_theme().px(_LEAST_WIDTH), self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        return QSize(current_theme().px(_LEAST_WIDTH), 0)

    def cell_rect(self, row: int, column: int) -> QRectF:
        """Where a cell lies on the widget, in px."""
        layout = self._laid_out(self.width())
        assert layout is not None
        scale = current_theme().scale
        x, y = layout.left + column * layout.cell_w, layout.top + row * layout.cell_h
        return QRectF(x * scale, y * scale, layout.cell_w * scale, layout.cell_h * scale)

    # Painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        layout, theme = self._laid_out(self.width()), current_theme()
        if layout is None:
            return
        painter = QPainter(self)
        if self._picture is None:
            self._picture = self._drawn(layout)
        painter.drawPixmap(0, 0, self._picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._branch is not None:
            rows = [row for row, place in enumerate(layout.order) if self._names[place] in self._branch]
            first, last = self.cell_rect(rows[0], rows[0]), self.cell_rect(rows[-1], rows[-1])
            painter.setPen(QPen(theme.color("accent"), 2 * theme.scale))
            painter.drawRect(first.united(last))
        elif self.current is not None:
            painter.setPen(QPen(theme.color("text"), 1.5 * theme.scale))
            painter.drawRect(self.cell_rect(*self.current))
        if self.hasFocus():
            half = theme.focus_width / 2
            painter.setPen(QPen(theme.color("accent"), theme.focus_width))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(half, half, -half, -half), 4, 4)

    def _drawn(self, layout: CorrelationLayout) -> QPixmap:
        from judgenet.report.correlation_chart import correlation_drawing

        ratio_of, scale, colors = self.devicePixelRatioF(), current_theme().scale, current_theme().colors
        picture = QPixmap(self.size() * ratio_of)
        picture.setDevicePixelRatio(ratio_of)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        if not layout.named:
            # So many cells are a picture of their own; as shapes they would take a second.
            side = layout.cell_w * len(layout.names) * scale
            painter.drawImage(QRectF(layout.left * scale, layout.top * scale, side, side), self._cells(layout))
        painter.scale(scale / UNITS, scale / UNITS)
        paint(painter, correlation_drawing(layout, self._basis, chosen=self._marked, cells=layout.named), colors)
        painter.end()
        return picture

    def _cells(self, layout: CorrelationLayout) -> QImage:
        """A picture with a pixel for each cell."""
        theme, order = current_theme(), list(layout.order)
        r = np.array([[np.nan if value is None else value for value in row] for row in layout.found.r])
        r = r[np.ix_(order, order)]
        strength = np.nan_to_num(np.abs(r), nan=0.0)[:, :, None]
        base, above, below, same = (
            np.array([color.red(), color.green(), color.blue()], np.float64)
            for color in map(theme.color, ("surface", "accent", "text3", "sunken"))
        )
        colors = base + strength * (np.where((np.nan_to_num(r) >= 0)[:, :, None], above, below) - base)
        colors[np.arange(len(order)), np.arange(len(order))] = same
        pixels = np.ascontiguousarray(np.rint(colors).astype(np.uint8))
        count = len(order)
        return QImage(pixels.tobytes(), count, count, 3 * count, QImage.Format.Format_RGB888).copy()

    # Pointing and choosing

    def _at(self, position: QPointF) -> tuple[tuple[int, int] | None, int | None, tuple[str, ...] | None]:
        """The cell, the neuron whose name stands there, or the branch at a position of the widget; the others are
        ``None``."""
        layout = self._laid_out(self.width())
        if layout is None:
            return None, None, None
        x, y = position.x() / current_theme().scale, position.y() / current_theme().scale
        if x < layout.left:
            return None, None, layout.branch_at(x, y)
        row, column = layout.row_at(y), layout.column_at(x)
        if row is None:
            return None, None, None
        if column is None:
            return None, row if layout.named else None, None
        return (layout.order.index(row), layout.order.index(column)), None, None

    def words_of(self, row: int, column: int) -> str:
        """What a cell says: its two neurons, their correlation, and n."""
        layout = self._laid_out(self.width())
        if layout is None or self._correlations is None:
            return ""
        first, second = layout.order[row], layout.order[column]
        if first == second:
            return f"{self._names[first]}: {plural(self._correlations.n[first][first], 'pair')}."
        r, n = self._correlations.r[first][second], self._correlations.n[first][second]
        both = texts.both(self._names[first], self._names[second])
        if r is None:
            return texts.never_varies(both, n)
        return texts.correlation(both, ratio(r), self._basis, n)

    def _point(
        self, cell: tuple[int, int] | None, name: int | None = None, branch: tuple[str, ...] | None = None
    ) -> None:
        self.current, self._branch = cell, branch
        words = ""
        if cell is not None:
            words = self.words_of(*cell)
        elif branch is not None and self._correlations is not None:
            joined = next(merge for merge in self._correlations.merges if (*merge.left, *merge.right) == branch)
            words = texts.joined_at(", ".join(branch), f"{joined.distance:.2f}")
        elif name is not None:
            words = f"{self._names[name]}: {texts.IS_CHOSEN if name in self._marked else texts.IS_NOT_CHOSEN}."
        self.setAccessibleDescription(words)
        self.pointed.emit(words)
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        cell, name, branch = self._at(event.position())
        leads = cell is not None or name is not None or branch is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if leads else Qt.CursorShape.ArrowCursor)
        self._point(cell, name, branch)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if not self.hasFocus():
            self._point(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        cell, name, branch = self._at(event.position())
        layout = self._laid_out(self.width())
        if name is not None:
            self._toggle({name})
        elif branch is not None:
            self._toggle({self._names.index(neuron) for neuron in branch})
        elif cell is not None and layout is not None:
            self._toggle({layout.order[cell[0]], layout.order[cell[1]]})

    def _toggle(self, places: set[int]) -> None:
        """Chooses neurons, or releases them where all of them are chosen."""
        before = set(self._marked)
        self.mark(before - places if places <= before else before | places)
        self.chosen.emit(self._marked)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        layout, count = self._laid_out(self.width()), len(self._names)
        steps = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}
        key = event.key()
        if layout is None or not count:
            super().keyPressEvent(event)
        elif key in steps:
            row, column = self.current or (0, 0)
            if self.current is not None:
                down, right = steps[Qt.Key(key)]
                row, column = max(0, min(count - 1, row + down)), max(0, min(count - 1, column + right))
            self._point((row, column))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.current is not None:
            self._toggle({layout.order[place] for place in self.current})
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._point(None)
