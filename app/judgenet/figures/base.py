"""What all figures have in common: their one JSON form, and tables for notebooks.

A figure is a field of a frozen dataclass. Its name is the key in JSON, its type says what the key holds, and its
annotation says what it means: ``Annotated[float | None, "share of pairs"]``. What is undefined is ``None`` and has its
``reason`` beside it, or ``reasons`` by key.
"""

from __future__ import annotations

import html
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, singledispatch
from types import SimpleNamespace, UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeVar, Union, get_args, get_origin, get_type_hints

from judgenet.core import network_json
from judgenet.core.network import NetworkSpec
from judgenet.stats.intervals import Interval

if TYPE_CHECKING:
    import pandas as pd


class _Absent:
    """The mark of a figure that is left out of JSON where it is ``None``."""


OPTIONAL: Final = _Absent()
"""In an annotation: the key is there only where the figure can be had."""

ASKED: Final = _Absent()
"""In an annotation: the key is there only where the figure was asked for."""


class Keys(tuple[str, ...]):
    """In an annotation of a mapping: what its keys stand for, a word in capitals for each level."""


@singledispatch
def figures_of(value: Any) -> Any:
    """The figures that stand for a value of the statistics; other values stand for themselves."""
    return value


@figures_of.register(Interval)
def _ends(interval: Interval) -> list[float]:
    return list(interval)


@figures_of.register(NetworkSpec)
def _network(spec: NetworkSpec) -> dict[str, Any]:
    return network_json.to_json(spec)


@cache
def keys_of(kind: type) -> tuple[tuple[str, bool], ...]:
    """The names of the figures of a dataclass, and whether JSON always has each of them."""
    hints: dict[str, Any] = {}
    for owner in reversed(kind.__mro__):
        own = vars(owner).get("__annotations__", {})
        # The other fields may name types that exist for the type checker alone.
        marked = {name: hint for name, hint in own.items() if "OPTIONAL" in str(hint) or "ASKED" in str(hint)}
        if marked:
            names = vars(sys.modules[owner.__module__])
            hints |= get_type_hints(SimpleNamespace(__annotations__=marked), names, include_extras=True)
    extras = {field.name: getattr(hints.get(field.name), "__metadata__", ()) for field in fields(kind)}
    return tuple((name, not any(isinstance(mark, _Absent) for mark in marks)) for name, marks in extras.items())


def as_json(value: Any) -> Any:
    """A value as JSON has it: dataclasses and named tuples are objects, intervals ``[low, high]``.

    Keys that are tuples are joined by a bar: ``NAME|NAME``.
    """
    value = figures_of(value)
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        named = ((name, always, getattr(value, name)) for name, always in keys_of(type(value)))
        return {name: as_json(item) for name, always, item in named if always or item is not None}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: as_json(item) for name, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {
            "|".join(map(str, key)) if isinstance(key, tuple) else str(key): as_json(item)
            for key, item in value.items()
        }
    return [as_json(item) for item in value]


_Figures = TypeVar("_Figures")


def taken_over(kind: type[_Figures], source: Any, **others: Any) -> _Figures:
    """Figures of a kind from a value of the statistics: each has the value's attribute of its own name, but ``ci`` its
    ``interval``, and the ``others`` what they are given as. An empty ``reason`` is ``None``.

    :raises AttributeError: the value has no such attribute, and it is not given.
    """
    values = dict(others)
    for member in fields(kind):  # type: ignore[arg-type]
        if member.name not in values:
            value = getattr(source, "interval" if member.name == "ci" else member.name)
            values[member.name] = value or None if member.name == "reason" else value
    return kind(**values)


def from_json(kind: Any, value: Any) -> Any:
    """The inverse of :func:`as_json` for a type of figures: JSON that was kept becomes its value again. Figures that
    it lacks are ``None``.

    :raises TypeError: the JSON has another form.
    """
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, UnionType):
        kind = next((option for option in get_args(kind) if option is not type(None)), Any)
    if value is None or kind is Any:
        return value
    if kind is Interval:
        return Interval(*value)
    if is_dataclass(kind):
        if not isinstance(value, Mapping):
            raise TypeError(f"{kind}: an object is expected")
        hints = get_type_hints(kind, include_extras=True)
        return kind(**{option.name: from_json(hints[option.name], value.get(option.name)) for option in fields(kind)})  # type: ignore[operator]
    inner = get_args(kind)
    if get_origin(kind) is tuple:
        kinds = [inner[0]] * len(value) if inner[1:] == (Ellipsis,) else inner
        return tuple(from_json(option, item) for option, item in zip(kinds, value, strict=True))
    if isinstance(get_origin(kind), type) and issubclass(get_origin(kind), Mapping):
        return {name: from_json(inner[1], item) for name, item in value.items()}
    return value


class Figures(Mapping[str, Any]):
    """The figures of one question to a run, as attributes and by the keys of the command's ``--json``
    (``resources/figures.md``). What is undefined is ``None`` and has a ``reason`` beside it."""

    _rows: ClassVar[str]
    """The part that is the table."""

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values, as JSON has them."""
        encoded: dict[str, Any] = as_json(self)
        return encoded

    def to_json(self) -> str:
        """The figures as one line of JSON, as ``--json`` prints it."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def __getitem__(self, key: str) -> Any:
        if key not in iter(self):
            raise KeyError(key)
        return as_json(getattr(self, key))

    def __iter__(self) -> Iterator[str]:
        return (name for name, always in keys_of(type(self)) if always or getattr(self, name) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def to_frame(self) -> pd.DataFrame:
        """The main table: a row an aggregation, estimate or difference, with the ends of intervals as columns."""
        import pandas as pd

        part = self[self._rows]
        if isinstance(part, list):
            return pd.DataFrame([flat(record) for record in part])
        rows = {name: flat(record) for name, record in part.items() if isinstance(record, Mapping)}
        return pd.DataFrame.from_dict(rows, orient="index")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.get("notes", ()))
        return f"{self.to_frame().to_html(escape=True)}{notes}"


def flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """One row: intervals become two columns, and what is itself a table is left out."""
    row: dict[str, Any] = {}
    for name, value in record.items():
        if name in ("ci", "interval") or name.endswith(("_ci", "_ci90")):
            low, high = value or (None, None)
            row |= {f"{name}_low": low, f"{name}_high": high}
        elif not isinstance(value, Mapping | list):
            row[name] = value
    return row
