"""The marks of charts in the report and on pages of the studio: an estimate with its interval, the bar of a bias with
the mark of chance, the line from judge to judge.

All lengths are px at 100 %, y downwards; ``at`` gives the place of a share.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Literal

from judgenet.report.bias_card import BiasRow, MarkShape
from judgenet.report.drawing import Box, Dot, Path, PathStep, Shape, Token, line
from judgenet.stats.intervals import Interval

At = Callable[[float], float]
RowEmphasis = Literal["subject", "other", "uncorrected"]

MARK = 5.0
"""Half the width of a judge's mark."""


def estimate_mark(value: float, interval: Interval | None, y: float, at: At, look: RowEmphasis) -> list[Shape]:
    """An estimate as a dot with its interval; an uncorrected one is hollow and dashed."""
    color: Token = "accent" if look == "subject" else "text3" if look == "uncorrected" else "text2"
    shapes: list[Shape] = []
    if interval is not None:
        low, high = at(interval.low), at(interval.high)
        dash = (3.0, 3.0) if look == "uncorrected" else None
        shapes.append(Path(line(low, y, high, y), color, 1.5, dash))
        if dash is None:
            shapes.append(Path(_caps(low, high, y), color, 1.5))
    if look == "uncorrected":
        shapes.append(Dot(at(value), y, 4, "surface", color))
    else:
        shapes.append(Dot(at(value), y, 5 if look == "subject" else 4, color))
    return shapes


def bias_bar(row: BiasRow, y: float, at: At, coin: float) -> list[Shape]:
    """The share of a bias as a bar with its interval; ``coin`` is half the height of the mark of chance."""
    shapes: list[Shape] = []
    if row.share is not None:
        shapes.append(Box(at(0), y - 8, at(row.share) - at(0), 16, fill="accent", opacity=0.28))
    if row.random is not None:
        shapes.append(_coin(at(row.random), y, coin))
    if row.interval is not None:
        low, high = at(row.interval.low), at(row.interval.high)
        shapes.append(Path((*line(low, y, high, y), *_caps(low, high, y)), "accent", 1.5))
    if row.share is not None:
        shapes.append(Dot(at(row.share), y, 4.5, "accent"))
    return shapes


def judges_way(row: BiasRow, y: float, height: float, at: At, coin: float, ground: Token = "surface") -> list[Shape]:
    """The judges' shares from the single judge to the network, stepped over ``height`` around ``y`` so that equal
    values do not hide each other."""
    shapes: list[Shape] = []
    if row.random is not None:
        shapes.append(_coin(at(row.random), y, coin))
    count = len(row.marks)
    step = height / max(1, count - 1)
    first = y if count == 1 else y - height / 2
    points = [
        (mark, at(mark.share), first + place * step) for place, mark in enumerate(row.marks) if mark.share is not None
    ]
    joined = [point for point in points if point[0] in row.joined]
    shapes += [Path(line(x1, y1, x2, y2), "text3") for (_, x1, y1), (_, x2, y2) in pairwise(joined)]
    for mark, x, mark_y in points:
        shapes += judge_mark(mark.shape, x, mark_y, ground)
    return shapes


def judge_mark(shape: MarkShape, x: float, y: float, ground: Token = "surface") -> list[Shape]:
    """A judge's mark: the network is a full dot, the others are hollow and show the ``ground``."""
    if shape == "dot":
        return [Dot(x, y, MARK, "accent", None)]
    if shape == "circle":
        return [Dot(x, y, 4.5, ground, "text")]
    if shape == "square":
        return [Box(x - 4.25, y - 4.25, 8.5, 8.5, fill=ground, stroke="text", width=1.5)]
    if shape == "cross":
        arms = (*line(x - MARK, y - MARK, x + MARK, y + MARK), *line(x - MARK, y + MARK, x + MARK, y - MARK))
        return [Path(arms, "text", 1.5)]
    corners = {
        "triangle": ((x, y - 5), (x + 5, y + 4), (x - 5, y + 4)),
        "diamond": ((x, y - 5.5), (x + 5, y), (x, y + 5.5), (x - 5, y)),
    }[shape]
    first, *others = corners
    return [Path((("M", first), *(("L", corner) for corner in others), ("Z", ())), "text", 1.5, fill=ground)]


def _caps(low: float, high: float, y: float) -> tuple[PathStep, ...]:
    return (*line(low, y - 5, low, y + 5), *line(high, y - 5, high, y + 5))


def _coin(x: float, y: float, half: float) -> Path:
    return Path(line(x, y - half, x, y + half), "text", 2)
