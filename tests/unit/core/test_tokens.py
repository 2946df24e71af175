from __future__ import annotations

import pytest

from judgenet.core.tokens import estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("four" * 25, 25),
        ("é" * 100, 25),
        ("哪个回答更好", 6),
        ("どちらが良いか", 7),
        ("어느 것", 4),
        ("Какой", 3),
        ("مرحبا!", 3),
        ("\ud800", 1),
    ],
)
def test_counts_by_script(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens
