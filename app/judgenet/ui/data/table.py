"""The table of pairs. A click on the head of a column sorts by it."""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from typing import Final

from PySide6.QtCore import QModelIndex, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from judgenet.core.acceptance import FOR_PEOPLE
from judgenet.engine.pair_index import SortKey
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.paint import draw_chip, draw_people
from judgenet.ui.data import texts
from judgenet.ui.elements import label
from judgenet.ui.icons import icon_pixmap
from judgenet.ui.models.index import ModelIndex
from judgenet.ui.models.pairs_model import CellKind, ColumnKey, PairsModel
from judgenet.ui.table import StudioTable
from judgenet.ui.theme import Theme, current_theme
from judgenet.ui.tokens import TypeRole

_CELL_PAD: Final = 8
_ELIDED_KEPT: Final = 3000
_FONTS: Final[dict[CellKind, TypeRole]] = {"mono": "mono"}
_LEFT: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute
_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute

NEEDS: Final[dict[ColumnKey, int]] = {"length_a": 720, "length_b": 720, "match": 560, "task": 500, "id": 420}
"""The least width of the table, in px at 100 %, at which a column is shown; below it the question gets the room."""


@lru_cache(maxsize=32)
def _letters(theme: Theme, kind: CellKind) -> tuple[QFont, QFontMetrics]:
    """The font of a kind of cell, and its metrics."""
    font = theme.font(_FONTS.get(kind, "body"), tabular=kind == "number")
    return font, QFontMetrics(font)


class CellDelegate(QStyledItemDelegate):
    """Draws cells by the kind of their column. Selection and hover colour the whole row."""

    def __init__(self, table: PairsTable) -> None:
        super().__init__(table)
        self._table = table
        self._elided: OrderedDict[tuple[str, int, bool, float], str] = OrderedDict()

    def sizeHint(self, option: QStyleOptionViewItem, index: ModelIndex) -> QSize:
        return QSize(option.rect.width(), current_theme().row)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: ModelIndex) -> None:
        model = self._table.pairs_model
        row, theme = index.row(), current_theme()
        column = model.columns[index.column()]
        rect = option.rect
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.color("accentTint"))
        elif row == self._table.hovered:
            painter.fillRect(rect, theme.color("hover"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.color("line"))
        kind = column.kind
        if kind == "chip":
            self._paint_chip(painter, rect, row, column.key)
        elif kind == "tick":
            if model.is_chosen(row):
                self._paint_icon(painter, rect, "tick", "text2")
        elif kind == "match":
            self._paint_match(painter, rect, model.agrees(row))
        else:
            self._paint_text(painter, rect, kind, model.text(row, column.key))

    def _paint_text(self, painter: QPainter, rect: QRect, kind: CellKind, text: str) -> None:
        if not text:
            return
        theme = current_theme()
        pad = theme.px(_CELL_PAD)
        room = rect.width() - 2 * pad
        font, metrics = _letters(theme, kind)
        key = (text, room, kind == "mono", theme.scale)
        elided = self._elided.get(key)
        if elided is None:
            elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            self._elided[key] = elided
            if len(self._elided) > _ELIDED_KEPT:
                self._elided.popitem(last=False)
        painter.setFont(font)
        painter.setPen(theme.color("text" if kind in ("text", "number") else "text2"))
        inner = QRect(rect.left() + pad, rect.top(), room, rect.height() - 1)
        # Right-to-left text is written from right to left, but aligned to the left as its column is.
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        painter.drawText(inner, _RIGHT if kind == "number" else _LEFT, elided)

    def _paint_chip(self, painter: QPainter, rect: QRect, row: int, key: ColumnKey) -> None:
        verdict, missing = self._table.pairs_model.verdict(row, key)
        if verdict is None and not missing:
            return
        theme = current_theme()
        scale = theme.scale
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(rect.left() + theme.px(_CELL_PAD), rect.top() + (rect.height() - 1 - 20 * scale) / 2)
        painter.scale(scale, scale)
        if missing == FOR_PEOPLE:
            draw_people(painter, Ink.of(theme), QRectF(0, 0, 24, 20))
        else:
            draw_chip(painter, Ink.of(theme), QRectF(0, 0, 24, 20), verdict)
        painter.restore()

    def _paint_match(self, painter: QPainter, rect: QRect, match: bool | None) -> None:
        if match is None:
            return
        theme = current_theme()
        pad = theme.px(_CELL_PAD)
        painter.setFont(_letters(theme, "match")[0])
        painter.setPen(theme.color("text3" if match else "warn"))
        inner = rect.adjusted(pad, 0, -pad, -1)
        painter.drawText(inner, _LEFT, texts.AGREE if match else texts.DIFFER)

    def _paint_icon(self, painter: QPainter, rect: QRect, name: str, color: str) -> None:
        theme = current_theme()
        side = theme.px(16)
        device = painter.device()
        ratio = device.devicePixelRatio() if device is not None else 1.0
        pixmap = icon_pixmap(name, getattr(theme.colors, color), side, ratio)
        painter.drawPixmap(
            QPointF(rect.left() + theme.px(_CELL_PAD), rect.top() + (rect.height() - 1 - side) / 2),
            pixmap,
        )


class PairsHeader(QHeaderView):
    """Column heads with the chip of their response, and an arrow on the one that the table is sorted by."""

    def __init__(self, table: PairsTable) -> None:
        super().__init__(Qt.Orientation.Horizontal, table)
        self._table = table
        self.key: SortKey | None = None
        self.descending = False
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(24)
        self.setAccessibleName(texts.COLUMNS)

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        theme, column = current_theme(), self._table.pairs_model.columns[logicalIndex]
        painter.save()
        painter.fillRect(rect, theme.color("surface"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.color("line"))
        pad = theme.px(_CELL_PAD)
        inner = rect.adjusted(pad, 0, -pad, -1)
        painter.setFont(theme.font("strong"))
        painter.setPen(theme.color("text2"))
        sorted_by = column.sort is not None and column.sort == self.key
        if sorted_by:
            side = theme.px(12)
            name = "chevron-down" if self.descending else "chevron-up"
            device = painter.device()
            ratio = device.devicePixelRatio() if device is not None else 1.0
            pixmap = icon_pixmap(name, theme.colors.accent, side, ratio)
            painter.drawPixmap(QPointF(inner.right() - side + pad / 2, inner.center().y() - side / 2 + 1), pixmap)
            inner.setRight(inner.right() - side)
            painter.setPen(theme.color("accent"))
        metrics = painter.fontMetrics()
        left = inner.left()
        if column.side is not None:
            chip_width = theme.px(24)
            gap = theme.px(6)
            if column.kind == "number":
                left = max(left, inner.right() - metrics.horizontalAdvance(column.title) - gap - chip_width)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.save()
            painter.translate(left, rect.top() + (rect.height() - 1 - 20 * theme.scale) / 2)
            painter.scale(theme.scale, theme.scale)
            draw_chip(painter, Ink.of(theme), QRectF(0, 0, 24, 20), column.side)
            painter.restore()
            left += chip_width + gap
        box = QRect(left, inner.top(), inner.right() - left + 1, inner.height())
        flags = _RIGHT if column.kind == "number" and column.side is None else _LEFT
        painter.drawText(box, flags, metrics.elidedText(column.title, Qt.TextElideMode.ElideRight, box.width()))
        painter.restore()


class PairsTable(StudioTable):
    """A table of pairs. Positions are places in the data set, from 0.

    Signals:
        current_changed: the position of the pair in the current row, or ``None``.
        opened: the position of a pair to open.
        sort_wanted: the key to sort by (``None`` for the order of the source), and whether descending.
    """

    current_changed = Signal(object)
    opened = Signal(int)
    sort_wanted = Signal(object, bool)

    def __init__(self, name: str, model: PairsModel, parent: QWidget | None = None, *, several: bool = False) -> None:
        """``several``: more than one row can be selected."""
        super().__init__(name, model, parent)
        self.pairs_model = model
        self._wanted_hidden: set[ColumnKey] = set()
        self._delegate = CellDelegate(self)
        self.setItemDelegate(self._delegate)
        self.heads = PairsHeader(self)
        self.setHorizontalHeader(self.heads)
        self.heads.setVisible(True)
        self.heads.sectionClicked.connect(self._head_clicked)
        if several:
            self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.doubleClicked.connect(self._open)
        self._nothing = label("", tone="text2", wrap=True)
        self._nothing.setParent(self.viewport())
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._nothing.hide()
        model.modelReset.connect(self._show_nothing)
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        self._scale = 0.0
        self.fit()

    def set_empty_text(self, text: str) -> None:
        """Sets the text that is shown while the table has no rows."""
        self._nothing.setText(text)
        self._show_nothing()

    def _show_nothing(self) -> None:
        self._nothing.setVisible(not self.pairs_model.rowCount() and bool(self._nothing.text()))
        gap = current_theme().px(12)
        self._nothing.setGeometry(gap, gap, max(1, self.viewport().width() - 2 * gap), current_theme().px(60))

    def show_column(self, key: ColumnKey, shown: bool) -> None:
        """Shows or hides a column."""
        (self._wanted_hidden.discard if shown else self._wanted_hidden.add)(key)
        self._fit_columns()

    def set_sort(self, key: SortKey | None, descending: bool) -> None:
        """Marks the column by which the rows are sorted."""
        self.heads.key, self.heads.descending = key, descending
        self.heads.viewport().update()

    # Rows

    @property
    def _first_column(self) -> int:
        """The first visible column: Qt cannot extend a selection from a hidden one."""
        columns = range(len(self.pairs_model.columns))
        return next((place for place in columns if not self.isColumnHidden(place)), 0)

    @property
    def current_position(self) -> int | None:
        """The position of the pair in the current row; ``None`` without one."""
        index = self.currentIndex()
        return self.pairs_model.position(index.row()) if index.isValid() else None

    @property
    def selected_positions(self) -> tuple[int, ...]:
        """The positions of the pairs in the selected rows, from top to bottom."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return tuple(self.pairs_model.position(row) for row in rows)

    def go_to(self, position: int | None, *, center: bool = False) -> None:
        """Makes the pair at a position the current one, if it is shown; ``None`` makes none the current one."""
        row = None if position is None else self.pairs_model.row_of(position)
        if row is None:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())
            return
        self.setCurrentIndex(self.pairs_model.index(row, self._first_column))
        hint = QAbstractItemView.ScrollHint
        self.scrollTo(self.pairs_model.index(row, 0), hint.PositionAtCenter if center else hint.EnsureVisible)

    def step(self, by: int) -> None:
        """Moves the current row by so many rows."""
        count = self.pairs_model.rowCount()
        if count:
            now = self.currentIndex().row()
            row = min(count - 1, max(0, now + by)) if now >= 0 else 0
            self.setCurrentIndex(self.pairs_model.index(row, self._first_column))

    def _current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        self.current_changed.emit(self.pairs_model.position(current.row()) if current.isValid() else None)

    def _open(self, index: QModelIndex) -> None:
        self.opened.emit(self.pairs_model.position(index.row()))

    def _head_clicked(self, place: int) -> None:
        key = self.pairs_model.columns[place].sort
        if key is None:
            return
        if self.heads.key != key:
            self.sort_wanted.emit(key, False)
        elif not self.heads.descending:
            self.sort_wanted.emit(key, True)
        else:
            self.sort_wanted.emit(None, False)

    # Keys and mouse

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and index.isValid():
            self._open(index)
            return
        super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:
        """Does nothing: to search by typing, Qt would look at every row."""

    def moveCursor(self, cursorAction: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        rows = self.pairs_model.rowCount()
        if rows and cursorAction in (
            QAbstractItemView.CursorAction.MoveHome,
            QAbstractItemView.CursorAction.MoveEnd,
        ):
            first = cursorAction == QAbstractItemView.CursorAction.MoveHome
            return self.pairs_model.index(0 if first else rows - 1, self._first_column)
        return super().moveCursor(cursorAction, modifiers)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_nothing()

    def fit(self) -> None:
        super().fit()
        if self._scale != current_theme().scale:
            # Widths that the user has set stay until the scale changes.
            self._scale = current_theme().scale
            for place, column in enumerate(self.pairs_model.columns):
                resize = QHeaderView.ResizeMode
                self.heads.setSectionResizeMode(place, resize.Interactive if column.width else resize.Stretch)
                if column.width:
                    self.heads.resizeSection(place, current_theme().px(column.width))
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Hides columns that have no room."""
        width = self.viewport().width() / current_theme().scale
        for place, column in enumerate(self.pairs_model.columns):
            hidden = column.key in self._wanted_hidden or width < NEEDS.get(column.key, 0)
            if hidden != self.isColumnHidden(place):
                self.setColumnHidden(place, hidden)
