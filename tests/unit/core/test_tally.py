from __future__ import annotations

from judgenet.core.events import CallFinished, CallStarted, PairFinished, RunStarted
from judgenet.core.tally import Tally


def _finished(**changes: object) -> CallFinished:
    values: dict[str, object] = {
        "run_id": "run-1",
        "pair": 0,
        "layer": 1,
        "neuron": 1,
        "order": "ab",
        "sample": 1,
        "status": "scored",
        "reason": None,
        "verdict": "a",
        "score_a": 8.0,
        "score_b": 6.0,
        "cached": False,
        "tokens_in": 900,
        "tokens_out": 100,
        "tokens_cached": 0,
        "price": 0.25,
        "latency_s": 2.0,
        "attempts": 1,
    }
    return CallFinished(**{**values, **changes})  # type: ignore[arg-type]


def test_rates_and_time_left_follow_the_clock() -> None:
    now = [0.0]
    tally = Tally(clock=lambda: now[0])
    tally.take(RunStarted("run-1", 10, 0, 40))
    assert tally.eta_s is None
    for _ in range(10):
        tally.take(CallStarted("run-1", 0, 1, 1, "ab", 1))
        tally.take(_finished())
    now[0] = 20.0
    assert tally.rate == 0.5
    assert tally.tokens_rate == 500.0
    assert tally.eta_s == 60.0
    assert tally.in_flight == 0
    assert tally.price == 2.5
    now[0] = 100.0
    assert tally.rate == 0.0
    assert tally.eta_s is None


def test_pairs_that_are_left_for_later_are_not_waited_for() -> None:
    tally = Tally(clock=lambda: 0.0)
    tally.take(RunStarted("run-1", 10, 3, 40, pairs_left=5))
    assert tally.calls_planned == 8


def test_what_the_store_had_costs_nothing_and_a_missing_price_is_counted() -> None:
    tally = Tally(clock=lambda: 0.0)
    tally.take(RunStarted("run-1", 2, 1, 8))
    assert (tally.pairs_done, tally.calls_planned) == (1, 4)
    tally.take(_finished(cached=True, price=None))
    tally.take(_finished(price=None))
    tally.take(_finished(status="unscored", reason="timeout", verdict=None, tokens_in=0, tokens_out=0, price=None))
    tally.take(PairFinished("run-1", 1, "p2", None, (), 2, 3, 1))
    assert (tally.calls, tally.calls_cached, tally.unpriced, tally.price) == (3, 1, 1, 0.0)
    assert tally.price_text() == "price unknown"
    assert tally.unscored == {"timeout": 1}
    assert tally.pairs_done == 2
