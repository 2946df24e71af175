"""What the repository holds: no index addresses, no machine's paths, no secrets; dependencies with their reasons."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Each pattern is written so that it does not match itself.
FORBIDDEN = {
    "address of a package index": r"pypi\.[o]rg/simple|pythonhosted\.[o]rg|--(extra-)?index-[u]rl|npmjs\.[o]rg",
    "path of one machine": r"(?<![\w.])/(root|work/main|work/shared|tmp/v|home/[a-z]\w+|Users/[A-Za-z]\w+)[/]",
    "private key": r"-----BEGIN [A-Z ]*PRIVATE [K]EY-----",
    "API key": r"\b(sk-(ant-|proj-)?[A-Za-z0-9_]{32,}|AKIA[A-Z0-9]{16}|AIza[\w-]{35}|gh[pousr]_[A-Za-z0-9]{36})\b",
    "password in an address": r"https?://[\w.%+-]+:[^\s@/\"'{}]{3,}@[\w.-]+",
}


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("this is not a git checkout")
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_tracked_file_holds(what: str, tracked: list[Path]) -> None:
    pattern = re.compile(FORBIDDEN[what])
    found = []
    for path in tracked:
        text = path.read_bytes().decode("utf-8", "replace")
        for number, line in enumerate(text.split("\n"), 1):
            if hit := pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {hit[0]}")
    assert found == []


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("address of a package index", "pip install --index" + "-url https://example.org judgenet"),
        ("path of one machine", "open('/home" + "/ada/pairs.jsonl')"),
        ("private key", "-----BEGIN RSA PRIVATE " + "KEY-----"),
        ("API key", "key = 'sk-" + "a1B2" * 10 + "'"),
        ("password in an address", "https://ada:" + "secret@example.org/v1"),
    ],
)
def test_each_pattern_finds_what_it_is_for(what: str, text: str) -> None:
    assert re.search(FORBIDDEN[what], text)


def test_each_dependency_has_its_reason() -> None:
    """A comment on the line of the requirement or on the line above it."""
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("\n")
    requirement = re.compile(r'^\s+"[A-Za-z][\w.-]*(\[\w+\])?[<>=~!]')
    places = [place for place, line in enumerate(lines) if requirement.match(line)]
    assert len(places) > 15
    bare = [lines[i] for i in places if "#" not in lines[i] and not lines[i - 1].lstrip().startswith("#")]
    assert bare == []


def test_the_top_level_is_tidy(tracked: list[Path]) -> None:
    names = {path.relative_to(ROOT).parts[0] for path in tracked}
    visible = {name for name in names if not name.startswith(".")}
    assert visible <= {"pyproject.toml", "README.md", "LICENSE", "app", "resources", "examples", "tests", "packaging"}
