"""``judgenet compare``, against figures counted from the exported verdicts."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from scipy.stats import binomtest  # type: ignore[import-untyped]

from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]


def _pairs(path: Path, first: int, n: int, text: str = "So") -> Path:
    with path.open("w", encoding="utf-8") as out:
        for i in range(first, first + n):
            record = {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"{text} {i}.", "response_b": "Because."}
            if i % 5:
                record["human"] = random.Random(i).choice(("a", "b", "tie"))
            out.write(json.dumps(record) + "\n")
    return path


@pytest.fixture
def two(judgenet: Judgenet, at: At, tmp_path: Path) -> Judgenet:
    """Runs of two networks in ``one`` and ``two``; 80 of their 100 pairs are common."""
    for name, first, depth in (("one", 0, 1), ("two", 20, 2)):
        pairs = _pairs(tmp_path / f"{name}.jsonl", first, 100)
        judgenet("run", "--pairs", pairs, *at, "--out", name, "--width", 1, "--depth", depth, "--roles", "none")
    return judgenet


def test_the_pairs_of_both_are_compared(two: Judgenet) -> None:
    shown = two("compare", "one", "two", "--chosen", "random", "--json").json
    one, other = (
        {line["pair_id"]: line for line in two("export", name, "--what", "verdicts").lines} for name in ("one", "two")
    )
    common = [name for name in one if name in other]
    assert shown["pairs"]["common"] == len(common) == 80
    used = [
        (one[name]["human"], one[name]["c2_all"], other[name]["c2_all"])
        for name in common
        if one[name]["human"] and one[name]["c2_all"] and other[name]["c2_all"]
    ]
    b = sum(human == first != second for human, first, second in used)
    c = sum(human == second != first for human, first, second in used)
    test = shown["mcnemar"]
    assert (test["only_first_right"], test["only_second_right"], test["n"]) == (b, c, len(used))
    assert test["p"] == pytest.approx(binomtest(b, b + c).pvalue)
    accuracy = shown["differences"]["accuracy"]
    assert accuracy["first"] == pytest.approx(sum(human == first for human, first, _ in used) / len(used))
    assert accuracy["difference"] == pytest.approx((b - c) / len(used))
    assert accuracy["ci"][0] < accuracy["difference"] < accuracy["ci"][1]
    assert set(shown["differences"]) == {"accuracy", "macro_f1", "kappa"}
    assert shown["rate"]["ci"][0] <= shown["rate"]["difference"] <= shown["rate"]["ci"][1]


def test_judges_that_differ_are_warned_of(two: Judgenet) -> None:
    shown = two("compare", "one", "two", "--json").json
    assert "network" in shown["judges_differ"]
    assert "not comparable" in shown["notes"][0]
    told = two("compare", "one", "two")
    assert told.code == 0
    assert told.out.startswith("Warning: the judges differ (network")
    assert "McNemar" in told.out
    # Each difference is named, from the first to the second.
    assert {"what": "number of layers", "first": "1", "second": "2"} in shown["network_changes"]
    assert "number of layers: 1 → 2" in told.out


def test_a_run_against_itself_differs_in_nothing(two: Judgenet) -> None:
    shown = two("compare", "one", "one", "--chosen", "random", "--json").json
    assert (shown["judges_differ"], shown["notes"]) == ({}, [])
    for found in [*shown["differences"].values(), shown["rate"]]:
        assert (found["difference"], found["ci"]) == (0, [0, 0])
    assert shown["agree"]["value"] == 1


def test_labels_within_verdicts_allow_no_difference_of_rates(two: Judgenet) -> None:
    shown = two("compare", "one", "two", "--chosen", "within-verdict", "--json").json
    assert shown["rate"]["difference"] is None
    assert "at random" in shown["rate"]["reason"]


def test_targeted_labels_stand_for_no_other_pair(two: Judgenet) -> None:
    shown = two("compare", "one", "two", "--chosen", "targeted", "--json").json
    assert shown["rate"]["difference"] is None
    assert any("chosen for a property of theirs" in note for note in shown["notes"])
    random = two("compare", "one", "two", "--chosen", "random", "--json").json
    assert not any("chosen for a property" in note for note in random["notes"])


def test_runs_without_a_common_pair(two: Judgenet, at: At, tmp_path: Path) -> None:
    pairs = _pairs(tmp_path / "other.jsonl", 0, 5, "Thus")
    two("run", "--pairs", pairs, *at, "--out", "three", "--width", 1, "--depth", 1, "--roles", "none")
    told = two("compare", "one", "three")
    assert (told.code, told.out) == (2, "")
    assert "no pair is in both" in told.err


def test_the_labels_of_the_next_comparison_are_planned_from_two_runs(two: Judgenet) -> None:
    shown = two("compare", "one", "two", "--json").json
    test, plan = shown["mcnemar"], two("labels", "one", "--compare", "two", "--difference", "0.05", "--json").json
    found = plan["discordance"]
    alone = test["only_first_right"] + test["only_second_right"]
    assert (found["count"], found["n"], found["source"]) == (alone, test["n"], "runs")
    assert found["value"] == pytest.approx(alone / test["n"])
    assert found["ci"] == pytest.approx(binomtest(alone, test["n"]).proportion_ci(method="wilson"))
    assert plan["n"] == test["n"]
    assert plan["pairs_ci"][0] <= plan["pairs"] <= plan["pairs_ci"][1]
    assert shown["power"]["discordance"] == found
    assert [row["difference"] for row in plan["table"]] == [0.01, 0.02, 0.03, 0.05, 0.1]
    assert plan["table"][3]["pairs"] == plan["pairs"]
    said = two("labels", "one", "--compare", "two", "--difference", "0.05").out
    assert f"{plan['pairs']:,} labelled pairs" in said


def test_a_comparison_is_planned_before_there_is_a_run(judgenet: Judgenet) -> None:
    """Chow, Shao and Wang, example 6.4.3: 59 pairs by the formula."""
    plan = judgenet("labels", "--discordance", "0.7", "--difference", "0.3", "--json").json
    assert plan["pairs_formula"] == 59
    assert plan["discordance"]["source"] == "given"
    assert plan["run"] is None
    assert plan["reasons"]["run"]
    for wrong, said in (
        (("--discordance", "1.5"), "--discordance 1.5"),
        (("--discordance", "0.2", "--power", "1"), "--power 1"),
        (("--compare", "out"), "name the first run"),
        ((), "RUN is missing"),
    ):
        ran = judgenet("labels", *wrong)
        assert ran.code == 2
        assert said in ran.err
