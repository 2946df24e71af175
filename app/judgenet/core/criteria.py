"""Criteria by which the responses to a question are to be judged: they come with the question, and may have weights.

Each neuron sees all of them in its prompt, or they become the neurons (``roles.kind`` is ``criteria``): one criterion,
one neuron, and its weight is that of the neuron in votes and averages (:mod:`judgenet.core.aggregate`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

CRITERION_LENGTH = 1000
"""The most characters of a criterion that a prompt holds. A rubric that describes each of five scores fits."""

CRITERION_NAME_LENGTH = 80
"""A criterion that is one longer text is called by its beginning."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """What a good response to a question does. ``weight`` is 0 or more and counts beside those of the question's other
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
