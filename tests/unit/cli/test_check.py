"""``judgenet check``: requirements on the figures of a run."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from scipy.stats import binomtest

import judgenet as jn
from judgenet.cli.errors import ExitCode
from tests.unit.cli.conftest import Judgenet

_LABELLED, _RIGHT = 60, 45


@pytest.fixture
def recorded(judgenet: Judgenet, tmp_path: Path) -> Judgenet:
    """Two runs of one judge over 80 pairs, 60 with a label: the first is right on 45 of these, the second on 30."""
    pairs = tmp_path / "pairs.jsonl"
    with pairs.open("w", encoding="utf-8") as out:
        for i in range(80):
            line = {"id": f"p{i}", "question": f"Why {i}?", "response_a": "So.", "response_b": "Because."}
            out.write(json.dumps(line | ({"human": "ab"[i % 2]} if i < _LABELLED else {})) + "\n")
    for name, right in (("first", _RIGHT), ("second", 30)):
        with (tmp_path / f"{name}.jsonl").open("w", encoding="utf-8") as said:
            for i in range(80):
                verdict = "ab"[i % 2] if i < right else "ba"[i % 2]
                said.write(json.dumps({"pair_id": f"p{i}", "judge": "v.1", "order": "ab", "verdict": verdict}) + "\n")
        assert judgenet("import", f"{name}.jsonl", "--pairs", pairs, "--out", name).code == 0
    return judgenet


def test_a_met_and_a_missed_requirement(recorded: Judgenet) -> None:
    wilson = binomtest(_RIGHT, _LABELLED).proportion_ci(method="wilson")
    passed = recorded("check", "first", "--require", f"c2_all.accuracy.low >= {wilson.low - 1e-6:.8f}", "--json")
    assert passed.code == ExitCode.DONE
    assert passed.json["passed"] is True
    [row] = passed.json["requirements"]
    assert row["figure"] == pytest.approx(wilson.low, abs=1e-6)
    assert (row["key"], row["outcome"], row["notes"]) == ("metrics.aggregations.c2_all.accuracy.low", "met", [])

    missed = recorded("check", "first", "--require", "accuracy.low >= 0", "--json")
    assert missed.code == ExitCode.BAD_INPUT
    assert "accuracy.low: there is no such figure. Similar keys: " in missed.err
    missed = recorded("check", "first", "--require", f"c2_all.accuracy.low >= {wilson.low + 1e-3}")
    assert missed.code == ExitCode.NOT_MET == 4
    assert "not met" in missed.out
    assert "Failed: 0 of 1 requirements are met" in missed.out


def test_a_value_without_its_interval_is_warned_of(recorded: Judgenet) -> None:
    ran = recorded("check", "first", "--require", "c2_all.accuracy >= .74", "--json")
    [row] = ran.json["requirements"]
    assert (row["figure"], row["outcome"]) == (0.75, "met")
    assert "c2_all.accuracy.low takes chance into account" in row["notes"][0]
    below = recorded("check", "first", "--require", "c2_all.accuracy <= .76", "--json").json["requirements"][0]
    assert "c2_all.accuracy.high" in below["notes"][0]


def test_neurons_whose_name_has_a_dot_and_other_commands(recorded: Judgenet) -> None:
    requires = (
        *("--require", "v.1.accuracy == .75"),
        *("--require", "neurons.v.1.n_used == 60"),
        *("--require", "rate.naive == .4875"),
        *("--require", "compare.differences.accuracy == .25"),
        *("--require", "compare.differences.accuracy.low > 0"),
        *("--require", "state == done"),
    )
    ran = recorded("check", "first", *requires, "--against", "second", "--json")
    assert [row["outcome"] for row in ran.json["requirements"]] == ["met"] * 6, ran.json
    assert ran.code == ExitCode.DONE
    alone = recorded("check", "first", *requires)
    assert alone.code == ExitCode.BAD_INPUT
    assert "--against RUN" in alone.err


def test_a_figure_that_the_run_cannot_give_fails_with_its_reason(recorded: Judgenet) -> None:
    ran = recorded("check", "first", "--require", "rate.corrected.low > .1", "--json")
    assert ran.code == ExitCode.NOT_MET
    [row] = ran.json["requirements"]
    assert (row["figure"], row["outcome"]) == (None, "undefined")
    rate = recorded("rate", "first", "--json").json["stratified"]
    assert rate["value"] is None
    assert row["reason"] == rate["reason"]


def test_reports_for_machines(recorded: Judgenet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requires = ("c2_all.accuracy >= .5", "c2_all.kappa.low >= 99%", "rate.corrected.low > .5")
    asked = [part for text in requires for part in ("--require", text)]
    ran = recorded("check", "first", *asked, "--junit", "out.xml", "--github")
    suite = ElementTree.parse(tmp_path / "out.xml").getroot().find("testsuite")
    assert suite is not None
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    assert [[part.tag for part in case] for case in suite.iter("testcase")] == [["system-out"], ["failure"], ["error"]]
    lines = [line for line in ran.out.splitlines() if line.startswith("::")]
    assert [line.split(" ", 1)[0] for line in lines] == ["::warning", "::error", "::error"]
    assert "title=c2_all.kappa.low >= 99%25::" in lines[1]
    # Where the program runs in GitHub Actions it needs no option, and leaves standard output to JSON.
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    ran = recorded("check", "first", *asked, "--json")
    assert ran.json["met"] == 1
    assert ran.err.count("::error") == 2


def test_the_project_keeps_requirements(recorded: Judgenet, tmp_path: Path) -> None:
    none = recorded("check", "first")
    assert none.code == ExitCode.BAD_INPUT
    assert "There is no requirement" in none.err
    project = next((tmp_path / "first").glob("*.judgenet"))
    document = json.loads(project.read_text(encoding="utf-8"))
    project.write_text(json.dumps(document | {"requirements": ["c2_all.accuracy >= .75"]}), encoding="utf-8")
    assert recorded("check", "first", "--json").json["requirements"][0]["outcome"] == "met"
    project.write_text(json.dumps(document | {"requirements": ["c2_all.accuracy"]}), encoding="utf-8")
    broken = recorded("check", "first")
    assert broken.code == ExitCode.BAD_INPUT
    assert "requirements[0]" in broken.err


def test_python_says_the_same(recorded: Judgenet) -> None:
    first, second = jn.open_run("first"), jn.open_run("second")
    asked = ["c2_all.accuracy.low >= .6", "compare.differences.kappa.low > 0"]
    found = first.check(asked, second)
    ran = recorded("check", "first", "--require", asked[0], "--require", asked[1], "--against", "second", "--json")
    assert found.to_dict() == ran.json
    assert found.passed is ran.json["passed"] is True
    assert list(found.to_frame()["outcome"]) == ["met", "met"]
