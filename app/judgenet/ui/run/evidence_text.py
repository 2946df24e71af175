"""Texts of models and of the data in the inspector, with the names of other judges as links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QSizePolicy, QTextBrowser, QWidget

from judgenet.core.evidence_highlights import mentions, sides
from judgenet.core.pairs import Order
from judgenet.core.pictures import PairPicture
from judgenet.ui.measures import measure
from judgenet.ui.pictures import PicturesInText
from judgenet.ui.run import texts
from judgenet.ui.text_view import DocumentWriter, showable
from judgenet.ui.theme import ThemeWatch, current_theme
from judgenet.ui.tokens import TypeRole

CURSOR: Final = (8.0, 16.0)
"""Width and height, in px at 100 %, of the block that marks where an answer is being written."""
_SCHEME: Final = "judge"


class Reference(NamedTuple):
    """The neuron to which a name leads; layer and neuron count from 1."""

    layer: int
    neuron: int


class Prose(QTextBrowser):
    """A text of a model or of the data. It is never taken for HTML, and nothing is loaded. Names of judges are links.

    Signals:
        reference_chosen: the :class:`Reference` whose name was clicked.
    """

    reference_chosen = Signal(object)

    def __init__(self, name: str, *, role: TypeRole = "evidence", parent: QWidget | None = None) -> None:
        """``name`` is the accessible name, ``role`` the step of the type scale."""
        self._theme_watch = ThemeWatch()
        super().__init__(parent)
        self._role: TypeRole = role
        self._said = ""
        self._markdown = False
        self._names: Sequence[str] = ()
        self._refer: Callable[[int], Reference] | None = None
        self._writing = False
        self._color = "text"
        self._order: Order | None = None
        self.setAccessibleName(name)
        self.setProperty("kind", "bare")
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
            | Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.document().setDocumentMargin(0)
        self.anchorClicked.connect(self._clicked)
        self._pictures: tuple[PairPicture, ...] = ()
        self.in_text = PicturesInText(self)
        measure(self, font=self._role)
        self._fill()

    def loadResource(self, _kind: int, _name: QUrl | str) -> Any:
        """Loads nothing, whatever a text refers to."""
        return None

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if self._theme_watch.is_new(event):
            self._fill()

    @property
    def said(self) -> str:
        """The text as given."""
        return self._said

    def say(
        self,
        text: str,
        *,
        markdown: bool = False,
        names: Sequence[str] = (),
        refer: Callable[[int], Reference] | None = None,
        writing: bool = False,
        color: str = "text",
        order: Order | None = None,
        pictures: Sequence[PairPicture] = (),
    ) -> None:
        """Shows a text.

        Args:
            markdown: read it as Markdown, once it is complete.
            names: names of judges that become links, by place.
            refer: the neuron to which the name at a place leads.
            writing: more of the text is to come.
            color: the colour of the theme for the text.
            order: colours the names that the responses had in a prompt of this order in those of A and B.
            pictures: the pictures of the pair; those that the text names are shown in it.
        """
        same = (markdown and not writing, tuple(names) if refer else (), color, order, tuple(pictures)) == (
            self._markdown,
            tuple(self._names) if self._refer else (),
            self._color,
            self._order,
            self._pictures,
        )
        before, self._said = self._said, text
        was_writing, self._writing = self._writing, writing
        if same and text == before and writing == was_writing:
            return
        if same and writing and was_writing and before and text.startswith(before):
            self._append(text[len(before) :])
            return
        self._markdown = markdown and not writing
        self._names, self._refer, self._color, self._order = names, refer, color, order
        self._pictures = tuple(pictures)
        self._fill()

    def _append(self, more: str) -> None:
        bar = self.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(showable(more))
        if at_end:
            bar.setValue(bar.maximum())
        self.viewport().update()
        self.updateGeometry()

    def _fill(self) -> None:
        document, theme = self.document(), current_theme()
        document.setDefaultFont(theme.font(self._role))
        text = self.in_text.marked(self._said, self._pictures)
        DocumentWriter(document, self._role).write(text, markdown=self._markdown)
        if self._markdown:
            self._unlink()
        if self._color != "text":
            cursor = QTextCursor(document)
            cursor.select(QTextCursor.SelectionType.Document)
            form = QTextCharFormat()
            form.setForeground(theme.color(self._color))
            cursor.mergeCharFormat(form)
        self._link()
        self.in_text.place()
        self.viewport().update()
        self.updateGeometry()

    def _unlink(self) -> None:
        """Removes the links that the text itself has: only names of judges may lead somewhere."""
        spans: list[tuple[int, int]] = []
        block = self.document().begin()
        while block.isValid():
            fragments = block.begin()
            while not fragments.atEnd():
                fragment = fragments.fragment()
                if fragment.charFormat().isAnchor():
                    spans.append((fragment.position(), fragment.position() + fragment.length()))
                fragments += 1
            block = block.next()
        plain = QTextCharFormat()
        plain.setAnchor(False)
        plain.setAnchorHref("")
        plain.setFontUnderline(False)
        plain.setForeground(current_theme().color(self._color))
        for start, end in spans:
            cursor = QTextCursor(self.document())
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeCharFormat(plain)

    def _link(self) -> None:
        text = self.document().toPlainText()
        if self._order is not None and not self._writing:
            for side in sides(text, self._order):
                form = QTextCharFormat()
                form.setForeground(current_theme().color(side.response))
                form.setToolTip(texts.response(side.response.upper()))
                self._merge(text, side.start, side.end, form)
        if self._refer is None or not self._names:
            return
        for mention in mentions(text, self._names):
            reference = self._refer(mention.name)
            form = QTextCharFormat()
            form.setAnchor(True)
            form.setAnchorHref(f"{_SCHEME}:{reference.layer}/{reference.neuron}")
            form.setForeground(current_theme().color("accent"))
            form.setFontUnderline(True)
            self._merge(text, mention.start, mention.end, form)

    def _merge(self, text: str, start: int, end: int, form: QTextCharFormat) -> None:
        # Positions in a document count UTF-16 units.
        first = len(text[:start].encode("utf-16-le", "surrogatepass")) // 2
        length = len(text[start:end].encode("utf-16-le", "surrogatepass")) // 2
        cursor = QTextCursor(self.document())
        cursor.setPosition(first)
        cursor.setPosition(first + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(form)

    def _clicked(self, url: QUrl) -> None:
        if url.scheme() == _SCHEME:
            layer, _, neuron = url.path().partition("/")
            self.reference_chosen.emit(Reference(int(layer), int(neuron)))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._writing:
            return
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        at = self.cursorRect(cursor)
        scale = current_theme().scale
        painter = QPainter(self.viewport())
        top = at.center().y() - CURSOR[1] * scale / 2
        block = QRectF(at.x() + 2 * scale, top, CURSOR[0] * scale, CURSOR[1] * scale)
        painter.fillRect(block, current_theme().color("accent"))


class FittedProse(Prose):
    """A text that is as high as it needs; with ``lines`` at most so many lines, and it scrolls beyond them."""

    def __init__(
        self,
        name: str,
        *,
        role: TypeRole = "body",
        lines: int | None = None,
        parent: QWidget | None = None,
    ) -> None:
        self._lines = lines
        self._fitted: tuple[int, int] | None = None
        super().__init__(name, role=role, parent=parent)
        if lines is None:
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def _fill(self) -> None:
        self._fitted = None
        super()._fill()

    def _append(self, more: str) -> None:
        self._fitted = None
        super()._append(more)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if self._fitted is not None and self._fitted[0] == width:
            return self._fitted[1]
        document = self.document()
        before = document.textWidth()
        if before != width:
            document.setTextWidth(width)
        height = round(document.size().height() + 0.49)
        if before != width:
            document.setTextWidth(before)
        if self._lines is not None:
            most = self._lines * current_theme().line_height(self._role)
            height = min(height, most + (current_theme().px(self.in_text.most_height) if self.in_text else 0))
        self._fitted = (width, height if self._said else 0)
        return self._fitted[1]

    def sizeHint(self) -> QSize:
        return QSize(current_theme().px(160), self.heightForWidth(max(self.width(), current_theme().px(80))))

    def minimumSizeHint(self) -> QSize:
        return QSize(current_theme().px(40), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.updateGeometry()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        event.accept()
