"""How files of pairs are read on the command line: sheets, nested fields, rows that cannot be read, limits, exports."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import openpyxl  # type: ignore[import-untyped]

from judgenet.cli.export import Format, write_records
from judgenet.store.files import load_project
from judgenet.store.locate import RUN_PROJECT
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]
SMALL = ("--width", "1", "--depth", "1", "--roles", "none")
HEADER = ("id", "question", "response_a", "response_b")


def test_a_sheet_is_named_by_option_or_path_and_kept_in_the_project(
    judgenet: Judgenet, tmp_path: Path, at: At, server: JudgeServer
) -> None:
    book = openpyxl.Workbook()
    for name, ids in (("first", "1"), ("more", "23")):
        sheet = book.create_sheet(name)
        sheet.append(HEADER)
        for one in ids:
            sheet.append([one, "Why?", "x", "y"])
    book.save(tmp_path / "book.xlsx")
    path = tmp_path / "book.xlsx"
    said = judgenet("estimate", "--pairs", path, *at, *SMALL)
    assert "Only sheet 'first' was read, not more" in said.err
    for named in (("--pairs", f"{path}#more"), ("--pairs", path, "--sheet", "more")):
        out = tmp_path / "-".join(str(part)[-4:] for part in named)
        assert judgenet("run", *named, *at, *SMALL, "--out", out).code == 0
        source = load_project(out / RUN_PROJECT).pairs
        assert source is not None
        assert (source.options["sheet"], source.files[0][-9:]) == ("more", "book.xlsx")
    wrong = judgenet("estimate", "--pairs", path, "--sheet", "none", *at, *SMALL)
    assert wrong.code != 0
    assert "the sheets are 'first', 'more'" in wrong.err


def test_bad_rows_and_nested_fields(judgenet: Judgenet, tmp_path: Path, at: At, server: JudgeServer) -> None:
    path = tmp_path / "pairs.jsonl"
    good = {"id": "1", "data": {"ask": "Why?", "one": "x", "two": "y"}}
    path.write_text(f"{json.dumps(good)}\nbroken\n{json.dumps({**good, 'id': '3'})}\n", encoding="utf-8")
    mapped = ("--map", "question=data.ask,response_a=data.one,response_b=data.two")
    refused = judgenet("estimate", "--pairs", path, *mapped, *at, *SMALL)
    assert refused.code != 0
    assert "row 2" in refused.err
    said = judgenet("estimate", "--pairs", path, *mapped, "--leave-out-bad", *at, *SMALL)
    assert said.code == 0
    assert "1 record cannot be read and is left out (row 2:" in said.err
    beyond = judgenet("estimate", "--pairs", path, *mapped, "--unpack-limit", "50", *at, *SMALL)
    assert beyond.code != 0
    assert "--unpack-limit 200" in beyond.err


def test_csv_quotes_bare_carriage_returns_and_guards_formulas_behind_them() -> None:
    out = io.StringIO(newline="")
    write_records([{"text": "a\r=1+1", "more": "x\ry"}, {"text": "-1.5\r-2", "more": "\ud83d"}], Format.CSV, out)
    rows = list(csv.reader(io.StringIO(out.getvalue(), newline="")))
    assert rows == [["text", "more"], ["a\r'=1+1", "x\ry"], ["'-1.5\r-2", "\ufffd"]]
    assert out.getvalue().splitlines(keepends=True)[0] == "text,more\n"
