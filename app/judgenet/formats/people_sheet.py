"""Sheets of a lab's prompts for people: written without a hint of the probe, and read back with their answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from judgenet.core.bias.for_people import PeoplePrompt
from judgenet.core.evaluation import Choice
from judgenet.formats.containers import ABSENT, RecordTable, tables
from judgenet.formats.errors import DataError, listed, shown
from judgenet.formats.tables import csv_text
from judgenet.formats.values import id_text, is_missing

COLUMNS: Final = ("id", "question", "reference", "note", "response_1", "response_2", "answer", "person")
_ANSWERS: Final[dict[str, Choice | None]] = {
    "1": "first",
    "first": "first",
    "response 1": "first",
    "2": "second",
    "second": "second",
    "response 2": "second",
    "tie": "tie",
    "=": "tie",
    "unsure": None,
    "?": None,
}
_MEND: Final = "Write 1, 2, tie or unsure: the response that is better."


@dataclass(frozen=True, slots=True)
class PeopleSheet:
    """Answers as read: the prompt, who said it, and what. ``empty`` rows have no answer."""

    answers: tuple[tuple[PeoplePrompt, str, Choice | None], ...]
    empty: int


def sheet_text(prompts: Sequence[PeoplePrompt], *, as_csv: bool) -> str:
    """The sheet as CSV, or as JSON Lines, with columns for the answers."""
    rows = [
        (prompt.key, prompt.question, prompt.reference, prompt.remarks, prompt.first, prompt.second, "", "")
        for prompt in prompts
    ]
    if as_csv:
        return csv_text(COLUMNS, rows)
    return "".join(json.dumps(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False) + "\n" for row in rows)


def read_sheet(path: Path, prompts: Mapping[str, PeoplePrompt], person: str | None = None) -> PeopleSheet:
    """The answers of a sheet; ``prompts`` are by key. ``person`` stands for rows that do not say who answered.

    :raises DataError: the file cannot be read, or a row cannot be what it should. Nothing is taken of it then.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"Cannot be read ({error.strerror or error}).", "Name another file.", file=str(path)) from None
    sheet_tables = tables(str(path), data)
    if len(sheet_tables) != 1:
        raise DataError("An archive of several files.", "Name one sheet of answers.", file=str(path))
    (table,) = sheet_tables
    for name in ("id", "answer"):
        if name not in table.names:
            raise table.error(
                f"There is no column {name}; there are {listed(table.names)}.", "Keep the sheet's columns."
            )
    return _read(table, prompts, person)


def _read(table: RecordTable, prompts: Mapping[str, PeoplePrompt], person: str | None) -> PeopleSheet:
    columns = {name: table.column(name) for name in ("id", "answer", "person") if name in table.names}

    def text(place: int, name: str) -> str:
        value = columns[name][place] if name in columns else None
        return "" if is_missing(value) or value is ABSENT else id_text(value).strip()

    answers: list[tuple[PeoplePrompt, str, Choice | None]] = []
    for place in range(len(table.rows)):
        said = text(place, "answer").lower()
        if not said:
            continue
        prompt = prompts.get(text(place, "id"))
        if prompt is None:
            raise table.error(
                f"{shown(text(place, 'id'))} is no prompt of this lab.",
                "Use a sheet that was written with the same pairs, probes and settings.",
                place,
                "id",
            )
        if said not in _ANSWERS:
            raise table.error(f"{shown(said)} is no answer.", _MEND, place, "answer")
        if _ANSWERS[said] == "tie" and not prompt.tie:
            raise table.error("A tie is not offered in this lab.", "Write 1, 2 or unsure.", place, "answer")
        who = text(place, "person") or person
        if not who:
            raise table.error("Nothing says who answered.", "Fill in the column person.", place, "person")
        answers.append((prompt, who, _ANSWERS[said]))
    return PeopleSheet(tuple(answers), len(table.rows) - len(answers))
