"""``judgenet bias --for-people`` and ``--people``: people answer a lab's prompts, apart from the labels of pairs."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path

import pytest
from scipy.stats import binomtest  # type: ignore[import-untyped]

from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]
PROBES = ("order", "bandwagon", "planted", "compassion", "identical")


@pytest.fixture
def lab(judgenet: Judgenet, at: At, tmp_path: Path) -> tuple[str, ...]:
    """The words of a lab on 20 pairs of two named systems; response A is "Because i." and B "Since i."."""
    pairs = tmp_path / "pairs.jsonl"
    with pairs.open("w", encoding="utf-8") as out:
        for i in range(20):
            texts = {"response_a": f"Because {i}.", "response_b": f"Since {i}."}
            names = {"model_a": "alpha", "model_b": "beta"}
            out.write(json.dumps({"id": f"p{i}", "question": f"Why {i}?", **texts, **names}) + "\n")
    return ("bias", "--pairs", "pairs.jsonl", *at, "--out", "lab", "-q", "--probes", ",".join(PROBES))


def _sheet(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows))


def _answer(path: Path, rows: list[dict[str, str]], said: dict[str, str], person: str) -> Path:
    """The sheet with what a person says, by the id of the row."""
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "answer": said.get(row["id"], ""), "person": person} for row in rows)
    return path


def test_the_sheet_shows_what_judges_see_and_no_probe(judgenet: Judgenet, lab: tuple[str, ...], tmp_path: Path) -> None:
    shown = judgenet(*lab, "--for-people", "sheet.csv", "--json").json
    rows = _sheet(tmp_path / "sheet.csv")
    # Plain in both orders, a majority for either, an instruction in either, names in both orders, one text twice.
    assert shown["prompts"] == len(rows) == 20 * 9
    text = (tmp_path / "sheet.csv").read_text(encoding="utf-8").lower()
    assert not [word for word in (*PROBES, "probe", "bias") if word in text]
    assert {"answer", "person"} <= rows[0].keys()
    assert len({row["id"] for row in rows}) == len(rows)
    notes = [row["note"] for row in rows if row["note"]]
    assert sum("Of all people who were asked, 85 %" in note for note in notes) == 40
    assert sum("was written by alpha." in note for note in notes) == 40
    assert sum(row["response_1"] == row["response_2"] for row in rows) == 20
    assert sum(row["response_1"] == "Because 3." and row["response_2"] == "Since 3." for row in rows) == 4
    # Two prompts of a pair do not stand side by side as a rule.
    beside = sum(one["question"] == other["question"] for one, other in itertools.pairwise(rows))
    assert beside < 30
    again = judgenet(*lab, "--for-people", "again.csv")
    assert again.code == 0
    assert _sheet(tmp_path / "again.csv") == rows


def test_answers_are_counted_as_those_of_judges_and_stay_apart(
    judgenet: Judgenet, lab: tuple[str, ...], tmp_path: Path
) -> None:
    judgenet(*lab, "--for-people", "sheet.csv")
    rows = _sheet(tmp_path / "sheet.csv")
    # Ada takes the first response, but for 5 questions the one that begins "Because"; she calls equal texts a tie.
    said = {}
    for row in rows:
        number = int(row["question"].removeprefix("Why ").removesuffix("?"))
        if row["response_1"] == row["response_2"]:
            said[row["id"]] = "tie"
        elif number < 5:
            said[row["id"]] = "1" if row["response_1"].startswith("Because") else "2"
        else:
            said[row["id"]] = "1"
    shown = judgenet(*lab, "--people", _answer(tmp_path / "ada.csv", rows, said, "Ada"), "--json").json
    assert shown["entered"] == {"file": str(tmp_path / "ada.csv"), "n": 180, "new": 180, "empty": 0}
    people = shown["people"]
    assert (people["persons"], people["answers"], people["prompts"], people["prompts_total"]) == (
        ["Ada"],
        180,
        180,
        180,
    )
    cells = {cell["probe"]: cell for cell in people["cells"]}
    order = cells["order"]
    assert (order["hits"], order["n"], order["items"], people["pairs"]["order"]) == (15, 20, 20, 20)
    assert order["interval"] == pytest.approx(binomtest(15, 20).proportion_ci(method="wilson"))
    assert order["net"] == pytest.approx(0.75)
    # The majority is for the first response, then for the second: who always takes the first does not follow it.
    assert (cells["bandwagon"]["hits"], cells["bandwagon"]["n"]) == (0, 20)
    assert cells["identical"]["share"] == 0
    text = judgenet(*lab, "--people", "ada.csv").out
    assert "1 person, 180 answers to 180 of 180 prompts" in text
    assert "0 of them new" in text

    run = judgenet(*lab, "--json").json
    assert run["people"]["cells"] == people["cells"]
    assert {cell["judge"] for cell in run["cells"]}.isdisjoint({"people"})
    labels = judgenet("export", "lab", "--what", "labels")
    assert labels.out.strip() == ""
    report = judgenet("report", "lab", "-o", "lab.md")
    assert report.code == 0, report.err
    written = (tmp_path / "lab.md").read_text(encoding="utf-8")
    assert "People" in written
    assert "20 of 20" in written


def test_several_people_count_over_questions(judgenet: Judgenet, lab: tuple[str, ...], tmp_path: Path) -> None:
    judgenet(*lab, "--for-people", "sheet.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "sheet.jsonl").read_text(encoding="utf-8").splitlines()]
    for name, answer in (("Ada", "1"), ("Bo", "2")):
        said = {row["id"]: answer for row in rows}
        judgenet(*lab, "--people", _answer(tmp_path / f"{name}.csv", rows, said, name))
    half = {row["id"]: "1" for row in rows[:40]}
    path = _answer(tmp_path / "cy.csv", rows, half, "")
    refused = judgenet(*lab, "--people", path)
    assert (refused.code, "who answered" in refused.err) == (2, True)
    shown = judgenet(*lab, "--people", path, "--annotator", "Cy", "--json").json
    order = next(cell for cell in shown["people"]["cells"] if cell["probe"] == "order")
    assert shown["people"]["persons"] == ["Ada", "Bo", "Cy"]
    assert shown["entered"]["empty"] == 140
    assert order["counts"]["last"] == 20
    assert order["counts"]["first"] == order["items"] - 20
    assert 40 <= order["items"] < 60
    assert shown["people"]["pairs"]["order"] == 20
    assert order["net_over"] == "questions"


def test_wrong_sheets_are_refused_whole(judgenet: Judgenet, lab: tuple[str, ...], tmp_path: Path) -> None:
    judgenet(*lab, "--for-people", "sheet.csv")
    rows = _sheet(tmp_path / "sheet.csv")
    for said, words in (({rows[3]["id"]: "left"}, "is no answer"), ({rows[3]["id"]: "1"}, "")):
        ran = judgenet(*lab, "--people", _answer(tmp_path / "a.csv", rows, said, "Ada"))
        assert (ran.code == 2, words in ran.err) == (bool(words), True)
    other = [{**row, "id": "qffff"} for row in rows]
    ran = judgenet(*lab, "--people", _answer(tmp_path / "b.csv", other, {"qffff": "1"}, "Ada"))
    assert ran.code == 2
    assert "no prompt of this lab" in ran.err


def test_answers_count_in_labs_of_other_networks_on_the_same_prompts(
    judgenet: Judgenet, lab: tuple[str, ...], tmp_path: Path
) -> None:
    judgenet(*lab, "--for-people", "sheet.csv")
    rows = _sheet(tmp_path / "sheet.csv")
    judgenet(*lab, "--people", _answer(tmp_path / "a.csv", rows, {row["id"]: "1" for row in rows}, "Ada"))
    first = judgenet(*lab, "--json").json
    other = judgenet(*lab, "--width", "1", "--depth", "1", "--roles", "none", "--json").json
    assert other["lab"] != first["lab"]
    assert other["people"] == first["people"]
    assert other["people"]["persons"] == ["Ada"]
    # Another invented majority is another prompt.
    less = judgenet(*lab, "--share", "60", "--json").json
    assert less["people"]["pairs"]["order"] == 20
    assert less["people"]["pairs"]["bandwagon"] == 0
