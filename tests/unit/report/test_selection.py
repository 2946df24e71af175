"""From a figure back to its pairs: as many as the figure counts, and each of them what the selection says."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from sklearn.metrics import confusion_matrix  # type: ignore[import-untyped]

from judgenet.core.aggregate import PairVerdicts
from judgenet.core.calls import CallSite
from judgenet.core.evaluation import Evaluation
from judgenet.core.network import Aggregation
from judgenet.core.pairs import VERDICTS, Pair, Verdict
from judgenet.engine.budget import Limits
from judgenet.report.build import build
from judgenet.report.model import Report
from judgenet.report.selection import (
    ConfusionCell,
    OfAggregation,
    OfLeftOut,
    OfNeuron,
    OfRole,
    OfTask,
    OrdersDiffer,
    Overturned,
    Turned,
    compare,
    selected,
)
from judgenet.store.db import Store
from judgenet.store.runs import RunInfo, run_info
from judgenet.store.taught import fair_frame
from tests.pair_verdicts import pair_calls, pair_results
from tests.unit.report.runs import Say, labelled_pairs, record

COUNT = 60


def leaning(pairs: list[Pair]) -> Say:
    """Scores that lean towards people's label and towards what is shown first, the same whatever the order of calls."""

    def say(site: CallSite) -> tuple[float, float] | None:
        draw = random.Random(f"{site}")
        if draw.random() < 0.05:
            return None
        human = pairs[site.pair].human
        lean = {"a": 2, "b": -2, "tie": 0, None: 0}[human] + (1 if site.order == "ab" else -1)
        a, b = (float(min(10, max(1, 5 + push + draw.randint(-3, 3)))) for push in (lean, -lean))
        return a, b

    return say


class Recorded:
    """A run, what the store says of each of its pairs, and what the report makes of it."""

    def __init__(self, store: Store, run: RunInfo) -> None:
        self.store = store
        self.run = run
        self.frame = fair_frame(store, run)
        self.report: Report = build(store, self.frame, resamples=0)
        self.results = list(pair_results(store, run))
        self.calls = [rows for _, rows in pair_calls(store, run)]

    def human(self, pair: int) -> Verdict | None:
        return self.results[pair].pair.pair.human

    def verdicts(self, pair: int) -> PairVerdicts:
        found = self.results[pair].verdicts
        assert found is not None
        return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    place = tmp_path_factory.mktemp("run") / "run.judgenet.db"
    pairs = labelled_pairs(COUNT)
    record(place, pairs, leaning(pairs))
    with Store.open(place, readonly=True) as store:
        yield Recorded(store, run_info(store))


def test_a_cell_of_the_confusion_matrix_leads_to_its_pairs(run: Recorded) -> None:
    both = [
        (run.human(pair), run.verdicts(pair).c2_all)
        for pair in range(COUNT)
        if run.human(pair) is not None and run.verdicts(pair).c2_all is not None
    ]
    table = confusion_matrix([human for human, _ in both], [said for _, said in both], labels=list(VERDICTS))
    for row, human in enumerate(VERDICTS):
        for column, said in enumerate(VERDICTS):
            found = selected(run.frame, ConfusionCell("c2_all", said, human))
            assert len(found) == table[row][column] == run.report.headline.agreement.confusion[row][column]
            assert all(run.human(pair) == human and run.verdicts(pair).c2_all == said for pair in found)


def test_pairs_whose_orders_differ(run: Recorded) -> None:
    position = run.report.position
    expected = {"first": position.primacy, "last": position.recency, "partial": position.partial}
    assert min(expected["first"], expected["partial"]) > 0
    for kind, count in expected.items():
        assert len(selected(run.frame, OrdersDiffer(kind))) == count  # type: ignore[arg-type]
    differ = selected(run.frame, OrdersDiffer())
    assert len(differ) == sum(expected.values())
    assert set(differ) == {p for p in range(COUNT) if run.verdicts(p).c1_ab != run.verdicts(p).c1_ba}
    first = selected(run.frame, OrdersDiffer("first"))
    assert all(run.verdicts(pair).c1_ab == "a" and run.verdicts(pair).c1_ba == "b" for pair in first)


def test_pairs_that_layer_2_overturned_and_whether_that_was_right(run: Recorded) -> None:
    found = run.report.changes[0].overturns
    assert found.to_right > 0
    for turn, count in (
        ("all", found.overturned),
        ("right", found.to_right),
        ("wrong", found.to_wrong),
        ("between", found.between_wrong),
    ):
        chosen = selected(run.frame, Overturned(1, 2, turn))  # type: ignore[arg-type]
        assert len(chosen) == count
        for pair in chosen:
            before, after = run.verdicts(pair).c2_layers
            assert before != after
            assert (turn != "right") or after == run.human(pair)
            assert (turn != "wrong") or before == run.human(pair)
    for row, was in enumerate(VERDICTS):
        for column, now in enumerate(VERDICTS):
            pairs = selected(run.frame, Turned(1, 2, was, now))
            assert len(pairs) == found.table[row][column]
            assert all(run.verdicts(pair).c2_layers == (was, now) for pair in pairs)


def test_pairs_on_which_a_neuron_a_role_a_task_an_aggregation_was_wrong(run: Recorded) -> None:
    for neuron in run.report.neurons:
        figures = neuron.figures.agreement
        right = selected(run.frame, OfNeuron(neuron.layer, neuron.neuron, True))
        wrong = selected(run.frame, OfNeuron(neuron.layer, neuron.neuron, False))
        assert len(right) == round((figures.accuracy or 0) * figures.n_used)
        assert len(right) + len(wrong) == figures.n_used
        for pair in right:
            said = {of[:2]: of.verdict for of in run.verdicts(pair).neurons}
            assert said[neuron.layer, neuron.neuron] == run.human(pair)
    for role in run.report.roles:
        figures = role.figures.agreement
        right = selected(run.frame, OfRole(role.role, True))
        assert len(right) == round((figures.accuracy or 0) * figures.n_used)
        assert len(right) + len(selected(run.frame, OfRole(role.role.upper(), False))) == figures.n_used
    for task in run.report.tasks:
        figures = task.figures["c1"].agreement
        right = selected(run.frame, OfTask(task.task, "c1", True))
        assert len(right) == round((figures.accuracy or 0) * figures.n_used)
        assert all(run.results[pair].pair.pair.task == task.task for pair in right)
    figures = run.report.aggregations["c2_l1"].agreement
    wrong = selected(run.frame, OfAggregation("c2_l1", False))
    assert len(wrong) == figures.n_used - round((figures.accuracy or 0) * figures.n_used)


def test_what_is_left_out_leads_to_its_pairs(run: Recorded) -> None:
    unlabelled = selected(run.frame, OfLeftOut("no label", "c2_all"))
    assert len(unlabelled) == run.report.headline.agreement.n_unlabelled > 0
    assert all(run.human(pair) is None for pair in unlabelled)
    unscored = set(selected(run.frame, OfLeftOut("unscored", "c2_all")))
    expected = {
        pair
        for pair, rows in enumerate(run.calls)
        if any(row.site.order is not None and not isinstance(row.result, Evaluation) for row in rows)
    }
    assert unscored == expected != set()
    assert selected(run.frame, OfLeftOut("not judged", "c2_all")) == ()


def test_a_run_that_stopped_at_its_limit_lists_what_is_not_judged(tmp_path: Path) -> None:
    place = tmp_path / "run.judgenet.db"
    pairs = labelled_pairs(30)
    record(place, pairs, leaning(pairs), limits=Limits(max_calls=100))
    with Store.open(place, readonly=True) as store:
        run = Recorded(store, run_info(store))
        assert run.run.state == "budget"
        open_pairs = selected(run.frame, OfLeftOut("not judged", "c2_all"))
        assert open_pairs == tuple(p for p, result in enumerate(run.results) if result.verdicts is None)
        assert 0 < len(open_pairs) == 30 - run.report.data.finished


def test_other_rules_are_compared_pair_by_pair(run: Recorded) -> None:
    rules = Aggregation(vote="call", ties="candidate", fallback="c1")
    frame = fair_frame(run.store, run.run, rules)
    report = build(run.store, frame, recorded=run.frame.spec.aggregation, resamples=0)
    other = [result.verdicts for result in pair_results(run.store, run.run, rules)]
    found = compare(run.frame, frame, ("c2_all", "c2_all"))
    changed = {pair for pair, new in enumerate(other) if new and new.c2_all != run.verdicts(pair).c2_all}
    assert set(found.pairs["all"]) == changed != set()
    assert found.overturns.overturned == len(changed)
    labelled = found.overturns.n_labelled
    before, after = run.report.headline.agreement.accuracy, report.headline.agreement.accuracy
    assert before is not None
    assert after is not None
    assert found.overturns.gain == pytest.approx(after - before)
    assert labelled == report.headline.agreement.n_used
    assert report.spec.aggregation == rules
    assert report.recorded == Aggregation()


def test_only_common_pairs_are_compared(run: Recorded) -> None:
    found = compare(run.frame, run.frame, ("c2_l1", "c2_l2"), [(pair, pair) for pair in range(0, COUNT, 2)])
    assert found.overturns.n == COUNT // 2
    assert set(found.pairs["all"]) == {pair for pair in selected(run.frame, Overturned(1, 2)) if pair % 2 == 0}
    assert compare(run.frame, run.frame, ("c1", "c1"), []).overturns.n == 0
