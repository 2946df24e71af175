"""The reader on recorded texts of real judges, against what they say and against published figures."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judgenet.core.evaluation import Evaluation, Reading
from judgenet.core.reading import read_judgement
from tests.bench.reading import SETS, Texts, measure

pytestmark = pytest.mark.data

SIZES = {
    "fastchat_vicuna": 1440,
    "llmbar cot": 8808,
    "llmbar swap_cot": 7152,
    "llmbar short": 17512,
    "llmbar rating": 2 * 2933,
    "judgebench": 1240,
    "chateval": 560,
    "chateval scores": 14,
    "chateval_fork_it": 3384,
    "mtbench_fork pairs": 150,
    "mtbench_fork single": 160,
    "arena_bench": 900,
    "autoj": 232,
}
SILENT = {
    "fastchat_vicuna": 2,
    "llmbar short": 166,
    "llmbar rating": 5,
    "judgebench": 13,
    "chateval": 15,
    "chateval_fork_it": 3384,
    "mtbench_fork pairs": 3,
    "arena_bench": 3,
}
"""Texts that the sources could not read, or that hold no verdict for two responses."""


def records(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().split(b"\n"):
        if line.strip():
            yield json.loads(line)


@pytest.mark.parametrize("texts", SETS, ids=lambda texts: texts.name)
def test_nothing_is_read_wrong_and_nothing_is_lost(shared_data: Path, texts: Texts) -> None:
    result = measure(shared_data, texts)
    assert result.outcomes.total() == SIZES[texts.name]
    assert result.missed == []
    assert result.outcomes["wrong"] == 0
    if texts.name in SILENT:
        assert result.outcomes["unscored rightly"] == SILENT[texts.name]


@pytest.mark.parametrize(
    ("file", "sums"),
    [
        # Vicuna blog, 30 March 2023, table 2; Bard and LLaMA with the scores that rows 229 and 389 really give.
        ("review_alpaca-13b_vicuna-13b", (583.0, 704.0)),
        ("review_gpt35_vicuna-13b", (693.0, 638.0)),
        ("review_bard_vicuna-13b", (664.0, 657.5)),
        ("review_llama-13b_vicuna-13b", (513.0, 696.0)),
    ],
)
def test_the_published_sums_of_the_vicuna_blog_come_out(
    shared_data: Path, file: str, sums: tuple[float, float]
) -> None:
    first = second = 0.0
    for record in records(shared_data / "fastchat_vicuna" / "judgments.jsonl"):
        if record["source_file"] == f"vicuna-13b_20230322-clean-lang/{file}.jsonl":
            reading = read_judgement(record["text"], scale=(0.0, 10.0))
            assert isinstance(reading, Reading)
            assert reading.first is not None
            assert reading.second is not None
            first += reading.first
            second += reading.second
    assert (first, second) == sums


@pytest.mark.parametrize(("judge", "published"), [("o1-mini-2024-09-12", 65.71), ("claude-3-haiku-20240307", 32.22)])
def test_the_published_accuracy_of_judgebench_comes_out(shared_data: Path, judge: str, published: float) -> None:
    """A pair is right where its two orders give more right than opposite verdicts."""
    gold = {pair["id"]: pair["human"] for pair in records(shared_data / "judgebench" / "pairs.jsonl")}
    points: dict[str, int] = defaultdict(int)
    for record in records(shared_data / "judgebench" / "judgments.jsonl"):
        if record["judge"] != judge:
            continue
        points[record["pair_id"]] += 0
        reading = read_judgement(record["text"])
        if isinstance(reading, Reading):
            verdict = Evaluation.from_reading(reading, record["order"]).verdict
            if verdict != "tie":
                points[record["pair_id"]] += 1 if verdict == gold[record["pair_id"]] else -1
    right = sum(total > 0 for total in points.values())
    assert round(100 * right / len(points), 2) == published
