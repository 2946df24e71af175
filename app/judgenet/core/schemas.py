"""The form of a reply, defined once: prompt, request and reader take their keys from here.

Evidence comes before the scores on purpose: scores asked first are not backed by what follows (FairEval,
section 3). The key order of ``properties`` is the order in which llama.cpp and OpenAI write the reply.
"""

from __future__ import annotations

from typing import Any, Literal

from judgenet.core.evaluation import SCALE

ReplyForm = Literal["json", "text"]
"""How a reply is asked for: by a JSON schema of the endpoint's, or as plain text."""

EVIDENCE = "evidence"
SCORE_1 = "score_1"
SCORE_2 = "score_2"
"""Scores of the responses in the order in which they were shown."""

ROLES = "roles"
RANKING = "ranking"
NAME = "name"
DESCRIPTION = "description"


def judge_schema(evidence: bool = True, limits: bool = True, max_evidence: int | None = None) -> dict[str, Any]:
    """JSON schema of an evaluation: evidence, then a whole number from 1 to 10 for each response.

    ``evidence=False`` asks for scores alone. ``limits=False`` leaves out all numeric limits, for providers
    that refuse them (the reader checks the scale anyway). ``max_evidence`` is the most characters of evidence.
    """
    text: dict[str, Any] = {"type": "string"}
    score: dict[str, Any] = {"type": "integer"}
    if limits:
        if max_evidence is not None:
            text["maxLength"] = max_evidence
        score.update(minimum=int(SCALE[0]), maximum=int(SCALE[1]))
    properties = {EVIDENCE: text} if evidence else {}
    return _object(properties | {SCORE_1: score, SCORE_2: dict(score)})


def roles_schema(limit: int | None, limits: bool = True, max_text: int | None = None) -> dict[str, Any]:
    """JSON schema of generated roles: one to ``limit`` (``None``: any number) of name and description.

    ``limits`` as in :func:`judge_schema`. ``max_text`` is the most characters of a description; a name has half.
    """
    name: dict[str, Any] = {"type": "string"}
    description: dict[str, Any] = {"type": "string"}
    if limits and max_text is not None:
        name["maxLength"] = max_text // 2
        description["maxLength"] = max_text
    roles: dict[str, Any] = {"type": "array", "items": _object({NAME: name, DESCRIPTION: description})}
    if limits:
        roles["minItems"] = 1
        if limit is not None:
            roles["maxItems"] = limit
    return _object({ROLES: roles})


def ranking_schema(count: int, limits: bool = True) -> dict[str, Any]:
    """JSON schema of an order of ``count`` responses by their numbers, the best first."""
    number: dict[str, Any] = {"type": "integer"}
    order: dict[str, Any] = {"type": "array", "items": number}
    if limits:
        number.update(minimum=1, maximum=count)
        order.update(minItems=count, maxItems=count)
    return _object({RANKING: order})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """An object with exactly these properties, as OpenAI's strict mode wants it."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
