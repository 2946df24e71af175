from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgenet.core.endpoints import (
    EndpointProfile,
    ProfileError,
    check_profile,
    profile_from_json,
    profile_to_json,
)
from judgenet.engine import ports

KEY = "sk-proj-" + "AbCdEfGhIjKlMnOp1234567890"
GOOD = EndpointProfile("mine", base_url="http://localhost:8000/v1", api_key="MY_KEY", model="m")

POSITIVE = st.floats(min_value=0.001, max_value=1e9) | st.integers(1, 10**9)
PROFILES = st.builds(
    EndpointProfile,
    name=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,15}", fullmatch=True),
    kind=st.sampled_from(["openai", "azure", "anthropic", "gemini", "ollama"]),
    base_url=st.sampled_from(["http://localhost:8000/v1", "https://[::1]:1/x", "https://host.example"]),
    api_key=st.none() | st.sampled_from(["A_KEY", "OTHER_2"]),
    model=st.none() | st.text(max_size=10),
    concurrency=st.integers(1, 10_000),
    requests_per_minute=st.none() | POSITIVE,
    tokens_per_minute=st.none() | POSITIVE,
    connect_timeout=POSITIVE,
    idle_timeout=POSITIVE,
    deadline=POSITIVE,
    retries=st.integers(0, 100),
    headers=st.sampled_from([(), (("X-Title", "JudgeNet"),), (("A", "1"), ("B", ""))]),
    structured=st.sampled_from(["auto", "never"]),
    api_version=st.none() | st.just("2024-10-21"),
)


def test_the_engine_uses_the_same_profile() -> None:
    assert ports.EndpointProfile is EndpointProfile


@given(PROFILES, st.booleans())
def test_a_profile_survives_json(profile: EndpointProfile, full: bool) -> None:
    assert profile_from_json(profile.name, profile_to_json(profile, full=full)) == profile


def test_only_what_differs_from_the_defaults_is_written() -> None:
    assert profile_to_json(GOOD) == {
        "kind": "openai",
        "base_url": "http://localhost:8000/v1",
        "api_key": "MY_KEY",
        "model": "m",
    }


def test_fields_come_from_the_base_where_the_record_is_silent() -> None:
    base = replace(GOOD, concurrency=64, headers=(("X-Title", "t"),))
    profile = profile_from_json("mine", {"model": "other", "api_key": None, "concurrency": None}, base=base)
    assert profile == replace(base, model="other", api_key=None, concurrency=16)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "name"),
        ({"name": "two words"}, "name"),
        ({"base_url": ""}, r"mine\.base_url: is missing"),
        ({"base_url": "localhost:8000"}, r"mine\.base_url: must begin with http"),
        ({"base_url": "ftp://host"}, "http://"),
        ({"base_url": "http://"}, "no host"),
        ({"base_url": "http://host:port/v1"}, "no valid address"),
        ({"base_url": "http://[::1/v1"}, "no valid address"),
        ({"base_url": "http://ho st/v1"}, "white space"),
        ({"base_url": "https://user:" + "secret-word@host/v1"}, "user name or password"),
        ({"base_url": "https://host/v1?api-version=1"}, "api_version"),
        ({"api_key": KEY}, r"mine\.api_key: this looks like the key itself"),
        ({"api_key": "0123456789abcdef0123456789abcdef"}, "looks like the key itself"),
        ({"api_key": "not a name"}, "no name of a key"),
        ({"model": KEY}, r"mine\.model: holds what looks like an API key"),
        ({"concurrency": 0}, r"mine\.concurrency: must be 1 or more, but is 0"),
        ({"retries": -1}, r"mine\.retries: must be 0 or more, but is -1"),
        ({"requests_per_minute": -5}, r"mine\.requests_per_minute: must be more than 0"),
        ({"tokens_per_minute": 0}, r"mine\.tokens_per_minute: must be more than 0"),
        ({"requests_per_minute": float("nan")}, "must be more than 0"),
        ({"deadline": float("inf")}, r"mine\.deadline: must be more than 0 seconds"),
        ({"idle_timeout": -1.0}, r"mine\.idle_timeout"),
        ({"headers": (("Authorization", "Bearer x"),)}, r"mine\.headers\.Authorization: a key does not belong"),
        ({"headers": (("Ocp-Apim-Subscription-Key", "x"),)}, "a key does not belong"),
        ({"headers": (("X-Thing", KEY),)}, "a key does not belong"),
        ({"headers": (("X-Thing", "a\r\nb"),)}, "one line"),
        ({"headers": (("X Thing", "a"),)}, "no name of an HTTP header"),
        ({"headers": (("X-Title", "a"), ("x-title", "b"))}, "twice"),
        ({"kind": "embedded"}, "has no address"),
        ({"kind": "replay", "base_url": ""}, r"mine\.source: is missing"),
    ],
)
def test_a_bad_profile_is_refused_and_its_secrets_not_repeated(changes: dict[str, Any], message: str) -> None:
    profile = replace(GOOD, **changes)
    for use in (check_profile, profile_to_json):
        with pytest.raises(ProfileError, match=message) as caught:
            use(profile)
        assert KEY not in str(caught.value)
        assert "secret-word" not in str(caught.value)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], "endpoints.mine: must be an object, but is a list"),
        ({"kind": "opnai"}, "endpoints.mine.kind: must be one of openai, azure"),
        ({"concurency": 3}, "endpoints.mine.concurency: is not known; did you mean 'concurrency'"),
        ({"base_url": "http://h", "concurrency": "4"}, "endpoints.mine.concurrency: must be a whole number"),
        ({"base_url": "http://h", "retries": True}, "endpoints.mine.retries: must be a whole number"),
        ({"base_url": "http://h", "headers": {"A": 1}}, "endpoints.mine.headers.A: must be a text"),
        ({"base_url": "http://h", "deadline": "60"}, "endpoints.mine.deadline: must be a number"),
        ({"base_url": "http://h", "api_key": KEY}, "endpoints.mine.api_key: this looks like the key"),
    ],
)
def test_a_bad_record_is_named_by_its_path(record: object, message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        profile_from_json("mine", record, "endpoints.mine")
    assert str(caught.value).startswith(message)
    assert KEY not in str(caught.value)


def test_places_with_one_address_need_none() -> None:
    assert profile_from_json("a", {"kind": "anthropic"}).base_url == "https://api.anthropic.com"
    assert profile_from_json("g", {"kind": "gemini"}).base_url == "https://generativelanguage.googleapis.com"


def test_an_unknown_field_is_kept_out_where_it_is_allowed() -> None:
    assert profile_from_json("mine", {"base_url": "http://h", "new": 1}, refuse_unknown=False).base_url == "http://h"
