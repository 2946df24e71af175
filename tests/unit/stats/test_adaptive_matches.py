"""Matches are chosen where ranks are least separated, in rounds that a replay repeats; few systems are separated in
error."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from judgenet.stats.adaptive_matches import (
    EACH,
    FIRST,
    AdaptiveMatches,
    neighbour_separations,
    strength_order,
)
from judgenet.stats.anytime import UnitTally
from judgenet.stats.multiple import holm

Sides = dict[int, tuple[int, int]]


def round_robin(systems: int, questions: int) -> tuple[dict[tuple[int, int], list[tuple[int, ...]]], Sides]:
    """Every two systems on every question."""
    matches: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    sides: Sides = {}
    for pair in combinations(range(systems), 2):
        numbers = range(len(sides), len(sides) + questions)
        matches[pair] = [(number,) for number in numbers]
        sides |= dict.fromkeys(numbers, pair)
    return matches, sides


def play(plan: AdaptiveMatches, sides: Sides, strengths: list[float], rng: np.random.Generator) -> list[int]:
    """Plays to the end; the matches in the order in which they were chosen."""
    played = []
    while (match := plan.next_match()) is not None:
        i, j = sides[match]
        played.append(match)
        plan.take(match, float(rng.random() < 1 / (1 + np.exp(strengths[j] - strengths[i]))))
    return played


def tally(wins: int, losses: int) -> UnitTally:
    found = UnitTally()
    found.add(1, 1.0, wins)
    found.add(1, 0.0, losses)
    return found


def test_neighbours_are_separated_by_holms_p_over_all_pairs_of_systems() -> None:
    tallies = {(0, 1): tally(30, 5), (0, 2): tally(40, 2), (1, 2): tally(12, 10)}
    found = neighbour_separations([0, 1, 2], tallies)
    every = [1 / tallies[pair].evidence(0.5).e_value for pair in ((0, 1), (0, 2), (1, 2))]
    adjusted = holm([min(1.0, p) for p in every])
    assert [(of.better, of.worse, of.n) for of in found] == [(0, 1, 35), (1, 2, 22)]
    assert [of.p for of in found] == pytest.approx([adjusted[0], adjusted[2]])
    assert [of.separated for of in found] == [True, False]
    assert [of.rate for of in found] == pytest.approx([30 / 35, 12 / 22])
    # Who lost against the next one is not above it, however sure that is.
    turned = neighbour_separations([1, 0], {(0, 1): tally(30, 5)})
    assert (turned[0].p, turned[0].separated) == (1.0, False)
    never = neighbour_separations([0, 1], {})
    assert (never[0].n, never[0].rate, never[0].e_value, never[0].separated) == (0, None, 0.5, False)


def test_the_order_is_that_of_the_strengths() -> None:
    assert strength_order(3, {(0, 1): tally(2, 8), (1, 2): tally(3, 7), (0, 2): tally(1, 9)}) == [2, 1, 0]
    # One who never lost has no finite strength without a prior.
    assert strength_order(2, {(0, 1): tally(0, 5)}) == [1, 0]
    assert strength_order(3, {}) == [0, 1, 2]


def test_it_begins_on_a_ring_and_goes_on_where_ranks_are_not_separated() -> None:
    matches, sides = round_robin(4, 50)
    plan = AdaptiveMatches(4, matches)
    first = [plan.next_match() for _ in range(4 * FIRST)]
    assert plan.next_match() is None
    assert {sides[of] for of in first if of is not None} == {(0, 1), (1, 2), (2, 3), (0, 3)}
    for match in first:
        assert match is not None
        # The lower number wins, but 2 and 3 are even.
        plan.take(match, 0.5 if sides[match] == (2, 3) else 1.0)
    assert plan.rounds == 2
    second = []
    while (following := plan.next_match()) is not None:
        second.append(following)
    asked = {sides[of] for of in second}
    open_ones = {(min(of.better, of.worse), max(of.better, of.worse)) for of in plan.neighbours if not of.separated}
    assert asked == open_ones
    assert len(second) == EACH * len(open_ones)


def test_clear_ranks_take_few_matches_and_come_out_in_order() -> None:
    matches, sides = round_robin(5, 300)
    plan = AdaptiveMatches(5, matches)
    played = play(plan, sides, [0.0, 2.0, 1.0, 4.0, 3.0], np.random.default_rng(2))
    assert plan.finished
    assert plan.separated
    assert plan.order == [3, 4, 1, 2, 0]
    assert len(played) == plan.played < 0.3 * len(sides)
    assert len(set(played)) == len(played)


def test_a_replay_plays_the_same_matches_however_results_come() -> None:
    matches, sides = round_robin(4, 60)
    rng = np.random.default_rng(5)
    results = {match: float(rng.random() < 0.5 + 0.1 * (sides[match][1] - sides[match][0])) for match in sides}

    def replay(*, reverse: bool) -> list[int]:
        plan, played = AdaptiveMatches(4, matches), []
        while not plan.finished:
            round_ = []
            while (match := plan.next_match()) is not None:
                round_.append(match)
            played += sorted(round_)
            for match in sorted(round_, reverse=reverse):
                plan.take(match, results[match])
        return played

    assert replay(reverse=False) == replay(reverse=True)


def test_pairs_without_matches_or_verdicts_end_it() -> None:
    plan = AdaptiveMatches(3, {(0, 1): [(0,), (1,)]})
    assert [plan.next_match(), plan.next_match(), plan.next_match()] == [0, 1, None]
    plan.take(0, None)
    plan.take(1, None)
    assert (plan.finished, plan.separated, plan.played) == (True, False, 2)
    assert AdaptiveMatches(0, {}).finished


def test_equal_systems_are_separated_in_at_most_five_of_a_hundred_runs() -> None:
    """150 runs of four equal systems, to the last match; 5 in 100 would be 7.5."""
    matches, sides = round_robin(4, 60)
    rng = np.random.default_rng(9)
    wrong = 0
    for _ in range(150):
        plan = AdaptiveMatches(4, matches)
        play(plan, sides, [0.0] * 4, rng)
        wrong += any(of.separated for of in plan.neighbours)
    assert wrong <= 7
