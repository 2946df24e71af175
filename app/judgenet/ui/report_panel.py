"""The panel of the page Report: preview, length and parts of the report, and the formats to save it in."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from judgenet.report.forms import FORMS
from judgenet.report.outline import PART_TITLES, PARTS, PartKey, Sections
from judgenet.ui import texts
from judgenet.ui.elements import SpinBox, label, line
from judgenet.ui.measures import measure
from judgenet.ui.results.state import OtherRun
from judgenet.ui.tokens import INSPECTOR
from judgenet.ui.widgets import Segment

MOST_STUDIES: Final = 20


class ReportPanel(QFrame):
    """The panel at the right of the page Report.

    Signals:
        view_chosen, length_chosen: another preview or length was chosen, by its key.
        parts_changed: a part was chosen or left out.
        studies_chosen: how many example pairs of each kind the report has.
        save_wanted: the report is to be saved, by the ending of a form.
        picture_wanted: ``charts`` or ``network`` are to be saved, and the ending.
    """

    view_chosen = Signal(str)
    length_chosen = Signal(str)
    parts_changed = Signal()
    studies_chosen = Signal(int)
    save_wanted = Signal(str)
    picture_wanted = Signal(str, str)

    def __init__(self, studies: int) -> None:
        super().__init__()
        self.setProperty("part", "inspector")
        self.setAccessibleName(texts.CONTENTS_OF_THE_REPORT)
        self.title = label(texts.REPORT, "title")
        self.about = label("", tone="text2", wrap=True)
        self.view = Segment(texts.PREVIEW, [("pages", texts.PREVIEW_PAGES), ("text", texts.MARKDOWN)])
        self.view.chosen.connect(self.view_chosen)
        self.length = Segment(texts.LENGTH, [("full", texts.FULL), ("short", texts.SHORT_ONE_PAGE)])
        self.length.chosen.connect(self.length_chosen)
        inner = QWidget()
        column = QVBoxLayout(inner)
        for widget in (self.title, self.about, self.view, line(), label(texts.LENGTH, "section"), self.length, line()):
            column.addWidget(widget)
        self._add_parts(column, studies)
        self._add_saves(column)
        self._add_pictures(column)
        column.addStretch(1)
        measure(self, width=INSPECTOR["other"])
        measure(column, margins=16, spacing=8)
        area = QScrollArea()
        area.setWidget(inner)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(1, 0, 0, 0)
        outer.addWidget(area)

    def _add_parts(self, column: QVBoxLayout, studies: int) -> None:
        column.addWidget(label(texts.PARTS, "section"))
        self.parts: dict[PartKey, QCheckBox] = {}
        for key in PARTS:
            box = QCheckBox(PART_TITLES[key])
            box.setChecked(True)
            box.toggled.connect(self.parts_changed)
            self.parts[key] = box
            column.addWidget(box)
        self.studies = SpinBox(texts.EXAMPLE_PAIRS_OF_EACH_KIND, 0, MOST_STUDIES)
        self.studies.setValue(studies)
        self.studies.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.studies.valueChanged.connect(self.studies_chosen)
        row = QHBoxLayout()
        row.addWidget(label(texts.EXAMPLE_PAIRS_OF_EACH_KIND, tone="text2"), 1)
        row.addWidget(self.studies)
        column.addLayout(row)

    def _add_saves(self, column: QVBoxLayout) -> None:
        column.addWidget(line())
        column.addWidget(label(texts.SAVE_AS, "section"))
        self.saves: dict[str, QPushButton] = {}
        grid = QGridLayout()
        measure(grid, spacing=8)
        for place, (ending, form) in enumerate(FORMS.items()):
            button = QPushButton(form.name)
            button.setAccessibleName(texts.save_as(form.name, form.holds))
            button.setToolTip(form.holds[:1].upper() + form.holds[1:])
            button.clicked.connect(self._save_clicked)
            self.saves[ending] = button
            grid.addWidget(button, place // 3, place % 3)
        column.addLayout(grid)

    def _add_pictures(self, column: QVBoxLayout) -> None:
        column.addWidget(line())
        column.addWidget(label(texts.PICTURES, "section"))
        self.pictures: dict[tuple[str, str], QPushButton] = {}
        pictures = QGridLayout()
        measure(pictures, spacing=8)
        pictures.setColumnStretch(0, 1)
        for place, (what, words) in enumerate((("charts", texts.ALL_CHARTS), ("network", texts.THE_NETWORK))):
            pictures.addWidget(label(words, tone="text2"), place, 0)
            for column_, ending in enumerate((".svg", ".png"), 1):
                button = QPushButton(ending[1:].upper())
                button.setAccessibleName(texts.picture_as(words, ending[1:].upper()))
                button.clicked.connect(self._picture_clicked)
                self.pictures[what, ending] = button
                pictures.addWidget(button, place, column_)
        column.addLayout(pictures)

    @property
    def chosen_parts(self) -> tuple[PartKey, ...]:
        """The parts that the report is to have."""
        return tuple(key for key, box in self.parts.items() if box.isChecked())

    @property
    def short(self) -> bool:
        """The short report of one page is chosen."""
        return self.length.current == "short"

    def _save_clicked(self) -> None:
        for ending, button in self.saves.items():
            if button is self.sender():
                self.save_wanted.emit(ending)

    def _picture_clicked(self) -> None:
        for (what, ending), button in self.pictures.items():
            if button is self.sender():
                self.picture_wanted.emit(what, ending)

    def enable(self, *, ready: bool) -> None:
        """Whether there is a report that can be saved."""
        for button in (*self.saves.values(), *self.pictures.values()):
            button.setEnabled(ready)

    def enable_parts(self, parts: Sections, beside: OtherRun | None) -> None:
        """Enables the parts for which the run has data; the short report has its own parts."""
        for key, box in self.parts.items():
            box.setEnabled(bool(parts[key]) and not self.short)
            why = texts.RUN_HAS_NO_DATA_FOR_THIS_PART
            if key == "comparison":
                why = texts.CHOOSE_A_RUN_TO_COMPARE
                if beside is not None:
                    why = texts.no_pair_in_common(beside.other.run.number)
            box.setToolTip(texts.SHORT_REPORT_HAS_ITS_OWN_PARTS if self.short else "" if parts[key] else why)
