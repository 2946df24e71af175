"""How many calls all workers together may have in flight at a model, and each worker's share of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

_ROUND_S: Final = 1.0
"""Throttling answers within so many seconds belong to one round: workers that are slowed together say so together."""
_BUSY: Final = 0.8
"""A worker that uses so much of its share could use more."""


@dataclass(frozen=True, slots=True)
class WindowShare:
    """A worker's share: calls in flight, seconds for which nothing is to be sent, and why nothing is to be sent at all,
    empty where something is."""

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

    @property
    def in_flight(self) -> int:
        """Calls in flight over all workers, as they said last."""
        return sum(self._in_flight.values())

    @property
    def state(self) -> Literal["open", "slow", "stopped"]:
        if self.stopped:
            return "stopped"
        return "slow" if self.window < self.most else "open"

    def take(self, who: object, in_flight: int, answers: int, now: float) -> None:
        """Takes in what a worker says."""
        self._in_flight[who] = in_flight
        if now >= self._held_until:
            self.window = min(float(self.most), self.window + answers / self.window)

    def throttled(self, now: float, wait_s: float = 0.0) -> None:
        """A throttling answer came, at any worker."""
        if now - self._last_cut > _ROUND_S:
            self._last_cut = now
            self.window = max(1.0, self.window / 2.0)
        self._held_until = max(self._held_until, now + wait_s)

    def leave(self, who: object) -> None:
        """A worker has gone: its share is free."""
        self._given.pop(who, None)
        self._in_flight.pop(who, None)

    def share(self, who: object, workers: int, now: float) -> WindowShare:
        """The share of a worker, of so many, from now on."""
        window = int(self.window)
        others = sum(max(calls, self._in_flight.get(other, 0)) for other, calls in self._given.items() if other != who)
        fair = max(1, window // max(1, workers))
        wish = self._wish(who, fair)
        wishes = [self._wish(other, fair) for other in self._given if other != who]
        busy = sum(of > fair for of in wishes)
        if wish > fair:
            # What the others leave of their fair shares is for who can use it.
            wish = min(wish, fair + sum(max(0, fair - of) for of in wishes) // (busy + 1))
        elif not busy:
            wish = fair
        calls = max(0, min(wish, window - others))
        self._given[who] = calls
        return WindowShare(calls, max(0.0, self._held_until - now), self.stopped)

    def _wish(self, who: object, fair: int) -> int:
        given = self._given.get(who)
        if given is None:
            return fair
        in_flight = self._in_flight.get(who, 0)
        return self.most if in_flight >= _BUSY * given else max(1, in_flight + in_flight // 4 + 1)
