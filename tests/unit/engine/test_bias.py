"""A bias lab in the engine: one order a prompt, one judge after the other, stopped and gone on with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.core import presets
from judgenet.core.bias.base import LabSettings
from judgenet.core.bias.lab import BuiltLab, build_lab
from judgenet.core.cascade import has_stop_rules, with_rule
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.events import CallFinished, Event, RunFinished
from judgenet.core.network import AcceptanceRule, NetworkSpec, Settings
from judgenet.core.pairs import Pair
from judgenet.core.plan import PriceTable
from judgenet.core.prompts import PromptBook
from judgenet.engine.bias import LabHandle, asked_of, estimate_lab, faireval_of, lab_starts, single_of, start_lab
from judgenet.engine.session import Engine, Start
from judgenet.store.db import Store
from judgenet.store.labs import lab_info, lab_result, labs
from judgenet.store.runs import run_info, runs
from tests.fakes.judge_server import JudgeServer

PAIRS = [
    Pair(f"p{i}", f"What of {i}?", f"A good answer to {i}. It says why.", f"Nobody knows {i}. It is hard.")
    for i in range(4)
]


def built(*probes: str) -> BuiltLab:
    return build_lab(PAIRS, probes, LabSettings())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "x.judgenet.db") as found:
        yield found


def base(server: JudgeServer) -> Start:
    spec = presets.network(2, 2, roles="none", settings=Settings(endpoint="fake", model="judge"))
    profile = EndpointProfile("fake", base_url=server.url, concurrency=4)
    return Start(spec, PAIRS, PromptBook.default(), PriceTable(), {"fake": profile}, "salt")


def lab(engine: Engine, store: Store, server: JudgeServer, events: list[Event], *probes: str) -> LabHandle:
    return start_lab(engine, store, base(server), built(*probes), ("network", "single"), events.append)


def test_a_network_reads_the_evaluations_of_the_order_in_which_it_is_asked(store: Store) -> None:
    events: list[Event] = []
    with JudgeServer(mind="first") as server, Engine() as engine:
        finished = lab(engine, store, server, events, "order").future.result(60)
        prompts = [
            message["content"] for entry in server.log for message in entry.messages if message["role"] == "user"
        ]
    assert finished.state == "done"
    deeper = [prompt for prompt in prompts if "Earlier evaluations" in prompt]
    # Two neurons of layer 2 on eight prompts, each of which reads two neurons, and no other order.
    assert len(deeper) == 16
    assert all(len(re.findall(r"^With the responses in your order:", prompt, re.M)) == 2 for prompt in deeper)
    assert not any("in the other order" in prompt for prompt in prompts)
    # The single judge comes first, and the first neuron of layer 1 finds its answers.
    ended = [event.run_id for event in events if isinstance(event, RunFinished)]
    assert [run_info(store, run).record["judge"] for run in ended] == ["single", "network"]
    second = [event for event in events if isinstance(event, CallFinished) and event.run_id == ended[1]]
    assert {event.neuron for event in second if event.cached and event.layer == 1} == {1}
    assert sum(event.cached for event in second) == 8


def test_a_lab_that_is_stopped_shows_what_it_has_and_goes_on(store: Store) -> None:
    events: list[Event] = []
    with JudgeServer(mind="first", latency=0.05) as server, Engine() as engine:
        handle = lab(engine, store, server, events, "order", "bandwagon")
        while not any(isinstance(event, CallFinished) for event in events):
            handle.pause()
            handle.resume()
        handle.cancel()
        finished = handle.future.result(60)
        assert finished.state == "cancelled"
        part = lab_result(store, finished.lab, coins=0)
        assert part.cell("order", "single").items < 4
        assert "network" not in {judge.id for judge in part.judges}
        assert lab(engine, store, server, [], "order", "bandwagon").future.result(60).state == "done"
        whole = lab_result(store, finished.lab, coins=0)
        assert whole.cell("order", "network").counts["first"] == 4
        # Calls in flight may be asked again: four of them at most, and four that were not kept yet.
        assert 16 * 4 <= server.requests <= 16 * 4 + 8
    info = lab_info(store)
    assert (info.title, set(info.runs)) == ("Lab 1", {"single", "network"})
    assert labs(store) == [finished.lab]
    assert runs(store) == []


def test_judges_beside_the_network_are_on_its_own_model() -> None:
    spec = presets.network(3, 2, settings=Settings(endpoint="e", model="m", temperature=0.3, max_tokens=99), samples=2)
    single, faireval = single_of(spec), faireval_of(spec)
    assert single.settings == Settings("e", "m", 0.3, 99, 1)
    assert faireval.settings == Settings("e", "m", 1.0, 99, 3)
    assert [len(of.layers) for of in (single, faireval)] == [1, 1]
    assert {of.roles.kind for of in (single, faireval)} == {"none"}


def test_only_the_judges_asked_for_are_started(store: Store) -> None:
    with JudgeServer() as server:
        starts = lab_starts(base(server), built("order"), ("network",))
    assert list(starts) == ["network"]
    assert starts["network"].record["judge"] == "network"
    assert starts["network"].spec.orders == "ab"


def test_a_lab_makes_every_call_of_a_network_with_stop_rules() -> None:
    spec = presets.network(2, 2, roles="none")
    gated = with_rule(spec, "orders-agree")
    with JudgeServer() as server:
        starts = lab_starts(replace(base(server), spec=gated), built("order"), ("network",))
    assert not has_stop_rules(starts["network"].spec)
    assert asked_of(gated) == asked_of(spec)


def test_a_lab_measures_all_verdicts_of_a_network_that_leaves_some_to_people() -> None:
    spec = presets.network(2, 1, roles="none")
    rule = AcceptanceRule("c2_all", "calls", 0.9, 0.1, 0.05)
    ruled = replace(spec, aggregation=replace(spec.aggregation, acceptance=rule))
    with JudgeServer() as server:
        starts = lab_starts(replace(base(server), spec=ruled), built("order"), ("network",))
    assert starts["network"].spec.aggregation.acceptance is None
    assert asked_of(ruled) == asked_of(spec)


TWICE = [
    Pair(f"q{i}", "What of it?", text, other)
    for i, (text, other) in enumerate(((" A good answer.", "Nobody knows."), ("Nobody knows.", "It is hard to say.")))
]


@pytest.mark.parametrize(
    ("spec", "calls"),
    [
        # The first neuron asks what the single judge asks: four calls a prompt, where five are planned.
        (presets.network(2, 2, roles="none"), 4),
        (presets.network(2, 2, roles="none", chair=True), 5),
        (presets.network(2, 1, roles="none", samples=3), 6),
    ],
)
def test_calls_that_judges_share_are_in_the_estimate_once(store: Store, spec: NetworkSpec, calls: int) -> None:
    # Two pairs of one question and text: their prompts "identical" may be the very same.
    plan = build_lab([*PAIRS, *TWICE], ("order", "identical"), LabSettings())
    distinct = len({prompt.content_hash for prompt in plan.prompts})
    with JudgeServer(mind="unbiased") as server, Engine() as engine:
        start = base(server)
        start = replace(start, spec=replace(spec, settings=replace(spec.settings, endpoint="fake", model="judge")))
        starts = lab_starts(start, plan)
        before = estimate_lab(starts, None)
        assert start_lab(engine, store, start, plan, ("single", "network"), lambda event: None).future.result(60)
        assert server.requests == distinct * calls
    assert before.calls_open == (distinct * calls, distinct * calls)
    assert before.shared == before.calls.high - distinct * calls
    after = estimate_lab(starts, store)
    assert (after.calls_open, after.shared) == ((0, 0), 0)
