"""The page Results: smaller networks, plans for labels, learned weights; used by mouse and keys, answers against the
aggregation of each network by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from judgenet.core.aggregate import Opinion, aggregate
from judgenet.core.pairs import Verdict
from judgenet.core.wording import p_value
from judgenet.figures.learned import WAY_TITLES
from judgenet.ui.app import Studio
from judgenet.ui.canvas.model import Place
from judgenet.ui.pages.design import DesignPage
from judgenet.ui.pages.results import ResultsPage
from judgenet.ui.pages.run import RunPage
from judgenet.ui.results.point_chart import PointChart
from tests.pair_verdicts import pair_calls
from tests.ui.conftest import settle, until
from tests.ui.story import story_network, story_pairs
from tests.ui.test_results import LEFT, cells, click, judged, listed, names, recorded, taken_as


def smaller(page: ResultsPage, depth: int, width: int) -> list[tuple[Verdict | None, Verdict | None]]:
    """(label, verdict) of the pairs by the first neurons of a layer and all of the layers before."""
    store, run = page.context.document.store, page.context.run_state.run
    assert store is not None
    assert run is not None
    found = []
    for pair, rows in pair_calls(store, run):
        kept = [
            Opinion(row.site.layer, row.site.neuron, row.site.order, row.site.sample, row.result)
            for row in rows
            if row.site.order is not None and row.result is not None
            if row.site.layer < depth or (row.site.layer == depth and row.site.neuron <= width)
        ]
        found.append((pair.pair.human, aggregate(kept, depth).c2_all))
    return found


def accuracy(said: list[tuple[Verdict | None, Verdict | None]]) -> float:
    used = [(human, verdict) for human, verdict in said if human is not None and verdict is not None]
    return sum(human == verdict for human, verdict in used) / len(used)


def point_at(chart: PointChart, series: int, spot: int) -> QPoint:
    """Moves the mouse over a mark, which is brought into view first."""
    page = chart.window().findChild(ResultsPage)
    assert page is not None
    page.area.ensureWidgetVisible(chart)
    QApplication.sendPostedEvents(None, 0)
    at = chart.place_of(series, spot).toPoint()
    viewport = chart.plot.viewport()
    move = QMouseEvent(
        QMouseEvent.Type.MouseMove,
        QPointF(at),
        QPointF(viewport.mapToGlobal(at)),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(viewport, move)
    return at


async def test_sliders_answer_with_what_the_smaller_network_would_have_said(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(30, labelled=0.8), story_network(4, 3))
    panel = page.what_if
    await until(lambda: panel.accuracy.figure.text().endswith("%"), "the run's own answer")
    assert panel.calls.figure.text() == "14"
    assert not panel.widths[0].slider.isEnabled()
    assert "has read all of layer 1" in panel.widths[0].slider.toolTip()
    assert not panel.orders.isEnabled()
    slider = panel.widths[1].slider
    page.area.ensureWidgetVisible(slider)
    slider.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(slider, Qt.Key.Key_Left)
    assert slider.value() == 2
    expected = smaller(page, 2, 2)
    await until(lambda: panel.calls.figure.text() == "12", "the answer")
    assert panel.accuracy.figure.text() == f"{100 * accuracy(expected):.1f} %"
    whole = smaller(page, 2, 3)
    changed = [at for at, (one, other) in enumerate(zip(expected, whole, strict=True)) if one[1] != other[1]]
    assert panel.words.text().startswith(f"{len(changed)} of 30 verdicts change")
    if changed:
        click(panel.show_them)
        assert list(listed(page)) == changed
    panel.layers.slider.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(panel.layers.slider, Qt.Key.Key_Home)
    await until(lambda: panel.calls.figure.text() == "8", "one layer")
    assert panel.accuracy.figure.text() == f"{100 * accuracy(smaller(page, 1, 4)):.1f} %"
    assert panel.orders.isEnabled()
    assert panel.widths[1].slider.toolTip() == "Layer 2 is left out."
    click(panel.orders.button("ba"))
    await until(lambda: panel.calls.figure.text() == "4", "one order")
    click(panel.back)
    await until(lambda: panel.calls.figure.text() == "14", "the run as it was")
    assert panel.gain.words.text() == "the run as it was"


async def test_the_curve_tells_its_values_and_leads_to_the_pairs(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(30, labelled=0.8), story_network(3, 2))
    curve = page.curve
    await until(lambda: curve.chart.isVisible(), "the curve")
    marks = curve.chart.picture.series[0].spots
    assert [spot.x for spot in marks] == [1, 2, 3, 4, 5]
    said = smaller(page, 2, 2)
    assert marks[-1].y == pytest.approx(accuracy(said))
    three = smaller(page, 1, 3)
    assert marks[2].y == pytest.approx(accuracy(three))
    at = point_at(curve.chart, 0, 2)
    words = curve.chart.readout.text()
    assert words.startswith("3 neurons in 1 layer, both orders: 6.0 calls per pair.")
    labels = sum(human is not None and verdict is not None for human, verdict in three)
    assert f"n {labels}" in words
    QTest.mouseClick(curve.chart.plot.viewport(), LEFT, pos=at)
    wrong = [i for i, (human, verdict) in enumerate(three) if human is not None and verdict not in (None, human)]
    await until(lambda: list(listed(page)) == wrong, "the pairs that three neurons have wrong")
    assert page.what_if.layers.slider.value() == 1
    assert "within one point" in curve.words.text() or "No smaller network" in curve.words.text()
    curve.chart.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(curve.chart, Qt.Key.Key_End)
    assert curve.chart.readout.text().startswith("5 neurons in 2 layers")
    assert curve.chart.accessibleDescription() == curve.chart.readout.text()
    click(curve.by.button("calls"))
    assert [spot.x for spot in curve.chart.picture.series[0].spots] == [2, 4, 6, 8, 10]


async def test_a_mark_of_a_neuron_leads_to_what_it_has_wrong(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(20, labelled=0.9))
    click(page.breakdown.by.button("neuron"))
    chart = page.breakdown.chart
    page.area.ensureWidgetVisible(chart)
    chart.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(chart, Qt.Key.Key_Right)
    QTest.keyClick(chart, Qt.Key.Key_Right)
    assert chart.readout.text().startswith("Layer 1, Completeness: accuracy ")
    QTest.keyClick(chart, Qt.Key.Key_Down)
    assert chart.readout.text().startswith("Layer 2, ")
    QTest.keyClick(chart, Qt.Key.Key_Return)
    assert page.pairs.why.text().startswith("Layer 2, neuron ")


async def test_the_planner_says_how_many_labels_and_what_is_impossible(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(80, labelled=0.4))
    await taken_as(page, "random")
    planner = page.planner
    page.area.ensureWidgetVisible(planner)
    slider = planner.width_slider
    slider.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(slider, Qt.Key.Key_Home)
    assert planner.width_value.text() == "2 points"
    assert planner.needed.figure.text() == "Impossible"
    assert planner.needs["human_only"][1].text() == "impossible"
    assert not planner.next_button.isVisible()
    assert planner.draw() == ()
    QTest.keyClick(slider, Qt.Key.Key_End)
    assert planner.plan is not None
    wanted = planner.plan.needs["within_verdict"].labels
    assert planner.needed.figure.text() == str(wanted)
    drawn = planner.draw()
    assert len(drawn) == sum(planner.plan.more.values())
    results = page.context.results.results
    assert results is not None
    assert all(results.frame.human_label(pair) is None for pair in drawn)
    widths = [spot.y for spot in planner.chart.picture.series[0].spots]
    assert widths == sorted(widths, reverse=True)
    point_at(planner.chart, 0, 1)
    assert "labels of 80 pairs give an interval" in planner.chart.readout.text()


async def test_nothing_is_learned_from_few_labels(studio: Studio, place: Path) -> None:
    pairs = [replace(pair, human=pair.human if at < 12 else None) for at, pair in enumerate(story_pairs(24))]
    page = await judged(studio, place, pairs)
    assert not page.learned.learn_button.isEnabled()
    assert "12 labelled pairs are too few" in page.learned.note.text()
    assert "Label 8 more pairs." in page.learned.note.text()
    assert not page.learned.table.isVisible()


async def test_learned_weights_stand_on_the_page_on_the_canvas_and_in_the_network(
    studio: Studio, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The slower of the two regressions is left out: the time of a test is short.
    monkeypatch.delitem(WAY_TITLES, "any_sign")
    page = await judged(studio, place, story_pairs(30, labelled=1.0), story_network(2, None))
    context, panel = page.context, page.learned
    context.actions.trigger("page.run")
    await settle()
    run_page = studio.window.page("run")
    assert isinstance(run_page, RunPage)
    assert run_page.canvas.scene.state(Place(0, 0)).weight == ""
    context.actions.trigger("page.results")
    await settle()
    click(panel.learn_button)
    assert context.learning.working
    await until(lambda: not context.learning.working, "the weights")
    found = context.learning.learned
    assert found is not None
    assert found.rule is not None
    assert names(panel.table)[0] == "Learned, weights of 0 or more"
    assert "c2*(all)" in names(panel.table)
    assert cells(panel.table, 0)["n used"] == "30 of 30"
    assert "30 labels" in panel.fact.text()
    (gain,) = [of for of in found.less["nonnegative"] if of.other == "best_single"]
    assert f"compared with best single neuron ({p_value(gain.p)}, 30 pairs)" in panel.note.text()
    assert [spot.y for spot in panel.chart.picture.series[0].spots] == list(found.weights["nonnegative"])
    click(panel.use_button)
    assert context.document.spec.aggregation.learned == found.rule
    assert not panel.use_button.isEnabled()
    shown = f"w {found.weights['nonnegative'][0]:.2f}"
    assert run_page.canvas.scene.state(Place(0, 0)).weight == shown
    assert "from 30 labels of run-1" in run_page.canvas.weights.whole
    context.actions.trigger("page.design")
    await settle()
    design = studio.window.page("design")
    assert isinstance(design, DesignPage)
    assert design.scene.state(Place(0, 0)).weight == shown
    assert design.weights.isVisible()
    section = design.inspector.learned
    assert section.isVisible()
    assert {name: value.whole for name, value in section.facts.items()} == {
        "Kind": "Weights of 0 or more",
        "Learned from": "run-1",
        "Labels": "30",
        "Date": found.rule.made,
        "Weights": "2, one a neuron",
    }
    document = context.document
    document.set_rule("c1")
    assert not section.decides.isChecked()
    section.decides.click()
    assert document.rule == "learned"
    assert document.spec.aggregation.learned == replace(found.rule, decides=True)
    section.decides.click()
    assert document.rule == "c2_all"
    click(section.remove)
    assert document.spec.aggregation.learned is None
    assert not section.isVisible()
    context.actions.trigger("edit.undo")
    assert document.spec.aggregation.learned == found.rule
    assert section.isVisible()


async def test_review_and_diversity_lead_to_their_pairs(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(24, labelled=1.0), story_network(3, 2))
    await until(lambda: not page.trusting.working, "how sure the network is")
    chart = page.review.chart
    whole = accuracy(smaller(page, 2, 2))
    first, *_, last = chart.picture.series[0].spots
    assert (first.x, last.x) == (0, 1)
    assert first.y == pytest.approx(whole)
    assert last.y == 1
    at = point_at(chart, 0, 10)
    words = chart.readout.text()
    assert "reviewed, the least sure first" in words
    assert "n 24" in words
    QTest.mouseClick(chart.plot.viewport(), LEFT, pos=at)
    share = chart.picture.series[0].spots[10].x
    assert len(listed(page)) == round(share * 24)
    assert "no pair has labels by two named annotators" in page.review.people.text()
    divided = set()
    for index, result in enumerate(recorded(page)):
        assert result.verdicts is not None
        said = {of.verdict for of in result.verdicts.neurons if of.layer == 2 and of.verdict is not None}
        if len(said) > 1:
            divided.add(index)
    alike = page.alike.chart
    alike.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(alike, Qt.Key.Key_End)
    assert alike.readout.text().startswith("Layer 2, two neurons disagree: ")
    QTest.keyClick(alike, Qt.Key.Key_Return)
    assert set(listed(page)) == divided
    assert page.pairs.why.text() == "The neurons of layer 2 differ"
