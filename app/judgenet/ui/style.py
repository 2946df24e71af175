"""The style sheet, filled in from the tokens, and the ring around what has the keyboard's focus."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QRectF, Qt, QTemporaryDir
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import (
    QApplication,
    QFocusFrame,
    QProxyStyle,
    QStyle,
    QStyleHintReturn,
    QStyleOption,
    QWidget,
)
from shiboken6 import isValid

from judgenet.assets import asset
from judgenet.fonts import MONO_FAMILY
from judgenet.ui import tokens
from judgenet.ui.icons import icon_svg
from judgenet.ui.tokens import Colors, Density

OWN_FOCUS: Final = "ownFocus"
"""A widget with this dynamic property draws its focus itself and gets no ring."""

_IMAGES: Final = {
    "chevronDown": ("chevron-down", "text2"),
    "chevronUp": ("chevron-up", "text2"),
    "chevronRight": ("chevron-right", "text2"),
    "chevronDownOff": ("chevron-down", "text3"),
    "chevronUpOff": ("chevron-up", "text3"),
    "tick": ("tick", "text"),
    "tickOn": ("tick", "onAccent"),
    "tickOff": ("tick", "text3"),
    "dashOn": ("dash", "onAccent"),
    "close": ("close", "text2"),
    "dock": ("dock", "text2"),
}
"""Images of the style sheet: their icon and colour."""


class QssImages:
    """Recoloured icons as files: a style sheet takes images from files only. Removed when the program ends."""

    def __init__(self) -> None:
        self._folder = QTemporaryDir()

    def path(self, name: str, color: str) -> str:
        """The file of an icon in a colour, written at its first use; with forward slashes, as style sheets want it."""
        path = Path(self._folder.path()) / f"{name}-{color.lstrip('#')}.svg"
        if not path.exists():
            path.write_text(icon_svg(name, color, tokens.ICON_TEXT), encoding="utf-8")
        return path.as_posix()


@cache
def _template() -> str:
    text = asset("qss", "studio.qss").read_text(encoding="utf-8")
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def render_qss(colors: Colors, scale: float, density: Density, dpi: float, images: QssImages) -> str:
    """The style sheet in these colours.

    ``px`` and ``pt`` of the template grow with ``scale``; lines stay at least 1 px. Raises ``KeyError`` for a name
    that the theme lacks.
    """
    compact = density == "compact"
    measures = {
        # A style sheet's height leaves out the border.
        "controlInner": f"{tokens.CONTROL - (6 if compact else 2)}px",
        "smallInner": f"{tokens.CONTROL_SMALL - 2}px",
        "tabInner": f"{tokens.TABS - (6 if compact else 2)}px",
        "row": f"{tokens.ROW_COMPACT if compact else tokens.ROW}px",
    }
    points = scale * 96 / dpi
    text = re.sub(r"@([A-Za-z0-9]+)", lambda match: measures.get(match[1], match[0]), _template())
    text = re.sub(r"\b(\d+(?:\.\d+)?)px", lambda match: f"{_pixels(float(match[1]), scale)}px", text)
    text = re.sub(r"\b(\d+(?:\.\d+)?)pt", lambda match: f"{float(match[1]) * points:.4g}pt", text)
    values = {name: getattr(colors, name) for name in Colors.__dataclass_fields__}
    values |= {name: images.path(icon, getattr(colors, token)) for name, (icon, token) in _IMAGES.items()}
    values["monoFamily"] = MONO_FAMILY
    return re.sub(r"@([A-Za-z0-9]+)", lambda match: values[match[1]], text)


def _pixels(value: float, scale: float) -> int:
    return 0 if value == 0 else max(1, round(value * scale))


class _RingStyle(QProxyStyle):
    """Draws the ring; only the focus frame uses it, so that no other drawing passes through Python."""

    def __init__(self) -> None:
        super().__init__("Fusion")
        self.color = QColor(tokens.LIGHT.accent)
        self.width = tokens.FOCUS_WIDTH
        self.gap = tokens.FOCUS_GAP
        self.radius = tokens.RADIUS_PANEL

    def pixelMetric(
        self, metric: QStyle.PixelMetric, option: QStyleOption | None = None, widget: QWidget | None = None
    ) -> int:
        if metric in (QStyle.PixelMetric.PM_FocusFrameHMargin, QStyle.PixelMetric.PM_FocusFrameVMargin):
            return self.width + self.gap
        return super().pixelMetric(metric, option, widget)

    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        returnData: QStyleHintReturn | None = None,
    ) -> int:
        if hint == QStyle.StyleHint.SH_FocusFrame_AboveWidget:
            return 1
        if hint == QStyle.StyleHint.SH_FocusFrame_Mask:
            return 0
        return super().styleHint(hint, option, widget, returnData)

    def drawControl(
        self,
        element: QStyle.ControlElement,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        if element != QStyle.ControlElement.CE_FocusFrame:
            super().drawControl(element, option, painter, widget)
            return
        half = self.width / 2
        box = QRectF(option.rect).adjusted(half, half, -half, -half)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.color, self.width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, self.radius, self.radius)


class FocusRing(QObject):
    """Puts a ring around the widget that has the focus, outside of it, in every window of the application."""

    def __init__(self, app: QApplication, parent: QObject) -> None:
        super().__init__(parent)
        self._style = _RingStyle()
        self._style.setParent(self)
        self._frame: QFocusFrame | None = None
        app.focusChanged.connect(self._follow)

    def set_look(self, color: QColor, width: int, gap: int, radius: int) -> None:
        """Sets the ring's colour, and in px its width, its distance from the widget, and the radius of its corners."""
        self._style.color = QColor(color)
        self._style.width = width
        self._style.gap = gap
        self._style.radius = radius
        self._alive()
        if self._frame is not None:
            target = self._frame.widget()
            self._frame.setWidget(None)  # type: ignore[arg-type]  # the stubs forbid what Qt allows
            self._frame.setWidget(target)

    def _follow(self, _old: QWidget | None, now: QWidget | None) -> None:
        self._alive()
        if now is None or now.isWindow() or now.property(OWN_FOCUS) or isinstance(now, QFocusFrame):
            if self._frame is not None:
                self._frame.setWidget(None)  # type: ignore[arg-type]  # the stubs forbid what Qt allows
            return
        if self._frame is None or self._frame.window() is not now.window():
            # A frame belongs to one window; a window that closes takes its frame along.
            if self._frame is not None:
                self._frame.setWidget(None)  # type: ignore[arg-type]  # the stubs forbid what Qt allows
                self._frame.deleteLater()
            self._frame = QFocusFrame(now.window())
            self._frame.setStyle(self._style)
        self._frame.setWidget(now)

    def _alive(self) -> None:
        if self._frame is not None and not isValid(self._frame):
            self._frame = None
