"""The studio asks before a project of somebody else's sends a key or reads outside its folder."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QListWidget

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.engine.setup import read_files
from judgenet.store.approvals import approve, approved
from judgenet.store.settings import user_profiles
from judgenet.ui.app import Studio
from judgenet.ui.approval import TrustDialog
from judgenet.ui.experiments.dialog import ExperimentsDialog
from judgenet.ui.navigation import PAGES
from judgenet.ui.pages.bias import BiasPage
from judgenet.ui.pages.settings import ApprovedPanel, EndpointsPanel
from judgenet.ui.preflight import PreflightDialog
from tests.fakes.listener import SECRET, Listener, their_project
from tests.ui.conftest import settle, until
from tests.ui.person import find


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listener]:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    found = Listener()
    yield found
    found.close()


@pytest.fixture
def opened(studio: Studio, place: Path, listener: Listener) -> Studio:
    profile = EndpointProfile(
        "box", base_url=listener.url, api_key="AWS_SECRET_ACCESS_KEY", model="judge", concurrency=1
    )
    studio.window.context.document.open(their_project(place / "in", profile))
    return studio


async def _dialog(studio: Studio) -> TrustDialog:
    def there() -> list[TrustDialog]:
        return [one for one in studio.window.findChildren(TrustDialog) if one.isVisible()]

    await until(lambda: bool(there()), "the question whether the project is trusted")
    return there()[0]


async def test_run_asks_first_and_no_is_the_answer_of_return(opened: Studio, listener: Listener) -> None:
    context = opened.window.context
    await context.document.loaded()
    context.runner.start()
    dialog = await _dialog(opened)
    said = " ".join(label.text() for label in dialog.findChildren(QLabel))
    assert "Send your key AWS_SECRET_ACCESS_KEY" in said
    assert listener.url.removesuffix("/v1") in said
    assert str(context.document.path) in said
    assert dialog.refuse.isDefault()
    assert not dialog.allow.isDefault()
    dialog.refuse.click()
    await until(lambda: not context.runner.running)
    assert (listener.seen, approved()) == ([], ())
    context.runner.start()
    (await _dialog(opened)).allow.click()
    await until(lambda: bool(listener.seen) and not context.runner.running)
    assert SECRET in listener.text
    assert [need.kind for need in approved()] == ["key"]
    assert SECRET not in str(approved())
    count = len(listener.seen)
    context.runner.start()
    await until(lambda: not context.runner.running)
    assert not [one for one in opened.window.findChildren(TrustDialog) if one.isVisible()]
    assert len(listener.seen) == count


async def test_labs_experiments_and_preflight_ask_first(opened: Studio, listener: Listener) -> None:
    window, context = opened.window, opened.window.context
    await context.document.loaded()
    tried = PreflightDialog(context, window)
    tried.show_for()
    tried.begin.click()
    (await _dialog(opened)).refuse.click()
    tried.close()
    await settle()
    experiments = ExperimentsDialog(context, window)
    context.tasks.start(experiments._run(), "Run the experiment")
    (await _dialog(opened)).reject()
    await settle()
    context.navigator.go("bias")
    page = window.page("bias")
    assert isinstance(page, BiasPage)
    state = page.state
    await until(lambda: not state.why_not())
    state.start()
    (await _dialog(opened)).reject()
    await settle()
    assert not state.going
    assert (listener.seen, approved()) == ([], ())


async def test_the_test_of_an_endpoint_asks_first(opened: Studio, listener: Listener) -> None:
    context = opened.window.context
    context.navigator.go("settings", part="endpoints")
    panel = opened.window.page("settings").findChild(EndpointsPanel)
    assert isinstance(panel, EndpointsPanel)
    await settle()
    names = find(panel, QListWidget, "Endpoints")
    names.setCurrentRow(next(row for row in range(names.count()) if names.item(row).text().startswith("box ")))
    panel.test.click()
    (await _dialog(opened)).refuse.click()
    await until(lambda: panel.message.text().startswith("Nothing was sent"))
    assert listener.seen == []


async def test_opening_reads_nothing_outside_and_offers_to_decide(
    studio: Studio, place: Path, listener: Listener
) -> None:
    outside = place / "mine.jsonl"
    project = their_project(place / "in", EndpointProfile("box", base_url=listener.url), ["../mine.jsonl"])
    outside.write_text((place / "in" / "pairs.jsonl").read_text())
    window, document = studio.window, studio.window.context.document
    document.open(project)
    await settle()
    assert (document.pairs, document.loading) == ((), False)
    trouble = window.errors._troubles[-1]
    assert str(outside) in trouble.sentence
    assert trouble.button is not None
    trouble.button.callback()
    dialog = await _dialog(studio)
    assert str(outside) in " ".join(label.text() for label in dialog.findChildren(QLabel))
    dialog.allow.click()
    await until(lambda: len(document.pairs) == 1)
    # Saved elsewhere it goes on reading what it may read, and a change of the mapping asks nothing either.
    (place / "deep").mkdir()
    await document.save_as(place / "deep" / "other.judgenet")
    document.open(place / "deep" / "other.judgenet")
    await document.loaded()
    assert len(document.pairs) == 1
    assert listener.seen == []


async def test_files_that_the_user_adds_are_approved(studio: Studio, place: Path, listener: Listener) -> None:
    theirs = their_project(place / "in", EndpointProfile("box", base_url=listener.url))
    source = PairsSource((str(theirs.parent / "pairs.jsonl"),))
    document = studio.window.context.document
    document.new(Project.new("Mine", network(1, 1)))
    document.edit_pairs("Import", source, read_files(source, Path()))
    (place / "away").mkdir()
    await document.save_as(place / "away" / "own.judgenet")
    document.open(place / "away" / "own.judgenet")
    await document.loaded()
    assert len(document.pairs) == 1


async def test_opening_and_looking_around_sends_nothing(opened: Studio, listener: Listener) -> None:
    context = opened.window.context
    await context.document.loaded()
    for page in PAGES[1:]:
        context.navigator.go(page)
        opened.window.page(page)
        await settle()
    context.figures.refresh()
    await asyncio.sleep(0.5)
    assert (listener.seen, approved()) == ([], ())


async def test_approvals_are_listed_and_taken_back_in_settings(opened: Studio, listener: Listener) -> None:
    document = opened.window.context.document
    approve(document.approvals.needs(document.profiles.values()))
    opened.window.context.navigator.go("settings")
    panel = opened.window.page("settings").findChild(ApprovedPanel)
    assert isinstance(panel, ApprovedPanel)
    assert panel.list.count() == 1
    assert "AWS_SECRET_ACCESS_KEY" in panel.list.item(0).text()
    panel.list.setCurrentRow(0)
    panel.take_back.click()
    assert (panel.list.count(), approved()) == (0, ())
    assert document.approvals.needs(document.profiles.values())


async def test_an_address_of_a_dotenv_is_not_kept_unasked(
    studio: Studio, place: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    project = their_project(place / "in", EndpointProfile("box", base_url=listener.url))
    (place / "in" / ".env").write_text(f"OPENAI_BASE_URL={listener.url}\n")
    context = studio.window.context
    context.document.open(project)
    context.navigator.go("settings", part="endpoints")
    panel = studio.window.page("settings").findChild(EndpointsPanel)
    assert isinstance(panel, EndpointsPanel)
    await settle()
    names = find(panel, QListWidget, "Endpoints")
    names.setCurrentRow(next(row for row in range(names.count()) if names.item(row).text().startswith("openai ")))
    assert panel.form.url.text() == listener.url
    panel.save.click()
    (await _dialog(studio)).refuse.click()
    await settle()
    assert (user_profiles(), listener.seen) == ({}, [])
