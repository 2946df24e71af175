"""The row of the inspector that names the models to ask when an endpoint fails."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCompleter, QFormLayout, QWidget

from judgenet.core.network import NetworkError, Settings, StandIn
from judgenet.core.stand_ins import NO_STAND_IN, read_stand_ins, stand_in_text
from judgenet.ui.design import texts
from judgenet.ui.elements import add_row, field, label
from judgenet.ui.measures import measure


class StandInRow(QWidget):
    """The stand-ins of the selection in one field, written as on the command line.

    Signals:
        entered: the stand-ins in their order, empty for none, after a valid edit.
    """

    entered = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.text = field(texts.STAND_IN, NO_STAND_IN)
        self.problem = label("", tone="warn", wrap=True)
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        measure(form, spacing=8)
        add_row(form, texts.STAND_IN, self.text)
        form.addRow(self.problem)
        form.setRowVisible(self.problem, False)
        self._form = form
        self.text.editingFinished.connect(self._read)
        self._shown = ""

    def show_settings(self, effective: Sequence[Settings], known: Sequence[str], *, editable: bool) -> None:
        """Shows the stand-ins of the selection, unless the user is typing; ``known`` are suggested."""
        stand_ins = [settings.stand_in or () for settings in effective]
        shown = ", ".join(map(stand_in_text, stand_ins[0]))
        if shown != self._shown or not self.text.hasFocus():
            self._shown = shown
            self.text.setText(shown)
            self.text.setCursorPosition(0)
            self._show_problem("")
        self.text.setToolTip(texts.NEURONS_DIFFER if len(set(stand_ins)) > 1 else texts.STAND_IN_TIP)
        self.text.setEnabled(editable)
        completer = QCompleter(list(known), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.text.setCompleter(completer)

    def _read(self) -> None:
        text = self.text.text().strip()
        if text == self._shown:
            self._show_problem("")
            return
        try:
            stand_ins: tuple[StandIn, ...] = read_stand_ins(text.split(",")) if text else ()
        except NetworkError as error:
            self._show_problem(str(error))
            return
        self._shown = ", ".join(map(stand_in_text, stand_ins))
        self._show_problem("")
        self.entered.emit(stand_ins)

    def _show_problem(self, problem: str) -> None:
        self.problem.setText(problem)
        self._form.setRowVisible(self.problem, bool(problem))
