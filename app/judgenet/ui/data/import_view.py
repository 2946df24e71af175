"""An import before it is accepted: columns, meaning of labels, the first pairs as they will be, and the findings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.pairs import Pair
from judgenet.core.wording import plural
from judgenet.engine.importing import FIELD_WORDS, ImportDraft, MappingPreview
from judgenet.formats import CodingError, DataError, DataFile, Dataset, Finding
from judgenet.ui.data.findings import FindingList
from judgenet.ui.data.mapping import ColumnsPanel, LabelsPanel
from judgenet.ui.data.matches import MatchesPanel
from judgenet.ui.data.raw_table import RawTable
from judgenet.ui.data.table import PairsTable
from judgenet.ui.data.widgets import StateTag
from judgenet.ui.elements import ElidedLabel, IconLabel, label, link
from judgenet.ui.measures import Gap, measure
from judgenet.ui.models.pairs_model import PREVIEW, PairsModel
from judgenet.ui.text_view import one_line
from judgenet.ui.theme import current_theme
from judgenet.ui.widgets import set_kind

CONTAINERS: Final = {
    "jsonl": "JSON Lines",
    "json": "JSON",
    "csv": "CSV",
    "tsv": "TSV",
    "parquet": "Parquet",
    "xlsx": "Excel",
    "lines": "Text",
}
_PANEL: Final = 5 * 32 + 4 * 8 + 24 + 44
_PREVIEW: Final = 44 + 32 + 4 * 32
"""Heights in px at 100 %: a panel with five rows, and the least of the preview."""

_NARROW: Final = 760
"""Below this width (px at 100 %) the panels stand one below the other."""

_FORMATS: Final = {
    "normal": "JudgeNet pairs",
    "table": "",
    "unknown": "",
    "responses": "Several responses per question",
    "systems": "A row for each system",
}


def megabytes(size: int) -> str:
    """A file's size: "4.1 MB"."""
    if size < 1_000_000:
        return f"{max(1, round(size / 1000)):,} kB"
    return f"{size / 1e6:,.1f} MB"


def file_words(files: Sequence[DataFile]) -> str:
    """The names of files."""
    names = [Path(file.path).name for file in files]
    if len(names) > 2:
        return f"{names[0]} and {len(names) - 1} more"
    return " and ".join(names)


def place_words(error: DataError) -> str:
    """Where an error is: "release.jsonl, row 12, column 'winner'"."""
    parts = [Path(error.file).name if error.file else ""]
    parts.append(f"row {error.row:,}" if error.row is not None else "")
    parts.append(f"column '{error.column}'" if error.column is not None else "")
    return ", ".join(part for part in parts if part)


def mend_words(error: DataError) -> str:
    """How to mend an error; nothing where the advice is about the command line."""
    return error.mend if "--" not in error.mend else ""


def _waiting(finding: Finding, undecided: int) -> Finding:
    """Labels that wait for the user's decision are not "no labels"."""
    if finding.kind != "no_labels" or not undecided:
        return finding
    wait = "label waits" if undecided == 1 else "labels wait"
    return Finding("labels_undecided", "warning", undecided, f"{undecided:,} {wait} for you to say what they mean.")


class ImportView(QWidget):
    """Where an import is decided. The findings stand in :attr:`side`, which the page puts beside it.

    Signals:
        column_picked, form_picked, label_picked, no_majority_picked, matches_picked, left_out: as in the panels.
        sheet_picked: another sheet of the workbook is to be read.
        bad_rows_left_out: the rows that cannot be read are to be left out.
        accepted, cancelled, other_wanted: buttons.
        pair_opened: a pair that is to be read.
        check_wanted: the pairs are to be looked through after that was stopped.
    """

    column_picked = Signal(str, str)
    form_picked = Signal(str)
    matches_picked = Signal(object, int)
    label_picked = Signal(str, object)
    no_majority_picked = Signal(object)
    left_out = Signal(str, bool)
    sheet_picked = Signal(str)
    bad_rows_left_out = Signal()
    accepted = Signal()
    cancelled = Signal()
    other_wanted = Signal()
    pair_opened = Signal(object)
    check_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Import")
        self._first: tuple[Pair, ...] = ()
        self._dataset: Dataset | None = None
        self._shown_kind: str | None = None
        self._leaves_out_bad = False

        self._make_head()
        self.columns = ColumnsPanel()
        self.columns.picked.connect(self.column_picked)
        self.columns.form_picked.connect(self.form_picked)
        self.labels = LabelsPanel()
        self.labels.picked.connect(self.label_picked)
        self.labels.no_majority_picked.connect(self.no_majority_picked)
        self._panels = QHBoxLayout()
        self._panels.addWidget(self.columns, stretch=1)
        self._panels.addWidget(self.labels, stretch=1)

        self.matches = MatchesPanel()
        self.matches.picked.connect(self.matches_picked)

        self._make_problem()
        self._make_preview()
        self._lay_out()
        self.side = _Side()
        self.side.findings.left_out.connect(self.left_out)
        self.side.findings.show_wanted.connect(self.show_finding)
        self.side.findings.again_wanted.connect(self.check_wanted)
        self.side.accept.clicked.connect(self.accepted)
        self.side.cancel.clicked.connect(self.cancelled)
        measure(self._column, margins=(24, Gap(16), 24, Gap(16)), spacing=Gap(16))
        measure(self._head, spacing=12)
        measure(self._panels, spacing=16)
        measure(self._problem_row, margins=(16, 6, 12, 6))
        measure(self._preview_column, margins=1, spacing=0)
        measure(self._preview_head, margins=(8, 8, 16, 8), spacing=16)
        for panel in (self.columns, self.labels):
            measure(panel, height=_PANEL)
        measure(self._preview, min_height=_PREVIEW)

    def _make_head(self) -> None:
        self._icon = IconLabel("file", "text", 20)
        self.name = ElidedLabel(kind="section")
        self.facts = ElidedLabel(tone="text2")
        self.state = StateTag()
        self.other = QPushButton("Other file…")
        self.other.setAccessibleName("Choose another file")
        self.other.clicked.connect(self.other_wanted)
        titles = QVBoxLayout()
        titles.setSpacing(0)
        titles.addWidget(self.name)
        titles.addWidget(self.facts)
        self._head = QHBoxLayout()
        self._head.addWidget(self._icon)
        self._head.addLayout(titles, stretch=1)
        self.sheet = QComboBox()
        self.sheet.setAccessibleName("Sheet of the workbook")
        self.sheet.setToolTip("The sheet that is read")
        self.sheet.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.sheet.activated.connect(lambda place: self.sheet_picked.emit(str(self.sheet.itemData(place))))
        self.sheet.hide()
        self._head.addWidget(self.state)
        self._head.addWidget(self.sheet)
        self._head.addWidget(self.other)

    def _make_problem(self) -> None:
        self.problem = QFrame()
        self.problem.setProperty("part", "warning")
        self._problem_text = label(wrap=True)
        self.number_rows = QPushButton("Number the rows")
        self.number_rows.setProperty("control", "small")
        self.number_rows.clicked.connect(self._number_rows)
        self.leave_out_bad = QPushButton("Leave out bad rows")
        self.leave_out_bad.setProperty("control", "small")
        self.leave_out_bad.clicked.connect(self.bad_rows_left_out)
        self._problem_row = QHBoxLayout(self.problem)
        self._problem_row.addWidget(self._problem_text, stretch=1)
        self._problem_row.addWidget(self.number_rows)
        self._problem_row.addWidget(self.leave_out_bad)
        self.problem.hide()

    def _make_preview(self) -> None:
        self.model = PairsModel(PREVIEW, self)
        self.table = PairsTable("Preview of the pairs", self.model)
        self.table.opened.connect(self._opened)
        self.table.say_nothing("Choose the columns to see a preview.")
        self.raw = RawTable()
        self.previews = QStackedWidget()
        self.previews.addWidget(self.table)
        self.previews.addWidget(self.raw)
        self._preview_title = label("Preview", "section")
        self._preview_fact = label(tone="text2")
        self.back = link("Show the first rows")
        self.back.clicked.connect(self.show_first)
        self.back.hide()
        self._preview_head = QHBoxLayout()
        self._preview_head.addWidget(self._preview_title)
        self._preview_head.addStretch(1)
        self._preview_head.addWidget(self._preview_fact)
        self._preview_head.addWidget(self.back)
        self._preview = QFrame()
        self._preview.setProperty("part", "panel")
        self._preview_column = QVBoxLayout(self._preview)
        self._preview_column.addLayout(self._preview_head)
        self._preview_column.addWidget(self.previews, stretch=1)

    def _lay_out(self) -> None:
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        self._column.addLayout(self._head)
        self._column.addLayout(self._panels)
        self._column.addWidget(self.matches)
        self._column.addWidget(self.problem)
        self._column.addWidget(self._preview, stretch=1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inner)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(area)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() / current_theme().scale < _NARROW
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._panels.direction() != direction:
            self._panels.setDirection(direction)

    # What is shown

    def begin(self, draft: ImportDraft, files: Sequence[DataFile], seconds: float) -> None:
        """Begins with other files: shows which they are and what was told of them."""
        self._dataset = None
        self._shown_kind = None
        self.columns.begin()
        self.side.findings.begin()
        preview = draft.preview
        self.raw.show_records(preview.names, preview.rows)
        self.name.say(one_line(file_words(files), 200))
        format_words = preview.title or _FORMATS.get(preview.format, preview.format)
        size = sum(file.size for file in files)
        parts = [format_words, CONTAINERS[preview.container], megabytes(size), f"read in {seconds:.1f} s"]
        self.facts.say(", ".join(part for part in parts if part))

    def show_sheets(self, sheets: Sequence[str], current: str | None) -> None:
        """Shows the sheets of a workbook, of which one is read; no choice where there is only one."""
        self.sheet.setVisible(len(sheets) > 1)
        self.sheet.clear()
        for name in sheets:
            self.sheet.addItem(f"Sheet {one_line(name, 40)}", name)
        self.sheet.setCurrentIndex(self.sheet.findData(current))

    def show_draft(self, draft: ImportDraft, seen: MappingPreview) -> None:
        """Shows what is decided, and the first pairs."""
        self._leaves_out_bad = draft.leave_out_bad
        self.columns.show_draft(draft)
        self.labels.show_draft(draft, seen.values)
        self.matches.show_draft(draft)
        self._first = seen.first
        missing = draft.missing
        undecided = draft.undecided(seen.values)
        self._say_problem(seen.problem)
        if seen.problem is not None:
            self.state.say("There is a problem", "warn")
        elif missing:
            words = ", ".join(
                FIELD_WORDS[part].lower() if part == "question" else FIELD_WORDS[part] for part in missing
            )
            self.state.say(f"Choose columns: {words}", "warn")
        elif undecided:
            number = len(undecided)
            self.state.say(f"{plural(number, 'label')} {'is' if number == 1 else 'are'} not decided", "warn")
        else:
            self.state.say("Ready", "good")
        if self._shown_kind is None:
            self.show_first()

    def _say_problem(self, problem: DataError | None) -> None:
        self.problem.setVisible(problem is not None)
        if problem is None:
            return
        self._problem_text.setText(one_line(f"{place_words(problem)}: {problem.problem} {mend_words(problem)}", 600))
        self.number_rows.setVisible(problem.column == "id")
        of_rows = problem.row is not None and not isinstance(problem, CodingError)
        self.leave_out_bad.setVisible(of_rows and not self._leaves_out_bad)

    def show_problem(self, problem: DataError) -> None:
        """Shows what is wrong with the pairs as a whole."""
        self._say_problem(problem)
        self.state.say("There is a problem", "warn")

    def show_checked(
        self, dataset: Dataset | None, left_out: Collection[str], waits_for: str, *, stopped: bool, undecided: int
    ) -> None:
        """Shows the findings; ``None``: there are none yet, and ``waits_for`` says why. So many labels are
        ``undecided``: where there is no other, that is what is said of labels."""
        if dataset is None:
            self._shown_kind = None
            self.show_first()
        elif dataset is self._dataset:
            self.side.findings.show_choices(left_out)
            return
        self._dataset = dataset
        findings = None if dataset is None else tuple(_waiting(one, undecided) for one in dataset.findings)
        self.side.findings.show_findings(findings, left_out, waits_for, stopped=stopped)

    def show_cost(self, dataset: Dataset | None, cost: str) -> None:
        """Says how many pairs more than two responses give, and what judging them takes."""
        self.matches.say(None if dataset is None else dataset.systems, cost)

    def show_ready(self, rows: int, pairs: int, why_not: str, *, changes: bool) -> None:
        """Says how many pairs there will be, and why they cannot be imported yet. ``changes``: the project has them
        already and they will be read in another way."""
        verb = "will be pairs" if pairs != 1 else "will be a pair"
        self.side.fact.setText(
            f"{plural(rows, 'row')} read, {pairs:,} {verb}" if pairs else plural(rows, "row") + " read"
        )
        word = "Use" if changes else "Import"
        self.side.accept.setText(f"{word} {plural(pairs, 'pair')}" if pairs else word)
        self.side.accept.setAccessibleName(self.side.accept.text())
        self.side.accept.setEnabled(not why_not and pairs > 0)
        self.side.accept.setToolTip(why_not)

    # The preview

    def show_first(self) -> None:
        """Shows the first pairs."""
        self._shown_kind = None
        self.back.hide()
        raw = not self._first and len(self.raw.texts.rows) > 0
        rows = len(self.raw.texts.rows) if raw else len(self._first)
        self._preview_title.setText("The file as it is" if raw else "Preview")
        self._preview_fact.setText(f"first {plural(rows, 'row')}" if rows else "")
        self.previews.setCurrentWidget(self.raw if raw else self.table)
        self.model.set_pairs(self._first)

    def show_finding(self, kind: str) -> None:
        """Shows the pairs that a finding is about."""
        dataset = self._dataset
        if dataset is None:
            return
        finding: Finding | None = next((one for one in dataset.findings if one.kind == kind), None)
        if finding is None:
            return
        ids = set(finding.ids)
        rows = [place for place, pair in enumerate(dataset.pairs) if pair.id in ids]
        self._shown_kind = kind
        self._preview_title.setText(finding.title)
        self._preview_fact.setText(plural(len(rows), "pair"))
        self.back.show()
        self.model.set_pairs(dataset.pairs, np.array(rows, np.int32))
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _opened(self, position: int) -> None:
        self.pair_opened.emit(self.model.pairs[position])

    def _number_rows(self) -> None:
        self.column_picked.emit("id", "")


class _Side(QFrame):
    """Findings of the import, and the buttons that end it."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("part", "inspector")
        self.setAccessibleName("Findings of the import")
        self.title = label("Findings", "title")
        self.fact = label(tone="text2")
        self.findings = FindingList(choices=True)
        inner = QWidget()
        inside = QVBoxLayout(inner)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self.findings)
        inside.addStretch(1)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(inner)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.cancel = QPushButton("Cancel")
        self.cancel.setAccessibleName("Cancel the import")
        self.accept = QPushButton("Import")
        set_kind(self.accept, "primary")
        self._head = QVBoxLayout()
        self._head.addWidget(self.title)
        self._head.addWidget(self.fact)
        self._foot = QHBoxLayout()
        self._foot.addWidget(self.cancel)
        self._foot.addWidget(self.accept, stretch=1)
        foot = QFrame()
        foot.setProperty("part", "foot")
        foot.setLayout(self._foot)
        head = QFrame()
        head.setProperty("part", "bar")
        head.setLayout(self._head)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(self.area, stretch=1)
        column.addWidget(foot)
        measure(self._head, margins=(16, 12, 16, 12), spacing=0)
        measure(self._foot, margins=(16, 12, 16, 12), spacing=12)
