"""The bias card as a drawing: for each bias a bar with its interval and the coin's mark, the way from the single judge
to the network, and what it means in words."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise

from judgenet.core.wording import ratio
from judgenet.report.axis import Axis, round_ticks
from judgenet.report.bias_card import BiasCard, BiasRow, Mark
from judgenet.report.charts import WIDTH
from judgenet.report.drawing import LINE, Box, Dot, Drawing, Label, Path, Shape, line, text_width, wrapped

_HEAD = 56.0
_PLOT = 40.0
"""How high the plots of a row are at the least; the words stand below."""
_BAR_X, _BAR_W = 256.0, 252.0
_WAY_X, _WAY_W = 536.0, 208.0

At = Callable[[float], float]


def bias_chart(card: BiasCard, words: str) -> Drawing:
    """A card as a picture; ``words`` say what it shows."""
    with_way = len(card.legend) > 1
    wide = _BAR_W if with_way else _WAY_X + _WAY_W - _BAR_X

    axis = Axis(0.0, card.end)

    def bar(share: float) -> float:
        return axis.at(min(share, card.end), _BAR_X, wide)

    def way(share: float) -> float:
        return axis.at(min(share, card.end), _WAY_X, _WAY_W)

    tops = list(accumulate(map(_height, card.rows), initial=_HEAD))
    bottom = tops[-1]
    shapes = [*_head(card, with_way)]
    for at in (bar, way) if with_way else (bar,):
        for share in card_ticks(card.end):
            for top in tops[:-1]:
                shapes.append(Path(line(round(at(share)) + 0.5, top, round(at(share)) + 0.5, top + _PLOT), "line"))
            shapes.append(Label(at(share), bottom + 18, f"{share:.1f}", "text2", "middle", tabular=True))
    for row, top in zip(card.rows, tops, strict=False):
        shapes.append(Path(line(0, top - 2.5, WIDTH, top - 2.5), "line"))
        shapes += _texts(row, top)
        shapes += _bar(row, top + _PLOT / 2, bar)
        if with_way:
            shapes += _way(row, top, way)
    return Drawing(WIDTH, bottom + 26, tuple(shapes), words)


def card_ticks(end: float) -> list[float]:
    """The ticks of a card's axis, from 0 to ``end``: a fifth apart."""
    return round_ticks(0.0, end, (0.2,))


def _head(card: BiasCard, with_way: bool) -> list[Shape]:
    """Titles of the columns, what the coin's mark is, and the shapes of the judges."""
    title = f"{card.subject.title}, share and 95 % interval"
    if text_width(title, weight=600) > _BAR_W:
        title = "Share and 95 % interval"
    shapes: list[Shape] = [
        Label(0, 15, "Bias", weight=600),
        Label(_BAR_X, 15, title, weight=600),
        Label(WIDTH, 15, "Valid n", anchor="end", weight=600),
        Path(line(_BAR_X + 1, 28, _BAR_X + 1, 42), "text", 2),
        Label(_BAR_X + 10, 39, "RANDOM: a coin on the same pairs", "text2"),
    ]
    if not with_way:
        return shapes
    shapes.append(Label(_WAY_X, 15, "Single judge to network", weight=600))
    x = _WAY_X + 6
    for mark in card.legend:
        if x + 12 + text_width(mark.title) > WIDTH:
            break
        shapes += _shape(mark, x, 35)
        shapes.append(Label(x + 11, 39, mark.title, "text2"))
        x += 26 + text_width(mark.title)
    return shapes


def _said(row: BiasRow) -> list[str]:
    """What stands below the plots of a row."""
    share = "n/a" if row.share is None else ratio(row.share)
    figures = f"Share {share}, {row.net_text}" if row.net_text else f"Share {share}"
    said = wrapped(row.words if row.share is None else f"{figures}: {row.words}", WIDTH)
    return [*said, *(wrapped(row.people, WIDTH) if row.people else ())]


def _names(row: BiasRow) -> tuple[list[str], list[str]]:
    """The name of a bias and what it tells, at the left of the plots."""
    return wrapped(row.title, _BAR_X - 12, weight=600), wrapped(row.tells, _BAR_X - 12)


def _head_height(row: BiasRow) -> float:
    """How high the plots and what stands beside them are."""
    return max(_PLOT, 6 + LINE * sum(map(len, _names(row))))


def _height(row: BiasRow) -> float:
    return _head_height(row) + LINE * len(_said(row)) + 9


def _texts(row: BiasRow, top: float) -> list[Shape]:
    title, tells = _names(row)
    below = top + _head_height(row) + 16
    said = [Label(0, below + LINE * place, text) for place, text in enumerate(_said(row))]
    names = [Label(0, top + 17 + LINE * place, text, weight=600) for place, text in enumerate(title)]
    first = top + 19 + LINE * len(title)
    names += [Label(0, first + LINE * place, text, "text2") for place, text in enumerate(tells)]
    return [*names, Label(WIDTH, top + 25, f"{row.n:,}", "text", "end", tabular=True), *said]


def _bar(row: BiasRow, y: float, at: At) -> list[Shape]:
    shapes: list[Shape] = []
    if row.share is not None:
        shapes.append(Box(at(0), y - 8, at(row.share) - at(0), 16, fill="accent", opacity=0.28))
    if row.random is not None:
        shapes.append(Path(line(at(row.random), y - 16, at(row.random), y + 16), "text", 2))
    if row.interval is not None:
        low, high = at(row.interval.low), at(row.interval.high)
        caps = (*line(low, y, high, y), *line(low, y - 5, low, y + 5), *line(high, y - 5, high, y + 5))
        shapes.append(Path(caps, "accent", 1.5))
    if row.share is not None:
        shapes.append(Dot(at(row.share), y, 4.5, "accent"))
    return shapes


def _way(row: BiasRow, top: float, at: At) -> list[Shape]:
    """The judges stepped from top to bottom, so that equal values do not hide each other."""
    shapes: list[Shape] = []
    if row.random is not None:
        shapes.append(Path(line(at(row.random), top + 4, at(row.random), top + _PLOT - 4), "text", 2))
    step = (_PLOT - 12) / max(1, len(row.marks) - 1)
    points = [
        (mark, at(mark.share), top + 6 + place * step) for place, mark in enumerate(row.marks) if mark.share is not None
    ]
    joined = [of for of in points if of[0] in row.joined]
    for (_, x1, y1), (_, x2, y2) in pairwise(joined):
        shapes.append(Path(line(x1, y1, x2, y2), "text3"))
    for mark, x, y in points:
        shapes += _shape(mark, x, y)
    return shapes


def _shape(mark: Mark, x: float, y: float) -> list[Shape]:
    """A judge's mark: the network is a full dot, the others are hollow."""
    if mark.shape == "dot":
        return [Dot(x, y, 5, "accent", None)]
    if mark.shape == "circle":
        return [Dot(x, y, 4.5, "surface", "text2")]
    if mark.shape == "square":
        return [Box(x - 4.5, y - 4.5, 9, 9, fill="surface", stroke="text2", width=1.5)]
    if mark.shape == "cross":
        return [Path((*line(x - 5, y - 5, x + 5, y + 5), *line(x - 5, y + 5, x + 5, y - 5)), "text", 2)]
    corners = {
        "triangle": ((x, y - 5.5), (x + 5.5, y + 4.5), (x - 5.5, y + 4.5)),
        "diamond": ((x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)),
    }[mark.shape]
    first, *others = corners
    return [Path((("M", first), *(("L", corner) for corner in others), ("Z", ())), "text2", 1.5, fill="surface")]
