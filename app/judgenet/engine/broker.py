"""What the workers of a run share: the shards, its limits, and how much each endpoint takes at a time.

There is one broker and many workers, and any of them may die. The broker leases calls, tokens and money to attempts at
shards, in all never more than the limits leave. An attempt may use what it was *allowed*, a small part of its lease
that is raised with each of its beats. So all of a dead attempt's lease returns but that part, which stays counted, as
it may have been paid and not kept. What a shard's store proves always counts.

Nothing here depends on how workers and broker reach each other; everything is given by values, with times of one clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from judgenet.core.wording import money, plural
from judgenet.engine.budget import Limits, Used
from judgenet.engine.shared_window import SharedWindow, WindowShare
from judgenet.store.shard_states import EndpointReport, ShardReport, ShardsReport, ShardsStatus, ShardStatus, Want

LEASE_CALLS: Final = 1000
"""How many calls are leased at a time, where the limits leave as many."""
EXPIRES_S: Final = 600.0
"""An attempt that was silent for this time is given up."""
TRIES: Final = 3
"""A shard that failed this often is given up."""
_RATE_S: Final = 10.0
"""The seconds over which calls per second are measured."""
_NOTHING: Final = Used(0, 0, 0.0)
_NAMED_SHARDS: Final = 8
_NAMED_ERRORS: Final = 3
"""How many shards with one error, and how many errors, are named in a message."""

ModelAt = tuple[str, str]
"""The names of an endpoint and of a model there."""
AttemptAt = tuple[int, int]
"""The number of a shard, and of the attempt at it, both from 1."""
AttemptEnd = Literal["done", "budget", "stopped", "held", "failed"]
"""How an attempt ended: all its pairs are done; it needs more than the limits leave; it was told to stop; an endpoint
stopped; it failed and is tried again."""


@dataclass(frozen=True, slots=True)
class ModelBeat:
    """A worker's report on a model: the most parallel calls and the answers since the last beat, whether it was
    throttled (and how many seconds to wait), and why it stopped, empty where it did not."""

    in_flight: int = 0
    answers: int = 0
    throttled: bool = False
    wait_s: float = 0.0
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Beat:
    """What a worker says of its attempt, once a second and when it needs something.

    ``begun`` is the most that its calls have used so far, those in flight with the most that they may use. It begins
    no more than ``wants`` beyond that, and nothing beyond what it was allowed before, until it has an answer.
    ``short``: it waits for room for one call, which may use ``single``, and nothing is in flight. The other figures are
    those of its run, with what earlier attempts kept.
    """

    at: AttemptAt
    begun: Used = _NOTHING
    wants: Used = _NOTHING
    single: Used = _NOTHING
    short: bool = False
    pairs_done: int = 0
    calls: int = 0
    unscored: int = 0
    price: float = 0.0
    unpriced: int = 0
    models: Mapping[ModelAt, ModelBeat] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Orders:
    """The broker's answer to a worker. ``current``: whether its attempt still counts; where not, it ends and keeps
    nothing. ``allowed`` is the most that the attempt may use, ``None`` without limits; ``exhausted`` names the limit
    that is in the way, where no more will come."""

    current: bool
    want: Want
    allowed: Used | None
    exhausted: str
    shares: Mapping[ModelAt, WindowShare]


@dataclass(frozen=True, slots=True)
class BrokerPlan:
    """What is to be shared. ``shards`` has the number of pairs of each shard by its number, ``finished`` those of them
    that are done already, ``windows`` how many calls each model may have in flight over all workers. ``patience_s`` is
    how long all wait for people where an endpoint stopped."""

    shards: Mapping[int, int]
    finished: Mapping[int, ShardReport] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    windows: Mapping[ModelAt, int] = field(default_factory=dict)
    workers: int = 1
    patience_s: float = 1800.0
    tries: int = TRIES


@dataclass(slots=True)
class _Shard:
    pairs: int
    state: ShardStatus = "waiting"
    attempt: int = 0
    failures: int = 0
    error: str = ""
    worker: str = ""
    base: Used | None = None
    proven: Used = _NOTHING
    pairs_done: int = 0
    calls: int = 0
    unscored: int = 0
    price: float = 0.0
    unpriced: int = 0


@dataclass(slots=True)
class _Attempt:
    """An attempt under way, ``heard`` when it last said something, ``None`` before. ``leased`` is what the limits hold
    back for it, ``allowed`` what it may use of that; ``proven`` is what the store that it began with proved: more
    than earlier copies, where it lay on the disk of an earlier attempt."""

    worker: str
    heard: float | None = None
    leased: Used = _NOTHING
    allowed: Used = _NOTHING
    proven: Used | None = None
    short: bool = False


class Broker:
    """Keeps the books of a run that many workers share. Not for several threads at once.

    ``record`` keeps an entry of the journal before anything is said that rests on it; a broker that is given the
    ``journal`` of one before it goes on in its place.
    """

    def __init__(
        self,
        plan: BrokerPlan,
        record: Callable[[dict[str, Any]], None] = lambda entry: None,
        journal: Iterable[Mapping[str, Any]] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.plan = plan
        self._clock = clock
        self._record = record
        self._shards = {number: _Shard(pairs) for number, pairs in plan.shards.items()}
        for number, report in plan.finished.items():
            shard = self._shards[number]
            shard.state, shard.pairs_done, shard.calls = "done", shard.pairs, report.calls
            shard.unscored, shard.price, shard.unpriced = report.unscored, report.price, report.unpriced
        self._attempts: dict[AttemptAt, _Attempt] = {}
        self.charged = _NOTHING
        """What attempts that have ended used, or may have used."""
        self._leased = _NOTHING
        """The leases of the others, summed up."""
        self._windows = {at: SharedWindow(most) for at, most in plan.windows.items()}
        self.want: Want = "run"
        self._held_since: float | None = None
        self._held_by = ""
        self._exhausted = ""
        self._taken: tuple[int, AttemptAt | None] = (0, None)
        self._counted: list[tuple[float, int]] = []
        self._waiting = [number for number in sorted(self._shards) if self._shards[number].state == "waiting"][::-1]
        for entry in journal:
            self._replay(entry)

    # Shards and attempts

    def take(self, worker: str = "", ticket: int = 0) -> AttemptAt | None:
        """The next attempt to begin, ``None`` where there is none now. Asked again with the ticket of the last time, as
        after a lost answer, it gives the same attempt."""
        if ticket and ticket == self._taken[0]:
            return self._taken[1]
        if self.want != "run" or self.held or self._exhausted or not self._waiting:
            return None
        number = self._waiting[-1]
        at = (number, self._shards[number].attempt + 1)
        self._note("take", at, worker=worker, ticket=ticket)
        return at

    def under_way(self) -> tuple[AttemptAt, ...]:
        """The attempts that have begun and not ended."""
        return tuple(self._attempts)

    def kept(self, at: AttemptAt, sums: Used) -> bool:
        """Records what the store of a shard proves: the calls, tokens and money of all that it holds. False where the
        attempt does not count any more, so that its store must not replace another's."""
        if at not in self._attempts:
            return False
        self._note("kept", at, sums=list(sums))
        return True

    def ended(self, at: AttemptAt, end: AttemptEnd, used: Used, message: str = "") -> None:
        """Records the end of an attempt that reported it itself, with all that it used."""
        if at in self._attempts:
            self._end(at, end, used, message)

    def died(self, at: AttemptAt, why: str) -> None:
        """Records the loss of an attempt: the part of its lease that it was not allowed yet returns."""
        if (attempt := self._attempts.get(at)) is not None:
            self._end(at, "failed", attempt.allowed, why)

    def _end(self, at: AttemptAt, end: AttemptEnd, used: Used, message: str) -> None:
        shard = self._shards[at[0]]
        figures = [shard.pairs_done, shard.calls, shard.unscored, shard.price, shard.unpriced]
        self._note("end", at, end=end, charged=list(self._charge(at, used)), message=message, figures=figures)

    def _charge(self, at: AttemptAt, used: Used) -> Used:
        """What an ended attempt counts for: never less than the store proves."""
        before = self._attempts[at].proven
        return used if before is None else used.most(self._shards[at[0]].proven.less(before))

    # Beats

    def beat(self, beat: Beat) -> Orders:
        """Records a worker's report, and answers how to continue."""
        attempt = self._attempts.get(beat.at)
        if attempt is None:
            return Orders(False, "stop", _NOTHING, "", {})
        now = self._clock()
        attempt.heard, attempt.short = now, beat.short
        shard = self._shards[beat.at[0]]
        shard.pairs_done, shard.calls = beat.pairs_done, beat.calls
        shard.unscored, shard.price, shard.unpriced = beat.unscored, beat.price, beat.unpriced
        for at, said in beat.models.items():
            if (window := self._windows.get(at)) is None:
                continue
            window.take(beat.at, said.in_flight, said.answers, now)
            if said.throttled:
                window.throttled(now, said.wait_s)
            if said.stopped and not window.stopped:
                self._note("stopped", beat.at, endpoint=at[0], model=at[1], message=said.stopped)
        allowed = self._allow(beat, attempt)
        workers = len(self._attempts)
        if self._waiting:
            workers = max(workers, self.plan.workers)
        shares = {at: window.share(beat.at, workers, now) for at, window in self._windows.items()}
        want: Want = "pause" if self.held and self.want == "run" else self.want
        return Orders(True, want, allowed, self._exhausted, shares)

    def _heard(self) -> list[_Attempt]:
        """The attempts that have begun; others still wait for a worker."""
        return [attempt for attempt in self._attempts.values() if attempt.heard is not None]

    def _allow(self, beat: Beat, attempt: _Attempt) -> Used | None:
        if self.plan.limits == Limits():
            return None
        need = beat.begun.plus(beat.wants)
        if self._exhausted:
            need = need.least(beat.begun.most(attempt.allowed))
        elif not need.fits(attempt.leased):
            self._lease(beat, attempt, need)
        attempt.allowed = need.least(attempt.leased)
        starved = beat.short and not beat.begun.plus(beat.single).fits(attempt.leased)
        if starved and all(other.short for other in self._heard()) and not self._exhausted:
            self._exhausted = self._spent_up()
        return attempt.allowed

    def _lease(self, beat: Beat, attempt: _Attempt, need: Used) -> None:
        """Raises a lease to what is needed, or by a whole lease's calls where the limits leave plenty."""
        more = need.less(attempt.leased)
        if not more.fits(self.free):
            # Nobody may use more of his lease than he was allowed: the rest of all leases is free.
            for holder, holding in self._attempts.items():
                if holding.leased != holding.allowed:
                    self._note("lease", holder, leased=list(holding.allowed))
            more = need.less(attempt.leased)
        calls = max(beat.wants.calls, 1)
        whole = beat.wants.times(LEASE_CALLS / calls)
        fair = self.free.times(1 / (4 * max(1, self.plan.workers)))
        more = more.most(whole.least(fair)).least(self.free)
        if any(more):
            self._note("lease", beat.at, leased=list(attempt.leased.plus(more)))

    @property
    def held_back(self) -> Used:
        """What counts against the limits: what ended attempts used, and the leases of the others."""
        return self.charged.plus(self._leased)

    @property
    def free(self) -> Used:
        """What the limits leave; without a limit as much as anybody could want."""
        limits, held = self.plan.limits, self.held_back
        return Used(
            2**53 if limits.max_calls is None else max(0, limits.max_calls - held.calls),
            2**53 if limits.max_tokens is None else max(0, limits.max_tokens - held.tokens),
            1e15 if limits.max_price is None else max(0.0, limits.max_price - held.price),
        )

    def _spent_up(self) -> str:
        limits, held = self.plan.limits, self.held_back
        named = []
        if limits.max_calls is not None:
            named.append(f"{held.calls:,} of {limits.max_calls:,} calls")
        if limits.max_tokens is not None:
            named.append(f"{held.tokens:,} of {limits.max_tokens:,} tokens")
        if limits.max_price is not None:
            named.append(f"{money(held.price)} of {money(limits.max_price)}")
        return ", ".join(named)

    # Commands and time

    @property
    def held(self) -> bool:
        """Whether all wait, as an endpoint stopped."""
        return self._held_since is not None

    def command(self, want: Want) -> None:
        """Obeys a command of the user. To resume tries stopped endpoints again."""
        if want != self.want or (want == "run" and self.held):
            self._note("command", (0, 0), want=want)

    def tick(self) -> None:
        """Handles the passing of time: silent attempts are given up, and patience ends. To be called once a second."""
        now = self._clock()
        for at, attempt in list(self._attempts.items()):
            if attempt.heard is not None and now - attempt.heard > EXPIRES_S:
                self.died(at, f"{attempt.worker or 'the worker'}: silent for {EXPIRES_S / 60:.0f} minutes.")
        if self._held_since is not None and now - self._held_since > self._patience and self.want == "run":
            self._note("command", (0, 0), want="stop")
        self._counted.append((now, sum(shard.calls for shard in self._shards.values())))
        while now - self._counted[0][0] > _RATE_S and len(self._counted) > 2:
            del self._counted[0]

    @property
    def _patience(self) -> float:
        # Nothing was answered yet: the setting is wrong, and nobody needs to wait to see that.
        return self.plan.patience_s if any(shard.calls for shard in self._shards.values()) else 0.0

    @property
    def over(self) -> bool:
        """Whether nothing goes on and nothing will begin."""
        return not self._attempts and (not self._waiting or self.want == "stop" or bool(self._exhausted))

    # What is told

    def report(self, begun_at: float = 0.0) -> ShardsReport:
        """The state of all shards."""
        shards = self._shards.values()
        states: dict[str, int] = {}
        for shard in shards:
            states[shard.state] = states.get(shard.state, 0) + 1
        calls = sum(shard.calls for shard in shards)
        rate = 0.0
        if self._counted and (span := self._clock() - self._counted[0][0]) > 0:
            rate = max(0.0, (calls - self._counted[0][1]) / span)
        state, message = self._state()
        return ShardsReport(
            engine="ray",
            shards=len(self._shards),
            state=state,
            message=message,
            made=begun_at,
            pairs={"total": sum(shard.pairs for shard in shards), "done": sum(shard.pairs_done for shard in shards)},
            by_state=states,
            calls=calls,
            unscored=sum(shard.unscored for shard in shards),
            price=sum(shard.price for shard in shards),
            unpriced=sum(shard.unpriced for shard in shards),
            calls_per_second=rate,
            endpoints=tuple(
                EndpointReport(*at, int(window.window), window.in_flight, window.state, window.stopped)
                for at, window in self._windows.items()
            ),
            updated=self._clock(),
        )

    def _state(self) -> tuple[ShardsStatus, str]:
        if not self.over:
            if self.held or self.want == "pause":
                return "paused", self._held_by
            return "running", ""
        if self.held:
            return "failed", self._held_by
        if failed := self.failed():
            return "failed", f"{plural(len(failed), 'shard')} failed {self.plan.tries} times: {_by_error(failed)}"
        if self._exhausted:
            return "stopped", f"Stopped by the limit: {self._exhausted} used or held back."
        if all(shard.state == "done" for shard in self._shards.values()):
            return "done", ""
        return "stopped", "Stopped. The same command goes on from here."

    def failed(self) -> Mapping[int, str]:
        """The shards that were given up, with their last errors."""
        return {number: shard.error for number, shard in self._shards.items() if shard.state == "failed"}

    def shard(self, number: int) -> tuple[ShardStatus, int, str]:
        """The state of a shard, its last attempt, and its last error."""
        shard = self._shards[number]
        return shard.state, shard.attempt, shard.error

    # The journal

    def _note(self, what: str, at: AttemptAt, **values: Any) -> None:
        entry = {"do": what, "at": list(at), **values}
        self._record(entry)
        self._replay(entry)

    def _replay(self, entry: Mapping[str, Any]) -> None:
        at = (int(entry["at"][0]), int(entry["at"][1]))
        getattr(self, f"_do_{entry['do']}")(at, entry)

    def _do_take(self, at: AttemptAt, entry: Mapping[str, Any]) -> None:
        shard = self._shards[at[0]]
        self._waiting.remove(at[0])
        shard.state, shard.attempt, shard.worker = "running", at[1], entry["worker"]
        self._taken = (entry["ticket"], at)
        self._attempts[at] = _Attempt(entry["worker"])

    def _do_kept(self, at: AttemptAt, entry: Mapping[str, Any]) -> None:
        shard, sums = self._shards[at[0]], Used(*entry["sums"])
        if shard.base is None:
            shard.base = sums
        shard.proven = shard.proven.most(sums.less(shard.base))
        attempt = self._attempts[at]
        attempt.proven = attempt.proven or shard.proven

    def _do_lease(self, at: AttemptAt, entry: Mapping[str, Any]) -> None:
        attempt = self._attempts[at]
        before, attempt.leased = attempt.leased, Used(*entry["leased"])
        self._leased = self._leased.plus(attempt.leased.less(before)).less(before.less(attempt.leased))
        # Until its next beat (a broker that goes on knows no better) it may use all of it.
        attempt.allowed = attempt.leased
        attempt.heard = self._clock()

    def _do_end(self, at: AttemptAt, entry: Mapping[str, Any]) -> None:
        shard, end = self._shards[at[0]], entry["end"]
        del self._attempts[at]
        self.charged = self.charged.plus(Used(*entry["charged"]))
        # Summed up anew, so that what floating point leaves does not grow.
        self._leased = _NOTHING
        for attempt in self._attempts.values():
            self._leased = self._leased.plus(attempt.leased)
        for window in self._windows.values():
            window.leave(at)
        shard.worker = ""
        shard.pairs_done, shard.calls, shard.unscored, shard.price, shard.unpriced = entry["figures"]
        if end == "done":
            shard.state, shard.error = "done", ""
            return
        if end == "failed":
            shard.failures, shard.error = shard.failures + 1, entry["message"]
            if shard.failures >= self.plan.tries:
                shard.state = "failed"
                return
        shard.state = "waiting"
        # What failed comes last: another worker, and others' work first.
        self._waiting.insert(0 if end == "failed" else len(self._waiting), at[0])

    def _do_stopped(self, _: AttemptAt, entry: Mapping[str, Any]) -> None:
        self._windows[entry["endpoint"], entry["model"]].stopped = entry["message"]
        if self._held_since is None:
            self._held_since, self._held_by = self._clock(), entry["message"]

    def _do_command(self, _: AttemptAt, entry: Mapping[str, Any]) -> None:
        self.want = entry["want"]
        if self.want == "run":
            self._held_since, self._held_by = None, ""
            for window in self._windows.values():
                window.stopped = ""


def _by_error(failed: Mapping[int, str]) -> str:
    """Shards by their errors, each error once: ``1, 4, 9 (out of memory)``."""
    shards: dict[str, list[str]] = {}
    for number, error in failed.items():
        shards.setdefault(error, []).append(str(number))
    parts = [
        f"{', '.join(numbers[:_NAMED_SHARDS])}{' …' if len(numbers) > _NAMED_SHARDS else ''} ({error})"
        for error, numbers in shards.items()
    ]
    return "; ".join(parts[:_NAMED_ERRORS]) + ("; …" if len(parts) > _NAMED_ERRORS else "")
