"""Small parts of the page Data: a search field, and a tag with an icon."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QSizePolicy, QToolButton, QWidget

from judgenet.ui.data import texts
from judgenet.ui.elements import IconLabel, label, set_tone
from judgenet.ui.icons import icon
from judgenet.ui.measures import measure
from judgenet.ui.theme import current_theme

_ICONS = {"warn": "warning", "good": "tick", "bad": "error"}


class SearchField(QLineEdit):
    """A search field with a magnifying glass and a button that clears it.

    Signals:
        left: Down was pressed, to move the focus to the results.
    """

    left = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setPlaceholderText(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._glass = IconLabel("search", parent=self)
        self._glass.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.empty = QToolButton(self)
        self.empty.setIcon(icon("close"))
        self.empty.setAccessibleName(texts.CLEAR_SEARCH)
        self.empty.setToolTip(texts.CLEAR_SEARCH)
        self.empty.setCursor(Qt.CursorShape.ArrowCursor)
        self.empty.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.empty.clicked.connect(self.clear)
        self.textChanged.connect(self._show_button)
        measure(self.empty, icon=16)
        measure(self, min_width=176)
        self._show_button("")

    def _show_button(self, text: str) -> None:
        self.empty.setVisible(bool(text))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        middle = self.height() // 2
        self.setTextMargins(current_theme().px(24), 0, current_theme().px(28), 0)
        self._glass.move(current_theme().px(10), middle - self._glass.height() // 2)
        size = self.empty.sizeHint()
        self.empty.resize(size)
        self.empty.move(self.width() - size.width() - 2, middle - size.height() // 2)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Down:
            self.left.emit()
            return
        super().keyPressEvent(event)


class StateTag(QFrame):
    """A state as an icon and words on a tinted background."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("part", "tag")
        self._tone = ""
        self._icon = IconLabel()
        self.text = label()
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._icon)
        self._row.addWidget(self.text)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        measure(self._row, margins=(12, 6, 12, 6), spacing=8)

    def say(self, text: str, tone: str) -> None:
        """Shows a state; ``tone`` is ``warn``, ``good`` or ``bad``."""
        self.text.setText(text)
        self.setAccessibleName(text)
        self._tone = tone
        set_tone(self, tone)
        set_tone(self.text, tone)
        self._show_icon()

    def _show_icon(self) -> None:
        name = _ICONS.get(self._tone)
        self._icon.setVisible(name is not None)
        if name is not None:
            self._icon.show_icon(name, self._tone)
