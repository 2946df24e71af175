"""One request to an endpoint and its result: an answer, or a fault with its reason and a message."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson
from multidict import CIMultiDict
from yarl import URL

from judgenet.core.documents import well_formed
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.evaluation import Reason
from judgenet.core.keys import without_keys
from judgenet.core.probabilities import PROBABILITIES, SCORES
from judgenet.core.reasoning import thinking_tokens
from judgenet.engine import bodies, limits
from judgenet.engine.bodies import MOST_BYTES, MOST_ERROR_BYTES, Packed, TooLarge
from judgenet.engine.ports import ChatRequest, OnText
from judgenet.engine.providers import common, errors
from judgenet.engine.providers.common import AnswerBuilder, NotAnAnswer, Provider, TooDeep
from judgenet.engine.providers.errors import Fault
from judgenet.engine.providers.sse import EventReader
from judgenet.engine.transport import HttpAnswer, Proxy, Transport, open_transport

_AFTER_FINISH = 5.0
_AFTER_DONE = 0.25
"""Seconds to wait for the rest of a stream whose answer is whole: after the reason why it ended the usage
still comes, after the last event the end of the body, so that the connection can be used again."""

_WITH_TOKENS = 8
"""How many times larger an answer with token probabilities may be; its text may not."""

_MESSAGE_CHARS = 300


@dataclass(frozen=True, slots=True)
class ExchangeResult:
    """A whole answer, and the seconds from sending the request to its last byte."""

    answer: AnswerBuilder
    latency_s: float


_SLOW_THINKING = 20.0
"""Tokens a second: the pace that is assumed for a model that thinks and sends nothing meanwhile."""


def longest_silence(request: ChatRequest, profile: EndpointProfile) -> float:
    """The longest silence within an answer, in seconds. Some endpoints send nothing while a model thinks."""
    thinking = thinking_tokens(request.more.get("reasoning")) / _SLOW_THINKING
    return max(profile.idle_timeout, min(thinking, profile.deadline))


class _Wait:
    """How long an answer is waited for, in seconds from entering it: until its deadline; once the endpoint was heard
    (:meth:`news`), only as long as silence may last. What is awaited within is cancelled then.

    Its timer is not moved with the news but looks, when it goes off, whether there were any: mostly a call needs one.

    :raises TimeoutError: on leaving it, when time ran out.
    """

    def __init__(self, deadline: float, idle: float) -> None:
        self._deadline = deadline
        self._idle = idle
        self._expired = False

    def __enter__(self) -> _Wait:
        task = asyncio.current_task()
        assert task is not None
        self._task, self._cancelling = task, task.cancelling()
        self._loop = asyncio.get_running_loop()
        began = self._loop.time()
        self._until = self._ends = began + self._deadline
        self._timer = self._loop.call_at(began + min(self._idle, self._deadline), self._look)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._timer.cancel()
        # As in asyncio.timeout: a cancellation from elsewhere goes on as one.
        if self._expired and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def news(self) -> None:
        """Something of the answer came."""
        self._until = min(self._ends, self._loop.time() + self._idle)

    def last(self, seconds: float) -> None:
        """Waits at most ``seconds`` from now on."""
        self._until = min(self._ends, self._loop.time() + seconds)
        self._timer.cancel()
        self._timer = self._loop.call_at(self._until, self._look)

    def _look(self) -> None:
        if self._loop.time() < self._until:
            self._timer = self._loop.call_at(self._until, self._look)
        else:
            self._expired = True
            self._task.cancel()


class Exchange:
    """Sends requests to one endpoint and reads what comes back, within the profile's times.

    ``headers`` must be set before the first request. ``secret`` is kept out of all messages.
    """

    def __init__(self, profile: EndpointProfile, provider: Provider, transport: Transport | None = None) -> None:
        self.headers: CIMultiDict[str] | None = None
        self.secret = ""
        self._profile = profile
        self._provider = provider
        self._transport = transport
        self._own_transport = transport is None
        self._proxy: Proxy | None = None
        self._host = urlsplit(provider.url(profile.model or "model", False)).netloc
        self._urls: dict[tuple[str, bool], URL] = {}
        self._timeout = aiohttp.ClientTimeout(sock_connect=profile.connect_timeout)

    def set_key(self, key: str) -> None:
        """Takes the API key, empty for none, and prepares the headers of all requests."""
        self.secret = key
        headers = {
            "Accept": "*/*",
            # A short answer gains nothing by compression, and a stream is held back by it.
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "User-Agent": "judgenet",
            **self._provider.headers(key or None),
            **dict(self._profile.headers),
        }
        self.headers = CIMultiDict(headers)

    async def close(self) -> None:
        """Closes the connections, unless the transport was given."""
        if self._own_transport and self._transport is not None:
            await self._transport.aclose()
            self._transport = None

    async def send(
        self, request: ChatRequest, learned: Mapping[str, Any], on_text: OnText | None = None
    ) -> ExchangeResult | Fault:
        """Sends one request. ``on_text`` asks for a stream. Cancelling closes the connection at once."""
        stream = on_text is not None
        content = encoded(self._provider.body(request, learned, stream))
        url = self._urls.get((request.model, stream))
        if url is None:
            url = self._urls[request.model, stream] = URL(self._provider.url(request.model, stream))
        if self._transport is None:
            try:
                self._transport, self._proxy = open_transport(str(url))
            except ValueError as error:
                return Fault("stop", Reason.NETWORK, self.say(str(error), ""))
        answer = AnswerBuilder(asked_pictures=bool(request.pictures))
        fault: Fault | None
        started = time.perf_counter()
        deadline = self._profile.deadline
        response: HttpAnswer | None = None
        try:
            with _Wait(deadline, longest_silence(request, self._profile)) as wait:
                if stream:
                    wait.news()
                assert self.headers is not None
                response = await self._transport.send("POST", url, self.headers, content, self._timeout)
                # From here on the endpoint answers: silence is measured, however the answer comes.
                wait.news()
                if on_text is not None and response.status == 200 and not _is_json(response):
                    fault = await self._read_stream(response, answer, on_text, wait)
                else:
                    fault = await self._read_whole(response, answer, request, learned, on_text, wait)
        except aiohttp.ServerTimeoutError as error:
            # No connection in time: not the time that an answer is waited for.
            fault = None if answer.ended else self._broken(error)
        except TimeoutError:
            fault = None if answer.ended else self._timed_out(time.perf_counter() - started < deadline)
        except TooLarge:
            answer.give_up("too_large")
            fault = None
        except Packed as problem:
            fault = Fault("retry", Reason.SERVER_ERROR, self.say(f"the answer is {problem}", ""))
        except (aiohttp.ClientError, OSError) as error:
            fault = None if answer.ended else self._broken(error)
        finally:
            if response is not None:
                with suppress(aiohttp.ClientError, OSError):
                    await response.aclose()
        return fault if fault is not None else ExchangeResult(answer, time.perf_counter() - started)

    async def get(self, address: str) -> object | Fault:
        """Reads the JSON at an address of the endpoint, such as its list of models."""
        if self._transport is None:
            try:
                self._transport, self._proxy = open_transport(address)
            except ValueError as error:
                return Fault("stop", Reason.NETWORK, self.say(str(error), ""))
        content = bytearray()
        response: HttpAnswer | None = None
        try:
            with _Wait(self._profile.deadline, self._profile.idle_timeout) as wait:
                wait.news()
                assert self.headers is not None
                response = await self._transport.send("GET", URL(address), self.headers, None, self._timeout)
                await _take(response, content, MOST_BYTES, wait)
        except aiohttp.ServerTimeoutError as error:
            return self._broken(error)
        except TimeoutError:
            return self._timed_out(True)
        except Packed as problem:
            return Fault("stop", Reason.SERVER_ERROR, self.say(f"the answer is {problem}", ""))
        except (aiohttp.ClientError, OSError) as error:
            return self._broken(error)
        finally:
            if response is not None:
                with suppress(aiohttp.ClientError, OSError):
                    await response.aclose()
        if not 200 <= response.status < 300:
            info = errors.error_info(bytes(content))
            fault = errors.classify(response.status, info, None)
            what = f"HTTP {response.status}" + (f": {info.message}" if info.message else "")
            return replace(fault, text=self.say(what, fault.text))
        try:
            parsed: object = common.parse_json(bytes(content[:MOST_BYTES]))
            return parsed
        except (ValueError, RecursionError):
            words = errors.error_info(bytes(content)).message or "an empty body"
            return Fault("stop", Reason.SERVER_ERROR, self.say(f"the answer is no JSON: {words}", ""))

    def read(self, content: bytes, latency_s: float) -> ExchangeResult | Fault:
        """Reads the body of a successful answer that came another way, such as in the results of a batch."""
        answer = AnswerBuilder()
        fault = self._read_body(content, answer, None)
        return ExchangeResult(answer, latency_s) if fault is None else fault

    # Reading

    async def _read_stream(
        self, response: HttpAnswer, answer: AnswerBuilder, on_text: OnText, wait: _Wait
    ) -> Fault | None:
        """Reads events until the answer is whole. Silence is measured between words, not between bytes: comments, blank
        pieces and events without any text keep a connection alive and say nothing.

        :raises TooLarge: it is more than an answer can be.
        """
        reader = self._provider.stream_reader()
        some = False
        size = 0
        async with aclosing(bodies.pieces(response)) as pieces:
            async for piece in pieces:
                before = answer.said()
                events = reader.feed(piece)
                some = some or bool(events)
                fault = self._take_events(events, answer, on_text)
                if fault is not None:
                    return fault
                if answer.ended:
                    # What comes now is at most the usage and the end of the body.
                    wait.last(_AFTER_DONE if any(data == b"[DONE]" for _, data in events) else _AFTER_FINISH)
                new = answer.news(before)
                if not answer.ended and new and not new.isspace():
                    wait.news()
                size += len(new)
                if max(size, reader.held) > MOST_BYTES:
                    raise TooLarge
        events = reader.close()
        fault = self._take_events(events, answer, on_text)
        if fault is not None:
            return fault
        if not some and not events:
            return self._read_body(reader.stray, answer, on_text)
        if not answer.ended:
            return Fault("retry", Reason.NETWORK, self.say("the stream ended within the answer", ""))
        return None

    def _take_events(
        self, events: list[tuple[str, bytes]], answer: AnswerBuilder, on_text: OnText | None
    ) -> Fault | None:
        """Takes events in; returns the error that one of them reports."""
        try:
            return self._take_each(events, answer, on_text)
        except (TooDeep, RecursionError):
            answer.give_up("unreadable")
            return None

    def _take_each(
        self, events: list[tuple[str, bytes]], answer: AnswerBuilder, on_text: OnText | None
    ) -> Fault | None:
        for event, data in events:
            if data == b"[DONE]":
                answer.ended = True
                continue
            try:
                parsed = common.parse_json(data)
            except TooDeep:
                raise
            except ValueError:
                lines = data.split(b"\n")
                if len(lines) > 1:
                    # Some servers leave out the empty line between two events.
                    fault = self._take_each([(event, line) for line in lines if line], answer, on_text)
                    if fault is not None:
                        return fault
                    continue
                parsed = None
            if not isinstance(parsed, dict):
                what = "an event of the stream is no JSON object"
                return Fault("retry", Reason.SERVER_ERROR, self.say(what, ""))
            if error := _error_in(parsed, event):
                return self._told_error(error, answer)
            text = self._provider.read_event(answer, event, parsed)
            if text and on_text is not None:
                on_text(text)
        return None

    async def _read_whole(
        self,
        response: HttpAnswer,
        answer: AnswerBuilder,
        request: ChatRequest,
        learned: Mapping[str, Any],
        on_text: OnText | None,
        wait_for: _Wait,
    ) -> Fault | None:
        status, headers = response.status, response.headers
        content = bytearray()
        if 200 <= status < 300:
            # Alternatives of tokens take some 2,000 bytes a token.
            most = MOST_BYTES * (_WITH_TOKENS if request.more.get(SCORES) == PROBABILITIES else 1)
            await _take(response, content, most, wait_for)
            if len(content) > most:
                answer.give_up("too_large", content[: common.KEPT_CHARS].decode("utf-8", "replace"))
                return None
            return self._read_body(bytes(content), answer, on_text)
        # The status says what went wrong; the body may say more, and need not come whole.
        with suppress(Packed, TimeoutError):
            async with asyncio.timeout(self._profile.idle_timeout):
                await _take(response, content, MOST_ERROR_BYTES, wait_for)
        info = errors.error_info(bytes(content))
        now = time.time()
        wait = limits.retry_after(headers, now)
        if wait is None and status in (429, 503):
            wait = errors.stated_wait(info)
        if wait is None and status == 429:
            hint = limits.reset_hint(headers, now)
            wait = min(hint, limits.BACKOFF_CAP) if hint is not None else None
        fault = errors.classify(
            status,
            info,
            wait,
            self._provider.sent(request, learned, on_text is not None),
            self._provider.parameters,
            request.schema.schema if request.schema is not None else None,
            bool(request.pictures),
        )
        what = f"HTTP {status}"
        if 300 <= status < 400 and (place := headers.get("location")):
            what += f": redirect to {place.partition('?')[0]}"
        elif info.message:
            what += f": {info.message}"
        return replace(fault, text=self.say(what, fault.text))

    def _read_body(self, content: bytes, answer: AnswerBuilder, on_text: OnText | None) -> Fault | None:
        """Takes the body of a successful answer in."""
        try:
            return self._read_json(content, answer, on_text)
        except (TooDeep, RecursionError):
            answer.give_up("unreadable", content[: common.KEPT_CHARS].decode("utf-8", "replace"))
            return None

    def _read_json(self, content: bytes, answer: AnswerBuilder, on_text: OnText | None) -> Fault | None:
        try:
            data = common.parse_json(content)
        except TooDeep:
            raise
        except ValueError:
            return self._read_other(content, answer, on_text)
        if not isinstance(data, dict):
            what = f"the answer is JSON, but a {type(data).__name__} and no object"
            return Fault("retry", Reason.SERVER_ERROR, self.say(what, ""))
        if error := _error_in(data, ""):
            return self._told_error(error, answer)
        try:
            self._provider.read(answer, data)
        except NotAnAnswer as problem:
            return Fault("retry", Reason.SERVER_ERROR, self.say(f"the answer is {problem}", ""))
        if sum(map(len, answer.text)) > MOST_BYTES:
            answer.give_up("too_large")
        if on_text is not None and answer.text:
            on_text("".join(answer.text))
        return None

    def _read_other(self, content: bytes, answer: AnswerBuilder, on_text: OnText | None) -> Fault | None:
        """Some servers stream whatever was asked for. Anything else that is no JSON is no answer."""
        reader = self._provider.stream_reader()
        if content.lstrip()[:6].startswith((b"data:", b"event:", b":") if isinstance(reader, EventReader) else b"{"):
            fault = self._take_events(reader.feed(content) + reader.close(), answer, on_text)
            if fault is not None or answer.ended:
                return fault
        words = errors.error_info(content).message or "an empty body"
        advice = "If all calls bring that, check the base URL."
        return Fault("retry", Reason.SERVER_ERROR, self.say(f"the answer is no JSON: {words}", advice))

    # Faults

    def _told_error(self, error: dict[str, Any], answer: AnswerBuilder) -> Fault:
        """An error that came with the status of success."""
        info = errors.error_of(error)
        status = info.status or 500
        wait = errors.stated_wait(info) if status == 429 else None
        fault = errors.classify(status, info, wait, pictures=answer.asked_pictures)
        return replace(fault, text=self.say(f"an error instead of an answer: {info.message}", fault.text))

    def _timed_out(self, idle: bool) -> Fault:
        if idle:
            what, advice = f"no news within {self._profile.idle_timeout:g} s", "A larger idle_timeout waits longer."
        else:
            what, advice = f"no answer within {self._profile.deadline:g} s", "A larger deadline waits longer."
        return Fault("retry", Reason.TIMEOUT, self.say(what, advice))

    def _broken(self, cause: Exception) -> Fault:
        """A connection that was not made, or broke."""
        if isinstance(cause, aiohttp.ClientConnectorCertificateError):
            what = f"its certificate is not trusted ({cause.certificate_error})"
            return Fault("stop", Reason.NETWORK, self.say(what, "Set SSL_CERT_FILE to a file with the certificate."))
        if isinstance(cause, aiohttp.ClientHttpProxyError):
            return self._proxy_refused(cause.status, cause.message)
        if isinstance(cause, aiohttp.ClientConnectorError | TimeoutError):
            if self._proxy is not None:
                # Whatever the address: it is the proxy that is connected to.
                why = cause.os_error if isinstance(cause, aiohttp.ClientConnectorError) else "no answer in time"
                what = f"{self._proxy} is not reached ({why})"
                advice = f"Set {self._proxy.source} right, or name this host in NO_PROXY to go without a proxy."
                return Fault("unreachable", Reason.NETWORK, self._say(what, advice))
            what = f"not reached within {self._profile.connect_timeout:g} s"
            if isinstance(cause, aiohttp.ClientConnectorError):
                what = f"not reached ({cause.os_error})"
            return Fault("unreachable", Reason.NETWORK, self.say(what, "Is the server running?"))
        return Fault("retry", Reason.NETWORK, self.say(f"the connection broke ({type(cause).__name__})", ""))

    def _proxy_refused(self, status: int, words: str) -> Fault:
        """The proxy makes no connection."""
        what = f"{self._proxy or 'the proxy'} makes no connection (HTTP {status} {words})"
        if status == 407:
            advice = "It needs a name and a password. In the variable, write NAME:PASSWORD@ before the host."
            return Fault("stop", Reason.NETWORK, self._say(what, advice), status)
        if status in (502, 503, 504):
            return Fault("unreachable", Reason.NETWORK, self._say(what, "Is the endpoint's server running?"), status)
        return Fault("stop", Reason.NETWORK, self._say(what, "Does the proxy allow this host?"), status)

    def say(self, what: str, advice: str) -> str:
        """A message: which endpoint, what happened, what to do; and by which proxy, where there is one."""
        return self._say(what if self._proxy is None else f"by {self._proxy}: {what}", advice)

    def _say(self, what: str, advice: str) -> str:
        return f"{self._profile.name} ({self._host}): {self._clean(what).rstrip('.')}. {advice}".rstrip()

    def _clean(self, text: str) -> str:
        """A text of the server's for a message: one line, short, without the key or what looks like one."""
        key = self.secret
        text = " ".join(text[:8192].split())
        if key:
            text = text.replace(key, "[key]")
            if len(key) >= 12:
                # Servers repeat a key with its middle starred out or its end cut off.
                text = re.sub(rf"{re.escape(key[:6])}[\w.*…-]*", "[key]", text)
        text = without_keys(text, "[key]")
        return text if len(text) <= _MESSAGE_CHARS else text[: _MESSAGE_CHARS - 1] + "…"


def _is_json(response: HttpAnswer) -> bool:
    kind: str = response.headers.get("content-type", "")
    return kind.startswith("application/json")


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def encoded(body: object) -> bytes:
    """A request's body as the bytes that are sent."""
    try:
        return orjson.dumps(body)
    except TypeError:
        # Lone surrogates, and whole numbers of more than 64 bits.
        text = _ENCODER.encode(body)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        # Lone surrogates have no UTF-8; servers refuse them also as escapes.
        return well_formed(text).encode("utf-8")


async def _take(response: HttpAnswer, content: bytearray, most: int, wait: _Wait) -> None:
    """Takes the body in until there is more than ``most`` of it."""
    async with aclosing(bodies.pieces(response)) as pieces:
        async for piece in pieces:
            content += piece
            if len(content) > most:
                return
            if not piece.isspace():
                wait.news()


def _error_in(data: dict[str, Any], event: str) -> dict[str, Any] | None:
    """The error that a body or event with the status of success reports, if any."""
    if data.get("error") or event == "error" or data.get("type") == "error" or data.get("object") == "error":
        return data
    choices = data.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict) and choices[0].get("error"):
        return {"error": choices[0]["error"]}
    return None
