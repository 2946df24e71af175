"""Pairs of responses for Python: read from files and data frames, shown as tables."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from judgenet import formats
from judgenet.core.pairs import Pair, Verdict
from judgenet.core.wording import plural
from judgenet.formats import Dataset, Finding, PairMapping, parse_size
from judgenet.formats.pictures import with_uris

if TYPE_CHECKING:
    import pandas as pd

PairsSourceLike = str | Path | Sequence[str | Path] | Sequence[Mapping[str, Any]]

_COLUMNS = (
    *("id", "question", "response_a", "response_b", "reference", "task"),
    *("model_a", "model_b", "human", "tags", "annotators"),
)


class Pairs(Sequence[Pair]):
    """Pairs in order. ``dataset`` is the file that they were read from, ``None`` where they were made in Python."""

    def __init__(self, pairs: Iterable[Pair], dataset: Dataset | None = None) -> None:
        self._pairs = tuple(pairs)
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self._pairs)

    @overload
    def __getitem__(self, index: int) -> Pair: ...

    @overload
    def __getitem__(self, index: slice) -> Pairs: ...

    def __getitem__(self, index: int | slice) -> Pair | Pairs:
        return Pairs(self._pairs[index], self.dataset) if isinstance(index, slice) else self._pairs[index]

    def __iter__(self) -> Iterator[Pair]:
        return iter(self._pairs)

    def __repr__(self) -> str:
        labelled = sum(pair.human is not None for pair in self._pairs)
        return f"<Pairs: {plural(len(self), 'pair')}, {labelled:,} of them with a human label>"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns what is odd about the file: duplicates, identical responses, labels that were left out, and more."""
        return () if self.dataset is None else self.dataset.findings

    def to_frame(self) -> pd.DataFrame:
        """The pairs as a data frame: one row per pair, with the columns that JudgeNet reads."""
        import pandas as pd

        records = [pair.to_json() for pair in self._pairs]
        criteria = ("criteria",) if any(pair.criteria for pair in self._pairs) else ()
        pictures = ("pictures",) if any(pair.pictures for pair in self._pairs) else ()
        return pd.DataFrame(records, columns=[*_COLUMNS, *criteria, *pictures])

    def _repr_html_(self) -> str:
        return f"<p>{repr(self)[1:-1]}</p>{self[:10].to_frame().to_html(index=False, escape=True)}"


def read_pairs(
    source: PairsSourceLike | pd.DataFrame,
    *,
    mapping: Mapping[str, str] | None = None,
    label_map: Mapping[str, Verdict | None] | None = None,
    encoding: str | None = None,
    leave_out: Sequence[str] = (),
    sheet: str | None = None,
    leave_out_bad: bool = False,
    unpack_limit: int | str | None = None,
) -> Pairs:
    """Reads pairs as the studio and the command line do.

    Args:
        source: a file, several files, a folder of a published data set, a pandas data frame, or a list of records
            (``{"question": …, "response_a": …, "response_b": …}``). In records and frames a text may be a picture, or
            a list of texts and pictures: ``Path`` objects, bytes, or parts of a message.
        mapping: columns by field, ``{"question": "prompt", "response_a": "answer_1", …}``; what is not named is filled
            from what is known of the format. ``criteria`` is a column with a text, a list, or objects with name,
            description and weight.
        label_map: what a label value means: ``{"1": "a", "2": "b", "0": "tie"}``. Never guessed.
        encoding: of a file that is not UTF-8.
        leave_out: kinds of findings whose pairs are left out: ``"duplicate"``, ``"identical_responses"``, ….
        sheet: of an Excel workbook; else the first that looks like pairs. A path may name it, too: ``book.xlsx#pairs``.
        leave_out_bad: leaves out rows that cannot be read; ``findings`` counts and names them.
        unpack_limit: the most that a file may unpack to, in bytes or as ``"4GB"``; reading takes less than three times
            as much memory. Else the variable ``JUDGENET_UNPACK_LIMIT``, or 1 GiB.

    Raises:
        judgenet.formats.DataError: a file cannot be read, or columns or labels are not clear. The message says where,
            and how to fix it.
    """
    wanted = PairMapping(
        columns=dict(mapping or {}),
        labels=label_map,
        encoding=encoding,
        leave_out=tuple(leave_out),
        sheet=sheet,
        leave_out_bad=leave_out_bad,
    )
    limit = parse_size(unpack_limit) if isinstance(unpack_limit, str) else unpack_limit
    if isinstance(source, str | Path):
        return _read([Path(source)], wanted, limit)
    given = list(source) if isinstance(source, Sequence) else []
    records = [row for row in given if isinstance(row, Mapping)]
    if isinstance(source, Sequence) and not records:
        return _read([Path(path) for path in given], wanted, limit)  # type: ignore[arg-type]
    if not isinstance(source, Sequence):
        frame = source.copy()
        for name in [column for column, kind in frame.dtypes.items() if str(kind) == "object"]:
            frame[name] = frame[name].map(with_uris)
        records = json.loads(frame.to_json(orient="records", date_format="iso"))
    # Both go the way of a file, so that they are read, checked and named in errors alike.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("records.jsonl" if isinstance(source, Sequence) else "data-frame.jsonl")
        records = [{name: with_uris(value) for name, value in record.items()} for record in records]
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return Pairs(_read([path], wanted, limit))


def _read(paths: Sequence[Path], mapping: PairMapping, limit: int | None) -> Pairs:
    dataset = formats.read_pairs(paths, mapping=mapping, limit=limit)
    return Pairs(dataset.pairs, dataset)


def as_pairs(source: Pairs | PairsSourceLike | pd.DataFrame | Iterable[Pair]) -> Pairs:
    """Converts whatever :func:`judgenet.judge` accepts as pairs.

    :raises ValueError: two pairs have the same id.
    """
    if isinstance(source, Pairs):
        return source
    if not isinstance(source, str | Path) and isinstance(source, Iterable):
        values = [pair for pair in source if isinstance(pair, Pair)]
        if values:
            if len({pair.id for pair in values}) < len(values):
                raise ValueError("Two pairs have the same id. Give each pair an id of its own.")
            return Pairs(values)
    return read_pairs(source)  # type: ignore[arg-type]
