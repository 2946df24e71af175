"""More than two responses to a question, from the file to the ranking."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgenet.store.db import Store
from judgenet.store.files import load_project, store_path
from judgenet.store.runs import run_info
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]
SMALL = ("--width", "1", "--depth", "1", "--roles", "none")
QUESTIONS, SYSTEMS = 12, 5


@pytest.fixture
def many(tmp_path: Path) -> Path:
    path = tmp_path / "many.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for q in range(QUESTIONS):
            record = {"id": f"q{q}", "question": f"Why {q}?"}
            record |= {f"response_{k}": f"System {k} says {q * k}." for k in range(1, SYSTEMS + 1)}
            record |= {f"rank_{k}": k for k in range(1, SYSTEMS + 1)}
            out.write(json.dumps(record) + "\n")
    return path


def test_the_cost_is_known_before(judgenet: Judgenet, many: Path, at: At, server: JudgeServer) -> None:
    every = judgenet("estimate", "--pairs", many, *at, *SMALL, "--json").json
    assert every["systems"] == {
        "systems": 5,
        "questions": 12,
        "responses": 60,
        "matches": 120,
        "possible_matches": 120,
    }
    assert (every["pairs"], every["calls"]) == (120, [240, 240])
    some = judgenet("estimate", "--pairs", many, *at, *SMALL, "--matches", 6, "--json").json
    assert (some["pairs"], some["systems"]["matches"], some["systems"]["possible_matches"]) == (72, 72, 120)
    told = judgenet("estimate", "--pairs", many, *at, *SMALL, "--matches", "50%")
    assert "5 systems, 12 questions with 5 responses each: a sample of 60 of 120 pairs." in told.out
    assert server.requests == 0


def test_a_sample_is_judged_resumed_and_ranked(judgenet: Judgenet, many: Path, at: At, server: JudgeServer) -> None:
    command = ("run", "--pairs", many, *at, *SMALL, "--matches", 6, "--seed", 4, "--out", "out", "--json")
    names = ("--systems", "p,q,r,s,t")
    assert judgenet(*command, *names, "--max-calls", 50).code == 3
    ran = judgenet(*command, *names)
    assert (ran.code, server.requests) == (0, 2 * 72)
    assert server.judge.paid_again == 0
    project = load_project(Path("out/run.judgenet"))
    assert project.pairs is not None
    assert project.pairs.options == {"matches": 6, "seed": 4, "systems": ["p", "q", "r", "s", "t"]}
    # The project says all of it: the same run goes on.
    assert judgenet("run", "out/run.judgenet", "--json").code == 0
    assert server.requests == 2 * 72
    with Store.open(store_path(Path("out/run.judgenet")), readonly=True) as store:
        source = run_info(store).record["source"]
    assert (source["systems"], source["matches"], source["possible_matches"]) == (5, 72, 120)
    ranked = judgenet("rank", "out", "--json").json
    assert (ranked["pairs"], ranked["questions"]) == (72, 12)
    assert {system["name"] for system in ranked["systems"]} == set("pqrst")
    assert [system["name"] for system in ranked["human"]["systems"]] == list("pqrst")


def test_matches_are_chosen_until_ranks_are_separated(
    judgenet: Judgenet, many: Path, at: At, server: JudgeServer
) -> None:
    command = ("run", "--pairs", many, *at, *SMALL, "--matches", "auto", "--out", "out")
    ran = judgenet(*command)
    assert ran.code == 0
    # The judge tosses coins: twelve questions separate nobody, and no match is left for some neighbours.
    assert "enough: No match is left that could separate ranks further (--matches auto): 0 of 4" in ran.err
    asked = server.requests
    assert 0 < asked < 2 * 120
    assert judgenet(*command).code == 0
    assert server.requests == asked
    ranked = judgenet("rank", "out", "--resamples", 0, "--json").json
    separation = ranked["separation"]
    assert (separation["auto"], separation["separated"], separation["n_total"]) == (True, False, 120)
    assert separation["played"] * 2 == asked
    order = [system["name"] for system in ranked["systems"]]
    assert [of["better"] for of in separation["neighbours"]] == order[:-1]
    assert "the run chose its matches" in judgenet("rank", "out", "--resamples", 0).out
    both = judgenet(*command, "--until", "excludes 50%")
    assert (both.code, "--until and --matches auto both decide when to stop" in both.err) == (2, True)


def test_chosen_matches_are_replayed_from_a_recorded_run(
    judgenet: Judgenet, many: Path, at: At, server: JudgeServer
) -> None:
    """Nothing is asked, the same matches are played each time, and their verdicts are the recorded ones."""
    names = ("--systems", "p,q,r,s,t")
    assert judgenet("run", "--pairs", many, *at, *SMALL, *names, "--out", "whole").code == 0
    asked = server.requests
    played = []
    for out in ("one", "two"):
        command = ("run", "--pairs", many, "--endpoint", "replay:whole", "--matches", "auto", *names, "--out", out)
        assert judgenet(*command).code == 0
        lines = judgenet("export", out, "--what", "verdicts").lines
        played.append({line["pair_id"]: line["c2_all"] for line in lines if line["state"] == "done"})
    assert server.requests == asked
    assert played[0] == played[1]
    whole = {line["pair_id"]: line["c2_all"] for line in judgenet("export", "whole", "--what", "verdicts").lines}
    assert 0 < len(played[0]) < len(whole) == 120
    assert all(whole[pair] == verdict for pair, verdict in played[0].items())


def test_matches_need_systems(judgenet: Judgenet, pairs: Path, at: At) -> None:
    told = judgenet("run", "--pairs", pairs, *at, "--out", "out", "--matches", "auto")
    assert told.code == 2
    assert "--matches auto ranks systems, and the pairs name 0." in told.err


def test_a_file_of_pairs_has_no_matches(judgenet: Judgenet, pairs: Path, at: At) -> None:
    told = judgenet("run", "--pairs", pairs, *at, "--out", "out", "--matches", 3)
    assert (told.code, told.out) == (2, "")
    assert "--matches needs more than two responses" in told.err
    told = judgenet("run", "--pairs", pairs, *at, "--out", "out", "--matches", "few")
    assert told.code == 2
    assert "Cannot read 'few'" in told.err
