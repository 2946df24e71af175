"""N-wise ranking: a judge puts the responses of several systems to an instruction in order at once."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from judgenet.core import schemas
from judgenet.core.bias.base import BiasError, LabSettings
from judgenet.core.bias.lab import draw_questions
from judgenet.core.evaluation import Reason, Unscored
from judgenet.core.pairs import Pair, question_key
from judgenet.core.reading import without_reading, without_thinking
from judgenet.core.reading_json import objects

MOST = 26
"""More responses than this are no prompt that anybody would read."""


@dataclass(frozen=True, slots=True)
class Group:
    """An instruction with the systems whose responses are put in order, as they are shown.

    ``pair`` is one of the pairs of the instruction. ``question`` numbers it as the lab does.
    """

    question: int
    pair: Pair
    systems: tuple[str, ...]
    responses: tuple[str, ...]

    @property
    def material(self) -> Pair:
        """All that a judge sees, as a pair: what a mark must not occur in."""
        return replace(self.pair, response_a="\n".join(self.responses), response_b="", shown=None)


@dataclass(frozen=True, slots=True)
class Groups:
    """What can be put in order, and how many instructions cannot, by reason."""

    size: int
    groups: tuple[Group, ...]
    left_out: dict[str, int]


def groups_of(pairs: Iterable[Pair], size: int, settings: LabSettings | None = None) -> Groups:
    """For each instruction ``size`` systems, drawn and put in a random order by the seed.

    :raises BiasError: a size below 2 or above 26, or no instruction with so many systems.
    """
    settings = settings or LabSettings()
    if not 2 <= size <= MOST:
        raise BiasError(f"2 to {MOST} responses can be put in order at once, not {size}.")
    by_question: dict[bytes, list[Pair]] = {}
    for pair in draw_questions(pairs, settings):
        by_question.setdefault(question_key(pair.question), []).append(pair)
    groups: list[Group] = []
    left_out: Counter[str] = Counter()
    for number, (key, some) in enumerate(by_question.items()):
        if any(pair.pictures for pair in some):
            left_out["pictures, of which many responses at once would have too many"] += 1
            continue
        texts: dict[str, str] = {}
        for pair in some:
            for name, text in ((pair.model_a, pair.response_a), (pair.model_b, pair.response_b)):
                if name and text.strip():
                    texts.setdefault(name, text)
        if len(texts) < size:
            left_out[f"fewer than {size} named systems"] += 1
            continue
        systems = random.Random(f"{settings.seed}/{key.hex()}").sample(sorted(texts), size)
        groups.append(Group(number, some[0], tuple(systems), tuple(texts[name] for name in systems)))
    if not groups:
        raise BiasError(
            f"No instruction has responses of {size} named systems. Give pairs with model_a and model_b, or a smaller "
            "number."
        )
    return Groups(size, tuple(groups), dict(left_out))


_HEADED = re.compile(r"(?:final )?(?:ranking|order|排名|排序)\s*[\])*_`”\"]*\s*[:：]", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_SEPARATED = re.compile(
    r"\W*(?:(?:response|回答)\W{0,3})?\d+(?:\W+(?:(?:response|回答)\W{0,3})?\d+)+\W*", re.IGNORECASE
)
_TIES = re.compile(r"\d\W*[=＝]\W*(?:response|回答)?\W*\d", re.IGNORECASE)


def read_order(text: str, count: int, finish_reason: str = "unknown") -> tuple[int, ...] | Unscored:
    """The order that a reply gives, as 0-based places, the best first; each of ``count`` responses once.

    The last JSON object with an order counts, else the last line that begins with "Ranking:", else a last line that has
    nothing but numbers. Where that order is not valid, no earlier one is tried.
    """
    if (unread := without_reading(finish_reason)) is not None:
        return unread
    answer = without_thinking(text)
    if not answer:
        return Unscored(Reason.EMPTY)
    order = _json_order(answer)
    if order is None:
        order = _line_order(answer)
    if order is None:
        cut = finish_reason == "length"
        return Unscored(Reason.TRUNCATED if cut else Reason.UNPARSED, "no order of the responses was found")
    if isinstance(order, Unscored):
        return order
    if any(not 1 <= number <= count for number in order):
        return Unscored(Reason.OUT_OF_RANGE, f"the order names a response beyond 1 to {count}")
    if len(set(order)) < len(order):
        return Unscored(Reason.CONTRADICTORY, "a response stands twice in the order")
    if len(order) < count:
        cut = finish_reason == "length"
        why = f"{len(order)} of {count} responses are in the order"
        return Unscored(Reason.TRUNCATED if cut else Reason.UNPARSED, why)
    return tuple(number - 1 for number in order)


def _json_order(answer: str) -> list[int] | Unscored | None:
    order = None
    for _, _, value in objects(answer):
        if isinstance(value, dict) and isinstance(value.get(schemas.RANKING), list):
            order = value[schemas.RANKING]
    if order is None:
        return None
    numbers = []
    for item in order:
        digits = _NUMBER.findall(str(item)) if isinstance(item, (int, str)) and not isinstance(item, bool) else []
        if len(digits) != 1:
            return Unscored(Reason.UNPARSED, "the order holds something that is no number of a response")
        numbers.append(int(digits[0]))
    return numbers


def _line_order(answer: str) -> list[int] | Unscored | None:
    lines = [line for line in answer.splitlines() if line.strip()]
    headed = [(place, match.end()) for place, line in enumerate(lines) if (match := _HEADED.search(line))]
    if headed:
        place, end = headed[-1]
        rest = lines[place][end:]
        # The numbers may stand on the lines below, one a line.
        text = rest if _NUMBER.search(rest) else "\n".join(_first_number(line) for line in lines[place + 1 :])
    elif lines and _SEPARATED.fullmatch(lines[-1]):
        text = lines[-1]
    else:
        return None
    if _TIES.search(text):
        return Unscored(Reason.UNPARSED, "the order has ties")
    return [int(number) for number in _NUMBER.findall(text)] or None


def _first_number(line: str) -> str:
    """The number of the response that a line of a list names: "2. Response 3" is 3, "3" is 3."""
    named = re.search(r"(?:response|回答)\W{0,3}(\d+)", line, re.IGNORECASE)
    bare = re.fullmatch(r"\W*(\d+)\W*", line)
    number = named or bare
    return number[1] if number else ""
