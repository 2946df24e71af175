"""Reports of recorded runs against figures computed from the scripted scores with scikit-learn, and by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import (  # type: ignore[import-untyped]
    accuracy_score,
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
)

from judgenet.core.calls import CallSite
from judgenet.core.network import Aggregation, Role
from judgenet.core.pairs import VERDICTS, Pair, Verdict
from judgenet.core.presets import network
from judgenet.engine.budget import Limits
from judgenet.report.build import build
from judgenet.report.model import NeuronFigures, Report, ReportedAgreement
from judgenet.report.outline import outline
from judgenet.report.writers.markdown import markdown
from judgenet.store.db import Store
from judgenet.store.runs import run_info
from judgenet.store.taught import fair_frame
from tests.unit.engine import harness
from tests.unit.report.runs import (
    ROLES,
    Scores,
    fixed_network,
    labelled_pairs,
    opened,
    random_say,
    record,
    reported,
)

Said = list[Verdict | None]


def sign(values: list[tuple[float, float] | None]) -> Verdict | None:
    """The verdict of several calls, written anew."""
    valid = [score for score in values if score is not None]
    if not valid:
        return None
    a, b = sum(score[0] for score in valid), sum(score[1] for score in valid)
    return "tie" if abs(a - b) < 1e-9 else "a" if a > b else "b"


def vote(verdicts: Said) -> Verdict | None:
    counts = Counter(verdict for verdict in verdicts if verdict is not None)
    if not counts:
        return None
    return "tie" if counts["a"] == counts["b"] else "a" if counts["a"] > counts["b"] else "b"


class Elsewhere:
    """What the scripted scores say, computed without the program."""

    def __init__(self, pairs: list[Pair], said: Scores) -> None:
        self.pairs = pairs
        self.said = said

    def calls(self, pair: int, **where: object) -> list[tuple[float, float] | None]:
        return [
            score
            for site, score in self.said.items()
            if site.pair == pair and all(getattr(site, name) == value for name, value in where.items())
        ]

    def neuron(self, pair: int, layer: int, neuron: int) -> Verdict | None:
        return sign(self.calls(pair, layer=layer, neuron=neuron))

    def layer(self, pair: int, layer: int) -> Verdict | None:
        neurons = {site.neuron for site in self.said if site.pair == pair and site.layer == layer}
        return vote([self.neuron(pair, layer, neuron) for neuron in neurons])

    def all(self, pair: int) -> Verdict | None:
        places = {(site.layer, site.neuron) for site in self.said if site.pair == pair}
        return vote([self.neuron(pair, *place) for place in places])


def check(figures: ReportedAgreement, pairs: list[Pair], said: Said, total: int | None = None) -> None:
    """The figures are scikit-learn's over the pairs with both, and count them."""
    both = [(pair.human, verdict) for pair, verdict in zip(pairs, said, strict=True) if pair.human and verdict]
    human, judged = [h for h, _ in both], [v for _, v in both]
    found = figures.agreement
    assert figures.used == (len(both), len(pairs) if total is None else total)
    assert found.accuracy == pytest.approx(accuracy_score(human, judged))
    assert found.macro_f1 == pytest.approx(f1_score(human, judged, average="macro", zero_division=0))
    assert found.kappa == pytest.approx(cohen_kappa_score(human, judged))
    assert [list(row) for row in found.confusion] == confusion_matrix(human, judged, labels=VERDICTS).tolist()


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Pair], Elsewhere]:
    pairs = labelled_pairs(60)
    say, said = random_say(pairs)
    path = tmp_path_factory.mktemp("run") / "run.judgenet.db"
    record(path, pairs, say, fixed_network(3, 2, roles=ROLES))
    return path, pairs, Elsewhere(pairs, said)


@pytest.fixture(scope="module")
def report(judged: tuple[Path, list[Pair], Elsewhere]) -> Report:
    return reported(judged[0])


def test_aggregations(report: Report, judged: tuple[Path, list[Pair], Elsewhere]) -> None:
    _, pairs, elsewhere = judged
    indexes = range(len(pairs))
    assert list(report.aggregations) == ["c1", "c2_l1", "c2_l2", "c2_all"]
    assert report.decides == "c2_all"
    assert report.headline is report.aggregations["c2_all"]
    check(report.aggregations["c1"], pairs, [sign(elsewhere.calls(i)) for i in indexes])
    check(report.aggregations["c2_l1"], pairs, [elsewhere.layer(i, 1) for i in indexes])
    check(report.aggregations["c2_l2"], pairs, [elsewhere.layer(i, 2) for i in indexes])
    check(report.headline, pairs, [elsewhere.all(i) for i in indexes])


def test_baseline_is_the_constant_answer(report: Report, judged: tuple[Path, list[Pair], Elsewhere]) -> None:
    _, pairs, elsewhere = judged
    used = [pair for i, pair in enumerate(pairs) if pair.human and elsewhere.all(i)]
    label, count = Counter(pair.human for pair in used).most_common(1)[0]
    assert report.baseline is not None
    assert report.baseline.label == label
    assert report.baseline.figures.agreement.accuracy == pytest.approx(count / len(used))
    assert report.baseline.figures.agreement.kappa == 0
    assert report.baseline.figures.used == report.headline.used


def test_neurons(report: Report, judged: tuple[Path, list[Pair], Elsewhere]) -> None:
    _, pairs, elsewhere = judged
    assert [(n.layer, n.neuron, n.role) for n in report.neurons] == [
        (1, 1, "Accuracy"),
        (1, 2, "Clarity"),
        (1, 3, "Safety"),
        (2, 1, "Accuracy"),
        (2, 2, "Clarity"),
    ]
    for neuron in report.neurons:
        said = [elsewhere.neuron(i, neuron.layer, neuron.neuron) for i in range(len(pairs))]
        check(neuron.figures, pairs, said)
        _check_orders(neuron, elsewhere, len(pairs))
        _check_mind(neuron, pairs, elsewhere)
        mine = [s for site, s in elsewhere.said.items() if (site.layer, site.neuron) == (neuron.layer, neuron.neuron)]
        assert (neuron.calls_scored, neuron.calls_total) == (sum(s is not None for s in mine), 120)


def _check_orders(neuron: NeuronFigures, elsewhere: Elsewhere, n: int) -> None:
    place = {"layer": neuron.layer, "neuron": neuron.neuron}
    both = [
        (sign(elsewhere.calls(i, order="ab", **place)), sign(elsewhere.calls(i, order="ba", **place))) for i in range(n)
    ]
    valid = [(ab, ba) for ab, ba in both if ab and ba]
    assert neuron.position.n == len(valid)
    assert neuron.position.flip_rate == pytest.approx(sum(ab != ba for ab, ba in valid) / len(valid))


def _check_mind(neuron: NeuronFigures, pairs: list[Pair], elsewhere: Elsewhere) -> None:
    if neuron.layer == 1:
        assert neuron.changed is None
        return
    moves = [
        (elsewhere.neuron(i, 1, neuron.neuron), elsewhere.neuron(i, 2, neuron.neuron), pair.human)
        for i, pair in enumerate(pairs)
    ]
    valid = [(before, after, human) for before, after, human in moves if before and after]
    assert neuron.changed is not None
    assert (neuron.changed.n, neuron.changed.overturned) == (len(valid), sum(b != a for b, a, _ in valid))
    right = sum(after == human for before, after, human in valid if human and before != after)
    assert neuron.changed.to_right == right


def test_roles_merge_the_calls_of_all_layers(report: Report, judged: tuple[Path, list[Pair], Elsewhere]) -> None:
    _, pairs, elsewhere = judged
    assert [(role.role, role.pairs) for role in report.roles] == [("Accuracy", 60), ("Clarity", 60), ("Safety", 60)]
    for place, role in enumerate(report.roles, 1):
        check(role.figures, pairs, [sign(elsewhere.calls(i, neuron=place)) for i in range(len(pairs))])


def test_tasks(report: Report, judged: tuple[Path, list[Pair], Elsewhere]) -> None:
    _, pairs, elsewhere = judged
    assert {task.task: task.pairs for task in report.tasks} == {"code": 20, "prose": 20, None: 20}
    for task in report.tasks:
        mine = [i for i, pair in enumerate(pairs) if pair.task == task.task]
        check(task.figures["c2_all"], [pairs[i] for i in mine], [elsewhere.all(i) for i in mine])
        labels = Counter(pairs[i].human for i in mine if pairs[i].human and elsewhere.all(i))
        assert task.baseline is not None
        assert task.baseline.figures.agreement.accuracy == pytest.approx(max(labels.values()) / labels.total())


def test_orders_and_layers(report: Report, judged: tuple[Path, list[Pair], Elsewhere]) -> None:
    _, pairs, elsewhere = judged
    for layer, position in ((None, report.position), (1, report.layers[0].position), (2, report.layers[1].position)):
        where = {} if layer is None else {"layer": layer}
        both = [
            (sign(elsewhere.calls(i, order="ab", **where)), sign(elsewhere.calls(i, order="ba", **where)))
            for i in range(len(pairs))
        ]
        valid = [(ab, ba) for ab, ba in both if ab and ba]
        assert (position.n, position.n_total) == (len(valid), 60)
        assert position.primacy == valid.count(("a", "b"))
        assert position.recency == valid.count(("b", "a"))
        assert position.flip_rate == pytest.approx(sum(ab != ba for ab, ba in valid) / len(valid))
    (change,) = report.changes
    before, after = ([elsewhere.layer(i, layer) for i in range(60)] for layer in (1, 2))
    assert change.overturns.overturned == sum(a != b for a, b in zip(before, after, strict=True) if a and b)
    labelled = [(p.human, b, a) for p, b, a in zip(pairs, before, after, strict=True) if p.human and b and a]
    accuracy = [accuracy_score([h for h, _, _ in labelled], [row[k] for row in labelled]) for k in (1, 2)]
    assert change.overturns.gain == pytest.approx(accuracy[1] - accuracy[0])


def test_calls_and_what_they_cost(report: Report, judged: tuple[Path, list[Pair], Elsewhere]) -> None:
    _, _, elsewhere = judged
    unread = sum(score is None for score in elsewhere.said.values())
    assert [(reason.reason, reason.calls) for reason in report.unscored] == [("unparsed", unread)]
    assert (report.calls_used, report.calls_total) == (600 - unread, 600)
    # 600 calls of 100 tokens in at 10 and 10 out at 20 USD a million.
    assert report.about.spent.price == pytest.approx(600 * (100 * 10 + 10 * 20) / 1e6)
    (model,) = report.about.models
    assert (model.requested, model.returned, model.calls, model.latency_s) == ("judge", "judge-2026", 600, 300.0)
    (parameters,) = report.about.parameters
    assert (parameters.temperature, parameters.max_tokens, parameters.form) == (0.0, 1024, "json")
    assert {left.what: left.count for left in report.left_out}["unscored"] == unread


def test_verdicts_and_labels_are_counted(report: Report, judged: tuple[Path, list[Pair], Elsewhere]) -> None:
    _, pairs, elsewhere = judged
    said = Counter(elsewhere.all(i) for i in range(60))
    human = Counter(pair.human for pair in pairs)
    assert (report.verdicts.a, report.verdicts.b, report.verdicts.tie) == (said["a"], said["b"], said["tie"])
    assert (report.human.a, report.human.b, report.human.tie) == (human["a"], human["b"], human["tie"])
    assert report.data.labelled == 60 - human[None]
    assert (report.data.pairs, report.data.finished, report.data.questions) == (60, 60, 60)


def test_other_rules_and_another_verdict_cost_no_call(judged: tuple[Path, list[Pair], Elsewhere]) -> None:
    path, pairs, elsewhere = judged
    found = reported(path, decides="c1", rules=Aggregation(vote="call"))
    assert found.decides == "c1"
    check(found.headline, pairs, [sign(elsewhere.calls(i)) for i in range(60)])
    by_call = [vote([sign([score]) for score in elsewhere.calls(i)]) for i in range(60)]
    check(found.aggregations["c2_all"], pairs, by_call)
    with pytest.raises(
        ValueError, match=r"c9: this network has no such aggregation\. It has: c1, c2_l1, c2_l2, c2_all"
    ):
        reported(path, decides="c9")


# Pairs read closely


def test_the_most_instructive_pairs(tmp_path: Path) -> None:
    # Pair 0: sure and right. 1: sure and wrong. 2: wrong by a little. 3: swayed by the order. 4: layer 2 turns round.
    scores: dict[int, dict[tuple[int, str], tuple[float, float]]] = {
        0: dict.fromkeys([(1, "ab"), (1, "ba"), (2, "ab"), (2, "ba")], (9, 2)),
        1: dict.fromkeys([(1, "ab"), (1, "ba"), (2, "ab"), (2, "ba")], (10, 1)),
        2: dict.fromkeys([(1, "ab"), (1, "ba"), (2, "ab"), (2, "ba")], (6, 5)),
        3: {(1, "ab"): (9, 2), (1, "ba"): (3, 8), (2, "ab"): (9, 2), (2, "ba"): (3, 8)},
        4: {(1, "ab"): (8, 3), (1, "ba"): (8, 4), (2, "ab"): (2, 9), (2, "ba"): (3, 9)},
    }
    humans: list[Verdict | None] = ["a", "b", "b", None, None]
    pairs = [Pair(f"p{i}", f"q{i}", "one", "two", human=human) for i, human in enumerate(humans)]
    path = tmp_path / "run.judgenet.db"

    def say(site: CallSite) -> tuple[float, float] | None:
        assert site.order is not None
        return scores[site.pair][site.layer, site.order]

    record(path, pairs, say, fixed_network(1, 1))
    found = reported(path)
    assert [(study.kind, study.pair_id) for study in found.studies] == [
        ("people", "p1"),
        ("people", "p2"),
        ("orders", "p3"),
        ("layers", "p4"),
    ]
    assert found.disagreements == {"people": 2, "orders": 1, "layers": 1}
    by_id = {study.pair_id: study for study in found.studies}
    orders = [(q.layer, q.order, q.verdict, q.score_a, q.score_b) for q in by_id["p3"].quotes]
    assert orders == [(1, "ab", "a", 9, 2), (1, "ba", "b", 3, 8)]
    assert (by_id["p3"].mean_ab, by_id["p3"].mean_ba) == (7, -5)
    layers = [(q.layer, q.verdict, q.evidence.text) for q in by_id["p4"].quotes]
    assert layers == [(1, "a", "evidence of layer 1, neuron 1, ab"), (2, "b", "evidence of layer 2, neuron 1, ab")]
    assert [(q.layer, q.verdict) for q in by_id["p1"].quotes] == [(2, "a")]
    assert reported(path, each=1).studies[0].pair_id == "p1"
    assert len(reported(path, each=1).studies) == 3
    assert reported(path, each=0).studies == ()


def test_long_texts_are_cut_and_say_so(tmp_path: Path) -> None:
    pairs = [Pair("p0", "q " * 900, "one " * 900, "two", human="b")]
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, lambda site: (9, 1), fixed_network(1), evidence=lambda site: "because " * 400)
    (study,) = reported(path).studies
    assert (study.question.total, study.response_a.total, study.response_b.total) == (1800, 3600, 3)
    assert len(study.question.text) <= 600
    assert study.response_a.text.endswith("one")
    assert study.response_a.left_out == 3600 - len(study.response_a.text)
    assert study.response_b.left_out == 0
    assert study.quotes[0].evidence.total == 3199  # the reader strips it


# Runs that are not whole


def test_a_run_without_labels(tmp_path: Path) -> None:
    pairs = [Pair(f"p{i}", f"q{i}", "one", "two") for i in range(5)]
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, lambda site: (3, 8))
    found = reported(path)
    assert found.headline.agreement.accuracy is None
    assert found.headline.agreement.reasons["accuracy"] == "no pair has both a human label and a verdict"
    assert found.headline.used == (0, 5)
    assert found.baseline is None
    assert (found.verdicts.value, found.human.value) == (1.0, None)
    assert {left.what: (left.count, left.total) for left in found.left_out} == {"no label": (5, 5)}
    assert found.changes[0].overturns.gain is None


def test_a_run_that_has_not_judged_anything(tmp_path: Path) -> None:
    path = tmp_path / "run.judgenet.db"
    harness.run(path, harness.start(fixed_network(2), labelled_pairs(3), limits=Limits(max_calls=0)))
    found = reported(path)
    assert found.about.state == "budget"
    assert (found.data.pairs, found.data.finished) == (3, 0)
    assert found.verdicts.value is None
    assert found.headline.agreement.accuracy is None
    assert found.position.flip_rate is None
    assert (found.neurons, found.studies, found.prompts, found.roles) == ((), (), (), ())
    left = {row.what: row for row in found.left_out}["not judged"]
    assert (left.count, left.total) == (3, 3)
    assert left.why == found.about.message != ""


def test_a_run_without_pairs(tmp_path: Path) -> None:
    path = tmp_path / "run.judgenet.db"
    harness.run(path, harness.start(fixed_network(2), []))
    found = reported(path)
    assert (found.data.pairs, found.verdicts.n, found.studies) == (0, 0, ())
    assert found.tasks == ()


def test_a_run_stopped_by_its_budget(tmp_path: Path) -> None:
    pairs = labelled_pairs(10, tasks=(None,))
    say, said = random_say(pairs, unread=0)
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, say, fixed_network(2), limits=Limits(max_calls=18))
    found = reported(path)
    elsewhere = Elsewhere(pairs, said)
    done = [i for i in range(10) if len(elsewhere.calls(i)) == 4]
    assert found.about.state == "budget"
    assert 0 < len(done) < 10
    assert (found.data.finished, found.data.pairs) == (len(done), 10)
    check(found.headline, pairs, [elsewhere.all(i) if i in done else None for i in range(10)])
    assert found.verdicts.n == len(done)
    (task,) = found.tasks
    assert (task.pairs, task.figures["c2_all"].used[1]) == (10, 10)


def test_a_pair_whose_calls_are_all_unscored_has_no_verdict(tmp_path: Path) -> None:
    pairs = [Pair(f"p{i}", f"q{i}", "one", "two", human="a") for i in range(3)]
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, lambda site: None if site.pair == 1 else (8, 2), fixed_network(2, 1))
    found = reported(path)
    assert found.headline.used == (2, 3)
    assert (found.verdicts.a, found.verdicts.tie, found.verdicts.n) == (2, 0, 2)
    left = {row.what: (row.count, row.total) for row in found.left_out}
    assert left["no verdict"] == (1, 3)
    assert left["label without verdict"] == (1, 3)
    assert left["unread inputs"] == (2, 18)


# Networks of other kinds


def test_generated_roles_by_task(tmp_path: Path) -> None:
    names = {0: ["Truth", "Style"], 1: ["truth ", "Wit"], 2: ["Style", "Wit"], 3: ["Truth", "Style"]}
    pairs = [Pair(f"p{i}", f"q{i}", "one", "two", task="x" if i < 3 else "y", human="a") for i in range(4)]
    path = tmp_path / "run.judgenet.db"
    record(
        path,
        pairs,
        lambda site: (9, 1) if site.neuron == 1 else (1, 9),
        network(2, 1, settings=harness.SETTINGS),
        roles=lambda pair: names[pair],
    )
    found = reported(path)
    assert [(words.task, words.pairs, dict(words.words)) for words in found.words] == [
        ("x", 3, {"Truth": 1, "Style": 2, "truth": 1, "Wit": 2}),
        ("y", 1, {"Truth": 1, "Style": 1}),
    ]
    by_role = {role.role: role for role in found.roles}
    # Names that differ in case and space alone are one role. Style spoke for A once as the first role.
    assert {name: role.pairs for name, role in by_role.items()} == {"Truth": 3, "Style": 3, "Wit": 2}
    assert by_role["Truth"].figures.agreement.accuracy == 1
    assert by_role["Style"].figures.agreement.accuracy == pytest.approx(1 / 3)
    assert [(n.role, n.roles) for n in found.neurons] == [(None, 3), (None, 2)]


def test_a_chair_decides_and_is_a_neuron_of_its_own(tmp_path: Path) -> None:
    pairs = [Pair(f"p{i}", f"q{i}", "one", "two", human="b") for i in range(4)]
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, lambda site: (2, 8) if site.layer == 2 else (8, 2), fixed_network(2, chair=True))
    found = reported(path)
    assert found.decides == "chair"
    assert found.headline.agreement.accuracy == 1
    assert found.aggregations["c2_all"].agreement.accuracy == 0
    assert [(n.layer, n.neuron, n.role) for n in found.neurons] == [(1, 1, "Accuracy"), (1, 2, "Clarity"), (2, 1, None)]
    assert (found.calls_used, found.calls_total) == (24, 24)
    assert [sample.layer for sample in found.prompts] == [1, 2]


def test_cautions(tmp_path: Path) -> None:
    pairs = [Pair(f"p{i}", "the same question", f"one {i}", "two", human="a") for i in range(4)]
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, lambda site: (8, 2), fixed_network(1, orders="ab"))
    told = " ".join(reported(path).cautions)
    assert "Only 4 pairs have both a human label and a verdict" in told
    assert "4 pairs ask 1 different questions" in told
    assert "in one order (AB only)" in told
    assert reported(path).position.flip_rate is None


def test_the_systems_are_named_where_they_are_the_same_two(tmp_path: Path) -> None:
    pairs = [Pair(f"p{i}", f"q{i}", "one", "two", model_a="old", model_b="new") for i in range(2)]
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, lambda site: (8, 2), fixed_network(1))
    assert (reported(path).data.system_a, reported(path).data.system_b) == ("old", "new")
    mixed = [pairs[0], Pair("p9", "q9", "one", "two", model_a="new", model_b="old")]
    other = tmp_path / "other.judgenet.db"
    record(other, mixed, lambda site: (8, 2), fixed_network(1))
    assert reported(other).data.system_a is None


def test_an_address_is_told_without_its_secrets(tmp_path: Path) -> None:
    path = tmp_path / "run.judgenet.db"
    record(path, labelled_pairs(1), lambda site: (8, 2), fixed_network(1))
    with Store.open(path) as store:
        run = run_info(store)
        url = "https://ada" + ":secret@judge.example:8443/v1?key=hidden"
        run.record["endpoints"] = {"fake": {"kind": "openai", "base_url": url}}
        run.record["learned"] = {"fake": {"judge": {"temperature": "not_applied", "context_window": 9}}}
        found = build(store, fair_frame(store, run))
    assert [(e.name, e.host) for e in found.about.endpoints] == [("fake", "judge.example:8443")]
    assert "secret" not in repr(found)
    assert "hidden" not in repr(found)


def test_progress_is_told_and_can_end_it(tmp_path: Path) -> None:
    path = tmp_path / "run.judgenet.db"
    record(path, labelled_pairs(3), lambda site: (8, 2), fixed_network(1))
    heard: list[tuple[int, int]] = []
    with opened(path) as (store, run):
        fair_frame(store, run, on_progress=lambda done, total: heard.append((done, total)))
        assert (heard[0], heard[-1]) == ((0, 3), (3, 3))

        def stop(done: int, total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fair_frame(store, run, on_progress=stop)


def test_the_same_run_gives_the_same_report(judged: tuple[Path, list[Pair], Elsewhere]) -> None:
    assert reported(judged[0], seed=5) == reported(judged[0], seed=5)


def test_many_neurons_and_odd_names(tmp_path: Path) -> None:
    roles = tuple(Role(f"Role {i}") for i in range(30))
    pairs = labelled_pairs(4)
    say, _ = random_say(pairs)
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, say, fixed_network(30, roles=roles))
    found = reported(path)
    assert len(found.neurons) == 30
    assert [role.role for role in found.roles] == sorted((role.name for role in roles), key=str.casefold)


def test_intervals_are_over_questions_where_they_repeat(tmp_path: Path) -> None:
    pairs = [replace(pair, question=f"question {i // 2}") for i, pair in enumerate(labelled_pairs(48))]
    say, said = random_say(pairs)
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, say, fixed_network(2))
    found = reported(path, resamples=2000)
    assert (found.data.questions, found.data.pairs) == (24, 48)
    elsewhere = Elsewhere(pairs, said)
    right: list[list[float]] = [[] for _ in range(24)]
    for i, pair in enumerate(pairs):
        verdict = elsewhere.layer(i, 1)
        if pair.human and verdict:
            right[i // 2].append(pair.human == verdict)
    groups = [group for group in right if group]
    drawn = np.random.default_rng(5).integers(len(groups), size=(4000, len(groups)))
    hits, sizes = (np.array([f(group) for group in groups])[drawn].sum(axis=1) for f in (sum, len))
    low, high = np.percentile(hits / sizes, (2.5, 97.5))
    shown = found.headline.intervals.accuracy
    assert shown is not None
    # Few questions, nearly all right: wider than the plain bootstrap, which covers too little.
    assert low - 0.08 < shown.low < low
    assert abs(shown.high - high) < 0.03
    assert "over questions" in " ".join(found.cautions)


def test_too_few_questions_give_no_interval(tmp_path: Path) -> None:
    pairs = [replace(pair, question=f"question {i % 9}") for i, pair in enumerate(labelled_pairs(36))]
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, random_say(pairs)[0], fixed_network(2))
    found = reported(path, chosen="random")
    intervals = found.headline.intervals
    assert (intervals.accuracy, intervals.macro_f1, intervals.kappa) == (None, None, None)
    assert "9 questions only; 10 are needed" in intervals.reasons["accuracy"]
    assert found.neurons[0].figures.intervals.accuracy is None
    assert found.headline.agreement.accuracy is not None
    assert found.rates.corrected.value is not None
    assert found.rates.corrected.interval is None
    text = markdown(outline(found))
    assert "no interval" in text
    assert "9 questions only; 10 are needed" in text
    assert "None" not in text


def test_the_first_of_what_is_left_out_are_named(judged: tuple[Path, list[Pair], Elsewhere], report: Report) -> None:
    _, pairs, elsewhere = judged
    left = {one.what: one for one in report.left_out}
    unlabelled = [pair.id for pair in pairs if pair.human is None]
    assert left["no label"].first == tuple(unlabelled[:20])
    unscored = [site for site, score in elsewhere.said.items() if score is None]
    assert left["unscored"].count == len(unscored)
    named = {f"{pairs[s.pair].id} {s.layer}.{s.neuron} {s.order} {s.sample}" for s in unscored}
    assert set(left["unscored"].first) <= named
    assert len(left["unscored"].first) == min(20, len(unscored))
