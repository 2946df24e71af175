"""Dialogs that change pairs for a project: the human label of one or several pairs, and the texts of one."""

from __future__ import annotations

from typing import Final

from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from judgenet.core.criteria import CriteriaError, criteria_from_lines, criteria_to_lines, criteria_to_text
from judgenet.core.pair_edits import EditedField
from judgenet.core.pairs import Pair, Verdict
from judgenet.core.wording import plural
from judgenet.ui.dialogs import shown
from judgenet.ui.elements import label
from judgenet.ui.measures import measure
from judgenet.ui.theme import current_theme
from judgenet.ui.widgets import Segment, set_kind

_WIDE: Final = 760
_HIGH: Final = 600
_FILE_STAYS: Final = "The change belongs to this project: the file stays as it is, and Undo takes the change back."
_LABELS: Final = (("a", "A is better"), ("tie", "Tie"), ("b", "B is better"), ("none", "No label"))
_VERDICTS: Final[dict[str, Verdict | None]] = {"a": "a", "tie": "tie", "b": "b", "none": None}
_TEXTS: Final[tuple[tuple[EditedField, str, int], ...]] = (
    ("question", "Question", 2),
    ("response_a", "Response A", 3),
    ("response_b", "Response B", 3),
)
"""Field, name and share of the height."""


class _EditDialog(QDialog):
    def __init__(self, title: str, note: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.save = QPushButton("Save")
        set_kind(self.save, "primary")
        self.save.setDefault(True)
        self.leave = QPushButton("Cancel")
        self.save.clicked.connect(self.accept)
        self.leave.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.leave)
        buttons.addWidget(self.save)
        self.body = QVBoxLayout()
        measure(self.body, spacing=6)
        column = QVBoxLayout(self)
        measure(column, margins=(24, 20, 24, 16), spacing=12)
        column.addLayout(self.body, stretch=1)
        column.addWidget(label(note, tone="text2", wrap=True))
        column.addLayout(buttons)


class LabelDialog(_EditDialog):
    """Which response people say is better, of one pair or several."""

    def __init__(self, pairs: tuple[Pair, ...], parent: QWidget) -> None:
        note = f"{_FILE_STAYS} Finished runs keep the label that they were judged with until they are run again."
        super().__init__("Edit the human label", note, parent)
        many = len(pairs) != 1
        self.body.addWidget(label(f"Human label of {plural(len(pairs), 'pair')}" if many else "Human label", "section"))
        self.choice = Segment("Human label", list(_LABELS))
        known = {pair.human for pair in pairs}
        if len(known) == 1:
            self.choice.set_current(next(key for key, verdict in _VERDICTS.items() if verdict in known))
        else:
            self.choice.clear()
            self.save.setEnabled(False)
            self.choice.chosen.connect(lambda _key: self.save.setEnabled(True))
        self.body.addWidget(self.choice)

    @property
    def values(self) -> dict[EditedField, str | None]:
        """What was chosen."""
        return {"human": _VERDICTS[self.choice.current]}


class TextDialog(_EditDialog):
    """The question, the responses and the criteria of a pair."""

    def __init__(self, pair: Pair, parent: QWidget) -> None:
        theme = current_theme()
        note = f"{_FILE_STAYS} Calls with the old text stay in the store; the next run asks this pair anew."
        super().__init__("Edit the texts", note, parent)
        self.fields: dict[EditedField, QPlainTextEdit] = {}
        for field, name, share in _TEXTS:
            edit = QPlainTextEdit(getattr(pair, field))
            edit.setAccessibleName(name)
            edit.setTabChangesFocus(True)
            self.fields[field] = edit
            self.body.addWidget(label(name, "section"))
            self.body.addWidget(edit, stretch=share)
        self.criteria = QPlainTextEdit(criteria_to_lines(pair.criteria))
        self.criteria.setAccessibleName("Criteria")
        self.criteria.setPlaceholderText("[3] Correct: all claims are true.\n[1] Short")
        self.criteria.setTabChangesFocus(True)
        self.criteria.textChanged.connect(self._criteria_changed)
        self.problem = label("", tone="bad", wrap=True)
        self.problem.hide()
        self.body.addWidget(label("Criteria, one a line: [weight] name: description", "section"))
        self.body.addWidget(self.criteria, stretch=2)
        self.body.addWidget(self.problem)
        self._known = pair.criteria
        # Windows line ends would be lost in the field: what was not touched keeps its text.
        self._shown = {field: edit.toPlainText() for field, edit in self.fields.items()}
        room = theme.px(32)
        self.resize(min(theme.px(_WIDE), parent.width() - room), min(theme.px(_HIGH), parent.height() - room))

    @property
    def values(self) -> dict[EditedField, str | None]:
        """The texts that were changed, and the criteria where these were."""
        texts = {field: edit.toPlainText() for field, edit in self.fields.items()}
        changed: dict[EditedField, str | None] = {
            field: text for field, text in texts.items() if text != self._shown[field]
        }
        criteria = criteria_from_lines(self.criteria.toPlainText(), self._known)
        return changed if criteria == self._known else changed | {"criteria": criteria_to_text(criteria)}

    def _criteria_changed(self) -> None:
        """Says what is wrong with the criteria; they cannot be saved so."""
        problem = ""
        try:
            criteria_from_lines(self.criteria.toPlainText(), self._known)
        except CriteriaError as error:
            problem = str(error)
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.save.setEnabled(not problem)


async def ask_values(dialog: LabelDialog | TextDialog) -> dict[EditedField, str | None] | None:
    """Opens a dialog and waits; what was entered, ``None`` where the user cancels."""
    try:
        return dialog.values if await shown(dialog) else None
    finally:
        dialog.deleteLater()
