"""``judgenet export``: the lines that other programs read."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]
CALL_FIELDS = [
    *("pair_id", "layer", "neuron", "role", "order", "sample", "endpoint", "model", "status", "reason"),
    *("score_a", "score_b", "evidence", "messages", "raw_text", "usage", "latency_s", "attempts", "cached"),
    "started_at",
]
VERDICT_FIELDS = [
    *("pair_id", "human", "c1", "c2_l1", "c2_l2", "c2_all", "chair", "mean_a", "mean_b"),
    *("votes_a", "votes_b", "votes_tie", "calls_used", "calls_total"),
]


@pytest.fixture
def run(judgenet: Judgenet, pairs: Path, at: At) -> None:
    assert judgenet("run", "--pairs", pairs, *at, "--out", "out", "--width", 2).code == 0


def in_order(names: list[str], record: dict[str, object]) -> bool:
    return [name for name in record if name in names] == names


def test_a_line_of_calls(run: None, judgenet: Judgenet, server: JudgeServer) -> None:
    lines = judgenet("export", "out", "--what", "calls").lines
    assert len(lines) == 4 * 9
    assert all(in_order(CALL_FIELDS, line) for line in lines)
    roles, first = lines[0], lines[1]
    assert (roles["layer"], roles["neuron"], roles["order"], roles["status"]) == (0, None, None, "roles")
    assert {(line["layer"], line["neuron"], line["order"]) for line in lines[1:9]} == {
        (layer, neuron, order) for layer in (1, 2) for neuron in (1, 2) for order in ("ab", "ba")
    }
    assert {line["sample"] for line in lines} == {1}
    asked = {entry.messages[-1]["content"]: entry for entry in server.log}
    for line in lines:
        entry = asked[line["messages"][-1]["content"]]
        assert line["messages"] == entry.messages
        assert line["raw_text"] == entry.answer
        assert line["usage"]["prompt_tokens"] == len(entry.messages[-1]["content"]) // 4
        assert (line["model"], line["returned_model"], line["attempts"], line["cached"]) == (
            *("judge", "judge-2026", 1),
            False,
        )
        assert abs(datetime.fromisoformat(line["started_at"]).timestamp() - entry.at) < 60
        assert line["latency_s"] > 0
    said = json.loads(first["raw_text"])
    assert (first["status"], first["reason"], first["order"]) == ("scored", None, "ab")
    assert (first["score_a"], first["score_b"], first["evidence"]) == (
        *(said["score_1"], said["score_2"]),
        said["evidence"],
    )
    other = next(line for line in lines if line["order"] == "ba")
    said = json.loads(other["raw_text"])
    assert (other["score_a"], other["score_b"]) == (said["score_2"], said["score_1"])


def test_a_line_of_verdicts(run: None, judgenet: Judgenet) -> None:
    """Means and votes are those of the exported calls."""
    calls = judgenet("export", "out", "--what", "calls").lines
    lines = judgenet("export", "out", "--what", "verdicts").lines
    assert [line["pair_id"] for line in lines] == ["p0", "p1", "p2", "p3"]
    assert [line["human"] for line in lines] == ["a", "b", "tie", None]
    for line in lines:
        assert in_order(VERDICT_FIELDS, line)
        scored = [call for call in calls if call["pair_id"] == line["pair_id"] and call["layer"]]
        assert line["mean_a"] == sum(call["score_a"] for call in scored) / 8
        assert line["mean_b"] == sum(call["score_b"] for call in scored) / 8
        higher = (line["mean_a"] > line["mean_b"]) - (line["mean_a"] < line["mean_b"])
        assert line["c1"] == {1: "a", 0: "tie", -1: "b"}[higher]
        assert line["votes_a"] + line["votes_b"] + line["votes_tie"] == 4
        assert (line["calls_used"], line["calls_total"], line["chair"]) == (8, 8, None)


def test_what_is_outstanding_is_null(judgenet: Judgenet, pairs: Path, at: At) -> None:
    assert judgenet("run", "--pairs", pairs, *at, "--out", "out", "--max-calls", 4).code == 3
    for line in judgenet("export", "out", "--what", "verdicts").lines:
        assert [line[name] for name in ("c1", "c2_l1", "c2_l2", "c2_all", "mean_a", "votes_a")] == [None] * 6
        assert line["calls_used"] == 0
        assert line["state"] == "open"


def test_failed_and_unread_calls_keep_reason_and_text(
    judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer
) -> None:
    server.set(faults={"prose": 1.0})
    judgenet("run", "--pairs", pairs, *at, "--out", "out", "--roles", "none", "--width", 1, "--depth", 1)
    for line in judgenet("export", "out", "--what", "calls").lines:
        assert (line["status"], line["reason"], line["score_a"], line["evidence"]) == (
            "unscored",
            "unparsed",
            None,
            None,
        )
        assert line["raw_text"] == "Both responses have something to say for themselves."
    for line in judgenet("export", "out", "--what", "verdicts").lines:
        assert (line["c1"], line["c2_all"], line["mean_a"], line["calls_used"], line["calls_total"]) == (
            *(None, None, None),
            0,
            2,
        )


def test_the_chair_has_a_column(judgenet: Judgenet, pairs: Path, at: At) -> None:
    judgenet("run", "--pairs", pairs, *at, "--out", "out", "--chair", "--width", 1, "--depth", 1)
    lines = judgenet("export", "out", "--what", "verdicts").lines
    assert {line["chair"] for line in lines} <= {"a", "b", "tie"}
    chair = [line for line in judgenet("export", "out", "--what", "calls").lines if line["layer"] == 2]
    assert len(chair) == 8


def test_a_line_of_roles(run: None, judgenet: Judgenet) -> None:
    lines = judgenet("export", "out", "--what", "roles").lines
    assert [(line["pair_id"], line["neuron"]) for line in lines] == [(f"p{i}", n) for i in range(4) for n in (1, 2)]
    assert all(line["role"] and line["description"] for line in lines)


def test_csv_guards_texts_and_leaves_numbers(judgenet: Judgenet, at: At, tmp_path: Path) -> None:
    """Ids that a spreadsheet would run, one that is a number, a negative one, and leading zeros."""
    ids = ('=HYPERLINK("x")', "+cmd", "-cmd", "@SUM(A1)", "\t=1", "-12.5", "007", 'plain "quoted", with comma')
    records = [{"id": name, "question": f"Which? {name}", "response_a": "one", "response_b": "two"} for name in ids]
    (tmp_path / "ids.json").write_text(json.dumps(records), encoding="utf-8")
    judgenet("run", "--pairs", "ids.json", *at, "--out", "out", "--width", 1, "--depth", 1)
    text = judgenet("export", "out", "--what", "calls", "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    guarded = ("'" + ids[0], "'+cmd", "'-cmd", "'@SUM(A1)", "'\t=1", "-12.5", "007", ids[7])
    assert tuple(dict.fromkeys(row["pair_id"] for row in rows)) == guarded
    scored = [row for row in rows if row["status"] == "scored"]
    assert all(1 <= float(row["score_a"]) <= 10 for row in scored)
    assert all(row["score_a"] == "" and row["order"] == "" for row in rows if row["status"] == "roles")
    assert {row["cached"] for row in rows} == {"false"}
    assert json.loads(rows[0]["messages"])[-1]["role"] == "user"


def test_a_file_is_written_whole(run: None, judgenet: Judgenet, tmp_path: Path) -> None:
    ran = judgenet("export", "out", "--what", "verdicts", "-o", "sub/verdicts.jsonl")
    assert (ran.code, ran.out) == (0, "")
    assert "sub/verdicts.jsonl: 4 verdicts" in ran.err
    assert len((tmp_path / "sub/verdicts.jsonl").read_text(encoding="utf-8").splitlines()) == 4
    assert [path.name for path in (tmp_path / "sub").iterdir()] == ["verdicts.jsonl"]


def test_a_reader_that_has_seen_enough_is_no_failure(judgenet: Judgenet, pairs: Path, at: At, tmp_path: Path) -> None:
    """The output is longer than a pipe holds."""
    judgenet("run", "--pairs", pairs, *at, "--out", "out", "--samples", 3)
    assert len(judgenet("export", "out", "--what", "calls").out) > 200_000
    process = subprocess.Popen(
        [sys.executable, "-m", "judgenet", "export", "out", "--what", "calls"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        process.stdout.read(10)
        process.stdout.close()
        told = process.stderr.read()
    assert (process.returncode, told) == (0, b"")


def test_lone_surrogates_and_line_separators_survive(judgenet: Judgenet, at: At, tmp_path: Path) -> None:
    question = "What\u2028is\ud800this\x85?"
    record = json.dumps({"id": "s", "question": question, "response_a": "one", "response_b": "two"})
    (tmp_path / "odd.jsonl").write_text(record + "\n", encoding="ascii")
    assert judgenet("run", "--pairs", "odd.jsonl", *at, "--out", "out", "--width", 1, "--depth", 1).code == 0
    ran = judgenet("export", "out", "--what", "calls", "-o", "calls.jsonl")
    assert ran.code == 0
    lines = (tmp_path / "calls.jsonl").read_bytes().split(b"\n")
    assert len(lines) == 3 + 1
    assert question in json.loads(lines[0])["messages"][-1]["content"]
    assert judgenet("export", "out", "--what", "calls", "--format", "csv", "-o", "calls.csv").code == 0


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("nowhere", "--what", "calls"), ("nowhere", "--out")),
        (("out",), ("--what", "calls")),
        (("out", "--what", "everything"), ("--what", "'calls', 'verdicts', 'pairs', 'roles'")),
        (("out", "--what", "calls", "--format", "xml"), ("--format", "'jsonl', 'csv'")),
        (("out", "--what", "calls", "-o", "out"), ("-o out", "is a folder")),
        (("out", "--what", "calls", "-o", "pairs.jsonl/calls"), ("pairs.jsonl/calls", "cannot be written")),
        (("out/run-9", "--what", "calls"), ("no run run-9", "run-1")),
        (("run-1", "--what", "calls"), ("run-1", "--project")),
    ],
)
def test_bad_input_says_what_and_how_to_mend_it(
    run: None, judgenet: Judgenet, arguments: tuple[str, ...], what: tuple[str, ...]
) -> None:
    ran = judgenet("export", *arguments)
    assert (ran.code, ran.out) == (2, "")
    for words in what:
        assert words in ran.err
