"""Cascades replayed from recorded calls: the same as the rules for one pair, and LLMBar's published judges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from judgenet.core.aggregate import Opinion, aggregate
from judgenet.core.cascade import look, read_stop_rule, stages, voters_of, with_rule
from judgenet.core.design import set_width
from judgenet.core.evaluation import Evaluation, Reason, Unscored
from judgenet.core.network import Aggregation, NetworkSpec
from judgenet.core.pairs import ORDERS, Verdict
from judgenet.core.presets import network
from judgenet.stats.cascade import ReplayStage, replay, replay_stages
from judgenet.stats.whatif import Calls
from judgenet.store.frame import RunFrame

PAIRS, WIDTH, DEPTH, SAMPLES = 300, 3, 2, 2
PLACES = [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)]
RULES = ("decided", "orders-agree", "neurons-agree", "margin>=2", "difference>=1")
CODES: dict[Verdict | None, int] = {None: 0, "a": 1, "tie": 2, "b": 3}


@pytest.fixture(scope="module")
def calls() -> Calls:
    """Calls of a network of three neurons and two, two samples, with failures; neurons mostly agree."""
    rng = np.random.default_rng(11)
    truth = rng.choice([-2.0, 0.0, 2.0], (PAIRS, 1, 1, 1))
    differences = np.rint(truth + rng.normal(0, 1.5, (PAIRS, len(PLACES), 2, SAMPLES)))
    differences[rng.random(differences.shape) < 0.06] = np.nan
    return Calls(
        differences,
        np.ones(differences.shape, bool),
        np.array([layer for layer, _ in PLACES]),
        rng.choice([0, 1, 3], PAIRS).astype(np.uint8),
        np.arange(PAIRS),
    )


def opinions(calls: Calls, pair: int, neurons: set[tuple[int, int]]) -> list[Opinion]:
    found = []
    for column, place in enumerate(PLACES):
        for at, order in enumerate(ORDERS):
            for sample in range(SAMPLES):
                value = float(calls.differences[pair, column, at, sample])
                verdict: Verdict = "a" if value > 0 else "b" if value < 0 else "tie"
                valid = Evaluation("", verdict, 5.0 + value, 5.0)
                result = Unscored(Reason.UNPARSED) if np.isnan(value) else valid
                if place in neurons:
                    weight = 1 if calls.weights is None else float(calls.weights[pair, column])
                    found.append(Opinion(*place, order, sample + 1, result, weight))
    return found


def one_by_one(spec: NetworkSpec, calls: Calls, pair: int) -> tuple[int, int]:
    """How many stages a pair is asked, and what it comes to, by the rules for one pair."""
    found = stages(spec)
    count = 1

    def weight(layer: int, neuron: int) -> float:
        return 1 if calls.weights is None else float(calls.weights[pair, PLACES.index((layer, neuron))])

    while count < len(found):
        neurons = {(stage.layer, of) for stage in found[:count] for of in stage.neurons}
        unasked = sum(voters_of(spec, stage, weight) for stage in found[count:])
        rule = found[count].rule
        so_far = opinions(calls, pair, neurons)
        if rule is not None and look(rule, so_far, found[count - 1].layer, unasked, spec.aggregation).stops:
            break
        count += 1
    neurons = {(stage.layer, of) for stage in found[:count] for of in stage.neurons}
    return count, CODES[aggregate(opinions(calls, pair, neurons), DEPTH, spec.aggregation).c2_all]


@pytest.mark.parametrize("place", ["", " after=neurons"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "rules",
    [
        Aggregation(),
        Aggregation(vote="call"),
        Aggregation(ties="candidate"),
        Aggregation("call", "candidate", "c1"),
        Aggregation(quorum=2),
        Aggregation(vote="call", quorum=2),
    ],
)
def test_all_pairs_at_once_are_as_one_by_one(calls: Calls, rule: str, place: str, rules: Aggregation) -> None:
    spec = replace(set_width(network(WIDTH, DEPTH, roles="none"), 1, 2), aggregation=rules)
    spec = with_rule(replace(spec, settings=replace(spec.settings, samples=SAMPLES)), rule + place)
    found = replay(calls, replay_stages(stages(spec), PLACES), rules)
    expected = [one_by_one(spec, calls, pair) for pair in range(PAIRS)]
    assert found.reached.tolist() == [count for count, _ in expected]
    assert found.codes.tolist() == [code for _, code in expected]
    assert found.known.all()
    assert len(set(found.reached.tolist())) > 1


@pytest.mark.parametrize("rules", [Aggregation(), Aggregation("call", "candidate", "c1")])
@pytest.mark.parametrize("rule", ["decided", "margin>=1.5", "orders-agree", "difference>=1"])
def test_votes_with_weights_stop_at_once_where_they_stop_one_by_one(
    calls: Calls, rule: str, rules: Aggregation
) -> None:
    drawn = np.random.default_rng(4).choice([0.0, 0.25, 0.5, 1.0, 2.5], (PAIRS, len(PLACES)))
    calls = replace(calls, weights=drawn)
    spec = replace(set_width(network(WIDTH, DEPTH, roles="none"), 1, 2), aggregation=rules)
    spec = with_rule(replace(spec, settings=replace(spec.settings, samples=SAMPLES)), rule + " after=neurons")
    found = replay(calls, replay_stages(stages(spec), PLACES), rules)
    expected = [one_by_one(spec, calls, pair) for pair in range(PAIRS)]
    assert found.reached.tolist() == [count for count, _ in expected]
    assert found.codes.tolist() == [code for _, code in expected]
    assert len(set(found.reached.tolist())) > 1


def test_calls_and_accuracy_are_those_of_the_stages_that_are_asked(calls: Calls) -> None:
    both = (ReplayStage((0, 1), None), ReplayStage((2,), read_stop_rule("orders-agree")))
    found = replay(calls, both, Aggregation())
    assert found.calls[:, 0].tolist() == [8] * PAIRS
    assert found.calls[:, 1].tolist() == [4 if reached == 2 else 0 for reached in found.reached]
    assert found.calls_most.tolist() == [[8.0, 4.0]] * PAIRS
    labelled = (calls.human > 0) & (found.codes > 0)
    assert found.n_used == labelled.sum()
    assert found.accuracy == pytest.approx((found.codes == calls.human)[labelled].mean())


def test_a_pair_whose_next_stage_is_not_recorded_has_no_verdict(calls: Calls) -> None:
    asked, differences = calls.asked.copy(), calls.differences.copy()
    asked[:100, 2], differences[:100, 2] = False, np.nan
    both = (ReplayStage((0, 1), None), ReplayStage((2,), read_stop_rule("orders-agree")))
    whole = replay(calls, both, Aggregation())
    found = replay(replace(calls, asked=asked, differences=differences), both, Aggregation())
    assert found.known.tolist() == [reached == 1 or pair >= 100 for pair, reached in enumerate(whole.reached)]
    assert (found.codes[~found.known] == 0).all()
    assert (found.codes[found.known] == whole.codes[found.known]).all()


def test_a_cascade_needs_stages_of_different_neurons(calls: Calls) -> None:
    for wrong in ((), (ReplayStage((0,), None), ReplayStage((0, 1), None))):
        with pytest.raises(ValueError, match="each neuron is in one of them"):
            replay(calls, wrong, Aggregation())


def test_llmbar_gpt4_is_asked_only_where_palm2_differs_between_orders(llmbar: RunFrame) -> None:
    """Accuracy .790 with 28 % of GPT-4's calls; GPT-4 alone .809 (field-2026, section 5.2)."""
    calls, names = llmbar.what_if_calls(), llmbar.names
    first, then = names.index("PaLM2|Vanilla"), names.index("GPT-4|Vanilla")
    stages_of = (ReplayStage((first,), None), ReplayStage((then,), read_stop_rule("orders-agree")))
    found = replay(calls, stages_of, Aggregation())
    assert found.accuracy == pytest.approx(0.790, abs=0.0005)
    assert (found.n_used, found.n_total) == (419, 419)
    assert found.calls[:, 1].sum() / np.nansum(found.calls_most[:, 1]) == pytest.approx(0.28, abs=0.005)
    alone = replay(calls, (ReplayStage((then,), None),), Aggregation())
    assert alone.accuracy == pytest.approx(0.809, abs=0.0005)
