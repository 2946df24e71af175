"""The stores of shards: what each leaves beside it when it ends, and one store made of them all.

A shard's folder holds its project and its store as any run's. When the shard ends, ``manifest.json`` says what it is
and how it ended; ``matrix.parquet`` holds a row a call, and ``pairs.parquet`` one a pair: enough for all figures,
without the texts of prompts and replies.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

from judgenet.core.aggregate import deciding
from judgenet.core.pairs import VERDICTS, Pair, Verdict, data_hash
from judgenet.core.shards import SHARD_RECORD, Shard
from judgenet.core.wording import of, plural
from judgenet.formats.tables import whole_file, write_parquet
from judgenet.stats.agreement import Counts
from judgenet.stats.curves import CODES
from judgenet.store.db import Store, StoreError
from judgenet.store.files import atomic_write, store_path
from judgenet.store.frame import RunFrame
from judgenet.store.local_disk import local_folder
from judgenet.store.locate import RUN_PROJECT
from judgenet.store.locate import shards_folder as shards_folder
from judgenet.store.matrix import MATRIX, matrix_rows, write_matrix
from judgenet.store.pictures import copy_pictures
from judgenet.store.runs import RunInfo, knows_batches, run_info, runs, spent, start_run
from judgenet.store.taught import fair_frame
from judgenet.version import __version__

SHARDS_RECORD: Final = "shards"
"""The name in a run's record of the shards that it is made of."""

MANIFEST: Final = "manifest.json"
_BATCH: Final = 5000
PAIRS: Final = "pairs.parquet"
INDEX: Final = "index.judgenet"
"""The project that stands for all shards that have ended (:mod:`judgenet.store.shard_index`)."""
INDEXES: Final = (INDEX, "index-2.judgenet")
"""The second is made where another program has the first open and shards have ended since."""
INDEX_FOLDERS: Final = "shard-indexes"
"""Where the indexes of all sets of shards lie on this machine."""


@dataclass(frozen=True, slots=True)
class LabelledCounts:
    """How many finished pairs have which label and which verdict of the aggregation ``rule``, by (label, verdict); of
    those with a label. They are of ``questions`` questions, all of which one shard holds: counts of shards add up."""

    rule: str
    counts: Counts
    questions: int

    @classmethod
    def of(cls, frame: RunFrame) -> Self:
        """Those of a run, with the aggregation that decides."""
        rule = deciding(frame.spec)
        done = frame.done[frame.human[frame.done] > 0]
        codes = zip(frame.human[done].tolist(), frame.verdict_codes(rule)[done].tolist(), strict=True)
        counts = {(CODES[label], CODES[verdict]): count for (label, verdict), count in Counter(codes).items()}
        return cls(rule, counts, len(set(frame.questions[done].tolist())))

    def to_json(self) -> dict[str, Any]:
        counts = {f"{label}|{verdict or ''}": count for (label, verdict), count in self.counts.items()}
        return {"rule": self.rule, "counts": counts, "questions": self.questions}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        named: dict[str, Verdict | None] = {"": None, **{verdict: verdict for verdict in VERDICTS}}
        counts = {}
        for name, count in given["counts"].items():
            label, _, verdict = name.partition("|")
            counts[named[label], named[verdict]] = int(count)
        return cls(str(given["rule"]), counts, int(given["questions"]))


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a shard is and how it ended: ``pairs`` and ``calls`` with how many are finished, scored and paid, and the
    digest of its matrix. ``whole`` tells the set of pairs, network and prompts that it is a part of. ``unscored`` and
    ``agreement`` are ``None`` in those of earlier programs."""

    shard: Shard
    run: str
    whole: str
    state: str
    message: str
    pairs: int
    finished: int
    calls: int
    scored: int
    price: float
    unpriced: int
    matrix: str
    unscored: int | None = None
    agreement: LabelledCounts | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "judgenet": __version__,
            "shard": self.shard.index,
            "of": self.shard.of,
            **{name: getattr(self, name) for name in self.__slots__ if name not in ("shard", "agreement")},
            "agreement": None if self.agreement is None else self.agreement.to_json(),
        }

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """The manifest of a shard's folder, ``None`` where it has not ended yet.

        :raises StoreError: it cannot be read.
        """
        path = folder / MANIFEST
        try:
            given = json.loads(path.read_text(encoding="utf-8"))
            names = [name for name in cls.__slots__ if name not in ("shard", "unscored", "agreement")]
            counts = given.get("agreement")
            return cls(
                Shard(given["of"], given["shard"]),
                **{name: given[name] for name in names},
                unscored=given.get("unscored"),
                agreement=None if counts is None else LabelledCounts.from_json(counts),
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{path}: is no manifest of a shard ({error}). Run the shard again.") from None


def shard_of_run(run: RunInfo) -> Shard | None:
    """The shard that a run is, ``None`` for a run of its own."""
    given = run.record.get(SHARD_RECORD)
    return None if given is None else Shard(given["of"], given["index"])


def end_shard(store: Store, run: RunInfo) -> Manifest:
    """Writes the matrix and the manifest of a shard that has ended, the manifest last: where it is, all is there.

    :raises FileError: one cannot be written.
    """
    folder, shard = store.path.parent, shard_of_run(run)
    assert shard is not None
    places = run.record[SHARD_RECORD]["places"]
    with whole_file(folder / PAIRS) as draft:
        write_parquet(lambda: pair_rows(store, run, places), draft)
    with whole_file(folder / MATRIX) as draft:
        write_matrix(matrix_rows(store, run, places), draft)
    digest = hashlib.sha256((folder / MATRIX).read_bytes()).hexdigest()
    sums = spent(store, run)
    finished = store.reader.execute(
        "SELECT count(*) FROM run_pairs WHERE run=? AND state='done'", (run.number,)
    ).fetchone()[0]
    manifest = Manifest(
        shard=shard,
        run=run.id,
        whole=run.record[SHARD_RECORD]["whole"],
        state=run.state,
        message=run.message,
        pairs=len(places),
        finished=finished,
        calls=sums.calls,
        scored=sums.scored,
        price=sums.price,
        unpriced=sums.unpriced,
        matrix=digest,
        unscored=sum(sums.unscored.values()),
        agreement=LabelledCounts.of(fair_frame(store, run)),
    )
    atomic_write(folder / MANIFEST, json.dumps(manifest.to_json(), indent=1) + "\n")
    return manifest


def pair_rows(store: Store, run: RunInfo, places: Sequence[int]) -> Iterator[dict[str, Any]]:
    """The pairs of a shard with their places in the whole, as they are kept: ``body`` is a pair as JSON."""
    for pair, body, *rest in store.reader.execute(
        "SELECT pair, body, run_pairs.state, roles, note, calls_total FROM run_pairs JOIN pairs ON pair_row=pairs.id "
        "WHERE run=? ORDER BY pair",
        (run.number,),
    ):
        values = dict(zip(("state", "roles", "note", "calls_total"), rest, strict=True))
        yield {"place": places[pair], "local": pair, "body": body, **values}


@dataclass(frozen=True, slots=True)
class ShardState:
    """A shard's folder and its manifest, ``None`` while it has not ended."""

    folder: Path
    shard: Shard
    manifest: Manifest | None

    @property
    def store(self) -> Path:
        return self.folder / f"{RUN_PROJECT}.db"


@dataclass(frozen=True, slots=True)
class ShardSet:
    """The shards of one division of a project's pairs. ``missing`` are those of which there is no folder."""

    folder: Path
    of: int
    shards: tuple[ShardState, ...]

    @property
    def missing(self) -> tuple[int, ...]:
        there = {state.shard.index for state in self.shards}
        return tuple(index for index in range(1, self.of + 1) if index not in there)

    @property
    def unfinished(self) -> tuple[int, ...]:
        """Shards that began and have not ended, or ended before all their pairs were done."""
        return tuple(
            state.shard.index for state in self.shards if state.manifest is None or state.manifest.state != "done"
        )

    @property
    def complete(self) -> bool:
        return not self.missing and not self.unfinished


def read_shards(folder: Path) -> ShardSet:
    """The shards in a folder.

    :raises StoreError: there is none, or they belong to different divisions.
    """
    states = []
    for path in sorted(folder.glob("*-of-*")) if folder.is_dir() else ():
        index, _, count = path.name.partition("-of-")
        if index.isdecimal() and count.isdecimal() and (path / f"{RUN_PROJECT}.db").exists():
            states.append(ShardState(path, Shard(int(count), int(index)), Manifest.read(path)))
    if not states:
        raise StoreError(f"{folder}: there are no shards here. Make them with: judgenet run PROJECT --shard K/N")
    if len(divisions := sorted({state.shard.of for state in states})) > 1:
        raise StoreError(
            f"{folder}: holds shards of different divisions (of {', '.join(map(str, divisions))}). "
            "Keep those of one, and put the others elsewhere."
        )
    return ShardSet(folder, divisions[0], tuple(states))


def index_path(folder: Path, name: str = INDEX) -> Path:
    """Where the store of an index of a folder of shards lies: on this machine, since that folder may be shared by
    several over a network, where SQLite's journal must not lie. Other pairs or prompts in the same folder have another
    place.

    :raises judgenet.store.files.FileError: this machine has no place for it.
    """
    manifests = (Manifest.read(path.parent) for path in sorted(folder.glob(f"*-of-*/{MANIFEST}")))
    first = next((manifest for manifest in manifests if manifest is not None), None)
    identity = f"{folder.resolve()} {'' if first is None else first.whole}"
    mark = hashlib.blake2b(identity.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    return store_path(local_folder(INDEX_FOLDERS) / mark / name)


def merge_shards(shards: ShardSet, into: Store, every_pair: Sequence[Pair] | None = None) -> RunInfo:
    """Makes one run of shards in a store, with all calls, texts and labels: the run that the same command without
    ``--shard`` would have made, so that it goes on with it and asks nothing that is there. Merging again takes over
    what is new. With ``every_pair``, all pairs of the project, shards may be missing: their pairs are open.

    :raises StoreError: a shard is missing or has not ended, the shards are of different runs, or ``every_pair`` are
        other pairs.
    """
    if every_pair is None and not shards.complete:
        raise StoreError(f"{shards.folder}: {incomplete_words(shards)}. With --partial what is there is merged.")
    merged: _Merged | None = None
    for state in shards.shards:
        with Store.open(state.store, readonly=True) as source:
            run = run_info(source)
            if shard_of_run(run) != state.shard:
                raise StoreError(f"{state.store}: its newest run is not shard {state.shard}. Run the shard again.")
            if merged is None:
                merged = _Merged(into, run, every_pair, shards)
            merged.take(source, run)
    assert merged is not None
    from judgenet.store.shard_labels import label_sources

    for labelled in label_sources(shards.folder):
        # Labels that people gave on the set before it was merged.
        if labelled != into.path:
            with Store.open(labelled, readonly=True) as source:
                into.run_now(partial(copy_labels, source))
    return merged.finish()


@dataclass(frozen=True, slots=True)
class ShardsInRun:
    """Of how many shards a run is made (``ended`` of ``of``), which are not in it, and which ended before all their
    pairs were done; ``pairs`` are those of all shards."""

    of: int
    ended: int
    missing: tuple[int, ...]
    unfinished: tuple[int, ...]
    pairs: int

    @classmethod
    def of_set(cls, shards: ShardSet, pairs: int) -> Self:
        """Those of a set."""
        ended = sum(state.manifest is not None for state in shards.shards)
        return cls(shards.of, ended, shards.missing, shards.unfinished, pairs)

    @classmethod
    def of_run(cls, run: RunInfo) -> Self | None:
        """Those of a run that is read from its shards or was merged of them; ``None`` for any other."""
        given = run.record.get(SHARDS_RECORD)
        if given is None:
            return None
        missing, unfinished = (tuple(given.get(name, ())) for name in ("missing", "unfinished"))
        return cls(given["of"], given.get("ended", 0), missing, unfinished, given.get("pairs", 0))

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    @property
    def words(self) -> str:
        """How many have ended: ``1 of 3 shards``."""
        return f"{of(self.ended, self.of)} shards"

    @property
    def lacking(self) -> str:
        """What is not in it, in words; empty where nothing is."""
        parts = []
        for title, indexes in (("missing", self.missing), ("not finished", self.unfinished)):
            if indexes:
                named = ", ".join(map(str, indexes[:8])) + (" …" if len(indexes) > 8 else "")
                parts.append(f"{plural(len(indexes), 'shard')} of {self.of:,} {title} ({named})")
        return ", ".join(parts)


def incomplete_words(shards: ShardSet) -> str:
    """What a set of shards lacks, in words."""
    return ShardsInRun.of_set(shards, 0).lacking


class _Merged:
    """The run that shards are merged into."""

    def __init__(self, store: Store, first: RunInfo, every_pair: Sequence[Pair] | None, shards: ShardSet) -> None:
        given = first.record[SHARD_RECORD]
        self._store = store
        self._shards = shards
        self.whole: str = given["whole"]
        self._pairs: int = given["pairs"]
        if every_pair is not None and data_hash(every_pair) != given["data_hash"]:
            raise StoreError("The pairs of the project are others now than when its shards were run.")
        record = {name: value for name, value in first.record.items() if name != SHARD_RECORD}
        record |= {"data_hash": given["data_hash"], "pairs": self._pairs}
        there = {run.fingerprint: run for run in runs(store)}.get(self.whole)
        self._run = (
            there
            if there is not None and every_pair is None
            else start_run(store, self.whole, record if there is None else {}, every_pair or ())
        )

    def take(self, source: Store, run: RunInfo) -> None:
        """Takes over a shard's pairs, calls and labels, in one transaction.

        :raises StoreError: the shard is one of another run.
        """
        if run.record[SHARD_RECORD]["whole"] != self.whole:
            raise StoreError(
                f"{source.path}: this shard is of other pairs, another network or other prompts than the first. "
                "Put shards of different runs into different folders."
            )
        self._store.run_now(lambda db: _copy(source, run, db, self._run.number))
        if (salt := source.meta("salt")) is not None:
            self._store.salt(salt)

    def finish(self) -> RunInfo:
        """Sets the state of the run by those of the shards, and of which it is made."""
        number = self._run.number
        done = self._store.reader.execute(
            "SELECT count(*) FROM run_pairs WHERE run=? AND state<>'open'", (number,)
        ).fetchone()[0]
        state = "done" if self._shards.complete and done == self._pairs else "halted"
        message = "" if state == "done" else f"merged from shards: {done:,} of {self._pairs:,} pairs are finished"

        of_run = ShardsInRun.of_set(self._shards, self._pairs)

        def write(db: sqlite3.Connection) -> None:
            ended = db.execute("SELECT max(started_at) FROM run_calls WHERE run=?", (number,)).fetchone()[0]
            db.execute(
                "UPDATE runs SET state=?, message=?, finished_at=?, record=json_set(record, ?, json(?)) WHERE number=?",
                (state, message, ended, f"$.{SHARDS_RECORD}", json.dumps(of_run.to_json()), number),
            )

        self._store.run_now(write)
        return run_info(self._store, self._run.id)


def _rows(source: Store, sql: str, parameters: Sequence[Any] = ()) -> Iterator[list[Any]]:
    """The rows of a query, so many at a time."""
    cursor = source.reader.execute(sql, parameters)
    batch: list[Any] = []
    for row in cursor:
        batch.append(row)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


def _common_columns(source: Store, db: sqlite3.Connection, table: str) -> list[str]:
    """The columns of a table that a store has too, which may be of an earlier version."""
    known = set(_columns(source.reader, table))
    return [name for name in _columns(db, table) if name in known]


def _ids(db: sqlite3.Connection, table: str, key: str, keys: Sequence[Any]) -> list[int]:
    return [db.execute(f"SELECT id FROM {table} WHERE {key}=?", (value,)).fetchone()[0] for value in keys]


def _copy_keyed(
    source: Store, db: sqlite3.Connection, table: str, key: str, texts: Mapping[int, int] | None = None
) -> dict[int, int]:
    """Copies rows that have an ``id`` and a unique key; gives the new ids by the old. ``texts`` are the new ids of the
    texts that rows refer to."""
    names = [name for name in _common_columns(source, db, table) if name != "id"]
    place = names.index(key)
    marks = ", ".join("?" * len(names))
    new_ids: dict[int, int] = {}
    refers = [names.index(name) for name in ("system_id", "shared_id") if name in names]
    for batch in _rows(source, f"SELECT id, {', '.join(names)} FROM {table}"):
        rows = [list(row[1:]) for row in batch]
        for row in rows:
            for at in refers:
                assert texts is not None
                row[at] = texts[row[at]]
        db.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks}) ON CONFLICT DO NOTHING", rows)
        new_ids |= dict(zip((row[0] for row in batch), _ids(db, table, key, [row[place] for row in rows]), strict=True))
    return new_ids


def _copy(source: Store, run: RunInfo, db: sqlite3.Connection, number: int) -> None:
    places = run.record[SHARD_RECORD]["places"]
    texts = _copy_keyed(source, db, "texts", "hash")
    calls = _copy_keyed(source, db, "calls", "key", texts)
    pairs = _copy_keyed(source, db, "pairs", "hash")
    names = [name for name in _columns(db, "run_pairs") if name not in ("run", "pair", "pair_row")]
    for batch in _rows(source, f"SELECT pair, pair_row, {', '.join(names)} FROM run_pairs WHERE run=?", (run.number,)):
        db.executemany(
            f"INSERT OR REPLACE INTO run_pairs (run, pair, pair_row, {', '.join(names)}) "
            f"VALUES (?, ?, ?, {', '.join('?' * len(names))})",
            [(number, places[row[0]], pairs[row[1]], *row[2:]) for row in batch],
        )
    names = [name for name in _common_columns(source, db, "run_calls") if name not in ("run", "pair", "call_id")]
    for batch in _rows(source, f"SELECT pair, call_id, {', '.join(names)} FROM run_calls WHERE run=?", (run.number,)):
        db.executemany(
            f"INSERT OR REPLACE INTO run_calls (run, pair, call_id, {', '.join(names)}) "
            f"VALUES (?, ?, ?, {', '.join('?' * len(names))})",
            [(number, places[row[0]], None if row[1] is None else calls[row[1]], *row[2:]) for row in batch],
        )
    for batch in _rows(source, "SELECT endpoint, model, body FROM learned"):
        db.executemany("INSERT OR IGNORE INTO learned (endpoint, model, body) VALUES (?, ?, ?)", batch)
    _copy_batches(source, db)
    copy_pictures(source, db)
    copy_labels(source, db)


def _copy_batches(source: Store, db: sqlite3.Connection) -> None:
    """Copies the batches whose results are in, to which answers refer by their id. One that is still out stays the
    shard's own: nobody else may fetch its results."""
    if not knows_batches(source):
        return
    names = ", ".join(name for name in _columns(db, "batches") if name != "number")
    for rows in _rows(source, f"SELECT {names} FROM batches WHERE state='ended' ORDER BY number"):
        marks = ", ".join("?" * len(rows[0]))
        db.executemany(f"INSERT INTO batches ({names}) VALUES ({marks}) ON CONFLICT (id) DO NOTHING", rows)


def copy_labels(source: Store, db: sqlite3.Connection) -> None:
    """Copies the history of labels; entries that are there already (by all they say) are left out."""
    names = [name for name in _columns(db, "labels") if name not in ("id", "undoes")]
    there = {
        tuple(row): int(number) for number, *row in db.execute(f"SELECT id, {', '.join(names)} FROM labels ORDER BY id")
    }
    new_numbers: dict[int, int] = {}
    for number, undoes, *row in source.reader.execute(f"SELECT id, undoes, {', '.join(names)} FROM labels ORDER BY id"):
        if tuple(row) not in there:
            values = (None if undoes is None else new_numbers.get(undoes), *row)
            cursor = db.execute(
                f"INSERT INTO labels (undoes, {', '.join(names)}) VALUES (?, {', '.join('?' * len(names))})", values
            )
            there[tuple(row)] = int(cursor.lastrowid or 0)
        new_numbers[number] = there[tuple(row)]
