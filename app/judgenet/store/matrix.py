"""The matrix of a shard: a row a call with all that figures need, as a Parquet file of few bytes a call.

Prices and times are decimal numbers (USD; seconds) with as many places as they have, which pack better than binary
floating point, and are read as the same numbers; where they would not be, they stay floating point, as in matrices of
earlier programs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from judgenet.store.db import Store, restored
from judgenet.store.runs import KEY_BYTES, RunInfo

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MATRIX: Final = "matrix.parquet"

OF_CALL: Final = (
    *("layer", "neuron", "ord", "sample", "cached", "status", "reason", "detail", "verdict", "score_a", "score_b"),
    *("scores_from", "share_a", "share_tie", "share_b", "sampled_a", "sampled_b"),
    *("rule", "role", "missing", "endpoint", "model", "attempts", "started_at"),
)
"""The columns of a run's calls that a matrix has: all but the evidence."""
OF_ANSWER: Final = (
    *("returned_model", "fingerprint", "form", "parameters", "finish_reason", "raw_finish", "tokens_in", "tokens_out"),
    *("tokens_cached", "tokens_reasoning", "tokens_estimated", "price", "latency_s", "attempts", "started_at", "batch"),
)
"""The columns of an answer that a matrix has, under ``answer_`` and their name: all but its texts. The time at which it
was asked for is empty where that is the call's, as it is unless the answer was there before."""

OF_EARLIER: Final = ("count", "tokens_in", "tokens_out", "tokens_cached", "price", "unpriced")
"""What a matrix has, under ``earlier_`` and their name, of the answers before that could not be read and were asked
again: how many there are, their sums, and how many of them are of unknown price. Empty where there are none."""

MATRIX_COLUMNS: Final = (
    "place",
    *OF_CALL,
    *(f"answer_{name}" for name in OF_ANSWER),
    *(f"earlier_{name}" for name in OF_EARLIER),
)
_FLOATS: Final = frozenset(
    (
        *("score_a", "score_b", "share_a", "share_tie", "share_b", "sampled_a", "sampled_b", "started_at"),
        *("answer_price", "answer_latency_s", "answer_started_at", "earlier_price"),
    )
)
_INTEGERS: Final = frozenset(
    (
        *("place", "layer", "neuron", "sample", "cached", "attempts", "answer_tokens_in", "answer_tokens_out"),
        *("answer_tokens_cached", "answer_tokens_reasoning", "answer_tokens_estimated", "answer_attempts"),
        *("earlier_count", "earlier_tokens_in", "earlier_tokens_out", "earlier_tokens_cached", "earlier_unpriced"),
    )
)
_DECIMAL: Final = {"started_at": 3, "answer_started_at": 3, "answer_latency_s": 3, "answer_price": 12}
"""Columns of decimal numbers, and how many places they may have."""
_DIGITS: Final = 18
"""As many digits fit into an integer of 64 bits."""
_FEW: Final = 20
"""Columns of so many different numbers are kept as places in a table of them."""
_GROUP: Final = 100_000
"""Rows that stand together: the tables of texts are kept once for each such group."""
_BATCH: Final = 5000
_LEVEL: Final = 9
"""Of zstd: a tenth smaller than its default, at a few milliseconds more a shard."""


def matrix_rows(store: Store, run: RunInfo, places: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """The rows of a shard's matrix, as values of its columns; ``places`` are those of its pairs in the whole."""
    answer = ", ".join(store.column("calls", name, "c") for name in OF_ANSWER)
    calls = ", ".join(store.column("run_calls", name, "r") for name in OF_CALL)
    role = MATRIX_COLUMNS.index("role")
    nothing = (None,) * len(OF_EARLIER)
    for number, *values in store.reader.execute(
        f"SELECT iif(length(c.key)>?2, c.id, NULL), r.pair, {calls}, {answer} FROM run_calls r "
        "LEFT JOIN calls c ON c.id=r.call_id WHERE r.run=?1 ORDER BY r.pair, r.layer, r.neuron, r.ord, r.sample",
        (run.number, KEY_BYTES),
    ):
        values[0] = places[values[0]]
        values[role] = None if values[role] is None else restored(values[role])
        yield (*values, *(nothing if number is None else _earlier_sums(store, number)))


def _earlier_sums(store: Store, call: int) -> Sequence[Any]:
    """The sums (:data:`OF_EARLIER`) over the answers that were kept before this one to the same question."""
    sums: Sequence[Any] = store.reader.execute(
        "SELECT count(*), sum(e.tokens_in), sum(e.tokens_out), sum(e.tokens_cached), coalesce(sum(e.price), 0.0), "
        "sum(e.price IS NULL) FROM calls c JOIN calls e ON e.key>=substr(c.key, 1, ?2) AND e.key<c.key WHERE c.id=?1",
        (call, KEY_BYTES),
    ).fetchone()
    return sums


def write_matrix(rows: Iterator[tuple[Any, ...]], path: Path) -> None:
    """Writes rows (:func:`matrix_rows`) as a matrix, in groups."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.compute as pc  # type: ignore[import-untyped]
    import pyarrow.parquet as pa_parquet  # type: ignore[import-untyped]

    batches = [_table(batch) for batch in iter(lambda: list(islice(rows, _BATCH)), [])]
    table = pa.concat_tables(batches) if batches else _table([])
    again = pc.equal(table["answer_started_at"], table["started_at"])
    asked_at = pc.if_else(again, pa.scalar(None, pa.float64()), table["answer_started_at"])
    table = table.set_column(MATRIX_COLUMNS.index("answer_started_at"), "answer_started_at", asked_at)
    columns = {name: _packed(name, table[name].combine_chunks()) for name in MATRIX_COLUMNS}
    packed = pa.table(columns)
    delta = [name for name, column in columns.items() if _packs_by_difference(column)]
    with pa_parquet.ParquetWriter(
        path,
        packed.schema,
        compression="zstd",
        compression_level=_LEVEL,
        use_dictionary=[name for name in columns if name not in delta],
        column_encoding=dict.fromkeys(delta, "DELTA_BINARY_PACKED"),
        store_decimal_as_integer=True,
        write_statistics=False,
    ) as writer:
        writer.write_table(packed, row_group_size=_GROUP)


def matrix_batches(path: Path, rows: int) -> Iterator[Mapping[str, list[Any]]]:
    """The columns of a matrix, of this or an earlier program, as so many rows at a time; decimal numbers as floating
    point."""
    import pyarrow.parquet as pa_parquet

    with pa_parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(rows):
            columns = {name: _values(batch.column(name)) for name in batch.schema.names}
            answers = zip(columns["answer_form"], columns["answer_started_at"], columns["started_at"], strict=True)
            columns["answer_started_at"] = [
                at if form is None or at is not None else of_call for form, at, of_call in answers
            ]
            yield columns


def _table(rows: Sequence[tuple[Any, ...]]) -> Any:
    """Rows as an Arrow table, with numbers as they are kept in the store."""
    import pyarrow as pa

    types = {
        name: pa.float64() if name in _FLOATS else pa.int64() if name in _INTEGERS else pa.string()
        for name in MATRIX_COLUMNS
    }
    columns = zip(*rows, strict=True) if rows else ((),) * len(MATRIX_COLUMNS)
    return pa.table({name: pa.array(values, types[name]) for name, values in zip(MATRIX_COLUMNS, columns, strict=True)})


def _packed(name: str, column: Any) -> Any:
    """A column in the type that takes least room, with the same values."""
    import numpy as np
    import pyarrow as pa

    if name not in _DECIMAL or column.null_count == len(column):
        return column
    valid = np.asarray(column.is_valid())
    values = column.fill_null(0.0).to_numpy()
    largest = np.abs(values).max()
    for places in range(_DECIMAL[name] + 1):
        if largest >= 10.0 ** (_DIGITS - places):
            break
        whole = np.round(values * 10.0**places)
        if (whole / 10.0**places == values).all():
            return _decimals(whole.astype(np.int64), valid, pa.decimal128(_DIGITS, places))
    return column


def _decimals(whole: NDArray[np.int64], valid: NDArray[np.bool_], kind: Any) -> Any:
    """Whole numbers as decimal ones of a kind: Arrow keeps 128 bits of each, the lower half first."""
    import numpy as np
    import pyarrow as pa

    halves = np.empty((len(whole), 2), np.int64)
    halves[:, 0] = whole
    halves[:, 1] = whole >> 63
    mask = pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())
    return pa.Array.from_buffers(kind, len(whole), [mask, pa.py_buffer(halves.tobytes())])


def _packs_by_difference(column: Any) -> bool:
    """Whether a column takes less room as differences from row to row than as places in a table of its values."""
    import pyarrow as pa

    whole = pa.types.is_integer(column.type) or pa.types.is_decimal(column.type)
    return bool(whole and len(column.unique()) > _FEW)


def _values(column: Any) -> list[Any]:
    """A column as Python values."""
    import numpy as np
    import pyarrow as pa

    if not pa.types.is_decimal(column.type):
        return list(column.to_pylist())
    halves = np.frombuffer(column.buffers()[1], np.int64)[::2][column.offset : column.offset + len(column)]
    values: list[Any] = (halves / 10.0**column.type.scale).tolist()
    if column.null_count:
        values = [value if there else None for value, there in zip(values, column.is_valid().to_pylist(), strict=True)]
    return values
