"""The pair on the desk: the question, both responses under neutral letters, and the keys."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from judgenet.core.bias.for_people import PeoplePrompt
from judgenet.core.labels import Said
from judgenet.core.wording import of
from judgenet.engine.labelling import Desk
from judgenet.ui.criteria_text import criteria_list
from judgenet.ui.elements import label, set_tone
from judgenet.ui.labels import texts
from judgenet.ui.measures import measure
from judgenet.ui.style import OWN_FOCUS
from judgenet.ui.text_view import TextView
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import PAGE_MARGIN
from judgenet.ui.widgets import Segment, set_kind

KEYS: Final[dict[int, Said]] = {
    Qt.Key.Key_A: "a",
    Qt.Key.Key_T: "tie",
    Qt.Key.Key_B: "b",
    Qt.Key.Key_U: "unsure",
    Qt.Key.Key_S: "skip",
}
_PLAIN: Final = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
_QUESTION_LINES: Final = 6
_QUESTION_LINES_LOW: Final = 3
_QUESTION_PICTURE: Final = 140
"""The greatest height of a picture in the question, in px at 100 %: the responses need the room."""
_LOW: Final = 620


class KeyButton(QPushButton):
    """A button that names its key: ``[A] Response A``."""

    def __init__(self, key: str, words: str, *, flat: bool = False) -> None:
        super().__init__()
        self.setAccessibleName(words)
        self.setToolTip(f"{words} ({key})")
        self._flat = flat
        self.key = label(key)
        self.key.setProperty("part", "key")
        self.key.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.words = label(words, "strong" if flat else "node")
        self._row = QHBoxLayout(self)
        if not flat:
            self._row.addStretch(1)
        for part in (self.key, self.words):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            self._row.addWidget(part)
        if not flat:
            self._row.addStretch(1)
        # By the style sheet: it would undo a height that is set here.
        self.setProperty("control", "" if flat else "large")
        set_kind(self, "flat" if flat else "")
        measure(self._row, margins=(8, 0, 8, 0), spacing=12)
        measure(self.key, min_width=22, height=22)

    def set_live(self, live: bool) -> None:
        """Highlights the key while the desk takes it."""
        self.key.setProperty("live", live)
        self.key.style().unpolish(self.key)
        self.key.style().polish(self.key)

    def set_said(self, said: bool) -> None:
        """Marks the answer that was given to this pair before."""
        kind = "outline" if said else "flat" if self._flat else ""
        if self.property("kind") != kind:
            set_kind(self, kind)

    def sizeHint(self) -> QSize:
        return QSize(self._row.sizeHint().width(), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


class ResponsePane(QFrame):
    """One response, under the letter of its side."""

    def __init__(self, letter: str) -> None:
        super().__init__()
        self.setProperty("part", "panel")
        self.letter = QLabel(letter)
        self.letter.setTextFormat(Qt.TextFormat.PlainText)
        self.letter.setProperty("part", "letter")
        self.letter.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.text = TextView(texts.response(letter))
        self.text.in_text.within_view = True
        head = QHBoxLayout()
        head.addWidget(self.letter)
        head.addStretch(1)
        self._column = QVBoxLayout(self)
        self._column.addLayout(head)
        self._column.addWidget(self.text, 1)
        measure(self._column, margins=(24, 20, 12, 16), spacing=16)
        measure(self.letter, width=32, height=32)


class DeskView(QWidget):
    """The pair on the desk.

    Signals:
        said: the answer that was given, about the sides; ``back``: the user goes back to the pair before.
        markdown_chosen: the user wants the responses as Markdown, or plain.
    """

    said = Signal(str)
    back = Signal()
    markdown_chosen = Signal(bool)

    def __init__(self, letters: tuple[str, str] = ("A", "B")) -> None:
        """``letters`` name the two sides, and are their keys."""
        super().__init__()
        self._keys = {Qt.Key.Key_1: "a", Qt.Key.Key_2: "b", **KEYS} if letters == ("1", "2") else KEYS
        self._markdown = True
        self.setAccessibleName(texts.LABEL_DESK)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # A ring around the whole desk would draw the eye from the texts: the keys light up instead.
        self.setProperty(OWN_FOCUS, True)
        self.head = label(texts.QUESTION, tone="text2")
        self.form = Segment(texts.RESPONSES, [("markdown", texts.MARKDOWN), ("plain", texts.PLAIN)])
        self.form.chosen.connect(self._form_chosen)
        self.place = label("", tone="text2")
        self.question = TextView(texts.QUESTION, "question")
        self.question.in_text.most_height = _QUESTION_PICTURE
        self.a, self.b = (ResponsePane(letter) for letter in letters)
        self.note = label("", tone="text2", wrap=True)
        self.buttons: dict[Said, KeyButton] = {
            "a": KeyButton(letters[0], texts.response(letters[0])),
            "tie": KeyButton("T", texts.TIE),
            "b": KeyButton(letters[1], texts.response(letters[1])),
            "unsure": KeyButton("U", texts.UNSURE, flat=True),
            "skip": KeyButton("S", texts.SKIP, flat=True),
        }
        self.back_button = KeyButton("←", texts.BACK, flat=True)
        self._lay_out()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self.head)
        top.addStretch(1)
        top.addWidget(self.form)
        top.addWidget(self.place)
        sides = QHBoxLayout()
        sides.addWidget(self.a, 1)
        sides.addWidget(self.b, 1)
        first = QHBoxLayout()
        first.addWidget(self.buttons["a"], 9)
        first.addWidget(self.buttons["tie"], 4)
        first.addWidget(self.buttons["b"], 9)
        second = QHBoxLayout()
        second.addStretch(1)
        for button in (self.buttons["unsure"], self.buttons["skip"], self.back_button):
            second.addWidget(button)
        second.addStretch(1)
        column = QVBoxLayout(self)
        column.addLayout(top)
        column.addWidget(self.question)
        column.addLayout(sides, 1)
        column.addWidget(self.note)
        column.addLayout(first)
        column.addLayout(second)
        for button in self.buttons.values():
            button.clicked.connect(self._clicked)
        self.back_button.clicked.connect(self.back)
        for widget in (self.question, self.a.text, self.b.text, *self.buttons.values(), self.back_button):
            widget.installEventFilter(self)
        self.note.hide()
        measure(column, margins=(32, PAGE_MARGIN, 32, 12), spacing=12)
        for row, spacing in ((top, 16), (sides, PAGE_MARGIN), (first, 12), (second, 16)):
            measure(row, spacing=spacing)

    # What is shown

    def set_markdown(self, markdown: bool) -> None:
        """Shows texts as Markdown, or plainly."""
        self._markdown = markdown
        self.form.set_current("markdown" if markdown else "plain")

    def show_desk(self, desk: Desk, why_not: str, note: str) -> None:
        """Shows the pair on the desk. ``why_not`` says why nothing can be labelled, ``note`` what to know of it."""
        pair = desk.pair
        if pair is None:
            return
        left, right = (pair.response_b, pair.response_a) if desk.swapped else (pair.response_a, pair.response_b)
        number = min(desk.at + 1, len(desk.draw.places))
        self.place.setText(of(number, max(desk.wished, number)))
        criteria = criteria_list(pair, markdown=self._markdown)
        asked = texts.question_and_criteria(pair.question, criteria) if criteria else pair.question
        for view, text in ((self.question, asked), (self.a.text, left), (self.b.text, right)):
            view.show_text(text, markdown=self._markdown, pictures=pair.pictures)
        said = desk.shown(desk.said)
        for key, button in self.buttons.items():
            button.set_said(key == said)
            button.setEnabled(not why_not)
            button.setVisible(desk.draw.mode != "settle" or key in ("a", "tie", "b"))
        self.back_button.setEnabled(desk.at > 0)
        self.note.setText(why_not or note)
        self.note.setVisible(bool(why_not or note))
        self._fit_question()

    def show_prompt(self, prompt: PeoplePrompt, at: int, total: int, said: Said | None, why_not: str) -> None:
        """Shows a prompt of a bias lab, the first response at the left; ``said`` is an earlier answer to it."""
        self.place.setText(of(at + 1, total))
        asked = prompt.question
        if prompt.reference:
            asked = texts.question_and_reference(prompt.question, prompt.reference)
        self.question.show_text(asked, markdown=self._markdown)
        self.a.text.show_text(prompt.first, markdown=self._markdown)
        self.b.text.show_text(prompt.second, markdown=self._markdown)
        for key, button in self.buttons.items():
            button.set_said(key == said)
            button.setEnabled(not why_not)
            button.setVisible(prompt.tie or key != "tie")
        self.back_button.setEnabled(at > 0)
        self.note.setText("\n".join(part for part in (why_not, prompt.remarks) if part))
        self.note.setVisible(bool(self.note.text()))
        # What the prompt says is part of what is judged, and no hint beside it.
        set_tone(self.note, "")
        self._fit_question()

    def _fit_question(self) -> None:
        low = self.height() / current_theme().scale < _LOW
        self.question.setFixedHeight(self.question.height_for(_QUESTION_LINES_LOW if low else _QUESTION_LINES))

    # Keys

    def _clicked(self) -> None:
        for said, button in self.buttons.items():
            if button is self.sender():
                self.said.emit(said)

    def _form_chosen(self, key: str) -> None:
        self.markdown_chosen.emit(key == "markdown")

    def take_key(self, event: QKeyEvent) -> bool:
        """Does what a key means here; returns whether it means anything. Repeats of a key that is held down are
        ignored."""
        if event.modifiers() & ~_PLAIN:
            return False
        known = event.key() in self._keys or event.key() == Qt.Key.Key_Left
        if known and not event.isAutoRepeat():
            if event.key() == Qt.Key.Key_Left:
                self.back.emit()
            else:
                said = self._keys[event.key()]
                if self.buttons[said].isVisibleTo(self):
                    self.said.emit(said)
        return known

    def _set_live(self, live: bool) -> None:
        for button in (*self.buttons.values(), self.back_button):
            button.set_live(live)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._set_live(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._set_live(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.take_key(event):
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self.take_key(event):
            return True
        return super().eventFilter(watched, event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_question()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_question()
