"""Charts as PNG, and painted. Works without a window and without a screen."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QImage,
    QPainter,
    QPainterPath,
    QPen,
)
from PySide6.QtWidgets import QApplication

from judgenet.colors import COLORS, Colors, ThemeName
from judgenet.core.wording import clean
from judgenet.report import drawing as shapes
from judgenet.report.drawing import Drawing
from judgenet.ui.fonts import TABULAR, families, load_fonts
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import TypeRole

UNITS = 20
"""Painting is done in twentieths of a px: fonts have whole sizes there and still the design's fractions."""


def png(drawing: Drawing, theme: ThemeName = "light", scale: float = 2.0) -> bytes:
    """A chart as PNG."""
    colors = COLORS[theme]
    with _application():
        image = QImage(
            max(1, round(drawing.width * scale)), max(1, round(drawing.height * scale)), QImage.Format.Format_RGB32
        )
        image.setDotsPerMeterX(round(96 * scale / 0.0254))
        image.setDotsPerMeterY(round(96 * scale / 0.0254))
        image.fill(QColor(colors.surface))
        painter = QPainter(image)
        try:
            painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
            painter.scale(scale / UNITS, scale / UNITS)
            paint(painter, drawing, colors)
        finally:
            painter.end()
        data = QByteArray()
        buffer = QBuffer(data)
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        image.save(buffer, "PNG")  # type: ignore[call-overload]
        return bytes(data.data())


@contextmanager
def _application() -> Iterator[None]:
    """A Qt application for fonts and painting: the running one, or one without a screen."""
    if QApplication.instance() is None:
        kept = os.environ.get("QT_QPA_PLATFORM")
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        try:
            # Kept for the life of the process: fonts do not survive their application.
            _applications.append(QApplication(["judgenet"]))
        finally:
            if kept is None:
                del os.environ["QT_QPA_PLATFORM"]
            else:
                os.environ["QT_QPA_PLATFORM"] = kept
    load_fonts()
    yield


_applications: list[QApplication] = []


def _font(px: float, weight: int, *, tabular: bool) -> QFont:
    font = QFont()
    font.setFamilies(families())
    font.setPixelSize(round(px * UNITS))
    font.setWeight(QFont.Weight(weight))
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    if tabular:
        font.setFeature(TABULAR, 1)
    return font


def paint(painter: QPainter, drawing: Drawing, colors: Colors) -> None:
    """Paints a drawing; the painter works in :data:`UNITS`."""
    painter.save()
    for shape in drawing.shapes:
        if isinstance(shape, shapes.Label):
            _paint_label(painter, shape, colors, _font(shape.px, shape.weight, tabular=shape.tabular), UNITS)
        else:
            _paint_shape(painter, shape, colors)
    painter.restore()


def paint_marks(painter: QPainter, marks: Sequence[shapes.Shape]) -> None:
    """Paints shapes in the theme's colours among what a widget paints itself: px at 100 % become those of its scale.
    Texts lie on top, in the fonts of the page."""
    theme = current_theme()
    painter.save()
    painter.scale(theme.scale / UNITS, theme.scale / UNITS)
    for shape in marks:
        if not isinstance(shape, shapes.Label):
            _paint_shape(painter, shape, theme.colors)
    painter.restore()
    for shape in marks:
        if isinstance(shape, shapes.Label):
            used = theme.font(_ROLES[shape.weight], tabular=shape.tabular)
            _paint_label(painter, shape, theme.colors, used, theme.scale)


_ROLES: Final[dict[int, TypeRole]] = {400: "body", 500: "strong", 600: "node"}


def _color(colors: Colors, token: str, opacity: float = 1.0) -> QColor:
    color = QColor(getattr(colors, token))
    color.setAlphaF(opacity)
    return color


def _paint_shape(painter: QPainter, shape: shapes.Path | shapes.Box | shapes.Dot, colors: Colors) -> None:
    dash = None if isinstance(shape, shapes.Dot) else shape.dash
    if shape.stroke is None:
        painter.setPen(Qt.PenStyle.NoPen)
    else:
        pen = QPen(_color(colors, shape.stroke), shape.width * UNITS)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        if dash is not None:
            # Qt counts dashes in widths of the pen.
            pen.setDashPattern([length / shape.width for length in dash])
        painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush if shape.fill is None else QBrush(_color(colors, shape.fill, shape.opacity)))
    if isinstance(shape, shapes.Box):
        box = QRectF(shape.x * UNITS, shape.y * UNITS, shape.w * UNITS, shape.h * UNITS)
        painter.drawRoundedRect(box, shape.r * UNITS, shape.r * UNITS)
    elif isinstance(shape, shapes.Dot):
        painter.drawEllipse(QPointF(shape.x * UNITS, shape.y * UNITS), shape.r * UNITS, shape.r * UNITS)
    else:
        painter.drawPath(_path(shape))


def _path(shape: shapes.Path) -> QPainterPath:
    path = QPainterPath()
    for name, values in shape.steps:
        at = [value * UNITS for value in values]
        if name == "M":
            path.moveTo(*at)
        elif name == "L":
            path.lineTo(*at)
        elif name == "C":
            path.cubicTo(*at)
        else:
            path.closeSubpath()
    return path


def _paint_label(painter: QPainter, label: shapes.Label, colors: Colors, font: QFont, units: float) -> None:
    """Paints a text; the painter works in so many ``units`` a px."""
    text = clean(label.text)
    painter.setFont(font)
    painter.setPen(_color(colors, label.color))
    x = label.x * units
    if label.anchor != "start":
        width = QFontMetricsF(font).horizontalAdvance(text)
        x -= width if label.anchor == "end" else width / 2
    painter.drawText(QPointF(x, label.y * units), text)
