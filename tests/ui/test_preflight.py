"""The pre-flight in the studio: asked by a person, counted by a judge, stopped on the way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import RolesSpec, Settings
from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.store.files import save_project
from judgenet.ui.app import Studio
from judgenet.ui.preflight import PreflightDialog
from tests.fakes.judge_server import JudgeServer
from tests.ui.conftest import settle, until
from tests.ui.person import find, key, press
from tests.unit.cli.test_bias import write_pairs


@pytest.fixture
def dialog(studio: Studio, place: Path, judge: JudgeServer) -> PreflightDialog:
    """The dialog of a network with two models."""
    first, second = Settings(endpoint="lab", model="one"), Settings(endpoint="lab", model="two")
    spec = network(2, 1, settings=first)
    layer = spec.layers[0]
    neurons = (layer.neurons[0], replace(layer.neurons[1], settings=second))
    spec = replace(spec, layers=(replace(layer, neurons=neurons),), roles=RolesSpec(kind="none"))
    project = replace(
        Project.new("Two models", spec),
        endpoints=(EndpointProfile("lab", base_url=f"{judge.url}/v1"),),
    )
    path = place / "two.judgenet"
    save_project(project, path)
    studio.window.frame_actions.open_file(path)
    studio.window.context.navigator.go("design")
    found = studio.window.findChild(PreflightDialog)
    assert isinstance(found, PreflightDialog)
    return found


def texts(dialog: PreflightDialog) -> str:
    return "\n".join(made.text() for made in dialog.findChildren(QLabel) if made.isVisible())


async def test_both_models_are_asked_and_told_apart(
    dialog: PreflightDialog, studio: Studio, judge: JudgeServer
) -> None:
    await settle()
    press(studio.window.page("design"), "Test the models")
    await until(dialog.isVisible)
    assert "one at lab" in texts(dialog)
    assert "two at lab" in texts(dialog)
    assert judge.requests == 0
    press(dialog, "Test")
    await until(lambda: len(dialog.results) == 2 and find(dialog, QPushButton, "Test again").isEnabled())
    assert [of.model for of in dialog.results] == ["one", "two"]
    assert {entry.model for entry in judge.log} == {"one", "two"}
    # The same text twice makes the same question in both orders, which is asked once.
    assert judge.requests == 2 * 19
    shown = texts(dialog)
    assert shown.count("20 of 20 answers could be read.") == 2
    assert dialog.results[0].assessment.sentence in shown
    key(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


async def test_it_can_be_stopped(dialog: PreflightDialog, studio: Studio, judge: JudgeServer) -> None:
    judge.judge.settings.latency = 5.0
    await settle()
    press(studio.window.page("design"), "Test the models")
    await until(dialog.isVisible)
    press(dialog, "Test")
    await until(lambda: judge.requests > 0)
    press(dialog, "Stop")
    await until(lambda: find(dialog, QPushButton, "Test").isEnabled())
    assert dialog.results == ()
    assert not studio.window.context.runner.running


async def test_without_a_model_it_says_what_is_missing(studio: Studio) -> None:
    studio.window.context.document.new(Project.new("None", network(1, 1, settings=Settings(endpoint="openai"))))
    studio.window.context.navigator.go("design")
    await settle()
    press(studio.window.page("design"), "Test the models")
    dialog = studio.window.findChild(PreflightDialog)
    assert isinstance(dialog, PreflightDialog)
    assert "model" in texts(dialog)
    assert not find(dialog, QPushButton, "Test").isEnabled()


async def test_the_page_run_offers_it_until_the_model_was_tried(
    studio: Studio, place: Path, judge: JudgeServer
) -> None:
    pairs = write_pairs(place / "pairs.jsonl", 2)
    spec = replace(network(1, 1, settings=Settings(endpoint="lab", model="one")), roles=RolesSpec(kind="none"))
    project = replace(
        Project.new("New", spec, PairsSource((pairs.name,))),
        endpoints=(EndpointProfile("lab", base_url=f"{judge.url}/v1"),),
    )
    save_project(project, place / "new.judgenet")
    studio.window.frame_actions.open_file(place / "new.judgenet")
    studio.window.context.navigator.go("run")
    page = studio.window.page("run")
    await until(lambda: any(made.isVisible() for made in _offers(page)))
    assert "one has not judged in this project yet" in _shown(page)
    press(page, "Try it first")
    dialog = studio.window.findChild(PreflightDialog)
    assert isinstance(dialog, PreflightDialog)
    await until(dialog.isVisible)
    assert judge.requests == 0
    press(dialog, "Test")
    await until(lambda: len(dialog.results) == 1 and find(dialog, QPushButton, "Test again").isEnabled())
    key(dialog, Qt.Key.Key_Escape)
    await until(lambda: not any(made.isVisible() for made in _offers(page)))
    assert "not judged in this project" not in _shown(page)
    # It is a matter of this project, and no run of it.
    assert studio.window.context.run_state.runs == ()


def _offers(page: QWidget) -> list[QPushButton]:
    return [made for made in page.findChildren(QPushButton) if made.text().startswith("Try it first")]


def _shown(page: QWidget) -> str:
    return "\n".join(made.text() for made in page.findChildren(QLabel) if made.isVisible())
