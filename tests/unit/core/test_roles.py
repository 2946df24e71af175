"""The role library and files of one's own roles."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgenet.core.network import Role
from judgenet.core.prompts import FAMILIES, LANGUAGES
from judgenet.core.roles import RoleError, library, parse_roles, roles_for, stand_in_roles


def test_the_library_has_the_same_roles_in_both_languages() -> None:
    english, chinese = library("en"), library("zh")
    assert [(role.id, role.families) for role in english] == [(role.id, role.families) for role in chinese]
    assert len(english) >= 20
    assert {family for role in english for family in role.families} == set(FAMILIES)
    for language in LANGUAGES:
        roles = [entry.role for entry in library(language)]
        assert len({role.name for role in roles}) == len({role.description for role in roles}) == len(roles)
        assert all(re.search("[\u4e00-\u9fff]", role.name + role.description) for role in roles) == (language == "zh")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_family_gets_its_own_roles_first(family: str, language: str) -> None:
    families = {entry.role: entry.families for entry in library(language)}
    own = [role for role, of in families.items() if family in of]
    every = roles_for(family, len(families), language)
    assert set(every) == set(families)
    assert list(every[: len(own)]) == own
    assert own
    rest = ["general" in families[role] for role in every[len(own) :]]
    assert rest == sorted(rest, reverse=True)
    for n in (1, 3, 8):
        assert roles_for(family, n, language) == every[:n]


@pytest.mark.parametrize(
    ("family", "n", "language", "says"),
    [
        ("poem", 3, "en", "question_answering"),
        ("code", 3, "fr", "en, zh"),
        ("code", 0, "en", "0 were asked for"),
        ("code", 99, "en", "99 were asked for"),
    ],
)
def test_what_the_library_cannot_give_is_said(family: str, n: int, language: str, says: str) -> None:
    with pytest.raises(RoleError, match=says):
        roles_for(family, n, language)


def test_stand_ins_are_as_many_as_there_are() -> None:
    assert stand_in_roles("code", 3, "en") == roles_for("code", 3, "en")
    assert stand_in_roles("code", 200, "en") == roles_for("code", len(library("en")), "en")


EXPECTED = (Role("Accuracy", "Is it true: all of it?"), Role("准确", "是否属实"), Role("Style"))


@pytest.mark.parametrize(
    "text",
    [
        "Accuracy: Is it true: all of it?\n准确：是否属实\nStyle",
        "\ufeff# My roles\r\n\r\n- Accuracy:Is it true: all of it?\r\n* 准确： 是否属实\r\n  Style :  \r\n",
        '[{"name": "Accuracy", "description": "Is it true: all of it?"},'
        ' {"name": "准确", "description": "是否属实"}, "Style"]',
        ' {"roles": [{"name": " Accuracy", "description": "Is it true: all of it?"},'
        ' {"name": "准确", "description": "是否属实 "}, {"name": "Style", "description": null}]}',
    ],
)
def test_roles_are_read_in_order(text: str) -> None:
    assert parse_roles(text, "roles") == EXPECTED


def test_a_line_separator_does_not_end_a_line() -> None:
    assert parse_roles("A: one\u2028two", "f") == (Role("A", "one\u2028two"),)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", ["f.txt", "no roles", "name: description"]),
        ("# nothing\n\n", ["no roles"]),
        ("[]", ["no roles"]),
        ("A: x\n\n: y", ["f.txt, line 3", "no name"]),
        ("A: x\nB: y\nA: z", ["f.txt, line 3", "'A'", "line 1"]),
        ('["A", "B", "A"]', ["f.txt, role 3", "role 1"]),
        ('[{"name": "A",}]', ["f.txt, line 1", "column", "JSON"]),
        ('{"rolls": []}', ["'roles'"]),
        ('{"roles": {"A": "x"}}', ["not a list"]),
        ('[{"name": ""}]', ["role 1", "'name'"]),
        ('[{"name": 3}]', ["role 1", "'name'"]),
        ('[{"description": "x"}]', ["role 1", "'name'"]),
        ('[{"name": "A", "description": 3}]', ["role 1", "'description'", "3"]),
        ('[{"name": "A", "weight": 2}]', ["role 1", "weight"]),
        ('["A", 7]', ["role 2", "7"]),
    ],
)
def test_roles_that_cannot_be_used_are_refused(text: str, says: list[str]) -> None:
    with pytest.raises(RoleError) as error:
        parse_roles(text, "f.txt")
    for part in says:
        assert part in str(error.value)


names = st.text(st.characters(exclude_categories=("Cs",)), min_size=1).filter(lambda name: name == name.strip())


@given(roles=st.lists(st.builds(Role, names, names), min_size=1, unique_by=lambda role: role.name))
def test_roles_survive_json(roles: list[Role]) -> None:
    text = json.dumps([{"name": role.name, "description": role.description} for role in roles])
    assert parse_roles(text, "f") == tuple(roles)
