"""The page Report: what is shown, which parts it has, and what is saved."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QFileDialog, QLineEdit, QWidget

from judgenet.cli.main import main
from judgenet.core.pairs import Pair
from judgenet.report.forms import FORMS, ReportFormat
from judgenet.report.outline import PARTS
from judgenet.store.labs import keep_lab, lab_info
from judgenet.ui.app import Studio
from judgenet.ui.errors import UserMessage
from judgenet.ui.pages.report import ReportPage
from tests.fakes.judge_server import JudgeServer
from tests.ui.conftest import settle, until
from tests.ui.person import close_all
from tests.ui.story import StoryJudge, story_network, story_pairs, story_project, telling, usual

LEFT = Qt.MouseButton.LeftButton


def report_page(studio: Studio) -> ReportPage:
    page = studio.window.page("report")
    assert isinstance(page, ReportPage)
    return page


async def reported(studio: Studio, place: Path, pairs: tuple[Pair, ...] | None = None) -> ReportPage:
    """A run of a small network, and its report in view."""
    pairs = pairs or story_pairs(12, labelled=0.9)
    context = studio.window.context
    context.document.open(story_project(place, pairs, story_network(3, 2)))
    await until(lambda: len(context.document.pairs) == len(pairs), "the pairs")
    with telling(StoryJudge(usual(pairs))):
        context.actions.trigger("run.start")
        await until(lambda: context.run_state.state == "done", "the run ends")
    context.actions.trigger("page.report")
    page = report_page(studio)
    await until(lambda: page.pages.isVisible() and not context.results.working and page.whole, "the report")
    await settle()
    return page


def click(widget: QWidget) -> None:
    assert widget.isVisible(), widget.accessibleName()
    assert widget.isEnabled(), widget.toolTip()
    QTest.mouseClick(widget, LEFT)


def check(box: QCheckBox) -> None:
    QTest.mouseClick(box, LEFT, pos=QPoint(8, box.height() // 2))


def told(studio: Studio) -> UserMessage | None:
    troubles = studio.window.errors.troubles
    return troubles[0] if troubles else None


async def choose(page: ReportPage, path: Path) -> None:
    """Answers the dialog that is open."""
    await until(lambda: any(d.isVisible() for d in page.findChildren(QFileDialog)), "the dialog")
    dialog = next(dialog for dialog in page.findChildren(QFileDialog) if dialog.isVisible())
    field = dialog.findChild(QLineEdit)
    assert field is not None
    field.setText(str(path))
    dialog.accept()
    await settle()


async def test_the_report_is_shown_as_it_will_be_printed(studio: Studio, place: Path) -> None:
    page = await reported(studio, place)
    assert page.panel.title.text() == "Report of run 1"
    assert page.pages.accessibleName().startswith("Preview of the report, ")
    picture = page.pages.viewport().grab().toImage()
    colors = {picture.pixelColor(x, 200).name() for x in range(0, picture.width(), 3)}
    assert "#ffffff" in colors
    results = studio.window.context.results.results
    assert results is not None
    accuracy = results.report.headline.agreement.accuracy
    assert accuracy is not None
    click(page.panel.view.button("text"))
    assert f"{100 * accuracy:.1f} %" in page.text.toPlainText()
    assert page.text.isVisible()
    assert page.text.isReadOnly()


async def test_pages_are_turned_and_zoomed_with_keys(studio: Studio, place: Path) -> None:
    page = await reported(studio, place)
    view, bar = page.pages, page.pages.verticalScrollBar()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(view, Qt.Key.Key_End)
    assert bar.value() == bar.maximum() > 0
    assert view.page > 0
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert bar.value() == 0
    longest = bar.maximum()
    QTest.keyClick(view, Qt.Key.Key_Plus)
    assert bar.maximum() > longest
    QTest.keyClick(view, Qt.Key.Key_0)
    assert bar.maximum() == longest


async def test_parts_are_chosen_with_the_mouse_and_what_has_nothing_to_say_cannot(studio: Studio, place: Path) -> None:
    page = await reported(studio, place)
    assert not page.panel.parts["clouds"].isEnabled()
    assert page.panel.parts["clouds"].toolTip()
    click(page.panel.view.button("text"))
    assert "## Method" in page.text.toPlainText()
    check(page.panel.parts["method"])
    assert not page.panel.parts["method"].isChecked()
    await until(lambda: "## Method" not in page.text.toPlainText(), "the part goes")
    assert "## What was run" in page.text.toPlainText()
    for key in PARTS:
        page.panel.parts[key].setChecked(False)
    await until(lambda: "## " not in page.text.toPlainText(), "only the head is left")
    await until(lambda: page.pages.accessibleName() == "Preview of the report, 1 page", "the pages are laid out")


async def test_more_pairs_are_read_closely_on_demand(studio: Studio, place: Path) -> None:
    page = await reported(studio, place, story_pairs(24))
    results = studio.window.context.results
    before = results.results
    assert before is not None
    assert max(sum(study.kind == kind for study in before.report.studies) for kind in ("people", "orders")) == 3
    page.panel.studies.setFocus()
    page.panel.studies.selectAll()
    QTest.keyClicks(page.panel.studies, "1")
    QTest.keyClick(page.panel.studies, Qt.Key.Key_Return)
    await until(lambda: results.results is not before and not results.working)
    assert results.results is not None
    assert max(sum(s.kind == kind for s in results.results.report.studies) for kind in ("people", "orders")) == 1


@pytest.mark.parametrize("ending", list(FORMS))
async def test_every_form_is_saved_by_its_button(studio: Studio, place: Path, ending: str) -> None:
    page = await reported(studio, place)
    target = place / f"made{ending}"
    click(page.panel.saves[ending])
    await choose(page, target)
    await until(target.exists, "the file")
    content = target.read_bytes()
    start = {".html": b"<!doctype html>", ".pdf": b"%PDF", ".csv": b"about,", ".json": b"{", ".md": b"Report of run 1"}
    assert content.startswith(start.get(ending, b"%"))
    if ending == ".html":
        text = content.decode("utf-8")
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "Content-Security-Policy" in text
    if ending == ".json":
        results = studio.window.context.results.results
        assert results is not None
        found = json.loads(content)
        assert found["aggregations"]["c2_all"]["accuracy"] == results.report.headline.agreement.accuracy
    await until(lambda: told(studio) is not None)
    said = told(studio)
    assert said is not None
    assert said.level == "note"
    assert said.where == str(target)


async def test_the_button_in_the_top_bar_asks_for_a_file_and_the_ending_says_the_form(
    studio: Studio, place: Path
) -> None:
    page = await reported(studio, place)
    assert studio.window.top_bar.primary.text() == "Save the report"
    click(studio.window.top_bar.primary)
    await choose(page, place / "report.csv")
    await until((place / "report.csv").exists)
    assert (place / "report.csv").read_text(encoding="utf-8").startswith("about,name,figure,value")
    close_all(studio.window.errors)
    await page.write(place / "report.docx")
    said = told(studio)
    assert said is not None
    assert ".html, .pdf, .md" in said.sentence
    assert not (place / "report.docx").exists()


async def test_the_same_report_is_made_by_the_command_line(studio: Studio, place: Path) -> None:
    page = await reported(studio, place)
    await page.write(place / "studio.csv")
    path = studio.window.context.document.path
    assert path is not None
    command = [
        sys.executable,
        "-m",
        "judgenet",
        "report",
        "run-1",
        "-o",
        str(place / "line.csv"),
        "--project",
        str(path),
    ]
    ended = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False, timeout=200)
    assert ended.returncode == 0, ended.stderr
    assert (place / "line.csv").read_bytes() == (place / "studio.csv").read_bytes()


async def test_charts_and_network_are_saved_as_pictures(studio: Studio, place: Path) -> None:
    page = await reported(studio, place)
    charts = place / "charts"
    charts.mkdir()
    click(page.panel.pictures["charts", ".svg"])
    await choose(page, charts)
    await until(lambda: told(studio) is not None, "the charts")
    names = sorted(path.name for path in charts.iterdir())
    assert any("where-they-differ" in name for name in names)
    assert all(path.read_text(encoding="utf-8").startswith("<?xml") for path in charts.iterdir())
    assert [name[:8] for name in names] == [f"run-1-{number:02}" for number in range(1, len(names) + 1)]
    for ending in (".svg", ".png"):
        target = place / f"network{ending}"
        click(page.panel.pictures["network", ending])
        await choose(page, target)
        await until(target.exists)
    assert b"Accuracy" in (place / "network.svg").read_bytes()
    image = QImage(str(place / "network.png"))
    assert image.width() > 600


async def test_a_place_that_cannot_be_written_is_told(studio: Studio, place: Path) -> None:
    page = await reported(studio, place)
    (place / "folder.html").mkdir()
    await page.write(place / "folder.html")
    said = told(studio)
    assert said is not None
    assert said.level == "error"
    assert "folder.html" in said.sentence


async def test_writing_can_be_stopped(studio: Studio, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = await reported(studio, place)
    begun, go_on = threading.Event(), threading.Event()

    def slowly(*_: object) -> str:
        begun.set()
        go_on.wait(100)
        return "late"

    monkeypatch.setitem(FORMS, ".md", ReportFormat("Markdown", "text", slowly))
    task = studio.window.context.tasks.start(page.write(place / "late.md"), "Save")
    await until(begun.is_set)
    await until(studio.window.status.stop_job.isVisible, "a way to stop it")
    click(studio.window.status.stop_job)
    await until(task.done)
    go_on.set()
    await settle()
    assert not (place / "late.md").exists()
    assert told(studio) is None


async def test_without_a_run_there_is_no_report(studio: Studio, place: Path) -> None:
    context = studio.window.context
    context.document.open(story_project(place, story_pairs(4), story_network(2, None)))
    await until(lambda: len(context.document.pairs) == 4)
    context.actions.trigger("page.report")
    await settle()
    page = report_page(studio)
    assert page.empty.isVisible()
    assert not page.panel.isVisible()
    assert context.actions.why_not("report.save") == "There is no report yet."


async def test_every_control_has_a_name(studio: Studio, place: Path) -> None:
    page = await reported(studio, place)
    for widget in page.findChildren(QWidget):
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisibleTo(page):
            assert widget.accessibleName() or getattr(widget, "text", str)(), widget


async def test_the_newest_lab_is_a_part_and_a_newer_one_takes_its_place(studio: Studio, place: Path) -> None:
    pairs = place / "lab.jsonl"
    records = (
        {"id": f"p{i}", "question": f"{i}?", "response_a": "It is so.", "response_b": "Nobody knows that."}
        for i in range(6)
    )
    pairs.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    with JudgeServer(mind="first", keep="none") as server:
        at = ("--pairs", str(pairs), "--base-url", server.url, "--model", "judge", "--width", "1", "--depth", "1")
        at = (*at, "--roles", "none", "--out", str(place / "lab"), "-q")
        assert main(["run", *at]) == 0
        assert main(["bias", *at, "--probes", "order"]) == 0
    context = studio.window.context
    context.document.open(place / "lab" / "run.judgenet")
    await until(lambda: context.run_state.run is not None and not context.run_state.loading, "the run")
    context.actions.trigger("page.report")
    page = report_page(studio)
    await until(lambda: not context.results.working and page.whole, "the report")
    assert page.panel.parts["bias"].isEnabled()
    click(page.panel.view.button("text"))
    await until(lambda: "Bias lab (Lab 1, 6 pairs" in page.text.toPlainText(), "the lab")
    assert "Prefers the first response" in page.text.toPlainText()

    store = context.document.store
    assert store is not None
    first = lab_info(store)
    context.actions.trigger("page.run")
    keep_lab(store, "another", replace(first.lab, pairs=5), first.runs)
    context.actions.trigger("page.report")
    await until(lambda: "Bias lab (Lab 2, 5 pairs" in page.text.toPlainText(), "the newer lab")
    await until(lambda: page.whole, "the report")


async def test_another_run_stands_beside_this_one_and_goes_again(studio: Studio, place: Path) -> None:
    pairs = story_pairs(12, labelled=0.9)
    page = await reported(studio, place, pairs)
    context = page.context
    assert not page.compare_choice.isEnabled()
    assert not page.panel.parts["comparison"].isEnabled()
    assert page.panel.parts["comparison"].toolTip() == "Choose a run to compare with in the top bar."
    context.document.edit_network("A smaller network", story_network(2, None))
    with telling(StoryJudge(usual(pairs))):
        context.actions.trigger("run.start")
        await until(lambda: page.run_choice.text() == "Run 2" and context.run_state.state == "done", "the second run")
    context.actions.trigger("page.report")
    await until(lambda: page.panel.title.text() == "Report of run 2" and page.whole, "its report", 60)
    menu = page.compare_choice.menu()
    menu.aboutToShow.emit()
    menu.actions()[0].trigger()
    await until(page.panel.parts["comparison"].isEnabled, "both runs", 60)
    assert page.compare_choice.text() == "Compared with run 1"
    results = context.results.results
    assert results is not None
    right = [
        results.frame.verdict(results.report.decides, place) == results.frame.human_label(place)
        for place in range(len(pairs))
        if results.frame.human_label(place) is not None
    ]
    text = page.text.toPlainText()
    assert "## Compared with run-1" in text
    told = text.split("## Compared with run-1")[1].split("\n## ")[0]
    assert f"12 pairs are in both runs (of 12 and 12), 12 judged by both, {len(right)} of them labelled" in told
    assert f"| Accuracy, % | {100 * sum(right) / len(right):.1f} |" in told
    menu.aboutToShow.emit()
    next(action for action in menu.actions() if action.text() == "None").trigger()
    await until(lambda: "Compared with run-1" not in page.text.toPlainText(), "one run alone")
    assert page.compare_choice.text() == "Compare"


async def test_the_short_report_is_one_page_and_is_opened_after_it_is_saved(
    studio: Studio, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await reported(studio, place)
    full = page.pages.count
    assert full > 1
    click(page.panel.length.button("short"))
    await until(lambda: page.pages.count == 1, "the short report")
    assert not any(box.isEnabled() for box in page.panel.parts.values())
    assert "own parts" in page.panel.parts["method"].toolTip()
    opened: list[Path] = []
    monkeypatch.setattr("judgenet.ui.pages.report._open_outside", opened.append)
    await page.write(place / "short.html")
    trouble = told(studio)
    assert trouble is not None
    assert trouble.button is not None
    assert trouble.second is not None
    assert (trouble.button.text, trouble.second.text) == ("Open", "Show folder")
    trouble.button.callback()
    trouble.second.callback()
    assert opened == [place / "short.html", place]
    await page.write(place / "short.json")
    assert json.loads((place / "short.json").read_text("utf-8"))["neurons"] == []
    click(page.panel.length.button("full"))
    await until(lambda: page.pages.count == full, "the full report")
    assert page.panel.parts["method"].isEnabled()
