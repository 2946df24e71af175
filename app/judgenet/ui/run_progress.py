"""Progress of the run in focus: counts, cost and pace, from its events and from the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from judgenet.core.events import Event
from judgenet.core.tally import Tally
from judgenet.store.frame import RunFrame
from judgenet.store.pace import Pace
from judgenet.store.runs import Spent

_SAMPLE_EVERY_S: Final = 1.0
_SAMPLES_KEPT: Final = 2000
"""With more, every other one goes and they come half as often: memory does not grow with the run."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run. Counts include all of its starts.

    ``price`` sums the known prices, ``price_before`` is the part of it that earlier starts paid; ``unpriced`` counts
    calls of unknown price; ``rate`` and ``tokens_rate`` are a second, over the last minute; ``eta_s`` are seconds
    left, ``None`` where that is unknown.
    """

    pairs: int = 0
    pairs_done: int = 0
    calls: int = 0
    calls_planned: int = 0
    calls_cached: int = 0
    in_flight: int = 0
    unscored: Mapping[str, int] = field(default_factory=dict)
    tokens_in: int = 0
    tokens_out: int = 0
    price: float = 0.0
    price_before: float = 0.0
    unpriced: int = 0
    rate: float = 0.0
    tokens_rate: float = 0.0
    eta_s: float | None = None

    @property
    def unscored_calls(self) -> int:
        return sum(self.unscored.values())

    @property
    def share(self) -> float:
        """How much of the calls is in, 0 to 1."""
        whole = max(self.calls_planned, self.calls)
        return self.calls / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class ProgressSample:
    """The progress at one second of the run, ``at`` seconds after it began."""

    at: float
    progress: Progress


class ProgressLog:
    """The progress of the run in focus, and a sample for each second of a run that goes on.

    Attributes:
        now: the progress.
        history: samples since the run was started in this window.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.now = Progress()
        self.history: list[ProgressSample] = []
        self._tally = Tally(clock)
        self._before: Spent | None = None
        self._recorded: list[Pace] = []
        self._sample_every = _SAMPLE_EVERY_S

    def begin(self) -> None:
        """A run is started, or goes on, in this window."""
        self._tally = Tally(self._clock)
        self._before = None
        self.forget_history()

    def forget_history(self) -> None:
        """Clears the history when another project is opened."""
        self.history = []
        self._sample_every = _SAMPLE_EVERY_S

    def set_before(self, before: Spent) -> None:
        """Sets what earlier starts of the run used."""
        self._before = before

    def load(self, table: RunFrame | None, totals: Spent | None) -> None:
        """Takes the progress of a recorded run; none where there is no run."""
        self.now = Progress() if table is None or totals is None else _progress_of(table, totals)

    def load_pace(self, paces: Sequence[Pace]) -> None:
        """Takes the pace of a recorded run."""
        self._recorded = list(paces)

    def take(self, event: Event) -> None:
        """Counts an event of the run that goes on."""
        self._tally.take(event)

    def look(self, table: RunFrame | None, *, force: bool) -> bool:
        """Brings :attr:`now` and :attr:`history` up to date; True where the progress changed. ``force`` takes a sample
        even where the last one is fresh."""
        progress = _progress_of_tally(self._tally)
        at = self._clock() - self._tally.started
        if self._tally.pairs and (not self.history or at - self.history[-1].at >= self._sample_every or force):
            self.history.append(ProgressSample(at, progress))
            if len(self.history) > _SAMPLES_KEPT:
                del self.history[-2::-2]
                self._sample_every *= 2
        whole = progress if table is None else _whole(progress, table, self._before)
        changed = whole != self.now
        self.now = whole
        return changed

    def stand_still(self) -> None:
        """Marks the run as standing still: no calls in flight, no rate."""
        self.now = replace(self.now, in_flight=0, rate=0.0, tokens_rate=0.0, eta_s=None)

    def pace(self, *, live: bool) -> list[Pace]:
        """How fast the run went and what it cost by when: of the run that goes on since its start, of a recorded one
        over all of its running time."""
        if not live and self._recorded:
            return self._recorded
        paces: list[Pace] = []
        before = ProgressSample(0.0, Progress())
        for sample in self.history:
            was, now, span = before.progress, sample.progress, sample.at - before.at
            if span < _SAMPLE_EVERY_S / 2:
                continue
            calls = (now.calls - now.calls_cached) - (was.calls - was.calls_cached)
            tokens = (now.tokens_in + now.tokens_out) - (was.tokens_in + was.tokens_out)
            paces.append(Pace(sample.at, calls / span, tokens / span, now.price))
            before = sample
        return paces


def _progress_of_tally(tally: Tally) -> Progress:
    return Progress(
        pairs=tally.pairs,
        pairs_done=tally.pairs_done,
        calls=tally.calls,
        calls_planned=tally.calls_planned,
        calls_cached=tally.calls_cached,
        in_flight=tally.in_flight,
        unscored=dict(tally.unscored),
        tokens_in=tally.tokens_in,
        tokens_out=tally.tokens_out,
        price=tally.price,
        unpriced=tally.unpriced,
        rate=tally.rate,
        tokens_rate=tally.tokens_rate,
        eta_s=tally.eta_s,
    )


def _whole(start: Progress, table: RunFrame, before: Spent | None) -> Progress:
    """The progress of a whole run from that of its present start, and from what earlier starts used."""
    progress = replace(
        start,
        pairs=len(table),
        pairs_done=len(table.finished),
        calls=table.calls_in,
        calls_planned=table.calls_planned,
        unscored=dict(table.unscored),
    )
    if before is None:
        return progress
    return replace(
        progress,
        tokens_in=start.tokens_in + before.tokens_in,
        tokens_out=start.tokens_out + before.tokens_out,
        price=start.price + before.price,
        price_before=before.price,
        unpriced=start.unpriced + before.unpriced,
    )


def _progress_of(table: RunFrame, totals: Spent) -> Progress:
    """The progress of a recorded run."""
    return Progress(
        pairs=len(table),
        pairs_done=len(table.finished),
        calls=totals.calls,
        calls_planned=totals.calls,
        calls_cached=totals.calls - totals.calls_new,
        unscored=totals.unscored,
        tokens_in=totals.tokens_in,
        tokens_out=totals.tokens_out,
        price=totals.price,
        unpriced=totals.unpriced,
    )
