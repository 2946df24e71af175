"""CoBBLEr's own figures, to lay beside those of a lab: the values in the authors' repository."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from judgenet.assets import asset

CITATION = "CoBBLEr (Koo et al. 2023), values in the authors' repository"
NOTE = "Shares of all pairs; those of valid pairs are the same divided by the valid rate."

COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "valid": "valid rate",
        "order_first": "order: first",
        "order_last": "order: last",
        "named_first": "names: first",
        "named_last": "names: last",
        "own_alias": "own system",
        "own_named": "own, named",
        "longer": "longer",
        "bandwagon": "bandwagon",
        "attention": "distraction",
    }
)
"""Titles of the figures that each row has; ``…_valid`` beside some of them divides by valid pairs."""


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """A judge of the paper, or its human annotators. ``figures`` are shares, ``None`` where there is none."""

    judge: str
    figures: Mapping[str, float | None]


@cache
def reference() -> tuple[ReferenceRow, ...]:
    """The table in the order of the paper, people last."""
    with asset("bias", "cobbler.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            ReferenceRow(
                row.pop("judge"), MappingProxyType({name: float(text) if text else None for name, text in row.items()})
            )
            for row in csv.DictReader(file)
        )
