"""The running sums of a run, from its events: what a terminal and the studio both show."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from judgenet.core.calls import ROLES_LAYER
from judgenet.core.events import CallFinished, CallStarted, Event, PairFinished, RunFinished, RunStarted
from judgenet.core.wording import duration, spent_text

_WINDOW_S = 60.0


@dataclass(slots=True)
class Tally:
    """The running sums of one start of a run. Counts of calls include role generation."""

    clock: Callable[[], float] = time.monotonic
    pairs: int = 0
    pairs_done: int = 0
    pairs_decided_early: int = 0
    calls_planned: int = 0
    calls: int = 0
    calls_cached: int = 0
    unscored: Counter[str] = field(default_factory=Counter)
    tokens_in: int = 0
    tokens_out: int = 0
    price: float = 0.0
    unpriced: int = 0
    started: float = 0.0
    _per_pair: float = 0.0
    _asks_roles: bool = False
    _in_flight: set[tuple[object, ...]] = field(default_factory=set)
    _finished: deque[tuple[float, int]] = field(default_factory=deque)

    def take(self, event: Event) -> None:
        """Takes an event in."""
        if isinstance(event, RunStarted):
            self.pairs, self.pairs_done = event.pairs, event.pairs_done
            self._per_pair = event.calls_planned / event.pairs if event.pairs else 0.0
            self.calls_planned = round(self._per_pair * (event.pairs - event.pairs_done - event.pairs_left))
            self.started = self.clock()
        elif isinstance(event, CallStarted):
            self._in_flight.add((event.pair, event.layer, event.neuron, event.order, event.sample))
        elif isinstance(event, CallFinished):
            self.calls += 1
            self._asks_roles = self._asks_roles or event.layer == ROLES_LAYER
            if event.reason is not None:
                self.unscored[event.reason] += 1
            if event.cached:
                self.calls_cached += 1
                return
            self._in_flight.discard((event.pair, event.layer, event.neuron, event.order, event.sample))
            self._finished.append((self.clock(), event.tokens_in + event.tokens_out))
            self.tokens_in += event.tokens_in
            self.tokens_out += event.tokens_out
            if event.price is None:
                self.unpriced += event.tokens_out > 0
            else:
                self.price += event.price
        elif isinstance(event, PairFinished):
            self.pairs_done += 1
            if event.stopped_after is not None:
                self.pairs_decided_early += 1
                spared = self._per_pair - event.calls_total - self._asks_roles
                self.calls_planned = max(0, self.calls_planned - round(spared))
        elif isinstance(event, RunFinished):
            self._in_flight.clear()

    @property
    def in_flight(self) -> int:
        """Calls that were sent and have not finished. One that is put again counts once."""
        return len(self._in_flight)

    @property
    def rate(self) -> float:
        """Calls a second over the last minute."""
        span = self._span()
        return len(self._finished) / span

    @property
    def tokens_rate(self) -> float:
        """Tokens a second, in and out, over the last minute."""
        span = self._span()
        return sum(tokens for _, tokens in self._finished) / span

    def _span(self) -> float:
        """Forgets what is older than the window and returns the window's length in seconds."""
        now = self.clock()
        while self._finished and now - self._finished[0][0] > _WINDOW_S:
            self._finished.popleft()
        return min(_WINDOW_S, max(now - self.started, 1e-9))

    @property
    def eta_s(self) -> float | None:
        """Seconds left at the present rate, ``None`` before there is one."""
        rate = self.rate
        left = max(self.calls_planned - self.calls, 0)
        return left / rate if rate > 0 else None

    def price_text(self) -> str:
        """What was spent, with what is unknown said."""
        return spent_text(self.price, self.unpriced)

    def unscored_text(self) -> str:
        """Unscored calls with their reasons, of all calls."""
        total = sum(self.unscored.values())
        if not total:
            return "0 unscored"
        named = ", ".join(f"{count:,} {reason}" for reason, count in self.unscored.most_common(3))
        return f"{total:,} unscored ({named})"

    def line(self) -> str:
        """One plain line: pairs, calls, rate, tokens, price, unscored, time left."""
        parts = [
            f"{self.pairs_done:,}/{self.pairs:,} pairs",
            f"{self.calls:,}/{max(self.calls_planned, self.calls):,} calls",
        ]
        if self.pairs_decided_early:
            parts.insert(1, f"{self.pairs_decided_early:,} decided early")
        if self.calls_cached:
            parts.append(f"{self.calls_cached:,} from the store")
        parts += [f"{self.rate:.1f} calls/s", f"{self.in_flight:,} in flight", self.unscored_text(), self.price_text()]
        if (eta := self.eta_s) is not None and self.calls < self.calls_planned:
            parts.append(f"{duration(eta)} left")
        return " · ".join(parts)
