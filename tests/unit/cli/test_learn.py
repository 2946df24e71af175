"""``judgenet learn``: what it prints and its JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Judgenet


@pytest.fixture
def study(judgenet: Judgenet, tmp_path: Path) -> Path:
    """Thirty labelled pairs of two tasks, and two without a label; one judge is always right, one never."""
    labels = [("a", "b")[place % 2] for place in range(30)] + [None, None]
    pairs = [
        {
            "id": f"p{i}",
            "question": f"Q{i}",
            "response_a": "x",
            "response_b": "y",
            "task": f"t{i % 3 % 2}",
            "human": label,
        }
        for i, label in enumerate(labels)
    ]
    wrong = {"a": "b", "b": "a", None: "a"}
    rows = [
        {"pair_id": f"p{i}", "judge": judge, "order": order, "verdict": verdict}
        for i, label in enumerate(labels)
        for judge, verdict in (("right", label or "a"), ("wrong", wrong[label]))
        for order in ("ab", "ba")
    ]
    for name, records in (("pairs", pairs), ("judgments", rows)):
        text = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    assert judgenet("import", "judgments.jsonl", "--pairs", "pairs.jsonl", "--out", "out").code == 0
    return tmp_path / "out"


def test_json_has_every_way_with_intervals_and_weights(judgenet: Judgenet, study: Path) -> None:
    told = judgenet("learn", study, "--leave-out", "task", "--json").json
    learned = told["learned"]
    assert told["neurons"] == ["right", "wrong"]
    assert told["pairs"] == {"total": 32, "labelled": 30}
    assert (learned["nonnegative"]["accuracy"], learned["nonnegative"]["n_used"]) == (1.0, 30)
    assert learned["nonnegative"]["weights"]["wrong"] == 0
    assert learned["any_sign"]["weights"]["wrong"] < 0
    # Wilson's interval of 30 out of 30.
    assert learned["nonnegative"]["accuracy_ci"] == pytest.approx([0.886486, 1.0], abs=1e-5)
    assert "negative" in learned["any_sign"]["warning"].lower()
    assert learned["best_single"]["weights"] == {"right": 1.0, "wrong": 0.0}
    # A vote of two that contradict each other is a tie, which is never right here.
    assert told["votes"]["c2_all"]["accuracy"] == 0
    assert set(told["leave_out"]["task"]) == {"t0", "t1"}
    assert told["leave_out"]["task"]["t0"]["best_neuron"] == {"name": "right", "accuracy": 1.0}
    assert told["leave_out"]["task"]["t0"]["nonnegative"]["accuracy"] == 1.0


def test_the_table_says_what_is_refused_and_why(judgenet: Judgenet, pairs: Path, tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl"
    file.write_text(json.dumps({"pair_id": "p0", "judge": "j", "order": "ab", "verdict": "a"}) + "\n", encoding="utf-8")
    judgenet("import", file, "--pairs", pairs, "--out", "few")
    ran = judgenet("learn", "few")
    assert ran.code == 0
    assert "1 pairs have a human label; weights are learned from 20 or more" in ran.out
    told = judgenet("learn", "few", "--json").json
    assert told["learned"]["nonnegative"]["accuracy"] is None
    assert "20 or more" in told["learned"]["nonnegative"]["reason"]
