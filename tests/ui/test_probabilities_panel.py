"""Results: for how many calls token probabilities were used, how sharp they are, and soft votes beside the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from judgenet.store.db import Store
from judgenet.store.runs import full_calls, run_info
from judgenet.ui.app import Studio
from judgenet.ui.pages.results import ResultsPage
from tests.fakes.judge_server import JudgeServer
from tests.ui.conftest import settle, until
from tests.ui.person import press
from tests.ui.story import story_network
from tests.ui.test_run_page import finished, http_project, opened


async def results_of(studio: Studio, place: Path, judge: JudgeServer, scores: str) -> ResultsPage:
    spec = story_network(2, 2)
    spec = replace(spec, settings=replace(spec.settings, scores=scores))  # type: ignore[arg-type]
    await opened(studio, http_project(place, judge, spec))
    press(studio.window.top_bar, "Run")
    await finished(studio)
    studio.window.context.navigator.go("results")
    page = studio.window.page("results")
    assert isinstance(page, ResultsPage)
    await until(lambda: page._shown is not None)
    await settle()
    return page


async def test_the_panel_says_what_the_calls_say(studio: Studio, place: Path, judge: JudgeServer) -> None:
    judge.set(tokens="joined+null")
    page = await results_of(studio, place, judge, "probabilities")
    panel, store = page.probabilities, studio.window.context.document.store
    assert isinstance(store, Store)
    calls = [call for call in full_calls(store, run_info(store)) if call.site.order is not None]
    with_them = [call for call in calls if call.likely is not None]
    assert 0 < len(with_them) < len(calls)
    assert panel.isVisible()
    assert panel.fact.text() == f"{len(with_them)} of {len(calls)} calls"
    others = len(calls) - len(with_them)
    assert f"{others} of {len(calls)} the answer came without token probabilities." in panel.why.text()
    largest = [max(call.result.shares) for call in with_them]  # type: ignore[union-attr]
    high = sum(round(of, 9) >= 0.9 for of in largest)
    assert f"90 % or more {high}, entropy " in panel.bars.accessibleName().partition("; Layer 1")[0]
    names = [panel.table.model().index(row, 0).data() for row in range(panel.table.model().rowCount())]
    assert names[:3] == ["soft (all)", "soft (entropy)", "c2*(all), expected scores"]
    assert "c2*(all), sampled text" in names
    assert "labelled pairs" in panel.note.text()
    assert panel in page.sections.panels


async def test_a_run_by_text_has_no_such_panel(studio: Studio, place: Path, judge: JudgeServer) -> None:
    page = await results_of(studio, place, judge, "text")
    assert page.probabilities.isHidden()
