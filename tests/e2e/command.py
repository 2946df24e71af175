"""The command line as a child process, as a user starts it, and what it leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Site = tuple[int, int, int, str | None, int]
"""Pair (0-based), layer, neuron, order and sample of a call."""


def write_pairs(path: Path, count: int) -> Path:
    """Pairs in the normal form, all different, with labels."""
    with path.open("w", encoding="utf-8") as out:
        for i in range(count):
            record = {
                "id": f"p{i:03}",
                "question": f"What is {i} times {i + 1}?",
                "response_a": f"It is {i * (i + 1)}.",
                "response_b": f"I take it to be {i * i} – about.",
                "human": ("a", "b", "tie")[i % 3],
            }
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
    return path


def ask(url: str, what: str, change: dict[str, Any] | None = None) -> Any:
    """A question to the fake server's control, or a change of its settings."""
    body = None if change is None else json.dumps(change).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{url}/control/{what}", data=body), timeout=30) as answer:
        return json.load(answer)


@dataclass
class Command:
    """``judgenet run`` with the same options each time. ``program`` is code to run in place of the module."""

    pairs: Path
    url: str
    out: Path
    config: Path
    concurrency: int = 8
    options: tuple[str, ...] = ("--width", "2", "--depth", "2")

    @property
    def events_path(self) -> Path:
        return self.out.parent / f"{self.out.name}.events.jsonl"

    def arguments(self) -> list[str]:
        return [
            *("run", "--pairs", str(self.pairs), "--base-url", self.url, "--model", "judge"),
            *("--out", str(self.out), "-j", str(self.concurrency), *self.options),
            *("--events", str(self.events_path), "--json", "--quiet"),
        ]

    def start(self, program: str | None = None) -> subprocess.Popen[str]:
        head = ["-m", "judgenet"] if program is None else ["-c", program]
        return subprocess.Popen(
            [sys.executable, *head, *self.arguments()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "JUDGENET_CONFIG_DIR": str(self.config)},
        )

    def finish(self) -> dict[str, Any]:
        """Runs to the end and returns what it printed."""
        process = self.start()
        out, err = process.communicate(timeout=100)
        assert process.returncode == 0, err
        assert err == ""
        printed: dict[str, Any] = json.loads(out)
        return printed

    def events(self) -> list[dict[str, Any]]:
        """All events told so far. Each line is whole, also after a kill."""
        if not self.events_path.exists():
            return []
        return [json.loads(line) for line in self.events_path.read_text(encoding="utf-8").splitlines()]

    def export(self, what: str) -> list[dict[str, Any]]:
        done = subprocess.run(
            [sys.executable, "-m", "judgenet", "export", str(self.out), "--what", what],
            capture_output=True,
            text=True,
            timeout=200,
            check=True,
        )
        return [json.loads(line) for line in done.stdout.split("\n") if line]


def site_of(record: dict[str, Any]) -> Site:
    return (record["pair"], record["layer"], record["neuron"], record["order"], record["sample"])


def wait_for_size(path: Path, size: int, process: subprocess.Popen[str], seconds: float = 60.0) -> bool:
    """Waits until a file has grown beyond ``size``; ``False`` where the process ended before."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if path.exists() and path.stat().st_size > size:
            return True
        if process.poll() is not None:
            return False
        time.sleep(0.002)
    raise AssertionError(f"nothing was told in {seconds} s")
