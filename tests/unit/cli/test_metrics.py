"""``judgenet metrics``, against figures that scikit-learn computes from the exported verdicts."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, confusion_matrix, f1_score  # type: ignore[import-untyped]
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

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


def test_every_figure_has_its_interval(judgenet: Judgenet, labelled: Path, at: At) -> None:
    judgenet("run", "--pairs", labelled, *at, "--out", "out", "--width", 2, "--depth", 1, "--roles", "none")
    figures = judgenet("metrics", "out", "--by", "task", "--json").json
    shown = [*figures["aggregations"].values(), *figures["neurons"].values()]
    for part in figures["by"]["task"].values():
        shown += part.values()
    for found in shown:
        hits, n = sum(found["confusion"][i][i] for i in range(3)), found["n_used"]
        low, high = proportion_confint(hits, n, method="wilson")
        assert found["accuracy_ci"] == pytest.approx([low, high], abs=1e-9)
        for figure in ("macro_f1", "kappa"):
            low, high = found[f"{figure}_ci"]
            assert low < found[figure] < high
        assert found["few"] == (n < 20)


def test_neurons_stand_beside_the_aggregations(judgenet: Judgenet, labelled: Path, at: At, server: JudgeServer) -> None:
    """Against accuracy and flips counted from the exported calls."""
    server.set(faults={"prose": 0.4})
    judgenet("run", "--pairs", labelled, *at, "--out", "out", "--width", 2, "--depth", 2, "--roles", "none")
    figures = judgenet("metrics", "out", "--json").json
    assert list(figures["neurons"]) == ["l1.n1", "l1.n2", "l2.n1", "l2.n2"]
    assert set(figures["position"]) == {"c1", *figures["neurons"]}
    human = {line["pair_id"]: line["human"] for line in judgenet("export", "out", "--what", "verdicts").lines}
    scores: dict[tuple[str, str], dict[str, float]] = {}
    for line in judgenet("export", "out", "--what", "calls").lines:
        if line["score_a"] is not None:
            name = f"l{line['layer']}.n{line['neuron']}"
            scores.setdefault((name, line["pair_id"]), {})[line["order"]] = line["score_a"] - line["score_b"]
    gaps = 0
    for name, found in figures["neurons"].items():
        mine = {pair: by_order for (whose, pair), by_order in scores.items() if whose == name}
        right = used = flips = both = 0
        for pair, by_order in mine.items():
            used += human[pair] is not None
            right += _sign(sum(by_order.values())) == human[pair]
            both += len(by_order) == 2
            flips += len(by_order) == 2 and _sign(by_order["ab"]) != _sign(by_order["ba"])
        assert (found["n_used"], found["n_total"]) == (used, 60)
        assert found["accuracy"] == pytest.approx(right / used)
        position = figures["position"][name]
        assert (position["valid_both"], position["n_total"]) == (both, 60)
        assert position["flip_rate"] == pytest.approx(flips / both)
        gaps += both < 60
    assert gaps


def _sign(difference: float) -> str:
    return "tie" if abs(difference) < 1e-9 else "a" if difference > 0 else "b"


def test_a_role_names_its_neuron_after_its_layer(judgenet: Judgenet, labelled: Path, at: At) -> None:
    Path("roles.json").write_text(
        json.dumps([{"name": "Critic", "description": "Finds faults."}, {"name": "Reader", "description": "Reads."}]),
        encoding="utf-8",
    )
    judgenet("run", "--pairs", labelled, *at, "--out", "out", "--limit", 4, "--depth", 1, "--roles", "roles.json")
    assert list(judgenet("metrics", "out", "--json").json["neurons"]) == ["Critic", "Reader"]
    judgenet("run", "--pairs", labelled, *at, "--out", "deep", "--limit", 4, "--depth", 2, "--roles", "roles.json")
    named = list(judgenet("metrics", "deep", "--json").json["neurons"])
    assert named == ["l1.Critic", "l1.Reader", "l2.Critic", "l2.Reader"]


def test_annotators_and_what_people_must_review(judgenet: Judgenet, at: At, tmp_path: Path) -> None:
    """h: three of three agree, one of three pairs of annotators, and two of two."""
    said = [{"x": "a", "y": "a", "z": "a"}, {"x": "a", "y": "b", "z": "b"}, {"x": "tie", "y": "tie"}]
    path = tmp_path / "panel.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for i, annotators in enumerate(said):
            record = {"id": str(i), "question": f"Why {i}?", "response_a": "So.", "response_b": "Because."}
            out.write(json.dumps({**record, "annotators": annotators}) + "\n")
    judgenet("run", "--pairs", path, *at, "--out", "out", "--width", 1, "--depth", 1, "--roles", "none")
    figures = judgenet("metrics", "out", "--json").json
    people, review = figures["annotators"], figures["review_share"]
    assert people["h"] == pytest.approx((1 + 1 / 3 + 1) / 3)
    assert people["pairwise_n"] == {"x|y": 3, "x|z": 2, "y|z": 2}
    assert people["pairwise_kappa"]["x|y"] == pytest.approx(cohen_kappa_score(["a", "a", "tie"], ["a", "b", "tie"]))
    assert people["fleiss"] is None
    assert "equally many" in people["reasons"]["fleiss"]
    assert -1 <= people["alpha_nominal"] <= 1
    accuracy = figures["aggregations"]["c2_all"]["accuracy"]
    assert review["relative"] == pytest.approx(accuracy / people["h"])
    expected = 0 if accuracy >= people["h"] else (people["h"] - accuracy) / (1 - accuracy)
    assert review["review"] == pytest.approx(expected)
    assert review["review_ci"][0] <= review["review"] <= review["review_ci"][1]
    assert len(review["caveats"]) == 2
    assert "Annotators agree" in judgenet("metrics", "out").out


def test_without_annotators_there_is_a_reason(judgenet: Judgenet, labelled: Path, at: At) -> None:
    judgenet("run", "--pairs", labelled, *at, "--out", "out", "--width", 1, "--depth", 1)
    figures = judgenet("metrics", "out", "--json").json
    assert figures["annotators"]["h"] is None
    for name in ("h", "alpha_nominal", "alpha_ordinal", "fleiss", "mean_kappa", "h_ci"):
        assert figures["annotators"]["reasons"][name]
    assert figures["review_share"]["review"] is None
    assert "annotators" in figures["review_share"]["reason"]


def test_pairs_of_one_question_have_no_interval(judgenet: Judgenet, at: At, tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for i in range(12):
            record = {"id": str(i), "question": "Why?", "response_a": f"So {i}.", "response_b": "Because."}
            said = {"x": "ab"[i % 2], "y": "ab"[i % 2]}
            out.write(json.dumps({**record, "human": "ab"[i % 2], "annotators": said}) + "\n")
    judgenet("run", "--pairs", path, *at, "--out", "out", "--width", 1, "--depth", 1, "--roles", "none")
    figures = judgenet("metrics", "out", "--json").json
    found = figures["aggregations"]["c1"]
    assert found["accuracy"] is not None
    assert found["accuracy_ci"] is None
    assert "1 questions" in found["reasons"]["accuracy_ci"]
    assert figures["questions"] == 1
    assert figures["review_share"]["review_ci"] is None
    assert judgenet("metrics", "out").code == 0
