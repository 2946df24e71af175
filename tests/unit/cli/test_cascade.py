"""``--stop-when``, what a run with stop rules says of itself, and ``judgenet cascade`` on runs that asked more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgenet.api import open_run
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]


@pytest.fixture
def many(tmp_path: Path) -> Path:
    path = tmp_path / "many.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for i in range(24):
            line = {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"So {i}.", "response_b": "Because."}
            out.write(json.dumps(line | {"human": "ab"[i % 2]}) + "\n")
    return path


@pytest.fixture
def options(many: Path, at: At, tmp_path: Path) -> tuple[object, ...]:
    roles = tmp_path / "roles.json"
    roles.write_text(json.dumps([{"name": name, "description": "Reads."} for name in ("X", "Y")]), encoding="utf-8")
    return ("--pairs", many, *at, "--depth", 3, "--roles", roles, "--price", "1,2")


def requests(server: JudgeServer) -> int:
    return len(server.log)


def test_a_run_says_how_far_its_pairs_went_and_what_was_saved(
    judgenet: Judgenet, options: tuple[object, ...], server: JudgeServer, tmp_path: Path
) -> None:
    rule = ("--stop-when", "orders-agree")
    before = judgenet("estimate", *options, *rule, "--json").json
    assert before["calls"] == [24 * 4, 24 * 12]
    assert "expected" not in before
    ran = judgenet("run", *options, *rule, "--out", "out")
    assert ran.code == 0, ran.err
    assert "decided early after layer 1" in ran.out + ran.err
    sent = requests(server)
    assert 24 * 4 < sent < 24 * 12
    found = judgenet("metrics", "out", "--json").json["cascade"]
    asked = [stage["asked"] for stage in found["stages"]]
    assert [stage["name"] for stage in found["stages"]] == ["layer 1", "layer 2", "layer 3"]
    assert [stage["rule"] for stage in found["stages"]] == ["never", "orders-agree", "orders-agree"]
    assert asked[0] == 24 > asked[1] > asked[2]
    assert [stage["decided"] for stage in found["stages"]] == [asked[0] - asked[1], asked[1] - asked[2], 0]
    assert [stage["calls"] for stage in found["stages"]] == [4 * count for count in asked]
    assert (found["calls"], found["calls_most"], found["n_total"]) == (sent, 24 * 12, 24)
    assert found["calls_saved"] == pytest.approx(1 - sent / (24 * 12))
    assert found["decided_early"] == 24 - asked[2]
    costs = judgenet("metrics", "out", "--json").json["cost"]
    assert found["price"] == pytest.approx(costs["price_known"])
    assert found["price_saved"] > 0
    assert any(
        "about the pairs on which the earlier ones were unsure" in note
        for note in judgenet("metrics", "out", "--json").json["notes"]
    )
    text = judgenet("metrics", "out").out
    assert f"Decided early: {found['decided_early']} of 24 pairs." in text
    lines = judgenet("export", "out", "--what", "verdicts").lines
    assert [line["stopped_after"] for line in lines].count(None) == asked[2]
    table = open_run(tmp_path / "out").pairs
    stopped = [None if of != of else of for of in table["stopped_after"].tolist()]
    assert stopped == [line["stopped_after"] for line in lines]
    assert table["decided_early"].sum() == found["decided_early"]
    report = judgenet("report", "out", "-o", "out.md", "-o", "out.csv", "-o", "out.json")
    assert report.code == 0, report.err
    text = (tmp_path / "out.md").read_text(encoding="utf-8")
    assert f"{found['decided_early']} of 24 pairs decided early" in text
    assert "both orders agree" in text
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["cascade"]["calls"] == sent
    assert "cascade,layer 2,asked" in (tmp_path / "out.csv").read_text(encoding="utf-8")
    curve = judgenet("curve", "out", "--json").json
    assert (curve["whole"], "had stop rules" in curve["reason"]) == (None, True)
    after = judgenet("estimate", *options, *rule, "--out", "out", "--json").json
    assert after["calls"] == [sent, sent]
    assert after["expected"]["calls"] == sent
    assert after["expected"]["stages"] == pytest.approx([count / 24 for count in asked])
    assert f"about {sent:,} calls" in " ".join(judgenet("estimate", *options, *rule, "--out", "out").out.split())
    judgenet("run", *options, *rule, "--out", "out")
    assert requests(server) == sent


def test_what_a_whole_run_would_have_said_is_what_the_cascade_says(
    judgenet: Judgenet, options: tuple[object, ...], server: JudgeServer, tmp_path: Path
) -> None:
    assert judgenet("run", *options, "--out", "whole").code == 0
    told = judgenet("cascade", "whole", "--stop-when", "orders-agree", "--json").json
    sent = requests(server)
    # Replayed from the whole run, the same calls are asked, and no other.
    replayed = ("--endpoint", "replay:whole", "--out", "again")
    ran = judgenet("run", "--pairs", options[1], *replayed, "--stop-when", "orders-agree")
    assert ran.code == 0, ran.err
    assert requests(server) == sent
    mine = judgenet("metrics", "again", "--json").json
    assert [stage["asked"] for stage in told["stages"]] == [stage["asked"] for stage in mine["cascade"]["stages"]]
    assert (told["calls"], told["calls_most"]) == (mine["cascade"]["calls"], mine["cascade"]["calls_most"])
    assert told["accuracy"] == mine["aggregations"]["c2_all"]["accuracy"]
    never, first, *_ = told["variants"]
    assert (never["rule"], never["calls_share"], never["difference"]) == ("never", 1.0, 0.0)
    assert never["accuracy"] == judgenet("metrics", "whole", "--json").json["aggregations"]["c2_all"]["accuracy"]
    assert (first["rule"], first["accuracy"]) == ("orders-agree", told["accuracy"])
    assert open_run(tmp_path / "whole").cascade("orders-agree").to_dict() == told


def test_what_cannot_be_asked_is_refused_in_words(judgenet: Judgenet, options: tuple[object, ...]) -> None:
    ran = judgenet("run", *options, "--stop-when", "agree")
    assert (ran.code, "is no stop rule" in ran.err) == (2, True)
    ran = judgenet("run", *options, "--stop-when", "decided after=9")
    assert ran.code == 2
    assert "after=9: nothing is asked after layer 9" in ran.err
    assert judgenet("run", *options, "--out", "whole").code == 0
    for words, message in (
        (("--first", "nobody", "--then", "nobody else"), "has no neuron named 'nobody'"),
        (("--first", "layer 1, neuron 1"), "--first and --then go together"),
        (("--first", "X", "--then", "X"), "has no neuron named 'X'"),
        (("--stop-when", "margin"), "is no stop rule"),
    ):
        ran = judgenet("cascade", "whole", *words)
        assert ran.code in (1, 2)
        assert message in " ".join(ran.err.split()), ran.err


def test_llmbar_by_the_command(judgenet: Judgenet, shared_data: Path, tmp_path: Path) -> None:
    """PaLM2 first, GPT-4 where its orders differ: .790 with 28 % of GPT-4's calls; GPT-4 alone .809
    (field-2026, section 5.2)."""
    folder = shared_data / "llmbar"
    where = ("--where", "task=LLMBar/*,prompt=Vanilla", "--out", "llmbar")
    imported = judgenet("import", folder / "judgments_short.jsonl", "--pairs", folder / "pairs.jsonl", *where)
    assert imported.code == 0, imported.err
    names = judgenet("metrics", "llmbar", "--json").json["neurons"]
    palm2, gpt4 = sorted((name for name in names if name.startswith(("PaLM2", "GPT-4"))), reverse=True)
    told = judgenet("cascade", "llmbar", "--first", palm2, "--then", gpt4, "--json").json
    assert told["accuracy"] == pytest.approx(0.790, abs=0.0005)
    assert told["last_accuracy"] == pytest.approx(0.809, abs=0.0005)
    assert told["stages"][1]["share"] == pytest.approx(0.28, abs=0.005)
    assert (told["n_used"], told["unknown"]) == (419, 0)
    assert told["price"] is None
    assert "no call with a known price is recorded" in told["reason"]
    mine = open_run(tmp_path / "llmbar").cascade("orders-agree", [[palm2], [gpt4]])
    assert mine.to_dict() == told
    assert "0.7900" in judgenet("cascade", "llmbar", "--first", palm2, "--then", gpt4).out
