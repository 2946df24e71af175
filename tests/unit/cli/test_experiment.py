"""``judgenet experiment`` over HTTP: what it asks, what it shares, what it finds, and what it leaves behind."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]

from judgenet.store.db import Store
from judgenet.store.runs import run_pairs, runs
from tests.fakes.judge_server import Entry, JudgeServer
from tests.unit.cli.conftest import Judgenet
from tests.unit.cli.test_json import nulls_without_reason, parsed

At = tuple[str, ...]
LABELS = ("a", "b", "tie", "a", "b", "a")
N = len(LABELS)


def write_pairs(path: Path, labels: Iterable[str | None] = LABELS, **more: Any) -> Path:
    with path.open("w", encoding="utf-8") as out:
        for i, label in enumerate(labels):
            record = {
                "id": f"p{i}",
                "question": f"What is {i}?",
                "response_a": f"Alpha says {i}.",
                "response_b": f"Beta says {i}.",
                "task": ("sums", "words")[i % 2],
                **({} if label is None else {"human": label}),
                **more,
            }
            out.write(json.dumps(record) + "\n")
    return path


@pytest.fixture
def six(tmp_path: Path) -> Path:
    return write_pairs(tmp_path / "six.jsonl")


def rows_of(found: dict[str, Any], number: int = -1) -> dict[str, dict[str, Any]]:
    return {row["row"]: row for row in found["sets"][number]["rows"]}


# Calls


def closed_form(name: str, roles: int) -> int:
    """Calls a pair, from the design alone: both orders of each neuron, each different question once."""
    if name in ("main-table", "annotation-saving"):
        return 1 + 4 * roles + 2 * 3
    if name == "width-depth":
        return 1 + 2 * 3 + 2 * (2 - 1) * (1 + 2 + 3)
    if name == "roles":
        # Both widths are 3, so that both networks without roles are one.
        return 2 + 4 * 3 + 4 * roles + 4 * 3
    if name == "neuron-budget":
        return 1 + 2 * 5 + 2 * 3 + 2 * (1 + 2 + 2)
    if name == "word-clouds":
        return 1
    return 1 + 6 + 1 + 4 * roles + 4 * roles - 2


OPTIONS: dict[str, tuple[object, ...]] = {
    "roles": ("--width", 3),
    "width-depth": ("--widths", "1..3", "--depths", "1..2"),
    "neuron-budget": ("--neurons", 5),
}
NAMES = ("main-table", "width-depth", "roles", "neuron-budget", "word-clouds", "annotation-saving", "baselines")


@pytest.mark.parametrize("name", NAMES)
def test_each_question_is_asked_once(judgenet: Judgenet, six: Path, at: At, server: JudgeServer, name: str) -> None:
    command = ("experiment", name, "--pairs", six, *at, "--out", "out", *OPTIONS.get(name, ()))
    expected = N * closed_form(name, server.judge.settings.roles)
    before = judgenet(*command, "--estimate", "--json").json
    assert server.requests == 0
    assert not Path("out").exists()
    assert before["calls"][0] == expected
    assert before["calls_open"] == before["calls"]
    assert before["calls_alone"][0] >= before["calls"][0]
    ran = judgenet(*command, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    if name == "roles":
        # Two prompts for roles may be answered with the same one, and then the same neuron is asked once.
        assert 0.7 * expected < server.requests <= expected
        expected = server.requests
    assert server.requests == expected
    # The only bodies that came twice are the samples of FairEval, each of which is a call of its own.
    again = {"main-table": 4, "annotation-saving": 4, "baselines": 4 + 4, "roles": 12 + 4, "neuron-budget": 8}
    assert server.judge.paid_again <= N * again.get(name, 0)
    after = judgenet(*command, "--estimate", "--json").json
    assert (after["calls"], after["calls_open"], after["tokens_in"]) == ([expected] * 2, [0, 0], [0, 0])
    second = judgenet(*command, "--json", "--quiet")
    assert (second.code, server.requests) == (0, expected)
    calls = second.json["sets"][0]["calls"]
    assert (calls["asked_this_time"], calls["different"]) == (0, expected)
    assert calls["shared"] == calls["all"] - expected
    assert calls["tokens_in"] == sum(len(entry.messages[-1]["content"]) // 4 for entry in server.log)
    one, two = ran.json["sets"][0], second.json["sets"][0]
    assert one["rows"] == two["rows"]
    assert one.get("words") == two.get("words")


def test_experiments_in_one_folder_share_their_calls(
    judgenet: Judgenet, six: Path, at: At, server: JudgeServer
) -> None:
    def asked(name: str) -> int:
        before = server.requests
        assert judgenet("experiment", name, "--pairs", six, *at, "--out", "out", "--quiet").code == 0
        return server.requests - before

    assert asked("word-clouds") == N
    assert asked("main-table") == N * (closed_form("main-table", 3) - 1)
    assert asked("annotation-saving") == 0
    # Left are the single judge's scores, and the network without roles beyond what FairEval asked.
    assert asked("baselines") == N * (1 + 4 * 3 - 2)


def test_roles_alone_leave_the_run_open_for_the_network(judgenet: Judgenet, six: Path, at: At) -> None:
    assert judgenet("experiment", "word-clouds", "--pairs", six, *at, "--out", "out", "--quiet").code == 0
    with Store.open(Path("out/run.judgenet.db"), readonly=True) as store:
        (run,) = runs(store)
        found = list(run_pairs(store, run))
    assert [pair.state for pair in found] == ["open"] * N
    assert all(pair.roles is not None and len(pair.roles) == 3 for pair in found)


def test_a_limit_holds_over_all_runs_and_the_same_command_goes_on(
    judgenet: Judgenet, six: Path, at: At, server: JudgeServer
) -> None:
    command = ("experiment", "width-depth", "--pairs", six, *at, "--out", "out", "--widths", "1..3", "--depths", "2")
    total = N * (1 + 6 + 2 * (1 + 2 + 3))
    first = judgenet(*command, "--max-calls", 85, "--json", "--quiet")
    assert (first.code, server.requests) == (3, 85)
    assert first.json["sets"][0]["state"] == "budget"
    assert "limit" in first.err
    second = judgenet(*command, "--max-calls", 20, "--quiet", "--json")
    assert (second.code, server.requests) == (3, 105)
    third = judgenet(*command, "--json", "--quiet")
    assert (third.code, server.requests) == (0, total)
    assert server.judge.paid_again == 0
    assert third.json["sets"][0]["calls"]["asked_this_time"] == total - 105


# Figures


def scored(entry: Entry) -> tuple[str, str, int, float]:
    """The pair's question, who was asked (layer and role), and the score of A less that of B; of the server's log."""
    text = entry.messages[-1]["content"]
    question = re.search(r"What is \d+\?", text)
    assert question is not None
    assert entry.answer is not None
    answer = json.loads(entry.answer)
    if "roles" in answer:
        return question[0], "roles", 0, 0.0
    difference = answer["score_1"] - answer["score_2"]
    if text.index("Beta says") < text.index("Alpha says"):
        difference = -difference
    role = re.search(r"<<perspective · \w+>>\n(\w+):", text)
    if role is None:
        return question[0], "faireval", 1, difference
    return question[0], role[1], 2 if "You are Judge" in text else 1, difference


def sign(value: float) -> str:
    return "a" if value > 0 else "b" if value < 0 else "tie"


def test_the_table_follows_from_what_the_judge_said(judgenet: Judgenet, six: Path, at: At, server: JudgeServer) -> None:
    found = judgenet("experiment", "main-table", "--pairs", six, *at, "--out", "out", "--json", "--quiet").json
    sums: dict[tuple[str, str, int], float] = Counter()  # type: ignore[assignment]
    for entry in server.log:
        question, who, layer, difference = scored(entry)
        sums[question, who, layer] += difference
    right = Counter[str]()
    for i, label in enumerate(LABELS):
        mine = {key[1:]: value for key, value in sums.items() if key[0] == f"What is {i}?" and key[1] != "roles"}
        neurons = {key: value for key, value in mine.items() if key[0] != "faireval"}
        assert len(neurons) == 6
        right["faireval"] += sign(mine["faireval", 1]) == label
        right["widedeep.c1"] += sign(sum(neurons.values())) == label
        for row, layers in (("c2_l1", (1,)), ("c2_l2", (2,)), ("c2_all", (1, 2))):
            votes = Counter(sign(value) for (_, layer), value in neurons.items() if layer in layers)
            right[f"widedeep.{row}"] += sign(votes["a"] - votes["b"]) == label
    for key, row in rows_of(found).items():
        assert row["accuracy"] == pytest.approx(right[key] / N), key
        assert (row["n_used"], row["n_total"]) == (N, N)
        low, high = row["accuracy_ci"]
        assert low <= row["accuracy"] <= high
    rows = rows_of(found)
    difference = rows["widedeep.c1"]["difference"]
    assert difference["against"] == "faireval"
    assert difference["accuracy"] == pytest.approx((right["widedeep.c1"] - right["faireval"]) / N)
    assert (rows["faireval"]["calls_per_pair"], rows["widedeep.c1"]["calls_per_pair"]) == (6, 13)
    compared = [row["difference"] for row in rows.values() if row["difference"] is not None]
    adjusted = multipletests([of["p"] for of in compared], method="holm")[1]
    assert [of["p_holm"] for of in compared] == pytest.approx(adjusted)
    assert max(of["p_holm"] for of in compared) <= 1
    lines = list(csv.DictReader(Path("out/main-table/table.csv").read_text(encoding="utf-8").splitlines()))
    shown = {line["row"]: line["p_holm"] for line in lines}
    assert float(shown["widedeep.c1"]) == pytest.approx(difference["p_holm"])
    assert "p, Holm" in Path("out/main-table/table.md").read_text(encoding="utf-8")
    assert found["sets"][0]["majority"] == {"label": "a", "accuracy": 0.5, "reason": None}


def test_differences_are_over_questions_where_these_repeat(judgenet: Judgenet, tmp_path: Path, at: At) -> None:
    labels = ["a", "b", "tie", "a"] * 3
    pairs = write_pairs(tmp_path / "pairs.jsonl", labels)
    alone = rows_of(judgenet("experiment", "main-table", "--pairs", pairs, *at, "--out", "alone", "--json").json)
    records = [json.loads(line) for line in pairs.read_text(encoding="utf-8").splitlines()]
    repeated = tmp_path / "repeated.jsonl"
    repeated.write_text(
        "".join(json.dumps({**of, "question": f"Q{place % 3}"}) + "\n" for place, of in enumerate(records)),
        encoding="utf-8",
    )
    few = rows_of(judgenet("experiment", "main-table", "--pairs", repeated, *at, "--out", "few", "--json").json)
    assert alone["widedeep.c1"]["difference"]["accuracy_ci"] is not None
    difference = few["widedeep.c1"]["difference"]
    assert difference["accuracy"] is not None
    assert difference["accuracy_ci"] is None
    assert "3 questions" in difference["reasons"]["accuracy_ci"]


def test_a_part_of_a_larger_run_says_what_the_network_itself_says(
    judgenet: Judgenet, six: Path, at: At, server: JudgeServer
) -> None:
    """A network of its own with the same settings makes the very calls, and gives the very verdicts."""
    sweep = ("--widths", "1..3", "--depths", "1..2")
    found = judgenet("experiment", "width-depth", "--pairs", six, *at, "--out", "out", *sweep, "--json", "--quiet")
    before = server.requests
    for width, depth in ((3, 1), (2, 2), (2, 1), (1, 2)):
        options = ("--width", width, "--depth", depth, "--roles", "generated:3", "--out", "out")
        alone = judgenet("run", "--pairs", six, *at, *options, "--json", "--quiet").json
        assert server.requests == before
        for rule in ("c1", "c2_all"):
            row = rows_of(found.json)[f"n{width}.l{depth}.{rule}"]
            for figure in ("accuracy", "macro_f1", "kappa", "confusion", "n_used"):
                assert row[figure] == alone["aggregations"][rule][figure]


def test_odd_budgets_are_parts_of_even_ones(judgenet: Judgenet, six: Path, at: At) -> None:
    ran = judgenet("experiment", "neuron-budget", "--pairs", six, *at, "--out", "out", "--neurons", 5, "--json", "-q")
    rows = rows_of(ran.json)
    calls = {neurons: rows[f"widedeep.{neurons}.c2_all"]["calls_per_pair"] for neurons in range(1, 6)}
    assert calls == {neurons: 1 + 2 * neurons for neurons in range(1, 6)}
    assert [rows[f"faireval.{k}"]["calls_per_pair"] for k in range(1, 6)] == [2 * k for k in range(1, 6)]
    assert rows["widedeep.3.c1"]["layers"] == [2, 1]


def test_without_roles_each_pair_has_as_many_neurons_as_with_them(
    judgenet: Judgenet, six: Path, at: At, server: JudgeServer
) -> None:
    server.set(roles=5)
    found = judgenet("experiment", "roles", "--pairs", six, *at, "--out", "out", "--width", 2, "--json", "-q").json
    rows = rows_of(found)
    assert rows["roles-wide.c1"]["neurons_per_pair"] == rows["no-roles-wide.c1"]["neurons_per_pair"] == 10
    assert rows["roles.c1"]["neurons_per_pair"] == rows["no-roles.c1"]["neurons_per_pair"] == 4
    assert rows["roles.c1"]["difference"]["against"] == "no-roles.c1"


def test_peoples_work_by_the_formula(judgenet: Judgenet, six: Path, at: At) -> None:
    command = ("experiment", "annotation-saving", "--pairs", six, *at, "--out", "out", "--json", "-q")
    found = judgenet(*command, "--target", 0.9).json["sets"][0]
    assert (found["saving"]["target"], found["saving"]["target_from"]) == (0.9, "given")
    for row in found["saving"]["rows"]:
        x = row["accuracy"]
        assert row["review"] == pytest.approx(0.0 if x >= 0.9 else (0.9 - x) / (1 - x))
        assert row["relative"] == pytest.approx(x / 0.9)
        assert row["review_if_reviewers_err"] == (0.0 if x >= 0.9 else 1.0)
    assert judgenet(*command).json["sets"][0]["saving"]["target_from"] == "paper"
    panel = write_pairs(Path("panel.jsonl"), annotators={"ann": "a", "bob": "a", "cy": "b"})
    measured = judgenet("experiment", "annotation-saving", "--pairs", panel, *at, "--out", "out", "--json", "-q").json
    # Of the three pairs of annotators one agrees.
    assert measured["sets"][-1]["saving"]["target"] == pytest.approx(1 / 3)
    assert measured["sets"][-1]["saving"]["target_from"] == "measured"


def test_peoples_time_and_cost_stand_beside_the_share(judgenet: Judgenet, six: Path, at: At) -> None:
    command = ("experiment", "annotation-saving", "--pairs", six, *at, "--out", "out", "--target", 0.9)
    stated = ("--label-seconds", 60, "--wage", 30, "--annotators", 3, "--price", "1,2")
    found = judgenet(*command, *stated, "--json", "-q").json["sets"][0]["saving"]
    plain = judgenet(*command, "--json", "-q").json["sets"][0]["saving"]
    assert plain["labour"]["seconds"] is None
    assert plain["labour"]["reasons"] == {"seconds": "not stated", "wage": "not stated"}
    assert found["labour"] == {"seconds": 60, "wage": 30, "annotators": 3, "reasons": {}}
    for row, before in zip(found["rows"], plain["rows"], strict=True):
        work, review = row["work"], row["review"]
        assert (work["pairs"], work["hours_all"]) == (N, pytest.approx(N * 3 / 60))
        assert work["cost_all"] == pytest.approx(N * 3 / 60 * 30)
        assert work["faster"] == (pytest.approx(1 / review) if review else None)
        assert before["work"]["faster"] == work["faster"]
        assert before["work"]["cost_saved"] is None
        assert before["work"]["reasons"]["cost_saved"]
        assert work["network_price"] > 0
        left = review * work["cost_all"] + work["network_price"]
        assert work["cost_saved"] == pytest.approx(1 - left / work["cost_all"])
    text = judgenet(*command, *stated).out
    assert "people's time and cost" in text
    assert "60 s a label from each of 3 people, 30 USD an hour" in text
    for wrong, words in ((("--wage", 5), "--label-seconds"), (("--label-seconds", 0), "a number above 0")):
        refused = judgenet(*command, *wrong)
        assert (refused.code, words in refused.err) == (2, True)


def test_clouds_count_the_roles_of_each_task(judgenet: Judgenet, six: Path, at: At, server: JudgeServer) -> None:
    found = judgenet("experiment", "word-clouds", "--pairs", six, *at, "--out", "out", "--json", "-q").json
    said: dict[str, Counter[str]] = {"sums": Counter(), "words": Counter()}
    for entry in server.log:
        number = re.search(r"What is (\d+)\?", entry.messages[-1]["content"])
        assert number is not None
        assert entry.answer is not None
        names = [role["name"] for role in json.loads(entry.answer)["roles"]]
        said[("sums", "words")[int(number[1]) % 2]].update(names)
    words = {task["task"]: dict(task["words"]) for task in found["sets"][0]["words"]}
    assert words == said


# Without labels, with bad input


def test_without_labels_it_says_so_before_anything_is_asked(
    judgenet: Judgenet, tmp_path: Path, at: At, server: JudgeServer
) -> None:
    bare = write_pairs(tmp_path / "bare.jsonl", [None] * 3)
    said = judgenet("experiment", "main-table", "--pairs", bare, *at, "--out", "out", "--estimate")
    assert "none of the 3 pairs has a human label" in said.err
    assert server.requests == 0
    ran = judgenet("experiment", "main-table", "--pairs", bare, *at, "--out", "out", "--json")
    assert ran.code == 0
    rows = rows_of(ran.json)
    for row in rows.values():
        assert (row["accuracy"], row["accuracy_ci"], row["n_used"], row["n_total"]) == (None, None, 0, 3)
        assert row["reasons"]["accuracy"] == "no pair has both a human label and a verdict"
    assert rows["widedeep.c1"]["difference"]["reasons"]["accuracy"]
    svg = Path("out/main-table/plot.svg").read_text(encoding="utf-8")
    assert "no pair has a human label" in svg
    quiet = judgenet("experiment", "word-clouds", "--pairs", bare, *at, "--out", "out", "--estimate")
    assert "label" not in quiet.err


@pytest.mark.parametrize("name", NAMES)
def test_every_missing_figure_says_why(
    judgenet: Judgenet, tmp_path: Path, at: At, server: JudgeServer, name: str
) -> None:
    """No labels, one pair, no valid answer, stopped at once: never a null without a reason, never NaN."""
    cases: list[tuple[list[str | None], dict[str, Any], tuple[object, ...]]] = [
        ([None] * 3, {}, ()),
        (["a"], {}, ()),
        (["a", "b"], {"prose": 1.0}, ()),
        (["a", "b", "tie"], {}, ("--max-calls", 0)),
    ]
    for number, (labels, faults, options) in enumerate(cases):
        server.set(faults=faults)
        pairs = write_pairs(tmp_path / f"case{number}.jsonl", labels)
        command = ("experiment", name, "--pairs", pairs, *at, "--out", f"out{number}", *OPTIONS.get(name, ()), *options)
        for more in (("--estimate",), ("--quiet",)):
            ran = judgenet(*command, *more, "--json")
            assert ran.code in (0, 3)
            assert list(nulls_without_reason(parsed(ran.out))) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("table-9",), "There are: main-table, width-depth"),
        (("width-depth", "--widths", "0..3"), "--widths 0..3: whole numbers from 1 to 64"),
        (("width-depth", "--depths", "3..1"), "the first number is larger than the last"),
        (("main-table", "--width", "wide"), "--width wide: whole numbers"),
        (("main-table", "--limit", "2", "--per-task", "2"), "Give one of them"),
        (("annotation-saving", "--target", "80"), "--target 80: a share above 0"),
    ],
)
def test_mistakes_are_said_before_anything_is_asked(
    judgenet: Judgenet, six: Path, at: At, server: JudgeServer, arguments: tuple[str, ...], said: str
) -> None:
    ran = judgenet("experiment", *arguments, "--pairs", six, *at, "--out", "out")
    assert (ran.code, ran.out, server.requests) == (2, "", 0)
    assert said in ran.err
    assert not Path("out").exists()


def test_the_list_names_each_with_its_cost(judgenet: Judgenet) -> None:
    shown = judgenet("experiment", "list")
    listed = judgenet("experiment", "list", "--json").json["experiments"]
    assert [one["name"] for one in listed] == list(NAMES)
    for one in listed:
        assert f"{one['name']}\n  {one['description']}\n  {one['calls']}\n" in shown.out


def test_samples_are_drawn_by_the_seed(judgenet: Judgenet, tmp_path: Path, at: At) -> None:
    many = write_pairs(tmp_path / "many.jsonl", ["a"] * 60)
    command = ("experiment", "word-clouds", "--pairs", many, *at, "--estimate", "--json")
    assert judgenet(*command).json["pairs"] == 60
    assert judgenet(*command, "--limit", 7).json["pairs"] == 7
    assert judgenet(*command, "--per-task", 4).json["pairs"] == 8
    # The sweep takes 20 of each task unless told otherwise.
    sweep = (
        "experiment",
        "width-depth",
        "--pairs",
        many,
        *at,
        "--widths",
        "1",
        "--depths",
        "1",
        "--estimate",
        "--json",
    )
    assert judgenet(*sweep).json["pairs"] == 40
    assert judgenet(*sweep, "--per-task", 0).json["pairs"] == 60


# Files


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_written_and_can_be_read(judgenet: Judgenet, six: Path, at: At, name: str) -> None:
    ran = judgenet("experiment", name, "--pairs", six, *at, "--out", "out", *OPTIONS.get(name, ()), "--quiet")
    assert ran.code == 0
    folder = Path("out") / name
    assert ran.out.splitlines()[-1].startswith(f"Written to {folder}: results.json, table.md")
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert results["experiment"] == name
    rows = results["sets"][0]["rows"]
    lines = list(csv.DictReader(io.StringIO((folder / "table.csv").read_text(encoding="utf-8"))))
    if name == "word-clouds":
        assert sum(int(line["pairs"]) for line in lines) == 3 * N
    else:
        assert [line["row"] for line in lines] == [row["row"] for row in rows]
        assert [float(line["accuracy"]) for line in lines] == [row["accuracy"] for row in rows]
    table = (folder / "table.md").read_text(encoding="utf-8")
    ruled = [line for line in table.splitlines() if line.startswith("|")]
    assert len(ruled) > 3
    assert len({line.count("|") for line in ruled[:3]}) == 1
    tex = (folder / "table.tex").read_text(encoding="utf-8")
    assert tex.count(r"\begin{tabular}") == tex.count(r"\end{tabular}") > 0
    for plot in ("plot.svg", "plot-dark.svg"):
        root = ElementTree.fromstring((folder / plot).read_text(encoding="utf-8"))
        assert root.tag.endswith("svg")
        assert len(root.findall(".//{http://www.w3.org/2000/svg}text")) > 3
    method = (folder / "method.md").read_text(encoding="utf-8")
    for said in ("2308.01862", "six.jsonl", "judge at", "seed 0", "gpt-3.5-turbo-0301"):
        assert said in method
    assert ("2305.17926" in method) is (name in ("main-table", "neuron-budget", "annotation-saving", "baselines"))
    assert not list(Path("out").rglob("*.tmp"))


def test_another_set_stands_beside_the_first(judgenet: Judgenet, six: Path, tmp_path: Path, at: At) -> None:
    other = write_pairs(tmp_path / "other.jsonl", ["b", "tie"])
    for pairs in (six, other, six):
        assert judgenet("experiment", "main-table", "--pairs", pairs, *at, "--out", "out", "-q").code == 0
    found = json.loads(Path("out/main-table/results.json").read_text(encoding="utf-8"))
    assert [(one["set"], one["pairs"]["total"]) for one in found["sets"]] == [("six", 6), ("other", 2)]
    table = Path("out/main-table/table.md").read_text(encoding="utf-8")
    assert table.index("**six**") < table.index("**other**")
    assert {path.name for path in Path("out/main-table").glob("*.svg")} == {
        "plot-six.svg",
        "plot-six-dark.svg",
        "plot-other.svg",
        "plot-other-dark.svg",
    }


def test_results_that_cannot_be_read_are_not_overwritten(judgenet: Judgenet, six: Path, at: At) -> None:
    place = Path("out/word-clouds/results.json")
    place.parent.mkdir(parents=True)
    place.write_text("{", encoding="utf-8")
    ran = judgenet("experiment", "word-clouds", "--pairs", six, *at, "--out", "out", "-q")
    assert ran.code == 2
    assert "Move it away" in ran.err
    assert place.read_text(encoding="utf-8") == "{"


def test_a_table_fits_the_terminal(judgenet: Judgenet, six: Path, at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = judgenet("experiment", "roles", "--pairs", six, *at, "--out", "out", "--quiet")
    rows = [line for line in ran.out.splitlines() if line.startswith("With roles, n unlimited, c2*(all)")]
    # In parts, each of which begins with the names.
    assert len(rows) > 1
    assert all(len(line) <= 80 for line in rows)
    assert "less that of the same aggregation without roles" in ran.out
