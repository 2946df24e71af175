"""Shards: a set of pairs divided by questions, so that many machines can each judge a part.

Questions are divided, not pairs: intervals are over questions, and sampled matches belong to one. Where a question
goes depends on its text and the number of shards alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from judgenet.core.pairs import Pair, question_key

SHARD_RECORD: Final = "shard"
"""The name in a run's record of the shard that the run is, and of the whole that it is a part of."""

_FORM = re.compile(r"\s*(\d+)\s*/\s*(\d+)\s*")
MOST_SHARDS: Final = 1_000_000


class ShardError(ValueError):
    """No shard; the message says how to write one."""


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """One of ``of`` shards; ``index`` counts from 1."""

    of: int
    index: int

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    @property
    def folder(self) -> str:
        """The name of its folder, which sorts as the shards do: ``0017-of-0300``."""
        size = max(4, len(str(self.of)))
        return f"{self.index:0{size}}-of-{self.of:0{size}}"

    def holds(self, question: str) -> bool:
        """Whether the pairs of a question belong to it."""
        return _shard_of(question, self.of) == self.index - 1

    def places(self, pairs: Sequence[Pair]) -> tuple[int, ...]:
        """The places of its pairs among all."""
        return tuple(place for place, pair in enumerate(pairs) if self.holds(pair.question))


def divide(pairs: Sequence[Pair], count: int) -> tuple[tuple[int, ...], ...]:
    """The places of the pairs of each of so many shards, all at once."""
    shards: list[list[int]] = [[] for _ in range(count)]
    for place, pair in enumerate(pairs):
        shards[_shard_of(pair.question, count)].append(place)
    return tuple(tuple(places) for places in shards)


def _shard_of(question: str, count: int) -> int:
    return int.from_bytes(question_key(question)[:8], "big") % count


def parse_shard(text: str) -> Shard:
    """A shard from ``17/300``.

    :raises ShardError: it is none.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ShardError(f"{text!r} is no shard: write K/N, such as 17/300")
    index, count = int(match[1]), int(match[2])
    if not 1 <= index <= count <= MOST_SHARDS:
        raise ShardError(f"{text!r}: shards count from 1 to their number, which is {MOST_SHARDS:,} at most")
    return Shard(count, index)
