"""Roles that a model names."""

from __future__ import annotations

import pytest

from judgenet.core.evaluation import Reason, Unscored
from judgenet.core.network import Role
from judgenet.core.reading import read_roles

ACCURACY = Role("Accuracy", "Are the facts right?")
DEPTH = Role("Depth", "Does it go deep?")


@pytest.mark.parametrize(
    "text",
    [
        '{"roles": [{"name": "Accuracy", "description": "Are the facts right?"},'
        ' {"name": "Depth", "description": "Does it go deep?"}]}',
        '```json\n{"roles": [{"name": "Accuracy", "description": "Are the facts right?"},'
        ' {"name": "Depth", "description": "Does it go deep?"},]}\n```',
        '[{"role": "Accuracy", "desc": "Are the facts right?"}, {"role": "Depth", "desc": "Does it go deep?"}]',
        '{"perspectives": {"Accuracy": "Are the facts right?", "Depth": "Does it go deep?"}}',
        '{"roles": ["Accuracy: Are the facts right?", "Depth: Does it go deep?"]}',
        "$Accuracy: Are the facts right?&\n$Depth: Does it go deep?&",
        "$Accuracy: Are the facts right?&$Depth: Does it go deep?&",
        "1. $Accuracy: Are the facts right?&\n2. $Depth: Does it go deep?&\n",
        "$Accuracy - Are the facts right?@\n$Depth - Does it go deep?@",
        "1. **Accuracy**: Are the facts right?\n2. **Depth**: Does it go deep?",
        "1) Accuracy: Are the facts right?\n2) Depth: Does it go deep?",
        "- Accuracy: Are the facts right?\n- Depth: Does it go deep?",
        "* **Accuracy:** Are the facts right?\n* **Depth:** Does it go deep?",
        "• Accuracy – Are the facts right?\n• Depth — Does it go deep?",
        "Here are two perspectives:\n\n1. Accuracy: Are the facts\n   right?\n\n2. Depth: Does it go deep?\n\n"
        "Both matter here.",
        "### 1. Accuracy\nAre the facts right?\n\n### 2. Depth\n\nDoes it go deep?",
        "**Accuracy**: Are the facts right?\n\n**Depth**: Does it go deep?",
        "1. **Accuracy**\n   - Description: Are the facts right?\n2. **Depth**\n   - Description: Does it go deep?",
        "Name: Accuracy\nDescription: Are the facts right?\n\nName: Depth\nDescription: Does it go deep?",
        "Role 1: Accuracy\nRole 2: Speed\n</think>\n1. Accuracy: Are the facts right?\n2. Depth: Does it go deep?",
    ],
)
@pytest.mark.parametrize("form", ["json", "text"])
def test_roles_are_read_in_their_order(text: str, form: str) -> None:
    assert read_roles(text, form=form, limit=None) == (ACCURACY, DEPTH)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "$准确性：事实是否正确&\n$深度：是否深入&",
        "1、准确性：事实是否正确\n2、深度：是否深入",
        "一、**准确性**：事实是否正确\n二、**深度**：是否深入",
        '{"角色": [{"名称": "准确性", "描述": "事实是否正确"}, {"名称": "深度", "描述": "是否深入"}]}',
    ],
)
def test_chinese_roles_are_read(text: str) -> None:
    assert read_roles(text, form="text", limit=None) == (Role("准确性", "事实是否正确"), Role("深度", "是否深入"))


def test_dollar_and_ampersand_are_also_ordinary_text() -> None:
    text = "$Cost & value: is it worth $5 a month, R&D included&\n$Q&A form: does it answer&\n"
    assert read_roles(text, form="text", limit=None) == (
        Role("Cost & value", "is it worth $5 a month, R&D included"),
        Role("Q&A form", "does it answer"),
    )


def test_a_role_may_lack_a_description() -> None:
    assert read_roles("- Accuracy\n- Depth", form="text", limit=None) == (Role("Accuracy"), Role("Depth"))
    assert read_roles('{"roles": [{"name": "Accuracy"}]}', form="json", limit=None) == (Role("Accuracy"),)
    assert read_roles("$Accuracy&\n$Depth&", form="text", limit=None) == (Role("Accuracy"), Role("Depth"))


def test_a_long_role_without_a_separator_is_named_by_its_first_clause() -> None:
    text = "$Everyday reader, who wants to know in plain words what the answer means for them and their family&"
    (role,) = read_roles(text, form="text", limit=None)  # type: ignore[misc]
    assert role.name == "Everyday reader"
    assert role.description == text[1:-1]


def test_repeats_empty_names_and_surplus_are_dropped() -> None:
    names = ["Accuracy", "", "accuracy", "  ", "ACCURACY ", "Depth", "42", "Style"]
    text = '{"roles": [' + ", ".join(f'{{"name": "{name}", "description": "d"}}' for name in names) + "]}"
    assert read_roles(text, form="json", limit=None) == (Role("Accuracy", "d"), Role("Depth", "d"), Role("Style", "d"))
    assert read_roles(text, form="json", limit=2) == (Role("Accuracy", "d"), Role("Depth", "d"))


def test_forty_roles_in_a_bare_list_are_forty_roles() -> None:
    text = "[" + ", ".join(f'{{"name": "Role {i}", "description": "d"}}' for i in range(40)) + "]"
    roles = read_roles(text, form="json", limit=None)
    assert roles == tuple(Role(f"Role {i}", "d") for i in range(40))


@pytest.mark.parametrize("opening", ['{"roles": [', "["])
def test_of_a_list_that_was_cut_off_no_part_is_taken_for_the_whole(opening: str) -> None:
    text = opening + '{"name": "Accuracy", "description": "d"}, {"name": "Depth", "desc'
    found = read_roles(text, form="json", limit=None)
    assert isinstance(found, Unscored)
    assert found.reason == Reason.TRUNCATED
    assert read_roles(text, form="json", limit=1) == (Role("Accuracy", "d"),)


def test_points_below_an_item_belong_to_it() -> None:
    text = "1. Accuracy\n- facts\n- figures\n2. Depth\n- reasons"
    assert read_roles(text, form="text", limit=None) == (Role("Accuracy", "facts - figures"), Role("Depth", "reasons"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Reason.EMPTY),
        (" \n ", Reason.EMPTY),
        ("Both responses are good and there is nothing to add.", Reason.UNPARSED),
        ("It costs $5 & that is all.", Reason.UNPARSED),
        ("1. I think that the first response is better because it is longer and nicer.", Reason.UNPARSED),
        ('{"roles": []}', Reason.UNPARSED),
        ('{"evidence": "e", "score_1": 8, "score_2": 6}', Reason.UNPARSED),
        ('{"roles": [{"name": "Accuracy", "description": "Are the', Reason.TRUNCATED),
        ("<think>1. Accuracy: is it right", Reason.TRUNCATED),
        ("I'm sorry, but I can't help with that:\n- it is unsafe\n- it is rude", Reason.REFUSED),
        ("抱歉，我无法回答。", Reason.REFUSED),
    ],
)
def test_a_reply_without_roles_is_unscored(text: str, expected: Reason) -> None:
    found = read_roles(text, form="json", limit=None)
    assert isinstance(found, Unscored), found
    assert found.reason == expected


@pytest.mark.parametrize(
    "piece", ["$", "$a", "&", "& ", "- a\n", "**", "{", '{"name": ', "[", "1. ", "Name: ", "\n", "@\n"]
)
def test_long_replies_of_one_piece_are_read_in_time(piece: str) -> None:
    """100 kB of anything: work that grew with the square of it would run into the test's time limit."""
    found = read_roles(piece * (100_000 // len(piece)), form=None, limit=3)
    assert isinstance(found, Unscored) or 0 < len(found) <= 3
