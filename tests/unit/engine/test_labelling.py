"""The desk: random order and sides, its way through a draw, and what the annotators come to."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judgenet.core.labels import HumanLabel, Said
from judgenet.core.pairs import Pair
from judgenet.core.presets import network
from judgenet.engine.labelling import (
    Desk,
    Draw,
    agreement_with_network,
    draw_given,
    draw_picked,
    draw_planned,
    draw_random,
    draw_uncertain,
    survey,
    swapped,
)
from judgenet.stats.curves import CODES
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.labels import LabelBook
from judgenet.store.runs import run_info
from tests.unit.engine import harness

PAIRS = [Pair(f"p{i}", f"Why {i}?", f"So {i}.", "Because.") for i in range(400)]


def label(pair: Pair, said: Said, annotator: str = "Ada", **more: object) -> HumanLabel:
    return replace(HumanLabel(pair.id, pair.content_hash, annotator, said, "random"), **more)  # type: ignore[arg-type]


def test_the_order_is_shuffled_by_the_seed_and_holds_every_pair() -> None:
    draw = draw_random(PAIRS, "salt")
    assert sorted(draw.places) == list(range(400))
    assert draw.places == draw_random(PAIRS, "salt").places
    assert draw.places != draw_random(PAIRS, "other").places
    assert (draw.chosen, draw.population) == ("random", 400)
    # A random order is not near that of the file (its rank correlation is below 4 standard errors, 1/√399).
    assert abs(np.corrcoef(draw.places, range(400))[0, 1]) < 0.2
    # What more pairs come does not change the order of those that are there.
    fewer = [place for place in draw.places if place < 300]
    assert tuple(fewer) == draw_random(PAIRS[:300], "salt").places


def test_sides_are_even_and_differ_between_annotators() -> None:
    sides = [[swapped("salt", name, pair.id) for pair in PAIRS] for name in ("Ada", "Bo")]
    for mine in sides:
        assert 160 < sum(mine) < 240
    assert 120 < sum(one != other for one, other in zip(*sides, strict=True)) < 280


def test_a_label_is_about_the_response_whatever_its_side() -> None:
    desk = Desk.of(PAIRS, draw_random(PAIRS, "salt"), "Ada", "salt", LabelBook())
    for _ in range(40):
        pair, side = desk.pair, desk.swapped
        assert pair is not None
        given = desk.say("a", 2.0, 10.0)
        assert (given.pair_id, given.said, given.swapped) == (pair.id, "b" if side else "a", side)
        assert (given.content, given.seconds, given.population) == (pair.content_hash, 2.0, 400)
    assert {given.said for given in desk.given.values()} == {"a", "b"}
    assert desk.seconds_each == 2.0


def test_the_way_through_a_draw() -> None:
    desk = Desk.of(PAIRS, draw_random(PAIRS, "salt"), "Ada", "salt", LabelBook(), goal=3)
    order = desk.draw.places
    assert desk.place == order[0]
    assert not desk.back()
    desk.say("skip", 1, 1)
    desk.say("tie", 1, 1)
    assert (desk.labelled, desk.place) == (1, order[2])
    assert desk.back()
    assert desk.back()
    assert (desk.place, desk.said) == (order[0], "skip")
    desk.say("unsure", 1, 1)
    assert desk.place == order[2]
    desk.say("a", 1, 1)
    desk.say("b", 1, 1)
    assert (desk.labelled, desk.finished) == (3, True)
    desk.goal = 5
    assert not desk.finished
    desk.take(order[1], None)
    desk.show(order[1])
    assert (desk.labelled, desk.place, desk.said) == (2, order[1], None)
    desk.say("a", 1, 1)
    assert desk.place == order[4]
    again = Desk.of(PAIRS, desk.draw, "Ada", "salt", LabelBook(desk.given.values()), goal=5)
    assert (again.labelled, again.place) == (3, order[4])
    other = Desk.of(PAIRS, desk.draw, "Bo", "salt", LabelBook(desk.given.values()))
    assert (other.labelled, other.place) == (0, order[0])


def test_times_of_who_was_away_are_not_kept() -> None:
    desk = Desk.of(PAIRS, draw_random(PAIRS, "salt"), "Ada", "salt", LabelBook())
    assert desk.say("a", 50_000.0, 1.0).seconds is None
    assert desk.seconds_each is None


def test_the_annotators_and_what_is_to_settle() -> None:
    said = [label(PAIRS[0], "a"), label(PAIRS[0], "b", "Bo"), label(PAIRS[1], "a"), label(PAIRS[1], "a", "Bo")]
    said += [label(PAIRS[2], "tie"), label(PAIRS[3], "unsure"), label(replace(PAIRS[4], question="?"), "a")]
    said += [label(PAIRS[5], "a", chosen="targeted"), label(PAIRS[5], "b", "Bo", chosen="targeted")]
    found = survey(PAIRS, LabelBook(said), "salt")
    assert found.said == {"Ada": 4, "Bo": 3}
    assert (found.disputed, found.settled, found.stale) == ((0,), 0, 1)
    assert found.kappa is not None
    assert found.kappa[0].n_used == 2
    found = survey(PAIRS, LabelBook([*said, label(PAIRS[0], "b", "Cy", settles=True)]), "salt")
    assert (found.disputed, found.settled) == ((), 1)
    settling = Desk.of(PAIRS, Draw("settle", (0,), "random", 400), "Cy", "salt", LabelBook(said))
    assert (settling.place, settling.swapped) == (0, False)
    assert settling.say("b", 1, 1).settles


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> RunFrame:
    place = tmp_path_factory.mktemp("run") / "run.judgenet.db"
    harness.run(place, harness.start(network(2, 1, settings=harness.SETTINGS), PAIRS[:60]))
    with Store.open(place, readonly=True) as store:
        return RunFrame.read(store, run_info(store))


def test_the_planner_draws_within_verdicts_and_leaves_out_what_counts(table: RunFrame) -> None:
    codes = table.verdict_codes("c1")
    draw, plan = draw_planned(PAIRS, table, "c1", LabelBook(), 0.4, "salt")
    assert plan is not None
    drawn = Counter(CODES[int(codes[place])] for place in draw.places)
    assert drawn == {verdict: count for verdict, count in plan.more.items() if count}
    assert (draw.chosen, draw.within, draw.population) == ("within-verdict", "run-1/c1", int((codes > 0).sum()))
    mine = [label(PAIRS[draw.places[0]], "a", chosen="within-verdict", within="run-1/c1")]
    mine.append(label(PAIRS[draw.places[1]], "a"))
    again, _ = draw_planned(PAIRS, table, "c1", LabelBook(mine), 0.4, "salt")
    assert again.places[0] == draw.places[0]
    assert draw.places[1] not in again.places
    assert len(set(again.places)) == len(again.places)
    given = draw_given(PAIRS, table, "c1", [7, 3, 900])
    assert (given.places, given.within) == ((7, 3), "run-1/c1")


def test_the_most_uncertain_pairs_come_first(table: RunFrame) -> None:
    draw = draw_uncertain(PAIRS, table, "c1")
    assert draw.chosen == "targeted"

    def parts(place: int) -> int:
        said = [column.verdict[place] for (_, _, order, _), column in table.columns.items() if order is not None]
        return -max(Counter(said).values())

    unlike = [parts(place) for place in draw.places]
    assert unlike[0] >= unlike[-1]
    assert set(draw.places) == set(np.flatnonzero(table.verdict_codes("c1")).tolist())
    assert draw_picked(PAIRS, [5, 2, 5, 999]).places == (5, 2)


def test_agreement_with_the_network_counts_what_both_said(table: RunFrame) -> None:
    codes = table.verdict_codes("c1")
    labels = [label(PAIRS[place], CODES[int(codes[place])] or "skip") for place in range(10)]
    labels += [label(PAIRS[20], "skip"), label(PAIRS[300], "a")]
    found = agreement_with_network(PAIRS, table, "c1", labels)
    both = sum(int(codes[place]) > 0 for place in range(10))
    assert (found.n_used, found.accuracy) == (both, 1.0)


def test_a_run_of_other_pairs_has_none_to_draw(tmp_path: Path, table: RunFrame) -> None:
    others = [Pair(f"x{i}", "Why?", "So.", "No.") for i in range(5)]
    draw, _ = draw_planned(others, table, "c1", LabelBook(), 0.4, "salt")
    assert draw.places == ()
    assert draw.note
    assert draw_uncertain(others, table, "c1").note
