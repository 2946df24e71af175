"""What the judge server makes of reasoning settings, in the words and fields of each API."""

from __future__ import annotations

from typing import Any

THOUGHT = "First I compare the two."
THINKING_TOKENS = 30

REASONING_REFUSALS = ("reasoning", "reasoning_effort", "reasoning_budget", "reasoning_none")
"""Refused is every form; efforts where there are budgets too (a template, adaptive thinking, a level); budgets; or not
to reason at all."""


def form_of(parameters: dict[str, Any]) -> tuple[str, Any]:
    """The form of a reasoning setting and its value; empty where a request has none."""
    if "think" in parameters:
        think = parameters["think"]
        return ("switch", think or "none") if isinstance(think, bool) else ("level", think)
    if "reasoning_effort" in parameters:
        form = "template" if "chat_template_kwargs" in parameters else "effort"
        return form, parameters.get("thinking_token_budget", parameters["reasoning_effort"])
    if thinking := parameters.get("thinking"):
        if thinking["type"] == "enabled":
            return "budget", thinking["budget_tokens"]
        if thinking["type"] == "disabled":
            return "disabled", "none"
        return "adaptive", parameters["output_config"]["effort"]
    if config := parameters.get("thinkingConfig"):
        if "thinkingLevel" in config:
            return "level", config["thinkingLevel"]
        return "budget", config["thinkingBudget"] or "none"
    return "", None


def thinks(parameters: dict[str, Any]) -> bool:
    """Whether a request tells the judge to think."""
    return form_of(parameters)[1] not in (None, "none")


def refuses_reasoning(name: str, parameters: dict[str, Any]) -> bool:
    form, value = form_of(parameters)
    if name == "reasoning":
        return bool(form)
    if name == "reasoning_none":
        return value == "none"
    if name == "reasoning_budget":
        return form == "budget"
    return form in ("template", "adaptive", "level")


def refusal_words(parameters: dict[str, Any]) -> str:
    """What the API of a request says where it refuses it, as people reported it."""
    form, value = form_of(parameters)
    if "think" in parameters:
        if form == "level":
            return f'think value "{value}" is not supported for this model'
        return '"fake" does not support thinking'
    if "thinkingConfig" in parameters:
        if form == "level":
            return "Thinking level is not supported for this model."
        if value == "none":
            return "Budget 0 is invalid. This model only works in thinking mode."
        return "Thinking budget is not supported for this model."
    if "thinking" in parameters:
        if form == "adaptive":
            return "adaptive thinking is not supported on this model"
        return (
            f'"thinking.type.{parameters["thinking"]["type"]}" is not supported for this model. Use '
            '"thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        )
    if form == "template":
        return "Unrecognized request argument supplied: chat_template_kwargs"
    return (
        f"Unsupported value: 'reasoning_effort' does not support '{value}' with this model. "
        "Supported values are: 'low' and 'medium'."
    )
