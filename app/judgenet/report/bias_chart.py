"""The bias card as a drawing: for each bias a bar with its interval and the mark of chance, the shares from the single
judge to the network, and a sentence of what they mean."""

from __future__ import annotations

from itertools import accumulate

from judgenet.core.wording import ratio
from judgenet.report.axis import Axis, round_ticks
from judgenet.report.bias_card import BiasCard, BiasRow
from judgenet.report.charts import WIDTH
from judgenet.report.drawing import LINE, Drawing, Label, Path, Shape, line, text_width, wrapped
from judgenet.report.marks import bias_bar, judge_mark, judges_way

_HEAD = 56.0
_PLOT = 40.0
"""The least height of the plots of a row; the words stand below."""
_BAR_X, _BAR_W = 256.0, 252.0
_WAY_X, _WAY_W = 536.0, 208.0


def bias_chart(card: BiasCard, words: str) -> Drawing:
    """The card as a drawing; ``words`` describe it for those who do not see it."""
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
        shapes += bias_bar(row, top + _PLOT / 2, bar, _PLOT / 2 - 4)
        if with_way:
            shapes += judges_way(row, top + _PLOT / 2, _PLOT - 12, way, _PLOT / 2 - 4)
    return Drawing(WIDTH, bottom + 26, tuple(shapes), words)


def card_ticks(end: float) -> list[float]:
    """The ticks of a card's axis, from 0 to ``end``: a fifth apart."""
    return round_ticks(0.0, end, (0.2,))


def _head(card: BiasCard, with_way: bool) -> list[Shape]:
    """Titles of the columns, the legend of the mark of chance, and the shapes of the judges."""
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
        shapes += judge_mark(mark.shape, x, 35)
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
