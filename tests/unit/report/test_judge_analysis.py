"""What a report has beside its counts, against the functions of its parts called on figures computed here."""

from __future__ import annotations

import csv as csv_module
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score  # type: ignore[import-untyped]

from judgenet.core.pairs import Pair, Verdict
from judgenet.report.build import build
from judgenet.report.judge_analysis import deepen
from judgenet.report.model import Report
from judgenet.report.outline import PARTS, outline, sections
from judgenet.report.run_comparison import compare_runs
from judgenet.report.writers.csv import csv
from judgenet.report.writers.json import report_json
from judgenet.report.writers.latex import latex
from judgenet.report.writers.markdown import markdown
from judgenet.store.taught import fair_frame
from tests.unit.report.runs import Scores, fixed_network, labelled_pairs, opened, random_say, record
from tests.unit.report.test_build import Elsewhere, sign


def studied(path: Path, other: Path | None = None, **options: object) -> Report:
    with opened(path) as (store, run):
        frame = fair_frame(store, run)
        found = build(store, frame, **{"resamples": 200, **options})  # type: ignore[arg-type]
        found = deepen(store, found, frame)
        if other is not None:
            with opened(other) as (other_store, other_run):
                found = compare_runs(store, run, found, frame, other_store, other_run)
    return found


def with_people(pairs: list[Pair]) -> list[Pair]:
    """Three annotators: the label, the label, and A."""
    return [
        replace(pair, annotators=(("ann", pair.human), ("bob", pair.human), ("cy", "a")))
        if pair.human is not None
        else pair
        for pair in pairs
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Pair], Scores]:
    pairs = with_people(labelled_pairs(80))
    pairs = [replace(pair, model_a="xyz"[i % 3], model_b="yzx"[i % 3]) for i, pair in enumerate(pairs)]
    say, said = random_say(pairs)
    path = tmp_path_factory.mktemp("run") / "run.judgenet.db"
    record(path, pairs, say, fixed_network(3, 2))
    return path, pairs, said


@pytest.fixture(scope="module")
def report(run: tuple[Path, list[Pair], Scores]) -> Report:
    return studied(run[0])


def test_people_among_themselves(report: Report, run: tuple[Path, list[Pair], Scores]) -> None:
    assert report.more is not None
    people = report.more.people
    assert people is not None
    labels = [pair.human for pair in run[1] if pair.human is not None]
    assert people.units == len(labels)
    # ann and bob always agree; cy agrees with both where the label is A, with neither elsewhere.
    agree = sum(1.0 if label == "a" else 1 / 3 for label in labels) / len(labels)
    assert people.panel.h.value == pytest.approx(agree)
    assert people.need is not None
    assert people.need.target == pytest.approx(agree)
    assert people.need.accuracy == report.headline.agreement.accuracy


def test_neurons_are_compared_with_people_and_the_best(report: Report, run: tuple[Path, list[Pair], Scores]) -> None:
    assert report.more is not None
    raters = report.more.raters
    assert raters is not None
    elsewhere = Elsewhere(run[1], run[2])
    accuracy = {}
    for layer, width in ((1, 3), (2, 2)):
        for neuron in range(1, width + 1):
            said = [(pair.human, elsewhere.neuron(i, layer, neuron)) for i, pair in enumerate(run[1])]
            both = [(human, verdict) for human, verdict in said if human and verdict]
            accuracy[layer, neuron] = accuracy_score(*zip(*both, strict=True))
    assert sorted(one.agreement.accuracy or 0 for one in raters.raters) == pytest.approx(sorted(accuracy.values()))
    assert raters.raters[0].agreement.accuracy == pytest.approx(max(accuracy.values()))
    assert "5 neurons are compared" in raters.warning
    roles = report.more.role_raters
    assert roles is not None
    assert {one.name for one in roles.raters} == {"Accuracy", "Clarity", "Safety"}
    merged = [
        sign(elsewhere.calls(i, layer=1, neuron=1) + elsewhere.calls(i, layer=2, neuron=1)) for i in range(len(run[1]))
    ]
    both = [(pair.human, said) for pair, said in zip(run[1], merged, strict=True) if pair.human and said]
    mine = next(one for one in roles.raters if one.name == "Accuracy")
    assert mine.agreement.kappa == pytest.approx(cohen_kappa_score(*zip(*both, strict=True)))


def test_layers_differ_as_counted_by_hand(report: Report, run: tuple[Path, list[Pair], Scores]) -> None:
    assert report.more is not None
    elsewhere = Elsewhere(run[1], run[2])
    differ = []
    for i in range(len(run[1])):
        one, two = (elsewhere.neuron(i, 2, neuron) for neuron in (1, 2))
        if one and two:
            differ.append(one != two)
    second = report.more.layers[1]
    assert second.diversity.disagreement.value == pytest.approx(np.mean(differ))
    assert second.diversity.n == len(differ)
    assert second.minds is not None
    changed = chances = 0
    for i in range(len(run[1])):
        for neuron in (1, 2):
            before, after = elsewhere.neuron(i, 1, neuron), elsewhere.neuron(i, 2, neuron)
            chances += bool(before and after)
            changed += bool(before and after and before != after)
    assert (second.minds.changed.moved, second.minds.changed.chances) == (changed, chances)


def test_the_whole_network_is_the_last_size(report: Report) -> None:
    assert report.more is not None
    sizes = report.more.sizes
    assert sizes is not None
    assert sizes.what_if is not None
    assert sizes.what_if.whole.accuracy == pytest.approx(report.headline.agreement.accuracy)
    assert sizes.what_if.whole.neurons == 5


def test_systems_are_ranked(report: Report, run: tuple[Path, list[Pair], Scores]) -> None:
    assert report.more is not None
    ranks = report.more.ranks
    assert ranks is not None
    assert {one.name for one in ranks.verdicts.systems} == {"x", "y", "z"}
    assert ranks.n == report.verdicts.n
    assert ranks.n_human == sum(pair.human is not None for pair in run[1])
    wins: dict[str, int] = dict.fromkeys("xyz", 0)
    verdicts: dict[Verdict, str] = {"a": "model_a", "b": "model_b"}
    for pair in run[1]:
        if pair.human in verdicts:
            wins[getattr(pair, verdicts[pair.human])] += 1
    assert ranks.human is not None
    assert {one.name: one.wins for one in ranks.human.systems} == wins


def test_learned_weights_and_what_refuses_them(report: Report, tmp_path: Path) -> None:
    assert report.more is not None
    ways = {way.way: way for way in report.more.learned}
    assert ways["nonnegative"].agreement is not None
    assert min(ways["nonnegative"].weights.values()) >= 0
    assert len(ways["nonnegative"].weights) == 5
    pairs = labelled_pairs(12)
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, random_say(pairs)[0], fixed_network(2))
    few = studied(path)
    assert few.more is not None
    refused = next(way for way in few.more.learned if way.way == "nonnegative")
    assert refused.agreement is None
    assert "20 or more" in refused.reason


def test_all_of_it_is_written_in_every_form(report: Report) -> None:
    made = sections(report)
    for part in ("people", "raters", "diversity", "panel", "review", "learned", "sizes", "ranking", "plan"):
        assert made[part], part  # type: ignore[index]
    text = markdown(outline(report))
    assert "Agreement with people by neuron" in text
    assert "| All neurons | errors | 5 |" in text
    assert "### Which neuron adds most" in text
    assert "nan" not in text.lower().split()
    assert "None" not in text
    found = json.loads(report_json(report), parse_constant=pytest.fail)
    assert found["more"]["people"]["panel"]["pairwise_kappa"]["ann|bob"] == 1
    assert found["more"]["learned"][0]["weights"].keys() == {
        "l1.Accuracy", "l1.Clarity", "l1.Safety", "l2.Accuracy", "l2.Clarity",
    }  # fmt: skip
    assert latex(outline(report)).count(r"\begin{table}") > 12
    rows = {tuple(row[:3]): row[3] for row in csv_module.reader(io.StringIO(csv(report), newline=""))}
    assert report.more is not None
    assert report.more.people is not None
    assert float(rows["people", "annotators", "h"]) == report.more.people.panel.h.value
    assert report.more.worth is not None
    assert float(rows["effective votes", "network", "votes"]) == report.more.worth.network.value
    assert report.more.panel is not None
    best = report.more.panel.choice.labels.steps[0]
    assert (rows["chosen panel", "1 by labels", "adds"]) == best.neuron
    assert float(rows["chosen panel", "1 by labels", "accuracy"]) == best.accuracy.value
    assert len(rows) == csv(report).count("\r\n")


def odd_keys(value: Any, path: str = "") -> Iterator[str]:
    """Where JSON speaks another dialect than the commands' ``--json``."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "interval" or key.endswith("_interval") or (key == "reason" and inner == ""):
                yield f"{path}.{key}"
            yield from odd_keys(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from odd_keys(inner, f"{path}[{place}]")


def test_json_has_the_keys_of_the_commands(report: Report) -> None:
    assert list(odd_keys({"a": [{"interval": None}], "accuracy_interval": 1, "reason": ""})) == [
        ".a[0].interval", ".accuracy_interval", ".reason",
    ]  # fmt: skip
    found = json.loads(report_json(report))
    assert list(odd_keys(found)) == []
    assert report.more is not None
    assert report.more.ranks is not None
    more = found["more"]
    assert more["ranks"]["verdicts"]["systems"][0]["ci"] == list(report.more.ranks.verdicts.systems[0].interval or ())
    assert more["plan"]["needs"]["random"].keys() == {"needed", "labels", "floor", "reason"}
    assert more["layers"][0]["diversity"]["q"].keys() == {"value", "ci", "n", "reason"}
    assert more["panel"].keys() == {"neurons", "correlations", "choice"}
    assert more["panel"]["correlations"]["errors"].keys() == {
        "r", "n", "order", "merges", "pairs", "pairs_total", "reason",
    }  # fmt: skip
    assert more["sizes"]["whole"]["accuracy_ci"] is not None
    assert {way["way"] for way in more["learned"]} == {
        "nonnegative", "any_sign", "ising", "dawid_skene", "best_single",
    }  # fmt: skip


def test_parts_can_be_left_out(report: Report) -> None:
    kept = [part for part in PARTS if part not in ("learned", "sizes")]
    text = markdown(outline(report, kept))
    assert "## Learned weights" not in text
    assert "## Smaller networks" not in text
    assert "## Ranking of systems" in text


def test_two_runs_beside_each_other(run: tuple[Path, list[Pair], Scores], tmp_path: Path) -> None:
    path, pairs, said = run
    say, other_said = random_say(pairs, seed=7)
    other = tmp_path / "other" / "run.judgenet.db"
    other.parent.mkdir()
    record(other, pairs, say, fixed_network(2))
    found = studied(path, other)
    compared = found.beside
    assert compared is not None
    one, two = Elsewhere(pairs, said), Elsewhere(pairs, other_said)
    only_one = only_two = n = 0
    for i, pair in enumerate(pairs):
        first, second = one.all(i), two.all(i)
        if pair.human and first and second:
            n += 1
            only_one += first == pair.human != second
            only_two += second == pair.human != first
    test = compared.comparison.test
    assert (test.only_first, test.only_second, test.n) == (only_one, only_two, n)
    assert (compared.common, compared.second) == (80, "other, run-1")
    assert set(compared.judges_differ) == {"network"}
    text = markdown(outline(found, ("comparison",)))
    assert "Different judges" in text
    assert f"{only_one} pairs, other, run-1 alone on {only_two}" in text


def test_runs_without_a_common_pair_are_refused(run: tuple[Path, list[Pair], Scores], tmp_path: Path) -> None:
    pairs = labelled_pairs(5, tasks=("other",))
    other = tmp_path / "run.judgenet.db"
    record(other, [replace(pair, id=f"q{pair.id}") for pair in pairs], random_say(pairs)[0], fixed_network(2))
    with pytest.raises(ValueError, match="no pair is in both"):
        studied(run[0], other)


def test_a_run_that_judged_nothing_has_nothing_to_say(tmp_path: Path) -> None:
    path = tmp_path / "run.judgenet.db"
    record(path, [], lambda site: (1, 2), fixed_network(2))
    found = studied(path)
    assert found.more is not None
    assert (found.more.people, found.more.raters, found.more.plan, found.more.learned) == (None, None, None, ())
    json.loads(report_json(found), parse_constant=pytest.fail)
    assert "None" not in markdown(outline(found))
