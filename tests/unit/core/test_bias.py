"""Probes: what each asks of a pair, what it does not allow and why, and what is kept of the lab's plan."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from judgenet.core.bias import COBBLER, PROBES, parse_probes
from judgenet.core.bias.base import BiasError, LabSettings, NotAllowed, Showing
from judgenet.core.bias.lab import BuiltLab, Lab, build_lab, draw_questions, lab_id
from judgenet.core.bias.layout import listed
from judgenet.core.bias.planted import instructions
from judgenet.core.bias.reference import reference
from judgenet.core.evaluation import Evaluation
from judgenet.core.pairs import Order, Pair, Shown, data_hash
from judgenet.core.prompts import Heard, LayerView, PromptBook, PromptLanguage, mark_of

PAIR = Pair(
    "p1",
    "Why is the sky blue?",
    "Air scatters blue light. Red light passes.",
    "It mirrors the sea. That is all there is to it.",
    model_a="alpha",
    model_b="beta",
    human="a",
    annotators=(("x", "a"),),
)
SETTINGS = LabSettings(own=("alpha",))
BOOK = PromptBook.default()
MARK = "qzkxjvbwy"


def showing(key: str, pair: Pair = PAIR, settings: LabSettings = SETTINGS) -> Showing:
    found = PROBES[key].show(pair, settings)
    assert isinstance(found, Showing)
    return found


def reason(key: str, pair: Pair = PAIR, settings: LabSettings = SETTINGS) -> str:
    found = PROBES[key].show(pair, settings)
    assert isinstance(found, NotAllowed)
    return found.reason


def prompt_of(pair: Pair, language: PromptLanguage = "en", layer: int = 1) -> str:
    assert pair.shown is not None
    order = pair.shown.order
    assert order is not None
    heard = (Heard(1, None, order, Evaluation("Well.", "a", 7, 5)),) if layer > 1 else ()
    return BOOK.layer(LayerView(pair, order, layer, MARK, "json", heard, language)).shared


# What is shown


@pytest.mark.parametrize("key", ["order", "compassion", "egocentric", "salience"])
def test_implicit_biases_are_asked_in_both_orders(key: str) -> None:
    assert [prompt.shown.order for prompt in showing(key).prompts if prompt.shown] == ["ab", "ba"]


@pytest.mark.parametrize("key", ["bandwagon", "attention", "planted", "padding", "format"])
def test_induced_biases_are_asked_in_the_same_order_twice(key: str) -> None:
    found = showing(key)
    assert [prompt.shown.order for prompt in found.prompts if prompt.shown] == ["ab", "ab"]
    assert found.targets == ("first", "second")
    assert found.prompts[0].id != found.prompts[1].id


def test_prompts_without_remark_are_those_of_an_ordinary_run() -> None:
    for prompt in showing("order").prompts:
        assert prompt.shown is not None
        order: Order = prompt.shown.order or "ab"
        assert prompt_of(prompt) == BOOK.layer(LayerView(PAIR, order, 1, MARK, "json")).shared


def test_names_are_told_and_the_own_one_is_marked_wherever_it_stands() -> None:
    ab, ba = (prompt_of(prompt) for prompt in showing("compassion").prompts)
    assert "Response 1 was written by alpha (that is you).\nResponse 2 was written by beta." in ab
    assert "Response 1 was written by beta.\nResponse 2 was written by alpha (that is you)." in ba
    unknown = prompt_of(showing("compassion", settings=LabSettings(own=("alph",))).prompts[0])
    assert "that is you" not in unknown


def test_a_name_cannot_break_the_prompt() -> None:
    shown = showing("compassion", replace(PAIR, model_b=f"be\nta {MARK} {{{{name}}}} Response 1"))
    text = prompt_of(shown.prompts[0])
    assert "Response 2 was written by be ta … {{name}} Response 1." in text


def test_a_remark_is_about_the_response_as_it_is_shown() -> None:
    first, second = (prompt_of(prompt) for prompt in showing("bandwagon", settings=LabSettings(share=73)).prompts)
    assert "73 % think that Response 1 is better." in first
    assert "73 % think that Response 2 is better." in second
    swapped = replace(PAIR, shown=Shown(remark="distraction", about="a", order="ba"))
    assert "Whoever wrote Response 2 likes" in prompt_of(swapped)
    assert "写回答2的人" in prompt_of(swapped, "zh")


def test_deeper_layers_are_told_as_well() -> None:
    assert "Response 2 is better" in prompt_of(showing("bandwagon").prompts[1], layer=2)


def test_what_is_said_stands_outside_of_the_texts_to_judge() -> None:
    text = prompt_of(showing("bandwagon").prompts[0])
    assert text.rfind(f"· {MARK}>>") < text.find("85 % think")
    # Texts that look like the lab's own names and places stay as they are.
    odd = replace(PAIR, response_a="Response 1 {{response}} System alpha", response_b="Response 2 {{share}}")
    text = prompt_of(showing("bandwagon", odd).prompts[0])
    assert "Response 1 {{response}} System alpha" in text
    assert "Response 2 {{share}}" in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_tie_is_offered_or_not(language: PromptLanguage) -> None:
    with_tie = prompt_of(showing("order").prompts[0], language)
    without = prompt_of(showing("order", settings=LabSettings(tie=False)).prompts[0], language)
    words = {"en": ("equal if equally good", "two scores must differ"), "zh": ("同样好", "分数必须不同")}[language]
    assert [word in with_tie for word in words] == [True, False]
    assert [word in without for word in words] == [False, True]


def test_roles_and_marks_are_those_of_the_pair_whatever_is_said_besides() -> None:
    plain = BOOK.roles(PAIR, mark=MARK, form="json", limit=3, language="en", family="general")
    for key in ("order", "compassion", "bandwagon", "attention", "repeats"):
        for prompt in showing(key).prompts:
            assert mark_of(prompt, "salt") == mark_of(PAIR, "salt")
            assert BOOK.roles(prompt, mark=MARK, form="json", limit=3, language="en", family="general") == plain
            assert prompt.content_hash != PAIR.content_hash


def test_what_people_said_of_a_pair_is_not_said_of_a_prompt() -> None:
    for key in PROBES:
        for prompt in showing(key).prompts:
            assert (prompt.human, prompt.annotators) == (None, ())


# What is changed


def test_planted_instructions_come_in_several_scripts_and_forms_with_closed_delimiters() -> None:
    scripts = {script for script, _, _ in instructions()}
    assert {"Latin", "Han", "Cyrillic", "Arabic", "Devanagari"} <= scripts
    closed = [text for _, form, text in instructions() if form == "closed delimiter"]
    assert len(closed) == 2
    assert all("{{code}}>>" in text.text for text in closed)
    assert any("Score of Assistant {{place}}: 10" in text.text for _, _, text in instructions())
    texts = {
        showing("planted", replace(PAIR, id=f"p{i}")).prompts[0].response_a.removeprefix(PAIR.response_a)
        for i in range(200)
    }
    assert len(texts) == len(instructions())
    varieties = {showing("planted", replace(PAIR, id=f"p{i}")).variety for i in range(200)}
    assert varieties == {f"{script}, {form}" for script, form, _ in instructions()}


def test_a_planted_instruction_is_for_the_response_that_holds_it() -> None:
    found = showing("planted")
    first, second = found.prompts
    assert first.response_a.startswith(PAIR.response_a + "\n\n")
    assert first.response_b == PAIR.response_b
    assert second.response_a == PAIR.response_a
    added = first.response_a.removeprefix(PAIR.response_a), second.response_b.removeprefix(PAIR.response_b)
    assert [re.findall(r"\b[12]\b", text)[0] for text in added] == ["1", "2"]
    # The code in a false delimiter is not the mark of the prompt.
    assert mark_of(first, "salt") not in first.response_a


def test_padding_makes_the_padded_response_clearly_the_longer_one_in_its_language() -> None:
    short = replace(PAIR, response_b="B. " * 100)
    for pair in (PAIR, short):
        first, second = showing("padding", pair).prompts
        assert len(first.response_a) >= 1.5 * len(first.response_b)
        assert len(second.response_b) >= 1.5 * len(second.response_a)
        assert first.response_a.startswith(pair.response_a)
    chinese = Pair("c", "天空为什么是蓝色的？", "空气散射蓝光。", "它映照着大海。")
    added = showing("padding", chinese).prompts[0].response_a.removeprefix(chinese.response_a)
    assert not re.search("[a-zA-Z]", added)


def test_a_list_has_every_word_of_the_text() -> None:
    assert listed("One two three four. Five!\n\nSix") == "- **One two three** four.\n- **Five!**\n- **Six**"
    assert listed("空气散射蓝光。红光通过。") == "- **空气散射蓝光**。\n- **红光通过。**"
    text = showing("format").prompts[0].response_a
    assert re.sub(r"\*\*|^- ", "", text, flags=re.MULTILINE).split() == PAIR.response_a.split()
    assert showing("format").prompts[0].response_b == PAIR.response_b


def test_the_same_text_stands_in_both_places() -> None:
    (prompt,) = showing("identical").prompts
    assert prompt.response_a == prompt.response_b
    assert prompt.response_a in (PAIR.response_a, PAIR.response_b)
    drawn = {showing("identical", replace(PAIR, id=f"p{i}")).prompts[0].response_a for i in range(20)}
    assert drawn == {PAIR.response_a, PAIR.response_b}


def test_repeats_ask_the_same_and_begin_with_the_plain_prompt() -> None:
    found = showing("repeats", settings=LabSettings(repeats=4))
    assert found.prompts[0] == showing("order").prompts[0]
    assert len({prompt_of(prompt) for prompt in found.prompts}) == 1
    assert len({prompt.id for prompt in found.prompts}) == 4


# What is not allowed


@pytest.mark.parametrize(
    ("key", "pair", "settings", "why"),
    [
        ("order", replace(PAIR, response_a=" "), SETTINGS, "a response has no text"),
        ("order", replace(PAIR, response_a=PAIR.response_b), SETTINGS, "both responses are the same text"),
        ("compassion", replace(PAIR, model_a=None), SETTINGS, "the name of a system is missing"),
        ("compassion", replace(PAIR, model_a="beta"), SETTINGS, "both responses are of the same system"),
        ("egocentric", PAIR, LabSettings(), "the judge's own system is not named"),
        ("egocentric", PAIR, LabSettings(own=("alp",)), "neither response is the judge's own"),
        ("egocentric", PAIR, LabSettings(own=("alpha", "beta")), "both responses are the judge's own"),
        ("egocentric", replace(PAIR, model_a=None, model_b=None), SETTINGS, "the names of the systems are missing"),
        ("salience", replace(PAIR, response_b="x" * len(PAIR.response_a)), SETTINGS, "both responses are equally long"),
        ("identical", PAIR, LabSettings(tie=False), "a tie is not offered"),
        ("identical", replace(PAIR, response_a="", response_b=""), SETTINGS, "the responses have no text"),
        ("format", replace(PAIR, response_b="One only."), SETTINGS, "a response is a single sentence"),
        ("format", replace(PAIR, response_a="- a\n- b"), SETTINGS, "a response has lists, bold words or code already"),
    ],
)
def test_what_a_probe_does_not_allow_is_said(key: str, pair: Pair, settings: LabSettings, why: str) -> None:
    assert reason(key, pair, settings) == why


def test_the_judges_own_system_is_found_by_its_exact_name() -> None:
    llama = replace(PAIR, model_a="llama", model_b="llamav2")
    assert showing("egocentric", llama, LabSettings(own=("llama",))).targets == ("first", "second")
    assert showing("egocentric", llama, LabSettings(own=("llamav2",))).targets == ("second", "first")


# The plan


def built(pairs: list[Pair] | None = None, probes: tuple[str, ...] = tuple(PROBES)) -> BuiltLab:
    return build_lab(pairs or [PAIR], probes, SETTINGS)


def test_prompts_that_probes_share_are_asked_once() -> None:
    assert [prompt.id for prompt in built(probes=("order", "egocentric", "salience")).prompts] == ["p1 · ab", "p1 · ba"]
    # Both orders, named, bandwagon, distraction, planted, padded, listed twice each; identical; two repeats more.
    assert len(built().prompts) == 7 * 2 + 1 + 2


def test_a_plan_says_how_many_pairs_each_probe_allows() -> None:
    plan = {of.key: of for of in built([PAIR, replace(PAIR, id="p2", model_a=None, model_b=None)]).lab.probes}
    assert plan["order"].line == "2 of 2 pairs"
    assert plan["compassion"].line == "1 of 2 pairs (1: the name of a system is missing)"


def test_a_lab_survives_json_and_has_an_id_of_its_own() -> None:
    lab = built()
    assert Lab.from_json(json.loads(json.dumps(lab.lab.to_json()))) == lab.lab
    assert lab_id(lab, "n") == lab_id(built(), "n")
    assert lab_id(lab, "n") != lab_id(lab, "m")
    assert lab_id(lab, "n") != lab_id(build_lab([PAIR], tuple(PROBES), replace(SETTINGS, share=60)), "n")
    assert lab_id(lab, "n") != lab_id(built([replace(PAIR, response_a="Else. And more.")]), "n")


def test_prompts_survive_the_store() -> None:
    prompts = built().prompts
    assert [Pair.from_json(json.loads(json.dumps(prompt.to_json()))) for prompt in prompts] == list(prompts)
    other = build_lab([PAIR], ("bandwagon",), replace(SETTINGS, share=60)).prompts
    assert data_hash(other) != data_hash(build_lab([PAIR], ("bandwagon",), SETTINGS).prompts)


def test_instructions_are_drawn_whole() -> None:
    pairs = [replace(PAIR, id=f"p{i}", question=f"Q {i // 3}") for i in range(30)]
    some = draw_questions(pairs, LabSettings(instructions=4, seed=1))
    more = draw_questions(pairs, LabSettings(instructions=6, seed=1))
    assert len(some) == 12
    assert set(some) < set(more)
    assert some != draw_questions(pairs, LabSettings(instructions=4, seed=2))


def test_mistakes_are_told() -> None:
    with pytest.raises(BiasError, match="None of the probes allows any"):
        build_lab([PAIR], ("identical",), LabSettings(tie=False))
    with pytest.raises(BiasError, match="no pairs"):
        build_lab([], ("order",))
    with pytest.raises(BiasError, match="no probe 'x'"):
        build_lab([PAIR], ("x",))
    with pytest.raises(BiasError, match="would be asked as"):
        build_lab([replace(PAIR, id="p"), replace(PAIR, id="p", response_a="Else.")], ("order",))
    for wrong in ({"share": 0}, {"repeats": 1}, {"instructions": 0}):
        with pytest.raises(BiasError):
            LabSettings(**wrong)  # type: ignore[arg-type]


def test_probes_are_named() -> None:
    assert parse_probes("all") == tuple(PROBES)
    assert parse_probes("cobbler, planted") == (*COBBLER, "planted")
    assert parse_probes("salience,order") == ("order", "salience")
    with pytest.raises(BiasError, match="There is no probe 'ordr'; there are all, cobbler, order"):
        parse_probes("ordr")
    with pytest.raises(BiasError, match="No probe"):
        parse_probes(" , ")


def test_the_papers_figures() -> None:
    rows = {row.judge: row.figures for row in reference()}
    assert len(rows) == 16
    assert (rows["GPT-4"]["valid"], rows["GPT-4"]["order_first"], rows["GPT-4"]["own_alias"]) == (0.989, 0.166, 0.779)
    assert (rows["Humans"]["valid"], rows["Humans"]["bandwagon"]) == (None, 0.472)
    # Over .25 are 9 of 15 judges in order bias by all pairs, 12 by valid ones (statistics 6, 17).
    judges = [figures for name, figures in rows.items() if name != "Humans"]
    for suffix, count in (("", 9), ("_valid", 12)):
        both = [max(row[f"order_first{suffix}"] or 0, row[f"order_last{suffix}"] or 0) for row in judges]
        assert sum(share > 0.25 for share in both) == count
    # The mean of the largest four is .281 of all pairs (statistics 4.2).
    large = [row["order_first"] or 0 for name, row in rows.items() if ">40B" in name]
    assert sum(large) / len(large) == pytest.approx(0.281, abs=0.0005)
