"""The one form of a reply."""

from __future__ import annotations

import json
from typing import Any

import pytest
from xllamacpp import json_schema_to_grammar  # type: ignore[import-untyped]

from judgenet.core.evaluation import Reading
from judgenet.core.network import Role
from judgenet.core.reading import read_judgement, read_roles
from judgenet.core.schemas import judge_schema, roles_schema

_LIMITS = {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}


def _objects(schema: Any) -> list[dict[str, Any]]:
    """All object schemas inside a schema."""
    if isinstance(schema, list):
        return [found for item in schema for found in _objects(item)]
    if not isinstance(schema, dict):
        return []
    inner = [found for item in schema.values() for found in _objects(item)]
    return [schema, *inner] if schema.get("type") == "object" else inner


def _keys(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(_keys, schema)) if schema else set()
    if not isinstance(schema, dict):
        return set()
    return set(schema).union(*map(_keys, schema.values()))


SCHEMAS = [
    judge_schema(),
    judge_schema(evidence=False),
    judge_schema(max_evidence=600),
    judge_schema(limits=False),
    roles_schema(None),
    roles_schema(4),
    roles_schema(4, limits=False),
]


def test_evidence_comes_before_the_scores() -> None:
    assert list(judge_schema()["properties"]) == ["evidence", "score_1", "score_2"]
    assert list(judge_schema(evidence=False)["properties"]) == ["score_1", "score_2"]


def test_scores_are_whole_numbers_from_one_to_ten() -> None:
    for key in ("score_1", "score_2"):
        assert judge_schema()["properties"][key] == {"type": "integer", "minimum": 1, "maximum": 10}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_strict_mode_of_openai_takes_every_schema(schema: dict[str, Any]) -> None:
    for found in _objects(schema):
        assert found["additionalProperties"] is False
        assert found["required"] == list(found["properties"])


@pytest.mark.parametrize("schema", [judge_schema(limits=False, max_evidence=600), roles_schema(4, limits=False)])
def test_without_limits_no_numeric_limit_is_left(schema: dict[str, Any]) -> None:
    assert not _keys(schema) & _LIMITS


def test_limits_of_evidence_and_roles() -> None:
    assert judge_schema(max_evidence=600)["properties"]["evidence"]["maxLength"] == 600
    assert roles_schema(4)["properties"]["roles"]["maxItems"] == 4
    assert roles_schema(4)["properties"]["roles"]["minItems"] == 1
    assert "maxItems" not in roles_schema(None)["properties"]["roles"]


def test_schemas_share_nothing_that_a_provider_could_change() -> None:
    changed = judge_schema()
    changed["properties"]["score_1"].clear()
    assert changed["properties"]["score_2"]["maximum"] == 10
    assert judge_schema()["properties"]["score_1"]["maximum"] == 10


@pytest.mark.parametrize("schema", SCHEMAS)
def test_llama_cpp_makes_a_grammar_that_keeps_the_order_of_keys(schema: dict[str, Any]) -> None:
    grammar = json_schema_to_grammar(schema)
    places = [grammar.index(key) for key in schema["properties"]]
    assert places == sorted(places)


def test_a_reply_in_the_form_of_the_schema_is_read() -> None:
    """Prompt, request and reader cannot drift apart: the reply is built from the schema's own keys."""
    values: dict[str, object] = {"string": "because", "integer": 7}
    reply = {key: values[kind["type"]] for key, kind in judge_schema()["properties"].items()}
    assert read_judgement(json.dumps(reply)) == Reading("because", "tie", 7.0, 7.0, "json")

    item = roles_schema(2)["properties"]["roles"]["items"]
    names = [{key: f"{key} {i}" for key in item["properties"]} for i in (1, 2)]
    roles = read_roles(json.dumps({"roles": names}), form="json", limit=2)
    assert roles == (Role("name 1", "description 1"), Role("name 2", "description 2"))
