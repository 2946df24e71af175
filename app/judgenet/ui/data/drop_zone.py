"""The page Data without pairs: a frame onto which files can be dropped."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from judgenet.ui.data import texts
from judgenet.ui.elements import label, link
from judgenet.ui.empty import EmptyState
from judgenet.ui.measures import measure
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import RADIUS_PANEL

_MARGIN = 24


class DropZone(EmptyState):
    """Says what a pair is and how to load some; a dashed frame shows where files can be dropped."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("data", parent)
        self.setAccessibleName(texts.NO_PAIRS)
        self._over = False
        self.sentence.setProperty("type", "section")
        self.say_why(
            texts.NO_PAIRS,
            texts.WHAT_A_PAIR_IS,
        )
        self.button.setAccessibleName(texts.CHOOSE_FILE_NAME)
        self.more.setAccessibleName(texts.CHOOSE_FOLDER_NAME)
        self.example = link(texts.USE_EXAMPLE)
        self.buttons.insertWidget(2, self.example)
        forms = label(
            texts.FILE_FORMS,
            tone="text3",
            wrap=True,
        )
        self.column.insertWidget(self.column.count() - 1, forms)
        measure(self.column, margins=2 * _MARGIN + 8)
        measure(self.buttons, spacing=12)
        measure(forms, max_width=560)

    def say_why(self, title: str, text: str) -> None:
        """Shows why there are no pairs."""
        self.say(title, text, texts.CHOOSE_FILE, primary=True, more=texts.CHOOSE_FOLDER)

    def set_over(self, over: bool) -> None:
        """Shows whether files are being dragged over the page."""
        if over != self._over:
            self._over = over
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(theme.color("accent" if self._over else "line2"), theme.px(2) if self._over else 1)
        pen.setDashPattern([6, 4])
        painter.setPen(pen)
        painter.setBrush(theme.color("accentTint") if self._over else Qt.BrushStyle.NoBrush)
        gap, radius = theme.px(_MARGIN), theme.px(RADIUS_PANEL)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(gap, gap, -gap, -gap), radius, radius)
