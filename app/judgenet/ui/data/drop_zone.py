"""The page Data without pairs: a frame on which files may be dropped."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from judgenet.ui.elements import label, link
from judgenet.ui.empty import EmptyState
from judgenet.ui.measures import measure
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import RADIUS_PANEL

_MARGIN = 24


class DropZone(EmptyState):
    """What a pair is, and the ways to get some; a dashed frame shows where files may be dropped."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("data", parent)
        self.setAccessibleName("No pairs yet")
        self._over = False
        self.sentence.setProperty("type", "section")
        self.say_why(
            "No pairs yet",
            "A pair is a question with two responses and, where there is one, what people said. "
            "Drop a file or a folder here, or choose one.",
        )
        self.button.setAccessibleName("Choose a file of pairs")
        self.more.setAccessibleName("Choose a folder of pairs")
        self.example = link("Use the example pairs")
        self.buttons.insertWidget(2, self.example)
        forms = label(
            "JSON Lines, JSON, CSV, TSV, Excel, Parquet, or a zip of these. Published sets (LLMEval², FairEval, "
            "PandaLM, LLMBar, JudgeBench, Chatbot Arena and others) are known by their content.",
            tone="text3",
            wrap=True,
        )
        self.column.insertWidget(self.column.count() - 1, forms)
        measure(self.column, margins=2 * _MARGIN + 8)
        measure(self.buttons, spacing=12)
        measure(forms, max_width=560)

    def say_why(self, title: str, text: str) -> None:
        """Says why there are no pairs."""
        self.say(title, text, "Choose a file…", primary=True, more="Choose a folder…")

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
        painter.setBrush(theme.color("accentTint") if self._over else Qt.BrushStyle.NoBrush)
        gap, radius = theme.px(_MARGIN), theme.px(RADIUS_PANEL)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(gap, gap, -gap, -gap), radius, radius)
