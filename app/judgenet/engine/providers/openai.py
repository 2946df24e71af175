"""OpenAI's chat completions, which most servers offer, and Azure's variant."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

from judgenet.core.probabilities import SCORES
from judgenet.core.reasoning import effort_for
from judgenet.engine.ports import ChatRequest, FinishReason, SentPicture
from judgenet.engine.providers.common import (
    LIMIT,
    LIMIT_RENAMED,
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
    completed,
    count,
    limit_of,
    reasoning_of,
    sent_parameters,
    take_chat_tokens,
    temperature_of,
    texts,
    with_extra_fields,
    with_pictures,
    without_limits,
)
from judgenet.engine.providers.sse import EventReader

ROUTE = "/chat/completions"
OLLAMA_PORT = 11434
AZURE_API_VERSION = "2024-10-21"
"""The oldest general release with reply schemas."""

_UNDER_VERSION = re.compile(r"/v\d\w*/openai$")
"""The path of the OpenAI-compatible side of some other APIs (Gemini, DeepInfra)."""


AS_EFFORT = "sent as reasoning_effort"
AS_TEMPLATE = "sent as reasoning_effort and chat_template_kwargs"
AS_REASONING = "sent as reasoning"


_EFFORT_HOSTS = frozenset(
    {
        *("api.openai.com", "ollama.com", "api.mistral.ai", "api.groq.com", "api.x.ai"),
        "generativelanguage.googleapis.com",
    }
)
"""Providers that document ``reasoning_effort`` and refuse fields that they do not know."""


def _ways_at(url: str) -> tuple[str, ...]:
    """How the server at an address takes a reasoning setting, by its documentation."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host == "openrouter.ai" or host.endswith(".openrouter.ai"):
        return (AS_REASONING,)
    if host in _EFFORT_HOSTS or host.endswith(".openai.azure.com") or parts.port == OLLAMA_PORT:
        return (AS_EFFORT,)
    return (AS_TEMPLATE, AS_EFFORT)


class OpenAI:
    """OpenAI and compatible servers: vLLM, Ollama, LM Studio, OpenRouter, llama.cpp and others.

    ``extra`` are fields for every request that only some servers know; ``thinks`` is false where the model is known
    not to think.
    """

    finish_reasons: ClassVar[Mapping[str, FinishReason]] = {
        "stop": "stop",
        "eos": "stop",
        "eos_token": "stop",
        "end_turn": "stop",
        "stop_sequence": "stop",
        "tool_calls": "stop",
        "function_call": "stop",
        "length": "length",
        "max_tokens": "length",
        "model_length": "length",
        "content_filter": "filtered",
        "refusal": "refused",
    }
    parameters: ClassVar[Mapping[str, re.Pattern[str]]] = {
        LIMIT: re.compile(r"\bmax_(?:completion_)?tokens\b"),
        TEMPERATURE: re.compile(r"\btemperature\b"),
        SEED: re.compile(r"\bseed\b"),
        SCORES: re.compile(r"\b(?:top_)?logprobs?\b|\blog.?prob"),
        STREAM_USAGE: re.compile(r"\bstream_options\b|\binclude_usage\b"),
        STREAM: re.compile(r"\bstream(?:ing)?\b"),
        SYSTEM: re.compile(r"\bsystem role\b|role.{0,20}\bsystem\b|\bsystem\b.{0,20}\brole\b|'system'"),
        REASONING: re.compile(
            r"\breasoning|\bchat_template|\benable_thinking\b|\bthinking_(?:token_)?budget|\bsupport thinking\b"
        ),
        SCHEMA: re.compile(
            r"\bresponse_format\b|\bjson_schema\b|\bstructured.?outputs?\b|\bguided_json\b|\bgrammar\b|\bjson schema\b"
        ),
    }

    temperature_with_reasoning: ClassVar[bool] = True
    stream_reader = EventReader

    def __init__(self, base_url: str, extra: dict[str, Any] | None = None, *, thinks: bool = True) -> None:
        self._url = self.complete(base_url or "https://api.openai.com/v1")
        self._ways = _ways_at(self._url) if thinks else ()
        self._extra = extra or {}

    @staticmethod
    def complete(base_url: str) -> str:
        """The address of the chat route for a base URL in any of its usual forms."""
        base = base_url.strip().rstrip("/")
        if _UNDER_VERSION.search(urlsplit(base).path):
            return base + ROUTE
        return completed(base, ROUTE, "v1")

    def url(self, model: str, stream: bool) -> str:
        return self._url

    def models_url(self) -> str | None:
        return self._url.removesuffix(ROUTE) + "/models" if self._url.endswith(ROUTE) else None

    def headers(self, key: str | None) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def sent(self, request: ChatRequest, learned: LearnedLimits, stream: bool) -> frozenset[str]:
        return sent_parameters(request, learned, stream, self)

    def ways(self, reasoning: int | str) -> tuple[str, ...]:
        return self._ways

    def reasons_as(self, reasoning: int | str, way: str) -> str:
        budget = isinstance(reasoning, int) and way == AS_EFFORT
        return f"sent as effort {effort_for(reasoning)}" if budget and isinstance(reasoning, int) else ""

    @staticmethod
    def _reasoning(reasoning: int | str, way: str) -> dict[str, Any]:
        """The fields of a reasoning setting.

        OpenAI, Azure and Ollama know efforts (``reasoning_effort``), OpenRouter efforts and budgets (``reasoning``).
        vLLM, SGLang and llama.cpp hand ``chat_template_kwargs`` to the model's template, where ``enable_thinking``
        turns thinking on and off, and limit it by ``thinking_token_budget`` (vLLM) or ``thinking_budget_tokens``
        (llama.cpp); each ignores the fields of the others.
        """
        budget = reasoning if isinstance(reasoning, int) else None
        effort = effort_for(budget) if budget is not None else reasoning
        if way == AS_REASONING:
            return {"reasoning": {"effort": effort} if budget is None else {"max_tokens": budget}}
        fields: dict[str, Any] = {"reasoning_effort": effort}
        if way == AS_TEMPLATE:
            fields["chat_template_kwargs"] = {"enable_thinking": reasoning != "none"}
            if budget is not None:
                fields |= {"thinking_token_budget": budget, "thinking_budget_tokens": budget}
        return fields

    def body(self, request: ChatRequest, learned: LearnedLimits, stream: bool) -> dict[str, Any]:
        user = request.shared + request.own
        if request.system and SYSTEM in learned:
            user = f"{request.system}\n\n{user}"
        content = _content(user, request.pictures)
        messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
        if request.system and SYSTEM not in learned:
            messages.insert(0, {"role": "system", "content": request.system})
        body: dict[str, Any] = {"model": request.model, "messages": messages}
        renamed = learned.get(LIMIT) == LIMIT_RENAMED
        body["max_completion_tokens" if renamed else "max_tokens"] = limit_of(request, learned, self)
        if (temperature := temperature_of(request, learned, self)) is not None:
            body["temperature"] = temperature
        reasoning, way = reasoning_of(request, learned, self)
        if reasoning is not None and way is not None:
            body |= self._reasoning(reasoning, way)
        if request.seed is not None and SEED not in learned:
            body["seed"] = request.seed
        if alternatives := alternatives_wanted(request, learned):
            body["logprobs"], body["top_logprobs"] = True, alternatives
        if request.schema is not None:
            schema = request.schema.schema
            if SCHEMA in learned:
                schema = without_limits(schema)
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": request.schema.name, "strict": True, "schema": schema},
            }
        if stream:
            body["stream"] = True
            if STREAM_USAGE not in learned:
                body["stream_options"] = {"include_usage": True}
        if self._extra:
            body.update(self._extra)
        return with_extra_fields(body, request)

    def read(self, answer: AnswerBuilder, data: dict[str, Any]) -> None:
        choices = data.get("choices")
        if not isinstance(choices, list):
            raise NotAnAnswer("a JSON object without choices")
        self._about(answer, data)
        if choices and isinstance(choices[0], dict):
            choice = choices[0]
            message = choice.get("message")
            self._take(answer, message if isinstance(message, dict) else {"content": choice.get("text")})
            take_chat_tokens(answer, choice.get("logprobs"))
            self._finish(answer, choice)
        answer.ended = True

    def read_event(self, answer: AnswerBuilder, event: str, data: dict[str, Any]) -> str | None:
        self._about(answer, data)
        choices = data.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return ""
        choice = choices[0]
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            # Some servers end a stream with the whole message; it is new only where no pieces came.
            message = choice.get("message")
            delta = (
                message
                if isinstance(message, dict) and not (answer.text or answer.called)
                else {"content": choice.get("text")}
            )
        take_chat_tokens(answer, choice.get("logprobs"))
        new = self._take(answer, delta)
        self._finish(answer, choice)
        return new

    @staticmethod
    def _about(answer: AnswerBuilder, data: dict[str, Any]) -> None:
        if isinstance(model := data.get("model"), str) and model:
            answer.model = model
        if isinstance(fingerprint := data.get("system_fingerprint"), str):
            answer.fingerprint = fingerprint
        usage = data.get("usage")
        if isinstance(usage, dict):
            prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
            read, written = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
            thought = count(completion.get("reasoning_tokens") if isinstance(completion, dict) else None)
            if thought and count(usage.get("total_tokens")) == read + written + thought:
                # Some servers (xAI, Gemini's side of this API) count thinking separately; it is billed like the answer.
                written += thought
            cached = count(prompt.get("cached_tokens") if isinstance(prompt, dict) else None)
            answer.usage = (read, written, cached or count(usage.get("prompt_cache_hit_tokens")), thought)

    @staticmethod
    def _take(answer: AnswerBuilder, message: dict[str, Any]) -> str:
        content = message.get("content")
        new = content if isinstance(content, str) else ""
        if isinstance(content, list):
            for part in content:
                if isinstance(part, dict) and part.get("type") == "thinking":
                    answer.thinking.append(texts(part.get("thinking")))
                else:
                    new += texts([part])
        if new:
            answer.text.append(new)
        calls = message.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict) and isinstance(function := call.get("function"), dict):
                new += answer.call(call.get("index", place), function.get("arguments"))
        if isinstance(function := message.get("function_call"), dict):
            new += answer.call("function", function.get("arguments"))
        for name in ("reasoning_content", "reasoning"):
            if isinstance(thinking := message.get(name), str) and thinking:
                answer.thinking.append(thinking)
                break
        if isinstance(refusal := message.get("refusal"), str) and refusal:
            answer.refusal.append(refusal)
        return new

    @staticmethod
    def _finish(answer: AnswerBuilder, choice: dict[str, Any]) -> None:
        if isinstance(reason := choice.get("finish_reason"), str) and reason:
            answer.raw_finish = reason
            answer.ended = True


def _content(text: str, pictures: Sequence[SentPicture]) -> str | list[dict[str, Any]]:
    """A message's content: a text, or parts with pictures as data URIs."""
    if not pictures:
        return text
    parts: list[dict[str, Any]] = []
    for part in with_pictures(text, pictures):
        if isinstance(part, str):
            parts.append({"type": "text", "text": part})
        else:
            parts.append({"type": "image_url", "image_url": {"url": f"data:{part.media};base64,{part.data}"}})
    return parts


class Azure(OpenAI):
    """Azure OpenAI: an address per deployment, or the newer one with ``/openai/v1``; the model of a request
    names the deployment."""

    def __init__(self, base_url: str, api_version: str | None = None, extra: dict[str, Any] | None = None) -> None:
        if not base_url:
            raise ValueError("an Azure endpoint needs its address: https://<resource>.openai.azure.com")
        base, _, query = base_url.strip().partition("?")
        self._ways = (AS_EFFORT,)
        self._base = base.rstrip("/").removesuffix(ROUTE).removesuffix("/openai")
        self._query = query or f"api-version={quote(api_version or AZURE_API_VERSION)}"
        self._plain = self._base.endswith("/v1")
        if self._plain:
            self._query = query or (f"api-version={quote(api_version)}" if api_version else "")
        self._extra = extra or {}

    def url(self, model: str, stream: bool) -> str:
        if self._plain or "/deployments/" in self._base:
            path = self._base + ROUTE
        else:
            path = f"{self._base}/openai/deployments/{quote(model, safe='')}{ROUTE}"
        return f"{path}?{self._query}" if self._query else path

    def models_url(self) -> str | None:
        # A request names a deployment, and the keys of deployments cannot list them.
        return None

    def headers(self, key: str | None) -> dict[str, str]:
        return {"api-key": key} if key else {}
