"""Reasoning and further fields in the studio: the inspector, the tree, the canvas and the form of an endpoint."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judgenet.core.documents import DocumentError
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import Role, Settings, neuron_settings
from judgenet.core.presets import network
from judgenet.core.project import Project
from judgenet.ui.app import Studio
from judgenet.ui.canvas.model import Place
from judgenet.ui.design.state import settings_words
from judgenet.ui.document import Document
from judgenet.ui.endpoint_form import EndpointForm
from judgenet.ui.pages.design import DesignPage
from judgenet.ui.request_forms import ReasoningRow
from tests.ui.conftest import settle

ROLES = (Role("Accuracy", "Is it right?"), Role("Clarity", "Is it clear?"))


@pytest.fixture
def page(studio: Studio) -> DesignPage:
    spec = network(2, 2, roles=ROLES, settings=Settings(temperature=0.5))
    studio.window.context.document.new(Project.new("Test", spec))
    studio.window.context.navigator.go("design")
    design = studio.window.page("design")
    assert isinstance(design, DesignPage)
    return design


@pytest.fixture
def document(page: DesignPage) -> Document:
    return page.context.document


def choose(row: ReasoningRow, text: str) -> None:
    row.effort.setCurrentIndex(row.effort.findText(text))
    row.effort.activated.emit(row.effort.currentIndex())


async def test_reasoning_is_set_for_neuron_layer_and_network(page: DesignPage, document: Document) -> None:
    await settle()
    row = page.inspector.settings.request.reasoning
    page.editor.select([Place(0, 1)])
    page.editor.set_scope("layer")
    choose(row, "High")
    assert [neuron_settings(document.spec, 0, place).reasoning for place in (0, 1)] == ["high", "high"]
    assert neuron_settings(document.spec, 1, 0).reasoning is None
    assert "24,576" in row.toolTip()
    page.editor.set_scope("neuron")
    choose(row, "Endpoint’s own")
    assert document.spec.layers[0].neurons[1].settings.reasoning == "default"
    choose(row, "Token budget")
    assert row.tokens.isVisible()
    row.tokens.setValue(5000)
    assert document.spec.layers[0].neurons[1].settings.reasoning == 5000
    page.editor.inherit()
    assert row.effort.currentText() == "High"
    assert document.spec.layers[0].neurons[1].settings == Settings()
    page.editor.set_scope("all")
    choose(row, "Endpoint’s own")
    # Nothing is left behind: the project is as it was before.
    assert document.spec == network(2, 2, roles=ROLES, settings=Settings(temperature=0.5))


async def test_scores_by_token_probabilities_are_set_for_network_and_neuron(
    page: DesignPage, document: Document
) -> None:
    await settle()
    row = page.inspector.settings.request.scores
    page.editor.select([Place(0, 0)])
    page.editor.set_scope("all")
    row.source.setCurrentIndex(1)
    row.source.activated.emit(1)
    assert document.spec.settings.scores == "probabilities"
    page.inspector.vote.refresh()
    rules = page.inspector.vote.rule
    names = [rules.itemText(place) for place in range(rules.count())]
    assert "soft (l1), summed probabilities" in names
    page.editor.set_scope("neuron")
    row.source.setCurrentIndex(0)
    row.source.activated.emit(0)
    assert neuron_settings(document.spec, 0, 0).scores == "text"
    assert neuron_settings(document.spec, 1, 0).scores == "probabilities"
    page.editor.inherit()
    assert row.source.currentText() == "Token probabilities"
    page.editor.set_scope("all")
    row.source.setCurrentIndex(0)
    row.source.activated.emit(0)
    # Nothing is left behind: the project is as it was before.
    assert document.spec == network(2, 2, roles=ROLES, settings=Settings(temperature=0.5))


async def test_further_fields_are_read_on_leaving_the_line(page: DesignPage, document: Document) -> None:
    await settle()
    rows = page.inspector.settings.request
    page.editor.select([Place(0, 0)])
    rows.extra.text.setText('{"top_k": 20}')
    rows.extra.text.editingFinished.emit()
    assert document.spec.layers[0].neurons[0].settings.extra == '{"top_k":20}'
    assert rows.extra.text.text() == '{"top_k": 20}'
    rows.extra.text.setText('{"stream": true}')
    rows.extra.text.editingFinished.emit()
    assert rows.problem.isVisible()
    assert rows.problem.text().startswith("stream: is filled by the program")
    assert document.spec.layers[0].neurons[0].settings.extra == '{"top_k":20}'
    rows.extra.text.setText("")
    rows.extra.text.editingFinished.emit()
    assert document.spec.layers[0].neurons[0].settings.extra == "{}"
    assert not rows.problem.isVisible()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(temperature=0.7), "Temp. 0.7 · 1 sample"),
        (Settings(temperature=0.7, reasoning="default"), "Temp. 0.7 · 1 sample"),
        (Settings(temperature="default", samples=2, reasoning="high"), "Thinks high · 2×"),
        (Settings(temperature=0.0, reasoning="none"), "Thinks 0 · T 0 · 1×"),
        (Settings(reasoning=2048), "Thinks 2.05k · 1×"),
    ],
)
def test_the_canvas_says_how_much_a_neuron_thinks(settings: Settings, words: str) -> None:
    assert settings_words(settings) == words


async def test_the_form_of_an_endpoint(studio: Studio) -> None:
    form = EndpointForm(studio.window.context)
    profile = EndpointProfile("here", base_url="http://localhost:1", extra='{"top_k":20}')
    form.show_profile(profile, new=False)
    assert form.extra.text() == '{"top_k": 20}'
    assert form.entered() == profile
    form.extra.setText("")
    assert form.entered() == replace(profile, extra=None)
    form.extra.setText('{"model": "m"}')
    with pytest.raises(DocumentError, match=r"Further fields\.model: has a setting of its own"):
        form.entered()
