"""Ollama's own API: ``/api/chat``. Unlike its OpenAI-compatible side it takes a context length.

Forms are those of docs.ollama.com ("Generate a chat message", "Thinking", "Errors", "Structured outputs") and of its
OpenAPI file, read on 30 November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from judgenet.core.probabilities import SCORES
from judgenet.core.reasoning import effort_for
from judgenet.engine.ports import ChatRequest, FinishReason
from judgenet.engine.providers.common import (
    LIMIT,
    REASONING,
    SCHEMA,
    SEED,
    STREAM,
    STREAM_USAGE,
    SYSTEM,
    TEMPERATURE,
    AnswerBuilder,
    LearnedLimits,
    NotAnAnswer,
    alternatives_wanted,
    count,
    limit_of,
    reasoning_of,
    sent_parameters,
    take_chat_tokens,
    temperature_of,
    with_extra_fields,
    with_pictures,
    without_limits,
)
from judgenet.engine.providers.json_lines import JsonLines

ROUTE = "/api/chat"
DEFAULT_URL = "http://localhost:11434"

AS_LEVEL = "sent as a level of think"
AS_SWITCH = "sent as think on or off"

_LEVELS = {"minimal": "low", "xhigh": "max"}
"""The levels sent for efforts that Ollama does not have; the others have the same name there."""


class Ollama:
    """``/api/chat``. Its stream has one JSON object per line.

    A prompt that does not fit into the context is refused rather than cut: ``truncate`` and ``shift`` are false. Both
    fields are in Ollama's source (``api/types.go``, ``ChatRequest``) and not in its documentation; a server that does
    not know them cuts the prompt.
    """

    finish_reasons: ClassVar[Mapping[str, FinishReason]] = {"stop": "stop", "length": "length"}
    parameters: ClassVar[Mapping[str, re.Pattern[str]]] = {
        LIMIT: re.compile(r"\bnum_predict\b"),
        TEMPERATURE: re.compile(r"\btemperature\b"),
        SEED: re.compile(r"\bseed\b"),
        SCORES: re.compile(r"\b(?:top_)?logprobs?\b"),
        SYSTEM: re.compile(r"\bsystem role\b"),
        REASONING: re.compile(r"\bthink(?:ing)?\b"),
        SCHEMA: re.compile(r"\bformat\b|\bgrammar\b|\bjson schema\b"),
    }
    temperature_with_reasoning: ClassVar[bool] = True
    stream_reader = JsonLines

    def __init__(self, base_url: str, extra: dict[str, Any] | None = None) -> None:
        self._root = self.root(base_url or DEFAULT_URL)
        self._extra = extra or {}

    @staticmethod
    def root(base_url: str) -> str:
        """The server's address for a base URL in any of its usual forms: bare, with the route, or with the ``/v1`` of
        its OpenAI-compatible side."""
        base = base_url.strip().rstrip("/").removesuffix("/chat")
        for ending in ("/api", "/v1"):
            if urlsplit(base).path.endswith(ending):
                return base.removesuffix(ending)
        return base

    def url(self, model: str, stream: bool) -> str:
        return self._root + ROUTE

    def models_url(self) -> str | None:
        return f"{self._root}/api/tags"

    def headers(self, key: str | None) -> dict[str, str]:
        # Only ollama.com, or a proxy before a server, asks for a key.
        return {"Authorization": f"Bearer {key}"} if key else {}

    def sent(self, request: ChatRequest, learned: LearnedLimits, stream: bool) -> frozenset[str]:
        # The counts of tokens come with every stream, and every server streams.
        return sent_parameters(request, learned, stream, self) - {STREAM, STREAM_USAGE}

    def ways(self, reasoning: int | str) -> tuple[str, ...]:
        return (AS_SWITCH,) if reasoning == "none" else (AS_LEVEL, AS_SWITCH)

    def reasons_as(self, reasoning: int | str, way: str) -> str:
        if reasoning == "none":
            return ""
        if way == AS_SWITCH:
            return "sent as thinking on"
        level = _level(reasoning)
        return "" if level == reasoning else f"sent as effort {level}"

    def body(self, request: ChatRequest, learned: LearnedLimits, stream: bool) -> dict[str, Any]:
        options: dict[str, Any] = {"num_predict": limit_of(request, learned, self)}
        if (temperature := temperature_of(request, learned, self)) is not None:
            options["temperature"] = temperature
        if request.seed is not None and SEED not in learned:
            options["seed"] = request.seed
        body: dict[str, Any] = {
            "model": request.model,
            "messages": _messages(request, learned),
            "stream": stream,
            "options": options,
            "truncate": False,
            "shift": False,
        }
        reasoning, way = reasoning_of(request, learned, self)
        if reasoning is not None:
            body["think"] = _level(reasoning) if way == AS_LEVEL else reasoning != "none"
        if alternatives := alternatives_wanted(request, learned):
            body["logprobs"], body["top_logprobs"] = True, alternatives
        if request.schema is not None:
            schema = request.schema.schema
            body["format"] = without_limits(schema) if SCHEMA in learned else schema
        if self._extra:
            body.update(self._extra)
        return with_extra_fields(body, request)

    def read(self, answer: AnswerBuilder, data: dict[str, Any]) -> None:
        if not isinstance(data.get("message"), dict):
            raise NotAnAnswer("a JSON object without a message")
        self.read_event(answer, "", data)
        answer.ended = True

    def read_event(self, answer: AnswerBuilder, event: str, data: dict[str, Any]) -> str | None:
        if isinstance(model := data.get("model"), str) and model:
            answer.model = model
        message = data.get("message")
        new = ""
        if isinstance(message, dict):
            if isinstance(thinking := message.get("thinking"), str) and thinking:
                answer.thinking.append(thinking)
            if isinstance(text := message.get("content"), str) and text:
                answer.text.append(text)
                new = text
            calls = message.get("tool_calls")
            for place, call in enumerate(calls if isinstance(calls, list) else ()):
                if isinstance(call, dict) and isinstance(function := call.get("function"), dict):
                    new += answer.call(function.get("index", place), function.get("arguments"))
        take_chat_tokens(answer, {"content": data.get("logprobs")})
        if data.get("done") is True:
            # A prompt of which a part was cached may come without its count in earlier versions: it is estimated then.
            prompt, completion = count(data.get("prompt_eval_count")), count(data.get("eval_count"))
            answer.usage = (prompt, completion, count(data.get("prompt_eval_cached_count")), 0)
            if isinstance(reason := data.get("done_reason"), str) and reason:
                answer.raw_finish = reason
            answer.ended = True
        return new


def _level(reasoning: int | str) -> str:
    """The level of ``think`` of a setting: there are no budgets."""
    return effort_for(reasoning) if isinstance(reasoning, int) else _LEVELS.get(reasoning, reasoning)


def _messages(request: ChatRequest, learned: LearnedLimits) -> list[dict[str, Any]]:
    """The messages of a request. Ollama puts the pictures of a message before its text, so that each picture begins a
    message of its own; its OpenAI-compatible side divides a message in the same way."""
    user = request.shared + request.own
    messages: list[dict[str, Any]] = []
    if request.system and SYSTEM in learned:
        user = f"{request.system}\n\n{user}"
    elif request.system:
        messages.append({"role": "system", "content": request.system})
    if not request.pictures:
        return [*messages, {"role": "user", "content": user}]
    open_message: dict[str, Any] | None = None
    for part in with_pictures(user, request.pictures):
        if not isinstance(part, str):
            open_message = {"role": "user", "content": "", "images": [part.data]}
            messages.append(open_message)
        elif open_message is None:
            messages.append({"role": "user", "content": part})
        else:
            open_message["content"], open_message = part, None
    return messages
