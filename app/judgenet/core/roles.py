"""The role library and the reading of a user's own roles."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from functools import cache

from judgenet.assets import asset
from judgenet.core.documents import json_words
from judgenet.core.network import Role
from judgenet.core.schemas import DESCRIPTION, NAME, ROLES
from judgenet.core.templates import FAMILIES, LANGUAGES

_BULLET = re.compile(r"^[-*•]\s+")


class RoleError(ValueError):
    """Roles that cannot be used; the message says where and how to mend it."""


@dataclass(frozen=True, slots=True)
class LibraryRole:
    """A role of the library in one language, with the task families for which it was written."""

    id: str
    families: tuple[str, ...]
    role: Role


@cache
def library(language: str) -> tuple[LibraryRole, ...]:
    """The roles under ``resources/roles`` in the order of the file.

    :raises RoleError: a language that the library does not have.
    """
    if language not in LANGUAGES:
        raise RoleError(f"The role library has no {language!r}; known languages: {', '.join(LANGUAGES)}.")
    content = tomllib.loads(asset("roles", "library.toml").read_text(encoding="utf-8"))
    return tuple(
        LibraryRole(
            entry["id"],
            tuple(entry["families"]),
            Role(entry[language]["name"], entry[language]["description"]),
        )
        for entry in content["role"]
    )


def roles_for(family: str, n: int, language: str) -> tuple[Role, ...]:
    """``n`` different roles for a task family: its own first, then the general ones, then the rest.

    :raises RoleError: an unknown family or language, or more roles than the library has.
    """
    if family not in FAMILIES:
        raise RoleError(f"There is no task family {family!r}; known families: {', '.join(FAMILIES)}.")
    known = library(language)
    if not 1 <= n <= len(known):
        raise RoleError(f"The role library has 1 to {len(known)} roles to give, {n} were asked for.")
    by_closeness = sorted(known, key=lambda role: (family not in role.families, "general" not in role.families))
    return tuple(entry.role for entry in by_closeness[:n])


def stand_in_roles(family: str, n: int, language: str) -> tuple[Role, ...]:
    """Roles for a pair whose own are not known: ``n`` of the library, or all that it has. Neurons that are left
    without a role rest on that pair.

    :raises RoleError: an unknown family or language.
    """
    return roles_for(family, min(n, len(library(language))), language)


def parse_roles(text: str, name: str) -> tuple[Role, ...]:
    """Reads the roles of a user's file, whose ``name`` errors refer to.

    Either JSON (a list of names, or of objects with ``name`` and ``description``, which may stand under
    ``roles``) or text with one ``name: description`` a line; empty lines and lines that begin with ``#`` are
    passed over, and so is the mark of a list. The order is kept.

    :raises RoleError: no roles, JSON of another shape, a role without a name, or a name given twice.
    """
    body = text.removeprefix("\ufeff")
    roles = _from_json(body, name) if body.lstrip()[:1] in ("[", "{") else _from_lines(body, name)
    if not roles:
        raise RoleError(f"{name}: no roles found. Write one 'name: description' a line, or a JSON list.")
    seen: dict[str, str] = {}
    for where, role in roles:
        if role.name in seen:
            raise RoleError(f"{name}, {where}: the role {role.name!r} stands in {seen[role.name]} too. Rename one.")
        seen[role.name] = where
    return tuple(role for _, role in roles)


def _from_json(text: str, name: str) -> list[tuple[str, Role]]:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise RoleError(
            f"{name}, line {error.lineno}, column {error.colno}: this is not valid JSON ({json_words(error)}). "
            "Mend it, or write one 'name: description' a line."
        ) from error
    if isinstance(content, dict):
        if ROLES not in content:
            raise RoleError(f"{name}: the JSON object has no {ROLES!r}. Give a list of roles under that name.")
        content = content[ROLES]
    if not isinstance(content, list):
        raise RoleError(f"{name}: {ROLES!r} is not a list. Give a list of objects with {NAME!r} and {DESCRIPTION!r}.")
    return [(f"role {i}", _role_of(item, f"{name}, role {i}")) for i, item in enumerate(content, 1)]


def _role_of(item: object, where: str) -> Role:
    record = {NAME: item} if isinstance(item, str) else item
    if not isinstance(record, dict):
        raise RoleError(f"{where}: a role is a name or an object with {NAME!r} and {DESCRIPTION!r}, not {item!r}.")
    unknown = [str(key) for key in record if key not in (NAME, DESCRIPTION)]
    if unknown:
        raise RoleError(f"{where}: unknown {', '.join(unknown)}; a role has {NAME!r} and {DESCRIPTION!r}.")
    title, description = record.get(NAME), record.get(DESCRIPTION)
    if not isinstance(title, str) or not title.strip():
        raise RoleError(f"{where}: the role has no {NAME!r}. Give it a text.")
    if not isinstance(description, str | None):
        raise RoleError(f"{where}: the {DESCRIPTION!r} is not a text but {description!r}.")
    return Role(title.strip(), (description or "").strip())


def _from_lines(text: str, name: str) -> list[tuple[str, Role]]:
    roles = []
    for number, raw in enumerate(re.split(r"\r\n?|\n", text), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        title, *description = (part.strip() for part in re.split("[:：]", _BULLET.sub("", line), maxsplit=1))
        if not title:
            raise RoleError(f"{name}, line {number}: there is no name before the colon in {line!r}.")
        roles.append((f"line {number}", Role(title, "".join(description))))
    return roles
