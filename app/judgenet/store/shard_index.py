"""A set of shards read as one run without merging it: figures come from the matrices, texts from the one shard that
holds a pair.

The index is a store on this machine, made of the shards' matrices and pairs when one has ended since. It holds every
column of the calls but their texts; what asks for the texts of a call is led to its shard
(:func:`judgenet.store.db.Store.holder`).
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from filelock import FileLock, Timeout

from judgenet.core.pairs import Pair
from judgenet.core.project import Project
from judgenet.core.shards import SHARD_RECORD
from judgenet.store.db import SCHEMA_VERSION, Store, StoreError
from judgenet.store.files import load_project, save_project, store_path
from judgenet.store.local_disk import private_folder
from judgenet.store.locate import RUN_PROJECT
from judgenet.store.matrix import MATRIX, OF_ANSWER, OF_CALL, matrix_batches
from judgenet.store.recovery import STATE_VARIABLE
from judgenet.store.runs import KEY_BYTES, RunInfo, run_info, set_run_state, start_run
from judgenet.store.shard_labels import SHARDS_PLACE, carry_over, take_labels, unpublished
from judgenet.store.shards import (
    INDEX,
    INDEXES,
    PAIRS,
    SHARDS_RECORD,
    Manifest,
    ShardSet,
    ShardsInRun,
    ShardState,
    incomplete_words,
    index_path,
)

if TYPE_CHECKING:
    import pandas as pd

_DRAFT: Final = f"making-{INDEX}"
_MADE_OF: Final = "shards"
_FORMAT: Final = 3
"""Counts the ways in which indexes were made: one of an earlier program is made anew."""
_HOLDERS: Final = "shard_pairs"
_BATCH: Final = 50_000
_MOST_OPEN: Final = 128
"""Stores of shards that an index keeps open at a time: each takes a file of those that a program may have open."""
_KEPT_DAYS: Final = 30
"""An index that was not made or labelled for so long is removed, as is one whose shards are gone."""
_PATIENCE_S: Final = 3600.0
"""So long one program waits for another that makes the same index."""

_TEXTS: Final = {"system_id": 0, "shared_id": 0, "own": "", "raw_text": ""}
"""What stands in the index for the texts of an answer."""

_OnProgress = Callable[[int, int], object]


def shard_index(shards: ShardSet, on_progress: _OnProgress = lambda done, total: None) -> Path:
    """The store of the index of shards, made anew where a shard has ended since. While another program has it open for
    writing, such as the studio, and it is not current, a second one is made beside it.

    :raises StoreError: no shard has ended, a shard is of another run, or the index cannot be written.
    """
    folder = shards.folder
    free = (name for name in INDEXES if is_current(shards, name) or not _in_use(index_path(folder, name)))
    if (name := next(free, None)) is None:
        return index_path(folder)
    if not is_current(shards, name):
        maker = IndexMaker(shards, on_progress, name)
        try:
            maker.make()
            maker.put()
        finally:
            maker.close()
    take_labels_elsewhere(folder, name)
    return index_path(folder, name)


def is_current(shards: ShardSet, name: str = INDEX) -> bool:
    """Whether an index is there and made of all shards that have ended, by a program of this version.

    :raises StoreError: no shard has ended.
    """
    made_of, path = _sources_digest(shards), index_path(shards.folder, name)
    if not path.exists():
        return False
    with Store.open(path, readonly=True) as store:
        return store.meta(_MADE_OF) == made_of


def take_labels_elsewhere(folder: Path, name: str = INDEX) -> None:
    """Takes the labels over into an index that people gave elsewhere on the same shards; not while another program has
    it open for writing."""
    path = index_path(folder, name)
    if not _in_use(path):
        take_labels(path, folder)


class IndexMaker:
    """Makes the index anew beside the one that is there, which can be read meanwhile. One program makes it at a time;
    another one waits. To be closed, whatever happens. Its methods may be called from several threads, one at a time.

    :raises StoreError: no shard has ended.
    """

    def __init__(
        self, shards: ShardSet, on_progress: _OnProgress = lambda done, total: None, name: str = INDEX
    ) -> None:
        self._shards = shards
        self._name = name
        self._ended = _ended(shards)
        self._on_progress = on_progress
        self._folder = index_path(shards.folder).parent
        self._lock = FileLock(str(self._folder / f".{_DRAFT}.lock"), thread_local=False)
        self._draft = self._folder / _DRAFT

    def make(self) -> None:
        """Makes the index, unless it is there and current.

        :raises StoreError: a shard is of another run, or the index cannot be written.
        """
        try:
            private_folder(self._folder)
            self._lock.acquire(timeout=_PATIENCE_S)
        except Timeout:
            raise StoreError(f"{self._shards.folder}: another program has been making the index for an hour.") from None
        except OSError as error:
            raise StoreError(
                f"{self._folder}: the index of the shards cannot be kept here ({error.strerror or error}). Make the "
                f"folder writable, or name another with {STATE_VARIABLE}."
            ) from None
        _remove(self._draft)
        _clear_others(self._folder)
        if not is_current(self._shards, self._name):
            with Store.open(store_path(self._draft)) as store:
                _build(store, self._shards, self._ended, self._on_progress)
                store.set_meta(_MADE_OF, _sources_digest(self._shards))
                store.set_meta(SHARDS_PLACE, str(self._shards.folder.resolve()))
                store.reader.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def put(self) -> None:
        """Puts what was made in the place of the index. Labels that people gave there come along.

        :raises StoreError: another program has the index open for writing.
        """
        draft, project = store_path(self._draft), self._folder / self._name
        if not draft.exists():
            return
        path = store_path(project)
        if path.exists():
            with Store.open(path) as before, Store.open(draft) as store:
                store.run_now(partial(carry_over, before))
                store.reader.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        _remove(project)
        draft.replace(path)
        save_project(_project(self._ended[0]), project, backup=False)

    def close(self) -> None:
        """Removes what was made and not put, and lets others make it."""
        if self._lock.is_locked:
            _remove(self._draft)
            self._lock.release()


def _ended(shards: ShardSet) -> list[ShardState]:
    ended = [state for state in shards.shards if state.manifest is not None]
    if not ended:
        raise StoreError(f"{shards.folder}: {incomplete_words(shards)}. Figures are there when a shard has ended.")
    return ended


def _sources_digest(shards: ShardSet) -> str:
    parts = [_FORMAT, SCHEMA_VERSION, *(_digest(state) for state in _ended(shards))]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _digest(state: ShardState) -> list[object]:
    manifest = _manifest(state)
    return [state.folder.name, manifest.matrix, manifest.state, manifest.whole]


def _manifest(state: ShardState) -> Manifest:
    assert state.manifest is not None
    return state.manifest


def _clear_others(own: Path) -> None:
    """Removes what is not needed any more of other indexes on this machine: they can be large."""
    for folder in own.parent.glob("*/"):
        if folder == own:
            continue
        with suppress(OSError, StoreError, sqlite3.Error):
            if all(_disused(path) for path in map(store_path, (folder / name for name in INDEXES)) if path.exists()):
                shutil.rmtree(folder)


def _disused(path: Path) -> bool:
    """Whether an index can be removed: all labels that were given on it have been copied to the shards, and the shards
    are gone or the index was not changed for long."""
    if _in_use(path):
        return False
    with Store.open(path, readonly=True) as index:
        gone = not Path(index.meta(SHARDS_PLACE) or "").exists()
        return (gone or time.time() - path.stat().st_mtime > _KEPT_DAYS * 86_400) and not unpublished(index)


def _in_use(path: Path) -> bool:
    """Whether another program, or another part of this one, has a store open for writing."""
    if not path.exists():
        return False
    lock = FileLock(f"{path}.lock")
    try:
        with lock.acquire(timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        return False


def _remove(project: Path) -> None:
    for ending in ("", ".db", ".db-wal", ".db-shm", ".db.lock"):
        project.with_name(project.name + ending).unlink(missing_ok=True)


def _project(state: ShardState) -> Project:
    """The project that goes with the index: the network as it was run, with no pairs to be run again."""
    return replace(load_project(state.folder / RUN_PROJECT), pairs=None)


def _build(store: Store, shards: ShardSet, ended: Sequence[ShardState], on_progress: _OnProgress) -> None:
    whole = _manifest(ended[0]).whole
    pairs = _pairs_of(ended, whole)
    with Store.open(ended[0].store, readonly=True) as first:
        run = run_info(first)
    given = run.record[SHARD_RECORD]
    of_run = ShardsInRun.of_set(shards, given["pairs"])
    record = {name: value for name, value in run.record.items() if name != SHARD_RECORD}
    record |= {"data_hash": given["data_hash"], "pairs": given["pairs"], SHARDS_RECORD: of_run.to_json()}
    texts = [Pair.from_json(json.loads(body)) for body in pairs["body"]]
    index_run = start_run(store, whole, record, texts)
    of_place = dict(zip(pairs["place"], range(len(pairs)), strict=True))
    folders = [state.folder.name for state in ended]
    store.run_now(partial(_write_pairs, pairs=pairs, folders=folders, run=index_run.number))
    for number, state in enumerate(ended):
        store.run_now(partial(_copy_matrix, state=state, run=index_run.number, of_place=of_place))
        on_progress(number + 1, len(ended))
    missing = given["pairs"] - len(pairs)
    done = shards.complete and not missing
    lacking = "" if done else f"shards: {len(pairs):,} of {given['pairs']:,} pairs are there; {of_run.lacking}"
    set_run_state(store, index_run.id, "done" if done else "halted", lacking)
    store.flush()


def _pairs_of(ended: Sequence[ShardState], whole: str) -> pd.DataFrame:
    """The pairs of all shards in the order of the run, each with the number of its shard.

    :raises StoreError: a shard is of another run than ``whole``.
    """
    import pandas as pd

    frames = []
    for number, state in enumerate(ended):
        if _manifest(state).whole != whole:
            raise StoreError(
                f"{state.folder}: this shard is of other pairs, another network or other prompts than the first. "
                "Put shards of different runs into different folders."
            )
        frames.append(pd.read_parquet(state.folder / PAIRS).assign(shard=number))
    return pd.concat(frames).sort_values("place", kind="stable", ignore_index=True)


def _write_pairs(db: sqlite3.Connection, pairs: pd.DataFrame, folders: Sequence[str], run: int) -> None:
    """Writes how far each pair is, and which of the ``folders`` holds its calls."""
    db.execute(f"CREATE TABLE {_HOLDERS} (pair INTEGER PRIMARY KEY, folder TEXT NOT NULL, local INTEGER NOT NULL)")
    holders = zip(
        range(len(pairs)), (folders[folder] for folder in pairs["shard"]), pairs["local"].tolist(), strict=True
    )
    db.executemany(f"INSERT INTO {_HOLDERS} VALUES (?, ?, ?)", holders)
    db.execute(f"CREATE INDEX {_HOLDERS}_by_folder ON {_HOLDERS} (folder)")
    columns = ("state", "roles", "note", "calls_total")
    values = pairs[[*columns]].astype(object).where(pairs[[*columns]].notna(), None).values.tolist()
    db.executemany(
        "UPDATE run_pairs SET state=?, roles=?, note=?, calls_total=? WHERE run=? AND pair=?",
        [(*row[:3], None if row[3] is None else int(row[3]), run, pair) for pair, row in enumerate(values)],
    )
    db.execute("INSERT OR IGNORE INTO texts (id, hash, body) VALUES (0, x'', '')")


def _copy_matrix(db: sqlite3.Connection, state: ShardState, run: int, of_place: dict[int, int]) -> None:
    answers = ["key", *OF_ANSWER, *_TEXTS, "endpoint", "model"]
    insert = f"INSERT INTO calls (id, {', '.join(answers)}) VALUES ({', '.join('?' * (len(answers) + 1))})"
    first = int(db.execute("SELECT coalesce(max(id), 0) FROM calls").fetchone()[0])
    for columns in matrix_batches(state.folder / MATRIX, _BATCH):
        size = len(columns["place"])
        nothing = [None] * size
        answered = [form is not None for form in columns["answer_form"]]
        numbers: list[int | None] = []
        for there in answered:
            first += there
            numbers.append(first if there else None)
        again = columns.get("earlier_count", nothing)
        keys = [
            None if answer_number is None else _key(answer_number, count)
            for answer_number, count in zip(numbers, again, strict=True)
        ]
        texts = [[value] * size for value in _TEXTS.values()]
        of_answer = [columns.get(f"answer_{name}", nothing) for name in OF_ANSWER]
        rows = zip(numbers, keys, *of_answer, *texts, columns["endpoint"], columns["model"], strict=True)
        db.executemany(insert, (row for row, there in zip(rows, answered, strict=True) if there))
        for place, count in enumerate(again):
            if count:
                row = {name: values[place] for name, values in columns.items()}
                first = _insert_earlier(db, insert, row, numbers[place] or 0, first)
        places = [of_place[place] for place in columns["place"]]
        marks = ", ".join("?" * (len(OF_CALL) + 3))
        calls = zip([run] * size, places, numbers, *(columns.get(name, nothing) for name in OF_CALL), strict=True)
        db.executemany(f"INSERT INTO run_calls (run, pair, call_id, {', '.join(OF_CALL)}) VALUES ({marks})", calls)


def _key(number: int, earlier: int | None) -> bytes:
    """The key of an answer in the index, which keeps no content: after so many earlier ones to the same question."""
    return number.to_bytes(KEY_BYTES, "big") + (earlier.to_bytes(2, "big") if earlier else b"")


def _insert_earlier(db: sqlite3.Connection, insert: str, row: dict[str, Any], number: int, last: int) -> int:
    """Enters the answers before one that could not be read: the first has their sums, and so many
    are of unknown price as were. Returns the last id that is taken."""
    count, unpriced = row["earlier_count"], row["earlier_unpriced"]
    for place in range(count):
        sums = {f"answer_{name}": row[f"earlier_{name}"] if place == 0 else 0 for name in _SUMMED}
        unknown = place >= count - unpriced
        given = {**row, **sums, "answer_price": None if unknown else row["earlier_price"] if place == 0 else 0.0}
        last += 1
        values = [given.get(f"answer_{name}") for name in OF_ANSWER]
        db.execute(insert, (last, _key(number, place), *values, *_TEXTS.values(), row["endpoint"], row["model"]))
    return last


_SUMMED: Final = ("tokens_in", "tokens_out", "tokens_cached")


def open_holder(index: Store, pair: int) -> tuple[Store, RunInfo, int]:
    """The shard's store that holds a pair of an index, its run, and the pair's place there. The last ones stay open.

    :raises StoreError: the shard is not there any more.
    """
    folder, local = index.reader.execute(f"SELECT folder, local FROM {_HOLDERS} WHERE pair=?", (pair,)).fetchone()
    part = index.parts.pop(folder, None)
    if part is None:
        shards = Path(index.meta(SHARDS_PLACE) or "")
        part = Store.open(shards / folder / f"{RUN_PROJECT}.db", readonly=True)
        while len(index.parts) >= _MOST_OPEN:
            index.parts.pop(next(iter(index.parts))).close()
    index.parts[folder] = part
    return part, run_info(part), int(local)


def shards_in(index: Store) -> frozenset[str]:
    """The folders of the shards that an index is made of and that have pairs."""
    return frozenset(row[0] for row in index.reader.execute(f"SELECT DISTINCT folder FROM {_HOLDERS}"))


def pairs_of_shard(index: Store, folder: str) -> tuple[int, ...]:
    """The pairs of an index that a shard's folder holds, by place; none where the shard is not in the index."""
    rows = index.reader.execute(f"SELECT pair FROM {_HOLDERS} WHERE folder=? ORDER BY pair", (folder,))
    return tuple(int(pair) for (pair,) in rows)
