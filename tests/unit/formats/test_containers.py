"""What files do to texts: every quirk of containers and encodings that a reader has to survive."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any, get_args

import openpyxl
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgenet.core.pairs import Pair
from judgenet.formats import DataError, PairFormat, PairMapping, preview, read_pairs, write_pairs

RECORD = {"id": "1", "question": "q", "response_a": "x", "response_b": "y", "human": "a"}
LINE = json.dumps(RECORD)


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Reads pairs from contents, under a name that says nothing."""

    def read_content(content: str | bytes, name: str = "data", **mapping: Any) -> tuple[Pair, ...]:
        path = tmp_path / name
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return read_pairs(path, mapping=PairMapping(**mapping) if mapping else None).pairs

    return read_content


def other(**changes: Any) -> str:
    return json.dumps({**RECORD, "id": "2", **changes})


def rows(pairs: tuple[Pair, ...]) -> list[int]:
    return [pair.source.row for pair in pairs if pair.source]


# --- JSON ---


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.json", "pairs.csv", "pairs"])
def test_json_lines_whatever_the_suffix(read: Any, name: str) -> None:
    pairs = read(f"{LINE}\n{other()}", name)
    assert [pair.id for pair in pairs] == ["1", "2"]
    assert rows(pairs) == [1, 2]


@pytest.mark.parametrize("indent", [None, 2])
def test_json_list(read: Any, indent: int | None) -> None:
    pairs = read(json.dumps([RECORD, json.loads(other())], indent=indent), "pairs.jsonl")
    assert [pair.id for pair in pairs] == ["1", "2"]
    assert rows(pairs) == [1, 2]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_inside_an_object(read: Any, indent: int | None) -> None:
    assert len(read(json.dumps({"version": 1, "data": [RECORD, json.loads(other())]}, indent=indent))) == 2


def test_one_object_over_many_lines(read: Any) -> None:
    assert read(json.dumps(RECORD, indent=1))[0].question == "q"


def test_blank_lines_are_passed_over_and_rows_stay_lines(read: Any, tmp_path: Path) -> None:
    assert rows(read(f"{LINE}\n\n  \n{other()}\n\n")) == [1, 4]
    assert any(note.kind == "blank_lines" for note in read_pairs(tmp_path / "data").notes)


def test_a_carriage_return_before_the_line_feed(read: Any) -> None:
    assert rows(read(f"{LINE}\r\n{other()}\r\n")) == [1, 2]


@pytest.mark.parametrize(
    "mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e", "\r", "\t", "\x00", "\x07"]
)
def test_only_a_line_feed_ends_a_line(read: Any, mark: str) -> None:
    raw = f'{{"id": "1", "question": "a{mark}b", "response_a": "{mark}", "response_b": "y"}}\n{other()}'
    pairs = read(raw)
    assert (pairs[0].question, pairs[0].response_a) == (f"a{mark}b", mark)
    assert len(pairs) == 2


def test_texts_stay_as_they_are(read: Any) -> None:
    texts = [
        " \n x \t",
        "",
        "NA",
        "null",
        "None",
        "nan",
        "true",
        "007",
        "1e5",
        "\ufeff",
        "a\r\nb\rc",
        "\u200b",
        "😀\u200d",
    ]
    pairs = read("\n".join(other(id=str(n), question=text, response_a=text) for n, text in enumerate(texts)))
    assert [pair.question for pair in pairs] == texts
    assert [pair.response_a for pair in pairs] == texts


def test_lone_surrogates(read: Any) -> None:
    (pair,) = read('{"question": "\\ud83d", "response_a": "\\udc00x", "response_b": "\\ud83d\\ude00"}')
    assert (pair.question, pair.response_a, pair.response_b) == ("\ud83d", "\udc00x", "😀")
    assert len(pair.content_hash) == 64


def test_long_texts(read: Any) -> None:
    text = "長い文章 " * 20_000
    assert read(other(response_a=text))[0].response_a == text


def test_true_and_numbers_become_texts(read: Any) -> None:
    (pair,) = read(other(question=3, response_a=True, response_b=False, id=7))
    assert (pair.id, pair.question, pair.response_a, pair.response_b) == ("7", "3", "True", "False")


def test_null_is_empty_and_said(read: Any, tmp_path: Path) -> None:
    pairs = read(f'{other(response_b=None)}\n{{"id": "3", "question": NaN, "response_a": "", "response_b": "y"}}')
    assert (pairs[0].response_b, pairs[1].question) == ("", "")
    note = next(note for note in read_pairs(tmp_path / "data").notes if note.kind == "null_text")
    assert note.ids == ("2", "3")


def test_a_missing_key_is_an_error(read: Any) -> None:
    with pytest.raises(DataError, match="no 'response_b'") as caught:
        read(f'{LINE}\n\n{{"id": "2", "question": "q", "response_a": "x"}}')
    assert (caught.value.row, caught.value.column) == (3, "response_b")


def test_chat_messages_are_texts(read: Any) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    (pair,) = read(other(question=[talk[0]], response_a=talk))
    assert (pair.question, pair.response_a) == ("hi", "user: hi\n\nassistant: hello")


@pytest.mark.parametrize("value", [{"text": "x"}, ["x"], [[]], []])
def test_other_structures_are_no_texts(read: Any, value: Any) -> None:
    with pytest.raises(DataError, match="A text is expected") as caught:
        read(f"{LINE}\n{other(response_a=value)}")
    assert (caught.value.row, caught.value.column) == (2, "response_a")


@pytest.mark.parametrize(
    ("content", "row", "problem"),
    [
        (f"{LINE}\n{other()[:40]}", 2, "ends in the middle of a record"),
        (f"{LINE}\n{other()[:40]}\n\n", 2, "ends in the middle of a record"),
        (f'{LINE}\n{{"id": 2,}}\n{LINE}', 2, "not valid JSON"),
        (f"{LINE[:40]}\n{other()}", 1, "not valid JSON"),
        (f"{LINE}\n[1]\n", 2, "a list, not an object"),
        (f"[{LINE},\n{other()[:30]}", 2, "cut on line 2: 1 records are whole"),
        (f"[\n{LINE},\n{other()}\n", 3, "cut on line 3: 2 records are whole"),
        (f"[\n{LINE},\n{other()},\n", 3, "cut on line 3: 2 records are whole"),
        (f'[{LINE},\n{{"id": 2 "x": 3}},\n{LINE}]', 2, "Line 2"),
        (f"[{LINE}]\n[{other()}]", 2, "Line 2"),
        (f"[{LINE},\n3]", 2, "the value 3, not an object"),
        ('{"a": ' * 5000, None, "nested too deep"),
        (f"[{'9' * 5000}]", None, "a number has too many digits"),
        ("[]", None, "no pairs"),
    ],
)
def test_broken_json_names_the_place(read: Any, tmp_path: Path, content: str, row: int | None, problem: str) -> None:
    with pytest.raises(DataError, match=problem) as caught:
        read(content)
    assert caught.value.row == row
    assert caught.value.file == str(tmp_path / "data")
    assert caught.value.mend
    assert caught.value.mend in str(caught.value)


# --- encodings ---


@pytest.mark.parametrize("text", [LINE, f"[{LINE}]", "id,question,response_a,response_b\n1,q,x,y"])
def test_a_byte_order_mark_is_no_part_of_the_text(read: Any, text: str) -> None:
    assert read(b"\xef\xbb\xbf" + text.encode())[0].id == "1"


def test_byte_order_marks_of_joined_files(read: Any) -> None:
    assert len(read(f"\ufeff{LINE}\n\ufeff{other()}")) == 2


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_marked_encodings_are_read_and_told(read: Any, tmp_path: Path, encoding: str) -> None:
    assert read(other(question="é語").encode().decode().encode(encoding))[0].question == "é語"
    assert encoding in next(note for note in read_pairs(tmp_path / "data").notes if note.kind == "encoding").message


def test_utf16_without_a_mark(read: Any) -> None:
    with pytest.raises(DataError, match="without a byte order mark"):
        read(LINE.encode("utf-16-le"))
    assert read(LINE.encode("utf-16-le"), encoding="utf-16-le")[0].question == "q"


@pytest.mark.parametrize(
    "content",
    [
        f"{LINE}\n{other(question='?')}".replace("?", "café"),
        f"[{LINE},\n{other(question='?')}]".replace("?", "café"),
        "question,response_a,response_b\ncafé,x,y",
        "question\tresponse_a\tresponse_b\ncafé\tx\ty",
    ],
)
def test_another_encoding_is_an_error_with_line_and_mend(read: Any, content: str) -> None:
    with pytest.raises(DataError, match="0xe9 is not UTF-8") as caught:
        read(content.encode("cp1252"))
    assert caught.value.row == 2
    assert "cp1252" in caught.value.mend
    assert "'é'" in caught.value.mend
    assert read(content.encode("cp1252"), encoding="cp1252")[-1].question == "café"


def test_encodings_that_do_not_fit_or_exist(read: Any) -> None:
    with pytest.raises(DataError, match="does not fit the encoding ascii"):
        read("question,response_a,response_b\né,x,y", encoding="ascii")
    with pytest.raises(DataError, match="no encoding 'klingon'"):
        read(LINE, encoding="klingon")


# --- CSV and TSV ---


def table(*lines: str) -> str:
    return "\n".join(("id,question,response_a,response_b,human", *lines))


def test_cells_are_texts(read: Any) -> None:
    pairs = read(table('007,NA,null,"",a', "1.0, x ,None,nan,b", "1e5,true,#N/A,-1,"))
    assert [pair.id for pair in pairs] == ["007", "1.0", "1e5"]
    assert [pair.question for pair in pairs] == ["NA", " x ", "true"]
    assert [pair.response_a for pair in pairs] == ["null", "None", "#N/A"]
    assert [pair.response_b for pair in pairs] == ["", "nan", "-1"]
    assert [pair.human for pair in pairs] == ["a", "b", None]


@pytest.mark.parametrize("tail", ["", "\n", "\n\n", "\n,,,,\n"])
def test_quoted_line_ends_quotes_and_delimiters(read: Any, tail: str) -> None:
    pairs = read(table('1,"a\nb\r\nc\rd","say ""x"", y",u\u2028v,tie', "2,q,x,y,a") + tail)
    assert (pairs[0].question, pairs[0].response_a, pairs[0].response_b) == ("a\nb\r\nc\rd", 'say "x", y', "u\u2028v")
    assert rows(pairs) == [2, 3]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(read: Any, end: str) -> None:
    assert [pair.human for pair in read(table("1,q,x,y,a", "2,q,x,z,b").replace("\n", end))] == ["a", "b"]


@pytest.mark.parametrize("delimiter", ["\t", ";", "|"])
def test_delimiters_are_told_by_the_header(read: Any, delimiter: str) -> None:
    (pair,) = read(table('1,"q;|\t",x,y,a').replace(",", delimiter))
    assert pair.question == "q;|\t"


def test_tsv_under_the_name_of_csv(read: Any, tmp_path: Path) -> None:
    read("question\tresponse_a\tresponse_b\na,b\tx\ty", "pairs.csv")
    assert preview(tmp_path / "pairs.csv").format == "normal"


def test_very_long_cells_and_control_characters(read: Any) -> None:
    text = "\x00\x07" + "x" * 200_000
    assert read(table(f"1,q,{text},y,a"))[0].response_a == text
    assert read(table(f"1,q,{text},y,a", ""))[0].response_a == text


def test_a_literal_quote_in_a_cell(read: Any) -> None:
    assert read(table('1,5" tape,x,y,a'))[0].question == '5" tape'


def test_rows_that_end_early(read: Any, tmp_path: Path) -> None:
    pairs = read(table("1,q,x,y", "2,q,x,z,b"))
    assert [pair.human for pair in pairs] == [None, "b"]
    assert any(note.kind == "short_rows" for note in read_pairs(tmp_path / "data").notes)


@pytest.mark.parametrize(
    ("content", "row", "problem"),
    [
        (table("1,q,x,y,a", "2,q,x"), 3, "no 'response_b'"),
        (table("1,q,x,y,a", "2,q,x,y,z,a"), 3, "has 6 cells, the header 5"),
        (table("1,q,x,y,a", '2,"q,x,y,a', "3,q,x,y,a"), 3, "never ends"),
        (table('1,"q"z,x,y,a'), 2, "ends in the middle of a cell"),
        ("question,response_a,response_b,question\nq,x,y,z", 1, "same name: question"),
        (table(), None, "no pairs"),
        ("just a text\nwithout columns", None, "neither JSON nor a table"),
        ("", None, "no pairs"),
        (" \n\n", None, "no pairs"),
    ],
)
def test_tables_that_cannot_be_right(read: Any, content: str, row: int | None, problem: str) -> None:
    with pytest.raises(DataError, match=problem) as caught:
        read(content)
    assert caught.value.row == row


def test_the_two_ways_of_reading_csv_agree(read: Any) -> None:
    """The careful way is taken for odd files; the same cells must come out."""
    texts = ["", " ", '"', '""', 'a"b', ",", "\n", "\r\n", "\r", "\x00", "\u2028", "=1", "'", "a\nb,c", "é\ufeff"]
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["id", "question", "response_a", "response_b"])
    writer.writerows([str(n), text, texts[n - 1], f"x{text}y"] for n, text in enumerate(texts))
    regular = read(out.getvalue())
    careful = read("\r\n" + out.getvalue() + "\r\n")
    assert [pair.question for pair in regular] == texts
    assert regular == careful
    assert rows(regular) == [n + 2 for n in range(len(texts))]
    assert rows(careful) == [n + 3 for n in range(len(texts))]


# --- Parquet, XLSX, zip ---


def test_parquet_of_pandas(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "id": [1.0, 2.0],
            "question": ["NA", "a\rb\x00"],
            "response_a": ["", None],
            "response_b": ["x", "y"],
            "human": ["a", None],
            "annotators": [{"ann": "a", "bob": None}, {"ann": None, "bob": "tie"}],
            "tags": [["t"], []],
        }
    )
    frame.to_parquet(tmp_path / "data.csv")
    pairs = read_pairs(tmp_path / "data.csv").pairs
    assert [pair.id for pair in pairs] == ["1", "2"]
    assert [pair.question for pair in pairs] == ["NA", "a\rb\x00"]
    assert [pair.response_a for pair in pairs] == ["", ""]
    # A null label beside annotators is theirs.
    assert [pair.human for pair in pairs] == ["a", "tie"]
    assert [pair.annotators for pair in pairs] == [(("ann", "a"),), (("bob", "tie"),)]
    assert [pair.tags for pair in pairs] == [("t",), ()]


def workbook(path: Path, *cells: list[Any]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    for row in cells:
        book.active.append(row)
    book.save(path)
    return book


def test_xlsx_cells(tmp_path: Path) -> None:
    header = ["id", "question", "response_a", "response_b", "human"]
    book = workbook(tmp_path / "x", header, ["007", "NA", True, 3, "A"], [], [8, "null", None, 2.5, None])
    book.active["A4"].number_format = "000"
    book.active["B2"] = "a_x000D_b"
    book.save(tmp_path / "x")
    pairs = read_pairs(tmp_path / "x").pairs
    assert [pair.id for pair in pairs] == ["007", "008"]
    assert [pair.question for pair in pairs] == ["a\rb", "null"]
    assert [pair.response_a for pair in pairs] == ["True", ""]
    assert [pair.response_b for pair in pairs] == ["3", "2.5"]
    assert [pair.human for pair in pairs] == ["a", None]
    assert rows(pairs) == [2, 4]


def test_xlsx_reads_the_first_sheet_and_says_so(tmp_path: Path) -> None:
    book = workbook(tmp_path / "x", ["question", "response_a", "response_b"], ["q", "x", "y"])
    book.create_sheet("more").append(["something"])
    book.save(tmp_path / "x")
    data = read_pairs(tmp_path / "x")
    assert len(data.pairs) == 1
    assert "more" in next(note for note in data.notes if note.kind == "other_sheets").message


def test_xlsx_errors(tmp_path: Path) -> None:
    workbook(tmp_path / "x", ["question", "response_a", "response_b"], ["q", "x", "y", "z"])
    with pytest.raises(DataError, match="beyond the last named column") as caught:
        read_pairs(tmp_path / "x")
    assert caught.value.row == 2
    workbook(tmp_path / "empty")
    with pytest.raises(DataError, match="empty"):
        read_pairs(tmp_path / "empty")


def test_zip_archives_without_the_resource_forks(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x", "w") as archive:
        archive.writestr("set/", "")
        archive.writestr("set/pairs.json", LINE)
        archive.writestr("__MACOSX/set/._pairs.json", b"\x00\x05\x16\x07")
        archive.writestr("set/.DS_Store", b"\x00")
    data = read_pairs(tmp_path / "x")
    assert [pair.id for pair in data.pairs] == ["1"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"PK\x03\x04 and no more", "archive cannot be read"),
        (b"PAR1 and no more", "Parquet file cannot be read"),
        (b"\x1f\x8b\x08", "compressed file was cut"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Excel"),
        (b"%PDF-1.7", "PDF"),
    ],
)
def test_files_of_other_kinds(read: Any, content: bytes, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        read(content)


@pytest.mark.parametrize("format", get_args(PairFormat))
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1, exclude_max=True), damage=st.binary(max_size=4), cut=st.booleans())
def test_damaged_files_are_read_or_refused_but_nothing_else(
    tmp_path: Path, format: PairFormat, place: float, damage: bytes, cut: bool
) -> None:
    path = tmp_path / "data"
    write_pairs([Pair(str(n), 'a "b"\n', "x, y", "é", tags=("t",), human="a") for n in range(3)], path, format)
    data = path.read_bytes()
    at = int(place * len(data))
    path.write_bytes(data[:at] + damage + (b"" if cut else data[at + len(damage) :]))
    refused: DataError | None = None
    pairs: tuple[Pair, ...] = ()
    try:
        pairs = read_pairs(path).pairs
    except DataError as error:
        refused = error
    if refused is None:
        assert pairs
    else:
        # A damaged workbook can look like a zip: the error then names the member too.
        assert str(refused.file).startswith(str(path))
        assert refused.problem
        assert refused.mend


# --- paths, several files, folders ---


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_pairs(tmp_path / "absent.jsonl")
    with pytest.raises(DataError, match="No file was given"):
        read_pairs([])


def test_several_files_are_one_data_set(tmp_path: Path) -> None:
    (tmp_path / "1").write_text('{"question": "q", "response_a": "x", "response_b": "y"}')
    (tmp_path / "2").write_text("question,response_a,response_b,human\nq,x,y,tie\n")
    data = read_pairs([tmp_path / "1", tmp_path / "2"])
    assert [pair.id for pair in data.pairs] == ["row-1", "row-2"]
    assert [pair.source.file for pair in data.pairs if pair.source] == ["1", "2"]
    assert [file.path for file in data.files] == [str(tmp_path / "1"), str(tmp_path / "2")]
    assert data.files[0].size == 55
    assert len(data.files[0].sha256) == 64


@pytest.mark.parametrize("second", ["1", "2"])
def test_an_id_that_occurs_twice_names_both_places(tmp_path: Path, second: str) -> None:
    (tmp_path / "1").write_text(f"{LINE}\n{other()}\n{LINE if second == '1' else ''}")
    (tmp_path / "2").write_text(LINE)
    with pytest.raises(DataError, match=r"id '1' is there already, in .*1, row 1\.") as caught:
        read_pairs([tmp_path / "1", tmp_path / "2"])
    assert caught.value.file == str(tmp_path / second)
    assert caught.value.row == (3 if second == "1" else 1)
    assert caught.value.column == "id"


def test_a_folder_with_one_file_of_pairs(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Pairs, and more\n")
    (tmp_path / "notes.bin").write_bytes(b"\xff\xfe\xff")
    (tmp_path / "pairs.jsonl").write_text(LINE)
    assert len(read_pairs(tmp_path).pairs) == 1
    (tmp_path / "pairs.jsonl").unlink()
    with pytest.raises(DataError, match="0 files with pairs"):
        read_pairs(tmp_path)
