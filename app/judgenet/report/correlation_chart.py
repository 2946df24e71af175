"""The correlations of neurons as a heat map beside their dendrogram, for reports and for the page Results."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from judgenet.core.wording import minus
from judgenet.figures.panel import CorrelationFigures
from judgenet.report.charts import WIDTH
from judgenet.report.drawing import (
    LINE,
    Box,
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

MOST_NAMED: Final = 48
"""Up to this number each neuron has its name and its row; with more, rows are thinner and have no names."""
_TREE_W: Final = 84.0
_GAP: Final = 10.0
_TOP: Final = 24.0
_FOOT: Final = 58.0
_CELL_MOST: Final = 34.0
_ROW_LEAST: Final = 19.0
_NAMES_MOST: Final = 0.42
"""The names have at most this share of the width; longer ones are broken over lines."""
_STRENGTH: Final = 0.45
"""The strongest background behind figures: they stay readable on it in every theme."""


@dataclass(frozen=True)
class CorrelationLayout:
    """Where the parts of a heat map lie, in px: the dendrogram at the left, the cells, the names at their right."""

    found: CorrelationFigures
    names: tuple[str, ...]
    width: float = WIDTH

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The neurons, as places in :attr:`names`, from top to bottom and from left to right."""
        places = {name: place for place, name in enumerate(self.names)}
        return tuple(places[name] for name in self.found.order)

    @property
    def named(self) -> bool:
        """Each row has the name of its neuron."""
        return len(self.names) <= MOST_NAMED

    @cached_property
    def lines(self) -> tuple[list[str], ...]:
        """The name of each row, in lines."""
        most = _NAMES_MOST * self.width
        return tuple(wrapped(f"{row} {self.names[place]}", most) for row, place in enumerate(self.order, 1))

    @cached_property
    def written(self) -> bool:
        """There is room for the figure of each cell."""
        values = [r for row in self.found.r for r in row if r is not None and r < 0.995]
        widest = max((text_width(cell_text(r)) for r in values), default=0.0)
        return self.named and widest + 3 <= self.cell_w

    @property
    def strongest(self) -> float:
        """How strong the background of a correlation of 1 is, from 0 to 1."""
        return _STRENGTH if self.written else 1.0

    @cached_property
    def cell_w(self) -> float:
        """The width of a cell."""
        names_w = 0.0
        if self.named:
            names_w = max((text_width(text) for lines in self.lines for text in lines), default=0.0) + _GAP
        return min(_CELL_MOST, (self.width - self.left - names_w) / max(1, len(self.names)))

    @cached_property
    def cell_h(self) -> float:
        """The height of a cell."""
        if not self.named:
            return self.cell_w
        return max(self.cell_w, _ROW_LEAST, max((LINE * len(lines) + 4 for lines in self.lines), default=0.0))

    @property
    def left(self) -> float:
        """Where the cells begin."""
        return _TREE_W + _GAP

    @property
    def top(self) -> float:
        """Where the rows begin."""
        return _TOP

    @property
    def right(self) -> float:
        """Where the cells end, and the names begin."""
        return self.left + self.cell_w * len(self.names)

    @property
    def bottom(self) -> float:
        """Where the rows end."""
        return self.top + self.cell_h * len(self.names)

    @property
    def foot(self) -> float:
        """The height of the scales below the rows."""
        return _FOOT

    @cached_property
    def branches(self) -> Mapping[tuple[str, ...], tuple[float, float]]:
        """Where each branch of the dendrogram ends at its right: x and y, by the names of its neurons."""
        most = max((merge.distance for merge in self.found.merges), default=0.0) or 1.0
        ends: dict[tuple[str, ...], tuple[float, float]] = {
            (self.names[place],): (_TREE_W, self.top + (row + 0.5) * self.cell_h)
            for row, place in enumerate(self.order)
        }
        for merge in self.found.merges:
            middle = (ends[merge.left][1] + ends[merge.right][1]) / 2
            ends[(*merge.left, *merge.right)] = (_TREE_W * (1 - merge.distance / most) + 2, middle)
        return ends

    def row_at(self, y: float) -> int | None:
        """The neuron (place in :attr:`names`) whose row is at this height."""
        row = int((y - self.top) // self.cell_h)
        return self.order[row] if 0 <= row < len(self.order) else None

    def column_at(self, x: float) -> int | None:
        """The neuron (place in :attr:`names`) whose column is at this x."""
        column = int((x - self.left) // self.cell_w)
        return self.order[column] if 0 <= column < len(self.order) else None

    def branch_at(self, x: float, y: float, reach: float = 5.0) -> tuple[str, ...] | None:
        """The names of the neurons of the branch whose vertical line is within ``reach`` px."""
        for merge in self.found.merges:
            branch = (*merge.left, *merge.right)
            across = self.branches[branch][0]
            upper, lower = sorted((self.branches[merge.left][1], self.branches[merge.right][1]))
            if abs(x - across) <= reach and upper - reach <= y <= lower + reach:
                return branch
        return None


def correlation_drawing(
    layout: CorrelationLayout, basis: str, *, chosen: Collection[int] = (), cells: bool = True
) -> Drawing:
    """The heat map as a picture. ``basis`` says what is correlated ("errors"); ``chosen`` neurons (places in the
    names) are marked. Without ``cells`` only what stands around them is drawn."""
    correlations, count = layout.found, len(layout.names)
    words = f"Correlations of the {basis} of {count} neurons, those that are alike side by side"
    shapes: list[Shape] = [*_tree(layout)]
    if cells:
        shapes += _cells(layout)
    shapes += _names(layout, chosen)
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if step * layout.cell_w >= 22)
    for column in range(count):
        if (column + 1) % step == 0 or (step > 1 and column == 0):
            x = layout.left + (column + 0.5) * layout.cell_w
            shapes.append(Label(x, layout.top - 8, f"{column + 1}", "text2", "middle", tabular=True))
    most = max((merge.distance for merge in correlations.merges), default=0.0)
    shapes += [
        Label(0, layout.bottom + 18, f"{most:.2f}", "text2", tabular=True),
        Label(_TREE_W / 2, layout.bottom + 43, "1 − r", "text2", "middle"),
        Label(_TREE_W, layout.bottom + 18, "0", "text2", "end", tabular=True),
        *_legend(layout),
    ]
    return Drawing(layout.width, layout.bottom + layout.foot, tuple(shapes), words)


def _tree(layout: CorrelationLayout) -> list[Shape]:
    shapes: list[Shape] = []
    for merge in layout.found.merges:
        (x1, y1), (x2, y2) = layout.branches[merge.left], layout.branches[merge.right]
        x, _ = layout.branches[(*merge.left, *merge.right)]
        shapes.append(Path((*line(x1, y1, x, y1), ("L", (x, y2)), ("L", (x2, y2))), "text2", 1.25))
    return shapes


def ground(r: float | None) -> tuple[Token, float]:
    """The colour of a correlation's cell and its strength from 0 to 1: the accent colour above 0, grey below."""
    if r is None:
        return "surface", 1.0
    return ("accent" if r >= 0 else "text3"), min(1.0, abs(r))


def cell_text(r: float) -> str:
    """A correlation in few letters: ``.36``."""
    return minus(f"{r:.2f}").replace("0.", ".", 1)


def _cells(layout: CorrelationLayout) -> list[Shape]:
    shapes: list[Shape] = []
    written = layout.written
    gap = 1.0 if layout.cell_w >= 6 else 0.0
    for row, first in enumerate(layout.order):
        for column, second in enumerate(layout.order):
            x, y = layout.left + column * layout.cell_w, layout.top + row * layout.cell_h
            w, h = layout.cell_w - gap, layout.cell_h - gap
            r = layout.found.r[first][second]
            if first == second:
                shapes.append(Box(x, y, w, h, fill="sunken"))
            elif r is None:
                shapes.append(Box(x + 0.5, y + 0.5, w - 1, h - 1, stroke="text3", dash=(3, 2)))
            else:
                fill, strength = ground(r)
                shapes.append(Box(x, y, w, h, fill=fill, opacity=strength * layout.strongest))
                if written:
                    middle = y + h / 2 + 4.8
                    shapes.append(Label(x + w / 2, middle, cell_text(r), "text", "middle", tabular=True))
    return shapes


def _names(layout: CorrelationLayout, chosen: Collection[int]) -> list[Shape]:
    if not layout.named:
        return []
    shapes: list[Shape] = []
    for row, place in enumerate(layout.order):
        middle = layout.top + (row + 0.5) * layout.cell_h
        mine = place in chosen
        if mine:
            y, width = layout.top + row * layout.cell_h, layout.width - layout.right
            shapes.append(Box(layout.right + 2, y, width - 2, layout.cell_h - 1, 3, "accentTint", "accent"))
        lines = layout.lines[row]
        shapes += lines_around(layout.right + _GAP, middle, lines, "text" if mine else "text2")
    return shapes


def _legend(layout: CorrelationLayout) -> list[Shape]:
    """The legend: steps from 0 to 1, and what the other backgrounds mean."""
    y, x = layout.bottom + 30, layout.left
    shapes: list[Shape] = [Label(x, y + 13, "r", "text2")]
    x += 14
    for step in (0.0, 0.25, 0.5, 0.75, 1.0):
        fill, strength = ground(step)
        shapes.append(Box(x, y, 22, 16, fill=fill, stroke="line", opacity=strength * layout.strongest))
        x += 22
    shapes.append(Label(x + 6, y + 13, "0 to 1", "text2"))
    x += 60
    has = {"negative": False, "undefined": False}
    for row, values in enumerate(layout.found.r):
        for column, r in enumerate(values):
            has["undefined"] |= r is None and row != column
            has["negative"] |= r is not None and r < -0.005
    if has["negative"]:
        shapes += [
            Box(x, y, 22, 16, fill="text3", opacity=0.5 * layout.strongest),
            Label(x + 28, y + 13, "below 0", "text2"),
        ]
        x += 92
    if has["undefined"]:
        box = Box(x + 0.5, y + 0.5, 21, 15, stroke="text3", dash=(3, 2))
        shapes += [box, Label(x + 28, y + 13, "not defined", "text2")]
    return shapes
