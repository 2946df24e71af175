"""The batches of one endpoint during a run: gathered, sent, checked, and their results fetched.

Everything that must survive is in the store's book (:mod:`judgenet.store.batch_book`); what is here can be lost at any
moment. All runs on the engine's loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.evaluation import Reason
from judgenet.core.wording import duration, plural
from judgenet.engine.batch_apis import BatchApi, RemoteBatch, batch_api
from judgenet.engine.batch_exchange import BatchExchange, BatchFault
from judgenet.engine.batch_gatherer import BatchGatherer
from judgenet.engine.ports import EndpointState, EndpointStopped, OnState
from judgenet.engine.providers import provider_for
from judgenet.engine.providers.errors import Fault
from judgenet.store.batch_book import Batch, BatchBook, BatchResult
from judgenet.store.db import Store, now

log = logging.getLogger(__name__)

_LEAST_LOOK_S: Final = 0.2
_MOST_LOOK_S: Final = 60.0
_LOOK_SHARE: Final = 0.05
"""A batch is checked again after this share of its age, within the two other times."""
LOST_S = 30.0
"""A batch whose creation was not confirmed, and that its endpoint does not list after this time, was not created."""
CANCEL_S = 900.0
"""How long batches that were cancelled at the deadline are waited for (OpenAI: up to ten minutes)."""
_FULL_S: Final = 60.0
_BACKOFF_S: Final = 2.0
_MOST_BACKOFF_S: Final = 900.0
_THROTTLED: Final = 4
"""How often a batch is refused with 429, with no other one open, before it counts as too large."""
_MISSING: Final = 3
"""How often a batch or its results must be missing before they are given up."""
_NO_BATCHES: Final = frozenset({404, 405, 501})
"""The answers of servers that take no batches."""
_TAKEN: Final = 200
"""Results that are written at once."""


@dataclass(frozen=True, slots=True)
class BatchStanding:
    """The state of an endpoint's batches: ``batches`` without results so far, with ``calls`` of which ``answered`` are
    finished there, of the lowest ``layer`` (0: roles). ``until`` is when they should be back, in seconds since the
    epoch, ``None`` where that is unknown. ``overdue``: they were cancelled, as the deadline has passed."""

    endpoint: str
    layer: int
    batches: int
    answered: int
    calls: int
    until: float | None
    overdue: bool


class BatchListener(Protocol):
    """Receives the events of an endpoint's batches."""

    def batch_ended(self, pairs: list[int] | None) -> None:
        """Calls of these pairs can continue; ``None``: those of all."""
        ...

    def batches_stopped(self, endpoint: str, stop: EndpointStopped) -> None: ...

    def batches_stand(self, standing: BatchStanding) -> None: ...


class BatchDesk:
    """Gathers calls into batches and brings back what became of them.

    Args:
        profile: the endpoint.
        store: where the book is.
        key: finds the API key; may block.
        live_after: from this time on (seconds since the epoch) batches are cancelled, and what they did not answer is
            asked live; ``None``: never.
    """

    def __init__(
        self,
        profile: EndpointProfile,
        store: Store,
        key: Callable[[], str | None],
        on_state: OnState,
        live_after: float | None = None,
    ) -> None:
        self.name = profile.name
        self.book = BatchBook(store, profile.name)
        self._profile = profile
        self._key = key
        self._on_state = on_state
        self._live_after = live_after
        self._exchange = BatchExchange(profile, provider_for(profile))
        self._api: BatchApi = batch_api(provider_for(profile), self._exchange)
        self._retries: dict[int, int] = {}
        self._again_at: dict[int, float] = {}
        self._held_until = 0.0
        self._cancelled_at: float | None = None
        self._cancelled: set[int] = set()
        self._sent_alone: set[int] = set()
        self._away = ""
        self._listener: BatchListener
        self._told: BatchStanding | None = None
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self.gatherer = BatchGatherer(self.book, self._api, self._news.set)
        self._stop: EndpointStopped | None = None
        self.was_live = False

    # What the executor asks

    @property
    def live(self) -> bool:
        """Whether calls without an answer from a batch are made live: the deadline has passed, and the batches have
        ended or were waited for long enough."""
        if not self._overdue:
            return False
        if not self.unfinished:
            return True
        return self._cancelled_at is not None and now() - self._cancelled_at >= CANCEL_S

    @property
    def _overdue(self) -> bool:
        return self._live_after is not None and now() >= self._live_after

    @property
    def unfinished(self) -> bool:
        """Whether there are batches whose results are not in."""
        return bool(self.gatherer or self.book.batches("sending", "sent"))

    def submit(self) -> None:
        """Sends what was gathered."""
        self.gatherer.close()

    # Life

    def start(self, listener: BatchListener) -> None:
        """Begins to send and to check batches."""
        self._listener = listener
        self.book.clear_up()
        self._task = asyncio.get_running_loop().create_task(self._go())

    def resume(self) -> None:
        """Tries again after a stop."""
        if self._stop is not None:
            self._stop = None
            self._exchange.headers = None
            self._held_until = 0.0
            self._task = asyncio.get_running_loop().create_task(self._go())

    async def close(self) -> None:
        """Ends the work here. Batches go on at the endpoint."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._exchange.close()

    def words_left(self) -> str:
        """A sentence on the batches that go on at the endpoint; empty where none do."""
        left = self.book.batches("sending", "sent")
        if not left:
            return ""
        calls = plural(sum(batch.calls for batch in left), "call")
        return f"{plural(len(left), 'batch', 'batches')} with {calls} at {self.name}"

    async def _go(self) -> None:
        try:
            while True:
                try:
                    await self._turn()
                except BatchFault as problem:
                    self._fail(problem.fault)
                if self._stop is not None:
                    return
                self._tell_standing()
                self._news.clear()
                # Not wait_for, which swallows a cancellation that comes with the news (Python 3.11).
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._pause()):
                        await self._news.wait()
        except asyncio.CancelledError:
            raise
        except Exception as error:
            log.exception("the batches of %s", self.name)
            self._stopped(EndpointStopped(Reason.INTERNAL, f"{self.name}: {type(error).__name__}: {error}"))

    async def _turn(self) -> None:
        """Does what is due, once."""
        ended = False
        there = self.book.batches("sending", "sent")
        if there or self.gatherer.ready:
            await self._look_up_key()
        for batch in there:
            if self._again_at.get(batch.number, 0.0) > now():
                continue
            try:
                if batch.state == "sending":
                    ended |= await self._find(batch)
                else:
                    ended |= await self._look(batch)
                self._reached(batch.number)
            except BatchFault as problem:
                ended |= self._put_off(batch, problem.fault)
        if self._overdue:
            await self._call_in()
        elif now() >= self._held_until:
            for number in list(self.gatherer.ready):
                if now() < self._held_until:
                    break
                await self._send(self.book.batch(number))
        if self.live and not self.was_live:
            self.was_live = True
            if left := self.words_left():
                text = (
                    f"{left} did not end in time. Their calls are asked live, and paid for twice where they come late."
                )
                self._tell("waiting", text)
            self._listener.batch_ended(None)
        elif ended and not self.unfinished:
            self._listener.batch_ended(None)

    def _pause(self) -> float | None:
        """Seconds until the next step is due."""
        times = []
        for batch in self.book.batches("sending", "sent"):
            there = now() - (batch.sent_at or batch.created_at)
            times.append(min(_MOST_LOOK_S, max(_LEAST_LOOK_S, there * _LOOK_SHARE)))
        if self.gatherer.ready:
            times.append(max(_LEAST_LOOK_S, self._held_until - now()))
        if self._live_after is not None and not self.was_live:
            times.append(max(_LEAST_LOOK_S, self._live_after - now()))
        return min(times, default=None)

    async def _look_up_key(self) -> None:
        if self._exchange.headers is not None:
            return
        try:
            key = (await asyncio.to_thread(self._key) or "").strip()
        except Exception as error:  # whatever the key store may throw
            log.warning("the key of %s: %s", self.name, type(error).__name__)
            key = ""
        if self._profile.api_key and not key:
            text = f"{self.name}: the key {self._profile.api_key} is not set. Set it as an environment variable."
            raise BatchFault(Fault("stop", Reason.NO_KEY, text))
        self._exchange.set_key(key)

    # Sending

    async def _send(self, batch: Batch) -> None:
        """Uploads and creates a batch. Its state records each step, for the case that the process is killed."""
        calls, size = self.book.measure(batch.number)
        if not calls:
            self.gatherer.ready.pop(batch.number, None)
            self.book.end(batch.number, "empty", counts=False)
            return
        if not self.gatherer.fits(calls, size):
            # It was gathered before the endpoint said how large one may be: its calls go into smaller ones.
            self.gatherer.ready.pop(batch.number, None)
            self._listener.batch_ended(self.book.end(batch.number, "too large", counts=False))
            return
        creating = False
        if self._alone(batch):
            self._sent_alone.add(batch.number)
        try:
            if batch.file is None:
                self.book.change(batch.number, calls=calls, bytes=size)
                batch = self.book.batch(batch.number)
                file = await self._api.upload(batch, lambda: self.book.lines(batch.number))
                self.book.change(batch.number, file=file)
            self.book.change(batch.number, state="sending", sent_at=now())
            batch = self.book.batch(batch.number)
            creating = True
            remote = await self._api.create(batch, lambda: self.book.lines(batch.number))
        except BatchFault as problem:
            self._not_sent(batch, problem, creating)
            return
        self.gatherer.ready.pop(batch.number, None)
        self.book.created(batch.number, remote.id)
        self._reached(batch.number)

    def _not_sent(self, batch: Batch, problem: BatchFault, creating: bool) -> None:
        """Handles a batch that was refused, or whose creation is uncertain."""
        fault = problem.fault
        unknown = fault.status is None or fault.status >= 500 or fault.status in (408, 409)
        if creating and problem.sent and fault.action in ("retry", "slow") and unknown and fault.status != 529:
            # It may be there: the endpoint is asked for it before anything else is sent.
            self.gatherer.ready.pop(batch.number, None)
            self._tell("waiting", f"{fault.text} Whether it took the batch will show.")
            return
        self.book.change(batch.number, state="gathered")
        throttled = (
            fault.status == 429
            and self._retries.get(batch.number, 0) >= _THROTTLED
            and batch.number in self._sent_alone
        )
        if fault.status == 413 or (batch.calls > 1 and (throttled or fault.reason is Reason.CONTEXT_LENGTH)):
            self.gatherer.ready.pop(batch.number, None)
            self._make_smaller(batch, fault.text)
            self._listener.batch_ended(self.book.end(batch.number, fault.text, counts=batch.calls <= 1))
        elif fault.action in ("stop", "stop_model", "fail", "refused") or fault.status in _NO_BATCHES:
            self._fail(replace(fault, action="stop"))
        else:
            self._hold(batch.number, fault)

    def _alone(self, batch: Batch) -> bool:
        """Whether no other batch is open whose end would make room."""
        return all(open_batch.number == batch.number for open_batch in self.book.batches("sending", "sent"))

    def _make_smaller(self, batch: Batch, why: str) -> None:
        self.gatherer.make_smaller(batch)
        self._tell("learned", f"{why} Going on with batches of {plural(self.gatherer.most_calls, 'call')}.")

    def _hold(self, number: int, fault: Fault, least: float | None = None) -> None:
        """Sends nothing for some time."""
        least = _BACKOFF_S if least is None else least
        self._retries[number] = tries = self._retries.get(number, 0) + 1
        wait = min(_MOST_BACKOFF_S, max(fault.wait or 0.0, least * 2.0 ** (tries - 1)))
        self._held_until = max(self._held_until, now() + wait)
        if fault.status == 429 or tries > 1:
            self._tell("waiting", f"{fault.text} The next batch is sent in {duration(wait)}.")

    async def _find(self, batch: Batch) -> bool:
        """Finds out whether a batch that was being sent was created. True where its calls continue without it."""
        remote = await self._api.find(batch, self.book.known_remotes())
        if isinstance(remote, RemoteBatch):
            self.book.created(batch.number, remote.id)
        elif remote is None and now() - (batch.sent_at or 0.0) >= LOST_S:
            self._listener.batch_ended(self.book.end(batch.number, "not created", counts=False))
            return True
        return False

    # Looking after

    async def _look(self, batch: Batch) -> bool:
        """Checks a batch and fetches its results. True where it has ended."""
        remote = await self._api.look(batch)
        if remote.done != batch.answered and remote.state == "running":
            self.book.change(batch.number, answered=remote.done)
        if remote.state == "running":
            return False
        taken = 0
        results: list[BatchResult] = []
        async with aclosing(self._api.results(remote)) as brought:  # type: ignore[type-var]
            async for result in brought:
                results.append(result)
                if len(results) >= _TAKEN:
                    taken += await asyncio.to_thread(self.book.take_results, batch.number, results)
                    results = []
        if results:
            taken += await asyncio.to_thread(self.book.take_results, batch.number, results)
        self.book.change(batch.number, answered=max(taken, batch.answered))
        refused = remote.state == "failed"
        # By now another may have ended that was in its way.
        alone = batch.number in self._sent_alone
        pairs = self.book.end(batch.number, remote.message, counts=not remote.full)
        if remote.full:
            self._no_room(batch, remote.message, alone)
        else:
            # Its end makes room for those that wait for some.
            self._held_until = 0.0
        if refused and not remote.full and not taken:
            self._fail(Fault("stop", Reason.BAD_REQUEST, self._say(f"the batch was refused: {remote.message}")))
        self._listener.batch_ended(pairs)
        return True

    def _no_room(self, batch: Batch, message: str, alone: bool) -> None:
        """Too much is queued: others go first, or the batch alone exceeds the queue of the endpoint."""
        why = self._say(message)
        if alone and batch.calls > 1:
            self._make_smaller(batch, why)
        wait = _FULL_S if alone else _MOST_BACKOFF_S
        self._held_until = max(self._held_until, now() + wait)
        if not alone:
            self._tell("waiting", f"{why} The next batch is sent when one has ended.")

    def _put_off(self, batch: Batch, fault: Fault) -> bool:
        """Checks again later after a failed check; gives a batch up that no longer exists. True where it does."""
        if fault.action in ("stop", "stop_model") and fault.status not in (404, 405):
            raise BatchFault(fault)
        tries = self._retries[batch.number] = self._retries.get(batch.number, 0) + 1
        if fault.status in (404, 410) and tries >= _MISSING:
            self._listener.batch_ended(self.book.end(batch.number, fault.text))
            return True
        wait = max(fault.wait or 0.0, min(_MOST_LOOK_S, _LEAST_LOOK_S * 2.0 ** (tries - 1)))
        self._again_at[batch.number] = now() + wait
        if tries == _MISSING:
            self._away = fault.text
            self._tell("away", f"{fault.text} The batches go on there; it is asked again.")
        return False

    def _reached(self, number: int) -> None:
        self._retries.pop(number, None)
        self._again_at.pop(number, None)
        if self._away:
            self._away = ""
            self._tell("open", f"{self.name} answers again.")

    async def _call_in(self) -> None:
        """The deadline has passed: unsent batches are not sent, and open ones are cancelled."""
        for number in self.gatherer.give_up():
            self._listener.batch_ended(self.book.end(number, "not sent: the deadline had passed", counts=False))
        for batch in self.book.batches("sent"):
            if batch.number in self._cancelled:
                continue
            with suppress(BatchFault):
                await self._api.cancel(batch)
            self._cancelled.add(batch.number)
        if self._cancelled_at is None:
            self._cancelled_at = now()

    # Words

    def _say(self, text: str) -> str:
        return self._exchange.say(text, "")

    def _tell(self, state: Any, message: str) -> None:
        self._on_state(EndpointState(self.name, state, message))

    def _fail(self, fault: Fault) -> None:
        if fault.action in ("retry", "slow", "unreachable"):
            return
        text = fault.text
        if fault.status in _NO_BATCHES:
            text = f"{text} It seems to take no batches: leave --batch out, and it is asked live."
        self._stopped(EndpointStopped(fault.reason, text, status=fault.status))

    def _stopped(self, stop: EndpointStopped) -> None:
        self._stop = stop
        self._listener.batches_stopped(self.name, stop)

    def _tell_standing(self) -> None:
        standing = self.standing()
        if standing != self._told and (standing.batches or self._told is not None):
            self._told = standing
            self._listener.batches_stand(standing)

    def standing(self) -> BatchStanding:
        """The state of the batches; all counts are 0 where there are none."""
        there = self.book.batches("sending", "sent")
        if not there:
            layer = 0 if self._told is None else self._told.layer
            return BatchStanding(self.name, layer, 0, 0, 0, None, self._overdue)
        layers = self.book.layers(batch.number for batch in there)
        usual = self.book.usual_duration()
        ends: list[float | None] = [_end_of(batch, usual) for batch in there]
        known = [end for end in ends if end is not None]
        return BatchStanding(
            self.name,
            min(layers, default=0),
            len(there),
            sum(batch.answered for batch in there),
            sum(batch.calls for batch in there),
            _rounded(max(known)) if known and len(known) == len(ends) else None,
            self._overdue,
        )


def _rounded(until: float) -> float:
    """A time to the minute, or to the second where it is near, so that messages about it do not change all the time."""
    step = 60.0 if until - now() > 120.0 else 1.0
    return round(until / step) * step


def _end_of(batch: Batch, usual: float | None) -> float | None:
    """When a batch should have ended: by its progress, else by the time that others took."""
    sent = batch.sent_at or batch.created_at
    if batch.answered and batch.calls:
        return sent + (now() - sent) * batch.calls / batch.answered
    return None if usual is None else sent + usual
