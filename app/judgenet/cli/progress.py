"""How a run goes, from its events: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from judgenet.core.events import (
    CallFinished,
    CallStarted,
    EndpointChanged,
    Event,
    PairFinished,
    RolesFound,
    RunChanged,
    RunFinished,
    RunStarted,
    StoreTrouble,
)

_WINDOW_S = 60.0
_LINE_EVERY_S = 10.0
_RECENT = 6


@dataclass(slots=True)
class Tally:
    """The running sums of one start of a run. Counts of calls include role generation."""

    clock: Callable[[], float] = time.monotonic
    pairs: int = 0
    pairs_done: int = 0
    calls_planned: int = 0
    calls: int = 0
    calls_cached: int = 0
    in_flight: int = 0
    unscored: Counter[str] = field(default_factory=Counter)
    tokens_in: int = 0
    tokens_out: int = 0
    price: float = 0.0
    unpriced: int = 0
    started: float = 0.0
    _per_pair: float = 0.0
    _finished: deque[float] = field(default_factory=deque)

    def take(self, event: Event) -> None:
        """Takes an event in."""
        if isinstance(event, RunStarted):
            self.pairs, self.pairs_done = event.pairs, event.pairs_done
            self._per_pair = event.calls_planned / event.pairs if event.pairs else 0.0
            self.calls_planned = round(self._per_pair * (event.pairs - event.pairs_done))
            self.started = self.clock()
        elif isinstance(event, CallStarted):
            self.in_flight += 1
        elif isinstance(event, CallFinished):
            self.calls += 1
            if event.reason is not None:
                self.unscored[event.reason] += 1
            if event.cached:
                self.calls_cached += 1
                return
            self.in_flight = max(0, self.in_flight - 1)
            self._finished.append(self.clock())
            self.tokens_in += event.tokens_in
            self.tokens_out += event.tokens_out
            if event.price is None:
                self.unpriced += event.tokens_out > 0
            else:
                self.price += event.price
        elif isinstance(event, PairFinished):
            self.pairs_done += 1

    @property
    def rate(self) -> float:
        """Calls a second over the last minute."""
        now = self.clock()
        while self._finished and now - self._finished[0] > _WINDOW_S:
            self._finished.popleft()
        span = min(_WINDOW_S, max(now - self.started, 1e-9))
        return len(self._finished) / span

    @property
    def eta_s(self) -> float | None:
        """Seconds left at the present rate, ``None`` before there is one."""
        rate = self.rate
        left = max(self.calls_planned - self.calls, 0)
        return left / rate if rate > 0 else None

    def price_text(self) -> str:
        """What was spent, with what is unknown said."""
        if self.unpriced and not self.price:
            return "price unknown"
        text = f"{self.price:.4f} USD" if 0 < self.price < 1 else f"{self.price:.2f} USD"
        return f"{text} + {self.unpriced:,} calls of unknown price" if self.unpriced else text

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
        if self.calls_cached:
            parts.append(f"{self.calls_cached:,} from the store")
        parts += [f"{self.rate:.1f} calls/s", f"{self.in_flight:,} in flight", self.unscored_text(), self.price_text()]
        if (eta := self.eta_s) is not None and self.calls < self.calls_planned:
            parts.append(f"{duration(eta)} left")
        return " · ".join(parts)


def duration(seconds: float) -> str:
    """Seconds as people say them: ``45 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def verdict_text(verdict: str | None) -> str:
    """A verdict for people; a missing one is a dash."""
    return {"a": "A", "b": "B", "tie": "tie", None: "–"}.get(verdict, "–")


def pair_line(event: PairFinished) -> str:
    """One finished pair: verdicts of all aggregations, the human label, calls used of all."""
    named = "  ".join(f"{name} {verdict_text(verdict)}" for name, verdict in event.verdicts)
    line = f"pair {event.pair_id}: {named}  human {verdict_text(event.human)}"
    line += f"  ({event.calls_used} of {event.calls_total} calls used)"
    return line + (f"  {event.open_calls} without an answer, asked again next time" if event.open_calls else "")


class Reporter:
    """Shows a run's events. On a terminal a live panel, elsewhere a line a pair and one now and then."""

    def __init__(self, console: Console, *, quiet: bool = False, every_pair: bool = True) -> None:
        self.tally = Tally()
        self._console = console
        self._quiet = quiet
        self._every_pair = every_pair
        self._last_line = 0.0
        self._recent: deque[str] = deque(maxlen=_RECENT)
        self._state = ""
        self._live = (
            Live(console=console, auto_refresh=False, transient=True) if console.is_terminal and not quiet else None
        )

    def __enter__(self) -> Reporter:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._live is not None:
            self._live.stop()

    def _say(self, text: str, style: str = "") -> None:
        if not self._quiet:
            self._console.print(Text(text, style=style), soft_wrap=True)

    def take(self, event: Event) -> None:
        """Takes an event in and says what people should hear at once."""
        self.tally.take(event)
        if isinstance(event, RunStarted):
            again = f", {event.pairs_done:,} of them done before" if event.pairs_done else ""
            self._say(f"{event.run_id}: {event.pairs:,} pairs{again}, about {event.calls_planned:,} calls")
        elif isinstance(event, PairFinished):
            if self._live is not None:
                self._recent.append(pair_line(event))
            elif self._every_pair:
                self._say(pair_line(event))
        elif isinstance(event, RolesFound) and event.note:
            self._say(f"pair {event.pair + 1}: {event.note}", "yellow")
        elif isinstance(event, EndpointChanged) and event.state != "open":
            self._say(f"{event.endpoint}: {event.message}", "red" if event.state == "stopped" else "yellow")
        elif isinstance(event, StoreTrouble):
            self._say(event.message or "The store can be written again.", "red" if event.message else "green")
        elif isinstance(event, RunChanged):
            self._state = "paused" if event.state == "paused" else ""
        elif isinstance(event, RunFinished):
            self._say(self.tally.line())
            if event.message:
                self._say(f"{event.state}: {event.message}", "red" if event.state in ("failed", "halted") else "yellow")

    def refresh(self) -> None:
        """Draws the present state; called a few times a second."""
        now = time.monotonic()
        if self._live is not None:
            self._live.update(self._panel(), refresh=True)
        elif not self._quiet and now - self._last_line >= _LINE_EVERY_S and self.tally.calls:
            self._last_line = now
            self._say(self.tally.line())

    def _panel(self) -> Group:
        tally = self.tally
        bar = Table.grid(padding=(0, 1))
        total = max(tally.calls_planned, tally.calls, 1)
        share = f"{100 * tally.calls / total:3.0f} %"
        bar.add_row(ProgressBar(total=total, completed=tally.calls, width=40), Text(share), Text(self._state, "yellow"))
        lines = [Text(line, overflow="ellipsis", no_wrap=True) for line in self._recent]
        return Group(*lines, bar, Text(tally.line()))
