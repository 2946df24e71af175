"""Every fault, alone and all together: runs end, calls are classified, verdicts are those of the server's own log."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from judgenet.core import design
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.events import CallFinished, EndpointChanged, Event, RunChanged, RunFinished
from judgenet.core.network import NetworkSpec, Settings
from judgenet.core.pairs import Pair
from judgenet.core.plan import prices_from_json
from judgenet.core.presets import network
from judgenet.core.prompts import PromptBook
from judgenet.engine import limits
from judgenet.engine.budget import Limits
from judgenet.engine.session import Engine, RunHandle, Start, with_models
from judgenet.report.run_records import call_records, verdict_records
from judgenet.store.approvals import approve, endpoint_needs
from judgenet.store.db import Store
from judgenet.store.runs import run_info
from tests.e2e.faults import HARMLESS, ONCE, REASONS, STOPS, USELESS, answer_to, by_hand, paid_twice
from tests.fakes.judge_server import FAULTS, Entry, JudgeServer

PRICES = prices_from_json(
    '{"date": "2026-01-01", "entries": [{"models": ["judge"], "input": 10.0, "output": 20.0, "cached_input": 10.0}]}'
)
SETTINGS = Settings(endpoint="judge", model="judge", temperature=0.5, reasoning="low")
NEVER_SENT = (
    "max_completion_tokens",
    "seed",
    "stream_options",
    "reasoning_budget",
    "reasoning_none",
    "logprobs",
    "top_logprobs",
)
"""What no request of this run carries, so that it cannot be refused."""
SLOW = ("hang", "hang_body", "comments", "blanks")


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BACKOFF_BASE", 0.01)
    monkeypatch.setattr(limits, "BACKOFF_CAP", 0.05)


def pairs(count: int) -> list[Pair]:
    return [
        Pair(f"p{i}", f"What is {i} and {i}?", f"It is {2 * i}.", f"Nobody knows {i}.", human="a") for i in range(count)
    ]


def one_call() -> NetworkSpec:
    return network(1, 1, roles="none", orders="ab", settings=SETTINGS)


def small() -> NetworkSpec:
    """Roles, and two layers of two neurons in both orders: nine calls."""
    return network(2, 2, settings=SETTINGS)


@dataclass
class Ran:
    finished: RunFinished
    events: list[Event]

    @property
    def calls(self) -> list[CallFinished]:
        return [event for event in self.events if isinstance(event, CallFinished)]


@dataclass
class Study:
    """A run that can be started again and again on one store."""

    path: Path
    spec: NetworkSpec
    pairs: list[Pair]
    profiles: dict[str, EndpointProfile]
    options: dict[str, Any] = field(default_factory=dict)

    def start(self, during: Callable[[RunHandle, list[Event]], None] | None = None) -> Ran:
        begin = Start(
            spec=with_models(self.spec, self.profiles),
            pairs=self.pairs,
            book=PromptBook.default(),
            prices=PRICES,
            profiles=self.profiles,
            salt="a salt",
            **self.options,
        )
        events: list[Event] = []
        with Store.open(self.path) as store, Engine() as engine:
            handle = engine.start(store, begin, events.append)
            if during is not None:
                during(handle, events)
            return Ran(handle.future.result(90), events)

    def until_done(self, most: int = 60) -> int:
        """Starts it until every call has its answer. Returns how often."""
        for times in range(1, most + 1):
            ran = self.start()
            if ran.finished.state == "done" and all(state == "done" for state in self.states()):
                return times
        raise AssertionError(f"not done after {most} starts: {ran.finished}")

    def states(self) -> list[str]:
        with Store.open(self.path, readonly=True) as store:
            return [record["state"] for record in verdict_records(store, run_info(store))]

    def calls(self) -> list[dict[str, Any]]:
        with Store.open(self.path, readonly=True) as store:
            return list(call_records(store, run_info(store)))

    def check_verdicts(self, log: list[Entry]) -> None:
        """The kept verdicts are those computed by hand from the log."""
        calls = self.calls()
        with Store.open(self.path, readonly=True) as store:
            kept = {record["pair_id"]: record for record in verdict_records(store, run_info(store))}
        for pair in self.pairs:
            for name, expected in by_hand(calls, log, pair, self.spec.depth).items():
                assert kept[pair.id][name] == expected, (pair.id, name)


def study(tmp_path: Path, server: JudgeServer, spec: NetworkSpec, count: int, **changes: Any) -> Study:
    options = {"stream": changes.pop("stream", False), "limits": changes.pop("limits", Limits())}
    profile = {"base_url": server.url, "model": "judge", "concurrency": 8, "retries": 2, **changes}
    return Study(
        tmp_path / "s.judgenet.db", spec, pairs(count), {"judge": EndpointProfile("judge", **profile)}, options
    )


def approved(of_it: Study) -> Study:
    """The study, whose endpoints' keys the user has approved."""
    approve(endpoint_needs(of_it.profiles.values(), None, ""))
    return of_it


def times(fault: str, deadline: float) -> dict[str, float]:
    """Short times where the fault is silence, ample ones otherwise: a busy machine must not look like it."""
    return {"deadline": deadline, "idle_timeout": deadline * 0.7} if fault in SLOW else {}


def test_the_table_knows_every_fault() -> None:
    assert set(STOPS) | REASONS.keys() | set(HARMLESS) == set(FAULTS)
    assert len(STOPS) + len(REASONS) + len(HARMLESS) == len(FAULTS)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_every_attempt(tmp_path: Path, fault: str, stream: bool) -> None:
    with JudgeServer(faults={fault: 1.0}) as server:
        ran = study(tmp_path, server, one_call(), 1, stream=stream, **times(fault, 0.3)).start()
        requests = server.requests
    if fault in STOPS:
        assert (ran.finished.state, ran.calls, requests) == ("halted", [], 1)
        assert ran.finished.message
        return
    [call] = ran.calls
    assert ran.finished.state == "done"
    if fault in HARMLESS:
        assert call.status == "scored"
    else:
        assert (call.status, call.reason) == ("unscored", REASONS[fault])
        assert requests == (1 if fault in ONCE else 2 if fault == "length" else 3)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_every_fifth_answer(tmp_path: Path, fault: str) -> None:
    with JudgeServer(faults={fault: 0.2}, seed=3) as server:
        of_it = study(tmp_path, server, small(), 3, stream=FAULTS.index(fault) % 2 == 1, **times(fault, 0.6))
        ran = of_it.start()
        expected = REASONS.get(fault)
        assert {call.reason for call in ran.calls} <= {None, expected}
        assert ran.finished.state == ("halted" if fault in STOPS else "done")
        of_it.until_done()
        log = server.log
    assert any(entry.fault == fault for entry in log) == (fault not in NEVER_SENT)
    assert {call["reason"] for call in of_it.calls()} <= {None, expected}
    assert paid_twice(log) == []
    of_it.check_verdicts(log)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_all_faults_together(tmp_path: Path, stream: bool) -> None:
    with JudgeServer(faults=dict.fromkeys(FAULTS, 0.2 / len(FAULTS)), seed=11) as server:
        of_it = study(tmp_path, server, small(), 20, stream=stream, deadline=1.5, idle_timeout=1.0)
        of_it.until_done()
        log = server.log
        requests = server.requests
        again = of_it.start()
        assert (again.finished.state, server.requests) == ("done", requests)
    assert {entry.fault for entry in log} > {None}
    assert paid_twice(log) == []
    of_it.check_verdicts(log)
    for call in of_it.calls():
        if call["messages"] and call["layer"]:
            fault = answer_to(log, call["messages"][-1]["content"]).fault
            assert call["reason"] == (REASONS[fault] if fault in USELESS else None)


def waits(until: Callable[[], object]) -> None:
    """Waits for something that comes soon."""
    end = time.monotonic() + 100
    while not until():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.002)


def test_a_wrong_key_is_sent_once(tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_JUDGE_KEY", "wrong-key")
    with JudgeServer(key="right-key", latency=0.02) as server:
        of_it = approved(study(tmp_path, server, small(), 10, api_key="A_JUDGE_KEY", concurrency=16))
        ran = of_it.start()
        assert (ran.finished.state, server.requests) == ("halted", 1)
        assert "401" in ran.finished.message
        monkeypatch.setenv("A_JUDGE_KEY", "right-key")
        assert of_it.start().finished.state == "done"
        assert server.requests == 1 + 10 * 9


def test_a_missing_key_sends_nothing(tmp_path: Path, config: Path) -> None:
    with JudgeServer() as server:
        ran = approved(study(tmp_path, server, small(), 3, api_key="NO_SUCH_JUDGE_KEY")).start()
        assert (ran.finished.state, server.requests) == ("halted", 0)
    assert "NO_SUCH_JUDGE_KEY is not set" in ran.finished.message


@pytest.mark.parametrize("behind", ["nobody listens", "a gateway"])
def test_a_server_that_goes_away_and_comes_back_costs_nothing(
    tmp_path: Path, behind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outage takes more attempts than a call has. (It has some because connections that break, and what a gateway
    answers, look like failures of the calls at first.)"""
    monkeypatch.setattr(limits, "BACKOFF_CAP", 0.3)
    server = JudgeServer(latency=0.01).__enter__()
    port = int(server.url.rpartition(":")[2])
    log: list[Entry] = []
    gateway = behind == "a gateway"
    of_it = study(tmp_path, server, small(), 20, retries=6)

    def during(handle: RunHandle, events: list[Event]) -> None:
        nonlocal server

        def away() -> int:
            return sum(isinstance(event, EndpointChanged) and event.state == "away" for event in events)

        waits(lambda: sum(isinstance(event, CallFinished) for event in events) >= 40)
        if gateway:
            server.set(faults={"502": 1.0})
        else:
            server.stop()
        waits(lambda: away() >= 12)
        if gateway:
            server.set(faults={})
        else:
            log.extend(server.log)
            server = JudgeServer(port=port).__enter__()

    try:
        ran = of_it.start(during)
        log += server.log
    finally:
        server.stop()
    assert ran.finished.state == "done"
    assert [call.reason for call in ran.calls] == [None] * 20 * 9
    assert all(not call["missing"] for call in of_it.calls())
    of_it.check_verdicts(log)
    # One call at a time went to see.
    assert not gateway or sum(entry.fault == "502" for entry in log) < 8 * 7


def test_a_used_up_quota_stops_one_endpoint_and_the_rest_goes_on(tmp_path: Path) -> None:
    with JudgeServer(faults={"quota": 1.0}) as empty, JudgeServer() as server:
        spec = network(2, 1, roles="none", settings=Settings(endpoint="judge", model="judge"))
        spec = design.set_settings(spec, (0, 1), Settings(endpoint="empty", model="judge"))
        of_it = study(tmp_path, server, spec, 5)
        of_it.profiles["empty"] = EndpointProfile("empty", base_url=empty.url, model="judge", concurrency=8)
        ran = of_it.start()
        assert (ran.finished.state, empty.requests, server.requests) == ("halted", 1, 10)
        assert "quota" in ran.finished.message
        stopped = [event for event in ran.events if isinstance(event, EndpointChanged) and event.state == "stopped"]
        assert [event.endpoint for event in stopped] == ["empty"]
        empty.set(faults={})
        assert of_it.start().finished.state == "done"
        assert (empty.requests, server.requests) == (11, 10)
        of_it.check_verdicts([*empty.log, *server.log])


@pytest.mark.parametrize(
    "limit", [Limits(max_calls=40), Limits(max_tokens=20_000), Limits(max_price=0.2)], ids=["calls", "tokens", "price"]
)
@pytest.mark.parametrize("faulty", [False, True], ids=["well", "faulty"])
def test_no_limit_is_ever_exceeded(tmp_path: Path, limit: Limits, faulty: bool) -> None:
    """Counted by the server: whole answers, and their tokens at 10 and 20 USD a million."""
    some = [fault for fault in FAULTS if fault not in (*STOPS, *SLOW)]
    faults = dict.fromkeys(some, 0.2 / len(some)) if faulty else {}
    with JudgeServer(faults=faults, latency=0.002) as server:
        of_it = study(tmp_path, server, small(), 40, limits=limit, concurrency=16)
        ran = of_it.start()
        log = [entry for entry in server.log if entry.delivered and entry.status == 200 and entry.answer is not None]
        of_it.options["limits"] = Limits()
        of_it.until_done()
    assert ran.finished.state == "budget"
    tokens = [(len(entry.messages[-1]["content"]) // 4, len(entry.answer or "") // 4) for entry in log]
    told = sum(call.tokens_in + call.tokens_out for call in ran.calls)
    assert 0 < len(log) <= (limit.max_calls or len(log))
    assert sum(map(sum, tokens)) <= told <= (limit.max_tokens or told)
    price = sum(10 * tokens_in + 20 * tokens_out for tokens_in, tokens_out in tokens) / 1_000_000
    assert price <= (limit.max_price or price)


IN_FLIGHT: dict[str, dict[str, Any]] = {
    "before the first token": {"faults": {"hang": 1.0}},
    "before the first token of a stream": {"faults": {"hang": 1.0}, "stream": True},
    "within an answer": {"faults": {"hang_body": 1.0}},
    "within a stream": {"faults": {"hang_body": 1.0}, "stream": True},
    "while only comments come": {"faults": {"comments": 1.0}, "stream": True},
    "before another attempt": {"faults": {"500": 1.0}, "waits": 600.0},
    "while the endpoint asks to wait": {"faults": {"throttle": 1.0}, "retry_after": 120.0},
}


@pytest.mark.parametrize("paused", [False, True], ids=["running", "paused"])
@pytest.mark.parametrize("state", IN_FLIGHT)
def test_a_run_is_cancelled_in_every_state(
    tmp_path: Path, state: str, paused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the calls wait for would take at least half a minute."""
    how = dict(IN_FLIGHT[state])
    if "waits" in how:
        monkeypatch.setattr(limits, "backoff", lambda failures, rng: how["waits"])
    settings = {name: how[name] for name in ("faults", "retry_after") if name in how}
    with JudgeServer(hang_s=600.0) as server:

        def during(handle: RunHandle, events: list[Event]) -> None:
            waits(lambda: sum(isinstance(event, CallFinished) for event in events) >= 5)
            server.set(**settings)
            before = server.requests
            waits(lambda: server.requests > before)
            time.sleep(0.2)
            if paused:
                handle.pause()
                waits(lambda: any(isinstance(event, RunChanged) for event in events))
            handle.cancel()
            asked.append(time.monotonic())

        asked: list[float] = []
        of_it = study(tmp_path, server, small(), 20, stream=how.get("stream", False), deadline=600, idle_timeout=600)
        ran = of_it.start(during)
        assert time.monotonic() - asked[0] < 10
        assert ran.finished.state == "cancelled"
        kept = {call["messages"][-1]["content"] for call in of_it.calls() if call["messages"]}
        assert len(kept) == len(ran.calls)
        server.set(faults={})
        requests = server.requests
        again = of_it.start()
        assert again.finished.state == "done"
        assert server.requests - requests == 20 * 9 - len(kept)
        of_it.check_verdicts(server.log)


@pytest.mark.parametrize("state", ["before another attempt", "while the endpoint asks to wait"])
def test_a_paused_run_sends_nothing_and_goes_on(tmp_path: Path, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    how = dict(IN_FLIGHT[state])
    if "waits" in how:
        monkeypatch.setattr(limits, "backoff", lambda failures, rng: 0.2)
    with JudgeServer(faults=how["faults"], retry_after=0.2) as server:

        def during(handle: RunHandle, events: list[Event]) -> None:
            waits(lambda: server.requests)
            handle.pause()
            waits(lambda: any(isinstance(event, RunChanged) for event in events))
            time.sleep(0.05)
            before = server.requests
            time.sleep(0.5)
            assert server.requests == before
            server.set(faults={})
            handle.resume()

        ran = study(tmp_path, server, small(), 3).start(during)
    assert ran.finished.state == "done"
