"""Form rows for optional settings of a request: reasoning, source of the scores, and further fields as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QWidget

from judgenet.core.documents import DocumentError
from judgenet.core.extra_fields import extra_of_text, parse_extra
from judgenet.core.network import Settings
from judgenet.core.probabilities import PROBABILITIES
from judgenet.core.reasoning import EFFORTS, MOST_THINKING, Effort, is_effort, thinking_tokens
from judgenet.ui import texts
from judgenet.ui.elements import ComboBox, SpinBox, add_row, field, label
from judgenet.ui.measures import measure

_NAMES: Final[dict[Effort, str]] = {
    "none": texts.EFFORT_NONE,
    "minimal": texts.EFFORT_MINIMAL,
    "low": texts.EFFORT_LOW,
    "medium": texts.EFFORT_MEDIUM,
    "high": texts.EFFORT_HIGH,
    "xhigh": texts.EFFORT_EXTRA_HIGH,
    "max": texts.EFFORT_MAXIMUM,
}
_USUAL_BUDGET: Final = 2_048


class ReasoningRow(QWidget):
    """The reasoning of a model: an effort, or a maximum of thinking tokens.

    Signals:
        chosen: an effort, a number of tokens, or ``default``.
    """

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.effort = ComboBox(texts.REASONING)
        self.effort.addItem(texts.ENDPOINTS_OWN, "default")
        for name in EFFORTS:
            self.effort.addItem(_NAMES[name], name)
        self.effort.addItem(texts.TOKEN_BUDGET, "budget")
        self.tokens = SpinBox(texts.MAXIMUM_THINKING_TOKENS, 1, MOST_THINKING)
        self.tokens.setSingleStep(1_024)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.effort, stretch=1)
        row.addWidget(self.tokens)
        measure(self.tokens, width=96)
        self.effort.activated.connect(self._tell)
        self.tokens.valueChanged.connect(self._tell)

    def show_reasoning(self, values: Sequence[int | str | None]) -> None:
        """Shows the settings in force of what is selected."""
        first = values[0]
        budget = isinstance(first, int)
        with QSignalBlocker(self.effort), QSignalBlocker(self.tokens):
            chosen = "budget" if budget else first if is_effort(first) else "default"
            self.effort.setCurrentIndex(self.effort.findData(chosen))
            self.tokens.setVisible(budget)
            if isinstance(first, int):
                self.tokens.setValue(first)
        room = thinking_tokens(first)
        words = texts.room_for_thinking(f"{room:,}") if room else ""
        self.setToolTip(texts.NEURONS_DIFFER_TIP if len(set(values)) > 1 else words)

    def _tell(self) -> None:
        chosen = self.effort.currentData()
        if chosen != "budget":
            self.chosen.emit(chosen)
        else:
            self.chosen.emit(self.tokens.value() if self.tokens.isVisible() else _USUAL_BUDGET)


class ExtraRow(QWidget):
    """Further fields of a request, as a JSON object on one line.

    Signals:
        entered: canonical JSON text, after an edit that can be sent.
        wrong: why what was entered cannot be sent; empty where it can.
    """

    entered = Signal(str)
    wrong = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.text = field(texts.FURTHER_FIELDS, '{"top_k": 20}')
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.text)
        self.text.editingFinished.connect(self._read)
        self._shown = ""

    def show_extra(self, values: Sequence[str | None]) -> None:
        """Shows the fields in force of what is selected, unless the user is editing them."""
        shown = extra_line(values[0])
        if shown != self._shown or not self.text.hasFocus():
            self._shown = shown
            self.text.setText(shown)
            self.text.setCursorPosition(0)
            self.wrong.emit("")
        self.setToolTip(texts.NEURONS_DIFFER_TIP if len(set(values)) > 1 else texts.FURTHER_FIELDS_OF_NEURON_TIP)

    def _read(self) -> None:
        text = self.text.text().strip()
        if text == self._shown:
            self.wrong.emit("")
            return
        try:
            canonical = parse_extra(text or "{}")
        except DocumentError as error:
            self.wrong.emit(f"{error}.")
            return
        self._shown = extra_line(canonical)
        self.wrong.emit("")
        self.entered.emit(canonical)


def extra_line(extra: str | None) -> str:
    """Further fields on a line, as somebody would write them; empty for none."""
    fields = extra_of_text(extra)
    return json.dumps(fields, ensure_ascii=False) if fields else ""


class ScoresRow(QWidget):
    """Where a call's scores come from: its text, or the probabilities of its tokens.

    Signals:
        chosen: ``text`` or ``probabilities``.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.source = ComboBox(texts.SCORES)
        self.source.addItem(texts.FROM_THE_TEXT, "text")
        self.source.addItem(texts.TOKEN_PROBABILITIES, PROBABILITIES)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.source)
        self.source.activated.connect(self._tell)

    def show_scores(self, values: Sequence[str | None]) -> None:
        """Shows the setting in force of what is selected."""
        sources = [value or "text" for value in values]
        with QSignalBlocker(self.source):
            self.source.setCurrentIndex(self.source.findData(sources[0]))
        self.setToolTip(texts.NEURONS_DIFFER_TIP if len(set(sources)) > 1 else texts.TOKEN_PROBABILITIES_TIP)

    def _tell(self) -> None:
        self.chosen.emit(self.source.currentData())


class RequestRows(QWidget):
    """Reasoning, scores and further fields of what is selected."""

    def __init__(self) -> None:
        super().__init__()
        self.reasoning = ReasoningRow()
        self.scores = ScoresRow()
        self.extra = ExtraRow()
        self.problem = label("", tone="warn", wrap=True)
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        measure(form, spacing=8)
        add_row(form, texts.REASONING, self.reasoning)
        add_row(form, texts.SCORES, self.scores)
        add_row(form, texts.FURTHER_FIELDS, self.extra)
        form.addRow(self.problem)
        form.setRowVisible(self.problem, False)
        self._form = form
        self.extra.wrong.connect(self._say)

    def show_settings(self, effective: Sequence[Settings], *, editable: bool) -> None:
        """Shows the settings in force."""
        self.reasoning.show_reasoning([settings.reasoning for settings in effective])
        self.scores.show_scores([settings.scores for settings in effective])
        self.extra.show_extra([settings.extra for settings in effective])
        for row in (self.reasoning, self.scores, self.extra):
            row.setEnabled(editable)

    def _say(self, problem: str) -> None:
        self.problem.setText(problem)
        self._form.setRowVisible(self.problem, bool(problem))
