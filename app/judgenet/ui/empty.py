"""Placeholders of a page that has nothing to show yet: an empty state, or the progress of reading."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOption,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.wording import whole_percent
from judgenet.ui import texts
from judgenet.ui.elements import IconLabel, label
from judgenet.ui.measures import measure
from judgenet.ui.tasks import Job
from judgenet.ui.tokens import ICON_EMPTY, PAGE_MARGIN
from judgenet.ui.widgets import set_kind


class EmptyState(QFrame):
    """An empty state: one sentence that says what would be here, and one button that makes it."""

    def __init__(self, icon_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.picture = IconLabel(icon_name, side=ICON_EMPTY)
        self.sentence = label("", wrap=True)
        self.note = label("", tone="text2", wrap=True)
        self.button = QPushButton(self)
        self.more = QPushButton(self)
        for button in (self.button, self.more):
            button.setAccessibleName(texts.NOTHING_TO_DO)
            button.hide()
        self._do: Callable[[], object] | None = None
        self._do_more: Callable[[], object] | None = None
        self.button.clicked.connect(self._clicked)
        self.more.clicked.connect(self._clicked_more)
        column = QVBoxLayout(self)
        column.addStretch(2)
        for widget in (self.picture, self.sentence, self.note):
            column.addWidget(widget)
        self.buttons = QHBoxLayout()
        self.buttons.addWidget(self.button)
        self.buttons.addWidget(self.more)
        self.buttons.addStretch(1)
        column.addLayout(self.buttons)
        column.addStretch(3)
        self.column = column
        measure(column, margins=PAGE_MARGIN, spacing=12)
        for words in (self.sentence, self.note):
            measure(words, max_width=560)

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
        self.more.setAccessibleName(more.rstrip("…") or texts.NOTHING_MORE_TO_DO)
        self.more.setVisible(bool(more))
        self._do_more = do_more
        self.sentence.setText(sentence)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.button.setText(button)
        self.button.setAccessibleName(button or texts.NOTHING_TO_DO)
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


class Waiting(QWidget):
    """What a page waits for, its progress, and a button that stops it."""

    def __init__(self, what: str, parent: QWidget | None = None) -> None:
        """``what`` is read, in the words for screen readers."""
        super().__init__(parent)
        self._job: Job | None = None
        self._following = ""
        self.words = label("")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(texts.progress_of_reading(what))
        self.stop = QPushButton(texts.STOP)
        self.stop.setAccessibleName(texts.stop_reading(what))
        self.stop.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.stop.clicked.connect(self._stop)
        row = QHBoxLayout()
        row.addWidget(self.bar, 1)
        row.addWidget(self.stop)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.addStretch(2)
        column.addWidget(self.words)
        column.addLayout(row)
        column.addStretch(3)
        measure(column, margins=48, spacing=12)
        measure(self.bar, max_width=480)

    def show_share(self, share: float | None, words: str) -> None:
        """Shows how far it is; ``None`` where that is unknown."""
        self.bar.setRange(0, 0 if share is None else 1000)
        self.bar.setValue(0 if share is None else round(1000 * share))
        self.words.setText(words if share is None else f"{words}, {whole_percent(share)}")

    def follow(self, job: Job | None, words: str) -> None:
        """Shows a job's progress and lets it be stopped; without a job only the words."""
        self._following = words
        if job is not self._job:
            self._job = job
            if job is not None:
                job.progressed.connect(self._progressed)
        self.stop.setVisible(job is not None)
        self._progressed(None if job is None else job.share, "")

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def _progressed(self, share: float | None, _text: str) -> None:
        self.show_share(share, self._following)
