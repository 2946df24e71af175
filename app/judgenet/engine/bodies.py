"""The body of an answer as it comes: unpacked bit by bit, and never more of it than a limit.

Endpoints are asked not to compress. Some do so all the same, and a few kilobytes can unpack to gigabytes: what is
unpacked at a time is bounded, and what is unpacked in all is counted by whoever reads it.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Protocol, cast

from judgenet.engine.transport import HttpAnswer

MOST_BYTES = 8 * 1024 * 1024
"""The largest answer that is read, unpacked, in bytes: more than 100,000 tokens need, however they are escaped."""
MOST_ERROR_BYTES = 64 * 1024
"""Bytes that are read of an answer that only says what went wrong."""
_AT_A_TIME = 64 * 1024
"""Bytes that are unpacked at a time."""
_MOST_LAYERS = 3
"""How many times over an answer may be compressed."""


class TooLarge(Exception):
    """The answer is larger than :data:`MOST_BYTES`."""


class Packed(Exception):
    """The answer is packed in a way that is not known, or is broken. The message says how."""


class _Unpacker(Protocol):
    """The part of zlib's decompressing objects that is used here."""

    unconsumed_tail: bytes
    eof: bool

    def decompress(self, data: bytes, most: int, /) -> bytes: ...


def _unpackers(encoding: str) -> list[_Inflate]:
    """The decoders of a ``Content-Encoding``, in the order in which they must be applied.

    :raises Packed: for one that is not known.
    """
    names = [name.strip().lower() for name in encoding.split(",") if name.strip()]
    wanted = [name for name in reversed(names) if name != "identity"]
    if len(wanted) > _MOST_LAYERS:
        raise Packed(f"packed {len(wanted)} times over")
    for name in wanted:
        if name not in ("gzip", "x-gzip", "deflate"):
            raise Packed(f"packed as {name[:40]!r}, which it was not asked for")
    return [_Inflate(name == "deflate") for name in wanted]


class _Inflate:
    """Undoes gzip or deflate (RFC 9110, 8.4.1), some bytes at a time."""

    def __init__(self, deflate: bool) -> None:
        # Some servers send "deflate" without zlib's header; the first bytes tell.
        self._may_be_raw = deflate
        self._inner = self._made(zlib.MAX_WBITS if deflate else zlib.MAX_WBITS | 16)

    @staticmethod
    def _made(bits: int) -> _Unpacker:
        return cast(_Unpacker, zlib.decompressobj(bits))

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What ``data`` unpacks to, in pieces of at most :data:`_AT_A_TIME` bytes.

        :raises Packed: the data is broken.
        """
        while data and not self._inner.eof:
            try:
                piece = self._inner.decompress(data, _AT_A_TIME)
            except zlib.error as error:
                if not self._may_be_raw:
                    raise Packed(f"packed, but broken ({error})") from None
                self._may_be_raw = False
                self._inner = self._made(-zlib.MAX_WBITS)
                continue
            self._may_be_raw = False
            if piece:
                yield piece
            data = self._inner.unconsumed_tail


def _through(unpackers: list[_Inflate], data: bytes) -> Iterator[bytes]:
    if not unpackers:
        yield data
        return
    for piece in unpackers[0].pieces(data):
        yield from _through(unpackers[1:], piece)


def pieces(response: HttpAnswer) -> AsyncGenerator[bytes, None]:
    """The body as it comes, unpacked (aiohttp itself would unpack without a bound).

    :raises Packed: it cannot be unpacked.
    """
    encoding = response.headers.get("content-encoding", "")
    return _unpacked(response.pieces(), encoding) if encoding else response.pieces()


async def _unpacked(stream: AsyncGenerator[bytes, None], encoding: str) -> AsyncGenerator[bytes, None]:
    async with aclosing(stream):
        unpackers = _unpackers(encoding)
        async for packed in stream:
            for piece in _through(unpackers, packed):
                yield piece
