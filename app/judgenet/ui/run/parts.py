"""Small parts of the run page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOption,
    QVBoxLayout,
    QWidget,
)

from judgenet.ui.icons import icon
from judgenet.ui.parts import label
from judgenet.ui.text_view import plain_tip, showable
from judgenet.ui.theme import Theme
from judgenet.ui.tokens import ICON_EMPTY, PANEL_INSIDE
from judgenet.ui.widgets import set_kind

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


class EmptyState(QFrame):
    """What would be here, in one sentence, with one button that makes it."""

    def __init__(self, theme: Theme, icon_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon_name = icon_name
        self.picture = QLabel(self)
        self.sentence = label("", wrap=True)
        self.note = label("", tone="text2", wrap=True)
        self.button = QPushButton(self)
        self.more = QPushButton(self)
        for button in (self.button, self.more):
            button.setAccessibleName("Nothing to do")
            button.hide()
        self._do: Callable[[], object] | None = None
        self._do_more: Callable[[], object] | None = None
        self.button.clicked.connect(self._clicked)
        self.more.clicked.connect(self._clicked_more)
        column = QVBoxLayout(self)
        column.addStretch(2)
        for widget in (self.picture, self.sentence, self.note):
            column.addWidget(widget)
        row = QHBoxLayout()
        row.addWidget(self.button)
        row.addWidget(self.more)
        row.addStretch(1)
        column.addLayout(row)
        column.addStretch(3)
        self._column = column
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Takes on a theme's measures."""
        side = theme.px(ICON_EMPTY)
        self.picture.setPixmap(icon(self._icon_name, "text2").pixmap(side, side))
        inside = theme.px(PANEL_INSIDE)
        self._column.setContentsMargins(inside, inside, inside, inside)
        self._column.setSpacing(theme.px(12))
        for words in (self.sentence, self.note):
            words.setMaximumWidth(theme.px(480))

    def say(
        self,
        sentence: str,
        note: str = "",
        button: str = "",
        do: Callable[[], object] | None = None,
        *,
        primary: bool = False,
        why_not: str = "",
        more: str = "",
        do_more: Callable[[], object] | None = None,
    ) -> None:
        """Sets the words; without ``button`` there is none. ``why_not`` says why it cannot be done now; ``more`` is a
        second button, for what may be done before."""
        self.more.setText(more)
        self.more.setAccessibleName(more.rstrip("…") or "Nothing more to do")
        self.more.setVisible(bool(more))
        self._do_more = do_more
        self.sentence.setText(sentence)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.button.setText(button)
        self.button.setAccessibleName(button or "Nothing to do")
        self.button.setVisible(bool(button))
        self.button.setEnabled(not why_not)
        self.button.setToolTip(why_not)
        wanted = "primary" if primary else "normal"
        if self.button.property("kind") != wanted:
            set_kind(self.button, wanted)
        self._do = do

    def _clicked_more(self) -> None:
        if self._do_more is not None:
            self._do_more()

    def _clicked(self) -> None:
        if self._do is not None:
            self._do()

    def paintEvent(self, _event: QPaintEvent) -> None:
        option = QStyleOption()
        option.initFrom(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, QPainter(self), self)
