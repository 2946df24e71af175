"""Tables of the studio: the view, the model of rows, and a table of plain texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from PySide6.QtCore import QAbstractItemModel, QAbstractTableModel, QEvent, QModelIndex, QObject, Qt
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from judgenet.ui.models.index import ModelIndex
from judgenet.ui.text_view import plain_tip
from judgenet.ui.theme import current_theme

_ROOT: Final = QModelIndex()
_LEFT: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class _Column(Protocol):
    @property
    def title(self) -> str: ...


class RowsModel(QAbstractTableModel):
    """Rows under titled columns.

    Attributes:
        columns: the columns; each has a ``title``.
        rows: the rows, in the order in which they are shown.
    """

    columns: Sequence[_Column] = ()
    rows: Sequence[Any] = ()

    def rowCount(self, parent: ModelIndex = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: ModelIndex = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section].title
        return None


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of texts. ``width`` is in px at 100 %, 0 for what is left, ``None`` for as much as its texts need."""

    title: str
    width: float | None = None
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class TextRow:
    """A row of texts, one a column. ``tips`` are the texts in full where the cells shorten them."""

    cells: tuple[str, ...]
    key: object = None
    strong: bool = False
    tips: tuple[str, ...] = ()


class TextsModel(RowsModel):
    """Rows of texts."""

    def __init__(self, columns: Sequence[TextColumn], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns: tuple[TextColumn, ...] = tuple(columns)
        self.rows: tuple[TextRow, ...] = ()

    def show_rows(self, rows: Sequence[TextRow], columns: Sequence[TextColumn] | None = None) -> None:
        """Replaces the rows, and the columns where they are given. What is selected stays where the keys are the
        same."""
        new, before = tuple(rows), self.rows
        if columns is None and new == before:
            return
        if columns is None and new and [row.key for row in new] == [row.key for row in before]:
            self.rows = new
            self.dataChanged.emit(self.index(0, 0), self.index(len(new) - 1, len(self.columns) - 1))
            return
        self.beginResetModel()
        self.rows = new
        if columns is not None:
            self.columns = tuple(columns)
        self.endResetModel()

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return _RIGHT if self.columns[section].numeric else _LEFT
            if role == Qt.ItemDataRole.ToolTipRole:
                return plain_tip(self.columns[section].title)
        return super().headerData(section, orientation, role)

    def data(self, index: ModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self.rows[index.row()], index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return row.cells[column]
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(row.tips[column] if row.tips else row.cells[column])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if self.columns[column].numeric else _LEFT
        if role == Qt.ItemDataRole.FontRole:
            return current_theme().font("strong" if row.strong else "body", tabular=self.columns[column].numeric)
        return None


class StudioTable(QTableView):
    """A table of whole rows without a grid, whose rows are as high as the theme has them.

    Attributes:
        hovered: the row under the mouse, -1 for none.
    """

    def __init__(self, name: str, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hovered = -1
        self.setAccessibleName(name)
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.viewport().setMouseTracking(True)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        head = self.horizontalHeader()
        head.setSectionsClickable(False)
        head.setHighlightSections(False)
        head.setDefaultAlignment(_LEFT)

    @property
    def row_height(self) -> int:
        """The height of a row in px."""
        return current_theme().row

    def height_of(self, rows: int) -> int:
        """The height in px of the table with so many rows in view."""
        return current_theme().row + rows * self.row_height + 2 * self.frameWidth()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        """Sets the sizes of header, rows and columns."""
        self.horizontalHeader().setFixedHeight(current_theme().row)
        self.verticalHeader().setDefaultSectionSize(self.row_height)
        self.verticalScrollBar().setSingleStep(self.row_height)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self.hover(self.rowAt(event.position().toPoint().y()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hover(-1)

    def hover(self, row: int) -> None:
        """Sets the row under the mouse, -1 for none."""
        if row != self.hovered:
            old, self.hovered = self.hovered, row
            for place in (old, row):
                if place >= 0:
                    y = self.rowViewportPosition(place)
                    self.viewport().update(0, y, self.viewport().width(), self.row_height)


class TextTable(StudioTable):
    """A table of texts.

    Attributes:
        texts: its model.
    """

    def __init__(self, name: str, columns: Sequence[TextColumn] = (), parent: QWidget | None = None) -> None:
        self.texts = TextsModel(columns)
        super().__init__(name, self.texts, parent)
        self.texts.setParent(self)
        self.texts.modelReset.connect(self.fit)

    def show_rows(self, rows: Sequence[TextRow], columns: Sequence[TextColumn] | None = None) -> None:
        """Replaces the rows, and the columns where they are given."""
        self.texts.show_rows(rows, columns)

    def fit(self) -> None:
        super().fit()
        head = self.horizontalHeader()
        for place, column in enumerate(self.texts.columns):
            if column.width is None:
                head.setSectionResizeMode(place, QHeaderView.ResizeMode.ResizeToContents)
            elif column.width == 0:
                head.setSectionResizeMode(place, QHeaderView.ResizeMode.Stretch)
            else:
                head.setSectionResizeMode(place, QHeaderView.ResizeMode.Interactive)
                head.resizeSection(place, current_theme().px(column.width))
