"""How long a text is, as people count."""

from __future__ import annotations

from typing import NamedTuple

from judgenet.core.tokens import wide_characters


class TextSize(NamedTuple):
    """Words and characters of a text. ``words`` is ``None`` where the script does not part them by spaces."""

    words: int | None
    characters: int


def text_size(text: str) -> TextSize:
    """Counts words (what stands between white space) and characters.

    Where Chinese, Japanese or Korean letters make up a third of a text or more, its words cannot be counted so.
    """
    letters = len(text)
    if not text.isascii() and wide_characters(text) * 3 >= letters > 0:
        return TextSize(None, letters)
    return TextSize(len(text.split()), letters)


def difference(first: str, second: str) -> float | None:
    """By how much the second text is longer than the first, as a share of the first (0.08: 8 % longer).

    Words are compared where both have words, else characters. ``None`` where the first is empty.
    """
    a, b = text_size(first), text_size(second)
    before, after = (a.words, b.words) if a.words is not None and b.words is not None else (a.characters, b.characters)
    return after / before - 1 if before else None
