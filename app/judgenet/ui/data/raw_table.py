"""The first rows of a file by its own columns, shown before columns are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from judgenet.ui.data import texts
from judgenet.ui.table import TextColumn, TextRow, TextTable
from judgenet.ui.text_view import one_line

_COLUMN: Final = 200
"""The width of a column, in px at 100 %."""
_CELL_CHARS: Final = 200


def sample(rows: Sequence[Mapping[str, str]], column: str, most: int = 60) -> str:
    """The first value of a column that is not empty, in one line of at most ``most`` characters; empty without one."""
    return next((one_line(text, most) for row in rows if (text := row.get(column, "")).strip()), "")


class RawTable(TextTable):
    """A table of the records of a file."""

    def __init__(self) -> None:
        super().__init__(texts.FILE_AS_IT_IS)

    def show_records(self, names: Sequence[str], records: Sequence[Mapping[str, str]]) -> None:
        """Shows records, each by the names of its columns."""
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
