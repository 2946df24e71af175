"""A run whose store is deleted, moved or replaced while it goes on, or whose disk is full: nothing more is paid for,
and the last lines say what is and what to do."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.command import Command, ask, wait_for_size, write_pairs
from tests.fakes.judge_server import judge_process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows moves no file that is open")

CONCURRENCY = 4
PAIRS = 25
CALLS = 9


class Loud(Command):
    """The same with progress and figures for people."""

    def arguments(self) -> list[str]:
        return [argument for argument in super().arguments() if argument not in ("--json", "--quiet")]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with judge_process("--latency", "0.05") as found:
        yield found


def deleted(out: Path) -> None:
    shutil.rmtree(out)


def file_deleted(out: Path) -> None:
    (out / "run.judgenet.db").unlink()


def moved(out: Path) -> None:
    out.rename(out.with_name("elsewhere"))


def replaced(out: Path) -> None:
    copy = out / "copy"
    shutil.copy(out / "run.judgenet.db", copy)
    copy.replace(out / "run.judgenet.db")


def until(comes: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 60
    while not comes():
        assert process.poll() is None
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


def at_rest(url: str, process: subprocess.Popen[str]) -> int:
    """How many requests there were when none has come for a second."""
    seen = -1
    while (now := ask(url, "stats")["requests"]) != seen:
        assert process.poll() is None
        seen = now
        time.sleep(1.0)
    return seen


@pytest.mark.parametrize("happens", [deleted, file_deleted, moved, replaced])
def test_a_store_that_is_not_there_any_more_holds_the_run(
    tmp_path: Path, url: str, happens: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGENET_STATE_DIR", str(tmp_path / "state"))
    ask(url, "reset", {})
    command = Loud(write_pairs(tmp_path / "pairs.jsonl", PAIRS), url, tmp_path / "out", tmp_path, CONCURRENCY)
    process = command.start()
    assert wait_for_size(command.events_path, 6_000, process)
    before = ask(url, "stats")["requests"]
    happens(command.out)
    requests = at_rest(url, process)
    # Those in flight, and those that were sent before the next answer came to be kept.
    assert requests - before <= 4 * CONCURRENCY
    told = [event for event in command.events() if event["event"] == "store_trouble"]
    assert len(told) == 1
    assert str(command.out / "run.judgenet.db") in told[0]["message"]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Every call: judgenet export" not in err
    [end] = [line for line in err.splitlines() if line.startswith("cancelled: Stopped.")]
    place = command.out
    if happens is moved:
        place = command.out.with_name("elsewhere")
        assert str(place) in end
    else:
        assert "was deleted or moved" in end or "another file took its place" in end
        found = re.search(r"all that was kept is saved in (\S+)\. Copy it to (\S+),", err)
        assert found
        place.mkdir(exist_ok=True)
        shutil.copy(found[1], found[2])
        assert Path(found[2]) == place / "run.judgenet.db"
    # All that was paid is there, also what nobody was told of: it goes on from there and pays for nothing twice.
    again = Command(command.pairs, url, place, tmp_path, CONCURRENCY)
    assert again.finish()["state"] == "done"
    assert ask(url, "stats")["paid_again"] == 0
    assert ask(url, "stats")["requests"] == PAIRS * CALLS


def test_a_folder_that_comes_back_lets_the_run_go_on(tmp_path: Path, url: str) -> None:
    ask(url, "reset", {})
    command = Command(write_pairs(tmp_path / "pairs.jsonl", PAIRS), url, tmp_path / "out", tmp_path, CONCURRENCY)
    process = command.start()
    assert wait_for_size(command.events_path, 6_000, process)
    moved(command.out)
    at_rest(url, process)
    command.out.with_name("elsewhere").rename(command.out)
    _, err = process.communicate(timeout=100)
    assert (process.returncode, err) == (0, "")
    told = [event["message"] for event in command.events() if event["event"] == "store_trouble"]
    assert [bool(message) for message in told] == [True, False]
    assert ask(url, "stats")["requests"] == PAIRS * CALLS


FULL_DISK = """
import sqlite3, sys
from judgenet.cli.main import main
from judgenet.engine import executor

write, kept = executor.write_outcome, 0

def on_a_disk_that_fills(*arguments):
    global kept
    kept += 1
    if kept > 30:
        raise sqlite3.OperationalError("database or disk is full")
    write(*arguments)

executor.write_outcome = on_a_disk_that_fills
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_full_disk_and_an_interrupt_end_at_once_with_one_story(
    tmp_path: Path, url: str, number: signal.Signals
) -> None:
    ask(url, "reset", {})
    command = Loud(write_pairs(tmp_path / "pairs.jsonl", PAIRS), url, tmp_path / "out", tmp_path, CONCURRENCY)
    process = command.start(FULL_DISK)
    until(lambda: any(event["event"] == "store_trouble" for event in command.events()), process)
    asked = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    # It takes a second or two; it took 22.
    assert time.monotonic() - asked < 12
    assert process.returncode == 130
    [end] = [line for line in err.splitlines() if line.startswith("cancelled: ")]
    assert "(database or disk is full)" in end
    assert "not kept and will be asked again" in end
    assert end.endswith("Free some space, then the same command goes on from here.")
    assert "nothing is lost" not in err
    assert "(cancelled)" in out
