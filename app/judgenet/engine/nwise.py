"""Asks a judge to put several responses in order: one call an instruction, kept and paid once as all calls are."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from judgenet.core.bias.nwise import Group, Groups, read_order
from judgenet.core.calls import KeyPrefix, Parameters
from judgenet.core.evaluation import Unscored
from judgenet.core.plan import cost_of
from judgenet.core.prompts import Form, Prompt, family_of, language_of, mark_of
from judgenet.core.schemas import ranking_schema
from judgenet.core.tokens import estimate_tokens
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
from judgenet.engine.runtime import Runtime
from judgenet.engine.session import Start
from judgenet.store.db import Store, now
from judgenet.store.labs import Orders
from judgenet.store.runs import Answer, keep_answer, recorded

_FORMS: tuple[Form, Form] = ("json", "text")


@dataclass(slots=True)
class _Asking:
    """What one asking of all groups has come to so far."""

    rankings: dict[int, tuple[str, ...]] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    new: int = 0
    message: str = ""


class OrdersHandle:
    """An asking that goes on in a thread. ``future`` gives the orders. May be used from any thread."""

    def __init__(self, store: Store, start: Start, groups: Groups, on_call: Callable[[int, int], None]) -> None:
        self._runtime = Runtime()
        self.future: Future[Orders] = self._runtime.submit(_ask_all(store, start, groups, on_call))

    def close(self) -> None:
        """Ends what goes on; answers that came in are kept."""
        self._runtime.close()


def ask_orders(
    store: Store, start: Start, groups: Groups, on_call: Callable[[int, int], None] = lambda done, total: None
) -> OrdersHandle:
    """Asks the model of a start (its network's own settings) about all groups. ``on_call`` hears, on the engine's
    thread, how many are in. The start's limits hold."""
    return OrdersHandle(store, start, groups, on_call)


async def _ask_all(store: Store, start: Start, groups: Groups, on_call: Callable[[int, int], None]) -> Orders:
    name = start.spec.settings.endpoint or ""
    endpoint = open_endpoints([name], start.profiles, store, start.folder, lambda state: None)[name]
    asking = _Asking()
    asker = _Asker(store, start, endpoint, groups.size, asking)
    total = len(groups.groups)

    async def one(group: Group) -> None:
        if await asker.ask(group):
            asking.asked += 1
            on_call(asking.asked, total)

    try:
        # The first call goes alone: a wrong key or a refused parameter shows before a second one is sent.
        await one(groups.groups[0])
        waiting = asyncio.Semaphore(max(1, endpoint.concurrency))

        async def in_turn(group: Group) -> None:
            async with waiting:
                await one(group)

        await asyncio.gather(*(in_turn(group) for group in groups.groups[1:]))
    finally:
        await endpoint.close()
    return Orders(
        size=groups.size,
        groups=total,
        asked=asking.asked,
        rankings=dict(sorted(asking.rankings.items())),
        reasons=dict(asking.reasons.most_common()),
        left_out=groups.left_out,
        calls_new=asking.new,
        message=asking.message,
    )


class _Asker:
    """Asks one group after the other and keeps what came of it."""

    def __init__(self, store: Store, start: Start, endpoint: Endpoint, size: int, asking: _Asking) -> None:
        self._store = store
        self._start = start
        self._endpoint = endpoint
        self._size = size
        self._asking = asking
        self._budget = Budget(start.limits)
        self._salt = store.salt(start.salt)
        settings = start.spec.settings
        self._model = settings.model or ""
        self._temperature = None if settings.temperature == "default" else settings.temperature
        self._max_tokens = settings.max_tokens or 1024

    async def ask(self, group: Group) -> bool:
        """True where the group has an answer, readable or not."""
        for form in dict.fromkeys((self._endpoint.form(self._model), *_FORMS)):
            kept = recorded(self._store, self._question(group, form)[2])
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
                # No answer: it is asked again the next time.
                self._asking.reasons[failure.reason.value] += 1
                return False
            if reply is None:
                return False
            self._take(group, reply.text, reply.finish_reason)
            return True
        return False

    def _question(self, group: Group, form: Form) -> tuple[Prompt, Parameters, bytes]:
        spec = self._start.spec
        language = language_of(group.material) if spec.language == "auto" else spec.language
        family = family_of(group.pair) if spec.family == "auto" else spec.family
        mark = mark_of(group.material, self._salt)
        prompt = self._start.book.ranking(
            group.pair, group.responses, mark=mark, form=form, language=language, family=family
        )
        schema = ranking_schema(self._size) if form == "json" else None
        parameters = Parameters(self._model, self._temperature, self._max_tokens, schema)
        return prompt, parameters, KeyPrefix(parameters.digest(), prompt.system, prompt.shared).key(prompt.own, 1, 0)

    async def _send(self, group: Group, form: Form) -> ChatReply | None:
        """The answer, kept; ``None`` where a limit is in the way."""
        prompt, parameters, key = self._question(group, form)
        tokens_in = sum(map(estimate_tokens, (prompt.system, prompt.shared, prompt.own, parameters.digest()))) + 16
        kind = self._start.profiles[self._endpoint.name].kind
        price = self._start.prices.find(self._model, self._endpoint.name, kind)
        most = None if price is None else cost_of(price, tokens_in, self._max_tokens, 0)
        reserve = self._budget.reserve(tokens_in + self._max_tokens, most)
        if reserve is None:
            self._asking.message = f"Stopped by the limit: {self._budget.spent_up} used."
            return None
        started_at = now()
        try:
            reply = await self._endpoint.chat(
                ChatRequest(
                    model=self._model,
                    system=prompt.system,
                    shared=prompt.shared,
                    own=prompt.own,
                    form=form,
                    schema=None if parameters.schema is None else ReplySchema("ranking", parameters.schema),
                    temperature=self._temperature,
                    max_tokens=self._max_tokens,
                    key=key.hex(),
                )
            )
        except BaseException as error:
            self._budget.give_back(reserve, asked=not isinstance(error, (FormRefused, EndpointStopped)))
            raise
        usage = reply.usage
        paid = None if price is None else cost_of(price, usage.prompt, usage.completion, usage.cached)
        self._budget.settle(reserve, usage.prompt + usage.completion, paid)
        self._asking.new += 1
        answer = Answer(
            key=key,
            endpoint=self._endpoint.name,
            model=self._model,
            form=form,
            parameters=parameters.digest(),
            system=prompt.system,
            shared=prompt.shared,
            own=prompt.own,
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
            price=paid,
            latency_s=reply.latency_s,
            attempts=reply.attempts,
            started_at=started_at,
        )
        self._store.put(lambda db: keep_answer(db, self._store, answer))
        return reply

    def _take(self, group: Group, text: str, finish_reason: str) -> None:
        found = read_order(text, self._size, finish_reason)
        if isinstance(found, Unscored):
            self._asking.reasons[found.reason.value] += 1
        else:
            self._asking.rankings[group.question] = tuple(group.systems[place] for place in found)
