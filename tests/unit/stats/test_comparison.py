"""Two networks compared, against figures computed by independent scripts and a plain bootstrap of scikit-learn's."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.optimize import minimize_scalar  # type: ignore[import-untyped]
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score  # type: ignore[import-untyped]

from judgenet.core.pairs import Verdict
from judgenet.stats.comparison import compare, known_difference, mcnemar, rate_difference, tango

Cells = Counter[tuple[Verdict | None, Verdict, Verdict]]


@pytest.mark.parametrize(
    ("b", "c", "p", "chi2_p"),
    [
        (10, 2, 0.038574, 0.043308),
        (30, 18, 0.111403, 0.112351),
        (5, 5, 1, 0.751830),
        (6, 0, 0.031250, 0.041227),
        (1, 0, 1, 1),
        (0, 0, 1, None),
    ],
)
def test_mcnemar(b: int, c: int, p: float, chi2_p: float | None) -> None:
    found = mcnemar(b, c, 300)
    assert found.p == pytest.approx(p, abs=1e-6)
    assert found.chi2_p == (None if chi2_p is None else pytest.approx(chi2_p, abs=1e-6))


@pytest.mark.parametrize(
    ("b", "c", "n", "difference", "low", "high"),
    [
        (10, 2, 100, 0.08, 0.013940, 0.146060),
        (30, 18, 300, 0.04, -0.005037, 0.085037),
        (5, 5, 80, 0, -0.077474, 0.077474),
    ],
)
def test_the_difference_of_two_accuracies(b: int, c: int, n: int, difference: float, low: float, high: float) -> None:
    found = mcnemar(b, c, n)
    assert found.difference == pytest.approx(difference)
    assert found.interval == pytest.approx((low, high), abs=1e-6)


def test_without_pairs_there_is_no_difference() -> None:
    found = mcnemar(0, 0, 0)
    assert (found.difference, found.interval, found.p) == (None, None, 1)
    with pytest.raises(ValueError, match="no part"):
        mcnemar(3, 2, 4)


def _sample(n: int, unlabelled: int = 0) -> list[tuple[Verdict | None, Verdict, Verdict]]:
    """Pairs whose first network is right on about 80 %, the second on about 60 %."""
    rng = np.random.default_rng(7)
    names: tuple[Verdict, ...] = ("a", "b", "tie")
    pairs: list[tuple[Verdict | None, Verdict, Verdict]] = []
    for i in range(n + unlabelled):
        human = names[rng.choice(3, p=(0.45, 0.35, 0.2))]
        one, other = (human if rng.random() < right else names[rng.integers(3)] for right in (0.7, 0.4))
        pairs.append((human if i < n else None, one, other))
    return pairs


def test_the_differences_of_all_figures() -> None:
    """Against a bootstrap that draws pairs one by one and asks scikit-learn; .02 an end for the error of both."""
    pairs = _sample(150)
    found = compare(Counter(pairs), resamples=4000)
    human, one, other = (np.array(column) for column in zip(*pairs, strict=True))
    metrics = {
        "accuracy": accuracy_score,
        "macro_f1": lambda h, v: f1_score(h, v, average="macro", labels=["a", "b", "tie"], zero_division=0),
        "kappa": cohen_kappa_score,
    }
    rng = np.random.default_rng(1)
    drawn = [rng.integers(150, size=150) for _ in range(400)]
    for name, metric in metrics.items():
        shown = found.differences[name]
        assert shown.first == pytest.approx(metric(human, one))
        assert shown.second == pytest.approx(metric(human, other))
        assert shown.difference == pytest.approx(metric(human, one) - metric(human, other))
        plain = np.percentile([metric(human[d], one[d]) - metric(human[d], other[d]) for d in drawn], (2.5, 97.5))
        assert shown.interval == pytest.approx(tuple(plain), abs=0.03)
    assert found.test.only_first == sum((one == human) & (other != human))
    assert found.test.only_second == sum((one != human) & (other == human))
    assert found.agree == sum(one == other)
    accuracy = found.differences["accuracy"].interval
    assert accuracy == pytest.approx(found.test.interval, abs=0.01)


def test_one_network_against_itself() -> None:
    """No pair tells the two apart, which does not say that none would: only a run against itself is known."""
    pairs: Cells = Counter({("a", "a", "a"): 30, ("b", "a", "a"): 10, ("b", "b", "b"): 30})
    found = compare(pairs)
    for shown in found.differences.values():
        assert shown.difference == 0
        assert shown.interval is not None
        assert shown.interval.low < -0.02 < 0.02 < shown.interval.high
        assert known_difference(shown).interval == (0, 0)
        assert "known" in known_difference(shown).note
    # Tango's interval without a discordant pair ends at z^2 / (n + z^2).
    z2 = 1.959964**2
    assert found.differences["accuracy"].interval == pytest.approx((-z2 / (70 + z2), z2 / (70 + z2)), abs=1e-6)
    assert found.test.p == 1


def _tango_z(only_first: int, only_second: int, n: int, d: float) -> float:
    """The score statistic with the shares of greatest likelihood under the difference ``d``, found by a search."""
    counts = (only_first, only_second, n - only_first - only_second)

    def loss(second: float) -> float:
        shares = (second + d, second, 1 - 2 * second - d)
        return -sum(count * np.log(max(share, 1e-300)) for count, share in zip(counts, shares, strict=True) if count)

    ends = (max(0.0, -d), (1 - d) / 2)
    found = minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-12})
    second = min((loss(x), x) for x in (*ends, found.x))[1]
    return float((only_first - only_second - n * d) / np.sqrt(n * (2 * second + d * (1 - d))))


@pytest.mark.parametrize("cell", [(0, 0, 24), (1, 0, 44), (3, 1, 40), (2, 5, 60), (4, 0, 20)])
def test_few_discordant_pairs_have_the_score_interval(cell: tuple[int, int, int]) -> None:
    """At its ends the score statistic is the normal quantile."""
    found = tango(*cell)
    assert mcnemar(*cell).interval == found
    assert [_tango_z(*cell, d) for d in found] == pytest.approx([1.959964, -1.959964], abs=1e-4)


@pytest.mark.parametrize(("first", "second", "n"), [(0.95, 0.9, 20), (0.95, 0.9, 40), (0.98, 0.98, 24)])
def test_differences_of_good_judges_are_covered(first: float, second: float, n: int) -> None:
    """Wald's interval and the bootstrap covered .70 at 20 pairs and .913 at 40."""
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(1000):
        one, other = rng.random(n) < first, rng.random(n) < second
        found = mcnemar(int((one & ~other).sum()), int((other & ~one).sum()), n).interval
        assert found is not None
        held += found.low <= first - second <= found.high
    assert held / 1000 >= 0.93


def test_no_labels_no_difference() -> None:
    found = compare(Counter({(None, "a", "b"): 5}))
    assert (found.n, found.agree, found.test.n) == (5, 0, 0)
    for shown in found.differences.values():
        assert shown.difference is None
        assert "human label" in shown.reason
    one_class = compare(Counter({("a", "a", "a"): 5})).differences["kappa"]
    assert one_class.difference is None
    assert one_class.reason


def test_corrected_rates_of_two_judges_of_the_same_pairs_agree() -> None:
    """A judge that errs one way only is .25 off uncorrected. Corrected by 100 random labels, the difference from a fair
    judge is near 0, and so inside most intervals (33 of 40 are three standard errors below 95 %)."""
    rng = np.random.default_rng(5)
    names: tuple[Verdict, ...] = ("a", "b")
    inside, differences = 0, []
    for _ in range(40):
        human = rng.random(1000) < 0.5
        fair = np.where(rng.random(1000) < 0.9, human, ~human)
        biased = human | (rng.random(1000) < 0.5)
        assert biased.mean() - fair.mean() > 0.15
        cells: Cells = Counter()
        for i, (label, one, other) in enumerate(zip(human, fair, biased, strict=True)):
            cells[names[int(label)] if i < 100 else None, names[int(one)], names[int(other)]] += 1
        found = rate_difference(cells, "random", resamples=500)
        assert found.interval is not None
        assert found.difference is not None
        inside += found.interval.low <= 0 <= found.interval.high
        differences.append(found.difference)
    assert inside >= 33
    assert abs(np.mean(differences)) < 0.025


def test_a_difference_of_rates_that_is_refused() -> None:
    cells: Cells = Counter({("a", "a", "a"): 4, (None, "b", "a"): 40})
    assert "more are needed" in rate_difference(cells, "random").reason
    assert "at random from all pairs" in rate_difference(cells, "within-verdict").reason
    # The labels suffice for the first alone: the second says tie on pairs of which too few are labelled.
    apart: Counter[tuple[Verdict | None, Verdict, Verdict]] = Counter(
        {("a", "a", "a"): 30, ("b", "b", "b"): 30, (None, "a", "a"): 40, (None, "b", "tie"): 40}
    )
    one_sided = rate_difference(apart, "random", names=("run 2", "run 1"))
    assert one_sided.first is not None
    assert (one_sided.second, one_sided.difference) == (None, None)
    assert one_sided.reason.startswith("run 1: ")
    assert "run 2" not in one_sided.reason
    assert rate_difference(Counter(), "random").difference is None
