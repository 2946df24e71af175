"""Lists what the studio says, module by module, so that all of it can be read in one go.

    python packaging/studio_texts.py [data results …]

Texts are those of the sources: docstrings, styles and single words are left out, and what is filled in stands as {…}.
The words of actions are together in ``ui/action_texts.py``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

UI = Path(__file__).parents[1] / "app" / "judgenet" / "ui"
_LEAST_LETTERS = 7


def texts_of(source: str) -> list[tuple[int, str]]:
    """Line and text of each text of several words in a module, in the order in which they stand."""
    tree = ast.parse(source)
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    passed |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "{…}" for part in node.values)
            text = "".join(str(part) for part in parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
            text = node.value
        else:
            continue
        if " " in text.strip() and sum(letter.isalpha() for letter in text) >= _LEAST_LETTERS:
            found.append((node.lineno, text))
    return sorted(found)


def modules(wanted: list[str]) -> Iterator[Path]:
    """The studio's modules whose path has one of these words in it; all of them without any."""
    for path in sorted(UI.rglob("*.py")):
        name = path.relative_to(UI).as_posix()
        if not wanted or any(word in name for word in wanted):
            yield path


def main() -> None:
    """Prints the texts."""
    for path in modules(sys.argv[1:]):
        texts = texts_of(path.read_text(encoding="utf-8"))
        if texts:
            print(f"\n{path.relative_to(UI).as_posix()}")
        for line, text in texts:
            print(f"{line:>5}  {text!r}")


if __name__ == "__main__":
    main()
