"""The pictures of pairs in a store: kept when a run begins, and read by whoever sends or shows them."""

from __future__ import annotations

import base64
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from judgenet.core.pairs import Pair
from judgenet.core.pictures import PairPicture
from judgenet.formats.pictures import known_bytes, sent_form
from judgenet.store.db import Store, StoreError

_AT_A_TIME: Final = 32_000_000
"""Bytes of pictures that are written in one transaction."""
_MOST_KEPT: Final = 256_000_000
"""Bytes of encoded pictures that are kept in memory: those of the pairs under way, which many calls share."""
_STEP: Final = 3
"""The version of the store from which on it has pictures."""
_INSERT: Final = "INSERT OR IGNORE INTO pictures (hash, media, body) VALUES (?, ?, ?)"


def _has_pictures(db: sqlite3.Connection) -> bool:
    return bool(db.execute("PRAGMA user_version").fetchone()[0] >= _STEP)


def keep_pictures(store: Store, pairs: Iterable[Pair]) -> None:
    """Writes the pictures of pairs that the store does not have yet, a part at a time.

    :raises PictureError: a picture's file is gone or has changed since the pairs were read.
    :raises StoreError: the store cannot be written.
    """
    wanted = {pair_picture.sha256: pair_picture for pair in pairs for pair_picture in pair.pictures}
    if not wanted:
        return
    there = {bytes(row[0]).hex() for row in store.reader.execute("SELECT hash FROM pictures")}
    rows: list[tuple[bytes, str, bytes]] = []
    size = 0
    for sha256, picture in wanted.items():
        if sha256 in there:
            continue
        data = known_bytes(picture)
        rows.append((bytes.fromhex(sha256), picture.media, data))
        size += len(data)
        if size >= _AT_A_TIME:
            _write(store, rows)
            rows, size = [], 0
    if rows:
        _write(store, rows)


def _write(store: Store, rows: list[tuple[bytes, str, bytes]]) -> None:
    store.run_now(
        lambda db: db.executemany("INSERT OR IGNORE INTO pictures (hash, media, body) VALUES (?, ?, ?)", rows)
    )


def picture_folders(pairs: Iterable[Pair]) -> tuple[str, ...]:
    """The folders of the files from which pictures of these pairs were read, sorted."""
    return tuple(
        sorted({str(Path(picture.path).parent) for pair in pairs for picture in pair.pictures if picture.path})
    )


def copy_pictures(source: Store, db: sqlite3.Connection) -> None:
    """Copies the pictures of a store into another."""
    if _has_pictures(source.reader):
        for row in source.reader.execute("SELECT hash, media, body FROM pictures"):
            db.execute(_INSERT, tuple(row))


def kept_picture(store: Store, sha256: str) -> bytes | None:
    """The bytes of a kept picture, ``None`` where the store does not have it."""
    if not _has_pictures(store.reader):
        return None
    row = store.reader.execute("SELECT body FROM pictures WHERE hash=?", (bytes.fromhex(sha256),)).fetchone()
    return None if row is None else bytes(row[0])


def picture_bytes(picture: PairPicture, stores: Iterable[Store] = ()) -> bytes:
    """The bytes of a picture: from memory, from the first of the stores that has it, or from its file.

    :raises PictureError: they are nowhere.
    """
    if picture.data is not None:
        return picture.data
    for store in stores:
        try:
            kept = kept_picture(store, picture.sha256)
        except (StoreError, sqlite3.Error):
            continue
        if kept is not None:
            return kept
    return known_bytes(picture)


class EncodedPicture(NamedTuple):
    """A picture as it is sent: its media type, and its bytes as base64."""

    media: str
    data: str


class SentPictures:
    """The pictures of a store as they are sent, each encoded once while the calls that need it are under way. May be
    asked from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[str, EncodedPicture] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def known(self, picture: PairPicture) -> EncodedPicture | None:
        """A picture as it is sent, where it is encoded already."""
        with self._lock:
            encoded = self._kept.get(picture.sha256)
            if encoded is not None:
                self._kept.move_to_end(picture.sha256)
            return encoded

    def sent(self, picture: PairPicture) -> EncodedPicture:
        """A picture as it is sent; it is read and encoded where that was not done yet.

        :raises PictureError: its bytes are nowhere, or cannot be read as a picture.
        """
        encoded = self.known(picture)
        if encoded is None:
            media, data = sent_form(picture_bytes(picture, (self._store,)))
            encoded = EncodedPicture(media, base64.b64encode(data).decode("ascii"))
            with self._lock:
                self._kept[picture.sha256] = encoded
                self._size += len(encoded.data)
                while self._size > _MOST_KEPT and len(self._kept) > 1:
                    self._size -= len(self._kept.popitem(last=False)[1].data)
        return encoded
