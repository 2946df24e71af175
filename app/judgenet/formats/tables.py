"""CSV for people and spreadsheets, and files that are written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from judgenet.core.documents import well_formed

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_BEHIND_RETURN = re.compile(r"\r(?=[=+\-@\t])(?![+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?:[\r\n]|$))")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def guard_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula.

    A text that begins with ``=``, ``+``, ``-``, ``@``, tab or carriage return gets an apostrophe in front, unless
    it is a plain number such as ``-1.5`` (OWASP, "CSV Injection"). So does what stands behind a bare carriage return,
    which some programs take for the end of a row, even inside quotes.
    """
    if "\r" in text:
        text = text[:1] + _BEHIND_RETURN.sub(r"\g<0>'", text[1:])
    if text.startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def csv_text(
    header: Sequence[str],
    rows: Iterable[Sequence[str | int | float | None]],
    *,
    delimiter: str = ",",
    guard_formulas: bool = True,
) -> str:
    """A table as RFC 4180 CSV (or TSV), lines ended by CR LF; ``None`` gives an empty cell.

    ``guard_formulas`` passes text cells through :func:`guard_cell`; numbers are never touched. Lone surrogates become
    U+FFFD.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        if guard_formulas:
            writer.writerow([guard_cell(cell) if isinstance(cell, str) else cell for cell in row])
        else:
            writer.writerow(row)
    return well_formed(out.getvalue())


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A place to write to that becomes ``path`` at the end, and leaves ``path`` alone when writing fails."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield draft
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


_BATCH: Final = 2000

ListForm = Literal["texts", "messages"]
"""What a column of lists holds: texts, or messages whose contents are parts (``type``, ``text``)."""


def write_parquet(
    records: Callable[[], Iterator[Mapping[str, Any]]],
    path: Path,
    lists: Mapping[str, ListForm] = MappingProxyType({}),
) -> int:
    """Writes records as a Parquet file, in batches. What is no text, number or truth value is JSON text in its cell.
    Columns named in ``lists`` are lists, where all their values are.

    The records are read twice: the type of a column follows from all its values, and memory stays flat.
    """
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pa_parquet  # type: ignore[import-untyped]

    kinds: dict[str, set[type]] = {}
    for record in records():
        for name, value in record.items():
            kinds.setdefault(name, set()).add(type(value))
    types = {
        name: _list_type(lists[name]) if name in lists and kind == {list} else _arrow_type(kind)
        for name, kind in kinds.items()
    }
    schema = pa.schema(types.items())
    texts = frozenset(name for name in kinds if schema.field(name).type == pa.string())
    count = 0
    again = records()
    with pa_parquet.ParquetWriter(path, schema) as writer:
        while batch := list(islice(again, _BATCH)):
            count += len(batch)
            rows = [
                {name: _text(value) if name in texts else _well_formed(value) for name, value in record.items()}
                for record in batch
            ]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
    return count


def _arrow_type(kinds: set[type]) -> Any:
    import pyarrow as pa

    known = kinds - {type(None)}
    if known == {bool}:
        return pa.bool_()
    if known == {int}:
        return pa.int64()
    return pa.float64() if known and known <= {int, float} else pa.string()


def _list_type(form: ListForm) -> Any:
    import pyarrow as pa

    if form == "texts":
        return pa.list_(pa.string())
    part = pa.struct([("type", pa.string()), ("text", pa.string())])
    return pa.list_(pa.struct([("role", pa.string()), ("content", pa.list_(part))]))


def _well_formed(value: Any) -> Any:
    if isinstance(value, list):
        return [_well_formed(item) for item in value]
    if isinstance(value, dict):
        return {name: _well_formed(item) for name, item in value.items()}
    return well_formed(value) if isinstance(value, str) else value


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return well_formed(value if isinstance(value, str) else json.dumps(value, allow_nan=False))
