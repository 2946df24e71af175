"""Bradley–Terry and length adjustment, against figures computed elsewhere (libraries named in the specification)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from judgenet.core.pairs import Verdict
from judgenet.stats.length import length_adjusted
from judgenet.stats.ranking import (
    PRIOR,
    Game,
    bradley_terry,
    intransitive_triples,
    length_rates,
    rank,
    rating,
    some_circles,
)

NEVER_LOSES = ((0, 5, 5), (0, 0, 3), (0, 2, 0))


@pytest.mark.parametrize(
    ("wins", "strengths", "ratings"),
    [
        (((0, 7, 8), (3, 0, 6), (2, 4, 0)), (0.740570, -0.149102, -0.591468), (1128.65, 974.10, 897.25)),
        (((0, 6.5, 7), (3.5, 0, 5.5), (3, 4.5, 0)), (0.488535, -0.139707, -0.348828), (1084.87, 975.73, 939.40)),
        (
            ((0, 5, 2, 6), (5, 0, 7, 5), (8, 3, 0, 4), (4, 5, 6, 0)),
            (-0.201686, 0.201686, 0, 0),
            (964.96, 1035.04, 1000, 1000),
        ),
    ],
)
def test_strengths(wins: Sequence[Sequence[float]], strengths: Sequence[float], ratings: Sequence[float]) -> None:
    found = bradley_terry(wins)
    assert found is not None
    assert list(found) == pytest.approx(strengths, abs=1e-6)
    assert [rating(b) for b in found] == pytest.approx(ratings, abs=5e-3)


def test_a_system_that_never_loses_has_no_finite_strength() -> None:
    assert bradley_terry(NEVER_LOSES) is None
    smoothed = bradley_terry(NEVER_LOSES, PRIOR)
    assert smoothed is not None
    assert list(smoothed) == pytest.approx((2.632425, -1.128733, -1.503691), abs=1e-6)


def test_systems_that_never_met_have_no_common_scale() -> None:
    assert bradley_terry(((0, 2, 0, 0), (2, 0, 0, 0), (0, 0, 0, 3), (0, 0, 1, 0))) is None
    assert bradley_terry(()) is None


@pytest.mark.parametrize(
    ("wins", "found"),
    [
        (((0, 3, 1), (1, 0, 3), (3, 1, 0)), (1, 1)),
        (((0, 3, 3), (1, 0, 3), (1, 1, 0)), (0, 1)),
        (((0, 2, 1), (2, 0, 3), (3, 1, 0)), (0, 0)),
    ],
)
def test_circles(wins: Sequence[Sequence[float]], found: tuple[int, int]) -> None:
    assert intransitive_triples(wins) == found


def _games(wins: Sequence[Sequence[int]], ties: int = 0) -> list[Game]:
    """A game a question; the winner stands on alternating sides."""
    games: list[Game] = []
    for i, row in enumerate(wins):
        for j, count in enumerate(row):
            for _ in range(count):
                side: Verdict = "a" if len(games) % 2 else "b"
                places = (i, j) if side == "a" else (j, i)
                games.append(Game(*places, side, len(games)))
    return games + [Game(0, 1, "tie", -1 - n) for n in range(ties)]


def test_a_ranking() -> None:
    found = rank(("x", "y", "z"), _games(((0, 7, 8), (3, 0, 6), (2, 4, 0))))
    assert [system.name for system in found.systems] == ["x", "y", "z"]
    assert [system.rating for system in found.systems] == pytest.approx((1128.65, 974.10, 897.25), abs=5e-3)
    best = found.systems[0]
    assert (best.wins, best.ties, best.losses, best.win_rate) == (15, 0, 5, 0.75)
    assert (found.prior, found.triples, found.intransitive, found.questions) == (False, 1, 0, 30)
    for system in found.systems:
        assert system.interval is not None
        assert system.interval.low < system.rating < system.interval.high


def test_a_tie_is_half_a_win_to_each() -> None:
    found = rank(("x", "y"), _games(((0, 6), (2, 0)), ties=4))
    assert [(system.wins, system.ties, system.win_rate) for system in found.systems] == [(6, 4, 8 / 12), (2, 4, 4 / 12)]
    # Of two systems the odds are those of the wins: 8 to 4.
    assert found.systems[0].b - found.systems[1].b == pytest.approx(np.log(2))


def test_intervals_are_over_questions() -> None:
    """Every game ten times under its own question is no new evidence: the interval stays as wide."""
    games = _games(((0, 40), (20, 0)))
    once = rank(("x", "y"), games).systems[0].interval
    again = rank(("x", "y"), games * 10).systems[0].interval
    assert once is not None
    assert again is not None
    assert again.high - again.low == pytest.approx(once.high - once.low, rel=1e-9)
    # The standard error of a log-odds of 40 to 20 is sqrt(1/40 + 1/20); a rating is half of it to each side.
    width = 2 * 1.96 * (1 / 40 + 1 / 20) ** 0.5 / 2 * 400 / np.log(10)
    assert once.high - once.low == pytest.approx(width, rel=0.12)


def test_a_ranking_that_needs_the_prior_says_so() -> None:
    found = rank(("x", "y", "z"), _games(((0, 5, 5), (0, 0, 3), (0, 2, 0))))
    assert found.prior
    assert [system.b for system in found.systems] == pytest.approx((2.632425, -1.128733, -1.503691), abs=1e-6)


def test_few_questions_have_no_intervals() -> None:
    found = rank(("x", "y"), _games(((0, 3), (2, 0))))
    assert [system.interval for system in found.systems] == [None, None]
    assert "5 questions are too few" in found.reason
    nothing = rank(("x", "y"), [])
    assert [(system.b, system.win_rate) for system in nothing.systems] == [(0, None), (0, None)]
    with pytest.raises(ValueError, match="two systems"):
        rank(("x",), [])


# Length

Y = (1, 1, 0, 1, 0.5, 0, 1, 0, 1, 1, 0, 0.5, 1, 0, 0, 1, 1, 0, 1, 0)
DL = (120, 80, -40, 200, 10, -90, 60, -10, 150, 30, 20, -20, 90, -60, -120, 40, 70, -30, -50, -80)


@pytest.mark.parametrize(
    ("scores", "lengths", "value", "low", "high", "slope"),
    [
        (Y, DL, 0.500290, 0.222454, 0.777948, 3.853804),
        ((1, 0, 1, 0) * 5, (50, 50, -50, -50) * 5, 0.5, 0.293899, 0.706101, 0),
        (Y, (0,) * 20, 0.55, 0.346470, 0.738065, None),
    ],
)
def test_win_rate_at_equal_length(
    scores: Sequence[float], lengths: Sequence[float], value: float, low: float, high: float, slope: float | None
) -> None:
    found = length_adjusted(scores, lengths)
    assert found.value == pytest.approx(value, abs=1e-6)
    assert found.interval == pytest.approx((low, high), abs=1e-6)
    assert found.slope == (None if slope is None else pytest.approx(slope, abs=1e-5))


@pytest.mark.parametrize(
    ("scores", "lengths"),
    [
        ((1, 1, 1), (3, -4, 5)),
        ((0, 0), (0, 0)),
        ((1, 1, 0, 0) * 5, (50, 60, -50, -40) * 5),
        ((0.5, 0, 0), (-300, 0, 4000)),
        ((0, 0, 0, 1), (5, 300, -20, -20)),
        ((), ()),
    ],
)
def test_separated_by_length(scores: Sequence[float], lengths: Sequence[float]) -> None:
    found = length_adjusted(scores, lengths)
    assert (found.value, found.interval) == (None, None)
    assert found.reason


def test_scores_and_lengths_go_together() -> None:
    with pytest.raises(ValueError, match="2 scores"):
        length_adjusted((1, 0), (3,))


# Circles, groups, ties


def test_circles_are_counted_and_named() -> None:
    """Four systems in a circle of four, with the diagonals undecided or decided."""
    wins = np.array(((0, 2, 1, 0), (1, 0, 3, 1), (1, 1, 0, 2), (3, 1, 1, 0)), dtype=float)
    assert intransitive_triples(wins) == (0, 0)
    wins[0, 2] = 4
    # 0 beats 2, 2 beats 3, 3 beats 0; and 0 beats 1, 1 beats 2, 0 beats 2.
    assert intransitive_triples(wins) == (1, 2)
    assert some_circles(wins) == [(0, 2, 3)]


def test_as_many_circles_as_a_regular_tournament_has() -> None:
    """Of n systems of which each beats the next (n - 1) / 2 on a ring, n (n^2 - 1) / 24 triples form circles, the most
    there can be (Kendall and Babington Smith 1940)."""
    n = 101
    wins = np.zeros((n, n))
    for i in range(n):
        for step in range(1, (n - 1) // 2 + 1):
            wins[i, (i + step) % n] = 1
    assert intransitive_triples(wins) == (n * (n * n - 1) // 24, n * (n - 1) * (n - 2) // 6)
    found = some_circles(wins, 500)
    assert len(set(map(frozenset, found))) == 500
    assert all(wins[i, j] and wins[j, k] and wins[k, i] for i, j, k in found)


def test_circles_on_single_questions_are_not_those_of_all() -> None:
    games = [Game(0, 1, "a", 1), Game(1, 2, "a", 1), Game(2, 0, "a", 1)]
    games += [Game(i, j, "a", q) for q in range(2, 6) for i, j in ((0, 1), (1, 2), (0, 2))]
    found = rank(("x", "y", "z"), games)
    assert (found.intransitive, found.triples) == (0, 1)
    assert (found.question_circles, found.question_triples) == (1, 5)
    circle = rank(("x", "y", "z"), games[:3])
    assert (circle.intransitive, circle.circles) == (1, (("x", "y", "z"),))


def test_systems_that_never_met_stand_in_groups() -> None:
    games = [Game(0, 1, "a", q) for q in range(6)] + [Game(2, 3, "b", q) for q in range(6)]
    games += [Game(1, 0, "a", 9), Game(4, 2, "tie", 10)]
    found = rank(("x", "y", "p", "q", "r"), games)
    assert found.prior
    assert set(map(frozenset, found.groups)) == {frozenset("xy"), frozenset("pqr")}
    assert len(found.groups[0]) == 3
    assert rank(("x", "y"), games[:6]).groups == (("x", "y"),)


def test_ties_can_be_left_out() -> None:
    games = _games(((0, 6), (2, 0)), ties=4)
    found = rank(("x", "y"), games, ties="drop")
    assert found.systems[0].b - found.systems[1].b == pytest.approx(np.log(3))
    assert found.systems[0].ties == 4
    assert (found.wins, found.games) == (((0, 6), (2, 0)), ((0, 8), (8, 0)))
    assert rank(("x", "y"), games).wins == ((0, 8), (4, 0))


def test_hundreds_of_systems_are_ranked() -> None:
    """Strengths that were drawn come back: 200 systems, each with 90 games."""
    rng = np.random.default_rng(4)
    true = rng.normal(size=200)
    games = []
    for question in range(30):
        order = rng.permutation(200)
        for step in (1, 2, 3):
            for place in range(200):
                i, j = int(order[place]), int(order[(place + step) % 200])
                won = rng.random() < 1 / (1 + np.exp(true[j] - true[i]))
                games.append(Game(i, j, "a" if won else "b", question))
    found = rank([f"s{place:03d}" for place in range(200)], games, resamples=0)
    assert not found.prior
    assert found.reason == "no intervals were asked for"
    strengths = [next(s.b for s in found.systems if s.name == f"s{place:03d}") for place in (0, 50, 100, 150, 199)]
    # The standard error of a strength from 90 games is about 2 / sqrt(90) and more.
    assert strengths == pytest.approx(true[[0, 50, 100, 150, 199]] - true.mean(), abs=4 * 0.25)


def test_each_system_at_equal_length() -> None:
    """One system against another is the win rate of a pair of systems: vector LC1."""
    verdicts: dict[float, Verdict] = {0: "a", 0.5: "tie", 1: "b"}
    games = [Game(0, 1, verdicts[y], q, dl) for q, (y, dl) in enumerate(zip(Y, DL, strict=True))]
    found = length_rates(("x", "y"), games)
    assert found["y"].value == pytest.approx(0.500290, abs=1e-6)
    assert found["y"].slope == pytest.approx(3.853804, abs=1e-5)
    assert found["x"].value == pytest.approx(1 - 0.500290, abs=1e-6)
    assert found["x"].interval == pytest.approx((1 - 0.777948, 1 - 0.222454), abs=1e-6)
    assert (found["x"].n, length_rates(("x",), [])["x"].reason) == (20, "no pair has a verdict")
