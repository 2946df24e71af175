"""Design says how many labelled pairs a comparison takes: assumed at first, then from the runs of the project."""

from __future__ import annotations

import json
from pathlib import Path

from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.formats import read_pairs
from judgenet.formats.judgments import parse_conditions, read_judgments
from judgenet.stats.power import pairs_needed
from judgenet.store.files import save_project
from judgenet.store.recorded import import_run, select
from judgenet.ui.app import Studio
from judgenet.ui.pages.design import DesignPage
from tests.ui.conftest import settle, until

PAIRS = 80


def _judged(place: Path) -> None:
    """Two recorded judges on 80 pairs: the first is right on all but 16, the second on all but 8 others."""
    with (place / "pairs.jsonl").open("w", encoding="utf-8") as out:
        for i in range(PAIRS):
            pair = {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"So {i}.", "response_b": "Because."}
            out.write(json.dumps({**pair, "human": "a"}) + "\n")
    with (place / "said.jsonl").open("w", encoding="utf-8") as out:
        for i in range(PAIRS):
            for judge, wrong in (("one", i < 16), ("two", i >= PAIRS - 8)):
                verdict = "b" if wrong else "a"
                out.write(json.dumps({"pair_id": f"p{i}", "judge": judge, "order": "ab", "verdict": verdict}) + "\n")


async def test_the_note_follows_the_runs_of_the_project(studio: Studio, place: Path) -> None:
    _judged(place)
    path = place / "study.judgenet"
    save_project(Project.new("Study", network(1, 1), PairsSource(("pairs.jsonl",))), path)
    studio.window.frame_actions.open_file(path)
    context = studio.window.context
    context.navigator.go("design")
    page = studio.window.page("design")
    assert isinstance(page, DesignPage)
    note = page.comparison
    await until(lambda: note.isVisible(), "no note")
    assert f"{pairs_needed(0.03, 0.2):,} labelled pairs" in note.text()
    assert "20.0 % discordant, assumed" in note.text()

    pairs = read_pairs(place / "pairs.jsonl").pairs
    store = context.document.store
    assert store is not None
    for judge in ("one", "two"):
        selected = select(read_judgments([place / "said.jsonl"]), pairs, parse_conditions(f"judge={judge}"))
        import_run(store, selected)
    context.navigator.go("data")
    await settle()
    context.run_state.refresh_runs()
    context.navigator.go("design")
    await until(lambda: "two runs differ" in note.text(), "the runs are not seen")
    assert f"{pairs_needed(0.03, 24 / PAIRS):,} labelled pairs" in note.text()
    assert "30.0 %" in note.text()
    assert "24 of 80 labelled pairs" in note.toolTip()
    assert note.accessibleName().endswith("points.")
