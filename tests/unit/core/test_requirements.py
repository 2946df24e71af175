"""Requirements on figures: their grammar, and when they are met."""

from __future__ import annotations

import pytest

from judgenet.core.documents import DocumentError
from judgenet.core.requirements import parse_requirement


@pytest.mark.parametrize(
    ("text", "key", "sign", "bound"),
    [
        ("c2_all.kappa.low >= .6", "c2_all.kappa.low", ">=", 0.6),
        ("rate.corrected.low>50%", "rate.corrected.low", ">", 0.5),
        ("  Judge 1.accuracy  <  -1e-2 ", "Judge 1.accuracy", "<", -0.01),
        ("state == done", "state", "==", "done"),
        ("state != 'running'", "state", "!=", "running"),
        ("pairs.finished == 120", "pairs.finished", "==", 120.0),
    ],
)
def test_requirements_are_read(text: str, key: str, sign: str, bound: float | str) -> None:
    found = parse_requirement(text)
    assert (found.key, found.sign, found.bound, found.text) == (key, sign, bound, text.strip())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("c2_all.kappa", "is no requirement: write KEY >= NUMBER"),
        (">= .6", "is no requirement"),
        ("kappa >= high", "'high' is no number"),
        ("kappa = .6", "is no requirement"),
        (".4 < kappa < .6", "is no requirement"),
        ("kappa >= 0,6", "'0,6' is no number"),
    ],
)
def test_what_is_no_requirement_says_how_to_write_one(text: str, why: str) -> None:
    with pytest.raises(DocumentError, match=r"requirements\[0\]") as error:
        parse_requirement(text, "requirements[0]")
    assert why in str(error.value)


@pytest.mark.parametrize(
    ("text", "figure", "met"),
    [
        ("x >= 1", 1.0, True),
        ("x > 1", 1.0, False),
        ("x <= 1", 1.0, True),
        ("x < 1", 0.5, True),
        ("x == 1", 1, True),
        ("x != 1", 1, False),
        ("x == done", "done", True),
        ("x != done", "running", True),
        ("x == done", 1.0, False),
        ("x >= 1", "1", False),
    ],
)
def test_when_a_requirement_is_met(text: str, figure: float | str, met: bool) -> None:
    assert parse_requirement(text).met_by(figure) is met
