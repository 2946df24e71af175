"""A pair as it stands follows the run call by call and ends where the store ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgenet.core.events import CallFinished, CallStarted, CallText, RolesFound
from judgenet.core.network import Aggregation, ChairSpec, NetworkSpec, Role, RolesSpec, Settings
from judgenet.core.presets import network
from judgenet.engine.pair_snapshot import PairSnapshot
from judgenet.engine.ports import ChatRequest
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.runs import run_info, run_pair
from tests.pair_verdicts import pair_results
from tests.unit.engine import harness

FIXED = RolesSpec("fixed", roles=(Role("Accuracy"), Role("Clarity"), Role("Depth")))


def fixed(width: int = 3, depth: int = 2, **changes: Any) -> NetworkSpec:
    return replace(network(width, depth, settings=harness.SETTINGS), roles=FIXED, **changes)


def played(tmp_path: Path, spec: NetworkSpec, answer: Any = harness.plain_answer) -> tuple[RunFrame, list, Any, Any]:
    """Runs one pair and gives an empty table, the run's events, and the store's verdicts and pair."""
    judged = harness.pairs(1)
    begin = harness.start(spec, judged, stream=True)
    ran = harness.run(tmp_path / "a.judgenet.db", begin, harness.FakeEndpoint(answer))
    with Store.open(tmp_path / "a.judgenet.db", readonly=True) as store:
        run = run_info(store)
        (result,) = pair_results(store, run)
        pair = run_pair(store, run, 0)
    return RunFrame.fresh(run, begin.spec, judged), ran.events, result.verdicts, pair


def follow(table: RunFrame, now: PairSnapshot, events: list) -> None:
    for event in events:
        site = table.take(event)
        if isinstance(event, CallStarted | CallText | CallFinished) and site is not None:
            now.take([site])


@pytest.mark.parametrize(
    "rules", [Aggregation(), Aggregation(vote="call"), Aggregation(ties="candidate", fallback="c1")], ids=str
)
def test_votes_and_verdict_end_as_in_the_store(tmp_path: Path, rules: Aggregation) -> None:
    table, events, kept, pair = played(tmp_path, fixed(aggregation=rules))
    now = PairSnapshot(table, 0, pair.roles)
    assert (now.used, now.verdict) == (0, None)
    certain = []
    for event in events:
        site = table.take(event)
        if isinstance(event, CallFinished) and site is not None:
            now.take([site])
            certain.append(now.verdict)
    assert now.votes == kept.votes
    assert now.layer_votes == kept.layer_votes
    assert now.verdict == kept.c2_all
    assert now.outstanding == 0
    assert now.of == (12 if rules.vote == "call" else 6)
    assert set(certain) <= {None, kept.c2_all}
    assert all(now.layers_complete)
    again = PairSnapshot(table, 0, pair.roles)
    assert again.layers == now.layers


def test_an_answer_whose_time_is_not_known_took_no_0_seconds(tmp_path: Path) -> None:
    table, events, _, pair = played(tmp_path, fixed(1, 1))
    untimed = [replace(event, latency_s=0.0) if isinstance(event, CallFinished) else event for event in events]
    now = PairSnapshot(table, 0, pair.roles)
    follow(table, now, untimed)
    assert now[1, 1].phase == "scored"
    assert now[1, 1].seconds is None


def test_a_neuron_goes_from_waiting_to_scored(tmp_path: Path) -> None:
    table, events, _, pair = played(tmp_path, fixed(1, 1))
    now = PairSnapshot(table, 0, pair.roles)
    phases = [now[1, 1].phase]
    for event in events:
        site = table.take(event)
        if isinstance(event, CallStarted | CallText | CallFinished) and site is not None:
            now.take([site])
            phases.append(now[1, 1].phase)
            if isinstance(event, CallText):
                assert site in now[1, 1].busy
    changes = [phase for place, phase in enumerate(phases) if not place or phase != phases[place - 1]]
    assert changes[:3] == ["waiting", "asked", "writing"]
    assert changes[-1] == "scored"
    assert changes.count("scored") == 1
    neuron = now[1, 1]
    assert neuron.role == Role("Accuracy")
    assert [one.order for one in neuron.orders] == ["ab", "ba"]
    for one in neuron.orders:
        state = next(s for site, s in table.neuron(0, 1, 1) if site.order == one.order)
        assert (one.score_a, one.score_b, one.verdict) == (state.score_a, state.score_b, state.verdict)


def test_a_neuron_without_valid_calls_is_out_of_the_vote(tmp_path: Path) -> None:
    def answer(request: ChatRequest) -> str:
        site = harness.site_of(request)
        if (site.layer, site.neuron) == (1, 2):
            return ""
        if (site.layer, site.neuron, site.order) == (1, 3, "ab"):
            return "Hm."
        return harness.plain_answer(request)

    table, events, kept, pair = played(tmp_path, fixed(3, 1), answer)
    now = PairSnapshot(table, 0, pair.roles)
    follow(table, now, events)
    assert now[1, 2].phase == "unscored"
    assert now[1, 2].reason == "empty"
    assert now[1, 3].phase == "scored"
    half = now[1, 3].order("ab")
    assert half is not None
    assert half.said
    assert half.reason == "unparsed"
    assert (now.used, now.of, now.outstanding) == (2, 3, 0)
    assert now.verdict == kept.c2_all


def test_a_changed_mind_is_told_when_the_later_layer_speaks(tmp_path: Path) -> None:
    def answer(request: ChatRequest) -> str:
        site = harness.site_of(request)
        first_wins = (site.layer == 1) == (site.order == "ab")
        scores = (8, 3) if first_wins else (3, 8)
        return f'{{"evidence": "why", "score_1": {scores[0]}, "score_2": {scores[1]}}}'

    table, events, _, pair = played(tmp_path, fixed(2, 2), answer)
    now = PairSnapshot(table, 0, pair.roles)
    follow(table, now, events)
    assert [neuron.verdict for neuron in now.layers[0]] == ["a", "a"]
    assert [(neuron.verdict, neuron.changed_from) for neuron in now.layers[1]] == [("b", "a"), ("b", "a")]


def test_generated_roles_decide_how_many_work(tmp_path: Path) -> None:
    table, events, _, pair = played(tmp_path, network(5, 2, settings=harness.SETTINGS))
    before = PairSnapshot(table, 0, None)
    assert not before.roles_known
    assert [len(layer) for layer in before.layers] == [5, 5]
    roles = next(e.roles for e in events if isinstance(e, RolesFound))
    now = PairSnapshot(table, 0, tuple(Role(*role) for role in roles))
    follow(table, now, events)
    assert [len(layer) for layer in now.layers] == [3, 3]
    assert now.of == 6
    assert [neuron.role for neuron in now.layers[1]] == list(pair.roles)


def test_a_neuron_without_a_role_rests_between_those_that_work(tmp_path: Path) -> None:
    spec = network(5, 1, settings=harness.SETTINGS)
    layer = spec.layers[0]
    own = replace(layer.neurons[4], role=Role("Law"))
    spec = replace(spec, layers=(replace(layer, neurons=(*layer.neurons[:4], own)),))
    table, events, kept, pair = played(tmp_path, spec)
    now = PairSnapshot(table, 0, pair.roles)
    follow(table, now, events)
    assert [neuron.phase for neuron in now.layers[0]] == ["scored", "scored", "scored", "resting", "scored"]
    assert now.of == 4
    assert now.votes == kept.votes


def test_the_chair_decides_and_samples_are_merged(tmp_path: Path) -> None:
    spec = fixed(2, 1, chair=ChairSpec(Settings(samples=3)))
    table, events, kept, pair = played(tmp_path, spec)
    now = PairSnapshot(table, 0, pair.roles)
    for event in events:
        site = table.take(event)
        if isinstance(event, CallFinished) and site is not None:
            now.take([site])
            if event.layer == 1:
                assert now.verdict is None
    assert now.chair is not None
    assert now[2, 1] is now.chair
    assert [(one.calls, one.calls_in) for one in now.chair.orders] == [(3, 3), (3, 3)]
    assert now.verdict == kept.chair
    states = [state for site, state in table.neuron(0, 2, 1) if site.order == "ab"]
    order = now.chair.order("ab")
    assert order is not None
    assert order.score_a == pytest.approx(sum(s.score_a or 0 for s in states) / 3)
