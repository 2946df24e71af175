"""Reasoning settings and further fields: the requests of each provider, and what an endpoint's refusal teaches.

The forms are those of the providers' documentation (November 2026): platform.openai.com "Reasoning models",
platform.claude.com "Adaptive thinking", "Effort", "Extended thinking", ai.google.dev "Gemini thinking", openrouter.ai
"Reasoning tokens", docs.vllm.ai "Reasoning outputs", docs.ollama.com "OpenAI compatibility".
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from judgenet.core.calls import Parameters, further_settings
from judgenet.core.endpoints import EndpointKind, EndpointProfile
from judgenet.core.network import Settings
from judgenet.core.reasoning import EFFORTS
from judgenet.engine.exchange import longest_silence
from judgenet.engine.ports import ChatRequest, ReplySchema
from judgenet.engine.providers import common
from judgenet.engine.providers.anthropic import Anthropic
from judgenet.engine.providers.errors import classify, error_info
from judgenet.engine.providers.gemini import Gemini
from judgenet.engine.providers.ollama import Ollama
from judgenet.engine.providers.openai import Azure, OpenAI
from tests.fakes.judge_reasoning import THINKING_TOKENS, THOUGHT
from tests.fakes.judge_server import JudgeServer
from tests.unit.engine.test_client import REQUEST, Bench, ask, server

__all__ = ["server"]

PLAIN = ChatRequest("m", "", "", "Which?", temperature=0.5, max_tokens=500)
KINDS: tuple[EndpointKind, ...] = ("openai", "azure", "anthropic", "gemini", "ollama")


def asked(reasoning: int | str, **more: Any) -> ChatRequest:
    return replace(PLAIN, more={"reasoning": reasoning, **more})


def fields(body: dict[str, Any]) -> dict[str, Any]:
    """A body without what every request has."""
    return {name: value for name, value in body.items() if name not in ("model", "messages", "contents")}


def learned(provider: common.Provider, reasoning: int | str, way: int) -> dict[str, str]:
    return {common.reasoning_name(reasoning): provider.ways(reasoning)[way]}


# OpenAI and those who speak as it does


@pytest.mark.parametrize(
    ("provider", "effort", "budget"),
    [
        (OpenAI(""), {"reasoning_effort": "medium"}, {"reasoning_effort": "low"}),
        (Azure("https://x.openai.azure.com"), {"reasoning_effort": "medium"}, {"reasoning_effort": "low"}),
        (OpenAI("http://localhost:11434"), {"reasoning_effort": "medium"}, {"reasoning_effort": "low"}),
        (
            OpenAI("https://openrouter.ai/api/v1"),
            {"reasoning": {"effort": "medium"}},
            {"reasoning": {"max_tokens": 1000}},
        ),
        (
            OpenAI("http://localhost:8000/v1"),
            {"reasoning_effort": "medium", "chat_template_kwargs": {"enable_thinking": True}},
            {
                "reasoning_effort": "low",
                "chat_template_kwargs": {"enable_thinking": True},
                "thinking_token_budget": 1000,
                "thinking_budget_tokens": 1000,
            },
        ),
    ],
)
def test_chat_completions(provider: OpenAI, effort: dict[str, Any], budget: dict[str, Any]) -> None:
    # The room for thinking comes on top of the limit of the answer.
    assert fields(provider.body(asked("medium"), {}, False)) == {"max_tokens": 8692, "temperature": 0.5, **effort}
    assert fields(provider.body(asked(1000), {}, False)) == {"max_tokens": 1500, "temperature": 0.5, **budget}
    assert "reasoning" in provider.sent(asked("low"), {}, False)
    assert "reasoning" not in provider.sent(PLAIN, {}, False)


def test_chat_completions_without_thinking() -> None:
    body = OpenAI("http://localhost:8000/v1").body(asked("none"), {}, False)
    assert fields(body) == {
        "max_tokens": 500,
        "temperature": 0.5,
        "reasoning_effort": "none",
        "chat_template_kwargs": {"enable_thinking": False},
    }


def test_a_budget_at_a_server_with_efforts_is_told() -> None:
    for tokens, effort in ((1, "low"), (1024, "low"), (1025, "medium"), (8192, "medium"), (8193, "high")):
        assert common.otherwise(asked(tokens), {}, OpenAI("")) == {"reasoning": f"sent as effort {effort}"}
    assert common.otherwise(asked("high"), {}, OpenAI("")) == {}


# Anthropic


def test_anthropic_efforts() -> None:
    provider = Anthropic("")
    body = provider.body(asked("xhigh"), {}, False)
    # With thinking the API takes no other temperature than its own.
    assert fields(body) == {
        "max_tokens": 33_268,
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "xhigh"},
    }
    assert common.otherwise(asked("xhigh"), {}, provider) == {"temperature": "not applied"}
    assert common.otherwise(asked("minimal"), {}, provider)["reasoning"] == "sent as effort low"
    assert "temperature" not in provider.sent(asked("xhigh"), {}, False)


def test_anthropic_effort_beside_a_reply_schema() -> None:
    schema = {"type": "object", "properties": {"score": {"type": "integer"}}}
    body = Anthropic("").body(replace(asked("low"), schema=ReplySchema("s", schema)), {}, False)
    assert body["output_config"] == {"effort": "low", "format": {"type": "json_schema", "schema": schema}}


@pytest.mark.parametrize(("asked_for", "budget"), [(5000, 5000), (200, 1024), ("high", 24_576), ("minimal", 1024)])
def test_anthropic_budgets_are_smaller_than_the_limit(asked_for: int | str, budget: int) -> None:
    provider = Anthropic("")
    way = 0 if isinstance(asked_for, int) else 1
    body = provider.body(asked(asked_for), learned(provider, asked_for, way), False)
    assert fields(body) == {
        "max_tokens": 500 + budget,
        "thinking": {"type": "enabled", "budget_tokens": budget},
    }


def test_anthropic_without_thinking_keeps_its_temperature() -> None:
    body = Anthropic("").body(asked("none"), {}, False)
    assert fields(body) == {"max_tokens": 500, "temperature": 0.5, "thinking": {"type": "disabled"}}


# Gemini


@pytest.mark.parametrize(
    ("asked_for", "way", "limit", "config", "told"),
    [
        ("low", 0, 1524, {"thinkingLevel": "low", "includeThoughts": True}, None),
        ("max", 0, 33_268, {"thinkingLevel": "high", "includeThoughts": True}, "sent as level high"),
        ("low", 1, 1524, {"thinkingBudget": 1024, "includeThoughts": True}, "sent as a budget of 1,024 tokens"),
        ("max", 1, 33_268, {"thinkingBudget": 24_576, "includeThoughts": True}, "sent as a budget of 24,576 tokens"),
        (3000, 0, 3500, {"thinkingBudget": 3000, "includeThoughts": True}, None),
        (3000, 1, 3500, {"thinkingLevel": "medium", "includeThoughts": True}, "sent as level medium"),
        ("none", 0, 500, {"thinkingBudget": 0}, None),
    ],
)
def test_gemini(asked_for: int | str, way: int, limit: int, config: dict[str, Any], told: str | None) -> None:
    provider = Gemini("")
    known = learned(provider, asked_for, way)
    sent = provider.body(asked(asked_for), known, False)["generationConfig"]
    assert sent == {"maxOutputTokens": limit, "temperature": 0.5, "thinkingConfig": config}
    assert common.otherwise(asked(asked_for), known, provider).get("reasoning") == told


# What is refused


@pytest.mark.parametrize("provider", [OpenAI(""), OpenAI("http://localhost:1"), Anthropic(""), Gemini(""), Ollama("")])
@pytest.mark.parametrize("reasoning", [*EFFORTS, 4096])
def test_what_is_not_applied_leaves_nothing_behind(provider: common.Provider, reasoning: int | str) -> None:
    known = {common.reasoning_name(reasoning): common.NOT_APPLIED}
    assert provider.body(asked(reasoning), known, False) == provider.body(PLAIN, {}, False)
    assert common.otherwise(asked(reasoning), known, provider) == {"reasoning": "not applied"}


def test_what_was_learned_of_another_kind_of_server_is_not_heeded() -> None:
    known = {common.reasoning_name("high"): Anthropic("").ways("high")[1]}
    for provider in (OpenAI("http://h:1"), Gemini("")):
        assert provider.body(asked("high"), known, False) == provider.body(asked("high"), {}, False)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_thinking_comes_back_in_each_dialect(server: JudgeServer, kind: EndpointKind, stream: bool) -> None:
    reply = ask(Bench(server, kind=kind), replace(REQUEST, more={"reasoning": "low"}), stream=stream)
    assert reply.thinking == THOUGHT
    # Thinking is paid as the answer is, whether or not the API counts it apart.
    assert reply.usage.completion == max(1, len(reply.text) // 4) + THINKING_TOKENS
    assert reply.usage.reasoning == (0 if kind in ("anthropic", "ollama") else THINKING_TOKENS)
    assert reply.applied.get("reasoning") is None


@pytest.mark.parametrize("kind", KINDS)
def test_refused_reasoning_is_left_out_and_told(server: JudgeServer, kind: EndpointKind) -> None:
    server.set(refuse=["reasoning"])
    bench = Bench(server, kind=kind)
    reply = ask(bench, replace(REQUEST, more={"reasoning": "high"}))
    assert reply.applied["reasoning"] == "not applied"
    assert "temperature" not in reply.applied
    assert reply.thinking is None
    assert bench.endpoint.learned("judge") == {"reasoning high": "not applied"}
    assert "reasoning high not applied, as it is refused" in bench.states[-1].message
    assert reply.attempts == 1 + len(bench.endpoint._provider.ways("high"))


@pytest.mark.parametrize(
    ("kind", "refused", "reasoning", "way", "attempts"),
    [
        ("openai", "reasoning_effort", "low", "sent as reasoning_effort", 2),
        ("anthropic", "reasoning_effort", "low", "sent as a budget of thinking tokens", 2),
        ("anthropic", "reasoning_budget", 2000, "sent as an effort of adaptive thinking", 2),
        ("gemini", "reasoning_effort", "low", "sent as thinkingBudget", 2),
        ("gemini", "reasoning_budget", 2000, "sent as thinkingLevel", 2),
        ("ollama", "reasoning_effort", "low", "sent as think on or off", 2),
    ],
)
def test_the_other_form_is_tried_and_learned(
    server: JudgeServer, kind: EndpointKind, refused: str, reasoning: int | str, way: str, attempts: int
) -> None:
    server.set(refuse=[refused])
    bench = Bench(server, kind=kind)
    request = replace(REQUEST, more={"reasoning": reasoning})
    reply = ask(bench, request)
    assert (reply.attempts, reply.thinking) == (attempts, THOUGHT)
    assert bench.endpoint.learned("judge") == {f"reasoning {reasoning}": way}
    bench.endpoint = bench.open()
    assert ask(bench, request).attempts == 1


@pytest.mark.parametrize("kind", KINDS)
def test_each_setting_is_learned_by_itself(server: JudgeServer, kind: EndpointKind) -> None:
    """A model that cannot be told not to think takes an effort all the same."""
    server.set(refuse=["reasoning_none"])
    bench = Bench(server, kind=kind)
    assert ask(bench, replace(REQUEST, more={"reasoning": "none"})).applied["reasoning"] == "not applied"
    bench.endpoint = bench.open()
    reply = ask(bench, replace(REQUEST, more={"reasoning": "low"}))
    assert (reply.thinking, reply.attempts) == (THOUGHT, 1)


def test_a_temperature_that_is_refused_with_reasoning_is_sent_without(server: JudgeServer) -> None:
    server.set(refuse=["temperature"])
    bench = Bench(server)
    reply = ask(bench, replace(REQUEST, more={"reasoning": "low"}))
    assert reply.applied["temperature"] == "not applied"
    assert bench.endpoint.learned("judge") == {"temperature with reasoning": "not applied"}
    server.set(refuse=[])
    bench.endpoint = bench.open()
    assert ask(bench, replace(REQUEST, more={"reasoning": "none"})).applied == {}
    assert server.log[-1].asked["temperature"] == 0.0


# What servers say, as reported on their issue trackers; each but the last two refuses the setting


@pytest.mark.parametrize(
    ("provider", "status", "message", "parameter"),
    [
        (OpenAI(""), 400, "Unrecognized request argument supplied: reasoning_effort", "reasoning"),
        (
            OpenAI(""),
            400,
            "Unsupported value: 'reasoning_effort' does not support 'high' with this model. Supported values are: "
            "'medium'.",
            "reasoning",
        ),
        (OpenAI("http://h:1"), 400, "property 'chat_template_kwargs' is unsupported", "reasoning"),
        (OpenAI("http://h:1"), 422, "body.reasoning_effort: Input should be 'low', 'medium' or 'high'", "reasoning"),
        (OpenAI("http://h:11434"), 400, '"qwen2.5:7b" does not support thinking', "reasoning"),
        (OpenAI("http://h:1"), 400, "Model grok-4 does not support parameter reasoningEffort.", "reasoning"),
        (OpenAI(""), 400, "Reasoning is mandatory for this endpoint and cannot be disabled.", "reasoning"),
        (Anthropic(""), 400, "adaptive thinking is not supported on this model", "reasoning"),
        (Anthropic(""), 400, "thinking: Input tag 'adaptive' found using 'type' does not match", "reasoning"),
        (Anthropic(""), 400, "This model does not support the effort parameter.", "reasoning"),
        (Gemini(""), 400, "Thinking level is not supported for this model.", "reasoning"),
        (Gemini(""), 400, "Budget 0 is invalid. This model only works in thinking mode.", "reasoning"),
        (Gemini(""), 400, "The model does not support setting thinking_budget to 0", "reasoning"),
        (
            OpenAI(""),
            400,
            "max_tokens is too large: 25600. This model supports at most 16384 completion tokens, whereas you "
            "provided 25600.",
            "reasoning",
        ),
        (
            Anthropic(""),
            400,
            "max_tokens: 33792 > 32000, which is the maximum allowed number of output tokens for claude-opus-4-1",
            "reasoning",
        ),
        (
            Gemini(""),
            400,
            "Unable to submit request because it has a maxOutputTokens value of 90000 but the supported range is from "
            "1 (inclusive) to 65537 (exclusive).",
            "reasoning",
        ),
        (OpenAI(""), 400, "Reasoning models do not support temperature: it is not supported.", "temperature"),
        (OpenAI(""), 404, "The model `phi-4-reasoning` does not exist or you do not have access to it.", None),
    ],
)
def test_what_servers_say(provider: common.Provider, status: int, message: str, parameter: str | None) -> None:
    sent = provider.sent(replace(asked("high"), temperature=0.5), {}, False) | {"temperature"}
    info = error_info(json.dumps({"error": {"message": message}}).encode())
    fault = classify(status, info, None, sent, provider.parameters)
    assert fault.parameter == parameter
    assert fault.action == ("stop_model" if parameter is None else "refused")


@pytest.mark.parametrize(
    ("reasoning", "deadline", "seconds"),
    [("low", 600.0, 120.0), ("medium", 600.0, 409.6), ("high", 600.0, 600.0), ("high", 3600.0, 1228.8)],
)
def test_a_model_that_thinks_may_be_silent_for_longer(reasoning: str, deadline: float, seconds: float) -> None:
    profile = EndpointProfile("here", deadline=deadline)
    assert longest_silence(asked(reasoning), profile) == seconds
    assert longest_silence(PLAIN, profile) == 120.0


# Further fields


def test_further_fields_are_merged() -> None:
    extra = {"top_k": 20, "chat_template_kwargs": {"language": "en"}}
    body = OpenAI("http://localhost:8000").body(asked("low", extra=extra), {}, False)
    assert body["top_k"] == 20
    assert body["chat_template_kwargs"] == {"enable_thinking": True, "language": "en"}
    body = Gemini("").body(replace(PLAIN, more={"extra": {"generationConfig": {"topK": 20}}}), {}, False)
    assert body["generationConfig"] == {"maxOutputTokens": 500, "temperature": 0.5, "topK": 20}
    body = Anthropic("").body(replace(PLAIN, more={"extra": {"service_tier": "standard_only"}}), {}, False)
    assert body["service_tier"] == "standard_only"


# The key


def test_settings_that_are_set_are_part_of_the_key() -> None:
    digests = [
        Parameters("m", 0.5, 500, None, further_settings(settings)).digest()
        for settings in (
            Settings(),
            Settings(reasoning="low"),
            Settings(reasoning=2000),
            Settings(extra='{"top_k":20}'),
            Settings(reasoning="low", extra='{"top_k":20}'),
        )
    ]
    assert len(set(digests)) == len(digests)
    for unset in (Settings(reasoning="default"), Settings(extra="{}")):
        assert Parameters("m", 0.5, 500, None, further_settings(unset)).digest() == digests[0]
    assert digests[0] == '["m", 0.5, 500, null]'
