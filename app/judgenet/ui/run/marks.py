"""Small painted marks: scores with their chips, and the mark of a changed mind."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from judgenet.core.pairs import Verdict
from judgenet.core.wording import score_text
from judgenet.ui.canvas.descriptions import SPOKEN
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.paint import draw_change, draw_chip
from judgenet.ui.theme import Theme


class ChangeMark(QWidget):
    """Old and new letter of a changed mind."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._change: tuple[Verdict, Verdict] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("No change")
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Draws in another theme."""
        self._theme = theme
        self.updateGeometry()
        self.update()

    def say(self, old: Verdict | None, new: Verdict | None) -> None:
        """Shows a change; nothing where there is none."""
        self._change = (old, new) if old is not None and new is not None and old != new else None
        self.setVisible(self._change is not None)
        if self._change is not None:
            words = f"Changed its mind from {SPOKEN[self._change[0]]} to {SPOKEN[self._change[1]]}"
            self.setAccessibleName(words)
            self.setToolTip(words)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(58), self._theme.px(20))

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._change is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(self._theme.scale, self._theme.scale)
        draw_change(painter, Ink.of(self._theme), 0, 0, *self._change)


class ScoreRow(QWidget):
    """The chips of A and B, each with its score; the higher one is stronger."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._scores: tuple[float | None, float | None] = (None, None)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("No scores")

    def set_theme(self, theme: Theme) -> None:
        """Draws in another theme."""
        self._theme = theme
        self.updateGeometry()
        self.update()

    def say(self, a: float | None, b: float | None) -> None:
        """Shows scores."""
        self._scores = (a, b)
        self.setAccessibleName(f"A {score_text(a)}, B {score_text(b)}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(128), self._theme.px(24))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(self._theme.scale, self._theme.scale)
        ink = Ink.of(self._theme)
        a, b = self._scores
        sides: tuple[tuple[Verdict, float | None, float | None], ...] = (("a", a, b), ("b", b, a))
        for place, (side, score, other) in enumerate(sides):
            x = 66.0 * place
            draw_chip(painter, ink, QRectF(x, 2, 20, 20), side)
            strong = score is not None and other is not None and score > other
            ink.text(painter, x + 30, 17, score_text(score), "figure" if strong else "body", tabular=True)


def chip_icon(theme: Theme, verdict: Verdict | None) -> QIcon:
    """A verdict's chip as an icon for a button; ``None`` is the dashed dash."""
    ratio = 2.0
    width, height = round(24 * theme.scale), round(20 * theme.scale)
    picture = QPixmap(round(width * ratio), round(height * ratio))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(ratio * theme.scale, ratio * theme.scale)
    draw_chip(painter, Ink.of(theme), QRectF(0, 0, 24, 20), verdict)
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return QIcon(picture)
