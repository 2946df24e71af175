"""The ranking of more than two systems on the page Results."""

from __future__ import annotations

import json
import random
from pathlib import Path

from PySide6.QtCore import Qt

from judgenet.core.pairs import Verdict
from judgenet.core.project import PairsSource, Project
from judgenet.formats import read_pairs
from judgenet.formats.judgments import read_judgments
from judgenet.store.db import Store
from judgenet.store.files import save_project, store_path
from judgenet.store.recorded import import_run, network_for, select
from judgenet.ui.app import Studio
from judgenet.ui.pages.results import ResultsPage
from judgenet.ui.results.ranking import RankingPanel
from tests.ui.conftest import settle, until
from tests.ui.person import key, press
from tests.ui.test_frame import nameless

QUESTIONS = 24


def recorded(place: Path, systems: int = 5, labels: bool = True) -> Path:
    """A project with the judgments of one recorded judge on all pairs of several systems; the first ones win more
    often, but for three that beat each other in a circle."""
    rng = random.Random(3)
    pairs, judgments = place / "pairs.jsonl", place / "judgments.jsonl"
    records = []
    for q in range(QUESTIONS):
        record = {"id": f"q{q}", "question": f"Why {q}?"}
        record |= {f"response_{k}": f"System {k} says {q}. " * (1 + (q + k) % 3) for k in range(1, systems + 1)}
        record |= {f"model_{k}": f"system <b>{k}</b>" for k in range(1, systems + 1)}
        record |= {f"rank_{k}": k for k in range(1, systems + 1)} if labels else {}
        records.append(record)
    if systems == 2:
        records = [
            {
                "id": record["id"],
                "question": record["question"],
                "response_a": record["response_1"],
                "response_b": record["response_2"],
                "model_a": "x",
                "model_b": "y",
            }
            for record in records
        ]
    pairs.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    dataset = read_pairs(pairs)
    said = []
    for pair in dataset.pairs:
        first, second = (int("".join(filter(str.isdigit, name or "")) or 0) for name in (pair.model_a, pair.model_b))
        a_is_better = first < second if {first, second} != {1, 3} else first > second
        right: Verdict = "a" if a_is_better else "b"
        wrong: Verdict = "b" if a_is_better else "a"
        verdict: Verdict = "tie" if rng.random() < 0.1 else right if rng.random() < 0.8 else wrong
        said.append({"pair_id": pair.id, "judge": "j", "order": "ab", "verdict": verdict})
    judgments.write_text("\n".join(map(json.dumps, said)), encoding="utf-8")
    selected = select(read_judgments([judgments]), dataset.pairs)
    path = place / "recorded.judgenet"
    save_project(Project.new("Recorded", network_for(selected), PairsSource((pairs.name,))), path)
    with Store.open(store_path(path)) as store:
        import_run(store, selected)
    return path


async def results_of(studio: Studio, path: Path) -> ResultsPage:
    studio.window.frame_actions.open_file(path)
    await studio.window.context.document.loaded()
    await until(lambda: studio.window.context.run_state.run is not None)
    studio.window.context.navigator.go("results")
    page = studio.window.page("results")
    assert isinstance(page, ResultsPage)
    return page


def shown(panel: RankingPanel) -> list[list[str]]:
    model = panel.table.figures
    return [
        [str(model.data(model.index(row, column)) or "") for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


async def test_systems_are_ranked_and_lead_to_their_pairs(studio: Studio, place: Path) -> None:
    page = await results_of(studio, recorded(place))
    panel = page.ranking
    await until(lambda: panel.ranked is not None, "the ranking")
    assert panel.isVisible()
    assert panel.ranked is not None
    ranking = panel.ranked.ranking.ranking
    rows = shown(panel)
    assert [row[0] for row in rows] == [system.name for system in ranking.systems]
    assert [row[1] for row in rows] == [f"{system.rating:,.0f}" for system in ranking.systems]
    assert [row[3] for row in rows] == [f"{one.wins}, {one.ties}, {one.losses}" for one in ranking.systems]
    assert all(" to " in row[2] for row in rows)
    # People ranked the systems by number.
    people = [float(row[6].replace(",", "").replace("−", "-")) for row in sorted(rows, key=lambda row: row[0])]
    assert people == sorted(people, reverse=True)
    words = panel.words.text()
    assert "1 of 10 triples of systems form a cycle: " in words
    assert "Overlap with the ranking by people" in words
    assert "Uncorrected" in words
    assert "120 judged pairs of 24 questions" not in panel.fact.text()
    assert "240 judged pairs of 24 questions" in panel.fact.text()
    panel.table.setFocus()
    panel.table.set_current(rows[1][0])
    key(panel.table, Qt.Key.Key_Return)
    await settle()
    assert page.pairs.isVisible()
    assert len(panel.ranked.pairs[rows[1][0]]) == 4 * QUESTIONS
    assert nameless(panel) == []


async def test_the_table_of_wins_adds_up(studio: Studio, place: Path) -> None:
    page = await results_of(studio, recorded(place, labels=False))
    panel = page.ranking
    await until(lambda: panel.ranked is not None, "the ranking")
    press(panel, "Ranking shows: Wins")
    await settle()
    assert not panel.chart.isVisible()
    cells = [row[1:] for row in shown(panel)]
    for i, row in enumerate(cells):
        assert row[i] == "–"
        for j, cell in enumerate(row):
            if i != j:
                (won, games), (lost, same) = (tuple(map(float, text.split("/"))) for text in (cell, cells[j][i]))
                assert games == same == won + lost == QUESTIONS
    assert "By people" not in [str(column.title) for column in panel.table.figures.columns]


async def test_two_systems_need_no_ranking(studio: Studio, place: Path) -> None:
    page = await results_of(studio, recorded(place, systems=2))
    await until(lambda: page.agreement.isVisible(), "results")
    await until(lambda: not studio.window.context.tasks.jobs, "no work")
    assert page.ranking.ranked is None
    assert not page.ranking.isVisible()
