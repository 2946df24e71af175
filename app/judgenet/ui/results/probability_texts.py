"""What the panel of token probabilities on Results says."""

from __future__ import annotations

from collections.abc import Sequence

from judgenet.core.wording import plural

TOKEN_PROBABILITIES = "Scores by token probabilities"
PROBABILITIES_TABLE = "Soft votes beside votes by scores"
VOTES = "Vote"
SOFT_COLUMNS = ("Accuracy", "κ", "Brier score", "n")
LARGEST_PROBABILITY = "Calls by the largest of the probabilities of A, tie and B"
LARGEST_BINS = ("below 50 %", "50 to 70 %", "70 to 90 %", "90 % or more")
ALL_CALLS = "All calls"
NO_LABELS_FOR_PROBABILITIES = "No pair has a human label: there is no accuracy, kappa or Brier score to compare."
BRIER_MEANING = "Brier score: 0 is best, 2 worst. Expected scores are rarely equal, so their votes are rarely ties."


def calls_of_layer(layer: str) -> str:
    return f"Layer {layer}"


def calls_by_probabilities(used: str, others: Sequence[str]) -> str:
    whole = f"Expected scores in {used} calls."
    return f"{whole} The others have the scores of their text: {'; '.join(others)}." if others else whole


def mean_entropy(entropy: str) -> str:
    return f"entropy {entropy}"


def by_expected_scores(aggregation: str) -> str:
    return f"{aggregation}, expected scores"


def by_sampled_text(aggregation: str) -> str:
    return f"{aggregation}, sampled text"


def brier_missing(reason: str) -> str:
    return f"No difference: {reason}."


def brier_difference(difference: str, pairs: int, significant: bool) -> str:
    significance = "significant" if significant else "not distinguishable from chance"
    compared = f"Brier score of soft votes less that of sampled text: {difference}, {significance}"
    return f"{compared}; {plural(pairs, 'labelled pair')}."


def sharpness_read_out(rows: str) -> str:
    return f"{LARGEST_PROBABILITY}. {rows}"
