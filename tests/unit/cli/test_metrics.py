"""``judgenet metrics``, against figures that scikit-learn computes from the exported verdicts."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, confusion_matrix, f1_score  # type: ignore[import-untyped]

from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]
TASKS = ("summary", "code", "[/bold] odd [red]name")
NAMES = ("c1", "c2_l1", "c2_l2", "c2_all", "chair")


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """Sixty pairs of three tasks, every sixth without a label."""
    rng = random.Random(4)
    path = tmp_path / "labelled.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for i in range(60):
            record = {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"So {i}.", "response_b": "Because."}
            record["task"] = TASKS[i % 3]
            if i % 6:
                record["human"] = rng.choice(("a", "b", "b", "tie"))
            out.write(json.dumps(record) + "\n")
    return path


def test_figures_are_those_of_scikit_learn(judgenet: Judgenet, labelled: Path, at: At, server: JudgeServer) -> None:
    """With calls that cannot be read, so that some pairs have no verdict."""
    server.set(faults={"prose": 0.6})
    judgenet("run", "--pairs", labelled, *at, "--out", "out", "--width", 1, "--roles", "none", "--chair")
    figures = judgenet("metrics", "out", "--by", "task", "--json").json
    verdicts = judgenet("export", "out", "--what", "verdicts").lines
    groups = {None: verdicts} | {task: [line for line in verdicts if line["task"] == task] for task in TASKS}
    seen = []
    for task, lines in groups.items():
        shown = figures["aggregations"] if task is None else figures["by"]["task"][task]
        assert tuple(shown) == NAMES
        for name in NAMES:
            used = [(line["human"], line[name]) for line in lines if line["human"] and line[name]]
            human, found = zip(*used, strict=True)
            labels = ["a", "b", "tie"]
            assert shown[name]["labels"] == sorted({*human, *found})
            assert (shown[name]["n_used"], shown[name]["n_total"]) == (len(used), len(lines))
            assert shown[name]["accuracy"] == pytest.approx(accuracy_score(human, found))
            macro = f1_score(human, found, average="macro", zero_division=0)
            assert shown[name]["macro_f1"] == pytest.approx(macro)
            assert shown[name]["kappa"] == pytest.approx(cohen_kappa_score(human, found, labels=labels))
            assert shown[name]["confusion"] == confusion_matrix(human, found, labels=labels).tolist()
            assert shown[name]["majority_baseline"] == pytest.approx(max(map(human.count, labels)) / len(human))
            seen.append(len(used) < sum(line["human"] is not None for line in lines))
    assert any(seen)


def test_the_flip_rate_is_that_of_the_calls(judgenet: Judgenet, labelled: Path, at: At) -> None:
    judgenet("run", "--pairs", labelled, *at, "--out", "out", "--width", 1, "--depth", 1, "--roles", "none")
    shown = judgenet("metrics", "out", "--json").json["position"]["c1"]
    verdicts: dict[str, dict[str, str]] = {}
    for line in judgenet("export", "out", "--what", "calls").lines:
        verdicts.setdefault(line["pair_id"], {})[line["order"]] = line["verdict"]
    both = [(found["ab"], found["ba"]) for found in verdicts.values()]
    assert shown["valid_both"] == shown["n_total"] == len(both) == 60
    assert shown["flip_rate"] == pytest.approx(sum(ab != ba for ab, ba in both) / 60)
    assert shown["first_first"] == both.count(("a", "b"))
    assert shown["last_last"] == both.count(("b", "a"))


def test_the_table_gives_every_figure_with_its_n(judgenet: Judgenet, labelled: Path, at: At) -> None:
    judgenet("run", "--pairs", labelled, *at, "--out", "out", "--width", 1, "--depth", 1)
    ran = judgenet("metrics", "out", "--by", "human")
    assert ran.code == 0
    assert ran.out.count("50 of 60") == 3
    for words in ("accuracy", "macro-F1", "kappa", "baseline", "Flip rate between orders (c1)", "human: tie", "(none)"):
        assert words in ran.out
    assert "n/a: no pair has both a human label and a verdict" in ran.out


def test_names_of_groups_are_shown_as_they_are(judgenet: Judgenet, labelled: Path, at: At) -> None:
    judgenet("run", "--pairs", labelled, *at, "--out", "out", "--limit", 3, "--width", 1, "--depth", 1)
    ran = judgenet("metrics", "out", "--by", "task")
    assert [line for line in ran.out.splitlines() if line.startswith("task: ")] == [f"task: {n}" for n in sorted(TASKS)]


def test_without_labels_there_are_verdicts_and_no_accuracy(judgenet: Judgenet, at: At, tmp_path: Path) -> None:
    record = {"id": "1", "question": "Why?", "response_a": "So.", "response_b": "Because."}
    (tmp_path / "bare.json").write_text(json.dumps([record]), encoding="utf-8")
    judgenet("run", "--pairs", "bare.json", *at, "--out", "out")
    figures = judgenet("metrics", "out", "--json").json
    for found in figures["aggregations"].values():
        assert [found[name] for name in ("accuracy", "macro_f1", "kappa", "majority_baseline")] == [None] * 4
        assert found["reasons"]["kappa"]
        assert (found["n_used"], found["n_total"]) == (0, 1)
    assert "NaN" not in json.dumps(figures)


def test_unknown_groupings_are_named(judgenet: Judgenet, labelled: Path, at: At) -> None:
    judgenet("run", "--pairs", labelled, *at, "--out", "out", "--limit", 1)
    ran = judgenet("metrics", "out", "--by", "colour")
    assert (ran.code, "--by colour" in ran.err, "task, human" in ran.err) == (2, True, True)
