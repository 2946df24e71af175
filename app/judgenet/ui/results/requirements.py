"""What the project requires of its runs, and whether the run in focus meets it."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QWidget

from judgenet.core.documents import DocumentError
from judgenet.core.requirements import figure_words, parse_requirement
from judgenet.core.wording import capitalized, clean
from judgenet.store.db import Store
from judgenet.ui.context import Context
from judgenet.ui.elements import field, label, set_tone
from judgenet.ui.measures import measure
from judgenet.ui.results import texts
from judgenet.ui.results.latest import LatestComputation
from judgenet.ui.results.panel import Panel, clear_layout
from judgenet.ui.results.state import OtherRun, Results
from judgenet.ui.widgets import set_kind

if TYPE_CHECKING:
    from judgenet.figures.gate import GateFigures, GateOutcome, RequirementFigures

_TONES: Final[dict[GateOutcome, str]] = {"met": "good", "not met": "bad", "undefined": "warn"}


def gate_of(store: Store, results: Results, beside: OtherRun | None, requirements: tuple[str, ...]) -> GateFigures:
    """Whether a run, with its figures as they are shown, meets requirements; ``beside`` is the run that it is compared
    with.

    :raises FiguresError: a requirement names an unknown figure, or a comparison while there is no other run.
    """
    from judgenet.figures.gate import run_gate

    other = None if beside is None else (store, beside.other.frame)
    return run_gate(store, results.frame, [parse_requirement(text) for text in requirements], other)


class RequirementsPanel(Panel):
    """The project's requirements, each with the run's figure and whether it is met; they are edited here.

    The figures are computed in a thread; those of a running run when it has ended.
    """

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        self.edit = field(texts.NEW_REQUIREMENT, texts.REQUIREMENT_EXAMPLE)
        self.add_button = QPushButton(texts.ADD)
        self.add_button.setAccessibleName(texts.ADD_THE_REQUIREMENT)
        self.why = label("", tone="warn", wrap=True)
        self.note = label("", tone="text2", wrap=True)
        super().__init__(texts.REQUIREMENTS, parent=parent)
        self._context = context
        self._rows = QGridLayout()
        self._rows.setColumnStretch(0, 1)
        entry = QHBoxLayout()
        entry.addWidget(self.edit, 1)
        entry.addWidget(self.add_button)
        self.body.addLayout(self._rows)
        self.body.addLayout(entry)
        self.body.addWidget(self.why)
        self.body.addWidget(self.note)
        self.gate: GateFigures | None = None
        self._results: Results | None = None
        self._beside: OtherRun | None = None
        self._live = False
        self._latest = LatestComputation(context)
        self.add_button.clicked.connect(self._add)
        self.edit.returnPressed.connect(self._add)
        self.edit.textEdited.connect(lambda: self._tell(""))
        context.document.project_changed.connect(self._check)
        context.document.opened.connect(self._forget)
        measure(self._rows, across=16, down=6)
        measure(entry, spacing=8)
        self._tell("")

    @property
    def _requirements(self) -> tuple[str, ...]:
        document = self._context.document
        return document.project.requirements if document.is_open else ()

    def look(self, results: Results, beside: OtherRun | None, *, live: bool) -> None:
        """Checks a run; ``beside`` is the run that it is compared with."""
        self._results, self._beside, self._live = results, beside, live
        self._check()

    def _forget(self) -> None:
        self._latest.forget()
        self._results = self._beside = self.gate = None
        self.edit.clear()
        self._tell("")

    def _check(self) -> None:
        results, requirements = self._results, self._requirements
        if results is None:
            return
        beside = self._beside
        key = (requirements, results, None if beside is None else beside.other.run.id, self._live)
        if not self._latest.is_new(key):
            return
        self.gate = None
        store = self._context.document.store
        if requirements and not self._live and store is not None:
            work = partial(gate_of, store, results, beside, requirements)
            self._latest.start(texts.CHECK_REQUIREMENTS, work, self._take, about=results.run.id, refuse=self._fill)
        self._fill()

    def _take(self, gate: GateFigures) -> None:
        self.gate = gate
        self._fill()

    def _fill(self, problem: str = "") -> None:
        requirements, gate = self._requirements, self.gate
        clear_layout(self._rows)
        for row, text in enumerate(requirements):
            self._show_row(row, text, None if gate is None else gate.requirements[row])
        why = self._context.document.read_only
        self.edit.setEnabled(not why)
        self.add_button.setEnabled(not why)
        self.add_button.setToolTip(why)
        self._tell(problem)
        if gate is not None:
            self.say(texts.requirements_met(gate.met, gate.total))
        else:
            waiting = texts.CHECKED_AT_THE_END if self._live else "" if problem else texts.CHECKING
            self.say(waiting if requirements else "")
        self.note.setText("\n".join(self._notes()))

    def _notes(self) -> list[str]:
        if not self._requirements:
            return [texts.WHAT_REQUIREMENTS_ARE]
        notes = []
        if self.gate is not None:
            for row in self.gate.requirements:
                notes += [f"{row.requirement}: {words}." for words in (*filter(None, [row.reason]), *row.notes)]
            notes += [f"{capitalized(words)}." for words in self.gate.notes]
        file = self._context.document.file
        return [clean(words) for words in notes] + ([] if file is None else [texts.same_check(shlex.quote(file.name))])

    def _show_row(self, row: int, text: str, figures: RequirementFigures | None) -> None:
        outcome = label("–" if figures is None else figures.outcome)
        outcome.setProperty("part", "tag")
        if figures is not None:
            set_tone(outcome, _TONES[figures.outcome])
        figure = label("" if figures is None else figure_words(figures.figure), "strong")
        figure.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        measure(figure, font="strong", tabular=True)
        remove = QPushButton(texts.REMOVE)
        set_kind(remove, "link")
        remove.setAccessibleName(texts.remove(text))
        remove.setEnabled(not self._context.document.read_only)
        remove.clicked.connect(lambda: self._remove(text))
        name = label(clean(text), wrap=True)
        for column, widget in enumerate((name, figure, outcome, remove)):
            self._rows.addWidget(widget, row, column, Qt.AlignmentFlag.AlignVCenter)

    def _tell(self, problem: str) -> None:
        self.why.setText(problem)
        self.why.setVisible(bool(problem))

    def _add(self) -> None:
        text = self.edit.text().strip()
        try:
            parse_requirement(text)
        except DocumentError as error:
            self._tell(f"{capitalized(error.problem)}.")
            return
        self.edit.clear()
        if text not in self._requirements:
            self._keep(texts.ADD_REQUIREMENT, (*self._requirements, text))

    def _remove(self, text: str) -> None:
        self._keep(texts.REMOVE_REQUIREMENT, tuple(other for other in self._requirements if other != text))

    def _keep(self, action: str, requirements: tuple[str, ...]) -> None:
        document = self._context.document
        document.edit_project(action, replace(document.project, requirements=requirements))
