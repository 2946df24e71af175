"""``judgenet run --batch`` as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]
CALLS = 4 * 13


def test_a_run_by_batches_says_where_it_stands_and_what_it_saved(
    judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer
) -> None:
    ran = judgenet("run", "--pairs", pairs, *at, "--out", "out", "--batch", "--price", "10,20")
    assert ran.code == 0
    told = [line for line in ran.err.splitlines() if line.startswith("Batch ")]
    assert [line.partition(",")[0] for line in told] == [
        "Batch 1 of 3: roles",
        "Batch 2 of 3: layer 1",
        "Batch 3 of 3: layer 2",
    ]
    assert f"Spent: {CALLS} new calls ({CALLS - 1} by batch, 0 from the store)" in ran.out
    assert "by batches" in ran.err.splitlines()[1]
    assert server.judge.stats()["batch_answers"] == CALLS - 1
    found = judgenet("metrics", "out", "--json").json
    assert found["cost"]["calls_by_batch"] == CALLS - 1
    judgenet("report", "out", "-o", "report.md")
    assert f"{CALLS - 1} of {CALLS} new calls, at the price of batches" in Path("report.md").read_text(encoding="utf-8")


def test_the_estimate_has_the_price_by_batches_beside_the_live_one(judgenet: Judgenet, pairs: Path, at: At) -> None:
    command = ("estimate", "--pairs", pairs, *at, "--price", "10,20")
    found = judgenet(*command, "--json").json
    assert found["batch_price"] == pytest.approx([end / 2 for end in found["price"]])
    assert "price by batches" in judgenet(*command).out
    assert "3 batches, one after the other, each within 24 h" in judgenet(*command, "--batch").out
    assert "batch_price" not in judgenet("estimate", "--pairs", pairs, "--endpoint", "embedded", "--json").json
    assert "batch_price" not in judgenet("estimate", "--pairs", pairs, *at, "--json").json


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--live-after", "soon"), "--live-after 'soon' is no deadline: write a time of day (18:00)"),
        (("--no-batch", "--live-after", "18:00"), "cannot be combined with --no-batch"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer, options: tuple[str, ...], words: str
) -> None:
    ran = judgenet("run", "--pairs", pairs, *at, "--out", "out", *options)
    assert ran.code == 2
    assert words in ran.err
    assert not server.requests


def test_an_endpoint_that_takes_no_batches_is_named(judgenet: Judgenet, pairs: Path) -> None:
    ran = judgenet("run", "--pairs", pairs, "--endpoint", "embedded", "--out", "out", "--batch")
    assert ran.code == 2
    assert "no endpoint of the network takes batches: embedded (embedded)" in ran.err
