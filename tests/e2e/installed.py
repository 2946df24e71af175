"""What an installed JudgeNet must do without the clone: from a wheel, or frozen and in a root without Python.

``python -m tests.e2e.installed --program /opt/judgenet/judgenet --root ROOT`` checks a program in a root of its own;
without ``--root`` it checks one of this system.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgenet.version import __version__
from tests.shots.compare import MOST_TILES, differing, load
from tests.shots.kept import draw

PICTURES = ("design-light-1280x720", "results-light-1280x720", "report-light-1280x720")
"""Results and Report need nearly every library."""
PAIR = {"id": "1", "question": "What is two and two?", "response_a": "Four.", "response_b": "A fish.", "human": "a"}
FIRST_VERDICT_S = 240.0
"""The first verdict takes 25 s; tests of others may run beside it."""


@dataclass
class Installed:
    """A program as installed, and an empty folder in which it runs with a home of its own.

    ``before`` goes before each command (``chroot ROOT``), and ``seen`` is the folder as the program sees it.
    """

    program: tuple[str, ...]
    folder: Path
    seen: Path = Path()
    before: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.seen == Path():
            self.seen = self.folder
        (self.folder / "home").mkdir(exist_ok=True)

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the clone, of this user's settings, or of a screen."""
        names = (
            ("LANG",) if self.before else ("LANG", "SSL_CERT_FILE", "PIP_CERT")
        )  # files are elsewhere in another root
        kept = {name: os.environ[name] for name in names if name in os.environ}
        places = {"HOME": str(self.seen / "home"), "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
        return kept | places | {"QT_QPA_PLATFORM": "offscreen"} | self.variables

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Starts the program in its folder."""
        where = ("env", "-C", str(self.seen)) if self.before else ()
        return subprocess.Popen(
            [*self.before, *where, *self.program, *arguments],
            cwd=None if self.before else self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, timeout: float = 300.0) -> str:
        """Runs a command and returns what it printed.

        :raises AssertionError: it failed; the message holds what it said.
        """
        program = self.start(*arguments)
        try:
            out, err = program.communicate(timeout=timeout)
        finally:
            program.kill()
        assert program.returncode == 0, f"judgenet {' '.join(arguments)}: exit code {program.returncode}\n{err}\n{out}"
        return out

    def json(self, *arguments: str) -> Any:
        """What a command prints for machines."""
        return json.loads(self.run(*arguments, "--json"))


def check_version(program: Installed) -> None:
    """The version is right, no library's is unknown (runs record them), and pip can be asked for a newer one."""
    versions = program.json("version", "--check")
    assert versions["judgenet"] == __version__
    assert "not installed" not in versions.values(), versions
    update = versions["update"]
    assert update["latest"] or update["reason"].startswith("The package index has no release of JudgeNet"), update


def check_pair(program: Installed) -> None:
    """The embedded model judges a pair, and the run's record names the versions of the libraries."""
    (program.folder / "pairs.jsonl").write_text(json.dumps(PAIR) + "\n", encoding="utf-8")
    assert program.json("model", "status")["present"]
    options = ("--pairs", "pairs.jsonl", "--width", "1", "--depth", "2", "--out", "out", "--quiet")
    figures = program.json("run", *options)
    assert figures["pairs"]["finished"] == 1
    assert (figures["calls"]["scored"], figures["calls"]["unscored"]) == (4, {})
    with sqlite3.connect(next(program.folder.glob("out/*.judgenet.db"))) as db:
        record = " ".join(str(value) for row in db.execute("SELECT * FROM runs") for value in row)
    assert f'"judgenet": "{__version__}"' in record
    assert '"aiohttp": "' in record
    assert "not installed" not in record


def check_report(program: Installed) -> None:
    """Reports of the pair that was judged, as HTML and PDF."""
    for name, head in (("report.html", b"<!doctype html>"), ("report.pdf", b"%PDF-")):
        program.run("report", "out", "-o", name)
        content = (program.folder / name).read_bytes()
        assert content[: len(head)].lower() == head.lower(), content[:40]
        assert len(content) > 20_000


def check_pictures(program: Installed) -> None:
    """Design, Results and Report are drawn as the clone draws them (which another test compares with kept pictures)."""
    program.run("shots", "pictures", *(part for name in PICTURES for part in ("--only", name)))
    draw(program.folder / "reference", PICTURES)
    for name in PICTURES:
        picture, reference = (load(program.folder / folder / f"{name}.png") for folder in ("pictures", "reference"))
        tiles = differing(picture, reference)
        assert len(tiles) <= MOST_TILES, f"{name}: {len(tiles)} tiles differ: {tiles[:5]}"


def check_studio(program: Installed) -> None:
    """The studio opens with the example running, a judge gives its first verdict, and it ends when asked."""
    began = time.monotonic()
    studio = program.start("--example")
    try:
        while not _verdicts(program.folder / "home"):
            assert studio.poll() is None, studio.communicate()
            assert time.monotonic() - began < FIRST_VERDICT_S, "no verdict came"
            time.sleep(0.5)
        studio.send_signal(signal.SIGTERM)
        _, err = studio.communicate(timeout=60)
    finally:
        studio.kill()
        studio.wait()
    assert (studio.returncode, err) == (0, "")


def _verdicts(home: Path) -> int:
    """The verdicts of judges in the drafts of a home."""
    count = 0
    for file in home.rglob("*.judgenet.db"):
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as db:
            try:
                count += db.execute("SELECT count(*) FROM run_calls WHERE verdict IS NOT NULL").fetchone()[0]
            except sqlite3.OperationalError:  # it is being made
                continue
    return count


CHECKS: tuple[Callable[[Installed], None], ...] = (
    check_version,
    check_pair,
    check_report,
    check_pictures,
    check_studio,
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="judgenet", help="the program, as it is called in its root")
    parser.add_argument("--root", type=Path, help="a root of its own, entered by chroot")
    parser.add_argument("--folder", type=Path, required=True, help="an empty folder, inside the root if there is one")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    program = Installed((options.program,), options.folder.resolve())
    if options.root is not None:
        root = options.root.resolve()
        program.before = ("chroot", str(root))
        program.seen = Path("/") / program.folder.relative_to(root)
    failed = False
    for check in CHECKS:
        began = time.monotonic()
        try:
            check(program)
        except (AssertionError, OSError, subprocess.TimeoutExpired, StopIteration, KeyError) as error:
            failed = True
            print(f"FAILED {check.__name__}: {error}", flush=True)
        else:
            print(f"{time.monotonic() - began:6.1f} s  {(check.__doc__ or '').splitlines()[0]}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
