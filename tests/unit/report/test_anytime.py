"""A report has the intervals that are valid at any time, and says which rule stopped the run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.figures.anytime import UntilFigures
from judgenet.report.model import Report
from judgenet.report.outline import outline
from judgenet.report.outline_anytime import until_line
from judgenet.report.writers.markdown import markdown
from judgenet.stats.anytime import UnitTally
from judgenet.stats.intervals import Interval
from tests.unit.report.runs import labelled_pairs, random_say, record, reported


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    place = tmp_path_factory.mktemp("run") / "run.judgenet.db"
    pairs = labelled_pairs(40)
    record(place, pairs, random_say(pairs)[0])
    return reported(place)


def test_both_kinds_of_interval_stand_beside_each_other(report: Report) -> None:
    assert report.anytime is not None
    found = report.anytime.aggregations[report.decides].win_rate
    by_hand = UnitTally()
    for score, count in ((1.0, report.verdicts.b), (0.5, report.verdicts.tie), (0.0, report.verdicts.a)):
        by_hand.add(1, score, count)
    assert found.ci == by_hand.interval()
    naive = report.rates.estimates["naive"].interval
    assert naive is not None
    assert found.ci is not None
    assert found.ci.low < naive.low < naive.high < found.ci.high
    text = markdown(outline(report, ("anytime",)))
    assert "## Valid at any time" in text
    ends = f"{100 * found.ci.low:.1f}"
    assert ends in text
    assert "A win rate of 50 % is not excluded at any time: e = " in text


def test_the_rule_of_the_run_is_told(report: Report) -> None:
    rule = UntilFigures(
        "c2_all excludes 50%", True, "win_rate", "c2_all", 0.7, Interval(0.53, 0.84), 23.4, 28, 28, 40, None
    )
    text = markdown(outline(replace(report, until=rule), ("anytime",)))
    assert "The run stopped itself at c2\\_all excludes 50%: after 28 pairs the win rate by" in text
    assert "e = 23.4" in text
    unmet = replace(rule, met=False, reason="the rule was not met")
    assert "".join(str(getattr(part, "text", part)) for part in until_line(unmet)).endswith("which was not met.")


def test_a_run_that_stopped_itself_says_so_first(report: Report, tmp_path: Path) -> None:
    about = replace(report.about, state="enough", message="Enough is known.")
    rule = UntilFigures("excludes 50%", False, None, None, None, None, None, None, None, None, "the rule was not met")
    text = markdown(outline(replace(report, about=about, until=rule), ()))
    assert "The run stopped when enough was known: 40 of 40 pairs are judged." in text
    assert "Intervals for one look do not allow for the stop" in text
