"""A transport that gives answers which a test made, in place of a connection."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping

import aiohttp
import httpx
from multidict import CIMultiDict
from yarl import URL


class GivenAnswer:
    """An answer that was made as a response of httpx."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = response.headers

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        stream = self._response.stream
        assert isinstance(stream, httpx.AsyncByteStream)
        async for piece in stream:
            yield piece

    async def aclose(self) -> None:
        await self._response.aclose()


class GivenAnswers:
    """Answers each request by a function of nothing (``judgenet.engine.transport.Transport``)."""

    def __init__(self, respond: Callable[[], httpx.Response]) -> None:
        self._respond = respond

    async def send(
        self,
        method: str,
        url: URL,
        headers: CIMultiDict[str],
        body: bytes | AsyncIterable[bytes] | None,
        within: aiohttp.ClientTimeout,
    ) -> GivenAnswer:
        return GivenAnswer(self._respond())

    async def aclose(self) -> None:
        pass
