"""Small drawings: scores with their chips, a changed verdict, and chips as icons."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from judgenet.core.pairs import Verdict
from judgenet.core.wording import score_text
from judgenet.ui.canvas.descriptions import SPOKEN
from judgenet.ui.canvas.ink import Ink, scaled_painter
from judgenet.ui.canvas.paint import draw_change, draw_chip
from judgenet.ui.run import texts
from judgenet.ui.theme import current_theme

_CHIP: Final = (24, 20)
"""Width and height of a chip, in px at 100 %."""


class ChangeMark(QWidget):
    """The letters of the verdict before and after a change."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._change: tuple[Verdict, Verdict] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(texts.NO_CHANGE)
        self.hide()

    def say(self, old: Verdict | None, new: Verdict | None) -> None:
        """Shows a change of verdict; hides itself where there is none."""
        self._change = (old, new) if old is not None and new is not None and old != new else None
        self.setVisible(self._change is not None)
        if self._change is not None:
            words = texts.changed_mind(SPOKEN[self._change[0]], SPOKEN[self._change[1]])
            self.setAccessibleName(words)
            self.setToolTip(words)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(current_theme().px(58), current_theme().px(20))

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._change is None:
            return
        painter, ink = scaled_painter(self)
        draw_change(painter, ink, 0, 0, *self._change)


class ScoreRow(QWidget):
    """The chips of A and B, each with its score; the higher score is bold."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scores: tuple[float | None, float | None] = (None, None)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(texts.NO_SCORES)

    def say(self, a: float | None, b: float | None) -> None:
        """Shows the scores of A and B; ``None`` for a missing one."""
        self._scores = (a, b)
        self.setAccessibleName(texts.scores(score_text(a), score_text(b)))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(current_theme().px(128), current_theme().px(24))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, ink = scaled_painter(self)
        a, b = self._scores
        sides: tuple[tuple[Verdict, float | None, float | None], ...] = (("a", a, b), ("b", b, a))
        for place, (side, score, other_score) in enumerate(sides):
            x = 66.0 * place
            draw_chip(painter, ink, QRectF(x, 2, 20, 20), side)
            strong = score is not None and other_score is not None and score > other_score
            ink.text(painter, x + 30, 17, score_text(score), "figure" if strong else "body", tabular=True)


class _ChipEngine(QIconEngine):
    """Draws the chip of a verdict in the colours of the current theme."""

    def __init__(self, verdict: Verdict | None) -> None:
        super().__init__()
        self._verdict = verdict

    def paint(self, painter: QPainter, rect: QRect, _mode: QIcon.Mode, _state: QIcon.State) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(rect.topLeft())
        painter.scale(rect.width() / _CHIP[0], rect.height() / _CHIP[1])
        draw_chip(painter, Ink.of(current_theme()), QRectF(0, 0, *_CHIP), self._verdict)
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:
        picture = QPixmap(size * scale)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        self.paint(painter, picture.rect(), mode, state)
        painter.end()
        picture.setDevicePixelRatio(scale)
        return picture

    def clone(self) -> QIconEngine:
        return _ChipEngine(self._verdict)


def chip_icon(verdict: Verdict | None) -> QIcon:
    """The chip of a verdict as an icon for a button; ``None`` gives the dashed one without a verdict."""
    return QIcon(_ChipEngine(verdict))
