"""A run with stop rules: only the calls that are needed, the same ones whatever comes back first."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judgenet.api import Network
from judgenet.core.aggregate import aggregate
from judgenet.core.calls import CallSite
from judgenet.core.cascade import Stop, look, stages, stop_at, stop_places, voters_of, with_rule
from judgenet.core.evaluation import Reason
from judgenet.core.events import CallFinished, PairFinished, RunStarted
from judgenet.core.network import ChairSpec, NetworkError, NetworkSpec, Role, RolesSpec
from judgenet.core.plan import PriceTable
from judgenet.core.presets import network
from judgenet.core.tally import Tally
from judgenet.engine.estimate import estimate_run
from judgenet.engine.pair_snapshot import PairSnapshot
from judgenet.engine.ports import CallFailed, ChatRequest
from judgenet.engine.preview import preview
from judgenet.engine.session import plan_run
from judgenet.store.db import Store
from judgenet.store.decided_early import stage_counts
from judgenet.store.frame import RunFrame
from judgenet.store.runs import run_info
from tests.unit.engine.harness import SETTINGS, FakeEndpoint, Ran, pairs, plain_answer, run, site_of, start

COUNT = 16
Expected = dict[int, tuple[set[CallSite], Stop | None]]


def net(rule: str, *, chair: bool = False, width: int = 3, depth: int = 3) -> NetworkSpec:
    roles = RolesSpec("fixed", roles=tuple(Role(f"Role {place}", f"aspect {place}") for place in range(width)))
    spec = replace(network(width, depth, settings=SETTINGS), roles=roles)
    return with_rule(replace(spec, chair=ChairSpec()) if chair else spec, rule)


def expected_of(path: Path, spec: NetworkSpec) -> Expected:
    """Which calls each pair needs, by the evaluations of a run that asks everything."""
    everything = start(with_rule(spec, "never"), pairs(COUNT))
    run(path, everything, FakeEndpoint())
    found: Expected = {}
    with Store.open(path, readonly=True) as store:
        frame = RunFrame.read(store, run_info(store))
    for pair in range(COUNT):
        of_stage = stages(spec)
        asked: list[int] = []
        for place, stage in enumerate(of_stage):
            so_far = [of for of in frame.opinions(pair) if (of.layer, of.neuron) in _neurons(of_stage, asked)]
            unasked = sum(voters_of(spec, rest) for rest in of_stage[place:])
            if (
                stage.rule is not None
                and look(stage.rule, so_far, of_stage[place - 1].layer, unasked, spec.aggregation).stops
            ):
                break
            asked.append(place)
        sites = {site for site in frame.sites(pair) if (site.layer, site.neuron) in _neurons(of_stage, asked)}
        found[pair] = (sites, stop_at(of_stage, asked[-1]))
    return found


def _neurons(of_stage: tuple[object, ...], asked: list[int]) -> set[tuple[int, int]]:
    return {(of_stage[place].layer, neuron) for place in asked for neuron in of_stage[place].neurons}  # type: ignore[attr-defined]


def sent(ran: Ran) -> dict[int, set[CallSite]]:
    found = defaultdict[int, set[CallSite]](set)
    for request in ran.asked:
        site = site_of(request)
        found[site.pair].add(site)
    return found


def sent_at_all(ran: Ran) -> set[CallSite]:
    return {site_of(request) for request in ran.asked}


CASES = [
    ("orders-agree", False),
    ("neurons-agree after=2", False),
    ("decided", False),
    ("decided after=neurons", False),
    ("margin>=2 after=neurons", True),
    ("difference>=2", True),
    ("orders-agree after=3", True),
]


@pytest.mark.parametrize(("rule", "chair"), CASES)
def test_only_the_calls_that_are_needed_are_sent_whatever_comes_back_first(
    tmp_path: Path, rule: str, chair: bool
) -> None:
    spec = net(rule, chair=chair)
    expected = expected_of(tmp_path / "whole.db", spec)
    assert 0 < sum(stop is not None for _, stop in expected.values()) < COUNT
    for attempt, concurrency in enumerate((1, 16)):
        endpoint = Shuffled(concurrency=concurrency)
        ran = run(tmp_path / f"{attempt}.db", start(spec, pairs(COUNT)), endpoint)
        assert ran.finished.state == "done"
        assert sent(ran) == {pair: sites for pair, (sites, _) in expected.items()}
        told = {event.pair: event.stopped_after for event in ran.events if isinstance(event, PairFinished)}
        stops = {pair: None if stop is None else (stop.layer, stop.neuron) for pair, (_, stop) in expected.items()}
        assert told == stops


class Shuffled(FakeEndpoint):
    """Answers take different times, so that they come back in any order."""

    async def chat(self, request: ChatRequest, on_text: object = None) -> object:  # type: ignore[override]
        self.delay = random.random() * 0.004
        return await super().chat(request)


def test_what_the_store_the_events_and_the_rules_say_is_the_same(tmp_path: Path) -> None:
    spec = net("orders-agree", chair=True)
    ran = run(tmp_path / "run.db", start(spec, pairs(COUNT)), FakeEndpoint())
    finished = {event.pair: event for event in ran.events if isinstance(event, PairFinished)}
    with Store.open(tmp_path / "run.db", readonly=True) as store:
        frame = RunFrame.read(store, run_info(store))
        live = RunFrame.fresh(run_info(store), spec, pairs(COUNT))
    for event in ran.events:
        live.take(event)
    early = frame.early
    assert early is not None
    assert 0 < frame.decided_early.sum() < COUNT
    for pair in range(COUNT):
        stop = frame.stop(pair)
        told = finished[pair]
        assert told.stopped_after == (None if stop is None else (stop.layer, stop.neuron))
        assert (early.layer[pair], early.neuron[pair], early.whole[pair]) == (stop or (0, 0, False))
        assert live.stop(pair) == stop
        assert frame.verdicts(pair) == dict(told.verdicts) == live.verdicts(pair)
        assert frame.decided_early[pair] == (stop is not None)
        snapshot = PairSnapshot(frame, pair, None)
        assert snapshot.stop == stop
        assert snapshot.verdict == dict(told.verdicts)["chair"]
        assert (snapshot.outstanding, snapshot.chair is not None and snapshot.chair.complete) == (0, True)
        last = None if stop is None else stop.layer
        rules = aggregate(
            frame.opinions(pair), spec.depth, spec.aggregation, last_asked=last, chair_left_out=bool(last)
        )
        assert rules.named() == frame.verdicts(pair)
    assert np.array_equal(live.early.reached, early.reached)  # type: ignore[union-attr]
    assert frame.calls_planned == frame.calls_in == len(ran.asked)


@pytest.mark.parametrize("rule", ["orders-agree", "decided after=neurons", "margin>=1 after=neurons"])
@pytest.mark.parametrize("width", [4, None])
def test_pairs_with_fewer_roles_have_fewer_stages(tmp_path: Path, rule: str, width: int | None) -> None:
    """The model names one to four roles a pair: what was not asked for want of a role is no early decision."""

    def answer(request: ChatRequest) -> str:
        if request.schema is not None and request.schema.name == "roles":
            count = 1 + site_of(request).pair % 4
            return json.dumps({"roles": [{"name": f"R{of}", "description": f"sees {of}"} for of in range(count)]})
        return plain_answer(request)

    bare = network(width, 2, settings=SETTINGS)
    whole = run(tmp_path / "whole.db", start(bare, pairs(COUNT)), FakeEndpoint(answer))
    ran = run(tmp_path / "run.db", start(with_rule(bare, rule), pairs(COUNT)), FakeEndpoint(answer))
    with Store.open(tmp_path / "run.db", readonly=True) as store:
        frame = RunFrame.read(store, run_info(store))
        counts = stage_counts(frame)
    told = {event.pair: event.stopped_after for event in ran.events if isinstance(event, PairFinished)}
    all_calls, calls = sent(whole), sent(ran)
    assert 0 < sum(stop is not None for stop in told.values()) < COUNT
    for pair in range(COUNT):
        stop = frame.stop(pair)
        assert told[pair] == (None if stop is None else (stop.layer, stop.neuron))
        assert (stop is None) == (calls[pair] == all_calls[pair])
        assert calls[pair] <= all_calls[pair]
    asked = sum(len(sites) - 1 for sites in calls.values())
    assert sum(of.calls for of in counts) == asked
    assert sum(of.calls_most for of in counts) == sum(len(sites) - 1 for sites in all_calls.values())
    assert sum(of.decided for of in counts) == sum(stop is not None for stop in told.values())


def test_progress_counts_down_as_pairs_are_decided(tmp_path: Path) -> None:
    ran = run(tmp_path / "run.db", start(net("orders-agree"), pairs(COUNT)), FakeEndpoint())
    tally = Tally()
    for event in ran.events:
        tally.take(event)
    [begun] = [event for event in ran.events if isinstance(event, RunStarted)]
    assert begun.calls_planned == COUNT * 18
    assert tally.calls == tally.calls_planned == len(ran.asked) < begun.calls_planned
    early = sum(event.stopped_after is not None for event in ran.events if isinstance(event, PairFinished))
    assert tally.pairs_decided_early == early
    assert f"{early:,} decided early" in tally.line()


def test_a_pair_with_a_missing_verdict_is_asked_on(tmp_path: Path) -> None:
    def answer(request: ChatRequest) -> str | CallFailed:
        site = site_of(request)
        if (site.layer, site.neuron, site.order) == (1, 2, "ba"):
            return CallFailed(Reason.TIMEOUT, "no answer in time")
        return plain_answer(request)

    spec = net("orders-agree", depth=2)
    ran = run(tmp_path / "run.db", start(spec, pairs(COUNT)), FakeEndpoint(answer))
    assert all(len(sites) == 12 for sites in sent(ran).values())
    assert all(event.stopped_after is None for event in ran.events if isinstance(event, PairFinished))
    with Store.open(tmp_path / "run.db", readonly=True) as store:
        live = RunFrame.read(store, run_info(store))
    # The missing verdicts come with the next start; what is then not needed is no part of the run.
    again = run(tmp_path / "run.db", start(spec, pairs(COUNT)), FakeEndpoint())
    expected = expected_of(tmp_path / "whole.db", spec)
    first = {site for site in sent_at_all(again) if site.layer == 1}
    assert {site[1:4] for site in first} == {(1, 2, "ba")}
    assert {site.pair for site in sent_at_all(again) - first} == {
        pair for pair, (_, stop) in expected.items() if not stop
    }
    with Store.open(tmp_path / "run.db", readonly=True) as store:
        frame = RunFrame.read(store, run_info(store))
    for event in again.events:
        live.take(event)
    for pair, (sites, stop) in expected.items():
        assert (set(frame.sites(pair)), frame.stop(pair)) == (sites, stop)
        assert (set(live.sites(pair)), live.stop(pair)) == (sites, stop)
        assert live.verdicts(pair) == frame.verdicts(pair)
    assert (live.calls_in, live.unscored) == (frame.calls_in, frame.unscored)


def test_a_run_that_was_cut_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    spec = net("orders-agree")
    expected = expected_of(tmp_path / "whole.db", spec)
    needed = {site for sites, _ in expected.values() for site in sites}
    asked: list[CallSite] = []
    state = ""
    for _ in range(40):

        async def cut(executor: object, events: list[object]) -> None:
            while sum(isinstance(event, CallFinished) and not event.cached for event in events) < 20:
                if executor._end is not None and executor._end.done():  # type: ignore[attr-defined]
                    return
                await __import__("asyncio").sleep(0.001)
            executor.cancel()  # type: ignore[attr-defined]

        ran = run(tmp_path / "run.db", start(spec, pairs(COUNT)), FakeEndpoint(delay=0.001), during=cut)
        kept = {CallSite(*_site(event)) for event in ran.events if isinstance(event, CallFinished) and not event.cached}
        asked += kept
        state = ran.finished.state
        if state == "done":
            break
    assert state == "done"
    assert len(asked) == len(set(asked))
    assert set(asked) == needed


def _site(event: CallFinished) -> tuple[int, int, int, object, int]:
    return (event.pair, event.layer, event.neuron, event.order, event.sample)


def test_an_estimate_is_a_range_and_knows_what_is_recorded(tmp_path: Path) -> None:
    spec = net("orders-agree", depth=2)
    begin = start(spec, pairs(COUNT))
    assert estimate_run(begin, None).estimate.calls == (COUNT * 6, COUNT * 12)
    ran = run(tmp_path / "run.db", begin, FakeEndpoint())
    with Store.open(tmp_path / "run.db") as store:
        found = estimate_run(begin, store).estimate
        assert plan_run(store, begin).run.number == 1
    assert found.calls == (len(ran.asked), len(ran.asked))
    assert found.calls_open == (0, 0)
    expected = found.expected
    assert expected is not None
    assert (expected.pairs, expected.calls, expected.price) == (COUNT, len(ran.asked), (0.0, 0.0))
    reached = sum(event.stopped_after is None for event in ran.events if isinstance(event, PairFinished))
    assert expected.reached == (1.0, reached / COUNT)
    # A stage costs what the network costs more than one without it, on the pairs that reach it.
    one, two = (
        estimate_run(start(with_rule(net("decided", depth=depth), "never"), pairs(COUNT)), None) for depth in (1, 2)
    )
    assert expected.stage_prices is not None
    assert one.estimate.price is not None
    assert two.estimate.price is not None
    for (low, high), end in zip(zip(*expected.stage_prices, strict=True), (0, 1), strict=True):
        first, both = one.estimate.price[end], two.estimate.price[end]
        assert (low, high) == pytest.approx((first, (both - first) * reached / COUNT), rel=0.001)
    unpriced = replace(begin, prices=PriceTable(()))
    with Store.open(tmp_path / "run.db") as store:
        unknown = estimate_run(unpriced, store).estimate.expected
    assert unknown is not None
    assert unknown.stage_prices is None


def test_the_question_of_a_later_layer_is_shown_though_a_rule_may_leave_it_out() -> None:
    begin = start(net("orders-agree", depth=2), pairs(1))
    bare = replace(begin, spec=with_rule(begin.spec, "never"))
    mine, plain = (preview(of, None, of.pairs[0], layer=2, neuron=1) for of in (begin, bare))
    assert mine.prompt == plain.prompt


def test_a_network_of_python_takes_a_stop_rule() -> None:
    made = Network.layers(3, 3, model="m", stop_when="margin>=2 after=1")
    assert stop_places(made.spec) == (("before", 1),)
    with pytest.raises(NetworkError, match="is no stop rule"):
        Network.layers(3, 3, model="m", stop_when="sometimes")
