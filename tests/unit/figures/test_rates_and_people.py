"""The corrected rate of a recorded run, what it rests on, and the people behind its labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.core.pairs import Pair, Verdict
from judgenet.figures.metrics import agreement_by_name
from judgenet.figures.people import AmongPeople, people_among_themselves
from judgenet.figures.rates import corrected_rates
from judgenet.stats.planning import draw_labels
from judgenet.store.frame import RunFrame
from judgenet.store.taught import fair_frame
from tests.pair_verdicts import pair_results
from tests.unit.report.runs import labelled_pairs, opened, record
from tests.unit.report.test_selection import leaning


def annotated(pairs: list[Pair]) -> list[Pair]:
    """Every third pair has two people, who disagree on every ninth."""
    said: dict[int, tuple[tuple[str, Verdict], ...]] = {}
    for place, pair in enumerate(pairs):
        if place % 3 == 0 and pair.human is not None:
            other: Verdict = "tie" if place % 9 == 0 and pair.human != "tie" else pair.human
            said[place] = (("Ada", pair.human), ("Ben", other))
    return [replace(pair, annotators=said.get(place, ())) for place, pair in enumerate(pairs)]


def people(frame: RunFrame, aggregation: str) -> AmongPeople:
    agreement = agreement_by_name(frame, {aggregation: frame.aggregations[aggregation]})[aggregation]
    return people_among_themselves(frame, aggregation, agreement)


def test_counts_are_those_of_the_pairs(tmp_path: Path) -> None:
    pairs = annotated(labelled_pairs(90))
    pairs = [replace(pair, human=None, annotators=()) if place >= 45 else pair for place, pair in enumerate(pairs)]
    path = tmp_path / "run.db"
    record(path, pairs, leaning(pairs))
    with opened(path) as (store, run):
        frame = fair_frame(store, run)
        cells: Counter[tuple[Verdict, Verdict]] = Counter()
        others: Counter[Verdict] = Counter()
        for result in pair_results(store, run):
            assert result.verdicts is not None
            said, human = result.verdicts.c2_all, result.pair.pair.human
            if said is not None and human is not None:
                cells[said, human] += 1
            elif said is not None:
                others[said] += 1
    found = corrected_rates(frame, "c2_all")
    assert (found.with_label, found.judged) == (cells.total(), cells.total() + others.total())
    assert found.assumed
    rate = found.estimates["naive"].value
    b, tie = (sum(count for (verdict, _), count in cells.items() if verdict == of) + others[of] for of in ("b", "tie"))
    assert rate == pytest.approx((b + tie / 2) / found.judged)
    assert corrected_rates(frame, "c2_all", "targeted").estimates["stratified"].value is None
    panel, review = people(frame, "c2_all")
    two = [pair for pair in pairs if pair.annotators]
    agree = sum(pair.annotators[0][1] == pair.annotators[1][1] for pair in two)
    assert panel.h.value == pytest.approx(agree / len(two))
    assert review.target == panel.h.value
    free = frame.unlabelled("c2_all")
    assert {verdict: len(places) for verdict, places in free.items()} == dict(others)
    assert all(pairs[place].human is None for places in free.values() for place in places)
    drawn = draw_labels(free, {"a": 3, "b": 2})
    assert Counter(frame.verdict("c2_all", place) for place in drawn) == {"a": 3, "b": 2}


def test_without_labels_only_the_uncorrected_rate_is_left(tmp_path: Path) -> None:
    pairs = [replace(pair, human=None) for pair in labelled_pairs(12)]
    path = tmp_path / "run.db"
    record(path, pairs, leaning(pairs))
    with opened(path) as (store, run):
        frame = fair_frame(store, run)
        found, (panel, review) = corrected_rates(frame, "c1"), people(frame, "c1")
    assert found.estimates["naive"].value is not None
    assert found.estimates["stratified"].value is None
    assert found.estimates["stratified"].reason
    assert found.headline is None
    assert panel.h.value is None
    assert (review.review, review.reason) == (None, "no pair has both a human label and a verdict")


def test_intervals_are_over_questions_where_these_repeat(tmp_path: Path) -> None:
    """Ninety pairs of ninety questions, of thirty, and of five, which are too few."""
    pairs = labelled_pairs(90)
    shared = [replace(pair, question=f"Why {place // 3}?") for place, pair in enumerate(pairs)]
    widths = []
    for name, part in (("own", pairs), ("shared", shared)):
        path = tmp_path / f"{name}.db"
        record(path, part, leaning(part))
        with opened(path) as (store, run):
            found = corrected_rates(fair_frame(store, run), "c2_all", "random").estimates
        interval = found["naive"].interval
        assert interval is not None
        widths.append(interval.high - interval.low)
        assert found["naive"].questions == (90 if name == "own" else 30)
    assert widths[0] != widths[1]
    few = [replace(pair, question=f"Why {place % 5}?") for place, pair in enumerate(pairs)]
    record(tmp_path / "few.db", few, leaning(few))
    with opened(tmp_path / "few.db") as (store, run):
        found = corrected_rates(fair_frame(store, run), "c2_all", "random").estimates
    assert found["stratified"].value is not None
    assert found["stratified"].interval is None
    assert "5 questions" in found["stratified"].reason
