"""How much a file may unpack to, and how much memory reading it takes, with small limits in a process of its own."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pa_parquet  # type: ignore[import-untyped]
import pytest

from judgenet.formats import DataError, read_pairs
from judgenet.formats.limits import DEFAULT_LIMIT, parse_size, size_text, unpack_limit

MB = 1_000_000
LIMIT = 60 * MB
HEAD = b"id,question,response_a,response_b\n"
PAIR = {"question": "q", "response_a": "x", "response_b": "y"}

READ = """
import gc, sys, threading, time
from judgenet.formats import DataError, read_pairs
import judgenet.formats.pairs
from judgenet.formats.limits import resident_bytes
before, most, done = resident_bytes(), [0], []
def watch():
    while not done:
        most[0] = max(most[0], resident_bytes())
        time.sleep(0.002)
thread = threading.Thread(target=watch)
thread.start()
try:
    said = f"read {len(read_pairs(sys.argv[1]).pairs)}"
except DataError as error:
    said = str(error)
most[0] = max(most[0], resident_bytes())
done.append(1)
thread.join()
print(most[0] - before)
print(said)
"""


def flat_parquet(path: Path) -> None:
    long = "x" * MB
    pa_parquet.write_table(
        pa.table({"question": ["q"] * 900, "response_a": [long] * 900, "response_b": ["y"] * 900}), path
    )


def nested_parquet(path: Path) -> None:
    chat = [{"role": "user", "content": "x" * 10_000}] * 100
    columns = {"question": ["q"] * 300, "response_a": [chat] * 300, "response_b": ["y"] * 300}
    pa_parquet.write_table(pa.table(columns), path, compression="zstd")


def zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pairs.jsonl", b'{"question": "' + b"q" * (5 * LIMIT) + b'"}')


BOMBS: dict[str, Callable[[Path], object]] = {
    "parquet": flat_parquet,
    "nested parquet": nested_parquet,
    "zip": zipped,
    "gzip": lambda path: path.write_bytes(gzip.compress(b"x" * (5 * LIMIT))),
    "one line of CSV": lambda path: path.write_bytes(HEAD + b'1,q,"' + b"x" * (LIMIT - 100) + b'",y\n'),
    "small cells of CSV": lambda path: path.write_bytes(HEAD + b"1,q,x,y\n" * (LIMIT // 9)),
    "small records": lambda path: path.write_bytes((json.dumps(PAIR) + "\n").encode() * (LIMIT // 60)),
    "dense JSON": lambda path: path.write_bytes(b'{"a": [' + b"[]," * (LIMIT // 4) + b"1]}"),
    "wide letters": lambda path: path.write_text(
        '[{"question": "' + "é" * (LIMIT // 3) + '\U0001f600"}]', encoding="utf-8"
    ),
    "too large a file": lambda path: path.write_bytes(b"x" * (LIMIT + 1)),
}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux says how much memory is taken now")
@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_refused_before_it_takes_three_times_the_limit(tmp_path: Path, kind: str) -> None:
    BOMBS[kind](tmp_path / "bomb")
    environment = {**os.environ, "JUDGENET_UNPACK_LIMIT": str(LIMIT)}
    command = [sys.executable, "-c", READ, str(tmp_path / "bomb")]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    taken, said = ran.stdout.splitlines()[:2]
    assert int(taken) < 3 * LIMIT
    assert "the limit of the unpacked size is 60 MB" in said
    assert "--unpack-limit 240MB" in said
    assert "JUDGENET_UNPACK_LIMIT=240MB" in said


def test_the_limit_is_raised_where_the_message_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_text(json.dumps({**PAIR, "response_a": "x" * 3000}), encoding="utf-8")
    with pytest.raises(DataError, match=r"3\.1 kB; the limit of the unpacked size is 1 kB"):
        read_pairs(path, limit=1000)
    monkeypatch.setenv("JUDGENET_UNPACK_LIMIT", "1kB")
    with pytest.raises(DataError, match="--unpack-limit 4kB"):
        read_pairs(path)
    assert len(read_pairs(path, limit=DEFAULT_LIMIT).pairs) == 1
    monkeypatch.setenv("JUDGENET_UNPACK_LIMIT", "much")
    with pytest.raises(DataError, match="Cannot read 'much' as a size"):
        read_pairs(path)


@pytest.mark.parametrize(
    ("text", "size"), [("4GB", 4 * 10**9), ("1 GiB", 2**30), ("1.5mb", 1_500_000), ("700", 700), ("2k", 2000)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size
    assert parse_size(size_text(size).replace("bytes", "")) == size or "GiB" in text


@pytest.mark.parametrize("text", ["", "much", "-1", "0", "1 XB", "1,5GB"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(DataError, match="as a size"):
        parse_size(text)


def test_the_limit_that_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGENET_UNPACK_LIMIT", raising=False)
    assert unpack_limit() == 2**30
