"""Clocks for tests of limits and waits."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable


class FakeTimer:
    def __init__(self) -> None:
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class FakeClock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._timers: list[tuple[float, int, FakeTimer, Callable[[], object]]] = []
        self._number = 0

    def time(self) -> float:
        return self._now

    def call_later(self, delay: float, callback: Callable[[], object], /) -> FakeTimer:
        timer = FakeTimer()
        self._number += 1
        heapq.heappush(self._timers, (self._now + delay, self._number, timer, callback))
        return timer

    async def advance(self, seconds: float) -> None:
        """Moves time on, ringing the timers on the way and letting tasks run."""
        until = self._now + seconds
        await settle()
        while self._timers and self._timers[0][0] <= until:
            when, _, timer, callback = heapq.heappop(self._timers)
            self._now = max(self._now, when)
            if not timer.cancelled:
                callback()
            await settle()
        self._now = until
        await settle()


async def settle() -> None:
    """Lets all tasks run as far as they can."""
    for _ in range(20):
        await asyncio.sleep(0)


class FastClock:
    """The loop's time, a hundred times as fast; notes the waits."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def time(self) -> float:
        return 100.0 * asyncio.get_running_loop().time()

    def call_later(self, delay: float, callback: Callable[[], object], /) -> asyncio.TimerHandle:
        self.waits.append(delay)
        return asyncio.get_running_loop().call_later(delay / 100.0, callback)
