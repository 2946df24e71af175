"""Columns and labels: proposed where clear, never guessed where not."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from judgenet.formats import (
    DataError,
    Dataset,
    PairMapping,
    parse_column_map,
    parse_label_map,
    preview,
    read_pairs,
)


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read_records(*records: dict[str, Any], **mapping: Any) -> Dataset:
        path = tmp_path / "data"
        path.write_text("\n".join(map(json.dumps, records)))
        return read_pairs(path, mapping=PairMapping(**mapping) if mapping else None)

    return read_records


PAIR = {"question": "q", "response_a": "x", "response_b": "y"}


# --- columns ---


@pytest.mark.parametrize("question", ["question", "prompt", "query", "instruction", "input", "Question", " PROMPT "])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("response_a", "response_b"),
        ("response1", "response2"),
        ("output_1", "output_2"),
        ("answer_a", "answer_b"),
        ("Response A", "Response B"),
        ("response-1", "response-2"),
    ],
)
def test_usual_names_are_understood(read: Any, question: str, first: str, second: str) -> None:
    (pair,) = read({question: "q", first: "x", second: "y"}).pairs
    assert (pair.question, pair.response_a, pair.response_b) == ("q", "x", "y")


@pytest.mark.parametrize(
    ("record", "named"),
    [
        ({"prompt": "q", "query": "q", "response_a": "x", "response_b": "y"}, "question may be prompt or query"),
        ({"prompt": "q", "output_1": "x", "output_2": "y", "answer_1": "x", "answer_2": "y"}, "response_a may be"),
        ({**PAIR, "label": "a", "winner": "b"}, "human may be label or winner"),
        ({**PAIR, "human_label": "a", "preference": "b"}, "human may be preference or human_label"),
    ],
)
def test_several_candidates_are_an_error(read: Any, record: dict[str, str], named: str) -> None:
    with pytest.raises(DataError, match=named) as caught:
        read(record)
    assert "--map" in caught.value.mend


def test_own_names_go_first(read: Any) -> None:
    (pair,) = read({**PAIR, "prompt": "no", "output_1": "no", "output_2": "no", "human": "a", "label": "no"}).pairs
    assert (pair.question, pair.response_a, pair.human) == ("q", "x", "a")


def test_optional_columns(read: Any) -> None:
    data = read(
        {**PAIR, "pair_id": "p", "reference_answer": "r", "model_1": "m", "model_2": "n", "category": "t", "extra": 1},
    )
    (pair,) = data.pairs
    assert (pair.id, pair.reference, pair.model_a, pair.model_b, pair.task) == ("p", "r", "m", "n", "t")
    assert "extra" in next(note for note in data.notes if note.kind == "unused_columns").message


@pytest.mark.parametrize("side", ["a", "b"])
def test_one_of_two_systems(read: Any, side: str) -> None:
    (pair,) = read({**PAIR, f"model_{side}": "m"}).pairs
    assert {"a": pair.model_a, "b": pair.model_b} == {"a": None, "b": None, side: "m"}


def test_of_several_tasks_none_is_taken(read: Any) -> None:
    data = read({**PAIR, "category": "t", "dataset": "d"})
    assert data.pairs[0].task is None
    assert "category, dataset" in next(note for note in data.notes if note.kind == "unused_columns").message


def test_an_empty_optional_text_is_none(read: Any) -> None:
    (pair,) = read({**PAIR, "reference": "", "model_a": "", "task": None, "human": ""}).pairs
    assert (pair.reference, pair.model_a, pair.task, pair.human) == (None, None, None, None)


def test_no_columns_found(read: Any) -> None:
    with pytest.raises(DataError, match=r"question, response_a, response_b.*'frage', 'eins', 'zwei'") as caught:
        read({"frage": "q", "eins": "x", "zwei": "y"})
    assert "--map question=…,response_a=…,response_b=…" in caught.value.mend


def test_two_columns_named_alike_are_suggested_and_not_taken(read: Any) -> None:
    with pytest.raises(DataError) as caught:
        read([{"prompt": "q", "gpt_output": "x", "claude_output": "y", "note": "z"}])
    assert "--map response_a=gpt_output,response_b=claude_output" in caught.value.mend
    with pytest.raises(DataError) as caught:
        read([{"prompt": "q", "gpt_output": "x", "claude_output": "y", "llama_output": "z"}])
    assert "--map question=…" in caught.value.mend


def test_a_mapping_names_them(read: Any) -> None:
    record = {"frage": "q", "kontext": "c", "eins": "x", "zwei": "y", "urteil": "links"}
    columns = parse_column_map("question=frage+kontext,response_a=eins,response_b=zwei,label=urteil")
    (pair,) = read(record, columns=columns, labels=parse_label_map("links=a,rechts=b"), joiner="\n").pairs
    assert (pair.question, pair.response_a, pair.response_b, pair.human) == ("q\nc", "x", "y", "a")


def test_a_mapping_fills_only_its_own_fields(read: Any) -> None:
    (pair,) = read(
        {"prompt": "q", "eins": "x", "zwei": "y", "task": "t"}, columns={"response_a": "eins", "response_b": "zwei"}
    ).pairs
    assert (pair.question, pair.response_a, pair.task) == ("q", "x", "t")


def test_empty_parts_of_a_question_leave_no_gap(read: Any) -> None:
    record = {"instruction": "do", "input": "", "response1": "x", "response2": "y"}
    columns = {"question": "instruction+input"}
    assert read(record, columns=columns).pairs[0].question == "do"
    assert read({**record, "input": "this"}, columns=columns).pairs[0].question == "do\n\nthis"
    assert read({**record, "instruction": "", "input": " "}, columns=columns).pairs[0].question == " "


def test_a_column_whose_name_holds_a_plus(read: Any) -> None:
    assert read({**PAIR, "c++": "z"}, columns={"question": "c++"}).pairs[0].question == "z"


def test_a_field_that_is_not_wanted(read: Any) -> None:
    data = read(
        {**PAIR, "id": "1", "label": "0"}, {**PAIR, "id": "1", "label": "2"}, columns=parse_column_map("id=,label=")
    )
    assert [pair.id for pair in data.pairs] == ["row-1", "row-2"]
    assert data.labels.missing == 2
    assert read(PAIR, columns={"question": ""}).pairs[0].question == ""


def test_columns_that_are_not_there(read: Any) -> None:
    with pytest.raises(DataError, match=r"no column 'respnse_a' for response_a \(did you mean 'response_a'\?\)"):
        read(PAIR, columns={"response_a": "respnse_a"})
    with pytest.raises(DataError, match="Only question, annotators and criteria can join"):
        read(PAIR, columns={"response_a": "response_a+response_b"})


def test_ids_that_are_missing_get_numbers(read: Any) -> None:
    data = read({**PAIR, "id": "x"}, {**PAIR, "id": None}, {**PAIR, "id": ""}, PAIR)
    assert [pair.id for pair in data.pairs] == ["x", "row-2", "row-3", "row-4"]
    assert next(note for note in data.notes if note.kind == "numbered").count == 3


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        (["a", "b c"], ("a", "b c")),
        ('["a, b", "c"]', ("a, b", "c")),
        ("a; b ;", ("a", "b")),
        ("a, b", ("a", "b")),
        ("one", ("one",)),
        ("[not json", ("[not json",)),
        ("", ()),
        (None, ()),
    ],
)
def test_tags(read: Any, value: Any, tags: tuple[str, ...]) -> None:
    assert read({**PAIR, "tags": value}).pairs[0].tags == tags


def test_tags_that_are_none(read: Any) -> None:
    with pytest.raises(DataError, match="Tags are a list"):
        read({**PAIR, "tags": {"a": 1}})


# --- labels ---


@pytest.mark.parametrize("column", ["human", "label", "winner", "preference"])
@pytest.mark.parametrize(
    "values",
    [("a", "b", "tie"), ("A", "B", "tie"), ("A", "B", "Tie"), ("model_a", "model_b", "tie"), (" a ", "b", "tie")],
)
def test_codings_that_can_only_mean_one_thing(read: Any, column: str, values: tuple[str, ...]) -> None:
    data = read(*({**PAIR, column: value} for value in (*values, None, "")))
    assert [pair.human for pair in data.pairs] == ["a", "b", "tie", None, None]


@pytest.mark.parametrize(
    "values", [(0, 1, 2), ("0", "1", "2"), (1, 2), (1.0, 2.0), (True, False), (-1, 0, 1), ("A", "B", "C")]
)
def test_other_codings_are_never_guessed(read: Any, values: tuple[Any, ...]) -> None:
    with pytest.raises(DataError, match="meaning of the label") as caught:
        read({**PAIR, "label": None}, *({**PAIR, "label": value} for value in values))
    assert caught.value.column == "label"
    assert caught.value.row == 2
    assert "--label-map" in caught.value.mend


def test_the_error_counts_the_values_and_shows_the_map(read: Any) -> None:
    with pytest.raises(DataError, match=r"'2' \(2\), '0' \(1\)") as caught:
        read(*({**PAIR, "winner": value} for value in (2, 0, 2)))
    assert '--label-map "2=?,0=?"' in caught.value.mend


def test_one_unknown_value_among_known_ones(read: Any) -> None:
    with pytest.raises(DataError, match=r"'a' \(2\), 'both bad' \(1\)"):
        read(*({**PAIR, "label": value} for value in ("a", "a", "both bad")))
    records = [{**PAIR, "label": value} for value in (1, 9, "skip")]
    with pytest.raises(DataError, match="label '9' is not known") as caught:
        read(*records, labels={"1": "a", "skip": None})
    assert caught.value.row == 2
    assert '--label-map "1=a,9=?,skip="' in caught.value.mend


@pytest.mark.parametrize("values", [(0, 1, 2), ("0", "1", "2"), (0.0, 1.0, 2.0), ("0.0", "1.0", "2.0")])
def test_a_label_map_says_what_they_mean(read: Any, values: tuple[Any, ...]) -> None:
    records = [{**PAIR, "label": value} for value in (*values, None)]
    pandalm = read(*records, labels=parse_label_map("1=a,2=b,0=tie"))
    assert [pair.human for pair in pandalm.pairs] == ["tie", "a", "b", None]
    autoj = read(*records, labels=parse_label_map("0=a,1=b,2=tie"))
    assert [pair.human for pair in autoj.pairs] == ["a", "b", "tie", None]
    assert autoj.coding == {"0": "a", "1": "b", "2": "tie"}


def test_values_that_are_no_label(read: Any) -> None:
    data = read(*({**PAIR, "label": value} for value in ("1", "skip", "NA")), labels=parse_label_map("1=b,skip=,NA="))
    assert [pair.human for pair in data.pairs] == ["b", None, None]
    assert next(note for note in data.notes if note.kind == "left_out_labels").count == 2


def test_a_label_that_is_a_list(read: Any) -> None:
    with pytest.raises(DataError, match="one value"):
        read({**PAIR, "label": ["a"]})


# --- annotators ---


@pytest.mark.parametrize("column", ["annotators", "labels_by_annotator"])
def test_annotators_by_name_or_in_a_list(read: Any, column: str) -> None:
    data = read({**PAIR, column: {"zoë": "a", "ann": "tie", "bob": None}}, {**PAIR, column: ["b", None, "b"]})
    assert data.pairs[0].annotators == (("zoë", "a"), ("ann", "tie"))
    assert data.pairs[1].annotators == (("annotator1", "b"), ("annotator3", "b"))


def test_the_label_is_the_majority_where_there_is_none_of_its_own(read: Any) -> None:
    records = (
        {**PAIR, "annotators": ["a", "a", "b"]},
        {**PAIR, "annotators": ["a", "b"]},
        {**PAIR, "annotators": []},
        {**PAIR, "annotators": ["a"], "human": "b"},
        {**PAIR, "annotators": ["a"], "human": None},
        {**PAIR, "annotators": ["b", "a"], "human": ""},
        {**PAIR, "annotators": ["a"], "human": "no label"},
    )
    data = read(*records)
    assert [pair.human for pair in data.pairs] == ["a", "tie", None, "b", "a", "tie", None]
    assert next(note for note in data.notes if note.kind == "no_majority").ids == ("row-2", "row-6")
    assert next(note for note in data.notes if note.kind == "left_out_labels").count == 1
    dropped = read(*records, no_majority=None)
    assert [pair.human for pair in dropped.pairs] == ["a", None, None, "b", "a", None, None]


def test_null_labels_beside_annotators_are_as_no_column_of_labels(read: Any) -> None:
    said = (["a", "a", "b"], ["b"], ["a", "b"], [None, "tie"], [])
    bare = [{**PAIR, "annotators": one} for one in said]
    with_null = read(*({**record, "human": None} for record in bare))
    assert [pair.human for pair in with_null.pairs] == [pair.human for pair in read(*bare).pairs]
    assert [pair.human for pair in with_null.pairs] == ["a", "b", "tie", "tie", None]
    taken = next(note for note in with_null.notes if note.kind == "majority_taken")
    assert (taken.count, taken.ids) == (4, ("row-1", "row-2", "row-3", "row-4"))


def test_columns_of_annotators_with_a_coding(read: Any) -> None:
    records = [{**PAIR, "annotator1": 0, "annotator2": 1}, {**PAIR, "annotator1": 2, "annotator2": None}]
    with pytest.raises(DataError, match=r"'0' \(1\), '1' \(1\), '2' \(1\)") as caught:
        read(*records)
    assert caught.value.column == "annotator1+annotator2"
    data = read(*records, labels={"0": "tie", "1": "a", "2": "b"})
    assert [pair.annotators for pair in data.pairs] == [
        (("annotator1", "tie"), ("annotator2", "a")),
        (("annotator1", "b"),),
    ]
    assert [pair.human for pair in data.pairs] == ["tie", "b"]


def test_one_column_of_labels_as_an_annotator(read: Any) -> None:
    data = read({**PAIR, "judge X": 0}, columns={"annotators": "judge X"}, labels={"0": "b"})
    assert data.pairs[0].annotators == (("judge X", "b"),)


# --- chosen and rejected ---


def preferences(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": str(n),
            "prompt": "q",
            "chosen": f"good {n}",
            "rejected": f"bad {n}",
            "chosen_model": "g",
            "rejected_model": "w",
        }
        for n in range(count)
    ]


PREFERENCE = parse_column_map("chosen=chosen,rejected=rejected,model_a=chosen_model,model_b=rejected_model")


def test_chosen_and_rejected_need_a_word(read: Any) -> None:
    with pytest.raises(DataError, match="better one would always come first") as caught:
        read(*preferences(2))
    assert "--map question=prompt,chosen=chosen,rejected=rejected" in caught.value.mend
    with pytest.raises(DataError, match="rejected"):
        read(*preferences(2), columns={"chosen": "chosen"})


def test_chosen_and_rejected_are_shuffled_with_their_labels(read: Any) -> None:
    data = read(*preferences(400), columns=PREFERENCE)
    for pair in data.pairs:
        better, worse = ("a", "b") if pair.human == "a" else ("b", "a")
        assert pair.response(better) == f"good {pair.id}"  # type: ignore[arg-type]
        assert pair.response(worse) == f"bad {pair.id}"  # type: ignore[arg-type]
        assert (pair.model_a, pair.model_b) == (("g", "w") if pair.human == "a" else ("w", "g"))
    # Four standard deviations of a fair coin.
    assert abs(data.labels.a - 200) < 40
    assert data.labels.missing == data.labels.tie == 0


def test_the_shuffle_depends_on_seed_and_id_alone(read: Any) -> None:
    records = preferences(50)
    first = {pair.id: pair.human for pair in read(*records, columns=PREFERENCE, seed=1).pairs}
    again = {pair.id: pair.human for pair in read(*records[::-1][:30], columns=PREFERENCE, seed=1).pairs}
    assert again == {key: first[key] for key in again}
    assert first != {pair.id: pair.human for pair in read(*records, columns=PREFERENCE, seed=2).pairs}


def test_messages_that_repeat_the_prompt(read: Any) -> None:
    def talk(answer: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": "why?"}, {"role": "assistant", "content": answer}]

    (pair,) = read(
        {"chosen": talk("good"), "rejected": talk("bad")}, columns={"chosen": "chosen", "rejected": "rejected"}
    ).pairs
    assert pair.question == "why?"
    assert {pair.response_a, pair.response_b} == {"good", "bad"}


# --- the maps as texts and as JSON ---


def test_column_maps_as_text() -> None:
    assert parse_column_map('question=prompt, response_a = answer 1,"response_b=b, or so",id=') == {
        "question": "prompt",
        "response_a": "answer 1",
        "response_b": "b, or so",
        "id": "",
    }
    assert parse_column_map("prompt=text,label=gold=1") == {"question": "text", "human": "gold=1"}


def test_label_maps_as_text() -> None:
    assert parse_label_map("1=a,2=B,0=tie") == {"1": "a", "2": "b", "0": "tie"}
    assert parse_label_map('A>B=a,A=B=tie,"x, y"=b,skip=') == {"A>B": "a", "A=B": "tie", "x, y": "b", "skip": None}


@pytest.mark.parametrize("text", ["question", "answer=x", "question=x,y"])
def test_column_maps_that_cannot_be_read(text: str) -> None:
    with pytest.raises(DataError, match="column map"):
        parse_column_map(text)


@pytest.mark.parametrize("text", ["1", "1=c", "1=0"])
def test_label_maps_that_cannot_be_read(text: str) -> None:
    with pytest.raises(DataError, match="label map"):
        parse_label_map(text)


def test_mappings_check_themselves() -> None:
    with pytest.raises(DataError, match="no field 'answer'"):
        PairMapping(columns={"answer": "x"})
    with pytest.raises(DataError, match="'left' is no label"):
        PairMapping(labels={"1": "left"})  # type: ignore[dict-item]


def test_mappings_as_json() -> None:
    mapping = PairMapping({"question": "a+b"}, {"1": "a", "x": None}, "\n", 7, None, "cp1252")
    assert PairMapping.from_json(json.loads(json.dumps(mapping.to_json()))) == mapping
    assert PairMapping.from_json({}) == PairMapping()


# --- looking into a file ---


def test_preview_shows_what_a_person_has_to_decide(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    lines = [f"{n},prompt {n},{'long ' * 20}{n},y,{n % 3},{'good' if n % 2 else 'bad'}" for n in range(30)]
    path.write_text("\n".join(["no,prompt,answer_1,answer_2,label,winner", *lines]))
    seen = preview(path, rows=3)
    assert (seen.format, seen.container, seen.count) == ("table", "csv", 30)
    assert seen.names == ("no", "prompt", "answer_1", "answer_2", "label", "winner")
    assert [row["prompt"] for row in seen.rows] == ["prompt 0", "prompt 1", "prompt 2"]
    assert seen.values == {
        "answer_2": {"y": 30},
        "label": {"0": 10, "1": 10, "2": 10},
        "winner": {"bad": 15, "good": 15},
    }
    assert seen.columns == {"question": "prompt", "response_a": "answer_1", "response_b": "answer_2"}
    assert seen.unclear == {"human": ("label", "winner")}
    labels = PairMapping(columns={**seen.columns, "human": "label"}, labels={"0": "a", "1": "b", "2": None})
    assert Counter(pair.human for pair in read_pairs(path, mapping=labels).pairs) == {"a": 10, "b": 10, None: 10}


def test_preview_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text('{"a": 1, "b": [1]}\n{"a": null}')
    seen = preview(path)
    assert seen.format == "unknown"
    assert seen.rows == ({"a": "1", "b": "[1]", "b.0": "1"}, {"a": "", "b": "", "b.0": ""})
    assert seen.columns == {}


def test_every_public_name_of_the_package_is_found_in_its_module() -> None:
    from judgenet import formats

    assert all(getattr(formats, name) is not None for name in formats.__all__)
