"""Runs a network over pairs: sends calls, stores their answers, and then sends the calls that waited for them.

Everything here runs on the engine's loop. Several pairs are in progress at a time, and the calls of earlier pairs go
first, so that calls with the same beginning of a prompt follow each other and pairs finish early. At most
``concurrency`` calls per endpoint are in flight, and no call waits inside the HTTP client. At most as many answers
wait to be written to disk, so that a kill loses a bounded number of paid answers, however slow the disk is.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judgenet.core.evaluation import Reason, Unscored
from judgenet.core.events import (
    CallStarted,
    CallText,
    EndpointChanged,
    RunChanged,
    RunFinished,
    RunStarted,
    RunStatus,
    StoreTrouble,
)
from judgenet.core.network import asked_settings
from judgenet.core.wording import plural
from judgenet.engine.asked_calls import (
    AskedCall,
    EndedCall,
    Lane,
    Spending,
    answer_of,
    finished_event,
    outcome_of,
    pictures_of,
)
from judgenet.engine.asking import AskedAnswer, Asking
from judgenet.engine.budget import Used
from judgenet.engine.kept_answers import KeptAnswers
from judgenet.engine.pairs_under_way import Emit, PairsUnderWay, RunPlan
from judgenet.engine.ports import (
    CallFailed,
    Endpoint,
    EndpointStopped,
    FormRefused,
    PicturesRefused,
    Usage,
)
from judgenet.engine.questions import Questions
from judgenet.engine.run_end import all_stops, left_pairs, not_kept
from judgenet.engine.stand_ins import StandIns
from judgenet.engine.work import Call
from judgenet.store.db import Store, now
from judgenet.store.pictures import SentPictures
from judgenet.store.runs import (
    Answer,
    RecordedAnswer,
    set_run_state,
    write_outcome,
)

log = logging.getLogger(__name__)

_LOOKED_UP = 64
"""Kept answers that are read before the loop gets a turn for other things."""
_SENT = 4
_PAUSE_S = 0.002
"""Calls that are sent at once, and the seconds until the next ones. Calls that start together end together, and in a
burst of answers each waits for all others to be read."""
_PATIENCE_S = 0.5
"""Seconds that the end of a run waits for a store that cannot be written."""


class Executor:
    """One start of a run: it sends what is missing and ends when all is there, or when it cannot or must not go on."""

    def __init__(self, plan: RunPlan, store: Store, endpoints: Mapping[str, Endpoint], emit: Emit) -> None:
        self._plan = plan
        self._store = store
        self._emit = emit
        self._run_id = plan.run.id
        self._lanes = {name: Lane(endpoint) for name, endpoint in endpoints.items()}
        self._spending = Spending(plan.limits, plan.prices, plan.kinds, plan.budget)
        self._pictures = SentPictures(store)
        self._unseen: set[int] = set()
        self._followers: dict[bytes, list[Call]] = {}
        """Calls that wait for the answer to a question that is in flight, by its key."""
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
        self._questions = Questions(plan.spec, plan.book, plan.salt, plan.fallback_roles)
        self._kept = KeptAnswers(plan, store, self._questions)
        self._asking = Asking(self._kept, self._spending, self._followers)
        self._pairs = PairsUnderWay(plan, store, self._questions, emit, self._call_soon)
        self._stand_ins = StandIns(asked_settings(plan.spec), self._lanes, store, plan.run)
        self._most_active = max(64, 2 * sum(lane.endpoint.concurrency for lane in self._lanes.values()))

    @property
    def used(self) -> Used:
        """What this start has used up of its limits."""
        return self._spending.used

    # Control, on the engine's loop

    async def run(self) -> RunFinished:
        """Runs to the end: all pairs done, a limit reached, all endpoints stopped, or cancelled."""
        self._loop = asyncio.get_running_loop()
        self._end = self._loop.create_future()
        self._store.on_trouble(lambda message: self._call_soon(lambda: self._on_trouble(message)))
        self._store.on_failure(lambda message: self._call_soon(lambda: self._finish("failed", message)))
        pairs = self._plan.pairs
        self._emit(RunStarted(self._run_id, len(pairs), self._pairs.done, self._plan.calls_planned, self._pairs.left))
        if self._cancelled:
            self.cancel()
        watching = self._loop.create_task(self._stand_ins.watch(self._tell_away)) if self._stand_ins.used else None
        self._pump()
        try:
            state, message = await self._end
        except asyncio.CancelledError:
            self._cancelled = True
            state, message = "cancelled", "The program ended the run."
        except Exception as error:
            log.exception("run %s failed", self._run_id)
            state, message = "failed", f"{type(error).__name__}: {error}"
        if watching is not None:
            watching.cancel()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5)
        known = self._pairs.enough
        record = {} if known is None else known.record
        set_run_state(self._store, self._run_id, state, message, learned=self._learned(), **record)
        if not await asyncio.to_thread(self._store.flush, _PATIENCE_S):
            state, message = not_kept(state, message, self._store.trouble, self._uncommitted)
        finished = RunFinished(self._run_id, state, message, self._pairs.done, len(pairs))
        self._emit(finished)
        return finished

    def pause(self) -> None:
        """Sends no more calls; those in flight are completed."""
        if not self._paused:
            self._paused = True
            for lane in self._lanes.values():
                lane.endpoint.pause()
            self._emit(RunChanged(self._run_id, "paused"))

    def resume(self) -> None:
        """Continues after :meth:`pause`, and tries stopped endpoints again."""
        self._paused = False
        self._stand_ins.try_again()
        for lane in self._lanes.values():
            lane.endpoint.resume()
            lane.stopped = ""
            lane.stopped_models.clear()
            lane.blind_models.clear()
            self._unseen.clear()
            lane.opened = False
            held, lane.held = lane.held, []
            self._enqueue(held)
        self._emit(RunChanged(self._run_id, "running"))
        self._pump()

    def look_again(self) -> None:
        """Sends the calls that did not fit into the budget if there is room now, and ends if there will be none."""
        self._budget_full = False
        self._pump()

    def cancel(self) -> None:
        """Ends the run now. Calls in flight are cancelled; all finished ones are kept."""
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
            while not (self._paused or self._trouble or self._cancelled or self._budget_full or self._pairs.enough):
                self._admit()
                lane = next((lane for lane in self._lanes.values() if lane.ready and lane.room), None)
                if lane is None:
                    break
                if sent >= _SENT or looked_up >= _LOOKED_UP:
                    asyncio.get_running_loop().call_later(_PAUSE_S if sent else 0.0, self._pump)
                    return
                call = heapq.heappop(lane.ready)[1]
                chosen = self._stand_ins.choose(call, sending=True)
                if chosen.settings.endpoint != lane.endpoint.name:
                    heapq.heappush(self._lanes[chosen.settings.endpoint or ""].ready, (chosen.rank, chosen))
                    continue
                call = chosen
                if lane.holds(call):
                    if call.settings.model in lane.blind_models:
                        self._unseen.add(call.work.index)
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
        """Begins pairs while an endpoint has room and no call that is ready for it."""
        # Pairs whose pictures a model cannot see wait for somebody: they must not keep others out.
        while len(self._pairs) - len(self._unseen) < self._most_active and any(
            lane.room and not lane.ready and not lane.spare for lane in self._lanes.values()
        ):
            calls = self._pairs.take_up()
            if calls is None:
                return
            self._enqueue(calls)

    def _enqueue(self, calls: Sequence[Call]) -> None:
        for call in map(self._stand_ins.choose, calls):
            lane = self._lanes[call.settings.endpoint or ""]
            heapq.heappush(lane.ready, (call.rank, call))

    def _check_end(self) -> None:
        if self._tasks or self._uncommitted or self._paused or self._cancelled or self._trouble:
            return
        if (enough := self._pairs.enough) is not None:
            self._finish("enough", f"{enough.message} Not asked: {plural(self._pairs.never_begun, 'pair')}.")
        elif self._budget_full:
            if self._spending.waits:
                return
            self._finish("budget", f"Stopped by the limit: {self._spending.spent_up} used.")
        elif not self._pairs:
            if self._pairs.left:
                self._finish("cancelled", left_pairs(self._pairs.left))
            else:
                self._finish("done", "")
        elif any(lane.ready and not lane.stopped for lane in self._lanes.values()):
            return
        else:
            self._finish("halted", all_stops(self._lanes))

    # One call

    def _start(self, call: Call, lane: Lane) -> bool:
        """Sends a call or uses its kept answer; true if it was sent."""
        try:
            form = lane.endpoint.form(call.settings.model or "")
            asked = AskedCall(call, lane, self._questions.question(call, form))
        except Exception as error:
            log.exception("call %s of %s cannot be made", call.site, self._run_id)
            self._finish("failed", f"pair {call.work.pair.id}: {type(error).__name__}: {error}")
            return False
        # Where it is asked again, the new answer is awaited.
        followers = self._followers.get(self._kept.awaited_key(asked))
        if followers is not None:
            # The same question is in flight for an equal pair: it is asked once.
            followers.append(call)
            return False
        answer = self._kept.find(asked)
        if answer is not None and not self._kept.asks_again(asked, answer):
            self._take_recorded(asked, answer)
            return False
        if answer is None and (own := self._stand_ins.not_kept(call)) is not None:
            self._enqueue([own])
            return False
        if (kept := self._kept_by_own(call)) is not None:
            self._take_recorded(*kept)
            return False
        return self._send(asked)

    def _own_call(self, call: Call) -> AskedCall:
        """The call as designed, where a stand-in was chosen for it."""
        own = call.instead_of or call
        lane = self._lanes[own.settings.endpoint or ""]
        return AskedCall(own, lane, self._questions.question(own, lane.endpoint.form(own.settings.model or "")))

    def _kept_by_own(self, call: Call) -> tuple[AskedCall, RecordedAnswer] | None:
        """What the own model of a call answered before it stopped: its stand-in is not asked for that."""
        if call.instead_of is None:
            return None
        asked = self._own_call(call)
        answer = self._kept.find(asked)
        return None if answer is None or self._kept.asks_again(asked, answer) else (asked, answer)

    def _send(self, asked: AskedCall) -> bool:
        """Sends a call that has no kept answer; false if the budget has no room for it."""
        asked.reserve = self._spending.reserve(asked, asked.question.parameters.max_tokens)
        if asked.reserve is None:
            self._kept.forget(asked)
            self._enqueue([asked.call])
            self._budget_full = True
            return False
        self._followers[asked.question.key] = []
        asked.lane.in_flight += 1
        task = asyncio.get_running_loop().create_task(self._ask(asked))
        self._tasks.add(task)
        self._stand_ins.begin(asked, task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def _ask(self, asked: AskedCall) -> None:
        call, lane = asked.call, asked.lane
        started_at = now()
        on_text = (lambda text: self._emit(CallText(self._run_id, *call.site, text))) if self._plan.stream else None
        self._emit(CallStarted(self._run_id, *call.site))
        try:
            if asked.question.prompt.pictures:
                asked.pictures = await pictures_of(asked.question, self._pictures)
            self._answered(asked, await self._asking.ask(asked, on_text), started_at)
        except FormRefused:
            self._not_answered(asked, counts=False)
            if lane.endpoint.form(asked.question.parameters.model) == asked.question.form:
                self._failed(asked, Reason.BAD_REQUEST, "the endpoint refuses each form of reply", 1, started_at)
            else:
                self._enqueue([call])
        except EndpointStopped as stop:
            self._stopped(lane, stop)
            self._not_answered(asked, counts=False)
            self._enqueue([call])
        except CallFailed as failure:
            self._not_answered(asked)
            self._failed(asked, failure.reason, str(failure), failure.attempts, started_at)
        except asyncio.CancelledError:
            given_up = self._stand_ins.end(asked)
            self._not_answered(asked, counts=not given_up)
            if not given_up:
                raise
            self._enqueue([call])
        except Exception as error:
            log.exception("call %s of %s failed", call.site, self._run_id)
            self._not_answered(asked)
            self._failed(asked, Reason.INTERNAL, f"{type(error).__name__}: {error}", 1, started_at)
        finally:
            self._stand_ins.end(asked)
            lane.in_flight -= 1
            if (task := asyncio.current_task()) is not None:
                self._tasks.discard(task)
            self._budget_full = False
            self._pump()

    def _stopped(self, lane: Lane, stop: EndpointStopped) -> None:
        """Holds back the calls to an endpoint or model that has stopped; the rest of the run continues."""
        message = str(stop)
        if stop.model is not None:
            stopped = lane.blind_models if isinstance(stop, PicturesRefused) else lane.stopped_models
            new = stop.model not in stopped
            stopped[stop.model] = message
        else:
            new = not lane.stopped
            lane.stopped = message
        if new:
            meanwhile = self._stand_ins.words(lane.endpoint.name, stop.model)
            self._emit(EndpointChanged(self._run_id, lane.endpoint.name, "stopped", f"{message} {meanwhile}".rstrip()))
            waiting, lane.ready = lane.ready, []
            self._enqueue([call for _, call in waiting])

    def _tell_away(self, endpoint: str, message: str) -> None:
        self._emit(EndpointChanged(self._run_id, endpoint, "away", message))

    # What a call came to

    def _answered(self, asked: AskedCall, answer: AskedAnswer, started_at: float) -> None:
        self._models.add(asked.model)
        reply, result, rule, usage, attempts = answer
        price = self._spending.settle(asked, usage, reply.usage)
        kept = answer_of(asked, reply, usage, price, attempts, started_at)
        ended = EndedCall(asked.call, result, asked.question.key, usage, price, kept.latency_s, attempts)
        asked.lane.keeping += 1
        self._keep(asked, ended, rule, kept, started_at)

    def _take_recorded(self, asked: AskedCall, answer: RecordedAnswer) -> None:
        result, rule = self._kept.read(asked, answer)
        ended = EndedCall(asked.call, result, None, Usage(), None, 0.0, 0, cached=True)
        self._keep(asked, ended, rule, answer.call_id, now())

    def _failed(self, asked: AskedCall, reason: Reason, detail: str, attempts: int, started_at: float) -> None:
        ended = EndedCall(asked.call, Unscored(reason, detail), None, Usage(), None, 0.0, attempts)
        self._keep(asked, ended, "", None, started_at)

    def _keep(
        self, asked: AskedCall, ended: EndedCall, rule: str, answer: Answer | int | None, started_at: float
    ) -> None:
        """Writes a call's outcome to the store; :meth:`_committed` continues once it is on disk."""
        store, run = self._store, self._plan.run.number
        outcome = outcome_of(asked, ended, rule, started_at)
        self._uncommitted += 1
        store.put(lambda db: write_outcome(db, store, run, outcome, answer), ended, self._on_commit)

    def _not_answered(self, asked: AskedCall, *, counts: bool = True) -> None:
        if asked.reserve is not None:
            self._spending.give_back(asked.reserve, asked=counts)
            asked.reserve = None
        self._kept.forget(asked)
        self._enqueue(self._followers.pop(asked.question.key, []))

    def _on_commit(self, batch: Sequence[EndedCall]) -> None:
        # On the store's thread.
        self._call_soon(lambda: self._committed(batch))

    def _committed(self, batch: Sequence[EndedCall]) -> None:
        for ended in batch:
            self._uncommitted -= 1
            self._pairs.begun(ended.call.site.pair)
            if ended.key is not None:
                self._lanes[ended.call.settings.endpoint or ""].keeping -= 1
                self._enqueue(self._followers.pop(ended.key, []))
            self._emit(finished_event(self._run_id, ended))
            if not self._cancelled:
                self._enqueue(self._pairs.advance(ended))
        self._pump()
