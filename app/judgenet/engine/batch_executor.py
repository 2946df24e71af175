"""Runs a network in batches: a call is put into a batch, and its pair is set aside until the batch is back.

A waiting pair takes no memory: when its answers are there it is begun again and uses what is kept already, like a
resumed run. So a layer of all pairs makes one batch (or as many as the endpoint's limits need), and a run that was
stopped continues in the same way.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from judgenet.core.batches import batch_words, layer_words, stages_of
from judgenet.core.calls import ROLES_LAYER, CallSite
from judgenet.core.evaluation import Reason, Unscored
from judgenet.core.events import BatchesChanged, Event, LayerFinished, RolesFound
from judgenet.engine.asked_calls import AskedCall, EndedCall, Lane, pictures_of, request_of
from judgenet.engine.asking import LENGTH_FACTOR, LENGTH_MOST, AskedAnswer
from judgenet.engine.batch_desk import BatchDesk, BatchStanding
from judgenet.engine.budget import Reserve
from judgenet.engine.client import HttpEndpoint, body_of, fault_of_result, learn_refusal, whole_reply
from judgenet.engine.executor import Executor
from judgenet.engine.pairs_under_way import Emit, PairsUnderWay, RunPlan
from judgenet.engine.ports import (
    CallFailed,
    ChatReply,
    ChatRequest,
    Endpoint,
    EndpointStopped,
    FormRefused,
    PicturesRefused,
    Usage,
)
from judgenet.engine.questions import Questions
from judgenet.engine.work import Call
from judgenet.store.batch_book import BatchCall, forget_batch_call
from judgenet.store.db import Store, now
from judgenet.store.runs import LONGER, Answer, RecordedAnswer, pair_call_rows, retryable

log = logging.getLogger(__name__)

_MOST_KEEPING = 1024
"""Answers of batches stay in the book until they are kept."""

MOST_TRIES = 3
"""A call that so many batches brought no answer to has failed, as after its retries."""


class PairsSetAside(PairsUnderWay):
    """The pairs of a run in batches. A pair with nothing left but calls in batches is set aside."""

    def __init__(
        self,
        plan: RunPlan,
        store: Store,
        questions: Questions,
        emit: Emit,
        call_soon: Callable[[Callable[[], None]], None],
    ) -> None:
        super().__init__(plan, store, questions, self._tell, call_soon)
        self._tell_on = emit
        self._open: dict[int, int] = {}
        """The calls of a pair under way that have not ended and are in no batch."""
        self._waiting: set[int] = set()
        """Pairs under way with a call in a batch."""
        self._aside: set[int] = set()
        self._woken: deque[int] = deque()
        self._woken_early: set[int] = set()
        self._on_disk: dict[int, frozenset[CallSite]] = {}
        self._new_layers: dict[int, set[int]] = {}
        """The layers of a pair under way of which a call came in since it was taken up."""
        self.takes_new = True

    def _tell(self, event: Event) -> None:
        """Reports roles and layers once, however often their pair is begun."""
        if isinstance(event, LayerFinished) and event.layer not in self._new_layers.get(event.pair, ()):
            return
        if isinstance(event, RolesFound) and ROLES_LAYER not in self._new_layers.get(event.pair, ()):
            return
        self._tell_on(event)

    def __bool__(self) -> bool:
        return bool(self._active or self.set_aside)

    @property
    def set_aside(self) -> int:
        """How many pairs wait for batches."""
        return len(self._aside) + len(self._woken)

    def take_up(self) -> Sequence[Call] | None:
        if self._woken:
            index = self._woken.popleft()
            rows = pair_call_rows(self._store, self._plan.run, index)
            self._on_disk[index] = frozenset(row.site for row in rows if not retryable(row.result))
            return self._begin(index)
        return super().take_up() if self.takes_new else None

    def _begin(self, index: int) -> Sequence[Call]:
        calls = super()._begin(index)
        self._open[index] = len(calls)
        return calls

    def on_disk(self, site: CallSite) -> bool:
        """Whether this start has reported a call already, before its pair was set aside."""
        return site in self._on_disk.get(site.pair, ())

    def advance(self, ended: EndedCall) -> Sequence[Call]:
        index, layer = ended.call.site.pair, ended.call.site.layer
        if not self.on_disk(ended.call.site):
            self._new_layers.setdefault(index, set()).add(layer)
        ready = super().advance(ended)
        if index not in self._active:
            for by_pair in (self._open, self._on_disk, self._new_layers):
                by_pair.pop(index, None)
            self._waiting.discard(index)
            return ready
        self._open[index] += len(ready) - 1
        self._look(index)
        return ready

    def wait(self, call: Call) -> None:
        """Notes a call as being in a batch, or as waiting for the part of the budget that a batch leaves."""
        index = call.site.pair
        self._open[index] -= 1
        self._waiting.add(index)
        self._look(index)

    def _look(self, index: int) -> None:
        if self._open[index] or index not in self._waiting:
            return
        self._waiting.discard(index)
        for by_pair in (self._active, self._open, self._on_disk, self._new_layers):
            by_pair.pop(index, None)
        if index in self._woken_early:
            self._woken_early.discard(index)
            self._woken.append(index)
        else:
            self._aside.add(index)

    def wake(self, pairs: Iterable[int] | None) -> None:
        """Lets pairs continue whose batches are back; ``None``: all."""
        for index in sorted(self._aside | self._waiting) if pairs is None else pairs:
            if index in self._aside:
                self._aside.discard(index)
                self._woken.append(index)
            elif index in self._waiting:
                self._woken_early.add(index)


class BatchExecutor(Executor):
    """One start of a run whose calls to some endpoints go in batches. ``desks`` are those endpoints' batches by name.

    The first call to a model that never answered is made live: a wrong key or a refused parameter must show now, and
    not the next day in each call of a batch.
    """

    def __init__(
        self,
        plan: RunPlan,
        store: Store,
        endpoints: Mapping[str, Endpoint],
        desks: Mapping[str, BatchDesk],
        emit: Emit,
    ) -> None:
        super().__init__(plan, store, endpoints, emit)
        self._desks = desks
        for name in desks:
            self._lanes[name].most_keeping = _MOST_KEEPING
        self._pairs = self._aside = PairsSetAside(plan, store, self._questions, emit, self._call_soon)
        self._probing: dict[tuple[str, str], list[Call]] = {}
        self._proven: set[tuple[str, str]] = set()
        self._too_dear: set[int] = set()
        """Pairs with a call that the budget had no room for when it was last tried."""
        self._stages = stages_of(plan.spec)

    async def run(self) -> Any:
        for desk in self._desks.values():
            desk.start(self)
            self._spending.hold(*desk.book.held())
        return await super().run()

    def resume(self) -> None:
        for desk in self._desks.values():
            desk.resume()
        super().resume()

    def cancel(self) -> None:
        left = " and ".join(words for desk in self._desks.values() if (words := desk.words_left()))
        if not left:
            super().cancel()
            return
        self._cancelled = True
        self._finish("cancelled", f"Stopped here. Still out: {left}. The same command takes their answers in.")

    def look_again(self) -> None:
        self._aside.wake(self._too_dear)
        self._too_dear.clear()
        self._aside.takes_new = True
        super().look_again()

    # What the desks tell

    def batch_ended(self, pairs: list[int] | None) -> None:
        self._aside.wake(None if pairs is None else [*pairs, *self._too_dear])
        self._aside.takes_new = True
        self._too_dear.clear()
        self._pump()

    def batches_stopped(self, endpoint: str, stop: EndpointStopped) -> None:
        self._stopped(self._lanes[endpoint], stop)
        self._pump()

    def _stopped(self, lane: Lane, stop: EndpointStopped) -> None:
        super()._stopped(lane, stop)
        # The calls are with pairs that are set aside: no call is there to be sent on.
        self._stand_ins.step_in(lane.endpoint.name, stop.model)

    def batches_stand(self, standing: BatchStanding) -> None:
        stage = self._stages.index(standing.layer) + 1 if standing.layer in self._stages else 1
        until = standing.until
        message = batch_words(
            stage,
            len(self._stages),
            layer_words(standing.layer, self._plan.spec.depth),
            standing.answered,
            standing.calls,
            None if until is None else until - now(),
            overdue=standing.overdue,
        )
        self._emit(
            BatchesChanged(
                self._run_id,
                standing.endpoint,
                stage,
                len(self._stages),
                standing.layer,
                standing.batches,
                standing.answered,
                standing.calls,
                until,
                message,
            )
        )

    # The end

    def _check_end(self) -> None:
        if self._tasks or self._uncommitted or self._paused or self._cancelled or self._trouble or self._probing:
            return
        if self._pairs.enough is None and self._waits_for_batches():
            return
        super()._check_end()

    def _waits_for_batches(self) -> bool:
        """Sends the gathered calls. True where the run continues when batches are back, or at once."""
        waits = False
        for name, desk in self._desks.items():
            if not self._lanes[name].stopped:
                desk.submit()
                waits = waits or desk.unfinished
        if not self._aside.set_aside:
            return False
        if waits:
            return True
        if self._too_dear:
            self._budget_full = True
            return False
        if all(lane.stopped for lane in self._lanes.values()):
            return False
        self._aside.wake(None)
        self._call_soon(self._pump)
        return True

    # One call

    def _start(self, call: Call, lane: Lane) -> bool:
        own = call.instead_of
        if own is not None and (desk := self._desks.get(own.settings.endpoint or "")) is not None:
            asked = self._own_call(call)
            row = desk.book.call(asked.question.key)
            if row is not None and row.state == "answered":
                # A batch brought the own model's answer before its endpoint stopped.
                return super()._start(own, asked.lane)
        return super()._start(call, lane)

    def _take_recorded(self, asked: AskedCall, answer: RecordedAnswer) -> None:
        desk = self._desks.get(asked.lane.endpoint.name)
        awaited = self._kept.awaited_key(asked)
        if desk is not None and answer.key < awaited and desk.book.call(awaited) is not None:
            # The old answer could not be read, and a batch brings another.
            asked.question = replace(asked.question, key=awaited)
            self._send(asked)
        elif self._aside.on_disk(asked.call.site):
            result, _ = self._kept.read(asked, answer)
            ended = EndedCall(asked.call, result, None, Usage(), None, 0.0, 0, cached=True)
            self._enqueue(self._aside.advance(ended))
        else:
            super()._take_recorded(asked, answer)

    def _send(self, asked: AskedCall) -> bool:
        desk = self._desks.get(asked.lane.endpoint.name)
        if desk is None:
            return super()._send(asked)
        if asked.question.prompt.pictures and not asked.pictures:
            self._load_pictures(asked)
            return True
        row = desk.book.call(asked.question.key)
        if row is not None:
            asked.in_batch = True
            asked.reserve = Reserve(row.tokens, row.price)
            if row.state in ("answered", "refused"):
                self._take_in(desk, asked, row)
                return False
            if row.state == "waiting" and not desk.live:
                self._wait(asked)
                return False
            if row.earlier is not None and (desk.live or row.tries >= MOST_TRIES):
                self._take_answer(desk, asked, replace(row, result=row.earlier, earlier=None), cut=True)
                return False
            if not desk.live and row.tries >= MOST_TRIES:
                self._fails(asked, Reason.TIMEOUT, f"{row.tries} batches brought no answer", row.tries)
                return False
        if desk.live:
            return self._send_live(desk, asked, row)
        if row is None and not self._is_proven(desk, asked):
            return self._probe(asked)
        self._put(desk, asked, row)
        return False

    def _load_pictures(self, asked: AskedCall) -> None:
        async def load() -> None:
            try:
                asked.pictures = await pictures_of(asked.question, self._pictures)
                self._send(asked)
            except Exception as error:
                log.exception("the pictures of %s of %s", asked.call.site, self._run_id)
                self._fails(asked, Reason.INTERNAL, f"{type(error).__name__}: {error}", 1)
            finally:
                asked.lane.in_flight -= 1
                if (task := asyncio.current_task()) is not None:
                    self._tasks.discard(task)
                self._pump()

        asked.lane.in_flight += 1
        self._tasks.add(asyncio.get_running_loop().create_task(load()))

    def _send_live(self, desk: BatchDesk, asked: AskedCall, row: BatchCall | None) -> bool:
        if row is not None:
            self._spending.give_back(Reserve(row.tokens, row.price), asked=False)
            desk.book.forget(row.key)
        asked.in_batch, asked.reserve = False, None
        room = self._spending.reserve(asked, asked.question.parameters.max_tokens)
        if room is None:
            self._put_aside(asked)
            return False
        self._spending.give_back(room, asked=False)
        return super()._send(asked)

    def _put_aside(self, asked: AskedCall) -> None:
        """Holds a call back that the budget has no room for: open calls may cost less than reserved, and it is tried
        again then. No new pair is begun meanwhile."""
        self._kept.forget(asked)
        self._too_dear.add(asked.call.site.pair)
        self._aside.takes_new = False
        self._aside.wait(asked.call)

    def _is_proven(self, desk: BatchDesk, asked: AskedCall) -> bool:
        if asked.model in self._proven:
            return True
        model = asked.question.parameters.model
        if asked.lane.endpoint.known(model) or desk.book.asked_before(model):
            self._proven.add(asked.model)
            return True
        return False

    def _probe(self, asked: AskedCall) -> bool:
        """Makes the first call to a model live; the others wait for it."""
        if (held := self._probing.get(asked.model)) is not None:
            held.append(asked.call)
            return False
        sent = super()._send(asked)
        if sent:
            self._probing[asked.model] = []
        return sent

    async def _ask(self, asked: AskedCall) -> None:
        at = asked.model
        try:
            await super()._ask(asked)
        finally:
            held = self._probing.pop(at, None)
            if held is not None:
                self._enqueue(held)
                self._pump()

    def _wait(self, asked: AskedCall) -> None:
        # What it may use stays held: its row says how much.
        asked.reserve = None
        self._aside.wait(asked.call)

    def _put(
        self, desk: BatchDesk, asked: AskedCall, row: BatchCall | None, limit: int = 0, earlier: bytes | None = None
    ) -> None:
        """Adds a call to the batch that is being filled."""
        asked.in_batch = True
        limit = limit or (row.max_tokens if row is not None else asked.question.parameters.max_tokens)
        request = request_of(asked, limit)
        try:
            body, applied = body_of(_http(asked), request)
        except FormRefused:
            self._put_in_other_form(desk, asked, row)
            return
        except EndpointStopped as stop:
            asked.reserve = None
            self._stopped(asked.lane, stop)
            self._enqueue([asked.call])
            return
        if asked.reserve is None:
            asked.reserve = self._spending.reserve(asked, limit)
        if asked.reserve is None:
            self._put_aside(asked)
            return
        site = asked.call.site
        desk.gatherer.put(
            asked.question.key,
            request.model,
            body,
            asked.reserve,
            pair=site.pair,
            layer=site.layer,
            max_tokens=limit,
            applied=applied,
            before=row,
            earlier=earlier,
        )
        self._wait(asked)

    def _put_in_other_form(self, desk: BatchDesk, asked: AskedCall, row: BatchCall | None) -> None:
        """The endpoint refuses the schema by now: the call is put again as another question."""
        if row is not None:
            self._spending.give_back(Reserve(row.tokens, row.price), asked=False)
            desk.book.forget(row.key)
        asked.reserve = None
        self._kept.forget(asked)
        if asked.lane.endpoint.form(asked.question.parameters.model) == asked.question.form:
            self._failed(asked, Reason.BAD_REQUEST, "the endpoint refuses each form of reply", 1, now())
        else:
            self._enqueue([asked.call])

    # What a batch brought

    def _take_in(self, desk: BatchDesk, asked: AskedCall, row: BatchCall) -> None:
        if row.state == "answered":
            self._take_answer(desk, asked, row)
            return
        http, request = _http(asked), request_of(asked, row.max_tokens)
        fault = fault_of_result(http, request, row.result or b"", row.status or 500)
        if fault.action in ("refused", "fail") and row.tries < MOST_TRIES and self._learned_since(http, request, row):
            self._put(desk, asked, row)
        elif fault.action == "refused" and row.tries < MOST_TRIES:
            try:
                learn_refusal(http, request, fault)
            except CallFailed as failure:
                self._fails(asked, failure.reason, str(failure), row.tries)
                return
            self._put(desk, asked, row)
        elif fault.action in ("stop", "stop_model", "blind"):
            desk.book.mark(row.key, "unanswered")
            asked.reserve = None
            self._enqueue([asked.call])
            model = None if fault.action == "stop" else asked.question.parameters.model
            kind = PicturesRefused if fault.action == "blind" else EndpointStopped
            self._stopped(asked.lane, kind(fault.reason, fault.text, status=fault.status, model=model))
        elif fault.action == "fail" or row.tries >= MOST_TRIES:
            if row.earlier is not None:
                self._take_answer(desk, asked, replace(row, result=row.earlier, earlier=None), cut=True)
            else:
                self._fails(asked, fault.reason, fault.text, row.tries)
        elif desk.live:
            self._send_live(desk, asked, row)
        else:
            self._put(desk, asked, row)

    @staticmethod
    def _learned_since(http: HttpEndpoint, request: ChatRequest, row: BatchCall) -> bool:
        """Whether the request would be sent differently now than when it went into its batch."""
        try:
            return body_of(http, request)[1] != (json.loads(row.applied) if row.applied else {})
        except (FormRefused, EndpointStopped):
            return True

    def _take_answer(self, desk: BatchDesk, asked: AskedCall, row: BatchCall, *, cut: bool = False) -> None:
        """Keeps an answer of a batch. A cut one is requested once more with more room; with ``cut`` it was, without a
        better answer."""
        http, request = _http(asked), request_of(asked, row.max_tokens)
        applied = json.loads(row.applied) if row.applied else {}
        reply = whole_reply(http, request, row.result or b"", applied, row.tries)
        if not isinstance(reply, ChatReply):
            if desk.live or row.tries >= MOST_TRIES:
                self._fails(asked, reply.reason, reply.text, row.tries)
            else:
                self._put(desk, asked, row)
            return
        reply = self._kept.with_likely(asked, reply)
        result, rule = self._kept.read(asked, reply)
        usage = reply.usage
        cut_short = reply.finish_reason == "length" and isinstance(result, Unscored)
        if cut_short and row.earlier is None and not cut and self._put_longer(desk, asked, row):
            return
        if row.earlier is not None:
            first = whole_reply(http, request, row.earlier, {}, 1)
            usage = usage.plus(first.usage) if isinstance(first, ChatReply) else usage
            reply = replace(reply, applied={**reply.applied, LONGER: row.max_tokens})
        self._proven.add(asked.model)
        asked.lane.opened = True
        self._followers[asked.question.key] = []
        batch = desk.book.batch(row.batch).id
        self._answered(asked, AskedAnswer(replace(reply, batch=batch), result, rule, usage, row.tries), now())

    def _put_longer(self, desk: BatchDesk, asked: AskedCall, row: BatchCall) -> bool:
        limit = min(row.max_tokens * LENGTH_FACTOR, LENGTH_MOST)
        if limit <= row.max_tokens or desk.live:
            return False
        more = self._spending.reserve(asked, limit)
        if more is None or asked.reserve is None:
            return False
        asked.reserve = Reserve(asked.reserve.tokens + more.tokens, asked.reserve.price + more.price)
        self._put(desk, asked, row, limit, earlier=row.result)
        return True

    def _fails(self, asked: AskedCall, reason: Reason, detail: str, attempts: int) -> None:
        self._not_answered(asked)
        self._failed(asked, reason, detail, attempts, now())

    def _keep(
        self, asked: AskedCall, ended: EndedCall, rule: str, answer: Answer | int | None, started_at: float
    ) -> None:
        super()._keep(asked, ended, rule, answer, started_at)
        key = asked.question.key
        if asked.in_batch:
            # Behind what came of it: whatever happens between the two, the next start finds it among the answers.
            self._store.put(lambda db: forget_batch_call(db, key))


def _http(asked: AskedCall) -> HttpEndpoint:
    endpoint = asked.lane.endpoint
    assert isinstance(endpoint, HttpEndpoint)
    return endpoint
