"""Small parts of the run page."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QLabel,
    QSizePolicy,
    QWidget,
)


class Tag(QLabel):
    """A word on a quiet ground, such as a neuron's state. Without a word it is not there."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("part", "tag")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setContentsMargins(0, 2, 0, 2)
        self.hide()

    def say(self, text: str, tone: str = "") -> None:
        """Sets the word and its tone (``accent``, ``warn``, ``good``, ``bad``)."""
        if self.property("tone") != tone:
            self.setProperty("tone", tone)
            self.style().unpolish(self)
            self.style().polish(self)
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(text)
        self.setVisible(bool(text))
