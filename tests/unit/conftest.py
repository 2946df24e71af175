"""A clean place for settings and keys: nothing of the machine's own is seen or touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest

from judgenet.store import secrets
from tests.fakes.keyrings import MemoryKeyring

VARIABLES = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_API_BASE",
    "OPENAI_ORG_ID",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_ENDPOINT",
    "AZURE_OPENAI_API_VERSION",
    "OPENAI_API_VERSION",
    "OPENROUTER_API_KEY",
    "OLLAMA_HOST",
)


@pytest.fixture
def key_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryKeyring]:
    """A working key store in memory; no key of this machine is visible."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for state, empty in (("_session", {}), ("_seen", {}), ("_keyring_failure", None), ("_keyring_hangs", False)):
        monkeypatch.setattr(secrets, state, empty)
    before = keyring.get_keyring()
    backend = MemoryKeyring()
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(before)


@pytest.fixture
def config(key_store: MemoryKeyring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of settings."""
    folder = tmp_path / "config"
    monkeypatch.setenv("JUDGENET_CONFIG_DIR", str(folder))
    return folder
