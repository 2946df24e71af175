"""Frozen dataclasses as JSON documents: the declaration of a class reads, checks and writes it and gives its schema.

A class's fields and their types are the form: texts, whole numbers, numbers, true or false, ``Literal`` texts, tuples,
mappings of texts, and other such classes; :func:`member` says what the type does not. ``None`` stands for ``null``
where the type has it; elsewhere ``null`` counts as absent. What is absent has the field's default, within an inner
object that of the owner's default. A method ``faults`` yields what is wrong with a value of the class, as pairs of the
member's path and the problem.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from functools import reduce
from math import isfinite
from operator import or_
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from judgenet.core.documents import DocumentError, Fields, kind_of

T = TypeVar("T")
Written = Literal["always", "changed", "never"]
Schema = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Codec:
    """How a member is read and written whose JSON is not that of its type. ``read`` gets value, path and whether
    unknown names are refused; with ``reads_missing`` it gets ``None`` where the member is required and missing."""

    read: Callable[[Any, str, bool], Any]
    write: Callable[[Any], Any]
    schema: Schema | Callable[[dict[str, Schema]], Schema]
    reads_missing: bool = False

    def schema_in(self, defined: dict[str, Schema]) -> Schema:
        """The member's JSON Schema; classes that it refers to are entered in ``defined``."""
        return self.schema(defined) if callable(self.schema) else dict(self.schema)


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """What a field's type does not express.

    ``says``: what it means, for the JSON Schema. ``written``: always, where it differs from the default, or never (it
    is no member of the JSON). ``when`` decides instead, from the owner. ``at_least`` and ``above`` are bounds of a
    finite number; ``unit`` and ``hint`` go into the message. ``real`` writes a whole number as 1.0. ``schema`` is added
    to the member's JSON Schema.
    """

    says: str = ""
    written: Written = "always"
    when: Callable[[Any], bool] | None = None
    at_least: float | None = None
    above: float | None = None
    unit: str = ""
    hint: str = ""
    real: bool = False
    codec: Codec | None = None
    schema: Schema = field(default_factory=dict)

    def bound_problem(self, value: float) -> str:
        """Why a number is out of bounds, empty where it is not."""
        if self.at_least is None and self.above is None:
            return ""
        if self.at_least is not None:
            limit, good = f"{self.at_least:g}{self.unit} or more", value >= self.at_least
        else:
            assert self.above is not None
            limit, good = f"more than {self.above:g}{self.unit}", value > self.above
        return "" if good and isfinite(value) else f"must be {limit}, but is {value}{self.hint}"


_PLAIN = Member()
_UNIONS: tuple[Any, ...] = (Union, types.UnionType)
_NAME = "member"


def member(default: Any = MISSING, *, factory: Any = MISSING, **says: Any) -> Any:
    """A field of a dataclass with its :class:`Member`."""
    metadata = {_NAME: Member(**says)}
    if factory is not MISSING:
        return field(default_factory=factory, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class _Form:
    """A field: its name, type, declaration and default."""

    name: str
    hint: Any
    member: Member
    default: Any

    @property
    def optional(self) -> bool:
        return _inner_of_optional(self.hint) is not None

    @property
    def required(self) -> bool:
        return self.default is MISSING and not self.optional


_FORMS: dict[type, tuple[_Form, ...]] = {}


def _forms(cls: type) -> tuple[_Form, ...]:
    """The members that a class has in JSON; looked up once."""
    if cls not in _FORMS:
        _FORMS[cls] = _read_forms(cls)
    return _FORMS[cls]


def _read_forms(cls: type) -> tuple[_Form, ...]:
    hints = get_type_hints(cls, include_extras=True)

    def default_of(member_field: Field[Any]) -> Any:
        return member_field.default_factory() if member_field.default_factory is not MISSING else member_field.default

    forms = []
    for form_field in fields(cls):
        hint, says = hints[form_field.name], form_field.metadata.get(_NAME, _PLAIN)
        if get_origin(hint) is Annotated:
            says = replace(says, codec=get_args(hint)[1])
        if says.written != "never":
            forms.append(_Form(form_field.name, hint, says, default_of(form_field)))
    return tuple(forms)


def names(cls: type) -> tuple[str, ...]:
    """The names of the members that a class has in JSON."""
    return tuple(form.name for form in _forms(cls))


def _inner_of_optional(hint: Any) -> Any:
    """``X`` of ``X | None``, ``None`` where a type is no such one."""
    if get_origin(hint) not in _UNIONS or type(None) not in get_args(hint):
        return None
    rest = [option for option in get_args(hint) if option is not type(None)]
    return rest[0] if len(rest) == 1 else reduce(or_, rest)


# Reading


def read(
    cls: type[T],
    value: object,
    path: str = "",
    *,
    refuse_unknown: bool = True,
    base: T | None = None,
    also: tuple[str, ...] = (),
    given: Mapping[str, Any] | None = None,
) -> T:
    """The value of a JSON object that stands at ``path``.

    Absent members come from ``base`` where it is given; ``null`` is the default of the class. ``also`` are names that
    the object may have besides; ``given`` are fields that stand elsewhere.

    :raises DocumentError: with the path, for what is missing, of another type, not allowed, or (with
        ``refuse_unknown``) not known.
    """
    owner = Fields(value, path)
    forms = _forms(cls)
    if refuse_unknown:
        owner.refuse_unknown((*also, *(form.name for form in forms)))
    values = dict(given or {})
    for form in forms:
        there = owner.members.get(form.name)
        default = form.default if base is None or form.name in owner.members else getattr(base, form.name)
        if there is None and not (form.optional and form.name in owner.members):
            codec = form.member.codec
            if form.required and default is MISSING and codec is not None and codec.reads_missing:
                codec.read(None, owner.at(form.name), refuse_unknown)
            if form.required and default is MISSING:
                raise owner.error(form.name, "is missing")
            values[form.name] = None if default is MISSING else default
        elif there is None:
            values[form.name] = None
        elif form.member.codec is not None:
            values[form.name] = form.member.codec.read(there, owner.at(form.name), refuse_unknown)
        else:
            inner = form.default if base is None else getattr(base, form.name)
            inner = inner if is_dataclass(inner) else None
            values[form.name] = _value(form.hint, there, owner.at(form.name), refuse_unknown, inner)
    value_read = cls(**values)
    for name, problem in faults_of(value_read):
        raise DocumentError(_joined(path, name), problem)
    return value_read


def faults_of(value: Any) -> Iterator[tuple[str, str]]:
    """What is wrong with a value of a class, inner ones apart: the member's path within it, and the problem."""
    own = getattr(value, "faults", None)
    if own is not None:
        yield from own()
    for form in _forms(type(value)):
        inner = getattr(value, form.name)
        if isinstance(inner, int | float) and (problem := form.member.bound_problem(inner)):
            yield form.name, problem


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name else path or name


def _value(hint: Any, value: Any, path: str, refuse_unknown: bool, base: Any = None) -> Any:
    inner = _inner_of_optional(hint)
    if inner is not None:
        if get_origin(inner) is Literal:
            return None if value is None else _choice(get_args(inner), value, path, " or null")
        return None if value is None else _value(inner, value, path, refuse_unknown, base)
    origin: Any = get_origin(hint)
    if origin is Annotated:
        return get_args(hint)[1].read(value, path, refuse_unknown)
    if origin is Literal:
        return _choice(get_args(hint), value, path)
    if origin in _UNIONS:
        # A number or one of some texts.
        first, second = get_args(hint)
        texts, number = (first, second) if second is float else (second, first)
        return value if value in get_args(texts) else simple(number, value, path)
    if origin is tuple:
        element = get_args(hint)[0]
        if not isinstance(value, list | tuple):
            raise DocumentError(path, f"must be a list{' of texts' if element is str else ''}, but is {kind_of(value)}")
        return tuple(_value(element, item, f"{path}[{place}]", refuse_unknown) for place, item in enumerate(value))
    if origin is not None and issubclass(origin, Mapping):
        element = get_args(hint)[1]
        owner = Fields(value, path)
        return {name: _value(element, item, owner.at(name), refuse_unknown) for name, item in owner.members.items()}
    if is_dataclass(hint):
        return read(cast(type, hint), value, path, refuse_unknown=refuse_unknown, base=base)
    return simple(hint, value, path)


_SIMPLE: dict[type, tuple[tuple[type, ...], str, str]] = {
    str: ((str,), "a text", "string"),
    bool: ((bool,), "true or false", "boolean"),
    int: ((int,), "a whole number", "integer"),
    float: ((int, float), "a number", "number"),
}
"""By type: the Python types of JSON values that it takes, its name in messages, and in JSON Schema."""


def simple(hint: Any, value: Any, path: str) -> Any:
    """A text, number or true or false, as it is. Raises :class:`DocumentError` for a value of another type."""
    if hint is Any:
        return value
    kinds, words, _ = _SIMPLE[hint]
    if not isinstance(value, kinds) or (isinstance(value, bool) and hint is not bool):
        raise DocumentError(path, f"must be {words}, but is {kind_of(value)}")
    return value


def _choice(choices: tuple[Any, ...], value: Any, path: str, more: str = "") -> Any:
    if simple(str, value, path) not in choices:
        raise DocumentError(path, f"must be one of {', '.join(choices)}{more}, but is {value!r}")
    return value


# Writing


def write(value: Any, *, base: Any = None, full: bool = False) -> dict[str, Any]:
    """The inverse of :func:`read`. A member that may be absent and has no value is left out, but where ``base`` has
    one; ``full`` writes those too that are at their default."""
    record = {}
    for form in _forms(type(value)):
        inner = getattr(value, form.name)
        default = form.default if base is None else getattr(base, form.name)
        if not full:
            if inner is None and form.optional and default in (None, MISSING):
                continue
            if form.member.written == "changed" and inner == default:
                continue
            if form.member.when is not None and not form.member.when(value):
                continue
        if form.member.codec is not None and inner is not None:
            record[form.name] = form.member.codec.write(inner)
        elif is_dataclass(inner):
            record[form.name] = write(inner, base=default if is_dataclass(default) else None)
        elif form.member.real and isinstance(inner, int):
            record[form.name] = float(inner)
        else:
            record[form.name] = _plain(inner)
    return record


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return write(value)
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, tuple | list) else value


# JSON Schema


def schema_of(cls: type, defined: dict[str, Schema]) -> Schema:
    """A reference to the JSON Schema of a class, which is entered in ``defined`` by its name, inner classes too."""
    name = cls.__name__
    if name not in defined:
        defined[name] = {}
        properties = {form.name: _member_schema(form, defined) for form in _forms(cls)}
        required = [form.name for form in _forms(cls) if form.required]
        words = " ".join((cls.__doc__ or "").partition("\n\n")[0].split()).replace("``", "`")
        defined[name] = {"type": "object", "description": words, "properties": properties}
        if required:
            defined[name]["required"] = required
    return {"$ref": f"#/$defs/{name}"}


def _member_schema(form: _Form, defined: dict[str, Schema]) -> Schema:
    definition = form.member
    schema = definition.codec.schema_in(defined) if definition.codec is not None else _type_schema(form.hint, defined)
    if definition.codec is not None and form.optional:
        schema = {"anyOf": [schema, {"type": "null"}]}
    if definition.says:
        schema["description"] = definition.says
    if definition.at_least is not None:
        schema["minimum"] = definition.at_least
    if definition.above is not None:
        schema["exclusiveMinimum"] = definition.above
    if not form.required and not is_dataclass(form.default) and form.default not in (MISSING, None, (), {}, ""):
        schema["default"] = form.default
    return schema | definition.schema


def _type_schema(hint: Any, defined: dict[str, Schema]) -> Schema:
    inner = _inner_of_optional(hint)
    if inner is not None:
        schema = _type_schema(inner, defined)
        if isinstance(schema.get("type"), str) and schema["type"] != "object":
            return schema | {
                "type": [schema["type"], "null"],
                **({"enum": [*schema["enum"], None]} if "enum" in schema else {}),
            }
        return {"anyOf": [schema, {"type": "null"}]}
    origin: Any = get_origin(hint)
    if origin is Annotated:
        codec: Codec = get_args(hint)[1]
        return codec.schema_in(defined)
    if origin is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    if origin in _UNIONS:
        return {"anyOf": [_type_schema(option, defined) for option in get_args(hint)]}
    if origin is tuple:
        return {"type": "array", "items": _type_schema(get_args(hint)[0], defined)}
    if origin is not None and issubclass(origin, Mapping):
        values = get_args(hint)[1]
        return {"type": "object"} | ({} if values is Any else {"additionalProperties": _type_schema(values, defined)})
    if is_dataclass(hint):
        return schema_of(cast(type, hint), defined)
    return {} if hint is Any else {"type": _SIMPLE[hint][2]}
