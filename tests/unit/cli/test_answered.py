"""Stand-ins and quorums on the command line: what a run, its figures, its exports and its report say of them."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet


@pytest.fixture
def backup() -> Iterator[JudgeServer]:
    with JudgeServer(models=["second"]) as found:
        yield found


@pytest.fixture
def arguments(
    judgenet: Judgenet, server: JudgeServer, backup: JudgeServer, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> list[object]:
    """A run of two layers of two neurons at an endpoint with a key, with a stand-in at another."""
    monkeypatch.setenv("OWN_KEY", "right")
    server.set(key="right")
    judgenet("endpoint", "add", "own", "--base-url", server.url, "--model", "first", "--api-key-env", "OWN_KEY")
    judgenet("endpoint", "add", "backup", "--base-url", backup.url, "--model", "second")
    shape = ["--width", 2, "--depth", 2, "--roles", "none", "-j", 1]
    return ["run", "--pairs", pairs, "--out", "out", "--endpoint", "own", *shape, "--stand-in", "backup"]


def test_a_key_that_is_withdrawn_half_way(
    judgenet: Judgenet, server: JudgeServer, backup: JudgeServer, arguments: list[object]
) -> None:
    def withdraw() -> None:
        while server.requests < 9:
            time.sleep(0.001)
        server.set(key="other")

    thread = threading.Thread(target=withdraw, daemon=True)
    thread.start()
    ran = judgenet(*arguments, "--json")
    thread.join(10)
    assert ran.code == 0, ran.err
    assert "own (127.0.0.1:" in ran.err
    assert "Calls go to the stand-in backup/second." in ran.err
    calls = 4 * 8
    answered = Counter(entry.status for entry in server.log)[200]
    assert 9 <= answered < calls
    stood_in = ran.json["stand_ins"]
    assert (stood_in["calls"], stood_in["n_total"]) == (calls - answered, calls)
    assert sum(of["calls"] for of in stood_in["neurons"]) == calls - answered
    assert {(of["endpoint"], of["model"], of["n_total"]) for of in stood_in["neurons"]} == {("backup", "second", 8)}
    assert len([entry for entry in backup.log if entry.paid]) == calls - answered

    # The records say who answered each call, and the report how many.
    judgenet("export", "out", "--what", "calls", "-o", "calls.jsonl")
    records = [json.loads(line) for line in Path("calls.jsonl").read_text().splitlines()]
    assert Counter(record["model"] for record in records) == {"first": answered, "second": calls - answered}
    report = judgenet("report", "out", "-o", "report.md")
    assert report.code == 0, report.err
    sentence = f"{calls - answered} of {calls} calls were answered by a stand-in: backup/second {calls - answered}."
    assert Path("report.md").read_text().count(sentence) >= 1
    assert sentence in judgenet("metrics", "out").out
    assert judgenet("check", "out", "--require", f"stand_ins.calls <= {calls - answered}").code == 0
    assert judgenet("check", "out", "--require", "stand_ins.calls <= 0").code != 0

    # A replay of the run finds the answers of both, and says so again.
    replayed = judgenet("run", "--pairs", "pairs.jsonl", "--out", "again", "--endpoint", "replay:out", "--json").json
    assert replayed["calls"] == ran.json["calls"]
    assert (replayed["stand_ins"]["calls"], replayed["aggregations"]) == (stood_in["calls"], ran.json["aggregations"])

    # The key is back: nothing is left to ask, and nothing is asked.
    server.set(key="right")
    before = server.requests, backup.requests
    assert judgenet(*arguments, "-q").code == 0
    assert (server.requests, backup.requests) == before
    estimate = judgenet("estimate", *arguments[1:], "--json").json
    assert estimate["calls_recorded"] == calls
    assert "stand_in" in estimate


def test_pairs_without_a_quorum(judgenet: Judgenet, server: JudgeServer, pairs: Path) -> None:
    server.set(faults={"prose": 0.5}, seed=3)
    shape = ["--width", 3, "--depth", 1, "--roles", "none", "--orders", "ab", "--base-url", server.url, "--model", "m"]
    ran = judgenet("run", "--pairs", pairs, "--out", "out", *shape, "--quorum", 2, "--json")
    assert ran.code == 0, ran.err
    judgenet("export", "out", "--what", "calls", "-o", "calls.jsonl")
    calls = [json.loads(line) for line in Path("calls.jsonl").read_text().splitlines()]
    valid = Counter(call["pair_id"] for call in calls if call["verdict"] is not None)
    short = {name for name in ("p0", "p1", "p2", "p3") if valid[name] < 2}
    assert 0 < len(short) < 4, valid
    assert ran.json["quorum"] == {
        "neurons": 2,
        "without": dict.fromkeys(("c1", "c2_l1", "c2_all"), len(short)),
        "n_total": 4,
    }
    assert ran.json["aggregations"]["c2_all"]["n_unjudged"] == len(short - {"p3"})
    for name in short:
        assert f"pair {name}: c1 no quorum  c2_l1 no quorum  c2_all no quorum" in ran.err

    judgenet("export", "out", "--what", "verdicts", "-o", "verdicts.jsonl")
    verdicts = {of["pair_id"]: of for of in map(json.loads, Path("verdicts.jsonl").read_text().splitlines())}
    assert {name for name, of in verdicts.items() if of["c2_all"] is None} == short
    assert {name for name, of in verdicts.items() if of["no_quorum"] == "c1 c2_l1 c2_all"} == short
    left = judgenet("export", "out", "--what", "preferences", "-o", "preferences.jsonl")
    without = "1 pair without a quorum" if len(short) == 1 else f"{len(short)} pairs without a quorum"
    assert without in left.out + left.err
    judgenet("report", "out", "-o", "report.md")
    text = Path("report.md").read_text()
    assert f"{len(short)} of 4 judged pairs have no verdict: fewer neurons" in text
    assert judgenet("check", "out", "--require", "quorum.without.c2_all <= 0").code != 0
    # Another rule costs no call: without a quorum each pair with a valid call has a verdict.
    before = server.requests
    again = judgenet("run", "--pairs", pairs, "--out", "out", *shape, "--json")
    assert server.requests == before
    assert "quorum" not in again.json


def test_what_cannot_be_used(judgenet: Judgenet, server: JudgeServer, pairs: Path) -> None:
    base = ["run", "--pairs", pairs, "--base-url", server.url, "--model", "m", "--width", 2, "--depth", 1]
    for options, words in {
        ("--quorum", "5"): "The quorum is 5 neurons, but c2_all rests on 2 neurons",
        ("--quorum", "0"): "greater than or equal to 1",
        ("--stand-in", "gone/m"): "There is no endpoint 'gone'",
        ("--stand-in", "a b"): "--stand-in: 'a b' is no stand-in: write ENDPOINT/MODEL",
        ("--stand-in", "a/m after=soon"): "after=soon must be a number of seconds",
    }.items():
        ran = judgenet(*base, *options)
        assert ran.code == 2
        assert words in " ".join(ran.err.split())
    assert server.requests == 0


def test_an_experiment_with_a_stand_in_and_a_quorum(
    judgenet: Judgenet, server: JudgeServer, backup: JudgeServer, pairs: Path
) -> None:
    """The own endpoint wants a key that nobody has: the stand-in answers all. Half of its answers cannot be read."""
    server.set(key="right")
    backup.set(faults={"prose": 0.5}, seed=3)
    judgenet("endpoint", "add", "own", "--base-url", server.url, "--model", "first")
    judgenet("endpoint", "add", "backup", "--base-url", backup.url, "--model", "second")
    asked = ["experiment", "main-table", "--pairs", pairs, "--out", "paper", "--endpoint", "own", "--width", 3]
    ran = judgenet(*asked, "--stand-in", "backup", "--quorum", 4, "--json")
    assert ran.code == 0, ran.err
    (found,) = ran.json["sets"]
    answered = len([entry for entry in backup.log if entry.paid])
    stood_in = found["calls"]["stand_ins"]
    assert stood_in == {"calls": answered, "n_total": answered, "models": {"backup/second": answered}}

    rows = {row["row"]: row for row in found["rows"]}
    # A single neuron, a layer of three, and the two layers together: never more than there are.
    assert {key: row["quorum"] for key, row in rows.items()} == {
        "faireval": 1,
        "widedeep.c1": 4,
        "widedeep.c2_l1": 3,
        "widedeep.c2_l2": 3,
        "widedeep.c2_all": 4,
    }
    # Recounted from the calls of the network's run.
    exported = judgenet("export", "paper/run-2", "--what", "calls", "-o", "calls.jsonl")
    assert exported.code == 0, exported.err
    calls = [json.loads(line) for line in Path("calls.jsonl").read_text().splitlines()]
    valid: dict[str, set[tuple[int, int]]] = {}
    for call in calls:
        if call["layer"] and call["verdict"] is not None:
            valid.setdefault(call["pair_id"], set()).add((call["layer"], call["neuron"]))
    names = {call["pair_id"] for call in calls}
    short = sum(len(valid.get(name, ())) < 4 for name in names)
    short_layer = sum(len({of for of in valid.get(name, ()) if of[0] == 1}) < 3 for name in names)
    assert short_layer > 0
    assert (rows["widedeep.c2_all"]["no_quorum"], rows["widedeep.c2_l1"]["no_quorum"]) == (short, short_layer)
    text = Path("paper/main-table/table.md").read_text()
    assert f"{answered} of {answered} answered calls are those of stand-ins: backup/second {answered}." in text
    assert "judged pairs without a verdict for want of a quorum" in text
    assert "A verdict needs valid answers of 4 neurons" in Path("paper/main-table/method.md").read_text()

    # Without a quorum nothing is asked again, and no row names one.
    before = backup.requests
    again = judgenet(*asked, "--stand-in", "backup", "--json").json["sets"][-1]
    assert all("quorum" not in row and "no_quorum" not in row for row in again["rows"])
    assert again["calls"]["asked_this_time"] == backup.requests - before


def test_a_preflight_tries_the_stand_in_by_itself(judgenet: Judgenet, server: JudgeServer, backup: JudgeServer) -> None:
    server.set(key="right")
    judgenet("endpoint", "add", "own", "--base-url", server.url, "--model", "first")
    judgenet("endpoint", "add", "backup", "--base-url", backup.url, "--model", "second")
    ran = judgenet("preflight", "--endpoint", "own", "--stand-in", "backup", "--json")
    first, second = ran.json["models"]
    # A stand-in does not answer for the model that is tried.
    assert (first["model"], first["scored"]) == ("first", 0)
    assert (second["model"], second["scored"], second["endpoint"]) == ("second", 20, "backup")
    assert {entry.model for entry in backup.log} == {"second"}
    assert judgenet("preflight", "--endpoint", "own", "--stand-in", "backup after=never").code == 2
