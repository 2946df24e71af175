"""Which models a server has."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from judgenet.core.endpoints import EndpointKind, EndpointProfile
from judgenet.engine.endpoints import EndpointError, NotApproved
from judgenet.engine.providers.common import NotAnAnswer, model_names
from judgenet.engine.server_models import server_models
from judgenet.store.approvals import approve, endpoint_needs
from tests.fakes.judge_server import JudgeServer

KEY = "correct-horse-battery-staple"


def listed(profile: EndpointProfile) -> tuple[str, ...]:
    return asyncio.run(server_models(profile, None, ""))


@pytest.mark.parametrize(
    ("kind", "path"), [("openai", "/v1"), ("anthropic", ""), ("gemini", "/v1beta"), ("ollama", "")]
)
def test_the_models_of_a_server_are_listed(kind: EndpointKind, path: str, config: Path) -> None:
    with JudgeServer(models=["small", "org/large:7b"]) as server:
        profile = EndpointProfile("box", kind=kind, base_url=server.url + path)
        approve(endpoint_needs([profile], None, ""))
        assert listed(profile) == ("small", "org/large:7b")


def test_the_key_is_sent_and_never_told(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with JudgeServer(key=KEY) as server:
        profile = EndpointProfile("box", base_url=server.url, api_key="BOX_KEY")
        approve(endpoint_needs([profile], None, ""))
        monkeypatch.setenv("BOX_KEY", KEY)
        assert listed(profile) == ("fake",)
        monkeypatch.setenv("BOX_KEY", "another-wrong-key-0123")
        with pytest.raises(EndpointError, match=r"box .*HTTP 401") as told:
            listed(profile)
        assert "another-wrong-key" not in str(told.value)


def test_nothing_is_sent_where_the_address_is_not_approved(config: Path) -> None:
    with JudgeServer() as server:
        stranger = EndpointProfile("box", base_url=server.url, api_key="PATH")
        with pytest.raises(NotApproved):
            listed(stranger)


def test_what_lists_no_models_says_so(config: Path) -> None:
    azure = EndpointProfile("az", kind="azure", base_url="https://mine.openai.azure.com", api_key=None)
    approve(endpoint_needs([azure], None, ""))
    with pytest.raises(EndpointError, match="does not list its models"):
        listed(azure)
    nobody = EndpointProfile("none", base_url="http://127.0.0.1:9/v1")
    approve(endpoint_needs([nobody], None, ""))
    with pytest.raises(EndpointError, match="not reached"):
        listed(nobody)
    with JudgeServer(models=[]) as server:
        empty = EndpointProfile("empty", base_url=server.url)
        approve(endpoint_needs([empty], None, ""))
        with pytest.raises(EndpointError, match="lists no models"):
            listed(empty)


def test_lists_of_models_are_read_in_every_form() -> None:
    assert model_names({"data": [{"id": "a"}, {"id": "b"}, {"id": "a"}]}) == ["a", "b"]
    assert model_names({"models": [{"name": "llama3:8b", "model": "llama3:8b"}]}) == ["llama3:8b"]
    assert model_names(["x", {"id": 3}]) == ["x"]
    gemini = [
        {"name": "models/judge", "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]},
    ]
    assert model_names({"models": gemini}) == ["judge"]
    for wrong in ({"error": "no"}, "text", 3, {"data": {"id": "a"}}):
        with pytest.raises(NotAnAnswer):
            model_names(wrong)
