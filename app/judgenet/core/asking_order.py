"""The order in which a run asks its pairs where it may stop before the last one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

ORDER_RECORD: Final = "order"
"""Where the record of a run keeps the seed of its order; without it pairs are asked as they come."""


def asking_order(seed: int, questions: Sequence[int]) -> list[int]:
    """The places of pairs in drawn order, from the number of each pair's question: questions are drawn by the seed,
    and the pairs of a question follow each other as they come.

    What is asked first is then a random sample of the questions whatever the file is sorted by, and says nothing of
    the verdicts.
    """
    drawn = {
        question: hashlib.sha256(f"{seed}:{question}".encode("ascii")).digest() for question in dict.fromkeys(questions)
    }
    return sorted(range(len(questions)), key=lambda place: (drawn[questions[place]], place))


def order_seed(record: Mapping[str, Any]) -> int | None:
    """The seed of a run's order, ``None`` where pairs are asked as they come."""
    kept = record.get(ORDER_RECORD)
    return int(kept["seed"]) if isinstance(kept, Mapping) and "seed" in kept else None
