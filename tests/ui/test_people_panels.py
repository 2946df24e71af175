"""Results: whether judges may replace the annotators, and whether probabilities mean what they say."""

from __future__ import annotations

import json
import random
from pathlib import Path

from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.figures.alt_test import run_alt_test
from judgenet.figures.reliability import run_reliability
from judgenet.formats import read_pairs
from judgenet.formats.judgments import read_judgments
from judgenet.store.files import save_project
from judgenet.store.recorded import import_run, select
from judgenet.ui.app import Studio
from judgenet.ui.pages.results import ResultsPage
from tests.ui.conftest import until
from tests.ui.person import press

PAIRS = 60
CLASSES = ("a", "b", "tie")


def _recorded(place: Path, annotators: tuple[str, ...]) -> None:
    """Two recorded judges, one mostly right and one that guesses, and annotators who are right 3 times in 4."""
    rng = random.Random(6)
    with (
        (place / "pairs.jsonl").open("w", encoding="utf-8") as out,
        (place / "said.jsonl").open("w", encoding="utf-8") as said,
    ):
        for i in range(PAIRS):
            truth = rng.choice(CLASSES)
            people = {name: truth if rng.random() < 0.7 else rng.choice(CLASSES) for name in annotators}
            pair = {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"So {i}.", "response_b": "Because."}
            out.write(json.dumps({**pair, "human": truth, "annotators": people}) + "\n")
            for judge, share in (("good", 0.95), ("poor", 0.0)):
                verdict = truth if rng.random() < share else rng.choice(CLASSES)
                said.write(json.dumps({"pair_id": f"p{i}", "judge": judge, "order": "ab", "verdict": verdict}) + "\n")


async def _opened(studio: Studio, place: Path) -> ResultsPage:
    path = place / "study.judgenet"
    save_project(Project.new("Study", network(1, 1), PairsSource(("pairs.jsonl",))), path)
    studio.window.frame_actions.open_file(path)
    context = studio.window.context
    await until(lambda: bool(context.document.pairs), "no pairs")
    store = context.document.store
    assert store is not None
    pairs = read_pairs(place / "pairs.jsonl").pairs
    run = import_run(store, select(read_judgments([place / "said.jsonl"]), pairs, {}))
    context.run_state.refresh_runs()
    context.run_state.show_run(run.id)
    context.navigator.go("results")
    page = studio.window.page("results")
    assert isinstance(page, ResultsPage)
    await until(lambda: context.results.results is not None, "no results", 30)
    await until(lambda: page.reliability.reliability is not None, "no calibration", 30)
    return page


async def test_judges_are_tested_against_the_annotators(studio: Studio, place: Path) -> None:
    _recorded(place, ("x", "y", "z"))
    page = await _opened(studio, place)
    panel = page.instead
    await until(lambda: panel.tested is not None, "not tested")
    results = page.context.results.results
    assert results is not None
    expected = run_alt_test(results.frame, 0.2)
    assert panel.tested == expected
    assert expected.neurons["good"].passes is True
    assert expected.neurons["poor"].passes is False
    rows = {row.name: row.extra for row in panel.table.figures.rows}
    assert [rows[name][0] for name in ("good", "poor")] == ["3 of 3", "0 of 3"]
    assert [rows[name][3] for name in ("good", "poor")] == ["yes", "no"]
    assert "3 annotators" in panel.fact.text()
    press(panel, "Annotators are: Crowd")
    await until(lambda: panel.tested is not None and panel.tested.epsilon == 0.1, "not tested again")
    assert "0.1" in panel.fact.text()


async def test_few_annotators_are_refused_in_words_and_none_hide_the_panel(studio: Studio, place: Path) -> None:
    _recorded(place, ("x", "y"))
    page = await _opened(studio, place)
    await until(lambda: page.instead.tested is not None, "not tested")
    assert "two annotators" in page.instead.words.text()
    assert page.instead.table.isHidden()


async def test_the_reliability_curve_of_each_source(studio: Studio, place: Path) -> None:
    _recorded(place, ("x",))
    page = await _opened(studio, place)
    assert page.instead.isHidden()
    panel = page.reliability
    results = page.context.results.results
    assert results is not None
    expected = run_reliability(results.frame)
    assert panel.reliability == expected
    votes = expected.sources["votes"]
    assert f"{votes.n} of {PAIRS} pairs" in panel.fact.text()
    assert panel.chart.isVisibleTo(panel)
    assert f"{100 * (votes.ece or 0):.1f} %" in panel.words.text()
    assert f"{votes.n_ties} pairs that people call a tie" in panel.note.text()
    press(panel, "The probability comes from: Scores")
    assert "no call gave scores" in panel.words.text()
    assert panel.chart.isHidden()
    press(panel, "The probability comes from: Learned")
    learned = expected.sources["learned"]
    assert f"{100 * (learned.ece or 0):.1f} %" in panel.words.text()
