"""Makes the parts of pairs from the values of a column."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from judgenet.formats.containers import ABSENT, RecordTable
from judgenet.formats.errors import shown
from judgenet.formats.native import text_of, transcript
from judgenet.formats.pictures import column_marks, holds_picture, parts_text, read_text


def is_missing(value: Any) -> bool:
    """True for what stands for no value at all: null, NaN, a key that is not there. An empty text is a value."""
    return value is None or value is ABSENT or (isinstance(value, float) and math.isnan(value))


def required_texts(table: RecordTable, column: str) -> tuple[list[str], list[int]]:
    """Texts exactly as they stand, and the 0-based places of null, which is read as empty text.

    :raises DataError: a record does not have the column, or holds something that is no text.
    """
    values = table.column(column)
    if set(map(type, values)) <= {str}:
        return _with_marks(values), []
    texts: list[str] = []
    nulls: list[int] = []
    for index, value in enumerate(values):
        if value is ABSENT:
            raise table.error(f"This record has no {shown(column)}.", "Complete the record.", index, column)
        if is_missing(value):
            nulls.append(index)
            texts.append("")
        else:
            texts.append(_text(table, index, column, value))
    return texts, nulls


def _with_marks(values: list[str]) -> list[str]:
    """Texts, with marks in place of those that are pictures or lists of parts."""
    if not any(map(holds_picture, values)):
        return values
    return [read_text(value) if holds_picture(value) else value for value in values]


def picture_marks(table: RecordTable, column: str) -> list[str]:
    """The marks of the pictures in a column that holds their paths, data URIs or bytes; empty where it holds none.

    :raises DataError: a cell holds something else.
    """
    item_marks: list[str] = []
    for index, value in enumerate(table.column(column)):
        marks = "" if is_missing(value) else column_marks(value)
        if marks is None:
            problem = f"A picture is a path, a data URI or an object with bytes or a path, here is {shown(value)}."
            raise table.error(problem, "Mend the record, or map another column.", index, column)
        item_marks.append(marks)
    return item_marks


def optional_texts(table: RecordTable, column: str) -> list[str | None]:
    """Texts, or ``None``. An empty text is none: CSV cannot tell them apart, and the same data set read from CSV and
    from JSON has to be the same."""
    values = table.column(column)
    return [
        ((read_text(value) if holds_picture(value) else value) or None)
        if type(value) is str
        else None
        if is_missing(value)
        else _text(table, index, column, value)
        for index, value in enumerate(values)
    ]


def _text(table: RecordTable, index: int, column: str, value: Any) -> str:
    if isinstance(value, str):
        return read_text(value) if holds_picture(value) else value
    if isinstance(value, bool | int | float):
        # JSON's true becomes the text "True", as in PandaLM's own reading.
        return str(value)
    messages = as_messages(value)
    if messages is None and (parts := parts_text(value)) is not None:
        return parts
    if messages is None:
        raise table.error(
            f"A text is expected, here is {shown(value)}.", "Map the column that holds the text.", index, column
        )
    return conversation(messages)


def as_messages(value: Any) -> list[tuple[str, str]] | None:
    """(role, text) of a list of chat messages, ``None`` for any other value."""
    if not isinstance(value, list) or not value:
        return None
    if not all(isinstance(message, dict) and "content" in message for message in value):
        return None
    texts = [text_of(message["content"]) for message in value]
    if None in texts:
        return None
    return [(str(message.get("role", "user")), text or "") for message, text in zip(value, texts, strict=True)]


def conversation(messages: Sequence[tuple[str, str]]) -> str:
    """One message stands for itself, several are a transcript."""
    return messages[0][1] if len(messages) == 1 else transcript(messages)


def preference_texts(
    table: RecordTable, chosen: str, rejected: str, *, has_question: bool = False
) -> tuple[list[str], list[str], list[str]]:
    """(implied question, chosen, rejected) where responses may be chat messages that repeat the prompt.

    The messages that both begin with are the question; in texts of the form ``Human: … Assistant: …`` it is what
    stands before the last answer that both have begun. ``has_question``: where the question is has been said.

    :raises DataError: a response is missing, or two conversations do not begin alike and nothing says what was asked.
    """
    questions: list[str] = []
    texts: tuple[list[str], list[str]] = ([], [])
    pairs = zip(table.column(chosen), table.column(rejected), strict=True)
    for index, (first, second) in enumerate(pairs):
        a, b = as_messages(first), as_messages(second)
        if a is None or b is None:
            for kept, column, value in zip(texts, (chosen, rejected), (first, second), strict=True):
                if is_missing(value):
                    raise table.error(f"This record has no {shown(column)}.", "Complete the record.", index, column)
                kept.append(_text(table, index, column, value))
            question = "" if has_question else _dialogue_start(texts[0][-1], texts[1][-1])
            questions.append(question)
            for kept in texts:
                kept[-1] = kept[-1][len(question) :]
            continue
        common = 0
        while common < min(len(a), len(b)) - 1 and a[common] == b[common]:
            common += 1
        if not common and not has_question:
            held = f"chosen={chosen},rejected={rejected}"
            raise table.error(
                "The two conversations do not begin with the same message, so what was asked is not known.",
                f"To compare the whole conversations without a question: --map question=,{held}. Where a column holds "
                f"the question: --map question=COLUMN,{held}",
                index,
                rejected,
            )
        questions.append(conversation(a[:common]) if common else "")
        texts[0].append(conversation(a[common:]))
        texts[1].append(conversation(b[common:]))
    return questions, texts[0], texts[1]


def _dialogue_start(first: str, second: str) -> str:
    """What two dialogues as texts have in common, up to the answer that differs; empty where they are no dialogues."""
    mark = "\n\nAssistant:"
    if not (first.lstrip().startswith("Human:") and mark in first):
        return ""
    differ = next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
    end = first.rfind(mark, 0, differ)
    return first[: end + len(mark)] if end >= 0 else ""


def id_text(value: Any) -> str:
    """An id as text, empty where there is none; a whole number is written without ``.0``."""
    if type(value) is str:
        return value
    if is_missing(value):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def tag_lists(table: RecordTable, column: str) -> list[tuple[str, ...]]:
    """Tags from lists, from JSON lists in a cell, or from a cell divided by ``;`` or ``,``."""
    return [_tags(table, index, column, value) for index, value in enumerate(table.column(column))]


def _tags(table: RecordTable, index: int, column: str, value: Any) -> tuple[str, ...]:
    if is_missing(value) or value == "":
        return ()
    if isinstance(value, str):
        parsed = _json_cell(value, "[")
        if parsed is None:
            parts = value.split(";" if ";" in value else ",")
            return tuple(part.strip() for part in parts if part.strip())
        value = parsed
    if isinstance(value, list) and all(isinstance(tag, str | int | float) for tag in value):
        return tuple(str(tag) for tag in value)
    raise table.error(f"Tags are a list of texts, here is {shown(value)}.", "Mend the record.", index, column)


def _json_cell(text: str, start: str) -> Any:
    """The JSON value in a cell that begins with ``start``, or ``None`` where it is an ordinary text."""
    if not text.startswith(start):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


Named = list[tuple[str, Any]]
"""(annotator, value) of one record."""


def annotator_values(table: RecordTable, columns: Sequence[str]) -> list[Named]:
    """What each annotator said about each record; an annotator who said nothing is left out.

    One column may hold an object (name: label), a list (names ``annotator1``, ``annotator2``, …), either of them as
    JSON in a cell, or one annotator's label; several columns hold one annotator each.
    """
    if len(columns) > 1:
        by_column = zip(*(table.column(name) for name in columns), strict=True)
        return [_without_missing(list(zip(columns, values, strict=True))) for values in by_column]
    (column,) = columns
    return [_annotators(column, value) for value in table.column(column)]


def _annotators(column: str, value: Any) -> Named:
    if value == [] or value == "":
        return []
    if isinstance(value, str):
        parsed = _json_cell(value, "{")
        parsed = _json_cell(value, "[") if parsed is None else parsed
        value = value if parsed is None else parsed
    if isinstance(value, dict):
        return _without_missing(list(value.items()))
    if isinstance(value, list):
        # Parquet gives a map as a list of (key, value).
        if all(isinstance(item, tuple) and len(item) == 2 for item in value):
            return _without_missing([(str(name), label) for name, label in value])
        return _without_missing([_of_annotator(place, label) for place, label in enumerate(value, 1)])
    return _without_missing([(column, value)])


_WHO = ("name", "annotator", "annotator_id", "rater", "user", "user_id", "worker", "worker_id", "id")
_WHAT = ("label", "verdict", "winner", "preference", "choice", "vote", "human")


def _of_annotator(place: int, value: Any) -> tuple[str, Any]:
    """What one of a list of annotators said: the label itself, or an object such as ``{"name": …, "label": …}``."""
    if not isinstance(value, dict):
        return f"annotator{place}", value
    who = next((value[key] for key in _WHO if not is_missing(value.get(key))), None)
    what = next((value[key] for key in _WHAT if key in value), value)
    return (f"annotator{place}" if who is None else id_text(who)), what


def _without_missing(named: Named) -> Named:
    return [(name, value) for name, value in named if not is_missing(value) and value != ""]
