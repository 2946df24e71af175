"""What shards tell of themselves in files, and the commands that they are given."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from judgenet.core.shards import Shard
from judgenet.store.shard_states import (
    CONTROL,
    STALE_S,
    STATE,
    EndpointReport,
    ShardReport,
    ShardReports,
    ShardsCommand,
    ShardsReport,
    read_command,
    read_shard_report,
    read_shards_report,
    write_command,
    write_shard_report,
    write_shards_report,
)

SHARD = ShardReport("running", 2, "node-7", 40, 100, 680, 3, 0.25, "", 1000.0)
SHARDS = ShardsReport(
    engine="ray",
    shards=3,
    state="paused",
    message="The key was refused.",
    made=900.0,
    pairs={"total": 300, "done": 40},
    by_state={"running": 1, "waiting": 2},
    calls=680,
    unscored=3,
    price=0.25,
    calls_per_second=12.5,
    endpoints=(EndpointReport("lab", "m", 64, 12, "stopped", "The key was refused."),),
    updated=1000.0,
)


def test_reports_are_files_that_anybody_can_read(tmp_path: Path) -> None:
    write_shards_report(tmp_path, SHARDS)
    assert read_shards_report(tmp_path) == SHARDS
    given = json.loads((tmp_path / STATE).read_text(encoding="utf-8"))
    assert (given["format"], given["state"], given["pairs"]["total"]) == (1, "paused", 300)
    assert given["endpoints"] == [
        {
            "name": "lab",
            "model": "m",
            "window": 64,
            "in_flight": 12,
            "state": "stopped",
            "message": "The key was refused.",
        }
    ]
    assert [of.name for of in tmp_path.iterdir()] == [STATE]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"state": "asleep"}', '{"state": "done", "pairs": -1}', "NaN"])
def test_what_cannot_be_read_is_not_told(tmp_path: Path, text: str) -> None:
    (tmp_path / STATE).write_text(text, encoding="utf-8")
    assert read_shard_report(tmp_path) is None
    (tmp_path / CONTROL).write_text(text, encoding="utf-8")
    assert read_command(tmp_path) == ShardsCommand("run", 0.0)


def test_a_newer_form_is_not_misread_and_a_new_member_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / STATE).write_text('{"format": 2, "state": "done"}', encoding="utf-8")
    assert read_shard_report(tmp_path) is None
    (tmp_path / STATE).write_text('{"state": "done", "mood": "fine"}', encoding="utf-8")
    assert read_shard_report(tmp_path) == ShardReport("done")


def test_the_last_command_holds(tmp_path: Path) -> None:
    assert read_command(tmp_path / "nowhere").want == "run"
    write_command(tmp_path, "pause", 5.0)
    write_command(tmp_path, "stop", 6.0)
    assert read_command(tmp_path) == ShardsCommand("stop", 6.0)


def test_silence_is_noticed() -> None:
    assert not SHARD.stale(1000.0 + STALE_S)
    assert SHARD.stale(1001.0 + STALE_S)
    assert not ShardReport("done", updated=0.0).stale(1e9)
    assert SHARDS.stale(1001.0 + STALE_S)


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    shards = [Shard(3, index) for index in (1, 2, 3)]
    for shard in shards[:2]:
        (tmp_path / shard.folder).mkdir()
        write_shard_report(tmp_path / shard.folder, SHARD)
    (tmp_path / shards[2].folder).mkdir()
    (tmp_path / "notes-of-me").mkdir()
    reports = ShardReports(tmp_path)
    assert reports.look() == frozenset(shards[:2])
    assert reports.look() == frozenset()
    write_shard_report(tmp_path / shards[1].folder, ShardReport("done", updated=1001.0))
    assert reports.look() == {shards[1]}
    assert (reports.by_shard[shards[0]], reports.by_shard[shards[1]].state) == (SHARD, "done")
    # A damaged file leaves what was known.
    (tmp_path / shards[0].folder / STATE).write_text("{", encoding="utf-8")
    os.utime(tmp_path / shards[0].folder / STATE, (1, 1))
    assert reports.look() == frozenset()
    assert reports.by_shard[shards[0]] == SHARD
