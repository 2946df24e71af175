"""``judgenet panel``: what a panel of neurons is worth, and which of them adds most."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import judgenet as jn
from tests.unit.cli.conftest import Judgenet


@pytest.fixture
def recorded(judgenet: Judgenet, tmp_path: Path) -> Judgenet:
    """80 pairs with a label and three judges: ``u`` and ``copy`` say the same, ``own`` errs on other pairs."""
    pairs, judgments = tmp_path / "pairs.jsonl", tmp_path / "judgments.jsonl"
    with pairs.open("w", encoding="utf-8") as out, judgments.open("w", encoding="utf-8") as said:
        for i in range(80):
            human, wrong = "ab"[i % 2], "ba"[i % 2]
            line = {"id": f"p{i}", "question": f"Why {i}?", "response_a": "So.", "response_b": "Because."}
            out.write(json.dumps({**line, "human": human}) + "\n")
            for judge, errs in (("u", i % 5 == 0), ("copy", i % 5 == 0), ("own", i % 4 == 1)):
                verdict = wrong if errs else human
                line = {"pair_id": f"p{i}", "judge": judge, "order": "ab", "verdict": verdict}
                said.write(json.dumps(line) + "\n")
    assert judgenet("import", judgments, "--pairs", pairs, "--out", "out").code == 0
    return judgenet


def test_copies_are_one_vote_and_the_other_judge_adds_most(recorded: Judgenet, tmp_path: Path) -> None:
    told = recorded("panel", "out", "--neuron", "u", "--neuron", "copy", "--most", "2", "--json").json
    names = told["neurons"]
    assert told["chosen"]["errors"]["value"] == pytest.approx(1.0)
    assert told["chosen"]["neurons"] == ["u", "copy"]
    errors = told["correlations"]["errors"]
    wrong = np.array([[i % 5 == 0, i % 5 == 0, i % 4 == 1] for i in range(80)], float)
    order = [("u", "copy", "own").index(name) for name in names]
    assert np.array(errors["r"]) == pytest.approx(np.corrcoef(wrong[:, order].T))
    assert errors["n"] == [[80] * 3] * 3
    assert set(errors["merges"][0]["left"] + errors["merges"][0]["right"]) == {"u", "copy"}
    by_votes = told["choice"]["votes"]["steps"]
    assert [step["neuron"] for step in by_votes][1] == "own"
    assert (by_votes[1]["accuracy"]["n"], told["choice"]["votes"]["n_total"]) == (80, 80)
    shown = recorded("panel", "out").out
    assert "copy and u 1.00 (n 80)" in shown or "u and copy 1.00 (n 80)" in shown
    assert "On 80 of 80 pairs" in shown

    run = jn.open_run(tmp_path / "out")
    assert run.panel(("u", "copy"), most=2).to_dict() == told
    table = run.panel(most=2).to_frame()
    assert table.shape[0] == 4
    assert list(table[table.rule == "votes"].neuron)[1] == "own"


def test_a_neuron_that_is_not_there_is_named_with_those_that_are(recorded: Judgenet) -> None:
    refused = recorded("panel", "out", "--neuron", "v")
    assert refused.code == 2
    assert "has no neuron v. Its neurons are:" in refused.err
    assert "own" in refused.err
