"""Many tests at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload


@overload
def holm(ps: Sequence[float]) -> list[float]: ...


@overload
def holm(ps: Sequence[float | None]) -> list[float | None]: ...


def holm(ps: Sequence[float | None]) -> list[float | None] | list[float]:
    """The p values adjusted so that the chance of any false finding among them stays at the level (Holm 1979): the
    smallest times their number, the next times one less, and so on, none below the one before. Those that are ``None``
    were not tested and stay so.

    :raises ValueError: one is outside 0 to 1.
    """
    # statsmodels' multipletests collects all garbage of the process each time, which takes longer than all the rest.
    for p in ps:
        if p is not None and not 0 <= p <= 1:
            raise ValueError(f"A p value is from 0 to 1, not {p}.")
    tested = sorted((p, place) for place, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    least = 0.0
    for rank, (p, place) in enumerate(tested):
        least = max(least, min(1.0, (len(tested) - rank) * p))
        adjusted[place] = least
    return adjusted


def benjamini_yekutieli(ps: Sequence[float | None]) -> list[float | None]:
    """The p values adjusted so that the expected share of false findings among all findings stays at the level, however
    they depend on one another (Benjamini and Yekutieli 2001): with m of them and c the sum of 1/i up to m, the i-th
    smallest times m c / i, none above the one after. Those that are ``None`` were not tested and stay so.

    :raises ValueError: one is outside 0 to 1.
    """
    for p in ps:
        if p is not None and not 0 <= p <= 1:
            raise ValueError(f"A p value is from 0 to 1, not {p}.")
    tested = sorted(((p, place) for place, p in enumerate(ps) if p is not None), reverse=True)
    adjusted: list[float | None] = [None] * len(ps)
    m = len(tested)
    scale = m * sum(1 / i for i in range(1, m + 1))
    most = 1.0
    for later, (p, place) in enumerate(tested):
        most = min(most, p * scale / (m - later))
        adjusted[place] = most
    return adjusted


def many_compared(what: str, number: int, n: int) -> str:
    """The warning beside the best of several that are compared on the same pairs."""
    return (
        f"{number:,} {what} are compared on the same {n:,} labelled pairs: the best of them looks better here than it "
        "is. Choose on some pairs and measure on others before you rely on it"
    )
