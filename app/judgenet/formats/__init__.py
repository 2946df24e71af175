"""Files of pairs, in and out: containers, published formats, mappings, and the import doctor."""

from judgenet.formats.errors import DataError
from judgenet.formats.findings import Finding
from judgenet.formats.mapping import FIELDS, PairMapping, parse_column_map, parse_label_map
from judgenet.formats.pairs import DataFile, Dataset, LabelCounts, Preview, preview, read_pairs, sniff
from judgenet.formats.tables import csv_text, guard_cell
from judgenet.formats.writing import PAIR_FORMATS, PairFormat, write_pairs

__all__ = [
    "FIELDS",
    "PAIR_FORMATS",
    "DataError",
    "DataFile",
    "Dataset",
    "Finding",
    "LabelCounts",
    "PairFormat",
    "PairMapping",
    "Preview",
    "csv_text",
    "guard_cell",
    "parse_column_map",
    "parse_label_map",
    "preview",
    "read_pairs",
    "sniff",
    "write_pairs",
]
