"""The books of 10⁸ calls on one machine: leases, manifests and matrices, without texts and without endpoints."""

from __future__ import annotations

import json
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from judgenet.core.shards import Shard
from judgenet.engine.broker import Beat, Broker, BrokerPlan, ModelBeat
from judgenet.engine.budget import Limits, Used
from judgenet.store.files import atomic_write
from judgenet.store.matrix import MATRIX_COLUMNS, write_matrix
from judgenet.store.shards import Manifest

CALLS = 100_000_000
_CALLS_A_PAIR = 17
_PAIRS_A_SHARD = 2000
_WORKERS = 64


def bookkeeping() -> None:
    """Prints time and memory of each part."""
    pairs = CALLS // _CALLS_A_PAIR
    shards = -(-pairs // _PAIRS_A_SHARD)
    print(f"{CALLS:,} calls, {pairs:,} pairs, {shards:,} shards, {_WORKERS} workers")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _leases(root, shards)
        _manifests(root, shards)
        _matrices(root, shards)
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def _leases(root: Path, shards: int) -> None:
    """All shards through the broker: one beat each 40 calls' time of a worker (a second at 40 calls/s), a copy each
    minute, and a journal on disk."""
    began, cpu = time.perf_counter(), time.process_time()
    now = [0.0]
    plan = BrokerPlan(
        dict.fromkeys(range(1, shards + 1), _PAIRS_A_SHARD),
        limits=Limits(max_calls=CALLS + CALLS // 10, max_price=1e6),
        windows={("lab", "m"): 4096},
        workers=_WORKERS,
    )
    beats = 0
    calls_a_shard = CALLS // shards
    with open(root / "broker.jsonl", "w", encoding="utf-8") as journal:

        def record(entry: dict[str, Any]) -> None:
            journal.write(str(entry) + "\n")
            journal.flush()

        broker = Broker(plan, record, clock=lambda: now[0])
        working: dict[tuple[int, int], int] = {}
        while not broker.over:
            now[0] += 1.0
            while len(working) < _WORKERS and (at := broker.take()) is not None:
                working[at] = 0
                broker.kept(at, Used(0, 0, 0.0))
            for at in list(working):
                done = working[at] = min(calls_a_shard, working[at] + 40)
                begun = Used(done, 986 * done, 0.001 * done)
                models = {("lab", "m"): ModelBeat(40, 40)}
                broker.beat(Beat(at, begun, Used(80, 78_880, 0.08), calls=done, models=models))
                beats += 1
                if done % 2400 == 0:
                    broker.kept(at, begun)
                if done == calls_a_shard:
                    broker.ended(at, "done", begun)
                    del working[at]
            broker.tick()
            broker.report()
    size = (root / "broker.jsonl").stat().st_size / 2**20
    seconds = time.perf_counter() - began
    print(
        f"leases: {beats:,} beats in {seconds:.0f} s ({time.process_time() - cpu:.0f} s CPU), "
        f"{1e6 * seconds / beats:.0f} µs a beat; journal {size:.1f} MB"
    )


def _manifests(root: Path, shards: int) -> None:
    began = time.perf_counter()
    for index in range(1, shards + 1):
        folder = root / Shard(shards, index).folder
        folder.mkdir()
        manifest = Manifest(
            Shard(shards, index), "run-1", "0" * 64, "done", "", 2000, 2000, 34_000, 34_000, 32.0, 0, "0" * 64
        )
        atomic_write(folder / "manifest.json", json.dumps(manifest.to_json()) + "\n")
    wrote = time.perf_counter()
    calls = sum(
        found.calls
        for index in range(1, shards + 1)
        if (found := Manifest.read(root / Shard(shards, index).folder)) is not None
    )
    print(
        f"manifests: {shards:,} written in {wrote - began:.1f} s, read in {time.perf_counter() - wrote:.1f} s "
        f"({calls:,} calls)"
    )


def _matrices(root: Path, shards: int, sample: int = 20) -> None:
    """Some matrices of the size of a shard, written and read as they are; the rest is arithmetic."""
    rng = np.random.default_rng(1)
    began = time.perf_counter()
    sizes = []
    for number in range(sample):
        path = root / f"matrix-{number}.parquet"
        write_matrix((tuple(map(row.get, MATRIX_COLUMNS)) for row in _rows(rng)), path)
        sizes.append(path.stat().st_size)
    wrote = time.perf_counter() - began
    began = time.perf_counter()
    import pandas as pd

    votes = 0
    for number in range(sample):
        frame = pd.read_parquet(
            root / f"matrix-{number}.parquet", columns=["place", "layer", "neuron", "ord", "verdict"]
        )
        votes += len(frame.groupby(["layer", "neuron", "verdict"]).size())
    read = time.perf_counter() - began
    rows = _PAIRS_A_SHARD * _CALLS_A_PAIR * sample
    size = sum(sizes) / rows
    scale = CALLS / rows
    print(
        f"matrices: {size:.1f} bytes a call; of {sample} shards written in {wrote:.1f} s, votes counted in "
        f"{read:.1f} s; of {CALLS:,} calls {size * CALLS / 2**30:.2f} GB, written by the workers in "
        f"{wrote * scale / 3600:.1f} hours of CPU in all, counted in {read * scale / 60:.1f} min"
    )


def _rows(rng: np.random.Generator) -> Any:
    """The rows of a shard's matrix: verdicts, scores, tokens, price and time of each call."""
    for pair in range(_PAIRS_A_SHARD):
        drawn = rng.integers(1, 11, (_CALLS_A_PAIR, 2)).tolist()
        noise = rng.integers(0, 200, (_CALLS_A_PAIR, 3)).tolist()
        for call, ((a, b), (tokens_in, tokens_out, more)) in enumerate(zip(drawn, noise, strict=True)):
            roles = call == 0
            yield {
                "place": pair, "layer": 0 if roles else 1 + (call - 1) // 8, "neuron": (call - 1) // 2 % 4,
                "ord": None if roles else ("ab", "ba")[call % 2], "sample": 0, "cached": 0,
                "status": "roles" if roles else "scored", "reason": None, "detail": None,
                "verdict": None if roles else "a" if a > b else "b" if b > a else "tie",
                "score_a": None if roles else float(a), "score_b": None if roles else float(b),
                "rule": "json", "role": None, "missing": "", "endpoint": "lab", "model": "m", "attempts": 1,
                "answer_fingerprint": None,
                "started_at": round(1.8e9 + pair + more / 100, 3), "answer_returned_model": "m",
                "answer_form": "json", "answer_parameters": "{}", "answer_finish_reason": "stop",
                "answer_raw_finish": "stop", "answer_tokens_in": 600 + tokens_in, "answer_tokens_out": 40 + tokens_out,
                "answer_tokens_cached": 512, "answer_tokens_reasoning": 0, "answer_tokens_estimated": 0,
                "answer_price": round((600 + tokens_in) * 4e-7 + (40 + tokens_out) * 1.6e-6, 12),
                "answer_latency_s": round(0.5 + more / 200, 3), "answer_attempts": 1,
                "answer_started_at": 1.8e9 + pair + more / 100,
            }  # fmt: skip
