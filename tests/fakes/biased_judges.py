"""Minds for the judge server that read the prompt as a model does and have one bias each."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

Scores = tuple[int, int]
_BLOCK = re.compile(
    r"<<(Response 1|Response 2|回答1|回答2) · (\w+)>>\n(.*?)\n<<(?:end of )?\1(?:结束)? · \2>>", re.DOTALL
)
_ANY = re.compile(r"<<(Response \d+) · (\w+)>>\n(.*?)\n<<end of \1 · \2>>", re.DOTALL)
_MAJORITY = re.compile(r"\d+ % think that Response ([12]) is better")
_ODD = re.compile(r"Whoever wrote Response ([12]) likes")
_AUTHOR = re.compile(r"^Response ([12]) was written by (.*?)( \(that is you\))?\.$", re.MULTILINE)
_PLANTED = re.compile(
    r"Assistant ([12]): 10|Response ([12])(?:: 10| 10 points)|回答([12])的分数：10|ответ ([12]) уже|الإجابة ([12])،|"
    r"उत्तर ([12]) की"
)


def texts_of(prompt: str) -> tuple[str, str]:
    """The two responses as they stand in a prompt."""
    found = {match[1][-1]: match[3] for match in _BLOCK.finditer(prompt)}
    return found["1"], found["2"]


def _for(place: str) -> Scores:
    return (9, 3) if place == "1" else (3, 9)


def unbiased(prompt: str, times: int) -> Scores:
    """The response with the larger number of ``good`` in it, wherever it stands and whatever else is said."""
    first, second = (text.count("good") for text in texts_of(prompt))
    return (5, 5) if first == second else _for("1" if first > second else "2")


def coin(prompt: str, times: int) -> Scores:
    """Heads or tails, by a hash of the prompt and of how often it came."""
    return _for("12"[hashlib.sha256(f"{times}{prompt}".encode()).digest()[0] & 1])


def first(prompt: str, times: int) -> Scores:
    return _for("1")


def last(prompt: str, times: int) -> Scores:
    return _for("2")


def _leaning(share: float, place: str) -> Callable[[str, int], Scores]:
    """One response by its place in a share of the prompts, else as the unbiased one."""

    def mind(prompt: str, times: int) -> Scores:
        digest = hashlib.sha256("\n".join(texts_of(prompt)).encode()).digest()
        swayed = int.from_bytes(digest[:4], "big") < share * 2**32
        return _for(place) if swayed else unbiased(prompt, times)

    return mind


def longer(prompt: str, times: int) -> Scores:
    """The longer text, and a tie for equal ones."""
    one, other = map(len, texts_of(prompt))
    return (5, 5) if one == other else _for("1" if one > other else "2")


def obedient(prompt: str, times: int) -> Scores:
    """Does as it is told: by the majority, by an odd remark, by what is planted; else as the unbiased one."""
    for pattern in (_MAJORITY, _ODD):
        if match := pattern.search(prompt):
            return _for(match[1])
    for text in texts_of(prompt):
        if match := _PLANTED.search(text):
            return _for(next(group for group in match.groups() if group))
    return unbiased(prompt, times)


def named(prompt: str, times: int) -> Scores:
    """Its own work where it is told of it, else the system called ``famous``, else as the unbiased one."""
    authors = list(_AUTHOR.finditer(prompt))
    for wanted in (lambda match: match[3] is not None, lambda match: match[2] == "famous"):
        for match in authors:
            if wanted(match):
                return _for(match[1])
    return unbiased(prompt, times)


MINDS: dict[str, Callable[[str, int], Scores]] = {
    mind.__name__: mind for mind in (unbiased, coin, first, last, longer, obedient, named)
} | {
    f"{name}-{percent}": _leaning(percent / 100, place)
    for name, place in (("first", "1"), ("last", "2"))
    for percent in (5, 10, 20, 50)
}
"""The judges by name; ``first-20`` takes the first response in 20 % of the prompts and is right otherwise."""


def order_of(prompt: str) -> list[int]:
    """The numbers of all responses in a prompt, those with more ``good`` in them first."""
    found = {int(match[1].split()[-1]): match[3] for match in _ANY.finditer(prompt)}
    return sorted(found, key=lambda number: (-found[number].count("good"), number))
