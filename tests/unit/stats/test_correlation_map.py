"""Correlations of judges against numpy's and pandas', and the dendrogram against an example worked by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judgenet.stats.correlation_map import Merge, correlation_map, dendrogram, merged


def test_errors_and_verdicts_correlate_as_numpy_and_pandas_say() -> None:
    rng = np.random.default_rng(2)
    human = rng.choice([1, 2, 3], 300).astype(np.uint8)
    verdicts = np.where(rng.random((300, 4)) < 0.5, human[:, None], rng.choice([0, 1, 2, 3], (300, 4))).astype(np.uint8)
    by_errors = correlation_map(verdicts, human)
    wrong = (verdicts != human[:, None])[(verdicts > 0).any(axis=1)]
    assert by_errors.r == pytest.approx(np.corrcoef(wrong.T))
    assert (by_errors.pairs, by_errors.pairs_total) == (len(wrong), 300)
    # pandas leaves out, column by column, the pairs that one of the two has no verdict on.
    by_verdicts = correlation_map(verdicts, np.zeros(300, np.uint8), by_errors=False)
    values = pd.DataFrame(np.array([np.nan, 1, 0, -1])[verdicts])
    assert by_verdicts.r == pytest.approx(values.corr().to_numpy())
    voted = (verdicts > 0).astype(int)[(verdicts > 0).sum(axis=1) > 1]
    assert by_verdicts.n.tolist() == (voted.T @ voted).tolist()


def test_the_dendrogram_is_the_average_linkage_of_a_small_example() -> None:
    """Distances 1 - r by hand: 0 and 2 join at .1, 1 and 3 at .3; the four distances between are .9, .8, .7, .8."""
    r = np.eye(4)
    for one, other, value in ((0, 2, 0.9), (1, 3, 0.7), (0, 1, 0.1), (0, 3, 0.2), (2, 1, 0.3), (2, 3, 0.2)):
        r[one, other] = r[other, one] = value
    order, merges = dendrogram(r)
    assert {frozenset(merge[:2]) for merge in merges[:2]} == {frozenset({0, 2}), frozenset({1, 3})}
    assert [merge.distance for merge in merges] == pytest.approx([0.1, 0.3, (0.9 + 0.8 + 0.7 + 0.8) / 4])
    assert abs(order.index(0) - order.index(2)) == abs(order.index(1) - order.index(3)) == 1
    assert merged([Merge(0, 2, 0.1), Merge(4, 1, 0.3)], 4) == [(0, 2), (0, 2, 1)]


def test_judges_that_never_vary_stand_apart_and_nothing_to_correlate_says_why() -> None:
    rng = np.random.default_rng(4)
    human = np.ones(40, np.uint8)
    verdicts = np.where(rng.random((40, 2)) < 0.5, 1, 3).astype(np.uint8)
    verdicts = np.concatenate([verdicts, verdicts[:, :1], np.ones((40, 1), np.uint8)], axis=1)
    found = correlation_map(verdicts, human)
    assert np.isnan(found.r[3]).all()
    assert found.merges[0][:2] == (0, 2)
    assert found.merges[-1].distance == pytest.approx(1.0, abs=0.2)
    assert correlation_map(verdicts, np.zeros(40, np.uint8)).reason == "no pair has both a human label and a verdict"
    assert correlation_map(verdicts[:, 3:], human).reason == "there is one judge"
    assert correlation_map(np.zeros((40, 2), np.uint8), human, by_errors=False).reason == "no pair has two verdicts"
    assert correlation_map(np.ones((40, 2), np.uint8), human).reason == "no two judges both err and are right"
