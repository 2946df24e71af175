"""A call that is asked, and one that ended; and what endpoint, store and listeners get of it."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field

from judgenet.core.evaluation import Evaluation, Reason, Unscored
from judgenet.core.events import CallFinished
from judgenet.core.pictures import PICTURES_RECORD, picture_tokens
from judgenet.core.plan import Price, PriceTable, batch_price, cost_of
from judgenet.core.reasoning import thinking_tokens
from judgenet.core.tokens import estimate_tokens
from judgenet.engine.budget import Budget, Limits, Reserve, Used
from judgenet.engine.ports import CallFailed, ChatReply, ChatRequest, Endpoint, SentPicture, Usage
from judgenet.engine.questions import CallResult, Question
from judgenet.engine.work import Call
from judgenet.formats.pictures import PictureError
from judgenet.store.db import StoreError
from judgenet.store.pictures import SentPictures
from judgenet.store.runs import Answer, Outcome


@dataclass(slots=True, eq=False)
class Lane:
    """The calls of one endpoint."""

    endpoint: Endpoint
    ready: list[tuple[tuple[int, int, int, int, int], Call]] = field(default_factory=list)
    in_flight: int = 0
    keeping: int = 0
    """Number of answers that are not on disk yet."""
    most_keeping: int = 0
    """The most of them, where answers can be had again; 0: as many as parallel calls."""
    opened: bool = False
    stopped: str = ""
    stopped_models: dict[str, str] = field(default_factory=dict)
    blind_models: dict[str, str] = field(default_factory=dict)
    """Models that take no pictures, with the message that says so."""
    held: list[Call] = field(default_factory=list)
    spare: bool = False
    """Only stand-ins would be asked here, and none has been yet."""

    def holds(self, call: Call) -> bool:
        """Whether a call waits, since its model has stopped."""
        model = call.settings.model or ""
        return model in self.stopped_models or (model in self.blind_models and bool(call.work.pair.pictures))

    @property
    def stops(self) -> list[str]:
        """Why calls wait, in words."""
        if self.stopped:
            return [self.stopped]
        return [*self.stopped_models.values(), *self.blind_models.values()]

    @property
    def room(self) -> bool:
        """Whether another call may be sent now."""
        # The first call goes alone: a wrong key or a refused parameter shows before a second one is sent.
        most = self.endpoint.concurrency if self.opened else 1
        return (
            not self.stopped
            and self.in_flight < most
            and self.keeping < (self.most_keeping or self.endpoint.concurrency)
        )


@dataclass(slots=True, eq=False)
class AskedCall:
    """A call with its question, ready to be sent or in flight."""

    call: Call
    lane: Lane
    question: Question
    reserve: Reserve | None = None
    pictures: tuple[SentPicture, ...] = ()
    tokens_in: int = 0
    """The estimate of the prompt's tokens, where a limit needs one."""
    in_batch: bool = False
    """Whether it is asked in a batch, at the price of one."""

    @property
    def model(self) -> tuple[str, str]:
        """The names of the endpoint and of the model that is asked."""
        return self.lane.endpoint.name, self.question.parameters.model


@dataclass(slots=True, eq=False)
class EndedCall:
    """A call that ended: its result, and what it used. ``key`` is set where a new answer was kept."""

    call: Call
    result: CallResult
    key: bytes | None
    usage: Usage
    price: float | None
    latency_s: float
    attempts: int
    cached: bool = False

    @property
    def stand_in(self) -> str:
        """Who answered in place of the neuron's own model, as ``endpoint/model``; empty where it did itself."""
        answered = self.key is not None or self.cached
        settings = self.call.settings
        return f"{settings.endpoint}/{settings.model}" if answered and self.call.instead_of is not None else ""


def request_of(asked: AskedCall, max_tokens: int) -> ChatRequest:
    """The request of a call, as an endpoint gets it."""
    question = asked.question
    prompt = question.prompt
    return ChatRequest(
        model=question.parameters.model,
        system=prompt.system,
        shared=prompt.shared,
        own=prompt.own,
        form=question.form,
        schema=question.schema,
        temperature=question.parameters.temperature,
        max_tokens=max_tokens,
        more={name: value for name, value in question.parameters.more.items() if name != PICTURES_RECORD},
        pictures=asked.pictures,
        key=question.key.hex(),
        site=str(asked.call.site),
    )


def answer_of(
    asked: AskedCall, reply: ChatReply, usage: Usage, price: float | None, attempts: int, started_at: float
) -> Answer:
    """The answer to a call, as the store keeps it."""
    return kept_answer(asked.question, asked.lane.endpoint.name, reply, usage, price, attempts, started_at)


def kept_answer(
    question: Question,
    endpoint: str,
    reply: ChatReply,
    usage: Usage,
    price: float | None,
    attempts: int,
    started_at: float,
) -> Answer:
    """An endpoint's answer to a question, as the store keeps it: times to the millisecond."""
    return Answer(
        key=question.key,
        endpoint=endpoint,
        model=question.parameters.model,
        form=question.form,
        parameters=question.digest,
        applied=reply.applied,
        system=question.prompt.system,
        shared=question.prompt.shared,
        own=question.prompt.own,
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
        latency_s=round(reply.latency_s, 3),
        attempts=attempts,
        started_at=started_at,
        likely=reply.likely,
        batch=reply.batch,
    )


def outcome_of(asked: AskedCall, ended: EndedCall, rule: str, started_at: float) -> Outcome:
    """The outcome of a call, as the store keeps it."""
    return Outcome(
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


def finished_event(run_id: str, ended: EndedCall) -> CallFinished:
    """The outcome of a call, as listeners get it."""
    result = ended.result
    scored = result if isinstance(result, Evaluation) else None
    return CallFinished(
        run_id,
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
        shares=None if scored is None else scored.shares,
        scores_from=None if scored is None else scored.scores_from,
        stand_in=ended.stand_in,
        sampled=None if scored is None else scored.sampled,
    )


async def pictures_of(question: Question, sent: SentPictures) -> tuple[SentPicture, ...]:
    """The pictures of a question as they are sent. Pictures that are not encoded yet are encoded in a thread.

    :raises CallFailed: a picture is not there, or cannot be read.
    """
    pictures = []
    for placed in question.prompt.pictures:
        try:
            form = sent.known(placed.picture)
            if form is None:
                form = await asyncio.to_thread(sent.sent, placed.picture)
        except (PictureError, StoreError, sqlite3.Error) as error:
            raise CallFailed(Reason.BAD_REQUEST, str(error), attempts=0) from None
        pictures.append(SentPicture(placed.mark, *form, placed.picture))
    return tuple(pictures)


class Spending:
    """What a start may still spend and has spent, and what its calls cost.

    ``kinds`` are the kinds of the endpoints by name, for prices; ``budget`` is used in place of an own one.
    """

    def __init__(
        self, limits: Limits, prices: PriceTable, kinds: Mapping[str, str], budget: Budget | None = None
    ) -> None:
        self._budget = budget or Budget(limits)
        self._table = prices
        self._kinds = kinds
        self._prices: dict[tuple[str, str, bool], Price | None] = {}
        self._excess: dict[tuple[str, str], float] = {}

    @property
    def used(self) -> Used:
        """What is used up of the limits."""
        return Used(self._budget.calls, self._budget.tokens, self._budget.price)

    @property
    def spent_up(self) -> str:
        """Which limit is in the way, for people."""
        return self._budget.spent_up

    @property
    def waits(self) -> bool:
        """Whether room may still come where there is none now."""
        return self._budget.waits

    def reserve(self, asked: AskedCall, tokens_out: int) -> Reserve | None:
        """Reserves room for a call with an answer of at most ``tokens_out`` tokens, and for its thinking; ``None``
        where there is no room now."""
        limits = self._budget.limits
        if limits.max_tokens is None and limits.max_price is None:
            return self._budget.reserve(0, 0.0)
        if not asked.tokens_in:
            # The parameters hold the reply schema, which endpoints count as part of the prompt.
            question = asked.question
            asked.tokens_in = (
                self._message_tokens(asked) + estimate_tokens(question.prompt.system + question.digest) + 16
            )
        tokens_in = math.ceil(asked.tokens_in * self._excess.get(asked.model, 1.0))
        tokens_out += thinking_tokens(asked.question.parameters.more.get("reasoning"))
        return self._budget.reserve(tokens_in + tokens_out, self._price(asked, Usage(tokens_in, tokens_out)))

    def settle(self, asked: AskedCall, usage: Usage, last: Usage) -> float | None:
        """Counts what an answered call used in all its attempts (``usage``) and returns its price, ``None`` where that
        is unknown. ``last`` is what the answer itself used."""
        price = self._price(asked, usage)
        if asked.tokens_in and last.prompt > asked.tokens_in:
            # Its tokenizer makes more of a text than was estimated: what is asked from now on is estimated likewise.
            # All of the excess is ascribed to the message, since the rest is a smaller part of longer prompts.
            share = last.prompt / max(self._message_tokens(asked), 1)
            self._excess[asked.model] = max(share, self._excess.get(asked.model, 1.0))
        if asked.reserve is not None:
            self._budget.settle(asked.reserve, usage.prompt + usage.completion, price)
            asked.reserve = None
        return price

    def hold(self, calls: int, tokens: int, price: float) -> None:
        """Reserves what the calls may use that an earlier start put into batches."""
        self._budget.hold(calls, tokens, price)

    def give_back(self, reserve: Reserve, *, asked: bool) -> None:
        """Frees what a call held that brought no answer. ``asked`` counts it as a call all the same."""
        self._budget.give_back(reserve, asked=asked)

    def _message_tokens(self, asked: AskedCall) -> int:
        prompt, (endpoint, model) = asked.question.prompt, asked.model
        tokens = estimate_tokens(prompt.shared + prompt.own)
        kind = self._kinds.get(endpoint, "")
        sizes = ((placed.picture.width, placed.picture.height) for placed in prompt.pictures)
        return tokens + sum(picture_tokens(kind, model, *size) for size in sizes)

    def _price(self, asked: AskedCall, usage: Usage) -> float | None:
        endpoint, model = asked.model
        at = (endpoint, model, asked.in_batch)
        if at not in self._prices:
            price = self._table.find(model, endpoint, self._kinds.get(endpoint, ""))
            self._prices[at] = batch_price(price) if asked.in_batch and price is not None else price
        price = self._prices[at]
        return None if price is None else cost_of(price, usage.prompt, usage.completion, usage.cached)
