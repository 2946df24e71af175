"""``judgenet rank``."""

from __future__ import annotations

import itertools
import json
import random
from math import exp
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]
SYSTEMS = ("[x]", "y", "z")


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Thirty questions with a pair of each two of three systems, labelled."""
    rng = random.Random(8)
    path = tmp_path / "three.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for i in range(30):
            for a, b in ((0, 1), (1, 2), (2, 0)):
                record = {"id": f"{i}-{a}{b}", "question": f"Why {i}?", "model_a": SYSTEMS[a], "model_b": SYSTEMS[b]}
                record |= {"response_a": f"So says {SYSTEMS[a]}.", "response_b": f"So says {SYSTEMS[b]}."}
                out.write(json.dumps({**record, "human": rng.choice(("a", "b", "tie"))}) + "\n")
    return path


def test_strengths_give_back_the_wins(judgenet: Judgenet, three: Path, at: At) -> None:
    """At the greatest likelihood the wins expected of each system are those it has, a tie counting half."""
    judgenet("run", "--pairs", three, *at, "--out", "out", "--width", 1, "--depth", 1, "--roles", "none")
    shown = judgenet("rank", "out", "--resamples", 200, "--json").json
    lines = judgenet("export", "out", "--what", "verdicts").lines
    judged = [line for line in lines if line["c2_all"]]
    assert (shown["n"], shown["questions"], shown["pairs"], shown["prior"]) == (len(judged), 30, 90, False)
    strengths = {system["name"]: system["b"] for system in shown["systems"]}
    assert set(strengths) == set(SYSTEMS)
    assert sum(strengths.values()) == pytest.approx(0, abs=1e-9)
    for system in shown["systems"]:
        wins = expected = 0.0
        for line in judged:
            i, a, b = line["pair_id"].partition("-")[0], *(int(x) for x in line["pair_id"].partition("-")[2])
            assert i.isdecimal()
            for mine, other, side in ((a, b, "a"), (b, a, "b")):
                if SYSTEMS[mine] == system["name"]:
                    wins += {side: 1.0, "tie": 0.5}.get(line["c2_all"], 0.0)
                    expected += 1 / (1 + exp(strengths[SYSTEMS[other]] - strengths[SYSTEMS[mine]]))
        assert wins == pytest.approx(expected)
        assert system["wins"] + system["ties"] / 2 == pytest.approx(wins)
        assert system["ci"][0] < system["rating"] < system["ci"][1]
    assert [system["rating"] for system in shown["human"]["systems"]] != []
    told = judgenet("rank", "out", "--resamples", 200)
    assert told.code == 0
    assert "[x]" in told.out
    assert "by people" in told.out


def test_without_systems_there_is_no_ranking(judgenet: Judgenet, pairs: Path, at: At) -> None:
    judgenet("run", "--pairs", pairs, *at, "--out", "out", "--width", 1, "--depth", 1, "--roles", "none")
    told = judgenet("rank", "out")
    assert (told.code, told.out) == (2, "")
    assert "model_a and model_b" in told.err


def test_the_table_of_wins_holds_every_game(judgenet: Judgenet, three: Path, at: At) -> None:
    judgenet("run", "--pairs", three, *at, "--out", "out", "--width", 2, "--depth", 1, "--roles", "none")
    shown = judgenet("rank", "out", "--resamples", 0, "--json").json
    lines = judgenet("export", "out", "--what", "verdicts").lines
    verdicts = {line["pair_id"]: line["c2_all"] for line in lines}
    matrix = shown["matrix"]
    for i, row in enumerate(matrix["systems"]):
        for j, column in enumerate(matrix["systems"]):
            wins = games = 0.0
            for pair, verdict in verdicts.items():
                a, b = (SYSTEMS[int(place)] for place in pair.partition("-")[2])
                if verdict and {a, b} == {row, column} and row != column:
                    games += 1
                    wins += 0.5 if verdict == "tie" else float((a if verdict == "a" else b) == row)
            assert (matrix["wins"][i][j], matrix["games"][i][j]) == (wins, games)
    assert shown["aggregations"].keys() == {"c1", "c2_l1", "c2_all"}
    own = shown["aggregations"]["c2_all"]
    assert own["order"] == matrix["systems"]
    assert own["ratings"] == {system["name"]: system["rating"] for system in shown["systems"]}
    assert (shown["reason"], shown["ties"]) == ("no intervals were asked for", "half")
    drop = judgenet("rank", "out", "--ties", "drop", "--resamples", 0, "--json").json
    ties = sum(verdict == "tie" for verdict in verdicts.values())
    assert ties > 0
    assert sum(map(sum, drop["matrix"]["wins"])) == sum(1 for verdict in verdicts.values() if verdict) - ties
    assert judgenet("rank", "out", "--ties", "some").code == 2


def test_a_judge_that_says_what_people_say_ranks_as_they_do(judgenet: Judgenet, tmp_path: Path) -> None:
    """Recorded judgments equal to the labels: an overlap of 1, and a circle that both have."""
    pairs, judgments = tmp_path / "pairs.jsonl", tmp_path / "judgments.jsonl"
    circle = {("x", "y"): "a", ("y", "z"): "a", ("x", "z"): "b", ("x", "w"): "a", ("y", "w"): "a", ("z", "w"): "a"}
    with pairs.open("w") as out, judgments.open("w") as said:
        for q in range(12):
            for (a, b), verdict in circle.items():
                record = {"id": f"{q}{a}{b}", "question": f"Why {q}?", "model_a": a, "model_b": b, "human": verdict}
                out.write(json.dumps({**record, "response_a": f"{a}!", "response_b": f"{b * q}."}) + "\n")
                said.write(
                    json.dumps({"pair_id": f"{q}{a}{b}", "judge": "j", "order": "ab", "verdict": verdict}) + "\n"
                )
    assert judgenet("import", judgments, "--pairs", pairs, "--out", "out").code == 0
    shown = judgenet("rank", "out", "--resamples", 20, "--json").json
    assert (shown["intransitive"], shown["triples"], shown["circles"]) == (1, 4, [["x", "y", "z"]])
    assert (shown["question_intransitive"], shown["question_triples"]) == (12, 48)
    assert shown["prior"]
    assert shown["systems"][-1]["name"] == "w"
    people = shown["against_people"]
    assert (people["pairs"], people["systems"], people["reason"]) == (72, 4, None)
    # x, y and z are tied by both: each order of one against each of the other.
    assert 0.8 < people["rbo"] < 1
    assert people["by_question"]["questions"] == people["by_question"]["total"] == 12
    told = judgenet("rank", "out", "--resamples", 20).out
    assert "x beats y beats z beats x" in told
    assert "Of 4 triples of systems 1 form a cycle (on single questions 12 of 48)" in told
    assert "Overlap with the ranking by people" in told


@pytest.mark.data
def test_people_of_cobbler_among_each_other(judgenet: Judgenet, tmp_path: Path, shared_data: Path) -> None:
    """Six people's rankings of 15 systems on 50 instructions overlap by .4780 (statistics 4.5); here as pairs."""
    people = json.loads((shared_data / "cobbler" / "human_rankings.json").read_text("utf-8"))["annotators"]
    pairs, judgments = tmp_path / "pairs.jsonl", tmp_path / "judgments.jsonl"
    with pairs.open("w") as out, judgments.open("w") as said:
        for q in range(50):
            place = [{name: rank for rank, name in enumerate(one[q])} for one in people]
            for a, b in itertools.combinations(sorted(place[0]), 2):
                annotators = {f"person {i}": "a" if of[a] < of[b] else "b" for i, of in enumerate(place)}
                record = {"id": f"{q}{a}{b}", "question": f"Why {q}?", "model_a": a, "model_b": b}
                texts = {"response_a": f"{a}!", "response_b": f"{b}."}
                out.write(json.dumps(record | texts | {"annotators": annotators}) + "\n")
                said.write(json.dumps({"pair_id": record["id"], "judge": "j", "order": "ab", "verdict": "a"}) + "\n")
    judgenet("import", judgments, "--pairs", pairs, "--out", "out")
    among = judgenet("rank", "out", "--resamples", 20, "--json").json["against_people"]["among_people"]
    assert among["rbo_not_extrapolated"] == pytest.approx(0.4780, abs=5e-5)
    assert (among["questions"], among["total"]) == (750, 750)


def test_systems_that_never_met(judgenet: Judgenet, tmp_path: Path) -> None:
    pairs, judgments = tmp_path / "pairs.jsonl", tmp_path / "judgments.jsonl"
    with pairs.open("w") as out, judgments.open("w") as said:
        for q in range(12):
            a, b = ("x", "y") if q % 2 else ("p", "q")
            record = {"id": str(q), "question": f"Why {q}?", "model_a": a, "model_b": b}
            out.write(json.dumps({**record, "response_a": "!", "response_b": "."}) + "\n")
            verdict = "a" if q % 3 else "b"
            said.write(json.dumps({"pair_id": str(q), "judge": "j", "order": "ab", "verdict": verdict}) + "\n")
    judgenet("import", judgments, "--pairs", pairs, "--out", "out")
    shown = judgenet("rank", "out", "--resamples", 20, "--json").json
    assert set(map(frozenset, shown["groups"])) == {frozenset("xy"), frozenset("pq")}
    assert shown["prior"]
    assert any("2 groups that never met" in note for note in shown["notes"])
    assert shown["against_people"]["rbo"] is None
    assert "no pair has both" in shown["against_people"]["reason"]
    even = shown["systems"][0]["at_equal_length"]
    # All responses are equally long: the rate is that of the wins.
    assert even["value"] == pytest.approx(shown["systems"][0]["win_rate"])
    assert "Group 2: " in judgenet("rank", "out", "--resamples", 20).out
