"""The transport of requests: aiohttp, without redirects, cookies and unpacking, none of which are wanted here.

aiohttp is the only HTTP client of the program. Whatever sends requests asks a :class:`Transport`, which tests replace.
"""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import os
import ssl
import urllib.request
from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import urlsplit

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from multidict import CIMultiDict
from yarl import URL

if TYPE_CHECKING:
    from aiohttp.connector import Connection
    from aiohttp.http import RawResponseMessage


@functools.cache
def _ssl_context() -> ssl.SSLContext:
    # Loading the certificates takes tens of milliseconds: once, for all endpoints. Honours SSL_CERT_FILE, SSL_CERT_DIR.
    named = next((name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(name)), None)
    try:
        if named is not None and not Path(os.environ[named]).exists():
            raise FileNotFoundError("there is no such file or folder")
        # Loaded where an address is https: an endpoint on this computer needs none of it.
        from httpx import create_ssl_context

        return create_ssl_context()
    except OSError as error:
        if named is None:
            raise
        problem = "it holds no certificate" if isinstance(error, ssl.SSLError) else (error.strerror or str(error))
        raise ValueError(
            f"{named} is set to {os.environ[named]}, which cannot be used ({problem}). Set {named} to a file of "
            "certificates, or unset it"
        ) from None


class Proxy(NamedTuple):
    """A proxy and where it is asked for: the name of a variable, or "the system's settings"."""

    url: str
    source: str

    def __str__(self) -> str:
        """As messages name it, without name and password."""
        return f"the proxy {urlsplit(self.url).netloc.rpartition('@')[2]} ({self.source})"


def environment_proxy(url: str) -> Proxy | None:
    """The proxy that environment or system ask for (HTTPS_PROXY, NO_PROXY …); never one for this machine itself.

    :raises ValueError: for a kind of proxy that cannot be used.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if _is_local(host):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or urllib.request.proxy_bypass(host):
        return None
    wanted = [name for kind in (parts.scheme, "all") for name in (f"{kind}_proxy", f"{kind.upper()}_PROXY")]
    source = next((name for name in wanted if os.environ.get(name) == proxy), "the system's settings")
    if "://" not in proxy:
        return Proxy(f"http://{proxy}", source)
    if not proxy.startswith(("http://", "https://")):
        kind = proxy.partition("://")[0]
        raise ValueError(f"{source} asks for a {kind} proxy; only HTTP proxies can be used")
    return Proxy(proxy, source)


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class HttpAnswer(Protocol):
    """An answer whose status and headers are in."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Names in upper or lower case are the same."""
        ...

    def pieces(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes, as it was packed."""
        ...

    async def aclose(self) -> None:
        """Frees the connection, or ends it where the body was not read to its end."""
        ...


class Transport(Protocol):
    """What sends requests and brings their answers. Redirects are answers; nothing is unpacked."""

    async def send(
        self,
        method: str,
        url: URL,
        headers: CIMultiDict[str],
        body: bytes | AsyncIterable[bytes] | None,
        within: aiohttp.ClientTimeout,
    ) -> HttpAnswer:
        """Sends a request.

        :raises aiohttp.ClientError: no answer came; those of them that are a ``TimeoutError`` too ran into ``within``.
        :raises OSError: the connection broke.
        """
        ...

    async def aclose(self) -> None:
        """Closes all connections."""
        ...


class AiohttpAnswer:
    """An answer of aiohttp's."""

    __slots__ = ("_response", "headers", "status")

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status: int = response.status
        self.headers: Mapping[str, str] = response.headers

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes, as it was packed."""
        content = self._response.content
        while piece := await content.readany():
            yield piece

    async def aclose(self) -> None:
        """Frees the connection, or ends it where the body was not read to its end."""
        self._response.release()
        await self._response.wait_for_close()


class DirectAnswer:
    """An answer that is read from a connection of aiohttp without its session."""

    __slots__ = ("_connection", "_content", "headers", "status")

    def __init__(self, connection: Connection, message: RawResponseMessage, content: aiohttp.StreamReader) -> None:
        self._connection = connection
        self._content = content
        self.status: int = message.code
        self.headers: Mapping[str, str] = message.headers

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes, as it was packed."""
        while piece := await self._content.readany():
            yield piece

    async def aclose(self) -> None:
        """Frees the connection, or ends it where the body was not read to its end."""
        _give_back(self._connection)


def _give_back(connection: Connection) -> None:
    transport = connection.transport
    if transport is not None and transport.get_write_buffer_size():
        # The answer came before the request was sent whole: the rest of it would precede the next request.
        connection.close()
    else:
        connection.release()  # aiohttp closes it if the answer was not read to its end.


_BY_SESSION = ("connection", "content-length", "expect", "host", "transfer-encoding")
"""Headers that change how a request is sent; requests with one of them are left to aiohttp's session."""


_DIRECT = aiohttp.__version__.startswith("3.14.")
"""Whether requests may go to aiohttp's connections without its session. What that takes (``connect``,
``set_response_params``, ``read``) is not part of its public interface, so that only the version that it was tried with
is used so; with any other one the session sends all requests, at a higher price in CPU."""


def _is_usual(url: URL, headers: CIMultiDict[str]) -> bool:
    """Whether a request to this address with these headers needs nothing of aiohttp's session."""
    plain = url.scheme in ("http", "https") and bool(url.raw_host) and url.raw_user is None and not url.raw_password
    return plain and not any(name in headers for name in _BY_SESSION)


class _Route:
    """The connection target of an address, and the head that all requests to it share: everything up to the value of
    Content-Length.

    :raises ValueError: a header contains a line break, which would begin another header.
    """

    __slots__ = ("head", "headers", "target")

    def __init__(self, url: URL, headers: CIMultiDict[str]) -> None:
        self.target = aiohttp.ClientRequest("POST", url, loop=asyncio.get_running_loop())
        self.headers = headers
        lines = [f"POST {url.raw_path_qs} HTTP/1.1", f"Host: {url.host_port_subcomponent}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if any(sign in line for line in lines for sign in "\r\n\0"):
            raise ValueError("a header holds a line break or a null character")
        self.head = ("\r\n".join(lines) + "\r\nContent-Length: ").encode()


class AiohttpTransport:
    """Sends requests by aiohttp, by a proxy where there is one. Must be made on the loop that uses it.

    It sets no limit of connections: the limiter does, and a second queue behind it would count its waiting as latency.

    The usual request, a POST with a body and without a proxy, is written directly to a connection of aiohttp: the
    session would make a request, a writer, a task and a response object for it, which takes a tenth of a call's CPU
    time. Name resolution, certificates, the pool of connections and the parsing of answers are aiohttp's in both cases.
    """

    def __init__(self, context: ssl.SSLContext | None, proxy: str | None) -> None:
        self._connector = aiohttp.TCPConnector(limit=0, ssl=True if context is None else context, ttl_dns_cache=300)
        self._session = aiohttp.ClientSession(
            connector=self._connector, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False
        )
        self._routes: dict[URL, _Route] = {}
        self._by_proxy: dict[str, Any] = {}
        self._login: dict[str, str] = {}
        if proxy is not None:
            address = URL(proxy)
            self._by_proxy["proxy"] = address.with_user(None)
            if address.user is not None:
                login = aiohttp.encode_basic_auth(address.user, address.password or "")
                self._login = {"Proxy-Authorization": login}
                self._by_proxy["proxy_headers"] = self._login

    async def send(
        self,
        method: str,
        url: URL,
        headers: CIMultiDict[str],
        body: bytes | AsyncIterable[bytes] | None,
        within: aiohttp.ClientTimeout,
    ) -> HttpAnswer:
        """As :meth:`Transport.send`."""
        if method == "POST" and isinstance(body, bytes) and (route := self._route(url, headers)) is not None:
            return await self._post(route, body, within)
        if self._login and url.scheme == "http":
            # Without a tunnel the proxy reads the request itself.
            headers = headers.copy()
            headers.update(self._login)
        response = await self._session.request(
            method, url, headers=headers, data=body, allow_redirects=False, timeout=within, **self._by_proxy
        )
        return AiohttpAnswer(response)

    def _route(self, url: URL, headers: CIMultiDict[str]) -> _Route | None:
        """The route of a request that does not need aiohttp's session; ``None`` for one that does."""
        route = self._routes.get(url)
        if route is None or route.headers is not headers:
            if not _DIRECT or self._by_proxy or not _is_usual(url, headers):
                return None
            route = self._routes[url] = _Route(url, headers)
        return route

    async def _post(self, route: _Route, body: bytes, within: aiohttp.ClientTimeout) -> DirectAnswer:
        content = b"%b%d\r\n\r\n%b" % (route.head, len(body), body)
        try:
            connection = await self._connector.connect(route.target, traces=[], timeout=within)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError(f"no connection to {route.target.url.host} in time") from error
        try:
            protocol = connection.protocol
            if protocol is None or protocol.transport is None:
                raise aiohttp.ClientConnectionResetError("the connection is closed")
            protocol.set_response_params(read_until_eof=True, auto_decompress=False)
            protocol.transport.write(content)
            message, answer = await protocol.read()
            while 100 <= message.code < 200 and message.code != 101:
                message, answer = await protocol.read()
        except HttpProcessingError as error:
            connection.close()
            raise aiohttp.ClientPayloadError(f"no HTTP answer ({error.message})") from error
        except BaseException:
            connection.close()
            raise
        return DirectAnswer(connection, message, answer)

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._session.close()


def open_transport(url: str) -> tuple[Transport, Proxy | None]:
    """A transport for endpoints at ``url``, and the proxy that it goes through.

    :raises ValueError: the environment names certificates or a proxy that cannot be used; the message says which.
    """
    context = _ssl_context() if urlsplit(url).scheme == "https" else None
    proxy = environment_proxy(url)
    return AiohttpTransport(context, None if proxy is None else proxy.url), proxy
