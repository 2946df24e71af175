"""What stands where pairs will be: how to bring them here, and how far they are read."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from judgenet.core.wording import whole_percent
from judgenet.ui.elements import IconLabel, label, link
from judgenet.ui.measures import measure
from judgenet.ui.tasks import Job
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import ICON_EMPTY, RADIUS_PANEL
from judgenet.ui.widgets import set_kind


def _centred(outer: QWidget, inner: QWidget) -> None:
    """Puts a widget into the middle of another; wrapped texts keep the height they need."""
    row = QHBoxLayout()
    row.addStretch(1)
    row.addWidget(inner, stretch=1000)
    row.addStretch(1)
    column = QVBoxLayout(outer)
    column.addStretch(1)
    column.addLayout(row)
    column.addStretch(1)


class DropZone(QWidget):
    """The page without pairs; a dashed frame shows where files may be dropped."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("No pairs yet")
        self._over = False
        self._icon = IconLabel("data", side=ICON_EMPTY)
        self.title = label("No pairs yet", "section")
        self.text = label(
            "A pair is a question with two responses and, where there is one, what people said. "
            "Drop a file or a folder here, or choose one.",
            tone="text2",
            wrap=True,
        )
        self.choose = QPushButton("Choose a file…")
        set_kind(self.choose, "primary")
        self.choose.setAccessibleName("Choose a file of pairs")
        self.folder = QPushButton("Choose a folder…")
        self.folder.setAccessibleName("Choose a folder of pairs")
        self.example = link("Use the example pairs")
        self.forms = label(
            "JSON Lines, JSON, CSV, TSV, Excel, Parquet, or a zip of these. Published sets (LLMEval², FairEval, "
            "PandaLM, LLMBar, JudgeBench, Chatbot Arena and others) are known by their content.",
            tone="text3",
            wrap=True,
        )
        self._buttons = QHBoxLayout()
        for widget in (self.choose, self.folder, self.example):
            self._buttons.addWidget(widget, alignment=Qt.AlignmentFlag.AlignVCenter)
        self._buttons.addStretch(1)
        self._inner = QWidget()
        self._column = QVBoxLayout(self._inner)
        self._column.addWidget(self._icon)
        self._column.addWidget(self.title)
        self._column.addWidget(self.text)
        self._column.addLayout(self._buttons)
        self._column.addWidget(self.forms)
        _centred(self, self._inner)
        measure(self._inner, max_width=520, min_width=360)
        measure(self._column, margins=0, spacing=12)
        measure(self._buttons, spacing=12)

    def say(self, title: str, text: str) -> None:
        """Says why there are no pairs."""
        self.title.setText(title)
        self.text.setText(text)

    def set_over(self, over: bool) -> None:
        """Files are held over the page."""
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
        if self._over:
            painter.setBrush(theme.color("accentTint"))
        gap = theme.px(24)
        radius = theme.px(RADIUS_PANEL)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(gap, gap, -gap, -gap), radius, radius)


class Loading(QWidget):
    """Work that the page waits for: what it is, how far it is, and Stop."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._job: Job | None = None
        self.title = label(kind="section")
        self.text = label(tone="text2")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress")
        self.stop = QPushButton("Stop")
        self.stop.setAccessibleName("Stop loading")
        self.stop.clicked.connect(self._stop)
        self._inner = QWidget()
        self._column = QVBoxLayout(self._inner)
        self._column.setContentsMargins(0, 0, 0, 0)
        for widget in (self.title, self.bar, self.text):
            self._column.addWidget(widget)
        self._column.addWidget(self.stop, alignment=Qt.AlignmentFlag.AlignLeft)
        _centred(self, self._inner)
        measure(self._inner, width=400)
        measure(self._column, spacing=12)

    def follow(self, job: Job | None, title: str) -> None:
        """Shows a job's progress; without a job only its title."""
        self.title.setText(title)
        if job is not self._job:
            self._job = job
            if job is not None:
                job.progressed.connect(self._progressed)
        self.stop.setVisible(job is not None)
        self._progressed(None if job is None else job.share, "")

    def _progressed(self, share: float | None, _text: str) -> None:
        if share is None:
            self.bar.setRange(0, 0)
            self.text.setText("")
        else:
            self.bar.setRange(0, 1000)
            self.bar.setValue(round(1000 * share))
            self.text.setText(whole_percent(share))

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel()
