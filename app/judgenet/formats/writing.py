"""Writing pairs in the normal form, to read back exactly as they were."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal

from judgenet.core.criteria import Criterion
from judgenet.core.pairs import Pair
from judgenet.core.pictures import PairPicture, pictures_in
from judgenet.formats.containers import xlsx_escaped
from judgenet.formats.errors import DataError, shown
from judgenet.formats.mapping import NO_LABEL
from judgenet.formats.pictures import content_parts, known_bytes
from judgenet.formats.tables import csv_text, whole_file

PairFormat = Literal["jsonl", "json", "csv", "tsv", "parquet", "xlsx"]
"""What :func:`write_pairs` writes."""

_TEXTS = ("id", "question", "response_a", "response_b", "reference", "model_a", "model_b", "task", "human")
_COLUMNS = (*_TEXTS, "tags", "annotators")
_WITH_PICTURES = ("question", "response_a", "response_b", "reference")
_EXCEL_CELL = 32_767

# Characters at which other programs end a line although JSON does not, and surrogates, which UTF-8 cannot hold.
_TO_ESCAPE = re.compile("[\x85\u2028\u2029\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def write_pairs(
    pairs: Sequence[Pair],
    path: Path | str,
    format: PairFormat,
    *,
    guard_formulas: bool = False,
    replace_surrogates: bool = False,
    picture_bytes: Callable[[PairPicture], bytes] = known_bytes,
) -> None:
    """Writes pairs so that :func:`~judgenet.formats.read_pairs` gives the same pairs again (their source apart).

    Tags, annotators and criteria are JSON in a cell of CSV, TSV and XLSX. ``guard_formulas`` makes the text cells of
    CSV and TSV safe for spreadsheets (:func:`~judgenet.formats.tables.guard_cell`), which changes them; it is off
    because what is written is to be read back. XLSX cells are typed as text and need no guard.
    A text with pictures is written as a list of parts, with data URIs whose bytes ``picture_bytes`` gives; as JSON in a
    cell of a table.
    ``replace_surrogates`` writes U+FFFD for lone surrogates where the format cannot hold them (CSV, TSV, Parquet).
    The file is complete or is not changed at all.

    :raises DataError: an id is empty or occurs twice, the format cannot hold a text, or a picture is not there.
    """
    path = Path(path)
    if len({pair.id for pair in pairs}) != len(pairs) or not all(pair.id for pair in pairs):
        raise DataError("Ids must be unique and not empty.", "Rename the pairs.", file=str(path), column="id")
    if format in ("csv", "tsv", "parquet"):
        pairs = [_without_surrogates(pair, path, replace_surrogates) for pair in pairs]
    with whole_file(path) as draft:
        if format in ("jsonl", "json"):
            lines = (_json(pair, picture_bytes) for pair in pairs)
            text = "".join(f"{line}\n" for line in lines) if format == "jsonl" else "[\n" + ",\n".join(lines) + "\n]\n"
            draft.write_bytes(text.encode("utf-8"))
            return
        pairs = [_in_cells(pair, picture_bytes) for pair in pairs]
        if format == "parquet":
            _write_parquet(pairs, draft)
        elif format == "xlsx":
            _write_xlsx(pairs, draft, path)
        else:
            columns = _columns(pairs)
            rows = (_cells(pair, "criteria" in columns) for pair in pairs)
            delimiter = "\t" if format == "tsv" else ","
            text = csv_text(columns, rows, delimiter=delimiter, guard_formulas=guard_formulas)
            draft.write_bytes(text.encode("utf-8"))


def pair_record(pair: Pair, picture_bytes: Callable[[PairPicture], bytes] = known_bytes) -> dict[str, Any]:
    """The record of a pair in a JSON file, pictures and all: :func:`~judgenet.formats.read_pairs` reads it back.

    :raises PictureError: a picture is not there.
    """
    record = pair.to_json()
    if record.pop("pictures", None):
        for name in _WITH_PICTURES:
            if pictures_in(text := record.get(name) or "", pair.pictures):
                record[name] = content_parts(text, pair.pictures, picture_bytes)
    return record


def _in_cells(pair: Pair, picture_bytes: Callable[[PairPicture], bytes]) -> Pair:
    """A pair whose texts with pictures are JSON, for a table."""
    if not pair.pictures:
        return pair
    record = pair_record(pair, picture_bytes)
    lists = {name: json.dumps(record[name]) for name in _WITH_PICTURES if isinstance(record.get(name), list)}
    return replace(pair, pictures=(), **lists)  # type: ignore[arg-type]


def _json(pair: Pair, picture_bytes: Callable[[PairPicture], bytes]) -> str:
    record = pair_record(pair, picture_bytes)
    if (label := _label(pair)) is not None:
        record["human"] = label
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    return json.dumps(record, allow_nan=False) if _TO_ESCAPE.search(text) else text


def _label(pair: Pair) -> str | None:
    # Without a label the reader takes the annotators' majority.
    return pair.human or (NO_LABEL if pair.annotators else None)


def _cells(pair: Pair, criteria: bool) -> list[str | None]:
    texts: list[str | None] = [_label(pair) if name == "human" else getattr(pair, name) for name in _TEXTS]
    tags = json.dumps(pair.tags, ensure_ascii=False) if pair.tags else None
    annotators = json.dumps(dict(pair.annotators), ensure_ascii=False) if pair.annotators else None
    return [*texts, tags, annotators, *([_criteria(pair)] if criteria else [])]


def _criteria(pair: Pair) -> str | None:
    return json.dumps(pair.to_json()["criteria"], ensure_ascii=False) if pair.criteria else None


def _columns(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """The columns of a table: one of criteria only where a pair has some."""
    return (*_COLUMNS, "criteria") if any(pair.criteria for pair in pairs) else _COLUMNS


def _without_surrogates(pair: Pair, path: Path, replaced: bool) -> Pair:
    changes: dict[str, Any] = {}
    for part in fields(pair):
        value = getattr(pair, part.name)
        if part.name in ("source", "pictures") or not _SURROGATE.search("".join(_strings(value))):
            continue
        if not replaced:
            raise DataError(
                f"Pair {shown(pair.id)} holds a lone surrogate, which UTF-8 cannot hold.",
                "Write JSON Lines or JSON, or replace the character by U+FFFD.",
                file=str(path),
                column=part.name,
            )
        changes[part.name] = _replaced(value)
    return replace(pair, **changes) if changes else pair


def _strings(value: Any) -> list[str]:
    if isinstance(value, tuple):
        return [text for item in value for text in _strings(item)]
    if isinstance(value, Criterion):
        return [value.name, value.description]
    return [value] if value else []


def _replaced(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_replaced(item) for item in value)
    if isinstance(value, Criterion):
        return replace(value, name=_replaced(value.name), description=_replaced(value.description))
    return _SURROGATE.sub("\ufffd", value)


def _write_parquet(pairs: Sequence[Pair], path: Path) -> None:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pa_parquet  # type: ignore[import-untyped]

    text = pa.string()
    kinds = {"tags": pa.list_(text), "annotators": pa.map_(text, text)}
    values = {name: [getattr(pair, name) for pair in pairs] for name in _columns(pairs)}
    if "criteria" in values:
        values["criteria"] = [_criteria(pair) for pair in pairs]
    values["human"] = [_label(pair) for pair in pairs]
    columns = {name: pa.array(column, kinds.get(name, text)) for name, column in values.items()}
    pa_parquet.write_table(pa.table(columns), path)


def _write_xlsx(pairs: Sequence[Pair], draft: Path, path: Path) -> None:
    import openpyxl  # type: ignore[import-untyped]
    from openpyxl.cell import WriteOnlyCell  # type: ignore[import-untyped]

    rows: list[list[str]] = []
    columns = _columns(pairs)
    for pair in pairs:
        rows.append([xlsx_escaped(text or "") for text in _cells(pair, "criteria" in columns)])
        for name, text in zip(columns, rows[-1], strict=True):
            if len(text) > _EXCEL_CELL:
                raise DataError(
                    f"Pair {shown(pair.id)} holds a text longer than the {_EXCEL_CELL:,} characters of an Excel cell.",
                    "Write JSON Lines, CSV or Parquet.",
                    file=str(path),
                    column=name,
                )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("pairs")
    sheet.append(columns)
    for row in rows:
        cells = [WriteOnlyCell(sheet, text) for text in row]
        for cell in cells:
            cell.data_type = "s"  # otherwise "=1" would be a formula and "#N/A" an error
        sheet.append(cells)
    book.save(draft)
