"""Pens, brushes, fonts and laid-out texts of one theme, made once. Sizes are px at 100 %; the painter scales them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPen,
    QStaticText,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QWidget

from judgenet.ui.fonts import make_font
from judgenet.ui.icons import draw_icon, icon_pixmap
from judgenet.ui.theme import Theme, current_theme
from judgenet.ui.tokens import PX_PER_POINT, TYPE, TypeRole

Align = Literal["left", "right", "center"]

_TEXT_LIMIT: Final = 4000


class Ink:
    """The drawing materials of a theme."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.scale = theme.scale
        self.vector = False
        """Draw icons as lines instead of pictures: set while exporting."""
        self._pens: dict[tuple[str, float, tuple[float, ...], float], QPen] = {}
        self._brushes: dict[tuple[str, float], QBrush] = {}
        self._fonts: dict[tuple[TypeRole, bool], tuple[QFont, QFontMetricsF, float]] = {}
        self._texts: dict[tuple[str, TypeRole, bool], tuple[QStaticText, float]] = {}
        self._elided: dict[tuple[str, TypeRole, int], str] = {}
        self._wrapped: dict[tuple[str, TypeRole, int, int], tuple[str, ...]] = {}

    @staticmethod
    @lru_cache(maxsize=8)
    def of(theme: Theme) -> Ink:
        """The materials of a theme, shared by all who draw in it."""
        return Ink(theme)

    def color(self, token: str, alpha: float = 1.0) -> QColor:
        """A colour by its token."""
        return self.theme.color(token, alpha)

    def mixed(self, token: str, share: float) -> QColor:
        """A colour thinned with the canvas's: as if transparent, but drawn several times faster."""
        if share >= 1:
            return self.color(token)
        full, ground = self.color(token), self.color("canvas")
        mix = [
            round(share * c + (1 - share) * g)
            for c, g in zip(full.getRgb()[:3], ground.getRgb()[:3], strict=True)  # type: ignore[index]
        ]
        return QColor(*mix)

    def pen(self, token: str, width: float = 1.0, dash: tuple[float, ...] = (), alpha: float = 1.0) -> QPen:
        """A pen with round caps; ``dash`` in px."""
        key = (token, width, dash, alpha)
        pen = self._pens.get(key)
        if pen is None:
            if len(self._pens) > 500:
                self._pens.clear()
            pen = QPen(self.color(token, alpha), width)
            pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
            if dash:
                pen.setCapStyle(Qt.PenCapStyle.FlatCap)
                pen.setDashPattern([length / width for length in dash])
            else:
                pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            self._pens[key] = pen
        return pen

    def brush(self, token: str, alpha: float = 1.0) -> QBrush:
        """A filling."""
        key = (token, alpha)
        brush = self._brushes.get(key)
        if brush is None:
            brush = self._brushes[key] = QBrush(self.color(token, alpha))
        return brush

    def _font(self, role: TypeRole, tabular: bool) -> tuple[QFont, QFontMetricsF, float]:
        key = (role, tabular)
        cached = self._fonts.get(key)
        if cached is None:
            step = TYPE[role]
            font = make_font(
                step.points * PX_PER_POINT, step.weight, mono=step.mono, tabular=tabular, dpi=self.theme.dpi
            )
            metrics = QFontMetricsF(font)
            cached = self._fonts[key] = (font, metrics, metrics.ascent())
        return cached

    def width(self, text: str, role: TypeRole = "body", tabular: bool = False) -> float:
        """The width of a text."""
        return self._font(role, tabular)[1].horizontalAdvance(text)

    def text(
        self,
        painter: QPainter,
        x: float,
        baseline: float,
        text: str,
        role: TypeRole = "body",
        color: str = "text",
        *,
        align: Align = "left",
        room: float | None = None,
        tabular: bool = False,
    ) -> None:
        """Draws one line of plain text; longer than ``room`` it ends in an ellipsis."""
        if not text:
            return
        if room is not None:
            text = self.elide(text, role, room)
        key = (text, role, tabular)
        font, metrics, ascent = self._font(role, tabular)
        static_text = self._texts.get(key)
        if static_text is None:
            if len(self._texts) > _TEXT_LIMIT:
                self._texts.clear()
            static = QStaticText(text)
            static.setTextFormat(Qt.TextFormat.PlainText)
            static.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
            static_text = self._texts[key] = (static, metrics.horizontalAdvance(text))
        static, width = static_text
        if align == "right":
            x -= width
        elif align == "center":
            x -= width / 2
        painter.setFont(font)
        painter.setPen(self.color(color))
        if self.vector:
            painter.drawText(QPointF(x, baseline), text)
        else:
            painter.drawStaticText(QPointF(x, baseline - ascent), static)

    def elide(self, text: str, role: TypeRole, room: float) -> str:
        """The text, or as much of it as fits, with an ellipsis."""
        key = (text, role, int(room))
        elided = self._elided.get(key)
        if elided is None:
            if len(self._elided) > _TEXT_LIMIT:
                self._elided.clear()
            metrics = self._font(role, False)[1]
            elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, room))
            if elided != text and elided.endswith("…"):
                elided = f"{elided[:-1].rstrip()}…"
            self._elided[key] = elided
        return elided

    def wrap(self, text: str, role: TypeRole, room: float, lines: int) -> tuple[str, ...]:
        """The text in at most so many lines; the last one ends in an ellipsis where there is more."""
        key = (text, role, int(room), lines)
        wrapped = self._wrapped.get(key)
        if wrapped is None:
            if len(self._wrapped) > 500:
                self._wrapped.clear()
            wrapped = self._wrapped[key] = self._lay_out(" ".join(text[:2000].split()), role, room, lines)
        return wrapped

    def _lay_out(self, text: str, role: TypeRole, room: float, lines: int) -> tuple[str, ...]:
        layout = QTextLayout(text, self._font(role, False)[0])
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        parts: list[str] = []
        while len(parts) < lines:
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(room)
            start, length = line.textStart(), line.textLength()
            last = len(parts) == lines - 1 and start + length < len(text)
            parts.append(self.elide(text[start:], role, room) if last else text[start : start + length].rstrip())
        layout.endLayout()
        return tuple(parts)

    def icon(self, painter: QPainter, name: str, x: float, y: float, size: int = 16, color: str = "text2") -> None:
        """Draws an icon with its left top corner at (x, y)."""
        value = getattr(self.theme.colors, color)
        if self.vector:
            draw_icon(painter, name, value, QRectF(x, y, size, size))
            return
        device = painter.device()
        ratio = painter.worldTransform().m11() * (device.devicePixelRatio() if device is not None else 1.0)
        painter.drawPixmap(QPointF(x, y), icon_pixmap(name, value, size, round(ratio, 2)))


def scaled_painter(widget: QWidget) -> tuple[QPainter, Ink]:
    """A painter that draws on a widget in px at 100 %, and the materials of the current theme. For its paint event."""
    ink = Ink.of(current_theme())
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(ink.scale, ink.scale)
    return painter, ink
