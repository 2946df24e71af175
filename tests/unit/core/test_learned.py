"""A learned way to join neurons: what it says, its JSON form, and that it goes where the network it fits goes."""

from __future__ import annotations

import json
from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pytest

from judgenet.core.aggregate import Opinion, aggregate, aggregation_names, deciding
from judgenet.core.checks import check
from judgenet.core.design import add_neuron, remove_layer, set_role
from judgenet.core.evaluation import Evaluation, Reason, Unscored
from judgenet.core.fixes import fix
from judgenet.core.learned import fingerprint, learned_verdict, misfit, teachers
from judgenet.core.network import (
    Aggregation,
    LayerSpec,
    LearnedRule,
    NetworkError,
    NetworkSpec,
    NeuronSpec,
    NeuronWeight,
    Role,
    RolesSpec,
)
from judgenet.core.network_json import digest, from_json, to_json
from judgenet.core.pairs import Pair, Verdict
from judgenet.core.wording import aggregation_title
from judgenet.stats.learning import dawid_skene, ising, logistic

ROLES = ("Facts", "Style")
NET = NetworkSpec(
    (LayerSpec(tuple(NeuronSpec(role=Role(name)) for name in ROLES)), LayerSpec((NeuronSpec(),))),
    roles=RolesSpec("none"),
)
RULE = LearnedRule(
    "any_sign",
    (NeuronWeight(1, 1, "Facts", 1.0), NeuronWeight(1, 2, "Style", -0.5), NeuronWeight(2, 1, None, 0.25)),
    (2, 1),
    run="r1",
    data="d",
    network=digest(NET),
    labels=40,
    seed=3,
    penalty=0.3,
    made="2026-01-02",
    pairs="00112233",
)
# Two neurons of Dawid and Skene's model: the first is right nine times of ten, the second is a coin.
COIN = ((0.45, 0.45, 0.1),) * 3
SURE = ((0.9, 0.05, 0.05), (0.05, 0.9, 0.05), (0.25, 0.25, 0.5))
MODEL = LearnedRule(
    "dawid_skene",
    (NeuronWeight(1, 1, None, log(18), SURE), NeuronWeight(1, 2, None, 0.0, COIN)),
    (2,),
    prior=(0.4, 0.4, 0.2),
)


def with_rule(rule: LearnedRule, spec: NetworkSpec = NET) -> NetworkSpec:
    return replace(spec, aggregation=replace(spec.aggregation, learned=rule))


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        ({(1, 1): 1.0, (1, 2): 1.0, (2, 1): -1.0}, "a"),  # 1 - .5 - .25
        ({(1, 1): -1.0, (1, 2): -1.0, (2, 1): 1.0}, "b"),
        ({(1, 1): 0.5, (1, 2): 1.0, (2, 1): 0.0}, "tie"),
        ({(1, 2): 1.0}, "b"),
        ({(2, 1): 0.0}, "tie"),
        ({}, None),
        ({(3, 1): 1.0}, None),
    ],
)
def test_a_weighted_sum(votes: dict[tuple[int, int], float], verdict: Verdict | None) -> None:
    assert learned_verdict(RULE, votes) == verdict


def test_the_likeliest_class() -> None:
    """By hand: A .4 x .9 x .45 = .162, B .009, tie .0225; with the sure neuron's tie: A .02, B .02, tie .1."""
    assert learned_verdict(MODEL, {(1, 1): 1.0, (1, 2): -1.0}) == "a"
    assert learned_verdict(MODEL, {(1, 1): -0.5, (1, 2): 1.0}) == "b"
    assert learned_verdict(MODEL, {(1, 1): 0.0}) == "tie"
    assert learned_verdict(MODEL, {(1, 2): 1.0}) == "tie"
    assert learned_verdict(MODEL, {}) is None


def _votes() -> tuple[np.ndarray[Any, np.dtype[np.float64]], list[Verdict | None]]:
    rng = np.random.default_rng(5)
    truth = rng.choice([-1.0, 1.0], size=80)
    votes = np.where(rng.random((80, 3)) < (0.9, 0.7, 0.5), truth[:, None], -truth[:, None])
    votes[rng.random((80, 3)) < 0.15] = 0
    votes[rng.random((80, 3)) < 0.15] = np.nan
    return votes, ["a" if one > 0 else "b" for one in truth]


@pytest.mark.parametrize("kind", ["nonnegative", "dawid_skene", "ising", "ising with ties"])
def test_it_says_what_was_learned(kind: str) -> None:
    """The pairs that nobody labelled are judged by the fit to all: so must the rule that is kept."""
    votes, labels = _votes()
    if kind.endswith("ties"):
        labels[::4] = ["tie"] * 20
        votes[::4] *= np.random.default_rng(1).random((20, 3)) < 0.3
    unlabelled: list[Verdict | None] = [*labels[:40], *(None for _ in range(40))]
    groups = [0 if kind == "dawid_skene" else place for place in range(80)]
    if kind == "dawid_skene":
        found = dawid_skene(votes, groups)
    else:
        found = (ising if kind.startswith("ising") else logistic)(votes, unlabelled, groups)
    tables = found.tables or ((),) * 3
    tie_weights = found.tie_weights or (0.0,) * 3
    assert (found.tie_odds is not None) == kind.endswith("ties")
    rule = LearnedRule(
        kind.partition(" ")[0],  # type: ignore[arg-type]
        tuple(
            NeuronWeight(1, place + 1, None, weight, table, tie_weight)
            for place, (weight, table, tie_weight) in enumerate(zip(found.weights, tables, tie_weights, strict=True))
        ),
        (3,),
        prior=found.prior,
        tie_odds=found.tie_odds,
    )
    for row, said in zip(votes[40:], found.verdicts[40:], strict=True):
        given = {(1, place + 1): float(vote) for place, vote in enumerate(row) if not np.isnan(vote)}
        assert learned_verdict(rule, given) == said


def evaluation(a: float, b: float) -> Evaluation:
    return Evaluation(None, "a" if a > b else "b" if b > a else "tie", a, b)


def test_it_stands_beside_the_other_verdicts() -> None:
    """Neuron 1 prefers A in one order and ties in the other (.5), neuron 2 prefers A twice (1): .5 - .5 is a tie."""
    calls = [
        Opinion(1, 1, "ab", 1, evaluation(8, 2)),
        Opinion(1, 1, "ba", 1, evaluation(5, 5)),
        Opinion(1, 2, "ab", 1, evaluation(6, 5)),
        Opinion(1, 2, "ba", 1, evaluation(7, 5)),
        Opinion(2, 1, "ab", 1, Unscored(Reason.REFUSED)),
        Opinion(2, 1, "ba", 1, Unscored(Reason.REFUSED)),
    ]
    spec = with_rule(RULE)
    found = aggregate(calls, 2, spec.aggregation)
    assert found.learned == "tie"
    assert (found.c1, found.c2_all) == ("a", "a")
    assert tuple(found.named()) == aggregation_names(spec) == ("c1", "c2_l1", "c2_l2", "c2_all", "learned")
    assert "learned" not in aggregate(calls, 2).named()
    assert (deciding(spec), deciding(with_rule(replace(RULE, decides=True)))) == ("c2_all", "learned")
    assert aggregation_title("learned") == "Learned"
    assert digest(spec) == digest(NET)


@pytest.mark.parametrize("rule", [RULE, replace(RULE, decides=True, penalty=None), MODEL])
def test_its_json_form_loses_nothing(rule: LearnedRule) -> None:
    spec = with_rule(rule)
    record = json.loads(json.dumps(to_json(spec), allow_nan=False))
    assert from_json(record) == spec
    assert from_json(to_json(NET)).aggregation == Aggregation()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "forest"}, "kind"),
        ({"neurons": []}, "needs a neuron"),
        ({"neurons": [{"layer": 0, "neuron": 1, "weight": 1}]}, "count from 1"),
        ({"neurons": [{"layer": 1, "neuron": 1}]}, "neurons[0].weight"),
        ({"neurons": [{"layer": 1, "neuron": 1, "weight": 1}] * 2}, "twice"),
        ({"kind": "nonnegative"}, "0 or more"),
        ({"kind": "dawid_skene"}, "neurons[0].table"),
        ({"widths": [2, "x"]}, "widths[1]"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_record_that_is_no_learned_rule(change: dict[str, Any], words: str) -> None:
    record = to_json(with_rule(RULE))
    record["aggregation"]["learned"] |= change
    with pytest.raises(NetworkError) as raised:
        from_json(record)
    assert str(raised.value).startswith("aggregation.learned")
    assert words in str(raised.value)


def test_shares_that_are_none() -> None:
    for place, value in (("prior", [0.5, 0.4, 0.2]), ("table", [[1, 0, 0]] * 2), ("table", [[1, 0]] * 3)):
        record = to_json(with_rule(MODEL, NetworkSpec((LayerSpec((NeuronSpec(), NeuronSpec())),))))
        rule = record["aggregation"]["learned"]
        (rule if place == "prior" else rule["neurons"][0])[place] = value
        with pytest.raises(NetworkError, match=place):
            from_json(record)


def test_a_changed_network_flags_it_and_a_button_removes_it() -> None:
    spec = with_rule(RULE)
    assert misfit(spec, RULE) == ""
    assert [problem for problem in check(spec) if problem.path == "aggregation.learned"] == []
    for changed, words in (
        (add_neuron(spec, 0), "layers of 2 + 1 neurons, and the network has 3 + 1"),
        (remove_layer(spec, 1), "2 + 1 neurons, and the network has 2"),
        (set_role(spec, 0, 1, Role("Tone")), "had the role 'Style' when it was learned, and has the role 'Tone'"),
        (set_role(spec, 0, 1, None), "has no role of its own"),
    ):
        [problem] = [problem for problem in check(changed) if problem.path == "aggregation.learned"]
        assert problem.severity == "error"
        assert words in problem.message
        mended = fix(changed, problem)
        assert mended is not None
        assert mended.spec.aggregation.learned is None
        assert mended.spec.layers == changed.layers


def test_the_pairs_that_it_was_learned_from_are_known_again() -> None:
    pairs = [Pair(str(number), f"Q{number}", "x", "y") for number in range(9)]
    rule = replace(RULE, pairs=fingerprint(pairs[:5]))
    assert len(rule.pairs) == 40
    assert [teachers(rule)(pair) for pair in pairs] == [True] * 5 + [False] * 4
    assert teachers(rule)(replace(pairs[0], id="other", human="a"))
    assert not any(teachers(none)(pair) for none in (replace(RULE, pairs=""), None) for pair in pairs)
