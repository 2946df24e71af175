from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.core.endpoints import EndpointProfile
from judgenet.store.secrets import set_session_key
from judgenet.store.settings import (
    SettingsError,
    UnknownEndpoint,
    builtin_profiles,
    config_folder,
    delete_profile,
    ollama_url,
    profile_from_flags,
    profiles,
    resolve,
    save_profile,
    settings_path,
    user_profiles,
)

KEY = "sk-proj-" + "AbCdEfGhIjKlMnOp1234567890"
MINE = EndpointProfile("mine", base_url="http://gpu-box:8000/v1", api_key="MY_KEY", model="m", concurrency=32)


def write(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(text, encoding="utf-8")


def test_the_folder_is_the_one_named_or_the_systems(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings_path() == config / "settings.json"
    monkeypatch.delenv("JUDGENET_CONFIG_DIR")
    assert config_folder().is_absolute()
    assert "judgenet" in str(config_folder()).lower()


def test_the_usual_endpoints_need_no_set_up(config: Path) -> None:
    known = profiles()
    assert list(known) == [
        *("embedded", "openai", "anthropic", "gemini", "azure"),
        *("openrouter", "ollama", "lmstudio", "vllm", "llamacpp"),
    ]
    assert {name: (of.kind, of.base_url, of.api_key) for name, of in known.items()} == {
        "embedded": ("embedded", "", None),
        "openai": ("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        "anthropic": ("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
        "gemini": ("gemini", "https://generativelanguage.googleapis.com", "GEMINI_API_KEY"),
        "azure": ("azure", "", "AZURE_OPENAI_API_KEY"),
        "openrouter": ("openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        "ollama": ("openai", "http://localhost:11434/v1", None),
        "lmstudio": ("openai", "http://localhost:1234/v1", None),
        "vllm": ("openai", "http://localhost:8000/v1", None),
        "llamacpp": ("openai", "http://localhost:8080/v1", None),
    }
    for name in set(known) - {"azure"}:
        assert resolve(name) == known[name]


def test_addresses_follow_the_variables_of_the_providers_own_tools(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_BASE", "https://older.example/v1")
    assert resolve("openai").base_url == "https://older.example/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "https://newer.example/v1/")
    assert resolve("openai").base_url == "https://newer.example/v1/"
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    assert resolve("openai").headers == (("OpenAI-Organization", "org-1"),)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com/")
    assert resolve("azure").base_url == "https://me.openai.azure.com/"
    monkeypatch.setenv("OPENAI_API_VERSION", "2025-01-01-preview")
    assert resolve("azure").api_version == "2025-01-01-preview"
    monkeypatch.setenv("OLLAMA_HOST", "0.0.0.0:5000")
    assert resolve("ollama").base_url == "http://127.0.0.1:5000/v1"


def test_geminis_key_may_have_googles_name(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "g-value")
    assert resolve("gemini").api_key == "GOOGLE_API_KEY"
    monkeypatch.setenv("GEMINI_API_KEY", "m-value")
    assert resolve("gemini").api_key == "GEMINI_API_KEY"


def test_addresses_stand_in_dotenv_beside_the_project_too(config: Path, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=http://proxy:1/v1\n", encoding="utf-8")
    assert resolve("openai", folder=tmp_path).base_url == "http://proxy:1/v1"
    assert resolve("openai").base_url == "https://api.openai.com/v1"


def test_a_dotenv_that_cannot_be_read_is_named(config: Path, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=x", encoding="utf-16")
    with pytest.raises(SettingsError, match="UTF-8"):
        resolve("openai", folder=tmp_path)


@pytest.mark.parametrize(
    ("name", "variable", "value"),
    [
        ("azure", "AZURE_OPENAI_ENDPOINT", ""),
        ("azure", "AZURE_OPENAI_ENDPOINT", "me.openai.azure.com"),
        ("openai", "OPENAI_BASE_URL", "api.example.org"),
        ("ollama", "OLLAMA_HOST", "[::1"),
        ("ollama", "OLLAMA_HOST", "box:port"),
    ],
)
def test_a_bad_address_in_a_variable_is_traced_to_it(
    config: Path, monkeypatch: pytest.MonkeyPatch, name: str, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=rf"{name}\.base_url: .*{variable}"):
        resolve(name)
    assert name in profiles()


def test_the_projects_own_come_before_the_users_and_those_before_the_built_in(config: Path, tmp_path: Path) -> None:
    write(config, '{"endpoints": {"openai": {"concurrency": 64}, "mine": {"base_url": "http://u/v1"}}}')
    assert resolve("openai").concurrency == 64
    assert resolve("openai").base_url == "https://api.openai.com/v1"
    assert resolve("openai").api_key == "OPENAI_API_KEY"
    assert resolve("mine").base_url == "http://u/v1"
    assert resolve("mine", own=[MINE]) == MINE
    assert resolve("openai", own=[replace(MINE, name="openai")]).base_url == MINE.base_url


def test_a_relative_source_starts_at_the_projects_folder(config: Path, tmp_path: Path) -> None:
    replay = EndpointProfile("again", kind="replay", source="runs/first")
    assert resolve("again", own=[replay], folder=tmp_path).source == str(tmp_path / "runs" / "first")
    write(config, '{"endpoints": {"gguf": {"kind": "embedded", "source": "models/x.gguf"}}}')
    assert resolve("gguf").source == str(config / "models" / "x.gguf")


def test_an_unknown_name_gets_the_nearest_and_all_known(config: Path) -> None:
    with pytest.raises(UnknownEndpoint, match=r"no endpoint 'OpenIA'.*Did you mean 'openai'.*Known: embedded, openai"):
        resolve("OpenIA")
    with pytest.raises(UnknownEndpoint) as caught:
        resolve("zzzz")
    assert "Did you mean" not in str(caught.value)
    assert "mine" in UnknownEndpoint("x", profiles([MINE])).known


def test_a_profile_is_saved_changed_and_deleted_and_the_rest_of_the_file_stays(config: Path) -> None:
    assert user_profiles() == {}
    assert delete_profile("mine") is False
    write(config, '{"schema": 1, "theme": "dark", "endpoints": {"other": {"base_url": "http://o/v1"}}}')
    save_profile(MINE)
    save_profile(replace(MINE, concurrency=1))
    assert user_profiles()["mine"] == replace(MINE, concurrency=1)
    document = json.loads(settings_path().read_text(encoding="utf-8"))
    assert document["theme"] == "dark"
    assert set(document["endpoints"]) == {"mine", "other"}
    assert delete_profile("mine") is True
    assert set(user_profiles()) == {"other"}


def test_a_profile_in_place_of_a_built_in_one_is_saved_whole(config: Path) -> None:
    plain = EndpointProfile("vllm", base_url="http://gpu/v1")
    assert plain.concurrency != builtin_profiles()["vllm"].concurrency
    save_profile(plain)
    assert resolve("vllm") == plain
    keyless = EndpointProfile("openai", base_url="http://gpu/v1")
    save_profile(keyless)
    assert resolve("openai") == keyless
    delete_profile("openai")
    assert resolve("openai").api_key == "OPENAI_API_KEY"


def test_no_key_is_ever_written(config: Path) -> None:
    set_session_key("MY_KEY", "correct-horse-battery")
    save_profile(MINE)
    for bad in (
        replace(MINE, api_key=KEY),
        replace(MINE, model=KEY),
        replace(MINE, headers=(("Authorization", f"Bearer {KEY}"),)),
        replace(MINE, base_url=f"https://x:{KEY}@host/v1"),
        replace(MINE, base_url=f"https://host/v1?key={KEY}"),
        replace(MINE, headers=(("X-Team", "correct-horse-battery"),)),
    ):
        with pytest.raises(SettingsError) as caught:
            save_profile(bad)
        assert KEY not in str(caught.value)
    text = settings_path().read_text(encoding="utf-8")
    assert KEY not in text
    assert "correct-horse" not in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "settings.json: not JSON: .*line 1"),
        ("[]", "must be an object"),
        ('{"endpoints": []}', "endpoints: must be an object, but is a list"),
        ('{"endpoints": {"m": {"base_url": "nowhere"}}}', r"settings.json: endpoints\.m\.base_url: must begin with"),
        ('{"endpoints": {"m": {"base_url": "http://h", "retries": -2}}}', r"endpoints\.m\.retries: must be 0 or more"),
        ('{"endpoints": {"m": {"base_url": "http://h", "modle": "x"}}}', "did you mean 'model'"),
        ('{"schema": 9, "endpoints": {}}', "newer JudgeNet"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_left_alone(config: Path, text: str, message: str) -> None:
    write(config, text)
    with pytest.raises(SettingsError, match=message):
        profiles()
    assert settings_path().read_text(encoding="utf-8") == text


def test_a_broken_file_is_not_overwritten(config: Path) -> None:
    write(config, '{"endpoints": {"mine": {')
    with pytest.raises(SettingsError):
        save_profile(MINE)
    assert settings_path().read_text(encoding="utf-8") == '{"endpoints": {"mine": {'


def test_a_file_with_a_byte_order_mark_is_read(config: Path) -> None:
    config.mkdir()
    (config / "settings.json").write_bytes(b"\xef\xbb\xbf" + b'{"endpoints": {"m": {"base_url": "http://h/v1"}}}\r\n')
    assert set(user_profiles()) == {"m"}


@pytest.mark.parametrize(
    ("url", "name", "kind", "key"),
    [
        ("http://localhost:8000/v1", "localhost-8000", "openai", None),
        ("http://[::1]:8000", "--1-8000", "openai", None),
        ("https://gpu.example.org", "gpu.example.org", "openai", None),
        ("https://api.openai.com/v1/", "api.openai.com", "openai", "OPENAI_API_KEY"),
        ("https://openrouter.ai/api/v1", "openrouter.ai", "openai", "OPENROUTER_API_KEY"),
        ("https://api.anthropic.com", "api.anthropic.com", "anthropic", "ANTHROPIC_API_KEY"),
        (
            "https://generativelanguage.googleapis.com",
            "generativelanguage.googleapis.com",
            "gemini",
            "GEMINI_API_KEY",
        ),
        (
            "https://generativelanguage.googleapis.com/v1beta/openai/",
            "generativelanguage.googleapis.com",
            "openai",
            "GEMINI_API_KEY",
        ),
        ("https://me.openai.azure.com", "me.openai.azure.com", "azure", "AZURE_OPENAI_API_KEY"),
        ("https://api.openai.com.evil.example/v1", "api.openai.com.evil.example", "openai", None),
    ],
)
def test_flags_make_a_profile_named_after_the_host(
    config: Path, url: str, name: str, kind: str, key: str | None
) -> None:
    if name.startswith("-"):
        name = "ipv6" + name
    profile = profile_from_flags(url, "m")
    assert (profile.name, profile.kind, profile.api_key, profile.base_url) == (name, kind, key, url)
    assert profile.model == "m"


def test_flags_override_what_is_usual(config: Path) -> None:
    profile = profile_from_flags(
        "http://h:1/v1", "m", "MY_KEY", kind="anthropic", concurrency=3, requests_per_minute=60.0, retries=0
    )
    assert profile == EndpointProfile(
        "h-1",
        kind="anthropic",
        base_url="http://h:1/v1",
        api_key="MY_KEY",
        model="m",
        concurrency=3,
        requests_per_minute=60.0,
        retries=0,
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("api.openai.com",), "--base-url: the address must begin with http"),
        (("http://h", "m", KEY), "looks like the key itself"),
        ((f"http://h/v1?key={KEY}",), "must end before the '\\?'"),
    ],
)
def test_bad_flags_are_refused_without_showing_a_key(config: Path, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(SettingsError, match=message) as caught:
        profile_from_flags(*arguments)
    assert KEY not in str(caught.value)


def test_a_negative_limit_is_refused(config: Path) -> None:
    with pytest.raises(SettingsError, match="concurrency: must be 1 or more, but is -1"):
        profile_from_flags("http://h", concurrency=-1)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://localhost:11434/v1"),
        ("127.0.0.1", "http://127.0.0.1:11434/v1"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        (":8080", "http://localhost:8080/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("box.local", "http://box.local:11434/v1"),
        ("http://box", "http://box:80/v1"),
        ("https://box.example", "https://box.example:443/v1"),
        ("https://box.example:8443/ollama/", "https://box.example:8443/ollama/v1"),
        ("[::1]:7000", "http://[::1]:7000/v1"),
        ("[::]", "http://[::1]:11434/v1"),
        ('"box:1234"', "http://box:1234/v1"),
    ],
)
def test_ollamas_host_in_all_its_forms(host: str, url: str) -> None:
    assert ollama_url(host) == url
