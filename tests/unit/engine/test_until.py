"""A run stops itself when enough is known: no call is lost, nothing is chosen by a verdict, and it can go on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from judgenet.core.asking_order import asking_order
from judgenet.core.network import Settings
from judgenet.core.pairs import Pair
from judgenet.core.presets import network
from judgenet.core.until import UntilError, parse_until
from judgenet.engine.budget import Limits
from judgenet.engine.ports import ChatReply, ChatRequest, OnText
from judgenet.stats.anytime import UnitTally
from judgenet.store.anytime import (
    anytime_accuracy,
    anytime_corrected_rate,
    anytime_win_rate,
    turn_pairs,
)
from judgenet.store.columns import SCORED_PHASE
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.runs import run_info
from tests.unit.engine.harness import FakeEndpoint, Ran, pairs, run, site_of, start

SPEC = network(1, 1, roles="none", settings=Settings(endpoint="fake", model="judge", temperature=0.0))


def b_wins_of(request: ChatRequest) -> str:
    """B wins every pair whose number does not end in 0."""
    site = site_of(request)
    b, a = (3, 8) if site.pair % 10 == 0 else (8, 3)
    first, second = (a, b) if site.order == "ab" else (b, a)
    return f'{{"evidence": "seen", "score_1": {first}, "score_2": {second}}}'


def stop(path: Path, rule: str | None, judged: list[Pair], **changes: object) -> Ran:
    begin = start(SPEC, judged, until=None if rule is None else parse_until(rule), **changes)
    return run(path, begin, FakeEndpoint(b_wins_of))


def frame_of(path: Path) -> RunFrame:
    with Store.open(path, readonly=True) as store:
        return RunFrame.read(store, run_info(store))


def first_excluding(order: list[int], mean: float = 0.5) -> int:
    """After how many pairs in this order the interval excludes the mean, counted by hand."""
    tally = UnitTally()
    for count, index in enumerate(order, 1):
        tally.add(1, 0.0 if index % 10 == 0 else 1.0)
        if tally.evidence(mean).e_value >= 20:
            return count
    raise AssertionError("never")


def test_a_run_stops_where_its_interval_excludes_one_half(tmp_path: Path) -> None:
    path, judged = tmp_path / "a.db", pairs(120)
    ran = stop(path, "c2_all excludes 50%", judged)
    assert ran.finished.state == "enough"
    order = asking_order(SPEC.seed, list(range(120)))
    at = first_excluding(order)
    assert at < 30
    with Store.open(path, readonly=True) as store:
        info = run_info(store)
    record = info.record["until"]
    assert (record["met"], record["pairs"], record["of"], record["figure"]) == (True, at, 120, "win_rate")
    assert record["e_value"] >= 20
    assert record["interval"][0] > 0.5
    assert f"after {at} of 120 pairs" in info.message
    frame = frame_of(path)
    begun = int(frame.begun.sum())
    assert f"Not asked: {120 - begun} pairs." in info.message
    assert begun < 60
    # Of what was sent nothing is lost, and pairs are asked in the drawn order.
    assert sum(int((column.phase == SCORED_PHASE).sum()) for column in frame.columns.values()) == len(ran.asked)
    assert set(np.flatnonzero(frame.begun)) == set(order[:begun])


def test_it_goes_on_without_the_rule_and_pays_for_no_call_twice(tmp_path: Path) -> None:
    path, judged = tmp_path / "a.db", pairs(60)
    first = stop(path, "excludes 50%", judged)
    again = stop(path, "excludes 50%", judged)
    assert (again.finished.state, len(again.asked)) == ("enough", 0)
    assert again.finished.message == first.finished.message
    later = stop(path, "width <= .2", judged)
    rest = stop(path, None, judged)
    assert rest.finished.state == "done"
    assert len(first.asked) + len(later.asked) + len(rest.asked) == 2 * 60
    assert frame_of(path).judged.all()


def test_a_budget_and_a_rule_hold_together(tmp_path: Path) -> None:
    path, judged = tmp_path / "a.db", pairs(120)
    ran = stop(path, "excludes 50%", judged, limits=Limits(max_calls=9))
    assert (ran.finished.state, len(ran.asked)) == ("budget", 9)
    with Store.open(path, readonly=True) as store:
        assert run_info(store).record["until"] == {"rule": "excludes 50%", "met": False}
    assert stop(path, "excludes 50%", judged).finished.state == "enough"


def test_a_rule_that_is_never_met_leaves_a_finished_run(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    ran = stop(path, "width <= .01", pairs(12))
    assert (ran.finished.state, ran.finished.message) == ("done", "")
    with Store.open(path, readonly=True) as store:
        assert run_info(store).record["until"]["met"] is False


def test_a_pair_counts_when_its_turn_comes(tmp_path: Path) -> None:
    """A pair that is not finished holds those behind it back, however many of them are."""
    path = tmp_path / "a.db"
    stop(path, "excludes 50%", pairs(40), limits=Limits(max_calls=16))
    order = asking_order(SPEC.seed, list(range(40)))
    frame = frame_of(path)
    done = int(frame.judged.sum())
    assert done == 8
    assert frame.order.tolist() == order
    assert turn_pairs(frame).pairs.tolist() == order[:done]
    frame.states[order[1]] = 1
    turn = turn_pairs(frame)
    assert (turn.pairs.tolist(), turn.waiting, turn.drawn) == (order[:1], done - 2, True)


class Uneven(FakeEndpoint):
    """Answers to pairs that B wins come late, the others at once."""

    async def chat(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        if site_of(request).pair % 10:
            await asyncio.sleep(0.02 * (1 + site_of(request).pair % 4))
        return await super().chat(request, on_text)


def test_the_stop_does_not_depend_on_which_answers_come_first(tmp_path: Path) -> None:
    """Pairs that A wins are fast: counted as they come, they would lead at first."""
    path = tmp_path / "a.db"
    begin = start(SPEC, pairs(120), until=parse_until("excludes 50%"))
    ran = run(path, begin, Uneven(b_wins_of, concurrency=16))
    assert ran.finished.state == "enough"
    with Store.open(path, readonly=True) as store:
        record = run_info(store).record["until"]
    assert record["pairs"] == first_excluding(asking_order(SPEC.seed, list(range(120))))


def test_pairs_of_a_question_count_together(tmp_path: Path) -> None:
    judged = [
        Pair(f"p{place}", f"question {place // 2}", f"first {place}", f"second {place}", human="b")
        for place in range(40)
    ]
    path = tmp_path / "a.db"
    ran = stop(path, "c2_all.accuracy above 50%", judged)
    assert ran.finished.state == "enough"
    frame = frame_of(path)
    turn = turn_pairs(frame)
    assert turn.most == 2
    assert len(turn.pairs) % 2 == 0
    by_hand = UnitTally(2)
    with Store.open(path, readonly=True) as store:
        record = run_info(store).record["until"]
    for index in turn.pairs[: record["pairs"] : 2].tolist():
        by_hand.add(2, sum(0.0 if of % 10 == 0 else 1.0 for of in (index, index + 1)))
    assert (record["questions"], record["pairs"]) == (by_hand.units, by_hand.pairs)
    assert record["value"] == pytest.approx(by_hand.mean)
    assert record["e_value"] == pytest.approx(by_hand.evidence(0.5).e_value)
    found = anytime_accuracy(frame, "c2_all", turn)
    assert found.n == len(turn.pairs)


def test_the_corrected_rate_stops_a_run_too(tmp_path: Path) -> None:
    judged = [
        Pair(f"p{place}", f"question {place}", f"first {place}", f"second {place}", human="b" if place % 2 else None)
        for place in range(300)
    ]
    path = tmp_path / "a.db"
    ran = stop(path, "corrected above 60%", judged)
    assert ran.finished.state == "enough"
    with Store.open(path, readonly=True) as store:
        record = run_info(store).record["until"]
    assert (record["figure"], record["e_value"]) == ("corrected", None)
    assert record["interval"][0] > 0.6
    frame = frame_of(path)
    # Nothing but the rule says that these labels were drawn at random.
    refused = anytime_corrected_rate(frame, "c2_all", turn_pairs(frame))
    assert refused.value is None
    assert (
        "nothing says how their pairs were chosen; it takes labels of pairs that were drawn at random" in refused.reason
    )
    found = anytime_corrected_rate(frame, "c2_all", turn_pairs(frame), "random")
    assert found.interval is not None
    assert found.value is not None
    assert found.value > 0.9
    assert anytime_win_rate(frame, "c2_all", turn_pairs(frame)).n >= record["pairs"]


def test_an_unknown_aggregation_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    with pytest.raises(UntilError, match="c2_l4, which this network does not have"):
        stop(tmp_path / "a.db", "c2_l4 excludes 50%", pairs(3))


@pytest.mark.parametrize(
    ("rule", "words"),
    [("accuracy above 60%", "the accuracy, and no pair has a human label"), ("corrected excludes 50%", "at random")],
)
def test_a_rule_about_labels_needs_labels(tmp_path: Path, rule: str, words: str) -> None:
    path = tmp_path / "a.db"
    with pytest.raises(UntilError, match=words):
        stop(path, rule, pairs(5))
    with Store.open(path, readonly=True) as store:
        assert run_info(store).state == "failed"


def test_a_rule_and_chosen_matches_are_two_ways_to_stop(tmp_path: Path) -> None:
    with pytest.raises(UntilError, match="give one of the two"):
        stop(tmp_path / "a.db", "excludes 50%", pairs(3), auto_matches=True)
