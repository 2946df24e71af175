"""Small parts of the run page."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QLabel,
    QSizePolicy,
    QWidget,
)

from judgenet.ui.text_view import plain_tip, showable

_BREAKS: Final = re.compile("[\\s\x85\u2028\u2029]*[\t-\r\x85\u2028\u2029][\\s\x85\u2028\u2029]*")


class ElidedLabel(QLabel):
    """One line of plain text that ends in an ellipsis where it has no room; all of it is in the tool tip."""

    def __init__(self, kind: str = "", tone: str = "", *, fitted: bool = False, parent: QWidget | None = None) -> None:
        """``fitted``: no wider than its text; else as wide as there is room."""
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        if kind:
            self.setProperty("type", kind)
        if tone:
            self.setProperty("tone", tone)
        self._whole = ""
        across = QSizePolicy.Policy.Maximum if fitted else QSizePolicy.Policy.Ignored
        self.setSizePolicy(across, QSizePolicy.Policy.Preferred)

    def say(self, text: str) -> None:
        """Sets the text."""
        text = showable(_BREAKS.sub(" ", text))
        if text != self._whole:
            self._whole = text
            self.setAccessibleName(text)
            self.updateGeometry()
            self._fit()

    @property
    def whole(self) -> str:
        """All of the text."""
        return self._whole

    def _fit(self) -> None:
        shown = self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideRight, self.contentsRect().width())
        if shown != self.text():
            self.setText(shown)
        self.setToolTip(plain_tip(self._whole) if shown != self._whole else "")

    def sizeHint(self) -> QSize:
        margins = self.contentsMargins()
        wide = self.fontMetrics().horizontalAdvance(self._whole) + margins.left() + margins.right() + 1
        return QSize(wide, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


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
