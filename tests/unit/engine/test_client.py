"""Endpoints against the judge server: every fault, and what must come of it.

Waits run a hundred times as fast, so that retries cost no time; no test looks at a clock.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from judgenet.core.endpoints import EndpointKind, EndpointProfile
from judgenet.core.evaluation import Reason
from judgenet.core.schemas import judge_schema
from judgenet.core.tokens import estimate_tokens
from judgenet.engine.client import HttpEndpoint, open_endpoint
from judgenet.engine.ports import (
    CallFailed,
    ChatReply,
    ChatRequest,
    EndpointState,
    EndpointStopped,
    FormRefused,
    ReplySchema,
)
from judgenet.engine.transport import environment_proxy
from tests.fakes.clock import FakeClock, FastClock
from tests.fakes.given_answers import GivenAnswers
from tests.fakes.judge_server import FAULTS, JudgeServer

KEY = "sk-proj-Abc123Def456Ghi789"
KINDS: tuple[EndpointKind, ...] = ("openai", "azure", "anthropic", "gemini", "ollama")
REQUEST = ChatRequest(
    model="judge",
    system="Be fair.",
    shared="Question: 1 + 1? ",
    own="Judge.",
    temperature=0.0,
    max_tokens=500,
    seed=3,
)
WITH_SCHEMA = replace(REQUEST, form="json", schema=ReplySchema("evaluation", judge_schema()))


class Memory:
    """Capabilities in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], dict[str, Any]] = {}
        self.saves = 0

    def load(self, endpoint: str, model: str) -> dict[str, Any]:
        return self.kept.get((endpoint, model), {})

    def save(self, endpoint: str, model: str, learned: dict[str, Any]) -> None:
        self.kept[endpoint, model] = learned
        self.saves += 1


class Bench:
    """An endpoint at a judge server, with everything that it tells."""

    def __init__(self, server: JudgeServer, *, key: str | None = KEY, **fields: Any) -> None:
        self.server = server
        self.states: list[EndpointState] = []
        self.capabilities = Memory()
        self.clock: FastClock | FakeClock = FastClock()
        self.key = key
        self.profile = EndpointProfile(
            **{"name": "here", "base_url": server.url, "api_key": "MY_KEY", "deadline": 5.0, **fields}
        )
        self.endpoint = self.open()

    def open(self) -> HttpEndpoint:
        return HttpEndpoint(
            self.profile,
            key=lambda: self.key,
            capabilities=self.capabilities,
            on_state=self.states.append,
            seed=1,
            clock=self.clock,
        )

    async def all(self, count: int, request: ChatRequest = REQUEST) -> list[ChatReply | BaseException]:
        """Different calls side by side, with what came of each."""
        calls = (self.endpoint.chat(replace(request, own=f"Judge {number}.")) for number in range(count))
        return await asyncio.gather(*calls, return_exceptions=True)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(hang_s=20.0) as running:
        yield running


def run(bench: Bench, body: Coroutine[Any, Any, Any]) -> Any:
    """Runs a coroutine, then closes the endpoint. The end of the loop would show a task left behind."""

    async def main() -> Any:
        try:
            return await body
        finally:
            await bench.endpoint.close()
            assert len(asyncio.all_tasks()) == 1

    return asyncio.run(main())


def ask(bench: Bench, request: ChatRequest = REQUEST, *, stream: bool = False) -> ChatReply:
    texts: list[str] = []
    reply: ChatReply = run(bench, bench.endpoint.chat(request, texts.append if stream else None))
    if stream:
        assert "".join(texts).endswith(reply.text) or reply.finish_reason == "refused"
    return reply


def fail(bench: Bench, request: ChatRequest = REQUEST, *, stream: bool = False) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        ask(bench, request, stream=stream)
    assert KEY not in str(caught.value)
    assert "here" in str(caught.value)
    return caught.value


def longest_wait(bench: Bench) -> float:
    """The longest wait of a call that needs two attempts, in seconds."""
    assert ask(bench).attempts == 2
    assert isinstance(bench.clock, FastClock)
    return max(bench.clock.waits)


# Answers


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_in_each_dialect(server: JudgeServer, kind: EndpointKind, stream: bool) -> None:
    reply = ask(Bench(server, kind=kind), stream=stream)
    entry = server.log[0]
    assert reply.text == entry.answer
    assert reply.finish_reason == "stop"
    assert reply.model == "judge-2026"
    assert reply.attempts == 1
    assert reply.usage.prompt == len("Question: 1 + 1? Judge.") // 4
    assert reply.usage.completion == len(reply.text) // 4
    assert reply.usage.cached == reply.usage.prompt // 2
    assert not reply.usage.estimated
    assert entry.stream == stream
    assert entry.messages == [
        {"role": "system", "content": "Be fair."},
        {"role": "user", "content": "Question: 1 + 1? Judge."},
    ]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_reply_by_schema_in_each_dialect(server: JudgeServer, kind: EndpointKind, stream: bool) -> None:
    bench = Bench(server, kind=kind)
    assert bench.endpoint.form("judge") == "json"
    data = json.loads(ask(bench, WITH_SCHEMA, stream=stream).text)
    assert set(data) == {"evidence", "score_1", "score_2"}


def test_structured_never(server: JudgeServer) -> None:
    assert Bench(server, structured="never").endpoint.form("judge") == "text"


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_base_urls(server: JudgeServer, path: str) -> None:
    assert ask(Bench(server, base_url=server.url + path)).text


def test_headers_of_the_profile_are_sent(server: JudgeServer) -> None:
    ask(Bench(server, headers=(("X-Title", "judgenet"),)))
    headers = server.log[0].headers
    assert headers["x-title"] == "judgenet"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["accept-encoding"] == "identity"


def test_lone_surrogates_are_sent_as_replacements(server: JudgeServer) -> None:
    ask(Bench(server), replace(REQUEST, own="half \ud83d, whole \ud83d\ude42"))
    assert server.log[0].messages[1]["content"] == "Question: 1 + 1? half \ufffd, whole 🙂"


def test_many_calls_at_once(server: JudgeServer) -> None:
    bench = Bench(server, concurrency=8)
    server.set(latency=0.01)
    replies = run(bench, bench.all(60))
    assert all(isinstance(reply, ChatReply) for reply in replies)
    assert server.requests == 60
    assert 1 < server.judge.most_in_flight <= 8


# Streams


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "fault", ["u2028", "split_utf8", "duplicate_chunks", "no_done", "crlf", "drip", "content_type"]
)
def test_streams_of_every_shape(server: JudgeServer, kind: EndpointKind, fault: str) -> None:
    server.set(script=[fault], drip_s=0.001)
    reply = ask(Bench(server, kind=kind), stream=True)
    assert reply.text == server.log[0].answer
    assert reply.finish_reason == "stop"
    assert not reply.usage.estimated
    assert reply.attempts == 1
    if fault == "u2028":
        assert "\u2028" in reply.text


@pytest.mark.parametrize("fault", ["u2028", "content_type", "drip"])
def test_whole_answers_of_every_shape(server: JudgeServer, fault: str) -> None:
    server.set(script=[fault], drip_s=0.001)
    reply = ask(Bench(server))
    assert reply.text == server.log[0].answer
    assert reply.attempts == 1


def test_comments_do_not_count_as_news(server: JudgeServer) -> None:
    server.set(script=["comments", None])
    bench = Bench(server, idle_timeout=0.3, deadline=60.0)

    async def body() -> None:
        reply = await bench.endpoint.chat(REQUEST, lambda _: None)
        assert reply.attempts == 2
        await until(lambda: server.log[0].disconnected)

    run(bench, body())
    server.set(script=["comments"])
    failure = fail(Bench(server, idle_timeout=0.3, deadline=60.0, retries=0), stream=True)
    assert failure.reason is Reason.TIMEOUT
    assert "idle_timeout" in str(failure)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", ["hang", "hang_body", "comments"])
def test_the_deadline_ends_what_hangs(server: JudgeServer, fault: str, stream: bool) -> None:
    server.set(script=[fault])
    failure = fail(Bench(server, deadline=0.3, retries=0), stream=stream)
    assert failure.reason is Reason.TIMEOUT
    assert failure.attempts == 1


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", ["hang", "hang_body"])
def test_what_hangs_is_asked_again(server: JudgeServer, fault: str, stream: bool) -> None:
    server.set(script=[fault, None])
    reply = ask(Bench(server, deadline=0.3, idle_timeout=0.2), stream=stream)
    assert reply.attempts == 2
    assert reply.text == server.log[1].answer


# Faults that pass


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("408", Reason.TIMEOUT),
        ("409", Reason.SERVER_ERROR),
        ("425", Reason.SERVER_ERROR),
        ("500", Reason.SERVER_ERROR),
        ("502", Reason.SERVER_ERROR),
        ("503", Reason.SERVER_ERROR),
        ("504", Reason.TIMEOUT),
        ("529", Reason.SERVER_ERROR),
        ("throttle", Reason.RATE_LIMITED),
        ("throttle_plain", Reason.RATE_LIMITED),
        ("reset", Reason.NETWORK),
        ("cut", Reason.NETWORK),
        ("bad_json", Reason.SERVER_ERROR),
        ("html_200", Reason.SERVER_ERROR),
        ("html_502", Reason.SERVER_ERROR),
        ("error_200", Reason.SERVER_ERROR),
        ("stream_error", Reason.SERVER_ERROR),
    ],
)
def test_what_passes_is_asked_again(server: JudgeServer, fault: str, reason: Reason, stream: bool) -> None:
    server.set(script=[fault, fault, None])
    reply = ask(Bench(server), stream=stream)
    assert reply.attempts == 3
    assert reply.text == server.log[2].answer
    server.set(script=[fault])
    failure = fail(Bench(server, retries=0), stream=stream)
    assert failure.reason is reason
    assert failure.attempts == 1
    assert not isinstance(failure, EndpointStopped)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", ["500", "529", "throttle", "stream_error", "error_200"])
def test_retries_in_each_dialect(server: JudgeServer, kind: EndpointKind, fault: str) -> None:
    server.set(script=[fault, None])
    assert ask(Bench(server, kind=kind), stream=True).attempts == 2


def test_retries_end(server: JudgeServer) -> None:
    server.set(faults={"500": 1.0})
    failure = fail(Bench(server, retries=3))
    assert failure.attempts == 4
    assert failure.status == 500
    assert server.requests == 4


@pytest.mark.parametrize(("fault", "seconds"), [("throttle", 20.0), ("throttle_date", 20.0), ("throttle_ms", 20.0)])
def test_retry_after_is_kept(server: JudgeServer, fault: str, seconds: float) -> None:
    server.set(script=[fault, None], retry_after=seconds)
    bench = Bench(server)
    assert longest_wait(bench) == pytest.approx(seconds, abs=0.01)
    waiting = [state for state in bench.states if state.state == "waiting"]
    assert len(waiting) == 1
    assert "Waiting 20 s" in waiting[0].message
    assert waiting[0].until is not None


def test_one_throttling_answer_slows_all_calls(server: JudgeServer) -> None:
    bench = Bench(server, concurrency=16)

    async def body() -> None:
        await bench.endpoint.chat(REQUEST)
        server.set(most_in_flight=4, latency=0.02, retry_after=0.5)
        replies = await bench.all(80)
        assert all(isinstance(reply, ChatReply) for reply in replies)

    run(bench, body())
    throttled = sum(entry.fault == "throttle" for entry in server.log)
    # Sixteen at a time against four: without slowing down three of four requests are refused, time and again.
    assert 0 < throttled < 80
    assert {state.state for state in bench.states} <= {"slow", "waiting", "open"}
    # Workers that share the model are told which it is.
    assert {state.model for state in bench.states if state.state != "open"} == {REQUEST.model}


def test_a_very_long_wait_is_for_people_to_decide(server: JudgeServer) -> None:
    server.set(script=["throttle_long"])
    bench = Bench(server)
    failure = fail(bench)
    assert isinstance(failure, EndpointStopped)
    assert failure.reason is Reason.RATE_LIMITED
    assert "wait 15 min, until 20" in str(failure)
    assert server.requests == 1
    assert bench.states[-1].state == "stopped"
    assert bench.states[-1].until is not None


# Faults that do not pass


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("bad_request", Reason.BAD_REQUEST),
        ("context", Reason.CONTEXT_LENGTH),
        ("content_filter", Reason.FILTERED),
    ],
)
def test_one_request_for_what_concerns_this_call(server: JudgeServer, fault: str, reason: Reason, stream: bool) -> None:
    server.set(script=[fault])
    bench = Bench(server)
    failure = fail(bench, stream=stream)
    assert failure.reason is reason
    assert not isinstance(failure, EndpointStopped)
    assert server.requests == 1
    assert [(state.state, state.message) for state in bench.states] == [("failing", str(failure))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("auth", Reason.AUTH),
        ("forbidden", Reason.AUTH),
        ("quota", Reason.QUOTA),
        ("payment", Reason.QUOTA),
        ("no_route", Reason.BAD_REQUEST),
    ],
)
def test_a_stop_before_a_second_request(server: JudgeServer, kind: EndpointKind, fault: str, reason: Reason) -> None:
    server.set(faults={fault: 1.0})
    bench = Bench(server, kind=kind)
    results = run(bench, bench.all(20))
    assert server.requests == 1
    assert all(isinstance(result, EndpointStopped) and result.reason is reason for result in results)
    assert sorted(result.attempts for result in results) == [0] * 19 + [1]
    assert all(KEY not in str(result) and KEY not in repr(result) for result in results)
    assert [state.state for state in bench.states] == ["stopped"]


def test_quota_that_ends_in_the_middle_of_a_run(server: JudgeServer) -> None:
    bench = Bench(server, concurrency=4)

    async def body() -> None:
        await bench.endpoint.chat(REQUEST)
        server.set(faults={"quota": 1.0}, latency=0.05)
        results = await bench.all(40)
        assert all(isinstance(result, EndpointStopped) for result in results)
        # Those in flight were sent before anybody knew.
        assert server.requests == 1 + 4
        server.set(faults={}, latency=0.0)
        with pytest.raises(EndpointStopped):
            await bench.endpoint.chat(REQUEST)
        bench.endpoint.resume()
        assert (await bench.endpoint.chat(REQUEST)).text

    run(bench, body())
    assert [state.state for state in bench.states] == ["stopped"]


def test_an_unknown_model_stops_that_model_only(server: JudgeServer) -> None:
    server.set(models=["judge"])
    bench = Bench(server)

    async def body() -> None:
        wrong = replace(REQUEST, model="jugde")
        results = await bench.all(5, wrong)
        assert all(isinstance(result, EndpointStopped) and result.model == "jugde" for result in results)
        assert server.requests == 1
        assert (await bench.endpoint.chat(REQUEST)).text
        with pytest.raises(EndpointStopped, match="jugde"):
            await bench.endpoint.chat(wrong)
        assert server.requests == 2

    run(bench, body())
    assert bench.endpoint.known("judge")
    assert not bench.endpoint.known("jugde")


def test_an_endpoint_that_nobody_listens_at(server: JudgeServer) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    bench = Bench(server, base_url=f"http://127.0.0.1:{port}", retries=2)
    failures = run(bench, bench.all(20))
    # It never answered: one call tries as often as it may, the rest of the run need not.
    assert all(isinstance(failure, EndpointStopped) and failure.reason is Reason.NETWORK for failure in failures)
    assert sorted(failure.attempts for failure in failures) == [0] * 19 + [3]
    assert f"127.0.0.1:{port}" in str(failures[0])
    assert "Is the server running?" in str(failures[0])
    assert [state.state for state in bench.states] == ["waiting", "waiting", "waiting", "stopped"]


def test_an_outage_in_the_middle_of_a_run() -> None:
    """The server goes and comes back at the same address: no call is lost."""
    with JudgeServer(latency=0.01) as first:
        port = int(first.url.rpartition(":")[2])
        bench = Bench(first, concurrency=8)
        endpoint = bench.endpoint

        async def body() -> None:
            await endpoint.chat(REQUEST)
            calls = asyncio.ensure_future(bench.all(60))
            await until(lambda: first.requests > 20)
            await asyncio.to_thread(first.stop)
            await until(lambda: any(state.state == "away" for state in bench.states))
            with JudgeServer(port=port) as second:
                results = await calls
                assert all(isinstance(result, ChatReply) for result in results)
                assert second.requests > 0

        run(bench, body())


def test_an_outage_uses_up_no_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a single retry, for a connection that was kept open: the calls wait, and one at a time goes out to see."""
    with JudgeServer(latency=0.01) as first:
        port = int(first.url.rpartition(":")[2])
        bench = Bench(first, concurrency=8, retries=1, patience=10_000.0)

        def paused() -> list[str]:
            return [state.message for state in bench.states if state.state == "away"]

        async def body() -> None:
            await bench.endpoint.chat(REQUEST)
            await asyncio.to_thread(first.stop)
            calls = asyncio.ensure_future(bench.all(60))
            await until(lambda: len(paused()) >= 5)
            with JudgeServer(port=port) as second:
                results = await calls
                assert all(isinstance(result, ChatReply) for result in results)
                assert second.requests == 60

        run(bench, body())
        message = paused()[-1]
        assert message.startswith(f"paused: here (127.0.0.1:{port}) not reached since ")
        assert "next try in " in message
        assert "Is the server running?" in message
        assert bench.states[-1].state == "open"


def test_patience_with_an_outage_ends(server: JudgeServer) -> None:
    with JudgeServer() as first:
        bench = Bench(first, concurrency=8, retries=1, patience=20.0)

        async def body() -> list[ChatReply | BaseException]:
            await bench.endpoint.chat(REQUEST)
            await asyncio.to_thread(first.stop)
            return await bench.all(30)

        results = run(bench, body())
    assert all(isinstance(result, EndpointStopped) and result.reason is Reason.NETWORK for result in results)
    assert "the same command goes on from here" in str(results[0])
    assert "--patience" in str(results[0])
    assert bench.states[-1].state == "stopped"


@pytest.mark.parametrize("fault", ["hang", "cut", "reset", "502", "503"])
def test_no_answer_to_anything_is_an_outage(server: JudgeServer, fault: str) -> None:
    """The connections are taken, and nobody is behind them."""
    bench = Bench(server, concurrency=8, retries=3, deadline=0.3, patience=100_000.0)

    async def body() -> list[ChatReply | BaseException]:
        await bench.endpoint.chat(REQUEST)
        server.set(faults={fault: 1.0})
        calls = asyncio.ensure_future(bench.all(20))
        await until(lambda: sum(state.state == "away" for state in bench.states) > 5)
        server.set(faults={})
        return await calls

    results = run(bench, body())
    assert all(isinstance(result, ChatReply) for result in results)


def test_one_call_that_is_never_answered_is_no_outage(server: JudgeServer) -> None:
    bench = Bench(server, concurrency=8, retries=3)

    async def body() -> ChatReply | BaseException:
        await bench.endpoint.chat(REQUEST)
        server.set(faults={"cut": 1.0})
        [result] = await bench.all(1)
        return result

    failure = run(bench, body())
    assert isinstance(failure, CallFailed)
    assert not isinstance(failure, EndpointStopped)
    assert failure.attempts == 4


@pytest.mark.parametrize(
    ("fault", "requests", "words"),
    [
        ("html_200", 9, "502 Bad Gateway"),
        ("cut", 9, "connection broke"),
        ("bad_json", 9, "no JSON"),
        ("brotli", 9, "br"),
        ("500", 21, "HTTP 500"),
        ("bad_request", 3, "HTTP 400"),
    ],
)
def test_first_calls_that_all_fail_stop_the_endpoint(
    server: JudgeServer, fault: str, requests: int, words: str
) -> None:
    server.set(faults={fault: 1.0})
    bench = Bench(server, concurrency=8)

    async def one_by_one() -> list[BaseException]:
        failures: list[BaseException] = []
        for number in range(10):
            [result] = await bench.all(1, replace(REQUEST, shared=f"{number}"))
            assert isinstance(result, BaseException)
            failures.append(result)
        return failures

    failures = run(bench, one_by_one())
    assert [isinstance(failure, EndpointStopped) for failure in failures] == [False, False] + [True] * 8
    assert server.requests == requests
    assert words in str(failures[0])
    assert words in str(failures[-1])
    # The first failure is told at once, in full, and not again.
    failing = [state.message for state in bench.states if state.state == "failing"]
    assert len(failing) == 1
    assert words in failing[0]
    assert bench.states.index(next(s for s in bench.states if s.state == "failing")) == 0


def test_long_texts_at_the_beginning_stop_nothing(server: JudgeServer) -> None:
    server.set(script=["context"] * 5 + ["content_filter"] * 5)
    results = run(bench := Bench(server, concurrency=1), bench.all(20))
    assert sum(isinstance(result, ChatReply) for result in results) == 10
    assert not any(isinstance(result, EndpointStopped) for result in results)


# Answers that are none


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fault", "finish"),
    [
        ("empty_choices", "unknown"),
        ("empty_content", "stop"),
        ("refusal", "refused"),
        ("filtered", "filtered"),
        ("length", "length"),
    ],
)
def test_answers_that_are_not_whole(server: JudgeServer, fault: str, finish: str, stream: bool) -> None:
    server.set(script=[fault])
    bench = Bench(server)
    if fault == "empty_choices" and stream:
        # A stream without a choice has no end either: it broke off.
        server.set(script=[fault, None])
        texts: list[str] = []
        reply = run(bench, bench.endpoint.chat(REQUEST, texts.append))
        assert reply.finish_reason in ("unknown", "stop")
        return
    reply = ask(bench, stream=stream)
    assert reply.finish_reason == finish
    assert reply.attempts == 1
    if fault == "length":
        assert reply.text == server.log[0].answer
    elif fault == "refusal":
        assert reply.text == "I cannot judge these texts."
    else:
        assert reply.text == ""


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", ["no_usage", "zero_usage"])
def test_usage_that_is_missing_is_estimated(server: JudgeServer, fault: str, stream: bool) -> None:
    server.set(script=[fault])
    reply = ask(Bench(server), stream=stream)
    assert reply.usage.estimated
    assert reply.usage.prompt == estimate_tokens("Be fair.") + estimate_tokens("Question: 1 + 1? Judge.")
    assert reply.usage.completion == estimate_tokens(reply.text)


# Negotiation


@pytest.mark.parametrize(
    ("parameter", "learned"),
    [
        ("max_tokens", {"max_tokens": "sent as max_completion_tokens"}),
        ("temperature", {"temperature": "not applied"}),
        ("seed", {"seed": "not applied"}),
        ("schema_limits", {"schema": "without limits"}),
        ("system", {"system": "put into the user message"}),
    ],
)
def test_what_is_refused_is_learned_once(server: JudgeServer, parameter: str, learned: dict[str, str]) -> None:
    server.set(refuse=[parameter])
    bench = Bench(server)
    replies = run(bench, bench.all(20, WITH_SCHEMA))
    assert all(isinstance(reply, ChatReply) for reply in replies)
    assert [entry.status for entry in server.log].count(400) == 1
    assert server.requests == 21
    assert sorted(reply.attempts for reply in replies) == [1] * 19 + [2]
    assert bench.endpoint.learned("judge") == learned
    assert bench.capabilities.kept == {("here", "judge"): learned}
    assert [state.state for state in bench.states] == ["learned"]
    # Another run knows it from the start.
    bench.endpoint = bench.open()
    assert ask(bench, WITH_SCHEMA).attempts == 1


def test_temperature_not_applied_is_told(server: JudgeServer) -> None:
    server.set(refuse=["temperature"])
    bench = Bench(server)
    ask(bench)
    assert "temperature not applied" in bench.states[0].message
    assert "temperature" not in server.log[1].asked


def test_everything_refused_at_once(server: JudgeServer) -> None:
    refused = ["max_tokens", "temperature", "seed", "schema_limits", "stream_options", "system"]
    server.set(refuse=refused)
    bench = Bench(server)
    reply = ask(bench, WITH_SCHEMA, stream=True)
    assert reply.attempts == len(refused) + 1
    assert reply.usage.estimated
    assert len(bench.endpoint.learned("judge")) == len(refused)
    assert server.log[-1].asked.keys() == {"model", "messages", "max_completion_tokens", "response_format", "stream"}


def test_what_is_refused_while_calls_are_in_flight(server: JudgeServer) -> None:
    """Calls that were built by the old knowledge are built again and sent again."""
    bench = Bench(server, concurrency=16)

    async def body() -> None:
        await bench.endpoint.chat(REQUEST)
        server.set(refuse=["max_tokens", "temperature"], latency=0.02)
        replies = await bench.all(16)
        assert all(isinstance(reply, ChatReply) for reply in replies)

    run(bench, body())
    assert bench.capabilities.saves == 2
    assert bench.endpoint.learned("judge").keys() == {"max_tokens", "temperature"}


def test_a_schema_that_is_refused_is_asked_for_as_text(server: JudgeServer) -> None:
    server.set(refuse=["schema"])
    bench = Bench(server)

    async def body() -> None:
        results = await bench.all(10, WITH_SCHEMA)
        assert all(isinstance(result, FormRefused) for result in results)
        assert server.requests == 1
        assert bench.endpoint.form("judge") == "text"
        assert (await bench.endpoint.chat(REQUEST)).text
        assert server.judge.paid == 1

    run(bench, body())
    assert bench.endpoint.learned("judge") == {"schema": "refused"}
    assert bench.open().form("judge") == "text"


@pytest.mark.parametrize("kind", ["anthropic", "gemini"])
def test_other_dialects_refuse_as_well(server: JudgeServer, kind: EndpointKind) -> None:
    server.set(refuse=["temperature"])
    bench = Bench(server, kind=kind)
    assert ask(bench).attempts == 2
    assert bench.endpoint.learned("judge") == {"temperature": "not applied"}


def test_a_stream_that_is_refused_comes_whole(server: JudgeServer) -> None:
    server.set(refuse=["stream"])
    bench = Bench(server)
    reply = ask(bench, stream=True)
    assert reply.attempts == 2
    assert bench.endpoint.learned("judge") == {"stream": "refused"}


def test_knowledge_may_be_out_of_date(server: JudgeServer) -> None:
    bench = Bench(server)
    bench.capabilities.save("here", "judge", {"max_tokens": "sent as max_completion_tokens"})
    server.set(refuse=["max_completion_tokens"])
    assert ask(bench).attempts == 2
    assert bench.endpoint.learned("judge") == {"max_tokens": "sent as max_tokens"}


def test_a_limit_that_is_refused_either_way(server: JudgeServer) -> None:
    server.set(refuse=["max_tokens", "max_completion_tokens"])
    failure = fail(Bench(server))
    assert failure.reason is Reason.BAD_REQUEST
    assert server.requests <= 4


# Keys


def test_a_key_that_is_missing(server: JudgeServer) -> None:
    bench = Bench(server, key=None)

    async def body() -> None:
        results = await bench.all(5)
        assert all(isinstance(result, EndpointStopped) and result.reason is Reason.NO_KEY for result in results)
        assert all("MY_KEY" in str(result) for result in results)
        assert server.requests == 0
        bench.key = KEY
        bench.endpoint.resume()
        assert (await bench.endpoint.chat(REQUEST)).text

    run(bench, body())


@pytest.mark.parametrize("key", ["", "  \n", "two words", "schlüssel", "“quoted”"])
def test_a_key_that_is_none(server: JudgeServer, key: str) -> None:
    failure = fail(Bench(server, key=key))
    assert failure.reason is Reason.NO_KEY
    assert server.requests == 0
    assert not key.strip() or key not in str(failure)


def test_white_space_around_a_key_is_left_out(server: JudgeServer) -> None:
    server.set(key=KEY)
    assert ask(Bench(server, key=f" {KEY}\n")).text


def test_a_key_store_that_fails(server: JudgeServer) -> None:
    def broken() -> str:
        raise RuntimeError(f"the store says {KEY}")

    bench = Bench(server)
    bench.endpoint = HttpEndpoint(bench.profile, key=broken)
    failure = fail(bench)
    assert failure.reason is Reason.NO_KEY
    assert "RuntimeError" in str(failure)


def test_no_key_where_none_is_named(server: JudgeServer) -> None:
    assert ask(Bench(server, key=None, api_key=None)).text
    assert "authorization" not in server.log[0].headers


def test_a_given_key_without_a_name(server: JudgeServer) -> None:
    """The embedded model's server has a random key that nobody names."""
    server.set(key=KEY)
    assert ask(Bench(server, api_key=None)).text


@pytest.mark.parametrize("echo", [KEY, KEY[:9] + "***" + KEY[-3:], KEY[:12], f"Bearer {KEY}"])
def test_a_key_that_the_server_repeats_is_in_no_message(
    server: JudgeServer, echo: str, caplog: pytest.LogCaptureFixture
) -> None:
    def answer() -> httpx.Response:
        return httpx.Response(401, json={"error": {"message": f"Incorrect API key provided: {echo}. " + "x" * 400}})

    caplog.set_level(logging.DEBUG)
    bench = Bench(server)
    bench.endpoint = HttpEndpoint(
        bench.profile, key=lambda: KEY, on_state=bench.states.append, transport=GivenAnswers(answer)
    )
    failure = fail(bench)
    for text in (str(failure), repr(failure), bench.states[-1].message, caplog.text):
        assert KEY[:9] not in text
    assert "[key]" in str(failure)


# Bodies that servers really send, though they should not


def mock(server: JudgeServer, *responses: httpx.Response, **fields: Any) -> Bench:
    """An endpoint that gets these answers, one after the other."""
    waiting = iter(responses)
    bench = Bench(server, **fields)
    bench.endpoint = HttpEndpoint(
        bench.profile,
        key=lambda: KEY,
        on_state=bench.states.append,
        clock=bench.clock,
        transport=GivenAnswers(lambda: next(waiting)),
    )
    return bench


WHOLE = {"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}
STREAM = b'data: {"choices":[{"delta":{"content":"Yes."}}]}\n\n'
FINISH = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(200, json=WHOLE),
        httpx.Response(200, content=json.dumps(WHOLE), headers={"content-type": "text/plain"}),
        httpx.Response(200, content=json.dumps(WHOLE, indent=2), headers={"content-type": "text/html"}),
        httpx.Response(200, content=STREAM + FINISH, headers={"content-type": "text/event-stream"}),
        # Without the empty lines between events
        httpx.Response(200, content=(STREAM + FINISH).replace(b"\n\n", b"\n") + b"data: [DONE]\n\n"),
        # Without the end of the last event
        httpx.Response(200, content=STREAM + FINISH.rstrip()),
    ],
)
def test_answers_to_a_request_for_a_stream(server: JudgeServer, response: httpx.Response) -> None:
    reply = ask(mock(server, response), stream=True)
    assert (reply.text, reply.finish_reason, reply.attempts) == ("Yes.", "stop", 1)


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(WHOLE).encode(),
        b"\xef\xbb\xbf" + json.dumps(WHOLE).encode(),
        b"\n \n " + json.dumps(WHOLE).encode(),
        STREAM + FINISH + b"data: [DONE]\n\n",
        b": waiting\n\n" + STREAM + FINISH,
    ],
)
def test_answers_to_a_request_for_a_whole_answer(server: JudgeServer, content: bytes) -> None:
    reply = ask(mock(server, httpx.Response(200, content=content)))
    assert (reply.text, reply.finish_reason, reply.attempts) == ("Yes.", "stop", 1)


def test_characters_that_are_broken_do_not_lose_an_answer(server: JudgeServer) -> None:
    content = b'{"choices":[{"message":{"content":"a\xffb\nc\\ud800"},"finish_reason":"stop"}]}'
    assert ask(mock(server, httpx.Response(200, content=content))).text == "a\ufffdb\nc\ufffd"


def test_a_stream_that_breaks_off_is_asked_again(server: JudgeServer) -> None:
    bench = mock(server, httpx.Response(200, content=STREAM), httpx.Response(200, content=STREAM + FINISH))
    texts: list[str] = []
    reply = run(bench, bench.endpoint.chat(REQUEST, texts.append))
    assert (reply.text, reply.attempts) == ("Yes.", 2)


def test_an_answer_compressed_although_nobody_asked(server: JudgeServer) -> None:
    import gzip

    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    packed = gzip.compress(json.dumps(WHOLE).encode())
    assert ask(mock(server, httpx.Response(200, content=packed, headers=headers))).text == "Yes."


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (httpx.Response(200, content=b""), "an empty body"),
        (httpx.Response(200, content=b"[1, 2]"), "a list"),
        (httpx.Response(200, json={"detail": "hello"}), "without choices"),
        (httpx.Response(200, content=b"<html><title>Welcome</title></html>"), "Welcome"),
        (httpx.Response(200, json={"error": {"message": "Upstream said no", "code": 502}}), "Upstream said no"),
        (httpx.Response(200, json={"choices": [{"error": {"message": "It broke", "code": 503}}]}), "It broke"),
        (httpx.Response(204), "an empty body"),
    ],
)
def test_successes_that_are_none(server: JudgeServer, response: httpx.Response, words: str) -> None:
    failure = fail(mock(server, response, retries=0))
    assert failure.reason is Reason.SERVER_ERROR
    assert words in str(failure)


def test_an_error_with_the_status_of_success_keeps_its_meaning(server: JudgeServer) -> None:
    body = {"error": {"message": "Insufficient credits", "code": 402}}
    assert fail(mock(server, httpx.Response(200, json=body))).reason is Reason.QUOTA
    event = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    failure = fail(mock(server, httpx.Response(200, content=event), kind="anthropic", retries=0), stream=True)
    assert failure.reason is Reason.SERVER_ERROR
    assert "overloaded" in str(failure).lower()


def test_a_redirect_is_not_followed(server: JudgeServer) -> None:
    moved = httpx.Response(301, headers={"location": "https://elsewhere.example/v1/chat/completions?key=1"})
    failure = fail(mock(server, moved))
    assert isinstance(failure, EndpointStopped)
    assert "https://elsewhere.example/v1/chat/completions" in str(failure)


def test_a_reset_time_is_a_hint_for_the_wait(server: JudgeServer) -> None:
    headers = {"x-ratelimit-reset-requests": "33s", "x-ratelimit-remaining-requests": "0"}
    limited = httpx.Response(429, json={"error": {"message": "Rate limit reached"}}, headers=headers)
    assert longest_wait(mock(server, limited, httpx.Response(200, json=WHOLE))) == pytest.approx(33.0, abs=0.1)
    # A limit that is fresh again tomorrow may let the next call through much earlier.
    headers["x-ratelimit-reset-requests"] = "20h"
    limited = httpx.Response(429, json={"error": {"message": "Rate limit reached"}}, headers=headers)
    assert longest_wait(mock(server, limited, httpx.Response(200, json=WHOLE))) == pytest.approx(60.0, abs=0.1)


def test_a_context_that_is_filled_exactly_is_told(server: JudgeServer) -> None:
    usage = {"prompt_tokens": 4000, "completion_tokens": 96}
    bench = mock(server, *[httpx.Response(200, json={**WHOLE, "usage": usage}) for _ in range(2)])

    async def body() -> None:
        await bench.endpoint.chat(REQUEST)
        await bench.endpoint.chat(REQUEST)

    run(bench, body())
    assert [state.state for state in bench.states] == ["learned"]
    assert "4096 tokens" in bench.states[0].message
    assert bench.endpoint.learned("judge") == {"context_window": 4096}


# Cancelling


async def until(true: Callable[[], bool]) -> None:
    """Waits for something in the server's thread; the test's time-out ends it."""
    while not true():
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", ["hang", "hang_body", "comments"])
def test_cancelling_closes_the_connection(server: JudgeServer, fault: str, stream: bool) -> None:
    server.set(script=[fault])
    bench = Bench(server, deadline=60.0)

    async def body() -> None:
        task = asyncio.ensure_future(bench.endpoint.chat(REQUEST, (lambda _: None) if stream else None))
        await until(lambda: bool(server.log))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # Before the endpoint is closed: the call itself has closed its connection.
        await until(lambda: server.log[0].disconnected)
        assert (await bench.endpoint.chat(REQUEST)).text

    run(bench, body())


def test_cancelling_in_every_state_of_waiting(server: JudgeServer) -> None:
    server.set(latency=0.3)
    bench = Bench(server, concurrency=1)

    async def cancel(*calls: Coroutine[Any, Any, ChatReply]) -> None:
        tasks = [asyncio.ensure_future(call) for call in calls]
        await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results)

    async def body() -> None:
        chat = bench.endpoint.chat
        # In flight, and at the gate behind it
        await cancel(chat(REQUEST), chat(REQUEST), chat(REQUEST))
        assert (await chat(REQUEST)).text
        # Waiting for a place
        await cancel(chat(REQUEST), chat(REQUEST), chat(REQUEST))
        assert (await chat(REQUEST)).text
        # Waiting before another attempt
        server.set(latency=0.0, script=["throttle"], retry_after=200.0)
        await cancel(chat(REQUEST))
        bench.endpoint.resume()
        assert (await chat(REQUEST)).text

    run(bench, body())
    assert server.judge.in_flight == 0


def test_the_gate_lets_one_call_at_a_time_through(server: JudgeServer) -> None:
    server.set(latency=0.02, script=["500", "500", None])
    bench = Bench(server, concurrency=16)

    async def body() -> None:
        replies = await bench.all(10)
        assert all(isinstance(reply, ChatReply) for reply in replies)

    assert not bench.endpoint.known("judge")
    run(bench, body())
    assert bench.endpoint.known("judge")
    # Each alone, until one succeeded.
    assert [(entry.status, entry.others) for entry in server.log[:3]] == [(500, 0), (500, 0), (200, 0)]
    assert server.requests == 12


def test_requests_a_minute_are_kept(server: JudgeServer) -> None:
    clock = FakeClock()
    bench = Bench(server, requests_per_minute=10, concurrency=50)
    bench.clock = clock
    bench.endpoint = bench.open()

    async def body() -> None:
        calls = asyncio.ensure_future(bench.all(25))
        for requests in (10, 20, 25):
            await until(lambda count=requests: server.requests >= count)  # type: ignore[misc]
            await asyncio.sleep(0.05)
            assert server.requests == requests
            await clock.advance(60)
        assert all(isinstance(reply, ChatReply) for reply in await calls)

    run(bench, body())


def test_tokens_a_minute_are_settled_by_usage(server: JudgeServer) -> None:
    bench = Bench(server, tokens_per_minute=1200, concurrency=50)
    bench.clock = FakeClock()
    bench.endpoint = bench.open()
    # By the estimate (500 for each answer) two would fit into the minute, which never ends here.
    assert all(isinstance(reply, ChatReply) for reply in run(bench, bench.all(6)))
    assert server.judge.most_in_flight <= 2


# All faults together


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stream", [False, True])
def test_every_call_ends_whatever_happens(server: JudgeServer, kind: EndpointKind, stream: bool) -> None:
    stops = {"auth", "forbidden", "payment", "quota", "no_model", "no_route", "throttle_long"}
    slow = {"hang", "hang_body", "comments", "blanks"}
    usual = [fault for fault in FAULTS if fault not in stops | slow]
    server.set(faults={fault: 0.4 / len(usual) for fault in usual}, drip_s=0.0005, retry_after=0.01)
    bench = Bench(server, kind=kind, concurrency=16)

    async def one(number: int) -> ChatReply | CallFailed:
        request = replace(WITH_SCHEMA if number % 2 else REQUEST, own=f"Judge {number}.")
        try:
            try:
                return await bench.endpoint.chat(request, (lambda _: None) if stream else None)
            except FormRefused:
                plain = replace(request, form="text", schema=None)
                return await bench.endpoint.chat(plain, (lambda _: None) if stream else None)
        except CallFailed as failure:
            return failure

    async def body() -> list[ChatReply | CallFailed]:
        return await asyncio.gather(*(one(number) for number in range(120)))

    results = run(bench, body())
    answers = {entry.answer for entry in server.log if entry.paid}
    unread = ("refused", "filtered", "too_large", "unreadable", "unknown")
    for result in results:
        if isinstance(result, ChatReply):
            assert result.text in answers or result.finish_reason in unread
        else:
            assert not isinstance(result, EndpointStopped)
            assert KEY not in str(result)
    assert sum(isinstance(result, ChatReply) for result in results) > 100


def test_the_server_as_a_process() -> None:
    from tests.fakes.judge_server import judge_process

    with judge_process("--seed", "3", "--fault", "500=0.3") as url:
        endpoint = open_endpoint(EndpointProfile("process", base_url=url, deadline=20.0))

        async def main() -> None:
            for number in range(5):
                assert (await endpoint.chat(replace(REQUEST, own=f"Judge {number}."))).text
            await endpoint.close()

        asyncio.run(main())
        log = httpx.get(f"{url}/control/log", trust_env=False).json()
        stats = httpx.get(f"{url}/control/stats", trust_env=False).json()
        assert sum(entry["paid"] for entry in log) == stats["paid"] == 5
        assert stats["requests"] == len(log)


# Proxies


def test_a_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    assert environment_proxy("https://api.example.com/v1") is None
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "inside.example")
    assert environment_proxy("https://api.example.com/v1") == ("http://proxy.example:3128", "HTTPS_PROXY")
    assert environment_proxy("http://api.example.com/v1") is None
    assert environment_proxy("https://inside.example/v1") is None
    for local in ("http://localhost:1", "https://127.0.0.1:1", "https://[::1]:1"):
        assert environment_proxy(local) is None
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example:3128")
    assert environment_proxy("https://api.example.com/v1") == ("http://proxy.example:3128", "HTTPS_PROXY")
    monkeypatch.setenv("HTTPS_PROXY", "socks5://proxy.example:1080")
    with pytest.raises(ValueError, match="socks5"):
        environment_proxy("https://api.example.com/v1")


def test_a_proxy_that_cannot_be_used_stops_the_endpoint(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "socks5://proxy.example:1080")
    failure = fail(Bench(server, base_url="https://api.example.com/v1"))
    assert isinstance(failure, EndpointStopped)
    assert failure.reason is Reason.NETWORK


def test_a_proxy_that_nobody_runs_is_named(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://me:" + "secret@127.0.0.1:9")
    monkeypatch.delenv("http_proxy", raising=False)
    bench = Bench(server, base_url="http://judge.corp.example/v1", retries=1)
    failure = fail(bench)
    assert isinstance(failure, EndpointStopped)
    assert failure.reason is Reason.NETWORK
    for told in (str(failure), bench.states[0].message):
        assert "the proxy 127.0.0.1:9 (HTTP_PROXY) is not reached" in told
        assert "NO_PROXY" in told
        assert "secret" not in told


@pytest.mark.parametrize(("status", "words"), [(407, "name and a password"), (403, "this host"), (502, "running")])
def test_a_proxy_that_makes_no_connection_is_named(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, status: int, words: str
) -> None:
    """For https a proxy is asked to CONNECT; this one says no."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    async def body() -> None:
        proxy = await asyncio.start_server(refuse, "127.0.0.1", 0)
        place = f"127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        monkeypatch.setenv("HTTPS_PROXY", f"http://{place}")
        monkeypatch.delenv("https_proxy", raising=False)
        with pytest.raises(EndpointStopped) as stopped:
            await bench.endpoint.chat(REQUEST)
        assert f"the proxy {place} (HTTPS_PROXY) makes no connection (HTTP {status}" in str(stopped.value)
        assert words in str(stopped.value)
        proxy.close()

    bench = Bench(server, base_url="https://judge.corp.example/v1", retries=1)
    run(bench, body())


# Certificates


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_certificates_that_are_not_there_stop_before_a_call(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str
) -> None:
    from judgenet.engine.transport import _ssl_context

    _ssl_context.cache_clear()
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(tmp_path / "no-such.pem"))
    bench = Bench(server, base_url=server.url.replace("http:", "https:"))
    failures = run(bench, bench.all(5))
    assert all(isinstance(failure, EndpointStopped) for failure in failures)
    assert server.requests == 0
    [told] = bench.states
    assert (told.state, str(failures[0])) == ("stopped", told.message)
    assert f"{variable} is set to {tmp_path / 'no-such.pem'}" in told.message
    if variable == "SSL_CERT_FILE":
        (tmp_path / "no-such.pem").write_text("no certificate")
        assert "holds no certificate" in str(fail(Bench(server, base_url="https://127.0.0.1:1")))
    _ssl_context.cache_clear()
