"""Lengths are counted as a reader of the script counts."""

from __future__ import annotations

import pytest

from judgenet.core.lengths import length_of


@pytest.mark.parametrize(
    ("text", "count", "unit", "short"),
    [
        ("", 0, "words", "0 w"),
        ("Two words.", 2, "words", "2 w"),
        ("a\n\n b\tc", 3, "words", "3 w"),
        ("なぜ空は青いのですか。", 11, "characters", "11 c"),
        ("天空为什么是蓝色的？ 请解释", 13, "characters", "13 c"),
        ("دقة المعلومات مهمة", 3, "words", "3 w"),
        ("The word 天空 means sky in Chinese", 7, "words", "7 w"),
        ("word " * 1500, 1500, "words", "1,500 w"),
    ],
)
def test_lengths(text: str, count: int, unit: str, short: str) -> None:
    found = length_of(text)
    assert (found.number, found.unit, found.short) == (count, unit, short)
