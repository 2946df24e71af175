"""The verdicts of many pairs at once are those that the rules state for one pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgenet.core.aggregate import Opinion, aggregate, aggregation_names
from judgenet.core.evaluation import Evaluation, Reason, Unscored, VerdictShares
from judgenet.core.network import Aggregation, LayerSpec, LearnedRule, NetworkSpec, NeuronSpec, NeuronWeight, Settings
from judgenet.core.pairs import ORDERS, Verdict
from judgenet.core.soft_votes import soft_names
from judgenet.stats import verdicts
from judgenet.stats.curves import CODES
from judgenet.stats.soft_votes import brier
from judgenet.stats.verdicts import CallScores, verdict_table

PLACES = ((1, 1), (1, 2), (2, 1), (2, 2), (3, 1))
"""Two layers of two neurons, and the chair."""
SPEC = NetworkSpec(layers=(LayerSpec((NeuronSpec(), NeuronSpec())), LayerSpec((NeuronSpec(), NeuronSpec()))))

_calls = st.one_of(st.none(), st.just("unscored"), st.sampled_from([-3.0, -1.0, -0.1, 0.0, 0.1, 0.2, 0.3, 1.0, 2.5]))
_pairs = st.lists(st.lists(_calls, min_size=20, max_size=20), min_size=1, max_size=6)
_weights = st.one_of(st.just((1.0,) * 4), st.tuples(*[st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.25])] * 4))
_rules = st.builds(
    Aggregation,
    vote=st.sampled_from(["neuron", "call"]),
    ties=st.sampled_from(["abstain", "candidate"]),
    fallback=st.sampled_from(["tie", "c1"]),
    quorum=st.sampled_from([None, 1, 2, 3, 5]),
)
LOGISTIC = LearnedRule("nonnegative", (NeuronWeight(1, 1, None, 0.5), NeuronWeight(2, 2, None, 0.25)), (2, 2))
TABLE = ((0.7, 0.2, 0.1), (0.1, 0.8, 0.1), (0.3, 0.3, 0.4))
DAWID_SKENE = LearnedRule(
    "dawid_skene",
    (NeuronWeight(1, 1, None, 0.0, TABLE), NeuronWeight(2, 1, None, 0.0, TABLE)),
    (2, 2),
    prior=(0.4, 0.4, 0.2),
)
ISING = LearnedRule(
    "ising",
    (NeuronWeight(1, 1, None, 1.2, (), 0.4), NeuronWeight(1, 2, None, -0.3), NeuronWeight(2, 1, None, 0.9, (), 0.7)),
    (2, 2),
    tie_odds=-0.6,
)


def balanced_verdict(*orders: Sequence[tuple[float, float]]) -> Verdict | None:
    """The sign of the mean over the orders of the weighted mean of each, in exact fractions; values with weights."""
    whole = [[(Fraction(value), Fraction(weight)) for value, weight in order] for order in orders]
    whole = [order for order in whole if sum(weight for _, weight in order)]
    means = [sum(value * weight for value, weight in order) / sum(weight for _, weight in order) for order in whole]
    total = sum(means)
    return None if not means else "tie" if abs(total) <= 1e-9 else "a" if total > 0 else "b"


def opinions(calls: list[float | str | None], weights: Sequence[float] = (1.0,) * 4) -> list[Opinion]:
    found = []
    sites = [(place, order, sample) for place in PLACES for order in ORDERS for sample in (1, 2)]
    for ((layer, neuron), order, sample), call in zip(sites, calls, strict=True):
        if call is None:
            continue
        result: Evaluation | Unscored = Unscored(Reason.EMPTY)
        if isinstance(call, float):
            verdict: Verdict = "tie" if call == 0 else "a" if call > 0 else "b"
            result = Evaluation("", verdict, 5.0 + call, 5.0)
        weight = dict(zip(PLACES, weights, strict=False)).get((layer, neuron), 1.0)
        found.append(Opinion(layer, neuron, order, sample, result, weight))
    return found


def scores(pairs: list[list[float | str | None]], weights: Sequence[float] | None = None) -> CallScores:
    difference = np.full((len(pairs), len(PLACES), 2, 2), np.nan)
    asked = np.zeros(difference.shape, np.bool_)
    for pair, calls in enumerate(pairs):
        for layer, neuron, order, sample, result, _ in opinions(calls):
            site = (pair, PLACES.index((layer, neuron)), ORDERS.index(order), sample - 1)
            asked[site] = True
            if isinstance(result, Evaluation):
                difference[site] = result.difference
    of_pairs = None if weights is None else np.tile([*weights, 1.0], (len(pairs), 1))
    return CallScores(difference, asked, PLACES, SPEC.depth, weights=of_pairs)


_voices = st.lists(st.integers(0, 1000), min_size=3, max_size=3).filter(any)
_soft_calls = st.one_of(
    st.none(), st.just("unscored"), st.tuples(st.sampled_from([-3.0, -0.1, 0.0, 0.2, 2.5]), _voices)
)
_soft_pairs = st.lists(st.lists(_soft_calls, min_size=20, max_size=20), min_size=1, max_size=4)


@given(_soft_pairs, _rules, st.booleans(), _weights)
@settings(max_examples=100, deadline=None)
def test_soft_votes_of_all_pairs_at_once_as_one_by_one(
    pairs: list[list[tuple[float, list[int]] | str | None]],
    rules: Aggregation,
    small_blocks: bool,
    weights: tuple[float, ...],
) -> None:
    """Probabilities in thousandths; a call whose three are equal has none, and votes whole."""
    plain = [[call[0] if isinstance(call, tuple) else call for call in calls] for calls in pairs]
    table_of = scores(plain, weights if set(weights) != {1.0} else None)
    shares = np.full((*table_of.difference.shape, 3), np.nan)
    told: list[list[Opinion]] = []
    sites = [(place, order, sample) for place in PLACES for order in ORDERS for sample in (1, 2)]
    for pair, calls in enumerate(pairs):
        known = {}
        for ((layer, neuron), order, sample), call in zip(sites, calls, strict=True):
            if isinstance(call, tuple) and len(set(call[1])) > 1:
                whole = sum(call[1])
                found = VerdictShares(*(part / whole for part in call[1]))
                shares[pair, PLACES.index((layer, neuron)), ORDERS.index(order), sample - 1] = found
                known[layer, neuron, order, sample] = found
        told.append(
            [
                of._replace(result=replace(of.result, shares=known.get(of[:4])))
                if isinstance(of.result, Evaluation)
                else of
                for of in opinions(plain[pair], weights)
            ]
        )
    names = ("c1", "c2_all", *soft_names(SPEC.depth))
    with pytest.MonkeyPatch.context() as patch:
        if small_blocks:
            patch.setattr(verdicts, "_CALLS_AT_ONCE", 2 * len(PLACES) * 4)
        table = verdict_table(replace(table_of, shares=shares), names, rules)
    assert table.soft is not None
    for at, calls_of in enumerate(told):
        one = aggregate(calls_of, SPEC.depth, rules, soft=True)
        assert one.soft is not None
        assert {name: verdict(table.aggregations[name][at]) for name in names[2:]} == one.soft.named()
        assert {name for name, short in table.no_quorum.items() if short[at]} == set(one.no_quorum) & set(names)
        expected = [np.nan] * 3 if one.soft.shares is None else one.soft.shares
        assert table.soft[at] == pytest.approx(expected, nan_ok=True)


def test_soft_votes_by_hand() -> None:
    """Neuron 1: A .6, tie .3, B .1; neuron 2: A .2, tie .1, B .7; neuron 3 says B without probabilities. Sums .8, .4,
    1.8. Without neuron 3: .8, .4, .8, a tied vote; by entropy (.1831, .2700) B leads: .1639 against .2073."""
    voters = (VerdictShares(0.6, 0.3, 0.1), VerdictShares(0.2, 0.1, 0.7), None)

    def of(count: int, rules: Aggregation = Aggregation()) -> dict[str, Verdict | None]:  # noqa: B008
        told = [
            Opinion(1, neuron, "ab", 1, Evaluation("", "b", 5.0, 6.0, shares))
            for neuron, shares in enumerate(voters[:count], 1)
        ]
        found = aggregate(told, 1, rules, soft=True).soft
        assert found is not None
        return found.named()

    assert of(3) == {"soft_l1": "b", "soft_all": "b", "soft_entropy": "b"}
    assert of(2) == {"soft_l1": "tie", "soft_all": "tie", "soft_entropy": "b"}
    assert of(1, Aggregation(ties="candidate"))["soft_all"] == "a"
    assert of(2, Aggregation(fallback="c1"))["soft_all"] == "b"


def test_names_of_soft_votes_only_where_probabilities_are_asked_for() -> None:
    asks = replace(SPEC, settings=replace(SPEC.settings, scores="probabilities"))
    assert aggregation_names(SPEC) == ("c1", "c2_l1", "c2_l2", "c2_all")
    assert aggregation_names(asks) == (*aggregation_names(SPEC), "soft_l1", "soft_l2", "soft_all", "soft_entropy")
    as_text = tuple(replace(layer, settings=Settings(scores="text")) for layer in asks.layers)
    assert aggregation_names(replace(asks, layers=as_text)) == aggregation_names(SPEC)


def test_the_brier_score_by_hand() -> None:
    """(1 - .6)^2 + .3^2 + .1^2 = .26 against A, .6^2 + .3^2 + .9^2 = 1.26 against B; nothing without a label."""
    shares = np.array([[0.6, 0.3, 0.1]] * 3)
    assert brier(shares, np.array([1, 3, 0], np.uint8)) == pytest.approx([0.26, 1.26, np.nan], nan_ok=True)


def verdict(code: int) -> Verdict | None:
    return CODES[int(code)]


@given(_pairs, _rules, st.sampled_from([None, LOGISTIC, DAWID_SKENE, ISING]), st.booleans(), _weights)
@settings(max_examples=150, deadline=None)
def test_all_pairs_at_once_as_one_by_one(
    pairs: list[list[float | str | None]],
    rules: Aggregation,
    learned: LearnedRule | None,
    small_blocks: bool,
    weights: tuple[float, ...],
) -> None:
    rules = replace(rules, learned=learned)
    names = (*aggregation_names(SPEC), "chair", *(("learned",) if learned else ()))
    with pytest.MonkeyPatch.context() as patch:
        if small_blocks:
            patch.setattr(verdicts, "_CALLS_AT_ONCE", 2 * len(PLACES) * 4)
        table = verdict_table(scores(pairs, weights if set(weights) != {1.0} else None), names, rules)
    for at, calls in enumerate(pairs):
        found = aggregate(opinions(calls, weights), SPEC.depth, rules)
        assert table.cast[at].tolist() == pytest.approx(list(found.votes))
        expected = {**found.named(), "chair": found.chair}
        assert {name: verdict(codes[at]) for name, codes in table.aggregations.items()} == expected
        assert {name for name, short in table.no_quorum.items() if short[at]} == {
            name for name in found.no_quorum if name in names
        }
        assert (verdict(table.c1_ab[at]), verdict(table.c1_ba[at])) == (found.c1_ab, found.c1_ba)
        neurons = {(of.layer, of.neuron): of.verdict for of in found.neurons}
        assert [verdict(code) for code in table.neurons[at][:4]] == [neurons.get(place) for place in PLACES[:4]]
        assert table.used[at] == found.calls_used + found.chair_used
        assert table.total[at] == found.calls_total + found.chair_total
        by_order = [
            [
                (of.result.difference, of.weight)
                for of in opinions(calls, weights)
                if of.order == order and of.layer <= SPEC.depth and isinstance(of.result, Evaluation)
            ]
            for order in ORDERS
        ]
        assert verdict(table.balanced[at]) == balanced_verdict(*by_order)


def test_scores_that_are_no_numbers_are_refused() -> None:
    one = scores([[1.0] * 20])
    one.difference[0, 0, 0, 0] = np.inf
    with pytest.raises(ValueError, match="not a number"):
        verdict_table(one, ("c1",), Aggregation())


def test_weights_of_one_are_no_weights() -> None:
    drawn = np.random.default_rng(5).choice([-3.0, -0.1, 0.0, 0.2, 2.5], (40, 20))
    pairs: list[list[float | str | None]] = [[*map(float, row)] for row in drawn]
    for rules in (Aggregation(), Aggregation("call", "candidate", "c1")):
        names = (*aggregation_names(SPEC), "chair")
        without = verdict_table(scores(pairs), names, rules)
        with_ones = verdict_table(scores(pairs, (1.0,) * 4), names, rules)
        assert all((with_ones.aggregations[name] == codes).all() for name, codes in without.aggregations.items())
        assert (with_ones.cast == without.cast).all()
        assert (with_ones.margin == without.margin).all()
