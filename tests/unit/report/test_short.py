"""The report on one page: what it says, that it is one page, and what its figures hold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.core.labels import Chosen
from judgenet.report.blocks import Section, Table
from judgenet.report.model import Report
from judgenet.report.short import short_document, short_figures
from judgenet.report.writers.csv import csv
from judgenet.report.writers.html import html
from judgenet.report.writers.json import report_json
from judgenet.report.writers.latex import latex
from judgenet.report.writers.markdown import markdown
from judgenet.report.writers.pdf import page_pictures
from tests.unit.report.runs import labelled_pairs, random_say, record, reported


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    place = tmp_path_factory.mktemp("run") / "run.judgenet.db"
    pairs = labelled_pairs(24)
    record(place, pairs, random_say(pairs)[0])
    return reported(place)


@pytest.fixture(scope="module")
def corrected(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A run of which labels drawn at random correct the rate."""
    place = tmp_path_factory.mktemp("run") / "run.judgenet.db"
    pairs = labelled_pairs(60)
    record(place, pairs, random_say(pairs)[0])
    chosen: Chosen = "random"
    return reported(place, chosen=chosen)


def test_it_says_what_decides_and_what_was_left_out(report: Report) -> None:
    document = short_document(report)
    titles = [block.title for block in document.blocks if isinstance(block, Section)]
    assert titles == ["Win rate of B", "Agreement with people", "Left out", "Method"]
    text = markdown(document)
    assert "No corrected win rate" in text
    # 4 of the 24 pairs have no label.
    assert "4 of 24 pairs have no human label" in text
    rate, agreement = (block for block in document.blocks if isinstance(block, Table))
    assert [row.cells[0] for row in rate.rows] == [("Corrected (stratified)",), ("Uncorrected",)]
    assert [row.cells[0] for row in agreement.rows] == [("c2*(all)",), ("Always A",)]
    method = text.partition("## Method")[2].partition("---")[0].strip()
    assert method.count(". ") + method.endswith(".") == 2


def test_the_corrected_rate_heads_it_where_there_is_one(corrected: Report) -> None:
    found = corrected.rates.corrected
    assert found.value is not None
    document = short_document(corrected)
    for text in (markdown(document), html(document)):
        assert f"{100 * found.value:.1f}" in text
    assert "corrected with" in latex(document)


def test_without_labels_it_says_that_nothing_is_known_of_agreement(tmp_path: Path) -> None:
    place = tmp_path / "run.judgenet.db"
    pairs = [replace(pair, human=None, annotators={}) for pair in labelled_pairs(12)]
    record(place, pairs, random_say(pairs)[0])
    text = markdown(short_document(reported(place)))
    assert "agreement is unknown" in text
    assert "no human labels to compare" in text


def test_it_is_one_page(report: Report, corrected: Report) -> None:
    for one in (report, corrected):
        assert len(page_pictures(short_document(one))) == 1


def test_its_figures_are_those_of_the_full_report(report: Report) -> None:
    short = short_figures(report)
    whole, part = json.loads(report_json(report)), json.loads(report_json(short))
    assert part["rates"] == whole["rates"]
    assert list(part["aggregations"]) == [report.decides]
    assert part["aggregations"][report.decides] == whole["aggregations"][report.decides]
    assert part["left_out"] == whole["left_out"]
    assert part["neurons"] == []
    lines = csv(report).splitlines()
    assert set(csv(short).splitlines()) < set(lines)
