"""Makes pairs of tables: which column holds what, and the pair of each record."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, repeat
from pathlib import Path
from typing import Any

from judgenet.core.criteria import Criterion
from judgenet.core.pairs import Pair, Source, Verdict, majority
from judgenet.formats import many
from judgenet.formats.containers import ABSENT, RecordTable
from judgenet.formats.criteria import criteria_findings, criteria_of_columns, holds_only_numbers
from judgenet.formats.errors import DataError, listed, shown
from judgenet.formats.findings import MIRROR, Finding
from judgenet.formats.mapping import (
    PairMapping,
    Proposal,
    columns_of,
    label_key,
    missing_columns,
    propose,
    propose_nested,
    safe_coding,
    safe_part,
    unknown_coding,
)
from judgenet.formats.native import NativeFormat, native_format
from judgenet.formats.pictures import Album, Refused, joined, looks_like_picture, with_pictures
from judgenet.formats.values import (
    Named,
    annotator_values,
    id_text,
    optional_texts,
    picture_marks,
    preference_texts,
    required_texts,
    tag_lists,
)
from judgenet.formats.watch import Watch, nothing

UNKNOWN = "unknown"
"""The format of a file whose columns say nothing: it needs a mapping."""

_NOT_MAPPED = ("question", "response_a", "response_b")
_PAIRS_PER_WATCH = 2000


def format_of(table: RecordTable) -> tuple[str, NativeFormat | None, Proposal]:
    native = native_format(table.names)
    if native:
        return native.name, native, _beside(table, native)
    several = many.proposed(table.names)
    if several:
        return several[0], None, Proposal(several[1], {})
    proposal = _proposed(table)
    if _lacks(proposal):
        nested = propose_nested(table)
        return (UNKNOWN, None, proposal) if _lacks(nested) else ("table", None, nested)
    own = all(proposal.columns.get(name) == name for name in _NOT_MAPPED)
    own = own and proposal.columns.get("human", "human") in ("human", "label")
    return "normal" if own else "table", None, proposal


_MAY_BE_OBJECTS = ("annotators", "tags", "human", "criteria")


def _proposed(table: RecordTable) -> Proposal:
    """What the names of the columns suggest; one that holds objects is no text itself."""
    proposal = propose(table.names)
    holds = [part for part, column in proposal.columns.items() if part not in _MAY_BE_OBJECTS]
    left_out = [part for part in holds if table.holds_objects(proposal.columns[part])]
    if "criteria" in proposal.columns and holds_only_numbers(table, proposal.columns["criteria"]):
        left_out.append("criteria")
    columns = {part: column for part, column in proposal.columns.items() if part not in left_out}
    return Proposal(columns, proposal.unclear) if left_out else proposal


def looks_like_pairs(names: Sequence[str]) -> bool:
    """True where the names of columns suggest what they hold."""
    return bool(native_format(names) or many.proposed(names)) or not _lacks(propose(names))


def _lacks(proposal: Proposal) -> bool:
    return any(name not in proposal.columns and name not in proposal.unclear for name in _NOT_MAPPED)


_BESIDE = ("id", "reference", "model_a", "model_b", "task", "tags", "criteria", "annotators")


def _beside(table: RecordTable, native: NativeFormat) -> Proposal:
    """Columns with our own names that a published format does not have, and a file of somebody's may."""
    held = native.columns.keys()
    used = {column for several in native.columns.values() for column in several.split("+")}
    own = {name: name for name in _BESIDE if name in table.names and name not in held and name not in used}
    if "criteria" in own and holds_only_numbers(table, "criteria"):
        del own["criteria"]
    return Proposal(own, {})


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """Where the parts of pairs come from; ``labels`` of ``None``: only codings that cannot be misread."""

    format: str
    table: RecordTable
    columns: Mapping[str, tuple[str, ...]]
    preference: bool
    labels: Mapping[str, Verdict | None] | None
    native: NativeFormat | None
    unused: tuple[str, ...]
    nested: tuple[str, ...] = ()
    """What was found inside other columns without being named: ``question from data.prompt``."""
    said_labels: bool = False
    """A person said what the label values mean."""


@dataclass(frozen=True, slots=True)
class LabelValues:
    """The values of the label columns: how often each occurs (as label of a pair, and as said by ``annotators``),
    and the meaning of those that leave no doubt."""

    counts: Mapping[str, int]
    known: Mapping[str, Verdict | None]
    annotators: Mapping[str, int] = field(default_factory=dict)

    @property
    def undecided(self) -> tuple[str, ...]:
        """The values whose meaning a person has to say."""
        return tuple(value for value in self.counts if value not in self.known)


def plan_of(table: RecordTable, mapping: PairMapping) -> ReadingPlan:
    name, native, proposal = format_of(table)
    if name in many.FIELDS_OF:
        # The mapping names two responses of several.
        name, proposal = UNKNOWN, _proposed(table)
    if native and _mapped_otherwise(native, mapping.columns):
        # A mapping says more than the names of columns: the coding of the published format may be another one, too.
        name, native, proposal = UNKNOWN, None, _proposed(table)
    original = table.names
    if native and native.prepare:
        table = native.prepare(table)
    suggested = {**proposal.columns, **native.columns} if native else proposal.columns
    named = {**present(suggested, table), **mapping.columns}
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
        if len(several) > 1 and part not in ("question", "annotators", "criteria"):
            joining = "Only question, annotators and criteria can join columns"
            raise table.error(f"{joining}, not {part}.", "Name one column.")
    used = {table.top(column) for several in columns.values() for column in several}
    paths = {part: several for part, several in columns.items() if part not in mapping.columns}
    nested = tuple(f"{part} from {c}" for part, several in paths.items() for c in several if c not in table.names)
    labels = mapping.labels if mapping.labels is not None else native.labels if native and native.labels else None
    return ReadingPlan(
        format=name if name != UNKNOWN else "table",
        table=table,
        columns=columns,
        preference=preference,
        labels=labels,
        native=native,
        unused=() if native and native.prepare else tuple(column for column in original if column not in used),
        nested=nested,
        said_labels=mapping.labels is not None,
    )


def _mapped_otherwise(native: NativeFormat, columns: Mapping[str, str]) -> bool:
    """A mapping names both responses, and other columns for them than the published format has."""
    for first, second in (("response_a", "response_b"), ("chosen", "rejected")):
        if columns.get(first) and columns.get(second):
            return any(columns[part] != native.columns.get(part) for part in (first, second))
    return False


def present(columns: Mapping[str, str], table: RecordTable) -> dict[str, str]:
    """The suggested columns that the table has; a published format may come without its optional ones."""
    names = set(table.names)
    return {
        part: column
        for part, column in columns.items()
        if set(column.split("+")) <= names or all(table.has(column_part) for column_part in column.split("+"))
    }


class Reader:
    """Reads the pairs of one table; ``start`` records came before it in other files.

    ``lenient`` reads labels whose meaning is not known as no label, for showing what a mapping would give.
    """

    def __init__(self, plan: ReadingPlan, mapping: PairMapping, start: int = 0, *, lenient: bool = False) -> None:
        self.plan = plan
        self.lenient = lenient
        self.mapping = mapping
        self.start = start
        self.table = plan.table
        self.size = len(plan.table.rows)
        self.notes: list[Finding] = list(plan.table.notes)
        self.raters: list[str] = []
        self.coding: dict[str, Verdict | None] = {}

    def read(self, watch: Watch = nothing) -> list[Pair]:
        watch(0)
        ids = self._ids()
        questions, first, second = self._texts(ids)
        watch(0.3)
        humans, annotators = self._labels(ids)
        watch(0.5)
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
            repeat(None),
            self._criteria(),
        ]
        built = map(Pair, *parts)
        pairs: list[Pair] = []
        while some := list(islice(built, _PAIRS_PER_WATCH)):
            pairs += some
            watch(0.5 + len(pairs) / self.size / 2)
        if "annotator" in self.plan.columns:
            self.raters = [id_text(value) for value in self.table.column(self.plan.columns["annotator"][0])]
        if self.plan.nested:
            message = f"Read from inside other columns: {listed(self.plan.nested)}."
            self._note("nested_columns", "note", len(self.plan.nested), message)
        if self.plan.unused:
            words = f"Not read: {listed(self.plan.unused)}."
            seen = [name for name in self.plan.unused if any(map(looks_like_picture, self.table.samples.get(name, ())))]
            if seen:
                words += (
                    f" Of these {listed(seen)} may hold pictures: to read them, map the column to the pictures of the "
                    "question, of A or of B (pictures_question, pictures_a, pictures_b)."
                )
            self._note("unused_columns", "note", len(self.plan.unused), words)
        if self.plan.preference:
            pairs = [_shuffled(pair, self.mapping.seed) for pair in pairs]
        return self._with_pictures(pairs)

    def _with_pictures(self, pairs: list[Pair]) -> list[Pair]:
        """The pairs with their pictures.

        :raises DataError: a picture cannot be read.
        """
        album = self.table.album or Album(Path(self.table.file).parent)
        with_marks: list[Pair] = []
        for index, pair in enumerate(pairs):
            seen = with_pictures(pair, album)
            if isinstance(seen, Refused):
                column = self.plan.columns.get(seen.of, (None,))[0]
                raise self.table.error(seen.error.problem, seen.error.mend, index, column)
            with_marks.append(seen)
        return with_marks

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
            questions, first, second = preference_texts(
                self.table,
                columns["chosen"][0],
                columns["rejected"][0],
                has_question="question" in columns or "question" in self.mapping.columns,
            )
        else:
            questions = [""] * self.size
            first, second = texts(columns["response_a"][0]), texts(columns["response_b"][0])
        if len(columns.get("question", ())) == 1:
            questions = texts(columns["question"][0])
        elif "question" in columns:
            joined = zip(*(texts(column) for column in columns["question"]), strict=True)
            questions = [self.mapping.joiner.join(filter(None, several)) for several in joined]
        questions = self._beside(questions, "pictures_question")
        first, second = self._beside(first, "pictures_a"), self._beside(second, "pictures_b")
        if nulls:
            null_ids = [ids[index] for index in sorted(nulls)]
            self._note("null_text", "warning", len(null_ids), "A text is null: it is read as empty.", null_ids)
        return questions, first, second

    def _beside(self, texts: list[str], part: str) -> list[str]:
        """Texts with the pictures of a column of their own behind them."""
        column = self.plan.columns.get(part)
        return list(map(joined, texts, picture_marks(self.table, column[0]))) if column else texts

    def _optional(self, part: str) -> Any:
        return optional_texts(self.table, self.plan.columns[part][0]) if part in self.plan.columns else repeat(None)

    def _criteria(self) -> Iterable[tuple[Criterion, ...]]:
        if "criteria" not in self.plan.columns:
            return repeat(())
        criteria = criteria_of_columns(self.table, self.plan.columns["criteria"])
        self.notes += criteria_findings(criteria, self.plan.columns["criteria"])
        return criteria.criteria

    def _labels(self, ids: Sequence[str]) -> tuple[list[Verdict | None], Any]:
        """(human label, annotators) of each record."""
        raw, said = self._given_labels()
        keys = _label_keys(raw)
        self._learn("human", Counter(keys), lambda unknown: next(i for i, key in enumerate(keys) if key in unknown))
        single = [{label_key(value) for _, value in row_labels} for row_labels in said]
        counts = Counter(label_key(value) for row_labels in said for _, value in row_labels)
        self._learn("annotators", counts, lambda unknown: next(i for i, own in enumerate(single) if own & unknown))
        coding = self.coding
        humans: list[Verdict | None]
        humans = ["a"] * self.size if self.plan.preference else [coding[key] if key else None for key in keys]
        if not any(said):
            return humans, repeat(())
        annotators: list[tuple[tuple[str, Verdict], ...]] = []
        undecided: list[str] = []
        taken: list[str] = []
        for index, row_labels in enumerate(said):
            meant = [(name, coding[key]) for name, value in row_labels if (key := label_key(value))]
            verdicts = tuple((name, verdict) for name, verdict in meant if verdict is not None)
            annotators.append(verdicts)
            # Null, an empty cell and no column are the same: nobody gave a label for all annotators. A value that the
            # label map reads as no label is a decision, and stays one.
            if not keys[index] and verdicts and not self.plan.preference:
                decided = majority((verdict for _, verdict in verdicts), None)
                if "human" in self.plan.columns:
                    taken.append(ids[index])
                if decided is None:
                    undecided.append(ids[index])
                humans[index] = decided or self.mapping.no_majority
        if taken:
            message = "Records without a label of their own take the majority of their annotators."
            self._note("majority_taken", "note", len(taken), message, taken)
        if undecided:
            rule = self.mapping.no_majority or "no label"
            self._note("no_majority", "note", len(undecided), f"Annotators without a majority: {rule}.", undecided)
        return humans, annotators

    def _given_labels(self) -> tuple[list[Any], list[Named]]:
        """(label, what annotators said) of each record, as they stand in the table."""
        columns = self.plan.columns
        raw: list[Any] = [ABSENT] * self.size
        if "human" in columns and not self.plan.preference:
            raw = self.table.column(columns["human"][0])
            if not {list, dict}.isdisjoint(map(type, raw)):
                index = next(place for place, value in enumerate(raw) if isinstance(value, list | dict))
                problem = f"A label is one value, here is {shown(raw[index])}."
                raise self.table.error(problem, "Map another column.", index, columns["human"][0])
        return raw, annotator_values(self.table, columns["annotators"]) if "annotators" in columns else []

    def label_values(self) -> LabelValues:
        """The values of the label columns, and what is known of their meaning."""
        raw, said = self._given_labels()
        single = Counter(label_key(value) for row_labels in said for _, value in row_labels)
        counts = Counter(_label_keys(raw)) + single
        del counts[""], single[""]
        known = self.plan.labels if self.plan.labels is not None else safe_part(counts)
        if self.plan.labels is not None and not self.plan.said_labels:
            known = {**(safe_coding(value for value in counts if value not in known) or {}), **known}
        values = sorted(counts)
        return LabelValues(
            {value: counts[value] for value in values},
            {value: known[value] for value in values if value in known},
            dict(single),
        )

    def _learn(self, part: str, counts: Mapping[str, int], first_of: Callable[[set[str]], int]) -> None:
        """Finds the meaning of label values; ``first_of`` finds the first record that holds one of some values.

        :raises DataError: some value has none.
        """
        values = [value for value in counts if value]
        known = self.plan.labels
        if known is None:
            known = safe_part(values) if self.lenient else safe_coding(values) or {}
        elif not self.plan.said_labels:
            # The published format's words, and beside them only what cannot be misread.
            known = {**(safe_coding(value for value in values if value not in known) or {}), **known}
        unknown = {value for value in values if value not in known}
        if unknown and self.lenient:
            known = {**known, **dict.fromkeys(unknown)}
        elif unknown:
            column = "+".join(self.plan.columns[part])
            raise unknown_coding(self.table, part, column, counts, known, first_of(unknown))
        self.coding |= {value: known[value] for value in values}
        left_out = sum(counts[value] for value in values if known[value] is None and value not in unknown)
        if left_out:
            self._note("left_out_labels", "note", left_out, f"{left_out} labels mean no label by the mapping.")


def _label_keys(values: Sequence[Any]) -> list[str]:
    """The :func:`label_key` of each value; labels are few, so that each text is looked at once."""
    if set(map(type, values)) == {str}:
        known = {value: label_key(value) for value in set(values)}
        return [known[value] for value in values]
    return [label_key(value) for value in values]


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


def merge_raters(
    parts: Sequence[tuple[RecordTable, list[Pair]]], readers: Sequence[Reader], no_majority: Verdict | None
) -> tuple[list[tuple[RecordTable, list[Pair]]], list[Finding]]:
    """One pair of several records about the same texts, each with the label of another annotator.

    Records belong together by their id, or without ids by their texts. Where nothing is there twice, nothing changes.

    :raises DataError: an annotator gave two labels for a pair.
    """
    if not any(reader.raters for reader in readers):
        return list(parts), []
    by_id = all("id" in reader.plan.columns for reader in readers)
    groups: dict[Any, list[tuple[RecordTable, int, Pair, str]]] = {}
    for (table, pairs), reader in zip(parts, readers, strict=True):
        for index, pair in enumerate(pairs):
            rater = reader.raters[index] if reader.raters else ""
            key = pair.id if by_id else (pair.question, *sorted((pair.response_a, pair.response_b)))
            groups.setdefault(key, []).append((table, index, pair, rater))
    if all(len(group) == 1 for group in groups.values()):
        columns = list(dict.fromkeys(reader.plan.columns["annotator"][0] for reader in readers if reader.raters))
        message = f"Not read: {listed(columns)}, since no pair has labels of two annotators."
        return list(parts), [Finding("unused_columns", "note", len(columns), message)]
    kept: dict[int, list[Pair]] = {id(table): [] for table, _ in parts}
    merged: list[str] = []
    undecided: list[str] = []
    for group in groups.values():
        table, _, first, _ = group[0]
        if len({rater for *_, rater in group if rater}) < min(len(group), 2) or any(
            _facing(first, pair) is None for _, _, pair, _ in group
        ):
            # The same record twice, or another pair with the same id: that is told elsewhere.
            for table, _, pair, _ in group:
                kept[id(table)].append(pair)
            continue
        said = _by_annotator(group)
        human = majority(said.values(), None)
        if said and human is None:
            undecided.append(first.id)
            human = no_majority
        merged += [first.id] if len(group) > 1 else []
        kept[id(table)].append(replace(first, human=human, annotators=tuple(said.items())))
    notes = []
    if merged:
        message = "Records of several annotators about the same pair became one pair, whose label is their majority."
        notes.append(Finding("annotators_merged", "note", len(merged), message, tuple(merged)))
    if undecided:
        rule = no_majority or "no label"
        message = f"Annotators without a majority: {rule}."
        notes.append(Finding("no_majority", "note", len(undecided), message, tuple(undecided)))
    return [(table, kept[id(table)]) for table, _ in parts], notes


def _by_annotator(group: Sequence[tuple[RecordTable, int, Pair, str]]) -> dict[str, Verdict]:
    """What each annotator said, from records of one pair: table, place in it, pair and annotator; in the terms of the
    first.

    :raises DataError: an annotator gave two labels.
    """
    said: dict[str, Verdict] = {}
    first = group[0][2]
    for table, index, pair, rater in group:
        turned = _facing(first, pair)
        assert turned is not None
        for name, verdict in turned.annotators or (((rater, turned.human),) if turned.human else ()):
            if said.setdefault(name, verdict) != verdict:
                raise table.error(
                    f"The annotator {shown(name)} gave two labels for the pair {shown(first.id)}.",
                    "Leave one of them out.",
                    index,
                )
    return said


def _facing(first: Pair, second: Pair) -> Pair | None:
    """The other pair with its responses where those of the first are; ``None`` where the texts are others."""
    if first.question != second.question:
        return None
    if (first.response_a, first.response_b) == (second.response_a, second.response_b):
        return second
    return _swapped(second) if (first.response_a, first.response_b) == (second.response_b, second.response_a) else None


def same_texts(first: Pair, second: Pair) -> bool:
    """True for pairs of the same texts, in either order."""
    return _facing(first, second) is not None


def check_ids(parts: Sequence[tuple[RecordTable, Sequence[Pair]]]) -> None:
    """Refuses ids that are there twice.

    :raises DataError: some are.
    """
    if len({pair.id for _, pairs in parts for pair in pairs}) == sum(len(pairs) for _, pairs in parts):
        return
    places: dict[str, tuple[RecordTable, Pair, int]] = {}
    for table, pairs in parts:
        rows = _rows_of(table, pairs)
        for pair, row in zip(pairs, rows, strict=True):
            earlier, same, earlier_row = places.setdefault(pair.id, (table, pair, row))
            if same is not pair:
                mend = "Make ids unique, or number the rows instead: --map id="
                if _facing(same, pair) is not None:
                    mend += " Where these are labels of several annotators, name the column that says whose: "
                    mend += "--map annotator=COLUMN"
                raise DataError(
                    f"The id {shown(pair.id)} is there already, in {earlier.file}, row {earlier_row}.",
                    mend,
                    file=table.file,
                    row=row,
                    column="id",
                )


def _rows_of(table: RecordTable, pairs: Sequence[Pair]) -> Sequence[int]:
    """The place of each pair in the file."""
    return [pair.source.row if pair.source else row for pair, row in zip(pairs, table.rows, strict=False)]
