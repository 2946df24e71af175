"""The embedded model as an endpoint, on llama.cpp's real server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.evaluation import Reason
from judgenet.core.schemas import judge_schema
from judgenet.engine.embedded import MODEL_NAME, EmbeddedEndpoint, EmbeddedServer
from judgenet.engine.ports import CallFailed, ChatRequest, EndpointState, EndpointStopped, ReplySchema

PROFILE = EndpointProfile("embedded", kind="embedded")
QUESTION = "Which response is better? Question: why is the sky blue? Response 1: air scatters blue light most. "
SCHEMA = ReplySchema("evaluation", judge_schema(max_evidence=60))


def request(own: str = "Response 2: it mirrors the sea.", max_tokens: int = 200) -> ChatRequest:
    return ChatRequest(
        MODEL_NAME, "You judge responses.", QUESTION, own, "json", SCHEMA, temperature=0.0, max_tokens=max_tokens
    )


class Stage:
    """An endpoint with what can be seen of it from outside."""

    def __init__(self, profile: EndpointProfile = PROFILE) -> None:
        self.states: list[EndpointState] = []
        self.servers: list[EmbeddedServer] = []
        self.endpoint = EmbeddedEndpoint(profile, on_state=self.states.append, server=self.make)

    def make(self, source: str | None) -> EmbeddedServer:
        self.servers.append(EmbeddedServer(source))
        return self.servers[-1]

    @property
    def server(self) -> EmbeddedServer:
        return self.servers[0]

    def crash(self, text: str = "") -> None:
        """Ends the child as a crash would; serves as ``on_text``."""
        assert self.server._process is not None
        self.server._process.kill()


def play(scene: Callable[[Stage], Awaitable[None]], profile: EndpointProfile = PROFILE) -> None:
    async def run() -> None:
        stage = Stage(profile)
        try:
            await scene(stage)
        finally:
            await stage.endpoint.close()
            assert not stage.server.running

    asyncio.run(run())


def test_the_first_call_starts_the_server_and_the_next_takes_the_shared_prefix_from_the_cache(weights: Path) -> None:
    async def scene(stage: Stage) -> None:
        assert not stage.server.running
        assert not stage.endpoint.known(MODEL_NAME)
        assert stage.endpoint.form(MODEL_NAME) == "json"
        first = await stage.endpoint.chat(request())
        answer = json.loads(first.text)
        assert list(answer) == ["evidence", "score_1", "score_2"]
        assert 1 <= answer["score_1"] <= 10
        assert first.model == MODEL_NAME
        assert first.finish_reason == "stop"
        assert first.attempts == 1
        assert stage.endpoint.known(MODEL_NAME)
        second = await stage.endpoint.chat(request("Response 2: nobody knows."))
        assert second.usage.cached >= 20
        assert second.usage.cached > first.usage.cached
        assert not second.usage.estimated

    play(scene)


def test_an_answer_can_be_watched(weights: Path) -> None:
    async def scene(stage: Stage) -> None:
        pieces: list[str] = []
        reply = await stage.endpoint.chat(request(), pieces.append)
        assert len(pieces) > 3
        assert "".join(pieces) == reply.text
        assert reply.usage.completion > 0

    play(scene)


def test_a_cut_answer_says_so(weights: Path) -> None:
    async def scene(stage: Stage) -> None:
        assert (await stage.endpoint.chat(request(max_tokens=3))).finish_reason == "length"

    play(scene)


def test_a_prompt_longer_than_the_window_is_a_state_of_its_own_and_the_next_call_works(weights: Path) -> None:
    async def scene(stage: Stage) -> None:
        with pytest.raises(CallFailed) as caught:
            await stage.endpoint.chat(request("and so on " * 5000))
        assert caught.value.reason is Reason.CONTEXT_LENGTH
        assert not isinstance(caught.value, EndpointStopped)
        assert (await stage.endpoint.chat(request())).text

    play(scene)


def test_a_server_that_crashes_during_a_call_is_started_again_and_the_call_is_answered(weights: Path) -> None:
    async def scene(stage: Stage) -> None:
        crashes = iter([stage.crash])
        reply = await stage.endpoint.chat(request(), lambda text: next(crashes, lambda: None)())
        assert json.loads(reply.text)["score_1"]
        assert reply.attempts == 2
        assert [state.state for state in stage.states] == ["waiting", "open"]
        stage.crash()
        assert (await stage.endpoint.chat(request())).text, "an answer in between forgives the first crash"

    play(scene)


def test_a_server_that_crashes_again_stops_the_endpoint(weights: Path) -> None:
    async def scene(stage: Stage) -> None:
        with pytest.raises(EndpointStopped) as caught:
            await stage.endpoint.chat(request(), stage.crash)
        assert caught.value.attempts == 2
        assert "The model server ended" in str(caught.value)
        assert stage.states[-1].state == "stopped"
        stage.endpoint.resume()
        assert (await stage.endpoint.chat(request())).attempts == 1

    play(scene)


def test_a_cancelled_call_leaves_the_server_ready_for_the_next(weights: Path) -> None:
    async def scene(stage: Stage) -> None:
        begun = asyncio.Event()
        long = request("Tell all that you know. " * 40, max_tokens=2000)
        call = asyncio.create_task(stage.endpoint.chat(long, lambda text: begun.set()))
        await begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await stage.endpoint.chat(request())).text

    play(scene)


def test_a_start_that_is_cancelled_leaves_no_process(weights: Path) -> None:
    async def scene(stage: Stage) -> None:
        call = asyncio.create_task(stage.endpoint.chat(request()))
        for _ in range(1000):
            if stage.server.running:
                break
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert not stage.server.running

    play(scene)


def test_without_the_model_the_endpoint_stops_with_the_command_that_fetches_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGENET_MODEL_DIR", str(tmp_path))

    async def scene(stage: Stage) -> None:
        with pytest.raises(EndpointStopped, match="judgenet model fetch") as caught:
            await stage.endpoint.chat(request())
        assert caught.value.attempts == 0
        assert stage.states[-1].state == "stopped"

    play(scene)


def test_another_gguf_is_served_under_its_own_name(weights: Path, tmp_path: Path) -> None:
    other = tmp_path / "my-judge.gguf"
    other.symlink_to(weights)

    async def scene(stage: Stage) -> None:
        assert (await stage.endpoint.chat(request())).model == "my-judge"

    play(scene, EndpointProfile("mine", kind="embedded", source=str(other)))
