"""A judge over HTTP for tests: speaks as OpenAI, Azure, Anthropic, Gemini and Ollama do, judges by a hash of what it
is asked, does every fault on demand, and remembers everything.

In a test: ``with JudgeServer(faults={"500": 0.2}) as server: ... server.url ... server.log``.
As a process: ``python -m tests.fakes.judge_server --port 0 --latency 0.05`` prints its address; then
``GET /control/log``, ``GET /control/stats``, ``POST /control/settings`` (fields of :class:`Settings`) and
``POST /control/reset``.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import functools
import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from email.utils import formatdate
from types import TracebackType
from typing import Any, NamedTuple

from aiohttp import web

from tests.fakes import batch_server
from tests.fakes.batch_server import BatchServer
from tests.fakes.biased_judges import MINDS, order_of
from tests.fakes.judge_reasoning import (
    REASONING_REFUSALS,
    THINKING_TOKENS,
    THOUGHT,
    refusal_words,
    refuses_reasoning,
    thinks,
)
from tests.fakes.judge_tokens import (
    TOKEN_REFUSALS,
    entries_of,
    gemini_result,
    refuses_tokens,
    token_refusal_words,
    wanted_alternatives,
)

REFUSALS = (
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "seed",
    "schema",
    "schema_limits",
    "stream_options",
    "stream",
    "system",
    *REASONING_REFUSALS,
    *TOKEN_REFUSALS,
)
"""What can be refused with a 400 of its own; also as faults, where the request carries it."""

STATUS_FAULTS = (
    "bad_request", "auth", "forbidden", "payment", "quota", "no_model", "no_route", "context", "content_filter",
    "throttle", "throttle_date", "throttle_ms", "throttle_plain", "throttle_long", "408", "409", "425", "500", "502",
    "503", "504", "529", "html_502",
)  # fmt: skip
CONNECTION_FAULTS = ("reset", "hang", "hang_body", "comments", "blanks", "drip", "cut")
BODY_FAULTS = (
    "bad_json", "html_200", "content_type", "error_200", "stream_error", "empty_choices", "empty_content", "refusal",
    "filtered", "length", "bomb", "huge", "nested", "brotli",
)  # fmt: skip
ANSWER_FAULTS = ("off_scale", "prose", "contradictory")
FORM_FAULTS = ("no_usage", "zero_usage", "u2028", "split_utf8", "duplicate_chunks", "no_done", "crlf")
FAULTS = REFUSALS + STATUS_FAULTS + CONNECTION_FAULTS + BODY_FAULTS + ANSWER_FAULTS + FORM_FAULTS
"""All faults. ``hang_body``, ``comments`` and ``blanks`` hold back a stream after its first event (``blanks`` with
pieces of text that are nothing but a blank), a whole answer within its body; ``drip`` sends it in small pieces
``drip_s`` apart. ``bomb`` is an answer of 64 MB packed into 64 KB, ``huge`` one of 12 MB as it is, ``nested`` JSON
200,000 deep, ``brotli`` an answer packed as nobody asked for."""

_ROLES = ("Correctness", "Clarity", "Completeness", "Relevance", "Tone", "Depth")
_ASKS_ROLES = re.compile(r"do not judge yet|name the (?:perspectives|roles)|先不要评审|请列出评判", re.I)


@dataclass
class Settings:
    """How the server behaves. ``faults`` maps a fault to its probability, drawn from ``seed``, the request's
    body and how often that body came, so that the order of arrival does not matter. ``script`` names the fault
    (or ``None``) of the next requests and goes first. ``refuse`` are parameters refused always. ``context`` is
    the length that the list of models tells, as vLLM does."""

    latency: float = 0.0
    seed: int = 0
    faults: dict[str, float] = field(default_factory=dict)
    script: list[str | None] = field(default_factory=list)
    refuse: list[str] = field(default_factory=list)
    context: int | None = None
    key: str | None = None
    models: list[str] | None = None
    roles: int = 3
    retry_after: float = 0.05
    hang_s: float = 30.0
    drip_s: float = 0.01
    most_in_flight: int | None = None
    mind: str = ""
    """One of the biased minds (``tests.fakes.biased_judges``); without one it judges by a hash."""
    tokens: str = ""
    """How token probabilities are sent (:func:`tests.fakes.judge_tokens.entries_of`); without it none are."""
    batch_s: float = 0.0
    """How long a batch takes."""
    batch_faults: list[list[str]] = field(default_factory=list)
    """The faults of the next batches (``batch_server.BATCH_FAULTS``)."""
    batch_sending: list[str | None] = field(default_factory=list)
    """The faults of their sending (``batch_server.SENDING_FAULTS``)."""
    batch_looks: int = 0
    """So many of the next looks at a batch fail."""
    batch_room: int | None = None
    """So many calls are queued at most; with ``batch_room_429`` the creation says so, else the batch fails."""
    batch_room_429: bool = False
    batch_most: int | None = None
    """The most calls of a batch."""
    keep: str = "all"
    """``"all"``: messages and answers; ``"hashes"``: neither; ``"none"``: counts only."""
    blind: str = ""
    """One of :data:`BLIND_WORDS`: requests with pictures are refused as that server refuses them. ``"silent"``: they
    are answered as if they had none."""


class SeenPicture(NamedTuple):
    """A picture as it came: the last line of the text before it, its media type, the SHA-256 of its bytes."""

    after: str
    media: str
    sha256: str
    color: str = ""
    """Of a small picture of one colour: its name."""


@dataclass(slots=True)
class Entry:
    """One request. ``others`` were in flight when it came. ``delivered``: the whole answer was written to a
    connection still open. ``paid``: an answer of the model was written, also a useless one."""

    number: int
    path: str
    dialect: str
    model: str
    body_hash: str
    headers: dict[str, str]
    messages: list[dict[str, str]]
    asked: dict[str, Any]
    stream: bool
    at: float
    others: int = 0
    status: int | None = None
    fault: str | None = None
    answer: str | None = None
    finish: str | None = None
    paid: bool = False
    delivered: bool = False
    disconnected: bool = False
    pictures: list[SeenPicture] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {name.name: getattr(self, name.name) for name in fields(self)}


@dataclass(slots=True)
class Asked:
    """A request, whatever the dialect."""

    model: str
    system: str
    user: str
    schema: dict[str, Any] | None
    stream: bool
    usage_in_stream: bool
    parameters: dict[str, Any]
    pictures: list[SeenPicture] = field(default_factory=list)


@dataclass(slots=True)
class Told:
    """What the judge says to it."""

    text: str
    finish: str = "stop"
    refusal: str | None = None
    choices: bool = True
    usage: tuple[int, int] | None = (0, 0)
    tokens: list[dict[str, Any]] | None = None
    thinking: str = ""


# Judging


def judge(asked: Asked, fault: str | None, roles: int, mind: str = "", times: int = 0) -> Told:
    """The answer to a request, by a hash of its text alone, or by a mind that may heed how often it came."""
    digest = hashlib.sha256(f"{asked.system}\n{asked.user}".encode("utf-8", "surrogatepass")).digest()
    first, second = 1 + digest[0] % 10, 1 + digest[1] % 10
    chinese = "回答1" in asked.user
    evidence = _evidence(digest, chinese)
    if asked.pictures and "colour of the picture" in asked.user:
        evidence = f"{asked.pictures[0].color}. {evidence}"
    if fault == "u2028":
        evidence += " Line\u2028separator, paragraph\u2029separator, next\u0085line, 漢字 and 🙂."
    wants_roles = _wants_roles(asked)
    if mind and not wants_roles and not _wants_order(asked):
        first, second = MINDS[mind](asked.user, times)
    if fault == "off_scale":
        first, second = 11, 0
    if fault == "contradictory":
        first, second = 9, 2
    if fault == "prose" and not wants_roles:
        text = "评审完毕。" if chinese else "Both responses have something to say for themselves."
    elif asked.schema is not None:
        text = json.dumps(_fill(asked.schema, "", digest, evidence, (first, second), roles), ensure_ascii=False)
    elif wants_roles:
        text = "\n".join(f"${name}: {what}&" for name, what in _roles(digest, roles))
    elif chinese:
        text = f"{evidence}\n回答1的分数：{first}\n回答2的分数：{second}"
    else:
        text = f"{evidence}\nScore of Response 1: {first}\nScore of Response 2: {second}"
    if fault == "contradictory" and not wants_roles:
        text += "\n\n[[B]]"
    if _wants_order(asked) and fault != "prose":
        order = order_of(asked.user)
        text = " > ".join(map(str, order))
        text = f"Ranking: {text}" if asked.schema is None else json.dumps({"ranking": order})
        if fault == "off_scale":
            text = text.replace("1", "99")
    told = Told(text, usage=(max(1, len(asked.user) // 4), max(1, len(text) // 4)))
    if thinks(asked.parameters):
        told.thinking = THOUGHT
    if fault == "length":
        told.text, told.finish = text[: max(1, len(text) // 2)], "length"
    elif fault == "filtered":
        told.text, told.finish = "", "filtered"
    elif fault == "refusal":
        told.text, told.finish, told.refusal = "", "refused", "I cannot judge these texts."
    elif fault == "empty_content":
        told.text = ""
    elif fault == "empty_choices":
        told.text, told.choices = "", False
    elif fault == "no_usage":
        told.usage = None
    elif fault == "zero_usage":
        told.usage = (0, 0)
    return told


def _wants_roles(asked: Asked) -> bool:
    if asked.schema is not None:
        return "roles" in asked.schema.get("properties", {})
    # Behind the texts to judge, which may say anything.
    return _ASKS_ROLES.search(asked.user.rpartition(">>")[2]) is not None


def _wants_order(asked: Asked) -> bool:
    if asked.schema is not None:
        return "ranking" in asked.schema.get("properties", {})
    return "\nRanking: " in asked.user.rpartition(">>")[2]


def _evidence(digest: bytes, chinese: bool) -> str:
    tag = digest[2:6].hex()
    if chinese:
        return f"两个回答各有长处（{tag}）。"
    return f"The first is more to the point, the second says more ({tag})."


def _roles(digest: bytes, count: int) -> list[tuple[str, str]]:
    names = _ROLES
    start = digest[6] % len(names)
    return [
        (name, f"How good are the responses in {name.lower()}?")
        for name in (names[(start + i) % len(names)] for i in range(count))
    ]


def _fill(schema: dict[str, Any], name: str, digest: bytes, evidence: str, scores: tuple[int, int], roles: int) -> Any:
    """A value for a schema. Numbers take the two scores in turn; a list of objects takes roles."""
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties", {})
        numbers = [key for key, value in properties.items() if value.get("type") in ("integer", "number")]
        filled = {}
        for key, value in properties.items():
            if key in numbers:
                filled[key] = scores[numbers.index(key) % 2]
            else:
                filled[key] = _fill(value, key, digest, evidence, scores, roles)
        return filled
    if kind == "array":
        most = schema.get("maxItems", roles)
        return [
            {key: (role if key == "name" else what) for key in schema.get("items", {}).get("properties", {})}
            for role, what in _roles(digest, min(roles, most))
        ]
    if "enum" in schema:
        return schema["enum"][digest[7] % len(schema["enum"])]
    return evidence


# Dialects


def _color(data: bytes) -> str:
    if len(data) > 2000:
        return ""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        seen = image.convert("RGB").getpixel((0, 0))
    bright = tuple(channel > 100 for channel in seen)
    names = {(True, False, False): "red", (False, True, False): "green", (False, False, True): "blue"}
    return names.get(bright, "yellow" if bright == (True, True, False) else "")


def _text_of(content: str | list[dict[str, Any]], pictures: list[SeenPicture]) -> str:
    """The text of a message in any dialect; its pictures go into the list. A part in no dialect's form is an error."""
    if isinstance(content, str):
        return content
    text = ""
    for part in content:
        if "text" in part:
            text += part["text"]
            continue
        if part.get("type") == "image_url":
            head, _, data = part["image_url"]["url"].partition(";base64,")
            media = head.removeprefix("data:")
        elif part.get("type") == "image":
            assert part["source"]["type"] == "base64"
            media, data = part["source"]["media_type"], part["source"]["data"]
        else:
            media, data = part["inlineData"]["mimeType"], part["inlineData"]["data"]
        content_bytes = base64.b64decode(data, validate=True)
        digest = hashlib.sha256(content_bytes).hexdigest()
        after = text.rstrip().rpartition("\n")[2]
        pictures.append(SeenPicture(after, media, digest, _color(content_bytes)))
    return text


class OpenAIDialect:
    name = "openai"

    def asked(self, path: str, body: dict[str, Any]) -> Asked:
        messages = body.get("messages", [])
        system = "\n".join(m["content"] for m in messages if m["role"] == "system")
        pictures: list[SeenPicture] = []
        user = "\n".join(_text_of(m["content"], pictures) for m in messages if m["role"] != "system")
        wanted = body.get("response_format") or {}
        schema = wanted.get("json_schema", {}).get("schema") if wanted.get("type") == "json_schema" else None
        model = body.get("model") or path.partition("/deployments/")[2].partition("/")[0]
        options = body.get("stream_options") or {}
        usage = bool(options.get("include_usage"))
        return Asked(model, system, user, schema, bool(body.get("stream")), usage, body, pictures)

    def whole(self, asked: Asked, told: Told, number: int) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": told.text or None, "refusal": told.refusal}
        if told.thinking:
            message["reasoning"] = told.thinking
        logprobs = None if told.tokens is None else {"content": told.tokens, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": _OPENAI_FINISH[told.finish], "logprobs": logprobs}
        data = {**self._head(asked, number, "chat.completion"), "choices": [choice] if told.choices else []}
        if told.usage is not None:
            data["usage"] = self._usage(told)
        return data

    def events(self, asked: Asked, told: Told, number: int, double: bool) -> list[bytes]:
        head = self._head(asked, number, "chat.completion.chunk")

        def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
            choices = [{"index": 0, "delta": delta, "finish_reason": finish, **more}] if told.choices else []
            return _event({**head, "choices": choices})

        first = chunk({"role": "assistant", "content": ""})
        last = [chunk({}, _OPENAI_FINISH[told.finish])]
        if asked.usage_in_stream and told.usage is not None:
            last.append(_event({**head, "choices": [], "usage": self._usage(told)}))
        pieces = [chunk({"reasoning": piece}) for piece in _split(told.thinking)]
        pieces += [chunk({"content": piece}) for piece in _split(told.text)] if told.tokens is None else []
        for entry in told.tokens or ():
            content = {"content": entry["token"] if entry["token"] in told.text else ""}
            pieces.append(chunk(content, logprobs={"content": [entry]}))
        if told.refusal:
            pieces.append(chunk({"refusal": told.refusal}))
        if double:
            last = [event for event in last for _ in range(2)]
            return [first, first, *pieces, *last]
        return [first, *pieces, *last]

    done = b"data: [DONE]\n\n"

    def error(self, status: int, message: str, code: str | None, parameter: str | None) -> dict[str, Any]:
        kind = "server_error" if status >= 500 else "invalid_request_error"
        if code == "insufficient_quota":
            kind = code
        return {"error": {"message": message, "type": kind, "param": parameter, "code": code}}

    @staticmethod
    def _head(asked: Asked, number: int, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{number}",
            "object": kind,
            "created": 1700000000,
            "model": f"{asked.model}-2026",
            "system_fingerprint": "fp_fake",
        }

    @staticmethod
    def _usage(told: Told) -> dict[str, Any]:
        prompt, completion, thought = _counts(told)
        completion += thought
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": prompt // 2},
            "completion_tokens_details": {"reasoning_tokens": thought},
        }


class AnthropicDialect:
    name = "anthropic"
    done = b""

    def asked(self, path: str, body: dict[str, Any]) -> Asked:
        user = ""
        pictures: list[SeenPicture] = []
        for message in body.get("messages", []):
            user += _text_of(message["content"], pictures)
        wanted = (body.get("output_config") or {}).get("format") or {}
        return Asked(
            body.get("model", ""),
            body.get("system", ""),
            user,
            wanted.get("schema"),
            bool(body.get("stream")),
            True,
            body,
            pictures,
        )

    def whole(self, asked: Asked, told: Told, number: int) -> dict[str, Any]:
        content = [{"type": "thinking", "thinking": told.thinking, "signature": "s"}] if told.thinking else []
        content += [{"type": "text", "text": told.text}] if told.choices and told.text else []
        data: dict[str, Any] = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": f"{asked.model}-2026",
            "content": content,
            "stop_reason": _ANTHROPIC_FINISH[told.finish],
            "stop_sequence": None,
        }
        if told.usage is not None:
            data["usage"] = self._usage(told)
        return data

    def events(self, asked: Asked, told: Told, number: int, double: bool) -> list[bytes]:
        start = {**self.whole(asked, told, number), "content": [], "stop_reason": None}
        if told.usage is not None:
            start["usage"] = {**self._usage(told), "output_tokens": 1}
        thinking = [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": piece}}
            for piece in _split(told.thinking)
        ]
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        deltas = [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
            for piece in _split(told.text)
        ]
        end: dict[str, Any] = {
            "type": "message_delta",
            "delta": {"stop_reason": _ANTHROPIC_FINISH[told.finish], "stop_sequence": None},
        }
        if told.usage is not None:
            end["usage"] = {"output_tokens": self._usage(told)["output_tokens"]}
        events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, *thinking, block, {"type": "ping"}]
        events += deltas
        last: list[dict[str, Any]] = [{"type": "content_block_stop", "index": 0}, end, {"type": "message_stop"}]
        if double:
            last = [event for event in last for _ in range(2)]
        return [_event(event, event["type"]) for event in [*events, *last]]

    def error(self, status: int, message: str, code: str | None, parameter: str | None) -> dict[str, Any]:
        kinds = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large"}
        kinds |= {402: "billing_error", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}
        if code == "insufficient_quota":
            message = "Your credit balance is too low to access the API."
        kind = kinds.get(status, "invalid_request_error" if status < 500 else "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}

    @staticmethod
    def _usage(told: Told) -> dict[str, Any]:
        prompt, completion, thought = _counts(told)
        half = prompt // 2
        return {
            "input_tokens": prompt - half,
            "cache_read_input_tokens": half,
            "cache_creation_input_tokens": 0,
            "output_tokens": completion + thought,
        }


class GeminiDialect:
    name = "gemini"
    done = b""

    def asked(self, path: str, body: dict[str, Any]) -> Asked:
        pictures: list[SeenPicture] = []

        def text(content: dict[str, Any]) -> str:
            return _text_of(content.get("parts", []), pictures)

        config = body.get("generationConfig") or {}
        name = path.rpartition("/")[2]
        return Asked(
            name.partition(":")[0],
            text(body.get("systemInstruction") or {}),
            "".join(text(content) for content in body.get("contents", [])),
            config.get("responseJsonSchema"),
            "streamGenerateContent" in name,
            True,
            config,
            pictures,
        )

    def whole(self, asked: Asked, told: Told, number: int) -> dict[str, Any]:
        parts: list[dict[str, Any]] = [{"text": told.thinking, "thought": True}] if told.thinking else []
        parts += [{"text": told.text}] if told.text else []
        return self._data(asked, told, parts, _GEMINI_FINISH[told.finish])

    def events(self, asked: Asked, told: Told, number: int, double: bool) -> list[bytes]:
        thinking = [{"text": piece, "thought": True} for piece in _split(told.thinking)]
        parts = [*thinking, *({"text": piece} for piece in _split(told.text))]
        events = [self._data(asked, told, [part], None) for part in parts]
        last = self._data(asked, told, [], _GEMINI_FINISH[told.finish])
        return [_event(event) for event in [*events, last, *([last] if double else [])]]

    def _data(self, asked: Asked, told: Told, parts: list[Any], finish: str | None) -> dict[str, Any]:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
        if told.tokens is not None and finish:
            candidate["logprobsResult"] = gemini_result(told.tokens)
        if finish:
            candidate["finishReason"] = finish
        data: dict[str, Any] = {
            "candidates": [candidate] if told.choices else [],
            "modelVersion": f"{asked.model}-2026",
        }
        if told.usage is not None:
            prompt, completion, thought = _counts(told)
            data["usageMetadata"] = {
                "promptTokenCount": prompt,
                "candidatesTokenCount": completion,
                "thoughtsTokenCount": thought,
                "cachedContentTokenCount": prompt // 2,
                "totalTokenCount": prompt + completion + thought,
            }
        return data

    def error(self, status: int, message: str, code: str | None, parameter: str | None) -> dict[str, Any]:
        names = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}
        names |= {429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}
        error: dict[str, Any] = {"code": status, "message": message, "status": names.get(status, "INTERNAL")}
        if status == 429:
            per_day = code == "insufficient_quota"
            quota = f"GenerateRequestsPer{'Day' if per_day else 'Minute'}PerProjectPerModel"
            error["message"] = "You exceeded your current quota, please check your plan and billing details."
            error["details"] = [
                {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]}
            ]
        return {"error": error}


class OllamaDialect:
    """``/api/chat`` by docs.ollama.com: a JSON object a line, times in nanoseconds, counts in the last line."""

    name = "ollama"
    done = b""

    def asked(self, path: str, body: dict[str, Any]) -> Asked:
        pictures: list[SeenPicture] = []
        user = ""
        for message in body["messages"]:
            if message["role"] == "system":
                continue
            for data in message.get("images", ()):
                # The pictures of a message come before its text.
                content = base64.b64decode(data, validate=True)
                after = user.rstrip().rpartition("\n")[2]
                digest = hashlib.sha256(content).hexdigest()
                media = "image/png" if content.startswith(b"\x89PNG") else "image/jpeg"
                pictures.append(SeenPicture(after, media, digest, _color(content)))
            user += message["content"]
        system = "\n".join(m["content"] for m in body["messages"] if m["role"] == "system")
        parameters = {**body, **body.get("options", {})}
        return Asked(
            body["model"], system, user, body.get("format"), body.get("stream", True), True, parameters, pictures
        )

    def whole(self, asked: Asked, told: Told, number: int) -> dict[str, Any]:
        message = {"role": "assistant", "content": told.text}
        if told.thinking:
            message["thinking"] = told.thinking
        return self._line(asked, message if told.choices else None, told, logprobs=told.tokens)

    def events(self, asked: Asked, told: Told, number: int, double: bool) -> list[bytes]:
        lines = [
            self._line(asked, {"role": "assistant", "content": "", "thinking": piece})
            for piece in _split(told.thinking)
        ]
        if told.tokens is None:
            lines += [self._line(asked, {"role": "assistant", "content": piece}) for piece in _split(told.text)]
        for entry in told.tokens or ():
            text = entry["token"] if entry["token"] in told.text else ""
            lines.append(self._line(asked, {"role": "assistant", "content": text}, logprobs=[entry]))
        last = self._line(asked, {"role": "assistant", "content": ""} if told.choices else None, told)
        return [_encode(line) + b"\n" for line in [*lines, *([last] * (2 if double else 1))]]

    @staticmethod
    def _line(
        asked: Asked,
        message: dict[str, Any] | None,
        told: Told | None = None,
        logprobs: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        line: dict[str, Any] = {"model": f"{asked.model}-2026", "created_at": "2026-11-30T10:00:00.123456Z"}
        if message is not None:
            line["message"] = message
        line["done"] = told is not None
        if logprobs is not None:
            line["logprobs"] = logprobs
        if told is not None:
            line |= {"done_reason": "length" if told.finish == "length" else "stop", "total_duration": 5_191_566_416}
            if told.usage is not None:
                prompt, completion, thought = _counts(told)
                line |= {"prompt_eval_count": prompt, "prompt_eval_cached_count": prompt // 2}
                line["eval_count"] = completion + thought
        return line

    def error(self, status: int, message: str, code: str | None, parameter: str | None) -> dict[str, Any]:
        return {"error": message}


Dialect = OpenAIDialect | AnthropicDialect | GeminiDialect | OllamaDialect

_OPENAI_FINISH = {"stop": "stop", "length": "length", "filtered": "content_filter", "refused": "stop"}
_ANTHROPIC_FINISH = {"stop": "end_turn", "length": "max_tokens", "filtered": "refusal", "refused": "refusal"}
_GEMINI_FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "filtered": "SAFETY", "refused": "PROHIBITED_CONTENT"}


def dialect_of(path: str) -> Dialect | None:
    """The dialect that a path belongs to, ``None`` for a path that nobody answers."""
    if path.endswith("/chat/completions"):
        return OpenAIDialect()
    if path.endswith("/messages"):
        return AnthropicDialect()
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return GeminiDialect()
    if path.endswith("/api/chat"):
        return OllamaDialect()
    return None


def _counts(told: Told) -> tuple[int, int, int]:
    """Tokens of the prompt, of the answer, and of thinking."""
    prompt, completion = told.usage or (0, 0)
    return prompt, completion, THINKING_TOKENS if told.thinking and completion else 0


def _event(data: dict[str, Any], name: str | None = None) -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _split(text: str, size: int = 12) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


# Errors

BLIND_WORDS: dict[str, tuple[int, str, str | None]] = {
    "openai": (400, "Invalid content type. image_url is only supported by certain models.", None),
    "anthropic": (400, "'claude-2.1' does not support image input.", None),
    "gemini": (400, "Image input modality is not enabled for models/gemma-3-1b-it", None),
    "vllm": (400, "some/model is not a multimodal model", "BadRequestError"),
    "vllm_limit": (400, "At most 0 image(s) may be provided in one prompt.", "BadRequestError"),
    "llamacpp": (
        500,
        "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
        "server_error",
    ),
    "ollama": (400, "this model does not support image input (ref: b8bd630e)", None),
    "lmstudio": (400, "Model does not support images. Please use a model that does.", None),
    "gateway": (200, "No endpoints found that support image input", None),
    "openrouter": (404, "No endpoints found that support image input", None),
    "deepseek": (
        400,
        "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, "
        "expected `text` at line 1 column 120",
        "invalid_request_error",
    ),
    "groq": (400, "messages[1].content must be a string", "invalid_request_error"),
}
"""How servers refuse pictures that their model cannot see: status, message, code."""

_ERRORS: dict[str, tuple[int, str, str | None]] = {
    "bad_request": (400, "The request could not be understood.", None),
    "auth": (401, "Incorrect API key provided: {key}.", "invalid_api_key"),
    "forbidden": (403, "You may not use this API.", None),
    "payment": (402, "Insufficient credits.", None),
    "quota": (
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota",
    ),
    "no_model": (404, "The model `{model}` does not exist or you do not have access to it.", "model_not_found"),
    "context": (
        400,
        "This model's maximum context length is 4096 tokens, but the prompt has 5000.",
        "context_length_exceeded",
    ),
    "content_filter": (
        400,
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        "content_filter",
    ),
    "throttle": (429, "Rate limit reached for requests per minute.", "rate_limit_exceeded"),
    "408": (408, "Request timeout.", None),
    "409": (409, "Conflict.", None),
    "425": (425, "Too early.", None),
    "500": (500, "The server had an error.", None),
    "502": (502, "Bad gateway.", None),
    "503": (503, "Service unavailable.", None),
    "504": (504, "Gateway timeout.", None),
    "529": (529, "Overloaded.", None),
}
_REFUSED: dict[str, str] = {
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead.",
    "max_completion_tokens": "Unrecognized request argument supplied: max_completion_tokens",
    "temperature": "Unsupported value: 'temperature' does not support {value} with this model. "
    "Only the default (1) value is supported.",
    "seed": "Unsupported parameter: 'seed' is not supported with this model.",
    "schema": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    "schema_limits": "Invalid schema for response_format: "
    "for 'integer' type, properties maximum, minimum are not supported.",
    "stream_options": "Unrecognized request argument supplied: stream_options",
    "stream": "Your organization must be verified to stream this model.",
    "system": "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
}
_PARAMETER_NAMES = {"schema": "response_format", "schema_limits": "response_format", "system": "messages[0].role"}


def refuses(name: str, asked: Asked) -> bool:
    """Whether a request carries what is to be refused."""
    parameters = asked.parameters
    if name in REASONING_REFUSALS:
        return refuses_reasoning(name, parameters)
    if name in TOKEN_REFUSALS:
        return refuses_tokens(name, parameters)
    if name == "schema":
        return asked.schema is not None
    if name == "schema_limits":
        return asked.schema is not None and re.search(r'"(?:min|max)', json.dumps(asked.schema)) is not None
    if name == "system":
        return bool(asked.system)
    if name == "stream":
        return asked.stream
    return name in parameters


# The server


class _Dropped(Exception):
    """The other side closed the connection."""


class Judge:
    """The server's mind; ``handle`` is what aiohttp calls."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.log: list[Entry] = []
        self.seen: Counter[str] = Counter()
        self.requests = 0
        self.paid = 0
        self.paid_again = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.batches = BatchServer(self)
        self._script: deque[str | None] = deque(settings.script)
        self._paid_bodies: set[str] = set()

    def apply(self, changes: dict[str, Any]) -> None:
        for name, value in changes.items():
            if not hasattr(self.settings, name):
                raise ValueError(f"no such setting: {name}")
            setattr(self.settings, name, value)
        if "script" in changes:
            self._script = deque(changes["script"])

    def reset(self) -> None:
        self.__init__(self.settings)  # type: ignore[misc]

    def stats(self) -> dict[str, Any]:
        self.batches.work()
        return {
            "requests": self.requests,
            "paid": self.paid,
            "paid_again": self.paid_again,
            "batches": len(self.batches.batches),
            "batch_calls": self.batches.created_calls,
            "batch_answers": sum(of.answered for of in self.batches.batches),
            "most_in_flight": self.most_in_flight,
            "statuses": dict(Counter(str(entry.status) for entry in self.log)),
            "faults": dict(Counter(entry.fault for entry in self.log if entry.fault)),
        }

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.path
        if path.startswith("/control/"):
            return await self._control(request, path.removeprefix("/control/"))
        if request.method == "GET" and path.endswith(("/models", "/api/tags", "/api/ps")):
            return self._models(request)
        if (about_batches := await self.batches.handle(request)) is not None:
            return about_batches
        raw = await request.read()
        number = self.requests
        self.requests += 1
        dialect = dialect_of(path)
        if dialect is None:
            return web.json_response({"detail": "Not Found"}, status=404)
        try:
            asked = dialect.asked(path, json.loads(raw))
        except (ValueError, KeyError, TypeError):
            return web.json_response(dialect.error(400, "The body is no valid JSON.", None, None), status=400)
        body_hash = hashlib.sha256(raw).hexdigest()
        times = self.seen[body_hash]
        self.seen[body_hash] = times + 1
        fault = self._fault(body_hash, times, asked, request)
        keep = self.settings.keep
        whole = keep == "all"
        entry = Entry(
            number=number,
            path=path,
            dialect=dialect.name,
            model=asked.model,
            body_hash=body_hash,
            headers={name.lower(): value for name, value in request.headers.items()} if whole else {},
            messages=_messages(asked) if whole else [],
            asked=asked.parameters if whole else {},
            stream=asked.stream,
            at=time.time(),
            others=self.in_flight,
            fault=fault,
            pictures=asked.pictures,
        )
        if keep != "none":
            self.log.append(entry)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.settings.latency:
                await asyncio.sleep(self.settings.latency)
            return await self._answer(request, dialect, asked, fault, entry)
        except (_Dropped, ConnectionError):
            entry.disconnected = True
            return web.Response(status=499)
        finally:
            self.in_flight -= 1

    def in_batch(self, name: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """The reply to a request within a batch, or the status and body of an error."""
        dialect = {"openai": OpenAIDialect, "anthropic": AnthropicDialect, "gemini": GeminiDialect}[name]()
        asked = dialect.asked(path, body)
        for refused in self.settings.refuse:
            if refuses(refused, asked):
                message = _REFUSED[refused].format(value=asked.parameters.get(refused, ""))
                named = _PARAMETER_NAMES.get(refused, refused)
                return 400, dialect.error(400, message, "unsupported_value", named)
        digest = batch_server.body_hash(body)
        fault = self._script.popleft() if self._script else None
        told = judge(asked, fault, self.settings.roles, self.settings.mind)
        self.paid += 1
        self.paid_again += digest in self._paid_bodies
        self._paid_bodies.add(digest)
        return 200, dialect.whole(asked, told, 0)

    def _models(self, request: web.BaseRequest) -> web.StreamResponse:
        """The list of models in the form of the path: Gemini's, or that of chat completions and Anthropic."""
        if self.settings.key is not None and self.settings.key not in _given_keys(request):
            return web.json_response({"error": {"message": "Incorrect API key provided."}}, status=401)
        names = ["fake"] if self.settings.models is None else self.settings.models
        if "/api/" in request.path:
            length = {"context_length": self.settings.context or 4096} if request.path.endswith("/ps") else {}
            return web.json_response({"models": [{"name": name, "model": name, "size": 1, **length} for name in names]})
        if "/v1beta/" in request.path:
            ways = ["generateContent", "countTokens"]
            listed = [{"name": f"models/{name}", "supportedGenerationMethods": ways} for name in names]
            listed.append({"name": "models/embedder", "supportedGenerationMethods": ["embedContent"]})
            return web.json_response({"models": listed})
        told = {} if self.settings.context is None else {"owned_by": "vllm", "max_model_len": self.settings.context}
        return web.json_response(
            {"object": "list", "data": [{"id": name, "object": "model", **told} for name in names]}
        )

    def _fault(self, body_hash: str, times: int, asked: Asked, request: web.BaseRequest) -> str | None:
        settings = self.settings
        if settings.key is not None and settings.key not in _given_keys(request):
            return "auth"
        if settings.models is not None and asked.model not in settings.models:
            return "no_model"
        if settings.most_in_flight is not None and self.in_flight >= settings.most_in_flight:
            return "throttle"
        for name in settings.refuse:
            if refuses(name, asked):
                return name
        if self._script:
            return self._script.popleft()
        if settings.faults:
            draw = hashlib.sha256(f"{settings.seed}/{body_hash}/{times}".encode()).digest()
            place = int.from_bytes(draw[:8], "big") / 2**64
            for name, probability in settings.faults.items():
                if place < probability:
                    return name if name not in REFUSALS or refuses(name, asked) else None
                place -= probability
        return None

    async def _answer(
        self, request: web.BaseRequest, dialect: Dialect, asked: Asked, fault: str | None, entry: Entry
    ) -> web.StreamResponse:
        if self.settings.blind == "silent":
            asked.pictures = []
        if self.settings.blind and asked.pictures:
            status, message, code = BLIND_WORDS[self.settings.blind]
            return await self._send(request, entry, status, _encode(dialect.error(status, message, code, None)))
        if fault in REFUSALS:
            value = asked.parameters.get(fault, "")
            named: str | None = _PARAMETER_NAMES.get(fault, fault)
            if fault in REASONING_REFUSALS:
                message, named = refusal_words(asked.parameters), None
            elif fault in TOKEN_REFUSALS:
                message, named = token_refusal_words(fault, asked.parameters), None
            else:
                message = _REFUSED[fault].format(value=value)
            error = dialect.error(400, message, "unsupported_value", named)
            return await self._send(request, entry, 400, _encode(error))
        if fault in STATUS_FAULTS:
            return await self._fail(request, dialect, asked, fault, entry)
        if fault == "reset":
            assert request.transport is not None
            request.transport.abort()
            raise _Dropped
        if fault == "hang":
            await self._hang(request)
        times = self.seen[entry.body_hash] - 1
        told = judge(asked, fault, self.settings.roles, self.settings.mind, times)
        if self.settings.tokens and asked.parameters.get("logprobs"):
            wanted = wanted_alternatives(asked.parameters)
            told.tokens = entries_of(told.text, self.settings.tokens, wanted, int(entry.body_hash[:8], 16))
        entry.answer, entry.finish = told.text, told.finish
        if fault == "html_200":
            entry.answer = None
            return await self._send(request, entry, 200, _HTML, kind="text/html")
        if fault == "error_200" or (fault == "stream_error" and not asked.stream):
            entry.answer = None
            return await self._send(request, entry, 200, _encode(dialect.error(500, "Provider failed.", None, None)))
        if fault in ("bomb", "huge", "nested", "brotli"):
            return await self._odd_body(request, entry, fault)
        if asked.stream:
            return await self._stream(request, dialect, asked, told, fault, entry)
        body = _encode(dialect.whole(asked, told, entry.number))
        if fault == "bad_json":
            entry.answer = None
            body = body[: len(body) // 2]
        if fault in ("hang_body", "comments", "blanks", "drip", "cut"):
            return await self._send_slowly(request, entry, body, fault)
        kind = "text/plain" if fault == "content_type" else "application/json"
        return await self._send(request, entry, 200, body, kind=kind, paid=True)

    async def _fail(
        self, request: web.BaseRequest, dialect: Dialect, asked: Asked, fault: str, entry: Entry
    ) -> web.StreamResponse:
        if fault == "no_route":
            return await self._send(request, entry, 404, _encode({"detail": "Not Found"}))
        if fault == "html_502":
            return await self._send(request, entry, 502, _HTML, kind="text/html")
        headers = {}
        wait = self.settings.retry_after
        if fault == "throttle":
            headers["Retry-After"] = f"{wait:g}"
        elif fault == "throttle_date":
            # HTTP dates have whole seconds: the Date beside it tells how far away it is.
            now = int(time.time())
            headers |= {"Date": formatdate(now, usegmt=True), "Retry-After": formatdate(now + int(wait), usegmt=True)}
        elif fault == "throttle_ms":
            headers["retry-after-ms"] = f"{1000 * wait:g}"
        elif fault == "throttle_long":
            headers["Retry-After"] = "900"
        status, message, code = _ERRORS["throttle" if fault.startswith("throttle") else fault]
        if fault == "quota" and dialect.name == "anthropic":
            status = 400
        key = next(iter(_given_keys(request)), "")
        error = dialect.error(status, message.format(key=key, model=asked.model), code, None)
        return await self._send(request, entry, status, _encode(error), headers=headers)

    async def _send(
        self,
        request: web.BaseRequest,
        entry: Entry,
        status: int,
        body: bytes,
        *,
        kind: str = "application/json",
        headers: dict[str, str] | None = None,
        paid: bool = False,
    ) -> web.StreamResponse:
        entry.status = status
        response = web.Response(status=status, body=body, headers={"Content-Type": kind, **(headers or {})})
        await response.prepare(request)
        if paid:
            self._pay(entry)
        await response.write_eof()
        entry.delivered = request.transport is not None and not request.transport.is_closing()
        return response

    async def _odd_body(self, request: web.BaseRequest, entry: Entry, fault: str) -> web.StreamResponse:
        """An answer that is paid for and cannot be taken in."""
        headers = {}
        if fault == "brotli":
            entry.answer = None
            body, headers = b"\x0b\x02\x80not asked for\x03", {"Content-Encoding": "br"}
        elif fault == "nested":
            body = b'{"choices":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
        elif fault == "huge":
            body = _large(12)
        else:
            body, headers = _packed(), {"Content-Encoding": "gzip"}
        try:
            return await self._send(request, entry, 200, body, headers=headers, paid=fault != "brotli")
        finally:
            # Who asked may have had enough before the end.
            entry.delivered = True

    async def _send_slowly(self, request: web.BaseRequest, entry: Entry, body: bytes, fault: str) -> web.StreamResponse:
        entry.status = 200
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(body))})
        if fault in ("comments", "blanks"):
            del response.headers["Content-Length"]
            response.enable_chunked_encoding()
        await response.prepare(request)
        self._pay(entry)
        half = len(body) // 2
        if fault in ("comments", "blanks"):
            await self._keep_alive(request, response, b" \n")
        elif fault == "drip":
            for start in range(0, len(body), 64):
                await self._write(request, response, body[start : start + 64])
                await asyncio.sleep(self.settings.drip_s)
        else:
            await self._write(request, response, body[:half])
            if fault == "cut":
                assert request.transport is not None
                request.transport.close()
                raise _Dropped
            await self._hang(request)
            await self._write(request, response, body[half:])
        await response.write_eof()
        entry.delivered = True
        return response

    async def _stream(
        self, request: web.BaseRequest, dialect: Dialect, asked: Asked, told: Told, fault: str | None, entry: Entry
    ) -> web.StreamResponse:
        entry.status = 200
        lines = dialect.name == "ollama"
        usual = "application/x-ndjson" if lines else "text/event-stream"
        response = web.StreamResponse(headers={"Content-Type": "text/plain" if fault == "content_type" else usual})
        await response.prepare(request)
        self._pay(entry)
        events = dialect.events(asked, told, entry.number, fault == "duplicate_chunks")
        if dialect.done and fault != "no_done":
            events += [dialect.done] * (2 if fault == "duplicate_chunks" else 1)
        if fault == "crlf":
            events = [event.replace(b"\n", b"\r\n") for event in events]
        if fault is None:
            await self._write(request, response, b"".join(events))
        elif fault in ("hang_body", "comments", "blanks", "cut", "stream_error", "bad_json"):
            entry.answer = None
            await self._write(request, response, b"".join(events[:3]))
            if fault == "hang_body":
                await self._hang(request)
            elif fault == "comments":
                await self._keep_alive(request, response, b"\n" if lines else b": keep-alive\n\n")
            elif fault == "blanks":
                blank = dialect.events(asked, Told(" "), entry.number, False)
                await self._keep_alive(request, response, next(event for event in blank if b'" "' in event))
            elif fault == "cut":
                assert request.transport is not None
                request.transport.close()
                raise _Dropped
            elif fault == "stream_error":
                error = dialect.error(500, "Provider failed.", None, None)
                event = _event(error, "error" if dialect.name == "anthropic" else None)
                await self._write(request, response, _encode(error) + b"\n" if lines else event)
            else:
                await self._write(request, response, events[3][:-9] + b"\n\n")
        elif fault == "split_utf8":
            whole = b"".join(events)
            for start in range(0, len(whole), 7):
                await self._write(request, response, whole[start : start + 7])
                await asyncio.sleep(0)
        else:
            for event in events:
                await self._write(request, response, (b"" if lines else b": comment\n\n") + event)
                if fault == "drip":
                    await asyncio.sleep(self.settings.drip_s)
        await response.write_eof()
        entry.delivered = True
        return response

    async def _write(self, request: web.BaseRequest, response: web.StreamResponse, data: bytes) -> None:
        if request.transport is None or request.transport.is_closing():
            raise _Dropped
        await response.write(data)

    async def _hang(self, request: web.BaseRequest) -> None:
        until = time.monotonic() + self.settings.hang_s
        while time.monotonic() < until:
            if request.transport is None or request.transport.is_closing():
                raise _Dropped
            await asyncio.sleep(0.01)

    async def _keep_alive(self, request: web.BaseRequest, response: web.StreamResponse, comment: bytes) -> None:
        until = time.monotonic() + self.settings.hang_s
        while time.monotonic() < until:
            await self._write(request, response, comment)
            await asyncio.sleep(0.01)

    def _pay(self, entry: Entry) -> None:
        entry.paid = True
        self.paid += 1
        if entry.body_hash in self._paid_bodies:
            self.paid_again += 1
        self._paid_bodies.add(entry.body_hash)

    async def _control(self, request: web.BaseRequest, what: str) -> web.StreamResponse:
        if what == "log":
            return web.json_response([entry.to_json() for entry in self.log])
        if what == "stats":
            return web.json_response(self.stats())
        if what == "settings":
            self.apply(await request.json())
            return web.json_response({})
        if what == "reset":
            self.reset()
            return web.json_response({})
        return web.json_response({"detail": "Not Found"}, status=404)


def _large(megabytes: int) -> bytes:
    return b'{"choices":[{"message":{"content":"' + b"a" * (megabytes << 20) + b'"},"finish_reason":"stop"}]}'


@functools.cache
def _packed() -> bytes:
    return gzip.compress(_large(64))


_HTML = b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"


def _encode(data: dict[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _messages(asked: Asked) -> list[dict[str, str]]:
    user = {"role": "user", "content": asked.user}
    return [{"role": "system", "content": asked.system}, user] if asked.system else [user]


def _given_keys(request: web.BaseRequest) -> set[str]:
    names = ("x-api-key", "api-key", "x-goog-api-key")
    given = {request.headers[name] for name in names if name in request.headers}
    if bearer := request.headers.get("authorization"):
        given.add(bearer.removeprefix("Bearer "))
    return given


async def _serve(judge: Judge, port: int) -> tuple[web.ServerRunner, str]:
    runner = web.ServerRunner(web.Server(judge.handle, access_log=None), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=2048)
    await site.start()
    host, bound = runner.addresses[0][:2]
    return runner, f"http://{host}:{bound}"


class JudgeServer:
    """The server in a thread of this process. ``settings`` are the fields of :class:`Settings`."""

    def __init__(self, *, port: int = 0, **settings: Any) -> None:
        self._port = port
        self.judge = Judge(Settings(**settings))
        self.url = ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="judge-server", daemon=True)

    @property
    def log(self) -> list[Entry]:
        """All requests so far, in the order in which they came."""
        return self.judge.log

    @property
    def requests(self) -> int:
        return self.judge.requests

    def set(self, **settings: Any) -> None:
        """Changes settings while it runs."""
        self.judge.apply(settings)

    def stop(self) -> None:
        """Closes all connections. May be called twice."""
        if self._thread.is_alive() and self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(5)

    def _run(self) -> None:
        async def body() -> None:
            self._loop = asyncio.get_running_loop()
            self._stop = asyncio.Event()
            runner, self.url = await _serve(self.judge, self._port)
            self._ready.set()
            await self._stop.wait()
            await runner.cleanup()

        asyncio.run(body())

    def __enter__(self) -> JudgeServer:
        self._thread.start()
        self._ready.wait(60)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


@contextlib.contextmanager
def judge_process(*arguments: str) -> Iterator[str]:
    """The server in a process of its own, for measurements; gives its address. ``arguments`` as on its command
    line."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.judge_server", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="A judge over HTTP for tests.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fault", action="append", default=[], metavar="NAME=P", help=f"one of {', '.join(FAULTS)}")
    parser.add_argument("--refuse", action="append", default=[], choices=REFUSALS)
    parser.add_argument("--key", help="the only key that is accepted")
    parser.add_argument("--keep", choices=("all", "hashes", "none"), default="all")
    given = parser.parse_args(arguments)
    faults = {}
    for item in given.fault:
        name, _, probability = item.partition("=")
        if name not in FAULTS:
            parser.error(f"no such fault: {name}")
        faults[name] = float(probability or 1)
    settings = Settings(
        latency=given.latency, seed=given.seed, faults=faults, refuse=given.refuse, key=given.key, keep=given.keep
    )

    async def body() -> None:
        _, url = await _serve(Judge(settings), given.port)
        print(url, flush=True)
        await asyncio.Event().wait()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(body())


if __name__ == "__main__":
    main()
