"""What the studio says stands together by page, in modules called ``texts``."""

from __future__ import annotations

import runpy
from pathlib import Path

import judgenet

UI = Path(judgenet.__file__).parent / "ui"
LIST = runpy.run_path(str(Path(__file__).parents[2] / "packaging" / "studio_texts.py"))

DONE = (
    # One folder a line.
    "bias",
    "data",
    "design",
    "experiments",
    "labels",
    "results",
    "run",
    "shards",
)
"""Folders of the studio whose texts stand in their ``texts`` module."""

_WORDS = 3


def texts_elsewhere(source: str) -> list[tuple[int, str]]:
    """Line and text of each string of three words or more, docstrings and style sheets left out."""
    return [
        (line, text)
        for line, text in LIST["literals"](source)
        if sum(any(letter.isalpha() for letter in word) for word in text.split()) >= _WORDS
    ]


def test_texts_stand_in_texts_modules() -> None:
    elsewhere = [
        f"{path.relative_to(UI).as_posix()}:{line} {text!r}"
        for folder in DONE
        for path in sorted((UI / folder).rglob("*.py"))
        if not LIST["is_texts_module"](path)
        for line, text in texts_elsewhere(path.read_text(encoding="utf-8"))
    ]
    assert elsewhere == []


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
item.setStyleSheet("color: red; margin: 0")
raise ValueError("a count below zero")
'''
    assert texts_elsewhere(source) == [(3, "No labels yet"), (4, "{…} of the pairs")]
