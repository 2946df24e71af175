"""The transport on the wire: what a request looks like, and which connections are used again."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from multidict import CIMultiDict
from yarl import URL

from judgenet.engine import transport as transport_module
from judgenet.engine.transport import AiohttpAnswer, AiohttpTransport, DirectAnswer, HttpAnswer

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
WITHIN = aiohttp.ClientTimeout(sock_connect=5)
HEADERS = CIMultiDict({"Accept-Encoding": "identity", "Content-Type": "application/json", "X-Team": "Löwe"})


@asynccontextmanager
async def serving(serve: Serve, context: ssl.SSLContext | None = None) -> AsyncIterator[URL]:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    try:
        yield URL(
            f"{'http' if context is None else 'https'}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/chät?a=b"
        )
    finally:
        server.close()


async def request_of(reader: asyncio.StreamReader) -> tuple[list[str], bytes]:
    """The lines of a request's head, and its body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
    size = next(int(line.split(": ")[1]) for line in head if line.startswith("Content-Length"))
    return head, await reader.readexactly(size)


async def whole(answer: HttpAnswer) -> bytes:
    try:
        return b"".join([piece async for piece in answer.pieces()])
    finally:
        await answer.aclose()


def answered(*answers: bytes) -> tuple[Serve, list[list[tuple[list[str], bytes]]]]:
    """A server that gives these answers on each connection, and the requests that it read, by connection."""
    asked: list[list[tuple[list[str], bytes]]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append([])
        for answer in answers:
            asked[-1].append(await request_of(reader))
            writer.write(answer)
            await writer.drain()
        writer.close()

    return serve, asked


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Id: 7\r\n\r\n{}"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"
EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
TO_THE_END = b"HTTP/1.1 500 Oh\r\n\r\nbroken"


def test_a_request_has_its_headers_and_length_and_a_connection_is_used_again() -> None:
    async def go() -> None:
        serve, asked = answered(OK, EARLY + CHUNKED, TO_THE_END)
        async with serving(serve) as url:
            transport = AiohttpTransport(None, None)
            try:
                first = await transport.send("POST", url, HEADERS, b'{"a":1}', WITHIN)
                assert (first.status, first.headers["x-id"], await whole(first)) == (200, "7", b"{}")
                second = await transport.send("POST", url, HEADERS, b"[]", WITHIN)
                assert (second.status, await whole(second)) == (200, b"{}")
                third = await transport.send("POST", url, HEADERS, b"", WITHIN)
                assert (third.status, await whole(third)) == (500, b"broken")
            finally:
                await transport.aclose()
        (requests,) = asked
        head, body = requests[0]
        assert head[0] == "POST /v1/ch%C3%A4t?a=b HTTP/1.1"
        given = [f"{name}: {value}" for name, value in HEADERS.items()]
        assert sorted(head[1:]) == sorted([f"Host: {url.host_port_subcomponent}", *given, "Content-Length: 7"])
        assert [body, *(body for _, body in requests[1:])] == [b'{"a":1}', b"[]", b""]

    asyncio.run(go())


def test_an_answer_that_is_not_read_to_its_end_ends_its_connection() -> None:
    async def go() -> None:
        serve, asked = answered(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", OK)
        async with serving(serve) as url:
            transport = AiohttpTransport(None, None)
            try:
                await (await transport.send("POST", url, HEADERS, b"1", WITHIN)).aclose()
                second = await transport.send("POST", url, HEADERS, b"2", WITHIN)
                await second.aclose()
            finally:
                await transport.aclose()
        assert [[body for _, body in requests[:1]] for requests in asked] == [[b"1"], [b"2"]]

    asyncio.run(go())


def test_a_connection_whose_request_was_not_sent_whole_is_not_used_again() -> None:
    async def go() -> None:
        connections = 0

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal connections
            connections += 1
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            await asyncio.sleep(30)

        async with serving(serve) as url:
            transport = AiohttpTransport(None, None)
            try:
                for _ in range(2):
                    answer = await transport.send("POST", url, HEADERS, bytes(32 * 1024 * 1024), WITHIN)
                    assert (answer.status, await whole(answer)) == (413, b"")
            finally:
                await transport.aclose()
        assert connections == 2

    asyncio.run(go())


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])
def test_what_is_no_whole_answer_is_an_error_of_the_connection(answer: bytes) -> None:
    async def go() -> None:
        serve, _ = answered(answer)
        async with serving(serve) as url:
            transport = AiohttpTransport(None, None)
            try:
                with pytest.raises(aiohttp.ClientError):
                    await whole(await transport.send("POST", url, HEADERS, b"{}", WITHIN))
            finally:
                await transport.aclose()

    asyncio.run(go())


def test_a_header_cannot_begin_another_one() -> None:
    async def go() -> None:
        serve, asked = answered(OK)
        async with serving(serve) as url:
            transport = AiohttpTransport(None, None)
            try:
                with pytest.raises(ValueError, match="line break"):
                    await transport.send("POST", url, CIMultiDict({"X": "a\r\nY: b"}), b"{}", WITHIN)
            finally:
                await transport.aclose()
        assert not asked

    asyncio.run(go())


@pytest.mark.parametrize(
    ("of_url", "headers", "line"),
    [
        (None, {"Host": "elsewhere.example"}, "Host: elsewhere.example"),
        ("user", {}, "Authorization: Basic dXNlcjpzZWNyZXQ="),
    ],
)
def test_what_is_unusual_is_left_to_the_session(of_url: str | None, headers: dict[str, str], line: str) -> None:
    async def go() -> None:
        serve, asked = answered(OK)
        async with serving(serve) as url:
            transport = AiohttpTransport(None, None)
            address = url if of_url is None else url.with_user(of_url).with_password("secret")
            try:
                await whole(await transport.send("POST", address, CIMultiDict(headers), b"{}", WITHIN))
            finally:
                await transport.aclose()
        assert line in asked[0][0][0]

    asyncio.run(go())


@pytest.mark.parametrize(("tried", "kind"), [(True, DirectAnswer), (False, AiohttpAnswer)])
def test_another_version_of_aiohttp_sends_all_by_its_session(
    tried: bool, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport_module, "_DIRECT", tried)

    async def go() -> None:
        serve, asked = answered(OK)
        async with serving(serve) as url:
            transport = AiohttpTransport(None, None)
            try:
                answer = await transport.send("POST", url, HEADERS, b"{}", WITHIN)
                assert type(answer) is kind
                assert await whole(answer) == b"{}"
            finally:
                await transport.aclose()
        assert asked[0][0][1] == b"{}"

    asyncio.run(go())


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_certificates_are_checked(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=judge"
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*make.split(), *files], check=True, capture_output=True)
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(certificate, key)

    async def ask(url: URL, context: ssl.SSLContext) -> bytes:
        transport = AiohttpTransport(context, None)
        try:
            return await whole(await transport.send("POST", url, HEADERS, b"{}", WITHIN))
        finally:
            await transport.aclose()

    async def go() -> None:
        serve, asked = answered(OK)
        async with serving(serve, own) as url:
            with pytest.raises(aiohttp.ClientConnectorCertificateError):
                await ask(url, ssl.create_default_context())
            assert not asked
            assert await ask(url, ssl.create_default_context(cafile=certificate)) == b"{}"

    asyncio.run(go())
