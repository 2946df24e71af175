"""How many calls all workers together may make in parallel to a model, and each worker's share of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

_ROUND_S: Final = 1.0
"""Throttling answers within this many seconds are one round: workers that are slowed together report it together."""
_LOOKS: Final = 16
"""How often all workers are checked while each of them gets its share."""
_BUSY: Final = 0.8
"""A worker that uses this part of its share could use more."""


@dataclass(frozen=True, slots=True)
class WindowShare:
    """A worker's share: parallel calls, seconds to send nothing, and why nothing may be sent at all, empty where calls
    may be sent."""

    calls: int
    hold_s: float = 0.0
    stopped: str = ""


class SharedWindow:
    """The window of a model over all workers, and who has how much of it.

    Additive increase, multiplicative decrease (Chiu and Jain, 1989), as in :class:`judgenet.engine.limits.Limiter`: it
    begins at what the endpoint is said to take, a throttling answer anywhere halves it, once a round, and answers make
    it grow again by one per round. Shares are max-min fair: who uses little keeps little, the others divide the rest.
    Together they never exceed the window but where it has just shrunk, until each worker has heard of it.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.window = float(most)
        self.stopped = ""
        self._last_cut = float("-inf")
        self._held_until = float("-inf")
        self._given: dict[object, int] = {}
        self._in_flight: dict[object, int] = {}
        self._taken = 0
        self._calls = 0
        self._busy = self._left = 0

    @property
    def in_flight(self) -> int:
        """Calls under way over all workers, by their last reports."""
        return sum(self._in_flight.values())

    @property
    def state(self) -> Literal["open", "slow", "stopped"]:
        if self.stopped:
            return "stopped"
        return "slow" if self.window < self.most else "open"

    def take(self, who: object, in_flight: int, answers: int, now: float) -> None:
        """Records a worker's report."""
        before = self._holds(who)
        self._in_flight[who] = in_flight
        self._taken += self._holds(who) - before
        if now >= self._held_until:
            # Each answer adds one part of the window: the sum of so many such steps.
            self.window = min(float(self.most), math.sqrt(self.window**2 + 2 * answers))

    def throttled(self, now: float, wait_s: float = 0.0) -> None:
        """Records a throttling answer of any worker."""
        if now - self._last_cut > _ROUND_S:
            self._last_cut = now
            self.window = max(1.0, self.window / 2.0)
        self._held_until = max(self._held_until, now + wait_s)

    def leave(self, who: object) -> None:
        """Records that a worker has gone: its share is free."""
        self._taken -= self._holds(who)
        self._given.pop(who, None)
        self._in_flight.pop(who, None)

    def share(self, who: object, workers: int, now: float) -> WindowShare:
        """The share of a worker, of so many, from now on."""
        window = int(self.window)
        fair = max(1, window // max(1, workers))
        wish = self._wish(who, fair)
        self._look_around(fair)
        # Of what all others want and leave, without what this one does.
        busy = self._busy - (who in self._given and wish > fair)
        left = self._left - (max(0, fair - wish) if who in self._given else 0)
        if wish > fair:
            # What the others leave of their fair shares is for who can use it.
            wish = min(wish, fair + max(0, left) // (max(0, busy) + 1))
        elif busy <= 0:
            wish = fair
        before = self._holds(who)
        calls = max(0, min(wish, window - (self._taken - before)))
        self._given[who] = calls
        self._taken += self._holds(who) - before
        return WindowShare(calls, max(0.0, self._held_until - now), self.stopped)

    def _holds(self, who: object) -> int:
        """What nobody else can have: its share, or what it has in flight beyond it."""
        given = self._given.get(who)
        return 0 if given is None else max(given, self._in_flight.get(who, 0))

    def _look_around(self, fair: int) -> None:
        """Counts the workers that could use more than a fair share, and what the others leave. With many workers this
        takes some time, so not every call does it."""
        self._calls += 1
        if self._calls % max(1, len(self._given) // _LOOKS) == 0:
            wishes = [self._wish(worker, fair) for worker in self._given]
            self._busy = sum(wish > fair for wish in wishes)
            self._left = sum(max(0, fair - wish) for wish in wishes)

    def _wish(self, who: object, fair: int) -> int:
        given = self._given.get(who)
        if given is None:
            return fair
        in_flight = self._in_flight.get(who, 0)
        return self.most if in_flight >= _BUSY * given else max(1, in_flight + in_flight // 4 + 1)
