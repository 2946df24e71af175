"""From the bytes of a file to a table of columns, told by content and never by suffix."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from enum import Enum
from itertools import islice
from typing import Any, Final, Literal

import openpyxl  # type: ignore[import-untyped]
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.csv as pa_csv  # type: ignore[import-untyped]
import pyarrow.parquet as pa_parquet  # type: ignore[import-untyped]

from judgenet.formats.errors import DataError, EncodingError, listed, shown
from judgenet.formats.findings import Finding
from judgenet.formats.watch import Watch, nothing, part

Container = Literal["jsonl", "json", "csv", "tsv", "parquet", "xlsx", "lines"]
"""How a file holds its records. ``lines`` is a plain text, one record a line, without a header."""

_ZIP = b"PK\x03\x04"
_ZIP_LIMIT = 2**31
# RuntimeError: encrypted; NotImplementedError: an unknown compression; the others: damaged.
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, NotImplementedError)
_CSV_BLOCK = 2**24
_RECORDS_PER_WATCH = 500
_FIELD_LIMIT = 2**31 - 1


_REFUSED = (
    (b"\xd0\xcf\x11\xe0", "This is an old Excel file (.xls).", "Save it as .xlsx."),
    (b"\x1f\x8b", "The file is compressed with gzip.", "Unpack it first."),
    (b"%PDF", "This is a PDF.", "Pairs are read from JSON, CSV, TSV, Parquet and XLSX."),
)


class _Absent(Enum):
    ABSENT = "absent"


ABSENT: Final = _Absent.ABSENT
"""The value of a column for a JSON record without the key (``null`` is ``None``), or for a row of a table that ends
before the column."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Records by column.

    ``column`` gives the values of a named column, one a record; ``rows`` the 1-based place of each record in the
    file. ``notes`` are findings about the file itself.
    """

    file: str
    container: Container
    names: tuple[str, ...]
    rows: Sequence[int]
    column: Callable[[str], list[Any]]
    notes: tuple[Finding, ...] = field(default=())

    def with_columns(self, **columns: list[Any]) -> Table:
        """The table with columns added or replaced."""

        def column(name: str) -> list[Any]:
            return columns[name] if name in columns else self.column(name)

        names = tuple(dict.fromkeys((*self.names, *columns)))
        return replace(self, names=names, column=column)

    def head(self, count: int) -> Table:
        """The first records only."""
        if count >= len(self.rows):
            return self
        return replace(self, rows=self.rows[:count], column=lambda name: self.column(name)[:count])

    def error(self, problem: str, mend: str, index: int | None = None, column: str | None = None) -> DataError:
        """An error at the record with the 0-based ``index``."""
        row = None if index is None else self.rows[index]
        return DataError(problem, mend, file=self.file, row=row, column=column)


def tables(file: str, data: bytes, *, encoding: str | None = None, watch: Watch = nothing) -> list[Table]:
    """The tables in a file: one, or one for each file of a zip archive.

    ``encoding`` names the encoding of a text that is neither UTF-8 nor marked. A text that is neither JSON nor
    delimited is a table with the one column ``line``.

    :raises DataError: the file is none of the known containers, or is broken.
    """
    if _is_zip(data):
        files = _unzipped(file, data)
        count = len(files)
        return [
            _file_table(name, content, encoding, part(watch, place / count, (place + 1) / count))
            for place, (name, content) in enumerate(files)
        ]
    return [_file_table(file, data, encoding, watch)]


def _file_table(file: str, data: bytes, encoding: str | None, watch: Watch) -> Table:
    watch(0)
    if data.startswith(_ZIP):
        return _xlsx_table(file, data, watch)
    if data.startswith(b"PAR1"):
        return _parquet_table(file, data)
    for magic, problem, mend in _REFUSED:
        if data.startswith(magic):
            raise DataError(problem, mend, file=file)
    text, notes = _utf8(file, data, encoding)
    if not text or text.isspace():
        raise DataError("The file is empty.", "Give a file with at least one pair.", file=file)
    start = text.lstrip()[:1]
    table = (_json_lines if start == b"{" else _json_document if start == b"[" else _delimited)(file, text, watch)
    return replace(table, notes=(*notes, *table.notes))


def release_memory() -> None:
    """Gives the memory of tables that are gone back to the system: Arrow keeps it for its next table."""
    pa.default_memory_pool().release_unused()


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
            raise DataError(
                "Every other byte is zero: the text is in UTF-16 or UTF-32 without a byte order mark.",
                "Save it as UTF-8, or name its encoding (--encoding utf-16-le).",
                file=file,
            )
        return data, ()
    try:
        text = data.decode(source)
    except LookupError:
        raise DataError(f"There is no encoding '{source}'.", "Use a name such as cp1252.", file=file) from None
    except UnicodeDecodeError as error:
        raise DataError(
            f"Byte {error.start + 1} of the file does not fit the encoding {source}: {error.reason}.",
            "Name another encoding, or save the file as UTF-8.",
            file=file,
        ) from None
    note = Finding("encoding", "note", 1, f"{file} was read as {source}.")
    return text.encode("utf-8", "surrogatepass"), (note,)


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


def _json_lines(file: str, data: bytes, watch: Watch) -> Table:
    records: list[dict[str, Any]] = []
    rows: list[int] = []
    number = 0
    place = 0
    decode = _JSON.decode
    # Lines end at "\n" only: U+2028, U+0085 and a bare CR may stand inside a record. Files that were put together
    # may have a byte order mark at the start of any line.
    for number, line in enumerate(io.BytesIO(data), 1):
        place += len(line)
        if number % _RECORDS_PER_WATCH == 0:
            watch(place / len(data))
        try:
            record = decode(line.decode("utf-8").lstrip("\ufeff"))
        except UnicodeDecodeError as error:
            raise _not_utf8(file, number, line, error) from None
        except (ValueError, RecursionError) as error:
            if not line.strip():
                continue
            if not records and not _more_objects(data):
                return _json_document(file, data, watch)
            raise _broken_line(file, number, data, error) from None
        if type(record) is not dict:
            raise _no_record(file, number, record)
        records.append(record)
        rows.append(number)
    if len(records) == 1 and (wrapped := _wrapped_list(records[0])) is not None:
        return _json_records(file, wrapped)
    blank = number - len(rows)
    notes = (Finding("blank_lines", "note", blank, f"{blank} blank lines were passed over."),) if blank else ()
    return replace(_from_records(file, "jsonl", records, rows if blank else range(1, number + 1)), notes=notes)


def _more_objects(data: bytes) -> bool:
    """True where the second line with text begins an object too: a file of lines, and not one object over many."""
    lines = (line for line in io.BytesIO(data) if line.strip())
    next(lines)
    return next(lines, b"").startswith(b"{")


def _broken_line(file: str, row: int, data: bytes, error: Exception) -> DataError:
    last = data.rstrip().count(b"\n") + 1
    if row == last:
        return DataError(
            f"The file ends in the middle of a record, it was cut ({error}).",
            "Fetch the file again, or remove its last line.",
            file=file,
            row=row,
        )
    return DataError(
        f"This line is not valid JSON: {error}.", "Mend the line: one JSON object a line.", file=file, row=row
    )


def _json_document(file: str, data: bytes, watch: Watch) -> Table:
    text = _decoded(file, data)
    items = _list_items(text, watch)
    if items is not None:
        return _json_records(file, items)
    try:
        document = _JSON.decode(text)
    except json.JSONDecodeError as error:
        raise _broken_document(file, text, error) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"Not valid JSON: {error}.", "Give a list of records.", file=file) from None
    if isinstance(document, dict):
        wrapped = _wrapped_list(document)
        document = [document] if wrapped is None else wrapped
    return _json_records(file, document)


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


def _json_records(file: str, records: list[Any]) -> Table:
    for row, record in enumerate(records, 1):
        if type(record) is not dict:
            raise _no_record(file, row, record)
    return _from_records(file, "json", records, range(1, len(records) + 1))


def _wrapped_list(document: dict[str, Any]) -> list[Any] | None:
    """The records of an object such as ``{"version": 1, "data": [{...}, ...]}``."""
    lists = [value for value in document.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
    messages = any("role" in value[0] and "content" in value[0] for value in lists)
    return lists[0] if len(lists) == 1 and not messages else None


def _broken_document(file: str, text: str, error: json.JSONDecodeError) -> DataError:
    """Says which record of a JSON list is broken, and whether the file was cut there."""
    if not text.lstrip().startswith("[") or error.msg == "Extra data":
        return DataError(
            f"Line {error.lineno} is not valid JSON: {error.msg} (column {error.colno}).",
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
            f"Line {error.lineno}, in or after record {whole + 1}, is not valid JSON: {error.msg} "
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


def _from_records(file: str, container: Container, records: list[dict[str, Any]], rows: Sequence[int]) -> Table:
    names: dict[str, None] = {}
    seen: set[tuple[str, ...]] = set()
    for record in records:
        keys = tuple(record)
        if keys not in seen:
            seen.add(keys)
            names.update(dict.fromkeys(keys))

    def column(name: str) -> list[Any]:
        return [record.get(name, ABSENT) for record in records]

    return _not_empty(Table(file, container, tuple(names), rows, column))


def _from_lists(file: str, container: Container, columns: dict[str, list[Any]], rows: Sequence[int]) -> Table:
    return _not_empty(Table(file, container, tuple(columns), rows, columns.__getitem__))


def _not_empty(table: Table) -> Table:
    if not table.rows:
        raise DataError("The file holds no pairs.", "Give a file with at least one pair.", file=table.file)
    return table


# --- CSV, TSV and plain lines ---


def _delimited(file: str, data: bytes, watch: Watch) -> Table:
    head = data[: 2**20].decode("utf-8", "replace")
    delimiter = max(",\t;|", key=lambda mark: len(_header(head, mark)))
    names = _header(head, delimiter)
    if len(names) < 2:
        return _lines(file, data)
    columns = _read_fast(data, names, delimiter, watch)
    notes: tuple[Finding, ...] = ()
    if columns is not None:
        rows: Sequence[int] = range(2, len(columns[0]) + 2)
    else:
        columns, rows, notes = _read_careful(file, _decoded(file, data), len(names), delimiter, watch)
    columns, rows, blank = _without_empty_rows(columns, rows)
    if blank:
        notes = (*notes, Finding("blank_lines", "note", blank, f"{blank} empty rows were passed over."))
    named = dict(zip(_column_names(file, names), columns, strict=True))
    return replace(_from_lists(file, "tsv" if delimiter == "\t" else "csv", named, rows), notes=notes)


def _lines(file: str, data: bytes) -> Table:
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
        watch(0.6 + 0.4 * place / len(places))
        columns.append(read[name].to_pylist())
    return columns


def _read_careful(
    file: str, text: str, width: int, delimiter: str, watch: Watch
) -> tuple[list[list[Any]], list[int], tuple[Finding, ...]]:
    """The columns of a table with odd rows, and an error that names the first row that cannot be right.

    Rows that end early have :data:`ABSENT` cells; rows with further cells are an error, since a text with an
    unquoted delimiter looks like that.
    """
    rows: list[int] = []
    records: list[list[Any]] = []
    short = row = 0
    header_seen = False
    limit = csv.field_size_limit(_FIELD_LIMIT)
    try:
        for row, cells in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True), 1):
            if not header_seen:
                header_seen = bool(cells)
                continue
            if row % _RECORDS_PER_WATCH == 0:
                watch(0.5)
            if len(cells) > width and any(cells[width:]):
                raise DataError(
                    f"The row has {len(cells)} cells, the header {width}; the first cell is {shown(cells[0])}.",
                    f"Put texts that hold {shown(delimiter)} or line breaks between double quotes.",
                    file=file,
                    row=row,
                )
            short += 0 < len(cells) < width
            records.append([*cells, *[ABSENT] * (width - len(cells))][:width])
            rows.append(row)
    except csv.Error as error:
        raise DataError(
            "A quoted text that begins in this row never ends."
            if "end of data" in str(error)
            else f"A quoted text ends in the middle of a cell ({error}).",
            'Double the quotes inside a quoted text (""); where the file was cut, fetch it again.',
            file=file,
            row=row + 1,
        ) from None
    finally:
        csv.field_size_limit(limit)
    columns = [list(column) for column in zip(*records, strict=True)] if records else [[] for _ in range(width)]
    message = f"{short} rows end before the last column; the rest is read as empty."
    return columns, rows, (Finding("short_rows", "warning", short, message),) if short else ()


def _without_empty_rows(columns: list[list[Any]], rows: Sequence[int]) -> tuple[list[list[Any]], Sequence[int], int]:
    def is_empty(index: int) -> bool:
        return all(column[index] in ("", ABSENT) for column in columns)

    kept = [index for index, cell in enumerate(columns[0]) if cell not in ("", ABSENT) or not is_empty(index)]
    empty = len(rows) - len(kept)
    if not empty:
        return columns, rows, 0
    return [[column[index] for index in kept] for column in columns], [rows[index] for index in kept], empty


# --- Parquet, XLSX and zip ---


def _parquet_table(file: str, data: bytes) -> Table:
    try:
        read = pa_parquet.read_table(pa.BufferReader(data))
        found = read.column_names
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        problem = f"The Parquet file cannot be read: {_reason(error)}."
        raise DataError(problem, "Fetch it again.", file=file) from None
    names = _column_names(file, found)
    places = {name: place for place, name in enumerate(names)}

    def column(name: str) -> list[Any]:
        try:
            values: list[Any] = read.column(places[name]).to_pylist()
        except UnicodeDecodeError as error:
            raise DataError(f"A text is not UTF-8: {error}.", "Fetch the file again.", file=file, column=name) from None
        return values

    return _not_empty(Table(file, "parquet", tuple(names), range(1, read.num_rows + 1), column))


_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_LEADING_ZEROS = re.compile(r"0{2,}")


def _xlsx_table(file: str, data: bytes, watch: Watch) -> Table:
    with _whole_workbook(file):
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        titled = [(sheet.title, sheet) for sheet in book.worksheets]
    sheets = [(title, _sheet_rows(file, sheet, watch)) for title, sheet in titled]
    filled = [(title, rows) for title, rows in sheets if rows]
    if not filled:
        raise DataError("The workbook is empty.", "Give a sheet with a header and pairs.", file=file)
    title, rows = filled[0]
    (_, header), *records = rows
    width = max((place for place, cell in enumerate(header, 1) if cell != ""), default=0)
    for row, cells in records:
        if any(cell != "" for cell in cells[width:]):
            raise DataError(
                f"The row has cells beyond the last named column ({width}).", "Name the columns.", file=file, row=row
            )
    names = _column_names(file, [str(cell) for cell in header[:width]])
    columns = {
        name: [cells[place] if place < len(cells) else "" for _, cells in records] for place, name in enumerate(names)
    }
    others = [other for other, _ in filled[1:]]
    notes = (
        (Finding("other_sheets", "warning", len(others), f"Only sheet '{title}' was read, not {listed(others)}."),)
        if others
        else ()
    )
    return replace(_from_lists(file, "xlsx", columns, [row for row, _ in records]), notes=notes)


@contextmanager
def _whole_workbook(file: str) -> Iterator[None]:
    """Turns what openpyxl raises, which is whatever the broken part made it raise, into the error for it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        raise DataError(
            f"The Excel file cannot be read: {_reason(error)}.", "Save it again as .xlsx.", file=file
        ) from None


def _sheet_rows(file: str, sheet: Any, watch: Watch) -> list[tuple[int, list[Any]]]:
    """(row number, values) of the rows of a sheet that hold anything; empty cells are ``""``."""
    with _whole_workbook(file):
        expected = sheet.max_row
        # Some writers store a wrong size, which would hide rows.
        sheet.reset_dimensions()
        found = sheet.iter_rows()
    rows: list[tuple[int, list[Any]]] = []
    number = 0
    while True:
        with _whole_workbook(file):
            some = [
                ["" if cell.value is None else _cell(cell) for cell in cells]
                for cells in islice(found, _RECORDS_PER_WATCH)
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
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value


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


def _unzipped(file: str, data: bytes) -> list[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [info for info in archive.infolist() if _is_data(info)]
            size = sum(info.file_size for info in members)
            contents = [(f"{file}/{info.filename}", archive.read(info)) for info in members if size <= _ZIP_LIMIT]
    except _BROKEN_ZIP as error:
        raise DataError(
            f"The archive cannot be read: {_reason(error)}.", "Fetch it again, or unpack it.", file=file
        ) from None
    if size > _ZIP_LIMIT:
        raise DataError("The archive unpacks to more than 2 GiB.", "Unpack it and give the files.", file=file)
    if not contents:
        raise DataError("The archive holds no file.", "Give an archive with a file of pairs.", file=file)
    return contents


def _reason(error: Exception) -> str:
    """A library's message, to stand inside a sentence."""
    return str(error).rstrip(". ") or type(error).__name__


def _is_data(info: zipfile.ZipInfo) -> bool:
    parts = info.filename.split("/")
    return not info.is_dir() and "__MACOSX" not in parts and not parts[-1].startswith(".")
