"""The page Labels, used by real keys: what is said is on disk at once, and nothing sways who says it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QTextEdit

from judgenet.core.labels import HumanLabel
from judgenet.core.pairs import Pair
from judgenet.core.presets import PRESETS
from judgenet.core.project import Project
from judgenet.store.db import Store
from judgenet.store.files import load_project, save_project, store_path
from judgenet.store.labels import labels_in_force
from judgenet.ui.app import Studio
from judgenet.ui.pages.data import DataPage
from judgenet.ui.pages.labels import LabelsPage
from tests.ui.conftest import settle, until
from tests.ui.person import click, find, key
from tests.ui.story import story_network, story_pairs, story_project
from tests.ui.test_effective_votes import recorded
from tests.ui.test_frame import nameless
from tests.ui.test_results import run


def numbered(count: int, **changes: object) -> tuple[Pair, ...]:
    """Pairs whose responses tell which they are, from models that nobody may see."""
    return tuple(
        replace(
            Pair(f"p{i}", f"Question {i}", f"first {i}", f"second {i}", model_a="secret-one", model_b="secret-two"),
            **changes,  # type: ignore[arg-type]
        )
        for i in range(count)
    )


async def at_desk(studio: Studio, place: Path, pairs: tuple[Pair, ...]) -> LabelsPage:
    context = studio.window.context
    context.document.open(story_project(place, pairs, story_network(3, 2)))
    await until(lambda: len(context.document.pairs) == len(pairs), "the pairs")
    return await shown(studio)


async def shown(studio: Studio) -> LabelsPage:
    studio.window.context.actions.trigger("page.labels")
    page = studio.window.page("labels")
    assert isinstance(page, LabelsPage)
    await until(lambda: page.state.desk is not None and not page.state.working, "the desk")
    await settle()
    return page


def strike(code: Qt.Key) -> None:
    """A key, to whatever has the focus."""
    target = QApplication.focusWidget()
    assert target is not None
    QTest.keyClick(target, code)


async def kept(page: LabelsPage) -> list[HumanLabel]:
    await until(lambda: page.state.pending == 0, "on disk")
    store = page.context.document.store
    assert store is not None
    return labels_in_force(store)


def better(page: LabelsPage, letter: str) -> str:
    """Which response of its pair stands under a letter: a or b."""
    side = page.desk.a if letter == "A" else page.desk.b
    return "a" if side.text.text.startswith("first") else "b"


async def test_keys_label_pairs_and_each_is_on_disk_at_once(studio: Studio, place: Path) -> None:
    page = await at_desk(studio, place, numbered(30))
    expected: list[tuple[str, str]] = []
    for code, letter in ((Qt.Key.Key_A, "A"), (Qt.Key.Key_B, "B"), (Qt.Key.Key_T, "tie"), (Qt.Key.Key_U, "unsure")) * 3:
        number = page.desk.question.text.removeprefix("Question ")
        assert (page.desk.a.text.text, page.desk.b.text.text) in (
            (f"first {number}", f"second {number}"),
            (f"second {number}", f"first {number}"),
        )
        expected.append((f"p{number}", better(page, letter) if letter in "AB" else letter))
        strike(code)
    labels = await kept(page)
    assert [(label.pair_id, label.said) for label in labels] == expected
    assert len({label.swapped for label in labels}) == 2
    assert {(label.annotator, label.chosen, label.population) for label in labels} == {("You", "random", 30)}
    assert all(label.seconds is not None and label.at > 0 for label in labels)
    assert [int(pair_id[1:]) for pair_id, _ in expected] != sorted(int(pair_id[1:]) for pair_id, _ in expected)
    # Another program sees them while the studio is open.
    with Store.open(store_path(page.context.document.path or Path()), readonly=True) as other:
        assert len(labels_in_force(other)) == 12


async def test_nothing_on_the_page_names_models_or_verdicts(studio: Studio, place: Path) -> None:
    pairs = tuple(replace(pair, human="b") for pair in numbered(20))
    context = studio.window.context
    context.document.open(story_project(place, pairs, story_network(3, 2)))
    await until(lambda: len(context.document.pairs) == 20)
    await run(studio, pairs)
    page = await shown(studio)
    strike(Qt.Key.Key_A)
    await settle()
    words = [widget.text() for widget in page.findChildren(QLabel)]
    words += [widget.toPlainText() for widget in page.findChildren(QTextEdit)]
    words += [widget.accessibleName() + widget.toolTip() for widget in page.findChildren(QLabel)]
    assert not [text for text in words if "secret" in text or "network says" in text.lower()]


async def test_back_and_undo(studio: Studio, place: Path) -> None:
    page = await at_desk(studio, place, numbered(10))
    first = page.desk.question.text
    side = better(page, "A")
    strike(Qt.Key.Key_A)
    second = page.desk.question.text
    strike(Qt.Key.Key_Left)
    assert page.desk.question.text == first
    assert page.desk.buttons["a"].property("kind") == "outline"
    strike(Qt.Key.Key_B)
    assert page.desk.question.text == second
    other = "b" if side == "a" else "a"
    assert [label.said for label in await kept(page)] == [other]
    QTest.keyClick(studio.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert [label.said for label in await kept(page)] == [side]
    assert page.desk.question.text == first
    QTest.keyClick(studio.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert await kept(page) == []
    page.context.document.undo_stack.redo()
    assert [label.said for label in await kept(page)] == [side]
    store = page.context.document.store
    assert store is not None
    assert store.reader.execute("SELECT count(*) FROM labels").fetchone()[0] == 5


async def test_keys_are_heard_while_a_text_has_the_focus_and_held_keys_are_not(studio: Studio, place: Path) -> None:
    page = await at_desk(studio, place, numbered(10))
    page.desk.a.text.setFocus()
    strike(Qt.Key.Key_T)
    strike(Qt.Key.Key_S)
    assert [label.said for label in await kept(page)] == ["tie", "skip"]
    strike(Qt.Key.Key_Left)
    assert page.state.desk is not None
    assert page.state.desk.at == 1
    held = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, "a", True)
    QApplication.sendEvent(page.desk, held)
    key(page.desk, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert len(await kept(page)) == 2
    click(page.desk.buttons["unsure"])
    assert [label.said for label in await kept(page)] == ["tie", "unsure"]


async def test_two_annotators_disagree_and_a_third_settles_it(studio: Studio, place: Path) -> None:
    page = await at_desk(studio, place, numbered(6))
    for name, letters in (("Ada", "aab"), ("Bo", "abb")):
        page.annotator.setEditText(name)
        line = page.annotator.lineEdit()
        assert line is not None
        QTest.keyClick(line, Qt.Key.Key_Return)
        await until(lambda name=name: page.state.desk is not None and page.state.desk.annotator == name, name)
        await until(lambda: not page.state.working)
        for said in letters:
            desk = page.state.desk
            assert desk is not None
            page.desk.setFocus()
            strike(Qt.Key.Key_A if desk.shown(said) == "a" else Qt.Key.Key_B)  # type: ignore[arg-type]
    await until(lambda: page.state.survey is not None and len(page.state.survey.disputed) == 1, "one to settle")
    # Two of three pairs alike; by chance (2 · 1 + 1 · 2) / 9: kappa is 0.4.
    found = page.state.survey
    assert found is not None
    assert found.kappa is not None
    assert found.kappa[0].kappa == pytest.approx(0.4)
    assert "0.40" in page.side.agreement.text()
    assert page.side.settle.text() == "1 pair to settle"
    page.state.set_annotator("Chair")
    click(page.side.settle)
    await until(lambda: page.state.mode == "settle" and not page.state.working)
    assert (page.desk.a.text.text[:5], page.desk.b.text.text[:6]) == ("first", "second")
    assert "Ada: A; Bo: B" in page.desk.note.text()
    strike(Qt.Key.Key_B)
    labels = await kept(page)
    assert [(label.annotator, label.said, label.settles) for label in labels if label.settles] == [("Chair", "b", True)]
    await until(lambda: page.state.survey is not None and not page.state.survey.disputed, "settled")


async def test_a_targeted_review_says_that_it_does_not_count(studio: Studio, place: Path) -> None:
    pairs = tuple(replace(pair, human=None) for pair in story_pairs(30))
    context = studio.window.context
    context.document.open(story_project(place, pairs, story_network(3, 2)))
    await until(lambda: len(context.document.pairs) == 30)
    page = await shown(studio)
    click(page.side.mode.button("planned"))
    await until(lambda: not page.state.working)
    assert "no run" in page.empty.note.text()
    await run(studio, pairs)
    page = await shown(studio)
    click(page.side.mode.button("targeted"))
    await until(lambda: page.state.mode == "targeted" and not page.state.working)
    assert (page.side.counts.text(), page.side.counts.property("tone")) == ("Does not count", "warn")
    page.desk.setFocus()
    strike(Qt.Key.Key_A)
    assert [label.chosen for label in await kept(page)] == ["targeted"]
    click(page.side.mode.button("planned"))
    await until(lambda: page.state.mode == "planned" and not page.state.working)
    assert "Counts" in page.side.counts.text()
    page.desk.setFocus()
    strike(Qt.Key.Key_T)
    last = (await kept(page))[-1]
    run_now = context.run_state.run
    assert run_now is not None
    assert (last.chosen, last.within) == ("within-verdict", f"{run_now.id}/{page.state.aggregation}")


async def test_listed_pairs_are_reviewed_and_the_planner_leads_here(studio: Studio, place: Path) -> None:
    page = await at_desk(studio, place, numbered(12))
    context = studio.window.context
    context.navigator.go("labels", pairs=(7, 3))
    await until(lambda: page.state.mode == "targeted" and not page.state.working)
    assert page.desk.question.text == "Question 7"
    page.desk.setFocus()
    strike(Qt.Key.Key_T)
    assert page.desk.question.text == "Question 3"
    assert [label.chosen for label in await kept(page)] == ["targeted"]
    await run(studio, numbered(12))
    await shown(studio)
    context.navigator.go("labels", pairs=(5, 2), part="plan")
    await until(lambda: page.state.mode == "planned" and not page.state.working)
    assert page.desk.question.text == "Question 5"
    page.desk.setFocus()
    strike(Qt.Key.Key_T)
    last = (await kept(page))[-1]
    assert (last.pair_id, last.chosen) == ("p5", "within-verdict")


async def test_the_pairs_of_the_table_can_be_reviewed(studio: Studio, place: Path) -> None:
    page = await at_desk(studio, place, numbered(12))
    context = studio.window.context
    context.actions.trigger("page.data")
    data = studio.window.page("data")
    assert isinstance(data, DataPage)
    await until(lambda: len(data.browse.model.rows) == 12, "the rows")
    data.browse.bar.search.setText("Question 11")
    await until(lambda: len(data.browse.model.rows) == 1, "one row")
    context.actions.trigger("labels.review")
    await until(lambda: page.state.mode == "targeted" and not page.state.working)
    assert page.desk.question.text == "Question 11"
    assert page.side.counts.text() == "Does not count"


async def test_labels_reach_the_results(studio: Studio, place: Path) -> None:
    pairs = tuple(replace(pair, human=None) for pair in story_pairs(12))
    context = studio.window.context
    context.document.open(story_project(place, pairs, story_network(3, 2)))
    await until(lambda: len(context.document.pairs) == 12)
    await run(studio, pairs)
    page = await shown(studio)
    for _ in range(5):
        strike(Qt.Key.Key_A)
    await kept(page)
    context.actions.trigger("page.results")
    await until(
        lambda: (
            context.results.results is not None
            and context.results.results.report.data.labelled == 5
            and not context.results.working
        ),
        "five labels in the results",
    )


async def test_what_is_done_is_not_asked_again_and_all_are_exported(studio: Studio, place: Path) -> None:
    page = await at_desk(studio, place, numbered(4))
    for _ in range(4):
        strike(Qt.Key.Key_A)
    await kept(page)
    assert page.stack.currentWidget() is page.empty
    assert "4 labels by You" in page.empty.sentence.text()
    for name in ("labels.csv", "labels.jsonl"):
        page.export_to(place / name)
        await until(lambda name=name: (place / name).exists())
    lines = [json.loads(line) for line in (place / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["annotator"] for line in lines] == ["You"] * 4
    assert (place / "labels.csv").read_text(encoding="utf-8").count("You") == 4
    context = studio.window.context
    context.document.open(context.document.path or Path())
    await until(lambda: len(context.document.pairs) == 4)
    page = await shown(studio)
    assert page.stack.currentWidget() is page.empty
    page.state.set_annotator("Bo")
    await until(lambda: not page.state.working)
    assert page.stack.currentWidget() is page.desk


async def test_labels_given_before_a_run_are_compared_with_it(studio: Studio, place: Path) -> None:
    pairs = tuple(replace(pair, human=None) for pair in story_pairs(8))
    context = studio.window.context
    context.document.open(story_project(place, pairs, story_network(2, 1)))
    await until(lambda: len(context.document.pairs) == 8)
    page = await shown(studio)
    for _ in range(3):
        strike(Qt.Key.Key_A)
    labels = {label.pair_id: label.said for label in await kept(page)}
    context.actions.trigger("page.run")
    await run(studio, pairs)
    table = context.run_state.table
    assert table is not None
    await until(lambda: int((table.pairs.human > 0).sum()) == 3, "the labels in the table")
    assert {table.pairs.ids[at]: table.human_label(at) for at in range(8) if table.human_label(at)} == labels
    await shown(studio)
    strike(Qt.Key.Key_T)
    await kept(page)
    context.actions.trigger("page.run")
    await until(lambda: int((table.pairs.human > 0).sum()) == 4, "the fourth label")


async def test_labels_of_a_file_are_taken_over_or_nothing_is(studio: Studio, place: Path) -> None:
    page = await at_desk(studio, place, numbered(4))
    (place / "said.csv").write_text("pair_id,label,annotator\np1,a,Ada\np2,skip,Ada\n", encoding="utf-8")
    (place / "bad.csv").write_text("pair_id,label\np3,a\np2,perhaps\n", encoding="utf-8")
    page.import_from(place / "said.csv")
    await until(lambda: page.state.survey is not None and page.state.survey.said == {"Ada": 1})
    assert [(label.annotator, label.said, label.chosen) for label in await kept(page)] == [
        ("Ada", "a", "imported"),
        ("Ada", "skip", "imported"),
    ]
    page.import_from(place / "bad.csv")
    errors = studio.window.errors
    await until(lambda: any("perhaps" in trouble.what for trouble in errors.troubles), "what is wrong")
    assert len(await kept(page)) == 2


async def test_without_pairs_and_without_a_place_to_write(studio: Studio, place: Path) -> None:
    context = studio.window.context
    path = story_project(place, numbered(5), story_network(2, 1))
    store = Store.open(store_path(path))
    try:
        context.document.open(path)
        await until(lambda: len(context.document.pairs) == 5)
        page = await shown(studio)
        strike(Qt.Key.Key_A)
        assert "read-only" in page.desk.note.text()
        assert not page.desk.buttons["a"].isEnabled()
        assert page.state.desk is not None
        assert page.state.desk.labelled == 0
    finally:
        store.close()
    context.document.new(Project.new("Bare", PRESETS["widedeep"].spec))
    context.actions.trigger("page.labels")
    await settle()
    assert find(page.empty, type(page.empty.button), "Choose pairs").isVisible()


async def test_every_control_has_a_name(studio: Studio, place: Path) -> None:
    page = await at_desk(studio, place, numbered(5))
    assert nameless(page) == []


async def test_a_run_whose_pairs_have_no_file_says_so(studio: Studio, place: Path) -> None:
    path = recorded(place)
    save_project(replace(load_project(path), pairs=None), path)
    context = studio.window.context
    context.document.open(path)
    await until(lambda: context.run_state.table is not None and not context.run_state.loading)
    page = await shown(studio)
    assert page.empty.sentence.text() == "This page is for labelling pairs. The project names no file of pairs."
    assert "60 pairs of the run in view" in page.empty.note.text()
