"""A tour of two minutes: a few sentences a page, beside the page that they are about."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from judgenet.core.wording import of
from judgenet.ui import texts
from judgenet.ui.document import Document
from judgenet.ui.elements import label
from judgenet.ui.measures import measure
from judgenet.ui.navigation import Navigator, PageKey
from judgenet.ui.theme import current_theme
from judgenet.ui.widgets import set_kind

STEPS: Final[tuple[tuple[PageKey, str, str], ...]] = (
    (
        "welcome",
        texts.TOUR_NETWORK_TITLE,
        texts.TOUR_NETWORK,
    ),
    (
        "design",
        texts.DESIGN,
        texts.TOUR_DESIGN,
    ),
    (
        "data",
        texts.DATA,
        texts.TOUR_DATA,
    ),
    (
        "labels",
        texts.LABELS,
        texts.TOUR_LABELS,
    ),
    (
        "run",
        texts.RUN,
        texts.TOUR_RUN,
    ),
    (
        "results",
        texts.RESULTS,
        texts.TOUR_RESULTS,
    ),
    (
        "bias",
        texts.BIAS,
        texts.TOUR_BIAS,
    ),
    (
        "report",
        texts.REPORT,
        texts.TOUR_REPORT,
    ),
)
"""Page, title and text of each step."""


class Tour(QFrame):
    """A box at the lower left that leads from page to page."""

    def __init__(self, navigator: Navigator, document: Document, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self._navigator = navigator
        self._document = document
        self._step = 0
        self.setProperty("part", "popup")
        self.setAccessibleName(texts.TWO_MINUTE_TOUR)
        self._place = label("", tone="text3")
        self._title = label("", "section")
        self._text = label("", "evidence", wrap=True)
        self._close = QPushButton(texts.CLOSE)
        self._back = QPushButton(texts.BACK)
        self._next = QPushButton(texts.NEXT)
        set_kind(self._close, "flat")
        self._next.setDefault(True)
        row = QHBoxLayout()
        row.addWidget(self._place)
        row.addStretch(1)
        for button in (self._close, self._back, self._next):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.addWidget(self._title)
        column.addWidget(self._text, stretch=1)
        column.addLayout(row)
        self._column = column
        self._close.clicked.connect(self.hide)
        self._back.clicked.connect(self._go_back)
        self._next.clicked.connect(self._go_on)
        parent.installEventFilter(self)
        self.hide()
        measure(self._column, margins=16, spacing=8)

    def begin(self) -> None:
        """Shows the first step."""
        self._step = 0 if not self._document.is_open else 1
        # First, so that the text is measured in the letters that it is shown in.
        self.show()
        self._show()
        self._next.setFocus(Qt.FocusReason.OtherFocusReason)

    def _go_on(self) -> None:
        if self._step + 1 >= len(STEPS):
            self.hide()
            return
        self._step += 1
        self._show()

    def _go_back(self) -> None:
        self._step = max(0, self._step - 1)
        self._show()

    def _show(self) -> None:
        page, title, text = STEPS[self._step]
        self._title.setText(title)
        self._text.setText(text)
        self._place.setText(of(self._step + 1, len(STEPS)))
        self._back.setEnabled(self._step > 0)
        self._next.setText(texts.DONE if self._step + 1 == len(STEPS) else texts.NEXT)
        if self._document.is_open and page != "welcome":
            self._navigator.go(page)
        self._put()
        self.raise_()

    def _put(self) -> None:
        theme = current_theme()
        width = min(theme.px(440), self._over.width() - theme.px(48))
        self.setFixedWidth(width)
        # adjustSize() would stop at two thirds of the screen.
        self.resize(width, self._column.totalHeightForWidth(width))
        bottom = theme.px(32 + 72 + 16)
        self.move(theme.px(72 + 24), self._over.height() - self.height() - bottom)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._over and event.type() == QEvent.Type.Resize and self.isVisible():
            self._put()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
            return
        super().keyPressEvent(event)
