"""PNG and SVG without a window: valid files with their texts in them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QByteArray
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from judgenet.colors import DARK, LIGHT
from judgenet.report import charts
from judgenet.report.charts import ForestRow
from judgenet.report.drawing import of_theme, svg
from judgenet.stats.intervals import Interval
from judgenet.ui.export import png

CHART = charts.forest([ForestRow("c2*(all)", 0.695, Interval(0.628, 0.755), "subject")], "words")


@pytest.mark.parametrize(("theme", "colors"), [("light", LIGHT), ("dark", DARK)])
def test_a_chart_as_png(qapp: QApplication, theme: str, colors: object) -> None:
    image = QImage.fromData(png(CHART, theme, scale=2))  # type: ignore[arg-type]
    assert (image.width(), image.height()) == (round(CHART.width * 2), round(CHART.height * 2))
    assert image.pixelColor(1, 1) == QColor(colors.surface)  # type: ignore[attr-defined]
    seen = {image.pixelColor(x, y).name().upper() for x in range(500, 1400, 3) for y in range(20, 60)}
    assert colors.accent in seen  # type: ignore[attr-defined]


def test_a_chart_as_svg_is_drawn_alike_by_qt(qapp: QApplication) -> None:
    from PySide6.QtSvg import QSvgRenderer

    written = svg(CHART, of_theme("dark"), alone=True)
    drawn = QSvgRenderer(QByteArray(written.encode()))
    assert drawn.isValid()
    assert drawn.defaultSize().width() == round(CHART.width)
    assert DARK.accent in written
