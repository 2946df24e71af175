"""The results of an experiment: plots, tables, and the notes that a reader of them needs."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from judgenet.report.blocks import Block, Bullets, Notice, Paragraph, Section, plain_line
from judgenet.report.blocks import Table as BlockOfTable
from judgenet.ui.elements import label
from judgenet.ui.experiments import texts
from judgenet.ui.experiments.work import ExperimentView
from judgenet.ui.measures import measure
from judgenet.ui.results.drawing_view import DrawingView
from judgenet.ui.table import TextColumn, TextRow, TextTable


class ResultsView(QScrollArea):
    """Shows results as their files have them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: ExperimentView | None = None
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(texts.RESULTS_OF_THE_EXPERIMENT)
        self._show()

    def show_results(self, shown: ExperimentView | None) -> None:
        """Sets the results; ``None`` for none."""
        self._shown = shown
        self._show()

    def _show(self) -> None:
        inner = QWidget()
        column = QVBoxLayout(inner)
        measure(column, margins=(0, 0, 12, 12), spacing=8)
        if self._shown is not None:
            for name, drawing in self._shown.plots:
                if len(self._shown.plots) > 1:
                    column.addWidget(label(name, "strong"))
                view = DrawingView()
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
            measure(row, margins=(0, 12, 0, 0))
            row.addWidget(label(block.title, "strong"))
            row.addStretch(1)
            row.addWidget(label(block.fact, tone="text2"))
            column.addLayout(row)
        elif isinstance(block, BlockOfTable):
            column.addWidget(BlockTable(block))
        elif isinstance(block, Notice):
            column.addWidget(label(plain_line(block.line), tone="warn", wrap=True))
        elif isinstance(block, Paragraph):
            column.addWidget(label(plain_line(block.line), tone="text2", wrap=True))
        elif isinstance(block, Bullets):
            for item in block.items:
                column.addWidget(label(plain_line(item), tone="text2", wrap=True))


class BlockTable(TextTable):
    """A table of a report, as high as all of its rows, so that it never scrolls by itself."""

    def __init__(self, block: BlockOfTable, parent: QWidget | None = None) -> None:
        last = len(block.columns) - 1
        columns = [
            TextColumn(title, 0 if column == last and not numeric else None, numeric)
            for column, (title, numeric) in enumerate(zip(block.columns, block.numeric, strict=True))
        ]
        super().__init__(texts.table_of(", ".join(column for column in block.columns if column)), columns, parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_rows(
            [TextRow(tuple(plain_line(cell) for cell in row.cells), strong=row.strong) for row in block.rows]
        )

    def fit(self) -> None:
        super().fit()
        bar = self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(self.height_of(len(self.texts.rows)) + bar)
