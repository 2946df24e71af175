"""Many tests at once."""

from __future__ import annotations

from collections.abc import Sequence


def holm(ps: Sequence[float]) -> list[float]:
    """The p values adjusted so that the chance of any false finding among them stays at the level (Holm 1979).

    :raises ValueError: one is outside 0 to 1.
    """
    for p in ps:
        if not 0 <= p <= 1:
            raise ValueError(f"A p value is from 0 to 1, not {p}.")
    adjusted = [0.0] * len(ps)
    least = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        least = max(least, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = least
    return adjusted


def many_compared(what: str, number: int, n: int) -> str:
    """The warning beside the best of several that are compared on the same pairs."""
    return (
        f"{number:,} {what} are compared on the same {n:,} labelled pairs: the best of them looks better here than it "
        "is. Choose on some pairs and measure on others before you rely on it"
    )
