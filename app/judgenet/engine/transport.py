"""The transport of requests: httpx over aiohttp, without ``httpx.AsyncClient`` around it.

The client would add redirects, cookies and authentication, none of which are wanted here, at a price per call.
"""

from __future__ import annotations

import functools
import ipaddress
import ssl
import urllib.request
from urllib.parse import urlsplit

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport


@functools.cache
def _ssl_context() -> ssl.SSLContext:
    # Loading the certificates takes tens of milliseconds: once, for all endpoints. Honours SSL_CERT_FILE.
    return httpx.create_ssl_context()


def environment_proxy(url: str) -> str | None:
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
    if "://" not in proxy:
        return f"http://{proxy}"
    if not proxy.startswith(("http://", "https://")):
        kind = proxy.partition("://")[0]
        raise ValueError(f"the environment asks for a {kind} proxy; only HTTP proxies can be used")
    return proxy


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def open_transport(url: str) -> AiohttpTransport:
    """A transport for endpoints at ``url``. It sets no limit of connections: the limiter does, and a second
    queue behind it would count its waiting as latency.

    :raises ValueError: see :func:`environment_proxy`.
    """
    secure = urlsplit(url).scheme == "https"
    context: ssl.SSLContext | bool = _ssl_context() if secure else False
    proxy = environment_proxy(url)

    def session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=0, ssl=context if secure else True, ttl_dns_cache=300)
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

    return AiohttpTransport(verify=context, client=session, proxy=httpx.Proxy(proxy) if proxy else None)
