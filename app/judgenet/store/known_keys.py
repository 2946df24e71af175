"""Which answers a store may have: a look that needs no query, as most calls of a run are new.

A query for each call lets the thread that writes take the interpreter in between, which costs far more than the query.
"""

from __future__ import annotations

import sqlite3
import threading
from typing import Final

_BITS: Final = 1 << 25
_MOST: Final = 2_000_000
"""With so many answers reading their keys takes longer than it saves: each is looked up by a query then."""


class KnownKeys:
    """The keys of a store's answers as a Bloom filter (B. Bloom, 1970) of 4 MB, four bits a key.

    It never misses a key that is there. With a million keys in it, one unknown key in 6,000 is taken for a known one,
    and then looked up in vain. Keys are uniform, so that their own bytes serve as the hashes. One thread adds keys, any
    may ask.
    """

    def __init__(self) -> None:
        self._bits = bytearray(_BITS // 8)
        self._filled = False
        self._off = False
        self._lock = threading.Lock()

    def add(self, key: bytes) -> None:
        """Notes that an answer is about to be kept."""
        for at in _places(key):
            self._bits[at >> 3] |= 1 << (at & 7)

    def may_have(self, key: bytes, reader: sqlite3.Connection) -> bool:
        """Whether an answer with this key, or one that was asked for again, may be there. The keys that the store has
        are read by ``reader`` when it is first asked; all later ones must be added."""
        if not self._filled:
            with self._lock:
                if not self._filled:
                    self._fill(reader)
        if self._off:
            return True
        bits = self._bits
        return all(bits[at >> 3] >> (at & 7) & 1 for at in _places(key))

    def _fill(self, reader: sqlite3.Connection) -> None:
        (newest,) = reader.execute("SELECT coalesce(max(id), 0) FROM calls").fetchone()
        self._off = newest > _MOST
        if not self._off:
            for (key,) in reader.execute("SELECT key FROM calls"):
                self.add(key)
        self._filled = True


def _places(key: bytes) -> tuple[int, int, int, int]:
    """Four places among the bits."""
    word = int.from_bytes(key[:16], "little")
    most = _BITS - 1
    return word & most, word >> 32 & most, word >> 64 & most, word >> 96 & most
