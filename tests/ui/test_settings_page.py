"""Endpoints and keys in the settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLineEdit, QListWidget, QScrollArea

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.presets import network
from judgenet.core.project import Project
from judgenet.engine.embedded_model import DEMO_NOTICE
from judgenet.store.prices import load_prices
from judgenet.store.secrets import find_key
from judgenet.store.settings import settings_path, user_profiles
from judgenet.ui.app import Studio
from judgenet.ui.canvas.model import Place
from judgenet.ui.design.models import ModelDialog
from judgenet.ui.pages.design import DesignPage
from judgenet.ui.pages.settings import EndpointsPanel
from tests.fakes.judge_server import JudgeServer
from tests.ui.conftest import settle, until
from tests.ui.person import choose, click, find, press, type_text


@pytest.fixture
def panel(studio: Studio) -> EndpointsPanel:
    studio.window.context.document.new(Project.new("Test", network(2, 1)))
    studio.window.context.navigator.go("settings", part="endpoints")
    found = studio.window.page("settings").findChild(EndpointsPanel)
    assert isinstance(found, EndpointsPanel)
    return found


def row_of(panel: EndpointsPanel, name: str) -> int:
    listed = find(panel, QListWidget, "Endpoints")
    return next(row for row in range(listed.count()) if listed.item(row).text().split()[0] == name)


async def add(panel: EndpointsPanel, name: str, url: str, model: str) -> None:
    await settle()
    press(panel, "Add an endpoint")
    type_text(find(panel, QLineEdit, "Name of the endpoint"), name)
    type_text(find(panel, QLineEdit, "Address"), url)
    panel.form.model.setEditText(model)
    press(panel, "Save")


async def test_an_endpoint_is_added_tested_and_used(panel: EndpointsPanel, studio: Studio, judge: JudgeServer) -> None:
    await add(panel, "lab", f"{judge.url}/v1", "fake")
    assert user_profiles()["lab"].model == "fake"
    press(panel, "Test")
    await until(lambda: panel.message.text().startswith("lab answers"))
    assert "Structured output: JSON schema." in panel.message.text()
    context = studio.window.context
    context.navigator.go("design")
    page = studio.window.page("design")
    assert isinstance(page, DesignPage)
    page.editor.select([Place(0, 0)])
    choose(page.inspector.settings.model, "fake   lab")
    assert page.scene.state(Place(0, 0)).model == "fake"
    context.navigator.go("settings", part="endpoints")
    await settle()
    panel.list.setCurrentRow(row_of(panel, "lab"))
    press(panel, "Remove")
    assert "lab" not in user_profiles()


async def test_a_local_model_has_no_key(panel: EndpointsPanel) -> None:
    await settle()
    panel.list.setCurrentRow(row_of(panel, "openai"))
    assert panel.form.key_value.isVisibleTo(panel.form)
    panel.list.setCurrentRow(row_of(panel, "embedded"))
    assert not panel.form.key_value.isVisibleTo(panel.form)
    assert not panel.form.keep_key.isVisibleTo(panel.form)


async def test_ollamas_own_api_has_a_context_length(panel: EndpointsPanel, judge: JudgeServer) -> None:
    await settle()
    assert not panel.form.context_length.isVisibleTo(panel.form)
    press(panel, "Add an endpoint")
    type_text(find(panel, QLineEdit, "Name of the endpoint"), "box")
    choose(panel.form.kind, "Ollama")
    assert panel.form.url.placeholderText() == "http://localhost:11434"
    assert panel.form.context_length.isVisibleTo(panel.form)
    panel.form.context_length.setValue(16384)
    panel.form.model.setEditText("fake")
    press(panel, "Save")
    assert user_profiles()["box"] == EndpointProfile(
        "box", kind="ollama", base_url="http://localhost:11434", model="fake", context_length=16384
    )
    panel.form.url.setText(judge.url)
    press(panel, "Test")
    await until(lambda: panel.message.text().startswith("box answers"), seconds=10)
    assert judge.log[-1].asked["num_ctx"] == 16384


async def test_what_cannot_be_an_endpoint_is_said_in_place(panel: EndpointsPanel) -> None:
    await add(panel, "bad name!", "http://localhost:1/v1", "m")
    assert "letters, digits" in panel.message.text()
    assert not settings_path().exists()


async def test_a_price_that_is_unknown_is_entered_with_the_endpoint(panel: EndpointsPanel, config: Path) -> None:
    click(panel.add)
    for edit, text in ((panel.form.name, "box"), (panel.form.url, "http://127.0.0.1:9/v1")):
        edit.setText(text)
    panel.form.model.setEditText("own-judge-7b")
    assert "unknown" in panel.form.price_hint.text()
    panel.form.price_in.setText("0.5")
    click(panel.save)
    assert "both prices are needed" in panel.message.text()
    panel.form.price_out.setText("1.5")
    click(panel.save)
    assert panel.message.text() == "box is saved. It has not been tested: press Test to see whether it answers."
    found = load_prices().find("own-judge-7b", "box")
    assert found is not None
    assert (found.input, found.output) == (0.5, 1.5)
    # It is shown when the endpoint is looked at again, and stands for no other endpoint.
    assert (panel.form.price_in.text(), panel.form.price_out.text()) == ("0.5", "1.5")
    assert load_prices().find("own-judge-7b", "elsewhere") is None


async def test_a_key_goes_to_the_key_store_and_is_never_shown(panel: EndpointsPanel, config: Path) -> None:
    await settle()
    panel.list.setCurrentRow(row_of(panel, "openai"))
    await until(lambda: panel.form.key_state.text() == "OPENAI_API_KEY is not set.")
    value = find(panel, QLineEdit, "Key")
    assert value.echoMode() == QLineEdit.EchoMode.Password
    secret = "-".join(("made", "up", "for", "this", "test", "0123456789"))
    type_text(value, secret)
    press(panel, "Save key")
    await until(lambda: "key store" in panel.form.key_state.text())
    assert value.text() == ""
    found = find_key("OPENAI_API_KEY")
    assert found is not None
    assert found.reveal() == secret
    assert secret not in panel.form.key_state.text()


async def test_an_endpoint_that_does_not_answer_says_why(panel: EndpointsPanel, judge: JudgeServer) -> None:
    judge.set(faults={"no_model": 1.0})
    await add(panel, "lab", f"{judge.url}/v1", "fake")
    press(panel, "Test")
    await until(lambda: "did not answer" in panel.message.text())


async def test_the_model_of_a_neuron_can_be_named(studio: Studio, panel: EndpointsPanel) -> None:
    context = studio.window.context
    context.navigator.go("design")
    page = studio.window.page("design")
    assert isinstance(page, DesignPage)
    page.editor.select([Place(0, 1)])
    box = page.inspector.settings.model
    choose(box, "Another model")
    await until(lambda: bool(studio.window.findChildren(ModelDialog)))
    dialog = studio.window.findChildren(ModelDialog)[0]
    dialog.endpoint.setCurrentText("ollama")
    dialog.model.setEditText("qwen3:8b")
    dialog.accept()
    await until(lambda: page.scene.state(Place(0, 1)).model == "qwen3:8b")
    assert page.scene.state(Place(0, 1)).problem is None


async def test_models_are_listed_and_an_endpoint_is_tested_before_it_is_saved(
    panel: EndpointsPanel, judge: JudgeServer
) -> None:
    judge.set(models=["small", "large"])
    await settle()
    press(panel, "Add an endpoint")
    panel.form.name.setText("lab")
    panel.form.url.setText(f"{judge.url}/v1")
    press(panel, "List models")
    await until(lambda: panel.form.model.count() == 2)
    assert panel.form.model.currentText() == "small"
    panel.form.model.setCurrentText("large")
    press(panel, "Test")
    await until(lambda: panel.message.text().startswith("lab answers"))
    assert "lab" not in user_profiles()
    press(panel, "Save")
    assert user_profiles()["lab"].model == "large"
    assert panel.message.text() == "lab is saved."
    # Another address was not tested.
    panel.form.url.setText("http://127.0.0.1:9/v1")
    press(panel, "Save")
    assert "has not been tested" in panel.message.text()
    press(panel, "List models")
    await until(lambda: "not reached" in panel.message.text())


async def test_nothing_is_listed_from_an_address_that_is_not_approved(
    panel: EndpointsPanel, studio: Studio, judge: JudgeServer
) -> None:
    async def no(_needs: object) -> bool:
        return False

    document = studio.window.context.document
    document.approvals.ask_trust = no
    stranger = EndpointProfile("theirs", base_url=judge.url, api_key="PATH", model="fake")
    document.edit_project("Add", replace(document.project, endpoints=(stranger,)))
    await settle()
    panel.list.setCurrentRow(row_of(panel, "theirs"))
    press(panel, "List models")
    await until(lambda: "have not approved" in panel.message.text())
    press(panel, "Test")
    await until(lambda: "have not approved" in panel.message.text())
    assert judge.requests == 0


async def test_an_address_that_the_user_typed_is_asked_without_a_question(
    panel: EndpointsPanel, studio: Studio, judge: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def asked(_needs: object) -> bool:
        raise AssertionError("The user typed the address himself.")

    studio.window.context.document.approvals.ask_trust = asked
    monkeypatch.setenv("LAB_KEY", "correct-horse-battery-staple")
    judge.set(key="correct-horse-battery-staple")
    await settle()
    press(panel, "Add an endpoint")
    for edit, text in ((panel.form.name, "lab"), (panel.form.url, judge.url), (panel.form.key_name, "LAB_KEY")):
        edit.setText(text)
    press(panel, "List models")
    await until(lambda: panel.form.model.currentText() == "fake")


async def test_the_page_opens_at_its_head_and_scrolls_to_what_an_endpoint_answered(
    studio: Studio, judge: JudgeServer
) -> None:
    studio.window.resize(1280, 720)
    studio.window.context.document.new(Project.new("Test", network(2, 1)))
    studio.window.context.navigator.go("settings")
    await settle()
    panel = studio.window.page("settings").findChild(EndpointsPanel)
    assert isinstance(panel, EndpointsPanel)
    scroll = find(studio.window, QScrollArea, "Settings").verticalScrollBar()
    assert panel.message.text() == DEMO_NOTICE
    assert scroll.maximum() > 0
    assert scroll.value() == 0
    await add(panel, "lab", f"{judge.url}/v1", "small")
    scroll.setValue(0)
    press(panel, "Test")
    await until(lambda: panel.message.text().startswith("lab answers"))
    await until(lambda: scroll.value() > 0)
