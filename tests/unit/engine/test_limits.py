"""Limits under a clock that only the test moves."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest

from judgenet.engine.limits import (
    Gate,
    Limiter,
    MinuteBudget,
    Permit,
    Stopped,
    backoff,
    parse_duration,
    reset_hint,
    retry_after,
)
from tests.fakes.clock import FakeClock, settle


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(coroutine)


class Crowd:
    """Callers that ask for leave and note when they get it."""

    def __init__(self, limiter: Limiter, clock: FakeClock) -> None:
        self.limiter = limiter
        self.clock = clock
        self.let_out: list[tuple[float, int]] = []
        self.permits: list[Permit] = []
        self.tasks: list[asyncio.Task[None]] = []

    def ask(self, count: int, *, tokens: float = 0.0, hold: bool = False, model: str = "m") -> None:
        async def caller(number: int) -> None:
            permit = await self.limiter.acquire(model, tokens)
            self.let_out.append((self.clock.time() - 1000.0, number))
            if hold:
                self.permits.append(permit)
            else:
                self.limiter.release(permit)

        for _ in range(count):
            self.tasks.append(asyncio.ensure_future(caller(len(self.tasks))))

    @property
    def times(self) -> list[float]:
        return [when for when, _ in self.let_out]


def test_no_more_than_the_concurrency_in_order() -> None:
    async def body() -> None:
        clock = FakeClock()
        limiter = Limiter(3, clock=clock)
        crowd = Crowd(limiter, clock)
        crowd.ask(5, hold=True)
        await settle()
        assert [number for _, number in crowd.let_out] == [0, 1, 2]
        assert limiter.in_flight == 3
        assert limiter.waiting == 2
        limiter.release(crowd.permits[0])
        await settle()
        assert [number for _, number in crowd.let_out] == [0, 1, 2, 3]

    run(body())


def test_requests_a_minute_hold_in_every_minute() -> None:
    async def body() -> None:
        clock = FakeClock()
        crowd = Crowd(Limiter(100, requests_per_minute=6, clock=clock), clock)
        crowd.ask(20)
        await clock.advance(200)
        times = crowd.times
        assert len(times) == 20
        for start in times:
            assert sum(start <= other < start + 60 for other in times) <= 6
        assert times == [0.0] * 6 + [60.0] * 6 + [120.0] * 6 + [180.0] * 2

    run(body())


def test_less_than_one_request_a_minute() -> None:
    async def body() -> None:
        clock = FakeClock()
        crowd = Crowd(Limiter(100, requests_per_minute=0.5, clock=clock), clock)
        crowd.ask(3)
        await clock.advance(300)
        assert crowd.times == [0.0, 120.0, 240.0]

    run(body())


def test_tokens_a_minute_by_estimate() -> None:
    async def body() -> None:
        clock = FakeClock()
        crowd = Crowd(Limiter(100, tokens_per_minute=1000, clock=clock), clock)
        crowd.ask(5, tokens=400)
        await clock.advance(150)
        assert crowd.times == [0.0, 0.0, 60.0, 60.0, 120.0]

    run(body())


def test_tokens_are_settled_by_what_was_used() -> None:
    async def body() -> None:
        clock = FakeClock()
        limiter = Limiter(100, tokens_per_minute=1000, clock=clock)
        first = await limiter.acquire("m", 900)
        crowd = Crowd(limiter, clock)
        crowd.ask(1, tokens=300)
        await clock.advance(5)
        assert crowd.times == []
        limiter.release(first, tokens=200)
        await settle()
        assert crowd.times == [5.0]

    run(body())


def test_a_call_larger_than_the_limit_goes_alone() -> None:
    async def body() -> None:
        clock = FakeClock()
        crowd = Crowd(Limiter(100, tokens_per_minute=1000, clock=clock), clock)
        crowd.ask(1, tokens=10)
        crowd.ask(2, tokens=5000)
        await clock.advance(130)
        assert crowd.times == [0.0, 60.0, 120.0]

    run(body())


def test_settling_after_the_minute_changes_nothing() -> None:
    budget = MinuteBudget(100)
    entry = budget.take(80, 0.0)
    assert budget.wait(80, 61.0) == 0.0
    budget.take(80, 61.0)
    budget.settle(entry, 5)
    assert budget.wait(30, 62.0) == pytest.approx(59.0)


def test_one_throttling_answer_makes_all_wait() -> None:
    async def body() -> None:
        clock = FakeClock()
        limiter = Limiter(8, clock=clock, rng=random.Random(1))
        permit = await limiter.acquire("m")
        limiter.release(permit)
        assert limiter.throttled(permit, 20.0)
        crowd = Crowd(limiter, clock)
        crowd.ask(2)
        await clock.advance(19.9)
        assert crowd.times == []
        assert limiter.held_for == pytest.approx(0.1)
        await clock.advance(1)
        assert crowd.times == pytest.approx([20.0, 20.05])

    run(body())


def test_the_window_halves_once_a_round_and_grows_again() -> None:
    async def body() -> None:
        clock = FakeClock()
        limiter = Limiter(16, clock=clock, rng=random.Random(1))
        permits = [await limiter.acquire("m") for _ in range(16)]
        await clock.advance(1)
        assert limiter.throttled(permits[0])
        assert limiter.window == 8
        # The rest of the round was sent before the cut and says nothing new.
        assert not any(limiter.throttled(permit) for permit in permits[1:])
        assert limiter.window == 8
        for permit in permits:
            limiter.release(permit)
        await clock.advance(100)
        permit = await limiter.acquire("m")
        await clock.advance(1)
        assert limiter.throttled(permit)
        limiter.release(permit)
        assert limiter.window == 4
        ended = [limiter.succeeded() for _ in range(200)]
        assert limiter.window == 16
        assert ended.count(True) == 1

    run(body())


def test_the_window_never_closes() -> None:
    async def body() -> None:
        clock = FakeClock()
        limiter = Limiter(4, clock=clock)
        for _ in range(10):
            await clock.advance(100)
            permit = await limiter.acquire("m")
            await clock.advance(1)
            limiter.throttled(permit)
            limiter.release(permit)
        assert limiter.window == 1

    run(body())


def test_the_pause_grows_from_round_to_round() -> None:
    async def body() -> None:
        clock = FakeClock()
        limiter = Limiter(4, clock=clock, rng=random.Random(1))
        pauses = []
        for _ in range(9):
            permit = await limiter.acquire("m")
            await clock.advance(1)
            limiter.throttled(permit)
            pauses.append(limiter.held_for)
            limiter.release(permit)
            await clock.advance(100)
        bounds = [0.5, 1, 2, 4, 8, 16, 32, 60, 60]
        assert all(bound / 2 <= pause <= bound for pause, bound in zip(pauses, bounds, strict=True))
        limiter.succeeded()
        permit = await limiter.acquire("m")
        await clock.advance(1)
        limiter.throttled(permit)
        assert limiter.held_for <= 0.5

    run(body())


def test_an_outage_holds_all_calls_and_slows_none() -> None:
    async def body() -> None:
        clock = FakeClock()
        limiter = Limiter(8, clock=clock, rng=random.Random(1))
        permits = [await limiter.acquire("m") for _ in range(8)]
        await clock.advance(1)
        assert [limiter.unreachable(permit) for permit in permits] == [True] + [False] * 7
        for permit in permits:
            limiter.release(permit)
        assert 0.25 <= limiter.held_for <= 0.5
        again = [asyncio.ensure_future(limiter.acquire("m")) for _ in range(8)]
        await clock.advance(1)
        # One goes to see; the others wait for what it finds.
        assert sum(future.done() for future in again) == 1
        assert limiter.heard()
        await clock.advance(0)
        assert all(future.done() for future in again)
        assert limiter.window == 8
        assert limiter.spacing == 0.0

    run(body())


def test_an_outage_is_tried_by_one_call_after_longer_and_longer_pauses() -> None:
    async def body() -> None:
        clock = FakeClock()
        limiter = Limiter(8, clock=clock, rng=random.Random(1))
        hanging = [await limiter.acquire("m") for _ in range(7)]
        first = await limiter.acquire("m")
        await clock.advance(1)
        limiter.unreachable(first)
        limiter.release(first)
        began = clock.time()
        pauses = []
        for _ in range(9):
            pauses.append(limiter.held_for)
            waiting = [asyncio.ensure_future(limiter.acquire("m")) for _ in range(3)]
            await clock.advance(100)
            # Those that hang since before the outage do not count: they may do so for minutes.
            assert [future.done() for future in waiting] == [True, False, False]
            for future in waiting[1:]:
                future.cancel()
            probe = waiting[0].result()
            assert limiter.unreachable(probe)
            limiter.release(probe)
        bounds = [0.5, 1, 2, 4, 8, 16, 32, 60, 60]
        assert all(bound / 2 <= pause <= bound for pause, bound in zip(pauses, bounds, strict=True))
        assert limiter.away_for == clock.time() - began == 900
        assert not any(limiter.unreachable(permit) for permit in hanging)
        assert limiter.heard()
        assert not limiter.heard()
        assert limiter.away_for == limiter.held_for == 0.0

    run(body())


def test_chance_refusals_do_not_add_up() -> None:
    """One answer in six is a 429 whatever the pace: the endpoint must not come to a standstill."""

    async def body() -> None:
        clock = FakeClock()
        limiter = Limiter(16, clock=clock, rng=random.Random(1))
        chance = random.Random(2)
        answered = 0

        async def caller() -> None:
            nonlocal answered
            while True:
                permit = await limiter.acquire("m")
                await limiter.sleep(0.05)
                limiter.release(permit)
                if chance.random() > 1 / 6:
                    limiter.succeeded()
                    answered += 1
                    return
                limiter.throttled(permit, 0.05)

        tasks = [asyncio.ensure_future(caller()) for _ in range(1000)]
        await clock.advance(200)
        assert answered == 1000
        assert limiter.spacing < 1.0
        await asyncio.gather(*tasks)

    run(body())


def test_an_endpoint_with_a_hidden_limit_is_met_at_its_pace() -> None:
    """A server that lets 2 requests a second through and states neither limit nor wait: few are refused."""

    async def body() -> None:
        clock = FakeClock()
        limiter = Limiter(64, clock=clock, rng=random.Random(1))
        allowance, filled_at = 2.0, clock.time()
        refused = answered = 0

        def serve() -> bool:
            nonlocal allowance, filled_at
            now = clock.time()
            allowance, filled_at = min(2.0, allowance + 2.0 * (now - filled_at)), now
            if allowance < 1.0:
                return False
            allowance -= 1.0
            return True

        async def caller() -> None:
            nonlocal refused, answered
            while True:
                permit = await limiter.acquire("m")
                await limiter.sleep(0.05)
                fine = serve()
                limiter.release(permit)
                if fine:
                    limiter.succeeded()
                    answered += 1
                    return
                refused += 1
                limiter.throttled(permit)

        tasks = [asyncio.ensure_future(caller()) for _ in range(400)]
        # At two a second 400 calls need 200 seconds.
        await clock.advance(400)
        assert all(task.done() for task in tasks)
        assert answered == 400
        # The first round, sent before anything was known, is 64 - 2 of them.
        assert refused < 62 + 140

    run(body())


def test_a_stop_wakes_all_who_wait() -> None:
    async def body() -> None:
        clock = FakeClock()
        limiter = Limiter(1, clock=clock)
        held = await limiter.acquire("m")
        waiting = [asyncio.ensure_future(limiter.acquire("m")) for _ in range(3)]
        sleeping = asyncio.ensure_future(limiter.sleep(1000, "m"))
        await settle()
        assert limiter.stop("no money")
        assert not limiter.stop("again")
        results = await asyncio.gather(*waiting, sleeping, return_exceptions=True)
        assert [result.cause for result in results if isinstance(result, Stopped)] == ["no money"] * 4
        with pytest.raises(Stopped):
            await limiter.acquire("m")
        limiter.release(held)
        assert limiter.in_flight == 0
        limiter.resume()
        limiter.release(await limiter.acquire("m"))

    run(body())


def test_a_stop_of_one_model_leaves_the_others() -> None:
    async def body() -> None:
        clock = FakeClock()
        limiter = Limiter(1, clock=clock)
        held = await limiter.acquire("good")
        bad = asyncio.ensure_future(limiter.acquire("bad"))
        good = asyncio.ensure_future(limiter.acquire("good"))
        await settle()
        limiter.stop("unknown model", "bad")
        await settle()
        assert isinstance(bad.exception(), Stopped)
        limiter.release(held)
        limiter.release(await good)
        with pytest.raises(Stopped):
            limiter.check("bad")
        limiter.check("good")

    run(body())


def test_a_cancelled_caller_leaves_its_place() -> None:
    async def body() -> None:
        clock = FakeClock()
        limiter = Limiter(1, clock=clock)
        held = await limiter.acquire("m")
        first = asyncio.ensure_future(limiter.acquire("m"))
        second = asyncio.ensure_future(limiter.acquire("m"))
        await settle()
        first.cancel()
        await settle()
        limiter.release(held)
        await settle()
        assert second.done()
        # Cancelled in the very moment in which leave was given: the place must not be lost.
        third = asyncio.ensure_future(limiter.acquire("m"))
        await settle()
        limiter.release(second.result())
        third.cancel()
        await settle()
        assert limiter.in_flight == 0
        limiter.release(await limiter.acquire("m"))

    run(body())


def test_the_gate_lets_one_through_until_it_opens() -> None:
    async def body() -> None:
        gate = Gate()
        order: list[int] = []

        async def caller(number: int) -> bool:
            alone = await gate.enter()
            order.append(number)
            return alone

        tasks = [asyncio.ensure_future(caller(number)) for number in range(5)]
        await settle()
        assert order == [0]
        gate.leave()
        await settle()
        assert order == [0, 1]
        tasks[2].cancel()
        gate.leave()
        await settle()
        assert order == [0, 1, 3]
        gate.unlock()
        await settle()
        assert order == [0, 1, 3, 4]
        assert not await gate.enter()
        assert tasks[1].result()
        assert not tasks[4].result()

    run(body())


def test_the_gate_fails_those_who_wait() -> None:
    async def body() -> None:
        gate = Gate()
        assert await gate.enter()
        waiting = [asyncio.ensure_future(gate.enter()) for _ in range(3)]
        await settle()
        gate.fail("401")
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(result, Stopped) and result.cause == "401" for result in results)
        gate.leave()
        assert await gate.enter()

    run(body())


def test_backoff_is_full_jitter_within_its_bounds() -> None:
    rng = random.Random(7)
    for failures, bound in [(1, 0.5), (2, 1.0), (3, 2.0), (7, 32.0), (8, 60.0), (30, 60.0)]:
        waits = [backoff(failures, rng) for _ in range(400)]
        assert min(waits) < 0.05 * bound
        assert 0.95 * bound < max(waits) <= bound


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1m30s", 90.0),
        ("20ms", 0.02),
        ("1h2m3.5s", 3723.5),
        ("6m0s", 360.0),
        ("1d", 86400.0),
        ("12.5", 12.5),
        ("0s", 0.0),
        ("6 s", 6.0),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("-3", None),
        ("inf", None),
    ],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert parse_duration(text) == (None if seconds is None else pytest.approx(seconds))


NOW = datetime(2026, 10, 21, 7, 28, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "20"}, 20.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:27:00 GMT"}, 0.0),
        # The server's clock is an hour ahead of ours: its own Date counts.
        ({"retry-after": "Wed, 21 Oct 2026 08:28:30 GMT", "date": "Wed, 21 Oct 2026 08:28:00 GMT"}, 30.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "1m30s"}, 90.0),
        ({"retry-after": "later"}, None),
        ({"retry-after": "-5"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW.timestamp()) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-reset-requests": "1m30s", "x-ratelimit-remaining-requests": "0"}, 90.0),
        (
            {
                "x-ratelimit-reset-requests": "8.64s",
                "x-ratelimit-remaining-requests": "9999",
                "x-ratelimit-reset-tokens": "12s",
                "x-ratelimit-remaining-tokens": "0",
            },
            12.0,
        ),
        ({"x-ratelimit-reset-requests": "9s", "x-ratelimit-reset-tokens": "2s"}, 2.0),
        ({"anthropic-ratelimit-requests-reset": "2026-10-21T07:28:45Z"}, 45.0),
        ({"anthropic-ratelimit-tokens-reset": "2026-10-21T09:28:45+02:00"}, 45.0),
        ({"ratelimit-reset": "7"}, 7.0),
        ({"x-ratelimit-reset": str(NOW.timestamp() + 11)}, 11.0),
        ({"x-ratelimit-reset": str(1000 * (NOW.timestamp() + 11))}, 11.0),
        ({"x-ratelimit-reset": "sometime"}, None),
        ({}, None),
    ],
)
def test_reset_hints(headers: dict[str, str], seconds: float | None) -> None:
    assert reset_hint(headers, NOW.timestamp()) == (None if seconds is None else pytest.approx(seconds))


def test_a_date_as_python_writes_it() -> None:
    headers = {"retry-after": format_datetime(NOW, usegmt=True)}
    assert retry_after(headers, NOW.timestamp() - 5) == pytest.approx(5.0)
