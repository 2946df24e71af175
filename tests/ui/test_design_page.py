"""The page Design as a person uses it: by mouse and by keys."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QPushButton, QSpinBox

from judgenet.assets import example
from judgenet.core.design import set_depth
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import (
    Role,
    Settings,
    neuron_settings,
)
from judgenet.core.network_graph import design_graph
from judgenet.core.presets import PRESETS, network
from judgenet.core.project import PairsSource, Project
from judgenet.ui.app import Studio
from judgenet.ui.canvas.chrome import HandleItem, PlusItem
from judgenet.ui.canvas.model import Place
from judgenet.ui.design.state import problem_words, problems_at
from judgenet.ui.document import Document
from judgenet.ui.elements import RowLabel
from judgenet.ui.pages.design import DesignPage
from tests.short_forms import with_settings
from tests.ui.conftest import settle, until
from tests.ui.person import choose, click, click_at, click_node, drag, find, key, press, type_text

ROLES = (Role("Accuracy", "Is it right?"), Role("Clarity", "Is it clear?"), Role("Safety", "Is it safe?"))
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def page(studio: Studio) -> DesignPage:
    """The page with a network of 3 × 2 and fixed roles, without pairs."""
    spec = network(3, 2, roles=ROLES, settings=Settings(temperature=0.5))
    studio.window.context.document.new(Project.new("Test", spec))
    studio.window.context.navigator.go("design")
    found = studio.window.page("design")
    assert isinstance(found, DesignPage)
    return found


@pytest.fixture
def document(page: DesignPage) -> Document:
    return page.context.document


def widths(document: Document) -> list[int]:
    return [len(layer.neurons) for layer in document.spec.layers]


def plus_of(page: DesignPage, layer: int) -> PlusItem:
    return next(item for item in page.scene.items() if isinstance(item, PlusItem) and item.index == layer)


async def test_width_and_depth_by_the_buttons_of_the_canvas(page: DesignPage, document: Document) -> None:
    await settle()
    column = page.scene.layout.columns[1]
    click_at(page.view, column.x + column.w - 14, page.scene.layout.head - 5)
    assert widths(document) == [4, 3]
    click_at(page.view, column.x + column.w - 74, page.scene.layout.head - 5)
    assert widths(document) == [3, 3]
    plus = plus_of(page, 1)
    click_at(page.view, plus.x(), plus.y() - 5)
    assert widths(document) == [3, 3, 3]
    assert page.scene.layout.columns[2].title == "Layer 2"
    document.undo_stack.undo()
    assert widths(document) == [3, 3]


async def test_dragging_the_handle_adds_and_removes_neurons(page: DesignPage, document: Document) -> None:
    await settle()
    handle = next(item for item in page.scene.items() if isinstance(item, HandleItem) and item.layer == 0)
    x, y = handle.rect.x + handle.rect.w / 2, handle.rect.y + 14
    drag(page.view, (x, y), (x, y + 2 * 116))
    assert widths(document) == [5, 3]
    handle = next(item for item in page.scene.items() if isinstance(item, HandleItem) and item.layer == 0)
    x, y = handle.rect.x + handle.rect.w / 2, handle.rect.y + 14
    drag(page.view, (x, y), (x, y - 3 * 116))
    assert widths(document) == [2, 3]


async def test_typing_a_size_into_the_palette(page: DesignPage, document: Document, studio: Studio) -> None:
    await settle()
    key(page.view, Qt.Key.Key_K, CTRL)
    palette = studio.window.palette_popup
    assert palette.isVisible()
    field = find(palette, QLineEdit, "Find or do")
    type_text(field, "4x2")
    key(field, Qt.Key.Key_Return)
    assert widths(document) == [4, 4]
    assert not palette.isVisible()


async def test_size_by_the_inspector(page: DesignPage, document: Document) -> None:
    await settle()
    section = page.inspector.network
    assert section.isVisible()
    assert section.same.isChecked()
    spin = find(section, QSpinBox, "Layers")
    spin.setFocus()
    key(spin, Qt.Key.Key_Up)
    assert widths(document) == [3, 3, 3]
    spin = find(section, QSpinBox, "Neurons of layer 1")
    key(spin, Qt.Key.Key_Up)
    assert widths(document) == [4, 4, 4]
    section.same.click()
    await settle()
    spin = find(section, QSpinBox, "Neurons of layer 2")
    key(spin, Qt.Key.Key_Down)
    assert widths(document) == [4, 3, 4]
    section.adaptive.click()
    assert all(layer.adaptive for layer in document.spec.layers)


async def test_wiring_by_hand(page: DesignPage, document: Document) -> None:
    await settle()
    layout = page.scene.layout
    first, second = layout.layers
    drag(page.view, (first.x + first.w - 3, first.port(0)), (second.x + 40, second.port(2)))
    layer = document.spec.layers[1]
    assert layer.wiring.kind == "explicit"
    assert design_graph(document.spec).inputs(1, 2) == (1, 2)
    assert plus_of(page, 1).word == "by hand"
    press(page.toolbar, "Wiring: Full")
    assert document.spec.layers[1].wiring.kind == "full"
    press(page.toolbar, "Wiring: Window ±1")
    assert design_graph(document.spec).inputs(1, 0) == (0, 1)


async def test_settings_by_neuron_layer_and_all(page: DesignPage, document: Document) -> None:
    await settle()
    click_node(page.view, Place(0, 1))
    assert page.inspector.title.whole == "Clarity"
    samples = find(page.inspector, QSpinBox, "Samples")
    samples.setFocus()
    key(samples, Qt.Key.Key_Up)
    assert [neuron_settings(document.spec, 0, i).samples for i in range(3)] == [1, 2, 1]
    press(page.inspector, "Change for: Layer")
    key(samples, Qt.Key.Key_Up)
    assert [neuron_settings(document.spec, 0, i).samples for i in range(3)] == [3, 3, 3]
    assert neuron_settings(document.spec, 1, 0).samples == 1
    press(page.inspector, "Change for: All")
    key(samples, Qt.Key.Key_Up)
    assert {neuron_settings(document.spec, layer, i).samples for layer in (0, 1) for i in range(3)} == {4}


async def test_several_neurons_at_once(page: DesignPage, document: Document) -> None:
    await settle()
    click_node(page.view, Place(0, 0))
    click_node(page.view, Place(1, 2), CTRL)
    assert page.inspector.title.whole == "2 neurons"
    samples = find(page.inspector, QSpinBox, "Samples")
    samples.setFocus()
    key(samples, Qt.Key.Key_Up)
    counts = [[neuron_settings(document.spec, layer, i).samples for i in range(3)] for layer in (0, 1)]
    assert counts == [[2, 1, 1], [1, 1, 2]]
    press(page.inspector, "Duplicate")
    assert widths(document) == [4, 4]
    press(page.inspector, "Remove")
    assert widths(document) == [3, 3]


async def test_roles_of_neurons(page: DesignPage, document: Document) -> None:
    await settle()
    click_node(page.view, Place(1, 0))
    name = find(page.inspector.role, QLineEdit, "Name of the role")
    assert name.text() == "Accuracy"
    name.selectAll()
    type_text(name, "Harm")
    assert document.spec.layers[1].neurons[0].role == Role("Harm", "Is it right?")
    assert document.spec.layers[0].neurons[0].role is None
    assert page.scene.state(Place(1, 0)).role == "Harm"
    assert document.undo_stack.count() == 1
    text = find(page.inspector.role, QPlainTextEdit, "What the role looks at")
    text.selectAll()
    type_text(text, "Could it hurt?")
    role = document.spec.layers[1].neurons[0].role
    assert role is not None
    assert role.description == "Could it hurt?"
    page.editor.set_role(None)
    assert page.scene.state(Place(1, 0)).role == "Accuracy"


async def test_neurons_travel_between_projects(page: DesignPage, document: Document, studio: Studio) -> None:
    await settle()
    click_node(page.view, Place(0, 2))
    await settle()
    key(page.view, Qt.Key.Key_C, CTRL)
    record = json.loads(QGuiApplication.clipboard().text())
    assert record["neurons"][0]["role"]["name"] == "Safety"
    document.new(Project.new("Other", network(2, 1)))
    await settle()
    click_node(page.view, Place(0, 0))
    await settle()
    key(page.view, Qt.Key.Key_V, CTRL)
    neurons = document.spec.layers[0].neurons
    assert [neuron.role for neuron in neurons] == [None, ROLES[2], None]
    assert studio.window.errors.troubles == ()


async def test_a_mistake_is_shown_on_its_node_and_mended_with_a_click(page: DesignPage, document: Document) -> None:
    lab = EndpointProfile("lab", base_url="http://localhost:9/v1")
    document.edit_project("Add an endpoint", replace(document.project, endpoints=(lab,)))
    page.editor.select([Place(0, 0)])
    page.editor.set_settings(endpoint="lab", model=None)
    await settle()
    mistake = page.scene.state(Place(0, 0)).problem
    assert mistake is not None
    assert mistake.text == "No model chosen"
    assert mistake.fix == "Use SmolLM2-135M-Instruct-Q4_K_M" or mistake.fix.startswith("Use")
    button = find(page.costs, QPushButton, page.costs.problems.accessibleName())
    assert button.text().startswith("1 neuron has no model")
    page.editor.select(())
    click(button)
    assert page.editor.first == Place(0, 0)
    press(page.inspector, page.inspector.mend.text())
    assert page.editor.problems == ()
    assert page.scene.state(Place(0, 0)).problem is None


async def test_a_warning_of_the_whole_network_leads_to_its_mend(page: DesignPage, document: Document) -> None:
    document.edit_network("Begin small", with_settings(PRESETS["single"].spec, endpoint="embedded"))
    document.edit_network("Add a layer", set_depth(document.spec, 2))
    # The preset's name goes with the preset.
    assert document.spec.name == "1×2, scores only"
    await settle()
    assert page.costs.problems.text() == "Deeper neurons read scores alone"
    click(page.costs.problems)
    await settle()
    assert page.inspector.network.isVisible()
    assert "without evidence" in page.inspector.problem.text()
    click(page.inspector.mend)
    await settle()
    assert document.spec.evidence
    assert document.spec.name == "1×2"
    assert not page.costs.problems.isVisible()


async def test_copies_are_marked_before_the_run(page: DesignPage, document: Document) -> None:
    document.edit_network("No roles", with_settings(network(3, 1, roles="none"), endpoint="embedded"))
    await settle()
    assert page.costs.problems.text() == "2 neurons are copies"
    found = problems_at(document.spec, page.editor.problems)
    assert {place: problem_words(problem) for place, problem in found.items()} == {
        (0, 1): "Copy of neuron 1",
        (0, 2): "Copy of neuron 1",
    }
    # They are no error: the network can run.
    assert {problem.severity for problem in page.editor.problems} == {"warning"}


async def test_a_page_that_is_made_late_shows_the_project_that_is_open(studio: Studio) -> None:
    document = studio.window.context.document
    document.new(Project.new("Test", network(2, 1, settings=Settings(endpoint="gone"))))
    studio.window.context.navigator.go("design")
    page = studio.window.page("design")
    assert isinstance(page, DesignPage)
    assert page.scene.state(Place(0, 0)).problem is not None
    assert page.costs.problems.isVisible()
    assert page.toolbar.size_button.text() == "2 × 1"


async def test_every_edit_is_undone_and_done_again(page: DesignPage, document: Document) -> None:
    await settle()
    page.editor.select([Place(0, 0)])
    begin = document.project
    edits: list[Callable[[], object]] = [
        lambda: page.editor.set_width(0, 5),
        lambda: page.editor.add_layer(1),
        lambda: page.editor.set_wiring(None, "window"),
        lambda: page.editor.set_settings(temperature=1.0),
        lambda: page.editor.move(0, 0, 2),
        lambda: page.editor.add_chair(),
        lambda: page.editor.set_role_kind("none"),
        lambda: page.editor.change_network("Change the seed", seed=7),
        lambda: document.set_rule("c1"),
        lambda: page.editor.set_aggregation(ties="candidate"),
        lambda: page.editor.remove_layer(0),
    ]
    states = [begin]
    for edit in edits:
        edit()
        states.append(document.project)
    assert len(set(map(id, states))) == len(edits) + 1
    for state in reversed(states[:-1]):
        await settle()  # what is possible is looked at once the edits of a turn are through
        key(page.view, Qt.Key.Key_Z, CTRL)
        assert document.project == state
    for state in states[1:]:
        await settle()
        key(page.view, Qt.Key.Key_Y, CTRL)
        assert document.project == state


async def test_costs_follow_the_design(page: DesignPage, document: Document) -> None:
    assert page.costs.note.text()
    document.edit_pairs("Add pairs", PairsSource((example("general.jsonl").as_posix(),)), None)
    await document.loaded()
    figures = page.context.figures
    await until(lambda: figures.estimate is not None and not figures.stale and figures.estimate.estimate.pairs == 24)
    assert page.costs.calls.figure.text() == "288"
    assert page.costs.calls.word.text() == "calls, 24 pairs"
    assert page.costs.paid.figure.text() == "0"
    assert page.costs.price.figure.text() == "free"
    page.editor.set_depth(1)
    await until(lambda: not figures.stale)
    assert page.costs.calls.figure.text() == "144"


async def test_the_prompt_is_shown_as_it_will_be_sent(page: DesignPage, document: Document) -> None:
    document.edit_pairs("Add pairs", PairsSource((example("general.jsonl").as_posix(),)), None)
    await document.loaded()
    click_node(page.view, Place(0, 2))
    prompt = page.inspector.prompt
    await until(lambda: "Safety" in prompt.text.toPlainText())
    pair = document.pairs[0]
    shown = prompt.text.toPlainText()
    assert shown.index(pair.response_a) < shown.index(pair.response_b)
    press(prompt, "Order: BA")
    await until(lambda: prompt.text.toPlainText() != shown)
    text = prompt.text.toPlainText()
    assert text.index(pair.response_b) < text.index(pair.response_a)
    press(prompt, "Next pair")
    await until(lambda: document.pairs[1].question in prompt.text.toPlainText())
    assert page.scene.network.pair.title == "Pair 2"
    marked = {selection.cursor.selectedText() for selection in prompt.text.extraSelections()}
    assert any("Safety" in part for part in marked)


async def test_templates_are_edited_with_a_live_preview(page: DesignPage, document: Document) -> None:
    await settle()
    click_node(page.view, Place(0, 0))
    press(page.inspector, "Edit the templates of the prompts")
    assert page.mode == "templates"
    editor = page.templates
    editor.show_template("en.frame.own.role")
    before = editor.text.toPlainText()
    assert "{{role}}" in before
    editor.text.setFocus()
    editor.text.selectAll()
    type_text(editor.text, "Your side is {{role}}, nothing else.")
    await until(lambda: "Your side is" in page.inspector.prompt.text.toPlainText())
    assert document.project.prompts["en.frame.own.role"].startswith("Your side is")
    editor.text.selectAll()
    type_text(editor.text, "No place for it")
    await until(editor.problem.isVisible)
    assert "{{role}}" in editor.problem.text()
    assert document.project.prompts["en.frame.own.role"].startswith("Your side is")
    press(editor, "Back to the text as shipped")
    assert document.project.prompts == {}
    assert editor.text.toPlainText() == before
    press(editor, "Close the templates")
    assert page.mode == "canvas"


async def test_the_tree_does_all_that_the_canvas_does(page: DesignPage, document: Document) -> None:
    await settle()
    key(page.view, Qt.Key.Key_T, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert page.mode == "tree"
    tree = page.tree
    model = tree.model_of_tree
    layer = next(model.item(row) for row in range(model.rowCount()) if model.item(row).text().startswith("Layer 1"))
    assert [layer.child(row).text() for row in range(3)] == ["Accuracy", "Clarity", "Safety"]
    tree.setCurrentIndex(layer.child(1).index())
    assert page.editor.places == {Place(0, 1)}
    key(tree, Qt.Key.Key_Insert)
    assert widths(document) == [4, 3]
    key(tree, Qt.Key.Key_Delete)
    assert widths(document) == [3, 3]
    layer = next(model.item(row) for row in range(model.rowCount()) if model.item(row).text().startswith("Layer 1"))
    layer.child(0).setText("Truth")
    assert document.spec.layers[0].neurons[0].role == Role("Truth", "Is it right?")
    layer = next(model.item(row) for row in range(model.rowCount()) if model.item(row).text().startswith("Layer 1"))
    layer.child(0, 2).setText("1.5")
    assert neuron_settings(document.spec, 0, 0).temperature == 1.5
    page.editor.select([Place(0, 0)])
    key(tree, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert document.spec.layers[0].neurons[1].role == Role("Truth", "Is it right?")


async def test_the_canvas_by_keys_alone(page: DesignPage, document: Document) -> None:
    await settle()
    page.view.setFocus()
    key(page.view, Qt.Key.Key_Right)
    key(page.view, Qt.Key.Key_Left)
    assert page.editor.places == {Place(0, 0)}
    key(page.view, Qt.Key.Key_Down)
    assert page.editor.first == Place(0, 1)
    key(page.view, Qt.Key.Key_Plus, CTRL)
    assert widths(document) == [4, 3]
    key(page.view, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert page.editor.first == Place(0, 2)
    key(page.view, Qt.Key.Key_Delete)
    assert widths(document) == [3, 3]
    key(page.view, Qt.Key.Key_A, CTRL)
    assert len(page.editor.places) == 6


async def test_the_rule_and_the_chair(page: DesignPage, document: Document) -> None:
    await settle()
    rect = page.scene.layout.add_chair
    assert rect is not None
    click_at(page.view, rect.x + 30, rect.y + 15)
    assert document.spec.chair is not None
    assert document.rule == "chair"
    click_node(page.view, "vote")
    assert page.inspector.vote.isVisible()
    choose(page.inspector.vote.rule, "c1*")
    assert document.rule == "c1"
    assert page.scene.network.vote.rule == "c1*"
    click_node(page.view, "chair")
    press(page.inspector, "Remove")
    assert document.spec.chair is None


async def test_roles_of_the_network(page: DesignPage, document: Document) -> None:
    await settle()
    click_node(page.view, "roles")
    section = page.inspector.roles
    press(section, "Add own")
    assert len(document.spec.roles.roles) == 4
    name = find(section, QLineEdit, "Name of the role")
    name.selectAll()
    type_text(name, "Tone")
    assert document.spec.roles.roles[3].name == "Tone"
    press(section, "Move the role up")
    assert [role.name for role in document.spec.roles.roles] == ["Accuracy", "Clarity", "Tone", "Safety"]
    press(section, "Remove the role")
    assert [role.name for role in document.spec.roles.roles] == ["Accuracy", "Clarity", "Safety"]
    press(section, "Roles: Model")
    assert document.spec.roles.kind == "generated"
    assert page.scene.state(Place(0, 0)).role == "Role 1"
    document.undo_stack.undo()
    assert document.spec.roles.kind == "fixed"


async def test_a_picture_of_the_network_is_saved(page: DesignPage, place: Path) -> None:
    await settle()
    for name in ("network.svg", "network.png"):
        page._write_picture(place / name)
    assert (place / "network.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")
    assert (place / "network.png").read_bytes().startswith(b"\x89PNG")


async def test_two_hundred_neurons_a_layer_can_be_edited(page: DesignPage, document: Document) -> None:
    page.editor.set_all_widths(200)
    page.editor.set_depth(3)
    await settle()
    assert widths(document) == [200, 200, 200]
    page.editor.select([Place(1, 150)])
    page.editor.set_settings(samples=2)
    assert neuron_settings(document.spec, 1, 150).samples == 2
    document.undo_stack.undo()
    document.undo_stack.undo()
    await asyncio.sleep(0)
    assert widths(document) == [200, 200]


async def test_a_page_without_room_has_its_tools_in_a_menu_and_the_inspector_at_a_button(
    page: DesignPage, document: Document, studio: Studio
) -> None:
    await settle()
    assert page.has_inspector
    assert not page.toolbar.inspector.isVisible()
    page.context.settings.set(scale=2.0)
    studio.window.resize(1280, 720)
    await settle()
    bar = page.toolbar
    assert not page.has_inspector
    for tool in (bar.size_button, bar.tree, bar.fit, bar.more, bar.inspector):
        assert tool.isVisible()
        assert bar.rect().contains(tool.geometry())
    assert not bar.wiring.isVisible()
    menu = bar.more.menu()
    menu.aboutToShow.emit()
    shown = {action.text(): action for action in menu.actions()}
    assert {"Wiring", "Orders", "Zoom in", "Zoom out"} <= shown.keys()
    wirings = shown["Wiring"].menu()
    next(action for action in wirings.actions() if action.text() == "Custom").trigger()
    assert document.spec.layers[1].wiring.kind == "explicit"
    click(bar.inspector)
    assert page.has_inspector
    assert page.inspector.width() >= page.inspector.minimumWidth()
    click(bar.inspector)
    assert not page.has_inspector
    click_node(page.view, Place(0, 0))
    page.scene.node_activated.emit(Place(0, 0))
    assert page.has_inspector
    page.context.settings.set(scale=1.0)
    studio.window.resize(1440, 900)
    await settle()
    assert page.has_inspector
    assert not bar.inspector.isVisible()
    assert not bar.more.isVisible()


async def test_the_fields_of_all_forms_of_the_inspector_begin_at_one_x(studio: Studio) -> None:
    studio.window.frame_actions.new_from_preset("review")
    await settle()
    page = studio.window.page("design")
    assert isinstance(page, DesignPage)
    # The verdict shows the size of the network and the rules, in forms of their own.
    page.editor.select((), "verdict")
    for scale in (1.0, 1.5):
        studio.settings.set(scale=scale)
        await settle()
        fields = [row.buddy() for row in page.inspector.findChildren(RowLabel) if row.isVisible()]
        assert len(fields) > 8
        assert len({field.mapTo(page.inspector, QPoint(0, 0)).x() for field in fields}) == 1
