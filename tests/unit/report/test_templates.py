"""The templates of HTML and PDF know blocks by the names of their classes: who renames a class renames it there."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from judgenet.assets import asset
from judgenet.report import blocks, drawing
from judgenet.report.blocks import Block, Inline

KIND = re.compile(r'\bkind(?:\([^)]*\))? == "(\w+)"')


def kinds(template: str) -> set[str]:
    return set(KIND.findall(asset("report", template).read_text(encoding="utf-8")))


@pytest.mark.parametrize("template", ["report.html.jinja", "report.typ"])
def test_a_template_names_classes_that_there_are(template: str) -> None:
    named = kinds(template)
    assert named
    assert {name for name in named if not (hasattr(blocks, name) or hasattr(drawing, name))} == set()


@pytest.mark.parametrize("template", ["report.html.jinja", "report.typ"])
def test_a_template_leaves_at_most_one_kind_to_its_last_branch(template: str) -> None:
    for union in (Block, Inline):
        missing = {kind.__name__ for kind in get_args(union) if kind is not str} - kinds(template)
        assert len(missing) <= 1, missing
