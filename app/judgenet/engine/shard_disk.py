"""The store of a shard on the disk of the machine that judges it, and its copies in the folder that all machines share.

SQLite's journal does not belong on a network file system. A copy is one file without a journal; it takes the place of
the last one whole, and is all that other machines, the next attempt, and figures ever read.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from judgenet.store.backup import drop_journal, store_sums, use_journal
from judgenet.store.db import Store, StoreError, StoreInUse
from judgenet.store.files import store_path
from judgenet.store.local_disk import private_folder, put_copy
from judgenet.store.locate import RUN_PROJECT
from judgenet.store.matrix import MATRIX
from judgenet.store.runs import RunInfo
from judgenet.store.shards import MANIFEST, PAIRS, end_shard


@contextmanager
def own_disk(shared: Path, salt: str) -> Iterator[Path]:
    """A folder on this machine with the store of a shard: that of an earlier attempt here, if it got further than the
    copy in the shared folder, else that copy. It is removed when the attempt ends by itself; where the process is
    killed it stays for the next one here.

    :raises judgenet.store.files.FileError: the folder cannot be made, or belongs to another user.
    """
    folder = _kept_here(shared, salt)
    name = store_path(Path(RUN_PROJECT)).name
    if _in_use(folder / name):
        # An attempt that was given up for its silence still goes on here, and keeps nothing any more.
        folder = Path(tempfile.mkdtemp(prefix="judgenet-"))
    copy = shared / name
    if _answers(copy) > _answers(folder / name):
        for ending in ("", "-wal", "-shm", "-journal"):
            (folder / (name + ending)).unlink(missing_ok=True)
        with Store.open(copy, readonly=True) as kept:
            kept.copy_to(folder / name)
        use_journal(folder / name)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def put_store(store: Store, shared: Path, prove: Callable[[Path], bool] = lambda copy: True) -> bool:
    """Puts a copy of a shard's project and store into the shared folder, where the finished copy passes ``prove``. True
    where it does.

    :raises judgenet.store.files.FileError: the folder cannot be written; its content is unchanged.
    """
    own = store.path.parent
    with tempfile.TemporaryDirectory(dir=own) as room:
        copy = Path(room) / store.path.name
        store.copy_to(copy)
        drop_journal(copy)
        if not prove(copy):
            return False
        put_copy(own / RUN_PROJECT, shared / RUN_PROJECT)
        put_copy(copy, shared / store.path.name)
    return True


def put_end(store: Store, run: RunInfo, shared: Path) -> None:
    """Writes the tables and the manifest of a shard that has ended, and copies them to the shared folder, the manifest
    last.

    :raises judgenet.store.files.FileError: one cannot be written.
    """
    end_shard(store, run)
    for name in (PAIRS, MATRIX, MANIFEST):
        put_copy(store.path.parent / name, shared / name)


@contextmanager
def locked(store: Path) -> Iterator[None]:
    """Keeps other machines from judging the shard whose store is copied to a path.

    :raises StoreInUse: one does.
    """
    lock = FileLock(f"{store}.lock")
    try:
        store.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise StoreInUse(f"{store}: another JudgeNet judges this shard. Wait for it or stop it.") from None
    except OSError as error:
        raise StoreError(f"{store.parent}: nothing can be kept here ({error.strerror or error}).") from None
    try:
        yield
    finally:
        lock.release()


def close_journal(path: Path) -> None:
    """Leaves a store as one file without a journal beside it, unless another process reads it at the moment."""
    with suppress(sqlite3.Error):
        drop_journal(path)


def _in_use(store: Path) -> bool:
    """Whether another process has a store open for writing."""
    lock = FileLock(f"{store}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


def _kept_here(shared: Path, salt: str) -> Path:
    """The folder of a shard on this machine, the same for each attempt; nobody else can read it."""
    mark = hashlib.blake2b(f"{shared.absolute()} {salt}".encode(), digest_size=8).hexdigest()
    return private_folder(Path(tempfile.gettempdir()) / f"judgenet-{mark}")


def _answers(path: Path) -> int:
    """The number of answers in a store; -1 where there is none that can be read."""
    if not path.exists():
        return -1
    try:
        return store_sums(path)[0]
    except sqlite3.Error:
        return -1
