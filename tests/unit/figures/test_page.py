"""The page of keys is what the types of the figures make of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from judgenet.assets import asset
from judgenet.figures.base import ASKED, OPTIONAL, Keys, as_json
from judgenet.figures.page import page, rows
from judgenet.figures.parts import MeanFigures
from judgenet.stats.intervals import Interval


def test_the_page_is_made_from_the_types() -> None:
    text = asset("figures.md").read_text(encoding="utf-8")
    assert page(text) == text, "Write it anew: python packaging/figures_page.py"


def test_a_changed_type_changes_the_page() -> None:
    text = asset("figures.md").read_text(encoding="utf-8")
    assert page(text.replace("| `mcc` | number |", "| `mcc` | text |")) == text


@dataclass(frozen=True)
class Inner:
    share: Annotated[float | None, "of all"]
    ci: Interval | None
    reasons: dict[str, str]


@dataclass(frozen=True)
class Outer:
    run: str
    by: Annotated[Mapping[str, Inner], Keys(("NAME",))]
    points: tuple[Inner, ...]
    mean: Annotated[MeanFigures, "over pairs"]
    few: Annotated[bool | None, OPTIONAL]
    asked: Annotated[int | None, ASKED]
    labels: tuple[str, ...]


def test_rows_and_json_are_of_the_same_fields() -> None:
    assert [(row.key, row.holds, row.meaning) for row in rows(Outer)] == [
        ("run", "text", ""),
        ("by.NAME.share", "number", "of all"),
        ("by.NAME.ci", "interval", ""),
        ("by.NAME.reasons", "reasons", ""),
        ("points[].share", "number", "of all"),
        ("points[].ci", "interval", ""),
        ("points[].reasons", "reasons", ""),
        ("mean", "mean", "over pairs"),
        ("few", "yes/no?", ""),
        ("asked", "number", ""),
        ("labels", "list", ""),
    ]
    inner = Inner(None, None, {"share": "why"})
    found = Outer("run-1", {"a": inner}, (), MeanFigures(0.5, Interval(0.25, 0.75), 4, None), None, None, ("a",))
    assert as_json(found) == {
        "run": "run-1",
        "by": {"a": {"share": None, "ci": None, "reasons": {"share": "why"}}},
        "points": [],
        "mean": {"value": 0.5, "ci": [0.25, 0.75], "n": 4, "reason": None},
        "labels": ["a"],
    }
