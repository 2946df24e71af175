"""A public top-level name means one thing in the whole package."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import judgenet

ROOT = Path(judgenet.__file__).parent

ALLOWED: dict[str, str] = {}
"""Names that may have several meanings, each with its reason. There are none, and at most ten may come."""


def _public_types(path: Path) -> set[str]:
    """The classes and type aliases that a module defines at its top."""
    found = set[str]()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            found.add(node.name)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name[:1].isupper() and not name.isupper():
                found.add(name)
    return found


def homonyms(root: Path) -> dict[str, list[str]]:
    """Names that several modules define, with the modules."""
    places = defaultdict[str, list[str]](list)
    for path in sorted(root.rglob("*.py")):
        for name in _public_types(path):
            places[name].append(path.relative_to(root).as_posix())
    return {name: where for name, where in places.items() if len(where) > 1}


def test_no_name_means_two_things() -> None:
    assert {name: where for name, where in homonyms(ROOT).items() if name not in ALLOWED} == {}
    assert len(ALLOWED) < 10
    assert all(ALLOWED.values())


def test_a_second_meaning_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class Place: ...\nTHING = 1\n", encoding="utf-8")
    (tmp_path / "two.py").write_text("Place = tuple[int, int]\nTHING = 2\nclass _Own: ...\n", encoding="utf-8")
    assert homonyms(tmp_path) == {"Place": ["one.py", "two.py"]}
