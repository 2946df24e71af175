"""PDF, PNG and SVG without a window: valid files with their texts in them."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from pypdf import PdfReader
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from judgenet.colors import DARK, LIGHT
from judgenet.core.network import Role
from judgenet.core.pairs import Pair
from judgenet.engine.budget import Limits
from judgenet.report import charts
from judgenet.report.charts import Estimate
from judgenet.report.model import Report
from judgenet.report.outline import outline
from judgenet.stats.intervals import Interval
from judgenet.ui.export import pdf, save_pdf, save_png, save_svg
from tests.unit.engine import harness
from tests.unit.report.runs import fixed_network, labelled_pairs, random_say, record, reported

CHART = charts.forest([Estimate("c2*(all)", 0.695, Interval(0.628, 0.755), "subject")], "words")


@pytest.fixture
def report(tmp_path: Path, qapp: QApplication) -> Report:
    pairs = labelled_pairs(40)
    say, _ = random_say(pairs)
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, say, fixed_network(3, 2))
    return reported(path, chosen="random")


def read(data: bytes) -> tuple[PdfReader, str]:
    reader = PdfReader(io.BytesIO(data), strict=True)
    return reader, "\n".join(page.extract_text() for page in reader.pages)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_the_pdf_holds_what_the_report_says(report: Report) -> None:
    reader, text = read(pdf(outline(report)))
    found = squeezed(text)
    rate, interval = report.rates.corrected.value, report.rates.corrected.interval
    assert rate is not None
    assert interval is not None
    for said in (
        "How often is response B better than A?",
        f"{100 * rate:.1f} %",
        f"95 % interval {100 * interval.low:.1f} to {100 * interval.high:.1f}",
        "Agreement with people",
        "By neuron",
        "Pairs, read closely",
        report.data.hash,
        report.studies[0].quotes[0].evidence.text,
        "c2*(all)",
    ):
        assert squeezed(said) in found
    # The figures in the charts can be copied too.
    for figures in report.aggregations.values():
        assert figures.agreement.accuracy is not None
        assert f"{100 * figures.agreement.accuracy:.1f}" in found
    assert reader.metadata is not None
    assert reader.metadata.title == "How often is response B better than A?"


def test_pages_are_a4_and_numbered(report: Report) -> None:
    reader, _ = read(pdf(outline(report)))
    count = len(reader.pages)
    assert count >= 3
    for number, page in enumerate(reader.pages, 1):
        assert (float(page.mediabox.width), float(page.mediabox.height)) == pytest.approx((595, 842), abs=1)
        assert f"{number} of {count}" in page.extract_text()
        # Something beside the foot.
        assert len(page.extract_text()) > 80


def test_charts_are_vectors_and_fonts_are_embedded(report: Report) -> None:
    reader, _ = read(pdf(outline(report)))
    for page in reader.pages:
        assert not list(page.images)
    fonts = {
        font.get_object()["/BaseFont"]
        for page in reader.pages
        for font in page["/Resources"]["/Font"].values()  # type: ignore[index]
    }
    assert all("Inter" in name or "JetBrains" in name or "Mono" in name for name in fonts)
    assert any("Inter" in name for name in fonts)


SCRIPTS = ("なぜ空は青いのですか", "لماذا السماء زرقاء", "למה השמיים כחולים", "Почему небо голубое")


def test_other_scripts_and_hostile_texts(tmp_path: Path, qapp: QApplication) -> None:
    hostile = "<b>tag</b> \x00 \ud800 \u2028 \u202e {{ x }} " + "long" * 400
    texts = [*SCRIPTS, hostile]
    pairs = [Pair(f"p{i}", text, text, text, task=text[:30], human="a") for i, text in enumerate(texts)]
    path = tmp_path / "run.judgenet.db"
    roles = tuple(Role(text[:40]) for text in texts)
    spec = fixed_network(5, roles=roles)
    record(path, pairs, lambda site: (1, 9), spec, evidence=lambda site: texts[site.pair] * 3)
    _, text = read(pdf(outline(reported(path, each=9))))
    assert "Почему" in text
    assert "<b>tag</b>" in text


@pytest.mark.parametrize("pairs", [0, 3])
def test_a_run_that_judged_nothing(tmp_path: Path, qapp: QApplication, pairs: int) -> None:
    path = tmp_path / "run.judgenet.db"
    harness.run(path, harness.start(fixed_network(2), labelled_pairs(pairs), limits=Limits(max_calls=0)))
    reader, text = read(pdf(outline(reported(path))))
    assert "No pair has a verdict yet" in text
    assert len(reader.pages) <= 2


def test_long_evidence_goes_over_pages(tmp_path: Path, qapp: QApplication) -> None:
    pairs = [Pair("p0", "q", "one\n" * 400, "two " * 400, human="a")]
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, lambda site: (1, 9), fixed_network(1), evidence=lambda site: "because\n" * 110)
    found = reported(path)
    reader, text = read(pdf(outline(found)))
    assert len(reader.pages) >= 4
    assert text.count("because") == found.studies[0].quotes[0].evidence.text.count("because")
    shown = len(found.studies[0].response_a.text)
    assert shown < 1200
    assert squeezed(f"Cut here: {shown:,} of 1,600 characters are shown.") in squeezed(text)


def test_a_table_of_many_rows_repeats_its_head(tmp_path: Path, qapp: QApplication) -> None:
    pairs = labelled_pairs(6)
    say, _ = random_say(pairs)
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, say, fixed_network(*[2] * 11))
    _, text = read(pdf(outline(reported(path, each=0))))
    assert text.count("Changed its mind") == 2
    assert text.count("By neuron") == 1


def test_saved_whole_or_not_at_all(report: Report, tmp_path: Path) -> None:
    save_pdf(outline(report), tmp_path / "r.pdf")
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF-")
    with pytest.raises(OSError, match="cannot be written"):
        save_pdf(outline(report), tmp_path / "no folder" / "r.pdf")


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
