from __future__ import annotations

import pytest

from judgenet.core.keys import key_name_problem, looks_like_key, secrets_in, without_keys

# Made up, and put together from parts, so that no scanner takes this file for a leak.
KEYS = [
    "sk-proj-" + "AbCdEfGhIjKlMnOp1234567890",
    "sk-ant-" + "api03-abcdefghij_klmnop-1234",
    "sk-or-" + "v1-0123456789abcdef0123456789abcdef",
    "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
    "gsk_" + "abcdefghijklmnopqrstuvwxyz",
    "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz",
    "xai-" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "Bearer abcdefghijklmnopqrstuvwxyz",
    "-----BEGIN RSA PRIVATE " + "KEY-----",
    "https://user:" + "password@host/v1",
    "https://host/v1?api-key=0123456789abcdef",
]

PLAIN = [
    "",
    "OPENAI_API_KEY",
    "a risk-averse-investment-strategy-for-2024",
    "task-oriented dialogue number 12345678901234567890",
    "sk-learn",
    "see https://host:8000/v1 and user@host.org",
    "https://host/search?q=key",
    "The bearer of this letter is called Bearer.",
    "gpt-4o-mini-2024-07-18",
    "0123456789abcdef" * 4,
]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_known_by_its_shape_alone_and_inside_a_text(key: str) -> None:
    assert looks_like_key(key)
    text = f'{{"note": "my key is {key} ok"}}'
    assert looks_like_key(text)
    assert without_keys(key, "[key]") != key
    assert not looks_like_key(without_keys(text, "[key]"))


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert not looks_like_key(text)
    assert without_keys(text, "[key]") == text


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "AZURE_OPENAI_API_KEY_2", "my_key", "_K", "KEY2024"])
def test_a_name_is_accepted(name: str) -> None:
    assert key_name_problem(name) is None


@pytest.mark.parametrize(
    "value",
    [KEYS[0], "f3a9c0d1e2b34f5a" + "6b7c8d9e0f1a2b3c", KEYS[5]],
)
def test_a_key_in_the_place_of_its_name_is_told_and_not_repeated(value: str) -> None:
    problem = key_name_problem(value)
    assert problem is not None
    assert "looks like the key itself" in problem
    assert value not in problem


@pytest.mark.parametrize("name", ["", "two words", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "9LIVES", "$KEY", "ключ"])
def test_what_is_no_name_is_refused(name: str) -> None:
    assert key_name_problem(name)


def test_secrets_are_found_anywhere_in_a_tree_with_their_path() -> None:
    key = KEYS[0]
    tree = {
        "endpoints": {"mine": {"api_key": "OPENAI_API_KEY"}, "his": {"api_key": "hunter-2"}},
        "prompts": [{"text": "fine"}, {"text": f"use {key}"}],
        "metadata": {"password": "p@ss", "token": "a common word", "authorization": ""},
        key: 1,
    }
    found = dict(secrets_in(tree))
    assert set(found) == {"endpoints.his.api_key", "prompts[1].text", "metadata.password", "the document"}
    assert all(key not in path + why for path, why in found.items())
