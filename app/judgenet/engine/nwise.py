"""Asks a judge to put several responses in order: one call per question, kept and paid for once like all calls."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from judgenet.core.bias.nwise import Group, Groups, read_order
from judgenet.core.calls import KeyPrefix, Parameters, further_settings
from judgenet.core.endpoint_extra import with_extra_of
from judgenet.core.evaluation import Unscored
from judgenet.core.plan import PriceRange, cost_of
from judgenet.core.prompts import family_of, language_of, mark_of
from judgenet.core.reasoning import thinking_tokens
from judgenet.core.schemas import ReplyForm, ranking_schema
from judgenet.core.tokens import estimate_tokens
from judgenet.core.wording import plural
from judgenet.engine.asked_calls import kept_answer
from judgenet.engine.budget import Budget
from judgenet.engine.endpoints import open_endpoints
from judgenet.engine.ports import (
    CallFailed,
    ChatReply,
    ChatRequest,
    Endpoint,
    EndpointStopped,
    FormRefused,
    ReplySchema,
)
from judgenet.engine.questions import Question
from judgenet.engine.runtime import Runtime
from judgenet.engine.session import Start
from judgenet.store.db import Store, now
from judgenet.store.labs import OrderAnswers
from judgenet.store.runs import keep_answer, recorded

_FORMS: tuple[ReplyForm, ReplyForm] = ("json", "text")
_MAX_TOKENS = 1024
_BASE_TOKENS = (8, 40)
_TOKENS_PER_RESPONSE = (2, 4)
"""Tokens of a short and of a long answer: a base, and some for each response."""


@dataclass(frozen=True, slots=True)
class OrdersEstimate:
    """Calls and price of asking for orders. ``price`` is that of the open calls, ``None`` where the model's price is
    unknown, with a ``reason``; ``currency`` and ``price_date`` are those of the price table."""

    calls: int
    recorded: int
    price: PriceRange | None
    reason: str
    currency: str
    price_date: str

    def to_json(self) -> dict[str, Any]:
        """Stable keys; an unknown price is ``null`` with a reason."""
        return {
            "calls": self.calls,
            "calls_recorded": self.recorded,
            "calls_open": self.calls - self.recorded,
            "price": None if self.price is None else list(self.price),
            "price_reason": self.reason or None,
            "reasons": {} if self.price is not None else {"price": self.reason},
            "currency": self.currency,
        }

    def line(self) -> str:
        """The estimate in one line."""
        paid = f", {self.recorded:,} of them paid for" if self.recorded else ""
        if self.price is None:
            return f"{plural(self.calls, 'call')} more{paid}; price unknown: {self.reason}"
        low, high = self.price
        price = f"{low:,.2f} to {high:,.2f} {self.currency} (prices of {self.price_date})"
        return f"{plural(self.calls, 'call')} more{paid}; price {price}"


def estimate_orders(start: Start, groups: Groups, store: Store | None) -> OrdersEstimate:
    """Calls and price of asking for the orders of all groups; ``store`` has the answers that
    are paid for already."""
    settings = start.spec.settings
    endpoint, model = settings.endpoint or "", settings.model or ""
    salt = start.salt if store is None else store.salt(start.salt)
    known = 0
    tokens = [0, 0, 0]
    for group in groups.groups:
        asked = [_question(start, salt, groups.size, group, form) for form in _FORMS]
        if store is not None and any(recorded(store, question.key) is not None for question in asked):
            known += 1
            continue
        answers = (base + each * groups.size for base, each in zip(_BASE_TOKENS, _TOKENS_PER_RESPONSE, strict=True))
        for place, more in enumerate((_tokens_in(asked[0]), *answers)):
            tokens[place] += more
    profile = start.profiles.get(endpoint)
    price = start.prices.find(model, endpoint, "" if profile is None else profile.kind)
    prices = None if price is None else PriceRange(*(cost_of(price, tokens[0], out) for out in tokens[1:]))
    if known == len(groups.groups):
        prices = PriceRange(0.0, 0.0)
    reason = (
        "" if prices is not None else f"the price of {model or 'the model'} at {endpoint or 'no endpoint'} is unknown"
    )
    return OrdersEstimate(len(groups.groups), known, prices, reason, start.prices.currency, start.prices.date)


@dataclass(slots=True)
class _Asking:
    """The results of asking about all groups, so far."""

    rankings: dict[int, tuple[str, ...]] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    new: int = 0
    message: str = ""


class OrdersHandle:
    """Calls about groups, made on the engine's thread. ``future`` gives the orders. May be used from any thread."""

    def __init__(self, store: Store, start: Start, groups: Groups, on_call: Callable[[int, int], None]) -> None:
        self._runtime = Runtime()
        self.future: Future[OrderAnswers] = self._runtime.submit(_ask_all(store, start, groups, on_call))

    def close(self) -> None:
        """Ends the calls; the answers so far are kept."""
        self._runtime.close()


def ask_orders(
    store: Store, start: Start, groups: Groups, on_call: Callable[[int, int], None] = lambda done, total: None
) -> OrdersHandle:
    """Asks the model of a start (its network's own settings) about all groups. ``on_call`` gets the number of
    answers, on the engine's thread. The start's limits hold."""
    return OrdersHandle(store, start, groups, on_call)


async def _ask_all(store: Store, start: Start, groups: Groups, on_call: Callable[[int, int], None]) -> OrderAnswers:
    name = start.spec.settings.endpoint or ""
    endpoint = open_endpoints([name], start.profiles, store, start.folder, lambda state: None, salt=start.salt)[name]
    asking = _Asking()
    asker = _Asker(store, start, endpoint, groups.size, asking)
    total = len(groups.groups)

    async def ask_and_count(group: Group) -> None:
        if await asker.ask(group):
            asking.asked += 1
            on_call(asking.asked, total)

    try:
        # The first call goes alone, so that a wrong key or a refused parameter shows before the second.
        await ask_and_count(groups.groups[0])
        places = asyncio.Semaphore(max(1, endpoint.concurrency))

        async def in_turn(group: Group) -> None:
            async with places:
                await ask_and_count(group)

        await asyncio.gather(*(in_turn(group) for group in groups.groups[1:]))
    finally:
        await endpoint.close()
    return OrderAnswers(
        size=groups.size,
        groups=total,
        asked=asking.asked,
        rankings=dict(sorted(asking.rankings.items())),
        reasons=dict(asking.reasons.most_common()),
        left_out=groups.left_out,
        calls_new=asking.new,
        message=asking.message,
    )


def _question(start: Start, salt: str, size: int, group: Group, form: ReplyForm) -> Question:
    """The question about a group."""
    spec, settings = start.spec, start.spec.settings
    language = language_of(group.material) if spec.language == "auto" else spec.language
    family = family_of(group.pair) if spec.family == "auto" else spec.family
    mark = mark_of(group.material, salt)
    prompt = start.book.ranking(group.pair, group.responses, mark=mark, form=form, language=language, family=family)
    temperature = None if settings.temperature == "default" else settings.temperature
    schema = ReplySchema("ranking", ranking_schema(size)) if form == "json" else None
    more = further_settings(with_extra_of(settings, start.profiles))
    limit = settings.max_tokens or _MAX_TOKENS
    parameters = Parameters(settings.model or "", temperature, limit, None if schema is None else schema.schema, more)
    digest = parameters.digest()
    key = KeyPrefix(digest, prompt.system, prompt.shared).key(prompt.own, 1, 0)
    return Question(form, prompt, parameters, digest, schema, key, ())


def _tokens_in(question: Question) -> int:
    prompt = question.prompt
    return sum(map(estimate_tokens, (prompt.system, prompt.shared, prompt.own, question.digest))) + 16


def _request(question: Question) -> ChatRequest:
    prompt, parameters = question.prompt, question.parameters
    return ChatRequest(
        model=parameters.model,
        system=prompt.system,
        shared=prompt.shared,
        own=prompt.own,
        form=question.form,
        schema=question.schema,
        temperature=parameters.temperature,
        max_tokens=parameters.max_tokens,
        more=parameters.more,
        key=question.key.hex(),
    )


class _Asker:
    """Asks about one group at a time and keeps the answers."""

    def __init__(self, store: Store, start: Start, endpoint: Endpoint, size: int, asking: _Asking) -> None:
        self._store = store
        self._start = start
        self._endpoint = endpoint
        self._size = size
        self._asking = asking
        self._budget = Budget(start.limits)
        self._salt = store.salt(start.salt)
        self._model = start.spec.settings.model or ""

    async def ask(self, group: Group) -> bool:
        """Asks about a group. True where there is an answer, readable or not."""
        for form in dict.fromkeys((self._endpoint.form(self._model), *_FORMS)):
            kept = recorded(self._store, self._question(group, form).key)
            if kept is not None:
                self._take(group, kept.raw_text, kept.finish_reason)
                return True
        if self._asking.message:
            return False
        for _ in _FORMS:
            form = self._endpoint.form(self._model)
            try:
                reply = await self._send(group, form)
            except FormRefused:
                continue
            except EndpointStopped as stop:
                self._asking.message = str(stop)
                return False
            except CallFailed as failure:
                # No answer: the next start asks again.
                self._asking.reasons[failure.reason.value] += 1
                return False
            if reply is None:
                return False
            self._take(group, reply.text, reply.finish_reason)
            return True
        return False

    def _question(self, group: Group, form: ReplyForm) -> Question:
        return _question(self._start, self._salt, self._size, group, form)

    async def _send(self, group: Group, form: ReplyForm) -> ChatReply | None:
        """The answer, kept; ``None`` where a limit is in the way."""
        question = self._question(group, form)
        parameters = question.parameters
        kind = self._start.profiles[self._endpoint.name].kind
        price = self._start.prices.find(parameters.model, self._endpoint.name, kind)
        tokens_in = _tokens_in(question)
        tokens_out = parameters.max_tokens + thinking_tokens(parameters.more.get("reasoning"))
        most = None if price is None else cost_of(price, tokens_in, tokens_out, 0)
        reserve = self._budget.reserve(tokens_in + tokens_out, most)
        if reserve is None:
            self._asking.message = f"Stopped by the limit: {self._budget.spent_up} used."
            return None
        started_at = now()
        try:
            reply = await self._endpoint.chat(_request(question))
        except BaseException as error:
            self._budget.give_back(reserve, asked=not isinstance(error, (FormRefused, EndpointStopped)))
            raise
        usage = reply.usage
        paid = None if price is None else cost_of(price, usage.prompt, usage.completion, usage.cached)
        self._budget.settle(reserve, usage.prompt + usage.completion, paid)
        self._asking.new += 1
        answer = kept_answer(question, self._endpoint.name, reply, usage, paid, reply.attempts, started_at)
        self._store.put(lambda db: keep_answer(db, self._store, answer))
        return reply

    def _take(self, group: Group, text: str, finish_reason: str) -> None:
        order = read_order(text, self._size, finish_reason)
        if isinstance(order, Unscored):
            self._asking.reasons[order.reason.value] += 1
        else:
            self._asking.rankings[group.question] = tuple(group.systems[place] for place in order)
