"""``judgenet rate``, against figures computed here from the exported verdicts."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]
ESTIMATES = ("naive", "stratified", "ppi", "human_only", "lee", "k_class")
SCORES = {"a": 0.0, "tie": 0.5, "b": 1.0}


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """A hundred and twenty pairs, every sixth without a label."""
    rng = random.Random(5)
    path = tmp_path / "labelled.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for i in range(120):
            record = {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"So {i}.", "response_b": "Because."}
            if i % 6:
                record["human"] = rng.choice(("a", "b", "b", "tie"))
            out.write(json.dumps(record) + "\n")
    return path


@pytest.fixture
def ran(judgenet: Judgenet, labelled: Path, at: At, server: JudgeServer) -> Judgenet:
    """A run of them in ``out``, some of whose pairs have no verdict."""
    server.set(faults={"prose": 0.6})
    judgenet("run", "--pairs", labelled, *at, "--out", "out", "--width", 1, "--depth", 1, "--roles", "none")
    return judgenet


def _by_hand(lines: list[dict[str, Any]], used: set[str]) -> tuple[float, float]:
    """The stratified estimate and its standard error, from one list of scores a verdict."""
    judged = [line for line in lines if line["c2_all"]]
    value = square = within = 0.0
    for verdict in SCORES:
        mine = [line for line in judged if line["c2_all"] == verdict]
        scores = [SCORES[line["human"]] for line in mine if line["id"] in used]
        weighed = [(score, 1.0) for score in scores] + [(score, 1 / 3) for score in SCORES.values()]
        n = len(scores) + 1
        mean = sum(score * weight for score, weight in weighed) / n
        variance = sum(score * score * weight for score, weight in weighed) / n - mean**2
        share = len(mine) / len(judged)
        value += share * mean
        square += share * mean**2
        within += share**2 * variance / n
    return value, (within + (square - value**2) / len(judged)) ** 0.5


@pytest.mark.parametrize("labels", ["all", "every:2", "ids.txt"])
def test_the_headline(ran: Judgenet, labels: str) -> None:
    lines = [line | {"id": line["pair_id"]} for line in ran("export", "out", "--what", "verdicts").lines]
    ids = [line["id"] for line in lines if line["human"]]
    used = {"all": ids, "every:2": ids[::2], "ids.txt": ids[:70]}[labels]
    Path("ids.txt").write_text("\n".join(ids[:70]) + "\n\n", encoding="utf-8")
    shown = ran("rate", "out", "--aggregation", "c2_all", "--labels", labels, "--chosen", "random", "--json").json
    value, se = _by_hand(lines, set(used))
    assert shown["stratified"]["value"] == pytest.approx(value)
    assert shown["stratified"]["ci"] == pytest.approx([value - 1.959964 * se, value + 1.959964 * se], abs=1e-6)
    judged = [line for line in lines if line["c2_all"]]
    assert 60 < len(judged) < 120
    assert shown["naive"]["n"] == len(judged)
    assert shown["naive"]["value"] == pytest.approx(sum(SCORES[line["c2_all"]] for line in judged) / len(judged))
    people = [SCORES[line["human"]] for line in judged if line["id"] in used]
    assert shown["human_only"]["value"] == pytest.approx(sum(people) / len(people))
    assert shown["human_only"]["n"] == shown["pairs"]["labelled"] == len(people)
    assert shown["pairs"]["total"] == 120
    assert shown["pairs"]["not_judged"] == 120 - len(judged)


def test_what_is_refused_is_null_with_a_reason(ran: Judgenet) -> None:
    for chosen, allowed in (
        ("random", {"naive", "stratified", "ppi", "human_only"}),
        ("within-verdict", {"naive", "stratified"}),
        ("targeted", {"naive"}),
    ):
        shown = ran("rate", "out", "--labels", "every:2", "--chosen", chosen, "--json").json
        assert set(ESTIMATES) <= set(shown)
        assert {name for name in ESTIMATES if shown[name]["value"] is not None} == allowed
        for name in ESTIMATES:
            assert (shown[name]["reason"] is None) == (name in allowed)
            assert (shown[name]["ci"] is None) == (name not in allowed)
        assert shown["chosen_assumed"] is False


def test_labels_that_came_with_some_of_the_pairs_do_not_count_as_random(ran: Judgenet) -> None:
    shown = ran("rate", "out", "--json").json
    assert (shown["chosen"], shown["chosen_assumed"]) == ("imported", True)
    assert "--chosen" in " ".join(shown["notes"])
    assert shown["aggregation"] == "c2_all"
    assert shown["stratified"]["value"] is None
    assert "at random" in shown["stratified"]["reason"]
    assert shown["labels"]["used"] == {"imported": shown["pairs"]["labelled"]}


def test_labels_of_all_pairs_leave_nothing_to_choose(judgenet: Judgenet, at: At, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    records = [
        {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"So {i}.", "response_b": "No.", "human": "ab"[i % 2]}
        for i in range(40)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    judgenet("run", "--pairs", path, *at, "--out", "out", "--width", 1, "--depth", 1, "--roles", "none")
    shown = judgenet("rate", "out", "--json").json
    assert (shown["chosen"], shown["chosen_assumed"]) == ("random", False)
    assert shown["stratified"]["value"] is not None
    half = judgenet("rate", "out", "--labels", "every:2", "--json").json
    assert (half["chosen"], half["pairs"]["labelled"], half["labels"]["left_out"]) == (
        "random",
        20,
        {"not asked for": 20},
    )


def test_the_store_can_be_told_how_the_labels_of_the_file_were_chosen(ran: Judgenet) -> None:
    stated = ran("rate", "out", "--chosen", "random", "--json").json
    assert ran("labels", "out", "--file-labels", "random").code == 0
    shown = ran("rate", "out", "--json").json
    assert (shown["chosen"], shown["chosen_assumed"]) == ("random", False)
    assert shown["stratified"] == stated["stratified"]


def test_the_k_class_interval_by_resampling(judgenet: Judgenet, tmp_path: Path) -> None:
    """Labels from elsewhere allow it: beside the delta method stands the bootstrap, with what it refused."""
    rng = random.Random(1)
    pairs, rows = [], []
    for i in range(600):
        truth = rng.choices(("a", "tie", "b"), (4, 2, 4))[0]
        said = truth if rng.random() < 0.8 else rng.choice(("a", "tie", "b"))
        pair = {"id": f"p{i}", "question": f"Why {i}?", "response_a": "x", "response_b": "y"}
        pairs.append(pair | ({"human": truth} if i < 200 else {}))
        rows.append({"pair_id": f"p{i}", "judge": "j", "order": "ab", "verdict": said})
    for name, records in (("pairs", pairs), ("judgments", rows)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    assert judgenet("import", "judgments.jsonl", "--pairs", "pairs.jsonl", "--out", "out").code == 0
    shown = judgenet("rate", "out", "--chosen", "imported", "--json").json
    spread = shown["k_class_bootstrap"]
    assert (spread["resamples"], spread["refused"], spread["reason"]) == (5000, 0, None)
    low, high = shown["k_class"]["ci"]
    assert spread["ci"] == pytest.approx([low, high], abs=0.25 * (high - low))
    refused = judgenet("rate", "out", "--chosen", "random", "--json").json["k_class_bootstrap"]
    assert refused["ci"] is None
    assert refused["reason"]


def test_the_table_names_every_estimate(ran: Judgenet) -> None:
    told = ran("rate", "out", "--aggregation", "c1")
    assert told.code == 0
    for words in ("stratified by verdict", "PPI++", "human labels alone", "Lee et al.", "K-class", "uncorrected"):
        assert words in told.out
    assert "K-class: n/a – " in told.out


def test_labels_that_are_not_there(ran: Judgenet) -> None:
    Path("wrong.txt").write_text("p1\nnobody\n", encoding="utf-8")
    Path("bare.txt").write_text("p1\np6\n", encoding="utf-8")
    for labels, words in (
        ("every:0", "at least 1"),
        ("every:x", "at least 1"),
        ("none.txt", "cannot be read"),
        ("wrong.txt", "line 2: the run has no pair 'nobody'"),
        ("bare.txt", "'p6'"),
    ):
        told = ran("rate", "out", "--labels", labels)
        assert (told.code, told.out) == (2, "")
        assert words in told.err
    told = ran("rate", "out", "--aggregation", "c2_l7")
    assert told.code == 2
    assert "c2_l1" in told.err


def test_no_labels_at_all(judgenet: Judgenet, at: At, tmp_path: Path) -> None:
    path = tmp_path / "bare.jsonl"
    record = {"id": "1", "question": "Why?", "response_a": "So.", "response_b": "Because."}
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    judgenet("run", "--pairs", path, *at, "--out", "out", "--width", 1, "--depth", 1, "--roles", "none")
    shown = judgenet("rate", "out", "--json").json
    assert shown["naive"]["n"] == 1
    for name in ESTIMATES[1:]:
        assert shown[name]["value"] is None
        assert shown[name]["reason"]


def test_the_win_rate_at_equal_length(ran: Judgenet) -> None:
    """Response B is the same word everywhere, A is one or two characters longer with the number of the pair."""
    shown = ran("rate", "out", "--json").json
    adjusted = shown["length_adjusted"]
    assert adjusted["n"] == shown["naive"]["n"]
    assert adjusted["ci"][0] < adjusted["value"] < adjusted["ci"][1]
    assert adjusted["slope"] is not None
