"""Chooses the next pair of a run, in the usual case one after the other. Needs no library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judgenet.core.pairs import Verdict

Verdicts = Mapping[str, Verdict | None]


@dataclass(frozen=True, slots=True)
class Enough:
    """Why a run may stop: a sentence, and the entry of the run's record."""

    message: str
    record: Mapping[str, Any]


class Steering(Protocol):
    """Chooses the pairs that a run begins. Used on the engine's loop."""

    @property
    def enough(self) -> Enough | None:
        """Why the run should stop now, ``None`` while it should not."""

    def next_pair(self) -> int | None:
        """The index of the pair to begin next; ``None`` where there is none now. If no pair is under way either, the
        run is at its end."""

    def take(self, index: int, verdicts: Verdicts) -> None:
        """Records a finished pair, with the verdict of each aggregation."""


class StopWatch(Protocol):
    """Watches whether a run has learned enough."""

    @property
    def enough(self) -> Enough | None:
        """Why the run should stop now, ``None`` while it should not."""

    def take(self, index: int, verdicts: Verdicts) -> None:
        """Records a finished pair, with the verdict of each aggregation."""


class InOrder:
    """All pairs in an order; with a watch, the run stops when enough is known."""

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
