"""The first rows of a file as they stand in it, by its own columns: what is shown before columns are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from judgenet.ui.text_view import one_line, plain_tip
from judgenet.ui.theme import Theme

_COLUMN: Final = 200
_CELL_CHARS: Final = 200


def sample(rows: Sequence[Mapping[str, str]], column: str, most: int = 60) -> str:
    """The first value of a column that is not empty, in one line; empty where there is none."""
    return next((one_line(text, most) for row in rows if (text := row.get(column, "")).strip()), "")


class RawTable(QTableWidget):
    """Rows as texts. Nothing can be changed in it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("The file as it is")
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Takes on another theme's measures."""
        self._theme = theme
        self.verticalHeader().setDefaultSectionSize(theme.row)
        self.horizontalHeader().setDefaultSectionSize(theme.px(_COLUMN))
        self.horizontalHeader().setFixedHeight(theme.row)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    def show_rows(self, names: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
        """Shows the first rows of a file by the names of its columns."""
        self.clear()
        self.setRowCount(len(rows))
        self.setColumnCount(len(names))
        for column, name in enumerate(names):
            head = QTableWidgetItem(one_line(name, 80))
            head.setToolTip(plain_tip(name))
            self.setHorizontalHeaderItem(column, head)
            for row, record in enumerate(rows):
                text = record.get(name, "")
                cell = QTableWidgetItem(one_line(text, _CELL_CHARS))
                cell.setToolTip(plain_tip(text))
                self.setItem(row, column, cell)
