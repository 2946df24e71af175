"""Colours, type and measures of the studio, as plain values. This module knows no Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from judgenet.colors import COLORS as COLORS
from judgenet.colors import CONTRAST as CONTRAST
from judgenet.colors import DARK as DARK
from judgenet.colors import LIGHT as LIGHT
from judgenet.colors import THEME_NAMES as THEME_NAMES
from judgenet.colors import Colors as Colors
from judgenet.colors import ThemeName as ThemeName

Density = Literal["comfortable", "compact"]

TypeRole = Literal[
    "headline", "page", "title", "question", "figure", "section", "evidence", "body", "strong", "node", "chip", "mono"
]


@dataclass(frozen=True, slots=True)
class TypeStep:
    """One step of the type scale: size in points, line height in px at 100 %, weight."""

    points: float
    line: int
    weight: int = 400
    mono: bool = False


TYPE: Final[dict[TypeRole, TypeStep]] = {
    "headline": TypeStep(36, 48, 600),
    "page": TypeStep(20, 36, 600),
    "title": TypeStep(15, 28, 600),
    "question": TypeStep(13, 28, 500),
    "figure": TypeStep(12, 24, 600),
    "section": TypeStep(11, 24, 600),
    "evidence": TypeStep(10.5, 22),
    "body": TypeStep(10, 20),
    "strong": TypeStep(10, 20, 500),
    "node": TypeStep(10, 20, 600),
    "chip": TypeStep(10, 20, 700),
    "mono": TypeStep(10, 20, mono=True),
}
"""``strong`` is for buttons and table heads, ``node`` for node titles and selected words, ``chip`` for A, B and =."""

PX_PER_POINT: Final = 96 / 72

PANEL_INSIDE: Final = 16
PANEL_GAP: Final = 16
PAGE_MARGIN: Final = 24

RADIUS_PANEL: Final = 8

CONTROL: Final = 32
CONTROL_SMALL: Final = 28
ROW: Final = 32
PAIR_ROW: Final = 28
ROW_COMPACT: Final = 26
TOP_BAR: Final = 48
STATUS_BAR: Final = 32
TABS: Final = 40
DOCK_HEADER: Final = 36
PANEL_HEADER: Final = 44
RAIL: Final = 72
RAIL_NARROW: Final = 56
NARROW_WINDOW: Final = 1360
"""Below this width the rail shows icons only."""
INSPECTOR: Final[dict[str, int]] = {"design": 360, "run": 488, "run narrow": 392, "other": 320}

TABLE_EDGE: Final = 12
"""So far from the sides of its cell the text of a table stands, in px."""

ICON_TEXT: Final = 16
ICON_EMPTY: Final = 24
ICON_LINE: Final = 1.5

FOCUS_WIDTH: Final = 2
FOCUS_WIDTH_CONTRAST: Final = 3
FOCUS_GAP: Final = 2

UI_SCALES: Final = (0.8, 2.0)
"""The smallest and the largest UI scale."""

MOTION_NODE: Final = 120
MOTION_ZOOM: Final = 180
MOTION_SPIN: Final = 900
MOTION_WRITE: Final = 600
"""Durations in ms: a node's change, zoom and fit, one turn of the spinner, the writing bars."""


def luminance(color: str) -> float:
    """Relative luminance of ``#RRGGBB``, 0 to 1 (WCAG 2.2, definition of relative luminance)."""
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))

    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
