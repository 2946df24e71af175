"""Curves along an axis: what is drawn, where, and that names do not touch."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import pytest

from judgenet.report.charts import WIDTH
from judgenet.report.curve_charts import ChartLine, CurveAxes, CurvePoint, curves
from judgenet.report.drawing import BODY_PX, Dot, Drawing, Label, Path, of_theme, svg
from judgenet.stats.intervals import Interval


def labels(drawing: Drawing) -> list[Label]:
    return [shape for shape in drawing.shapes if isinstance(shape, Label)]


def line_of(share: float, subject: bool = False, name: str = "") -> ChartLine:
    points = tuple(CurvePoint(x, share, Interval(share - 0.1, share + 0.1)) for x in (1, 2, 3))
    return ChartLine(name or f"at {share}", points, subject)


def test_one_panel_names_its_curves_at_their_ends_apart_from_each_other() -> None:
    drawn = curves([CurveAxes("", tuple(line_of(0.6 + i / 1000, i == 2) for i in range(5)))], "words", "neurons")
    names = sorted(label.y for label in labels(drawn) if label.text.startswith("at "))
    assert len(names) == 5
    assert all(later - before >= 19 - 1e-6 for before, later in pairwise(names))
    assert all(0 < label.y <= drawn.height for label in labels(drawn))
    assert all(label.px >= BODY_PX for label in labels(drawn))


def test_names_that_would_fall_below_the_plot_are_pushed_up() -> None:
    low = tuple(line_of(0.1 + i / 10_000, i == 0) for i in range(6))
    drawn = curves([CurveAxes("", (*low, line_of(0.9)))], "words", "neurons")
    ticks = [label.y for label in labels(drawn) if label.text in ("1", "2", "3")]
    names = [label.y for label in labels(drawn) if label.text.startswith("at ")]
    assert max(names) < min(ticks)


def test_points_stand_at_their_shares() -> None:
    points = (
        CurvePoint(1, 0.4, Interval(0.3, 0.5)),
        CurvePoint(2, 0.6, Interval(0.5, 0.7)),
        CurvePoint(4, 0.8, Interval(0.7, 0.9)),
    )
    drawn = curves([CurveAxes("", (ChartLine("one", points, True),))], "words", "neurons")
    dots = [shape for shape in drawn.shapes if isinstance(shape, Dot)]
    assert len(dots) == 3
    # Equal steps upwards for equal steps of the share; to the right by the number of neurons, not by place.
    assert dots[0].y - dots[1].y == pytest.approx(dots[1].y - dots[2].y)
    assert dots[2].x - dots[1].x == pytest.approx(2 * (dots[1].x - dots[0].x))
    tick = next(label for label in labels(drawn) if label.text == "40 %")
    assert tick.y - 4.8 == pytest.approx(dots[0].y)


def test_panels_share_their_axes_and_stand_side_by_side() -> None:
    both = (line_of(0.4), line_of(0.6))
    panels = [
        CurveAxes(f"l = {place}", tuple(ChartLine(c.name, c.points, c is both[place]) for c in both))
        for place in (0, 1)
    ]
    drawn = curves(panels, "words", "neurons", level=("always A", 0.5))
    titles = [label for label in labels(drawn) if label.text.startswith("l = ")]
    assert titles[0].y == titles[1].y
    assert titles[0].x + 300 < titles[1].x
    dashed = [shape for shape in drawn.shapes if isinstance(shape, Path) and shape.dash]
    assert len(dashed) == 2
    assert all(label.x <= WIDTH for label in labels(drawn))


def test_without_points_it_says_why() -> None:
    drawn = curves([CurveAxes("", (ChartLine("none", ()),))], "no pair has a human label", "neurons")
    assert [label.text for label in labels(drawn)] == ["n/a – no pair has a human label"]
    root = ElementTree.fromstring(svg(drawn, of_theme("dark"), alone=True))
    assert root.tag.endswith("svg")


def test_a_single_point_shows_its_interval() -> None:
    drawn = curves(
        [CurveAxes("", (ChartLine("one", (CurvePoint(1, 0.5, Interval(0.4, 0.6)),), True),))], "words", "neurons"
    )
    assert any(isinstance(shape, Path) and shape.stroke == "accent" and shape.width == 1.5 for shape in drawn.shapes)
