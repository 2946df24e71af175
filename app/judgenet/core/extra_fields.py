"""Fields of a request that this program knows nothing of: what else an endpoint takes, as a JSON object.

They are held as canonical JSON text (names sorted, no blanks), so that settings can be compared and hashed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from judgenet.core.documents import DocumentError, Fields, parse
from judgenet.core.keys import secrets_in
from judgenet.core.values import Codec

_OWN_SETTING = {
    "temperature": "temperature",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "maxOutputTokens": "max_tokens",
    "num_predict": "max_tokens",
    "reasoning_effort": "reasoning",
    "thinkingConfig": "reasoning",
    "thinking_token_budget": "reasoning",
    "thinking_budget_tokens": "reasoning",
    "model": "model",
    "logprobs": "scores",
    "top_logprobs": "scores",
    "responseLogprobs": "scores",
}
"""Fields that have a setting of their own, by name."""

_OF_THE_PROGRAM = frozenset(
    {
        "messages", "contents", "system", "systemInstruction", "system_instruction", "prompt", "input", "stream",
        "stream_options", "response_format", "responseMimeType", "responseSchema", "responseJsonSchema", "format",
        "n", "candidateCount", "seed",
    }
)  # fmt: skip
"""Fields that the program fills by itself."""

_INNER = ("generationConfig", "output_config", "options")
"""Objects within a request that hold such fields too."""

MOST_CHARS = 20_000
"""So long extra fields may be, as JSON text."""


def extra_problem(extra: Mapping[str, Any]) -> tuple[str, str] | None:
    """The path within extra fields of the first that cannot be sent, and why; ``None`` where all can."""
    for path, name in _names(extra):
        if name in _OWN_SETTING:
            return path, f"has a setting of its own, {_OWN_SETTING[name]}: give it there"
        if name in _OF_THE_PROGRAM:
            return path, "is filled by the program and cannot be replaced: leave it out"
    for path, why in secrets_in(dict(extra)):
        at = "" if path == "the document" else path
        return at, f"{why}: a key does not belong here; give its name as api_key of the endpoint"
    return None


def context_problem(extra: str | None, kind: str) -> tuple[str, str] | None:
    """Where Ollama's length of the context stands among extra fields (canonical text) of calls to an endpoint of a
    kind, and why it has no effect there; ``None`` where it stands nowhere, or has its effect."""
    fields = extra_of_text(extra)
    options = fields.get("options")
    if "num_ctx" in fields:
        path = "num_ctx"
    elif kind != "ollama" and isinstance(options, dict) and "num_ctx" in options:
        path = "options.num_ctx"
    else:
        return None
    if kind == "ollama":
        return path, 'belongs into options: {"options": {"num_ctx": 16384}}; or set context_length of the endpoint'
    return path, (
        "is taken by Ollama's own API only, not by its OpenAI-compatible one. Choose the API type ollama for this "
        "endpoint, with a context_length"
    )


def _names(extra: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The names at the top, and in the objects that hold parameters, with their paths."""
    for name, value in extra.items():
        yield name, name
        if name in _INNER and isinstance(value, dict):
            yield from ((f"{name}.{inner}", inner) for inner in value)


def extra_text(extra: Mapping[str, Any], path: str = "") -> str:
    """Extra fields as canonical JSON text. ``path`` is where they stand, for messages.

    :raises DocumentError: one of them cannot be sent, or the whole is no JSON or too long.
    """
    problem = extra_problem(extra)
    if problem is not None:
        raise DocumentError(".".join(part for part in (path, problem[0]) if part), problem[1])
    try:
        text = canonical_extra(extra)
    except (TypeError, ValueError, RecursionError) as error:
        raise DocumentError(path, f"cannot be written as JSON: {error}") from None
    if len(text) > MOST_CHARS:
        raise DocumentError(path, f"is {len(text):,} characters long; at most {MOST_CHARS:,} can be sent")
    return text


def canonical_extra(extra: Mapping[str, Any]) -> str:
    """Extra fields as canonical JSON text, whatever they are.

    :raises ValueError: they are no JSON.
    """
    return json.dumps(extra, sort_keys=True, separators=(",", ":"), allow_nan=False)


def parse_extra(text: str, path: str = "") -> str:
    """Extra fields as somebody wrote them, as canonical JSON text.

    :raises DocumentError: they are no JSON object, or one of them cannot be sent.
    """
    try:
        value = parse(text)
    except DocumentError as error:
        raise DocumentError(path, f'{error.problem}; it looks like {{"top_k": 20}}') from None
    return extra_text(Fields(value, path).members, path)


def extra_of_text(text: str | None) -> dict[str, Any]:
    """The extra fields that a canonical text holds; empty for none."""
    fields: dict[str, Any] = json.loads(text) if text else {}
    return fields


def merged_extra(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with the fields of ``over``: objects within objects are merged, of any other value ``over``'s holds."""
    merged = dict(base)
    for name, value in over.items():
        there = merged.get(name)
        merged[name] = merged_extra(there, value) if isinstance(there, dict) and isinstance(value, dict) else value
    return merged


EXTRA = Codec(
    lambda value, path, _: extra_text(Fields(value, path).members, path),
    extra_of_text,
    {"type": "object"},
)
"""Extra fields in a document: an object there, canonical text here."""
