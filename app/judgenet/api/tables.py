"""Figures for Python: the object that ``--json`` prints, with tables for notebooks."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


class Figures(Mapping[str, Any]):
    """The figures of one question to a run, by key; the keys are those of the command's ``--json``
    (``resources/figures.md``). What is undefined is ``None`` and has a ``reason`` beside it."""

    def __init__(self, values: Mapping[str, Any], rows: str) -> None:
        """``rows`` is the key of the part that is the table."""
        self._values = dict(values)
        self._rows = rows

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def to_json(self) -> str:
        """The object as one line of JSON, as ``--json`` prints it."""
        return json.dumps(self._values, allow_nan=False)

    def to_frame(self) -> pd.DataFrame:
        """The main table: a row an aggregation, estimate or difference, with the ends of intervals as columns."""
        import pandas as pd

        part = self._values.get(self._rows)
        records = {"value": self._values} if not isinstance(part, Mapping | list) else part
        if isinstance(records, list):
            return pd.DataFrame([_flat(record) for record in records])
        rows = {name: _flat(record) for name, record in records.items() if isinstance(record, Mapping)}
        return pd.DataFrame.from_dict(rows, orient="index")

    def __repr__(self) -> str:
        return f"<Figures: {', '.join(self._values)}>"

    def _repr_html_(self) -> str:
        notes = [str(note) for note in self._values.get("notes", ())]
        told = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
        return f"{self.to_frame().to_html(escape=True)}{told}"


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """One row: intervals become two columns, and what is itself a table is left out."""
    row: dict[str, Any] = {}
    for name, value in record.items():
        if (name == "ci" or name.endswith("_ci")) and (value is None or len(value) == 2):
            low, high = value or (None, None)
            row |= {f"{name}_low": low, f"{name}_high": high}
        elif not isinstance(value, Mapping | list):
            row[name] = value
    return row
