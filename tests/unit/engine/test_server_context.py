"""How long the context of a server is, and the warning where a run needs more.

The replies are those of the servers' documentation: vLLM's ``/v1/models``, Ollama's ``/v1/models`` and ``/api/ps``,
llama.cpp's ``/v1/models`` and ``/props``, LM Studio's ``/api/v0/models``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import Settings
from judgenet.core.pairs import Pair
from judgenet.core.plan import ContextNeed, context_needs, pair_tokens
from judgenet.core.presets import network
from judgenet.engine.ports import EndpointState
from judgenet.engine.server_context import ContextWatch, context_words, listed_context, server_context
from tests.fakes.judge_server import JudgeServer

VLLM = {"data": [{"id": "qwen3", "object": "model", "owned_by": "vllm", "max_model_len": 8192}]}
OLLAMA = {"data": [{"id": "qwen3:8b", "object": "model", "owned_by": "library"}]}
PS = {"models": [{"name": "qwen3:8b", "model": "qwen3:8b", "size": 1, "context_length": 4096}]}
LLAMA = {"data": [{"id": "qwen3", "owned_by": "llamacpp", "meta": {"n_ctx_train": 40960, "n_vocab": 1}}]}
PROPS = {"default_generation_settings": {"n_ctx": 16384}, "total_slots": 1}
LM_STUDIO = {"data": [{"id": "qwen3", "object": "model", "owned_by": "organization_owner"}]}
LM_STUDIO_OWN = {"data": [{"id": "qwen3", "max_context_length": 40960, "loaded_context_length": 6000}]}


@contextmanager
def serving(places: dict[str, Any]) -> Iterator[str]:
    """A server that answers with these values by path; its address."""
    import threading

    ready, ended = threading.Event(), threading.Event()
    address: list[str] = []

    async def body() -> None:
        async def answer(request: web.BaseRequest) -> web.StreamResponse:
            if request.path not in places:
                return web.Response(status=404)
            return web.json_response(places[request.path])

        runner = web.ServerRunner(web.Server(answer))
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        address.append(f"http://127.0.0.1:{runner.addresses[0][1]}")
        ready.set()
        await asyncio.to_thread(ended.wait)
        await runner.cleanup()

    thread = threading.Thread(target=asyncio.run, args=(body(),))
    thread.start()
    ready.wait(10)
    try:
        yield address[0]
    finally:
        ended.set()
        thread.join(10)


@pytest.mark.parametrize(
    ("places", "model", "context"),
    [
        ({"/v1/models": VLLM}, "qwen3", (8192, False)),
        ({"/v1/models": VLLM}, "another", (None, False)),
        ({"/v1/models": OLLAMA, "/api/ps": PS}, "qwen3:8b", (4096, True)),
        ({"/v1/models": OLLAMA, "/api/ps": {"models": []}}, "qwen3:8b", (None, True)),
        ({"/v1/models": LLAMA, "/props": PROPS}, "qwen3", (16384, False)),
        ({"/v1/models": LM_STUDIO, "/api/v0/models": LM_STUDIO_OWN}, "qwen3", (6000, False)),
        ({}, "qwen3", (None, False)),
    ],
)
def test_what_servers_tell(
    places: dict[str, Any], model: str, context: tuple[int | None, bool], tmp_path: Path
) -> None:
    with serving(places) as address:
        profile = EndpointProfile("box", base_url=address)
        assert asyncio.run(server_context(profile, model, tmp_path)) == context


@pytest.mark.parametrize("odd", [None, [], "text", {"data": {"id": "m"}}, {"data": [None, 1, {"id": "m", "meta": []}]}])
def test_odd_answers_tell_nothing(odd: Any, tmp_path: Path) -> None:
    assert listed_context(odd, "m") is None
    with serving({"/v1/models": odd, "/props": odd, "/api/ps": odd}) as address:
        assert asyncio.run(server_context(EndpointProfile("box", base_url=address), "m", tmp_path)) == (None, False)


def test_a_large_provider_is_not_asked(tmp_path: Path) -> None:
    for url in ("https://api.openai.com/v1", "https://openrouter.ai/api/v1"):
        assert asyncio.run(server_context(EndpointProfile("x", base_url=url), "m", tmp_path)) == (None, False)


def test_a_length_that_is_none_is_not_taken() -> None:
    for value in (None, "8192", True, 0, -1, 1.5):
        assert listed_context({"data": [{"id": "m", "max_model_len": value}]}, "m") is None


def test_words_say_what_is_too_long_and_how_to_mend_it() -> None:
    need = ContextNeed(5000, 1024)
    assert context_words("box", "m", 6024, need) == ""
    words = context_words("box", "m", 4096, need, server="ollama")
    assert "a context of 4,096 tokens" in words
    assert "about 5,000 tokens, and its answer may have 1,024. Prompts may be cut or refused." in words
    assert "OLLAMA_CONTEXT_LENGTH=8192 ollama serve." in words
    assert "Choose the API type Ollama for the endpoint, with a context length of 8,192 tokens" in words
    assert "Calls may be refused, or answers cut." in context_words("box", "m", 5500, need)


def test_what_a_model_must_hold() -> None:
    settings = Settings("box", "m", max_tokens=500)
    single = context_needs(network(1, 1, roles="none", settings=settings), 1000)
    # The pair's texts and the instructions around them (240 tokens), and the limit of the answer.
    assert single == {("box", "m"): ContextNeed(1240, 500)}
    thinking = Settings("box", "m", max_tokens=500, reasoning="medium")
    assert context_needs(network(1, 1, roles="none", settings=thinking), 1000)["box", "m"].answer == 500 + 8192
    deep = context_needs(network(3, 2, roles="none", settings=settings), 1000)["box", "m"]
    # Layer 2 reads the evaluations of three neurons in both orders: 400 tokens each and a heading of 25.
    assert deep == ContextNeed(1000 + 300 + 2 * 3 * 425, 500)


def test_a_run_whose_prompts_are_too_long_is_told_before_it(tmp_path: Path) -> None:
    pairs = [Pair("p", "Which?", "word " * 4000, "short")]
    spec = network(1, 1, roles="none", settings=Settings("box", "judge", max_tokens=1024))
    told: list[EndpointState] = []

    async def begin(address: str, asked: list[Pair]) -> None:
        watch = ContextWatch({"box": EndpointProfile("box", base_url=address)}, tmp_path, told.append)
        await watch.begin(spec, asked)
        watch.end()

    with JudgeServer(models=["judge"], context=4096) as server:
        asyncio.run(begin(server.url, pairs))
        tokens = pair_tokens(pairs[0]) + 240
        assert f"about {tokens:,} tokens" in told[0].message
        assert told[0].endpoint == "box"
        # Where no server could be too small none is asked.
        asyncio.run(begin(server.url, [Pair("p", "Which?", "short", "short")]))
        server.set(context=32_768)
        asyncio.run(begin(server.url, pairs))
    assert len(told) == 1
