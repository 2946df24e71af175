"""Intervals that are valid at any time, and runs that stop themselves, in the studio."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QApplication

from judgenet.core.until import StopWish
from judgenet.stats.anytime import anytime_rate, tally_units
from judgenet.store.anytime import turn_pairs, win_scores
from judgenet.store.files import load_project
from judgenet.ui.app import Studio
from judgenet.ui.limits import LimitsDialog, stop_words
from judgenet.ui.pages.run import RunPage
from tests.ui.conftest import settle, until
from tests.ui.story import story_network, story_pairs, story_project
from tests.ui.test_results import cells, judged, run


async def test_results_turn_to_intervals_that_are_valid_at_any_time(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(24), story_network(2, None))
    once = page.head.interval.text(), cells(page.agreement.table, 0)["Accuracy, %"]
    assert page.intervals.kinds.current == "once"
    page.intervals.kinds.button("anytime").click()
    await settle()
    assert studio.settings.preferences.intervals == "anytime"
    results = page.context.results.results
    assert results is not None
    found = results.report.anytime
    assert found is not None
    figures = found.aggregations[results.report.decides]
    assert figures.corrected.ci is not None
    assert page.head.interval.text() == f"{100 * figures.corrected.ci.low:.1f} to {100 * figures.corrected.ci.high:.1f}"
    assert figures.accuracy.ci is not None
    assert f"[{100 * figures.accuracy.ci.low:.1f}" in cells(page.agreement.table, 0)["Accuracy, %"]
    assert "95 % interval valid at any time" in page.head.line.text
    assert "the other panels keep intervals for a fixed n" in page.head.line.text
    # No row of the table has an interval of the other kind: the baseline has none that is valid at any time.
    last = page.agreement.table.figures.rowCount() - 1
    assert cells(page.agreement.table, last)["Aggregation"].startswith("Always ")
    assert "[" not in cells(page.agreement.table, last)["Accuracy, %"]
    assert page.agreement.fact.text() == "95 % intervals, valid at any time"
    # The choice is kept, and the other kind comes back.
    page.intervals.kinds.button("once").click()
    await settle()
    assert (page.head.interval.text(), cells(page.agreement.table, 0)["Accuracy, %"]) == once


async def test_live_plots_follow_the_same_choice(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(24), story_network(2, None))
    context = page.context
    context.actions.trigger("page.run")
    await settle()
    run_page = studio.window.page("run")
    assert isinstance(run_page, RunPage)
    chart = run_page.dock.chart
    chart.choose("win_rate")
    assert chart.interval.isVisible()
    assert chart.interval.text() == "Interval: fixed n"
    chart.interval.click()
    await settle()
    assert chart.interval.text() == "Interval: at any time"
    assert chart.axis.text().startswith("e = ")
    table = context.run_state.table
    assert table is not None
    turn = turn_pairs(table)
    wanted = anytime_rate(tally_units(turn.units, win_scores(table.verdict_codes("c2_all")[turn.pairs]), turn.most))
    subject = chart.chart._lines[-1]
    assert wanted.interval is not None
    assert subject.low is not None
    assert subject.high is not None
    assert (subject.low[-1], subject.high[-1]) == tuple(wanted.interval)
    chart.choose("kappa")
    assert not chart.interval.isVisible()
    chart.choose("accuracy")
    assert chart.interval.isVisible()


async def test_a_run_stops_itself_by_the_rule_of_the_project(studio: Studio, place: Path) -> None:
    context = studio.window.context
    pairs = story_pairs(300)
    path = story_project(place, pairs, story_network(1, None))
    context.document.open(path)
    await until(lambda: len(context.document.pairs) == len(pairs), "the pairs")
    context.actions.trigger("run.limits")
    dialog = next(of for of in QApplication.topLevelWidgets() if isinstance(of, LimitsDialog) and of.isVisible())
    assert not dialog.auto.isVisible()
    for text, words in (("soon", "is no condition"), ("c2_l7 excludes 50%", "which this network does not have")):
        dialog.until.setText(text)
        dialog.keep.click()
        assert words in dialog.message.text()
    dialog.until.setText("width <= 60%")
    dialog.keep.click()
    assert not dialog.isVisible()
    assert context.runner.stop_wish == StopWish("width <= 60%")
    assert stop_words(context.runner.stop_wish) == "until width <= 60%"
    context.document.save()
    assert load_project(path).metadata["stop"] == {"until": "width <= 60%"}
    await run(studio, pairs)
    state = context.run_state
    assert state.state == "enough"
    assert "Enough is known (width <= 60%)" in studio.window.errors.troubles[-1].what
    table = state.table
    assert table is not None
    assert 0 < int(table.judged.sum()) < len(pairs)
    # Undone, the rule is gone, and the others are asked.
    context.document.undo_stack.undo()
    assert context.runner.stop_wish == StopWish()
    await run(studio, pairs)
    assert context.run_state.state == "done"
