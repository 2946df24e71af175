"""Small parts of the page Run."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget


class Tag(QLabel):
    """A word on a tinted background, such as the state of a neuron. Without a word it is hidden."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("part", "tag")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setContentsMargins(0, 2, 0, 2)
        self.hide()

    def say(self, text: str, tone: str = "") -> None:
        """Shows a word in a tone (``accent``, ``warn``, ``good``, ``bad``); an empty one hides the tag."""
        if self.property("tone") != tone:
            self.setProperty("tone", tone)
            self.style().unpolish(self)
            self.style().polish(self)
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(text)
        self.setVisible(bool(text))
