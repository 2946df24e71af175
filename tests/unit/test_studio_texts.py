"""The list of what the studio says, for whoever reads it once more."""

from __future__ import annotations

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "packaging" / "studio_texts.py"


def test_texts_are_listed_without_docstrings_and_with_places_for_what_is_filled_in() -> None:
    source = '''
"""A module that says something."""

def say(count: int) -> str:
    """Not shown to anybody."""
    if not count:
        return "Nothing to be seen."
    return f"{count:,} pairs are labelled" + " one"
'''
    texts_of = runpy.run_path(str(SCRIPT))["texts_of"]
    assert texts_of(source) == [(7, "Nothing to be seen."), (8, "{…} pairs are labelled")]


def test_every_page_is_there() -> None:
    modules = runpy.run_path(str(SCRIPT))["modules"]
    names = {path.name for path in modules(["pages/"])}
    assert {"data.py", "design.py", "results.py", "settings.py"} <= names
    assert [path.name for path in modules(["action_texts"])] == ["action_texts.py"]
