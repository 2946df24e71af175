from __future__ import annotations

import asyncio
from array import array
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judgenet.core.calls import CallSite
from judgenet.core.evaluation import Reason
from judgenet.core.events import CallFinished, CallStarted, PairFinished
from judgenet.core.learned import designed_widths, fingerprint
from judgenet.core.network import LearnedRule, NeuronWeight
from judgenet.core.pairs import VERDICTS
from judgenet.engine.executor import Executor
from judgenet.engine.ports import CallFailed, ChatRequest
from judgenet.store.columns import RUNNING, UNSCORED, PairIds
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.runs import run_info, run_pair, run_pairs
from tests.bench.report import make
from tests.pair_verdicts import pair_results
from tests.short_forms import agreement, position
from tests.unit.engine import harness


def _live(events: list, path: Path, judged: list) -> RunFrame:
    with Store.open(path, readonly=True) as store:
        run = run_info(store)
    table = RunFrame.fresh(run, harness.start().spec, judged)
    for event in events:
        table.take(event)
    return table


def test_events_and_store_give_the_same_table(tmp_path: Path) -> None:
    judged = harness.pairs(3)
    ran = harness.run(tmp_path / "a.judgenet.db", harness.start(judged=judged))
    live = _live(ran.events, tmp_path / "a.judgenet.db", judged)
    with Store.open(tmp_path / "a.judgenet.db", readonly=True) as store:
        read = RunFrame.read(store, run_info(store))
        kept = [result.verdicts for result in pair_results(store, run_info(store))]
        texts = [run_pair(store, run_info(store), index) for index in range(3)]
        assert texts == list(run_pairs(store, run_info(store)))
    assert tuple(read.pairs.ids) == tuple(live.pairs.ids) == tuple(pair.id for pair in judged)
    assert live.columns.keys() == read.columns.keys()
    assert len(read.columns) == 1 + 2 * 3 * 2
    for key, column in read.columns.items():
        for name in ("phase", "verdict", "reason", "scores", "cached", "attempts"):
            np.testing.assert_array_equal(getattr(column, name), getattr(live.columns[key], name), name)
    for index in range(3):
        assert read.pair_state(index) == live.pair_state(index) == "done"
        assert kept[index] is not None
        assert read.verdicts(index) == live.verdicts(index) == kept[index].named()
        assert sorted(live.sites(index)) == sorted(read.sites(index))
        assert len(live.sites(index)) == 13
    assert sorted(live.finished) == list(read.finished) == [0, 1, 2]


def test_calls_tell_scores_and_differences(tmp_path: Path) -> None:
    judged = harness.pairs(1)
    ran = harness.run(tmp_path / "a.judgenet.db", harness.start(judged=judged))
    table = _live(ran.events, tmp_path / "a.judgenet.db", judged)
    ab, ba = (table.call(CallSite(0, 1, 1, order, 1)) for order in ("ab", "ba"))
    assert ab.phase == ba.phase == "scored"
    assert ab.score_a is not None
    assert ab.score_b is not None
    assert ba.score_a is not None
    assert ba.score_b is not None
    expected = ((ab.score_a - ab.score_b) + (ba.score_a - ba.score_b)) / 2
    assert table.difference(0, 1, 1) == expected
    assert table.difference(0, 1, 1, "ab") == ab.score_a - ab.score_b
    assert table.difference(0, 1, 9) is None
    assert not table.call(CallSite(0, 7, 1, "ab", 1)).finished


def test_a_run_that_is_cut_short_has_no_calls_on_their_way(tmp_path: Path) -> None:
    judged = harness.pairs(4)

    async def stop(executor: Executor, events: list) -> None:
        while not any(isinstance(event, PairFinished) for event in events):
            await asyncio.sleep(0.001)
        executor.cancel()

    ran = harness.run(tmp_path / "a.judgenet.db", harness.start(judged=judged), during=stop)
    live = _live(ran.events, tmp_path / "a.judgenet.db", judged)
    live.interrupted()
    with Store.open(tmp_path / "a.judgenet.db", readonly=True) as store:
        read = RunFrame.read(store, run_info(store))
    for index in range(4):
        assert live.sites(index) == read.sites(index)
        finished = [live.call(site).finished for site in live.sites(index)]
        assert all(finished)
        if live.pair_state(index) in ("open", "working"):
            assert live.verdicts(index) is None


def test_agreement_and_flips_over_finished_pairs_are_those_of_the_store(tmp_path: Path) -> None:
    judged = [replace(pair, human=VERDICTS[place % 3]) for place, pair in enumerate(harness.pairs(9))]
    ran = harness.run(tmp_path / "a.judgenet.db", harness.start(judged=judged))
    live = _live(ran.events, tmp_path / "a.judgenet.db", judged)
    with Store.open(tmp_path / "a.judgenet.db", readonly=True) as store:
        read = RunFrame.read(store, run_info(store))
        kept = [result.verdicts for result in pair_results(store, run_info(store))]
    for table in (read, live):
        for name in table.aggregations:
            verdicts = [one.named()[name] for one in kept if one is not None]
            assert table.curves(name).last == agreement([pair.human for pair in judged], verdicts)
        both = [(one.c1_ab, one.c1_ba) for one in kept if one is not None]
        wanted = position([ab for ab, _ in both], [ba for _, ba in both])
        assert (table.flips().rate, table.flips().n) == (wanted.flip_rate, wanted.n)
        assert table.calls_in == 9 * 13
        assert table.calls_unscored == 0


def test_a_strip_holds_what_single_calls_say(tmp_path: Path) -> None:
    def answer(request: ChatRequest) -> str:
        site = harness.site_of(request)
        if site.layer == 2 and site.neuron == 2 and site.pair == 1:
            return "I would rather not say."
        if site.layer == 2 and site.neuron == 2 and site.pair == 2 and site.order == "ab":
            return ""
        return harness.plain_answer(request)

    judged = harness.pairs(4)
    ran = harness.run(tmp_path / "a.judgenet.db", harness.start(judged=judged), harness.FakeEndpoint(answer))
    table = _live(ran.events, tmp_path / "a.judgenet.db", judged)
    with Store.open(tmp_path / "a.judgenet.db", readonly=True) as store:
        read = RunFrame.read(store, run_info(store))
    for layer, neuron in ((1, 1), (2, 2)):
        strip = table.strip(layer, neuron, 0, 4)
        for one, other in zip(strip, read.strip(layer, neuron, 0, 4), strict=True):
            np.testing.assert_array_equal(one, other)
        for index in range(4):
            wanted = table.difference(index, layer, neuron)
            if wanted is None:
                assert np.isnan(strip.difference[index])
            else:
                assert strip.difference[index] == np.float32(wanted)
    assert table.strip(2, 2, 0, 4).state.tolist() == [0, UNSCORED, 0, 0]
    assert table.calls_unscored == 3
    assert table.pairs_with_unscored().tolist() == [False, True, True, False]
    assert table.unanswered() == 0
    begun = CallStarted(ran.finished.run_id, 3, 2, 2, "ab", 1)
    table.take(begun)
    assert table.strip(2, 2, 3, 4).state.tolist() == [RUNNING]
    assert [site for site, _ in table.neuron(3, 2, 2)] == [CallSite(3, 2, 2, "ab", 1), CallSite(3, 2, 2, "ba", 1)]
    assert len(table.strip(7, 7, 0, 4).difference) == 4


def test_an_unscored_call_that_is_asked_again_counts_once(tmp_path: Path) -> None:
    judged = harness.pairs(1)
    ran = harness.run(tmp_path / "a.judgenet.db", harness.start(judged=judged))
    table = _live([], tmp_path / "a.judgenet.db", judged)
    (done,) = [
        e for e in ran.events if isinstance(e, CallFinished) and e.layer == 1 and e.neuron == 1 and e.order == "ab"
    ]
    table.take(replace(done, status="unscored", reason="timeout", verdict=None, score_a=None, score_b=None))
    assert (table.calls_in, table.calls_unscored) == (1, 1)
    table.take(CallStarted(done.run_id, 0, 1, 1, "ab", 1))
    assert (table.calls_in, table.calls_unscored) == (0, 0)
    table.interrupted()
    assert (table.calls_in, table.calls_unscored) == (1, 1)
    assert table.call(CallSite(0, 1, 1, "ab", 1)).reason == "timeout"
    table.take(CallStarted(done.run_id, 0, 1, 1, "ab", 1))
    table.take(done)
    assert (table.calls_in, table.calls_unscored) == (1, 0)


def test_what_a_retry_would_ask_again_is_counted(tmp_path: Path) -> None:
    def answer(request: ChatRequest) -> str | Exception:
        site = harness.site_of(request)
        if site.layer == 2 and site.pair == 1:
            return CallFailed(Reason.TIMEOUT, "too slow", attempts=1)
        return "" if site.layer == 2 and site.pair == 0 else harness.plain_answer(request)

    judged = harness.pairs(3)
    ran = harness.run(tmp_path / "a.judgenet.db", harness.start(judged=judged), harness.FakeEndpoint(answer))
    table = _live(ran.events, tmp_path / "a.judgenet.db", judged)
    assert [table.pair_state(index) for index in range(3)] == ["done", "failed", "done"]
    assert table.unanswered() == 6
    assert table.calls_unscored == 12


def test_curves_of_the_learned_aggregation_leave_out_the_labels_that_taught_it(tmp_path: Path) -> None:
    judged = [replace(pair, human="a") for pair in harness.pairs(3)]
    ran = harness.run(tmp_path / "a.judgenet.db", harness.start(judged=judged))
    with Store.open(tmp_path / "a.judgenet.db", readonly=True) as store:
        run = run_info(store)
        spec = harness.start().spec
        weights = tuple(NeuronWeight(1, neuron + 1, None, 1.0) for neuron in range(2))
        rule = LearnedRule("nonnegative", weights, designed_widths(spec), labels=2, pairs=fingerprint(judged[:2]))
        found = RunFrame.read(store, run, replace(spec.aggregation, learned=rule))
        assert found.pairs.taught.tolist() == [True, True, False]
        assert found.curves("learned").last.n_used == 1
        assert found.curves("c1").last.n_used == 3
    assert ran.events


def array_bytes(held: object, seen: set[int]) -> int:
    """The bytes of all arrays and buffers that an object holds, each once."""
    if id(held) in seen:
        return 0
    seen.add(id(held))
    if isinstance(held, np.ndarray):
        if held.base is not None and held.base is not held:
            return array_bytes(held.base, seen) if isinstance(held.base, np.ndarray) else held.nbytes
        return held.nbytes
    if isinstance(held, array):
        return len(held) * held.itemsize
    if isinstance(held, bytes):
        return len(held)
    if isinstance(held, Mapping):
        return sum(array_bytes(value, seen) for value in held.values())
    if isinstance(held, list | tuple):
        return sum(array_bytes(value, seen) for value in held)
    names = [
        *getattr(held, "__dict__", ()),
        *(name for kind in type(held).__mro__ for name in getattr(kind, "__slots__", ())),
    ]
    if not type(held).__module__.startswith("judgenet"):
        return 0
    return sum(array_bytes(getattr(held, name, None), seen) for name in names)


def test_a_pair_of_eight_neurons_in_two_orders_takes_at_most_400_bytes(tmp_path: Path) -> None:
    """The arrays of a run that is opened, with its verdicts made, and the ids: they alone grow with the pairs."""
    path = tmp_path / "run.judgenet.db"
    make(path, 300)
    with Store.open(path, readonly=True) as store:
        frame = RunFrame.read(store, run_info(store))
    assert (len(frame.places), len(frame.columns)) == (8, 16)
    assert len(frame.done) == 300
    assert frame.table.calls.sum() > 300 * 15
    counted = array_bytes(frame, set())
    assert counted >= 16 * 300 * 11, "the calls alone take more: an array is not counted"
    assert counted / 300 <= 400


def test_ids_come_back_as_they_were() -> None:
    given = ("p1", "", "Frage-ä", "\U0001f600", "broken \udc80", "p1")
    ids = PairIds(given)
    assert (tuple(ids), len(ids), ids[3], ids[-1], ids[1:3]) == (given, 6, given[3], "p1", given[1:3])
    assert ("Frage-ä" in ids, "p2" in ids, ids.index("broken \udc80")) == (True, False, 4)
    with pytest.raises(IndexError):
        ids[6]
    assert (tuple(PairIds(())), len(PairIds(()))) == ((), 0)
