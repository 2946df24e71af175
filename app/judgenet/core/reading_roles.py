"""Roles in a reply: JSON, the form "$name: description&" of WideDeep, or a list."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from judgenet.core.network import Role
from judgenet.core.reading_json import objects

_NAME_LENGTH = 80
_NAME_WORDS = 8
"""Longer than this is a sentence, not a name."""

_NAME_KEY = re.compile(
    "(?:role_?)?name|role|title|perspective|aspect|criterion|dimension|persona|名称|名字|角色|视角|维度|标题"
)
_DESCRIPTION_KEY = re.compile("desc(?:ription)?|details?|explanation|focus|definition|描述|说明|解释|内容|简介")
_LIST_KEY = re.compile("roles|perspectives|aspects|criteria|dimensions|items|list|personas|角色|视角|维度|列表")


def roles_in(answer: str) -> tuple[Role, ...]:
    """The roles that a reply names, in its order, without repeats; empty where it names none."""
    for reader in (_from_json, _from_marks, _from_list):
        roles = _distinct(reader(answer))
        if roles:
            return roles
    return ()


def _distinct(roles: Iterable[tuple[str, str]]) -> tuple[Role, ...]:
    kept: dict[str, Role] = {}
    for written, description in roles:
        name = _clean(written)
        if re.search(r"[^\W\d_]", name) and len(name) <= _NAME_LENGTH:
            kept.setdefault(name.casefold(), Role(name, _clean(description)))
    return tuple(kept.values())


def _clean(text: str) -> str:
    return " ".join(text.split()).strip(' *_`"“”#$&:：-–—•<>')


# JSON


def _from_json(answer: str) -> Iterator[tuple[str, str]]:
    start = answer.find("[")
    if start >= 0 and "{" not in answer[:start]:
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(answer, start)
        except (ValueError, RecursionError):
            pass
        else:
            yield from _roles_of(value)
            return
    for _, _, value in objects(answer):
        yield from _roles_of(value)


def _roles_of(value: Any, depth: int = 3) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for item in value:
            if isinstance(item, str):
                yield _split(item)
            elif depth:
                yield from _roles_of(item, depth - 1)
    elif isinstance(value, dict):
        name = _held(value, _NAME_KEY)
        listed = _held(value, _LIST_KEY)
        if isinstance(name, str):
            description = _held(value, _DESCRIPTION_KEY)
            yield name, description if isinstance(description, str) else ""
        elif listed is not None and depth:
            yield from _roles_of(listed, depth - 1)
        elif len(value) > 1 and all(isinstance(item, str) for item in value.values()):
            yield from value.items()
        elif depth:
            for item in value.values():
                yield from _roles_of(item, depth - 1)


def _held(value: dict[str, Any], pattern: re.Pattern[str]) -> Any:
    return next((item for key, item in value.items() if pattern.fullmatch(key.strip().lower())), None)


# "$name: description&"

_END = re.compile(r"[&@](?=[,;.、，。；]?\s*(?:[$\n]|\Z|[0-9]{1,2}[.)]))|[&@](?=[ \t]*\n)")
_BEGIN = re.compile(r"\$(?=\s*[^\W\d_])")


def _from_marks(answer: str) -> Iterator[tuple[str, str]]:
    """Each role stands between "$" and an "&" (for code "@") that ends a line or comes before the next "$".

    Other "$" and "&" are ordinary text.
    """
    place = 0
    for match in _END.finditer(answer):
        opened = _BEGIN.search(answer, place, match.start())
        if opened is not None:
            yield _split(answer[opened.end() : match.start()])
        place = match.end()


_SEPARATOR = re.compile(r"\s*[:：]\s*|\s+[-–—]+\s+|\s*——\s*|\s*\n+\s*")
_CLAUSE = re.compile(r"[^,.;(，。；（]{1,80}(?=[,.;(，。；（])")


def _split(text: str) -> tuple[str, str]:
    """Name and description. Without a separator, a short text is a name and of a long one its first clause."""
    text = text.strip()
    head = text[: _NAME_LENGTH + 20]
    match = _SEPARATOR.search(head)
    if match is not None and 0 < match.start() <= _NAME_LENGTH:
        return text[: match.start()], text[match.end() :]
    if len(text) <= _NAME_LENGTH:
        return text, ""
    clause = _CLAUSE.match(head)
    return (clause[0], text) if clause else ("", text)


# Lists

_ITEM = re.compile(
    r"""(?P<indent>[ \t]{0,12})
    (?: (?P<number>(?:[0-9]{1,2}|[一二三四五六七八九十]{1,3})[.)、:：）]|[(（][0-9]{1,2}[)）])\s*
      | (?P<bullet>[-*•·])\s+
      | (?P<heading>\#{1,6})\s+(?:[0-9]{1,2}[.)]\s*)?
      | (?P<bold>(?=\*\*)) )
    (?:(?:role|perspective|角色|视角)\s*[0-9一二三四五六七八九十]{0,3}\s*[:：.]\s*)?
    (?P<rest>.*)""",
    re.I | re.X,
)
_FIELD = re.compile(
    r"""[ \t]*(?:[-*•]\ )?[ \t]*[*_]{0,2}
    (?:(?P<name>name|role|perspective|名称|角色|视角)|description|描述|说明)[*_]{0,2}\s*[:：][*_]{0,2}\s*(?P<rest>.+)""",
    re.I | re.X,
)
_BOLD = re.compile(r"[*_]{2}(?P<name>[^*\n]{1,80}?)[:：]?[*_]{2}\s*[:：–—-]*\s*(?P<rest>.*)")


def _from_list(answer: str) -> Iterator[tuple[str, str]]:
    """Items of a list, numbered, bulleted, headed or bold like its first; what follows an item belongs to it."""
    name: str | None = None
    words: list[str] = []
    style: tuple[str, int] | None = None
    gap = False
    for line in answer.replace("\r", "\n").split("\n"):
        if not line.strip():
            gap = True
            continue
        begins: tuple[str, str] | None = None
        labelled = _FIELD.match(line)
        if labelled is not None and (labelled["name"] or name is not None):
            begins = (labelled["rest"], "") if labelled["name"] else None
            line = labelled["rest"]
        elif (item := _ITEM.match(line)) is not None:
            kind = next(kind for kind in ("number", "bullet", "heading", "bold") if item[kind] is not None)
            listed = _item(item["rest"])
            if listed is not None and (style is None or (kind == style[0] and len(item["indent"]) <= style[1])):
                begins, style = listed, (kind, len(item["indent"]))
        if begins is not None:
            if name is not None:
                yield name, " ".join(words)
            name, words = begins[0], [begins[1]]
        elif name is not None and (not gap or line[0] in " \t" or not any(words)):
            words.append(line)
        gap = False
    if name is not None:
        yield name, " ".join(words)


def _item(rest: str) -> tuple[str, str] | None:
    bold = _BOLD.match(rest)
    if bold is not None:
        return bold["name"], bold["rest"]
    name, description = _split(rest)
    sentence = not description and (len(name.split()) > _NAME_WORDS or name.endswith((".", "!", "?", "。", "！", "？")))
    # A long item without a separator is a sentence too.
    return None if sentence or description == rest.strip() else (name, description)
