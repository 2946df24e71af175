"""The rule that accepts verdicts: of one pair and of all at once, in a network, and in a document."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from judgenet.core.acceptance import ACCEPTED, acceptance_misfit, weights_hash
from judgenet.core.aggregate import Opinion, aggregate, aggregation_names, deciding, deciding_of_all, verdict_names
from judgenet.core.checks import check
from judgenet.core.evaluation import Evaluation, Reason, Unscored, VerdictShares
from judgenet.core.fixes import fix
from judgenet.core.network import AcceptanceRule, Aggregation, Confidence, LearnedRule, NetworkError, NeuronWeight
from judgenet.core.network_json import from_json, to_json
from judgenet.core.pairs import ORDERS, Verdict
from judgenet.core.presets import network
from judgenet.stats.curves import CODES
from judgenet.stats.verdicts import CallScores, verdict_table

WEIGHTS = LearnedRule(
    "nonnegative", tuple(NeuronWeight(1, n, None, weight) for n, weight in ((1, 1.5), (2, 0.5))), (2, 1), labels=30
)


def rule(kind: Confidence = "calls", threshold: float = 0.8, aggregation: str = "c1") -> AcceptanceRule:
    learned = WEIGHTS if kind == "learned" else None
    return AcceptanceRule(aggregation, kind, threshold, 0.1, 0.05, labels=60, run="run-1", learned=learned)


@pytest.mark.parametrize("kind", get_args(Confidence))
def test_one_pair_and_all_pairs_accept_the_same(kind: Confidence) -> None:
    """200 pairs of two neurons, one in layer 2 and a chair, two orders, two samples; a fifth of the calls failed."""
    rng = np.random.default_rng(7)
    places = ((1, 1), (1, 2), (2, 1), (3, 1))
    shape = (200, len(places), 2, 2)
    difference = rng.integers(-2, 3, shape).astype(float)
    difference[rng.random(shape) < 0.2] = np.nan
    difference[:5] = np.nan
    shares = rng.dirichlet((0.2, 0.2, 0.2), shape)
    shares[rng.random(shape) < 0.3] = np.nan
    table_of = CallScores(difference, np.ones(shape, bool), places, 2, shares=shares)
    accepted = abstained = 0
    for threshold in (0.1, 0.4, 0.6, 0.75, 1.0, 1.5):
        for name in ("c1", "c2_all", "chair"):
            rules = Aggregation(acceptance=rule(kind, threshold, name))
            names = ("c1", "c2_l1", "c2_l2", "c2_all", "chair", ACCEPTED)
            table = verdict_table(table_of, names, rules)
            for pair in range(200):
                opinions = [
                    Opinion(
                        layer,
                        neuron,
                        order,
                        sample + 1,
                        _result(difference[pair, at, way, sample], shares[pair, at, way, sample].tolist()),
                    )
                    for at, (layer, neuron) in enumerate(places)
                    for way, order in enumerate(ORDERS)
                    for sample in range(2)
                ]
                found = aggregate(opinions, 2, rules, soft=True)
                assert found.named()[ACCEPTED] == CODES[int(table.aggregations[ACCEPTED][pair])]
                accepted += found.accepted is not None
                abstained += found.for_people
                assert found.for_people == (found.named()[name] is not None and found.accepted is None)
    assert accepted > 100
    assert abstained > 100


def _result(difference: float, shares: list[float]) -> Evaluation | Unscored:
    if np.isnan(difference):
        return Unscored(Reason.UNPARSED, "nothing")
    verdict: Verdict = "a" if difference > 0 else "b" if difference < 0 else "tie"
    known = None if np.isnan(shares).any() else VerdictShares(*shares)
    return Evaluation("", verdict, 5.0 + difference, 5.0, known)


def test_a_network_with_a_rule_gives_the_accepted_verdicts() -> None:
    spec = network(2, 1, roles="none")
    with_rule = replace(spec, aggregation=replace(spec.aggregation, acceptance=rule()))
    assert deciding(spec) == deciding_of_all(with_rule) == "c2_all"
    assert deciding(with_rule) == ACCEPTED
    assert aggregation_names(with_rule) == (*aggregation_names(spec), ACCEPTED)
    assert "acceptance" not in to_json(spec)["aggregation"]
    assert from_json(to_json(with_rule)) == with_rule


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"aggregation": "c2_l3"}, "accepts the verdicts c2_l3, and the network has c1, c2_l1, c2_all"),
        ({"vote": "call"}, "other rules of the vote"),
        ({"confidence": "learned", "learned": WEIGHTS}, "learned from layers of 2 + 1 neurons"),
    ],
)
def test_a_rule_that_does_not_fit_is_an_error_with_a_fix(change: dict[str, object], words: str) -> None:
    spec = network(2, 1, roles="none")
    spec = replace(spec, aggregation=replace(spec.aggregation, acceptance=replace(rule(), **change)))  # type: ignore[arg-type]
    (problem,) = (of for of in check(spec) if of.path == "aggregation.acceptance")
    assert problem.severity == "error"
    assert words in problem.message
    fixed = fix(spec, problem)
    assert fixed is not None
    assert fixed.spec.aggregation.acceptance is None


def test_a_rule_on_learned_verdicts_holds_for_the_weights_it_was_chosen_with() -> None:
    spec = network(2, 1, roles="none")
    learned = replace(WEIGHTS, widths=(2,))
    mine = replace(rule(aggregation="learned"), weights=weights_hash(learned))
    spec = replace(spec, aggregation=replace(spec.aggregation, learned=learned, acceptance=mine))
    assert acceptance_misfit(spec, verdict_names(spec)) == ""
    # When and where it was learned makes no difference; a weight does.
    dated = replace(learned, made="2026-11-30", run="run-9", decides=True)
    assert weights_hash(dated) == weights_hash(learned)
    heavier = replace(learned, neurons=(replace(learned.neurons[0], weight=2.0), learned.neurons[1]))
    spec = replace(spec, aggregation=replace(spec.aggregation, learned=heavier))
    assert acceptance_misfit(spec, verdict_names(spec)) == "It was chosen for other learned weights."


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"alpha": 1.5}, "must be a share between 0 and 1, but is 1.5"),
        ({"delta": 0}, "must be a share between 0 and 1, but is 0"),
        ({"confidence": "mood"}, "calls"),
        ({"aggregation": "accepted"}, "must name the verdicts"),
        ({"confidence": "learned"}, "must hold the weights"),
        ({"labels": -1}, "must be 0 or more"),
    ],
)
def test_a_document_with_a_wrong_rule_is_refused(change: dict[str, object], words: str) -> None:
    spec = network(2, 1, roles="none")
    document = to_json(replace(spec, aggregation=replace(spec.aggregation, acceptance=rule())))
    document["aggregation"]["acceptance"] |= change
    with pytest.raises(NetworkError, match=r"aggregation\.acceptance") as refused:
        from_json(document)
    assert words in str(refused.value)
