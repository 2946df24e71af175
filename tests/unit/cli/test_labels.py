"""``judgenet labels``: what it advises, and that the advice gives the width."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]


def _pairs(path: Path, n: int, every: int | None) -> Path:
    rng = random.Random(6)
    with path.open("w", encoding="utf-8") as out:
        for i in range(n):
            record = {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"So {i}.", "response_b": "Because."}
            if every is not None and i % every == 0:
                record["human"] = rng.choice(("a", "b", "tie"))
            out.write(json.dumps(record) + "\n")
    return path


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the run that each test has a copy of is kept once it is there."""
    return tmp_path_factory.mktemp("kept") / "out"


@pytest.fixture
def ran(judgenet: Judgenet, at: At, tmp_path: Path, kept: Path) -> Judgenet:
    pairs = _pairs(tmp_path / "pairs.jsonl", 200, 4)
    if not kept.exists():
        run = judgenet("run", "--pairs", pairs, *at, "--out", "out", "--width", 1, "--depth", 1, "--roles", "none")
        assert run.code == 0
        shutil.copytree("out", kept)
    else:
        shutil.copytree(kept, "out")
    return judgenet


def test_the_plan_is_that_of_the_strata(ran: Judgenet) -> None:
    """n = (sum of w sd²) / (V - VE / N), from what ``rate`` says of the same strata."""
    plan = ran("labels", "out", "--width", 0.2, "--chosen", "random", "--json").json
    strata = ran("rate", "out", "--chosen", "random", "--json").json["strata"]
    assert (plan["pairs"], plan["labelled"], plan["assumed"]) == (200, 50, False)
    within = sum(part["share"] * part["sd"] ** 2 for part in strata)
    mean = sum(part["share"] * part["mean"] for part in strata)
    between = sum(part["share"] * (part["mean"] - mean) ** 2 for part in strata)
    labels = within / ((0.2 / (2 * 1.959964)) ** 2 - between / 200)
    assert plan["needs"]["random"]["needed"] == pytest.approx(labels, abs=1)
    assert plan["needs"]["random"]["labels"] >= 30
    widths = [point["width"] for point in plan["curve"]]
    assert widths == sorted(widths, reverse=True)
    assert "ties" in plan["two_class"]["reason"] or "tie" in plan["two_class"]["reason"]


def test_the_next_pairs_have_a_verdict_and_no_label(ran: Judgenet) -> None:
    random = ("--chosen", "random")
    plan = ran("labels", "out", "--width", 0.2, *random, "--next", "next.txt", "--json").json
    verdicts = {line["pair_id"]: line for line in ran("export", "out", "--what", "verdicts").lines}
    ids = Path("next.txt").read_text(encoding="utf-8").splitlines()
    assert ids == plan["next"]
    assert len(ids) == len(set(ids)) > 0
    for verdict, part in plan["strata"].items():
        mine = [name for name in ids if verdicts[name]["c2_all"] == verdict]
        assert len(mine) == min(part["pairs"] - part["labels"], max(0, part["target"] - part["labels"]))
    assert all(verdicts[name]["human"] is None for name in ids)
    assert plan["next_chosen"] == "within-verdict"
    assert ran("labels", "out", "--width", 0.2, *random, "--seed", 1, "--json").json["next"] != ids


def test_impossible_is_said(ran: Judgenet) -> None:
    told = ran("labels", "out", "--width", 0.01)
    assert told.code == 0
    assert "impossible" in told.out
    assert "To label next: none, as the width is out of reach" in told.out
    shown = ran("labels", "out", "--width", 0.01, "--json").json
    assert shown["needs"]["random"]["labels"] is None
    assert "impossible" in shown["needs"]["random"]["reason"]
    assert shown["next"] == []


def test_without_labels_the_judge_is_assumed(judgenet: Judgenet, at: At, tmp_path: Path) -> None:
    pairs = _pairs(tmp_path / "pairs.jsonl", 40, None)
    judgenet("run", "--pairs", pairs, *at, "--out", "out", "--width", 1, "--depth", 1, "--roles", "none")
    shown = judgenet("labels", "out", "--width", 0.4, "--json").json
    assert shown["assumed"] is True
    assert "80 %" in shown["assumption"]
    assert shown["needs"]["random"]["labels"] == 30
    assert "Assumed" in judgenet("labels", "out", "--width", 0.4).out


@pytest.mark.parametrize("width", ["0", "-0.1", "1.2"])
def test_a_width_that_is_none(ran: Judgenet, width: str) -> None:
    told = ran("labels", "out", f"--width={width}")
    assert (told.code, told.out) == (2, "")
    assert "--width" in told.err


# Labels given elsewhere


def _csv(path: str, rows: list[str], header: str = "pair_id,label,annotator") -> str:
    Path(path).write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_imported_labels_are_in_every_figure(ran: Judgenet) -> None:
    before = ran("metrics", "out", "--json").json
    given = _csv("said.csv", [f"p{i},{'AB'[i % 2]}" for i in range(1, 41) if i % 4], "id,label")
    told = ran("labels", "out", "--import", given, "--annotator", "Ada", "--chosen", "random", "--json").json
    assert told["imported"] | {"file": None} == {
        "file": None,
        "n": 30,
        "new": 30,
        "known": 0,
        "stale": 0,
        "empty": 0,
        "inactive": 0,
        "annotators": ["Ada"],
        "chosen": {"random": 30},
    }
    after = ran("metrics", "out", "--json").json
    assert (before["pairs"]["labelled"], after["pairs"]["labelled"]) == (50, 80)
    assert after["labels"]["used"] == {"imported": 50, "random": 30}
    assert after["annotators"]["names"] == ["Ada"]
    lines = ran("export", "out", "--what", "verdicts").lines
    assert lines[1]["human"] == "b"
    rate = ran("rate", "out", "--json").json
    assert (rate["chosen"], rate["chosen_assumed"], rate["pairs"]["labelled"]) == ("random", False, 30)
    assert rate["labels"]["left_out"] == {"imported": 50}
    assert rate["stratified"]["value"] is not None
    assert any("50 not chosen at random" in note for note in rate["notes"])
    again = ran("labels", "out", "--import", given, "--annotator", "Ada", "--chosen", "random", "--json").json
    assert (again["imported"]["new"], again["imported"]["known"]) == (0, 30)


def test_what_the_planner_asks_for_gives_the_stratified_estimate_of_these_verdicts_only(ran: Judgenet) -> None:
    ran("labels", "out", "--width", 0.3, "--next", "next.txt")
    ids = Path("next.txt").read_text(encoding="utf-8").splitlines()
    assert len(ids) >= 30
    given = _csv("said.csv", [f"{name},{'ab'[i % 2]},Ada" for i, name in enumerate(ids)])
    assert ran("labels", "out", "--import", given, "--chosen", "within-verdict").code == 0
    rate = ran("rate", "out", "--json").json
    assert (rate["chosen"], rate["pairs"]["labelled"]) == ("within-verdict", len(ids))
    assert rate["stratified"]["value"] is not None
    assert rate["ppi"]["value"] is None
    other = ran("rate", "out", "--aggregation", "c2_l1", "--json").json
    assert other["labels"]["left_out"]["within other verdicts"] == len(ids)
    assert other["stratified"]["value"] is None


def test_targeted_labels_enter_nothing(ran: Judgenet) -> None:
    before = [ran(*command, "--json").json for command in (("metrics", "out"), ("rate", "out"))]
    given = _csv("said.csv", [f"p{i},a,Ada" for i in (1, 2, 3)])
    ran("labels", "out", "--import", given, "--chosen", "targeted")
    metrics, rate = (ran(*command, "--json").json for command in (("metrics", "out"), ("rate", "out")))
    assert metrics["aggregations"] == before[0]["aggregations"]
    assert metrics["labels"]["left_out"] == rate["labels"]["left_out"] == {"targeted": 3}
    assert rate["naive"] == before[1]["naive"]
    assert any("targeted" in note for note in metrics["notes"])


@pytest.mark.parametrize("name", ["all.csv", "all.jsonl"])
def test_an_export_can_be_imported_elsewhere(ran: Judgenet, at: At, tmp_path: Path, name: str) -> None:
    rows = ["p1,a,Ada,random,true,3.5,2026-01-02T03:04:05+00:00", "p1,tie,=Bo,random,,,", "p2,skip,Ada,targeted,,,"]
    given = _csv("said.csv", rows, "pair_id,label,annotator,chosen,swapped,seconds,at")
    ran("labels", "out", "--import", given)
    told = ran("labels", "out", "--export", name, "--json").json
    assert told["exported"] == {"file": name, "n": 3}
    there = ran("export", "out", "--what", "labels").lines
    assert [(line["annotator"], line["label"], line["chosen"]) for line in there] == [
        ("Ada", "a", "random"),
        ("=Bo", "tie", "random"),
        ("Ada", "skip", "targeted"),
    ]
    assert (there[0]["swapped"], there[0]["seconds"], there[0]["at"]) == (True, 3.5, "2026-01-02T03:04:05+00:00")
    assert all(line["in_force"] and line["texts_current"] for line in there)
    pairs = _pairs(tmp_path / "pairs.jsonl", 200, 4)
    ran("run", "--pairs", pairs, *at, "--out", "two", "--width", 1, "--depth", 1, "--roles", "none")
    ran("labels", "two", "--import", name)
    assert ran("export", "two", "--what", "labels").lines == there


@pytest.mark.parametrize(
    ("rows", "header", "words"),
    [
        (["p1,a,Ada", "p2,maybe,Ada"], "pair_id,label,annotator", ("row 3", "'maybe'", "a, b, tie, skip or unsure")),
        (["p1,a,Ada", "p900,a,Ada"], "pair_id,label,annotator", ("row 3", "no pair 'p900'")),
        (["p1,a,"], "pair_id,label,annotator", ("--annotator NAME",)),
        (["p1,a"], "pair_id,label", ("--annotator NAME",)),
        (["p1,Ada"], "pair_id,annotator", ("No column has the label", "label")),
        (["p1,a,Ada,by chance"], "pair_id,label,annotator,chosen", ("row 2", "'by chance'", "within-verdict")),
        (["p1,a,Ada,soon"], "pair_id,label,annotator,seconds", ("row 2", "'soon'")),
        (["p1,a,Ada,monday"], "pair_id,label,annotator,at", ("row 2", "'monday'")),
        (["p1,,Ada"], "pair_id,label,annotator", ("no label in the file",)),
    ],
)
def test_a_damaged_file_changes_nothing(ran: Judgenet, rows: list[str], header: str, words: tuple[str, ...]) -> None:
    ran("labels", "out", "--import", _csv("good.csv", ["p5,b,Bo"]))
    told = ran("labels", "out", "--import", _csv("bad.csv", rows, header))
    assert (told.code, told.out) == (2, "")
    for part in ("bad.csv", *words):
        assert part in told.err
    assert [line["pair_id"] for line in ran("export", "out", "--what", "labels").lines] == ["p5"]


def test_files_that_are_no_labels(ran: Judgenet) -> None:
    Path("half.jsonl").write_text('{"pair_id": "p1", "label": "a"}\n{"pair_id": "p2", "la', encoding="utf-8")
    for name, words in (("half.jsonl", "half.jsonl"), ("none.csv", "Cannot be read")):
        told = ran("labels", "out", "--import", name, "--annotator", "Ada")
        assert told.code == 2
        assert words in told.err
    assert ran("export", "out", "--what", "labels").lines == []
    told = ran("labels", "out", "--annotator", "Ada")
    assert (told.code, "--import" in told.err) == (2, True)


def _imported(judgenet: Judgenet, folder: Path, labelled: int, classes: str) -> None:
    """Three hundred pairs of a judge that is right on 80 %, the first of them labelled."""
    rng = random.Random(2)
    names = {"a": "a", "b": "b", "t": "tie"}
    pairs, rows = [], []
    for i in range(300):
        truth = names[rng.choice(classes)]
        said = truth if rng.random() < 0.8 else names[rng.choice(classes)]
        pair = {"id": f"p{i}", "question": f"Why {i}?", "response_a": "x", "response_b": "y"}
        pairs.append(pair | ({"human": truth} if i < labelled else {}))
        rows.append({"pair_id": f"p{i}", "judge": "j", "order": "ab", "verdict": said})
    for name, records in (("pairs", pairs), ("judgments", rows)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    assert judgenet("import", "judgments.jsonl", "--pairs", "pairs.jsonl", "--out", "out").code == 0


def test_class_balanced_labels_are_planned_from_an_assumed_judge_first(judgenet: Judgenet, tmp_path: Path) -> None:
    _imported(judgenet, tmp_path, 0, "ab")
    plan = judgenet("labels", "out", "--width", 0.4, "--json").json["two_class"]
    assert (plan["assumed"], plan["specificity"], plan["sensitivity"]) == (True, 0.8, 0.8)
    assert plan["optimal"]["labels"] == sum(plan["published_allocation"].values())
    narrow = judgenet("labels", "out", "--width", 0.05, "--json").json["two_class"]
    assert narrow["optimal"]["needed"] is None
    assert "impossible" in narrow["optimal"]["reason"]
    assert narrow["published_allocation"] is None


def test_class_balanced_labels_of_three_classes(judgenet: Judgenet, tmp_path: Path) -> None:
    _imported(judgenet, tmp_path, 150, "abt")
    plan = judgenet("labels", "out", "--width", 0.25, "--json").json
    assert "ties" in plan["two_class"]["reason"]
    assert plan["k_class"]["reason"] is None
    assert list(plan["k_class"]["allocation"]) == ["a", "tie", "b"]
    assert sum(plan["k_class"]["allocation"].values()) == pytest.approx(1)
    assert plan["k_class"]["optimal"]["needed"] <= plan["k_class"]["equal"]["needed"]


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl", "labels.json"])
def test_a_file_without_labels_says_so(ran: Judgenet, tmp_path: Path, name: str) -> None:
    empty = tmp_path / name
    for text in ("", {"csv": "pair_id,label\n", "json": "[]"}.get(empty.suffix[1:], "")):
        empty.write_text(text, "utf-8")
        said = ran("labels", "out", "--import", empty)
        assert said.code == 2
        assert "holds no labels. Give a file with at least one label." in said.err
