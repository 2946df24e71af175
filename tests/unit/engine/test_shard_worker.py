"""A worker's attempts at a shard, with the broker in the same process: what is kept, told, obeyed, and asked again."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.evaluation import Reason
from judgenet.core.network import Settings
from judgenet.core.pairs import Pair
from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.core.roles import roles_for
from judgenet.core.shards import Shard
from judgenet.engine.broker import AttemptAt, Beat, Broker, Orders
from judgenet.engine.budget import Limits, Used
from judgenet.engine.divided_run import ClusterOptions, DividedRun, stood_in_for
from judgenet.engine.options import OptionError, RunOptions
from judgenet.engine.ports import ChatReply, ChatRequest, Endpoint, EndpointState, EndpointStopped, OnText, Usage
from judgenet.engine.prepare import prepare
from judgenet.engine.shard_worker import ShardEnd, machine_name, work_shard
from judgenet.formats import write_pairs
from judgenet.store.backup import store_sums
from judgenet.store.db import Store, StoreError
from judgenet.store.files import FileError, save_project
from judgenet.store.runs import run_info, spent
from judgenet.store.shard_states import CONTROL, read_shard_report, write_command
from judgenet.store.shards import Manifest

UNLIMITED = Limits()
PAIRS = 30
PLANNED = PAIRS * 8
"""Two neurons in two layers, both orders."""


class Judge:
    """An endpoint that counts what it is asked, and does as the test says. ``asked`` has the keys of all requests."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.models: Counter[str] = Counter()
        self.model = ""
        self.latency = 0.01
        self.before: Callable[[int], None] = lambda number: None
        self.on_state: Callable[[EndpointState], None] = lambda state: None
        self.in_flight = self.most_in_flight = 0

    def open(
        self,
        names: Iterable[str],
        profiles: Mapping[str, EndpointProfile],
        store: Store,
        folder: Path | None,
        on_state: Callable[[EndpointState], None],
    ) -> dict[str, Endpoint]:
        self.on_state = on_state
        return {name: _JudgeEndpoint(self, name, profiles[name].concurrency) for name in names}


class _JudgeEndpoint:
    away_for = 0.0

    def __init__(self, judge: Judge, name: str, concurrency: int) -> None:
        self.judge, self.name, self.concurrency = judge, name, concurrency

    async def chat(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        judge = self.judge
        judge.model = request.model
        judge.before(judge.asked.total())
        judge.asked[request.key] += 1
        judge.models[request.model] += 1
        judge.in_flight += 1
        judge.most_in_flight = max(judge.most_in_flight, judge.in_flight)
        try:
            await asyncio.sleep(judge.latency)
        finally:
            judge.in_flight -= 1
        score = int(request.key[:4], 16)
        text = json.dumps({"evidence": request.key, "score_1": score % 10 + 1, "score_2": score // 16 % 10 + 1})
        return ChatReply(text, "stop", usage=Usage(600, 40))

    def form(self, model: str) -> Any:
        return "json"

    def known(self, model: str) -> bool:
        return True

    def learned(self, model: str) -> dict[str, Any]:
        return {}

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    async def close(self) -> None: ...


class Link:
    """The broker, called from the worker's thread; ``after`` may raise, as where the worker is killed."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.lock = threading.Lock()
        self.after: Callable[[Beat, Orders], None] = lambda beat, orders: None

    def beat(self, beat: Beat) -> Orders:
        with self.lock:
            orders = self.broker.beat(beat)
        self.after(beat, orders)
        return orders

    def kept(self, at: AttemptAt, sums: Used) -> bool:
        with self.lock:
            return self.broker.kept(at, sums)


class Killed(BaseException):
    """Nothing after it runs, as little as after a signal."""


class Cluster:
    """One shard, its broker, and attempts at it."""

    def __init__(self, folder: Path, limits: Limits = UNLIMITED, copy_every_s: float = 60.0) -> None:
        self.judge = Judge()
        setup = prepare(RunOptions(project=folder / "study.judgenet"))
        setup = replace(setup, start=replace(setup.start, limits=limits))
        options = ClusterOptions(1, 1, copy_every_s, self.judge.open)
        self.divided = DividedRun(setup.start, setup.project, setup.project_path, options)
        self.broker = Broker(self.divided.plan())
        self.link = Link(self.broker)
        self.folder = self.divided.folder / Shard(1, 1).folder
        self.divided.folder.mkdir(exist_ok=True)
        write_command(self.divided.folder, "run")

    def attempt(self) -> ShardEnd:
        at = self.broker.take()
        assert at is not None
        try:
            end = work_shard(self.divided.job(1), at, self.link)
        except Killed:
            self.broker.died(at, "killed")
            raise
        self.broker.ended(at, end.end, end.used, end.message)
        return end

    def die_after(self, calls: int) -> None:
        """The worker dies when so many calls more have been asked."""
        until = self.judge.asked.total() + calls
        # So slow that it says something before it has all.
        self.judge.latency = 0.05

        def after(beat: Beat, orders: Orders) -> None:
            if self.judge.asked.total() >= until:
                raise Killed

        self.link.after = after

    def live(self) -> None:
        self.judge.latency = 0.01
        self.link.after = lambda beat, orders: None


@pytest.fixture
def study(tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own = tmp_path / "own-disk"
    own.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    folder = tmp_path / "shared"
    folder.mkdir()
    made = [Pair(f"p{i}", f"What is {i // 2}?", f"It is {i}.", "Who knows.") for i in range(PAIRS)]
    write_pairs(made, folder / "pairs.jsonl", "jsonl")
    spec = network(2, 2, roles=roles_for("general", 2, "en"), settings=Settings("lab", "m", 0.0))
    profile = EndpointProfile("lab", base_url="http://127.0.0.1:9/v1", model="m", concurrency=4)
    project = Project("study", spec, "5a" * 16, pairs=PairsSource(("pairs.jsonl",)), endpoints=(profile,))
    save_project(project, folder / "study.judgenet")
    return folder


@pytest.fixture
def own_disk(study: Path) -> Path:
    return study.parent / "own-disk"


def stored_calls(folder: Path) -> int:
    with Store.open(folder / "run.judgenet.db", readonly=True) as store:
        return spent(store, run_info(store)).calls


def test_a_shard_is_judged_on_the_workers_own_disk_and_kept_in_the_shared_folder(study: Path, own_disk: Path) -> None:
    cluster = Cluster(study)
    end = cluster.attempt()
    assert (end.end, end.used.calls) == ("done", PLANNED)
    assert cluster.judge.most_in_flight <= 4
    manifest = Manifest.read(cluster.folder)
    assert manifest is not None
    assert (manifest.state, manifest.calls, manifest.finished) == ("done", PLANNED, PAIRS)
    assert sorted(path.name for path in cluster.folder.iterdir()) == [
        "manifest.json", "matrix.parquet", "pairs.parquet", "run.judgenet", "run.judgenet.db", "state.json",
    ]  # fmt: skip
    with sqlite3.connect(cluster.folder / "run.judgenet.db") as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    told = read_shard_report(cluster.folder)
    assert told is not None
    assert (told.state, told.pairs_done, told.pairs, told.calls) == ("done", PAIRS, PAIRS, PLANNED)
    assert list(own_disk.iterdir()) == []
    assert cluster.broker.report().state == "done"
    assert cluster.broker.report().calls == PLANNED
    # Begun again, there is nothing to do.
    setup = prepare(RunOptions(project=study / "study.judgenet"))
    again = DividedRun(setup.start, setup.project, setup.project_path, ClusterOptions(1))
    assert Broker(again.plan()).over


def test_the_next_attempt_goes_on_from_the_disk_of_the_dead_one(study: Path, own_disk: Path) -> None:
    cluster = Cluster(study)
    cluster.die_after(90)
    with pytest.raises(Killed):
        cluster.attempt()
    assert not (cluster.folder / "run.judgenet.db").exists()
    cluster.live()
    assert cluster.attempt().end == "done"
    twice = cluster.judge.asked.total() - PLANNED
    assert len(cluster.judge.asked) == PLANNED
    # In flight and answered but not on disk, four each.
    assert 0 <= twice <= 8
    assert list(own_disk.iterdir()) == []
    report = read_shard_report(cluster.folder)
    assert report is not None
    assert report.attempt == 2


def test_where_the_machine_is_gone_it_goes_on_from_the_last_copy(study: Path, own_disk: Path) -> None:
    cluster = Cluster(study, copy_every_s=0.0)
    cluster.die_after(120)
    with pytest.raises(Killed):
        cluster.attempt()
    kept = store_sums(cluster.folder / "run.judgenet.db")[0]
    asked = cluster.judge.asked.total()
    assert 0 < kept <= asked
    for path in own_disk.rglob("run.judgenet.db*"):
        path.unlink()
    cluster.live()
    assert cluster.attempt().end == "done"
    assert len(cluster.judge.asked) == PLANNED
    assert cluster.judge.asked.total() == asked + PLANNED - kept
    assert stored_calls(cluster.folder) == PLANNED


def test_an_attempt_that_counts_no_more_keeps_nothing(study: Path) -> None:
    cluster = Cluster(study)
    cluster.judge.latency = 0.04
    at = cluster.broker.take()
    assert at is not None

    def after(beat: Beat, orders: Orders) -> None:
        if cluster.judge.asked.total() > 40:
            cluster.broker.died(at, "silent")

    cluster.link.after = after
    end = work_shard(cluster.divided.job(1), at, cluster.link)
    assert end.end == "failed"
    assert cluster.judge.asked.total() < PLANNED
    assert not (cluster.folder / "run.judgenet.db").exists()
    cluster.live()
    assert cluster.attempt().end == "done"


@pytest.mark.parametrize("limits", [Limits(max_calls=100), Limits(max_tokens=100_000), Limits(max_calls=0)])
def test_a_limit_is_used_to_the_last_call_and_not_exceeded(study: Path, limits: Limits) -> None:
    cluster = Cluster(study, limits)
    end = cluster.attempt()
    assert end.end == "budget"
    assert "Stopped by the limit" in end.message
    used = cluster.judge.asked.total()
    if limits.max_calls is not None:
        assert used == limits.max_calls
    else:
        # Each answered call took 640 tokens, and more was held for the last one than was left.
        assert limits.max_tokens is not None
        assert limits.max_tokens - 3000 < used * 640 <= limits.max_tokens
    assert cluster.broker.report().state == "stopped"
    assert "Stopped by the limit" in cluster.broker.report().message
    assert stored_calls(cluster.folder) == used


def test_throttling_is_told_and_the_share_is_kept(study: Path) -> None:
    cluster = Cluster(study)
    shares: list[int] = []

    def before(number: int) -> None:
        if number == 60:
            cluster.judge.on_state(EndpointState("lab", "slow", "429", model="m"))
            cluster.judge.most_in_flight = 0

    def after(beat: Beat, orders: Orders) -> None:
        shares.append(orders.shares["lab", "m"].calls)

    cluster.judge.before, cluster.link.after = before, after
    assert cluster.attempt().end == "done"
    assert shares[0] == 4
    assert min(shares) == 2


def test_a_stopped_endpoint_holds_the_shard_until_people_say_go_on(study: Path) -> None:
    cluster = Cluster(study)
    refused = [False]

    def before(number: int) -> None:
        if number == 50 and not refused[0]:
            refused[0] = True
            raise EndpointStopped(Reason.AUTH, "lab: the key was refused.")

    held: list[float] = []

    def after(beat: Beat, orders: Orders) -> None:
        if orders.want == "pause":
            held.append(cluster.judge.asked.total())
            if len(held) == 3:
                # Nothing was asked meanwhile but what was on its way.
                assert held[-1] - held[0] <= 4
                told = cluster.broker.report()
                assert (told.state, told.message) == ("paused", "lab: the key was refused.")
                cluster.broker.command("run")

    cluster.judge.before, cluster.link.after = before, after
    assert cluster.attempt().end == "done"
    assert len(held) >= 3
    assert stored_calls(cluster.folder) == PLANNED


def test_where_a_stand_in_follows_nobody_waits(study: Path) -> None:
    path = study / "study.judgenet"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["network"]["settings"]["stand_in"] = [{"endpoint": "lab", "model": "other"}]
    path.write_text(json.dumps(document), encoding="utf-8")
    cluster = Cluster(study)
    assert stood_in_for(prepare(RunOptions(project=path)).start) == {("lab", "m")}

    def before(number: int) -> None:
        if number >= 50 and cluster.judge.model == "m":
            raise EndpointStopped(Reason.QUOTA, "lab: no model m.", model="m")

    cluster.judge.before = before
    wants = set[str]()
    cluster.link.after = lambda beat, orders: wants.add(orders.want)
    assert cluster.attempt().end == "done"
    assert wants == {"run"}
    assert cluster.judge.models["other"] > 0
    assert stored_calls(cluster.folder) == PLANNED


def test_pause_and_stop_are_obeyed_within_two_seconds(study: Path) -> None:
    cluster = Cluster(study)
    cluster.judge.latency = 0.04
    seen: list[tuple[float, str]] = []

    def commands() -> None:
        while cluster.judge.asked.total() < 20:
            time.sleep(0.01)
        cluster.broker.command("pause")
        # So many looks take two seconds, and longer where the machine is busy and the shard is held up as well.
        for _ in range(200):
            time.sleep(0.01)
        before = cluster.judge.asked.total()
        report = read_shard_report(cluster.folder)
        time.sleep(0.3)
        seen.append((cluster.judge.asked.total() - before, "" if report is None else report.state))
        cluster.broker.command("stop")

    thread = threading.Thread(target=commands)
    thread.start()
    end = cluster.attempt()
    thread.join()
    assert end.end == "stopped"
    assert seen[0] == (0, "paused")
    assert cluster.broker.report().state == "stopped"
    assert 0 < stored_calls(cluster.folder) == cluster.judge.asked.total() < PLANNED


def test_an_attempt_that_still_goes_on_here_is_not_in_the_way(study: Path, own_disk: Path) -> None:
    cluster = Cluster(study)
    cluster.die_after(60)
    with pytest.raises(Killed):
        cluster.attempt()
    cluster.live()
    (store,) = own_disk.rglob("run.judgenet.db")
    with Store.open(store):
        assert cluster.attempt().end == "done"
        assert store.exists()
    assert stored_calls(cluster.folder) == PLANNED


def test_a_machine_with_another_version_judges_nothing(study: Path) -> None:
    cluster = Cluster(study)
    at = cluster.broker.take()
    assert at is not None
    with pytest.raises(StoreError, match="Install the same on all machines"):
        work_shard(replace(cluster.divided.job(1), version="0.0.1"), at, cluster.link)
    assert cluster.judge.asked.total() == 0


def test_the_number_of_shards_stays_what_it_was(study: Path) -> None:
    setup = prepare(RunOptions(project=study / "study.judgenet"))
    assert DividedRun(setup.start, setup.project, setup.project_path, ClusterOptions(2)).of == 1
    assert DividedRun(setup.start, setup.project, setup.project_path, ClusterOptions(2, shards=5)).of == 5
    (study / "study.shards" / "0001-of-0003").mkdir(parents=True)
    assert DividedRun(setup.start, setup.project, setup.project_path, ClusterOptions(2)).of == 3
    with pytest.raises(OptionError, match="holds a division into 3"):
        DividedRun(setup.start, setup.project, setup.project_path, ClusterOptions(2, shards=5))


def test_a_worker_that_does_not_share_the_folder_asks_nothing(study: Path) -> None:
    cluster = Cluster(study)
    (cluster.divided.folder / CONTROL).unlink()
    with pytest.raises(StoreError, match="All machines must share it at the same path"):
        cluster.attempt()
    assert cluster.judge.asked.total() == 0
    assert not cluster.folder.exists()


def test_the_machine_that_took_a_shard_is_known_before_anything_can_fail(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Cluster(study)
    monkeypatch.setattr("judgenet.engine.shard_disk.private_folder", _full)
    with pytest.raises(FileError, match="No space left"):
        cluster.attempt()
    report = read_shard_report(cluster.folder)
    assert report is not None
    assert (report.state, report.attempt, report.worker) == ("running", 1, machine_name())


def _full(folder: Path) -> Path:
    raise FileError(f"{folder} cannot be made (No space left on device).")
