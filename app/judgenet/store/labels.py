"""Human labels in the store: a history that only grows, and the one label per pair on which every figure rests.

Labels belong to pairs, not to runs: a label given after a run counts in all runs that judged this pair.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from judgenet.core.labels import CHOSEN, Chosen, HumanLabel, LabelRules, People, in_force, merged, of_file
from judgenet.core.pairs import Pair
from judgenet.store.db import Store, plain, restored, storable

_NO_MAJORITY = "labels_no_majority"
_FILE_CHOSEN = "labels_file_chosen"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the history. ``undoes`` is the number of the entry that this one takes back; ``label`` then repeats
    it. ``counts`` is true for a label in force."""

    label: HumanLabel
    undoes: int | None
    counts: bool


# Writing


def insert_label(db: sqlite3.Connection, label: HumanLabel) -> int:
    """Enters a label and returns its number. Runs inside a write of the store."""
    return _insert(db, label, "settle" if label.settles else "label", None)


def _insert(db: sqlite3.Connection, label: HumanLabel, kind: str, undoes: int | None) -> int:
    (number,) = db.execute(
        "INSERT INTO labels (kind, undoes, pair_id, content, annotator, said, chosen, swapped, seconds, at, within, "
        "population) VALUES (?,?,?,?,?,?,?,?,?,?,?,?) RETURNING id",
        (
            kind,
            undoes,
            storable(label.pair_id),
            bytes.fromhex(label.content),
            plain(label.annotator),
            label.said,
            label.chosen,
            label.swapped,
            label.seconds,
            label.at,
            label.within,
            label.population,
        ),
    ).fetchone()
    return int(number)


def add_labels(store: Store, labels: Sequence[HumanLabel]) -> int:
    """Enters labels in one transaction: all or none. What is in force already is left out. Returns how many were new.

    :raises StoreError: the store cannot be written.
    """
    known = {_same(label) for label in labels_in_force(store)}
    new = [label for label in labels if _same(label) not in known]

    def write(db: sqlite3.Connection) -> int:
        for label in new:
            insert_label(db, label)
        return len(new)

    return int(store.run_now(write))


def _same(label: HumanLabel) -> tuple[object, ...]:
    return (label.pair_id, label.content, label.annotator, label.said, label.chosen, label.within, label.settles)


def put_label(store: Store, label: HumanLabel, on_commit: Callable[[Sequence[HumanLabel]], None] | None = None) -> None:
    """Queues a label behind what is being written. ``on_commit`` is called on the writer's thread with what is on
    disk."""
    store.put(lambda db: insert_label(db, label), label, on_commit)


def take_back(store: Store, label: HumanLabel, on_commit: Callable[[Sequence[HumanLabel]], None] | None = None) -> None:
    """Queues that a label no longer counts; what its annotator said of the pair before counts again.

    The label is found by pair and annotator, so that it may still be on its way to the disk. The history keeps both.
    """

    def write(db: sqlite3.Connection) -> None:
        history = [entry for entry in _history(db, label.pair_id) if entry.undoes is None and entry.counts]
        mine = [entry.label for entry in history if _slot(entry.label) == _slot(label)]
        if mine:
            _insert(db, label, "undo", mine[-1].number)

    store.put(write, label, on_commit)


def _slot(label: HumanLabel) -> tuple[object, ...]:
    return (label.content, label.annotator, label.settles, label.chosen == "targeted")


# Reading


def _there(store: Store) -> bool:
    # A store of an earlier program that is only read has no labels.
    return store.reader.execute("SELECT 1 FROM sqlite_master WHERE name='labels'").fetchone() is not None


_ROWS = (
    "SELECT id, kind, undoes, pair_id, content, annotator, said, chosen, swapped, seconds, at, within, population "
    "FROM labels "
)


def _history(db: sqlite3.Connection, pair_id: str | None = None) -> list[Entry]:
    if pair_id is None:
        rows = db.execute(_ROWS + "ORDER BY id").fetchall()
    else:
        rows = db.execute(_ROWS + "WHERE pair_id=? ORDER BY id", (storable(pair_id),)).fetchall()
    undone = frozenset(row[2] for row in rows if row[1] == "undo")
    entries: list[tuple[HumanLabel, int | None]] = []
    for number, kind, undoes, pair, content, annotator, said, chosen, swapped, seconds, at, within, population in rows:
        label = HumanLabel(
            restored(pair),
            content.hex(),
            annotator,
            said,
            chosen,
            None if swapped is None else bool(swapped),
            seconds,
            at,
            within,
            population,
            kind == "settle",
            number,
        )
        entries.append((label, undoes if kind == "undo" else None))
    counting = {label.number for label in in_force((label for label, undoes in entries if undoes is None), undone)}
    return [Entry(label, undoes, label.number in counting) for label, undoes in entries]


def label_history(store: Store) -> list[Entry]:
    """All entries ever made, in order."""
    return _history(store.reader) if _there(store) else []


def labels_in_force(store: Store, pair_id: str | None = None) -> list[HumanLabel]:
    """The labels that count, oldest first: of all pairs, or of the pairs with one id."""
    return [entry.label for entry in _history(store.reader, pair_id) if entry.counts] if _there(store) else []


def history_records(store: Store, pairs: Iterable[Pair]) -> Iterator[dict[str, Any]]:
    """The history of the labels of some pairs as stable keys, an entry a record. ``texts_current`` is false where the
    pair has other texts now."""
    contents = {pair.id: pair for pair in pairs}
    for entry in label_history(store):
        label = entry.label
        pair = contents.get(label.pair_id)
        if pair is not None:
            yield {
                "pair_id": label.pair_id,
                "annotator": label.annotator,
                "label": label.said,
                "chosen": label.chosen,
                "swapped": label.swapped,
                "seconds": label.seconds,
                "at": datetime.fromtimestamp(label.at, UTC).isoformat(),
                "within": label.within,
                "population": label.population,
                "kind": "undo" if entry.undoes is not None else "settle" if label.settles else "label",
                "number": label.number,
                "undoes": entry.undoes,
                "in_force": entry.counts,
                "texts_current": pair.content_hash == label.content,
                "content": label.content,
            }


def has_labels(store: Store) -> bool:
    """Whether anybody ever labelled a pair."""
    return _there(store) and store.reader.execute("SELECT 1 FROM labels LIMIT 1").fetchone() is not None


def newest_label(store: Store) -> int:
    """The number of the newest entry of the history; 0 where there is none."""
    return int(store.reader.execute("SELECT max(id) FROM labels").fetchone()[0] or 0) if _there(store) else 0


def label_rules(store: Store) -> LabelRules:
    """How labels become one a pair in this store."""
    kept = store.meta(_FILE_CHOSEN)
    file_chosen: Chosen = next((name for name in CHOSEN if name == kept), "imported")
    return LabelRules("drop" if store.meta(_NO_MAJORITY) == "drop" else "tie", file_chosen)


def set_label_rules(store: Store, rules: LabelRules) -> None:
    """Changes how labels become one a pair, for all runs of the store.

    :raises StoreError: the store cannot be written.
    """
    store.set_meta(_NO_MAJORITY, rules.no_majority)
    store.set_meta(_FILE_CHOSEN, rules.file_chosen)


class LabelBook:
    """The labels in force by pair, to be laid over the pairs of a run or a file."""

    def __init__(self, labels: Iterable[HumanLabel] = (), rules: LabelRules | None = None) -> None:
        self.rules = rules = rules or LabelRules()
        self._labelled = People(rules.file_chosen)
        self._by_pair: dict[str, list[HumanLabel]] = {}
        for label in labels:
            self._by_pair.setdefault(label.pair_id, []).append(label)

    @classmethod
    def of(cls, store: Store, pair_id: str | None = None) -> LabelBook:
        """The labels of a store: all, or those of one pair id."""
        return cls(labels_in_force(store, pair_id), label_rules(store))

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the pairs that somebody labelled."""
        return frozenset(self._by_pair)

    def labels(self, pair: Pair) -> list[HumanLabel]:
        """The labels in force of a pair with these texts."""
        mine = self._by_pair.get(pair.id, ())
        content = pair.content_hash if mine else ""
        return [label for label in mine if label.content == content]

    def merged(self, pair: Pair) -> tuple[Pair, People]:
        """The pair with its one label, and where that comes from."""
        mine = self._by_pair.get(pair.id)
        if mine is None and self.rules.file_chosen != "targeted":
            return pair, self._labelled if pair.human is not None else of_file(pair, self.rules.file_chosen)
        return merged(pair, mine or (), self.rules)

    def over(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """The pairs with their labels."""
        for pair in pairs:
            yield self.merged(pair)[0]
