"""Agreement within a panel, against published examples and figures computed by independent scripts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, t  # type: ignore[import-untyped]
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]
from statsmodels.stats.inter_rater import cohens_kappa  # type: ignore[import-untyped]
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]

from judgenet.core.pairs import Verdict
from judgenet.stats.agreement import agreement_of, matthews
from judgenet.stats.intervals import agreement_intervals
from judgenet.stats.multiple import holm
from judgenet.stats.panel import (
    Level,
    against_people,
    category_counts,
    distinguished_words,
    fleiss_kappa,
    kappa_interval,
    krippendorff_alpha,
    panel_agreement,
    panel_of,
    percent_agreement,
)

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


def test_the_error_of_kappa_and_matthews_correlation() -> None:
    """The specification's table, and statsmodels on others."""
    found = agreement_of(_table(((30, 3, 2), (4, 10, 6), (1, 2, 42))))
    asymptotic = kappa_interval(found)
    assert asymptotic is not None
    assert asymptotic[0] == pytest.approx(0.059338, abs=1e-6)
    assert asymptotic[1] == pytest.approx((0.594543, 0.827144), abs=1e-6)
    assert matthews(found) == pytest.approx(0.713919, abs=1e-6)
    for rows in (((20, 5), (10, 15)), ((5, 1, 0), (2, 0, 3), (0, 4, 9)), ((1, 2, 3), (3, 2, 1), (2, 2, 2))):
        mine = kappa_interval(agreement_of(_table(rows)))
        theirs = cohens_kappa(np.array(rows))
        assert mine is not None
        assert mine[0] == pytest.approx(theirs.std_kappa, abs=1e-9)
    for rows in (((10, 0), (0, 10)), ((10, 0), (0, 0)), ((0, 0), (0, 0))):
        assert kappa_interval(agreement_of(_table(rows))) is None
    assert matthews(agreement_of(_table(((41, 0, 0), (14, 0, 0), (25, 0, 0))))) is None


def _said(n: int, raters: int, seed: int, gaps: float = 0.2) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Codes of raters that follow one truth, each with errors and gaps of its own."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 4, (n, 1))
    said = np.where(rng.random((n, raters)) < 0.35, rng.integers(1, 4, (n, raters)), truth)
    return np.where(rng.random((n, raters)) < gaps, 0, said).astype(np.uint8)


def test_codes_give_what_ratings_give() -> None:
    codes = _said(60, 4, seed=2)
    names = ("w", "x", "y", "z")
    verdicts: dict[int, Verdict] = {1: "a", 2: "tie", 3: "b"}
    ratings = [{name: verdicts[int(code)] for name, code in zip(names, row, strict=True) if code} for row in codes]
    one, other = panel_of(names, codes, resamples=0), panel_agreement(ratings)
    assert one.h.value == pytest.approx(other.h.value)
    assert one.alpha_nominal.value == pytest.approx(other.alpha_nominal.value)
    assert one.alpha_ordinal.value == pytest.approx(other.alpha_ordinal.value)
    for two, found in other.pairwise.items():
        assert one.pairwise[two].confusion == found.confusion
    assert one.mean_kappa.value == pytest.approx(
        np.mean([cohen_kappa_score(*_both(codes, i, j)) for i in range(4) for j in range(i + 1, 4)])
    )
    assert (one.h.interval, one.mean_kappa.n) == (None, 6)
    with pytest.raises(ValueError, match="do not go"):
        panel_of(("x",), codes)


def _alpha_by_definition(units: Sequence[Sequence[int]], level: str) -> float:
    """1 - D_o / D_e (Krippendorff 2011), a sum over each two ratings of a unit and over each two of all ratings."""
    units = [unit for unit in units if len(unit) > 1]
    times = Counter(value for unit in units for value in unit)
    n = times.total()

    def apart(one: int, other: int) -> float:
        if level == "nominal":
            return float(one != other)
        low, high = sorted((one, other))
        return float(sum(times[value] for value in range(low, high + 1)) - (times[low] + times[high]) / 2) ** 2

    far = {(one, other): apart(one, other) for one in times for other in times}
    seen = sum(far[two] / (len(unit) - 1) for unit in units for two in permutations(unit, 2)) / n
    expected = sum(times[one] * times[other] * far[one, other] for one, other in far) / (n * (n - 1))
    return 1 - seen / expected


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_alpha_is_that_of_its_definition(level: Level) -> None:
    """Five categories, units of one to nine ratings: by each two of the ratings, without a table of coincidences."""
    rng = np.random.default_rng(6)
    units = [rng.integers(0, 5, size=rng.integers(1, 10)).tolist() for _ in range(60)]
    found = krippendorff_alpha([category_counts(unit, range(5)) for unit in units], level)
    assert found.value == pytest.approx(_alpha_by_definition(units, level), abs=1e-12)
    assert found.n == sum(len(unit) > 1 for unit in units)


def _both(codes: np.ndarray[tuple[int, int], np.dtype[np.uint8]], one: int, other: int) -> tuple[list[int], list[int]]:
    there = (codes[:, one] > 0) & (codes[:, other] > 0)
    return codes[there, one].tolist(), codes[there, other].tolist()


@pytest.mark.parametrize("questions", [None, 30])
def test_the_intervals_of_a_panel_are_those_of_a_plain_bootstrap(questions: int | None) -> None:
    """Alpha by its definition on each resample; the two bootstraps differ by their own error only, and over
    questions by Student's quantile and what keeps a width where all agree."""
    codes = _said(120, 3, seed=4)
    groups = None if questions is None else np.arange(120) % questions
    found = panel_of(("x", "y", "z"), codes, groups=groups, resamples=2000)
    rng = np.random.default_rng(1)
    plain: dict[str, list[float]] = {"nominal": [], "ordinal": [], "h": []}
    for _ in range(250):
        if groups is None:
            drawn = rng.integers(0, 120, 120)
        else:
            drawn = np.concatenate([np.flatnonzero(groups == group) for group in rng.integers(0, 30, 30)])
        units = [[int(code) for code in row if code] for row in codes[drawn]]
        for level in ("nominal", "ordinal"):
            plain[level].append(_alpha_by_definition(units, level))
        table = [[int((row == code).sum()) for code in (1, 2, 3)] for row in codes[drawn]]
        plain["h"].append(percent_agreement(table).value or 0.0)
    for one, level in ((found.alpha_nominal, "nominal"), (found.alpha_ordinal, "ordinal"), (found.h, "h")):
        by = 1.0 if questions is None else t(questions - 1).ppf(0.975) / 1.959964 * (questions / (questions - 1)) ** 0.5
        ends = one.value + (np.percentile(plain[level], (2.5, 97.5)) - one.value) * by
        assert one.interval == pytest.approx(tuple(ends), abs=0.025 if questions is None else 0.035)


def test_fleiss_kappa_has_an_interval_where_it_has_a_value() -> None:
    full = panel_of(("x", "y", "z"), _said(200, 3, seed=5, gaps=0))
    assert full.fleiss.value is not None
    assert full.fleiss.interval is not None
    assert full.fleiss.interval.low < full.fleiss.value < full.fleiss.interval.high
    gaps = panel_of(("x", "y", "z"), _said(200, 3, seed=5))
    assert gaps.fleiss.interval is None
    assert gaps.fleiss.interval_reason == gaps.fleiss.reason


def test_a_panel_on_few_questions_has_no_interval() -> None:
    found = panel_of(("x", "y"), _said(40, 2, seed=6), groups=np.arange(40) % 4)
    assert found.h.value is not None
    assert found.h.interval is None
    assert "4 questions" in found.h.interval_reason


def test_a_crowd_has_only_the_twos_that_met() -> None:
    crowd = [{f"p{i}": "a", f"p{i + 1}": "b"} for i in range(0, 200, 2)]
    found = panel_agreement(crowd)  # type: ignore[arg-type]
    assert len(found.raters) == 200
    assert len(found.pairwise) == 100


# Who agrees with people most


def test_holm_is_that_of_statsmodels() -> None:
    rng = np.random.default_rng(8)
    for size in (1, 2, 7, 30):
        ps = (rng.random(size) ** 3).tolist()
        assert holm(ps) == pytest.approx(multipletests(ps, method="holm")[1].tolist())
    assert holm([]) == []
    # By hand: 3 x .01, then 2 x .02 raised to it, then 1 x .5; what was not tested stays so.
    assert holm([0.02, None, 0.01, 0.5]) == [pytest.approx(0.04), None, pytest.approx(0.03), pytest.approx(0.5)]
    assert holm([None]) == [None]
    with pytest.raises(ValueError, match="p value"):
        holm([1.2])


def test_the_best_rater_and_the_others() -> None:
    """Of 100 pairs labelled a: x right on 90, y on the first 88, z on 50, w says nothing."""
    human = np.ones(100, np.uint8)
    codes = np.full((100, 4), 3, np.uint8)
    codes[10:, 0] = codes[:88, 1] = codes[:50, 2] = 1
    codes[:, 3] = 0
    found = against_people(("x", "y", "z", "w"), codes, human, resamples=200)
    assert [row.name for row in found.raters] == ["x", "y", "z", "w"]
    assert found.best == "x"
    rows = {row.name: row for row in found.raters}
    assert (rows["y"].only_best, rows["y"].only_this, rows["y"].n_common) == (12, 10, 100)
    assert rows["y"].p == pytest.approx(binomtest(10, 22).pvalue)
    assert rows["z"].p == pytest.approx(binomtest(10, 60).pvalue)
    assert rows["z"].p_holm == pytest.approx(2 * binomtest(10, 60).pvalue)
    assert found.not_worse == ("y",)
    assert (rows["x"].p, rows["w"].p) == (None, None)
    assert rows["x"].reason == "the best itself"
    assert "shares no labelled pair" in rows["w"].reason
    assert "4 neurons are compared on the same 100 labelled pairs" in found.warning
    assert found.tested_over == "pairs"


def test_a_handful_of_labels_makes_nobody_the_best() -> None:
    """x is right on 3 of 3 pairs, y on 40 of 60 others, z on 30 of the same: what x is worth, nobody can tell."""
    human = np.ones(63, np.uint8)
    codes = np.full((63, 3), 2, np.uint8)
    codes[:3, 0], codes[3:, 0] = 1, 0
    codes[:3, 1:] = 0
    codes[3:43, 1] = codes[3:33, 2] = 1
    found = against_people(("x", "y", "z"), codes, human, resamples=200)
    assert [row.name for row in found.raters] == ["y", "z", "x"]
    assert found.best == "y"
    assert found.not_worse == ("x",)
    few = against_people(("x", "y"), codes[:10, :2], human[:10], resamples=200)
    assert few.best == "y", "with 3 and 7 labelled pairs the one with more stands first"


def test_repeated_questions_are_what_is_tested() -> None:
    """Twelve questions of five pairs each; the best is ahead in each of them, which is twelve looks and not sixty."""
    human = np.ones(60, np.uint8)
    codes = np.ones((60, 2), np.uint8)
    codes[:, 1] = 3
    found = against_people(("x", "y"), codes, human, groups=np.arange(60) % 12, resamples=200)
    assert found.tested_over == "questions"
    assert (found.raters[1].only_best, found.raters[1].only_this, found.raters[1].n_common) == (60, 0, 60)
    assert found.raters[1].p == pytest.approx(2 / 2**12)
    assert found.warning == ""


def test_raters_without_a_label_have_a_reason() -> None:
    found = against_people(("x", "y"), np.ones((5, 2), np.uint8), np.zeros(5, np.uint8))
    assert (found.best, found.not_worse) == (None, ())
    assert "human label" in found.reason
    assert all(row.reason for row in found.raters)
    assert against_people((), np.zeros((5, 0), np.uint8), np.ones(5, np.uint8)).best is None
    with pytest.raises(ValueError, match="do not go"):
        against_people(("x",), np.ones((5, 2), np.uint8), np.ones(5, np.uint8))


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


@pytest.mark.parametrize(
    ("others", "same", "said"),
    [
        (17, 0, "can tell it from all 17 others"),
        (17, 3, "cannot tell it from 3 of the 17 others"),
        (17, 17, "cannot tell it from any of the 17 others"),
        (1, 0, "can tell it from the other"),
        (1, 1, "cannot tell it from the other"),
    ],
)
def test_whom_the_best_can_be_distinguished_words(others: int, same: int, said: str) -> None:
    assert distinguished_words(others, same) == said
