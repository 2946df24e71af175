"""A report says which verdicts were accepted, which pairs are for people, and what could be promised."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import binom

from judgenet.core.network import AcceptanceRule, Aggregation
from judgenet.core.pairs import Pair
from judgenet.report.model import Report
from judgenet.report.outline import outline
from judgenet.report.selection import OfLeftOut, selected
from judgenet.report.writers.markdown import markdown
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.runs import run_info
from tests.unit.report.runs import fixed_network, record, reported


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty pairs that people all call A, and three neurons: on every third pair one of them says B; on p0 no call can
    be read."""
    place = tmp_path_factory.mktemp("run") / "run.judgenet.db"
    pairs = [Pair(f"p{i}", f"question {i}", "So.", "No.", human="a") for i in range(60)]
    rule = AcceptanceRule("c2_all", "neurons", 0.9, 0.1, 0.05, labels=40, run="run-7")
    spec = replace(fixed_network(3), aggregation=Aggregation(acceptance=rule))
    record(
        place,
        pairs,
        lambda site: None if site.pair == 0 else (2.0, 5.0) if site.neuron == 1 and site.pair % 3 == 0 else (5.0, 2.0),
        spec,
    )
    return place


@pytest.fixture(scope="module")
def report(place: Path) -> Report:
    return reported(place)


def test_the_section_says_what_was_decided_and_by_which_rule(report: Report) -> None:
    assert report.decides == "accepted"
    found = report.acceptance
    assert found is not None
    assert (found.accepted, found.for_people, found.no_verdict, found.n_total) == (40, 19, 1, 60)
    text = markdown(outline(report, ("guarantee",)))
    assert "## Verdicts with a guarantee" in text
    assert "Decided: 40 of 60 pairs; 19 for people (19 of them labelled), 1 without a verdict." in text
    assert "labels of run-7, at most 10 % of them are wrong" in text


def test_the_table_holds_what_could_be_promised(report: Report) -> None:
    """All 59 verdicts of c2_all are right: at .05 58 labels do not do, 59 do."""
    text = markdown(outline(report, ("guarantee",)))
    assert binom.cdf(0, 59, 0.05) <= 0.05 < binom.cdf(0, 58, 0.05)
    assert "59 of 59 (100" in text
    assert "| 5 % |" in text.replace("\u00a0", " ")


def test_an_abstention_is_no_missing_verdict(report: Report, place: Path) -> None:
    left = {of.what: of.count for of in report.left_out}
    assert (left["for people"], left["no verdict"], left["label without verdict"]) == (19, 1, 1)
    with Store.open(place, readonly=True) as store:
        frame = RunFrame.read(store, run_info(store))
    people = selected(frame, OfLeftOut("for people", "accepted"))
    assert people == tuple(range(3, 60, 3))
    assert selected(frame, OfLeftOut("no verdict", "accepted")) == (0,)
    assert report.verdicts.n == 40
    text = markdown(outline(report, ("method",)))
    assert "19 of 60 judged pairs are for people" in text
    assert "Verdicts of c2\\_all with a confidence of at least 0.9 are accepted" in text


def test_a_run_without_labels_drawn_at_random_promises_nothing(report: Report) -> None:
    assert report.guarantee is not None
    nothing = replace(report.guarantee, by_alpha=(), threshold=None, chosen="imported", reason="nobody knows how")
    text = markdown(outline(replace(report, acceptance=None, guarantee=nothing), ("guarantee",)))
    assert "Nothing can be promised: nobody knows how." in text
    assert markdown(outline(replace(report, acceptance=None, guarantee=None), ("guarantee",))).count("guarantee") == 0
