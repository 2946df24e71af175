"""Criteria by which the responses to a question are to be judged: they come with the question, and may have weights.

Each neuron sees all of them in its prompt, or they become the neurons (``roles.kind`` is ``criteria``): one criterion,
one neuron, and its weight is that of the neuron in votes and averages (:mod:`judgenet.core.aggregate`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

CRITERION_LENGTH = 1000
"""The most characters of a criterion that a prompt holds. A rubric that describes each of five scores fits."""

CRITERION_NAME_LENGTH = 80
"""A criterion that is one longer text is called by its beginning."""


_COLON = re.compile(r"([^:：?？]{1,60})[:：]\s+(?=\S)")
_WEIGHED = re.compile(r"\[\s*([^\]\s]+)\s*\]\s+")


class CriteriaError(ValueError):
    """Lines that are no criteria; the message says which and what helps."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """What a good response to a question does. ``weight`` is 0 or more, relative to those of the question's other
    criteria. A criterion that is one text alone has a name, and a description only where the name is its beginning."""

    name: str
    description: str = ""
    weight: float = 1.0

    @classmethod
    def of_text(cls, text: str, weight: float = 1.0) -> Criterion:
        """The criterion that a text states, by its words or, where it is long, by their beginning."""
        line = " ".join(text.split())
        if len(line) <= CRITERION_NAME_LENGTH:
            return cls(line, "", weight)
        start = line[: CRITERION_NAME_LENGTH - 1]
        return cls(f"{start.rpartition(' ')[0] or start}…", line, weight)

    @classmethod
    def of_line(cls, text: str, weight: float = 1.0) -> Criterion:
        """The criterion of a line: ``name: description``, or one text."""
        named = _COLON.match(text.strip())
        if named is None:
            return cls.of_text(text, weight)
        return cls(" ".join(named[1].split()), " ".join(text.strip()[named.end() :].split()), weight)

    @property
    def text(self) -> str:
        """The whole criterion: ``name: description``."""
        return criterion_text(self.name, self.description)

    def to_json(self) -> dict[str, Any]:
        """What differs from a criterion of weight 1 without a description."""
        record: dict[str, Any] = {"name": self.name}
        if self.description:
            record["description"] = self.description
        if self.weight != 1.0:
            record["weight"] = int(self.weight) if self.weight == int(self.weight) else self.weight
        return record


def criterion_text(name: str, description: str) -> str:
    """``name: description``, or the description alone where the name is its beginning."""
    if not description:
        return name
    return description if name.endswith("…") and description.startswith(name[:-1]) else f"{name}: {description}"


def vote_weights(weights: Sequence[float]) -> tuple[float, ...]:
    """The weights of the neurons of a question's criteria: their mean is 1, so that a neuron without a criterion of its
    own counts as much as a usual one. Equal weights are exactly 1: a question without weights is judged as ever."""
    total = fsum(weights)
    if total <= 0 or len(set(weights)) == 1:
        return (1.0,) * len(weights)
    return tuple(weight * len(weights) / total for weight in weights)


def weights_differ(weights: Sequence[float]) -> bool:
    """Whether some criterion counts more than another."""
    return len(set(weights)) > 1


def criteria_to_text(criteria: Sequence[Criterion]) -> str:
    """Criteria as a text that holds them exactly: a JSON list; empty without any."""
    return json.dumps([criterion.to_json() for criterion in criteria], ensure_ascii=False) if criteria else ""


def criteria_from_text(text: str) -> tuple[Criterion, ...]:
    """The inverse of :func:`criteria_to_text`.

    :raises CriteriaError: the text is no such list.
    """
    try:
        return tuple(Criterion(**record) for record in json.loads(text)) if text else ()
    except (ValueError, TypeError) as error:
        raise CriteriaError("This is no list of criteria.") from error


def criteria_to_lines(criteria: Sequence[Criterion]) -> str:
    """Criteria for people, a line each: ``[3] name: description``, with weights where these differ."""
    weighted = weights_differ([criterion.weight for criterion in criteria])
    return "\n".join(
        (f"[{listed.weight:g}] " if weighted else "") + " ".join(listed.text.split()) for listed in criteria
    )


def criteria_from_lines(text: str, known: Sequence[Criterion] = ()) -> tuple[Criterion, ...]:
    """The criteria of lines as :func:`criteria_to_lines` writes them; those that are ``known`` stay as they are.

    :raises CriteriaError: a weight is no number of 0 or more, a line has nothing but a weight, or all weights are 0.
    """
    written = dict(zip(criteria_to_lines(known).splitlines(), known, strict=True)) if known else {}
    read_criteria = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        if line in written:
            read_criteria.append(written[line])
            continue
        weighed = _WEIGHED.match(f"{line.strip()} ")
        weight = 1.0 if weighed is None else _weight(weighed[1], number)
        words = line.strip() if weighed is None else f"{line.strip()} "[weighed.end() :]
        if not words.strip():
            raise CriteriaError(f"Line {number} has a weight alone: write the criterion behind it.")
        read_criteria.append(Criterion.of_line(words, weight))
    if read_criteria and not any(criterion.weight for criterion in read_criteria):
        raise CriteriaError("Every criterion has the weight 0: give one of them a weight.")
    return tuple(read_criteria)


def _weight(text: str, line: int) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 <= weight < float("inf"):
        raise CriteriaError(f"Line {line}: {text} is no weight. Write a number of 0 or more, such as [2].")
    return weight
