"""The promise of a guarantee holds over simulated labels; a plug-in threshold's does not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from judgenet.stats.guarantee import binomial_tail, confidences, guarantee, least_labels, one_a_question


def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Confidence uniform on eleven levels, and an error that falls from .5 to .02 with it."""
    confidence = rng.integers(0, 11, n) / 10
    human = rng.choice([1, 3], n).astype(np.uint8)
    wrong = rng.random(n) < 0.5 - 0.48 * confidence
    return confidence, np.where(wrong, 4 - human, human).astype(np.uint8), human


def true_error(threshold: float) -> float:
    levels = np.arange(11) / 10
    return float((0.5 - 0.48 * levels[levels >= threshold - 1e-9]).mean())


def test_the_least_number_of_labels() -> None:
    assert least_labels(0.15, 0.05) == 19
    assert least_labels(0.1, 0.05) == 29
    assert 0.9**29 <= 0.05 < 0.9**28
    assert binomial_tail(2, 40, 0.1) == pytest.approx(binom.cdf(2, 40, 0.1))


def test_the_error_of_accepted_verdicts_is_bounded_with_the_promised_probability() -> None:
    rng = np.random.default_rng(0)
    broken = promised = plugged = 0
    for _ in range(1000):
        confidence, verdicts, human = drawn(rng, 300)
        found = guarantee(confidence, verdicts, human, np.arange(300), alpha=0.15, delta=0.1)
        if found.threshold is not None:
            promised += 1
            broken += true_error(found.threshold) > 0.15
        shares = [(level, (verdicts != human)[confidence >= level].mean()) for level in np.arange(11) / 10]
        plug_in = min(level for level, error in shares if error <= 0.15)
        plugged += true_error(plug_in) > 0.15
    assert promised > 750
    assert broken <= 0.1 * 1000
    assert plugged > 0.3 * 1000


def test_nothing_is_promised_without_enough_labels_and_it_says_how_many() -> None:
    confidence, verdicts, human = drawn(np.random.default_rng(1), 300)
    human[15:] = 0
    found = guarantee(confidence, verdicts, human, np.arange(300), alpha=0.15)
    assert found.threshold is None
    assert (found.labels, found.labels_needed, found.decided) == (15, 19, 0)
    assert "15 labelled questions have a verdict, and 19" in found.reason
    with pytest.raises(ValueError, match="between 0 and 1"):
        guarantee(confidence, verdicts, human, np.arange(300), alpha=0.0)


def test_one_pair_a_question_calibrates() -> None:
    questions = np.repeat(np.arange(20), 5)
    used = one_a_question(np.arange(100), questions, 0)
    assert len(used) == 20
    assert questions[used].tolist() == list(range(20))
    assert used.tolist() != one_a_question(np.arange(100), questions, 1).tolist()


def test_confidences_of_calls_orders_and_margins() -> None:
    # Two neurons, both orders: A A / A A; A A / A B; A B / B A; nothing.
    calls = np.zeros((4, 2, 2, 3), np.uint8)
    calls[0, :, :, 0] = 1
    calls[1, 0, :, 0] = calls[1, 1, 0, 0] = calls[1, 1, 1, 2] = 1
    calls[2, 0, 0, 0] = calls[2, 0, 1, 2] = calls[2, 1, 0, 0] = calls[2, 1, 1, 2] = 1
    verdicts = np.array([1, 1, 2, 0], np.uint8)
    margin = np.array([3.0, 1.0, 0.0, np.nan])
    shares = confidences("calls", verdicts, calls, margin)
    assert shares[:3].tolist() == [1.0, 0.75, 0.0]
    assert np.isnan(shares[3])
    assert confidences("orders", verdicts, calls, margin)[:3].tolist() == [2.0, 0.75, 0.0]
    assert confidences("margin", verdicts, calls, margin)[:3].tolist() == [3.0, 1.0, 0.0]
