"""The broker of a run that many workers share: no limit is exceeded, whatever dies, and nothing is stuck."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgenet.engine.broker import EXPIRES_S, AttemptAt, Beat, Broker, BrokerPlan, ModelBeat, Orders
from judgenet.engine.budget import LeasedBudget, Limits, Reserve, Used
from judgenet.engine.shared_window import SharedWindow

LAB = ("lab", "m")
CALL = Used(1, 100, 0.01)
NOTHING = Used(0, 0, 0.0)


class Time:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def wants(calls: int) -> Used:
    return CALL.times(calls)


@dataclass
class Worker:
    """A worker that begins as many calls as its budget takes; ``paid`` is what the endpoint really asked for."""

    broker: Broker
    at: AttemptAt
    budget: LeasedBudget
    flying: list[Reserve] = field(default_factory=list)
    kept: int = 0

    def beat(self, ahead: int = 50) -> Orders:
        begun, more, _ = self.budget.ask(ahead)
        short = self.budget.refused and not self.flying
        orders = self.broker.beat(Beat(self.at, begun, more if more.tokens else wants(ahead), CALL, short))
        if orders.allowed is not None:
            self.budget.allow(orders.allowed)
        if orders.exhausted:
            self.budget.exhaust(orders.exhausted)
        return orders

    def begin(self, calls: int) -> int:
        """Sends calls as far as there is room, and returns how many."""
        for sent in range(calls):
            held = self.budget.reserve(CALL.tokens, CALL.price)
            if held is None:
                return sent
            self.flying.append(held)
        return calls

    def answer(self, calls: int, tokens: int = 60, price: float = 0.005) -> int:
        done = min(calls, len(self.flying))
        for _ in range(done):
            self.budget.settle(self.flying.pop(), tokens, price)
        self.kept += done
        return done

    @property
    def used(self) -> Used:
        return Used(self.budget.calls, self.budget.tokens, self.budget.price)


def begin(broker: Broker, limits: Limits) -> Worker:
    at = broker.take("node")
    assert at is not None
    return Worker(broker, at, LeasedBudget(limits))


def test_a_dead_attempt_gives_back_what_it_could_not_have_used() -> None:
    limits = Limits(max_calls=3400)
    broker = Broker(BrokerPlan({1: 10, 2: 10}, limits=limits, workers=2))
    worker = begin(broker, limits)
    broker.kept(worker.at, Used(0, 0, 0.0))
    worker.beat(100)
    assert worker.begin(80) == 80
    assert worker.answer(70) == 70
    worker.beat(100)
    # It may have used what it was allowed: the 80 that it began and 100 more.
    assert broker.held_back.calls > 180
    broker.kept(worker.at, Used(60, 3600, 0.3))
    broker.died(worker.at, "killed")
    assert broker.charged.calls == 180
    assert broker.free.calls == 3400 - 180
    # What it says afterwards counts no more.
    assert worker.beat().current is False
    assert broker.kept(worker.at, Used(70, 4200, 0.35)) is False


def test_a_store_that_proves_more_than_was_said_counts() -> None:
    broker = Broker(BrokerPlan({1: 10}, limits=Limits(max_calls=1000)))
    worker = begin(broker, Limits(max_calls=1000))
    broker.kept(worker.at, Used(500, 0, 0.0))
    broker.beat(Beat(worker.at, Used(3, 0, 0.0), Used(0, 0, 0.0)))
    # 500 answers were there before this start and are no part of its limits.
    broker.kept(worker.at, Used(540, 0, 0.0))
    broker.died(worker.at, "killed")
    assert broker.charged.calls == 40


def test_a_silent_attempt_expires_and_the_shard_goes_on() -> None:
    clock = Time()
    broker = Broker(BrokerPlan({1: 10}, limits=Limits(max_calls=100)), clock=clock)
    first = begin(broker, Limits(max_calls=100))
    first.beat(20)
    clock.now += EXPIRES_S - 1
    broker.tick()
    assert broker.under_way() == ((1, 1),)
    clock.now += 2
    broker.tick()
    assert broker.under_way() == ()
    assert broker.free.calls == 80
    assert broker.take() == (1, 2)
    # One that has not begun waits for a worker, and is not silent.
    clock.now += 10 * EXPIRES_S
    broker.tick()
    assert broker.under_way() == ((1, 2),)


def test_a_shard_that_fails_three_times_is_named_and_the_others_go_on() -> None:
    broker = Broker(BrokerPlan({1: 10, 2: 20}))
    for attempt in (1, 2, 3):
        at = broker.take("node")
        # The failed one comes after the others; here the other is taken in between.
        if at == (2, 1):
            broker.ended(at, "done", Used(5, 0, 0.0))
            at = broker.take("node")
        assert at == (1, attempt)
        broker.died(at, "out of memory")
    assert broker.take() is None
    assert broker.over
    report = broker.report()
    assert (report.state, report.by_state) == ("failed", {"failed": 1, "done": 1})
    assert "1 shard failed 3 times: 1 (out of memory)" in report.message
    assert broker.failed() == {1: "out of memory"}


def test_shards_that_failed_alike_are_named_together() -> None:
    broker = Broker(BrokerPlan(dict.fromkeys(range(1, 13), 10)))
    while (at := broker.take("node")) is not None:
        broker.died(at, "no room" if at[0] > 2 else "out of memory")
    words = "12 shards failed 3 times: 1, 2 (out of memory); 3, 4, 5, 6, 7, 8, 9, 10 … (no room)"
    assert broker.report().message == words


def test_the_limit_ends_all_when_nothing_more_can_be_begun() -> None:
    limits = Limits(max_calls=130, max_tokens=13_000, max_price=1.3)
    broker = Broker(BrokerPlan({1: 10, 2: 10}, limits=limits, workers=2))
    workers = [begin(broker, limits), begin(broker, limits)]
    paid = 0
    for _ in range(200):
        for worker in workers:
            worker.beat(16)
            worker.begin(3)
            paid += worker.answer(3, CALL.tokens, CALL.price)
        if not any(worker.budget.waits for worker in workers):
            break
    else:
        pytest.fail("nobody was told that nothing more will come")
    # All of it was used, whoever held it, and not a call more.
    assert paid == 130
    for worker in workers:
        broker.ended(worker.at, "budget", worker.used)
    assert broker.take() is None
    report = broker.report()
    assert report.state == "stopped"
    assert "130 of 130 calls" in report.message


def test_a_stopped_endpoint_holds_everybody_until_told_to_go_on() -> None:
    clock = Time()
    broker = Broker(BrokerPlan({1: 10, 2: 10, 3: 10}, windows={LAB: 8}, workers=2), clock=clock)
    one, two = broker.take(), broker.take()
    assert one is not None
    assert two is not None
    assert broker.beat(Beat(one, calls=4)).want == "run"
    stopped = broker.beat(Beat(two, calls=4, models={LAB: ModelBeat(stopped="lab: the key was refused.")}))
    assert stopped.want == broker.beat(Beat(one, calls=4)).want == "pause"
    assert stopped.shares[LAB].stopped
    assert broker.take() is None
    told = broker.report()
    assert (told.state, told.message) == ("paused", "lab: the key was refused.")
    assert told.endpoints[0].state == "stopped"
    # An attempt that ended for it is not one that failed.
    broker.ended(two, "held", Used(0, 0, 0.0), "lab: the key was refused.")
    broker.command("run")
    assert broker.beat(Beat(one, calls=4)).want == "run"
    assert broker.take() == (2, 2)
    # Where nobody comes, patience ends.
    broker.beat(Beat(one, calls=4, models={LAB: ModelBeat(stopped="again")}))
    clock.now += 1801
    broker.beat(Beat(one, calls=4))
    broker.beat(Beat((2, 2), calls=4))
    broker.tick()
    assert broker.beat(Beat(one, calls=4)).want == "stop"
    for at in broker.under_way():
        broker.ended(at, "stopped", Used(0, 0, 0.0))
    assert broker.over
    assert broker.report().state == "failed"


def test_a_wrong_setting_is_waited_for_by_nobody() -> None:
    broker = Broker(BrokerPlan({1: 10}, windows={LAB: 8}))
    at = broker.take()
    assert at is not None
    broker.beat(Beat(at, models={LAB: ModelBeat(stopped="no key")}))
    broker._clock = lambda: 1e12  # any time later
    broker._attempts[at].heard = 1e12
    broker.tick()
    assert broker.want == "stop"


def test_pause_and_stop_reach_every_worker_and_stop_is_no_failure() -> None:
    broker = Broker(BrokerPlan({1: 10, 2: 10}))
    at = broker.take()
    assert at is not None
    broker.command("pause")
    assert broker.beat(Beat(at)).want == "pause"
    assert broker.take() is None
    assert broker.report().state == "paused"
    broker.command("run")
    assert broker.beat(Beat(at)).want == "run"
    broker.command("stop")
    assert broker.beat(Beat(at)).want == "stop"
    broker.ended(at, "stopped", Used(3, 0, 0.0))
    assert broker.over
    assert broker.report().state == "stopped"
    assert broker.report().by_state == {"waiting": 2}


class TestWindow:
    def test_a_throttling_answer_anywhere_halves_it_for_all_once_a_round(self) -> None:
        clock = Time()
        broker = Broker(BrokerPlan({1: 1, 2: 1}, windows={LAB: 32}, workers=2), clock=clock)
        one, two = broker.take(), broker.take()
        assert one is not None
        assert two is not None
        busy = {LAB: ModelBeat(in_flight=16)}
        shares = [broker.beat(Beat(at, models=busy)).shares[LAB].calls for at in (one, two)]
        assert shares == [16, 16]
        slowed = {LAB: ModelBeat(in_flight=16, throttled=True, wait_s=5.0)}
        # What is in flight cannot be called back: nobody gets more until it has come in.
        assert [broker.beat(Beat(at, models=slowed)).shares[LAB].calls for at in (one, two)] == [0, 0]
        assert broker.report().endpoints[0].window == 16
        assert broker.report().endpoints[0].state == "slow"
        idle = {LAB: ModelBeat()}
        told = [broker.beat(Beat(at, models=idle)).shares[LAB] for at in (one, two, one)]
        assert [(of.calls, of.hold_s) for of in told[1:]] == [(8, 5.0), (8, 5.0)]
        # Answers bring it back by one per round.
        clock.now += 6
        for _ in range(40):
            for at in (one, two):
                broker.beat(Beat(at, models={LAB: ModelBeat(in_flight=8, answers=20)}))
        assert broker.report().endpoints[0].window == 32

    def test_answers_make_it_grow_by_one_a_round_however_they_are_told(self) -> None:
        one_by_one = 16.0
        for _ in range(200):
            one_by_one += 1 / one_by_one
        together, each = SharedWindow(1000), SharedWindow(1000)
        together.window = each.window = 16.0
        together.take(0, 0, 200, 0.0)
        for _ in range(200):
            each.take(0, 0, 1, 0.0)
        assert together.window == pytest.approx(one_by_one, abs=0.1)
        assert each.window == pytest.approx(one_by_one, abs=0.1)

    def test_shares_never_exceed_it_and_the_idle_leave_theirs(self) -> None:
        rng = random.Random(5)
        window = SharedWindow(40)
        shares: dict[int, int] = {}
        for _ in range(3000):
            who = rng.randrange(5)
            in_flight = rng.randint(0, shares.get(who, 0))
            window.take(who, in_flight, 1, 0.0)
            if rng.random() < 0.02:
                window.leave(who)
                shares.pop(who, None)
                continue
            shares[who] = window.share(who, 5, 0.0).calls
            assert sum(shares.values()) <= 40
        window = SharedWindow(40)
        for _ in range(6):
            for who, using in ((0, 1), (1, 1), (2, 99)):
                window.take(who, min(using, shares.get(who, 0)), 0, 0.0)
                shares[who] = window.share(who, 3, 0.0).calls
        assert shares[2] > 30

    def test_a_window_smaller_than_the_workers_is_kept(self) -> None:
        window = SharedWindow(2)
        assert sum(window.share(who, 5, 0.0).calls for who in range(5)) == 2


class Play:
    """Workers that take, ask, answer, copy, die and end in any order, under a broker that dies too."""

    def __init__(self, rng: random.Random, workers: int, limits: Limits) -> None:
        self.rng = rng
        self.workers = workers
        self.limits = limits
        self.clock = Time()
        self.journal: list[Mapping[str, Any]] = []
        shards = dict.fromkeys(range(1, 7), 10)
        self.plan = BrokerPlan(shards, limits=limits, windows={LAB: 16}, workers=workers, tries=99)
        self.broker = Broker(self.plan, self.journal.append, clock=self.clock)
        self.live: list[Worker] = []
        self.paid = NOTHING
        """What endpoints were asked for: all that was begun, whether its answer arrives or not."""
        self.stores: dict[int, Used] = {}

    def step(self) -> None:
        rng = self.rng
        self.clock.now += rng.choice((0.1, 1.0, 700.0 if rng.random() < 0.02 else 0.5))
        names = ("take", "beat", "beat", "begin", "begin", "answer", "answer", "copy", "die", "end", "restart")
        action = rng.choice(names)
        if action in ("take", "restart"):
            getattr(self, action)()
        elif self.live:
            getattr(self, action)(rng.choice(self.live))
        self.broker.tick()

    def restart(self) -> None:
        if self.rng.random() < 0.3:
            # A killed broker is replaced by one that knows the journal alone.
            self.broker = Broker(self.plan, self.journal.append, list(self.journal), clock=self.clock)
            for worker in self.live:
                worker.broker = self.broker

    def take(self) -> None:
        if len(self.live) < self.workers and (at := self.broker.take()) is not None:
            self.live.append(Worker(self.broker, at, LeasedBudget(self.limits)))
            self.broker.kept(at, self.stores.get(at[0], NOTHING))

    def beat(self, worker: Worker) -> None:
        if not worker.beat(self.rng.choice((1, 8, 50))).current:
            self.live.remove(worker)

    def begin(self, worker: Worker) -> None:
        self.paid = self.paid.plus(CALL.times(worker.begin(self.rng.randint(1, 30))))

    def answer(self, worker: Worker) -> None:
        worker.answer(self.rng.randint(1, 30), CALL.tokens, CALL.price)

    def copy(self, worker: Worker) -> None:
        known = Used(worker.kept, worker.kept * CALL.tokens, worker.kept * CALL.price)
        self.stores[worker.at[0]] = self.stores.get(worker.at[0], NOTHING).most(known)
        self.broker.kept(worker.at, self.stores[worker.at[0]])

    def die(self, worker: Worker) -> None:
        self.live.remove(worker)
        if self.rng.random() < 0.5:
            self.broker.died(worker.at, "killed")  # else nobody noticed: it expires

    def end(self, worker: Worker) -> None:
        if not worker.flying:
            self.live.remove(worker)
            self.broker.ended(worker.at, self.rng.choice(["done", "stopped", "budget"]), worker.used)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4), st.sampled_from(["calls", "tokens", "price"]))
def test_no_order_of_leases_deaths_and_settles_exceeds_the_limits(seed: int, workers: int, limited: str) -> None:
    rng = random.Random(seed)
    limits = {
        "calls": Limits(max_calls=rng.randint(0, 400)),
        "tokens": Limits(max_tokens=rng.randint(0, 40_000)),
        "price": Limits(max_price=rng.random() * 4, max_calls=300),
    }[limited]
    play = Play(rng, workers, limits)
    for _ in range(150):
        play.step()
        assert play.paid.fits(play.broker.held_back)
        held = play.broker.held_back
        for limit, used in zip((limits.max_calls, limits.max_tokens, limits.max_price), held, strict=True):
            assert limit is None or used <= limit + 1e-9


def test_a_broker_that_goes_on_from_the_journal_knows_the_same() -> None:
    journal: list[Mapping[str, Any]] = []
    limits = Limits(max_calls=500)
    clock = Time()
    plan = BrokerPlan({1: 10, 2: 10, 3: 10}, limits=limits, windows={LAB: 8}, workers=2)
    broker = Broker(plan, journal.append, clock=clock)
    worker = begin(broker, limits)
    worker.beat(30)
    other = broker.take("b")
    assert other is not None
    broker.beat(Beat(other, pairs_done=10, calls=160, unscored=2, price=0.5))
    broker.ended(other, "done", Used(12, 0, 0.0))
    again = Broker(plan, journal.append, journal, clock=clock)
    assert again.under_way() == broker.under_way()
    assert again.held_back == broker.held_back
    assert again.report() == broker.report()
    assert (again.report().calls, again.report().pairs) == (160, {"total": 30, "done": 10})
    worker.broker = again
    assert worker.beat(30).current
    assert again.take() == broker.take() == (3, 1)
