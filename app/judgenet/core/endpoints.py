"""Endpoint profiles: how an endpoint is reached, without any secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from judgenet.core.documents import DocumentError, Fields
from judgenet.core.extra_fields import EXTRA, context_problem
from judgenet.core.keys import key_name_problem, looks_like_key
from judgenet.core.values import Codec, faults_of, member, read, write

EndpointKind = Literal["openai", "azure", "anthropic", "gemini", "ollama", "embedded", "replay"]

DEFAULT_URLS: dict[EndpointKind, str] = {
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
    "ollama": "http://localhost:11434",
}
"""Addresses of the kinds that have one place only, or a usual one."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
_SECRET_HEADER = re.compile(r"^(?:proxy-)?authorization$|^cookie$|(?:^|[-_])(?:api[-_]?key|key|token|secret)$", re.I)


_NO_LIMIT = "; leave it out for no limit"


def _read_headers(value: Any, path: str, _strict: bool) -> tuple[tuple[str, str], ...]:
    fields = Fields(value, path)
    return tuple(sorted((header, fields.text(header)) for header in fields.members))


_HEADERS = Codec(_read_headers, dict, {"type": "object", "additionalProperties": {"type": "string"}})


class ProfileError(DocumentError):
    """A profile that cannot be used. The message says which field and how to mend it, and repeats no secret."""


@dataclass(frozen=True, slots=True)
class EndpointProfile:
    """How to reach an endpoint. Holds no secret: ``api_key`` is the *name* under which the key is found
    (an environment variable or an entry of the OS keyring).

    Times are seconds. ``requests_per_minute`` and ``tokens_per_minute`` of ``None`` set no limit.
    ``idle_timeout`` is the longest silence within an answer, ``deadline`` the longest that one attempt may
    take, ``retries`` the number of further attempts after the first. ``patience`` is how long an endpoint that answered
    before, and is not reached any more, is waited for before the run stops. ``extra`` are further fields of every
    request, as canonical JSON text (:mod:`judgenet.core.extra_fields`); a network's own ones go over them.
    ``context_length`` is the length of the context in tokens that a server of kind ``ollama`` is to load a model with.
    """

    name: str = member(written="never")
    kind: EndpointKind = "openai"
    base_url: str = member("", written="changed", says="The address; some kinds have one of their own.")
    api_key: str | None = member(None, says="The name under which the key is found, never the key.")
    model: str | None = member(None, says="The model that is asked where the network names none.")
    concurrency: int = member(16, written="changed", at_least=1, says="The most calls at once.")
    requests_per_minute: float | None = member(None, above=0, hint=_NO_LIMIT)
    tokens_per_minute: float | None = member(None, above=0, hint=_NO_LIMIT)
    connect_timeout: float = member(15.0, written="changed", above=0, unit=" seconds")
    idle_timeout: float = member(
        120.0, written="changed", above=0, unit=" seconds", says="The longest silence within an answer."
    )
    deadline: float = member(600.0, written="changed", above=0, unit=" seconds", says="The longest time of an attempt.")
    retries: int = member(6, written="changed", at_least=0, says="Further attempts after the first.")
    patience: float = member(
        1800.0, written="changed", at_least=0, unit=" seconds", says="How long an endpoint out of reach is waited for."
    )
    headers: tuple[tuple[str, str], ...] = member((), written="changed", codec=_HEADERS)
    extra: str | None = member(None, codec=EXTRA, says="Further fields of every request to this endpoint.")
    context_length: int | None = member(
        None, at_least=1, hint="; leave it out for the server's own", says="Ollama: the context of a model, in tokens."
    )
    structured: Literal["auto", "never"] = member("auto", written="changed")
    api_version: str | None = None
    source: str | None = None
    """Replay: the recorded run (folder, store or calls file). Embedded: path of another GGUF."""

    def faults(self) -> Iterator[tuple[str, str]]:
        """What is wrong with it, by member; empty for the whole. Repeats no secret."""
        if problem := _name_problem(self.name):
            yield "", problem
        if self.kind in ("embedded", "replay"):
            if self.base_url:
                yield "base_url", f"an endpoint of kind {self.kind} has no address; leave it out"
            if self.kind == "replay" and not self.source:
                yield "source", "is missing: a replay needs the recorded run (a folder, store or calls file)"
        elif wrong_url := url_problem(self.base_url):
            yield "base_url", wrong_url
        if self.api_key is not None and (wrong_key := key_name_problem(self.api_key)):
            yield "api_key", wrong_key
        if self.context_length is not None and self.kind != "ollama":
            yield "context_length", f"is sent by the API type ollama only; this endpoint's is {self.kind}"
        if wrong_context := context_problem(self.extra, self.kind):
            yield f"extra.{wrong_context[0]}", wrong_context[1]
        for text_field in ("model", "api_version", "source"):
            text = getattr(self, text_field)
            if text is not None and looks_like_key(text):
                yield text_field, "holds what looks like an API key"
        names = [header.lower() for header, _ in self.headers]
        if len(set(names)) < len(names):
            yield "headers", "names a header twice (their case does not matter)"
        for header, value in self.headers:
            if not _HEADER_NAME.fullmatch(header):
                yield "headers", f"{header!r} is no name of an HTTP header"
            elif not _HEADER_VALUE.fullmatch(value):
                yield f"headers.{header}", "must be one line of ASCII text"
            elif _SECRET_HEADER.search(header) or looks_like_key(value):
                yield f"headers.{header}", "a key does not belong into a profile; give its name as 'api_key'"


def _name_problem(name: str) -> str:
    """Why a text cannot be an endpoint's name. It is not repeated: somebody may have put the key there."""
    if not _NAME.fullmatch(name):
        return "an endpoint's name has letters, digits, '.', '_' and '-', at most 64 of them"
    return "an endpoint's name must not be a key" if looks_like_key(name) else ""


def check_profile(profile: EndpointProfile, path: str = "") -> None:
    """Raises :class:`ProfileError` for the first thing wrong with a profile. ``path`` is where it stands."""
    for name, problem in faults_of(profile):
        raise ProfileError(f"{path or profile.name}.{name}" if name else path, problem)


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
    return write(profile, full=full)


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
    if problem := _name_problem(name):
        raise ProfileError(path, problem)
    where = path or name
    try:
        members = Fields(record, where).members
        kind = members.get("kind") or (base.kind if base is not None else "openai")
        url = members.get("base_url", base.base_url if base is not None else "")
        if not url and (place := next((address for named, address in DEFAULT_URLS.items() if named == kind), "")):
            members = members | {"base_url": place}
        return read(EndpointProfile, members, where, refuse_unknown=refuse_unknown, base=base, given={"name": name})
    except DocumentError as error:
        raise ProfileError(error.path, error.problem) from None
