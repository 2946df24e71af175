"""Which pair a run takes up next, in the usual case: one after the other. No library is needed for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judgenet.core.pairs import Verdict

Verdicts = Mapping[str, Verdict | None]


@dataclass(frozen=True, slots=True)
class Enough:
    """Why a run may stop: for people, and as the run's record keeps it."""

    message: str
    record: Mapping[str, Any]


class Steering(Protocol):
    """Chooses the pairs that a run takes up. All calls come from the engine's loop."""

    @property
    def enough(self) -> Enough | None:
        """Why the run should stop now, ``None`` while it should not."""

    def next_pair(self) -> int | None:
        """The index of the pair to take up next; ``None`` where there is none now. Where nothing is under way either,
        the run is at its end."""

    def take(self, index: int, verdicts: Verdicts) -> None:
        """Takes in that a pair is finished, with the verdict of each aggregation."""


class StopWatch(Protocol):
    """Tells when a run has learned enough."""

    @property
    def enough(self) -> Enough | None:
        """Why the run should stop now, ``None`` while it should not."""

    def take(self, index: int, verdicts: Verdicts) -> None:
        """Takes in that a pair is finished, with the verdict of each aggregation."""


class InOrder:
    """All pairs in an order; with a rule it stops the run when enough is known."""

    def __init__(self, order: Sequence[int], watch: StopWatch | None = None) -> None:
        self._next: Iterator[int] = iter(order)
        self._watch = watch

    @property
    def enough(self) -> Enough | None:
        return None if self._watch is None else self._watch.enough

    def next_pair(self) -> int | None:
        return next(self._next, None)

    def take(self, index: int, verdicts: Verdicts) -> None:
        if self._watch is not None:
            self._watch.take(index, verdicts)
