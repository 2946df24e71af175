"""What a later layer overturns, against numbers counted by hand."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest  # type: ignore[import-untyped]
from sklearn.metrics import accuracy_score  # type: ignore[import-untyped]

from judgenet.core.pairs import Verdict
from judgenet.stats.discussion import overturns

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


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="cannot be compared"):
        overturns(verdicts("A"), verdicts("AB"), verdicts("AB"))
