"""What the votes are worth, on the page Results: figures, the map of correlations, and any chosen set of neurons."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.figures.panel import set_worth
from judgenet.formats import read_pairs
from judgenet.formats.judgments import read_judgments
from judgenet.stats.effective_votes import effective_votes
from judgenet.store.db import Store
from judgenet.store.files import save_project, store_path
from judgenet.store.recorded import import_run, network_for, select
from judgenet.ui.app import Studio
from judgenet.ui.pages.design import DesignPage
from judgenet.ui.pages.results import ResultsPage
from judgenet.ui.results.effective_votes import WorthPanel
from tests.ui.conftest import settle, until
from tests.ui.person import key
from tests.ui.test_frame import nameless
from tests.ui.test_ranking_panel import results_of


def recorded(place: Path, judges: int = 4, *, labels: bool = True) -> Path:
    """A project with recorded judges on 60 pairs: ``j0`` and ``j1`` always say the same."""
    rng = random.Random(1)
    pairs, judgments = place / "pairs.jsonl", place / "judgments.jsonl"
    records, said = [], []
    for i in range(60):
        human = "ab"[i % 2]
        record = {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"So {i}.", "response_b": "Because."}
        records.append(record | ({"human": human} if labels else {}))
        verdicts = [human if rng.random() < 0.7 else "ba"[i % 2] for _ in range(judges)]
        verdicts[min(1, judges - 1)] = verdicts[0]
        for number, verdict in enumerate(verdicts):
            said.append({"pair_id": f"p{i}", "judge": f"j{number}", "order": "ab", "verdict": verdict})
    pairs.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    judgments.write_text("\n".join(map(json.dumps, said)), encoding="utf-8")
    selected = select(read_judgments([judgments]), read_pairs(pairs).pairs)
    path = place / "recorded.judgenet"
    save_project(Project.new("Recorded", network_for(selected), PairsSource((pairs.name,))), path)
    with Store.open(store_path(path)) as store:
        import_run(store, selected)
    return path


def shown(panel: WorthPanel) -> list[list[str]]:
    model = panel.table.figures
    return [
        [str(model.data(model.index(row, column)) or "") for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


async def opened(studio: Studio, path: Path) -> ResultsPage:
    page = await results_of(studio, path)
    await until(lambda: page.panel_state.reading is not None, "the panel")
    await settle()
    page.area.ensureWidgetVisible(page.together)
    await settle()
    return page


async def test_the_map_names_neurons_and_values_any_chosen_set(studio: Studio, place: Path) -> None:
    page = await opened(studio, recorded(place))
    state, view = page.panel_state, page.together.view
    assert state.reading is not None
    worth = state.reading.worth.network
    rows = shown(page.worth)
    assert rows[0][0] == "All neurons (4)"
    assert worth.value is not None
    assert worth.ci is not None
    assert rows[0][2] == f"{worth.value:.2f} [{worth.ci.low:.2f}, {worth.ci.high:.2f}]"
    assert rows[0][4] == "60 of 60"

    names, order = state.reading.study.neurons, state.reading.study.correlations.errors.order
    one, other = (order.index(name) for name in ("j0", "j1"))
    QTest.mouseMove(view, view.cell_rect(one, other).center().toPoint())
    assert page.together.readout.text() == "j0 and j1: r 1.00 of their errors, n 60."
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.cell_rect(one, other).center().toPoint())
    await until(lambda: state.set_worth is not None, "the worth of the set")
    assert [names[at] for at in state.places] == ["j0", "j1"]
    assert shown(page.worth)[-2][:2] == ["Chosen (2)", "errors"]
    assert shown(page.worth)[-2][2].startswith("1.00 ")
    # The name of a neuron, at the right of its row, takes it in or out.
    third = order.index("j2")
    name = view.cell_rect(third, len(names) - 1).center().toPoint() + QPoint(60, 0)
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=name)
    await until(lambda: state.set_worth is not None, "the worth of the set")
    store = page.context.document.store
    assert store is not None
    assert page.panel_state._frame is not None
    columns = [names.index(of) for of in ("j0", "j1", "j2")]
    assert state.set_worth == set_worth(page.panel_state._frame, columns)
    page.worth.clear.click()
    await settle()
    assert state.places == ()
    assert shown(page.worth) == rows
    assert nameless(page.worth) == nameless(page.together) == nameless(page.adds) == []


async def test_keys_walk_over_the_map_and_choose(studio: Studio, place: Path) -> None:
    page = await opened(studio, recorded(place))
    state, view = page.panel_state, page.together.view
    view.setFocus(Qt.FocusReason.TabFocusReason)
    key(view, Qt.Key.Key_Right)
    assert view.current == (0, 0)
    key(view, Qt.Key.Key_Right)
    key(view, Qt.Key.Key_Down)
    assert view.current == (1, 1)
    key(view, Qt.Key.Key_Left)
    assert view.accessibleDescription() == page.together.readout.text() == view.words_of(1, 0)
    key(view, Qt.Key.Key_Space)
    assert len(state.places) == 2
    key(view, Qt.Key.Key_Space)
    assert state.places == ()


async def test_without_labels_verdicts_are_correlated(studio: Studio, place: Path) -> None:
    page = await opened(studio, recorded(place, labels=False))
    assert page.together.by.current == "verdicts"
    assert shown(page.worth)[0][2] == "n/a"
    assert shown(page.worth)[1][1] == "verdicts"
    assert shown(page.worth)[1][2] != "n/a"
    assert "no pair has both a human label and a verdict" in page.worth.note.text()
    assert page.adds.note.text().startswith("n/a – 0 pairs have a human label")
    page.together.by.set_current("errors")
    page.together._turned("errors")
    assert not page.together.view.isVisible()
    assert page.together.readout.text() == "n/a – no pair has both a human label and a verdict."


async def test_which_neuron_adds_most_is_shown_by_both_rules(studio: Studio, place: Path) -> None:
    page = await opened(studio, recorded(place))
    assert page.panel_state.reading is not None
    choice = page.panel_state.reading.study.choice
    model = page.adds.table.figures
    for rule, steps in (("votes", choice.votes.steps), ("labels", choice.labels.steps)):
        page.adds.by.set_current(rule)
        page.adds._fill()
        said = [str(model.data(model.index(row, 0))) for row in range(model.rowCount())]
        assert said == [f"{step.size}  {step.neuron}" for step in steps]
        assert page.adds.fact.text() == "60 of 60 pairs, 5 folds"
        assert [spot.y for spot in page.adds.chart.picture.series[0].spots] == pytest.approx(
            [step.accuracy.value for step in steps]
        )


async def test_one_neuron_has_no_panel(studio: Studio, place: Path) -> None:
    page = await results_of(studio, recorded(place, judges=1))
    await until(lambda: page._state.results is not None, "the figures")
    await settle()
    assert not page.worth.isVisible()
    assert not page.together.isVisible()
    assert not page.adds.isVisible()


async def test_the_design_says_what_a_layer_was_worth_until_it_is_edited(studio: Studio, place: Path) -> None:
    path = recorded(place)
    await results_of(studio, path)
    context = studio.window.context
    context.navigator.go("design")
    page = studio.window.page("design")
    assert isinstance(page, DesignPage)
    await until(lambda: bool(page.scene.ends.layers[0].worth), "the worth of the layer")
    frame = context.run_state.table
    assert frame is not None
    worth = effective_votes(frame.neurons, frame.human, frame.questions)
    layer = page.scene.ends.layers[0]
    assert worth.value is not None
    assert worth.interval is not None
    assert layer.worth[0] == f"4 neurons, worth {worth.value:.1f} votes"
    within = f"[{worth.interval.low:.2f}, {worth.interval.high:.2f}]"
    assert f"were worth {worth.value:.2f} {within} independent votes" in layer.worth_tip
    assert "60 of 60 pairs" in layer.worth_tip
    rect = page.scene.layout.worths[0]
    assert rect is not None
    assert page.view.tip(page.scene.spot_at(QPointF(*rect.center))) == layer.worth_tip
    page.editor.set_width(0, 5)
    assert page.scene.ends.layers[0].worth[0] == f"{worth.value:.1f} votes before this edit"
    assert page.scene.ends.layers[0].worth_tip.endswith("was edited since.")
    context.document.undo_stack.undo()
    assert page.scene.ends.layers[0].worth == layer.worth
    page.editor.add_layer(1)
    assert page.scene.ends.layers[0].worth == layer.worth
    assert page.scene.ends.layers[1].worth == ()


async def test_without_a_run_the_design_says_nothing_of_votes(studio: Studio, place: Path) -> None:
    context = studio.window.context
    context.document.new(Project.new("Test", network(3, 2)))
    context.navigator.go("design")
    page = studio.window.page("design")
    assert isinstance(page, DesignPage)
    await settle()
    assert [layer.worth for layer in page.scene.ends.layers] == [(), ()]
    assert page.scene.layout.worths == (None, None)
