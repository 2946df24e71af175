"""Criteria from a column: the shapes of published sets, and what is wrong with bad ones."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from judgenet.core.criteria import Criterion
from judgenet.core.pairs import Pair
from judgenet.formats import DataError, PairMapping, read_pairs, write_pairs

ROW = {"id": "1", "question": "Q", "response_a": "A", "response_b": "B"}


def read(tmp_path: Path, *values: Any, column: str = "criteria", mapped: str | None = None) -> tuple[Pair, ...]:
    path = tmp_path / "pairs.jsonl"
    records = [ROW | {"id": str(place), column: value} for place, value in enumerate(values, 1)]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    mapping = PairMapping(columns={} if mapped is None else {"criteria": mapped})
    return read_pairs(path, mapping=mapping).pairs


SHAPES: list[tuple[Any, list[Criterion]]] = [
    (None, []),
    ("", []),
    ([], []),
    ("Which response is more polite?", [Criterion("Which response is more polite?")]),
    ("- Correct: all claims are true.\n- Short", [Criterion("Correct", "all claims are true."), Criterion("Short")]),
    ("1. Is it true?\n2) Is it short?", [Criterion("Is it true?"), Criterion("Is it short?")]),
    (["Is it true?", "Is it short?"], [Criterion("Is it true?"), Criterion("Is it short?")]),
    ('["Is it true?", "Is it short?"]', [Criterion("Is it true?"), Criterion("Is it short?")]),
    ("['Is it true?', 'Is it short?']", [Criterion("Is it true?"), Criterion("Is it short?")]),
    (
        [{"name": "Correct", "description": "All claims are true.", "weight": 2}, {"name": "Short", "weight": "0.5"}],
        [Criterion("Correct", "All claims are true.", 2), Criterion("Short", "", 0.5)],
    ),
    # Rubrics as Rewards
    (
        [
            {"title": "Dose", "description": "Names 5 mg.", "weight": 5},
            {"title": "No Warning", "description": "Pitfall Criteria: Does not warn of bleeding.", "weight": -2},
        ],
        [
            Criterion("Dose", "Names 5 mg.", 5),
            Criterion("Avoid: No Warning", "Pitfall Criteria: Does not warn of bleeding.", 2),
        ],
    ),
    # HealthBench
    (
        [
            {"criterion": "Advises to call 112", "points": 10, "tags": ["axis:safety"]},
            {"criterion": "Names a wrong dose", "points": -8, "tags": []},
        ],
        [Criterion("Advises to call 112", "", 10), Criterion("Avoid: Names a wrong dose", "", 8)],
    ),
    # BiGGen Bench
    (
        {"criteria": "Is it sound?", "score1_description": "It is not.", "score2_description": "It is."},
        [Criterion("Is it sound?", "1 of 2: It is not.; 2 of 2: It is.")],
    ),
    (
        {"Facts": "All are true.", "Tone": "Polite."},
        [Criterion("Facts", "All are true."), Criterion("Tone", "Polite.")],
    ),
    ({"Facts": 0.75, "Tone": 0.25}, [Criterion("Facts", "", 0.75), Criterion("Tone", "", 0.25)]),
    ({"Facts": 0.75, "Errors": -0.25}, [Criterion("Facts", "", 0.75), Criterion("Avoid: Errors", "", 0.25)]),
    ({"rubrics": [{"name": "Facts"}]}, [Criterion("Facts")]),
]


@pytest.mark.parametrize(("value", "expected"), SHAPES)
def test_criteria_are_read_in_the_shapes_of_published_sets(
    tmp_path: Path, value: Any, expected: list[Criterion]
) -> None:
    assert read(tmp_path, value)[0].criteria == tuple(expected)


@pytest.mark.parametrize("column", ["checklist", "rubric", "rubrics", "score_rubric", "criterion"])
def test_columns_of_published_sets_are_found(tmp_path: Path, column: str) -> None:
    assert read(tmp_path, ["Is it true?"], column=column)[0].criteria == (Criterion("Is it true?"),)


@pytest.mark.parametrize("values", [(3, 4.5), ("3", "12"), (True, None)])
def test_numbers_under_such_a_name_are_no_criteria(tmp_path: Path, values: tuple[Any, ...]) -> None:
    pairs = read(tmp_path, *values, column="rubric")
    assert all(pair.criteria == () for pair in pairs)
    with pytest.raises(DataError, match="a text or a list") if not isinstance(values[0], str) else nullcontext():
        read(tmp_path, *values, column="rubric", mapped="rubric")


def test_any_column_can_be_mapped_or_left_out(tmp_path: Path) -> None:
    assert read(tmp_path, ["Is it true?"], column="points", mapped="points")[0].criteria == (Criterion("Is it true?"),)
    assert read(tmp_path, ["Is it true?"], mapped="")[0].criteria == ()


def test_several_columns_are_one_list(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("id,question,response_a,response_b,c1,c2\n1,Q,A,B,True?,Short?\n2,Q,A,B,True?,\n", encoding="utf-8")
    pairs = read_pairs(path, mapping=PairMapping(columns={"criteria": "c1+c2"})).pairs
    assert [[of.name for of in pair.criteria] for pair in pairs] == [["True?", "Short?"], ["True?"]]


BAD: list[tuple[Any, str]] = [
    ({"Facts": [1]}, "Criteria are a text or a list, here is {"),
    ([""], "Criterion 1 is empty."),
    (["True?", 3], "Criterion 2 is no text and no object but 3."),
    ([{"name": "Facts"}, {"name": " ", "weight": 1}], "Criterion 2 has no name."),
    ([{"name": "", "description": "All true."}], "Criterion 1 has an empty name."),
    ([{"name": "Facts", "weight": "much"}], "Criterion 1: its weight is no number but 'much'."),
    ([{"name": "Facts", "weight": "much"}], "Criterion 1: its weight is no number but 'much'."),
    ([{"name": "Facts", "weight": True}], "Criterion 1: its weight is no number but true."),
    ([{"name": ["Facts"]}], "Criterion 1: its name is no text but"),
    ([{"name": "Facts", "weight": 0}], "Every criterion has the weight 0."),
]


@pytest.mark.parametrize(("value", "message"), BAD)
def test_a_bad_value_is_refused_with_its_place_and_what_helps(tmp_path: Path, value: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, ["Fine"], value)
    assert message in str(caught.value)
    assert (Path(caught.value.file or "").name, caught.value.row, caught.value.column) == ("pairs.jsonl", 2, "criteria")
    assert caught.value.mend


def test_what_was_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    rows = [
        ROW
        | {"rubrics": [{"criterion": "Calls 112", "points": 9, "tags": []}, {"criterion": "Guesses", "points": -2}]},
        ROW | {"id": "2", "rubrics": [{"criterion": "Calls 112", "points": 9, "tags": []}]},
        ROW | {"id": "3"},
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    notes = {note.kind: note.message for note in read_pairs(path).notes}
    assert notes == {
        "criteria": "Criteria from rubrics: 1 to 2 each on 2 of 3 records, with weights.",
        "criteria_to_avoid": "Weights and points below 0 are for what a good response avoids: 1 criterion.",
        "criteria_not_read": "Not read of the criteria: tags.",
    }


@pytest.mark.parametrize("format", ["jsonl", "json", "csv", "tsv", "parquet", "xlsx"])
def test_criteria_are_written_and_read_back(tmp_path: Path, format: Any) -> None:
    criteria = (Criterion("Facts", 'All "claims"\nare, true.', 2.5), Criterion("Tone", weight=3), Criterion("'=1"))
    pairs = (Pair("1", "Q", "A", "B", criteria=criteria), Pair("2", "Q", "A", "B"))
    path = tmp_path / f"pairs.{format}"
    write_pairs(pairs, path, format)
    back = read_pairs(path).pairs
    # Descriptions are on one line, as prompts show them.
    assert [of.description for of in back[0].criteria] == ['All "claims" are, true.', "", ""]
    assert [(of.name, of.weight) for of in back[0].criteria] == [("Facts", 2.5), ("Tone", 3), ("'=1", 1)]
    assert back[1] == pairs[1]
    write_pairs(back, path, format)
    again = read_pairs(path).pairs
    assert again == back
    assert [pair.content_hash for pair in again] == [pair.content_hash for pair in back]


def test_files_without_criteria_are_written_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    write_pairs([Pair("1", "Q", "A", "B")], path, "csv")
    assert path.read_text(encoding="utf-8").splitlines()[0].endswith("tags,annotators")


def test_prometheus_rubrics_are_criteria(tmp_path: Path) -> None:
    path = tmp_path / "prometheus.jsonl"
    record = {
        "orig_instruction": "Q",
        "orig_response_A": "A",
        "orig_response_B": "B",
        "orig_criteria": "Is the answer sound?",
        **{f"orig_score{number}_description": f"Level {number}." for number in range(1, 6)},
    }
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    (criterion,) = read_pairs(path).pairs[0].criteria
    assert criterion.name == "Is the answer sound?"
    assert criterion.description.startswith("1 of 5: Level 1.; 2 of 5: Level 2.;")


def test_criteria_of_questions_with_several_responses(tmp_path: Path) -> None:
    path = tmp_path / "systems.jsonl"
    rows = [
        {"question_id": "q1", "question": "Q", "system": system, "response": system, "checklist": ["Is it true?"]}
        for system in ("x", "y", "z")
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    pairs = read_pairs(path).pairs
    assert len(pairs) == 3
    assert {pair.criteria for pair in pairs} == {(Criterion("Is it true?"),)}


def test_the_example_has_criteria_in_three_shapes() -> None:
    pairs = read_pairs(Path(__file__).parents[3] / "examples" / "criteria.jsonl").pairs
    assert [[of.weight for of in pair.criteria] for pair in pairs] == [[5, 5, 1], [1, 1, 1], [1]]
    assert pairs[2].criteria == (Criterion("Correct", "the result is right."),)
