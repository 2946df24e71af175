"""Command line, report, studio and Python package say the same of one run."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score  # type: ignore[import-untyped]

import judgenet as jn
from judgenet.cli.main import main
from judgenet.core.aggregate import deciding
from judgenet.core.pairs import Verdict
from judgenet.figures.base import as_json
from judgenet.figures.comparison import mcnemar_figures
from judgenet.figures.label_plan import sample_plan
from judgenet.figures.rates import corrected_rates
from judgenet.store.db import Store
from judgenet.store.results import network_of
from judgenet.store.runs import run_info
from judgenet.ui.results.learning import LearnedRun, _learn
from judgenet.ui.results.state import FiguresRequest, OtherRun, Results, _Work, compare_results, compute_results
from judgenet.ui.tasks import Job
from tests.unit.report.runs import fixed_network, labelled_pairs, random_say, record

RUNS = ("run-2", "run-1")
"""The run that is asked, and the one that it is compared with."""


@dataclass(frozen=True)
class Faces:
    """The figures of one run as each face has them: two as JSON, two as values."""

    annotated: list[tuple[tuple[str, Verdict], ...]]
    commands: dict[str, Any]
    report: dict[str, Any]
    studio: Results
    learned: LearnedRun
    beside: OtherRun
    package: jn.Run
    other: jn.Run


def spoken(*words: str) -> Any:
    out = io.StringIO()
    with redirect_stdout(out):
        assert main([*words, "--json"]) == 0
    return json.loads(out.getvalue())


@pytest.fixture(scope="module", params=[1, 3], ids=["each pair its question", "three pairs a question"])
def faces(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Faces:
    """Two runs of the same 90 pairs, some without a label and some without a verdict, a third with two annotators."""
    folder = tmp_path_factory.mktemp("faces")
    pairs = [
        replace(pair, question=f"question {place // request.param}") for place, pair in enumerate(labelled_pairs(90))
    ]
    for place, pair in enumerate(pairs):
        if pair.human is not None and place % 3 == 0:
            other: Verdict = "tie" if place % 9 == 0 else pair.human
            pairs[place] = replace(pair, annotators=(("Ada", pair.human), ("Ben", other)))
    path = folder / "study.judgenet.db"
    for seed, spec in ((3, fixed_network(1, name="single")), (2, fixed_network(3, 2))):
        record(path, pairs, random_say(pairs, seed=seed, unread=0.1)[0], spec)
    mine, other = (f"{path}/{name}" for name in RUNS)
    commands = {
        "metrics": spoken("metrics", mine, "--evidence", "0"),
        "rate": spoken("rate", mine),
        "rate of a random sample": spoken("rate", mine, "--chosen", "random"),
        "compare": spoken("compare", mine, other),
        "bias": spoken("bias", "--recorded", mine),
        "labels": spoken("labels", mine, "--width", "0.1"),
        "learn": spoken("learn", mine),
    }
    file = folder / "report.json"
    assert main(["report", mine, "-o", str(file), "--compare", other]) == 0
    with Store.open(path, readonly=True) as store:
        found = []
        for name in RUNS:
            info = run_info(store, name)
            spec = network_of(info)
            request = FiguresRequest(spec.aggregation, deciding(spec), 0)
            found.append(compute_results(store, info, request, _Work(request, None)))
        learned = _learn(store, found[0].run, "2026-11-30", Job("Learn"))
        beside = compare_results(store, *found)
    package = [jn.open_run(path, name) for name in RUNS]
    annotated = [pair.annotators for pair in pairs if pair.annotators]
    return Faces(annotated, commands, json.loads(file.read_text("utf-8")), found[0], learned, beside, *package)


def test_agreement(faces: Faces) -> None:
    expected = faces.commands["metrics"]["aggregations"]
    assert expected["c2_all"]["accuracy_ci"] is not None
    assert faces.report["aggregations"] == expected
    assert as_json(faces.studio.report.aggregations) == expected
    assert as_json(faces.package.agreement().aggregations) == expected
    for name, found in expected.items():
        used = faces.package.pairs.dropna(subset=["human", name])
        human, said = used["human"], used[name]
        assert found["n_used"] == len(used) < found["n_total"] == 90
        assert found["accuracy"] == pytest.approx(accuracy_score(human, said))
        assert found["macro_f1"] == pytest.approx(f1_score(human, said, average="macro"))
        assert found["kappa"] == pytest.approx(cohen_kappa_score(human, said))


def test_the_corrected_rate(faces: Faces) -> None:
    expected = faces.commands["rate"]
    methods = ("stratified", "ppi", "human_only", "lee", "k_class", "naive")
    assert expected["naive"]["value"] is not None
    for method in methods:
        assert faces.report["rates"]["estimates"][method] == expected[method]
        assert as_json(faces.studio.report.rates.estimates[method]) == expected[method]  # type: ignore[index]
        assert faces.package.rate()[method] == expected[method]
    assert faces.report["rates"]["labels"] == as_json(faces.studio.report.rates.sample) == expected["labels"]
    assert faces.package.rate().to_dict() == expected
    # Labels that count as drawn at random: the headline, from the pairs as Python users have them.
    corrected = faces.package.rate("random")
    of_sample = faces.commands["rate of a random sample"]
    assert corrected.to_dict() == of_sample
    studio = corrected_rates(faces.studio.frame, faces.studio.report.decides, "random")
    assert {method: of_sample[method] for method in methods} == as_json(studio.estimates)
    used = faces.package.pairs.dropna(subset=["c2_all"])
    score = used["human"].map({"a": 0.0, "tie": 0.5, "b": 1.0})
    by_verdict = score.groupby(used["c2_all"])
    # One even pseudo-label a verdict has the mean score of one half.
    means = (by_verdict.sum() + 0.5) / (by_verdict.count() + 1)
    shares = used["c2_all"].value_counts(normalize=True)
    assert corrected.stratified.value == pytest.approx(float((means * shares).sum()))


def test_the_comparison(faces: Faces) -> None:
    expected = faces.commands["compare"]
    beside, compared = faces.report["beside"], faces.beside.compared
    assert faces.package.compare(faces.other).to_dict() == expected
    assert beside["mcnemar"] == as_json(mcnemar_figures(compared.figures)) == expected["mcnemar"]
    assert beside["differences"] == as_json(compared.figures.differences) == expected["differences"]
    assert beside["labels_differ"] == expected["pairs"]["labels_differ"] == 0
    assert beside["common"] == faces.beside.common == expected["pairs"]["common"] == 90
    assert beside["judges_differ"] == as_json(faces.beside.differing) == expected["judges_differ"]
    for rate in (beside["rate"], as_json(compared.rate)):
        assert {**rate, "reason": None} == {**expected["rate"], "reason": None}
    both = faces.package.pairs[["human", "c2_all"]].assign(other=faces.other.pairs["c2_all"]).dropna()
    mine, theirs = both["c2_all"] == both["human"], both["other"] == both["human"]
    assert expected["mcnemar"]["only_first_right"] == (mine & ~theirs).sum()
    assert expected["mcnemar"]["only_second_right"] == (~mine & theirs).sum()
    assert expected["differences"]["accuracy"]["difference"] == pytest.approx(mine.mean() - theirs.mean())


def test_people_among_themselves(faces: Faces) -> None:
    expected, review = faces.commands["metrics"]["annotators"], faces.commands["metrics"]["review_share"]
    assert expected["h"] is not None
    panel = {key: value for key, value in expected.items() if key != "each"}
    assert faces.report["more"]["people"]["panel"] == panel
    studio = as_json(faces.studio.people)
    assert {key: value for key, value in studio["panel"].items() if "_ci" not in key and key != "reasons"} == {
        key: value for key, value in panel.items() if "_ci" not in key and key != "reasons"
    }
    assert studio["review"] == review
    agree = sum(len({said for _, said in profile}) == 1 for profile in faces.annotated)
    assert expected["n"] == len(faces.annotated)
    assert expected["h"] == pytest.approx(agree / len(faces.annotated))


def test_what_is_learned(faces: Faces) -> None:
    expected = faces.commands["learn"]["learned"]
    ways = {way["way"]: way for way in faces.report["more"]["learned"]}
    assert set(ways) == set(expected) >= {"nonnegative", "any_sign", "dawid_skene", "best_single"}
    for way, mine in expected.items():
        assert mine["accuracy"] is not None
        shared = mine.keys() - {"less", "warning"}
        assert {key: ways[way][key] for key in shared} == {key: mine[key] for key in shared}
        assert ways[way]["less"].items() <= mine["less"].items()
        studio = as_json(faces.learned.figures[way])  # type: ignore[index]
        for figure in ("accuracy", "accuracy_ci", "macro_f1", "macro_f1_ci", "kappa", "kappa_ci", "n_used"):
            assert studio[figure] == mine[figure]
        weights = faces.learned.weights[way]  # type: ignore[index]
        assert dict(zip(faces.learned.names, weights, strict=True)) == mine["weights"]
        if mine["less"]:
            less = {of.other: as_json(of) for of in faces.learned.less[way]}  # type: ignore[index]
            assert less == mine["less"]


def test_the_label_plan(faces: Faces) -> None:
    expected = faces.commands["labels"]
    plan = sample_plan(faces.studio.frame, faces.studio.report.decides, 0.1)
    for found in (faces.report["more"]["plan"], as_json(plan.plan)):
        assert found == {key: expected[key] for key in found}


def test_the_biases(faces: Faces) -> None:
    expected = faces.commands["bias"]
    found = faces.package.bias()
    assert found.to_dict() == expected
    assert len(found.to_frame()) == len(expected["cells"]) > 0
