"""Reading pairs: from files in any known shape to the normal form."""

from __future__ import annotations

import gc
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from pathlib import Path, PurePath
from typing import Any

from judgenet.core.pairs import Pair, Source, Verdict, majority
from judgenet.formats import faireval
from judgenet.formats.containers import ABSENT, Container, Table, tables
from judgenet.formats.errors import DataError, listed, shown
from judgenet.formats.findings import MIRROR, Finding, examine
from judgenet.formats.mapping import (
    PairMapping,
    Proposal,
    columns_of,
    label_key,
    missing_columns,
    propose,
    safe_coding,
    unknown_coding,
)
from judgenet.formats.native import NativeFormat, native_format
from judgenet.formats.values import (
    annotator_values,
    id_text,
    optional_texts,
    preference_texts,
    required_texts,
    tag_lists,
)

UNKNOWN = "unknown"
"""The format of a file whose columns say nothing: it needs a mapping."""

_MOST_FILES = 200
_FEW_VALUES = 24
_SHORT_VALUE = 60
_NOT_MAPPED = ("question", "response_a", "response_b")


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
    ``notes`` are findings about the files, ``findings`` these and all about the pairs."""

    pairs: tuple[Pair, ...]
    format: str
    files: tuple[DataFile, ...]
    coding: Mapping[str, Verdict | None] = field(default_factory=dict)
    notes: tuple[Finding, ...] = ()

    @cached_property
    def labels(self) -> LabelCounts:
        counts = Counter(pair.human or "missing" for pair in self.pairs)
        return LabelCounts(counts["a"], counts["b"], counts["tie"], counts["missing"])

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        # Not while reading: looking for names and duplicates takes as long as reading.
        return (*self.notes, *examine(self.pairs))


@dataclass(frozen=True, slots=True)
class Preview:
    """What a file looks like, for choosing a mapping.

    ``rows`` are the first records by column, as texts. ``values`` counts the values of each column that holds few,
    which is what a label column looks like. ``columns`` is the mapping that would be used (of a published format
    what stands in columns of its own), ``unclear`` the candidates for fields that a person has to decide.
    """

    format: str
    container: Container
    names: tuple[str, ...]
    count: int
    rows: tuple[Mapping[str, str], ...]
    values: Mapping[str, Mapping[str, int]]
    columns: Mapping[str, str]
    unclear: Mapping[str, tuple[str, ...]]
    notes: tuple[Finding, ...]


def read_pairs(paths: Sequence[Path | str] | Path | str, *, mapping: PairMapping | None = None) -> Dataset:
    """Reads pairs from a file, several files, or the folder of a data set.

    The container (JSON Lines, JSON list, CSV, TSV, Parquet, XLSX, or a zip of such) and the format are told by
    content. Texts are kept exactly. Records without an id are numbered over all files.

    :raises DataError: a file cannot be read, columns or label values are not clear, or an id occurs twice.
    """
    with _collector_paused():
        return _read_pairs(paths, mapping or PairMapping())


def _read_pairs(paths: Sequence[Path | str] | Path | str, mapping: PairMapping) -> Dataset:
    found, files = _load(paths, mapping.encoding)
    parts: list[tuple[Table, list[Pair]]] = []
    notes: list[Finding] = []
    formats: dict[str, None] = {}
    coding: dict[str, Verdict | None] = {}
    for table in found:
        plan = _plan(table, mapping)
        reader = _Reader(plan, mapping, sum(len(pairs) for _, pairs in parts))
        parts.append((table, reader.read()))
        notes += reader.notes
        coding |= reader.coding
        formats[plan.format] = None
    _check_ids(parts)
    pairs = tuple(pair for _, several in parts for pair in several)
    return Dataset(pairs, "+".join(formats), files, coding, tuple(notes))


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
    found, _ = _load(paths, None)
    return "+".join(dict.fromkeys(_format(table)[0] for table in found))


def preview(path: Sequence[Path | str] | Path | str, rows: int = 10, *, encoding: str | None = None) -> Preview:
    """Looks into a file (the first one of several) without reading its pairs.

    :raises DataError: the file is in none of the known containers.
    """
    table = _load(path, encoding)[0][0]
    name, native, proposal = _format(table)
    columns = {name: table.column(name) for name in table.names}
    count = min(rows, len(table.rows))
    first = tuple({name: _cell_text(column[index]) for name, column in columns.items()} for index in range(count))
    values = {name: counts for name, column in columns.items() if (counts := _few_values(column))}
    return Preview(
        format=name,
        container=table.container,
        names=table.names,
        count=len(table.rows),
        rows=first,
        values=values,
        columns=_present(native.columns if native else proposal.columns, table),
        unclear=proposal.unclear,
        notes=table.notes,
    )


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


def _load(paths: Sequence[Path | str] | Path | str, encoding: str | None) -> tuple[list[Table], tuple[DataFile, ...]]:
    """The tables to read pairs from, FairEval's four files joined to one."""
    given = [Path(paths)] if isinstance(paths, str | PurePath) else [Path(path) for path in paths]
    if not given:
        raise DataError("No file was given.", "Give a file with pairs.")
    if len(given) == 1 and given[0].is_dir():
        return _load_folder(given[0], encoding)
    read = [_read(path, encoding) for path in given]
    found = [table for _, tables_read in read for table in tables_read]
    parts = faireval.find_files(found)
    if parts:
        others = [table for table in found if not faireval.is_part(table)]
        if others:
            raise others[0].error("This file is none of FairEval's four.", "Give only the four files.")
        found = [faireval.joined(parts)]
    return found, tuple(file for file, _ in read)


def _load_folder(folder: Path, encoding: str | None) -> tuple[list[Table], tuple[DataFile, ...]]:
    """FairEval's files below a folder, or the one file in it that holds pairs."""
    paths = sorted(path for path in (*folder.glob("*"), *folder.glob("*/*")) if path.is_file())
    paths = [path for path in paths if not path.relative_to(folder).as_posix().startswith(("__MACOSX", "."))]
    if len(paths) > _MOST_FILES:
        raise DataError(f"The folder holds {len(paths)} files.", "Name the file with the pairs.", file=str(folder))
    read: list[tuple[DataFile, Table]] = []
    for path in paths:
        try:
            file, found = _read(path, encoding)
        except DataError:
            continue  # a folder may hold anything; the error below names what was looked for
        read += [(file, table) for table in found]
    parts = faireval.find_files([table for _, table in read])
    if parts:
        used = {id(table) for table in (parts.questions, *parts.answers, parts.labels)}
        return [faireval.joined(parts)], tuple(file for file, table in read if id(table) in used)
    pairs = [(file, table) for file, table in read if table.container != "lines" and _format(table)[0] != UNKNOWN]
    if len(pairs) != 1:
        names = listed([Path(file.path).name for file, _ in pairs]) if pairs else "none"
        raise DataError(
            f"The folder holds {len(pairs)} files with pairs ({names}).", "Name the file.", file=str(folder)
        )
    return [pairs[0][1]], (pairs[0][0],)


def _read(path: Path, encoding: str | None) -> tuple[DataFile, list[Table]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = "There is no such file." if isinstance(error, FileNotFoundError) else f"It cannot be read: {error}."
        raise DataError(reason, "Check the path.", file=str(path)) from None
    file = DataFile(str(path), hashlib.sha256(data).hexdigest(), len(data))
    return file, tables(str(path), data, encoding=encoding)


# --- format and columns ---


def _format(table: Table) -> tuple[str, NativeFormat | None, Proposal]:
    native = native_format(table.names)
    if native:
        return native.name, native, Proposal({}, {})
    proposal = propose(table.names)
    if any(name not in proposal.columns and name not in proposal.unclear for name in _NOT_MAPPED):
        return UNKNOWN, None, proposal
    own = all(proposal.columns.get(name) == name for name in _NOT_MAPPED)
    own = own and proposal.columns.get("human", "human") in ("human", "label")
    return "normal" if own else "table", None, proposal


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where the parts of pairs come from; ``labels`` of ``None``: only codings that cannot be misread."""

    format: str
    table: Table
    columns: Mapping[str, tuple[str, ...]]
    preference: bool
    labels: Mapping[str, Verdict | None] | None
    native: NativeFormat | None
    unused: tuple[str, ...]


def _plan(table: Table, mapping: PairMapping) -> _Plan:
    name, native, proposal = _format(table)
    original = table.names
    if native and native.prepare:
        table = native.prepare(table)
    suggested = native.columns if native else proposal.columns
    named = {**_present(suggested, table), **mapping.columns}
    preference = bool(named.get("chosen") or named.get("rejected"))
    needed = ["chosen", "rejected"] if preference else list(_NOT_MAPPED)
    # A question can be left out on purpose; otherwise "" means that the field is not wanted.
    missing = [part for part in needed if not named.get(part) and not (part == "question" and part in named)]
    if missing:
        raise missing_columns(table, proposal, missing)
    if "human" in proposal.unclear and "human" not in named and not preference:
        raise missing_columns(table, proposal, ["human"])
    columns = {part: columns_of(table, column, part) for part, column in named.items() if column}
    for part, several in columns.items():
        if len(several) > 1 and part not in ("question", "annotators"):
            raise table.error(f"Only question and annotators can join columns, not {part}.", "Name one column.")
    used = {column for several in columns.values() for column in several}
    labels = mapping.labels if mapping.labels is not None else native.labels if native and native.labels else None
    return _Plan(
        format=name if name != UNKNOWN else "table",
        table=table,
        columns=columns,
        preference=preference,
        labels=labels,
        native=native,
        unused=() if native and native.prepare else tuple(column for column in original if column not in used),
    )


def _present(columns: Mapping[str, str], table: Table) -> dict[str, str]:
    """The suggested columns that the table has; a published format may come without its optional ones."""
    return {part: column for part, column in columns.items() if set(column.split("+")) <= set(table.names)}


# --- records to pairs ---


class _Reader:
    """Reads the pairs of one table; ``start`` records came before it in other files."""

    def __init__(self, plan: _Plan, mapping: PairMapping, start: int) -> None:
        self.plan = plan
        self.mapping = mapping
        self.start = start
        self.table = plan.table
        self.size = len(plan.table.rows)
        self.notes: list[Finding] = list(plan.table.notes)
        self.coding: dict[str, Verdict | None] = {}

    def read(self) -> list[Pair]:
        ids = self._ids()
        questions, first, second = self._texts(ids)
        humans, annotators = self._labels(ids)
        parts = [
            ids,
            questions,
            first,
            second,
            self._optional("reference"),
            self._optional("model_a"),
            self._optional("model_b"),
            self._optional("task"),
            tag_lists(self.table, self.plan.columns["tags"][0]) if "tags" in self.plan.columns else repeat(()),
            humans,
            annotators,
            map(Source, repeat(Path(self.table.file).name), self.table.rows),
        ]
        pairs = list(map(Pair, *parts))
        if self.plan.unused:
            self._note("unused_columns", "note", len(self.plan.unused), f"Not read: {listed(self.plan.unused)}.")
        return [_shuffled(pair, self.mapping.seed) for pair in pairs] if self.plan.preference else pairs

    def _note(self, kind: str, severity: Any, count: int, message: str, ids: Sequence[str] = ()) -> None:
        self.notes.append(Finding(kind, severity, count, message, tuple(ids)))

    def _ids(self) -> list[str]:
        number = self.plan.native.number if self.plan.native and self.plan.native.number else None
        named = self.plan.columns.get("id")
        if named is None and number:
            return [number(place) for place in range(self.start, self.start + self.size)]
        ids = [id_text(value) for value in self.table.column(named[0])] if named else [""] * self.size
        missing = [index for index, value in enumerate(ids) if not value]
        for index in missing:
            ids[index] = f"row-{self.start + index + 1}"
        if missing:
            self._note("numbered", "note", len(missing), "Records without an id are called row-1, row-2, …")
        return ids

    def _texts(self, ids: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
        columns = self.plan.columns
        nulls: set[int] = set()

        def texts(column: str) -> list[str]:
            read, null = required_texts(self.table, column)
            nulls.update(null)
            return read

        if self.plan.preference:
            questions, first, second = preference_texts(self.table, columns["chosen"][0], columns["rejected"][0])
        else:
            questions = [""] * self.size
            first, second = texts(columns["response_a"][0]), texts(columns["response_b"][0])
        if len(columns.get("question", ())) == 1:
            questions = texts(columns["question"][0])
        elif "question" in columns:
            joined = zip(*(texts(column) for column in columns["question"]), strict=True)
            questions = [self.mapping.joiner.join(filter(None, several)) for several in joined]
        if nulls:
            null_ids = [ids[index] for index in sorted(nulls)]
            self._note("null_text", "warning", len(null_ids), "A text is null: it is read as empty.", null_ids)
        return questions, first, second

    def _optional(self, part: str) -> Any:
        return optional_texts(self.table, self.plan.columns[part][0]) if part in self.plan.columns else repeat(None)

    def _labels(self, ids: Sequence[str]) -> tuple[list[Verdict | None], Any]:
        """(human label, annotators) of each record."""
        columns = self.plan.columns
        raw: list[Any] = [ABSENT] * self.size
        if "human" in columns and not self.plan.preference:
            raw = self.table.column(columns["human"][0])
            for index, value in enumerate(raw):
                if isinstance(value, list | dict):
                    problem = f"A label is one value, here is {shown(value)}."
                    raise self.table.error(problem, "Map another column.", index, columns["human"][0])
        keys = [label_key(value) for value in raw]
        said = annotator_values(self.table, columns["annotators"]) if "annotators" in columns else []
        self._learn("human", [(key,) for key in keys])
        self._learn("annotators", [tuple(label_key(value) for _, value in one) for one in said])
        coding = self.coding
        humans: list[Verdict | None]
        humans = ["a"] * self.size if self.plan.preference else [coding[key] if key else None for key in keys]
        if not any(said):
            return humans, repeat(())
        annotators: list[tuple[tuple[str, Verdict], ...]] = []
        undecided: list[str] = []
        for index, one in enumerate(said):
            meant = [(name, coding[key]) for name, value in one if (key := label_key(value))]
            verdicts = tuple((name, verdict) for name, verdict in meant if verdict is not None)
            annotators.append(verdicts)
            if raw[index] is ABSENT and verdicts and not self.plan.preference:
                decided = majority((verdict for _, verdict in verdicts), None)
                if decided is None:
                    undecided.append(ids[index])
                humans[index] = decided or self.mapping.no_majority
        if undecided:
            rule = self.mapping.no_majority or "no label"
            self._note("no_majority", "note", len(undecided), f"Annotators without a majority: {rule}.", undecided)
        return humans, annotators

    def _learn(self, part: str, keys: Sequence[tuple[str, ...]]) -> None:
        """Finds the meaning of label values, given by record.

        :raises DataError: some value has none.
        """
        counts = Counter(key for record in keys for key in record)
        values = [value for value in counts if value]
        known = self.plan.labels if self.plan.labels is not None else safe_coding(values) or {}
        unknown = {value for value in values if value not in known}
        if unknown:
            first = next(index for index, record in enumerate(keys) if not unknown.isdisjoint(record))
            raise unknown_coding(self.table, part, "+".join(self.plan.columns[part]), counts, known, first)
        self.coding |= {value: known[value] for value in values}
        left_out = sum(counts[value] for value in values if known[value] is None)
        if left_out:
            self._note("left_out_labels", "note", left_out, f"{left_out} labels mean no label by the mapping.")


def _shuffled(pair: Pair, seed: int) -> Pair:
    """A pair whose better response is A, swapped or not by a coin that depends on the seed and the id alone."""
    coin = hashlib.sha256(f"{seed}:{pair.id}".encode("utf-8", "surrogatepass")).digest()[0] & 1
    return _swapped(pair) if coin else pair


def _swapped(pair: Pair) -> Pair:
    return replace(
        pair,
        response_a=pair.response_b,
        response_b=pair.response_a,
        model_a=pair.model_b,
        model_b=pair.model_a,
        human=MIRROR[pair.human] if pair.human else None,
        annotators=tuple((name, MIRROR[verdict]) for name, verdict in pair.annotators),
    )


def _check_ids(parts: Sequence[tuple[Table, Sequence[Pair]]]) -> None:
    places: dict[str, tuple[Table, int]] = {}
    for table, pairs in parts:
        for index, pair in enumerate(pairs):
            earlier, row = places.setdefault(pair.id, (table, table.rows[index]))
            if earlier is not table or row != table.rows[index]:
                raise table.error(
                    f"The id {shown(pair.id)} is there already, in {earlier.file}, row {row}.",
                    "Make ids unique, or number the rows instead: --map id=",
                    index,
                    "id",
                )
