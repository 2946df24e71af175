"""Endpoints over HTTP: one call with its retries, its limits, and what is learned of the endpoint on the way."""

from __future__ import annotations

import asyncio
import itertools
import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.evaluation import Reason
from judgenet.core.schemas import ReplyForm
from judgenet.core.wording import duration
from judgenet.engine import limits
from judgenet.engine.exchange import Exchange, ExchangeResult
from judgenet.engine.known_model import EndpointStop, KnownModel
from judgenet.engine.limits import Clock, Limiter, Permit, Stopped
from judgenet.engine.negotiation import lesson, lesson_words
from judgenet.engine.ports import (
    CallFailed,
    Capabilities,
    ChatReply,
    ChatRequest,
    EndpointState,
    EndpointStopped,
    FormRefused,
    OnState,
    OnText,
    PicturesRefused,
)
from judgenet.engine.providers import common, errors, provider_for
from judgenet.engine.providers.common import Provider
from judgenet.engine.providers.errors import Fault
from judgenet.engine.replies import Replies
from judgenet.engine.transport import Transport

LONGEST_WAIT = 300.0
"""Seconds. An endpoint that asks for a longer wait is stopped, and the user decides."""
_SILENT_CALLS = 3
"""An outage is assumed when this many different calls, or half of those in flight if that is more, stay unanswered with
none answered in between."""
_GATEWAY_STATUSES = frozenset({502, 503, 504, 520, 521, 522, 523, 524})
"""The statuses of a gateway that does not reach its server."""
_FIRST_CALLS = 3
"""An endpoint that has never answered properly is stopped after this many different calls have failed or brought an
answer that cannot be read."""
_FIRST_RETRIES = 2
"""The most retries of a call that gets no HTTP answer, while the endpoint has never answered."""
_CALL_FAILURES = frozenset({Reason.FILTERED, Reason.CONTEXT_LENGTH, Reason.RATE_LIMITED})
"""Failures that say nothing about other calls, or that pass with time."""


class NothingKept:
    """Keeps nothing of what endpoints refuse beyond the process."""

    def load(self, endpoint: str, model: str) -> dict[str, Any]:
        return {}

    def save(self, endpoint: str, model: str, learned: dict[str, Any]) -> None:
        pass


def open_endpoint(
    profile: EndpointProfile,
    *,
    key: Callable[[], str | None] | None = None,
    capabilities: Capabilities | None = None,
    on_state: OnState | None = None,
    seed: int | None = None,
    transport: Transport | None = None,
    extra: Mapping[str, Any] | None = None,
) -> HttpEndpoint:
    """The endpoint of a profile of kind ``openai``, ``azure``, ``anthropic`` or ``gemini``; for the parameters
    see :class:`HttpEndpoint`. Another server that speaks chat completions (the embedded model's) is reached by
    a profile of kind ``openai`` with its address.

    :raises ValueError: for another kind, or an address that is missing.
    """
    return HttpEndpoint(
        profile,
        key=key,
        capabilities=capabilities,
        on_state=on_state,
        seed=seed,
        transport=transport,
        extra=extra,
    )


@dataclass(slots=True)
class _ChatCall:
    """A call in progress: its request, the attempts so far, and what is known of the model."""

    number: int
    request: ChatRequest
    model: KnownModel
    on_text: OnText | None
    tokens: float = 0.0
    """An estimate of the most tokens that it can use, where the endpoint has a limit of tokens."""
    sent: int = 0
    failures: int = 0
    alone: bool = False
    """Whether other calls to the model wait for this one to be answered."""
    learned: dict[str, Any] = field(default_factory=dict)
    """What was known of the model at the last attempt."""


class HttpEndpoint:
    """An endpoint that answers chat requests over HTTP (``ports.Endpoint``).

    ``key`` gives the API key when the first call needs it; it may block, and runs in a thread. ``seed`` makes
    the jitter of waits repeatable. ``transport`` is used instead of an own one, and not closed. ``extra`` are
    fields to put into every request; ``thinks`` is false where the model is known not to think. ``clock`` is the
    loop's unless given; it paces limits and waits.
    """

    def __init__(
        self,
        profile: EndpointProfile,
        *,
        key: Callable[[], str | None] | None = None,
        capabilities: Capabilities | None = None,
        on_state: OnState | None = None,
        seed: int | None = None,
        transport: Transport | None = None,
        extra: Mapping[str, Any] | None = None,
        thinks: bool = True,
        clock: Clock | None = None,
    ) -> None:
        self.name = profile.name
        self.concurrency = profile.concurrency
        self._profile = profile
        self._provider: Provider = provider_for(profile, extra, thinks=thinks)
        self._exchange = Exchange(profile, self._provider, transport)
        self._replies = Replies(profile, self._provider, partial(self._report, "learned"))
        self._key = key or (lambda: None)
        self._key_lock = asyncio.Lock()
        self._capabilities: Capabilities = capabilities or NothingKept()
        self._on_state = on_state
        self._rng = random.Random(seed)
        self._models: dict[str, KnownModel] = {}
        self._calls = itertools.count()
        self._silent: set[int] = set()
        self._failed: set[int] = set()
        self._unreadable: set[int] = set()
        self._readable = False
        self._reported: set[Reason] = set()
        self._away_at = ""
        self._outage = max(_SILENT_CALLS, profile.concurrency // 2)
        self._limiter = Limiter(
            profile.concurrency,
            profile.requests_per_minute,
            profile.tokens_per_minute,
            clock=clock,
            rng=self._rng,
        )

    # What is known

    def form(self, model: str) -> ReplyForm:
        """How replies are asked for, by what is known of the model now."""
        refused = self._model(model).learned.get(common.SCHEMA) == common.REFUSED
        return "text" if refused or self._profile.structured == "never" else "json"

    def known(self, model: str) -> bool:
        """True when a call to this model has succeeded in this run."""
        return model in self._models and self._models[model].gate.open

    @property
    def away_for(self) -> float:
        """Seconds since nothing at the endpoint was reached any more; 0 where it is there."""
        return self._limiter.away_for

    def learned(self, model: str) -> dict[str, Any]:
        """What the endpoint refuses of requests to this model and what is done instead, for the run's record,
        such as ``{"temperature": "not applied"}``."""
        return dict(self._model(model).learned)

    def pause(self) -> None:
        """Sends nothing more, further attempts included, until :meth:`resume`."""
        self._limiter.pause()

    def resume(self) -> None:
        """Goes on after a pause or stop; the key is looked up anew."""
        self._exchange.headers = None
        self._silent.clear()
        self._failed.clear()
        self._unreadable.clear()
        self._reported.clear()
        self._away_at = ""
        for model in self._models.values():
            model.blind = None
        self._limiter.resume()

    async def close(self) -> None:
        """Closes connections."""
        await self._exchange.close()

    def _model(self, name: str) -> KnownModel:
        model = self._models.get(name)
        if model is None:
            model = self._models[name] = KnownModel(dict(self._capabilities.load(self.name, name)))
        return model

    # A call

    async def chat(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        """Sends a request, retries where that can help, and returns the reply; see ``ports.Endpoint``."""
        model = self._model(request.model)
        call = _ChatCall(next(self._calls), request, model, on_text)
        if self._limiter.counts_tokens:
            call.tokens = float(self._replies.prompt_tokens(request) + request.most_tokens)
        try:
            while True:
                if not call.alone and not model.gate.open:
                    call.alone = await model.gate.enter()
                outcome = await self._attempt(call)
                if isinstance(outcome, ChatReply):
                    return outcome
                await self._before_next(call, outcome)
        except Stopped as stopped:
            stop: EndpointStop = stopped.cause
            raise stop.error(call.sent) from None
        finally:
            if call.alone:
                model.gate.leave()

    async def _attempt(self, call: _ChatCall) -> ChatReply | Fault:
        """Waits for the limits and sends the request once."""
        request, model = call.request, call.model
        self._check(request, model)
        permit = await self._limiter.acquire(request.model, call.tokens)
        used: float | None = None
        try:
            self._check(request, model)
            if self._exchange.headers is None:
                await self._look_up_key(call.sent)
            call.learned = dict(model.learned)
            stream = call.on_text is not None and common.STREAM not in call.learned
            call.sent += 1
            outcome = await self._exchange.send(request, call.learned, call.on_text if stream else None)
            outcome = self._note_outcome(outcome, call.number, call.failures >= self._profile.retries)
            if isinstance(outcome, ExchangeResult):
                applied = common.otherwise(request, call.learned, self._provider)
                reply = self._replies.reply(outcome, request, model, call.sent, applied)
                used = float(reply.usage.prompt + reply.usage.completion)
            else:
                if outcome.action != "retry":
                    used = 0.0
                # Before the permit is released, so that no other call goes out first.
                self._raise_final(outcome, request.model, call.number, call.sent)
                if outcome.action in ("slow", "unreachable"):
                    self._slow_down(permit, outcome, call.sent, request.model)
                return outcome
        finally:
            self._limiter.release(permit, used)
        self._succeeded(model)
        self._watch_bodies(outcome, call.number, call.sent)
        self._replies.watch_scores(request, model, reply)
        if call.on_text is not None and not stream and reply.text:
            call.on_text(reply.text)
        return reply

    async def _before_next(self, call: _ChatCall, fault: Fault) -> None:
        """Prepares the next attempt after one that failed: adapts the request, or waits.

        :raises CallFailed: there is no next attempt.
        """
        if fault.action == "refused":
            self._negotiate(call.request, call.model, call.learned, fault, call.sent)
            return
        if fault.action == "unreachable" and self._waits_out_outages:
            return  # The limiter holds all calls, and an outage does not count as a failure of this one.
        call.failures += 1
        if call.failures > self._retries(fault):
            raise self._final_error(fault, call.number, call.sent)
        wait = max(fault.wait or 0.0, limits.backoff(call.failures, self._rng))
        if fault.action == "retry" and not self._reached:
            self._report_once(fault, f"{fault.text} {_retry_words(wait)}")
        if call.alone and fault.action != "unreachable":
            # The fault may lie in this request: let another call try.
            call.alone = False
            call.model.gate.leave()
        await self._limiter.sleep(wait, call.request.model)

    def _check(self, request: ChatRequest, model: KnownModel) -> None:
        """Refuses what the model is known not to take."""
        if request.schema is not None and model.learned.get(common.SCHEMA) == common.REFUSED:
            raise FormRefused(f"{self.name}: {request.model} takes no reply schema")
        if request.pictures and model.blind is not None:
            raise model.blind.error(0, PicturesRefused)

    @property
    def _reached(self) -> bool:
        """True when some call has succeeded in this run."""
        return any(model.gate.open for model in self._models.values())

    @property
    def _waits_out_outages(self) -> bool:
        """Whether calls wait for the end of an outage. Before the first answer a wrong address is more likely."""
        return self._reached and self._profile.patience > 0

    def _retries(self, fault: Fault) -> int:
        if fault.action == "retry" and fault.status is None and not self._reached:
            return min(self._profile.retries, _FIRST_RETRIES)
        return self._profile.retries

    def _note_outcome(self, outcome: ExchangeResult | Fault, number: int, last: bool) -> ExchangeResult | Fault:
        """Notes whether the endpoint was reached. Several unanswered calls in a row are an outage.

        At a call's ``last`` attempt one more unanswered call is enough, since an outage begins with connections that
        break one after the other. A timeout does not count there, as the last calls of a run may be the longest.
        """
        if isinstance(outcome, Fault):
            if outcome.action == "unreachable":
                return outcome
            unanswered = outcome.status is None and outcome.reason in (Reason.TIMEOUT, Reason.NETWORK)
            if unanswered or outcome.status in _GATEWAY_STATUSES:
                self._silent.add(number)
                enough = 2 if last and outcome.reason is not Reason.TIMEOUT else self._outage
                if self._waits_out_outages and outcome.action == "retry" and len(self._silent) >= enough:
                    return replace(outcome, action="unreachable")
                return outcome
        self._silent.clear()
        self._away_at = ""
        if self._limiter.heard():
            self._report("open", f"{self.name} answers again.")
        return outcome

    def _final_error(self, fault: Fault, number: int, sent: int) -> CallFailed:
        """The error of a call that failed for good; the endpoint's stop where it has never answered."""
        if not self._reached:
            if fault.action == "unreachable":
                return self._stop(EndpointStop(fault.reason, fault.text, fault.status, None), sent)
            if fault.reason not in _CALL_FAILURES:
                self._failed.add(number)
            if len(self._failed) >= _FIRST_CALLS:
                text = f"{fault.text} The first {_FIRST_CALLS} calls all failed, so no more are sent."
                return self._stop(EndpointStop(fault.reason, text, fault.status, None), sent)
        self._report_once(fault, fault.text)
        return CallFailed(fault.reason, fault.text, status=fault.status, attempts=sent)

    def _report_once(self, fault: Fault, message: str) -> None:
        """Reports the first failure of each kind."""
        if fault.reason not in self._reported:
            self._reported.add(fault.reason)
            self._report("failing", message)

    def _succeeded(self, model: KnownModel) -> None:
        if not model.gate.open:
            model.gate.unlock()
        if self._limiter.succeeded():
            self._report("open", f"{self.name} keeps up again: {self.concurrency} calls at a time.")

    def _watch_bodies(self, outcome: ExchangeResult, number: int, sent: int) -> None:
        """Stops an endpoint whose first answers are all too large or too deeply nested to be answers of a model. They
        are kept: they may have been paid for."""
        unreadable = outcome.answer.unreadable
        if unreadable is None:
            self._readable = True
        elif not self._readable:
            self._unreadable.add(number)
            if len(self._unreadable) >= _FIRST_CALLS:
                why = "larger than any answer of a model" if unreadable == "too_large" else "nested too deeply to read"
                text = (
                    f"{self.name}: the first {_FIRST_CALLS} answers are {why}, so no more calls are sent. Check the "
                    "address: what answers there is probably no model."
                )
                reason = Reason.TOO_LARGE if unreadable == "too_large" else Reason.UNPARSED
                self._stop(EndpointStop(reason, text, None, None), sent)

    def _negotiate(
        self, request: ChatRequest, model: KnownModel, learned: dict[str, Any], fault: Fault, sent: int
    ) -> None:
        """Learns what the endpoint refused, so that the next attempt leaves it out or renames it."""
        if learned != model.learned:
            return  # Another call has learned it in the meantime.
        name, value = lesson(learned, fault.parameter or "", request, self._provider)
        if (name, value) in model.lessons:
            # Both forms have been tried.
            raise CallFailed(Reason.BAD_REQUEST, fault.text, status=fault.status, attempts=sent)
        model.lessons.add((name, value))
        model.learned[name] = value
        self._capabilities.save(self.name, request.model, dict(model.learned))
        self._report("learned", f"{self.name}, {request.model}: {lesson_words(name, value)}.")

    def _raise_final(self, fault: Fault, model: str, number: int, sent: int) -> None:
        """Raises the error of a fault that no further attempt can mend."""
        if fault.action == "fail":
            raise self._final_error(fault, number, sent)
        if fault.wait is not None and fault.wait > LONGEST_WAIT:
            until = time.time() + fault.wait
            text = f"{fault.text} It asks to wait {duration(fault.wait)}, until {_clock_time(until)}."
            raise self._stop(EndpointStop(fault.reason, text, fault.status, None), sent, until)
        if fault.action == "stop":
            raise self._stop(EndpointStop(fault.reason, fault.text, fault.status, None), sent)
        if fault.action == "blind":
            stop = self._model(model).blind = EndpointStop(fault.reason, fault.text, fault.status, model)
            raise stop.error(sent, PicturesRefused)
        if fault.action == "stop_model":
            raise self._stop(EndpointStop(fault.reason, fault.text, fault.status, model), sent)

    def _stop(self, stop: EndpointStop, sent: int, until: float | None = None) -> EndpointStopped:
        if self._limiter.stop(stop, stop.model):
            for name, model in self._models.items():
                if stop.model is None or stop.model == name:
                    model.gate.fail(stop)
            self._report("stopped", stop.message, until)
        return stop.error(sent)

    def _slow_down(self, permit: Permit, fault: Fault, sent: int, model: str) -> None:
        if fault.action == "unreachable":
            if self._limiter.unreachable(permit, fault.wait):
                wait = self._limiter.held_for
                until = time.time() + wait
                if self._waits_out_outages:
                    self._report("away", self._away(fault, wait, sent), until)
                else:
                    self._report("waiting", f"{fault.text} {_retry_words(wait)}", until)
        elif self._limiter.throttled(permit, fault.wait):
            wait = self._limiter.held_for
            at_once = int(self._limiter.window)
            calls = "1 call" if at_once == 1 else f"{at_once} calls"
            if wait >= 2.0:
                text = f"{fault.text} Waiting {duration(wait)}, then {calls} at a time."
                self._report("waiting", text, time.time() + wait, model)
            else:
                self._report("slow", f"{fault.text} Going on with {calls} at a time.", model=model)

    def _away(self, fault: Fault, wait: float, sent: int) -> str:
        """What is said while an outage is sat out.

        :raises EndpointStopped: it has taken longer than there is patience for.
        """
        place, _, what = fault.text.partition(": ")
        away = self._limiter.away_for
        self._away_at = self._away_at or time.strftime("%H:%M:%S")
        if away >= self._profile.patience:
            text = (
                f"{place} not reached for {duration(away)}, since {self._away_at}: {what} What is finished is "
                "kept; the same command goes on from here once it is back. A longer --patience waits longer."
            )
            raise self._stop(EndpointStop(fault.reason, text, fault.status, None), sent)
        tries = f"next try in {duration(max(1.0, wait))}"
        return f"paused: {place} not reached since {self._away_at}; {tries}. {what[:1].upper()}{what[1:]}"

    def _report(self, state: Any, message: str, until: float | None = None, model: str = "") -> None:
        if self._on_state is not None:
            self._on_state(EndpointState(self.name, state, message, until, model))

    # The key

    async def _look_up_key(self, sent: int) -> None:
        async with self._key_lock:
            self._limiter.check()
            if self._exchange.headers is not None:
                return
            named = self._profile.api_key
            problem = "is not set"
            try:
                key = (await asyncio.to_thread(self._key) or "").strip()
            except Exception as error:  # whatever the key store may throw
                key, problem = "", f"cannot be read ({type(error).__name__})"
            if key and not re.fullmatch(r"[\x21-\x7e]+", key):
                key, problem = "", "holds a character that no key has, such as a space or a quotation mark"
                named = named or "given"
            if named and not key:
                text = f"{self.name}: the key {named} {problem}. Set it as an environment variable or store it."
                raise self._stop(EndpointStop(Reason.NO_KEY, text, None, None), sent)
            self._exchange.set_key(key)


def whole_reply(
    endpoint: HttpEndpoint, request: ChatRequest, content: bytes, applied: Mapping[str, Any], attempts: int
) -> ChatReply | Fault:
    """The answer to a request in a body that came otherwise than by :meth:`HttpEndpoint.chat`, as in a batch's results;
    it has no time of its own."""
    outcome = endpoint._exchange.read(content, 0.0)
    if isinstance(outcome, Fault):
        return outcome
    return endpoint._replies.reply(outcome, request, endpoint._model(request.model), attempts, applied)


def body_of(endpoint: HttpEndpoint, request: ChatRequest) -> tuple[dict[str, Any], dict[str, Any]]:
    """The body of a request as the endpoint is asked now, and what of it is sent otherwise than asked for.

    :raises FormRefused: the endpoint takes no reply schema.
    :raises EndpointStopped: the model takes no such request.
    """
    model, provider = endpoint._model(request.model), endpoint._provider
    endpoint._check(request, model)
    return provider.body(request, model.learned, False), common.otherwise(request, model.learned, provider)


def fault_of_result(endpoint: HttpEndpoint, request: ChatRequest, content: bytes, status: int) -> Fault:
    """What an error means that came in place of an answer, as in a batch's results."""
    learned = endpoint._model(request.model).learned
    provider, info = endpoint._provider, errors.error_info(content)
    schema = request.schema.schema if request.schema is not None else None
    sent = provider.sent(request, learned, False)
    fault = errors.classify(status, info, None, sent, provider.parameters, schema, bool(request.pictures))
    return replace(fault, text=endpoint._exchange.say(f"HTTP {status}: {info.message}", fault.text))


def learn_refusal(endpoint: HttpEndpoint, request: ChatRequest, fault: Fault) -> None:
    """Learns what the error in place of an answer refuses, so that the request can be put otherwise.

    :raises CallFailed: it was put otherwise already.
    """
    model = endpoint._model(request.model)
    endpoint._negotiate(request, model, dict(model.learned), fault, 1)


def _retry_words(wait: float) -> str:
    return "Trying again at once." if wait < 0.5 else f"Trying again in {duration(wait)}."


def _clock_time(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d %H:%M UTC")
