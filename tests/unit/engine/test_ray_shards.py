"""Shards as tasks: what the driver does with them, and the files of the broker, without Ray's processes."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

import judgenet as jn
from judgenet.cli import run_ray
from judgenet.cli.terminal import Terminal
from judgenet.core.pairs import Pair
from judgenet.engine import ray_shards
from judgenet.engine.broker import AttemptAt, Beat, BrokerPlan
from judgenet.engine.budget import Limits, Used
from judgenet.engine.options import OptionError
from judgenet.engine.ray_shards import JOURNAL, BrokerDesk
from judgenet.engine.shard_worker import ShardEnd, ShardJob, UnfitMachine
from judgenet.store.db import StoreError
from judgenet.store.shard_states import ShardsReport, read_shard_report, read_shards_report, write_command
from tests.fakes.inline_ray import CHOSEN, use_inline_ray
from tests.fakes.judge_server import JudgeServer

PLAN = BrokerPlan({1: 10, 2: 10, 3: 10}, limits=Limits(max_calls=1000), workers=2)


@pytest.fixture(autouse=True)
def quiet(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own-disk").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "own-disk"))
    monkeypatch.setattr(ray_shards, "_TICK_S", 0.0)


@pytest.fixture
def pairs() -> list[Pair]:
    labels = ("a", "b", "tie")
    return [
        Pair(f"p{i}", f"Question {i // 2}?", f"First {i}.", f"Second {i}.", human=labels[i % 3])  # type: ignore[arg-type]
        for i in range(12)
    ]


def figures(run: jn.Run) -> dict[str, Any]:
    return {name: of for name, of in run.agreement().to_dict().items() if name not in ("run", "name", "note", "cost")}


def test_python_judges_on_ray_as_without(tmp_path: Path, pairs: list[Pair], monkeypatch: pytest.MonkeyPatch) -> None:
    use_inline_ray(monkeypatch)
    with JudgeServer() as server:
        network = jn.Network.layers(2, 2, model="judge", endpoint=jn.endpoint(server.url, "judge"), roles="none")
        run = jn.judge(pairs, network, out=tmp_path / "divided", engine="ray", shards=3, progress=False)
        asked = len(server.log)
        assert asked == 12 * 8
        assert run.agreement().to_dict()["pairs"]["finished"] == 12
        again = jn.judge(pairs, network, out=tmp_path / "divided", engine="ray", progress=False)
        assert len(server.log) == asked
        assert figures(again) == figures(run)
        # In a folder with the same salt the run without Ray asks the same, and comes to the same figures.
        (tmp_path / "whole").mkdir()
        project = (tmp_path / "divided" / "run.judgenet").read_text(encoding="utf-8")
        (tmp_path / "whole" / "run.judgenet").write_text(project, encoding="utf-8")
        assert figures(jn.judge(pairs, network, out=tmp_path / "whole", progress=False)) == figures(run)
        assert len(server.log) == 2 * asked


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"engine": "ray", "on_event": print}, "on_event"),
        ({"workers": 2}, "go with engine"),
        ({"engine": "ray", "until": "width <= 0.1"}, "when enough is known"),
        ({"engine": "ray", "batch": True}, "Batches"),
    ],
)
def test_what_does_not_go_with_it(
    tmp_path: Path, pairs: list[Pair], monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], words: str
) -> None:
    use_inline_ray(monkeypatch)
    network = jn.Network.layers(
        2, 2, model="judge", endpoint=jn.endpoint("http://127.0.0.1:9/v1", "judge"), roles="none"
    )
    with pytest.raises(OptionError, match=words):
        jn.judge(pairs, network, out=tmp_path / "out", **options)


def test_a_shard_that_fails_three_times_is_named_and_the_others_go_on(
    tmp_path: Path, pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_inline_ray(monkeypatch)
    judged = ray_shards.work_shard
    tried: list[AttemptAt] = []

    def fails(job: ShardJob, at: AttemptAt, link: Any) -> ShardEnd:
        tried.append(at)
        if job.shard.index == 2:
            raise MemoryError("no room for the second shard")
        return judged(job, at, link)

    monkeypatch.setattr(ray_shards, "work_shard", fails)
    with JudgeServer() as server:
        network = jn.Network.layers(1, 1, model="judge", endpoint=jn.endpoint(server.url, "judge"), roles="none")
        with pytest.warns(
            UserWarning, match=r"1 shard failed 3 times: 2 \(MemoryError: no room for the second shard\)"
        ):
            run = jn.judge(pairs, network, out=tmp_path / "out", engine="ray", shards=3, progress=False)
    assert [at for at in tried if at[0] == 2] == [(2, 1), (2, 2), (2, 3)]
    found = run.agreement().to_dict()
    assert found["state"] == "halted"
    assert "1 shard of 3 missing (2)" in found["message"]
    told = read_shards_report(tmp_path / "out" / "run.shards")
    assert told is not None
    assert (told.state, told.by_state) == ("failed", {"done": 2, "failed": 1})
    assert run_ray._code(told) == 1
    failed = read_shard_report(tmp_path / "out" / "run.shards" / "0002-of-0003")
    assert failed is not None
    assert (failed.state, failed.attempt, failed.error) == ("failed", 3, "MemoryError: no room for the second shard")


def test_an_unfit_machine_costs_no_shard_a_try_while_there_are_others(
    tmp_path: Path, pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_inline_ray(monkeypatch)
    judged = ray_shards.work_shard

    def unfit(job: ShardJob, at: AttemptAt, link: Any) -> ShardEnd:
        if not CHOSEN:
            raise UnfitMachine("node-3: another version.")
        return judged(job, at, link)

    monkeypatch.setattr(ray_shards, "work_shard", unfit)
    with JudgeServer() as server:
        network = jn.Network.layers(1, 1, model="judge", endpoint=jn.endpoint(server.url, "judge"), roles="none")
        with pytest.warns(UserWarning, match="Not used: node-3: another version"):
            run = jn.judge(pairs, network, out=tmp_path / "out", engine="ray", shards=3, progress=False)
    assert run.agreement().to_dict()["state"] == "done"
    assert set(map(str, CHOSEN)) == {"{'ray.io/node-id': '!in(here)'}"}
    told = read_shards_report(tmp_path / "out" / "run.shards")
    assert told is not None
    assert (told.state, told.by_state) == ("done", {"done": 3})


def test_where_all_machines_are_unfit_the_run_ends_and_says_why(
    tmp_path: Path, pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_inline_ray(monkeypatch).others = 0

    def unfit(job: ShardJob, at: AttemptAt, link: Any) -> ShardEnd:
        raise UnfitMachine("node-3: another version.")

    monkeypatch.setattr(ray_shards, "work_shard", unfit)
    network = jn.Network.layers(
        1, 1, model="judge", endpoint=jn.endpoint("http://127.0.0.1:9/v1", "judge"), roles="none"
    )
    with (
        pytest.warns(UserWarning, match=r"2 shards failed 3 times: 1, 2 \(node-3: another version\.\)"),
        pytest.raises(StoreError),
    ):
        jn.judge(pairs, network, out=tmp_path / "out", engine="ray", shards=2, progress=False)


@pytest.mark.parametrize(
    ("error", "words", "client"),
    [
        (
            ConnectionError("Initialization failure from server:\nTraceback\n  x\nRuntimeError: no room\n"),
            "no room",
            False,
        ),
        (ImportError("No module named 'grpc'"), "No module named 'grpc'", True),
        (OSError(), "OSError", False),
    ],
)
def test_why_no_cluster_can_be_joined_is_said(error: Exception, words: str, client: bool) -> None:
    told = ray_shards._no_cluster("ray://head:10001", error)
    assert words in told
    assert ("pip install 'ray[client]'" in told) == client


def test_shards_are_run_by_one_program_at_a_time(
    tmp_path: Path, pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_inline_ray(monkeypatch)
    (tmp_path / "out" / "run.shards").mkdir(parents=True)
    network = jn.Network.layers(
        1, 1, model="judge", endpoint=jn.endpoint("http://127.0.0.1:9/v1", "judge"), roles="none"
    )
    with (
        FileLock(tmp_path / "out" / "run.shards" / "ray.lock", is_singleton=False),
        pytest.raises(OptionError, match="another JudgeNet runs these shards"),
    ):
        jn.judge(pairs, network, out=tmp_path / "out", engine="ray", progress=False)


def test_what_is_told_of_a_hold_says_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    progress = run_ray._Progress(Terminal(stderr=True), quiet=False)
    held = ShardsReport(
        "ray", 3, "paused", "lab: the quota is used up.", pairs={"total": 30, "done": 4}, by_state={"running": 2},
        calls=64, unpriced=64, calls_per_second=12.34,
    )  # fmt: skip
    progress.take(held)
    progress.take(held)
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "lab: the quota is used up. All workers wait. Once this is fixed: judgenet status PROJECT --resume; Ctrl+C "
        "ends the run.",
        "paused: 0 of 3 shards done · 2 running · 4 of 30 pairs · 64 calls, 12.3 a second · price unknown",
    ]


class TestBrokerDesk:
    def test_one_that_was_killed_is_replaced_and_goes_on(self, tmp_path: Path) -> None:
        write_command(tmp_path, "run")
        first = BrokerDesk(PLAN, tmp_path, 3, 5.0)
        assert first.take(1) == (1, 1)
        assert first.kept((1, 1), Used(0, 0, 0.0))
        orders = first.beat(Beat((1, 1), Used(0, 0, 0.0), Used(50, 0, 0.0)))
        assert orders.allowed == Used(50, 0, 0.0)
        # It died while it wrote an entry: nobody was told of that one.
        with open(tmp_path / JOURNAL, "a", encoding="utf-8") as journal:
            journal.write('{"do": "take", "at": [2, 1], "wor')
        second = BrokerDesk(PLAN, tmp_path, 3, 5.0)
        # Asked again with the ticket whose answer was lost, it gives the same attempt.
        assert second.take(1) == (1, 1)
        assert second.take(2) == (2, 1)
        assert second.beat(Beat((1, 1), Used(40, 0, 0.0), Used(50, 0, 0.0))).current
        third = BrokerDesk(PLAN, tmp_path, 3, 5.0)
        assert third.take(2) == (2, 1)
        lines = (tmp_path / JOURNAL).read_text(encoding="utf-8").splitlines()
        assert [json.loads(line).get("do") for line in lines][:3] == [None, "take", "kept"]

    def test_a_folder_that_is_not_that_of_the_run_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="All machines must share it at the same path"):
            BrokerDesk(PLAN, tmp_path, 3, 5.0)
        assert not (tmp_path / JOURNAL).exists()

    def test_another_run_begins_a_journal_of_its_own(self, tmp_path: Path) -> None:
        write_command(tmp_path, "run")
        BrokerDesk(PLAN, tmp_path, 3, 5.0).take(1)
        assert BrokerDesk(PLAN, tmp_path, 3, 6.0).take(1) == (1, 1)

    def test_commands_in_the_folder_are_obeyed(self, tmp_path: Path) -> None:
        write_command(tmp_path, "run", 1.0)
        desk = BrokerDesk(PLAN, tmp_path, 3, 5.0)
        desk.tick()
        assert desk.take(1) == (1, 1)
        write_command(tmp_path, "pause", 2.0)
        assert desk.tick()[0].state == "paused"
        assert desk.beat(Beat((1, 1))).want == "pause"
        write_command(tmp_path, "run", 3.0)
        assert desk.tick()[0].state == "running"
        write_command(tmp_path, "stop", 4.0)
        desk.tick()
        assert desk.beat(Beat((1, 1))).want == "stop"
        desk.ended((1, 1), ShardEnd("stopped", Used(0, 0, 0.0)))
        report, over = desk.tick()
        assert (report.state, over) == ("stopped", True)
        told = read_shards_report(tmp_path)
        assert told == report
