"""The report as PDF: valid files with their texts in them, whatever the texts are, without Qt."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader
from pypdf.generic import ArrayObject

from judgenet.core.network import Role
from judgenet.core.pairs import Pair
from judgenet.engine.budget import Limits
from judgenet.report.blocks import (
    Bullets,
    Cloud,
    Clouds,
    Facts,
    Figure,
    FigureWithText,
    Given,
    Headline,
    Paragraph,
    ReportDocument,
    Row,
    Section,
    Sent,
    Strong,
    Table,
    drawings,
)
from judgenet.report.drawing import Drawing
from judgenet.report.model import Excerpt, Report
from judgenet.report.outline import outline
from judgenet.report.writers.pdf import letters_without_font, page_pictures, pdf
from tests.unit.engine import harness
from tests.unit.report.runs import fixed_network, labelled_pairs, random_say, record, reported


@pytest.fixture
def report(tmp_path: Path) -> Report:
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
        "Example pairs",
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


def test_other_scripts_and_hostile_texts(tmp_path: Path) -> None:
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
def test_a_run_that_judged_nothing(tmp_path: Path, pairs: int) -> None:
    path = tmp_path / "run.judgenet.db"
    harness.run(path, harness.start(fixed_network(2), labelled_pairs(pairs), limits=Limits(max_calls=0)))
    reader, text = read(pdf(outline(reported(path))))
    assert "No pair has a verdict yet" in text
    assert len(reader.pages) <= 2


def test_long_evidence_goes_over_pages(tmp_path: Path) -> None:
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


def test_a_table_of_many_rows_repeats_its_head(tmp_path: Path) -> None:
    pairs = labelled_pairs(6)
    say, _ = random_say(pairs)
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, say, fixed_network(*[2] * 11))
    _, text = read(pdf(outline(reported(path, each=0))))
    assert text.count("Changed its mind") == 2
    assert text.count("By neuron") == 1


def document(*blocks: object, title: str = "A title") -> ReportDocument:
    return ReportDocument(("Report",), "1 May 2026", title, blocks, "foot")  # type: ignore[arg-type]


HOSTILE = (
    '#panic("x")',
    '#include "/etc/passwd"',
    "#set page(width: 1pt)",
    "$x^2$ *bold* _slanted_ `raw` ```raw```",
    "= Heading",
    "- item",
    "\\ \\u{41} \\n ~ --- <label> @reference // comment /* comment */",
    '"] #let data = 1 [',
    "{{ x }} ${x} %s %(x)s",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_are_never_markup(text: str) -> None:
    table = Table((text, text), (False, True), (Row(((Given(text),), (text,)), strong=True),))
    reader, found = read(
        pdf(
            document(
                Headline(text, text, (text,)),
                Section(text, text),
                Paragraph((text, Strong(text), Given(text))),
                table,
                Sent(text, ((text, Excerpt(text, len(text))),)),
                title=text,
            )
        )
    )
    assert squeezed(found).count(squeezed(text)) == 16
    assert reader.metadata is not None
    assert reader.metadata.title == text


def test_it_is_written_without_qt_and_asks_nothing_of_the_network() -> None:
    code = """
import socket, sys
for name in ("PySide6", "shiboken6", "qasync", "pyqtgraph"):
    sys.modules[name] = None
def refuse(*args, **kwargs):
    raise AssertionError("the network was asked")
socket.socket.connect = socket.getaddrinfo = refuse
from judgenet.report.blocks import ReportDocument, Paragraph
from judgenet.report.writers.pdf import pdf
sys.stdout.buffer.write(pdf(ReportDocument(("Report",), "today", "A title", (Paragraph(("Some words.",)),), "foot")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=200, check=True)
    _, text = read(done.stdout)
    assert "Some words." in text


def test_it_keeps_to_the_standards_for_archives_and_for_screen_readers(report: Report) -> None:
    reader, _ = read(pdf(outline(report)))
    metadata = reader.trailer["/Root"]["/Metadata"].get_data().decode()  # type: ignore[index]
    assert "<pdfaid:part>2</pdfaid:part><pdfaid:conformance>A</pdfaid:conformance>" in metadata
    assert "<pdfuaid:part>1</pdfuaid:part>" in metadata
    said: list[str] = []

    def walk(item: Any) -> None:
        item = item.get_object()
        if isinstance(item, list):
            for one in item:
                walk(one)
        elif isinstance(item, dict):
            said.extend([str(item["/Alt"])] if "/Alt" in item else [])
            walk(item.get("/K", ArrayObject()))

    walk(reader.trailer["/Root"]["/StructTreeRoot"])  # type: ignore[index]
    assert [drawing.words for _, drawing in drawings(outline(report))] == said


# Deseret, which no usual font has.
NO_FONT = "𐐀𐐁"


def test_letters_that_no_font_has_are_told_and_can_still_be_copied() -> None:
    made = document(Paragraph((f"Latin {NO_FONT} and a \u200d joiner",)))
    assert letters_without_font(made) == NO_FONT
    _, text = read(pdf(made))
    assert "Latin" in text
    assert letters_without_font(document(Paragraph(("Plain words, Слова, 1 − 2 ≥ x.",)))) == ""


def test_titles_are_bookmarks(report: Report) -> None:
    reader, _ = read(pdf(outline(report)))
    names: list[str] = []

    def walk(items: list[object]) -> None:
        for item in items:
            if isinstance(item, list):
                walk(item)
            else:
                names.append(item.title)  # type: ignore[attr-defined]

    walk(reader.outline)  # type: ignore[arg-type]
    sections = [block.title for block in outline(report).blocks if isinstance(block, Section)]
    assert names == [outline(report).title, *sections]


@pytest.mark.parametrize(
    "word", ["abcdefghij" * 60, "\u202e" + "abcdefghij" * 60, "https://example.org/" + "abc_def?x=1&" * 50]
)
def test_a_word_without_a_place_to_break_stays_on_the_page(word: str) -> None:
    table = Table(("Name", "n"), (False, True), (Row(((Given(word),), ("1",))),))
    for block, most in ((Paragraph((Given(word),)), 140), (table, 140), (Sent("s", (("u", Excerpt(word, 0)),)), 110)):
        _, text = read(pdf(document(block)))
        assert max(map(len, text.splitlines())) < most
        # Copied in one piece, without what marks the places of the breaks.
        if word.isascii():
            assert word in squeezed(text)
        assert "\u200b" not in text


def test_blocks_without_content() -> None:
    nothing = Drawing(100, 20, (), "")
    blocks = (
        Headline("", "", ()),
        Section(""),
        Paragraph(()),
        Bullets(()),
        Facts(()),
        Facts((), 2),
        Table(("Name", "n"), (False, True), ()),
        Figure(nothing),
        FigureWithText(Figure(nothing), (Facts(()), Bullets(()), Paragraph(()))),
        Clouds(()),
        Clouds((Cloud((), "", nothing, ()),)),
        Sent("", (("", Excerpt("", 0)),)),
        Paragraph(("The end.",)),
    )
    _, text = read(pdf(document(*blocks, title="")))
    assert "The end." in text


def test_lines_and_tabs_of_a_text_are_kept() -> None:
    _, text = read(pdf(document(Sent("s", (("u", Excerpt("one\r\ntwo\u2028three\x0bfour\n\tfive", 28)),)))))
    lines = [line.strip() for line in text.splitlines()]
    assert lines[lines.index("one") :][:5] == ["one", "two", "three", "four", "five"]
    assert "    five" in text


def test_what_is_cut_says_so_and_ends_without_dots() -> None:
    _, text = read(pdf(document(Sent("A prompt", (("user", Excerpt("All of it. And", 40)),)))))
    assert "Cut here: 14 of 40 characters are shown." in text
    assert "…" not in text


def test_a_title_stays_with_what_follows_and_a_small_table_on_one_page() -> None:
    rows = tuple(Row((((f"row {place}",)), ("1",))) for place in range(14))
    for filler in range(18, 32):
        blocks = [*(Paragraph((f"line {place}",)) for place in range(filler)), Section("Where it stands")]
        reader, _ = read(pdf(document(*blocks, Table(("Name", "n"), (False, True), rows))))
        pages = [page.extract_text() for page in reader.pages]
        where = {
            next(place for place, text in enumerate(pages) if said in text)
            for said in ("Where it stands", "row 0", "row 13")
        }
        assert len(where) == 1, filler


def test_the_preview_shows_the_pages_of_the_file(report: Report) -> None:
    made = outline(report)
    pictures = page_pictures(made)
    reader, _ = read(pdf(made))
    assert len(pictures) == len(reader.pages)
    for picture in pictures:
        assert picture.startswith(b"<svg")
        # SVG 1.1 has no opacity in a colour, and pictures that Qt draws no more than it.
        assert not re.search(rb'="#[0-9a-fA-F]{8}"', picture)
    assert b"fill-opacity" in b"".join(pictures)
    assert len(page_pictures(document(Paragraph(("One page.",))))) == 1


def test_a_row_is_not_broken_between_pages_unless_it_is_longer_than_one() -> None:
    words = "from the first word of a row " + "more and more words " * 12 + "to its last"
    rows = tuple(Row(((f"row {place}",), (words,), ("1",))) for place in range(40))
    reader, _ = read(pdf(document(Table(("Name", "Words", "n"), (False, False, True), rows))))
    assert len(reader.pages) > 2
    for page in reader.pages:
        text = " ".join(page.extract_text().split())
        assert text.count("from the first") == text.count("its last") == len(re.findall(r"\brow \d", text))
    endless = Row((("endless",), (" ".join(f"word{place}" for place in range(3000)),), ("1",)))
    _, text = read(pdf(document(Table(("Name", "Words", "n"), (False, False, True), (endless,)))))
    assert all(f"word{place}" in text for place in range(3000))
