"""What is written is read back exactly, in every format."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import openpyxl
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgenet.core.pairs import VERDICTS, Pair, data_hash
from judgenet.formats import DataError, PairFormat, read_pairs, write_pairs

AWKWARD = (
    "",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\t x \t",
    "NA",
    "null",
    "None",
    "nan",
    "true",
    "007",
    "1.0",
    "=1+1",
    "#N/A",
    "@x",
    "'=1",
    '"',
    '""',
    'a"b,c;d\te',
    "_x0041_x0042_",
    "_x005F_",
    "\x00\x07\x1f\x7f",
    "\u2028\u2029\x85\ufeff\ufffe\uffff",
    "[1]",
    "{}",
    '{"a": 1}',
    "&lt;<b>&amp;</b>",
    "עברית العربية 中文 😀\u200d",
)


def pairs_of(text: st.SearchStrategy[str]) -> st.SearchStrategy[list[Pair]]:
    some = st.one_of(st.none(), text.filter(bool))
    verdict = st.sampled_from(VERDICTS)
    pair = st.builds(
        Pair,
        id=text.filter(bool),
        question=text,
        response_a=text,
        response_b=text,
        reference=some,
        model_a=some,
        model_b=some,
        task=some,
        tags=st.lists(text, max_size=3).map(tuple),
        human=st.one_of(st.none(), verdict),
        annotators=st.dictionaries(text, verdict, max_size=3).map(lambda found: tuple(found.items())),
    )
    return st.lists(pair, min_size=1, max_size=4, unique_by=lambda one: one.id)


characters = st.characters(exclude_categories=["Cs"])
plain = st.one_of(st.sampled_from(AWKWARD), st.text(characters, max_size=12))
wild = st.one_of(st.sampled_from([*AWKWARD, "\ud800", "a\udfffb"]), st.text(st.characters(), max_size=12))
lightly = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("format", get_args(PairFormat))
@lightly
@given(pairs=pairs_of(plain))
def test_round_trip(tmp_path: Path, format: PairFormat, pairs: list[Pair]) -> None:
    write_pairs(pairs, tmp_path / "pairs", format)
    again = read_pairs(tmp_path / "pairs")
    assert list(again.pairs) == pairs
    assert again.format == "normal"
    assert data_hash(again.pairs) == data_hash(pairs)


@pytest.mark.parametrize("format", ["jsonl", "json", "xlsx"])
@lightly
@given(pairs=pairs_of(wild))
def test_round_trip_with_lone_surrogates(tmp_path: Path, format: PairFormat, pairs: list[Pair]) -> None:
    write_pairs(pairs, tmp_path / "pairs", format)
    assert list(read_pairs(tmp_path / "pairs").pairs) == pairs


PAIR = Pair("1", "q", "x", "y")


@pytest.mark.parametrize("format", get_args(PairFormat))
def test_long_texts_and_many_pairs(tmp_path: Path, format: PairFormat) -> None:
    pairs = [replace(PAIR, id=f"{n:05d}", response_a="long text, " * 1800) for n in range(120)]
    write_pairs(pairs, tmp_path / "pairs", format)
    assert list(read_pairs(tmp_path / "pairs").pairs) == pairs


@pytest.mark.data
@pytest.mark.parametrize("format", get_args(PairFormat))
@pytest.mark.parametrize("name", ["llmeval2", "pandalm", "autoj", "judgebench"])
def test_real_sets(shared_data: Path, tmp_path: Path, format: PairFormat, name: str) -> None:
    pairs = read_pairs(shared_data / name / "pairs.jsonl").pairs
    write_pairs(pairs, tmp_path / "pairs", format)
    assert read_pairs(tmp_path / "pairs").pairs == pairs


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet"])
def test_a_lone_surrogate_is_refused_or_replaced(tmp_path: Path, format: PairFormat) -> None:
    pairs = [PAIR, replace(PAIR, id="2", response_b="\ud800", tags=("\udc00",), annotators=(("\ud801", "a"),))]
    with pytest.raises(DataError, match="Pair '2' holds a lone surrogate") as caught:
        write_pairs(pairs, tmp_path / "pairs", format)
    assert caught.value.column == "response_b"
    assert list(tmp_path.iterdir()) == []
    write_pairs(pairs, tmp_path / "pairs", format, replace_surrogates=True)
    replaced = replace(pairs[1], response_b="\ufffd", tags=("\ufffd",), annotators=(("\ufffd", "a"),))
    assert list(read_pairs(tmp_path / "pairs").pairs) == [PAIR, replaced]


def test_a_text_that_excel_cannot_hold(tmp_path: Path) -> None:
    write_pairs([replace(PAIR, question="x" * 32_767)], tmp_path / "pairs", "xlsx")
    with pytest.raises(DataError, match="32,767 characters") as caught:
        write_pairs([replace(PAIR, question="x" * 32_768)], tmp_path / "pairs", "xlsx")
    assert caught.value.column == "question"
    assert len(read_pairs(tmp_path / "pairs").pairs[0].question) == 32_767
    assert [path.name for path in tmp_path.iterdir()] == ["pairs"]


@pytest.mark.parametrize("ids", [("1", "1"), ("1", "")])
def test_ids_that_could_not_be_read_back(tmp_path: Path, ids: tuple[str, ...]) -> None:
    with pytest.raises(DataError, match="unique and not empty"):
        write_pairs([replace(PAIR, id=one) for one in ids], tmp_path / "pairs", "jsonl")


@pytest.mark.parametrize("format", get_args(PairFormat))
def test_no_label_with_annotators_stays_no_label(tmp_path: Path, format: PairFormat) -> None:
    pair = replace(PAIR, annotators=(("x", "a"),))
    write_pairs([pair], tmp_path / "pairs", format)
    again = read_pairs(tmp_path / "pairs")
    assert again.pairs == (pair,)
    assert next(note for note in again.notes if note.kind == "left_out_labels").count == 1


def test_json_lines_can_be_read_by_programs_that_split_at_other_marks(tmp_path: Path) -> None:
    write_pairs([replace(PAIR, question="a\u2028b\x85c", response_a="中")], tmp_path / "pairs", "jsonl")
    assert len((tmp_path / "pairs").read_text("utf-8").splitlines()) == 1
    write_pairs([replace(PAIR, response_a="中")], tmp_path / "pairs", "jsonl")
    assert "中" in (tmp_path / "pairs").read_text("utf-8")


def test_other_programs_read_the_same(tmp_path: Path) -> None:
    pair = Pair("007", "NA", "a\nb", "=1", tags=("x",), human="a", annotators=(("ann", "a"),))
    for format in get_args(PairFormat):
        write_pairs([pair], tmp_path / f"x.{format}", format)
    keep: dict[str, Any] = {"dtype": str, "keep_default_na": False}
    frames = [
        pd.read_csv(tmp_path / "x.csv", **keep),
        pd.read_csv(tmp_path / "x.tsv", sep="\t", **keep),
        pd.read_parquet(tmp_path / "x.parquet"),
        pd.read_excel(tmp_path / "x.xlsx", **keep),
    ]
    for frame in frames:
        assert frame[["id", "question", "response_a", "response_b", "human"]].values.tolist() == [
            ["007", "NA", "a\nb", "=1", "a"]
        ]
    with open(tmp_path / "x.csv", newline="", encoding="utf-8") as file:
        assert json.loads(next(csv.DictReader(file))["annotators"]) == {"ann": "a"}
    cell = openpyxl.load_workbook(tmp_path / "x.xlsx").active["D2"]
    assert (cell.value, cell.data_type) == ("=1", "s")


def test_formulas_are_guarded_only_when_asked_for(tmp_path: Path) -> None:
    pair = replace(PAIR, response_a="=HYPERLINK()", response_b="-1.5")
    write_pairs([pair], tmp_path / "pairs", "csv", guard_formulas=True)
    guarded = read_pairs(tmp_path / "pairs").pairs[0]
    assert (guarded.response_a, guarded.response_b) == ("'=HYPERLINK()", "-1.5")
    write_pairs([pair], tmp_path / "pairs", "csv")
    assert read_pairs(tmp_path / "pairs").pairs == (pair,)
