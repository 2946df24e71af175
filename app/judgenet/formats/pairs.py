"""Reading pairs: from files in any known shape to the normal form."""

from __future__ import annotations

import gc
import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

from judgenet.core.pairs import Pair, Verdict
from judgenet.formats import faireval
from judgenet.formats.containers import ABSENT, BadRow, Container, RecordTable, release_memory, tables
from judgenet.formats.errors import CodingError, DataError, listed, shown
from judgenet.formats.findings import Finding, examine
from judgenet.formats.limits import Room, size_text, too_large
from judgenet.formats.many import Systems, read_many, shape_of
from judgenet.formats.mapping import PairMapping, label_key
from judgenet.formats.native import NativeFormat
from judgenet.formats.pictures import Album, MayRead
from judgenet.formats.records import (
    UNKNOWN,
    LabelValues,
    Reader,
    check_ids,
    format_of,
    looks_like_pairs,
    merge_raters,
    plan_of,
    present,
    same_texts,
)
from judgenet.formats.watch import Watch, nothing, part

_MOST_FILES = 200
_MANY_PAIRS = 20_000
_FEW_VALUES = 24
_SHORT_VALUE = 60
_RECORDS_OF_FIRST = 200
_FILES_OF_FIRST = 20


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file that was read: its path as given, the SHA-256 (hex) of its bytes, and its size in bytes."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """Number of pairs by human label; ``missing`` have none."""

    a: int = 0
    b: int = 0
    tie: int = 0
    missing: int = 0

    @property
    def labelled(self) -> int:
        return self.a + self.b + self.tie


@dataclass(frozen=True)
class Dataset:
    """Pairs as read. ``format`` is the id of the format, ``coding`` the meaning of the label values that occurred,
    ``notes`` are findings about the files, ``findings`` these and all about the pairs. ``systems`` says what the pairs
    were made of where questions have more than two responses."""

    pairs: tuple[Pair, ...] = field(repr=False)
    format: str
    files: tuple[DataFile, ...]
    coding: Mapping[str, Verdict | None] = field(default_factory=dict)
    notes: tuple[Finding, ...] = ()
    systems: Systems | None = None

    @cached_property
    def labels(self) -> LabelCounts:
        counts = Counter(pair.human or "missing" for pair in self.pairs)
        return LabelCounts(counts["a"], counts["b"], counts["tie"], counts["missing"])

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        # Not while reading: looking for names and duplicates takes as long as reading.
        return self.examine()

    def examine(self, watch: Watch = nothing) -> tuple[Finding, ...]:
        """The :attr:`findings`, looked for only once; ``watch`` is called with the progress."""
        if "findings" not in self.__dict__:
            self.__dict__["findings"] = (*self.notes, *examine(self.pairs, watch))
        findings: tuple[Finding, ...] = self.__dict__["findings"]
        return findings

    def without(self, kinds: Sequence[str], watch: Watch = nothing) -> Dataset:
        """The data set without the pairs that findings of these kinds are about; a note says how many they were."""
        left_out = [finding for finding in self.examine(watch) if finding.kind in kinds] if kinds else []
        ids = {pair_id for finding in left_out for pair_id in finding.ids}
        if not ids:
            return self
        message = "; ".join(f"{finding.message} ({finding.count})" for finding in left_out)
        note = Finding("left_out", "note", len(ids), f"{len(ids)} pairs were left out: {message}")
        pairs = tuple(pair for pair in self.pairs if pair.id not in ids)
        if not pairs:
            raise DataError("All pairs would be left out.", "Leave out fewer.", file=self.files[0].path)
        return Dataset(pairs, self.format, self.files, self.coding, (*self.notes, note), self.systems)


@dataclass(frozen=True, slots=True)
class FilePreview:
    """What a file looks like, for choosing a mapping.

    ``rows`` are the first records by column, as texts. ``values`` counts the values of each column that holds few,
    which is what a label column looks like. ``columns`` is the mapping that would be used (of a published format
    what stands in columns of its own), ``derived`` the fields that a published format makes from other columns,
    ``unclear`` the candidates for fields that a person has to decide. ``unique`` are columns of short values of which
    none is missing or occurs twice: any of them can be the pairs' id.
    """

    format: str
    title: str
    container: Container
    names: tuple[str, ...]
    count: int
    rows: tuple[Mapping[str, str], ...]
    values: Mapping[str, Mapping[str, int]]
    columns: Mapping[str, str]
    derived: tuple[str, ...]
    unclear: Mapping[str, tuple[str, ...]]
    notes: tuple[Finding, ...]
    unique: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class OpenFiles:
    """Files whose tables are in memory, so that mappings can be tried before one is used. Made by :func:`open_files`.

    ``encoding``, ``sheet`` and ``leave_out_bad`` are what they were opened with. ``doubt`` is why they cannot be read
    without a mapping, although they look like a published data set.
    """

    tables: tuple[RecordTable, ...]
    files: tuple[DataFile, ...]
    encoding: str | None = None
    sheet: str | None = None
    leave_out_bad: bool = False
    doubt: DataError | None = None

    @property
    def sheets(self) -> tuple[str, ...]:
        """The sheets of a workbook that hold something; none of other files."""
        return self.tables[0].sheets

    @property
    def count(self) -> int:
        """Number of records."""
        return sum(len(table.rows) for table in self.tables)

    def preview(self, rows: int = 10) -> FilePreview:
        """What the (first) file looks like."""
        table = self.tables[0]
        name, native, proposal = format_of(table)
        names = (*table.names, *table.nested(lists=name == UNKNOWN, cells=name == UNKNOWN))
        columns = {name: table.column(name) for name in names}
        count = min(rows, len(table.rows))
        first = tuple({name: _cell_text(column[index]) for name, column in columns.items()} for index in range(count))
        values = {name: counts for name, column in columns.items() if (counts := _few_values(column))}
        proposed = {**proposal.columns, **native.columns} if native else proposal.columns
        there = present(proposed, table)
        prepared = present(proposed, _prepared(native, table)) if native and native.prepare else {}
        return FilePreview(
            format=name,
            title=native.title if native else "",
            container=table.container,
            names=names,
            count=self.count,
            rows=first,
            values=values,
            columns=there,
            derived=tuple(field for field in prepared if field not in there),
            unclear=proposal.unclear,
            notes=table.notes,
            unique=tuple(name for name, column in columns.items() if len(self.tables) == 1 and _is_unique(column)),
        )

    def label_values(self, mapping: PairMapping) -> LabelValues:
        """The values of the label columns under a mapping, over all files.

        :raises DataError: columns are missing or not clear, or a label is no single value.
        """
        if mapping.leave_out_bad:
            return self._good(mapping, lenient=True)[0].label_values(replace(mapping, leave_out_bad=False))
        self._require_clear(mapping)
        counts: Counter[str] = Counter()
        annotators: Counter[str] = Counter()
        known: dict[str, Verdict | None] = {}
        for table in self.tables:
            if shape_of(table, mapping):
                continue
            values = Reader(plan_of(table, mapping), mapping).label_values()
            counts.update(values.counts)
            annotators.update(values.annotators)
            known |= values.known
        return LabelValues({value: counts[value] for value in sorted(counts)}, known, dict(annotators))

    def first(self, mapping: PairMapping, rows: int = 10) -> tuple[Pair, ...]:
        """The first pairs as a mapping reads them; labels whose meaning is not known are read as no label.

        :raises DataError: columns are missing or not clear.
        """
        if mapping.leave_out_bad:
            return self._good(mapping, lenient=True)[0].first(replace(mapping, leave_out_bad=False), rows)
        self._require_clear(mapping)
        if shape_of(self.tables[0], mapping):
            heads = [table.head(_RECORDS_OF_FIRST) for table in self.tables[:_FILES_OF_FIRST]]
            return tuple(read_many(heads, mapping)[0][:rows])
        return tuple(Reader(plan_of(self.tables[0].head(rows), mapping), mapping, lenient=True).read())

    def read(self, mapping: PairMapping, *, lenient: bool = False, watch: Watch = nothing) -> Dataset:
        """All pairs. ``lenient`` reads labels whose meaning is not known as no label.

        :raises DataError: columns or label values are not clear, or an id occurs twice.
        """
        self._require_clear(mapping)
        if mapping.leave_out_bad:
            good, bad = self._good(mapping, lenient=lenient)
            inner = replace(mapping, leave_out_bad=False, leave_out=())
            dataset = good.read(inner, lenient=lenient, watch=part(watch, 0.4, 0.8))
            if bad:
                dataset = replace(dataset, notes=(*dataset.notes, _bad_rows(bad)))
            return dataset.without(mapping.leave_out, part(watch, 0.8, 1))
        readers: list[Reader] = []
        parts: list[tuple[RecordTable, list[Pair]]] = []
        notes: list[Finding] = []
        formats: dict[str, None] = {}
        coding: dict[str, Verdict | None] = {}
        share = 0.5 if mapping.leave_out else 1.0
        if any(shape_of(table, mapping) for table in self.tables):
            with _collector_paused():
                pairs_read, findings, shape, systems = read_many(self.tables, mapping, part(watch, 0, share))
                if len(pairs_read) > _MANY_PAIRS:
                    gc.freeze()
            dataset = Dataset(tuple(pairs_read), shape, self.files, {}, tuple(findings), systems)
            return dataset.without(mapping.leave_out, part(watch, share, 1))
        with _collector_paused():
            for place, table in enumerate(self.tables):
                plan = plan_of(table, mapping)
                reader = Reader(plan, mapping, sum(len(pairs) for _, pairs in parts), lenient=lenient)
                of_all = (share * place / len(self.tables), share * (place + 1) / len(self.tables))
                parts.append((table, reader.read(part(watch, *of_all))))
                readers.append(reader)
                notes += reader.notes
                coding |= reader.coding
                formats[plan.format] = None
            parts, merged = merge_raters(parts, readers, mapping.no_majority)
            notes += merged
            check_ids(parts)
            pairs = tuple(pair for _, several in parts for pair in several)
            if len(pairs) > _MANY_PAIRS:
                # Pairs are in no cycles; looking for some in all of them again and again would hold everything up.
                gc.freeze()
        dataset = Dataset(pairs, "+".join(formats), self.files, coding, tuple(notes))
        return dataset.without(mapping.leave_out, part(watch, share, 1))

    def _require_clear(self, mapping: PairMapping) -> None:
        if self.doubt is not None and not any(mapping.columns.get(name) for name in _SAY_ENOUGH):
            raise self.doubt

    def _good(self, mapping: PairMapping, *, lenient: bool) -> tuple[OpenFiles, list[tuple[RecordTable, BadRow]]]:
        """The files without the records that cannot be read under a mapping, and these.

        :raises DataError: what is wrong is not single records.
        """
        self._require_clear(mapping)
        bad_records = [(table, bad) for table in self.tables for bad in table.bad]
        if any(shape_of(table, mapping) for table in self.tables):
            tables, more = _good_of_many(self.tables, mapping)
        else:
            tables, more = [], []
            seen: dict[str, Pair] = {}
            for table in self.tables:
                kept, bad = _good_records(table, mapping, seen, lenient)
                tables.append(kept)
                more += [(table, bad_row) for bad_row in bad]
        return replace(self, tables=tuple(tables)), sorted(
            [*bad_records, *more], key=lambda bad_row: (bad_row[0].file, bad_row[1].row)
        )


_SAY_ENOUGH = ("response_a", "chosen", "responses", "response")
"""Fields of a mapping that say what kind of records a file holds."""
_MOST_BAD_QUESTIONS = 200
_BAD_ROWS_SHOWN = 5
_FEW_UNKNOWN = 0.1
"""Up to this share of labels whose meaning is not known it is the records that are bad, and not the coding."""


def _bad_rows(bad: Sequence[tuple[RecordTable, BadRow]]) -> Finding:
    several = len({table.file for table, _ in bad}) > 1
    places = [
        (f"{Path(table.file).name}, " if several else "") + f"row {bad_row.row:,}: {bad_row.problem.rstrip('.')}"
        for table, bad_row in bad
    ]
    rows = f"{len(bad):,} records cannot be read and are" if len(bad) > 1 else "1 record cannot be read and is"
    more = f"; and {len(places) - _BAD_ROWS_SHOWN:,} more" if len(places) > _BAD_ROWS_SHOWN else ""
    return Finding("bad_rows", "warning", len(bad), f"{rows} left out ({'; '.join(places[:_BAD_ROWS_SHOWN])}{more}).")


class _RecordSorter:
    """Tells the records of a table that can be read from those that cannot: the numbers of the ``good`` ones, and the
    ``bad`` ones. ``seen`` are the pairs of earlier tables by id."""

    def __init__(self, table: RecordTable, mapping: PairMapping, seen: dict[str, Pair], lenient: bool) -> None:
        columns = {name: table.read(name) for name in table.names}
        self._table = table
        self.cached = replace(table, read=columns.__getitem__)
        self._seen = seen
        self._lenient = lenient
        self._has_ids = "id" in plan_of(table.head(1), mapping).columns if table.rows else False
        self.good: list[int] = []
        self.bad: list[BadRow] = []

    def sort(self, mapping: PairMapping) -> None:
        """Sorts all records anew, as a mapping reads them.

        :raises CodingError: the meaning of a label is not known.
        """
        self.good, self.bad = [], []
        self._look(range(len(self._table.rows)), mapping)

    def _look(self, places: Sequence[int], mapping: PairMapping) -> None:
        """Reads some records at once, and each half of them where that fails."""
        rows = self._table.rows
        some = self._table if len(places) == len(rows) else self.cached.take(places)
        try:
            pairs = Reader(plan_of(some, mapping), mapping, lenient=self._lenient).read()
        except DataError as error:
            if error.row is None or (isinstance(error, CodingError) and mapping.labels is None):
                raise
            if len(places) == 1:
                self.bad.append(BadRow(rows[places[0]], error.problem))
                return
            middle = len(places) // 2
            self._look(places[:middle], mapping)
            self._look(places[middle:], mapping)
            return
        if self._has_ids:
            self._compare(places, pairs)
        else:
            self.good.extend(places)

    def _compare(self, places: Sequence[int], pairs: Sequence[Pair]) -> None:
        """A pair whose id is there already has to have the texts of the earlier one."""
        for place, pair in zip(places, pairs, strict=True):
            earlier = self._seen.setdefault(pair.id, pair)
            if earlier is pair or same_texts(earlier, pair):
                self.good.append(place)
            else:
                row = earlier.source.row if earlier.source else 0
                problem = f"The id {shown(pair.id)} is there already, in row {row:,}."
                self.bad.append(BadRow(self._table.rows[place], problem))


def _good_records(
    table: RecordTable, mapping: PairMapping, seen: dict[str, Pair], lenient: bool
) -> tuple[RecordTable, list[BadRow]]:
    """A table without the records that cannot be read, and these. ``seen`` are the pairs of earlier tables by id.

    A label whose meaning is not known makes a record bad only where nearly all others are known: otherwise it is the
    coding that has to be said.
    """
    strict = replace(mapping, leave_out_bad=False)
    sorter = _RecordSorter(table, strict, seen, lenient)
    try:
        sorter.sort(strict)
    except CodingError:
        known = Reader(plan_of(table, strict), strict).label_values()
        undecided = sum(known.counts[value] for value in known.undecided)
        if undecided > _FEW_UNKNOWN * sum(known.counts.values()):
            raise
        sorter.sort(replace(strict, labels=known.known))
    if not sorter.good:
        first = sorter.bad[0].problem
        raise table.error(f"No record can be read; the first one: {first}", "Mend the file or its mapping.")
    return (sorter.cached.take(sorter.good) if sorter.bad else table), sorter.bad


def _good_of_many(
    tables: Sequence[RecordTable], mapping: PairMapping
) -> tuple[list[RecordTable], list[tuple[RecordTable, BadRow]]]:
    """As :func:`_good_records`, of tables whose records belong together: they are read again without each bad one."""
    kept = list(tables)
    bad: list[tuple[RecordTable, BadRow]] = []
    strict = replace(mapping, leave_out_bad=False)
    while True:
        try:
            read_many(kept, strict)
            return kept, bad
        except DataError as error:
            place = next((i for i, table in enumerate(kept) if table.file == error.file), None)
            if error.row is None or place is None or len(bad) >= _MOST_BAD_QUESTIONS:
                raise
            table = kept[place]
            bad.append((table, BadRow(error.row, error.problem)))
            kept[place] = table.take([i for i, row in enumerate(table.rows) if row != error.row])


def open_files(
    paths: Sequence[Path | str] | Path | str,
    *,
    encoding: str | None = None,
    sheet: str | None = None,
    leave_out_bad: bool = False,
    limit: int | None = None,
    watch: Watch = nothing,
    may_read: MayRead | None = None,
) -> OpenFiles:
    """Opens a file, several files, or the folder of a data set.

    The container (JSON Lines, JSON list, CSV, TSV, Parquet, XLSX, or a zip or gzip of such) is recognised by content.
    ``sheet`` names the sheet of a workbook; a path may name it, too: ``book.xlsx#pairs``. ``leave_out_bad`` leaves out
    records that are broken. A file may unpack to ``limit`` bytes (by default what the environment says, or 1 GiB), and
    reading takes less than three times as much memory. ``may_read`` says which files of pictures may be read; without
    it those below the folder of the file that names them.

    :raises DataError: a file cannot be read, or is too large.
    """
    opening = _Opening(encoding, sheet, leave_out_bad, Room(limit), may_read)
    with _collector_paused():
        record_tables, files, doubt = _load(paths, opening, watch)
    return OpenFiles(
        tuple(record_tables), files, encoding, record_tables[0].sheet if sheet else None, leave_out_bad, doubt
    )


def read_pairs(
    paths: Sequence[Path | str] | Path | str,
    *,
    mapping: PairMapping | None = None,
    limit: int | None = None,
    watch: Watch = nothing,
    may_read: MayRead | None = None,
) -> Dataset:
    """Reads pairs from a file, several files, or the folder of a data set.

    Container and format are recognised by content. Texts are kept exactly. Records without an id are numbered over all
    files. A file may unpack to ``limit`` bytes, and ``may_read`` is about pictures: see :func:`open_files`.

    :raises DataError: a file cannot be read, columns or label values are not clear, or an id occurs twice.
    """
    mapping = mapping or PairMapping()
    opened = open_files(
        paths,
        encoding=mapping.encoding,
        sheet=mapping.sheet,
        leave_out_bad=mapping.leave_out_bad,
        limit=limit,
        watch=part(watch, 0, 0.6),
        may_read=may_read,
    )
    dataset = opened.read(mapping, watch=part(watch, 0.6, 1))
    del opened
    release_memory()
    return dataset


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Without garbage collection: with 100,000 records it would look through all of them dozens of times, which takes
    as long as reading them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def preview(path: Sequence[Path | str] | Path | str, rows: int = 10, *, encoding: str | None = None) -> FilePreview:
    """Looks into a file (the first one of several) without reading its pairs.

    :raises DataError: the file is in none of the known containers.
    """
    return open_files(path, encoding=encoding).preview(rows)


def _prepared(native: NativeFormat, table: RecordTable) -> RecordTable:
    """The table as a published format prepares it, for the names of its columns; as it is where it cannot be."""
    assert native.prepare is not None
    try:
        return native.prepare(table.head(1))
    except DataError:
        return table


def _cell_text(value: Any) -> str:
    return "" if value is None or value is ABSENT else str(value)


def _few_values(column: Sequence[Any]) -> dict[str, int] | None:
    """Counts of a column's values, ``None`` where they are many or long."""
    counts: dict[str, int] = {}
    for value in column:
        key = label_key(value)
        if len(key) > _SHORT_VALUE:
            return None
        counts[key] = counts.get(key, 0) + 1
        if len(counts) > _FEW_VALUES:
            return None
    return counts


def _is_unique(column: Sequence[object]) -> bool:
    """Whether a column of several rows holds short texts or whole numbers, each once. Ends at the first that is not."""
    seen: set[str] = set()
    for value in column:
        if isinstance(value, bool) or not isinstance(value, str | int):
            return False
        key = str(value).strip()
        if not key or len(key) > _SHORT_VALUE or key in seen:
            return False
        seen.add(key)
    return len(seen) > 1


# --- files ---


@dataclass(frozen=True, slots=True)
class _Opening:
    """How files are opened."""

    encoding: str | None
    sheet: str | None
    leave_out_bad: bool
    room: Room
    may_read: MayRead | None = None


_Loaded = tuple[list[RecordTable], tuple[DataFile, ...], DataError | None]


def _load(paths: Sequence[Path | str] | Path | str, opening: _Opening, watch: Watch) -> _Loaded:
    """The tables to read pairs from, FairEval's four files joined to one, and why they need a mapping."""
    given = [Path(paths)] if isinstance(paths, str | PurePath) else [Path(path) for path in paths]
    if not given:
        raise DataError("No file was given.", "Give a file with pairs.")
    if len(given) == 1 and given[0].is_dir():
        return _load_folder(given[0], opening, watch)
    read = [_read(path, opening, within) for path, within in _shared(given, watch)]
    record_tables = [table for _, tables_read in read for table in tables_read]
    doubt = None
    try:
        parts = faireval.find_files(record_tables)
    except DataError as error:
        parts, doubt = None, error
    if parts:
        others = [table for table in record_tables if not faireval.is_part(table)]
        if others:
            raise others[0].error("This file is none of FairEval's four.", "Give only the four files.")
        record_tables = [faireval.joined(parts)]
    return record_tables, tuple(file for file, _ in read), doubt


def _load_folder(folder: Path, opening: _Opening, watch: Watch) -> _Loaded:
    """FairEval's files below a folder, or the one file in it that holds pairs."""
    paths = sorted(path for path in (*folder.glob("*"), *folder.glob("*/*")) if path.is_file())
    paths = [path for path in paths if not path.relative_to(folder).as_posix().startswith(("__MACOSX", "."))]
    if len(paths) > _MOST_FILES:
        raise DataError(f"The folder holds {len(paths)} files.", "Name the file with the pairs.", file=str(folder))
    read: list[tuple[DataFile, RecordTable]] = []
    for path, within in _shared(paths, watch):
        try:
            file, record_tables = _read(path, opening, within)
        except DataError:
            continue  # a folder may hold anything; the error below names what was looked for
        read += [(file, table) for table in record_tables]
    parts = faireval.find_files([table for _, table in read])
    if parts:
        used = {id(table) for table in (parts.questions, *parts.answers, parts.labels)}
        return [faireval.joined(parts)], tuple(file for file, table in read if id(table) in used), None
    pairs = [(file, table) for file, table in read if table.container != "lines" and format_of(table)[0] != UNKNOWN]
    if len(pairs) != 1:
        names = listed([Path(file.path).name for file, _ in pairs]) if pairs else "none"
        raise DataError(
            f"The folder holds {len(pairs)} files with pairs ({names}).", "Name the file.", file=str(folder)
        )
    return [pairs[0][1]], (pairs[0][0],), None


def _shared(paths: Sequence[Path], watch: Watch) -> Iterator[tuple[Path, Watch]]:
    """Each path with the watch of its part of the work."""
    for place, path in enumerate(paths):
        yield path, part(watch, place / len(paths), (place + 1) / len(paths))


def split_sheet(path: Path) -> tuple[Path, str | None]:
    """A path, and the sheet that it names behind ``#``: ``book.xlsx#pairs``. A file that is there is only itself."""
    text, mark, sheet = str(path).rpartition("#")
    return (Path(text), sheet) if mark and text and sheet and not path.exists() else (path, None)


def _read(path: Path, opening: _Opening, watch: Watch) -> tuple[DataFile, list[RecordTable]]:
    watch(0)
    path, sheet = split_sheet(path)
    limit = opening.room.limit
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            if size > limit:
                raise too_large(str(path), limit, f"The file has {size_text(size)}")
            data = stream.read(size + 1 if size else limit + 1)
    except OSError as error:
        reason = "There is no such file." if isinstance(error, FileNotFoundError) else "It cannot be read: "
        reason += "" if isinstance(error, FileNotFoundError) else f"{error.strerror or 'the system refuses it'}."
        raise DataError(reason, "Check the path.", file=str(path)) from None
    if len(data) > limit:
        raise too_large(str(path), limit, f"The file has more than {size_text(limit)}")
    file = DataFile(str(path), hashlib.sha256(data).hexdigest(), len(data))
    record_tables = tables(
        str(path),
        data,
        encoding=opening.encoding,
        sheet=sheet or opening.sheet,
        suits=looks_like_pairs,
        leave_out_bad=opening.leave_out_bad,
        room=opening.room,
        watch=part(watch, 0.1, 1),
    )
    album = Album(path.parent, opening.may_read)
    return file, [replace(table, album=album) for table in record_tables]
