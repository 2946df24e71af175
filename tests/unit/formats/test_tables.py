"""Cells that no spreadsheet runs, and files that are whole."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pyarrow.parquet as parquet  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgenet.formats import csv_text, guard_cell
from judgenet.formats.tables import ListForm, whole_file, write_parquet


@pytest.mark.parametrize(
    "text", ["=1+1", "+SUM(A1)", "-2+3", "@cmd", "\t=1", "\r=1", "=", "-", "+49 170", "-1.5.2", "-1e", "-1\n"]
)
def test_texts_that_begin_like_a_formula(text: str) -> None:
    assert guard_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "text", " =1", "'=1", "a=b", "-1", "+2", "-1.5", "-1.5e-07", "1", "0.5", "中"])
def test_other_texts_and_plain_numbers(text: str) -> None:
    assert guard_cell(text) == text


@given(st.text(max_size=8))
def test_a_guarded_text_never_begins_a_formula_and_keeps_what_it_said(text: str) -> None:
    guarded = guard_cell(text)
    assert guarded.removeprefix("'") == text.removeprefix("'") or guarded == text
    try:
        float(guarded)
    except ValueError:
        assert not guarded.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_csv_leaves_numbers_alone() -> None:
    text = csv_text(["name", "value"], [["=x", -1.5], ["-3", -3], [None, None], ["a\r\nb", 0]])
    assert text == 'name,value\r\n\'=x,-1.5\r\n-3,-3\r\n,\r\n"a\r\nb",0\r\n'
    assert list(csv.reader(io.StringIO(text, newline="")))[4] == ["a\r\nb", "0"]
    assert csv_text(["name"], [["=x"]], guard_formulas=False) == "name\r\n=x\r\n"


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("before")

    def fail() -> None:
        with whole_file(path) as draft:
            draft.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "before"
    with whole_file(path) as draft:
        draft.write_text("after")
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [("x", "after")]


def test_columns_of_lists_are_lists_in_parquet_where_all_their_values_are(tmp_path: Path) -> None:
    said = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "half \ud83d"}]}]
    rows = [{"prompt": said, "images": ["1.png"], "mixed": ["x"]}, {"prompt": said, "images": [], "mixed": "y"}]
    lists: dict[str, ListForm] = {"prompt": "messages", "images": "texts", "mixed": "texts"}
    assert write_parquet(lambda: iter(rows), tmp_path / "rows.parquet", lists) == 2
    first, second = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
    content = [{"type": "image", "text": None}, {"type": "text", "text": "half \ufffd"}]
    assert first == {"prompt": [{"role": "user", "content": content}], "images": ["1.png"], "mixed": '["x"]'}
    assert (second["images"], second["mixed"]) == ([], "y")
