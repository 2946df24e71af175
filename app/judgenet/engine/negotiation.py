"""What an endpoint's refusal of a parameter teaches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgenet.engine.providers import common


def lesson(learned: Mapping[str, Any], parameter: str) -> tuple[str, str]:
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
    if parameter in (common.STREAM, common.STREAM_USAGE):
        return parameter, common.REFUSED
    return parameter, common.NOT_APPLIED


IN_WORDS = {
    (common.LIMIT, common.LIMIT_RENAMED): "max_tokens is refused and sent as max_completion_tokens",
    (common.LIMIT, common.LIMIT_PLAIN): "max_completion_tokens is refused and sent as max_tokens",
    (common.TEMPERATURE, common.NOT_APPLIED): "temperature not applied, as it is refused",
    (common.SEED, common.NOT_APPLIED): "seed not applied, as it is refused",
    (common.SYSTEM, common.SYSTEM_IN_USER): "the system message is refused and put before the user message",
    (common.SCHEMA, common.SCHEMA_WITHOUT_LIMITS): "the reply schema is sent without limits, as they are refused",
    (common.SCHEMA, common.REFUSED): "the reply schema is refused; replies are asked for as text",
    (common.STREAM, common.REFUSED): "streaming is refused; answers come whole",
    (common.STREAM_USAGE, common.REFUSED): "the usage of streams is refused and estimated",
}
"""What is learned, as a part of a sentence."""
