"""A report has the parts that were asked for, says which rules it counts votes by, and gives its pictures by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgenet.core.network import Aggregation
from judgenet.report.blocks import Notice, Section, drawings
from judgenet.report.model import Report
from judgenet.report.outline import PART_TITLES, PARTS, outline, rules_line
from judgenet.report.writers.markdown import markdown
from tests.unit.report.runs import labelled_pairs, random_say, record, reported


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("run") / "run.judgenet.db"
    pairs = labelled_pairs(24)
    record(place, pairs, random_say(pairs)[0])
    return place


@pytest.fixture(scope="module")
def report(place: Path) -> Report:
    return reported(place)


def sections(report: Report, *parts: str) -> list[str]:
    return [block.title for block in outline(report, parts).blocks if isinstance(block, Section)]  # type: ignore[arg-type]


def test_the_head_is_always_there_and_parts_follow_in_their_order(report: Report) -> None:
    assert sections(report) == []
    assert "95 % interval" in markdown(outline(report, ()))
    assert sections(report, "method", "agreement") == [
        "Agreement with people",
        "Where they differ",
        "Method",
        "Left out",
        "Sources",
    ]
    assert sections(report, *PARTS) == [block.title for block in outline(report).blocks if isinstance(block, Section)]
    assert list(PART_TITLES) == list(PARTS)


def test_each_part_writes_something_that_no_other_writes(report: Report) -> None:
    whole = sections(report, *PARTS)
    apart = [title for part in PARTS for title in sections(report, part)]
    assert apart == whole


def test_other_rules_than_the_runs_own_are_told_before_any_figure(place: Path, report: Report) -> None:
    assert rules_line(report) == ()
    other = reported(place, rules=Aggregation(vote="call", ties="candidate", fallback="c1"))
    first = outline(other).blocks[0]
    assert isinstance(first, Notice)
    text = markdown(outline(other, ()))
    assert "other rules than the run recorded" in text
    assert "each call has one vote, a tie is a candidate, equal votes are decided by the average" in text
    assert "The run recorded: a neuron, its orders merged, has one vote, tied voters abstain" in text
    assert "in a vote each call has one vote" in markdown(outline(other, ("method",)))


def test_pictures_are_named_by_their_section(report: Report) -> None:
    names = [name for name, _ in drawings(outline(report))]
    assert names[:2] == ["Figures", "What was run"]
    assert {"Where they differ", "Does the order matter?", "What layer 2 changed"} <= set(names)
