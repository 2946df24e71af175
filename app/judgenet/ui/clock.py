"""The time that the interface shows. It can be stopped, so that pictures of the studio can be repeated."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime


class StoppedClock:
    """A clock that stands still until it is set. ``seconds`` is what :func:`monotonic` gives."""

    def __init__(self, at: datetime) -> None:
        self.at = at
        self.seconds = 0.0


_stopped: StoppedClock | None = None


def monotonic() -> float:
    """Seconds on a clock that never goes back, from an arbitrary beginning."""
    return time.monotonic() if _stopped is None else _stopped.seconds


def today() -> date:
    """The day where the user is."""
    return (datetime.now().astimezone() if _stopped is None else _stopped.at).date()


@contextmanager
def stopped_clock(at: datetime) -> Iterator[StoppedClock]:
    """The clock stands at a moment until it is set."""
    global _stopped
    before, _stopped = _stopped, StoppedClock(at)
    try:
        yield _stopped
    finally:
        _stopped = before
