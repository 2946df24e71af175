"""The network as SVG and PNG: what the canvas shows, without selection, handles and buttons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSize
from PySide6.QtGui import QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgGenerator

from judgenet.fonts import MONO_FAMILY, TEXT_FAMILY
from judgenet.ui.canvas import texts
from judgenet.ui.canvas.layout import Rect
from judgenet.ui.canvas.scene import NetworkScene

MARGIN = 24
"""Free space around the network in px."""


class ExportError(OSError):
    """A picture could not be written."""


def export_bounds(scene: NetworkScene) -> QRectF:
    """What an export shows, in scene coordinates."""
    layout = scene.layout
    bounds = Rect(0, layout.head - 20, layout.columns[-1].x + layout.columns[-1].w, 1)
    for rect in [*layout.parts.values(), *(plan.block for plan in layout.layers)]:
        bounds = bounds.united(rect)
    if any(plan.dense for plan in layout.layers) and scene.ends.mode == "run":
        bounds = bounds.united(layout.bounds)
    grown = bounds.grown(MARGIN)
    return QRectF(grown.x, grown.y, grown.w, grown.h)


@contextmanager
def _exporting(scene: NetworkScene) -> Iterator[None]:
    zoom, ratio = scene.zoom, scene.pixel_ratio
    scene.set_exporting(True)
    scene.set_zoom(1.0, 1.0)
    try:
        yield
    finally:
        scene.set_exporting(False)
        scene.set_zoom(zoom, ratio)


def network_image(scene: NetworkScene, scale: float = 2.0) -> QImage:
    """The network as a picture, ``scale`` pixels a px, on the canvas's colour."""
    bounds = export_bounds(scene)
    image = QImage(
        round(bounds.width() * scale), round(bounds.height() * scale), QImage.Format.Format_ARGB32_Premultiplied
    )
    if image.isNull():
        raise ExportError(texts.PICTURE_TOO_LARGE)
    image.setDevicePixelRatio(scale)
    image.fill(scene.theme.color("canvas"))
    with _exporting(scene):
        painter = QPainter(image)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        scene.render(painter, QRectF(0, 0, bounds.width(), bounds.height()), bounds)
        painter.end()
    return image


def network_png(scene: NetworkScene, path: Path, scale: float = 2.0) -> None:
    """Writes the network as PNG. Raises :class:`ExportError`."""
    if not QImageWriter(str(path), QByteArray(b"png")).write(network_image(scene, scale)):
        raise ExportError(texts.cannot_be_written(str(path)))


def network_svg(scene: NetworkScene, *, title: str = texts.JUDGE_NETWORK) -> bytes:
    """The network as SVG; texts stay texts."""
    bounds = export_bounds(scene)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setTitle(title)
    generator.setResolution(round(scene.theme.dpi))
    generator.setSize(QSize(round(bounds.width()), round(bounds.height())))
    generator.setViewBox(QRectF(0, 0, bounds.width(), bounds.height()))
    with _exporting(scene):
        painter = QPainter(generator)
        painter.fillRect(QRectF(0, 0, bounds.width(), bounds.height()), scene.theme.color("canvas"))
        scene.render(painter, QRectF(0, 0, bounds.width(), bounds.height()), bounds)
        painter.end()
    buffer.close()
    return _tidy(bytes(data.data()).decode(), bounds).encode()


def _tidy(svg: str, bounds: QRectF) -> str:
    """Qt's SVG without what depends on this computer: fonts by their own names, sizes in px, no empty groups."""
    size = f'<svg width="{round(bounds.width())}" height="{round(bounds.height())}"'
    svg = re.sub(r'<svg width="[^"]*" height="[^"]*"', size, svg, count=1)
    fonts = {TEXT_FAMILY: "sans-serif", MONO_FAMILY: "monospace"}
    for family, generic in fonts.items():
        svg = re.sub(f'font-family="{family}[^"]*"', f'font-family="{family}, {generic}"', svg)
    return re.sub(r"<g [^>]*>\s*</g>\s*", "", svg)
