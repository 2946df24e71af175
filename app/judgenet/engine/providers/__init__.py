"""The chat APIs, one module each. They build requests and read answers; nothing is sent here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgenet.core.endpoints import EndpointProfile
from judgenet.engine.providers.anthropic import Anthropic
from judgenet.engine.providers.common import Provider
from judgenet.engine.providers.gemini import Gemini
from judgenet.engine.providers.ollama import Ollama
from judgenet.engine.providers.openai import Azure, OpenAI


def provider_for(profile: EndpointProfile, extra: Mapping[str, Any] | None = None, *, thinks: bool = True) -> Provider:
    """The provider of a profile. ``extra`` are fields to put into every request; ``thinks`` is false where the model
    is known not to think.

    :raises ValueError: for a kind that is not asked over HTTP by its address.
    """
    fields = dict(extra or {})
    if profile.kind == "openai":
        return OpenAI(profile.base_url, fields, thinks=thinks)
    if profile.kind == "azure":
        return Azure(profile.base_url, profile.api_version, fields)
    if profile.kind == "anthropic":
        return Anthropic(profile.base_url, fields)
    if profile.kind == "gemini":
        return Gemini(profile.base_url, fields)
    if profile.kind == "ollama":
        return Ollama(profile.base_url, fields)
    raise ValueError(f"{profile.name}: an endpoint of kind {profile.kind} is not reached by an address")
