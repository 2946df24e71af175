"""The package as Python programs use it: five lines from pairs to figures, the same figures as the command line's."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import openpyxl  # type: ignore[import-untyped]
import pandas as pd
import pytest

import judgenet as jn
from judgenet.api import judging
from judgenet.core.batches import BatchError
from judgenet.core.documents import DocumentError
from judgenet.core.events import PairFinished, RunFinished
from judgenet.core.network import NetworkError
from judgenet.core.pairs import Pair
from judgenet.core.until import UntilError
from judgenet.engine.endpoints import NotApproved
from judgenet.figures.metrics import run_metrics
from judgenet.formats import DataError
from judgenet.store.db import Store
from judgenet.store.runs import run_info
from judgenet.store.settings import SettingsError
from judgenet.store.taught import fair_frame
from tests.fakes.judge_server import JudgeServer
from tests.fakes.listener import SECRET, Listener, their_project


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as found:
        yield found


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGENET_CONFIG_DIR", str(tmp_path / "config"))


@pytest.fixture
def pairs() -> list[Pair]:
    labels = ("a", "b", "tie", "a", "b", None)
    return [
        Pair(f"p{place}", f"Question {place}?", f"First {place}.", f"Second {place}.", human=label)  # type: ignore[arg-type]
        for place, label in enumerate(labels)
    ]


def network(server: JudgeServer) -> jn.Network:
    return jn.Network.layers(2, 2, model="judge", endpoint=jn.endpoint(server.url, "judge"), roles="none")


def test_a_run_by_batches(server: JudgeServer, pairs: list[Pair], tmp_path: Path) -> None:
    run = jn.judge(pairs, network(server), out=tmp_path / "study", batch=True, live_after="6h", progress=False)
    assert run.state == "done"
    stats = server.judge.stats()
    # The first call goes live, and shows that the model can be asked.
    assert (stats["batch_answers"], stats["paid"]) == (6 * 8 - 1, 6 * 8)
    with pytest.raises(BatchError, match="is no deadline"):
        jn.judge(pairs, network(server), out=tmp_path / "other", batch=True, live_after="soon", progress=False)


def test_reasoning_and_further_fields(server: JudgeServer, pairs: list[Pair], tmp_path: Path) -> None:
    place = jn.endpoint(server.url, "judge", extra={"top_k": 20})
    net = jn.Network.layers(1, 1, endpoint=place, roles="none", reasoning=300, extra={"min_p": 0.1})
    jn.judge(pairs[:1], net, out=tmp_path / "study")
    asked = server.log[-1].asked
    assert (asked["top_k"], asked["min_p"], asked["thinking_token_budget"]) == (20, 0.1, 300)
    with pytest.raises(DocumentError, match=r"extra\.messages: is filled by the program"):
        jn.Network.layers(1, 1, extra={"messages": []})
    with pytest.raises(NetworkError, match="The reasoning is 'much'"):
        jn.Network.layers(1, 1, reasoning="much")  # type: ignore[arg-type]


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, judgenet; print(sorted({'numpy', 'pandas', 'httpx', 'PySide6', 'typer'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_public_surface_is_what_all_names() -> None:
    assert sorted(jn.__all__) == [
        "BiasLab",
        "Figures",
        "LiveRun",
        "Network",
        "Pairs",
        "Run",
        "Study",
        "__version__",
        "bias",
        "endpoint",
        "judge",
        "judge_async",
        "labels_to_compare",
        "load",
        "open_lab",
        "open_run",
        "read_pairs",
        "shard_status",
    ]
    assert all(getattr(jn, name) is not None for name in jn.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = jn.nothing  # type: ignore[attr-defined]


def test_five_lines_judge_pairs_and_resume(server: JudgeServer, pairs: list[Pair], tmp_path: Path) -> None:
    run = jn.judge(pairs, network(server), out=tmp_path / "study", progress=False)
    assert run.state == "done"
    assert len(run.calls) == server.judge.stats()["paid"] == 6 * 2 * 2 * 2
    assert list(run.pairs["id"]) == [pair.id for pair in pairs]
    assert list(run.pairs["human"])[:3] == ["a", "b", "tie"]
    assert run.pairs["human"].isna().tolist() == [False] * 5 + [True]
    again = jn.judge(pairs, network(server), out=tmp_path / "study", progress=False)
    assert again.id == run.id
    assert server.judge.stats()["paid"] == 48
    opened = jn.open_run(tmp_path / "study")
    assert (opened.id, opened.store_path) == (run.id, run.store_path)
    # The run's network has the endpoint that it names: it judges others elsewhere.
    other = jn.judge(pairs[:2], opened.network, out=tmp_path / "other", progress=False)
    assert other.state == "done"


def test_figures_are_those_of_the_command_line(server: JudgeServer, pairs: list[Pair], tmp_path: Path) -> None:
    run = jn.judge(pairs, network(server), out=tmp_path / "study", progress=False)
    with Store.open(run.store_path, readonly=True) as store:
        expected = run_metrics(store, fair_frame(store, run_info(store, run.id)))
    found = run.agreement()
    assert found == expected
    assert json.loads(found.to_json()) == dict(found)
    assert found["aggregations"]["c1"]["accuracy"] == found.aggregations["c1"].accuracy
    table = found.to_frame()
    assert list(table.index) == ["c1", "c2_l1", "c2_l2", "c2_all"]
    assert table.loc["c1", "n_used"] == 5
    assert table.loc["c1", "n_total"] == 6
    assert "<table" in found._repr_html_()
    same = (run.pairs["c1"] == run.pairs["human"])[:5]
    assert table.loc["c1", "accuracy"] == pytest.approx(same.mean())


def test_comparisons_are_planned_and_judges_held_against_annotators(server: JudgeServer, tmp_path: Path) -> None:
    people = {place: (("x", "a"), ("y", "ab"[place % 2]), ("z", "a")) for place in range(60)}
    labelled = [
        Pair(f"p{at}", f"Question {at}?", "First.", "Second.", human="a", annotators=people[at]) for at in range(60)
    ]
    run = jn.judge(labelled, network(server), out=tmp_path / "study", progress=False)
    # Chow, Shao and Wang, example 6.4.3: 59 pairs by the formula.
    plan = jn.labels_to_compare(difference=0.3, discordance=0.7)
    assert plan.pairs_formula == 59
    of_run = jn.labels_to_compare(run, difference=0.1)
    assert of_run.discordance.source == "accuracy"
    assert of_run.n == 60
    same = jn.labels_to_compare(run, run, difference=0.1)
    assert same.pairs is None
    assert "the same pairs" in (same.reason or "")
    with pytest.raises(ValueError, match="alpha 2"):
        jn.labels_to_compare(alpha=2)
    tested = run.alt_test(0.1)
    assert tested.annotators == ("x", "y", "z")
    assert set(tested.aggregations) == set(run.agreement().aggregations)
    assert isinstance(tested.to_frame(), pd.DataFrame)
    calibration = run.calibration(bins=5)
    assert set(calibration.sources) == {"votes", "scores", "learned"}
    assert calibration.sources["votes"].n + calibration.sources["votes"].n_ties == 60


def test_a_promise_is_kept_in_a_project_and_decides_its_runs(
    server: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The fake judge's verdicts follow from the salt.
    monkeypatch.setattr(judging, "new_salt", lambda: "1" * 32)
    labelled = [Pair(f"p{place}", f"Question {place}?", "First.", "Second.", human="a") for place in range(60)]
    run = jn.judge(labelled, network(server), out=tmp_path / "study", progress=False)
    with pytest.raises(ValueError, match="Nothing can be promised"):
        run.guarantee(alpha=0.01, save=tmp_path / "none.judgenet")
    assert not (tmp_path / "none.judgenet").exists()
    found = run.guarantee(alpha=0.9, save=tmp_path / "rule.judgenet")
    assert found.threshold is not None
    project = jn.load(tmp_path / "rule.judgenet")
    again = jn.judge(labelled, project.network, out=tmp_path / "again", progress=False)
    assert again.agreement()["acceptance"]["accepted"] == found.accepted
    assert again.pairs["decision"].value_counts().get("accepted", 0) == found.accepted


def test_events_come_while_the_run_goes_on(server: JudgeServer, pairs: list[Pair], tmp_path: Path) -> None:
    async def work() -> tuple[list[object], jn.Run]:
        live = jn.judge_async(pairs, network(server), out=tmp_path / "study")
        events = [event async for event in live]
        return events, await live

    events, run = asyncio.run(work())
    assert sum(isinstance(event, PairFinished) for event in events) == 6
    assert isinstance(events[-1], RunFinished)
    assert run.state == "done"


def test_judging_works_inside_a_running_loop(server: JudgeServer, pairs: list[Pair], tmp_path: Path) -> None:
    async def notebook() -> jn.Run:
        return jn.judge(pairs, network(server), out=tmp_path / "study", progress=False)

    assert asyncio.run(notebook()).state == "done"


def test_a_cancelled_task_keeps_what_is_finished(server: JudgeServer, pairs: list[Pair], tmp_path: Path) -> None:
    async def work() -> None:
        async for event in jn.judge_async(pairs, network(server), out=tmp_path / "study"):
            if isinstance(event, PairFinished):
                break

    asyncio.run(work())
    assert len(jn.open_run(tmp_path / "study").calls) > 0


def test_a_budget_in_calls_stops_the_run(server: JudgeServer, pairs: list[Pair], tmp_path: Path) -> None:
    run = jn.judge(pairs, network(server), out=tmp_path / "study", max_calls=10, progress=False)
    assert run.state == "budget"
    assert server.judge.stats()["paid"] <= 10


def test_a_rule_stops_a_run_and_it_goes_on_without(server: JudgeServer, tmp_path: Path) -> None:
    many = [Pair(f"p{i}", f"Why {i}?", f"So {i}.", "Because.", human="a") for i in range(80)]
    run = jn.judge(many, network(server), out=tmp_path / "study", until="width <= 0.7", progress=False)
    assert run.state == "enough"
    figures = run.agreement(anytime=True)
    assert figures.until is not None
    assert figures.until.met
    assert figures.anytime is not None
    assert 0 < figures.pairs.not_asked < 80
    rates = run.rate(anytime=True)
    assert rates.anytime is not None
    assert rates.anytime.aggregations["c2_all"] == figures.anytime.aggregations["c2_all"]
    assert jn.judge(many, network(server), out=tmp_path / "study", progress=False).state == "done"
    with pytest.raises(UntilError, match="is no condition"):
        jn.judge(many, network(server), out=tmp_path / "other", until="soon", progress=False)
    assert not (tmp_path / "other").exists()


def test_a_budget_in_money_needs_prices(server: JudgeServer, pairs: list[Pair], tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"The price of judge at .* is unknown"):
        jn.judge(pairs, network(server), out=tmp_path / "study", budget=5)
    assert not (tmp_path / "study").exists()


def test_pairs_from_data_frames_are_read_as_from_files(tmp_path: Path) -> None:
    frame = pd.DataFrame({"prompt": ["Why?"], "one": ["Because."], "two": ["No."], "better": [1]})
    pairs = jn.read_pairs(
        frame,
        mapping={"question": "prompt", "response_a": "one", "response_b": "two", "human": "better"},
        label_map={"1": "a", "2": "b"},
    )
    assert [(pair.question, pair.response_a, pair.response_b, pair.human) for pair in pairs] == [
        ("Why?", "Because.", "No.", "a")
    ]
    again = jn.read_pairs(pairs.to_frame())
    assert [pair.to_json() for pair in again] == [pair.to_json() for pair in pairs]
    with pytest.raises(DataError):
        jn.read_pairs(pd.DataFrame({"x": [1]}))


def test_projects_open_with_their_network_and_pairs(server: JudgeServer, pairs: list[Pair], tmp_path: Path) -> None:
    net = network(server)
    jn.judge(pairs, net, out=tmp_path / "study", progress=False)
    study = jn.load(tmp_path / "study" / "run.judgenet")
    assert study.network.spec == net.spec
    assert [pair.id for pair in study.pairs] == [pair.id for pair in pairs]
    saved = net.save(tmp_path / "mine")
    assert jn.load(saved).network.spec == net.spec
    assert net.graph().number_of_nodes() == 4 + 3


def test_what_cannot_run_is_refused_before_anything_is_written(pairs: list[Pair], tmp_path: Path) -> None:
    with pytest.raises(NetworkError):
        jn.Network.layers(0, 1)
    with pytest.raises(SettingsError, match="no endpoint 'nowhere'"):
        jn.judge(pairs, jn.Network.layers(1, 1, model="m", endpoint="nowhere"), out=tmp_path / "study")
    with pytest.raises(ValueError, match="same id"):
        jn.judge([pairs[0], pairs[0]], jn.Network.layers(1, 1, roles="none"), out=tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_a_report_is_written_by_its_ending(server: JudgeServer, pairs: list[Pair], tmp_path: Path) -> None:
    run = jn.judge(pairs, network(server), out=tmp_path / "study", progress=False)
    (target,) = run.report(tmp_path / "report.md")
    assert target.read_text(encoding="utf-8").startswith("Report of run 1, 2×2")


def test_networks_are_files_and_graphs(tmp_path: Path) -> None:
    network = jn.Network.layers(2, 2, model="m", endpoint="lab", roles=["Truth", "Form"])
    for ending in ("graphml", "json"):
        assert jn.Network.from_file(network.to_file(tmp_path / f"net.{ending}")).spec == network.spec
    assert network.to_file(tmp_path / "net.svg").read_text(encoding="utf-8").startswith("<?xml")
    with pytest.raises(NetworkError, match=r"is written as \.graphml, \.json, \.dot, \.svg"):
        network.to_file(tmp_path / "net.png")
    graph = network.graph()
    assert jn.Network.from_graph(graph).spec == network.spec
    graph.remove_edge("1.2", "2.1")
    assert jn.Network.from_graph(graph).spec.layers[1].neurons[0].inputs == (0,)


def test_a_project_of_somebody_else_gets_no_key(
    pairs: list[Pair], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    listener = Listener()
    try:
        mine = jn.endpoint(listener.url, "judge", api_key_env="AWS_SECRET_ACCESS_KEY")
        project = their_project(tmp_path / "in", mine, ["../mine.jsonl"])
        study = jn.load(project)
        with pytest.raises(NotApproved, match="AWS_SECRET_ACCESS_KEY"):
            jn.judge(pairs, study.network, out=tmp_path / "out", progress=False)
        with pytest.raises(NotApproved, match=r"mine\.jsonl"):
            _ = study.pairs
        assert (listener.seen, (tmp_path / "out").exists()) == ([], False)
        # The same endpoint from the program itself is the user's own word, and holds for its saved project.
        net = jn.Network.layers(1, 1, model="judge", endpoint=mine, roles="none")
        jn.judge(pairs, net, out=tmp_path / "out", progress=False)
        assert SECRET in listener.text
        jn.judge(pairs, jn.load(net.save(tmp_path / "own")).network, out=tmp_path / "again", progress=False)
    finally:
        listener.close()


def test_read_pairs_takes_sheets_bad_rows_and_limits(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for name, key in (("first", "7"), ("more", "1")):
        sheet = book.create_sheet(name)
        sheet.append(["id", "question", "response_a", "response_b"])
        sheet.append([key, "Why?", "x", "y"])
    book.save(tmp_path / "book.xlsx")
    assert [pair.id for pair in jn.read_pairs(tmp_path / "book.xlsx", sheet="more")] == ["1"]
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"id": "1", "question": "Why?", "response_a": "x", "response_b": "y"}\nbroken\n', "utf-8")
    with pytest.raises(DataError, match="row 2"):
        jn.read_pairs(path)
    pairs = jn.read_pairs(path, leave_out_bad=True)
    assert [pair.id for pair in pairs] == ["1"]
    assert any("left out (row 2:" in finding.message for finding in pairs.findings)
    for limit in (50, "50", "0.05kB"):
        with pytest.raises(DataError, match=r"unpack.*50 bytes"):
            jn.read_pairs(path, unpack_limit=limit)
