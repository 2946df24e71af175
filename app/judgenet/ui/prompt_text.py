"""A view of prompts and raw answers: plain text in a monospaced font."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent
from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit

from judgenet.ui.measures import measure
from judgenet.ui.theme import ThemeWatch, current_theme


class PromptText(QPlainTextEdit):
    """A text to be read and copied, with passages that are marked."""

    def __init__(self, name: str) -> None:
        self._theme_watch = ThemeWatch()
        super().__init__()
        self._passages: tuple[tuple[int, int], ...] = ()
        self.setReadOnly(True)
        self.setProperty("kind", "prompt")
        self.setProperty("type", "mono")
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUndoRedoEnabled(False)
        measure(self, font="mono")

    def show_text(self, text: str, passages: Sequence[tuple[int, int]] = ()) -> None:
        """Shows a text, keeping the place where nothing before it changed. ``passages`` are begin and end of what is
        marked, in characters."""
        before = self.toPlainText()
        if text != before:
            bar = self.verticalScrollBar()
            place, at_end = bar.value(), bar.value() >= bar.maximum() - 1
            self.setPlainText(text)
            bar.setValue(bar.maximum() if at_end and before and text.startswith(before) else place)
        self._passages = tuple(passages)
        self._mark(text)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if self._theme_watch.is_new(event):
            self._mark(self.toPlainText())

    def _mark(self, text: str) -> None:
        # Qt counts UTF-16 units, Python characters.
        wide = [place for place, letter in enumerate(text) if letter > "\uffff"] if self._passages else []
        look = QTextCharFormat()
        look.setBackground(current_theme().color("accentTint"))
        look.setForeground(current_theme().color("accent"))
        marks = []
        for passage in self._passages:
            begin, end = (place + sum(1 for at in wide if at < place) for place in passage)
            mark = QTextEdit.ExtraSelection()
            mark.cursor = QTextCursor(self.document())
            mark.cursor.setPosition(begin)
            mark.cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            mark.format = look
            marks.append(mark)
        self.setExtraSelections(marks)
