"""The matrix of a shard: what is written is read, in few bytes, also by other programs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judgenet.formats.tables import write_parquet
from judgenet.store.matrix import MATRIX_COLUMNS, matrix_batches, write_matrix

ROWS = 6000


def calls(rng: random.Random) -> list[dict[str, Any]]:
    """Calls of judges that mostly agree, sixteen a pair, with times and prices as the store keeps them."""
    rows = []
    for number in range(ROWS):
        a, b = (min(10, max(1, round(rng.gauss(mean, 1.5)))) for mean in (7, 6))
        tokens_in, tokens_out = rng.randrange(600, 900), rng.randrange(40, 100)
        started = round(1_796_000_000 + number / 40 + rng.random(), 3)
        read = number % 50 != 0
        rows.append(
            {
                "place": 7 + number // 16, "layer": 1 + number % 16 // 8, "neuron": 1 + number % 8 // 2,
                "ord": ("ab", "ba")[number % 2], "sample": 0, "cached": 0, "status": "scored" if read else "unscored",
                "reason": None if read else "no_scores", "detail": "",
                "verdict": ("a" if a > b else "b" if b > a else "tie") if read else None,
                "score_a": float(a) if read else None, "score_b": float(b) if read else None, "rule": "json",
                "role": f"Role {number % 4}", "missing": "", "endpoint": "lab", "model": "m", "attempts": 1,
                "started_at": started, "answer_returned_model": "m-2026", "answer_form": "json",
                "answer_parameters": "5a" * 16, "answer_finish_reason": "stop", "answer_raw_finish": "stop",
                "answer_tokens_in": tokens_in, "answer_tokens_out": tokens_out, "answer_tokens_cached": 512,
                "answer_tokens_reasoning": 0, "answer_tokens_estimated": 0,
                "answer_price": round(tokens_in * 0.4e-6 + tokens_out * 1.6e-6, 12) if read else None,
                "answer_latency_s": round(rng.lognormvariate(0.5, 0.4), 3), "answer_attempts": 1,
                "answer_started_at": started if number % 9 else started - 86_400.5,
            }
        )  # fmt: skip
    return rows


def tuples(rows: list[dict[str, Any]]) -> Any:
    return (tuple(map(row.get, MATRIX_COLUMNS)) for row in rows)


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a matrix, read in parts that do not end where its own do."""
    rows = []
    for columns in matrix_batches(path, 999):
        rows += [
            {name: value for name, value in zip(columns, values, strict=True) if value is not None}
            for values in zip(*columns.values(), strict=True)
        ]
    return rows


def known(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def test_what_is_written_is_read_and_takes_few_bytes(tmp_path: Path) -> None:
    rows = calls(random.Random(4))
    write_matrix(tuples(rows), tmp_path / "matrix.parquet")
    assert read(tmp_path / "matrix.parquet") == known(rows)
    # Of these, 8 bytes are drawn at random: log2 of 300 and 60 tokens, of a time within a second, of scores and so on.
    assert (tmp_path / "matrix.parquet").stat().st_size / ROWS < 10
    frame = pd.read_parquet(tmp_path / "matrix.parquet")
    assert frame["answer_price"].astype(float).sum() == pytest.approx(sum(of["answer_price"] or 0 for of in rows))
    assert frame["started_at"].astype(float).tolist() == [of["started_at"] for of in rows]


@pytest.mark.parametrize("value", [0.1 + 0.2, 1e-15, -3.25, 1e300, 12345678901234.567])
def test_a_number_that_is_not_of_few_places_is_kept_as_it_is(tmp_path: Path, value: float) -> None:
    rows = calls(random.Random(5))[:40]
    for name in ("started_at", "answer_latency_s", "answer_price"):
        rows[17][name] = value
    write_matrix(tuples(rows), tmp_path / "matrix.parquet")
    assert read(tmp_path / "matrix.parquet") == known(rows)


def test_a_matrix_of_an_earlier_program_is_read(tmp_path: Path) -> None:
    rows = calls(random.Random(6))[:100]
    write_parquet(lambda: iter(rows), tmp_path / "matrix.parquet")
    assert read(tmp_path / "matrix.parquet") == known(rows)


def test_a_shard_without_calls_has_a_matrix(tmp_path: Path) -> None:
    write_matrix(tuples([]), tmp_path / "matrix.parquet")
    assert read(tmp_path / "matrix.parquet") == []
    assert tuple(pd.read_parquet(tmp_path / "matrix.parquet").columns) == MATRIX_COLUMNS
