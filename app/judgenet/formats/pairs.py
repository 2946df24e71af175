"""Reading pairs: from files in any known shape to the normal form."""

from __future__ import annotations

import gc
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

from judgenet.core.pairs import Pair, Verdict
from judgenet.formats import faireval
from judgenet.formats.containers import ABSENT, Container, Table, release_memory, tables
from judgenet.formats.errors import DataError, listed
from judgenet.formats.findings import Finding, examine
from judgenet.formats.many import Systems, read_many, shape_of
from judgenet.formats.mapping import PairMapping, label_key
from judgenet.formats.records import UNKNOWN, LabelValues, Reader, check_ids, format_of, plan_of, present
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
        """The :attr:`findings`, looked for only once; ``watch`` hears how far it is."""
        if "findings" not in self.__dict__:
            self.__dict__["findings"] = (*self.notes, *examine(self.pairs, watch))
        found: tuple[Finding, ...] = self.__dict__["findings"]
        return found

    def without(self, kinds: Sequence[str], watch: Watch = nothing) -> Dataset:
        """The data set without the pairs that findings of these kinds are about; a note says how many they were."""
        found = [finding for finding in self.examine(watch) if finding.kind in kinds] if kinds else []
        ids = {pair_id for finding in found for pair_id in finding.ids}
        if not ids:
            return self
        message = "; ".join(f"{finding.message} ({finding.count})" for finding in found)
        note = Finding("left_out", "note", len(ids), f"{len(ids)} pairs were left out: {message}")
        pairs = tuple(pair for pair in self.pairs if pair.id not in ids)
        if not pairs:
            raise DataError("All pairs would be left out.", "Leave out fewer.", file=self.files[0].path)
        return Dataset(pairs, self.format, self.files, self.coding, (*self.notes, note), self.systems)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a file looks like, for choosing a mapping.

    ``rows`` are the first records by column, as texts. ``values`` counts the values of each column that holds few,
    which is what a label column looks like. ``columns`` is the mapping that would be used (of a published format
    what stands in columns of its own), ``derived`` the fields that a published format makes from other columns,
    ``unclear`` the candidates for fields that a person has to decide.
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


@dataclass(frozen=True, slots=True, eq=False)
class OpenFiles:
    """Files whose tables are in memory, so that mappings can be tried before one is used. Made by :func:`open_files`.

    ``encoding`` is the one they were opened with.
    """

    tables: tuple[Table, ...]
    files: tuple[DataFile, ...]
    encoding: str | None = None

    @property
    def count(self) -> int:
        """Number of records."""
        return sum(len(table.rows) for table in self.tables)

    def preview(self, rows: int = 10) -> Preview:
        """What the (first) file looks like."""
        table = self.tables[0]
        name, native, proposal = format_of(table)
        columns = {name: table.column(name) for name in table.names}
        count = min(rows, len(table.rows))
        first = tuple({name: _cell_text(column[index]) for name, column in columns.items()} for index in range(count))
        values = {name: counts for name, column in columns.items() if (counts := _few_values(column))}
        proposed = native.columns if native else proposal.columns
        there = present(proposed, table)
        made = present(proposed, native.prepare(table.head(1))) if native and native.prepare else {}
        return Preview(
            format=name,
            title=native.title if native else "",
            container=table.container,
            names=table.names,
            count=self.count,
            rows=first,
            values=values,
            columns=there,
            derived=tuple(field for field in made if field not in there),
            unclear=proposal.unclear,
            notes=table.notes,
        )

    def label_values(self, mapping: PairMapping) -> LabelValues:
        """The values of the label columns under a mapping, over all files.

        :raises DataError: columns are missing or not clear, or a label is no single value.
        """
        counts: Counter[str] = Counter()
        annotators: Counter[str] = Counter()
        known: dict[str, Verdict | None] = {}
        for table in self.tables:
            if shape_of(table, mapping):
                continue
            found = Reader(plan_of(table, mapping), mapping).label_values()
            counts.update(found.counts)
            annotators.update(found.annotators)
            known |= found.known
        return LabelValues({value: counts[value] for value in sorted(counts)}, known, dict(annotators))

    def first(self, mapping: PairMapping, rows: int = 10) -> tuple[Pair, ...]:
        """The first pairs as a mapping reads them; labels whose meaning is not known are read as no label.

        :raises DataError: columns are missing or not clear.
        """
        if shape_of(self.tables[0], mapping):
            heads = [table.head(_RECORDS_OF_FIRST) for table in self.tables[:_FILES_OF_FIRST]]
            return tuple(read_many(heads, mapping)[0][:rows])
        return tuple(Reader(plan_of(self.tables[0].head(rows), mapping), mapping, lenient=True).read())

    def read(self, mapping: PairMapping, *, lenient: bool = False, watch: Watch = nothing) -> Dataset:
        """All pairs. ``lenient`` reads labels whose meaning is not known as no label.

        :raises DataError: columns or label values are not clear, or an id occurs twice.
        """
        parts: list[tuple[Table, list[Pair]]] = []
        notes: list[Finding] = []
        formats: dict[str, None] = {}
        coding: dict[str, Verdict | None] = {}
        share = 0.5 if mapping.leave_out else 1.0
        if any(shape_of(table, mapping) for table in self.tables):
            with _collector_paused():
                made, found, shape, systems = read_many(self.tables, mapping, part(watch, 0, share))
                if len(made) > _MANY_PAIRS:
                    gc.freeze()
            dataset = Dataset(tuple(made), shape, self.files, {}, tuple(found), systems)
            return dataset.without(mapping.leave_out, part(watch, share, 1))
        with _collector_paused():
            for place, table in enumerate(self.tables):
                plan = plan_of(table, mapping)
                reader = Reader(plan, mapping, sum(len(pairs) for _, pairs in parts), lenient=lenient)
                of_all = (share * place / len(self.tables), share * (place + 1) / len(self.tables))
                parts.append((table, reader.read(part(watch, *of_all))))
                notes += reader.notes
                coding |= reader.coding
                formats[plan.format] = None
            check_ids(parts)
            pairs = tuple(pair for _, several in parts for pair in several)
            if len(pairs) > _MANY_PAIRS:
                # Pairs are in no cycles; looking for some in all of them again and again would hold everything up.
                gc.freeze()
        dataset = Dataset(pairs, "+".join(formats), self.files, coding, tuple(notes))
        return dataset.without(mapping.leave_out, part(watch, share, 1))


def open_files(
    paths: Sequence[Path | str] | Path | str, *, encoding: str | None = None, watch: Watch = nothing
) -> OpenFiles:
    """Opens a file, several files, or the folder of a data set.

    The container (JSON Lines, JSON list, CSV, TSV, Parquet, XLSX, or a zip of such) is told by content.

    :raises DataError: a file cannot be read.
    """
    with _collector_paused():
        found, files = _load(paths, encoding, watch)
    return OpenFiles(tuple(found), files, encoding)


def read_pairs(
    paths: Sequence[Path | str] | Path | str, *, mapping: PairMapping | None = None, watch: Watch = nothing
) -> Dataset:
    """Reads pairs from a file, several files, or the folder of a data set.

    Container and format are told by content. Texts are kept exactly. Records without an id are numbered over all
    files.

    :raises DataError: a file cannot be read, columns or label values are not clear, or an id occurs twice.
    """
    mapping = mapping or PairMapping()
    opened = open_files(paths, encoding=mapping.encoding, watch=part(watch, 0, 0.6))
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


def sniff(paths: Sequence[Path | str] | Path | str) -> str:
    """The id of the format of one or several files, by content: ``normal``, ``llmeval2``, ``faireval``, ``pandalm``,
    …; ``table`` for columns whose names suggest pairs, ``unknown`` for others.

    :raises DataError: a file is in none of the known containers.
    """
    return "+".join(dict.fromkeys(format_of(table)[0] for table in open_files(paths).tables))


def preview(path: Sequence[Path | str] | Path | str, rows: int = 10, *, encoding: str | None = None) -> Preview:
    """Looks into a file (the first one of several) without reading its pairs.

    :raises DataError: the file is in none of the known containers.
    """
    return open_files(path, encoding=encoding).preview(rows)


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


# --- files ---


def _load(
    paths: Sequence[Path | str] | Path | str, encoding: str | None, watch: Watch
) -> tuple[list[Table], tuple[DataFile, ...]]:
    """The tables to read pairs from, FairEval's four files joined to one."""
    given = [Path(paths)] if isinstance(paths, str | PurePath) else [Path(path) for path in paths]
    if not given:
        raise DataError("No file was given.", "Give a file with pairs.")
    if len(given) == 1 and given[0].is_dir():
        return _load_folder(given[0], encoding, watch)
    read = [_read(path, encoding, within) for path, within in _shared(given, watch)]
    found = [table for _, tables_read in read for table in tables_read]
    parts = faireval.find_files(found)
    if parts:
        others = [table for table in found if not faireval.is_part(table)]
        if others:
            raise others[0].error("This file is none of FairEval's four.", "Give only the four files.")
        found = [faireval.joined(parts)]
    return found, tuple(file for file, _ in read)


def _load_folder(folder: Path, encoding: str | None, watch: Watch) -> tuple[list[Table], tuple[DataFile, ...]]:
    """FairEval's files below a folder, or the one file in it that holds pairs."""
    paths = sorted(path for path in (*folder.glob("*"), *folder.glob("*/*")) if path.is_file())
    paths = [path for path in paths if not path.relative_to(folder).as_posix().startswith(("__MACOSX", "."))]
    if len(paths) > _MOST_FILES:
        raise DataError(f"The folder holds {len(paths)} files.", "Name the file with the pairs.", file=str(folder))
    read: list[tuple[DataFile, Table]] = []
    for path, within in _shared(paths, watch):
        try:
            file, found = _read(path, encoding, within)
        except DataError:
            continue  # a folder may hold anything; the error below names what was looked for
        read += [(file, table) for table in found]
    parts = faireval.find_files([table for _, table in read])
    if parts:
        used = {id(table) for table in (parts.questions, *parts.answers, parts.labels)}
        return [faireval.joined(parts)], tuple(file for file, table in read if id(table) in used)
    pairs = [(file, table) for file, table in read if table.container != "lines" and format_of(table)[0] != UNKNOWN]
    if len(pairs) != 1:
        names = listed([Path(file.path).name for file, _ in pairs]) if pairs else "none"
        raise DataError(
            f"The folder holds {len(pairs)} files with pairs ({names}).", "Name the file.", file=str(folder)
        )
    return [pairs[0][1]], (pairs[0][0],)


def _shared(paths: Sequence[Path], watch: Watch) -> Iterator[tuple[Path, Watch]]:
    """Each path with the watch of its part of the work."""
    for place, path in enumerate(paths):
        yield path, part(watch, place / len(paths), (place + 1) / len(paths))


def _read(path: Path, encoding: str | None, watch: Watch) -> tuple[DataFile, list[Table]]:
    watch(0)
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = "There is no such file." if isinstance(error, FileNotFoundError) else f"It cannot be read: {error}."
        raise DataError(reason, "Check the path.", file=str(path)) from None
    file = DataFile(str(path), hashlib.sha256(data).hexdigest(), len(data))
    return file, tables(str(path), data, encoding=encoding, watch=part(watch, 0.1, 1))
