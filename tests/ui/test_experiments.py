"""Experiments in the studio: chosen, estimated, run, stopped, read and saved, with mouse and keys."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QPushButton, QSpinBox

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.experiments import EXPERIMENTS
from judgenet.core.network import Settings
from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.store.files import save_project
from judgenet.store.runs import runs
from judgenet.ui.app import Studio
from judgenet.ui.experiments.dialog import ExperimentsDialog
from judgenet.ui.results.drawing_view import DrawingView
from judgenet.ui.table import TextTable
from tests.e2e.command import write_pairs
from tests.fakes.judge_server import JudgeServer
from tests.ui.conftest import settle, until
from tests.ui.person import choose, find, key, press

PAIRS = 5


async def opened(studio: Studio, place: Path, judge: JudgeServer) -> ExperimentsDialog:
    """The dialog of a project with five pairs, opened by its shortcut."""
    write_pairs(place / "five.jsonl", PAIRS)
    spec = network(3, 2, settings=Settings(endpoint="lab", model="judge"))
    project = replace(
        Project.new("Five", spec, PairsSource(("five.jsonl",))),
        endpoints=(EndpointProfile("lab", base_url=f"{judge.url}/v1"),),
    )
    path = place / "five.judgenet"
    save_project(project, path)
    window = studio.window
    window.frame_actions.open_file(path)
    await window.context.document.loaded()
    await settle()
    key(window, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    dialog = window.findChild(ExperimentsDialog)
    assert isinstance(dialog, ExperimentsDialog)
    await until(dialog.isVisible)
    return dialog


def texts(dialog: ExperimentsDialog) -> str:
    return "\n".join(made.text() for made in dialog.findChildren(QLabel) if made.isVisible())


async def test_the_plan_is_estimated_as_it_changes(studio: Studio, place: Path, judge: JudgeServer) -> None:
    dialog = await opened(studio, place, judge)
    titles = [dialog.list.item(row).text() for row in range(dialog.list.count())]
    assert titles == [preset.title for preset in EXPERIMENTS.values()]
    # FairEval's six, roles, and two layers of 3 to 8 in both orders.
    low, high = PAIRS * (6 + 1 + 12), PAIRS * (6 + 1 + 32)
    await until(lambda: f"{low} to {high}" in texts(dialog))
    key(dialog.list, Qt.Key.Key_Down)
    find(dialog, QSpinBox, "Maximum neurons per layer").setValue(3)
    find(dialog, QSpinBox, "Maximum layers").setValue(2)
    await until(lambda: f"\n{PAIRS * (1 + 6 + 12)}\n" in texts(dialog))
    choose(dialog.plan.pairs, "Random sample")
    find(dialog, QSpinBox, "Number of pairs").setValue(2)
    await until(lambda: f"\n{2 * (1 + 6 + 12)}\n" in texts(dialog))
    assert judge.requests == 0
    key(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


async def test_it_runs_and_shows_what_came_out(studio: Studio, place: Path, judge: JudgeServer) -> None:
    dialog = await opened(studio, place, judge)
    for _ in range(6):
        key(dialog.list, Qt.Key.Key_Down)
    assert "Baselines" in texts(dialog)
    press(dialog, "Run")
    await until(lambda: dialog.results_in_view is not None and find(dialog, QPushButton, "Run").isEnabled())
    assert judge.requests == PAIRS * (8 * 3 + 2 * 3)
    table = next(one for one in dialog.findChildren(TextTable) if one.isVisible())
    found = dialog.results_in_view
    assert found is not None
    rows = found["sets"][0]["rows"]
    assert [row.cells[0] for row in table.texts.rows[: len(rows)]] == [row["name"] for row in rows]
    assert f"{100 * rows[0]['accuracy']:.1f}" == table.texts.rows[0].cells[1]
    assert any("accuracy" in view.accessibleName() for view in dialog.results.findChildren(DrawingView))
    assert {path.name for path in (place / "five-experiments" / "baselines").iterdir()} == {
        "results.json",
        "table.md",
        "table.csv",
        "table.tex",
        "method.md",
        "plot.svg",
        "plot-dark.svg",
    }
    # Its runs are the project's, to be looked at like others.
    store = studio.window.context.document.store
    assert store is not None
    assert len(studio.window.context.run_state.runs) == len(runs(store)) == 4
    press(dialog, "View: Method")
    assert "2308.01862" in dialog.method.toPlainText()

    press(dialog, "Save files…")
    await until(lambda: dialog.findChild(QFileDialog) is not None)
    asked = dialog.findChild(QFileDialog)
    assert isinstance(asked, QFileDialog)
    (place / "paper").mkdir()
    line = asked.findChild(QLineEdit, "fileNameEdit")
    assert isinstance(line, QLineEdit)
    line.setText(str(place / "paper"))
    asked.accept()
    await until(lambda: (place / "paper" / "plot.svg").exists() and "Written to" in dialog.state.text())
    assert json.loads((place / "paper" / "results.json").read_text(encoding="utf-8")) == found.to_dict()

    # Again, it costs nothing.
    press(dialog, "Run")
    await until(lambda: dialog.results_in_view is not found and find(dialog, QPushButton, "Run").isEnabled())
    assert judge.requests == PAIRS * (8 * 3 + 2 * 3)


async def test_stopped_it_keeps_what_there_is_and_goes_on(studio: Studio, place: Path, judge: JudgeServer) -> None:
    dialog = await opened(studio, place, judge)
    judge.judge.settings.latency = 0.05
    press(dialog, "Run")
    await until(lambda: judge.requests > 12)
    assert not dialog.list.isEnabled()
    assert studio.window.context.tasks.jobs[0].title == "Experiment: Main table"
    judge.judge.settings.latency = 20.0
    press(dialog, "Stop")
    await until(lambda: dialog.results_in_view is not None)
    found = dialog.results_in_view
    assert found is not None
    assert found["sets"][0]["state"] == "cancelled"
    assert "has not run to its end" in texts(dialog)
    asked = judge.requests
    judge.judge.settings.latency = 0.0
    press(dialog, "Resume")
    await until(lambda: dialog.results_in_view is not found and find(dialog, QPushButton, "Run").isEnabled())
    assert dialog.results_in_view is not None
    assert dialog.results_in_view["sets"][0]["state"] == "done"
    # What was in flight when it stopped is asked again, nothing else.
    total = PAIRS * (6 + 1 + 12)
    assert total <= judge.requests <= total + asked
    assert len({entry.body_hash for entry in judge.log}) == total - PAIRS * 4


async def test_without_pairs_it_says_what_is_missing(studio: Studio) -> None:
    studio.window.context.document.new(Project.new("None", network(1, 1)))
    await settle()
    studio.window.context.actions.trigger("experiments.open")
    dialog = studio.window.findChild(ExperimentsDialog)
    assert isinstance(dialog, ExperimentsDialog)
    assert "There are no pairs to judge" in texts(dialog)
    assert not find(dialog, QPushButton, "Run").isEnabled()
    assert not dialog.view.button("results").isEnabled()
    dialog.reject()
    await settle()
    assert QApplication.activeModalWidget() is None


async def test_what_labels_take_and_cost_stands_beside_the_share(
    studio: Studio, place: Path, judge: JudgeServer
) -> None:
    dialog = await opened(studio, place, judge)
    for _ in range(5):
        key(dialog.list, Qt.Key.Key_Down)
    assert "Annotation saving" in texts(dialog)
    assert not dialog.plan.wage.isVisible()
    find(dialog, QSpinBox, "Seconds per label").setValue(36)
    find(dialog, QSpinBox, "Wage, USD per hour").setValue(20)
    press(dialog, "Run")
    await until(lambda: dialog.results_in_view is not None and find(dialog, QPushButton, "Run").isEnabled())
    found = dialog.results_in_view
    assert found is not None
    saving = found["sets"][0]["saving"]
    assert saving["labour"] == {"seconds": 36, "wage": 20, "annotators": 1, "reasons": {}}
    assert saving["rows"][0]["work"]["cost_all"] == pytest.approx(PAIRS * 36 / 3600 * 20)
    assert "36 s a label, 20 USD an hour" in texts(dialog)
    await settle()
    tables = dialog.findChildren(TextTable)
    assert tables
    for table in tables:
        for column in range(table.texts.columnCount()):
            assert table.columnWidth(column) >= table.sizeHintForColumn(column)
            assert table.columnWidth(column) >= table.horizontalHeader().sectionSizeHint(column)
