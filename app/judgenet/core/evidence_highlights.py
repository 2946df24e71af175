"""Selects the sentence of an evaluation that best explains its verdict, and finds mentions of other judges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from judgenet.core.pairs import Order

MOST_CHARS = 180
"""A longer sentence is cut at a word."""

_SENTENCE_END = re.compile(
    r"""([.!?]["”’)\]]*)\s+(?=[^\W\d_a-zß-ÿ]|["“‘(\[])|([。！？]["”’」』）]*)\s*|()\n+""",
)
_SIDES = re.compile(r"(?:\b[Rr]esponse|回答) ?([12])(?!\d)")
_MARKS = re.compile(r"^[\s#>*\-•]+|[*_`]+")


class Mention(NamedTuple):
    """A name in a text: where it stands, and its place (0-based) in the list of names."""

    start: int
    end: int
    name: int


class KeySentence(NamedTuple):
    """A sentence with the names in it."""

    text: str
    mentions: tuple[Mention, ...]


def mentions(text: str, names: Sequence[str]) -> tuple[Mention, ...]:
    """Where names of roles, or "Judge 3" for the third of them, stand in a text, in order, never overlapping.

    Names are found as whole words and as they are written: "Clarity" is a judge, "clarity" is not. Of names that are
    the same the first counts.
    """
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        if name.strip():
            places.setdefault(name.strip(), place)
        places.setdefault(f"Judge {place + 1}", place)
    if not places or not text:
        return ()
    longest_first = sorted(places, key=len, reverse=True)
    # Word boundaries by hand: Chinese writes no spaces, and a name may begin or end with a sign.
    pattern = "|".join(
        f"{'(?<![a-zA-Z0-9_])' if name[0].isascii() else ''}{re.escape(name)}"
        f"{'(?![a-zA-Z0-9_])' if name[-1].isascii() else ''}"
        for name in longest_first
    )
    return tuple(Mention(match.start(), match.end(), places[match[0]]) for match in re.finditer(pattern, text))


class ResponseName(NamedTuple):
    """Where a text speaks of a response by the name that it had in the prompt, and which response that is."""

    start: int
    end: int
    response: Literal["a", "b"]


def sides(text: str, order: Order) -> tuple[ResponseName, ...]:
    """Where an answer in one order speaks of "Response 1" or "Response 2" (in Chinese 回答1 and 回答2)."""
    first: Literal["a", "b"] = "a" if order == "ab" else "b"
    second: Literal["a", "b"] = "b" if order == "ab" else "a"
    return tuple(
        ResponseName(match.start(), match.end(), first if match[1] == "1" else second)
        for match in _SIDES.finditer(text)
    )


def sentences(text: str) -> list[str]:
    """The sentences of a text, without the signs of Markdown."""
    parts = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        parts.append(text[start : match.end(match.lastindex or 0)])
        start = match.end()
    parts.append(text[start:])
    plain = (" ".join(_MARKS.sub("", part).split()) for part in parts)
    return [part for part in plain if part]


def key_sentence(evidence: str, names: Sequence[str] = ()) -> KeySentence:
    """The sentence that shows why: the first one that names another judge, else the last, which concludes.

    Empty where there is no evidence.
    """
    said = sentences(evidence)
    if not said:
        return KeySentence("", ())
    chosen = next((sentence for sentence in said if mentions(sentence, names)), said[-1])
    chosen = _cut(chosen)
    return KeySentence(chosen, mentions(chosen, names))


def _cut(sentence: str) -> str:
    if len(sentence) <= MOST_CHARS:
        return sentence
    short = sentence[:MOST_CHARS]
    space = short.rfind(" ")
    return (short[:space] if space > MOST_CHARS // 2 else short) + "…"
