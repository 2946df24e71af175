"""Further fields of requests, and reasoning settings, as documents and people give them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from judgenet.core import network_json
from judgenet.core.checks import check
from judgenet.core.documents import DocumentError
from judgenet.core.endpoints import EndpointProfile, ProfileError, profile_from_json, profile_to_json
from judgenet.core.extra_fields import extra_text, merged_extra, parse_extra
from judgenet.core.network import NetworkError, Settings
from judgenet.core.network_changes import network_changes
from judgenet.core.network_from_graph import from_graph
from judgenet.core.network_graph import graph
from judgenet.core.presets import network
from judgenet.core.reasoning import EFFORTS, THINKING_TOKENS, likely_thinking, thinking_tokens

KEY = "sk-proj-Abc123Def456Ghi789"


def test_the_text_is_canonical() -> None:
    assert parse_extra('{"top_k": 20,\n "a": {"z": 1, "b": [1, 2]}}') == '{"a":{"b":[1,2],"z":1},"top_k":20}'
    assert parse_extra("{}") == "{}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("top_k=20", 'x: not JSON: a value is expected (line 1, column 1); it looks like {"top_k": 20}'),
        ("[1]", "x: must be an object, but is a list"),
        ('{"a": NaN}', 'x: NaN is no JSON number; it looks like {"top_k": 20}'),
        ('{"model": "m"}', "x.model: has a setting of its own, model: give it there"),
        ('{"temperature": 1}', "x.temperature: has a setting of its own, temperature: give it there"),
        ('{"reasoning_effort": "low"}', "x.reasoning_effort: has a setting of its own, reasoning: give it there"),
        ('{"messages": []}', "x.messages: is filled by the program and cannot be replaced: leave it out"),
        (
            '{"generationConfig": {"topK": 1, "maxOutputTokens": 5}}',
            "x.generationConfig.maxOutputTokens: has a setting of its own, max_tokens: give it there",
        ),
        (
            '{"options": {"num_ctx": 8192, "num_predict": 5}}',
            "x.options.num_predict: has a setting of its own, max_tokens: give it there",
        ),
        (
            f'{{"user": "{KEY}"}}',
            "x.user: holds what looks like an API key or password: a key does not belong here; give its name as",
        ),
        ('{"plugin": {"api_key": "0123456789abcdef0123456789abcdef"}}', "x.plugin.api_key: has the name of a secret"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_its_path(text: str, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_extra(text, "x")
    assert str(caught.value).startswith(message)
    assert KEY not in str(caught.value)


def test_merging_is_deep_and_the_later_holds() -> None:
    base = {"a": {"b": 1, "c": {"d": 2}}, "e": [1], "f": 1}
    over = {"a": {"c": {"g": 3}}, "e": [2], "f": {"h": 1}}
    assert merged_extra(base, over) == {"a": {"b": 1, "c": {"d": 2, "g": 3}}, "e": [2], "f": {"h": 1}}
    assert base == {"a": {"b": 1, "c": {"d": 2}}, "e": [1], "f": 1}


def test_a_project_has_them_where_they_are_set() -> None:
    plain = network_json.to_json(network(2, 2))
    assert "reasoning" not in str(plain)
    assert "extra" not in str(plain)
    spec = network(2, 2, settings=Settings(reasoning=2000, extra=extra_text({"top_k": 20, "a": {"b": 1}})))
    record = network_json.to_json(spec)
    assert record["settings"]["reasoning"] == 2000
    assert record["settings"]["extra"] == {"top_k": 20, "a": {"b": 1}}
    assert network_json.from_json(record) == spec


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reasoning": "hgh"}, "layers[1].settings.reasoning: must be one of none, minimal, low, medium, high, xhigh"),
        ({"reasoning": 0}, "layers[1].settings.reasoning: must be 1 thinking token or more, but is 0"),
        ({"reasoning": 1.5}, "layers[1].settings.reasoning: must be one of none"),
        ({"reasoning": True}, "layers[1].settings.reasoning: must be one of none"),
        ({"scores": "logprobs"}, "layers[1].settings.scores: must be one of text, probabilities"),
        ({"extra": "top_k"}, "layers[1].settings.extra: must be an object, but is a text"),
        ({"extra": {"stream": True}}, "layers[1].settings.extra.stream: is filled by the program"),
    ],
)
def test_bad_values_are_told_with_their_path(settings: dict[str, Any], message: str) -> None:
    record = network_json.to_json(network(2, 2))
    record["layers"][1]["settings"] = settings
    with pytest.raises(NetworkError) as caught:
        network_json.from_json(record)
    assert str(caught.value).startswith(message)


def test_what_asks_for_nothing_is_the_same_design() -> None:
    plain = network(2, 2)
    settings = plain.settings
    same = network(2, 2, settings=Settings(reasoning="default", extra="{}").over(settings))
    assert network_json.digest(same) == network_json.digest(plain)
    as_text = network(2, 2, settings=Settings(scores="text").over(settings))
    assert network_json.digest(as_text) == network_json.digest(plain)
    for changed in (Settings(reasoning="low"), Settings(scores="probabilities")):
        other = network(2, 2, settings=changed.over(settings))
        assert network_json.digest(other) != network_json.digest(plain)


def test_the_setting_scores_in_a_project_a_graph_and_a_comparison() -> None:
    spec = network(2, 2, roles="none")
    assert "scores" not in network_json.to_json(spec)["settings"]
    layers = (spec.layers[0], replace(spec.layers[1], settings=Settings(scores="probabilities")))
    other = replace(spec, layers=layers)
    record = network_json.to_json(other)
    assert record["layers"][1]["settings"] == {"scores": "probabilities"}
    assert network_json.from_json(record) == other
    assert [(of.what, of.second) for of in network_changes(spec, other)] == [("scores of layer 2", "probabilities")]
    drawn = graph(other)
    assert [data.get("scores") for _, data in drawn.nodes(data=True)].count("probabilities") == 2
    del drawn.graph["design"]
    assert from_graph(drawn).layers[1].neurons[0].settings.scores == "probabilities"
    wrong = replace(spec, settings=replace(spec.settings, scores="logprobs"))  # type: ignore[arg-type]
    assert [of.path for of in check(wrong) if of.severity == "error"] == ["settings.scores"]
    claude = EndpointProfile("claude", kind="anthropic", model="m")
    asked = replace(other, settings=replace(spec.settings, endpoint="claude", model="m"))
    (problem,) = (of for of in check(asked, {"claude": claude}) if of.path.endswith("scores"))
    assert (problem.severity, problem.path) == ("warning", "layers[1].settings.scores")
    assert "gives no token probabilities" in problem.message


def test_an_endpoint_has_them_too() -> None:
    profile = EndpointProfile("here", base_url="http://localhost:1", extra='{"top_k":20}')
    record = profile_to_json(profile)
    assert record["extra"] == {"top_k": 20}
    assert profile_from_json("here", record) == profile
    with pytest.raises(ProfileError, match=r"here\.extra\.model: has a setting of its own"):
        profile_from_json("here", {**record, "extra": {"model": "m"}})


def test_room_for_thinking() -> None:
    # Google's table of efforts: 1,024, 8,192 and 24,576 tokens for low, medium and high.
    assert [thinking_tokens(effort) for effort in ("none", "low", "medium", "high")] == [0, 1024, 8192, 24_576]
    assert list(THINKING_TOKENS) == list(EFFORTS)
    assert [thinking_tokens(value) for value in (None, "default", 5)] == [0, 0, 5]
    assert likely_thinking("medium") == (1024, 8192)
    assert likely_thinking(None) == (0, 0)
