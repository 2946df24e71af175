"""Ollama's own API: what is sent, what comes back, and the length of the context.

Requests and replies are those of docs.ollama.com (openapi.yaml; "Thinking", "Errors", "Structured outputs"), read on
30 November 2026. No Ollama was asked.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgenet.core.checks import check
from judgenet.core.endpoint_extra import with_endpoint_extra
from judgenet.core.endpoints import EndpointProfile, ProfileError, profile_from_json, profile_to_json
from judgenet.core.network import Settings, StandIn
from judgenet.core.pairs import Pair
from judgenet.core.plan import PriceTable
from judgenet.core.presets import network
from judgenet.core.prompts import PromptBook
from judgenet.engine.ports import ChatRequest, EndpointState, ReplySchema, SentPicture
from judgenet.engine.providers.common import AnswerBuilder, NotAnAnswer
from judgenet.engine.providers.errors import classify, error_info
from judgenet.engine.providers.json_lines import JsonLines
from judgenet.engine.providers.ollama import Ollama
from judgenet.engine.server_context import ContextWatch, server_context
from judgenet.engine.session import Engine, Start
from judgenet.store.db import Store
from tests.fakes.judge_server import JudgeServer
from tests.unit.engine.test_client import REQUEST, Bench, ask, fail, server

__all__ = ["server"]

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 10}}}
PLAIN = ChatRequest("qwen3:8b", "Be fair.", "The pair. ", "The role.", temperature=0.0, max_tokens=700, seed=5)
WHOLE = {
    "model": "qwen3:8b",
    "messages": [{"role": "system", "content": "Be fair."}, {"role": "user", "content": "The pair. The role."}],
    "stream": False,
    "options": {"num_predict": 700, "temperature": 0.0, "seed": 5},
    "truncate": False,
    "shift": False,
}


@pytest.mark.parametrize(
    "base",
    ["", *(f"http://localhost:11434{ending}" for ending in ("", "/", "/api", "/api/chat", "/v1", "/v1/"))],
)
def test_addresses(base: str) -> None:
    assert Ollama(base).url("m", True) == "http://localhost:11434/api/chat"
    assert Ollama(base).models_url() == "http://localhost:11434/api/tags"


def test_an_address_behind_a_proxy_keeps_its_path() -> None:
    assert Ollama("https://gpu.example/ollama/").url("m", False) == "https://gpu.example/ollama/api/chat"


def test_a_request() -> None:
    assert Ollama("").body(PLAIN, {}, False) == WHOLE
    asked = replace(PLAIN, schema=ReplySchema("evaluation", SCHEMA), more={"scores": "probabilities"})
    assert Ollama("").body(asked, {}, True) == WHOLE | {
        "stream": True,
        "format": SCHEMA,
        "logprobs": True,
        "top_logprobs": 20,
    }


@pytest.mark.parametrize(
    ("reasoning", "think", "room", "told"),
    [
        ("none", False, 0, None),
        ("minimal", "low", 1024, "sent as effort low"),
        ("medium", "medium", 8192, None),
        ("max", "max", 32_768, None),
        (1500, "medium", 1500, "sent as effort medium"),
    ],
)
def test_levels_of_thinking(reasoning: int | str, think: object, room: int, told: str | None) -> None:
    provider = Ollama("")
    body = provider.body(replace(PLAIN, more={"reasoning": reasoning}), {}, False)
    assert body == WHOLE | {"think": think, "options": {**WHOLE["options"], "num_predict": 700 + room}}
    assert (provider.reasons_as(reasoning, provider.ways(reasoning)[0]) or None) == told


def test_further_fields_are_merged_into_options() -> None:
    extra = {"keep_alive": "30m", "options": {"num_ctx": 16384, "top_k": 20}}
    body = Ollama("").body(replace(PLAIN, more={"extra": extra}), {}, False)
    options = {**WHOLE["options"], "num_ctx": 16384, "top_k": 20}
    assert body == WHOLE | {"keep_alive": "30m", "options": options}


def test_a_picture_begins_a_message_in_its_place() -> None:
    """Ollama puts a message's pictures before its text: one message for all would lose where each stands."""
    pictures = tuple(SentPicture(f"<<{n}>>", "image/png", f"data{n}", None) for n in (1, 2))  # type: ignore[arg-type]
    asked = replace(PLAIN, system="", shared="A: <<1>> first. B: <<2>>", own="", pictures=pictures)
    assert Ollama("").body(asked, {}, False)["messages"] == [
        {"role": "user", "content": "A: <<1>>"},
        {"role": "user", "content": " first. B: <<2>>", "images": ["data1"]},
        {"role": "user", "content": "", "images": ["data2"]},
    ]


def test_a_documented_reply() -> None:
    """The reply of the API reference, with thinking and with log probabilities."""
    entry = {"token": "8", "logprob": -0.25, "bytes": [56], "top_logprobs": [{"token": "7", "logprob": -1.5}]}
    answer = AnswerBuilder()
    Ollama("").read(
        answer,
        {
            "model": "gemma3",
            "created_at": "2025-10-17T23:14:07.414671Z",
            "message": {"role": "assistant", "content": "Score: 8", "thinking": "Let me see."},
            "done": True,
            "done_reason": "stop",
            "total_duration": 174560334,
            "load_duration": 101397084,
            "prompt_eval_count": 11,
            "prompt_eval_duration": 13074791,
            "eval_count": 18,
            "eval_duration": 52479709,
            "logprobs": [entry],
        },
    )
    assert (answer.text, answer.thinking, answer.usage) == (["Score: 8"], ["Let me see."], (11, 18, 0, 0))
    assert (answer.model, answer.raw_finish, answer.ended) == ("gemma3", "stop", True)
    assert [(of.text, of.alternatives) for of in answer.tokens] == [(b"8", ((b"7", -1.5),))]


@pytest.mark.parametrize("odd", [{}, {"message": None}, {"message": "text"}, {"models": []}])
def test_what_is_no_reply(odd: dict[str, Any]) -> None:
    with pytest.raises(NotAnAnswer):
        Ollama("").read(AnswerBuilder(), odd)


def test_lines_come_in_any_pieces() -> None:
    stream = b'\xef\xbb\xbf{"a": "\xe6\xbc\xa2"}\r\n\n{"b": 1}\nno JSON\n{"c": 2}'
    for size in (1, 3, 7, 100):
        reader = JsonLines()
        events = [event for at in range(0, len(stream), size) for event in reader.feed(stream[at : at + size])]
        events += reader.close()
        assert [json.loads(data) for _, data in events] == [{"a": "漢"}, {"b": 1}, {"c": 2}]
        assert reader.stray == b"no JSON\n"


# Errors, in the words of Ollama's source and issue tracker


@pytest.mark.parametrize(
    ("status", "message", "action", "parameter"),
    [
        (404, "model 'qwen9' not found", "stop_model", None),
        (400, '"gemma3" does not support thinking', "refused", "reasoning"),
        (400, 'think value "high" is not supported for this model', "refused", "reasoning"),
        (400, "top_logprobs must be between 0 and 20", "refused", "scores"),
        (400, "the input length exceeds the context length", "fail", None),
        (500, "model requires more system memory (25.6 GiB) than is available (14.2 GiB)", "stop_model", None),
        (503, "server busy, please try again.  maximum pending requests exceeded", "slow", None),
        (500, "llama runner process has terminated: exit status 2", "retry", None),
        (401, "unauthorized", "stop", None),
    ],
)
def test_errors(status: int, message: str, action: str, parameter: str | None) -> None:
    provider = Ollama("")
    asked = replace(PLAIN, more={"reasoning": "high", "scores": "probabilities"})
    sent = provider.sent(asked, {}, True)
    info = error_info(json.dumps({"error": message}).encode())
    fault = classify(status, info, None, sent, provider.parameters)
    assert (fault.action, fault.parameter) == (action, parameter)


def test_an_error_within_a_stream_is_tried_again(server: JudgeServer) -> None:
    server.set(script=["stream_error"])
    reply = ask(Bench(server, kind="ollama"), stream=True)
    assert (reply.attempts, reply.finish_reason) == (2, "stop")


@pytest.mark.parametrize("fault", ["cut", "bad_json", "html_200", "no_usage", "split_utf8", "crlf", "content_type"])
def test_faults_of_streams(server: JudgeServer, fault: str) -> None:
    server.set(script=[fault])
    reply = ask(Bench(server, kind="ollama"), stream=True)
    assert reply.text == server.log[-1].answer
    assert reply.attempts == (2 if fault in ("cut", "bad_json", "html_200") else 1)
    assert reply.usage.estimated == (fault == "no_usage")


def test_a_missing_model_stops_the_model(server: JudgeServer) -> None:
    server.set(models=["other"])
    assert "has no such model" in str(fail(Bench(server, kind="ollama")))


# The length of the context


def endpoint(url: str = "http://localhost:11434", **more: Any) -> EndpointProfile:
    return EndpointProfile("box", **{"kind": "ollama", "base_url": url, "model": "judge", **more})


def test_an_endpoint_has_a_context_length() -> None:
    profile = endpoint(context_length=16384)
    record = profile_to_json(profile)
    assert record["context_length"] == 16384
    assert profile_from_json("box", record) == profile
    assert profile_from_json("box", {"kind": "ollama"}).base_url == "http://localhost:11434"
    assert "context_length" not in profile_to_json(endpoint())


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"kind": "ollama", "context_length": 0}, "box.context_length: must be 1 or more, but is 0; leave it"),
        (
            {"kind": "openai", "base_url": "http://h:1", "context_length": 8192},
            "box.context_length: is sent by the API",
        ),
        (
            {"kind": "openai", "base_url": "http://h:1", "extra": {"options": {"num_ctx": 8192}}},
            "box.extra.options.num_ctx: is taken by Ollama's own API only",
        ),
        ({"kind": "ollama", "extra": {"num_ctx": 8192}}, "box.extra.num_ctx: belongs into options"),
    ],
)
def test_a_context_length_that_has_no_effect_is_refused(record: dict[str, Any], message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        profile_from_json("box", record)
    assert str(caught.value).startswith(message)


def test_a_network_may_ask_for_another_length_at_ollama_only() -> None:
    settings = Settings("box", "judge", extra='{"options":{"num_ctx":8192}}')
    spec = network(1, 1, roles="none", settings=settings)
    assert [of for of in check(spec, {"box": endpoint()}) if of.severity == "error"] == []
    (problem,) = (of for of in check(spec, {"box": endpoint(kind="openai")}) if of.severity == "error")
    assert problem.path == "settings.extra"
    assert "options.num_ctx has an effect on Ollama's own API only" in problem.message
    other = replace(settings, extra=None, stand_in=(StandIn("two", "m", extra=settings.extra),))
    known = {"box": endpoint(), "two": endpoint(kind="openai")}
    (problem,) = (of for of in check(network(1, 1, roles="none", settings=other), known) if of.severity == "error")
    assert problem.path == "settings.stand_in[0].extra"


def test_the_length_goes_into_every_request_under_what_is_set_by_hand() -> None:
    known = {"box": endpoint(context_length=16384, extra='{"keep_alive":"30m"}')}
    plain = network(1, 1, roles="none", settings=Settings("box", "judge"))
    extra = with_endpoint_extra(plain, known).layers[0].neurons[0].settings.extra
    assert json.loads(extra or "") == {"keep_alive": "30m", "options": {"num_ctx": 16384}}
    own = replace(plain, settings=replace(plain.settings, extra='{"options":{"num_ctx":8192,"top_k":5}}'))
    extra = with_endpoint_extra(own, known).layers[0].neurons[0].settings.extra
    assert json.loads(extra or "") == {"keep_alive": "30m", "options": {"num_ctx": 8192, "top_k": 5}}
    assert with_endpoint_extra(plain, {"box": endpoint()}) == plain


def start_of(profile: EndpointProfile) -> Start:
    spec = network(2, 1, roles="none", settings=Settings("box", "judge", max_tokens=500))
    pairs = [Pair("p", "1 + 1?", "2", "3")]
    return Start(spec, pairs, PromptBook.default(), PriceTable(()), {"box": profile}, "salt")


def test_a_run_sends_it_and_another_length_asks_anew(server: JudgeServer, tmp_path: Path) -> None:
    def judged(profile: EndpointProfile) -> int:
        before = server.requests
        with Store.open(tmp_path / "s.db") as store, Engine() as engine:
            engine.start(store, start_of(profile), lambda _: None).future.result(30)
        return server.requests - before

    assert judged(endpoint(server.url, context_length=8192)) == 4
    assert {entry.asked["num_ctx"] for entry in server.log} == {8192}
    assert {entry.path for entry in server.log} == {"/api/chat"}
    assert judged(endpoint(server.url, context_length=8192)) == 0
    assert judged(endpoint(server.url, context_length=16384)) == 4
    # By the OpenAI-compatible API the questions keep the keys that they had without a length.
    assert judged(endpoint(server.url)) == 4
    assert judged(endpoint(f"{server.url}/v1", kind="openai")) == 0


def told_before(profile: EndpointProfile, folder: Path, response: str) -> list[EndpointState]:
    told: list[EndpointState] = []
    spec = with_endpoint_extra(
        network(1, 1, roles="none", settings=Settings("box", "judge", max_tokens=1024)), {"box": profile}
    )

    async def begin() -> None:
        watch = ContextWatch({"box": profile}, folder, told.append)
        await watch.begin(spec, [Pair("p", "Which?", response, "short")])
        watch.end()

    asyncio.run(begin())
    return told


def test_a_length_that_is_too_short_is_told_before_the_run(server: JudgeServer, tmp_path: Path) -> None:
    (told,) = told_before(endpoint(server.url, context_length=4096), tmp_path, "word " * 4000)
    assert "requests ask for a context of 4,096 tokens" in told.message
    assert "Set the endpoint's context length to 8,192 tokens" in told.message
    (told,) = told_before(endpoint(server.url, context_length=1024), tmp_path, "word " * 100)
    assert "requests ask for a context of 1,024 tokens" in told.message
    # A model that is loaded with a shorter context now is loaded anew.
    assert told_before(endpoint(server.url, context_length=8192), tmp_path, "word " * 4000) == []
    server.set(models=["judge"])
    (told,) = told_before(endpoint(server.url), tmp_path, "word " * 4000)
    assert "the server reports a context of 4,096 tokens" in told.message


def test_what_a_loaded_model_holds(server: JudgeServer, tmp_path: Path) -> None:
    server.set(models=["judge"], context=32768)
    assert asyncio.run(server_context(endpoint(server.url), "judge", tmp_path)) == (32768, True)
    assert asyncio.run(server_context(endpoint(server.url), "other", tmp_path)) == (None, True)


def test_a_request_is_what_the_rest_of_the_tests_ask(server: JudgeServer) -> None:
    ask(Bench(server, kind="ollama"), replace(REQUEST, more={"extra": {"options": {"num_ctx": 2048}}}))
    (entry,) = server.log
    assert entry.asked["options"] == {"num_predict": 500, "temperature": 0.0, "seed": 3, "num_ctx": 2048}
    assert entry.headers["authorization"].startswith("Bearer ")
