"""Shards: every question in one of them, all its pairs together."""

from __future__ import annotations

import pytest

from judgenet.core.pairs import Pair
from judgenet.core.shards import Shard, ShardError, parse_shard


def test_each_question_is_in_one_shard_with_all_its_pairs() -> None:
    pairs = [Pair(f"p{i}", f"Question {i // 3}", "a", "b") for i in range(300)]
    places = [Shard(7, index).places(pairs) for index in range(1, 8)]
    assert sorted(place for of in places for place in of) == list(range(300))
    for of in places:
        assert {place // 3 * 3 + step for place in of for step in range(3)} == set(of)
    # Sizes are those of a fair division: 100 questions over 7 shards.
    assert min(map(len, places)) > 15
    assert max(map(len, places)) < 90


def test_white_space_moves_no_question() -> None:
    shards = [Shard(5, index) for index in range(1, 6)]
    assert [of.holds("Why  is\n it so?") for of in shards] == [of.holds("Why is it so?") for of in shards]


def test_shards_are_written_as_k_of_n() -> None:
    assert parse_shard("17/300") == Shard(300, 17)
    assert str(Shard(300, 17)) == "17/300"
    assert Shard(300, 17).folder == "0017-of-0300"
    assert Shard(100_000, 17).folder == "000017-of-100000"


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0", "1/9999999", "-1/3"])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(ShardError):
        parse_shard(text)
