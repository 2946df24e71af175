"""Files of pairs, in and out: containers, published formats, mappings, and the import doctor."""

from judgenet.formats.containers import release_memory
from judgenet.formats.errors import DataError, EncodingError
from judgenet.formats.findings import OF_PAIRS, Finding
from judgenet.formats.mapping import FIELDS, PairMapping, parse_column_map, parse_label_map
from judgenet.formats.pairs import (
    DataFile,
    Dataset,
    LabelCounts,
    OpenFiles,
    Preview,
    open_files,
    preview,
    read_pairs,
    sniff,
)
from judgenet.formats.records import LabelValues
from judgenet.formats.tables import csv_text, guard_cell
from judgenet.formats.watch import Watch
from judgenet.formats.writing import PAIR_FORMATS, PairFormat, write_pairs

__all__ = [
    "FIELDS",
    "OF_PAIRS",
    "PAIR_FORMATS",
    "DataError",
    "DataFile",
    "Dataset",
    "EncodingError",
    "Finding",
    "LabelCounts",
    "LabelValues",
    "OpenFiles",
    "PairFormat",
    "PairMapping",
    "Preview",
    "Watch",
    "csv_text",
    "guard_cell",
    "open_files",
    "parse_column_map",
    "parse_label_map",
    "preview",
    "read_pairs",
    "release_memory",
    "sniff",
    "write_pairs",
]
