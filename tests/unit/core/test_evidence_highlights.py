"""The sentence that shows why, and whom it names."""

from __future__ import annotations

from judgenet.core.evidence_highlights import MOST_CHARS, key_sentence, mentions, sentences, sides

NAMES = ("Accuracy", "Completeness", "Clarity", "Clarity of tone")


def test_the_sentence_that_names_another_judge_is_the_telling_one() -> None:
    said = "B is longer. The Accuracy review is right that steps are missing. So A is better."
    found = key_sentence(said, NAMES)
    assert found.text == "The Accuracy review is right that steps are missing."
    (mention,) = found.mentions
    assert found.text[mention.start : mention.end] == "Accuracy"
    assert NAMES[mention.name] == "Accuracy"


def test_without_a_name_the_conclusion_is_the_telling_one() -> None:
    assert (
        key_sentence("A names neither. B covers backfill; A does not.", NAMES).text == "B covers backfill; A does not."
    )


def test_without_evidence_there_is_none() -> None:
    assert key_sentence("", NAMES) == ("", ())
    assert key_sentence(" \n ", NAMES) == ("", ())


def test_names_are_found_as_written_and_as_whole_words() -> None:
    text = "Clarity of tone and Clarity, not clarity nor Clarityness; see Judge 2, not Judge 22."
    assert [text[one.start : one.end] for one in mentions(text, NAMES)] == ["Clarity of tone", "Clarity", "Judge 2"]
    assert [one.name for one in mentions(text, NAMES)] == [3, 2, 1]


def test_names_of_one_kind_lead_to_the_first_of_them() -> None:
    assert [one.name for one in mentions("Tone says so", ("Tone", "Tone"))] == [0]


def test_chinese_names_need_no_spaces() -> None:
    text = "我同意准确性的看法。"
    (mention,) = mentions(text, ("准确性",))
    assert text[mention.start : mention.end] == "准确性"


def test_sentences_end_at_stops_of_any_script_and_not_within_numbers_or_abbreviations() -> None:
    assert sentences("It costs 3.5 dollars, i.e. little. “Good!” Yes.") == [
        "It costs 3.5 dollars, i.e. little.",
        "“Good!”",
        "Yes.",
    ]
    assert sentences("一个好。另一个不好。") == ["一个好。", "另一个不好。"]
    assert sentences("- **First** point\n- second point") == ["First point", "second point"]


def test_a_long_sentence_is_cut_at_a_word() -> None:
    found = key_sentence("word " * 200, NAMES)
    assert len(found.text) <= MOST_CHARS + 1
    assert found.text.endswith("word…")


def test_the_responses_of_a_prompt_are_a_and_b_by_its_order() -> None:
    text = "Response 1 beats response 2, not Response 12; 回答2更好。"
    found = sides(text, "ab")
    assert [(text[one.start : one.end], one.response) for one in found] == [
        ("Response 1", "a"),
        ("response 2", "b"),
        ("回答2", "b"),
    ]
    assert [one.response for one in sides(text, "ba")] == ["b", "a", "a"]
