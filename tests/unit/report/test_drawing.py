"""Charts and the network's picture: well-formed, to scale, legible, with nothing outside."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from judgenet.colors import COLORS
from judgenet.core import design, presets
from judgenet.core.network import NetworkSpec, Role, RolesSpec
from judgenet.report import charts
from judgenet.report.charts import BarPart, ForestRow
from judgenet.report.clouds import word_cloud
from judgenet.report.drawing import (
    BODY_PX,
    Box,
    Dot,
    Drawing,
    Label,
    Path,
    of_theme,
    svg,
    text_width,
    wrapped,
)
from judgenet.report.network_picture import network_picture
from judgenet.stats.intervals import Interval
from tests.unit.report.runs import fixed_network

SVG = "{http://www.w3.org/2000/svg}"


def labels(drawing: Drawing) -> list[Label]:
    return [shape for shape in drawing.shapes if isinstance(shape, Label)]


def texts(drawing: Drawing) -> list[str]:
    return [label.text for label in labels(drawing)]


def check(drawing: Drawing) -> None:
    """Nothing is drawn outside, no letter is below 10 pt, and the file is XML that asks for nothing."""
    for shape in drawing.shapes:
        if isinstance(shape, Box):
            assert shape.x >= -0.01
            assert shape.y >= -0.01
            assert shape.x + shape.w <= drawing.width + 0.01
            assert shape.y + shape.h <= drawing.height + 0.01
        elif isinstance(shape, Dot):
            assert 0 <= shape.x <= drawing.width
            assert 0 <= shape.y <= drawing.height
        elif isinstance(shape, Path):
            points = [value for _, values in shape.steps for value in values]
            assert all(-0.01 <= x <= drawing.width + 0.01 for x in points[::2])
            assert all(-0.01 <= y <= drawing.height + 0.01 for y in points[1::2])
        else:
            assert shape.px >= BODY_PX - 0.01
            width = text_width(shape.text, shape.px, shape.weight) * 0.8
            left = {"start": shape.x, "middle": shape.x - width / 2, "end": shape.x - width}[shape.anchor]
            assert left >= -2
            assert left + width <= drawing.width + 2
            assert 0 < shape.y <= drawing.height + 1
    root = ET.fromstring(svg(drawing, of_theme("dark"), alone=True))
    assert root.tag == f"{SVG}svg"
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "style", "path", "rect", "circle", "text",
    }  # fmt: skip


FIGURES = (
    ForestRow("c2*(all)", 0.695, Interval(0.628, 0.755), "subject", "200 of 1,200"),
    ForestRow("Uncorrected", 0.558, Interval(0.532, 0.585), "uncorrected"),
    ForestRow("Layer 2", heading=True),
    ForestRow("Nothing", reason="no pair has both a human label and a verdict"),
    ForestRow(
        "A role whose name is far too long for the room that there is for it", 0.5, Interval(0.4, 0.6), baseline=0.45
    ),
)


def test_forest() -> None:
    drawing = charts.forest(FIGURES, "words", ("always A", 0.445))
    check(drawing)
    said = texts(drawing)
    for text in ("c2*(all)", "69.5", "[62.8, 75.5]", "200 of 1,200", "always A 44.5 %", "Layer 2"):
        assert text in said
    assert "n/a – no pair has both a human label and a verdict" in said
    # Print has no tool tips: a long name takes as many lines as it needs, and its row grows.
    name = [label for label in labels(drawing) if label.text in FIGURES[4].name and label.x == 0]
    assert " ".join(label.text for label in name) == FIGURES[4].name
    assert len(name) == 2
    assert name[0].y < name[1].y
    assert not any("…" in text for text in said)


def test_marks_stand_where_the_axis_says() -> None:
    drawing = charts.forest(FIGURES[:2], "words")
    ticks = {float(label.text.split()[0]): label.x for label in labels(drawing) if re.fullmatch(r"\d+ %", label.text)}
    (low, low_x), (high, high_x) = min(ticks.items()), max(ticks.items())
    scale = (high_x - low_x) / (high - low)
    subject, hollow = [shape for shape in drawing.shapes if isinstance(shape, Dot)]
    assert subject.x == pytest.approx(low_x + (69.5 - low) * scale, abs=1)
    assert hollow.x == pytest.approx(low_x + (55.8 - low) * scale, abs=1)
    assert (subject.fill, hollow.fill) == ("accent", "surface")
    assert 4 <= len(ticks) <= 6


@pytest.mark.parametrize(
    "values", [(0.0,), (1.0,), (0.5,), (0.0, 1.0), (0.499, 0.501), (0.97, 1.0), (0.001, 0.03), (), (0.33, 0.34)]
)
def test_axes_hold_what_is_drawn(values: tuple[float, ...]) -> None:
    drawing = charts.forest([ForestRow(f"row {v}", v, Interval(v, v)) for v in values], "words")
    check(drawing)
    ticks = [float(text.split()[0]) for text in texts(drawing) if re.fullmatch(r"\d+ %", text)]
    assert 2 < len(ticks) <= 6
    assert min(ticks) >= 0
    assert max(ticks) <= 100
    if values:
        assert min(ticks) <= 100 * min(values) + 1e-9
        assert max(ticks) >= 100 * max(values) - 1e-9


def test_confusion_has_the_network_in_rows_and_a_left_b_right() -> None:
    # Human labels in rows, verdicts in columns, a, b, tie.
    drawing = charts.confusion(((58, 16, 5), (14, 69, 6), (9, 11, 12)), "words")
    check(drawing)
    cells = [label for label in labels(drawing) if label.text.isdigit() and label.anchor == "middle"]
    rows = sorted({label.y for label in cells})
    found = [[label.text for label in sorted(cells, key=lambda c: c.x) if label.y == y] for y in rows]
    assert found == [["58", "9", "14"], ["5", "12", "6"], ["16", "11", "69"]]
    assert "72 % right" in texts(drawing)
    heads = [
        label.text for label in sorted(labels(drawing), key=lambda c: c.x) if label.y < 45 and len(label.text) == 1
    ]
    assert heads == ["A", "=", "B"]


def test_changes_have_the_earlier_layer_in_rows() -> None:
    drawing = charts.changes(((3, 1, 1), (1, 2, 0), (0, 1, 1)), "Layer 1", "Layer 2", "words")
    check(drawing)
    assert "60 % kept" in texts(drawing)
    assert {"Layer 1", "said", "Layer 2 said"} <= set(texts(drawing))


def test_parts_of_a_bar_add_up() -> None:
    parts = (BarPart("same", 180, 0), BarPart("first", 35, 1), BarPart("last", 4, 0.5), BarPart("tie", 21, 0.2))
    drawing = charts.split_bar([("All calls", parts, "25 %"), ("Layer 1", (BarPart("same", 0, 0),), "n/a")], "words")
    check(drawing)
    tracks = [b for b in drawing.shapes if isinstance(b, Box) and b.h == 20 and b.fill == "sunken"]
    assert [box.w + 1 for box in tracks] == pytest.approx(
        [sum(b.w + 1 for b in tracks) * count / 240 for count in (180, 35, 4, 21)], rel=1e-6
    )
    empty = [b for b in drawing.shapes if isinstance(b, Box) and b.dash]
    assert len(empty) == 1


def test_bars_and_strips() -> None:
    check(charts.bars([("Cut at the token limit", 43, "43, 1.4 %"), ("No answer in time", 0, "0")], "words"))
    strips = charts.strips(
        [("Layer 1", [0.5 + i / 1000 for i in range(200)]), ("Layer 2", [])], "words", ("always A", 0.4)
    )
    check(strips)
    assert len([shape for shape in strips.shapes if isinstance(shape, Dot)]) == 200


# The network


def pictured(spec: NetworkSpec) -> Drawing:
    drawing = network_picture(spec, "c2_all", charts.WIDTH)
    check(drawing)
    assert drawing.width <= charts.WIDTH + 1
    return drawing


def edges(drawing: Drawing, stroke: str) -> list[Path]:
    return [shape for shape in drawing.shapes if isinstance(shape, Path) and shape.stroke == stroke]


def test_a_network_of_two_layers() -> None:
    drawing = pictured(fixed_network(3, 2))
    assert texts(drawing).count("Accuracy") == 2
    assert texts(drawing).count("Safety") == 1
    assert {"Pair", "3 roles", "Layer 1", "Layer 2", "c2*(all)", "Verdict"} <= set(texts(drawing))
    between = edges(drawing, "edge")
    assert len(between) == 6
    # Its own earlier evaluation is a neuron's thicker, straight line.
    own = [path for path in between if path.width == 2]
    assert len(own) == 2
    assert all(path.steps[0][1][1] == path.steps[1][1][-1] for path in own)


def test_windowed_wiring_draws_neighbours_alone() -> None:
    spec = design.set_wiring(presets.network(4, 2), 1, "window")
    assert len(edges(pictured(spec), "edge")) == 10


def test_a_chair_stands_between_vote_and_verdict() -> None:
    drawing = network_picture(fixed_network(2, chair=True), "chair", charts.WIDTH)
    check(drawing)
    at = {label.text: label.y for label in labels(drawing)}
    assert at["c2*(all)"] < at["Chair"] < at["Verdict"]


def test_without_roles_there_are_none_in_the_picture() -> None:
    drawing = pictured(replace(fixed_network(1), roles=RolesSpec(kind="none")))
    assert not [text for text in texts(drawing) if "role" in text.lower()]


@pytest.mark.parametrize(("widths", "band"), [((12, 12), False), ((13, 13), True), ((200, 200, 200), True)])
def test_wide_networks(widths: tuple[int, ...], band: bool) -> None:
    roles = tuple(Role(f"Role {i}") for i in range(max(widths)))
    drawing = pictured(fixed_network(*widths, roles=roles))
    assert any(isinstance(s, Path) and s.fill == "band" for s in drawing.shapes) == band
    assert len(drawing.shapes) < 2000
    assert (f"{widths[0]} neurons" in texts(drawing)) == band


@pytest.mark.parametrize("depth", [1, 5, 9, 12, 40])
def test_deep_networks(depth: int) -> None:
    drawing = pictured(fixed_network(*[2] * depth))
    assert (f"{depth - 11} more" in texts(drawing)) == (depth > 12)
    assert not any("…" in text for text in texts(drawing))
    assert any(text in (f"Layer {depth}", f"{depth}") for text in texts(drawing))


def test_an_adaptive_layer_says_so() -> None:
    spec = design.set_width(presets.network(3, 2), 0, None)
    assert "one a role" in texts(pictured(spec))


# SVG


def test_texts_are_escaped_in_svg() -> None:
    drawing = Drawing(100, 20, (Label(0, 15, '</text><script>alert("1")</script>\x00\ud800&'),), 'a "<b>" & c')
    for alone in (True, False):
        text = svg(drawing, of_theme("light"), alone=alone)
        assert "<script" not in text
        root = ET.fromstring(text)
        (label,) = [element for element in root.iter() if element.tag.removeprefix(SVG) == "text"]
        assert "".join(label.itertext()) == '</text><script>alert("1")</script>\ufffd\ufffd&'
        assert root.get("aria-label") == 'a "<b>" & c'


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_a_file_of_its_own_has_the_colours_of_its_theme(name: str) -> None:
    text = svg(charts.forest(FIGURES, "words"), of_theme(name), alone=True)  # type: ignore[arg-type]
    colors = COLORS[name]  # type: ignore[index]
    used = set(re.findall(r"#[0-9A-Fa-f]{6}", text))
    assert colors.accent in used
    assert used <= {getattr(colors, field) for field in colors.__dataclass_fields__}
    assert "var(" not in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("text", ["Completeness", "完整性与准确性", "a" * 90, "", "e\u0301" * 20, "  two   words "])
@pytest.mark.parametrize("width", [20.0, 80.0, 300.0])
def test_lines_fit_and_nothing_is_lost(text: str, width: float) -> None:
    lines = wrapped(text, width)
    assert all(text_width(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
    # A mark never begins a line.
    assert not any(line.startswith("\u0301") for line in lines)


@pytest.mark.parametrize("text", ["Depth of explanation", "one two three four five six seven eight nine ten"])
def test_lines_break_at_spaces_where_words_fit(text: str) -> None:
    lines = wrapped(text, 110)
    assert " ".join(lines) == text
    assert len(lines) > 1


def test_a_network_shows_whole_role_names_or_numbers() -> None:
    two_lines = (Role("Depth of explanation"), Role("Clarity"))
    drawing = pictured(fixed_network(2, roles=two_lines))
    assert {"Depth of", "explanation", "Clarity"} <= set(texts(drawing))
    long = (Role("A role whose name is far too long for the room that there is for it"), Role("Clarity"))
    drawing = pictured(fixed_network(2, roles=long))
    assert {"Neuron 1", "Neuron 2"} <= set(texts(drawing))
    for roles in (two_lines, long):
        boxes = [shape for shape in pictured(fixed_network(2, 2, roles=roles)).shapes if isinstance(shape, Box)]
        for place, one in enumerate(boxes):
            for other in boxes[place + 1 :]:
                apart = one.x + one.w <= other.x or other.x + other.w <= one.x
                assert apart or one.y + one.h <= other.y or other.y + other.h <= one.y


# Word clouds


def test_a_word_cloud_has_each_name_once_the_commonest_largest() -> None:
    words = [("Edge cases", 48), ("Readability", 31), ("完整性", 20), ("الوضوح", 12), ("Tone", 4), ("Tone ", 3)]
    drawing = word_cloud(words, "Roles for code")
    assert drawing is not None
    found = {label.text: label.px for label in labels(drawing)}
    assert found["Edge cases"] == max(found.values())
    assert set(found) <= {name for name, _ in words}
    assert len(found) >= 5
    assert drawing.words.startswith("Roles for code: Edge cases 48, Readability 31")
    assert min(found.values()) >= BODY_PX
    assert word_cloud(words, "Roles for code") == drawing


def test_names_in_a_cloud_do_not_overlap() -> None:
    words = [
        (f"Quality {name}", 40 - 2 * place)
        for place, name in enumerate(["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"])
    ]
    drawing = word_cloud(words, "x")
    assert drawing is not None
    boxes = [(lb.x, lb.y - 0.72 * lb.px, lb.x + 0.8 * text_width(lb.text, lb.px), lb.y) for lb in labels(drawing)]
    for place, one in enumerate(boxes):
        for other in boxes[place + 1 :]:
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            assert apart


@pytest.mark.parametrize("words", [[], [("x" * 400, 3)]])
def test_no_cloud_where_no_name_fits(words: list[tuple[str, int]]) -> None:
    assert word_cloud(words, "x") is None


def test_a_reason_is_never_cut_within_its_sentence_where_two_lines_hold_it() -> None:
    """Print has no tool tips."""
    reason = "every judged pair is labelled: nothing is left to predict, and the two rates are one and the same"
    drawing = charts.forest(
        [ForestRow("Corrected", 0.5, Interval(0.4, 0.6)), ForestRow("PPI++", reason=reason)], "Rates"
    )
    texts = labels(drawing)
    lines = [shape for shape in texts if shape.text in f"n/a – {reason}" and len(shape.text) > 10]
    assert " ".join(shape.text for shape in lines) == f"n/a – {reason}"
    assert len(lines) == 2
    assert not any("…" in shape.text for shape in texts)
    # The row is higher by a line.
    alone = charts.forest(
        [ForestRow("Corrected", 0.5, Interval(0.4, 0.6)), ForestRow("PPI++", reason="no label")], "Rates"
    )
    assert lines[1].y - lines[0].y == pytest.approx(drawing.height - alone.height) == pytest.approx(17)
