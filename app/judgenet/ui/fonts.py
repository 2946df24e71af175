"""The bundled fonts, and the families that stand in for scripts they lack."""

from __future__ import annotations

from functools import cache
from typing import Final

from PySide6.QtGui import QFont, QFontDatabase

from judgenet.assets import asset

TEXT_FAMILY: Final = "Inter"
MONO_FAMILY: Final = "JetBrains Mono"

FILES: Final = (
    "Inter-Regular.otf",
    "Inter-Medium.otf",
    "Inter-SemiBold.otf",
    "Inter-Bold.otf",
    "JetBrainsMono-Regular.ttf",
)

FALLBACKS: Final = (
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Microsoft YaHei",
    "Noto Sans CJK JP",
    "Hiragino Sans",
    "Yu Gothic UI",
    "Noto Sans CJK KR",
    "Apple SD Gothic Neo",
    "Malgun Gothic",
    "Noto Sans Arabic",
    "Noto Naskh Arabic",
    "Geeza Pro",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Segoe UI",
    "Noto Sans",
    "DejaVu Sans",
)
"""Families for CJK, Arabic and other scripts, in the order of preference; those absent are left out."""

TABULAR: Final = QFont.Tag.fromString("tnum")


class FontError(RuntimeError):
    """A bundled font is missing or Qt refuses it."""


@cache
def load_fonts() -> tuple[str, ...]:
    """Registers the bundled fonts with Qt, once; the names of the families. Needs a QGuiApplication."""
    families: set[str] = set()
    for name in FILES:
        path = asset("fonts", name)
        number = QFontDatabase.addApplicationFont(str(path))
        if number < 0:
            raise FontError(f"The font {name} cannot be loaded from {path.parent}; reinstall JudgeNet.")
        families.update(QFontDatabase.applicationFontFamilies(number))
    return tuple(sorted(families))


@cache
def families(mono: bool = False) -> list[str]:
    """The families of a text in the order in which a glyph is looked for."""
    # Naming a family that is not installed makes Qt build its table of aliases, which takes a tenth of a second.
    installed = set(QFontDatabase.families())
    first = [MONO_FAMILY, TEXT_FAMILY] if mono else [TEXT_FAMILY]
    return first + [name for name in FALLBACKS if name in installed]


def make_font(pixels: float, weight: int = 400, *, mono: bool = False, tabular: bool = False, dpi: float = 96) -> QFont:
    """A font of ``pixels`` px, fractions kept; ``dpi`` is the resolution by which Qt reads points."""
    font = QFont()
    font.setFamilies(families(mono))
    # QFont keeps whole pixels only, but points with fractions.
    font.setPointSizeF(pixels * 72 / dpi)
    font.setWeight(QFont.Weight(weight))
    font.setStyleStrategy(QFont.StyleStrategy.PreferAntialias)
    # Unhinted glyphs keep their advance at each zoom, so that texts do not jump while zooming.
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    if tabular and not mono:
        font.setFeature(TABULAR, 1)
    return font
