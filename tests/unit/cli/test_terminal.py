"""Texts of others reach the terminal, and the log, without the power to steer it."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import judgenet
from judgenet.cli.main import main
from judgenet.cli.terminal import HarmlessStream, harmless_streams
from judgenet.core.harmless import harmless
from judgenet.store.secrets import SecretFilter
from tests.fakes.listener import Listener

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")

EVIL = (
    "\x1b]0;title\x07\x1b[2J\x1b[41mred\x1b]8;;http://evil.example\x1b\\\\link\x9b2K\x90q\u202eabc\u2066\r\x08"
    "[link=http://evil.example]x[/link][bold]"
)
"""Title, clearing, colour, link, C1 forms, directions, overwriting, and the markup of the table library."""

BACKSLASH = chr(92)
_OURS = re.compile(r"\r?\x1b\[(?:[0-9;]*m|\?25[lh]|[0-9]*[AK]|[0-9]*G)")
"""What the program itself may send: styles, the cursor hidden and shown, lines redrawn."""


def unharmed(shown: str) -> str:
    """What a terminal got, without the program's own styling; fails where something else could steer it."""
    assert "\x1b[41m" not in shown
    assert "\x1b]8" not in shown
    left = _OURS.sub("", shown).replace("\r\n", "\n")
    found = re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", left)
    assert found is None, (found, left[max(0, found.start() - 200) : found.start() + 50])
    return left


OnTerminal = Callable[..., tuple[int, str]]


@pytest.fixture
def on_terminal(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OnTerminal:
    """Runs a command whose output and errors go to a pseudo-terminal; gives its code and what arrived there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object) -> tuple[int, str]:
        master, slave = os.openpty()
        shown: list[bytes] = []

        def read() -> None:
            while True:
                try:
                    piece = os.read(master, 65536)
                except OSError:
                    return
                if not piece:
                    return
                shown.append(piece)

        reader = threading.Thread(target=read)
        reader.start()
        with open(slave, "w", encoding="utf-8", newline="") as stream, monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", stream)
            patched.setattr(sys, "stderr", stream)
            code = main([str(argument) for argument in arguments])
        reader.join(10)
        os.close(master)
        return code, b"".join(shown).decode()

    return run


@pytest.fixture
def listener() -> Iterator[Listener]:
    found = Listener()
    yield found
    found.close()


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """Pairs whose every short text is hostile, in a file with a hostile name."""
    records: list[dict[str, Any]] = [
        {
            "id": f"p{i}{EVIL}",
            "question": f"What is {i}? {EVIL}",
            "response_a": f"It is {i}.",
            "response_b": "Who knows." if i else "It is 0.",
            "human": "ab"[i % 2],
            "task": f"t{EVIL}",
            "model_a": f"m{EVIL}",
            "model_b": f"n{EVIL}",
        }
        for i in range(4)
    ]
    path = tmp_path / f"pairs{EVIL.replace('/', '').replace(BACKSLASH, '')}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_tables_progress_and_messages(on_terminal: OnTerminal, evil: Path, tmp_path: Path, listener: Listener) -> None:
    roles = tmp_path / "roles.json"
    roles.write_text(json.dumps([{"name": f"Critic{EVIL}", "description": EVIL}]))
    at = ("--base-url", listener.url, "--model", f"judge{EVIL}")
    code, shown = on_terminal("run", "--pairs", evil, *at, "--out", "out", "--roles", roles)
    assert code == 0
    assert "\u241b]0;title" in unharmed(shown)
    for command in (
        ("estimate", "--pairs", evil, *at),
        ("metrics", "out", "--by", "task"),
        ("rate", "out"),
        ("rank", "out", "--matrix"),
        ("learn", "out"),
        ("curve", "out"),
        ("labels", "out"),
        ("compare", "out", "out"),
        ("bias", "--pairs", evil, *at, "--out", "lab", "--probes", "order"),
        ("bias", "--recorded", "out"),
        ("preflight", *at),
        ("export", "out", "--what", "verdicts", "--format", "csv"),
        ("export", "out", "--what", "calls"),
        ("report", "out", "-o", "report.html", "-o", "report.md"),
        ("experiment", "main-table", "--pairs", evil, *at, "--out", "trial"),
    ):
        assert unharmed(on_terminal(*command)[1]), command


def test_errors(on_terminal: OnTerminal, evil: Path, tmp_path: Path, listener: Listener) -> None:
    listener.fault = (401, f"denied {EVIL}")
    at = ("--base-url", listener.url, "--model", f"judge{EVIL}")
    assert "denied \u241b]0;title" in unharmed(on_terminal("run", "--pairs", evil, *at, "--out", "out")[1])
    assert "denied \u241b]0;title" in unharmed(on_terminal("run", "--pairs", evil, *at, "--out", "out", "-q")[1])
    on_terminal("endpoint", "add", "box", *at)
    assert "denied \u241b]0;title" in unharmed(on_terminal("endpoint", "test", "box")[1])
    assert unharmed(on_terminal("endpoint", "list")[1])
    labels = tmp_path / "labels.csv"
    labels.write_text(f'prompt,answer_a,answer_b,winner\nq,a,b,"good{EVIL}"\n', encoding="utf-8", newline="")
    code, shown = on_terminal("estimate", "--pairs", labels, "--map", "question=prompt,human=winner")
    assert (code, "good\u241b" in unharmed(shown)) == (2, True)
    for command in (
        ("run", "--pairs", f"none{EVIL}", *at),
        ("run", f"none{EVIL}.judgenet"),
        ("metrics", f"none{EVIL}"),
        ("endpoint", "show", f"none{EVIL}"),
        ("experiment", f"none{EVIL}"),
        (f"none{EVIL}",),
    ):
        code, shown = on_terminal(*command)
        assert (code, bool(unharmed(shown))) == (2, True), command


def test_a_pipe_gets_data_exactly_and_messages_harmless(
    on_terminal: OnTerminal, evil: Path, listener: Listener, capfd: pytest.CaptureFixture[str]
) -> None:
    on_terminal("run", "--pairs", evil, "--base-url", listener.url, "--model", "m", "--out", "out", "-q")
    capfd.readouterr()
    assert main(["export", "out", "--what", "verdicts", "--format", "csv"]) == 0
    assert f"p0{EVIL}" in capfd.readouterr().out
    assert main(["metrics", f"none{EVIL}"]) == 2
    assert "\x1b" not in capfd.readouterr().err


def test_an_exception_that_nobody_caught_is_harmless_too() -> None:
    raw = io.StringIO()
    before = sys.stdout, sys.stderr
    try:
        sys.stderr = raw
        with pytest.raises(RuntimeError), harmless_streams():
            raise RuntimeError(EVIL)
        assert isinstance(sys.stderr, HarmlessStream)
        sys.__excepthook__(RuntimeError, RuntimeError(EVIL), None)
    finally:
        sys.stdout, sys.stderr = before
    assert "title" in unharmed(raw.getvalue())


def test_log_records_are_harmless_and_no_line_passes_for_a_record() -> None:
    heard = io.StringIO()
    handler = logging.StreamHandler(heard)
    handler.addFilter(SecretFilter())
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    log = logging.getLogger("test of the log")
    log.propagate = False
    log.addHandler(handler)
    try:
        raise ValueError(EVIL)
    except ValueError:
        log.exception("said %s", f"{EVIL}\nERROR forged")
    finally:
        log.removeHandler(handler)
    lines = unharmed(heard.getvalue()).splitlines()
    assert [line for line in lines if line.startswith("ERROR")] == lines[:1]


def test_nothing_goes_past_the_one_way() -> None:
    """No command makes a console of its own, prints, or writes into the raw stream."""
    allowed = {"terminal.py"}
    past = re.compile(r"\bConsole\(|^\s*print\(|\.buffer\b|__stdout__|__stderr__|from_markup|from_ansi", re.M)
    for folder in ("cli", "api"):
        for path in (Path(judgenet.__file__).parent / folder).glob("*.py"):
            found = past.search(path.read_text(encoding="utf-8"))
            assert found is None or path.name in allowed, f"{path.name}: {found and found[0]}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\r\nmore", "plain\ttext\r\nmore"),
        ("\u05e9\u200f ع é 👩\u200d🔬", "\u05e9\u200f ع é 👩\u200d🔬"),
        ("a\x1b[2Jb", "a\u241b[2Jb"),
        ("a\x9b2Jb", "a<U+009B>2Jb"),
        ("a\u202eb", "a<U+202E>b"),
        ("over\rwritten", "over\u240dwritten"),
        ("\x7f\x00", "\u2421\u2400"),
    ],
)
def test_what_is_shown_in_place(text: str, shown: str) -> None:
    assert harmless(text) == shown
