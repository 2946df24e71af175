"""A run chooses its matches until ranks are separated; resumed or replayed it plays the same ones."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from judgenet.core.matches import MatchesError
from judgenet.core.network import Settings
from judgenet.core.pairs import Pair
from judgenet.core.presets import network
from judgenet.engine.budget import Limits
from judgenet.engine.ports import ChatRequest
from judgenet.figures.anytime import run_anytime
from judgenet.figures.ranking import run_ranking
from judgenet.figures.rates import run_rates
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.runs import run_info
from tests.unit.engine.harness import FakeEndpoint, Ran, pairs, run, site_of, start

SPEC = network(1, 1, roles="none", settings=Settings(endpoint="fake", model="judge", temperature=0.0))
QUESTIONS = 60
NAMES = "wxyz"


def matches() -> list[Pair]:
    return [
        Pair(f"{q}-{a}{b}", f"question {q}", f"{a} {q}", f"{b} {q}", model_a=a, model_b=b)
        for q in range(QUESTIONS)
        for a, b in combinations(NAMES, 2)
    ]


PAIRS = matches()


def later_letter_wins(request: ChatRequest) -> str:
    """The later letter wins, but for every ninth question."""
    site = site_of(request)
    pair = PAIRS[site.pair]
    number = int(pair.id.partition("-")[0])
    b_wins = number % 9 > 0
    a, b = (3, 8) if b_wins else (8, 3)
    first, second = (a, b) if site.order == "ab" else (b, a)
    return f'{{"evidence": "seen", "score_1": {first}, "score_2": {second}}}'


def rank(path: Path, **changes: object) -> Ran:
    return run(path, start(SPEC, PAIRS, auto_matches=True, **changes), FakeEndpoint(later_letter_wins))


def test_it_stops_when_each_is_separated_from_the_next(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    ran = rank(path)
    assert ran.finished.state == "enough"
    with Store.open(path, readonly=True) as store:
        info = run_info(store)
        frame = RunFrame.read(store, info)
    record = info.record["matches"]
    assert (record["kind"], record["separated"], record["order"]) == ("auto", True, ["z", "y", "x", "w"])
    judged = int(frame.judged.sum())
    assert record["played"] == judged < len(PAIRS) / 2
    assert len(ran.asked) == 2 * judged
    assert f"after {judged} of {len(PAIRS)} matches" in info.message
    assert f"Not asked: {len(PAIRS) - judged} pairs." in info.message
    # Which pairs it judged follows from their verdicts: they are no sample, and no rate over them is valid.
    always = run_anytime(frame, ("c2_all",))
    assert (always.n, always.waiting, always.aggregations["c2_all"].win_rate.value) == (0, judged, None)
    assert "chose its pairs by their verdicts" in always.notes[0]
    assert always.notes[0] in run_rates(frame, "c2_all").notes
    found = run_ranking(frame, "c2_all", resamples=0)
    assert [system.name for system in found.systems] == ["z", "y", "x", "w"]
    separation = found.separation
    assert (separation.auto, separation.separated, separation.played) == (True, True, judged)
    assert [(of.better, of.worse, of.separated) for of in separation.neighbours] == [
        ("z", "y", True), ("y", "x", True), ("x", "w", True),
    ]  # fmt: skip


def test_a_run_that_was_stopped_plays_the_same_matches_on(tmp_path: Path) -> None:
    whole = rank(tmp_path / "whole.db")
    path = tmp_path / "a.db"
    sites = set()
    calls = 0
    for most in (11, 40, 25, None):
        ran = rank(path, limits=Limits(max_calls=most))
        assert ran.finished.state == ("enough" if most is None else "budget")
        calls += len(ran.asked)
        sites |= {site_of(request) for request in ran.asked}
    assert calls == len(sites) == len(whole.asked)
    assert sites == {site_of(request) for request in whole.asked}
    again = rank(path)
    assert (again.finished.state, again.asked) == ("enough", [])
    # Without the option the other pairs are asked, and nothing twice.
    rest = run(path, start(SPEC, PAIRS), FakeEndpoint(later_letter_wins))
    assert rest.finished.state == "done"
    assert calls + len(rest.asked) == 2 * len(PAIRS)


def test_pairs_must_name_systems(tmp_path: Path) -> None:
    with pytest.raises(MatchesError, match="do not name two systems"):
        run(tmp_path / "a.db", start(SPEC, pairs(4), auto_matches=True), FakeEndpoint(later_letter_wins))
