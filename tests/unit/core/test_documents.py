from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgenet.core.documents import DocumentError, Fields, extra_of, parse, to_text, with_extra

TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(TREES)
def test_writing_and_reading_gives_the_same_tree(tree: Any) -> None:
    text = to_text(tree)
    assert parse(text) == tree
    assert text.endswith("\n")
    assert to_text(parse(text)) == text


def test_text_is_sorted_readable_and_valid_utf8_with_a_lone_surrogate() -> None:
    tree = {"b": "中文 \u2028", "a": "\ud800 alone"}
    text = to_text(tree)
    assert text.index('"a"') < text.index('"b"')
    assert "中文" in text
    assert parse(text.encode("utf-8").decode("utf-8")) == tree


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"bytes", {"a": {(1, 2): 3}}])
def test_what_json_does_not_have_is_not_written(value: object) -> None:
    with pytest.raises(DocumentError):
        to_text({"value": value})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1,\n "b": }', r"line 2, column 7"),
        ("", "line 1"),
        ('{"a": 1, "a": 2}', "'a' occurs twice"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "Infinity"),
        ('{"a": 1e999}', "too large"),
        ("[" * 200_000, "deep"),
        ('{"a": ' + "9" * 5000 + "}", "not usable"),
    ],
)
def test_bad_json_is_named(text: str, words: str) -> None:
    with pytest.raises(DocumentError, match=words):
        parse(text)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f.text("number"), "root.number: must be a text, but is a number"),
        (lambda f: f.text("absent"), "root.absent: is missing"),
        (lambda f: f.whole("text"), "root.text: must be a whole number, but is a text"),
        (lambda f: f.whole("flag"), "root.flag: must be a whole number, but is true or false"),
        (lambda f: f.whole("half"), "root.half: must be a whole number, but is a number"),
        (lambda f: f.number("flag"), "root.flag: must be a number, but is true or false"),
        (lambda f: f.texts("mixed"), r"root.mixed\[1\]: must be a text, but is a number"),
        (lambda f: f.texts("text"), "root.text: must be a list of texts, but is a text"),
        (lambda f: f.inner("mixed"), "root.mixed: must be an object, but is a list"),
        (lambda f: f.choice("text", Literal["yes", "no"]), "root.text: must be one of yes, no"),
        (lambda f: f.refuse_unknown(("numbers", "text")), "root.number: is not known; did you mean 'numbers'"),
    ],
)
def test_a_wrong_member_is_named_by_its_path(call: Any, message: str) -> None:
    fields = Fields(
        {"number": 1, "text": "x", "flag": True, "half": 0.5, "mixed": ["a", 1], "object": {"deep": None}}, "root"
    )
    with pytest.raises(DocumentError, match=message):
        call(fields)


def test_null_counts_as_absent() -> None:
    fields = Fields({"a": None})
    assert fields.text("a", "default") == "default"
    assert fields.optional_text("a") is None
    assert fields.whole("a", 3) == 3
    assert fields.number("a") is None
    assert fields.texts("a") == ()
    assert fields.inner("a").members == {}


@given(st.dictionaries(st.text(), TREES, max_size=4))
def test_extra_members_come_back(document: dict[str, Any]) -> None:
    known = {name: value for name, value in document.items() if len(name) % 2}
    assert with_extra(known, extra_of(document, known)) == document


def test_extra_members_come_back_at_any_depth_unless_their_owner_is_gone() -> None:
    document = {"a": {"x": 1, "new": [1]}, "list": [{"new": 2}, {"y": 3, "new": 4}], "gone": {"new": 5}}
    known = {"a": {"x": 1}, "list": [{}, {"y": 3}], "gone": {}}
    extra = extra_of(document, known)
    assert with_extra(known, extra) == document
    edited = {"a": {"x": 2, "new": "ours now"}, "list": [{}]}
    assert with_extra(edited, extra) == {"a": {"x": 2, "new": "ours now"}, "list": [{"new": 2}]}
    assert json.dumps(known) == json.dumps({"a": {"x": 1}, "list": [{}, {"y": 3}], "gone": {}})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": }', "a value is expected"),
        ('{"a": 1 "b": 2}', "a comma or the end"),
        ('{"a" 1}', "a colon is expected"),
        ("{a: 1}", "a name in double quotes"),
        ('{"a": "b', "no closing quotation mark"),
        ('{"a": "\n"}', "control character stands inside a text"),
        ('{"a": "\\q"}', "a backslash is followed by"),
        ('{"a": "\\u12"}', "four hexadecimal digits"),
        ("{} {}", "something follows the end"),
    ],
)
def test_what_is_wrong_with_json_is_said_in_plain_words(text: str, said: str) -> None:
    with pytest.raises(DocumentError, match=said):
        parse(text)
