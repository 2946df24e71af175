"""``judgenet run --engine ray`` on a real Ray of this machine, with a worker killed on the way."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from judgenet.engine import ray_shards
from judgenet.engine.ray_shards import RayMissing
from judgenet.store.shard_states import ShardReports, read_shards_report
from tests.fakes.inline_ray import use_inline_ray
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed (judgenet[ray])")


@pytest.fixture
def study(tmp_path: Path, judgenet: Judgenet, at: tuple[str, ...]) -> Path:
    """A project of 40 pairs over 20 questions, judged undivided in ``whole``."""
    lines = [
        {
            "id": f"p{i}",
            "question": f"What is {i // 2}?",
            "response_a": f"It is {i}.",
            "response_b": "Who knows.",
            "human": ("a", "b", "tie")[i % 3],
        }
        for i in range(40)
    ]
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("".join(json.dumps(of) + "\n" for of in lines), encoding="utf-8")
    assert judgenet("run", "--pairs", pairs, *at, "--width", 2, "--out", "whole", "-q").code == 0
    document = json.loads((tmp_path / "whole" / "run.judgenet").read_text(encoding="utf-8"))
    document["pairs"]["files"] = ["pairs.jsonl"]
    path = tmp_path / "study.judgenet"
    path.write_text(json.dumps(document | {"name": "study"}), encoding="utf-8")
    return path


def kill_one(shards: Path, killed: list[int]) -> None:
    """Kills the first worker that has some calls and not all of them."""
    reports = ShardReports(shards)
    until = time.monotonic() + 60
    while time.monotonic() < until and not killed:
        reports.look()
        for report in reports.by_shard.values():
            if report.state == "running" and report.calls:
                number = int(report.worker.rpartition(":")[2])
                os.kill(number, signal.SIGKILL)
                killed.append(number)
                return
        time.sleep(0.02)


def without_names(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in figures.items() if name not in ("run", "name", "note", "cost", "place")}


@needs_ray
def test_a_killed_worker_costs_what_was_in_flight_and_changes_no_figure(
    study: Path,
    judgenet: Judgenet,
    at: tuple[str, ...],
    server: JudgeServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = len(server.log)
    # The workers' own disk. Ray's sockets stay in the system's folder, as their paths must be short.
    tempfile.gettempdir()
    (tmp_path / "own-disk").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "own-disk"))
    server.set(latency=0.1)
    shards, killed = tmp_path / "study.shards", list[int]()
    killer = threading.Thread(target=kill_one, args=(shards, killed))
    killer.start()
    ran = judgenet(
        *("run", study.name, *at, "-j", 8, "--engine", "ray", "--workers", 2, "--shards", 2, "-q", "--json"),
        *("--max-calls", 2 * whole),
    )
    killer.join()
    assert ran.code == 0, ran.err
    assert killed
    # Eight calls may be in flight, and as many answered that were not on disk.
    assert 0 <= len(server.log) - 2 * whole <= 16
    assert ran.json["pairs"]["finished"] == 40
    divided, undivided = (judgenet("metrics", run, "--json").json for run in ("study.shards", "whole"))
    assert without_names(divided) == without_names(undivided)
    told = read_shards_report(shards)
    assert told is not None
    assert (told.state, told.by_state, told.pairs) == ("done", {"done": 2}, {"total": 40, "done": 40})
    reports = ShardReports(shards)
    reports.look()
    assert sorted(report.attempt for report in reports.by_shard.values()) == [1, 2]
    assert not list(Path.home().glob(".ray/auth_token")) or "RAY_AUTH_MODE" in os.environ
    assert list((tmp_path / "own-disk").glob("judgenet-*")) == []
    # All of it is there: nothing is asked again, by Ray or without.
    asked = len(server.log)
    assert judgenet("merge", study.name, "--json").json["state"] == "done"
    assert judgenet("run", study.name, *at, "-q").code == 0
    assert len(server.log) == asked


def test_without_ray_it_says_how_to_install_it(
    study: Path, judgenet: Judgenet, at: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> Any:
        raise RayMissing(
            "--engine ray needs Ray, which is not installed. Install it with: pip install 'judgenet[ray]'."
        )

    monkeypatch.setattr(ray_shards, "load_ray", missing)
    ran = judgenet("run", study.name, *at, "--engine", "ray")
    assert ran.code == 2
    assert "pip install 'judgenet[ray]'" in ran.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--workers", "2"), "go with --engine ray"),
        (("--engine", "ray", "--shard", "1/2"), "--shard cannot be combined with --engine ray"),
        (("--engine", "ray", "--batch"), "Batches do not go with --engine ray"),
        (("--engine", "ray", "--until", "width <= 0.1"), "cannot tell when enough is known"),
        (("--engine", "ray", "--retry-unscored", "--shards", "2"), "0 of 2 shards are done"),
    ],
)
def test_options_that_do_not_go_together(
    study: Path,
    judgenet: Judgenet,
    at: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    words: str,
) -> None:
    use_inline_ray(monkeypatch)
    ran = judgenet("run", study.name, *at, *options)
    assert ran.code == 2
    assert words in ran.err


def test_what_is_unscored_is_asked_again_and_all_events_come_together(
    study: Path,
    judgenet: Judgenet,
    at: tuple[str, ...],
    server: JudgeServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_inline_ray(monkeypatch)
    server.set(faults={"prose": 0.3}, seed=2)
    on_ray = ("run", study.name, *at, "--engine", "ray", "--shards", 3, "--workers", 1, "-q", "--json")
    assert judgenet(*on_ray, "--events", "first.jsonl").code == 0
    calls = judgenet("export", "study.shards", "--what", "calls").lines
    unscored = [of for of in calls if of["status"] == "unscored"]
    assert unscored
    # The events of all shards, each pair by its place in the whole.
    first = [json.loads(line) for line in (tmp_path / "first.jsonl").read_text(encoding="utf-8").splitlines()]
    ended = [of for of in first if of["event"] == "pair_finished"]
    assert sorted((of["pair"], of["pair_id"]) for of in ended) == [(place, f"p{place}") for place in range(40)]
    assert {(of["shard"], of["attempt"]) for of in first} == {(1, 1), (2, 1), (3, 1)}
    assert sum(of["event"] == "call_finished" for of in first) == len(calls)
    assert list((tmp_path / "study.shards").glob("*/events*")) == []
    server.set(faults={})
    asked = len(server.log)
    assert judgenet(*on_ray, "--retry-unscored", "--events", "again.jsonl").code == 0
    again = [json.loads(line) for line in (tmp_path / "again.jsonl").read_text(encoding="utf-8").splitlines()]
    new = [of for of in again if of["event"] == "call_finished" and not of["cached"]]
    assert len(server.log) - asked == len(new)
    # The second layer reads other texts now, so that more of it is asked; of the first nothing else.
    new_calls = {(f"p{of['pair']}", of["layer"], of["neuron"], of["order"]) for of in new}
    wanted = {(of["pair_id"], of["layer"], of["neuron"], of["order"]) for of in unscored}
    assert new_calls >= wanted
    assert {of for of in new_calls if of[1] == 1} == {of for of in wanted if of[1] == 1}
    after = judgenet("export", "study.shards", "--what", "calls").lines
    assert [of["status"] for of in after if of["status"] == "unscored"] == []
    assert len(after) == len(calls)
    told = read_shards_report(tmp_path / "study.shards")
    assert told is not None
    assert (told.state, told.calls, told.unscored) == ("done", len(calls), 0)
    # Nothing is left to be asked again, and no shard is begun for it.
    asked = len(server.log)
    assert judgenet(*on_ray, "--retry-unscored").code == 0
    assert len(server.log) == asked


@needs_ray
def test_an_address_where_nobody_answers_is_named_at_once(
    study: Path, judgenet: Judgenet, at: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    ran = judgenet("run", study.name, *at, "--engine", "ray", "--address", address)
    assert ran.code == 2
    assert f"--address {address}: no Ray can be joined there" in ran.err


def test_it_needs_a_project(judgenet: Judgenet, pairs: Path, at: tuple[str, ...]) -> None:
    ran = judgenet("run", "--pairs", pairs, *at, "--engine", "ray")
    assert ran.code == 2
    assert "--engine ray needs a project file" in ran.err
