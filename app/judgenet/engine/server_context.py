"""The context length that a server reports, and a warning where a run's prompts need more.

Some servers cut long prompts silently: Ollama holds 4,096 tokens by default on most computers and takes
another length with a request only through its own API (docs.ollama.com, "Context length"). The places are those of the
servers' documentation: ``max_model_len`` in vLLM's list of models, ``context_length`` of a loaded model in Ollama's
``/api/ps``, ``n_ctx`` in llama.cpp's ``/props``, ``loaded_context_length`` in LM Studio's ``/api/v0/models``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from judgenet.core.endpoint_extra import asked_context
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import NetworkSpec, asked_settings, stand_ins
from judgenet.core.pairs import Pair
from judgenet.core.plan import ContextNeed, context_needs, pair_tokens
from judgenet.engine.endpoints import key_finder
from judgenet.engine.ports import EndpointState
from judgenet.store.secrets import SecretError

log = logging.getLogger(__name__)

SHORTEST_CONTEXT = 4_096
"""Servers are not queried where a prompt and its answer need no more: no server of today has a shorter context."""

_LONGEST_WAIT_S = 3.0
_CHECKS, _BETWEEN_CHECKS_S = 24, 5.0
"""How often, and how far apart, servers are queried again during a run: Ollama reports a model's context only once the
model is loaded."""
_MOST_PAIRS = 20_000
"""How many pairs are measured to find the longest."""

_LENGTHS = (
    "max_model_len", "loaded_context_length", "context_length", "context_window", "max_context_length",
    "max_input_tokens", "inputTokenLimit", "n_ctx",
)  # fmt: skip
"""Names of the context length in the model lists of different servers."""

_OLLAMA = "library"
_LLAMA_CPP = "llamacpp"
_LM_STUDIO = "organization_owner"
"""The value of ``owned_by`` in the model lists of these servers."""


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _entry(listed: object, model: str) -> Mapping[str, Any]:
    """The entry of a model in a server's list; empty where it is not listed."""
    entries = listed
    if isinstance(listed, dict):
        entries = listed.get("data") if isinstance(listed.get("data"), list) else listed.get("models")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            names = {str(entry.get(name, "")).removeprefix("models/") for name in ("id", "name", "model")}
            if model in names or f"{model}:latest" in names:
                return entry
    return {}


def listed_context(listed: object, model: str) -> int | None:
    """The context length of a model in a server's list of models, in tokens; ``None`` where it is not given."""
    entry = _entry(listed, model)
    meta = entry.get("meta")
    for place in (entry, meta if isinstance(meta, dict) else {}):
        for name in _LENGTHS:
            if (context := _count(place.get(name))) is not None:
                return context
    return None


def props_context(props: object) -> int | None:
    """The context length of llama.cpp's server from its ``/props``, in tokens."""
    settings = props.get("default_generation_settings") if isinstance(props, dict) else None
    return _count(settings.get("n_ctx")) if isinstance(settings, dict) else None


def _is_cloud(profile: EndpointProfile) -> bool:
    """Whether the address is that of a large provider, which refuses a prompt that is too long with a clear error."""
    host = urlsplit(profile.base_url).hostname or ""
    return host.endswith((".openai.com", "openrouter.ai", ".googleapis.com", ".mistral.ai", ".groq.com"))


async def server_context(profile: EndpointProfile, model: str, folder: Path | None) -> tuple[int | None, bool]:
    """The context length of a model on a self-hosted server, in tokens (``None`` where the server does not report it),
    and whether the server is Ollama, which reports it only for a loaded model. This costs nothing. The endpoint must
    be approved."""
    if profile.kind not in ("openai", "ollama") or _is_cloud(profile):
        return None, False
    # The HTTP libraries load slowly, and little needs them.
    from judgenet.engine.exchange import Exchange
    from judgenet.engine.providers import provider_for
    from judgenet.engine.providers.errors import Fault
    from judgenet.engine.providers.openai import OLLAMA_PORT

    provider = provider_for(profile)
    address = provider.models_url()
    if address is None:
        return None, False
    parts = urlsplit(address)
    root = f"{parts.scheme}://{parts.netloc}"
    exchange = Exchange(profile, provider)

    async def read(place: str) -> object:
        answer = await exchange.get(place)
        return None if isinstance(answer, Fault) else answer

    try:
        key = await asyncio.to_thread(key_finder(profile, folder))
        exchange.set_key(key or "")
        if profile.kind == "ollama":
            return listed_context(await read(address.removesuffix("tags") + "ps"), model), True
        listed = await read(address)
        owner = _entry(listed, model).get("owned_by")
        if owner == _OLLAMA or parts.port == OLLAMA_PORT:
            return listed_context(await read(f"{root}/api/ps"), model), True
        if owner == _LLAMA_CPP:
            return props_context(await read(f"{root}/props")) or listed_context(listed, model), False
        if owner == _LM_STUDIO:
            return listed_context(await read(f"{root}/api/v0/models"), model), False
        return listed_context(listed, model), False
    except SecretError:
        return None, False
    finally:
        await exchange.close()


ServerKind = Literal["", "ollama", "ollama_asked"]
"""Whether a server is Ollama, used through its OpenAI-compatible API (``ollama``) or its own (``ollama_asked``), where
a request sets the context length."""


def context_words(
    endpoint: str, model: str, context: int, need: ContextNeed, *, server: ServerKind = "", asked: bool = False
) -> str:
    """A warning that a run's longest prompt and its answer do not fit a model's context; empty where they do.
    ``asked``: the context is the one that requests ask for, not the one that the server reports."""
    if need.prompt + need.answer <= context:
        return ""
    needed = f"the longest prompt of this run has about {need.prompt:,} tokens, and its answer may have {need.answer:,}"
    what = "Prompts may be cut or refused." if need.prompt > context else "Calls may be refused, or answers cut."
    size = 1 << (need.prompt + need.answer - 1).bit_length()
    how = {
        "": f"Start the server with a longer context: one of {size:,} tokens.",
        "ollama": f"Choose the API type Ollama for the endpoint, with a context length of {size:,} tokens, or start "
        f"the server with a longer context: OLLAMA_CONTEXT_LENGTH={size} ollama serve.",
        "ollama_asked": f"Set the endpoint's context length to {size:,} tokens, if the model and the memory allow it.",
    }[server]
    source = "requests ask for" if asked else "the server reports"
    return (
        f"{endpoint}, {model}: {source} a context of {context:,} tokens; {needed}. {what} {how} "
        "Or lower max_tokens or reasoning."
    )


def longest_pair(pairs: Iterable[Pair]) -> int:
    """The tokens of the longest pair's texts, among the first 20,000."""

    def letters(pair: Pair) -> int:
        return len(pair.question) + len(pair.response_a) + len(pair.response_b)

    longest = max(islice(pairs, _MOST_PAIRS), key=letters, default=None)
    return 0 if longest is None else pair_tokens(longest)


def _asked_contexts(spec: NetworkSpec, profiles: Mapping[str, EndpointProfile]) -> dict[tuple[str, str], int]:
    """The shortest context that the calls of a network request from Ollama, by endpoint and model."""
    shortest: dict[tuple[str, str], int] = {}
    for settings in asked_settings(spec):
        for asked in (settings, *stand_ins(settings)):
            profile = profiles.get(asked.endpoint or "")
            if profile is None or profile.kind != "ollama":
                continue
            key = (profile.name, asked.model or profile.model or "")
            if (context := asked_context(asked)) is not None:
                shortest[key] = min(context, shortest.get(key, context))
    return shortest


class ContextWatch:
    """Checks whether a run's prompts fit the context of each model, and reports where they do not.

    ``folder`` is the project's, where keys are looked for. The endpoints must be approved.
    """

    def __init__(
        self, profiles: Mapping[str, EndpointProfile], folder: Path | None, on_state: Callable[[EndpointState], None]
    ) -> None:
        self._profiles = profiles
        self._folder = folder
        self._on_state = on_state
        self._needs: dict[tuple[str, str], ContextNeed] = {}
        self._asked: dict[tuple[str, str], int] = {}
        self._again: asyncio.Task[None] | None = None

    async def begin(self, spec: NetworkSpec, pairs: Iterable[Pair]) -> None:
        """Checks before the first call, for a few seconds at most. Where the context is reported only for a loaded
        model, the check is repeated during the run, until :meth:`end`."""
        longest = await asyncio.to_thread(longest_pair, pairs)
        self._asked = _asked_contexts(spec, self._profiles)
        self._needs = {
            key: need
            for key, need in context_needs(spec, longest).items()
            if need.prompt + need.answer > min(SHORTEST_CONTEXT, self._asked.get(key, SHORTEST_CONTEXT))
            and key[0] in self._profiles
        }
        self._check_requested()
        try:
            async with asyncio.timeout(_LONGEST_WAIT_S):
                await self._check(first=True)
        except TimeoutError:
            return
        if self._needs:
            self._again = asyncio.get_running_loop().create_task(self._check_again())

    def end(self) -> None:
        """Ends the checks."""
        if self._again is not None:
            self._again.cancel()

    def _check_requested(self) -> None:
        """Reports where requests themselves ask for a context that is too short."""
        for (endpoint, model), context in self._asked.items():
            need = self._needs.get((endpoint, model))
            words = need and context_words(endpoint, model, context, need, server="ollama_asked", asked=True)
            if words:
                del self._needs[endpoint, model]
                self._on_state(EndpointState(endpoint, "learned", words))

    async def _check(self, *, first: bool = False) -> None:
        for (endpoint, model), need in list(self._needs.items()):
            if first and (endpoint, model) in self._asked:
                continue  # a model that is loaded now is loaded anew by the first request
            try:
                context, ollama = await server_context(self._profiles[endpoint], model, self._folder)
            except Exception:  # what a server may answer: a run does not depend on it
                log.exception("the context of %s at %s cannot be read", model, endpoint)
                context, ollama = None, False
            if context is None and ollama:
                continue
            del self._needs[endpoint, model]
            own_api = self._profiles[endpoint].kind == "ollama"
            server: ServerKind = "ollama_asked" if own_api else "ollama" if ollama else ""
            words = "" if context is None else context_words(endpoint, model, context, need, server=server)
            if words:
                self._on_state(EndpointState(endpoint, "learned", words))

    async def _check_again(self) -> None:
        for _ in range(_CHECKS):
            await asyncio.sleep(_BETWEEN_CHECKS_S)
            await self._check()
            if not self._needs:
                return
