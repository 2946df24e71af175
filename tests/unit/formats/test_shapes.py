"""Files of other programs: nested fields, several annotators' rows, sheets of a workbook, bad rows, gzip."""

from __future__ import annotations

import bz2
import gzip
import io
import json
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from judgenet.formats import DataError, Dataset, PairMapping, open_files, parse_column_map, read_pairs
from judgenet.formats.judgments import read_judgments

QUESTION, FIRST, SECOND = "Why is the sky blue?", "Blue light scatters more.", "It mirrors the sea."
PAIR = {"id": "p1", "question": QUESTION, "response_a": FIRST, "response_b": SECOND}


def read(path: Path, content: Any, columns: str = "", **options: Any) -> Dataset:
    """The pairs of a file: bytes, a text, or values that become JSON."""
    if not isinstance(content, bytes):
        content = (content if isinstance(content, str) else json.dumps(content)).encode()
    path.write_bytes(content)
    named = parse_column_map(columns) if columns else {}
    return read_pairs(path, mapping=PairMapping(columns=named, **options))


def lines(*records: Any) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def texts(dataset: Dataset) -> list[tuple[str, str, str]]:
    return [(pair.question, pair.response_a, pair.response_b) for pair in dataset.pairs]


def kinds(dataset: Dataset) -> dict[str, str]:
    return {finding.kind: finding.message for finding in dataset.findings}


# Ids, and mappings before recognition


def test_a_known_format_keeps_the_ids_of_its_file(tmp_path: Path) -> None:
    data = read(tmp_path / "x", "id,query,response1,response2,human,reference\n007,Is it?,NA,null,tie,r\n")
    (pair,) = data.pairs
    assert (pair.id, pair.response_a, pair.response_b, pair.human, pair.reference) == ("007", "NA", "null", "tie", "r")
    assert "unused_columns" not in kinds(data)


def test_a_mapping_goes_before_the_recognition_of_a_format(tmp_path: Path) -> None:
    record = {"question_id": 0, "text": "8 3", "body": QUESTION, "one": FIRST, "two": SECOND}
    data = read(tmp_path / "x", lines(record, record), "question=body,response_a=one,response_b=two")
    assert texts(data) == [(QUESTION, FIRST, SECOND)] * 2
    with pytest.raises(DataError, match="FairEval") as caught:
        read_pairs(tmp_path / "x")
    assert "--map question=" in caught.value.mend


def test_a_mapping_to_other_columns_does_not_take_the_coding_of_the_format(tmp_path: Path) -> None:
    record = {"input": QUESTION, "output_1": FIRST, "output_2": SECOND, "label": 1}
    with pytest.raises(DataError, match="meaning of the label '1' is not known"):
        read(tmp_path / "x", lines(record), "question=input,response_a=output_2,response_b=output_1,human=label")
    assert read(tmp_path / "x", lines(record)).pairs[0].human == "a"


# Nested fields


def test_dotted_paths_lead_into_objects_lists_and_cells(tmp_path: Path) -> None:
    record = {"in": {"turns": [QUESTION, "more"]}, "a": {"x.y": FIRST}, "b": json.dumps({"text": SECOND})}
    data = read(tmp_path / "x", lines(record), "question=in.turns.0,response_a=a.x.y,response_b=b.text")
    assert texts(data) == [(QUESTION, FIRST, SECOND)]


@pytest.mark.parametrize("path", ["data.promt", "data.prompt.more", "dat.prompt", "data.", ".prompt", "turns.7"])
def test_a_wrong_path_is_told_with_those_that_there_are(tmp_path: Path, path: str) -> None:
    record = {"data": {"prompt": QUESTION, "a": FIRST, "b": SECOND}, "turns": ["x"]}
    with pytest.raises(DataError, match="There is no column") as caught:
        read(tmp_path / "x", lines(record), f"question={path},response_a=data.a,response_b=data.b")
    assert "'data.prompt'" in caught.value.mend


def test_nested_texts_with_clear_names_are_read_and_told(tmp_path: Path) -> None:
    record = {"id": 4, "input": {"question": QUESTION}, "output_a": {"text": FIRST}, "output_b": {"text": SECOND}}
    data = read(tmp_path / "x", [record])
    assert texts(data) == [(QUESTION, FIRST, SECOND)]
    assert "question from input.question" in kinds(data)["nested_columns"]
    assert open_files(tmp_path / "x").preview().columns["response_a"] == "output_a.text"


def test_the_command_that_the_error_proposes_for_nested_texts_can_be_used(tmp_path: Path) -> None:
    record = {"task": {"ask": QUESTION, "first": FIRST, "second": SECOND}}
    with pytest.raises(DataError, match=r"Inside them are task\.ask, task\.first, task\.second") as caught:
        read(tmp_path / "x", [record])
    proposed = caught.value.mend.partition("--map ")[2]
    assert texts(read(tmp_path / "x", [record], proposed)) == [(QUESTION, FIRST, SECOND)]


def test_label_studio_tasks(tmp_path: Path) -> None:
    def annotation(who: int, side: str, **more: Any) -> dict[str, Any]:
        result = [{"type": "pairwise", "value": {"selected": side}}]
        return {"completed_by": who, "result": result, "was_cancelled": False, **more}

    said = [annotation(3, "left"), annotation(4, "right"), annotation(5, "left"), annotation(6, "right")]
    said[3]["was_cancelled"] = True
    task = {"id": 10, "annotations": said, "data": {"prompt": QUESTION, "answer1": FIRST, "answer2": SECOND}}
    (pair,) = read(tmp_path / "x", [task]).pairs
    assert (pair.id, pair.question, pair.response_b, pair.human) == ("10", QUESTION, SECOND, "a")
    assert dict(pair.annotators) == {"annotator 3": "a", "annotator 4": "b", "annotator 5": "a"}


def test_argilla_records(tmp_path: Path) -> None:
    def response(user: str, first: int, second: int, status: str = "submitted") -> dict[str, Any]:
        ranks = [{"value": "response-1", "rank": first}, {"value": "response-2", "rank": second}]
        return {"user_id": user, "status": status, "values": {"preference": {"value": ranks}}}

    fields = {"prompt": QUESTION, "response-1": FIRST, "response-2": SECOND}
    responses = [response("u1", 2, 1), response("u2", 1, 1), response("u3", 2, 1), response("u4", 1, 2, "discarded")]
    (pair,) = read(tmp_path / "x", [{"id": "r0", "fields": fields, "responses": responses}]).pairs
    assert (pair.question, pair.response_a, pair.response_b) == (QUESTION, FIRST, SECOND)
    assert (pair.human, dict(pair.annotators)) == ("b", {"u1": "b", "u2": "tie", "u3": "b"})


def test_llm_comparator_keeps_the_names_and_takes_no_score_for_a_label(tmp_path: Path) -> None:
    example = {"input_text": QUESTION, "output_text_a": FIRST, "output_text_b": SECOND, "score": 1.25, "tags": ["t"]}
    data = read(tmp_path / "x", {"models": [{"name": "m-a"}, {"name": "m-b"}], "examples": [example]})
    (pair,) = data.pairs
    assert (pair.model_a, pair.model_b, pair.human, pair.tags) == ("m-a", "m-b", None, ("t",))
    assert "not read as human labels" in kinds(data)["model_judgments"]


def test_promptfoo_results(tmp_path: Path) -> None:
    def result(provider: str, text: str) -> dict[str, Any]:
        raw = {"raw": QUESTION, "label": "p"}
        return {"provider": {"id": provider}, "prompt": raw, "vars": {"q": "x"}, "response": {"output": text}}

    results = {"version": 3, "prompts": [{"raw": "{{q}}"}], "results": [result("m-a", FIRST), result("m-b", SECOND)]}
    (pair,) = read(tmp_path / "x", {"evalId": "e", "results": results, "config": {}}).pairs
    assert pair.question == QUESTION
    assert {pair.model_a: pair.response_a, pair.model_b: pair.response_b} == {"m-a": FIRST, "m-b": SECOND}


def test_prometheus_asks_the_instruction_and_not_the_prompt_of_the_judge(tmp_path: Path) -> None:
    prompt = f"###Task: compare\n{QUESTION}\n{FIRST}\n{SECOND}"
    record = {"orig_instruction": QUESTION, "orig_response_A": FIRST, "orig_response_B": SECOND, "instruction": prompt}
    for columns in ("", "response_a=orig_response_A,response_b=orig_response_B"):
        assert texts(read(tmp_path / "x", lines(record), columns)) == [(QUESTION, FIRST, SECOND)]


def test_a_question_that_holds_both_responses_is_told(tmp_path: Path) -> None:
    prompt = f"Compare: {QUESTION} 1) {FIRST * 2} 2) {SECOND * 2}"
    record = {"instruction": prompt, "response_a": FIRST * 2, "response_b": SECOND * 2}
    assert "whole prompt of a judge" in kinds(read(tmp_path / "x", lines(record)))["judge_prompt"]
    assert "judge_prompt" not in kinds(read(tmp_path / "x", lines(PAIR)))


# One record with lists


def test_one_record_with_a_list_is_a_record(tmp_path: Path) -> None:
    said = [{"name": "ada", "label": "a"}, {"name": "bob", "label": "b"}, {"name": "cy", "label": "a"}]
    (pair,) = read(tmp_path / "x", lines({**PAIR, "annotators": said})).pairs
    assert (pair.human, dict(pair.annotators)) == ("a", {"ada": "a", "bob": "b", "cy": "a"})
    parts = [{"type": "text", "text": FIRST}]
    chat = [{"role": "assistant", "content": parts}]
    (pair,) = read(tmp_path / "x", lines({**PAIR, "response_a": chat})).pairs
    assert pair.response_a == FIRST


def test_ranks_in_a_list_of_responses_are_labels_and_scores_are_told(tmp_path: Path) -> None:
    answers = [{"answer": "x", "model": "m-a", "rank": 2.0}, {"answer": "y", "model": "m-b", "rank": 1.0}]
    data = read(tmp_path / "x", lines({"prompt": QUESTION, "answers": answers}))
    (pair,) = data.pairs
    assert (pair.model_a if pair.human == "a" else pair.model_b) == "m-b"
    assert pair.human in ("a", "b")
    scored = [{"response": "x", "model": "m-a", "score": 2}, {"response": "y", "model": "m-b", "score": 9}]
    record = {"prompt": QUESTION, "completions": scored}
    data = read(tmp_path / "x", lines(record))
    assert data.pairs[0].human is None
    assert "scores=completions.score" in kinds(data)["unread_scores"]
    (pair,) = read(tmp_path / "x", lines(record), "scores=completions.score").pairs
    assert (pair.model_a if pair.human == "a" else pair.model_b) == "m-b"


# Several annotators


def test_rows_of_several_annotators_become_one_pair(tmp_path: Path) -> None:
    rows = [{**PAIR, "annotator": name, "human": label} for name, label in (("ada", "a"), ("bob", "tie"), ("cy", "a"))]
    rows.append({**PAIR, "id": "p2", "question": "Else?", "annotator": "ada", "human": "b"})
    data = read(tmp_path / "x", lines(*rows))
    assert [(pair.id, pair.human, dict(pair.annotators)) for pair in data.pairs] == [
        ("p1", "a", {"ada": "a", "bob": "tie", "cy": "a"}),
        ("p2", "b", {"ada": "b"}),
    ]
    assert "became one pair" in kinds(data)["annotators_merged"]
    assert "unused_columns" not in kinds(data)


def test_an_annotator_of_pairs_that_nobody_else_labelled_is_said_to_be_left_out(tmp_path: Path) -> None:
    data = read(tmp_path / "x", lines({**PAIR, "rater": "ada", "human": "a"}))
    assert [(pair.human, pair.annotators) for pair in data.pairs] == [("a", ())]
    assert "rater, since" in kinds(data)["unused_columns"]


def test_an_annotator_who_saw_the_sides_swapped_means_the_same_response(tmp_path: Path) -> None:
    swapped = {**PAIR, "response_a": SECOND, "response_b": FIRST, "rater": "bob", "human": "b"}
    (pair,) = read(tmp_path / "x", lines({**PAIR, "rater": "ada", "human": "a"}, swapped)).pairs
    assert (pair.human, dict(pair.annotators)) == ("a", {"ada": "a", "bob": "a"})


def test_an_id_twice_without_an_annotator_says_how_to_name_one(tmp_path: Path) -> None:
    rows = [{**PAIR, "human": "a", "who": "x"}, {**PAIR, "human": "b", "who": "y"}]
    with pytest.raises(DataError, match="is there already") as caught:
        read(tmp_path / "x", lines(*rows))
    assert caught.value.row == 2
    assert "--map annotator=COLUMN" in caught.value.mend
    (pair,) = read(tmp_path / "x", lines(*rows), "annotator=who").pairs
    assert (pair.human, dict(pair.annotators)) == ("tie", {"x": "a", "y": "b"})


def test_the_same_annotator_with_two_labels_is_refused(tmp_path: Path) -> None:
    said = (("ada", "a"), ("bob", "a"), ("ada", "b"))
    rows = [{**PAIR, "annotator": name, "human": label} for name, label in said]
    with pytest.raises(DataError, match=r"is there already|two labels"):
        read(tmp_path / "x", lines(*rows))


# Preferences


def chat(*contents: str) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in zip(("user", "assistant") * 3, contents, strict=False)]


def test_conversations_that_do_not_begin_alike_are_refused_with_a_command_that_works(tmp_path: Path) -> None:
    record = {"chosen": chat("Why?", FIRST), "rejected": chat("Why not?", SECOND)}
    with pytest.raises(DataError, match="do not begin with the same message") as caught:
        read(tmp_path / "x", lines(record), "chosen=chosen,rejected=rejected")
    proposed = caught.value.mend.partition("--map ")[2].partition(".")[0]
    (pair,) = read(tmp_path / "x", lines(record), proposed).pairs
    assert pair.question == ""
    assert {pair.response_a, pair.response_b} == {
        f"user: Why?\n\nassistant: {FIRST}",
        f"user: Why not?\n\nassistant: {SECOND}",
    }
    (pair,) = read(tmp_path / "x", lines({**record, "q": "Q?"}), f"question=q,{proposed.partition(',')[2]}").pairs
    assert pair.question == "Q?"


def test_dialogues_as_texts_have_their_common_beginning_as_the_question(tmp_path: Path) -> None:
    start = "\n\nHuman: Why?\n\nAssistant: Hm.\n\nHuman: Well?\n\nAssistant:"
    record = {"chosen": f"{start} Because.", "rejected": f"{start} Both."}
    (pair,) = read(tmp_path / "x", lines(record), "chosen=chosen,rejected=rejected").pairs
    assert pair.question == start
    assert {pair.response_a, pair.response_b} == {" Because.", " Both."}


# Rows that cannot be read

BROKEN = {
    "json": (f'{json.dumps(PAIR)}\n{{"id": "p2", "question" oops\n{json.dumps({**PAIR, "id": "p3"})}\n', 2),
    "no object": (f"{json.dumps(PAIR)}\n[1, 2]\n{json.dumps({**PAIR, 'id': 'p3'})}\n", 2),
    "a text that is none": (lines(PAIR, {**PAIR, "id": "p2", "response_b": {"x": 1}}, {**PAIR, "id": "p3"}), 2),
    "no response": (lines(PAIR, {"id": "p2", "question": QUESTION, "response_a": "x"}, {**PAIR, "id": "p3"}), 2),
    "csv": ("id,question,response_a,response_b\np1,q,x,y\np2,q,x,y,z,z\np3,q,x,y\n", 3),
    "an id twice": (lines(PAIR, {**PAIR, "question": "Another?"}, {**PAIR, "id": "p3"}), 2),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_bad_rows_are_refused_or_left_out_counted_and_named(tmp_path: Path, kind: str) -> None:
    content, row = BROKEN[kind]
    with pytest.raises(DataError) as caught:
        read(tmp_path / "x", content)
    assert caught.value.row == row
    assert "column 12 (char" not in str(caught.value)
    data = read(tmp_path / "x", content, leave_out_bad=True)
    assert [pair.id for pair in data.pairs] == ["p1", "p3"]
    (finding,) = (finding for finding in data.findings if finding.kind == "bad_rows")
    assert (finding.severity, finding.count) == ("warning", 1)
    assert f"row {row}:" in finding.message


def test_a_strange_label_among_many_makes_a_bad_row(tmp_path: Path) -> None:
    every = [{**PAIR, "id": f"p{n}", "human": "??" if n == 7 else "ab"[n % 2]} for n in range(20)]
    data = read(tmp_path / "x", lines(*every), leave_out_bad=True)
    assert len(data.pairs) == data.labels.labelled == 19
    assert "row 8: The meaning of the label" in kinds(data)["bad_rows"]


def test_many_bad_rows_are_found_among_good_ones(tmp_path: Path) -> None:
    every = [{**PAIR, "id": f"p{n}", "response_b": {"x": n} if n % 7 == 3 else SECOND} for n in range(300)]
    data = read(tmp_path / "x", lines(*every), leave_out_bad=True)
    assert [pair.id for pair in data.pairs] == [f"p{n}" for n in range(300) if n % 7 != 3]
    assert f"{len(every) - len(data.pairs)} records" in kinds(data)["bad_rows"]


def test_a_file_without_a_good_row_and_a_coding_that_is_not_known_are_still_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No record can be read"):
        read(tmp_path / "x", lines({**PAIR, "response_b": [1]}), leave_out_bad=True)
    with pytest.raises(DataError, match="meaning of the label"):
        read(tmp_path / "x", lines({**PAIR, "human": 1}, {**PAIR, "id": "p2", "human": 2}), leave_out_bad=True)


def test_a_bad_question_of_several_responses_is_left_out(tmp_path: Path) -> None:
    good = {"question": QUESTION, "responses": {"m-a": FIRST, "m-b": SECOND}}
    data = read(tmp_path / "x", lines(good, {"question": "q", "responses": "none"}), leave_out_bad=True)
    assert len(data.pairs) == 1
    assert "row 2:" in kinds(data)["bad_rows"]


def test_a_null_game_is_left_out_and_counted(tmp_path: Path) -> None:
    game = {"judgment": "[[A>B]]", "score": "A>B"}
    records = [
        {"question_id": "q1", "model": "m", "judge": "j", "games": [game, None]},
        {"question_id": "q2", "model": "m", "judge": "j", "games": None},
        {"question_id": "q3", "model": "m", "judge": "j", "games": [game, game]},
    ]
    (tmp_path / "x").write_text(lines(*records))
    (file,) = read_judgments([tmp_path / "x"])
    assert [(one.pair.ids[0], one.order) for one in file.judgments] == [("q1", "ab"), ("q3", "ab"), ("q3", "ba")]
    assert file.empty == 2


# Workbooks


def book(path: Path, **sheets: list[list[Any]]) -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return made


HEADER = ["id", "question", "response_a", "response_b"]


def test_the_sheet_with_pairs_is_found_and_others_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    book(
        path, notes=[["Notes"], ["made", "by", "us"]], pairs=[HEADER, ["1", "q", "x", "y"]], more=[HEADER, list("2qxy")]
    )
    data = read_pairs(path)
    assert [pair.id for pair in data.pairs] == ["1"]
    assert "Only sheet 'pairs' was read, not notes, more" in kinds(data)["other_sheets"]
    for named in (read_pairs(f"{path}#more"), read_pairs(path, mapping=PairMapping(sheet="More"))):
        assert [pair.id for pair in named.pairs] == ["2"]
        assert "other_sheets" not in kinds(named)
    with pytest.raises(DataError, match="the sheets are 'notes', 'pairs', 'more'"):
        read_pairs(f"{path}#missing")
    assert open_files(path).sheets == ("notes", "pairs", "more")


def test_a_workbook_without_pairs_names_its_sheets(tmp_path: Path) -> None:
    book(tmp_path / "x", one=[["a", "b"], [1, 2]], two=[["c", "d"], [1, 2]])
    with pytest.raises(DataError, match="in sheet 'one'") as caught:
        read_pairs(tmp_path / "x")
    assert "--sheet NAME; the others are 'two'" in caught.value.mend


def test_a_sheet_is_only_of_workbooks(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no Excel workbook"):
        read(tmp_path / "x", lines(PAIR), sheet="pairs")


def test_dates_without_a_time_stay_dates(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    made.active.append([*HEADER, "task", "reference"])
    day = datetime.combine(date(2026, 1, 2), time())
    row = ["1", "q", date(2026, 1, 2), day.replace(hour=3, minute=4, second=5), day, day]
    made.active.append(row)
    made.active["E2"].number_format = "yyyy-mm-dd"
    made.active["F2"].number_format = "yyyy-mm-dd hh:mm"
    made.save(tmp_path / "x")
    (pair,) = read_pairs(tmp_path / "x").pairs
    assert (pair.response_a, pair.response_b) == ("2026-01-02", "2026-01-02T03:04:05")
    assert (pair.task, pair.reference) == ("2026-01-02", "2026-01-02T00:00:00")


def test_formulas_without_a_result_are_told_with_their_rows(tmp_path: Path) -> None:
    rows = [HEADER, ["1", "q", "x", "y"], ["2", "q", '=CONCAT("a","b")', "y"], ["3", "q", "x", "=1+1"]]
    book(tmp_path / "x", pairs=rows)
    message = kinds(read_pairs(tmp_path / "x"))["formulas_without_value"]
    assert "2 rows" in message
    assert "row 3, 4" in message


# Compressed files and encodings


@pytest.mark.parametrize("content", [lines(PAIR), "id,question,response_a,response_b\np1,q,x,y\n"])
def test_gzip_is_read(tmp_path: Path, content: str) -> None:
    whole = gzip.compress(content.encode())
    assert [pair.id for pair in read(tmp_path / "x.gz", whole).pairs] == ["p1"]
    assert len(read(tmp_path / "x.gz", whole + gzip.compress(b"\n")).pairs) == 1
    with pytest.raises(DataError, match="was cut"):
        read(tmp_path / "x.gz", whole[:-9])
    with pytest.raises(DataError, match="damaged"):
        read(tmp_path / "x.gz", whole[:12] + bytes([whole[12] ^ 255]) + whole[13:])


def test_other_compressions_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="bzip2"):
        read(tmp_path / "x", bz2.compress(lines(PAIR).encode()))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("content", [lines(PAIR), "id,question,response_a,response_b\np1,q,x,y\n"])
def test_the_advice_for_utf_16_without_a_mark_works(tmp_path: Path, encoding: str, content: str) -> None:
    with pytest.raises(DataError, match="byte order mark") as caught:
        read(tmp_path / "x", content.encode(encoding))
    advised = caught.value.mend.rpartition("--encoding ")[2].strip()
    assert advised == encoding
    assert len(read(tmp_path / "x", content.encode(encoding), encoding=advised).pairs) == 1


PYTHON_WORDS = ("recursion", "char ", "(b'", "None", "NoneType", "codec", "Errno", "Traceback", "object has no")


@pytest.mark.parametrize(
    "content",
    [
        '{"a": ' * 5000,
        lines(PAIR) + '{"id": ' * 5000 + "\n" + lines(PAIR),
        lines(PAIR) + '{"id": 1 "x"}\n' + lines(PAIR),
        lines(PAIR) + '{"id": "cut',
        b"id,question\na,d\xff\xfe\n",
        b"PK\x03\x04 and no more",
        lines({**PAIR, "response_a": {"x": None, "y": True}}),
        lines({**PAIR, "human": [None]}),
    ],
)
def test_no_message_speaks_python(tmp_path: Path, content: Any) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path / "x", content)
    assert not [word for word in PYTHON_WORDS if word in str(caught.value)], str(caught.value)


def test_a_damaged_workbook_does_not_speak_python(tmp_path: Path) -> None:
    book(tmp_path / "x", pairs=[HEADER, list("1qxy")])
    whole = (tmp_path / "x").read_bytes()
    made = io.BytesIO(whole.replace(b"worksheets/sheet1.xml", b"worksheets/sheet9.xml"))
    (tmp_path / "x").write_bytes(made.getvalue())
    with pytest.raises(DataError) as caught:
        read_pairs(tmp_path / "x")
    assert not [word for word in PYTHON_WORDS if word in str(caught.value)], str(caught.value)
