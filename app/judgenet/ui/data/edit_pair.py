"""Dialogs that change pairs for a project: the human label of one or several pairs, and the texts of one."""

from __future__ import annotations

from typing import Final

from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from judgenet.core.criteria import CriteriaError, criteria_from_lines, criteria_to_lines, criteria_to_text
from judgenet.core.pair_edits import EditedField
from judgenet.core.pairs import Pair, Verdict
from judgenet.core.wording import plural
from judgenet.ui.data import texts
from judgenet.ui.dialogs import shown
from judgenet.ui.elements import label
from judgenet.ui.measures import measure
from judgenet.ui.theme import current_theme
from judgenet.ui.widgets import Segment, set_kind

_WIDE: Final = 760
_HIGH: Final = 600
_LABELS: Final = (
    ("a", texts.A_IS_BETTER),
    ("tie", texts.TIE_CHOICE),
    ("b", texts.B_IS_BETTER),
    ("none", texts.NO_LABEL_CHOICE),
)
_VERDICTS: Final[dict[str, Verdict | None]] = {"a": "a", "tie": "tie", "b": "b", "none": None}
_TEXTS: Final[tuple[tuple[EditedField, str, int], ...]] = (
    ("question", texts.QUESTION, 2),
    ("response_a", texts.RESPONSE_A, 3),
    ("response_b", texts.RESPONSE_B, 3),
)
"""For each field its name, and its share of the height."""


class _EditDialog(QDialog):
    """A dialog with a body, a note, and buttons to save or cancel."""

    def __init__(self, title: str, note: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.save = QPushButton(texts.SAVE)
        set_kind(self.save, "primary")
        self.save.setDefault(True)
        self.leave = QPushButton(texts.CANCEL)
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
    """Asks for the human label of one pair or several."""

    def __init__(self, pairs: tuple[Pair, ...], parent: QWidget) -> None:
        super().__init__(texts.EDIT_HUMAN_LABEL, texts.LABEL_NOTE, parent)
        self.body.addWidget(
            label(texts.human_label_of(plural(len(pairs), "pair")) if len(pairs) != 1 else texts.HUMAN_LABEL, "section")
        )
        self.choice = Segment(texts.HUMAN_LABEL, list(_LABELS))
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
        """The label that was chosen."""
        return {"human": _VERDICTS[self.choice.current]}


class TextDialog(_EditDialog):
    """Asks for the question, the responses and the criteria of a pair."""

    def __init__(self, pair: Pair, parent: QWidget) -> None:
        theme = current_theme()
        super().__init__(texts.EDIT_TEXTS_TITLE, texts.TEXT_NOTE, parent)
        self.fields: dict[EditedField, QPlainTextEdit] = {}
        for field, name, share in _TEXTS:
            edit = QPlainTextEdit(getattr(pair, field))
            edit.setAccessibleName(name)
            edit.setTabChangesFocus(True)
            self.fields[field] = edit
            self.body.addWidget(label(name, "section"))
            self.body.addWidget(edit, stretch=share)
        self.criteria = QPlainTextEdit(criteria_to_lines(pair.criteria))
        self.criteria.setAccessibleName(texts.CRITERIA)
        self.criteria.setPlaceholderText(texts.CRITERIA_HINT)
        self.criteria.setTabChangesFocus(True)
        self.criteria.textChanged.connect(self._criteria_changed)
        self.problem = label("", tone="bad", wrap=True)
        self.problem.hide()
        self.body.addWidget(label(texts.CRITERIA_FORM, "section"))
        self.body.addWidget(self.criteria, stretch=2)
        self.body.addWidget(self.problem)
        self._known = pair.criteria
        # The fields lose Windows line ends, so texts that were not touched keep their own.
        self._shown = {field: edit.toPlainText() for field, edit in self.fields.items()}
        room = theme.px(32)
        self.resize(min(theme.px(_WIDE), parent.width() - room), min(theme.px(_HIGH), parent.height() - room))

    @property
    def values(self) -> dict[EditedField, str | None]:
        """The texts that were changed, and the criteria where these were."""
        now = {field: edit.toPlainText() for field, edit in self.fields.items()}
        changed: dict[EditedField, str | None] = {
            field: text for field, text in now.items() if text != self._shown[field]
        }
        criteria = criteria_from_lines(self.criteria.toPlainText(), self._known)
        return changed if criteria == self._known else changed | {"criteria": criteria_to_text(criteria)}

    def _criteria_changed(self) -> None:
        """Shows what is wrong with the criteria, which then cannot be saved."""
        problem = ""
        try:
            criteria_from_lines(self.criteria.toPlainText(), self._known)
        except CriteriaError as error:
            problem = str(error)
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.save.setEnabled(not problem)


async def ask_values(dialog: LabelDialog | TextDialog) -> dict[EditedField, str | None] | None:
    """Opens a dialog and waits for it. Returns what was entered; ``None`` where the user cancelled."""
    try:
        return dialog.values if await shown(dialog) else None
    finally:
        dialog.deleteLater()
