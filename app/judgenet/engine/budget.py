"""Hard limits of a run, counting what is in flight."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import NamedTuple

from judgenet.core.wording import money


@dataclass(frozen=True, slots=True)
class Limits:
    """The most new calls, tokens (in and out), and money (in the currency of the prices). ``None`` sets no limit.

    They hold for one start of a run; answers from the store are free.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_price: float | None = None

    def less(self, used: Used) -> Limits:
        """What is left of the limits for another start."""
        return Limits(
            None if self.max_calls is None else max(0, self.max_calls - used.calls),
            None if self.max_tokens is None else max(0, self.max_tokens - used.tokens),
            None if self.max_price is None else max(0.0, self.max_price - used.price),
        )

    def to_json(self) -> dict[str, float]:
        """The limits that are set, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, record: object) -> Limits:
        """The limits of such a record; a value that is no limit counts as none."""
        given = record if isinstance(record, Mapping) else {}

        def number(name: str) -> float | None:
            value = given.get(name)
            if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 1e15:
                return None
            return float(value)

        calls, tokens = number("max_calls"), number("max_tokens")
        return cls(None if calls is None else int(calls), None if tokens is None else int(tokens), number("max_price"))


class Used(NamedTuple):
    """Calls, tokens and money that a start used."""

    calls: int
    tokens: int
    price: float

    def plus(self, other: Used) -> Used:
        """The sum of each."""
        return Used(self.calls + other.calls, self.tokens + other.tokens, self.price + other.price)

    def less(self, other: Used) -> Used:
        """Each less the other's, but at least 0."""
        return Used(
            max(0, self.calls - other.calls), max(0, self.tokens - other.tokens), max(0.0, self.price - other.price)
        )

    def least(self, other: Used) -> Used:
        """The smaller of each."""
        return Used(min(self.calls, other.calls), min(self.tokens, other.tokens), min(self.price, other.price))

    def most(self, other: Used) -> Used:
        """The larger of each."""
        return Used(max(self.calls, other.calls), max(self.tokens, other.tokens), max(self.price, other.price))

    def times(self, factor: float) -> Used:
        """A multiple, rounded down to whole calls and tokens."""
        return Used(int(self.calls * factor), int(self.tokens * factor), self.price * factor)

    def fits(self, room: Used) -> bool:
        """Whether each is at most that of ``room``; prices up to rounding errors."""
        return self.calls <= room.calls and self.tokens <= room.tokens and self.price <= room.price + 1e-12


@dataclass(slots=True)
class Reserve:
    """The most that a call in flight may still use."""

    tokens: int
    price: float


class Budget:
    """Keeps the sum of what was used and of what is in flight below the limits.

    A call in flight counts with the most that it may use, so that the limits hold whatever comes back.
    """

    waits = False
    """Whether room may still come where there is none now."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.calls = 0
        self.tokens = 0
        self.price = 0.0
        self._tokens_held = 0
        self._price_held = 0.0

    def reserve(self, tokens: int, price: float | None) -> Reserve | None:
        """Room for one more call, or ``None`` where there is none now.

        A price of ``None`` is unknown: it cannot be held, so it does not fit where a price limit is set.
        """
        limits = self.limits
        if limits.max_calls is not None and self.calls + 1 > limits.max_calls:
            return None
        if limits.max_tokens is not None and self.tokens + self._tokens_held + tokens > limits.max_tokens:
            return None
        if limits.max_price is not None and (
            price is None or self.price + self._price_held + price > limits.max_price + 1e-12
        ):
            return None
        self.calls += 1
        held = Reserve(tokens, price or 0.0)
        self._tokens_held += held.tokens
        self._price_held += held.price
        return held

    def hold(self, calls: int, tokens: int, price: float) -> None:
        """Counts calls in batches of an earlier start as made, with what they may use."""
        self.calls += calls
        self._tokens_held += tokens
        self._price_held += price

    def settle(self, reserve: Reserve, tokens: int, price: float | None) -> None:
        """Replaces a reserve by what the call really used."""
        self._release(reserve)
        self.tokens += tokens
        self.price += price or 0.0

    def give_back(self, reserve: Reserve, *, asked: bool) -> None:
        """Frees what a call held that brought no answer. ``asked`` counts it as a call all the same."""
        self._release(reserve)
        if not asked:
            self.calls -= 1

    def _release(self, reserve: Reserve) -> None:
        self._tokens_held -= reserve.tokens
        self._price_held -= reserve.price

    @property
    def spent_up(self) -> str:
        """The limits with what is used of them, for people."""
        limits = self.limits
        named = []
        if limits.max_calls is not None:
            named.append(f"{self.calls:,} of {limits.max_calls:,} calls")
        if limits.max_tokens is not None:
            named.append(f"{self.tokens:,} of {limits.max_tokens:,} tokens")
        if limits.max_price is not None:
            named.append(f"{money(self.price)} of {money(limits.max_price)}")
        return ", ".join(named)


class LeasedBudget(Budget):
    """The budget of one of many workers, which is allowed more from time to time.

    ``limited`` are the limits of all: which of calls, tokens and money is limited here. ``on_short`` is called where a
    call did not fit. Calls are counted on the engine's thread; the other methods are for the one that talks with the
    broker.
    """

    def __init__(self, limited: Limits, on_short: Callable[[], None] = lambda: None) -> None:
        super().__init__(_capped(limited, Used(0, 0, 0.0)))
        self._limited = limited
        self._on_short = on_short
        self._lock = threading.Lock()
        self._allowed = Used(0, 0, 0.0)
        self._most = Reserve(0, 0.0)
        self._refused = False
        self.waits = True
        self.exhausted = ""

    def reserve(self, tokens: int, price: float | None) -> Reserve | None:
        with self._lock:
            self._most = Reserve(max(tokens, self._most.tokens), max(price or 0.0, self._most.price))
            held = super().reserve(tokens, price)
            self._refused = held is None
        if held is None:
            self._on_short()
        return held

    def settle(self, reserve: Reserve, tokens: int, price: float | None) -> None:
        with self._lock:
            super().settle(reserve, tokens, price)

    def give_back(self, reserve: Reserve, *, asked: bool) -> None:
        with self._lock:
            super().give_back(reserve, asked=asked)

    @property
    def refused(self) -> bool:
        """Whether the last call did not fit."""
        return self._refused

    def ask(self, calls: int) -> tuple[Used, Used, Used]:
        """The most that the calls so far use, those in flight included; the most that ``calls`` more may use; and the
        most that one may use. Until :meth:`allow` no more than the first two together is begun."""
        with self._lock:
            begun = Used(self.calls, self.tokens + self._tokens_held, self.price + self._price_held)
            single = Used(1, self._most.tokens, self._most.price)
            wants = Used(calls, calls * single.tokens, calls * single.price)
            self._set(self._allowed.least(begun.plus(wants)))
            return begun, wants, single

    def allow(self, allowed: Used) -> bool:
        """Sets what may be used in all; true where that is more than before."""
        with self._lock:
            before = self._allowed
            self._set(allowed)
            return any(now > then for now, then in zip(allowed, before, strict=True))

    def exhaust(self, why: str) -> None:
        """Says that no more room will come, and why."""
        self.exhausted = why
        self.waits = False

    def _set(self, allowed: Used) -> None:
        self._allowed = allowed
        self.limits = _capped(self._limited, allowed)

    @property
    def spent_up(self) -> str:
        return self.exhausted or super().spent_up


def _capped(limited: Limits, allowed: Used) -> Limits:
    """The limits that are set, lowered to what is allowed."""
    return Limits(
        None if limited.max_calls is None else allowed.calls,
        None if limited.max_tokens is None else allowed.tokens,
        None if limited.max_price is None else allowed.price,
    )
