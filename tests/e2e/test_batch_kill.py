"""A run by batches whose program is killed: the same command takes the answers in, and nothing is paid for twice."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from judgenet.store.db import Store
from judgenet.store.runs import full_calls, run_info
from tests.e2e.command import Command, ask, write_pairs
from tests.fakes.judge_server import judge_process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")

PAIRS = 6
CALLS = 9
"""Of a pair: roles, and two layers of two neurons in both orders."""
DEADLINE_S = 60.0


def wait_for(url: str, what: str, least: int) -> None:
    until = time.monotonic() + DEADLINE_S
    while ask(url, "stats")[what] < least:
        assert time.monotonic() < until, f"never so many {what}"
        time.sleep(0.005)


def test_a_killed_command_goes_on_the_next_time(tmp_path: Path) -> None:
    with judge_process() as url:
        options = ("--width", "2", "--depth", "2", "--batch")
        command = Command(
            write_pairs(tmp_path / "pairs.jsonl", PAIRS), url, tmp_path / "out", tmp_path, options=options
        )
        for batches in (1, 2):
            # As soon as the endpoint has the batch, whether the program knows it or not.
            ask(url, "settings", {"batch_s": 600.0 if batches == 1 else 0.0})
            process = command.start()
            wait_for(url, "batches", batches)
            process.kill()
            process.communicate()
            assert process.returncode == -9
        ask(url, "settings", {"batch_s": 0.0})
        printed = command.finish()
        assert printed["state"] == "done"
        assert printed["cost"]["calls_by_batch"] == PAIRS * CALLS - 1
        stats = ask(url, "stats")
        assert (stats["paid"], stats["paid_again"]) == (PAIRS * CALLS, 0)
        assert (stats["batches"], stats["batch_calls"]) == (3, PAIRS * CALLS - 1)
    with Store.open(tmp_path / "out" / "run.judgenet.db", readonly=True) as store:
        kept = list(full_calls(store, run_info(store)))
    assert len(kept) == len({call.site for call in kept}) == PAIRS * CALLS
