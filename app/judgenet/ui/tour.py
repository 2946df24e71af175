"""A tour of two minutes: a few sentences a page, beside the page that they are about."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from judgenet.ui.document import Document
from judgenet.ui.elements import label
from judgenet.ui.measures import measure
from judgenet.ui.navigation import Navigator, PageKey
from judgenet.ui.theme import current_theme
from judgenet.ui.widgets import set_kind

STEPS: Final[tuple[tuple[PageKey, str, str], ...]] = (
    (
        "welcome",
        "A network of judges",
        "A question has two answers, A and B. Each neuron of layer 1 judges them in one role, in both orders. Each "
        "neuron of the next layer reads those evaluations and judges again. In the end all neurons vote.",
    ),
    (
        "design",
        "Design",
        "Drag the handle under a layer to change its width, press + between two columns to add a layer, drag from the "
        "edge of a neuron to wire by hand. Select a neuron to change its role and model. Its cost is shown below.",
    ),
    (
        "data",
        "Data",
        "Drop a file of pairs on the window. You see how its columns were read and confirm what its labels mean "
        "before anything is imported.",
    ),
    (
        "labels",
        "Labels",
        "Choose the better response with A, T (tie) or B, without seeing names or verdicts. Labels of randomly drawn "
        "pairs correct the win rate and give it an interval.",
    ),
    (
        "run",
        "Run",
        "Press Run. Neurons answer layer by layer. Click one to read its evidence as it is written, the evaluations "
        "it received, and its prompt. A mark shows where the two orders disagree or a neuron changed its verdict.",
    ),
    (
        "results",
        "Results",
        "How often one response wins, corrected by people's labels, and how well the network agrees with people: with "
        "intervals, and always with the number of pairs behind it. The sliders show the verdicts of smaller networks.",
    ),
    (
        "bias",
        "Bias",
        "The lab measures the bias of each layer of the network by order, length, names, an invented majority or a "
        "planted score, compared with chance and with the single judge. Click a row to list its pairs.",
    ),
    (
        "report",
        "Report",
        "One file that says what was run and what came out. Ctrl+K finds everything else.",
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
        self.setAccessibleName("Two-minute tour")
        self._place = label("", tone="text3")
        self._title = label("", "section")
        self._text = label("", "evidence", wrap=True)
        self._close = QPushButton("Close")
        self._back = QPushButton("Back")
        self._next = QPushButton("Next")
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
        self._place.setText(f"{self._step + 1} of {len(STEPS)}")
        self._back.setEnabled(self._step > 0)
        self._next.setText("Done" if self._step + 1 == len(STEPS) else "Next")
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
