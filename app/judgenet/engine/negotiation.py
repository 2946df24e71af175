"""What is learned where an endpoint refuses a parameter, and how that is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgenet.core.probabilities import SCORES
from judgenet.core.reasoning import reasoning_words
from judgenet.engine.ports import ChatRequest
from judgenet.engine.providers import common


def lesson(
    learned: Mapping[str, Any], parameter: str, request: ChatRequest, provider: common.Provider
) -> tuple[str, str]:
    """What is learned from the refusal of a parameter: its name and what is done instead."""
    if parameter == common.LIMIT:
        renamed = learned.get(common.LIMIT) == common.LIMIT_RENAMED
        return common.LIMIT, common.LIMIT_PLAIN if renamed else common.LIMIT_RENAMED
    if parameter == "schema_limits":
        if learned.get(common.SCHEMA) != common.SCHEMA_WITHOUT_LIMITS:
            return common.SCHEMA, common.SCHEMA_WITHOUT_LIMITS
        return common.SCHEMA, common.REFUSED
    if parameter == common.SCHEMA:
        return common.SCHEMA, common.REFUSED
    if parameter == common.SYSTEM:
        return common.SYSTEM, common.SYSTEM_IN_USER
    if parameter == SCORES:
        fewer = learned.get(SCORES) == common.FEWER_ALTERNATIVES
        return SCORES, common.NOT_APPLIED if fewer else common.FEWER_ALTERNATIVES
    if parameter in (common.STREAM, common.STREAM_USAGE):
        return parameter, common.REFUSED
    if parameter == common.REASONING:
        return _other_way(learned, request, provider)
    if parameter == common.TEMPERATURE and common.thinks(request, learned, provider):
        # The same model may take one where it does not think.
        return common.TEMPERATURE_WITH_REASONING, common.NOT_APPLIED
    return parameter, common.NOT_APPLIED


def _other_way(learned: Mapping[str, Any], request: ChatRequest, provider: common.Provider) -> tuple[str, str]:
    """The next way in which a reasoning setting can be sent. Each setting is learned by itself: a model that cannot
    be told not to think may well take an effort."""
    reasoning = request.more[common.REASONING]
    ways = provider.ways(reasoning)
    _, way = common.reasoning_of(request, learned, provider)
    left = ways[ways.index(way) + 1 :] if way in ways else ()
    return common.reasoning_name(reasoning), left[0] if left else common.NOT_APPLIED


_IN_WORDS = {
    (common.LIMIT, common.LIMIT_RENAMED): "max_tokens is refused and sent as max_completion_tokens",
    (common.LIMIT, common.LIMIT_PLAIN): "max_completion_tokens is refused and sent as max_tokens",
    (common.TEMPERATURE, common.NOT_APPLIED): "temperature not applied, as it is refused",
    (common.TEMPERATURE_WITH_REASONING, common.NOT_APPLIED): "temperature not applied with reasoning, as it is refused",
    (SCORES, common.FEWER_ALTERNATIVES): "20 alternatives a token are refused; 5 are asked for",
    (SCORES, common.NOT_APPLIED): "token probabilities are refused; scores are those of the sampled text",
    (common.SEED, common.NOT_APPLIED): "seed not applied, as it is refused",
    (common.SYSTEM, common.SYSTEM_IN_USER): "the system message is refused and put before the user message",
    (common.SCHEMA, common.SCHEMA_WITHOUT_LIMITS): "the reply schema is sent without limits, as they are refused",
    (common.SCHEMA, common.REFUSED): "the reply schema is refused; replies are asked for as text",
    (common.STREAM, common.REFUSED): "streaming is refused; answers come whole",
    (common.STREAM_USAGE, common.REFUSED): "the usage of streams is refused and estimated",
}


def lesson_words(name: str, value: object) -> str:
    """What was learned, as a part of a sentence; empty for what is no lesson of a refusal."""
    words, _, setting = name.partition(" ")
    if words == common.REASONING and setting:
        reasoning = reasoning_words(int(setting) if setting.isdecimal() else setting)
        if value == common.NOT_APPLIED:
            return f"reasoning {reasoning} not applied, as it is refused"
        return f"reasoning {reasoning} is {value}, as another form is refused"
    return _IN_WORDS.get((name, str(value)), "")
