"""The store: one SQLite file per project, the truth about every call.

All calls are written by one thread (:mod:`judgenet.store.writer`), which commits several at a time and notifies
whoever waits for them afterwards: a finished call is on disk before its event is emitted. ``kill -9`` loses at most
the calls in flight, because WAL with ``synchronous=NORMAL`` survives the death of the process.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, overload

from filelock import FileLock, Timeout

from judgenet.core.documents import well_formed
from judgenet.store.connection import StoreConnection, remedy
from judgenet.store.known_keys import KnownKeys
from judgenet.store.links import link_out
from judgenet.store.opened_file import OpenedFile, ReadableFile, Trouble
from judgenet.store.writer import OnCommit, OnTrouble, StoreWriter, Write

_STEPS = tuple(Path(__file__).with_name(name) for name in ("schema.sql", "schema_2.sql", "schema_3.sql"))
"""What brings a store from each version to the next; the first makes it."""
SCHEMA_VERSION = len(_STEPS)
_KNOWN_TEXTS = 1024


class StoreError(Exception):
    """The store cannot be opened or read; the message says what to do."""


class StoreInUse(StoreError):
    """Another process writes to this store."""


def of_closed_store(error: BaseException) -> bool:
    """Whether an error says that a store was closed while something still read it."""
    return isinstance(error, sqlite3.ProgrammingError | StoreError) and " closed" in str(error)


def storable(text: str) -> str | bytes:
    """The text as SQLite can hold it: lone surrogates make it a BLOB."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


@overload
def plain(text: str) -> str: ...
@overload
def plain(text: None) -> None: ...
def plain(text: str | None) -> str | None:
    """A text of the endpoint's that is only shown, as SQLite can hold it: lone surrogates become U+FFFD."""
    return None if text is None else well_formed(text)


def restored(value: str | bytes) -> str:
    """The inverse of :func:`storable`."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


class Store:
    """A project's store.

    Reading methods may be called from any thread; each thread reads through a connection of its own.
    """

    def __init__(self, path: Path, *, readonly: bool) -> None:
        self.path = path
        self.readonly = readonly
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._closed = False
        self._lock: FileLock | None = None
        self._file = OpenedFile(path)
        self._readable = ReadableFile(path)
        self._writer = StoreWriter(path, self._file, self._connect, self._forget_ids)
        self._text_ids: dict[str, int] = {}
        self._shards: bool | None = None
        self.parts: dict[str, Store] = {}
        """Of an index of shards: the stores of those whose texts were asked for."""
        self._forms: set[str] = set()
        self._columns: dict[str, frozenset[str]] = {}
        self._answers = None if readonly else KnownKeys()

    @classmethod
    def open(cls, path: Path, *, readonly: bool = False) -> Store:
        """Opens a store, making it where it is missing.

        :raises StoreInUse: another process has it open for writing.
        :raises StoreError: not a store, from a newer version, absent and ``readonly``, or a link out of its folder.
        """
        for beside in ("", "-wal", "-shm", "-journal", ".lock"):
            part = path.with_name(path.name + beside)
            if (target := link_out(part)) is not None:
                raise StoreError(f"{part}: is a link to {target}, outside its folder. Put the file itself there.")
        store = cls(path, readonly=readonly)
        if readonly and not path.exists():
            raise StoreError(f"{path}: there is no store. Name the folder of a run or a project that has been run.")
        if not readonly:
            # A store may be closed in another thread than it was opened in.
            store._lock = FileLock(str(path) + ".lock", thread_local=False)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                store._lock.acquire(timeout=0)
            except Timeout:
                raise StoreInUse(
                    f"{path}: another JudgeNet is running on this project. Wait for it or stop it; "
                    "reading (metrics, export) works meanwhile."
                ) from None
            except OSError as error:
                raise StoreError(
                    f"{path.parent}: nothing can be kept here ({error.strerror or error}). Choose another folder, "
                    "or make this one writable."
                ) from None
        try:
            store._prepare()
        except BaseException:
            store.close()
            raise
        if not readonly:
            store._file.opened()
            store._writer.start()
        return store

    def _prepare(self) -> None:
        try:
            connection = self.reader
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if version > SCHEMA_VERSION:
                if not self.readonly:
                    raise StoreError(
                        f"{self.path}: written by a newer JudgeNet (store version {version}, this program knows "
                        f"{SCHEMA_VERSION}). Update JudgeNet, or open it read-only."
                    )
            elif version == 0:
                if self.readonly:
                    raise StoreError(f"{self.path}: not a JudgeNet store.")
                if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    raise StoreError(f"{self.path}: a database of another program. Choose another place.")
            if not self.readonly:
                # A copy that was to travel, and the store of a shard that ended, has none.
                connection.execute("PRAGMA journal_mode=WAL")
            if version < SCHEMA_VERSION and not self.readonly:
                self._bring_up(connection, version)
        except sqlite3.OperationalError as error:
            action = "See that you may read it" if self.readonly else remedy(error)
            raise StoreError(f"{self.path}: cannot be opened ({error}). {action}, then try again.") from error
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.path}: cannot be read as a store ({error}). Restore it from a backup.") from error

    def _bring_up(self, connection: sqlite3.Connection, version: int) -> None:
        steps = "\n".join(step.read_text(encoding="utf-8") for step in _STEPS[version:])
        try:
            connection.executescript(f"BEGIN IMMEDIATE;\n{steps}\nPRAGMA user_version={SCHEMA_VERSION};\nCOMMIT;")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    # Reading

    @property
    def reader(self) -> sqlite3.Connection:
        """This thread's connection."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            # A thread that comes late must not open, or make, a file that may have gone elsewhere.
            if self._closed:
                raise StoreError(f"{self.path}: closed already.")
            connection = self._connect()
            self._local.connection = connection
        return connection

    def _connect(self) -> sqlite3.Connection:
        if self.readonly:
            with self._guard:
                uri = self._readable.uri()
            connection = sqlite3.connect(uri, uri=True, timeout=10, check_same_thread=False, factory=StoreConnection)
        elif gone := self._file.gone():
            raise StoreError(f"{gone.what} {gone.afterwards}")
        else:
            connection = sqlite3.connect(
                self.path, timeout=30, isolation_level=None, check_same_thread=False, factory=StoreConnection
            )
            connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA mmap_size=268435456")
        with self._guard:
            if not self._closed:
                self._connections.append(connection)
                return connection
        # The store was closed meanwhile: nobody would close this connection.
        connection.close()
        raise StoreError(f"{self.path}: closed already.")

    def column(self, table: str, name: str, alias: str = "") -> str:
        """A column of a table for a query, behind the table's ``alias``; NULL in a store of an earlier version, open
        for reading, that lacks it."""
        known = self._columns.get(table)
        if known is None:
            known = frozenset(row[1] for row in self.reader.execute(f"PRAGMA table_info({table})"))
            self._columns[table] = known
        return "NULL" if name not in known else f"{alias}.{name}" if alias else name

    def meta(self, name: str) -> str | None:
        """A value of the store as a whole."""
        row = self.reader.execute("SELECT value FROM meta WHERE name=?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def salt(self, of_project: str = "") -> str:
        """The secret from which the marks of prompts are derived.

        A store takes over its project's salt once and keeps it: with another salt no kept call would be found.
        """
        kept = self.meta("salt")
        if kept is None:
            kept = of_project
            if not self.readonly:
                self.set_meta("salt", kept)
        return kept

    @property
    def is_index(self) -> bool:
        """Whether it is the index of a set of shards (:mod:`judgenet.store.shard_index`), without the calls' texts."""
        if self._shards is None:
            self._shards = self.meta("shards") is not None
        return self._shards

    def holder(self, run: Any, pair: int) -> tuple[Store, Any, int]:
        """The store that holds the texts of a pair's calls, with the run and the pair's place there: this one, or of
        an index the shard of the pair."""
        if not self.is_index:
            return self, run, pair
        from judgenet.store.shard_index import open_holder

        return open_holder(self, pair)

    def text(self, text_id: int) -> str:
        """A shared part of prompts."""
        return restored(self.reader.execute("SELECT body FROM texts WHERE id=?", (text_id,)).fetchone()[0])

    # Writing now

    def set_meta(self, name: str, value: str) -> None:
        """Sets a value of the store as a whole."""
        self.run_now(lambda db: db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value)))

    def run_now(self, write: Callable[[sqlite3.Connection], Any]) -> Any:
        """Runs a write in one transaction of the calling thread and returns what it returns.

        :raises StoreError: the store cannot be written, such as on a full disk.
        """
        db = self.reader
        if gone := self._file.gone():
            raise StoreError(f"{gone.what} {gone.afterwards}")
        try:
            db.execute("BEGIN IMMEDIATE")
            result = write(db)
            db.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise StoreError(f"{self.path}: cannot be written ({error}). {remedy(error)}, then try again.") from error
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        return result

    # Writing in batches

    def put(self, write: Write, token: Any = None, on_commit: OnCommit | None = None) -> None:
        """Queues a write. ``on_commit`` gets the tokens of a batch, in order, on the writer's thread."""
        self._writer.put(write, token, on_commit)

    def on_trouble(self, notify: OnTrouble) -> None:
        """Sets who is notified (on the writer's thread) that writing fails; an empty message says it works again."""
        self._writer.on_trouble = notify

    def on_failure(self, notify: OnTrouble) -> None:
        """Sets who is notified (on the writer's thread) of a write that can never succeed, and was left out."""
        self._writer.on_failure = notify

    @property
    def trouble(self) -> Trouble | None:
        """What keeps the store from being written, known once a write has failed."""
        return self._writer.trouble

    def flush(self, patience: float = 1.0) -> bool:
        """True when all that was put before is on disk; false where writing fails for ``patience`` seconds."""
        return self._writer.flush(patience)

    def require_kept(self) -> None:
        """Waits until all that was put is on disk.

        :raises StoreError: the store's file was moved or deleted, so that nobody would find what is in it.
        """
        if not self.flush() and self.trouble is not None and self.trouble.gone:
            raise StoreError(f"{self.trouble.what} {self.trouble.afterwards}")

    def _forget_ids(self) -> None:
        """Forgets the ids that a transaction gave: it was rolled back."""
        self._text_ids.clear()
        self._forms.clear()

    def text_id(self, db: sqlite3.Connection, text: str) -> int:
        """The id of a shared text, kept once. Only for the writer's thread."""
        known = self._text_ids.get(text)
        if known is None:
            body = storable(text)
            digest = hashlib.sha256(body if isinstance(body, bytes) else body.encode()).digest()
            row = db.execute("SELECT id FROM texts WHERE hash=?", (digest,)).fetchone()
            if row is None:
                row = db.execute("INSERT INTO texts (hash, body) VALUES (?, ?) RETURNING id", (digest, body)).fetchone()
            known = int(row[0])
            if len(self._text_ids) >= _KNOWN_TEXTS:
                self._text_ids.clear()
            self._text_ids[text] = known
        return known

    def forms(self) -> frozenset[str]:
        """The forms of reply in which answers are kept."""
        return frozenset((self.meta("forms") or "").split())

    def may_have_answer(self, key: bytes) -> bool:
        """Whether an answer with this content key may be there; where not, no query is needed."""
        return self._answers is None or self._answers.may_have(key, self.reader)

    def know_answer(self, key: bytes) -> None:
        """Notes that an answer is about to be kept. Runs on the writing thread."""
        if self._answers is not None:
            self._answers.add(key)

    def know_form(self, db: sqlite3.Connection, form: str) -> None:
        """Notes that answers of this form are kept. Only for the writer's thread."""
        if form not in self._forms:
            row = db.execute("SELECT value FROM meta WHERE name='forms'").fetchone()
            self._forms = {form, *(row[0].split() if row else ())}
            db.execute("INSERT OR REPLACE INTO meta VALUES ('forms', ?)", (" ".join(sorted(self._forms)),))

    # What endpoints taught

    def load(self, endpoint: str, model: str) -> dict[str, Any]:
        """What was learned about an endpoint and model (the port ``Capabilities``)."""
        row = self.reader.execute("SELECT body FROM learned WHERE endpoint=? AND model=?", (endpoint, model)).fetchone()
        return {} if row is None else dict(json.loads(row[0]))

    def save(self, endpoint: str, model: str, learned: dict[str, Any]) -> None:
        """Keeps what was learned about an endpoint and model."""
        body = json.dumps(learned, sort_keys=True)
        self.put(lambda db: db.execute("INSERT OR REPLACE INTO learned VALUES (?, ?, ?)", (endpoint, model, body)))

    def copy_to(self, path: Path) -> None:
        """Writes a copy of the store, as it is on disk now, to a file that is not there."""
        with contextlib.closing(sqlite3.connect(path)) as target:
            self.reader.backup(target)

    def close(self, patience: float = 10.0) -> None:
        """Writes what is queued and closes. Gives up at once where writing fails, and where it does not end after
        ``patience`` seconds.

        Threads that read get an error of ``sqlite3``, or a :class:`StoreError`.
        """
        if self._writer.alive:
            self._publish_labels()
        self._writer.close(patience)
        self._closed = True
        for part in self.parts.values():
            part.close()
        with self._guard:
            for connection in self._connections:
                connection.close()
            self._connections.clear()
        self._readable.close()
        if self._lock is not None:
            self._lock.release()

    def _publish_labels(self) -> None:
        """Of an index of shards: copies labels to where the shards are."""
        with contextlib.suppress(StoreError, sqlite3.Error):
            if self.is_index and self.flush():
                from judgenet.store.shard_labels import publish_if_possible

                publish_if_possible(self)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def now() -> float:
    """Seconds since the epoch, as the store keeps times: to the millisecond."""
    return round(time.time(), 3)
