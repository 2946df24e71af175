"""Verdicts with a guarantee on the page Results: sliders, the rule in the project, and the queue for people."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from judgenet.core.labels import HumanLabel, LabelRules
from judgenet.core.network import AcceptanceRule
from judgenet.core.project import PairsSource, Project
from judgenet.figures.guarantee import run_guarantee
from judgenet.formats import read_pairs
from judgenet.formats.judgments import read_judgments
from judgenet.store.db import Store
from judgenet.store.files import save_project, store_path
from judgenet.store.frame import RunFrame
from judgenet.store.labels import labels_in_force, set_label_rules
from judgenet.store.recorded import import_run, network_for, select
from judgenet.store.runs import run_info
from judgenet.ui.app import Studio
from judgenet.ui.pages.labels import LabelsPage
from judgenet.ui.pages.results import ResultsPage
from judgenet.ui.run.pair_list import RunPairsModel
from tests.ui.conftest import settle, until
from tests.ui.test_frame import nameless
from tests.ui.test_ranking_panel import results_of


def recorded(place: Path, *, labels: int = 120, drawn: bool = True, rule: AcceptanceRule | None = None) -> Path:
    """A project with a recorded judge on 200 pairs. On 140 both orders say what people say, but for three; on the
    others each order says another response. The first labels are people's, drawn at random or not."""
    pairs, judgments = place / "pairs.jsonl", place / "judgments.jsonl"
    records, said = [], []
    for i in range(200):
        human = "ab"[i % 2]
        record = {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"So {i}.", "response_b": "Because."}
        records.append(record | ({"human": human} if i < labels else {}))
        sure, wrong = i % 10 < 7, i in (10, 50, 90)
        for order in ("ab", "ba"):
            verdict = ("ba"[i % 2] if wrong else human) if sure else order[0]
            said.append({"pair_id": f"p{i}", "judge": "j", "order": order, "verdict": verdict})
    pairs.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    judgments.write_text("\n".join(map(json.dumps, said)), encoding="utf-8")
    selected = select(read_judgments([judgments]), read_pairs(pairs).pairs)
    path = place / "recorded.judgenet"
    network = network_for(selected)
    if rule is not None:
        network = replace(network, aggregation=replace(network.aggregation, acceptance=rule))
    save_project(Project.new("Recorded", network, PairsSource((pairs.name,))), path)
    with Store.open(store_path(path)) as store:
        import_run(store, selected)
        if drawn:
            set_label_rules(store, LabelRules(file_chosen="random"))
        if rule is not None:
            put_rule(store, rule)
    return path


def put_rule(store: Store, rule: AcceptanceRule) -> None:
    """Lets the newest run be one that a rule decided."""
    run = run_info(store)
    network = dict(run.record["network"])
    kept = {
        name: getattr(rule, name) for name in ("aggregation", "confidence", "threshold", "alpha", "delta", "labels")
    }
    network["aggregation"] = {**network["aggregation"], "acceptance": {**kept, "run": rule.run}}
    record = json.dumps({**run.record, "network": network})
    store.run_now(lambda db: db.execute("UPDATE runs SET record=? WHERE number=?", (record, run.number)))


async def opened(studio: Studio, path: Path) -> ResultsPage:
    page = await results_of(studio, path)
    await until(lambda: page.guarantee_state.answer is not None and not page.guarantee_state.working, "an answer")
    page.area.ensureWidgetVisible(page.guarantee)
    await settle()
    return page


async def asked(page: ResultsPage, percent: int) -> None:
    page.guarantee.alpha.setValue(percent)
    await until(lambda: not page.guarantee_state.working, "another answer")
    await settle()


async def test_the_panel_says_what_the_command_says(studio: Studio, place: Path) -> None:
    path = recorded(place)
    page = await opened(studio, path)
    panel = page.guarantee
    with Store.open(store_path(path), readonly=True) as store:
        frame = RunFrame.read(store, run_info(store))
    for percent in (10, 3):
        await asked(page, percent)
        expected = run_guarantee(frame, "c2_all", "calls", percent / 100, 0.05)
        answer = page.guarantee_state.answer
        assert answer is not None
        assert answer.figures == expected
    assert panel.decided.figure.text() == "Nothing"
    assert "Nothing can be promised" in panel.note.text()
    # 99 accepted labels without an error are needed; even all 200 pairs hold three.
    assert expected.pairs.labels_likely is None
    assert panel.people.words.text() == "no number of labels is likely to be enough"
    assert not panel.save_button.isVisible()
    assert panel.random_button.isVisible()
    await asked(page, 10)
    assert panel.decided.figure.text() == "70 %"
    assert "140 of 200 verdicts accepted" in panel.decided.words.text()
    # 60 pairs are not sure, 36 of them among the labelled ones.
    assert panel.people.figure.text() == "60"
    assert "24 of them without a label" in panel.people.words.text()
    assert panel.fact.text() == "120 random labels, 200 of 200 pairs with a verdict"
    assert nameless(panel) == []


async def test_marks_tell_their_numbers_and_set_the_error(studio: Studio, place: Path) -> None:
    page = await opened(studio, recorded(place))
    panel = page.guarantee
    picture = panel.chart.picture
    marks = picture.series[0].spots
    assert len(marks) == 50
    assert marks[9].words == "Error at most 10 %: 140 of 200 verdicts accepted (70 %), 60 of 200 pairs for people."
    assert marks[0].words == "Error at most 1 %: nothing can be promised."
    assert picture.ring == (0, 9)
    panel.chart.chosen.emit(marks[49].key)
    await until(lambda: not page.guarantee_state.working, "another answer")
    assert panel.alpha.value() == 50
    panel.view.set_current("labels")
    panel._fill()
    words = panel.chart.picture.series[0].spots[-1].words
    assert words.startswith("200 labels: ")
    panel.confidence.setCurrentIndex(panel.confidence.findData("samples"))
    panel.confidence.activated.emit(0)
    await until(lambda: not page.guarantee_state.working, "another answer")
    await settle()
    assert "no call of the run has a second sample" in panel.note.text()


async def test_the_rule_goes_into_the_project_and_out_again(studio: Studio, place: Path) -> None:
    page = await opened(studio, recorded(place))
    document = page.context.document
    page.guarantee.save_button.click()
    rule = document.spec.aggregation.acceptance
    assert rule is not None
    assert (rule.aggregation, rule.confidence, rule.threshold, rule.labels) == ("c2_all", "calls", 1.0, 120)
    await settle()
    assert not page.guarantee.save_button.isEnabled()
    assert "New runs are decided by a rule. Verdicts of c2_all" in page.guarantee.kept.text()
    document.undo_stack.undo()
    assert document.spec.aggregation.acceptance is None
    document.undo_stack.redo()
    page.guarantee.remove.click()
    assert document.spec.aggregation.acceptance is None
    # Another network keeps no rule of this run.
    document.edit_network("Other", replace(document.spec, seed=7))
    await settle()
    assert not page.guarantee.save_button.isEnabled()
    assert "differs from that of this run" in page.guarantee.note.text()


async def test_the_queue_goes_to_the_desk_and_its_labels_enter_no_figure(studio: Studio, place: Path) -> None:
    path = recorded(place)
    page = await opened(studio, path)
    page.guarantee.queue_button.click()
    desk = studio.window.page("labels")
    assert isinstance(desk, LabelsPage)
    await until(lambda: desk.state.desk is not None and not desk.state.working, "the desk")
    made = desk.state.desk
    assert made is not None
    assert (made.draw.mode, len(made.draw.places), made.wished) == ("targeted", 24, 24)
    assert all(place >= 120 and place % 10 >= 7 for place in made.draw.places)
    assert desk.side.title.text() == "For people"
    assert desk.side.counts.text() == "Does not count"
    assert desk.state.say("a")
    store = page.context.document.store
    assert store is not None
    await until(lambda: desk.state.pending == 0, "the label")
    (given,) = labels_in_force(store)
    assert isinstance(given, HumanLabel)
    assert given.chosen == "targeted"
    with Store.open(store_path(path), readonly=True) as kept:
        frame = RunFrame.read(kept, run_info(kept))
        found = run_guarantee(frame, "c2_all", "calls", 0.1, 0.05)
    assert (found.pairs.labels_used, found.accepted, len(found.queue)) == (120, 140, 23)
    desk.state.set_mode("random")
    await until(lambda: not desk.state.working, "the desk")
    assert desk.side.title.text() == "Random sample"


async def test_labels_of_unknown_origin_promise_nothing(studio: Studio, place: Path) -> None:
    page = await opened(studio, recorded(place, drawn=False))
    assert page.guarantee.decided.figure.text() == "Nothing"
    assert "a promise takes labels that were drawn at random" in page.guarantee.note.text()
    assert not page.guarantee.queue_button.isVisible()
    page.guarantee.random_button.click()
    await settle()
    assert studio.window.context.navigator.page == "labels"


async def test_a_run_that_a_rule_decided_shows_its_abstentions(studio: Studio, place: Path) -> None:
    rule = AcceptanceRule("c2_all", "calls", 0.75, 0.1, 0.05, labels=60, run="run-0")
    page = await opened(studio, recorded(place, rule=rule))
    assert "This run decided 140 of 200 pairs; 60 are for people, 36 of them labelled." in page.guarantee.ran.text()
    assert "24 pairs that this run left" in page.guarantee.ran_queue.text()
    left = {of.what: of.count for of in page.guarantee_state._results.report.left_out}  # type: ignore[union-attr]
    assert (left["for people"], left.get("no verdict", 0)) == (60, 0)
    assert page.what_if.rules == page.guarantee_state._results.rules  # type: ignore[union-attr]
    # The desk's own targeted review are the pairs for people.
    page.context.navigator.go("labels")
    desk = studio.window.page("labels")
    assert isinstance(desk, LabelsPage)
    desk.state.set_mode("targeted")
    await until(lambda: desk.state.desk is not None and not desk.state.working, "the desk")
    made = desk.state.desk
    assert made is not None
    assert len(made.draw.places) == 24
    assert desk.side.title.text() == "For people"
    # The pairs of the run say it too.
    page.context.run_state.set_focus(8)
    words = RunPairsModel(page.context.run_state).words
    assert words(8) == "Pair 9, finished, for people, people A: Why 8?"
    assert words(1) == "Pair 2, finished, network B, people B: Why 1?"
