"""Which column holds which part of a pair, and what the values of a label column mean."""

from __future__ import annotations

import csv
import difflib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgenet.core.matches import Matches
from judgenet.core.pairs import VERDICTS, Verdict
from judgenet.formats.containers import ABSENT, RecordTable
from judgenet.formats.errors import CodingError, DataError, listed, shown
from judgenet.formats.findings import OF_PAIRS

PICTURE_FIELDS = ("pictures_question", "pictures_a", "pictures_b")
"""Columns with the pictures of a text, which follow it: paths, data URIs, bytes, or a list of these. They are never
taken by their names: an earlier run over the same file was made without them."""

FIELDS = (
    "id",
    "question",
    "response_a",
    "response_b",
    "chosen",
    "rejected",
    "reference",
    "model_a",
    "model_b",
    "task",
    "tags",
    "criteria",
    "human",
    "annotators",
    "annotator",
    "responses",
    "models",
    "system",
    "response",
    "ranks",
    "scores",
    "ranking",
    "winners",
    *PICTURE_FIELDS,
)
"""The parts of a pair that a column can be mapped to. ``chosen`` and ``rejected`` stand for the two responses where
the label is in the column names; ``annotator`` names who gave the label of a record, where each annotator has a record
of the same pair; those from ``responses`` on are of more than two responses to a question
(``formats.many``)."""

_FIELD_ALIASES = {"label": "human", "prompt": "question"}


@dataclass(frozen=True, slots=True)
class PairMapping:
    """How to read pairs from columns.

    ``columns`` maps a field of :data:`FIELDS` to a column, or to a dotted path inside its values
    (:meth:`~judgenet.formats.containers.RecordTable.column`). Several columns are joined by ``+``: texts of a question
    with ``joiner`` (empty parts are left out), columns of ``annotators`` as one annotator each, by column name,
    columns of ``criteria`` one after another. A
    field mapped to ``""`` is not read. Fields that are not named are filled from what is known of the format.
    ``labels`` says what a label value means, ``None`` where it is no label. ``None`` for ``labels``: the coding of
    the known format, or a/b/tie and model_a/model_b/tie.
    With ``chosen`` and ``rejected`` the response that won becomes A or B by a coin that ``seed`` and the pair's id
    decide; ``model_a`` and ``model_b`` then name the systems of chosen and rejected.
    ``no_majority`` is the label where annotators are read without a label of their own and no verdict has the
    majority. ``encoding`` is for texts that are not UTF-8. ``leave_out`` names kinds of findings whose pairs are left
    out (``duplicate``, ``identical_responses``, …).
    Of more than two responses to a question ``matches`` says how many pairs of each are judged (a number, a share below
    1, ``None`` for all; ``seed`` draws them), and ``systems`` names the systems of columns that have no names.
    ``sheet`` is the sheet of a workbook. ``leave_out_bad`` leaves out records that cannot be read, which a finding
    counts and names.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Verdict | None] | None = None
    joiner: str = "\n\n"
    seed: int = 0
    no_majority: Verdict | None = "tie"
    encoding: str | None = None
    leave_out: tuple[str, ...] = ()
    matches: Matches = None
    systems: tuple[str, ...] = ()
    sheet: str | None = None
    leave_out_bad: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "leave_out", tuple(self.leave_out))
        object.__setattr__(self, "systems", tuple(self.systems))
        require_matches(self.matches)
        twice = [name for name in self.systems if self.systems.count(name) > 1]
        if twice:
            raise DataError(f"The system {shown(twice[0])} is named twice.", "Give each its own name.")
        strange = [kind for kind in self.leave_out if kind not in OF_PAIRS]
        if strange:
            raise DataError(
                f"Pairs cannot be left out by {shown(strange[0])}.", f"Findings of pairs are {', '.join(OF_PAIRS)}."
            )
        unknown = [name for name in self.columns if name not in FIELDS]
        if unknown:
            raise DataError(f"There is no field {shown(unknown[0])}.", f"Fields are {', '.join(FIELDS)}.")
        wrong = [value for value in (self.labels or {}).values() if value not in (*VERDICTS, None)]
        if wrong:
            raise DataError(f"{shown(wrong[0])} is no label.", "A label is a, b, tie, or nothing (no label).")

    def to_json(self) -> dict[str, Any]:
        """The mapping as JSON-able values."""
        return {
            "columns": dict(self.columns),
            "labels": None if self.labels is None else dict(self.labels),
            "joiner": self.joiner,
            "seed": self.seed,
            "no_majority": self.no_majority,
            "encoding": self.encoding,
            "leave_out": list(self.leave_out),
            "matches": self.matches,
            "systems": list(self.systems),
            "sheet": self.sheet,
            "leave_out_bad": self.leave_out_bad,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> PairMapping:
        """The inverse of :meth:`to_json`; absent keys have their defaults."""
        return cls(**values)


def parse_column_map(text: str) -> dict[str, str]:
    """Reads ``question=prompt,response_a=answer_1``: fields and the columns that hold them.

    ``question=instruction+input`` joins columns, ``id=`` leaves a field out. A column whose name holds a comma goes
    between double quotes. ``label`` may stand for ``human`` and ``prompt`` for ``question``.

    :raises DataError: an entry has no ``=`` or names an unknown field.
    """
    columns: dict[str, str] = {}
    for entry in _entries(text):
        name, equals, column = entry.partition("=")
        name = name.strip()
        name = _FIELD_ALIASES.get(name, name)
        if not equals or name not in FIELDS:
            raise DataError(
                f"Cannot read {shown(entry)} in the column map.",
                f"Write field=column, with fields {', '.join(FIELDS)}; such as question=prompt,response_a=answer_1.",
            )
        if name in columns and columns[name] != column.strip():
            raise DataError(
                f"The column map names two columns for {name}.", "Name one; a + joins the texts of several."
            )
        columns[name] = column.strip()
    return columns


def require_matches(matches: Matches) -> None:
    """Refuses what is no number of matches.

    :raises DataError: it is none.
    """
    number = not isinstance(matches, bool) and isinstance(matches, int | float)
    if matches is not None and not (number and matches > 0 and (isinstance(matches, int) or matches < 1)):
        raise DataError(
            f"{shown(matches)} is no number of pairs for a question.", "Give a number of 1 or more, or a share below 1."
        )


def parse_matches(text: str) -> Matches:
    """Reads how many pairs of each question are judged: ``all``, a number (``12``) or a share (``25%``, ``0.25``).

    :raises DataError: it is none of them.
    """
    given = text.strip().lower()
    if given in ("all", "100%"):
        return None
    try:
        matches = float(given.removesuffix("%")) / 100 if given.endswith("%") else float(given)
    except ValueError:
        matches = -1.0
    if matches >= 1 and matches.is_integer() and not given.endswith("%"):
        return int(matches)
    if not 0 < matches < 1:
        raise DataError(
            f"Cannot read {shown(text)} as a number of pairs for each question.",
            "Write all, a number such as 12, or a share such as 25%.",
        )
    return matches


def parse_label_map(text: str) -> dict[str, Verdict | None]:
    """Reads ``1=a,2=b,0=tie,skipped=``: label values and their meaning; nothing on the right means no label.

    :raises DataError: an entry has no ``=``, or its right side is none of a, b, tie and nothing.
    """
    labels: dict[str, Verdict | None] = {}
    for entry in _entries(text):
        # The value may hold "=" itself ("A=B"), the verdict cannot.
        value, equals, meaning = entry.rpartition("=")
        verdict = next((known for known in VERDICTS if known == meaning.strip().lower()), None)
        if not equals or (verdict is None and meaning.strip()):
            raise DataError(
                f"Cannot read {shown(entry)} in the label map.",
                'Write value=a, value=b, value=tie or value= (no label), such as "1=a,2=b,0=tie".',
            )
        labels[value.strip()] = verdict
    return labels


def _entries(text: str) -> list[str]:
    return [entry for entry in next(csv.reader([text], skipinitialspace=True), []) if entry.strip()]


# --- what column names suggest ---

_RESPONSES = (
    ("response1", "response2"),
    ("response_1", "response_2"),
    ("output_1", "output_2"),
    ("output1", "output2"),
    ("output_a", "output_b"),
    ("output_text_a", "output_text_b"),
    ("answer_a", "answer_b"),
    ("answer_1", "answer_2"),
    ("answer1", "answer2"),
    ("completion_a", "completion_b"),
    ("text_a", "text_b"),
)
_MODELS = (
    ("model_1", "model_2"),
    ("model1", "model2"),
    ("generator_1", "generator_2"),
    ("system_a", "system_b"),
)
_SINGLE: Mapping[str, tuple[str, ...]] = {
    "question": ("prompt", "query", "instruction", "input"),
    "human": ("label", "winner", "preference", "human_label", "human_preference", "overall_preference"),
    "annotators": ("labels_by_annotator",),
    "id": ("pair_id", "uid", "example_id"),
    "reference": ("reference_answer", "reference_response"),
    "task": ("category", "dataset", "scenario", "subset"),
    "tags": (),
    "criteria": ("criterion", "checklist", "rubric", "rubrics", "score_rubric"),
    "annotator": (
        "annotator_id",
        "annotator_name",
        "annotated_by",
        "rater",
        "rater_id",
        "worker",
        "worker_id",
        "workerid",
        "labeler",
        "labeler_id",
        "labeller",
        "completed_by",
        "user_id",
    ),
}
_DECIDED_BY_PEOPLE = ("question", "human")
_ANNOTATOR = re.compile(r"annotator_?\d+")


@dataclass(frozen=True, slots=True)
class Proposal:
    """Columns that names suggest, and for a field with several candidates all of them."""

    columns: dict[str, str]
    unclear: dict[str, tuple[str, ...]]


def propose(names: Sequence[str]) -> Proposal:
    """What the column names suggest. A field's own name goes before its synonyms; of several synonyms none is taken."""
    known: dict[str, list[str]] = {}
    for name in names:
        known.setdefault(_plain(name), []).append(name)
    return _proposal(known)


def propose_nested(table: RecordTable) -> Proposal:
    """What the names inside the values of a table suggest, beside those of its columns: ``data.prompt`` counts as
    prompt, and ``output_a.text`` as output_a."""
    known: dict[str, list[str]] = {}
    paths = table.nested(lists=False, cells=True)
    for path in paths:
        parts = [_plain(part) for part in path.split(".")]
        name = parts[-2] if parts[-1] in _NAMELESS and len(parts) > 1 else parts[-1]
        known.setdefault(name, []).append(path)
    # A column that holds objects is no text itself.
    holders = {table.top(path) for path in paths}
    known |= {_plain(name): [name] for name in table.names if name not in holders}
    return _proposal(known)


_NAMELESS = ("text", "content", "value", "output", "raw", "body", "string")
"""Names of members that say nothing; what holds them says what they are."""


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name.strip()).casefold()


def _proposal(known: Mapping[str, list[str]]) -> Proposal:
    """What columns suggest by their plain names."""
    columns: dict[str, str] = {}
    unclear: dict[str, tuple[str, ...]] = {}
    for name, synonyms in _SINGLE.items():
        matching = known.get(name) or [column for synonym in synonyms for column in known.get(synonym, ())]
        if len(matching) == 1:
            columns[name] = matching[0]
        elif len(matching) > 1 and name in _DECIDED_BY_PEOPLE:
            unclear[name] = tuple(matching)
    for fields, candidates in ((("response_a", "response_b"), _RESPONSES), (("model_a", "model_b"), _MODELS)):
        own = {name: known[name][0] for name in fields if len(known.get(name, ())) == 1}
        both = [pair for pair in candidates if all(len(known.get(name, ())) == 1 for name in pair)]
        if own or len(both) == 1:
            columns.update(own or zip(fields, (known[name][0] for name in both[0]), strict=True))
        elif both and fields[0] == "response_a":
            unclear.update(zip(fields, (tuple(known[pair[side]][0] for pair in both) for side in (0, 1)), strict=True))
    single = [name for plain, several in known.items() if _ANNOTATOR.fullmatch(plain) for name in several]
    if single and "annotators" not in columns:
        columns["annotators"] = "+".join(single)
    return Proposal(columns, unclear)


def columns_of(table: RecordTable, named: str, mapped_to: str) -> tuple[str, ...]:
    """The columns that an entry of a mapping names: one, or several joined by ``+``.

    :raises DataError: the table has no such column.
    """
    if table.has(named):
        return (named,)
    parts = tuple(named.split("+"))
    for part in parts:
        if not table.has(part):
            names = (*table.names, *table.nested(cells=True))
            near = difflib.get_close_matches(part, names, 1)
            raise table.error(
                f"There is no column {shown(part)} for {mapped_to}"
                + (f" (did you mean {shown(near[0])}?)." if near else "."),
                f"The columns are {listed([shown(name) for name in names], 30)}.",
            )
    return parts


# --- label values ---


def label_key(value: Any) -> str:
    """A label value as a label map writes it: 1, 1.0, "1" and "1.0" are all ``1``; no value is the empty text."""
    if isinstance(value, str):
        text = value.strip()
        return text.partition(".")[0] if _WHOLE.fullmatch(text) else text
    if value is None or value is ABSENT:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if math.isnan(value) else str(int(value)) if value.is_integer() else str(value)
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | dict) else str(value)


_WHOLE = re.compile(r"-?\d+\.0+")
NO_LABEL = "no label"
"""How a data file of JudgeNet's own says that a pair has no label although annotators gave theirs."""
_SAFE_CODINGS: tuple[dict[str, Verdict | None], ...] = (
    {"a": "a", "b": "b", "tie": "tie", NO_LABEL: None},
    {"model_a": "a", "model_b": "b", "tie": "tie"},
)


def safe_coding(values: Iterable[str]) -> dict[str, Verdict | None] | None:
    """The meaning of label values that can only be meant in one way, or ``None`` where they are not such."""
    labels = [value for value in values if value]
    for coding in _SAFE_CODINGS:
        if all(value.casefold() in coding for value in labels):
            return {value: coding[value.casefold()] for value in labels}
    return None


def safe_part(values: Iterable[str]) -> dict[str, Verdict | None]:
    """The meaning of those values that one of the safe codings holds, where others stand beside them."""
    labels = [value for value in values if value]
    best: dict[str, Verdict | None] = {}
    for coding in _SAFE_CODINGS:
        known = {value: coding[value.casefold()] for value in labels if value.casefold() in coding}
        if len(known) > len(best):
            best = {**known}
    return best


def unknown_coding(
    table: RecordTable,
    part: str,
    column: str,
    counts: Mapping[str, int],
    known: Mapping[str, Verdict | None],
    index: int,
) -> CodingError:
    """The error for label values of the field ``part`` that are not ``known``; ``index`` is the 0-based place of the
    first of them."""
    values = [value for value in counts if value]
    unknown = listed([f"{shown(value)} ({counts[value]})" for value in values])
    which = listed([shown(value) for value in values if value not in known])
    # A label map says all, so that the known values stand in it too.
    template = ",".join(f"{value}={(known[value] or '') if value in known else '?'}" for value in values[:12])
    return CodingError(
        f"The meaning of the label {which} is not known; the values found are {unknown}.",
        f'Say it: --label-map "{template}", with a (the first response is better), b, tie or nothing (no label) for '
        f'each ?; such as --label-map "1=a,2=b,0=tie". Or read no labels: --map {part}=',
        file=table.file,
        row=table.rows[index],
        column=column,
    )


def missing_columns(table: RecordTable, proposal: Proposal, missing: Sequence[str]) -> DataError:
    """The error for required fields that no column was found for."""
    if table.container == "lines":
        return table.error(
            f"The file is neither JSON nor a table: its first line is {shown(table.column('line')[0])}.",
            "Give JSON Lines, a JSON list, CSV or TSV with a header, Parquet or XLSX.",
        )
    others = [sheet for sheet in table.sheets if sheet != table.sheet]
    if others:
        sheets = listed([shown(sheet) for sheet in others])
        return table.error(
            f"No column was found for {', '.join(missing)} in sheet {shown(table.sheet)}.",
            f"Name the sheet with the pairs, --sheet NAME; the others are {sheets}. Or say which columns hold them: "
            "--map question=…,response_a=…,response_b=…",
        )
    columns = f"The columns are {listed([shown(name) for name in table.names], 30)}."
    example = "--map question=…,response_a=…,response_b=… (a column name in place of each …)"
    unclear = [f"{name} may be {' or '.join(proposal.unclear[name])}" for name in missing if name in proposal.unclear]
    if unclear:
        return table.error(f"It is not clear which column is which: {'; '.join(unclear)}.", f"Say it: {example}.")
    if {"chosen", "rejected"} <= set(table.names):
        return table.error(
            "The file has chosen and rejected responses: read as they are, the better one would always come first.",
            "Say that they are to be put in random order: --map "
            + ",".join(f"{part}={column}" for part, column in _preference_columns(table).items()),
        )
    if {"pair_id", "judge", "text"} <= set(table.names):
        return table.error("These are recorded judgments, not pairs.", "Give the file with the pairs.")
    nested = table.nested(cells=True)
    if nested:
        return table.error(
            f"No column was found for {', '.join(missing)}. {columns} Inside them are {listed(nested, 30)}.",
            f"Say where the texts are, with dotted paths: --map {_nested_example(table, nested)}",
        )
    if alike := _alike(table.names):
        responses = dict(zip(("response_a", "response_b"), alike, strict=True))
        example = ",".join(f"{name}={responses.get(name, '…')}" for name in dict.fromkeys((*missing, *responses)))
        return table.error(
            f"No column was found for {', '.join(missing)}. {columns}",
            f"If {shown(alike[0])} and {shown(alike[1])} are the two responses, say so: --map {example}",
        )
    return table.error(
        f"No column was found for {', '.join(missing)}. {columns}",
        f"Say which columns hold them: {example}.",
    )


_RESPONSE_WORDS = (
    "response",
    "output",
    "answer",
    "completion",
    "generation",
    "reply",
    "summary",
    "translation",
    "text",
)


def _nested_example(table: RecordTable, nested: Sequence[str]) -> str:
    """A column map for texts inside columns: the paths that names suggest, else any."""
    proposed = propose_nested(table).columns
    spare = iter(nested)
    parts = ("question", "response_a", "response_b")
    return ",".join(f"{part}={proposed.get(part) or next(spare, '…')}" for part in parts)


def _alike(names: Sequence[str]) -> tuple[str, str] | None:
    """The only two columns whose names have one word in common for what they hold: gpt4_output, claude_output."""
    for word in _RESPONSE_WORDS:
        named = [name for name in names if _plain(name).endswith(f"_{word}") or _plain(name).startswith(f"{word}_")]
        if len(named) == 2:
            return named[0], named[1]
    return None


def _preference_columns(table: RecordTable) -> dict[str, str]:
    """The mapping with which a file with chosen and rejected responses can be read."""
    question = propose(table.names)
    column = question.columns.get("question") or next(iter(question.unclear.get("question", ())), None)
    held = {} if column is None else {"question": column}
    return {**held, "chosen": "chosen", "rejected": "rejected"}
