"""``judgenet preflight`` over HTTP, and before a run."""

from __future__ import annotations

import json
from pathlib import Path

from judgenet.core.preflight import preflight_pairs
from tests.fakes.judge_server import Entry, JudgeServer
from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]
CALLS = 20
REQUESTS = 19
"""The same text twice makes the same question in both orders, which is asked once."""


def scores(entry: Entry) -> tuple[float, float]:
    """The two scores that the judge gave, in the order in which it saw the responses."""
    assert entry.answer is not None
    one, other = (float(value) for value in json.loads(entry.answer).values() if isinstance(value, int | float))
    return one, other


def test_it_asks_ten_pairs_in_both_orders_and_counts_what_came_back(
    judgenet: Judgenet, at: At, server: JudgeServer
) -> None:
    ran = judgenet("preflight", *at, "--json")
    assert server.requests == REQUESTS
    (model,) = ran.json["models"]
    assert (model["model"], model["calls"], model["scored"]) == ("judge", CALLS, CALLS)
    checks = {check["key"]: check for check in model["checks"]}
    # Recounted from what the server was asked and said.
    clear = preflight_pairs()[0].pair
    asked = [entry for entry in server.log if clear.response_b in entry.messages[-1]["content"]]
    hits = 0
    for entry in asked:
        text = entry.messages[-1]["content"]
        one, other = scores(entry)
        hits += one > other if text.index(clear.response_a) < text.index(clear.response_b) else other > one
    assert len(asked) == 4
    assert (checks["plain"]["hits"], checks["plain"]["n"]) == (hits, 4)
    assert ran.code == (1 if ran.json["light"] == "red" else 0)


def test_the_table_says_what_each_light_means(judgenet: Judgenet, at: At) -> None:
    ran = judgenet("preflight", *at)
    assert "judge at 127.0.0.1" in ran.out
    assert "Answers can be read: 20 of 20 answers could be read." in ran.out
    assert "Calls will come back as verdicts." in ran.out
    assert "price unknown" in ran.out
    assert "\x1b" not in ran.out


def test_a_red_model_stops_the_run_before_anything_is_sent(
    judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer
) -> None:
    server.judge.settings.faults = {"off_scale": 1.0}
    ran = judgenet("run", "--pairs", pairs, *at, "--out", "out", "--preflight", "-q")
    assert ran.code == 1
    assert server.requests == REQUESTS
    assert "Nothing of the run was sent" in ran.err
    assert "0 of 20 answers could be read; scores outside the scale (20)." in ran.err


def test_an_endpoint_that_takes_no_key_is_asked_once(judgenet: Judgenet, server: JudgeServer, at: At) -> None:
    server.judge.settings.key = "right"
    ran = judgenet("preflight", *at, "--json")
    assert (ran.code, server.requests) == (1, 1)
    (model,) = ran.json["models"]
    assert (model["light"], model["scored"]) == ("red", 0)
    assert "key" in model["message"].lower()


def test_a_recorded_run_cannot_be_tried(judgenet: Judgenet, pairs: Path, at: At) -> None:
    judgenet("run", "--pairs", pairs, *at, "--out", "out", "--width", "1", "--depth", "1", "--roles", "none")
    ran = judgenet("preflight", "--endpoint", "replay:out")
    assert ran.code == 2
    assert "recorded" in ran.err


def test_it_wants_a_model(judgenet: Judgenet) -> None:
    ran = judgenet("preflight", "--endpoint", "openai")
    assert ran.code == 2
    assert "--model MODEL" in ran.err
