"""Shared by the providers: the builder of an answer, names of what is learned, schemas, addresses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol
from urllib.parse import urlsplit

import orjson

from judgenet.core.extra_fields import merged_extra
from judgenet.core.probabilities import MOST_ALTERNATIVES, PROBABILITIES, SCORES, TokenAlternatives
from judgenet.core.reasoning import thinking_tokens
from judgenet.engine.ports import ChatRequest, FinishReason, SentPicture

# What is learned of a model: the names and values of the run's record.
LIMIT = "max_tokens"
LIMIT_RENAMED = "sent as max_completion_tokens"
LIMIT_PLAIN = "sent as max_tokens"
TEMPERATURE = "temperature"
FEWER_ALTERNATIVES = "5 alternatives a token"
SEED = "seed"
SYSTEM = "system"
SYSTEM_IN_USER = "put into the user message"
STREAM = "stream"
STREAM_USAGE = "stream_usage"
SCHEMA = "schema"
SCHEMA_WITHOUT_LIMITS = "without limits"
REASONING = "reasoning"
TEMPERATURE_WITH_REASONING = "temperature with reasoning"
REFUSED = "refused"
NOT_APPLIED = "not applied"

LearnedLimits = Mapping[str, Any]

_LIMIT_KEYWORDS = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "pattern",
        "format",
    }
)


KEPT_CHARS = 4096
"""How much is kept of an answer whose form cannot be read."""


class TooDeep(ValueError):
    """JSON that is nested deeper than it can be read."""


class NotAnAnswer(ValueError):
    """A body that is no answer of this provider. The message says what it is instead."""


_ANY_DIGIT = re.compile(rb"[0-9]")


@dataclass(slots=True)
class AnswerBuilder:
    """Builds an answer from a whole reply or its pieces.

    ``usage`` is (prompt, completion, cached, reasoning) tokens as reported, ``None`` where nothing is. ``unreadable``
    says why the form of an answer that arrived cannot be read.
    """

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    raw_finish: str | None = None
    model: str | None = None
    fingerprint: str | None = None
    usage: tuple[int, int, int, int] | None = None
    ended: bool = False
    unreadable: Literal["too_large", "unreadable"] | None = None
    asked_pictures: bool = False
    """Whether its request had pictures, which an error that comes in its place may refuse."""

    tokens: list[TokenAlternatives] = field(default_factory=list)

    called: list[str] = field(default_factory=list)
    """The arguments of tool calls, with a line break between two calls: some models answer that way where a
    schema is asked for."""
    _calling: object = None

    def said(self) -> tuple[int, int, int, int]:
        """How many pieces of text, thinking, refusal and arguments there are."""
        return len(self.text), len(self.thinking), len(self.refusal), len(self.called)

    def news(self, before: tuple[int, int, int, int]) -> str:
        """What was added since :meth:`said` gave ``before``."""
        parts = zip((self.text, self.thinking, self.refusal, self.called), before, strict=True)
        return "".join(piece for pieces, known in parts for piece in pieces[known:])

    def give_up(self, why: Literal["too_large", "unreadable"], begins: str = "") -> None:
        """Ends an answer whose form cannot be read; its beginning, or ``begins``, is kept for inspection."""
        self.text = [("".join(self.text) or begins)[:KEPT_CHARS]]
        self.thinking, self.refusal, self.called, self.tokens = [], [], [], []
        self.unreadable, self.ended = why, True

    def take_token(self, token: tuple[bytes, float], others: Iterable[tuple[bytes, float] | None]) -> None:
        """Adds a token. Its alternatives are kept only where it holds a digit or follows one: nothing else can be
        a score, and an answer has thousands of them."""
        follows = bool(self.tokens) and self.tokens[-1].text[-1:].isdigit()
        near = follows or _ANY_DIGIT.search(token[0]) is not None
        kept = tuple(other for other in others if other is not None) if near else ()
        self.tokens.append(TokenAlternatives(*token, kept))

    def call(self, which: object, arguments: object) -> str:
        """Adds the arguments of a tool call, whole or the next piece. ``which`` identifies the call. Returns the
        piece."""
        piece = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        if not piece or not arguments:
            return ""
        if self.called and which != self._calling:
            piece = f"\n{piece}"
        self._calling = which
        self.called.append(piece)
        return piece


class StreamReader(Protocol):
    """Divides the bytes of a stream into events: (type, data)."""

    held: int
    """Bytes of an incomplete event."""
    stray: bytes
    """The beginning of the lines that belong to no event."""

    def feed(self, piece: bytes) -> list[tuple[str, bytes]]:
        """The events that a piece completes."""
        ...

    def close(self) -> list[tuple[str, bytes]]:
        """The event that was incomplete at the stream's end."""
        ...


class Provider(Protocol):
    """One chat API over HTTP. Pure: no connection, no clock, no state."""

    finish_reasons: ClassVar[Mapping[str, FinishReason]]
    """The provider's words for why an answer ended."""
    parameters: ClassVar[Mapping[str, re.Pattern[str]]]
    """The parameters that an endpoint may refuse, each with a pattern of its names in error messages."""

    temperature_with_reasoning: ClassVar[bool]
    """Whether a temperature may be sent to a model that is to think."""

    @property
    def stream_reader(self) -> Callable[[], StreamReader]:
        """Makes the reader of a stream's form."""
        ...

    def url(self, model: str, stream: bool) -> str: ...

    def ways(self, reasoning: int | str) -> tuple[str, ...]:
        """The ways in which a reasoning setting can be sent, in the words of the run's record, in the order in which
        they are tried; empty where there is none."""
        ...

    def reasons_as(self, reasoning: int | str, way: str) -> str:
        """What is sent for a reasoning setting, in words, where it differs from the setting; else empty."""
        ...

    def models_url(self) -> str | None:
        """Where the server lists its models, ``None`` where it has no such list."""
        ...

    def headers(self, key: str | None) -> dict[str, str]: ...

    def body(self, request: ChatRequest, learned: LearnedLimits, stream: bool) -> dict[str, Any]: ...

    def sent(self, request: ChatRequest, learned: LearnedLimits, stream: bool) -> frozenset[str]:
        """Which of ``parameters`` a request carries."""
        ...

    def read(self, answer: AnswerBuilder, data: dict[str, Any]) -> None:
        """Adds a whole reply.

        :raises NotAnAnswer: it is not an answer of this API.
        """
        ...

    def read_event(self, answer: AnswerBuilder, event: str, data: dict[str, Any]) -> str | None:
        """Adds an event of a stream. Returns the new text, ``None`` where the event only keeps the connection alive."""
        ...


def finish_reason(answer: AnswerBuilder, words: Mapping[str, FinishReason]) -> FinishReason:
    """Why the answer ended, in our words."""
    if answer.unreadable is not None:
        return answer.unreadable
    if answer.refusal:
        return "refused"
    return words.get((answer.raw_finish or "").lower(), "unknown")


def reasoning_name(reasoning: int | str) -> str:
    """The name of what is learned about sending a reasoning setting."""
    return f"{REASONING} {reasoning}"


def reasoning_of(
    request: ChatRequest, learned: LearnedLimits, provider: Provider
) -> tuple[int | str, str] | tuple[None, None]:
    """The reasoning setting that a request carries and the way in which it is sent; ``None`` where it carries none."""
    reasoning = request.more.get(REASONING)
    if reasoning is None:
        return None, None
    ways, way = provider.ways(reasoning), learned.get(reasoning_name(reasoning))
    if not ways or way == NOT_APPLIED:
        return None, None
    # What was learned about a server of another kind with the same name does not apply here.
    return reasoning, way if way in ways else ways[0]


def thinks(request: ChatRequest, learned: LearnedLimits, provider: Provider) -> bool:
    """Whether a request tells the model to think."""
    reasoning, _ = reasoning_of(request, learned, provider)
    return reasoning not in (None, "none")


def temperature_of(request: ChatRequest, learned: LearnedLimits, provider: Provider) -> float | None:
    """The temperature that a request carries."""
    if TEMPERATURE in learned:
        return None
    if thinks(request, learned, provider) and (
        TEMPERATURE_WITH_REASONING in learned or not provider.temperature_with_reasoning
    ):
        return None
    return request.temperature


def limit_of(request: ChatRequest, learned: LearnedLimits, provider: Provider) -> int:
    """The limit of tokens that a request carries: that of the answer, plus the room for the requested thinking."""
    reasoning, _ = reasoning_of(request, learned, provider)
    return request.max_tokens + thinking_tokens(reasoning)


def with_extra_fields(body: dict[str, Any], request: ChatRequest) -> dict[str, Any]:
    """A request's body with the user's further fields. Objects are merged; where both have a field that may be set, the
    user's value holds."""
    extra = request.more.get("extra")
    return merged_extra(body, extra) if extra else body


def sent_parameters(request: ChatRequest, learned: LearnedLimits, stream: bool, provider: Provider) -> frozenset[str]:
    """Which refusable parameters a request carries, for providers that support them all."""
    sent = {LIMIT}
    if request.system and SYSTEM not in learned:
        sent.add(SYSTEM)
    if temperature_of(request, learned, provider) is not None:
        sent.add(TEMPERATURE)
    if reasoning_of(request, learned, provider)[0] is not None:
        sent.add(REASONING)
    if request.seed is not None and SEED not in learned:
        sent.add(SEED)
    if alternatives_wanted(request, learned):
        sent.add(SCORES)
    if request.schema is not None:
        sent.add(SCHEMA)
    if stream:
        sent.add(STREAM)
        if STREAM_USAGE not in learned:
            sent.add(STREAM_USAGE)
    return frozenset(sent)


def otherwise(request: ChatRequest, learned: LearnedLimits, provider: Provider) -> dict[str, Any]:
    """Where a request differs from what was asked for, by parameter. A seed is left out for a provider that takes
    none."""
    deviations: dict[str, Any] = {}
    if request.temperature is not None and temperature_of(request, learned, provider) is None:
        deviations[TEMPERATURE] = NOT_APPLIED
    if (wanted := request.more.get(REASONING)) is not None:
        _, way = reasoning_of(request, learned, provider)
        if words := NOT_APPLIED if way is None else provider.reasons_as(wanted, way):
            deviations[REASONING] = words
    if request.seed is not None and (SEED in learned or SEED not in provider.parameters):
        deviations[SEED] = NOT_APPLIED
    if request.more.get(SCORES) == PROBABILITIES and (
        SCORES not in provider.parameters or learned.get(SCORES) == NOT_APPLIED
    ):
        deviations[SCORES] = NOT_APPLIED
    if request.system and SYSTEM in learned:
        deviations[SYSTEM] = learned[SYSTEM]
    if request.schema is not None and SCHEMA in learned:
        deviations[SCHEMA] = learned[SCHEMA]
    if LIMIT in learned:
        deviations[LIMIT] = learned[LIMIT]
    return deviations


def alternatives_wanted(request: ChatRequest, learned: LearnedLimits) -> int:
    """How many alternatives per token are requested; 0 where none are wanted, or the endpoint gives none."""
    if request.more.get(SCORES) != PROBABILITIES or learned.get(SCORES) == NOT_APPLIED:
        return 0
    return 5 if learned.get(SCORES) == FEWER_ALTERNATIVES else MOST_ALTERNATIVES


def take_chat_tokens(answer: AnswerBuilder, logprobs: object) -> None:
    """Adds the tokens of chat completions (``choices[].logprobs``) of an answer or a piece of one. An entry that is no
    token with a probability is left out."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    for entry in content if isinstance(content, list) else ():
        if (token := _chat_token(entry)) is not None:
            others = entry.get("top_logprobs")
            answer.take_token(token, map(_chat_token, others if isinstance(others, list) else ()))


def _chat_token(entry: object) -> tuple[bytes, float] | None:
    if not isinstance(entry, dict):
        return None
    text, logprob, raw = entry.get("token"), entry.get("logprob"), entry.get("bytes")
    if not isinstance(logprob, int | float) or isinstance(logprob, bool):
        return None
    if isinstance(raw, list):
        try:
            return bytes(raw), float(logprob)
        except (TypeError, ValueError):
            pass  # not bytes: the text is used
    return (token_bytes(text), float(logprob)) if isinstance(text, str) else None


_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def token_bytes(text: str) -> bytes:
    """The bytes of a token's text; some servers write a token of one byte as ``<0xE4>``."""
    single = _BYTE_TOKEN.fullmatch(text)
    return bytes([int(single[1], 16)]) if single else text.encode("utf-8", "surrogatepass")


def without_limits(schema: Any) -> Any:
    """A JSON schema without limits of numbers, lengths and counts."""
    if isinstance(schema, list):
        return [without_limits(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {}
    for name, value in schema.items():
        if name in ("properties", "$defs", "definitions") and isinstance(value, dict):
            kept[name] = {its_name: without_limits(its_schema) for its_name, its_schema in value.items()}
        elif name not in _LIMIT_KEYWORDS:
            kept[name] = without_limits(value)
    return kept


def has_limits(schema: Any) -> bool:
    """Whether :func:`without_limits` would change the schema."""
    return bool(without_limits(schema) != schema)


def with_pictures(text: str, pictures: Sequence[SentPicture]) -> list[str | SentPicture]:
    """A text divided at the marks of its pictures, with each picture after its mark. A picture whose mark is missing
    comes at the end: none is left out."""
    parts: list[str | SentPicture] = []
    begun = 0
    for picture in pictures:
        place = text.find(picture.mark, begun)
        end = len(text) if place < 0 else place + len(picture.mark)
        parts += [text[begun:end], picture] if end > begun else [picture]
        begun = end
    return [*parts, text[begun:]] if begun < len(text) else parts


def count(value: object) -> int:
    """A reported number of tokens; 0 for anything else."""
    return int(value) if isinstance(value, (int, float)) and 0 < value < 1e12 else 0


def texts(value: object) -> str:
    """The text of a field that is a string on some servers and a list of parts on others."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(texts(part.get("text") if isinstance(part, dict) else part) for part in value)
    return ""


_DECODER = json.JSONDecoder(strict=False)


def parse_json(body: bytes) -> Any:
    """JSON as servers send it: with a BOM, with raw control characters in texts, with a broken character.

    :raises TooDeep: where it is nested too deeply.
    :raises ValueError: where it is no JSON.
    """
    try:
        return orjson.loads(body)
    except ValueError:
        pass  # It is strict; what it refuses may be one of the forms above.
    try:
        return _DECODER.decode(body.decode("utf-8-sig", "replace"))
    except RecursionError:
        raise TooDeep("JSON that is nested too deeply") from None


# Addresses

_VERSION = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?$")


def completed(base_url: str, route: str, version: str) -> str:
    """The address of ``route`` (such as ``/chat/completions``) for a base URL with or without version,
    with or without slash at the end, or with the route itself."""
    base = base_url.strip().rstrip("/")
    path = urlsplit(base).path
    if path.endswith(route):
        return base
    if _VERSION.search(path):
        return base + route
    return f"{base}/{version}{route}"


def model_names(data: object) -> list[str]:
    """The names in a server's list of models: of chat completions and Anthropic (``data[].id``), of Gemini
    (``models[]`` that can generate, without ``models/``), or a bare list of either.

    :raises NotAnAnswer: it is no list of models.
    """
    listed = data
    if isinstance(data, dict):
        listed = data["data"] if isinstance(data.get("data"), list) else data.get("models")
    if not isinstance(listed, list):
        raise NotAnAnswer("no list of models")
    names = []
    for entry in listed:
        record = entry if isinstance(entry, dict) else {"id": entry}
        ways = record.get("supportedGenerationMethods")
        if isinstance(ways, list) and "generateContent" not in ways:
            continue
        name = next((record[key] for key in ("id", "name", "model") if isinstance(record.get(key), str)), "")
        if name:
            names.append(name.removeprefix("models/"))
    return list(dict.fromkeys(names))
