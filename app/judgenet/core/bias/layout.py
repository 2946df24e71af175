"""Format: the first, then the second response is shown as a list with bold words, and wins both times."""

from __future__ import annotations

import re

from judgenet.core.bias.base import LabSettings, NotAllowed, Probe, Showing, Side, picture_reason
from judgenet.core.bias.promoted import changed
from judgenet.core.pairs import Pair

_MARKUP = re.compile(r"\*\*|__|```|^\s*(?:[-*+•]|\d+[.)]|#{1,6}|\|)\s", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\n+")
_BOLD_WORDS = 3
_BOLD_CHARACTERS = 6


def listed(text: str) -> str:
    """Each sentence as a point of a list whose first words are bold; no word is added or lost."""
    return "\n".join(f"- {_bold(sentence)}" for sentence in _sentences(text))


def _sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def _bold(sentence: str) -> str:
    words = sentence.split()
    if len(words) > 1:
        head, rest = " ".join(words[:_BOLD_WORDS]), " ".join(words[_BOLD_WORDS:])
        return f"**{head}** {rest}".rstrip()
    return f"**{sentence[:_BOLD_CHARACTERS]}**{sentence[_BOLD_CHARACTERS:]}"


def _formatted(pair: Pair, side: Side, settings: LabSettings) -> str | NotAllowed:
    if _MARKUP.search(pair.response_a) or _MARKUP.search(pair.response_b):
        return NotAllowed("a response has lists, bold words or code already")
    text = pair.response(side)
    return listed(text) if len(_sentences(text)) > 1 else NotAllowed("a response is a single sentence")


def show(pair: Pair, settings: LabSettings) -> Showing | NotAllowed:
    """The same order twice."""
    if why := picture_reason(pair):
        return NotAllowed(why)
    return changed(pair, settings, "listed", _formatted)


PROBE = Probe(
    key="format",
    title="Format",
    tells="Lists and bold words win",
    rule="both",
    show=show,
    outcomes=("listed", "plain", "unmoved"),
    above="Prefers lists and bold words",
    against="Prefers plain text",
    toward=("lists and bold words", "plain text"),
)
