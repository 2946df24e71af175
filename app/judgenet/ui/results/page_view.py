"""The pages of a report as they will be printed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QByteArray, QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent, QWheelEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from judgenet.colors import LIGHT
from judgenet.core.wording import plural
from judgenet.report.writers.pdf import PAGE_H, PAGE_W
from judgenet.ui.results import texts
from judgenet.ui.theme import current_theme

_GAP: Final = 16
_MARGIN: Final = 24
_MOST_WIDTH: Final = 992
"""Pages are at most this many px wide at 100 %: text then has the size that it has in print."""
_KEPT: Final = 8
_ZOOMS: Final = (0.5, 2.0)
_STEP: Final = 1.15


class PageView(QAbstractScrollArea):
    """Shows pages below each other. A page is painted when it comes into view, and kept while it is near."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages: Sequence[bytes] = ()
        self._zoom = 1.0
        self._kept: OrderedDict[int, QPixmap] = OrderedDict()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(texts.REPORT_PREVIEW)

    def show_pages(self, pages: Sequence[bytes], words: str = "") -> None:
        """Sets the pages, each as SVG; ``words`` describe them to screen readers."""
        self._pages = pages
        self._kept.clear()
        self.setAccessibleName(texts.report_preview(plural(len(pages), "page")))
        self.setAccessibleDescription(words)
        self._measure()

    @property
    def page(self) -> int:
        """The page in view, from 0."""
        return max(0, min(len(self._pages) - 1, round((self.verticalScrollBar().value()) / self._pitch)))

    @property
    def count(self) -> int:
        """How many pages there are."""
        return len(self._pages)

    @property
    def _page_size(self) -> QSize:
        px = current_theme().px
        room = self.viewport().width() - 2 * px(_MARGIN)
        width = min(max(room, px(320)), px(_MOST_WIDTH)) * self._zoom
        return QSize(round(width), round(width * PAGE_H / PAGE_W))

    @property
    def _pitch(self) -> int:
        return self._page_size.height() + current_theme().px(_GAP)

    def zoom_by(self, factor: float) -> None:
        """Makes the pages larger or smaller within limits; the position in the document is kept."""
        zoom = max(_ZOOMS[0], min(_ZOOMS[1], self._zoom * factor))
        if zoom == self._zoom:
            return
        bar = self.verticalScrollBar()
        share = bar.value() / max(1, bar.maximum())
        self._zoom = zoom
        self._kept.clear()
        self._measure()
        bar.setValue(round(share * bar.maximum()))

    def go_to(self, page: int) -> None:
        """Scrolls to a page, counted from 0."""
        self.verticalScrollBar().setValue(max(0, min(len(self._pages) - 1, page)) * self._pitch)

    def _measure(self) -> None:
        px, size = current_theme().px, self._page_size
        height = len(self._pages) * self._pitch - px(_GAP) + 2 * px(_MARGIN) if len(self._pages) else 0
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, height - self.viewport().height()))
        bar.setPageStep(self.viewport().height())
        bar.setSingleStep(px(40))
        across = self.horizontalScrollBar()
        across.setRange(0, max(0, size.width() + 2 * px(_MARGIN) - self.viewport().width()))
        across.setPageStep(self.viewport().width())
        across.setSingleStep(px(40))
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._kept.clear()
        self._measure()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_by(_STEP if event.angleDelta().y() > 0 else 1 / _STEP)
            event.accept()
            return
        super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        match event.key():
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self.zoom_by(_STEP)
            case Qt.Key.Key_Minus:
                self.zoom_by(1 / _STEP)
            case Qt.Key.Key_0:
                self.zoom_by(1 / self._zoom)
            case Qt.Key.Key_Home:
                bar.setValue(0)
            case Qt.Key.Key_End:
                bar.setValue(bar.maximum())
            case _:
                super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        theme, px, size = current_theme(), current_theme().px, self._page_size
        painter.fillRect(event.rect(), theme.color("bg"))
        left = max(px(_MARGIN), (self.viewport().width() - size.width()) // 2) - self.horizontalScrollBar().value()
        top = px(_MARGIN) - self.verticalScrollBar().value()
        for number in range(len(self._pages)):
            box = QRect(left, top + number * self._pitch, size.width(), size.height())
            if not box.intersects(event.rect()):
                continue
            painter.drawPixmap(box.topLeft(), self._picture(number, size))
            painter.setPen(QPen(theme.color("line"), 1))
            painter.drawRect(QRectF(box).adjusted(-0.5, -0.5, 0.5, 0.5))

    def _picture(self, number: int, size: QSize) -> QPixmap:
        pixmap = self._kept.get(number)
        if pixmap is not None:
            self._kept.move_to_end(number)
            return pixmap
        ratio = self.devicePixelRatioF()
        pixmap = QPixmap(size * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(QColor(LIGHT.surface))
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        QSvgRenderer(QByteArray(self._pages[number])).render(painter, QRectF(QPointF(), QSizeF(size)))
        painter.end()
        self._kept[number] = pixmap
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return pixmap
