from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.core.pairs import data_hash
from judgenet.core.plan import pair_tokens
from judgenet.engine import executor
from judgenet.engine.estimate import USUAL_LATENCY_S, estimate_run
from judgenet.engine.ports import ChatReply, ChatRequest, OnText
from judgenet.engine.setup import changes_since
from judgenet.store.db import Store
from judgenet.store.pace import Throughput, throughput
from judgenet.store.runs import run_info
from tests.unit.engine import harness


def test_a_run_that_is_paid_for_costs_and_takes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.judgenet.db"
    begin = harness.start(judged=harness.pairs(3))
    before = estimate_run(begin, None)
    assert before.estimate.calls == (39, 39)
    assert before.estimate.calls_recorded == 0
    concurrency = begin.profiles["fake"].concurrency
    assert before.duration.high == pytest.approx(39 * USUAL_LATENCY_S / concurrency)
    assert not before.duration.measured
    harness.run(path, begin)
    with Store.open(path, readonly=True) as store:
        after = estimate_run(begin, store)
        assert after.estimate.calls_recorded == 39
        assert after.estimate.calls_open == (0, 0)
        assert after.duration[:2] == (0, 0)
        more = estimate_run(replace(begin, pairs=harness.pairs(6)), store)
        assert more.estimate.calls_recorded == 39
        assert more.duration.measured


def one_role(request: ChatRequest) -> str:
    """The fake judge's answer, with a single role where roles are asked for."""
    if request.schema is not None and request.schema.name == "roles":
        return json.dumps({"roles": [{"name": "Fit", "description": "does it fit"}]})
    return harness.plain_answer(request)


def test_pairs_whose_model_named_fewer_roles_are_paid_for(tmp_path: Path) -> None:
    path = tmp_path / "a.judgenet.db"
    begin = harness.start(judged=harness.pairs(12))
    ran = harness.run(path, begin, harness.FakeEndpoint(one_role))
    # Role generation, and one neuron in each of two layers in both orders.
    assert len(ran.asked) == 12 * (1 + 2 * 2)
    with Store.open(path, readonly=True) as store:
        after = estimate_run(begin, store)
        assert after.estimate.calls == (60, 60)
        assert after.estimate.calls_recorded == 60
        assert after.estimate.calls_open == (0, 0)
        assert after.estimate.tokens_in == after.estimate.tokens_out == (0, 0)
        assert after.estimate.price == (0, 0)
        assert after.duration[:2] == (0, 0)
        # Of two more pairs it is not known how many roles they get: they have three by the design.
        more = estimate_run(replace(begin, pairs=harness.pairs(14)), store).estimate
        assert more.calls == (60 + 2 * 13, 60 + 2 * 13)
        assert more.calls_open == (26, 26)


class Slow(harness.FakeEndpoint):
    """Answers at once, yet takes on only so many calls a second: the others wait, as behind a limit a minute. Its
    clock goes on with each answer, so that a busy machine does not change the pace."""

    each_s = 0.01

    def __init__(self) -> None:
        super().__init__()
        self.at = 1000.0
        self.turn = asyncio.Lock()

    async def chat(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        async with self.turn:
            await asyncio.sleep(self.each_s)
            self.at += self.each_s
            return replace(await super().chat(request, on_text), latency_s=0.001)


def test_the_time_follows_the_pace_that_was_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.judgenet.db"
    profiles = {**harness.PROFILES, "fake": replace(harness.PROFILES["fake"], concurrency=8)}
    begin = harness.start(judged=harness.pairs(4), profiles=profiles)
    slow = Slow()
    monkeypatch.setattr(executor, "now", lambda: slow.at)
    harness.run(path, begin, slow)
    with Store.open(path, readonly=True) as store:
        seen = throughput(store, "fake", 8)
        assert seen is not None
        assert seen.calls_s == pytest.approx(100, rel=0.15)  # one of eight calls may be late
        more = estimate_run(replace(begin, pairs=harness.pairs(104)), store)
    # 1,300 calls at 100 a second; by latency and calls in flight it would be .16 s.
    assert more.duration.measured
    assert more.duration.high == pytest.approx(13, rel=0.15)


def test_more_calls_in_flight_help_where_all_places_were_taken() -> None:
    assert Throughput(2.0, 7.9, 16).seconds_a_call(32) == pytest.approx(2 / 32)
    # 2 a second with answers of .5 s keep 1 of 16 places busy: something else holds the calls back.
    assert Throughput(0.5, 2.0, 16).seconds_a_call(32) == pytest.approx(0.5)
    assert Throughput(0.5, None, 16).seconds_a_call(4) == pytest.approx(0.125)


def test_lengths_that_are_known_need_no_counting() -> None:
    begin = harness.start(judged=harness.pairs(3))
    lengths = [pair_tokens(pair) for pair in begin.pairs]
    assert estimate_run(begin, None, lengths=lengths).to_json() == estimate_run(begin, None).to_json()


def test_the_search_in_the_store_can_be_ended(tmp_path: Path) -> None:
    path = tmp_path / "a.judgenet.db"
    begin = harness.start(judged=harness.pairs(3))
    harness.run(path, begin)

    def stop() -> None:
        raise InterruptedError

    with Store.open(path, readonly=True) as store, pytest.raises(InterruptedError):
        estimate_run(begin, store, check=stop)


def test_what_changed_since_a_run(tmp_path: Path) -> None:
    path = tmp_path / "a.judgenet.db"
    begin = harness.start(judged=harness.pairs(2))
    harness.run(path, begin)
    with Store.open(path, readonly=True) as store:
        run = run_info(store)
    assert changes_since(run, begin, data_hash(begin.pairs)) == ()
    renamed = replace(begin, spec=replace(begin.spec, name="Another name"))
    assert changes_since(run, renamed, data_hash(begin.pairs)) == ()
    narrower = replace(begin, spec=replace(begin.spec, layers=begin.spec.layers[:1]))
    assert changes_since(run, narrower, data_hash(harness.pairs(3))) == ("network", "pairs")
