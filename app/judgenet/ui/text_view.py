"""Texts of the user's data, to be read: as Markdown without HTML and without loading anything, or plainly."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any, Final

from PySide6.QtCore import QEvent, Qt, QUrl
from PySide6.QtGui import (
    QBrush,
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextOption,
)
from PySide6.QtWidgets import QTextEdit, QWidget

from judgenet.core.pictures import PairPicture
from judgenet.ui import texts
from judgenet.ui.fonts import families
from judgenet.ui.pictures import PicturesInText
from judgenet.ui.theme import ThemeWatch, current_theme
from judgenet.ui.tokens import TYPE, TypeRole
from judgenet.ui.widgets import set_kind

MOST_MARKDOWN: Final = 200_000
"""Longer texts are shown plainly."""

_LONGEST_WORD: Final = 4000
_FEATURES: Final = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
_HEADING_POINTS: Final = (13.0, 12.0, 11.0)
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_ENDLESS: Final = re.compile(rf"\S{{{_LONGEST_WORD}}}")
_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})")
_INDENTED: Final = ("    ", "\t")
_NAMELESS_IMAGE: Final = re.compile(r"!\[[ \t]*\](?=[(\[])")


def showable(text: str) -> str:
    """A text that Qt can lay out: lone surrogates become U+FFFD, very long words can be broken."""
    if not text.isascii():
        text = _SURROGATES.sub("\ufffd", text)
    if len(text) > _LONGEST_WORD:
        text = _ENDLESS.sub("\\g<0>\u200b", text)
    return text


def plain_tip(text: str, limit: int = 600) -> str:
    """A text for a tool tip, which Qt would else take for HTML where it looks like it."""
    cut = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return f"<p style='white-space: pre-wrap'>{html.escape(showable(cut))}</p>" if text else ""


def one_line(text: str, limit: int = 300) -> str:
    """The start of a text on one line."""
    return showable(" ".join(text[:limit].split()))


def _markdown_source(text: str) -> str:
    """The text so that nothing of it is lost: line breaks stay, and neither front matter nor an image vanishes."""
    lines = text.split("\n")
    fence = ""
    for place, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        elif not line.startswith(_INDENTED):
            more = place + 1 < len(lines) and bool(lines[place + 1].strip()) and bool(line.strip())
            # Two spaces at the end of a line break it.
            lines[place] = _NAMELESS_IMAGE.sub("![image]", line) + ("  " if more else "")
    # Qt takes "---" on the first line for the start of front matter, which it hides.
    return "\n" + "\n".join(lines)


class DocumentWriter:
    """Writes a text into a document, in the measures of a theme."""

    def __init__(self, document: QTextDocument, role: TypeRole) -> None:
        self._document = document
        self._role: TypeRole = role

    def write(self, text: str, *, markdown: bool) -> None:
        """Replaces what the document says."""
        text = showable(text)
        if markdown:
            self._document.setMarkdown(_markdown_source(text), _FEATURES)
            self._name_images()
            self._dress()
        else:
            self._document.setPlainText(text)
            self._set_line_height(QTextCursor(self._document))

    def _set_line_height(self, cursor: QTextCursor) -> None:
        cursor.select(QTextCursor.SelectionType.Document)
        block = QTextBlockFormat()
        height = current_theme().line_height(self._role)
        block.setLineHeight(height, QTextBlockFormat.LineHeightTypes.MinimumHeight.value)
        cursor.mergeBlockFormat(block)

    def _name_images(self) -> None:
        """Puts the name and address of each image in its place."""
        images: list[tuple[int, str]] = []
        block = self._document.begin()
        while block.isValid():
            fragments = block.begin()
            while not fragments.atEnd():
                fragment = fragments.fragment()
                form = fragment.charFormat()
                if form.isImageFormat():
                    name = str(form.property(QTextFormat.Property.ImageAltText.value) or "image")
                    words = texts.image_not_loaded(name, form.toImageFormat().name())
                    images += [(fragment.position() + place, words) for place in range(fragment.length())]
                fragments += 1
            block = block.next()
        cursor = QTextCursor(self._document)
        plain = QTextCharFormat()
        for position, words in reversed(images):
            cursor.setPosition(position)
            cursor.deleteChar()
            cursor.insertText(words, plain)

    def _dress(self) -> None:
        """Headings, code and line heights in the measures of the theme."""
        document = self._document
        self._set_line_height(QTextCursor(document))
        block = document.begin()
        while block.isValid():
            form = block.blockFormat()
            level = form.headingLevel()
            if level:
                self._dress_heading(block, level)
            elif form.hasProperty(QTextFormat.Property.BlockCodeFence.value) or form.hasProperty(
                QTextFormat.Property.BlockCodeLanguage.value
            ):
                self._dress_code(block)
            self._dress_fragments(block)
            block = block.next()

    def _mono(self) -> QTextCharFormat:
        mono = QTextCharFormat()
        mono.setFontFamilies(families(mono=True))
        mono.setFontPointSize(theme_points(TYPE["mono"].points))
        return mono

    def _dress_code(self, block: QTextBlock) -> None:
        cursor = QTextCursor(block)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(self._mono())
        cursor.mergeBlockCharFormat(self._mono())
        code = QTextBlockFormat()
        code.setBackground(QBrush(current_theme().color("bg")))
        code.setNonBreakableLines(False)
        code.setLineHeight(0, QTextBlockFormat.LineHeightTypes.SingleHeight.value)
        cursor.mergeBlockFormat(code)

    def _dress_heading(self, block: QTextBlock, level: int) -> None:
        cursor = QTextCursor(block)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        points = _HEADING_POINTS[min(level, len(_HEADING_POINTS)) - 1]
        form = QTextCharFormat()
        form.setProperty(QTextFormat.Property.FontSizeAdjustment.value, 0)
        form.setFontPointSize(theme_points(points))
        form.setFontWeight(QFont.Weight.DemiBold.value)
        cursor.mergeCharFormat(form)

    def _dress_fragments(self, block: QTextBlock) -> None:
        """Code in the theme's own font; links in its colour."""
        fixed: list[tuple[int, int]] = []
        links: list[tuple[int, int]] = []
        fragments = block.begin()
        while not fragments.atEnd():
            fragment = fragments.fragment()
            form = fragment.charFormat()
            span = (fragment.position(), fragment.position() + fragment.length())
            if form.fontFixedPitch():
                fixed.append(span)
            if form.isAnchor():
                links.append(span)
            fragments += 1
        anchor = QTextCharFormat()
        anchor.setForeground(QBrush(current_theme().color("accent")))
        for spans, form in ((fixed, self._mono()), (links, anchor)):
            for start, end in spans:
                cursor = QTextCursor(self._document)
                cursor.setPosition(start)
                cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
                cursor.mergeCharFormat(form)


class _Document(QTextDocument):
    """Loads nothing, wherever a text points to."""

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        return None


class TextView(QTextEdit):
    """A text to be read and copied, never edited. Right-to-left is decided paragraph by paragraph."""

    def __init__(self, name: str, role: TypeRole = "evidence", parent: QWidget | None = None) -> None:
        """``name`` is the accessible name; ``role`` the step of the type scale."""
        self._theme_watch = ThemeWatch()
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        set_kind(self, "bare")
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabChangesFocus(True)
        document = _Document(self)
        document.setUndoRedoEnabled(False)
        document.setDocumentMargin(0)
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        document.setDefaultTextOption(option)
        self.setDocument(document)
        self._role: TypeRole = role
        self._text = ""
        self._markdown = False
        self._pictures: tuple[PairPicture, ...] = ()
        self.in_text = PicturesInText(self)
        self._restyle()

    @property
    def text(self) -> str:
        """The text as it is."""
        return self._text

    @property
    def markdown(self) -> bool:
        """It is shown as Markdown: wanted, and not too long for it."""
        return self._markdown and len(self._text) <= MOST_MARKDOWN

    def show_text(self, text: str, *, markdown: bool = False, pictures: Sequence[PairPicture] = ()) -> None:
        """Shows a text from its beginning, with those of the pictures that it holds."""
        shown = (text, markdown, tuple(pictures))
        if shown != (self._text, self._markdown, self._pictures) or not self._text:
            self._text, self._markdown, self._pictures = shown
            self._fill()
        self.verticalScrollBar().setValue(0)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if self._theme_watch.is_new(event):
            self._restyle()

    def _restyle(self) -> None:
        self.document().setDefaultFont(current_theme().font(self._role))
        self._fill()

    def height_for(self, lines: int) -> int:
        """The height in px that the text needs at its present width, at most that of so many lines."""
        line = current_theme().line_height(self._role)
        self.document().setTextWidth(self.viewport().width())
        needed = round(self.document().size().height()) if self._text else line
        most = lines * line + (current_theme().px(self.in_text.most_height) if self.in_text else 0)
        return min(max(needed, line), most) + 2 * self.frameWidth()

    def _fill(self) -> None:
        text = self.in_text.marked(self._text, self._pictures)
        DocumentWriter(self.document(), self._role).write(text, markdown=self.markdown)
        self.in_text.place()


def theme_points(points: float) -> float:
    """A size of the design in the points that Qt reads at the screen's resolution."""
    theme = current_theme()
    return points * theme.scale * 96 / theme.dpi
