"""How files of pairs are read on the command line: sheets, nested fields, rows that cannot be read, limits, exports."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import openpyxl  # type: ignore[import-untyped]

from judgenet.report.run_files import write_records
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
    write_records([{"text": "a\r=1+1", "more": "x\ry"}, {"text": "-1.5\r-2", "more": "\ud83d"}], "csv", out)
    rows = list(csv.reader(io.StringIO(out.getvalue(), newline="")))
    assert rows == [["text", "more"], ["a\r'=1+1", "x\ry"], ["'-1.5\r-2", "\ufffd"]]
    assert out.getvalue().splitlines(keepends=True)[0] == "text,more\n"


def test_the_pairs_of_recorded_judgments_are_read_as_in_run(judgenet: Judgenet, tmp_path: Path) -> None:
    """``import`` takes run's options for files of pairs, tells what it left out, and keeps how it read them."""
    book = openpyxl.Workbook()
    book.active.append(HEADER)
    book.active.append(["7", "Why?", "x", "y"])
    sheet = book.create_sheet("more")
    sheet.append(HEADER)
    sheet.append(["1", "Why?", "x", "y"])
    book.save(tmp_path / "book.xlsx")
    lines, judgments = tmp_path / "pairs.jsonl", tmp_path / "judgments.jsonl"
    lines.write_text('{"id": "1", "question": "Why?", "response_a": "x", "response_b": "y"}\nbroken\n', "utf-8")
    judgments.write_text('{"pair_id": "1", "judge": "one", "order": "ab", "verdict": "a"}\n', "utf-8")
    command = ("import", judgments, "--out", tmp_path / "out", "--pairs")
    refused = judgenet(*command, lines)
    assert refused.code != 0
    assert "row 2" in refused.err
    beyond = judgenet(*command, lines, "--leave-out-bad", "--unpack-limit", "50")
    assert beyond.code != 0
    assert "--unpack-limit 200" in beyond.err
    said = judgenet(*command, lines, "--leave-out-bad")
    assert said.code == 0, said.err
    assert "1 record cannot be read and is left out (row 2:" in said.err
    assert judgenet("import", judgments, "--pairs", tmp_path / "book.xlsx", "--out", "other").code != 0
    assert judgenet(*command[:3], "sheet", "--pairs", tmp_path / "book.xlsx", "--sheet", "more").code == 0
    for place, kept in (("out", {"leave_out_bad": True}), ("sheet", {"sheet": "more"})):
        source = load_project(tmp_path / place / RUN_PROJECT).pairs
        assert source is not None
        assert source.options == kept
