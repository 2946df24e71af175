"""Thinking of all model families, which is cut from the answer and kept."""

from __future__ import annotations

import json

import pytest

from judgenet.core.evaluation import Reading, Reason, Unscored
from judgenet.core.reading import read_judgement, read_roles
from judgenet.core.reading_thinking import split_thinking

ANSWER = "e\nScore of Response 1: 8\nScore of Response 2: 2"
DRAFT = "Score of Response 1: 1\nScore of Response 2: 9"
OBJECT = json.dumps({"evidence": "draft", "score_1": 1, "score_2": 9})

MARKS = {
    "DeepSeek, Qwen": ("<think>", "</think>"),
    "with a language": ("<think lang='en'>", "</think>"),
    "Claude in words": ("<thinking>", "</thinking>"),
    "antThinking": ("<antThinking>", "</antThinking>"),
    "EXAONE": ("<thought>", "</thought>"),
    "Reka": ("<reasoning>", "</reasoning>"),
    "Seed": ("<seed:think>", "</seed:think>"),
    "MiniMax": ("<mm:think>", "</mm:think>"),
    "unknown names": ("<deep_thinking>", "</deep_thinking>"),
    "a monologue": ("<inner_monologue>", "</inner_monologue>"),
    "scratchpad": ("<scratchpad>", "</scratchpad>"),
    "Mistral": ("[THINK]", "[/THINK]"),
    "Mistral's first": ("[BEGIN_THINK]", "[END_THINK]"),
    "Kimi": ("◁think▷", "◁/think▷"),
    "OpenThinker": ("<|begin_of_thought|>", "<|end_of_thought|>\n<|begin_of_solution|>"),
    "Cohere": ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    "Cohere's older": ("<|START_THINKING|>", "<|END_THINKING|><|START_TEXT|>"),
    "Apertus": ("<|inner_prefix|>", "<|inner_suffix|>"),
    "Gemma": ("<|channel>thought\n", "<channel|>"),
    "MedGemma": ("<unused94>thought\n", "<unused95>"),
    "gpt-oss": ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    "gpt-oss, commentary": (
        "<|channel|>commentary<|message|>",
        "<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>",
    ),
    "gpt-oss, a new channel": ("<|channel|>musing<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    "gpt-oss without its tokens": ("analysisWe see: ", "assistantfinal"),
    "Solar": ("<|think|>", "<|end|><|begin|>assistant<|content|>"),
    "Granite 3.2": ("Here is my thought process:\n", "\nHere is my response:\n"),
    "Ollama's window": ("Thinking...\n", "\n...done thinking.\n\n"),
    "Open WebUI": ('<details type="reasoning" done="true">\n<summary>Thought</summary>\n', "\n</details>\n"),
    "a fence": ("```thinking\n", "\n```\n"),
    "an unknown token": ("<|musing|>", "<|/musing|>"),
    "an unknown pair": ("<|zeta_start|>", "<|zeta_end|>"),
    "DeepSeek's bars": ("<｜begin▁of▁thinking｜>", "<｜end▁of▁thinking｜>"),
    "ChatML before it": ("<|im_start|>assistant\n<think>\n", "</think>\n"),
}
ENDS = ("", "<|im_end|>", "<|return|>", "</s>", "<|END_RESPONSE|>", "<|foo|>", "<|endoftext|>\n" + DRAFT)


@pytest.mark.parametrize("family", MARKS)
@pytest.mark.parametrize("draft", [DRAFT, OBJECT, "Final verdict: [[B]]", "} {"])
def test_thinking_is_cut_and_kept(family: str, draft: str) -> None:
    opening, closing = MARKS[family]
    for end in ENDS:
        parts = split_thinking(opening + draft + closing + ANSWER + end)
        assert parts.answer == ANSWER
        assert draft in parts.thinking
        reading = read_judgement(opening + draft + closing + ANSWER + end)
        assert isinstance(reading, Reading)
        assert (reading.evidence, reading.first, reading.second) == ("e", 8.0, 2.0)


@pytest.mark.parametrize("family", MARKS)
def test_a_draft_is_no_verdict_where_the_answer_declines_or_never_comes(family: str) -> None:
    opening, closing = MARKS[family]
    for draft in (DRAFT, OBJECT):
        declined = read_judgement(opening + draft + closing + "I am not able to decide.")
        assert isinstance(declined, Unscored)
        assert declined.reason == Reason.REFUSED
        for end in ("", closing):
            never = read_judgement(opening + draft + end)
            assert isinstance(never, Unscored), never
            assert never.reason in (Reason.TRUNCATED, Reason.UNPARSED)
            assert draft in split_thinking(opening + draft + end).thinking


@pytest.mark.parametrize("closing", ["</think>", "</thinking>", "[/THINK]", "<|end_of_thought|>", "</seed:think>"])
def test_thinking_without_an_opening_mark_is_kept_as_thinking(closing: str) -> None:
    parts = split_thinking(f"{DRAFT}\n{closing}\n\n{ANSWER}")
    assert (parts.answer, parts.thinking) == (ANSWER, DRAFT)


@pytest.mark.parametrize(
    "text", [f"<|foo|>{DRAFT}", f"{DRAFT}<|foo|>{ANSWER}", f"{OBJECT}<|foo|>{OBJECT}", f"<｜foo｜>{OBJECT}"]
)
def test_what_stands_beside_an_unknown_token_is_not_scored(text: str) -> None:
    found = read_judgement(text)
    assert isinstance(found, Unscored)
    assert found.reason == Reason.UNPARSED
    assert "foo" in found.detail
    assert isinstance(read_roles(text), Unscored)


@pytest.mark.parametrize(
    "text",
    [
        'Response 2 prints "<think>" and "</think>".',
        "It leaks the <|im_end|> token.",
        "It has `<|foo|>` and `</thinking>` in it.",
        "Response 1 ends with <|endoftext|>, which is odd.",
        "I think (see [think] above) that <b>both</b> are good.",
    ],
)
def test_a_mark_that_is_only_mentioned_cuts_nothing(text: str) -> None:
    assert split_thinking(f"{text}\n{ANSWER}").answer == f"{text}\n{ANSWER}"


def test_the_marks_of_a_text_in_json_are_part_of_what_it_says() -> None:
    reply = json.dumps({"evidence": "It prints <|foo|> and </think> and [[B]].", "score_1": 8, "score_2": 2})
    for text in (reply, f"```json\n{reply}\n```", f"<think>x</think>{reply}<|im_end|>"):
        reading = read_judgement(text)
        assert isinstance(reading, Reading)
        assert (reading.first, reading.second) == (8.0, 2.0)
        assert "</think>" in reading.evidence


def test_a_lone_half_of_a_surrogate_becomes_the_replacement_character() -> None:
    reading = read_judgement('{"evidence": "bad \\ud83d half, whole \\ud83d\\ude42", "score_1": 8, "score_2": 3}')
    assert isinstance(reading, Reading)
    assert reading.evidence == "bad \ufffd half, whole \U0001f642"
    reading = read_judgement("bad \ud83d half\nScore of Response 1: 8\nScore of Response 2: 3")
    assert isinstance(reading, Reading)
    assert reading.evidence == "bad \ufffd half"
