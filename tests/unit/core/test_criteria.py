"""Criteria of a question: their weights in the verdicts, and pairs with and without them."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgenet.core.aggregate import Opinion, aggregate
from judgenet.core.bias.base import LabSettings
from judgenet.core.bias.for_people import for_people
from judgenet.core.bias.lab import Item, Lab, ProbePlan
from judgenet.core.criteria import (
    CriteriaError,
    Criterion,
    criteria_from_lines,
    criteria_to_lines,
    criteria_to_text,
    vote_weights,
)
from judgenet.core.documents import DocumentError, Fields
from judgenet.core.evaluation import Evaluation, Reason, Unscored
from judgenet.core.network import Aggregation
from judgenet.core.pair_edits import edit_pair, edits_from_json, edits_to_json, with_edits, without_edits
from judgenet.core.pairs import ORDERS, Pair, Verdict

FACTS = Criterion("Facts", "All claims are true.", 5)
TONE = Criterion("Tone", weight=1)
LENGTH = Criterion("Length", weight=3)


def asked(*neurons: tuple[float, float] | None, weights: tuple[float, ...]) -> list[Opinion]:
    """A layer of neurons, each with the same scores in both orders, or without a valid call."""
    found = []
    for place, (scores, weight) in enumerate(zip(neurons, weights, strict=True), 1):
        for order in ORDERS:
            result: Evaluation | Unscored = Unscored(Reason.UNPARSED)
            if scores is not None:
                a, b = scores
                verdict: Verdict = "a" if a > b else "b" if b > a else "tie"
                result = Evaluation("", verdict, a, b)
            found.append(Opinion(1, place, order, 1, result, weight))
    return found


def test_weights_have_a_mean_of_one() -> None:
    assert vote_weights((5, 1, 3)) == pytest.approx((5 / 3, 1 / 3, 1.0))
    assert vote_weights((0.1, 0.1, 0.1)) == (1.0, 1.0, 1.0), "exactly, so that all is as without weights"
    assert vote_weights((0, 0)) == (1.0, 1.0)
    assert vote_weights(()) == ()


def test_a_heavy_criterion_outvotes_two_light_ones() -> None:
    calls = asked((9, 2), (4, 5), (4, 5), weights=vote_weights((5, 1, 3)))
    found = aggregate(calls, 1)
    assert found.votes == pytest.approx((5 / 3, 4 / 3, 0.0))
    assert (found.c2_all, found.c1) == ("a", "a")
    assert aggregate([of._replace(weight=1) for of in calls], 1).c2_all == "b"


def test_the_average_is_of_scores_times_weight() -> None:
    found = aggregate(asked((6, 5), (1, 9), weights=vote_weights((9, 1))), 1)
    assert found.mean_a == pytest.approx((9 * 6 + 1 * 1) / 10)
    assert found.mean_b == pytest.approx((9 * 5 + 1 * 9) / 10)
    assert found.c1 == "a", "9 times 1 point for A, once 8 points for B"
    assert aggregate(asked((6, 5), (1, 9), weights=(1, 1)), 1).c1 == "b"


def test_a_missing_verdict_has_no_weight() -> None:
    weights = vote_weights((8, 1, 1))
    found = aggregate(asked(None, (3, 5), (3, 5), weights=weights), 1)
    assert found.votes == pytest.approx((0, 0.6, 0))
    assert (found.c2_all, found.c1, found.calls_used, found.calls_total) == ("b", "b", 4, 6)
    assert found.mean_a == 3.0
    nothing = aggregate(asked(None, None, None, weights=weights), 1)
    assert (nothing.c1, nothing.c2_all, nothing.mean_a) == (None, None, None)


def test_a_tie_of_weights_is_a_tied_vote() -> None:
    calls = asked((9, 2), (4, 5), (4, 5), weights=vote_weights((0.3, 0.1, 0.2)))
    assert aggregate(calls, 1).c2_all == "tie", "0.3 against 0.1 + 0.2"
    assert aggregate(calls, 1, Aggregation(fallback="c1")).c2_all == "a"
    three = asked((5, 5), (9, 2), (2, 9), weights=vote_weights((4, 2, 2)))
    assert aggregate(three, 1, Aggregation(ties="candidate")).c2_all == "tie"
    assert aggregate(asked((5, 5), (9, 2), weights=(1.0, 1.0)), 1).c2_all == "a"


def test_a_weight_of_0_counts_nowhere() -> None:
    found = aggregate(asked((9, 1), (4, 5), weights=vote_weights((0, 2))), 1)
    assert (found.c1, found.c2_all, found.votes) == ("b", "b", (0, 2.0, 0))
    alone = aggregate(asked((9, 1), None, weights=vote_weights((0, 2))), 1)
    assert (alone.c1, alone.c2_all, alone.mean_a, alone.calls_used) == (None, None, None, 2)
    assert alone.neurons[0].verdict == "a", "its own verdict is what it said"


@given(
    st.lists(
        st.tuples(st.integers(1, 10), st.integers(1, 10), st.sampled_from([0.5, 1, 2, 3, 5])), min_size=1, max_size=6
    )
)
def test_votes_and_averages_are_sums_of_weights(neurons: list[tuple[int, int, float]]) -> None:
    weights = [Fraction(weight) for *_, weight in neurons]
    lead = sum((Fraction(a - b) * weight for (a, b, _), weight in zip(neurons, weights, strict=True)), Fraction())
    votes = sum(((a > b) - (a < b)) * weight for (a, b, _), weight in zip(neurons, weights, strict=True))
    calls = asked(*((a, b) for a, b, _ in neurons), weights=vote_weights([weight for *_, weight in neurons]))
    found = aggregate(calls, 1)
    assert found.c1 == ("a" if lead > 0 else "b" if lead < 0 else "tie")
    assert found.c2_all == ("a" if votes > 0 else "b" if votes < 0 else "tie")


def test_a_long_text_is_called_by_its_beginning() -> None:
    text = "Does the response name every ingredient of the recipe, with amounts in grams, and the order of the steps?"
    criterion = Criterion.of_text(f"  {text}\n", 2)
    assert criterion.name == "Does the response name every ingredient of the recipe, with amounts in grams,…"
    assert (criterion.description, criterion.text, criterion.weight) == (text, text, 2)
    assert Criterion.of_text("Is it\n true?") == Criterion("Is it true?")
    assert FACTS.text == "Facts: All claims are true."


def test_a_pair_without_criteria_has_the_content_that_it_always_had() -> None:
    pair = Pair("1", "Q", "A", "B", reference="R", task="T")
    # As version 0.3 wrote it.
    before = hashlib.sha256(json.dumps(["Q", "A", "B", "R", "T"]).encode()).hexdigest()
    assert pair.content_hash == before
    with_criteria = [Pair("1", "Q", "A", "B", "R", None, None, "T", criteria=of) for of in ((FACTS,), (FACTS, TONE))]
    assert len({before, *(of.content_hash for of in with_criteria)}) == 3


def test_criteria_pass_through_the_normal_form() -> None:
    pair = Pair("1", "Q", "A", "B", criteria=(FACTS, TONE, LENGTH))
    record = json.loads(json.dumps(pair.to_json()))
    assert record["criteria"] == [
        {"name": "Facts", "description": "All claims are true.", "weight": 5},
        {"name": "Tone"},
        {"name": "Length", "weight": 3},
    ]
    assert Pair.from_json(record) == pair
    assert "criteria" not in Pair("1", "Q", "A", "B").to_json()


def test_criteria_are_edited_as_lines() -> None:
    odd = Criterion.of_text(
        "Does it say: yes, in fewer than ten words and without any of the usual phrases of the trade?"
    )
    criteria = (FACTS, TONE, odd)
    lines = criteria_to_lines(criteria)
    assert lines.splitlines()[:2] == ["[5] Facts: All claims are true.", "[1] Tone"]
    assert criteria_from_lines(lines, criteria) == criteria, "what was not touched stays exactly as it was"
    changed = criteria_from_lines(lines.replace("[1] Tone", "[2] Tone: polite") + "\n\nShort", criteria)
    assert changed == (FACTS, Criterion("Tone", "polite", 2), odd, Criterion("Short"))
    assert criteria_to_lines((TONE, Criterion("Short"))) == "Tone\nShort"
    assert criteria_from_lines("") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[-1] Tone", r"Line 1: -1 is no weight\. Write a number of 0 or more"),
        ("Tone\n[much] Facts", "Line 2: much is no weight"),
        ("[2] ", "Line 1 has a weight alone"),
        ("[0] Tone", "Every criterion has the weight 0"),
    ],
)
def test_lines_that_are_no_criteria_say_what_helps(text: str, message: str) -> None:
    with pytest.raises(CriteriaError, match=message):
        criteria_from_lines(text)


def test_changed_criteria_belong_to_a_project_and_go_back() -> None:
    pair = Pair("1", "Q", "A", "B", criteria=(FACTS, TONE))
    text = criteria_to_text((FACTS,))
    edits = edit_pair({}, pair, {"criteria": text})
    [edited] = with_edits([pair], edits_from_json(Fields(json.loads(json.dumps(edits_to_json(edits))), "edits")))
    assert edited.criteria == (FACTS,)
    assert edited.content_hash != pair.content_hash
    assert without_edits(edited, edits) == pair
    assert edit_pair(edits, edited, {"criteria": criteria_to_text(pair.criteria)}) == {}, "the file's own again"
    bad = {"1": {"criteria": {"from": "", "to": "Facts"}}}
    with pytest.raises(DocumentError, match="must be a list of criteria as JSON"):
        edits_from_json(Fields(bad, "edits"))


def test_people_who_answer_the_prompts_of_a_lab_see_the_criteria() -> None:
    pair = Pair("1", "Q", "A", "B", criteria=(FACTS, TONE))
    lab = Lab(LabSettings(), (ProbePlan("order", (Item("1", 0, ("1",), ("first",)),)),), 1, 1)
    [prompt] = for_people(lab, {"1": pair}, lambda shown: "Said of it.")
    assert prompt.remarks == "Criteria:\n[5] Facts: All claims are true.\n[1] Tone\nSaid of it."
