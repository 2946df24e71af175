"""The promise of a guarantee holds over simulated labels; a plug-in threshold's does not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from judgenet.stats.confidence import confidences
from judgenet.stats.guarantee import (
    MOST_LEVELS,
    binomial_tail,
    count_levels,
    guarantee,
    labels_likely,
    labels_worth,
    least_labels,
    one_a_question,
    promise,
    shares_decided,
)


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


def test_the_sequence_begins_where_enough_labels_are_likely_whatever_they_say() -> None:
    rng = np.random.default_rng(3)
    confidence, verdicts, human = drawn(rng, 600)
    human[200:] = 0
    other = human.copy()
    other[:200] = np.where(rng.random(200) < 0.5, 1, 3)
    counts = [count_levels(confidence, verdicts, of, np.arange(600)) for of in (human, other)]
    assert counts[0].confidence.tolist() == counts[1].confidence.tolist()
    # Of 200 labels about 18 a level: 29 right ones are needed, and twice as many to allow for a few errors.
    first = [promise(of, 0.1, 0.05).tested[0] for of in counts]
    assert first[0].confidence == first[1].confidence
    assert 58 <= first[0].n <= 90


def test_a_confidence_of_many_values_is_tested_at_twenty_at_most() -> None:
    rng = np.random.default_rng(4)
    counts = count_levels(rng.random(5000), np.ones(5000, np.uint8), np.ones(5000, np.uint8), np.arange(5000))
    assert len(counts.confidence) == MOST_LEVELS
    assert counts.pairs.tolist() == [250 * (step + 1) for step in range(20)]


def test_pairs_without_a_verdict_or_a_confidence_are_left_out() -> None:
    verdicts = np.array([1, 0, 1, 3], np.uint8)
    confidence = np.array([1.0, 1.0, np.nan, 0.5])
    counts = count_levels(confidence, verdicts, np.array([1, 1, 1, 1], np.uint8), np.arange(4))
    assert (counts.judged, counts.labels_total, counts.labels.tolist(), counts.errors.tolist()) == (
        2,
        2,
        [1, 2],
        [0, 1],
    )
    nothing = promise(count_levels(confidence, np.zeros(4, np.uint8), verdicts, np.arange(4)), 0.1, 0.05)
    assert (nothing.threshold, nothing.pairs, nothing.share) == (None, 0, 0.0)


def test_a_tie_is_right_only_where_people_say_a_tie() -> None:
    verdicts = np.full(60, 2, np.uint8)
    human = np.repeat([2, 1], 30).astype(np.uint8)
    counts = count_levels(np.ones(60), verdicts, human, np.arange(60))
    assert (counts.labels.tolist(), counts.errors.tolist()) == ([60], [30])


def test_a_larger_alpha_never_decides_fewer() -> None:
    confidence, verdicts, human = drawn(np.random.default_rng(5), 400)
    counts = count_levels(confidence, verdicts, human, np.arange(400))
    shares = [of.share for of in shares_decided(counts, (0.05, 0.1, 0.2, 0.3, 0.45), 0.05)]
    assert shares[0] == 0
    assert shares[-1] == 1


def test_labels_worth_is_what_that_many_labels_bring() -> None:
    """The simulation from 150 labels against draws of so many labels from the population itself."""
    rng = np.random.default_rng(6)
    confidence, verdicts, human = drawn(rng, 4000)
    few = human.copy()
    few[400:] = 0
    counts = count_levels(confidence, verdicts, few, np.arange(4000))
    sizes = (100, 200, 800)
    worth = labels_worth(counts, 0.15, 0.1, sizes=sizes)
    for size, found in zip(sizes, worth, strict=True):
        held = 0
        for _ in range(150):
            some = np.zeros(4000, np.uint8)
            at = rng.choice(4000, size, replace=False)
            some[at] = human[at]
            held += guarantee(confidence, verdicts, some, np.arange(4000), alpha=0.15, delta=0.1).threshold is not None
        assert found.promised == pytest.approx(held / 150, abs=0.15)
    assert labels_likely(counts, worth, 0.15, 0.1, 0.8) in (200, 800)
    assert labels_likely(counts, (), 0.15, 0.1, 0.8) is None
    # Below the error of the surest verdicts, of about .02, no number does.
    strict = labels_worth(counts, 0.005, 0.1)
    assert [of.labels for of in strict][-1] == 4000
    assert labels_likely(counts, strict, 0.005, 0.1, 0.8) is None
    few[9:] = 0
    assert labels_worth(count_levels(confidence, verdicts, few, np.arange(4000)), 0.15, 0.1) == ()


def test_confidences_of_calls_orders_neurons_and_margins() -> None:
    # Two neurons, both orders: A A / A A; A A / A B; A B / B A; nothing.
    calls = np.zeros((4, 2, 2, 3), np.uint8)
    calls[0, :, :, 0] = 1
    calls[1, 0, :, 0] = calls[1, 1, 0, 0] = calls[1, 1, 1, 2] = 1
    calls[2, 0, 0, 0] = calls[2, 0, 1, 2] = calls[2, 1, 0, 0] = calls[2, 1, 1, 2] = 1
    verdicts = np.array([1, 1, 2, 0], np.uint8)
    neurons = np.array([[1, 1], [1, 2], [2, 2], [0, 0]], np.uint8)
    margin = np.array([3.0, 1.0, 0.0, np.nan])
    probability = np.array([0.9, 0.3, 0.5, np.nan])

    def sure(kind: str) -> list[float]:
        found = confidences(kind, verdicts, calls, neurons, margin, probability)  # type: ignore[arg-type]
        assert np.isnan(found[3])
        return found[:3].tolist()

    assert sure("calls") == [1.0, 0.75, 0.0]
    assert sure("orders") == [2.0, 0.75, 0.0]
    assert sure("neurons") == [1.0, 0.5, 1.0]
    assert sure("margin") == [3.0, 1.0, 0.0]
    # A tie has no learned probability.
    assert sure("learned") == [0.9, 0.3, 0.0]
    assert np.isnan(sure("samples")).all()
    # Five samples of the first neuron in order AB: four say A.
    calls[0, 0, 0] = (4, 0, 1)
    assert sure("samples")[0] == 0.8


def test_who_looks_after_every_few_labels_breaks_the_promise_more_often() -> None:
    """What the documentation says of looks at 400 labels whose verdicts are wrong in .101, just above alpha."""
    rng = np.random.default_rng(0)
    errors = (rng.random((1000, 400)) < 0.101).cumsum(axis=1)

    def broken(looks: list[int]) -> float:
        p = binomial_tail(errors[:, [n - 1 for n in looks]], np.array(looks), 0.1)
        return float((p <= 0.05).any(axis=1).mean())

    assert broken([400]) <= 0.05
    assert broken([100, 200, 300, 400]) == pytest.approx(0.08, abs=0.02)
    assert broken(list(range(50, 401, 10))) == pytest.approx(0.16, abs=0.03)
