"""A set of shards seen from outside: by what they tell, by what they left, and by their silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgenet.core.shards import Shard
from judgenet.figures.errors import FiguresError
from judgenet.figures.shards import shard_agreement, shard_set, shard_set_figures
from judgenet.store.db import StoreError
from judgenet.store.shard_states import (
    ShardReport,
    ShardsReport,
    write_command,
    write_shard_report,
    write_shards_report,
)
from judgenet.store.shard_watch import ShardWatch
from judgenet.store.shards import MANIFEST, LabelledCounts, Manifest

NOW = 10_000.0
OF = 6


def told(folder: Path, index: int, report: ShardReport) -> None:
    place = folder / Shard(OF, index).folder
    place.mkdir(parents=True, exist_ok=True)
    write_shard_report(place, report)


def ended(folder: Path, index: int, counts: LabelledCounts | None, state: str = "done") -> None:
    place = folder / Shard(OF, index).folder
    place.mkdir(parents=True, exist_ok=True)
    manifest = Manifest(Shard(OF, index), "run-1", "w", state, "", 10, 10, 90, 88, 0.5, 0, "m", 2, counts)
    (place / MANIFEST).write_text(json.dumps(manifest.to_json()), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "study.shards"


def test_states_are_what_shards_tell_left_or_keep_silent_of(folder: Path) -> None:
    told(folder, 1, ShardReport("running", 1, "n1", 4, 10, 40, 1, 0.25, "", NOW - 2))
    told(folder, 2, ShardReport("running", 2, "n2", 1, 10, 9, 0, 0.05, "", NOW - 200))
    told(folder, 3, ShardReport("failed", 3, "n3", 2, 10, 18, 0, 0.1, "The key was refused.", NOW - 500))
    told(folder, 4, ShardReport("done", 1, "n1", 10, 10, 90, 2, 0.5, "", NOW - 900))
    # One of an earlier program, which left a manifest and tells nothing.
    ended(folder, 5, None)
    look = ShardWatch(folder).look(NOW)
    assert look is not None
    assert [look.state_of(index) for index in range(1, OF + 1)] == [
        "running",
        "silent",
        "failed",
        "done",
        "done",
        "waiting",
    ]
    assert (look.pairs_done, look.pairs, look.calls, look.unscored) == (27, None, 247, 5)
    assert look.price == pytest.approx(1.4)
    figures = shard_set_figures(look, "study.judgenet")
    assert (figures.state, figures.missing) == ("running", (6,))
    assert [(of.shard, of.worker, of.error) for of in figures.troubles] == [
        (3, "n3", "The key was refused."),
        (2, "n2", ""),
    ]
    assert figures.troubles[1].silent_s == 200
    # One look cannot tell how fast they go: it says so.
    assert figures.rates.calls_per_second is None
    assert "second look" in str(figures.rates.reason)


def test_rates_follow_from_looks_over_the_last_minute(folder: Path) -> None:
    watch = ShardWatch(folder)
    rates = []
    for seconds, done in ((0, 0), (30, 30), (100, 240), (110, 260)):
        told(folder, 1, ShardReport("running", 1, "n", done, 500, 9 * done, 0, 0.0, "", NOW + seconds))
        look = watch.look(NOW + seconds)
        assert look is not None
        rates.append((look.pairs_per_second, look.calls_per_second))
    # From 0 to 30 s; from 30 to 100 s, the last look before the minute; from 30 to 110 s.
    assert rates == [(None, None), (1.0, 9.0), (3.0, 27.0), (2.875, 25.875)]


def test_agreement_adds_up_over_the_shards_that_counted_it(folder: Path) -> None:
    ended(folder, 1, LabelledCounts("c2_all", {("a", "a"): 6, ("a", "b"): 1, ("b", None): 1}, 8))
    ended(folder, 2, LabelledCounts("c2_all", {("b", "b"): 5, ("b", "a"): 2}, 7))
    ended(folder, 3, None)
    look = ShardWatch(folder).look(NOW)
    assert look is not None
    found = shard_agreement(look)
    assert found is not None
    # 11 of 14 agree. Wilson's interval and kappa by statsmodels (proportion_confint) and scikit-learn.
    assert (found.n, found.n_labelled, found.shards) == (14, 15, 2)
    assert found.accuracy == pytest.approx(11 / 14)
    assert found.ci == pytest.approx((0.5241077, 0.9242861), abs=1e-6)
    assert found.kappa == pytest.approx(4 / 7)
    told(folder, 4, ShardReport("waiting"))
    ended(folder, 4, LabelledCounts("c2_all", {("a", "a"): 10}, 5))
    look = ShardWatch(folder).look(NOW)
    assert look is not None
    shared = shard_agreement(look)
    assert shared is not None
    assert (shared.ci, shared.n) == (None, 24)
    assert "share questions" in str(shared.reason)


def test_what_leads_the_shards_says_how_they_are_while_it_is_heard(folder: Path) -> None:
    told(folder, 1, ShardReport("running", 1, "n1", 4, 10, 40, 1, 0.25, "", NOW))
    report = ShardsReport("ray", OF, "paused", "The quota is used up.", pairs={"total": 60, "done": 4}, updated=NOW)
    write_shards_report(folder, report)
    look = ShardWatch(folder).look(NOW + 1)
    assert look is not None
    assert (look.state, look.pairs, look.goes_on) == ("paused", 60, True)
    later = ShardWatch(folder).look(NOW + 1000)
    assert later is not None
    assert (later.state, later.goes_on) == ("silent", False)


def test_the_last_command_is_told(folder: Path) -> None:
    told(folder, 1, ShardReport("waiting"))
    write_command(folder, "stop")
    assert shard_set(folder).want == "stop"
    assert shard_set(folder).state == "stopped"


def test_what_is_no_set_is_said(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FiguresError, match="there are no shards here"):
        shard_set(tmp_path / "study.judgenet")
    with pytest.raises(FiguresError, match="is not a project"):
        shard_set(tmp_path / "pairs.jsonl")
    told(folder, 1, ShardReport("waiting"))
    (folder / "0001-of-0009").mkdir()
    with pytest.raises(StoreError, match="different divisions"):
        shard_set(folder)
