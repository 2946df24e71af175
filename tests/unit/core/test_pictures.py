"""Pictures in prompts and probes: named by their response, and left out of what is about text."""

from __future__ import annotations

from dataclasses import replace

from judgenet.core.bias.base import LabSettings
from judgenet.core.bias.for_people import for_people
from judgenet.core.bias.lab import build_lab
from judgenet.core.pairs import Pair
from judgenet.core.pictures import PairPicture
from judgenet.core.prompts import LayerView, PromptBook, language_of
from judgenet.core.wording import text_size_words

RED, BLUE = (PairPicture(letter * 64, "image/png", 640, 480, 31_400) for letter in "ab")
PAIR = Pair(
    "p",
    "Which is red?",
    f"This: {RED.placeholder(1)}. And {RED.placeholder(1)} again, {BLUE.placeholder(2)}.",
    BLUE.placeholder(1),
    pictures=(RED, BLUE),
)
BOOK = PromptBook.default()


def test_a_picture_is_named_by_the_response_it_belongs_to() -> None:
    for order, (own, other) in {"ab": ("1", "2"), "ba": ("2", "1")}.items():
        prompt = BOOK.layer(LayerView(PAIR, "ab" if order == "ab" else "ba", 1, "markmarkm", "json"))
        first = f"<<picture 1 of Response {own} · markmarkm>>"
        # A placeholder that comes again is a name; the picture is sent once.
        assert f"This: {first}. And [picture 1] again, <<picture 2 of Response {own} · markmarkm>>." in prompt.shared
        marks = {placed.mark: placed.picture for placed in prompt.pictures}
        assert marks[first] == RED
        assert marks[f"<<picture 1 of Response {other} · markmarkm>>"] == BLUE
        assert len(prompt.pictures) == 3
        assert RED.sha256[:8] not in prompt.shared
    words = replace(PAIR, response_a="This", response_b="That", pictures=())
    assert "picture" not in BOOK.layer(LayerView(words, "ab", 1, "markmarkm", "json")).shared


def test_languages_and_lengths_are_those_of_the_words() -> None:
    chinese = replace(
        PAIR, question="哪一张图片是红色的？", response_a=RED.placeholder(1), response_b=BLUE.placeholder(1)
    )
    assert language_of(chinese) == "zh"
    prompt = BOOK.layer(LayerView(chinese, "ab", 1, "markmarkm", "json", language="zh"))
    assert "<<回答1的图片1 · markmarkm>>" in prompt.shared
    assert text_size_words(PAIR.response_b, PAIR.pictures) == "1 picture"
    assert text_size_words(PAIR.response_a, PAIR.pictures).endswith(", 2 pictures")
    assert RED.words == "640 × 480 PNG, 31.4 kB"


def test_probes_about_text_leave_pictures_out_and_say_so() -> None:
    words = Pair("w", "Why?", "One sentence. And another one.", "Short one. And a second.")
    lab = build_lab([PAIR, words], ("order", "salience", "padding", "format"), LabSettings()).lab
    left_out = {plan.key: (len(plan.items), dict(plan.left_out)) for plan in lab.probes}
    why = {"a response has pictures, and the probe is about its text": 1}
    assert left_out["order"] == (2, {})
    assert left_out["salience"] == left_out["padding"] == left_out["format"] == (1, why)


def test_people_are_shown_texts_alone() -> None:
    built = build_lab([PAIR, Pair("w", "Why?", "One.", "Two.")], ("order",), LabSettings())
    prompts = {prompt.id: prompt for prompt in built.prompts}
    shown = for_people(built.lab, prompts, lambda pair: "")
    assert {prompt.question for prompt in shown} == {"Why?"}
