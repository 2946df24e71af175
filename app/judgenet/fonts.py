"""The fonts that ship with the program, and the families that stand in for scripts they lack."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

TEXT_FAMILY: Final = "Inter"
MONO_FAMILY: Final = "JetBrains Mono"

FILES: Final = (
    "Inter-Regular.otf",
    "Inter-Medium.otf",
    "Inter-SemiBold.otf",
    "Inter-Bold.otf",
    "JetBrainsMono-Regular.ttf",
)
"""The files under ``resources/fonts``."""

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


def families(installed: Collection[str], *, mono: bool = False) -> list[str]:
    """The families of a text in the order in which a glyph is looked for, of those that are installed."""
    first = [MONO_FAMILY, TEXT_FAMILY] if mono else [TEXT_FAMILY]
    return first + [name for name in FALLBACKS if name in installed]
