"""When a run has learned enough to stop: ``c2_all excludes 50%``, ``accuracy width <= 0.1``.

A rule is one or more conditions, joined by ``or``. A condition names what it looks at (an aggregation, a figure, both
as ``c2_all.accuracy``, or nothing: the win rate of the deciding verdict) and what its interval must do. The intervals
are valid at any time, so that a rule may be looked at after every pair.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

UntilFigure = Literal["win_rate", "accuracy", "corrected"]
UntilTest = Literal["excludes", "above", "below", "width"]

FIGURE_WORDS: Final[dict[UntilFigure, str]] = {
    "win_rate": "win rate",
    "accuracy": "accuracy",
    "corrected": "corrected win rate",
}
_FORM: Final = re.compile(
    r"(?:(?P<subject>[a-z_]\w*(?:\.[a-z_]\w*)?)\s+)??(?P<test>excludes|above|below|width)\s*(?P<sign><=|<|>=|>)?\s*"
    r"(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<percent>%)?",
    re.IGNORECASE,
)
_EXAMPLES: Final = "'c2_all excludes 50%', 'accuracy above 70%' or 'width <= 0.1'"


class UntilError(ValueError):
    """A rule that cannot be used; the message says what is wrong and how to write it."""


@dataclass(frozen=True, slots=True)
class UntilCondition:
    """What an interval must do: exclude ``value``, lie above or below it, or be no wider. ``aggregation`` is ``None``
    for the deciding one."""

    figure: UntilFigure
    aggregation: str | None
    test: UntilTest
    value: float


@dataclass(frozen=True, slots=True)
class UntilRule:
    """A rule as it was written, and its conditions: the run stops when one of them is met."""

    text: str
    conditions: tuple[UntilCondition, ...]

    def require_known(self, aggregations: Collection[str]) -> None:
        """Refuses an aggregation that the network does not have.

        :raises UntilError: it names one.
        """
        for condition in self.conditions:
            if condition.aggregation is not None and condition.aggregation not in aggregations:
                raise UntilError(
                    f"{self.text!r} looks at {condition.aggregation}, which this network does not have. It has "
                    f"{', '.join(aggregations)}."
                )


def parse_until(text: str) -> UntilRule:
    """A rule from its text.

    :raises UntilError: it is none.
    """
    plain = " ".join(text.split())
    parts = re.split(r"\s+or\s+", plain, flags=re.IGNORECASE)
    return UntilRule(plain, tuple(_condition(part) for part in parts))


def _condition(text: str) -> UntilCondition:
    match = _FORM.fullmatch(text)
    if match is None:
        raise UntilError(f"{text!r} is no condition. Write one such as {_EXAMPLES}; several are joined by 'or'.")
    test: UntilTest = match["test"].lower()  # type: ignore[assignment]
    sign = match["sign"]
    if (test == "width") != (sign is not None) or sign in (">", ">="):
        wanted = "width <= 0.1" if test == "width" else f"{test} 50%"
        raise UntilError(f"{text!r}: write it as '{wanted}'.")
    value = float(match["number"]) / (100 if match["percent"] else 1)
    if not 0 < value < 1:
        share = f"{match['number']}{match['percent'] or ''}"
        raise UntilError(f"{text!r}: {share} is not between 0% and 100% (0 and 1), both left out.")
    return UntilCondition(*_subject(match["subject"], text), test, value)


def _subject(text: str | None, whole: str) -> tuple[UntilFigure, str | None]:
    figures: tuple[UntilFigure, ...] = get_args(UntilFigure)
    if text is None:
        return "win_rate", None
    first, _, second = text.partition(".")
    for figure in figures:
        if second.lower() == figure:
            return figure, first
        if not second and first.lower() == figure:
            return figure, None
    if second:
        known = f"{', '.join(figures[:-1])} or {figures[-1]}"
        raise UntilError(f"{whole!r}: {second} is no figure that a run can stop by. Choose {known}.")
    return "win_rate", first


@dataclass(frozen=True, slots=True)
class StopWish:
    """How runs of a project are to end before their last pair: by a rule (its text, empty for none), or when the ranks
    of the systems are separated."""

    until: str = ""
    auto_matches: bool = False

    @property
    def rule(self) -> UntilRule | None:
        """The rule; ``None`` where there is none.

        :raises UntilError: its text cannot be read.
        """
        return parse_until(self.until) if self.until else None

    def to_json(self) -> dict[str, Any]:
        """The wish as a record, by name."""
        values: dict[str, Any] = {"until": self.until} if self.until else {}
        return values | ({"auto_matches": True} if self.auto_matches else {})

    @classmethod
    def from_json(cls, record: object) -> StopWish:
        """The wish of such a record; what cannot be read is left out."""
        given = record if isinstance(record, Mapping) else {}
        text = given.get("until")
        try:
            until = parse_until(text).text if isinstance(text, str) and text else ""
        except UntilError:
            until = ""
        return cls(until, given.get("auto_matches") is True and not until)
