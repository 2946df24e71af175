"""A run that an earlier version began is gone on with, and paid for once, though other prompts are shipped today."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgenet.core import prompts
from judgenet.core.prompts import PromptBook
from judgenet.store.db import Store
from judgenet.store.runs import full_calls, run_info
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]


@pytest.fixture
def version_0_1() -> pytest.MonkeyPatch:
    """Inside its context the prompts are those of version 0.1."""
    return pytest.MonkeyPatch()


def _begin(judgenet: Judgenet, version_0_1: pytest.MonkeyPatch, *command: object, code: int = 0) -> None:
    before = PromptBook.default().versions[-1]
    with version_0_1.context() as old:
        old.setattr(prompts, "_default", lambda: before)
        old.setattr(PromptBook, "versions", property(lambda book: (book,)))
        assert judgenet(*command).code == code


def _digest(out: Path) -> str:
    with Store.open(out / "run.judgenet.db", readonly=True) as store:
        return str(run_info(store).record["prompts"])


def test_an_interrupted_run_is_paid_for_once(
    judgenet: Judgenet, version_0_1: pytest.MonkeyPatch, pairs: Path, at: At, server: JudgeServer, tmp_path: Path
) -> None:
    command = ("run", "--pairs", pairs, *at, "--out", "out")
    _begin(judgenet, version_0_1, *command, "--max-calls", 30, code=3)
    assert server.requests == 30
    assert judgenet("estimate", "--pairs", pairs, *at, "--out", "out", "--json").json["calls_recorded"] == 30
    assert judgenet(*command).code == 0
    assert (server.requests, server.judge.paid_again) == (52, 0)
    old = PromptBook.default().versions[-1].digest
    assert _digest(tmp_path / "out") == old
    assert judgenet(*command).code == 0
    assert server.requests == 52
    with Store.open(tmp_path / "out" / "run.judgenet.db", readonly=True) as store:
        sent = [call.messages[-1][1] for call in full_calls(store, run_info(store)) if call.site.layer == 1]
        assert (len(sent), any("<<perspective" in text for text in sent)) == (24, False)
    # Asked again from the recording, with no judge at all, and from a new network with today's prompts.
    server.stop()
    again = ("run", "--pairs", pairs, "--endpoint", "replay:out", "--out", "again")
    assert judgenet(*again).code == 0
    assert _digest(tmp_path / "again") == old
    assert "unscored" not in judgenet("metrics", "again").out


def test_a_new_run_begins_with_todays_prompts(
    judgenet: Judgenet, version_0_1: pytest.MonkeyPatch, pairs: Path, at: At, server: JudgeServer, tmp_path: Path
) -> None:
    _begin(judgenet, version_0_1, "run", "--pairs", pairs, *at, "--out", "out")
    assert judgenet("run", "--pairs", pairs, *at, "--out", "out", "--samples", 2).code == 0
    assert _digest(tmp_path / "out") == PromptBook.default().digest


def test_an_experiment_and_a_lab_keep_to_the_prompts_they_began_with(
    judgenet: Judgenet, version_0_1: pytest.MonkeyPatch, pairs: Path, at: At, server: JudgeServer, tmp_path: Path
) -> None:
    experiment = ("experiment", "width-depth", "--pairs", pairs, *at, "--out", "paper", "--widths", "1,2")
    lab = ("bias", "--pairs", pairs, *at, "--out", "lab", "--probes", "order")
    for command in (experiment, lab):
        _begin(judgenet, version_0_1, *command, "--max-calls", 15, code=3)
        assert judgenet(*command).code == 0
    assert server.judge.paid_again == 0
    old = PromptBook.default().versions[-1].digest
    for folder in ("paper", "lab"):
        with Store.open(tmp_path / folder / "run.judgenet.db", readonly=True) as store:
            found = store.reader.execute("SELECT DISTINCT json_extract(record, '$.prompts') FROM runs").fetchall()
        assert found == [(old,)]
