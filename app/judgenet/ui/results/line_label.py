"""Prose with verdict chips in it, as a report has it. Texts of the data are never read as markup."""

from __future__ import annotations

import math
from functools import cache
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, QSize, QSizeF
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFont,
    QPainter,
    QPaintEvent,
    QPalette,
    QPyTextObject,
    QResizeEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from judgenet.core.pairs import Verdict
from judgenet.core.wording import SPOKEN, clean
from judgenet.report.blocks import Given, Line, Strong, VerdictMark
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.paint import draw_chip
from judgenet.ui.elements import unbroken
from judgenet.ui.results import texts
from judgenet.ui.theme import Theme, current_theme
from judgenet.ui.tokens import TypeRole

_CHIP: Final = QTextFormat.ObjectTypes.UserObject.value + 1
_VERDICT: Final = QTextFormat.Property.UserProperty.value + 1
_OBJECT: Final = "\ufffc"
_ISOLATE, _END = "\u2068", "\u2069"
"""Unicode isolates, which let texts of the data keep their own direction of writing."""


def line_text(line: Line) -> str:
    """A line as plain words, for screen readers."""
    words = []
    for part in line:
        if isinstance(part, VerdictMark):
            words.append(texts.NO_VERDICT if part.verdict is None else SPOKEN[part.verdict])
        else:
            words.append(part if isinstance(part, str) else part.text)
    return "".join(words)


class _Chips(QPyTextObject):
    """Draws the verdict chips in a text."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)

    def intrinsicSize(self, _document: QTextDocument, _position: int, _format: QTextFormat) -> QSizeF:
        # No higher than a line of text, so that lines keep their distance.
        return QSizeF(26 * current_theme().scale, 14 * current_theme().scale)

    def drawObject(
        self, painter: QPainter, rect: QRectF | QRect, _document: QTextDocument, _position: int, form: QTextFormat
    ) -> None:
        scale = current_theme().scale
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # The object stands on the baseline; the letter of the chip has its own 4.8 px below the middle.
        painter.translate(QPointF(rect.x() + scale, rect.bottom() - 14.8 * scale))
        painter.scale(scale, scale)
        verdict: Verdict | None = form.property(_VERDICT) or None
        draw_chip(painter, Ink.of(current_theme()), QRectF(0, 0, 24, 20), verdict)
        painter.restore()


@cache
def _format(theme: Theme, role: TypeRole, color: str, weight: int) -> QTextCharFormat:
    form = QTextCharFormat()
    font = theme.font(role, tabular=True)
    font.setWeight(QFont.Weight(weight))
    form.setFont(font)
    form.setForeground(theme.color(color))
    return form


class LineLabel(QWidget):
    """Lines of prose that wrap. Each line is a paragraph of its own."""

    _lines: tuple[Line, ...] = ()

    def __init__(self, *, role: TypeRole = "body", color: str = "text", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._role: TypeRole = role
        self._color = color
        self._document = QTextDocument(self)
        self._document.setDocumentMargin(0)
        self._natural = 0
        self._chips = _Chips(self)
        self._document.documentLayout().registerHandler(_CHIP, self._chips)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        # A new theme, scale or density comes with a new style sheet.
        if event.type() == QEvent.Type.StyleChange and self._lines:
            self._fill()

    def say(self, *lines: Line) -> None:
        """Shows lines; without any it is empty."""
        if lines != self._lines:
            self._lines = lines
            self._fill()

    @property
    def text(self) -> str:
        """The lines in plain words."""
        return "\n".join(line_text(line).strip() for line in self._lines)

    def _fill(self) -> None:
        theme = current_theme()
        self._document.clear()
        cursor = QTextCursor(self._document)
        block = QTextBlockFormat()
        block.setLineHeight(theme.line_height(self._role), QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        plain = _format(theme, self._role, self._color, theme.font(self._role).weight())
        for place, line in enumerate(self._lines):
            if place:
                cursor.insertBlock()
            cursor.setBlockFormat(block)
            for part in line:
                if isinstance(part, VerdictMark):
                    form = QTextCharFormat(plain)
                    form.setObjectType(_CHIP)
                    form.setProperty(_VERDICT, part.verdict or "")
                    cursor.insertText(_OBJECT, form)
                elif isinstance(part, Strong):
                    cursor.insertText(unbroken(clean(part.text)), _format(theme, self._role, "text", 600))
                elif isinstance(part, Given):
                    cursor.insertText(f"{_ISOLATE}{_one_line(part.text)}{_END}", plain)
                else:
                    cursor.insertText(unbroken(clean(part)), plain)
        self.setAccessibleName(self.text)
        # As wide as it would like to be: where it stands now does not count.
        self._document.setTextWidth(-1)
        self._natural = math.ceil(self._document.idealWidth())
        self._document.setTextWidth(self.width())
        self.updateGeometry()
        self.update()

    @property
    def _chip_room(self) -> int:
        """Room below the last line, in px: a chip reaches below the letters."""
        return current_theme().px(2)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if not self._lines:
            return 0
        before = self._document.textWidth()
        self._document.setTextWidth(width)
        height = self._document.size().height()
        self._document.setTextWidth(before)
        return round(height + 0.49) + self._chip_room

    def sizeHint(self) -> QSize:
        width = min(self._natural + 1, current_theme().px(640))
        return QSize(width, self.heightForWidth(max(width, self.width())))

    def minimumSizeHint(self) -> QSize:
        return QSize(current_theme().px(120), self.heightForWidth(self.width()) if self._lines else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._document.setTextWidth(self.width())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.palette.setColor(QPalette.ColorRole.Text, current_theme().color(self._color))
        self._document.documentLayout().draw(painter, context)


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())
