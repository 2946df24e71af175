"""The page Data, used by mouse and keys: importing, deciding, looking through, reading, choosing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl  # type: ignore[import-untyped]
import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QFileDialog,
    QMenu,
    QSpinBox,
    QStyleOptionViewItem,
    QToolButton,
    QWidget,
)

from judgenet.core.presets import PRESETS
from judgenet.core.project import PairsSource, Project, Selection
from judgenet.store.files import load_project, save_project
from judgenet.ui.app import Studio
from judgenet.ui.data.edit_pair import LabelDialog, TextDialog
from judgenet.ui.data.filters import FilterButton
from judgenet.ui.data.mapping import ColumnBox
from judgenet.ui.pages.data import DataPage
from tests.ui.conftest import settle, until
from tests.ui.person import click, close_all, find, key, press, type_text
from tests.ui.story import StoryJudge, story_network, story_pairs, story_project, use_judge, usual
from tests.ui.test_frame import nameless

CTRL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier


def rows() -> list[dict[str, Any]]:
    """Thirty pairs with one label that nobody can guess, a pair that is there twice, and a few more findings."""
    found: list[dict[str, Any]] = [
        {
            "id": f"r-{number}",
            "prompt": f"Question {number} about ice",
            "answer_a": f"Ice floats, answer {number}. " * (1 + number % 4),
            "answer_b": f"Ice sinks, answer {number}. " * 2,
            "winner": ("model_a", "model_b", "tie", "both bad", None)[number % 5],
            "category": ("science", "craft", "law")[number % 3],
        }
        for number in range(1, 31)
    ]
    for field in ("prompt", "answer_a", "answer_b"):
        found[20][field] = found[3][field]
    found[7]["answer_b"] = found[7]["answer_a"]
    found[11]["answer_b"] = ""
    found[14]["answer_a"] = (
        "As ChatGPT I say: **bold** <b>tag</b> <img src='http://127.0.0.1:9/x.png'> ![alt](file:///etc/hostname)"
    )
    found[15]["prompt"] = "لماذا يطفو الجليد على الماء؟"
    found[16]["prompt"] = "なぜ氷は水に浮かぶのですか。"
    found[16]["reference"] = "水より軽いからです。"
    return found


def written(folder: Path, records: Sequence[dict[str, Any]] | None = None, name: str = "pairs.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(json.dumps(record) for record in (rows() if records is None else records)))
    return path


@pytest.fixture
def page(studio: Studio, place: Path) -> DataPage:
    """The page Data of a new project."""
    studio.window.context.document.new(Project.new("Study", PRESETS["widedeep"].spec))
    studio.window.context.navigator.go("data")
    found = studio.window.page("data")
    assert isinstance(found, DataPage)
    return found


def drop(target: QWidget, *files: Path) -> QDropEvent:
    """Drags files over a widget and drops them."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    enter = QDragEnterEvent(
        QPoint(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(target, enter)
    assert enter.isAccepted()
    event = QDropEvent(
        QPointF(50, 50), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(target, event)
    return event


async def imported(page: DataPage, file: Path, labels: dict[str, str] | None = None) -> None:
    """Imports a file, as a person who decides quickly."""
    page.import_files([file])
    await until(lambda: page.importer.dataset is not None)
    for value, meaning in (labels or {"both bad": "tie"}).items():
        if any(row.value == value for row in page.importing.labels.rows):
            click(page.importing.labels.row(value).meaning.button(meaning))
    await until(lambda: not page.importer.why_not, "ready to import")
    click(page.importing.side.accept)
    await shown(page)


async def shown(page: DataPage) -> None:
    """Waits until the table shows what is wanted, and the findings are there."""
    dataset = page.context.document
    await until(lambda: page.browse.index is not None and not page.browse.busy, "rows")
    await until(lambda: dataset.dataset is not None and "findings" in dataset.dataset.__dict__, "findings")
    await settle()


def table_ids(page: DataPage) -> list[str]:
    model = page.browse.model
    return [model.pair(row).id for row in range(model.rowCount())]


def tick(button: FilterButton, words: str) -> None:
    """Opens a filter's menu and ticks a value with the mouse."""
    click(button)
    menu = button.findChildren(QMenu)[-1]
    action = next(one for one in menu.actions() if one.text().startswith(words))
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
    assert menu.isVisible(), "the menu stays open while boxes are ticked"
    key(menu, Qt.Key.Key_Escape)
    # The offscreen platform does not give the window back its keys when a menu closes.
    button.window().activateWindow()


# --- bringing pairs in ---


async def test_a_file_is_dropped_decided_and_imported(page: DataPage, place: Path) -> None:
    file = written(place)
    assert page.stack.currentWidget() is page.empty
    drop(page, file)
    await until(lambda: page.importer.dataset is not None)
    view = page.importing
    assert page.stack.currentWidget() is view
    assert view.name.text() == "pairs.jsonl"
    assert "JSON Lines" in view.facts.whole
    assert view.columns.boxes["question"].currentText() == "prompt"
    assert view.state.text.text() == "1 label is not decided"
    assert [row.value for row in view.labels.rows] == ["both bad", "model_a", "model_b", "tie"]
    assert view.labels.row("both bad").count.text() == "6"
    assert view.labels.row("model_a").meaning.current == "a"
    assert not any(view.labels.row("both bad").meaning.button(k).isChecked() for k in ("a", "tie", "b", "none"))
    assert not view.side.accept.isEnabled()
    assert "label" in view.side.accept.toolTip()
    assert view.model.rowCount() == 10
    click(view.labels.row("both bad").meaning.button("tie"))
    await until(lambda: not page.importer.why_not)
    assert view.side.accept.text() == "Import 30 pairs"
    click(view.side.accept)
    await shown(page)
    document = page.context.document
    assert page.stack.currentWidget() is page.browse
    assert len(document.pairs) == 30
    assert document.project.pairs is not None
    assert document.project.pairs.labels["both bad"] == "tie"
    assert document.dataset is not None
    assert document.dataset.labels.tie == 12
    assert page.browse.model.rowCount() == 30


async def test_every_decision_is_undone_and_the_import_as_a_whole(page: DataPage, place: Path) -> None:
    window = page.window()
    page.import_files([written(place)])
    await until(lambda: page.importer.dataset is not None)
    view = page.importing
    click(view.labels.row("both bad").meaning.button("none"))
    await until(lambda: not page.importer.why_not)
    key(window, Qt.Key.Key_Z, CTRL)
    await until(lambda: page.importer.why_not == "Say what each label means first.")
    assert not view.labels.row("both bad").meaning.button("none").isChecked()
    key(window, Qt.Key.Key_Y, CTRL)
    await until(lambda: not page.importer.why_not)
    click(view.side.findings.row("duplicate").choice.button("leave"))  # type: ignore[union-attr]
    assert view.side.accept.text() == "Import 29 pairs"
    key(window, Qt.Key.Key_Z, CTRL)
    assert view.side.accept.text() == "Import 30 pairs"
    key(window, Qt.Key.Key_Y, CTRL)
    click(view.side.accept)
    await shown(page)
    stack = page.context.document.undo_stack
    assert (stack.count(), stack.undoText()) == (1, "Import pairs.jsonl")
    assert len(page.context.document.pairs) == 29
    key(window, Qt.Key.Key_Z, CTRL)
    await settle()
    assert page.stack.currentWidget() is page.empty
    assert page.context.document.pairs == ()
    key(window, Qt.Key.Key_Y, CTRL)
    await shown(page)
    assert len(page.context.document.pairs) == 29


async def test_a_cancelled_import_changes_nothing(page: DataPage, place: Path) -> None:
    page.import_files([written(place)])
    await until(lambda: page.importer.dataset is not None)
    click(page.importing.labels.row("both bad").meaning.button("a"))
    key(page.window(), Qt.Key.Key_Z, CTRL)
    click(page.importing.side.cancel)
    await settle()
    stack = page.context.document.undo_stack
    assert (stack.count(), stack.canUndo(), stack.canRedo()) == (0, False, False)
    assert page.stack.currentWidget() is page.empty
    assert page.context.document.project.pairs is None


async def test_columns_that_are_not_clear_are_chosen(page: DataPage, place: Path) -> None:
    records = [
        {"query": f"q{n}", "prompt": f"p{n}", "left": f"l{n}", "right": f"r{n}", "label": "a", "winner": "b"}
        for n in range(12)
    ]
    page.import_files([written(place, records)])
    await until(lambda: page.importer.draft is not None)
    await settle()
    view = page.importing
    box = view.columns.boxes["question"]
    assert (box.currentText(), box.property("problem")) == ("", "true")
    assert "prompt or query" in box.toolTip()
    assert view.side.accept.toolTip() == "Choose the columns first."
    for part, column in (("question", "query"), ("response_a", "left"), ("response_b", "right"), ("human", "winner")):
        box = view.columns.boxes[part]
        box.setFocus()
        key(box, Qt.Key.Key_Down)  # a combo box without a choice begins at its first entry
        box.setCurrentIndex(box.findText(column))
        box.activated.emit(box.currentIndex())
    await until(lambda: not page.importer.why_not)
    assert page.importer.dataset is not None
    first = page.importer.dataset.pairs[0]
    assert (first.question, first.response_a, first.response_b, first.human) == ("q0", "l0", "r0", "b")


async def test_several_columns_make_one_question(page: DataPage, place: Path) -> None:
    records = [{"instruction": "do", "extra": f"this {n}", "answer_a": "x", "answer_b": "y"} for n in range(3)]
    page.import_files([written(place, records)])
    await until(lambda: page.importer.dataset is not None)
    box = page.importing.columns.boxes["question"]
    box.activated.emit(box.findText("Several columns…"))
    menu = box.findChildren(QMenu)[-1]
    action = next(one for one in menu.actions() if one.text() == "extra")
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
    await until(lambda: page.importer.dataset is not None)
    assert box.currentText() == "instruction + extra"
    assert page.importer.seen.first[0].question == "do\n\nthis 0"


async def test_findings_lead_to_their_pairs_before_the_import(page: DataPage, place: Path) -> None:
    page.import_files([written(place)])
    await until(lambda: page.importer.dataset is not None)
    view = page.importing
    press(view.side, "Show the pairs: Same pair twice")
    assert [view.model.pair(row).id for row in range(view.model.rowCount())] == ["r-21"]
    key(view.table, Qt.Key.Key_Down)
    key(view.table, Qt.Key.Key_Return)
    assert page.stack.currentWidget() is page.peek
    assert page.peek.pair_view.pair is not None
    assert page.peek.pair_view.pair.id == "r-21"
    key(page.peek.pair_view, Qt.Key.Key_Escape)
    assert page.stack.currentWidget() is view
    press(view, "Show the first rows")
    assert view.model.rowCount() == 10


async def test_leaving_out_counts_each_pair_once(page: DataPage, place: Path) -> None:
    records = rows()
    records[20]["answer_b"] = records[3]["answer_b"] = ""
    page.import_files([written(place, records)])
    await until(lambda: page.importer.dataset is not None)
    for kind in ("duplicate", "empty_response"):
        click(page.importing.side.findings.row(kind).choice.button("leave"))  # type: ignore[union-attr]
    assert page.importer.pair_count == 27
    click(page.importing.labels.row("both bad").meaning.button("tie"))
    await until(lambda: not page.importer.why_not)
    assert page.importer.draft is not None
    assert page.importer.draft.leave_out == ("duplicate", "empty_response")
    click(page.importing.side.accept)
    await shown(page)
    assert len(page.context.document.pairs) == 27
    source = page.context.document.project.pairs
    assert source is not None
    assert source.options == {"leave_out": ["duplicate", "empty_response"]}


async def test_a_mapping_is_changed_later_and_undone(page: DataPage, place: Path) -> None:
    await imported(page, written(place))
    press(page.side, "Change columns and labels")
    await until(lambda: page.importer.dataset is not None)
    view = page.importing
    assert view.labels.row("both bad").meaning.current == "tie"
    click(view.labels.row("both bad").meaning.button("none"))
    await until(lambda: not page.importer.why_not)
    assert view.side.accept.text() == "Use 30 pairs"
    click(view.side.accept)
    await shown(page)
    document = page.context.document
    assert document.dataset is not None
    assert document.dataset.labels.tie == 6
    key(page.window(), Qt.Key.Key_Z, CTRL)
    await shown(page)
    assert document.dataset.labels.tie == 12


async def test_what_is_wrong_is_said_with_its_place_and_a_way_on(page: DataPage, studio: Studio, place: Path) -> None:
    bad = place / "bad.jsonl"
    bad.write_text('{"question":"q","response_a":"a","response_b":"b"}\n{"question":"q","resp\n' + "{}\n")
    page.import_files([bad])
    await until(lambda: bool(studio.window.errors.troubles))
    trouble = studio.window.errors.troubles[0]
    assert trouble.where == "bad.jsonl, row 2"
    assert "not valid JSON" in trouble.what
    assert "--" not in trouble.what
    assert trouble.button is not None
    assert page.stack.currentWidget() is page.empty
    close_all(studio.window.errors)
    latin = place / "latin.csv"
    latin.write_bytes("question,response_a,response_b\ncafé,thé,crème\n".encode("cp1252"))
    page.import_files([latin])
    await until(lambda: bool(studio.window.errors.troubles))
    press(studio.window.errors, "Read it as Windows-1252")
    await until(lambda: page.importer.dataset is not None)
    assert page.importer.seen.first[0].question == "café"
    assert page.importer.draft is not None
    assert page.importer.draft.encoding == "cp1252"


async def test_a_label_that_is_no_label_is_said_in_the_page(page: DataPage, place: Path) -> None:
    records = [*rows(), {**rows()[0], "id": "r-99", "winner": ["a"]}]
    page.import_files([written(place, records)])
    await until(lambda: page.importer.seen.problem is not None)
    await settle()
    assert page.importing.problem.isVisible()
    assert "row 31, column 'winner'" in page.importing._problem_text.text()
    page.importer.pick_column("human", "")
    await until(lambda: not page.importer.why_not)
    assert not page.importing.problem.isVisible()


async def test_ids_that_are_there_twice_are_numbered_with_one_click(page: DataPage, place: Path) -> None:
    records = [{**row, "id": "same", "winner": "tie"} for row in rows()]
    page.import_files([written(place, records)])
    await until(lambda: page.importer.problem is not None)
    await settle()
    press(page.importing, "Number the rows")
    await until(lambda: not page.importer.why_not)
    assert page.importer.seen.first[0].id == "row-1"


async def test_a_folder_of_several_files(page: DataPage, place: Path, shared_data: Path) -> None:
    drop(page, shared_data / "faireval")
    await until(lambda: page.importer.dataset is not None)
    assert not page.importer.why_not
    click(page.importing.side.accept)
    await shown(page)
    assert len(page.context.document.pairs) == 80


async def test_reading_can_be_stopped(page: DataPage, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from judgenet.ui.data import importer as module

    def endless(_paths: object, *, watch: Any, **_options: object) -> None:
        while True:
            watch(0.25)

    monkeypatch.setattr(module, "open_files", endless)
    page.import_files([written(place)])
    await until(lambda: page.loading.bar.maximum() == 1000)
    assert page.stack.currentWidget() is page.loading
    assert page.loading.words.text().endswith(", 25 %")
    click(page.loading.stop)
    await until(lambda: page.stack.currentWidget() is page.empty)
    assert not page.importer.active


async def test_looking_through_the_pairs_can_be_stopped_and_begun_again(
    page: DataPage, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judgenet.ui.data import importer as module

    own = module.read

    def endless(_opened: object, _draft: object, _values: object, watch: Any) -> Any:
        while True:
            watch(0.5)

    monkeypatch.setattr(module, "read", endless)
    page.import_files([written(place)])
    await until(lambda: bool(page.context.tasks.jobs) and page.importer.draft is not None)
    press(page.window(), "Stop this work")
    await until(lambda: page.importing.side.findings.again.isVisible())
    assert page.importing.side.accept.toolTip() == "Say what each label means first."
    monkeypatch.setattr(module, "read", own)
    press(page.importing.side, "Look through the pairs")
    await until(lambda: page.importer.dataset is not None)
    assert not page.importing.side.findings.again.isVisible()


async def test_pairs_of_a_project_that_are_gone(studio: Studio, place: Path) -> None:
    path = place / "study.judgenet"
    save_project(Project.new("study", PRESETS["jury"].spec, PairsSource(("gone.jsonl",))), path)
    studio.window.frame_actions.open_file(path)
    studio.window.context.navigator.go("data")
    page = studio.window.page("data")
    assert isinstance(page, DataPage)
    await until(lambda: bool(studio.window.errors.troubles))
    assert page.stack.currentWidget() is page.empty
    assert "gone.jsonl" in page.empty.note.text()
    close_all(studio.window.errors)


async def test_choosing_a_folder(page: DataPage, place: Path) -> None:
    (place / "set").mkdir()
    written(place / "set")
    click(page.empty.more)
    await until(lambda: page.findChild(QFileDialog) is not None)
    dialog = page.findChild(QFileDialog)
    assert dialog is not None
    dialog.setDirectory(str(place / "set"))
    dialog.accept()
    await until(lambda: page.importer.dataset is not None)
    assert page.importer.files == (place / "set",)


# --- looking through ---


async def test_searching_filtering_and_sorting(page: DataPage, place: Path) -> None:
    await imported(page, written(place))
    bar, table = page.browse.bar, page.browse.table
    key(page, Qt.Key.Key_F, CTRL)
    assert bar.search.hasFocus()
    QTest.keyClicks(bar.search, "sinks")
    await until(lambda: page.browse.model.rowCount() == 28)
    assert bar.shown.text() == "28 of 30 pairs"
    key(bar.search, Qt.Key.Key_Escape)
    await until(lambda: page.browse.model.rowCount() == 30)
    tick(bar.task, "law")
    await until(lambda: page.browse.model.rowCount() == 10)
    assert bar.task.text() == "Task: law"
    tick(bar.human, "A")
    await until(lambda: not page.browse.busy)
    assert table_ids(page) == ["r-5", "r-20"]
    bar.task.set_ticked(frozenset({"law", "craft"}))
    assert (bar.task.ticked, bar.task.words()) == (frozenset({"law", "craft"}), "craft or law")
    press(bar, "Clear all filters")
    await until(lambda: page.browse.model.rowCount() == 30)
    place_of = next(i for i, c in enumerate(page.browse.model.columns) if c.key == "length_a")
    head = table.heads
    at = QPoint(head.sectionViewportPosition(place_of) + 20, head.height() // 2)
    lengths: list[list[int]] = []
    for _ in range(3):
        QTest.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=at)
        await until(lambda: not page.browse.busy)
        lengths.append([len(page.browse.model.pair(row).response_a) for row in range(30)])
    assert lengths[0] == sorted(lengths[0])
    assert lengths[1] == sorted(lengths[0], reverse=True)
    assert table_ids(page) == [f"r-{n}" for n in range(1, 31)]


async def test_findings_lead_to_their_pairs(page: DataPage, place: Path) -> None:
    await imported(page, written(place))
    press(page.side, "Show the pairs: A model names itself")
    await until(lambda: not page.browse.busy)
    assert table_ids(page) == ["r-15"]
    assert page.browse.bar.finding.text() == "Finding: A model names itself"


async def test_a_pair_is_opened_and_left_by_keys(page: DataPage, place: Path) -> None:
    await imported(page, written(place))
    table, view = page.browse.table, page.browse.pair_view
    key(page, Qt.Key.Key_Down)
    assert table.hasFocus()
    key(table, Qt.Key.Key_Down)
    key(table, Qt.Key.Key_Return)
    assert view.isVisible()
    assert view.pair is not None
    assert view.pair.id == "r-2"
    assert view.place.text() == "2 of 30"
    key(page, Qt.Key.Key_Down, ALT)
    assert view.pair.id == "r-3"
    click(view.back)
    assert view.pair.id == "r-2"
    key(table, Qt.Key.Key_End)
    assert view.pair.id == "r-30"
    assert not view.forth.isEnabled()
    click(view.whole)
    assert not table.isVisible()
    click(view.whole)
    assert table.isVisible()
    key(view, Qt.Key.Key_Escape)
    assert not view.isVisible()
    assert table.hasFocus()


async def test_texts_are_never_html_and_nothing_is_loaded(page: DataPage, place: Path) -> None:
    await imported(page, written(place))
    page.browse.open_pair(14)
    view = page.browse.pair_view
    shown_text = view.a.text.toPlainText()
    assert "bold <b>tag</b> <img src='http://127.0.0.1:9/x.png'>" in shown_text
    assert "[Image, not loaded: alt, file:///etc/hostname]" in shown_text
    click(view.form.button("plain"))
    assert view.a.text.toPlainText() == rows()[14]["answer_a"]
    assert page.context.settings.preferences.markdown is False
    click(view.form.button("markdown"))
    assert "**" not in view.a.text.toPlainText()


async def test_scripts_lengths_and_reference(page: DataPage, place: Path) -> None:
    await imported(page, written(place))
    view = page.browse.pair_view
    page.browse.open_pair(15)
    assert view.question.document().firstBlock().textDirection() == Qt.LayoutDirection.RightToLeft
    assert view.a.text.document().firstBlock().textDirection() == Qt.LayoutDirection.LeftToRight
    assert view.a._size.text() == "4 words"
    assert view.b.more.text() == "100 % longer than A"
    assert not view.which.isVisible()
    page.browse.open_pair(16)
    assert view.question.toPlainText() == "なぜ氷は水に浮かぶのですか。"
    assert view._question_size.text() == "14 characters"
    click(view.which.button("reference"))
    assert view.question.toPlainText() == "水より軽いからです。"


async def test_annotators_are_named(page: DataPage, place: Path) -> None:
    records = [{**row, "winner": "tie", "annotators": {"Ana": "a", "Bruno": "b"}} for row in rows()]
    await imported(page, written(place, records))
    page.browse.open_pair(0)
    names = [w.accessibleName() for w in page.browse.pair_view.findChildren(QWidget) if ": " in w.accessibleName()]
    assert {"People: tie", "Ana: A", "Bruno: B"} <= set(names)


async def test_another_page_shows_some_pairs_here(page: DataPage, studio: Studio, place: Path) -> None:
    await imported(page, written(place))
    navigator = studio.window.context.navigator
    navigator.go("data", pairs=(4, 9), why="network B, people A")
    await until(lambda: page.browse.model.rowCount() == 2)
    assert table_ids(page) == ["r-5", "r-10"]
    assert page.browse.bar.shown.text() == "2 of 30 pairs: network B, people A"
    navigator.go("data", pairs=(7,), why="one")
    await until(lambda: page.browse.pair_view.isVisible())
    assert page.browse.pair_view.pair is not None
    assert page.browse.pair_view.pair.id == "r-8"


# --- choosing ---


async def test_choosing_all_shown_a_sample_and_so_many_per_task(page: DataPage, place: Path) -> None:
    await imported(page, written(place))
    document, panel = page.context.document, page.browse.side.chosen
    assert not panel.kind.button("ids").isEnabled()
    assert "filter first" in panel.kind.button("ids").toolTip()
    click(panel.kind.button("sample"))
    await settle()
    assert document.project.pairs is not None
    assert document.project.pairs.selection == Selection("sample", 30, 0)
    panel.number.setFocus()
    panel.number.selectAll()
    QTest.keyClicks(panel.number, "12")
    key(panel.number, Qt.Key.Key_Return)
    await until(lambda: panel.fact.text() == "12 of 30 pairs chosen")
    assert len(document.pairs) == 12
    ticked = [page.browse.model.is_chosen(row) for row in range(30)]
    assert ticked.count(True) == 12
    click(panel.kind.button("per_task"))
    panel.number.setValue(2)
    await until(lambda: len(document.pairs) == 6)
    tick(page.browse.bar.task, "law")
    await until(lambda: page.browse.model.rowCount() == 10)
    click(panel.kind.button("ids"))
    await until(lambda: len(document.pairs) == 10)
    assert {pair.task for pair in document.pairs} == {"law"}
    press(page.browse.bar, "Clear all filters")
    tick(page.browse.bar.chosen, "not chosen")
    await until(lambda: page.browse.model.rowCount() == 20)
    assert panel.again.text() == "Choose the 20 shown now"
    click(panel.kind.button("all"))
    await until(lambda: panel.fact.text() == "30 of 30 pairs chosen")
    for expected in (10, 6, 12, 30):
        key(page.window(), Qt.Key.Key_Z, CTRL)
        await until(lambda expected=expected: len(document.pairs) == expected, f"{expected} after undo")  # type: ignore[misc]
    await until(lambda: document.save_state == "saved")
    assert document.file is not None
    assert load_project(document.file).pairs == document.project.pairs


async def test_what_it_costs_follows_the_choice(page: DataPage, place: Path) -> None:
    await imported(page, written(place))
    panel, figures = page.browse.side.chosen, page.context.figures
    await until(lambda: not figures.stale and figures.estimate is not None)
    whole = panel._costs["Calls"].text()
    click(panel.kind.button("sample"))
    panel.number.setValue(3)
    await until(lambda: len(page.context.document.pairs) == 3 and not figures.stale)
    assert panel._costs["Calls"].text() not in ("", whole)


# --- verdicts of a run ---


async def test_verdicts_stand_beside_labels(studio: Studio, place: Path) -> None:
    pairs = story_pairs(20)
    studio.window.frame_actions.open_file(story_project(place, pairs, story_network(2, 2)))
    studio.window.context.navigator.go("data")
    page = studio.window.page("data")
    assert isinstance(page, DataPage)
    await shown(page)
    columns = {column.key: number for number, column in enumerate(page.browse.model.columns)}
    table = page.browse.table
    assert table.isColumnHidden(columns["verdict"])
    runner, run_state = studio.window.context.runner, studio.window.context.run_state
    use_judge(studio, StoryJudge(usual(pairs)))
    runner.start()
    await until(lambda: run_state.state == "done" and not runner.running)
    await until(lambda: not table.isColumnHidden(columns["verdict"]) and not page.browse.busy)
    await until(lambda: "of 20 pairs" in page.browse.side.agreement.text(), "all verdicts are told of")
    model = page.browse.model
    said = [run_state.verdicts(i)[studio.window.context.document.rule] for i in range(20)]  # type: ignore[index]
    assert [model.verdict(row, "verdict")[0] for row in range(20)] == said
    agreeing = sum(one == pair.human for one, pair in zip(said, pairs, strict=True))
    assert f"{agreeing / 20:.1%}".replace("%", " %") in page.browse.side.agreement.text()
    tick(page.browse.bar.match, "differ")
    await until(lambda: model.rowCount() == 20 - agreeing)
    assert all(model.agrees(row) is False for row in range(model.rowCount()))
    page.browse.open_pair(model.position(0))
    press(page.browse.pair_view, "Show this pair in the run")
    assert studio.window.context.navigator.page == "run"


# --- what holds always ---


async def test_every_control_has_a_name(page: DataPage, place: Path) -> None:
    assert nameless(page) == []
    page.import_files([written(place)])
    await until(lambda: page.importer.dataset is not None)
    assert nameless(page) == []
    click(page.importing.columns.more)
    assert nameless(page) == []
    click(page.importing.labels.row("both bad").meaning.button("a"))
    await until(lambda: not page.importer.why_not)
    click(page.importing.side.accept)
    await shown(page)
    page.browse.open_pair(3)
    assert nameless(page) == []
    button = find(page.window(), QToolButton, "Import")
    assert next(action.text() for action in button.menu().actions()) == "Choose a file of pairs…"


async def test_a_project_that_is_open_elsewhere_is_only_read(page: DataPage, studio: Studio, place: Path) -> None:
    await imported(page, written(place))
    document = page.context.document
    document.stores.read_only = "Open in another window."
    document.read_only_changed.emit()
    assert not page.browse.side.chosen.kind.button("sample").isEnabled()
    assert not page.browse.side.mapping.isEnabled()
    assert page.browse.side.mapping.toolTip() == "Open in another window."
    page.import_files([written(place)])
    assert studio.window.errors.troubles[0].what == "Nothing was imported. Open in another window."
    document.stores.read_only = ""


async def test_another_project_begins_with_its_own_pairs(page: DataPage, studio: Studio, place: Path) -> None:
    await imported(page, written(place))
    type_text(page.browse.bar.search, "Question 7")
    page.import_files([written(place, name="other.jsonl")])
    await until(lambda: page.importer.dataset is not None)
    click(page.importing.labels.row("both bad").meaning.button("a"))
    studio.window.context.document.new(Project.new("Other", PRESETS["jury"].spec))
    await settle()
    assert page.stack.currentWidget() is page.empty
    assert not page.importer.active
    assert page.context.document.undo_stack.count() == 0
    assert page.browse.bar.search.text() == ""


async def test_focus_moves_from_search_to_table(page: DataPage, place: Path) -> None:
    await imported(page, written(place))
    page.browse.bar.search.setFocus()
    key(page.browse.bar.search, Qt.Key.Key_Down)
    assert page.browse.table.hasFocus()
    assert page.browse.table.current_position == 0
    assert [region.accessibleName() for region in page.regions() if region.isVisible()][:2] == [
        "Search and filters",
        "Pairs",
    ]


async def test_everything_follows_theme_and_scale(page: DataPage, studio: Studio, place: Path) -> None:
    await imported(page, written(place))
    page.browse.open_pair(3)
    row = page.browse.table.verticalHeader().defaultSectionSize()
    studio.settings.set(theme="dark", scale=2.0)
    await settle()
    assert page.browse.table.verticalHeader().defaultSectionSize() == 2 * row
    assert page.side.width() <= page.width() * 2 // 5 + 1
    assert page.grab().toImage().pixelColor(2, 2) == studio.theme.theme.color("bg")
    QApplication.sendEvent(page, QEvent(QEvent.Type.PaletteChange))
    buttons = [b for b in page.findChildren(QAbstractButton) if b.isVisible() and b.accessibleName()]
    assert all(button.height() >= 28 for button in buttons if button.property("kind") != "link")


# More than two responses to a question


def several(folder: Path) -> Path:
    return written(
        folder,
        [
            {"id": f"q{q}", "question": f"Why {q}?"}
            | {f"response_{k}": f"Answer {k} to {q}." for k in range(1, 7)}
            | {f"model_{k}": f"system {k}" for k in range(1, 7)}
            for q in range(12)
        ],
    )


async def test_all_pairs_of_several_responses_or_a_sample(page: DataPage, place: Path) -> None:
    drop(page, several(place))
    panel = page.importing.matches
    await until(lambda: page.importer.dataset is not None and bool(page.importer.cost))
    assert panel.isVisible()
    assert panel.words.text() == "6 systems, 12 questions with 6 responses each: all 180 pairs."
    calls_of_all = int(panel.cost.text().split()[0].replace(",", ""))
    assert page.importing.side.accept.text() == "Import 180 pairs"
    press(panel, "Pairs to judge: A number per question")
    box = find(panel, QSpinBox, "Pairs of each question")
    box.setFocus()
    box.selectAll()
    type_text(box, "6")
    key(box, Qt.Key.Key_Return)
    await until(lambda: page.importer.dataset is not None and bool(page.importer.cost))
    assert panel.words.text().endswith("a sample of 72 of 180 pairs.")
    assert int(panel.cost.text().split()[0].replace(",", "")) < calls_of_all / 2
    press(panel, "Pairs to judge: A share")
    await until(lambda: page.importer.dataset is not None and bool(page.importer.cost))
    # A quarter of 15 pairs is 4, and 5 connect six systems.
    assert panel.words.text().endswith("a sample of 60 of 180 pairs.")
    key(page, Qt.Key.Key_Z, CTRL)
    await until(lambda: page.importer.pair_count == 72)
    await until(lambda: not page.importer.why_not, "ready to import")
    click(page.importing.side.accept)
    await shown(page)
    document = page.context.document
    assert len(document.pairs) == 72
    assert document.project.pairs is not None
    assert document.project.pairs.options == {"matches": 6}
    page._change_mapping()
    await until(lambda: page.importer.dataset is not None)
    assert find(panel, QSpinBox, "Pairs of each question").value() == 6
    assert nameless(page) == []


async def test_pairs_have_no_matches_to_choose(page: DataPage, place: Path) -> None:
    drop(page, written(place))
    await until(lambda: page.importer.dataset is not None)
    assert not page.importing.matches.isVisible()
    press(page.importing.columns, "More columns")
    press(page.importing.columns, "The responses are: Several")
    await until(lambda: page.importing.matches.isVisible())
    assert page.importer.draft is not None
    assert page.importer.draft.missing == ("responses",)


# Single pairs


def ids_of(page: DataPage) -> list[str]:
    """The ids of the pairs that would be judged."""
    return [pair.id for pair in page.context.document.pairs]


async def test_pairs_are_left_out_and_taken_in_again_from_the_menu_of_the_rows(page: DataPage, place: Path) -> None:
    await imported(page, written(place))
    document, actions = page.context.document, page.context.actions
    before = ids_of(page)
    page.browse.table.setFocus()
    page.browse.table.step(0)
    key(page.browse.table, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert page.browse.table.selected_positions == (0, 1)
    page.browse.table.customContextMenuRequested.emit(QPoint(20, 20))
    menu = page.pair_actions.menu
    assert menu.isVisible()
    possible = {action.objectName() for action in menu.actions() if action.isEnabled()}
    assert possible == {"", "data.leave_out", "data.edit_label", "data.copy_id"}
    menu.close()
    actions.trigger("data.leave_out")
    await settle()
    assert ids_of(page) == before[2:]
    assert load_project_of(page).pairs.selection.left_out == ("r-1", "r-2")
    assert document.undo_stack.undoText() == "Leave out 2 pairs"
    # What is left out stays so when a sample is drawn.
    click(page.browse.side.chosen.kind.button("sample"))
    await until(lambda: document.project.pairs.selection.kind == "sample")
    assert document.project.pairs.selection.left_out == ("r-1", "r-2")
    document.undo_stack.undo()
    page.browse.table.go_to(1)
    actions.trigger("data.take_in")
    await settle()
    assert ids_of(page) == before[1:]
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert ids_of(page) == before


def load_project_of(page: DataPage) -> Project:
    page.context.document.save()
    file = page.context.document.file
    assert file is not None
    return load_project(file)


async def test_a_text_is_mended_for_the_project_and_the_file_stays(page: DataPage, place: Path) -> None:
    file = written(place)
    content = file.read_bytes()
    await imported(page, file)
    document = page.context.document
    old = document.pairs[2]
    page.browse.bar.search.setText("ice floats")
    page.browse.table.go_to(2)
    page.browse.open_pair(2)
    page.context.actions.trigger("data.edit_text")
    await until(lambda: any(one.isVisible() for one in page.window().findChildren(TextDialog)))
    dialog = page.window().findChildren(TextDialog)[0]
    dialog.fields["question"].setPlainText("A question without the typo")
    dialog.accept()
    await until(lambda: document.pairs[2].question == "A question without the typo")
    await shown(page)
    assert document.pairs[2].content_hash != old.content_hash
    assert document.pairs[2].response_a == old.response_a
    assert page.browse.pair_view.isVisible()
    assert page.browse.pair_view.pair == document.pairs[2]
    assert "asks the judges about the new text" in page.window().errors.troubles[0].sentence
    assert "edited" in {finding.kind for finding in document.dataset.findings}
    kept = load_project_of(page)
    assert kept.pairs.edits == {"r-3": {"question": (old.question, "A question without the typo")}}
    assert file.read_bytes() == content
    # It is there when the project is opened again.
    path = document.file
    document.close()
    document.open(path)
    await document.loaded()
    assert document.pairs[2].question == "A question without the typo"
    await shown(page)
    page.browse.table.go_to(2)
    page.context.actions.trigger("data.restore")
    await until(lambda: document.pairs[2].question == old.question)
    assert document.project.pairs.edits == {}
    document.undo_stack.undo()
    assert document.pairs[2].question == "A question without the typo"


async def test_the_label_of_several_pairs_is_changed_at_once_and_undone(page: DataPage, place: Path) -> None:
    await imported(page, written(place))
    document = page.context.document
    before = [pair.human for pair in document.pairs]
    page.browse.table.selectAll()
    page.context.actions.trigger("data.edit_label")
    await until(lambda: any(one.isVisible() for one in page.window().findChildren(LabelDialog)))
    dialog = page.window().findChildren(LabelDialog)[0]
    # They have different labels: none is proposed.
    assert not dialog.save.isEnabled()
    click(dialog.choice.button("b"))
    dialog.accept()
    await until(lambda: {pair.human for pair in document.pairs} == {"b"})
    assert document.dataset.labels.b == 30
    edits = document.project.pairs.edits
    assert edits["r-5"] == {"human": ("a", "b")}
    assert "r-1" not in edits
    document.undo_stack.undo()
    assert [pair.human for pair in document.pairs] == before
    assert document.project.pairs.edits == {}


async def test_not_all_pairs_can_be_left_out(page: DataPage, place: Path) -> None:
    await imported(page, written(place))
    page.browse.table.selectAll()
    page.context.actions.trigger("data.leave_out")
    assert len(ids_of(page)) == 30
    assert "No pair would be left" in page.window().errors.troubles[0].sentence


async def test_ids_are_copied(page: DataPage, place: Path, qapp: QApplication) -> None:
    await imported(page, written(place))
    page.browse.table.go_to(3)
    page.context.actions.trigger("data.copy_id")
    assert qapp.clipboard().text() == "r-4"


# What a file holds before its columns are chosen


async def test_the_file_is_shown_as_it_is_until_its_columns_are_chosen(page: DataPage, place: Path) -> None:
    records = [
        {"nr": f"n{n}", "left": f"one {n}", "right": f"two {n}", "ask": f"What is {n}?", "kind": "x"} for n in range(3)
    ]
    page.import_files([written(place, records)])
    await until(lambda: page.importer.draft is not None)
    await settle()
    raw = page.importing.raw
    assert page.importing.previews.currentWidget() is raw
    assert [column.title for column in raw.texts.columns] == list(records[0])
    assert raw.texts.rows[2].cells == tuple(records[2].values())
    # A value stands beside each name in the list, and not in the box.
    box = find(page, ColumnBox, "Column of Question")
    row = box.findData("ask")
    assert box.itemText(row) == "ask"
    option = QStyleOptionViewItem()
    box.itemDelegate().initStyleOption(option, box.model().index(row, 0))
    assert option.text == "ask   “What is 0?”"
    # "nr" is unique; so are the texts, which may be needed for other fields.
    ids = find(page, ColumnBox, "Column of Id")
    assert ids.isVisible()
    assert ids.itemData(1) == "nr"
    assert "occurs once" in ids.toolTip()
    for name, column in (("Question", "ask"), ("Response A", "left"), ("Response B", "right"), ("Id", "nr")):
        chosen = find(page, ColumnBox, f"Column of {name}")
        chosen.activated.emit(chosen.findData(column))
        await settle()
    await until(lambda: page.importing.previews.currentWidget() is page.importing.table, "the pairs")
    await until(lambda: not page.importer.why_not, "ready")
    click(page.importing.side.accept)
    await shown(page)
    assert ids_of(page) == ["n0", "n1", "n2"]


async def test_labels_that_wait_for_a_decision_are_not_missing(page: DataPage, place: Path) -> None:
    records = [
        {"id": str(n), "question": f"What is {n}?", "response_a": "x", "response_b": "y", "human": f"grade {n % 2}"}
        for n in range(7)
    ]
    page.import_files([written(place, records)])
    await until(lambda: page.importer.dataset is not None)
    await settle()
    row = page.importing.side.findings.row("labels_undecided")
    assert row.finding.count == 7
    assert "7 labels wait" in row.finding.message
    for value in ("grade 0", "grade 1"):
        click(page.importing.labels.row(value).meaning.button("a"))
    await until(lambda: page.importer.dataset is not None and page.importer.dataset.labels.a == 7)
    await settle()
    assert "labels_undecided" not in {one.finding.kind for one in page.importing.side.findings._rows}


# Sheets of a workbook, nested fields, rows that cannot be read


def workbook(folder: Path) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "notes"
    book.active.append(["Made in May"])
    for name, ids in (("pairs", "12"), ("more", "345")):
        sheet = book.create_sheet(name)
        sheet.append(["id", "question", "response_a", "response_b"])
        for one in ids:
            sheet.append([one, f"Why {one}?", "Because.", "No idea."])
    book.save(folder / "book.xlsx")
    return folder / "book.xlsx"


async def test_the_sheet_of_a_workbook_is_chosen(page: DataPage, place: Path) -> None:
    page.import_files([workbook(place)])
    await until(lambda: page.importer.pair_count == 2)
    sheet = page.importing.sheet
    assert sheet.isVisible()
    assert [sheet.itemData(place) for place in range(sheet.count())] == ["notes", "pairs", "more"]
    assert sheet.currentData() == "pairs"
    sheet.activated.emit(2)
    await until(lambda: page.importer.pair_count == 3)
    assert sheet.currentData() == "more"
    page.importing.side.accept.click()
    await until(lambda: len(page.context.document.pairs) == 3)
    source = page.context.document.project.pairs
    assert source is not None
    assert source.options["sheet"] == "more"


async def test_nested_fields_are_offered_as_columns(page: DataPage, place: Path) -> None:
    records = [{"id": one, "in": {"ask": f"Why {one}?"}, "out": {"first": "x", "second": "y"}} for one in range(3)]
    page.import_files([written(place, records)])
    await until(lambda: page.importer.draft is not None)
    box = page.importing.columns.boxes["question"]
    offered = [box.itemData(place) for place in range(box.count())]
    assert {"in.ask", "out.first", "out.second"} <= set(offered)
    for part, path in (("question", "in.ask"), ("response_a", "out.first"), ("response_b", "out.second")):
        page.importing.columns.picked.emit(part, path)
    await until(lambda: page.importer.pair_count == 3)
    assert page.importer.seen.first[0].question == "Why 0?"
    assert not page.importing.sheet.isVisible()


async def test_rows_that_cannot_be_read_are_left_out_with_one_click(page: DataPage, place: Path) -> None:
    records = rows()
    records[3]["answer_a"] = [1, 2]
    page.import_files([written(place, records)])
    button = page.importing.leave_out_bad
    await until(lambda: page.importing.problem.isVisible())
    assert button.isVisible()
    press(page.importing, "Leave out bad rows")
    await until(lambda: page.importer.dataset is not None)
    assert page.importer.dataset is not None
    assert len(page.importer.dataset.pairs) == len(records) - 1
    assert "bad_rows" in {finding.kind for finding in page.importer.dataset.findings}
    page.context.document.undo_stack.undo()
    await until(lambda: page.importing.problem.isVisible())


async def test_a_broken_line_can_be_left_out_while_opening(page: DataPage, studio: Studio, place: Path) -> None:
    path = written(place)
    path.write_text(path.read_text(encoding="utf-8") + '\n{"id": "cut', encoding="utf-8")
    page.import_files([path])
    await until(lambda: bool(studio.window.errors.troubles))
    press(studio.window.errors, "Leave out bad rows")
    await until(lambda: page.importer.dataset is not None)
    assert page.importer.draft is not None
    assert page.importer.draft.leave_out_bad
    assert page.importer.dataset is not None
    assert len(page.importer.dataset.pairs) == 30
