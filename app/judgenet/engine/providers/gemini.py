"""Google's Gemini API: generateContent and its stream."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote

from judgenet.core.probabilities import SCORES
from judgenet.core.reasoning import effort_for, thinking_tokens
from judgenet.engine.ports import ChatRequest, FinishReason
from judgenet.engine.providers.common import (
    REASONING,
    SCHEMA,
    SEED,
    SYSTEM,
    TEMPERATURE,
    AnswerBuilder,
    LearnedLimits,
    NotAnAnswer,
    alternatives_wanted,
    completed,
    count,
    limit_of,
    reasoning_of,
    sent_parameters,
    temperature_of,
    token_bytes,
    with_extra_fields,
    with_pictures,
    without_limits,
)
from judgenet.engine.providers.sse import EventReader

AS_LEVEL = "sent as thinkingLevel"
AS_BUDGET = "sent as thinkingBudget"
_MOST_BUDGET = 24_576
"""The largest budget that all models with budgets take, in tokens."""


def _level(reasoning: int | str) -> str:
    """The thinking level of a reasoning setting; the API has none above high."""
    if isinstance(reasoning, int):
        return effort_for(reasoning)
    return "high" if reasoning in ("xhigh", "max") else reasoning


def _budget(reasoning: int | str) -> int:
    return reasoning if isinstance(reasoning, int) else min(thinking_tokens(reasoning), _MOST_BUDGET)


class Gemini:
    """generateContent. A prompt that the filter blocks gives an empty answer that is ``filtered``."""

    finish_reasons: ClassVar[Mapping[str, FinishReason]] = {
        "stop": "stop",
        "max_tokens": "length",
        "safety": "filtered",
        "recitation": "filtered",
        "blocklist": "filtered",
        "prohibited_content": "filtered",
        "spii": "filtered",
        "image_safety": "filtered",
        "language": "filtered",
    }
    parameters: ClassVar[Mapping[str, re.Pattern[str]]] = {
        TEMPERATURE: re.compile(r"\btemperature\b"),
        REASONING: re.compile(
            r"\bthinking|\bthinking_?(?:config|budget|level)\b|\bthoughts?\b|\bbudget -?\d+ is invalid"
        ),
        SEED: re.compile(r"\bseed\b"),
        SCORES: re.compile(r"\blog.?probs?\b|\bresponse_?logprobs\b"),
        SYSTEM: re.compile(r"\bsystem_?instruction\b|developer instruction"),
        SCHEMA: re.compile(
            r"\bresponse_?json_?schema\b|\bresponse_?schema\b|\bresponse_?mime_?type\b|\bjson mode\b|\bjson schema\b"
        ),
    }

    temperature_with_reasoning: ClassVar[bool] = True
    stream_reader = EventReader

    def __init__(self, base_url: str, extra: dict[str, Any] | None = None) -> None:
        url = completed(base_url or "https://generativelanguage.googleapis.com", "/models", "v1beta")
        self._models = url
        self._extra = extra or {}

    def url(self, model: str, stream: bool) -> str:
        name = quote(model.removeprefix("models/"), safe="")
        return f"{self._models}/{name}:" + ("streamGenerateContent?alt=sse" if stream else "generateContent")

    def models_url(self) -> str | None:
        return f"{self._models}?pageSize=1000"

    def headers(self, key: str | None) -> dict[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def sent(self, request: ChatRequest, learned: LearnedLimits, stream: bool) -> frozenset[str]:
        return sent_parameters(request, learned, stream, self) & self.parameters.keys()

    def ways(self, reasoning: int | str) -> tuple[str, ...]:
        if reasoning == "none":
            return (AS_BUDGET,)
        return (AS_BUDGET, AS_LEVEL) if isinstance(reasoning, int) else (AS_LEVEL, AS_BUDGET)

    def reasons_as(self, reasoning: int | str, way: str) -> str:
        if way == AS_LEVEL:
            level = _level(reasoning)
            return "" if level == reasoning else f"sent as level {level}"
        if isinstance(reasoning, int) or reasoning == "none":
            return ""
        return f"sent as a budget of {_budget(reasoning):,} tokens"

    @staticmethod
    def _thinking(reasoning: int | str, way: str) -> dict[str, Any]:
        """The thinking configuration of a reasoning setting (ai.google.dev, "Gemini thinking"): Gemini 3 takes levels,
        earlier models a budget, of 0 to turn thinking off; never both."""
        if way == AS_LEVEL:
            return {"thinkingLevel": _level(reasoning), "includeThoughts": True}
        if reasoning == "none":
            return {"thinkingBudget": 0}
        return {"thinkingBudget": _budget(reasoning), "includeThoughts": True}

    def body(self, request: ChatRequest, learned: LearnedLimits, stream: bool) -> dict[str, Any]:
        user = request.shared + request.own
        config: dict[str, Any] = {"maxOutputTokens": limit_of(request, learned, self)}
        if (temperature := temperature_of(request, learned, self)) is not None:
            config["temperature"] = temperature
        reasoning, way = reasoning_of(request, learned, self)
        if reasoning is not None and way is not None:
            config["thinkingConfig"] = self._thinking(reasoning, way)
        if request.seed is not None and SEED not in learned:
            config["seed"] = request.seed
        if alternatives := alternatives_wanted(request, learned):
            config["responseLogprobs"], config["logprobs"] = True, alternatives
        if request.schema is not None:
            schema = request.schema.schema
            config["responseMimeType"] = "application/json"
            config["responseJsonSchema"] = without_limits(schema) if SCHEMA in learned else schema
        body: dict[str, Any] = {}
        if request.system and SYSTEM in learned:
            user = f"{request.system}\n\n{user}"
        elif request.system:
            body["systemInstruction"] = {"parts": [{"text": request.system}]}
        parts = [
            {"text": part} if isinstance(part, str) else {"inlineData": {"mimeType": part.media, "data": part.data}}
            for part in with_pictures(user, request.pictures)
        ]
        body["contents"] = [{"role": "user", "parts": parts or [{"text": user}]}]
        body["generationConfig"] = config
        if self._extra:
            body.update(self._extra)
        return with_extra_fields(body, request)

    def read(self, answer: AnswerBuilder, data: dict[str, Any]) -> None:
        if not any(name in data for name in ("candidates", "promptFeedback", "usageMetadata")):
            raise NotAnAnswer("a JSON object without candidates")
        self.read_event(answer, "", data)
        answer.ended = True

    def read_event(self, answer: AnswerBuilder, event: str, data: dict[str, Any]) -> str | None:
        if isinstance(model := data.get("modelVersion"), str) and model:
            answer.model = model
        usage = data.get("usageMetadata")
        if isinstance(usage, dict):
            thoughts = count(usage.get("thoughtsTokenCount"))
            answer.usage = (
                count(usage.get("promptTokenCount")),
                count(usage.get("candidatesTokenCount")) + thoughts,
                count(usage.get("cachedContentTokenCount")),
                thoughts,
            )
        feedback = data.get("promptFeedback")
        if isinstance(feedback, dict) and isinstance(blocked := feedback.get("blockReason"), str):
            # OTHER and BLOCK_REASON_UNSPECIFIED block the prompt too.
            answer.raw_finish = blocked if blocked.lower() in self.finish_reasons else "SAFETY"
            answer.ended = True
        candidates = data.get("candidates")
        if not isinstance(candidates, list) or not candidates or not isinstance(candidates[0], dict):
            return ""
        candidate = candidates[0]
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        new = ""
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict) and isinstance(text := part.get("text"), str):
                if part.get("thought"):
                    answer.thinking.append(text)
                else:
                    answer.text.append(text)
                    new += text
            elif isinstance(part, dict) and isinstance(call := part.get("functionCall"), dict):
                new += answer.call(call.get("id") or len(answer.called), call.get("args"))
        _take_tokens(answer, candidate.get("logprobsResult"))
        if isinstance(reason := candidate.get("finishReason"), str) and reason != "FINISH_REASON_UNSPECIFIED":
            answer.raw_finish = reason
            answer.ended = True
        return new


def _take_tokens(answer: AnswerBuilder, result: object) -> None:
    """Adds the tokens of a ``logprobsResult``: the chosen one of each step and its top candidates."""
    if not isinstance(result, dict):
        return
    chosen, top = result.get("chosenCandidates"), result.get("topCandidates")
    for step, candidate in enumerate(chosen if isinstance(chosen, list) else ()):
        others = top[step] if isinstance(top, list) and step < len(top) else None
        listed = others.get("candidates") if isinstance(others, dict) else None
        if (token := _token(candidate)) is not None:
            answer.take_token(token, map(_token, listed if isinstance(listed, list) else ()))


def _token(candidate: object) -> tuple[bytes, float] | None:
    if not isinstance(candidate, dict):
        return None
    text, logprob = candidate.get("token"), candidate.get("logProbability")
    if not isinstance(text, str) or isinstance(logprob, bool) or not isinstance(logprob, int | float):
        return None
    return token_bytes(text), float(logprob)
