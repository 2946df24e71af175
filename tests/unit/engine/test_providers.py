"""Requests and answers of the providers, by the documented forms of their APIs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.evaluation import Reason
from judgenet.engine.ports import ChatRequest, ReplySchema
from judgenet.engine.providers import common, provider_for
from judgenet.engine.providers.anthropic import Anthropic
from judgenet.engine.providers.common import AnswerBuilder, NotAnAnswer, Provider, finish_reason
from judgenet.engine.providers.errors import classify, error_info, stated_wait
from judgenet.engine.providers.gemini import Gemini
from judgenet.engine.providers.ollama import Ollama
from judgenet.engine.providers.openai import Azure, OpenAI
from judgenet.engine.providers.sse import EventReader

SCHEMA = {
    "type": "object",
    "properties": {
        "evidence": {"type": "string", "maxLength": 400},
        "minimum": {"type": "integer", "minimum": 1, "maximum": 10},
    },
    "required": ["evidence", "minimum"],
    "additionalProperties": False,
}
REQUEST = ChatRequest(
    model="judge-1",
    system="Be fair.",
    shared="The pair. ",
    own="The role.",
    form="json",
    schema=ReplySchema("evaluation", SCHEMA),
    temperature=0.0,
    max_tokens=700,
    seed=5,
)
PLAIN = ChatRequest(model="judge-1", system="", shared="", own="Which?")


# Addresses


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1/chat/completions/", "https://api.openai.com/v1/chat/completions"),
        ("http://localhost:11434", "http://localhost:11434/v1/chat/completions"),
        ("http://localhost:1234/v1", "http://localhost:1234/v1/chat/completions"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://openrouter.ai/api", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://open.bigmodel.cn/api/paas/v4/", "https://open.bigmodel.cn/api/paas/v4/chat/completions"),
        (
            "https://generativelanguage.googleapis.com/v1beta/openai/",
            "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
        ),
        ("https://api.perplexity.ai/chat/completions", "https://api.perplexity.ai/chat/completions"),
    ],
)
def test_openai_addresses(base: str, url: str) -> None:
    assert OpenAI(base).url("m", False) == url
    assert OpenAI(base).url("m", True) == url


@pytest.mark.parametrize(
    ("base", "version", "url"),
    [
        (
            "https://r.openai.azure.com/",
            None,
            "https://r.openai.azure.com/openai/deployments/judge%201/chat/completions?api-version=2024-10-21",
        ),
        (
            "https://r.openai.azure.com/openai",
            "2025-04-01-preview",
            "https://r.openai.azure.com/openai/deployments/judge%201/chat/completions?api-version=2025-04-01-preview",
        ),
        (
            "https://r.openai.azure.com/openai/deployments/mine",
            "2024-10-21",
            "https://r.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-10-21",
        ),
        (
            "https://r.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-06-01",
            None,
            "https://r.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-06-01",
        ),
        (
            "https://r.openai.azure.com/openai/v1/",
            None,
            "https://r.openai.azure.com/openai/v1/chat/completions",
        ),
    ],
)
def test_azure_addresses(base: str, version: str | None, url: str) -> None:
    assert Azure(base, version).url("judge 1", False) == url


def test_azure_needs_an_address() -> None:
    with pytest.raises(ValueError, match=r"openai\.azure\.com"):
        Azure("")


@pytest.mark.parametrize(
    "base",
    ["", "https://api.anthropic.com", "https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"],
)
def test_anthropic_addresses(base: str) -> None:
    assert Anthropic(base).url("m", True) == "https://api.anthropic.com/v1/messages"


@pytest.mark.parametrize(
    "base",
    [
        "",
        "https://generativelanguage.googleapis.com/",
        "https://generativelanguage.googleapis.com/v1beta",
        "https://generativelanguage.googleapis.com/v1beta/models/",
    ],
)
def test_gemini_addresses(base: str) -> None:
    root = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3"
    assert Gemini(base).url("gemini-3", False) == f"{root}:generateContent"
    assert Gemini(base).url("models/gemini-3", True) == f"{root}:streamGenerateContent?alt=sse"


def test_a_provider_for_each_kind_that_has_an_address() -> None:
    kinds = {"openai": OpenAI, "azure": Azure, "anthropic": Anthropic, "gemini": Gemini, "ollama": Ollama}
    for kind, provider in kinds.items():
        profile = EndpointProfile("e", kind=kind, base_url="https://x.example")  # type: ignore[arg-type]
        assert type(provider_for(profile)) is provider
    with pytest.raises(ValueError, match="replay"):
        provider_for(EndpointProfile("e", kind="replay"))


def test_keys_go_into_the_header_of_each_api() -> None:
    assert OpenAI("").headers("k") == {"Authorization": "Bearer k"}
    assert OpenAI("").headers(None) == {}
    assert Azure("https://r.example").headers("k") == {"api-key": "k"}
    assert Anthropic("").headers("k")["x-api-key"] == "k"
    assert Anthropic("").headers(None) == {"anthropic-version": "2023-06-01"}
    assert Gemini("").headers("k") == {"x-goog-api-key": "k"}


# Requests


def test_openai_request() -> None:
    body = OpenAI("").body(REQUEST, {}, True)
    assert body == {
        "model": "judge-1",
        "messages": [{"role": "system", "content": "Be fair."}, {"role": "user", "content": "The pair. The role."}],
        "max_tokens": 700,
        "temperature": 0.0,
        "seed": 5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "evaluation", "strict": True, "schema": SCHEMA},
        },
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert OpenAI("").body(PLAIN, {}, False) == {
        "model": "judge-1",
        "messages": [{"role": "user", "content": "Which?"}],
        "max_tokens": 1024,
    }
    assert OpenAI("", {"cache_prompt": True}).body(PLAIN, {}, False)["cache_prompt"] is True


def test_openai_request_without_what_is_refused() -> None:
    learned = {
        common.LIMIT: common.LIMIT_RENAMED,
        common.TEMPERATURE: common.NOT_APPLIED,
        common.SEED: common.NOT_APPLIED,
        common.SYSTEM: common.SYSTEM_IN_USER,
        common.SCHEMA: common.SCHEMA_WITHOUT_LIMITS,
        common.STREAM_USAGE: common.REFUSED,
    }
    body = OpenAI("").body(REQUEST, learned, True)
    assert body["max_completion_tokens"] == 700
    assert body["messages"] == [{"role": "user", "content": "Be fair.\n\nThe pair. The role."}]
    assert not body.keys() & {"max_tokens", "temperature", "seed", "stream_options"}
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"] == {"evidence": {"type": "string"}, "minimum": {"type": "integer"}}
    assert schema["required"] == ["evidence", "minimum"]


def test_anthropic_request() -> None:
    body = Anthropic("").body(REQUEST, {}, False)
    assert body["system"] == "Be fair."
    assert body["max_tokens"] == 700
    assert body["temperature"] == 0.0
    assert body["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "The pair. ", "cache_control": {"type": "ephemeral"}},
                {"type": "text", "text": "The role."},
            ],
        }
    ]
    sent = body["output_config"]["format"]
    assert sent["type"] == "json_schema"
    # The API takes no limits; a property called "minimum" is not one.
    assert sent["schema"]["properties"] == {"evidence": {"type": "string"}, "minimum": {"type": "integer"}}
    assert "seed" not in body
    assert Anthropic("").body(PLAIN, {}, True) == {
        "model": "judge-1",
        "max_tokens": 1024,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Which?"}]}],
        "stream": True,
    }


def test_gemini_request() -> None:
    body = Gemini("").body(REQUEST, {}, False)
    assert body == {
        "systemInstruction": {"parts": [{"text": "Be fair."}]},
        "contents": [{"role": "user", "parts": [{"text": "The pair. The role."}]}],
        "generationConfig": {
            "maxOutputTokens": 700,
            "temperature": 0.0,
            "seed": 5,
            "responseMimeType": "application/json",
            "responseJsonSchema": SCHEMA,
        },
    }


# Answers


def read(provider: Provider, data: dict[str, Any]) -> tuple[str, str, AnswerBuilder]:
    answer = AnswerBuilder()
    provider.read(answer, data)
    return "".join(answer.text), finish_reason(answer, provider.finish_reasons), answer


def test_openai_answer() -> None:
    text, finish, answer = read(
        OpenAI(""),
        {
            "model": "gpt-x-2026",
            "system_fingerprint": "fp_1",
            "choices": [
                {
                    "message": {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."},
                    "finish_reason": "stop",
                }
            ],
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "prompt_tokens_details": {"cached_tokens": 64},
                "completion_tokens_details": {"reasoning_tokens": 15},
            },
        },
    )
    assert (text, finish) == ("Yes.", "stop")
    assert answer.thinking == ["Hm."]
    assert answer.usage == (100, 20, 64, 15)
    assert (answer.model, answer.fingerprint) == ("gpt-x-2026", "fp_1")


@pytest.mark.parametrize(
    ("choices", "text", "finish"),
    [
        ([], "", "unknown"),
        ([{"message": {"content": None}, "finish_reason": "length"}], "", "length"),
        ([{"message": {"content": ""}, "finish_reason": "content_filter"}], "", "filtered"),
        ([{"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}], "", "refused"),
        ([{"message": {"content": "x"}, "finish_reason": "end_turn"}], "x", "stop"),
        ([{"message": {"content": "x"}, "finish_reason": None}], "x", "unknown"),
        ([{"message": {"content": "x"}, "finish_reason": "made_up"}], "x", "unknown"),
        ([{"text": "x", "finish_reason": "stop"}], "x", "stop"),
        ([{"message": None, "finish_reason": "length"}], "", "length"),
        ([None], "", "unknown"),
    ],
)
def test_openai_answers_that_are_not_plain(choices: list[Any], text: str, finish: str) -> None:
    assert read(OpenAI(""), {"choices": choices})[:2] == (text, finish)


def test_openai_content_in_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
        {"type": "text", "text": "Score: "},
        {"type": "text", "text": "8"},
    ]
    text, _, answer = read(OpenAI(""), {"choices": [{"message": {"content": parts}}]})
    assert text == "Score: 8"
    assert answer.thinking == ["Hm."]


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None, "completion_tokens": "7"}, [], "none"])
def test_usage_that_is_none(usage: Any) -> None:
    _, _, answer = read(OpenAI(""), {"choices": [], "usage": usage})
    assert answer.usage in (None, (0, 0, 0, 0))


def test_deepseek_counts_cached_tokens_elsewhere() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 8}
    assert read(OpenAI(""), {"choices": [], "usage": usage})[2].usage == (9, 1, 8, 0)


def test_anthropic_answer() -> None:
    text, finish, answer = read(
        Anthropic(""),
        {
            "type": "message",
            "model": "claude-x",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                {"type": "redacted_thinking", "data": "d"},
                {"type": "text", "text": "Yes"},
                {"type": "text", "text": "."},
            ],
            "stop_reason": "end_turn",
            "usage": {
                "input_tokens": 10,
                "cache_creation_input_tokens": 30,
                "cache_read_input_tokens": 60,
                "output_tokens": 5,
            },
        },
    )
    assert (text, finish) == ("Yes.", "stop")
    assert answer.thinking == ["Hm."]
    assert answer.usage == (100, 5, 60, 0)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("max_tokens", "length"),
        ("refusal", "refused"),
        ("model_context_window_exceeded", "length"),
        ("stop_sequence", "stop"),
        ("tool_use", "stop"),
        (None, "unknown"),
    ],
)
def test_anthropic_stop_reasons(reason: str | None, finish: str) -> None:
    assert read(Anthropic(""), {"content": [], "stop_reason": reason})[:2] == ("", finish)


def test_gemini_answer() -> None:
    text, finish, answer = read(
        Gemini(""),
        {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "Yes."}]},
                    "finishReason": "STOP",
                }
            ],
            "modelVersion": "gemini-x-001",
            "usageMetadata": {
                "promptTokenCount": 100,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 15,
                "cachedContentTokenCount": 40,
            },
        },
    )
    assert (text, finish) == ("Yes.", "stop")
    assert answer.thinking == ["Hm."]
    assert answer.usage == (100, 20, 40, 15)
    assert answer.model == "gemini-x-001"


@pytest.mark.parametrize(
    ("data", "finish"),
    [
        ({"candidates": [{"finishReason": "MAX_TOKENS"}]}, "length"),
        ({"candidates": [{"finishReason": "SAFETY", "content": {}}]}, "filtered"),
        ({"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}, "filtered"),
        ({"candidates": [{"finishReason": "OTHER"}]}, "unknown"),
        ({"promptFeedback": {"blockReason": "OTHER"}}, "filtered"),
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}}, "filtered"),
        ({"candidates": [], "usageMetadata": {}}, "unknown"),
    ],
)
def test_gemini_answers_without_text(data: dict[str, Any], finish: str) -> None:
    assert read(Gemini(""), data)[:2] == ("", finish)


@pytest.mark.parametrize("provider", [OpenAI(""), Anthropic(""), Gemini("")])
def test_what_is_no_answer(provider: Provider) -> None:
    with pytest.raises(NotAnAnswer):
        provider.read(AnswerBuilder(), {"hello": "world"})


# Streams


def events_of(stream: bytes, size: int) -> list[tuple[str, bytes]]:
    reader = EventReader()
    found = []
    for start in range(0, len(stream), size):
        found += reader.feed(stream[start : start + size])
    return found + reader.close()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_whatever_the_pieces(size: int) -> None:
    stream = (
        '\ufeffdata: {"a": "line\u2028separator\u0085 漢字 🙂"}\n\n'
        ": keep-alive\n\n"
        "event: message_start\r\ndata: one\r\ndata:two\r\n\r\n"
        "id: 7\nretry: 10\ndata:  three\n\n"
        "event: ping\n\n"
        "data: last"
    ).encode()
    assert events_of(stream, size) == [
        ("", '{"a": "line\u2028separator\u0085 漢字 🙂"}'.encode()),
        ("message_start", b"one\ntwo"),
        ("", b" three"),
        ("", b"last"),
    ]


def test_lines_that_are_no_events_are_kept() -> None:
    reader = EventReader()
    assert reader.feed(b'{"error": {"message": "no"}}\n') + reader.close() == []
    assert json.loads(reader.stray) == {"error": {"message": "no"}}


def stream(provider: Provider, events: list[tuple[str, dict[str, Any]]]) -> tuple[list[str | None], AnswerBuilder]:
    answer = AnswerBuilder()
    return [provider.read_event(answer, event, data) for event, data in events], answer


def test_openai_stream() -> None:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> tuple[str, dict[str, Any]]:
        return "", {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    texts, answer = stream(
        OpenAI(""),
        [
            ("", {"choices": [], "prompt_filter_results": []}),
            chunk({"role": "assistant", "content": ""}),
            chunk({"reasoning": "Hm."}),
            chunk({"content": "Ye"}),
            chunk({"content": "s."}),
            chunk({}, "stop"),
            ("", {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
        ],
    )
    assert texts == ["", "", "", "Ye", "s.", "", ""]
    assert answer.ended
    assert answer.thinking == ["Hm."]
    assert answer.usage == (3, 2, 0, 0)


def test_openai_stream_that_ends_with_the_whole_message() -> None:
    delta = ("", {"choices": [{"delta": {"content": "Yes."}}]})
    whole = ("", {"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]})
    assert "".join(stream(OpenAI(""), [delta, whole])[1].text) == "Yes."
    assert "".join(stream(OpenAI(""), [whole])[1].text) == "Yes."


def test_anthropic_stream() -> None:
    texts, answer = stream(
        Anthropic(""),
        [
            (
                "message_start",
                {
                    "type": "message_start",
                    "message": {
                        "model": "claude-x",
                        "content": [],
                        "stop_reason": None,
                        "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 1},
                    },
                },
            ),
            ("ping", {"type": "ping"}),
            ("content_block_start", {"type": "content_block_start", "content_block": {"type": "text", "text": ""}}),
            ("content_block_delta", {"delta": {"type": "thinking_delta", "thinking": "Hm."}}),
            ("content_block_delta", {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Yes."}}),
            ("content_block_stop", {"type": "content_block_stop"}),
            (
                "message_delta",
                {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 7}},
            ),
            ("message_stop", {"type": "message_stop"}),
        ],
    )
    assert texts == ["", None, "", "", "Yes.", "", "", ""]
    assert answer.usage == (100, 7, 90, 0)
    assert finish_reason(answer, Anthropic.finish_reasons) == "length"
    assert answer.ended
    assert answer.model == "claude-x"


def test_gemini_stream() -> None:
    def part(text: str, **more: Any) -> tuple[str, dict[str, Any]]:
        return "", {
            "candidates": [{"content": {"parts": [{"text": text}]}, **more}],
            "usageMetadata": {"promptTokenCount": 4},
        }

    texts, answer = stream(Gemini(""), [part("Ye"), part("s."), part("", finishReason="STOP")])
    assert texts == ["Ye", "s.", ""]
    assert answer.ended
    assert answer.usage == (4, 0, 0, 0)


# Schemas


ARGUMENTS = '{"evidence": "e", "score_1": 8, "score_2": 3}'


@pytest.mark.parametrize(
    ("provider", "data"),
    [
        (
            OpenAI(""),
            {
                "choices": [
                    {
                        "message": {
                            "content": None,
                            "tool_calls": [{"id": "t", "function": {"name": "evaluation", "arguments": ARGUMENTS}}],
                        },
                        "finish_reason": "tool_calls",
                    }
                ]
            },
        ),
        (
            OpenAI(""),
            {
                "choices": [
                    {
                        "message": {"function_call": {"name": "evaluation", "arguments": json.loads(ARGUMENTS)}},
                        "finish_reason": "function_call",
                    }
                ]
            },
        ),
        (
            Anthropic(""),
            {
                "content": [{"type": "tool_use", "id": "t", "name": "evaluation", "input": json.loads(ARGUMENTS)}],
                "stop_reason": "tool_use",
            },
        ),
        (
            Gemini(""),
            {
                "candidates": [
                    {
                        "content": {"parts": [{"functionCall": {"name": "e", "args": json.loads(ARGUMENTS)}}]},
                        "finishReason": "STOP",
                    }
                ]
            },
        ),
    ],
)
def test_the_arguments_of_a_tool_call_are_kept(provider: Provider, data: dict[str, Any]) -> None:
    text, finish, answer = read(provider, data)
    assert (text, finish) == ("", "stop")
    assert json.loads("".join(answer.called)) == json.loads(ARGUMENTS)


def test_streamed_tool_calls() -> None:
    def delta(call: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return "", {"choices": [{"delta": {"tool_calls": [call]}}]}

    half = len(ARGUMENTS) // 2
    _, answer = stream(
        OpenAI(""),
        [
            delta({"index": 0, "id": "t", "function": {"name": "evaluation", "arguments": ""}}),
            delta({"index": 0, "function": {"arguments": ARGUMENTS[:half]}}),
            delta({"index": 0, "function": {"arguments": ARGUMENTS[half:]}}),
            delta({"index": 1, "function": {"arguments": "{}"}}),
            ("", {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
        ],
    )
    assert "".join(answer.called) == ARGUMENTS + "\n{}"
    block = {"type": "tool_use", "id": "t", "name": "evaluation", "input": {}}
    _, answer = stream(
        Anthropic(""),
        [
            ("content_block_start", {"index": 0, "content_block": block}),
            *(
                ("content_block_delta", {"index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}})
                for piece in ("", ARGUMENTS[:half], ARGUMENTS[half:])
            ),
            ("message_delta", {"delta": {"stop_reason": "tool_use"}}),
        ],
    )
    assert "".join(answer.called) == ARGUMENTS
    assert answer.raw_finish == "tool_use"


def test_a_schema_without_limits_keeps_its_properties() -> None:
    assert common.has_limits(SCHEMA)
    loose = common.without_limits(SCHEMA)
    assert not common.has_limits(loose)
    assert list(loose["properties"]) == ["evidence", "minimum"]
    assert loose["additionalProperties"] is False
    nested = {"type": "array", "minItems": 1, "items": {"anyOf": [{"type": "number", "multipleOf": 0.5}]}}
    assert common.without_limits(nested) == {"type": "array", "items": {"anyOf": [{"type": "number"}]}}


# Errors, in the words of the APIs

PER_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
PER_DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"


def gemini_429(quota: str, delay: str | None) -> dict[str, Any]:
    details: list[dict[str, Any]] = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]}
    ]
    if delay:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    message = "You exceeded your current quota, please check your plan and billing details. See the rate-limits page."
    return {"error": {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details}}


def openai_error(message: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


@pytest.mark.parametrize(
    ("status", "body", "action", "reason"),
    [
        # Quota that is used up
        (
            429,
            {
                "error": {
                    "message": "You exceeded your current quota, please check your plan and billing details.",
                    "type": "insufficient_quota",
                    "code": "insufficient_quota",
                }
            },
            "stop",
            Reason.QUOTA,
        ),
        (429, {"error": {"message": "You exceeded your current quota, please check your plan."}}, "stop", Reason.QUOTA),
        (402, {"error": {"message": "Insufficient Balance", "type": "unknown_error"}}, "stop", Reason.QUOTA),
        (402, b"", "stop", Reason.QUOTA),
        (
            400,
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "Your credit balance is too low to access the Anthropic API.",
                },
            },
            "stop",
            Reason.QUOTA,
        ),
        (
            403,
            {"error": {"code": "403", "message": "Out of call volume quota. Quota will be replenished in 12 days."}},
            "stop",
            Reason.QUOTA,
        ),
        (429, gemini_429(PER_DAY, "41s"), "stop", Reason.QUOTA),
        # Throttling, which speaks of plans and billing as well
        (429, gemini_429(PER_MINUTE, "36s"), "slow", Reason.RATE_LIMITED),
        (429, gemini_429(PER_MINUTE, None), "slow", Reason.RATE_LIMITED),
        (
            429,
            {
                "error": {
                    "message": "Rate limit reached for gpt-x on tokens per min (TPM): Limit 10000, Used 9000. "
                    "Please try again in 6s. You can increase your limit by adding a payment method: see billing.",
                    "type": "tokens",
                    "code": "rate_limit_exceeded",
                }
            },
            "slow",
            Reason.RATE_LIMITED,
        ),
        (
            429,
            {"error": {"message": "Requests exceeded the token rate limit of your current S0 tier."}},
            "slow",
            Reason.RATE_LIMITED,
        ),
        (429, b"Too Many Requests", "slow", Reason.RATE_LIMITED),
        (429, b"", "slow", Reason.RATE_LIMITED),
        (
            529,
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            "slow",
            Reason.SERVER_ERROR,
        ),
        # What may go better next time
        (408, b"", "retry", Reason.TIMEOUT),
        (504, b"<html><head><title>504</title></head></html>", "retry", Reason.TIMEOUT),
        (409, b"", "retry", Reason.SERVER_ERROR),
        (425, b"", "retry", Reason.SERVER_ERROR),
        (500, b"", "retry", Reason.SERVER_ERROR),
        (503, {"error": {"message": "The model is overloaded."}}, "retry", Reason.SERVER_ERROR),
        # Keys
        (401, openai_error("Incorrect API key provided", "invalid_api_key"), "stop", Reason.AUTH),
        (403, openai_error("You may not do that"), "stop", Reason.AUTH),
        (
            400,
            {
                "error": {
                    "code": 400,
                    "message": "API key not valid. Please pass a valid API key.",
                    "status": "INVALID_ARGUMENT",
                }
            },
            "stop",
            Reason.AUTH,
        ),
        # Models
        (
            404,
            openai_error("The model `x` does not exist or you do not have access to it.", "model_not_found"),
            "stop_model",
            Reason.BAD_REQUEST,
        ),
        (
            404,
            {"error": {"message": 'model "x" not found, try pulling it first', "type": "api_error"}},
            "stop_model",
            Reason.BAD_REQUEST,
        ),
        (
            404,
            {"type": "error", "error": {"type": "not_found_error", "message": "model: claude-x"}},
            "stop_model",
            Reason.BAD_REQUEST,
        ),
        (
            404,
            {"error": {"code": 404, "message": "models/x is not found for API version v1beta", "status": "NOT_FOUND"}},
            "stop_model",
            Reason.BAD_REQUEST,
        ),
        (
            404,
            {
                "error": {
                    "code": "DeploymentNotFound",
                    "message": "The API deployment for this resource does not exist.",
                }
            },
            "stop_model",
            Reason.BAD_REQUEST,
        ),
        (400, {"error": {"message": "x is not a valid model ID", "code": 400}}, "stop_model", Reason.BAD_REQUEST),
        (403, openai_error("Project does not have access to model `x`", "model_not_found"), "stop_model", Reason.AUTH),
        # Addresses
        (404, {"detail": "Not Found"}, "stop", Reason.BAD_REQUEST),
        (404, b"404 page not found", "stop", Reason.BAD_REQUEST),
        (405, b"", "stop", Reason.BAD_REQUEST),
        (301, b"", "stop", Reason.BAD_REQUEST),
        # Texts
        (
            400,
            {
                "error": {
                    "message": "The response was filtered due to the prompt triggering the content management policy.",
                    "code": "content_filter",
                    "innererror": {"code": "ResponsibleAIPolicyViolation"},
                }
            },
            "fail",
            Reason.FILTERED,
        ),
        (
            403,
            {"error": {"code": 403, "message": "Your input was flagged", "metadata": {"reasons": ["violence"]}}},
            "fail",
            Reason.FILTERED,
        ),
        (
            400,
            openai_error("This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
            "fail",
            Reason.CONTEXT_LENGTH,
        ),
        (
            400,
            {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context size",
                    "type": "exceed_context_size_error",
                }
            },
            "fail",
            Reason.CONTEXT_LENGTH,
        ),
        (
            400,
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "prompt is too long: 210000 tokens > 200000 maximum",
                },
            },
            "fail",
            Reason.CONTEXT_LENGTH,
        ),
        (
            400,
            {
                "error": {
                    "code": 400,
                    "message": "The input token count (2000000) exceeds the maximum number of tokens allowed.",
                    "status": "INVALID_ARGUMENT",
                }
            },
            "fail",
            Reason.CONTEXT_LENGTH,
        ),
        (
            400,
            {
                "object": "error",
                "message": "'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens.",
                "code": 400,
            },
            "fail",
            Reason.CONTEXT_LENGTH,
        ),
        (413, b"", "fail", Reason.CONTEXT_LENGTH),
        # Everything else
        (400, openai_error("Something is wrong."), "fail", Reason.BAD_REQUEST),
        (
            422,
            {"detail": [{"loc": ["body", "messages"], "msg": "field required", "type": "missing"}]},
            "fail",
            Reason.BAD_REQUEST,
        ),
        (400, b"\xff\xfe", "fail", Reason.BAD_REQUEST),
        (400, {"error": None}, "fail", Reason.BAD_REQUEST),
        (400, [], "fail", Reason.BAD_REQUEST),
    ],
)
def test_what_errors_mean(status: int, body: Any, action: str, reason: Reason) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = OpenAI("").sent(REQUEST, {}, True)
    fault = classify(status, error_info(raw), None, sent, OpenAI.parameters, SCHEMA)
    assert (fault.action, fault.reason) == (action, reason)
    assert fault.text
    assert fault.status == status


@pytest.mark.parametrize(
    ("status", "body", "parameter"),
    [
        (
            400,
            openai_error(
                "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                "unsupported_parameter",
                "max_tokens",
            ),
            common.LIMIT,
        ),
        (400, openai_error("Unrecognized request argument supplied: max_completion_tokens"), common.LIMIT),
        (
            422,
            {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "max_completion_tokens"],
                        "msg": "Extra inputs are not permitted",
                        "input": 5,
                    }
                ]
            },
            common.LIMIT,
        ),
        (
            400,
            openai_error(
                "Unsupported value: 'temperature' does not support 0.0 with this model. "
                "Only the default (1) value is supported.",
                "unsupported_value",
                "temperature",
            ),
            common.TEMPERATURE,
        ),
        (400, openai_error("invalid temperature: only 1 is allowed for this model"), common.TEMPERATURE),
        (400, openai_error("`temperature` may only be set to 1 when thinking is enabled."), common.TEMPERATURE),
        (400, openai_error("temperature is deprecated for this model"), common.TEMPERATURE),
        (400, openai_error("property 'seed' is unsupported"), common.SEED),
        (400, openai_error("Unrecognized request argument supplied: stream_options"), common.STREAM_USAGE),
        (
            400,
            openai_error("Your organization must be verified to stream this model.", "unsupported_value", "stream"),
            common.STREAM,
        ),
        (
            400,
            openai_error(
                "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
                "unsupported_value",
                "messages[0].role",
            ),
            common.SYSTEM,
        ),
        (400, {"object": "error", "message": "System role not supported", "code": 400}, common.SYSTEM),
        (
            400,
            openai_error(
                "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
                None,
                "response_format",
            ),
            common.SCHEMA,
        ),
        (400, {"error": "'response_format.type' must be 'text'"}, common.SCHEMA),
        (400, {"error": {"message": "This response_format type is unavailable now"}}, common.SCHEMA),
        (
            400,
            {
                "error": {
                    "message": "Provider returned error",
                    "code": 400,
                    "metadata": {"raw": '{"message": "json_schema is not supported"}'},
                }
            },
            common.SCHEMA,
        ),
        (
            400,
            openai_error(
                "Invalid schema for response_format 'evaluation': "
                "In context=('properties', 'score'), 'minimum' is not permitted.",
                None,
                "response_format",
            ),
            "schema_limits",
        ),
        # Not refusals of the parameter: its value is wrong, or it is named in passing.
        (400, openai_error("temperature must be between 0 and 2", None, "temperature"), None),
        (
            400,
            openai_error(
                "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
                None,
                "max_tokens",
            ),
            None,
        ),
        (400, openai_error("Could not parse the request"), None),
        (401, openai_error("Unsupported parameter: 'temperature'"), None),
    ],
)
def test_which_parameter_is_refused(status: int, body: Any, parameter: str | None) -> None:
    learned = {common.LIMIT: common.LIMIT_RENAMED} if "max_completion_tokens" in json.dumps(body)[:90] else {}
    sent = OpenAI("").sent(REQUEST, learned, True)
    fault = classify(status, error_info(json.dumps(body).encode()), None, sent, OpenAI.parameters, SCHEMA)
    assert fault.parameter == parameter
    assert (fault.action == "refused") == (parameter is not None)


def test_only_what_was_sent_can_be_refused() -> None:
    info = error_info(json.dumps(openai_error("Unsupported value: 'temperature'", None, "temperature")).encode())
    sent = OpenAI("").sent(PLAIN, {}, False)
    assert classify(400, info, None, sent, OpenAI.parameters).action == "fail"


def test_anthropic_refusals() -> None:
    sent = Anthropic("").sent(REQUEST, {}, True)
    assert sent == {common.TEMPERATURE, common.SCHEMA}
    for message, parameter in [
        ("output_config: Extra inputs are not permitted", common.SCHEMA),
        ("'claude-old' does not support output format.", common.SCHEMA),
        ("temperature: `temperature` is deprecated for this model.", common.TEMPERATURE),
    ]:
        body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
        info = error_info(json.dumps(body).encode())
        assert classify(400, info, None, sent, Anthropic.parameters).parameter == parameter


def test_gemini_refusals() -> None:
    sent = Gemini("").sent(REQUEST, {}, True)
    for message, parameter in [
        ("Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config'", common.SCHEMA),
        ("Developer instruction is not enabled for models/gemma-3", common.SYSTEM),
        ("JSON mode is not enabled for models/gemma-3", common.SCHEMA),
    ]:
        body = {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
        info = error_info(json.dumps(body).encode())
        assert classify(400, info, None, sent, Gemini.parameters).parameter == parameter


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Please try again in 6s. Visit the page.", 6.0),
        ("Please try again in 7m54.336s. Need more?", 474.336),
        ("Please retry after 6 seconds.", 6.0),
        ("Please try again in 20ms.", 0.02),
        ("Please retry in 36.5s.", 36.5),
        ("Try again in 2 hours", 7200.0),
        ("Try again later.", None),
    ],
)
def test_waits_in_words(words: str, seconds: float | None) -> None:
    info = error_info(json.dumps({"error": {"message": words}}).encode())
    assert stated_wait(info) == (None if seconds is None else pytest.approx(seconds))


def test_google_states_its_wait_in_the_details() -> None:
    fault = classify(429, error_info(json.dumps(gemini_429(PER_MINUTE, "36s")).encode()), None)
    assert fault.wait == 36.0


def test_an_error_repeats_no_prompt() -> None:
    """pydantic's errors hold the input: a prompt about content policy must not look like a filter."""
    body = {"detail": [{"loc": ["body"], "msg": "bad", "type": "value_error", "input": "the content_policy of models"}]}
    assert classify(422, error_info(json.dumps(body).encode()), None).reason is Reason.BAD_REQUEST


def test_a_page_of_html_is_told_by_its_title() -> None:
    info = error_info(b"<!doctype html><html><head><title>502\n Bad Gateway</title></head><body>...</body></html>")
    assert info.message == "an HTML page (502 Bad Gateway)"
