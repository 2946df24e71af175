"""Charts of shares along an axis: by width, by number of neurons, by the share that people review."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from judgenet.core.wording import percent
from judgenet.report.axis import Axis, axis_over, share_ticks
from judgenet.report.charts import WIDTH
from judgenet.report.drawing import (
    LINE,
    Dot,
    Drawing,
    Label,
    Path,
    PathStep,
    Shape,
    Token,
    line,
    lines_around,
    text_width,
    wrapped,
)
from judgenet.stats.intervals import Interval


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A share at a place of the axis, with its 95 % interval."""

    x: float
    share: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class ChartLine:
    """Points from left to right. The ``subject`` stands out and shows its intervals as a band. ``end`` is the text
    after the name; empty: the last share."""

    name: str
    points: tuple[CurvePoint, ...]
    subject: bool = False
    end: str = ""

    @property
    def figure(self) -> str:
        return self.end or (percent(self.points[-1].share) if self.points else "")


@dataclass(frozen=True, slots=True)
class CurveAxes:
    """The curves of one panel; panels side by side have the same axes."""

    title: str
    curves: tuple[ChartLine, ...]


_HEIGHT = 268.0
_AXIS_W = 58.0
_GAP = 20.0
_SPREAD = 19.0
_DASHES: tuple[tuple[float, float] | None, ...] = (None, (6, 3), (2, 3))


def curves(
    panels: Sequence[CurveAxes],
    words: str,
    axis: str,
    *,
    level: tuple[str, float] | None = None,
    ticks: Sequence[float] | None = None,
    tick_text: Callable[[float], str] = lambda x: f"{x:g}",
) -> Drawing:
    """Panels side by side. ``axis`` is the title of the horizontal axis; ``level`` is a named share, drawn as a dashed
    line.

    In a single panel each curve has its name and last share at its end. In several, a panel's title names its subject,
    and the other curves are drawn behind it.
    """
    shown = [point for panel in panels for curve in panel.curves for point in curve.points]
    if not shown:
        return Drawing(WIDTH, 28, (Label(0, 18, f"n/a – {words}", "text3"),), words)
    single = len(panels) == 1
    marks = list(ticks) if ticks is not None else sorted({point.x for point in shown})
    drawn = [value for point in shown for value in (point.share, *(point.interval or ()))]
    shares = share_ticks([*drawn, *(() if level is None else level[1:])], most=6)
    up = axis_over(shares)
    names_w = max((_end_width(curve) for curve in panels[0].curves), default=0.0) if single else 0.0
    room = WIDTH - _AXIS_W - names_w - (24 if single else 8)
    panel_w = (room - _GAP * (len(panels) - 1)) / len(panels)
    top = 26.0 if not single or level is not None else 10.0
    bottom = top + _HEIGHT
    shapes: list[Shape] = []

    def y(share: float) -> float:
        return up.at(share, bottom, -_HEIGHT)

    for share in shares:
        shapes.append(Label(_AXIS_W - 10, y(share) + 4.8, f"{100 * share:.0f} %", "text2", "end", tabular=True))
    across = Axis(min(marks), max(marks))
    for place, panel in enumerate(panels):
        left = _AXIS_W + place * (panel_w + _GAP)

        def x(at: float, left: float = left) -> float:
            return across.at(at, left + 10, panel_w - 20)

        for share in shares:
            at = round(y(share)) + 0.5
            shapes.append(Path(line(left, at, left + panel_w, at), "line"))
        shapes += _tick_labels([(x(mark), tick_text(mark)) for mark in marks], bottom + 22)
        if panel.title:
            shapes.append(Label(left, top - 12, panel.title, "text", weight=600))
        if level is not None:
            name, share = level
            shapes.append(Path(line(left, y(share), left + panel_w, y(share)), "text", dash=(6, 4)))
            if single:
                shapes.append(Label(left, top - 10, f"{name} {percent(share)}", "text2", tabular=True))
        shapes += _panel(panel, x, y, single)
        if single:
            shapes += _ends(panel.curves, x, y, left + panel_w + 10, bottom)
    shapes.append(Label(_AXIS_W + room / 2, bottom + 44, axis, "text2", "middle"))
    return Drawing(WIDTH, bottom + 52, tuple(shapes), words)


def _tick_labels(ticks: Iterable[tuple[float, str]], y: float) -> list[Shape]:
    """The labels of ticks, those left out that would touch the one before."""
    labels: list[Shape] = []
    taken = -1e9
    for x, text in ticks:
        if x - text_width(text) / 2 > taken + 6:
            labels.append(Label(x, y, text, "text2", "middle", tabular=True))
            taken = x + text_width(text) / 2
    return labels


def _panel(panel: CurveAxes, x: Callable[[float], float], y: Callable[[float], float], single: bool) -> list[Shape]:
    """The curves, the subject last and so on top."""
    shapes: list[Shape] = []
    others = [curve for curve in panel.curves if not curve.subject]
    for place, curve in enumerate(others):
        if curve.points:
            dash = _DASHES[place % len(_DASHES)] if single else None
            shapes.append(Path(_steps(curve, x, y), "text3" if single else "edge", 1.25, dash))
    for curve in panel.curves:
        if not curve.subject or not curve.points:
            continue
        within = [(point.x, point.interval) for point in curve.points if point.interval is not None]
        if len(within) > 1:
            ends = [(x(at), y(interval.high)) for at, interval in within] + [
                (x(at), y(interval.low)) for at, interval in reversed(within)
            ]
            steps: list[PathStep] = [("M" if not place else "L", end) for place, end in enumerate(ends)]
            shapes.append(Path((*steps, ("Z", ())), fill="accent", opacity=0.14))
        elif within:
            at, interval = within[0]
            shapes.append(Path(line(x(at), y(interval.low), x(at), y(interval.high)), "accent", 1.5))
        shapes.append(Path(_steps(curve, x, y), "accent", 2))
        shapes += [Dot(x(point.x), y(point.share), 3, "accent") for point in curve.points]
    return shapes


def _steps(curve: ChartLine, x: Callable[[float], float], y: Callable[[float], float]) -> tuple[PathStep, ...]:
    return tuple(("M" if not place else "L", (x(point.x), y(point.share))) for place, point in enumerate(curve.points))


_NAME_W = 170.0


def _end_lines(curve: ChartLine) -> list[str]:
    return wrapped(curve.name, _NAME_W, weight=_weight(curve))


def _weight(curve: ChartLine) -> Literal[400, 600]:
    return 600 if curve.subject else 400


def _end_width(curve: ChartLine) -> float:
    weight = _weight(curve)
    name_w = max(text_width(text, weight=weight) for text in _end_lines(curve))
    return name_w + 12 + text_width(curve.figure, weight=weight)


def _ends(
    chart_lines: Sequence[ChartLine],
    x: Callable[[float], float],
    y: Callable[[float], float],
    left: float,
    bottom: float,
) -> list[Shape]:
    """Names at the ends of curves, kept apart, with leaders where they had to move."""
    there = sorted((curve for curve in chart_lines if curve.points), key=lambda curve: y(curve.points[-1].share))
    heights = [_SPREAD + LINE * (len(_end_lines(curve)) - 1) for curve in there]
    places: list[float] = []
    for place, curve in enumerate(there):
        wanted = y(curve.points[-1].share)
        places.append(max(wanted, places[-1] + (heights[place - 1] + heights[place]) / 2) if places else wanted)
    floor_y = bottom + _SPREAD / 2
    for place in range(len(places) - 1, -1, -1):
        # What was pushed below the plot goes up again, and takes those above along.
        places[place] = min(places[place], floor_y - heights[place] / 2)
        floor_y = places[place] - heights[place] / 2
    shapes: list[Shape] = []
    for curve, at in zip(there, places, strict=True):
        last = curve.points[-1]
        if abs(at - y(last.share)) > 2:
            shapes.append(Path(line(x(last.x) + 4, y(last.share), left + 4, at), "text3", 1))
        color: Token = "text" if curve.subject else "text2"
        weight = _weight(curve)
        shapes += lines_around(left + 8, at, _end_lines(curve), color, weight=weight)
        shapes.append(Label(WIDTH, at + 4.8, curve.figure, color, "end", weight, tabular=True))
    return shapes
