"""Anthropic's Messages API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from judgenet.core.reasoning import effort_for, thinking_tokens
from judgenet.engine.ports import ChatRequest, FinishReason
from judgenet.engine.providers.common import (
    REASONING,
    SCHEMA,
    TEMPERATURE,
    AnswerBuilder,
    LearnedLimits,
    NotAnAnswer,
    completed,
    count,
    limit_of,
    reasoning_of,
    sent_parameters,
    temperature_of,
    with_extra_fields,
    with_pictures,
    without_limits,
)
from judgenet.engine.providers.sse import EventReader

VERSION = "2023-06-01"

AS_ADAPTIVE = "sent as an effort of adaptive thinking"
AS_BUDGET = "sent as a budget of thinking tokens"
AS_DISABLED = "sent as disabled thinking"
_LEAST_BUDGET = 1_024
"""The smallest budget that the API accepts, in tokens."""


def _effort(reasoning: int | str) -> str:
    """The API's effort for a reasoning setting; the lowest is ``low``."""
    if isinstance(reasoning, int):
        return effort_for(reasoning)
    return "low" if reasoning == "minimal" else reasoning


def _budget(reasoning: int | str) -> int:
    return max(thinking_tokens(reasoning), _LEAST_BUDGET)


class Anthropic:
    """Messages. The shared part of calls is a block of its own, marked for the prompt cache.

    Reply schemas are sent without limits of numbers and lengths, which the API refuses (platform.claude.com,
    "Structured outputs"); the reader checks them.
    """

    finish_reasons: ClassVar[Mapping[str, FinishReason]] = {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "tool_use": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "refusal": "refused",
    }
    parameters: ClassVar[Mapping[str, re.Pattern[str]]] = {
        TEMPERATURE: re.compile(r"\btemperature\b"),
        REASONING: re.compile(r"\bthinking\b|\bbudget_tokens\b|\beffort\b"),
        SCHEMA: re.compile(
            r"\boutput_config\b(?!\.effort)|\boutput.?format\b|\bstructured.?outputs?\b|\bjson_schema\b"
        ),
    }

    temperature_with_reasoning: ClassVar[bool] = False
    stream_reader = EventReader

    def __init__(self, base_url: str, extra: dict[str, Any] | None = None) -> None:
        self._url = completed(base_url or "https://api.anthropic.com", "/messages", "v1")
        self._extra = extra or {}

    def url(self, model: str, stream: bool) -> str:
        return self._url

    def models_url(self) -> str | None:
        return self._url.removesuffix("/messages") + "/models?limit=1000"

    def headers(self, key: str | None) -> dict[str, str]:
        headers = {"anthropic-version": VERSION}
        if key:
            headers["x-api-key"] = key
        return headers

    def sent(self, request: ChatRequest, learned: LearnedLimits, stream: bool) -> frozenset[str]:
        return sent_parameters(request, learned, stream, self) & self.parameters.keys()

    def ways(self, reasoning: int | str) -> tuple[str, ...]:
        if reasoning == "none":
            return (AS_DISABLED,)
        return (AS_BUDGET, AS_ADAPTIVE) if isinstance(reasoning, int) else (AS_ADAPTIVE, AS_BUDGET)

    def reasons_as(self, reasoning: int | str, way: str) -> str:
        if way == AS_ADAPTIVE:
            effort = _effort(reasoning)
            return "" if effort == reasoning else f"sent as effort {effort}"
        if way == AS_BUDGET:
            budget = _budget(reasoning)
            return "" if budget == reasoning else f"sent as a budget of {budget:,} tokens"
        return ""

    @staticmethod
    def _reason(body: dict[str, Any], reasoning: int | str, way: str) -> None:
        """Adds a reasoning setting to a body (platform.claude.com, "Adaptive thinking", "Effort", "Extended
        thinking"): newer models take an effort and decide themselves how long they think; older ones take a budget,
        which must be smaller than the limit of tokens."""
        if way == AS_DISABLED:
            body["thinking"] = {"type": "disabled"}
        elif way == AS_ADAPTIVE:
            # Without "display" the newest models omit the text of their thinking.
            body["thinking"] = {"type": "adaptive", "display": "summarized"}
            body["output_config"] = {**body.get("output_config", {}), "effort": _effort(reasoning)}
        else:
            budget = _budget(reasoning)
            body["thinking"] = {"type": "enabled", "budget_tokens": budget}
            body["max_tokens"] += budget - thinking_tokens(reasoning)

    def body(self, request: ChatRequest, learned: LearnedLimits, stream: bool) -> dict[str, Any]:
        content: list[dict[str, Any]] = []
        for part in with_pictures(request.shared, request.pictures):
            if isinstance(part, str):
                content.append({"type": "text", "text": part})
            else:
                source = {"type": "base64", "media_type": part.media, "data": part.data}
                content.append({"type": "image", "source": source})
        if content:
            content[-1]["cache_control"] = {"type": "ephemeral"}
        if request.own or not content:
            content.append({"type": "text", "text": request.own})
        body: dict[str, Any] = {
            "model": request.model,
            "max_tokens": limit_of(request, learned, self),
            "messages": [{"role": "user", "content": content}],
        }
        if request.system:
            body["system"] = request.system
        if (temperature := temperature_of(request, learned, self)) is not None:
            body["temperature"] = temperature
        if request.schema is not None:
            schema = without_limits(request.schema.schema)
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        reasoning, way = reasoning_of(request, learned, self)
        if reasoning is not None and way is not None:
            self._reason(body, reasoning, way)
        if stream:
            body["stream"] = True
        if self._extra:
            body.update(self._extra)
        return with_extra_fields(body, request)

    def read(self, answer: AnswerBuilder, data: dict[str, Any]) -> None:
        content = data.get("content")
        if not isinstance(content, list):
            raise NotAnAnswer("a JSON object without content")
        self._about(answer, data)
        for place, block in enumerate(content):
            if isinstance(block, dict):
                self._take(answer, block, place)
        self._finish(answer, data)
        answer.ended = True

    def read_event(self, answer: AnswerBuilder, event: str, data: dict[str, Any]) -> str | None:
        kind = data.get("type") or event
        if kind == "ping":
            return None
        if kind == "message_start" and isinstance(data.get("message"), dict):
            self._about(answer, data["message"])
        elif kind == "content_block_start" and isinstance(data.get("content_block"), dict):
            return self._take(answer, data["content_block"], data.get("index"))
        elif kind == "content_block_delta" and isinstance(data.get("delta"), dict):
            return self._take(answer, data["delta"], data.get("index"))
        elif kind == "message_delta":
            self._about(answer, data)
            if isinstance(data.get("delta"), dict):
                self._finish(answer, data["delta"])
        elif kind == "message_stop":
            answer.ended = True
        return ""

    @staticmethod
    def _about(answer: AnswerBuilder, data: dict[str, Any]) -> None:
        if isinstance(model := data.get("model"), str) and model:
            answer.model = model
        usage = data.get("usage")
        if isinstance(usage, dict):
            cached = count(usage.get("cache_read_input_tokens"))
            prompt = count(usage.get("input_tokens")) + count(usage.get("cache_creation_input_tokens")) + cached
            details = usage.get("output_tokens_details")
            thought = count(details.get("thinking_tokens") if isinstance(details, dict) else None)
            # The last event of a stream may repeat the counts of the first, or leave them out.
            before = answer.usage or (0, 0, 0, 0)
            answer.usage = (
                max(prompt, before[0]),
                max(count(usage.get("output_tokens")), before[1]),
                max(cached, before[2]),
                max(thought, before[3]),
            )

    @staticmethod
    def _take(answer: AnswerBuilder, block: dict[str, Any], place: object) -> str:
        if isinstance(thinking := block.get("thinking"), str) and thinking:
            answer.thinking.append(thinking)
        text = block.get("text")
        if isinstance(text, str) and text:
            answer.text.append(text)
            return text
        # A call of a tool: its arguments whole, or the next piece of them.
        return answer.call(place, block.get("input") or block.get("partial_json"))

    @staticmethod
    def _finish(answer: AnswerBuilder, data: dict[str, Any]) -> None:
        if isinstance(reason := data.get("stop_reason"), str) and reason:
            answer.raw_finish = reason
            answer.ended = True
