"""Labels that people gave on a set of shards. The index of the set lies on each reader's own disk; labels given there
are copied into the folder of the shards, a file for each index, so that they reach all readers and stay with the
shards.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import sqlite3
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from judgenet.core.project import PROJECT_SUFFIX
from judgenet.store.backup import drop_journal
from judgenet.store.db import Store, StoreError
from judgenet.store.files import FileError, store_path
from judgenet.store.labels import label_rules, newest_label
from judgenet.store.local_disk import put_copy
from judgenet.store.locate import SHARDS_SUFFIX
from judgenet.store.shards import INDEXES, copy_labels, index_path

LABELS: Final = "labels"
"""The folder, in that of the shards, with a store of labels from each index."""
SHARDS_PLACE: Final = "shards_folder"
_OWN_FILE: Final = "labels_file"
_PUBLISHED: Final = "labels_published"
_TAKEN: Final = "labels_taken"
_OF_INDEX: Final = ("shards", "forms", SHARDS_PLACE, _OWN_FILE, _PUBLISHED)


def label_sources(folder: Path) -> Iterator[Path]:
    """The stores with labels on the shards in a folder: the project's own (labels given before or beside its shards),
    the indexes on this machine, those that earlier programs kept in the folder, and what other machines published."""
    own = store_path(folder.with_name(folder.name.removesuffix(SHARDS_SUFFIX) + PROJECT_SUFFIX))
    indexes = (index_path(folder, name) for name in INDEXES)
    earlier = (store_path(folder / name) for name in INDEXES)
    for path in (own, *indexes, *earlier, *sorted((folder / LABELS).glob("*.db"))):
        if path.exists():
            yield path


def take_labels(index: Path, folder: Path) -> None:
    """Takes the labels over into an index that people gave elsewhere on the same shards.

    :raises judgenet.store.db.StoreInUse: another program has it open for writing.
    """
    for path in label_sources(folder):
        if path == index:
            continue
        mark = f"{_TAKEN} {_mark(path)}"
        with Store.open(path, readonly=True) as source:
            newest = str(newest_label(source))
            with Store.open(index, readonly=True) as store:
                if newest == (store.meta(mark) or "0"):
                    continue
            with Store.open(index) as store:
                all_published = not unpublished(store)
                store.run_now(partial(take_over, source))
                store.set_meta(mark, newest)
                if all_published:
                    # Whoever has it published it: each reader need not do so again.
                    store.set_meta(_PUBLISHED, _state(store))


def _mark(path: Path) -> str:
    """A name for a store of labels: two that are called the same lie in different folders."""
    return f"{path.name} {hashlib.blake2b(str(path.parent).encode(), digest_size=4).hexdigest()}"


def take_over(source: Store, db: sqlite3.Connection) -> None:
    """Copies labels from a store, and how they count."""
    copy_labels(source, db)
    names = ", ".join("?" * len(_OF_INDEX))
    for name, value in source.reader.execute(
        f"SELECT name, value FROM meta WHERE name NOT IN ({names}) AND name NOT LIKE ?", (*_OF_INDEX, f"{_TAKEN}%")
    ):
        db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (name, value))


def carry_over(before: Store, db: sqlite3.Connection) -> None:
    """Copies from an index to the one that takes its place what people said on it, and under which name that is
    published."""
    take_over(before, db)
    for name in (_OWN_FILE, _PUBLISHED):
        if (value := before.meta(name)) is not None:
            db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (name, value))


def publish_labels(index: Store) -> None:
    """Copies the labels of an index into the folder of its shards, where there are new ones.

    :raises FileError: the folder cannot be written; the labels stay in the index and are copied another time.
    :raises StoreError: a store cannot be read or written.
    """
    folder = index.meta(SHARDS_PLACE)
    if folder is None or not unpublished(index):
        return
    state = _state(index)
    name = index.meta(_OWN_FILE) or secrets.token_hex(8)
    target = Path(folder) / LABELS / f"{name}.db"
    try:
        target.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"{target.parent} cannot be made ({error.strerror or error}).") from None
    with tempfile.TemporaryDirectory(dir=index.path.parent) as room:
        draft = Path(room) / target.name
        with Store.open(draft) as store:
            store.run_now(partial(take_over, index))
        drop_journal(draft)
        put_copy(draft, target)

    def note(db: sqlite3.Connection) -> None:
        db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", [(_OWN_FILE, name), (_PUBLISHED, state)])

    index.run_now(note)


def unpublished(index: Store) -> bool:
    """Whether an index has labels that are not in the folder of its shards."""
    return bool(newest_label(index)) and index.meta(_PUBLISHED) != _state(index)


def _state(index: Store) -> str:
    return f"{newest_label(index)} {label_rules(index)}"


def publish_if_possible(index: Store) -> None:
    """Copies the labels of an index into the folder of its shards, if that can be written now; else another time."""
    with contextlib.suppress(FileError, StoreError, sqlite3.Error):
        publish_labels(index)
