"""Texts that are too long for a report are cut where a reader can stop."""

from __future__ import annotations

import pytest

from judgenet.report.model import excerpt


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [
        ("Short enough.", 40, "Short enough."),
        ("The first sentence. The second one is cut in its middle.", 36, "The first sentence."),
        ("One is. Then words go on and on without an end here", 40, "One is. Then words go on and on without"),
        ("He said \"It is so.\" And then he went on for long.", 30, "He said \"It is so.\""),
        ("Version 3.11 of the language is meant here and it is long", 40, "Version 3.11 of the language is meant"),
        ("一二三四五六七。八九十百千万", 12, "一二三四五六七。"),
    ],
)  # fmt: skip
def test_a_long_text_ends_with_a_sentence_where_one_is_near_else_with_a_word(text: str, most: int, shown: str) -> None:
    found = excerpt(text, most)
    assert found.text.rstrip() == shown
    assert found.total == len(text)
    assert found.left_out == len(text) - len(found.text)
