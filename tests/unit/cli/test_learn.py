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
    less = learned["nonnegative"]["less"]
    assert set(less) == {"best_single", "c1", "c2_l1", "c2_all"}
    assert (less["best_single"]["accuracy"]["difference"], less["best_single"]["p"]) == (0.0, 1.0)
    # Right on all 30 pairs, where the vote ties: 2 / 2^30.
    assert (less["c2_all"]["accuracy"]["difference"], less["c2_all"]["only_learned_right"]) == (1.0, 30)
    assert less["c2_all"]["p"] == pytest.approx(2 / 2**30)
    assert (less["c2_all"]["n"], less["c2_all"]["p_over"]) == (30, "pairs")
    assert learned["best_single"]["less"] == {}
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


def test_a_learned_way_is_compared_on_the_pairs_that_both_judge(judgenet: Judgenet, tmp_path: Path) -> None:
    """The better judge is silent on six pairs: only there the learned way stands on the other alone."""
    labels = [("a", "b")[place % 2] for place in range(40)]
    pairs = [
        {"id": f"p{i}", "question": f"Q{i}", "response_a": "x", "response_b": "y", "human": label}
        for i, label in enumerate(labels)
    ]
    rows = [
        {"pair_id": f"p{i}", "judge": judge, "order": "ab", "verdict": label if right else "ab"[label == "a"]}
        for i, label in enumerate(labels)
        for judge, right in (("good", i % 10 != 0), ("fair", i % 3 != 0))
        if judge == "fair" or i >= 6
    ]
    for name, records in (("pairs", pairs), ("judgments", rows)):
        text = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    assert judgenet("import", "judgments.jsonl", "--pairs", "pairs.jsonl", "--out", "out").code == 0
    learned = judgenet("learn", "out", "--json").json["learned"]
    assert (learned["nonnegative"]["n_used"], learned["best_single"]["n_used"]) == (40, 34)
    less = learned["nonnegative"]["less"]["best_single"]
    assert less["n"] == less["accuracy"]["n"] == 34
    assert less["accuracy"]["second"] == learned["best_single"]["accuracy"] == pytest.approx(31 / 34)
    gained = (less["only_learned_right"] - less["only_other_right"]) / 34
    assert less["accuracy"]["difference"] == pytest.approx(gained)
    shown = " ".join(judgenet("learn", "out").out.split())
    assert "learned, weights of 0 or more compared with best single neuron: accuracy" in shown
    assert "on 34 pairs" in shown


@pytest.fixture
def ran(judgenet: Judgenet, at: tuple[str, ...], tmp_path: Path) -> Judgenet:
    """A run of two neurons on forty labelled pairs, in ``out``; ``more.jsonl`` has ten of them and ten others."""
    records = [
        {
            "id": f"p{i}",
            "question": f"Why {i}?",
            "response_a": f"So {i}.",
            "response_b": "No.",
            "human": "ab"[i % 3 == 0],
        }
        for i in range(50)
    ]
    for name, part in (("pairs", records[:40]), ("more", records[30:])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in part), encoding="utf-8")
    (tmp_path / "roles.txt").write_text("Facts: Is it true?\nStyle: Is it clear?\n", encoding="utf-8")
    shape = ("--width", 2, "--depth", 1, "--roles", "roles.txt")
    assert judgenet("run", "--pairs", "pairs.jsonl", *at, "--out", "out", *shape).code == 0
    return judgenet


@pytest.mark.parametrize("kind", ["nonnegative", "any-sign", "ising", "dawid-skene"])
def test_what_was_learned_judges_a_new_run(ran: Judgenet, at: tuple[str, ...], tmp_path: Path, kind: str) -> None:
    told = ran("learn", "out", "--save", "judges.judgenet", "--kind", kind, "--decides", "--json")
    assert told.code == 0
    assert "judges.judgenet" in told.json["saved"]
    rule = json.loads(Path("judges.judgenet").read_text(encoding="utf-8"))["network"]["aggregation"]["learned"]
    assert rule["kind"] == kind.replace("-", "_")
    assert [of["role"] for of in rule["neurons"]] == ["Facts", "Style"]
    assert rule["labels"] == (0 if kind == "dawid-skene" else 40)
    assert rule["run"] == ran("metrics", "out", "--json").json["run"]

    assert ran("run", "judges.judgenet", "--pairs", "more.jsonl", *at, "--out", "new").code == 0
    shown = ran("metrics", "new", "--json").json
    found = shown["aggregations"]["learned"]
    # Ten of the twenty taught it, without the other thirty that did: they say nothing of it.
    taught = 0 if kind == "dawid-skene" else 10
    assert found["n_used"] == shown["aggregations"]["c1"]["n_used"] - taught
    assert shown["review_share"]["aggregation"] == "learned"
    notes = " ".join(shown["notes"])
    assert ("10 of the 20 labelled pairs taught the learned aggregation: its figures leave them out" in notes) == (
        taught > 0
    )
    assert ("negative" in notes.lower()) == (kind in ("any-sign", "ising"))

    # The verdicts follow from the weights and the exported calls.
    lines = ran("export", "new", "--what", "verdicts").lines
    calls = ran("export", "new", "--what", "calls").lines
    if kind in ("nonnegative", "any-sign"):
        weights = {(of["layer"], of["neuron"]): of["weight"] for of in rule["neurons"]}
        for line in lines:
            votes: dict[tuple[int, int], list[int]] = {}
            for call in calls:
                if call["pair_id"] == line["pair_id"] and call["verdict"]:
                    sign = {"a": 1, "b": -1, "tie": 0}[call["verdict"]]
                    votes.setdefault((call["layer"], call["neuron"]), []).append(sign)
            score = sum(weights[place] * sum(signs) / len(signs) for place, signs in votes.items())
            want = None if not votes else "tie" if abs(score) < 1e-9 else "a" if score > 0 else "b"
            assert line["learned"] == want
    rates = ran("rate", "new", "--json").json
    assert rates["aggregation"] == "learned"
    assert rates["pairs"]["labelled"] == 20 - taught
    assert ("10 of the 20 labelled pairs taught" in " ".join(rates["notes"])) == (taught > 0)
    assert ran("compare", "out", "new", "--aggregation", "c1", "--json").json["judges_differ"] == {}


@pytest.mark.parametrize("kind", ["nonnegative", "any-sign", "ising"])
def test_figures_on_the_labels_that_taught_are_the_cross_fitted_ones(
    ran: Judgenet, at: tuple[str, ...], kind: str
) -> None:
    assert ran("learn", "out", "--save", "judges.judgenet", "--kind", kind, "--decides").code == 0
    assert ran("run", "judges.judgenet", "--pairs", "pairs.jsonl", *at, "--out", "again").code == 0
    fair = ran("learn", "again", "--json").json["learned"][kind.replace("-", "_")]
    shown = ran("metrics", "again", "--json").json
    for figure in ("accuracy", "macro_f1", "kappa", "n_used"):
        assert shown["aggregations"]["learned"][figure] == pytest.approx(fair[figure])
    rates = ran("rate", "again", "--json").json
    notes = "40 of the 40 labelled pairs taught the learned aggregation: on these its figures take the cross-fitted"
    assert notes in " ".join(rates["notes"])
    report = ran("report", "again", "-o", "again.json")
    assert report.code == 0
    told = json.loads(Path("again.json").read_text(encoding="utf-8"))
    assert notes in " ".join(told["cautions"])
    assert told["aggregations"]["learned"]["accuracy"] == pytest.approx(fair["accuracy"])


def test_what_is_saved_runs_by_itself(ran: Judgenet, at: tuple[str, ...]) -> None:
    """The project has the endpoint that the network names, wherever it is written."""
    Path("elsewhere").mkdir()
    project = Path("elsewhere") / "judges.judgenet"
    learned = ran("learn", "out", "--save", project, "--decides", "--json").json["learned"]["nonnegative"]
    (endpoint,) = json.loads(project.read_text(encoding="utf-8"))["endpoints"].values()
    assert endpoint["base_url"] == at[1]
    told = ran("run", project, "--pairs", "pairs.jsonl", "--out", "again")
    assert told.code == 0
    # The same questions with the same salt get the same answers, on all of which the rule was learned.
    found = ran("metrics", "again", "--json").json["aggregations"]["learned"]
    assert (found["accuracy"], found["n_used"]) == (learned["accuracy"], learned["n_used"])


def test_the_endpoint_is_known_by_the_record_where_the_project_is_gone(ran: Judgenet, at: tuple[str, ...]) -> None:
    for file in Path("out").glob("*.judgenet"):
        file.unlink()
    assert ran("learn", "out", "--save", "judges.judgenet").code == 0
    assert ran("run", "judges.judgenet", "--pairs", "more.jsonl", "--out", "new").code == 0


def test_a_network_that_changed_is_refused(ran: Judgenet, at: tuple[str, ...]) -> None:
    assert ran("learn", "out", "--save", "judges.judgenet").code == 0
    told = ran("run", "judges.judgenet", "--pairs", "more.jsonl", *at, "--out", "new", "--width", 1)
    assert told.code == 2
    assert "does not fit this network any more" in told.err
    # Nor is it written into a project with another network.
    project = json.loads(Path("judges.judgenet").read_text(encoding="utf-8"))
    project["network"]["layers"].append(project["network"]["layers"][0])
    del project["network"]["aggregation"]["learned"]
    Path("other.judgenet").write_text(json.dumps(project), encoding="utf-8")
    before = Path("other.judgenet").read_bytes()
    told = ran("learn", "out", "--save", "other.judgenet")
    assert (told.code, told.out) == (2, "")
    assert "nothing was written" in told.err
    assert "layers of 2 neurons, and the network has 2 + 2" in told.err
    assert Path("other.judgenet").read_bytes() == before


def test_saving_keeps_the_project(ran: Judgenet) -> None:
    ran("learn", "out", "--save", "judges.judgenet")
    project = json.loads(Path("judges.judgenet").read_text(encoding="utf-8"))
    project["metadata"] = {"mine": 1}
    Path("judges.judgenet").write_text(json.dumps(project), encoding="utf-8")
    assert ran("learn", "out", "--save", "judges.judgenet", "--kind", "any-sign").code == 0
    after = json.loads(Path("judges.judgenet").read_text(encoding="utf-8"))
    assert after["metadata"] == {"mine": 1}
    assert after["salt"] == project["salt"]
    assert after["network"]["aggregation"]["learned"]["kind"] == "any_sign"


def test_what_cannot_be_learned_is_not_saved(judgenet: Judgenet, pairs: Path, tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl"
    file.write_text(json.dumps({"pair_id": "p0", "judge": "j", "order": "ab", "verdict": "a"}) + "\n", encoding="utf-8")
    judgenet("import", file, "--pairs", pairs, "--out", "few")
    told = judgenet("learn", "few", "--save", "new.judgenet")
    assert (told.code, told.out) == (2, "")
    assert "20 or more" in told.err
    assert not Path("new.judgenet").exists()
    assert judgenet("learn", "few", "--decides").code == 2
    assert "ends in .judgenet" in judgenet("learn", "few", "--save", "new.json").err
