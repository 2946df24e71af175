"""``judgenet`` itself: help with examples, versions, and what a run would cost."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]
COMMANDS = (
    "run",
    "estimate",
    "experiment",
    "preflight",
    "import",
    "status",
    "merge",
    "metrics",
    "rate",
    "labels",
    "compare",
    "check",
    "rank",
    "learn",
    "curve",
    "cascade",
    "panel",
    "guarantee",
    "calibration",
    "alt-test",
    "bias",
    "export",
    "network",
    "report",
    "shots",
    "selfcheck",
    "version",
    "model",
    "endpoint",
)


def test_help_shows_the_commands(judgenet: Judgenet) -> None:
    ran = judgenet("--help")
    assert ran.code == 0
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", ran.out, re.M)


@pytest.mark.parametrize(
    "command",
    [
        "run",
        "estimate",
        "experiment",
        "import",
        "metrics",
        "rate",
        "labels",
        "compare",
        "check",
        "rank",
        "learn",
        "curve",
        "cascade",
        "panel",
        "guarantee",
        "calibration",
        "alt-test",
        "bias",
        "export",
    ],
)
def test_help_has_an_example_that_begins_with_the_command(judgenet: Judgenet, command: str) -> None:
    ran = judgenet(command, "--help")
    assert ran.code == 0
    assert re.search(rf"Examples?:\s+judgenet {command} ", ran.out)


@pytest.mark.parametrize("command", [*COMMANDS, "endpoint add", "endpoint test", "model use", "selfcheck statistics"])
def test_help_fits_80_columns(judgenet: Judgenet, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = judgenet(*command.split(), "--help")
    assert ran.code == 0
    assert [line for line in ran.out.splitlines() if len(line) > 80] == []


def test_an_unknown_command_is_a_usage_error(judgenet: Judgenet) -> None:
    ran = judgenet("judge")
    assert (ran.code, ran.out) == (2, "")
    assert "judge" in ran.err


def test_versions(judgenet: Judgenet) -> None:
    shown = judgenet("version", "--json").json
    assert shown["judgenet"] == version("judgenet")
    assert shown["aiohttp"] == version("aiohttp")
    schema = json.loads(Path(shown["project schema"]).read_text(encoding="utf-8"))
    assert schema["properties"]["schema"]["const"] == int(shown["project"])
    lines = judgenet("version").out.splitlines()
    assert lines[0].split() == ["judgenet", version("judgenet")]


def test_an_estimate_counts_the_calls_that_the_run_makes(
    judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer
) -> None:
    options = ("--pairs", pairs, *at, "--width", 3, "--depth", 2, "--chair", "--samples", 2, "--out", "out")
    before = judgenet("estimate", *options, "--json")
    calls = 4 * (1 + 2 * 2 * (3 + 3 + 1))
    assert before.code == 0
    assert before.json["calls"] == before.json["calls_open"] == [calls, calls]
    assert (before.json["price"], before.json["calls_recorded"]) == (None, 0)
    assert "judge" in before.json["price_reason"]
    assert server.requests == 0
    assert not Path("out").exists()
    judgenet("run", *options, "--max-calls", 10)
    between = judgenet("estimate", *options, "--json").json
    assert (between["calls_recorded"], between["calls_open"]) == (10, [calls - 10, calls - 10])
    judgenet("run", *options)
    assert server.requests == calls
    after = judgenet("estimate", *options, "--json").json
    assert (after["calls_recorded"], after["calls_open"]) == (calls, [0, 0])


def test_a_price_range_follows_from_a_given_price(judgenet: Judgenet, pairs: Path, at: At) -> None:
    found = judgenet("estimate", "--pairs", pairs, *at, "--price", "1,2", "--json").json
    for end in (0, 1):
        expected = (found["tokens_in"][end] * 1 + found["tokens_out"][end] * 2) / 1_000_000
        assert found["price"][end] == pytest.approx(expected)
    shown = judgenet("estimate", "--pairs", pairs, *at)
    assert shown.code == 0
    assert re.search(r"^price +unknown: ", shown.out, re.M)


def test_the_list_of_commands_loads_no_library_of_theirs() -> None:
    heavy = {"numpy", "pandas", "aiohttp", "httpx", "openpyxl", "scipy", "sklearn", "PySide6", "sqlite3"}
    code = (
        "import sys\nfrom judgenet.cli.main import main\nmain(['--help'])\n"
        f"print(sorted({heavy!r} & set(sys.modules)), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr.strip() == "[]"


@pytest.mark.parametrize(
    ("command", "unneeded"),
    [
        (("metrics", "done"), {"aiohttp", "httpx", "openpyxl", "pyarrow", "pandas", "sklearn", "scipy.stats"}),
        (("compare", "done", "done"), {"aiohttp", "httpx", "openpyxl", "pyarrow", "pandas", "sklearn", "scipy.stats"}),
        (("run", "done/run.judgenet"), {"openpyxl", "pyarrow", "pandas", "sklearn", "scipy.stats"}),
        (("estimate", "done/run.judgenet"), {"aiohttp", "httpx", "openpyxl", "pyarrow", "pandas", "sklearn"}),
    ],
)
def test_a_command_loads_only_what_it_needs(
    judgenet: Judgenet, pairs: Path, at: At, command: tuple[str, ...], unneeded: set[str]
) -> None:
    assert judgenet("run", "--pairs", pairs, *at, "--out", "done", "-q").code == 0
    code = (
        f"import sys\nfrom judgenet.cli.main import main\nassert main({list(command)!r}) == 0\n"
        f"print(sorted({unneeded!r} & set(sys.modules)), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr.splitlines()[-1] == "[]"


def test_the_first_request_of_a_run_waits_for_no_library_of_figures(tmp_path: Path, pairs: Path) -> None:
    heavy = {"numpy", "pandas", "networkx", "httpx", "openpyxl", "PySide6", "judgenet.core.reading", "judgenet.figures"}
    options = ["--pairs", str(pairs), "--base-url", "http://127.0.0.1:9", "--model", "judge", "--width", "2", "-q"]
    code = (
        "import os, sys\nfrom judgenet.engine.transport import AiohttpTransport\nasync def send(*_):\n"
        f"    print(sorted({heavy!r} & set(sys.modules)), flush=True)\n    os._exit(0)\n"
        "AiohttpTransport.send = send\nfrom judgenet.cli.main import main\n"
        f"main({['run', *options, '--out', str(tmp_path / 'out')]!r})"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", COMMANDS)
def test_lines_of_the_list_are_whole(judgenet: Judgenet, command: str) -> None:
    line = next(line for line in judgenet("--help").out.splitlines() if line.startswith(f"  {command} "))
    assert line.endswith(".")
    assert not line.endswith("...")
