"""``judgenet import``: judgments made elsewhere, and the commands that work on them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgenet.store.db import Store
from judgenet.store.files import store_path
from judgenet.store.runs import run_info
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet


def judgments(folder: Path) -> Path:
    """Two judges on four pairs in both orders; the second one has texts alone."""
    rows = []
    for place, verdict in enumerate(("a", "b", "a", "b")):
        for order in ("ab", "ba"):
            rows.append({"pair_id": f"p{place}", "judge": "one", "prompt": "x", "order": order, "verdict": verdict})
            told = "(a)" if order == "ab" else "(b)"
            rows.append({"pair_id": f"p{place}", "judge": "two", "order": order, "text": f"Output {told} is better."})
    path = folder / "judgments.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.data
def test_published_figures_by_command(judgenet: Judgenet, shared_data: Path) -> None:
    """JudgeBench's judges by category, as its own scoring has them, and Auto-J's agreement of 54.96 %."""
    want = json.loads((shared_data / "expected.json").read_text(encoding="utf-8"))["judgebench"]
    folder = shared_data / "judgebench"
    judgenet(
        "import", folder / "judgments.jsonl", "--pairs", folder / "pairs.jsonl", "--neuron", "judge", "--out", "jb"
    )
    figures = judgenet("metrics", "jb", "--by", "task", "--evidence", "0", "--json").json
    for judge, expected in want.items():
        found = figures["neurons"][judge]
        right = sum(found["confusion"][place][place] for place in range(3))
        assert right == expected["Overall"]["correct"], judge
        maths = figures["neurons_by"]["task"]["livebench-math"][judge]
        assert sum(maths["confusion"][place][place] for place in range(3)) == expected["Math"]["correct"], judge
    folder = shared_data / "autoj"
    ran = judgenet("import", folder / "judgments.jsonl", "--pairs", folder / "pairs.jsonl", "--out", "aj")
    assert ", 1 neuron. " in ran.out
    of = judgenet("metrics", "aj", "--evidence", "0", "--json").json["position"]["autoj-13b"]
    assert (of["right_both"], of["n_both"]) == (765, 1392)
    assert (of["right_ab"], of["right_ba"]) == (835, 844)


@pytest.mark.data
def test_published_sums_and_win_rate_by_command(judgenet: Judgenet, shared_data: Path, tmp_path: Path) -> None:
    """The Vicuna blog's sums for Bard, and AlpacaEval's weighted win rate of gemma-2b-it, 3.4020 %."""
    folder = shared_data / "fastchat_vicuna"
    where = "source_file=vicuna-13b_20230322-clean-lang/review_bard_vicuna-13b.jsonl"
    chosen = ("--pairs", folder / "pairs.jsonl", "--where", where, "--neuron", "judge", "--out", "bard")
    judgenet("import", folder / "judgments.jsonl", *chosen)
    of = judgenet("metrics", "bard", "--evidence", "0", "--json").json["scores"]["gpt-4"]
    assert (of["calls"], of["sum_a"], of["sum_b"]) == (80, 664.0, 655.5)
    places = tmp_path / "places.jsonl"
    lines = ({"id": str(i), "question": f"Q{i}", "response_a": "x", "response_b": "y"} for i in range(805))
    places.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    judgenet("import", shared_data / "alpaca_eval" / "logprob.jsonl", "--pairs", places, "--out", "gemma")
    (of,) = judgenet("metrics", "gemma", "--evidence", "0", "--json").json["scores"].values()
    assert 100 * of["mean_b"] == pytest.approx(3.4020, abs=5e-5)


def test_an_import_is_a_run_that_metrics_export_and_report_read(
    judgenet: Judgenet, pairs: Path, tmp_path: Path
) -> None:
    ran = judgenet("import", judgments(tmp_path), "--pairs", pairs, "--out", "out", "--json")
    assert ran.code == 0
    assert ran.json["neurons"] == ["one|x", "two"]
    assert (ran.json["taken_as_recorded"], ran.json["read_from_text"], ran.json["calls"]) == (8, 8, 16)
    figures = judgenet("metrics", "out", "--json").json
    # Judge two always says A; where one says B they are a tied vote. Labels are a, b, tie and none.
    assert figures["state"] == "done"
    assert figures["aggregations"]["c2_all"]["confusion"] == [[1, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert (figures["cost"]["calls_new"], figures["cost"]["price"]) == (0, 0.0)
    assert "8 of 16 calls as the source read them, 8 read from their texts" in figures["message"]
    calls = judgenet("export", "out", "--what", "calls").lines
    assert {call["role"] for call in calls} == {"one|x", "two"}
    assert {call["raw_text"] for call in calls if call["role"] == "two"} == {
        "Output (a) is better.",
        "Output (b) is better.",
    }
    assert judgenet("report", "out", "-o", "report.md").code == 0
    assert "8 read from their texts" in Path("report.md").read_text(encoding="utf-8")
    assert Path("out/run.judgenet").exists()


def test_where_chooses_judgments(judgenet: Judgenet, pairs: Path, tmp_path: Path) -> None:
    file = judgments(tmp_path)
    ran = judgenet("import", file, "--pairs", pairs, "--out", "out", "--where", "judge=one,prompt=x", "--json")
    assert (ran.json["neurons"], ran.json["calls"]) == (["one|x"], 8)
    refused = judgenet("import", file, "--pairs", pairs, "--out", "out", "--where", "judge=three")
    assert (refused.code, refused.out) == (2, "")
    assert "'one' (8), 'two' (8)" in refused.err


def test_what_is_left_out_is_told(judgenet: Judgenet, pairs: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    rows = [{"pair_id": one, "judge": "j", "order": "ab", "verdict": "a"} for one in ("p0", "elsewhere")]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ran = judgenet("import", file, "--pairs", pairs, "--out", "out")
    assert ran.code == 0
    assert "Left out: 1 judgments without pair" in ran.err
    assert "Left out: 3 pairs without judgment" in ran.err


def test_recorded_judgments_cannot_be_asked_again(
    judgenet: Judgenet, pairs: Path, tmp_path: Path, at: tuple[str, ...], server: JudgeServer
) -> None:
    """The command says what can be done with them; with a model it judges the same pairs beside them."""
    judgenet("import", judgments(tmp_path), "--pairs", pairs, "--out", "out")
    for command in ("run", "estimate"):
        told = judgenet(command, "out/run.judgenet")
        assert (told.code, told.out) == (2, "")
        assert "These are judgments of 2 judges that were recorded elsewhere: there is no model to ask" in told.err
        assert "judgenet metrics out" in told.err
        assert "--endpoint NAME --model MODEL" in told.err
    told = judgenet("run", "--pairs", pairs, "--endpoint", "replay:out", "--out", "other")
    assert told.code == 2
    assert "nothing to replay" in told.err
    assert not Path("other").exists()
    ran = judgenet("run", "out/run.judgenet", *at, "--width", 2, "--depth", 1, "--roles", "none", "--json")
    assert (ran.code, ran.json["run"], server.requests) == (0, "run-2", 4 * 4)
    compared = judgenet("compare", "out/run-1", "out/run-2", "--json")
    assert compared.code == 0
    assert judgenet("metrics", "out/run-1", "--json").json["aggregations"]["c2_all"]["n_used"] == 3


def test_nobody_knows_the_prompts_of_recorded_judgments(judgenet: Judgenet, pairs: Path, tmp_path: Path) -> None:
    judgenet("import", judgments(tmp_path), "--pairs", pairs, "--out", "out", "--reading", "text")
    with Store.open(store_path(Path("out/run.judgenet")), readonly=True) as store:
        record = run_info(store).record
    assert record["prompts"] is None
    assert "not known" in record["prompts_reason"]
    assert record["recorded"]["reading"] == "text"
    judgenet("report", "out", "-o", "report.md", "-o", "report.csv")
    told = Path("report.md").read_text(encoding="utf-8")
    assert "not known: the judgments were recorded elsewhere" in told
    assert "None" not in told
    rows = Path("report.csv").read_text(encoding="utf-8").splitlines()
    (row,) = [row for row in rows if row.startswith("run,run-1,prompts,")]
    assert row.endswith("the prompts of recorded judges are not known")
