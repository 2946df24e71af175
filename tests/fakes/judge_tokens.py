"""Token probabilities as servers of chat completions and Gemini send them, for the text of a reply.

Every number n of a text has .75 of the probability, the number below it .15 and the one above it .1 (within 1 to 10);
what would be off the scale is on a word. All other tokens are certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import log
from typing import Any

TOKEN_REFUSALS = ("logprobs", "top_logprobs")
"""Refused are token probabilities at all, or more than 5 alternatives."""

SHARES = ((0, 0.75), (-1, 0.15), (1, 0.1))

_PIECES = {
    "joined": re.compile(r" ?[A-Za-z]+|[0-9]{1,3}|\s+|[^\sA-Za-z0-9]+"),
    "digits": re.compile(r" ?[A-Za-z]+|[0-9]|\s+|[^\sA-Za-z0-9]+"),
    "boundary": re.compile(r" ?[A-Za-z]+|[\s:]*[0-9]{1,3}[,}]?|\s+|[^\sA-Za-z0-9]"),
}
"""Tokens that hold whole numbers (as OpenAI's do), one digit each (as those of many open models), or a number together
with the punctuation around it."""


@dataclass(frozen=True)
class SentToken:
    text: str
    alternatives: tuple[tuple[str, float], ...]

    def openai(self, *, most: int, with_bytes: bool) -> dict[str, Any]:
        def one(text: str, chance: float) -> dict[str, Any]:
            found: dict[str, Any] = {"token": text, "logprob": log(chance) if chance else -9999.0}
            return found | {"bytes": list(text.encode()) if with_bytes else None}

        chances = dict(self.alternatives)
        return one(self.text, chances[self.text]) | {"top_logprobs": [one(*of) for of in self.alternatives[:most]]}


def likely_numbers(number: int) -> dict[int, float]:
    """The probabilities of the numbers where this one was sampled."""
    return {number + by: share for by, share in SHARES if 1 <= number + by <= 10}


def tokens_of(text: str, kind: str) -> list[SentToken]:
    """The tokens of a text; ``kind`` is ``joined``, ``digits`` or ``boundary``."""
    found: list[SentToken] = []
    pieces = _PIECES[kind].findall(text)
    while pieces:
        piece = pieces.pop(0)
        number = re.search("[0-9]+", piece)
        if number is None or not 1 <= int(number[0]) <= 10 or number[0].startswith("0"):
            found.append(SentToken(piece, ((piece, 1.0),)))
        elif kind == "digits":
            ten = piece == "1" and pieces[:1] == ["0"]
            shares = likely_numbers(10 if ten else int(piece))
            first: dict[str, float] = {}
            for value, share in shares.items():
                first[str(value)[0]] = first.get(str(value)[0], 0.0) + share
            found.append(SentToken(piece, _ordered(first.items())))
            if ten:
                pieces.pop(0)
                found.append(SentToken("0", (("0", 1.0),)))
        else:
            around = piece.split(number[0])
            shares = likely_numbers(int(number[0]))
            found.append(
                SentToken(piece, _ordered((f"{around[0]}{value}{around[1]}", share) for value, share in shares.items()))
            )
    return found


def _ordered(alternatives: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    known = sorted(alternatives, key=lambda of: -of[1])
    left = 1 - sum(share for _, share in known)
    return (*known, ("none", left)) if left > 1e-9 else tuple(known)


def entries_of(text: str, how: str, asked: int, draw: int) -> list[dict[str, Any]] | None:
    """``logprobs.content`` of a reply; ``None`` where there is none.

    ``how`` is the kind of tokens and what is wrong with them, such as ``joined+null``: ``null`` for one call of three
    (by ``draw``), ``fewer`` (two alternatives), ``missing`` (none), ``no_bytes``, ``extra`` (tokens that the text lacks
    before and after it), ``shifted`` (tokens of another text).
    """
    kind, *faults = how.split("+")
    if "null" in faults and draw % 3 == 0:
        return None
    most = 0 if "missing" in faults else 2 if "fewer" in faults else asked
    sent = tokens_of(text.replace("e", "3") if "shifted" in faults else text, kind)
    if "extra" in faults:
        around = [SentToken(word, ((word, 1.0),)) for word in ("<think>", "Which? 8 or 9.", "</think>\n", "<|end|>")]
        sent = [*around[:3], *sent, around[3]]
    return [token.openai(most=most, with_bytes="no_bytes" not in faults) for token in sent]


def gemini_result(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """The same as a ``logprobsResult`` of Gemini."""

    def one(entry: dict[str, Any]) -> dict[str, Any]:
        return {"token": entry["token"], "tokenId": 1, "logProbability": entry["logprob"]}

    return {
        "chosenCandidates": [one(entry) for entry in entries],
        "topCandidates": [{"candidates": [one(other) for other in entry["top_logprobs"]]} for entry in entries],
    }


def refuses_tokens(name: str, parameters: dict[str, Any]) -> bool:
    asked = bool(parameters.get("logprobs"))
    if name == "logprobs":
        return asked
    return asked and wanted_alternatives(parameters) > 5


def wanted_alternatives(parameters: dict[str, Any]) -> int:
    """How many alternatives a request asks for."""
    if "responseLogprobs" in parameters:
        return int(parameters["logprobs"])
    return int(parameters.get("top_logprobs", 0))


def token_refusal_words(name: str, parameters: dict[str, Any]) -> str:
    """What an API says where it refuses them, as people reported it."""
    if "responseLogprobs" in parameters:
        return "Logprobs is not enabled for models/fake"
    if name == "logprobs":
        return "This model does not support the 'logprobs' parameter."
    return "Requested sample logprobs of 20, which is greater than max allowed: 5"
