"""A drawing of the probabilities of one call: bars over the scale of scores for A and for B, and below them the three
verdicts as one bar."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from judgenet.core.evaluation import Evaluation, VerdictShares
from judgenet.core.pairs import Verdict
from judgenet.core.wording import percent, score_text
from judgenet.store.runs import FullCall
from judgenet.ui.canvas.ink import Ink, scaled_painter
from judgenet.ui.canvas.paint import draw_chip
from judgenet.ui.run import texts
from judgenet.ui.theme import current_theme

_LEFT: Final = 28
_RIGHT: Final = 44
_BARS: Final = 34
"""The height of the highest bar, in px at 100 %."""
_ROW: Final = _BARS + 12
_VERDICTS: Final = 30
_COLORS: Final[dict[Verdict, str]] = {"a": "a", "tie": "tie", "b": "b"}


class LikelyView(QWidget):
    """The probability of each score of A and of B, and of each verdict."""

    def __init__(self) -> None:
        super().__init__()
        self._scores: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
        self._expected = (0.0, 0.0)
        self._sampled: tuple[float, float] | None = None
        self._shares: VerdictShares | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(texts.NO_PROBABILITIES)
        self.hide()

    def show_call(self, call: FullCall | None) -> None:
        """Shows the distributions of a call; hides itself where the call has none."""
        likely = None if call is None else call.likely
        result = None if call is None else call.result
        if (
            call is None
            or likely is None
            or not isinstance(result, Evaluation)
            or result.shares is None
            or result.score_a is None
            or result.score_b is None
        ):
            self.hide()
            return
        first, second = likely.first, likely.second
        self._scores = (first, second) if call.site.order == "ab" else (second, first)
        self._expected = (result.score_a, result.score_b)
        self._sampled, self._shares = result.sampled, result.shares
        self.show()
        self.setAccessibleName(_words(result))
        self.setToolTip(_words(result))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(current_theme().px(320), current_theme().px(2 * _ROW + 16 + _VERDICTS))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, ink = scaled_painter(self)
        width = self.width() / ink.scale
        step = (width - _LEFT - _RIGHT) / 10
        sides: tuple[Verdict, Verdict] = ("a", "b")
        for row, side in enumerate(sides):
            top = float(row * _ROW)
            draw_chip(painter, ink, QRectF(0, top + _BARS - 20, 20, 20), side)
            self._bars(painter, ink, row, QPointF(_LEFT, top + _BARS), step)
            text = score_text(self._expected[row])
            ink.text(painter, width, top + _BARS - 4, text, "figure", align="right", tabular=True)
        for number in range(1, 11):
            x = _LEFT + (number - 0.5) * step
            ink.text(painter, x, 2 * _ROW + 8, str(number), "body", "text2", align="center", tabular=True)
        self._verdicts(painter, ink, QRectF(_LEFT, 2 * _ROW + 24, 10 * step, 10))

    def _bars(self, painter: QPainter, ink: Ink, row: int, foot: QPointF, step: float) -> None:
        """Draws the bars of one response; the written score has an outline, the expected one a mark."""
        sampled = None if self._sampled is None else round(self._sampled[row])
        whole = max(0.5, *self._scores[0], *self._scores[1])
        for place, share in enumerate(self._scores[row]):
            x, height = foot.x() + place * step + 2, max(share / whole * _BARS, 1.0)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink.brush("a" if row == 0 else "b"))
            painter.drawRect(QRectF(x, foot.y() - height, step - 4, height))
            if sampled == place + 1:
                painter.setPen(ink.pen("text2", 1, (3, 2)))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(QRectF(x - 1, foot.y() - _BARS, step - 2, _BARS))
        painter.setPen(ink.pen("line2"))
        painter.drawLine(foot, QPointF(foot.x() + 10 * step, foot.y()))
        at = foot.x() + (self._expected[row] - 0.5) * step
        painter.setPen(ink.pen("text", 2))
        painter.drawLine(QPointF(at, foot.y() - 2), QPointF(at, foot.y() + 5))

    def _verdicts(self, painter: QPainter, ink: Ink, box: QRectF) -> None:
        """Draws the three verdicts as one bar."""
        x = box.left()
        for verdict, share in zip(_COLORS, self._shares or (), strict=False):
            width = share * box.width()
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink.brush(_COLORS[verdict]))
            painter.drawRect(QRectF(x, box.top(), width, box.height()))
            x += width


def _words(result: Evaluation) -> str:
    """The drawing in words."""
    assert result.shares is not None
    shares = (percent(share) for share in result.shares)
    written = "" if result.sampled is None else texts.written(*map(score_text, result.sampled))
    return texts.expected_scores(score_text(result.score_a), score_text(result.score_b), written, *shares)
