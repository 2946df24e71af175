"""How much judges differ, against plain loops, Kuncheva and Whitaker's formulas, and scikit-learn's distances."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
import pytest
from scipy.stats import entropy as scipy_entropy  # type: ignore[import-untyped]
from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]
from sklearn.metrics.pairwise import cosine_distances  # type: ignore[import-untyped]

from judgenet.stats.curves import Codes
from judgenet.stats.diversity import (
    MOST_CHARACTERS,
    Evidence,
    diversity_change,
    evidence_diversity,
    verdict_diversity,
)


def said(n: int, neurons: int, seed: int, same: float = 0.5) -> tuple[Codes, Codes]:
    """Codes of neurons with gaps, and of human labels with gaps."""
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 4, n)
    codes = np.where(rng.random((n, neurons)) < same, human[:, None], rng.integers(1, 4, (n, neurons)))
    codes[rng.random((n, neurons)) < 0.1] = 0
    return codes.astype(np.uint8), np.where(rng.random(n) < 0.2, 0, human).astype(np.uint8)


def test_verdicts_against_a_plain_loop() -> None:
    codes, human = said(200, 5, seed=1)
    found = verdict_diversity(codes, human)
    differ, entropies, unanimous, double, one_alone, oracle = [], [], [], [], [], []
    for row, label in zip(codes.tolist(), human.tolist(), strict=True):
        there = [code for code in row if code]
        if len(there) < 2:
            continue
        twos = list(combinations(there, 2))
        differ.append(sum(x != y for x, y in twos) / len(twos))
        entropies.append(scipy_entropy([there.count(code) for code in (1, 2, 3)]) / log(3))
        unanimous.append(len(set(there)) == 1)
        if label:
            double.append(sum(x != label and y != label for x, y in twos) / len(twos))
            one_alone.append(sum((x == label) != (y == label) for x, y in twos) / len(twos))
            oracle.append(label in there)
    assert (found.neurons, found.n, found.n_total, found.n_labelled) == (5, len(differ), 200, len(double))
    for mean, plain in (
        (found.disagreement, differ),
        (found.entropy, entropies),
        (found.unanimous, unanimous),
        (found.double_fault, double),
        (found.error_disagreement, one_alone),
        (found.oracle, oracle),
    ):
        assert mean.value == pytest.approx(np.mean(plain))
        assert mean.n == len(plain)
        assert mean.interval is not None
        assert mean.interval.low < np.mean(plain) <= mean.interval.high


def test_yules_q_is_kuncheva_and_whitakers() -> None:
    """Two neurons on 100 labelled pairs: both right 40, first alone 20, second alone 10, both wrong 30."""
    human = np.ones(100, np.uint8)
    codes = np.full((100, 2), 3, np.uint8)
    codes[:60, 0] = 1
    codes[:40, 1] = codes[60:70, 1] = 1
    found = verdict_diversity(codes, human).q
    assert found.value == pytest.approx((40 * 30 - 20 * 10) / (40 * 30 + 20 * 10))
    # The asymptotic error of Yule's Q: (1 - Q²) / 2 sqrt(1/a + 1/b + 1/c + 1/d).
    error = (1 - (5 / 7) ** 2) / 2 * (1 / 40 + 1 / 20 + 1 / 10 + 1 / 30) ** 0.5
    assert found.interval is not None
    assert (found.interval.high - found.interval.low) / 2 == pytest.approx(1.959964 * error, rel=1e-6)


def test_q_averages_over_the_twos_that_have_one() -> None:
    codes, human = said(300, 4, seed=2)
    right = codes == human[:, None]
    values = []
    for one, other in combinations(range(4), 2):
        used = (codes[:, one] > 0) & (codes[:, other] > 0) & (human > 0)
        a, d = (right[used, one] & right[used, other]).sum(), (~right[used, one] & ~right[used, other]).sum()
        b, c = (right[used, one] & ~right[used, other]).sum(), (~right[used, one] & right[used, other]).sum()
        values.append((a * d - b * c) / (a * d + b * c))
    assert verdict_diversity(codes, human).q.value == pytest.approx(np.mean(values))
    always = np.ones((30, 2), np.uint8)
    found = verdict_diversity(always, np.ones(30, np.uint8))
    assert found.q.value is None
    assert "right, or wrong, on all pairs" in found.q.reason
    assert (found.disagreement.value, found.unanimous.value, found.oracle.value) == (0, 1, 1)


def test_the_change_between_layers_is_paired() -> None:
    before, _ = said(150, 4, seed=3, same=0.2)
    after, _ = said(150, 4, seed=4, same=0.9)
    found = diversity_change(before, after)
    one, other = (verdict_diversity(codes, np.zeros(150, np.uint8)) for codes in (before, after))
    assert found.disagreement.value is not None
    assert found.disagreement.interval is not None
    assert found.disagreement.value == pytest.approx(other.disagreement.value - one.disagreement.value, abs=0.03)  # type: ignore[operator]
    assert found.disagreement.interval.high < 0
    with pytest.raises(ValueError, match="cannot be compared"):
        diversity_change(before, after[:3])


def test_one_neuron_or_no_label_has_reasons() -> None:
    alone = verdict_diversity(np.ones((5, 1), np.uint8), np.ones(5, np.uint8))
    for mean in (alone.disagreement, alone.entropy, alone.q, alone.double_fault, alone.oracle):
        assert (mean.value, mean.interval, bool(mean.reason)) == (None, None, True)
    unlabelled = verdict_diversity(np.ones((5, 2), np.uint8), np.zeros(5, np.uint8))
    assert unlabelled.disagreement.value == 0
    assert "labelled" in unlabelled.q.reason
    assert verdict_diversity(np.zeros((0, 3), np.uint8), np.zeros(0, np.uint8)).disagreement.value is None


# Evidence

TEXTS = {
    (0, 1): ("Response A names the melting point.", "B is shorter but wrong about density.", "Both are polite."),
    (0, 2): ("A names the melting point and is right.", "A names the melting point.", "A names the melting point."),
    (1, 1): ("天气很好，回答一更准确。", "回答二没有提到温度。", "The second one is off topic."),
    (1, 2): ("回答一更准确。", "回答一更准确。", "回答一更准确，也更完整。"),
}


def evidence() -> list[Evidence]:
    return [
        Evidence(pair, layer, neuron, "ab", text)
        for (pair, layer), texts in TEXTS.items()
        for neuron, text in enumerate(texts, 1)
    ]


def test_evidence_is_compared_as_by_scikit_learn() -> None:
    found = evidence_diversity(evidence(), (1, 2))
    texts = [one.text for one in evidence()]
    vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), sublinear_tf=True).fit_transform(texts)
    apart = cosine_distances(vectors)
    place = {key: range(3 * i, 3 * i + 3) for i, key in enumerate(TEXTS)}
    within = {key: np.mean([apart[i, j] for i, j in combinations(of, 2)]) for key, of in place.items()}
    for layer, of in zip((1, 2), found, strict=True):
        assert (of.layer, of.texts, of.empty, of.distance.n) == (layer, 6, 0, 2)
        assert of.distance.value == pytest.approx(np.mean([within[pair, layer] for pair in (0, 1)]))
        across = [apart[i, j] for i in place[0, layer] for j in place[1, layer]]
        assert of.between_pairs == pytest.approx(np.mean(across))
    later = found[1]
    assert later.change.value == pytest.approx(np.mean([within[p, 2] - within[p, 1] for p in (0, 1)]))
    own = [np.mean([apart[i, j] for i, j in zip(place[p, 1], place[p, 2], strict=True)]) for p in (0, 1)]
    assert later.to_own.value == pytest.approx(np.mean(own))
    assert found[0].to_own.value is None
    assert found[0].change.value is None
    # Layer 2 repeats itself, in English and in Chinese.
    assert later.change.value is not None
    assert later.change.value < -0.3


def test_orders_are_looks_at_the_same_pair() -> None:
    twice = [*evidence(), *(one._replace(order="ba") for one in evidence())]
    once, both = evidence_diversity(evidence(), (1, 2)), evidence_diversity(twice, (1, 2))
    for one, two in zip(once, both, strict=True):
        assert two.distance.value == pytest.approx(one.distance.value, abs=0.02)
        assert (one.distance.n, two.distance.n, two.texts) == (2, 2, 12)


def test_empty_and_long_evidence_is_counted() -> None:
    long = "a b " * MOST_CHARACTERS
    found = evidence_diversity(
        [Evidence(0, 1, 1, "ab", " \n"), Evidence(0, 1, 2, "ab", long), Evidence(0, 1, 3, "ab", long)], (1, 2)
    )
    assert (found[0].texts, found[0].empty, found[0].cut) == (2, 1, 2)
    assert found[0].length == len(long.strip())
    assert found[0].distance.value == pytest.approx(0, abs=1e-9)
    assert found[0].between_pairs is None
    assert (found[1].texts, found[1].reason) == (0, "no evidence is recorded")
    assert found[1].distance.reason
    nothing = evidence_diversity([Evidence(0, 1, 1, "ab", "")], (1,))
    assert (nothing[0].empty, nothing[0].distance.value, nothing[0].reason) == (1, None, "no evidence is recorded")


def test_odd_texts_are_compared() -> None:
    odd = ["\ud800 lone", "🙂", ".", "\u202eright to left", "0"]
    found = evidence_diversity([Evidence(0, 1, i, "ab", text) for i, text in enumerate(odd, 1)], (1,))
    assert found[0].texts == 5
    assert found[0].distance.value == pytest.approx(1, abs=0.1)
