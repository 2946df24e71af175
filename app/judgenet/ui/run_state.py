"""The run in focus, as the interface shows it: a cache that can be rebuilt from the store at any time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, Signal

from judgenet.core.aggregate import Opinion, PairVerdicts
from judgenet.core.calls import CallSite
from judgenet.core.events import RunState as RunPhase
from judgenet.core.network import NetworkSpec, Role
from judgenet.core.pairs import Order, Pair, Verdict
from judgenet.store.runs import FullCall, RunInfo

CallPhase = Literal["none", "asked", "writing", "scored", "unscored"]
PairPhase = Literal["open", "working", "done", "failed"]
"""``working``: some of its calls began. ``failed``: all are in, some without an answer, which the next start asks again."""


@dataclass(frozen=True, slots=True)
class CallState:
    """One call in short. Scores are those of A and B, whatever the order. ``since`` is the ``time.monotonic()`` at
    which it was asked; ``seconds`` how long the answer took."""

    phase: CallPhase = "none"
    verdict: Verdict | None = None
    score_a: float | None = None
    score_b: float | None = None
    reason: str = ""
    since: float | None = None
    seconds: float | None = None
    attempts: int = 0
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How the run goes. Counts are of this start of the run while it goes on, else of all of it.

    ``price`` sums the known prices, ``unpriced`` counts calls of unknown price; ``rate`` is calls a second over the
    last minute, ``eta_s`` seconds left (``None``: unknown).
    """

    pairs: int = 0
    pairs_done: int = 0
    calls: int = 0
    calls_planned: int = 0
    calls_cached: int = 0
    in_flight: int = 0
    unscored: Mapping[str, int] = None  # type: ignore[assignment]
    tokens_in: int = 0
    tokens_out: int = 0
    price: float = 0.0
    unpriced: int = 0
    currency: str = "USD"
    rate: float = 0.0
    tokens_rate: float = 0.0
    eta_s: float | None = None


class RunState(QObject):
    """What the interface knows of the run in focus.

    Signals (at most 30 times a second each):
        run_changed: another run is in focus, or its state (running, paused, done …) changed.
        loading_changed: a recorded run begins or ends to be read.
        calls_changed: a set of :class:`CallSite` whose state changed.
        pairs_changed: a set of pair indexes whose state, verdicts or roles changed; all of them after loading.
        focus_changed: the pair in focus, an index or ``None``.
        progress_changed: :attr:`progress` changed; at most 15 times a second.
        text_changed: a set of sites whose answers grew; at most 15 times a second.
    """

    run_changed = Signal()
    loading_changed = Signal()
    calls_changed = Signal(object)
    pairs_changed = Signal(object)
    focus_changed = Signal(object)
    progress_changed = Signal()
    text_changed = Signal(object)

    run: RunInfo | None
    spec: NetworkSpec | None
    state: RunPhase | None
    progress: Progress

    @property
    def runs(self) -> tuple[RunInfo, ...]:
        """All runs of the project's store, oldest first."""
        raise NotImplementedError

    @property
    def loading(self) -> bool:
        raise NotImplementedError

    def show_run(self, run_id: str | None) -> None:
        """Puts a recorded run into focus; ``None`` shows none."""
        raise NotImplementedError

    # Pairs

    @property
    def pair_count(self) -> int:
        raise NotImplementedError

    def pair(self, index: int) -> Pair:
        raise NotImplementedError

    def pair_state(self, index: int) -> PairPhase:
        raise NotImplementedError

    def pair_result(self, index: int) -> PairVerdicts | None:
        """The verdicts of a finished pair, ``None`` before."""
        raise NotImplementedError

    def roles(self, index: int) -> tuple[Role, ...] | None:
        """The roles of a pair, ``None`` before they are known."""
        raise NotImplementedError

    def roles_note(self, index: int) -> str:
        """Where the roles of a pair differ from the design."""
        raise NotImplementedError

    # Calls

    def width(self, layer: int) -> int:
        """The most neurons that layer (1 to depth) had on any pair so far, or as designed."""
        raise NotImplementedError

    def call_state(self, site: CallSite) -> CallState:
        """One call in short, without asking the store."""
        raise NotImplementedError

    def opinions(self, index: int) -> list[Opinion]:
        """The calls of a pair that are in, for aggregation; evidence is left empty."""
        raise NotImplementedError

    def difference(self, index: int, layer: int, neuron: int, order: Order | None = None) -> float | None:
        """Score of A minus score of B of a neuron on a pair: the mean over its valid calls (of one order or all)."""
        raise NotImplementedError

    def call(self, site: CallSite) -> FullCall | None:
        """All that is kept of a finished call, read from the store; ``None`` before it is finished."""
        raise NotImplementedError

    def live_text(self, site: CallSite) -> str:
        """What has been written so far of an answer that is being written."""
        raise NotImplementedError

    # Focus

    @property
    def focus(self) -> int | None:
        """The pair in focus."""
        raise NotImplementedError

    @property
    def follow(self) -> bool:
        """The focus follows the newest pair."""
        raise NotImplementedError

    def set_focus(self, index: int | None) -> None:
        """Pins a pair."""
        raise NotImplementedError

    def set_follow(self, follow: bool) -> None:
        """Follows the newest pair, or pins the one in focus."""
        raise NotImplementedError
