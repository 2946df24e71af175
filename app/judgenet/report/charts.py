"""The charts of a report and of the results page, as drawings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal

from judgenet.core.pairs import Verdict
from judgenet.core.wording import LETTERS, percent, percent_interval
from judgenet.report.axis import axis_over, share_ticks
from judgenet.report.drawing import (
    LINE,
    Box,
    Dot,
    Drawing,
    Label,
    Path,
    Shape,
    Token,
    line,
    lines_around,
    text_width,
    wrapped,
)
from judgenet.report.marks import RowEmphasis, estimate_mark
from judgenet.stats.intervals import Interval

WIDTH = 856.0
"""The width of a report's column in px."""


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A row of a forest: a share with its 95 % interval. ``note`` stands at the right, after the figures.

    Without ``value`` the row shows ``reason``. ``baseline`` is a mark of this row alone. ``heading`` makes the row a
    title of the rows that follow.
    """

    name: str
    value: float | None = None
    interval: Interval | None = None
    look: RowEmphasis = "other"
    note: str = ""
    reason: str = ""
    baseline: float | None = None
    heading: bool = False


_ROW = 30.0
_LABEL_W = 236.0
_PLOT_X = 254.0


def forest(rows: Sequence[ForestRow], words: str, baseline: tuple[str, float] | None = None) -> Drawing:
    """Shares with their intervals, one a row, on a common axis in per cent. ``baseline`` is named above the plot."""
    note_w = _widest(row.note for row in rows)
    note_w += 24 if note_w else 0
    figures_w = 142.0
    right = WIDTH - note_w
    plot_w = right - figures_w - 16 - _PLOT_X
    ticks = share_ticks([*_shares(rows), *(() if baseline is None else baseline[1:])])
    axis = axis_over(ticks)

    def x(share: float) -> float:
        return axis.at(share, _PLOT_X, plot_w)

    top = 24.0 if baseline is not None else 4.0
    heights = [_height(row, right) for row in rows]
    tops = list(accumulate(heights, initial=top))
    bottom = tops[-1]
    drawn = _drawn(rows, tops)
    shapes: list[Shape] = []
    for tick in ticks:
        at = round(x(tick)) + 0.5
        shapes += [Path(line(at, upper, at, lower), "line") for upper, lower in drawn]
        shapes.append(_tick(at, bottom + 20, tick))
    if baseline is not None:
        name, share = baseline
        at = x(share)
        shapes += [
            Path(line(at, upper - 4 if upper == top else upper, at, lower), "text", dash=(6, 4))
            for upper, lower in drawn
        ]
        text = f"{name} {percent(share)}"
        anchor: Literal["start", "end"] = "start" if at + text_width(text) < right else "end"
        shapes.append(Label(at - 8 if anchor == "start" else at + 8, 13, text, "text2", anchor, tabular=True))
    for row, row_top, height in zip(rows, tops, heights, strict=False):
        shapes += _estimate(row, row_top + height / 2, x, right)
    return Drawing(WIDTH, bottom + 28, tuple(shapes), words)


def _shares(rows: Iterable[ForestRow]) -> Iterator[float]:
    """All values that rows show on the axis."""
    for row in rows:
        if row.value is not None:
            yield row.value
            yield from row.interval or ()
            if row.baseline is not None:
                yield row.baseline


def _widest(texts: Iterable[str]) -> float:
    return max(map(text_width, texts), default=0.0)


def _tick(x: float, y: float, share: float) -> Label:
    return Label(x, y, f"{100 * share:.0f} %", "text2", "middle", tabular=True)


def _drawn(rows: Sequence[ForestRow], tops: Sequence[float]) -> list[tuple[float, float]]:
    """The spans (y from and to) of the grid lines: they do not cross the reason why a row has no figure."""
    spans: list[tuple[float, float]] = []
    for row, (upper, lower) in zip(rows, pairwise(tops), strict=True):
        if row.value is None and not row.heading:
            continue
        if spans and spans[-1][1] == upper:
            upper = spans.pop()[0]
        spans.append((upper, lower))
    return spans


def _weight(row: ForestRow) -> Literal[400, 500, 600]:
    return 500 if row.heading else 600 if row.look == "subject" else 400


def _name(row: ForestRow) -> list[str]:
    return wrapped(row.name, WIDTH if row.heading else _LABEL_W, weight=_weight(row))


def _reason(row: ForestRow, right: float) -> list[str]:
    return wrapped(f"n/a – {row.reason}" if row.reason else "n/a", right - _PLOT_X)


def _height(row: ForestRow, right: float) -> float:
    lines = max(len(_name(row)), len(_reason(row, right)) if row.value is None and not row.heading else 1)
    return row_height(lines)


def row_height(lines: int) -> float:
    """The height of a chart's row with ``lines`` lines of text, in px."""
    return _ROW + LINE * (lines - 1)


def _estimate(row: ForestRow, y: float, x: Callable[[float], float], right: float) -> list[Shape]:
    subject = row.look == "subject"
    text: Token = "text" if subject else "text2"
    weight = _weight(row)
    shapes = lines_around(0, y, _name(row), text, weight=weight)
    if row.heading:
        return shapes
    if row.note:
        shapes.append(Label(WIDTH, y + 4.8, row.note, "text2", "end", tabular=True))
    if row.value is None:
        return [*shapes, *lines_around(_PLOT_X, y, _reason(row, right), "text3")]
    if row.baseline is not None:
        shapes.append(Path(line(x(row.baseline), y - 8, x(row.baseline), y + 8), "text", 2))
    shapes += estimate_mark(row.value, row.interval, y, x, row.look)
    if row.interval is not None:
        shapes.append(Label(right, y + 4.8, percent_interval(row.interval), text, "end", weight, tabular=True))
    figure = percent(row.value, unit=False)
    shapes.append(Label(right - 96, y + 4.8, figure, text, "end", weight, tabular=True))
    return shapes


# Tables of verdicts

_CELL_W, _CELL_H = 70.0, 38.0


def chip(x: float, y: float, verdict: Verdict) -> list[Shape]:
    """A verdict as a chip of 24 × 20 px with its letter."""
    on: dict[Verdict, Token] = {"a": "onA", "b": "onB", "tie": "onTie"}
    return [
        Box(x, y, 24, 20, 4, fill=verdict),
        Label(x + 12, y + 14.8, LETTERS[verdict], on[verdict], "middle", 600),
    ]


_SHOWN: tuple[Verdict, ...] = ("a", "tie", "b")
"""A left, B right, the tie between."""
_PLACE: dict[Verdict, int] = {"a": 0, "b": 1, "tie": 2}


def verdict_table(
    count: Mapping[tuple[Verdict, Verdict], int],
    rows: tuple[str, str],
    columns: str,
    words: str,
    *,
    right: str = "right",
) -> Drawing:
    """Counts by two verdicts: ``count[row, column]``. ``rows`` is the title of the rows in two lines.

    At the right stands the share of each row that lies on the diagonal, called ``right``; empty leaves it out.
    """
    x0, y0 = 92.0, 54.0
    most = max(count.values(), default=0) or 1
    shapes: list[Shape] = [Label(x0 + 1.5 * (_CELL_W + 2), 16, columns, "text2", "middle")]
    for place, verdict in enumerate(_SHOWN):
        shapes += chip(x0 + place * (_CELL_W + 2) + _CELL_W / 2 - 12, 26, verdict)
    middle = y0 + 1.5 * (_CELL_H + 2)
    shapes += [Label(0, middle - 3, rows[0], "text2"), Label(0, middle + 15, rows[1], "text2")]
    for line_no, row in enumerate(_SHOWN):
        y = y0 + line_no * (_CELL_H + 2)
        shapes += chip(62, y + 9, row)
        total = sum(count.get((row, column), 0) for column in _SHOWN)
        for place, column in enumerate(_SHOWN):
            x = x0 + place * (_CELL_W + 2)
            cell, same = count.get((row, column), 0), row == column
            shapes.append(Box(x, y, _CELL_W, _CELL_H, 3, fill="sunken"))
            share = cell / most
            shapes.append(
                Box(
                    x,
                    y,
                    _CELL_W,
                    _CELL_H,
                    3,
                    fill="accent" if same else "text3",
                    opacity=(0.42 if same else 0.26) * share,
                )
            )
            weight: Literal[500, 600] = 600 if same else 500
            shapes.append(Label(x + _CELL_W / 2, y + 24, f"{cell:,}", "text", "middle", weight, tabular=True))
        if right and total:
            share = count.get((row, row), 0) / total
            shapes.append(
                Label(x0 + 3 * (_CELL_W + 2) + 12, y + 24, f"{100 * share:.0f} % {right}", "text2", tabular=True)
            )
    width = x0 + 3 * (_CELL_W + 2) + (12 + text_width(f"100 % {right}") if right else 0)
    return Drawing(width, y0 + 3 * (_CELL_H + 2), tuple(shapes), words)


def confusion(table: Sequence[Sequence[int]], words: str) -> Drawing:
    """A confusion matrix (human labels in rows, verdicts in columns, both a, b, tie) drawn with the network in rows."""
    count = {(said, human): table[_PLACE[human]][_PLACE[said]] for said in _SHOWN for human in _SHOWN}
    return verdict_table(count, ("Network", "said"), "People said", words)


def changes(table: Sequence[Sequence[int]], before: str, after: str, words: str) -> Drawing:
    """Earlier verdicts in rows, later ones in columns (both a, b, tie)."""
    count = {(row, column): table[_PLACE[row]][_PLACE[column]] for row in _SHOWN for column in _SHOWN}
    return verdict_table(count, (before, "said"), f"{after} said", words, right="kept")


# Shares of a whole


@dataclass(frozen=True, slots=True)
class BarPart:
    """A part of a bar. ``strength`` 0 leaves the track empty, 1 is the full accent."""

    name: str
    count: int
    strength: float


def split_bar(rows: Sequence[tuple[str, Sequence[BarPart], str]], words: str) -> Drawing:
    """Wholes split into the same parts, one a row: (name, parts, note). The parts are named above the first row."""
    x0 = 172.0
    bar_w = WIDTH - x0 - _widest(note for _, _, note in rows) - 16
    shapes: list[Shape] = []
    x = x0
    for part in rows[0][1] if rows else ():
        shapes += _swatch(x, 2, part.strength)
        shapes.append(Label(x + 20, 13, part.name, "text2"))
        x += 20 + text_width(part.name) + 24
    top = 29.0
    for place, (name, parts, note) in enumerate(rows):
        weight: Literal[400, 600] = 400 if place else 600
        lines = wrapped(name, x0 - 16, weight=weight)
        height = row_height(len(lines))
        y = top + height / 2
        top += height
        total = sum(part.count for part in parts)
        shapes += lines_around(0, y - 2, lines, "text2" if place else "text", weight=weight)
        shapes.append(Label(WIDTH, y + 2.8, note, "text2", "end", tabular=True))
        at = x0
        for part in parts:
            width = bar_w * part.count / total if total else 0.0
            if width > 0:
                shapes += _piece(at, y - 10, width, part.strength)
                text = f"{part.count:,}"
                if text_width(text) + 10 < width:
                    on: Token = "onAccent" if part.strength == 1 else "text"
                    shapes.append(Label(at + width / 2, y + 4.8, text, on, "middle", 500, tabular=True))
            at += width
        if not total:
            shapes.append(Box(x0 + 0.5, y - 9.5, bar_w - 1, 19, 3, stroke="unscored", dash=(3, 3)))
    return Drawing(WIDTH, top + 5, tuple(shapes), words)


def _swatch(x: float, y: float, strength: float) -> list[Shape]:
    return _piece(x, y, 13, strength, 12)


def _piece(x: float, y: float, width: float, strength: float, height: float = 20) -> list[Shape]:
    inner = max(width - 1, 0.75)
    shapes: list[Shape] = [Box(x, y, inner, height, 2, fill="sunken")]
    if strength:
        shapes.append(Box(x, y, inner, height, 2, fill="accent", opacity=strength))
    return shapes


def bars(rows: Sequence[tuple[str, int, str]], words: str) -> Drawing:
    """Counts, one a row: (name, count, note); bar lengths are relative to the largest."""
    x0 = 236.0
    most = max((count for _, count, _ in rows), default=0) or 1
    bar_w = WIDTH - x0 - _widest(note for _, _, note in rows) - 24
    shapes: list[Shape] = []
    top = 0.0
    for name, count, note in rows:
        lines = wrapped(name, x0 - 16)
        y = top + row_height(len(lines)) / 2
        top += row_height(len(lines))
        shapes += lines_around(0, y - 1, lines, "text2")
        shapes.append(Box(x0, y - 5, bar_w, 8, 2, fill="sunken"))
        shapes.append(Box(x0, y - 5, max(1.5, bar_w * count / most), 8, 2, fill="text3"))
        shapes.append(Label(WIDTH, y + 3.8, note, "text2", "end", tabular=True))
    return Drawing(WIDTH, top, tuple(shapes), words)


# Many neurons


def strips(
    rows: Sequence[tuple[str, Sequence[float]]], words: str, baseline: tuple[str, float] | None = None
) -> Drawing:
    """Where many neurons are too many for a row each: one strip for each layer, each neuron a dot at its share,
    dots of the same place stacked."""
    ticks = share_ticks(
        [*(value for _, values in rows for value in values), *(() if baseline is None else baseline[1:])]
    )
    axis = axis_over(ticks)
    x0, plot_w = 96.0, WIDTH - 96 - 24
    step, tall = 6.0, 72.0

    def x(share: float) -> float:
        return axis.at(share, x0, plot_w)

    top = 24.0 if baseline is not None else 4.0
    bottom = top + tall * len(rows)
    shapes: list[Shape] = []
    for tick in ticks:
        at = round(x(tick)) + 0.5
        shapes.append(Path(line(at, top, at, bottom), "line"))
        shapes.append(_tick(at, bottom + 20, tick))
    if baseline is not None:
        at = x(baseline[1])
        shapes.append(Path(line(at, top - 4, at, bottom), "text", dash=(6, 4)))
        shapes.append(Label(at - 8, 13, f"{baseline[0]} {percent(baseline[1])}", "text2", tabular=True))
    for place, (name, values) in enumerate(rows):
        ground = top + tall * (place + 1) - 10
        shapes.append(Label(0, ground - 20, name, "text2"))
        piles: dict[int, int] = {}
        for value in values:
            column = round(x(value) / step)
            piles[column] = piles.get(column, 0) + 1
        high_pile = max(piles.values(), default=1)
        rise = min(step, (tall - 24) / high_pile)
        for column, count in sorted(piles.items()):
            for level in range(count):
                shapes.append(Dot(column * step, ground - level * rise, 2.5, "accent", None))
    return Drawing(WIDTH, bottom + 28, tuple(shapes), words)
