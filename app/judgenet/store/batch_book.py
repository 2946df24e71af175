"""The book of batches: which calls were put into which batch, how far each batch is, and what it brought.

All that a run by batches must not forget stands here and nowhere else. A call stands in at most one batch at a time, by
its content key, until its answer stands among the kept ones; its row goes in the transaction that keeps the answer.
After a kill it is not known whether a batch that was being sent has reached its endpoint: its state says so, and the
next start asks the endpoint first.
"""

from __future__ import annotations

import sqlite3
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from judgenet.store.db import Store, now
from judgenet.store.runs import knows_batches

BatchState = Literal["gathered", "sending", "sent", "ended"]
BatchCallState = Literal["waiting", "answered", "refused", "unanswered"]

_AT_A_TIME: Final = 256
"""Lines that are read at once."""
_PUT_CALLS: Final = 256
_PUT_BYTES: Final = 4 << 20
"""So many new calls are held back, to be written in one go."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch at an endpoint. ``id`` is ours, ``remote`` the endpoint's, ``file`` that of its uploaded requests.

    ``answered`` are the calls that the endpoint says are finished. Times are seconds since the epoch.
    """

    number: int
    id: str
    endpoint: str
    model: str
    state: BatchState
    remote: str | None
    file: str | None
    calls: int
    bytes: int
    answered: int
    created_at: float
    sent_at: float | None
    ended_at: float | None
    message: str = ""


_BATCH = (
    "SELECT number, id, endpoint, model, state, remote, file, calls, bytes, answered, created_at, sent_at, ended_at, "
    "message FROM batches "
)


@dataclass(slots=True)
class BatchCall:
    """A call that stands in the book.

    ``tokens`` and ``price`` are what it may use at most. ``line`` is the request as a batch carries it, there until the
    batch is sent; ``result`` what came, a reply's body as JSON (``answered``) or an error's (``refused``, with its
    ``status``). ``earlier`` is an answer that was cut, where it was asked again with more room. ``tries`` counts the
    batches that it was put into.
    """

    key: bytes
    batch: int
    place: int
    pair: int
    layer: int
    state: BatchCallState
    tries: int
    tokens: int
    price: float
    max_tokens: int
    applied: str
    line: bytes | None
    status: int | None = None
    result: bytes | None = None
    earlier: bytes | None = None


_CALL = (
    "SELECT key, batch, place, pair, layer, state, tries, tokens, price, max_tokens, applied, NULL, status, result, "
    "earlier FROM batch_calls "
)


class BatchResult(NamedTuple):
    """What a batch says of the call at a place in it."""

    place: int
    state: BatchCallState
    content: bytes | None
    status: int | None = None


class Held(NamedTuple):
    """What the calls in the book may use at most."""

    calls: int
    tokens: int
    price: float


class BatchBook:
    """The batches of one endpoint in a store. Not for several threads at once, :meth:`take_results` apart."""

    def __init__(self, store: Store, endpoint: str) -> None:
        self._store = store
        self._endpoint = endpoint
        self._new: dict[bytes, BatchCall] = {}
        self._new_bytes = 0

    # Batches

    def batches(self, *states: BatchState) -> list[Batch]:
        """The endpoint's batches in these states, oldest first."""
        marks = ", ".join("?" * len(states))
        rows = self._store.reader.execute(
            f"{_BATCH} WHERE endpoint=? AND state IN ({marks}) ORDER BY number", (self._endpoint, *states)
        )
        return [Batch(*row) for row in rows]

    def known_remotes(self) -> frozenset[str]:
        """The endpoint's ids of batches that are ours."""
        rows = self._store.reader.execute(
            "SELECT remote FROM batches WHERE endpoint=? AND remote IS NOT NULL", (self._endpoint,)
        )
        return frozenset(row[0] for row in rows)

    def open(self, batch_id: str, model: str) -> Batch:
        """Begins a batch that calls can be put into."""

        def write(db: sqlite3.Connection) -> int:
            cursor = db.execute(
                "INSERT INTO batches (id, endpoint, model, state, created_at) VALUES (?, ?, ?, 'gathered', ?)",
                (batch_id, self._endpoint, model, now()),
            )
            assert cursor.lastrowid is not None
            return cursor.lastrowid

        number: int = self._store.run_now(write)
        return self.batch(number)

    def batch(self, number: int) -> Batch:
        """A batch by its number."""
        return Batch(*self._store.reader.execute(f"{_BATCH} WHERE number=?", (number,)).fetchone())

    def change(self, number: int, **values: Any) -> None:
        """Sets values of a batch, after writing the calls that are still in memory."""
        self.write_out()
        names = ", ".join(f"{name}=?" for name in values)
        self._store.run_now(
            lambda db: db.execute(f"UPDATE batches SET {names} WHERE number=?", (*values.values(), number))
        )

    def created(self, number: int, remote: str) -> None:
        """Records that the endpoint has a batch, and under which id. Its requests are deleted."""

        def write(db: sqlite3.Connection) -> None:
            db.execute(
                "UPDATE batches SET state='sent', remote=?, sent_at=coalesce(sent_at, ?) WHERE number=?",
                (remote, now(), number),
            )
            db.execute("UPDATE batch_calls SET line=NULL WHERE batch=?", (number,))

        self._store.run_now(write)

    def usual_duration(self) -> float | None:
        """The median of how long the endpoint's ended batches took, in seconds; ``None`` before the first."""
        rows = self._store.reader.execute(
            "SELECT ended_at - sent_at FROM batches WHERE endpoint=? AND state='ended' AND sent_at IS NOT NULL "
            "AND answered>0 ORDER BY number DESC LIMIT 9",
            (self._endpoint,),
        ).fetchall()
        return statistics.median(row[0] for row in rows) if rows else None

    # Calls

    def call(self, key: bytes) -> BatchCall | None:
        """The call with a content key, if it stands in the book."""
        if (new := self._new.get(key)) is not None:
            return new
        row = self._store.reader.execute(f"{_CALL} WHERE key=?", (key,)).fetchone()
        return None if row is None else BatchCall(*row)

    def put(self, call: BatchCall) -> None:
        """Puts a call into its batch, in the place of what stood in the book under its key."""
        self._new[call.key] = call
        self._new_bytes += len(call.line or b"")
        if len(self._new) >= _PUT_CALLS or self._new_bytes >= _PUT_BYTES:
            self.write_out()

    def write_out(self) -> None:
        """Writes what was put and is only in memory yet."""
        if not self._new:
            return
        calls, self._new, self._new_bytes = list(self._new.values()), {}, 0
        size: dict[int, list[int]] = {}
        for call in calls:
            totals = size.setdefault(call.batch, [0, 0])
            totals[0] += 1
            totals[1] += len(call.line or b"")

        def write(db: sqlite3.Connection) -> None:
            db.executemany(
                "INSERT OR REPLACE INTO batch_calls (key, batch, place, pair, layer, state, tries, tokens, price, "
                "max_tokens, applied, line, status, result, earlier) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                [
                    (
                        call.key,
                        call.batch,
                        call.place,
                        call.pair,
                        call.layer,
                        call.state,
                        call.tries,
                        call.tokens,
                        call.price,
                        call.max_tokens,
                        call.applied,
                        call.line,
                        call.status,
                        call.result,
                        call.earlier,
                    )
                    for call in calls
                ],
            )
            db.executemany(
                "UPDATE batches SET calls=calls+?, bytes=bytes+? WHERE number=?",
                [(*counts, number) for number, counts in size.items()],
            )

        self._store.run_now(write)

    def forget(self, key: bytes) -> None:
        """Removes a call that brought no answer and is no longer asked by a batch."""
        self._new.pop(key, None)
        self._store.run_now(lambda db: forget_batch_call(db, key))

    def mark(self, key: bytes, state: BatchCallState) -> None:
        """Sets the state of a call."""
        self.write_out()
        self._store.run_now(lambda db: db.execute("UPDATE batch_calls SET state=? WHERE key=?", (state, key)))

    def measure(self, number: int) -> tuple[int, int]:
        """How many requests a batch has that can be sent, and their bytes."""
        self.write_out()
        calls, size = self._store.reader.execute(
            "SELECT count(*), coalesce(sum(length(line)), 0) FROM batch_calls WHERE batch=? AND line IS NOT NULL",
            (number,),
        ).fetchone()
        return calls, size

    def lines(self, number: int) -> Iterator[Sequence[bytes]]:
        """The requests of a batch in order, some at a time."""
        place = -1
        while True:
            rows = self._store.reader.execute(
                "SELECT place, line FROM batch_calls WHERE batch=? AND place>? AND line IS NOT NULL "
                "ORDER BY place LIMIT ?",
                (number, place, _AT_A_TIME),
            ).fetchall()
            if not rows:
                return
            place = rows[-1][0]
            yield [row[1] for row in rows]

    def layers(self, numbers: Iterable[int]) -> dict[int, int]:
        """The waiting calls of batches by layer."""
        batches = list(numbers)
        marks = ", ".join("?" * len(batches))
        return dict(
            self._store.reader.execute(
                f"SELECT layer, count(*) FROM batch_calls WHERE batch IN ({marks}) GROUP BY layer ORDER BY layer",
                batches,
            ).fetchall()
        )

    # Results

    def take_results(self, number: int, results: Sequence[BatchResult]) -> int:
        """Stores the results of a batch and returns how many of its calls had none before. Results that come a second
        time, or belong to no call of the batch, are left out. Any thread may call it."""

        def write(db: sqlite3.Connection) -> int:
            taken = 0
            for batch_result in results:
                # Where nothing came, what came before stands.
                taken += db.execute(
                    "UPDATE batch_calls SET state=?, status=?, result=?, line=NULL "
                    "WHERE batch=? AND place=? AND state IN ('waiting', 'unanswered')",
                    (batch_result.state, batch_result.status, batch_result.content, number, batch_result.place),
                ).rowcount
            return taken

        taken: int = self._store.run_now(write)
        return taken

    def end(self, number: int, message: str = "", *, counts: bool = True) -> list[int]:
        """Records that all results of a batch are in; calls without one go into the next batch. Returns the places of
        the pairs whose calls were in it. Without ``counts`` it was never sent, and does not count as a try."""

        def write(db: sqlite3.Connection) -> None:
            db.execute(
                "UPDATE batch_calls SET state='unanswered', line=NULL, tries=tries-? WHERE batch=? AND state='waiting'",
                (0 if counts else 1, number),
            )
            db.execute(
                "UPDATE batches SET state='ended', ended_at=?, message=? WHERE number=?", (now(), message, number)
            )

        self.write_out()
        self._store.run_now(write)
        rows = self._store.reader.execute(
            "SELECT DISTINCT pair FROM batch_calls WHERE batch=? ORDER BY pair", (number,)
        )
        return [row[0] for row in rows]

    # Starting again

    def clear_up(self) -> None:
        """Removes answered calls, and those of batches that were never sent, before a run starts. The run asks for them
        again if it still needs them; calls that were in an earlier batch stay, with what they hold.
        """

        def write(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM batch_calls WHERE key IN (SELECT key FROM calls)")
            unsent = "SELECT number FROM batches WHERE endpoint=? AND state='gathered'"
            db.execute(
                f"DELETE FROM batch_calls WHERE batch IN ({unsent}) AND tries<=1 AND earlier IS NULL", (self._endpoint,)
            )
            db.execute(
                f"UPDATE batch_calls SET state='unanswered', line=NULL, tries=tries-1 WHERE batch IN ({unsent}) "
                "AND state='waiting'",
                (self._endpoint,),
            )
            db.execute("UPDATE batches SET state='ended' WHERE endpoint=? AND state='gathered'", (self._endpoint,))

        self._store.run_now(write)

    def held(self) -> Held:
        """What the calls in the book may use at most: they are paid for, or will be."""
        calls, tokens, price = self._store.reader.execute(
            "SELECT count(*), coalesce(sum(c.tokens), 0), coalesce(sum(c.price), 0.0) FROM batch_calls c "
            "JOIN batches b ON b.number=c.batch WHERE endpoint=?",
            (self._endpoint,),
        ).fetchone()
        return Held(calls, tokens, price)

    def asked_before(self, model: str) -> bool:
        """Whether a model of the endpoint has answered: a kept answer, or one of a batch."""
        row = self._store.reader.execute(
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM calls WHERE endpoint=?1 AND model=?2) OR EXISTS "
            "(SELECT 1 FROM batches WHERE endpoint=?1 AND model=?2 AND answered>0)",
            (self._endpoint, model),
        ).fetchone()
        return row is not None


def forget_batch_call(db: sqlite3.Connection, key: bytes) -> None:
    """Removes a call from the book, as a part of another write."""
    db.execute("DELETE FROM batch_calls WHERE key=?", (key,))


def open_batches(store: Store) -> list[Batch]:
    """The batches of a store whose results are not in, of all endpoints; none in a store of an earlier version."""
    if not knows_batches(store):
        return []
    rows = store.reader.execute(f"{_BATCH} WHERE state IN ('sending', 'sent') ORDER BY number")
    return [Batch(*row) for row in rows]
