"""Files of pairs, in and out: containers, published formats, mappings, and the import doctor.

The libraries below them take longer to load than a window takes to open: each part is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgenet.formats.containers import release_memory
    from judgenet.formats.errors import CodingError, DataError, EncodingError
    from judgenet.formats.findings import OF_PAIRS, Finding
    from judgenet.formats.limits import parse_size
    from judgenet.formats.mapping import FIELDS, PairMapping, parse_column_map, parse_label_map, parse_matches
    from judgenet.formats.pairs import (
        DataFile,
        Dataset,
        FilePreview,
        LabelCounts,
        OpenFiles,
        open_files,
        preview,
        read_pairs,
        split_sheet,
    )
    from judgenet.formats.records import LabelValues
    from judgenet.formats.tables import csv_text, guard_cell
    from judgenet.formats.watch import Watch
    from judgenet.formats.writing import PairFormat, write_pairs

__all__ = [
    "FIELDS",
    "OF_PAIRS",
    "CodingError",
    "DataError",
    "DataFile",
    "Dataset",
    "EncodingError",
    "FilePreview",
    "Finding",
    "LabelCounts",
    "LabelValues",
    "OpenFiles",
    "PairFormat",
    "PairMapping",
    "Watch",
    "csv_text",
    "guard_cell",
    "open_files",
    "parse_column_map",
    "parse_label_map",
    "parse_matches",
    "parse_size",
    "preview",
    "read_pairs",
    "release_memory",
    "split_sheet",
    "write_pairs",
]

_HOME = {
    "CodingError": "errors",
    "DataError": "errors",
    "DataFile": "pairs",
    "Dataset": "pairs",
    "EncodingError": "errors",
    "FIELDS": "mapping",
    "FilePreview": "pairs",
    "Finding": "findings",
    "LabelCounts": "pairs",
    "LabelValues": "records",
    "OF_PAIRS": "findings",
    "OpenFiles": "pairs",
    "PairFormat": "writing",
    "PairMapping": "mapping",
    "Watch": "watch",
    "csv_text": "tables",
    "guard_cell": "tables",
    "open_files": "pairs",
    "parse_column_map": "mapping",
    "parse_label_map": "mapping",
    "parse_matches": "mapping",
    "parse_size": "limits",
    "preview": "pairs",
    "read_pairs": "pairs",
    "release_memory": "containers",
    "split_sheet": "pairs",
    "write_pairs": "writing",
}
"""The module of each name."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"judgenet.formats.{_HOME[name]}"), name)
    globals()[name] = value
    return value
