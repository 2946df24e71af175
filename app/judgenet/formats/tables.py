"""CSV for people and spreadsheets, and files that are written whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from judgenet.core.documents import well_formed

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_BEHIND_RETURN = re.compile(r"\r(?=[=+\-@\t])(?![+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?:[\r\n]|$))")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def guard_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula.

    A text that begins with ``=``, ``+``, ``-``, ``@``, tab or carriage return gets an apostrophe in front, unless
    it is a plain number such as ``-1.5`` (OWASP, "CSV Injection"). So does what stands behind a bare carriage return,
    which some programs take for the end of a row, even inside quotes.
    """
    if "\r" in text:
        text = text[:1] + _BEHIND_RETURN.sub(r"\g<0>'", text[1:])
    if text.startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def csv_text(
    header: Sequence[str],
    rows: Iterable[Sequence[str | int | float | None]],
    *,
    delimiter: str = ",",
    guard_formulas: bool = True,
) -> str:
    """A table as RFC 4180 CSV (or TSV), lines ended by CR LF; ``None`` gives an empty cell.

    ``guard_formulas`` passes text cells through :func:`guard_cell`; numbers are never touched. Lone surrogates become
    U+FFFD.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        if guard_formulas:
            writer.writerow([guard_cell(cell) if isinstance(cell, str) else cell for cell in row])
        else:
            writer.writerow(row)
    return well_formed(out.getvalue())


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A place to write to that becomes ``path`` at the end, and leaves ``path`` alone when writing fails."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield draft
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
