"""The pace of a recorded run follows from the times of its calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgenet.store.db import Store
from judgenet.store.pace import LONGEST_GAP_S, MOST_POINTS, Throughput, pace, throughput
from judgenet.store.runs import RunInfo, run_info
from tests.unit.engine import harness


def _timed(path: Path, ends: list[float], price: float = 0.5) -> tuple[Store, RunInfo]:
    """A run whose answers came in at these times."""
    harness.run(path, harness.start(judged=harness.pairs(max(1, -(-len(ends) // 13)))))
    store = Store.open(path)
    ids = [row[0] for row in store.reader.execute("SELECT id FROM calls ORDER BY id")]
    for place, call in enumerate(ids):
        if place < len(ends):
            store.reader.execute(
                "UPDATE calls SET started_at=?, latency_s=1, price=?, tokens_in=100, tokens_out=20 WHERE id=?",
                (ends[place] - 1, price, call),
            )
        else:
            store.reader.execute("UPDATE run_calls SET cached=1 WHERE call_id=?", (call,))
    return store, run_info(store)


def test_calls_are_counted_by_the_second(tmp_path: Path) -> None:
    store, run = _timed(tmp_path / "a.judgenet.db", [1000.2, 1000.9, 1001.5, 1003.1])
    with store:
        found = pace(store, run)
    assert [(one.at, one.calls_s, one.tokens_s) for one in found] == [(1, 2, 240), (2, 1, 120), (3, 0, 0), (4, 1, 120)]
    assert [one.price for one in found] == pytest.approx([1.0, 1.5, 1.5, 2.0])


def test_time_in_which_the_run_stood_still_is_left_out(tmp_path: Path) -> None:
    store, run = _timed(tmp_path / "a.judgenet.db", [1000.0, 90_000.0])
    with store:
        found = pace(store, run)
    assert found[-1].at == 1 + LONGEST_GAP_S
    assert found[-1].price == pytest.approx(1.0)


def test_a_long_run_has_few_points(tmp_path: Path) -> None:
    ends = [1000.0 + 55 * place for place in range(26)]
    store, run = _timed(tmp_path / "a.judgenet.db", ends)
    with store:
        found = pace(store, run)
    assert len(found) <= MOST_POINTS
    width = found[0].at
    assert width == 3
    assert sum(one.calls_s * width for one in found) == pytest.approx(26)


def test_a_run_of_kept_answers_took_no_time(tmp_path: Path) -> None:
    store, run = _timed(tmp_path / "a.judgenet.db", [])
    with store:
        assert pace(store, run) == []


def _throughput(path: Path, starts: list[float], in_flight: int) -> Throughput:
    """What is seen of an endpoint to which calls were sent at these times."""
    store, _ = _timed(path, [at + 1 for at in starts])
    with store:
        store.reader.execute("DELETE FROM run_calls")
        store.reader.execute("DELETE FROM calls WHERE started_at NOT BETWEEN 900 AND 200000")
        store.reader.execute("UPDATE runs SET record=json_set(record, '$.endpoints.fake.concurrency', ?)", (in_flight,))
        seen = throughput(store, "fake", in_flight)
    assert seen is not None
    return seen


@pytest.mark.parametrize(("bursts", "within"), [(4, 0.3), (20, 0.1)])
def test_pauses_between_bursts_count_in_the_pace(tmp_path: Path, bursts: int, within: float) -> None:
    """An endpoint that takes four calls every ten seconds takes .4 a second, though each burst passes in a moment."""
    starts = [1000 + 10 * burst + 0.01 * call for burst in range(bursts) for call in range(4)]
    assert _throughput(tmp_path / "a.judgenet.db", starts, 2).calls_s == pytest.approx(0.4, rel=within)


def test_time_between_two_runs_is_no_pace(tmp_path: Path) -> None:
    starts = [begin + call for begin in (1000.0, 90_000.0) for call in range(13)]
    assert _throughput(tmp_path / "a.judgenet.db", starts, 2).calls_s == pytest.approx(1)
