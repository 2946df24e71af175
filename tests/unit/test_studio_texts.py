"""The list of what the program says, for whoever reads it once more."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "packaging" / "studio_texts.py"
LIST = runpy.run_path(str(SCRIPT))

MODULE = '''
"""A module that says something."""

# Pairs

NONE = "None"

def say(count: int) -> str:
    """Not shown to anybody."""
    if not count:
        return "Nothing to be seen."
    if count < 0:
        raise ValueError("a count below zero")
    widget.setStyleSheet("color: red; background: blue")
    counts = {"label without verdict": 1}
    return f"{count:,} pairs are labelled" + " one"
'''


def test_texts_are_listed_without_docstrings_and_with_places_for_what_is_filled_in() -> None:
    assert LIST["texts_of"](MODULE) == [(11, "Nothing to be seen."), (16, "{…} pairs are labelled")]


def test_a_page_is_listed_with_its_panels_and_its_single_words() -> None:
    assert LIST["page_of"](MODULE) == [
        (4, "# Pairs"),
        (6, "None"),
        (11, "Nothing to be seen."),
        (16, " one"),
        (16, "{count} pairs are labelled"),
    ]


def test_pages_and_other_folders_are_listed() -> None:
    def printed(*words: str) -> str:
        return subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True, check=True).stdout

    page = printed("experiments")
    assert "ui/experiments/texts.py" in page
    assert "dialog.py" not in page
    assert "# The plan" in page
    commands = printed("--in", "cli", "estimate")
    assert "cli/estimate.py" in commands
    assert "ui/" not in commands
