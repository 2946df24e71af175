from __future__ import annotations

import random

import pytest

from judgenet.core.sorting import sorted_in_parts


@pytest.mark.parametrize("count", [0, 1, 2, 3999, 4000, 4001, 8000, 12_345])
def test_it_is_the_order_of_sorted(count: int) -> None:
    dice = random.Random(count)
    items = [dice.randrange(50) for _ in range(count)]
    assert list(sorted_in_parts(items)) == sorted(items)
    # Equal keys stay as they were.
    places = range(count)
    assert list(sorted_in_parts(places, items.__getitem__)) == sorted(places, key=items.__getitem__)


def test_it_can_be_ended() -> None:
    calls = []

    def check() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sorted_in_parts(range(20_000), check=check)
    assert len(calls) == 2
