"""How many tokens a text has, estimated where nobody counted them."""

from __future__ import annotations

import re

_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff01-\uffef\U00020000-\U0003ffff]"
)
_OTHER = re.compile(
    "[\u0370-\u10ff\u1200-\u1dff\u2c00-\u2dff\ua000-\ua95f\ua980-\uabff\ufb1d-\ufdff\ufe70-\ufeff\U00010000-\U0001ffff]"
)


def wide_characters(text: str) -> int:
    """How many Chinese, Japanese and Korean letters and signs a text has."""
    return len(_WIDE.findall(text))


def estimate_tokens(text: str) -> int:
    """About how many tokens a model counts for ``text``; 0 for an empty text, otherwise at least 1.

    A token is taken to be 4 characters of Latin script, 2 of another alphabet (and of emoji), 1 of Chinese,
    Japanese or Korean. Vocabularies differ from this by about a third.
    """
    if text.isascii():
        return (len(text) + 3) // 4
    wide = wide_characters(text)
    others = len(_OTHER.findall(text))
    quarters = 4 * wide + 2 * others + (len(text) - wide - others)
    return (quarters + 3) // 4
