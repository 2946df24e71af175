"""The endpoints of one worker, held to its shares of the windows that all workers have in common."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.schemas import ReplyForm
from judgenet.engine.broker import ModelAt, ModelBeat
from judgenet.engine.ports import ChatReply, ChatRequest, Endpoint, EndpointState, EndpointStopped, OnText
from judgenet.engine.session import OpenEndpoints
from judgenet.engine.shared_window import WindowShare
from judgenet.store.db import Store


@dataclass(slots=True)
class _Model:
    """A model as this worker uses it: what it may have in flight and has, and what is to be told of it."""

    share: int = 1
    held_until: float = -math.inf
    in_flight: int = 0
    peak: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    answers: int = 0
    throttled: bool = False
    wait_s: float = 0.0
    stopped: str = ""
    followed: bool = False
    """Whether a stand-in is asked where it stops, in every call."""

    def begin(self) -> None:
        """Counts a call that goes out."""
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)

    def beat(self) -> ModelBeat:
        """What is told of it now, and only once."""
        beat = ModelBeat(max(self.peak, self.in_flight), self.answers, self.throttled, self.wait_s, self.stopped)
        self.peak = self.in_flight
        self.answers, self.throttled, self.wait_s, self.stopped = 0, False, 0.0, ""
        return beat


class SharedEndpoint:
    """An endpoint whose calls keep within the worker's shares (``ports.Endpoint``).

    Throttling slows this worker at once, by the endpoint's own limits, and the others through the broker. ``stopping``
    holds the run back before a stop is raised: all workers wait then, and none ends its run for it. Where stand-ins
    follow, the run goes on with them.
    """

    def __init__(self, inner: Endpoint, models: dict[str, _Model], stopping: Callable[[], None]) -> None:
        self.name = inner.name
        self._inner = inner
        self._models = models
        self._stopping = stopping
        self.concurrency = 1

    @property
    def away_for(self) -> float:
        """As the endpoint's own."""
        return self._inner.away_for

    def set_shares(self) -> None:
        """Takes in that the shares have changed."""
        # Not 0: a run that could have nothing in flight would take itself for finished. Its call waits in `chat`.
        shares = sum(model.share for model in self._models.values())
        self.concurrency = max(1, min(self._inner.concurrency, shares))
        self.let_in()

    async def chat(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        """Asks when the share of the model leaves room; see ``ports.Endpoint``."""
        model = self._models.get(request.model)
        if model is None:
            # A model that nobody planned for has no window of all workers; the endpoint's own limits hold it.
            model = self._models[request.model] = _Model(share=self._inner.concurrency)
        await self._enter(model)
        try:
            reply = await self._inner.chat(request, on_text)
            model.answers += 1
            return reply
        except EndpointStopped as stop:
            alone = [share for name, share in self._models.items() if stop.model in (None, name) and not share.followed]
            for share in alone:
                share.stopped = str(stop)
            if alone:
                self._stopping()
                # The loop gets its turns, so that the run is held before it hears of the stop.
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            raise
        finally:
            model.in_flight -= 1
            self.let_in()

    async def _enter(self, model: _Model) -> None:
        if not model.waiting and self._room(model):
            model.begin()
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        model.waiting.append(turn)
        self.let_in()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                model.in_flight -= 1
                self.let_in()
            elif turn in model.waiting:
                model.waiting.remove(turn)
            raise

    @staticmethod
    def _room(model: _Model) -> bool:
        return model.in_flight < model.share and time.monotonic() >= model.held_until

    def let_in(self) -> None:
        """Lets calls go that waited for room."""
        for model in self._models.values():
            while model.waiting and self._room(model):
                turn = model.waiting.popleft()
                if not turn.done():
                    model.begin()
                    turn.set_result(None)
            if model.waiting and (hold := model.held_until - time.monotonic()) > 0:
                asyncio.get_running_loop().call_later(hold, self.let_in)

    def form(self, model: str) -> ReplyForm:
        return self._inner.form(model)

    def known(self, model: str) -> bool:
        return self._inner.known(model)

    def learned(self, model: str) -> dict[str, Any]:
        return self._inner.learned(model)

    def pause(self) -> None:
        self._inner.pause()

    def resume(self) -> None:
        self._inner.resume()

    async def close(self) -> None:
        await self._inner.close()


class SharedEndpoints:
    """Opens a worker's endpoints, says what they do, and holds them to the shares that the broker gives.

    ``models`` are all that the run asks; ``workers`` is how many share each. ``wake`` is called (on the engine's loop)
    when the broker should hear something at once, ``stopping`` before a stop is raised that no stand-in follows
    (``stood_in_for``).
    """

    def __init__(
        self,
        opens: OpenEndpoints,
        models: Iterable[ModelAt],
        workers: int,
        wake: Callable[[], None],
        stopping: Callable[[], None],
        stood_in_for: Collection[ModelAt] = (),
    ) -> None:
        self._opens = opens
        self._workers = max(1, workers)
        self._wake = wake
        self._stopping = stopping
        self._models: dict[str, dict[str, _Model]] = {}
        for endpoint, model in models:
            followed = (endpoint, model) in stood_in_for
            self._models.setdefault(endpoint, {})[model] = _Model(followed=followed)
        self._opened: dict[str, SharedEndpoint] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(
        self,
        names: Iterable[str],
        profiles: Mapping[str, EndpointProfile],
        store: Store,
        folder: Path | None,
        on_state: Callable[[EndpointState], None],
    ) -> dict[str, Endpoint]:
        """As :data:`judgenet.engine.session.OpenEndpoints`."""
        names = tuple(names)
        self._loop = asyncio.get_running_loop()

        def hear(state: EndpointState) -> None:
            if state.state in ("slow", "waiting"):
                for name, model in self._models.get(state.endpoint, {}).items():
                    if state.model in ("", name):
                        model.throttled = True
                        model.wait_s = max(model.wait_s, (state.until or 0.0) - time.time())
                self._wake()
            on_state(state)

        shared = {name: self._profile(profiles[name]) for name in names}
        inner = self._opens(names, {**profiles, **shared}, store, folder, hear)

        def stopping() -> None:
            self._stopping()
            self._wake()

        self._opened = {
            name: SharedEndpoint(endpoint, self._models.setdefault(name, {}), stopping)
            for name, endpoint in inner.items()
        }
        return {**self._opened}

    def _profile(self, profile: EndpointProfile) -> EndpointProfile:
        """The profile for one of the workers: its part of what is allowed a minute, and room in flight for up to twice
        its part, since others may need less."""

        def part(limit: float | None) -> float | None:
            return None if limit is None else limit / self._workers

        return replace(
            profile,
            concurrency=min(profile.concurrency, 2 * math.ceil(profile.concurrency / self._workers)),
            requests_per_minute=part(profile.requests_per_minute),
            tokens_per_minute=part(profile.tokens_per_minute),
        )

    @property
    def in_flight(self) -> int:
        """Calls that are on their way to the endpoints."""
        return sum(model.in_flight for models in self._models.values() for model in models.values())

    def beats(self) -> dict[ModelAt, ModelBeat]:
        """What is to be told of each model since the last time."""
        return {
            (endpoint, name): model.beat()
            for endpoint, models in self._models.items()
            for name, model in models.items()
        }

    def obey(self, shares: Mapping[ModelAt, WindowShare]) -> bool:
        """Sets the shares, from any thread; true where one has grown."""
        grown = False
        now = time.monotonic()
        for (endpoint, name), share in shares.items():
            model = self._models[endpoint][name]
            grown = grown or share.calls > model.share
            model.share, model.held_until = share.calls, now + share.hold_s if share.hold_s else -math.inf
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._set_shares)
        return grown

    def _set_shares(self) -> None:
        for endpoint in self._opened.values():
            endpoint.set_shares()
