"""Stand-ins: who is asked when an endpoint stops or is not reached, and what the record says of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgenet.core.evaluation import Reason
from judgenet.core.events import CallFinished, EndpointChanged, Event
from judgenet.core.network import NeuronSpec, Role, Settings, StandIn
from judgenet.core.presets import network
from judgenet.engine import stand_ins
from judgenet.engine.budget import Limits
from judgenet.engine.executor import Executor
from judgenet.engine.ports import CallFailed, ChatReply, ChatRequest, EndpointStopped
from judgenet.engine.session import Start, endpoints_of
from judgenet.store.db import Store
from tests.unit.engine.harness import SETTINGS, FakeEndpoint, pairs, plain_answer, run, start

STANDING_IN = replace(SETTINGS, stand_in=(StandIn("other", "second", after=0.05),))


def begin(**changes: Any) -> Start:
    """Two layers of two neurons and a chair; roles are generated. All may be stood in for."""
    return start(network(2, 2, chair=True, settings=STANDING_IN), pairs(3), **changes)


def stops_after(calls: int, reason: Reason = Reason.AUTH, model: str | None = None) -> Any:
    """Answers so many calls, and stops then."""
    left = iter(range(calls))

    def answer(request: ChatRequest) -> str | Exception:
        if next(left, None) is None:
            return EndpointStopped(reason, "fake: HTTP 401: the key was withdrawn.", status=401, model=model)
        return plain_answer(request)

    return answer


def rows(path: Path) -> Counter[tuple[str, str, str]]:
    """How many calls of the run each model answered, by endpoint, model and status."""
    with Store.open(path, readonly=True) as store:
        found = store.reader.execute("SELECT endpoint, model, status FROM run_calls WHERE call_id IS NOT NULL")
        return Counter(map(tuple, found))


def by_stand_in(events: list[Event]) -> Counter[str]:
    return Counter(event.stand_in for event in events if isinstance(event, CallFinished))


@pytest.mark.parametrize("answered", [0, 1, 7, 20])
@pytest.mark.parametrize("model", [None, "judge"])
def test_a_stopped_endpoint_is_stood_in_for(tmp_path: Path, answered: int, model: str | None) -> None:
    """Roles, both layers and the chair: what is left goes to the stand-in, and each call says who answered."""
    first, second = FakeEndpoint(stops_after(answered, model=model)), FakeEndpoint(name="other")
    ran = run(tmp_path / "s.db", begin(), first, second)
    assert ran.finished.state == "done"
    total = 3 * (1 + 4 + 4 + 2)
    assert len(second.asked) == total - answered
    assert {request.model for request in second.asked} <= {"second"}
    assert by_stand_in(ran.events) == Counter({"": answered, "other/second": total - answered}) - Counter()
    counts = rows(tmp_path / "s.db")
    assert sum(n for (endpoint, model, _), n in counts.items() if (endpoint, model) == ("other", "second")) == (
        total - answered
    )
    (stop,) = [event for event in ran.events if isinstance(event, EndpointChanged) and event.state == "stopped"]
    assert stop.message == ("fake: HTTP 401: the key was withdrawn. Calls go to the stand-in other/second.")


def test_nothing_is_asked_of_a_stand_in_that_is_not_needed(tmp_path: Path) -> None:
    first, second = FakeEndpoint(), FakeEndpoint(name="other")
    ran = run(tmp_path / "s.db", begin(), first, second)
    assert (ran.finished.state, len(second.asked)) == ("done", 0)
    assert set(by_stand_in(ran.events)) == {""}


def test_a_resumed_run_keeps_what_stand_ins_answered_and_asks_its_own_again(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    limited = begin(limits=Limits(max_calls=20))
    second = FakeEndpoint(name="other")
    ran = run(path, limited, FakeEndpoint(stops_after(8)), second)
    assert ran.finished.state == "budget"
    stood_in = len(second.asked)
    assert stood_in == 12
    first, second = FakeEndpoint(), FakeEndpoint(name="other")
    ran = run(path, begin(), first, second)
    assert (ran.finished.state, len(second.asked)) == ("done", 0)
    assert len(first.asked) == 33 - 20
    counts = rows(path)
    assert sum(n for (endpoint, _, _), n in counts.items() if endpoint == "other") == stood_in
    assert counts.total() == 33
    again = run(path, begin(), FakeEndpoint(), FakeEndpoint(name="other"))
    assert (again.finished.state, again.asked) == ("done", [])


def test_an_answer_of_another_run_is_no_stand_in(tmp_path: Path) -> None:
    """Another run of the same store asked that very model: its answers are not taken where the first model can be."""
    path = tmp_path / "s.db"
    own = replace(STANDING_IN, endpoint="other", model="second", stand_in=None)
    run(path, start(network(2, 1, settings=own), pairs(2)), FakeEndpoint(name="other"))
    ran = run(path, start(network(2, 1, settings=STANDING_IN), pairs(2)), FakeEndpoint(), FakeEndpoint(name="other"))
    assert set(by_stand_in(ran.events)) == {""}
    assert len(ran.endpoints["fake"].asked) == 2 * (1 + 4)


def test_without_a_stand_in_that_can_be_asked_the_run_halts_and_keeps_what_it_has(tmp_path: Path) -> None:
    first = FakeEndpoint(stops_after(5))
    second = FakeEndpoint(stops_after(4, Reason.QUOTA), name="other")
    ran = run(tmp_path / "s.db", begin(), first, second)
    assert ran.finished.state == "halted"
    assert rows(tmp_path / "s.db").total() == 9
    ran = run(tmp_path / "s.db", begin(), FakeEndpoint(), FakeEndpoint(name="other"))
    assert (ran.finished.state, len(ran.endpoints["fake"].asked)) == ("done", 33 - 9)


def test_only_neurons_that_have_one_are_stood_in_for(tmp_path: Path) -> None:
    spec = network(2, 1, roles="none", settings=SETTINGS)
    layer = spec.layers[0]
    neurons = (NeuronSpec(settings=Settings(stand_in=STANDING_IN.stand_in)), layer.neurons[1])
    spec = replace(spec, layers=(replace(layer, neurons=neurons),))
    ran = run(tmp_path / "s.db", start(spec, pairs(2)), FakeEndpoint(stops_after(0)), FakeEndpoint(name="other"))
    assert ran.finished.state == "halted"
    assert len(ran.endpoints["other"].asked) == 4


def test_stand_ins_are_asked_in_their_order_and_voices_stay_apart(tmp_path: Path) -> None:
    """Three neurons ask the same question. Two are stood in for by the model of the third: six answers, no copy."""
    role = Role("Truth")
    settings = replace(SETTINGS, stand_in=(StandIn("gone", "x"), StandIn("other", "second")))
    spec = network(3, 1, roles="none", settings=settings)
    third = NeuronSpec(role, Settings(endpoint="other", model="second", stand_in=()))
    spec = replace(spec, layers=(replace(spec.layers[0], neurons=(NeuronSpec(role), NeuronSpec(role), third)),))
    started = start(
        spec, pairs(1), profiles={**start().profiles, "gone": replace(start().profiles["other"], name="gone")}
    )
    assert endpoints_of(started.spec) == ("fake", "gone", "other")
    gone = FakeEndpoint(stops_after(0), name="gone")
    ran = run(tmp_path / "s.db", started, FakeEndpoint(stops_after(0)), gone, FakeEndpoint(name="other"))
    assert ran.finished.state == "done"
    assert len({request.key for request in ran.endpoints["other"].asked}) == 6
    assert by_stand_in(ran.events) == {"other/second": 4, "": 2}


class Unreachable(FakeEndpoint):
    """Answers so many calls; nothing is there then until :meth:`back`."""

    answers = 4

    def go(self) -> None:
        self.gate = asyncio.Event()
        self.away_for = 1.0

    def back(self) -> None:
        self.away_for = 0.0
        assert self.gate is not None
        self.gate.set()

    async def chat(self, request: ChatRequest, on_text: Any = None) -> ChatReply:
        if len(self.asked) == self.answers:
            self.go()
        return await super().chat(request, on_text)


def test_an_endpoint_that_is_out_of_reach_is_stood_in_for_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stand_ins, "_CHECK_S", 0.02)
    first, second = Unreachable(concurrency=2), FakeEndpoint(name="other", delay=0.01, concurrency=2)

    async def during(executor: Executor, events: list[Event]) -> None:
        # It is tried from time to time; how often in the time of 40 answers depends on the machine.
        async with asyncio.timeout(60):
            while len(second.asked) < 40 or len(first.asked) <= 4 + 2:
                await asyncio.sleep(0.01)
        assert len(first.asked) < 4 + 2 + 20
        first.back()

    ran = run(tmp_path / "s.db", start(network(2, 2, settings=STANDING_IN), pairs(20)), first, second, during=during)
    assert ran.finished.state == "done"
    counts = by_stand_in(ran.events)
    assert counts.total() == 20 * 9
    assert counts["other/second"] >= 40
    assert counts[""] > 20, "once it is back, calls go there again"
    told = [event.message for event in ran.events if isinstance(event, EndpointChanged) and event.state == "away"]
    assert told == ["fake not reached for 1 s. Calls go to the stand-in other/second."]


def test_a_call_that_fails_is_no_reason_for_a_stand_in(tmp_path: Path) -> None:
    def answer(request: ChatRequest) -> str | Exception:
        return CallFailed(Reason.SERVER_ERROR, "HTTP 500") if "question 1" in request.user else plain_answer(request)

    ran = run(tmp_path / "s.db", begin(), FakeEndpoint(answer), FakeEndpoint(name="other"))
    assert ran.endpoints["other"].asked == []
    assert set(by_stand_in(ran.events)) == {""}


def test_further_fields_of_a_request_are_those_of_the_endpoint_that_is_asked(tmp_path: Path) -> None:
    profiles = {name: replace(of, extra=f'{{"of":"{name}"}}') for name, of in start().profiles.items()}
    settings = replace(STANDING_IN, extra='{"top_k":1}')
    started = start(network(1, 1, roles="none", settings=settings), pairs(2), profiles=profiles)
    ran = run(tmp_path / "s.db", started, FakeEndpoint(stops_after(2)), FakeEndpoint(name="other"))
    fields = {name: {str(request.more) for request in fake.asked} for name, fake in ran.endpoints.items()}
    assert "top_k" in str(fields["fake"])
    assert "other" in str(fields["other"])
    assert "top_k" not in str(fields["other"])
    assert "fake" not in str(fields["other"])
