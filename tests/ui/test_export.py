"""PNG and SVG without a window: valid files with their texts in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from judgenet.colors import DARK, LIGHT
from judgenet.report import charts
from judgenet.report.charts import Estimate
from judgenet.stats.intervals import Interval
from judgenet.ui.export import save_png, save_svg

CHART = charts.forest([Estimate("c2*(all)", 0.695, Interval(0.628, 0.755), "subject")], "words")


@pytest.mark.parametrize(("theme", "colors"), [("light", LIGHT), ("dark", DARK)])
def test_a_chart_as_png(tmp_path: Path, qapp: QApplication, theme: str, colors: object) -> None:
    save_png(CHART, tmp_path / "c.png", theme, scale=2)  # type: ignore[arg-type]
    image = QImage(str(tmp_path / "c.png"))
    assert (image.width(), image.height()) == (round(CHART.width * 2), round(CHART.height * 2))
    assert image.pixelColor(1, 1) == QColor(colors.surface)  # type: ignore[attr-defined]
    seen = {image.pixelColor(x, y).name().upper() for x in range(500, 1400, 3) for y in range(20, 60)}
    assert colors.accent in seen  # type: ignore[attr-defined]


def test_a_chart_as_svg_is_drawn_alike_by_qt(tmp_path: Path, qapp: QApplication) -> None:
    from PySide6.QtSvg import QSvgRenderer

    save_svg(CHART, tmp_path / "c.svg", "dark")
    drawn = QSvgRenderer(str(tmp_path / "c.svg"))
    assert drawn.isValid()
    assert drawn.defaultSize().width() == round(CHART.width)
    assert DARK.accent in (tmp_path / "c.svg").read_text("utf-8")
