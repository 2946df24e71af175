"""Criteria by command and in Python: from a column to figures, reports and exports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import judgenet as jn
from judgenet.core.network import NetworkError
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet
from tests.unit.cli.test_json import documented, leaves, matches

At = tuple[str, ...]
RUBRICS = (
    [{"title": "Facts", "points": 3}, {"title": "Tone", "points": 1}],
    [{"title": "Facts", "points": 2}, {"title": "Short", "points": 2}, {"title": "Tone", "points": 0}],
    [{"title": "Tone"}],
)


def sheet(folder: Path, rubrics: tuple[object, ...] = RUBRICS) -> Path:
    path = folder / "pairs.jsonl"
    rows = [
        {"id": f"p{place}", "question": f"Q{place}", "response_a": "So.", "response_b": "No.", "label": "ab"[place % 2]}
        | {"what counts": rubric}
        for place, rubric in enumerate(rubrics)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_from_a_mapped_column_to_figures_report_and_exports(
    judgenet: Judgenet, at: At, server: JudgeServer, tmp_path: Path
) -> None:
    sheet(tmp_path)
    command = ("run", "--pairs", "pairs.jsonl", "--map", "criteria=what counts", *at, "--out", "out")
    command += ("--roles", "criteria", "--depth", "1")
    estimate = judgenet("estimate", *command[1:-6], "--roles", "criteria", "--depth", "1", "--json").json
    assert estimate["calls"] == [12, 12], "two orders of 2, 3 and 1 neurons"
    ran = judgenet(*command)
    assert ran.code == 0, ran.err
    assert server.requests == 12
    assert "Criteria from what counts: 1 to 3 each on 3 of 3 records, with weights." in ran.err
    assert judgenet(*command).code == 0
    assert server.requests == 12, "running it again asks nothing"

    shown = judgenet("metrics", "out").out
    assert "3 of 3 pairs have criteria, 1 to 3 each, 2 of them with weights that differ" in shown
    assert "1 more criterion is on one pair alone." in shown
    figures = judgenet("metrics", "out", "--json").json
    assert {name: of["pairs"] for name, of in figures["criteria"]["by_name"].items()} == {"Tone": 3, "Facts": 2}
    assert figures["criteria"]["by_name"]["Tone"]["agreement"]["n_total"] == 3
    listed = documented("judgenet metrics")
    assert not [path for path in leaves(figures) if not any(matches(keys, path) for keys in listed)]

    roles = judgenet("export", "out", "--what", "roles").lines
    assert [(of["pair_id"], of["role"], of["weight"]) for of in roles] == [
        ("p0", "Facts", 3),
        ("p0", "Tone", 1),
        ("p1", "Facts", 2),
        ("p1", "Short", 2),
        ("p1", "Tone", 0),
        ("p2", "Tone", 1),
    ]
    verdicts = judgenet("export", "out", "--what", "verdicts").lines
    assert [sum(of[f"votes_{side}"] for side in ("a", "b", "tie")) for of in verdicts] == pytest.approx([2, 3, 1])
    for kind in ("curve", "learn", "panel"):
        assert "each question" in judgenet(kind, "out").out, kind
    assert judgenet("report", "out", "-o", "report.md").code == 0
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "judged by as many neurons as it has criteria, each by one criterion of the pair" in report
    assert "Votes and averages count each neuron by the weight of its criterion" in report
    assert "3 of 3 pairs have criteria" in report


def test_pairs_without_criteria_end_the_run_before_a_call(
    judgenet: Judgenet, at: At, server: JudgeServer, tmp_path: Path
) -> None:
    sheet(tmp_path, (RUBRICS[0], None))
    command = ("run", "--pairs", "pairs.jsonl", *at, "--out", "out", "--roles", "criteria")
    refused = judgenet(*command)
    assert refused.code == 2
    assert (
        "2 of 2 pairs have no criteria for the neurons to judge by, such as p0. Say which column holds them"
        in refused.err
    )
    mapped = judgenet(*command, "--map", "criteria=what counts")
    assert "1 of 2 pairs have no criteria for the neurons to judge by, such as p1." in mapped.err
    assert server.requests == 0


def test_criteria_in_python(tmp_path: Path) -> None:
    pairs = jn.read_pairs(sheet(tmp_path), mapping={"criteria": "what counts"})
    assert [[of.name for of in pair.criteria] for pair in pairs][1] == ["Facts", "Short", "Tone"]
    assert pairs.to_frame()["criteria"][2] == [{"name": "Tone"}]
    network = jn.Network.layers(None, 2, roles="criteria")
    assert network.spec.roles.kind == "criteria"
    assert all(layer.adaptive for layer in network.spec.layers)
    with pytest.raises(NetworkError, match=r"3 of 3 pairs have no criteria"):
        jn.judge(jn.read_pairs(sheet(tmp_path)), network, out=tmp_path / "out")
