"""How long work reports its progress, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable

Watch = Callable[[float], object]
"""Called now and then with the share of the work that is done, 0 to 1. It may raise to end the work."""


def nothing(_share: float) -> None:
    """Watches nothing."""


def part(watch: Watch, start: float, end: float) -> Watch:
    """The watch of a part of the work, which is from ``start`` to ``end`` of the whole."""
    if watch is nothing:
        return nothing
    return lambda share: watch(start + share * (end - start))
