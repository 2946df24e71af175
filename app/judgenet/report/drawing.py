"""A picture as a list of plain shapes with colours by name: written as SVG here, as PDF by the template of the report,
painted by Qt elsewhere.

Measures are px at 96 dpi, y downwards. Texts are at least 10 pt (13.333 px).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Literal

from judgenet.colors import COLORS, ThemeName
from judgenet.core.wording import clean

BODY_PX = 40 / 3
"""10 pt: the size of body texts, and the smallest."""

Token = Literal[
    "surface",
    "canvas",
    "sunken",
    "hover",
    "line",
    "line2",
    "text",
    "text2",
    "text3",
    "accent",
    "accentTint",
    "onAccent",
    "a",
    "onA",
    "b",
    "onB",
    "tie",
    "onTie",
    "unscored",
    "edge",
    "band",
]
"""The name of a colour of :class:`~judgenet.colors.Colors`."""

PathStep = tuple[Literal["M", "L", "C", "Z"], tuple[float, ...]]
"""A part of a path: move (x, y), line (x, y), cubic curve (two control points and the end), close ()."""

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Path:
    """A line or an area. ``opacity`` is that of the fill."""

    steps: tuple[PathStep, ...]
    stroke: Token | None = None
    width: float = 1.0
    dash: tuple[float, float] | None = None
    fill: Token | None = None
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with round corners of radius ``r``."""

    x: float
    y: float
    w: float
    h: float
    r: float = 0.0
    fill: Token | None = None
    stroke: Token | None = None
    width: float = 1.0
    dash: tuple[float, float] | None = None
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Dot:
    """A circle."""

    x: float
    y: float
    r: float
    fill: Token | None = None
    stroke: Token | None = None
    width: float = 1.5
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Label:
    """A line of text on the baseline ``y``; ``tabular`` gives figures of one width."""

    x: float
    y: float
    text: str
    color: Token = "text"
    anchor: Anchor = "start"
    weight: Literal[400, 500, 600] = 400
    px: float = BODY_PX
    tabular: bool = False


Shape = Path | Box | Dot | Label


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture; ``words`` say what it shows, for those who do not see it."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    words: str


def line(x1: float, y1: float, x2: float, y2: float) -> tuple[PathStep, PathStep]:
    """The steps of a straight line."""
    return ("M", (x1, y1)), ("L", (x2, y2))


def curve(x1: float, y1: float, x2: float, y2: float) -> tuple[PathStep, PathStep]:
    """The steps of an edge: a cubic curve with its control points at half the gap."""
    middle = (x1 + x2) / 2
    return ("M", (x1, y1)), ("C", (middle, y1, middle, y2, x2, y2))


# Measuring without a font

_NARROW = frozenset("iIjltfr.,:;'’|!()[]{} /\\-·")
_BROAD = frozenset("mwMW@%—…")


def text_width(text: str, px: float = BODY_PX, weight: int = 400) -> float:
    """The approximate width of a text in Inter, in px; rather too wide than too narrow. A letter of a wide script
    counts as a full square."""
    ems = 0.0
    for letter in text:
        if letter in _NARROW:
            ems += 0.34
        elif letter in _BROAD:
            ems += 0.95
        elif unicodedata.east_asian_width(letter) in "WF":
            ems += 1.02
        elif unicodedata.combining(letter) or unicodedata.category(letter) in ("Cf", "Mn"):
            continue
        elif letter.isupper() or letter.isdigit():
            ems += 0.68
        else:
            ems += 0.60
    return ems * px * (1.04 if weight >= 600 else 1.0)


LINE = 17.0
"""The distance between lines of text, in px."""


def wrapped(text: str, width: float, px: float = BODY_PX, weight: int = 400) -> list[str]:
    """The text in lines of at most ``width`` px, broken at spaces and, where a word is wider, within it.

    Nothing is left out but spaces at the breaks. Each line holds at least one letter.
    """
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and text_width(f"{line} {word}", px, weight) <= width:
            line += f" {word}"
            continue
        if line:
            lines.append(line)
        *full, line = _pieces(word, width, px, weight)
        lines += full
    return [*lines, line]


def _pieces(word: str, width: float, px: float, weight: int) -> list[str]:
    pieces = [""]
    for letter in word:
        # A mark stays with its letter.
        mark = unicodedata.category(letter) in ("Mn", "Mc", "Me", "Cf")
        if pieces[-1] and not mark and text_width(pieces[-1] + letter, px, weight) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def lines_around(
    x: float,
    y: float,
    lines: Sequence[str],
    color: Token = "text",
    anchor: Anchor = "start",
    weight: Literal[400, 500, 600] = 400,
) -> list[Shape]:
    """Lines of text below each other, centred at ``y``."""
    first = y + 4.8 - LINE * (len(lines) - 1) / 2
    return [Label(x, first + LINE * place, text, color, anchor, weight) for place, text in enumerate(lines)]


def moved(shape: Shape, dx: float, dy: float) -> Shape:
    """A shape at another place."""
    if isinstance(shape, (Label, Dot, Box)):
        return replace(shape, x=shape.x + dx, y=shape.y + dy)
    steps = tuple(
        (kind, tuple(value + (dy if place % 2 else dx) for place, value in enumerate(values)))
        for kind, values in shape.steps
    )
    return replace(shape, steps=steps)


# SVG

Paint = Callable[[Token], str]


def by_variable(token: Token) -> str:
    """Colours as CSS variables: the page that holds the picture decides."""
    return f"var(--{token})"


def of_theme(name: ThemeName) -> Paint:
    """The colours of a theme themselves, for a picture in a file of its own."""
    colors = COLORS[name]
    return lambda token: str(getattr(colors, token))


def svg(drawing: Drawing, paint: Paint = by_variable, *, alone: bool = False) -> str:
    """The picture as an SVG element, or as a file of its own with ``alone``. Texts are escaped."""
    w, h = _n(drawing.width), _n(drawing.height)
    words = _text(drawing.words)
    head = f'<svg width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" aria-label="{words}"'
    body = "".join(_shape(shape, paint) for shape in drawing.shapes)
    if not alone:
        return f"{head}>{body}</svg>"
    ground = f'<rect width="{w}" height="{h}" fill="{paint("surface")}"/>'
    style = (
        "<style>text{font-family:Inter,'Segoe UI',system-ui,'Noto Sans','Noto Sans CJK SC',sans-serif}"
        ".n{font-feature-settings:'tnum'}</style>"
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{head} xmlns="http://www.w3.org/2000/svg">'
        f"<title>{words}</title>{style}{ground}{body}</svg>\n"
    )


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _text(text: str) -> str:
    return escape(clean(text))


def _attributes(
    paint: Paint,
    fill: Token | None,
    stroke: Token | None,
    width: float,
    dash: tuple[float, float] | None,
    opacity: float,
) -> str:
    attributes = f' fill="{paint(fill) if fill else "none"}"'
    if fill and opacity != 1:
        attributes += f' fill-opacity="{_n(opacity)}"'
    if stroke:
        attributes += f' stroke="{paint(stroke)}"'
        if width != 1:
            attributes += f' stroke-width="{_n(width)}"'
        if dash:
            attributes += f' stroke-dasharray="{_n(dash[0])} {_n(dash[1])}"'
    return attributes


def _shape(shape: Shape, paint: Paint) -> str:
    if isinstance(shape, Label):
        return _label(shape, paint)
    if isinstance(shape, Path):
        d = "".join(name + " ".join(_n(value) for value in values) for name, values in shape.steps)
        return f'<path d="{d}"{_attributes(paint, shape.fill, shape.stroke, shape.width, shape.dash, shape.opacity)}/>'
    if isinstance(shape, Box):
        place = f'x="{_n(shape.x)}" y="{_n(shape.y)}" width="{_n(shape.w)}" height="{_n(shape.h)}"'
        corner = f' rx="{_n(shape.r)}"' if shape.r else ""
        look = _attributes(paint, shape.fill, shape.stroke, shape.width, shape.dash, shape.opacity)
        return f"<rect {place}{corner}{look}/>"
    look = _attributes(paint, shape.fill, shape.stroke, shape.width, None, shape.opacity)
    return f'<circle cx="{_n(shape.x)}" cy="{_n(shape.y)}" r="{_n(shape.r)}"{look}/>'


def _label(label: Label, paint: Paint) -> str:
    element = f'<text x="{_n(label.x)}" y="{_n(label.y)}" fill="{paint(label.color)}" font-size="{_n(label.px)}"'
    if label.weight != 400:
        element += f' font-weight="{label.weight}"'
    if label.anchor != "start":
        element += f' text-anchor="{label.anchor}"'
    if label.tabular:
        element += ' class="n"'
    return f"{element}>{_text(label.text)}</text>"
