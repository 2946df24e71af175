"""Runs by batches in the studio: chosen with the limits, followed on Run, taken up again another day."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QApplication

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import Settings
from judgenet.core.pairs import Pair
from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.engine.batches import BatchChoice
from judgenet.store.files import load_project, save_project
from judgenet.ui.app import Studio
from judgenet.ui.limits import LimitsDialog
from judgenet.ui.pages.design import DesignPage
from judgenet.ui.pages.run import RunPage
from tests.fakes.judge_server import JudgeServer
from tests.ui.conftest import settle, until
from tests.ui.story import story_pairs

PRICES = {
    "prices": 1,
    "currency": "USD",
    "date": "2026-11-30",
    "entries": [{"models": ["judge"], "input": 2, "output": 8}],
}


def project_at(judge: JudgeServer, folder: Path, pairs: tuple[Pair, ...]) -> Path:
    data = folder / "pairs.jsonl"
    data.write_text("".join(json.dumps(pair.to_json()) + "\n" for pair in pairs), encoding="utf-8")
    spec = network(2, 2, settings=Settings(endpoint="lab", model="judge", temperature=0.0))
    project = Project.new("Release check", spec, PairsSource((data.name,)))
    profile = EndpointProfile("lab", base_url=f"{judge.url}/v1", model="judge")
    project = replace(project, endpoints=(profile,), prices=PRICES)
    path = folder / "Release check.judgenet"
    save_project(project, path)
    return path


def grab(studio: Studio, name: str) -> None:
    if place := os.environ.get("GRAB"):
        studio.window.grab().save(f"{place}/{name}.png")


async def test_a_run_by_batches_from_the_dialog_to_the_next_day(
    studio: Studio, judge: JudgeServer, place: Path
) -> None:
    context = studio.window.context
    pairs = story_pairs(12)
    judge.set(batch_s=600.0)
    path = project_at(judge, place, pairs)
    context.document.open(path)
    await until(lambda: len(context.document.pairs) == len(pairs), "the pairs")
    context.actions.trigger("page.design")
    await until(lambda: context.figures.estimate is not None and not context.figures.stale, "the estimate")
    await settle()
    page = studio.window.page("design")
    assert isinstance(page, DesignPage)
    grab(studio, "design-live")
    assert page.costs.price.word.text() == "price"
    assert "By batches: $" in page.costs.price.toolTip()
    live = page.costs.price.figure.text()
    context.actions.trigger("run.limits")
    dialog = next(of for of in QApplication.topLevelWidgets() if isinstance(of, LimitsDialog) and of.isVisible())
    assert not dialog.live_after.isVisible()
    dialog.batch.click()
    dialog.live_after.setText("soon")
    await settle()
    if place_ := os.environ.get("GRAB"):
        dialog.grab().save(f"{place_}/dialog.png")
    dialog.keep.click()
    assert "is no deadline" in dialog.message.text()
    dialog.live_after.clear()
    dialog.keep.click()
    assert context.runner.batch_wish == BatchChoice()
    await settle()
    grab(studio, "design-batch")
    assert page.costs.price.word.text() == f"by batches, {live} live"
    assert page.costs.time.figure.text() == "3 batches"
    assert page.costs.limits.text() == "By batches"
    context.document.save()
    assert load_project(path).metadata["batch"] == {"batch": True}
    context.actions.trigger("page.run")
    context.actions.trigger("run.start")
    await until(lambda: bool(context.runner.batches), "the batches")
    await settle()
    run_page = studio.window.page("run")
    assert isinstance(run_page, RunPage)
    assert run_page.batches.whole.startswith("Batch 1 of 3: roles, 0 of ")
    assert "Batch 1 of 3: roles" in studio.window.status._left[1].text()
    grab(studio, "run-batch")
    studio.window.resize(1024, 640)
    await settle()
    grab(studio, "run-narrow")
    studio.window.resize(1440, 900)
    context.actions.trigger("run.stop")
    await until(lambda: not context.runner.running, "the end")
    await settle()
    assert "still out: Run takes the answers in" in run_page.batches.whole
    grab(studio, "run-out")
    judge.set(batch_s=0.0)
    context.actions.trigger("run.start")
    await until(lambda: not context.runner.running and context.run_state.state == "done", "the answers")
    await settle()
    grab(studio, "run-done")
    assert not run_page.batches.whole
    # The detail of a call names the batch that brought its answer, as the endpoint does.
    store = context.document.store
    assert store is not None
    remotes = {remote for (remote,) in store.reader.execute("SELECT remote FROM batches")}
    run_page.inspector.show_tab("calls")
    await settle()
    grab(studio, "run-call")
    batch = run_page.inspector.calls._fact_rows["Batch"]
    assert batch.isVisible()
    assert batch.text() in remotes
    assert judge.judge.stats()["paid_again"] == 0
    assert judge.judge.stats()["batch_answers"] == len(pairs) * 9 - 1
