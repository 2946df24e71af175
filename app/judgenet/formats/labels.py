"""Files of human labels, in and out: a line a label, with who gave it and how its pair was chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from judgenet.core.labels import CHOSEN, Chosen, HumanLabel, Said
from judgenet.core.pairs import Pair
from judgenet.formats.containers import ABSENT, RecordTable, tables
from judgenet.formats.errors import DataError, EmptyError, listed, shown
from judgenet.formats.native import labels_by_annotator
from judgenet.formats.values import id_text, is_missing

_ID = ("pair_id", "id")
_LABEL = ("label", "said", "verdict", "human")
_SAID: dict[str, Said] = {
    "a": "a",
    "b": "b",
    "tie": "tie",
    "t": "tie",
    "=": "tie",
    "skip": "skip",
    "s": "skip",
    "unsure": "unsure",
    "u": "unsure",
}
_MEND = "Use a, b, tie, skip or unsure: a and b are the responses of the pair, whatever the side they were shown on."


@dataclass(frozen=True, slots=True)
class LabelFile:
    """Labels as read. ``stale`` are those whose pairs have other texts now: they are kept and do not count. ``empty``
    are records without a label, ``inactive`` those that the file says were taken back or replaced."""

    labels: tuple[HumanLabel, ...]
    stale: int
    empty: int
    inactive: int


def read_labels(
    path: Path,
    pairs: Mapping[str, Pair],
    *,
    annotator: str | None = None,
    chosen: Chosen | None = None,
    at: float = 0.0,
) -> LabelFile:
    """Reads labels of pairs that are there, in any container that pairs may have.

    A record has ``pair_id`` (or ``id``) and ``label``; it may have ``annotator``, ``chosen``, ``swapped``, ``seconds``,
    ``at`` (ISO 8601), ``within``, ``population``, ``kind``, ``content`` and ``in_force``, as an export has them.
    Exports of Label Studio and Argilla are read too, a label an annotator.
    ``annotator`` and ``chosen`` stand for what the records do not say; ``chosen`` wins over what they say. ``at`` is
    the time of labels without one.

    :raises DataError: the file cannot be read, or a record cannot be what it should. Nothing is read of it then.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"Cannot be read ({error.strerror or error}).", "Name another file.", file=str(path)) from None
    try:
        label_tables = tables(str(path), data)
    except EmptyError as error:
        raise EmptyError(error.file, "label") from None
    if len(label_tables) != 1:
        raise DataError("An archive of several files.", "Name one file of labels.", file=str(path))
    exported = labels_by_annotator(label_tables[0])
    return _Reader(exported or label_tables[0], pairs, annotator, chosen, at).read()


class _Reader:
    def __init__(
        self, table: RecordTable, pairs: Mapping[str, Pair], annotator: str | None, chosen: Chosen | None, at: float
    ) -> None:
        self._table = table
        self._pairs = pairs
        self._annotator = annotator
        self._chosen = chosen
        self._at = at
        self._id_column = self._one_of(_ID, "the pair's id")
        self._label_column = self._one_of(_LABEL, "the label")
        self._columns = {name: table.column(name) for name in table.names}

    def _one_of(self, names: tuple[str, ...], what: str) -> str:
        for name in names:
            if name in self._table.names:
                return name
        raise self._table.error(
            f"No column has {what}; there are {listed(self._table.names)}.",
            f"Name the column {' or '.join(names[:2])}.",
        )

    def read(self) -> LabelFile:
        labels: list[HumanLabel] = []
        stale = empty = inactive = 0
        for place in range(len(self._table.rows)):
            if self._truth(place, "in_force") is False:
                inactive += 1
                continue
            said = self._written_label(place)
            if said is None:
                empty += 1
                continue
            label = self._label(place, said)
            stale += label.content != self._pairs[label.pair_id].content_hash
            labels.append(label)
        if not labels:
            raise self._table.error("There is no label in the file.", f"Fill in the column {self._label_column}.")
        return LabelFile(tuple(labels), stale, empty, inactive)

    def _value(self, place: int, column: str) -> Any:
        value = self._columns[column][place] if column in self._columns else ABSENT
        return None if is_missing(value) or value == "" else value

    def _text(self, place: int, column: str) -> str | None:
        value = self._value(place, column)
        return None if value is None else _unguarded(id_text(value)).strip() or None

    def _written_label(self, place: int) -> Said | None:
        text = self._text(place, self._label_column)
        if text is None:
            return None
        said = _SAID.get(text.lower())
        if said is None:
            raise self._table.error(f"{shown(text)} is no label.", _MEND, place, self._label_column)
        return said

    def _label(self, place: int, said: Said) -> HumanLabel:
        table = self._table
        given = id_text(self._value(place, self._id_column))
        pair = self._pairs.get(given) or self._pairs.get(_unguarded(given))
        if pair is None:
            problem = f"There is no pair {shown(given)}." if given else "This record names no pair."
            raise table.error(problem, "Name a pair of the run, or take the record out.", place, self._id_column)
        annotator = self._text(place, "annotator") or self._annotator
        if annotator is None:
            raise table.error(
                "Nothing says who gave this label.", "Name the annotator: --annotator NAME", place, "annotator"
            )
        kind = self._text(place, "kind") or "label"
        if kind not in ("label", "settle"):
            raise table.error(f"{shown(kind)} is no kind of label.", "Use label or settle.", place, "kind")
        content = self._text(place, "content") or pair.content_hash
        if len(content) != 64 or not all(letter in "0123456789abcdef" for letter in content):
            raise table.error(f"{shown(content)} is no SHA-256.", "Leave the cell empty.", place, "content")
        population = self._number(place, "population")
        return HumanLabel(
            pair.id,
            content,
            annotator,
            said,
            self._chosen or self._how(place),
            self._truth(place, "swapped"),
            self._number(place, "seconds"),
            self._when(place),
            self._text(place, "within"),
            None if population is None else int(population),
            settles=kind == "settle",
        )

    def _how(self, place: int) -> Chosen:
        text = self._text(place, "chosen")
        if text is None:
            return "imported"
        for name in CHOSEN:
            if name == text.lower().replace(" ", "-"):
                return name
        raise self._table.error(
            f"{shown(text)} is no way of choosing pairs.", f"Use one of {', '.join(CHOSEN)}.", place, "chosen"
        )

    def _truth(self, place: int, column: str) -> bool | None:
        value = self._value(place, column)
        if value is None:
            return None
        known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        truth = known.get(id_text(value).strip().lower())
        if truth is None:
            raise self._table.error(f"{shown(value)} is neither true nor false.", "Mend the cell.", place, column)
        return truth

    def _number(self, place: int, column: str) -> float | None:
        value = self._value(place, column)
        if value is None:
            return None
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number) or number < 0 or isinstance(value, bool):
            raise self._table.error(
                f"{shown(value)} is no number from 0.", "Mend the cell, or leave it empty.", place, column
            )
        return number

    def _when(self, place: int) -> float:
        text = self._text(place, "at")
        if text is None:
            return self._at
        try:
            return datetime.fromisoformat(text).timestamp()
        except (ValueError, OverflowError, OSError):
            raise self._table.error(
                f"{shown(text)} is no time.", "Write it as 2026-01-31T12:00:00+00:00.", place, "at"
            ) from None


def _unguarded(text: str) -> str:
    # The apostrophe that keeps a spreadsheet from taking a text for a formula (tables.guard_cell).
    return text[1:] if text[:1] == "'" and text[1:2] in ("=", "+", "-", "@", "\t", "\r") else text
