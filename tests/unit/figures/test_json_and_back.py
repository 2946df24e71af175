"""Figures that are kept as JSON come back as the same values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from judgenet.figures.base import OPTIONAL, Keys, as_json, from_json
from judgenet.stats.intervals import Interval


@dataclass(frozen=True)
class _Part:
    value: Annotated[float | None, "a share"]
    ci: Interval | None


@dataclass(frozen=True)
class _Whole:
    name: str
    parts: Annotated[dict[str, _Part], Keys(("NAME",))]
    rows: tuple[_Part, ...]
    pair: tuple[str, int]
    more: Annotated[_Part | None, OPTIONAL]
    free: Any


WHOLE = _Whole("w", {"a": _Part(0.5, Interval(0.25, 0.75))}, (_Part(None, None),), ("x", 3), None, {"k": [1]})


def test_json_and_back() -> None:
    kept = as_json(WHOLE)
    assert "more" not in kept
    back = from_json(_Whole, kept)
    assert back == WHOLE
    assert isinstance(back.parts["a"].ci, Interval)


@pytest.mark.parametrize("kept", [[], {"name": "w", "rows": [1]}, {"parts": 3}])
def test_json_of_another_form_is_refused(kept: object) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError)):
        from_json(_Whole, kept)
