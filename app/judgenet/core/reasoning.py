"""How much a model is to think before it answers: an effort, or a budget of thinking tokens."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeGuard, cast, get_args

from judgenet.core.documents import DocumentError, kind_of
from judgenet.core.values import Codec

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""The efforts that providers document, together; which of them a model takes, only the model tells."""

ReasoningValue = int | Effort | Literal["default"]
"""An effort, a budget of thinking tokens, or ``default``: what the endpoint does by itself."""

EFFORTS: tuple[Effort, ...] = get_args(Effort)

THINKING_TOKENS: dict[Effort, int] = {
    "none": 0,
    "minimal": 1_024,
    "low": 1_024,
    "medium": 8_192,
    "high": 24_576,
    "xhigh": 32_768,
    "max": 32_768,
}
"""The room for thinking of each effort, in tokens. From minimal to high it is Google's table of what an effort means
(ai.google.dev, "OpenAI compatibility"); above it is the largest budget that Google documents for a model."""

MOST_THINKING = 1_000_000
"""No budget may be larger, in tokens."""

CHOICES = f"{', '.join(EFFORTS)}, a number of thinking tokens, or default"


def is_effort(value: object) -> TypeGuard[Effort]:
    """Whether a value is the name of an effort."""
    return isinstance(value, str) and value in EFFORTS


def reasoning_problem(value: object) -> str:
    """Why a value cannot be a reasoning setting, empty where it can."""
    if value == "default" or is_effort(value):
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        if value == 0:
            return "must be 1 thinking token or more, but is 0; to reason not at all it is none"
        return "" if 0 < value <= MOST_THINKING else f"must be from 1 to {MOST_THINKING:,} tokens, but is {value}"
    shown = repr(value) if isinstance(value, str) else kind_of(value)
    return f"must be one of {CHOICES}, but is {shown}"


def read_reasoning_text(path: str, value: object) -> ReasoningValue | None:
    """A setting that was written as a text or a number; ``None`` where there is none. ``path`` is where it stands.

    :raises DocumentError: it is no setting.
    """
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if value is not None and (problem := reasoning_problem(value)):
        raise DocumentError(path, problem)
    return cast("ReasoningValue | None", value)


def _read(value: Any, path: str, _strict: bool) -> Any:
    if problem := reasoning_problem(value):
        raise DocumentError(path, problem)
    return value


_SCHEMA = {
    "anyOf": [
        {"type": "string", "enum": [*EFFORTS, "default"]},
        {"type": "integer", "minimum": 1, "maximum": MOST_THINKING},
    ]
}

Reasoning = Annotated[ReasoningValue, Codec(_read, lambda value: value, _SCHEMA)]
"""A reasoning setting in a document."""


def thinking_tokens(reasoning: int | str | None) -> int:
    """The room for thinking that a setting asks for, in tokens; 0 where it is left to the endpoint."""
    if isinstance(reasoning, int):
        return reasoning
    return THINKING_TOKENS[reasoning] if is_effort(reasoning) else 0


def likely_thinking(reasoning: int | str | None) -> tuple[int, int]:
    """The thinking tokens that an estimate assumes: from an eighth of the room of a setting to all of it. How much a
    model really thinks is known only from its answers; what is left to the endpoint counts as none."""
    room = thinking_tokens(reasoning)
    return room // 8, room


def effort_for(tokens: int) -> Effort:
    """The smallest effort from low to high with room for so many thinking tokens, for servers that know no budgets."""
    return next((name for name in ("low", "medium") if tokens <= THINKING_TOKENS[name]), "high")


def reasoning_words(reasoning: int | str | None) -> str:
    """A setting as it is shown: ``high``, ``2,048 tokens``, ``endpoint's own``."""
    if isinstance(reasoning, int):
        return "1 token" if reasoning == 1 else f"{reasoning:,} tokens"
    return "endpoint's own" if reasoning in (None, "default") else str(reasoning)
