"""Aggregation against the worked vectors of the specification (statistics 1.3), and its symmetries."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgenet.core.aggregate import (
    Opinion,
    PairVerdicts,
    Votes,
    aggregate,
    aggregation_names,
    decided,
    deciding,
    leading,
    merged,
    plurality,
)
from judgenet.core.evaluation import Evaluation, Reason, Unscored
from judgenet.core.network import AcceptanceRule, Aggregation, ChairSpec, LayerSpec, NetworkSpec, NeuronSpec
from judgenet.core.pairs import ORDERS, VERDICTS, Order, Verdict
from judgenet.core.wording import aggregation_title

Scores = tuple[float, float] | None
Net = list[list[list[Scores]]]

DEEP = NetworkSpec((LayerSpec((NeuronSpec(),)),) * 2)
DEEP_WITH_CHAIR = replace(DEEP, chair=ChairSpec())

NETS: dict[str, Net] = {
    "A": [[[(8, 6), (7, 6)], [(9, 7), (8, 5)]], [[(8, 7), (8, 6)], [(9, 6), (7, 6)]]],
    "B": [
        [[(9, 2), (9, 3)], [(6, 7), (6, 7)], [(6, 7), (7, 8)]],
        [[(9, 4), (8, 4)], [(6, 7), (7, 8)], [(7, 8), (6, 7)]],
    ],
    "C": [[[(8, 7), (7, 8)], [(9, 6), (6, 9)]], [[(8, 8), (7, 7)], [(8, 7), (7, 8)]]],
    "D": [
        [[(7, 8), (7, 8)], [(7, 8), (6, 8)], [(8, 7), (8, 7)]],
        [[(8, 7), (9, 7)], [(8, 7), (8, 7)], [(7, 8), (7, 8)]],
    ],
    "E": [
        [[(7, 7), (7, 7)], [(8, 8), (6, 6)], [(8, 7), (8, 7)]],
        [[(7, 7), (7, 7)], [(7, 7), (8, 8)], [(8, 7), (7, 7)]],
    ],
    "F": [[[(8, 6), None], [(6, 7), (6, 7)]], [[None, None], [(7, 7), (7, 8)]]],
    "G": [[[(9, 6), (6, 7)], [(8, 7), (7, 8)]], [[(8, 7), (7, 8)], [(8, 7), (8, 7)]]],
    "H": [[[(7.1, 7.2), (7.2, 7.1)]], [[(0.1 + 0.2, 0.3), (0.3, 0.1 + 0.2)]]],
}
NAMES: dict[str, Verdict] = {"1": "a", "2": "b", "T": "tie"}


def evaluation(a: float, b: float) -> Evaluation:
    verdict: Verdict = "a" if a > b else "b" if b > a else "tie"
    return Evaluation("why", verdict, a, b)


def opinions(net: Net) -> list[Opinion]:
    return [
        Opinion(layer, place, order, 1, evaluation(*scores) if scores else Unscored(Reason.UNPARSED))
        for layer, neurons in enumerate(net, 1)
        for place, calls in enumerate(neurons, 1)
        for order, scores in zip(ORDERS, calls, strict=True)
    ]


def judged(
    name: str,
    vote: Literal["neuron", "call"] = "neuron",
    ties: Literal["abstain", "candidate"] = "abstain",
    fallback: Literal["tie", "c1"] = "tie",
) -> PairVerdicts:
    return aggregate(opinions(NETS[name]), 2, Aggregation(vote, ties, fallback))


@pytest.mark.parametrize(
    ("net", "mean_a", "mean_b", "c1", "layer_1", "layer_2", "all_layers", "votes"),
    [
        ("A", 8.0, 6.125, "1", "1", "1", "1", (4, 0, 0)),
        ("B", 7.166667, 6.0, "1", "2", "2", "2", (2, 4, 0)),
        ("C", 7.5, 7.5, "T", "T", "T", "T", (0, 0, 4)),
        ("D", 7.5, 7.5, "T", "2", "1", "T", (3, 3, 0)),
        ("E", 7.333333, 7.083333, "1", "1", "1", "1", (2, 0, 4)),
        ("F", 6.8, 7.0, "2", "T", "2", "2", (1, 2, 0)),
        ("G", 7.625, 7.125, "1", "1", "1", "1", (2, 0, 2)),
        ("H", 3.725, 3.725, "T", "T", "T", "T", (0, 0, 2)),
    ],
)
def test_default_rules(
    net: str,
    mean_a: float,
    mean_b: float,
    c1: str,
    layer_1: str,
    layer_2: str,
    all_layers: str,
    votes: tuple[int, int, int],
) -> None:
    got = judged(net)
    assert got.mean_a == pytest.approx(mean_a, abs=5e-7)
    assert got.mean_b == pytest.approx(mean_b, abs=5e-7)
    assert got.c1 == NAMES[c1]
    assert got.c2_layers == (NAMES[layer_1], NAMES[layer_2])
    assert got.c2_all == NAMES[all_layers]
    assert got.votes == votes


@pytest.mark.parametrize(
    ("net", "all_layers", "votes"),
    [
        ("A", "1", (8, 0, 0)),
        ("B", "2", (4, 8, 0)),
        ("C", "T", (3, 3, 2)),
        ("D", "T", (6, 6, 0)),
        ("E", "1", (3, 0, 9)),
        ("F", "2", (1, 3, 1)),
        ("G", "1", (5, 3, 0)),
        ("H", "T", (1, 1, 2)),
    ],
)
def test_one_vote_a_call(net: str, all_layers: str, votes: tuple[int, int, int]) -> None:
    got = judged(net, vote="call")
    assert got.c2_all == NAMES[all_layers]
    assert got.votes == votes


@pytest.mark.parametrize(
    ("net", "by_neuron", "by_call"),
    [
        ("A", "1", "1"),
        ("B", "2", "2"),
        ("C", "T", "T"),
        ("D", "T", "T"),
        ("E", "T", "T"),
        ("F", "2", "2"),
        ("G", "T", "1"),
        ("H", "T", "T"),
    ],
)
def test_the_tie_is_a_candidate(net: str, by_neuron: str, by_call: str) -> None:
    assert judged(net, ties="candidate").c2_all == NAMES[by_neuron]
    assert judged(net, vote="call", ties="candidate").c2_all == NAMES[by_call]


@pytest.mark.parametrize(
    ("net", "vote", "layers", "votes"),
    [
        ("F", "neuron", "T2", ((1, 1, 0), (0, 1, 0))),
        ("G", "neuron", "11", ((1, 0, 1), (1, 0, 1))),
        ("G", "call", "T1", ((2, 2, 0), (3, 1, 0))),
        ("F", "call", "22", ((1, 2, 0), (0, 1, 1))),
    ],
)
def test_layers_alone(
    net: str, vote: Literal["neuron", "call"], layers: str, votes: tuple[tuple[int, int, int], ...]
) -> None:
    got = judged(net, vote=vote)
    assert got.c2_layers == tuple(NAMES[name] for name in layers)
    assert got.layer_votes == votes


@pytest.mark.parametrize(
    ("votes", "ties", "expected"),
    [
        (Votes(2, 2, 1), "candidate", "b"),  # a shared top
        (Votes(2, 0, 2), "candidate", "b"),  # shared with the tie
        (Votes(1, 0, 2), "candidate", "tie"),  # the tie wins outright: nothing to fall back from
        (Votes(1, 1, 0), "abstain", "b"),
        (Votes(0, 0, 3), "abstain", "b"),
        (Votes(2, 1, 5), "abstain", "a"),
        (Votes(0, 0, 0), "abstain", None),
    ],
)
def test_a_tied_vote_may_fall_back_on_the_average(
    votes: Votes, ties: Literal["abstain", "candidate"], expected: Verdict | None
) -> None:
    assert plurality(votes, Aggregation("neuron", ties, "c1"), "b") == expected


def test_the_fallback_decides_tied_votes_of_layers_and_of_all() -> None:
    assert judged("F", fallback="c1").c2_layers == ("b", "b")
    assert judged("G", ties="candidate", fallback="c1").c2_all == "a"
    assert judged("D", fallback="c1").c2_all == "tie"


def test_missing_calls_are_dropped_and_counted() -> None:
    got = judged("F")
    assert (got.calls_used, got.calls_total) == (5, 8)
    verdicts = {(neuron.layer, neuron.neuron): neuron.verdict for neuron in got.neurons}
    assert verdicts == {(1, 1): "a", (1, 2): "b", (2, 1): None, (2, 2): "b"}


def test_no_valid_call_in_scope_is_no_verdict() -> None:
    nothing: Net = [[[None, None]], [[None, None]]]
    got = aggregate(opinions(nothing), 2)
    assert (got.c1, got.c2_layers, got.c2_all, got.chair) == (None, (None, None), None, None)
    assert (got.mean_a, got.mean_b, got.votes) == (None, None, (0, 0, 0))
    assert (got.calls_used, got.calls_total) == (0, 4)
    half = aggregate(opinions([[[(8, 6), None]], [[None, None]]]), 2, Aggregation(fallback="c1"))
    assert (half.c1, half.c2_layers, half.c2_all) == ("a", ("a", None), "a")
    assert aggregate([], 3).c2_layers == (None, None, None)


def test_each_order_alone() -> None:
    got = judged("C")
    assert (got.c1_ab, got.c1_ba) == ("a", "b")
    one_order = aggregate([Opinion(1, 1, "ba", 1, evaluation(3, 4))], 1)
    assert (one_order.c1_ab, one_order.c1_ba) == (None, "b")


def test_the_chair_decides_alone_and_does_not_vote() -> None:
    chair: list[Opinion] = [
        Opinion(3, 1, "ab", 1, evaluation(2, 9)),
        Opinion(3, 1, "ba", 1, Unscored(Reason.REFUSED)),
    ]
    got = aggregate(opinions(NETS["A"]) + chair, 2)
    assert got.chair == "b"
    assert (got.chair_used, got.chair_total) == (1, 2)
    without = judged("A")
    assert (got.c1, got.votes, got.mean_b, got.calls_total) == (without.c1, without.votes, without.mean_b, 8)
    assert list(got.named()) == list(aggregation_names(DEEP_WITH_CHAIR))
    assert list(without.named()) == list(aggregation_names(DEEP)) == ["c1", "c2_l1", "c2_l2", "c2_all"]


def test_verdicts_without_scores_count_one_point_and_have_no_mean() -> None:
    calls: list[Opinion] = [
        Opinion(1, 1, "ab", 1, Evaluation("", "a")),
        Opinion(1, 1, "ba", 1, Evaluation("", "tie")),
        Opinion(1, 2, "ab", 1, Evaluation("", "b")),
    ]
    got = aggregate(calls, 1)
    assert (got.c1, got.c2_all, got.votes) == ("tie", "tie", (1, 1, 0))
    assert (got.mean_a, got.mean_b, got.calls_used, got.calls_scored) == (None, None, 3, 0)
    mixed = aggregate([*calls, Opinion(1, 2, "ba", 1, evaluation(5, 8))], 1)
    assert (mixed.c1, mixed.mean_a, mixed.mean_b, mixed.calls_used, mixed.calls_scored) == ("b", 5.0, 8.0, 4, 1)


def test_samples_of_a_neuron_are_merged() -> None:
    # FairEval's calibration in both orders: statistics 2.2, first row.
    shown = {"ab": [(9, 8), (9, 7), (8, 8)], "ba": [(8, 9), (9, 8), (9, 9)]}
    calls = [
        Opinion(1, 1, order, sample, evaluation(*scores))
        for order in ORDERS
        for sample, scores in enumerate(shown[order], 1)
    ]
    got = aggregate(calls, 1)
    assert got.mean_a == pytest.approx(8.666667, abs=5e-7)
    assert got.mean_b == pytest.approx(8.166667, abs=5e-7)
    assert got.c1 == "a"
    assert got.votes == (1, 0, 0)
    assert aggregate(calls, 1, Aggregation(vote="call")).votes == (3, 1, 2)


@pytest.mark.parametrize(
    ("calls", "complaint"),
    [
        ([Opinion(1, 1, "ab", 1, evaluation(5, 4))] * 2, "there twice"),
        ([Opinion(3, 1, "ab", 1, evaluation(5, 4))], "outside a network of depth 1"),
        ([Opinion(0, 1, "ab", 1, evaluation(5, 4))], "outside a network of depth 1"),
        ([Opinion(1, 1, "ab", 1, evaluation(float("nan"), 4))], "not a number"),
    ],
)
def test_records_that_cannot_be(calls: list[Opinion], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        aggregate(calls, 1)


scores = st.one_of(
    st.integers(1, 10).map(float),
    st.floats(1, 10, allow_nan=False),
    st.sampled_from([0.1 + 0.2, 0.3, 7.1, 7.2]),
)
results = st.one_of(
    st.builds(evaluation, scores, scores),
    st.sampled_from([Evaluation("", verdict) for verdict in VERDICTS]),
    st.sampled_from(list(Reason)).map(Unscored),
)
sites = st.tuples(st.integers(1, 4), st.integers(1, 4), st.sampled_from(ORDERS), st.integers(1, 2))
records = st.dictionaries(sites, results, max_size=40).map(
    lambda calls: [Opinion(*site, result) for site, result in calls.items()]
)
rules = st.builds(
    Aggregation,
    st.sampled_from(["neuron", "call"]),
    st.sampled_from(["abstain", "candidate"]),
    st.sampled_from(["tie", "c1"]),
)
SWAP: dict[Verdict | None, Verdict | None] = {"a": "b", "b": "a", "tie": "tie", None: None}


def swapped(opinion: Opinion) -> Opinion:
    result = opinion.result
    order: Order = "ba" if opinion.order == "ab" else "ab"
    if isinstance(result, Evaluation):
        verdict = SWAP[result.verdict]
        assert verdict is not None
        result = Evaluation(result.evidence, verdict, result.score_b, result.score_a)
    return opinion._replace(order=order, result=result)


@given(records, rules)
def test_swapping_the_responses_swaps_everything(calls: list[Opinion], rule: Aggregation) -> None:
    before = aggregate(calls, 3, rule)
    after = aggregate([swapped(call) for call in calls], 3, rule)
    assert after.named() == {name: SWAP[verdict] for name, verdict in before.named().items()}
    assert (after.c1_ab, after.c1_ba) == (SWAP[before.c1_ba], SWAP[before.c1_ab])
    assert (after.mean_a, after.mean_b) == (before.mean_b, before.mean_a)
    assert after.votes == (before.votes.b, before.votes.a, before.votes.tie)
    assert [neuron.verdict for neuron in after.neurons] == [SWAP[neuron.verdict] for neuron in before.neurons]


@given(records, rules, st.randoms(use_true_random=False))
def test_the_order_of_the_records_does_not_matter(calls: list[Opinion], rule: Aggregation, random: object) -> None:
    shuffled = list(calls)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert aggregate(shuffled, 3, rule) == aggregate(calls, 3, rule)


@given(records, rules)
def test_unscored_calls_change_counts_only(calls: list[Opinion], rule: Aggregation) -> None:
    all_calls = aggregate(calls, 3, rule)
    valid = aggregate([call for call in calls if isinstance(call.result, Evaluation)], 3, rule)
    assert (valid.c1, valid.c2_layers, valid.c2_all, valid.chair) == (
        all_calls.c1,
        all_calls.c2_layers,
        all_calls.c2_all,
        all_calls.chair,
    )
    assert (valid.mean_a, valid.mean_b, valid.votes) == (all_calls.mean_a, all_calls.mean_b, all_calls.votes)
    assert valid.calls_used == valid.calls_total == all_calls.calls_used


def test_what_decides_and_how_it_is_written() -> None:
    assert deciding(DEEP) == "c2_all"
    assert deciding(DEEP_WITH_CHAIR) == "chair"
    titles = [aggregation_title(name) for name in aggregation_names(DEEP_WITH_CHAIR)]
    assert titles == ["c1*", "c2*(l1)", "c2*(l2)", "c2*(all)", "Chair"]


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [([], None), ([2, -1], "a"), ([-2, 1], "b"), ([0.1 + 0.2, -0.3], "tie"), ([1, -1], "tie")],
)
def test_calls_merge_by_the_sign_of_their_sum(differences: list[float], verdict: Verdict | None) -> None:
    assert merged(differences) == verdict


# What outstanding voters can change


@given(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4)),
    st.integers(0, 4),
    st.sampled_from(["abstain", "candidate"]),
    st.sampled_from(["tie", "c1"]),
)
def test_a_verdict_is_certain_when_no_way_of_voting_changes_it(
    counts: tuple[int, int, int],
    outstanding: int,
    ties: Literal["abstain", "candidate"],
    fallback: Literal["tie", "c1"],
) -> None:
    rules = Aggregation(ties=ties, fallback=fallback)
    found = decided(Votes(*counts), outstanding, rules)
    ends = set()
    for a in range(outstanding + 1):
        for b in range(outstanding + 1 - a):
            for tie in range(outstanding + 1 - a - b):
                votes = Votes(counts[0] + a, counts[1] + b, counts[2] + tie)
                ends |= {plurality(votes, rules, c1) for c1 in (VERDICTS if outstanding else [None])}
    if found is not None:
        assert ends == {found}
    elif ends != {None}:
        assert len(ends) > 1 or ends == {"tie"}


def test_a_certain_verdict_says_so_with_voters_to_come() -> None:
    assert decided(Votes(4, 2, 0), 1, Aggregation()) == "a"
    assert decided(Votes(4, 2, 0), 2, Aggregation()) is None
    assert decided(Votes(2, 2, 3), 0, Aggregation()) == "tie"
    assert decided(Votes(0, 0, 0), 3, Aggregation()) is None


def test_who_leads() -> None:
    assert [leading(Votes(*votes)) for votes in ((2, 1, 9), (1, 2, 0), (1, 1, 0))] == ["a", "b", None]


def with_quorum(name: str, quorum: int, **more: int) -> PairVerdicts:
    return aggregate(opinions(NETS[name]), 2, Aggregation(quorum=quorum), **more)


def test_a_quorum_leaves_verdicts_missing_where_too_few_neurons_answered() -> None:
    """Network F: two neurons of layer 1 and one of layer 2 have a valid call; without a quorum all have a verdict."""
    enough = with_quorum("F", 1)
    assert (enough.valid, enough.no_quorum) == ((2, 1), ())
    assert enough.named() == judged("F").named()
    two = with_quorum("F", 2)
    assert two.no_quorum == ("c2_l2",)
    assert two.named() == judged("F").named() | {"c2_l2": None}
    three = with_quorum("F", 3)
    assert three.no_quorum == ("c2_l1", "c2_l2")
    assert (three.c1, three.c2_all) == (judged("F").c1, judged("F").c2_all)
    four = with_quorum("F", 4)
    assert four.named() == dict.fromkeys(("c1", "c2_l1", "c2_l2", "c2_all"))
    assert four.no_quorum == ("c1", "c2_l1", "c2_l2", "c2_all")
    assert four.votes == judged("F").votes, "what was said stays as it is"


def test_the_chair_asks_for_a_quorum_of_the_layer_that_it_reads() -> None:
    said = [*opinions(NETS["F"]), Opinion(3, 1, "ab", 1, evaluation(8, 6))]
    assert aggregate(said, 2, Aggregation(quorum=1)).chair == "a"
    found = aggregate(said, 2, Aggregation(quorum=2))
    assert (found.chair, found.no_quorum) == (None, ("c2_l2", "chair"))
    # Decided after layer 1: the vote of all stands for the chair's.
    early = [one for one in said if one.layer == 1]
    found = aggregate(early, 2, Aggregation(quorum=2), last_asked=1, chair_left_out=True)
    assert (found.chair, found.c2_layers[1], found.no_quorum) == (found.c2_all, found.c2_layers[0], ())


def test_nothing_asked_is_no_missing_quorum() -> None:
    assert aggregate([], 2, Aggregation(quorum=2)).no_quorum == ()


def test_a_verdict_that_is_not_accepted_for_want_of_a_quorum_is_not_for_people() -> None:
    rule = AcceptanceRule("c2_l2", "calls", 0.5, 0.1, 0.1, quorum=2)
    found = aggregate(opinions(NETS["F"]), 2, Aggregation(quorum=2, acceptance=rule))
    assert (found.accepted, found.for_people, found.no_quorum) == (None, False, ("c2_l2", "accepted"))
