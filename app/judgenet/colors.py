"""The colours of JudgeNet: one table for the studio, its charts and its reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

ThemeName = Literal["light", "dark", "contrast"]
THEME_NAMES: tuple[ThemeName, ...] = get_args(ThemeName)


@dataclass(frozen=True, slots=True)
class Colors:
    """One theme's colours as ``#RRGGBB``.

    ``a`` is response A and nothing else, ``b`` response B, ``tie`` a tie. ``accent`` is for what is selected, focused,
    primary or in progress. ``line`` separates and carries no meaning; ``line2`` borders controls and nodes.
    ``...Tint`` is the quiet ground of a colour, ``on...`` the text on it at full strength.
    """

    bg: str
    surface: str
    canvas: str
    sunken: str
    hover: str
    line: str
    line2: str
    text: str
    text2: str
    text3: str
    accent: str
    accentHover: str
    accentTint: str
    onAccent: str
    a: str
    aTint: str
    onA: str
    b: str
    bTint: str
    onB: str
    tie: str
    tieTint: str
    onTie: str
    good: str
    goodTint: str
    warn: str
    warnTint: str
    bad: str
    badTint: str
    unscored: str
    edge: str
    edgeLit: str
    band: str


LIGHT: Final = Colors(
    bg="#F3F3F6",
    surface="#FFFFFF",
    canvas="#F9F9FB",
    sunken="#ECECF1",
    hover="#E6E6EC",
    line="#DFDFE6",
    line2="#868995",
    text="#1A1B21",
    text2="#4C4F5B",
    text3="#616471",
    accent="#5746C6",
    accentHover="#4A3BB0",
    accentTint="#EBE8FB",
    onAccent="#FFFFFF",
    a="#00708C",
    aTint="#DAEEF3",
    onA="#FFFFFF",
    b="#A84A08",
    bTint="#FBE9DB",
    onB="#FFFFFF",
    tie="#5D616E",
    tieTint="#E4E5EA",
    onTie="#FFFFFF",
    good="#23733B",
    goodTint="#E1F1E5",
    warn="#755800",
    warnTint="#FAEFC4",
    bad="#B3223B",
    badTint="#FBE2E6",
    unscored="#616471",
    edge="#B9BBC6",
    edgeLit="#5746C6",
    band="#EEEEF3",
)

DARK: Final = Colors(
    bg="#101116",
    surface="#181A20",
    canvas="#13141A",
    sunken="#22242C",
    hover="#2A2D36",
    line="#2B2E38",
    line2="#727786",
    text="#ECEDF2",
    text2="#B4B8C4",
    text3="#9297A6",
    accent="#A598FF",
    accentHover="#B7ACFF",
    accentTint="#292550",
    onAccent="#15122B",
    a="#55C3DE",
    aTint="#11333D",
    onA="#05191F",
    b="#F0A15C",
    bTint="#3E2814",
    onB="#211104",
    tie="#AAAFBC",
    tieTint="#2C2F39",
    onTie="#14151A",
    good="#6DC989",
    goodTint="#15311F",
    warn="#E4BF4A",
    warnTint="#352C0D",
    bad="#F58C9C",
    badTint="#3F1B24",
    unscored="#9297A6",
    edge="#454956",
    edgeLit="#A598FF",
    band="#20222A",
)

CONTRAST: Final = Colors(
    bg="#000000",
    surface="#000000",
    canvas="#000000",
    sunken="#1C1C1C",
    hover="#2E2E2E",
    line="#FFFFFF",
    line2="#FFFFFF",
    text="#FFFFFF",
    text2="#FFFFFF",
    text3="#E3E3E3",
    accent="#FFFFFF",
    accentHover="#E3E3E3",
    accentTint="#333333",
    onAccent="#000000",
    a="#66E0FF",
    aTint="#002B36",
    onA="#000000",
    b="#FFB561",
    bTint="#3A2000",
    onB="#000000",
    tie="#E3E3E3",
    tieTint="#2E2E2E",
    onTie="#000000",
    good="#7BF09B",
    goodTint="#00290E",
    warn="#FFE066",
    warnTint="#332A00",
    bad="#FF9DAB",
    badTint="#3B0010",
    unscored="#E3E3E3",
    edge="#8F8F8F",
    edgeLit="#FFFFFF",
    band="#2E2E2E",
)

COLORS: Final[dict[ThemeName, Colors]] = {"light": LIGHT, "dark": DARK, "contrast": CONTRAST}
