"""Sorting much without holding other threads up."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

_PART = 4000


def sorted_in_parts(
    items: Sequence[T], key: Callable[[T], Any] | None = None, check: Callable[[], object] = lambda: None
) -> Iterator[T]:
    """The items in order, as ``sorted`` has them; the first ones come without sorting the rest to the end.

    One long sort keeps every other thread of the program from going on until it is done; parts of it do not. ``check``
    is called between parts and may raise to end the work.
    """
    if len(items) <= _PART:
        return iter(sorted(items, key=key))  # type: ignore[type-var, arg-type]  # what is given can be compared
    parts = []
    for start in range(0, len(items), _PART):
        check()
        parts.append(sorted(items[start : start + _PART], key=key))  # type: ignore[type-var, arg-type]
    return heapq.merge(*parts, key=key)  # type: ignore[arg-type]
