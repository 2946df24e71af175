"""``judgenet status``, and the commands that a shard obeys while it runs."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

import judgenet as jn
from judgenet.cli.errors import ExitCode
from judgenet.core.network import Settings
from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.engine import shard_desk
from judgenet.store.files import save_project
from judgenet.store.shard_states import read_shard_report, write_command
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet
from tests.unit.cli.test_json import nulls_without_reason


@pytest.fixture
def study(tmp_path: Path, pairs: Path) -> Path:
    """A project of four pairs of four questions."""
    path = tmp_path / "study.judgenet"
    spec = network(2, 1, settings=Settings(endpoint="none", model="m"))
    save_project(Project.new("study", spec, PairsSource((pairs.name,))), path)
    return path


SMALL = ("--width", "2", "--depth", "1", "--roles", "none", "-q")


def test_a_shard_tells_and_status_sums(study: Path, judgenet: Judgenet, at: tuple[str, ...], tmp_path: Path) -> None:
    assert judgenet("status", study.name).code == 2
    assert judgenet("run", study.name, *at, *SMALL, "--shard", "1/2").code == 0
    half = judgenet("status", study.name, "--json").json
    assert list(nulls_without_reason(half)) == []
    assert (half["state"], half["shards"]["done"], half["missing"]) == ("waiting", 1, [2])
    # On a disk of its own, with the folder that the desk sees elsewhere.
    seen = tmp_path / "seen" / "study.shards"
    assert judgenet("run", study.name, *at, *SMALL, "--shard", "2/2", "--tell", seen).code == 0
    assert judgenet("status", seen, "--json").json["shards"]["done"] == 1
    whole = judgenet("status", study.name, "--json").json
    assert (whole["state"], whole["pairs"]) == ("done", {"finished": 4, "total": 4, "reason": None})
    assert whole["calls"] == judgenet("metrics", study.name, "--json").json["calls"]["all"] == 16
    metrics = judgenet("metrics", study.name, "--json").json
    found = whole["agreement"]
    assert found["accuracy"] == metrics["aggregations"][found["aggregation"]]["accuracy"]
    assert (found["n_labelled"], found["shards"]) == (3, 2)
    assert jn.shard_status(study).to_dict() == whole
    assert len(jn.open_run(study).pairs) == 4
    shown = judgenet("status", study.name, "--watch").out
    assert "study.judgenet: done" in shown
    assert "2 of 2 shards done" in shown
    assert "4 of 4" in shown


def test_a_shard_that_fails_says_why(study: Path, judgenet: Judgenet, at: tuple[str, ...], server: JudgeServer) -> None:
    server.set(faults={"quota": 1.0})
    assert judgenet("run", study.name, *at, *SMALL, "--shard", "1/1").code == ExitCode.FAILED
    ran = judgenet("status", study.name, "--json")
    assert ran.code == ExitCode.FAILED
    (trouble,) = ran.json["troubles"]
    assert (trouble["shard"], trouble["attempt"]) == (1, 1)
    assert trouble["error"]
    told = judgenet("status", study.name).out
    assert f"1 shard failed: 1 ({trouble['worker']}). {trouble['error']}" in told
    assert "To go on with one of them: judgenet run study.judgenet --shard K/1. It keeps what it has." in told
    server.set(faults={})
    assert judgenet("run", study.name, *at, *SMALL, "--shard", "1/1").code == 0
    assert judgenet("status", study.name, "--json").json["troubles"] == []
    report = read_shard_report(study.parent / "study.shards" / "0001-of-0001")
    assert report is not None
    assert (report.state, report.attempt) == ("done", 2)


def test_shards_are_paused_and_stopped_from_elsewhere(
    study: Path,
    judgenet: Judgenet,
    at: tuple[str, ...],
    server: JudgeServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shard_desk, "OBEYS_S", 0.02)
    monkeypatch.setattr(shard_desk, "_TELLS_S", 0.02)
    server.set(latency=0.15)
    shards = study.parent / "study.shards"
    place = shards / "0001-of-0001"
    seen: list[str] = []

    def desk() -> None:
        def wait(state: str) -> None:
            ends = time.monotonic() + 20
            while (report := read_shard_report(place)) is None or report.state != state:
                assert time.monotonic() < ends, report
                time.sleep(0.01)
            seen.append(state)

        wait("running")
        write_command(shards, "pause")
        wait("paused")
        time.sleep(0.4)
        asked = server.requests
        time.sleep(0.4)
        assert server.requests == asked
        write_command(shards, "run")
        wait("running")
        write_command(shards, "stop")
        seen.append("stop")

    watcher = threading.Thread(target=desk)
    watcher.start()
    ran = judgenet("run", study.name, *at, *SMALL, "--shard", "1/1", "-j", "1")
    watcher.join()
    assert seen == ["running", "paused", "running", "stop"]
    assert ran.code == ExitCode.INTERRUPTED
    assert 0 < server.requests < 16
    stopped = judgenet("status", study.name, "--json").json
    assert (stopped["state"], stopped["want"], stopped["shards"]["waiting"]) == ("stopped", "stop", 1)
    assert "All shards were told to stop, and none begins. To go on: judgenet status study.judgenet --resume" in (
        judgenet("status", study.name).out
    )
    # No other shard begins before they may go on.
    again = judgenet("run", study.name, *at, *SMALL, "--shard", "1/1")
    assert again.code == ExitCode.INTERRUPTED
    assert "judgenet status PROJECT --resume" in again.err
    assert judgenet("status", study.name, "--resume", "--json").json["want"] == "run"
    server.set(latency=0.0)
    assert judgenet("run", study.name, *at, *SMALL, "--shard", "1/1").code == 0
    assert server.requests <= 16 + 1
    assert judgenet("status", study.name, "--json").json["state"] == "done"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("status", "study.judgenet", "--pause", "--stop"), "give one of them"),
        (("status", "pairs.jsonl"), "is not a project"),
        (("run", "study.judgenet", "--tell", "x", *SMALL), "--tell is for the shards of a run"),
    ],
)
def test_what_cannot_be_asked(
    study: Path, judgenet: Judgenet, at: tuple[str, ...], command: tuple[str, ...], words: str
) -> None:
    more = at if command[0] == "run" else ()
    ran = judgenet(*command, *more)
    assert ran.code == 2
    assert words in ran.err
