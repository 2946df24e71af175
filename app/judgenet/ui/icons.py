"""Line icons that follow the theme: drawn from SVG at the size and the resolution they are shown in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from judgenet.assets import asset
from judgenet.ui.tokens import ICON_LINE, LIGHT, Colors

GRID: Final = 20
"""Icons are drawn on a grid of 20 units."""

_CACHE_LIMIT: Final = 2000

_colors: Colors = LIGHT
_pixmaps: dict[tuple[str, str, int, float], QPixmap] = {}


class IconError(KeyError):
    """There is no icon of this name."""


def set_icon_colors(colors: Colors) -> None:
    """Sets the colours of icons with a token; icons in view follow when they are painted next."""
    global _colors
    _colors = colors


@cache
def _source(name: str) -> str:
    try:
        return asset("icons", f"{name}.svg").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise IconError(f"There is no icon {name!r}; see resources/icons.") from None


def icon_svg(name: str, color: str, size: float) -> str:
    """The SVG of an icon in one colour (``#RRGGBB``), for ``size`` px: its line is 1.5 px wide at each size."""
    width = ICON_LINE * GRID / size
    source = _source(name).replace('stroke-width="1.5"', f'stroke-width="{width:.4g}"')
    source = source.replace(f'width="{GRID}" height="{GRID}"', f'width="{size:g}" height="{size:g}"')
    return source.replace("currentColor", color)


def icon_pixmap(name: str, color: str, size: int, ratio: float = 1.0) -> QPixmap:
    """An icon of ``size`` × ``size`` px for a screen with ``ratio`` device pixels a px. Cached."""
    key = (name, color, size, ratio)
    pixmap = _pixmaps.get(key)
    if pixmap is None:
        if len(_pixmaps) >= _CACHE_LIMIT:
            _pixmaps.clear()
        side = max(1, round(size * ratio))
        pixmap = QPixmap(side, side)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        _renderer(name, color, size).render(painter, QRectF(0, 0, side, side))
        painter.end()
        pixmap.setDevicePixelRatio(ratio)
        _pixmaps[key] = pixmap
    return pixmap


def draw_icon(painter: QPainter, name: str, color: str, box: QRectF) -> None:
    """Draws an icon as vector lines, so that it stays sharp in SVG and PDF."""
    _renderer(name, color, box.width()).render(painter, box)


@cache
def _renderer(name: str, color: str, size: float) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(icon_svg(name, color, size).encode()))


class _Engine(QIconEngine):
    """Draws an icon in the theme's colours of the moment, so that a change of theme needs no new icons."""

    def __init__(self, name: str, color: Callable[[QIcon.Mode, QIcon.State], str]) -> None:
        super().__init__()
        self._name = name
        self._color = color

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        _draw(painter, rect, self._name, self._color(mode, state))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:
        side = max(1, min(size.width(), size.height()))
        return icon_pixmap(self._name, self._color(mode, state), side, scale)

    def actualSize(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QSize:
        side = min(size.width(), size.height())
        return QSize(side, side)

    def clone(self) -> QIconEngine:
        return _Engine(self._name, self._color)


def paint_icon(painter: QPainter, rect: QRect, name: str, color: str = "text2") -> None:
    """Draws an icon in the middle of a rectangle (px), as large as fits; ``color`` as of :func:`icon`."""
    _draw(painter, rect, name, color if color.startswith("#") else str(getattr(_colors, color)))


def _draw(painter: QPainter, rect: QRect, name: str, color: str) -> None:
    side = min(rect.width(), rect.height())
    device = painter.device()
    ratio = device.devicePixelRatio() if device is not None else 1.0
    at = rect.center() - QPoint((side - 1) // 2, (side - 1) // 2)
    painter.drawPixmap(at, icon_pixmap(name, color, side, ratio))


def icon(name: str, color: str = "text2", *, on: str | None = None) -> QIcon:
    """An icon by name.

    ``color`` is a token (``"text2"``, ``"warn"``, ...), which follows the theme, or ``#RRGGBB``. ``on`` is the colour
    while the button is checked. A disabled icon is drawn in ``text3``. Raises :class:`IconError` for an unknown name.
    """
    _source(name)

    def of(mode: QIcon.Mode, state: QIcon.State) -> str:
        token = color
        if mode == QIcon.Mode.Disabled:
            token = "text3"
        elif on is not None and state == QIcon.State.On:
            token = on
        return token if token.startswith("#") else str(getattr(_colors, token))

    if not color.startswith("#"):
        getattr(_colors, color)
    return QIcon(_Engine(name, of))
