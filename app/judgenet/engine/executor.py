"""Runs a network over pairs: asks, reads, keeps, and goes on when inputs are ready.

Everything here runs on the engine's loop. Pairs are taken up one after the other and worked on side by side,
older ones first, so that calls that share a prompt's beginning follow each other and pairs finish early. At most
``concurrency`` calls per endpoint are in flight; nothing else waits inside the HTTP client. At most as many again
have their answer and are not on disk yet, so that a kill loses a bounded number of paid answers, however slow the disk.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judgenet.core.calls import ROLES_LAYER
from judgenet.core.evaluation import Evaluation, Reason, Unscored
from judgenet.core.events import (
    CallFinished,
    CallStarted,
    CallText,
    EndpointChanged,
    Event,
    LayerFinished,
    PairFinished,
    RolesFound,
    RunChanged,
    RunFinished,
    RunStarted,
    RunStatus,
    StoreTrouble,
)
from judgenet.core.network import NetworkError, NetworkSpec
from judgenet.core.pairs import Pair
from judgenet.core.plan import Price, PriceTable, cost_of
from judgenet.core.prompts import PromptBook
from judgenet.core.tokens import estimate_tokens
from judgenet.core.wording import plural
from judgenet.engine.budget import Budget, Limits, Reserve, Used
from judgenet.engine.ports import (
    CallFailed,
    ChatReply,
    ChatRequest,
    Endpoint,
    EndpointStopped,
    FormRefused,
    Usage,
)
from judgenet.engine.questions import CallResult, FallbackRoles, Question, Questions
from judgenet.engine.steering import InOrder, Steering
from judgenet.engine.work import Call, PairWork
from judgenet.store.db import Store, now
from judgenet.store.runs import (
    LONGER,
    Answer,
    Outcome,
    PairState,
    RecordedAnswer,
    RunInfo,
    next_key,
    recorded,
    retryable,
    set_run_state,
    write_outcome,
    write_pair,
)

log = logging.getLogger(__name__)

Emit = Callable[[Event], None]

LENGTH_FACTOR = 4
"""A cut answer is asked once more with this many times the limit."""
LENGTH_MOST = 16_384
_LOOKED_UP = 64
"""Recorded calls taken in before the loop gets a turn for other things."""
_SENT = 4
_PAUSE_S = 0.002
"""So many calls are sent at once, the next after this pause: calls that start together end together, and a
burst of answers keeps all of them waiting for the slowest."""
_PATIENCE_S = 0.5
"""How long the end of a run waits for a store that cannot be written."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """All that a start of a run needs. ``states`` are the pairs' states from earlier starts, by index; ``kinds`` are
    the kinds of the endpoints by name, for prices. ``chosen`` are the pairs that this start works on, ``None`` for all.

    ``stream`` asks for answers piece by piece. ``roles_only`` asks for the pairs' roles and leaves the rest open.
    ``again`` asks once more for answers that are kept and cannot be read. ``steering`` chooses the order of the pairs
    and may end the run; without it all are taken up as they come. ``begun`` are the pairs of which earlier starts asked
    something, where the run may end before it asks of all.
    """

    run: RunInfo
    spec: NetworkSpec
    pairs: Sequence[Pair]
    states: Sequence[PairState]
    book: PromptBook
    salt: str
    prices: PriceTable
    fallback_roles: FallbackRoles
    calls_planned: int
    kinds: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    stream: bool = False
    chosen: frozenset[int] | None = None
    roles_only: bool = False
    again: bool = False
    steering: Steering | None = None
    begun: frozenset[int] = frozenset()

    def asks(self, index: int) -> bool:
        """Whether this start works on a pair."""
        return self.states[index] != "done" and (self.chosen is None or index in self.chosen)


@dataclass(slots=True, eq=False)
class _Lane:
    """The calls of one endpoint."""

    endpoint: Endpoint
    ready: list[tuple[tuple[int, int, int, int, int], Call]] = field(default_factory=list)
    in_flight: int = 0
    keeping: int = 0
    """Answers that are not on disk yet."""
    opened: bool = False
    stopped: str = ""
    stopped_models: dict[str, str] = field(default_factory=dict)
    held: list[Call] = field(default_factory=list)

    @property
    def room(self) -> bool:
        # The first call goes alone: a wrong key or a refused parameter shows before a second one is sent.
        most = self.endpoint.concurrency if self.opened else 1
        return not self.stopped and self.in_flight < most and self.keeping < self.endpoint.concurrency


@dataclass(slots=True, eq=False)
class _Asked:
    """A call with its question, ready to be sent or in flight."""

    call: Call
    lane: _Lane
    question: Question
    reserve: Reserve | None = None
    tokens_in: int = 0
    """The estimate of the prompt's tokens, where a limit needs one."""


@dataclass(slots=True, eq=False)
class _Ended:
    """A call that ended: what it came to, and what it used. ``key`` is set where a new answer was kept."""

    call: Call
    result: CallResult
    key: bytes | None
    usage: Usage
    price: float | None
    latency_s: float
    attempts: int
    cached: bool = False


class Executor:
    """One start of a run."""

    def __init__(self, plan: RunPlan, store: Store, endpoints: Mapping[str, Endpoint], emit: Emit) -> None:
        self._plan = plan
        self._store = store
        self._emit = emit
        self._run_id = plan.run.id
        self._lanes = {name: _Lane(endpoint) for name, endpoint in endpoints.items()}
        self._budget = Budget(plan.limits)
        self._steering = plan.steering or InOrder(range(len(plan.pairs)))
        self._turn = 0
        self._begun = set(plan.begun)
        self._active: dict[int, PairWork] = {}
        self._done = sum(state == "done" for state in plan.states)
        self._left = len(plan.pairs) - self._done - sum(plan.asks(index) for index in range(len(plan.pairs)))
        self._asking: dict[bytes, list[Call]] = {}
        self._again: dict[bytes, bytes] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._uncommitted = 0
        self._paused = False
        self._cancelled = False
        self._trouble = ""
        self._budget_full = False
        self._pumping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Future[tuple[RunStatus, str]] | None = None
        self._models: set[tuple[str, str]] = set()
        self._prices: dict[tuple[str, str], Price | None] = {}
        self._excess: dict[tuple[str, str], float] = {}
        self._forms = store.forms()
        self._questions = Questions(plan.spec, plan.book, plan.salt, plan.fallback_roles)
        self._most_active = max(64, 2 * sum(lane.endpoint.concurrency for lane in self._lanes.values()))

    @property
    def used(self) -> Used:
        """What this start has used up of its limits."""
        return Used(self._budget.calls, self._budget.tokens, self._budget.price)

    # Control, on the engine's loop

    async def run(self) -> RunFinished:
        """Runs to the end: all pairs done, a limit reached, all endpoints stopped, or cancelled."""
        self._loop = asyncio.get_running_loop()
        self._end = self._loop.create_future()
        self._store.on_trouble(lambda message: self._call_soon(lambda: self._on_trouble(message)))
        self._store.on_failure(lambda message: self._call_soon(lambda: self._finish("failed", message)))
        pairs = self._plan.pairs
        self._emit(RunStarted(self._run_id, len(pairs), self._done, self._plan.calls_planned, self._left))
        if self._cancelled:
            self.cancel()
        self._pump()
        try:
            state, message = await self._end
        except asyncio.CancelledError:
            self._cancelled = True
            state, message = "cancelled", "The program ended the run."
        except Exception as error:
            log.exception("run %s failed", self._run_id)
            state, message = "failed", f"{type(error).__name__}: {error}"
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5)
        known = self._steering.enough
        record = {} if known is None else known.record
        set_run_state(self._store, self._run_id, state, message, learned=self._learned(), **record)
        if not await asyncio.to_thread(self._store.flush, _PATIENCE_S):
            state, message = self._unkept(state, message)
        finished = RunFinished(self._run_id, state, message, self._done, len(pairs))
        self._emit(finished)
        return finished

    def _unkept(self, state: RunStatus, message: str) -> tuple[RunStatus, str]:
        """How a run ends that the store does not take: never well, and with what is to be done."""
        trouble = self._store.trouble
        words = ["Stopped." if state == "cancelled" else message]
        if trouble is not None:
            words.append(trouble.what)
        if self._uncommitted and not (trouble is not None and trouble.gone):
            calls = "1 finished call is" if self._uncommitted == 1 else f"{self._uncommitted:,} finished calls are"
            words.append(f"{calls} not kept and will be asked again.")
        if trouble is not None:
            words.append(trouble.afterwards)
        return "failed" if state == "done" else state, " ".join(word for word in words if word)

    def pause(self) -> None:
        """Sends nothing more; what is in flight comes in."""
        if not self._paused:
            self._paused = True
            for lane in self._lanes.values():
                lane.endpoint.pause()
            self._emit(RunChanged(self._run_id, "paused"))

    def resume(self) -> None:
        """Goes on after :meth:`pause`, and tries stopped endpoints again."""
        self._paused = False
        for lane in self._lanes.values():
            lane.endpoint.resume()
            lane.stopped = ""
            lane.stopped_models.clear()
            lane.opened = False
            held, lane.held = lane.held, []
            self._enqueue(held)
        self._emit(RunChanged(self._run_id, "running"))
        self._pump()

    def cancel(self) -> None:
        """Ends the run now. Calls in flight are given up; all finished ones are kept."""
        self._cancelled = True
        self._finish("cancelled", "Stopped. The same command goes on from here.")

    def _finish(self, state: RunStatus, message: str) -> None:
        if self._end is not None and not self._end.done():
            self._end.set_result((state, message))

    def _call_soon(self, action: Callable[[], None]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(action)

    def _on_trouble(self, message: str) -> None:
        if message == self._trouble:
            return  # told already: the store tries again and again
        self._trouble = message
        self._emit(StoreTrouble(self._run_id, message))
        if not message:
            self._pump()

    def _learned(self) -> dict[str, Any]:
        learned: dict[str, Any] = {}
        for name, model in sorted(self._models):
            learned.setdefault(name, {})[model] = self._lanes[name].endpoint.learned(model)
        return learned

    # The pump: starts what can be started

    def _pump(self) -> None:
        if self._pumping or self._end is None or self._end.done():
            return
        self._pumping = True
        try:
            looked_up = sent = 0
            while not (self._paused or self._trouble or self._cancelled or self._budget_full or self._steering.enough):
                self._admit()
                lane = next((lane for lane in self._lanes.values() if lane.ready and lane.room), None)
                if lane is None:
                    break
                if sent >= _SENT or looked_up >= _LOOKED_UP:
                    asyncio.get_running_loop().call_later(_PAUSE_S if sent else 0.0, self._pump)
                    return
                call = heapq.heappop(lane.ready)[1]
                if call.settings.model in lane.stopped_models:
                    lane.held.append(call)
                    continue
                if self._start(call, lane):
                    sent += 1
                else:
                    looked_up += 1
        except Exception as error:
            log.exception("run %s failed", self._run_id)
            if not self._end.done():
                self._end.set_exception(error)
            return
        finally:
            self._pumping = False
        self._check_end()

    def _admit(self) -> None:
        """Takes up pairs while some endpoint has room and nothing ready."""
        while len(self._active) < self._most_active and any(
            lane.room and not lane.ready for lane in self._lanes.values()
        ):
            index = self._next_pair()
            if index is None:
                return
            self._take_up(index)

    def _next_pair(self) -> int | None:
        """The next pair that this start works on; ``None`` where there is none now."""
        while (index := self._steering.next_pair()) is not None:
            if self._plan.asks(index):
                return index
        return None

    def _take_up(self, index: int) -> None:
        work, calls = self._questions.take_up(index, self._plan.pairs[index])
        if not calls:
            raise NetworkError(f"The network asks nothing of pair {work.pair.id}: it has no neuron.")
        work.turn = self._turn
        self._turn += 1
        self._active[index] = work
        self._enqueue(calls)

    def _enqueue(self, calls: Sequence[Call]) -> None:
        for call in calls:
            lane = self._lanes[call.settings.endpoint or ""]
            heapq.heappush(lane.ready, (call.rank, call))

    def _check_end(self) -> None:
        if self._tasks or self._uncommitted or self._paused or self._cancelled or self._trouble:
            return
        if (enough := self._steering.enough) is not None:
            left = len(self._plan.pairs) - len(self._begun)
            self._finish("enough", f"{enough.message} Not asked: {plural(left, 'pair')}.")
        elif self._budget_full:
            self._finish("budget", f"Stopped by the limit: {self._budget.spent_up} used.")
        elif not self._active:
            if self._left:
                are = "are" if self._left != 1 else "is"
                self._finish(
                    "cancelled", f"Finished what was chosen; {plural(self._left, 'pair')} {are} left for another start."
                )
            else:
                self._finish("done", "")
        elif any(lane.ready and not lane.stopped for lane in self._lanes.values()):
            return
        else:
            stops = [
                message if message.startswith(name) else f"{name}: {message}"
                for name, lane in self._lanes.items()
                for message in ([lane.stopped] if lane.stopped else lane.stopped_models.values())
            ]
            self._finish("halted", "; ".join(stops))

    # One call

    def _start(self, call: Call, lane: _Lane) -> bool:
        """Sends a call, or takes its recorded answer; true where it was sent."""
        try:
            form = lane.endpoint.form(call.settings.model or "")
            asked = _Asked(call, lane, self._questions.question(call, form))
        except Exception as error:
            log.exception("call %s of %s cannot be made", call.site, self._run_id)
            self._finish("failed", f"pair {call.work.pair.id}: {type(error).__name__}: {error}")
            return False
        # Where it is asked again, the new answer is awaited.
        followers = self._asking.get(self._again.get(asked.question.key, asked.question.key))
        if followers is not None:
            # The same question is in flight for an equal pair: it is asked once.
            followers.append(call)
            return False
        answer = self._recorded(asked)
        if answer is not None and not self._asks_again(asked, answer):
            self._take_recorded(asked, answer)
            return False
        asked.reserve = self._reserve(asked, asked.question.parameters.max_tokens)
        if asked.reserve is None:
            self._forget_again(asked)
            self._enqueue([call])
            self._budget_full = True
            return False
        self._asking[asked.question.key] = []
        lane.in_flight += 1
        task = asyncio.get_running_loop().create_task(self._ask(asked))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    def _asks_again(self, asked: _Asked, answer: RecordedAnswer) -> bool:
        """Whether a kept answer that cannot be read is asked for once more in this start: its question gets the key of
        the next answer then. A recorded run would only give the same again."""
        key = asked.question.key
        kind = self._plan.kinds.get(asked.lane.endpoint.name, "")
        if not self._plan.again or key in self._again or kind == "replay":
            return False
        if not isinstance(self._read(asked, answer)[0], Unscored):
            return False
        if asked.question.form == asked.lane.endpoint.form(asked.question.parameters.model):
            asked.question = replace(asked.question, key=next_key(answer.key))
        else:
            # It was asked in a form that the endpoint refuses by now: in the other one it is another question.
            asked.question = self._in_other_form(asked)
        self._again[key] = asked.question.key
        return True

    def _recorded(self, asked: _Asked) -> RecordedAnswer | None:
        """The kept answer to a call, also where an earlier start put the question in another form: an endpoint that
        refuses schemas by now answered all the same, and was paid."""
        answer = recorded(self._store, asked.question.key)
        if answer is not None or self._forms <= {asked.question.form}:
            return answer
        other = self._in_other_form(asked)
        answer = recorded(self._store, other.key)
        if answer is not None:
            asked.question = other
        return answer

    def _in_other_form(self, asked: _Asked) -> Question:
        return self._questions.question(asked.call, "text" if asked.question.form == "json" else "json")

    def _reserve(self, asked: _Asked, tokens_out: int) -> Reserve | None:
        limits = self._plan.limits
        if limits.max_tokens is None and limits.max_price is None:
            return self._budget.reserve(0, 0.0)
        if not asked.tokens_in:
            # The parameters hold the reply schema, which endpoints count as part of the prompt.
            question, prompt = asked.question, asked.question.prompt
            texts = (prompt.system, prompt.shared, prompt.own, question.digest)
            asked.tokens_in = sum(map(estimate_tokens, texts)) + 16
        excess = self._excess.get((asked.lane.endpoint.name, asked.question.parameters.model), 1.0)
        tokens_in = math.ceil(asked.tokens_in * excess)
        price = self._price(asked, tokens_in, tokens_out, 0)
        return self._budget.reserve(tokens_in + tokens_out, price)

    def _price(self, asked: _Asked, tokens_in: int, tokens_out: int, cached: int) -> float | None:
        """What tokens cost, ``None`` where the price is unknown."""
        at = (asked.lane.endpoint.name, asked.question.parameters.model)
        if at not in self._prices:
            self._prices[at] = self._plan.prices.find(at[1], at[0], self._plan.kinds.get(at[0], ""))
        price = self._prices[at]
        return None if price is None else cost_of(price, tokens_in, tokens_out, cached)

    def _request(self, asked: _Asked, max_tokens: int) -> ChatRequest:
        question = asked.question
        prompt = question.prompt
        return ChatRequest(
            model=asked.question.parameters.model,
            system=prompt.system,
            shared=prompt.shared,
            own=prompt.own,
            form=asked.question.form,
            schema=question.schema,
            temperature=asked.question.parameters.temperature,
            max_tokens=max_tokens,
            key=asked.question.key.hex(),
            site=str(asked.call.site),
        )

    async def _ask(self, asked: _Asked) -> None:
        call, lane = asked.call, asked.lane
        started_at = now()
        on_text = (lambda text: self._emit(CallText(self._run_id, *call.site, text))) if self._plan.stream else None
        self._emit(CallStarted(self._run_id, *call.site))
        try:
            reply = await self._reply(asked, on_text)
            lane.opened = True
            result, rule = self._read(asked, reply)
            usage, attempts = reply.usage, reply.attempts
            if reply.finish_reason == "length" and isinstance(result, Unscored):
                longer = await self._ask_longer(asked, on_text)
                if longer is not None:
                    reply = longer
                    result, rule = self._read(asked, reply)
                    usage, attempts = usage.plus(reply.usage), attempts + reply.attempts
            self._answered(asked, reply, result, rule, usage, attempts, started_at)
        except FormRefused:
            self._not_answered(asked, counts=False)
            if lane.endpoint.form(asked.question.parameters.model) == asked.question.form:
                self._failed(asked, Reason.BAD_REQUEST, "the endpoint refuses each form of reply", 1, started_at)
            else:
                self._enqueue([call])
        except EndpointStopped as stop:
            self._not_answered(asked, counts=False)
            self._enqueue([call])
            self._stopped(lane, stop)
        except CallFailed as failure:
            self._not_answered(asked)
            self._failed(asked, failure.reason, str(failure), failure.attempts, started_at)
        except asyncio.CancelledError:
            self._not_answered(asked)
            raise
        except Exception as error:
            log.exception("call %s of %s failed", call.site, self._run_id)
            self._not_answered(asked)
            self._failed(asked, Reason.INTERNAL, f"{type(error).__name__}: {error}", 1, started_at)
        finally:
            lane.in_flight -= 1
            if (task := asyncio.current_task()) is not None:
                self._tasks.discard(task)
            self._budget_full = False
            self._pump()

    async def _reply(self, asked: _Asked, on_text: Callable[[str], None] | None) -> ChatReply:
        """The answer to a call; a recorded run may hold it in either form."""
        endpoint, limit = asked.lane.endpoint, asked.question.parameters.max_tokens
        try:
            return await endpoint.chat(self._request(asked, limit), on_text)
        except CallFailed as failure:
            if failure.reason is not Reason.NOT_RECORDED:
                raise
        other = self._in_other_form(asked)
        followers = self._asking.pop(asked.question.key, [])
        self._asking.setdefault(other.key, []).extend(followers)
        asked.question = other
        return await endpoint.chat(self._request(asked, limit), on_text)

    def _stopped(self, lane: _Lane, stop: EndpointStopped) -> None:
        """Sends no further call to what stopped; the calls wait, the rest of the run goes on."""
        message = str(stop)
        if stop.model is not None:
            new = stop.model not in lane.stopped_models
            lane.stopped_models[stop.model] = message
        else:
            new = not lane.stopped
            lane.stopped = message
        if new:
            self._emit(EndpointChanged(self._run_id, lane.endpoint.name, "stopped", message))

    async def _ask_longer(self, asked: _Asked, on_text: Callable[[str], None] | None) -> ChatReply | None:
        """The cut answer once more with more room; ``None`` where there is no room, or it brought nothing."""
        limit = min(asked.question.parameters.max_tokens * LENGTH_FACTOR, LENGTH_MOST)
        if limit <= asked.question.parameters.max_tokens:
            return None
        more = self._reserve(asked, limit)
        if more is None:
            return None
        try:
            reply = await asked.lane.endpoint.chat(self._request(asked, limit), on_text)
        except (CallFailed, FormRefused):
            # The first answer was paid for and is kept as it is: cut.
            return None
        finally:
            self._budget.give_back(more, asked=True)
        return replace(reply, applied={**reply.applied, LONGER: limit})

    def _read(self, asked: _Asked, answer: ChatReply | RecordedAnswer) -> tuple[CallResult, str]:
        try:
            return self._questions.read(asked.call, asked.question.form, answer)
        except Exception as error:
            # A fault of ours must not lose a paid answer: it is kept, and read again by the next start.
            log.exception("the answer to %s of %s cannot be read", asked.call.site, self._run_id)
            return Unscored(Reason.INTERNAL, f"{type(error).__name__}: {error}"), ""

    # What a call came to

    def _answered(
        self,
        asked: _Asked,
        reply: ChatReply,
        result: CallResult,
        rule: str,
        usage: Usage,
        attempts: int,
        started_at: float,
    ) -> None:
        endpoint, model = asked.lane.endpoint.name, asked.question.parameters.model
        self._models.add((endpoint, model))
        price = self._price(asked, usage.prompt, usage.completion, usage.cached)
        if asked.tokens_in and reply.usage.prompt > asked.tokens_in:
            # Its tokenizer makes more of a text than was reckoned: what is asked from now on is reckoned likewise.
            share = reply.usage.prompt / asked.tokens_in
            self._excess[endpoint, model] = max(share, self._excess.get((endpoint, model), 1.0))
        if asked.reserve is not None:
            self._budget.settle(asked.reserve, usage.prompt + usage.completion, price)
            asked.reserve = None
        answer = Answer(
            key=asked.question.key,
            endpoint=endpoint,
            model=model,
            form=asked.question.form,
            parameters=asked.question.digest,
            applied=reply.applied,
            system=asked.question.prompt.system,
            shared=asked.question.prompt.shared,
            own=asked.question.prompt.own,
            raw_text=reply.text,
            finish_reason=reply.finish_reason,
            raw_finish=reply.raw_finish_reason,
            returned_model=reply.model,
            fingerprint=reply.fingerprint,
            thinking=reply.thinking,
            tokens_in=usage.prompt,
            tokens_out=usage.completion,
            tokens_cached=usage.cached,
            tokens_reasoning=usage.reasoning,
            tokens_estimated=usage.estimated,
            price=price,
            latency_s=reply.latency_s,
            attempts=attempts,
            started_at=started_at,
        )
        ended = _Ended(asked.call, result, asked.question.key, usage, price, reply.latency_s, attempts)
        asked.lane.keeping += 1
        self._keep(asked, ended, rule, answer, started_at)

    def _take_recorded(self, asked: _Asked, answer: RecordedAnswer) -> None:
        result, rule = self._read(asked, answer)
        ended = _Ended(asked.call, result, None, Usage(), None, 0.0, 0, cached=True)
        self._keep(asked, ended, rule, answer.call_id, now())

    def _failed(self, asked: _Asked, reason: Reason, detail: str, attempts: int, started_at: float) -> None:
        ended = _Ended(asked.call, Unscored(reason, detail), None, Usage(), None, 0.0, attempts)
        self._keep(asked, ended, "", None, started_at)

    def _keep(self, asked: _Asked, ended: _Ended, rule: str, answer: Answer | int | None, started_at: float) -> None:
        """Puts what a call came to into the store; :meth:`_committed` goes on from there."""
        store, run = self._store, self._plan.run.number
        outcome = Outcome(
            site=ended.call.site,
            result=None if isinstance(ended.result, tuple) else ended.result,
            endpoint=asked.lane.endpoint.name,
            model=asked.question.parameters.model,
            role=None if ended.call.role is None else ended.call.role.name,
            rule=rule,
            missing=asked.question.missing,
            cached=ended.cached,
            attempts=ended.attempts,
            started_at=started_at,
        )
        self._uncommitted += 1
        store.put(lambda db: write_outcome(db, store, run, outcome, answer), ended, self._on_commit)

    def _not_answered(self, asked: _Asked, *, counts: bool = True) -> None:
        if asked.reserve is not None:
            self._budget.give_back(asked.reserve, asked=counts)
            asked.reserve = None
        self._forget_again(asked)
        self._enqueue(self._asking.pop(asked.question.key, []))

    def _forget_again(self, asked: _Asked) -> None:
        """A question that was to be asked again and brought no answer may be asked again later in this start."""
        for key in [key for key, again in self._again.items() if again == asked.question.key]:
            del self._again[key]

    def _on_commit(self, batch: Sequence[_Ended]) -> None:
        # On the store's thread.
        self._call_soon(lambda: self._committed(batch))

    def _committed(self, batch: Sequence[_Ended]) -> None:
        for ended in batch:
            self._uncommitted -= 1
            self._begun.add(ended.call.site.pair)
            if ended.key is not None:
                self._lanes[ended.call.settings.endpoint or ""].keeping -= 1
                self._enqueue(self._asking.pop(ended.key, []))
            self._tell(ended)
            if not self._cancelled:
                self._advance(ended)
        self._pump()

    def _tell(self, ended: _Ended) -> None:
        result = ended.result
        scored = result if isinstance(result, Evaluation) else None
        self._emit(
            CallFinished(
                self._run_id,
                *ended.call.site,
                status="roles" if isinstance(result, tuple) else "unscored" if scored is None else "scored",
                reason=result.reason.value if isinstance(result, Unscored) else None,
                verdict=None if scored is None else scored.verdict,
                score_a=None if scored is None else scored.score_a,
                score_b=None if scored is None else scored.score_b,
                cached=ended.cached,
                tokens_in=ended.usage.prompt,
                tokens_out=ended.usage.completion,
                tokens_cached=ended.usage.cached,
                price=ended.price,
                latency_s=ended.latency_s,
                attempts=ended.attempts,
            )
        )

    def _advance(self, ended: _Ended) -> None:
        work, site, result = ended.call.work, ended.call.site, ended.result
        if site.layer == ROLES_LAYER:
            if not isinstance(result, tuple):
                work.open_calls += retryable(result)
            roles, note = self._questions.roles_of(work, result)
            ready = work.set_roles(roles, note)
            self._emit(RolesFound(self._run_id, work.index, tuple((r.name, r.description) for r in roles), note))
            if self._plan.roles_only:
                self._leave(work)
                return
            self._enqueue(ready)
        elif not isinstance(result, tuple):
            work.open_calls += retryable(result)
            ready, complete = work.finish(site, result)
            self._enqueue(ready)
            if complete:
                self._emit(LayerFinished(self._run_id, work.index, site.layer))
        if work.done:
            self._pair_done(work)

    def _leave(self, work: PairWork) -> None:
        """Keeps the roles of a pair that goes on in another start."""
        run, roles, note, total = self._plan.run.number, work.roles, work.note, work.calls_total
        del self._active[work.index]
        self._left += 1
        self._store.put(lambda db: write_pair(db, run, work.index, "open", roles, note, total))

    def _pair_done(self, work: PairWork) -> None:
        run = self._plan.run.number
        state: PairState = "failed" if work.open_calls else "done"
        roles, note, total, sites = work.roles, work.note, work.calls_total, work.results.keys()
        del self._active[work.index]
        self._done += 1
        found = work.verdicts()
        told = PairFinished(
            self._run_id,
            work.index,
            work.pair.id,
            work.pair.human,
            tuple(found.named().items()),
            found.calls_used,
            found.calls_total,
            work.open_calls,
            None if work.stop is None else (work.stop.layer, work.stop.neuron),
            found.for_people,
        )
        self._steering.take(work.index, dict(told.verdicts))
        self._store.put(
            lambda db: write_pair(db, run, work.index, state, roles, note, total, sites),
            told,
            self._on_pair_commit,
        )

    def _on_pair_commit(self, batch: Sequence[PairFinished]) -> None:
        # On the store's thread.
        self._call_soon(lambda: self._tell_pairs(batch))

    def _tell_pairs(self, batch: Sequence[PairFinished]) -> None:
        for told in batch:
            self._emit(told)
