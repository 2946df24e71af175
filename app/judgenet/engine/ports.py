"""What the executor needs of an endpoint, and what an endpoint gives back. No HTTP here."""

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
"""Why an answer ended; the last but one: it came whole, in a form that nothing can read."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call. ``cached`` are prompt tokens that the endpoint took from its prompt cache,
    ``reasoning`` completion tokens spent on thinking. ``estimated`` marks our own count, where the
    endpoint reports none."""

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
    """A picture of a request: it follows ``mark`` in the shared text. ``data`` is base64; ``picture`` is what is known
    of it, for counting tokens."""

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
    ``site`` says which call this is (pair, layer, neuron, order, sample): only the replay endpoint and
    messages to people look at it. ``more`` has the settings that not every call has, by name. ``max_tokens`` is the
    limit of the answer itself; the room for thinking (``most_tokens`` with it) is added by the provider. ``pictures``
    are those of the shared text, in its order.
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

    ``text`` is the answer as sent, thinking blocks in the text included; ``thinking`` is what came in
    a field of its own. ``model`` is the id that the endpoint returned. ``latency_s`` counts from sending
    the last attempt to its last byte; ``attempts`` counts the requests sent. ``applied`` has what was sent otherwise
    than asked for, by parameter (``{"temperature": "not applied"}``); empty where all was. ``batch`` is the id of the
    batch that brought it, ``None`` where it was asked live.
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
    """The tokens of the answer with their alternatives, where these were asked for and came."""
    likely: str | None = None
    """What is kept of them, as in :class:`judgenet.store.runs.Answer`."""
    batch: str | None = None


class CallFailed(Exception):
    """A call that brought no answer after its retries.

    ``reason`` is one of the reasons without an answer. The message says what happened and what to do,
    and holds no secret. ``attempts`` counts the requests sent.
    """

    def __init__(self, reason: Reason, message: str, *, status: int | None = None, attempts: int = 1) -> None:
        super().__init__(message)
        self.reason = reason
        self.status = status
        self.attempts = attempts


class FormRefused(Exception):
    """The endpoint refuses the reply schema: the call must be put again in the form that
    ``Endpoint.form`` now names. Nothing was paid."""


class EndpointStopped(CallFailed):
    """No further call to this endpoint makes sense now (authentication, quota, missing key, unknown
    model). The endpoint pauses; the rest of the run goes on.

    ``model`` is set where only calls to that model are concerned. ``attempts`` may be 0: the endpoint had
    stopped before this call was sent.
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
    """The endpoint's model takes no pictures: no call with pictures to ``model`` makes sense, others do."""


@dataclass(frozen=True, slots=True)
class EndpointState:
    """What an endpoint tells of itself, in the words of ``core.events.EndpointChanged``.

    ``until`` is the POSIX time up to which it waits or stays stopped, where that is known. ``message`` is
    for people and holds no secret. ``model`` is set where an answer to a call of that model brought it about.
    """

    endpoint: str
    state: Literal["open", "slow", "waiting", "away", "failing", "stopped", "learned"]
    message: str
    until: float | None = None
    model: str = ""


OnState = Callable[[EndpointState], None]
"""Told when an endpoint slows down, waits, stops, recovers or learns something."""


OnText = Callable[[str], None]
"""Told of each piece of an answer as it is written. An attempt that fails is followed by another, whose
pieces begin anew; the reply is what counts."""


class Endpoint(Protocol):
    """Somewhere that answers chat requests. All methods run on the engine's loop."""

    name: str
    concurrency: int
    """How many calls the executor may have in flight."""

    @property
    def away_for(self) -> float:
        """Seconds since nothing at the endpoint was reached any more; 0 where it is there."""
        ...

    def form(self, model: str) -> ReplyForm:
        """How replies are asked for, by what is known of the endpoint and model now."""
        ...

    def known(self, model: str) -> bool:
        """True when a call to this model has succeeded in this run: until then calls go one at a time."""
        ...

    async def chat(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        """Asks, retries what is worth retrying, and returns the answer.

        ``on_text`` turns streaming on where the endpoint can.

        :raises FormRefused: see there.
        :raises EndpointStopped: no call to the endpoint makes sense now.
        :raises CallFailed: no answer to this call.
        """
        ...

    def learned(self, model: str) -> dict[str, Any]:
        """What the endpoint refuses of requests to the model, JSON-able, for the run's record."""
        ...

    def pause(self) -> None:
        """Sends nothing more until :meth:`resume`: a call that waits for another attempt goes on waiting."""
        ...

    def resume(self) -> None:
        """Goes on after a pause, and tries again after a stop."""
        ...

    async def close(self) -> None:
        """Closes connections and ends child processes."""
        ...


class Capabilities(Protocol):
    """What was learned about endpoints and models, kept beyond the run."""

    def load(self, endpoint: str, model: str) -> dict[str, Any]:
        """What is known, empty where nothing is."""
        ...

    def save(self, endpoint: str, model: str, learned: dict[str, Any]) -> None:
        """Keeps what was learned. ``learned`` is JSON-able."""
        ...
