"""The user's endpoint profiles, and those that need no set-up.

A project's own profiles come before the user's, and the user's before the built-in ones. The user's stand in
``settings.json`` in the configuration folder, to be edited by hand or by ``judgenet endpoint``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from judgenet.core.documents import DocumentError, Fields, parse, to_text
from judgenet.core.endpoints import (
    EndpointKind,
    EndpointProfile,
    ProfileError,
    check_profile,
    profile_from_json,
    profile_to_json,
    url_problem,
)
from judgenet.store.files import FileError, atomic_write, read_text
from judgenet.store.secrets import SecretError, find_variable, key_in

SETTINGS_SCHEMA = 1
CONFIG_VARIABLE = "JUDGENET_CONFIG_DIR"

LOCAL_CONCURRENCY = 1
"""A desktop server answers on one slot by default; more requests would only wait in its queue."""

# The GA version that first takes a reply schema.
_AZURE_API_VERSION = "2024-10-21"

_ADDRESS_VARIABLES = {
    "openai": "the environment variable OPENAI_BASE_URL (or OPENAI_API_BASE)",
    "azure": "the environment variable AZURE_OPENAI_ENDPOINT (https://NAME.openai.azure.com)",
    "ollama": "the environment variable OLLAMA_HOST",
}

_AZURE_HOSTS = ".openai.azure.com"
_PROVIDER_KEYS = {
    "api.openai.com": ("OPENAI_API_KEY",),
    "openrouter.ai": ("OPENROUTER_API_KEY",),
    "api.anthropic.com": ("ANTHROPIC_API_KEY",),
    "generativelanguage.googleapis.com": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    _AZURE_HOSTS: ("AZURE_OPENAI_API_KEY",),
}
"""By host (Azure: its end): the names of the keys that are that provider's own."""


class SettingsError(ValueError):
    """Settings that cannot be read, written or used; the message says where and how to mend it."""


class UnknownEndpoint(SettingsError):
    """No endpoint has this name. ``known`` are the names there are."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.known = tuple(known)
        near = get_close_matches(name.lower(), self.known, 1, 0.5)
        super().__init__(
            f"There is no endpoint {name!r}."
            + (f" Did you mean {near[0]!r}?" if near else "")
            + f" Known: {', '.join(self.known)}. Add one with: judgenet endpoint add NAME --base-url URL"
        )


def config_folder() -> Path:
    """The folder of the user's settings: ``JUDGENET_CONFIG_DIR``, or the system's place for them."""
    chosen = os.environ.get(CONFIG_VARIABLE, "").strip()
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_config_path

    return user_config_path("judgenet", appauthor=False)


def settings_path() -> Path:
    """The user's settings file; it need not exist."""
    return config_folder() / "settings.json"


def builtin_profiles(folder: Path | None = None) -> dict[str, EndpointProfile]:
    """Profiles that need no set-up, by name. Addresses follow the variables that each provider's own tools read,
    from the environment or from ``.env`` in ``folder``."""

    def variable(*names: str) -> str | None:
        return next((value for name in names if (value := find_variable(name, folder))), None)

    try:
        organisation = variable("OPENAI_ORG_ID")
    except SecretError as error:
        raise SettingsError(str(error)) from None
    google_name = (
        "GOOGLE_API_KEY" if variable("GOOGLE_API_KEY") and not variable("GEMINI_API_KEY") else "GEMINI_API_KEY"
    )
    built_in = (
        EndpointProfile("embedded", kind="embedded", concurrency=LOCAL_CONCURRENCY),
        EndpointProfile(
            "openai",
            base_url=variable("OPENAI_BASE_URL", "OPENAI_API_BASE") or "https://api.openai.com/v1",
            api_key="OPENAI_API_KEY",
            headers=(("OpenAI-Organization", organisation),) if organisation else (),
        ),
        EndpointProfile(
            "anthropic", kind="anthropic", base_url="https://api.anthropic.com", api_key="ANTHROPIC_API_KEY"
        ),
        EndpointProfile(
            "gemini", kind="gemini", base_url="https://generativelanguage.googleapis.com", api_key=google_name
        ),
        EndpointProfile(
            "azure",
            kind="azure",
            base_url=variable("AZURE_OPENAI_ENDPOINT") or "",
            api_key="AZURE_OPENAI_API_KEY",
            api_version=variable("AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION") or _AZURE_API_VERSION,
        ),
        EndpointProfile("openrouter", base_url="https://openrouter.ai/api/v1", api_key="OPENROUTER_API_KEY"),
        EndpointProfile("ollama", base_url=ollama_url(variable("OLLAMA_HOST") or ""), concurrency=LOCAL_CONCURRENCY),
        EndpointProfile("lmstudio", base_url="http://localhost:1234/v1", concurrency=LOCAL_CONCURRENCY),
        EndpointProfile("vllm", base_url="http://localhost:8000/v1", concurrency=64),
        EndpointProfile("llamacpp", base_url="http://localhost:8080/v1", concurrency=LOCAL_CONCURRENCY),
    )
    return {profile.name: profile for profile in built_in}


def user_profiles() -> dict[str, EndpointProfile]:
    """The profiles of the settings file, by name; empty where there is none. One with the name of a built-in
    profile need only say what differs from it.

    :raises SettingsError: for a file or profile that cannot be used.
    """
    return _user_profiles(builtin_profiles())


def profiles(own: Iterable[EndpointProfile] = (), folder: Path | None = None) -> dict[str, EndpointProfile]:
    """All profiles by name: ``own`` (the project's) over the user's over the built-in ones.

    ``folder`` is the project's: ``.env`` is looked for there, and a relative ``source`` of ``own`` starts there.

    :raises SettingsError: where the settings file cannot be used.
    """
    known = builtin_profiles(folder)
    known |= _user_profiles(known)
    for profile in own:
        if profile.source and folder is not None:
            profile = replace(profile, source=str(folder / profile.source))
        known[profile.name] = profile
    return known


def resolve(name: str, own: Iterable[EndpointProfile] = (), folder: Path | None = None) -> EndpointProfile:
    """The profile of that name, ready for use (see :func:`profiles`).

    :raises UnknownEndpoint: where there is none; the message names the known ones and the nearest.
    :raises SettingsError: where it lacks something, or the settings file cannot be used.
    """
    known = profiles(own, folder)
    if name not in known:
        raise UnknownEndpoint(name, known)
    if problem := profile_problem(known[name]):
        raise SettingsError(problem)
    return known[name]


def profile_problem(profile: EndpointProfile) -> str | None:
    """What a profile still lacks before it can be used, or ``None``."""
    try:
        check_profile(profile)
    except ProfileError as error:
        variable = _ADDRESS_VARIABLES.get(profile.name)
        hint = f". The address comes from {variable}" if variable and error.path.endswith("base_url") else ""
        return f"{error}{hint}"
    return None


def save_profile(profile: EndpointProfile) -> None:
    """Writes a profile into the settings file, in place of one with its name. Everything else there stays.

    :raises SettingsError: for a profile that cannot be used, or a file that cannot be read or written.
    """
    try:
        record = profile_to_json(profile, full=profile.name in builtin_profiles())
    except ProfileError as error:
        raise SettingsError(str(error)) from None
    path = settings_path()
    document = _document(path)
    document.setdefault("endpoints", {})[profile.name] = record
    _write(path, document)


def delete_profile(name: str) -> bool:
    """Takes a profile out of the settings file; ``False`` where it was not there. Built-in ones stay.

    :raises SettingsError: where the file cannot be read or written.
    """
    path = settings_path()
    document = _document(path)
    if document.get("endpoints", {}).pop(name, None) is None:
        return False
    _write(path, document)
    return True


def profile_from_flags(
    base_url: str,
    model: str | None = None,
    api_key: str | None = None,
    *,
    kind: EndpointKind | None = None,
    concurrency: int | None = None,
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    retries: int | None = None,
) -> EndpointProfile:
    """A profile for ``--base-url URL --model M [--api-key-env NAME]``; its name is the host (and port).

    Kind and key name of the well-known hosts are filled in where they are not given. No other host is ever sent
    a key that was not named for it.

    :raises SettingsError: for an address, name or limit that cannot be used.
    """
    problem = url_problem(base_url)
    if problem:
        raise SettingsError(f"--base-url: the address {problem}")
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    label = "ipv6" + host.replace(":", "-") if ":" in host else host
    usual_kind, usual_key = _usual(host, parts.path)
    plain = EndpointProfile(f"{label}-{parts.port}" if parts.port else label)
    profile = replace(
        plain,
        kind=kind or usual_kind,
        base_url=base_url,
        api_key=api_key if api_key is not None else usual_key,
        model=model,
        concurrency=plain.concurrency if concurrency is None else concurrency,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
        retries=plain.retries if retries is None else retries,
        api_version=_AZURE_API_VERSION if (kind or usual_kind) == "azure" else None,
    )
    try:
        check_profile(profile)
    except ProfileError as error:
        raise SettingsError(str(error)) from None
    return profile


def ollama_url(host: str) -> str:
    """The OpenAI-style address of an Ollama server from ``OLLAMA_HOST``, which may lack scheme, host or port and
    may name the server's listening address."""
    scheme, _, rest = host.strip().strip("\"'").rpartition("://")
    address, _, path = rest.partition("/")
    try:
        parts = urlsplit(f"//{address}")
        name, port = parts.hostname or "localhost", parts.port
    except ValueError:
        return f"{scheme or 'http'}://{address}"  # refused where it is used, with this text in view
    # Where a server listens on all addresses, a client on Windows cannot reach it by that address.
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(name, f"[{name}]" if ":" in name else name)
    port = port or {"http": 80, "https": 443}.get(scheme, 11434)
    return f"{scheme or 'http'}://{name}:{port}/" + "".join(f"{part}/" for part in path.split("/") if part) + "v1"


def provider_keys(address: str) -> tuple[str, ...]:
    """Names of the keys that belong to the provider at an address (scheme, host and port): the usual one first. Empty
    for every other address, and for one that is not encrypted."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ()
    if parts.scheme != "https" or port not in (None, 443):
        return ()
    if host.endswith(_AZURE_HOSTS):
        return _PROVIDER_KEYS[_AZURE_HOSTS]
    return _PROVIDER_KEYS.get(host, ())


def _usual(host: str, path: str) -> tuple[EndpointKind, str | None]:
    """Kind and key name of a host. Anthropic and Google answer in OpenAI's form too, at addresses of their own."""
    key = next(iter(provider_keys(f"https://{host}")), None) if ":" not in host else None
    if host == "api.anthropic.com":
        return "anthropic", key
    if host == "generativelanguage.googleapis.com":
        return ("openai" if "/openai" in path else "gemini"), key
    if host.endswith(_AZURE_HOSTS):
        return ("openai" if "/openai/v1" in path else "azure"), key
    return "openai", key


def _user_profiles(built_in: Mapping[str, EndpointProfile]) -> dict[str, EndpointProfile]:
    path = settings_path()
    by_name: dict[str, EndpointProfile] = {}
    try:
        records = Fields(_document(path)).inner("endpoints")
        for name, record in records.members.items():
            profile = profile_from_json(name, record, records.at(name), base=built_in.get(name))
            by_name[name] = replace(profile, source=str(path.parent / profile.source)) if profile.source else profile
    except DocumentError as error:
        raise SettingsError(f"{path}: {error}") from None
    return by_name


def _document(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {"schema": SETTINGS_SCHEMA, "endpoints": {}}
    try:
        fields = Fields(parse(read_text(path)))
        schema = fields.whole("schema", SETTINGS_SCHEMA)
        fields.inner("endpoints")
    except FileError as error:
        raise SettingsError(str(error)) from None
    except DocumentError as error:
        raise SettingsError(f"{path}: {error}. Mend it by hand, or move the file away.") from None
    if schema > SETTINGS_SCHEMA:
        raise SettingsError(
            f"{path} was written by a newer JudgeNet (settings version {schema}; this one knows {SETTINGS_SCHEMA}). "
            f"Update JudgeNet, or choose another folder with {CONFIG_VARIABLE}."
        )
    return fields.members


def _write(path: Path, document: dict[str, Any]) -> None:
    try:
        text = to_text(document)
        if name := key_in(text):
            raise SettingsError(f"The settings were not saved: the key {name} itself stands in them. Take it out.")
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, text)
    except (DocumentError, OSError) as error:
        raise SettingsError(f"The settings were not saved: {error}") from None
