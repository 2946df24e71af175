"""The pairs that two runs have in common: the same id and the same content for a judge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from judgenet.core.presets import network
from judgenet.store.db import Store
from judgenet.store.results import common_pairs
from judgenet.store.runs import runs
from tests.unit.engine import harness


def test_pairs_are_the_same_by_id_and_content_whatever_their_place(tmp_path: Path) -> None:
    place = tmp_path / "run.judgenet.db"
    pairs = harness.pairs(5)
    changed = replace(pairs[1], response_a="another answer")
    relabelled = replace(pairs[3], human="b")
    harness.run(place, harness.start(judged=pairs))
    harness.run(place, harness.start(judged=[relabelled, changed, pairs[4], pairs[0]]))
    with Store.open(place, readonly=True) as store:
        first, second = runs(store)
        assert common_pairs((store, first), (store, second)) == [(3, 0), (4, 2), (0, 3)]
        assert common_pairs((store, second), (store, first)) == [(3, 0), (0, 3), (2, 4)]


def test_all_pairs_of_the_same_data_are_common(tmp_path: Path) -> None:
    place = tmp_path / "run.judgenet.db"
    pairs = harness.pairs(4)
    harness.run(place, harness.start(judged=pairs))
    harness.run(place, harness.start(network(2, 1, settings=harness.SETTINGS), pairs))
    with Store.open(place, readonly=True) as store:
        first, second = runs(store)
        assert common_pairs((store, first), (store, second)) == [(0, 0), (1, 1), (2, 2), (3, 3)]
