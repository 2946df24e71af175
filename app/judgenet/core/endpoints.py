"""Endpoint profiles: how an endpoint is reached, without any secret."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any, Literal
from urllib.parse import urlsplit

from judgenet.core.documents import DocumentError, Fields
from judgenet.core.keys import key_name_problem, looks_like_key

EndpointKind = Literal["openai", "azure", "anthropic", "gemini", "embedded", "replay"]

DEFAULT_URLS: dict[EndpointKind, str] = {
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
"""Addresses of the kinds that have one place only."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
_SECRET_HEADER = re.compile(r"^(?:proxy-)?authorization$|^cookie$|(?:^|[-_])(?:api[-_]?key|key|token|secret)$", re.I)


class ProfileError(DocumentError):
    """A profile that cannot be used. The message says which field and how to mend it, and repeats no secret."""


@dataclass(frozen=True, slots=True)
class EndpointProfile:
    """How to reach an endpoint. Holds no secret: ``api_key`` is the *name* under which the key is found
    (an environment variable or an entry of the OS keyring).

    Times are seconds. ``requests_per_minute`` and ``tokens_per_minute`` of ``None`` set no limit.
    ``idle_timeout`` is the longest silence within an answer, ``deadline`` the longest that one attempt may
    take, ``retries`` the number of further attempts after the first. ``patience`` is how long an endpoint that answered
    before, and is not reached any more, is waited for before the run stops.
    """

    name: str
    kind: EndpointKind = "openai"
    base_url: str = ""
    api_key: str | None = None
    model: str | None = None
    concurrency: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    connect_timeout: float = 15.0
    idle_timeout: float = 120.0
    deadline: float = 600.0
    retries: int = 6
    patience: float = 1800.0
    headers: tuple[tuple[str, str], ...] = ()
    structured: Literal["auto", "never"] = "auto"
    api_version: str | None = None
    source: str | None = None
    """Replay: the recorded run (folder, store or calls file). Embedded: path of another GGUF."""


PROFILE_FIELDS = tuple(field.name for field in fields(EndpointProfile) if field.name != "name")


def check_profile(profile: EndpointProfile, path: str = "") -> None:
    """Raises :class:`ProfileError` for the first thing wrong with a profile. ``path`` is where it stands."""

    def wrong(field: str, problem: str) -> ProfileError:
        return ProfileError(f"{path}.{field}" if path else f"{profile.name}.{field}", problem)

    if not _NAME.fullmatch(profile.name):
        # The name is not repeated: somebody may have put the key there.
        raise ProfileError(path, "an endpoint's name has letters, digits, '.', '_' and '-', at most 64 of them")
    if looks_like_key(profile.name):
        raise ProfileError(path, "an endpoint's name must not be a key")
    if profile.kind in ("embedded", "replay"):
        if profile.base_url:
            raise wrong("base_url", f"an endpoint of kind {profile.kind} has no address; leave it out")
        if profile.kind == "replay" and not profile.source:
            raise wrong("source", "is missing: a replay needs the recorded run (a folder, store or calls file)")
    elif problem := url_problem(profile.base_url):
        raise wrong("base_url", problem)
    if profile.api_key is not None and (problem := key_name_problem(profile.api_key)):
        raise wrong("api_key", problem)
    for text_field in ("model", "api_version", "source"):
        text = getattr(profile, text_field)
        if text is not None and looks_like_key(text):
            raise wrong(text_field, "holds what looks like an API key")
    if profile.concurrency < 1:
        raise wrong("concurrency", f"must be 1 or more, but is {profile.concurrency}")
    if profile.retries < 0:
        raise wrong("retries", f"must be 0 or more, but is {profile.retries}")
    if not 0 <= profile.patience < float("inf"):
        raise wrong("patience", f"must be 0 seconds or more, but is {profile.patience}")
    for limit in ("requests_per_minute", "tokens_per_minute"):
        value = getattr(profile, limit)
        if value is not None and not 0 < value < float("inf"):
            raise wrong(limit, f"must be more than 0, but is {value}; leave it out for no limit")
    for time in ("connect_timeout", "idle_timeout", "deadline"):
        value = getattr(profile, time)
        if not 0 < value < float("inf"):
            raise wrong(time, f"must be more than 0 seconds, but is {value}")
    names = [header.lower() for header, _ in profile.headers]
    if len(set(names)) < len(names):
        raise wrong("headers", "names a header twice (their case does not matter)")
    for header, value in profile.headers:
        if not _HEADER_NAME.fullmatch(header):
            raise wrong("headers", f"{header!r} is no name of an HTTP header")
        if not _HEADER_VALUE.fullmatch(value):
            raise wrong(f"headers.{header}", "must be one line of ASCII text")
        if _SECRET_HEADER.search(header) or looks_like_key(value):
            raise wrong(f"headers.{header}", "a key does not belong into a profile; give its name as 'api_key'")


def url_problem(url: str) -> str | None:
    """Why a text cannot be an endpoint's address, or ``None``. The answer repeats no password or key in it."""
    if not url:
        return "is missing: give the address, such as https://api.openai.com/v1"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is no valid address (host or port); it looks like https://api.openai.com/v1"
    if parts.username is not None or parts.password is not None:
        return "holds a user name or password; leave them out and give the key's name as 'api_key'"
    if parts.query or parts.fragment:
        return "must end before the '?' or '#'; Azure's API version has a field of its own, 'api_version'"
    if parts.scheme not in ("http", "https"):
        return "must begin with http:// or https://"
    if not host or any(c.isspace() or ord(c) < 32 for c in url):
        return "has no host, or white space in it; it looks like https://api.openai.com/v1"
    if looks_like_key(url):
        return "holds what looks like an API key"
    return None


def profile_to_json(profile: EndpointProfile, *, full: bool = False) -> dict[str, Any]:
    """The profile as a JSON object without its name; fields at their default are left out unless ``full``.

    :raises ProfileError: for a profile that :func:`check_profile` refuses, so that no key is ever written.
    """
    check_profile(profile)
    plain = _members(EndpointProfile(profile.name))
    return {name: value for name, value in _members(profile).items() if full or name == "kind" or value != plain[name]}


def profile_from_json(
    name: str,
    record: object,
    path: str = "",
    *,
    base: EndpointProfile | None = None,
    refuse_unknown: bool = True,
) -> EndpointProfile:
    """The inverse of :func:`profile_to_json`. ``path`` is where the record stands, for messages. Fields that the
    record does not name come from ``base``; those that it gives as ``null`` have their default.

    :raises ProfileError: for a field of the wrong type, a value that is not allowed, or (with
        ``refuse_unknown``) a field that does not exist.
    """
    try:
        given = Fields(record, path or name)
        if refuse_unknown:
            given.refuse_unknown(PROFILE_FIELDS)
        if base is not None:
            given.members = _members(base) | given.members
        plain = EndpointProfile(name)
        kind: EndpointKind = given.choice("kind", EndpointKind, plain.kind)
        profile = EndpointProfile(
            name=name,
            kind=kind,
            base_url=given.text("base_url", "") or DEFAULT_URLS.get(kind, ""),
            api_key=given.optional_text("api_key"),
            model=given.optional_text("model"),
            concurrency=given.whole("concurrency", plain.concurrency),
            requests_per_minute=given.number("requests_per_minute"),
            tokens_per_minute=given.number("tokens_per_minute"),
            connect_timeout=given.number("connect_timeout", plain.connect_timeout),
            idle_timeout=given.number("idle_timeout", plain.idle_timeout),
            deadline=given.number("deadline", plain.deadline),
            retries=given.whole("retries", plain.retries),
            patience=given.number("patience", plain.patience),
            headers=tuple(sorted(given.text_map("headers").items())),
            structured=given.choice("structured", Literal["auto", "never"], plain.structured),
            api_version=given.optional_text("api_version"),
            source=given.optional_text("source"),
        )
    except DocumentError as error:
        raise ProfileError(error.path, error.problem) from None
    check_profile(profile, path)
    return profile


def _members(profile: EndpointProfile) -> dict[str, Any]:
    members = {name: getattr(profile, name) for name in PROFILE_FIELDS}
    members["headers"] = dict(profile.headers)
    return members
