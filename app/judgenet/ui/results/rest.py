"""Word clouds of the roles that the model named, and what the figures leave out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from judgenet.core.wording import of, percent, reason_words
from judgenet.report.blocks import Cloud, Line
from judgenet.report.model import Report
from judgenet.report.outline_record import caution_lines, left_line
from judgenet.report.selection import LISTED, OfLeftOut
from judgenet.ui.elements import label, link
from judgenet.ui.measures import Gap, measure
from judgenet.ui.results import texts
from judgenet.ui.results.drawing_view import DrawingView
from judgenet.ui.results.line_label import LineLabel
from judgenet.ui.results.panel import Panel, clear_layout
from judgenet.ui.theme import current_theme

CLOUD_W: Final = 392
"""The width of a word cloud in px at 100 %: three fit side by side in a window of usual width."""


class CloudsPanel(Panel):
    """Word clouds of roles, one a task, as many side by side as fit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(texts.GENERATED_ROLES, parent=parent)
        self.say(texts.LARGER_IS_MORE)
        self._grid = QGridLayout()
        self.body.addLayout(self._grid)
        self._clouds: tuple[Cloud, ...] = ()
        self._boxes: list[QWidget] = []
        self._titles: list[LineLabel] = []
        self._views: list[DrawingView] = []
        self._columns = 0
        measure(self._grid, spacing=Gap(16))

    def show_clouds(self, clouds: Sequence[Cloud]) -> None:
        """Sets the clouds."""
        self._clouds = tuple(clouds)
        for box in self._boxes:
            self._grid.removeWidget(box)
            box.hide()
            box.deleteLater()
        self._boxes, self._titles, self._views = [], [], []
        for cloud in self._clouds:
            box = QWidget(self)
            column = QVBoxLayout(box)
            column.setContentsMargins(0, 0, 0, 0)
            title = LineLabel(role="strong")
            title.say(cloud.title)
            view = DrawingView()
            view.show_drawing(cloud.drawing)
            column.addWidget(title)
            column.addWidget(label(cloud.fact, tone="text2"))
            column.addWidget(view, alignment=Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
            column.addStretch(1)
            self._boxes.append(box)
            self._titles.append(title)
            self._views.append(view)
        self._columns = 0
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        px, gap = current_theme().px, current_theme().gap(16)
        columns = max(1, (self.width() - 2 * px(16) + gap) // (px(CLOUD_W) + gap))
        if columns == self._columns:
            return
        self._columns = columns
        for place, box in enumerate(self._boxes):
            self._grid.addWidget(box, place // columns, place % columns)
            box.show()


class LeftOutPanel(Panel):
    """What was left out and why, the reasons of unscored calls, and cautions for reading the figures.

    Signals:
        chosen: a selection of pairs.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(texts.LEFT_OUT, parent=parent)
        self._lines = QVBoxLayout()
        self.body.addLayout(self._lines)
        self.body.addStretch(1)
        self._labels: list[LineLabel] = []
        self._aggregation = ""
        measure(self._lines, spacing=6)

    def show_report(self, report: Report) -> None:
        """Shows what the figures leave out."""
        self._aggregation = report.decides
        while self._lines.count():
            item = self._lines.takeAt(0)
            inner = item.layout() if item is not None else None
            if isinstance(inner, QHBoxLayout):
                clear_layout(inner)
                inner.deleteLater()
        self._labels = []
        for left in report.left_out:
            self._add(left_line(left), OfLeftOut(left.what, report.decides) if left.what in LISTED else None)
            if left.what == "unscored":
                for reason in report.unscored:
                    share = percent(reason.calls / report.about.spent.calls)
                    words = texts.unscored_calls(
                        reason_words(reason.reason), of(reason.calls, report.about.spent.calls), share
                    )
                    self._add((words,), None, indent=True)
        if not report.left_out:
            self._add((texts.NOTHING_LEFT_OUT,), None)
        for caution in caution_lines(report):
            self._add(caution, None, quiet=True)

    def _add(self, words: Line, chosen: OfLeftOut | None, *, indent: bool = False, quiet: bool = False) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(current_theme().px(16) if indent else 0, 0, 0, 0)
        words_label = LineLabel(color="text2" if indent or quiet else "text")
        words_label.say(words)
        self._labels.append(words_label)
        row.addWidget(words_label, 0, Qt.AlignmentFlag.AlignTop)
        if chosen is not None:
            button = link(texts.SHOW_THEM, texts.show_pairs(words_label.text))
            button.setProperty("what", chosen.what)
            button.clicked.connect(self._clicked)
            row.addSpacing(current_theme().px(12))
            row.addWidget(button, alignment=Qt.AlignmentFlag.AlignTop)
        row.addStretch(1)
        self._lines.addLayout(row)

    def _clicked(self) -> None:
        sender = self.sender()
        left_out = sender.property("what") if sender is not None else None
        if left_out:
            self.chosen.emit(OfLeftOut(left_out, self._aggregation))
