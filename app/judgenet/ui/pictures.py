"""Pictures of pairs in texts that are read: loaded and scaled off the interface's thread, shown in their places, and
opened large by a click or the Return key."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QRectF, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QGuiApplication,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QPixmap,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextImageFormat,
)
from PySide6.QtWidgets import QDialog, QLabel, QTextEdit, QVBoxLayout, QWidget

from judgenet.core.pairs import Pair
from judgenet.core.pictures import PairPicture, PlacedPicture, text_parts
from judgenet.formats.errors import DataError
from judgenet.formats.pictures import small_copy
from judgenet.store.db import Store
from judgenet.store.pictures import picture_bytes
from judgenet.ui import texts
from judgenet.ui.measures import measure
from judgenet.ui.theme import current_theme

SHOWN_EDGE: Final = 900
"""Pixels of a picture's longer side as it is kept for texts."""
_LARGE_EDGE: Final = 2400
_MOST_BYTES: Final = 160_000_000
"""Bytes of images that are kept."""
PICTURE_HEIGHT: Final = 320
"""The most height of a picture in a text, in px at 100 %."""
_SCHEME: Final = "judgenet-picture"
_OPEN, _CLOSE = "\ue0f0", "\ue0f1"
_TOKEN: Final = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_BESIDE_WORDS: Final = 2.0
"""A picture higher than so many lines has a line of its own."""
_SPACE: Final = 4
_LEAST_HEIGHT: Final = 120
_LINE_BREAK: Final = "\u2028"
_LINE_ENDS: Final = ("\u2028", "\u2029", "\x00", "")
_SCREEN_SHARE: Final = 0.85

Stores = Callable[[], Iterable[Store]]


class PictureLoader(QObject):
    """Loads pictures in threads and keeps what is shown again and again.

    Attributes:
        stores: where pictures of recorded runs are looked for.

    Signals:
        loaded: a picture (its hash) that was asked for is there now, or cannot be had.
    """

    loaded = Signal(str)
    _came = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.stores: Stores = tuple
        self._files: dict[str, PairPicture] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._kept: OrderedDict[tuple[str, int], QImage] = OrderedDict()
        self._size = 0
        self._missing: dict[str, str] = {}
        self._asked: set[tuple[str, int]] = set()
        self._came.connect(self._take)

    def image(self, picture: PairPicture, largest: int = SHOWN_EDGE) -> QImage | None:
        """A picture with no side above ``largest`` pixels; ``None`` where it is being loaded, or cannot be had."""
        key = (picture.sha256, largest)
        image = self._kept.get(key)
        if image is not None:
            self._kept.move_to_end(key)
        elif key not in self._asked and picture.sha256 not in self._missing:
            self._asked.add(key)
            if self._pool is None:
                self._pool = ThreadPoolExecutor(2, thread_name_prefix="judgenet-pictures")
            stores = tuple(self.stores())
            self._pool.submit(self._load, self._files.get(picture.sha256, picture), largest, stores)
        return image

    def why_missing(self, picture: PairPicture) -> str:
        """Why a picture cannot be shown, empty where it can or is being loaded."""
        return self._missing.get(picture.sha256, "")

    def know(self, pairs: Iterable[Pair]) -> None:
        """Sets where the pictures of a project's pairs were read, since a recorded pair has only their hashes. Missing
        pictures are looked for again."""
        self._files = {picture.sha256: picture for pair in pairs if pair.pictures for picture in pair.pictures}
        self._missing.clear()

    def close(self) -> None:
        """Ends the threads; what they do is not waited for."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _load(self, picture: PairPicture, largest: int, stores: tuple[Store, ...]) -> None:
        key = (picture.sha256, largest)
        try:
            image = QImage.fromData(small_copy(picture_bytes(picture, stores), largest).data)
            self._came.emit(key, texts.BYTES_CANNOT_BE_SHOWN if image.isNull() else image)
        except DataError as error:
            self._came.emit(key, error.problem)
        except Exception as error:  # a thread's failure would be lost
            self._came.emit(key, texts.cannot_be_shown(type(error).__name__))

    def _take(self, key: tuple[str, int], came: QImage | str) -> None:
        self._asked.discard(key)
        if isinstance(came, str):
            self._missing[key[0]] = came
        else:
            self._kept[key] = came
            self._size += came.sizeInBytes()
            while self._size > _MOST_BYTES and len(self._kept) > 1:
                self._size -= self._kept.popitem(last=False)[1].sizeInBytes()
        self.loaded.emit(key[0])


_loader: PictureLoader | None = None


def loader() -> PictureLoader:
    """The loader of pictures that the whole program shares."""
    global _loader
    if _loader is None:
        _loader = PictureLoader(QCoreApplication.instance())
    return _loader


class _Spot(NamedTuple):
    """A picture's place in a document."""

    position: int
    placed: PlacedPicture


class PicturesInText(QObject):
    """The pictures of a text view: puts them into its document, and opens one that is clicked.

    Attributes:
        most_height: of a picture, in px at 100 %.
        within_view: no picture is higher than the view, so that two can be compared; not for a view that is as high as
            what it shows.
    """

    def __init__(self, view: QTextEdit, most_height: int = PICTURE_HEIGHT) -> None:
        super().__init__(view)
        self._view = view
        self.most_height = most_height
        self.within_view = False
        self._placed: list[PlacedPicture] = []
        self._spots: list[_Spot] = []
        self._room = QSize()
        self._connected = False
        view.installEventFilter(self)
        view.viewport().installEventFilter(self)

    def __bool__(self) -> bool:
        return bool(self._placed)

    def marked(self, text: str, pictures: Sequence[PairPicture]) -> str:
        """A text with marks in place of its placeholders, to be written into the document; :meth:`place` follows."""
        self._placed, self._spots = [], []
        if not pictures:
            return text
        marked = ""
        for part in text_parts(text, pictures):
            if isinstance(part, str):
                marked += part
            else:
                marked += f"{_OPEN}{len(self._placed)}{_CLOSE}"
                self._placed.append(part)
        return marked

    def place(self) -> None:
        """Puts the pictures in place of their marks."""
        self._spots = []
        if not self._placed:
            self._view.setAccessibleDescription("")
            return
        if not self._connected:
            self._connected = True
            loader().loaded.connect(self._loaded)
        document = self._view.document()
        text = document.toPlainText()
        # From the end, so that what stands before keeps its place.
        for token in reversed(list(_TOKEN.finditer(text))):
            placed = self._placed[min(int(token[1]), len(self._placed) - 1)]
            # Positions in a document count UTF-16 units.
            start = len(text[: token.start()].encode("utf-16-le", "surrogatepass")) // 2
            cursor = QTextCursor(document)
            cursor.setPosition(start)
            cursor.setPosition(start + len(token[0]), QTextCursor.MoveMode.KeepAnchor)
            alone = self._stands_alone(self._fitting(placed.picture))
            after = alone and document.characterAt(cursor.position()) not in _LINE_ENDS
            before = alone and start > 0 and document.characterAt(start - 1) not in _LINE_ENDS
            cursor.removeSelectedText()
            if before:
                cursor.insertText(_LINE_BREAK)
            cursor.insertImage(self._format(placed))
            if after:
                cursor.insertText(_LINE_BREAK, QTextCharFormat())
        self._spots = self._found()
        words = ", ".join(f"{placed.name[1:-1]}: {placed.picture.words}" for placed in self._placed)
        self._view.setAccessibleDescription(texts.return_opens_the_first(words))
        self._room = self._view_size()

    @staticmethod
    def _stands_alone(size: QSize) -> bool:
        """Whether a picture has a line of its own."""
        return size.height() > _BESIDE_WORDS * current_theme().line_height("body")

    def _found(self) -> list[_Spot]:
        """Where the pictures stand in the document."""
        by_hash = {placed.picture.sha256: placed for placed in self._placed}
        spots = []
        block = self._view.document().begin()
        while block.isValid():
            fragments = block.begin()
            while not fragments.atEnd():
                fragment = fragments.fragment()
                form = fragment.charFormat()
                placed = by_hash.get(form.toImageFormat().name().removeprefix(f"{_SCHEME}:"))
                if form.isImageFormat() and placed is not None:
                    spots += [_Spot(fragment.position() + at, placed) for at in range(fragment.length())]
                fragments += 1
            block = block.next()
        return spots

    def _format(self, placed: PlacedPicture) -> QTextImageFormat:
        picture = placed.picture
        size = self._fitting(picture)
        name = f"{_SCHEME}:{picture.sha256}"
        form = QTextImageFormat()
        form.setName(name)
        form.setWidth(size.width())
        form.setHeight(size.height() + 2 * self._space(size))
        form.setAnchor(True)
        form.setAnchorHref(name)
        form.setToolTip(f"{placed.name[1:-1]}: {picture.words}")
        self._dress(self._view.document(), picture, size)
        return form

    def _fitting(self, picture: PairPicture) -> QSize:
        """The size in which a picture is shown: its own, or smaller to fit into the view."""
        theme = current_theme()
        room = self._view_size()
        wide = max(theme.px(48), room.width() - theme.px(8))
        high = theme.px(self.most_height)
        if self.within_view:
            high = min(high, max(theme.px(_LEAST_HEIGHT), room.height() - theme.px(2 * _SPACE)))
        scale = min(theme.scale, wide / picture.width, high / picture.height)
        # What is thinner than a stroke could not be found.
        least = theme.px(6)
        return QSize(max(least, round(picture.width * scale)), max(least, round(picture.height * scale)))

    def _dress(self, document: QTextDocument, picture: PairPicture, size: QSize) -> None:
        image, ratio = loader().image(picture), self._view.devicePixelRatioF()
        if image is None:
            image = _stand_in(size, loader().why_missing(picture), ratio)
        else:
            # A document would scale it coarsely.
            smooth = Qt.TransformationMode.SmoothTransformation
            image = image.scaled(size * ratio, Qt.AspectRatioMode.IgnoreAspectRatio, smooth)
            image.setDevicePixelRatio(ratio)
        if space := self._space(size):
            image = _spaced(image, size, space, ratio)
        document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(f"{_SCHEME}:{picture.sha256}"), image)

    def _space(self, size: QSize) -> int:
        """The space over and under a picture, in px."""
        return current_theme().px(_SPACE) if self._stands_alone(size) else 0

    def _view_size(self) -> QSize:
        """The room that pictures have; where the view is as high as they are, its height says nothing."""
        size = self._view.viewport().size()
        return size if self.within_view else QSize(size.width(), 0)

    def refit(self) -> None:
        """Fits the pictures to another size of the view."""
        room = self._view_size()
        if not self._spots or room == self._room:
            return
        self._room = room
        for spot in self._spots:
            cursor = QTextCursor(self._view.document())
            cursor.setPosition(spot.position)
            cursor.movePosition(QTextCursor.MoveOperation.NextCharacter, QTextCursor.MoveMode.KeepAnchor)
            cursor.setCharFormat(self._format(spot.placed))

    def _loaded(self, sha256: str) -> None:
        picture = next((placed.picture for placed in self._placed if placed.picture.sha256 == sha256), None)
        if picture is not None:
            document = self._view.document()
            self._dress(document, picture, self._fitting(picture))
            document.markContentsDirty(0, document.characterCount())
            self._view.viewport().update()

    # Opening one

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not self._placed:
            return False
        if isinstance(event, QResizeEvent) and watched is self._view.viewport():
            self.refit()
        elif isinstance(event, QMouseEvent) and watched is self._view.viewport():
            return self._mouse(event)
        elif (
            isinstance(event, QKeyEvent)
            and watched is self._view
            and event.type() == QEvent.Type.KeyPress
            and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        ):
            self.open(self._placed[0])
            return True
        return False

    def _mouse(self, event: QMouseEvent) -> bool:
        placed = self._at(event)
        shape = Qt.CursorShape.PointingHandCursor if placed is not None else Qt.CursorShape.IBeamCursor
        if event.type() == QEvent.Type.MouseMove and self._view.viewport().cursor().shape() != shape:
            self._view.viewport().setCursor(shape)
        clicked = event.type() == QEvent.Type.MouseButtonRelease and event.button() == Qt.MouseButton.LeftButton
        if clicked and placed is not None and not self._view.textCursor().hasSelection():
            self.open(placed)
            return True
        return False

    def _at(self, event: QMouseEvent) -> PlacedPicture | None:
        href = self._view.anchorAt(event.position().toPoint())
        sha256 = href.removeprefix(f"{_SCHEME}:") if href.startswith(f"{_SCHEME}:") else ""
        return next((placed for placed in self._placed if placed.picture.sha256 == sha256), None)

    def open(self, placed: PlacedPicture) -> None:
        """Shows a picture large."""
        PictureDialog(placed, self._view.accessibleName(), self._view.window()).open()


def _stand_in(size: QSize, why: str, ratio: float) -> QImage:
    """What stands in the place of a picture that is being loaded, or cannot be had."""
    theme = current_theme()
    image = QImage(size * ratio, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(theme.color("bg"))
    painter = QPainter(image)
    painter.setPen(QPen(theme.color("line"), 1))
    frame = QRectF(0.5, 0.5, size.width() - 1, size.height() - 1)
    painter.drawRect(frame)
    if why:
        painter.setPen(theme.color("text2"))
        painter.setFont(theme.font("body"))
        inside = frame.adjusted(8, 8, -8, -8)
        flags = Qt.AlignmentFlag.AlignCenter.value | Qt.TextFlag.TextWordWrap.value
        painter.drawText(inside, flags, texts.not_shown(why))
    painter.end()
    return image


def _spaced(image: QImage, size: QSize, space: int, ratio: float) -> QImage:
    """An image with empty space over and under it."""
    spaced = QImage(QSize(size.width(), size.height() + 2 * space) * ratio, QImage.Format.Format_ARGB32_Premultiplied)
    spaced.setDevicePixelRatio(ratio)
    spaced.fill(Qt.GlobalColor.transparent)
    painter = QPainter(spaced)
    painter.drawImage(0, space, image)
    painter.end()
    return spaced


class PictureDialog(QDialog):
    """One picture, as large as the screen allows."""

    def __init__(self, placed: PlacedPicture, text_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        picture = placed.picture
        self._picture = picture
        title = placed.name[1:-1].capitalize()
        if text_name:
            title = texts.picture_of(title, text_name)
        self.setWindowTitle(f"{title}: {picture.words}")
        self.view = QLabel()
        self.view.setAccessibleName(self.windowTitle())
        self.view.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.view.setWordWrap(True)
        column = QVBoxLayout(self)
        column.addWidget(self.view)
        measure(column, margins=16)
        screen = parent.screen() if parent is not None else QGuiApplication.primaryScreen()
        room = screen.availableSize() * _SCREEN_SHARE
        scale = min(max(1.0, current_theme().scale), room.width() / picture.width, room.height() / picture.height)
        least = current_theme().px(160)
        self._shown = QSize(max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
        self.view.setMinimumSize(self._shown.expandedTo(QSize(least, least)))
        loader().loaded.connect(self._loaded)
        self._show()

    def _loaded(self, sha256: str) -> None:
        if sha256 == self._picture.sha256:
            self._show()

    def _show(self) -> None:
        image = loader().image(self._picture, _LARGE_EDGE)
        if image is None:
            self.view.setText(loader().why_missing(self._picture) or texts.LOADING_THE_PICTURE)
            return
        ratio = self.devicePixelRatioF()
        smooth = Qt.TransformationMode.SmoothTransformation
        scaled = image.scaled(self._shown * ratio, Qt.AspectRatioMode.IgnoreAspectRatio, smooth)
        scaled.setDevicePixelRatio(ratio)
        self.view.setPixmap(QPixmap.fromImage(scaled))
