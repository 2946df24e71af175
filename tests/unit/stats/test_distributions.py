"""Tail probabilities and quantiles, against scipy.stats."""

from __future__ import annotations

import pytest
from scipy import stats  # type: ignore[import-untyped]

from judgenet.stats.distributions import binomial_test, chi2_tail, normal_quantile, normal_tail, t_quantile


@pytest.mark.parametrize("z", [-3.0, 0.0, 0.5, 1.959963984540054, 6.0, 12.0])
def test_normal_and_chi_squared_tails(z: float) -> None:
    assert normal_tail(z) == pytest.approx(stats.norm.sf(z), rel=1e-13)
    assert chi2_tail(z * z) == pytest.approx(stats.chi2.sf(z * z, 1), rel=1e-12)


@pytest.mark.parametrize("level", [0.025, 0.5, 0.8, 0.95, 0.975, 0.99999])
def test_quantiles(level: float) -> None:
    assert normal_quantile(level) == pytest.approx(stats.norm.ppf(level), rel=1e-12, abs=1e-15)
    for degrees in (1, 2, 7, 300):
        assert t_quantile(level, degrees) == pytest.approx(stats.t.ppf(level, degrees), rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7, 20, 101, 3000])
@pytest.mark.parametrize("chance", [0.5, 0.25, 1 / 3, 0.9, 0.0, 1.0])
def test_the_exact_binomial_test(n: int, chance: float) -> None:
    for hits in sorted({0, 1, n // 4, n // 3, n // 2, n - 1, n}):
        expected = stats.binomtest(hits, n, chance).pvalue
        assert binomial_test(hits, n, chance) == pytest.approx(expected, rel=1e-9, abs=1e-300)
