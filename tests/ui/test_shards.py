"""The shards of a project on the page Run: seen, steered, read as one run, opened one by one, and merged."""

from __future__ import annotations

import asyncio
import json
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from judgenet.cli.errors import ExitCode
from judgenet.cli.main import main
from judgenet.core.network import Settings
from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.core.shards import Shard
from judgenet.store.files import save_project
from judgenet.store.shard_states import ShardReport, read_command, write_shard_report
from judgenet.store.shard_watch import CELL_STATES
from judgenet.ui.app import Studio
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.pages.run import RunPage
from judgenet.ui.shards.grid import ShardGrid
from judgenet.ui.shards.stamps import draw_stamp
from judgenet.ui.shards.view import ShardsView
from judgenet.ui.theme import make_theme
from tests.fakes.judge_server import JudgeServer
from tests.ui.conftest import settle, until
from tests.ui.person import LEFT, click, press

OF = 3


@pytest.fixture
def study(place: Path) -> Path:
    """A project of 12 labelled pairs over 12 questions."""
    lines = [
        {
            "id": f"p{i}",
            "question": f"What is {i}?",
            "response_a": f"It is {i}.",
            "response_b": "No.",
            "human": "ab"[i % 2],
        }
        for i in range(12)
    ]
    (place / "pairs.jsonl").write_text("".join(json.dumps(of) + "\n" for of in lines), encoding="utf-8")
    path = place / "study.judgenet"
    spec = network(2, 1, settings=Settings(endpoint="none", model="m"))
    save_project(Project.new("study", spec, PairsSource(("pairs.jsonl",))), path)
    return path


def judged(study: Path, judge: JudgeServer, index: int) -> None:
    """A shard is judged, by another program."""
    command = ["run", str(study), "--base-url", judge.url, "--model", "judge", "--roles", "none", "-q"]
    assert main([*command, "--shard", f"{index}/{OF}"]) == ExitCode.DONE


def tell(study: Path, index: int, report: ShardReport) -> None:
    folder = study.parent / "study.shards" / Shard(OF, index).folder
    folder.mkdir(parents=True, exist_ok=True)
    write_shard_report(folder, report)


async def opened(studio: Studio, study: Path) -> RunPage:
    studio.window.frame_actions.open_file(study)
    await studio.window.context.document.loaded()
    click(studio.window.rail.button("run"))
    page = studio.window.page("run")
    assert isinstance(page, RunPage)
    return page


def view_of(page: RunPage) -> ShardsView:
    view = page.shards.view
    assert view is not None
    assert view.isVisible()
    return view


def click_shard(grid: ShardGrid, index: int) -> None:
    QTest.mouseClick(grid.viewport(), LEFT, pos=grid._box(index - 1).center().toPoint())


async def test_a_project_opens_with_its_shards_and_reads_them_as_one_run(
    studio: Studio, study: Path, judge: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(study, judge, 1)
    tell(study, 2, ShardReport("running", 1, "node-7", 1, 4, 9, 0, 0.5, "", time.time()))
    page = await opened(studio, study)
    context = studio.window.context
    state, runs = context.shards, context.run_state
    await until(lambda: state.reads_index and not runs.loading and runs.table is not None, "the shards are read")
    view = view_of(page)
    shown = {name: figure.value.text() for name, figure in view.figures.items()}
    assert shown["shards done"] == f"1 of {OF}"
    assert shown["price"] == "$0.50"
    # The judged shard has no price: that is said, and not taken for 0.
    assert view.figures["price"].name.text().endswith("unknown")
    assert "%" in shown["accuracy against people"]
    assert view.legend.accessibleName() == "1 done, 1 running, 0 paused, 1 waiting, 0 failed, 0 no news"
    first = runs.pair_count
    assert 0 < first < 12
    assert page.run_choice.text() == f"1 of {OF} shards"
    # Nothing else starts beside the shards.
    assert "judged in shards" in context.runner.why_not()

    status = studio.window.status
    await until(lambda: status._left[0].text().startswith("Shards: 1 done, 1 running"))
    assert status._left[1].text() == "6 pairs judged"

    # A shard's facts, by mouse and by keyboard.
    click_shard(view.grid, 2)
    assert view.facts.title.whole == f"Shard 2 of {OF}"
    assert view.facts.rows["Machine"][1].whole == "node-7"
    assert not view.facts.pairs.isEnabled()
    QTest.keyClick(view.grid, Qt.Key.Key_Left)
    assert view.facts.title.whole == f"Shard 1 of {OF}"
    assert "done" in view.grid.accessibleDescription()
    press(view.facts, "Show its pairs")
    assert page.across.isVisible()
    assert len(page.dock.pairs.model.only or ()) == first
    # The call of a pair is read from the shard that holds it.
    site = runs.sites(0)[0]
    call = runs.call(site)
    assert call is not None
    assert call.raw_text

    # Another shard ends: it is offered, and taken in on demand.
    judged(study, judge, 2)
    await until(lambda: state.behind == 1, "the other shard is seen")
    page.shards.segment.button("shards").click()
    assert view.note.whole.startswith(f"Results, Labels and Report show 1 of {OF} shards. 1 more has ended")
    click(view.take_in)
    await until(lambda: state.indexed == 2 and runs.table is not None and not runs.loading)
    assert runs.pair_count > first
    await until(lambda: not state.working)

    # The last one ends: nothing more comes, and all of them are read.
    judged(study, judge, 3)
    await until(lambda: state.indexed == OF and runs.table is not None and not runs.loading and not state.working)
    assert runs.pair_count == 12
    assert runs.run is not None
    assert runs.run.state == "done"


async def test_one_shard_is_opened_read_only_and_left_again(
    studio: Studio, study: Path, judge: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(study, judge, 1)
    judged(study, judge, 2)
    page = await opened(studio, study)
    context = studio.window.context
    state, runs = context.shards, context.run_state
    await until(lambda: state.reads_index and runs.table is not None and not state.working)
    whole = runs.pair_count
    click_shard(view_of(page).grid, 2)
    await until(view_of(page).facts.open.isEnabled)
    press(view_of(page).facts, "Open its store")
    await until(lambda: state.opened == 2 and runs.table is not None and not runs.loading)
    assert page.across.isVisible()
    assert page.run_choice.text() == f"Shard 2/{OF}"
    assert context.document.read_only == f"Shard 2/{OF} is shown. It can only be read."
    assert context.document.store is not None
    assert context.document.store.readonly
    assert 0 < runs.pair_count < whole
    page.shards.segment.button("shards").click()
    await until(lambda: state.reads_index and runs.table is not None and not runs.loading)
    assert (context.document.read_only, runs.pair_count) == ("", whole)
    await until(lambda: not state.working)


async def test_all_shards_are_paused_stopped_and_let_go_on(studio: Studio, study: Path) -> None:
    tell(study, 1, ShardReport("running", 1, "node-7", 1, 4, 9, 0, 0.5, "", time.time()))
    page = await opened(studio, study)
    state = studio.window.context.shards
    await until(lambda: state.there)
    await settle()
    shards = study.parent / "study.shards"
    view = view_of(page)
    press(view, "Pause all shards")
    await until(lambda: read_command(shards).want == "pause")
    await until(lambda: view.pause.text() == "Resume")
    press(view, "Resume all shards")
    await until(lambda: read_command(shards).want == "run" and view.pause.text() == "Pause")
    press(view, "Stop all shards")
    await until(lambda: read_command(shards).want == "stop")


async def test_faults_are_listed_once_with_the_shards_that_have_them(studio: Studio, study: Path) -> None:
    for index in (1, 3):
        tell(study, index, ShardReport("failed", 3, "node-7", 1, 4, 9, 0, 0.5, "The key was refused.", time.time()))
    tell(study, 2, ShardReport("running", 1, "node-8", 1, 4, 9, 0, 0.5, "", time.time() - 1000))
    page = await opened(studio, study)
    state = studio.window.context.shards
    await until(lambda: state.there)
    await settle()
    facts = view_of(page).facts
    assert view_of(page).title.text() == "No news of 1 shard"
    (words, button), (silent, _), *others = facts.faults
    assert words.text() == "The key was refused."
    assert silent.text().startswith("No news for more than 90 s")
    assert not any(of.isVisible() for of, _ in others)
    seen = []
    for _ in range(3):
        click(button)
        seen.append(facts.title.whole)
    assert seen == [f"Shard 1 of {OF}", f"Shard 3 of {OF}", f"Shard 1 of {OF}"]
    assert facts.error.text() == "The key was refused."
    # Of a shard that has not kept a store where it is seen there is nothing to open.
    await until(lambda: "worker's disk" in facts.open.toolTip())


async def test_shards_become_the_projects_own_run(
    studio: Studio, study: Path, judge: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    for index in range(1, OF + 1):
        judged(study, judge, index)
    page = await opened(studio, study)
    context = studio.window.context
    state, runs = context.shards, context.run_state
    await until(lambda: state.reads_index and runs.table is not None and not state.working)
    assert view_of(page).title.text() == "All shards are done"
    asked = judge.requests
    press(view_of(page), "Make one run")
    await until(lambda: not context.document.looks_elsewhere and runs.table is not None and not state.working)
    assert [run.state for run in runs.runs] == ["done"]
    assert runs.pair_count == 12
    assert page.run_choice.text() == "Run 1"
    assert "judged in shards" not in context.runner.why_not()
    assert judge.requests == asked


async def test_a_project_without_shards_shows_none(studio: Studio, study: Path) -> None:
    page = await opened(studio, study)
    await settle()
    assert page.shards.view is None
    assert not page.shards.segment.isVisible()
    # They come while it is open.
    tell(study, 1, ShardReport("waiting"))
    await until(lambda: page.shards.view is not None)
    assert page.shards.segment.isVisible()


async def test_what_still_reads_a_store_that_was_left_is_no_error(
    studio: Studio, study: Path, judge: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(study, judge, 1)
    await opened(studio, study)
    context = studio.window.context
    await until(lambda: context.shards.reads_index and not context.shards.working)
    left = context.document.store
    assert left is not None
    query = left.reader.execute("SELECT pair FROM run_pairs")
    context.shards.open_shard(1)
    await until(lambda: context.shards.opened == 1)

    async def reads_on() -> None:
        list(query)

    await asyncio.wait({context.tasks.start(reads_on(), "Read on")})
    await settle()
    assert not studio.window.errors.troubles


async def test_a_project_under_another_name_has_no_shards(
    studio: Studio, study: Path, judge: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(study, judge, 1)
    page = await opened(studio, study)
    context = studio.window.context
    await until(lambda: context.shards.reads_index and not context.shards.working)
    await context.document.save_as(study.with_name("other.judgenet"))
    await settle()
    assert not context.shards.there
    assert not context.document.looks_elsewhere
    assert context.run_state.runs == ()
    assert not page.shards.segment.isVisible()


@pytest.mark.parametrize("side", [9, 14, 24])
def test_states_are_told_apart_by_shape_alone(qapp: QApplication, side: int) -> None:
    """Where the strokes and fills of a cell are, without their colours, differs from every other state."""
    theme = make_theme("light")
    shapes = []
    for state in range(len(CELL_STATES)):
        picture = QImage(side, side, QImage.Format.Format_RGB32)
        picture.fill(theme.color("canvas"))
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        level = 4 if CELL_STATES[state] == "running" else 0
        draw_stamp(painter, Ink.of(theme), QRectF(0, 0, side, side), state * 16 + level)
        painter.end()
        grey = np.array([[picture.pixelColor(x, y).lightness() for x in range(side)] for y in range(side)])
        shapes.append(grey < 160)
    for one, other in combinations(range(len(shapes)), 2):
        apart = (shapes[one] != shapes[other]).mean()
        assert apart > 0.03, (CELL_STATES[one], CELL_STATES[other], apart)
