"""Which two of several responses are judged: connected, balanced, the same for the same seed."""

from __future__ import annotations

from collections import Counter
from math import comb

import pytest

from judgenet.core.matches import MatchMaker, matches_of, swapped


@pytest.mark.parametrize(
    ("systems", "wanted", "found"),
    [
        (8, None, 28),
        (8, 12, 12),
        (8, 100, 28),
        (8, 3, 7),
        (8, 0.25, 7),
        (8, 0.5, 14),
        (2, 5, 1),
        (1, 5, 0),
        (3, 0.01, 2),
    ],
)
def test_how_many(systems: int, wanted: int | float | None, found: int) -> None:
    assert matches_of(systems, wanted) == found


def _reached(matches: list[tuple[int, int]]) -> set[int]:
    reached = {matches[0][0]}
    for _ in matches:
        for i, j in matches:
            if i in reached or j in reached:
                reached |= {i, j}
    return reached


@pytest.mark.parametrize("systems", [2, 3, 4, 5, 8, 13, 30])
def test_every_sample_is_connected_and_even(systems: int) -> None:
    names = [f"s{place}" for place in range(systems)]
    for wanted in range(systems - 1, comb(systems, 2) + 1, max(1, comb(systems, 2) // 40)):
        found = MatchMaker(wanted, seed=wanted).draw("q", names)
        assert len(set(found)) == len(found) == wanted
        assert all(i < j for i, j in found)
        assert _reached(found) == set(range(systems))
        appearances = Counter(place for match in found for place in match)
        assert max(appearances.values()) - min(appearances.values()) <= 2


@pytest.mark.parametrize("wanted", [9, 10, 13, 0.31])
def test_systems_appear_equally_often_over_many_questions(wanted: int | float) -> None:
    names = [f"s{place}" for place in range(10)]
    maker = MatchMaker(wanted, seed=5)
    appearances: Counter[int] = Counter()
    met: Counter[tuple[int, int]] = Counter()
    for question in range(200):
        found = maker.draw(f"q{question}", names)
        met.update(found)
        appearances.update(place for match in found for place in match)
    assert max(appearances.values()) - min(appearances.values()) <= 2
    assert len(met) == comb(10, 2)


def test_hundreds_of_systems() -> None:
    found = MatchMaker(500, seed=1).draw("q", list(range(400)))
    assert len(set(found)) == 500
    assert _reached(found) == set(range(400))


def test_a_seed_decides() -> None:
    names = "abcdefgh"
    one = [MatchMaker(10, seed=1).draw(f"q{i}", names) for i in range(5)]
    assert one == [MatchMaker(10, seed=1).draw(f"q{i}", names) for i in range(5)]
    assert one != [MatchMaker(10, seed=2).draw(f"q{i}", names) for i in range(5)]
    coins = [swapped(0, f"q{i}", "x", "y") for i in range(400)]
    # Five standard deviations of 400 coins are 50.
    assert 150 < sum(coins) < 250
