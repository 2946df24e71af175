"""Agreement within a panel, against published examples and figures computed by independent scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from judgenet.core.pairs import Verdict
from judgenet.stats.agreement import agreement_of
from judgenet.stats.intervals import agreement_intervals
from judgenet.stats.panel import category_counts, fleiss_kappa, krippendorff_alpha, panel_agreement, percent_agreement

FLEISS_1971 = (
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
)  # fmt: skip


def _table(rows: Sequence[Sequence[int]]) -> dict[tuple[Verdict | None, Verdict | None], int]:
    names: tuple[Verdict, ...] = ("a", "b", "tie")
    return {(names[i], names[j]): count for i, row in enumerate(rows) for j, count in enumerate(row)}


@pytest.mark.parametrize(
    ("rows", "kappa"),
    [
        (((20, 5), (10, 15)), 0.4),
        (((30, 3, 2), (4, 10, 6), (1, 2, 42)), 0.710843),
        (((0, 10), (10, 0)), -1),
        (((10, 0), (0, 0)), None),
        (((41, 0, 0), (14, 0, 0), (25, 0, 0)), 0),
    ],
)
def test_cohens_kappa(rows: Sequence[Sequence[int]], kappa: float | None) -> None:
    found = agreement_of(_table(rows))
    assert found.kappa == (None if kappa is None else pytest.approx(kappa, abs=1e-6))
    assert ("kappa" in found.reasons) == (kappa is None)


def test_the_intervals_of_the_published_table() -> None:
    """Tolerance .01 an end: the bootstrap's own error."""
    found = agreement_intervals(agreement_of(_table(((30, 3, 2), (4, 10, 6), (1, 2, 42)))))
    assert found.macro_f1 == pytest.approx((0.674, 0.858), abs=0.01)
    assert found.kappa == pytest.approx((0.590, 0.825), abs=0.01)


@pytest.mark.parametrize(
    ("counts", "kappa"),
    [
        (FLEISS_1971, 0.209931),
        (((3, 0, 0), (0, 3, 0), (2, 1, 0), (1, 1, 1), (0, 0, 3)), 0.493243),
        (((3, 0), (3, 0)), None),
        (((1, 1), (1, 1)), -1),
        (((2, 1), (1, 1)), None),
        (((1, 0), (0, 1)), None),
        ((), None),
    ],
)
def test_fleiss(counts: Sequence[Sequence[int]], kappa: float | None) -> None:
    found = fleiss_kappa(counts)
    assert found.value == (None if kappa is None else pytest.approx(kappa, abs=1e-6))
    assert bool(found.reason) == (kappa is None)


def _units(raters: str) -> list[tuple[int, ...]]:
    """Counts by category of units, from raters separated by a slash, - for missing."""
    rows = raters.split("/")
    categories = sorted({value for value in raters if value not in "-/"})
    return [category_counts(unit, categories) for unit in zip(*rows, strict=True)]


@pytest.mark.parametrize(
    ("raters", "nominal", "ordinal"),
    [
        ("123321412---/1233224125-3/-3332342251-/12332441251-", 0.743421, 0.815388),
        ("01201/01211/010-1", 0.559322, 0.281463),
        ("0101/1010", -0.75, None),
    ],
)
def test_alpha(raters: str, nominal: float, ordinal: float | None) -> None:
    units = _units(raters)
    assert krippendorff_alpha(units, "nominal").value == pytest.approx(nominal, abs=1e-6)
    if ordinal is not None:
        assert krippendorff_alpha(units, "ordinal").value == pytest.approx(ordinal, abs=1e-6)


@pytest.mark.parametrize(("counts", "words"), [(((3, 0), (2, 0)), "one and the same"), (((1, 0),), "two"), ((), "two")])
def test_an_alpha_that_is_none(counts: Sequence[Sequence[int]], words: str) -> None:
    found = krippendorff_alpha(counts, "nominal")
    assert found.value is None
    assert words in found.reason


def test_h_is_averaged_over_pairs() -> None:
    """Three of three, one of three pairs of raters, one alone (left out), both of two."""
    found = percent_agreement(((3, 0, 0), (2, 1, 0), (0, 1, 0), (0, 0, 2)))
    assert found.value == pytest.approx((1 + 1 / 3 + 1) / 3)
    assert found.n == 3
    assert percent_agreement(((1, 0),)).value is None


def test_a_panel_with_gaps() -> None:
    found = panel_agreement([{"x": "a", "y": "a"}, {"x": "b", "y": "tie", "z": "b"}, {"y": "a"}, {}])
    assert found.raters == ("x", "y", "z")
    assert found.h.value == pytest.approx((1 + 1 / 3) / 2)
    assert found.pairwise["x", "y"].n_used == 2
    assert found.pairwise["x", "y"].accuracy == pytest.approx(0.5)
    assert found.pairwise["x", "z"].kappa is None
    assert "equally many" in found.fleiss.reason


def test_no_panel() -> None:
    found = panel_agreement([])
    assert (found.raters, found.pairwise) == ((), {})
    for coefficient in (found.h, found.alpha_nominal, found.alpha_ordinal, found.fleiss):
        assert (coefficient.value, bool(coefficient.reason)) == (None, True)


@pytest.mark.data
def test_the_annotators_of_pandalm(shared_data: Path) -> None:
    """Cohen's kappa of each two of the three annotators, as published with the test set."""
    expected = json.loads((shared_data / "expected.json").read_text(encoding="utf-8"))["pandalm"]
    rows = json.loads((shared_data / "pandalm" / "testset-v1.json").read_text(encoding="utf-8"))
    names: dict[str, Verdict] = {"0": "tie", "1": "a", "2": "b"}
    units = [{str(i): names[str(row[f"annotator{i}"])] for i in (1, 2, 3)} for row in rows]
    found = panel_agreement(units)
    for one, other in (("1", "2"), ("1", "3"), ("2", "3")):
        kappa = expected[f"annotator_kappa_{one}_{other}"]
        assert found.pairwise[one, other].kappa == pytest.approx(kappa, abs=1e-6)
    # Equally many raters everywhere: alpha is Fleiss' kappa but for its correction for small samples.
    assert found.fleiss.value is not None
    assert found.alpha_nominal.value == pytest.approx(found.fleiss.value, abs=1e-3)
