"""Small parts that every page is made of."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QPushButton, QSizePolicy, QWidget

from judgenet.ui.widgets import set_kind


def label(text: str = "", kind: str = "", tone: str = "", *, wrap: bool = False) -> QLabel:
    """A label of plain text in a step of the type scale and a tone of the style sheet."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if kind:
        made.setProperty("type", kind)
    if tone:
        made.setProperty("tone", tone)
    return made


def set_tone(widget: QWidget, tone: str) -> None:
    """Sets the property ``tone`` that the style sheet reads (``text2``, ``warn``, ``good`` …)."""
    if widget.property("tone") != tone:
        widget.setProperty("tone", tone)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def field(name: str, hint: str = "") -> QLineEdit:
    """A line of text with its accessible name."""
    made = QLineEdit()
    made.setAccessibleName(name)
    made.setPlaceholderText(hint)
    return made


def link(text: str, name: str = "") -> QPushButton:
    """A button that looks as a link; ``name`` is its accessible name where the text does not say enough."""
    made = QPushButton(text)
    set_kind(made, "link")
    made.setAccessibleName(name or text)
    made.setCursor(Qt.CursorShape.PointingHandCursor)
    made.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    return made


def line() -> QFrame:
    """A hairline."""
    made = QFrame()
    made.setProperty("part", "line")
    return made


def upright() -> QFrame:
    """An upright hairline."""
    made = QFrame()
    made.setProperty("part", "upright")
    return made
