"""``judgenet metrics``, against figures that scikit-learn computes from the exported verdicts."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import pytest
from scipy.stats import entropy  # type: ignore[import-untyped]
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
    for task, of in figures["neurons_by"]["task"].items():
        assert set(of) == set(figures["neurons"]), task
    for name, found in figures["neurons"].items():
        parts = [of[name]["n_used"] for of in figures["neurons_by"]["task"].values()]
        assert sum(parts) == found["n_used"]
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
    assert "n/a – no pair has both a human label and a verdict" in ran.out


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
    ends = figures["aggregations"]["c2_all"]["accuracy_ci"]
    if ends[0] >= people["h"]:
        assert review["review_ci"] is None
        assert "both ends" in review["reason"]
    else:
        assert review["review_ci"][0] <= review["review"] <= review["review_ci"][1]
        assert review["review_ci"][0] < review["review_ci"][1]
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


def test_uncertainty_is_that_of_the_exported_calls(
    judgenet: Judgenet, labelled: Path, at: At, server: JudgeServer
) -> None:
    """The entropy by scipy of the verdicts of a pair's calls: of all layers, of the last, and of one neuron."""
    server.set(faults={"prose": 0.3})
    judgenet("run", "--pairs", labelled, *at, "--out", "out", "--width", 2, "--depth", 2, "--roles", "none")
    calls = [line for line in judgenet("export", "out", "--what", "calls").lines if line["verdict"]]
    for scope in ("all", "last", "l1.n2"):
        found = judgenet("metrics", "out", "--json", "--scope", scope, "--evidence", 0).json["uncertainty"]
        mine: dict[str, list[str]] = {}
        for line in calls:
            name = f"l{line['layer']}.n{line['neuron']}"
            if scope == "all" or (scope == "last" and line["layer"] == 2) or scope == name:
                mine.setdefault(line["pair_id"], []).append(line["verdict"])
        values = [entropy([said.count(verdict) for verdict in ("a", "b", "tie")]) for said in mine.values()]
        shown = found["scopes"][scope]
        assert (shown["entropy"]["n"], shown["n_total"]) == (len(mine), 60)
        assert shown["entropy"]["value"] == pytest.approx(sum(values) / len(values))
        assert shown["certain"]["value"] == pytest.approx(
            sum(len(set(said)) == 1 for said in mine.values()) / len(mine)
        )
        assert shown["calls"] == pytest.approx(sum(map(len, mine.values())) / len(mine))
    review = found["review"]
    first, last = review["points"][0], review["points"][-1]
    assert (first["reviewed"], last["reviewed"], last["accuracy"]) == (0, review["n"], 1)
    unknown = judgenet("metrics", "out", "--scope", "l9.n1")
    assert (unknown.code, "--scope l9.n1" in unknown.err) == (2, True)


def test_panels_and_discussion_are_those_of_the_exported_calls(
    judgenet: Judgenet, labelled: Path, at: At, server: JudgeServer
) -> None:
    """Agreement within a layer, changes of mind and what the others said, counted in a plain loop."""
    server.set(faults={"prose": 0.2})
    judgenet("run", "--pairs", labelled, *at, "--out", "out", "--width", 3, "--depth", 2, "--roles", "none")
    figures = judgenet("metrics", "out", "--json").json
    scores: dict[str, dict[tuple[int, int], float]] = {}
    for line in judgenet("export", "out", "--what", "calls").lines:
        if line["score_a"] is not None:
            place = (line["layer"], line["neuron"])
            of = scores.setdefault(line["pair_id"], {})
            of[place] = of.get(place, 0.0) + line["score_a"] - line["score_b"]
    said = {pair: {place: _sign(of) for place, of in mine.items()} for pair, mine in scores.items()}
    agree, changed, both, taken, against = [], 0, 0, 0, 0
    for mine in said.values():
        layer = [mine[1, n] for n in (1, 2, 3) if (1, n) in mine]
        twos = list(itertools.combinations(layer, 2))
        if twos:
            agree.append(sum(x == y for x, y in twos) / len(twos))
        for n in (1, 2, 3):
            if (1, n) not in mine or (2, n) not in mine:
                continue
            both += 1
            changed += mine[1, n] != mine[2, n]
            others = [mine[1, m] for m in (1, 2, 3) if m != n and (1, m) in mine]
            a, b = others.count("a"), others.count("b")
            most = "a" if a > b else "b" if b > a else "tie" if others and not a else None
            if most and most != mine[1, n]:
                against += 1
                taken += mine[2, n] == most
    layers, found = figures["panel"]["layers"], figures["discussion"]["layers"]["l2"]["neurons"]
    assert (layers["l1"]["h"], layers["l1"]["n"]) == (pytest.approx(sum(agree) / len(agree)), len(agree))
    disagreement = figures["diversity"]["layers"]["l1"]["disagreement"]["value"]
    assert disagreement == pytest.approx(1 - layers["l1"]["h"])
    assert (found["changed"]["moved"], found["changed"]["chances"]) == (changed, both)
    assert (found["to_others"]["moved"], found["to_others"]["chances"]) == (taken, against)
    assert figures["panel"]["against_people"]["best"] == max(
        figures["neurons"], key=lambda name: (figures["neurons"][name]["accuracy"], figures["neurons"][name]["kappa"])
    )
    assert "6 neurons are compared" in figures["panel"]["against_people"]["warning"]
    sample = figures["diversity"]["evidence_sample"]
    assert (sample["pairs"], sample["n_total"], sample["neurons"]) == (60, 60, [1, 2, 3])
    few = judgenet("metrics", "out", "--json", "--evidence", 7, "--seed", 3).json["diversity"]
    assert (few["evidence_sample"]["pairs"], few["layers"]["l1"]["evidence"]["distance"]["n"] <= 7) == (7, True)


def test_annotators_stand_beside_the_majority_of_the_others(judgenet: Judgenet, at: At, tmp_path: Path) -> None:
    said = [{"x": "a", "y": "a", "z": "a"}, {"x": "a", "y": "b", "z": "b"}, {"x": "b", "y": "a", "z": "tie"}]
    path = tmp_path / "panel.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for i, annotators in enumerate(said):
            record = {"id": str(i), "question": f"Why {i}?", "response_a": "So.", "response_b": "Because."}
            out.write(json.dumps({**record, "annotators": annotators}) + "\n")
    judgenet("run", "--pairs", path, *at, "--out", "out", "--width", 1, "--depth", 1, "--roles", "none")
    each = judgenet("metrics", "out", "--json").json["annotators"]["each"]
    # The labels are a, b and (no majority) a tie. Of x's others only pairs 0 (a) and 1 (b) have a majority.
    assert (each["x"]["against_label"]["n"], each["x"]["against_label"]["accuracy"]) == (3, pytest.approx(1 / 3))
    assert (each["x"]["against_others"]["n"], each["x"]["against_others"]["accuracy"]) == (2, 0.5)
    assert (each["y"]["against_others"]["n"], each["y"]["against_others"]["accuracy"]) == (1, 1)


def test_tables_stay_short_unless_all_is_asked_for(judgenet: Judgenet, tmp_path: Path) -> None:
    """Twenty judges and ten tasks: a row a task and ten neurons, or everything."""
    pairs, judgments = tmp_path / "pairs.jsonl", tmp_path / "judgments.jsonl"
    with pairs.open("w", encoding="utf-8") as out, judgments.open("w", encoding="utf-8") as told:
        for i in range(30):
            record = {"id": f"p{i}", "question": f"Why {i}?", "response_a": "So.", "response_b": "Because."}
            out.write(json.dumps({**record, "human": "ab"[i % 2], "task": f"task-{i % 10}"}) + "\n")
            for judge in range(20):
                line = {"pair_id": f"p{i}", "judge": f"judge-{judge}", "order": "ab", "verdict": "ab"[(i + judge) % 2]}
                told.write(json.dumps(line) + "\n")
    judgenet("import", judgments, "--pairs", pairs, "--out", "out")
    short, whole = (judgenet("metrics", "out", "--by", "task", *more).out for more in ((), ("--all",)))
    assert len(short.splitlines()) < 60 < len(whole.splitlines())
    assert "The best 10 of 20 neurons" in short
    assert all(f"judge-{judge}" in whole for judge in range(20))


def test_a_run_without_a_finished_pair_has_figures_with_reasons(judgenet: Judgenet, labelled: Path, at: At) -> None:
    """Roles of some pairs have come back, and no pair is finished."""
    assert judgenet("run", "--pairs", labelled, *at, "--out", "out", "--max-calls", 3).code == 3
    ran = judgenet("metrics", "out", "--json")
    assert ran.code == 0
    figures = ran.json
    assert figures["aggregations"]["c2_all"]["accuracy"] is None
    assert figures["aggregations"]["c2_all"]["reasons"]["accuracy"]
    for command in (("metrics", "out"), ("rate", "out"), ("curve", "out"), ("learn", "out"), ("rank", "out")):
        assert judgenet(*command).code in (0, 1, 2), command
    assert judgenet("report", "out", "-o", "report.html").code == 0
