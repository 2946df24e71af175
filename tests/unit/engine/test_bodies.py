"""Answers that are too large, packed into little, nested too deeply, or blank without an end."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable

import httpx
import pytest

from judgenet.core.evaluation import ANSWERED, Reason, Unscored
from judgenet.core.reading import read_judgement
from judgenet.engine.bodies import MOST_BYTES
from judgenet.engine.client import HttpEndpoint
from judgenet.engine.ports import EndpointStopped
from tests.fakes.given_answers import GivenAnswers
from tests.fakes.judge_server import FAULTS, JudgeServer
from tests.unit.engine.test_client import REQUEST, Bench, ask, fail, run, server

__all__ = ["server"]


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "deflate, identity": raw_deflate,
    "gzip, deflate": lambda data: zlib.compress(gzip.compress(data)),
}


def answer(text: str) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).encode()


def event(text: str) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": {"content": text}}]}).encode() + b"\n\n"


class Sent(httpx.AsyncByteStream):
    def __init__(self, pieces: Callable[[], AsyncIterator[bytes]]) -> None:
        self._pieces = pieces

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces()


def behind(server: JudgeServer, respond: Callable[[], httpx.Response], **fields: object) -> Bench:
    """An endpoint that answers so."""
    bench = Bench(server, **fields)
    transport = GivenAnswers(respond)
    bench.endpoint = HttpEndpoint(bench.profile, key=lambda: "key", transport=transport, clock=bench.clock)
    return bench


@pytest.mark.parametrize("encoding", PACKERS)
def test_a_packed_answer_is_read(server: JudgeServer, encoding: str) -> None:
    packed = PACKERS[encoding](answer("Ja. " * 30_000))

    async def in_pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(packed), 100):
            yield packed[start : start + 100]

    headers = {"Content-Encoding": encoding}
    reply = ask(behind(server, lambda: httpx.Response(200, headers=headers, stream=Sent(in_pieces))))
    assert reply.text == "Ja. " * 30_000


@pytest.mark.parametrize("encoding", PACKERS)
def test_a_bomb_is_one_answer_that_is_too_large_and_takes_little_memory(server: JudgeServer, encoding: str) -> None:
    packed = PACKERS[encoding](answer("x" * (60 << 20)))
    headers = {"Content-Encoding": encoding}
    bench = behind(server, lambda: httpx.Response(200, headers=headers, stream=httpx.ByteStream(packed)))
    tracemalloc.start()
    try:
        reply = ask(bench)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * MOST_BYTES
    assert (reply.finish_reason, reply.attempts) == ("too_large", 1)
    assert len(reply.text) < 5000
    # Nobody knows what it cost: it counts with all that it was allowed.
    assert (reply.usage.completion, reply.usage.estimated) == (REQUEST.max_tokens, True)
    found = read_judgement(reply.text, finish_reason=reply.finish_reason)
    assert isinstance(found, Unscored)
    assert found.reason is Reason.TOO_LARGE
    assert Reason.TOO_LARGE in ANSWERED


@pytest.mark.parametrize("readable_first", [False, True])
def test_an_endpoint_whose_first_answers_are_all_too_large_is_stopped(
    server: JudgeServer, readable_first: bool
) -> None:
    """The answers are kept; after a readable one such answers say nothing of the others."""
    bodies = [answer("8, 7")] if readable_first else []
    large = gzip.compress(answer("x" * (9 << 20)))

    def respond() -> httpx.Response:
        if bodies:
            return httpx.Response(200, stream=httpx.ByteStream(bodies.pop()))
        return httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(large))

    bench = behind(server, respond)

    async def asked() -> list[str]:
        said = []
        for _ in range(5):
            try:
                said.append((await bench.endpoint.chat(REQUEST)).finish_reason)
            except EndpointStopped as stop:
                said.append(str(stop))
        return said

    first, *others = run(bench, asked())
    if readable_first:
        assert [first, *others] == ["stop", *4 * ["too_large"]]
        return
    assert [first, *others[:2]] == 3 * ["too_large"]
    assert others[2] == others[3]
    assert "the first 3 answers are larger than any answer of a model" in others[3]


def test_a_bomb_within_an_error_leaves_the_error_as_it_is(server: JudgeServer) -> None:
    packed = gzip.compress(b" " * (60 << 20))
    headers = {"Content-Encoding": "gzip"}
    failure = fail(
        behind(server, lambda: httpx.Response(413, headers=headers, content=None, stream=Sent(once(packed))))
    )
    assert failure.reason is Reason.CONTEXT_LENGTH


def once(data: bytes) -> Callable[[], AsyncIterator[bytes]]:
    async def pieces() -> AsyncIterator[bytes]:
        yield data

    return pieces


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip, gzip, gzip", "gzip"])
def test_what_cannot_be_unpacked_is_told(server: JudgeServer, encoding: str) -> None:
    headers = {"Content-Encoding": encoding}
    bench = behind(server, lambda: httpx.Response(200, headers=headers, stream=Sent(once(b"no such thing"))), retries=1)
    failure = fail(bench)
    assert failure.reason is Reason.SERVER_ERROR
    assert "packed" in str(failure)
    assert failure.attempts == 2


@pytest.mark.parametrize("kind", ["one event without an end", "pieces without an end", "blank pieces without an end"])
def test_a_stream_without_an_end_is_too_large(server: JudgeServer, kind: str) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        if kind == "one event without an end":
            yield b"data: "
        while True:
            long = " " * 65_536 if kind.startswith("blank") else "x" * 65_536
            yield long.encode() if kind == "one event without an end" else event(long)

    headers = {"Content-Type": "text/event-stream"}
    bench = behind(server, lambda: httpx.Response(200, headers=headers, stream=Sent(pieces)))
    tracemalloc.start()
    try:
        reply = run(bench, bench.endpoint.chat(REQUEST, lambda text: None))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reply.finish_reason == "too_large"
    assert peak < 6 * MOST_BYTES


@pytest.mark.parametrize("depth", [100, 300, 500, 700, 900, 1_000, 1_500, 200_000])
@pytest.mark.parametrize("place", ["body", "content", "event", "error"])
def test_what_is_nested_is_read_or_unreadable_and_never_a_fault_of_ours(
    server: JudgeServer, depth: int, place: str
) -> None:
    nest = b"[" * depth + b"]" * depth
    body = b'{"choices":[{"message":{"content":' + nest + b'},"finish_reason":"stop"}]}'
    if place == "body":
        body = b'{"choices":' + nest + b"}"
    if place == "event":
        body = b'data: {"choices":[{"delta":{"content":' + nest + b'},"finish_reason":"stop"}]}\n\n'
    status = 500 if place == "error" else 200
    headers = {"Content-Type": "text/event-stream" if place == "event" else "application/json"}
    bench = behind(server, lambda: httpx.Response(status, headers=headers, content=body), retries=0)
    if place == "error":
        assert fail(bench).reason is Reason.SERVER_ERROR
        return
    reply = run(bench, bench.endpoint.chat(REQUEST, (lambda text: None) if place == "event" else None))
    assert reply.finish_reason == "unreadable" or depth < 1_500
    found = read_judgement(reply.text, finish_reason=reply.finish_reason)
    assert isinstance(found, Unscored)
    assert found.reason in ANSWERED


@pytest.mark.parametrize("stream", [False, True])
def test_blanks_are_no_news(server: JudgeServer, stream: bool) -> None:
    """Without a stream as well: the deadline, minutes away, is not what ends it."""
    assert "blanks" in FAULTS
    server.set(faults={"blanks": 1.0}, hang_s=600.0)
    failure = fail(Bench(server, retries=0, deadline=600.0, idle_timeout=0.2), stream=stream)
    assert failure.reason is Reason.TIMEOUT
    assert "no news within 0.2 s" in str(failure)
