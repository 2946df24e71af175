"""Reads the bytes of a file into a table of columns. The kind of file is recognised by its content, never by its
suffix."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import struct
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from enum import Enum
from itertools import islice
from typing import Any, Final, Literal

from judgenet.core.documents import json_words
from judgenet.formats.errors import DataError, EmptyError, EncodingError, json_problem, listed, shown
from judgenet.formats.findings import Finding
from judgenet.formats.limits import Room, size_text, too_large
from judgenet.formats.pictures import Album
from judgenet.formats.watch import Watch, nothing, part

Container = Literal["jsonl", "json", "csv", "tsv", "parquet", "xlsx", "lines"]
"""How a file holds its records. ``lines`` is a plain text, one record a line, without a header."""

_ZIP = b"PK\x03\x04"
_GZIP = b"\x1f\x8b"
# RuntimeError: encrypted; NotImplementedError: an unknown compression; the others: damaged.
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, NotImplementedError)
_CSV_BLOCK = 2**24
_PARQUET_ROWS = 65_536
_CELLS_PER_WATCH = 2**17
_SAMPLES = 20
_RECORDS_PER_WATCH = 500
_BYTES_PER_WATCH = 2**22
_FIELD_LIMIT = 2**31 - 1


_REFUSED = (
    (b"\xd0\xcf\x11\xe0", "This is an old Excel file (.xls).", "Save it as .xlsx."),
    (b"BZh", "The file is compressed with bzip2.", "Unpack it first."),
    (b"\xfd7zXZ", "The file is compressed with xz.", "Unpack it first."),
    (b"\x28\xb5\x2f\xfd", "The file is compressed with Zstandard.", "Unpack it first."),
    (b"7z\xbc\xaf", "This is a 7z archive.", "Unpack it and give the file."),
    (b"Rar!", "This is a RAR archive.", "Unpack it and give the file."),
    (b"%PDF", "This is a PDF.", "Pairs are read from JSON, CSV, TSV, Parquet and XLSX."),
)


@dataclass(frozen=True, slots=True)
class BadRow:
    """A record that cannot be read and is left out: its place in the file, and why."""

    row: int
    problem: str


class _Absent(Enum):
    ABSENT = "absent"


ABSENT: Final = _Absent.ABSENT
"""The value of a column for a JSON record without the key (``null`` is ``None``), or for a row of a table that ends
before the column."""


@dataclass(frozen=True, slots=True, eq=False)
class RecordTable:
    """Records by column.

    ``read`` gives the values of a named column, one a record; ``rows`` the 1-based place of each record in the
    file. ``notes`` are findings about the file itself, ``bad`` the records that were left out because they cannot be
    read. ``around`` are the other members of the object that the list of records stands in. Of a workbook ``sheet`` is
    the one that was read, and ``sheets`` are all that hold something.
    """

    file: str
    container: Container
    names: tuple[str, ...]
    rows: Sequence[int]
    read: Callable[[str], list[Any]]
    notes: tuple[Finding, ...] = field(default=())
    bad: tuple[BadRow, ...] = field(default=())
    around: Mapping[str, Any] = field(default_factory=dict)
    sheet: str | None = None
    sheets: tuple[str, ...] = ()
    samples: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """The first values of each column, to look into."""
    album: Album | None = None
    """Where its pictures may lie; ``None``: below the folder of its file."""

    def column(self, name: str) -> list[Any]:
        """The values of a column, or what stands in its values under a dotted path.

        ``data.prompt`` is the member ``prompt`` of the objects in the column ``data``; a number is the place in a
        list from 0 (``turns.0``), and a name behind a list takes the member of each of its items. JSON in a cell is
        read. Where a record has no such member its value is :data:`ABSENT`.
        """
        if name in self.names:
            return self.read(name)
        top, path = self._split(name)
        return [_inside(value, path) for value in self.read(top)]

    def _split(self, name: str) -> tuple[str, list[str]]:
        parts = name.split(".")
        for count in range(len(parts) - 1, 0, -1):
            top = ".".join(parts[:count])
            if top in self.names:
                return top, parts[count:]
        raise KeyError(name)

    def has(self, name: str) -> bool:
        """True for a column, and for a dotted path that some record has."""
        if name in self.names:
            return True
        try:
            return any(value is not ABSENT for value in self.column(name))
        except KeyError:
            return False

    def nested(self, *, lists: bool = True, cells: bool = False) -> tuple[str, ...]:
        """The dotted paths of the texts and numbers inside the values of the first records; ``lists``: also of those
        inside lists, ``cells``: also of those in the JSON objects that cells hold."""
        paths: dict[str, None] = {}
        for name, values in self.samples.items():
            for value in values:
                inner = _unpacked(value) if cells and isinstance(value, str) and value[:1] == "{" else value
                _add_paths(name, inner, paths, 0, lists)
        return tuple(path for path in paths if path not in self.names)[:_MOST_PATHS]

    def holds_objects(self, name: str) -> bool:
        """True for a column whose first values are objects, no texts."""
        values = [value for value in self.samples.get(name, ()) if value is not None]
        return bool(values) and all(isinstance(value, dict) for value in values)

    def top(self, name: str) -> str:
        """The column that a dotted path begins with; of a column itself its name."""
        return name if name in self.names else self._split(name)[0]

    def take(self, places: Sequence[int]) -> RecordTable:
        """The records at some 0-based places."""

        def read(name: str) -> list[Any]:
            values = self.read(name)
            return [values[place] for place in places]

        return replace(self, rows=[self.rows[place] for place in places], read=read)

    def with_columns(self, **columns: list[Any]) -> RecordTable:
        """The table with columns added or replaced."""

        def read(name: str) -> list[Any]:
            return columns[name] if name in columns else self.read(name)

        names = tuple(dict.fromkeys((*self.names, *columns)))
        return replace(self, names=names, read=read)

    def head(self, count: int) -> RecordTable:
        """The first records only."""
        if count >= len(self.rows):
            return self
        return replace(self, rows=self.rows[:count], read=lambda name: self.read(name)[:count])

    def error(self, problem: str, mend: str, index: int | None = None, column: str | None = None) -> DataError:
        """An error at the record with the 0-based ``index``."""
        row = None if index is None else self.rows[index]
        return DataError(problem, mend, file=self.file, row=row, column=column)


_MOST_DEPTH: Final = 6
_MOST_PATHS: Final = 60


def _unpacked(value: Any) -> Any:
    """A value, or the JSON object or list that a cell holds."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return _JSON.decode(value)
        except (ValueError, RecursionError):
            return value
    return value


def _inside(value: Any, path: Sequence[str]) -> Any:
    value = _unpacked(value)
    for place, name in enumerate(path):
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal():
            number = int(name) if len(name) < 10 else len(value)
            value = value[number] if number < len(value) else ABSENT
        elif isinstance(value, list) and value:
            items = [_inside(item, path[place:]) for item in value]
            return ABSENT if all(item is ABSENT for item in items) else [None if i is ABSENT else i for i in items]
        elif isinstance(value, dict):
            # The name of a member may hold a dot itself.
            key = _dotted(value, path[place:])
            return ABSENT if key is None else _inside(value[key], path[place + key.count(".") + 1 :])
        else:
            return ABSENT
    return value


def _dotted(value: dict[str, Any], path: Sequence[str]) -> str | None:
    return next((key for count in range(len(path), 1, -1) if (key := ".".join(path[:count])) in value), None)


def _add_paths(path: str, value: Any, paths: dict[str, None], depth: int, lists: bool) -> None:
    if depth > _MOST_DEPTH:
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            _add_paths(f"{path}.{name}", inner, paths, depth + 1, lists)
    elif isinstance(value, list):
        objects = [item for item in value if isinstance(item, dict)]
        if objects and lists:
            _add_paths(path, objects[0], paths, depth + 1, lists)
        for place, item in enumerate(value[:2] if lists else ()):
            _add_paths(f"{path}.{place}", item, paths, depth + 1, lists)
    elif depth and value is not None:
        paths[path] = None


def tables(
    file: str,
    data: bytes,
    *,
    encoding: str | None = None,
    sheet: str | None = None,
    suits: Callable[[Sequence[str]], bool] = lambda names: True,
    leave_out_bad: bool = False,
    room: Room | None = None,
    watch: Watch = nothing,
) -> list[RecordTable]:
    """The tables in a file: one, or one for each file of a zip archive. What is compressed with gzip is unpacked.

    ``encoding`` names the encoding of a text that is neither UTF-8 nor marked. A text that is neither JSON nor
    delimited is a table with the one column ``line``. Of a workbook the named ``sheet`` is read; without one the first
    whose header ``suits``, or else the first that holds anything. ``leave_out_bad`` leaves out records that cannot be
    read, which are refused otherwise. ``room`` limits what is unpacked and the memory that reading takes.

    :raises DataError: the file is none of the known containers, is broken, or is too large.
    """
    source = _Source(encoding, sheet, suits, leave_out_bad, room or Room())
    if data.startswith(_GZIP):
        data = _gunzipped(file, data, source.room)
    if _is_zip(data):
        record_tables = []
        for name, content, share, end in _unzipped(file, data, source.room):
            record_tables.append(_file_table(name, content, source, part(watch, share, end)))
        return record_tables
    return [_file_table(file, data, source, watch)]


@dataclass(frozen=True, slots=True)
class _Source:
    """How a file is to be read."""

    encoding: str | None
    sheet: str | None
    suits: Callable[[Sequence[str]], bool]
    leave_out_bad: bool
    room: Room


def _file_table(file: str, data: bytes, source: _Source, watch: Watch) -> RecordTable:
    watch = source.room.watched(watch, file)
    watch(0)
    if data.startswith(_GZIP):
        data = _gunzipped(file, data, source.room)
    if data.startswith(_ZIP):
        return _xlsx_table(file, data, source, watch)
    if source.sheet is not None:
        raise DataError(
            f"The sheet {shown(source.sheet)} is asked for, and this is no Excel workbook.",
            "Leave out --sheet.",
            file=file,
        )
    if data.startswith(b"PAR1"):
        return _parquet_table(file, data, source.room)
    if data[257:262] == b"ustar":
        raise DataError("This is a tar archive.", "Unpack it and give the file.", file=file)
    for magic, problem, mend in _REFUSED:
        if data.startswith(magic):
            raise DataError(problem, mend, file=file)
    text, notes = _utf8(file, data, source.encoding)
    del data
    if not text or text.isspace():
        raise EmptyError(file)
    start = text.lstrip()[:1]
    read = _json_lines if start == b"{" else _json_document if start == b"[" else _delimited
    table = read(file, text, source, watch)
    return replace(table, notes=(*notes, *table.notes))


def release_memory() -> None:
    """Gives the memory of tables that are gone back to the system: Arrow, where it was needed, keeps it for its next
    table."""
    if pyarrow := sys.modules.get("pyarrow"):
        pyarrow.default_memory_pool().release_unused()


# --- encodings ---

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _utf8(file: str, data: bytes, encoding: str | None) -> tuple[bytes, tuple[Finding, ...]]:
    """The text as UTF-8 without a byte order mark; what is already UTF-8 is checked where it is parsed."""
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :], ()
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    source = marked or encoding
    if source is None or source.lower().replace("_", "-") in ("utf-8", "utf8"):
        head = data[:400]
        if head.count(0) * 3 > len(head):
            name = _unmarked(head)
            raise DataError(
                f"Many bytes are zero: the text looks like {name.upper()} without a byte order mark.",
                f"Save it as UTF-8, or name its encoding: --encoding {name}",
                file=file,
            )
        return data, ()
    try:
        text = data.decode(source)
    except LookupError:
        raise DataError(f"There is no encoding '{source}'.", "Use a name such as cp1252.", file=file) from None
    except UnicodeDecodeError as error:
        raise DataError(
            f"Byte {error.start + 1} of the file does not fit the encoding {source}.",
            "Name another encoding, or save the file as UTF-8.",
            file=file,
        ) from None
    note = Finding("encoding", "note", 1, f"{file} was read as {source}.")
    return text.encode("utf-8", "surrogatepass"), (note,)


def _unmarked(head: bytes) -> str:
    """The UTF-16 or UTF-32 that a text with many zero bytes is in: by the places of the zeros among each four bytes."""
    zeros = [head[place::4].count(0) * 4 > len(head) * 0.5 for place in range(4)]
    if sum(zeros) >= 3:
        return "utf-32-le" if not zeros[0] else "utf-32-be"
    return "utf-16-be" if head[0::2].count(0) > head[1::2].count(0) else "utf-16-le"


def _not_utf8(file: str, row: int, data: bytes, error: UnicodeDecodeError) -> EncodingError:
    byte = data[error.start : error.start + 1]
    guess = byte.decode("cp1252", "replace")
    return EncodingError(
        f"Byte 0x{byte.hex()} is not UTF-8 (after {shown(data[max(0, error.start - 20) : error.start])}).",
        f"Save the file as UTF-8, or name its encoding (--encoding cp1252 reads the byte as '{guess}').",
        file=file,
        row=row,
    )


def _decoded(file: str, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(file, data.count(b"\n", 0, error.start) + 1, data, error) from None


# --- JSON ---

# Not strict: a raw tab or carriage return inside a string is read as what it is.
_JSON: Final = json.JSONDecoder(strict=False)


def _json_lines(file: str, data: bytes, source: _Source, watch: Watch) -> RecordTable:
    records: list[dict[str, Any]] = []
    rows: list[int] = []
    bad: list[BadRow] = []
    number = 0
    place = heard = 0
    decode = _JSON.decode
    # Lines end at "\n" only: U+2028, U+0085 and a bare CR may stand inside a record. Files that were put together
    # may have a byte order mark at the start of any line.
    for number, line in enumerate(io.BytesIO(data), 1):
        place += len(line)
        if number % _RECORDS_PER_WATCH == 0 or place - heard > _BYTES_PER_WATCH:
            watch(place / len(data))
            heard = place
            if len(line) > _BYTES_PER_WATCH:
                source.room.require(file, _json_memory(line) + len(data), number)
        try:
            record = decode(line.decode("utf-8").lstrip("\ufeff"))
        except UnicodeDecodeError as error:
            raise _not_utf8(file, number, line, error) from None
        except (ValueError, RecursionError) as error:
            if not line.strip():
                continue
            if not records and not _more_objects(data):
                return _json_document(file, data, source, watch)
            broken = _broken_line(file, number, data, error)
            if not source.leave_out_bad:
                raise broken from None
            bad.append(BadRow(number, broken.problem))
            continue
        if type(record) is not dict:
            if not source.leave_out_bad:
                raise _no_record(file, number, record)
            bad.append(BadRow(number, _no_record(file, number, record).problem))
            continue
        records.append(record)
        rows.append(number)
    if len(records) == 1 and not bad and (wrapped := _wrapped_list(records[0])) is not None:
        return _json_records(file, *wrapped, source)
    blank = number - len(rows) - len(bad)
    notes = (Finding("blank_lines", "note", blank, f"{blank} blank lines were passed over."),) if blank else ()
    places = rows if blank or bad else range(1, number + 1)
    return replace(_from_records(file, "jsonl", records, places), notes=notes, bad=tuple(bad))


def _json_memory(data: bytes) -> float:
    """The most memory that parsing a JSON text at once takes, in bytes: its characters as text and in its strings, and
    an object for each value."""
    width = _letter_width(data)
    values = data.count(b",") + data.count(b"[") + data.count(b"{")
    return 2 * width * len(data) + 70 * values


def _letter_width(data: bytes) -> int:
    """The bytes that Python takes for each character of a UTF-8 text, which the widest of them decides."""
    return 4 if _FOUR_BYTES.search(data) else 2 if _WIDE.search(data) else 1


_WIDE = re.compile(rb"[\xc4-\xff]")
_FOUR_BYTES = re.compile(rb"[\xf0-\xff]")


def _more_objects(data: bytes) -> bool:
    """True where the second line with text begins an object too: a file of lines, and not one object over many."""
    lines = (line for line in io.BytesIO(data) if line.strip())
    next(lines)
    return next(lines, b"").startswith(b"{")


def _broken_line(file: str, row: int, data: bytes, error: Exception) -> DataError:
    last = data.rstrip().count(b"\n") + 1
    if row == last and getattr(error, "msg", "") != "Extra data":
        return DataError(
            f"The file ends in the middle of a record, or its last line is broken: {json_problem(error)}.",
            "Fetch the file again, or remove its last line.",
            file=file,
            row=row,
        )
    return DataError(
        f"This line is not valid JSON: {json_problem(error)}.",
        "Mend the line: one JSON object a line.",
        file=file,
        row=row,
    )


def _json_document(file: str, data: bytes, source: _Source, watch: Watch) -> RecordTable:
    if 5 * len(data) > source.room.most:
        source.room.require(file, (1 + _letter_width(data)) * len(data))
    text = _decoded(file, data)
    items = _list_items(text, watch)
    if items is not None:
        return _json_records(file, items, {}, source)
    source.room.require(file, _json_memory(data) + len(data))
    try:
        document = _JSON.decode(text)
    except json.JSONDecodeError as error:
        raise _broken_document(file, text, error) from None
    except (ValueError, RecursionError) as error:
        problem = f"The JSON cannot be read: {json_problem(error)}."
        raise DataError(problem, "Give a list of records.", file=file) from None
    wrapped = _wrapped_list(document) if isinstance(document, dict) else None
    if wrapped is not None:
        return _json_records(file, *wrapped, source)
    return _json_records(file, document if isinstance(document, list) else [document], {}, source)


_SPACE = re.compile(r"[ \t\n\r]*")


def _list_items(text: str, watch: Watch) -> list[Any] | None:
    """The items of a JSON list, ``None`` where the text is something else or broken.

    They are read one after the other: in one go no other thread could do anything meanwhile.
    """

    def skip(place: int) -> int:
        return _SPACE.match(text, place).end()  # type: ignore[union-attr]  # it matches nothing, too

    items: list[Any] = []
    place = skip(0)
    mark = text[place : place + 1]
    if mark != "[" or text.startswith("]", skip(place + 1)):
        return None
    while mark != "]":
        try:
            item, place = _JSON.raw_decode(text, skip(place + 1))
        except (ValueError, RecursionError):
            return None
        items.append(item)
        if len(items) % _RECORDS_PER_WATCH == 0:
            watch(place / len(text))
        place = skip(place)
        mark = text[place : place + 1]
        if mark not in (",", "]"):
            return None
    return items if skip(place + 1) == len(text) else None


def _json_records(file: str, records: list[Any], around: Mapping[str, Any], source: _Source) -> RecordTable:
    rows: Sequence[int] = range(1, len(records) + 1)
    bad: list[BadRow] = []
    for row, record in enumerate(records, 1):
        if type(record) is not dict:
            if not source.leave_out_bad:
                raise _no_record(file, row, record)
            bad.append(BadRow(row, _no_record(file, row, record).problem))
    if bad:
        rows = [row for row, record in enumerate(records, 1) if type(record) is dict]
        records = [record for record in records if type(record) is dict]
    return replace(_from_records(file, "json", records, rows), around=around, bad=tuple(bad))


_QUESTIONS: Final = ("question", "prompt", "query", "instruction", "input", "orig_instruction", "question_body")
_LISTS: Final = ("examples", "data", "records", "rows", "items", "pairs", "results", "samples", "instances")


def _wrapped_list(document: dict[str, Any]) -> tuple[list[Any], dict[str, Any]] | None:
    """The records of an object such as ``{"version": 1, "data": [{...}, ...]}``, and its other members.

    An object with a question of its own is a record, whatever lists it holds.
    """
    inner = [value for value in document.values() if isinstance(value, dict)]
    for members in (document, *(document[name] for name in ("data", "fields") if isinstance(document.get(name), dict))):
        if any(isinstance(members.get(name), str) for name in _QUESTIONS):
            return None
    for members in (document, *inner):
        lists = {
            name: value
            for name, value in members.items()
            if isinstance(value, list) and value and isinstance(value[0], dict)
        }
        if any("role" in value[0] and "content" in value[0] for value in lists.values()):
            return None
        names = [name for name in _LISTS if name in lists] if len(lists) > 1 else list(lists)
        if names:
            return lists[names[0]], {name: value for name, value in members.items() if name != names[0]}
    return None


def _broken_document(file: str, text: str, error: json.JSONDecodeError) -> DataError:
    """Says which record of a JSON list is broken, and whether the file was cut there."""
    if not text.lstrip().startswith("[") or error.msg == "Extra data":
        return DataError(
            f"Line {error.lineno} is not valid JSON: {json_words(error)} (column {error.colno}).",
            "Give JSON Lines (one object a line) or one JSON list of objects.",
            file=file,
            row=error.lineno,
        )
    whole = 0
    gap = re.compile(r"[\s,]*")
    place = text.index("[") + 1
    try:
        while place <= error.pos:
            _, place = _JSON.raw_decode(text, gap.match(text, place).end())  # type: ignore[union-attr]
            whole += 1
    except (ValueError, RecursionError):
        pass
    if error.pos < len(text.rstrip()) and not error.msg.startswith("Unterminated string"):
        return DataError(
            f"Line {error.lineno}, in or after record {whole + 1}, is not valid JSON: {json_words(error)} "
            f"(column {error.colno}).",
            "Mend the record: a JSON list of objects is expected.",
            file=file,
            row=whole + 1,
        )
    last = text.count("\n", 0, len(text.rstrip())) + 1
    return DataError(
        f"The list is not closed, the file was cut on line {last}: {whole} records are whole.",
        "Fetch the file again.",
        file=file,
        row=whole + 1,
    )


def _no_record(file: str, row: int, value: object) -> DataError:
    kind = "a list" if isinstance(value, list) else f"the value {shown(value)}"
    return DataError(
        f"Here is {kind}, not an object.", 'Each record is an object such as {"question": …}.', file=file, row=row
    )


def _from_records(file: str, container: Container, records: list[dict[str, Any]], rows: Sequence[int]) -> RecordTable:
    names: dict[str, None] = {}
    seen: set[tuple[str, ...]] = set()
    for record in records:
        keys = tuple(record)
        if keys not in seen:
            seen.add(keys)
            names.update(dict.fromkeys(keys))

    def column(name: str) -> list[Any]:
        return [record.get(name, ABSENT) for record in records]

    samples = {name: [record[name] for record in records[:_SAMPLES] if name in record] for name in names}
    return _not_empty(RecordTable(file, container, tuple(names), rows, column, samples=samples))


def _from_lists(file: str, container: Container, columns: dict[str, list[Any]], rows: Sequence[int]) -> RecordTable:
    samples = {name: column[:_SAMPLES] for name, column in columns.items()}
    return _not_empty(RecordTable(file, container, tuple(columns), rows, columns.__getitem__, samples=samples))


def _not_empty(table: RecordTable) -> RecordTable:
    if not table.rows:
        raise EmptyError(table.file)
    return table


# --- CSV, TSV and plain lines ---


def _delimited(file: str, data: bytes, source: _Source, watch: Watch) -> RecordTable:
    head = data[: 2**20].decode("utf-8", "replace")
    delimiter = max(",\t;|", key=lambda mark: len(_header(head, mark)))
    names = _header(head, delimiter)
    if len(names) < 2:
        return _lines(file, data)
    # Arrow holds the text once more, and numbers for each cell.
    if 12 * len(data) > source.room.most:
        source.room.require(file, 2 * len(data) + 10 * (data.count(delimiter.encode()) + data.count(b"\n")))
    columns = _read_fast(data, names, delimiter, watch)
    notes: tuple[Finding, ...] = ()
    bad: list[BadRow] = []
    if columns is not None:
        rows: Sequence[int] = range(2, len(columns[0]) + 2)
    else:
        columns, rows, notes = _read_careful(file, data, len(names), delimiter, source, bad, watch)
    columns, rows, blank = _without_empty_rows(columns, rows)
    if blank:
        notes = (*notes, Finding("blank_lines", "note", blank, f"{blank} empty rows were passed over."))
    named = dict(zip(_column_names(file, names), columns, strict=True))
    table = _from_lists(file, "tsv" if delimiter == "\t" else "csv", named, rows)
    return replace(table, notes=notes, bad=tuple(bad))


def _lines(file: str, data: bytes) -> RecordTable:
    lines = [line.removesuffix("\r") for line in _decoded(file, data).split("\n")]
    while not lines[-1]:
        lines.pop()
    return _from_lists(file, "lines", {"line": list(lines)}, range(1, len(lines) + 1))


def _header(head: str, delimiter: str) -> list[str]:
    reader = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
    try:
        return next((row for row in reader if row), [])
    except csv.Error:
        return []


def _column_names(file: str, names: Sequence[str]) -> list[str]:
    """Names of columns: the unnamed get one, the same name twice is an error."""
    named = [name or f"column {place}" for place, name in enumerate(names, 1)]
    twice = sorted({name for name in named if named.count(name) > 1})
    if twice:
        raise DataError(
            f"Several columns have the same name: {listed(twice)}.", "Rename them in the header.", file=file, row=1
        )
    return named


def _read_fast(data: bytes, names: Sequence[str], delimiter: str, watch: Watch) -> list[list[Any]] | None:
    """The columns of a regular table; ``None`` where something is odd and :func:`_read_careful` has to look."""
    # An odd number of quotes is an unfinished text; a quote amid other characters closes a text too early, or is
    # none. Arrow would read both without a word.
    mark = re.escape(delimiter).encode()
    loose = re.compile(rb'"(?!["\r\n%s])(?<!["\r\n%s]")' % (mark, mark))
    if data[:1].isspace() or data.count(b'"') % 2 or loose.search(data, 1):
        return None
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.csv as pa_csv  # type: ignore[import-untyped]

    places = [str(place) for place in range(len(names))]
    watch(0.1)
    # One thread: fields with line breaks are split by one anyhow, and handing blocks on takes longer than parsing.
    try:
        read = pa_csv.read_csv(
            pa.BufferReader(data),
            read_options=pa_csv.ReadOptions(
                column_names=places, skip_rows_after_names=1, block_size=_CSV_BLOCK, use_threads=False
            ),
            parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=False),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    columns = []
    for place, name in enumerate(places):
        column: list[Any] = []
        for start in range(0, read.num_rows, _CELLS_PER_WATCH):
            watch(0.6 + 0.4 * place / len(places))
            column += read[name].slice(start, _CELLS_PER_WATCH).to_pylist()
        columns.append(column)
    return columns


def _read_careful(
    file: str, data: bytes, width: int, delimiter: str, source: _Source, bad: list[BadRow], watch: Watch
) -> tuple[list[list[Any]], list[int], tuple[Finding, ...]]:
    """The columns of a table with odd rows, and an error that names the first row that cannot be right.

    Rows that end early have :data:`ABSENT` cells; rows with further cells are an error (or go to ``bad``), since a
    text with an unquoted delimiter looks like that.
    """
    limit = source.room.limit
    _require_short_lines(file, data, max(2**16, limit // 8), limit)
    rows: list[int] = []
    records: list[list[Any]] = []
    short = row = 0
    header_seen = False
    # A cell is put together from four bytes a character, in room that doubles.
    before = csv.field_size_limit(min(_FIELD_LIMIT, max(2**16, limit // 16)))
    try:
        # Decoded piece by piece: as one text it could take four times its size.
        text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
        for row, cells in enumerate(csv.reader(text, delimiter=delimiter, strict=True), 1):
            if not header_seen:
                header_seen = bool(cells)
                continue
            if row % _RECORDS_PER_WATCH == 0:
                watch(0.5)
            if len(cells) > width and any(cells[width:]):
                problem = f"The row has {len(cells)} cells, the header {width}; the first cell is {shown(cells[0])}."
                if source.leave_out_bad:
                    bad.append(BadRow(row, problem))
                    continue
                mend = f"Put texts that hold {shown(delimiter)} or line breaks between double quotes."
                raise DataError(problem, mend, file=file, row=row)
            short += 0 < len(cells) < width
            records.append([*cells, *[ABSENT] * (width - len(cells))][:width])
            rows.append(row)
    except UnicodeDecodeError:
        _decoded(file, data)
        raise
    except csv.Error as error:
        raise _broken_row(file, error, limit, row + 1) from None
    finally:
        csv.field_size_limit(before)
    columns = [list(column) for column in zip(*records, strict=True)] if records else [[] for _ in range(width)]
    message = f"{short} rows end before the last column; the rest is read as empty."
    return columns, rows, (Finding("short_rows", "warning", short, message),) if short else ()


def _broken_row(file: str, error: csv.Error, limit: int, row: int) -> DataError:
    """The error for a row of a table that cannot be read."""
    if "field limit" in str(error):
        return too_large(file, limit, "A cell of this row is too long", row)
    return DataError(
        "A quoted text that begins in this row never ends."
        if "end of data" in str(error)
        else "A quoted text ends in the middle of a cell.",
        'Double the quotes inside a quoted text (""); where the file was cut, fetch it again.',
        file=file,
        row=row,
    )


def _require_short_lines(file: str, data: bytes, most: int, limit: int) -> None:
    """Refuses a line of more than ``most`` bytes, which the reader would hold several times over."""
    place = 0
    while len(data) - place > most:
        end = data.rfind(b"\n", place, place + most)
        if end < 0:
            row = data.count(b"\n", 0, place) + 1
            raise too_large(file, limit, f"A line of the file has more than {size_text(most)}", row)
        place = end + 1


def _without_empty_rows(columns: list[list[Any]], rows: Sequence[int]) -> tuple[list[list[Any]], Sequence[int], int]:
    def is_empty(index: int) -> bool:
        return all(column[index] in ("", ABSENT) for column in columns)

    kept = [index for index, cell in enumerate(columns[0]) if cell not in ("", ABSENT) or not is_empty(index)]
    empty = len(rows) - len(kept)
    if not empty:
        return columns, rows, 0
    return [[column[index] for index in kept] for column in columns], [rows[index] for index in kept], empty


# --- Parquet, XLSX and zip ---


def _parquet_table(file: str, data: bytes, room: Room) -> RecordTable:
    import pyarrow as pa
    import pyarrow.parquet as pa_parquet  # type: ignore[import-untyped]

    try:
        parquet = pa_parquet.ParquetFile(pa.BufferReader(data))
        _require_small(file, data, parquet, room)
        pieces = []
        size = 0
        for piece in parquet.iter_batches(batch_size=_parquet_rows(data, parquet, room)):
            size += piece.nbytes
            if size > room.limit:
                raise too_large(file, room.limit, f"The file unpacks to more than {size_text(size)}")
            pieces.append(piece)
        read = pa.Table.from_batches(pieces, parquet.schema_arrow)
        names = _column_names(file, read.column_names)
    except DataError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, OverflowError) as error:
        # A library's sentence may be about its own insides; only Arrow's are about the file.
        why = f": {_reason(error)}" if isinstance(error, pa.ArrowException) else ", it is damaged"
        raise DataError(f"The Parquet file cannot be read{why}.", "Fetch it again.", file=file) from None
    places = {name: place for place, name in enumerate(names)}

    def column(name: str) -> list[Any]:
        try:
            values: list[Any] = []
            for chunk in read.column(places[name]).chunks:
                values += chunk.to_pylist()
                room.check(file)
        except UnicodeDecodeError:
            raise DataError("A text is not UTF-8.", "Fetch the file again.", file=file, column=name) from None
        return values

    rows = range(1, read.num_rows + 1)
    return _not_empty(
        RecordTable(file, "parquet", tuple(names), rows, column, samples=_parquet_samples(file, read, names))
    )


def _parquet_samples(file: str, read: Any, names: Sequence[str]) -> dict[str, list[Any]]:
    try:
        head = read.slice(0, _SAMPLES)
        return {name: head.column(place).to_pylist() for place, name in enumerate(names)}
    except UnicodeDecodeError:
        return {}  # said where the texts are read


def _chunks(parquet: Any) -> Iterator[Any]:
    """Each chunk of a column that a Parquet file holds (its metadata)."""
    for group in range(parquet.metadata.num_row_groups):
        for place in range(parquet.metadata.num_columns):
            yield parquet.metadata.row_group(group).column(place)


def _require_small(file: str, data: bytes, parquet: Any, room: Room) -> None:
    """Refuses what unpacks to more than the limit, before it is unpacked.

    The metadata say what the pages unpack to; a dictionary whose texts are repeated is not in that, and of columns
    inside lists a single record may repeat them without end: there the dictionary's texts are counted.
    """
    unpacked = sum(chunk.total_uncompressed_size for chunk in _chunks(parquet))
    if unpacked > room.limit:
        raise too_large(file, room.limit, f"The file unpacks to {size_text(unpacked)}")
    inside = [
        chunk.path_in_schema for chunk in _chunks(parquet) if "." in chunk.path_in_schema and chunk.has_dictionary_page
    ]
    import pyarrow as pa
    import pyarrow.parquet as pa_parquet

    for path in dict.fromkeys(inside):
        coded = pa_parquet.ParquetFile(pa.BufferReader(data), read_dictionary=[path]).read([path])
        size = sum(_decoded_size(chunk) for column in coded.columns for chunk in column.chunks)
        if size > room.limit:
            raise too_large(file, room.limit, f"The column {shown(path)} unpacks to {size_text(size)}")


def _decoded_size(array: Any) -> int:
    """The bytes of an Arrow array with its dictionaries written out."""
    import pyarrow as pa
    import pyarrow.compute as pa_compute  # type: ignore[import-untyped]

    kind = array.type
    if pa.types.is_dictionary(kind):
        if not (pa.types.is_string(kind.value_type) or pa.types.is_binary(kind.value_type)):
            return int(array.nbytes)
        lengths = pa_compute.binary_length(array.dictionary)
        return int(pa_compute.sum(pa_compute.take(lengths, array.indices)).as_py() or 0)
    if pa.types.is_struct(kind):
        return sum(_decoded_size(array.field(place)) for place in range(kind.num_fields))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        return _decoded_size(array.flatten() if not pa.types.is_map(kind) else array.items)
    return int(array.nbytes)


def _parquet_rows(data: bytes, parquet: Any, room: Room) -> int:
    """How many rows are unpacked at once: the longest text of a dictionary, in all of them, stays within the limit."""
    longest = 1
    for chunk in _chunks(parquet):
        if chunk.has_dictionary_page:
            longest = max(longest, _page_size(data, chunk.dictionary_page_offset) or chunk.total_uncompressed_size)
    return max(1, min(_PARQUET_ROWS, room.limit // 4 // longest))


def _page_size(data: bytes, place: int) -> int:
    """The unpacked size of the page at a place, from its header: the second of two zigzag numbers (Thrift's compact
    protocol, parquet.thrift's PageHeader). 0 where the header is another."""
    sizes = []
    for _ in range(2):
        if data[place : place + 1] != b"\x15":
            return 0
        number = shift = 0
        while True:
            place += 1
            byte = data[place]
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        place += 1
        sizes.append(number >> 1)
    return sizes[1]


_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_LEADING_ZEROS = re.compile(r"0{2,}")


def _xlsx_table(file: str, data: bytes, source: _Source, watch: Watch) -> RecordTable:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(info.file_size for info in archive.infolist())
    if size > source.room.limit:
        raise too_large(file, source.room.limit, f"The workbook unpacks to {size_text(size)}")
    import openpyxl  # type: ignore[import-untyped]

    with _whole_workbook(file):
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        titled = {sheet.title: sheet for sheet in book.worksheets}
    heads = {title: _sheet_head(file, sheet) for title, sheet in titled.items()}
    sheets = tuple(title for title, head in heads.items() if head)
    if not sheets:
        raise EmptyError(file)
    title = _chosen_sheet(file, heads, sheets, source)
    table = _sheet_table(file, title, _sheet_rows(file, titled[title], watch), source)
    notes = _without_value(file, data, titled[title], table)
    others = [sheet for sheet in sheets if sheet != title]
    if others and source.sheet is None:
        message = f"Only sheet '{title}' was read, not {listed(others)}."
        notes.append(Finding("other_sheets", "warning", len(others), message))
    return replace(table, notes=tuple(notes), sheet=title, sheets=sheets)


def _chosen_sheet(file: str, heads: Mapping[str, list[str]], sheets: Sequence[str], source: _Source) -> str:
    """The sheet to read: the named one, the first with a header that suits, or the first that holds anything."""
    if source.sheet is None:
        return next((title for title in sheets if source.suits(heads[title])), sheets[0])
    by_name = {title.casefold(): title for title in reversed(tuple(heads))}
    title = source.sheet if source.sheet in heads else by_name.get(source.sheet.casefold())
    if title is None or title not in sheets:
        problem = "is empty" if title is not None else "is not there"
        raise DataError(
            f"The sheet {shown(source.sheet)} {problem}; the sheets are {listed([shown(sheet) for sheet in sheets])}.",
            "Name one of them: --sheet NAME",
            file=file,
        )
    return title


def _sheet_table(file: str, title: str, rows: list[tuple[int, list[Any]]], source: _Source) -> RecordTable:
    (_, header), *records = rows
    width = max((place for place, cell in enumerate(header, 1) if cell != ""), default=0)
    bad: list[BadRow] = []
    for row, cells in records:
        if any(cell != "" for cell in cells[width:]):
            problem = f"The row has cells beyond the last named column ({width})."
            if not source.leave_out_bad:
                raise DataError(problem, f"Name the columns in the header of sheet '{title}'.", file=file, row=row)
            bad.append(BadRow(row, problem))
    if bad:
        left = {bad_row.row for bad_row in bad}
        records = [(row, cells) for row, cells in records if row not in left]
    names = _column_names(file, [str(cell) for cell in header[:width]])
    columns = {
        name: [cells[place] if place < len(cells) else "" for _, cells in records] for place, name in enumerate(names)
    }
    return replace(_from_lists(file, "xlsx", columns, [row for row, _ in records]), bad=tuple(bad))


_FORMULA = re.compile(
    rb'<(?:\w+:)?c [^>]*?r="[A-Z]+(\d+)"[^>]*>\s*<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)'
    rb"\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)


def _without_value(file: str, data: bytes, sheet: Any, table: RecordTable) -> list[Finding]:
    """What there is to say of formulas whose result the program that wrote the workbook did not keep."""
    with _whole_workbook(file), zipfile.ZipFile(io.BytesIO(data)) as archive:
        path = str(getattr(sheet, "_worksheet_path", "")).lstrip("/")
        text = archive.read(path) if path in archive.namelist() else b""
    rows = sorted({int(match[1]) for match in _FORMULA.finditer(text)})
    if not rows:
        return []
    places = listed([f"{row:,}" for row in rows])
    message = (
        f"{len(rows)} rows of sheet '{sheet.title}' hold formulas without a result, which are read as empty: row "
        f"{places}. Open the workbook in Excel or LibreOffice and save it: then the results are in it."
    )
    return [Finding("formulas_without_value", "warning", len(rows), message)]


@contextmanager
def _whole_workbook(file: str) -> Iterator[None]:
    """Turns what openpyxl raises, which is whatever the broken part made it raise, into the error for it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except DataError:
        raise
    except Exception:
        # What the library says is about its own insides.
        raise DataError(
            "The Excel file cannot be read: a part of it is damaged or missing.", "Save it again as .xlsx.", file=file
        ) from None


def _sheet_head(file: str, sheet: Any) -> list[str]:
    """The cells of the first row that holds anything, as texts; none where no row does."""
    with _whole_workbook(file):
        sheet.reset_dimensions()
        for cells in sheet.iter_rows(values_only=True):
            if any(value is not None and value != "" for value in cells):
                return ["" if value is None else str(value) for value in cells]
    return []


def _sheet_rows(file: str, sheet: Any, watch: Watch) -> list[tuple[int, list[Any]]]:
    """(row number, values) of the rows of a sheet that hold anything; empty cells are ``""``."""
    with _whole_workbook(file):
        expected = sheet.max_row
        # Some writers store a wrong size, which would hide rows.
        sheet.reset_dimensions()
        cells_of_rows = sheet.iter_rows()
    rows: list[tuple[int, list[Any]]] = []
    number = 0
    while True:
        with _whole_workbook(file):
            some = [
                ["" if cell.value is None else _cell(cell) for cell in cells]
                for cells in islice(cells_of_rows, _RECORDS_PER_WATCH)
            ]
        if not some:
            return rows
        for values in some:
            number += 1
            if any(value != "" for value in values):
                rows.append((number, values))
        watch(min(1.0, number / expected) if expected else 0.5)


def _cell(cell: Any) -> Any:
    value = cell.value
    if isinstance(value, str):
        return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), value) if "_x" in value else value
    if isinstance(value, int) and not isinstance(value, bool) and _LEADING_ZEROS.fullmatch(str(cell.number_format)):
        return str(value).zfill(len(cell.number_format))
    if isinstance(value, datetime) and value.time() == time() and not _TIME.search(_plain_format(cell)):
        return value.date().isoformat()
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value


_TIME = re.compile("[hs]", re.IGNORECASE)


def _plain_format(cell: Any) -> str:
    """A cell's number format without what stands in it as text, such as a locale."""
    return re.sub(r'"[^"]*"|\[[^\]]*\]|\\.', "", str(cell.number_format))


def xlsx_escaped(text: str) -> str:
    """A text with the characters that XML cannot hold written as ``_xHHHH_`` (ECMA-376, ST_Xstring)."""
    text = re.sub(r"_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", text)
    return re.sub("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]", lambda match: f"_x{ord(match[0]):04X}_", text)


def _is_zip(data: bytes) -> bool:
    """True for an archive of files, false for a workbook, which is an archive too."""
    if not data.startswith(_ZIP):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return "xl/workbook.xml" not in archive.namelist()
    except _BROKEN_ZIP:
        return True


def _unzipped(file: str, data: bytes, room: Room) -> Iterator[tuple[str, bytes, float, float]]:
    """(name, content, share of the work before it, and with it) of each file of an archive, one after the other."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [info for info in archive.infolist() if _is_data(info)]
            size = sum(info.file_size for info in members)
            if size > room.limit:
                raise too_large(file, room.limit, f"The archive unpacks to {size_text(size)}")
            for place, info in enumerate(members):
                content = archive.read(info)
                yield f"{file}/{info.filename}", content, place / len(members), (place + 1) / len(members)
    except DataError:
        raise
    except _BROKEN_ZIP as error:
        raise DataError(
            f"The archive cannot be read: {_reason(error)}.", "Fetch it again, or unpack it.", file=file
        ) from None
    if not members:
        raise DataError("The archive holds no file.", "Give an archive with a file of pairs.", file=file)


def _gunzipped(file: str, data: bytes, room: Room) -> bytes:
    """What a gzip file holds, which may be several parts one behind the other."""
    pieces: list[bytes] = []
    size = 0
    try:
        while data.startswith(_GZIP):
            unpacker = zlib.decompressobj(wbits=31)
            rest = data
            while rest and not unpacker.eof:
                pieces.append(unpacker.decompress(rest, _BYTES_PER_WATCH))
                size += len(pieces[-1])
                if size > room.limit:
                    raise too_large(file, room.limit, f"The file unpacks to more than {size_text(size)}")
                rest = unpacker.unconsumed_tail
            if not unpacker.eof:
                raise DataError("The compressed file was cut.", "Fetch it again.", file=file)
            data = unpacker.unused_data.lstrip(b"\0")
    except zlib.error:
        raise DataError("The compressed file is damaged.", "Fetch it again.", file=file) from None
    return b"".join(pieces)


def _reason(error: Exception) -> str:
    """A library's message, to stand inside a sentence."""
    return str(error).rstrip(". ") or type(error).__name__


def _is_data(info: zipfile.ZipInfo) -> bool:
    parts = info.filename.split("/")
    return not info.is_dir() and "__MACOSX" not in parts and not parts[-1].startswith(".")
