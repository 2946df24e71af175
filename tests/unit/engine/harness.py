"""A run against an endpoint in the same process: scripted answers, counted calls, no network."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgenet.core.calls import CallSite
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.events import Event, RunFinished
from judgenet.core.network import NetworkSpec, Settings
from judgenet.core.pairs import Pair
from judgenet.core.plan import prices_from_json
from judgenet.core.presets import network
from judgenet.core.prompts import PromptBook
from judgenet.core.schemas import ReplyForm
from judgenet.engine.budget import Limits
from judgenet.engine.executor import Executor
from judgenet.engine.ports import ChatReply, ChatRequest, OnText, Usage
from judgenet.engine.session import Start, plan_run, with_models
from judgenet.store.db import Store

SETTINGS = Settings(endpoint="fake", model="judge", temperature=0.0)
PROFILES = {
    "fake": EndpointProfile("fake", base_url="http://127.0.0.1:9", model="judge"),
    "other": EndpointProfile("other", base_url="http://127.0.0.1:9", model="second"),
}
PRICES = prices_from_json(
    json.dumps({"date": "2026-01-01", "entries": [{"models": ["judge"], "input": 10.0, "output": 20.0}]})
)


def pairs(count: int, **changes: Any) -> list[Pair]:
    return [Pair(f"p{i}", f"question {i}", f"first answer {i}", f"second answer {i}", **changes) for i in range(count)]


def scores_of(text: str) -> tuple[int, int]:
    """Scores that depend on the prompt alone."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return digest[0] % 10 + 1, digest[1] % 10 + 1


def plain_answer(request: ChatRequest) -> str:
    """What the fake judge says: roles where roles are asked for, else scores that the prompt decides."""
    if request.schema is not None and request.schema.name == "roles":
        roles = [{"name": f"Role {n}", "description": f"aspect {n}"} for n in (1, 2, 3)]
        return json.dumps({"roles": roles})
    first, second = scores_of(request.user)
    return json.dumps({"evidence": f"seen {request.key[:8]}", "score_1": first, "score_2": second})


Answer = Callable[[ChatRequest], str | ChatReply | Exception]


@dataclass
class FakeEndpoint:
    """Answers from a function. Holds what it was asked and how many were in flight."""

    answer: Answer = plain_answer
    name: str = "fake"
    concurrency: int = 8
    delay: float = 0.0
    form_now: ReplyForm = "json"
    asked: list[ChatRequest] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    gate: asyncio.Event | None = None
    away_for: float = 0.0

    def form(self, model: str) -> ReplyForm:
        return self.form_now

    def known(self, model: str) -> bool:
        return True

    async def chat(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        self.asked.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.delay)
            if self.gate is not None:
                await self.gate.wait()
            said = self.answer(request)
            if isinstance(said, Exception):
                raise said
            if isinstance(said, ChatReply):
                return said
            if on_text is not None:
                for piece in (said[:5], said[5:]):
                    on_text(piece)
            return ChatReply(said, "stop", model="judge-2026", usage=Usage(100, 10))
        finally:
            self.in_flight -= 1

    def learned(self, model: str) -> dict[str, Any]:
        return {}

    def pause(self) -> None:
        return None

    def resume(self) -> None:
        return None

    async def close(self) -> None:
        return None


def start(spec: NetworkSpec | None = None, judged: list[Pair] | None = None, **changes: Any) -> Start:
    """A start with the fake endpoint; the default network is 2 layers of 3 neurons with generated roles."""
    spec = spec or network(3, 2, settings=SETTINGS)
    values: dict[str, Any] = {
        "spec": with_models(spec, PROFILES),
        "pairs": judged if judged is not None else pairs(2),
        "book": PromptBook.default(),
        "prices": PRICES,
        "profiles": PROFILES,
        "salt": "salt-of-the-tests",
        "limits": Limits(),
    }
    return Start(**{**values, **changes})


@dataclass
class Ran:
    """What a run told and where it is kept."""

    finished: RunFinished
    events: list[Event]
    endpoints: dict[str, FakeEndpoint]

    @property
    def asked(self) -> list[ChatRequest]:
        return [request for endpoint in self.endpoints.values() for request in endpoint.asked]


def site_of(request: ChatRequest) -> CallSite:
    """The place of a call, from what the executor writes for people."""
    return eval(request.site, {"CallSite": CallSite})


def run(
    path: Path,
    begin: Start | None = None,
    *endpoints: FakeEndpoint,
    during: Callable[[Executor, list[Event]], Any] | None = None,
) -> Ran:
    """Runs to the end. ``during`` is a coroutine function that may pause, resume or cancel."""
    begin = begin or start()
    fakes = {endpoint.name: endpoint for endpoint in endpoints or (FakeEndpoint(),)}
    events: list[Event] = []

    async def go() -> RunFinished:
        executor = Executor(plan_run(store, begin), store, fakes, events.append)
        if during is None:
            return await asyncio.wait_for(executor.run(), 60)
        helper = asyncio.ensure_future(during(executor, events))
        finished = await asyncio.wait_for(executor.run(), 60)
        await helper
        return finished

    with Store.open(path) as store:
        finished = asyncio.run(go())
    return Ran(finished, events, fakes)
