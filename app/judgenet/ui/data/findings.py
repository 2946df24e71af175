"""The list of findings about pairs, in an import with the choice to leave them out."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from judgenet.formats import OF_PAIRS, Finding
from judgenet.ui.data import texts
from judgenet.ui.elements import IconLabel, label, line, link
from judgenet.ui.measures import Gap, measure
from judgenet.ui.text_view import one_line
from judgenet.ui.widgets import Segment

_LOOKED_FOR: Final = ("duplicate", "identical_responses", "empty_response", "model_named")
"""Kinds that are listed even where nothing was found, so that the user knows that they were checked."""

_LEAVES: Final = {
    "duplicate": (texts.KEEP_ALL, texts.KEEP_FIRST),
    "swapped_duplicate": (texts.KEEP_ALL, texts.KEEP_FIRST),
}
_PERCENT: Final = re.compile(r"(?<=\d)%")
_ORDER: Final = {"warning": 0, "note": 1}


class FindingRow(QWidget):
    """One finding.

    Signals:
        show_wanted: the kind of the finding whose pairs the user wants to see.
        left_out: the kind, and whether to leave its pairs out.
    """

    show_wanted = Signal(str)
    left_out = Signal(str, bool)

    def __init__(self, finding: Finding, *, choice: bool, leave: bool) -> None:
        super().__init__()
        self.finding = finding
        nothing = finding.count == 0
        name, tone = (
            ("tick", "good") if nothing else ("warning", "warn") if finding.severity == "warning" else ("info", "text2")
        )
        severity = {"tick": texts.FINE, "warning": texts.WARNING, "info": texts.NOTE}[name]
        mark = IconLabel(name, tone)
        mark.setAccessibleName(severity)
        title = label(finding.title, "node", wrap=True)
        figure = _PERCENT.sub(texts.PER_CENT, finding.figure) or f"{finding.count:,}"
        self._text = QVBoxLayout()
        head = QHBoxLayout()
        head.addWidget(title, stretch=1)
        self._text.addLayout(head)
        self.setAccessibleName(texts.finding(severity, finding.title, figure))
        self.choice: Segment | None = None
        self.show_link: QPushButton | None = None
        choice = choice and bool(finding.ids) and finding.kind in OF_PAIRS
        if finding.ids:
            self.show_link = link(texts.SHOW if choice else figure, texts.show_pairs_of(finding.title))
            self.show_link.setToolTip(texts.SHOW_PAIRS)
            self.show_link.clicked.connect(self._show)
        if self.show_link is None or choice:
            head.addWidget(label(figure, "node"))
        else:
            head.addWidget(self.show_link, alignment=Qt.AlignmentFlag.AlignTop)
        if finding.message:
            message = label(_PERCENT.sub(texts.PER_CENT, one_line(finding.message, 400)), tone="text2", wrap=True)
            self._text.addWidget(message)
        if choice and self.show_link is not None:
            foot = QHBoxLayout()
            keep, leave_out = _LEAVES.get(finding.kind, (texts.KEEP, texts.LEAVE_OUT))
            self.choice = Segment(texts.pairs_with(finding.title), [("keep", keep), ("leave", leave_out)])
            self.choice.set_current("leave" if leave else "keep")
            self.choice.chosen.connect(self._chosen)
            foot.addWidget(self.choice)
            foot.addStretch(1)
            foot.addWidget(self.show_link)
            self._text.addSpacing(4)
            self._text.addLayout(foot)
        self._row = QHBoxLayout(self)
        icon_column = QVBoxLayout()
        icon_column.addSpacing(2)
        icon_column.addWidget(mark)
        icon_column.addStretch(1)
        self._row.addLayout(icon_column)
        self._measure()

    def _measure(self) -> None:
        self._row.addLayout(self._text, stretch=1)
        measure(self._row, margins=(16, Gap(12), 16, Gap(12)), spacing=12)
        measure(self._text, spacing=4)

    def _show(self) -> None:
        self.show_wanted.emit(self.finding.kind)

    def _chosen(self, key: str) -> None:
        self.left_out.emit(self.finding.kind, key == "leave")


class FindingList(QWidget):
    """All findings of a data set, warnings first.

    Signals:
        show_wanted, left_out: as in :class:`FindingRow`.
        again_wanted: the user wants to go on with a search for findings that was stopped.
    """

    show_wanted = Signal(str)
    left_out = Signal(str, bool)
    again_wanted = Signal()

    def __init__(self, *, choices: bool, parent: QWidget | None = None) -> None:
        """``choices``: offer to leave pairs out."""
        super().__init__(parent)
        self.setAccessibleName(texts.FINDINGS)
        self._choices = choices
        self._rows: list[FindingRow] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._wait = label(texts.LOOKING, tone="text2", wrap=True)
        self._column.addWidget(self._wait)
        self.again = link(texts.LOOK_THROUGH)
        self.again.clicked.connect(self.again_wanted)
        self.again.hide()
        self._again_row = QHBoxLayout()
        self._again_row.addWidget(self.again)
        self._again_row.addStretch(1)
        self._column.addLayout(self._again_row)
        measure(self._wait, margins=(16, Gap(12), 16, Gap(12)))
        measure(self._again_row, margins=(16, 0, 16, Gap(4)))

    @property
    def rows(self) -> tuple[FindingRow, ...]:
        """The findings that are shown."""
        return tuple(self._rows)

    def row(self, kind: str) -> FindingRow:
        """The row of a kind of finding."""
        return next(row for row in self._rows if row.finding.kind == kind)

    def begin(self) -> None:
        """Clears the list for another data set."""
        self._clear()

    def show_choices(self, left_out: Collection[str]) -> None:
        """Shows which pairs are left out."""
        for row in self._rows:
            if row.choice is not None:
                row.choice.set_current("leave" if row.finding.kind in left_out else "keep")

    def show_findings(
        self,
        findings: Sequence[Finding] | None,
        left_out: Collection[str] = (),
        waits_for: str = texts.LOOKING,
        *,
        stopped: bool = False,
    ) -> None:
        """Shows findings. For ``None`` there are none yet: ``waits_for`` says why; ``stopped``: the user stopped it."""
        self._wait.setVisible(findings is None)
        self.again.setVisible(findings is None and stopped)
        self._wait.setText(waits_for)
        if findings is None:
            for row in self._rows:
                row.setEnabled(False)
            return
        self._fill(findings, left_out)

    def _clear(self) -> None:
        while (item := self._column.takeAt(2)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self._rows = []

    def _fill(self, findings: Sequence[Finding], left_out: Collection[str]) -> None:
        self._clear()
        kinds = {finding.kind for finding in findings}
        fine = [Finding(kind, "note", 0, "") for kind in _LOOKED_FOR if kind not in kinds] if self._choices else []
        ordered = sorted(findings, key=lambda finding: (_ORDER[finding.severity], -len(finding.ids)))
        for finding in (*ordered, *fine):
            row = FindingRow(finding, choice=self._choices, leave=finding.kind in left_out)
            row.show_wanted.connect(self.show_wanted)
            row.left_out.connect(self.left_out)
            self._rows.append(row)
            self._column.addWidget(row)
            self._column.addWidget(line())
