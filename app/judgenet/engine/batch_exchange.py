"""Requests about batches: JSON in and out, uploads and result files of hundreds of megabytes, piece by piece."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any, Final

import aiohttp
from yarl import URL

from judgenet.core.evaluation import Reason
from judgenet.engine import bodies, limits
from judgenet.engine.bodies import MOST_BYTES, MOST_ERROR_BYTES, Packed
from judgenet.engine.exchange import Exchange
from judgenet.engine.providers import common, errors
from judgenet.engine.providers.errors import Fault
from judgenet.engine.transport import HttpAnswer, open_transport

_BROKEN = (aiohttp.ClientError, OSError)
_LONGEST_S: Final = 3600.0
"""How long an upload or a result file may take."""


class BatchFault(Exception):
    """A failed request about a batch. ``sent`` is false where it cannot have reached the endpoint."""

    def __init__(self, fault: Fault, *, sent: bool = True) -> None:
        super().__init__(fault.text)
        self.fault = fault
        self.sent = sent


class Upload:
    """A body that is made while it is sent. ``size`` is in bytes."""

    def __init__(self, pieces: Callable[[], Iterable[bytes]], size: int) -> None:
        self._pieces = pieces
        self.size = size

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces():
            yield piece


class BatchExchange(Exchange):
    """Makes requests about batches to one endpoint. ``set_key`` must be called first."""

    async def ask(
        self,
        method: str,
        address: str,
        body: Mapping[str, Any] | Upload | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Sends a request and returns the JSON object that answers it, with the headers under ``headers``.

        :raises BatchFault: it failed, or the answer is no JSON object.
        """
        response = await self._open(method, address, body, headers)
        try:
            content = await self._whole(response, MOST_BYTES)
        finally:
            await _closed(response)
        try:
            data = common.parse_json(content) if content.strip() else {}
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            words = errors.error_info(content).message
            raise BatchFault(Fault("retry", Reason.SERVER_ERROR, self.say(f"the answer is no JSON: {words}", "")))
        return {**data, "headers": {name.lower(): value for name, value in response.headers.items()}}

    async def lines(self, address: str) -> AsyncIterator[bytes]:
        """The lines of a file of results, as they come.

        :raises BatchFault: it failed, or broke off.
        """
        response = await self._open("GET", address, None, None)
        try:
            rest = bytearray()
            async with aclosing(bodies.pieces(response)) as pieces:
                while True:
                    async with asyncio.timeout(self._profile.idle_timeout):
                        piece = await anext(pieces, None)
                    if piece is None:
                        break
                    rest += piece
                    *whole, last = rest.split(b"\n")
                    rest = bytearray(last)
                    for line in whole:
                        if line.strip():
                            yield bytes(line)
            if rest.strip():
                yield bytes(rest)
        except TimeoutError as error:
            raise BatchFault(self._timed_out(True)) from error
        except Packed as problem:
            raise BatchFault(
                Fault("retry", Reason.SERVER_ERROR, self.say(f"the results are {problem}", ""))
            ) from problem
        except _BROKEN as error:
            raise BatchFault(self._broken(error)) from error
        finally:
            await _closed(response)

    async def _open(
        self,
        method: str,
        address: str,
        body: Mapping[str, Any] | Upload | None,
        headers: Mapping[str, str] | None,
    ) -> HttpAnswer:
        """Sends a request; its answer has a status of success."""
        if self._transport is None:
            try:
                self._transport, self._proxy = open_transport(address)
            except ValueError as error:
                raise BatchFault(Fault("stop", Reason.NETWORK, self.say(str(error), "")), sent=False) from None
        assert self.headers is not None
        sent = self.headers.copy()
        sent.update(headers or {})
        content: bytes | Upload | None = None
        if isinstance(body, Upload):
            sent["Content-Length"] = str(body.size)
            content = body
        elif body is not None:
            content = json.dumps(body).encode()
        try:
            async with asyncio.timeout(_LONGEST_S if isinstance(body, Upload) else self._profile.deadline):
                response = await self._transport.send(method, URL(address), sent, content, self._timeout)
        except aiohttp.ConnectionTimeoutError as error:
            raise BatchFault(self._broken(error), sent=False) from error
        except TimeoutError as error:
            raise BatchFault(self._timed_out(False)) from error
        except _BROKEN as error:
            fault = self._broken(error)
            raise BatchFault(fault, sent=fault.action != "unreachable") from error
        if 200 <= response.status < 300:
            return response
        content = b""
        try:
            with suppress(BatchFault):
                content = await self._whole(response, MOST_ERROR_BYTES)
        finally:
            await _closed(response)
        raise BatchFault(self._fault_of(response, content))

    async def _whole(self, response: HttpAnswer, most: int) -> bytes:
        content = bytearray()
        try:
            async with asyncio.timeout(self._profile.idle_timeout), aclosing(bodies.pieces(response)) as pieces:
                async for piece in pieces:
                    content += piece
                    if len(content) > most:
                        break
        except TimeoutError as error:
            raise BatchFault(self._timed_out(True)) from error
        except Packed as problem:
            raise BatchFault(Fault("retry", Reason.SERVER_ERROR, self.say(f"the answer is {problem}", ""))) from problem
        except _BROKEN as error:
            raise BatchFault(self._broken(error)) from error
        return bytes(content)

    def _fault_of(self, response: HttpAnswer, content: bytes) -> Fault:
        status, now = response.status, time.time()
        info = errors.error_info(content)
        wait = limits.retry_after(response.headers, now)
        if wait is None and status in (429, 503):
            wait = errors.stated_wait(info)
        fault = errors.classify(status, info, wait)
        what = f"HTTP {status}" + (f": {info.message}" if info.message else "")
        return replace(fault, text=self.say(what, fault.text))


async def _closed(response: HttpAnswer) -> None:
    with suppress(*_BROKEN):
        await response.aclose()
