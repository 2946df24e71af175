"""The first rows of a file as they stand in it, by its own columns: what is shown before columns are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from judgenet.ui.table import TextColumn, TextRow, TextTable
from judgenet.ui.text_view import one_line

_COLUMN: Final = 200
_CELL_CHARS: Final = 200


def sample(rows: Sequence[Mapping[str, str]], column: str, most: int = 60) -> str:
    """The first value of a column that is not empty, in one line; empty where there is none."""
    return next((one_line(text, most) for row in rows if (text := row.get(column, "")).strip()), "")


class RawTable(TextTable):
    """The records of a file by the names of its columns."""

    def __init__(self) -> None:
        super().__init__("The file as it is")

    def show_records(self, names: Sequence[str], records: Sequence[Mapping[str, str]]) -> None:
        """Shows the first records of a file."""
        self.show_rows(
            [
                TextRow(
                    tuple(one_line(record.get(name, ""), _CELL_CHARS) for name in names),
                    tips=tuple(record.get(name, "") for name in names),
                )
                for record in records
            ],
            [TextColumn(one_line(name, 80), _COLUMN) for name in names],
        )
