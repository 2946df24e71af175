"""An experiment that is killed in the middle goes on where it was, and pays for nothing twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e.command import ask, write_pairs
from tests.fakes.judge_server import judge_process

PAIRS = 8
CALLS = PAIRS * (1 + 2 * 3 + 2 * (1 + 2 + 3))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_killed_in_the_middle(tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "pairs.jsonl", PAIRS)
    with judge_process("--latency", "0.02") as url:
        arguments = [
            *("experiment", "width-depth", "--pairs", str(pairs), "--base-url", url, "--model", "judge", "-j", "4"),
            *("--widths", "1..3", "--depths", "1..2", "--out", str(tmp_path / "out"), "--json", "--quiet"),
        ]

        def start() -> subprocess.Popen[str]:
            return subprocess.Popen(
                [sys.executable, "-m", "judgenet", *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "JUDGENET_CONFIG_DIR": str(tmp_path / "config")},
            )

        for share in (0.3, 0.7):
            process = start()
            until = time.monotonic() + 60
            while ask(url, "stats")["requests"] < share * CALLS and time.monotonic() < until:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=120)
            assert process.returncode == -signal.SIGKILL
        last = start()
        out, err = last.communicate(timeout=100)
        assert (last.returncode, err) == (0, "")
        found = json.loads(out)["sets"][0]
        assert found["state"] == "done"
        assert all(row["judged"] == PAIRS for row in found["rows"])
        counts = Counter(entry["body_hash"] for entry in ask(url, "log"))
        # Each kill loses at most what was in flight or not on disk yet: twice the concurrency.
        assert len(counts) == CALLS
        assert sum(count - 1 for count in counts.values()) <= 2 * 2 * 4
