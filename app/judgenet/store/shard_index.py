"""A set of shards read as one run without merging it: figures come from the matrices, texts from the one shard that
holds a pair.

The index is a store beside the shards, made of their matrices and pairs when one has ended since. It holds every
column of the calls but their texts; what asks for the texts of a call is led to its shard
(:func:`judgenet.store.db.Store.holder`).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from judgenet.core.pairs import Pair
from judgenet.core.project import Project
from judgenet.core.shards import SHARD_RECORD
from judgenet.store.db import Store, StoreError
from judgenet.store.files import load_project, save_project
from judgenet.store.locate import RUN_PROJECT
from judgenet.store.runs import RunInfo, run_info, set_run_state, start_run
from judgenet.store.shards import MATRIX, OF_ANSWER, OF_CALL, PAIRS, ShardSet, ShardState, copy_labels, incomplete_words

INDEX: Final = "index.judgenet"
_MADE_OF: Final = "shards"
_HOLDERS: Final = "shard_pairs"
_BATCH: Final = 50_000

_TEXTS: Final = {"system_id": 0, "shared_id": 0, "own": "", "raw_text": ""}
"""What stands in the index for the texts of an answer."""


def shard_index(shards: ShardSet) -> Path:
    """The store of the index of shards, made anew where a shard has ended since.

    :raises StoreError: no shard has ended, a shard is of another run, or the index cannot be written.
    """
    ended = [state for state in shards.shards if state.manifest is not None]
    if not ended:
        raise StoreError(f"{shards.folder}: {incomplete_words(shards)}. Figures are there when a shard has ended.")
    made_of = hashlib.sha256(json.dumps([_digest(state) for state in ended]).encode()).hexdigest()
    project = shards.folder / INDEX
    path = project.with_name(f"{INDEX}.db")
    if path.exists():
        with Store.open(path, readonly=True) as store:
            if store.meta(_MADE_OF) == made_of:
                return path
    draft = project.with_name(f"making-{INDEX}")
    _remove(draft)
    with Store.open(draft.with_name(f"{draft.name}.db")) as store:
        _build(store, shards, ended)
        if path.exists():
            # Labels that people gave on the index are nowhere else.
            with Store.open(path, readonly=True) as before:
                store.run_now(partial(copy_labels, before))
        store.set_meta(_MADE_OF, made_of)
        store.reader.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    _remove(project)
    draft.with_name(f"{draft.name}.db").replace(path)
    _remove(draft)
    save_project(_project(ended[0]), project, backup=False)
    return path


def _digest(state: ShardState) -> list[object]:
    assert state.manifest is not None
    return [state.folder.name, state.manifest.matrix, state.manifest.state, state.manifest.whole]


def _remove(project: Path) -> None:
    for ending in ("", ".db", ".db-wal", ".db-shm", ".db.lock"):
        project.with_name(project.name + ending).unlink(missing_ok=True)


def _project(state: ShardState) -> Project:
    """The project that goes with the index: the network as it was run, with no pairs to be run again."""
    return replace(load_project(state.folder / RUN_PROJECT), pairs=None)


def _build(store: Store, shards: ShardSet, ended: Sequence[ShardState]) -> None:
    import pandas as pd

    whole = ended[0].manifest.whole if ended[0].manifest else ""
    frames = []
    for number, state in enumerate(ended):
        assert state.manifest is not None
        if state.manifest.whole != whole:
            raise StoreError(
                f"{state.folder}: this shard is of other pairs, another network or other prompts than the first. "
                "Put shards of different runs into different folders."
            )
        frames.append(pd.read_parquet(state.folder / PAIRS).assign(shard=number))
    pairs = pd.concat(frames).sort_values("place", kind="stable", ignore_index=True)
    with Store.open(ended[0].store, readonly=True) as first:
        run = run_info(first)
    given = run.record[SHARD_RECORD]
    record = {name: value for name, value in run.record.items() if name != SHARD_RECORD}
    record |= {"data_hash": given["data_hash"], "pairs": given["pairs"]}
    texts = [Pair.from_json(json.loads(body)) for body in pairs["body"]]
    made = start_run(store, whole, record, texts)
    of_place = dict(zip(pairs["place"], range(len(pairs)), strict=True))

    def write_pairs(db: sqlite3.Connection) -> None:
        db.execute(f"CREATE TABLE {_HOLDERS} (pair INTEGER PRIMARY KEY, folder TEXT NOT NULL, local INTEGER NOT NULL)")
        folders = [state.folder.name for state in ended]
        holders = zip(range(len(pairs)), (folders[of] for of in pairs["shard"]), pairs["local"].tolist(), strict=True)
        db.executemany(f"INSERT INTO {_HOLDERS} VALUES (?, ?, ?)", holders)
        columns = ("state", "roles", "note", "calls_total")
        values = pairs[[*columns]].astype(object).where(pairs[[*columns]].notna(), None).values.tolist()
        db.executemany(
            "UPDATE run_pairs SET state=?, roles=?, note=?, calls_total=? WHERE run=? AND pair=?",
            [(*row[:3], None if row[3] is None else int(row[3]), made.number, pair) for pair, row in enumerate(values)],
        )
        db.execute("INSERT OR IGNORE INTO texts (id, hash, body) VALUES (0, x'', '')")

    store.run_now(write_pairs)
    for state in ended:
        store.run_now(partial(_copy_matrix, state=state, run=made.number, of_place=of_place))
    missing = given["pairs"] - len(pairs)
    done = shards.complete and not missing
    lacking = (
        "" if done else f"shards: {len(pairs):,} of {given['pairs']:,} pairs are there; {incomplete_words(shards)}"
    )
    set_run_state(store, made.id, "done" if done else "halted", lacking)
    store.flush()


def _copy_matrix(db: sqlite3.Connection, state: ShardState, run: int, of_place: dict[int, int]) -> None:
    import pyarrow.parquet as pa_parquet  # type: ignore[import-untyped]

    file = pa_parquet.ParquetFile(state.folder / MATRIX)
    answers = ["key", *OF_ANSWER, *_TEXTS, "endpoint", "model"]
    first = int(db.execute("SELECT coalesce(max(id), 0) FROM calls").fetchone()[0])
    for batch in file.iter_batches(_BATCH):
        rows = batch.to_pylist()
        kept, calls = [], []
        for row in rows:
            number = None
            if row["answer_form"] is not None:
                first += 1
                number = first
                key = number.to_bytes(32, "big")
                values = [row[f"answer_{name}"] for name in OF_ANSWER]
                kept.append((number, key, *values, *_TEXTS.values(), row["endpoint"], row["model"]))
            calls.append((run, of_place[row["place"]], number, *(row[name] for name in OF_CALL)))
        marks = ", ".join("?" * (len(answers) + 1))
        db.executemany(f"INSERT INTO calls (id, {', '.join(answers)}) VALUES ({marks})", kept)
        marks = ", ".join("?" * (len(OF_CALL) + 3))
        db.executemany(f"INSERT INTO run_calls (run, pair, call_id, {', '.join(OF_CALL)}) VALUES ({marks})", calls)


def open_holder(index: Store, pair: int) -> tuple[Store, RunInfo, int]:
    """The shard's store that holds a pair of an index, its run, and the pair's place there. It stays open with the
    index.

    :raises StoreError: the shard is not there any more.
    """
    folder, local = index.reader.execute(f"SELECT folder, local FROM {_HOLDERS} WHERE pair=?", (pair,)).fetchone()
    part = index.parts.get(folder)
    if part is None:
        part = index.parts[folder] = Store.open(index.path.parent / folder / f"{RUN_PROJECT}.db", readonly=True)
    return part, run_info(part), int(local)
