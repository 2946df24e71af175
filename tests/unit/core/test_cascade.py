"""Stop rules: worked examples, what a missing verdict does, and that a decided vote cannot be changed."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgenet.core import network_json
from judgenet.core.aggregate import Opinion, Votes, aggregate, plurality
from judgenet.core.cascade import (
    Stage,
    Stop,
    has_stop_rules,
    look,
    put_rule,
    read_stop_rule,
    rule_at,
    stages,
    stop_at,
    stop_places,
    stop_rule_text,
    vote_lead,
    with_rule,
    without_stop_rules,
)
from judgenet.core.checks import check
from judgenet.core.design import remove_layer, set_depth
from judgenet.core.evaluation import Evaluation, Reason, Unscored
from judgenet.core.fixes import fix
from judgenet.core.network import Aggregation, ChairSpec, NetworkError, NetworkSpec, StopRule
from judgenet.core.network_changes import network_changes
from judgenet.core.pairs import ORDERS, VERDICTS, Verdict
from judgenet.core.presets import network

RULES = Aggregation()
A, B, TIE, NONE = (8.0, 6.0), (5.0, 7.0), (6.0, 6.0), None
Calls = list[list[tuple[float, float] | None]]


def opinions(*layers: Calls) -> list[Opinion]:
    """One list a layer, of one a neuron, of its scores in order AB and BA."""
    found = []
    for layer, neurons in enumerate(layers, 1):
        for neuron, calls in enumerate(neurons, 1):
            for order, scores in zip(ORDERS, calls, strict=False):
                result: Evaluation | Unscored = Unscored(Reason.UNPARSED)
                if scores is not None:
                    verdict: Verdict = "a" if scores[0] > scores[1] else "b" if scores[0] < scores[1] else "tie"
                    result = Evaluation("why", verdict, *scores)
                found.append(Opinion(layer, neuron, order, 1, result))
    return found


def stops(rule: str, *layers: Calls, unasked: int = 0, rules: Aggregation = RULES) -> bool:
    read = read_stop_rule(rule)
    assert read is not None
    return look(read, opinions(*layers), len(layers), unasked, rules).stops


@pytest.mark.parametrize(
    ("rule", "calls", "unasked", "expected"),
    [
        ("orders-agree", [[A, A]], 3, True),
        ("orders-agree", [[A, B]], 3, False),
        ("orders-agree", [[TIE, TIE]], 3, True),
        ("orders-agree", [[A, A], [B, B]], 3, True),  # 8+5 to 6+7 in both orders: a tie in each
        ("orders-agree", [[A, NONE]], 3, False),
        ("orders-agree", [[A, A], [A, NONE]], 3, False),
        ("orders-agree", [[NONE, NONE]], 3, False),
        ("orders-agree", [[A]], 3, False),
        ("neurons-agree", [[A, A], [A, A]], 3, True),
        ("neurons-agree", [[A, A], [A, B]], 3, False),
        ("neurons-agree", [[A, A], [NONE, NONE]], 3, False),
        ("neurons-agree", [[A, A], [A, NONE]], 3, False),
        ("neurons-agree", [[A, A]], 3, False),
        ("margin>=2", [[A, A], [A, A], [TIE, TIE]], 3, True),
        ("margin>=2", [[A, A], [A, A], [B, B]], 3, False),
        ("margin>=2", [[A, A], [A, A], [NONE, NONE]], 3, False),
        ("margin>=1", [[A, A], [A, A], [NONE, A]], 3, True),
        ("margin>=1", [[NONE, NONE]], 3, False),
        ("difference>=2", [[A, A]], 3, True),
        ("difference>=2", [[A, TIE]], 3, False),
        ("difference>=1", [[A, TIE]], 3, True),
        ("difference>=2", [[A, NONE]], 3, False),
        ("decided", [[A, A], [A, A], [A, A]], 2, True),
        ("decided", [[A, A], [A, A], [A, A]], 3, False),
        ("decided", [[A, A], [A, A], [NONE, NONE]], 0, True),
        ("decided", [[A, A], [A, A], [NONE, NONE]], 1, False),
        ("decided", [[NONE, NONE]], 0, False),
    ],
)
def test_a_rule_on_one_layer(rule: str, calls: Calls, unasked: int, expected: bool) -> None:
    assert stops(rule, calls, unasked=unasked) is expected


def test_agreement_is_that_of_the_layer_asked_last_and_the_vote_that_of_all() -> None:
    split, agreed = [[A, A], [B, B]], [[A, A], [A, A]]
    assert stops("neurons-agree", split, agreed)
    assert not stops("neurons-agree", agreed, split)
    assert stops("decided", agreed, agreed, unasked=3)
    assert not stops("decided", split, agreed, unasked=2)


@given(
    st.lists(st.sampled_from([A, B, TIE, NONE]), min_size=1, max_size=5),
    st.integers(0, 3),
    st.sampled_from(["abstain", "candidate"]),
)
def test_nobody_left_can_change_a_decided_vote(said: list[tuple[float, float] | None], unasked: int, ties: str) -> None:
    rules = Aggregation(ties=ties)  # type: ignore[arg-type]
    stopped = stops("decided", [[of, of] for of in said], unasked=unasked, rules=rules)
    votes = [sum(of == verdict for of in said) for verdict in (A, B, TIE)]
    # Whoever is missing or not asked yet says A, B, a tie, or nothing.
    ends = {
        plurality(Votes(*(count + rest.count(place) for place, count in enumerate(votes))), rules, None)
        for rest in product((0, 1, 2, None), repeat=unasked + said.count(NONE))
    }
    settled = len(ends) == 1 and ends != {None}
    # A tie that others could only draw level with is left open, as the fallback may make something else of it.
    assert stopped is settled or (settled and ends == {"tie"} and ties == "candidate")


def test_votes_may_be_those_of_calls() -> None:
    by_call = Aggregation(vote="call")
    assert stops("margin>=3", [[A, A], [A, TIE]], rules=by_call)
    assert not stops("margin>=3", [[A, A], [A, NONE]], rules=by_call)
    assert stops("decided", [[A, A], [A, NONE]], unasked=1, rules=by_call)
    assert not stops("decided", [[A, A], [A, NONE]], unasked=2, rules=by_call)


def test_the_lead_counts_ties_where_a_tie_is_a_candidate() -> None:
    votes = Votes(3, 0, 2)
    assert vote_lead(votes, RULES) == 3
    assert vote_lead(votes, Aggregation(ties="candidate")) == 1


@pytest.mark.parametrize("text", ["never", "decided", "orders-agree", "neurons-agree", "margin>=2", "difference>=1.5"])
def test_a_rule_is_read_as_it_is_written(text: str) -> None:
    assert stop_rule_text(read_stop_rule(text)) == text


@pytest.mark.parametrize("text", ["", "margin", "margin>=0", "margin>=x", "decided>=2", "agree", "difference>=-1"])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(NetworkError, match="is no stop rule"):
        read_stop_rule(text)


def test_a_rule_without_a_place_stands_before_every_layer_but_the_first() -> None:
    spec = with_rule(network(2, 3), "orders-agree")
    assert stop_places(spec) == (("before", 1), ("before", 2))
    assert stop_places(with_rule(network(2, 3), "orders-agree after=2")) == (("before", 2),)
    assert stop_places(with_rule(network(2, 1), "orders-agree")) == (("within", 0),)
    assert stop_places(with_rule(network(2, 2), "margin>=1, after=neurons")) == (("within", 0), ("within", 1))
    chaired = replace(network(2, 2), chair=ChairSpec())
    assert stop_places(with_rule(chaired, "orders-agree")) == (("before", 1), ("before", 2))
    assert stop_places(with_rule(chaired, "decided")) == (("before", 1),)
    assert stop_places(with_rule(chaired, "orders-agree after=2")) == (("before", 2),)
    assert with_rule(spec, "never") == network(2, 3)
    for wrong in ("orders-agree after=3", "orders-agree after=0", "orders-agree after=x"):
        with pytest.raises(NetworkError, match="after="):
            with_rule(network(2, 3), wrong)


def test_the_stages_of_a_pair() -> None:
    rule, between = StopRule("decided"), StopRule("margin", 1)
    spec = replace(network(3, 2, roles="none"), chair=ChairSpec())
    spec = put_rule(put_rule(spec, ("before", 1), rule), ("within", 1), between)
    assert stages(spec) == (
        Stage(1, (1, 2, 3), None),
        Stage(2, (1,), rule),
        Stage(2, (2,), between),
        Stage(2, (3,), between),
        Stage(3, (1,), None),
    )
    found = stages(spec)
    assert [stop_at(found, last) for last in range(5)] == [
        Stop(1, 3, True),
        Stop(2, 1, False),
        Stop(2, 2, False),
        Stop(2, 3, True),
        None,
    ]


def test_the_last_layer_that_was_asked_stands_for_later_ones() -> None:
    told = aggregate(opinions([[B, B]]), 3, RULES, last_asked=1, chair_left_out=True)
    assert told.named() == dict.fromkeys(("c1", "c2_l1", "c2_l2", "c2_l3", "c2_all", "chair"), "b")
    split = aggregate(opinions([[A, A]], [[B, B]]), 3, RULES, last_asked=2)
    assert (split.c2_layers, split.c2_all) == (("a", "b", "b"), "tie")
    assert all(aggregate([], 2, RULES, last_asked=1).named()[name] is None for name in ("c1", "c2_l2", "c2_all"))
    assert set(VERDICTS) == {"a", "b", "tie"}


# The design


def gated() -> NetworkSpec:
    spec = replace(network(3, 3, roles="none"), chair=ChairSpec())
    spec = put_rule(spec, ("before", 1), StopRule("margin", 2))
    spec = put_rule(spec, ("within", 2), StopRule("difference", 1.5))
    return put_rule(spec, ("before", 3), StopRule("orders_agree"))


def test_rules_are_members_of_the_project_file_and_absent_where_there_are_none() -> None:
    record = network_json.to_json(gated())
    assert record["layers"][1]["gate"] == {"when": "margin", "at_least": 2.0}
    assert record["layers"][2]["between"] == {"when": "difference", "at_least": 1.5}
    assert record["chair"]["gate"] == {"when": "orders_agree"}
    assert network_json.from_json(record) == gated()
    plain = network_json.to_json(without_stop_rules(gated()))
    assert "gate" not in str(plain)
    assert "between" not in str(plain)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"when": "margin"}, r"layers\[1\].gate.at_least: is missing: margin needs a number above 0"),
        ({"when": "decided", "at_least": 1}, r"layers\[1\].gate.at_least: must be left out"),
        ({"when": "margin", "at_least": 0}, r"layers\[1\].gate.at_least: must be more than 0"),
        ({"when": "agree"}, r"layers\[1\].gate.when: must be one of decided, orders_agree"),
        ({}, r"layers\[1\].gate.when: is missing"),
    ],
)
def test_a_wrong_rule_is_refused_with_its_path(rule: dict[str, object], message: str) -> None:
    record = network_json.to_json(gated())
    record["layers"][1]["gate"] = rule
    with pytest.raises(NetworkError, match=message):
        network_json.from_json(record)


def test_a_rule_makes_another_run_and_none_leaves_the_hash_as_it_was() -> None:
    plain = without_stop_rules(gated())
    hashes = {network_json.digest(put_rule(plain, place, StopRule("decided"))) for place in stop_places(gated())}
    assert len(hashes | {network_json.digest(plain)}) == 4
    # As computed by version 1.2, which had no stop rules.
    assert network_json.digest(network(2, 1, roles="none")) == DIGEST_BEFORE
    assert not has_stop_rules(plain)


DIGEST_BEFORE = "1d952bd5defc3e9e625e2ec5e2034141cf596981cbc80ea9bb648acef6299451"


def test_the_first_layer_has_no_rule_before_it_after_an_edit() -> None:
    spec = remove_layer(gated(), 0)
    assert rule_at(spec, ("before", 0)) is None
    assert rule_at(spec, ("within", 1)) == StopRule("difference", 1.5)
    assert rule_at(set_depth(gated(), 2), ("before", 1)) == StopRule("margin", 2)


def test_rules_that_cannot_work_are_named_and_fixed() -> None:
    plain = without_stop_rules(gated())
    first = replace(plain, layers=(replace(plain.layers[0], gate=StopRule("decided")), *plain.layers[1:]))
    one_order = replace(gated(), orders="ab")
    one_wide = put_rule(network(1, 2, roles="none"), ("before", 1), StopRule("neurons_agree"))
    too_many = put_rule(plain, ("before", 1), StopRule("margin", 4))
    on_chair = put_rule(plain, ("before", 3), StopRule("decided"))
    for spec, severity, path in (
        (first, "error", "layers[0].gate"),
        (one_order, "warning", "chair.gate"),
        (one_wide, "warning", "layers[1].gate"),
        (too_many, "warning", "layers[1].gate"),
        (on_chair, "warning", "chair.gate"),
        (put_rule(network(1, 2, roles="none"), ("within", 1), StopRule("decided")), "warning", "layers[1].between"),
    ):
        [problem] = [found for found in check(spec) if found.path.endswith(("gate", "between"))]
        assert (problem.severity, problem.path) == (severity, path)
        mended = fix(spec, problem)
        assert mended is not None
        assert not [found for found in check(mended.spec) if found.path == path]
    assert not [found for found in check(gated()) if found.path.endswith(("gate", "between"))]


def test_what_two_designs_differ_in() -> None:
    changes = {
        change.what: (change.first, change.second) for change in network_changes(without_stop_rules(gated()), gated())
    }
    assert changes == {
        "stop rule before layer 2": ("none", "the lead is 2 votes or more"),
        "stop rule between the neurons of layer 3": ("none", "the scores are 1.5 points or more apart"),
        "stop rule before the chair": ("none", "both orders agree"),
    }
