"""The view of an import before it is accepted: columns, meaning of labels, preview of the pairs, and findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
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
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.pairs import Pair
from judgenet.core.wording import plural
from judgenet.engine.importing import FIELD_WORDS, ImportDraft, MappingPreview
from judgenet.formats import CodingError, DataError, DataFile, Dataset, Finding
from judgenet.ui.data import texts
from judgenet.ui.data.findings import FindingList
from judgenet.ui.data.mapping import ColumnsPanel, LabelsPanel
from judgenet.ui.data.matches import MatchesPanel
from judgenet.ui.data.raw_table import RawTable
from judgenet.ui.data.table import PairsTable
from judgenet.ui.data.widgets import StateTag
from judgenet.ui.elements import ElidedLabel, IconLabel, ScrollColumn, label, link
from judgenet.ui.measures import Gap, measure
from judgenet.ui.models.pairs_model import PREVIEW, PairsModel
from judgenet.ui.text_view import one_line
from judgenet.ui.theme import current_theme
from judgenet.ui.widgets import set_kind

CONTAINERS: Final = {
    "jsonl": texts.JSON_LINES,
    "json": texts.JSON,
    "csv": texts.CSV,
    "tsv": texts.TSV,
    "parquet": texts.PARQUET,
    "xlsx": texts.EXCEL,
    "lines": texts.TEXT,
}
_PANEL: Final = 5 * 32 + 4 * 8 + 24 + 44
"""The height of a panel with five rows, in px at 100 %."""
_PREVIEW: Final = 44 + 32 + 4 * 32
"""The least height of the preview, in px at 100 %."""

_NARROW: Final = 760
"""Below this width, in px at 100 %, the panels stand one below the other."""

_FORMATS: Final = {
    "normal": texts.JUDGENET_PAIRS,
    "table": "",
    "unknown": "",
    "responses": texts.SEVERAL_RESPONSES,
    "systems": texts.ROW_PER_SYSTEM,
}


def megabytes(size: int) -> str:
    """A size in bytes, in words: ``4.1 MB``."""
    if size < 1_000_000:
        return texts.kilobytes(max(1, round(size / 1000)))
    return texts.megabytes(size / 1e6)


def file_names(paths: Iterable[str | Path]) -> str:
    """The names of files in words: ``a.csv and b.csv``, ``a.csv and 2 more``."""
    names = [Path(path).name for path in paths]
    return texts.and_more(names[0], len(names) - 1) if len(names) > 2 else texts.AND.join(names)


def place_words(error: DataError) -> str:
    """Where an error is: ``release.jsonl, row 12, column 'winner'``."""
    parts = [Path(error.file).name if error.file else ""]
    parts.append(texts.row(error.row) if error.row is not None else "")
    parts.append(texts.column(error.column) if error.column is not None else "")
    return ", ".join(part for part in parts if part)


def mend_words(error: DataError) -> str:
    """How to fix an error; empty where the advice is about the command line."""
    return error.mend if "--" not in error.mend else ""


def _waiting(finding: Finding, undecided: int) -> Finding:
    """The finding that there are no labels, replaced while labels wait for the user to say what they mean."""
    if finding.kind != "no_labels" or not undecided:
        return finding
    message = texts.labels_wait(plural(undecided, texts.LABEL_WAITS, texts.LABELS_WAIT))
    return Finding("labels_undecided", "warning", undecided, message)


class ImportView(QWidget):
    """The view of an import. Its findings are in :attr:`side`, which the page puts beside it.

    Signals:
        column_picked, form_picked, label_picked, no_majority_picked, matches_picked, left_out: as in the panels.
        sheet_picked: the name of another sheet of the workbook to read.
        bad_rows_left_out: the user wants to leave out rows that cannot be read.
        accepted, cancelled, other_wanted: the button to import, to cancel, to choose another file was clicked.
        pair_opened: the pair that was opened.
        check_wanted: the user wants the pairs to be looked through again after stopping it.
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
        self.setAccessibleName(texts.IMPORT)
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
        self.other = QPushButton(texts.OTHER_FILE)
        self.other.setAccessibleName(texts.OTHER_FILE_NAME)
        self.other.clicked.connect(self.other_wanted)
        titles = QVBoxLayout()
        titles.setSpacing(0)
        titles.addWidget(self.name)
        titles.addWidget(self.facts)
        self._head = QHBoxLayout()
        self._head.addWidget(self._icon)
        self._head.addLayout(titles, stretch=1)
        self.sheet = QComboBox()
        self.sheet.setAccessibleName(texts.SHEET_NAME)
        self.sheet.setToolTip(texts.SHEET_TIP)
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
        self.number_rows = QPushButton(texts.NUMBER_ROWS)
        self.number_rows.setProperty("control", "small")
        self.number_rows.clicked.connect(self._number_rows)
        self.leave_out_bad = QPushButton(texts.LEAVE_OUT_BAD_ROWS)
        self.leave_out_bad.setProperty("control", "small")
        self.leave_out_bad.clicked.connect(self.bad_rows_left_out)
        self._problem_row = QHBoxLayout(self.problem)
        self._problem_row.addWidget(self._problem_text, stretch=1)
        self._problem_row.addWidget(self.number_rows)
        self._problem_row.addWidget(self.leave_out_bad)
        self.problem.hide()

    def _make_preview(self) -> None:
        self.model = PairsModel(PREVIEW, self)
        self.table = PairsTable(texts.PREVIEW_NAME, self.model)
        self.table.opened.connect(self._opened)
        self.table.set_empty_text(texts.NO_PREVIEW)
        self.raw = RawTable()
        self.previews = QStackedWidget()
        self.previews.addWidget(self.table)
        self.previews.addWidget(self.raw)
        self._preview_title = label(texts.PREVIEW, "section")
        self._preview_fact = label(tone="text2")
        self.back = link(texts.SHOW_FIRST)
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
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(ScrollColumn(inner, focusable=False))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() / current_theme().scale < _NARROW
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._panels.direction() != direction:
            self._panels.setDirection(direction)

    # What is shown

    def begin(self, draft: ImportDraft, files: Sequence[DataFile], seconds: float) -> None:
        """Begins with other files and shows what is known of them; ``seconds`` is how long they took to read."""
        self._dataset = None
        self._shown_kind = None
        self.columns.begin()
        self.side.findings.begin()
        preview = draft.preview
        self.raw.show_records(preview.names, preview.rows)
        self.name.say(one_line(file_names(file.path for file in files), 200))
        format_words = preview.title or _FORMATS.get(preview.format, preview.format)
        size = sum(file.size for file in files)
        parts = [format_words, CONTAINERS[preview.container], megabytes(size), texts.read_in(seconds)]
        self.facts.say(", ".join(part for part in parts if part))

    def show_sheets(self, sheets: Sequence[str], current: str | None) -> None:
        """Shows the sheets of a workbook and the one that is read; hidden where there is only one."""
        self.sheet.setVisible(len(sheets) > 1)
        self.sheet.clear()
        for name in sheets:
            self.sheet.addItem(texts.sheet(one_line(name, 40)), name)
        self.sheet.setCurrentIndex(self.sheet.findData(current))

    def show_draft(self, draft: ImportDraft, seen: MappingPreview) -> None:
        """Shows the decisions so far, and the first pairs that they give."""
        self._leaves_out_bad = draft.leave_out_bad
        self.columns.show_draft(draft)
        self.labels.show_draft(draft, seen.values)
        self.matches.show_draft(draft)
        self._first = seen.first
        missing = draft.missing
        undecided = draft.undecided(seen.values)
        self._show_error(seen.problem)
        if seen.problem is not None:
            self.state.say(texts.PROBLEM, "warn")
        elif missing:
            words = ", ".join(
                FIELD_WORDS[part].lower() if part == "question" else FIELD_WORDS[part] for part in missing
            )
            self.state.say(texts.choose_columns(words), "warn")
        elif undecided:
            self.state.say(plural(len(undecided), texts.LABEL_UNDECIDED, texts.LABELS_UNDECIDED), "warn")
        else:
            self.state.say(texts.READY, "good")
        if self._shown_kind is None:
            self.show_first()

    def _show_error(self, problem: DataError | None) -> None:
        self.problem.setVisible(problem is not None)
        if problem is None:
            return
        self._problem_text.setText(one_line(f"{place_words(problem)}: {problem.problem} {mend_words(problem)}", 600))
        self.number_rows.setVisible(problem.column == "id")
        of_row = problem.row is not None and not isinstance(problem, CodingError)
        self.leave_out_bad.setVisible(of_row and not self._leaves_out_bad)

    def show_problem(self, problem: DataError) -> None:
        """Shows what is wrong with the pairs as a whole."""
        self._show_error(problem)
        self.state.say(texts.PROBLEM, "warn")

    def show_checked(
        self, dataset: Dataset | None, left_out: Collection[str], waits_for: str, *, stopped: bool, undecided: int
    ) -> None:
        """Shows the findings of a data set; for ``None``, ``waits_for`` says why there are none yet. ``undecided``
        counts labels whose meaning is not decided."""
        if dataset is None:
            self._shown_kind = None
            self.show_first()
        elif dataset is self._dataset:
            self.side.findings.show_choices(left_out)
            return
        self._dataset = dataset
        findings = None if dataset is None else tuple(_waiting(finding, undecided) for finding in dataset.findings)
        self.side.findings.show_findings(findings, left_out, waits_for, stopped=stopped)

    def show_cost(self, dataset: Dataset | None, cost: str) -> None:
        """Shows how many pairs questions with more than two responses give, and what judging them costs."""
        self.matches.say(None if dataset is None else dataset.systems, cost)

    def show_ready(self, rows: int, pairs: int, why_not: str, *, changes: bool) -> None:
        """Shows how many pairs there will be, and why they cannot be imported yet. ``changes``: the project has them
        already and will read them in another way."""
        read = plural(rows, "row")
        one_or_none = texts.pair_from_rows(read) if pairs else texts.rows_read(read)
        self.side.fact.setText(texts.pairs_from_rows(read, pairs) if pairs > 1 else one_or_none)
        word = texts.USE if changes else texts.IMPORT
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
        self._preview_title.setText(texts.FILE_AS_IT_IS if raw else texts.PREVIEW)
        self._preview_fact.setText(texts.first_rows(plural(rows, "row")) if rows else "")
        self.previews.setCurrentWidget(self.raw if raw else self.table)
        self.model.set_pairs(self._first)

    def show_finding(self, kind: str) -> None:
        """Shows the pairs of a finding, by its kind."""
        dataset = self._dataset
        if dataset is None:
            return
        finding: Finding | None = next((known for known in dataset.findings if known.kind == kind), None)
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
    """The findings of an import, and the buttons that end it."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("part", "inspector")
        self.setAccessibleName(texts.IMPORT_FINDINGS)
        self.title = label(texts.FINDINGS, "title")
        self.fact = label(tone="text2")
        self.findings = FindingList(choices=True)
        inner = QWidget()
        inside = QVBoxLayout(inner)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self.findings)
        inside.addStretch(1)
        self.area = ScrollColumn(inner, focusable=False)
        self.cancel = QPushButton(texts.CANCEL)
        self.cancel.setAccessibleName(texts.CANCEL_IMPORT)
        self.accept = QPushButton(texts.IMPORT)
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
