"""``judgenet run`` as a user meets it: progress, results, exit codes, and errors that say what to do."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from judgenet.cli.progress import Reporter
from judgenet.core.events import EndpointChanged
from judgenet.core.network import ChairSpec, LayerSpec, NetworkSpec, NeuronSpec, RolesSpec, Settings
from judgenet.core.project import Project
from judgenet.store.db import Store
from judgenet.store.files import load_project, save_project
from judgenet.store.runs import run_info
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]
CALLS = 4 * 13
"""Four pairs, two layers of three neurons in both orders, and the roles of each pair."""


def test_a_run_tells_pairs_and_figures(judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer) -> None:
    ran = judgenet("run", "--pairs", pairs, *at, "--out", "out")
    assert ran.code == 0
    assert server.requests == CALLS
    told = ran.err.splitlines()
    assert told[0].startswith("note: A 1, B 1, tie 1 of 3 labelled pairs")
    assert told[1].startswith("Estimate: 52 calls")
    assert told[2] == "run-1: 4 pairs, about 52 calls"
    # Pairs finish in the order in which their answers come.
    assert sorted(line.split(":")[0] for line in told if line.startswith("pair ")) == [f"pair p{i}" for i in range(4)]
    assert "(12 of 12 calls used)" in ran.err
    assert "\x1b" not in ran.out + ran.err
    assert "4/4 pairs · 52/52 calls" in ran.err
    shown = ran.out.splitlines()
    assert shown[0] == "run-1 (done): 4 of 4 pairs finished, 3 with a human label"
    assert [line.split()[0] for line in shown[2:6]] == ["c1", "c2_l1", "c2_l2", "c2_all"]
    assert all("3 of 4" in line for line in shown[2:6])


def test_a_run_has_a_name_and_a_note(judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer) -> None:
    command = ("run", "--pairs", pairs, *at, "--out", "out")
    first = judgenet(*command, "--json").json
    assert (first["name"], first["note"]) == ("", "")
    # The same again is the same run, which has a name from now on; it costs nothing.
    named = judgenet(*command, "--name", "Baseline [May]", "--note", "before the new prompts", "--json").json
    assert (named["run"], named["name"], named["note"]) == ("run-1", "Baseline [May]", "before the new prompts")
    assert server.requests == CALLS
    assert judgenet("metrics", "out").out.startswith("run-1 “Baseline [May]”, before the new prompts (done): 4 of 4")
    shown = judgenet("compare", "out", "out", "--json").json
    assert (shown["first"]["name"], shown["second"]["note"]) == ("Baseline [May]", "before the new prompts")
    about = judgenet("report", "out", "-o", "report.json")
    assert about.code == 0
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert (report["about"]["name"], report["about"]["note"]) == ("Baseline [May]", "before the new prompts")
    # A start that says nothing of it leaves it.
    assert judgenet(*command, "--json").json["name"] == "Baseline [May]"


def test_unscored_answers_are_asked_for_again(judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer) -> None:
    command = ("run", "--pairs", pairs, *at, "--out", "out", "--json")
    server.set(faults={"prose": 0.3}, seed=2)
    first = judgenet(*command).json
    unscored = sum(first["calls"]["unscored"].values())
    assert unscored > 0
    asked = server.requests
    server.set(faults={})
    assert judgenet(*command).json["calls"]["unscored"] == first["calls"]["unscored"]
    assert server.requests == asked
    again = judgenet(*command, "--retry-unscored").json
    assert (again["state"], again["calls"]["unscored"]) == ("done", {})
    assert server.requests >= asked + unscored
    calls = judgenet("export", "out", "--what", "calls").lines
    assert sum(len(call["earlier_answers"]) for call in calls) >= 1


def test_there_must_be_a_run_whose_unscored_answers_are_asked_for(
    judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer
) -> None:
    refused = judgenet("run", "--pairs", pairs, *at, "--out", "out", "--retry-unscored")
    assert refused.code == 2
    assert "--retry-unscored: out holds no run yet. Run the same command without it first." in refused.err
    assert (server.requests, Path("out").exists()) == (0, False)


def test_the_same_command_resumes(judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer) -> None:
    command = ("run", "--pairs", pairs, *at, "--out", "out", "--json")
    first = judgenet(*command, "--max-calls", 20)
    assert (first.code, first.json["state"], server.requests) == (3, "budget", 20)
    assert "the same command goes on" in first.err
    second = judgenet(*command)
    assert (second.code, second.json["state"], server.requests) == (0, "done", CALLS)
    assert second.json["cost"]["calls_new"] == CALLS
    third = judgenet(*command)
    assert (third.code, server.requests) == (0, CALLS)
    assert third.json == second.json
    assert "4 of them done before" in third.err
    assert server.judge.paid_again == 0


def test_a_run_stops_itself_when_enough_is_known(
    judgenet: Judgenet, tmp_path: Path, at: At, server: JudgeServer
) -> None:
    records = [
        {"id": f"p{i}", "question": f"Q {i}?", "response_a": f"{i}", "response_b": "no", "human": "a"}
        for i in range(80)
    ]
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(of) + "\n" for of in records), encoding="utf-8")
    command = ("run", "--pairs", "many.jsonl", *at, "--width", 1, "--depth", 1, "--roles", "none", "--out", "out")
    # Half of the verdicts are right by this judge: the interval is soon narrow enough.
    ran = judgenet(*command, "--until", "width <= 0.6 or c2_all excludes 50%")
    assert ran.code == 0
    assert "enough: Enough is known (width <= 0.6 or c2_all excludes 50%): win rate by" in ran.err
    assert "the same command without --until" in ran.err
    figures = judgenet("metrics", "out", "--json").json
    assert figures["state"] == "enough"
    pairs = figures["pairs"]
    assert pairs["total"] == 80
    assert 0 < pairs["not_asked"] < 80 - pairs["finished"] + 1
    assert f"Not asked: {pairs['not_asked']} pairs." in figures["message"]
    assert server.requests == figures["calls"]["all"]
    # Pairs that were not asked are in no figure.
    assert figures["aggregations"]["c2_all"]["n_used"] <= pairs["finished"]
    assert f"{pairs['not_asked']} not asked" in judgenet("metrics", "out").out
    # The interval of the stop is that of the pairs that counted then; later ones of the same run may count by now.
    kept, now = figures["until"], judgenet("metrics", "out", "--anytime", "--json").json["anytime"]
    assert (kept["met"], kept["rule"], kept["n_total"]) == (True, "width <= 0.6 or c2_all excludes 50%", 80)
    assert now["order"] == "drawn"
    assert kept["pairs"] <= now["n"] <= pairs["finished"]
    shown = judgenet("rate", "out", "--anytime")
    assert f"Valid at any time, however often you look: {now['n']} of 80 pairs count" in shown.out
    assert "c2_all win rate" in shown.out
    rest = judgenet(*command, "--json")
    assert (rest.code, rest.json["state"], rest.json["pairs"]["not_asked"]) == (0, "done", 0)
    assert server.requests == 160
    for rule, words in (("c9 excludes 50%", "--until 'c9 excludes 50%' looks at c9"), ("soon", "--until 'soon' is no")):
        refused = judgenet(*command, "--until", rule)
        assert (refused.code, words in refused.err) == (2, True)


def test_quiet_json_is_one_object_and_nothing_else(judgenet: Judgenet, pairs: Path, at: At) -> None:
    ran = judgenet("run", "--pairs", pairs, *at, "--out", "out", "--json", "--quiet")
    assert ran.err == ""
    figures = ran.json
    assert figures["run"] == "run-1"
    assert figures["place"] == "out"
    assert figures["pairs"] == {"total": 4, "finished": 4, "labelled": 3, "not_asked": 0}
    assert figures["aggregations"].keys() == {"c1", "c2_l1", "c2_l2", "c2_all"}


def test_quiet_says_why_a_run_stopped(judgenet: Judgenet, pairs: Path, at: At) -> None:
    ran = judgenet("run", "--pairs", pairs, *at, "--out", "out", "--quiet", "--max-calls", 3)
    assert (ran.code, ran.err) == (3, "judgenet: budget: Stopped by the limit: 3 of 3 calls used.\n")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals to send to oneself")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_interrupted_it_keeps_what_is_finished(
    judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer, name: str
) -> None:
    number = signal.Signals[name]

    def interrupt() -> None:
        until = time.monotonic() + 30
        while server.requests < 20 and time.monotonic() < until:
            time.sleep(0.002)
        server.set(latency=60.0)
        time.sleep(0.1)
        os.kill(os.getpid(), number)

    server.set(latency=0.01)
    others = [signal.SIGTERM, signal.SIGHUP]
    before = [signal.signal(other, signal.SIG_DFL) for other in others]
    # Tests that a script starts in the background would otherwise not hear of it.
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)
    helper = threading.Thread(target=interrupt)
    helper.start()
    ran = judgenet("run", "--pairs", pairs, *at, "--out", "out", "-j", "4", "--json")
    helper.join()
    signal.signal(signal.SIGINT, heard)
    assert [signal.signal(*of) for of in zip(others, before, strict=True)] == [signal.SIG_DFL, signal.SIG_DFL]
    assert (ran.code, ran.json["state"]) == (130, "cancelled")
    assert "The same command goes on from here" in ran.err
    kept = ran.json["calls"]["all"]
    assert 0 < kept < CALLS
    server.set(latency=0.0)
    sent = server.requests
    again = judgenet("run", "--pairs", pairs, *at, "--out", "out", "--json")
    assert (again.code, server.requests - sent) == (0, CALLS - kept)


def test_events_are_lines_of_json_in_the_past_tense(judgenet: Judgenet, pairs: Path, at: At) -> None:
    assert judgenet("run", "--pairs", pairs, *at, "--out", "out", "--events", "told/events.jsonl").code == 0
    text = Path("told/events.jsonl").read_text(encoding="utf-8")
    events = [json.loads(line) for line in text.splitlines()]
    assert (events[0]["event"], events[0]["pairs"], events[0]["calls_planned"]) == ("run_started", 4, 52)
    assert events[-1]["event"] == "run_finished"
    kinds = [event["event"] for event in events]
    assert (kinds.count("call_started"), kinds.count("call_finished")) == (CALLS, CALLS)
    assert (kinds.count("roles_found"), kinds.count("layer_finished"), kinds.count("pair_finished")) == (4, 8, 4)


def test_the_key_itself_appears_nowhere(
    judgenet: Judgenet, pairs: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Neither the right one nor one that the server repeats in its refusal."""
    wrong, right = "kx-" + "wrong0" * 6, "kx-" + "right1" * 6
    server.set(key=right)
    where = ("--base-url", server.url, "--model", "judge", "--api-key-env", "THE_JUDGE_KEY", "--out", "out")
    command = ("run", "--pairs", pairs, *where, "--events", "events.jsonl")
    monkeypatch.setenv("THE_JUDGE_KEY", wrong)
    refused = judgenet(*command)
    assert (refused.code, server.requests) == (1, 1)
    assert "HTTP 401" in refused.err
    monkeypatch.setenv("THE_JUDGE_KEY", right)
    ran = judgenet(*command)
    assert ran.code == 0
    exported = judgenet("export", "out", "--what", "calls")
    told = [refused.out, refused.err, ran.out, ran.err, exported.out, exported.err]
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 4
    for key in (wrong, right):
        assert server.log[-1].headers["authorization"] == f"Bearer {right}"
        assert not any(key in text for text in told)
        assert not any(key.encode() in data for data in written)
    assert load_project(Path("out/run.judgenet")).endpoints[0].api_key == "THE_JUDGE_KEY"


def calls_of(server: JudgeServer) -> list[str]:
    return [entry.messages[-1]["content"] for entry in server.log]


@pytest.mark.parametrize(
    ("options", "calls"),
    [
        (("--width", 2, "--depth", 1), 4 * 5),
        (("--width", 4, "--depth", 1, "--roles", "none", "--orders", "ab"), 4 * 4),
        (("--width", "auto", "--depth", 2), 4 * 13),
        (("--width", 1, "--depth", 3, "--roles", "none"), 4 * 6),
        (("--samples", 3, "--width", 1, "--depth", 1, "--roles", "none"), 4 * 6),
        (("--orders", "random", "--width", 3, "--depth", 1, "--roles", "none"), 4 * 3),
        (("--wiring", "window", "--width", 3, "--depth", 2), 4 * 13),
        (("--chair",), 4 * 15),
        (("--limit", 2), 2 * 13),
        (("--limit", 3, "--pick", "random", "--seed", 5, "--width", 1, "--depth", 1), 3 * 3),
    ],
)
def test_options_shape_the_network(
    judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer, options: Sequence[object], calls: int
) -> None:
    ran = judgenet("run", "--pairs", pairs, *at, "--out", "out", *options, "--json")
    assert (ran.code, server.requests) == (0, calls)


def test_parameters_are_sent_as_given(judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer) -> None:
    judgenet("run", "--pairs", pairs, *at, "--out", "out", "--temperature", 0.3, "--max-tokens", 200, "--limit", 1)
    roles, *judged = server.log
    assert {(entry.asked["temperature"], entry.asked["max_tokens"]) for entry in judged} == {(0.3, 200)}
    assert (roles.asked["temperature"], roles.asked["max_tokens"]) == (0.0, 200)
    server.judge.reset()
    judgenet("run", "--pairs", pairs, *at, "--out", "two", "--temperature", "default", "--limit", 1)
    assert not any("temperature" in entry.asked for entry in server.log[1:])


def test_roles_of_a_file_are_asked_in_order(
    judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer, tmp_path: Path
) -> None:
    (tmp_path / "roles.txt").write_text("Truth: Is it true?\nStyle: Is it well said?\n", encoding="utf-8")
    ran = judgenet("run", "--pairs", pairs, *at, "--out", "out", "--roles", "roles.txt", "--depth", 1)
    assert (ran.code, server.requests) == (0, 4 * 4)
    assert sum("Is it true?" in text for text in calls_of(server)) == 8
    exported = judgenet("export", "out", "--what", "roles").lines
    assert [(line["neuron"], line["role"]) for line in exported[:2]] == [(1, "Truth"), (2, "Style")]


def test_any_column_names_serve_through_a_mapping(
    judgenet: Judgenet, at: At, server: JudgeServer, tmp_path: Path
) -> None:
    """Semicolons, a BOM, Windows line ends, a line end within a cell, and a coding that nobody can guess."""
    text = '\ufeffNr;Frage;Erste;Zweite;Urteil\r\n007;"Was\r\nist das?";NA;"=1+1";0\r\n008;Wer?;null;-5;2\r\n'
    (tmp_path / "odd.csv").write_bytes(text.encode("utf-8"))
    command = ("run", "--pairs", "odd.csv", *at, "--out", "out", "--width", 1, "--depth", 1)
    columns = ("--map", "id=Nr,question=Frage", "--map", "response_a=Erste,response_b=Zweite,human=Urteil")
    twice = judgenet(*command, *columns, "--map", "question=Nr")
    assert (twice.code, "two columns for question" in twice.err) == (2, True)
    unmapped = judgenet(*command)
    assert unmapped.code == 2
    assert "'Frage', 'Erste'" in unmapped.err
    assert "--map question=" in unmapped.err
    unlabelled = judgenet(*command, *columns)
    assert unlabelled.code == 2
    assert "odd.csv" in unlabelled.err
    assert "'Urteil'" in unlabelled.err
    assert "'0' (1), '2' (1)" in unlabelled.err
    assert "--label-map" in unlabelled.err
    assert server.requests == 0
    ran = judgenet(*command, *columns, "--label-map", "0=tie", "--label-map", "1=a,2=b")
    assert (ran.code, server.requests) == (0, 2 * 3)
    verdicts = judgenet("export", "out", "--what", "verdicts").lines
    assert [(line["pair_id"], line["human"]) for line in verdicts] == [("007", "tie"), ("008", "b")]
    assert any("Was\r\nist das?" in text or "Was\nist das?" in text for text in calls_of(server))


@pytest.mark.data
def test_faireval_is_a_folder_of_four_files(judgenet: Judgenet, at: At, shared_data: Path, server: JudgeServer) -> None:
    ran = judgenet(
        "run", "--pairs", shared_data / "faireval", *at, "--out", "out", "--limit", 3, "--width", 1, "--json"
    )
    assert (ran.code, ran.json["pairs"]["labelled"], server.requests) == (0, 3, 3 * 5)


def panel() -> NetworkSpec:
    """A panel of two models with a chair, without roles."""
    neurons = (NeuronSpec(), NeuronSpec(settings=Settings(model="second")))
    return NetworkSpec((LayerSpec(neurons),), roles=RolesSpec(kind="none"), chair=ChairSpec())


def test_a_project_runs_beside_its_file(
    judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer, tmp_path: Path
) -> None:
    save_project(Project(name="study", network=panel(), salt="0123456789abcdef"), tmp_path / "study.judgenet")
    ran = judgenet("run", "study.judgenet", "--pairs", pairs, *at, "--json")
    assert (ran.code, server.requests) == (0, 4 * 6)
    assert {entry.model for entry in server.log} == {"judge", "second"}
    assert ran.json["place"] == "study.judgenet"
    assert "chair" in ran.json["aggregations"]
    with Store.open(tmp_path / "study.judgenet.db", readonly=True) as store:
        assert run_info(store).state == "done"
    for named in ("study.judgenet", "study.judgenet/run-1", "."):
        metrics = judgenet("metrics", named, "--json")
        assert (metrics.code, metrics.json["run"]) == (0, "run-1"), named
    assert judgenet("metrics", "run-1", "--project", "study.judgenet", "--json").code == 0
    assert judgenet("metrics", "run-1", "--json").code == 0


def test_another_design_is_another_run_of_the_same_place(judgenet: Judgenet, pairs: Path, at: At) -> None:
    judgenet("run", "--pairs", pairs, *at, "--out", "out", "--width", 2)
    assert judgenet("run", "--pairs", pairs, *at, "--out", "out", "--width", 1, "--json").json["run"] == "run-2"
    assert judgenet("metrics", "out", "--json").json["run"] == "run-2"
    assert judgenet("metrics", "out/run-1", "--json").json["run"] == "run-1"
    missing = judgenet("metrics", "out/run-3")
    assert (missing.code, "Runs: run-1, run-2." in missing.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--pairs", "none.csv"), ("none.csv", "no such file")),
        ((), ("--pairs FILE",)),
        (("more.jsonl",), ("more.jsonl is not a project", "repeat --pairs")),
        (("study.judgenet",), ("study.judgenet", "does not exist")),
        (("--endpoint", "opnai", "--model", "m"), ("'opnai'", "Did you mean 'openai'?")),
        (("--endpoint", "openai"), ("Which model of openai", "--model")),
        (("--endpoint", "azure", "--model", "m"), ("azure.base_url", "AZURE_OPENAI_ENDPOINT")),
        (("--base-url", "gpu:8000", "--model", "m"), ("--base-url", "http://")),
        (("--base-url", "http://gpu:8000"), ("--model",)),
        (("--base-url", "http://gpu:8000", "--model", "m", "--endpoint", "openai"), ("--endpoint", "--base-url")),
        (("--api-key-env", "A_KEY"), ("--base-url", "judgenet endpoint show")),
        (("--width", "0"), ("--width 0", "1 or more")),
        (("--width", "many"), ("--width many", "auto")),
        (("--depth", "0"), ("--depth",)),
        (("--orders", "abba"), ("--orders", "'both', 'ab', 'ba', 'random'")),
        (("--roles", "none.txt"), ("--roles none.txt", "no such file")),
        (("--temperature", "hot"), ("--temperature hot", "from 0 to 2")),
        (("--price", "free"), ("--price free", "0.15,0.60")),
        (("--base-url", "http://gpu:1", "--model", "m", "--budget", "5"), ("price of m", "--price", "--max-calls")),
        (("--map", "question"), ("question",)),
        (("--label-map", "1=first"), ("'1=first'", "value=a")),
        (("--endpoint", "replay:nowhere"), ("nowhere",)),
        (("--out", "pairs.jsonl"), ("pairs.jsonl", "Choose another folder")),
        (("--events", "pairs.jsonl/e"), ("--events pairs.jsonl/e", "cannot be written")),
        (("--no-such-option",), ("--no-such-option",)),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_bad_input_says_what_and_how_to_mend_it(
    judgenet: Judgenet, pairs: Path, options: Sequence[str], what: Sequence[str]
) -> None:
    given = options if "--pairs" in options or not options else ("--pairs", str(pairs), *options)
    ran = judgenet("run", *given)
    assert ran.code == 2
    for words in what:
        assert words in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""
    assert not Path("judgenet-run").exists()


def test_a_key_in_place_of_its_name_is_refused_and_not_repeated(judgenet: Judgenet, pairs: Path, at: At) -> None:
    key = "sk-" + "a1B2c3D4e5" * 4
    ran = judgenet("run", "--pairs", pairs, *at, "--out", "out", "--api-key-env", key)
    assert ran.code == 2
    assert "only its name belongs here" in ran.err
    assert key not in ran.err


def test_a_missing_key_names_the_variable(judgenet: Judgenet, pairs: Path) -> None:
    ran = judgenet("run", "--pairs", pairs, "--endpoint", "openai", "--model", "m", "--out", "out")
    assert ran.code == 1
    assert "OPENAI_API_KEY is not set" in ran.err
    assert ran.out.count("no pair has both a human label and a verdict") == 1


def test_a_store_in_use_is_left_alone(judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer) -> None:
    judgenet("run", "--pairs", pairs, *at, "--out", "out", "--max-calls", 2)
    with Store.open(Path("out/run.judgenet.db")):
        ran = judgenet("run", "--pairs", pairs, *at, "--out", "out")
        assert (ran.code, server.requests) == (1, 2)
        assert "another JudgeNet is running" in ran.err
        assert judgenet("metrics", "out").code == 0


def test_no_pairs_are_an_error(judgenet: Judgenet, at: At, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    ran = judgenet("run", "--pairs", "empty.jsonl", *at, "--out", "out")
    assert ran.code == 2
    assert "empty.jsonl" in ran.err


def test_faults_end_in_reasons_and_the_next_start_asks_them_again(
    judgenet: Judgenet, pairs: Path, server: JudgeServer, at: At
) -> None:
    command = (
        "run",
        "--pairs",
        pairs,
        "--endpoint",
        "judge",
        "--out",
        "out",
        "--roles",
        "none",
        "--width",
        1,
        "--json",
    )
    judgenet("endpoint", "add", "judge", *at, "--retries", 0)
    server.set(faults={"500": 0.4}, seed=2)
    first = judgenet(*command)
    failed = first.json["calls"]["unscored"]
    assert first.code == 0
    assert failed.keys() == {"server_error"}
    assert "without an answer, asked again next time" in first.err
    server.set(faults={})
    again = judgenet(*command)
    assert (again.code, again.json["calls"]["unscored"]) == (0, {})


@pytest.mark.parametrize(
    ("fault", "words"), [("html_200", "an HTML page (502 Bad Gateway)"), ("cut", "connection broke")]
)
def test_an_endpoint_that_fails_every_call_stops_the_run_early(
    judgenet: Judgenet, pairs: Path, server: JudgeServer, at: At, fault: str, words: str
) -> None:
    server.set(faults={fault: 1.0})
    ran = judgenet("run", "--pairs", pairs, *at, "--out", "out")
    assert ran.code == 1
    assert server.requests == 9
    first = next(line for line in ran.err.splitlines() if words in line)
    assert "Trying again" in first
    assert "The first 3 calls all failed" in ran.err
    assert "halted: " in ran.err
    server.set(faults={})
    again = judgenet("run", "--pairs", pairs, *at, "--out", "out", "--json")
    assert (again.code, again.json["calls"]["unscored"]) == (0, {})


def test_what_the_terminal_says_of_an_outage() -> None:
    told = io.StringIO()
    reporter = Reporter(Console(file=told, width=200), ["p1"])
    away = "paused: judge (127.0.0.1:8000) not reached since 08:12:03; next try in 8 s. Not reached (refused)."
    with reporter:
        reporter.take(EndpointChanged("run-1", "judge", "open", "judge keeps up again."))
        reporter.take(EndpointChanged("run-1", "judge", "away", away))
        reporter.take(EndpointChanged("run-1", "judge", "open", "judge answers again."))
        reporter.take(EndpointChanged("run-1", "judge", "failing", "a call failed"))
    assert told.getvalue().splitlines() == [away, "judge answers again.", "judge: a call failed"]


def test_patience_is_of_this_start_alone(judgenet: Judgenet, pairs: Path, at: At) -> None:
    assert judgenet("run", "--pairs", pairs, *at, "--out", "out", "--patience", 5).code == 0
    assert "patience" not in Path("out/run.judgenet").read_text(encoding="utf-8")
    assert judgenet("run", "--pairs", pairs, *at, "--out", "out", "--patience", -1).code == 2


def test_an_own_price_holds_a_budget(judgenet: Judgenet, pairs: Path, at: At) -> None:
    command = ("run", "--pairs", pairs, *at, "--out", "out", "--price", "100,200", "--json")
    ran = judgenet(*command, "--budget", "0.9")
    assert ran.code == 3
    assert 0 < ran.json["cost"]["price"] <= 0.9
    assert judgenet(*command).code == 0
