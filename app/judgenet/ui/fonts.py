"""The bundled fonts in Qt."""

from __future__ import annotations

from functools import cache
from typing import Final

from PySide6.QtGui import QFont, QFontDatabase

from judgenet import fonts
from judgenet.assets import asset
from judgenet.fonts import FILES
from judgenet.ui import texts

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
            raise FontError(texts.font_cannot_be_loaded(name, str(path.parent)))
        families.update(QFontDatabase.applicationFontFamilies(number))
    return tuple(sorted(families))


@cache
def families(mono: bool = False) -> list[str]:
    """The font families in the order in which glyphs are looked up."""
    # Naming a family that is not installed makes Qt build its table of aliases, which takes a tenth of a second.
    return fonts.families(set(QFontDatabase.families()), mono=mono)


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
