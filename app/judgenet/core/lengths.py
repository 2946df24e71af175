"""How long a text is, in the unit in which its script is counted."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Unit = Literal["words", "characters"]

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]"
)
_SAMPLE = 4000


class Length(NamedTuple):
    """A length: words, or characters where the script writes no spaces between words."""

    number: int
    unit: Unit

    @property
    def short(self) -> str:
        """As on a node: "102 w", "340 c"."""
        return f"{self.number:,} {self.unit[0]}"


def length_of(text: str) -> Length:
    """Words between spaces; characters (spaces left out) where at least a third of the text is Chinese, Japanese,
    Thai, Lao, Burmese or Khmer."""
    sample = text[:_SAMPLE]
    if sample.isascii() or 3 * len(_UNSPACED.findall(sample)) < len("".join(sample.split())):
        return Length(len(text.split()), "words")
    return Length(len("".join(text.split())), "characters")
