"""Answers that are there already: replayed runs, and sweeps that share calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import LayerSpec, NetworkSpec, NeuronSpec, RolesSpec, Settings
from judgenet.core.project import Project
from judgenet.store.files import save_project
from tests.fakes import judge_server
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]


def verdicts(judgenet: Judgenet, out: str) -> list[dict[str, object]]:
    return judgenet("export", out, "--what", "verdicts").lines


def test_a_replay_gives_the_same_verdicts_without_a_request(
    judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer
) -> None:
    server.set(faults={"prose": 0.2, "length": 0.1})
    judgenet("run", "--pairs", pairs, *at, "--out", "one", "--width", 2, "--samples", 2, "--chair")
    requests = server.requests
    ran = judgenet("run", "--pairs", pairs, "--endpoint", "replay:one", "--out", "two", "--json")
    assert (ran.code, ran.json["state"], server.requests) == (0, "done", requests)
    assert ran.json["cost"]["price"] == 0.0
    assert verdicts(judgenet, "two") == verdicts(judgenet, "one")
    first, second = (judgenet("export", out, "--what", "calls").lines for out in ("one", "two"))
    assert [line["raw_text"] for line in second] == [line["raw_text"] for line in first]
    assert {line["endpoint"] for line in second} == {"replay"}


def test_a_run_in_two_forms_is_replayed_whole(judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer) -> None:
    """The endpoint refused schemas from some call on, and answered in text."""
    command = ("run", "--pairs", pairs, *at, "--out", "one", "--width", 2)
    judgenet(*command, "--max-calls", 15)
    server.set(refuse=["schema"])
    assert judgenet(*command).code == 0
    forms = [line["form"] for line in judgenet("export", "one", "--what", "calls").lines]
    assert (forms.count("json"), forms.count("text")) == (15, 21)
    ran = judgenet("run", "--pairs", pairs, "--endpoint", "replay:one", "--out", "two", "--json")
    assert (ran.code, ran.json["calls"]["unscored"]) == (0, {})
    assert verdicts(judgenet, "two") == verdicts(judgenet, "one")


def test_what_was_not_recorded_is_said(judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer) -> None:
    judgenet("run", "--pairs", pairs, *at, "--out", "one", "--width", 2, "--limit", 2)
    requests = server.requests
    ran = judgenet("run", "--pairs", pairs, "--endpoint", "replay:one", "--out", "two", "--json")
    assert server.requests == requests
    assert ran.json["calls"]["unscored"].keys() == {"not_recorded"}
    assert verdicts(judgenet, "two")[:2] == verdicts(judgenet, "one")
    assert [line["c1"] for line in verdicts(judgenet, "two")[2:]] == [None, None]


def test_a_panel_at_two_endpoints_is_replayed_whole(
    judgenet: Judgenet, pairs: Path, server: JudgeServer, tmp_path: Path
) -> None:
    """Also where both endpoints have a model of the same name."""
    neurons = tuple(NeuronSpec(settings=Settings(endpoint=name, model="judge")) for name in ("here", "there"))
    network = NetworkSpec((LayerSpec(neurons),), roles=RolesSpec(kind="none"), settings=Settings(endpoint="here"))
    with JudgeServer() as other:
        endpoints = (EndpointProfile("here", base_url=server.url), EndpointProfile("there", base_url=other.url))
        project = Project(name="panel", network=network, salt="0123456789abcdef", endpoints=endpoints)
        save_project(project, tmp_path / "panel.judgenet")
        assert judgenet("run", "panel.judgenet", "--pairs", pairs).code == 0
        assert (server.requests, other.requests) == (8, 8)
        ran = judgenet("run", "--pairs", pairs, "--endpoint", "replay:panel.judgenet", "--out", "two", "--json")
        assert (server.requests, other.requests) == (8, 8)
    assert (ran.code, ran.json["calls"]["scored"]) == (0, 16)
    assert verdicts(judgenet, "two") == verdicts(judgenet, "panel.judgenet")


def test_a_sweep_shares_what_its_runs_have_in_common(
    judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """n = 1..8, l = 1..4: one call for the roles of a pair, and layers before the last are those of narrower depth."""
    monkeypatch.setattr(judge_server, "_ROLES", tuple(f"Aspect {n}" for n in range(1, 9)))
    server.set(roles=8)
    alone = 0
    for width in range(1, 9):
        for depth in range(1, 5):
            options = ("--width", width, "--depth", depth, "--roles", "generated:8", "--limit", 1)
            ran = judgenet("run", "--pairs", pairs, *at, "--out", "out", *options, "--json", "--quiet")
            assert ran.json["state"] == "done"
            alone += 1 + 2 * width * depth
            assert ran.json["calls"]["all"] == 1 + 2 * width * depth
    # Layer 1 is that of the widest; each deeper layer is asked once for each width.
    assert server.requests == 1 + 2 * 8 + 2 * 3 * sum(range(1, 9))
    assert server.requests / alone <= 0.33
    assert judgenet("metrics", "out/run-32", "--json").code == 0
