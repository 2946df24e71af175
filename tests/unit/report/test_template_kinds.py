"""The templates of HTML and PDF know every kind of block and of inline text by the name of its class."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from judgenet.assets import asset
from judgenet.report.blocks import Block, Inline


@pytest.mark.parametrize(
    ("template", "told_by_else"), [("report.html.jinja", set()), ("report.typ", {"Sent", "VerdictMark"})]
)
def test_every_kind_has_its_branch(template: str, told_by_else: set[str]) -> None:
    named = set(re.findall(r'kind == "(\w+)"', asset("report", template).read_text(encoding="utf-8")))
    kinds = {kind.__name__ for union in (Block, Inline) for kind in get_args(union) if kind is not str}
    assert kinds - named == told_by_else
    assert named - kinds <= {"Label", "Box", "Dot"}, "shapes of drawings, the third of them a path"
