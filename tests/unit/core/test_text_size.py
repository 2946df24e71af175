from __future__ import annotations

import pytest

from judgenet.core.text_size import TextSize, difference, text_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", TextSize(0, 0)),
        ("  \n ", TextSize(0, 4)),
        ("Ice floats on water.", TextSize(4, 20)),
        ("Лёд плавает", TextSize(2, 11)),
        ("مرحبا بالعالم", TextSize(2, 13)),
        ("なぜ空は青いのですか。", TextSize(None, 11)),
        ("The word 水 is water", TextSize(5, 19)),
        ("한국어는 띄어 쓴다", TextSize(None, 10)),
    ],
)
def test_words_and_characters(text: str, size: TextSize) -> None:
    assert text_size(text) == size


def test_difference() -> None:
    assert difference("a b c d", "a b c d e") == pytest.approx(0.25)
    assert difference("a b c d", "a b") == pytest.approx(-0.5)
    assert difference("太陽の光", "太陽") == pytest.approx(-0.5)
    # One has no words that could be counted: characters of both.
    assert difference("太陽の光", "the sun!") == pytest.approx(1)
    assert difference("", "text") is None
    assert difference("text", "") == -1
