"""Labels in the store: a history that only grows, in stores old and new."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.core.labels import HumanLabel, LabelRules
from judgenet.core.pairs import Pair
from judgenet.stats.curves import CODES
from judgenet.store import db as store_db
from judgenet.store.db import SCHEMA_VERSION, Store
from judgenet.store.frame import RunFrame
from judgenet.store.labels import (
    LabelBook,
    add_labels,
    label_history,
    label_rules,
    labels_in_force,
    put_label,
    set_label_rules,
    take_back,
)
from judgenet.store.runs import pair_heads, run_info, run_pair, run_pairs, start_run
from tests.pair_verdicts import pair_results
from tests.unit.engine import harness

PAIRS = [
    Pair("one", "Why?", "So.", "Because."),
    Pair("two", "How?", "Thus.", "So.", human="a"),
    Pair("\ud800", "What?", "This.", "That."),
]


def label(pair: Pair, annotator: str = "Ada", **changes: object) -> HumanLabel:
    return replace(HumanLabel(pair.id, pair.content_hash, annotator, "b", "random", True, 3.5, 1000.0), **changes)  # type: ignore[arg-type]


def without_number(labels: list[HumanLabel]) -> list[HumanLabel]:
    return [replace(one, number=0) for one in labels]


def test_a_label_is_kept_with_all_that_belongs_to_it(tmp_path: Path) -> None:
    given = [
        label(PAIRS[0], within="run-1/c1", population=40, chosen="within-verdict"),
        label(PAIRS[1], "Büşra", said="unsure", swapped=None, seconds=None),
        label(PAIRS[2], said="tie", settles=True),
    ]
    with Store.open(tmp_path / "s.judgenet.db") as store:
        assert add_labels(store, given) == 3
        assert add_labels(store, given) == 0
    with Store.open(tmp_path / "s.judgenet.db", readonly=True) as store:
        assert without_number(labels_in_force(store)) == given
        assert without_number(labels_in_force(store, "\ud800")) == given[2:]


def test_what_is_taken_back_stays_in_the_history(tmp_path: Path) -> None:
    first, second = label(PAIRS[0], said="a"), label(PAIRS[0], said="tie")
    told: list[HumanLabel] = []
    with Store.open(tmp_path / "s.judgenet.db") as store:
        for one in (first, second, label(PAIRS[0], "Bo")):
            put_label(store, one, told.extend)
        take_back(store, second)
        assert store.flush()
        assert told[:2] == [first, second]
        assert without_number(labels_in_force(store)) == [first, label(PAIRS[0], "Bo")]
        history = label_history(store)
        assert [(entry.undoes, entry.counts) for entry in history] == [
            (None, True),
            (None, False),
            (None, True),
            (2, False),
        ]
        # Given again, and all taken back: more than there is changes nothing.
        put_label(store, second)
        for _ in range(4):
            take_back(store, second)
        assert store.flush()
        assert without_number(labels_in_force(store)) == [label(PAIRS[0], "Bo")]
        assert len(label_history(store)) == 7


def test_a_label_that_is_told_of_survives_a_kill(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from judgenet.core.labels import HumanLabel\n"
        "from judgenet.store.db import Store\n"
        "from judgenet.store.labels import put_label\n"
        "store = Store.open(Path(sys.argv[1]))\n"
        "for i in range(50):\n"
        "    put_label(store, HumanLabel(f'p{i}', '0' * 64, 'Ada', 'a', 'random'))\n"
        "put_label(store, HumanLabel('last', '0' * 64, 'Ada', 'b', 'random'), lambda done: os._exit(9))\n"
        "store.flush()\n"
    )
    place = tmp_path / "s.judgenet.db"
    done = subprocess.run([sys.executable, "-c", code, str(place)], timeout=200, check=False)
    assert done.returncode == 9
    with Store.open(place) as store:
        kept = labels_in_force(store)
    assert len(kept) == 51
    assert (kept[-1].pair_id, kept[-1].said) == ("last", "b")


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    """A store as the first program version made it, with a run of three pairs."""
    with Store.open(tmp_path / "new.judgenet.db") as store:
        start_run(store, "f", {"network": {}}, PAIRS)
    place = tmp_path / "old.judgenet.db"
    db = sqlite3.connect(place)
    db.executescript(Path(store_db.__file__).with_name("schema.sql").read_text(encoding="utf-8"))
    db.executescript("PRAGMA journal_mode=WAL; PRAGMA user_version=1;")
    db.execute("ATTACH ? AS new", (str(tmp_path / "new.judgenet.db"),))
    for (table,) in db.execute("SELECT name FROM main.sqlite_master WHERE type='table'").fetchall():
        names = ", ".join(row[1] for row in db.execute(f"PRAGMA main.table_info({table})"))
        db.execute(f"INSERT INTO main.{table} ({names}) SELECT {names} FROM new.{table}")
    db.commit()
    db.close()
    return place


def test_an_old_store_is_read_as_it_is(old_store: Path) -> None:
    with Store.open(old_store, readonly=True) as store:
        assert labels_in_force(store) == label_history(store) == []
        assert [of.pair.human for of in run_pairs(store, run_info(store))] == [None, "a", None]
        assert store.reader.execute("PRAGMA user_version").fetchone()[0] == 1


def test_an_old_store_gets_the_new_tables_and_keeps_the_rest(old_store: Path) -> None:
    with Store.open(old_store) as store:
        assert store.reader.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION
        run = run_info(store)
        assert [of.pair for of in run_pairs(store, run)] == PAIRS
        add_labels(store, [label(PAIRS[0])])
        assert run_pair(store, run, 0).pair.human == "b"
    with Store.open(old_store) as store:
        assert len(labels_in_force(store)) == 1


def test_labels_given_after_a_run_are_in_all_that_reads_it(tmp_path: Path) -> None:
    place = tmp_path / "run.judgenet.db"
    pairs = [replace(pair, human=None) for pair in harness.pairs(4)]
    pairs[1] = replace(pairs[1], human="a")
    harness.run(place, harness.start(judged=pairs))
    with Store.open(place) as store:
        run = run_info(store)
        edited = replace(pairs[3], response_a="something else")
        add_labels(
            store,
            [
                label(pairs[0], said="tie"),
                label(pairs[1], said="a"),
                label(pairs[2], chosen="targeted"),
                label(edited),
            ],
        )
        expected = ["tie", "a", None, None]
        assert [of.pair.human for of in run_pairs(store, run)] == expected
        assert [run_pair(store, run, place).pair.human for place in range(4)] == expected
        assert [head.human for head in pair_heads(store, run)] == expected
        assert [result.pair.pair.human for result in pair_results(store, run)] == expected
        assert [CODES[code] for code in RunFrame.read(store, run).human] == expected
        people = [of.people for of in run_pairs(store, run)]
        assert [one.chosen for one in people] == ["random", "random", None, None]
        assert [one.without for one in people] == ["", "", "targeted", "text changed"]
        assert dict(run_pair(store, run, 1).pair.annotators) == {"data file": "a", "Ada": "a"}


def test_the_rules_are_kept_and_hold_for_all_runs(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.judgenet.db") as store:
        run = start_run(store, "f", {}, PAIRS)
        assert label_rules(store) == LabelRules()
        add_labels(store, [label(PAIRS[0]), label(PAIRS[0], "Bo", said="a")])
        assert run_pair(store, run, 0).pair.human == "tie"
        set_label_rules(store, LabelRules("drop", "targeted"))
        assert run_pair(store, run, 0).pair.human is None
        assert [of.pair.human for of in run_pairs(store, run)] == [None, None, None]
        assert [head.human for head in pair_heads(store, run)] == [None, None, None]
        assert [pair.human for pair in LabelBook.of(store).over(PAIRS)] == [None, None, None]
