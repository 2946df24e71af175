"""What the studio says stands together by page, in modules called ``texts``."""

from __future__ import annotations

import runpy
from pathlib import Path

import judgenet

UI = Path(judgenet.__file__).parent / "ui"
LIST = runpy.run_path(str(Path(__file__).parents[2] / "packaging" / "studio_texts.py"))

FOR_NO_READER = {
    # The log, and messages of Qt that are left out of it.
    "This plugin does not support ",
    "unraisable in %r: %r",
    "There is no log: %s",
    "%(asctime)s %(levelname)s %(name)s: %(message)s",
    # SVG, HTML and SQL.
    '<svg width="{…}" height="{…}"',
    '<svg width="[^"]*" height="[^"]*"',
    "<p style='white-space: pre-wrap'>{…}</p>",
    "SELECT 1 FROM runs",
    # What Qt and the system's loader say.
    "Available platform plugins",
    "This application failed",
    "^\\s*(\\S+) => not found",
    # The invented projects of the pictures.
    "24 pairs, network 3 × 2, run 1",
    "1,200 pairs, network 4 × 2, run 3",
    "640 pairs, network 5 × 1, run 2",
    "Translation, seven languages",
    "Draft, 80 pairs, network 3 × 2",
}
"""Strings of several words that nobody reads in the studio."""

_FILE_PATTERN = "(*."
_WORDS = 3


def texts_elsewhere(source: str) -> list[tuple[int, str]]:
    """Line and text of each string of three words or more; docstrings, style sheets and file patterns are left out."""
    return [
        (line, text)
        for line, text in LIST["literals"](source)
        if sum(any(letter.isalpha() for letter in word) for word in text.split()) >= _WORDS
        and _FILE_PATTERN not in text
    ]


def all_elsewhere() -> list[tuple[str, str]]:
    """Place and text of each such string of the studio outside of its texts modules."""
    return [
        (f"{path.relative_to(UI).as_posix()}:{line}", text)
        for path in sorted(UI.rglob("*.py"))
        if not LIST["is_texts_module"](path)
        for line, text in texts_elsewhere(path.read_text(encoding="utf-8"))
    ]


def test_texts_stand_in_texts_modules() -> None:
    assert [found for found in all_elsewhere() if found[1] not in FOR_NO_READER] == []


def test_every_exception_is_needed() -> None:
    assert FOR_NO_READER - {text for _, text in all_elsewhere()} == set()


def test_texts_modules_know_texts_alone() -> None:
    """A writer can change one without reading code: it imports nothing of Qt and nothing of the studio."""
    for path in sorted(UI.rglob("texts.py")):
        source = path.read_text(encoding="utf-8")
        assert "PySide6" not in source, path
        assert "judgenet.ui" not in source, path


def test_a_text_elsewhere_is_found() -> None:
    source = '''
"""A docstring of many words."""
label("No labels yet")
label(f"{count:,} of the pairs")
label("Two words")
ask("Pairs in tables (*.csv *.tsv)")
item.setStyleSheet("color: red; margin: 0")
raise ValueError("a count below zero")
'''
    assert texts_elsewhere(source) == [(3, "No labels yet"), (4, "{…} of the pairs")]
