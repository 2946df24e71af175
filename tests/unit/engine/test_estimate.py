from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.core.pairs import data_hash
from judgenet.core.plan import pair_tokens
from judgenet.engine.estimate import USUAL_LATENCY_S, estimate_run
from judgenet.engine.setup import changes_since
from judgenet.store.db import Store
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
