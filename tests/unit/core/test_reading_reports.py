"""What users of such tools reported about reading verdicts: none of it happens here.

The numbers V1 to V26 and P9 are those of the specification's list of field reports; the threads' own
repositories are named where a case comes from one of them.
"""

from __future__ import annotations

import json

import pytest

from judgenet.core.evaluation import Choice, Reading, Reason, Unscored
from judgenet.core.reading import read_judgement, read_rating


def outcome(text: str, **how: object) -> tuple[float | None, float | None] | Choice | Reason:
    """Two scores, or the choice where there are none, or the reason."""
    reading = read_judgement(text, **how)  # type: ignore[arg-type]
    if isinstance(reading, Unscored):
        return reading.reason
    return reading.choice if reading.first is None else (reading.first, reading.second)


@pytest.mark.parametrize(
    "text",
    [
        "score of response 1: 8\nscore of response 2: 6",
        "Sc\u200bore of Response 1: 8\nScore of Resp\u2060onse 2: 6\ufeff",
        "The underscore of Response 1 is odd.\nScore of Response 1: 8\nScore of Response 2: 6",
    ],
)
def test_v1_case_zero_width_and_words_that_contain_the_label(text: str) -> None:
    assert outcome(text) == (8.0, 6.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Final verdict: AB", Reason.UNPARSED),
        ("Final verdict: Alpha", Reason.UNPARSED),
        ("Final verdict: both A and B", Reason.UNPARSED),
        ("Final verdict: tie", "tie"),
        ("Final verdict: Response one", "first"),
        ("Score of Response 1: eight\nScore of Response 2: six", (8.0, 6.0)),
        ("Score of Response 1: eighty\nScore of Response 2: six", Reason.UNPARSED),
    ],
)
def test_v2_whole_words_only(text: str, expected: object) -> None:
    assert outcome(text) == expected


@pytest.mark.parametrize("text", ["Great work by both!", "Winner: Response 3", "Grade: excellent"])
def test_v3_v5_v13_v21_what_cannot_be_read_is_unscored(text: str) -> None:
    """Not wrong, not the lowest choice, not zero, not a failed test."""
    assert outcome(text) == Reason.UNPARSED


@pytest.mark.parametrize(
    "text",
    [
        "[[A]] looks right.\n\nFinal verdict: [[E]]",
        "Response 1 is better, I thought.\nFinal verdict: Response 7",
        "Score of Response 1: 8\nScore of Response 2: 6\n\nScore of Response 1: high\nScore of Response 2: low",
    ],
)
def test_v4_no_way_back_behind_an_unreadable_final_verdict(text: str) -> None:
    assert outcome(text) == Reason.UNPARSED


@pytest.mark.parametrize("score", [11, 42, 0, -3, 10.5, 1e6])
def test_v6_v12_nothing_is_clamped(score: float) -> None:
    assert outcome(json.dumps({"evidence": "e", "score_1": score, "score_2": 6})) == Reason.OUT_OF_RANGE
    assert outcome(f"Score of Response 1: 6\nScore of Response 2: {score:g}") in (Reason.OUT_OF_RANGE, Reason.UNPARSED)


@pytest.mark.parametrize(
    "text",
    ["Yes, both are good, yes.", "There are 7 errors in 9 lines.", "8\n6", "Step 1 takes 8 s, step 2 takes 6 s."],
)
def test_v7_words_and_numbers_anywhere_decide_nothing(text: str) -> None:
    assert outcome(text) == Reason.UNPARSED


def test_v8_digits_are_not_glued_together() -> None:
    unit, hundred = (0.0, 1.0), (0.0, 100.0)
    assert outcome("Score of Response 1: 0.8\nScore of Response 2: 0.08", scale=unit) == (0.8, 0.08)
    assert outcome("Score of Response 1: 85.5\nScore of Response 2: 8", scale=hundred) == (85.5, 8.0)
    assert outcome("Score of Response 1: 0.8\nScore of Response 2: 6") == Reason.OUT_OF_RANGE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Therefore, Response 1 is not better.", Reason.UNPARSED),
        ("Therefore, Response 1 is not better, and Response 2 is better.", "second"),
        ("Therefore, Response 1 is better.", "first"),
        ("Therefore, neither response is better.", "tie"),
    ],
)
def test_v9_the_negative_is_not_read_as_the_positive(text: str, expected: object) -> None:
    assert outcome(text) == expected


@pytest.mark.parametrize("text", ["It took 3 of 5 points, so it is good.", "Mostly right, around 80.", "Fine."])
def test_v10_no_first_number_no_guessed_scale_no_default(text: str) -> None:
    assert outcome(text) == Reason.UNPARSED
    assert isinstance(read_rating(text), Unscored)


def test_v11_precedence_is_fixed_and_recorded() -> None:
    assert read_rating("Others say 7/10.\n\nRating: [[8]]") == 8.0
    assert read_rating("Rating: [[8]]\n\nThat is, 7/10.") == 8.0
    reading = read_judgement("It is 7/10 at first sight.\nScore of Response 1: 8/10\nScore of Response 2: 6/10")
    assert isinstance(reading, Reading)
    assert (reading.first, reading.second, reading.rule) == (8.0, 6.0, "labelled scores")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("At first I leaned to [[A]], since it is shorter.\n\nFinal verdict: [[B]]", "second"),
        ("Output (a) is better in terms of style.\n\nTherefore, Output (b) is better.", "second"),
        ("Score of Response 1: 9\nScore of Response 2: 3\n\nOn reflection:\nScore of Response 1: 4\n"
         "Score of Response 2: 7", (4.0, 7.0)),
        ("Success? Response 1 is better at first sight. Overall, Response 2 is better.", "second"),
    ],
)  # fmt: skip
def test_v15_v16_the_last_labelled_verdict_holds(text: str, expected: object) -> None:
    assert outcome(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"evidence": "a } b { c", "score_1": 8, "score_2": 6}\n```',
        'Well:\n{"review": {"evidence": "{{}}", "score_1": 8, "score_2": 6}}\nDone. }',
        '{"evidence": "line\nline", "score_1": 8, "score_2": 6}',
        '{\n  // my view\n  "evidence": "http://x.org", /* 1 */\n  "score_1": 8,\n  "score_2": 6,\n}',
    ],
)
def test_v17_fenced_nested_commented_and_broken_objects(text: str) -> None:
    assert outcome(text, form="json") == (8.0, 6.0)


@pytest.mark.parametrize(
    "thinking",
    [
        '<think>{"score_1": 1, "score_2": 9} or {</think>',
        'Let me see {"evidence": "x", "score_1": 1, "score_2": 9} }} {\n</think>\n',
        "<reasoning>{ { {</reasoning>",
        "[THINK]} [[B]] {[/THINK]",
    ],
)
def test_v18_thinking_with_braces_is_cut_also_unbalanced(thinking: str) -> None:
    assert outcome(thinking + '{"evidence": "e", "score_1": 8, "score_2": 6}', form="json") == (8.0, 6.0)


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        ('{"evidence": "It is', "length"),
        ('{"evidence": "It is', "unknown"),
        ('{"evidence": "It says {\\"score_1\\": 1, \\"score_2\\": 9}', "stop"),
        ('{"evidence": "It says {"score_1": 1, "score_2": 9}', "stop"),
        ("Score of Response 1: 8\nScore of Response 2: 1", "length"),
        ("Score of Response 1: 8\nScore of Response 2:", "stop"),
    ],
)
def test_v19_what_was_cut_off_is_truncated(text: str, finish: str) -> None:
    assert outcome(text, finish_reason=finish, form="json") == Reason.TRUNCATED


@pytest.mark.parametrize(
    "text", ["\ud800", "\x00", "{" * 2000, "[" * 2000, '{"score_1": ' + "9" * 5000, "\u2028{\u0085"]
)
def test_v20_no_reply_raises(text: str) -> None:
    assert isinstance(read_judgement(text), Unscored)


@pytest.mark.parametrize(
    "text", ["-1 -1", '{"evidence": "e", "score_1": -1, "score_2": -1}', "Score of Response 1: -1\n"]
)
def test_v22_no_sentinel_is_a_score(text: str) -> None:
    assert outcome(text) in (Reason.OUT_OF_RANGE, Reason.UNPARSED)


@pytest.mark.parametrize(
    "text",
    [
        "Verdict: [[A]]\nWait, the second one does answer.\nVerdict: [[B]]",
        "8 6\nThe first misses the point. Therefore, Response 2 is better.",
        '{"evidence": "The first is wrong. Therefore, Response 2 is better.", "score_1": 8, "score_2": 6}',
        "Score of Response 1: 8\nScore of Response 2: 6\n\nOverall, Response 2 is better.",
    ],
)
def test_v25_a_change_of_mind_is_a_contradiction(text: str) -> None:
    assert outcome(text) == Reason.CONTRADICTORY


@pytest.mark.parametrize("score", ["null", '"good"', "[]", "{}", "true", '""'])
def test_v26_a_score_that_is_no_number_is_named(score: str) -> None:
    found = read_judgement(f'{{"evidence": "e", "score_1": {score}, "score_2": 6}}')
    assert isinstance(found, Unscored)
    assert found.reason == Reason.UNPARSED
    assert found.detail.startswith("score of response 1")


def test_v26_a_missing_score_is_named() -> None:
    found = read_judgement('{"evidence": "e", "score_1": 8}')
    assert found == Unscored(Reason.UNPARSED, "the score of response 2 is missing")


def test_p9_an_empty_answer_at_the_limit_is_truncated() -> None:
    assert outcome("", finish_reason="length") == Reason.TRUNCATED
