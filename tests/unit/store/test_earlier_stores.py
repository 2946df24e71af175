"""Stores of earlier versions, opened for reading: what they lack is not there, and the rest is read as it is."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from judgenet.core.network import NetworkSpec
from judgenet.figures.metrics import run_metrics
from judgenet.report.run_records import call_records, verdict_records
from judgenet.store import db as store_db
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.matrix import matrix_rows
from judgenet.store.runs import call_rows, full_calls, pair_call_rows, recorded, run_info
from judgenet.store.tables import call_table
from tests.unit.engine.harness import pairs, run, start


@pytest.fixture(params=[1, 2])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """A run, and the same run in a store of an earlier version."""
    version: int = request.param
    run(tmp_path / "new.judgenet.db", start(judged=pairs(2, human="a")))
    place = tmp_path / "old.judgenet.db"
    db = sqlite3.connect(place)
    for step in ("schema.sql", "schema_2.sql")[:version]:
        db.executescript(Path(store_db.__file__).with_name(step).read_text(encoding="utf-8"))
    db.executescript(f"PRAGMA journal_mode=WAL; PRAGMA user_version={version};")
    db.execute("ATTACH ? AS new", (str(tmp_path / "new.judgenet.db"),))
    for (table,) in db.execute("SELECT name FROM main.sqlite_master WHERE type='table'").fetchall():
        names = ", ".join(row[1] for row in db.execute(f"PRAGMA main.table_info({table})"))
        db.execute(f"INSERT INTO main.{table} ({names}) SELECT {names} FROM new.{table}")
    db.commit()
    db.close()
    return tmp_path / "new.judgenet.db", place


def test_a_run_of_an_earlier_store_reads_the_same(stores: tuple[Path, Path]) -> None:
    told = []
    for place in stores:
        with Store.open(place, readonly=True) as store:
            info = run_info(store)
            frame = RunFrame.read(store, info)
            key = bytes(store.reader.execute("SELECT key FROM calls LIMIT 1").fetchone()[0])
            told.append(
                (
                    list(call_rows(store, info)),
                    pair_call_rows(store, info, 1),
                    list(full_calls(store, info)),
                    recorded(store, key),
                    list(call_records(store, info)),
                    list(verdict_records(store, info)),
                    list(matrix_rows(store, info, [0, 1])),
                    call_table(store, info, texts=True).to_csv(),
                    run_metrics(store, frame).to_dict(),
                )
            )
    new, old = told
    for mine, theirs in zip(new, old, strict=True):
        assert mine == theirs


def test_a_run_by_probabilities_needs_the_columns(stores: tuple[Path, Path]) -> None:
    """A design of now that is read with a store of then: no call has probabilities."""
    _, old = stores
    with Store.open(old, readonly=True) as store:
        info = run_info(store)
        info.record["network"]["settings"]["scores"] = "probabilities"
        frame = RunFrame.read(store, info)
        assert isinstance(frame.spec, NetworkSpec)
        assert frame.table.soft is not None
        figures = run_metrics(store, frame).probabilities
    assert figures is not None
    assert (figures.calls, figures.used) == (0, 0)
