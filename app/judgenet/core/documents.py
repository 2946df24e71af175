"""JSON documents that people read and edit: strict reading, typed fields, stable writing."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, NoReturn, get_args, overload

DocumentPath = tuple[str | int, ...]
Extra = tuple[tuple[DocumentPath, Any], ...]
"""Members that a document has and this program does not know, each with its path."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """The text as UTF-8 can hold it: the halves of a surrogate pair are joined, a lone one becomes U+FFFD."""
    if text.isascii() or not _LONE_SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


_JSON_PROBLEMS = {
    "Expecting value": "a value is expected",
    "Expecting ',' delimiter": "a comma or the end of the list or object is expected",
    "Expecting ':' delimiter": "a colon is expected after a name",
    "Expecting property name enclosed in double quotes": "a name in double quotes is expected",
    "Unterminated string starting at": "a text has no closing quotation mark",
    "Invalid control character at": "a line break, tab or other control character stands inside a text",
    "Invalid \\escape": "a backslash is followed by a character that it cannot escape",
    "Invalid \\uXXXX escape": "four hexadecimal digits are expected after \\u",
    "Extra data": "something follows the end of the value",
}


def json_words(error: json.JSONDecodeError) -> str:
    """What is wrong with a JSON text, in the words of this program, without the place."""
    return _JSON_PROBLEMS.get(error.msg.removesuffix(": "), "it cannot be read")


class DocumentError(ValueError):
    """A document that cannot be used. ``path`` is the JSON path of the trouble, empty for the whole."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem


def parse(text: str) -> Any:
    """The JSON value of a text.

    :raises DocumentError: for a syntax error (with line and column), a name that occurs twice in one object,
        NaN, Infinity, or a number too large for a double.
    """
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_not_a_number, parse_float=_float)
    except json.JSONDecodeError as error:
        raise DocumentError("", f"not JSON: {json_words(error)} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise DocumentError("", "nested too deeply to be read") from None
    except DocumentError:
        raise
    except ValueError as error:
        raise DocumentError("", f"not usable JSON: {error}") from None


def to_text(tree: Any) -> str:
    """The tree as JSON: sorted names, indented by two, one line feed at the end.

    Non-ASCII characters stand as they are, lone surrogates are escaped, so that the text is valid UTF-8.

    :raises DocumentError: for NaN, Infinity, or a value that JSON does not have.
    """
    try:
        text = json.dumps(tree, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise DocumentError("", f"cannot be written as JSON: {error}") from None
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text) + "\n"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DocumentError("", f"the name {twice!r} occurs twice in one object")
    return members


def _not_a_number(constant: str) -> NoReturn:
    raise DocumentError("", f"{constant} is no JSON number")


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise DocumentError("", f"the number {digits[:40]} is too large")
    return value


class Fields:
    """Typed access to the members of a JSON object. ``null`` counts as absent.

    :raises DocumentError: from each method, with the member's path, where it is missing or of another type.
    """

    def __init__(self, value: object, path: str = "") -> None:
        if not isinstance(value, dict):
            raise DocumentError(path, f"must be an object, but is {kind_of(value)}")
        self.members: dict[str, Any] = value
        self.path = path

    def at(self, name: str) -> str:
        """The path of a member."""
        return f"{self.path}.{name}" if self.path else name

    def error(self, name: str, problem: str) -> DocumentError:
        return DocumentError(self.at(name), problem)

    def refuse_unknown(self, known: tuple[str, ...]) -> None:
        """Raises for a member whose name is not among ``known``, with the nearest that is."""
        for name in self.members:
            if name not in known:
                near = get_close_matches(name, known, 1)
                raise self.error(name, "is not known" + (f"; did you mean {near[0]!r}?" if near else ""))

    def text(self, name: str, default: str | None = None) -> str:
        """A text; required where ``default`` is ``None``."""
        value = self._value(name, default)
        if not isinstance(value, str):
            raise self.error(name, f"must be a text, but is {kind_of(value)}")
        return value

    def optional_text(self, name: str) -> str | None:
        return None if self.members.get(name) is None else self.text(name)

    def choice(self, name: str, literal: Any, default: str | None = None) -> Any:
        """One of the texts of a ``Literal`` type."""
        value = self.text(name, default)
        choices: tuple[str, ...] = get_args(literal)
        if value not in choices:
            raise self.error(name, f"must be one of {', '.join(choices)}, but is {value!r}")
        return value

    @overload
    def whole(self, name: str, default: int) -> int: ...
    @overload
    def whole(self, name: str, default: None = None) -> int | None: ...
    def whole(self, name: str, default: int | None = None) -> int | None:
        """A whole number, or ``default``."""
        value = self.members.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(name, f"must be a whole number, but is {kind_of(value)}")
        return value

    @overload
    def number(self, name: str, default: float) -> float: ...
    @overload
    def number(self, name: str, default: None = None) -> float | None: ...
    def number(self, name: str, default: float | None = None) -> float | None:
        """A number, or ``default``."""
        value = self.members.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(name, f"must be a number, but is {kind_of(value)}")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, empty where absent."""
        value = self.members.get(name, ())
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            raise self.error(name, f"must be a list of texts, but is {kind_of(value)}")
        for place, item in enumerate(value):
            if not isinstance(item, str):
                raise self.error(f"{name}[{place}]", f"must be a text, but is {kind_of(item)}")
        return tuple(value)

    def inner(self, name: str) -> Fields:
        """An object, empty where absent."""
        value = self.members.get(name)
        return Fields({} if value is None else value, self.at(name))

    def _value(self, name: str, default: object) -> object:
        value = self.members.get(name)
        if value is not None:
            return value
        if default is None:
            raise self.error(name, "is missing")
        return default


def kind_of(value: object) -> str:
    """What a JSON value is, for messages. Does not show the value: it may be a secret."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    return {str: "a text", int: "a number", float: "a number", list: "a list", dict: "an object"}.get(
        type(value), type(value).__name__
    )


def extra_of(document: Any, known: Any, path: DocumentPath = ()) -> Extra:
    """What ``document`` has beyond ``known``, the same document as this program would write it."""
    unknown: list[tuple[DocumentPath, Any]] = []
    if isinstance(document, dict) and isinstance(known, dict):
        for name, value in document.items():
            if name in known:
                unknown += extra_of(value, known[name], (*path, name))
            else:
                unknown.append(((*path, name), value))
    elif isinstance(document, list) and isinstance(known, list):
        for place, (value, ours) in enumerate(zip(document, known, strict=False)):
            unknown += extra_of(value, ours, (*path, place))
    return tuple(unknown)


def with_extra(known: Mapping[str, Any], extra: Extra) -> dict[str, Any]:
    """A copy of ``known`` with extra members put back, except where their owner is gone or now has such a member."""
    tree: dict[str, Any] = copy.deepcopy(dict(known))
    for path, value in extra:
        owner: Any = tree
        for step in path[:-1]:
            owner = _child(owner, step)
        if isinstance(owner, dict):
            owner.setdefault(str(path[-1]), value)
    return tree


def _child(owner: Any, step: str | int) -> Any:
    if isinstance(owner, dict):
        return owner.get(str(step))
    if isinstance(owner, list | tuple) and isinstance(step, int) and step < len(owner):
        return owner[step]
    return None
