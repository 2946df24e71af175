"""The page Results, used by mouse and keys on recorded runs; figures against scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QLineEdit, QWidget
from sklearn.metrics import (  # type: ignore[import-untyped]
    accuracy_score,
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
)

from judgenet.core.labels import Chosen
from judgenet.core.network import (
    Aggregation,
    NetworkSpec,
)
from judgenet.core.pairs import Pair, Verdict
from judgenet.engine.budget import Limits
from judgenet.ui.app import Studio
from judgenet.ui.pages.results import ResultsPage
from judgenet.ui.results.figures_table import FiguresTable
from tests.pair_verdicts import PairResult, pair_results
from tests.short_forms import with_settings
from tests.ui.conftest import settle, until
from tests.ui.person import find, press
from tests.ui.story import StoryJudge, story_network, story_pairs, story_project, telling, usual

LEFT = Qt.MouseButton.LeftButton


def results_page(studio: Studio) -> ResultsPage:
    page = studio.window.page("results")
    assert isinstance(page, ResultsPage)
    return page


async def judged(
    studio: Studio,
    place: Path,
    pairs: Sequence[Pair],
    spec: NetworkSpec | None = None,
    *,
    limits: Limits | None = None,
) -> ResultsPage:
    """Opens a project, runs it with the judge in this process, and shows its results."""
    context = studio.window.context
    context.document.open(story_project(place, tuple(pairs), spec or story_network(3, 2)))
    await until(lambda: len(context.document.pairs) == len(pairs), "the pairs")
    await run(studio, pairs, limits)
    return await shown(studio)


async def run(studio: Studio, pairs: Sequence[Pair], limits: Limits | None = None) -> StoryJudge:
    context = studio.window.context
    with telling(StoryJudge(usual(tuple(pairs)))) as judge:
        context.runner.limits = limits or Limits()
        context.actions.trigger("run.start")
        await until(lambda: context.runner.running, "the run begins")
        await until(lambda: not context.runner.running, "the run ends")
    return judge


async def shown(studio: Studio) -> ResultsPage:
    """The page with the figures of the run as it is now."""
    page = results_page(studio)
    studio.window.context.actions.trigger("page.results")
    await until(lambda: page.area.isVisible() and not page.context.results.working, "the results")
    await until(lambda: not page.explorer.working, "the calls")
    await settle()
    return page


def recorded(page: ResultsPage, rules: Aggregation | None = None) -> list[PairResult]:
    store, run_info = page.context.document.store, page.context.run_state.run
    assert store is not None
    assert run_info is not None
    return list(pair_results(store, run_info, rules))


def both(results: list[PairResult], name: str) -> tuple[list[Verdict], list[Verdict]]:
    """Labels and verdicts of the pairs that have both."""
    found = [
        (result.pair.pair.human, result.verdicts.named()[name]) for result in results if result.verdicts is not None
    ]
    used = [(human, said) for human, said in found if human is not None and said is not None]
    return [human for human, _ in used], [said for _, said in used]


def cells(table: FiguresTable, row: int) -> dict[str, str]:
    """A row of a table as it is read out, by the titles of its columns."""
    model = table.figures
    return {
        column.title: model.index(row, place).data(Qt.ItemDataRole.AccessibleTextRole)
        for place, column in enumerate(model.columns)
    }


def accuracy_shown(page: ResultsPage) -> str:
    """The accuracy of the network's verdict, as the first row of the table has it."""
    return cells(page.agreement.table, 0)["Accuracy, %"].split(" [")[0] + " %"


def names(table: FiguresTable) -> list[str]:
    return [row.name for row in table.figures.rows]


def click(widget: QWidget) -> None:
    """Clicks on a widget, which is brought into view first."""
    page = widget.window().findChild(ResultsPage)
    if page is not None and page.rows.isAncestorOf(widget):
        page.area.ensureWidgetVisible(widget)
        QApplication.sendPostedEvents(None, 0)
    assert widget.isVisible(), widget.accessibleName()
    QTest.mouseClick(widget, LEFT)


def click_row(table: FiguresTable, name: str) -> None:
    index = table.figures.index(names(table).index(name), 0)
    page = table.window().findChild(ResultsPage)
    assert page is not None
    page.area.ensureWidgetVisible(table)
    table.scrollTo(index)
    QTest.mouseClick(table.viewport(), LEFT, pos=table.visualRect(index).center())


def listed(page: ResultsPage) -> tuple[int, ...]:
    return page.pairs.view.pairs.pairs if page.pairs.isVisible() else ()


# Figures


async def test_the_table_says_what_scikit_learn_says(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(40, labelled=0.85))
    results = recorded(page)
    titles = {"c2*(all)": "c2_all", "c1*": "c1", "c2*(l1)": "c2_l1", "c2*(l2)": "c2_l2"}
    assert set(names(page.agreement.table)[:4]) == set(titles)
    assert names(page.agreement.table)[0] == "c2*(all)"
    for row, title in enumerate(names(page.agreement.table)[:4]):
        human, said = both(results, titles[title])
        shown_row = cells(page.agreement.table, row)
        assert shown_row["Accuracy, %"].startswith(f"{100 * accuracy_score(human, said):.1f} [")
        assert shown_row["Macro-F1"].startswith(f"{f1_score(human, said, average='macro'):.2f} [")
        assert shown_row["Kappa"].startswith(f"{cohen_kappa_score(human, said):.2f} [".replace("-", "−"))
        assert shown_row["n used"] == f"{len(human)} of 40"
    human, said = both(results, "c2_all")
    commonest = max(("a", "b", "tie"), key=human.count)
    baseline = cells(page.agreement.table, 4)
    assert baseline["Aggregation"] == f"Always {commonest.upper()}"
    assert baseline["Accuracy, %"].startswith(f"{100 * human.count(commonest) / len(human):.1f} [")


async def taken_as(page: ResultsPage, chosen: Chosen) -> None:
    """Says by keys how the labelled pairs of the data file were chosen."""
    combo = page.head.file_chosen
    page.area.ensureWidgetVisible(combo)
    assert combo.isVisible()
    combo.setFocus(Qt.FocusReason.TabFocusReason)
    while combo.currentData() != chosen:
        step = combo.findData(chosen) > combo.currentIndex()
        QTest.keyClick(combo, Qt.Key.Key_Down if step else Qt.Key.Key_Up)

    def follows() -> bool:
        results = page.context.results.results
        return results is not None and results.report.rates.sample.chosen == chosen and not page.context.results.working

    await until(follows, "the figures follow")
    await settle()


SCORES = {"a": 0.0, "tie": 0.5, "b": 1.0}


def corrected(page: ResultsPage) -> float:
    """The win rate of B stratified by verdict: one more label of each verdict is spread evenly (statistics 3.2)."""
    results = recorded(page)
    judged = [
        (of.verdicts.c2_all, of.pair.pair.human)
        for of in results
        if of.verdicts is not None and of.verdicts.c2_all is not None
    ]
    total = 0.0
    for verdict in ("a", "tie", "b"):
        mine = [human for said, human in judged if said == verdict]
        scores = [SCORES[human] for human in mine if human is not None]
        total += len(mine) / len(judged) * (sum(scores) + 0.5) / (len(scores) + 1)
    return total


async def test_the_head_has_the_corrected_rate_its_interval_and_what_it_rests_on(studio: Studio, place: Path) -> None:
    pairs = [replace(pair, model_a="Old", model_b="New") for pair in story_pairs(60, labelled=0.7)]
    page = await judged(studio, place, pairs)
    assert "labels of unknown sampling" in page.head.facts.text
    assert "n/a – the labels were not chosen at random from these pairs" in page.head.win_note.text
    await taken_as(page, "random")
    results = recorded(page)
    rate = corrected(page)
    labels = sum(of.pair.pair.human is not None for of in results)
    head = page.head
    assert head.figure.text() == f"{100 * rate:.1f} %"
    low, high = (float(end) for end in head.interval.text().split(" to "))
    assert low < 100 * rate < high
    assert head.win_title.text.replace("\u2068", "").replace("\u2069", "") == "Win rate of B New over A Old"
    verdicts = [of.verdicts.c2_all for of in results if of.verdicts is not None]
    naive = 100 * (verdicts.count("b") + verdicts.count("tie") / 2) / len(verdicts)
    assert f"Uncorrected, the network says {naive:.1f} %" in head.line.text
    drawn = head.rates.accessibleName()
    assert f"Corrected (stratified) {100 * rate:.1f} %" in drawn
    assert f"Uncorrected {naive:.1f} %" in drawn
    assert "Human labels only" in drawn
    assert f"{len(verdicts)} of 60 pairs have a verdict" in head.facts.text
    assert f"{labels} random labels" in head.facts.text
    decided = "not decided which system is better" if low <= 50 <= high else "is better"
    assert decided in head.judgement.text
    click(head.plan_links[0])
    assert page.planner.isVisible()


async def test_refused_estimates_say_why_and_what_would_help(studio: Studio, place: Path) -> None:
    pairs = [replace(pair, human=pair.human if at < 4 else None) for at, pair in enumerate(story_pairs(30))]
    page = await judged(studio, place, pairs)
    assert "label some of these pairs at random" in page.head.judgement.text
    await taken_as(page, "random")
    assert page.head.figure.property("tone") == "text3"
    assert page.head.interval.text().endswith("uncorrected")
    assert "6 more are needed" in page.head.judgement.text
    assert page.head.win_note.text.startswith("Corrected (stratified); PPI++, cross-check: n/a – 4 labels are too few")


async def test_confusion_rows_are_the_network_and_columns_people(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(40, labelled=0.85))
    human, said = both(recorded(page), "c2_all")
    table = confusion_matrix(human, said, labels=["a", "b", "tie"])
    for row, label in enumerate(("a", "b", "tie")):
        for column, verdict in enumerate(("a", "b", "tie")):
            cell = page.differ.grid.cell(verdict, label)  # type: ignore[arg-type]
            assert cell.count == table[row][column]  # type: ignore[attr-defined]
            words = {"a": "A", "b": "B", "tie": "a tie"}
            assert cell.accessibleName().startswith(f"Network said {words[verdict]}, People said {words[label]}: ")


async def test_layers_neurons_and_tasks_are_right_as_often_as_shown(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(30, labelled=0.8))
    results = recorded(page)
    human, said = both(results, "c2_l2")
    assert cells(page.breakdown.table, 1)["Accuracy, %"].startswith(f"{100 * accuracy_score(human, said):.1f} [")
    click(page.breakdown.by.button("neuron"))
    assert names(page.breakdown.table) == [
        "Layer 1", "Accuracy", "Completeness", "Clarity", "Layer 2", "Accuracy", "Completeness",
    ]  # fmt: skip
    pairs = [
        (result.pair.pair.human, verdict.verdict)
        for result in results
        if result.verdicts is not None and result.pair.pair.human is not None
        for verdict in result.verdicts.neurons
        if verdict[:2] == (2, 1) and verdict.verdict is not None
    ]
    right = sum(human == said for human, said in pairs)
    row = cells(page.breakdown.table, 5)
    assert row["Accuracy, %"].startswith(f"{100 * right / len(pairs):.1f} [")
    assert row["n used"] == f"{len(pairs)} of 30"
    click(page.breakdown.by.button("task"))
    assert names(page.breakdown.table) == ["question answering"]
    human, said = both(results, "c2_all")
    assert cells(page.breakdown.table, 0)["Accuracy, %"].startswith(f"{100 * accuracy_score(human, said):.1f} [")
    click_row(page.agreement.table, "c1*")
    human, said = both(results, "c1")
    assert cells(page.breakdown.table, 0)["Accuracy, %"].startswith(f"{100 * accuracy_score(human, said):.1f} [")


# From a figure to its pairs


async def test_a_click_on_a_cell_lists_its_pairs_and_one_more_opens_a_pair(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(40, labelled=0.85))
    click(page.differ.grid.cell("b", "a"))
    expected = tuple(
        index
        for index, result in enumerate(recorded(page))
        if result.verdicts is not None and result.verdicts.c2_all == "b" and result.pair.pair.human == "a"
    )
    assert listed(page) == expected != ()
    assert page.pairs.count.text() == ("1 pair" if len(expected) == 1 else f"{len(expected)} pairs")
    assert page.pairs.why.text() == "Network B, people A"
    view = page.pairs.view
    index = view.pairs.index(len(expected) - 1)
    view.scrollTo(index)
    QTest.mouseClick(view.viewport(), LEFT, pos=view.visualRect(index).center())
    await settle()
    context = page.context
    assert context.navigator.page == "run"
    assert context.run_state.focus == expected[-1]
    studio.window.context.actions.trigger("page.results")
    await settle()
    assert listed(page) == expected


async def test_the_list_leads_to_the_page_data(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(20, labelled=0.9))
    visits = []
    page.context.navigator.went.connect(visits.append)
    click(page.orders.links["first"] if page.orders.links["first"].isEnabled() else page.orders.links["partial"])
    found = listed(page)
    click(page.pairs.all_button)
    await settle()
    assert visits[-1].page == "data"
    assert visits[-1].pairs == found
    assert visits[-1].why == page.pairs.why.text()


async def test_everything_can_be_done_with_keys(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(40, labelled=0.85))
    grid = page.differ.grid
    grid.cell("a", "a").setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Down)
    focused = QApplication.focusWidget()
    assert isinstance(focused, QAbstractButton)
    assert focused.accessibleName().split(",")[1].startswith(" People said A")
    QTest.keyClick(focused, Qt.Key.Key_Return)
    assert focused.isChecked()
    assert len(listed(page)) == focused.count  # type: ignore[attr-defined]
    view = page.pairs.view
    view.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(view, Qt.Key.Key_End)
    QTest.keyClick(view, Qt.Key.Key_Return)
    await settle()
    assert page.context.navigator.page == "run"
    assert page.context.run_state.focus == listed_before(page)[-1]
    page.context.actions.trigger("page.results")
    await settle()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert not page.pairs.isVisible()
    assert not focused.isChecked()
    table = page.agreement.table
    table.setFocus(Qt.FocusReason.TabFocusReason)
    before = page.differ.fact.text()
    QTest.keyClick(table, Qt.Key.Key_Down)
    assert page.differ.fact.text() == names(table)[1] != before
    rows = page.breakdown.table
    rows.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(rows, Qt.Key.Key_Down)
    QTest.keyClick(rows, Qt.Key.Key_Return)
    assert "wrong" in page.pairs.why.text()


def listed_before(page: ResultsPage) -> tuple[int, ...]:
    return page.pairs.view.pairs.pairs


async def test_a_neurons_row_leads_to_what_it_has_wrong(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(30, labelled=0.8))
    click(page.breakdown.by.button("neuron"))
    click_row(page.breakdown.table, "Clarity")
    expected = [
        index
        for index, result in enumerate(recorded(page))
        if result.verdicts is not None and result.pair.pair.human is not None
        for verdict in result.verdicts.neurons
        if verdict[:2] == (1, 3) and verdict.verdict not in (None, result.pair.pair.human)
    ]
    assert list(listed(page)) == expected != []
    assert page.pairs.why.text() == "Layer 1, neuron 3 wrong"


async def test_orders_and_overturns_lead_to_their_pairs(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(40, labelled=0.85))
    results = recorded(page)
    verdicts = [result.verdicts for result in results]
    differ = {index for index, of in enumerate(verdicts) if of is not None and of.c1_ab != of.c1_ba}
    found: set[int] = set()
    for button in page.orders.links.values():
        if button.isEnabled():
            click(button)
            found |= set(listed(page))
    assert found == differ != set()
    assert f"on {len(differ)} pairs" in page.orders.line.text.replace("1 pair ", "1 pairs ")
    overturned = {
        index: (of.c2_layers, results[index].pair.pair.human)
        for index, of in enumerate(verdicts)
        if of is not None and of.c2_layers[0] != of.c2_layers[1]
    }
    right = {index for index, (layers, human) in overturned.items() if layers[1] == human}
    wrong = {index for index, (layers, human) in overturned.items() if layers[0] == human}
    for turn, expected in (("right", right), ("wrong", wrong)):
        button = page.changes.links[turn]  # type: ignore[index]
        assert button.text().startswith(f"{len(expected)} became {turn}")
        if expected:
            click(button)
            assert set(listed(page)) == expected
    was, now = next((layers[0], layers[1]) for layers, _ in overturned.values())
    assert was is not None
    assert now is not None
    click(page.changes.grid.cell(was, now))
    assert set(listed(page)) == {index for index, (layers, _) in overturned.items() if layers == (was, now)}
    assert page.pairs.why.text().startswith(f"Layer 1 {'a tie' if was == 'tie' else was.upper()}")


async def test_of_more_layers_each_can_be_looked_at(studio: Studio, place: Path) -> None:
    spec = story_network(3, 3)
    page = await judged(studio, place, story_pairs(20), replace(spec, layers=(*spec.layers, spec.layers[1])))
    combo = page.changes.layers
    assert combo.isVisible()
    combo.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(combo, Qt.Key.Key_Down)
    assert combo.currentText() == "Layer 2 to 3"
    assert page.changes.title.text() == "What layer 3 changed"
    results = recorded(page)
    changed = [
        index
        for index, result in enumerate(results)
        if result.verdicts is not None and result.verdicts.c2_layers[1] != result.verdicts.c2_layers[2]
    ]
    assert f"{len(changed)} of 20 pairs" in page.changes.line.text or not changed
    kept = sum(result.verdicts is not None and result.verdicts.c2_layers[1:] == ("a", "a") for result in results)
    assert page.changes.grid.cell("a", "a").count == kept  # type: ignore[attr-defined]


async def test_what_was_left_out_leads_to_its_pairs(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(20, labelled=0.6))
    unlabelled = [index for index, result in enumerate(recorded(page)) if result.pair.pair.human is None]
    links = [
        button for button in page.left_out.findChildren(QAbstractButton) if "no human label" in button.accessibleName()
    ]
    assert len(links) == 1
    click(links[0])
    assert list(listed(page)) == unlabelled != []


# What if


async def test_other_rules_answer_from_the_recorded_calls(studio: Studio, place: Path) -> None:
    pairs = story_pairs(40, labelled=0.85)
    context = studio.window.context
    context.document.open(story_project(place, pairs, story_network(4, 3)))
    await until(lambda: len(context.document.pairs) == 40)
    judge = await run(studio, pairs)
    page = await shown(studio)
    asked = len(judge.asked)
    own = accuracy_shown(page)
    assert not page.strips["rules"].isVisible()
    click(page.what_if.vote.button("call"))
    click(page.what_if.ties.button("candidate"))
    click(page.what_if.fallback.button("c1"))
    rules = Aggregation("call", "candidate", "c1")
    await until(lambda: page.context.results.results is not None and page.context.results.results.rules == rules)
    await settle()
    human, said = both(recorded(page, rules), "c2_all")
    expected = f"{100 * accuracy_score(human, said):.1f} %"
    assert accuracy_shown(page) == expected
    await until(lambda: page.what_if.accuracy.figure.text() == expected, "the answer of the other rules")
    assert page.strips["rules"].isVisible()
    assert "other rules" in page.strips["rules"].text.text
    before, after = recorded(page), recorded(page, rules)
    changed = [
        index
        for index, (one, other) in enumerate(zip(before, after, strict=True))
        if one.verdicts is not None and other.verdicts is not None and one.verdicts.c2_all != other.verdicts.c2_all
    ]
    await until(lambda: page.what_if.words.text().startswith(f"{len(changed)} of 40 verdicts change"), "the answer")
    if changed:
        click(page.what_if.show_them)
        assert list(listed(page)) == changed
    assert len(judge.asked) == asked
    click(page.what_if.back)
    await until(lambda: accuracy_shown(page) == own and not page.strips["rules"].isVisible())
    assert page.what_if.vote.current == "neuron"


async def test_another_aggregation_can_give_the_verdict_and_that_can_be_undone(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(40, labelled=0.85))
    click_row(page.agreement.table, "c2*(l1)")
    assert page.agreement.verdict_link.text() == "Let c2*(l1) give the verdict"
    click(page.agreement.verdict_link)
    await until(lambda: names(page.agreement.table)[0] == "c2*(l1)")
    human, said = both(recorded(page), "c2_l1")
    assert accuracy_shown(page) == f"{100 * accuracy_score(human, said):.1f} %"
    assert page.context.document.rule == "c2_l1"
    page.context.actions.trigger("edit.undo")
    await until(lambda: names(page.agreement.table)[0] == "c2*(all)")


# States


async def test_without_a_run_it_says_so_and_offers_one(studio: Studio, place: Path) -> None:
    pairs = story_pairs(6)
    context = studio.window.context
    context.document.open(story_project(place, pairs, story_network(2, None)))
    await until(lambda: len(context.document.pairs) == 6)
    context.actions.trigger("page.results")
    page = results_page(studio)
    assert page.empty.isVisible()
    assert not page.run_choice.isEnabled()
    with telling(StoryJudge(usual(pairs))):
        click(page.empty.button)
        await until(lambda: context.run_state.state == "done")
        await until(lambda: page.area.isVisible(), "the page follows the run")
    assert page.run_choice.text() == "Run 1"
    assert not page.changes.isVisible()


async def test_without_labels_the_rate_is_hollow_and_agreement_is_told_to_be_missing(
    studio: Studio, place: Path
) -> None:
    page = await judged(studio, place, story_pairs(12, labelled=0.0))
    verdicts = [result.verdicts.c2_all for result in recorded(page) if result.verdicts is not None]
    rate = (verdicts.count("b") + verdicts.count("tie") / 2) / len(verdicts)
    assert page.head.figure.text() == f"{100 * rate:.1f} %"
    assert page.head.interval.text().endswith("uncorrected")
    assert page.head.figure.property("tone") == "text3"
    assert cells(page.agreement.table, 0)["Accuracy, %"] == "n/a – no pair has both a human label and a verdict"
    assert not page.differ.isVisible()
    assert page.orders.isVisible()
    assert "unknown" in page.changes.line.text
    click(page.agreement.data_link)
    await settle()
    assert page.context.navigator.page == "data"


async def test_while_a_run_goes_on_the_figures_follow_it(studio: Studio, place: Path) -> None:
    pairs = story_pairs(30, labelled=1.0)
    context = studio.window.context
    context.document.open(story_project(place, pairs, story_network(2, None)))
    await until(lambda: len(context.document.pairs) == 30)
    tell = usual(pairs)

    def slowly(site, request):  # type: ignore[no-untyped-def]
        told = tell(site, request)
        told.before = 0.0 if site.pair < 10 else 3.0
        return told

    page = results_page(studio)
    with telling(StoryJudge(slowly)):
        context.actions.trigger("run.start")
        context.actions.trigger("page.results")
        await until(lambda: context.run_state.progress.pairs_done >= 10, "ten pairs")
        await until(lambda: page.area.isVisible() and page.head.figure.text().endswith("%"), "figures of ten pairs")
        await until(lambda: "of 30 pairs are judged" in page.strips["state"].text.text)
        assert not page.strips["state"].button.isVisible()
        assert int(cells(page.agreement.table, 0)["n used"].split(" of ")[0]) < 30
        await until(lambda: not context.runner.running, "the end")
        await until(lambda: cells(page.agreement.table, 0)["n used"] == "30 of 30", "all figures")
    assert not page.strips["state"].isVisible()


async def test_with_a_run_going_on_no_panel_shows_figures_of_another(studio: Studio, place: Path) -> None:
    pairs = story_pairs(30, labelled=1.0)
    page = await judged(studio, place, pairs, story_network(3, 2))
    context = page.context
    await until(lambda: page.explorer.curve is not None and page.trusting.trust is not None, "all of run 1")
    context.learning.learn()
    await until(lambda: context.learning.learned is not None, "weights of run 1")
    # Another temperature, so that it shares no call with run 1.
    context.document.edit_network("Another network", with_settings(story_network(2, None), temperature=0.3))
    tell = usual(pairs)

    def slowly(site, request):  # type: ignore[no-untyped-def]
        told = tell(site, request)
        told.before = 0.0 if site.pair < 10 else 30.0
        return told

    with telling(StoryJudge(slowly)):
        context.actions.trigger("run.start")
        await until(lambda: page.run_choice.text() == "Run 2", "run 2")
        assert context.navigator.page == "results"
        await until(lambda: page.area.isVisible() and context.results.results is not None, "figures of ten pairs")
        await until(lambda: context.run_state.live and context.run_state.progress.pairs_done >= 10, "ten pairs")
        await until(lambda: "10 of 30 pairs are judged" in page.strips["state"].text.text)
        await settle()
        report = page.context.results.results.report if page.context.results.results else None
        assert report is not None
        assert report.about.run_id == "run-2"
        later = "when the run has ended"

        says = {
            page.compare: page.compare.isHidden(),
            page.agreement: cells(page.agreement.table, 0)["n used"].startswith("10 of"),
            page.differ: page.differ.isVisible(),
            page.what_if: later in page.what_if.note.text() and page.what_if.accuracy.figure.text() == "n/a",
            page.curve: not page.curve.chart.isVisible() and later in page.curve.words.text(),
            page.cascade: page.cascade.isHidden() and page.cascade.cascade is None,
            page.planner: page.planner.isVisible(),
            page.guarantee: not page.guarantee.chart.isVisible() and later in page.guarantee.note.text(),
            page.learned: context.learning.learned is None,
            page.review: not page.review.chart.isVisible() and later in page.review.words.text(),
            page.alike: not page.alike.chart.isVisible() and later in page.alike.words.text(),
            page.worth: not page.worth.table.isVisible() and later in page.worth.note.text(),
            page.together: page.together.isHidden(),
            page.adds: page.adds.isHidden(),
            page.breakdown: page.breakdown.isVisible(),
            page.orders: page.orders.isVisible(),
            page.changes: not page.changes.isVisible() or "layer" in page.changes.title.text().lower(),
            page.clouds: page.clouds.isHidden(),
            page.ranking: page.ranking.isHidden(),
            page.instead: page.instead.isHidden(),
            page.reliability: page.reliability.isHidden(),
            page.probabilities: page.probabilities.isHidden(),
            page.requirements: page.requirements.gate is None,
            page.left_out: page.left_out.isVisible(),
        }
        assert set(says) == set(page.sections.panels) - {page.head}
        assert [panel.title.text() for panel, so in says.items() if not so] == []
        context.runner.stop()
        await until(lambda: not context.runner.running, "the end")
    await until(lambda: page.explorer.explored is not None, "the calls of run 2")
    assert page.explorer.explored is not None
    assert page.explorer.explored.run.id == "run-2"


async def test_a_run_that_stopped_at_its_limit_says_so_and_goes_on_at_a_click(
    studio: Studio, place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pairs = story_pairs(20)
    page = await judged(studio, place, pairs, story_network(2, None), limits=Limits(max_calls=40))
    assert page.strips["state"].isVisible()
    assert page.strips["state"].text.text.startswith("The run stopped at its limit: ")
    done = sum(result.verdicts is not None for result in recorded(page))
    assert f"{done} of 20 pairs are judged" in page.strips["state"].text.text
    page.context.runner.limits = Limits()
    with telling(StoryJudge(usual(pairs))):
        click(page.strips["state"].button)
        await until(lambda: page.context.run_state.state == "done", "the run goes on")
        await until(lambda: not page.strips["state"].isVisible())
    caplog.clear()


async def test_two_runs_stand_side_by_side(studio: Studio, place: Path) -> None:
    pairs = story_pairs(30, labelled=0.9)
    page = await judged(studio, place, pairs, story_network(2, None))
    context = page.context
    first = recorded(page)
    context.document.edit_network("Another network", story_network(4, 3))
    await run(studio, pairs)
    page = await shown(studio)
    assert page.run_choice.text() == "Run 2"
    second = recorded(page)
    menu = page.compare_choice.menu()
    menu.aboutToShow.emit()
    assert [action.text().split(",")[0] for action in menu.actions()] == ["Run 1"]
    menu.actions()[0].trigger()
    await until(lambda: page.compare.isVisible(), "both runs")
    human, said = both(first, "c2_all")
    assert cells(page.compare.table, 1)["Accuracy, %"].startswith(f"{100 * accuracy_score(human, said):.1f} [")
    assert cells(page.compare.table, 0)["n used"] == cells(page.agreement.table, 0)["n used"]
    only = [
        index
        for index, (one, two) in enumerate(zip(first, second, strict=True))
        if one.verdicts is not None and two.verdicts is not None
        if two.verdicts.c2_all == two.pair.pair.human != one.verdicts.c2_all
        if two.pair.pair.human is not None
    ]
    assert page.compare.links["right"].text().startswith(f"{len(only)} pair")
    assert page.compare.warning.isVisible()
    told = page.compare.warning.text.text
    assert told.startswith("These are different judges.")
    assert "From run 1 to run 2 they differ in the network: " in told
    assert "number of layers: 1 → 2, role of neuron 3: none → Clarity" in told
    assert "width of layer 1: 2 → 4" in told
    assert "the prompts" not in told
    ones, others = both(second, "c2_all"), both(first, "c2_all")
    apart = 100 * (accuracy_score(*ones) - accuracy_score(*others))
    cells_shown = [cell.text() for cell in page.compare.differences["accuracy"]]
    assert cells_shown[3] == f"{apart:+.1f} points".replace("-", "−").replace("+0.0", "0.0")
    assert cells_shown[5] == str(len(ones[0]))
    kappa = cohen_kappa_score(*ones) - cohen_kappa_score(*others)
    assert page.compare.differences["kappa"][3].text() == f"{kappa:+.2f}".replace("-", "−")
    assert "Win rate of B, corrected: n/a – needs labels chosen at random" in page.compare.reasons.text()
    if only:
        click(page.compare.links["right"])
        assert list(listed(page)) == only
    click(page.compare.close_link)
    await until(lambda: not page.compare.isVisible())
    menu = page.run_choice.menu()
    menu.aboutToShow.emit()
    next(action for action in menu.actions() if action.text().startswith("Run 1")).trigger()
    await until(lambda: page.run_choice.text() == "Run 1")
    await until(lambda: page.context.results.results is not None)
    await settle()
    human, said = both(first, "c2_all")
    assert accuracy_shown(page) == f"{100 * accuracy_score(human, said):.1f} %"


async def test_a_run_is_named_and_annotated(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(10))
    context = page.context
    context.actions.trigger("run.name")
    await until(lambda: any(box.isVisible() for box in studio.window.findChildren(QDialog)), "the dialog")
    dialog = next(box for box in studio.window.findChildren(QDialog) if box.isVisible())
    assert dialog.windowTitle() == "Run 1"
    find(dialog, QLineEdit, "Name of the run").setText("Baseline & more")
    find(dialog, QLineEdit, "Note").setText("before the new prompts")
    press(dialog, "Save")
    await until(lambda: context.run_state.run is not None and bool(context.run_state.run.name), "the name")
    assert context.run_state.run is not None
    assert (context.run_state.run.name, context.run_state.run.note) == ("Baseline & more", "before the new prompts")
    assert page.run_choice.toolTip().startswith("Run 1 “Baseline & more”, ")
    assert page.run_choice.toolTip().endswith("before the new prompts")
    menu = page.run_choice.menu()
    menu.aboutToShow.emit()
    assert menu.actions()[0].text().startswith("Run 1 “Baseline && more”")

    def about() -> tuple[str, str]:
        results = context.results.results
        return ("", "") if results is None else (results.report.about.name, results.report.about.note)

    await until(lambda: about() == ("Baseline & more", "before the new prompts"), "the report says so")


async def test_computing_can_be_stopped_and_begun_again(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(10))
    context = page.context
    context.actions.trigger("page.design")
    await settle()
    state = context.results
    state._opened()
    context.run_state.show_run("run-1")
    context.actions.trigger("page.results")
    state.working = True
    state.cancel()
    assert state.stopped
    assert page.empty.isVisible()
    click(page.empty.button)
    await until(lambda: page.area.isVisible())


async def test_nothing_is_computed_while_nobody_looks(studio: Studio, place: Path) -> None:
    pairs = story_pairs(6)
    context = studio.window.context
    context.document.open(story_project(place, pairs, story_network(2, None)))
    await until(lambda: len(context.document.pairs) == 6)
    await run(studio, pairs)
    await settle()
    assert context.results.results is None
    await shown(studio)
    assert context.results.results is not None
    other = place / "other"
    other.mkdir()
    context.document.open(story_project(other, pairs, story_network(2, None)))
    await settle()
    assert context.results.results is None
    assert results_page(studio).empty.isVisible()


# Looks


@pytest.mark.parametrize(
    ("size", "scale"), [((1280, 720), 1.0), ((1920, 1080), 1.0), ((1920, 1080), 2.0), ((960, 600), 1.0)]
)
async def test_nothing_is_cut_off_at_any_size(studio: Studio, place: Path, size: tuple[int, int], scale: float) -> None:
    page = await judged(studio, place, story_pairs(20), story_network(4, 3))
    context = page.context
    context.settings.set(scale=scale)
    studio.window.resize(*size)
    await settle()
    for choice in ("light", "dark", "contrast"):
        context.settings.set(theme=choice)
        await settle()
        assert page.rows.width() <= page.area.viewport().width()
        for by in ("layer", "neuron", "role", "task"):
            page.breakdown.by.button(by).click()
            for table in (page.agreement.table, page.breakdown.table):
                shown_width = sum(table.columnWidth(place) for place in table.shown_columns)
                assert shown_width <= table.viewport().width()
        for cell in page.differ.grid.findChildren(QAbstractButton):
            assert page.differ.grid.rect().contains(cell.geometry())
    page.area.verticalScrollBar().setValue(page.area.verticalScrollBar().maximum())
    bottom = page.left_out.mapTo(page.area.viewport(), QPoint(0, page.left_out.height()))
    assert bottom.y() <= page.area.viewport().height()


async def test_every_control_has_a_name(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(10))
    for widget in page.findChildren(QWidget):
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisibleTo(page):
            assert widget.accessibleName() or getattr(widget, "text", str)(), widget
