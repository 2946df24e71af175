"""Markdown, LaTeX, CSV and JSON of a report: the same figures, and texts of the data that mean nothing."""

from __future__ import annotations

import csv as csv_module
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from judgenet.core.network import Role
from judgenet.core.pairs import Pair
from judgenet.report.model import Report
from judgenet.report.outline import outline
from judgenet.report.writers.csv import csv
from judgenet.report.writers.json import report_json
from judgenet.report.writers.latex import latex
from judgenet.report.writers.markdown import markdown
from tests.unit.report.runs import fixed_network, labelled_pairs, random_say, record, reported


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    pairs = labelled_pairs(40)
    say, _ = random_say(pairs)
    path = tmp_path_factory.mktemp("run") / "run.judgenet.db"
    record(path, pairs, say, fixed_network(3, 2))
    return reported(path, chosen="random")


def rows_of(report: Report) -> list[dict[str, str]]:
    return list(csv_module.DictReader(io.StringIO(csv(report), newline="")))


def test_csv_holds_every_figure_once(report: Report) -> None:
    rows = rows_of(report)
    keys = [(row["about"], row["name"], row["figure"]) for row in rows]
    assert len(set(keys)) == len(keys)
    by_key = dict(zip(keys, rows, strict=True))
    for name, figures in report.aggregations.items():
        row = by_key["aggregation", name, "accuracy"]
        assert float(row["value"]) == figures.agreement.accuracy
        assert figures.intervals.accuracy is not None
        assert (float(row["low"]), float(row["high"])) == tuple(figures.intervals.accuracy)
        assert (int(row["n_used"]), int(row["n_total"])) == figures.used
    assert float(by_key["orders", "c1", "flip_rate"]["value"]) == report.position.flip_rate
    assert int(by_key["changes", "layer 1 to 2", "to_right"]["value"]) == report.changes[0].overturns.to_right
    assert by_key["neuron", "1.2", "role"]["value"] == "Clarity"
    assert {row["name"] for row in rows if row["about"] == "role"} == {"Accuracy", "Clarity", "Safety"}
    assert by_key["task", "code, c2_all", "kappa"]["n_total"] == "14"


def test_csv_lines_end_as_the_standard_says(report: Report) -> None:
    text = csv(report)
    assert text.endswith("\r\n")
    assert "\n" not in text.replace("\r\n", "")


def test_json_is_whole_and_has_no_nan(report: Report) -> None:
    found = json.loads(report_json(report), parse_constant=pytest.fail)
    headline = found["aggregations"]["c2_all"]
    assert headline["accuracy"] == report.headline.agreement.accuracy
    assert headline["accuracy_ci"] == list(report.headline.intervals.accuracy or ())
    assert found["spec"]["name"] == "Panel"
    assert found["data"]["pairs"] == 40
    assert found["position"]["n_total"] == 40
    assert found["about"]["spent"]["calls"] == 400
    assert [neuron["role"] for neuron in found["neurons"]] == ["Accuracy", "Clarity", "Safety", "Accuracy", "Clarity"]


def test_undefined_figures_are_null_with_a_reason(tmp_path: Path) -> None:
    pairs = [Pair(f"p{i}", f"q{i}", "one", "two", human="a") for i in range(3)]
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, lambda site: (9, 1), fixed_network(1))
    found = reported(path)
    headline = json.loads(report_json(found))["aggregations"]["c2_all"]
    assert headline["kappa"] is None
    assert headline["reasons"]["kappa"] == "people and network gave one and the same class only"
    row = next(r for r in rows_of(found) if (r["about"], r["name"], r["figure"]) == ("aggregation", "c2_all", "kappa"))
    assert row["value"] == ""
    assert row["reason"] == "people and network gave one and the same class only"
    assert "kappa is undefined, people and network gave one and the same class only" in markdown(outline(found))


EVIL = (
    "=cmd|' /C calc'!A0",
    "@SUM(1)",
    "+1",
    "-x",
    "| a | b |",
    "# title",
    "[link](http://evil.example) ![image](x)",
    "*bold* _it_ `code` ~~no~~ <b>tag</b> <!-- c -->",
    "\\textbf{x} $y$ 50% & # _ ^ ~ {z}",
    "```\nfence\n```",
    "> quote\n- item\n1. one\n    code\n---\n===",
)


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Report:
    pairs = [Pair(text, text, text, text, task=text, human="a") for text in EVIL]
    path = tmp_path_factory.mktemp("run") / "run.judgenet.db"
    roles = tuple(Role(text) for text in EVIL)
    spec = fixed_network(len(EVIL), roles=roles, name=EVIL[6])
    record(path, pairs, lambda site: (1, 9), spec, evidence=lambda site: EVIL[site.pair])
    return reported(path, each=20)


def test_csv_starts_no_formula(evil: Report) -> None:
    cells = [cell for row in rows_of(evil) for cell in row.values()]
    dangerous = [
        cell for cell in cells if cell.startswith(("=", "+", "-", "@")) and not re.fullmatch(r"[+-]?[\d.e-]+", cell)
    ]
    assert dangerous == []
    assert "'=cmd|' /C calc'!A0" in cells


def test_markdown_of_the_data_is_inert(evil: Report) -> None:
    text = markdown(outline(evil))
    # No markup character of the data is left without its backslash or entity.
    assert "](http" not in text.replace("\\](", "")
    assert "<b>" not in text
    assert "<!--" not in text
    assert "```" not in text.replace("\\`", "")
    for line in text.split("\n"):
        if line.startswith("> "):
            assert not re.match(r"> *(#|>|[-+] |\d+\. |---|===| {4})", line)
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (4, 5, 6, 7, 8)
    assert "\\*bold\\*" in text
    assert "&lt;b&gt;tag" in text


def test_markdown_tables_are_whole(report: Report) -> None:
    lines = markdown(outline(report)).split("\n")
    tables = 0
    for place, line in enumerate(lines):
        if re.fullmatch(r"\|( :?-+:? \|)+", line):
            tables += 1
            columns = line.count("|") - 1
            assert len(re.findall(r"(?<!\\)\|", lines[place - 1])) == columns + 1
            after = place + 1
            while lines[after].startswith("|"):
                assert len(re.findall(r"(?<!\\)\|", lines[after])) == columns + 1
                after += 1
            assert after > place + 1
    assert tables >= 8


def test_markdown_says_the_headline(report: Report) -> None:
    text = markdown(outline(report))
    rate = report.rates.corrected.value
    assert rate is not None
    assert f"**{100 * rate:.1f} %**, 95 % interval" in text
    assert text.startswith("Report of run 1, Panel · ")
    assert "# How often is response B better than A?" in text


def test_latex_is_balanced_and_escaped(evil: Report, report: Report) -> None:
    for found in (evil, report):
        text = latex(outline(found))
        begun = re.findall(r"\\begin\{(\w+)\}", text)
        ended = re.findall(r"\\end\{(\w+)\}", text)
        assert sorted(begun) == sorted(ended)
        assert begun.count("tabular") >= 3
        bare = re.sub(r"\\[{}$&#%_]", "", text)
        assert bare.count("{") == bare.count("}")
        body = [line for line in bare.split("\n") if line and not line.startswith(("%", "\\"))]
        assert not [line for line in body if "#" in line or "%" in line]
    assert r"\textbackslash{}textbf\{x\} \$y\$ 50\% \& \# \_ \textasciicircum{} \textasciitilde{} \{z\}" in latex(
        outline(evil)
    )


def test_latex_has_the_method_and_tables_as_wide_as_the_line(report: Report) -> None:
    text = latex(outline(report))
    assert "Each pair was judged by 3 neurons" in text
    assert r"\item Zhang, X." in text
    assert text.count(r"\begin{adjustbox}{max width=\linewidth}") == text.count(r"\begin{tabular}")
    assert text.startswith("% Tables")


def test_latex_rows_have_a_cell_a_column(report: Report) -> None:
    for table in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", latex(outline(report)), re.DOTALL):
        columns, body = table
        for row in body.split("\\\\\n"):
            cells = re.sub(r"\\(top|mid|bottom)rule", "", row).strip()
            if cells:
                assert len(re.findall(r"(?<!\\)&", cells)) == len(columns) - 1


def test_lone_surrogates_can_be_written(tmp_path: Path) -> None:
    pairs = [Pair("p\ud800", "q\udfff", "one\ud800", "two", task="t\ud800", human="b")]
    path = tmp_path / "run.judgenet.db"
    record(path, pairs, lambda site: (9, 1), fixed_network(1))
    found = reported(path)
    document = outline(found)
    written: list[Any] = [markdown(document), latex(document), csv(found), report_json(found)]
    for text in written:
        text.encode("utf-8")
