"""Bias labs from Python: the figures of ``judgenet bias``, resumed by either, and answered by people."""

from __future__ import annotations

import asyncio
import csv
import json
from pathlib import Path

import pytest

import judgenet as jn
from judgenet.api import judging
from judgenet.core.bias.base import BiasError
from judgenet.core.events import PairFinished, RunFinished
from judgenet.engine import prepare
from judgenet.formats import DataError
from judgenet.store.db import StoreError
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet
from tests.unit.cli.test_bias import NETWORK, write_pairs

PROBES = ("order", "bandwagon", "egocentric", "identical")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write_pairs(tmp_path / "pairs.jsonl", 12)


def network(server: JudgeServer) -> jn.Network:
    return jn.Network.layers(2, 2, model="judge", endpoint=jn.endpoint(server.url, "judge"), roles="none")


def by_command(judgenet: Judgenet, server: JudgeServer, pairs: Path, out: str) -> dict[str, object]:
    at = ("--pairs", pairs, "--base-url", server.url, "--model", "judge", *NETWORK, "--own-system", "mine")
    ran = judgenet("bias", *at, "--probes", ",".join(PROBES), "--out", out, "--json", "-q")
    assert ran.code == 0, ran.err
    return ran.json


def test_figures_are_those_of_the_command(
    judgenet: Judgenet, server: JudgeServer, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The fake judge draws its answers by the salt.
    for module in (prepare, judging):
        monkeypatch.setattr(module, "new_salt", lambda: "5" * 32)
    events: list[object] = []
    lab = jn.bias(
        pairs,
        network(server),
        out=tmp_path / "lab",
        probes=PROBES,
        own=["mine"],
        progress=False,
        on_event=events.append,
    )
    assert (lab.state, list(lab.runs)) == ("done", ["single", "network"])
    assert sum(isinstance(event, RunFinished) for event in events) == 2
    paid = server.judge.stats()["paid"]
    said = by_command(judgenet, server, pairs, "other")
    assert server.judge.stats()["paid"] == 2 * paid > 0
    assert lab.id == said["lab"]
    figures = lab.figures
    assert figures.to_dict() == {key: said[key] for key in figures}
    assert set(said) - set(figures) == {"lab", "state", "message", "place", "nwise", "reasons"}
    frame = figures.to_frame()
    assert set(frame["probe"]) == set(PROBES)
    assert len(frame) == len(figures.cells)
    for row, cell in zip(frame.itertuples(), figures.cells, strict=True):
        if cell.interval is not None:
            assert (row.interval_low, row.interval_high) == tuple(cell.interval)
    assert "<table" in lab._repr_html_()

    # The other door goes on with the lab, and pays nothing.
    again = by_command(judgenet, server, pairs, "lab")
    resumed = jn.bias(pairs, network(server), out="other", probes=PROBES, own=["mine"], progress=False)
    assert (again["lab"], resumed.id) == (lab.id, lab.id)
    assert resumed.figures == figures
    assert server.judge.stats()["paid"] == 2 * paid

    opened = jn.open_lab(tmp_path / "lab")
    assert (opened.id, opened.figures) == (lab.id, figures)
    exported = [json.loads(line) for line in judgenet("export", "lab", "--what", "bias").out.splitlines()]
    assert len(opened.answers) == len(exported)
    assert opened.answers["outcome"].tolist() == [record["outcome"] for record in exported]
    assert {judge.kind for judge in jn.open_lab("lab", neurons=True).figures.judges} > {"neuron", "network"}
    assert jn.open_lab("lab/lab-1").id == jn.open_lab("lab", "lab-1").id == lab.id
    with pytest.raises(StoreError, match="Labs: lab-1"):
        jn.open_lab("lab", "lab-2")


def test_people_answer_a_sheet(server: JudgeServer, pairs: Path, tmp_path: Path, config: Path) -> None:
    lab = jn.bias(pairs, network(server), out=tmp_path / "lab", probes="order", judges=["single"], progress=False)
    assert lab.figures.people.persons == ()
    sheet = lab.for_people(tmp_path / "sheet.csv")
    with sheet.open(encoding="utf-8", newline="") as rows:
        read = list(csv.DictReader(rows))
    assert len(read) == 24
    # Ada takes the first response of 20 prompts and leaves 4 empty.
    with sheet.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, read[0].keys())
        writer.writeheader()
        writer.writerows({**row, "answer": "1" if place < 20 else ""} for place, row in enumerate(read))
    with pytest.raises(DataError, match="who answered"):
        lab.people(sheet)
    entered = lab.people(sheet, "Ada")
    assert (entered.n, entered.new, entered.empty) == (20, 20, 4)
    assert lab.people(sheet, "Ada").new == 0
    for found in (lab, jn.open_lab(tmp_path / "lab")):
        people = found.figures.people
        assert (people.persons, people.answers, people.prompts_total) == (("Ada",), 20, 24)
        assert people.cells[0].counts["first"] == people.cells[0].items
    other = tmp_path / "other.csv"
    other.write_text("id,answer\nqffff,1\n", encoding="utf-8")
    with pytest.raises(DataError, match="no prompt of this lab"):
        lab.people(other, "Ada")


def test_a_lab_goes_on_after_a_budget_in_a_running_loop(
    server: JudgeServer, pairs: Path, tmp_path: Path, config: Path
) -> None:
    async def notebook(most: int | None) -> jn.BiasLab:
        return jn.bias(
            pairs, network(server), out=tmp_path / "lab", probes="order", limit=6, max_calls=most, progress=False
        )

    # 12 prompts, each asked once of the single judge and of two layers of two neurons. The first neuron asks what the
    # single judge asks.
    whole = 12 + 12 * 4 - 12
    assert asyncio.run(notebook(20)).state == "budget"
    assert server.judge.stats()["paid"] == 20
    lab = asyncio.run(notebook(None))
    assert (lab.state, lab.figures.pairs) == ("done", 6)
    assert server.judge.stats()["paid"] == whole


def test_what_cannot_be_asked_is_refused_before_anything_is_written(
    server: JudgeServer, pairs: Path, tmp_path: Path, config: Path
) -> None:
    net = network(server)
    for options, words in (
        ({"probes": ["order", "taste"]}, "no probe 'taste'"),
        ({"judges": ["jury"]}, "no judge 'jury'"),
        ({"judges": []}, "No judge is named"),
        ({"own": ["nobody"]}, "nobody: no pair has a response of this name. Names in the pairs: famous, mine"),
        ({"share": 0}, "1 to 100"),
    ):
        with pytest.raises(BiasError, match=words):
            jn.bias(pairs, net, out=tmp_path / "lab", progress=False, **options)  # type: ignore[arg-type]
    assert not (tmp_path / "lab").exists()
    assert server.judge.stats()["paid"] == 0
    run = jn.judge(pairs, net, out=tmp_path / "run", limit=2, progress=False)
    with pytest.raises(BiasError, match="nobody: no pair has"):
        run.bias(own=["nobody"])
    with pytest.raises(StoreError, match="no bias lab"):
        jn.open_lab(tmp_path / "run")


def test_an_interrupt_keeps_what_is_finished(server: JudgeServer, pairs: Path, tmp_path: Path, config: Path) -> None:
    finished: list[object] = []

    def stop(event: object) -> None:
        if isinstance(event, PairFinished):
            finished.append(event)
            if len(finished) == 1:
                raise KeyboardInterrupt

    options = {"out": tmp_path / "lab", "probes": "order", "progress": False}
    lab = jn.bias(pairs, network(server), on_event=stop, **options)  # type: ignore[arg-type]
    assert lab.state == "cancelled"
    assert lab.figures.cells
    assert jn.bias(pairs, network(server), **options).state == "done"  # type: ignore[arg-type]
    # 24 prompts to each of four neurons, the first of which asks what the single judge asks. Calls that were under way
    # when the interrupt came may be asked again.
    assert 24 * 4 <= server.judge.stats()["paid"] < 24 * 5
