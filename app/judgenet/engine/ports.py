"""The interface between the executor and an endpoint. No HTTP here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from judgenet.core.endpoints import EndpointProfile as EndpointProfile
from judgenet.core.evaluation import Reason
from judgenet.core.pictures import PairPicture
from judgenet.core.probabilities import TokenAlternatives
from judgenet.core.reasoning import thinking_tokens
from judgenet.core.schemas import ReplyForm

FinishReason = Literal["stop", "length", "filtered", "refused", "too_large", "unreadable", "unknown"]
"""Why an answer ended; ``unreadable``: it arrived complete, in a form that cannot be read."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call. ``cached`` are prompt tokens that the endpoint took from its prompt cache,
    ``reasoning`` completion tokens spent on thinking. ``estimated`` marks our own count, where
    the endpoint reports none."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0
    estimated: bool = False

    def plus(self, other: Usage) -> Usage:
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """A JSON schema with the name that some endpoints want."""

    name: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SentPicture:
    """A picture of a request: it follows ``mark`` in the shared text. ``data`` is base64; ``picture`` has its size, for
    counting tokens."""

    mark: str
    media: str
    data: str = field(repr=False)
    picture: PairPicture


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to a model.

    The user message is ``shared + own``; ``shared`` is the part that calls of the same pair and order
    have in common, so that an endpoint with an explicit prompt cache can mark it.
    ``temperature=None`` leaves the parameter out. ``seed`` is sent where the endpoint takes one.
    ``site`` identifies the call (pair, layer, neuron, order, sample); only the replay endpoint and messages to the user
    need it. ``more`` has the settings that not every call has, by name. ``max_tokens`` is the limit of the answer
    itself; the provider adds the room for thinking (``most_tokens`` includes it). ``pictures`` are those of the shared
    text, in its order.
    """

    model: str
    system: str
    shared: str
    own: str
    form: ReplyForm = "text"
    schema: ReplySchema | None = None
    temperature: float | None = None
    max_tokens: int = 1024
    seed: int | None = None
    key: str = ""
    site: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)
    pictures: tuple[SentPicture, ...] = ()

    @property
    def user(self) -> str:
        return self.shared + self.own

    @property
    def most_tokens(self) -> int:
        """The most tokens that the answer may have, thinking included."""
        return self.max_tokens + thinking_tokens(self.more.get("reasoning"))


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A model's answer.

    ``text`` is the answer as sent, including thinking blocks in it; ``thinking`` is the thinking that came in a
    field of its own. ``model`` is the id that the endpoint returned. ``latency_s`` counts from sending
    the last attempt to its last byte; ``attempts`` counts the requests sent. ``applied`` has the parameters
    that were not sent as asked for (``{"temperature": "not applied"}``); empty where all were. ``batch`` is the id of
    the batch that it came with, ``None`` for a live call.
    """

    text: str
    finish_reason: FinishReason = "unknown"
    raw_finish_reason: str | None = None
    model: str | None = None
    fingerprint: str | None = None
    thinking: str | None = None
    usage: Usage = field(default_factory=Usage)
    latency_s: float = 0.0
    attempts: int = 1
    applied: Mapping[str, Any] = field(default_factory=dict)
    tokens: tuple[TokenAlternatives, ...] = ()
    """The tokens of the answer with their alternatives, where these were requested and reported."""
    likely: str | None = None
    """What the store keeps of them, as in :class:`judgenet.store.runs.Answer`."""
    batch: str | None = None


class CallFailed(Exception):
    """A call without an answer after its retries.

    ``reason`` is one of the reasons without an answer. The message says what happened and what to do, and contains no
    secret. ``attempts`` counts the requests sent.
    """

    def __init__(self, reason: Reason, message: str, *, status: int | None = None, attempts: int = 1) -> None:
        super().__init__(message)
        self.reason = reason
        self.status = status
        self.attempts = attempts


class FormRefused(Exception):
    """The endpoint refuses the reply schema: the call must be repeated in the form that ``Endpoint.form`` gives now.
    Nothing was paid."""


class EndpointStopped(CallFailed):
    """Further calls to this endpoint cannot succeed now (authentication, quota, missing key, unknown model). The
    endpoint pauses; the rest of the run goes on.

    ``model`` is set where it concerns only calls to that model. ``attempts`` may be 0: the endpoint had stopped before
    this call was sent.
    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        status: int | None = None,
        attempts: int = 1,
        model: str | None = None,
    ) -> None:
        super().__init__(reason, message, status=status, attempts=attempts)
        self.model = model


class PicturesRefused(EndpointStopped):
    """The endpoint's model takes no pictures: only calls without pictures to ``model`` can succeed."""


@dataclass(frozen=True, slots=True)
class EndpointState:
    """A change of an endpoint's state, with the states of ``core.events.EndpointChanged``.

    ``until`` is the POSIX time up to which it waits or stays stopped, where that is known. ``message`` is for the user
    and contains no secret. ``model`` is set where an answer to a call of that model caused it.
    """

    endpoint: str
    state: Literal["open", "slow", "waiting", "away", "failing", "stopped", "learned"]
    message: str
    until: float | None = None
    model: str = ""


OnState = Callable[[EndpointState], None]
"""Called when an endpoint slows down, waits, stops, recovers or learns something."""


OnText = Callable[[str], None]
"""Called with each piece of an answer as it is written. After a failed attempt the pieces of the next begin anew; only
the reply counts."""


class Endpoint(Protocol):
    """A service that answers chat requests. All methods run on the engine's loop."""

    name: str
    concurrency: int
    """How many calls the executor may make at a time."""

    @property
    def away_for(self) -> float:
        """Seconds for which the endpoint has been out of reach; 0 while it is reached."""
        ...

    def form(self, model: str) -> ReplyForm:
        """The reply form to request, by what is known about the endpoint and the model now."""
        ...

    def known(self, model: str) -> bool:
        """Whether a call to this model has succeeded in this run: until then calls are made one at a time."""
        ...

    async def chat(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        """Makes the call, with retries where they may help, and returns the answer.

        ``on_text`` turns streaming on where the endpoint supports it.

        :raises FormRefused: the endpoint refuses the reply schema.
        :raises EndpointStopped: no call to the endpoint can succeed now.
        :raises CallFailed: no answer to this call.
        """
        ...

    def learned(self, model: str) -> dict[str, Any]:
        """What the endpoint refuses in requests to the model, JSON-able, for the run's record."""
        ...

    def pause(self) -> None:
        """Sends nothing more until :meth:`resume`; a call that waits for its next attempt keeps waiting."""
        ...

    def resume(self) -> None:
        """Continues after a pause, and tries again after a stop."""
        ...

    async def close(self) -> None:
        """Closes connections and ends child processes."""
        ...


class Capabilities(Protocol):
    """Keeps what was learned about endpoints and models beyond the run."""

    def load(self, endpoint: str, model: str) -> dict[str, Any]:
        """What is known about a model; empty where nothing is."""
        ...

    def save(self, endpoint: str, model: str, learned: dict[str, Any]) -> None:
        """Keeps what was learned. ``learned`` is JSON-able."""
        ...
