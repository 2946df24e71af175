"""What a later layer overturns, against numbers counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, chi2  # type: ignore[import-untyped]
from sklearn.metrics import accuracy_score  # type: ignore[import-untyped]

from judgenet.core.pairs import Verdict
from judgenet.stats.curves import CODES, Codes
from judgenet.stats.discussion import (
    change_counts,
    mind_changes,
    others_majority,
    overturns_by_question,
    overturns_of,
)
from tests.short_forms import overturns

LETTERS: dict[str, Verdict | None] = {"A": "a", "B": "b", "T": "tie", "-": None}


def verdicts(text: str) -> list[Verdict | None]:
    return [LETTERS[letter] for letter in text]


#         0123456789ab
BEFORE = "AABBTTABA-AB"
AFTER = "ABBATBABTAA-"
HUMAN = "ABABBTT-BAAB"


def test_counted_by_hand() -> None:
    found = overturns(verdicts(BEFORE), verdicts(AFTER), verdicts(HUMAN))
    # Both verdicts: all but 9 and b. Equal: 0 2 4 6 7 a.
    assert (found.n, found.n_total) == (10, 12)
    assert (found.kept, found.overturned) == (6, 4)
    # Overturned: 1 A>B, 3 B>A, 5 T>B, 8 A>T.
    assert found.reversed == 2
    assert found.table == ((3, 1, 1), (1, 2, 0), (0, 1, 1))
    assert found.rate == pytest.approx(0.4)
    # Labels of these: 1 B (to right), 3 B (to wrong), 5 T (to wrong), 8 B (neither).
    assert (found.to_right, found.to_wrong, found.between_wrong, found.overturned_labelled) == (1, 2, 1, 4)
    assert found.n_labelled == 9
    assert found.gain == pytest.approx(-1 / 9)
    assert found.p == pytest.approx(1.0)
    assert found.reasons == {}


def test_gain_is_the_difference_of_accuracies_and_p_the_exact_test() -> None:
    before = verdicts("A" * 10 + "B" * 12 + "T" * 8)
    after = verdicts("B" * 6 + "A" * 4 + "A" * 2 + "B" * 10 + "B" * 8)
    human = verdicts("B" * 10 + "B" * 12 + "B" * 4 + "T" * 4)
    found = overturns(before, after, human)
    # Right before: 12 B and 4 T; right after: 6, 10 and 4.
    assert found.gain == pytest.approx(accuracy_score(human, after) - accuracy_score(human, before))
    assert (found.to_right, found.to_wrong) == (10, 6)
    assert found.p == pytest.approx(binomtest(10, 16).pvalue)


def test_without_labels_nothing_is_right_or_wrong() -> None:
    found = overturns(verdicts("AB"), verdicts("BB"), verdicts("--"))
    assert (found.overturned, found.overturned_labelled) == (1, 0)
    assert (found.gain, found.p) == (None, None)
    assert found.reasons == dict.fromkeys(("gain", "p"), "no pair with both verdicts has a human label")


def test_without_verdicts_there_is_no_rate() -> None:
    found = overturns(verdicts("-A"), verdicts("B-"), verdicts("AA"))
    assert (found.n, found.n_total, found.rate) == (0, 2, None)
    assert found.reasons["rate"] == "no pair has both verdicts"
    assert overturns([], [], []).rate is None


# How neurons change their mind


def codes(*rows: str) -> Codes:
    """Codes of verdicts: a row a pair, a letter a neuron."""
    return np.array([[CODES.index(verdict) for verdict in verdicts(row)] for row in rows], dtype=np.uint8)


def test_what_most_others_say() -> None:
    before = codes("AAB", "ATT", "ABT", "---", "TTT", "AB-")
    others = ~np.eye(3, dtype=bool)
    found = others_majority(before, others)
    # Of the others of each neuron: undecided where A and B are equally many, a tie where all say tie.
    assert found.tolist() == codes("--A", "TAA", "BA-", "---", "TTT", "BA-").tolist()
    assert others_majority(before, np.zeros((2, 3), dtype=bool)).tolist() == [[0, 0]] * 6


def test_changes_of_mind_counted_by_hand() -> None:
    before = codes("AAB", "ABT", "AAA", "B-A", "BBA")
    after = codes("AAA", "AAT", "BAA", "AAA", "BBA")
    human = np.array([1, 1, 1, 0, 3], dtype=np.uint8)
    found = mind_changes(before, after, others_majority(before, ~np.eye(3, dtype=bool)), human)
    # Changed: pair 0 B>A (others A), pair 1 B>A (others A), pair 2 A>B (others A), pair 3 B>A (others A).
    assert (found.changed.moved, found.changed.chances) == (4, 14)
    assert found.changed.mean.value == pytest.approx((1 / 3 + 1 / 3 + 1 / 3 + 1 / 2 + 0) / 5)
    # Others against it: 0 n3; 1 n1 (B), n2 (A); 3 n1 (A), n3 (B); 4 n3 (B). Taken over: 0 n3, 1 n2, 3 n1.
    assert (found.to_others.moved, found.to_others.chances) == (3, 6)
    # Others for it: 2 all three; one changed.
    assert (found.against_others.moved, found.against_others.chances) == (1, 3)
    assert (found.towards_others, found.away, found.undecided) == (3, 1, 0)
    # With a label: 0 B>A right, 1 B>A right, 2 A>B wrong.
    assert (found.to_right, found.to_wrong, found.between_wrong) == (2, 1, 0)
    assert (found.followed_right, found.followed_wrong) == (2, 0)
    assert (found.n_labelled, found.gained, found.lost) == (4, 2, 1)
    assert found.gain.value == pytest.approx((1 / 3 + 1 / 3 - 1 / 3 + 0) / 4)
    assert found.p == pytest.approx(binomtest(2, 3).pvalue)
    assert found.to_own_order.chances == 0
    assert found.to_own_order.mean.reason


def test_neurons_that_take_over_their_own_other_order() -> None:
    ab_before, ba_before = codes("AA", "AB", "T-"), codes("BA", "BB", "AA")
    ab_after, ba_after = codes("BA", "AB", "AA"), codes("BA", "AB", "A-")
    found = mind_changes(
        ab_before, ab_after, np.zeros((3, 2), np.uint8), np.zeros(3, np.uint8),
        orders=((ab_before, ab_after), (ba_before, ba_after)),
    )  # fmt: skip
    # Apart before: 0 n1 (A, B), 1 n1 (A, B), 2 n1 (T, A). ab took ba's over in 0 and 2, ba took ab's in 1.
    assert (found.to_own_order.moved, found.to_own_order.chances) == (3, 6)
    assert found.to_own_order.mean.n == 3
    assert (found.p, found.gain.value) == (None, None)
    assert "human label" in found.gain.reason


def test_gain_is_the_rise_of_the_neurons_accuracy() -> None:
    rng = np.random.default_rng(9)
    human = rng.integers(1, 4, 80).astype(np.uint8)
    before, after = rng.integers(1, 4, (2, 80, 3)).astype(np.uint8)
    found = mind_changes(before, after, others_majority(before, ~np.eye(3, dtype=bool)), human)
    rise = (after == human[:, None]).mean() - (before == human[:, None]).mean()
    assert found.gain.value == pytest.approx(rise)
    assert found.gain.interval is not None
    assert found.gain.interval.low < rise < found.gain.interval.high
    by_question = mind_changes(before, after, after, human, groups=np.arange(80) % 5)
    assert by_question.gain.interval is None
    assert by_question.gained + by_question.lost <= 5


def test_a_neuron_that_had_said_nothing() -> None:
    found = mind_changes(codes("-"), codes("A"), codes("-"), np.ones(1, np.uint8))
    assert (found.changed.mean.value, found.p, found.reason) == (None, None, "no neuron has a verdict in both layers")
    with pytest.raises(ValueError, match="do not go together"):
        mind_changes(codes("AA"), codes("A"), codes("A"), np.ones(1, np.uint8))


def test_counts_of_codes_are_those_of_verdicts() -> None:
    before, after, human = (codes(text)[0] for text in (BEFORE, AFTER, HUMAN))
    assert overturns_of(change_counts(before, after, human)) == overturns(
        verdicts(BEFORE), verdicts(AFTER), verdicts(HUMAN)
    )


def test_copies_of_the_same_pair_do_not_make_a_change_clearer() -> None:
    """20 questions of 4 equal pairs: the width and the p of the questions, not of the pairs."""
    before, after, human = (np.array([CODES.index("a")] * 20, np.uint8) for _ in range(3))
    after[:9] = CODES.index("b")
    human[:8] = CODES.index("b")
    once = overturns_by_question(before, after, human, None)
    assert (once.to_right, once.to_wrong, once.questions_p) == (8, 1, None)
    assert once.p == pytest.approx(binomtest(8, 9).pvalue)
    four = [np.repeat(codes, 4) for codes in (before, after, human)]
    found = overturns_by_question(four[0], four[1], four[2], np.repeat(np.arange(20), 4))
    assert (found.n, found.to_right, found.to_wrong) == (80, 32, 4)
    # Obuchowski (1998): the square of the sum over the sum of the squares, of 8 questions of +4 and one of -4.
    assert found.questions_p == pytest.approx(chi2.sf(28**2 / (9 * 16), 1))
    assert found.interval is not None
    assert once.interval is not None
    over_pairs = overturns_of(change_counts(*four)).interval
    assert over_pairs is not None
    assert found.interval.high - found.interval.low > 1.5 * (over_pairs.high - over_pairs.low)


def test_changes_on_few_questions_have_no_test_and_say_so() -> None:
    before = np.array([1] * 20, np.uint8)
    after = np.array([3] * 20, np.uint8)
    found = overturns_by_question(before, after, after, np.repeat(np.arange(5), 4))
    assert (found.interval, found.questions_p, found.to_right) == (None, None, 20)
    assert "5 questions" in found.reasons["questions_p"]
    assert "5 questions" in found.reasons["rate_ci"]
