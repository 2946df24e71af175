"""Stop rules in the studio: by the inspector and on the canvas of the page Design."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMenu

from judgenet.core.cascade import rule_at, stop_places, with_rule
from judgenet.core.network import ChairSpec, Role, Settings, StopRule
from judgenet.core.plan import ExpectedCalls, PriceRange
from judgenet.core.presets import network
from judgenet.core.project import Project
from judgenet.core.wording import percent
from judgenet.ui.app import Studio
from judgenet.ui.canvas.descriptions import target_words
from judgenet.ui.canvas.export import network_svg
from judgenet.ui.canvas.gate_item import GateItem, TurnItem
from judgenet.ui.canvas.gates import gate_state
from judgenet.ui.canvas.model import Place
from judgenet.ui.design.stop_rules import fill_stop_rules
from judgenet.ui.document import Document
from judgenet.ui.pages.design import DesignPage
from judgenet.ui.pages.results import ResultsPage
from tests.ui.conftest import settle, until
from tests.ui.person import click_at
from tests.ui.story import story_network
from tests.ui.test_run_page import ran

ROLES = (Role("Accuracy", "Is it right?"), Role("Clarity", "Is it clear?"), Role("Safety", "Is it safe?"))


@pytest.fixture
def page(studio: Studio) -> DesignPage:
    """The page with a network of three neurons and three layers, and a chair."""
    spec = replace(network(3, 3, roles=ROLES, settings=Settings(temperature=0.5)), chair=ChairSpec())
    studio.window.context.document.new(Project.new("Test", spec))
    studio.window.context.navigator.go("design")
    found = studio.window.page("design")
    assert isinstance(found, DesignPage)
    return found


@pytest.fixture
def document(page: DesignPage) -> Document:
    return page.context.document


def gates(page: DesignPage) -> dict[int, str]:
    return {item.layer: item.gate.rule for item in page.scene.items() if isinstance(item, GateItem)}


async def test_a_rule_is_set_in_the_inspector_and_undone(page: DesignPage, document: Document) -> None:
    await settle()
    page.editor.select([Place(1, 0)])
    section = page.inspector.stop
    assert section.isVisible()
    section.before.kind.setCurrentIndex(section.before.kind.findText("Both orders agree"))
    section.before.kind.activated.emit(section.before.kind.currentIndex())
    assert stop_places(document.spec) == (("before", 1),)
    assert gates(page) == {1: "orders agree"}
    section.within.kind.setCurrentIndex(section.within.kind.findText("Lead in votes"))
    section.within.kind.activated.emit(section.within.kind.currentIndex())
    assert rule_at(document.spec, ("within", 1)) == StopRule("margin", 2.0)
    section.within.number.setValue(3)
    assert rule_at(document.spec, ("within", 1)) == StopRule("margin", 3.0)
    assert len([item for item in page.scene.items() if isinstance(item, TurnItem)]) == 2
    for _ in range(3):
        document.undo_stack.undo()
    assert stop_places(document.spec) == ()
    assert gates(page) == {}
    document.undo_stack.redo()
    assert gates(page) == {1: "orders agree"}


async def test_a_rule_for_the_whole_network_and_one_before_the_chair(page: DesignPage, document: Document) -> None:
    await settle()
    page.editor.select(())
    section = page.inspector.stop
    section.before.kind.setCurrentIndex(section.before.kind.findText("All neurons agree"))
    section.before.kind.activated.emit(section.before.kind.currentIndex())
    assert stop_places(document.spec) == (("before", 1), ("before", 2), ("before", 3))
    page.editor.select((), "chair")
    assert section.before.kind.currentText() == "All neurons agree"
    section.before.kind.setCurrentIndex(section.before.kind.findText("Ask every pair"))
    section.before.kind.activated.emit(section.before.kind.currentIndex())
    assert stop_places(document.spec) == (("before", 1), ("before", 2))
    page.editor.select(())
    assert section.before.kind.currentText() == "As set for each layer"
    page.editor.select([Place(0, 0)])
    assert not section.before.isVisible()
    assert section.within.isVisible()


async def test_a_gate_on_the_canvas_leads_to_its_form(page: DesignPage, document: Document) -> None:
    document.edit_network("Rule", with_rule(document.spec, "orders-agree after=2"))
    await settle()
    [gate] = [item for item in page.scene.items() if isinstance(item, GateItem)]
    click_at(page.view, gate.x(), gate.foot / 2)
    assert {place.layer for place in page.editor.places} == {2}
    assert page.inspector.stop.before.kind.currentText() == "Both orders agree"
    words = target_words(page.scene.network, Place(2, 0))
    assert "not asked where both orders agree" in words.lower()
    drawn = network_svg(page.scene, title="x").decode()
    assert all(f">{line}</text>" in drawn for line in gate.lines())
    assert " ".join(gate.lines()) == "Stop: orders agree"


async def test_the_palette_leads_to_the_rules_of_the_network(page: DesignPage, document: Document) -> None:
    await settle()
    page.editor.select([Place(0, 0), Place(1, 0)])
    page.context.actions.trigger("network.stop_rules")
    await settle()
    assert page.editor.places == frozenset()
    assert page.inspector.stop.before.kind.hasFocus()


async def test_the_menu_of_a_layer_sets_a_rule(page: DesignPage, document: Document) -> None:
    await settle()
    menu = QMenu(page)
    fill_stop_rules(menu, page.editor, ("before", 1))
    assert [action.text() for action in menu.actions() if action.isChecked()] == ["Ask every pair"]
    next(action for action in menu.actions() if action.text() == "Both orders agree").trigger()
    assert rule_at(document.spec, ("before", 1)) == StopRule("orders_agree")


def test_a_gate_says_its_share_and_price_once_they_are_known() -> None:
    spec = with_rule(network(3, 2), "orders-agree")
    bare = gate_state(spec, ("before", 1), None, "USD")
    assert bare is not None
    assert (bare.rule, bare.share, bare.words) == ("orders agree", "", "Not asked where both orders agree")
    expected = ExpectedCalls(30, 240, None, (1.0, 0.284), (PriceRange(0.1, 0.2), PriceRange(0.05, 0.07)))
    known = gate_state(spec, ("before", 1), expected, "USD")
    assert known is not None
    assert known.share == "28.4 %"
    assert known.words == (
        "Not asked where both orders agree; 28.4 % of pairs go on, as in 30 recorded pairs, $0.05 to 0.07"
    )
    in_turn = with_rule(network(3, 1), "margin>=2")
    prices = (PriceRange(0.1, 0.2), PriceRange(0.05, 0.07), PriceRange(0.01, 0.02))
    turns = gate_state(in_turn, ("within", 0), ExpectedCalls(30, 240, None, (1.0, 0.9, 0.25), prices), "USD")
    assert turns is not None
    assert (turns.shares, turns.share) == (("90.0 %", "25.0 %"), "25.0 %")
    assert turns.words.endswith("25.0 % of pairs go on, as in 30 recorded pairs, $0.06 to 0.09")


async def test_the_run_page_says_which_pairs_were_decided_early(studio: Studio, place: Path) -> None:
    page = await ran(studio, place, count=6, spec=with_rule(story_network(), "orders-agree"))
    table = studio.window.context.run_state.table
    assert table is not None
    early = [pair for pair in range(6) if table.stop(pair) is not None]
    assert 0 < len(early) < 6
    model = page.dock.pairs.model
    assert [pair for pair in range(6) if "decided early after layer 1" in model.words(pair)] == early
    model.set_filter("early")
    assert sorted(model.pair(row) for row in range(model.rowCount())) == early
    studio.window.context.run_state.set_focus(early[0])
    await settle()
    now = page.focus.now
    assert now is not None
    assert {neuron.phase for neuron in now.layers[1]} == {"left_out"}
    assert now.verdict == table.verdict("c2_all", early[0])
    assert page.canvas.scene.ends.verdict.verdict == now.verdict
    assert page.canvas.scene.ends.layers[1].gate is not None
    assert page.canvas.scene.state(Place(1, 0)).settings == "Decided early"
    page.inspector.show_target("pair")
    assert "decided early after layer 1" in page.inspector.place.whole
    # The totals are those of what is asked now.
    assert table.calls_planned == table.calls_in


async def test_results_answer_any_stop_rule_from_the_recorded_calls(studio: Studio, place: Path) -> None:
    await ran(studio, place, count=24, spec=story_network())
    studio.window.context.navigator.go("results")
    page = studio.window.page("results")
    assert isinstance(page, ResultsPage)
    panel = page.cascade
    await until(lambda: panel.cascade is not None, "the stop rule is replayed")
    found = panel.cascade
    assert found is not None
    assert (found.rule, [stage.name for stage in found.stages]) == ("orders-agree", ["layer 1", "layer 2"])
    assert panel.calls.figure.text() == percent(found.variants[1].calls_share)
    panel.rule.setCurrentIndex(panel.rule.findData("margin"))
    panel.rule.activated.emit(panel.rule.currentIndex())
    panel.number.setValue(3)
    await until(lambda: panel.cascade is not None and panel.cascade.rule == "margin>=3", "the other rule is replayed")
    panel.stages.setCurrentIndex(panel.stages.findData("two"))
    panel.stages.activated.emit(panel.stages.currentIndex())
    await until(
        lambda: panel.cascade is not None and len(panel.cascade.stages[0].name) > 10, "two neurons are replayed"
    )
    assert panel.first.isVisible()
    assert not panel.use.isVisible()
    panel.stages.setCurrentIndex(0)
    panel.stages.activated.emit(0)
    await until(lambda: panel.use.isVisible(), "the rule can be used")
    panel.use.click()
    assert stop_places(studio.window.context.document.spec) == (("before", 1),)
    assert rule_at(studio.window.context.document.spec, ("before", 1)) == StopRule("margin", 3.0)
