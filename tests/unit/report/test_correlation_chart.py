"""The heat map of correlations: where its parts lie, and that it shows each figure where it says."""

from __future__ import annotations

import numpy as np
import pytest

from judgenet.figures.panel import CorrelationFigures, correlation_figures
from judgenet.report.correlation_chart import CorrelationLayout, correlation_drawing
from judgenet.report.drawing import Box, Label, Path
from judgenet.stats.correlation_map import correlation_map

NAMES = ("one", "two", "copy of one", "never varies")


@pytest.fixture(scope="module")
def found() -> CorrelationFigures:
    rng = np.random.default_rng(0)
    human = rng.choice([1, 3], 200).astype(np.uint8)
    said = np.where(rng.random((200, 4)) < 0.7, human[:, None], 4 - human[:, None]).astype(np.uint8)
    said[:, 2], said[:, 3] = said[:, 0], human
    return correlation_figures(correlation_map(said, human), NAMES)


def test_each_cell_is_found_where_it_is_drawn(found: CorrelationFigures) -> None:
    layout = CorrelationLayout(found, NAMES)
    drawing = correlation_drawing(layout, "errors")
    assert layout.written
    texts = {(shape.x, shape.y): shape.text for shape in drawing.shapes if isinstance(shape, Label)}
    for (x, y), text in texts.items():
        one, other = layout.row_at(y), layout.column_at(x)
        if one is None or other is None or not layout.left < x < layout.right:
            continue
        r = found.r[one][other]
        assert r is not None
        assert text == f"{r:.2f}".replace("0.", ".").replace("-", "−")
    assert sum(text == "1.00" for text in texts.values()) == 2
    # Six cells of the neuron that never errs have a dashed frame; the legend says what that means.
    assert sum(isinstance(shape, Box) and shape.dash is not None for shape in drawing.shapes) == 6 + 1
    assert any("never varies" in text for text in texts.values())
    assert layout.row_at(layout.bottom + 1) is None
    assert layout.column_at(layout.left - 1) is None


def test_copies_stand_side_by_side_and_a_branch_names_its_neurons(found: CorrelationFigures) -> None:
    layout = CorrelationLayout(found, NAMES)
    rows = [layout.order.index(place) for place in (0, 2)]
    assert abs(rows[0] - rows[1]) == 1
    x, y = layout.branches["one", "copy of one"] if found.order.index("one") < found.order.index("copy of one") else (
        layout.branches["copy of one", "one"]
    )  # fmt: skip
    assert set(layout.branch_at(x, y) or ()) == {"one", "copy of one"}
    assert layout.branch_at(x, layout.bottom + 40) is None
    paths = [shape for shape in correlation_drawing(layout, "errors").shapes if isinstance(shape, Path)]
    assert len(paths) == len(NAMES) - 1


def test_long_names_are_whole_and_many_neurons_have_none() -> None:
    rng = np.random.default_rng(1)
    human = rng.choice([1, 3], 60).astype(np.uint8)
    said = rng.choice([1, 3], (60, 90)).astype(np.uint8)
    names = tuple(f"neuron {place} " + "with a long role " * 6 for place in range(90))
    few = CorrelationLayout(correlation_figures(correlation_map(said[:, :3], human), names[:3]), names[:3], 500)
    words = " ".join(shape.text for shape in correlation_drawing(few, "errors").shapes if isinstance(shape, Label))
    assert words.count("with a long role") == 18 or words.replace(" ", "").count("withalongrole") == 18
    assert few.right < 500
    many = CorrelationLayout(correlation_figures(correlation_map(said, human), names), names)
    assert not many.named
    assert many.right <= many.width + 1e-6
    drawing = correlation_drawing(many, "errors", cells=False)
    assert len(drawing.shapes) < 200
