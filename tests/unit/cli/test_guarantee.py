"""``judgenet guarantee``: which verdicts of a run can be accepted with a bounded error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy.stats import binom

from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.runs import run_info
from judgenet.store.tables import pair_table
from tests.unit.cli.conftest import Judgenet


@pytest.fixture
def recorded(judgenet: Judgenet, tmp_path: Path) -> Judgenet:
    """200 pairs and one judge. On the first 100 both orders say the same, wrongly on 4; on the others each order
    says another response. Every pair but the last has a label."""
    pairs, judgments = tmp_path / "pairs.jsonl", tmp_path / "judgments.jsonl"
    with pairs.open("w", encoding="utf-8") as out, judgments.open("w", encoding="utf-8") as said:
        for i in range(200):
            human = "ab"[i % 2]
            line = {"id": f"p{i}", "question": f"Why {i}?", "response_a": "So.", "response_b": "Because."}
            out.write(json.dumps(line | ({"human": human} if i < 199 else {})) + "\n")
            wrong = "ba"[i % 2]
            for order in ("ab", "ba"):
                verdict = (wrong if i < 4 else human) if i < 100 else order[0]
                said.write(json.dumps({"pair_id": f"p{i}", "judge": "u", "order": order, "verdict": verdict}) + "\n")
    assert judgenet("import", judgments, "--pairs", pairs, "--out", "out").code == 0
    return judgenet


def test_the_threshold_is_the_loosest_whose_exact_test_passes(recorded: Judgenet, tmp_path: Path) -> None:
    asked = ("guarantee", "out", "--chosen", "random")
    told = recorded(*asked, "--alpha", "0.1", "--out", "people.txt", "--json").json
    assert (told["threshold"], told["accepted"], told["share"]) == (1.0, 100, 0.5)
    strict, loose = told["tested"]
    assert (strict["n"], strict["errors"], loose["n"], loose["errors"]) == (100, 4, 199, 103)
    assert strict["p"] == pytest.approx(binom.cdf(4, 100, 0.1))
    counts = {"total": 200, "judged": 200, "labelled": 199, "labels_used": 199, "labels_needed": 29}
    assert {key: told["pairs"][key] for key in counts} == counts
    assert told["for_people"] == [f"p{i}" for i in range(100, 200)]
    # The queue holds the pairs that people have not looked at yet.
    assert told["queue"] == ["p199"]
    assert (tmp_path / "people.txt").read_text(encoding="utf-8").split() == ["p199"]
    shown = recorded(*asked, "--alpha", "0.1").out
    assert "100 of 200 pairs (50.0%)" in shown
    assert "at most 0.1 of such verdicts are wrong" in shown

    refused = recorded(*asked, "--alpha", "0.1", "--delta", "0.02", "--json").json
    assert (refused["threshold"], refused["accepted"], refused["share"]) == (None, 0, None)
    assert refused["reason"] == (
        "of the surest 100 labelled verdicts 4 are wrong: an error of more than 0.1 is still possible (p = 0.024)"
    )
    # With 4.5 errors in 101, of half of all pairs: so many accepted labels pass the test at .02 in 4 of 5 draws.
    rate = 4.5 / 101
    needed = next(n for n in range(100, 1000) if binom.cdf(binom.ppf(0.02, n, 0.1) - 1, n, rate) >= 0.8)
    likely = refused["pairs"]["labels_likely"]
    assert 2 * needed * 0.8 <= likely <= 2 * needed * 1.4
    assert likely > 200
    assert "more than the 200 questions of this run" in recorded(*asked, "--alpha", "0.1", "--delta", "0.02").out
    assert len(refused["for_people"]) == 200


def test_labels_of_unknown_origin_promise_nothing(recorded: Judgenet) -> None:
    told = recorded("guarantee", "out", "--json").json
    assert (told["threshold"], told["chosen"], told["pairs"]["labelled"]) == (None, "imported", 0)
    assert told["reason"].endswith("a promise takes labels that were drawn at random")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--alpha", "0"), "--alpha 0: a share between 0 and 1"),
        (("--delta", "1.5"), "--delta 1.5: a share between 0 and 1"),
        (
            ("--confidence", "mood"),
            "--confidence mood: choose calls, orders, neurons, samples, margin, learned or entropy.",
        ),
    ],
)
def test_bad_options(recorded: Judgenet, options: tuple[str, str], message: str) -> None:
    refused = recorded("guarantee", "out", *options)
    assert refused.code == 2
    assert message in refused.err


def test_where_every_pair_is_labelled_no_sampling_is_claimed(recorded: Judgenet, tmp_path: Path) -> None:
    (tmp_path / "last.csv").write_text("pair_id,label\np199,b\n", encoding="utf-8")
    assert recorded("labels", "out", "--import", "last.csv", "--annotator", "Ada", "--chosen", "random").code == 0
    told = recorded("guarantee", "out", "--json").json
    assert (told["chosen"], told["pairs"]["labelled"]) == ("random", 200)
    assert told["chosen_why"] == "all judged pairs are labelled; no sampling was needed"
    shown = recorded("guarantee", "out").out
    assert "200 of them a label (all judged pairs are labelled; no sampling was needed)" in shown
    report = tmp_path / "report.md"
    assert recorded("report", "out", "-o", report).code == 0
    text = report.read_text(encoding="utf-8")
    assert "All judged pairs are labelled; no sampling was needed." in text
    assert "drawn at random from all pairs" not in text


def test_each_confidence_can_be_chosen(recorded: Judgenet) -> None:
    asked = ("guarantee", "out", "--chosen", "random", "--alpha", "0.1", "--json", "--confidence")
    assert recorded(*asked, "orders").json["threshold"] == 2.0
    assert recorded(*asked, "margin").json["accepted"] == 100
    # One judge: of the neurons all say the verdict where it has one.
    assert recorded(*asked, "neurons").json["threshold"] is None
    told = recorded(*asked, "samples").json
    assert (told["threshold"], told["tested"]) == (None, [])
    assert told["reason"].startswith("no call of the run has a second sample")
    learned = recorded(*asked, "learned").json
    assert "cross-fitted" in learned["notes"][0]


def test_how_many_labels_might_do(judgenet: Judgenet, tmp_path: Path) -> None:
    """30 labels, all right, are one more than the promise takes with a share of .1; at .05 it takes 59."""
    pairs, judgments = tmp_path / "pairs.jsonl", tmp_path / "judgments.jsonl"
    with pairs.open("w", encoding="utf-8") as out, judgments.open("w", encoding="utf-8") as said:
        for i in range(500):
            human = {"human": "a"} if i < 30 else {}
            line = {"id": f"p{i}", "question": f"Why {i}?", "response_a": "So.", "response_b": "Because."}
            out.write(json.dumps(line | human) + "\n")
            said.write(json.dumps({"pair_id": f"p{i}", "judge": "u", "order": "ab", "verdict": "a"}) + "\n")
    assert judgenet("import", judgments, "--pairs", pairs, "--out", "out").code == 0
    asked = ("guarantee", "out", "--chosen", "random")
    assert judgenet(*asked, "--alpha", "0.1", "--json").json["accepted"] == 500
    refused = judgenet(*asked, "--alpha", "0.05", "--json").json
    assert refused["pairs"]["labels_needed"] == 59
    assert refused["reason"].startswith("30 labelled questions have a verdict, and 59 accepted ones")
    # Half an error in 31 is allowed for: 59 labels would do only if all were right, which has a chance of .38.
    likely = refused["pairs"]["labels_likely"]
    right = 1 - 0.5 / 31
    assert right**59 < 0.8
    needed = next(
        n
        for n in range(59, 500)
        if sum(binom.pmf(e, n, 1 - right) for e in range(n) if binom.cdf(e, n, 0.05) <= 0.05) >= 0.8
    )
    assert needed * 0.75 <= likely <= needed * 1.35
    assert f"About {likely:,} labels might be enough" in judgenet(*asked, "--alpha", "0.05").out


@pytest.fixture
def judged(judgenet: Judgenet, at: tuple[str, ...], tmp_path: Path) -> Judgenet:
    """A run of two neurons on sixty labelled pairs, in ``out``; ``more.jsonl`` has ten other pairs."""
    records = [
        {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"So {i}.", "response_b": "No.", "human": "a"}
        for i in range(70)
    ]
    for name, part in (("pairs", records[:60]), ("more", records[60:])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in part), encoding="utf-8")
    (tmp_path / "roles.txt").write_text("Facts: Is it true?\nStyle: Is it clear?\n", encoding="utf-8")
    shape = ("--width", 2, "--depth", 1, "--roles", "roles.txt")
    assert judgenet("run", "--pairs", "pairs.jsonl", *at, "--out", "out", *shape).code == 0
    return judgenet


def test_a_saved_rule_decides_new_runs(judged: Judgenet, at: tuple[str, ...]) -> None:
    told = judged("guarantee", "out", "--alpha", "0.9", "--save", "rule.judgenet", "--json")
    assert "it decides new runs of this project" in told.json["saved"]
    rule = json.loads(Path("rule.judgenet").read_text(encoding="utf-8"))["network"]["aggregation"]["acceptance"]
    assert (rule["aggregation"], rule["confidence"], rule["alpha"], rule["run"]) == ("c2_all", "calls", 0.9, "run-1")
    assert (rule["threshold"], rule["labels"]) == (told.json["threshold"], told.json["pairs"]["labels_used"])
    # A threshold that no verdict reaches leaves every pair to people, and says so.
    project = json.loads(Path("rule.judgenet").read_text(encoding="utf-8"))
    project["network"]["aggregation"]["acceptance"]["threshold"] = 1.5
    Path("rule.judgenet").write_text(json.dumps(project), encoding="utf-8")
    ran = judged("run", "rule.judgenet", "--pairs", "more.jsonl", "--out", "new")
    assert ran.code == 0
    found = judged("metrics", "new", "--json").json
    assert found["aggregations"]["accepted"]["n_used"] == 0
    assert found["aggregations"]["c2_all"]["n_used"] == 10
    decided = found["acceptance"]
    assert (decided["accepted"], decided["for_people"], decided["no_verdict"], decided["n_total"]) == (0, 10, 0, 10)
    assert "Decided: 0 of 10 pairs; 10 for people (10 of them labelled)" in ran.out
    assert ran.err.count("accepted for people") == 10
    assert judged("check", "new", "--require", "acceptance.for_people <= 10").code == 0
    assert judged("check", "new", "--require", "acceptance.accepted >= 1").code != 0
    assert "10 pairs of 10 are for people" in " ".join(judged("rate", "new", "--json").json["notes"])
    lines = judged("export", "new", "--what", "verdicts").lines
    assert {line["decision"] for line in lines} == {"for people"}
    assert {line["accepted"] for line in lines} == {None}
    assert all(line["confidence"] <= 1 for line in lines)
    exported = judged("export", "new", "--what", "preferences", "-o", "preferences.jsonl")
    assert "10 pairs left to people" in exported.err
    # The record holds the rule as it decided.
    with Store.open(Path("new") / "run.judgenet.db", readonly=True) as store:
        frame = RunFrame.read(store, run_info(store))
        kept = frame.spec.aggregation.acceptance
        table = pair_table(frame)
    assert kept is not None
    assert (kept.alpha, kept.delta, kept.threshold, kept.run, kept.labels) == (0.9, 0.05, 1.5, "run-1", rule["labels"])
    assert table["decision"].tolist() == ["for people"] * 10
    # Accepted by the promised threshold, they are decided.
    project["network"]["aggregation"]["acceptance"]["threshold"] = rule["threshold"]
    Path("rule.judgenet").write_text(json.dumps(project), encoding="utf-8")
    assert judged("run", "rule.judgenet", "--pairs", "more.jsonl", "--out", "again").code == 0
    lines = judged("export", "again", "--what", "verdicts").lines
    for line in lines:
        sure = line["confidence"] >= rule["threshold"]
        assert (line["decision"], line["accepted"]) == (("accepted", line["c2_all"]) if sure else ("for people", None))
        # All of them have a label, which stands before the accepted verdict.
        assert (line["final"], line["final_by"]) == ("a", "people")


def test_the_queue_for_people_holds_what_nobody_labelled(judged: Judgenet, tmp_path: Path) -> None:
    refused = judged("labels", "out", "--queue", "people.txt")
    assert refused.code == 2
    assert "has no rule that leaves pairs to people" in refused.err
    assert judged("guarantee", "out", "--alpha", "0.9", "--save", "rule.judgenet").code == 0
    project = json.loads(Path("rule.judgenet").read_text(encoding="utf-8"))
    project["network"]["aggregation"]["acceptance"]["threshold"] = 1.5
    Path("rule.judgenet").write_text(json.dumps(project), encoding="utf-8")
    pairs = [json.loads(line) | {"human": None} for line in Path("more.jsonl").read_text(encoding="utf-8").splitlines()]
    Path("new.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs), encoding="utf-8")
    assert judged("run", "rule.judgenet", "--pairs", "new.jsonl", "--out", "new").code == 0
    told = judged("labels", "new", "--queue", "people.txt", "--json").json
    assert told == {"run": "run-1", "queue": {"file": "people.txt", "n": 10, "for_people": 10}}
    queue = Path("people.txt").read_text(encoding="utf-8").split()
    assert sorted(queue) == [f"p{i}" for i in range(60, 70)]
    # What people say of the queue settles these pairs, and is no figure's evidence.
    Path("said.csv").write_text(f"pair_id,label\n{queue[0]},a\n{queue[1]},tie\n", encoding="utf-8")
    said = ("labels", "new", "--import", "said.csv", "--annotator", "Ada", "--chosen", "targeted")
    assert judged(*said).code == 0
    assert judged("labels", "new", "--queue", "people.txt", "--json").json["queue"]["n"] == 8
    found = judged("metrics", "new", "--json").json
    assert (found["acceptance"]["for_people_labelled"], found["pairs"]["labelled"]) == (2, 0)
    lines = judged("export", "new", "--what", "verdicts").lines
    finals = {line["pair_id"]: (line["final"], line["final_by"]) for line in lines}
    assert (finals[queue[0]], finals[queue[1]], finals[queue[2]]) == (("a", "people"), ("tie", "people"), (None, None))
    again = judged("guarantee", "new", "--json").json
    assert (again["aggregation"], again["pairs"]["labelled"], len(again["queue"])) == ("c2_all", 0, 8)


def test_a_rule_is_not_saved_where_it_would_promise_nothing(judged: Judgenet, recorded: Judgenet) -> None:
    refused = judged("guarantee", "out", "--alpha", "0.01", "--save", "rule.judgenet")
    assert refused.code == 2
    assert "nothing was written. Nothing can be promised" in refused.err
    assert not Path("rule.judgenet").exists()


def test_a_rule_is_not_saved_into_another_network(judged: Judgenet) -> None:
    assert judged("guarantee", "out", "--alpha", "0.9", "--save", "rule.judgenet").code == 0
    project = json.loads(Path("rule.judgenet").read_text(encoding="utf-8"))
    project["network"]["settings"]["temperature"] = 0.7
    Path("other.judgenet").write_text(json.dumps(project), encoding="utf-8")
    before = Path("other.judgenet").read_bytes()
    refused = judged("guarantee", "out", "--alpha", "0.9", "--save", "other.judgenet")
    assert refused.code == 2
    assert "differ from those of the run" in refused.err
    assert Path("other.judgenet").read_bytes() == before


def test_a_rule_decides_new_runs_and_not_the_one_it_comes_from(judged: Judgenet) -> None:
    """Also where it is kept in the project of that run."""
    (project,) = Path("out").glob("*.judgenet")
    assert judged("guarantee", "out", "--alpha", "0.9", "--save", project).code == 0
    assert judged("report", "out", "-o", "out.json").code == 0
    report = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert (report["decides"], report["acceptance"]) == ("c2_all", None)
    # The same pairs judged again are the same run, which the rule now decides: that its labels chose it is said.
    assert judged("run", project, "--pairs", "pairs.jsonl", "--out", "out").code == 0
    runs = judged("metrics", "out", "--json").json
    assert (runs["run"], runs["acceptance"]["n_total"]) == ("run-1", 60)
    assert "chosen on labels of these pairs (run-1)" in runs["acceptance"]["notes"][0]
