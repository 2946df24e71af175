"""Stand-ins and quorums in the studio: the inspector of a design, and what a run shows of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.core.acceptance import FOR_PEOPLE
from judgenet.core.aggregate import NO_QUORUM
from judgenet.core.calls import CallSite
from judgenet.core.evaluation import Reason
from judgenet.core.network import Aggregation, Role, Settings, StandIn, neuron_settings
from judgenet.core.presets import network
from judgenet.core.project import Project
from judgenet.core.prompts import PromptBook
from judgenet.engine.ports import ChatRequest, EndpointStopped
from judgenet.store.files import save_project, store_path
from judgenet.ui.app import Studio
from judgenet.ui.canvas.descriptions import target_words
from judgenet.ui.canvas.model import Place
from judgenet.ui.document import Document
from judgenet.ui.pages.design import DesignPage
from judgenet.ui.pages.run import RunPage
from tests.ui.conftest import settle, until
from tests.unit.engine import harness

ROLES = (Role("Accuracy", "Is it right?"), Role("Clarity", "Is it clear?"))


@pytest.fixture
def page(studio: Studio) -> DesignPage:
    studio.window.context.document.new(Project.new("Test", network(2, 2, roles=ROLES)))
    studio.window.context.navigator.go("design")
    design = studio.window.page("design")
    assert isinstance(design, DesignPage)
    return design


@pytest.fixture
def document(page: DesignPage) -> Document:
    return page.context.document


def enter(page: DesignPage, text: str) -> str:
    """Writes stand-ins into the inspector; what it says of them."""
    row = page.inspector.settings.stand_in
    row.text.setText(text)
    row.text.editingFinished.emit()
    return row.problem.text()


async def test_stand_ins_are_named_for_network_and_neuron(page: DesignPage, document: Document) -> None:
    await settle()
    assert enter(page, "openai/gpt-4o-mini, ollama/qwen3 after=5") == ""
    given = (StandIn("openai", "gpt-4o-mini"), StandIn("ollama", "qwen3", 5.0))
    assert neuron_settings(document.spec, 1, 0).stand_in == given
    page.editor.select([Place(0, 1)])
    page.editor.set_scope("neuron")
    assert page.inspector.settings.stand_in.text.text() == "openai/gpt-4o-mini, ollama/qwen3 after=5"
    assert enter(page, "") == ""
    assert document.spec.layers[0].neurons[1].settings.stand_in == ()
    assert neuron_settings(document.spec, 0, 1).stand_in == ()
    assert "is no stand-in" in enter(page, "two words/m")
    assert document.spec.layers[0].neurons[1].settings.stand_in == ()
    page.editor.inherit()
    page.editor.select(())
    assert enter(page, "") == ""
    assert document.spec.settings.stand_in is None
    document.undo_stack.undo()
    assert document.spec.settings.stand_in == given


async def test_a_quorum_is_set_undone_and_checked(page: DesignPage, document: Document) -> None:
    await settle()
    page.editor.select((), "vote")
    box = page.inspector.vote.quorum
    assert box.text() == "None"
    box.setValue(3)
    assert document.spec.aggregation.quorum == 3
    box.setValue(9)
    assert any("The quorum is 9 neurons" in problem.message for problem in page.editor.problems)
    document.undo_stack.undo()
    assert (document.spec.aggregation.quorum, box.value()) == (3, 3)
    box.setValue(0)
    assert document.spec.aggregation == Aggregation()


@pytest.fixture
def recorded(place: Path) -> Path:
    """A project with a run of three pairs: the endpoint stops after seven calls, and the third pair cannot be read."""
    settings = Settings(endpoint="fake", model="judge", temperature=0.0, stand_in=(StandIn("other", "second"),))
    spec = replace(network(2, 1, roles=ROLES, settings=settings), aggregation=Aggregation(quorum=2))
    project = Project.new("Stood in", spec)
    path = place / "stood-in.judgenet"
    save_project(project, path)
    left = iter(range(5))

    def answer(request: ChatRequest) -> str | Exception:
        if next(left, None) is None:
            return EndpointStopped(Reason.QUOTA, "fake: HTTP 402: the quota is used up.", status=402)
        return harness.plain_answer(request)

    def second(request: ChatRequest) -> str:
        return "I cannot say." if "question 2" in request.user else harness.plain_answer(request)

    begin = harness.start(spec, harness.pairs(3), salt=project.salt, book=PromptBook.default())
    endpoints = (harness.FakeEndpoint(answer), harness.FakeEndpoint(second, name="other"))
    assert harness.run(store_path(path), begin, *endpoints).finished.state == "done"
    return path


async def test_a_run_shows_who_answered_and_what_lacks_a_quorum(studio: Studio, recorded: Path) -> None:
    context = studio.window.context
    studio.window.frame_actions.open_file(recorded)
    await until(lambda: context.document.is_open, "the project")
    context.navigator.go("run")
    page = studio.window.page("run")
    assert isinstance(page, RunPage)
    await until(lambda: context.run_state.table is not None and len(context.run_state.table) == 3, "the run")
    stood_in = [context.run_state.call_state(CallSite(1, 1, neuron, "ba", 1)).stood_in for neuron in (1, 2)]
    context.run_state.set_focus(1)
    await until(lambda: page.focus.now is not None and page.focus.now.pair == 1, "the pair")
    await settle()
    assert stood_in == [True, True]
    words = target_words(page.canvas.scene.network, Place(0, 1))
    assert "answered by a stand-in" in words
    context.run_state.set_focus(2)
    await until(lambda: page.focus.now is not None and page.focus.now.pair == 2, "the pair")
    await settle()
    assert page.canvas.scene.network.verdict.note == "No quorum: 0 of 2"
    assert NO_QUORUM in page.dock.pairs.model.words(2)
    assert FOR_PEOPLE not in page.dock.pairs.model.words(2)
    assert "network" in page.dock.pairs.model.words(0)
