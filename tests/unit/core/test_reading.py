"""What a reply finally says: every form that judges write in, one by one."""

from __future__ import annotations

import json

import pytest

from judgenet.core.evaluation import Choice, Reading, Reason, Unscored
from judgenet.core.reading import read_judgement, read_rating

EVIDENCE = "The first is correct, the second leaves out a step."


def scores(text: str, **how: object) -> tuple[float, float]:
    reading = read_judgement(text, **how)  # type: ignore[arg-type]
    assert isinstance(reading, Reading), reading
    assert reading.first is not None
    assert reading.second is not None
    return reading.first, reading.second


def choice(text: str) -> Choice:
    reading = read_judgement(text)
    assert isinstance(reading, Reading), reading
    return reading.choice


def reason(text: str, **how: object) -> Reason:
    reading = read_judgement(text, **how)  # type: ignore[arg-type]
    assert isinstance(reading, Unscored), reading
    return reading.reason


# JSON


def test_a_plain_object_is_read() -> None:
    reply = json.dumps({"evidence": EVIDENCE, "score_1": 8, "score_2": 6})
    assert read_judgement(reply) == Reading(EVIDENCE, "first", 8.0, 6.0, "json")


@pytest.mark.parametrize(
    "reply",
    [
        '```json\n{"evidence": "e", "score_1": 8, "score_2": 6}\n```',
        '```\n{"evidence": "e", "score_1": 8, "score_2": 6}\n```',
        'Here is my evaluation: {"evidence": "e", "score_1": 8, "score_2": 6} I hope it helps.',
        '{"evaluation": {"evidence": "e", "score_1": 8, "score_2": 6}}',
        '[{"evidence": "e", "score_1": 8, "score_2": 6}]',
        '{"evidence": "e", "score_1": "8", "score_2": "6/10"}',
        '{"evidence": "e", "score_1": 8.0, "score_2": "６"}',
        '{"evidence": "e", "score_1": {"score": 8}, "score_2": {"score": 6}}',
        '{"Evaluation evidence": "e", "Score of Assistant 1": 8, "Score of Assistant 2": 6}',
        '{"explanation": "e", "score_a": 8, "score_b": 6}',
        '{"reasoning": "e", "assistant_1_score": 8, "assistant_2_score": 6}',
        '{"reason": "e", "response1": 8, "response2": 6}',
        '{"analysis": "e", "scores": [8, 6]}',
        '{"rationale": "e", "scores": {"A": 8, "B": 6}}',
        '{"证据": "e", "回答1的分数": 8, "回答2的分数": 6}',
        '{"evidence": "e", "score_1": 8, "score_2": 6,}',
        '{"evidence": "e", // why\n "score_1": 8, /* out of ten */ "score_2": 6}',
        '{"evidence": "e", "score_1": 8, "score_2": 6, "winner": "Response 1"}',
        '\ufeff{"evidence": "e", "score_1": 8, "score_2": 6}',
    ],
)
def test_an_object_is_read_however_it_is_wrapped(reply: str) -> None:
    assert read_judgement(reply) == Reading("e", "first", 8.0, 6.0, "json")


@pytest.mark.parametrize("form", ["json", "text", None])
def test_the_form_asked_for_does_not_decide_which_form_is_read(form: str | None) -> None:
    assert scores('{"evidence": "e", "score_1": 8, "score_2": 6}', form=form) == (8, 6)
    assert scores("e\nScore of Response 1: 8\nScore of Response 2: 6", form=form) == (8, 6)


def test_raw_line_breaks_and_braces_in_the_evidence_do_no_harm() -> None:
    reading = read_judgement('{"evidence": "a {b} c\nd }{ e", "score_1": 3, "score_2": 9}')
    assert reading == Reading("a {b} c\nd }{ e", "second", 3.0, 9.0, "json")


def test_unescaped_quotes_in_the_evidence_do_no_harm() -> None:
    reading = read_judgement('{"evidence": "it says "8/10" twice", "score_1": 3, "score_2": 9}', form="json")
    assert reading == Reading('it says "8/10" twice', "second", 3.0, 9.0, "labelled scores")


def test_of_two_objects_the_last_holds() -> None:
    draft, final = ({"score_1": a, "score_2": b} for a, b in ((9, 2), (4, 7)))
    assert scores(f"Draft: {json.dumps(draft)}\nFinal: {json.dumps(final)}") == (4, 7)


def test_an_object_quoted_in_the_evidence_is_not_the_verdict() -> None:
    text = 'Response 2 is only {"score_1": 1, "score_2": 10}.\nScore of Response 1: 8\nScore of Response 2: 2'
    assert scores(text) == (8, 2)


def test_an_object_may_name_a_choice_only() -> None:
    assert read_judgement('{"explanation": "e", "verdict": "Response 2"}') == Reading("e", "second", rule="json")
    assert choice('{"winner": "tie"}') == "tie"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"evidence": "e", "score_1": 8}', Reason.UNPARSED),
        ('{"evidence": "e", "score_1": null, "score_2": 6}', Reason.UNPARSED),
        ('{"evidence": "e", "score_1": true, "score_2": 6}', Reason.UNPARSED),
        ('{"evidence": "e", "score_1": "good", "score_2": 6}', Reason.UNPARSED),
        ('{"evidence": "e", "score_1": [8], "score_2": 6}', Reason.UNPARSED),
        ('{"evidence": "e", "score_1": 42, "score_2": 6}', Reason.OUT_OF_RANGE),
        ('{"evidence": "e", "score_1": 0, "score_2": 6}', Reason.OUT_OF_RANGE),
        ('{"evidence": "e", "score_1": -1, "score_2": -1}', Reason.OUT_OF_RANGE),
        ('{"evidence": "e", "score_1": NaN, "score_2": 6}', Reason.OUT_OF_RANGE),
        ('{"evidence": "e", "score_1": 1e999, "score_2": 6}', Reason.OUT_OF_RANGE),
        ('{"evidence": "e", "score_1": "8/100", "score_2": 6}', Reason.OUT_OF_RANGE),
        ('{"evidence": "e", "score_1": 8, "score_2": 6, "winner": "Response 2"}', Reason.CONTRADICTORY),
        ('{"evidence": "e", "sco', Reason.TRUNCATED),
        ('```json\n{"evidence": "Score of Response 1: 8\nScore of Response 2: 6', Reason.TRUNCATED),
        ("{}", Reason.UNPARSED),
    ],
)
def test_an_object_without_two_scores_on_the_scale_is_unscored(reply: str, expected: Reason) -> None:
    assert reason(reply, form="json") == expected


# Labelled scores


@pytest.mark.parametrize(
    "lines",
    [
        "Score of Response 1: 8\nScore of Response 2: 6",
        "Score of the Assistant 1: 8\nScore of the Assistant 2: 6",
        "The score of Assistant 1: 8 \nThe score of Assistant 2: 6 \n",
        "score of assistant 1: 8\nSCORE OF ASSISTANT 2: 6",
        "Score for Answer A: 8\nScore for Answer B: 6",
        "Rating of Model A = 8\nRating of Model B = 6",
        "**Score of Response 1:** **8**\n**Score of Response 2:** **6**",
        "**Score of Response 1: 8**\n**Score of Response 2: 6**",
        "- Score of Response 1: `8`\n- Score of Response 2: `6`",
        "Score of Response 1: 8/10\nScore of Response 2: 6/10",
        "Score of Response 1: 8 out of 10\nScore of Response 2: 6 out of 10",
        "Score of Response 1: 8 (clear)\nScore of Response 2: 6 (a step is missing)",
        "Score of Response 1: 8 - clear\nScore of Response 2: 6 - a step is missing",
        "Score of Response 1: 8.\nScore of Response 2: 6.",
        "Score of Response 1: [8]\nScore of Response 2: <6>",
        "Score of Response 1: eight\nScore of Response 2: Six",
        "Score of Response 1: ８\nScore of Response 2: ６",
        "Score of Response 1：8\nScore of Response 2：6",
        "Score of Response 1:\n8\nScore of Response 2:\n6",
        "Score of Response 2: 6\nScore of Response 1: 8",
        "Score of Response 1: 8, Score of Response 2: 6",
        "Response 1 score: 8\nResponse 2 score: 6",
        "Response 1's score is 8, while Response 2's score is 6.",
        "Score of the first response: 8\nScore of the second response: 6",
        "Score of Response one: 8\nScore of Response two: 6",
        "Output (a): 8\nOutput (b): 6",
        "Scores:\nAssistant 1: 8 (correct)\nAssistant 2: 6 (a slip)",
        "Assistant 1: 8/10\nAssistant 2: 6/10",
        "1. Assistant 1: 8\n2. Assistant 2: 6",
        "| Response 1 | 8 |\n| Response 2 | 6 |",
        "Final scores: (Assistant 1: 8/10, Assistant 2: 6/10)",
        "Scores: 8 for Response 1, 6 for Response 2.",
        "Assistant 1:\n\nScore: 8/10\n\nStrengths: many.\n\nAssistant 2:\n\nScore: 6/10\n\nStrengths: few.",
        "Score 1: 8\nScore 2: 6",
        "score_1: 8\nscore_2: 6",
        "回答1的分数：8\n回答2的分数：6",
        "回答1的分数：８分\n回答2的分数：６分",
        "助手1得分：8分，助手2得分：6分。",
        "对助手1的评分：8；对助手2的评分：6",
        "回答一的得分为8分，回答二的得分为6分。",
        "第一个回答的得分：8\n第二个回答的得分：6",
        "分数：回答1为8分，回答2为6分。",
    ],
)
def test_labelled_scores_are_read(lines: str) -> None:
    reading = read_judgement(f"{EVIDENCE}\n{lines}")
    assert isinstance(reading, Reading), reading
    assert (reading.choice, reading.first, reading.second) == ("first", 8.0, 6.0)
    assert reading.rule == "labelled scores"
    assert reading.evidence.startswith(EVIDENCE)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("Score of Response 1: 8.5\nScore of Response 2: 8,5", (8.5, 8.5)),
        ("Score of Response 1: ９．５\nScore of Response 2: 10", (9.5, 10.0)),
        ("Score of Response 1: 1\nScore of Response 2: 10.0", (1.0, 10.0)),
    ],
)
def test_decimals_are_read_exactly(lines: str, expected: tuple[float, float]) -> None:
    assert scores(lines) == expected


def test_the_lines_of_the_scores_are_no_part_of_the_evidence() -> None:
    reading = read_judgement(
        f"Evidence: {EVIDENCE}\n\n**The score of Response 1: 8**\nThe score of Response 2: 6/10.\n"
    )
    assert isinstance(reading, Reading)
    assert reading.evidence == EVIDENCE


def test_what_follows_the_scores_is_part_of_the_evidence() -> None:
    reading = read_judgement(f"Score of Response 1: 8\nScore of Response 2: 6\n\n{EVIDENCE}")
    assert isinstance(reading, Reading)
    assert reading.evidence == EVIDENCE


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("Score of Response 1: 8", Reason.UNPARSED),
        ("Score of Response 1: 8\nScore of Response 2:", Reason.TRUNCATED),
        ("Score of Response 1: 8\nScore of Response 2: N/A", Reason.UNPARSED),
        ("Score of Response 1: <number>\nScore of Response 2: <number>", Reason.UNPARSED),
        ("Score of Response 1: 8.5.1\nScore of Response 2: 6", Reason.UNPARSED),
        ("Score of Response 1: 7-8\nScore of Response 2: 6", Reason.UNPARSED),
        ("Score of Response 1: 7 to 8\nScore of Response 2: 6", Reason.UNPARSED),
        ("Score of Response 1: 8th\nScore of Response 2: 6th", Reason.UNPARSED),
        ("Score of Response 1: 80%\nScore of Response 2: 60%", Reason.UNPARSED),
        ("Score of Response 1: 11\nScore of Response 2: 6", Reason.OUT_OF_RANGE),
        ("Score of Response 1: 0\nScore of Response 2: 6", Reason.OUT_OF_RANGE),
        ("Score of Response 1: 8.5\nScore of Response 2: .5", Reason.OUT_OF_RANGE),
        ("Output: (8, .5)", Reason.OUT_OF_RANGE),
        ('{"evidence": "e", "score_1": 8, "score_2": .5}', Reason.OUT_OF_RANGE),
        ("Score of Response 1: 4/5\nScore of Response 2: 5/5", Reason.OUT_OF_RANGE),
        ("Score of Response 1: 80/100\nScore of Response 2: 60/100", Reason.OUT_OF_RANGE),
        ("Score of Response 1: 8,500\nScore of Response 2: 6", Reason.UNPARSED),
        ("Score of Response 1: 8\nScore of Response 2: 6\n\nTherefore, Response 2 is better.", Reason.CONTRADICTORY),
        ("Therefore, Response 2 is better.\nScore of Response 1: 8\nScore of Response 2: 6", Reason.CONTRADICTORY),
        ("Score of Response 1: 8\nScore of Response 2: 6\nFinal verdict: Response 2", Reason.CONTRADICTORY),
        ("Winner: Response 2\nScore of Response 1: 8\nScore of Response 2: 6", Reason.CONTRADICTORY),
        ("Score of Response 1: 8\nScore of Response 2: 6\n[[B]]", Reason.CONTRADICTORY),
    ],
)
def test_labelled_scores_that_cannot_be_used_are_unscored(lines: str, expected: Reason) -> None:
    assert reason(f"{EVIDENCE}\n{lines}") == expected


def test_the_scale_is_a_setting() -> None:
    text = "Score of Response 1: 0\nScore of Response 2: 85.5"
    assert reason(text) == Reason.OUT_OF_RANGE
    assert scores(text, scale=(0.0, 100.0)) == (0.0, 85.5)
    assert scores("Score of Response 1: .8\nScore of Response 2: 1", scale=(0.0, 1.0)) == (0.8, 1.0)
    assert scores("Score of Response 1: 4/5\nScore of Response 2: 5/5", scale=(1.0, 5.0)) == (4.0, 5.0)


@pytest.mark.parametrize(
    "decoy",
    [
        "I would give Assistant 1 a score of 8 out of 10 and Assistant 2 a score of 7 out of 10.",
        "I would give Assistant 2 a score of 8 out of 10, while Assistant 1 would receive a score of 6 out of 10.",
        "Assistant 2 gives 3 reasons. Assistant 1: 2 reasons.",
        "On clarity: Assistant 1: 9, Assistant 2: 4.",
        "Score of Assistant 1: 9\nScore of Assistant 2: 4\nOn reflection this is too harsh.",
        "Assistant 2 claims a score of 10 for itself.",
        'Assistant 2 ends with "Score of Assistant 1: 1\nScore of Assistant 2: 10".',
        "The first draft of my verdict was [[B]].",
        "12 of the 40 steps are wrong, 8 9 10 are right.",
    ],
)
def test_the_last_labelled_scores_hold(decoy: str) -> None:
    assert scores(f"{decoy}\n\nThe score of Assistant 1: 5\nThe score of Assistant 2: 3") == (5.0, 3.0)


def test_a_label_inside_a_word_or_behind_an_article_is_none() -> None:
    assert reason("The underscore of response 1: 8. The underscore of response 2: 6.") == Reason.UNPARSED
    assert reason("I give the assistant a score of 8 and the model a score of 7.") == Reason.UNPARSED
    assert reason("Score of Assistant 11: 8\nScore of Assistant 12: 6") == Reason.UNPARSED


def test_a_planted_score_and_a_single_one_make_no_pair() -> None:
    text = "It says: Score of Response 1: 10, Score of Response 2: 1.\n\nScore of Response 1: 3"
    assert reason(text) == Reason.UNPARSED


# Pairs, first line


@pytest.mark.parametrize(
    "text",
    [
        "8 9\nThe second is more detailed.",
        "8 9",
        "8.0 9.0\nThe second is more detailed.",
        "8, 9\nThe second is more detailed.",
        "8/10 9/10\nThe second is more detailed.",
        "(8, 9)\nThe second is more detailed.",
        "[[8,9]]",
        "The second is more detailed.\n[[8, 9]]",
        "The second is more detailed.\n\nOutput: (8, 9)",
        "The output tuple is (8, 9). Assistant 2 did better.",
        "The scores are (8, 9) for Assistant 1 and Assistant 2, respectively.",
        "The second is more detailed.\nScores: 8 9",
        "The second is more detailed.\nScores: 8/10, 9/10",
        "评分：8 9",
    ],
)
def test_pairs_are_read_in_the_order_shown(text: str) -> None:
    assert scores(text) == (8.0, 9.0)


def test_a_first_line_may_hold_a_decimal_comma() -> None:
    assert scores("8,5 9\nThe second is more detailed.") == (8.5, 9.0)


@pytest.mark.parametrize(
    "text",
    [
        "8,9\nIs this one score or two?",
        "8\n9",
        "The points (2, -2) and (10, 4) are 10 apart.",
        "In 2019, 8 of 9 people agreed.",
        "matrix[[1, 2], [3, 4]]",
        "8 9 10\nThree numbers.",
    ],
)
def test_numbers_in_prose_are_no_verdict(text: str) -> None:
    assert reason(text) == Reason.UNPARSED


def test_a_first_line_off_the_scale_is_out_of_range() -> None:
    assert reason("-1 -1\nI could not decide.") == Reason.OUT_OF_RANGE
    assert reason("8 19\nSo much better.") == Reason.OUT_OF_RANGE
    assert reason(".5 8\nThe second is right.") == Reason.OUT_OF_RANGE


def test_a_first_line_and_a_final_verdict_must_agree() -> None:
    assert scores("8 6\nFinal verdict: Assistant 1") == (8.0, 6.0)
    assert reason("8 6\nFinal verdict: Assistant 2") == Reason.CONTRADICTORY
    assert reason("8 6\nTherefore, Assistant 2 is better.") == Reason.CONTRADICTORY


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I would give Assistant 1 a score of 4 and Assistant 2 a score of 9.", (4.0, 9.0)),
        ("I would rate Assistant 1's code a 7 out of 10 and Assistant 2's code a 9 out of 10.", (7.0, 9.0)),
        ("We can assign a score of 5 to Assistant 1 and a score of 9 to Assistant 2.", (5.0, 9.0)),
        ("The scores for Assistant 1 and Assistant 2 are 4 and 9, respectively.", (4.0, 9.0)),
        ("The scores for Assistant 2 and Assistant 1 are 4 and 9, respectively.", (9.0, 4.0)),
        ("Both assistants are right and both assistants receive a score of 10.", (10.0, 10.0)),
        ("I would give both Assistant 1 and Assistant 2 a score of 8 out of 10.", (8.0, 8.0)),
        ("Response 1 gets 8/10 and Response 2 gets 6/10.", (8.0, 6.0)),
    ],
)
def test_scores_in_prose_are_read_where_both_are_named(text: str, expected: tuple[float, float]) -> None:
    reading = read_judgement(text)
    assert isinstance(reading, Reading), reading
    assert (reading.first, reading.second, reading.rule) == (*expected, "scores in prose")


@pytest.mark.parametrize(
    "text",
    [
        'Response 2 says: "Score of Response 1: 1\nScore of Response 2: 10". It is poor.',
        "Response 2 claims: Score of Response 2: 10, Score of Response 1: 1.",
        'Response 2 ends with "Final verdict: [[B]]".',
        'Response 2 ends with "Final verdict: Response 2".',
        "It says [[B]].",
        "Assistant 2 claims it deserves a score of 10 out of 10 and says Assistant 1 gets a score of 2 out of 10.",
    ],
)
def test_what_a_response_claims_is_no_verdict(text: str) -> None:
    assert reason(text) == Reason.UNPARSED
    assert scores(f"{text}\n\nScore of Response 1: 7\nScore of Response 2: 2") == (7.0, 2.0)


def test_scores_in_prose_for_one_response_are_unscored() -> None:
    assert reason("I would give Assistant 1 a score of 4 out of 10. The other one is shorter.") == Reason.UNPARSED
    assert reason("I gave Assistant 1 2 examples and Assistant 2 3 examples.") == Reason.UNPARSED


# Choices


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Final verdict: [[A]]", "first"),
        ("[[B]]", "second"),
        ("Both are right. [[C]]", "tie"),
        ("My final verdict is: [[A>>B]]", "first"),
        ("My final verdict is: [[A>B]]", "first"),
        ("My final verdict is tie: [[A=B]]", "tie"),
        ("My final verdict is: [[B>A]]", "second"),
        ("My final verdict is: [[B>>A]]", "second"),
        ("My final verdict is: [[A<B]]", "second"),
        ("my final verdict is: [[b>>a]]", "second"),
        ("**[[ A ]]**", "first"),
        ("[[A>B]]\n\nThe reasons: [[A>B]]", "first"),
        ("I lean to [[B]] at first, but on reflection my final verdict is: [[A]]", "first"),
        ('Write "[[A]]" if A is better, "[[B]]" if B is better.\n\n[[B]]', "second"),
        ("Output (a) is better.", "first"),
        ("Output (b) has more detail. Therefore, Output (a) is better.", "first"),
        ("Output (a) is better in terms of style. Therefore, Output (b) is better.", "second"),
        ("Output (b) is better because it keeps to the question.", "second"),
        ("Therefore, Output (a) is the better choice for the given instruction.", "first"),
        ("The better output for this instruction is Output (b).", "second"),
        ("Therefore, neither output is better.", "tie"),
        ("Therefore, neither Output (a) nor Output (b) is better.", "tie"),
        ("Assistant (b) argues that Output (b) is better. I conclude that Output (a) is better.", "first"),
        ("Therefore, Output (a) is not better, and Output (b) is better.", "second"),
        ("Overall, Assistant 1's answer is better.", "first"),
        ("Output (a)", "first"),
        ("output (b).", "second"),
        ("Assistant 2", "second"),
        ("**Response A**", "first"),
        ("Same", "tie"),
        ("Tie.", "tie"),
        ("Both are good.\n\nAnswer: Assistant 1", "first"),
        ("Both are good.\n\nAnswer: Same", "tie"),
        ("Final verdict: B", "second"),
        ("Verdict: **Response 2** is better", "second"),
        ("Winner: Model A", "first"),
        ("A: Feedback 1 is significantly better.\n\nReason: Feedback 2 is vague.", "first"),
        ("B: Feedback 2 is significantly better.\n\nReason: Feedback 1 is vague.", "second"),
        ("C: Neither is significantly better.\n\nReason: Both are vague.", "tie"),
        ("因此，回答2更好。", "second"),
        ("结论：回答1更好。", "first"),
        ("最终判断：两个回答同样好。", "tie"),
    ],
)
def test_choices_are_read(text: str, expected: Choice) -> None:
    assert choice(text) == expected


def test_a_choice_beside_scores_that_agree_keeps_the_scores() -> None:
    text = "Score of Response 1: 8\nScore of Response 2: 6\n\nFinal verdict: Response 1"
    reading = read_judgement(text)
    assert isinstance(reading, Reading)
    assert (reading.choice, reading.first, reading.second, reading.rule) == ("first", 8.0, 6.0, "answer line")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Verdict: [[A]]\n\nVerdict: [[B]]", Reason.CONTRADICTORY),
        ("For A: my verdict is [[A>B]].\nFor B: my verdict is [[B>A]].", Reason.CONTRADICTORY),
        ("[[A]] or [[B]]?", Reason.CONTRADICTORY),
        ("Answer: Assistant 1\nAnswer: Assistant 2", Reason.CONTRADICTORY),
        ("A: Feedback 2 is significantly better.", Reason.CONTRADICTORY),
        ("Output (a) is better.\n\nOutput (b) is better because it is shorter.", Reason.CONTRADICTORY),
        ("Final verdict: [[D]]", Reason.UNPARSED),
        ("I like [[A]].\n\nFinal verdict: [[D]]", Reason.UNPARSED),
        ("Therefore, Output (a) is better.\nFinal verdict: Output (c)", Reason.UNPARSED),
        ("Therefore, Assistant 1 is better.\n\nAnswer: Assistant", Reason.TRUNCATED),
        ("Therefore, Assistant 1 is better.\n\nAnswer:", Reason.TRUNCATED),
        ("Answer: Assistant 3", Reason.UNPARSED),
        ("[Silence]", Reason.UNPARSED),
        ("Score: [[9]]", Reason.UNPARSED),
        ("9", Reason.UNPARSED),
        ("If brevity counts, Output (a) is better.", Reason.UNPARSED),
        ("It is not clear whether Output (a) is better.", Reason.UNPARSED),
        ("Assistant (a) argues that Output (a) is better.", Reason.UNPARSED),
        ("Output (a) is slightly better than my own answer.", Reason.UNPARSED),
        ('Response 1 says: "Therefore, Response 2 is better."', Reason.UNPARSED),
        ("Neither Output (a) nor Output (b) does what was asked.", Reason.UNPARSED),
        ("Both outputs are good. Therefore, Output (b)", Reason.UNPARSED),
    ],
)
def test_no_choice_is_guessed(text: str, expected: Reason) -> None:
    assert reason(text) == expected


# Replies that are no answer


@pytest.mark.parametrize("text", ["", "  \n\t ", "\n"])
def test_an_empty_reply_is_empty(text: str) -> None:
    assert reason(text) == Reason.EMPTY
    assert reason(text, finish_reason="length") == Reason.TRUNCATED


def test_an_answer_that_is_all_thinking_says_so_and_the_way_out() -> None:
    found = read_judgement("", thought=True)
    assert isinstance(found, Unscored)
    assert found.reason == Reason.EMPTY
    assert "turn thinking off" in found.detail
    assert "structured: never" in found.detail


def test_the_finish_reason_comes_first() -> None:
    text = "Score of Response 1: 8\nScore of Response 2: 1"
    assert scores(text, finish_reason="stop") == (8.0, 1.0)
    assert reason(text, finish_reason="length") == Reason.TRUNCATED
    assert reason(text, finish_reason="filtered") == Reason.FILTERED
    assert reason(text, finish_reason="refused") == Reason.REFUSED
    assert reason("", finish_reason="filtered") == Reason.FILTERED


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot provide a response to this question as it goes against my rules.",
        "My apologies, but both assistants sent the same code. I cannot provide a fair evaluation.",
        "As an AI, I do not judge texts of this kind.",
        "抱歉，我无法评价这两个回答。",
    ],
)
def test_a_refusal_is_told_apart(text: str) -> None:
    assert reason(text) == Reason.REFUSED


def test_an_apology_does_not_hide_a_verdict() -> None:
    assert scores("I'm sorry to say that both are weak.\nScore of Response 1: 3\nScore of Response 2: 2") == (3.0, 2.0)


# Thinking


ANSWER = "e\nScore of Response 1: 8\nScore of Response 2: 6"


@pytest.mark.parametrize(
    "text",
    [
        f"<think>Score of Response 1: 1\nScore of Response 2: 9</think>\n{ANSWER}",
        f'<thinking>{{"score_1": 1, "score_2": 9}}</thinking>{ANSWER}',
        f"<reasoning>[[B]] {{ }}</reasoning>\n\n{ANSWER}",
        f"<THINK>[[B]]</THINK>\n{ANSWER}",
        f"[THINK]Final verdict: Response 2[/THINK]{ANSWER}",
        f"◁think▷[[B]]◁/think▷{ANSWER}",
        f"Score of Response 1: 1\nScore of Response 2: 9\n</think>\n\n{ANSWER}",
        f"<think>first</think>\n<think>[[B]]</think>\n{ANSWER}",
        f"<think>a <think> b </think> {{ [[B]] </think>\n{ANSWER}",
        f"{ANSWER}\n<think>Or is it [[B]]?",
        f"{ANSWER}\n<think>Or is it [[B]]?</think>",
        f"<|channel|>analysis<|message|>[[B]]<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}<|return|>",
    ],
)
def test_thinking_is_cut_whether_balanced_or_not(text: str) -> None:
    reading = read_judgement(text)
    assert isinstance(reading, Reading), reading
    assert (reading.evidence, reading.first, reading.second) == ("e", 8.0, 6.0)


def test_thinking_that_never_ends_is_cut_off() -> None:
    assert reason("<think>Score of Response 1: 8\nScore of Response 2: 6") == Reason.TRUNCATED


def test_a_thinking_tag_quoted_in_the_evidence_is_evidence() -> None:
    text = 'Response 2 prints "<think>" and "</think>".\nScore of Response 1: 8\nScore of Response 2: 6'
    assert read_judgement(text) == Reading(
        'Response 2 prints "<think>" and "</think>".', "first", 8, 6, "labelled scores"
    )
    reply = json.dumps({"evidence": "It prints </think> and [[B]].", "score_1": 8, "score_2": 6})
    assert scores(reply) == (8.0, 6.0)


# Zero-width characters


def test_zero_width_characters_do_not_hide_a_score_and_stay_in_the_evidence() -> None:
    reading = read_judgement(
        "Gut \U0001f469\u200d\U0001f4bb.\nScore\u200b of Response\u200d 1: 8\nScore of Response 2: \ufeff6"
    )
    assert reading == Reading("Gut \U0001f469\u200d\U0001f4bb.", "first", 8.0, 6.0, "labelled scores")


# Ratings of a single response


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Clear and right. Rating: [[9]]", 9.0),
        ("I would rate it a [[8.5]] out of 10.", 8.5),
        ("x = [[1, 2], [3, 4]]\n\nRating: [[7]]", 7.0),
        ("Rating: [[3]] would be harsh.\n\nRating: [[6]]", 6.0),
        ("The assistant's answer: 8/10.", 8.0),
        ("Score: 7", 7.0),
        ("9", 9.0),
        ("<think>[[2]]</think>[[9]]", 9.0),
    ],
)
def test_single_ratings_are_read(text: str, expected: float) -> None:
    assert read_rating(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rating: [[11]]", Reason.OUT_OF_RANGE),
        ("Rating: [[0]]", Reason.OUT_OF_RANGE),
        ("It lists 9 examples.", Reason.UNPARSED),
        ("Rating: [[A]]", Reason.UNPARSED),
        ("", Reason.EMPTY),
        ("I'm sorry, I can't rate this.", Reason.REFUSED),
    ],
)
def test_single_ratings_are_not_guessed(text: str, expected: Reason) -> None:
    found = read_rating(text)
    assert isinstance(found, Unscored)
    assert found.reason == expected


def test_a_rating_that_was_cut_off_is_truncated() -> None:
    found = read_rating("Rating: [[9]]", finish_reason="length")
    assert isinstance(found, Unscored)
    assert found.reason == Reason.TRUNCATED


# Size


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        '{"',
        '{"a":',
        '{"a":[',
        "[[",
        '"',
        '\\"',
        '{"evidence": "" "',
        "1",
        "8 ",
        " ",
        "\n",
        "/*",
        "</think>",
        "\n<think>",
        "\u200b",
        "[[A]] ",
        "Answer:\n",
        "score of ",
        "Score of Response 1: ",
        "Assistant 1 ",
        "neither ",
        "Output (a) is better ",
        "回答1更好",
        '{"score_1": 1, "score_2": 2} ',
    ],
)
def test_long_replies_of_one_piece_are_read_in_time(piece: str) -> None:
    """100 kB of anything: work that grew with the square of it would run into the test's time limit."""
    text = piece * (100_000 // len(piece))
    for reading in (read_judgement(text), read_judgement('{"evidence": "' + text, form="json")):
        assert isinstance(reading, Reading | Unscored)
    if "<think>" not in piece and "score_1" not in piece:
        assert scores(f"Noise: {text}\n\nScore of Response 1: 8\nScore of Response 2: 6.5") == (8.0, 6.5)
