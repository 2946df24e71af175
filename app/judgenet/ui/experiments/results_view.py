"""The results of an experiment: its plot, its tables, and what must be known to read them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QScrollArea,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from judgenet.report.blocks import Block, Bullets, Notice, Paragraph, Section, Table, plain_line
from judgenet.ui.elements import label
from judgenet.ui.experiments.work import ExperimentView
from judgenet.ui.results.drawing_view import DrawingView
from judgenet.ui.theme import Theme


class ResultsView(QScrollArea):
    """Shows results as the files have them."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: ExperimentView | None = None
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName("Results of the experiment")
        self._show()

    def set_theme(self, theme: Theme) -> None:
        """Shows the results in another theme."""
        self._theme = theme
        self._show()

    def show_results(self, shown: ExperimentView | None) -> None:
        """Sets the results."""
        self._shown = shown
        self._show()

    def _show(self) -> None:
        theme = self._theme
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, theme.px(12), theme.px(12))
        column.setSpacing(theme.px(8))
        if self._shown is not None:
            for name, drawing in self._shown.plots:
                if len(self._shown.plots) > 1:
                    column.addWidget(label(name, "strong"))
                view = DrawingView(theme)
                view.show_drawing(drawing)
                column.addWidget(view)
            for block in self._shown.document.blocks:
                self._add(block, column)
        column.addStretch(1)
        self.setWidget(inner)
        self.verticalScrollBar().setValue(0)

    def _add(self, block: Block, column: QVBoxLayout) -> None:
        if isinstance(block, Section):
            row = QHBoxLayout()
            row.setContentsMargins(0, self._theme.px(12), 0, 0)
            row.addWidget(label(block.title, "strong"))
            row.addStretch(1)
            row.addWidget(label(block.fact, tone="text2"))
            column.addLayout(row)
        elif isinstance(block, Table):
            column.addWidget(TableView(block, self._theme))
        elif isinstance(block, Notice):
            column.addWidget(label(plain_line(block.line), tone="warn", wrap=True))
        elif isinstance(block, Paragraph):
            column.addWidget(label(plain_line(block.line), tone="text2", wrap=True))
        elif isinstance(block, Bullets):
            for item in block.items:
                column.addWidget(label(plain_line(item), tone="text2", wrap=True))


class TableView(QTableWidget):
    """A table of a report, as high as it is long."""

    def __init__(self, of: Table, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(len(of.rows), len(of.columns), parent)
        self.setAccessibleName(f"Table: {', '.join(column for column in of.columns if column)}")
        self.verticalHeader().setVisible(False)
        self.verticalHeader().setDefaultSectionSize(theme.px(32))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setShowGrid(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        for place, row in enumerate(of.rows):
            for column, cell in enumerate(row.cells):
                self.setItem(place, column, self._item(plain_line(cell), of.numeric[column], row.strong, theme))
        for column, numeric in enumerate(of.numeric):
            head = QTableWidgetItem(of.columns[column])
            head.setTextAlignment(_side(numeric))
            self.setHorizontalHeaderItem(column, head)
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        self.horizontalHeader().setStretchLastSection(not of.numeric[-1])
        self.horizontalHeader().setHighlightSections(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        top = max(self.horizontalHeader().sizeHint().height(), theme.px(32))
        self.setFixedHeight(top + len(of.rows) * theme.px(32) + theme.px(14))

    def showEvent(self, event: QShowEvent) -> None:
        # The padding of cells and heads comes with the style sheet, which a widget has when it is shown.
        super().showEvent(event)
        self.resizeColumnsToContents()

    @staticmethod
    def _item(text: str, numeric: bool, strong: bool, theme: Theme) -> QTableWidgetItem:
        item = QTableWidgetItem(text)
        item.setTextAlignment(_side(numeric))
        item.setToolTip("" if numeric else text)
        item.setFont(theme.font("strong" if strong else "body", tabular=numeric))
        return item


def _side(numeric: bool) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if numeric else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
