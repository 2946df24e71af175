"""Pace of an endpoint: how many calls at a time, how many requests and tokens a minute, when to wait.

Everything here runs on one loop. Time comes from a clock that tests can replace.
"""

from __future__ import annotations

import asyncio
import math
import random
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Protocol

BACKOFF_BASE = 0.5
BACKOFF_CAP = 60.0
"""Seconds: the first wait is at most the base, each further one at most twice as long, none longer than the cap."""

_MINUTE = 60.0

_SPACING_FIRST = 0.05
_SPACING_LEAST = 0.001
_SPACING_GROWS = 1.25
_SPACING_SHRINKS = 0.945
"""Four answers outweigh one throttling answer: at a hard limit one request in five is refused, and refusals
that come by chance, fewer than that, do not add up."""


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    """The part of an asyncio loop that tells the time."""

    def time(self) -> float: ...

    def call_later(self, delay: float, callback: Callable[[], object], /) -> Timer: ...


class Stopped(Exception):
    """Raised in calls that wait, once the endpoint or their model was stopped. ``cause`` says why."""

    def __init__(self, cause: Any) -> None:
        super().__init__(cause)
        self.cause = cause


def backoff(failures: int, rng: random.Random) -> float:
    """Seconds to wait after ``failures`` failed attempts (1 and up): exponential with full jitter, as in
    M. Brooker, "Exponential Backoff and Jitter" (AWS Architecture Blog, 2015)."""
    return rng.uniform(0.0, min(BACKOFF_CAP, BACKOFF_BASE * 2.0 ** (failures - 1)))


@dataclass(slots=True)
class _Entry:
    at: float
    amount: float
    live: bool = True


class MinuteBudget:
    """At most ``limit`` units within any 60 seconds. A limit below 1 is one unit in a longer time.

    What alone exceeds the limit is let through when nothing else counts, as it could never go otherwise.
    """

    def __init__(self, limit: float) -> None:
        self._limit = max(limit, 1.0)
        self._period = _MINUTE * max(1.0, 1.0 / limit)
        self._entries: deque[_Entry] = deque()
        self._used = 0.0

    def wait(self, amount: float, now: float) -> float:
        """Seconds until ``amount`` fits; 0 when it fits now."""
        entries = self._entries
        while entries and entries[0].at + self._period <= now:
            gone = entries.popleft()
            gone.live = False
            self._used -= gone.amount
        if not entries:
            self._used = 0.0
            return 0.0
        excess = self._used + amount - self._limit
        for entry in entries:
            if excess <= 0.0:
                return 0.0
            excess -= entry.amount
            until = entry.at + self._period
            if excess <= 0.0:
                return until - now
        return until - now

    def take(self, amount: float, now: float) -> _Entry:
        """Counts ``amount`` from now on."""
        entry = _Entry(now, amount)
        self._entries.append(entry)
        self._used += amount
        return entry

    def settle(self, entry: _Entry, amount: float) -> None:
        """Replaces an estimate by what was really used."""
        if entry.live:
            self._used += amount - entry.amount
            entry.amount = amount


@dataclass(slots=True, eq=False)
class Permit:
    """The permission to send one request."""

    granted_at: float
    tokens: _Entry | None


@dataclass(slots=True)
class _Waiter:
    future: asyncio.Future[Permit]
    tokens: float
    model: str


class Limiter:
    """Lets requests out: in the order in which they came, at most ``window`` at a time, within the budgets
    a minute, and none while the endpoint has asked for a pause.

    Throttling answers slow all calls of the endpoint, in two ways. ``window`` follows what the endpoint takes
    at a time (additive increase, multiplicative decrease, as in TCP: Chiu and Jain, 1989): it begins at
    ``concurrency``, a throttling answer halves it, answers make it grow again by one per round. ``spacing``
    follows what the endpoint takes in a time: it begins at the pace at which answers came, grows by a quarter
    with each throttling answer and shrinks with each answer. Throttling answers to requests that were sent
    before the last of them belong to the same round and slow no further.

    Where nothing answers (:meth:`unreachable`), all calls wait; one at a time is let out, after longer and longer
    pauses, to see whether the endpoint is back (:meth:`heard`).
    """

    def __init__(
        self,
        concurrency: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        *,
        clock: Clock | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self.concurrency = concurrency
        self.window = float(concurrency)
        self.in_flight = 0
        self._requests = MinuteBudget(requests_per_minute) if requests_per_minute else None
        self._tokens = MinuteBudget(tokens_per_minute) if tokens_per_minute else None
        self._clock = clock
        self._rng = rng or random.Random()
        self._waiters: deque[_Waiter] = deque()
        self._sleepers: dict[asyncio.Future[None], str] = {}
        self._timer: Timer | None = None
        self._held_until = -math.inf
        self._last_cut = -math.inf
        self._rounds = 0
        self._away_since: float | None = None
        self._probe: Permit | None = None
        self._answers = 0
        self._counted_from: float | None = None
        self._last_grant = -math.inf
        self.spacing = 0.0
        self._stops: dict[str | None, object] = {}
        self._paused = False

    @property
    def clock(self) -> Clock:
        """The clock, by default that of the running loop."""
        if self._clock is None:
            self._clock = asyncio.get_running_loop()
        return self._clock

    @property
    def counts_tokens(self) -> bool:
        """Whether :meth:`acquire` needs an estimate of tokens."""
        return self._tokens is not None

    @property
    def waiting(self) -> int:
        """How many calls wait to be let out."""
        return len(self._waiters)

    async def acquire(self, model: str = "", tokens: float = 0.0) -> Permit:
        """Waits for the permission to send one request; :meth:`release` must follow.

        ``tokens`` is the estimate for prompt and answer, used where a limit of tokens is set.

        :raises Stopped: the endpoint or ``model`` was stopped, before or meanwhile.
        """
        self.check(model)
        if not self._waiters and self._blocked(tokens) == 0.0:
            return self._grant(tokens)
        waiter = _Waiter(asyncio.get_running_loop().create_future(), tokens, model)
        self._waiters.append(waiter)
        self._pump()
        try:
            return await waiter.future
        except asyncio.CancelledError:
            if waiter.future.done() and not waiter.future.cancelled() and waiter.future.exception() is None:
                self.release(waiter.future.result())
            else:
                self._forget(waiter)
            raise

    def release(self, permit: Permit, tokens: float | None = None) -> None:
        """Ends a request. ``tokens`` is what it really used, ``None`` where the estimate stands."""
        self.in_flight -= 1
        if permit is self._probe:
            self._probe = None
        if tokens is not None and permit.tokens is not None and self._tokens is not None:
            self._tokens.settle(permit.tokens, tokens)
        if self._waiters:
            self._pump()

    def succeeded(self) -> bool:
        """An answer came. True when this ends a slow-down."""
        self._answers += 1
        self._rounds = 0
        if self.spacing == 0.0 and self.window >= self.concurrency:
            return False
        self.spacing *= _SPACING_SHRINKS
        if self.spacing < _SPACING_LEAST:
            self.spacing = 0.0
        self.window = min(float(self.concurrency), self.window + 1.0 / self.window)
        self._pump()
        return self.spacing == 0.0 and self.window >= self.concurrency

    def throttled(self, permit: Permit, wait: float | None = None) -> bool:
        """A throttling answer came, with the seconds to wait where it named them: all calls of the endpoint
        wait and go slower. False when it belongs to a round that was dealt with already."""
        now = self.clock.time()
        first = permit.granted_at > self._last_cut
        if first:
            self._last_cut = now
            self._rounds += 1
            self.window = max(1.0, self.window / 2.0)
            if self.spacing > 0.0:
                self.spacing *= _SPACING_GROWS
            elif self._answers and self._counted_from is not None and now > self._counted_from:
                self.spacing = (now - self._counted_from) / self._answers
            else:
                self.spacing = _SPACING_FIRST
            self.spacing = min(self.spacing, BACKOFF_CAP)
            self._answers, self._counted_from = 0, now
            if wait is None:
                self._pause(now)
        if wait is not None:
            self._held_until = max(self._held_until, now + wait)
        return first

    def unreachable(self, permit: Permit, wait: float | None = None) -> bool:
        """The endpoint was not reached: all calls wait, at least the seconds of ``wait``, and one at a time goes out to
        try. False as in :meth:`throttled`."""
        now = self.clock.time()
        if self._away_since is None:
            self._away_since = now
            self._rounds = 0
        if permit.granted_at <= self._last_cut:
            return False
        self._last_cut = now
        self._rounds += 1
        self._pause(now)
        self._held_until = max(self._held_until, now + (wait or 0.0))
        return True

    def heard(self) -> bool:
        """The endpoint answered, be it with an error. True when this ends an outage."""
        if self._away_since is None:
            return False
        self._away_since, self._probe = None, None
        self._rounds = 0
        self._held_until = -math.inf
        self._pump()
        return True

    @property
    def away_for(self) -> float:
        """Seconds since the first call that did not reach the endpoint; 0 where it is reached."""
        return 0.0 if self._away_since is None else self.clock.time() - self._away_since

    def _pause(self, now: float) -> None:
        """Holds all calls, twice as long from round to round until an answer comes."""
        pause = min(BACKOFF_CAP, BACKOFF_BASE * 2.0 ** (self._rounds - 1))
        self._held_until = max(self._held_until, now + pause * self._rng.uniform(0.5, 1.0))

    @property
    def held_for(self) -> float:
        """Seconds until the endpoint may be asked again; 0 when now."""
        return max(0.0, self._held_until - self.clock.time())

    async def sleep(self, seconds: float, model: str = "") -> None:
        """Waits before another attempt.

        :raises Stopped: as in :meth:`acquire`.
        """
        self.check(model)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers[future] = model
        timer = self.clock.call_later(seconds, lambda: _let_go(future))
        try:
            await future
        finally:
            timer.cancel()
            del self._sleepers[future]

    def stop(self, cause: object, model: str | None = None) -> bool:
        """Fails all calls that wait, and all that come, with :class:`Stopped`; with ``model`` only those to it.
        False when they were stopped already."""
        if None in self._stops or model in self._stops:
            return False
        self._stops[model] = cause
        concerned = [waiter for waiter in self._waiters if model is None or waiter.model == model]
        for waiter in concerned:
            self._waiters.remove(waiter)
            if not waiter.future.done():
                waiter.future.set_exception(Stopped(cause))
        for future, its_model in self._sleepers.items():
            if (model is None or its_model == model) and not future.done():
                future.set_exception(Stopped(cause))
        self._pump()
        return True

    def pause(self) -> None:
        """Lets nothing out until :meth:`resume`, further attempts of calls on their way included."""
        self._paused = True

    def resume(self) -> None:
        """Takes all stops and pauses back."""
        self._paused = False
        self._stops.clear()
        self._away_since, self._probe = None, None
        self._held_until = -math.inf
        self._rounds = 0
        self._pump()

    def check(self, model: str = "") -> None:
        """Raises :class:`Stopped` where the endpoint or the model is stopped."""
        if self._stops:
            for scope in (None, model):
                if scope in self._stops:
                    raise Stopped(self._stops[scope])

    def _blocked(self, tokens: float) -> float:
        """Seconds until a request may go; infinite where no time can let it go: a pause, or others in flight."""
        if self._paused or self._probe is not None:
            return math.inf
        if self.in_flight >= int(self.window) and self._away_since is None:
            return math.inf
        if self._held_until == -math.inf and self._requests is None and self._tokens is None:
            return 0.0
        now = self.clock.time()
        wait = max(0.0, self._held_until - now, self._last_grant + self.spacing - now)
        if self._requests is not None:
            wait = max(wait, self._requests.wait(1.0, now))
        if self._tokens is not None:
            wait = max(wait, self._tokens.wait(tokens, now))
        return wait

    def _grant(self, tokens: float) -> Permit:
        now = self._last_grant = self.clock.time()
        if self._counted_from is None:
            self._counted_from = now
        self.in_flight += 1
        if self._requests is not None:
            self._requests.take(1.0, now)
        permit = Permit(now, self._tokens.take(tokens, now) if self._tokens is not None else None)
        if self._away_since is not None:
            self._probe = permit
        return permit

    def _forget(self, waiter: _Waiter) -> None:
        if waiter in self._waiters:
            self._waiters.remove(waiter)
            self._pump()

    def _pump(self) -> None:
        """Lets out the calls that may go, and sets the timer for the next."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._waiters:
            first = self._waiters[0]
            if first.future.done():
                self._waiters.popleft()
                continue
            wait = self._blocked(first.tokens)
            if wait > 0.0:
                if wait < math.inf:
                    self._timer = self.clock.call_later(wait, self._pump)
                return
            self._waiters.popleft()
            first.future.set_result(self._grant(first.tokens))


def _let_go(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Gate:
    """Lets one call at a time through, until it is opened for good."""

    def __init__(self) -> None:
        self.open = False
        self._taken = False
        self._waiters: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> bool:
        """True when this call goes alone and must :meth:`leave`; False when the gate is open.

        :raises Stopped: see :meth:`fail`.
        """
        while self._taken and not self.open:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(future)
            try:
                await future
            except asyncio.CancelledError:
                if future.done() and not future.cancelled():
                    self._wake()
                raise
            finally:
                if future in self._waiters:
                    self._waiters.remove(future)
        if self.open:
            return False
        self._taken = True
        return True

    def leave(self) -> None:
        """Lets the next one through."""
        self._taken = False
        self._wake()

    def unlock(self) -> None:
        """Opens the gate."""
        self.open = True
        while self._waiters:
            self._wake()

    def fail(self, cause: object) -> None:
        """Fails all who wait with :class:`Stopped`."""
        while self._waiters:
            future = self._waiters.popleft()
            if not future.done():
                future.set_exception(Stopped(cause))

    def _wake(self) -> None:
        while self._waiters:
            future = self._waiters.popleft()
            if not future.done():
                future.set_result(None)
                return


# What an answer's headers say about waiting

_DURATION = re.compile(
    r"(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?"
)
_RESETS = (
    ("x-ratelimit-reset-requests", "x-ratelimit-remaining-requests"),
    ("x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"),
    ("anthropic-ratelimit-requests-reset", "anthropic-ratelimit-requests-remaining"),
    ("anthropic-ratelimit-tokens-reset", "anthropic-ratelimit-tokens-remaining"),
    ("anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-input-tokens-remaining"),
    ("anthropic-ratelimit-output-tokens-reset", "anthropic-ratelimit-output-tokens-remaining"),
    ("x-ratelimit-reset", "x-ratelimit-remaining"),
    ("ratelimit-reset", "ratelimit-remaining"),
)


def parse_duration(text: str) -> float | None:
    """Seconds of "1m30s", "20ms", "1h2m3.5s" or "12.5"; ``None`` for anything else."""
    text = text.strip().lower().replace(" ", "")
    number = _number(text)
    if number is not None:
        return number
    match = _DURATION.fullmatch(text)
    if not match or not any(match.groups()):
        return None
    days, hours, minutes, seconds, millis = (float(part or 0) for part in match.groups())
    return 86400.0 * days + 3600.0 * hours + 60.0 * minutes + seconds + millis / 1000.0


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that an answer asks to wait: ``retry-after-ms``, or ``Retry-After`` as seconds (also with a
    fraction) or as HTTP date (RFC 9110, 10.2.3). ``None`` where it asks for nothing that can be read.

    ``headers`` finds names in lower case. ``now`` is the POSIX time; the answer's own ``Date`` is preferred
    to it, as the clocks may differ.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000.0
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    seconds = parse_duration(text)
    if seconds is not None:
        return seconds
    then = _http_date(text)
    if then is None:
        return None
    sent = _http_date(headers.get("date", ""))
    return max(0.0, then - (sent if sent is not None else now))


def reset_hint(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds until a rate limit is fresh again, from the headers that state it: those whose remainder is 0,
    else the nearest. Values are durations, seconds, POSIX times or RFC 3339 times.

    A reset is when the whole limit is back, often later than when the next call may go: a hint, no order.
    """
    empty: list[float] = []
    others: list[float] = []
    for reset, remaining in _RESETS:
        wait = _reset(headers.get(reset, ""), now)
        if wait is not None:
            (empty if _number(headers.get(remaining, "")) == 0.0 else others).append(wait)
    if empty:
        return max(empty)
    return min(others) if others else None


def _reset(text: str, now: float) -> float | None:
    seconds = parse_duration(text)
    if seconds is None:
        try:
            then = datetime.fromisoformat(text.strip())
        except ValueError:
            return None
        return max(0.0, (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp() - now)
    if seconds > 1e11:
        return max(0.0, seconds / 1000.0 - now)
    if seconds > 1e8:
        return max(0.0, seconds - now)
    return seconds


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value < math.inf else None


def _http_date(text: str) -> float | None:
    try:
        then = parsedate_to_datetime(text)
    except ValueError:
        return None
    return (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp()
