"""The transport of requests: httpx over aiohttp, without ``httpx.AsyncClient`` around it.

The client would add redirects, cookies and authentication, none of which are wanted here, at a price per call.
"""

from __future__ import annotations

import functools
import ipaddress
import os
import ssl
import urllib.request
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport


@functools.cache
def _ssl_context() -> ssl.SSLContext:
    # Loading the certificates takes tens of milliseconds: once, for all endpoints. Honours SSL_CERT_FILE, SSL_CERT_DIR.
    named = next((name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(name)), None)
    try:
        if named is not None and not Path(os.environ[named]).exists():
            raise FileNotFoundError("there is no such file or folder")
        return httpx.create_ssl_context()
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


def open_transport(url: str) -> tuple[AiohttpTransport, Proxy | None]:
    """A transport for endpoints at ``url``, and the proxy that it goes through.

    It sets no limit of connections: the limiter does, and a second queue behind it would count its waiting as latency.

    :raises ValueError: the environment names certificates or a proxy that cannot be used; the message says which.
    """
    secure = urlsplit(url).scheme == "https"
    context: ssl.SSLContext | bool = _ssl_context() if secure else False
    proxy = environment_proxy(url)

    def session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=0, ssl=context if secure else True, ttl_dns_cache=300)
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

    transport = AiohttpTransport(verify=context, client=session, proxy=httpx.Proxy(proxy.url) if proxy else None)
    return transport, proxy
